//! What the kernel is asked to do, and what it answers, whichever way it is spoken to.

use std::os::fd::RawFd;
use std::time::Duration;

use stdx::time::Time;

/// A file's place in the back end's table; requests name it by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(pub(crate) u32);

/// What the kernel is asked to do. Addresses are those of memory that the pusher vouches for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Socket {
        socket: Place,
        fd: RawFd,
        call: SocketCall,
    },
    Disk {
        file: Place,
        fd: RawFd,
        call: DiskCall,
    },
    /// Takes the count of an eventfd.
    TakeCount {
        eventfd: RawFd,
        into: *mut u64,
    },
    /// Completes for each signal of an eventfd, and goes on until it is cancelled.
    Watch {
        eventfd: RawFd,
    },
    Unwatch {
        tag: Tag,
    },
    /// A command to the character device of a ublk device.
    Command {
        device: RawFd,
        operation: u32,
        bytes: [u8; 16],
    },
    /// Ends everything that is under way on a socket.
    Cancel {
        socket: Place,
    },
    CancelAll,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SocketCall {
    /// Completes for each connection, and goes on until it fails.
    Accept,
    Connect {
        address: *const libc::sockaddr,
        length: libc::socklen_t,
    },
    Receive {
        into: *mut u8,
        length: u32,
        /// Nothing is there yet, as far as is known.
        is_early: bool,
    },
    Send {
        message: *const libc::msghdr,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum DiskCall {
    Read {
        offset: u64,
        into: *mut u8,
        length: u32,
    },
    /// With `RWF_` flags.
    Write {
        offset: u64,
        from: *const u8,
        length: u32,
        flags: libc::c_int,
    },
    /// Makes data durable that was written.
    Sync,
    /// `fallocate` with its mode.
    Allocate {
        offset: u64,
        length: u64,
        mode: libc::c_int,
    },
}

/// What a completion belongs to. Fits in the 64 bits that the kernel hands back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// The eventfd of the reactor's waker was read.
    Wake,
    /// Everything of a dropped reactor was cancelled.
    CancelAll,
    /// The requests of one socket were cancelled.
    Cancel(u32),
    Accept(u32),
    Connect(u32),
    Recv(u32),
    Send(u32),
    Disk(u32),
    /// A queue of a ublk device and a tag of it.
    Block(u32),
    /// An eventfd that is watched.
    Kick(u32),
}

/// One answer of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(crate) tag: Tag,
    /// A count or descriptor if not negative, else a negated errno.
    pub(crate) result: i32,
    /// The request goes on and will complete again.
    pub(crate) more: bool,
}

/// How long an enter may wait for the first completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    No,
    /// `together` completions are waited for first, for a moment, where the back end can.
    For {
        now: Time,
        limit: Duration,
        together: u32,
    },
    Forever,
}
