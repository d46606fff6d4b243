//! Objects as these clients know them: sizes in KiB, times in milliseconds, and only words that
//! they know. A volume is a definition with the layers DRBD and STORAGE; a witness is a tiebreaker.
//!
//! The path of a device is one string on all nodes: clients take it from whichever node is listed
//! last.

use api::agent::ObservedState;
use api::cluster::PoolKind;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::core::State;
use crate::model::bag::Owner;
use crate::model::group::{DEFAULT_GROUP_ID, Filter, Group, Template};
use crate::model::properties::Properties;
use crate::model::{Cause, Node, Part, Phase, Placement, Pool, Rest, Volume};
use crate::seen::{PRIMARY, UP_TO_DATE};

/// The pool of what has no disk; each node has one.
pub(crate) const DISKLESS_POOL: &str = "DfltDisklessStorPool";
/// The way that a node joined with.
pub(crate) const INTERFACE: &str = "default";
/// Of a pool: its folder.
pub(crate) const LOCATION: &str = "StorDriver/StorPoolName";
const DISKLESS: &str = "Diskless";
/// Members that a volume may have beside the first.
const PEERS_MAX: u32 = 31;
/// Weight of a node that may take the role: a current disk counts more than none.
const SCORE_DISK: u32 = 10_100;
const SCORE_NO_DISK: u32 = 1;

fn kib(bytes: u64) -> u64 {
    bytes.div_ceil(1024)
}

/// An id for what has none of its own: the same each time.
fn derived(a: Uuid, b: Uuid, number: u16) -> String {
    let mixed = a.as_u128() ^ b.as_u128().rotate_left(1) ^ u128::from(number).rotate_left(64);
    Uuid::from_u128(mixed).to_string()
}

pub(crate) fn device_path(volume: &Volume, number: u16) -> String {
    format!("/dev/drbd/by-res/{}/{number}", volume.name)
}

pub(crate) fn node(state: &State, node: &Node, now_ms: u64) -> Value {
    let desired = &state.desired;
    let bags = desired.bags.values();
    let is_its = |owner: &Owner| matches!(owner, Owner::Interface(of, _) if *of == node.id);
    let further = bags.filter(|bag| is_its(&bag.owner));
    let further = further.map(|bag| interface(&bag.name, &bag.properties));
    let interfaces: Vec<Value> = std::iter::once(own_interface(node)).chain(further).collect();
    let mut props = json!(desired.bag(&Owner::Node(node.id)).all());
    props["CurStltConnName"] = json!(INTERFACE);
    let status = if state.seen.is_online(node.id, now_ms) { "ONLINE" } else { "OFFLINE" };
    json!({
        "name": node.name,
        "type": "SATELLITE",
        "flags": [],
        "props": props,
        "net_interfaces": interfaces,
        "connection_status": status,
        "uuid": node.id,
        "storage_providers": ["DISKLESS", "FILE", "FILE_THIN"],
        "resource_layers": ["DRBD", "STORAGE"],
        "unsupported_providers": {},
        "unsupported_layers": {},
    })
}

/// Its port is that of the data between nodes.
pub(crate) fn own_interface(node: &Node) -> Value {
    json!({
        "name": INTERFACE,
        "address": node.address,
        "satellite_port": node.data_port,
        "satellite_encryption_type": "PLAIN",
        "is_active": true,
        "uuid": node.id,
    })
}

pub(crate) fn interface(name: &str, properties: &Properties) -> Value {
    let mut told = json!({
        "name": name,
        "address": properties.get("address").unwrap_or_default(),
        "is_active": false,
    });
    if let Some(port) = properties.get("satellite_port").and_then(|it| it.parse::<u16>().ok()) {
        told["satellite_port"] = json!(port);
        told["satellite_encryption_type"] = json!("PLAIN");
    }
    told
}

fn kind_word(kind: PoolKind) -> &'static str {
    match kind {
        PoolKind::File => "FILE",
        PoolKind::FileThin => "FILE_THIN",
    }
}

/// Free bytes are those that a new volume may have: bytes promised to others are not free.
pub(crate) fn pool(state: &State, node: &Node, pool: &Pool) -> Value {
    let known = state.seen.pool(pool.node, pool.id);
    let promised = state.desired.promised_bytes(pool.id);
    let total = known.map(|it| it.total_bytes);
    let free = known.map(|it| it.total_bytes.saturating_sub(promised).min(it.free_bytes));
    let mut props = json!(state.desired.bag(&Owner::Pool(pool.id)).all());
    props[LOCATION] = json!(pool.location);
    let problem = known.and_then(|it| it.problem.clone());
    let reports: Vec<Value> = problem
        .iter()
        .map(|problem| json!({"ret_code": i64::MIN | (1 << 62) | 990, "message": problem}))
        .collect();
    let is_thin = matches!(pool.kind, PoolKind::FileThin);
    json!({
        "storage_pool_name": pool.name,
        "node_name": node.name,
        "provider_kind": kind_word(pool.kind),
        "props": props,
        "static_traits": {
            "SupportsSnapshots": "false",
            "Provisioning": if is_thin { "Thin" } else { "Fat" },
        },
        "free_capacity": free.map_or(0, |bytes| bytes / 1024),
        "total_capacity": total.map_or(0, |bytes| bytes / 1024),
        "free_space_mgr_name": format!("{};{}", node.name, pool.name),
        "uuid": pool.id,
        "supports_snapshots": false,
        "external_locking": false,
        "reports": reports,
    })
}

/// Without an end: clients add it up with others, and pass it over by its kind.
pub(crate) fn diskless_pool(node: &Node) -> Value {
    json!({
        "storage_pool_name": DISKLESS_POOL,
        "node_name": node.name,
        "provider_kind": "DISKLESS",
        "props": {},
        "static_traits": {"SupportsSnapshots": "false"},
        "free_capacity": i64::MAX,
        "total_capacity": i64::MAX,
        "free_space_mgr_name": format!("{};{DISKLESS_POOL}", node.name),
        "uuid": derived(node.id, Uuid::max(), 0),
        "supports_snapshots": false,
        "external_locking": false,
        "reports": [],
    })
}

pub(crate) fn filter(filter: &Filter) -> Value {
    let mut told = json!(filter);
    // Some clients look for one pool, and some for the list.
    if let Some(first) = filter.storage_pool_list.iter().flatten().next() {
        told["storage_pool"] = json!(first);
    }
    told
}

pub(crate) fn group(group: &Group) -> Value {
    let is_default = group.id == DEFAULT_GROUP_ID;
    let id = if is_default { derived(group.id, group.id, 1) } else { group.id.to_string() };
    let mut told = json!({
        "name": group.name,
        "props": group.properties,
        "select_filter": filter(&group.filter),
        "uuid": id,
    });
    if !group.description.is_empty() {
        told["description"] = json!(group.description);
    }
    if let Some(slots) = group.peer_slots {
        told["peer_slots"] = json!(slots);
    }
    told
}

pub(crate) fn template(group: &Group, template: &Template) -> Value {
    json!({
        "volume_number": template.number,
        "props": template.properties,
        "uuid": derived(group.id, Uuid::nil(), template.number),
        "flags": template.flags,
    })
}

pub(crate) fn definition(state: &State, volume: &Volume, with_volumes: WithVolumes) -> Value {
    let port = volume
        .placements
        .first()
        .and_then(|it| state.desired.nodes.get(&it.node))
        .map(|node| node.data_port);
    let mut drbd = json!({
        "resource_name_suffix": "",
        "peer_slots": PEERS_MAX,
        "al_stripes": 1,
        "al_stripe_size_kib": 32,
        "transport_type": "IP",
        "secret": "",
        "down": false,
    });
    if let Some(port) = port {
        drbd["port"] = json!(port);
    }
    let mut told = json!({
        "name": volume.name,
        "props": volume.properties,
        "flags": flags_of(volume),
        "layer_data": [{"type": "DRBD", "data": drbd}, {"type": "STORAGE"}],
        "uuid": volume.id,
        "resource_group_name": state.desired.group(volume.group).name,
    });
    if let Some(name) = &volume.external_name {
        told["external_name"] = json!(name);
    }
    if with_volumes == WithVolumes::Yes {
        let parts = volume.parts.iter().map(|part| volume_definition(volume, part));
        told["volume_definitions"] = parts.collect();
    }
    told
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithVolumes {
    Yes,
    No,
}

fn flags_of(volume: &Volume) -> &'static [&'static str] {
    match volume.phase {
        Phase::Closing { rest: Rest::Nothing } | Phase::Leaving => &["DELETE"],
        Phase::Defined
        | Phase::Birth { .. }
        | Phase::Live
        | Phase::Closing { .. }
        | Phase::Retreating => &[],
    }
}

pub(crate) fn volume_definition(volume: &Volume, part: &Part) -> Value {
    json!({
        "volume_number": part.number,
        "size_kib": kib(part.size_bytes),
        "props": part.properties,
        "flags": [],
        "layer_data": [
            {"type": "DRBD", "data": {
                "resource_name_suffix": "",
                "volume_number": part.number,
                "minor_number": part.minor,
            }},
            {"type": "STORAGE"},
        ],
        "uuid": derived(volume.id, Uuid::nil(), part.number),
    })
}

/// A volume on a node, as it is listed.
pub(crate) fn resource(state: &State, volume: &Volume, here: &Placement, now_ms: u64) -> Value {
    let known = state.seen.part(volume, here);
    let is_online = state.seen.is_online(here.node, now_ms);
    let is_diskless = here.pool.is_none();
    let mut flags: Vec<&str> = Vec::new();
    if is_diskless {
        flags.extend(["DISKLESS", "DRBD_DISKLESS"]);
        // With the device it is in use as any other one.
        if here.cause == Cause::Planned && volume.attached != Some(here.node) {
            flags.push("TIE_BREAKER");
        }
    }
    let is_going =
        matches!(volume.phase, Phase::Closing { .. } | Phase::Leaving | Phase::Retreating);
    if is_going || !here.stays() {
        flags.extend(["DELETE", "DRBD_DELETE"]);
    }
    let mut props = json!(state.desired.bag(&Owner::Replica(volume.id, here.node)).all());
    props["StorPoolName"] = json!(pool_name(state, here));
    let mut told = json!({
        "name": volume.name,
        "node_name": name_of(state, here.node),
        "props": props,
        "flags": flags,
        "layer_object": layers(state, volume, here, now_ms),
        "uuid": derived(volume.id, here.node, 0xFFFF),
    });
    // An open device counts, and not the role: an idle device may be moved.
    if let Some(known) = known.filter(|it| is_online && it.state == ObservedState::Up) {
        told["state"] = json!({"in_use": known.in_use});
    }
    told
}

pub(crate) fn resource_with_volumes(
    state: &State,
    resource_of: &Volume,
    here: &Placement,
    now_ms: u64,
) -> Value {
    let mut told = resource(state, resource_of, here, now_ms);
    let parts = resource_of.parts.iter();
    told["volumes"] = parts.map(|part| volume(state, resource_of, here, part, now_ms)).collect();
    told
}

/// A part of a volume on a node. How much of a thin one is in use is not known: it is told as large
/// as it may become.
pub(crate) fn volume(
    state: &State,
    of: &Volume,
    here: &Placement,
    part: &Part,
    now_ms: u64,
) -> Value {
    let path = device_path(of, part.number);
    let pool = here.pool.and_then(|pool| state.desired.pools.get(&pool));
    let allocated = if pool.is_some() { kib(part.size_bytes) } else { 0 };
    let disk = disk_word(state, of, here, now_ms);
    let peers = of.placements.iter().filter(|it| it.node != here.node && here.pool.is_some());
    let synced = state.seen.part(of, here).and_then(|it| it.synced);
    let replication: serde_json::Map<String, Value> = peers
        .map(|it| {
            let is_connected = is_connected(state, of, here, it, now_ms);
            let mut told =
                json!({"replication_state": if is_connected { "Established" } else { "Off" }});
            if let (Some(thousandths), true) = (synced, is_connected) {
                told = json!({
                    "replication_state": "SyncTarget",
                    "done_percentage": f64::from(thousandths) / 10.0,
                });
            }
            (name_of(state, it.node), told)
        })
        .collect();
    let mut layer_data = vec![json!({"type": "DRBD", "data": drbd_volume(of, here, part, &disk)})];
    layer_data.push(json!({"type": "STORAGE", "data": storage_volume(pool, part)}));
    json!({
        "volume_number": part.number,
        "storage_pool_name": pool_name(state, here),
        "provider_kind": pool.map_or("DISKLESS", |pool| kind_word(pool.kind)),
        "device_path": path,
        "allocated_size_kib": allocated,
        "usable_size_kib": kib(part.size_bytes),
        "props": {},
        "flags": [],
        "state": {"disk_state": disk, "replication_states": replication},
        "layer_data_list": layer_data,
        "uuid": derived(of.id, here.node, part.number),
        "reports": [],
    })
}

fn drbd_volume(of: &Volume, here: &Placement, part: &Part, disk: &str) -> Value {
    json!({
        "drbd_volume_definition": {
            "resource_name_suffix": "",
            "volume_number": part.number,
            "minor_number": part.minor,
        },
        "device_path": device_path(of, part.number),
        "allocated_size_kib": if here.pool.is_some() { kib(part.size_bytes) } else { 0 },
        "usable_size_kib": kib(part.size_bytes),
        "disk_state": disk,
    })
}

fn storage_volume(pool: Option<&Pool>, part: &Part) -> Value {
    json!({
        "volume_number": part.number,
        "allocated_size_kib": if pool.is_some() { kib(part.size_bytes) } else { 0 },
        "usable_size_kib": kib(part.size_bytes),
    })
}

fn layers(state: &State, volume: &Volume, here: &Placement, now_ms: u64) -> Value {
    let pool = here.pool.and_then(|pool| state.desired.pools.get(&pool));
    let storage: Vec<Value> = volume.parts.iter().map(|part| storage_volume(pool, part)).collect();
    let disk = disk_word(state, volume, here, now_ms);
    let volumes = volume.parts.iter().map(|part| drbd_volume(volume, here, part, &disk));
    let volumes: Vec<Value> = volumes.collect();
    let peers = volume.placements.iter().filter(|it| it.node != here.node);
    let connections: serde_json::Map<String, Value> = peers
        .map(|it| {
            let is_connected = is_connected(state, volume, here, it, now_ms);
            let message = if is_connected { "Connected" } else { "Connecting" };
            let told = json!({"connected": is_connected, "message": message});
            (name_of(state, it.node), told)
        })
        .collect();
    let is_primary =
        |it: &Placement| state.seen.part(volume, it).is_some_and(|known| known.role == PRIMARY);
    let is_elsewhere = volume.placements.iter().any(|it| it.node != here.node && is_primary(it));
    let may_promote = disk == UP_TO_DATE && !is_elsewhere && !is_primary(here);
    let score = if disk == UP_TO_DATE { SCORE_DISK } else { SCORE_NO_DISK };
    let flags: &[&str] = if here.pool.is_none() { &["DISKLESS"] } else { &[] };
    let ports: Vec<u16> =
        state.desired.nodes.get(&here.node).map(|node| node.data_port).into_iter().collect();
    json!({
        "type": "DRBD",
        "resource_name_suffix": "",
        "children": [{
            "type": "STORAGE",
            "resource_name_suffix": "",
            "children": [],
            "storage": {"storage_volumes": storage},
        }],
        "drbd": {
            "drbd_resource_definition": {
                "resource_name_suffix": "",
                "peer_slots": PEERS_MAX,
                "al_stripes": 1,
                "al_stripe_size_kib": 32,
                "transport_type": "IP",
                "secret": "",
                "down": false,
            },
            "node_id": here.node_id,
            "tcp_ports": ports,
            "peer_slots": PEERS_MAX,
            "al_stripes": 1,
            "al_size": 32,
            "flags": flags,
            "drbd_volumes": volumes,
            "connections": connections,
            "promotion_score": score,
            "may_promote": may_promote,
        },
    })
}

/// DRBD's word for the disk of a node: what its agent told, while it is heard.
fn disk_word(state: &State, volume: &Volume, here: &Placement, now_ms: u64) -> String {
    if here.pool.is_none() {
        return DISKLESS.to_owned();
    }
    let known = state.seen.part(volume, here);
    let known = known.filter(|_| state.seen.is_online(here.node, now_ms));
    match known.map(|it| it.disk.as_str()) {
        None | Some("") => "DUnknown".to_owned(),
        Some(word) => word.to_owned(),
    }
}

/// An agent tells of all peers at once: it has them all, or this one may be missing.
fn is_connected(
    state: &State,
    volume: &Volume,
    here: &Placement,
    peer: &Placement,
    now_ms: u64,
) -> bool {
    let tells = |it: &Placement| {
        let known = state.seen.part(volume, it);
        state.seen.is_online(it.node, now_ms)
            && known.is_some_and(|known| known.state == ObservedState::Up && known.connected)
    };
    tells(here) || tells(peer)
}

fn pool_name<'a>(state: &'a State, here: &Placement) -> &'a str {
    let pool = here.pool.and_then(|pool| state.desired.pools.get(&pool));
    pool.map_or(DISKLESS_POOL, |pool| &pool.name)
}

pub(crate) fn name_of(state: &State, node: Uuid) -> String {
    state.desired.nodes.get(&node).map_or_else(|| node.to_string(), |node| node.name.clone())
}
