//! The buffers of one reactor: few sizes, counted references, last in first out.
//!
//! A pool belongs to one thread, so a reference count is a plain integer. A buffer goes back to
//! its free list when the last holder releases it, and the next one to ask gets the warmest one.
//!
//! ```text
//! class    size            one mapping per class, 4 KiB aligned, reserved once at its bound
//! Small    4 KiB           | slab 0                | slab 1                | ... up to 64 slabs
//! Medium   64 KiB          | buffer 0 | buffer 1 . | buffer n . . .        |
//! Large    256 KiB + 4 KiB   taken from the lowest slab that has a free buffer, so that the
//! Huge     1 MiB + 4 KiB     upper slabs fall empty and their pages can go back to the kernel
//! ```
//!
//! A region that the kernel is filling (recv, read) is a *fill*. Looking at it asserts: that keeps
//! `bytes` and `bytes_mut` sound, for no reference ever covers memory that changes by itself.
//! A region that the kernel only reads (send, write) may be read at the same time; writing to it
//! would send torn data, and not doing so is the caller's part. A region that is lent to the pool
//! of another thread (`loans`) may be read meanwhile; changing it asserts.

mod fills;
mod class;
mod loans;

use std::io;

use class::ClassPool;
use fills::{Fills, Held, Wish};
use loans::Borrowed;

pub use loans::Loan;

/// One buffer: a place in the pool, valid while its reference count is above zero.
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
    /// `length` bytes of this slice, from its byte `offset` on.
    ///
    /// # Panics
    /// If the part is not inside the slice.
    #[inline]
    #[must_use]
    pub fn part(self, offset: u32, length: u32) -> Self {
        let end = offset.checked_add(length).expect("a part ends inside 4 GiB");
        assert!(end <= self.length, "{offset}+{length} is outside of {self:?}");
        Self { buffer: self.buffer, offset: self.offset + offset, length }
    }

    /// One byte past the end, as an offset in the buffer.
    #[inline]
    fn end(self) -> u32 {
        self.offset.checked_add(self.length).expect("a slice ends inside 4 GiB")
    }
}

/// The sizes that buffers come in. The upper two have room for one block of header.
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

impl Class {
    pub const ALL: [Self; 4] = [Self::Small, Self::Medium, Self::Large, Self::Huge];

    /// How many bytes one buffer of this class holds.
    #[must_use]
    pub const fn size_bytes(self) -> u32 {
        match self {
            Self::Small => 4 << 10,
            Self::Medium => 64 << 10,
            Self::Large => (256 + 4) << 10,
            Self::Huge => (1024 + 4) << 10,
        }
    }

    /// The smallest class that holds `length` bytes.
    #[must_use]
    pub fn that_holds(length: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|class| length <= class.size_bytes())
    }
}

/// What is left of a class for those without whom nothing would ever be released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leave {
    Nothing,
    Sixteenth,
    Eighth,
    Quarter,
}

impl Leave {
    const fn of(self, buffers: u32) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Sixteenth => buffers / 16,
            Self::Eighth => buffers / 8,
            Self::Quarter => buffers / 4,
        }
    }
}

/// Bounds of a pool, in bytes of address space per class. Memory is used when it is touched, but
/// for what is kept.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    pub small_bytes_max: usize,
    pub medium_bytes_max: usize,
    pub large_bytes_max: usize,
    pub huge_bytes_max: usize,
    pub kept: KeptBytes,
}

/// Bytes of each class that have their memory from the start and never give it back: to use them
/// needs nothing of a kernel that is short of memory. They are rounded up to whole buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeptBytes {
    pub small: usize,
    pub medium: usize,
    pub large: usize,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self {
            small_bytes_max: 64 << 20,
            medium_bytes_max: 128 << 20,
            large_bytes_max: 130 << 20,
            huge_bytes_max: 130 << 20,
            kept: KeptBytes::default(),
        }
    }
}

/// All buffers of one reactor.
#[derive(Debug)]
pub struct Pool {
    classes: [ClassPool; Class::ALL.len()],
    fills: Fills,
    in_use: usize,
    /// Regions of its own that other pools hold.
    lent: usize,
    borrowed: Borrowed,
}

impl Pool {
    /// Reserves the address space of every class, and touches what is kept.
    pub fn new(options: PoolOptions) -> io::Result<Self> {
        let PoolOptions {
            small_bytes_max,
            medium_bytes_max,
            large_bytes_max,
            huge_bytes_max,
            kept,
        } = options;
        Ok(Self {
            classes: [
                ClassPool::new(Class::Small.size_bytes(), small_bytes_max, kept.small)?,
                ClassPool::new(Class::Medium.size_bytes(), medium_bytes_max, kept.medium)?,
                ClassPool::new(Class::Large.size_bytes(), large_bytes_max, kept.large)?,
                ClassPool::new(Class::Huge.size_bytes(), huge_bytes_max, 0)?,
            ],
            fills: Fills::new(),
            in_use: 0,
            lent: 0,
            borrowed: Borrowed::new(),
        })
    }

    /// A buffer with one reference, or `None` when the class is at its bound: then stop taking in
    /// work until something is released. What the buffer holds is left from its last use.
    pub fn take(&mut self, class: Class) -> Option<BufferId> {
        self.take_leaving(Leave::Nothing, class)
    }

    /// The first `length` bytes of a new buffer of the smallest class that holds them. `None` when
    /// that class is at its bound, or when no class is that large.
    pub fn take_for(&mut self, length: u32) -> Option<Slice> {
        self.slice_leaving(Leave::Nothing, length)
    }

    /// As `take_for`, for a request of a client. It holds its buffer until the replicas have
    /// answered, which takes messages, records and reads: a quarter of the class is left for them.
    pub fn take_for_client(&mut self, length: u32) -> Option<Slice> {
        self.slice_leaving(Leave::Quarter, length)
    }

    /// As `take_for`, for what is read from a disk. It holds its buffer until that is sent or
    /// written, which takes messages and records: an eighth of the class is left for them.
    pub fn take_for_read(&mut self, length: u32) -> Option<Slice> {
        self.slice_leaving(Leave::Eighth, length)
    }

    /// As `take_for`, for the head of an answer, without which what was read for it is not sent: a
    /// sixteenth of the class is left for messages of the links.
    pub fn take_for_answer(&mut self, length: u32) -> Option<Slice> {
        self.slice_leaving(Leave::Sixteenth, length)
    }

    fn slice_leaving(&mut self, leave: Leave, length: u32) -> Option<Slice> {
        let buffer = self.take_leaving(leave, Class::that_holds(length)?)?;
        Some(Slice { buffer, offset: 0, length })
    }

    fn take_leaving(&mut self, leave: Leave, class: Class) -> Option<BufferId> {
        let number = class as u8;
        let index = self.classes[usize::from(number)].take(leave)?;
        self.in_use += 1;
        Some(BufferId { class: number, index })
    }

    /// One more holder.
    pub fn retain(&mut self, buffer: BufferId) {
        if loans::is_borrowed(buffer) {
            return self.borrowed.retain(buffer);
        }
        self.class_mut(buffer).retain(buffer.index);
    }

    /// One holder less; the last one gives the buffer back.
    pub fn release(&mut self, buffer: BufferId) {
        if loans::is_borrowed(buffer) {
            return self.borrowed.release(buffer);
        }
        if self.class_mut(buffer).release(buffer.index) {
            self.in_use -= 1;
        }
    }

    /// How many bytes the buffer holds.
    #[inline]
    #[must_use]
    pub fn size_of(&self, buffer: BufferId) -> u32 {
        if loans::is_borrowed(buffer) {
            return self.borrowed.size_of(buffer);
        }
        self.class(buffer).buffer_bytes()
    }

    /// The whole buffer.
    #[inline]
    #[must_use]
    pub fn whole(&self, buffer: BufferId) -> Slice {
        Slice { buffer, offset: 0, length: self.size_of(buffer) }
    }

    /// # Panics
    /// If nobody holds the buffer, if the slice leaves it, or if the kernel is filling a part.
    #[must_use]
    pub fn bytes(&self, slice: Slice) -> &[u8] {
        let start = self.checked_start(slice, Wish::Look);
        // SAFETY: `checked_start` made sure that the range is inside a live buffer that the kernel
        // does not fill. Every `&mut [u8]` into the pool borrows the pool mutably, so none exists
        // while `self` is borrowed here; into memory that another pool lent there is none until
        // the loan is back. Mapped memory is always initialised.
        unsafe { std::slice::from_raw_parts(start, slice.length as usize) }
    }

    /// # Panics
    /// As [`Pool::bytes`], and if a part is lent or borrowed.
    pub fn bytes_mut(&mut self, slice: Slice) -> &mut [u8] {
        let start = self.checked_start(slice, Wish::Change).cast_mut();
        // SAFETY: as in `bytes`; and `self` is borrowed mutably, so no other reference into the
        // pool exists on this thread, nor on another one, for no part is lent.
        unsafe { std::slice::from_raw_parts_mut(start, slice.length as usize) }
    }

    /// Copies between two slices of one length. They may overlap.
    ///
    /// # Panics
    /// As [`Pool::bytes`] and [`Pool::bytes_mut`], and if the lengths differ.
    pub fn copy(&mut self, from: Slice, to: Slice) {
        assert_eq!(from.length, to.length, "a copy has one length");
        let source = self.checked_start(from, Wish::Look);
        let target = self.checked_start(to, Wish::Change).cast_mut();
        // SAFETY: both ranges are live buffer memory of `from.length` bytes that the kernel does
        // not fill, no reference into the pool exists and no other thread looks at the target, and
        // `copy` allows overlap.
        unsafe { std::ptr::copy(source, target, from.length as usize) };
    }

    /// Buffers with at least one holder.
    #[must_use]
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// Gives the pages of one unused slab back to the kernel, if there is one. Called when the
    /// reactor is about to sleep, so the cost does not stand in front of a request.
    pub(crate) fn trim(&mut self) {
        for class in &mut self.classes {
            if class.trim() {
                return;
            }
        }
    }

    /// Lends a region to the kernel to read from. `release` ends it.
    pub(crate) fn lend(&mut self, slice: Slice) -> *const u8 {
        let start = self.checked_start(slice, Wish::Look);
        self.retain(slice.buffer);
        start
    }

    /// Lends a region to the kernel to fill. Until `end_fill` nobody can look at it.
    pub(crate) fn begin_fill(&mut self, slice: Slice) {
        assert!(slice.length > 0, "the kernel is given something to fill");
        self.checked_start(slice, Wish::Change);
        self.retain(slice.buffer);
        let class = &mut self.classes[usize::from(slice.buffer.class)];
        self.fills.begin(class.fills_mut(slice.buffer.index), slice, Held::Filled);
    }

    /// Where a region of `begin_fill` is.
    pub(crate) fn fill_address(&self, slice: Slice) -> *mut u8 {
        self.class(slice.buffer).address(slice)
    }

    /// The kernel is done with a region of `begin_fill`.
    pub(crate) fn end_fill(&mut self, slice: Slice) {
        let class = &mut self.classes[usize::from(slice.buffer.class)];
        self.fills.end(class.fills_mut(slice.buffer.index), slice, Held::Filled);
        self.release(slice.buffer);
    }

    fn checked_start(&self, slice: Slice, wish: Wish) -> *const u8 {
        if loans::is_borrowed(slice.buffer) {
            assert_eq!(wish, Wish::Look, "{slice:?} is borrowed: it is not to be changed");
            return self.borrowed.address(slice);
        }
        let class = self.class(slice.buffer);
        assert!(slice.end() <= class.buffer_bytes(), "{slice:?} leaves its buffer");
        self.fills.assert_free(class.fills_of_held(slice.buffer.index), slice, wish);
        class.address(slice).cast_const()
    }

    fn class(&self, buffer: BufferId) -> &ClassPool {
        &self.classes[usize::from(buffer.class)]
    }

    fn class_mut(&mut self, buffer: BufferId) -> &mut ClassPool {
        &mut self.classes[usize::from(buffer.class)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> Pool {
        Pool::new(PoolOptions {
            small_bytes_max: 1 << 20,
            medium_bytes_max: 256 << 10,
            large_bytes_max: 520 << 10,
            huge_bytes_max: 2056 << 10,
            kept: KeptBytes::default(),
        })
        .unwrap()
    }

    #[test]
    fn count_follows_takes_and_releases() {
        let mut pool = pool();
        let first = pool.take(Class::Medium).unwrap();
        let second = pool.take(Class::Medium).unwrap();
        assert_ne!(first, second);
        pool.release(second);
        pool.release(first);
        assert_eq!(pool.take(Class::Small).map(|id| pool.size_of(id)), Some(4096));
        assert_eq!(pool.in_use(), 1);
    }

    #[test]
    fn released_buffer_is_reused_at_once_within_a_slab() {
        let mut pool =
            Pool::new(PoolOptions { small_bytes_max: 64 << 20, ..Default::default() }).unwrap();
        let ids: Vec<_> = (0..10).map(|_| pool.take(Class::Small).unwrap()).collect();
        pool.release(ids[3]);
        pool.release(ids[7]);
        assert_eq!(pool.take(Class::Small), Some(ids[7]));
        assert_eq!(pool.take(Class::Small), Some(ids[3]));
    }

    #[test]
    fn class_ends_at_its_bound_and_goes_on_after_a_release() {
        let mut pool = pool();
        let ids: Vec<_> = std::iter::from_fn(|| pool.take(Class::Small)).collect();
        assert_eq!(ids.len(), 256);
        assert_eq!(pool.take(Class::Small), None);
        pool.release(ids[200]);
        assert_eq!(pool.take(Class::Small), Some(ids[200]));
    }

    #[test]
    fn clients_leave_buffers_to_reads_and_these_to_messages() {
        let mut pool = pool();
        let clients: Vec<_> = std::iter::from_fn(|| pool.take_for_client(4096)).collect();
        let reads: Vec<_> = std::iter::from_fn(|| pool.take_for_read(4096)).collect();
        let rest: Vec<_> = std::iter::from_fn(|| pool.take_for(4096)).collect();
        assert_eq!((clients.len(), reads.len(), rest.len()), (192, 32, 32));
        pool.release(rest[0].buffer);
        assert_eq!((pool.take_for_client(1), pool.take_for_read(1)), (None, None));
        for slice in &clients[..64] {
            pool.release(slice.buffer);
        }
        assert!(pool.take_for_client(1).is_some());
    }

    #[test]
    fn length_picks_the_smallest_class_that_holds_it() {
        let mut pool = pool();
        for (length, size) in [
            (0, 4096),
            (4096, 4096),
            (4097, 65536),
            (65537, 260 << 10),
            (260 << 10, 260 << 10),
            (1 << 20, 1028 << 10),
        ] {
            let slice = pool.take_for(length).unwrap();
            assert_eq!((slice.offset, slice.length), (0, length));
            assert_eq!(pool.size_of(slice.buffer), size);
        }
        assert_eq!(pool.take_for(1 << 21), None);
    }

    #[test]
    fn bytes_stay_while_one_holder_is_left() {
        let mut pool = pool();
        let slice = pool.take_for(4096).unwrap();
        pool.bytes_mut(slice).fill(7);
        pool.retain(slice.buffer);
        pool.release(slice.buffer);
        assert_eq!(pool.bytes(slice)[4095], 7);
        assert_eq!(pool.in_use(), 1);
        pool.release(slice.buffer);
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    fn buffers_start_at_pages_and_do_not_overlap() {
        let mut pool = pool();
        for class in Class::ALL {
            let mut starts = Vec::new();
            while let Some(buffer) = pool.take(class) {
                let whole = pool.whole(buffer);
                pool.bytes_mut(whole).fill(1);
                starts.push(pool.bytes(whole).as_ptr() as usize);
            }
            starts.sort_unstable();
            assert!(starts.iter().all(|start| start % 4096 == 0));
            let size = class.size_bytes() as usize;
            assert!(starts.windows(2).all(|pair| pair[1] - pair[0] >= size));
        }
    }

    #[test]
    fn copy_moves_bytes_even_within_one_buffer() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        for (index, byte) in pool.bytes_mut(whole).iter_mut().enumerate() {
            *byte = u8::try_from(index % 251).unwrap();
        }
        let expected = pool.bytes(whole.part(0, 100)).to_vec();
        pool.copy(whole.part(0, 100), whole.part(50, 100));
        assert_eq!(pool.bytes(whole.part(50, 100)), expected);
    }

    #[test]
    fn bytes_beside_a_fill_can_be_seen_and_come_back_after_it() {
        let mut pool = pool();
        let whole = pool.take_for(65536).unwrap();
        let fills = [whole.part(4096, 4096), whole.part(12288, 100), whole.part(0, 512)];
        for fill in fills {
            pool.begin_fill(fill);
        }
        assert_eq!(pool.bytes(whole.part(8192, 4096)).len(), 4096);
        assert_eq!(pool.bytes(whole.part(512, 3584)).len(), 3584);
        pool.end_fill(fills[1]);
        pool.end_fill(fills[0]);
        pool.end_fill(fills[2]);
        assert_eq!(pool.bytes(whole).len(), 65536);
        pool.release(whole.buffer);
        assert_eq!(pool.in_use(), 0);
    }

    #[test]
    #[should_panic(expected = "kernel is filling")]
    fn looking_at_a_fill_asserts() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        pool.begin_fill(whole.part(512, 512));
        pool.bytes_mut(whole.part(1023, 10));
    }

    #[test]
    #[should_panic(expected = "kernel is filling")]
    fn two_fills_of_one_byte_assert() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        pool.begin_fill(whole.part(512, 512));
        pool.begin_fill(whole.part(0, 513));
    }

    #[test]
    #[should_panic(expected = "nobody holds")]
    fn looking_at_a_released_buffer_asserts() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        pool.release(whole.buffer);
        let _bytes = pool.bytes(whole);
    }

    #[test]
    #[should_panic(expected = "nobody holds")]
    fn releasing_twice_asserts() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        pool.release(whole.buffer);
        pool.release(whole.buffer);
    }

    #[test]
    #[should_panic(expected = "leaves its buffer")]
    fn slice_past_the_end_asserts() {
        let mut pool = pool();
        let whole = pool.take_for(4096).unwrap();
        let _bytes = pool.bytes(Slice { length: 4097, ..whole });
    }

    #[test]
    fn trim_gives_back_what_was_unused_for_a_while_and_only_that() {
        let mut pool =
            Pool::new(PoolOptions { small_bytes_max: 4 << 20, ..Default::default() }).unwrap();
        let ids: Vec<_> = std::iter::from_fn(|| pool.take(Class::Small)).collect();
        for id in &ids {
            let whole = pool.whole(*id);
            pool.bytes_mut(whole).fill(9);
        }
        let (kept, last) = (ids[0], *ids.last().unwrap());
        for id in &ids[1..] {
            pool.release(*id);
        }
        for _ in 0..200 {
            pool.trim();
        }
        let whole = pool.whole(kept);
        assert_eq!(pool.bytes(whole), [9; 4096]);
        let again: Vec<_> = std::iter::from_fn(|| pool.take(Class::Small)).collect();
        assert!(again.contains(&last));
        let whole = pool.whole(last);
        assert_eq!(pool.bytes(whole), [0; 4096], "its page went back to the kernel");
    }
    #[test]
    fn trim_leaves_what_is_kept() {
        let kept = KeptBytes { small: 2 << 20, ..Default::default() };
        // Slabs of 64 KiB.
        let options = PoolOptions { small_bytes_max: 4 << 20, kept, ..Default::default() };
        let mut pool = Pool::new(options).unwrap();
        let ids: Vec<_> = std::iter::from_fn(|| pool.take(Class::Small)).collect();
        for id in &ids {
            let whole = pool.whole(*id);
            pool.bytes_mut(whole).fill(9);
        }
        ids.iter().for_each(|id| pool.release(*id));
        for _ in 0..200 {
            pool.trim();
        }
        let again: Vec<_> = std::iter::from_fn(|| pool.take(Class::Small)).collect();
        let is_there = |id: &BufferId| pool.bytes(pool.whole(*id)) == [9; 4096];
        let there: Vec<_> = again.iter().filter(|id| is_there(id)).collect();
        assert_eq!(there.len(), (2 << 20) / 4096);
    }
}
