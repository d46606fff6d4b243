//! What changed between two looks at a resource: `events2`'s objects, actions and keys.
//!
//! A daemon sends states ([`crate::subscription`]), not differences: whoever reads them derives
//! the events here, from the state before and the state after. A state that was skipped changes
//! nothing about the next event but its size.
//!
//! ```text
//! resource > connection > device > peer-device > path     created in this order, gone in reverse
//! ```
//! Keys, words and their order are DRBD's. What DRBD does not have is in [`Object::extra`], which
//! text leaves out: programs that read DRBD's text stop at a key that they do not know.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::connection_state::ConnectionState;
use crate::role::Role;
use crate::status::{
    ConnectionStatus, DeviceStatus, Endpoint, PathStatus, PeerDeviceStatus, ResourceStatus,
    STALLED_SECONDS,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Resource,
    Connection,
    Device,
    PeerDevice,
    Path,
    /// A handler of the configuration.
    Helper,
}

impl Kind {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resource => "resource",
            Self::Connection => "connection",
            Self::Device => "device",
            Self::PeerDevice => "peer-device",
            Self::Path => "path",
            Self::Helper => "helper",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It was there when the reader came.
    Exists,
    Create,
    Change,
    Destroy,
    /// A helper was called.
    Call,
    /// A helper ended.
    Response,
}

impl Action {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exists => "exists",
            Self::Create => "create",
            Self::Change => "change",
            Self::Destroy => "destroy",
            Self::Call => "call",
            Self::Response => "response",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Word(String),
    Flag(bool),
    Number(u64),
    /// Printed with two decimals.
    Decimal(f64),
    List(Vec<String>),
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Number(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number:.2}"),
            Self::List(words) => f.write_str(&words.join(",")),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub value: Value,
}

/// Fields that are told together: one that changed brings the others along.
pub type Group = Vec<Field>;

/// One part of a resource, as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    pub kind: Kind,
    /// Which one it is.
    pub key: Vec<Field>,
    /// Told with every event but the end: what goes with the key.
    pub name: Vec<Field>,
    pub state: Vec<Group>,
    /// Counters: told when asked for, and no event of their own.
    pub statistics: Group,
    /// Beyond DRBD's.
    pub extra: Vec<Group>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub action: Action,
    pub object: Object,
    /// Of a change.
    pub before: Option<Object>,
}

/// Whether counters alone make an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    Ignored,
    Compared,
}

/// A call of a handler of the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct HelperCall {
    pub resource: String,
    pub helper: String,
    /// The peer that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peer: Option<(u8, String)>,
    /// The volume that it is about, and its minor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<(u16, u32)>,
    /// Once it ended: its exit status; 128 and the number of the signal that ended it; 124 if it
    /// took too long, 127 if it could not be started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
}

/// A call of a handler, or its end.
#[must_use]
pub fn helper_event(call: &HelperCall) -> Event {
    let mut key = vec![word("name", &call.resource)];
    if let Some((node_id, name)) = &call.peer {
        key.extend([number("peer-node-id", *node_id), word("conn-name", name)]);
    }
    if let Some((volume, minor)) = call.volume {
        key.extend([number("volume", volume), number("minor", minor)]);
    }
    key.push(word("helper", &call.helper));
    let status = call.status.map(|status| vec![number("status", status)]);
    let object = Object {
        kind: Kind::Helper,
        key,
        name: Vec::new(),
        state: status.into_iter().collect(),
        statistics: Vec::new(),
        extra: Vec::new(),
    };
    let action = if call.status.is_some() { Action::Response } else { Action::Call };
    Event { action, object, before: None }
}

/// The events that lead from one state of a resource to another. `None` is a resource that is not
/// there; `appearing` is what its coming is called.
#[must_use]
pub fn events(
    before: Option<&ResourceStatus>,
    after: Option<&ResourceStatus>,
    appearing: Action,
    counters: Counters,
) -> Vec<Event> {
    let before = before.map(objects).unwrap_or_default();
    let after = after.map(objects).unwrap_or_default();
    let gone = before.iter().rev().filter(|old| !after.iter().any(|new| is_same(old, new)));
    let mut events: Vec<Event> = after
        .iter()
        .filter_map(|new| match before.iter().find(|old| is_same(old, new)) {
            None => Some(Event { action: appearing, object: new.clone(), before: None }),
            Some(old) if !differs(old, new, counters) => None,
            Some(old) => Some(Event {
                action: Action::Change,
                object: new.clone(),
                before: Some(old.clone()),
            }),
        })
        .collect();
    events.extend(gone.map(|old| Event {
        action: Action::Destroy,
        object: old.clone(),
        before: None,
    }));
    events
}

/// Whether anything but counters differs.
#[must_use]
pub fn is_changed(before: &ResourceStatus, after: &ResourceStatus) -> bool {
    !events(Some(before), Some(after), Action::Create, Counters::Ignored).is_empty()
}

fn is_same(old: &Object, new: &Object) -> bool {
    old.kind == new.kind && old.key == new.key
}

fn differs(old: &Object, new: &Object, counters: Counters) -> bool {
    old.state != new.state
        || old.extra != new.extra
        || (counters == Counters::Compared && old.statistics != new.statistics)
}

/// The parts of a resource, in the order in which their coming is told.
#[must_use]
pub fn objects(resource: &ResourceStatus) -> Vec<Object> {
    let mut objects = vec![resource_object(resource)];
    let connections = &resource.connections;
    objects.extend(connections.iter().map(|connection| connection_object(resource, connection)));
    objects.extend(resource.devices.iter().map(|device| device_object(resource, device)));
    for connection in connections {
        let devices = connection.peer_devices.iter();
        objects.extend(devices.map(|device| peer_device_object(resource, connection, device)));
    }
    for connection in connections {
        let paths = connection.paths.iter();
        objects.extend(paths.map(|path| path_object(resource, connection, path)));
    }
    objects
}

fn word(name: &'static str, value: &impl ToString) -> Field {
    Field { name, value: Value::Word(value.to_string()) }
}

fn flag(name: &'static str, value: impl Into<Value>) -> Field {
    Field { name, value: value.into() }
}

fn number(name: &'static str, value: impl Into<u64>) -> Field {
    Field { name, value: Value::Number(value.into()) }
}

fn resource_object(resource: &ResourceStatus) -> Object {
    let votes = resource.quorum_votes.iter().flat_map(|votes| {
        let here = votes.voters.iter().filter(|voter| voter.present);
        let names = here.map(|voter| voter.name.clone()).collect();
        [
            number("votes", votes.have),
            number("votes-needed", votes.needed),
            Field { name: "voters-present", value: Value::List(names) },
        ]
    });
    Object {
        kind: Kind::Resource,
        key: vec![word("name", &resource.name)],
        name: Vec::new(),
        state: vec![
            vec![word("role", &resource.role)],
            vec![word("suspended", &resource.suspended_word())],
            vec![flag("force-io-failures", resource.force_io_failures)],
            vec![
                flag("may_promote", resource.may_promote),
                number("promotion_score", resource.promotion_score),
            ],
        ],
        statistics: vec![word("write-ordering", &resource.write_ordering)],
        extra: vec![
            vec![Field { name: "reasons", value: Value::List(resource.reasons.clone()) }],
            votes.collect(),
        ],
    }
}

fn connection_key(resource: &ResourceStatus, connection: &ConnectionStatus) -> Vec<Field> {
    vec![
        word("name", &resource.name),
        number("peer-node-id", connection.peer_node_id),
        word("conn-name", &connection.name),
    ]
}

fn connection_object(resource: &ResourceStatus, connection: &ConnectionStatus) -> Object {
    let split = connection.split_brain.then(|| flag("split-brain", true));
    let reason = connection.reason.iter().map(|reason| word("reason", reason));
    let reason = split.into_iter().chain(reason).collect();
    Object {
        kind: Kind::Connection,
        key: connection_key(resource, connection),
        name: Vec::new(),
        state: vec![
            vec![word("connection", &connection.connection_state)],
            vec![word("role", &connection.peer_role)],
        ],
        statistics: vec![
            flag("congested", connection.congested),
            number("ap-in-flight", connection.ap_in_flight),
            number("rs-in-flight", connection.rs_in_flight),
        ],
        extra: vec![reason],
    }
}

fn device_object(resource: &ResourceStatus, device: &DeviceStatus) -> Object {
    let mut statistics = Vec::new();
    if let Some(counted) = &device.statistics {
        statistics.extend([
            number("size", counted.size),
            number("read", counted.read),
            number("written", counted.written),
            number("al-writes", counted.al_writes),
            number("bm-writes", counted.bm_writes),
            number("upper-pending", counted.upper_pending),
            number("lower-pending", counted.lower_pending),
            flag("al-suspended", device.al_suspended),
            word("blocked", &device.blocked.as_str()),
        ]);
    }
    Object {
        kind: Kind::Device,
        key: vec![word("name", &resource.name), number("volume", device.volume)],
        name: vec![number("minor", device.minor)],
        state: vec![
            vec![word("backing_dev", &device.backing_dev.as_deref().unwrap_or("none"))],
            vec![word("disk", &device.disk_state), flag("client", device.client)],
            vec![flag("open", device.open)],
            vec![flag("quorum", device.quorum)],
        ],
        statistics,
        extra: Vec::new(),
    }
}

fn peer_device_object(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    device: &PeerDeviceStatus,
) -> Object {
    let mut key = connection_key(resource, connection);
    key.push(number("volume", device.volume));
    let mut statistics = vec![
        number("received", device.received),
        number("sent", device.sent),
        number("out-of-sync", device.out_of_sync),
        number("pending", device.pending),
        number("unacked", device.unacked),
    ];
    if let Some(sync) = &device.sync {
        statistics.push(Field { name: "dbdt1", value: Value::Decimal(sync.rate_recent) });
        statistics.push(match sync.estimated_seconds_to_finish {
            STALLED_SECONDS => word("eta", &"nan"),
            seconds => number("eta", seconds),
        });
    }
    let done =
        device.done_percent().map(|done| Field { name: "done", value: Value::Decimal(done) });
    Object {
        kind: Kind::PeerDevice,
        key,
        name: Vec::new(),
        state: vec![
            vec![word("replication", &device.replication_state)],
            vec![
                word("peer-disk", &device.peer_disk_state),
                flag("peer-client", device.peer_client),
            ],
            vec![word("resync-suspended", &device.resync_suspended)],
            done.into_iter().collect(),
        ],
        statistics,
        extra: Vec::new(),
    }
}

fn path_object(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    path: &PathStatus,
) -> Object {
    let mut key = connection_key(resource, connection);
    key.push(word("local", &endpoint(&path.this_host)));
    key.push(word("peer", &endpoint(&path.remote_host)));
    Object {
        kind: Kind::Path,
        key,
        name: Vec::new(),
        state: vec![vec![flag("established", path.established)]],
        statistics: Vec::new(),
        extra: Vec::new(),
    }
}

fn endpoint(endpoint: &Endpoint) -> String {
    let Endpoint { address, port, family } = endpoint;
    if family == "ipv6" {
        format!("{family}:[{address}]:{port}")
    } else {
        format!("{family}:{address}:{port}")
    }
}

/// Whether some node may become Primary now, and how well this one would do: what a promoter goes
/// by. DRBD's figures: 10000 for local disks that are all in use, 100 for each volume that is up
/// to date here, 1 for each replica of the volume that has the fewest up to date; 0 where a
/// promotion would be refused.
#[must_use]
pub fn promotion(resource: &ResourceStatus) -> (bool, u64) {
    use crate::disk_state::DiskState;
    let peers_of = |volume: u16| {
        let connected = |it: &&ConnectionStatus| it.connection_state == ConnectionState::Connected;
        let devices = resource.connections.iter().filter(connected);
        devices.flat_map(|connection| &connection.peer_devices).filter(move |device| {
            device.volume == volume && device.peer_disk_state == DiskState::UpToDate
        })
    };
    let is_good = |device: &DeviceStatus| device.disk_state == DiskState::UpToDate;
    let copies = |device: &DeviceStatus| {
        u64::from(is_good(device)) + peers_of(device.volume).map(|_| 1).sum::<u64>()
    };
    let is_usable = |device: &DeviceStatus| device.quorum && copies(device) > 0;
    let is_usable = !resource.devices.is_empty()
        && resource.devices.iter().all(is_usable)
        && !resource.force_io_failures;
    let mut connections = resource.connections.iter();
    let has_primary = resource.role == Role::Primary
        || connections.any(|connection| connection.peer_role == Role::Primary);
    // Out of reach it may serve clients still, and this replica misses what it took.
    let named = resource.epoch.as_ref().and_then(|epoch| epoch.primary.as_deref());
    let is_away = |name: &str| {
        let mut peers = resource.connections.iter().filter(|it| it.name == name);
        peers.any(|it| it.connection_state != ConnectionState::Connected)
    };
    let is_outdated = resource.devices.iter().any(|it| it.disk_state == DiskState::Outdated);
    if !is_usable || is_outdated && named.is_some_and(is_away) {
        return (false, 0);
    }
    let has_disk = |device: &DeviceStatus| {
        matches!(
            device.disk_state,
            DiskState::Inconsistent | DiskState::Consistent | DiskState::UpToDate
        )
    };
    let devices = &resource.devices;
    let disks = if devices.iter().all(has_disk) { 10_000 } else { 0 };
    let local: u64 = devices.iter().filter(|device| is_good(device)).map(|_| 1).sum();
    let fewest = devices.iter().map(copies).min().unwrap_or(0);
    (!has_primary, disks + 100 * local.min(99) + fewest.min(99))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk_state::DiskState;
    use crate::replication_state::ReplicationState;
    use crate::status::EpochStatus;

    fn two_nodes() -> ResourceStatus {
        ResourceStatus {
            name: "r0".to_owned(),
            role: Role::Secondary,
            devices: vec![DeviceStatus {
                minor: 1,
                disk_state: DiskState::UpToDate,
                quorum: true,
                backing_dev: Some("/dev/vg/lv".to_owned()),
                ..DeviceStatus::default()
            }],
            connections: vec![ConnectionStatus {
                peer_node_id: 1,
                name: "bob".to_owned(),
                connection_state: ConnectionState::Connected,
                peer_role: Role::Secondary,
                peer_devices: vec![PeerDeviceStatus {
                    replication_state: ReplicationState::Established,
                    peer_disk_state: DiskState::UpToDate,
                    ..PeerDeviceStatus::default()
                }],
                ..ConnectionStatus::default()
            }],
            ..ResourceStatus::default()
        }
    }

    fn told(events: &[Event]) -> Vec<String> {
        let one =
            |event: &Event| format!("{} {}", event.action.as_str(), event.object.kind.as_str());
        events.iter().map(one).collect()
    }

    #[test]
    fn parts_come_in_drbds_order_and_go_in_reverse() {
        let resource = two_nodes();
        let come = events(None, Some(&resource), Action::Exists, Counters::Ignored);
        assert_eq!(
            told(&come),
            ["exists resource", "exists connection", "exists device", "exists peer-device"]
        );
        let go = events(Some(&resource), None, Action::Create, Counters::Ignored);
        assert_eq!(
            told(&go),
            ["destroy peer-device", "destroy device", "destroy connection", "destroy resource"]
        );
    }

    #[test]
    fn only_what_changed_is_an_event_and_counters_are_none() {
        let before = two_nodes();
        let mut after = two_nodes();
        after.connections[0].peer_devices[0].sent = 4;
        assert!(!is_changed(&before, &after));
        let polled = events(Some(&before), Some(&after), Action::Create, Counters::Compared);
        assert_eq!(told(&polled), ["change peer-device"]);
        after.devices[0].open = true;
        let changed = events(Some(&before), Some(&after), Action::Create, Counters::Ignored);
        assert_eq!(told(&changed), ["change device"]);
        assert_eq!(changed[0].before.as_ref().unwrap().state[2][0].value, Value::Flag(false));
    }

    #[test]
    fn helpers_are_called_and_respond() {
        let call = HelperCall {
            resource: "r0".to_owned(),
            helper: "disconnected".to_owned(),
            peer: Some((1, "bob".to_owned())),
            ..HelperCall::default()
        };
        let called = helper_event(&call);
        let ended = helper_event(&HelperCall { status: Some(3), ..call });
        assert_eq!(told(&[called.clone(), ended.clone()]), ["call helper", "response helper"]);
        assert_eq!(called.object.key, ended.object.key);
        assert_eq!(ended.object.state, [[number("status", 3_u8)]]);
    }

    #[test]
    fn score_is_drbds() {
        let mut resource = two_nodes();
        assert_eq!(promotion(&resource), (true, 10_102));
        resource.connections[0].peer_role = Role::Primary;
        assert_eq!(promotion(&resource), (false, 10_102));
        resource.connections[0].peer_role = Role::Secondary;
        resource.devices[0].disk_state = DiskState::Inconsistent;
        assert_eq!(promotion(&resource), (true, 10_001));
        resource.devices[0].disk_state = DiskState::Diskless;
        assert_eq!(promotion(&resource), (true, 1));
        resource.connections[0].connection_state = ConnectionState::Connecting;
        assert_eq!(promotion(&resource), (false, 0));
        let mut resource = two_nodes();
        resource.devices[0].quorum = false;
        assert_eq!(promotion(&resource), (false, 0));
    }

    /// It was said that it may be promoted, while another node served clients out of its reach.
    #[test]
    fn outdated_node_is_not_promoted_beside_a_primary_that_it_does_not_see() {
        let with = |disk_state, primary: Option<&str>| {
            let mut resource = two_nodes();
            resource.devices[0].disk_state = disk_state;
            let name = "carol".to_owned();
            resource.connections.push(ConnectionStatus { name, ..ConnectionStatus::default() });
            let primary = primary.map(str::to_owned);
            resource.epoch = Some(EpochStatus { primary, ..EpochStatus::default() });
            promotion(&resource).0
        };
        assert!(!with(DiskState::Outdated, Some("carol")));
        // The last one to be Primary was itself, or is here, or nobody.
        assert!(with(DiskState::Outdated, Some("alice")));
        assert!(with(DiskState::Outdated, Some("bob")));
        assert!(with(DiskState::Outdated, None));
        // This one takes over where the Primary died.
        assert!(with(DiskState::UpToDate, Some("carol")));
    }
}
