//! Building blocks that know no word of the domain: time, chance, tables, hashes, locks, processes,
//! and what tests say.
#![forbid(unsafe_code)]

pub mod checksum;
pub mod child;
pub mod hash;
pub mod index;
pub mod mutex;
pub mod random;
pub mod ring;
pub mod slab;
pub mod testing;
pub mod time;
