//! A verify over the lanes of one shard: its begin, and what the home shard is told of it.

use format::ids::NodeId;
use format::space::Space;
use stdx::time::Time;

use crate::contract::{FromGroup, GroupAction, RoundId, VerifyTask};
use crate::group::copying::PROGRESS_INTERVAL;
use crate::group::{LaneGroup, answer};
use crate::lane::verify::Verify;

impl LaneGroup {
    pub(crate) fn begin_verify(&mut self, task: VerifyTask, space: Space, round: RoundId) {
        self.verifying = Some(round);
        self.lanes.iter_mut().for_each(|lane| lane.begin_verify(task, space));
        self.touch_all();
    }

    pub(crate) fn settle_verify(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let Some(round) = self.verifying else {
            self.verify_due = Time::NEVER;
            return;
        };
        let is_done = self.passes().all(Verify::is_done);
        if !is_done && now < self.verify_due && self.verify_due != Time::NEVER {
            return;
        }
        self.report_verify(actions);
        self.verify_due = now + PROGRESS_INTERVAL;
        if is_done {
            self.verifying = None;
            self.verify_due = Time::NEVER;
            actions.push(answer(round));
        }
    }

    fn passes(&self) -> impl Iterator<Item = &Verify> {
        self.lanes.iter().filter_map(|lane| lane.leader.as_ref()?.verify.as_ref())
    }

    /// A pass of this session is under way, or over.
    pub(crate) fn has_verified(&self) -> bool {
        self.passes().next().is_some()
    }

    /// How far the pass is, and what of its findings stands.
    pub(crate) fn report_verify(&self, actions: &mut Vec<GroupAction>) {
        let mut differing: Vec<(NodeId, u64)> = Vec::new();
        for &(member, count) in self.passes().flat_map(|pass| &pass.differing) {
            match differing.iter_mut().find(|(known, _)| *known == member) {
                Some((_, sum)) => *sum += count,
                None => differing.push((member, count)),
            }
        }
        let end = self.view.space.end();
        actions.push(GroupAction::Home(FromGroup::VerifyProgress {
            position: self.passes().map(Verify::position).min().unwrap_or(end),
            verified_blocks: self.passes().map(|pass| pass.verified_blocks).sum(),
            skipped_blocks: self.passes().map(|pass| pass.skipped_blocks).sum(),
            differing,
        }));
    }
}
