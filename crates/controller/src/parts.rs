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
    for placement in &mut next.placements {
        let known = seen.part(volume, placement);
        let is_whole = known.is_some_and(|it| it.disk == UP_TO_DATE);
        if placement.stage == Stage::Joining && is_whole {
            placement.stage = Stage::In;
        }
        let is_idle = known.map_or_else(
            || seen.is_offline(placement.node, now_ms),
            |it| it.role != PRIMARY && !it.in_use,
        );
        let is_of_device = placement.cause == Cause::Attach && placement.pool.is_none();
        let is_wanted = volume.attached == Some(placement.node) || !placement.stays();
        if is_of_device && !is_wanted && is_idle {
            placement.stage = Stage::Leaving;
        }
    }
    if volume.operation.is_none() {
        plan_witness(desired, &mut next, seen, now_ms);
    }
    let is_ready = |it: &Placement| {
        // It left by a change before: else its agent may hear of both at once.
        let before = volume.placement(it.node).map(|it| it.stage);
        match it.stage {
            Stage::In | Stage::Joining => false,
            Stage::Leaving => {
                before == Some(Stage::Leaving) && go_on(desired, volume, it, seen, now_ms)
            }
            Stage::Down => {
                before == Some(Stage::Down) && need_it_no_more(desired, volume, it, seen, now_ms)
            }
        }
    };
    let mut stones = Vec::new();
    next.placements = std::mem::take(&mut next.placements)
        .into_iter()
        .filter_map(|it| match is_ready(&it) {
            false => Some(it),
            true if it.stage == Stage::Leaving && it.pool.is_some() => {
                Some(Placement { stage: Stage::Down, ..it })
            }
            true => {
                stones.push(tombstone(volume, &it));
                None
            }
        })
        .collect();
    (next, stones)
}

fn tombstone(volume: &Volume, part: &Placement) -> Change {
    Change::Put(Object::Tombstone(Tombstone {
        node: part.node,
        volume: volume.id,
        name: volume.name.clone(),
        pool: part.pool,
        since: 0,
        parts: volume.parts.iter().map(|part| part.number).collect(),
    }))
}

/// The other parts that stay, on nodes that are online.
fn others<'a>(
    volume: &'a Volume,
    node: Uuid,
    seen: &'a Seen,
    now_ms: u64,
) -> impl Iterator<Item = &'a Placement> {
    let is_other = move |it: &&Placement| it.node != node && it.stays();
    volume.placements.iter().filter(is_other).filter(move |it| seen.is_online(it.node, now_ms))
}

/// Whether all others that are online are configured without the part of this node, and one of
/// them is whole.
fn go_on(desired: &Desired, volume: &Volume, part: &Placement, seen: &Seen, now_ms: u64) -> bool {
    let node = part.node;
    let Some(name) = desired.nodes.get(&node).map(|node| &node.name) else { return true };
    let goes_on = |it: &Placement| {
        let known = seen.volume(it.node, volume.id, it.since.max(part.since));
        known.is_some_and(|it| it.state == ObservedState::Up && !it.peers.contains(name))
    };
    others(volume, node, seen, now_ms).all(goes_on)
        && up_to_date(volume, seen, now_ms).any(|it| it.node != node)
}

/// Whether no write is acknowledged by this node any more, and another one has all of them.
fn need_it_no_more(
    desired: &Desired,
    volume: &Volume,
    part: &Placement,
    seen: &Seen,
    now_ms: u64,
) -> bool {
    let node = part.node;
    let name_of = |node: Uuid| desired.nodes.get(&node).map(|node| &node.name);
    let Some(name) = name_of(node) else { return true };
    let staying: Vec<&String> = volume.replicas().filter_map(|it| name_of(it.node)).collect();
    let tells = |it: &Placement| {
        seen.volume(it.node, volume.id, it.since.max(part.since)).is_some_and(|known| {
            !known.insync.contains(name) && known.insync.iter().any(|it| staying.contains(&it))
        })
    };
    others(volume, node, seen, now_ms).any(tells)
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
        let (stage, cause, since) = (Stage::In, Cause::Planned, 0);
        next.placements.push(Placement { node, node_id, pool, stage, cause, since });
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

    const VOLUME: Uuid = Uuid::from_u128(9);

    fn node(index: u8) -> Uuid {
        Uuid::from_u128(index.into())
    }

    fn part(index: u8, stage: Stage) -> Placement {
        let (pool, cause) = (Some(Uuid::from_u128(100)), Cause::Planned);
        Placement { node: node(index), node_id: index, pool, stage, cause, since: 0 }
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
        let volume = Volume { placements, ..crate::model::samples::volume("db", 1 << 30) };
        (desired, volume)
    }

    /// An agent's word of a volume that is up there, with these peers.
    fn hear(seen: &mut Seen, index: u8, disk: &str, peers: &[&str], insync: &[&str]) {
        let volume = ObservedVolume {
            id: VOLUME.to_string(),
            state: ObservedState::Up,
            disk: disk.to_owned(),
            role: "Secondary".to_owned(),
            in_use: false,
            connected: true,
            primary_peer: None,
            peers: peers.iter().map(|it| (*it).to_owned()).collect(),
            insync: insync.iter().map(|it| (*it).to_owned()).collect(),
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
        hear(&mut seen, 2, "Inconsistent", &["n0", "n1"], &[]);
        assert_eq!(advance(&desired, &volume, &seen, 0), (volume.clone(), Vec::new()));
        hear(&mut seen, 2, UP_TO_DATE, &["n0", "n1"], &[]);
        let (next, _) = advance(&desired, &volume, &seen, 0);
        assert_eq!(stages(&next), [(0, Stage::In), (1, Stage::In), (2, Stage::In)]);
    }

    #[test]
    fn replica_goes_down_once_all_others_go_on_without_it_and_one_of_them_is_whole() {
        let (desired, volume) =
            cluster(vec![part(0, Stage::In), part(1, Stage::In), part(2, Stage::Leaving)]);
        let stays = |seen: &Seen| advance(&desired, &volume, seen, 0).0 == volume;
        let mut seen = Seen::default();
        assert!(stays(&seen), "nobody told anything");
        hear(&mut seen, 0, UP_TO_DATE, &["n1"], &[]);
        hear(&mut seen, 1, UP_TO_DATE, &["n0", "n2"], &[]);
        assert!(stays(&seen), "n1 has it still");
        hear(&mut seen, 0, "Inconsistent", &["n1"], &[]);
        hear(&mut seen, 1, "Inconsistent", &["n0"], &[]);
        hear(&mut seen, 2, UP_TO_DATE, &["n0", "n1"], &[]);
        assert!(stays(&seen), "its data is the only one");
        hear(&mut seen, 1, UP_TO_DATE, &["n0"], &[]);
        let (next, stones) = advance(&desired, &volume, &seen, 0);
        assert_eq!((stages(&next)[2], stones.len()), ((2, Stage::Down), 0));
    }

    #[test]
    fn replica_that_is_down_is_out_once_no_write_needs_it_and_another_one_has_all() {
        let (desired, volume) =
            cluster(vec![part(0, Stage::In), part(1, Stage::In), part(2, Stage::Down)]);
        let mut seen = Seen::default();
        for (insync, is_out) in [
            (&[][..], false),
            (&["n0", "n1", "n2"], false),
            (&["n2"], false),
            (&["n3"], false),
            (&["n1"], true),
        ] {
            hear(&mut seen, 0, UP_TO_DATE, &["n1"], insync);
            let (next, stones) = advance(&desired, &volume, &seen, 0);
            assert_eq!(next.placements.len(), if is_out { 2 } else { 3 }, "{insync:?}");
            assert_eq!(stones.len(), usize::from(is_out), "{insync:?}");
        }
        let (_, stones) = advance(&desired, &volume, &seen, 0);
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
            hear(&mut seen, index, UP_TO_DATE, &[], &[]);
        }
        volume.attached = None;
        assert_eq!(advance(&desired, &volume, &seen, 0).0, volume, "n3 may call yet");
        hear(&mut seen, 3, "Diskless", &[], &[]);
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
            hear(&mut seen, index, UP_TO_DATE, &[], &[]);
        }
        assert_eq!(advance(&desired, &volume, &seen, 0).0, volume, "no node is left for it");
        hear(&mut seen, 3, "", &[], &[]);
        let (mut next, _) = advance(&desired, &volume, &seen, 0);
        assert_eq!((next.placements[2].node, next.placements[2].pool), (node(3), None));
        next.placements.push(part(2, Stage::In));
        let (odd, _) = advance(&desired, &next, &seen, 0);
        assert_eq!(odd.placements[2].stage, Stage::Leaving);
    }
}
