//! The block space of a resource: its volumes, each at a place of its own that never moves.
//!
//! ```text
//! block    0           2^42          2 x 2^42                     15 x 2^42
//!          | volume 0 .. | volume 1 .. | volume 2 ..     ..        | volume 15 ..
//! page of  0           2^27          2 x 2^27
//! a lane
//! ```
//! Behind the end of a volume there is nothing up to the place of the next one: no block, no bit
//! and no byte on a disk. So a volume can grow without moving another, and a write of one never
//! reaches into another. The only volume of a resource has the first place, whatever its number is.
//! Places are whole multiples of an extent of every lane and of a bitmap page of every lane: lane
//! and bit of a block are the same counted from the start of its volume.

use std::ops::Range;

use crate::ids::{BLOCK_BYTES, BlockRange, EXTENT_BLOCKS};

/// Volumes of a resource: numbers below this, where there is more than one.
pub const VOLUMES_MAX: usize = 16;
/// From the place of one volume to that of the next.
pub const VOLUME_BLOCKS: u64 = 1 << VOLUME_BITS;
/// The same in bytes: the largest volume.
pub const VOLUME_BYTES: u64 = VOLUME_BLOCKS * BLOCK_BYTES;
/// From the first bitmap page of a lane in one volume to that in the next.
pub const VOLUME_PAGES: u32 = 1 << PAGE_BITS;

const VOLUME_BITS: u32 = 42;
/// One lane alone has a page for 2^15 blocks.
const PAGE_BITS: u32 = VOLUME_BITS - 15;

/// How many blocks each volume has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    blocks: [u64; VOLUMES_MAX],
}

/// The place of a volume in the block space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u8);

impl Place {
    pub const FIRST: Self = Self(0);

    /// # Errors
    /// There is no such place: the number is given back.
    pub fn new(number: u16) -> Result<Self, u16> {
        let place = u8::try_from(number).ok().filter(|&it| usize::from(it) < VOLUMES_MAX);
        place.map(Self).ok_or(number)
    }

    /// Where a block is, if there is a place for it.
    #[must_use]
    pub fn of_block(block: u64) -> Option<Self> {
        u16::try_from(block >> VOLUME_BITS).ok().and_then(|number| Self::new(number).ok())
    }

    /// Where a byte is, if there is a place for it.
    #[must_use]
    pub fn of_byte(offset: u64) -> Option<Self> {
        Self::of_block(offset / BLOCK_BYTES)
    }

    /// Where a bitmap page of a lane is, and its number in the volume.
    #[must_use]
    pub fn of_page(page: u32) -> (Option<Self>, u32) {
        let place = u16::try_from(page >> PAGE_BITS).ok().and_then(|it| Self::new(it).ok());
        (place, page % VOLUME_PAGES)
    }

    #[must_use]
    pub fn number(self) -> u8 {
        self.0
    }

    #[must_use]
    pub fn index(self) -> usize {
        self.0.into()
    }

    #[must_use]
    pub fn first_block(self) -> u64 {
        u64::from(self.0) << VOLUME_BITS
    }

    #[must_use]
    pub fn first_byte(self) -> u64 {
        self.first_block() * BLOCK_BYTES
    }

    #[must_use]
    pub fn first_page(self) -> u32 {
        u32::from(self.0) << PAGE_BITS
    }
}

impl Space {
    pub const EMPTY: Self = Self { blocks: [0; VOLUMES_MAX] };

    /// One volume, at the first place.
    #[must_use]
    pub fn of_one(blocks: u64) -> Self {
        Self::EMPTY.with(Place::FIRST, blocks)
    }

    #[must_use]
    pub fn with(mut self, place: Place, blocks: u64) -> Self {
        self.blocks[place.index()] = blocks.min(VOLUME_BLOCKS);
        self
    }

    #[must_use]
    pub fn blocks_at(&self, place: Place) -> u64 {
        self.blocks[place.index()]
    }

    #[must_use]
    pub fn bytes_at(&self, place: Place) -> u64 {
        self.blocks_at(place) * BLOCK_BYTES
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|&blocks| blocks == 0)
    }

    /// The places that have a volume.
    pub fn places(&self) -> impl Iterator<Item = Place> + use<> {
        let blocks = self.blocks;
        (0..).zip(blocks).filter(|&(_, blocks)| blocks > 0).map(|(number, _)| Place(number))
    }

    /// Blocks of all volumes.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks.iter().sum()
    }

    /// The block behind the last one of all.
    #[must_use]
    pub fn end(&self) -> u64 {
        let last = self.places().last().unwrap_or(Place::FIRST);
        last.first_block() + self.blocks_at(last)
    }

    /// The block behind the last one of the volume that `block` is in or behind.
    #[must_use]
    pub fn end_behind(&self, block: u64) -> u64 {
        let place = Place::of_block(block).unwrap_or(Place::FIRST);
        place.first_block() + self.blocks_at(place)
    }

    /// Whether all of these blocks are of one volume.
    #[must_use]
    #[inline(always)]
    pub fn contains(&self, range: BlockRange) -> bool {
        // Nearly always the first one: a write looks here more than once.
        let is_of_first = range.start <= self.blocks[0] && range.end() <= self.blocks[0];
        is_of_first || self.contains_further(range)
    }

    #[must_use]
    pub fn has(&self, block: u64) -> bool {
        self.contains(BlockRange::new(block, 1))
    }

    #[cold]
    fn contains_further(&self, range: BlockRange) -> bool {
        let volume = usize::try_from(range.start >> VOLUME_BITS).unwrap_or(VOLUMES_MAX);
        let start = range.start % VOLUME_BLOCKS;
        self.blocks.get(volume).is_some_and(|&blocks| start + u64::from(range.count) <= blocks)
    }

    /// What of these blocks, which are of one volume or behind it, the volume has.
    #[must_use]
    pub fn cut(&self, range: BlockRange) -> Option<BlockRange> {
        let left = self.end_behind(range.start).saturating_sub(range.start);
        let count = u32::try_from(left).map_or(range.count, |left| range.count.min(left));
        (count > 0).then(|| BlockRange::new(range.start, count))
    }

    /// The blocks from `block` on that follow each other, of this volume or of the next.
    #[must_use]
    pub fn span_from(&self, block: u64) -> Option<Range<u64>> {
        let spans = self.places().map(|place| {
            let first = place.first_block();
            first.max(block)..first + self.blocks_at(place)
        });
        spans.into_iter().find(|span| !span.is_empty())
    }

    /// The extents of all volumes.
    pub fn extents(&self) -> impl Iterator<Item = u64> + use<> {
        let space = *self;
        self.places().flat_map(move |place| {
            let first = place.first_block() / EXTENT_BLOCKS;
            first..first + space.blocks_at(place).div_ceil(EXTENT_BLOCKS)
        })
    }

    /// Every volume of `other` is here, and not shorter.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.blocks.iter().zip(&other.blocks).all(|(own, other)| own >= other)
    }

    /// As many blocks as both have together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut sum = *self;
        sum.blocks.iter_mut().zip(&other.blocks).for_each(|(own, &it)| *own += it);
        sum
    }

    /// What is in either.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        let mut all = *self;
        all.blocks.iter_mut().zip(&other.blocks).for_each(|(own, &it)| *own = it.max(*own));
        all
    }

    /// What is in both.
    #[must_use]
    pub fn common(&self, other: &Self) -> Self {
        let mut common = *self;
        common.blocks.iter_mut().zip(&other.blocks).for_each(|(own, &it)| *own = it.min(*own));
        common
    }
}

const _: () = assert!(
    VOLUME_BLOCKS.is_multiple_of(EXTENT_BLOCKS * 128 * 32),
    "a volume begins with a page of every lane, however many lanes there are"
);
const _: () = assert!((VOLUMES_MAX as u64) << PAGE_BITS <= 1 << 32, "pages have 32 bits");

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> Space {
        let place = |number| Place::new(number).unwrap();
        Space::of_one(5000).with(place(2), 3).with(place(15), 1024)
    }

    #[test]
    fn a_range_is_of_one_volume_or_of_none() {
        let range = BlockRange::new;
        for (start, count, is_inside) in [
            (0, 5000, true),
            (4999, 1, true),
            (4999, 2, false),
            (VOLUME_BLOCKS, 1, false),
            (2 * VOLUME_BLOCKS + 2, 1, true),
            (2 * VOLUME_BLOCKS + 2, 2, false),
            (15 * VOLUME_BLOCKS, 1024, true),
            (16 * VOLUME_BLOCKS, 1, false),
            (u64::MAX, 1, false),
        ] {
            assert_eq!(space().contains(range(start, count)), is_inside, "{start} {count}");
        }
    }

    #[test]
    fn a_range_is_cut_to_its_volume() {
        let range = BlockRange::new;
        let second = 2 * VOLUME_BLOCKS;
        for (whole, part) in [
            (range(4990, 10), Some(range(4990, 10))),
            (range(4990, 20), Some(range(4990, 10))),
            (range(5000, 1), None),
            (range(VOLUME_BLOCKS, 1), None),
            (range(second, 9), Some(range(second, 3))),
            (range(16 * VOLUME_BLOCKS, 9), None),
        ] {
            assert_eq!(space().cut(whole), part);
        }
    }

    #[test]
    fn spans_skip_what_is_not_there() {
        let second = 2 * VOLUME_BLOCKS;
        assert_eq!(space().span_from(10), Some(10..5000));
        assert_eq!(space().span_from(5000), Some(second..second + 3));
        assert_eq!(space().span_from(second + 1), Some(second + 1..second + 3));
        assert_eq!(space().span_from(space().end()), None);
        assert_eq!(space().end_behind(second + 100), second + 3);
        let extents: Vec<u64> = space().extents().collect();
        let first = |number: u64| number * VOLUME_BLOCKS / EXTENT_BLOCKS;
        assert_eq!(extents, [0, 1, 2, 3, 4, first(2), first(15)]);
    }

    #[test]
    fn the_smaller_of_two_is_in_both() {
        let other = Space::of_one(7).with(Place::new(1).unwrap(), 9);
        assert_eq!(space().common(&other), Space::of_one(7));
        assert!(space().covers(&Space::of_one(7)) && !space().covers(&other));
        assert_eq!(space().blocks(), 6027);
    }

    #[test]
    fn a_page_has_the_place_of_its_blocks() {
        let place = Place::new(3).unwrap();
        assert_eq!(Place::of_page(place.first_page() + 7), (Some(place), 7));
        assert_eq!(Place::of_page(VOLUME_PAGES * 16 + 1).0, None);
        assert_eq!(Place::of_byte(place.first_byte() + 1), Some(place));
        assert_eq!(Place::new(16), Err(16));
    }
}
