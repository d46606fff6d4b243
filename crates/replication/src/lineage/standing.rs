//! How a replica stands to a value: is its data of that history, all of it, and how good is what it
//! holds? (PROTOCOL.md 7.3, 8 and 9.5.)
//!
//! A value says whom it has in sync, since when, and whose memory answers rested on; a report says
//! what the disk of a replica tells of itself, and a seal how its process fared.

use std::collections::BTreeMap;

use format::config::{Ancestor, Config, InSync, VolumeConfig};
use format::ids::{Branch, Epoch, MemberSet, NodeId};
use format::message::{ReplicaReport, Sealed, SealedLane, SlotBase};
use format::metadata::{Candidate, Superblock};

/// The members of a value that may serve: the same of each of its volumes.
pub(crate) fn insync(config: &Config) -> MemberSet {
    config.volumes.first().map_or(MemberSet::EMPTY, VolumeConfig::insync_set)
}

/// What a superblock says of its replica; its log is of the process that has it.
pub(crate) fn report_of(superblock: &Superblock) -> ReplicaReport {
    ReplicaReport {
        incarnation: superblock.incarnation,
        branch: superblock.branch,
        joined: superblock.joined,
        candidate: superblock.candidate,
        sealed: superblock.sealed.nonce,
        space: superblock.usable_space(),
        lanes: superblock.lanes,
        log_slots: 0,
    }
}

/// Until which epoch the data of a replica is of this history; `None` if it went another way.
pub(crate) fn shared_until(config: &Config, replica: &ReplicaReport) -> Option<Epoch> {
    if replica.branch == config.branch {
        return Some(Epoch(u64::MAX));
    }
    let ancestor = config.ancestors.iter().find(|known| known.branch == replica.branch)?;
    (replica.joined <= ancestor.epoch).then_some(ancestor.epoch)
}

/// The slot has every block that the member missed since it was last in sync, on the line that it
/// shares with this one until some epoch.
pub(crate) fn is_good_for(base: SlotBase, replica: &ReplicaReport, shared_until: Epoch) -> bool {
    let was_candidate = replica
        .candidate
        .is_some_and(|candidate| candidate.epoch == base.epoch && base.epoch <= shared_until);
    base.incarnation == replica.incarnation
        && base.epoch != crate::FULL
        && (base.epoch <= replica.joined || was_candidate)
}

/// The replica is blank, of this branch, or of one that this branch came from: then its head is
/// older, and nothing in it was acknowledged that this history does not have or did not give up.
pub(crate) fn is_of_history(config: &Config, replica: &ReplicaReport) -> bool {
    let blank = replica.branch == Branch(0);
    blank || shared_until(config, replica).is_some()
}

/// The replica did not write down that it is about to join, or did so on this line. One that left a
/// line may be about to join another one behind their fork, and has data of that.
pub(crate) fn is_candidate_of_line(config: &Config, replica: &ReplicaReport) -> bool {
    let Some(Candidate { epoch, value_id }) = replica.candidate else { return true };
    let is_before = |known: &Ancestor| {
        known.branch == replica.branch
            && (epoch < known.epoch || (epoch, value_id) == (known.epoch, known.value_id))
    };
    replica.branch == config.branch || config.ancestors.iter().any(is_before)
}

/// The replica is the one that the value has in sync, and went on from there with nobody else: one
/// that began to follow another line holds writes of it, whatever this one says.
pub(crate) fn has_data_of(base: &Config, node: NodeId, report: &Sealed) -> bool {
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

/// Not restarted since it was last admitted.
pub(crate) const RANK_INTACT: u8 = 3;
/// Restarted, on a machine that did not: what its device cached is still there.
pub(crate) const RANK_RESTARTED: u8 = 2;
pub(crate) const RANK_REBOOTED: u8 = 1;
/// It was being copied to, and nobody proposed that it is in sync: it has data of two lines,
/// perhaps, and counts for nothing even where a value that is older than that names it.
pub(crate) const RANK_BEHIND: u8 = 0;

/// How good what a sealed replica holds is; the larger the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing {
    /// No answer was given without it.
    is_complete: bool,
    rank: u8,
    /// It wrote all that it answered for.
    has_written: bool,
}

impl Standing {
    /// Of a member of `base` that reports this rank.
    pub(crate) fn of(base: &Config, member: NodeId, rank: u8) -> Self {
        // One that is intact wrote what it had received before it answered the seal.
        let has_written = rank >= RANK_INTACT || !base.by_receipt.has(member);
        Self { is_complete: !behind(base).has(member), rank, has_written }
    }

    pub(crate) fn is_complete(self) -> bool {
        self.is_complete
    }

    /// Where none is better, completed writes may be gone (C1).
    pub(crate) fn may_lack_writes(self) -> bool {
        self.rank <= RANK_REBOOTED || !self.has_written || !self.is_complete
    }
}

/// Those who may lack what was answered, by this value: after a clean end nobody does.
pub(crate) fn behind(config: &Config) -> MemberSet {
    if config.clean { MemberSet::EMPTY } else { config.followers }
}

/// Why these alone cannot go on: each may lack what clients were told is written, and a member that
/// has it may come back.
pub(crate) fn lacks_answers(base: &Config, members: MemberSet) -> Option<String> {
    let complete = insync(base).minus(behind(base));
    let lacks = !complete.is_empty() && members.minus(behind(base)).is_empty();
    lacks.then(|| {
        format!(
            "only asynchronous followers (protocol A) are in reach, which may lack what was \
             answered last: {} needed; `primary --force` goes on without that",
            names(complete)
        )
    })
}

/// Of followers, each with a state of its own, the one that came farthest.
pub(crate) fn keep_newest(sealed: &mut BTreeMap<NodeId, Sealed>) {
    let newest = sealed.iter().max_by_key(|(_, it)| reached(&it.lanes)).map(|(&node, _)| node);
    sealed.retain(|&node, _| Some(node) == newest);
}

/// How much a member did in all lanes together. What it says is no more than its word.
fn reached(lanes: &[SealedLane]) -> u64 {
    lanes.iter().map(|lane| lane.applied.max(lane.stable).0).fold(0, u64::saturating_add)
}

pub(crate) fn names(members: MemberSet) -> String {
    let names: Vec<String> = members.iter().map(|node| format!("node {node}")).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(" or ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::{Ballot, BootId, Branch, Incarnation, Nonce, ResourceId, Seq, ValueId};
    use format::space::Space;

    use crate::lineage::histories::histories;

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

    /// It joined by a value that led to this one, or is of the same branch.
    #[test]
    fn a_replica_is_of_the_histories_that_go_on_from_its_join() {
        let all = histories();
        for (joined, base) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let Config { branch, epoch, .. } = joined.value;
            let report = sealed(RANK_INTACT, branch.0, epoch.0, None).replica;
            let is_on_it = base.places.starts_with(&joined.places);
            let expected = is_on_it || branch == base.value.branch;
            assert_eq!(is_of_history(&base.value, &report), expected, "{joined:?} in {base:?}");
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

    #[test]
    fn seqs_that_no_lane_reaches_are_counted_as_far_as_they_go() {
        let lane = |stable, applied| SealedLane {
            stable: Seq(stable),
            applied: Seq(applied),
            ..SealedLane::default()
        };
        assert_eq!(reached(&[lane(3, 5), lane(7, 0)]), 12);
        assert_eq!(reached(&[lane(0, u64::MAX), lane(u64::MAX, 1)]), u64::MAX);
    }
}
