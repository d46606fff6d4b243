//! One lane's part of a bitmap slot: the blocks that a member misses.
//!
//! Bits are kept lane-major, as on disk: page `p` of a lane holds its extents `32 p .. 32 p + 32`,
//! counted among the extents of the lane only. So a page has one owner. Memory follows dirty
//! blocks: a page without bits is not held, and a slot that misses everything is one number
//! (`full_from`) until its pages are touched, but for pages that the disk did not have when it
//! became so.

use std::collections::BTreeMap;

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex};
use format::layout::{PAGE_BLOCKS, PAGE_EXTENTS};

use crate::contract::BitmapBits;

/// Words of a bitmap that track one extent.
pub const EXTENT_WORDS: usize = 16;
const _: () = assert!(EXTENT_WORDS as u64 * 64 == EXTENT_BLOCKS, "a bit for each block");

#[derive(Clone, Debug)]
pub struct Bitmap {
    lane: u64,
    lanes: u64,
    /// Blocks of the whole volume.
    blocks: u64,
    pages: BTreeMap<u32, Page>,
    /// Pages from here on that are not held have every bit set.
    full_from: u32,
    ones: u64,
}

#[derive(Clone, Debug)]
struct Page {
    bits: Box<BitmapBits>,
    ones: u32,
    /// The page on disk differs.
    unsaved: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Set,
    Clear,
}

impl Bitmap {
    #[must_use]
    pub fn new(lane: LaneIndex, lanes: u8, blocks: u64) -> Self {
        let (lane, lanes) = (u64::from(lane.0), u64::from(lanes));
        let mut bitmap =
            Self { lane, lanes, blocks, pages: BTreeMap::new(), full_from: 0, ones: 0 };
        bitmap.full_from = bitmap.page_count();
        bitmap
    }

    /// Takes out of a page as read from disk what it marks behind the end of the lane, and says
    /// whether that was anything: no page was written so, and a disk may give back other bytes.
    #[must_use]
    pub fn cut_off(&self, page: u32, bits: &mut BitmapBits) -> bool {
        if page + 1 < self.page_count() {
            return false;
        }
        let mut has_marks = false;
        for (word, within) in bits.iter_mut().zip(self.page_mask(page).iter()) {
            has_marks |= *word & !within != 0;
            *word &= within;
        }
        has_marks
    }

    /// Takes over a page as read from disk, once what is behind the end was cut off.
    ///
    /// # Panics
    /// If the lane has no such page.
    pub fn load(&mut self, page: u32, bits: Box<BitmapBits>) {
        assert!(page < self.page_count(), "a page beyond the end of the lane");
        let ones = bits.iter().map(|word| word.count_ones()).sum();
        self.ones += u64::from(ones);
        self.pages.insert(page, Page { bits, ones, unsaved: false });
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ones == 0
    }

    /// Blocks that are marked.
    #[must_use]
    pub fn ones(&self) -> u64 {
        self.ones
    }

    /// Marks `range`, which lies within one extent of this lane.
    pub fn set(&mut self, range: BlockRange) {
        self.change(range, Mark::Set);
    }

    pub fn clear(&mut self, range: BlockRange) {
        self.change(range, Mark::Clear);
    }

    /// Marks nothing any more. Pages that may be non-zero on disk are written as zeroes later.
    pub fn set_none(&mut self) {
        self.full_from = self.page_count();
        self.ones = 0;
        for page in self.pages.values_mut() {
            page.bits.fill(0);
            page.ones = 0;
            page.unsaved = true;
        }
    }

    /// Blocks that are covered: marks behind them are none.
    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The volume has so many blocks. Marks behind its end are forgotten; a larger one is not
    /// marked where it is new, unless everything before it is (`full_from`).
    pub fn cover(&mut self, blocks: u64) {
        if self.blocks == blocks {
            return;
        }
        let is_full = self.full_from < self.page_count();
        self.blocks = blocks;
        let count = self.page_count();
        self.full_from = if is_full { self.full_from.min(count) } else { count };
        self.pages.retain(|&page, _| page < count);
        if let Some(last) = count.checked_sub(1)
            && let Some(mut held) = self.pages.remove(&last)
        {
            let within = self.page_mask(last);
            for (word, within) in held.bits.iter_mut().zip(within.iter()) {
                *word &= within;
            }
            held.ones = held.bits.iter().map(|word| word.count_ones()).sum();
            self.pages.insert(last, held);
        }
        self.fill_held();
        let held = self.pages.range(..self.full_from).map(|(_, page)| u64::from(page.ones));
        self.ones = held.sum::<u64>() + self.blocks_from_page(self.full_from);
    }

    /// Marks what the lane has of the blocks from `from` on, which may be a great part of it.
    pub fn set_from(&mut self, from: u64) {
        let first = self.local_at_or_after(from) / EXTENT_BLOCKS;
        for extent in first..self.extent_count() {
            let start = (extent * self.lanes + self.lane) * EXTENT_BLOCKS;
            let end = start + self.extent_blocks(extent);
            let start = start.max(from);
            self.set(BlockRange::new(start, u32::try_from(end - start).expect("one extent")));
        }
    }

    /// Marks every block of the lane. What the disk did not have of it yet is still owed to it:
    /// until the header there says that the slot is full, nothing else keeps these marks.
    pub fn set_all(&mut self) {
        self.pages.retain(|_, held| held.unsaved);
        self.full_from = 0;
        self.fill_held();
        self.ones = (0..self.extent_count()).map(|extent| self.extent_blocks(extent)).sum();
    }

    /// The first run of marked blocks, not longer than `limit`, at or after absolute block `from`
    /// in the order of the lane's extents.
    #[must_use]
    pub fn next_run(&self, from: u64, limit: u32) -> Option<BlockRange> {
        let mut local = self.local_at_or_after(from);
        let end = self.extent_count() * EXTENT_BLOCKS;
        while local < end {
            let page = page_of(local);
            let page_end = (u64::from(page) + 1) * PAGE_BLOCKS;
            match self.pages.get(&page) {
                None if page >= self.full_from => return self.full_run(local, limit),
                None => local = page_end,
                Some(held) => match next_one(&held.bits, local % PAGE_BLOCKS) {
                    Some(bit) => return Some(self.run_in_page(held, page, bit, limit)),
                    None => local = page_end,
                },
            }
        }
        None
    }

    /// Pages of the extent of `block` that the disk does not have yet.
    #[must_use]
    pub fn unsaved_page(&self, block: u64) -> Option<u32> {
        let page = page_of(self.local(block));
        self.pages.get(&page).is_some_and(|held| held.unsaved).then_some(page)
    }

    /// Whether the disk does not have this page yet.
    #[must_use]
    pub fn is_unsaved(&self, page: u32) -> bool {
        self.pages.get(&page).is_some_and(|held| held.unsaved)
    }

    /// The page of the lane that tracks `block`.
    #[must_use]
    pub fn page_of(&self, block: u64) -> u32 {
        page_of(self.local(block))
    }

    /// Pages that the disk does not have yet, in order.
    pub fn unsaved(&self) -> impl Iterator<Item = u32> + '_ {
        self.pages.iter().filter(|(_, held)| held.unsaved).map(|(&page, _)| page)
    }

    /// What to write for `page`, which counts as saved from now on: a bit set later makes it
    /// unsaved again.
    pub fn save(&mut self, page: u32) -> Box<BitmapBits> {
        let Some(held) = self.pages.get_mut(&page) else {
            return Box::new([0; 512]);
        };
        held.unsaved = false;
        let bits = held.bits.clone();
        if held.ones == 0 || page >= self.full_from {
            self.pages.remove(&page);
        }
        bits
    }

    /// Takes the bitmap apart into its pages.
    pub fn take_pages(self) -> impl Iterator<Item = (u32, Box<BitmapBits>)> {
        self.pages.into_iter().map(|(page, held)| (page, held.bits))
    }

    #[must_use]
    pub fn contains(&self, block: u64) -> bool {
        let local = self.local(block);
        let page = page_of(local);
        match self.pages.get(&page) {
            Some(held) => held.bits[word_of(local)] & mask_of(local) != 0,
            None => page >= self.full_from,
        }
    }

    /// The marks of an extent of this lane, 64 blocks a word; for checkers.
    #[must_use]
    pub fn extent(&self, extent: u64) -> [u64; EXTENT_WORDS] {
        let local = self.local(extent * EXTENT_BLOCKS);
        let page = page_of(local);
        match self.pages.get(&page) {
            Some(held) => std::array::from_fn(|word| held.bits[word_of(local) + word]),
            None if page >= self.full_from => [u64::MAX; EXTENT_WORDS],
            None => [0; EXTENT_WORDS],
        }
    }

    /// All marked runs; for tests and reports.
    pub fn runs(&self) -> impl Iterator<Item = BlockRange> + '_ {
        let mut from = Some(self.lane * EXTENT_BLOCKS);
        std::iter::from_fn(move || {
            let run = self.next_run(from?, 1024)?;
            from = Some(run.end());
            Some(run)
        })
    }

    fn change(&mut self, range: BlockRange, mark: Mark) {
        if range.count == 0 {
            return;
        }
        assert_eq!(range.extent() % self.lanes, self.lane, "a range of another lane");
        assert_eq!(range.extent(), (range.end() - 1) / EXTENT_BLOCKS, "a range over two extents");
        let first = self.local(range.start);
        let page = page_of(first);
        self.materialise(page);
        if mark == Mark::Clear && !self.pages.contains_key(&page) {
            return;
        }
        let held = self.pages.entry(page).or_insert_with(Page::zeroed);
        let before = held.ones;
        for local in first..first + u64::from(range.count) {
            let word = &mut held.bits[word_of(local)];
            let bit = mask_of(local);
            if mark == Mark::Set && *word & bit == 0 {
                *word |= bit;
                held.ones += 1;
            } else if mark == Mark::Clear && *word & bit != 0 {
                *word &= !bit;
                held.ones -= 1;
            }
        }
        held.unsaved |= held.ones != before;
        self.ones = self.ones - u64::from(before) + u64::from(held.ones);
    }

    /// Turns what `full_from` says of the pages up to `page` into held pages.
    fn materialise(&mut self, page: u32) {
        while self.full_from <= page {
            let held = self.full_page(self.full_from);
            self.pages.insert(self.full_from, held);
            self.full_from += 1;
        }
    }

    /// Pages that are held behind `full_from` have every bit set like all others there.
    fn fill_held(&mut self) {
        let held: Vec<u32> = self.pages.range(self.full_from..).map(|(&page, _)| page).collect();
        for page in held {
            let full = self.full_page(page);
            self.pages.insert(page, full);
        }
    }

    /// Which bits of a page belong to blocks of the volume.
    fn page_mask(&self, page: u32) -> Box<BitmapBits> {
        self.full_page(page).bits
    }

    /// Blocks of the pages from `page` on.
    fn blocks_from_page(&self, page: u32) -> u64 {
        let first = (u64::from(page) * PAGE_EXTENTS).min(self.extent_count());
        let Some(last) = self.extent_count().checked_sub(1).filter(|&last| last >= first) else {
            return 0;
        };
        (last - first) * EXTENT_BLOCKS + self.extent_blocks(last)
    }

    fn full_page(&self, page: u32) -> Page {
        let mut held = Page::zeroed();
        for index in 0..PAGE_EXTENTS {
            let extent = u64::from(page) * PAGE_EXTENTS + index;
            if extent >= self.extent_count() {
                break;
            }
            for block in 0..self.extent_blocks(extent) {
                let local = index * EXTENT_BLOCKS + block;
                held.bits[word_of(local)] |= mask_of(local);
                held.ones += 1;
            }
        }
        held.unsaved = true;
        held
    }

    fn full_run(&self, local: u64, limit: u32) -> Option<BlockRange> {
        let (extent, within) = (local / EXTENT_BLOCKS, local % EXTENT_BLOCKS);
        let valid = self.extent_blocks(extent);
        if within >= valid {
            // Only the last extent of a volume is short, and nothing follows it.
            return None;
        }
        let count = (valid - within).min(u64::from(limit));
        Some(BlockRange::new(self.absolute(local), u32::try_from(count).expect("within an extent")))
    }

    fn run_in_page(&self, held: &Page, page: u32, bit: u64, limit: u32) -> BlockRange {
        let extent_end = (bit / EXTENT_BLOCKS + 1) * EXTENT_BLOCKS;
        let end = extent_end.min(bit + u64::from(limit));
        let stop = (bit..end).find(|&b| held.bits[word_of(b)] & mask_of(b) == 0).unwrap_or(end);
        let start = self.absolute(u64::from(page) * PAGE_BLOCKS + bit);
        BlockRange::new(start, u32::try_from(stop - bit).expect("within an extent"))
    }

    /// Extents of this lane.
    fn extent_count(&self) -> u64 {
        let extents = self.blocks.div_ceil(EXTENT_BLOCKS);
        (extents + self.lanes - 1 - self.lane.min(extents + self.lanes - 1)) / self.lanes
    }

    /// Blocks of the lane's extent number `extent`.
    fn extent_blocks(&self, extent: u64) -> u64 {
        let start = (extent * self.lanes + self.lane) * EXTENT_BLOCKS;
        self.blocks.saturating_sub(start).min(EXTENT_BLOCKS)
    }

    fn page_count(&self) -> u32 {
        u32::try_from(self.extent_count().div_ceil(PAGE_EXTENTS)).expect("a device is below 1 EiB")
    }

    fn local(&self, block: u64) -> u64 {
        block / EXTENT_BLOCKS / self.lanes * EXTENT_BLOCKS + block % EXTENT_BLOCKS
    }

    fn local_at_or_after(&self, block: u64) -> u64 {
        let extent = block / EXTENT_BLOCKS;
        match extent % self.lanes {
            lane if lane == self.lane => self.local(block),
            lane if lane < self.lane => extent / self.lanes * EXTENT_BLOCKS,
            _ => (extent / self.lanes + 1) * EXTENT_BLOCKS,
        }
    }

    fn absolute(&self, local: u64) -> u64 {
        (local / EXTENT_BLOCKS * self.lanes + self.lane) * EXTENT_BLOCKS + local % EXTENT_BLOCKS
    }
}

impl Page {
    fn zeroed() -> Self {
        Self { bits: Box::new([0; 512]), ones: 0, unsaved: false }
    }
}

fn page_of(local: u64) -> u32 {
    u32::try_from(local / PAGE_BLOCKS).expect("a device is below 1 EiB")
}

fn word_of(local: u64) -> usize {
    usize::try_from(local % PAGE_BLOCKS / 64).expect("below 512")
}

fn mask_of(local: u64) -> u64 {
    1 << (local % 64)
}

fn next_one(bits: &BitmapBits, from: u64) -> Option<u64> {
    let mut word = word_of(from);
    let mut value = bits[word] & (u64::MAX << (from % 64));
    loop {
        if value != 0 {
            return Some(word as u64 * 64 + u64::from(value.trailing_zeros()));
        }
        word += 1;
        value = *bits.get(word)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stdx::random::Random;

    const LANES: u8 = 4;
    const BLOCKS: u64 = 300 * EXTENT_BLOCKS - 100;

    fn lane_blocks(lane: u64) -> BTreeSet<u64> {
        (0..BLOCKS).filter(|block| block / EXTENT_BLOCKS % u64::from(LANES) == lane).collect()
    }

    /// What lies on disks of every release.
    #[test]
    fn each_block_has_its_bit_in_a_page_of_its_lane() {
        let place_of = |block: u64| {
            let lane = format::ids::lane_of_block(block, 2);
            let mut bitmap = Bitmap::new(lane, 2, 70 * EXTENT_BLOCKS);
            bitmap.set(BlockRange::new(block, 1));
            let pages: Vec<(u32, Page)> = bitmap.pages.into_iter().collect();
            let [(page, held)] = &pages[..] else { panic!("one page: {pages:?}") };
            (*page, next_one(&held.bits, 0).unwrap())
        };
        assert_eq!(place_of(1024), (0, 0), "the first extent of lane 1");
        assert_eq!(place_of(2 * 1024), (0, 1024), "the second extent of lane 0");
        assert_eq!(place_of(64 * 1024 + 5), (1, 5), "the 33rd extent of lane 0");
    }

    #[test]
    fn behaves_like_a_set_of_blocks() {
        for lane in 0..u64::from(LANES) {
            let mut random = Random::new(lane);
            let all = lane_blocks(lane);
            let mut bitmap = Bitmap::new(LaneIndex(u8::try_from(lane).unwrap()), LANES, BLOCKS);
            let mut model = BTreeSet::new();
            for step in 0..3000 {
                let extent = random.below(75) * u64::from(LANES) + lane;
                let start = extent * EXTENT_BLOCKS + random.below(900);
                let range = BlockRange::new(start, 1 + u32::try_from(random.below(20)).unwrap());
                match random.below(20) {
                    0 if step % 7 == 0 => {
                        bitmap.set_all();
                        model = all.clone();
                    }
                    1 => {
                        bitmap.set_none();
                        model.clear();
                    }
                    2..=10 => {
                        bitmap.set(range);
                        model.extend(range.blocks());
                    }
                    11..=18 => {
                        bitmap.clear(range);
                        model.retain(|block| !(range.start..range.end()).contains(block));
                    }
                    _ => {
                        let found = bitmap.next_run(start, 8);
                        let first = model.range(start..).next().copied();
                        assert_eq!(found.map(|run| run.start), first);
                    }
                }
                assert_eq!(bitmap.ones(), model.len() as u64);
            }
            assert!(bitmap.runs().flat_map(BlockRange::blocks).eq(model.iter().copied()));
        }
    }

    #[test]
    fn marks_follow_the_size_of_the_volume() {
        let mut random = Random::new(7);
        for round in 0..60 {
            let mut bitmap = Bitmap::new(LaneIndex(1), LANES, BLOCKS);
            let mut model = BTreeSet::new();
            let mut blocks = BLOCKS;
            let mut is_full = false;
            if round % 4 == 0 {
                if round % 8 == 0 {
                    bitmap.set_from(random.below(BLOCKS));
                }
                bitmap.set_all();
                model = lane_blocks(1);
                is_full = true;
            }
            for _ in 0..12 {
                let next = 1 + random.below(2 * BLOCKS);
                bitmap.cover(next);
                model.retain(|&block| block < next);
                let new = (blocks..next).filter(|it| it / EXTENT_BLOCKS % u64::from(LANES) == 1);
                if is_full || random.chance(1, 2) {
                    bitmap.set_from(blocks.min(next));
                    model.extend(new);
                }
                blocks = next;
                assert_eq!(bitmap.ones(), model.len() as u64, "{next} blocks");
                assert!(bitmap.runs().flat_map(BlockRange::blocks).eq(model.iter().copied()));
            }
        }
    }

    #[test]
    fn a_full_slot_of_100_tib_costs_no_memory() {
        let blocks = (100 << 40) / 4096;
        let mut bitmap = Bitmap::new(LaneIndex(3), 16, blocks);
        bitmap.set_all();
        assert_eq!(bitmap.ones(), blocks / 16);
        assert!(bitmap.pages.is_empty());
    }

    #[test]
    fn pages_of_a_slot_that_becomes_full_are_owed_to_the_disk_as_before() {
        let mut bitmap = Bitmap::new(LaneIndex(1), LANES, BLOCKS);
        let marked = BlockRange::new(EXTENT_BLOCKS + 5, 3);
        bitmap.set(marked);
        bitmap.set_all();
        assert_eq!(bitmap.unsaved_page(marked.start), Some(0));
        assert_eq!(bitmap.unsaved().collect::<Vec<_>>(), [0], "nothing else is");
        let bits = bitmap.save(0);
        assert!(bits.iter().all(|&word| word == u64::MAX));
        assert!(bitmap.pages.is_empty(), "it is one number again");
        assert_eq!(bitmap.ones(), lane_blocks(1).len() as u64);
    }

    #[test]
    fn saved_pages_come_back_equal_and_zero_pages_are_dropped() {
        let mut bitmap = Bitmap::new(LaneIndex(1), LANES, BLOCKS);
        let range = BlockRange::new(EXTENT_BLOCKS + 5, 3);
        bitmap.set(range);
        let page = bitmap.unsaved().next().unwrap();
        let bits = bitmap.save(page);
        assert_eq!(bitmap.unsaved().next(), None);
        let mut loaded = Bitmap::new(LaneIndex(1), LANES, BLOCKS);
        loaded.load(page, bits);
        assert_eq!(loaded.runs().collect::<Vec<_>>(), [range]);
        loaded.clear(range);
        assert_eq!(loaded.unsaved().next(), Some(page), "the zeroes have to reach the disk");
        assert_eq!(*loaded.save(page), [0; 512]);
        assert!(loaded.pages.is_empty());
    }
}
