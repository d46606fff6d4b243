//! Resources: up.

use std::sync::Arc;

use api::request::AdjustScope;
use api::response::{Failure, FailureCode, Reply};

use crate::attach::read_replica;
use crate::control::Control;
use crate::control::notes::with_warnings;
use crate::control::stepwise::{Bringing, Parts, or_without_disk};
use crate::control::up_lock::UpPermit;
use crate::definition::Definition;
use crate::limits::{ATTACH_PATIENCE, COMMAND_PATIENCE, DISK_STALL_MAX};
use crate::patience::Patience;
use crate::shard::commands::unknown_resource;
use crate::shard::messages::{Ticket, ToShard};

impl Control {
    /// Brings a resource up, and remembers that it is.
    pub(super) fn up(&self, resource: &str, text: &str) -> Result<Reply, Failure> {
        let permit = self.up_locks.begin_up(resource)?;
        Definition::from_text(&self.name, resource, text)
            .map_err(|failure| self.left_out(resource, failure))?;
        if let Some(running) = self.stored_text(resource)?
            && let Some(reply) = self.is_up(resource)
        {
            if running != text {
                let message = format!("resource {resource:?} is up with another configuration");
                let hint = "use `adjust` to make it follow the new one";
                return Err(Failure::new(FailureCode::StateRefused, message, hint));
            }
            let missing = self.missing(resource, &AdjustScope::default())?;
            let warnings = self.complete(resource, &missing)?;
            return Ok(with_warnings(reply, warnings));
        }
        let reply = self.bring_up(resource, text, &permit)?;
        let stored = self.store_text_of_new(resource, text, &permit);
        self.follow_text(resource, &permit);
        stored.map(|()| reply)
    }

    /// As `store_text`, of one that was just brought up.
    pub(super) fn store_text_of_new(
        &self,
        resource: &str,
        text: &str,
        permit: &UpPermit,
    ) -> Result<(), Failure> {
        let stored = self.store_text(resource, text, permit);
        stored.map_err(|failure| self.down_unless_stored((resource, text), permit, failure))
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

    /// On a node that the text names no more its own name is not what is wrong.
    pub(super) fn left_out(&self, resource: &str, failure: Failure) -> Failure {
        if failure.code != FailureCode::NotOnThisNode || self.is_up(resource).is_none() {
            return failure;
        }
        let hint = format!("it is up here: `basalt adm down {resource}` once the others follow");
        Failure { hint, ..failure }
    }

    /// Asks again while the resource is changing.
    pub(super) fn ask_until_ready(
        &self,
        resource: &str,
        patience: &mut Patience,
        question: impl Fn(Ticket) -> ToShard,
    ) -> Result<Reply, Failure> {
        loop {
            match self.ask(resource, &question) {
                Err(failure)
                    if failure.code == FailureCode::StateRefused && patience.rest(&failure) => {}
                answer => return answer,
            }
        }
    }

    pub(super) fn is_without_disk(&self, resource: &str) -> bool {
        let name = resource.to_owned();
        self.ask(resource, |ticket| ToShard::CheckAttach { ticket, resource: name }).is_ok()
    }

    pub(super) fn is_up(&self, resource: &str) -> Option<Reply> {
        let resources = vec![resource.to_owned()];
        let question = |ticket| ToShard::Status { ticket, resources, statistics: false };
        self.ask(resource, question).ok().map(|_| Reply::done())
    }

    fn bring_up(&self, resource: &str, text: &str, permit: &UpPermit) -> Result<Reply, Failure> {
        let mut patience = Patience::new(COMMAND_PATIENCE);
        let bringing = Bringing { text, parts: Parts::ALL, added: &[], permit };
        self.bring_up_with(resource, bringing, (&mut patience, DISK_STALL_MAX))
            .map_err(|failure| or_without_disk(resource, failure))
    }
}
