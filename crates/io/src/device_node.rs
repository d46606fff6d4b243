//! Special files of block devices.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// Makes the special file `path` for the block device `major`:`minor`, whether a driver serves it
/// or not: opening one that has none fails with `ENXIO`. It takes `CAP_MKNOD`.
pub fn make_block_node(path: &Path, major: u32, minor: u32) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mode = libc::S_IFBLK | 0o660;
    // SAFETY: the string ends with a zero and outlives the call.
    if unsafe { libc::mknod(path.as_ptr(), mode, libc::makedev(major, minor)) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The numbers of the block device that `path` is the special file of, not looking behind a link.
#[must_use]
pub fn block_node_numbers(path: &Path) -> Option<(u32, u32)> {
    let found = fs::symlink_metadata(path).ok()?;
    let number = found.rdev();
    found.file_type().is_block_device().then(|| (libc::major(number), libc::minor(number)))
}
