//! A disk that is taken (back) into use while its resource is up.
//!
//! The control thread has read the disk and recovered its metadata; here it is opened and offered
//! to the machines. It becomes the resource's disk at the moment at which the group takes it, in
//! order with everything else that the group is told, and not before: what the group still asks
//! until then is for the disk that was given up, and fails.

use api::response::{Failure, FailureCode, Reply};
use replication::attach::GroupDisk;
use replication::contract::{CommandId, GroupInput, ResourceInput, RoundId, ToGroup};

use crate::attach::Replica;
use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::disk::{Disk, slot_bases};
use crate::shard::hosted::{Asker, CommandKind, Hosted, PendingCommand};
use crate::shard::hosting::open_disk;
use crate::shard::messages::Ticket;
use crate::shard::{Input, Rim, Shard};

/// A disk that is open, and what the group needs to know of it.
#[derive(Debug)]
pub(crate) struct Offer {
    disk: Disk,
    group: Option<GroupDisk>,
}

impl Shard {
    /// Offers the disk to the resource; the answer comes when it is in use, or refused.
    pub(super) fn on_attach(
        &mut self,
        id: HostedId,
        ticket: Ticket,
        replica: Replica,
    ) -> Result<Option<Reply>, Failure> {
        self.check_attachable(id)?;
        let rim = &mut self.rim;
        let hosted = self.hosted[id.0 as usize].as_mut().expect("found by its name");
        let place = hosted.definition.disk.clone().expect("checked");
        let failed = |error: std::io::Error| {
            Failure::new(FailureCode::DiskFailed, error.to_string(), "is it in use?")
        };
        let disk = open_disk(&place, &replica, rim).map_err(failed)?;
        let superblock = Box::new(replica.superblock.clone());
        let group = GroupDisk {
            size_bytes: superblock.size_bytes,
            al_next_number: replica.al_next_number,
            slot_bases: slot_bases(&superblock),
            slots: replica.pages,
        };
        hosted.offer = Some(Box::new(Offer { disk, group: Some(group) }));
        let command = CommandId(hosted.next_command);
        hosted.next_command += 1;
        let asker = Asker::Admin(ticket);
        hosted.commands.push(PendingCommand { id: command, asker, kind: CommandKind::Attach });
        let input = ResourceInput::Attach { id: command, superblock };
        rim.inbox.push_back((id, Input::Resource(input)));
        Ok(None)
    }

    pub(super) fn on_check_attach(&mut self, ticket: Ticket, resource: &str) {
        self.with_resource(ticket, resource, |shard, id| {
            shard.check_attachable(id).map(|()| Some(Reply::done()))
        });
    }

    /// Whether a disk is missing that the configuration has, and nothing is under way on it.
    pub(super) fn check_attachable(&self, id: HostedId) -> Result<(), Failure> {
        let hosted = self.hosted[id.0 as usize].as_ref().expect("found by its name");
        let name = hosted.name();
        if hosted.definition.disk.is_none() {
            let message = format!("resource {name:?} has no disk on this node");
            let hint = "give it one in the configuration, and `adjust`";
            return Err(Failure::new(FailureCode::NoLocalDisk, message, hint));
        }
        if hosted.disk.is_some() {
            let message = format!("the disk of {name:?} is attached already");
            let hint = "`detach` it first to exchange it";
            return Err(Failure::new(FailureCode::AlreadyAttached, message, hint));
        }
        if hosted.removal.is_some() || hosted.offer.is_some() || hosted.is_using_disk(&self.rim) {
            let message = format!("resource {name:?} is changing, or its former disk is in use");
            return Err(Failure::new(FailureCode::StateRefused, message, "try again"));
        }
        Ok(())
    }
}

impl Hosted {
    /// The machines want the disk that is offered.
    pub(super) fn take_disk(&mut self, round: RoundId, rim: &mut Rim) {
        let group = self.offer.as_mut().and_then(|offer| offer.group.take());
        let group = group.expect("only an offer is taken, and once");
        let message = ToGroup::Attach { disk: Box::new(group), round };
        rim.inbox.push_back((self.id, Input::Group(GroupInput::Home(message))));
    }

    /// The group takes it now: from here on its requests go there.
    pub(super) fn use_offered_disk(&mut self) {
        let offer = self.offer.take().expect("the group is told of an offer only");
        self.disk = Some(offer.disk);
        log!(Notice, Scope::resource(self.name()), "the disk was attached");
    }

    /// Closes an offered disk that was not taken.
    pub(super) fn withdraw_offer(&mut self, rim: &mut Rim) {
        if let Some(offer) = self.offer.take() {
            offer.disk.close(rim);
        }
    }

    fn is_using_disk(&self, rim: &Rim) -> bool {
        let is_own = |id: HostedId| id == self.id;
        rim.operations.iter().any(|(_, it)| is_own(it.hosted()) && !it.is_of_register())
            || rim.starved.iter().any(|&(id, _)| is_own(id))
            || self.saves.iter().any(|save| save.superblock.is_some())
    }
}
