//! What a script finds in its environment: DRBD's names, and nothing of the daemon's own.

use api::disk_state::DiskState;
use api::status::{ConnectionStatus, ResourceStatus};

use crate::control::handlers::triggers::Trigger;

/// As the kernel gives it to DRBD's handlers: wherever tools of an administrator are.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/sbin:/usr/sbin:/bin:/usr/bin";

pub(super) fn variables(
    resource: &str,
    own_name: &str,
    state: Option<&ResourceStatus>,
    trigger: &Trigger,
) -> Vec<(String, String)> {
    let mut variables = Vec::new();
    let mut set = |name: &str, value: &dyn ToString| {
        variables.push((name.to_owned(), value.to_string()));
    };
    set("PATH", &PATH);
    set("HOME", &"/");
    set("TERM", &"linux");
    set("DRBD_RESOURCE", &resource);
    let Some(state) = state else { return variables };
    set("DRBD_MY_NODE_ID", &state.node_id);
    set(&format!("DRBD_NODE_ID_{}", state.node_id), &own_name);
    for connection in &state.connections {
        set(&format!("DRBD_NODE_ID_{}", connection.peer_node_id), &connection.name);
    }
    if trigger.handler == "fence-peer" {
        set("UP_TO_DATE_NODES", &format!("{:#x}", up_to_date_nodes(state)));
    }
    for device in &state.devices {
        let backing = device.backing_dev.as_deref().unwrap_or("none");
        set(&format!("DRBD_MINOR_{}", device.volume), &device.minor);
        set(&format!("DRBD_BACKING_DEV_{}", device.volume), &backing);
        let is_asked = trigger.volume.is_none_or(|(volume, _)| volume == device.volume);
        // With several volumes, what is about none of them names none.
        if is_asked && (trigger.volume.is_some() || state.devices.len() == 1) {
            set("DRBD_VOLUME", &device.volume);
            set("DRBD_MINOR", &device.minor);
            set("DRBD_BACKING_DEV", &backing);
            // The name that drbdadm gives it.
            set("DRBD_LL_DISK", &backing);
        }
    }
    let is_peer = |it: &&ConnectionStatus| {
        trigger.peer.as_ref().is_some_and(|(node_id, _)| *node_id == it.peer_node_id)
    };
    if let Some(connection) = state.connections.iter().find(is_peer) {
        set("DRBD_PEER", &connection.name);
        set("DRBD_PEER_NODE_ID", &connection.peer_node_id);
        set("DRBD_CSTATE", &connection.connection_state);
        let paths = &connection.paths;
        if let Some(path) = paths.iter().find(|path| path.established).or_else(|| paths.first()) {
            set("DRBD_MY_AF", &path.this_host.family);
            set("DRBD_MY_ADDRESS", &path.this_host.address);
            set("DRBD_PEER_AF", &path.remote_host.family);
            set("DRBD_PEER_ADDRESS", &path.remote_host.address);
        }
    }
    variables
}

/// A bit for each node whose replica of all volumes is known to be up to date.
fn up_to_date_nodes(state: &ResourceStatus) -> u32 {
    let is_good = |it: DiskState| it == DiskState::UpToDate;
    let own = state.devices.iter().all(|device| is_good(device.disk_state));
    let peers = state.connections.iter().filter(|connection| {
        let mut devices = connection.peer_devices.iter();
        !connection.peer_devices.is_empty() && devices.all(|it| is_good(it.peer_disk_state))
    });
    let good = peers.map(|connection| connection.peer_node_id).chain(own.then_some(state.node_id));
    good.fold(0, |mask, node| mask | 1_u32.checked_shl(node.into()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use api::status::{DeviceStatus, Endpoint, PathStatus, PeerDeviceStatus};

    fn endpoint(address: &str) -> Endpoint {
        Endpoint { address: address.to_owned(), port: 7900, family: "ipv4".to_owned() }
    }

    fn state() -> ResourceStatus {
        ResourceStatus {
            name: "r0".to_owned(),
            node_id: 0,
            devices: vec![DeviceStatus {
                volume: 3,
                minor: 7,
                backing_dev: Some("/dev/vg/lv".to_owned()),
                ..DeviceStatus::default()
            }],
            connections: vec![ConnectionStatus {
                peer_node_id: 4,
                name: "bob".to_owned(),
                paths: vec![PathStatus {
                    this_host: endpoint("10.0.0.1"),
                    remote_host: endpoint("10.0.0.2"),
                    established: true,
                    in_use: true,
                    down_ms: None,
                    reason: None,
                }],
                ..ConnectionStatus::default()
            }],
            ..ResourceStatus::default()
        }
    }

    fn named(all: &[(String, String)], wanted: &str) -> Option<String> {
        all.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.clone())
    }

    #[test]
    fn names_are_drbds() {
        let trigger = Trigger {
            handler: "before-resync-source",
            peer: Some((4, "bob".to_owned())),
            volume: Some((3, 7)),
        };
        let all = variables("r0", "alice", Some(&state()), &trigger);
        for (name, value) in [
            ("DRBD_RESOURCE", "r0"),
            ("DRBD_MINOR", "7"),
            ("DRBD_VOLUME", "3"),
            ("DRBD_BACKING_DEV", "/dev/vg/lv"),
            ("DRBD_LL_DISK", "/dev/vg/lv"),
            ("DRBD_MINOR_3", "7"),
            ("DRBD_BACKING_DEV_3", "/dev/vg/lv"),
            ("DRBD_MY_ADDRESS", "10.0.0.1"),
            ("DRBD_MY_AF", "ipv4"),
            ("DRBD_PEER_ADDRESS", "10.0.0.2"),
            ("DRBD_PEER_AF", "ipv4"),
            ("DRBD_PEER_NODE_ID", "4"),
            ("DRBD_PEER", "bob"),
            ("DRBD_NODE_ID_0", "alice"),
            ("DRBD_NODE_ID_4", "bob"),
            ("DRBD_CSTATE", "StandAlone"),
        ] {
            assert_eq!(named(&all, name).as_deref(), Some(value), "{name}");
        }
    }

    #[test]
    fn who_is_up_to_date_is_a_mask() {
        let mut state = state();
        state.devices[0].disk_state = DiskState::UpToDate;
        let trigger =
            Trigger { peer: Some((4, "bob".to_owned())), ..Trigger::of_resource("fence-peer") };
        let all = variables("r0", "alice", Some(&state), &trigger);
        assert_eq!(named(&all, "UP_TO_DATE_NODES").as_deref(), Some("0x1"), "nothing of bob");
        let device =
            PeerDeviceStatus { peer_disk_state: DiskState::UpToDate, ..Default::default() };
        state.connections[0].peer_devices.push(device);
        let all = variables("r0", "alice", Some(&state), &trigger);
        assert_eq!(named(&all, "UP_TO_DATE_NODES").as_deref(), Some("0x11"));
    }

    #[test]
    fn what_is_about_no_peer_names_none() {
        let all = variables("r0", "alice", Some(&state()), &Trigger::of_resource("pri-lost"));
        assert_eq!(named(&all, "DRBD_PEER"), None);
        assert_eq!(named(&all, "DRBD_VOLUME").as_deref(), Some("3"), "the only one");
        let gone = variables("r0", "alice", None, &Trigger::of_resource("pri-lost"));
        assert_eq!(named(&gone, "DRBD_RESOURCE").as_deref(), Some("r0"));
    }
}
