//! What the home and the groups say to each other of followers (protocol A).

use format::ids::{MemberSet, NodeId};

use crate::contract::RoundId;

/// Followers (protocol A): they apply what was sent to them cut by cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboutCuts {
    /// As the leader: send cuts to those of `named` that are in sync. No answer to a client waits
    /// for those of `counted`.
    Follow { named: MemberSet, counted: MemberSet },
    /// As the leader: what was sent until now is in cut `number`. Answered at once; from then on
    /// clients get no answer, until `LetGo`.
    Note { number: u32, round: RoundId },
    /// Every shard has noted the cut: clients get their answers again. Answered when all followers
    /// have written this group's part of it.
    LetGo { round: RoundId },
    /// As the leader: say with `FromGroup::Lag` how far this follower is behind.
    WatchLag { member: NodeId, limits: LagLimits },
    /// As a follower: apply nothing from now on that is not released. Answered at once.
    Hold { round: RoundId },
    /// As a follower: every shard has received all of cut `number`. Apply it.
    Release { number: u32 },
}

/// So often a follower hears of every lane, whether it has news or not: what it knows of a lane is
/// never so old that its number passes for a later one.
pub(crate) const CUTS_BETWEEN_ALL_LANES: u32 = 1 << 20;

/// The number of the cut after `number`: they go round, and 0 is that of none.
pub(crate) fn next_cut(number: u32) -> u32 {
    number.wrapping_add(1).max(1)
}

/// Whether a cut came after another one, or after none: half of all numbers are later.
pub(crate) fn is_later_cut(number: u32, than: u32) -> bool {
    let distance = number.wrapping_sub(than);
    number != 0 && (than == 0 || distance != 0 && distance <= u32::MAX / 2)
}

/// How far behind a follower may be before it is left behind; 0 in a limit is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagLimits {
    /// It is left behind at all. If so, then also where what is kept in memory reaches its bound.
    pub is_any: bool,
    pub bytes: u64,
    pub extents: u64,
}

/// How far a follower is behind in the lanes of a group, as far as the limits go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// What it was sent and has not written.
    pub bytes: u64,
    /// Extents that this node's activity log holds, while something waits for followers alone.
    pub extents: u64,
    /// Requests wait for it: no more is kept in memory.
    pub is_full: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_cuts_go_round_and_none_is_that_of_no_cut() {
        let mut number = u32::MAX - 3;
        for wanted in [u32::MAX - 2, u32::MAX - 1, u32::MAX, 1, 2] {
            let next = next_cut(number);
            assert_eq!(next, wanted);
            assert!(is_later_cut(next, number) && !is_later_cut(number, next));
            assert!(is_later_cut(next, 0) && !is_later_cut(0, next));
            assert!(!is_later_cut(next, next));
            number = next;
        }
        let far = 1 << 31;
        assert!(is_later_cut(far, 1) && !is_later_cut(1, far));
        assert!(!is_later_cut(far + 1, 1) && is_later_cut(1, far + 2));
    }
}
