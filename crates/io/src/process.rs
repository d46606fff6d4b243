//! What a process asks of the kernel once, at its start.

use std::fs;
use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, configure_io_flusher_behavior, getrlimit,
    kill_process_group, pidfd_open, setrlimit,
};
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

/// What became of each request of [`lock_memory`]. None of them is needed to work; without them a
/// machine that swaps onto its own volume can come to a stand.
#[derive(Debug)]
pub struct MemoryLock {
    /// Pages stay in memory once they were touched.
    pub locked: io::Result<()>,
    /// The out-of-memory killer looks elsewhere first.
    pub oom_score: io::Result<()>,
    /// Memory reclaim in this process does not wait for a disk that it serves.
    pub io_flusher: io::Result<()>,
}

/// Which pages stay in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockedPages {
    /// Those that are there already, which are read at once, the program itself included; later
    /// ones when they are touched, for reserved address space may be much larger than what is used.
    Touched,
    /// All, at once: nothing is read from a disk later, the program included.
    All,
}

/// Makes the process safe to serve dirty pages. Call it before the first thread is started, for
/// threads inherit the last of the three from their parent. The allocator gives nothing back from
/// then on.
#[must_use]
pub fn lock_memory(pages: LockedPages) -> MemoryLock {
    keep_heap();
    let all = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    let locked = match pages {
        LockedPages::Touched => {
            mlockall(MlockAllFlags::CURRENT).and_then(|()| mlockall(all | MlockAllFlags::ONFAULT))
        }
        LockedPages::All => mlockall(all),
    };
    let locked = locked.map_err(io::Error::from);
    let oom_score = fs::write("/proc/self/oom_score_adj", "-1000");
    let io_flusher = configure_io_flusher_behavior(true).map_err(io::Error::from);
    MemoryLock { locked, oom_score, io_flusher }
}

/// What a data thread needs of its stack, and of its heap for what is seldom; with room to spare.
const STACK_BYTES: usize = 256 << 10;
const HEAP_BYTES: usize = 2 << 20;
const HEAP_PIECE_BYTES: usize = 64 << 10;

/// Gives the calling thread the stack and the heap that it will use, so that it needs no page
/// later, nor the lock of the address space, which another thread holds while it waits for one.
/// Call it first in the thread, after [`lock_memory`].
#[inline(never)]
pub fn prepare_thread() {
    let mut room = [0_u8; STACK_BYTES];
    std::hint::black_box(&mut room);
    let pieces: Vec<Vec<u8>> =
        (0..HEAP_BYTES / HEAP_PIECE_BYTES).map(|_| vec![1; HEAP_PIECE_BYTES]).collect();
    drop(std::hint::black_box(pieces));
}

/// Has the allocator keep what is freed.
fn keep_heap() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: no pointer is passed, and the allocator takes its options at any time. One that
        // does not know the option works as before.
        unsafe { libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX) };
    }
}

/// Bytes of memory that this machine has; `None` where the kernel does not say.
#[must_use]
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The process that started this one.
#[derive(Debug)]
pub struct Parent {
    pid: u32,
    /// Readable once the process has ended; `None` where the kernel gives none (before Linux 5.3,
    /// or under a filter of system calls).
    end: Option<OwnedFd>,
}

impl Parent {
    #[must_use]
    pub fn of_this_process() -> Self {
        let pid = std::os::unix::process::parent_id();
        let parent = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let end = parent.and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok());
        Self { pid, end }
    }

    /// Waits until it has ended, looking `interval` apart where the kernel does not tell. A parent
    /// that ended before has another one's place taken by now: the number alone says who it is.
    pub fn wait(&self, interval: Duration) {
        while std::os::unix::process::parent_id() == self.pid {
            match &self.end {
                Some(end) => wait_for_input(end),
                None => std::thread::park_timeout(interval),
            }
        }
    }
}

/// Until there is some, or a signal came.
fn wait_for_input(descriptor: &OwnedFd) {
    // Whoever calls it looks again.
    poll(&mut [PollFd::new(descriptor, PollFlags::IN)], None).ok();
}

/// A thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(Pid);

impl ThreadId {
    /// The calling thread.
    #[must_use]
    pub fn own() -> Self {
        Self(gettid())
    }

    /// The cores it may run on, in order.
    pub fn cores(self) -> io::Result<Vec<usize>> {
        let set = sched_getaffinity(Some(self.0))?;
        Ok((0..CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect())
    }

    /// Has it run on these cores only; those that do not exist are left out.
    pub fn run_on(self, cores: &[usize]) -> io::Result<()> {
        let mut set = CpuSet::new();
        for &core in cores.iter().filter(|core| **core < CpuSet::MAX_CPU) {
            set.set(core);
        }
        Ok(sched_setaffinity(Some(self.0), &set)?)
    }
}

/// When a thread gets a core, beside others that want it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// In its turn.
    Ordinary,
    /// Before all ordinary ones, and with a part of the memory that the kernel holds back for such.
    Urgent,
}

impl ThreadId {
    /// Needs the right to use real-time scheduling (`CAP_SYS_NICE`). What the thread starts is
    /// ordinary.
    pub fn set_urgency(self, urgency: Urgency) -> io::Result<()> {
        let (policy, priority) = match urgency {
            Urgency::Ordinary => (libc::SCHED_OTHER, 0),
            Urgency::Urgent => (libc::SCHED_RR, 1),
        };
        // SAFETY: a sched_param is integers only, for which zeroes are a value.
        let mut parameters: libc::sched_param = unsafe { MaybeUninit::zeroed().assume_init() };
        parameters.sched_priority = priority;
        let policy = policy | libc::SCHED_RESET_ON_FORK;
        let thread = self.0.as_raw_pid();
        // SAFETY: the parameters are a valid place to read from.
        check(unsafe { libc::sched_setscheduler(thread, policy, &raw const parameters) })
    }

    #[cfg(test)]
    fn urgency(self) -> io::Result<Urgency> {
        // SAFETY: no pointer is passed.
        let policy = unsafe { libc::sched_getscheduler(self.0.as_raw_pid()) };
        check(policy)?;
        let is_urgent = policy & !libc::SCHED_RESET_ON_FORK == libc::SCHED_RR;
        Ok(if is_urgent { Urgency::Urgent } else { Urgency::Ordinary })
    }
}

/// The kernel's word that tasks of this machine stand still for want of memory.
#[derive(Debug)]
pub struct MemoryPressure {
    trigger: fs::File,
}

/// A fiftieth of half a second: the first tasks that wait, and not yet those that turn round in
/// want of it. The kernel looks only while there is pressure. It takes the last byte for the end of
/// the string.
const PRESSURE_TRIGGER: &[u8] = b"some 10000 500000\0";

impl MemoryPressure {
    /// Needs a kernel with pressure stall information, and the right to watch it.
    pub fn watch() -> io::Result<Self> {
        let mut trigger =
            fs::File::options().read(true).write(true).open("/proc/pressure/memory")?;
        let length = trigger.write(PRESSURE_TRIGGER)?;
        if length == PRESSURE_TRIGGER.len() {
            Ok(Self { trigger })
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    /// Whether there is pressure, at latest after `limit`, if there is one; a signal ends the wait.
    pub fn wait(&self, limit: Option<Duration>) -> io::Result<bool> {
        let limit = limit.and_then(|it| Timespec::try_from(it).ok());
        let mut wanted = [PollFd::new(&self.trigger, PollFlags::PRI)];
        match poll(&mut wanted, limit.as_ref()) {
            Err(Errno::INTR) => return Ok(false),
            result => result?,
        };
        let told = wanted[0].revents();
        if told.intersects(PollFlags::ERR | PollFlags::NVAL) {
            Err(io::Error::other("the kernel has ended its watch for want of memory"))
        } else {
            Ok(told.contains(PollFlags::PRI))
        }
    }
}

/// Raises the soft limit of open files to the hard one and returns it. Do it before the first
/// reactor is made, whose table of files it bounds.
pub fn raise_file_limit() -> io::Result<u64> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(maximum.unwrap_or(u64::MAX))
}

/// SIGTERM and SIGINT as something to wait for.
#[derive(Debug)]
pub struct Termination {
    signals: libc::sigset_t,
}

impl Termination {
    /// Blocks both signals in the calling thread and in every thread it starts later: call it
    /// first in `main`.
    pub fn block() -> io::Result<Self> {
        let mut room = MaybeUninit::uninit();
        // SAFETY: the room is for one sigset_t.
        check(unsafe { libc::sigemptyset(room.as_mut_ptr()) })?;
        for signal in [libc::SIGTERM, libc::SIGINT] {
            // SAFETY: the set was made empty above, and both signals exist.
            check(unsafe { libc::sigaddset(room.as_mut_ptr(), signal) })?;
        }
        // SAFETY: the set was made above.
        let signals = unsafe { room.assume_init() };
        // SAFETY: the set is valid, and the old one is not asked for.
        let errno = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const signals, std::ptr::null_mut())
        };
        if errno == 0 { Ok(Self { signals }) } else { Err(io::Error::from_raw_os_error(errno)) }
    }

    /// Waits for one of them and returns its name.
    #[must_use]
    pub fn wait(&self) -> &'static str {
        let mut signal = 0;
        // SAFETY: the set is valid, and `signal` is a place for one int.
        let errno = unsafe { libc::sigwait(&raw const self.signals, &raw mut signal) };
        assert_eq!(errno, 0, "two valid signals can be waited for");
        if signal == libc::SIGINT { "SIGINT" } else { "SIGTERM" }
    }
}

/// Ends all processes of a group at once, whatever they are doing.
pub fn kill_group(leader: u32) -> io::Result<()> {
    let leader = i32::try_from(leader).map_err(io::Error::other)?;
    let group = Pid::from_raw(leader).filter(|_| leader > 1);
    let Some(group) = group else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no group of a child"));
    };
    Ok(kill_process_group(group, Signal::KILL)?)
}

/// Reading from the file fails instead of waiting for something to come.
pub fn set_nonblocking(file: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl_getfl(file)?;
    Ok(fcntl_setfl(file, flags | OFlags::NONBLOCK)?)
}

/// Waits until a file has something to read, or its other end is gone: whether that came in time.
pub fn is_readable_within(file: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    is_ready_within(file, PollFlags::IN, limit)
}

/// Waits until a file takes something, or its other end is gone: whether that came in time.
pub fn is_writable_within(file: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    is_ready_within(file, PollFlags::OUT, limit)
}

/// Waits until the other end of a pipe is gone, whatever there is left to read: whether that came
/// in time.
pub fn is_deserted_within(pipe: BorrowedFd<'_>, limit: Duration) -> io::Result<bool> {
    // The kernel tells of it without being asked to.
    is_ready_within(pipe, PollFlags::empty(), limit)
}

fn is_ready_within(file: BorrowedFd<'_>, events: PollFlags, limit: Duration) -> io::Result<bool> {
    let until = crate::now() + limit;
    loop {
        let rest = Timespec::try_from(until.since(crate::now())).ok();
        let mut wanted = [PollFd::from_borrowed_fd(file, events)];
        match poll(&mut wanted, rest.as_ref()) {
            Err(Errno::INTR) => {}
            result => return Ok(result.map(|_| !wanted[0].revents().is_empty())?),
        }
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn blocked_signal_is_waited_for() {
        let termination = Termination::block().unwrap();
        for (signal, name) in [(libc::SIGINT, "SIGINT"), (libc::SIGTERM, "SIGTERM")] {
            // SAFETY: `raise` reaches the calling thread, which has the signal blocked.
            assert_eq!(unsafe { libc::raise(signal) }, 0);
            assert_eq!(termination.wait(), name);
        }
    }

    #[test]
    fn file_is_readable_when_something_came_or_nothing_will() {
        let (reader, mut writer) = io::pipe().unwrap();
        let is_readable = |limit| is_readable_within(reader.as_fd(), limit).unwrap();
        assert!(!is_readable(Duration::ZERO));
        assert!(!is_readable(Duration::from_millis(2)));
        writer.write_all(b"x").unwrap();
        assert!(is_readable(Duration::from_secs(600)));
        assert!(!is_deserted_within(reader.as_fd(), Duration::ZERO).unwrap());
        (&reader).read_exact(&mut [0]).unwrap();
        assert!(!is_readable(Duration::ZERO));
        writer.write_all(b"x").unwrap();
        drop(writer);
        assert!(is_readable(Duration::from_secs(600)));
        assert!(is_deserted_within(reader.as_fd(), Duration::from_secs(600)).unwrap());
    }

    #[test]
    fn thread_runs_on_the_cores_that_it_is_told_and_that_exist() {
        let own = ThreadId::own();
        let all = own.cores().unwrap();
        let last = *all.last().unwrap();
        own.run_on(&[last, CpuSet::MAX_CPU - 1, usize::MAX]).unwrap();
        assert_eq!(own.cores().unwrap(), [last]);
        assert_eq!(rustix::thread::sched_getcpu(), last);
        own.run_on(&[CpuSet::MAX_CPU - 1]).unwrap_err();
        own.run_on(&[]).unwrap_err();
        own.run_on(&all).unwrap();
        assert_eq!(own.cores().unwrap(), all);
    }

    #[test]
    fn group_of_a_child_is_ended_with_its_grandchildren() {
        use std::io::Read;
        use std::os::fd::AsFd;
        use std::os::unix::process::{CommandExt, ExitStatusExt};
        let (mut reader, writer) = io::pipe().unwrap();
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", "sleep 1000 & sleep 1000"]).process_group(0).stdout(writer);
        let mut child = command.spawn().unwrap();
        drop(command);
        set_nonblocking(reader.as_fd()).unwrap();
        let error = reader.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        kill_group(child.id()).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        // The pipe ends when nobody holds it any more.
        let deadline = crate::now() + Duration::from_secs(10);
        while !matches!(reader.read(&mut [0]), Ok(0)) {
            assert!(crate::now() < deadline, "the grandchild lives");
            std::thread::park_timeout(Duration::from_millis(5));
        }
        kill_group(1).unwrap_err();
    }

    #[test]
    fn urgent_thread_is_ordinary_again_when_told_so() {
        let own = ThreadId::own();
        assert_eq!(own.urgency().unwrap(), Urgency::Ordinary);
        match own.set_urgency(Urgency::Urgent) {
            Ok(()) => assert_eq!(own.urgency().unwrap(), Urgency::Urgent),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::PermissionDenied),
        }
        own.set_urgency(Urgency::Ordinary).unwrap();
        assert_eq!(own.urgency().unwrap(), Urgency::Ordinary);
    }

    #[test]
    fn machine_has_memory_and_the_stack_is_there() {
        assert!(machine_memory().unwrap() > 64 << 20);
        keep_heap();
        std::thread::spawn(prepare_thread).join().unwrap();
    }

    #[test]
    fn file_limit_does_not_shrink() {
        assert!(raise_file_limit().unwrap() >= 3);
        assert_eq!(raise_file_limit().unwrap(), raise_file_limit().unwrap());
    }
}
