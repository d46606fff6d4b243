//! The steps of which `up` and `down` are made, as scripts written for DRBD give them one by one:
//! `new-resource`, `attach`, `connect`; `disconnect`, `detach`.
//!
//! `new-resource` brings a resource up as `detach` and `disconnect` leave it: Diskless, StandAlone,
//! Secondary. A daemon that starts again brings it up whole: the text says so.

use std::sync::Arc;

use api::response::{Failure, Reply};
use engine::contract::{OwnData, ToShard};
use engine::definition::Definition;
use engine::limits::DISK_STALL_MAX;
use engine::shard::refusals::unknown_resource;

use crate::attach::read_replica;
use crate::control::Control;
use crate::control::parts::Parts;
use crate::control::texts::NewText;
use crate::control::up::{BringUp, DiskWait};
use crate::limits::{ATTACH_PATIENCE, COMMAND_PATIENCE};
use crate::patience::Patience;

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
        let wait = DiskWait { patience: &mut patience, stall_max: DISK_STALL_MAX };
        let new = NewText { resource, text, permit: &permit };
        let reply = self.bring_up(BringUp { new, parts: Parts::NONE, added: &[] }, wait)?;
        let stored = self.store_text_of_new(new);
        self.follow_text(resource, &permit);
        stored.map(|()| reply)
    }

    /// Takes the disk of a resource that is up into use.
    pub(super) fn attach(&self, resource: &str) -> Result<Reply, Failure> {
        let unknown = || unknown_resource(resource);
        let text = self.stored_text(resource)?.ok_or_else(unknown)?;
        let definition = Definition::from_text(&self.name, resource, &text)?;
        let mut patience = Patience::new(ATTACH_PATIENCE);
        self.ask_until_ready(resource, &mut patience, |ticket| ToShard::CheckAttach {
            ticket,
            resource: resource.to_owned(),
        })?;
        let place = definition.disk.as_ref().expect("checked by the shard");
        let (state, place) = (Arc::clone(&self.state), place.clone());
        let at_once = Patience::new(COMMAND_PATIENCE);
        let claim = self.disks_of(resource)?;
        let (_claim, found) = claim.done_in_time(&at_once, DISK_STALL_MAX, move |patience| {
            read_replica(&definition, &place, &state, patience)
        })?;
        let reply = self.ask_until_ready(resource, &mut patience, |ticket| {
            let replica = Box::new(found.clone());
            ToShard::Attach { ticket, resource: resource.to_owned(), replica }
        })?;
        self.without_disk().remove(resource);
        Ok(reply)
    }

    /// Takes the disk of a resource out of use. It may be given to something else after this.
    pub(super) fn detach(&self, resource: &str) -> Result<Reply, Failure> {
        let name = resource.to_owned();
        let reply = self.ask(resource, |ticket| ToShard::Detach { ticket, resource: name })?;
        self.end_disk_work(resource);
        Ok(reply)
    }

    /// Connects to a peer, or to all.
    pub(super) fn connect(
        &self,
        resource: &str,
        peer: Option<String>,
        own_data: OwnData,
    ) -> Result<Reply, Failure> {
        let name = resource.to_owned();
        let question = |ticket| ToShard::Connect { ticket, resource: name, peer, own_data };
        self.ask(resource, question)
    }

    /// Connects to one peer, and keeps the own data. Warnings come of it.
    pub(super) fn connect_peer(&self, resource: &str, peer: &str) -> Result<Vec<String>, Failure> {
        let reply = self.connect(resource, Some(peer.to_owned()), OwnData::Kept)?;
        let Reply::Done { warnings } = reply else { return Ok(Vec::new()) };
        Ok(warnings)
    }

    /// Parts from a peer, or from all.
    pub(super) fn disconnect(
        &self,
        resource: &str,
        peer: Option<String>,
    ) -> Result<Reply, Failure> {
        let name = resource.to_owned();
        self.ask(resource, |ticket| ToShard::Disconnect { ticket, resource: name, peer })
    }
}
