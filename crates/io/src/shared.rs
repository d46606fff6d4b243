//! Memory that another process reads and writes at the same time: a guest's, or what is kept for
//! the next daemon.
//!
//! No reference into it is ever made, for the other side may change a byte at any moment: bytes
//! are copied out before anybody looks at them, and indices are loaded and stored atomically. A
//! file that could become shorter is turned away: touching what it lost would end the process. So
//! is one on huge pages, of which there may be none left when a hole in it is touched: no seal
//! keeps the other side from making holes, and those take back what a mapping had reserved.

use std::fs::File;
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstatfs, memfd_create};

use crate::memory;

/// A stretch of a file that is mapped shared, until dropped.
#[derive(Debug)]
pub struct SharedMemory {
    /// The pages that hold it.
    mapping: NonNull<u8>,
    mapped: usize,
    /// Where it begins in them.
    skip: usize,
    length: usize,
}

// SAFETY: the mapping belongs to no thread, and every access goes through a raw pointer.
unsafe impl Send for SharedMemory {}
// SAFETY: as above; whoever shares it expects its bytes to change under him.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps `length` bytes of `file` from `offset` on. The file must never become shorter: it is
    /// sealed against that, or can be. Its pages are of the usual size. What is in them is not
    /// this process', and is not written into a core file of it.
    pub fn map(file: &File, offset: u64, length: u64) -> io::Result<Self> {
        let refuse = |text: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, text.to_owned()));
        refuse_huge_pages(file)?;
        seal(file)?;
        let end = offset.checked_add(length);
        if length == 0 || end.is_none_or(|end| end > file_length(file)) {
            return refuse("the range is not inside of the file");
        }
        let skip = offset % rustix::param::page_size() as u64;
        let (Ok(length), Ok(mapped), Ok(from), Ok(skip)) = (
            usize::try_from(length),
            usize::try_from(length + skip),
            libc::off_t::try_from(offset - skip),
            usize::try_from(skip),
        ) else {
            return refuse("the range is too long for this machine");
        };
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let mapping = memory::map(Some(file), mapped, memory::READ_WRITE, flags, from)?;
        let memory = Self { mapping, mapped, skip, length };
        // SAFETY: exactly the range that was just mapped; what is in it stays as it is.
        if unsafe { libc::madvise(mapping.as_ptr().cast(), mapped, libc::MADV_DONTDUMP) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(memory)
    }

    #[must_use]
    pub fn length(&self) -> u64 {
        self.length as u64
    }

    /// Copies bytes out; false if they are not all inside.
    #[must_use]
    pub fn read(&self, at: u64, into: &mut [u8]) -> bool {
        let Some(from) = self.place(at, into.len()) else { return false };
        // SAFETY: the source lies inside the mapping, which cannot shrink, and the target is a
        // slice of our own. Bytes that the other side changes meanwhile arrive old or new.
        unsafe { std::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len()) };
        true
    }

    /// Copies bytes in; false if they do not all fit inside.
    #[must_use]
    pub fn write(&self, at: u64, from: &[u8]) -> bool {
        let Some(to) = self.place(at, from.len()) else { return false };
        // SAFETY: the target lies inside the mapping, which cannot shrink, and the source is a
        // slice of our own.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
        true
    }

    /// Loads a little-endian index, and sees what was stored before it; `None` if it is not
    /// inside, or not aligned.
    #[must_use]
    pub fn load(&self, at: u64) -> Option<u16> {
        Some(u16::from_le(self.index(at)?.load(Ordering::Acquire)))
    }

    /// Stores a little-endian index after everything that was written before.
    #[must_use]
    pub fn store(&self, at: u64, value: u16) -> bool {
        let index = self.index(at);
        if let Some(index) = index {
            index.store(value.to_le(), Ordering::Release);
        }
        index.is_some()
    }

    fn index(&self, at: u64) -> Option<&AtomicU16> {
        let place = self.place(at, size_of::<u16>())?;
        if !place.cast::<u16>().is_aligned() {
            return None;
        }
        // SAFETY: the place is aligned and inside the mapping, which lives as long as `self`, and
        // the other side treats it as an atomic, too.
        Some(unsafe { AtomicU16::from_ptr(place.cast()) })
    }

    fn place(&self, at: u64, length: usize) -> Option<*mut u8> {
        let at = usize::try_from(at).ok()?;
        if at.checked_add(length)? > self.length {
            return None;
        }
        // SAFETY: the offset was just checked to lie inside the mapping or one past its end.
        Some(unsafe { self.mapping.as_ptr().add(self.skip + at) })
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `map` mapped, and nobody holds a pointer into it.
        let result = unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped) };
        // The kernel may have joined it to another mapping of the file, and may be out of room for
        // the parts. Then it stays, which costs addresses and harms nobody.
        debug_assert_eq!(result, 0, "a whole mapping can be unmapped");
    }
}

/// A new file in memory of `length` zeroes, which can be given to other processes.
pub fn memory_file(length: u64) -> io::Result<File> {
    let file = memfd_create("basalt", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let file = File::from(file);
    file.set_len(length)?;
    seal(&file)?;
    Ok(file)
}

fn file_length(file: &File) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

/// A file system of huge pages is the only one besides tmpfs whose files can be sealed.
fn refuse_huge_pages(file: &File) -> io::Result<()> {
    if fstatfs(file)?.f_type != libc::HUGETLBFS_MAGIC {
        return Ok(());
    }
    let text = "the memory is on reserved huge pages, which may be gone when they are touched; use \
                usual ones (QEMU: memory-backend-memfd,share=on,hugetlb=off)";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Makes sure that a file cannot become shorter.
fn seal(file: &File) -> io::Result<()> {
    if fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SealFlags::SHRINK))
        || fcntl_add_seals(file, SealFlags::SHRINK).is_ok()
    {
        return Ok(());
    }
    let text = "the memory is of a file that may become shorter; use a sealed one \
                (QEMU: memory-backend-memfd,share=on)";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

    use stdx::testing::skip;

    use super::*;

    #[test]
    fn two_mappings_of_a_file_see_the_same() {
        let file = memory_file(8192).unwrap();
        let whole = SharedMemory::map(&file, 0, 8192).unwrap();
        let end = SharedMemory::map(&file, 4096, 4096).unwrap();
        assert!(whole.write(4098, b"basalt"));
        let mut seen = [0; 6];
        assert!(end.read(2, &mut seen));
        assert_eq!(&seen, b"basalt");
        assert!(end.store(8, 0x0102));
        assert_eq!(whole.load(4104), Some(0x0102));
        assert!(whole.read(4104, &mut seen[..2]));
        assert_eq!(seen[..2], [2, 1]);
    }

    #[test]
    fn nothing_outside_is_touched() {
        let file = memory_file(4096).unwrap();
        let memory = SharedMemory::map(&file, 0, 4096).unwrap();
        let mut two = [0; 2];
        assert!(memory.read(4094, &mut two));
        for at in [4095, 4096, u64::MAX - 1, u64::MAX] {
            assert!(!memory.read(at, &mut two), "{at}");
            assert!(!memory.write(at, &two), "{at}");
            assert_eq!(memory.load(at), None, "{at}");
            assert!(!memory.store(at, 1), "{at}");
        }
        assert_eq!(memory.load(1), None, "not aligned");
    }

    #[test]
    fn ranges_outside_of_the_file_are_refused() {
        let file = memory_file(4096).unwrap();
        for (offset, length) in [(0, 0), (0, 8192), (4096, 1), (1, 4096), (u64::MAX, 2)] {
            SharedMemory::map(&file, offset, length).unwrap_err();
        }
    }

    /// The rest of a file costs no addresses, and is not touched.
    #[test]
    fn stretch_may_begin_and_end_within_a_page() {
        let file = memory_file(1 << 46).unwrap();
        let begin = (1 << 45) + 4098;
        let memory = SharedMemory::map(&file, begin, 8000).unwrap();
        assert!(memory.mapped <= 4 * 4096 && memory.length() == 8000);
        assert!(memory.write(0, b"first") && memory.write(7996, b"last"));
        assert!(!memory.write(7997, b"last"));
        assert!(memory.store(6, 7) && !memory.store(7, 7));
        let pages = SharedMemory::map(&file, 1 << 45, 1 << 14).unwrap();
        let mut seen = [0; 5];
        assert!(pages.read(4098, &mut seen) && seen == *b"first");
        assert!(pages.read(4098 + 7996, &mut seen[..4]) && seen[..4] == *b"last");
        assert_eq!(pages.load(4104), Some(7));
    }

    /// What guests have in their memory has nothing to seek on the disk of the host.
    #[test]
    fn core_file_has_nothing_of_it() {
        let file = memory_file(12 << 12).unwrap();
        let memory = SharedMemory::map(&file, 4096, 11 << 12).unwrap();
        let start = format!("{:x}-", memory.mapping.as_ptr() as usize);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mapping = maps.lines().skip_while(|line| !line.starts_with(&start));
        let flags = mapping.into_iter().find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split(' ').any(|flag| flag == "dd"), "{flags}");
    }

    #[test]
    fn memory_that_may_shrink_is_refused() {
        let file = tempfile_without_seals();
        let error = SharedMemory::map(&file, 0, 4096).unwrap_err();
        assert!(error.to_string().contains("memory-backend-memfd"), "{error}");
        memory_file(4096).unwrap().set_len(100).unwrap_err();
    }

    /// A page of them that is not there yet, or not any more, need not be there when it is touched.
    #[test]
    fn huge_pages_are_refused_with_what_to_type() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
        let file = match memfd_create("huge", flags) {
            Ok(file) => File::from(file),
            Err(error) => {
                skip(&format!("this kernel has no huge pages: {error}"));
                return;
            }
        };
        file.set_len(1 << 30).unwrap();
        for length in [4096, 1 << 30] {
            let error = SharedMemory::map(&file, 0, length).unwrap_err();
            assert!(error.to_string().contains("hugetlb=off"), "{error}");
        }
    }

    /// Where its file system is full, touching a hole of such a file would end the process.
    #[test]
    fn file_of_a_mounted_tmpfs_is_refused() {
        let mut options = File::options();
        options.read(true).write(true).custom_flags(libc::O_TMPFILE);
        let Ok(file) = options.open("/dev/shm") else {
            skip("there is no /dev/shm here");
            return;
        };
        file.set_len(4096).unwrap();
        SharedMemory::map(&file, 0, 4096).unwrap_err();
    }

    fn tempfile_without_seals() -> File {
        let path = std::env::temp_dir().join(format!("basalt-shared-{}", crate::random_u64()));
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.set_len(4096).unwrap();
        file
    }
}
