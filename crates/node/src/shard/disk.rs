//! Device requests of the core, and the writing of metadata.

use std::io as stdio;

use format::activity_log::encode_al_record;
use format::ids::{BLOCK_BYTES, BlockMask, Digest, Incarnation, NodeId, Nonce};
use format::layout::Layout;
use format::register::{REGISTER_SLOT_BYTES, encode_register, register_slot_offset};
use format::space::Place;
use format::superblock::encode_superblock;
use io::{DiskId, Durability, Slice, Zero};
use replication::contract::{
    DeviceError, DeviceResult, GroupAction, GroupInput, MetadataWrite, Payload, ResourceInput,
    Token,
};
use stdx::hash::{HashKey, siphash128};
use stdx::time::Time;

use crate::attach::volumes::stamp;
use crate::attach::{bytes_of, superblock_offset};
use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::further::Further;
use crate::shard::hosted::{Hosted, Save};
use crate::shard::part::Part;
use crate::shard::{Input, Rim};
use crate::slab::Key;

/// Bytes of a block of metadata, and of a slot of the register.
#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const PAGE_BYTES: u32 = format::layout::PAGE_BYTES as u32;
#[expect(clippy::cast_possible_truncation, reason = "64 KiB")]
const REGISTER_BYTES: u32 = REGISTER_SLOT_BYTES as u32;

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: usize = BLOCK_BYTES as usize;

/// Makes the second half of the key of a digest from the first.
const DIGEST_KEY: u64 = 0x6461_7461_2062_6c6b;

/// Kind of the reactor's tokens that belong to disks.
pub(crate) const TOKEN_DISK: u8 = 5;

/// The backing disk of a replica.
#[derive(Debug)]
pub(crate) struct Disk {
    pub(crate) data: DiskId,
    pub(crate) meta: DiskId,
    pub(crate) layout: Layout,
    pub(crate) incarnation: Incarnation,
    pub(crate) mem_align: u32,
    /// Slot index of each member in the bitmap area.
    pub(crate) slots: Vec<NodeId>,
    /// Of the volumes behind the first.
    pub(crate) further: Vec<Further>,
    pub(crate) error_logged: bool,
    /// Writes of metadata that wait while it is moved.
    pub(super) held: Option<Vec<GroupAction>>,
    pub(crate) counters: DiskCounters,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskCounters {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) al_writes: u64,
    pub(crate) bm_writes: u64,
    pub(crate) in_flight: u32,
}

/// A device request that is under way.
#[derive(Debug)]
pub(crate) struct Operation {
    hosted: HostedId,
    kind: Kind,
    pub(super) since: Time,
    /// It took too long, and was answered for: only the kernel has it still.
    is_abandoned: bool,
}

/// Who waited for an operation.
#[derive(Debug)]
pub(super) enum Waiting {
    Core(Token),
    Copy(Key),
    Save,
}

#[derive(Debug)]
pub(super) enum Kind {
    Read {
        token: Token,
        payload: Payload,
        detect_zero: bool,
    },
    Digest {
        token: Token,
        buffer: Slice,
        key: Nonce,
    },
    /// `payload` is a reference of the operation's own.
    Write {
        token: Token,
        payload: Payload,
    },
    /// One of the requests that make up a copy.
    PartOfCopy {
        copy: Key,
    },
    /// A copy that was made for alignment, or a block of metadata.
    WriteBuffer {
        token: Token,
        buffer: Slice,
    },
    Zero {
        token: Token,
        data: DiskId,
        fua: bool,
    },
    Flush {
        token: Token,
    },
    Register {
        buffer: Slice,
    },
    Superblock {
        buffer: Slice,
    },
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::Digest { .. } => "a read of the disk",
            Self::Write { .. } | Self::Zero { .. } | Self::PartOfCopy { .. } => {
                "a write to the disk"
            }
            Self::WriteBuffer { .. } | Self::Superblock { .. } => "a write to the metadata",
            Self::Flush { .. } => "a flush of the disk",
            Self::Register { .. } => "a write to the register file in the state directory",
        }
    }
}

impl Operation {
    /// Whether it belongs to a save of the resource's home.
    pub(crate) fn is_of_save(&self) -> bool {
        matches!(self.kind, Kind::Register { .. } | Kind::Superblock { .. })
    }

    /// A write of metadata, or one that looks like it: of a copy that was made for alignment.
    pub(super) fn may_be_metadata(&self) -> bool {
        matches!(self.kind, Kind::WriteBuffer { .. } | Kind::Superblock { .. })
    }

    pub(crate) fn hosted(&self) -> HostedId {
        self.hosted
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// It takes too long: nobody waits for it any more. What it holds stays with the kernel.
    pub(super) fn abandon(&mut self) -> Waiting {
        self.is_abandoned = true;
        match self.kind {
            Kind::Read { token, .. }
            | Kind::Digest { token, .. }
            | Kind::Write { token, .. }
            | Kind::WriteBuffer { token, .. }
            | Kind::Zero { token, .. }
            | Kind::Flush { token } => Waiting::Core(token),
            Kind::PartOfCopy { copy } => Waiting::Copy(copy),
            Kind::Register { .. } | Kind::Superblock { .. } => Waiting::Save,
        }
    }

    /// The register is not on the disk of the replica.
    pub(crate) fn is_of_register(&self) -> bool {
        matches!(self.kind, Kind::Register { .. })
    }

    /// Gives back what it holds; its resource is gone.
    pub(crate) fn discard(self, rim: &mut Rim) {
        let pool = rim.kit.reactor.pool();
        match self.kind {
            Kind::PartOfCopy { copy } => rim.discard_part_of_copy(copy),
            Kind::Read { payload, .. } | Kind::Write { payload, .. } => {
                rim.kit.payloads.release(payload, pool);
            }
            Kind::WriteBuffer { buffer, .. }
            | Kind::Digest { buffer, .. }
            | Kind::Register { buffer }
            | Kind::Superblock { buffer } => pool.release(buffer.buffer),
            Kind::Zero { .. } | Kind::Flush { .. } => {}
        }
    }
}

impl Rim {
    /// Hashes the blocks of a payload for the core.
    pub(super) fn digest(&mut self, hosted: HostedId, token: Token, payload: Payload, key: Nonce) {
        let slice = self.kit.payloads.slice(payload);
        let digests = digests_of(self.kit.reactor.pool().bytes(slice), key);
        self.answer(hosted, token, Ok(DeviceResult::Digests(digests)));
    }

    pub(super) fn start(&mut self, hosted: HostedId, kind: Kind) -> u64 {
        let operation = Operation { hosted, kind, since: self.kit.now, is_abandoned: false };
        self.operations.insert(operation).token(TOKEN_DISK)
    }

    pub(super) fn answer(
        &mut self,
        hosted: HostedId,
        token: Token,
        result: Result<DeviceResult, DeviceError>,
    ) {
        self.inbox.push_back((hosted, Input::Group(GroupInput::Device { token, result })));
    }
}

impl Part {
    /// Starts a device request of the core. It is given back while no buffer is free.
    #[expect(clippy::too_many_lines, reason = "one flat match, a request of the device each")]
    pub(crate) fn start_device(
        &mut self,
        action: GroupAction,
        rim: &mut Rim,
    ) -> Option<GroupAction> {
        let Some(disk) = &mut self.disk else {
            if let Some(token) = token_of(&action) {
                rim.answer(self.id, token, Err(DeviceError));
            }
            return None;
        };
        if matches!(action, GroupAction::WriteMetadata { .. })
            && let Some(held) = &mut disk.held
        {
            held.push(action);
            return None;
        }
        match action {
            GroupAction::ReadDevice { token, range, detect_zero } => {
                let length = u32::try_from(range.length_bytes()).expect("within a request's bound");
                let Some(slice) = rim.kit.reactor.pool().take_for_read(length) else {
                    return Some(action);
                };
                let payload = rim.kit.payloads.adopt(slice);
                disk.count_read(range);
                disk.counters.in_flight += 1;
                let (data, offset) = disk.at(range);
                let token = rim.start(self.id, Kind::Read { token, payload, detect_zero });
                rim.kit.reactor.read(data, offset, slice, token);
            }
            GroupAction::DigestDevice { token, range, key } => {
                let length = u32::try_from(range.length_bytes()).expect("within a request's bound");
                let Some(buffer) = rim.kit.reactor.pool().take_for_read(length) else {
                    return Some(action);
                };
                disk.count_read(range);
                disk.counters.in_flight += 1;
                let (data, offset) = disk.at(range);
                let token = rim.start(self.id, Kind::Digest { token, buffer, key });
                rim.kit.reactor.read(data, offset, buffer, token);
            }
            GroupAction::WriteDevice { token, range, payload, fua } => {
                let slice = rim.kit.payloads.slice(payload);
                assert_eq!(
                    u64::from(slice.length),
                    range.length_bytes(),
                    "whole blocks are written"
                );
                let durability = if fua { Durability::Fua } else { Durability::Cached };
                let (data, offset) = disk.at(range);
                if slice.offset.is_multiple_of(disk.mem_align) {
                    rim.kit.payloads.retain(payload);
                    disk.count_written(range);
                    disk.counters.in_flight += 1;
                    let token = rim.start(self.id, Kind::Write { token, payload });
                    rim.kit.reactor.write(data, offset, slice, durability, token);
                } else {
                    let Some(buffer) = rim.kit.reactor.pool().take_for(slice.length) else {
                        return Some(action);
                    };
                    rim.kit.reactor.pool().copy(slice, buffer);
                    disk.count_written(range);
                    disk.counters.in_flight += 1;
                    let token = rim.start(self.id, Kind::WriteBuffer { token, buffer });
                    rim.kit.reactor.write(data, offset, buffer, durability, token);
                }
            }
            GroupAction::CopyDevice { .. } => return self.start_copy(action, rim),
            GroupAction::ZeroDevice { token, range, deallocate, fua } => {
                disk.counters.in_flight += 1;
                let zero = if deallocate { Zero::Deallocate } else { Zero::KeepAllocated };
                let (data, offset) = disk.at(range);
                let token = rim.start(self.id, Kind::Zero { token, data, fua });
                rim.kit.reactor.zero(data, offset, range.length_bytes(), zero, token);
            }
            GroupAction::FlushDevice { token } => disk.flush(self.id, token, rim),
            GroupAction::WriteMetadata { token, ref write } => {
                let Some(buffer) = rim.kit.reactor.pool().take_for(PAGE_BYTES) else {
                    return Some(action);
                };
                let (meta, offset) = disk.encode(write, rim.kit.reactor.pool().bytes_mut(buffer));
                disk.counters.in_flight += 1;
                let token = rim.start(self.id, Kind::WriteBuffer { token, buffer });
                rim.kit.reactor.write(meta, offset, buffer, Durability::Fua, token);
            }
            GroupAction::Send { .. }
            | GroupAction::SendWrite { .. }
            | GroupAction::Overlay { .. }
            | GroupAction::DigestPayload { .. }
            | GroupAction::KeepBlocks { .. }
            | GroupAction::Complete { .. }
            | GroupAction::Release(_)
            | GroupAction::Home(_) => unreachable!("{action:?} is no device request"),
        }
        None
    }

    /// A device request of the core is done.
    pub(crate) fn on_device(
        &mut self,
        operation: &Operation,
        result: &stdio::Result<u32>,
        rim: &mut Rim,
    ) {
        if let Err(error) = result {
            self.log_device_error(&operation.kind, error);
        }
        if let Some(disk) = &mut self.disk {
            disk.counters.in_flight -= 1;
        }
        let is_ok = result.is_ok();
        let done = if is_ok { Ok(DeviceResult::Done) } else { Err(DeviceError) };
        match operation.kind {
            Kind::Read { token, payload, detect_zero } if is_ok => {
                let zeroes = if detect_zero {
                    let slice = rim.kit.payloads.slice(payload);
                    zero_blocks(rim.kit.reactor.pool().bytes(slice))
                } else {
                    BlockMask::EMPTY
                };
                rim.answer(self.id, token, Ok(DeviceResult::Read { payload, zeroes }));
            }
            Kind::Read { token, payload, .. } => {
                rim.kit.release(payload);
                rim.answer(self.id, token, done);
            }
            Kind::Digest { token, buffer, key } => {
                let pool = rim.kit.reactor.pool();
                let digests = digests_of(pool.bytes(buffer), key);
                pool.release(buffer.buffer);
                rim.answer(self.id, token, done.map(|_| DeviceResult::Digests(digests)));
            }
            Kind::Write { token, payload } => {
                rim.kit.release(payload);
                rim.answer(self.id, token, done);
            }
            Kind::WriteBuffer { token, buffer } => {
                rim.kit.reactor.pool().release(buffer.buffer);
                rim.answer(self.id, token, done);
            }
            Kind::Zero { token, data, fua: true } if is_ok => {
                let Some(disk) = &mut self.disk else {
                    // Given up meanwhile: nobody can make it durable.
                    rim.answer(self.id, token, Err(DeviceError));
                    return;
                };
                disk.counters.in_flight += 1;
                let token = rim.start(self.id, Kind::Flush { token });
                rim.kit.reactor.flush(data, token);
            }
            Kind::PartOfCopy { copy } => self.on_part_of_copy(copy, done.map(drop), rim),
            Kind::Zero { token, .. } | Kind::Flush { token } => rim.answer(self.id, token, done),
            Kind::Register { .. } | Kind::Superblock { .. } => {
                unreachable!("the home of the resource asked for it")
            }
        }
    }

    fn log_device_error(&mut self, kind: &Kind, error: &stdio::Error) {
        if let Some(disk) = &mut self.disk {
            if disk.error_logged {
                return;
            }
            disk.error_logged = true;
        }
        log!(Error, Scope::resource(&self.name), "{} failed: {error}", kind.name());
    }
}

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

impl Disk {
    /// Writes a block of metadata into `out` and says where it belongs: the activity log of all
    /// volumes to the disk of the first, bitmaps each to that of their volume.
    fn encode(&mut self, write: &MetadataWrite, out: &mut [u8]) -> (DiskId, u64) {
        match write {
            MetadataWrite::Activity(record) => {
                self.counters.al_writes += 1;
                let block = out.first_chunk_mut().expect("taken as long as a record");
                encode_al_record(record, self.incarnation, block)
                    .expect("the core keeps records within the bounds of the format");
                (self.meta, self.layout.al_record_offset(record.ring, record.number))
            }
            MetadataWrite::Bitmap { member, lane, page, bits } => {
                self.counters.bm_writes += 1;
                let slot = self.slots.iter().position(|slot| slot == member);
                let slot = slot.and_then(|slot| u8::try_from(slot).ok());
                let slot = slot.expect("the core tracks members that have a slot");
                bytes_of(bits, out);
                let (place, page) = Place::of_page(*page);
                let further = place.and_then(|place| self.further_at(place));
                let (meta, layout) =
                    further.map_or((self.meta, &self.layout), |it| (it.meta, &it.layout));
                (meta, layout.bitmap_page_offset(slot, *lane, page))
            }
        }
    }
}

/// The payload that a device request uses.
pub(crate) fn payload_of(action: &GroupAction) -> Option<Payload> {
    match action {
        GroupAction::WriteDevice { payload, .. } => Some(*payload),
        GroupAction::CopyDevice { payload, .. } => *payload,
        GroupAction::ReadDevice { .. }
        | GroupAction::DigestDevice { .. }
        | GroupAction::DigestPayload { .. }
        | GroupAction::ZeroDevice { .. }
        | GroupAction::FlushDevice { .. }
        | GroupAction::WriteMetadata { .. }
        | GroupAction::Send { .. }
        | GroupAction::SendWrite { .. }
        | GroupAction::Overlay { .. }
        | GroupAction::KeepBlocks { .. }
        | GroupAction::Complete { .. }
        | GroupAction::Release(_)
        | GroupAction::Home(_) => None,
    }
}

/// Of each block, as the members of a session compute them alike.
fn digests_of(bytes: &[u8], key: Nonce) -> Vec<Digest> {
    let key = HashKey(key.0, key.0.rotate_left(32) ^ DIGEST_KEY);
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    blocks.iter().map(|block| Digest(siphash128(key, block))).collect()
}

/// Which of at most 32 blocks are all zeroes.
fn zero_blocks(bytes: &[u8]) -> BlockMask {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let is_zero = |block: &[u8]| {
        let (words, _) = block.as_chunks::<8>();
        words.iter().all(|word| *word == [0; 8])
    };
    let zeroes = (0..32).zip(blocks).filter(|(_, block)| is_zero(*block));
    zeroes.fold(BlockMask::EMPTY, |mask, (place, _)| mask | BlockMask::of(place))
}

pub(super) fn token_of(action: &GroupAction) -> Option<Token> {
    match action {
        GroupAction::ReadDevice { token, .. }
        | GroupAction::DigestDevice { token, .. }
        | GroupAction::WriteDevice { token, .. }
        | GroupAction::CopyDevice { token, .. }
        | GroupAction::ZeroDevice { token, .. }
        | GroupAction::FlushDevice { token }
        | GroupAction::WriteMetadata { token, .. } => Some(*token),
        GroupAction::Send { .. }
        | GroupAction::SendWrite { .. }
        | GroupAction::Overlay { .. }
        | GroupAction::DigestPayload { .. }
        | GroupAction::KeepBlocks { .. }
        | GroupAction::Complete { .. }
        | GroupAction::Release(_)
        | GroupAction::Home(_) => None,
    }
}
