//! Reads and writes of metadata on disks that may have lost a sector.
//!
//! A sector that cannot be read stays so until it is written: the disk has another one for it then.
//! What stands twice, or is about to be written over, is not given up for it.

use std::fs::File;
use std::io::{Error, Result};
use std::os::unix::fs::FileExt;

/// Whether the disk answered, and does not have these bytes any more: as page caches say it, and as
/// the kernel says it of a medium and of a checksum to whoever reads past them.
pub(crate) fn is_unreadable(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EIO | libc::ENODATA | libc::EILSEQ))
}

pub(crate) fn read(file: &File, offset: u64, bytes: &mut [u8]) -> Result<()> {
    #[cfg(test)]
    faults::check(offset..offset + bytes.len() as u64)?;
    file.read_exact_at(bytes, offset)
}

pub(crate) fn write(file: &File, offset: u64, bytes: &[u8]) -> Result<()> {
    file.write_all_at(bytes, offset)?;
    #[cfg(test)]
    faults::heal(offset..offset + bytes.len() as u64);
    Ok(())
}

/// Pages that the disks of a test do not give.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::RefCell;
    use std::collections::BTreeSet;
    use std::io::{Error, Result};
    use std::ops::Range;

    thread_local! {
        static LOST: RefCell<BTreeSet<u64>> = const { RefCell::new(BTreeSet::new()) };
    }

    /// Of whatever disk this thread reads, until it is written.
    pub(crate) fn lose_page(offset: u64) {
        LOST.with_borrow_mut(|lost| lost.insert(offset));
    }

    pub(crate) fn is_lost(offset: u64) -> bool {
        LOST.with_borrow(|lost| lost.contains(&offset))
    }

    pub(super) fn check(range: Range<u64>) -> Result<()> {
        let is_whole = LOST.with_borrow(|lost| lost.range(range).next().is_none());
        if is_whole { Ok(()) } else { Err(Error::from_raw_os_error(libc::EIO)) }
    }

    pub(super) fn heal(range: Range<u64>) {
        LOST.with_borrow_mut(|lost| lost.retain(|offset| !range.contains(offset)));
    }
}
