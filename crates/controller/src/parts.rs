//! The parts that nodes have of a volume that lives, as they come and go: a pure function.
//!
//! A replica that joins counts once it is up to date. A part that leaves is taken out of the
//! configurations of the others first: until all of them that are online go on without it, it stays
//! as it is. A witness comes where the replicas are even in number, and goes where they are odd.

use api::agent::ObservedState;
use uuid::Uuid;

use crate::model::{Cause, Change, Desired, Node, Object, Placement, Stage, Tombstone, Volume};
use crate::seen::{PRIMARY, Seen, UP_TO_DATE, up_to_date};

/// The volume as it is to be next, and the tombstones of parts that are out of it.
pub(crate) fn advance(
    desired: &Desired,
    volume: &Volume,
    seen: &Seen,
    now_ms: u64,
) -> (Volume, Vec<Change>) {
    let mut next = volume.clone();
    let told = |node: Uuid| seen.volume(node, volume.id);
    for placement in &mut next.placements {
        let is_whole = told(placement.node).is_some_and(|it| it.disk == UP_TO_DATE);
        if placement.stage == Stage::Joining && is_whole {
            placement.stage = Stage::In;
        }
        let is_idle = told(placement.node).is_none_or(|it| it.role != PRIMARY && !it.in_use);
        let is_of_device = placement.cause == Cause::Attach && placement.pool.is_none();
        if is_of_device && volume.attached != Some(placement.node) && is_idle {
            placement.stage = Stage::Leaving;
        }
    }
    if volume.operation.is_none() {
        plan_witness(desired, &mut next, seen, now_ms);
    }
    let is_out = |it: &Placement| {
        it.stage == Stage::Leaving && is_out(desired, volume, it.node, seen, now_ms)
    };
    let (out, stay): (Vec<Placement>, Vec<Placement>) =
        next.placements.iter().partition(|it| is_out(it));
    next.placements = stay;
    let stones = out.into_iter().map(|it| {
        let (volume, name) = (volume.id, volume.name.clone());
        Change::Put(Object::Tombstone(Tombstone { node: it.node, volume, name, pool: it.pool }))
    });
    (next, stones.collect())
}

/// Whether all others that are online go on without the part of this node, with a whole replica
/// among them. It left by a revision before: else its agent may hear of both at once.
fn is_out(desired: &Desired, volume: &Volume, node: Uuid, seen: &Seen, now_ms: u64) -> bool {
    let was_leaving = volume.placement(node).is_some_and(|it| it.stage == Stage::Leaving);
    let Some(name) = desired.nodes.get(&node).map(|node| node.name.as_str()) else { return true };
    let mut others = volume.placements.iter().filter(|it| {
        it.node != node && it.stage != Stage::Leaving && seen.is_online(it.node, now_ms)
    });
    let goes_on = |it: &Placement| {
        seen.volume(it.node, volume.id).is_some_and(|known| {
            known.state == ObservedState::Up && !known.peers.iter().any(|peer| peer == name)
        })
    };
    was_leaving && others.all(goes_on) && up_to_date(volume, seen, now_ms).any(|it| it.node != node)
}

fn plan_witness(desired: &Desired, next: &mut Volume, seen: &Seen, now_ms: u64) {
    let replicas = next.replicas().count();
    let is_moving = next.placements.iter().any(|it| it.stage != Stage::In);
    let votes = |it: &&mut Placement| it.pool.is_none() && it.cause == Cause::Planned;
    if is_moving {
        return;
    }
    if replicas % 2 == 1 {
        let idle =
            next.placements.iter_mut().filter(votes).filter(|it| next.attached != Some(it.node));
        idle.for_each(|it| it.stage = Stage::Leaving);
    } else if next.placements.iter().all(|it| it.pool.is_some())
        && let Some(node) = witness(desired, next, seen, now_ms)
        && let Some(node_id) = next.free_node_id()
    {
        let (node, pool) = (node.id, None);
        let (stage, cause) = (Stage::In, Cause::Planned);
        next.placements.push(Placement { node, node_id, pool, stage, cause });
    }
}

/// A node that has no part of the volume, and could have one.
fn witness<'a>(
    desired: &'a Desired,
    volume: &Volume,
    seen: &Seen,
    now_ms: u64,
) -> Option<&'a Node> {
    let mut nodes = desired.nodes.values().filter(|node| {
        volume.placement(node.id).is_none()
            && !desired.tombstones.contains_key(&(node.id, volume.id))
            && seen.is_online(node.id, now_ms)
            && seen.problem(node.id).is_none()
    });
    nodes.next()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use api::agent::{Observed, ObservedVolume};

    use super::*;
    use crate::model::Phase;

    const VOLUME: Uuid = Uuid::from_u128(9);

    fn node(index: u8) -> Uuid {
        Uuid::from_u128(index.into())
    }

    fn part(index: u8, stage: Stage) -> Placement {
        let (pool, cause) = (Some(Uuid::from_u128(100)), Cause::Planned);
        Placement { node: node(index), node_id: index, pool, stage, cause }
    }

    fn cluster(placements: Vec<Placement>) -> (Desired, Volume) {
        let mut desired = Desired::default();
        for index in 0..4u8 {
            desired.apply(Change::Put(Object::Node(Node {
                id: node(index),
                name: format!("n{index}"),
                address: Ipv4Addr::new(10, 0, 0, index).into(),
                data_port: 7789,
                nbd: String::new(),
                joined_ms: 0,
            })));
        }
        let volume = Volume {
            id: VOLUME,
            name: "db".to_owned(),
            size_bytes: 1 << 30,
            minor: 1000,
            phase: Phase::Live,
            placements,
            attached: None,
            growth: None,
            operation: None,
        };
        (desired, volume)
    }

    /// An agent's word of a volume that is up there, with these peers.
    fn hear(seen: &mut Seen, index: u8, disk: &str, peers: &[&str]) {
        let volume = ObservedVolume {
            id: VOLUME.to_string(),
            state: ObservedState::Up,
            disk: disk.to_owned(),
            role: "Secondary".to_owned(),
            in_use: false,
            connected: true,
            peers: peers.iter().map(|it| (*it).to_owned()).collect(),
            size_bytes: None,
            synced: None,
            problem: None,
        };
        let observed = Observed { volumes: vec![volume], ..Observed::default() };
        seen.hear(node(index), observed, 0);
    }

    fn stages(volume: &Volume) -> Vec<(u8, Stage)> {
        volume.placements.iter().map(|it| (it.node_id, it.stage)).collect()
    }

    #[test]
    fn replica_counts_once_it_is_up_to_date() {
        let (desired, volume) =
            cluster(vec![part(0, Stage::In), part(1, Stage::In), part(2, Stage::Joining)]);
        let mut seen = Seen::default();
        hear(&mut seen, 2, "Inconsistent", &["n0", "n1"]);
        assert_eq!(advance(&desired, &volume, &seen, 0), (volume.clone(), Vec::new()));
        hear(&mut seen, 2, UP_TO_DATE, &["n0", "n1"]);
        let (next, _) = advance(&desired, &volume, &seen, 0);
        assert_eq!(stages(&next), [(0, Stage::In), (1, Stage::In), (2, Stage::In)]);
    }

    #[test]
    fn part_leaves_once_all_others_go_on_without_it_and_one_of_them_is_whole() {
        let (desired, volume) =
            cluster(vec![part(0, Stage::In), part(1, Stage::In), part(2, Stage::Leaving)]);
        let stays = |seen: &Seen| advance(&desired, &volume, seen, 0).0.placements.len() == 3;
        let mut seen = Seen::default();
        assert!(stays(&seen), "nobody told anything");
        hear(&mut seen, 0, UP_TO_DATE, &["n1"]);
        hear(&mut seen, 1, UP_TO_DATE, &["n0", "n2"]);
        assert!(stays(&seen), "n1 has it still");
        hear(&mut seen, 0, "Inconsistent", &["n1"]);
        hear(&mut seen, 1, "Inconsistent", &["n0"]);
        hear(&mut seen, 2, UP_TO_DATE, &["n0", "n1"]);
        assert!(stays(&seen), "its data is the only one");
        hear(&mut seen, 1, UP_TO_DATE, &["n0"]);
        let (next, stones) = advance(&desired, &volume, &seen, 0);
        assert_eq!(next.placements.len(), 2);
        let [Change::Put(Object::Tombstone(stone))] = &stones[..] else { panic!("{stones:?}") };
        assert_eq!((stone.node, stone.volume), (node(2), VOLUME));
    }

    /// One that begins to leave is not out in the same moment, though no peer knows it yet.
    #[test]
    fn part_of_a_device_goes_when_the_device_went() {
        let client = Placement { pool: None, cause: Cause::Attach, ..part(3, Stage::In) };
        let mut placements: Vec<_> = (0..3).map(|index| part(index, Stage::In)).collect();
        placements.push(client);
        let (desired, mut volume) = cluster(placements);
        let mut seen = Seen::default();
        for index in 0..3 {
            hear(&mut seen, index, UP_TO_DATE, &[]);
        }
        volume.attached = Some(node(3));
        assert_eq!(advance(&desired, &volume, &seen, 0).0, volume);
        volume.attached = None;
        let (next, stones) = advance(&desired, &volume, &seen, 0);
        assert_eq!((stages(&next)[3], stones.len()), ((3, Stage::Leaving), 0));
        assert_eq!(advance(&desired, &next, &seen, 0).0.placements.len(), 3);
    }

    #[test]
    fn witness_comes_where_replicas_are_even_and_goes_where_they_are_odd() {
        let (desired, volume) = cluster(vec![part(0, Stage::In), part(1, Stage::In)]);
        let mut seen = Seen::default();
        for index in 0..2 {
            hear(&mut seen, index, UP_TO_DATE, &[]);
        }
        assert_eq!(advance(&desired, &volume, &seen, 0).0, volume, "no node is left for it");
        hear(&mut seen, 3, "", &[]);
        let (mut next, _) = advance(&desired, &volume, &seen, 0);
        assert_eq!((next.placements[2].node, next.placements[2].pool), (node(3), None));
        next.placements.push(part(2, Stage::In));
        let (odd, _) = advance(&desired, &next, &seen, 0);
        assert_eq!(odd.placements[2].stage, Stage::Leaving);
    }
}
