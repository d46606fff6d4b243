//! Requests done on the shard's own thread, where that is cheaper than the ring's workers.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use super::Open;
use super::persistent::Region;
use super::request::{Progress, Request, Work};
use crate::disk_open::PathMode;
use crate::pool::Pool;

/// Does the request, or as much of it as can be done without waiting for a disk. `None` means that
/// the ring is to do the rest.
pub(super) fn attempt(
    open: &Open,
    request: &mut Request,
    pool: &mut Pool,
) -> Option<io::Result<u32>> {
    if request.is_empty() {
        return Some(Ok(0));
    }
    let Open { file, info, .. } = open;
    if let Some(region) = &open.region
        && let Some(count) = store(region, request.work, pool)
    {
        return Some(Ok(count));
    }
    if !request.may_be_inline(info.path_mode) {
        return None;
    }
    loop {
        let result = match request.work {
            Work::Read { offset, into } => {
                let bytes = pool.bytes_mut(request.rest(into));
                let flags = match info.path_mode {
                    PathMode::InlineBuffered => libc::RWF_NOWAIT,
                    PathMode::InlineMemory
                    | PathMode::Persistent
                    | PathMode::Mapped
                    | PathMode::Direct => 0,
                };
                read(file, offset + request.done, bytes, flags)
            }
            Work::Write { offset, from, .. } => {
                write(file, offset + request.done, pool.bytes(request.rest(from)))
            }
            // Memory holds what it was given; nothing is more durable.
            Work::Flush => Ok(0),
            Work::Zero { range, .. } => {
                // What must be written is written by the ring.
                let mode = request.way.mode()?;
                fallocate(file, range.offset, range.length, mode)
            }
        };
        if would_wait(&result) {
            return None;
        }
        match request.advance(result) {
            Progress::Done(result) => return Some(result),
            Progress::Continue | Progress::Retry(_) => {}
        }
    }
}

/// All that changes persistent memory; a read is as of any other file.
fn store(region: &Region, work: Work, pool: &Pool) -> Option<u32> {
    match work {
        Work::Read { .. } => return None,
        Work::Write { offset, from, .. } => {
            region.store(offset, pool.bytes(from));
            return Some(from.length);
        }
        Work::Zero { range, .. } => region.clear(range.offset, range.length),
        // Every store has been waited for.
        Work::Flush => {}
    }
    Some(0)
}

/// The page is not in the cache, or the file system cannot tell.
fn would_wait(result: &io::Result<u32>) -> bool {
    matches!(result, Err(error) if matches!(
        error.raw_os_error(),
        Some(libc::EAGAIN | libc::EOPNOTSUPP)
    ))
}

fn read(file: &File, offset: u64, into: &mut [u8], flags: libc::c_int) -> io::Result<u32> {
    let vector = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    // SAFETY: the descriptor is open, and the vector names exactly `into`, which is ours to write.
    count(unsafe {
        libc::preadv2(file.as_raw_fd(), &raw const vector, 1, position(offset)?, flags)
    })
}

fn write(file: &File, offset: u64, from: &[u8]) -> io::Result<u32> {
    // SAFETY: the descriptor is open, and address and length are those of `from`.
    count(unsafe {
        libc::pwrite64(file.as_raw_fd(), from.as_ptr().cast(), from.len(), position(offset)?)
    })
}

fn fallocate(file: &File, offset: u64, length: u64, mode: libc::c_int) -> io::Result<u32> {
    let (offset, length) = (position(offset)?, position(length)?);
    // SAFETY: the descriptor is open, and no pointer is passed.
    let result = unsafe { libc::fallocate64(file.as_raw_fd(), mode, offset, length) };
    count(isize::try_from(result).expect("an int fits"))
}

fn position(offset: u64) -> io::Result<libc::off64_t> {
    libc::off64_t::try_from(offset).map_err(|_too_large| io::ErrorKind::InvalidInput.into())
}

fn count(result: isize) -> io::Result<u32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(u32::try_from(result).expect("a transfer is below 4 GiB"))
}
