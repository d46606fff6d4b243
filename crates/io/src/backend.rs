//! The one completion interface of a reactor, and the two ways to the kernel behind it.
//!
//! ```text
//! sockets, disks, ublk, kicks --- push(Operation, Tag) ---> Backend --- pop() ---> Completion
//!                                                           Uring: ring, one enter per turn
//!                                                           Poll:  epoll, plain calls, threads
//! ```
//!
//! Whoever pushes gets exactly one last completion for it, however it ends. A closed set of two:
//! one branch per request, and no call through a table.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use stdx::time::Time;

use crate::poll::Poller;
use crate::ring::Ring;

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

#[derive(Debug)]
pub(crate) enum Backend {
    Uring(Ring),
    Poll(Poller),
}

impl Backend {
    pub(crate) fn in_flight(&self) -> u64 {
        match self {
            Self::Uring(ring) => ring.in_flight(),
            Self::Poll(poller) => poller.in_flight(),
        }
    }

    /// System calls for submitting, waiting and, without a ring, for the requests themselves.
    pub(crate) fn enters(&self) -> u64 {
        match self {
            Self::Uring(ring) => ring.enters(),
            Self::Poll(poller) => poller.calls(),
        }
    }

    /// Takes in a file; requests name it by the place returned.
    pub(crate) fn install(&mut self, fd: RawFd) -> io::Result<Place> {
        match self {
            Self::Uring(ring) => ring.install(fd),
            Self::Poll(poller) => poller.install(fd),
        }
    }

    /// Lets go of a file. No request on it is outstanding.
    pub(crate) fn uninstall(&mut self, file: Place) {
        match self {
            Self::Uring(ring) => ring.uninstall(file),
            Self::Poll(poller) => poller.uninstall(file),
        }
    }

    /// Queues a request. It goes to the kernel with the next enter.
    ///
    /// # Safety
    /// Whatever memory the request names stays valid, and untouched where the kernel writes, until
    /// its last completion has been popped.
    #[inline]
    pub(crate) unsafe fn push(&mut self, operation: Operation, tag: Tag) {
        match self {
            // SAFETY: the caller vouches for the memory of the request.
            Self::Uring(ring) => unsafe { ring.push(operation, tag) },
            // SAFETY: as above.
            Self::Poll(poller) => unsafe { poller.push(operation, tag) },
        }
    }

    /// Whether there is a reason to enter the kernel although nobody wants to wait.
    pub(crate) fn wants_enter(&mut self) -> bool {
        match self {
            Self::Uring(ring) => ring.wants_enter(),
            // Only the kernel knows what has become ready.
            Self::Poll(_) => true,
        }
    }

    /// Whether a completion can be popped without entering the kernel.
    pub(crate) fn has_completion(&mut self) -> bool {
        match self {
            Self::Uring(ring) => ring.has_completion(),
            Self::Poll(poller) => poller.has_completion(),
        }
    }

    /// Submits everything queued, lets the kernel finish what it can, and waits for one completion
    /// if asked to. It may end early; that is no error.
    pub(crate) fn enter(&mut self, wait: Wait) -> io::Result<()> {
        match self {
            Self::Uring(ring) => ring.enter(wait),
            Self::Poll(poller) => poller.enter(wait),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Completion> {
        match self {
            Self::Uring(ring) => ring.pop(),
            Self::Poll(poller) => poller.pop(),
        }
    }
}
