//! Mappings: private address space that costs memory only where it is touched, and files that are
//! held in memory.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Page-aligned, zeroed, readable and writable; given back on drop.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
    /// Somebody else may still look at it: it is never given back.
    is_kept: bool,
}

pub(crate) const READ_WRITE: libc::c_int = libc::PROT_READ | libc::PROT_WRITE;

/// A new mapping of a file from `offset` on, or of memory where there is none: whoever asks for it
/// gives it back.
pub(crate) fn map(
    file: Option<&File>,
    length: usize,
    protection: libc::c_int,
    flags: libc::c_int,
    offset: libc::off_t,
) -> io::Result<NonNull<u8>> {
    let descriptor = file.map_or(-1, AsRawFd::as_raw_fd);
    // SAFETY: a new mapping at an address of the kernel's choice (no flag asks for a fixed one)
    // touches no memory that exists already.
    let address =
        unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, descriptor, offset) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(address.cast()).expect("a mapping is never at address zero"))
}

impl Mapping {
    /// Reserves `length` bytes. No page exists before its first touch.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        assert!(length > 0, "an empty mapping has no address");
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = map(None, length, READ_WRITE, flags, 0)?;
        Ok(Self { start, length, is_kept: false })
    }

    /// Holds the first `length` bytes of a file in memory as long as the mapping lives. Nobody
    /// looks at them through it: a file that becomes shorter is no harm.
    pub(crate) fn hold(file: &File, length: usize) -> io::Result<Self> {
        let start = map(Some(file), length, READ_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE, 0)?;
        let mapping = Self { start, length, is_kept: false };
        // SAFETY: the range is the mapping that was just made.
        let result = unsafe { libc::mlock(start.as_ptr().cast(), length) };
        if result == 0 { Ok(mapping) } else { Err(io::Error::last_os_error()) }
    }

    /// The first `length` bytes of a file, to be written; `MAP_SYNC` of the flags has the kernel
    /// refuse where a store does not survive a loss of power without a word to the file system.
    pub(crate) fn shared(file: &File, length: usize, flags: libc::c_int) -> io::Result<Self> {
        let start = map(Some(file), length, READ_WRITE, flags, 0)?;
        Ok(Self { start, length, is_kept: false })
    }

    /// Has the kernel find memory for a range now.
    pub(crate) fn populate(&self, offset: usize, length: usize) -> io::Result<()> {
        self.advise(offset, length, libc::MADV_POPULATE_WRITE)
    }

    /// The address of `offset`, valid for `length` bytes as long as the mapping lives.
    pub(crate) fn at(&self, offset: usize, length: usize) -> *mut u8 {
        let end = offset.checked_add(length).expect("a range inside the address space");
        assert!(end <= self.length, "{offset}+{length} is outside of {} bytes", self.length);
        // SAFETY: the offset was just checked to lie inside the mapping or one past its end.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Leaves the mapping in place for ever, for those who look at it from outside.
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Gives the pages of a range back; they read as zeroes afterwards. Nobody may hold a
    /// reference into the range, nor may the kernel: the caller knows that it is unused.
    pub(crate) fn forget(&mut self, offset: usize, length: usize) -> io::Result<()> {
        match self.advise(offset, length, libc::MADV_DONTNEED_LOCKED) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
                self.advise(offset, length, libc::MADV_DONTNEED)
            }
            result => result,
        }
    }

    fn advise(&self, offset: usize, length: usize, advice: libc::c_int) -> io::Result<()> {
        let address = self.at(offset, length);
        // SAFETY: the range lies inside our own mapping (`at` checked it), and the kinds of advice
        // used here keep it readable and writable.
        let result = unsafe { libc::madvise(address.cast(), length, advice) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // SAFETY: exactly the range that `new` mapped; the owner outlives every user of it.
        let result = unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
        assert_eq!(result, 0, "a whole mapping can be unmapped");
    }
}

/// One value on the heap whose address the kernel may be given: it does not move when its owner
/// moves, and no reference to it exists while the kernel uses it.
#[derive(Debug)]
pub(crate) struct Lent<T> {
    address: NonNull<T>,
}

impl<T> Lent<T> {
    pub(crate) fn new(value: T) -> Self {
        let address = Box::into_raw(Box::new(value));
        Self { address: NonNull::new(address).expect("a box is never at address zero") }
    }

    /// For the kernel. It stays valid until the owner is dropped.
    pub(crate) fn address(&self) -> *mut T {
        self.address.as_ptr()
    }

    /// The value, which the kernel at most reads.
    pub(crate) fn get(&self) -> &T {
        // SAFETY: the value is alive until drop, and a mutable reference borrows `self` mutably.
        unsafe { self.address.as_ref() }
    }

    /// The value, while the kernel does not use it: the caller has nothing outstanding on it.
    pub(crate) fn get_mut(&mut self) -> &mut T {
        // SAFETY: the value is alive until drop, and `self` is borrowed mutably, so no other
        // reference exists.
        unsafe { self.address.as_mut() }
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        // SAFETY: the address came from `Box::into_raw` in `new` and is freed only here.
        drop(unsafe { Box::from_raw(self.address.as_ptr()) });
    }
}
