//! What is on the disks: whose metadata, and where.

use std::fs;
use std::path::Path;

use format::drbd::{
    DRBD_INDEX_BYTES, DRBD_SUPERBLOCK_BYTES, DrbdSuperblock, decode_drbd, marked_in,
};
use format::error::DecodeError;
use format::layout::{PAGE_BYTES, Placement};

use crate::adopt_drbd::error::AdoptError;
use crate::adopt_drbd::{AdoptOptions, DrbdPlace};
use crate::create_md::{CreateMdError, Disk, OldSuperblock};

/// Bytes of the bitmap that are read at a time, for each of its slots.
const BITMAP_CHUNK_BYTES: u64 = 32 << 10;

/// The disks, each opened once: one may be the data's, ours for metadata, and DRBD's.
pub(crate) struct Places {
    disks: Vec<Disk>,
    /// Of our metadata; the data is on the first.
    ours: usize,
}

/// A place that may have a superblock of DRBD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    disk: usize,
    pub(crate) superblock_at: u64,
}

impl Places {
    pub(crate) fn open(options: &AdoptOptions) -> Result<Self, CreateMdError> {
        let mut places = Self { disks: vec![Disk::open(&options.disk)?], ours: 0 };
        if let Some(path) = &options.metadata_disk {
            places.ours = places.index_of(path)?;
        }
        Ok(places)
    }

    /// A disk that is open already must not be opened again: it would be found in use.
    fn index_of(&mut self, path: &Path) -> Result<usize, CreateMdError> {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let known = self.disks.iter().position(|disk| real(&disk.path) == real(path));
        if let Some(index) = known {
            return Ok(index);
        }
        self.disks.push(Disk::open(path)?);
        Ok(self.disks.len() - 1)
    }

    pub(crate) fn data(&self) -> &Disk {
        &self.disks[0]
    }

    pub(crate) fn ours(&self) -> &Disk {
        &self.disks[self.ours]
    }

    pub(crate) fn disk_of(&self, spot: Spot) -> &Disk {
        &self.disks[spot.disk]
    }

    pub(crate) fn is_in_place(&self, spot: Spot) -> bool {
        spot.disk == self.ours
    }

    pub(crate) fn is_internal(&self, spot: Spot) -> bool {
        spot.disk == 0
    }

    pub(crate) fn placement(&self) -> Placement {
        let data_device_bytes = self.data().size_bytes;
        if self.ours == 0 {
            return Placement::Internal { device_bytes: data_device_bytes };
        }
        let metadata_device_bytes = self.ours().size_bytes;
        Placement::External { data_device_bytes, metadata_device_bytes }
    }

    /// Where a superblock of DRBD is to be looked for.
    pub(crate) fn spots(&mut self, place: &DrbdPlace) -> Result<Vec<Spot>, AdoptError> {
        Ok(match place {
            DrbdPlace::Internal => vec![self.internal()],
            DrbdPlace::External { path, index } => {
                let superblock_at = u64::from(index.unwrap_or(0)) * DRBD_INDEX_BYTES;
                vec![Spot { disk: self.index_of(path)?, superblock_at }]
            }
            DrbdPlace::Found if self.ours == 0 => vec![self.internal()],
            DrbdPlace::Found => {
                vec![self.internal(), Spot { disk: self.ours, superblock_at: 0 }]
            }
        })
    }

    /// The spot that was noted when the replica was taken over.
    pub(crate) fn noted(&mut self, path: &Path, superblock_at: u64) -> Result<Spot, AdoptError> {
        Ok(Spot { disk: self.index_of(path)?, superblock_at })
    }

    /// The last whole page of the disk.
    fn internal(&self) -> Spot {
        let size_bytes = self.data().size_bytes;
        let whole = size_bytes - size_bytes % PAGE_BYTES;
        Spot { disk: 0, superblock_at: whole.saturating_sub(PAGE_BYTES) }
    }

    pub(crate) fn drbd_at(&self, spot: Spot) -> Result<Option<DrbdSuperblock>, AdoptError> {
        let disk = self.disk_of(spot);
        if spot.superblock_at + PAGE_BYTES > disk.size_bytes {
            return Ok(None);
        }
        let mut block = [0; DRBD_SUPERBLOCK_BYTES];
        disk.read(spot.superblock_at, &mut block)?;
        match decode_drbd(&block) {
            Ok(superblock) => Ok(Some(superblock)),
            Err(DecodeError::WrongMagic { .. }) => Ok(None),
            Err(source) => Err(AdoptError::Damaged { disk: disk.path.clone(), source }),
        }
    }

    /// The spot as DRBD's configuration would name it.
    pub(crate) fn name(&self, spot: Spot) -> String {
        let path = self.disk_of(spot).path.display();
        if self.is_internal(spot) {
            format!("at the end of {path}")
        } else {
            format!("on {path} at byte {}", spot.superblock_at)
        }
    }

    /// The same, as drbdmeta takes it.
    pub(crate) fn in_drbdmeta(&self, spot: Spot, place: &DrbdPlace) -> String {
        let path = self.disk_of(spot).path.display();
        match place {
            _ if self.is_internal(spot) => format!("{path} internal"),
            DrbdPlace::External { index: Some(index), .. } => format!("{path} {index}"),
            DrbdPlace::Found | DrbdPlace::Internal | DrbdPlace::External { index: None, .. } => {
                format!("{path} flex-external")
            }
        }
    }

    /// Our own metadata, where it can be.
    pub(crate) fn own_superblocks(&self) -> Result<Vec<OldSuperblock>, CreateMdError> {
        self.ours().superblocks(self.placement())
    }

    /// Bits that are set in each slot of DRBD's bitmap.
    pub(crate) fn marked(
        &self,
        spot: Spot,
        superblock: &DrbdSuperblock,
    ) -> Result<Vec<u64>, AdoptError> {
        let slots = superblock.bitmap_slots;
        let mut marked = vec![0; usize::try_from(slots).expect("at most 32")];
        let chunk = BITMAP_CHUNK_BYTES * u64::from(slots);
        let start = bitmap_start(self, spot, superblock)?;
        let end = start + superblock.bitmap_bytes();
        let mut at = start;
        while at < end {
            let length = usize::try_from(chunk.min(end - at)).expect("at most 1 MiB");
            let mut bytes = vec![0; length];
            self.disk_of(spot).read(at, &mut bytes)?;
            for (slot, count) in (0..slots).zip(&mut marked) {
                *count += marked_in(&bytes, slots, slot);
            }
            at += length as u64;
        }
        Ok(marked)
    }
}

/// Where the bitmap begins; all of it lies on the device.
pub(crate) fn bitmap_start(
    places: &Places,
    spot: Spot,
    superblock: &DrbdSuperblock,
) -> Result<u64, AdoptError> {
    let device_bytes = places.disk_of(spot).size_bytes;
    let start = superblock.bitmap_at(spot.superblock_at);
    let fits = |start: &u64| {
        start.checked_add(superblock.bitmap_bytes()).is_some_and(|end| end <= device_bytes)
    };
    start.filter(fits).ok_or_else(|| AdoptError::Size {
        size_bytes: superblock.size_bytes,
        reason: format!("and its bitmap does not fit {}", places.name(spot)),
    })
}
