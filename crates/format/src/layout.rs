//! Where metadata lies on a device.
//!
//! ```text
//! internal:  | data .. | superblock 0 | activity log 2 MiB | bitmap | unused | superblock 1 |
//! external:  data: the whole other device
//!            | superblock 0 | activity log 2 MiB | bitmap | unused | superblock 1 |
//!
//! activity log:  16 rings of 32 records of 4 KiB; record n of a ring in its place n mod 32
//! bitmap:        slot 0: lane 0: page 0, 1, ..; lane 1: ..   slot 1: ..
//! bitmap page:   4 KiB, one bit per block, least significant first: 32 extents of one lane
//! ```
//! Superblock 1 is the last whole block of the device, which is found without knowing anything.
//! A page belongs to one lane, so that no two shards ever write the same one.

use std::collections::BTreeSet;

use crate::ids::{BLOCK_BYTES, EXTENT_BLOCKS, EXTENT_BYTES, LaneIndex, NODES_MAX};
use crate::metadata::AL_RINGS;
use crate::space::VOLUME_BYTES;

/// Lanes of a new volume: enough for every shard of a large machine, few enough to stay small.
pub const LANES_DEFAULT: u8 = 16;
/// Bitmap slots of a new replica: members that it can keep track of, itself included.
pub const SLOTS_DEFAULT: u8 = 8;
/// Bytes of a bitmap page, of an activity-log record and of a superblock.
pub const PAGE_BYTES: u64 = 4096;
/// Blocks that one bitmap page covers: those of its lane in order, the first one in bit 0.
pub const PAGE_BLOCKS: u64 = PAGE_BYTES * 8;
/// Extents of a lane that one bitmap page covers.
pub const PAGE_EXTENTS: u64 = PAGE_BLOCKS / EXTENT_BLOCKS;
/// Records of one activity-log ring.
pub const AL_RING_RECORDS: u64 = 32;
/// Bytes of one activity-log ring.
pub const AL_RING_BYTES: u64 = AL_RING_RECORDS * PAGE_BYTES;
/// Bytes of all of them.
pub const AL_BYTES: u64 = AL_RINGS as u64 * AL_RING_BYTES;

/// No device is larger: a volume has so much room in the block space of its resource.
const DEVICE_BYTES_MAX: u64 = VOLUME_BYTES;
const LANES_MAX: u8 = 128;

/// Where the metadata of a replica is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// At the end of the device that holds the data.
    Internal { device_bytes: u64 },
    /// On a device of its own.
    External { data_device_bytes: u64, metadata_device_bytes: u64 },
}

/// Which device holds the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataPlace {
    /// The one that holds the data.
    Internal,
    /// Another one.
    External,
}

/// Offsets are from the start of the device that holds the metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub metadata: MetadataPlace,
    /// What the replica can hold, a multiple of a block; data starts at byte 0.
    pub data_bytes: u64,
    pub superblock_offsets: [u64; 2],
    pub al_offset: u64,
    pub bitmap_offset: u64,
    pub slots: u8,
    pub lanes: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    #[error("{size_bytes} bytes are too small, {needed_bytes} are needed at least")]
    TooSmall { size_bytes: u64, needed_bytes: u64 },
    #[error("{size_bytes} bytes are too large, {DEVICE_BYTES_MAX} can be used at most")]
    TooLarge { size_bytes: u64 },
    #[error("{slots} bitmap slots are not possible, 1 to {NODES_MAX} are")]
    Slots { slots: u8 },
    #[error("{lanes} lanes are not possible, a power of two up to {LANES_MAX} is")]
    Lanes { lanes: u8 },
}

impl Layout {
    /// The layout of a new replica.
    ///
    /// # Errors
    /// If a device is too small or too large, or the numbers of slots or lanes are not possible.
    pub fn new(placement: Placement, slots: u8, lanes: u8) -> Result<Self, LayoutError> {
        if slots == 0 || u32::from(slots) > NODES_MAX {
            return Err(LayoutError::Slots { slots });
        }
        if !lanes.is_power_of_two() {
            return Err(LayoutError::Lanes { lanes });
        }
        match placement {
            Placement::Internal { device_bytes } => internal(device_bytes, slots, lanes),
            Placement::External { data_device_bytes, metadata_device_bytes } => {
                external(data_device_bytes, metadata_device_bytes, slots, lanes)
            }
        }
    }

    /// All places where a superblock can be on a device that holds metadata, the likeliest first.
    /// Superblock 0 is found so when superblock 1 is damaged, and the numbers of slots and lanes
    /// with it.
    #[must_use]
    pub fn superblock_places(placement: Placement) -> Vec<u64> {
        let mut places = BTreeSet::new();
        let slots_max = u8::try_from(NODES_MAX).expect("node ids are 0..=31");
        for slots in 1..=slots_max {
            for lanes in (0..8).map(|power| 1 << power) {
                if let Ok(layout) = Self::new(placement, slots, lanes) {
                    places.extend(layout.superblock_offsets);
                }
            }
        }
        places.into_iter().rev().collect()
    }

    /// Bitmap pages of one lane in one slot.
    #[must_use]
    pub fn pages_per_lane(&self) -> u32 {
        u32::try_from(pages_per_lane(self.data_bytes, self.lanes))
            .expect("2^54 bytes have 2^27 pages")
    }

    /// Bytes of the bitmap of all slots.
    #[must_use]
    pub fn bitmap_bytes(&self) -> u64 {
        bitmap_bytes(self.data_bytes, self.slots, self.lanes)
    }

    /// Where a bitmap page is.
    ///
    /// # Panics
    /// If the replica has no such slot, lane or page.
    #[must_use]
    pub fn bitmap_page_offset(&self, slot: u8, lane: LaneIndex, page: u32) -> u64 {
        assert!(slot < self.slots, "slots of a replica are numbered from 0");
        assert!(lane.0 < self.lanes, "lanes of a volume are numbered from 0");
        assert!(page < self.pages_per_lane(), "pages of a lane are numbered from 0");
        let lane_before = u64::from(slot) * u64::from(self.lanes) + u64::from(lane.0);
        let page_before = lane_before * u64::from(self.pages_per_lane()) + u64::from(page);
        self.bitmap_offset + page_before * PAGE_BYTES
    }

    /// Where record `number` of a ring is written, over the one 32 records before it.
    ///
    /// # Panics
    /// If there is no such ring.
    #[must_use]
    pub fn al_record_offset(&self, ring: u8, number: u64) -> u64 {
        self.al_ring_offset(ring) + number % AL_RING_RECORDS * PAGE_BYTES
    }

    /// Where the records of a ring start.
    ///
    /// # Panics
    /// If there is no such ring.
    #[must_use]
    pub fn al_ring_offset(&self, ring: u8) -> u64 {
        assert!(usize::from(ring) < AL_RINGS, "rings are numbered from 0");
        self.al_offset + u64::from(ring) * AL_RING_BYTES
    }

    /// Everything lies where it may: for a layout that was read from a disk.
    pub(crate) fn is_possible(&self) -> bool {
        let [first, last] = self.superblock_offsets;
        let data_end = match self.metadata {
            MetadataPlace::Internal => self.data_bytes,
            MetadataPlace::External => 0,
        };
        let offsets = [self.data_bytes, first, self.al_offset, self.bitmap_offset, last];
        let is_small = offsets.iter().all(|offset| *offset <= DEVICE_BYTES_MAX);
        let is_aligned = offsets.iter().all(|offset| offset.is_multiple_of(PAGE_BYTES));
        let counts = self.slots > 0
            && u32::from(self.slots) <= NODES_MAX
            && self.lanes.is_power_of_two()
            && u32::try_from(pages_per_lane(self.data_bytes, self.lanes)).is_ok();
        is_small
            && is_aligned
            && counts
            && data_end <= first
            && first + PAGE_BYTES <= self.al_offset
            && self.al_offset + AL_BYTES <= self.bitmap_offset
            && self.bitmap_offset + self.bitmap_bytes() <= last
    }
}

/// Superblocks and activity log: what does not depend on the size.
const FIXED_BYTES: u64 = 2 * PAGE_BYTES + AL_BYTES;

fn internal(device_bytes: u64, slots: u8, lanes: u8) -> Result<Layout, LayoutError> {
    let total = check_size(device_bytes, 0, slots, lanes)?;
    // The bitmap is reserved for a little more than is left for data in the end: no iteration.
    let room = total - FIXED_BYTES;
    let data_bytes = room - bitmap_bytes(room, slots, lanes);
    Ok(place(MetadataPlace::Internal, data_bytes, total, (slots, lanes)))
}

fn external(
    data_device_bytes: u64,
    metadata_device_bytes: u64,
    slots: u8,
    lanes: u8,
) -> Result<Layout, LayoutError> {
    if data_device_bytes > DEVICE_BYTES_MAX {
        return Err(LayoutError::TooLarge { size_bytes: data_device_bytes });
    }
    let data_bytes = whole_blocks(data_device_bytes);
    if data_bytes == 0 {
        let (size_bytes, needed_bytes) = (data_device_bytes, BLOCK_BYTES);
        return Err(LayoutError::TooSmall { size_bytes, needed_bytes });
    }
    let total = check_size(metadata_device_bytes, data_bytes, slots, lanes)?;
    Ok(place(MetadataPlace::External, data_bytes, total, (slots, lanes)))
}

/// The whole blocks of a device that is to hold metadata, for `data_bytes` elsewhere or (0) for
/// data of its own.
fn check_size(
    device_bytes: u64,
    data_bytes: u64,
    slots: u8,
    lanes: u8,
) -> Result<u64, LayoutError> {
    if device_bytes > DEVICE_BYTES_MAX {
        return Err(LayoutError::TooLarge { size_bytes: device_bytes });
    }
    let total = whole_blocks(device_bytes);
    let own_data = if data_bytes == 0 { BLOCK_BYTES } else { 0 };
    let least = bitmap_bytes(data_bytes.max(BLOCK_BYTES), slots, lanes);
    let needed_bytes = FIXED_BYTES + own_data + least;
    if total < needed_bytes {
        return Err(LayoutError::TooSmall { size_bytes: device_bytes, needed_bytes });
    }
    Ok(total)
}

fn place(metadata: MetadataPlace, data_bytes: u64, total: u64, (slots, lanes): (u8, u8)) -> Layout {
    let start = match metadata {
        MetadataPlace::Internal => data_bytes,
        MetadataPlace::External => 0,
    };
    let al_offset = start + PAGE_BYTES;
    let layout = Layout {
        metadata,
        data_bytes,
        superblock_offsets: [start, total - PAGE_BYTES],
        al_offset,
        bitmap_offset: al_offset + AL_BYTES,
        slots,
        lanes,
    };
    assert!(layout.is_possible(), "areas are in order and apart");
    layout
}

fn whole_blocks(bytes: u64) -> u64 {
    bytes - bytes % BLOCK_BYTES
}

fn pages_per_lane(data_bytes: u64, lanes: u8) -> u64 {
    data_bytes.div_ceil(EXTENT_BYTES).div_ceil(lanes.into()).div_ceil(PAGE_EXTENTS)
}

fn bitmap_bytes(data_bytes: u64, slots: u8, lanes: u8) -> u64 {
    pages_per_lane(data_bytes, lanes) * u64::from(slots) * u64::from(lanes) * PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn internal(device_bytes: u64) -> Layout {
        Layout::new(Placement::Internal { device_bytes }, 8, 16).unwrap()
    }

    #[test]
    fn data_of_an_internal_layout_ends_where_metadata_starts() {
        let layout = internal(GIB);
        assert_eq!(layout.superblock_offsets, [layout.data_bytes, GIB - 4096]);
        assert_eq!(layout.data_bytes, GIB - FIXED_BYTES - 8 * 16 * 4096);
        assert_eq!(layout.pages_per_lane(), 1);
        let last = layout.bitmap_page_offset(7, LaneIndex(15), 0) + PAGE_BYTES;
        assert_eq!(last, layout.superblock_offsets[1]);
    }

    #[test]
    fn layouts_of_all_sizes_hold_their_invariants() {
        for size in (1..2000_u64).map(|n| n * n * n * 4097 + (8 << 20)) {
            for (slots, lanes) in [(1, 1), (8, 16), (32, 128)] {
                let placement = Placement::Internal { device_bytes: size };
                let Ok(layout) = Layout::new(placement, slots, lanes) else {
                    assert!(size < 64 << 20, "{size} bytes are enough for {slots} and {lanes}");
                    continue;
                };
                assert!(layout.is_possible(), "{size} {slots} {lanes}: {layout:?}");
                assert!(layout.superblock_offsets[1] + PAGE_BYTES <= size);
                assert!(layout.data_bytes > 0 && layout.data_bytes.is_multiple_of(BLOCK_BYTES));
            }
        }
    }

    #[test]
    fn smallest_device_is_the_one_that_the_error_names() {
        let new = |device_bytes| Layout::new(Placement::Internal { device_bytes }, 8, 16);
        let Err(LayoutError::TooSmall { needed_bytes, .. }) = new(1 << 20) else { panic!() };
        new(needed_bytes - 1).unwrap_err();
        assert_eq!(new(needed_bytes).unwrap().data_bytes, 4096);
    }

    #[test]
    fn external_metadata_leaves_the_data_device_whole() {
        let placement = Placement::External {
            data_device_bytes: 10 * GIB + 511,
            metadata_device_bytes: 64 << 20,
        };
        let layout = Layout::new(placement, 8, 16).unwrap();
        assert_eq!(layout.data_bytes, 10 * GIB);
        assert_eq!(layout.superblock_offsets, [0, (64 << 20) - 4096]);
        let small =
            Placement::External { data_device_bytes: GIB << 10, metadata_device_bytes: GIB >> 2 };
        assert!(matches!(Layout::new(small, 8, 16), Err(LayoutError::TooSmall { .. })));
    }

    #[test]
    fn impossible_counts_are_refused() {
        let placement = Placement::Internal { device_bytes: GIB };
        assert_eq!(Layout::new(placement, 0, 16), Err(LayoutError::Slots { slots: 0 }));
        assert_eq!(Layout::new(placement, 33, 16), Err(LayoutError::Slots { slots: 33 }));
        assert_eq!(Layout::new(placement, 8, 12), Err(LayoutError::Lanes { lanes: 12 }));
        let placement = Placement::Internal { device_bytes: u64::MAX };
        assert!(matches!(Layout::new(placement, 8, 16), Err(LayoutError::TooLarge { .. })));
    }

    #[test]
    fn superblock_is_found_without_knowing_slots_and_lanes() {
        let placement = Placement::Internal { device_bytes: 777 << 20 };
        let places = Layout::superblock_places(placement);
        assert_eq!(places[0], (777 << 20) - 4096);
        for (slots, lanes) in [(3, 4), (8, 16), (32, 1)] {
            let layout = Layout::new(placement, slots, lanes).unwrap();
            assert!(places.contains(&layout.superblock_offsets[0]));
        }
    }
}
