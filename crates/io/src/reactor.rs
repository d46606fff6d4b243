//! The loop of a shard.
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;

use stdx::time::Time;

use crate::disk_open::{DiskInfo, DiskOptions};
use crate::disks::{DiskId, Durability, Zero};
use crate::pool::{Pool, PoolOptions, Slice};
use crate::probe::SetupError;
use crate::sockets::{ListenAddr, SocketId};
use crate::waker::Waker;

/// What a reactor is made with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub pool: PoolOptions,
    /// Entries of the submission queue; a fuller turn costs a second syscall.
    pub queue_entries: u32,
    /// Sockets and disks together.
    pub files_max: u32,
    /// A peer that acknowledges nothing for this long is gone.
    pub tcp_user_timeout_ms: u32,
}

impl Default for Options {
    fn default() -> Self {
        unimplemented!()
    }
}

/// What happened. `token` is what the request carried; listeners give theirs to each connection.
#[derive(Debug)]
pub enum Event {
    Accepted {
        token: u64,
        listener: SocketId,
        socket: SocketId,
    },
    /// Accepting pauses a moment by itself (too many open files) and goes on.
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
}

/// What a reactor has done since its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    pub turns: u64,
    pub enters: u64,
    pub waits: u64,
    pub wakes: u64,
    pub accepts: u64,
    pub connects: u64,
    pub sends: u64,
    pub send_bytes: u64,
    pub recvs: u64,
    pub recv_bytes: u64,
    pub disk_ring: u64,
    pub disk_inline: u64,
}

/// One per shard thread; it must be made on the thread that turns it.
#[derive(Debug)]
pub struct Reactor {
    pool: Pool,
    thread: PhantomData<*const ()>,
}

#[expect(
    unused_variables,
    clippy::unused_self,
    clippy::needless_pass_by_value,
    reason = "signatures"
)]
impl Reactor {
    pub fn new(options: Options) -> Result<Self, SetupError> {
        unimplemented!()
    }
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }
    #[must_use]
    pub fn pool_ref(&self) -> &Pool {
        &self.pool
    }
    /// Drain every mailbox that uses this waker after every turn.
    #[must_use]
    pub fn waker(&self) -> Waker {
        unimplemented!()
    }
    pub fn listen(&mut self, address: ListenAddr, token: u64) -> io::Result<SocketId> {
        unimplemented!()
    }
    #[must_use]
    pub fn local_addr(&self, socket: SocketId) -> Option<SocketAddr> {
        unimplemented!()
    }
    #[must_use]
    pub fn peer_addr(&self, socket: SocketId) -> Option<SocketAddr> {
        unimplemented!()
    }
    pub fn connect(
        &mut self,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        token: u64,
    ) -> io::Result<SocketId> {
        unimplemented!()
    }
    pub fn connect_unix(&mut self, path: &Path, token: u64) -> io::Result<SocketId> {
        unimplemented!()
    }
    /// Takes in a connected stream socket that another reactor gave up.
    pub fn adopt(&mut self, socket: OwnedFd) -> io::Result<SocketId> {
        unimplemented!()
    }
    /// Gives a connected socket up, for another reactor to adopt. Nothing may be outstanding.
    pub fn give_up(&mut self, socket: SocketId) -> io::Result<OwnedFd> {
        unimplemented!()
    }
    pub fn recv(&mut self, socket: SocketId, into: Slice, token: u64) {
        unimplemented!()
    }
    pub fn send(&mut self, socket: SocketId, segments: &[Slice], token: u64) {
        unimplemented!()
    }
    pub fn close(&mut self, socket: SocketId) {
        unimplemented!()
    }
    pub fn open_disk(&mut self, path: &Path, options: DiskOptions) -> io::Result<DiskId> {
        unimplemented!()
    }
    #[must_use]
    pub fn disk_info(&self, disk: DiskId) -> DiskInfo {
        unimplemented!()
    }
    /// Reads the size again, after the disk was grown.
    pub fn refresh_disk_size(&mut self, disk: DiskId) -> io::Result<u64> {
        unimplemented!()
    }
    /// The disk is closed after the last outstanding request; those still complete.
    pub fn close_disk(&mut self, disk: DiskId) {
        unimplemented!()
    }
    pub fn read(&mut self, disk: DiskId, offset: u64, into: Slice, token: u64) {
        unimplemented!()
    }
    pub fn write(
        &mut self,
        disk: DiskId,
        offset: u64,
        from: Slice,
        durability: Durability,
        token: u64,
    ) {
        unimplemented!()
    }
    pub fn flush(&mut self, disk: DiskId, token: u64) {
        unimplemented!()
    }
    pub fn zero(&mut self, disk: DiskId, offset: u64, length: u64, zero: Zero, token: u64) {
        unimplemented!()
    }
    /// Submits what is queued, waits for at least one event until `wait_until`, and appends what
    /// happened. It may return early without an event: after a wake, or for work of its own.
    pub fn turn(&mut self, wait_until: Option<Time>, events: &mut Vec<Event>) -> io::Result<()> {
        unimplemented!()
    }
    #[must_use]
    pub fn counters(&self) -> Counters {
        unimplemented!()
    }
}
