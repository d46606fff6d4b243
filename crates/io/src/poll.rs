//! The way to the kernel without `io_uring`: `epoll`, plain calls on sockets, threads for disks.
//!
//! ```text
//! push ---> queued --enter--> tried at once: done? ---------------------------> done --> pop
//!                               | not ready: waits in its file's slot            ^
//!                               |          epoll tells an edge, tried again -----+
//!                               +-- on a disk: a job of `workers`, its result ---+
//! ```
//!
//! A socket is tried before it is watched, and watched from its first refusal until it is let go
//! of. Edges are enough, for a request is always tried between the edge and the next wait: nothing
//! is remembered about a file that could be wrong. A socket has at most one request that reads
//! (receive, accept) and one that writes (send, connect).
//!
//! It costs a call per request and one more per turn, where the ring has one per turn.

mod calls;
mod workers;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use rustix::event::epoll;

use crate::operation::{Completion, Operation, Place, SocketCall, Tag, Wait};
use workers::{Job, Workers};

/// How many edges one wait takes in; the rest come with the next one.
const EDGES_MAX: usize = 256;
/// How many connections are accepted before others have their turn.
const ACCEPTS_MAX: u32 = 64;

#[derive(Debug)]
pub(crate) struct Poller {
    epoll: OwnedFd,
    /// By place.
    files: Vec<File>,
    free_files: Vec<u32>,
    /// By the number of the watch.
    kicks: Vec<Option<RawFd>>,
    wake: Option<Wake>,
    workers: Workers,
    /// Requests that nobody has tried yet.
    queued: VecDeque<(Operation, Tag)>,
    done: VecDeque<Completion>,
    edges: Edges,
    /// Requests whose last completion is still to be popped.
    in_flight: u64,
    calls: u64,
    /// Waits can be as short as asked for, and not only whole milliseconds.
    has_fine_wait: bool,
}

struct Edges(Vec<libc::epoll_event>);

#[derive(Clone, Copy, Debug)]
struct File {
    fd: RawFd,
    is_watched: bool,
    reading: Option<(SocketCall, Tag)>,
    writing: Option<(SocketCall, Tag)>,
}

/// The eventfd of the reactor's waker.
#[derive(Clone, Copy, Debug)]
struct Wake {
    eventfd: RawFd,
    /// Where the count goes, and whose request it is.
    into: Option<(*mut u64, Tag)>,
    /// There is a count to take.
    is_signalled: bool,
}

#[derive(Clone, Copy)]
enum Side {
    Read,
    Write,
}

/// What an edge is about. Fits in the 64 bits that the kernel hands back.
#[derive(Clone, Copy)]
enum Subject {
    Socket(u32),
    Kick(u32),
    Wake,
    Workers,
}

impl Poller {
    pub(crate) fn new(files: u32) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut poller = Self {
            epoll,
            files: Vec::new(),
            free_files: (0..files).rev().collect(),
            kicks: Vec::new(),
            wake: None,
            workers: Workers::new()?,
            queued: VecDeque::with_capacity(256),
            done: VecDeque::with_capacity(256),
            edges: Edges(Vec::with_capacity(EDGES_MAX)),
            in_flight: 0,
            calls: 0,
            has_fine_wait: true,
        };
        poller.watch(poller.workers.descriptor(), Subject::Workers)?;
        Ok(poller)
    }

    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    pub(crate) fn install(&mut self, fd: RawFd) -> io::Result<Place> {
        let Some(place) = self.free_files.pop() else {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        };
        let file = File { fd, is_watched: false, reading: None, writing: None };
        let index = place as usize;
        if self.files.len() <= index {
            let empty = File { fd: -1, ..file };
            self.files.resize(index + 1, empty);
        }
        self.files[index] = file;
        Ok(Place(place))
    }

    pub(crate) fn uninstall(&mut self, place: Place) {
        let file = &mut self.files[place.0 as usize];
        assert!(file.reading.is_none() && file.writing.is_none(), "nothing is outstanding");
        let File { fd, is_watched, .. } = *file;
        file.fd = -1;
        if is_watched {
            self.unwatch(fd);
        }
        self.free_files.push(place.0);
    }

    /// # Safety
    /// As for [`crate::backend::Backend::push`].
    pub(crate) unsafe fn push(&mut self, operation: Operation, tag: Tag) {
        self.in_flight += 1;
        self.queued.push_back((operation, tag));
    }

    pub(crate) fn has_completion(&self) -> bool {
        !self.done.is_empty()
    }

    pub(crate) fn pop(&mut self) -> Option<Completion> {
        let completion = self.done.pop_front()?;
        if !completion.more {
            self.in_flight -= 1;
        }
        Some(completion)
    }

    /// Tries what is queued, then takes in what has become ready, and waits for it if asked to and
    /// if nothing is done yet. A signal ends it early.
    pub(crate) fn enter(&mut self, wait: Wait) -> io::Result<()> {
        for _ in 0..self.queued.len() {
            let (operation, tag) = self.queued.pop_front().expect("counted just now");
            self.begin(operation, tag);
        }
        let has_more = self.has_completion() || !self.queued.is_empty();
        self.wait(if has_more { Wait::No } else { wait })?;
        for index in 0..self.edges.0.len() {
            let libc::epoll_event { events, u64: subject } = self.edges.0[index];
            self.on_edge(events, Subject::decode(subject));
        }
        Ok(())
    }

    fn begin(&mut self, operation: Operation, tag: Tag) {
        match operation {
            Operation::Socket { socket, call, .. } => self.begin_on(socket, call, tag),
            Operation::Disk { file, fd, call } => {
                self.calls += 1;
                self.workers.give(Job { file, fd, call, tag });
            }
            Operation::TakeCount { eventfd, into } => self.arm_wake(eventfd, into, tag),
            Operation::Watch { eventfd } => self.watch_kicks(eventfd, tag),
            Operation::Unwatch { tag: watch } => {
                self.end_kicks(watch);
                self.complete(tag, 0);
            }
            // Who serves block devices of the kernel looks first whether there is a ring.
            Operation::Command { .. } => self.complete(tag, -libc::EOPNOTSUPP),
            Operation::Cancel { socket } => {
                self.cancel(socket.0 as usize);
                self.complete(tag, 0);
            }
            Operation::CancelAll => {
                self.cancel_all();
                self.complete(tag, 0);
            }
        }
    }

    fn begin_on(&mut self, socket: Place, call: SocketCall, tag: Tag) {
        let file = &mut self.files[socket.0 as usize];
        let side = match call {
            SocketCall::Accept | SocketCall::Receive { .. } => Side::Read,
            SocketCall::Connect { .. } | SocketCall::Send { .. } => Side::Write,
        };
        let waits_in_blocking_mode = match call {
            SocketCall::Accept | SocketCall::Connect { .. } => true,
            SocketCall::Receive { .. } | SocketCall::Send { .. } => false,
        };
        if waits_in_blocking_mode && let Err(error) = calls::set_nonblocking(file.fd) {
            self.complete(tag, negated(&error));
            return;
        }
        let slot = file.slot(side);
        assert!(slot.is_none(), "a socket has one request of a kind");
        *slot = Some((call, tag));
        self.attempt(socket, side);
    }

    /// Tries what waits on one side of a socket.
    fn attempt(&mut self, socket: Place, side: Side) {
        let file = &mut self.files[socket.0 as usize];
        let fd = file.fd;
        let Some((call, tag)) = file.slot(side).take() else { return };
        for _ in 0..ACCEPTS_MAX {
            self.calls += 1;
            // SAFETY: who pushed the request vouched for its memory until the completion.
            match unsafe { calls::attempt(fd, call) } {
                None => {
                    self.wait_on(socket, side, (call, tag));
                    return;
                }
                Some(result) if matches!(call, SocketCall::Accept) && result >= 0 => {
                    self.done.push_back(Completion { tag, result, more: true });
                }
                Some(result) => {
                    self.complete(tag, result);
                    return;
                }
            }
        }
        let fd = self.files[socket.0 as usize].fd;
        self.queued.push_back((Operation::Socket { socket, fd, call }, tag));
    }

    /// Not ready: the next edge, which may have come already, tries again.
    fn wait_on(&mut self, socket: Place, side: Side, request: (SocketCall, Tag)) {
        let file = &mut self.files[socket.0 as usize];
        *file.slot(side) = Some(request);
        if file.is_watched {
            return;
        }
        file.is_watched = true;
        let fd = file.fd;
        if let Err(error) = self.watch(fd, Subject::Socket(socket.0)) {
            let file = &mut self.files[socket.0 as usize];
            file.is_watched = false;
            *file.slot(side) = None;
            self.complete(request.1, negated(&error));
        }
    }

    fn on_edge(&mut self, events: u32, subject: Subject) {
        let has = |flags: libc::c_int| events & flags.cast_unsigned() != 0;
        let has_ended = has(libc::EPOLLHUP | libc::EPOLLERR);
        match subject {
            Subject::Socket(place) => {
                if has_ended || has(libc::EPOLLIN | libc::EPOLLRDHUP) {
                    self.attempt(Place(place), Side::Read);
                }
                if has_ended || has(libc::EPOLLOUT) {
                    self.attempt(Place(place), Side::Write);
                }
            }
            Subject::Kick(watch) => {
                if self.kicks.get(watch as usize).is_some_and(Option::is_some) {
                    let (tag, result) = (Tag::Kick(watch), libc::POLLIN.into());
                    self.done.push_back(Completion { tag, result, more: true });
                }
            }
            Subject::Wake => {
                if let Some(wake) = &mut self.wake {
                    wake.is_signalled = true;
                }
                self.take_wake();
            }
            Subject::Workers => self.done.extend(self.workers.take_results()),
        }
    }

    fn arm_wake(&mut self, eventfd: RawFd, into: *mut u64, tag: Tag) {
        let is_signalled = match self.wake {
            Some(wake) => wake.is_signalled,
            None => {
                if let Err(error) = self.watch(eventfd, Subject::Wake) {
                    self.complete(tag, negated(&error));
                    return;
                }
                false
            }
        };
        self.wake = Some(Wake { eventfd, into: Some((into, tag)), is_signalled });
        self.take_wake();
    }

    /// Reads the waker's count if there is one and somebody wants it.
    fn take_wake(&mut self) {
        let Some(Wake { eventfd, into: Some((into, tag)), is_signalled: true }) = self.wake else {
            return;
        };
        self.calls += 1;
        // SAFETY: who pushed the request vouched for the eight bytes until its completion. The
        // read does not wait, for nobody else reads what an edge has told of.
        let result = unsafe { libc::read(eventfd, into.cast(), 8) };
        self.wake = Some(Wake { eventfd, into: None, is_signalled: false });
        self.complete(tag, i32::try_from(result).unwrap_or(-libc::EIO));
    }

    fn watch_kicks(&mut self, eventfd: RawFd, tag: Tag) {
        let Tag::Kick(number) = tag else { unreachable!("{tag:?} watches no eventfd") };
        if let Err(error) = self.watch(eventfd, Subject::Kick(number)) {
            self.complete(tag, negated(&error));
            return;
        }
        let index = number as usize;
        if self.kicks.len() <= index {
            self.kicks.resize(index + 1, None);
        }
        self.kicks[index] = Some(eventfd);
    }

    fn end_kicks(&mut self, watch: Tag) {
        let Tag::Kick(number) = watch else { unreachable!("{watch:?} watches no eventfd") };
        let Some(slot) = self.kicks.get_mut(number as usize) else { return };
        if let Some(eventfd) = slot.take() {
            self.unwatch(eventfd);
            self.complete(watch, -libc::ECANCELED);
        }
    }

    fn cancel(&mut self, index: usize) {
        for side in [Side::Read, Side::Write] {
            if let Some((_, tag)) = self.files[index].slot(side).take() {
                self.complete(tag, -libc::ECANCELED);
            }
        }
    }

    /// All but jobs of disks, which end by themselves.
    fn cancel_all(&mut self) {
        for index in 0..self.files.len() {
            self.cancel(index);
        }
        for number in 0..self.kicks.len() {
            self.end_kicks(Tag::Kick(u32::try_from(number).expect("numbers are 32 bits wide")));
        }
        if let Some((_, tag)) = self.wake.as_mut().and_then(|wake| wake.into.take()) {
            self.complete(tag, -libc::ECANCELED);
        }
    }

    fn complete(&mut self, tag: Tag, result: i32) {
        self.done.push_back(Completion { tag, result, more: false });
    }

    /// Has edges of a file told, and one at once if it is ready already.
    fn watch(&mut self, fd: RawFd, subject: Subject) -> io::Result<()> {
        let flags = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        // An eventfd can always be written to, which is nothing to tell.
        let flags = match subject {
            Subject::Socket(_) => flags,
            Subject::Kick(_) | Subject::Wake | Subject::Workers => libc::EPOLLIN | libc::EPOLLET,
        };
        let mut event = libc::epoll_event { events: flags.cast_unsigned(), u64: subject.encode() };
        self.calls += 1;
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: both descriptors are open, and the event is read during the call only.
        let result = unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &raw mut event) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn unwatch(&mut self, fd: RawFd) {
        self.calls += 1;
        let (epoll, nothing) = (self.epoll.as_raw_fd(), std::ptr::null_mut());
        // SAFETY: the epoll is open, and no event is passed for a removal.
        let result = unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd, nothing) };
        debug_assert_eq!(result, 0, "a watched file can be let go of");
    }

    fn wait(&mut self, wait: Wait) -> io::Result<()> {
        self.calls += 1;
        let timeout = match wait {
            Wait::No => Some(Duration::ZERO),
            Wait::For { limit, .. } => Some(limit),
            Wait::Forever => None,
        };
        let count = if self.has_fine_wait { self.wait_finely(timeout) } else { Err(None) };
        let count = match count {
            Err(None) => {
                self.has_fine_wait = false;
                self.wait_coarsely(timeout)
            }
            Err(Some(error)) => Err(error),
            Ok(count) => Ok(count),
        };
        let count = match count {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            count => count?,
        };
        // SAFETY: the kernel has written that many, within the capacity it was told.
        unsafe { self.edges.0.set_len(count) };
        Ok(())
    }

    /// `Err(None)` means that the kernel, or a seccomp profile, does not know the call.
    fn wait_finely(&mut self, timeout: Option<Duration>) -> Result<usize, Option<io::Error>> {
        let spec = timeout.map(|timeout| libc::timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(timeout.subsec_nanos()),
        });
        let spec = spec.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the place has room for as many events as are said; the time is null or lives
        // during the call; there is no signal mask.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.edges.0.as_mut_ptr(),
                EDGES_MAX,
                spec,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        if let Ok(count) = usize::try_from(count) {
            return Ok(count);
        }
        let error = io::Error::last_os_error();
        let is_unknown = matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM));
        Err((!is_unknown).then_some(error))
    }

    /// Whole milliseconds, rounded up.
    fn wait_coarsely(&mut self, timeout: Option<Duration>) -> io::Result<usize> {
        let timeout = timeout.map_or(-1, |timeout| {
            i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX)
        });
        let max = libc::c_int::try_from(EDGES_MAX).expect("a few hundred");
        let epoll = self.epoll.as_raw_fd();
        // SAFETY: the place has room for as many events as are said.
        let count = unsafe { libc::epoll_wait(epoll, self.edges.0.as_mut_ptr(), max, timeout) };
        usize::try_from(count).map_err(|_negative| io::Error::last_os_error())
    }
}

impl File {
    fn slot(&mut self, side: Side) -> &mut Option<(SocketCall, Tag)> {
        match side {
            Side::Read => &mut self.reading,
            Side::Write => &mut self.writing,
        }
    }
}

impl Subject {
    fn encode(self) -> u64 {
        let (kind, index) = match self {
            Self::Socket(place) => (0, place),
            Self::Kick(watch) => (1, watch),
            Self::Wake => (2, 0),
            Self::Workers => (3, 0),
        };
        (kind << 32) | u64::from(index)
    }

    fn decode(bits: u64) -> Self {
        let index = u32::try_from(bits & u64::from(u32::MAX)).expect("masked to 32 bits");
        match bits >> 32 {
            0 => Self::Socket(index),
            1 => Self::Kick(index),
            2 => Self::Wake,
            3 => Self::Workers,
            kind => panic!("the kernel handed back a subject of kind {kind} that was never given"),
        }
    }
}

impl std::fmt::Debug for Edges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Edges").field(&self.0.len()).finish()
    }
}

fn negated(error: &io::Error) -> i32 {
    -error.raw_os_error().unwrap_or(libc::EIO)
}
