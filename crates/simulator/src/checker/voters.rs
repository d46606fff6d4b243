//! Rare turns of a change of voters or members, as the chosen values show them.

use std::collections::BTreeSet;

use format::config::{Config, Voter};
use format::ids::{Epoch, MemberSet, NodeId, Nonce, VoteStoreId};
use replication::quorum::is_quorum;

use crate::sometimes::Mark;

#[derive(Debug, Default)]
pub(crate) struct VoterChanges {
    /// Who first wrote down the joint value that nobody finished yet, and whether it was chosen.
    joint: Option<(Nonce, bool)>,
    before: Option<Config>,
}

impl VoterChanges {
    pub(crate) fn note_accepted(&mut self, value: &Config) {
        if let (None, false, Some(primary)) =
            (self.joint, value.voters_old.is_empty(), value.primary)
        {
            self.joint = Some((primary.nonce, false));
        }
    }

    /// A value was chosen by these voters, at the latest.
    pub(crate) fn note_chosen(
        &mut self,
        value: &Config,
        by: &BTreeSet<(NodeId, VoteStoreId)>,
    ) -> Vec<Mark> {
        let mut marks = Vec::new();
        let nonce = value.primary.map(|primary| primary.nonce);
        match (self.joint, value.voters_old.is_empty()) {
            (Some((first, was_chosen)), false) => {
                marks.push(Mark::VotersJoint);
                if !was_chosen && nonce.is_some_and(|nonce| nonce != first) {
                    marks.push(Mark::JointInDoubt);
                }
                self.joint = Some((first, true));
            }
            (Some((first, true)), true) => {
                if nonce.is_some_and(|nonce| nonce != first) {
                    marks.push(Mark::JointFinishedByAnother);
                }
                self.joint = None;
            }
            (Some((_, false)) | None, _) => self.joint = None,
        }
        let without_witness = by.iter().copied().filter(|(node, _)| value.members.has(*node));
        if !is_quorum(value, &without_witness) {
            marks.push(Mark::WitnessDecided);
        }
        let before = self.before.replace(value.clone());
        if let Some(before) = before.filter(|before| before.epoch != Epoch(0)) {
            marks.extend(differences(&before, value));
        }
        marks
    }
}

fn differences(before: &Config, value: &Config) -> Vec<Mark> {
    let nodes = |voters: &[Voter]| voters.iter().map(|it| it.node).collect::<MemberSet>();
    let is_other = |voter: &&Voter| {
        let known = before.voters.iter().find(|known| known.node == voter.node);
        known.is_some_and(|known| known.store != voter.store && known.store != VoteStoreId(0))
    };
    let lone = |config: &Config| {
        config.voters.len() == 1 && config.voters_old.is_empty() && config.members.len() > 1
    };
    let (was_alone, is_alone) = (lone(before), lone(value));
    let facts = [
        (has_left(before, value, nodes), Mark::VoterLeft),
        (is_alone && !was_alone, Mark::LastStands),
        (!value.members.minus(before.members).is_empty(), Mark::MemberAdded),
        (!before.members.minus(value.members).is_empty(), Mark::MemberRemoved),
        (
            nodes(&before.voters) == nodes(&value.voters)
                && value.voters.iter().any(|it| is_other(&it)),
            Mark::StoreReplaced,
        ),
    ];
    facts.into_iter().filter(|(holds, _)| *holds).map(|(_, mark)| mark).collect()
}

/// One that stays a member votes no more.
fn has_left(before: &Config, value: &Config, nodes: impl Fn(&[Voter]) -> MemberSet) -> bool {
    let gone = nodes(&before.voters_old).minus(nodes(&value.voters) | nodes(&value.voters_old));
    !gone.and(value.members).is_empty()
}
