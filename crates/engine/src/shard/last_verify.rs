//! When the last comparison of the replicas that this node led ended: the machine knows when one
//! began, and keeps no time of its end.
//!
//! The machine is looked at only while a comparison may be under way: from the input that may have
//! begun one, until it is seen to be over.

use format::message::Control;
use replication::contract::{Command, ResourceInput};
use replication::resource::{VerifyState, VerifyStatus};
use stdx::time::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastVerify {
    /// One may be under way; cleared when it is seen to be over, or not to have begun.
    is_open: bool,
    /// When the last one that ended had begun, and when it ended; the next end replaces it.
    ended: Option<(Time, Time)>,
}

impl LastVerify {
    /// Before the machine takes this input.
    pub(super) fn expect(&mut self, input: &ResourceInput) {
        self.is_open |= if let ResourceInput::Command { command, .. } = input {
            matches!(command, Command::Verify(_))
        } else if let ResourceInput::Control { message, .. } = input {
            matches!(**message, Control::Verify { .. })
        } else {
            false
        };
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// After the machine took an input.
    pub(super) fn note(&mut self, status: Option<&VerifyStatus>, now: Time) {
        let Some(status) = status else {
            self.is_open = false;
            return;
        };
        match status.state {
            VerifyState::Waiting | VerifyState::Running => {}
            VerifyState::Done | VerifyState::Interrupted => {
                // Another one may have been asked for in vain since.
                if self.ended.is_none_or(|(began, _)| began != status.started_at) {
                    self.ended = Some((status.started_at, now));
                }
                self.is_open = false;
            }
        }
    }

    /// When the one that the machine tells of ended.
    pub(super) fn ended_at(&self, status: &VerifyStatus) -> Option<Time> {
        self.ended.filter(|(began, _)| *began == status.started_at).map(|(_, ended)| ended)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use replication::contract::{CommandId, Repair, VerifyTask};

    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn status(state: VerifyState, began: u64) -> VerifyStatus {
        VerifyStatus {
            state,
            from_block: 0,
            until_block: 8,
            repair: Repair::No,
            position: 0,
            verified_blocks: 0,
            skipped_blocks: 0,
            differing: Vec::new(),
            started_at: at(began),
        }
    }

    fn asked() -> ResourceInput {
        let task = VerifyTask { from_block: 0, until_block: 8, repair: Repair::No };
        ResourceInput::Command { id: CommandId(1), command: Command::Verify(task) }
    }

    #[test]
    fn end_is_noted_once_for_each_that_ended() {
        let mut last = LastVerify::default();
        assert!(!last.is_open(), "the machine is looked at only where there may be one");
        last.expect(&asked());
        for (state, now) in
            [(VerifyState::Waiting, 1), (VerifyState::Running, 2), (VerifyState::Running, 5)]
        {
            last.note(Some(&status(state, 1)), at(now));
            assert!(last.is_open() && last.ended_at(&status(state, 1)).is_none());
        }
        let done = status(VerifyState::Done, 1);
        last.note(Some(&done), at(9));
        assert_eq!((last.is_open(), last.ended_at(&done)), (false, Some(at(9))));
        // One that is refused leaves the former one as it was.
        last.expect(&asked());
        last.note(Some(&done), at(20));
        assert_eq!((last.is_open(), last.ended_at(&done)), (false, Some(at(9))));
        let next = status(VerifyState::Interrupted, 21);
        assert_eq!(last.ended_at(&next), None);
        last.note(Some(&next), at(30));
        assert_eq!(last.ended_at(&next), Some(at(30)));
    }

    #[test]
    fn one_that_never_began_is_not_waited_for() {
        let mut last = LastVerify::default();
        last.expect(&asked());
        last.note(None, at(1));
        assert!(!last.is_open());
    }
}
