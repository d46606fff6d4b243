//! Files that become shorter while they are in use.
//!
//! The kernel says so of nothing but a read behind the new end. A write there makes the file longer
//! again, and leaves a hole that reads as zeroes: merged with a part of a block, they would go to
//! all replicas. So the length is looked at after a flush, after a read that fails or has zeroes at
//! either end, and before a write that ends where the disk ends. No other write makes the file as
//! long as it was, so one look tells of everything before it.
//!
//! A look asks the kernel for what it knows, and waits for no server of files. A block device has
//! no holes: it refuses what is behind its end.

use std::fmt;
use std::io;

use super::request::Work;
use super::{Open, Range};
use crate::disk_open;
use crate::pool::Pool;

/// So many bytes at either end of what was read are compared with zeroes.
const EDGE_BYTES: usize = 16;

/// A file lost its end.
#[derive(Clone, Copy, Debug)]
struct Shrunk {
    former_bytes: u64,
    now_bytes: u64,
}

impl fmt::Display for Shrunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { former_bytes, now_bytes } = self;
        write!(
            f,
            "its file has {now_bytes} bytes, and had {former_bytes} when it was taken into use: \
             what was behind the new end is lost"
        )
    }
}

impl std::error::Error for Shrunk {}

/// Whether a request failed as the file of its disk became shorter: nothing of that disk is to be
/// believed then.
#[must_use]
pub fn has_shrunk(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Shrunk>())
}

/// The answer of the kernel, where it can be believed.
pub(super) fn believed(
    open: &Open,
    work: Work,
    result: io::Result<u32>,
    pool: &Pool,
) -> io::Result<u32> {
    let is_doubtful = match (work, &result) {
        (Work::Flush, Ok(_)) | (Work::Read { .. }, Err(_)) => true,
        (Work::Read { into, .. }, Ok(_)) => has_zeroes_at_an_end(pool.bytes(into)),
        (Work::Flush, Err(_)) | (Work::Write { .. } | Work::Zero { .. }, _) => false,
    };
    if is_doubtful { check(open).and(result) } else { result }
}

/// Refuses to hide a loss by a write up to the very end.
pub(super) fn check_before(open: &Open, work: Work) -> io::Result<()> {
    let range = match work {
        Work::Write { offset, from, .. } => Range::of(offset, from),
        Work::Zero { range, .. } => range,
        Work::Read { .. } | Work::Flush => return Ok(()),
    };
    if range.offset + range.length == open.info.size_bytes { check(open) } else { Ok(()) }
}

fn check(open: &Open) -> io::Result<()> {
    if open.info.is_block_device {
        return Ok(());
    }
    let former_bytes = open.info.size_bytes;
    let now_bytes = disk_open::known_size(&open.file)?;
    if now_bytes >= former_bytes {
        return Ok(());
    }
    let shrunk = Shrunk { former_bytes, now_bytes };
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, shrunk))
}

fn has_zeroes_at_an_end(bytes: &[u8]) -> bool {
    let is_zero = |edge: Option<&[u8; EDGE_BYTES]>| edge.is_none_or(|it| *it == [0; EDGE_BYTES]);
    is_zero(bytes.first_chunk()) || is_zero(bytes.last_chunk())
}
