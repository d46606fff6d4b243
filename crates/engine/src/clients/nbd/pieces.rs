//! Requests in pieces: how a range is cut, and the parts of a read that wait for each other.

use std::ops::Range;

use format::ids::{BLOCK_BYTES, EXTENT_BYTES};
use frontend::nbd::transmission::Request as Wanted;
use io::Slice;
use replication::contract::Payload;

use crate::kit::Kit;
use crate::limits::PARTS_PER_REQUEST_MAX;

/// The next piece of a range: whole blocks of one extent, or a part of one block.
pub(super) fn piece(start: u64, end: u64) -> Range<u64> {
    let block_end = (start / BLOCK_BYTES + 1) * BLOCK_BYTES;
    let last_block = end / BLOCK_BYTES * BLOCK_BYTES;
    if !start.is_multiple_of(BLOCK_BYTES) || last_block <= start {
        return start..end.min(block_end);
    }
    let extent_end = (start / EXTENT_BYTES + 1) * EXTENT_BYTES;
    start..last_block.min(extent_end)
}

/// The blocks that lie wholly in the range.
pub(super) fn whole_blocks(wanted: &Wanted) -> Range<u64> {
    let start = wanted.offset.next_multiple_of(BLOCK_BYTES);
    let end = (wanted.offset + wanted.length) / BLOCK_BYTES * BLOCK_BYTES;
    start..end
}

/// Parts that were read and wait for their place in the reply.
#[derive(Debug, Default)]
pub(super) struct Held {
    parts: [Option<(u16, Payload, Slice)>; PARTS_PER_REQUEST_MAX],
}

impl Held {
    pub(super) fn len(&self) -> usize {
        self.parts.iter().flatten().count()
    }

    pub(super) fn put(&mut self, part: u16, payload: Payload, slice: Slice, kit: &mut Kit) {
        kit.keep(payload);
        let free = self.parts.iter_mut().find(|place| place.is_none());
        *free.expect("no more parts are asked than there are places") =
            Some((part, payload, slice));
    }

    /// With what the budget keeps for it.
    pub(super) fn take(&mut self, part: u16) -> Option<(Payload, Slice)> {
        let place = self.parts.iter_mut().find(|p| p.is_some_and(|(index, ..)| index == part))?;
        place.take().map(|(_, payload, slice)| (payload, slice))
    }

    /// Gives the bytes that the budget kept for it.
    pub(super) fn release(&mut self, kit: &mut Kit) -> usize {
        let mut bytes = 0;
        for (_, payload, _) in self.parts.iter_mut().filter_map(Option::take) {
            bytes += kit.held_by(payload);
            kit.give_up(payload);
        }
        bytes
    }
}
