//! Metadata that is moved while the disk is in use.
//!
//! The control thread copies it. Meanwhile no shard writes any: records and pages wait at the part,
//! superblocks at the home. Reads and writes of data go on; a write to a cold extent waits for its
//! record, as always.

use api::response::{Failure, FailureCode, Reply};
use format::layout::Layout;
use replication::contract::ResourceInput;

use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::messages::{FromShard, Ticket};
use crate::shard::{Input, Rim, Shard};

/// What a home knows of superblocks that the machine knows nothing of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moving {
    pub(super) is_held: bool,
    /// Superblocks that were written for a move count as writes, and the machine did not ask for
    /// them: its own counter is behind by so many.
    pub(super) writes_ahead: u64,
}

/// A move writes both copies of the superblock, so that neither knows the former layout.
pub(crate) const WRITES_OF_A_MOVE: u64 = 2;

impl Shard {
    pub(super) fn hold_metadata(&mut self, ticket: Ticket, resource: &str) {
        let part = self.parts.iter_mut().flatten().find(|part| part.name == resource);
        let answer = match part {
            Some(part) => {
                if let Some(disk) = &mut part.disk {
                    disk.held.get_or_insert_default();
                }
                let id = part.id;
                if let Some(hosted) = self.hosted[id.0 as usize].as_mut() {
                    hosted.moving.is_held = true;
                }
                let mut operations = self.rim.operations.iter();
                let is_quiet = !operations.any(|(_, it)| it.hosted() == id && it.may_be_metadata());
                let busy = || {
                    let message = "metadata is being written";
                    Failure::new(FailureCode::StateRefused, message, "try again")
                };
                if is_quiet { Ok(Reply::done()) } else { Err(busy()) }
            }
            None => Ok(Reply::done()),
        };
        self.rim.reply(ticket, answer);
    }

    pub(super) fn release_metadata(&mut self, resource: &str, layout: Option<Layout>) {
        let part = self.parts.iter_mut().flatten().find(|part| part.name == resource);
        let Some(part) = part else { return };
        let (id, rim) = (part.id, &mut self.rim);
        let mut held = Vec::new();
        if let Some(disk) = &mut part.disk
            && let Some(waiting) = disk.held.take()
        {
            held = waiting;
            disk.layout = layout.unwrap_or(disk.layout);
            if let Err(error) = rim.kit.reactor.refresh_disk_size(disk.data) {
                log!(Error, Scope::resource(resource), "cannot read the size of the disk: {error}");
            }
        }
        for action in held {
            if let Some(action) = part.start_device(action, rim) {
                rim.starve(id, action);
            }
        }
        let Some(hosted) = self.hosted[id.0 as usize].as_mut() else { return };
        if !std::mem::take(&mut hosted.moving.is_held) {
            // Another disk was attached meanwhile.
            return;
        }
        if let (Some((_, at)), Some(layout)) = (&mut hosted.superblock_at, layout) {
            *at = layout;
            hosted.moving.writes_ahead += WRITES_OF_A_MOVE;
        }
        // One whose register is not written yet goes on when it is.
        if hosted.saves.front().is_some_and(|save| save.register.is_none()) {
            hosted.write_superblock(rim);
        }
    }

    pub(super) fn on_enlarged(&mut self, resource: &str, size_bytes: u64) {
        if let Some(id) = self.find(resource) {
            let input = ResourceInput::DiskEnlarged { size_bytes };
            self.rim.inbox.push_back((id, Input::Resource(input)));
        }
    }
}

impl Rim {
    /// Answered by `Enlarged`.
    pub(super) fn ask_for_room(&mut self, id: HostedId, resource: String, size_bytes: u64) {
        if self.outbox.push(FromShard::Enlarge { resource, size_bytes }).is_err() {
            let input = ResourceInput::DiskEnlarged { size_bytes: 0 };
            self.inbox.push_back((id, Input::Resource(input)));
        }
    }
}
