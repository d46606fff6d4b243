//! Building blocks that know no word of the domain: time, chance, sizes.
#![forbid(unsafe_code)]

pub mod hash;
pub mod random;
pub mod slab;
pub mod time;
