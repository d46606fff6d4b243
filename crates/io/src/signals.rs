//! Signals to eventfds of other processes, and never a wait.
//!
//! A write to an eventfd waits while its count is full, unless `O_NONBLOCK` is set. That flag
//! belongs to everybody who has the file: whoever gave it can take the flag back between any look
//! at it and the write. `io_uring` asks the same flag. But the kernel adds to the count itself, and
//! never waits, for a request of Linux AIO that names an eventfd and is done. So a signal is such a
//! request: to read nothing of `/dev/null`, which is done before the call returns.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// Requests that a context is made for: at least half of them have room, however the kernel shares
/// them among its cores.
const REQUESTS_MAX: libc::c_long = 64;
/// Completions that are left lying before they are taken off.
const UNTAKEN_MAX: u8 = 32;

/// A file that is an eventfd. What another process gives may be any file, and to poll or to write
/// one may take as long as somebody likes.
#[derive(Debug)]
pub struct Eventfd(OwnedFd);

impl Eventfd {
    /// Takes a file that is one, and gives any other back.
    pub fn of(file: OwnedFd) -> Result<Self, OwnedFd> {
        // Every other name that the kernel gives is a path, or has another kind in front.
        let name = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
        match name {
            Ok(name) if name.as_os_str() == "anon_inode:[eventfd]" => Ok(Self(file)),
            Ok(_) | Err(_) => Err(file),
        }
    }

    pub fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }
}

impl AsFd for Eventfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// What one thread signals with. To make it, and to drop it, may take some milliseconds.
#[derive(Debug)]
pub struct Ringer {
    context: libc::c_ulong,
    nothing: File,
    untaken: u8,
}

/// The kernel's `struct iocb`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Request {
    token: u64,
    /// `aio_key` and `aio_rw_flags`, in the order of the machine's bytes.
    key_and_flags: [u32; 2],
    opcode: u16,
    priority: i16,
    file: u32,
    address: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    eventfd: u32,
}

/// The kernel's `struct io_event`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Completion {
    token: u64,
    request: u64,
    result: i64,
    result2: i64,
}

const _: () = assert!(size_of::<Request>() == 64);
const _: () = assert!(size_of::<Completion>() == 32);

const OPCODE_READ: u16 = 0;
const FLAG_EVENTFD: u32 = 1 << 0;

impl Ringer {
    pub fn new() -> io::Result<Self> {
        let nothing = File::open("/dev/null")?;
        let mut context: libc::c_ulong = 0;
        // SAFETY: the context is a place of the size that the kernel writes, and is zero, as it
        // wants it.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, REQUESTS_MAX, &raw mut context) };
        if result < 0 {
            let error = io::Error::last_os_error();
            let text = format!(
                "cannot signal, for Linux AIO is not to be had (io_setup): {error}; raise \
                 fs.aio-max-nr, or let the seccomp profile allow it"
            );
            return Err(io::Error::new(error.kind(), text));
        }
        Ok(Self { context, nothing, untaken: 0 })
    }

    /// Adds to the count of an eventfd; one that is full stays so, and its readers are woken.
    pub fn ring(&mut self, eventfd: &Eventfd) -> io::Result<()> {
        if self.untaken == UNTAKEN_MAX {
            self.take_completions()?;
        }
        let number = |fd: BorrowedFd<'_>| fd.as_raw_fd().cast_unsigned();
        let mut request = Request {
            opcode: OPCODE_READ,
            file: number(self.nothing.as_fd()),
            flags: FLAG_EVENTFD,
            eventfd: number(eventfd.as_fd()),
            ..Request::default()
        };
        let mut list = [&raw mut request];
        let count: libc::c_long = 1;
        // SAFETY: the context is ours; the list and its request are read during the call only, and
        // the request names no memory.
        let result =
            unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, list.as_mut_ptr()) };
        if result != 1 {
            return Err(io::Error::last_os_error());
        }
        self.untaken += 1;
        Ok(())
    }

    fn take_completions(&mut self) -> io::Result<()> {
        let mut room = [Completion::default(); UNTAKEN_MAX as usize];
        let (least, most): (libc::c_long, libc::c_long) = (0, UNTAKEN_MAX.into());
        let mut at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the context is ours, the room is for as many completions as are said, and the
        // time lives during the call.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                least,
                most,
                room.as_mut_ptr(),
                &raw mut at_once,
            )
        };
        let taken = u8::try_from(result).map_err(|_negative| io::Error::last_os_error())?;
        self.untaken -= taken;
        Ok(())
    }
}

impl Drop for Ringer {
    fn drop(&mut self) {
        // SAFETY: the context is ours, and nobody uses it any more.
        let result = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
        assert_eq!(result, 0, "a context that was made can be destroyed");
    }
}
