//! Waiting for what a killed daemon still holds.
//!
//! The kernel takes an `io_uring` apart after the parent has heard of the end: for a moment the
//! listeners and locks of the dead process are still taken. A start therefore tries again until a
//! deadline that all of its attempts share. Runs on control threads only: they may block.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io as stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use engine::log::{Scope, log};
use stdx::time::Time;

use crate::limits::{PATIENCE_LOGGED_AFTER, PATIENCE_POLL_INTERVAL};

#[derive(Debug)]
pub(crate) struct Patience {
    began_at: Time,
    limit: Duration,
    is_logged: bool,
    steps: Steps,
}

/// Requests to disks that were answered: who waits for more sees whether there is any use in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps(Arc<AtomicU64>);

impl Steps {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { began_at: io::now(), limit, is_logged: false, steps: Steps::default() }
    }

    /// Of a test: a process that another test starts just now may hold its lock a moment longer.
    #[cfg(test)]
    pub(crate) fn of_tests() -> Self {
        Self::new(crate::limits::COMMAND_PATIENCE)
    }

    /// The same, for work whose steps are watched.
    pub(crate) fn counted_by(&self, steps: &Steps) -> Self {
        let &Self { began_at, limit, is_logged, .. } = self;
        Self { began_at, limit, is_logged, steps: steps.clone() }
    }

    pub(crate) fn steps(&self) -> Steps {
        self.steps.clone()
    }

    fn log_wait(&mut self, failure: &dyn Display) {
        self.is_logged = true;
        let seconds = self.limit.as_secs();
        log!(Notice, Scope::NODE, "waiting for up to {seconds} s: {failure}");
    }

    /// Rests before another attempt, or says that there is to be none. `failure` is what the last
    /// attempt met: it is logged once, if the wait becomes long.
    pub(crate) fn rest(&mut self, failure: &dyn Display) -> bool {
        let waited = io::now().since(self.began_at);
        if waited >= self.limit {
            return false;
        }
        if waited >= PATIENCE_LOGGED_AFTER && !self.is_logged {
            self.log_wait(failure);
        }
        thread::park_timeout(PATIENCE_POLL_INTERVAL);
        // To wait for a lock is not to wait for the disk.
        self.steps.add_one();
        true
    }

    /// The same as `lock`, and says at once for whom it waits.
    pub(crate) fn lock_of(
        &mut self,
        file: &File,
        holder: impl FnOnce() -> String,
    ) -> stdio::Result<()> {
        if !self.limit.is_zero()
            && let Err(TryLockError::WouldBlock) = file.try_lock()
        {
            self.log_wait(&holder());
        }
        self.lock(file)
    }

    /// Takes the lock of a file; an error of the kind `ResourceBusy` if somebody keeps it.
    pub(crate) fn lock(&mut self, file: &File) -> stdio::Result<()> {
        loop {
            let busy = match file.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => "another program holds its lock: see fuser",
            };
            if !self.rest(&busy) {
                return Err(stdio::Error::new(stdio::ErrorKind::ResourceBusy, busy));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_opens_of_a_file() -> (File, File) {
        let file = tempfile::NamedTempFile::new().unwrap();
        (file.reopen().unwrap(), file.reopen().unwrap())
    }

    #[test]
    fn lock_of_somebody_who_stays_is_refused_after_the_limit() {
        let (holder, file) = two_opens_of_a_file();
        holder.lock().unwrap();
        let mut patience = Patience::new(PATIENCE_POLL_INTERVAL * 3);
        let error = patience.lock(&file).unwrap_err();
        assert_eq!(error.kind(), stdio::ErrorKind::ResourceBusy);
        assert!(io::now().since(patience.began_at) >= patience.limit);
    }

    #[test]
    fn lock_is_taken_once_its_holder_is_gone() {
        let (holder, file) = two_opens_of_a_file();
        holder.lock().unwrap();
        let mut patience = Patience::new(Duration::from_secs(60));
        let waiter = thread::spawn(move || patience.lock(&file).is_ok());
        drop(holder);
        assert!(waiter.join().unwrap());
    }
}
