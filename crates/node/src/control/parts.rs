//! The parts of a resource that is up: with its disk or without, connected to its peers or apart.
//! And what it is without, and should have.

use api::connection_state::ConnectionState;
use api::request::AdjustScope;
use api::response::{Failure, Reply};
use api::role::Role;
use config::host_name::meant;
use config::steps::{attach_steps, connect_step};
use engine::contract::ToShard;
use engine::definition::Definition;
use engine::handover::Apart;
use format::ids::{MemberSet, NodeId};

use crate::control::Control;
use crate::control::texts::read_text;
use crate::refusal::Refusal;

/// With what a resource comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) has_disk: bool,
    pub(super) apart: Apart,
}

/// What a running resource is without, and should have.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pub(super) disk: bool,
    pub(super) peers: Vec<MissingPeer>,
}

/// A peer that is StandAlone.
#[derive(Debug)]
pub(super) struct MissingPeer {
    pub(super) name: String,
    id: u8,
    /// Nobody told it to be so: both went on by themselves.
    is_split: bool,
}

impl Parts {
    pub(super) const ALL: Self = Self { has_disk: true, apart: Apart::NOBODY };
    pub(super) const NONE: Self = Self { has_disk: false, apart: Apart::All };

    /// With what a resource comes back that has these, and has to go down for a change.
    /// A Primary meets the peers of a split brain again once it is Primary again.
    pub(super) fn after_change(
        self,
        scope: &AdjustScope,
        wanted: &Definition,
        split: MemberSet,
    ) -> Self {
        let named = scope.peer.as_ref().and_then(|peer| {
            let named = meant(peer, wanted.peers(), |member| [member.name.as_str()]);
            named.ok().flatten().map(|member| member.node)
        });
        let apart = match (self.apart, named) {
            (apart, _) if scope.skip_net => apart,
            (Apart::These(peers), Some(named)) => Apart::These(peers.without(named) | split),
            (Apart::All | Apart::These(_), _) => Apart::These(split),
        };
        let keeps_disk = scope.skip_disk || scope.peer.is_some();
        Self { has_disk: self.has_disk || !keeps_disk, apart }
    }
}

impl Missing {
    pub(super) fn is_empty(&self) -> bool {
        !self.disk && self.peers.is_empty()
    }
}

impl Control {
    /// What a resource has now that is up, and the peers of a split brain that it is to meet again
    /// by [`Control::connect_peer`].
    ///
    /// Both sides find out again what they are. But a Primary is none while it comes up, and is not
    /// to be the one that gives way for that.
    pub(super) fn parts_of(
        &self,
        resource: &str,
        role: Role,
    ) -> Result<(Parts, Vec<MissingPeer>), Failure> {
        let missing = self.missing(resource, &AdjustScope::default())?;
        let was_primary = role == Role::Primary;
        let is_apart = |peer: &&MissingPeer| was_primary || !peer.is_split;
        let apart = Apart::These(ids_of(missing.peers.iter().filter(is_apart)));
        let parts = Parts { has_disk: !missing.disk, apart };
        let split = missing.peers.into_iter().filter(|peer| was_primary && peer.is_split);
        Ok((parts, split.collect()))
    }

    /// What `adjust` would find missing.
    pub(super) fn missing(&self, resource: &str, scope: &AdjustScope) -> Result<Missing, Failure> {
        let is_about_disk = !scope.skip_disk && scope.peer.is_none();
        let disk = is_about_disk && self.is_without_disk(resource);
        if scope.skip_net {
            return Ok(Missing { disk, peers: Vec::new() });
        }
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        let Reply::Status(status) = self.ask(resource, question)? else {
            return Ok(Missing { disk, peers: Vec::new() });
        };
        let connections = status.resources.into_iter().flat_map(|one| one.connections);
        let mut known: Vec<_> = connections.collect();
        if let Some(peer) = &scope.peer {
            let unknown = |reason| Refusal::UnknownPeer { reason, resource: resource.to_owned() };
            let named = meant(peer, 0..known.len(), |place| [known[*place].name.as_str()]);
            let named = named.map_err(|ambiguous| unknown(format!("{resource}: {ambiguous}")))?;
            let place = named.ok_or_else(|| unknown(format!("{resource} has no peer {peer:?}")))?;
            known = vec![known.swap_remove(place)];
        }
        let is_apart = |state| state == ConnectionState::StandAlone;
        let apart = known.into_iter().filter(|one| is_apart(one.connection_state));
        let peers = apart.map(|one| MissingPeer {
            name: one.name,
            id: one.peer_node_id,
            is_split: one.split_brain,
        });
        Ok(Missing { disk, peers: peers.collect() })
    }

    pub(super) fn is_without_disk(&self, resource: &str) -> bool {
        let name = resource.to_owned();
        self.ask(resource, |ticket| ToShard::CheckAttach { ticket, resource: name }).is_ok()
    }

    pub(super) fn completing_steps(
        &self,
        resource: &str,
        text: &str,
        missing: &Missing,
    ) -> Result<Vec<String>, Failure> {
        let disks = if missing.disk {
            attach_steps(&read_text(resource, text)?, &self.name)
        } else {
            Vec::new()
        };
        let peers = missing.peers.iter().map(|peer| connect_step(resource, peer.id));
        Ok(disks.into_iter().chain(peers).map(|step| step.text).collect())
    }
}

pub(super) fn ids_of<'a>(peers: impl IntoIterator<Item = &'a MissingPeer>) -> MemberSet {
    peers.into_iter().filter_map(|peer| NodeId::new(peer.id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(ids: &[u8]) -> MemberSet {
        ids.iter().filter_map(|id| NodeId::new(*id)).collect()
    }

    /// It met them as the Secondary that it is until then, and could be the one that gives way.
    #[test]
    fn primary_that_restarts_for_a_change_meets_no_other_side_of_a_split_brain() {
        let text = "resource r { volume 0 { disk none; } connection-mesh { hosts a b c; }
             on a { node-id 0; address 127.0.0.1:1; }
             on b { node-id 1; address 127.0.0.2:1; }
             on c { node-id 2; address 127.0.0.3:1; } }";
        let wanted = Definition::from_text("a", "r", text).unwrap();
        let parts = Parts { has_disk: true, apart: Apart::These(members(&[1, 2])) };
        let apart = |scope: &AdjustScope| parts.after_change(scope, &wanted, members(&[2])).apart;
        assert_eq!(apart(&AdjustScope::default()), Apart::These(members(&[2])));
        for (peer, left) in [("b", &[2][..]), ("c", &[1, 2])] {
            let scope = AdjustScope { peer: Some(peer.to_owned()), ..AdjustScope::default() };
            assert_eq!(apart(&scope), Apart::These(members(left)), "{peer}");
        }
        let scope = AdjustScope { skip_net: true, ..AdjustScope::default() };
        assert_eq!(apart(&scope), parts.apart);
    }
}
