//! Metadata that is moved while the disk is in use.
//!
//! The control thread copies it. Meanwhile no shard writes any: records and pages wait at the part,
//! superblocks at the home. Reads and writes of data go on; a write to a cold extent waits for its
//! record, as always.

use api::response::{Failure, FailureCode, Reply};
use format::layout::Layout;
use format::space::Place;
use replication::contract::{FromGroup, ResourceInput};

use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::disk::Disk;
use crate::shard::hosted::SuperblockPlaces;
use crate::shard::messages::{FromShard, Ticket};
use crate::shard::part::fail_held;
use crate::shard::{Input, Rim, Shard};

/// What became of a move.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moved {
    /// The metadata on the disk of that volume is there now.
    To(Place, Layout),
    /// It is where it was.
    Not,
    /// Nobody knows which of the two places counts, or the disk may have lost what it was told to
    /// keep: nothing may be written any more.
    Lost,
}

impl Shard {
    pub(super) fn hold_metadata(&mut self, ticket: Ticket, resource: &str) {
        let part = self.parts.iter_mut().flatten().find(|part| part.name == resource);
        let answer = match part {
            Some(part) => {
                if let Some(disk) = &mut part.disk {
                    disk.held.get_or_insert_default();
                }
                let id = part.id;
                let hosted = self.hosted[id.0 as usize].as_mut();
                if let Some(hosted) = hosted.filter(|hosted| hosted.superblock_at.is_some()) {
                    hosted.is_metadata_held = true;
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

    pub(super) fn release_metadata(&mut self, resource: &str, moved: Moved) {
        let part = self.parts.iter_mut().flatten().find(|part| part.name == resource);
        let Some(part) = part else { return };
        let (id, rim) = (part.id, &mut self.rim);
        if matches!(moved, Moved::Lost) {
            // What comes later waits until the disk is closed, and fails then.
            if let Some(held) = part.disk.as_mut().and_then(|disk| disk.held.as_mut()) {
                fail_held(id, &std::mem::take(held), rim);
            }
            return self.give_replica_up(id);
        }
        let mut held = Vec::new();
        if let Some(disk) = &mut part.disk
            && let Some(waiting) = disk.held.take()
        {
            held = waiting;
            if let Moved::To(place, layout) = moved {
                disk.move_to(place, layout);
                let reactor = &mut rim.kit.reactor;
                let data = disk.data_at(place).unwrap_or(disk.data);
                if let Err(error) = reactor.refresh_disk_size(data) {
                    let scope = Scope::resource(resource);
                    log!(Error, scope, "cannot read the size of the disk: {error}");
                }
            }
        }
        for action in held {
            if let Some(action) = part.start_device(action, rim) {
                rim.starve(id, action);
            }
        }
        let Some(hosted) = self.hosted[id.0 as usize].as_mut() else { return };
        if !hosted.is_metadata_held {
            // The disk was given up meanwhile, and another one attached, perhaps.
            return;
        }
        if let (Some(places), Moved::To(place, layout)) = (&mut hosted.superblock_at, moved) {
            places.move_to(place, layout);
        }
        hosted.release_superblock(rim);
    }

    /// As after a failed write.
    fn give_replica_up(&mut self, id: HostedId) {
        let Some(hosted) = self.hosted[id.0 as usize].as_mut() else { return };
        if hosted.superblock_at.is_none() {
            return hosted.leave_disk(&mut self.rim);
        }
        let member = hosted.definition.me;
        let input = ResourceInput::Group { shard: 0, fact: FromGroup::MemberFailed { member } };
        self.rim.inbox.push_back((id, Input::Resource(input)));
        hosted.leave_disk(&mut self.rim);
    }

    pub(super) fn on_enlarged(&mut self, resource: &str, place: Place, size_bytes: u64) {
        if let Some(id) = self.find(resource) {
            let input = ResourceInput::DiskEnlarged { place, size_bytes };
            self.rim.inbox.push_back((id, Input::Resource(input)));
        }
    }
}

impl Disk {
    fn move_to(&mut self, place: Place, layout: Layout) {
        match self.further.iter_mut().find(|it| it.place == place) {
            Some(further) => further.layout = layout,
            None if place == Place::FIRST => self.layout = layout,
            None => {}
        }
    }
}

impl SuperblockPlaces {
    /// How the disk of that volume is divided.
    pub(super) fn layout_at(&self, place: Place) -> Option<Layout> {
        match place {
            Place::FIRST => Some(self.first.1),
            place => self.further.iter().find(|it| it.place == place).map(|it| it.layout),
        }
    }

    fn move_to(&mut self, place: Place, layout: Layout) {
        match self.further.iter_mut().find(|it| it.place == place) {
            Some(further) => further.layout = layout,
            None => self.first.1 = layout,
        }
    }
}

impl Rim {
    /// Answered by `Enlarged`.
    pub(super) fn ask_for_room(
        &mut self,
        id: HostedId,
        resource: String,
        (place, layout): (Place, Option<Layout>),
        size_bytes: u64,
    ) {
        let question =
            layout.map(|layout| FromShard::Enlarge { resource, place, layout, size_bytes });
        if question.is_none_or(|question| self.outbox.push(question).is_err()) {
            let input = ResourceInput::DiskEnlarged { place, size_bytes: 0 };
            self.inbox.push_back((id, Input::Resource(input)));
        }
    }
}
