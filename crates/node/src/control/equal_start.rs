//! `new-current-uuid`: a new volume whose replicas are known to be equal starts without a copy.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::response::{Failure, FailureCode, Reply};
use api::status::{ConnectionStatus, ResourceStatus};
use replication::contract::PromoteMode;

use crate::control::Control;
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
    let refuse =
        |message: String, hint: &str| Err(Failure::new(FailureCode::StateRefused, message, hint));
    let local = resource.devices.iter().map(|device| device.disk_state);
    let peers = resource.connections.iter().flat_map(|one| &one.peer_devices);
    let mut states = local.chain(peers.map(|device| device.peer_disk_state));
    let is_blank = |state| matches!(state, DiskState::Inconsistent | DiskState::Diskless);
    let is_apart = |one: &&ConnectionStatus| one.connection_state != ConnectionState::Connected;
    if let Some(peer) = resource.connections.iter().find(is_apart) {
        let message = format!("peer {} is not connected: what it holds is unknown", peer.name);
        return refuse(message, "start all nodes of the resource first");
    }
    if let Some(state) = states.find(|state| !is_blank(*state)) {
        let message = format!("a replica is {state} already: its data would count as everyone's");
        return refuse(message, "this is for new volumes only; a new replica is copied by itself");
    }
    Ok(())
}
