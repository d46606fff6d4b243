//! What the reactor tells its owner, by which ids, and what the sources of its events share.
//!
//! A source (sockets, disks, queues of ublk devices, kicks) asks the back end of the base, and puts
//! an event into its list when the answer is there.

use std::collections::VecDeque;
use std::io;

use crate::backend::Backend;
use crate::pool::Pool;

/// What happened. `token` is what the request carried; a listener gives its own to each connection.
#[derive(Debug)]
pub enum Event {
    Accepted {
        token: u64,
        listener: SocketId,
        socket: SocketId,
    },
    /// Accepting goes on by itself, after a moment if descriptors or memory had run out.
    AcceptFailed {
        token: u64,
        listener: SocketId,
        error: io::Error,
    },
    Connected {
        token: u64,
        socket: SocketId,
        result: io::Result<()>,
    },
    /// Zero bytes are the end of the stream.
    Received {
        token: u64,
        socket: SocketId,
        result: io::Result<u32>,
    },
    /// All bytes went out, or the stream is of no more use.
    Sent {
        token: u64,
        socket: SocketId,
        result: io::Result<u32>,
    },
    /// Bytes read or written; zero for flush and zero.
    Disk {
        token: u64,
        disk: DiskId,
        result: io::Result<u32>,
    },
    /// The kernel has a request for a ublk device, to be answered by `commit_request`.
    Fetched {
        token: u64,
        queue: QueueId,
        tag: u16,
        descriptor: Descriptor,
    },
    /// The kernel has no request any more, for the device was stopped. To be closed.
    QueueEnded {
        token: u64,
        queue: QueueId,
    },
    /// An eventfd that is watched was signalled since the last such event.
    Kicked {
        token: u64,
    },
    /// An eventfd could not be watched any more, and is closed.
    KicksFailed {
        token: u64,
        error: io::Error,
    },
}

/// A socket of one reactor. The id of a closed socket never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SocketId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A disk of one reactor. The id of a closed disk never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiskId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// A queue of one reactor, without saying which the first. The id of a closed queue never names
/// another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// What the kernel says of a request, in its own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub operation_and_flags: u32,
    pub sectors: u32,
    pub start_sector: u64,
}

/// A watch of one reactor. The id of a closed one never names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KickId {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// What a reactor has done since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub turns: u64,
    /// Calls of `io_uring_enter`, or all calls of the back end that polls.
    pub enters: u64,
    /// Those that might sleep.
    pub waits: u64,
    /// Looks before a sleep, and those that found something.
    pub spins: u64,
    pub spins_lucky: u64,
    /// Sleeps that a waker ended.
    pub wakes: u64,
    pub accepts: u64,
    pub connects: u64,
    pub sends: u64,
    pub sends_continued: u64,
    pub send_bytes: u64,
    pub recvs: u64,
    pub recv_bytes: u64,
    /// Disk requests that went through the ring, or to the threads of the back end that polls.
    pub disk_ring: u64,
    /// Disk requests done on the shard's thread.
    pub disk_inline: u64,
    /// Requests of ublk devices.
    pub fetches: u64,
}

/// What sockets and disks both work with.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) backend: Backend,
    pub(crate) pool: Pool,
    /// Events for the next turn to deliver.
    pub(crate) ready: VecDeque<Event>,
    pub(crate) counters: Counters,
}

/// A kernel result as a count or an error.
pub(crate) fn to_result(result: i32) -> io::Result<u32> {
    u32::try_from(result).map_err(|_negative| io::Error::from_raw_os_error(-result))
}
