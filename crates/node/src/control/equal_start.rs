//! `new-current-uuid`: a new volume whose replicas are known to be equal starts without a copy.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::response::{Failure, Reply};
use api::status::{ConnectionStatus, ResourceStatus};
use replication::contract::PromoteMode;

use crate::control::Control;
use crate::refusal::{Apart, Refusal};
use engine::contract::{Force, ToShard};

impl Control {
    /// Makes every replica a member of the first generation, and leaves the volume Secondary.
    pub(super) fn begin_equal(&self, resource: &str) -> Result<Reply, Failure> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        let reply = self.ask(resource, question)?;
        let Reply::Status(status) = reply else { return Ok(reply) };
        status.resources.iter().try_for_each(check_is_unborn)?;
        let (name, mode) = (resource.to_owned(), PromoteMode::ForceAllEqual);
        self.ask(resource, |ticket| ToShard::Promote { ticket, resource: name, mode })?;
        let name = resource.to_owned();
        self.ask(resource, |ticket| ToShard::Demote { ticket, resource: name, force: Force::No })
    }
}

/// A volume is unborn while no replica of it, here or at a peer, has data that anybody may read.
fn check_is_unborn(resource: &ResourceStatus) -> Result<(), Failure> {
    let local = resource.devices.iter().map(|device| device.disk_state);
    let peers = resource.connections.iter().flat_map(|one| &one.peer_devices);
    let mut states = local.chain(peers.map(|device| device.peer_disk_state));
    let is_blank = |state| matches!(state, DiskState::Inconsistent | DiskState::Diskless);
    let is_apart = |one: &&ConnectionStatus| one.connection_state != ConnectionState::Connected;
    if let Some(peer) = resource.connections.iter().find(is_apart) {
        let why = match peer.connection_state {
            // By an operator's word: no start of a daemon ends that.
            ConnectionState::StandAlone => Apart::ByOperator,
            ConnectionState::Disconnecting
            | ConnectionState::Unconnected
            | ConnectionState::Timeout
            | ConnectionState::BrokenPipe
            | ConnectionState::NetworkFailure
            | ConnectionState::ProtocolError
            | ConnectionState::TearDown
            | ConnectionState::Connecting
            | ConnectionState::Connected => Apart::OutOfReach,
        };
        let (peer, resource) = (peer.name.clone(), resource.name.clone());
        return Err(Refusal::PeerApart { peer, resource, why }.into());
    }
    if let Some(state) = states.find(|state| !is_blank(*state)) {
        return Err(Refusal::HasData { state: state.to_string() }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All nodes ran, and a link was taken down: it was told to start them.
    #[test]
    fn advice_about_a_peer_that_is_not_connected_is_by_its_state() {
        for state in ConnectionState::ALL {
            let connection = ConnectionStatus {
                name: "bob".to_owned(),
                connection_state: state,
                ..ConnectionStatus::default()
            };
            let resource = ResourceStatus {
                name: "r0".to_owned(),
                connections: vec![connection],
                ..ResourceStatus::default()
            };
            let refused = check_is_unborn(&resource);
            if state == ConnectionState::Connected {
                assert!(refused.is_ok());
                continue;
            }
            let failure = refused.unwrap_err();
            assert!(failure.message.starts_with("peer bob is not connected"), "{failure}");
            let connects = failure.hint == "basalt adm connect r0:bob";
            assert_eq!(connects, state == ConnectionState::StandAlone, "{state}: {failure}");
            let looks = failure.hint.starts_with("`basalt adm explain r0` says why bob is not");
            assert_eq!(looks, !connects, "{state}: {failure}");
        }
    }
}
