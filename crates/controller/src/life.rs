//! Wishes of people for a volume that lives: more room, a replica more or less, and to go on
//! without a node that is lost. Checked against what there is, and turned into changes of objects.

use api::cluster::{Begun, Created, NewReplica, OperationKind};
use uuid::Uuid;

use crate::changes::{BLOCK_BYTES, check_live, node_named, not_among, put_operation, volume_named};
use crate::core::{Changed, State};
use crate::model::{Change, Desired, Growth, Key, Object, Phase, Placement, Stage, Volume};
use crate::place::{Wish, place, room_for};
use crate::refusal::{Refusal, SIZE_MAX};
use crate::seen::up_to_date;
use crate::settle::begin;

/// Makes a part of a volume larger.
pub(crate) fn grow(
    state: &State,
    name: &str,
    (number, bytes): (u16, u64),
    now_ms: u64,
) -> Changed<Begun> {
    let State { desired, seen } = state;
    let volume = volume_named(desired, name)?;
    check_live(volume)?;
    let none = || Refusal::NoPart { name: volume.name.clone(), number };
    let has = volume.part(number).ok_or_else(none)?.size_bytes;
    if bytes > SIZE_MAX {
        return Err(Refusal::BadSize { bytes });
    }
    let to_bytes = bytes.next_multiple_of(BLOCK_BYTES);
    if to_bytes <= has {
        let name = volume.name.clone();
        return Err(Refusal::NotLarger { name, has, asked: bytes });
    }
    let pools = volume.replicas().filter_map(|it| desired.pools.get(&it.pool?));
    let refused: Vec<_> =
        pools.filter_map(|pool| room_for(desired, pool, seen, to_bytes - has).err()).collect();
    if !refused.is_empty() {
        return Err(Refusal::NoRoom { name: volume.name.clone(), candidates: refused });
    }
    let by = up_to_date(volume, seen, now_ms)
        .min_by_key(|it| (volume.attached != Some(it.node), it.node_id))
        .ok_or_else(|| Refusal::NoCopy { name: volume.name.clone() })?;
    let growth = Some(Growth { number, to_bytes, by: by.node });
    Ok(begun(desired, OperationKind::Grow, Volume { growth, ..volume.clone() }, now_ms))
}

pub(crate) fn add_replica(
    state: &State,
    name: &str,
    wish: &NewReplica,
    now_ms: u64,
) -> Changed<Created> {
    let State { desired, seen } = state;
    let volume = volume_named(desired, name)?;
    check_live(volume)?;
    let on = wish.node.as_deref().map(|name| node_named(desired, name)).transpose()?;
    let nodes: Vec<String> = on.map(|node| node.name.clone()).into_iter().collect();
    let taken: Vec<Uuid> =
        volume.placements.iter().filter(|it| it.pool.is_some()).map(|it| it.node).collect();
    let asked = Wish {
        name: &volume.name,
        size_bytes: volume.size_bytes(),
        replicas: 1,
        pools: wish.pool.as_slice(),
        nodes: &nodes,
        taken: &taken,
        ..Wish::default()
    };
    let plan = place(desired, seen, asked, now_ms);
    let candidates = plan.candidates;
    let Some(chosen) = plan.placements.and_then(|all| all.first().copied()) else {
        return Err(Refusal::NoPlace { name: volume.name.clone(), candidates });
    };
    if up_to_date(volume, seen, now_ms).next().is_none() {
        return Err(Refusal::NoCopy { name: volume.name.clone() });
    }
    if wish.dry_run {
        return Ok((Vec::new(), Created { operation: None, candidates }));
    }
    let (changes, begun) = join(desired, volume, chosen, now_ms)?;
    Ok((changes, Created { operation: Some(begun.operation), candidates }))
}

/// A replica that was chosen comes to a volume that lives.
pub(crate) fn join(
    desired: &Desired,
    volume: &Volume,
    chosen: Placement,
    now_ms: u64,
) -> Changed<Begun> {
    if volume.attached == Some(chosen.node) {
        // A disk cannot come under an open device.
        let node = desired.nodes.get(&chosen.node).map_or_else(String::new, |it| it.name.clone());
        return Err(Refusal::AttachedElsewhere { name: volume.name.clone(), node });
    }
    let mut wanted = volume.clone();
    let joining = |node_id| Placement { node_id, stage: Stage::Joining, ..chosen };
    match wanted.placements.iter_mut().find(|it| it.node == chosen.node) {
        // It voted so far: it keeps its number.
        Some(witness) => *witness = joining(witness.node_id),
        None => {
            let free = volume.free_node_id();
            let node_id = free.ok_or_else(|| Refusal::TooMany { name: volume.name.clone() })?;
            wanted.placements.push(joining(node_id));
        }
    }
    Ok(begun(desired, OperationKind::AddReplica, wanted, now_ms))
}

pub(crate) fn drop_replica(state: &State, name: &str, node: &str, now_ms: u64) -> Changed<Begun> {
    let State { desired, seen } = state;
    let (volume, node) = (volume_named(desired, name)?, node_named(desired, node)?);
    check_live(volume)?;
    let Some(placement) = volume.placement(node.id).filter(|it| it.stays()) else {
        return Err(not_among(
            desired,
            &volume.name,
            &node.name,
            volume.placements.iter().map(|it| it.node),
        ));
    };
    if volume.attached == Some(node.id) {
        let (name, node) = (volume.name.clone(), node.name.clone());
        return Err(Refusal::AttachedElsewhere { name, node });
    }
    if seen.part(volume, placement).is_some_and(|it| it.in_use) {
        return Err(Refusal::InUse { name: volume.name.clone(), node: node.name.clone() });
    }
    let is_other = |it: &&Placement| it.node != node.id;
    if placement.pool.is_some() && !up_to_date(volume, seen, now_ms).any(|it| is_other(&it)) {
        return Err(Refusal::LastCopy { name: volume.name.clone(), node: node.name.clone() });
    }
    let wanted = with_stage(volume, node.id, Stage::Leaving);
    Ok(begun(desired, OperationKind::DropReplica, wanted, now_ms))
}

/// All that the cluster wants of a node goes: it does not come back.
pub(crate) fn lose_node(state: &State, name: &str, now_ms: u64) -> Changed<()> {
    let State { desired, seen } = state;
    let node = node_named(desired, name)?;
    if seen.is_online(node.id, now_ms) {
        return Err(Refusal::NodeIsOnline { name: node.name.clone() });
    }
    let is_last = |volume: &&Volume| {
        let has_one = volume.replicas().any(|it| it.node == node.id);
        let is_wanted =
            !matches!(volume.phase, Phase::Closing { .. } | Phase::Retreating | Phase::Leaving);
        let others = up_to_date(volume, seen, now_ms).filter(|it| it.node != node.id);
        has_one && is_wanted && others.count() == 0
    };
    let last: Vec<String> =
        desired.volumes.values().filter(is_last).map(|it| it.name.clone()).collect();
    if !last.is_empty() {
        return Err(Refusal::LastCopies { node: node.name.clone(), volumes: last });
    }
    let touched = desired.volumes.values().filter(|it| it.placement(node.id).is_some());
    let mut changes: Vec<Change> =
        touched.map(|it| Change::Put(Object::Volume(without(it, node.id)))).collect();
    changes.extend(desired.pools_of(node.id).map(|pool| Change::Drop(Key::Pool(pool.id))));
    let stones = desired.tombstones.keys().filter(|(of, _)| *of == node.id);
    changes.extend(stones.map(|(node, volume)| Change::Drop(Key::Tombstone(*node, *volume))));
    changes.push(Change::Drop(Key::Node(node.id)));
    Ok((changes, ()))
}

fn without(volume: &Volume, node: Uuid) -> Volume {
    let mut volume = volume.clone();
    volume.placements.retain(|it| it.node != node);
    if volume.attached == Some(node) {
        volume.attached = None;
    }
    if let (Phase::Birth { by }, Some(first)) = (volume.phase, volume.placements.first())
        && by == node
    {
        volume.phase = Phase::Birth { by: first.node };
    }
    volume
}

fn with_stage(volume: &Volume, node: Uuid, stage: Stage) -> Volume {
    let mut volume = volume.clone();
    for placement in volume.placements.iter_mut().filter(|it| it.node == node) {
        placement.stage = stage;
    }
    volume
}

fn begun(
    desired: &Desired,
    kind: OperationKind,
    wanted: Volume,
    now_ms: u64,
) -> (Vec<Change>, Begun) {
    let operation = begin(desired, kind, &wanted.name, now_ms);
    let begun = Begun { operation: operation.id };
    let volume = Volume { operation: Some(operation.id), ..wanted };
    (vec![put_operation(operation), Change::Put(Object::Volume(volume))], begun)
}
