//! Device requests of the core.

use std::io as stdio;

use format::activity_log::encode_al_record;
use format::bitmap_page::bytes_of;
use format::ids::{BLOCK_BYTES, BlockMask, BlockRange, Digest, Incarnation, NodeId, Nonce};
use format::layout::Layout;
use format::space::Place;
use io::{DiskId, Durability, Slice, Zero};
use replication::contract::{
    DeviceError, DeviceResult, FromGroup, GroupAction, GroupInput, MetadataWrite, Payload, SaveId,
    Token,
};
use stdx::hash::{HashKey, siphash128};
use stdx::time::Time;

use crate::hosted_id::HostedId;
use crate::log::{Scope, log};
use crate::shard::further::Further;
use crate::shard::part::Part;
use crate::shard::{Input, Rim};
use crate::slab::Key;

/// Bytes of a block of metadata.
#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
pub(super) const PAGE_BYTES: u32 = format::layout::PAGE_BYTES as u32;

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
    /// What the records of its activity log name.
    pub(crate) log: Incarnation,
    pub(crate) mem_align: u32,
    /// Slot index of each member in the bitmap area.
    pub(crate) slots: Vec<NodeId>,
    /// Of the volumes behind the first.
    pub(crate) further: Vec<Further>,
    /// A read failed, which the log has.
    pub(crate) read_error_logged: bool,
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
    /// The volume on whose disk it is.
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) since: Time,
    /// It took too long, and was answered for: only the kernel has it still.
    is_abandoned: bool,
}

/// Who waited for an operation.
#[derive(Debug)]
pub(super) enum Waiting {
    Core(Token),
    Copy(Key),
    Save(SaveId),
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
    /// One of the requests that make up a copy, or a flush of several disks.
    PartOfCopy {
        copy: Key,
        work: Work,
    },
    /// A copy that was made for alignment, or a block of metadata.
    WriteBuffer {
        token: Token,
        buffer: Slice,
        area: Area,
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
        save: SaveId,
        buffer: Slice,
    },
    Superblock {
        save: SaveId,
        buffer: Slice,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Write,
    Flush,
}

/// What part of a replica is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Area {
    Data,
    Metadata,
}

impl Kind {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } | Self::Digest { .. } => "a read of the disk",
            Self::Write { .. }
            | Self::Zero { .. }
            | Self::PartOfCopy { work: Work::Write, .. }
            | Self::WriteBuffer { area: Area::Data, .. } => "a write to the disk",
            Self::WriteBuffer { area: Area::Metadata, .. } | Self::Superblock { .. } => {
                "a write to the metadata"
            }
            Self::Flush { .. } | Self::PartOfCopy { work: Work::Flush, .. } => {
                "a flush of the disk"
            }
            Self::Register { .. } => "a write to the register file in the state directory",
        }
    }
}

impl Operation {
    /// Whether it belongs to a save of the resource's home.
    pub(crate) fn is_of_save(&self) -> bool {
        matches!(self.kind, Kind::Register { .. } | Kind::Superblock { .. })
    }

    pub(super) fn is_of_metadata(&self) -> bool {
        let Self { kind, .. } = self;
        matches!(kind, Kind::WriteBuffer { area: Area::Metadata, .. } | Kind::Superblock { .. })
    }

    /// Reads that fail cost no replica: others have what they were to bring.
    pub(super) fn costs_replica(&self, error: &stdio::Error) -> bool {
        let is_read = matches!(self.kind, Kind::Read { .. } | Kind::Digest { .. });
        !is_read || io::has_shrunk(error)
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
            Kind::PartOfCopy { copy, .. } => Waiting::Copy(copy),
            Kind::Register { save, .. } | Kind::Superblock { save, .. } => Waiting::Save(save),
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
            Kind::PartOfCopy { copy, .. } => rim.discard_part_of_copy(copy),
            Kind::Read { payload, .. } | Kind::Write { payload, .. } => {
                rim.kit.payloads.release(payload, pool);
            }
            Kind::WriteBuffer { buffer, .. }
            | Kind::Digest { buffer, .. }
            | Kind::Register { buffer, .. }
            | Kind::Superblock { buffer, .. } => pool.release(buffer.buffer),
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

    pub(super) fn start(&mut self, (hosted, place): (HostedId, Place), kind: Kind) -> u64 {
        let since = self.kit.now;
        let operation = Operation { hosted, place, kind, since, is_abandoned: false };
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
        let Some(disk) = self.disk.as_mut().filter(|disk| !disk.lacks(&action)) else {
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
                let at = (self.id, place_of(range));
                let token = rim.start(at, Kind::Read { token, payload, detect_zero });
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
                let at = (self.id, place_of(range));
                let token = rim.start(at, Kind::Digest { token, buffer, key });
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
                    disk.count_written(range);
                    let written = rim.kit.reactor.write_now(data, offset, slice, durability);
                    if let Some(result) = written {
                        self.on_written((token, place_of(range)), &result, rim);
                        return None;
                    }
                    rim.kit.payloads.retain(payload);
                    disk.counters.in_flight += 1;
                    let at = (self.id, place_of(range));
                    let token = rim.start(at, Kind::Write { token, payload });
                    rim.kit.reactor.write(data, offset, slice, durability, token);
                } else {
                    let Some(buffer) = rim.kit.reactor.pool().take_for(slice.length) else {
                        return Some(action);
                    };
                    rim.kit.reactor.pool().copy(slice, buffer);
                    disk.count_written(range);
                    disk.counters.in_flight += 1;
                    let (at, area) = ((self.id, place_of(range)), Area::Data);
                    let token = rim.start(at, Kind::WriteBuffer { token, buffer, area });
                    rim.kit.reactor.write(data, offset, buffer, durability, token);
                }
            }
            GroupAction::CopyDevice { .. } => return self.start_copy(action, rim),
            GroupAction::ZeroDevice { token, range, deallocate, fua } => {
                disk.counters.in_flight += 1;
                let zero = if deallocate { Zero::Deallocate } else { Zero::KeepAllocated };
                let (data, offset) = disk.at(range);
                let at = (self.id, place_of(range));
                let token = rim.start(at, Kind::Zero { token, data, fua });
                rim.kit.reactor.zero(data, offset, range.length_bytes(), zero, token);
            }
            GroupAction::FlushDevice { token } => disk.flush(self.id, token, rim),
            GroupAction::WriteMetadata { token, ref write } => {
                let Some(buffer) = rim.kit.reactor.pool().take_for(PAGE_BYTES) else {
                    return Some(action);
                };
                let (meta, offset) = disk.encode(write, rim.kit.reactor.pool().bytes_mut(buffer));
                disk.counters.in_flight += 1;
                let (at, area) = ((self.id, place_of_metadata(write)), Area::Metadata);
                let token = rim.start(at, Kind::WriteBuffer { token, buffer, area });
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

    /// A write was done at once: nothing of it had to be kept meanwhile.
    fn on_written(
        &mut self,
        (token, place): (Token, Place),
        result: &stdio::Result<u32>,
        rim: &mut Rim,
    ) {
        let done = match result {
            Ok(_) => Ok(DeviceResult::Done),
            Err(error) => {
                self.note_failure((place, Area::Data), "a write to the disk", error, rim.kit.now);
                Err(DeviceError)
            }
        };
        rim.answer(self.id, token, done);
    }

    /// A device request of the core is done.
    pub(crate) fn on_device(
        &mut self,
        operation: &Operation,
        result: &stdio::Result<u32>,
        rim: &mut Rim,
    ) {
        if let Err(error) = result {
            self.on_device_error(operation, error, rim);
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
            Kind::WriteBuffer { token, buffer, .. } => {
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
                let token = rim.start((self.id, operation.place), Kind::Flush { token });
                rim.kit.reactor.flush(data, token);
            }
            Kind::PartOfCopy { copy, .. } => {
                self.on_part_of_copy((copy, operation.place), done.map(drop), rim);
            }
            Kind::Zero { token, .. } | Kind::Flush { token } => rim.answer(self.id, token, done),
            Kind::Register { .. } | Kind::Superblock { .. } => {
                unreachable!("the home of the resource asked for it")
            }
        }
    }

    /// A read that fails costs no replica; but one of a file that lost its end is in doubt as a
    /// whole, and gives zeroes for what it lost once something is written behind that.
    fn on_device_error(&mut self, operation: &Operation, error: &stdio::Error, rim: &mut Rim) {
        if io::has_shrunk(error) {
            self.tell_home(FromGroup::MemberFailed { member: self.own_node() }, rim);
        }
        let what = operation.kind.name();
        if operation.costs_replica(error) {
            let area = if operation.is_of_metadata() { Area::Metadata } else { Area::Data };
            self.note_failure((operation.place, area), what, error, rim.kit.now);
        } else if let Some(disk) = self.disk.as_mut().filter(|disk| !disk.read_error_logged) {
            disk.read_error_logged = true;
            log!(Error, Scope::resource(&self.name), "{what} failed: {error}");
        }
    }
}

impl Disk {
    /// Whether that is of a volume which this shard could not open.
    fn lacks(&self, action: &GroupAction) -> bool {
        let place = match action {
            GroupAction::ReadDevice { range, .. }
            | GroupAction::DigestDevice { range, .. }
            | GroupAction::WriteDevice { range, .. }
            | GroupAction::CopyDevice { range, .. }
            | GroupAction::ZeroDevice { range, .. } => Place::of_block(range.start),
            GroupAction::WriteMetadata { write: MetadataWrite::Bitmap { page, .. }, .. } => {
                Place::of_page(*page).0
            }
            GroupAction::WriteMetadata { write: MetadataWrite::Activity(_), .. }
            | GroupAction::FlushDevice { .. }
            | GroupAction::Send { .. }
            | GroupAction::SendWrite { .. }
            | GroupAction::Overlay { .. }
            | GroupAction::DigestPayload { .. }
            | GroupAction::KeepBlocks { .. }
            | GroupAction::Complete { .. }
            | GroupAction::Release(_)
            | GroupAction::Home(_) => return false,
        };
        place.is_some_and(|place| place != Place::FIRST && self.further_at(place).is_none())
    }

    /// Writes a block of metadata into `out` and says where it belongs: the activity log of all
    /// volumes to the disk of the first, bitmaps each to that of their volume.
    fn encode(&mut self, write: &MetadataWrite, out: &mut [u8]) -> (DiskId, u64) {
        match write {
            MetadataWrite::Activity(record) => {
                self.counters.al_writes += 1;
                let block = out.first_chunk_mut().expect("taken as long as a record");
                encode_al_record(record, self.log, block)
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

pub(super) fn place_of(range: BlockRange) -> Place {
    Place::of_block(range.start).unwrap_or(Place::FIRST)
}

/// The activity log of all volumes is on the disk of the first.
fn place_of_metadata(write: &MetadataWrite) -> Place {
    match write {
        MetadataWrite::Activity(_) => Place::FIRST,
        MetadataWrite::Bitmap { page, .. } => Place::of_page(*page).0.unwrap_or(Place::FIRST),
    }
}
