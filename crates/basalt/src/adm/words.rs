//! `role`, `cstate`, `dstate`: one word or one line, for scripts.

use api::disk_state::DiskState;
use api::status::ResourceStatus;

use crate::adm::failure::AdmError;
use crate::adm::outcome::{Answer, PeerDisk};
use crate::adm::target::One;

/// A line of text, and the same for JSON.
pub(crate) type Line = (String, Answer);

/// One line. It cannot fail, but stands in for `cstate` and `dstate`, which can.
pub(crate) fn role(resource: &ResourceStatus, _: Option<&One>) -> Result<Vec<Line>, AdmError> {
    let answer = Answer::Role { resource: resource.name.clone(), role: resource.role };
    Ok(vec![(format!("{}\n", resource.role), answer)])
}

/// One line for each connection, or for the one that is named.
pub(crate) fn cstate(resource: &ResourceStatus, one: Option<&One>) -> Result<Vec<Line>, AdmError> {
    let all = resource.connections.iter();
    let unknown = one.map(|one| one.unknown_peer(all.clone().map(|peer| peer.name.as_str())));
    if let Some(peer) = unknown.transpose()?.flatten() {
        return Err(AdmError::configuration(
            format!("the resource has no peer `{peer}`"),
            format!("basalt adm status {}", resource.name),
        ));
    }
    let lines = all
        .filter(|connection| one.is_none_or(|one| one.means_peer(&connection.name)))
        .map(|connection| {
            let answer = Answer::Connection {
                resource: resource.name.clone(),
                name: connection.name.clone(),
                connection_state: connection.connection_state,
            };
            (format!("{}\n", connection.connection_state), answer)
        })
        .collect();
    Ok(lines)
}

/// The local disk, then the peers' in the order of the connections, for each volume.
pub(crate) fn dstate(resource: &ResourceStatus, one: Option<&One>) -> Result<Vec<Line>, AdmError> {
    let wanted = one.and_then(|one| one.volume);
    let mut lines = Vec::new();
    for device in &resource.devices {
        if wanted.is_some_and(|volume| volume != device.volume) {
            continue;
        }
        let peers: Vec<PeerDisk> = resource
            .connections
            .iter()
            .map(|connection| {
                let mut peer_devices = connection.peer_devices.iter();
                let peer_device = peer_devices.find(|peer| peer.volume == device.volume);
                PeerDisk {
                    name: connection.name.clone(),
                    peer_disk_state: peer_device
                        .map_or(DiskState::DUnknown, |peer| peer.peer_disk_state),
                }
            })
            .collect();
        let mut words = vec![device.disk_state.as_str()];
        words.extend(peers.iter().map(|peer| peer.peer_disk_state.as_str()));
        let text = format!("{}\n", words.join("/"));
        let answer = Answer::Disk {
            resource: resource.name.clone(),
            volume: device.volume,
            disk_state: device.disk_state,
            peers,
        };
        lines.push((text, answer));
    }
    match wanted {
        Some(volume) if lines.is_empty() => Err(AdmError::configuration(
            format!("the resource has no volume {volume}"),
            format!("basalt adm status {}", resource.name),
        )),
        Some(_) | None => Ok(lines),
    }
}
