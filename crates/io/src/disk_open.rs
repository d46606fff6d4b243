//! Opening a disk and finding out, once, how it is best used.
//!
//! `O_DIRECT` through the ring is the way for block devices and for files on disk. A memory file
//! system gains nothing from it: the ring would hand each request to a worker thread, which costs
//! twice the CPU of a plain `pwrite` on the shard's own thread. The page cache is the last
//! resort; there only what cannot wait for a disk is done on the shard's thread.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom};
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{
    AtFlags, FallocateFlags, OFlags, SeekFrom as Whence, Statx, StatxFlags, fallocate, fcntl_getfl,
    fcntl_setfl, fstatfs,
};

use crate::disks::persistent::{Durable, LINE_BYTES, Region};
use crate::memory::Mapping;

/// Whether a disk is used past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direct {
    /// `O_DIRECT` where the file system has it, the page cache elsewhere.
    #[default]
    Auto,
    /// `O_DIRECT`, or opening fails.
    Required,
    /// The page cache.
    Never,
}

/// Whether writes are stores into memory that survives a loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Persistent {
    /// They are system calls.
    #[default]
    No,
    /// Where the file is on persistent memory (a DAX file system).
    WhereDurable,
    /// Of any file; elsewhere they survive the end of the process, and no more. For tests.
    Always,
}

impl Persistent {
    /// Where tests and operators say it.
    pub const VARIABLE: &'static str = "BASALT_METADATA";

    /// How metadata of its own is to be written; nothing is `WhereDurable`.
    ///
    /// # Errors
    /// Another word than `auto`, `written` and `mapped`.
    pub fn from_environment() -> io::Result<Self> {
        let Some(value) = std::env::var_os(Self::VARIABLE) else { return Ok(Self::WhereDurable) };
        match value.to_str() {
            Some("auto" | "") => Ok(Self::WhereDurable),
            Some("written") => Ok(Self::No),
            Some("mapped") => Ok(Self::Always),
            _ => {
                let text =
                    format!("{} is {value:?}: it is one of auto, written, mapped", Self::VARIABLE);
                Err(io::Error::new(io::ErrorKind::InvalidInput, text))
            }
        }
    }
}

/// How to open a disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskOptions {
    /// Nobody else may have it open this way: `O_EXCL` of a device, `flock` of a file.
    pub exclusive: bool,
    pub read_only: bool,
    pub direct: Direct,
    /// A file of a memory file system stays in memory, as far as this process may ask for that:
    /// the kernel may not swap it out, perhaps onto a volume that waits for this very file.
    pub resident: bool,
    pub persistent: Persistent,
}

/// How requests reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathMode {
    /// `O_DIRECT` through the ring.
    Direct,
    /// Memory file system: `pwrite` and `pread` on the shard's thread.
    InlineMemory,
    /// Persistent memory: stores and `pread` on the shard's thread; all that is written is durable.
    Persistent,
    /// The same with an ordinary file: what is written survives the end of the process alone.
    Mapped,
    /// Page cache: cached writes and cache hits on the shard's thread, the rest through the ring.
    InlineBuffered,
}

/// What is known of an open disk.
#[derive(Clone, Copy, Debug)]
pub struct DiskInfo {
    pub size_bytes: u64,
    /// Memory must start at a multiple of this.
    pub mem_align: u32,
    /// Offset and length must be multiples of this.
    pub offset_align: u32,
    pub path_mode: PathMode,
    /// The file system cannot start a request without perhaps waiting, so that the kernel gives
    /// each one that goes through the ring to a worker thread. It works, at a higher cost.
    pub by_worker: bool,
    pub is_block_device: bool,
    pub identity: DiskIdentity,
}

/// Which disk it is, whatever its path leads to by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskIdentity {
    /// The number of the device, whichever node of it was opened.
    BlockDevice {
        number: u64,
    },
    File {
        file_system: u64,
        inode: u64,
    },
}

impl DiskIdentity {
    /// That of an open file.
    ///
    /// # Errors
    /// As `fstat`.
    pub fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(if found.file_type().is_block_device() {
            Self::BlockDevice { number: found.rdev() }
        } else {
            Self::File { file_system: found.dev(), inode: found.ino() }
        })
    }
}

/// The alignment assumed where the kernel names none: right for every disk in use.
const ALIGN_UNKNOWN: u32 = 4096;

pub(crate) fn open(path: &Path, options: DiskOptions) -> io::Result<(File, DiskInfo)> {
    let (file, is_block_device) = open_file(path, options)?;
    if options.exclusive && !is_block_device {
        lock(path, &file)?;
    }
    let mapped = mapped_mode(&file, size(&file)?, options.persistent);
    let align = if mapped.is_none() { make_direct(path, &file, options.direct)? } else { None };
    let path_mode = match (mapped, &align) {
        (Some(mode), _) => mode,
        (None, Some(_)) => PathMode::Direct,
        (None, None) if is_in_memory(&file)? => PathMode::InlineMemory,
        (None, None) => PathMode::InlineBuffered,
    };
    let unaligned = Align { mem: 1, offset: mapped.map_or(1, |_| LINE_BYTES) };
    let Align { mem, offset } = align.unwrap_or(unaligned);
    let info = DiskInfo {
        size_bytes: size(&file)?,
        mem_align: mem,
        offset_align: offset,
        path_mode,
        by_worker: mapped.is_none()
            && path_mode != PathMode::InlineMemory
            && !can_start_without_waiting(&file, offset)?,
        is_block_device,
        identity: DiskIdentity::of(&file)?,
    };
    Ok((file, info))
}

/// How a file is used whose writes can be the stores that were asked for.
fn mapped_mode(file: &File, size_bytes: u64, wish: Persistent) -> Option<PathMode> {
    if wish == Persistent::No {
        return None;
    }
    if Region::map(file, size_bytes, Durable::Yes).is_ok() {
        return Some(PathMode::Persistent);
    }
    let is_mapped = || Region::map(file, size_bytes, Durable::No).is_ok();
    (wish == Persistent::Always && is_mapped()).then_some(PathMode::Mapped)
}

/// The size of a file or of a block device.
pub(crate) fn size(mut file: &File) -> io::Result<u64> {
    file.seek(SeekFrom::End(0))
}

/// The size of a file as far as the kernel knows it: nothing is waited for.
pub(crate) fn known_size(file: &File) -> io::Result<u64> {
    statx(file, AtFlags::STATX_DONT_SYNC, StatxFlags::SIZE).map(|stat| stat.stx_size)
}

/// The first stretch of `range` for which the file system keeps blocks; `None` if it is one hole.
/// A block device, and a file system that does not know, keep all of it.
///
/// # Errors
/// As `lseek`.
pub fn next_data(file: &File, range: Range<u64>) -> io::Result<Option<Range<u64>>> {
    if range.is_empty() {
        return Ok(None);
    }
    let start = match seek(file, Whence::Data(range.start)) {
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Ok(None),
        // A block device knows of no holes.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(Some(range)),
        start => start?,
    };
    if start >= range.end {
        return Ok(None);
    }
    let end = seek(file, Whence::Hole(start))?;
    Ok(Some(start..end.min(range.end)))
}

/// Makes a file longer, with blocks that are there to be written and read as zeroes. Where it
/// cannot be, as on a full file system, the file keeps its length.
///
/// # Errors
/// As `fallocate`.
pub fn extend_file(file: &File, range: Range<u64>) -> io::Result<()> {
    let Err(error) = fallocate(file, FallocateFlags::empty(), range.start, range.end - range.start)
    else {
        return Ok(());
    };
    // A part may be there already.
    file.set_len(range.start)?;
    Err(error.into())
}

fn seek(file: &File, to: Whence) -> io::Result<u64> {
    Ok(rustix::fs::seek(file, to)?)
}

fn open_file(path: &Path, options: DiskOptions) -> io::Result<(File, bool)> {
    let fail = |error| explain(path, &error);
    let kind = std::fs::metadata(path).map_err(fail)?.file_type();
    let is_block_device = kind.is_block_device();
    if !is_block_device && !kind.is_file() {
        let text =
            format!("cannot open disk {}: it is no block device and no file", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    // `O_EXCL` without `O_CREAT` means something for block devices only.
    let flags = if options.exclusive && is_block_device { libc::O_EXCL } else { 0 };
    let mut open = OpenOptions::new();
    let file =
        open.read(true).write(!options.read_only).custom_flags(flags).open(path).map_err(fail)?;
    let opened = file.metadata().map_err(fail)?.file_type();
    if opened.is_block_device() == is_block_device {
        Ok((file, is_block_device))
    } else {
        let text = format!("cannot open disk {}: it changed while it was opened", path.display());
        Err(io::Error::other(text))
    }
}

fn explain(path: &Path, error: &io::Error) -> io::Error {
    let path = path.display();
    let advice = match error.raw_os_error() {
        Some(libc::EBUSY) => "; it is mounted or another program holds it: see lsblk and fuser",
        Some(libc::EACCES | libc::EPERM) => "; run as root, or give this user the disk",
        _ => "",
    };
    io::Error::new(error.kind(), format!("cannot open disk {path}: {error}{advice}"))
}

fn lock(path: &Path, file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let path = path.display();
            let text =
                format!("cannot open disk {path}: another program holds its lock: see fuser");
            Err(io::Error::new(io::ErrorKind::ResourceBusy, text))
        }
        Err(TryLockError::Error(error)) => Err(explain(path, &error)),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Align {
    pub(crate) mem: u32,
    pub(crate) offset: u32,
}

/// Turns `O_DIRECT` on and says what alignment it needs; `None` if the file is to be used without.
pub(crate) fn make_direct(path: &Path, file: &File, direct: Direct) -> io::Result<Option<Align>> {
    let refusal = |reason: &str| {
        let path = path.display();
        let text = format!("cannot open disk {path} past the page cache: {reason}");
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    };
    if direct == Direct::Never {
        return Ok(None);
    }
    let is_required = direct == Direct::Required;
    if is_in_memory(file)? {
        return if is_required { refusal("it is in memory, there is no disk") } else { Ok(None) };
    }
    let align = direct_align(file)?;
    if align.offset == 0 || !set_direct(file) {
        return if is_required { refusal("its file system has no O_DIRECT") } else { Ok(None) };
    }
    Ok(Some(align))
}

/// What `O_DIRECT` needs of this file; zeroes if the kernel says that there is none.
fn direct_align(file: &File) -> io::Result<Align> {
    let stat = statx(file, AtFlags::empty(), StatxFlags::DIOALIGN)?;
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return Ok(Align { mem: ALIGN_UNKNOWN, offset: ALIGN_UNKNOWN });
    }
    Ok(Align { mem: stat.stx_dio_mem_align, offset: stat.stx_dio_offset_align })
}

fn statx(file: &File, flags: AtFlags, mask: StatxFlags) -> io::Result<Statx> {
    Ok(rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH | flags, mask)?)
}

fn set_direct(file: &File) -> bool {
    fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags | OFlags::DIRECT)).is_ok()
}

fn is_in_memory(file: &File) -> io::Result<bool> {
    const RAMFS_MAGIC: i64 = 0x8584_58f6;
    let kind = fstatfs(file)?.f_type;
    if file.metadata()?.file_type().is_block_device() {
        // The file system is that of the device node.
        return Ok(false);
    }
    Ok(kind == libc::TMPFS_MAGIC || kind == RAMFS_MAGIC)
}

/// Asks for one block with `RWF_NOWAIT`: a file system that does not know the flag is one for
/// which the ring uses worker threads.
fn can_start_without_waiting(file: &File, offset_align: u32) -> io::Result<bool> {
    let length = (offset_align as usize).max(4096);
    let room = Mapping::new(length)?;
    let vector = libc::iovec { iov_base: room.at(0, length).cast(), iov_len: length };
    // SAFETY: the descriptor is open, and the vector names memory of our own.
    let result =
        unsafe { libc::preadv2(file.as_raw_fd(), &raw const vector, 1, 0, libc::RWF_NOWAIT) };
    Ok(result >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::EOPNOTSUPP))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Block devices do so, and so do most files of /proc.
    #[test]
    fn what_knows_of_no_holes_is_data_throughout() {
        let file = File::open("/proc/self/maps").unwrap();
        let refused = seek(&file, Whence::Data(0)).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EINVAL));
        assert_eq!(next_data(&file, 512..4096).unwrap(), Some(512..4096));
        assert_eq!(next_data(&file, 4096..4096).unwrap(), None);
    }
}
