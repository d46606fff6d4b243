//! The disks of the volumes behind the first: one replica, several backing stores.
//!
//! The core has one block space. A request lies in one volume, and goes to the disk of that one. A
//! flush goes to all of them: the core asks for everything that was written before, of whatever
//! volume, and leaves extents of any volume out of the activity log after it.

use std::path::Path;

use format::ids::{BLOCK_BYTES, BlockRange};
use format::layout::Layout;
use format::space::{Place, VOLUME_BLOCKS};
use io::{DiskId, PathMode, Persistent, SharedDisk};
use replication::contract::Token;

use crate::definition::DiskPlace;
use crate::links::HostedId;
use crate::log::{Scope, log};
use crate::shard::Rim;
use crate::shard::disk::{Disk, Kind};

/// What one volume behind the first is kept on.
#[derive(Debug)]
pub(crate) struct Further {
    pub(crate) place: Place,
    pub(crate) data: DiskId,
    pub(crate) meta: DiskId,
    pub(crate) layout: Layout,
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
}

/// The same for another shard.
#[derive(Debug)]
pub(crate) struct NewFurther {
    place: Place,
    data: SharedDisk,
    /// `None`: on the data disk.
    meta: Option<SharedDisk>,
    layout: Layout,
}

impl Further {
    pub(super) fn open(
        (place, disk): (Place, &DiskPlace),
        layout: Layout,
        rim: &mut Rim,
    ) -> std::io::Result<Self> {
        let (data, meta) = open_pair(disk, rim)?;
        Ok(Self { place, data, meta, layout, read_bytes: 0, written_bytes: 0 })
    }

    pub(super) fn close(&self, rim: &mut Rim) {
        rim.kit.reactor.close_disk(self.data);
        if self.meta != self.data {
            rim.kit.reactor.close_disk(self.meta);
        }
    }

    pub(super) fn share(&self, rim: &Rim) -> std::io::Result<NewFurther> {
        let reactor = &rim.kit.reactor;
        let meta = if self.meta == self.data { None } else { Some(reactor.share_disk(self.meta)?) };
        let (place, layout) = (self.place, self.layout);
        Ok(NewFurther { place, data: reactor.share_disk(self.data)?, meta, layout })
    }
}

impl NewFurther {
    pub(super) fn adopt(self, rim: &mut Rim) -> std::io::Result<Further> {
        let Self { place, data, meta, layout } = self;
        let (data, meta) = adopt_pair(data, meta, rim)?;
        Ok(Further { place, data, meta, layout, read_bytes: 0, written_bytes: 0 })
    }
}

/// A disk and that of its metadata, which may be the same.
pub(super) fn adopt_pair(
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

pub(super) fn open_pair(disk: &DiskPlace, rim: &mut Rim) -> std::io::Result<(DiskId, DiskId)> {
    let exclusive = io::DiskOptions { exclusive: true, ..io::DiskOptions::default() };
    let DiskPlace { data, meta } = disk;
    let data = rim.kit.reactor.open_disk(data, exclusive)?;
    let meta = match meta {
        None => data,
        Some(path) => match open_metadata(path, rim) {
            Ok(meta) => meta,
            Err(error) => {
                rim.kit.reactor.close_disk(data);
                return Err(error);
            }
        },
    };
    Ok((data, meta))
}

/// Metadata of its own is small and always to be durable: on persistent memory by stores.
fn open_metadata(path: &Path, rim: &mut Rim) -> std::io::Result<DiskId> {
    let persistent = Persistent::from_environment()?;
    let options = io::DiskOptions { exclusive: true, persistent, ..io::DiskOptions::default() };
    let disk = rim.kit.reactor.open_disk(path, options)?;
    let place = path.display();
    match rim.kit.reactor.disk_info(disk).path_mode {
        PathMode::Persistent => {
            log!(Notice, Scope::NODE, "{place}: the metadata is on persistent memory");
        }
        PathMode::Mapped => log!(
            Warning,
            Scope::NODE,
            "{place}: the metadata is mapped, as {} says, and is not on persistent memory: it \
             does not survive a loss of power",
            Persistent::VARIABLE
        ),
        PathMode::Direct | PathMode::InlineMemory | PathMode::InlineBuffered => {}
    }
    Ok(disk)
}

impl Disk {
    /// The disk that has these blocks, and where on it they are.
    pub(super) fn at(&self, range: BlockRange) -> (DiskId, u64) {
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

    pub(super) fn count_read(&mut self, range: BlockRange) {
        *self.counts_of(range).0 += range.length_bytes();
    }

    pub(super) fn count_written(&mut self, range: BlockRange) {
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
    pub(super) fn flush(&mut self, hosted: HostedId, token: Token, rim: &mut Rim) {
        if self.further.is_empty() {
            self.counters.in_flight += 1;
            let token = rim.start(hosted, Kind::Flush { token });
            return rim.kit.reactor.flush(self.data, token);
        }
        let all = std::iter::once(self.data).chain(self.further.iter().map(|it| it.data));
        let copy = rim.start_together(token, 1 + self.further.len());
        for data in all {
            self.counters.in_flight += 1;
            let token = rim.start(hosted, Kind::PartOfCopy { copy });
            rim.kit.reactor.flush(data, token);
        }
    }
}
