//! One request on a disk: what is asked, how far it got, and what the kernel is told next.

use std::io;

use super::{Durability, INLINE_ZERO_MAX, Range, ZEROES_BYTES, Zero};
use crate::disk_open::{DiskInfo, PathMode};
use crate::memory::Mapping;
use crate::operation::DiskCall;
use crate::pool::{Pool, Slice};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    Read { offset: u64, into: Slice },
    Write { offset: u64, from: Slice, durability: Durability },
    Flush,
    Zero { range: Range, zero: Zero },
}

impl Work {
    /// Refuses what the disk cannot do, before a file would grow or the kernel would guess.
    pub(super) fn check(&self, info: &DiskInfo) -> io::Result<()> {
        let range = match *self {
            Self::Read { offset, into } => Range::of(offset, into),
            Self::Write { offset, from, .. } => Range::of(offset, from),
            Self::Flush => return Ok(()),
            Self::Zero { range, .. } => range,
        };
        // The kind alone, for an error with a text would allocate.
        if !range.is_inside(info) || !range.is_aligned(info) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(())
    }
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) work: Work,
    /// Bytes transferred, or zeroed.
    pub(super) done: u64,
    pub(super) way: ZeroWay,
}

/// The ways to zero, from the cheapest for the purpose to the one that always works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ZeroWay {
    PunchHole,
    ZeroRange,
    Write,
}

impl ZeroWay {
    /// The mode of `fallocate`.
    pub(super) fn mode(self) -> Option<libc::c_int> {
        match self {
            Self::PunchHole => Some(libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE),
            Self::ZeroRange => Some(libc::FALLOC_FL_ZERO_RANGE | libc::FALLOC_FL_KEEP_SIZE),
            Self::Write => None,
        }
    }

    pub(super) fn next(self) -> Option<Self> {
        match self {
            Self::PunchHole => Some(Self::ZeroRange),
            Self::ZeroRange => Some(Self::Write),
            Self::Write => None,
        }
    }
}

/// What an answer of the kernel means for the request.
pub(super) enum Progress {
    Done(io::Result<u32>),
    /// Something was done; go on.
    Continue,
    /// Nothing was done, for a passing reason; ask again.
    Retry(io::Error),
}

impl Request {
    pub(super) fn new(work: Work) -> Self {
        let way = match work {
            Work::Zero { zero: Zero::KeepAllocated, .. } => ZeroWay::ZeroRange,
            Work::Read { .. } | Work::Write { .. } | Work::Flush | Work::Zero { .. } => {
                ZeroWay::PunchHole
            }
        };
        Self { work, done: 0, way }
    }

    /// Lends the request's memory to the kernel.
    pub(super) fn lend(&self, pool: &mut Pool) {
        match self.work {
            Work::Read { into, .. } => pool.begin_fill(into),
            Work::Write { from, .. } => {
                pool.lend(from);
            }
            Work::Flush | Work::Zero { .. } => {}
        }
    }

    /// The kernel has answered for the last time.
    pub(super) fn give_back(&self, pool: &mut Pool) {
        match self.work {
            Work::Read { into, .. } => pool.end_fill(into),
            Work::Write { from, .. } => pool.release(from.buffer),
            Work::Flush | Work::Zero { .. } => {}
        }
    }

    /// What is left of a slice after what is done.
    pub(super) fn rest(&self, slice: Slice) -> Slice {
        let done = u32::try_from(self.done).expect("a transfer is below 4 GiB");
        slice.part(done, slice.length - done)
    }

    /// What the kernel is to do next.
    pub(super) fn call(&self, pool: &Pool, zeroes: &Mapping) -> DiskCall {
        match self.work {
            Work::Read { offset, into } => {
                let rest = self.rest(into);
                let (offset, length) = (offset + self.done, rest.length);
                DiskCall::Read { offset, into: pool.fill_address(rest), length }
            }
            Work::Write { offset, from, durability } => {
                let rest = self.rest(from);
                let flags = match durability {
                    Durability::Cached => 0,
                    Durability::Fua => libc::RWF_DSYNC,
                };
                let (offset, length) = (offset + self.done, rest.length);
                DiskCall::Write { offset, from: pool.bytes(rest).as_ptr(), length, flags }
            }
            Work::Flush => DiskCall::Sync,
            Work::Zero { range, .. } => self.zero_call(range, zeroes),
        }
    }

    fn zero_call(&self, range: Range, zeroes: &Mapping) -> DiskCall {
        let offset = range.offset + self.done;
        let rest = range.length - self.done;
        if let Some(mode) = self.way.mode() {
            return DiskCall::Allocate { offset, length: rest, mode };
        }
        let length = u32::try_from(rest.min(u64::from(ZEROES_BYTES))).expect("at most 1 MiB");
        let from = zeroes.at(0, length as usize);
        DiskCall::Write { offset, from, length, flags: 0 }
    }

    /// Takes in an answer of the kernel.
    pub(super) fn advance(&mut self, result: io::Result<u32>) -> Progress {
        match result {
            Ok(count) => self.advance_by(u64::from(count)),
            Err(error) if is_passing(&error) => Progress::Retry(error),
            Err(error) => match self.work {
                Work::Zero { .. } if is_unsupported(&error) => self.try_next_way(error),
                Work::Zero { .. } | Work::Read { .. } | Work::Write { .. } | Work::Flush => {
                    Progress::Done(Err(error))
                }
            },
        }
    }

    fn advance_by(&mut self, count: u64) -> Progress {
        let (length, end) = match self.work {
            // The disk is shorter than it said when it was opened.
            Work::Read { into, .. } => (into.length, io::ErrorKind::UnexpectedEof),
            Work::Write { from, .. } => (from.length, io::ErrorKind::WriteZero),
            Work::Flush => return Progress::Done(Ok(0)),
            Work::Zero { range, .. } => return self.advance_zero(range, count),
        };
        if count == 0 {
            return Progress::Done(Err(end.into()));
        }
        self.done += count;
        assert!(self.done <= u64::from(length), "the kernel moved more than it was asked to");
        if self.done == u64::from(length) {
            return Progress::Done(Ok(length));
        }
        Progress::Continue
    }

    fn advance_zero(&mut self, range: Range, count: u64) -> Progress {
        if self.way != ZeroWay::Write {
            return Progress::Done(Ok(0));
        }
        if count == 0 {
            return Progress::Done(Err(io::ErrorKind::WriteZero.into()));
        }
        self.done += count;
        if self.done == range.length { Progress::Done(Ok(0)) } else { Progress::Continue }
    }

    fn try_next_way(&mut self, error: io::Error) -> Progress {
        match self.way.next() {
            Some(way) => {
                self.way = way;
                Progress::Continue
            }
            None => Progress::Done(Err(error)),
        }
    }

    /// Whether this may be done on the shard's thread without waiting for a disk.
    pub(super) fn may_be_inline(&self, mode: PathMode) -> bool {
        let is_memory = match mode {
            PathMode::InlineMemory | PathMode::Persistent | PathMode::Mapped => true,
            PathMode::Direct | PathMode::InlineBuffered => false,
        };
        match self.work {
            Work::Read { .. } => mode.is_inline(),
            Work::Write { durability: Durability::Cached, .. } => mode.is_inline(),
            Work::Write { durability: Durability::Fua, .. } | Work::Flush => is_memory,
            Work::Zero { range, .. } => is_memory && range.length <= INLINE_ZERO_MAX,
        }
    }

    /// Whether nothing is to be done at all.
    pub(super) fn is_empty(&self) -> bool {
        match self.work {
            Work::Read { into, .. } => into.length == 0,
            Work::Write { from, .. } => from.length == 0,
            Work::Flush => false,
            Work::Zero { range, .. } => range.length == 0,
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINTR | libc::EAGAIN))
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::ENODEV))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{Class, PoolOptions};

    fn error(errno: i32) -> io::Result<u32> {
        Err(io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn short_transfer_goes_on_where_it_stopped() {
        let mut pool = Pool::new(PoolOptions::default()).unwrap();
        let buffer = pool.take(Class::Small).unwrap();
        let into = pool.whole(buffer);
        let mut request = Request::new(Work::Read { offset: 8192, into });
        assert!(matches!(request.advance(Ok(512)), Progress::Continue));
        assert!(matches!(request.advance(error(libc::EAGAIN)), Progress::Retry(_)));
        assert_eq!(request.rest(into), into.part(512, 3584));
        assert!(matches!(request.advance(Ok(3584)), Progress::Done(Ok(4096))));
    }

    #[test]
    fn end_of_a_shortened_disk_is_an_error() {
        let mut pool = Pool::new(PoolOptions::default()).unwrap();
        let buffer = pool.take(Class::Small).unwrap();
        let into = pool.whole(buffer);
        let mut request = Request::new(Work::Read { offset: 0, into });
        assert!(matches!(request.advance(Ok(0)), Progress::Done(Err(_))));
    }

    #[test]
    fn zeroing_falls_back_until_it_writes() {
        let range = Range { offset: 0, length: 3 << 20 };
        let mut request = Request::new(Work::Zero { range, zero: Zero::Deallocate });
        assert_eq!(request.way, ZeroWay::PunchHole);
        assert!(matches!(request.advance(error(libc::EOPNOTSUPP)), Progress::Continue));
        assert_eq!(request.way, ZeroWay::ZeroRange);
        assert!(matches!(request.advance(error(libc::EOPNOTSUPP)), Progress::Continue));
        assert_eq!(request.way, ZeroWay::Write);
        assert!(matches!(request.advance(Ok(1 << 20)), Progress::Continue));
        assert!(matches!(request.advance(Ok(1 << 20)), Progress::Continue));
        assert!(matches!(request.advance(Ok(1 << 20)), Progress::Done(Ok(0))));
    }

    #[test]
    fn zeroing_that_fails_is_not_tried_another_way() {
        let range = Range { offset: 0, length: 4096 };
        let mut request = Request::new(Work::Zero { range, zero: Zero::KeepAllocated });
        assert!(matches!(request.advance(error(libc::EIO)), Progress::Done(Err(_))));
        assert!(matches!(request.advance(error(libc::ENOSPC)), Progress::Done(Err(_))));
    }
}
