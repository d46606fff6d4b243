//! The alarm of a ring: a timeout request that goes off once a millisecond, while it is needed, and
//! ends whatever wait it finds.
//!
//! It takes the place of a timer for each wait. Setting such a timer and taking it back costs a
//! fraction of a microsecond; where it is nearer than the kernel's next one, both are writes to a
//! register of the processor, and on a virtual machine two calls of its host.
//!
//! ```text
//! Off --waits need it--> On --went off twice without a need--> Ending --its last answer--> Off
//! ```
//!
//! Where waits are few it would wake a thread that has nothing to do: it begins with the last of
//! [`ENOUGH`] waits that need it, each less than a period after the one before.
//!
//! It cannot be missed. The kernel counts what goes off during a wait and ends the wait, however
//! many completions it was for; what went off before sets the next timer as the wait begins.

use std::time::Duration;

use io_uring::{cqueue, opcode, squeue, types};
use stdx::time::Time;

/// How long a wait goes on at most while the alarm is on.
pub(super) const PERIOD: Duration = Duration::from_millis(1);
static TIMESPEC: types::Timespec = types::Timespec::new().nsec(PERIOD.subsec_nanos());
const ENOUGH: u32 = 8;
/// The user data of the request, and of the one that ends it: those of no tag.
const ALARM: u64 = u64::MAX;
const END: u64 = u64::MAX - 1;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The kernel has none of the kind (before Linux 6.4).
    Never,
    Off(Needs),
    On {
        is_needed: bool,
    },
    Ending,
}

/// Waits in a row that needed it while it was off.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Needs {
    count: u32,
    last_at: Time,
}

impl Needs {
    pub(super) const NONE: Self = Self { count: 0, last_at: Time::ZERO };

    /// There is another one. True once they are enough.
    fn note(&mut self, now: Time) -> bool {
        let is_near = now.since(self.last_at) < PERIOD;
        self.count = if is_near { self.count + 1 } else { 1 };
        self.last_at = now;
        self.count >= ENOUGH
    }
}

impl Alarm {
    /// Whether a wait that begins now ends in time.
    pub(super) fn is_on(&self) -> bool {
        matches!(self, Self::On { .. })
    }

    /// A wait that begins now is to end in time. True if it does.
    pub(super) fn need(&mut self, now: Time, queue: &mut squeue::SubmissionQueue<'_>) -> bool {
        match self {
            Self::Never | Self::Ending => return false,
            Self::Off(needs) => {
                if !needs.note(now) {
                    return false;
                }
                let flags = types::TimeoutFlags::MULTISHOT;
                let request = opcode::Timeout::new(&raw const TIMESPEC).flags(flags).build();
                // SAFETY: the time that the request names lives as long as the process.
                if unsafe { queue.push(&request.user_data(ALARM)) }.is_err() {
                    return false;
                }
            }
            Self::On { .. } => {}
        }
        *self = Self::On { is_needed: true };
        true
    }

    /// Whether a completion is the alarm's own affair.
    pub(super) fn is_its(entry: &cqueue::Entry) -> bool {
        entry.user_data() >= END
    }

    pub(super) fn on_completion(
        &mut self,
        entry: &cqueue::Entry,
        queue: &mut squeue::SubmissionQueue<'_>,
    ) {
        if entry.user_data() == END {
            // It was just going off: the next time will do.
            if *self == Self::Ending {
                *self = Self::On { is_needed: false };
            }
        } else if !cqueue::more(entry.flags()) {
            let is_refused = entry.result() == -libc::EINVAL;
            *self = if is_refused { Self::Never } else { Self::Off(Needs::NONE) };
        } else if let Self::On { is_needed } = self
            && !std::mem::take(is_needed)
        {
            let request = opcode::TimeoutRemove::new(ALARM).build();
            let request = request.flags(squeue::Flags::SKIP_SUCCESS).user_data(END);
            // SAFETY: the request names no memory.
            if unsafe { queue.push(&request) }.is_ok() {
                *self = Self::Ending;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many waits, so far apart, it takes until the alarm begins, if it does.
    fn waits_until_it_begins(apart: Duration) -> Option<u32> {
        let mut needs = Needs::NONE;
        let mut now = Time(1_000_000_000);
        (1..100).find(|_| {
            now = now + apart;
            needs.note(now)
        })
    }

    #[test]
    fn alarm_begins_where_waits_come_one_upon_the_other() {
        assert_eq!(waits_until_it_begins(PERIOD / 2), Some(ENOUGH));
        assert_eq!(waits_until_it_begins(PERIOD), None);
    }
}
