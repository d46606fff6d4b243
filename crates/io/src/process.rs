//! What a process asks of the kernel once, at its start.
use std::io;

/// What became of each request of [`lock_memory`].
#[derive(Debug)]
pub struct MemoryLock {
    /// Pages stay in memory once they were touched.
    pub locked: io::Result<()>,
    /// The out-of-memory killer looks elsewhere first.
    pub oom_score: io::Result<()>,
    /// Memory reclaim does not wait for a disk that this process serves.
    pub io_flusher: io::Result<()>,
}

/// Makes the process safe to serve dirty pages. Call it before the first thread is started, for
/// threads inherit the last of the three from their parent.
#[must_use]
pub fn lock_memory() -> MemoryLock {
    unimplemented!()
}

/// Binds the calling thread to one core.
pub fn pin_thread(core: usize) -> io::Result<()> {
    unimplemented!("{core}")
}

/// Raises the soft limit of open files to the hard one and returns it.
pub fn raise_file_limit() -> io::Result<u64> {
    unimplemented!()
}

/// SIGTERM and SIGINT as something to wait for, and SIGPIPE ignored.
#[derive(Debug)]
pub struct Termination;

impl Termination {
    /// Blocks both signals in the calling thread and in every thread it starts later: call it
    /// first in `main`.
    pub fn block() -> io::Result<Self> {
        unimplemented!()
    }
    /// Waits for one of them and returns its name.
    #[must_use]
    pub fn wait(&self) -> &'static str {
        unimplemented!()
    }
}
