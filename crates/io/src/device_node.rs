//! Special files of block devices.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};

/// Makes the special file `path` for the block device `major`:`minor`, whether a driver serves it
/// or not: opening one that has none fails with `ENXIO`. It takes `CAP_MKNOD`.
pub fn make_block_node(path: &Path, major: u32, minor: u32) -> io::Result<()> {
    let (kind, mode) = (FileType::BlockDevice, Mode::from_raw_mode(0o660));
    Ok(mknodat(CWD, path, kind, mode, makedev(major, minor))?)
}

/// The numbers of the block device that `path` is the special file of, not looking behind a link.
#[must_use]
pub fn block_node_numbers(path: &Path) -> Option<(u32, u32)> {
    let found = fs::symlink_metadata(path).ok()?;
    let number = found.rdev();
    found.file_type().is_block_device().then(|| (libc::major(number), libc::minor(number)))
}
