//! The saves of a resource: what its machine wants durable, one after the other.
//!
//! Each is the register in the state directory, then the stamps of the further disks and the
//! superblock, each written once the one before is durable. One write is under way at a time, and
//! its end names its save: what the machine hears of as durable leaves the node as a promise, a
//! vote or a seal.

use std::io as stdio;

use format::register::{REGISTER_SLOT_BYTES, encode_register, register_slot_offset};
use format::space::Place;
use format::superblock::{encode_superblock, stamp, superblock_offset};
use io::Durability;
use replication::contract::{ResourceInput, SaveId};

use crate::limits::REGISTER_PATIENCE;
use crate::log::{Scope, log};
use crate::shard::disk::PAGE_BYTES;
use crate::shard::hosted::{Hosted, Save, SaveStep};
use crate::shard::operation::{Kind, Operation};
use crate::shard::{Input, Rim};

#[expect(clippy::cast_possible_truncation, reason = "64 KiB")]
const REGISTER_BYTES: u32 = REGISTER_SLOT_BYTES as u32;

/// What became of the first save.
#[derive(Clone, Copy, Debug)]
enum SaveEnd {
    Saved,
    DiskFailed,
    RegisterFailed,
}

impl Hosted {
    /// A write of a save is done.
    pub(crate) fn on_saved(
        &mut self,
        operation: &Operation,
        result: &stdio::Result<u32>,
        rim: &mut Rim,
    ) {
        // What the disk of a replica failed is kept by its part.
        if let Err(error) = result
            && operation.is_of_register()
        {
            let scope = Scope::resource(&self.definition.name);
            log!(Error, scope, "{} failed: {error}", operation.kind.name());
        }
        let (save, buffer) = match operation.kind {
            Kind::Register { save, buffer } | Kind::Superblock { save, buffer } => (save, buffer),
            Kind::Read { .. }
            | Kind::Digest { .. }
            | Kind::Write { .. }
            | Kind::WriteBuffer { .. }
            | Kind::PartOfCopy { .. }
            | Kind::Zero { .. }
            | Kind::Flush { .. } => unreachable!("a part of the resource asked for it"),
        };
        rim.kit.reactor.pool().release(buffer.buffer);
        let Some(first) = self.saves.front_mut().filter(|first| first.save == save) else { return };
        let Some(written) = first.under_way.take() else { return };
        match (written, result) {
            (SaveStep::Register, Ok(_)) => {
                first.register = None;
                self.write_superblock(rim);
            }
            (SaveStep::Register, Err(_)) => self.give_up_register(rim),
            (SaveStep::Stamp, Ok(_)) => {
                first.stamps += 1;
                self.write_superblock(rim);
            }
            (SaveStep::Superblock, Ok(_)) => self.finish_save(SaveEnd::Saved, rim),
            (SaveStep::Stamp | SaveStep::Superblock, Err(_)) => {
                self.finish_save(SaveEnd::DiskFailed, rim);
            }
        }
    }

    /// Queues a save; they become durable in order.
    pub(crate) fn save(&mut self, save: Save, rim: &mut Rim) {
        self.saves.push_back(save);
        if self.saves.len() == 1 {
            self.write_first_save(rim);
        }
    }

    /// Writes the register of the first save, if it has one, else its superblock; nothing while
    /// one of its writes is under way.
    pub(crate) fn write_first_save(&mut self, rim: &mut Rim) {
        let Some(first) = self.saves.front_mut().filter(|it| it.under_way.is_none()) else {
            return;
        };
        let Some(register) = &first.register else {
            self.write_superblock(rim);
            return;
        };
        if self.register_failed {
            self.finish_save(SaveEnd::RegisterFailed, rim);
            return;
        }
        let Some(buffer) = rim.kit.reactor.pool().take_for(REGISTER_BYTES) else {
            rim.blocked_saves.push(self.id);
            return;
        };
        let slot = rim.kit.reactor.pool().bytes_mut(buffer).first_chunk_mut();
        let length = encode_register(register, slot.expect("taken as long as a slot"))
            .expect("the core keeps values within the bounds of the format");
        let length = u32::try_from(length).expect("at most a slot");
        let offset = register_slot_offset(register.write_counter);
        first.under_way = Some(SaveStep::Register);
        let token = rim.start((self.id, Place::FIRST), Kind::Register { save: first.save, buffer });
        let (disk, part) = (self.register_disk, buffer.part(0, length));
        rim.kit.reactor.write(disk, offset, part, Durability::Fua, token);
        rim.register_due = rim.register_due.min(rim.kit.now + REGISTER_PATIENCE);
    }

    /// A voter that cannot keep its word says nothing more. The replica goes on: without what it
    /// writes down, others could neither be lost nor return.
    fn give_up_register(&mut self, rim: &mut Rim) {
        self.register_failed = true;
        let scope = Scope::resource(&self.definition.name);
        log!(Error, scope, "this node votes no more until it is restarted");
        self.finish_save(SaveEnd::RegisterFailed, rim);
    }

    /// The state directory does not answer. What it writes late was said to nobody.
    pub(crate) fn on_register_hung(&mut self, save: SaveId, rim: &mut Rim) {
        if self.saves.front().is_some_and(|first| first.save == save) {
            self.give_up_register(rim);
        }
    }

    /// The same for a save whose register is written.
    pub(super) fn write_superblock(&mut self, rim: &mut Rim) {
        let Some(first) = self.saves.front_mut().filter(|it| it.under_way.is_none()) else {
            return;
        };
        let Some(superblock) = &first.superblock else {
            self.finish_save(SaveEnd::Saved, rim);
            return;
        };
        let Some(places) = &self.superblock_at else {
            self.finish_save(SaveEnd::DiskFailed, rim);
            return;
        };
        if self.is_metadata_held {
            return;
        }
        let stamped = places.stamps_of(superblock).nth(first.stamps);
        let step = if stamped.is_some() { SaveStep::Stamp } else { SaveStep::Superblock };
        let stamp = stamped.map(|further| stamp(superblock, further.place));
        let (disk, layout) = stamped.map_or(places.first, |it| (it.disk, it.layout));
        let superblock = stamp.as_ref().unwrap_or(superblock);
        let Some(buffer) = rim.kit.reactor.pool().take_for(PAGE_BYTES) else {
            rim.blocked_saves.push(self.id);
            return;
        };
        let block = rim.kit.reactor.pool().bytes_mut(buffer).first_chunk_mut();
        encode_superblock(superblock, &layout, block.expect("taken as long as a block"))
            .expect("the core keeps values within the bounds of the format");
        let offset = superblock_offset(superblock, &layout);
        first.under_way = Some(step);
        let at = (self.id, stamped.map_or(Place::FIRST, |further| further.place));
        let token = rim.start(at, Kind::Superblock { save: first.save, buffer });
        rim.kit.reactor.write(disk, offset, buffer, Durability::Fua, token);
    }

    /// Superblocks may be written again; or fail, where there is no disk any more.
    pub(super) fn release_superblock(&mut self, rim: &mut Rim) {
        self.is_metadata_held = false;
        // One whose register is not written yet goes on when it is.
        if self.saves.front().is_some_and(|save| save.register.is_none()) {
            self.write_superblock(rim);
        }
    }

    /// The disk is given up. A save that waits for its metadata to be moved waits no longer: votes
    /// stand behind it.
    pub(super) fn leave_disk(&mut self, rim: &mut Rim) {
        self.superblock_at = None;
        if self.is_metadata_held {
            self.release_superblock(rim);
        }
    }

    /// The disk does not answer: it takes no superblock any more.
    pub(crate) fn on_superblock_hung(&mut self, save: SaveId, rim: &mut Rim) {
        self.superblock_at = None;
        if self.saves.front().is_some_and(|first| first.save == save) {
            self.finish_save(SaveEnd::DiskFailed, rim);
        }
    }

    fn finish_save(&mut self, end: SaveEnd, rim: &mut Rim) {
        let Some(Save { save, .. }) = self.saves.pop_front() else { return };
        let input = match end {
            SaveEnd::Saved => ResourceInput::Saved { save },
            SaveEnd::DiskFailed => ResourceInput::SaveFailed { save },
            SaveEnd::RegisterFailed => ResourceInput::RegisterFailed { save },
        };
        rim.inbox.push_back((self.id, Input::Resource(input)));
        self.write_first_save(rim);
    }
}

#[cfg(test)]
mod tests;
