//! Disks.

/// A disk of one reactor; a closed disk's id never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiskId {
    index: u32,
    generation: u32,
}

/// When a write counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// The disk has it, perhaps in a volatile cache.
    Cached,
    /// It survives a loss of power.
    Fua,
}

/// What zeroing does to the space below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zero {
    /// Space may be given back.
    Deallocate,
    /// Space stays reserved.
    KeepAllocated,
}
