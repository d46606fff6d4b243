//! What follows from what the agents told: a pure function from the wanted and the seen to changes.
//!
//! It is asked after each word of an agent, and each second. A volume whose birth comes to no end
//! is taken away again, so that nothing of it is left; one that is to go waits for no node that is
//! away: a tombstone tells that node when it is back.

use api::agent::{ObservedState, ObservedVolume};
use api::cluster::{OperationKind, OperationState};
use uuid::Uuid;

use crate::model::bag::Owner;
use crate::model::{
    Change, Desired, Key, Object, Operation, Phase, Placement, Rest, Stage, Tombstone, Volume,
};
use crate::parts::advance;
use crate::seen::{PRIMARY, Seen, UP_TO_DATE};

/// What comes to no end is given up after so long.
pub(crate) const OPERATION_MAX_MS: u64 = 60_000;
/// Operations that ended and are kept, the newest.
const ENDED_KEPT: usize = 1_000;

pub(crate) fn settle(desired: &Desired, seen: &Seen, now_ms: u64) -> Vec<Change> {
    let mut changes = Vec::new();
    for volume in desired.volumes.values() {
        match volume.phase {
            Phase::Birth { .. } => birth(desired, volume, seen, now_ms, &mut changes),
            Phase::Live => live(desired, volume, seen, now_ms, &mut changes),
            Phase::Closing { rest } => {
                closing(desired, (volume, rest), seen, now_ms, &mut changes);
            }
            Phase::Retreating | Phase::Leaving => {
                leaving(desired, volume, seen, now_ms, &mut changes);
            }
            Phase::Defined => {}
        }
    }
    for stone in desired.tombstones.values() {
        let is_gone = seen
            .volume(stone.node, stone.volume, stone.since)
            .is_some_and(|it| it.state == ObservedState::Gone);
        if is_gone || !desired.nodes.contains_key(&stone.node) {
            changes.push(Change::Drop(Key::Tombstone(stone.node, stone.volume)));
        }
    }
    let homeless = desired.bags.keys().filter(|owner| !is_there(desired, owner));
    changes.extend(homeless.map(|owner| Change::Drop(Key::Bag(owner.clone()))));
    let ended = desired.operations.values().filter(|it| it.ended_ms.is_some());
    let surplus = ended.clone().count().saturating_sub(ENDED_KEPT);
    changes.extend(ended.take(surplus).map(|it| Change::Drop(Key::Operation(it.id))));
    changes
}

/// Whether what has these properties is there: they go with it.
fn is_there(desired: &Desired, owner: &Owner) -> bool {
    let (nodes, volumes) = (&desired.nodes, &desired.volumes);
    match owner {
        Owner::Controller | Owner::KeyValue(_) => true,
        Owner::Node(node) | Owner::Interface(node, _) => nodes.contains_key(node),
        Owner::Pool(pool) => desired.pools.contains_key(pool),
        Owner::NodeConnection(a, b) => nodes.contains_key(a) && nodes.contains_key(b),
        Owner::Connection(volume, _, _) => volumes.contains_key(volume),
        Owner::Replica(volume, node) => {
            volumes.get(volume).is_some_and(|it| it.placement(*node).is_some())
        }
    }
}

/// What a volume waits for, in words for people; empty if for nothing.
pub(crate) fn waits_for(desired: &Desired, volume: &Volume, seen: &Seen, now_ms: u64) -> String {
    let name = |node: Uuid| desired.nodes.get(&node).map_or("?", |node| node.name.as_str());
    let waits = volume.placements.iter().filter_map(|placement| {
        let node = placement.node;
        if !seen.is_online(node, now_ms) {
            let is_needed = volume.phase != Phase::Live || volume.attached == Some(node);
            return is_needed.then(|| format!("{} is offline", name(node)));
        }
        let Some(known) = seen.part(volume, placement) else {
            return Some(format!("{} has not begun", name(node)));
        };
        if let Some(problem) = &known.problem {
            return Some(format!("{}: {problem}", name(node)));
        }
        let is_there = match volume.phase {
            Phase::Birth { .. } => is_made(placement, known),
            Phase::Live if !placement.stays() => false,
            Phase::Live if placement.stage == Stage::Joining => is_copied(known),
            Phase::Live if volume.growth.is_some_and(|it| it.by == node) => false,
            Phase::Live => volume.attached != Some(node) || known.role == PRIMARY,
            Phase::Closing { .. } => is_closed(known),
            Phase::Retreating | Phase::Leaving => known.state == ObservedState::Gone,
            Phase::Defined => true,
        };
        (!is_there).then(|| format!("{} is at it", name(node)))
    });
    waits.collect::<Vec<_>>().join("; ")
}

/// Of the part that the node has of the volume, if it has one.
fn told<'a>(seen: &'a Seen, node: Uuid, volume: &Volume) -> Option<&'a ObservedVolume> {
    seen.part(volume, volume.placement(node)?)
}

fn is_made(placement: &Placement, known: &ObservedVolume) -> bool {
    let has_data = placement.pool.is_none() || known.disk == UP_TO_DATE;
    known.state == ObservedState::Up && has_data
}

fn birth(desired: &Desired, volume: &Volume, seen: &Seen, now_ms: u64, changes: &mut Vec<Change>) {
    let is_there = |it: &Placement| seen.part(volume, it).is_some_and(|known| is_made(it, known));
    if volume.placements.iter().all(is_there) {
        let is_done = volume.attached.is_none();
        if is_done {
            end(desired, volume, Ok(()), now_ms, changes);
        }
        let operation = if is_done { None } else { volume.operation };
        put(Volume { phase: Phase::Live, operation, ..volume.clone() }, changes);
        return;
    }
    if is_late(desired, volume, seen, now_ms) {
        let waits = waits_for(desired, volume, seen, now_ms);
        let reason = format!("not made within {} s: {waits}", OPERATION_MAX_MS / 1000);
        end(desired, volume, Err(reason), now_ms, changes);
        let phase = after_late_birth(volume, seen, now_ms);
        let next = Volume { phase, operation: None, attached: None, ..volume.clone() };
        if next != *volume {
            put(next, changes);
        }
    }
}

/// A volume may be in use as soon as its replicas were said to be equal: it is not taken away then.
/// The node that says so is the one to know; while that is away nothing is.
fn after_late_birth(volume: &Volume, seen: &Seen, now_ms: u64) -> Phase {
    let Phase::Birth { by } = volume.phase else { return volume.phase };
    let is_whole = |it: &Placement| seen.part(volume, it).is_some_and(|it| it.disk == UP_TO_DATE);
    let has_said = volume.replicas().any(is_whole);
    match (has_said, seen.is_online(by, now_ms)) {
        (true, _) => Phase::Live,
        (false, true) if volume.defined => Phase::Retreating,
        (false, true) => Phase::Leaving,
        (false, false) => volume.phase,
    }
}

/// An operation that has no end by now, or is lost.
fn is_late(desired: &Desired, volume: &Volume, seen: &Seen, now_ms: u64) -> bool {
    let operation = volume.operation.and_then(|id| desired.operations.get(&id));
    operation.is_none_or(|it| seen.age_ms(it.began_ms, now_ms) > OPERATION_MAX_MS)
}

/// The parts of it that come and go, and the end of what was asked for.
fn live(desired: &Desired, volume: &Volume, seen: &Seen, now_ms: u64, changes: &mut Vec<Change>) {
    let (mut next, stones) = advance(desired, volume, seen, now_ms);
    changes.extend(stones);
    let operation = volume.operation.and_then(|id| desired.operations.get(&id));
    if volume.operation.is_some() {
        let kind = operation.map(|it| it.kind);
        if is_done(kind, desired, volume, seen, now_ms) {
            end(desired, volume, Ok(()), now_ms, changes);
            next.operation = None;
            if let Some(growth) = next.growth {
                next.set_grown(growth.to_bytes);
            }
        } else if is_late(desired, volume, seen, now_ms) {
            let reason = give_up(kind, desired, &mut next, seen, now_ms);
            end(desired, volume, Err(reason), now_ms, changes);
            next.operation = None;
        }
    }
    if next != *volume {
        put(next, changes);
    }
}

fn is_done(
    kind: Option<OperationKind>,
    desired: &Desired,
    volume: &Volume,
    seen: &Seen,
    now_ms: u64,
) -> bool {
    let seen_of = |node: Uuid| told(seen, node, volume);
    let is_primary = |node: Uuid| {
        seen_of(node).is_some_and(|it| it.role == PRIMARY) && !seen.is_offline(node, now_ms)
    };
    match kind {
        Some(OperationKind::Grow) => volume.growth.is_none_or(|growth| {
            let has = seen_of(growth.by).and_then(|it| it.size_bytes);
            has.is_some_and(|bytes| bytes >= growth.to_bytes)
        }),
        // It is copied from now on, which takes as long as it takes.
        Some(OperationKind::AddReplica) => {
            let mut joining = volume.placements.iter().filter(|it| it.stage == Stage::Joining);
            joining.all(|it| seen_of(it.node).is_some_and(is_copied))
        }
        Some(OperationKind::DropReplica) => {
            let is_there =
                |stone: &Tombstone| stone.volume == volume.id && seen.is_online(stone.node, now_ms);
            volume.placements.iter().all(Placement::stays)
                && !desired.tombstones.values().any(is_there)
        }
        Some(
            OperationKind::Create
            | OperationKind::Attach
            | OperationKind::Detach
            | OperationKind::Delete,
        )
        | None => match volume.attached {
            Some(node) => is_primary(node),
            None => !volume.placements.iter().any(|it| is_primary(it.node)),
        },
    }
}

/// A peer brings its data to this replica, or has brought it.
fn is_copied(known: &ObservedVolume) -> bool {
    known.state == ObservedState::Up && (known.disk == UP_TO_DATE || known.synced.is_some())
}

/// A device that did not come is wished for no more: it would come when nobody expects it. Returns
/// the reason why the operation failed.
fn give_up(
    kind: Option<OperationKind>,
    desired: &Desired,
    next: &mut Volume,
    seen: &Seen,
    now_ms: u64,
) -> String {
    let waits = waits_for(desired, next, seen, now_ms);
    let seconds = OPERATION_MAX_MS / 1000;
    match kind {
        Some(OperationKind::Grow) => {
            let has = next.growth.and_then(|it| told(seen, it.by, next)?.size_bytes);
            next.set_grown(has.unwrap_or(0));
            format!("not larger within {seconds} s: {waits}")
        }
        Some(OperationKind::AddReplica) => {
            format!(
                "no replica within {seconds} s; it goes on by itself, and `basalt volume \
                 drop-replica` ends that: {waits}"
            )
        }
        Some(OperationKind::DropReplica) => {
            let volume = next.clone();
            let data = |it: &&mut Placement| it.pool.is_some() && !it.stays();
            for placement in next.placements.iter_mut().filter(data) {
                let known = seen.part(&volume, placement);
                let is_whole = known.is_some_and(|it| it.disk == UP_TO_DATE);
                placement.stage = if is_whole { Stage::In } else { Stage::Joining };
            }
            format!("not dropped within {seconds} s, and it stays: {waits}")
        }
        Some(
            OperationKind::Create
            | OperationKind::Attach
            | OperationKind::Detach
            | OperationKind::Delete,
        )
        | None => match next.attached.take() {
            Some(_) => format!("no device within {seconds} s: {waits}"),
            None => format!("the device is still there after {seconds} s"),
        },
    }
}

fn is_closed(known: &ObservedVolume) -> bool {
    known.role != PRIMARY && !known.in_use && known.primary_peer.is_none()
}

/// Nothing is deleted before most nodes said, by a document that has the volume closed, that they
/// and their peers are no Primary of it. One that none of them reaches has no votes to go on by. A
/// node that has the only part deletes no other's, and its own only once it is closed.
fn closing(
    desired: &Desired,
    (volume, rest): (&Volume, Rest),
    seen: &Seen,
    now_ms: u64,
    changes: &mut Vec<Change>,
) {
    let is_told = |it: &&Placement| {
        seen.is_online(it.node, now_ms) && seen.part(volume, it).is_some_and(is_closed)
    };
    let told = volume.placements.iter().filter(is_told).count();
    let is_away = |it: &&Placement| seen.is_offline(it.node, now_ms);
    let away = volume.placements.iter().filter(is_away).count();
    let all = volume.placements.len();
    if told + away == all && (told * 2 > all || all == 1) {
        let phase = match rest {
            Rest::Nothing => Phase::Leaving,
            Rest::Definition => Phase::Retreating,
        };
        put(Volume { phase, ..volume.clone() }, changes);
    } else if volume.operation.is_some() && is_late(desired, volume, seen, now_ms) {
        let waits = waits_for(desired, volume, seen, now_ms);
        let reason = format!(
            "it goes on by itself, once most of its nodes say that nobody has it open: {waits}"
        );
        end(desired, volume, Err(reason), now_ms, changes);
        put(Volume { operation: None, ..volume.clone() }, changes);
    }
}

fn leaving(
    desired: &Desired,
    volume: &Volume,
    seen: &Seen,
    now_ms: u64,
    changes: &mut Vec<Change>,
) {
    let is_gone = |node: Uuid| {
        told(seen, node, volume).is_some_and(|known| known.state == ObservedState::Gone)
    };
    let is_waited_for = |it: &&Placement| !seen.is_offline(it.node, now_ms) && !is_gone(it.node);
    if volume.placements.iter().any(|it| is_waited_for(&it)) {
        if volume.operation.is_some() && is_late(desired, volume, seen, now_ms) {
            let waits = waits_for(desired, volume, seen, now_ms);
            let reason = format!("it goes on by itself, and waits: {waits}");
            end(desired, volume, Err(reason), now_ms, changes);
            put(Volume { operation: None, ..volume.clone() }, changes);
        }
        return;
    }
    for placement in volume.placements.iter().filter(|it| !is_gone(it.node)) {
        changes.push(Change::Put(Object::Tombstone(Tombstone {
            node: placement.node,
            volume: volume.id,
            name: volume.name.clone(),
            pool: placement.pool,
            since: 0,
            parts: volume.parts.iter().map(|part| part.number).collect(),
        })));
    }
    end(desired, volume, Ok(()), now_ms, changes);
    if volume.phase == Phase::Retreating {
        let (placements, phase) = (Vec::new(), Phase::Defined);
        let rest = Volume { placements, phase, operation: None, attached: None, ..volume.clone() };
        put(rest, changes);
        return;
    }
    changes.push(Change::Drop(Key::Volume(volume.id)));
}

fn put(volume: Volume, changes: &mut Vec<Change>) {
    changes.push(Change::Put(Object::Volume(volume)));
}

/// The operation of a volume ends.
fn end(
    desired: &Desired,
    volume: &Volume,
    result: Result<(), String>,
    now_ms: u64,
    changes: &mut Vec<Change>,
) {
    let Some(operation) = volume.operation.and_then(|id| desired.operations.get(&id)) else {
        return;
    };
    let state = if result.is_ok() { OperationState::Done } else { OperationState::Failed };
    let (reason, ended_ms) = (result.err().unwrap_or_default(), Some(now_ms));
    let ended = Operation { state, reason, ended_ms, ..operation.clone() };
    changes.push(Change::Put(Object::Operation(ended)));
}

/// A new operation, and its first change.
pub(crate) fn begin(
    desired: &Desired,
    kind: OperationKind,
    object: &str,
    now_ms: u64,
) -> Operation {
    Operation {
        id: desired.next_operation(),
        kind,
        object: object.to_owned(),
        state: OperationState::Running,
        reason: String::new(),
        began_ms: now_ms,
        ended_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use api::agent::Observed;

    use super::*;
    use crate::model::Node;
    use crate::model::bag::Bag;
    use crate::model::properties::Properties;
    use crate::model::samples::volume;

    const VOLUME: Uuid = Uuid::from_u128(9);

    fn node(index: u8) -> Uuid {
        Uuid::from_u128(index.into())
    }

    fn desired(phase: Phase, attached: Option<Uuid>) -> Desired {
        let mut desired = Desired::default();
        for index in 0..3u8 {
            desired.apply(Change::Put(Object::Node(Node {
                id: node(index),
                name: format!("n{index}"),
                address: Ipv4Addr::new(10, 0, 0, index).into(),
                data_port: 7789,
                nbd: String::new(),
                joined_ms: 0,
            })));
        }
        let operation = begin(&desired, OperationKind::Create, "db", 0);
        let placement = |node_id| Placement {
            node: node(node_id),
            node_id,
            pool: Some(Uuid::from_u128(100)),
            since: 0,
            stage: Stage::In,
            cause: crate::model::Cause::Planned,
        };
        desired.apply(Change::Put(Object::Volume(Volume {
            phase,
            placements: [0, 1, 2].map(placement).to_vec(),
            attached,
            growth: None,
            operation: Some(operation.id),
            ..volume("db", 1 << 30)
        })));
        desired.apply(Change::Put(Object::Operation(operation)));
        desired
    }

    fn hear(
        seen: &mut Seen,
        index: u8,
        (state, disk, role): (ObservedState, &str, &str),
        now: u64,
    ) {
        let volume = ObservedVolume {
            id: VOLUME.to_string(),
            state,
            disk: disk.to_owned(),
            role: role.to_owned(),
            in_use: false,
            connected: true,
            primary_peer: None,
            peers: Vec::new(),
            insync: Vec::new(),
            size_bytes: None,
            synced: None,
            problem: None,
        };
        seen.hear(node(index), Observed { volumes: vec![volume], ..Observed::default() }, now);
    }

    fn settled(desired: &mut Desired, seen: &Seen, now_ms: u64) {
        for change in settle(desired, seen, now_ms) {
            desired.apply(change);
        }
    }

    const MADE: (ObservedState, &str, &str) = (ObservedState::Up, UP_TO_DATE, "Secondary");
    const GONE: (ObservedState, &str, &str) = (ObservedState::Gone, "", "");
    const CLOSING: Phase = Phase::Closing { rest: Rest::Nothing };
    const EMPTY: (ObservedState, &str, &str) = (ObservedState::Up, "Inconsistent", "Secondary");
    const OPEN: (ObservedState, &str, &str) = (ObservedState::Up, UP_TO_DATE, PRIMARY);

    #[test]
    fn birth_ends_when_every_replica_is_up_to_date() {
        let mut desired = desired(Phase::Birth { by: node(0) }, None);
        let mut seen = Seen::default();
        for index in 0..2 {
            hear(&mut seen, index, MADE, 0);
            settled(&mut desired, &seen, 0);
            assert!(matches!(desired.volumes[&VOLUME].phase, Phase::Birth { .. }));
        }
        assert_eq!(waits_for(&desired, &desired.volumes[&VOLUME], &seen, 0), "n2 is offline");
        hear(&mut seen, 2, MADE, 0);
        settled(&mut desired, &seen, 0);
        assert_eq!(desired.volumes[&VOLUME].phase, Phase::Live);
        assert_eq!(desired.operations[&1].state, OperationState::Done);
    }

    #[test]
    fn birth_with_a_device_ends_when_the_device_is_there() {
        let mut desired = desired(Phase::Birth { by: node(0) }, Some(node(1)));
        let mut seen = Seen::default();
        (0..3).for_each(|index| hear(&mut seen, index, MADE, 0));
        settled(&mut desired, &seen, 0);
        settled(&mut desired, &seen, 0);
        assert_eq!(desired.operations[&1].state, OperationState::Running);
        hear(&mut seen, 1, (ObservedState::Up, UP_TO_DATE, PRIMARY), 0);
        settled(&mut desired, &seen, 0);
        assert_eq!(desired.operations[&1].state, OperationState::Done);
    }

    #[test]
    fn birth_without_an_end_leaves_nothing() {
        let mut desired = desired(Phase::Birth { by: node(0) }, None);
        let mut seen = Seen::default();
        let late = OPERATION_MAX_MS + 1;
        (0..2).for_each(|index| hear(&mut seen, index, EMPTY, late));
        settled(&mut desired, &seen, late);
        let failed = &desired.operations[&1];
        assert_eq!(failed.state, OperationState::Failed);
        assert_eq!(failed.reason, "not made within 60 s: n0 is at it; n1 is at it; n2 is offline");
        assert_eq!(desired.volumes[&VOLUME].phase, Phase::Leaving);
        (0..2).for_each(|index| hear(&mut seen, index, GONE, late));
        settled(&mut desired, &seen, late);
        assert!(desired.volumes.is_empty());
        assert_eq!(desired.tombstones.len(), 1, "the third one is told when it is back");
    }

    /// A user finds the definition as it was, and may place it again.
    #[test]
    fn birth_without_an_end_leaves_what_was_defined_before() {
        let mut desired = desired(Phase::Birth { by: node(0) }, Some(node(0)));
        desired.volumes.get_mut(&VOLUME).unwrap().defined = true;
        let mut seen = Seen::default();
        let late = OPERATION_MAX_MS + 1;
        (0..3).for_each(|index| hear(&mut seen, index, (ObservedState::Making, "", ""), late));
        settled(&mut desired, &seen, late);
        assert_eq!(desired.operations[&1].state, OperationState::Failed);
        assert_eq!(desired.volumes[&VOLUME].phase, Phase::Retreating);
        (0..3).for_each(|index| hear(&mut seen, index, GONE, late));
        settled(&mut desired, &seen, late);
        let rest = &desired.volumes[&VOLUME];
        assert_eq!((rest.phase, rest.placements.len(), rest.attached), (Phase::Defined, 0, None));
        assert_eq!(rest.parts.len(), 1);
    }

    #[test]
    fn properties_go_with_what_has_them() {
        let mut desired = desired(Phase::Live, None);
        let (one, two) = (node(0), node(7));
        let kept = [Owner::Controller, Owner::Node(one), Owner::Replica(VOLUME, one)];
        let gone = [Owner::Node(two), Owner::Replica(VOLUME, two), Owner::Pool(two)];
        for owner in kept.iter().chain(&gone) {
            let (name, properties) = (String::new(), Properties::default());
            let bag = Bag { owner: owner.clone(), name, properties };
            desired.apply(Change::Put(Object::Bag(bag)));
        }
        settled(&mut desired, &Seen::default(), 0);
        assert_eq!(desired.bags.keys().cloned().collect::<Vec<_>>(), kept);
    }

    /// A controller that was away for longer than a birth may last, and finds one under way.
    #[test]
    fn birth_is_late_only_before_the_eyes_of_this_controller_and_takes_no_volume_that_was_born() {
        let born = || desired(Phase::Birth { by: node(0) }, None);
        let (began, late) = (1_000_000, 1_000_000 + OPERATION_MAX_MS + 1);
        let (mut desired, mut seen) = (born(), Seen::since(began));
        settled(&mut desired, &seen, began);
        assert_eq!(desired, born(), "nobody called yet");
        settled(&mut desired, &seen, late);
        assert_eq!(desired.operations[&1].state, OperationState::Failed);
        assert_eq!(desired.volumes[&VOLUME].phase, Phase::Birth { by: node(0) }, "n0 knows");
        (0..2).for_each(|index| hear(&mut seen, index, MADE, late));
        settled(&mut desired, &seen, late);
        assert_eq!(desired.volumes[&VOLUME].phase, Phase::Live);
    }

    #[test]
    fn volume_is_closed_by_most_of_its_nodes_before_one_deletes_its_replica() {
        let now = 20_000;
        let after = |told: &[(u8, (ObservedState, &str, &str))]| {
            let (mut desired, mut seen) = (desired(CLOSING, None), Seen::since(0));
            told.iter().for_each(|(index, told)| hear(&mut seen, *index, *told, now));
            for change in settle(&desired, &seen, now) {
                desired.apply(change);
            }
            desired.volumes[&VOLUME].phase
        };
        assert_eq!(after(&[(0, MADE), (1, MADE), (2, MADE)]), Phase::Leaving);
        assert_eq!(after(&[(0, MADE), (1, MADE)]), Phase::Leaving, "n2 is offline");
        assert_eq!(after(&[(0, MADE)]), CLOSING, "two others may have it open");
        assert_eq!(after(&[(0, MADE), (1, MADE), (2, OPEN)]), CLOSING);
        let seen = Seen::since(now);
        assert!(settle(&desired(CLOSING, None), &seen, now).is_empty(), "nobody called yet");
    }

    #[test]
    fn volume_goes_while_a_node_is_away_and_that_one_is_told_later() {
        let mut desired = desired(Phase::Leaving, None);
        let mut seen = Seen::default();
        hear(&mut seen, 0, GONE, 10_000);
        hear(&mut seen, 1, MADE, 10_000);
        hear(&mut seen, 2, MADE, 0);
        settled(&mut desired, &seen, 10_000);
        assert!(!desired.volumes.is_empty(), "n1 is online, and has it still");
        hear(&mut seen, 1, GONE, 10_000);
        settled(&mut desired, &seen, 10_000);
        assert!(desired.volumes.is_empty());
        assert_eq!(desired.operations[&1].state, OperationState::Done);
        assert_eq!(desired.tombstones.keys().collect::<Vec<_>>(), [&(node(2), VOLUME)]);
        hear(&mut seen, 2, GONE, 20_000);
        settled(&mut desired, &seen, 20_000);
        assert!(desired.tombstones.is_empty());
    }

    /// It kept every other command about the volume away.
    #[test]
    fn device_that_does_not_come_is_wished_for_no_more_after_a_while() {
        let mut desired = desired(Phase::Live, Some(node(1)));
        let mut seen = Seen::default();
        let late = OPERATION_MAX_MS + 1;
        hear(&mut seen, 0, MADE, late);
        settled(&mut desired, &seen, OPERATION_MAX_MS);
        assert_eq!(desired.operations[&1].state, OperationState::Running);
        settled(&mut desired, &seen, late);
        let ended = &desired.operations[&1];
        assert_eq!(ended.state, OperationState::Failed);
        assert_eq!(ended.reason, "no device within 60 s: n1 is offline");
        let volume = &desired.volumes[&VOLUME];
        assert_eq!((volume.attached, volume.operation), (None, None));
    }

    #[test]
    fn delete_that_a_node_holds_up_is_told_and_goes_on() {
        let mut desired = desired(Phase::Leaving, None);
        let mut seen = Seen::default();
        let late = OPERATION_MAX_MS + 1;
        hear(&mut seen, 0, MADE, late);
        settled(&mut desired, &seen, late);
        assert_eq!(desired.operations[&1].state, OperationState::Failed);
        assert!(desired.operations[&1].reason.starts_with("it goes on by itself"));
        hear(&mut seen, 0, GONE, late);
        settled(&mut desired, &seen, late);
        assert!(desired.volumes.is_empty());
    }

    #[test]
    fn operations_that_ended_are_kept_up_to_a_bound() {
        let mut desired = Desired::default();
        for _ in 0..ENDED_KEPT + 5 {
            let operation = begin(&desired, OperationKind::Delete, "db", 0);
            let ended = Operation { ended_ms: Some(0), ..operation };
            desired.apply(Change::Put(Object::Operation(ended)));
        }
        settled(&mut desired, &Seen::default(), 0);
        assert_eq!(desired.operations.len(), ENDED_KEPT);
        assert_eq!(desired.operations.first_key_value().unwrap().0, &6);
    }
}
