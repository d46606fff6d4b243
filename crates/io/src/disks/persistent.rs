//! A file in memory that survives a loss of power (of a DAX file system), written by stores.
//!
//! They go past the caches, and what they wrote is durable when the fence behind them is over: no
//! system call, no flush. Reads stay calls, so that a line of the memory that cannot be read is an
//! error and not a signal. All of the file has its space before it is mapped, for a store that
//! finds none would be a signal, too.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use crate::memory::Mapping;

/// Stores are of whole lines; requests have to be aligned so.
pub(crate) const LINE_BYTES: u32 = 64;

/// Whether what is stored has to survive a loss of power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durable {
    Yes,
    No,
}

#[derive(Debug)]
pub(crate) struct Region(Mapping);

impl Region {
    /// # Errors
    /// Where the file is on no persistent memory, and has to be; where the file system cannot
    /// promise space.
    pub(crate) fn map(file: &File, length: u64, durable: Durable) -> io::Result<Self> {
        let bytes = usize::try_from(length).map_err(|_too_large| io::ErrorKind::Unsupported)?;
        let flags = match durable {
            Durable::Yes if lines::ARE_DURABLE => libc::MAP_SHARED_VALIDATE | libc::MAP_SYNC,
            Durable::Yes => return Err(io::ErrorKind::Unsupported.into()),
            Durable::No => libc::MAP_SHARED,
        };
        if bytes == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mapping = Mapping::shared(file, bytes, flags)?;
        let length = i64::try_from(length).map_err(io::Error::other)?;
        // SAFETY: the descriptor is open, and no pointer is passed.
        let result =
            unsafe { libc::fallocate64(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, length) };
        if result == 0 { Ok(Self(mapping)) } else { Err(io::Error::last_os_error()) }
    }

    /// Durable when it returns. The offset and the length are multiples of a line.
    pub(crate) fn store(&self, offset: u64, bytes: &[u8]) {
        let to = self.at(offset, bytes.len());
        // SAFETY: `at` found the range inside the mapping, and the file is no shorter: it belongs
        // to us alone.
        unsafe { lines::copy(to, bytes) };
    }

    /// The same with zeroes.
    pub(crate) fn clear(&self, offset: u64, length: u64) {
        let zeroes = [0; 4096];
        let mut at = offset;
        while at < offset + length {
            let now = (offset + length - at).min(zeroes.len() as u64);
            self.store(at, &zeroes[..usize::try_from(now).expect("at most a page")]);
            at += now;
        }
    }

    fn at(&self, offset: u64, length: usize) -> *mut u8 {
        self.0.at(usize::try_from(offset).expect("inside of the mapping"), length)
    }
}

#[cfg(target_arch = "x86_64")]
mod lines {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    pub(crate) const ARE_DURABLE: bool = true;

    /// # Safety
    /// `to` is writable for as many bytes as there are, at a multiple of 16 bytes.
    pub(crate) unsafe fn copy(to: *mut u8, bytes: &[u8]) {
        let parts = bytes.chunks_exact(16);
        assert!(parts.remainder().is_empty(), "whole lines");
        for (index, part) in parts.enumerate() {
            // SAFETY: the part has 16 bytes; it may lie anywhere.
            let line = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
            // SAFETY: the place of a part is inside of what the caller promises.
            let to = unsafe { to.add(index * 16) };
            // SAFETY: it is a multiple of 16 bytes, as the caller promises.
            unsafe { _mm_stream_si128(to.cast::<__m128i>(), line) };
        }
        // SAFETY: every CPU of this architecture has it.
        unsafe { _mm_sfence() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod lines {
    /// How to write a line back is not known here.
    pub(crate) const ARE_DURABLE: bool = false;

    /// # Safety
    /// `to` is writable for as many bytes as there are.
    pub(crate) unsafe fn copy(to: *mut u8, bytes: &[u8]) {
        // SAFETY: as the caller promises; what is mapped is no memory of a slice.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
}
