//! What a bitmap slot holds in one lane: a bitmap for each volume of the resource.
//!
//! Volumes have places in one block space, far apart. Each has a bitmap of its own, counted from
//! its place; pages are numbered likewise. Nearly every resource has one volume, and no list.

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex};
use format::space::{Place, Space, VOLUME_BLOCKS};

use crate::bitmap::{Bitmap, EXTENT_WORDS};
use crate::contract::BitmapBits;

#[derive(Clone, Debug)]
pub struct Marks {
    first: Bitmap,
    /// Of the volumes behind the first, in order.
    further: Vec<(Place, Bitmap)>,
    lane: LaneIndex,
    lanes: u8,
}

impl Marks {
    #[must_use]
    pub fn new(lane: LaneIndex, lanes: u8, space: &Space) -> Self {
        let bitmap = |place| Bitmap::new(lane, lanes, space.blocks_at(place));
        let further = space.places().filter(|&place| place != Place::FIRST);
        let further = further.map(|place| (place, bitmap(place))).collect();
        Self { first: bitmap(Place::FIRST), further, lane, lanes }
    }

    /// Takes over a page as read from disk.
    pub fn load(&mut self, page: u32, bits: Box<BitmapBits>) {
        let (place, page) = Place::of_page(page);
        self.at_mut(place.expect("pages are of volumes that the disk has")).load(page, bits);
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        let has_further = || !self.further.iter().all(|(_, bitmap)| bitmap.is_empty());
        self.first.is_empty() && (self.further.is_empty() || !has_further())
    }

    /// Blocks that are marked.
    #[must_use]
    pub fn ones(&self) -> u64 {
        self.first.ones() + self.further.iter().map(|(_, bitmap)| bitmap.ones()).sum::<u64>()
    }

    /// The same for each volume.
    #[must_use]
    pub fn counts(&self) -> Space {
        let counts = self.all();
        counts.fold(Space::EMPTY, |counts, (place, bitmap)| counts.with(place, bitmap.ones()))
    }

    /// Marks `range`, which lies within one extent of this lane.
    pub fn set(&mut self, range: BlockRange) {
        let (place, range) = local(range);
        self.at_mut(place).set(range);
    }

    pub fn clear(&mut self, range: BlockRange) {
        let (place, range) = local(range);
        self.at_mut(place).clear(range);
    }

    /// Marks nothing any more. Pages that may be non-zero on disk are written as zeroes later.
    pub fn set_none(&mut self) {
        self.first.set_none();
        self.further.iter_mut().for_each(|(_, bitmap)| bitmap.set_none());
    }

    /// The volumes have so many blocks: marks behind their ends are forgotten, what is new is not
    /// marked, unless all of a volume is.
    pub fn cover(&mut self, space: &Space) {
        for place in space.places() {
            let _ = self.at_mut(place);
        }
        self.first.cover(space.blocks_at(Place::FIRST));
        self.further.iter_mut().for_each(|(place, bitmap)| bitmap.cover(space.blocks_at(*place)));
    }

    /// Blocks that are covered: marks behind them are none.
    #[must_use]
    pub fn space(&self) -> Space {
        let all = self.all();
        all.fold(Space::EMPTY, |space, (place, bitmap)| space.with(place, bitmap.blocks()))
    }

    /// Marks what the lane has of the volume of block `from`, from there on.
    pub fn set_from(&mut self, from: u64) {
        let (place, from) = local_block(from);
        self.at_mut(place).set_from(from);
    }

    /// Marks every block of the lane.
    pub fn set_all(&mut self) {
        self.first.set_all();
        self.further.iter_mut().for_each(|(_, bitmap)| bitmap.set_all());
    }

    /// The first run of marked blocks, not longer than `limit`, at or after absolute block `from`
    /// in the order of the lane's extents.
    #[must_use]
    pub fn next_run(&self, from: u64, limit: u32) -> Option<BlockRange> {
        if self.further.is_empty() {
            return self.first.next_run(from, limit);
        }
        self.all().find_map(|(place, bitmap)| {
            let base = place.first_block();
            let from = from.saturating_sub(base);
            let run = (from < VOLUME_BLOCKS).then(|| bitmap.next_run(from, limit))??;
            Some(BlockRange::new(base + run.start, run.count))
        })
    }

    /// Pages of the extent of `block` that the disk does not have yet.
    #[must_use]
    pub fn unsaved_page(&self, block: u64) -> Option<u32> {
        let (place, block) = local_block(block);
        let page = self.at(place)?.unsaved_page(block)?;
        Some(place.first_page() + page)
    }

    /// Whether the disk does not have this page yet.
    #[must_use]
    pub fn is_unsaved(&self, page: u32) -> bool {
        let (place, page) = Place::of_page(page);
        place.and_then(|place| self.at(place)).is_some_and(|bitmap| bitmap.is_unsaved(page))
    }

    /// The page of the lane that tracks `block`.
    #[must_use]
    pub fn page_of(&self, block: u64) -> u32 {
        let (place, block) = local_block(block);
        place.first_page() + self.at(place).map_or(0, |bitmap| bitmap.page_of(block))
    }

    /// Pages that the disk does not have yet, in order.
    pub fn unsaved(&self) -> impl Iterator<Item = u32> + '_ {
        self.all()
            .flat_map(|(place, bitmap)| bitmap.unsaved().map(move |it| place.first_page() + it))
    }

    /// What to write for `page`, which counts as saved from now on: a bit set later makes it
    /// unsaved again.
    pub fn save(&mut self, page: u32) -> Box<BitmapBits> {
        let (place, page) = Place::of_page(page);
        self.at_mut(place.expect("pages are of volumes")).save(page)
    }

    /// Takes the bitmaps apart into their pages.
    pub fn take_pages(self) -> impl Iterator<Item = (u32, Box<BitmapBits>)> {
        let all = std::iter::once((Place::FIRST, self.first)).chain(self.further);
        all.flat_map(|(place, bitmap)| {
            bitmap.take_pages().map(move |(page, bits)| (place.first_page() + page, bits))
        })
    }

    #[must_use]
    pub fn contains(&self, block: u64) -> bool {
        let (place, block) = local_block(block);
        self.at(place).is_some_and(|bitmap| bitmap.contains(block))
    }

    /// The marks of an extent of this lane, 64 blocks a word; for checkers.
    #[must_use]
    pub fn extent(&self, extent: u64) -> [u64; EXTENT_WORDS] {
        let (place, block) = local_block(extent * EXTENT_BLOCKS);
        self.at(place).map_or([0; EXTENT_WORDS], |bitmap| bitmap.extent(block / EXTENT_BLOCKS))
    }

    /// All marked runs; for tests and reports.
    pub fn runs(&self) -> impl Iterator<Item = BlockRange> + '_ {
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let run = self.next_run(from?, 1024)?;
            from = Some(run.end());
            Some(run)
        })
    }

    fn all(&self) -> impl Iterator<Item = (Place, &Bitmap)> {
        let further = self.further.iter().map(|(place, bitmap)| (*place, bitmap));
        std::iter::once((Place::FIRST, &self.first)).chain(further)
    }

    fn at(&self, place: Place) -> Option<&Bitmap> {
        if place == Place::FIRST {
            return Some(&self.first);
        }
        self.further.iter().find(|(known, _)| *known == place).map(|(_, bitmap)| bitmap)
    }

    /// A volume that the disk does not have is empty: nothing of it is ever marked.
    fn at_mut(&mut self, place: Place) -> &mut Bitmap {
        if place == Place::FIRST {
            return &mut self.first;
        }
        let index = self.further.partition_point(|(known, _)| known.number() < place.number());
        if self.further.get(index).is_none_or(|(known, _)| *known != place) {
            self.further.insert(index, (place, Bitmap::new(self.lane, self.lanes, 0)));
        }
        &mut self.further[index].1
    }
}

/// The volume of a block, and its number there.
fn local_block(block: u64) -> (Place, u64) {
    let place = Place::of_block(block).expect("blocks are of volumes");
    (place, block - place.first_block())
}

fn local(range: BlockRange) -> (Place, BlockRange) {
    let (place, start) = local_block(range.start);
    (place, BlockRange::new(start, range.count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stdx::random::Random;

    const LANES: u8 = 4;

    fn place(number: u16) -> Place {
        Place::new(number).unwrap()
    }

    fn space() -> Space {
        Space::of_one(70 * EXTENT_BLOCKS - 100)
            .with(place(1), 9 * EXTENT_BLOCKS + 7)
            .with(place(5), 3)
    }

    fn blocks_of(lane: u64) -> BTreeSet<u64> {
        let extents = space().extents().filter(|extent| extent % u64::from(LANES) == lane);
        extents
            .flat_map(|it| {
                it * EXTENT_BLOCKS
                    ..space().end_behind(it * EXTENT_BLOCKS).min((it + 1) * EXTENT_BLOCKS)
            })
            .collect()
    }

    #[test]
    fn behave_like_a_set_of_blocks_over_all_volumes() {
        for lane in 0..u64::from(LANES) {
            let mut random = Random::new(lane);
            let all = blocks_of(lane);
            let places: Vec<u64> = all.iter().copied().collect();
            let lane = LaneIndex(u8::try_from(lane).unwrap());
            let mut marks = Marks::new(lane, LANES, &space());
            let mut model = BTreeSet::new();
            for step in 0..3000 {
                let start = *random.pick(&places).unwrap();
                let count = (start..start + 1 + random.below(20))
                    .take_while(|it| {
                        it / EXTENT_BLOCKS == start / EXTENT_BLOCKS && all.contains(it)
                    })
                    .count();
                let range = BlockRange::new(start, u32::try_from(count).unwrap());
                match random.below(20) {
                    0 if step % 7 == 0 => {
                        marks.set_all();
                        model = all.clone();
                    }
                    1 => {
                        marks.set_none();
                        model.clear();
                    }
                    2..=10 => {
                        marks.set(range);
                        model.extend(range.blocks());
                    }
                    11..=18 => {
                        marks.clear(range);
                        model.retain(|block| !(range.start..range.end()).contains(block));
                    }
                    _ => {
                        let first = model.range(start..).next().copied();
                        assert_eq!(marks.next_run(start, 8).map(|run| run.start), first);
                    }
                }
                assert_eq!(marks.ones(), model.len() as u64);
                assert_eq!(marks.contains(start), model.contains(&start));
            }
            assert!(marks.runs().flat_map(BlockRange::blocks).eq(model.iter().copied()));
        }
    }

    #[test]
    fn pages_come_back_to_the_volume_that_they_are_of() {
        let mut marks = Marks::new(LaneIndex(1), LANES, &space());
        let first = BlockRange::new(EXTENT_BLOCKS + 5, 3);
        let second = BlockRange::new(place(1).first_block() + EXTENT_BLOCKS + 5, 2);
        marks.set(first);
        marks.set(second);
        let unsaved: Vec<u32> = marks.unsaved().collect();
        assert_eq!(unsaved, [0, place(1).first_page()]);
        assert_eq!(marks.unsaved_page(second.start), Some(place(1).first_page()));
        let mut loaded = Marks::new(LaneIndex(1), LANES, &space());
        for page in unsaved {
            loaded.load(page, marks.save(page));
        }
        assert_eq!(loaded.runs().collect::<Vec<_>>(), [first, second]);
        assert_eq!(loaded.counts().blocks_at(place(1)), 2);
        assert_eq!(loaded.space(), space());
    }
}
