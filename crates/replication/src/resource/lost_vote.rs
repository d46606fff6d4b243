//! What is left of a vote store that is lost: the copy of its last vote on the disk of its node
//! (decisions/0027), which tells of what line the replica is (PROTOCOL.md 9.5).

use format::message::{Accepted, Control};
use format::metadata::ReplicaState;

use crate::lineage::relation::{Kinship, kinship};
use crate::lineage::standing::{report_of, shared_until};
use crate::resource::Resource;
use crate::resource::promote::Promotion;
use crate::resource::propose::Attempt;

impl Resource {
    /// What a vote store that is lost accepted last, where the replica is of that line; until this
    /// node knows of a value that goes on from it, or of one of another line that has this very
    /// replica in sync, as its disk says too. It proves nothing, for no voter speaks for it any
    /// more; but the replica may be the last that has what was acknowledged on that line (I19).
    pub(crate) fn lost_vote(&self) -> Option<Accepted> {
        let superblock = self.superblock.as_ref().filter(|_| !self.member.disk_failed)?;
        let store = self.voter.register.store;
        let vote = superblock.vote.as_deref().filter(|vote| vote.store != store)?;
        let is_whole = matches!(superblock.state, ReplicaState::InSync | ReplicaState::Outdated);
        let is_of_line = is_whole && superblock.branch == vote.value().branch;
        let is_passed = self.newest().is_some_and(|(ballot, newest)| {
            match kinship(newest, vote.value()) {
                Kinship::Same => ballot >= vote.ballot || newest.epoch > vote.value().epoch,
                Kinship::Newer => true,
                // An old copy of the register came back.
                Kinship::Older => false,
                // It may be one as well, of a line that the replica left.
                Kinship::Parted(_) => {
                    self.own_part(newest).is_some()
                        && shared_until(newest, &report_of(superblock)).is_some()
                }
            }
        });
        (is_of_line && !is_passed)
            .then(|| Accepted { ballot: vote.ballot, value: vote.value().clone() })
    }

    /// What this node's line is told by: its voter, or what is left of one that is lost.
    pub(crate) fn known_line(&self) -> Option<Accepted> {
        self.lost_vote().or_else(|| self.head())
    }

    /// All that is known of this node's line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Accepted> {
        [self.head(), self.lost_vote()].into_iter().flatten()
    }

    /// What this node goes on from when it decides alone: the operator's word is enough for what
    /// no voter speaks for.
    pub(crate) fn base_alone(&self) -> Option<Accepted> {
        let is_forced = self.promotion.as_ref().is_some_and(Promotion::is_forced);
        self.lost_vote().filter(|_| is_forced).or_else(|| self.head())
    }

    /// It decides alone, from what its own voter does not know: others may have been in sync after
    /// that, without this replica.
    pub(crate) fn goes_on_from_lost_vote(&self) -> bool {
        self.attempt.as_ref().is_some_and(Attempt::is_alone) && self.lost_vote().is_some()
    }

    /// What a peer of another line is told of this node. To all others a vote without its store is
    /// none.
    pub(crate) fn report_to_parted(&self) -> Control {
        let mut report = self.own_report();
        if let (Control::Report { accepted, .. }, Some(lost)) = (&mut report, self.lost_vote()) {
            *accepted = Some(lost);
        }
        report
    }
}
