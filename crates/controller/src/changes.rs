//! The changes that people ask for: checked against what there is, and turned into changes of
//! objects. Nothing here waits.

use api::agent::VOLUME;
use api::cluster::{Begun, Created, NewPool, NewVolume, OperationKind, OperationState};
use uuid::Uuid;

use crate::core::{Changed, State};
use crate::model::properties::Properties;
use crate::model::{
    Cause, Change, Desired, Key, Node, Object, Operation, Part, Phase, Placement, Pool, Rest,
    Stage, Volume,
};
use crate::place::{Wish, place};
use crate::refusal::{REPLICAS_MAX, Refusal, SIZE_MAX, SIZE_MIN};
use crate::settle::begin;

pub(crate) const BLOCK_BYTES: u64 = 4096;

pub(crate) fn new_volume(state: &State, wish: &NewVolume, now_ms: u64) -> Changed<Created> {
    let desired = &state.desired;
    check_name("volume", &wish.name, 2..=48)?;
    if desired.volume_named(&wish.name).is_some() {
        return Err(Refusal::VolumeExists { name: wish.name.clone() });
    }
    if !(SIZE_MIN..=SIZE_MAX).contains(&wish.size_bytes) {
        return Err(Refusal::BadSize { bytes: wish.size_bytes });
    }
    if !(1..=REPLICAS_MAX).contains(&wish.replicas) {
        return Err(Refusal::BadReplicas { count: wish.replicas });
    }
    for name in &wish.nodes {
        node_named(desired, name)?;
    }
    let attach = wish.attach.as_deref().map(|name| node_named(desired, name)).transpose()?;
    let size_bytes = wish.size_bytes.next_multiple_of(BLOCK_BYTES);
    let replicas = wish.replicas;
    let name = wish.name.as_str();
    let (pools, nodes) = (wish.pool.as_slice(), wish.nodes.as_slice());
    let asked = Wish { name, size_bytes, replicas, pools, nodes, ..Wish::default() };
    let plan = place(desired, &state.seen, asked, now_ms);
    let candidates = plan.candidates;
    let Some(placements) = plan.placements else {
        return Err(Refusal::NoPlace { name: wish.name.clone(), candidates });
    };
    if wish.dry_run {
        return Ok((Vec::new(), Created { operation: None, candidates }));
    }
    let operation = begin(desired, OperationKind::Create, &wish.name, now_ms);
    let by = placements[0].node;
    let minor = desired.free_minors().next().ok_or(Refusal::NoMinor)?;
    let mut volume = Volume {
        id: Uuid::new_v4(),
        name: wish.name.clone(),
        external_name: None,
        group: None,
        properties: Properties::default(),
        parts: vec![Part { number: 0, size_bytes, minor, properties: Properties::default() }],
        phase: Phase::Birth { by },
        placements,
        attached: attach.map(|node| node.id),
        growth: None,
        operation: Some(operation.id),
        defined: false,
    };
    if let Some(node) = attach {
        give_part(desired, &mut volume, node.id)?;
    }
    let created = Created { operation: Some(operation.id), candidates };
    Ok((vec![put_operation(operation), Change::Put(Object::Volume(volume))], created))
}

pub(crate) fn delete_volume(state: &State, name: &str, now_ms: u64) -> Changed<Begun> {
    let desired = &state.desired;
    let volume = volume_named(desired, name)?;
    if let (Phase::Closing { .. } | Phase::Leaving, Some(operation)) =
        (volume.phase, volume.operation)
    {
        // It is on its way: who asks again waits for the same.
        return Ok((Vec::new(), Begun { operation }));
    }
    check_idle(volume)?;
    check_closed(state, volume, now_ms)?;
    let operation = begin(desired, OperationKind::Delete, &volume.name, now_ms);
    let begun = Begun { operation: operation.id };
    if volume.placements.is_empty() {
        let (state, ended_ms) = (OperationState::Done, Some(now_ms));
        let done = Operation { state, ended_ms, ..operation };
        return Ok((vec![put_operation(done), Change::Drop(Key::Volume(volume.id))], begun));
    }
    let closing = Volume {
        phase: Phase::Closing { rest: Rest::Nothing },
        attached: None,
        operation: Some(operation.id),
        ..volume.clone()
    };
    Ok((vec![put_operation(operation), Change::Put(Object::Volume(closing))], begun))
}

pub(crate) fn attach(state: &State, name: &str, node: &str, now_ms: u64) -> Changed<Begun> {
    let desired = &state.desired;
    let (volume, node) = (volume_named(desired, name)?, node_named(desired, node)?);
    check_live(volume)?;
    if let Some(other) = volume.attached.filter(|it| *it != node.id) {
        let node = desired.nodes.get(&other).map_or_else(String::new, |it| it.name.clone());
        return Err(Refusal::AttachedElsewhere { name: volume.name.clone(), node });
    }
    let mut wanted = volume.clone();
    give_part(desired, &mut wanted, node.id)?;
    Ok(set_attached(desired, &wanted, Some(node.id), now_ms))
}

/// A node without a part of the volume gets one without data: its reads and writes go to others.
pub(crate) fn give_part(desired: &Desired, volume: &mut Volume, node: Uuid) -> Result<(), Refusal> {
    let is_leaving = volume.placement(node).is_some_and(|it| !it.stays());
    if is_leaving || desired.tombstones.contains_key(&(node, volume.id)) {
        let node = desired.nodes.get(&node).map_or_else(String::new, |it| it.name.clone());
        return Err(Refusal::StillLeaving { name: volume.name.clone(), node });
    }
    if volume.placement(node).is_none() {
        let node_id =
            volume.free_node_id().ok_or_else(|| Refusal::TooMany { name: volume.name.clone() })?;
        volume.placements.push(Placement {
            node,
            node_id,
            pool: None,
            stage: Stage::In,
            cause: Cause::Attach,
            since: 0,
        });
    }
    Ok(())
}

pub(crate) fn detach(state: &State, name: &str, now_ms: u64) -> Changed<Begun> {
    let volume = volume_named(&state.desired, name)?;
    check_live(volume)?;
    check_closed(state, volume, now_ms)?;
    Ok(set_attached(&state.desired, volume, None, now_ms))
}

pub(crate) fn set_attached(
    desired: &Desired,
    volume: &Volume,
    attached: Option<Uuid>,
    now_ms: u64,
) -> (Vec<Change>, Begun) {
    let kind = if attached.is_some() { OperationKind::Attach } else { OperationKind::Detach };
    let operation = begin(desired, kind, &volume.name, now_ms);
    let begun = Begun { operation: operation.id };
    let volume = Volume { attached, operation: Some(operation.id), ..volume.clone() };
    (vec![put_operation(operation), Change::Put(Object::Volume(volume))], begun)
}

pub(crate) fn new_pool(state: &State, wish: &NewPool) -> Changed<()> {
    let node = node_named(&state.desired, &wish.node)?;
    let pool = pool_of(&state.desired, node, wish)?;
    Ok((vec![Change::Put(Object::Pool(pool))], ()))
}

/// A pool of a node, if it may be.
pub(crate) fn pool_of(desired: &Desired, node: &Node, wish: &NewPool) -> Result<Pool, Refusal> {
    check_name("pool", &wish.name, 3..=48)?;
    let has_name = |pool: &Pool| pool.name.eq_ignore_ascii_case(&wish.name);
    if desired.pools_of(node.id).any(has_name) {
        return Err(Refusal::PoolExists { node: node.name.clone(), name: wish.name.clone() });
    }
    let parts = wish.location.strip_prefix('/').map(|rest| rest.split('/'));
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(char::is_control);
    if !parts.is_some_and(|mut parts| parts.all(is_plain)) || wish.location.len() > 1024 {
        return Err(Refusal::BadLocation { location: wish.location.clone() });
    }
    let (name, location) = (wish.name.clone(), wish.location.clone());
    Ok(Pool { id: Uuid::new_v4(), node: node.id, name, kind: wish.kind, location })
}

/// It is shown to people, with a volume's name in it.
pub(crate) fn check_uri(uri: &str) -> Result<(), Refusal> {
    let is_nbd = uri.starts_with("nbd://") || uri.starts_with("nbd+unix://");
    let is_plain = uri.len() <= 256 && uri.chars().all(|c| c.is_ascii_graphic());
    if is_nbd && is_plain && uri.contains(VOLUME) {
        return Ok(());
    }
    Err(Refusal::BadUri { uri: uri.to_owned() })
}

/// Names reach files, commands and configurations: nothing else may be in one.
pub(crate) fn check_name(
    kind: &'static str,
    name: &str,
    lengths: std::ops::RangeInclusive<usize>,
) -> Result<(), Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    // A resource of this name would be all of them.
    let is_reserved = name == "all";
    if lengths.contains(&name.len()) && name.chars().all(is_plain) && begins_well && !is_reserved {
        return Ok(());
    }
    let (shortest, longest) = (*lengths.start(), *lengths.end());
    Err(Refusal::BadName { kind, name: name.to_owned(), shortest, longest })
}

pub(crate) fn volume_named<'a>(desired: &'a Desired, name: &str) -> Result<&'a Volume, Refusal> {
    desired.volume_named(name).ok_or_else(|| Refusal::NoVolume { name: name.to_owned() })
}

pub(crate) fn node_named<'a>(desired: &'a Desired, name: &str) -> Result<&'a Node, Refusal> {
    desired.node_named(name).ok_or_else(|| Refusal::NoNode { name: name.to_owned() })
}

pub(crate) fn not_among(
    desired: &Desired,
    name: &str,
    node: &str,
    has: impl Iterator<Item = Uuid>,
) -> Refusal {
    let has = has.filter_map(|id| desired.nodes.get(&id)).map(|node| node.name.as_str());
    let has = has.collect::<Vec<_>>().join(", ");
    Refusal::NotAmongPlacements { name: name.to_owned(), node: node.to_owned(), has }
}

/// It has replicas, is to keep them, and nothing else is changing it.
pub(crate) fn check_live(volume: &Volume) -> Result<(), Refusal> {
    check_idle(volume)?;
    let name = volume.name.clone();
    match volume.phase {
        Phase::Live => Ok(()),
        Phase::Birth { .. } => Err(Refusal::NotBorn { name }),
        Phase::Defined => Err(Refusal::NotPlaced { name }),
        Phase::Closing { .. } | Phase::Retreating | Phase::Leaving => Err(Refusal::Going { name }),
    }
}

pub(crate) fn check_idle(volume: &Volume) -> Result<(), Refusal> {
    match volume.operation {
        Some(operation) => Err(Refusal::Busy { name: volume.name.clone(), operation }),
        None => Ok(()),
    }
}

/// The last word of a node that went away says nothing of now: the other nodes know by their votes
/// whether they may go on without it.
pub(crate) fn check_closed(state: &State, volume: &Volume, now_ms: u64) -> Result<(), Refusal> {
    let is_open = |it: &&Placement| {
        let is_told = state.seen.part(volume, it).is_some_and(|it| it.in_use);
        is_told && !state.seen.is_offline(it.node, now_ms)
    };
    let Some(open) = volume.placements.iter().find(is_open) else { return Ok(()) };
    let node = state.desired.nodes.get(&open.node).map_or_else(String::new, |it| it.name.clone());
    Err(Refusal::InUse { name: volume.name.clone(), node })
}

pub(crate) fn put_operation(operation: Operation) -> Change {
    Change::Put(Object::Operation(operation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_more_than_names_are_refused() {
        for name in ["db", "pvc-0a1b", "A.b_c-9", "00", "_x"] {
            assert_eq!(check_name("volume", name, 2..=48), Ok(()), "{name}");
        }
        let long = "a".repeat(49);
        for name in [
            "",
            "a",
            &long,
            "../x",
            "a/b",
            "a b",
            "-rf",
            ".hidden",
            "a;b",
            "a$b",
            "a\"b",
            "a\nb",
            "all",
            "\u{e9}t\u{e9}",
            "a\0b",
            "a`b",
            "a{b",
            "a}b",
            "a\\b",
        ] {
            assert!(check_name("volume", name, 2..=48).is_err(), "{name:?}");
        }
    }

    #[test]
    fn location_of_a_pool_is_a_whole_plain_path() {
        let node = Node {
            id: Uuid::from_u128(1),
            name: "n1".to_owned(),
            address: std::net::Ipv4Addr::LOCALHOST.into(),
            data_port: 1,
            nbd: String::new(),
            joined_ms: 0,
        };
        let pool = |location: &str| {
            let wish = NewPool {
                node: "n1".to_owned(),
                name: "default".to_owned(),
                kind: api::cluster::PoolKind::File,
                location: location.to_owned(),
            };
            pool_of(&Desired::default(), &node, &wish)
        };
        assert_eq!(pool("/var/lib/basalt/pool").unwrap().name, "default");
        for location in ["", "/", "pool", "/a/../b", "/a//b", "/a/./b", "/a/", "/a\nb"] {
            let refused = Refusal::BadLocation { location: location.to_owned() };
            assert_eq!(pool(location), Err(refused), "{location:?}");
        }
    }
}
