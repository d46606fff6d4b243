//! Building blocks that know no word of the domain: time, chance, tables.
#![forbid(unsafe_code)]

pub mod index;
pub mod random;
pub mod slab;
pub mod time;
