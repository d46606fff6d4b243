//! What a process asks of the kernel once, at its start.

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

/// From `linux/prctl.h`, since Linux 5.6.
const PR_SET_IO_FLUSHER: libc::c_int = 57;

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
    /// Those that are touched: reserved address space may be much larger than what is used.
    Touched,
    /// All, at once: nothing is read from a disk later, the program included.
    All,
}

/// Makes the process safe to serve dirty pages. Call it before the first thread is started, for
/// threads inherit the last of the three from their parent.
#[must_use]
pub fn lock_memory(pages: LockedPages) -> MemoryLock {
    let flags = libc::MCL_CURRENT | libc::MCL_FUTURE;
    let flags = match pages {
        LockedPages::Touched => flags | libc::MCL_ONFAULT,
        LockedPages::All => flags,
    };
    // SAFETY: no pointer is passed.
    let locked = check(unsafe { libc::mlockall(flags) });
    let oom_score = fs::write("/proc/self/oom_score_adj", "-1000");
    // SAFETY: no pointer is passed.
    let io_flusher = check(unsafe { libc::prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0) });
    MemoryLock { locked, oom_score, io_flusher }
}

/// A thread of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(libc::pid_t);

impl ThreadId {
    /// The calling thread.
    #[must_use]
    pub fn own() -> Self {
        // SAFETY: no pointer is passed.
        Self(unsafe { libc::gettid() })
    }

    /// The cores it may run on, in order.
    pub fn cores(self) -> io::Result<Vec<usize>> {
        let mut set = no_cores();
        // SAFETY: the set is a place of the size given.
        check(unsafe { libc::sched_getaffinity(self.0, size_of_val(&set), &raw mut set) })?;
        // SAFETY: the numbers are those inside the set.
        Ok((0..CORES_MAX).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect())
    }

    /// Has it run on these cores only; those that do not exist are left out.
    pub fn run_on(self, cores: &[usize]) -> io::Result<()> {
        let mut set = no_cores();
        for &core in cores.iter().filter(|core| **core < CORES_MAX) {
            // SAFETY: the number was just checked to be inside the set.
            unsafe { libc::CPU_SET(core, &mut set) };
        }
        // SAFETY: the set is valid for its size.
        check(unsafe { libc::sched_setaffinity(self.0, size_of_val(&set), &raw const set) })
    }
}

/// What a set of the kernel's interface holds.
const CORES_MAX: usize = 8 * size_of::<libc::cpu_set_t>();

fn no_cores() -> libc::cpu_set_t {
    // SAFETY: a cpu_set_t is an array of integers, for which zeroes are a value.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// Raises the soft limit of open files to the hard one and returns it. Do it before the first
/// reactor is made, whose table of files it bounds.
pub fn raise_file_limit() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for one rlimit.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: as above.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) })?;
    Ok(limit.rlim_cur)
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
    let leader = libc::pid_t::try_from(leader).map_err(io::Error::other)?;
    if leader <= 1 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no group of a child"));
    }
    // SAFETY: no pointer is passed.
    check(unsafe { libc::kill(-leader, libc::SIGKILL) })
}

/// Reading from the file fails instead of waiting for something to come.
pub fn set_nonblocking(file: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: no pointer is passed, and the descriptor is open while it is borrowed.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    check(flags)?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) })
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
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
    fn thread_runs_on_the_cores_that_it_is_told_and_that_exist() {
        let own = ThreadId::own();
        let all = own.cores().unwrap();
        let last = *all.last().unwrap();
        own.run_on(&[last, CORES_MAX - 1, usize::MAX]).unwrap();
        assert_eq!(own.cores().unwrap(), [last]);
        // SAFETY: no pointer is passed.
        assert_eq!(usize::try_from(unsafe { libc::sched_getcpu() }).unwrap(), last);
        own.run_on(&[CORES_MAX - 1]).unwrap_err();
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
        let deadline = crate::now() + std::time::Duration::from_secs(10);
        while !matches!(reader.read(&mut [0]), Ok(0)) {
            assert!(crate::now() < deadline, "the grandchild lives");
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        }
        kill_group(1).unwrap_err();
    }

    #[test]
    fn file_limit_does_not_shrink() {
        assert!(raise_file_limit().unwrap() >= 3);
        assert_eq!(raise_file_limit().unwrap(), raise_file_limit().unwrap());
    }
}
