//! The plain system calls behind the operations, with results as a ring would give them: a count
//! or descriptor, or a negated errno.

use std::io;
use std::os::fd::RawFd;

use crate::operation::{DiskCall, SocketCall};

/// Does what can be done on a socket now. `None` means that the socket is not ready for it.
///
/// # Safety
/// The memory that the call names is valid.
pub(super) unsafe fn attempt(fd: RawFd, call: SocketCall) -> Option<i32> {
    let result = match call {
        SocketCall::Accept => {
            let nobody = std::ptr::null_mut();
            // SAFETY: no address is asked for.
            let accepted =
                unsafe { libc::accept4(fd, nobody, std::ptr::null_mut(), libc::SOCK_CLOEXEC) };
            to_result(accepted)
        }
        SocketCall::Connect { address, length } => {
            // SAFETY: the caller vouches for the address.
            return connected(to_result(unsafe { libc::connect(fd, address, length) }));
        }
        SocketCall::Receive { into, length, .. } => {
            // SAFETY: the caller vouches for the memory.
            let received =
                unsafe { libc::recv(fd, into.cast(), length as usize, libc::MSG_DONTWAIT) };
            to_result(received)
        }
        SocketCall::Send { message } => {
            let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
            // SAFETY: the caller vouches for the message and for what it names.
            to_result(unsafe { libc::sendmsg(fd, message, flags) })
        }
    };
    (result != -libc::EAGAIN).then_some(result)
}

/// A connect is asked for again until it says how the first attempt ended.
fn connected(result: i32) -> Option<i32> {
    match -result {
        libc::EISCONN => Some(0),
        libc::EINPROGRESS | libc::EALREADY => None,
        // The queue of a unix listener is full, and nothing would tell when it no longer is.
        libc::EAGAIN => Some(-libc::ECONNREFUSED),
        _ => Some(result),
    }
}

/// Does a request on a disk, however long it takes.
///
/// # Safety
/// The memory that the call names is valid, and nobody else touches what the kernel writes.
pub(super) unsafe fn carry_out(fd: RawFd, call: DiskCall) -> i32 {
    match call {
        DiskCall::Read { offset, into, length } => {
            let Ok(offset) = libc::off64_t::try_from(offset) else { return -libc::EINVAL };
            // SAFETY: the caller vouches for the memory.
            to_result(unsafe { libc::pread64(fd, into.cast(), length as usize, offset) })
        }
        DiskCall::Write { offset, from, length, flags } => {
            let Ok(offset) = libc::off64_t::try_from(offset) else { return -libc::EINVAL };
            let vector = libc::iovec { iov_base: from.cast_mut().cast(), iov_len: length as usize };
            // SAFETY: the caller vouches for the memory, which the kernel only reads.
            to_result(unsafe { libc::pwritev2(fd, &raw const vector, 1, offset, flags) })
        }
        // SAFETY: no pointer is passed.
        DiskCall::Sync => to_result(unsafe { libc::fdatasync(fd) }),
        DiskCall::Allocate { offset, length, mode } => {
            let (Ok(offset), Ok(length)) =
                (libc::off64_t::try_from(offset), libc::off64_t::try_from(length))
            else {
                return -libc::EINVAL;
            };
            // SAFETY: no pointer is passed.
            to_result(unsafe { libc::fallocate64(fd, mode, offset, length) })
        }
    }
}

/// Accepting and connecting wait on a socket in blocking mode, whatever the flags of the call.
pub(super) fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    let mut on: libc::c_int = 1;
    // SAFETY: FIONBIO reads one int.
    let result = unsafe { libc::ioctl(fd, libc::FIONBIO, &raw mut on) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn to_result<T: TryInto<i32> + PartialOrd + Default>(result: T) -> i32 {
    if result < T::default() {
        return -io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
    }
    result.try_into().unwrap_or(i32::MAX)
}
