//! What the lanes of a group have in common, and any of them may change in its turn.

use format::ids::{BlockRange, LaneIndex, QuestionId};
use stdx::time::Time;

use crate::activity::ActivityLog;
use crate::balance::Balance;
use crate::contract::LostMember;
use crate::lane::log_room::LogRoom;

/// What every lane of the group may change in its turn.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) activity: ActivityLog,
    pub(crate) room: LogRoom,
    /// What reads the members serve.
    pub(crate) balance: Balance,
    /// What copies may still move.
    pub(crate) rate: CopyRate,
    /// LOSS to this node's own replica, which the group hands on as if it had been a message.
    pub(crate) local_losses: Vec<(LaneIndex, LostMember, Vec<BlockRange>, QuestionId)>,
    /// Lanes in which the next settle has something to do.
    pub(crate) touched: Positions,
    /// When idle lanes tell what is stable.
    pub(crate) stable_due: Time,
}

/// How much copying is allowed while clients are at work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRate {
    pub(crate) bytes_per_second: u64,
    pub(crate) budget: u64,
    pub(crate) filled_at: Time,
    pub(crate) last_request_at: Time,
}

impl CopyRate {
    pub(crate) const NONE: Self =
        Self { bytes_per_second: 0, budget: 0, filled_at: Time::ZERO, last_request_at: Time::ZERO };

    /// A client asked for something.
    pub(crate) fn on_request(&mut self, now: Time) {
        self.last_request_at = now;
    }
}

/// Positions of lanes in their group: a volume has at most 128.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Positions([u64; 2]);

impl Positions {
    pub(crate) fn first(count: usize) -> Self {
        let mut all = Self::default();
        (0..count).for_each(|position| all.insert(u8::try_from(position).expect("at most 128")));
        all
    }

    #[inline(always)]
    pub(crate) fn insert(&mut self, position: u8) {
        self.0[usize::from(position / 64 % 2)] |= 1 << (position % 64);
    }

    pub(crate) fn has(self, position: u8) -> bool {
        self.0[usize::from(position / 64 % 2)] >> (position % 64) & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == [0; 2]
    }

    /// Lowest first.
    #[inline(always)]
    pub(crate) fn for_each(self, mut visit: impl FnMut(usize)) {
        for (word, first) in self.0.into_iter().zip([0, 64]) {
            let mut left = word;
            while left != 0 {
                visit(first + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}
