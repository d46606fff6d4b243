//! A resource that comes up in steps, as scripts written for DRBD have it: first it is there, then
//! its disk, then its peers.
//!
//! Between the steps it is what `detach` and `disconnect` leave: Diskless, StandAlone, Secondary.
//! A daemon that starts again brings it up whole: the text says so.

use std::sync::Arc;
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::request::AdjustScope;
use api::response::{Failure, FailureCode, Reply};
use api::role::Role;
use config::host_name::meant;
use config::steps::{attach_steps, connect_step};
use format::ids::{MemberSet, NodeId};
use format::space::Place;

use crate::attach::volumes::{NewVolume, read_new_volume};
use crate::attach::{Apart, attach, attach_without_disk, end_of, is_about_disk};
use crate::control::addresses::missing_addresses;
use crate::control::notes::{with_note, with_warnings};
use crate::control::texts::{read_text, state_failure};
use crate::control::up_lock::UpPermit;
use crate::control::{Control, once_address_is_free};
use crate::crash;
use crate::definition::Definition;
use crate::limits::{COMMAND_PATIENCE, DISK_STALL_MAX};
use crate::log::{Scope, log};
use crate::patience::Patience;
use crate::shard::messages::{OwnData, ToShard};

/// With what a resource comes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) has_disk: bool,
    apart: Apart,
}

impl Parts {
    pub(super) const ALL: Self = Self { has_disk: true, apart: Apart::NOBODY };
    const NONE: Self = Self { has_disk: false, apart: Apart::All };
}

impl Missing {
    pub(super) fn is_empty(&self) -> bool {
        !self.disk && self.peers.is_empty()
    }
}

impl Parts {
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

/// A resource on its way up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bringing<'a> {
    pub(super) text: &'a str,
    pub(super) parts: Parts,
    /// Disks that it is to have, and gets once it is up: until then nothing says that they are its.
    pub(super) added: &'a [NewVolume],
    pub(super) permit: &'a UpPermit,
}

/// What a running resource is without, and should have.
#[derive(Debug, Default)]
pub(super) struct Missing {
    disk: bool,
    peers: Vec<MissingPeer>,
}

/// A peer that is StandAlone.
#[derive(Debug)]
pub(super) struct MissingPeer {
    pub(super) name: String,
    id: u8,
    /// Nobody told it to be so: both went on by themselves.
    is_split: bool,
}

impl Control {
    /// Configures a resource, and neither attaches nor connects.
    pub(super) fn new_resource(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        let permit = self.up_locks.begin_up(resource)?;
        Definition::from_text(&self.name, resource, text)?;
        if self.is_up(resource).is_some() {
            let is_other = self.stored_text(resource)?.is_some_and(|stored| stored != text);
            let warning = "it is up already, with another configuration: `adjust` takes this over";
            let warnings = is_other.then(|| warning.to_owned()).into_iter().collect();
            return Ok(Reply::Done { warnings });
        }
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let wait = (&mut patience, DISK_STALL_MAX);
        let bringing = Bringing { text, parts: Parts::NONE, added: &[], permit: &permit };
        let reply = self.bring_up_with(resource, bringing, wait)?;
        let stored = self.store_text_of_new(resource, text, &permit);
        self.follow_text(resource, &permit);
        stored.map(|()| reply)
    }

    pub(super) fn bring_up_with(
        &self,
        resource: &str,
        Bringing { text, parts, added, permit }: Bringing<'_>,
        (patience, stall_max): (&mut Patience, Duration),
    ) -> Result<Reply, Failure> {
        let mut definition = Definition::from_text(&self.name, resource, text)?;
        definition.takes_turns |= self.resync_order.is_bounded();
        self.check_secrecy(&definition)?;
        let reply = once_address_is_free(patience, |patience| {
            let mut wanted = definition.clone();
            let is_added = |place| added.iter().any(|new| new.disk.place == place);
            wanted.further.retain(|volume| !is_added(volume.place));
            let (_claim, attached) = if parts.has_disk {
                let claim = self.disk_work.claim(resource, stall_max)?;
                let state = Arc::clone(&self.state);
                let work = move |patience: &mut Patience| attach(wanted, &state, patience);
                let (claim, attached) = claim.done_in_time(patience, stall_max, work)?;
                (Some(claim), attached)
            } else {
                (None, attach_without_disk(wanted, &self.state, patience)?)
            };
            let mut attached = Box::new(attached);
            attached.definition = definition.clone();
            attached.apart = parts.apart;
            permit.bring_up(|| {
                // The resource may ask for its handlers as soon as it is there.
                let before = self.apply_settings(&definition);
                let hosted = self.ask(resource, |ticket| ToShard::Host { ticket, attached });
                let reply = hosted.inspect_err(|_| self.restore_settings(resource, before))?;
                // A `down` that comes after this ends these, too.
                if parts.has_disk || parts == Parts::NONE {
                    crash::lift(&self.state, resource);
                }
                self.without_disk().remove(resource);
                self.held_down().remove(resource);
                self.guests.open(&definition);
                Ok(reply)
            })
        })?;
        Ok(with_warnings(reply, missing_addresses(&definition)))
    }

    /// As it is to be; where its disk fails, or is not the one of its replica, without that: its
    /// vote, and the way to the others' data, need none.
    pub(super) fn bring_up_or_without_disk(
        &self,
        resource: &str,
        bringing: Bringing<'_>,
        (patience, stall_max): (&mut Patience, Duration),
    ) -> Result<(), Failure> {
        let Err(failure) = self.bring_up_with(resource, bringing, (patience, stall_max)) else {
            return Ok(());
        };
        if !is_about_disk(&failure) || !bringing.parts.has_disk {
            return Err(failure);
        }
        let parts = Parts { has_disk: false, ..bringing.parts };
        let bringing = Bringing { parts, ..bringing };
        if self.bring_up_with(resource, bringing, (patience, stall_max)).is_err() {
            return Err(failure);
        }
        log!(Error, Scope::resource(resource), "it is up without its disk: {failure}");
        self.note_without_disk(resource, &failure, bringing.permit);
        Ok(())
    }

    /// Why it is up without the disk that it should have.
    pub(super) fn note_without_disk(&self, resource: &str, why: &Failure, permit: &UpPermit) {
        let note = || self.without_disk().insert(resource.to_owned(), why.clone());
        drop(permit.unless_over(note));
    }

    /// `adjust` of a resource that is not up.
    pub(super) fn bring_up_for(
        &self,
        resource: &str,
        (text, permit): (&str, &UpPermit),
        scope: &AdjustScope,
    ) -> Result<(), Failure> {
        let is_partial = scope.skip_net || scope.peer.is_some();
        let apart = if is_partial { Apart::All } else { Apart::NOBODY };
        let parts = Parts { has_disk: !scope.skip_disk, apart };
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let bringing = Bringing { text, parts, added: &[], permit };
        let brought = self.bring_up_with(resource, bringing, (&mut patience, DISK_STALL_MAX));
        brought.map(drop).map_err(|failure| or_without_disk(resource, failure))
    }

    /// The peer that it is about, once it is up.
    pub(super) fn connect_named(&self, resource: &str, scope: &AdjustScope) -> Result<(), Failure> {
        match &scope.peer {
            Some(peer) if !scope.skip_net => self.connect(resource, peer).map(drop),
            Some(_) | None => Ok(()),
        }
    }

    /// What a resource has now that is up, and the peers of a split brain that it is to meet again
    /// by [`Control::connect`].
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
            let unknown = |message| {
                Failure::new(FailureCode::UnknownPeer, message, "see `basalt adm status`")
            };
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

    /// Whether a replica could take a disk for this volume: not if it has it, or has no disk at all
    /// now, for then it takes all of them at once later.
    pub(super) fn takes_disk(&self, resource: &str, place: Place) -> Result<bool, Failure> {
        let name = resource.to_owned();
        match self.ask(resource, |ticket| ToShard::CheckVolume { ticket, resource: name, place }) {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == FailureCode::NoLocalDisk => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The disks of volumes that a replica in use is to have beside those that it has.
    pub(super) fn new_volumes(&self, definition: &Definition) -> Result<Vec<NewVolume>, Failure> {
        let Some(first) = &definition.disk else { return Ok(Vec::new()) };
        let resource = &definition.name;
        let mut found = Vec::new();
        for volume in &definition.further {
            if !self.takes_disk(resource, volume.place)? {
                continue;
            }
            let (state, wanted) = (Arc::clone(&self.state), definition.clone());
            let (first, volume) = (first.clone(), volume.clone());
            let claim = self.disks_of(&definition.name)?;
            let patience = Patience::new(COMMAND_PATIENCE);
            let (_claim, new) = claim.done_in_time(&patience, DISK_STALL_MAX, move |patience| {
                read_new_volume(&wanted, (&first, &volume), &state, patience)
            })?;
            found.extend(new);
        }
        Ok(found)
    }

    /// Takes them into use; the text names them already, so a start in between finds them, too.
    pub(super) fn add_volumes(
        &self,
        definition: &Definition,
        volumes: Vec<NewVolume>,
    ) -> Result<(), Failure> {
        let name = &definition.name;
        let _claim = self.disks_of(name)?;
        for volume in volumes {
            let key = (name.as_str(), volume.disk.place);
            self.state
                .store_disk_size(key, end_of(&volume.opened.layout))
                .map_err(state_failure)?;
            let (resource, volume) = (name.clone(), Box::new(volume));
            self.ask(name, |ticket| ToShard::AddVolume { ticket, resource, volume })?;
        }
        self.guests.open(definition);
        Ok(())
    }

    /// Attaches and connects what is missing; says what a connection alone does not end.
    pub(super) fn complete(
        &self,
        resource: &str,
        missing: &Missing,
    ) -> Result<Vec<String>, Failure> {
        if missing.disk {
            self.attach(resource)?;
        }
        let peers = missing.peers.iter();
        let warnings: Result<Vec<_>, _> =
            peers.map(|peer| self.connect(resource, &peer.name)).collect();
        Ok(warnings?.concat())
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

    pub(super) fn connect(&self, resource: &str, peer: &str) -> Result<Vec<String>, Failure> {
        let reply = self.ask(resource, |ticket| ToShard::Connect {
            ticket,
            resource: resource.to_owned(),
            peer: Some(peer.to_owned()),
            own_data: OwnData::Kept,
        })?;
        let Reply::Done { warnings } = reply else { return Ok(Vec::new()) };
        Ok(warnings)
    }
}

/// Whoever brings a resource up by hand is refused a wrong disk, and can go on without it.
pub(super) fn or_without_disk(resource: &str, failure: Failure) -> Failure {
    if !is_about_disk(&failure) {
        return failure;
    }
    let without = format!(
        "`basalt adm adjust --skip-disk {resource}` brings it up without its disk meanwhile: its \
         node votes then, and serves what the others have"
    );
    with_note(failure, &without)
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
