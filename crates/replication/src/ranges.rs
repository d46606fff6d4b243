//! A set of blocks as disjoint ranges: small sets of long runs.

use std::collections::BTreeMap;

use format::ids::{BlockRange, EXTENT_BLOCKS};
use format::space::Space;

/// Disjoint and not adjacent; the key is the first block, the value the block after the last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    runs: BTreeMap<u64, u64>,
}

impl RangeSet {
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub fn clear(&mut self) {
        self.runs.clear();
    }

    pub fn insert(&mut self, range: BlockRange) {
        if range.count == 0 {
            return;
        }
        self.insert_span(range.start, range.end());
    }

    fn insert_span(&mut self, mut start: u64, mut end: u64) {
        while let Some((&from, &to)) = self.runs.range(..=end).next_back() {
            if to < start {
                break;
            }
            self.runs.remove(&from);
            start = start.min(from);
            end = end.max(to);
        }
        self.runs.insert(start, end);
    }

    /// Covers the set with at most `most` ranges: of whole extents of a volume, or of twice as
    /// many again and again. No range is of two volumes.
    pub fn coarsen(&mut self, most: usize, space: &Space) {
        assert!(most >= space.places().count().max(1), "each volume may need a range");
        let mut grain = EXTENT_BLOCKS;
        while self.runs.len() > most {
            for (from, to) in std::mem::take(&mut self.runs) {
                let end = space.end_behind(from);
                self.insert_span(from / grain * grain, to.next_multiple_of(grain).min(end));
            }
            grain *= 2;
        }
    }

    pub fn remove(&mut self, range: BlockRange) {
        while let Some((&from, &to)) = self.runs.range(..range.end()).next_back() {
            if to <= range.start {
                break;
            }
            self.runs.remove(&from);
            if to > range.end() {
                self.runs.insert(range.end(), to);
            }
            if from < range.start {
                self.runs.insert(from, range.start);
            }
        }
    }

    #[must_use]
    pub fn overlaps(&self, range: BlockRange) -> bool {
        self.runs.range(..range.end()).next_back().is_some_and(|(_, &to)| to > range.start)
    }

    /// The first run of the set within `range`, cut to it.
    #[must_use]
    pub fn first_within(&self, range: BlockRange) -> Option<BlockRange> {
        let before = self.runs.range(..=range.start).next_back();
        let (&from, &to) = before
            .filter(|&(_, &to)| to > range.start)
            .or_else(|| self.runs.range(range.start..range.end()).next())?;
        let start = from.max(range.start);
        let end = to.min(range.end());
        (start < end).then(|| cut(start, end))
    }

    /// The runs in order, none longer than `u32::MAX` blocks.
    pub fn iter(&self) -> impl Iterator<Item = BlockRange> + '_ {
        const STEP: u64 = 1 << 30;
        self.runs.iter().flat_map(|(&from, &to)| {
            let pieces = (to - from).div_ceil(STEP);
            (0..pieces).map(move |piece| {
                let start = from + piece * STEP;
                cut(start, to.min(start + STEP))
            })
        })
    }

    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    #[must_use]
    pub fn blocks(&self) -> u64 {
        self.runs.iter().map(|(from, to)| to - from).sum()
    }
}

fn cut(start: u64, end: u64) -> BlockRange {
    BlockRange::new(start, u32::try_from(end - start).expect("a run is cut to 32 bits"))
}

impl Extend<BlockRange> for RangeSet {
    fn extend<T: IntoIterator<Item = BlockRange>>(&mut self, ranges: T) {
        for range in ranges {
            self.insert(range);
        }
    }
}

impl FromIterator<BlockRange> for RangeSet {
    fn from_iter<T: IntoIterator<Item = BlockRange>>(ranges: T) -> Self {
        let mut set = Self::default();
        set.extend(ranges);
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use stdx::random::Random;

    #[test]
    fn a_set_that_is_too_long_is_covered_and_stays_within_the_volume() {
        let mut random = Random::new(5);
        let blocks = 1_000 * EXTENT_BLOCKS - 10;
        let all: Vec<u64> = (0..5_000).map(|_| random.below(blocks)).chain([blocks - 1]).collect();
        for most in [1, 7, 100, 900] {
            let mut set: RangeSet = all.iter().map(|&block| BlockRange::new(block, 1)).collect();
            set.coarsen(most, &Space::of_one(blocks));
            assert!(set.runs() <= most, "{} of {most}", set.runs());
            assert!(all.iter().all(|&block| set.overlaps(BlockRange::new(block, 1))));
            assert!(set.iter().all(|run| run.end() <= blocks));
        }
    }

    #[test]
    fn behaves_like_a_set_of_blocks() {
        let mut random = Random::new(3);
        let mut model = BTreeSet::new();
        let mut set = RangeSet::default();
        for _ in 0..20_000 {
            let count = u32::try_from(1 + random.below(6)).unwrap();
            let range = BlockRange::new(random.below(64), count);
            match random.below(3) {
                0 => {
                    set.insert(range);
                    model.extend(range.blocks());
                }
                1 => {
                    set.remove(range);
                    model.retain(|block| !(range.start..range.end()).contains(block));
                }
                _ => {
                    let first = range.blocks().find(|block| model.contains(block));
                    assert_eq!(set.overlaps(range), first.is_some());
                    assert_eq!(set.first_within(range).map(|run| run.start), first);
                }
            }
            assert!(set.iter().flat_map(BlockRange::blocks).eq(model.iter().copied()));
            assert_eq!(set.blocks(), model.len() as u64);
        }
    }
}
