//! Flushes that the device called done, and what they are worth.
//!
//! All shards use one device. Where it lost what was not flushed, it tells one request and no
//! other: a flush, or what is durable by itself (a FUA write, metadata). Whatever flushes next
//! finds nothing to do, and ends well. So the home asks all groups before such an end counts (I15),
//! and each answers once it heard what became of everything of that kind that it had asked the
//! device for by then: who was told had asked before.

use format::ids::Seq;

use crate::contract::{AboutFlushes, GroupAction, RoundId};
use crate::group::{LaneGroup, answer};
use crate::lane::{AppliedState, Lane};

#[derive(Debug, Default)]
pub(crate) struct Trust {
    asked: Vec<Doubt>,
}

/// A question of the home, and what was under way as it came.
#[derive(Debug)]
struct Doubt {
    round: RoundId,
    /// What the group asked for later has a number from here on.
    uses: u64,
    /// Of each lane, the last write.
    writes: Vec<Option<Seq>>,
}

impl Trust {
    pub(crate) fn is_asked(&self) -> bool {
        !self.asked.is_empty()
    }
}

impl LaneGroup {
    pub(crate) fn on_flushes(&mut self, about: AboutFlushes, actions: &mut Vec<GroupAction>) {
        match about {
            AboutFlushes::Doubt { round } => {
                let writes = self.lanes.iter().map(Lane::last_write_out).collect();
                let uses = self.durable.next_use();
                self.trust.asked.push(Doubt { round, uses, writes });
            }
            AboutFlushes::Believe { shard, number } if shard == self.view.shard => {
                self.on_flush_believed(number, actions);
            }
            AboutFlushes::Believe { .. } => {}
        }
    }

    pub(crate) fn settle_trust(&mut self, actions: &mut Vec<GroupAction>) {
        let (lanes, durable) = (&self.lanes, &self.durable);
        self.trust.asked.retain(|doubt| {
            let is_writing = lanes
                .iter()
                .zip(&doubt.writes)
                .any(|(lane, &last)| last.is_some_and(|last| lane.has_write_out_until(last)));
            let is_over = !is_writing && !durable.has_use_before(doubt.uses);
            if is_over {
                actions.push(answer(doubt.round));
            }
            !is_over
        });
    }
}

impl Lane {
    /// The last of the writes that the device has not answered.
    fn last_write_out(&self) -> Option<Seq> {
        self.writes_out().last()
    }

    fn has_write_out_until(&self, last: Seq) -> bool {
        self.writes_out().any(|seq| seq <= last)
    }

    /// Those that are to be durable by themselves cannot be told from the others, which are over as
    /// soon.
    fn writes_out(&self) -> impl Iterator<Item = Seq> {
        let window = self.replica.window.iter();
        let writing = window.filter(|applied| matches!(applied.state, AppliedState::Writing(_)));
        writing.map(|applied| applied.seq)
    }
}
