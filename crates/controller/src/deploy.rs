//! A definition comes to nodes, one more or one less of them, and its device to one of them.

use api::cluster::{Begun, Candidate, OperationKind, PoolKind};
use uuid::Uuid;

use crate::changes::{
    check_closed, check_idle, check_live, detach, give_part, node_named, put_operation,
    set_attached, volume_named,
};
use crate::core::{Changed, State};
use crate::life;
use crate::model::bag::Owner;
use crate::model::group::Filter;
use crate::model::{Change, Desired, Object, Phase, Placement, Rest, Volume};
use crate::place::{Wish, place};
use crate::refusal::{REPLICAS_MAX, Refusal};
use crate::seen::{PRIMARY, up_to_date};
use crate::settle::begin;

/// The pool that a volume is to be in, among its properties.
pub(crate) const POOL_PROPERTY: &str = "StorPoolName";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// Its replicas are made, or one more of them.
    Begun(Begun),
    /// It has as many as are wanted.
    Enough { replicas: usize },
}

/// As many replicas as the filter wants, where it wants them.
pub(crate) fn autoplace(
    state: &State,
    name: &str,
    asked: Filter,
    now_ms: u64,
) -> Changed<(Volume, Placed)> {
    let desired = &state.desired;
    let volume = volume_named(desired, name)?;
    check_idle(volume)?;
    let filter = asked.without_empty().over(&desired.group(volume.group).filter);
    let has = volume.replicas().count();
    let wanted = match filter.additional_place_count.filter(|more| *more > 0) {
        Some(more) => u32::try_from(has).unwrap_or(u32::MAX).saturating_add(more),
        None => filter.place_count.unwrap_or(0),
    };
    let count = usize::try_from(wanted).unwrap_or(usize::MAX);
    if count <= has {
        return Ok((Vec::new(), (volume.clone(), Placed::Enough { replicas: has })));
    }
    if volume.phase != Phase::Defined {
        check_live(volume)?;
        let (changes, begun) = add_replica(state, volume, &filter, now_ms)?;
        return Ok((changes, (volume.clone(), Placed::Begun(begun))));
    }
    check_parts(volume)?;
    let replicas = u8::try_from(wanted).ok().filter(|count| *count <= REPLICAS_MAX);
    let replicas = replicas.ok_or(Refusal::BadReplicas { count: u8::MAX })?;
    let (placements, candidates) = find_places(state, volume, (&filter, replicas), now_ms)?;
    let Some(placements) = placements else {
        return Err(Refusal::NoPlace { name: volume.name.clone(), candidates });
    };
    let (changes, begun) = be_born(desired, volume, (placements, None), now_ms);
    Ok((changes, (volume.clone(), Placed::Begun(begun))))
}

/// One more replica of a volume that has some, where a filter wants it.
fn add_replica(state: &State, volume: &Volume, filter: &Filter, now_ms: u64) -> Changed<Begun> {
    let (found, candidates) = find_places(state, volume, (filter, 1), now_ms)?;
    let Some(chosen) = found.and_then(|all| all.first().copied()) else {
        return Err(Refusal::NoPlace { name: volume.name.clone(), candidates });
    };
    if up_to_date(volume, &state.seen, now_ms).next().is_none() {
        return Err(Refusal::NoCopy { name: volume.name.clone() });
    }
    life::join(&state.desired, volume, chosen, now_ms)
}

/// A place for a replica that somebody named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: String,
    pub(crate) pool: Option<String>,
    pub(crate) kind: PlaceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    Replica,
    Diskless,
}

/// Replicas on exactly these nodes; of a volume that is on nodes, one at a time.
pub(crate) fn deploy_on(
    state: &State,
    name: &str,
    places: &[Place],
    now_ms: u64,
) -> Changed<(Volume, Begun)> {
    let desired = &state.desired;
    let volume = volume_named(desired, name)?;
    check_idle(volume)?;
    for place in places {
        let node = node_named(desired, &place.node)?;
        if let Some(pool) = &place.pool
            && place.kind == PlaceKind::Replica
            && desired.pool_named(node.id, pool).is_none()
        {
            return Err(Refusal::NoPool { node: node.name.clone(), name: pool.clone() });
        }
        if volume.placement(node.id).is_some_and(Placement::is_replica) {
            let (name, node) = (volume.name.clone(), node.name.clone());
            return Err(Refusal::ReplicaExists { name, node });
        }
    }
    if places.iter().any(|place| place.kind == PlaceKind::Diskless) {
        return add_diskless(volume);
    }
    let filter = |place: &Place| {
        let own = Filter {
            node_name_list: Some(vec![place.node.clone()]),
            storage_pool_list: place.pool.clone().map(|pool| vec![pool]),
            ..Filter::default()
        };
        own.over(&pools_of_group(desired, volume))
    };
    if volume.phase != Phase::Defined {
        check_live(volume)?;
        let [place] = places else {
            return Err(Refusal::NotBuilt { what: "several replicas more in one request" });
        };
        let (changes, begun) = add_replica(state, volume, &filter(place), now_ms)?;
        return Ok((changes, (volume.clone(), begun)));
    }
    check_parts(volume)?;
    let mut placements: Vec<Placement> = Vec::new();
    for (node_id, place) in (0..).zip(places) {
        let (found, candidates) = find_places(state, volume, (&filter(place), 1), now_ms)?;
        let Some(found) = found else {
            return Err(Refusal::NoPlace { name: volume.name.clone(), candidates });
        };
        if placements.iter().any(|it| it.node == found[0].node) {
            let (name, node) = (volume.name.clone(), place.node.clone());
            return Err(Refusal::ReplicaExists { name, node });
        }
        placements.push(Placement { node_id, ..found[0] });
    }
    let (changes, begun) = be_born(desired, volume, (placements, None), now_ms);
    Ok((changes, (volume.clone(), begun)))
}

/// The pools that a group names, and nothing else of it: the node was chosen by somebody.
fn pools_of_group(desired: &Desired, volume: &Volume) -> Filter {
    let storage_pool_list = desired.group(volume.group).filter.storage_pool_list.clone();
    Filter { storage_pool_list, ..Filter::default() }
}

/// The volume on a node without a disk there, and without its device.
fn add_diskless(volume: &Volume) -> Changed<(Volume, Begun)> {
    check_idle(volume)?;
    Err(Refusal::NotBuilt {
        what: "a resource without a disk that stays; `make-available` brings the device anywhere",
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    Absent,
    /// A witness goes by itself.
    Witness,
    /// The device goes first: once it did, the same is asked again.
    Detaching(Begun),
    Begun(Begun),
}

/// A node has no part of the volume any more. Of the only replica the definition stays.
pub(crate) fn drop_replica(state: &State, name: &str, node: &str, now_ms: u64) -> Changed<Dropped> {
    let desired = &state.desired;
    let volume = volume_named(desired, name)?;
    let Some(node) = desired.node_named(node) else { return Ok((Vec::new(), Dropped::Absent)) };
    let placement = volume.placement(node.id).filter(|it| it.stays());
    let Some(placement) = placement else { return Ok((Vec::new(), Dropped::Absent)) };
    if matches!(volume.phase, Phase::Closing { .. } | Phase::Retreating | Phase::Leaving) {
        return Err(Refusal::Going { name: volume.name.clone() });
    }
    check_idle(volume)?;
    if state.seen.part(volume, placement).is_some_and(|it| it.in_use) {
        return Err(Refusal::InUse { name: volume.name.clone(), node: node.name.clone() });
    }
    if volume.attached == Some(node.id) {
        let (changes, begun) = detach(state, name, now_ms)?;
        return Ok((changes, Dropped::Detaching(begun)));
    }
    if placement.pool.is_none() {
        return Ok((Vec::new(), Dropped::Witness));
    }
    if volume.replicas().count() > 1 {
        let (changes, begun) = life::drop_replica(state, name, &node.name, now_ms)?;
        return Ok((changes, Dropped::Begun(begun)));
    }
    check_closed(state, volume, now_ms)?;
    let operation = begin(desired, OperationKind::Delete, &volume.name, now_ms);
    let begun = Begun { operation: operation.id };
    let rest = Volume {
        phase: Phase::Closing { rest: Rest::Definition },
        attached: None,
        operation: Some(operation.id),
        defined: true,
        ..volume.clone()
    };
    let changes = vec![put_operation(operation), Change::Put(Object::Volume(rest))];
    Ok((changes, Dropped::Begun(begun)))
}

/// The device on a node, from wherever it is, unless somebody has it open there.
pub(crate) fn make_available(
    state: &State,
    name: &str,
    node: &str,
    now_ms: u64,
) -> Changed<(Volume, Option<Begun>)> {
    let desired = &state.desired;
    let (volume, node) = (volume_named(desired, name)?, node_named(desired, node)?);
    check_idle(volume)?;
    if volume.phase == Phase::Defined {
        check_parts(volume)?;
        let node_name_list = Some(vec![node.name.clone()]);
        let filter = Filter { node_name_list, ..pools_of_group(desired, volume) };
        let (placements, candidates) = find_places(state, volume, (&filter, 1), now_ms)?;
        let Some(placements) = placements else {
            return Err(Refusal::NoPlace { name: volume.name.clone(), candidates });
        };
        let (changes, begun) = be_born(desired, volume, (placements, Some(node.id)), now_ms);
        return Ok((changes, (volume.clone(), Some(begun))));
    }
    check_live(volume)?;
    if !state.seen.is_online(node.id, now_ms) {
        return Err(Refusal::Offline { node: node.name.clone() });
    }
    let here = volume.placement(node.id).and_then(|it| state.seen.part(volume, it));
    let is_there = here.is_some_and(|it| it.role == PRIMARY);
    if volume.attached == Some(node.id) && is_there {
        return Ok((Vec::new(), (volume.clone(), None)));
    }
    if volume.attached != Some(node.id) {
        check_closed(state, volume, now_ms)?;
    }
    let mut wanted = volume.clone();
    give_part(desired, &mut wanted, node.id)?;
    let (changes, begun) = set_attached(desired, &wanted, Some(node.id), now_ms);
    Ok((changes, (volume.clone(), Some(begun))))
}

/// Its replicas are made, at these places.
fn be_born(
    desired: &Desired,
    volume: &Volume,
    (placements, attached): (Vec<Placement>, Option<Uuid>),
    now_ms: u64,
) -> (Vec<Change>, Begun) {
    let operation = begin(desired, OperationKind::Create, &volume.name, now_ms);
    let begun = Begun { operation: operation.id };
    let volume = Volume {
        phase: Phase::Birth { by: placements[0].node },
        placements,
        attached,
        operation: Some(operation.id),
        ..volume.clone()
    };
    (vec![put_operation(operation), Change::Put(Object::Volume(volume))], begun)
}

type Found = (Option<Vec<Placement>>, Vec<Candidate>);

/// Where a volume would go by a filter.
pub(crate) fn find_places(
    state: &State,
    volume: &Volume,
    (filter, replicas): (&Filter, u8),
    now_ms: u64,
) -> Result<Found, Refusal> {
    check_layers(filter)?;
    let list = |list: &Option<Vec<String>>| list.clone().unwrap_or_default();
    let group = state.desired.group(volume.group);
    let own = volume.parts.iter().map(|part| &part.properties);
    let own = own.chain([&volume.properties, &group.properties]);
    let pool = own.filter_map(|it| it.get(POOL_PROPERTY)).next();
    let pools = match list(&filter.storage_pool_list) {
        none if none.is_empty() => pool.map(str::to_owned).into_iter().collect(),
        some => some,
    };
    let kinds = list(&filter.provider_list).iter().map(|word| kind_of(word)).collect::<Vec<_>>();
    let kinds: Vec<PoolKind> = match kinds.into_iter().flatten().collect::<Vec<_>>() {
        none if none.is_empty() && !list(&filter.provider_list).is_empty() => {
            return Err(Refusal::NotBuilt { what: "pools of these kinds" });
        }
        some => some,
    };
    let spread: Vec<(String, u32)> =
        filter.x_replicas_on_different_map.clone().unwrap_or_default().into_iter().collect();
    let (nodes, same) = (list(&filter.node_name_list), list(&filter.replicas_on_same));
    let (different, apart_from) =
        (list(&filter.replicas_on_different), list(&filter.not_place_with_rsc));
    let has = volume.placements.iter().filter(|it| it.pool.is_some());
    let taken: Vec<Uuid> = has.map(|it| it.node).collect();
    let wish = Wish {
        name: &volume.name,
        size_bytes: volume.size_bytes(),
        replicas,
        pools: &pools,
        kinds: &kinds,
        nodes: &nodes,
        same: &same,
        different: &different,
        spread: &spread,
        apart_from: &apart_from,
        taken: &taken,
    };
    let plan = place(&state.desired, &state.seen, wish, now_ms);
    Ok((plan.placements, plan.candidates))
}

/// A kind of pool that there is here.
pub(crate) fn kind_of(word: &str) -> Option<PoolKind> {
    match word.to_ascii_uppercase().replace('_', "").as_str() {
        "FILE" => Some(PoolKind::File),
        "FILETHIN" => Some(PoolKind::FileThin),
        _ => None,
    }
}

/// A volume is what LINSTOR calls the layers DRBD and STORAGE.
pub(crate) fn check_layers(filter: &Filter) -> Result<(), Refusal> {
    let mut layers = filter.layer_stack.iter().flatten();
    let is_ours =
        |word: &String| word.eq_ignore_ascii_case("DRBD") || word.eq_ignore_ascii_case("STORAGE");
    if layers.all(is_ours) {
        return Ok(());
    }
    Err(Refusal::NotBuilt { what: "layers other than DRBD and STORAGE" })
}

fn check_parts(volume: &Volume) -> Result<(), Refusal> {
    if volume.parts.is_empty() {
        return Err(Refusal::NoParts { name: volume.name.clone() });
    }
    Ok(())
}

/// Properties of a volume on a node.
pub(crate) fn replica_owner(desired: &Desired, name: &str, node: &str) -> Result<Owner, Refusal> {
    let (volume, known) = (volume_named(desired, name)?, node_named(desired, node)?);
    match volume.placement(known.id) {
        Some(_) => Ok(Owner::Replica(volume.id, known.id)),
        None => Err(Refusal::NoReplica { name: volume.name.clone(), node: known.name.clone() }),
    }
}
