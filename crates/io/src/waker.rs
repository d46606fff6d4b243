//! Ends another thread's sleep, with a syscall only if it does sleep: `state` says whether.

mod state;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, poll};
use stdx::time::Time;

use crate::clock::now;
use state::State;

/// Wakes one reactor or one parker, from any thread.
#[derive(Clone, Debug)]
pub struct Waker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: State,
    eventfd: File,
}

impl Waker {
    /// Ends the owner's present wait, or the next one.
    pub fn wake(&self) {
        if self.shared.state.notify() {
            self.shared.make_readable();
        }
    }
}

impl Shared {
    fn make_readable(&self) {
        // Any number but zero will do, so the order of its bytes does not matter.
        let written = (&self.eventfd).write(&1_u64.to_le_bytes());
        // The counter is far from its end, for a sleep takes one wake.
        assert_eq!(written.ok(), Some(8), "an eventfd takes a wake");
    }
}

/// A new eventfd, which counts from zero and waits where it is asked to.
pub fn eventfd() -> io::Result<OwnedFd> {
    Ok(rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?)
}

/// The owner's side of a [`Waker`].
#[derive(Debug)]
pub(crate) struct Sleep {
    shared: Arc<Shared>,
}

impl Sleep {
    pub(crate) fn new() -> io::Result<Self> {
        let shared = Shared { state: State::awake(), eventfd: File::from(eventfd()?) };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn waker(&self) -> Waker {
        Waker { shared: Arc::clone(&self.shared) }
    }

    /// What becomes readable when a sleeper is woken: eight bytes to read off.
    pub(crate) fn descriptor(&self) -> RawFd {
        self.shared.eventfd.as_raw_fd()
    }

    /// Completes a read of the descriptor whatever the state, for an owner that goes away.
    pub(crate) fn end_read(&self) {
        self.shared.make_readable();
    }

    /// Whether the owner may wait now. After it did, or did not, it calls `wake_up`.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.shared.state.fall_asleep()
    }

    /// Whether a waker called since `wake_up`: the next wait is none.
    pub(crate) fn is_notified(&self) -> bool {
        self.shared.state.is_notified()
    }

    /// Everything that others did before their wake is visible after this.
    pub(crate) fn wake_up(&self) {
        self.shared.state.wake_up();
    }
}

/// Sleep for a thread without a reactor (control, admin) that receives from mailboxes.
#[derive(Debug)]
pub struct Parker {
    sleep: Sleep,
}

impl Parker {
    pub fn new() -> io::Result<Self> {
        Ok(Self { sleep: Sleep::new()? })
    }

    #[must_use]
    pub fn waker(&self) -> Waker {
        self.sleep.waker()
    }

    /// Sleeps until a waker calls or `until` has come, perhaps less. Drain the mailboxes after it.
    pub fn park(&self, until: Time) {
        if self.sleep.fall_asleep() && self.wait_readable(until) {
            let mut count = [0; 8];
            (&self.sleep.shared.eventfd)
                .read_exact(&mut count)
                .expect("an eventfd that is readable holds eight bytes");
        }
        self.sleep.wake_up();
    }

    fn wait_readable(&self, until: Time) -> bool {
        let rest = Timespec::try_from(until.since(now())).ok();
        let eventfd = &self.sleep.shared.eventfd;
        poll(&mut [PollFd::new(eventfd, PollFlags::IN)], rest.as_ref()) == Ok(1)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn wake_before_the_sleep_ends_it() {
        let parker = Parker::new().unwrap();
        parker.waker().wake();
        parker.waker().wake();
        parker.park(Time::NEVER);
    }

    #[test]
    fn wake_from_another_thread_ends_the_sleep() {
        let parker = Parker::new().unwrap();
        for _ in 0..1000 {
            let waker = parker.waker();
            let thread = thread::spawn(move || waker.wake());
            parker.park(Time::NEVER);
            thread.join().unwrap();
        }
    }

    #[test]
    fn sleep_ends_at_its_time() {
        let parker = Parker::new().unwrap();
        let until = now() + Duration::from_millis(2);
        while now() < until {
            parker.park(until);
        }
    }
}
