//! Which blocks of a volume are holes: what `base:allocation` tells.
//!
//! A hole is a promise that the blocks read as zeroes. Only a file can tell it, and only where the
//! local replica is the volume: this node leads with a lease, its replica is in sync, and no member
//! differs from another. Everything else counts as allocated, which is never wrong.

use std::ops::Range;

use frontend::nbd::wire::{Extent, STATE_HOLE, STATE_ZERO};

use crate::limits::STATUS_EXTENTS_MAX;
use crate::links::HostedId;
use crate::shard::hosted::Hosted;
use crate::shard::{Rim, Shard};
use crate::slab::Key;

impl Shard {
    pub(super) fn on_allocation(&mut self, id: HostedId, request: Key, range: Range<u64>) {
        self.extents.clear();
        if let Some(hosted) = self.hosted.get(id.0 as usize).and_then(Option::as_ref) {
            hosted.find_holes(range, &self.rim, &mut self.extents);
        }
        let Rim { nbd, kit, .. } = &mut self.rim;
        nbd.tell_allocation(request, &self.extents, kit);
    }
}

impl Hosted {
    /// The extents from the start of the range on; nothing where nothing is known.
    fn find_holes(&self, range: Range<u64>, rim: &Rim, extents: &mut Vec<Extent>) {
        let reactor = &rim.kit.reactor;
        let Some(disk) = self.disk.as_ref().filter(|_| self.resource.speaks_for_all(rim.kit.now))
        else {
            return;
        };
        if reactor.disk_info(disk.data).is_block_device {
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
            let data = match reactor.next_data(disk.data, at..range.end) {
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
}
