//! Copies: blocks of bytes and of zeroes in one range, as one request of the core.
//!
//! Each run of blocks is a request of its own to the disk; the copy is done when the last of them
//! is. What punched holes is made durable by one flush at the end.

use format::ids::{BLOCK_BYTES, BlockMask, BlockRange};
use format::space::Place;
use io::{DiskId, Durability, Slice, Zero};
use replication::contract::{DeviceError, DeviceResult, GroupAction, Payload, Token};

use crate::shard::Rim;
use crate::shard::operation::{Kind, Work, place_of};
use crate::shard::part::Part;
use crate::slab::Key;

#[expect(clippy::cast_possible_truncation, reason = "4 KiB")]
const BLOCK: u32 = BLOCK_BYTES as u32;

/// A copy that is under way.
#[derive(Debug)]
pub(crate) struct DeviceCopy {
    /// `None` once it was answered, though requests of it are under way.
    token: Option<Token>,
    bytes: Bytes,
    /// Requests to the disk that are not answered.
    left: u32,
    failed: bool,
    /// Holes were made on this disk, and have to be durable.
    flush: Option<DiskId>,
}

/// Where the bytes are, until the disk has them.
#[derive(Debug)]
enum Bytes {
    None,
    /// A reference of the copy's own.
    Payload(Payload),
    /// Copied for alignment.
    Buffer(Slice),
}

impl Part {
    /// Starts a copy. It is given back while no buffer is free.
    pub(super) fn start_copy(&mut self, action: GroupAction, rim: &mut Rim) -> Option<GroupAction> {
        let GroupAction::CopyDevice { token, range, payload, given, zeroes, fua } = action else {
            unreachable!("{action:?} is no copy")
        };
        let Some(disk) = &self.disk else { return Some(action) };
        let (mem_align, (data, _)) = (disk.mem_align, disk.at(range));
        let (bytes, slice) = match payload {
            None => (Bytes::None, None),
            Some(payload) => {
                let slice = rim.kit.payloads.slice(payload);
                assert_eq!(slice.length, given.len() * BLOCK, "what is given is there");
                if slice.offset.is_multiple_of(mem_align) {
                    rim.kit.payloads.retain(payload);
                    (Bytes::Payload(payload), Some(slice))
                } else {
                    let pool = rim.kit.reactor.pool();
                    let Some(buffer) = pool.take_for(slice.length) else { return Some(action) };
                    pool.copy(slice, buffer);
                    (Bytes::Buffer(buffer), Some(buffer))
                }
            }
        };
        let left = u32::try_from(given.runs().count() + zeroes.runs().count());
        let left = left.expect("at most a run for each of 32 blocks");
        let flush = (fua && !zeroes.is_empty()).then_some(data);
        let copy = DeviceCopy { token: Some(token), bytes, left, failed: false, flush };
        let copy = rim.copies.insert(copy);
        let durability = if fua && flush.is_none() { Durability::Fua } else { Durability::Cached };
        if let Some(slice) = slice {
            self.write_given(copy, (range, given), slice, durability, rim);
        }
        self.punch(copy, range, zeroes, rim);
        None
    }

    fn write_given(
        &mut self,
        copy: Key,
        (range, given): (BlockRange, BlockMask),
        slice: Slice,
        durability: Durability,
        rim: &mut Rim,
    ) {
        let Some(disk) = &mut self.disk else { return };
        let mut taken = 0;
        for (start, count) in given.runs() {
            let bytes = slice.part(taken, count * BLOCK);
            taken += bytes.length;
            disk.count_written(BlockRange::new(range.start, count));
            disk.counters.in_flight += 1;
            let (data, offset) = disk.at(range);
            let offset = offset + u64::from(start * BLOCK);
            let kind = Kind::PartOfCopy { copy, work: Work::Write };
            let token = rim.start((self.id, place_of(range)), kind);
            rim.kit.reactor.write(data, offset, bytes, durability, token);
        }
    }

    fn punch(&mut self, copy: Key, range: BlockRange, zeroes: BlockMask, rim: &mut Rim) {
        let Some(disk) = &mut self.disk else { return };
        for (start, count) in zeroes.runs() {
            disk.counters.in_flight += 1;
            let (data, offset) = disk.at(range);
            let offset = offset + u64::from(start * BLOCK);
            let length = u64::from(count * BLOCK);
            let kind = Kind::PartOfCopy { copy, work: Work::Write };
            let token = rim.start((self.id, place_of(range)), kind);
            rim.kit.reactor.zero(data, offset, length, Zero::Deallocate, token);
        }
    }

    /// One of the requests of a copy was answered.
    pub(super) fn on_part_of_copy(
        &mut self,
        (copy, place): (Key, Place),
        result: Result<(), DeviceError>,
        rim: &mut Rim,
    ) {
        let Some(known) = rim.copies.get_mut(copy) else { return };
        known.failed |= result.is_err();
        known.left -= 1;
        if known.left > 0 {
            return;
        }
        if let Some(data) = known.flush.take_if(|_| !known.failed) {
            if let Some(disk) = &mut self.disk {
                known.left = 1;
                disk.counters.in_flight += 1;
                let kind = Kind::PartOfCopy { copy, work: Work::Flush };
                let token = rim.start((self.id, place), kind);
                return rim.kit.reactor.flush(data, token);
            }
            // Given up meanwhile: nobody can make it durable.
            known.failed = true;
        }
        let Some(done) = rim.end_copy(copy) else { return };
        let result = if done.failed { Err(DeviceError) } else { Ok(DeviceResult::Done) };
        if let Some(token) = done.token {
            rim.answer(self.id, token, result);
        }
    }
}

impl Rim {
    /// So many requests to disks make up one of the core.
    pub(super) fn start_together(&mut self, token: Token, count: usize) -> Key {
        let left = u32::try_from(count).expect("a request for each volume");
        let bytes = Bytes::None;
        let token = Some(token);
        self.copies.insert(DeviceCopy { token, bytes, left, failed: false, flush: None })
    }

    /// Nobody waits for the copy any more; what it is to answer, if it did not yet.
    pub(super) fn abandon_copy(&mut self, copy: Key) -> Option<Token> {
        self.copies.get_mut(copy)?.token.take()
    }

    /// A request of a copy whose resource is gone was answered.
    pub(super) fn discard_part_of_copy(&mut self, copy: Key) {
        let Some(known) = self.copies.get_mut(copy) else { return };
        known.left -= 1;
        if known.left == 0 {
            self.end_copy(copy);
        }
    }

    fn end_copy(&mut self, copy: Key) -> Option<DeviceCopy> {
        let done = self.copies.remove(copy)?;
        match done.bytes {
            Bytes::None => {}
            Bytes::Payload(payload) => self.kit.release(payload),
            Bytes::Buffer(buffer) => self.kit.reactor.pool().release(buffer.buffer),
        }
        Some(done)
    }
}
