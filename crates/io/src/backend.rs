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

use crate::operation::{Completion, Operation, Place, Tag, Wait};
use crate::poll::Poller;
use crate::ring::Ring;

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
