//! Building blocks that know no word of the domain: time, chance, tables, hashes.
#![forbid(unsafe_code)]

pub mod checksum;
pub mod hash;
pub mod index;
pub mod random;
pub mod ring;
pub mod slab;
pub mod time;
