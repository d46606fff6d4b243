//! Pure rules: when an operation is complete, and when enough voters agree.

use std::fmt;

use format::config::{Config, Voter};
use format::ids::{MemberSet, NodeId, VoteStoreId};

/// A write or flush completes when every member of the write set acknowledged it.
#[must_use]
pub fn is_complete(acknowledged: MemberSet, needed: MemberSet) -> bool {
    needed.is_subset_of(acknowledged)
}

/// How many of a set of voters agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Votes {
    pub have: usize,
    /// The majority, or more where more is asked for.
    pub needed: usize,
    pub all: usize,
}

/// The votes for a value: what decides, and what an operator is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Of `voters`.
    pub new: Votes,
    /// Of `voters_old`, while a change of voters is under way.
    pub old: Option<Votes>,
}

impl Votes {
    fn is_majority(self) -> bool {
        self.have >= majority_of(self.all)
    }
}

impl Tally {
    /// A majority of `voters`, and of `voters_old` while a change of voters is under way.
    #[must_use]
    pub fn is_quorum(self) -> bool {
        self.new.is_majority() && self.old.is_none_or(Votes::is_majority)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Votes { have, needed, all } = self.new;
        write!(f, "{have} of {all} voters answer, {needed} are needed")?;
        self.old.map_or(Ok(()), |Votes { have, needed, all }| {
            write!(
                f,
                "; the voters change, and of the {all} before {have} answer, {needed} are needed"
            )
        })
    }
}

fn majority_of(all: usize) -> usize {
    all / 2 + 1
}

/// `answers` are the voters that agreed, each with the vote store that it speaks for: a voter that
/// lost its store is not the voter that the value names.
#[must_use]
pub fn tally(
    config: &Config,
    answers: &(impl Iterator<Item = (NodeId, VoteStoreId)> + Clone),
) -> Tally {
    let old = (!config.voters_old.is_empty()).then(|| votes_of(&config.voters_old, answers));
    Tally { new: votes_of(&config.voters, answers), old }
}

#[must_use]
pub fn is_quorum(
    config: &Config,
    answers: &(impl Iterator<Item = (NodeId, VoteStoreId)> + Clone),
) -> bool {
    tally(config, answers).is_quorum()
}

fn votes_of(
    voters: &[Voter],
    answers: &(impl Iterator<Item = (NodeId, VoteStoreId)> + Clone),
) -> Votes {
    let counted = |voter: &&Voter| answers.clone().any(|answer| is_vote_of(voters, voter, answer));
    let have = voters.iter().filter(counted).count();
    Votes { have, needed: majority_of(voters.len()), all: voters.len() }
}

/// Before the birth no vote store is known: all are 0, which any store matches. Later a voter whose
/// store is not known yet has no vote: any store in its place may follow one that voted, and was
/// lost, and a quorum with it need not meet every other one.
#[must_use]
pub fn is_vote_of(voters: &[Voter], voter: &Voter, (node, store): (NodeId, VoteStoreId)) -> bool {
    let is_known = |voter: &Voter| voter.store != VoteStoreId(0);
    node == voter.node && (store == voter.store || !voters.iter().any(is_known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::{Branch, Epoch, ResourceId, ValueId};

    fn node(id: u8) -> NodeId {
        NodeId::new(id).unwrap()
    }

    fn voters(set: u32) -> Vec<Voter> {
        MemberSet(set).iter().map(|node| Voter { node, store: VoteStoreId(9) }).collect()
    }

    fn answers(set: u32) -> impl Iterator<Item = (NodeId, VoteStoreId)> + Clone {
        let members: Vec<_> = MemberSet(set).iter().collect();
        members.into_iter().map(|node| (node, VoteStoreId(9)))
    }

    fn config(now: u32, old: u32) -> Config {
        Config {
            resource: ResourceId(1),
            branch: Branch(1),
            ancestors: Vec::new(),
            epoch: Epoch(1),
            value_id: ValueId(1),
            previous: ValueId(0),
            primary: None,
            tenure: None,
            volumes: Vec::new(),
            voters: voters(now),
            voters_old: voters(old),
            members: MemberSet(now),
            by_receipt: MemberSet::EMPTY,
            followers: MemberSet::EMPTY,
            clean: false,
            losses: 0,
            awaits_reopen: false,
        }
    }

    #[test]
    fn complete_means_all_needed_for_up_to_five_members() {
        for needed in 0..32 {
            for acknowledged in 0..32 {
                let all =
                    (0..5).all(|bit| needed & (1 << bit) == 0 || acknowledged & (1 << bit) != 0);
                assert_eq!(is_complete(MemberSet(acknowledged), MemberSet(needed)), all);
            }
        }
    }

    #[test]
    fn any_two_quorums_of_one_value_meet_for_up_to_five_voters() {
        for count in 1..=5 {
            let all = (1_u32 << count) - 1;
            let config = config(all, 0);
            let quorums: Vec<u32> =
                (0..=all).filter(|&set| is_quorum(&config, &answers(set))).collect();
            assert!(quorums.contains(&all));
            for a in &quorums {
                assert!(quorums.iter().all(|b| a & b != 0), "{a:b} meets every quorum");
            }
        }
    }

    #[test]
    fn while_voters_change_both_majorities_are_needed() {
        let config = config(0b11100, 0b00111);
        assert!(is_quorum(&config, &answers(0b01110)));
        assert!(!is_quorum(&config, &answers(0b11100)), "no majority of the old voters");
        assert!(!is_quorum(&config, &answers(0b00111)), "no majority of the new voters");
    }

    #[test]
    fn what_is_told_of_the_votes_is_what_decides() {
        // Of the new voters a majority, and of the two before one.
        let config = config(0b0111, 0b0101);
        let votes = tally(&config, &answers(0b0011));
        assert_eq!(votes.new, Votes { have: 2, needed: 2, all: 3 });
        assert_eq!(votes.old, Some(Votes { have: 1, needed: 2, all: 2 }));
        assert!(!votes.is_quorum());
        let told = "2 of 3 voters answer, 2 are needed; the voters change, and of the 2 before 1 \
                    answer, 2 are needed";
        assert_eq!(votes.to_string(), told);
    }

    #[test]
    fn a_voter_whose_store_is_not_known_has_no_vote_after_the_birth() {
        let mut config = config(0b111, 0);
        config.voters[1].store = VoteStoreId(0);
        assert!(is_quorum(&config, &answers(0b101)));
        assert!(!is_quorum(&config, &answers(0b011)));
        for voter in &mut config.voters {
            voter.store = VoteStoreId(0);
        }
        assert!(is_quorum(&config, &answers(0b011)), "nobody's store is known before the birth");
    }

    #[test]
    fn a_voter_with_another_store_does_not_count() {
        let config = config(0b111, 0);
        let answers = [(node(0), VoteStoreId(9)), (node(1), VoteStoreId(8))];
        assert!(!is_quorum(&config, &answers.into_iter()));
    }
}
