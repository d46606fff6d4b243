//! How far followers are behind, for those whom the configuration does not want to wait for
//! (`on-congestion`, PROTOCOL.md 10.1): looked at once per turn, by the leader.
//!
//! The home adds up what the groups of all shards say. A group alone says it as soon as a limit is
//! reached; of several each says it in steps, so that they never say too much, and together an
//! eighth of the limit too little at most.

use format::ids::{MemberSet, NodeId, Seq};
use stdx::time::Time;

use crate::contract::{FromGroup, GroupAction, Lag, LagLimits};
use crate::group::LaneGroup;
use crate::lane::{Lane, OperationKind, OperationState};

/// A follower that may be left behind, and what the home was told of it last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    member: NodeId,
    limits: LagLimits,
    told: Lag,
}

/// What the members of a lane owe.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    /// Bytes that the follower was sent and has not written.
    bytes: u64,
    /// Somewhere nobody else is missing but followers.
    is_last: bool,
    /// ... where answers wait for them.
    keeps_answers: bool,
    /// ... with which the window of a lane begins that has no place for what clients ask for.
    fills_window: bool,
}

impl LaneGroup {
    pub(crate) fn watch_lag(&mut self, member: NodeId, limits: LagLimits) {
        self.lag.retain(|known| known.member != member);
        if limits.is_any {
            self.lag.push(Watched { member, limits, told: Lag::default() });
        }
    }

    #[cold]
    pub(crate) fn settle_lag(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        // What is stable keeps no extents.
        self.take_stable(now, actions);
        let mut watched = std::mem::take(&mut self.lag);
        for known in &mut watched {
            let lag = self.lag_of(known.member, known.limits);
            if lag != known.told {
                known.told = lag;
                let stay = self.view.stay_of(known.member);
                actions.push(GroupAction::Home(FromGroup::Lag { stay, lag }));
            }
        }
        self.lag = watched;
    }

    fn lag_of(&self, member: NodeId, limits: LagLimits) -> Lag {
        let followers = self.view.followers;
        if !self.view.leading || !followers.has(member) {
            return Lag::default();
        }
        let none = Owed::default();
        let owed = self.lanes.iter().fold(none, |sum, lane| sum.and(lane.owed(member, followers)));
        let is_starved = self.shared.room.is_used_up() || self.shared.activity.is_starving();
        let extents = if owed.is_last { self.shared.activity.in_use() } else { 0 };
        Lag {
            bytes: in_steps(owed.bytes, limits.bytes, self.shards),
            extents: in_steps(extents, limits.extents, self.shards),
            is_full: owed.keeps_answers || owed.fills_window || owed.is_last && is_starved,
        }
    }
}

/// A client asked for it. Copies do not count: as many are under way as a resync may have, and
/// where these fill the log the follower would be left behind whenever it returned.
fn is_asked(kind: OperationKind) -> bool {
    matches!(kind, OperationKind::Write | OperationKind::Discard | OperationKind::Zeroes)
}

/// No more than `value`, and nothing beyond `limit` (0: there is none) matters.
fn in_steps(value: u64, limit: u64, shards: u8) -> u64 {
    let step = if shards == 1 { limit } else { (limit / (8 * u64::from(shards))).max(1) };
    match limit {
        0 => 0,
        _ => value.min(limit) / step * step,
    }
}

impl Owed {
    fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            is_last: self.is_last || other.is_last,
            keeps_answers: self.keeps_answers || other.keeps_answers,
            fills_window: self.fills_window || other.fills_window,
        }
    }
}

impl Lane {
    fn owed(&self, member: NodeId, followers: MemberSet) -> Owed {
        let Some(leader) = self.leader.as_ref() else { return Owed::default() };
        let mut owed = Owed::default();
        // The window moves on with its first operation alone, whatever became of the others.
        let is_waited_for = !leader.overflow.is_empty() || !self.has_window();
        let first = Seq(leader.stable + 1);
        for (_, operation) in leader.operations.iter() {
            let missing = operation.needed.minus(operation.acknowledged);
            let is_sent = matches!(operation.state, OperationState::Sent { .. });
            if !is_sent || !missing.has(member) {
                continue;
            }
            if operation.kind == OperationKind::Write {
                owed.bytes += operation.range.length_bytes();
            }
            let is_last = missing.is_subset_of(followers);
            owed.is_last |= is_last && is_asked(operation.kind);
            owed.keeps_answers |= is_last && operation.part.is_some() && leader.early.is_full();
            owed.fills_window |= is_last
                && is_asked(operation.kind)
                && operation.seq == first
                && leader.has_full_window()
                && is_waited_for;
        }
        owed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_say_no_more_than_there_is_and_an_eighth_too_little_at_most() {
        for (limit, shards) in [(1, 1), (67, 1), (67, 3), (4096, 16), (10 << 20, 16), (1 << 20, 5)]
        {
            for value in [0, 1, limit / 2, limit - 1, limit, 2 * limit] {
                let said = in_steps(value, limit, shards);
                assert!(said <= value && said <= limit);
                let short = value.min(limit) - said;
                let step = if shards == 1 { limit } else { (limit / 8 / u64::from(shards)).max(1) };
                assert!(short < step, "{value} of {limit} by {shards}: {said}");
            }
            let all: u64 = (0..shards).map(|_| in_steps(limit, limit, shards)).sum();
            assert!(all >= limit - limit / 8, "{limit} by {shards}");
        }
        assert_eq!(in_steps(77, 0, 4), 0, "no limit");
    }
}
