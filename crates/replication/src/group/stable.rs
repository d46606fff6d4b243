//! Who hears of it that writes are on every member of the write set.
//!
//! A busy lane says so with its next write, to the leader's own replica as to the others. An idle
//! one says it late, by a message.

use std::time::Duration;

use format::ids::Seq;
use format::message::DataBody;
use stdx::time::Time;

use crate::contract::GroupAction;
use crate::group::LaneGroup;
use crate::lane::shared::Shared;
use crate::lane::{Lane, Turn};

const STABLE_DELAY: Duration = Duration::from_millis(200);

impl Shared {
    /// Something is stable of which the members were not told: the lane's next write says it, or a
    /// message, when none came for long.
    #[inline(always)]
    pub(crate) fn tell_stable_later(&mut self, now: Time) {
        if self.stable_due == Time::NEVER {
            self.stable_due = now + STABLE_DELAY;
        }
    }
}

impl LaneGroup {
    /// Tells it for the lanes that had no write since.
    pub(super) fn settle_stable(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        if !self.view.leading {
            self.shared.stable_due = Time::NEVER;
        }
        if self.shared.stable_due > now {
            return;
        }
        self.shared.stable_due = Time::NEVER;
        for position in 0..self.lanes.len() {
            self.with_lane(now, position, actions, Lane::send_stable);
        }
    }

    /// The leader's own replica hears of what is stable with the lane's next write; whatever looks
    /// at what it holds wants it to be told before.
    pub(crate) fn take_stable(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let (lanes, mut turn) = self.turn(now, actions);
        lanes.iter_mut().for_each(|lane| lane.take_stable(&mut turn));
    }
}

impl Lane {
    /// The leader's own replica hears of `stable` without a message.
    fn take_stable(&mut self, turn: &mut Turn<'_>) {
        if let Some(leader) = &self.leader
            && turn.view.write_set.has(turn.view.me)
        {
            let stable = Seq(leader.stable);
            self.on_stable(turn, stable);
        }
    }

    pub(crate) fn send_stable(&mut self, turn: &mut Turn<'_>) {
        self.take_stable(turn);
        let lane = self.index;
        let Some(leader) = self.leader.as_mut().filter(|leader| leader.stable_unsent) else {
            return;
        };
        leader.stable_unsent = false;
        let stable = Seq(leader.stable);
        let others = turn.view.write_set.without(turn.view.me).and(turn.view.connected);
        for member in others.iter() {
            turn.send(member, DataBody::Stable { lane, stable });
        }
    }
}
