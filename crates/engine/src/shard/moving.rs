//! Metadata that is moved while the disk is in use.
//!
//! The control thread copies it. Meanwhile no shard writes any: records and pages wait at the part,
//! superblocks at the home. Reads and writes of data go on; a write to a cold extent waits for its
//! record, as always.

use std::io as stdio;
use std::iter;

use api::response::{Failure, FailureCode, Reply};
use format::layout::Layout;
use format::space::Place;
use io::DiskId;
use replication::contract::{FromGroup, ResourceInput};

use crate::contract::{FromShard, Ticket};
use crate::handover::{GrowingDisk, Moved};
use crate::hosted_id::HostedId;
use crate::shard::hosted::SuperblockPlaces;
use crate::shard::operation::Disk;
use crate::shard::part::fail_held;
use crate::shard::refusals::NotTaken;
use crate::shard::{Input, Rim, Shard};

impl Shard {
    /// Whoever is to enlarge a disk may have waited for long: it may be another one by now, or
    /// somebody else's.
    pub(super) fn on_check_room(
        &self,
        id: HostedId,
        wanted: &GrowingDisk,
    ) -> Result<Option<Reply>, Failure> {
        let hosted = self.hosted(id).expect("found by its name");
        let is_in_use = hosted.superblock_at.is_some() && hosted.removal.is_none();
        let disk = self.part(id).and_then(|part| part.disk.as_ref());
        let is_there = disk.is_some_and(|disk| disk.is_same(wanted, &self.rim));
        if is_in_use && is_there { Ok(Some(Reply::done())) } else { Err(given_back()) }
    }

    pub(super) fn hold_metadata(&mut self, ticket: Ticket, resource: &str, wanted: &GrowingDisk) {
        let answer = self.try_to_hold(resource, wanted);
        self.rim.reply(ticket, answer.map(|()| Reply::done()));
    }

    /// The disk is used at its new size before anybody counts on that, for here nothing is lost
    /// where that fails.
    fn try_to_hold(&mut self, resource: &str, wanted: &GrowingDisk) -> Result<(), Failure> {
        let part = self.parts.iter_mut().flatten().find(|part| part.name == resource);
        let part = part.ok_or_else(given_back)?;
        let disk = part.disk.as_mut().filter(|disk| disk.is_same(wanted, &self.rim));
        let disk = disk.ok_or_else(given_back)?;
        let hosted = self.hosted[part.id.0 as usize].as_mut();
        if hosted.as_ref().is_some_and(|hosted| hosted.superblock_at.is_none()) {
            return Err(given_back());
        }
        for device in disk.devices_at(wanted.place) {
            self.rim.kit.reactor.refresh_disk_size(device).map_err(unusable)?;
        }
        disk.held.get_or_insert_default();
        if let Some(hosted) = hosted {
            hosted.is_metadata_held = true;
        }
        let mut operations = self.rim.operations.iter();
        if operations.any(|(_, it)| it.hosted() == part.id && it.is_of_metadata()) {
            let message = "metadata is being written";
            return Err(Failure::new(FailureCode::StateRefused, message, "try again"));
        }
        Ok(())
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

fn given_back() -> Failure {
    NotTaken::GivenBack.into()
}

fn unusable(error: stdio::Error) -> Failure {
    NotTaken::OtherSize { error }.into()
}

impl Disk {
    fn is_same(&self, wanted: &GrowingDisk, rim: &Rim) -> bool {
        let identity = |device| rim.kit.reactor.disk_info(device).identity;
        let mut devices = self.devices_at(wanted.place).map(identity);
        self.layout_at(wanted.place) == Some(wanted.layout)
            && devices.next() == Some(wanted.data)
            && devices.next().unwrap_or(wanted.data) == wanted.meta
    }

    /// How the disk of that volume is divided.
    fn layout_at(&self, place: Place) -> Option<Layout> {
        match place {
            Place::FIRST => Some(self.layout),
            place => self.further.iter().find(|it| it.place == place).map(|it| it.layout),
        }
    }

    /// That of the data, and that of the metadata if it is another one.
    fn devices_at(&self, place: Place) -> impl Iterator<Item = DiskId> + use<> {
        let further = self.further.iter().find(|it| it.place == place);
        let (data, meta) = further.map_or((self.data, self.meta), |it| (it.data, it.meta));
        iter::once(data).chain((meta != data).then_some(meta))
    }

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
