//! Reads and writes of metadata on disks that may have lost a sector.
//!
//! Reads go past the page cache, which may have what a disk held before. Writes may go through it:
//! what is read after them has them, and who writes syncs.
//!
//! A sector that cannot be read stays so until it is written: the disk has another one for it then.
//! What stands twice, or is about to be written over, is not given up for it.

use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use io::Uncached;

/// How often a read is tried, and how long it rests after each, before what it is about is lost.
pub(crate) const TRIES: usize = 3;
pub(crate) const REST: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 500 });
/// Lost places of superblocks, or records of a ring, after which no more is looked at.
pub(crate) const LOST_MAX: usize = 4;

/// Whether the disk answered, and does not have these bytes any more: as page caches say it, and as
/// the kernel says it of a medium, a checksum, a target and the way there to whoever reads past
/// them (`blk_errors` of its block layer).
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::EIO
                | libc::ENODATA
                | libc::EILSEQ
                | libc::EREMOTEIO
                | libc::ENOLINK
                | libc::ETIMEDOUT
                | libc::EBADE
        )
    )
}

pub(crate) fn read(disk: &Uncached, offset: u64, bytes: &mut [u8]) -> Result<()> {
    #[cfg(test)]
    faults::check(disk.file(), offset..offset + bytes.len() as u64)?;
    disk.read_exact_at(bytes, offset)
}

/// The same, `length` bytes.
pub(crate) fn read_whole(disk: &Uncached, offset: u64, length: usize) -> Result<Vec<u8>> {
    #[cfg(test)]
    faults::check(disk.file(), offset..offset + length as u64)?;
    disk.read_at(offset, length)
}

pub(crate) fn write(file: &File, offset: u64, bytes: &[u8]) -> Result<()> {
    #[cfg(test)]
    faults::before_write(file, offset, bytes)?;
    file.write_all_at(bytes, offset)?;
    #[cfg(test)]
    faults::heal(file, offset..offset + bytes.len() as u64)?;
    Ok(())
}

/// Pages that the disks of a test do not give.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;
    use std::fs::{File, metadata};
    use std::io::{Error, Result};
    use std::ops::Range;
    use std::os::unix::fs::{FileExt, MetadataExt};
    use std::path::Path;

    const SECTOR_BYTES: usize = 512;

    type Act = Box<dyn FnOnce()>;

    thread_local! {
        /// By the number of the file, for what this thread reads.
        static LOST: RefCell<BTreeSet<(u64, u64)>> = const { RefCell::new(BTreeSet::new()) };
        /// So many reads more fail.
        static AWAY: Cell<u32> = const { Cell::new(0) };
        /// So many writes more go through.
        static WRITES_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
        /// Done before the write that comes after so many.
        static BETWEEN: RefCell<Option<(u32, Act)>> = const { RefCell::new(None) };
    }

    /// The power goes with the write that comes after so many: it is torn.
    pub(crate) fn cut_power_after(writes: u32) {
        WRITES_LEFT.set(Some(writes + 1));
    }

    /// Whether it went; it is there again.
    pub(crate) fn restore_power() -> bool {
        WRITES_LEFT.take() == Some(0)
    }

    /// Does this when so many writes are done, if one more follows.
    pub(crate) fn act_after(writes: u32, act: impl FnOnce() + 'static) {
        BETWEEN.set(Some((writes, Box::new(act))));
    }

    /// If it was not done, it is not done any more.
    pub(crate) fn forget_act() {
        drop(BETWEEN.take());
    }

    pub(super) fn before_write(file: &File, offset: u64, bytes: &[u8]) -> Result<()> {
        BETWEEN.with_borrow_mut(|between| match between.take() {
            Some((0, act)) => act(),
            Some((writes, act)) => *between = Some((writes - 1, act)),
            None => {}
        });
        match WRITES_LEFT.get() {
            None => Ok(()),
            Some(0) => Err(Error::other("the power is gone")),
            Some(1) => {
                WRITES_LEFT.set(Some(0));
                file.write_all_at(&bytes[..SECTOR_BYTES], offset)?;
                Err(Error::other("the power goes"))
            }
            Some(more) => {
                WRITES_LEFT.set(Some(more - 1));
                Ok(())
            }
        }
    }

    /// Until it is written.
    pub(crate) fn lose_page(disk: &Path, offset: u64) {
        let file = metadata(disk).expect("a disk of the test").ino();
        LOST.with_borrow_mut(|lost| lost.insert((file, offset)));
    }

    /// The disk is out of reach for so many reads.
    pub(crate) fn lose_path(reads: u32) {
        AWAY.set(reads);
    }

    pub(crate) fn is_lost(disk: &Path, offset: u64) -> bool {
        let file = metadata(disk).expect("a disk of the test").ino();
        LOST.with_borrow(|lost| lost.contains(&(file, offset)))
    }

    pub(super) fn check(file: &File, range: Range<u64>) -> Result<()> {
        let file = file.metadata()?.ino();
        let lost = (file, range.start)..(file, range.end);
        let is_away = AWAY.get() > 0;
        AWAY.set(AWAY.get().saturating_sub(1));
        let is_whole = !is_away && LOST.with_borrow(|all| all.range(lost).next().is_none());
        if is_whole { Ok(()) } else { Err(Error::from_raw_os_error(libc::EIO)) }
    }

    pub(super) fn heal(file: &File, range: Range<u64>) -> Result<()> {
        let file = file.metadata()?.ino();
        LOST.with_borrow_mut(|all| all.retain(|(of, at)| *of != file || !range.contains(at)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_or_target_that_fails_has_not_refused_the_request() {
        let is = |code| is_unreadable(&Error::from_raw_os_error(code));
        let lost = [libc::EIO, libc::ENODATA, libc::EILSEQ, libc::EREMOTEIO, libc::ENOLINK];
        assert!(lost.into_iter().chain([libc::ETIMEDOUT, libc::EBADE]).all(is));
        assert!(![libc::EINVAL, libc::EACCES, libc::ENODEV, libc::ENOMEM].into_iter().any(is));
    }
}
