//! Which handlers a change of a resource calls for: from the state before and the state after.
//!
//! A change that is undone before somebody looks (10 ms) calls for nothing.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{ConnectionStatus, DeviceStatus, PeerDeviceStatus, ResourceStatus};

/// A handler that is to be called, and what about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trigger {
    pub(crate) handler: &'static str,
    /// Node id and name.
    pub(crate) peer: Option<(u8, String)>,
    /// Number and minor.
    pub(crate) volume: Option<(u16, u32)>,
}

impl Trigger {
    pub(crate) fn of_resource(handler: &'static str) -> Self {
        Self { handler, peer: None, volume: None }
    }

    fn of_device(handler: &'static str, device: &DeviceStatus) -> Self {
        Self { handler, peer: None, volume: Some((device.volume, device.minor)) }
    }

    fn of_connection(handler: &'static str, connection: &ConnectionStatus) -> Self {
        let peer = Some((connection.peer_node_id, connection.name.clone()));
        Self { handler, peer, volume: None }
    }

    fn of_peer_device(
        handler: &'static str,
        resource: &ResourceStatus,
        connection: &ConnectionStatus,
        volume: u16,
    ) -> Self {
        let minor = device_of(resource, volume).map_or(0, |device| device.minor);
        Self { volume: Some((volume, minor)), ..Self::of_connection(handler, connection) }
    }
}

/// What a resource calls for that was never looked at before: a split brain stays, and whoever is
/// to hear of it may have come later.
pub(super) fn first_look(after: &ResourceStatus) -> Vec<Trigger> {
    let split = after.connections.iter().filter(|connection| connection.split_brain);
    split.flat_map(split_brain).collect()
}

pub(super) fn triggers(before: &ResourceStatus, after: &ResourceStatus) -> Vec<Trigger> {
    let mut found = Vec::new();
    for connection in &after.connections {
        let old = before.connections.iter().find(|old| old.name == connection.name);
        if let Some(old) = old {
            of_connection(before, old, (after, connection), &mut found);
        }
    }
    for device in &after.devices {
        if let Some(old) = device_of(before, device.volume) {
            of_device((before, old), (after, device), &mut found);
        }
    }
    found.extend(of_verify(before, after));
    found
}

fn of_connection(
    before: &ResourceStatus,
    old: &ConnectionStatus,
    (after, new): (&ResourceStatus, &ConnectionStatus),
    found: &mut Vec<Trigger>,
) {
    if new.split_brain && !old.split_brain {
        found.extend(split_brain(new));
    }
    let is_connected = |it: &ConnectionStatus| it.connection_state == ConnectionState::Connected;
    if is_connected(old) && !is_connected(new) {
        found.push(Trigger::of_connection("disconnected", new));
    }
    for device in &new.peer_devices {
        let feeds = |it: &PeerDeviceStatus| it.replication_state == ReplicationState::SyncSource;
        let fed_before = peer_device_of(old, device.volume).is_some_and(feeds);
        let is_good = |it: &PeerDeviceStatus| it.peer_disk_state == DiskState::UpToDate;
        let was_good = peer_device_of(old, device.volume).is_some_and(is_good);
        if after.role == Role::Primary && is_connected(new) && is_good(device) && !was_good {
            let volume = device.volume;
            found.push(Trigger::of_peer_device("unfence-peer", after, new, volume));
        }
        if feeds(device) && !fed_before && device_of(before, device.volume).is_some() {
            let volume = device.volume;
            found.push(Trigger::of_peer_device("before-resync-source", after, new, volume));
        }
    }
}

fn of_device(
    (before, old): (&ResourceStatus, &DeviceStatus),
    (after, new): (&ResourceStatus, &DeviceStatus),
    found: &mut Vec<Trigger>,
) {
    if old.quorum && !new.quorum {
        found.push(Trigger::of_device("quorum-lost", new));
    }
    let is_stranded = |resource: &ResourceStatus, device: &DeviceStatus| {
        resource.role == Role::Primary && !has_good_data(resource, device)
    };
    if is_stranded(after, new) && !is_stranded(before, old) {
        found.push(Trigger::of_device("pri-on-incon-degr", new));
    }
    let source = before.connections.iter().find(|connection| {
        peer_device_of(connection, new.volume)
            .is_some_and(|it| it.replication_state == ReplicationState::SyncTarget)
    });
    if let Some(source) = source
        && old.disk_state != DiskState::UpToDate
        && new.disk_state == DiskState::UpToDate
    {
        found.push(Trigger::of_peer_device("after-resync-target", after, source, new.volume));
    }
}

/// An end of a comparison that found something, for each replica that differs.
fn of_verify(before: &ResourceStatus, after: &ResourceStatus) -> Vec<Trigger> {
    let former = before.verify.as_ref().filter(|verify| verify.state == "done");
    let Some(verify) = after.verify.as_ref().filter(|it| it.state == "done") else {
        return Vec::new();
    };
    if former.is_some_and(|former| former.without_times() == verify.without_times()) {
        return Vec::new();
    }
    let differing = verify.differing.iter().filter(|(_, kib)| *kib > 0);
    let trigger = |name: &String| {
        let peer = after.connections.iter().find(|connection| connection.name == *name);
        // Of several volumes, what was found in all of them is not said of one.
        let device = match (verify.volume, &after.devices[..]) {
            (Some(volume), _) => device_of(after, volume),
            (None, [device]) => Some(device),
            (None, _) => None,
        };
        match (peer, device) {
            (Some(peer), Some(device)) => {
                Trigger::of_peer_device("out-of-sync", after, peer, device.volume)
            }
            (Some(peer), None) => Trigger::of_connection("out-of-sync", peer),
            (None, Some(device)) => Trigger::of_device("out-of-sync", device),
            (None, None) => Trigger::of_resource("out-of-sync"),
        }
    };
    differing.map(|(name, _)| trigger(name)).collect()
}

fn split_brain(connection: &ConnectionStatus) -> [Trigger; 2] {
    ["initial-split-brain", "split-brain"].map(|name| Trigger::of_connection(name, connection))
}

/// A replica in reach is up to date.
fn has_good_data(resource: &ResourceStatus, device: &DeviceStatus) -> bool {
    let is_good = |it: &PeerDeviceStatus| it.peer_disk_state == DiskState::UpToDate;
    device.disk_state == DiskState::UpToDate
        || resource.connections.iter().any(|connection| {
            connection.connection_state == ConnectionState::Connected
                && peer_device_of(connection, device.volume).is_some_and(is_good)
        })
}

fn device_of(resource: &ResourceStatus, volume: u16) -> Option<&DeviceStatus> {
    resource.devices.iter().find(|device| device.volume == volume)
}

fn peer_device_of(connection: &ConnectionStatus, volume: u16) -> Option<&PeerDeviceStatus> {
    connection.peer_devices.iter().find(|device| device.volume == volume)
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::status::VerifyReport;

    fn peer(name: &str, node_id: u8) -> ConnectionStatus {
        ConnectionStatus {
            name: name.to_owned(),
            peer_node_id: node_id,
            connection_state: ConnectionState::Connected,
            peer_devices: vec![PeerDeviceStatus {
                peer_disk_state: DiskState::UpToDate,
                replication_state: ReplicationState::Established,
                ..PeerDeviceStatus::default()
            }],
            ..ConnectionStatus::default()
        }
    }

    fn primary() -> ResourceStatus {
        ResourceStatus {
            name: "r0".to_owned(),
            role: Role::Primary,
            devices: vec![DeviceStatus {
                minor: 7,
                quorum: true,
                disk_state: DiskState::UpToDate,
                ..DeviceStatus::default()
            }],
            connections: vec![peer("bob", 1), peer("carol", 2)],
            ..ResourceStatus::default()
        }
    }

    /// The handlers that a change calls, with the peers that they are about.
    fn called(
        before: impl FnOnce(&mut ResourceStatus),
        after: impl FnOnce(&mut ResourceStatus),
    ) -> Vec<(&'static str, Option<String>)> {
        let mut old = primary();
        before(&mut old);
        let mut new = old.clone();
        after(&mut new);
        assert_eq!(triggers(&new, &new), [], "what stays calls for nothing");
        let found = triggers(&old, &new).into_iter();
        found.map(|it| (it.handler, it.peer.map(|(_, name)| name))).collect()
    }

    fn bob() -> Option<String> {
        Some("bob".to_owned())
    }

    #[test]
    fn connections_that_end_and_lines_that_part() {
        let lost = |it: &mut ResourceStatus| {
            it.connections[0].connection_state = ConnectionState::Connecting;
        };
        assert_eq!(called(|_| {}, lost), [("disconnected", bob())]);
        assert_eq!(called(lost, |it| it.connections[0].peer_node_id = 1), []);
        let split = |it: &mut ResourceStatus| it.connections[0].split_brain = true;
        let both = [("initial-split-brain", bob()), ("split-brain", bob())];
        assert_eq!(called(|_| {}, split), both);
        let mut status = primary();
        assert_eq!(first_look(&status), []);
        split(&mut status);
        assert_eq!(first_look(&status).len(), 2);
    }

    #[test]
    fn quorum_and_the_last_good_replica() {
        let lost = called(|_| {}, |it| it.devices[0].quorum = false);
        assert_eq!(lost, [("quorum-lost", None)]);
        let alone = |it: &mut ResourceStatus| {
            it.devices[0].disk_state = DiskState::Inconsistent;
            it.connections[1].peer_devices[0].peer_disk_state = DiskState::Outdated;
        };
        let gone = |it: &mut ResourceStatus| {
            it.connections[0].connection_state = ConnectionState::Connecting;
        };
        let found = called(alone, gone);
        assert_eq!(found, [("disconnected", bob()), ("pri-on-incon-degr", None)]);
        let secondary = |it: &mut ResourceStatus| {
            alone(it);
            it.role = Role::Secondary;
        };
        assert_eq!(called(secondary, gone), [("disconnected", bob())]);
    }

    #[test]
    fn resyncs_from_either_side() {
        let feeds = |it: &mut ResourceStatus| {
            it.connections[0].peer_devices[0].replication_state = ReplicationState::SyncSource;
        };
        assert_eq!(called(|_| {}, feeds), [("before-resync-source", bob())]);
        let fed = |it: &mut ResourceStatus| {
            it.role = Role::Secondary;
            it.devices[0].disk_state = DiskState::Inconsistent;
            it.connections[0].peer_devices[0].replication_state = ReplicationState::SyncTarget;
        };
        let done = |it: &mut ResourceStatus| {
            it.devices[0].disk_state = DiskState::UpToDate;
            it.connections[0].peer_devices[0].replication_state = ReplicationState::Established;
        };
        assert_eq!(called(fed, done), [("after-resync-target", bob())]);
        let interrupted = |it: &mut ResourceStatus| {
            it.connections[0].peer_devices[0].replication_state = ReplicationState::Off;
        };
        assert_eq!(called(fed, interrupted), []);
    }

    #[test]
    fn a_verify_that_found_something() {
        let verify = |state: &str, kib| {
            let differing = vec![("bob".to_owned(), kib)];
            Some(VerifyReport { state: state.to_owned(), differing, ..VerifyReport::default() })
        };
        let running = |it: &mut ResourceStatus| it.verify = verify("running", 4);
        assert_eq!(called(running, |it| it.verify = verify("done", 4)), [("out-of-sync", bob())]);
        assert_eq!(called(running, |it| it.verify = verify("done", 0)), []);
        assert_eq!(called(|_| {}, running), []);
        // The next look at the same one: only its times have changed.
        let done = |it: &mut ResourceStatus| it.verify = verify("done", 4);
        let later = |it: &mut ResourceStatus| {
            let seen = |it: VerifyReport| VerifyReport { age_ms: 9, ended_age_ms: Some(7), ..it };
            it.verify = verify("done", 4).map(seen);
        };
        assert_eq!(called(done, later), []);
    }
}
