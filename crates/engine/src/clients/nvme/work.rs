//! What of a command is under way.

use format::space::Place;
use frontend::block::{PART_BYTES, Request};
use frontend::nvme::limits::TRANSFER_BYTES_MAX;
use frontend::nvme::status::Status;
use io::Slice;
use replication::contract::Payload;
use stdx::time::Time;

use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::Key;

/// The most parts of a read or a write: its ends need not lie on a boundary of parts.
const PARTS_MAX: usize = (TRANSFER_BYTES_MAX as u64 / PART_BYTES) as usize + 1;

#[derive(Debug)]
pub(crate) struct IoRequest {
    pub(super) queue: Key,
    pub(super) hosted: HostedId,
    /// The volume; offsets of `work` count from its start.
    pub(super) place: Place,
    pub(super) command: u16,
    pub(super) work: Work,
    pub(super) step: Step,
    /// Parts that the core has.
    pub(super) in_flight: usize,
    pub(super) failed: Option<Status>,
    pub(super) controller: Key,
    /// Of its data.
    pub(super) length: u32,
    /// Of the buffers for it, which it has or waits for.
    pub(super) held_bytes: usize,
    pub(super) hold: Hold,
    /// Of those that are read, what is not given to its connection yet.
    pub(super) reply_bytes: usize,
    /// Its queue takes no answer any more; the core still has something of it.
    pub(super) is_orphan: bool,
    /// Since when its data is to arrive, and how much before it, with it.
    pub(super) since: Time,
    pub(super) to_come: usize,
}

/// As what the budget counts the buffers of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// It has none.
    Nothing,
    /// Its data is on its way, or is here and waits until the core has room for more.
    Arriving,
    /// The core's.
    Core,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Until others give bytes back.
    Waiting,
    /// Its data is on its way.
    Arriving,
    Working,
    /// It failed; why is not certain yet.
    Doubtful,
}

#[derive(Debug)]
pub(super) enum Work {
    Read {
        request: Request,
        /// Where the next part to ask for begins, and the next to send.
        next: u64,
        to_send: u64,
        ready: [Option<(Payload, Slice)>; PARTS_MAX],
    },
    Write {
        request: Request,
        fua: bool,
        parts: Parts,
    },
    /// Without data, piece by piece.
    Range {
        request: Request,
        fua: bool,
        next: u64,
        end: u64,
    },
    /// Several of them, which lie in `data`; `range` is at work.
    Ranges {
        data: Parts,
        count: u32,
        taken: u32,
        range: Option<(Request, u64)>,
    },
    Flush,
}

/// The places for data that comes, in order.
#[derive(Debug, Default)]
pub(super) struct Parts {
    slices: [Option<Slice>; PARTS_MAX],
    /// Which one is filled next, and what of it an earlier PDU left.
    next: usize,
    pub(super) rest: Option<Slice>,
}

impl Parts {
    /// Places for the data of a write, or of a command; `None` while a buffer is missing.
    pub(super) fn take(lengths: impl Iterator<Item = u32>, kit: &mut Kit) -> Option<Self> {
        let mut parts = Self::default();
        for (place, length) in parts.slices.iter_mut().zip(lengths) {
            *place = kit.reactor.pool().take_for_client(length);
            if place.is_none() {
                parts.release(kit);
                return None;
            }
        }
        Some(parts)
    }

    /// The place of the bytes that come next.
    pub(super) fn next_place(&mut self) -> Option<Slice> {
        let place = self.slices.get(self.next).copied().flatten()?;
        self.next += 1;
        Some(place)
    }

    /// Gives the places out, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Slice> {
        self.slices.iter_mut().map_while(Option::take)
    }

    /// Copies data that came whole to its places.
    pub(super) fn fill(&self, data: Slice, kit: &mut Kit) {
        let mut at = 0;
        for slice in self.slices.iter().map_while(|slice| *slice) {
            kit.reactor.pool().copy(data.part(at, slice.length), slice);
            at += slice.length;
        }
    }

    pub(super) fn first(&self) -> Option<Slice> {
        self.slices[0]
    }

    pub(super) fn release(&mut self, kit: &mut Kit) {
        for slice in self.slices.iter_mut().filter_map(Option::take) {
            kit.reactor.pool().release(slice.buffer);
        }
    }
}

impl Work {
    /// A range was taken up to there.
    pub(super) fn advance(&mut self, place: u64) {
        match self {
            Self::Range { next, .. } => *next = place,
            Self::Ranges { range, .. } => {
                if let Some((_, next)) = range {
                    *next = place;
                }
            }
            Self::Read { .. } | Self::Write { .. } | Self::Flush => {}
        }
    }

    /// Nothing is left to ask for, or to send.
    pub(super) fn is_done(&self) -> bool {
        match self {
            Self::Read { request, to_send, .. } => *to_send >= request.offset + request.length,
            Self::Range { next, end, .. } => next >= end,
            Self::Ranges { count, taken, range, .. } => {
                let is_left = |(range, next): &(Request, u64)| *next < range.covered().end;
                taken == count && !range.as_ref().is_some_and(is_left)
            }
            Self::Write { .. } | Self::Flush => true,
        }
    }

    /// How it ends when the volume fails.
    pub(super) fn fault(&self) -> Status {
        match self {
            Self::Read { .. } => Status::READ_ERROR,
            Self::Write { .. } | Self::Range { .. } | Self::Ranges { .. } | Self::Flush => {
                Status::WRITE_FAULT
            }
        }
    }

    pub(super) fn release(&mut self, kit: &mut Kit) {
        match self {
            Self::Read { ready, .. } => {
                for (payload, _) in ready.iter_mut().filter_map(Option::take) {
                    kit.release(payload);
                }
            }
            Self::Write { parts, .. } | Self::Ranges { data: parts, .. } => parts.release(kit),
            Self::Range { .. } | Self::Flush => {}
        }
    }
}
