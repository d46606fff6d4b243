//! What blocks hold: the ids of the writes that put it there, by quarters.
//!
//! A whole-block write leaves its id, and 0 is zeroes. A block that was written in part, or torn,
//! is one number as well: `Contents` knows which write each quarter is of.

use std::collections::BTreeMap;

pub(crate) const SECTORS: usize = 4;
pub(crate) const SECTOR_BYTES: u32 = 1024;

/// The ids of a block's quarters, in order.
pub(crate) type Sectors = [u64; SECTORS];

/// Numbers from here on are mixtures.
const FIRST: u64 = 1 << 48;

#[derive(Debug, Default)]
pub(crate) struct Contents {
    known: Vec<Sectors>,
    numbers: BTreeMap<Sectors, u64>,
    has_torn: bool,
}

impl Contents {
    pub(crate) fn sectors(&self, content: u64) -> Sectors {
        match content.checked_sub(FIRST) {
            None => [content; SECTORS],
            Some(index) => self.known[usize::try_from(index).expect("an index")],
        }
    }

    pub(crate) fn number(&mut self, sectors: Sectors) -> u64 {
        if sectors.iter().all(|&id| id == sectors[0]) {
            return sectors[0];
        }
        let next = FIRST + self.known.len() as u64;
        let number = *self.numbers.entry(sectors).or_insert(next);
        if number == next {
            self.known.push(sectors);
        }
        number
    }

    /// Puts `patch`, one id per sector, over `blocks` from sector `at` on.
    pub(crate) fn overlay(&mut self, blocks: &mut [u64], patch: &[u64], at: usize) {
        for (offset, &id) in patch.iter().enumerate() {
            let sector = at + offset;
            let block = &mut blocks[sector / SECTORS];
            let mut sectors = self.sectors(*block);
            sectors[sector % SECTORS] = id;
            *block = self.number(sectors);
        }
    }

    /// A mixture of `old` and `new`, as `take_new` says of each quarter.
    pub(crate) fn torn(&mut self, old: u64, new: u64, mut take_new: impl FnMut() -> bool) -> u64 {
        let (old, new) = (self.sectors(old), self.sectors(new));
        let mut mixed = old;
        for (sector, &id) in mixed.iter_mut().zip(&new) {
            if take_new() {
                *sector = id;
            }
        }
        self.has_torn |= mixed != old && mixed != new;
        self.number(mixed)
    }

    pub(crate) fn has_torn(&self) -> bool {
        self.has_torn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_written_over_all_of_a_block_is_a_whole_write() {
        let mut contents = Contents::default();
        let mut blocks = [5, 0];
        contents.overlay(&mut blocks, &[7, 7, 7, 7], 2);
        assert_eq!(contents.sectors(blocks[0]), [5, 5, 7, 7]);
        assert_eq!(contents.sectors(blocks[1]), [7, 7, 0, 0]);
        contents.overlay(&mut blocks, &[7, 7], 0);
        assert_eq!(blocks[0], 7);
    }

    #[test]
    fn equal_mixtures_have_one_number() {
        let mut contents = Contents::default();
        let one = contents.number([1, 2, 1, 1]);
        assert_eq!(contents.number([1, 2, 1, 1]), one);
        assert_ne!(contents.number([1, 1, 2, 1]), one);
    }
}
