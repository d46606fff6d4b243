//! How members learn that writes are on every member of the write set: that they are stable.
//!
//! A busy lane says so with its next write, to the leader's own replica as to the others. An idle
//! lane says it later, by a message.

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
    /// Something is stable, and the members were not told: the next write of the lane tells them,
    /// or a message, if no write comes for long.
    #[inline(always)]
    pub(crate) fn tell_stable_later(&mut self, now: Time) {
        if self.stable_due == Time::NEVER {
            self.stable_due = now + STABLE_DELAY;
        }
    }
}

impl LaneGroup {
    /// Tells the members what is stable in lanes that had no write since.
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

    /// Tells the leader's own replica what is stable. It would hear so by the next write of a lane;
    /// a step that looks at what the replica holds needs it before.
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
