//! Who has the data of a value: PROTOCOL.md 7.3.

use format::config::{Config, InSync};
use format::ids::{Epoch, MemberSet, NodeId};
use format::message::{ReplicaReport, Sealed};
use format::metadata::{Candidate, ReplicaState};

use crate::resource::Resource;
use crate::resource::admit::{is_candidate_of_line, is_of_history};
use crate::resource::followers::lacks_answers;
use crate::resource::forks::shared_until;
use crate::resource::member::RANK_BEHIND;

pub(super) const NOT_UP_TO_DATE: &str = "this replica is not UpToDate, and no other one is in \
                                         reach: connect one, or take this one for the truth with \
                                         `primary --force`";
const LEFT_BEHIND: &str = "others go on without this replica, or were about to, and none is in \
                           reach: connect one, or take this one for the truth with `primary \
                           --force`";

const VOTE_IS_LOST: &str = "the vote store that knew whether this replica is UpToDate is lost: \
                            connect a node that knows, or take it for the truth with `primary \
                            --force`";

impl Resource {
    /// Why this replica alone may lack what clients were told is written, by the newest value that
    /// this node knows; before a birth nothing is known.
    pub(crate) fn lack_of_data(&self) -> Option<String> {
        if self.lost_vote().is_some() {
            return Some(VOTE_IS_LOST.to_owned());
        }
        let head = self.newest_own().filter(|head| head.epoch != Epoch(0))?;
        if self.is_older_than_known() {
            return Some(NOT_UP_TO_DATE.to_owned());
        }
        if self.own_part(head).is_none() {
            return Some(LEFT_BEHIND.to_owned());
        }
        lacks_answers(head, MemberSet::of(self.me()))
    }

    /// A value has others in sync, and this replica is not.
    pub(crate) fn is_older_than_known(&self) -> bool {
        let has_history = self.newest_own().is_some_and(|head| head.epoch != Epoch(0));
        has_history && self.replica_state() != Some(ReplicaState::InSync)
    }
}

/// The replica is the one that the value has in sync, and went on from there with nobody else: one
/// that began to follow another line holds writes of it, whatever this one says.
pub(super) fn has_data_of(base: &Config, node: NodeId, report: &Sealed) -> bool {
    let Sealed { replica, rank, .. } = report;
    let known = base.volumes.first().and_then(|volume| volume.insync_member(node));
    let is_known = known.is_some_and(|known| {
        known.incarnation == replica.incarnation && has_joined(base, known, replica)
    });
    is_known && is_of_history(base, replica) && *rank > RANK_BEHIND
}

/// Its own disk says that it joined when the value has it join, or later. A disk that says less is
/// an image of an older day, and where the vote store is new nothing else tells.
pub(crate) fn has_joined(base: &Config, known: &InSync, replica: &ReplicaReport) -> bool {
    let has_heard = match replica.candidate {
        Some(Candidate { epoch, value_id }) => {
            epoch == known.joined && (epoch != base.epoch || value_id == base.value_id)
        }
        None => known.joined <= replica.joined,
    };
    is_candidate_of_line(base, replica) && (has_heard || is_unheard(base, known, replica))
}

/// It is in sync by the promotion that began a branch, and did not hear of that: NEW_EPOCH brings
/// the branch and the epoch at once. Whoever is of a branch joins it by a candidate.
fn is_unheard(base: &Config, known: &InSync, replica: &ReplicaReport) -> bool {
    let shared = shared_until(base, replica).unwrap_or(Epoch(0));
    let last_before = base.ancestors.iter().map(|ancestor| ancestor.epoch).chain([Epoch(0)]);
    let mut first = last_before.map(Epoch::next);
    replica.branch != base.branch && known.joined > shared && first.any(|it| it == known.joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::config::{Ancestor, VolumeConfig};
    use format::ids::{Ballot, BootId, Branch, Incarnation, MemberSet, Nonce, ResourceId, ValueId};
    use format::space::Space;

    use crate::resource::member::RANK_INTACT;

    const TRUNK: u64 = 1;
    /// Began behind epoch 5 of the trunk.
    const LONE: u64 = 2;

    fn node() -> NodeId {
        NodeId::new(1).expect("a node")
    }

    fn id(branch: u64, epoch: u64) -> ValueId {
        ValueId(branch * 1000 + epoch)
    }

    /// A value that has the node in sync since `joined`.
    fn value(branch: u64, epoch: u64, joined: u64) -> Config {
        let fork = Ancestor { branch: Branch(TRUNK), epoch: Epoch(5), value_id: id(TRUNK, 5) };
        let (incarnation, joined) = (Incarnation(7), Epoch(joined));
        let insync = vec![InSync { node: node(), incarnation, joined }];
        Config {
            resource: ResourceId(1),
            branch: Branch(branch),
            ancestors: if branch == TRUNK { Vec::new() } else { vec![fork] },
            epoch: Epoch(epoch),
            value_id: id(branch, epoch),
            previous: ValueId(0),
            primary: None,
            tenure: None,
            volumes: vec![VolumeConfig { number: 0, size_bytes: 1 << 30, lanes: 16, insync }],
            voters: Vec::new(),
            voters_old: Vec::new(),
            members: MemberSet::of(node()),
            by_receipt: MemberSet::EMPTY,
            followers: MemberSet::EMPTY,
            clean: false,
            losses: 0,
            awaits_reopen: false,
        }
    }

    fn has_data(
        base: &Config,
        branch: u64,
        joined: u64,
        candidate: Option<(u64, ValueId)>,
    ) -> bool {
        has_data_of(base, node(), &sealed(RANK_INTACT, branch, joined, candidate))
    }

    fn sealed(rank: u8, branch: u64, joined: u64, candidate: Option<(u64, ValueId)>) -> Sealed {
        let replica = ReplicaReport {
            incarnation: Incarnation(7),
            branch: Branch(branch),
            joined: Epoch(joined),
            candidate: candidate
                .map(|(epoch, value_id)| Candidate { epoch: Epoch(epoch), value_id }),
            sealed: Nonce(0),
            space: Space::of_one(8),
            lanes: 16,
            log_slots: 0,
        };
        Sealed {
            ballot: Ballot::default(),
            nonce: Nonce(0),
            boot_id: BootId(1),
            rank,
            replica,
            lanes: Vec::new(),
            inherited: Vec::new(),
            own_slot: Vec::new(),
        }
    }

    #[test]
    fn an_older_join_than_that_of_the_value_is_an_old_image() {
        let base = value(TRUNK, 5, 3);
        assert!(has_data(&base, TRUNK, 3, None));
        assert!(!has_data(&base, TRUNK, 2, None));
        assert!(!has_data(&base, 0, 0, None), "of before its first join");
        assert!(!has_data(&base, TRUNK, 2, Some((2, id(TRUNK, 2)))), "about to join before");
        // What was copied from the trunk before the fork.
        let lone = value(LONE, 8, 3);
        assert!(has_data(&lone, TRUNK, 3, None));
        assert!(!has_data(&lone, TRUNK, 2, None));
        assert!(!has_data(&value(LONE, 8, 8), TRUNK, 3, None), "it joined behind the fork");
    }

    #[test]
    fn a_join_that_was_not_heard_of_counts() {
        let base = value(TRUNK, 5, 4);
        assert!(has_data(&base, TRUNK, 2, Some((4, id(TRUNK, 4)))));
        let of_join = value(TRUNK, 4, 4);
        assert!(has_data(&of_join, TRUNK, 2, Some((4, id(TRUNK, 4)))));
        assert!(!has_data(&of_join, TRUNK, 2, Some((4, ValueId(77)))), "another value");
        assert!(has_data(&value(LONE, 6, 5), TRUNK, 2, Some((5, id(TRUNK, 5)))));
    }

    /// The birth, and what is forced, are of a branch that no disk names before NEW_EPOCH is there.
    #[test]
    fn a_promotion_that_was_not_heard_of_counts() {
        assert!(has_data(&value(TRUNK, 1, 1), 0, 0, None));
        assert!(has_data(&value(LONE, 6, 6), TRUNK, 3, None));
        assert!(has_data(&value(LONE, 7, 6), TRUNK, 3, None), "nor of the next one");
        assert!(has_data(&value(LONE, 6, 6), 0, 0, None), "a blank one that was forced");
    }

    /// It gave its data up, or is being copied to, whatever a value of before says.
    #[test]
    fn who_says_that_it_is_behind_does_not_count() {
        let base = value(TRUNK, 5, 3);
        assert!(!has_data_of(&base, node(), &sealed(RANK_BEHIND, TRUNK, 3, None)));
    }

    /// It follows another line whole by now: with that it gave up what this one counts on.
    #[test]
    fn a_replica_of_another_line_does_not_count() {
        assert!(!has_data(&value(TRUNK, 8, 3), LONE, 6, None));
        assert!(!has_data(&value(LONE, 8, 3), LONE + 1, 6, None));
    }

    /// It gave way to the trunk, behind the fork, with a voter that did not hear of it.
    #[test]
    fn a_candidate_of_another_line_does_not_count() {
        for joined in [3, 6] {
            let lone = value(LONE, 8, joined);
            assert!(!has_data(&lone, TRUNK, 3, Some((7, id(TRUNK, 7)))));
            assert!(!has_data(&lone, TRUNK, 3, Some((6, id(TRUNK, 6)))));
            assert!(!has_data(&lone, TRUNK, 3, Some((5, ValueId(77)))), "in place of the fork");
        }
    }
}
