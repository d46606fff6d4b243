//! Room for writes in the members' activity logs (docs/decisions/0004).
//!
//! A member keeps the extent of a write in its log until the write is stable. Those of one group
//! come to every member in one order, so nobody waits for a slot that a later one holds. Where
//! several groups of the leader fill one log of a member, two members may get their writes in
//! different orders, and wait for each other for ever. So each group has a share of such a log, and
//! what does not fit into it waits here, before it has a seq.

use format::ids::LaneIndex;
use stdx::time::Time;

use crate::contract::GroupAction;
use crate::group::LaneGroup;

impl LaneGroup {
    /// What waited for room goes on where there is some; true if anything did.
    #[inline]
    pub(crate) fn settle_room(&mut self, now: Time, actions: &mut Vec<GroupAction>) -> bool {
        self.shared.room.is_waited_for() && self.send_all_stalled(now, actions)
    }

    #[cold]
    fn send_all_stalled(&mut self, now: Time, actions: &mut Vec<GroupAction>) -> bool {
        let mut goes_on = false;
        while let Some((lane, index)) = self.take_stalled() {
            let position = self.position_of_lane(lane);
            self.touch(position);
            self.with_lane(now, position, actions, |lane, turn| lane.send_stalled(turn, index));
            goes_on = true;
        }
        goes_on
    }

    fn take_stalled(&mut self) -> Option<(LaneIndex, u32)> {
        let Self { lanes, positions, shared, .. } = self;
        let lane_of = |lane: LaneIndex| &lanes[usize::from(positions[usize::from(lane.0)])];
        shared.room.take_next(|lane| lane_of(lane).has_window())
    }
}

/// How much of each log of a member one of the `shards` groups of a leader may fill, if the logs
/// have `slots` extents each and the member has `member_shards` of them; none of its own is needed
/// where no two groups fill the same one.
pub(crate) fn share_of_log(shards: u8, member_shards: u8, slots: u16) -> usize {
    if sharing(shards, member_shards) == 1 {
        usize::MAX
    } else {
        share_of_followers_log(shards, member_shards, slots)
    }
}

/// The same for a follower: what it is to apply when its leader is gone has to find room in its
/// log, though nobody says any more what is stable.
pub(crate) fn share_of_followers_log(shards: u8, member_shards: u8, slots: u16) -> usize {
    usize::from((slots / u16::from(sharing(shards, member_shards))).max(1))
}

/// The groups of a leader that fill one log of a member.
fn sharing(shards: u8, member_shards: u8) -> u8 {
    let (mut whole, mut rest) = (shards, member_shards);
    while rest != 0 {
        (whole, rest) = (rest, whole % rest);
    }
    shards / whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane `l` is with group `l mod shards` on each side.
    #[test]
    fn shares_of_all_groups_that_fill_a_log_fit_into_it() {
        for (shards, member_shards) in (1..=16).flat_map(|a| (1..=16).map(move |b| (a, b))) {
            let share = share_of_log(shards, member_shards, 64);
            for group in 0..member_shards {
                let lanes = (0..240_u8).filter(|lane| lane % member_shards == group);
                let mut feeding: Vec<u8> = lanes.map(|lane| lane % shards).collect();
                feeding.sort_unstable();
                feeding.dedup();
                let fits = feeding.len() == 1 || feeding.len() * share <= 64;
                assert!(fits, "{shards} groups, {member_shards} logs, {share} each");
            }
        }
        assert_eq!(share_of_log(4, 4, 8), usize::MAX, "one log for each group");
        assert_eq!(share_of_log(2, 4, 8), usize::MAX, "two logs for each group");
        assert_eq!(share_of_log(4, 2, 8), 4);
    }
}
