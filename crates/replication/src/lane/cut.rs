//! Writes that a follower keeps in memory until their cut is whole (protocol A, PROTOCOL.md 10.1):
//! the lane's side of it, at the leader and at the follower.

use format::ids::{MemberSet, Seq};

use crate::activity::Waiter;
use crate::contract::{ReplicaRole, is_later_cut};
use crate::lane::{Applied, AppliedState, Lane, OperationState, Replica, Turn};

/// As a follower: the newest cut of which this lane has received all that is its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldCut {
    pub(crate) number: u32,
    /// The last seq that is in this cut, or in an earlier one.
    pub(crate) seq: Seq,
}

impl Lane {
    // ---- The leader's side.

    /// The last seq that was given to an operation.
    pub(crate) fn last_seq(&self) -> Seq {
        Seq(self.leader.as_ref().map_or(0, |leader| leader.next_seq - 1))
    }

    /// What `stable` is now, and whether the members were not told of it yet.
    pub(crate) fn stable_news(&self) -> (Seq, bool) {
        let leader = self.leader.as_ref();
        leader.map_or((Seq(0), false), |leader| (Seq(leader.stable), leader.stable_unsent))
    }

    /// Some of `followers` has not written all operations up to the place `sent` in the order of
    /// sending.
    pub(crate) fn awaits_followers(&self, followers: MemberSet, sent: u64) -> bool {
        self.leader.as_ref().is_some_and(|leader| {
            leader.operations.iter().any(|(_, operation)| {
                let is_sent = matches!(operation.state, OperationState::Sent { .. });
                let missing = operation.needed.minus(operation.acknowledged);
                is_sent && operation.sent_as <= sent && !missing.and(followers).is_empty()
            })
        })
    }

    // ---- The follower's side.

    pub(crate) fn on_cut(&mut self, turn: &mut Turn<'_>, cut: HeldCut, stable: Seq) {
        self.on_stable(turn, stable);
        let known = &mut self.replica.cut;
        if turn.view.replica != ReplicaRole::None && !is_later_cut(known.number, cut.number) {
            *known = cut;
        }
    }

    /// From now on this member applies no write before its cut is released.
    pub(crate) fn begin_holding(&mut self) {
        let Replica { newest, began_behind, .. } = self.replica;
        // The leader says nothing of a lane in which nothing was written since the member began.
        self.replica.unheld = if newest > began_behind { newest } else { Seq(0) };
    }

    /// Whether all writes that were applied before this member held any are in cut `number`, or in
    /// an earlier one.
    pub(crate) fn is_at_cut(&self, number: u32) -> bool {
        let cut = self.replica.cut;
        !is_later_cut(cut.number, number) && cut.seq >= self.replica.unheld
    }

    /// The cut of a held write is released: applies it, once its extent is in the durable log.
    pub(crate) fn release(&mut self, turn: &mut Turn<'_>, waiter: Waiter) {
        let window = &mut self.replica.window;
        let position = window.partition_point(|known| known.seq < waiter.seq);
        let held = window.get_mut(position).filter(|known| known.seq == waiter.seq);
        if let Some(held) = held
            && let AppliedState::Held(manner) = held.state
        {
            held.state = AppliedState::Cold(manner);
            if let Some(slot) =
                turn.shared.activity.acquire_or_wait(held.range, self.index, waiter.seq)
            {
                held.state = AppliedState::Writing(slot);
                let Applied { seq, range, payload, .. } = *held;
                self.submit(turn, (seq, range), manner, payload, slot);
            }
        }
    }

    /// Some write waits for its extent, and is applied then.
    pub(crate) fn has_cold(&self) -> bool {
        self.replica.window.iter().any(|applied| matches!(applied.state, AppliedState::Cold(_)))
    }
}
