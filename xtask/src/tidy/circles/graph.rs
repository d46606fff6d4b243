//! Circles in a graph of files, the shortest cycle in one, and the edges whose loss opens it.
//!
//! The graphs are small (a few hundred files), so that plain searches from each file will do.

use std::collections::{BTreeSet, VecDeque};

type Edge = (usize, usize);

#[derive(Debug, Clone)]
pub(super) struct Graph {
    /// To which files each file has an edge, in order.
    targets: Vec<BTreeSet<usize>>,
}

/// Edges whose loss opens a circle.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WayOut {
    pub(super) edges: Vec<Edge>,
    /// So many files of the circle are in circles still.
    pub(super) left: usize,
}

impl Graph {
    pub(super) fn new(files: usize, edges: impl Iterator<Item = Edge>) -> Self {
        let mut targets = vec![BTreeSet::new(); files];
        for (from, to) in edges {
            targets[from].insert(to);
        }
        Self { targets }
    }

    /// Each greatest set of more than one file in which all reach each other.
    pub(super) fn circles(&self) -> Vec<Vec<usize>> {
        let reached: Vec<Vec<bool>> =
            (0..self.targets.len()).map(|file| self.reached_from(file)).collect();
        let mut circles = Vec::new();
        let mut is_seen = vec![false; self.targets.len()];
        for file in 0..self.targets.len() {
            if is_seen[file] {
                continue;
            }
            let circle: Vec<usize> = (0..self.targets.len())
                .filter(|other| reached[file][*other] && reached[*other][file])
                .collect();
            circle.iter().for_each(|member| is_seen[*member] = true);
            if circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles
    }

    /// Which files lie on a way that begins with an edge of this file.
    fn reached_from(&self, file: usize) -> Vec<bool> {
        let mut is_reached = vec![false; self.targets.len()];
        let mut open = vec![file];
        while let Some(from) = open.pop() {
            for to in &self.targets[from] {
                if !is_reached[*to] {
                    is_reached[*to] = true;
                    open.push(*to);
                }
            }
        }
        is_reached
    }

    /// The files of a shortest cycle among those of a circle, from its first file on.
    pub(super) fn shortest_cycle(&self, circle: &[usize]) -> Vec<usize> {
        let cycles = circle.iter().filter_map(|file| self.way(*file, *file));
        cycles.min_by_key(Vec::len).unwrap_or_default()
    }

    /// The files of a shortest way, its last one left out.
    fn way(&self, from: usize, to: usize) -> Option<Vec<usize>> {
        let mut before = vec![None; self.targets.len()];
        let mut open = VecDeque::from([from]);
        while let Some(file) = open.pop_front() {
            for next in &self.targets[file] {
                if before[*next].is_none() {
                    before[*next] = Some(file);
                    open.push_back(*next);
                }
            }
        }
        let mut way = vec![before[to]?];
        while way.last() != Some(&from) {
            way.push(before[*way.last()?]?);
        }
        way.reverse();
        Some(way)
    }

    /// Takes away the edge that leaves the fewest files in circles, then again, until the circle
    /// is open or `edges_max` are gone. Of equals the one of the lower cost goes, and then the one
    /// that lies in more shortest ways is as good as any.
    pub(super) fn way_out(
        &self,
        circle: &[usize],
        edges_max: usize,
        cost: impl Fn(Edge) -> usize,
    ) -> WayOut {
        let mut rest = self.among(circle);
        let mut way_out = WayOut { edges: Vec::new(), left: circle.len() };
        while way_out.left > 0 && way_out.edges.len() < edges_max {
            let mut best: Option<(usize, usize, Edge)> = None;
            for edge in rest.edges() {
                let tried = rest.without(edge);
                let left = tried.circles().iter().map(Vec::len).sum();
                let candidate = (left, cost(edge), edge);
                if best.is_none_or(|best| candidate < best) {
                    best = Some(candidate);
                }
            }
            let Some((left, _, edge)) = best else { break };
            rest = rest.without(edge);
            way_out.edges.push(edge);
            way_out.left = left;
        }
        way_out
    }

    /// The edges between files of a circle alone.
    fn among(&self, circle: &[usize]) -> Self {
        let is_member = |edge: &Edge| circle.contains(&edge.0) && circle.contains(&edge.1);
        let edges: Vec<Edge> = self.edges().into_iter().filter(is_member).collect();
        Self::new(self.targets.len(), edges.into_iter())
    }

    fn edges(&self) -> Vec<Edge> {
        let from = self.targets.iter().enumerate();
        from.flat_map(|(from, targets)| targets.iter().map(move |to| (from, *to))).collect()
    }

    fn without(&self, (from, to): Edge) -> Self {
        let mut rest = self.clone();
        rest.targets[from].remove(&to);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: usize, edges: &[Edge]) -> Graph {
        Graph::new(files, edges.iter().copied())
    }

    #[test]
    fn circles_are_found_apart_from_what_only_leads_to_them() {
        let found = graph(7, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 4), (4, 5), (5, 3), (5, 6)]);
        assert_eq!(found.circles(), [vec![1, 2], vec![3, 4, 5]]);
        assert_eq!(graph(3, &[(0, 1), (1, 2), (0, 2)]).circles(), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn shortest_cycle_is_the_shortest() {
        let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 1)];
        assert_eq!(graph(4, &edges).shortest_cycle(&[0, 1, 2, 3]), [1, 2, 3]);
        assert_eq!(graph(2, &[(0, 1), (1, 0)]).shortest_cycle(&[0, 1]), [0, 1]);
    }

    #[test]
    fn way_out_takes_the_edge_that_opens_most_at_the_least_cost() {
        // Two cycles share the edge from 0 to 1.
        let edges = [(0, 1), (1, 2), (2, 0), (1, 3), (3, 0)];
        let circle = [0, 1, 2, 3];
        let way_out = graph(4, &edges).way_out(&circle, 3, |_| 1);
        assert_eq!(way_out, WayOut { edges: vec![(0, 1)], left: 0 });
        let cost = |edge| if edge == (0, 1) { 9 } else { 1 };
        let way_out = graph(2, &[(0, 1), (1, 0)]).way_out(&[0, 1], 3, cost);
        assert_eq!(way_out, WayOut { edges: vec![(1, 0)], left: 0 });
    }

    #[test]
    fn way_out_takes_more_edges_where_one_is_not_enough_and_stops_in_time() {
        let edges = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2)];
        let way_out = graph(3, &edges).way_out(&[0, 1, 2], 1, |_| 1);
        assert_eq!((way_out.edges.len(), way_out.left), (1, 3));
        let way_out = graph(3, &edges).way_out(&[0, 1, 2], 3, |_| 1);
        assert_eq!((way_out.edges.len(), way_out.left), (3, 0));
    }
}
