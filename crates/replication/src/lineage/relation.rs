//! How two values stand to each other: is one of them of the line of the other, or did both go on
//! after their lines parted? (PROTOCOL.md 9.4 and 9.5.)
//!
//! A branch that begins without a quorum lists the values from which its line went on. So two
//! values tell this of themselves, whoever looks at them, and exactly.

use format::config::{Ancestor, Config, Voter};
use format::ids::{Ballot, Branch, Epoch, NodeId};

use crate::limits;
use crate::quorum;

/// How two values are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kinship {
    /// One branch: ballots and epochs decide.
    Same,
    /// The other one's line goes on from this one, or from a later value of its line.
    Older,
    Newer,
    /// Both went on; with the last value that both have, if the lists reach back so far.
    Parted(Option<Ancestor>),
}

/// Of `one`, as seen beside `other`.
pub(crate) fn kinship(one: &Config, other: &Config) -> Kinship {
    if one.branch == other.branch {
        Kinship::Same
    } else if continues(other, one) {
        Kinship::Older
    } else if continues(one, other) {
        Kinship::Newer
    } else {
        Kinship::Parted(common_ancestor(one, other))
    }
}

/// `newer` began from a value that is `older`, or came after it; or it is of the very session that
/// proposed `older`, and so knows what became of it.
fn continues(newer: &Config, older: &Config) -> bool {
    if is_left_undecided(newer, older) {
        return true;
    }
    let nonce = |config: &Config| config.primary.map(|primary| primary.nonce);
    let is_of_session = nonce(older).is_some() && nonce(newer) == nonce(older);
    let has = |ancestor: &Ancestor| {
        ancestor.branch == older.branch
            && (older.epoch < ancestor.epoch
                || older.value_id == ancestor.value_id
                || is_of_session)
    };
    older.branch == Branch(0) || newer.ancestors.iter().any(has)
}

/// `older` stands on its line behind the value from which the other one went on, and was never
/// chosen: whoever began there is needed for every quorum of its voters, has the vote store that it
/// names, and had accepted an earlier value only. Nothing was acknowledged by it.
fn is_left_undecided(newer: &Config, older: &Config) -> bool {
    let Some(at) = newer.ancestors.iter().position(|it| it.branch == older.branch) else {
        return false;
    };
    let next = newer.ancestors.get(at + 1).map_or(newer.branch, |next| next.branch);
    let beginner = beginner_of(next);
    let votes = |config: &Config| {
        let voters = config.voters.iter().chain(&config.voters_old);
        voters.copied().filter(|voter| Some(voter.node) == beginner).collect::<Vec<_>>()
    };
    let (then, now) = (votes(older), votes(newer));
    newer.ancestors[at].epoch < older.epoch
        && !then.is_empty()
        && then.iter().all(|voter| now.contains(voter))
        && then.iter().all(|voter| is_needed(older, voter.node))
}

/// The node that began this branch, as its bits 1 to 5 say.
pub(crate) fn beginner_of(branch: Branch) -> Option<NodeId> {
    NodeId::new((branch.0 >> 1).to_le_bytes()[0] & 31)
}

fn common_ancestor(one: &Config, other: &Config) -> Option<Ancestor> {
    let shared = line(one).flat_map(|mine| {
        let theirs = line(other).filter(move |theirs| theirs.branch == mine.branch);
        theirs.map(move |theirs| if mine.epoch <= theirs.epoch { mine } else { theirs })
    });
    shared.max_by_key(|shared| shared.epoch)
}

/// The value itself, and those from which its branches began.
pub(crate) fn line(config: &Config) -> impl Iterator<Item = Ancestor> + '_ {
    let Config { branch, epoch, value_id, .. } = *config;
    config.ancestors.iter().copied().chain([Ancestor { branch, epoch, value_id }])
}

/// The bit of a branch that began with the session of the value that it left: its clients wrote on.
pub(crate) const ALONG: u64 = 1;

/// With what session a branch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Began {
    /// With that of the value that it left.
    Along,
    Anew,
}

/// Whether the clients of the value at the fork wrote on in the line of `config`.
pub(crate) fn went_along(config: &Config, fork: &Ancestor) -> bool {
    let mut later = line(config).skip_while(|it| it.branch != fork.branch).skip(1);
    later.next().is_none_or(|next| next.branch.0 & ALONG != 0)
}

/// The other one's line went on from a later value of the same branch than this.
pub(crate) fn is_overtaken(ours: &Config, theirs: &Config) -> bool {
    theirs.ancestors.iter().any(|it| it.branch == ours.branch && it.epoch > ours.epoch)
}

/// What follows `base` when one node decides alone: on a new branch, by its one vote (I19).
pub(crate) fn next_branch(base: &Config, branch: Branch, voter: Voter) -> Config {
    continue_on(base, branch, vec![voter])
}

/// The same with other voters than those of `base`, who are not asked.
pub(crate) fn continue_on(base: &Config, branch: Branch, voters: Vec<Voter>) -> Config {
    let mut next = base.clone();
    next.branch = branch;
    next.voters = voters;
    next.voters_old = Vec::new();
    if base.epoch != Epoch(0) {
        let Config { branch, epoch, value_id, .. } = *base;
        next.ancestors.push(Ancestor { branch, epoch, value_id });
        let surplus = next.ancestors.len().saturating_sub(format::config::ANCESTORS_MAX);
        next.ancestors.drain(..surplus);
    }
    next
}

/// How often a node went on alone before the value of this ballot.
pub(crate) fn generation(ballot: Ballot) -> u64 {
    ballot.counter / limits::GENERATION_BALLOTS
}

/// Neither the session that leads `older`, nor a quorum of its voters, decided on `newer`.
pub(crate) fn is_foreign(older: &Config, newer: &Config) -> bool {
    let nonce = |config: &Config| config.primary.map(|primary| primary.nonce);
    let votes = newer.voters.iter().map(|voter| (voter.node, voter.store));
    nonce(older) != nonce(newer) && !quorum::is_quorum(older, &votes)
}

/// Without this voter the others make no quorum.
pub(crate) fn is_needed(config: &Config, voter: NodeId) -> bool {
    let voters = config.voters.iter().chain(&config.voters_old);
    let others = voters.filter(|it| it.node != voter).map(|it| (it.node, it.store));
    !quorum::is_quorum(config, &others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::config::{Primary, Purpose};
    use format::ids::{Nonce, ValueId, VoteStoreId};

    use crate::lineage::histories::{histories, value_id, value_of};

    fn value(branch: u64, epoch: u64, ancestors: &[(u64, u64)]) -> Config {
        let ancestors = ancestors.iter().map(|&(branch, epoch)| {
            let (branch, epoch) = (Branch(branch), Epoch(epoch));
            Ancestor { branch, epoch, value_id: value_id(branch, epoch) }
        });
        value_of(Branch(branch), Epoch(epoch), ancestors.collect())
    }

    fn fork(kinship: Kinship) -> Option<(u64, u64)> {
        match kinship {
            Kinship::Parted(Some(fork)) => Some((fork.branch.0, fork.epoch.0)),
            Kinship::Parted(None) | Kinship::Same | Kinship::Older | Kinship::Newer => None,
        }
    }

    #[test]
    fn two_values_say_of_their_histories_what_these_were() {
        let all = histories();
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))) {
            let shared = one.places.iter().zip(&other.places).take_while(|(a, b)| a == b);
            let expected = if one.value.branch == other.value.branch {
                Kinship::Same
            } else if other.places.starts_with(&one.places) {
                Kinship::Older
            } else if one.places.starts_with(&other.places) {
                Kinship::Newer
            } else {
                Kinship::Parted(shared.last().map(|(place, _)| *place))
            };
            assert_eq!(kinship(&one.value, &other.value), expected, "{one:?} beside {other:?}");
            let is_later =
                |it: &Ancestor| it.branch == one.value.branch && it.epoch > one.value.epoch;
            let has_left = one.value.branch != other.value.branch;
            let expected = has_left && other.places.iter().any(is_later);
            assert_eq!(is_overtaken(&one.value, &other.value), expected, "{one:?} by {other:?}");
        }
    }

    #[test]
    fn one_line_goes_on_from_the_other_or_both_went_on() {
        let trunk = value(1, 5, &[]);
        let lone = value(2, 6, &[(1, 5)]);
        assert_eq!(kinship(&trunk, &lone), Kinship::Older);
        assert_eq!(kinship(&lone, &trunk), Kinship::Newer);
        assert_eq!(kinship(&value(1, 4, &[]), &lone), Kinship::Older);
        assert_eq!(fork(kinship(&value(1, 6, &[]), &lone)), Some((1, 5)));
        assert_eq!(fork(kinship(&value(3, 9, &[(1, 4)]), &lone)), Some((1, 4)));
        let later = value(4, 8, &[(1, 5), (2, 7)]);
        assert_eq!(kinship(&lone, &later), Kinship::Older);
        assert_eq!(fork(kinship(&value(3, 9, &[(1, 5), (2, 6)]), &later)), Some((2, 6)));
        assert_eq!(kinship(&value(8, 3, &[]), &later), Kinship::Parted(None));
        assert_eq!(kinship(&value(0, 0, &[]), &later), Kinship::Older);
    }

    /// Two values in one place, of which only one can have been chosen: the other one is not what
    /// the fork began from.
    #[test]
    fn another_value_in_the_place_of_the_fork_is_no_ancestor() {
        let lone = value(2, 6, &[(1, 5)]);
        let mut other = value(1, 5, &[]);
        other.value_id = ValueId(77);
        assert_eq!(fork(kinship(&other, &lone)), Some((1, 5)));
        // Unless the session that went on alone had proposed it itself.
        let primary = |nonce| {
            let node = NodeId::new(0).unwrap();
            Some(Primary { node, nonce: Nonce(nonce), purpose: Purpose::Clients })
        };
        let (mut lone, mut other) = (lone, other);
        (lone.primary, other.primary) = (primary(3), primary(3));
        assert_eq!(kinship(&other, &lone), Kinship::Older);
    }

    /// Of two voters: what one proposed, and the other, which went on alone, never accepted.
    #[test]
    fn a_value_that_whoever_went_on_never_accepted_is_behind() {
        let voter = |id: u8| Voter { node: NodeId::new(id).unwrap(), store: VoteStoreId(9) };
        let began_by = |id: u64| 0x1000 | id << 1;
        let mut proposed = value(1, 6, &[]);
        proposed.voters = vec![voter(0), voter(1)];
        let mut lone = value(began_by(1), 6, &[(1, 5)]);
        lone.voters = vec![voter(1)];
        assert_eq!(kinship(&proposed, &lone), Kinship::Older);
        assert_eq!(kinship(&lone, &proposed), Kinship::Newer);
        let parted = |proposed: &Config, lone: &Config| {
            matches!(kinship(proposed, lone), Kinship::Parted(Some(_)))
        };
        // A third voter and the proposer may have chosen it.
        let mut with_third = proposed.clone();
        with_third.voters.push(voter(2));
        assert!(parted(&with_third, &lone));
        // Who went on is no voter of it, or has another vote store by now.
        assert!(parted(&proposed, &value(began_by(2), 6, &[(1, 5)])));
        let mut renewed = lone.clone();
        renewed.voters[0].store = VoteStoreId(8);
        assert!(parted(&proposed, &renewed));
        // Another one began, and the voter came later.
        let mut other = lone.clone();
        other.branch = Branch(began_by(2));
        assert!(parted(&proposed, &other));
    }

    #[test]
    fn the_list_of_forks_is_bounded_and_drops_the_oldest() {
        let voter = Voter { node: NodeId::new(0).unwrap(), store: VoteStoreId(1) };
        let mut head = value(1, 1, &[]);
        for number in 2..40 {
            head = next_branch(&head, Branch(number), voter);
            head.epoch.0 += 1;
        }
        assert_eq!(head.ancestors.len(), format::config::ANCESTORS_MAX);
        assert_eq!(head.ancestors.last().map(|it| it.branch), Some(Branch(38)));
    }
}
