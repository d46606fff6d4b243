//! Device requests of the core.

use std::io as stdio;

use format::activity_log::encode_al_record;
use format::bitmap_page::bytes_of;
use format::ids::{BLOCK_BYTES, BlockMask, Digest, Nonce};
use format::space::Place;
use io::{DiskId, Durability, Zero};
use replication::contract::{
    DeviceError, DeviceResult, FromGroup, GroupAction, MetadataWrite, Payload, Token,
};
use stdx::hash::{HashKey, siphash128};

use crate::hosted_id::HostedId;
use crate::log::{Scope, log};
use crate::shard::Rim;
use crate::shard::operation::{Area, Disk, Kind, Operation, place_of, token_of};
use crate::shard::part::Part;

/// Bytes of a block of metadata.
#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
pub(crate) const PAGE_BYTES: u32 = format::layout::PAGE_BYTES as u32;

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: usize = BLOCK_BYTES as usize;

/// Makes the second half of the key of a digest from the first.
const DIGEST_KEY: u64 = 0x6461_7461_2062_6c6b;

impl Rim {
    /// Hashes the blocks of a payload for the core.
    pub(crate) fn digest(&mut self, hosted: HostedId, token: Token, payload: Payload, key: Nonce) {
        let slice = self.kit.payloads.slice(payload);
        let digests = digests_of(self.kit.reactor.pool().bytes(slice), key);
        self.answer(hosted, token, Ok(DeviceResult::Digests(digests)));
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
                self.note_failure((place, Area::Data), "a write to the disk", error, rim);
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
            self.note_failure((operation.place, area), what, error, rim);
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

/// The activity log of all volumes is on the disk of the first.
fn place_of_metadata(write: &MetadataWrite) -> Place {
    match write {
        MetadataWrite::Activity(_) => Place::FIRST,
        MetadataWrite::Bitmap { page, .. } => Place::of_page(*page).0.unwrap_or(Place::FIRST),
    }
}
