//! The reactor of a shard: everything asked since the last turn goes to the kernel, and everything
//! that happened comes back, with one syscall.
//!
//! ```text
//! loop {
//!     reactor.turn(wait_until, &mut events)    one io_uring_enter: submit, finish, perhaps wait
//!     events -> the shard's state machines     they ask for more: recv, send, read, write ...
//!     mailboxes -> the same                    what other threads announced by the waker
//! }
//! ```
//!
//! Invariants: a reactor belongs to the thread that made it; every request is answered by exactly
//! one event, also after its socket or disk was closed; memory that a request names is held by
//! reference until that event; a turn allocates nothing once its tables have grown to the load.
//!
//! Where the shard expects something soon (`expect`), a turn looks for it before it sleeps
//! (`spin`); then it submits first, by a syscall of its own.
//!
//! Not here: timers (the shard passes its next deadline as `wait_until`), and back-pressure: the
//! shard bounds what it asks for.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stdx::time::Time;

use crate::backend::Backend;
use crate::clock::now;
use crate::congestion::Congestion;
use crate::disk_open::{DiskInfo, DiskOptions};
use crate::disks::{Disks, Durability, Range, SharedDisk, Work, Zero};
use crate::event::{Base, Counters, DiskId, Event, KickId, QueueId, SocketId};
use crate::kicks::Kicks;
use crate::memory::Lent;
use crate::operation::{Completion, Operation, Tag, Wait};
use crate::pool::{Pool, PoolOptions, Slice};
use crate::probe::{BackendKind, BackendWish, SetupError, make_backend};
use crate::signals::Eventfd;
use crate::socket_fd::{self, SocketBuffers, TcpOptions};
use crate::sockets::{ListenAddr, Sockets};
use crate::spin::{Outlook, Spin};
use crate::ublk::Queues;
use crate::waker::{Sleep, Waker};

/// What a reactor is made with.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub pool: PoolOptions,
    pub backend: BackendWish,
    /// Entries of the submission queue; a fuller turn costs a second syscall.
    pub queue_entries: u32,
    /// Sockets and disks together. The limit of open files bounds it too.
    pub files_max: u32,
    /// A peer that acknowledges nothing for this long is gone.
    pub tcp_user_timeout_ms: u32,
    /// How TCP connections, both ways, find out how much the network takes; `None`: as the system
    /// says.
    pub congestion: Option<Congestion>,
    /// How long to look for completions before a sleep, where one is expected soon. Zero: never.
    /// The back end that polls never does.
    pub spin: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            pool: PoolOptions::default(),
            backend: BackendWish::default(),
            queue_entries: 1024,
            files_max: 16 << 10,
            tcp_user_timeout_ms: 20_000,
            congestion: None,
            spin: Duration::ZERO,
        }
    }
}

/// One per shard. It must be made on the thread that turns it.
#[derive(Debug)]
pub struct Reactor {
    sockets: Sockets,
    disks: Disks,
    queues: Queues,
    kicks: Kicks,
    sleep: Sleep,
    spin: Spin,
    /// How many completions end a sleep.
    together: u32,
    /// Where the kernel puts the waker's count.
    wake_count: Lent<u64>,
    is_wake_armed: bool,
    /// When listeners that ran out of descriptors try again.
    accept_again: Option<Time>,
    last_trim: Time,
    /// Why it polls although nobody asked for that.
    refusal: Option<SetupError>,
    base: Base,
    /// The kernel binds the ring to this thread.
    thread: PhantomData<*const ()>,
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const TRIM_PAUSE: Duration = Duration::from_millis(100);

impl Reactor {
    pub fn new(options: Options) -> Result<Self, SetupError> {
        let failed = |step, advice| move |source| SetupError::Failed { step, advice, source };
        let (backend, refusal) =
            make_backend(options.backend, options.queue_entries, options.files_max)?;
        let no_memory = "lower the pool's bounds, or raise the limit of address space (ulimit -v)";
        let pool = Pool::new(options.pool).map_err(failed("reserving buffers", no_memory))?;
        let disks = Disks::new().map_err(failed("reserving zeroes", no_memory))?;
        let no_files = "raise the limit of open files (ulimit -n, LimitNOFILE=)";
        let sleep = Sleep::new().map_err(failed("making the waker", no_files))?;
        Ok(Self {
            sockets: Sockets::new(TcpOptions {
                user_timeout_ms: options.tcp_user_timeout_ms,
                congestion: options.congestion,
            }),
            disks,
            queues: Queues::default(),
            kicks: Kicks::default(),
            sleep,
            spin: Spin::new(options.spin),
            together: 1,
            wake_count: Lent::new(0),
            is_wake_armed: false,
            accept_again: None,
            last_trim: now(),
            refusal,
            base: Base {
                backend,
                pool,
                ready: VecDeque::with_capacity(1024),
                counters: Counters::default(),
            },
            thread: PhantomData,
        })
    }

    /// Submits what is queued, gathers what happened, and appends it to `events`. With a time it
    /// waits until then for the first event; it may return earlier without one, after a wake or
    /// for work of its own. An error means that the ring is of no more use.
    pub fn turn(&mut self, wait_until: Option<Time>, events: &mut Vec<Event>) -> io::Result<()> {
        self.base.counters.turns += 1;
        let has_event = !self.base.ready.is_empty() || self.base.backend.has_completion();
        let entered = match wait_until {
            Some(until) if !has_event => self.sleep_until(until),
            Some(_) | None if self.base.backend.wants_enter() => self.base.backend.enter(Wait::No),
            Some(_) | None => Ok(()),
        };
        self.sleep.wake_up();
        while let Some(completion) = self.base.backend.pop() {
            self.dispatch(completion);
        }
        self.take_done(events);
        entered
    }

    /// What was done at once since the turn, appended to `events`: requests that needed no wait.
    #[inline]
    pub fn take_done(&mut self, events: &mut Vec<Event>) {
        if !self.base.ready.is_empty() {
            events.extend(self.base.ready.drain(..));
        }
    }

    /// Whether the next turns are to look for completions before they sleep, as far as
    /// `Options::spin` lets them.
    pub fn expect(&mut self, outlook: Outlook) {
        self.spin.expect(outlook);
    }

    /// How many completions the next sleeps are for: fewer are of no use. What comes alone is told
    /// after a moment, or at once where the kernel cannot count so.
    pub fn sleep_for(&mut self, completions: u32) {
        self.together = completions;
    }

    pub fn pool(&mut self) -> &mut Pool {
        &mut self.base.pool
    }

    #[must_use]
    pub fn pool_ref(&self) -> &Pool {
        &self.base.pool
    }

    /// Ends a waiting turn from another thread. Drain what it announces after every turn.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.sleep.waker()
    }

    #[must_use]
    pub fn backend(&self) -> BackendKind {
        match self.base.backend {
            Backend::Uring(_) => BackendKind::IoUring,
            Backend::Poll(_) => BackendKind::Poll,
        }
    }

    /// Why it polls although `io_uring` would be cheaper; `None` if it does not, or was told to.
    #[must_use]
    pub fn refusal(&self) -> Option<&SetupError> {
        self.refusal.as_ref()
    }

    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters { enters: self.base.backend.enters(), ..self.base.counters }
    }

    /// Listens until closed: `Event::Accepted` for each connection, with the listener's token.
    #[expect(clippy::needless_pass_by_value, reason = "listening is rare, and callers make it")]
    pub fn listen(&mut self, address: ListenAddr, token: u64) -> io::Result<SocketId> {
        self.sockets.listen(&mut self.base, &address, token)
    }

    /// The address of an open TCP socket or listener.
    #[must_use]
    pub fn local_addr(&self, socket: SocketId) -> Option<SocketAddr> {
        self.ask(socket, socket_fd::local_addr)
    }

    /// The address of the other end of an open, connected TCP socket.
    #[must_use]
    pub fn peer_addr(&self, socket: SocketId) -> Option<SocketAddr> {
        self.ask(socket, socket_fd::peer_addr)
    }

    /// Sets the sizes of an open socket's buffers, where some are given.
    pub fn set_buffers(&mut self, socket: SocketId, buffers: SocketBuffers) -> io::Result<()> {
        let Some(descriptor) = self.sockets.descriptor(socket) else { return Ok(()) };
        socket_fd::set_buffers(descriptor, buffers)
    }

    /// The sizes that the kernel uses.
    #[must_use]
    pub fn buffers(&self, socket: SocketId) -> Option<SocketBuffers> {
        self.ask(socket, socket_fd::buffers)
    }

    /// Bytes that the largest packet of an open TCP connection carries, as the kernel knows now.
    #[must_use]
    pub fn segment_bytes(&self, socket: SocketId) -> Option<u32> {
        self.ask(socket, socket_fd::segment_bytes)
    }

    /// The process at the other end of an open unix socket.
    #[must_use]
    pub fn peer_process(&self, socket: SocketId) -> Option<u32> {
        self.ask(socket, socket_fd::peer_process)
    }

    /// Starts to connect from the address `local`, whose port is usually 0; `Event::Connected`.
    /// A socket whose connect failed is still to be closed.
    pub fn connect(
        &mut self,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        token: u64,
    ) -> io::Result<SocketId> {
        self.sockets.connect_tcp(&mut self.base, local, remote, token)
    }

    /// Starts to connect to a unix socket; `Event::Connected`.
    pub fn connect_unix(&mut self, path: &Path, token: u64) -> io::Result<SocketId> {
        self.sockets.connect_unix(&mut self.base, path, token)
    }

    /// Takes in a connected stream socket, for example one that another reactor gave up.
    pub fn adopt(&mut self, socket: OwnedFd) -> io::Result<SocketId> {
        self.sockets.adopt(&mut self.base, socket)
    }

    /// Gives an open socket up, for another reactor to adopt.
    ///
    /// # Panics
    /// If something is outstanding on it.
    pub fn give_up(&mut self, socket: SocketId) -> io::Result<OwnedFd> {
        self.sockets.give_up(&mut self.base, socket)
    }

    /// Receives at least one byte, at most as many as `into` has; `Event::Received`. A stream that
    /// ended or failed is still to be closed.
    ///
    /// # Panics
    /// If a receive is outstanding, or `into` is empty or in use.
    pub fn recv(&mut self, socket: SocketId, into: Slice, token: u64) {
        self.sockets.recv(&mut self.base, socket, into, token);
    }

    /// Sends all segments, in order; `Event::Sent` after the last byte.
    ///
    /// # Panics
    /// If a send is outstanding, or there are more than 512 segments, or no byte.
    pub fn send(&mut self, socket: SocketId, segments: &[Slice], token: u64) {
        self.sockets.send(&mut self.base, socket, segments, token);
    }

    /// Ends what is outstanding, with `ECANCELED`, and closes the socket after it.
    pub fn close(&mut self, socket: SocketId) {
        self.sockets.close(&mut self.base, socket);
    }

    /// Opens a disk and takes it into use; see [`SharedDisk::open`].
    pub fn open_disk(
        &mut self,
        path: impl AsRef<Path>,
        options: DiskOptions,
    ) -> io::Result<DiskId> {
        self.disks.open(&mut self.base, path.as_ref(), options)
    }

    /// Takes a disk into use that was opened elsewhere. An exclusive one stays so until the last
    /// that has it lets it go.
    pub fn adopt_disk(&mut self, disk: SharedDisk) -> io::Result<DiskId> {
        self.disks.adopt(&mut self.base, disk)
    }

    /// # Panics
    /// If the disk is closed.
    #[must_use]
    pub fn disk_info(&self, disk: DiskId) -> DiskInfo {
        self.disks.info(disk)
    }

    /// The first stretch of `range` for which a file keeps blocks; `None` if all of it is a hole.
    /// A call of its own that may wait for the file system: bound their number. A block device
    /// answers nothing useful.
    ///
    /// # Panics
    /// If the disk is closed.
    pub fn next_data(
        &self,
        disk: DiskId,
        range: std::ops::Range<u64>,
    ) -> io::Result<Option<std::ops::Range<u64>>> {
        self.disks.next_data(disk, range)
    }

    /// Reads the size again, after the disk was resized.
    pub fn refresh_disk_size(&mut self, disk: DiskId) -> io::Result<u64> {
        self.disks.refresh_size(disk)
    }

    /// Closes the disk after the last outstanding request; those still complete.
    pub fn close_disk(&mut self, disk: DiskId) {
        self.disks.close(&mut self.base, disk);
    }

    /// Fills `into` from the disk; `Event::Disk`.
    pub fn read(&mut self, disk: DiskId, offset: u64, into: Slice, token: u64) {
        self.disks.start(&mut self.base, disk, Work::Read { offset, into }, token);
    }

    /// Writes `from` to the disk; `Event::Disk`.
    pub fn write(
        &mut self,
        disk: DiskId,
        offset: u64,
        from: Slice,
        durability: Durability,
        token: u64,
    ) {
        let work = Work::Write { offset, from, durability };
        self.disks.start(&mut self.base, disk, work, token);
    }

    /// Writes `from` to the disk, without an event, if that takes no wait; `None` if it is to be
    /// done by `write`.
    pub fn write_now(
        &mut self,
        disk: DiskId,
        offset: u64,
        from: Slice,
        durability: Durability,
    ) -> Option<io::Result<u32>> {
        self.disks.do_now(&mut self.base, disk, Work::Write { offset, from, durability })
    }

    /// Makes every write that has completed durable; `Event::Disk`.
    pub fn flush(&mut self, disk: DiskId, token: u64) {
        self.disks.start(&mut self.base, disk, Work::Flush, token);
    }

    /// Makes a range read as zeroes; `Event::Disk`.
    pub fn zero(&mut self, disk: DiskId, offset: u64, length: u64, zero: Zero, token: u64) {
        let work = Work::Zero { range: Range { offset, length }, zero };
        self.disks.start(&mut self.base, disk, work, token);
    }

    /// Takes the requests of one queue of a ublk device, whose character device is open:
    /// `Event::Fetched` for each of them.
    pub fn serve_queue(
        &mut self,
        device: Arc<File>,
        queue: u16,
        depth: u16,
        token: u64,
    ) -> io::Result<QueueId> {
        self.queues.serve(&mut self.base, device, queue, depth, token)
    }

    /// Fills `into` with data of a fetched write, from its byte `offset` on; at once.
    pub fn copy_from_request(
        &mut self,
        queue: QueueId,
        tag: u16,
        offset: u32,
        into: Slice,
    ) -> io::Result<()> {
        self.queues.copy_from(&mut self.base, queue, tag, offset, into)
    }

    /// Puts `from` into a fetched read, at its byte `offset`; at once.
    pub fn copy_to_request(
        &mut self,
        queue: QueueId,
        tag: u16,
        offset: u32,
        from: Slice,
    ) -> io::Result<()> {
        self.queues.copy_to(&self.base, queue, tag, offset, from)
    }

    /// Answers a fetched request, once: bytes done, or a negated errno.
    pub fn commit_request(&mut self, queue: QueueId, tag: u16, result: i32) {
        self.queues.commit(&mut self.base, queue, tag, result);
    }

    /// Answers no request of this queue any more.
    pub fn close_queue(&mut self, queue: QueueId) {
        self.queues.close(queue);
    }

    /// Watches an eventfd of another process: `Event::Kicked`, at once if it was signalled before.
    pub fn watch_kicks(&mut self, eventfd: Eventfd, token: u64) -> KickId {
        self.kicks.watch(&mut self.base, eventfd, token)
    }

    /// Watches it no longer, and closes it.
    pub fn close_kicks(&mut self, kicks: KickId) {
        self.kicks.close(&mut self.base, kicks);
    }

    fn ask<T>(
        &self,
        socket: SocketId,
        question: impl FnOnce(BorrowedFd<'_>) -> io::Result<Option<T>>,
    ) -> Option<T> {
        question(self.sockets.descriptor(socket)?).ok().flatten()
    }

    fn sleep_until(&mut self, until: Time) -> io::Result<()> {
        let present = now();
        self.resume_listeners(present);
        let until = self.accept_again.map_or(until, |again| until.min(again));
        if until > present && self.has_spun(present)? {
            return Ok(());
        }
        if until <= present || !self.sleep.fall_asleep() {
            return if self.base.backend.wants_enter() {
                self.base.backend.enter(Wait::No)
            } else {
                Ok(())
            };
        }
        if present.since(self.last_trim) >= TRIM_PAUSE {
            self.last_trim = present;
            self.base.pool.trim();
        }
        self.arm_wake();
        self.base.counters.waits += 1;
        let wait = if until == Time::NEVER {
            Wait::Forever
        } else {
            Wait::For { now: present, limit: until.since(present), together: self.together }
        };
        self.base.backend.enter(wait)
    }

    /// Submits what is queued, and looks for a completion or a wake for a while.
    fn has_spun(&mut self, present: Time) -> io::Result<bool> {
        let Backend::Uring(ring) = &mut self.base.backend else { return Ok(false) };
        let Some(limit) = self.spin.limit() else { return Ok(false) };
        let end = present + limit;
        // Sends that are done with their submission are no reason to come back, as in a sleep.
        let sends = ring.prompt_sends() as usize;
        if ring.wants_enter() {
            ring.enter(Wait::No)?;
            // What else is done with its submission says nothing of a look.
            if ring.completions() > sends {
                return Ok(true);
            }
        }
        let has_found = loop {
            if ring.wants_enter() {
                ring.enter(Wait::No)?;
            }
            if ring.completions() > sends || self.sleep.is_notified() {
                break true;
            }
            if now() >= end {
                break false;
            }
            std::hint::spin_loop();
        };
        self.base.counters.spins += 1;
        if has_found {
            self.base.counters.spins_lucky += 1;
            self.spin.on_found();
        } else {
            self.spin.on_missed();
        }
        Ok(has_found || ring.has_completion())
    }

    fn resume_listeners(&mut self, present: Time) {
        if !self.sockets.has_paused_listener() {
            self.accept_again = None;
            return;
        }
        match self.accept_again {
            None => self.accept_again = Some(present + ACCEPT_PAUSE),
            Some(again) if again <= present => {
                self.accept_again = None;
                self.sockets.resume_paused_listeners(&mut self.base);
            }
            Some(_) => {}
        }
    }

    /// Has the ring read the waker's eventfd, so that a wake is a completion.
    fn arm_wake(&mut self) {
        if self.is_wake_armed {
            return;
        }
        self.is_wake_armed = true;
        let eventfd = self.sleep.descriptor();
        let request = Operation::TakeCount { eventfd, into: self.wake_count.address() };
        // SAFETY: the count lives as long as the reactor, which waits for all completions, and
        // nobody else looks at it.
        unsafe { self.base.backend.push(request, Tag::Wake) };
    }

    #[cfg(test)]
    pub(crate) fn base(&mut self) -> &mut Base {
        &mut self.base
    }

    fn dispatch(&mut self, completion: Completion) {
        let base = &mut self.base;
        match completion.tag {
            Tag::Wake => {
                self.is_wake_armed = false;
                base.counters.wakes += 1;
            }
            Tag::CancelAll => {}
            Tag::Cancel(socket) => self.sockets.on_cancelled(base, socket),
            Tag::Accept(socket) => self.sockets.on_accept(base, socket, completion),
            Tag::Connect(socket) => self.sockets.on_connect(base, socket, completion),
            Tag::Recv(socket) => self.sockets.on_recv(base, socket, completion),
            Tag::Send(socket) => self.sockets.on_send(base, socket, completion),
            Tag::Disk(request) => self.disks.on_completion(base, request, completion),
            Tag::Block(place) => {
                base.counters.fetches += 1;
                self.queues.on_completion(base, place, completion);
            }
            Tag::Kick(watch) => self.kicks.on_completion(base, watch, completion),
        }
    }
}

impl Drop for Reactor {
    /// Cancels what can be cancelled and waits for the rest, for the kernel holds our memory until
    /// then. A disk that never answers makes this wait for ever, as it does any process.
    fn drop(&mut self) {
        let mut guard = AbortOnDrop { is_armed: true };
        self.sockets.close_all(&mut self.base);
        self.disks.close_all(&mut self.base);
        self.kicks.close_all();
        if self.is_wake_armed {
            self.sleep.end_read();
        }
        // SAFETY: the request names no memory.
        unsafe { self.base.backend.push(Operation::CancelAll, Tag::CancelAll) };
        // What a ublk device has fetched ends with the ring, and names no memory of ours.
        while self.base.backend.in_flight() > self.queues.armed() {
            let wait = Wait::For { now: now(), limit: Duration::from_secs(1), together: 1 };
            let entered = self.base.backend.enter(wait);
            entered.expect("the kernel must give memory back before it can be freed");
            while let Some(completion) = self.base.backend.pop() {
                self.dispatch(completion);
            }
        }
        guard.is_armed = false;
    }
}

/// A panic that leaves `Reactor::drop` would free memory that the kernel still writes to.
struct AbortOnDrop {
    is_armed: bool,
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        if self.is_armed {
            std::process::abort();
        }
    }
}
