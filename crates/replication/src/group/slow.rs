//! Members that are there and answer too late: PROTOCOL.md 7c.
//!
//! Every half of the limit the leader looks at all that is under way, and never while nothing is.
//! Operations that were sent before the last look but one are late. So an operation carries no time
//! of its own.
//!
//! Members record piece by piece what a lost member misses. One that answers each piece in time is
//! not late with the rest.

use std::time::Duration;

use format::ids::{MemberSet, NODES_MAX, NodeId};
use stdx::time::Time;

use crate::contract::{FromGroup, GroupAction};
use crate::group::LaneGroup;
use crate::lane::Lane;
use crate::limits::{FOLLOWER_LOSS_PATIENCE, READ_PATIENCE, SLOW_MEMBER_LIMIT};

#[derive(Debug)]
pub(crate) struct SlowWatch {
    look_at: Time,
    /// The places in the order of sending up to which operations had been sent at the last look,
    /// and at the one before.
    sent: [u64; 2],
    /// By node, the place in that order at which it last said that it recorded a piece.
    recorded: [u64; NODES_MAX as usize],
    /// By node, the place in that order at which it came back as the same process, and was sent
    /// again what it had not answered.
    returned: [u64; NODES_MAX as usize],
    /// By node, the oldest that it was sent again then.
    owed: [Owed; NODES_MAX as usize],
}

/// The oldest write and the oldest flush that a member did not answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Owed {
    pub(crate) write: Option<u64>,
    pub(crate) flush: Option<u32>,
}

impl Owed {
    /// Some of `before` is still not answered.
    fn is_still(self, before: Self) -> bool {
        self.write.is_some() && self.write == before.write
            || self.flush.is_some() && self.flush == before.flush
    }
}

impl SlowWatch {
    pub(crate) fn new() -> Self {
        let (recorded, returned) = ([0; NODES_MAX as usize], [0; NODES_MAX as usize]);
        let owed = [Owed::default(); NODES_MAX as usize];
        Self { look_at: Time::NEVER, sent: [0; 2], recorded, returned, owed }
    }

    pub(crate) fn look_at(&self) -> Time {
        self.look_at
    }

    pub(crate) fn note_recorded(&mut self, member: NodeId, place: u64) {
        self.recorded[member.index()] = place;
    }

    /// A member came back as the same process, and has time to answer anew. It has not if it
    /// answered nothing since it came back the last time: its connections may be broken.
    pub(crate) fn note_returned(&mut self, member: NodeId, place: u64, owed: Owed) {
        let before = std::mem::replace(&mut self.owed[member.index()], owed);
        if !owed.is_still(before) {
            self.returned[member.index()] = place;
        }
    }

    fn was_here_at(&self, member: NodeId, sent: u64) -> bool {
        self.returned[member.index()] <= sent
    }

    /// Members of `awaited` that were asked before the place `sent`, and have recorded nothing
    /// since.
    fn silent_since(
        &self,
        sent: u64,
        awaited: impl Iterator<Item = (NodeId, u64)>,
    ) -> impl Iterator<Item = NodeId> {
        let silent = move |&(member, asked): &(NodeId, u64)| {
            asked.max(self.recorded[member.index()]) <= sent
        };
        awaited.filter(silent).map(|(member, _)| member)
    }
}

impl LaneGroup {
    /// The limit changed: what is under way counts as sent now, so that no member is late by a
    /// limit that it did not have.
    pub(crate) fn set_slow_limit(&mut self, now: Time, limit: Duration) {
        if std::mem::replace(&mut self.view.slow_limit, limit) == limit {
            return;
        }
        if self.slow.look_at != Time::NEVER {
            self.slow.sent = [self.shared.room.sent(), 0];
            self.slow.look_at = now + limit / 2;
            self.flushes.forget_looks();
        }
    }

    pub(crate) fn settle_slow(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        if !self.view.leading {
            self.slow.look_at = Time::NEVER;
            return;
        }
        if self.slow.look_at == Time::NEVER {
            if self.slow.sent[0] != self.shared.room.sent() || self.flushes.has_volume_flushes() {
                self.slow.sent = [self.shared.room.sent(), 0];
                self.slow.look_at = now + self.view.slow_limit / 2;
            }
            return;
        }
        if now < self.slow.look_at {
            return;
        }
        let interval = self.view.slow_limit / 2;
        // If this node stood still itself, the others are not judged.
        if now < self.slow.look_at + interval / 2 {
            for member in self.late_members().iter() {
                let stay = self.view.stay_of(member);
                actions.push(GroupAction::Home(FromGroup::MemberSlow { stay }));
            }
        }
        self.flushes.note_look();
        self.slow.sent = [self.shared.room.sent(), self.slow.sent[0]];
        let is_busy = self.flushes.has_volume_flushes()
            || !(self.recording.is_empty() && self.syncing.is_empty())
            || !self.lanes.iter().all(Lane::is_idle);
        self.slow.look_at = if is_busy { now + interval } else { Time::NEVER };
    }

    /// Sends reads that have waited for long to another member as well. A member that does not
    /// answer a read for as long as a write may take is late.
    pub(crate) fn look_at_reads(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let was_still =
            now >= self.shared.balance.look_at + self.view.slow_limit.min(SLOW_MEMBER_LIMIT) / 4;
        let mut slow = MemberSet::EMPTY;
        for position in 0..self.lanes.len() {
            slow |= self.with_lane(now, position, actions, Lane::ask_others);
        }
        if !was_still {
            for member in slow.minus(self.view.losing).iter() {
                let stay = self.view.stay_of(member);
                actions.push(GroupAction::Home(FromGroup::MemberSlow { stay }));
            }
        }
        let mut leaders = self.lanes.iter().filter_map(|lane| lane.leader.as_ref());
        let is_reading = leaders.any(|leader| !leader.reads.is_empty());
        self.shared.balance.look_at = if is_reading { now + READ_PATIENCE } else { Time::NEVER };
    }

    /// Tells the home of followers that have not recorded for long what a lost member misses.
    /// Writes wait for that record, and a follower is not worth their waiting.
    pub(crate) fn settle_losses(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let followers = self.view.followers.minus(self.view.losing);
        if followers.is_empty() {
            self.losses_due = Time::NEVER;
            return;
        }
        let awaited = |sent| {
            let awaited = self.lanes.iter().flat_map(Lane::awaited_for_losses);
            let silent = self.slow.silent_since(sent, awaited);
            silent.collect::<MemberSet>().and(followers)
        };
        let (is_awaited, late) = (!awaited(u64::MAX).is_empty(), awaited(self.losses_sent));
        if !is_awaited {
            self.losses_due = Time::NEVER;
        } else if self.losses_due == Time::NEVER {
            (self.losses_due, self.losses_sent) =
                (now + FOLLOWER_LOSS_PATIENCE, self.shared.room.sent());
        } else if now >= self.losses_due {
            (self.losses_due, self.losses_sent) =
                (now + FOLLOWER_LOSS_PATIENCE, self.shared.room.sent());
            for member in late.iter() {
                let stay = self.view.stay_of(member);
                actions.push(GroupAction::Home(FromGroup::LossLate { stay }));
            }
        }
    }

    /// Members that owe an answer for too long: to an operation, to a flush, to the record of a
    /// loss, or to the resync of a returning member.
    fn late_members(&self) -> MemberSet {
        let sent = self.slow.sent[1];
        let mut late = self.flushes.late_members();
        let for_losses = self.lanes.iter().flat_map(Lane::awaited_for_losses);
        let for_resyncs = self.lanes.iter().flat_map(Lane::awaited_for_resyncs);
        late |= self.slow.silent_since(sent, for_losses.chain(for_resyncs)).collect();
        for leader in self.lanes.iter().filter_map(|lane| lane.leader.as_ref()) {
            for (_, operation) in leader.operations.iter() {
                if operation.sent_as <= sent {
                    late |= operation.waits_for();
                }
            }
        }
        late.minus(self.view.losing).iter().filter(|&it| self.slow.was_here_at(it, sent)).collect()
    }
}
