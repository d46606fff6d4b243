//! What of a request is under way.

use std::ops::Range;

use frontend::nbd::parts::{ReadAssembly, Split, WriteAssembly};
use frontend::nbd::transmission::{Kind, Request as Wanted};
use frontend::nbd::wire::Errno;
use replication::contract::RequestKind;
use stdx::time::Time;

use crate::clients::budget::{bytes_of_read, bytes_of_write, is_of_whole_blocks};
use crate::clients::nbd::pieces::Held;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::PARTS_PER_REQUEST_MAX;
use crate::slab::Key;

#[derive(Debug)]
pub(crate) struct ClientRequest {
    pub(super) client: Key,
    pub(super) hosted: HostedId,
    /// Where its volume begins in the block space.
    pub(super) base: u64,
    pub(super) wanted: Wanted,
    /// A write whose bytes are all here, since then; the others since they came.
    pub(super) since: Time,
    /// Parts that the core has.
    pub(super) in_flight: usize,
    /// One of a write has its buffer, and the core has not got it yet.
    pub(super) is_arriving: bool,
    /// Its client is gone.
    pub(super) is_orphan: bool,
    pub(super) room: Room,
    pub(super) work: Work,
}

/// Bytes of the buffers that a request takes: for a part, and at most at a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    pub(super) part: usize,
    pub(super) most: usize,
}

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "it lies in a slab; a box would be an allocation")]
pub(super) enum Work {
    Read {
        assembly: ReadAssembly,
        split: Split,
        next: u16,
        held: Held,
    },
    Write {
        assembly: WriteAssembly,
    },
    /// Without payload, extent by extent; the next piece starts at `next`.
    Range {
        kind: RequestKind,
        next: u64,
        end: u64,
        failed: Option<Errno>,
    },
    Flush,
    Allocation {
        context: u32,
    },
}

impl ClientRequest {
    /// The core has answered a part, or is to; gives its bytes.
    pub(super) fn give_back(&self, kit: &mut Kit) -> usize {
        kit.budget.give_back(self.hosted, self.room.part);
        self.room.part
    }

    /// Bytes of what the core reads for a client that may take it.
    pub(super) fn reading(&self) -> usize {
        match &self.work {
            Work::Read { .. } if !self.is_orphan => self.in_flight * self.room.part,
            Work::Read { .. }
            | Work::Write { .. }
            | Work::Range { .. }
            | Work::Flush
            | Work::Allocation { .. } => 0,
        }
    }
}

impl Room {
    pub(super) fn of(wanted: &Wanted) -> Self {
        match wanted.kind {
            Kind::Read { .. } => Self::of_parts(wanted, bytes_of_read(&range_of(wanted))),
            Kind::Write => Self::of_parts(wanted, bytes_of_write(&range_of(wanted))),
            // Its first and its last block are written; the others count as if they were.
            Kind::WriteZeroes { .. } if !is_of_whole_blocks(&range_of(wanted)) => {
                let part = bytes_of_write(&(0..1));
                Self { part, most: 2 * part }
            }
            Kind::WriteZeroes { .. }
            | Kind::Flush
            | Kind::Trim
            | Kind::Cache
            | Kind::BlockStatus { .. } => Self::default(),
        }
    }

    fn of_parts(wanted: &Wanted, part: usize) -> Self {
        let count = usize::from(Split::new(wanted).count()).min(PARTS_PER_REQUEST_MAX);
        Self { part, most: count * part }
    }
}

const fn range_of(wanted: &Wanted) -> Range<u64> {
    wanted.offset..wanted.offset + wanted.length
}
