//! The name of a part of a request, by which the front end that asked finds it again.
//!
//! ```text
//! 63..62      61..40            39..16             15..13        12..0
//! front end   index of the      generation of it   shard that    which part
//!             request                              asked         of it
//! ```
//!
//! The core returns it unread; the shard looks only at who asked, and where.

use replication::contract::PartId;

use crate::limits::SHARDS_MAX;
use crate::slab::Key;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrontEnd {
    Nbd,
    Nvme,
    Vhost,
    Ublk,
}

const PART_BITS: u32 = 13;
const SHARD_BITS: u32 = 3;
const GENERATION_BITS: u32 = 24;
const INDEX_BITS: u32 = 22;

const GENERATION_FROM: u32 = PART_BITS + SHARD_BITS;
const INDEX_FROM: u32 = GENERATION_FROM + GENERATION_BITS;

const _: () = assert!(INDEX_FROM + INDEX_BITS == 62, "two bits are left for the front end");
const _: () = assert!(SHARDS_MAX as u32 <= 1 << SHARD_BITS, "a shard fits beside a part");

impl FrontEnd {
    /// Part `part` of a request that this front end of `shard` knows by its key.
    ///
    /// # Panics
    /// If there are more requests, or a request has more parts, than the bounds allow.
    pub(crate) fn part(self, request: Key, shard: u8, part: u16) -> PartId {
        assert!(request.index < 1 << INDEX_BITS, "requests are bounded far below this");
        assert!(part < 1 << PART_BITS, "a request has far fewer parts");
        let mark = match self {
            Self::Nbd => 0b00,
            Self::Nvme => 0b01,
            Self::Vhost => 0b10,
            Self::Ublk => 0b11,
        };
        let key = u64::from(request.index) << INDEX_FROM
            | u64::from(request.generation) << GENERATION_FROM;
        PartId(mark << 62 | key | u64::from(shard) << PART_BITS | u64::from(part))
    }

    /// Whose part it is.
    pub(crate) fn of(part: PartId) -> Self {
        match (part.0 >> 63 & 1 == 1, part.0 >> 62 & 1 == 1) {
            (false, false) => Self::Nbd,
            (false, true) => Self::Nvme,
            (true, false) => Self::Vhost,
            (true, true) => Self::Ublk,
        }
    }
}

/// The request, and which part of it.
pub(crate) fn decode(part: PartId) -> (Key, u16) {
    let cut = |from: u32, bits: u32| {
        u32::try_from(part.0 >> from & ((1 << bits) - 1)).expect("cut to fewer than 32 bits")
    };
    let key = Key {
        index: cut(INDEX_FROM, INDEX_BITS),
        generation: cut(GENERATION_FROM, GENERATION_BITS),
    };
    (key, u16::try_from(cut(0, PART_BITS)).expect("cut to fewer than 16 bits"))
}

/// The shard whose client asked.
pub(crate) fn origin_of(part: PartId) -> u8 {
    u8::try_from(part.0 >> PART_BITS & ((1 << SHARD_BITS) - 1)).expect("cut to fewer than 8 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_gives_back_all_that_it_was_made_of() {
        let largest = Key { index: (1 << INDEX_BITS) - 1, generation: (1 << GENERATION_BITS) - 1 };
        for front_end in [FrontEnd::Nbd, FrontEnd::Nvme, FrontEnd::Vhost, FrontEnd::Ublk] {
            for key in [Key { index: 0, generation: 0 }, Key { index: 5, generation: 7 }, largest] {
                for (shard, number) in [(0, 0), (SHARDS_MAX - 1, 8), (3, (1 << PART_BITS) - 1)] {
                    let part = front_end.part(key, shard, number);
                    assert_eq!((FrontEnd::of(part), origin_of(part)), (front_end, shard));
                    assert_eq!(decode(part), (key, number));
                }
            }
        }
    }
}
