//! The disks of the volumes behind the first: one replica, several backing stores.
//!
//! The core has one block space. A request lies in one volume, and goes to the disk of that one. A
//! flush goes to all of them: the core asks for everything that was written before, of whatever
//! volume, and leaves extents of any volume out of the activity log after it.

use format::ids::{BLOCK_BYTES, BlockRange};
use format::space::{Place, VOLUME_BLOCKS};
use io::{DiskId, SharedDisk};
use replication::contract::Token;

use crate::handover::NewFurther;
use crate::hosted_id::HostedId;
use crate::shard::Rim;
use crate::shard::operation::{Disk, Further, Kind, Work};

impl Further {
    pub(crate) fn close(&self, rim: &mut Rim) {
        rim.kit.reactor.close_disk(self.data);
        if self.meta != self.data {
            rim.kit.reactor.close_disk(self.meta);
        }
    }
}

impl NewFurther {
    pub(crate) fn adopt(self, rim: &mut Rim) -> std::io::Result<Further> {
        let Self { place, data, meta, layout } = self;
        let (data, meta) = adopt_pair(data, meta, rim)?;
        Ok(Further { place, data, meta, layout, read_bytes: 0, written_bytes: 0 })
    }
}

/// A disk and that of its metadata, which may be the same.
pub(crate) fn adopt_pair(
    data: SharedDisk,
    meta: Option<SharedDisk>,
    rim: &mut Rim,
) -> std::io::Result<(DiskId, DiskId)> {
    let reactor = &mut rim.kit.reactor;
    let data = reactor.adopt_disk(data)?;
    match meta.map(|meta| reactor.adopt_disk(meta)) {
        None => Ok((data, data)),
        Some(Ok(meta)) => Ok((data, meta)),
        Some(Err(error)) => {
            reactor.close_disk(data);
            Err(error)
        }
    }
}

impl Disk {
    /// The disk that has these blocks, and where on it they are.
    pub(crate) fn at(&self, range: BlockRange) -> (DiskId, u64) {
        if range.start < VOLUME_BLOCKS {
            return (self.data, range.offset_bytes());
        }
        let place = Place::of_block(range.start).unwrap_or(Place::FIRST);
        let further = self.further_at(place).expect("the core uses volumes that the disk has");
        (further.data, (range.start - place.first_block()) * BLOCK_BYTES)
    }

    pub(crate) fn further_at(&self, place: Place) -> Option<&Further> {
        self.further.iter().find(|it| it.place == place)
    }

    /// The disk of the data of a volume.
    pub(crate) fn data_at(&self, place: Place) -> Option<DiskId> {
        if place == Place::FIRST {
            return Some(self.data);
        }
        self.further_at(place).map(|it| it.data)
    }

    pub(crate) fn count_read(&mut self, range: BlockRange) {
        *self.counts_of(range).0 += range.length_bytes();
    }

    pub(crate) fn count_written(&mut self, range: BlockRange) {
        *self.counts_of(range).1 += range.length_bytes();
    }

    /// Bytes read and written of the volume that has these blocks.
    fn counts_of(&mut self, range: BlockRange) -> (&mut u64, &mut u64) {
        if range.start >= VOLUME_BLOCKS {
            let place = Place::of_block(range.start);
            if let Some(it) = self.further.iter_mut().find(|it| Some(it.place) == place) {
                return (&mut it.read_bytes, &mut it.written_bytes);
            }
        }
        (&mut self.counters.read_bytes, &mut self.counters.written_bytes)
    }

    /// Makes everything durable that was written before.
    pub(crate) fn flush(&mut self, hosted: HostedId, token: Token, rim: &mut Rim) {
        if self.further.is_empty() {
            self.counters.in_flight += 1;
            let token = rim.start((hosted, Place::FIRST), Kind::Flush { token });
            return rim.kit.reactor.flush(self.data, token);
        }
        let further = self.further.iter().map(|it| (it.place, it.data));
        let copy = rim.start_together(token, 1 + self.further.len());
        for (place, data) in std::iter::once((Place::FIRST, self.data)).chain(further) {
            self.counters.in_flight += 1;
            let token = rim.start((hosted, place), Kind::PartOfCopy { copy, work: Work::Flush });
            rim.kit.reactor.flush(data, token);
        }
    }
}
