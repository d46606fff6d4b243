//! The saves of a resource: what its machine wants durable, one after the other.
//!
//! Each is the register in the state directory, then the superblock with the stamps of the other
//! disks, each written once the one before is durable.

use std::io as stdio;

use format::register::{REGISTER_SLOT_BYTES, encode_register, register_slot_offset};
use format::superblock::encode_superblock;
use io::Durability;
use replication::contract::{DeviceError, ResourceInput};

use crate::attach::superblock_offset;
use crate::attach::volumes::stamp;
use crate::log::{Scope, log};
use crate::shard::disk::{Kind, Operation, PAGE_BYTES};
use crate::shard::hosted::{Hosted, Save};
use crate::shard::{Input, Rim};

#[expect(clippy::cast_possible_truncation, reason = "64 KiB")]
const REGISTER_BYTES: u32 = REGISTER_SLOT_BYTES as u32;

impl Hosted {
    /// A write of a save is done.
    pub(crate) fn on_saved(
        &mut self,
        operation: &Operation,
        result: &stdio::Result<u32>,
        rim: &mut Rim,
    ) {
        if let Err(error) = result {
            let scope = Scope::resource(&self.definition.name);
            log!(Error, scope, "{} failed: {error}", operation.kind.name());
        }
        let done = if result.is_ok() { Ok(()) } else { Err(DeviceError) };
        match operation.kind {
            Kind::Register { buffer } => {
                rim.kit.reactor.pool().release(buffer.buffer);
                self.on_register_written(done, rim);
            }
            Kind::Superblock { buffer } => {
                rim.kit.reactor.pool().release(buffer.buffer);
                self.on_superblock_written(done, rim);
            }
            Kind::Read { .. }
            | Kind::Digest { .. }
            | Kind::Write { .. }
            | Kind::WriteBuffer { .. }
            | Kind::PartOfCopy { .. }
            | Kind::Zero { .. }
            | Kind::Flush { .. } => unreachable!("a part of the resource asked for it"),
        }
    }

    /// Queues a save; they become durable in order.
    pub(crate) fn save(&mut self, save: Save, rim: &mut Rim) {
        self.saves.push_back(save);
        if self.saves.len() == 1 {
            self.write_first_save(rim);
        }
    }

    /// Writes the register of the first save, if it has one, else its superblock.
    pub(crate) fn write_first_save(&mut self, rim: &mut Rim) {
        let Some(save) = self.saves.front() else { return };
        let Some(register) = &save.register else {
            self.write_superblock(rim);
            return;
        };
        let Some(buffer) = rim.kit.reactor.pool().take_for(REGISTER_BYTES) else {
            rim.blocked_saves.push(self.id);
            return;
        };
        let slot = rim.kit.reactor.pool().bytes_mut(buffer).first_chunk_mut();
        let length = encode_register(register, slot.expect("taken as long as a slot"))
            .expect("the core keeps values within the bounds of the format");
        let length = u32::try_from(length).expect("at most a slot");
        let offset = register_slot_offset(register.write_counter);
        let token = rim.start(self.id, Kind::Register { buffer });
        let (disk, part) = (self.register_disk, buffer.part(0, length));
        rim.kit.reactor.write(disk, offset, part, Durability::Fua, token);
    }

    fn on_register_written(&mut self, result: Result<(), DeviceError>, rim: &mut Rim) {
        if result.is_err() {
            // A voter that cannot keep its word says nothing more: no further save is written.
            self.register_failed = true;
            let scope = Scope::resource(&self.definition.name);
            log!(Error, scope, "this node votes no more until it is restarted");
            return;
        }
        if let Some(save) = self.saves.front_mut() {
            save.register = None;
        }
        self.write_superblock(rim);
    }

    pub(super) fn write_superblock(&mut self, rim: &mut Rim) {
        let Some(save) = self.saves.front() else { return };
        let Some(superblock) = &save.superblock else {
            self.finish_save(Ok(()), rim);
            return;
        };
        if self.is_metadata_held {
            return;
        }
        let Some(places) = &self.superblock_at else {
            self.finish_save(Err(DeviceError), rim);
            return;
        };
        let stamped = places.stamps_of(superblock).nth(save.stamps);
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
        let token = rim.start(self.id, Kind::Superblock { buffer });
        rim.kit.reactor.write(disk, offset, buffer, Durability::Fua, token);
    }

    /// The disk does not answer: it takes no superblock any more.
    pub(crate) fn on_superblock_hung(&mut self, rim: &mut Rim) {
        self.superblock_at = None;
        self.finish_save(Err(DeviceError), rim);
    }

    /// The stamps of the other disks are written before the superblock of the first one.
    fn on_superblock_written(&mut self, result: Result<(), DeviceError>, rim: &mut Rim) {
        let superblock = self.saves.front().and_then(|save| save.superblock.as_deref());
        let stamps = self
            .superblock_at
            .as_ref()
            .zip(superblock)
            .map_or(0, |(places, superblock)| places.stamps_of(superblock).count());
        match self.saves.front_mut() {
            Some(save) if result.is_ok() && save.stamps < stamps => {
                save.stamps += 1;
                self.write_superblock(rim);
            }
            Some(_) | None => self.finish_save(result, rim),
        }
    }

    fn finish_save(&mut self, result: Result<(), DeviceError>, rim: &mut Rim) {
        let Some(Save { save, .. }) = self.saves.pop_front() else { return };
        let input = match result {
            Ok(()) => ResourceInput::Saved { save },
            Err(DeviceError) => ResourceInput::SaveFailed { save },
        };
        rim.inbox.push_back((self.id, Input::Resource(input)));
        self.write_first_save(rim);
    }
}
