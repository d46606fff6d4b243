//! Which blocks of a volume are holes: what `base:allocation` tells.
//!
//! A hole is a promise that the blocks read as zeroes. Only a file can tell it, and only where the
//! local replica is the volume: this node leads with a lease, its replica is in sync, and no member
//! differs from another. Everything else counts as allocated, which is never wrong.

use std::ops::Range;

use format::space::Place;
use frontend::nbd::wire::{Extent, STATE_HOLE, STATE_ZERO};
use io::{DiskId, Reactor};

use crate::contract::Cross;
use crate::hosted_id::HostedId;
use crate::limits::STATUS_EXTENTS_MAX;
use crate::shard::{Rim, Shard};
use crate::slab::Key;

impl Shard {
    /// A client of this shard asks. Only the home of the resource knows what the replica is worth.
    pub(super) fn on_allocation(&mut self, id: HostedId, request: Key, range: Range<u64>) {
        let home = self.home_of(id);
        if home != self.rim.mesh.me() {
            return self.rim.tell(home, Cross::Allocation { hosted: id, request, range });
        }
        self.find_holes(id, range);
        let Rim { nbd, kit, .. } = &mut self.rim;
        nbd.tell_allocation(request, &self.extents, kit);
    }

    /// A client of another shard asks.
    pub(super) fn on_allocation_of(
        &mut self,
        from: u8,
        id: HostedId,
        request: Key,
        range: Range<u64>,
    ) {
        self.find_holes(id, range);
        let extents = self.extents.as_slice().into();
        self.rim.tell(from, Cross::Allocated { request, extents });
    }

    /// The extents from the start of the range on; nothing where nothing is known.
    fn find_holes(&mut self, id: HostedId, range: Range<u64>) {
        self.extents.clear();
        if let Some(disk) = self.part(id).and_then(|part| part.disk.as_ref())
            && let Some(place) = Place::of_byte(range.start)
            && let Some(data) = disk.data_at(place)
        {
            let base = place.first_byte();
            let range = range.start - base..range.end - base;
            find_holes(data, range, &self.rim.kit.reactor, &mut self.extents);
        }
        let hosted = self.hosted.get(id.0 as usize).and_then(Option::as_ref);
        // Asked last, by a clock that is read now: no other node had written when the file was
        // looked at, however long this thread stood still since it was asked.
        if !hosted.is_some_and(|hosted| hosted.resource.speaks_for_all(io::now())) {
            self.extents.clear();
        }
    }
}

fn find_holes(disk: DiskId, range: Range<u64>, reactor: &Reactor, extents: &mut Vec<Extent>) {
    if reactor.disk_info(disk).is_block_device {
        return;
    }
    let mut tell = |from: u64, to: u64, state| {
        if from < to {
            extents.push(Extent { length_bytes: to - from, state });
        }
        extents.len() < STATUS_EXTENTS_MAX
    };
    let mut at = range.start;
    while at < range.end {
        let data = match reactor.next_data(disk, at..range.end) {
            Ok(data) => data.unwrap_or(range.end..range.end),
            // The file system does not say: the rest is left out.
            Err(_) => return,
        };
        let is_room =
            tell(at, data.start, STATE_HOLE | STATE_ZERO) && tell(data.start, data.end, 0);
        if !is_room {
            return;
        }
        at = data.end;
    }
}
