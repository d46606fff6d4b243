//! Buffers of one reactor.

/// One buffer: a place in the arena, valid while its reference count is above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId {
    class: u8,
    index: u32,
}

/// A part of one buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slice {
    pub buffer: BufferId,
    pub offset: u32,
    pub length: u32,
}

impl Slice {
    /// `length` bytes of this slice from `offset` on.
    #[must_use]
    pub fn part(self, offset: u32, length: u32) -> Self {
        unimplemented!("{offset} {length}")
    }
}

/// The sizes that buffers come in. Large and huge ones have room for one block of header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// 4 KiB
    Small,
    /// 64 KiB
    Medium,
    /// 256 KiB + 4 KiB
    Large,
    /// 1 MiB + 4 KiB
    Huge,
}

/// Bounds of the pool, in bytes of address space per class; memory is used when touched.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    pub small_bytes_max: usize,
    pub medium_bytes_max: usize,
    pub large_bytes_max: usize,
    pub huge_bytes_max: usize,
}

#[derive(Debug)]
pub struct Pool {}

impl Pool {
    /// A buffer with one reference, or `None` when the class has reached its bound.
    pub fn take(&mut self, class: Class) -> Option<BufferId> {
        unimplemented!("{class:?}")
    }
    /// The start of a buffer of the smallest class that holds `length` bytes.
    pub fn take_for(&mut self, length: u32) -> Option<Slice> {
        unimplemented!("{length:?}")
    }
    pub fn retain(&mut self, buffer: BufferId) {
        unimplemented!("{buffer:?}")
    }
    pub fn release(&mut self, buffer: BufferId) {
        unimplemented!("{buffer:?}")
    }
    #[must_use]
    pub fn size_of(&self, buffer: BufferId) -> u32 {
        unimplemented!("{buffer:?}")
    }
    /// The whole of a buffer as a slice.
    #[must_use]
    pub fn whole(&self, buffer: BufferId) -> Slice {
        unimplemented!("{buffer:?}")
    }
    #[must_use]
    pub fn bytes(&self, slice: Slice) -> &[u8] {
        unimplemented!("{slice:?}")
    }
    pub fn bytes_mut(&mut self, slice: Slice) -> &mut [u8] {
        unimplemented!("{slice:?}")
    }
    /// Copies between two slices of equal length; they may overlap.
    pub fn copy(&mut self, from: Slice, to: Slice) {
        unimplemented!("{from:?} {to:?}")
    }
    /// Buffers with at least one reference.
    #[must_use]
    pub fn in_use(&self) -> usize {
        unimplemented!()
    }
}
