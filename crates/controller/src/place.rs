//! Where the replicas of a volume go: rules that refuse a pool, and an order of those that are
//! left.
//!
//! Each pool that was looked at is answered for, with the rule that took or refused it. Of a number
//! of replicas that is even, a node without one votes as a witness where there is such a node: two
//! halves that lost each other would both stop else.

use api::cluster::Candidate;
use uuid::Uuid;

use crate::model::{Cause, Desired, Node, Placement, Pool, Stage, Tombstone};
use crate::seen::Seen;

const HAS_REPLICA: &str = "the node has a replica already";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish<'a> {
    pub(crate) name: &'a str,
    pub(crate) size_bytes: u64,
    pub(crate) replicas: u8,
    /// Only pools of this name.
    pub(crate) pool: Option<&'a str>,
    /// Only these nodes; none named: any.
    pub(crate) nodes: &'a [String],
    /// Nodes that have a replica already.
    pub(crate) taken: &'a [Uuid],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// `None`: not enough places.
    pub(crate) placements: Option<Vec<Placement>>,
    pub(crate) candidates: Vec<Candidate>,
}

/// A pool that no rule refuses.
struct Place<'a> {
    node: &'a Node,
    pool: &'a Pool,
    /// Of what the pool has, with the volume in it; thousandths.
    free_after: u64,
}

pub(crate) fn place(desired: &Desired, seen: &Seen, wish: Wish<'_>, now_ms: u64) -> Plan {
    let mut candidates = Vec::new();
    let mut places = Vec::new();
    for node in desired.nodes.values() {
        let mut pools = desired.pools_of(node.id).peekable();
        let refuse = |pool: Option<&Pool>, rule: String| {
            let pool = pool.map(|pool| pool.name.clone());
            Candidate { node: node.name.clone(), pool, taken: false, rule }
        };
        if pools.peek().is_none() {
            candidates.push(refuse(None, "it has no pool".to_owned()));
        }
        for pool in pools {
            let refusal = of_node(desired, node, seen, wish, now_ms);
            let named = wish.pool.is_none_or(|name| name.eq_ignore_ascii_case(&pool.name));
            let is_meant = || match named {
                true => free_after(desired, pool, seen, wish.size_bytes),
                false => Err("it is not the pool that was asked for".to_owned()),
            };
            match refusal.map_or_else(is_meant, Err) {
                Ok(free_after) => places.push(Place { node, pool, free_after }),
                Err(rule) => candidates.push(refuse(Some(pool), rule)),
            }
        }
    }
    // The most room first; the fewest replicas among equals, and then by name.
    places.sort_by_cached_key(|place| {
        let replicas = desired.replicas_in(place.pool.id);
        (u64::MAX - place.free_after, replicas, place.node.name.clone(), place.pool.name.clone())
    });
    let mut chosen: Vec<(Uuid, Option<Uuid>)> = Vec::new();
    for place in places {
        let is_node_taken = chosen.iter().any(|(node, _)| *node == place.node.id);
        let (taken, rule) = match is_node_taken {
            true => (false, HAS_REPLICA.to_owned()),
            false if chosen.len() == usize::from(wish.replicas) => (false, rest(place.free_after)),
            false => (true, rest(place.free_after)),
        };
        if taken {
            chosen.push((place.node.id, Some(place.pool.id)));
        }
        let (node, pool) = (place.node.name.clone(), Some(place.pool.name.clone()));
        candidates.push(Candidate { node, pool, taken, rule });
    }
    if chosen.len() < usize::from(wish.replicas) {
        candidates.iter_mut().for_each(|candidate| candidate.taken = false);
        return Plan { placements: None, candidates };
    }
    if wish.replicas.is_multiple_of(2)
        && let Some(witness) = witness(desired, seen, &chosen, now_ms)
    {
        let rule = "it votes, for the replicas are even in number".to_owned();
        candidates.push(Candidate { node: witness.name.clone(), pool: None, taken: true, rule });
        chosen.push((witness.id, None));
    }
    let placements = (0..).zip(chosen).map(|(node_id, (node, pool))| {
        let (stage, cause, since) = (Stage::In, Cause::Planned, 0);
        Placement { node, node_id, pool, stage, cause, since }
    });
    Plan { placements: Some(placements.collect()), candidates }
}

fn rest(free_after: u64) -> String {
    format!("{}.{} % of the pool stay free", free_after / 10, free_after % 10)
}

/// The rule by which a node takes none of its pools.
fn of_node(
    desired: &Desired,
    node: &Node,
    seen: &Seen,
    wish: Wish<'_>,
    now_ms: u64,
) -> Option<String> {
    if !wish.nodes.is_empty() && !wish.nodes.iter().any(|it| it.eq_ignore_ascii_case(&node.name)) {
        return Some("it is not among the nodes that were asked for".to_owned());
    }
    if wish.taken.contains(&node.id) {
        return Some(HAS_REPLICA.to_owned());
    }
    let is_left = |stone: &Tombstone| stone.node == node.id && stone.name == wish.name;
    if desired.tombstones.values().any(is_left) {
        return Some("it has still to take a former volume of this name away".to_owned());
    }
    match seen.heard_ms_ago(node.id, now_ms) {
        None => return Some("its agent did not call since the controller began".to_owned()),
        Some(ago) if !seen.is_online(node.id, now_ms) => {
            return Some(format!("it is offline: its agent called last {} s ago", ago / 1000));
        }
        Some(_) => {}
    }
    seen.problem(node.id).map(|problem| format!("its agent cannot work: {problem}"))
}

/// Whether a pool has room for so many bytes more; the candidate that it is not, else.
pub(crate) fn room_for(
    desired: &Desired,
    pool: &Pool,
    seen: &Seen,
    bytes: u64,
) -> Result<(), Candidate> {
    let refused = |rule| {
        let node = desired.nodes.get(&pool.node).map_or_else(String::new, |it| it.name.clone());
        Candidate { node, pool: Some(pool.name.clone()), taken: false, rule }
    };
    free_after(desired, pool, seen, bytes).map(drop).map_err(refused)
}

/// What stays free of a pool with so many bytes more in it, in thousandths; or the rule that
/// refuses them.
fn free_after(desired: &Desired, pool: &Pool, seen: &Seen, bytes: u64) -> Result<u64, String> {
    let Some(known) = seen.pool(pool.node, pool.id) else {
        return Err("its agent did not say yet how large it is".to_owned());
    };
    if let Some(problem) = &known.problem {
        return Err(problem.clone());
    }
    // What was promised is kept, though thin volumes do not have it yet.
    let promised = desired.promised_bytes(pool.id);
    let room = known.total_bytes.saturating_sub(promised);
    if bytes > room || bytes > known.free_bytes {
        return Err(format!(
            "no room: {} bytes are asked for, {} are free and {} of {} promised to other volumes",
            bytes, known.free_bytes, promised, known.total_bytes
        ));
    }
    let free_after = u128::from(room - bytes) * 1000 / u128::from(known.total_bytes.max(1));
    Ok(u64::try_from(free_after).expect("a thousand at most"))
}

/// A node that has none of the replicas.
fn witness<'a>(
    desired: &'a Desired,
    seen: &Seen,
    chosen: &[(Uuid, Option<Uuid>)],
    now_ms: u64,
) -> Option<&'a Node> {
    let is_chosen = |node: &Node| chosen.iter().any(|(id, _)| *id == node.id);
    let mut nodes = desired.nodes.values().filter(|node| {
        !is_chosen(node) && seen.is_online(node.id, now_ms) && seen.problem(node.id).is_none()
    });
    nodes.next()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use api::agent::{Observed, ObservedPool};
    use api::cluster::PoolKind;

    use super::*;
    use crate::model::{Change, Object};

    const GIB: u64 = 1 << 30;

    /// A node for each size of a pool.
    fn cluster(pools_gib: &[u64]) -> (Desired, Seen) {
        let (mut desired, mut seen) = (Desired::default(), Seen::default());
        for (index, gib) in (0u8..).zip(pools_gib) {
            let (node, pool) =
                (Uuid::from_u128(index.into()), Uuid::from_u128(100 + u128::from(index)));
            desired.apply(Change::Put(Object::Node(Node {
                id: node,
                name: format!("n{index}"),
                address: Ipv4Addr::new(10, 0, 0, index).into(),
                data_port: 7789,
                nbd: String::new(),
                joined_ms: 0,
            })));
            desired.apply(Change::Put(Object::Pool(Pool {
                id: pool,
                node,
                name: "default".to_owned(),
                kind: PoolKind::FileThin,
                location: "/pool".to_owned(),
            })));
            let (total_bytes, free_bytes) = (gib * GIB, gib * GIB);
            let id = pool.to_string();
            let known = ObservedPool { id, total_bytes, free_bytes, problem: None };
            let observed = Observed { pools: vec![known], ..Observed::default() };
            seen.hear(node, observed, 0);
        }
        (desired, seen)
    }

    fn wish(replicas: u8) -> Wish<'static> {
        Wish { name: "db", size_bytes: GIB, replicas, pool: None, nodes: &[], taken: &[] }
    }

    fn nodes(plan: &Plan) -> Vec<u128> {
        plan.placements.as_ref().unwrap().iter().map(|it| it.node.as_u128()).collect()
    }

    #[test]
    fn replicas_go_where_the_largest_share_stays_free() {
        let (desired, seen) = cluster(&[10, 40, 20, 30]);
        let plan = place(&desired, &seen, wish(3), 0);
        assert_eq!(nodes(&plan), [1, 3, 2]);
        assert_eq!(plan.candidates.len(), 4);
        let refused: Vec<_> = plan.candidates.iter().filter(|it| !it.taken).collect();
        assert_eq!(
            (refused[0].node.as_str(), refused[0].rule.as_str()),
            ("n0", "90.0 % of the pool stay free")
        );
    }

    #[test]
    fn even_number_of_replicas_gets_a_witness_where_there_is_a_node_for_it() {
        let (desired, seen) = cluster(&[10, 10, 10]);
        let plan = place(&desired, &seen, wish(2), 0);
        let placements = plan.placements.unwrap();
        assert_eq!(placements.len(), 3);
        assert_eq!(placements[2].pool, None);
        let (desired, seen) = cluster(&[10, 10]);
        assert_eq!(place(&desired, &seen, wish(2), 0).placements.unwrap().len(), 2);
    }

    #[test]
    fn each_pool_that_is_refused_has_the_rule_that_did_it() {
        let (mut desired, mut seen) = cluster(&[10, 10, 10, 10]);
        seen.hear(Uuid::from_u128(1), Observed::default(), 0);
        let problem = Some("no daemon".to_owned());
        seen.hear(Uuid::from_u128(2), Observed { problem, ..Observed::default() }, 0);
        desired.apply(Change::Drop(crate::model::Key::Pool(Uuid::from_u128(103))));
        let large = Wish { size_bytes: 11 * GIB, ..wish(1) };
        let plan = place(&desired, &seen, large, 0);
        assert_eq!(plan.placements, None);
        let rules: Vec<_> = plan.candidates.iter().map(|it| it.rule.as_str()).collect();
        assert!(rules[0].starts_with("no room: 11811160064 bytes"), "{rules:?}");
        assert_eq!(rules[1], "its agent did not say yet how large it is");
        assert_eq!(rules[2], "its agent cannot work: no daemon");
        assert_eq!(rules[3], "it has no pool");
        let late = place(&desired, &seen, wish(1), 60_000);
        assert!(late.candidates[0].rule.contains("called last 60 s ago"), "{late:?}");
    }

    /// Thin volumes that are full at once would stop each other else.
    #[test]
    fn what_is_promised_to_thin_volumes_is_no_room_for_others() {
        let (mut desired, seen) = cluster(&[10]);
        let placement = Placement {
            node: Uuid::from_u128(0),
            node_id: 0,
            pool: Some(Uuid::from_u128(100)),
            since: 0,
            stage: Stage::In,
            cause: Cause::Planned,
        };
        desired.apply(Change::Put(Object::Volume(crate::model::Volume {
            id: Uuid::from_u128(7),
            name: "db".to_owned(),
            size_bytes: 9 * GIB,
            minor: 1000,
            phase: crate::model::Phase::Live,
            placements: vec![placement],
            attached: None,
            growth: None,
            operation: None,
        })));
        assert!(place(&desired, &seen, wish(1), 0).placements.is_some());
        let two = Wish { size_bytes: 2 * GIB, ..wish(1) };
        assert!(place(&desired, &seen, two, 0).placements.is_none());
    }
}
