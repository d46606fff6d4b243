//! How many operations a new one has to wait for: nearly always none, which is seen at once.
//!
//! Of all that were admitted a lane keeps the places, in one word of 64 bits. What shares no bit
//! with it overlaps nothing. What shares one is compared with each operation, and the word is made
//! anew of those that are under way still: nothing is counted when one finishes.

use format::ids::{BlockRange, EXTENT_BLOCKS};

use crate::lane::Leader;

impl Leader {
    /// How many operations overlap a range that one more is about to hold.
    #[inline(always)]
    pub(crate) fn count_overlapping(&mut self, range: BlockRange) -> usize {
        let places = places_of(range);
        let is_apart = self.held_places & places == 0;
        self.held_places |= places;
        if is_apart { 0 } else { self.look_for_overlaps(range) }
    }

    #[inline(never)]
    fn look_for_overlaps(&mut self, range: BlockRange) -> usize {
        let mut count = 0;
        self.held_places = places_of(range);
        for other in self.operations.values() {
            self.held_places |= places_of(other.range);
            count += usize::from(other.range.overlaps(range));
        }
        count
    }
}

/// A bit for each sixteen blocks, the same one again in each extent.
#[inline(always)]
fn places_of(range: BlockRange) -> u64 {
    const BLOCKS: u64 = EXTENT_BLOCKS / 64;
    let (first, last) = (range.start / BLOCKS, range.end().saturating_sub(1) / BLOCKS);
    let further = last.saturating_sub(first).min(63);
    (u64::MAX >> (63 - further)).rotate_left(u32::try_from(first % 64).expect("a small remainder"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stdx::random::Random;

    #[test]
    fn ranges_that_overlap_share_a_place() {
        let mut random = Random::new(3);
        let mut range = |longest| {
            let count = u32::try_from(1 + random.below(longest)).unwrap();
            BlockRange::new(random.below(3 * EXTENT_BLOCKS), count)
        };
        let mut apart = 0;
        for longest in [1, 16, 17, 100, EXTENT_BLOCKS, 2 * EXTENT_BLOCKS] {
            for _ in 0..20_000 {
                let (one, other) = (range(longest), range(longest));
                let shares = places_of(one) & places_of(other) != 0;
                assert!(shares || !one.overlaps(other), "{one:?} and {other:?}");
                apart += usize::from(!shares);
            }
        }
        assert!(apart > 40_000, "most short ones share none, in {apart} pairs");
        let block = |start| places_of(BlockRange::new(start, 1));
        assert_eq!((block(15), block(16), block(EXTENT_BLOCKS - 1)), (1, 2, 1 << 63));
    }
}
