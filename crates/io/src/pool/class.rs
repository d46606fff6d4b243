//! The buffers of one size: slabs of them in one mapping, each slab with its own free list.

use std::io;

use super::fills::FillList;
use super::{Leave, Slice};
use crate::memory::Mapping;

/// A slab per bit of `ClassPool::available`.
const SLABS_MAX: usize = u64::BITS as usize;
const END: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct ClassPool {
    mapping: Mapping,
    buffer_bytes: u32,
    buffers_max: u32,
    slab_buffers: u32,
    taken: u32,
    /// One per buffer of an opened slab.
    buffers: Vec<Buffer>,
    /// The opened slabs, from the lowest address up.
    slabs: Vec<Slab>,
    /// Bit n: slab n is open and has a free buffer.
    available: u64,
    /// The lowest slabs, whose pages never go back to the kernel: at least the first, which is the
    /// one in use.
    kept_slabs: usize,
}

#[derive(Clone, Debug)]
struct Buffer {
    /// Zero means free.
    holders: u32,
    next_free: u32,
    fills: FillList,
}

#[derive(Debug)]
struct Slab {
    free: u32,
    taken: u32,
    use_since_trim: Use,
}

/// What a slab did since trimming last looked at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Taken,
    Idle,
    /// Its pages went back to the kernel.
    Returned,
}

impl ClassPool {
    /// `bytes_kept` are touched now.
    pub(super) fn new(buffer_bytes: u32, bytes_max: usize, bytes_kept: usize) -> io::Result<Self> {
        let size = buffer_bytes as usize;
        assert!(size.is_multiple_of(4096), "a buffer is made of pages");
        let count = (bytes_max / size).max(1);
        let slab_buffers = count.div_ceil(SLABS_MAX);
        let buffers_max = u32::try_from(count).expect("fewer than 4 Gi buffers");
        assert!(buffers_max < END, "the last number marks the end of a list");
        let kept_slabs = bytes_kept.div_ceil(slab_buffers * size);
        let mapping = Mapping::new(count * size)?;
        // The lowest buffers are the first to be taken: so many at a time lie in these.
        let touched = bytes_kept.next_multiple_of(size).min(count * size);
        if touched > 0 {
            mapping.populate(0, touched)?;
        }
        Ok(Self {
            mapping,
            buffer_bytes,
            buffers_max,
            slab_buffers: u32::try_from(slab_buffers).expect("at most the number of buffers"),
            taken: 0,
            buffers: Vec::with_capacity(count),
            slabs: Vec::with_capacity(count.div_ceil(slab_buffers)),
            available: 0,
            kept_slabs: kept_slabs.max(1),
        })
    }

    pub(super) fn buffer_bytes(&self) -> u32 {
        self.buffer_bytes
    }

    /// The lowest slab with a free buffer, so that upper slabs fall empty; in it the buffer that
    /// was released last, for its bytes are in the cache.
    pub(super) fn take(&mut self, leave: Leave) -> Option<u32> {
        if self.buffers_max - self.taken <= leave.of(self.buffers_max) {
            return None;
        }
        if self.available == 0 {
            self.open_slab()?;
        }
        let number = self.available.trailing_zeros();
        let slab = &mut self.slabs[number as usize];
        let index = slab.free;
        let buffer = &mut self.buffers[index as usize];
        assert_eq!(buffer.holders, 0, "buffer {index} is on the free list and held");
        buffer.holders = 1;
        slab.free = buffer.next_free;
        slab.taken += 1;
        self.taken += 1;
        slab.use_since_trim = Use::Taken;
        if slab.free == END {
            self.available &= !(1 << number);
        }
        Some(index)
    }

    pub(super) fn retain(&mut self, index: u32) {
        self.assert_held(index);
        let holders = &mut self.buffers[index as usize].holders;
        *holders = holders.checked_add(1).expect("fewer than 4 Gi holders");
    }

    /// Whether this was the last holder.
    pub(super) fn release(&mut self, index: u32) -> bool {
        self.assert_held(index);
        let buffer = &mut self.buffers[index as usize];
        buffer.holders -= 1;
        if buffer.holders > 0 {
            return false;
        }
        assert!(buffer.fills.is_empty(), "buffer {index} is released while the kernel fills it");
        let number = index / self.slab_buffers;
        let slab = &mut self.slabs[number as usize];
        buffer.next_free = slab.free;
        slab.free = index;
        slab.taken -= 1;
        self.taken -= 1;
        self.available |= 1 << number;
        true
    }

    pub(super) fn assert_held(&self, index: u32) {
        let holders = self.buffers.get(index as usize).map_or(0, |buffer| buffer.holders);
        assert!(holders > 0, "nobody holds buffer {index} of {} bytes", self.buffer_bytes);
    }

    /// Somebody holds the buffer, and these of its regions are in the hands of others.
    pub(super) fn fills_of_held(&self, index: u32) -> FillList {
        let buffer = &self.buffers[index as usize];
        assert!(buffer.holders > 0, "nobody holds buffer {index} of {} bytes", self.buffer_bytes);
        buffer.fills
    }

    pub(super) fn fills_mut(&mut self, index: u32) -> &mut FillList {
        &mut self.buffers[index as usize].fills
    }

    pub(super) fn address(&self, slice: Slice) -> *mut u8 {
        let start = slice.buffer.index as usize * self.buffer_bytes as usize;
        self.mapping.at(start + slice.offset as usize, slice.length as usize)
    }

    /// A slab is given back when it was wholly free at two looks in a row and nothing was taken
    /// from it in between. True if pages went back.
    pub(super) fn trim(&mut self) -> bool {
        for number in self.kept_slabs..self.slabs.len() {
            let slab = &mut self.slabs[number];
            if slab.taken > 0 {
                continue;
            }
            match slab.use_since_trim {
                Use::Returned => {}
                Use::Taken => slab.use_since_trim = Use::Idle,
                Use::Idle => {
                    slab.use_since_trim = Use::Returned;
                    self.forget_slab(number);
                    return true;
                }
            }
        }
        false
    }

    /// Its memory stays after it: another thread looks at it.
    pub(super) fn keep_memory(&mut self) {
        self.mapping.keep();
    }

    fn forget_slab(&mut self, number: usize) {
        let size = self.buffer_bytes as usize;
        let first = number * self.slab_buffers as usize;
        let last = (first + self.slab_buffers as usize).min(self.buffers_max as usize);
        // A kernel that refuses keeps the pages: that costs memory and breaks nothing.
        drop(self.mapping.forget(first * size, (last - first) * size));
    }

    fn open_slab(&mut self) -> Option<()> {
        let first = u32::try_from(self.buffers.len()).expect("at most buffers_max");
        if first == self.buffers_max {
            return None;
        }
        let last = (first + self.slab_buffers).min(self.buffers_max);
        for index in first..last {
            let next_free = if index + 1 == last { END } else { index + 1 };
            self.buffers.push(Buffer { holders: 0, next_free, fills: FillList::EMPTY });
        }
        self.available |= 1 << self.slabs.len();
        self.slabs.push(Slab { free: first, taken: 0, use_since_trim: Use::Returned });
        Some(())
    }
}
