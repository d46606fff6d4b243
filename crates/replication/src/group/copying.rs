//! Copies for members that miss something: how far they are, and how much of them is allowed while
//! clients are at work.

use std::time::Duration;

use format::ids::{BLOCK_BYTES, EXTENT_BLOCKS, NodeId};
use format::space::Space;
use stdx::time::Time;

use crate::contract::{FromGroup, GroupAction};
use crate::group::{Draining, LaneGroup, answer};
use crate::lane::Lane;
use crate::lane::shared::CopyRate;
use crate::limits;
use crate::ranges::RangeSet;

/// How long after the last request a volume counts as idle, and copies run at full speed.
const IDLE_AFTER: Duration = Duration::from_millis(100);
pub(super) const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);
const BUDGET_INTERVAL: Duration = Duration::from_millis(10);
const COPY_BYTES_MAX: u64 = limits::COPY_BLOCKS_MAX as u64 * BLOCK_BYTES;

impl LaneGroup {
    /// Which members miss nothing any more, and how far the others are.
    pub(super) fn settle_synced(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        if self.syncing.is_empty() {
            self.progress_due = Time::NEVER;
            return;
        }
        let (lanes, mut synced) = (&self.lanes, Vec::new());
        self.syncing.retain(|&(member, round)| {
            let done = lanes.iter().all(|lane| lane.is_synced(member));
            if done {
                synced.push((member, round));
            }
            !done
        });
        for (member, round) in synced {
            self.report_progress(member, actions);
            actions.push(answer(round));
        }
        self.progress_due = if self.syncing.is_empty() {
            Time::NEVER
        } else if now < self.progress_due && self.progress_due != Time::NEVER {
            self.progress_due.min(now + BUDGET_INTERVAL)
        } else {
            for &(member, _) in &self.syncing {
                self.report_progress(member, actions);
            }
            now + PROGRESS_INTERVAL
        };
    }

    fn report_progress(&self, member: NodeId, actions: &mut Vec<GroupAction>) {
        let (mut remaining, mut copied_blocks) = (Space::EMPTY, 0);
        for lane in &self.lanes {
            let (left, copied) = lane.resync_progress(member);
            remaining = remaining.and(&left);
            copied_blocks += copied;
        }
        let remaining = Box::new(remaining);
        let fact = FromGroup::SyncProgress { member, remaining, copied_blocks };
        actions.push(GroupAction::Home(fact));
    }

    /// A disk that could not be read may be read again, and a member that was away is back: nobody
    /// joins, and no session ends cleanly, while something differs.
    pub(super) fn settle_unreadable(&mut self, now: Time) {
        let is_awaited =
            self.reconciling.is_some() || !self.syncing.is_empty() || self.draining != Draining::No;
        let rests = |lane: &Lane| lane.leader.as_ref().is_some_and(|it| !it.unreadable.is_empty());
        if !is_awaited || !self.lanes.iter().any(rests) {
            self.unreadable_due = Time::NEVER;
        } else if self.unreadable_due == Time::NEVER {
            self.unreadable_due = now + limits::UNREADABLE_REST;
        } else if now >= self.unreadable_due {
            self.unreadable_due = Time::NEVER;
            for lane in &mut self.lanes {
                if let Some(leader) = lane.leader.as_mut().filter(|it| !it.unreadable.is_empty()) {
                    leader.unreadable = RangeSet::default();
                    self.shared.touched.insert(lane.position);
                }
            }
        }
    }

    /// Something uses the rate of copies.
    fn is_copying_any(&self) -> bool {
        !self.syncing.is_empty() || self.verifying.is_some()
    }

    /// When lanes that stopped for want of budget may go on.
    pub(super) fn copy_budget_due(&self) -> Time {
        let is_short = self.is_copying_any() && self.shared.rate.budget < COPY_BYTES_MAX;
        if is_short { self.shared.rate.filled_at + BUDGET_INTERVAL } else { Time::NEVER }
    }

    pub(super) fn refill_copy_budget(&mut self, now: Time) {
        let rate = &mut self.shared.rate;
        let is_idle = |rate: &CopyRate| now.since(rate.last_request_at) >= IDLE_AFTER;
        if rate.bytes_per_second == 0 || rate.last_request_at == Time::ZERO || is_idle(rate) {
            let is_short = rate.budget < COPY_BYTES_MAX;
            rate.budget = u64::MAX;
            rate.filled_at = now;
            // Lanes that stopped for want of budget hear of nothing else.
            if is_short && self.is_copying_any() {
                self.touch_all();
            }
            return;
        }
        let elapsed = now.since(rate.filled_at).min(IDLE_AFTER);
        let earned = u128::from(rate.bytes_per_second) * elapsed.as_micros() / 1_000_000;
        let earned = u64::try_from(earned).unwrap_or(u64::MAX);
        if earned == 0 {
            return;
        }
        rate.filled_at = now;
        let bound = (rate.bytes_per_second / 10).max(EXTENT_BLOCKS * BLOCK_BYTES / 16);
        let left = if rate.budget > bound { 0 } else { rate.budget };
        rate.budget = left.saturating_add(earned).min(bound);
        if self.is_copying_any() {
            self.touch_all();
        }
    }

    pub(crate) fn set_copy_rate(&mut self, bytes_per_second: u64) {
        self.shared.rate.bytes_per_second = bytes_per_second;
    }
}

impl Lane {
    fn is_synced(&self, member: NodeId) -> bool {
        self.leader.as_ref().is_some_and(|leader| {
            leader.resyncs.iter().any(|resync| resync.member == member && resync.done)
        })
    }

    fn resync_progress(&self, member: NodeId) -> (Space, u64) {
        let resyncs = self.leader.as_ref().map_or(&[][..], |leader| &leader.resyncs);
        resyncs
            .iter()
            .filter(|resync| resync.member == member)
            .map(|resync| (resync.bits.counts(), resync.copied_blocks))
            .fold((Space::EMPTY, 0), |sum, one| (sum.0.and(&one.0), sum.1 + one.1))
    }
}
