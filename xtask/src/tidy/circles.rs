//! Circles of imports: files that all need each other can be read and moved only as one.
//!
//! A file needs another one when it names an item of it, by `use` or by a path in its code; an
//! item that a third file only passes on counts for the file that defines it. A file and its own
//! child (`a.rs` and `a/b.rs`) may name each other: the child is a room of its parent. Tests are
//! left out.

mod paths;
mod modules;
mod graph;

use graph::Graph;
use modules::{Crate, Need};
use std::collections::BTreeMap;

/// So many edges are named as the way out; past that the circle wants more thought than a list.
const WAY_OUT_MAX: usize = 3;
/// So many imported items are named for an edge.
const ITEMS_MAX: usize = 5;

/// Complains about each circle in the crates whose files are given, by path and with their texts.
pub(super) fn examine(files: &[(String, String)]) -> Vec<String> {
    let mut crates: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, text) in files {
        if let Some((name, file)) = path.split_once("/src/")
            && let Some(file) = file.strip_suffix(".rs")
        {
            crates.entry(name).or_default().push((file, text));
        }
    }
    crates.iter().flat_map(|(name, files)| examine_crate(name, files)).collect()
}

fn examine_crate(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    let read = match Crate::read(files) {
        Ok(read) => read,
        Err((file, error)) => return vec![format!("{name}/src/{file}.rs: {error}")],
    };
    let needs = read.needs();
    let graph = Graph::new(read.files(), needs.keys().copied());
    graph.circles().iter().map(|circle| complaint(name, &read, &graph, &needs, circle)).collect()
}

type Needs = BTreeMap<(usize, usize), Vec<Need>>;

fn complaint(name: &str, read: &Crate, graph: &Graph, needs: &Needs, circle: &[usize]) -> String {
    let mut shortest: Vec<&str> =
        graph.shortest_cycle(circle).iter().map(|file| read.file(*file)).collect();
    shortest.extend(shortest.first().copied());
    let cost = |edge: (usize, usize)| needs.get(&edge).map_or(0, Vec::len);
    let way_out = graph.way_out(circle, WAY_OUT_MAX, cost);
    let edges: Vec<String> = way_out
        .edges
        .iter()
        .map(|edge| told(read, *edge, needs.get(edge).map_or(&[], Vec::as_slice)))
        .collect();
    let left = match way_out.left {
        0 => String::new(),
        left => format!(" (which leaves {left} files in circles)"),
    };
    format!(
        "{name}/src: {} files import each other in a circle, at its shortest {}; the shortest way \
         out{left}: {}",
        circle.len(),
        shortest.join(" -> "),
        edges.join("; and ")
    )
}

/// An edge as `a.rs:3 no longer names B, C of d.rs`.
fn told(read: &Crate, (from, to): (usize, usize), needs: &[Need]) -> String {
    let mut items: Vec<&str> = needs.iter().map(|need| need.item.as_str()).collect();
    items.sort_unstable();
    items.dedup();
    let more = match items.len().saturating_sub(ITEMS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    items.truncate(ITEMS_MAX);
    let line = needs.iter().map(|need| need.line).min().unwrap_or(0);
    let (from, to) = (read.file(from), read.file(to));
    format!("{from}:{line} no longer names {}{more} of {to}", items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, String)> = files
            .iter()
            .map(|(file, text)| (format!("crates/a/src/{file}.rs"), (*text).to_owned()))
            .collect();
        examine(&files)
    }

    #[test]
    fn circle_is_told_with_its_shortest_cycle_and_the_way_out() {
        let found = complaints(&[
            ("lib", "mod b; mod c; mod d;"),
            ("b", "\nuse crate::c::{One, Two};\nuse crate::d::Dee;\n"),
            ("c", "use crate::d::Dee;"),
            ("d", "use crate::b::Bee;"),
        ]);
        assert_eq!(
            found,
            ["crates/a/src: 3 files import each other in a circle, at its shortest b.rs -> d.rs \
              -> b.rs; the shortest way out: d.rs:1 no longer names Bee of b.rs"]
        );
    }

    #[test]
    fn files_that_need_each_other_one_way_are_no_circle() {
        let files = [("lib", "mod b; mod c;"), ("b", "use crate::c::See;"), ("c", "use std::fs;")];
        assert_eq!(complaints(&files), Vec::<String>::new());
    }

    #[test]
    fn parent_and_its_own_child_may_name_each_other_and_others_may_not() {
        let mut files = vec![
            ("lib", "mod b;"),
            ("b", "mod c; use c::See; pub struct Bee;"),
            ("b/c", "mod d; use super::Bee; pub struct See;"),
            ("b/c/d", "use super::See;"),
        ];
        assert_eq!(complaints(&files), Vec::<String>::new());
        files[3].1 = "use super::See; use super::super::Bee;";
        files[1].1 = "mod c; use c::d::Dee; pub struct Bee;";
        assert_eq!(complaints(&files).len(), 1);
    }

    #[test]
    fn circle_through_a_file_that_only_passes_on_is_found() {
        let found = complaints(&[
            ("lib", "mod b; mod c; pub use b::Bee;"),
            ("b", "use crate::c::See;"),
            ("c", "use crate::Bee;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("b.rs -> c.rs -> b.rs"), "{found:?}");
    }

    #[test]
    fn tests_comments_and_strings_name_nothing() {
        let found = complaints(&[
            ("lib", "mod b; mod c;"),
            ("b", "use crate::c::See;"),
            (
                "c",
                "// use crate::b::Bee;\nconst C: &str = \"crate::b\";\n#[cfg(test)]\nuse \
                 crate::b::Bee;\n#[cfg(test)]\nmod tests { use crate::b::Bee; }",
            ),
        ]);
        assert_eq!(found, Vec::<String>::new());
        let found = complaints(&[
            ("lib", "mod b; mod c;"),
            ("b", "use crate::c::See;"),
            ("c", "#[cfg(test)]\nmod tests;"),
            ("c/tests", "use crate::b::Bee;"),
        ]);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn file_that_no_compiler_would_read_is_a_complaint() {
        let found = complaints(&[("lib", "fn a() {")]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("crates/a/src/lib.rs: "), "{found:?}");
    }
}
