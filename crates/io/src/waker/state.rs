//! Who is awake: the part of a waker that needs no kernel.
//!
//! ```text
//! owner                      others
//! AWAKE --fall asleep--> ASLEEP --notify: signal--> NOTIFIED
//!   |                      |                          |
//!   +--notify--> NOTIFIED  +--------- wake up --------+--> AWAKE
//! ```
//!
//! An owner that was notified does not fall asleep. So whoever puts something in a mailbox and then
//! notifies is sure that the owner looks again. The owner's part is to look after every turn.

use crate::sync::{AtomicU8, Ordering};

const AWAKE: u8 = 0;
const ASLEEP: u8 = 1;
const NOTIFIED: u8 = 2;

#[derive(Debug)]
pub(crate) struct State(AtomicU8);

impl State {
    pub(crate) fn awake() -> Self {
        Self(AtomicU8::new(AWAKE))
    }

    /// Whether the owner sleeps, and is to be signalled.
    pub(crate) fn notify(&self) -> bool {
        self.0.swap(NOTIFIED, Ordering::AcqRel) == ASLEEP
    }

    /// Whether the owner may wait now. After it did, or did not, it calls `wake_up`.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.0.compare_exchange(AWAKE, ASLEEP, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Whether the owner was notified since it woke up last. Drain the mailboxes after `wake_up`.
    pub(crate) fn is_notified(&self) -> bool {
        self.0.load(Ordering::Relaxed) == NOTIFIED
    }

    /// Everything that others did before they notified is visible after this.
    pub(crate) fn wake_up(&self) {
        if self.0.load(Ordering::Relaxed) != AWAKE {
            self.0.swap(AWAKE, Ordering::AcqRel);
        }
    }
}
