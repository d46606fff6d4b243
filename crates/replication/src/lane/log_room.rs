//! What of a group's share of the members' activity logs is used up (group/log_room.rs).

use std::collections::VecDeque;

use format::ids::LaneIndex;

#[derive(Debug)]
pub(crate) struct LogRoom {
    /// Operations of this group that may have a seq and not be stable.
    limit: usize,
    unstable: usize,
    /// What was sent or asked so far, in all sessions.
    sent: u64,
    /// Bounded by the operations of the lanes.
    stalled: VecDeque<(LaneIndex, u32)>,
}

impl LogRoom {
    pub(crate) fn new() -> Self {
        Self { limit: usize::MAX, unstable: 0, sent: 0, stalled: VecDeque::new() }
    }

    /// Whether an operation has to wait, for room or behind those that do.
    pub(crate) fn is_full(&self) -> bool {
        self.unstable >= self.limit || !self.stalled.is_empty()
    }

    /// Operations wait for others to be stable, of whatever lane. Some may wait for a place in the
    /// window of their own lane alone.
    pub(crate) fn is_used_up(&self) -> bool {
        !self.stalled.is_empty() && self.unstable >= self.limit
    }

    #[inline]
    pub(crate) fn is_waited_for(&self) -> bool {
        !self.stalled.is_empty()
    }

    pub(crate) fn stall(&mut self, lane: LaneIndex, index: u32) {
        self.stalled.push_back((lane, index));
    }

    /// One more is sent; gives its place.
    #[inline]
    pub(crate) fn send_one(&mut self) -> u64 {
        self.unstable += 1;
        self.next_place()
    }

    /// A place among all that the group sends or asks.
    #[inline]
    pub(crate) fn next_place(&mut self) -> u64 {
        self.sent += 1;
        self.sent
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn are_stable(&mut self, operations: usize) {
        self.unstable -= operations;
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        assert!(limit > 0, "without room nothing would ever be written");
        self.limit = limit;
    }

    /// The session is over, and all that it had under way.
    pub(crate) fn clear(&mut self) {
        self.unstable = 0;
        self.stalled.clear();
    }

    /// The first that there is room for, of a lane with a place in the members' windows.
    pub(crate) fn take_next(
        &mut self,
        has_window: impl Fn(LaneIndex) -> bool,
    ) -> Option<(LaneIndex, u32)> {
        if self.stalled.is_empty() || self.unstable >= self.limit {
            return None;
        }
        let next = self.stalled.iter().position(|&(lane, _)| has_window(lane))?;
        self.stalled.remove(next)
    }
}
