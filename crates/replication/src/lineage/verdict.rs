//! What the options say of two lines that parted: a function of facts that both sides have.
//!
//! It has to come to the same on both sides: nothing in it may depend on who asks.

use format::ids::{Branch, NodeId};
use format::message::Standing;

use crate::contract::{AfterSplit, WithOnePrimary, WithTwoPrimaries, WithoutPrimary};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) node: NodeId,
    pub(crate) standing: Standing,
    pub(crate) branch: Branch,
    /// Clients of the value at the fork wrote on.
    pub(crate) went_along: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Own,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Undecided,
    GivesWay(Which),
    /// A Primary that would have to, and may not by itself.
    PrimaryLost(Which),
}

/// Of our side and the other one, in this order.
pub(crate) fn judge(policy: AfterSplit, sides: &[Side; 2]) -> Verdict {
    let [own, other] = sides;
    let loser = weaker(policy.none, own, other);
    let is_primary = |which| match which {
        Which::Own => own.standing.is_primary,
        Which::Other => other.standing.is_primary,
    };
    let goes = |which: Option<Which>| which.map_or(Verdict::Undecided, Verdict::GivesWay);
    let unless_primary = || goes(loser.filter(|&which| !is_primary(which)));
    let or_lost = || match loser {
        Some(which) if is_primary(which) => Verdict::PrimaryLost(which),
        loser => goes(loser),
    };
    let secondary = if own.standing.is_primary { Which::Other } else { Which::Own };
    match (own.standing.is_primary, other.standing.is_primary) {
        (false, false) => goes(loser),
        (true, true) => match policy.two {
            WithTwoPrimaries::Disconnect => Verdict::Undecided,
            WithTwoPrimaries::Violently => goes(loser),
            WithTwoPrimaries::CallPrimary => or_lost(),
        },
        _ => match policy.one {
            WithOnePrimary::Disconnect => Verdict::Undecided,
            WithOnePrimary::Consensus => unless_primary(),
            WithOnePrimary::Violently => goes(loser),
            WithOnePrimary::Secondary => Verdict::GivesWay(secondary),
            WithOnePrimary::CallPrimary => or_lost(),
        },
    }
}

/// Whose data counts less, roles aside.
fn weaker(choice: WithoutPrimary, own: &Side, other: &Side) -> Option<Which> {
    let by_age = |goes_along: bool| match (own.went_along, other.went_along) {
        (ours, theirs) if ours == theirs => fewer_changes(own, other),
        (ours, _) if ours == goes_along => Some(Which::Own),
        _ => Some(Which::Other),
    };
    let has_none = |side: &Side| side.standing.changed_blocks == 0;
    match choice {
        // Words that were not made nodes of name nobody.
        WithoutPrimary::Disconnect | WithoutPrimary::Local | WithoutPrimary::Remote => None,
        WithoutPrimary::YoungerPrimary => by_age(false),
        WithoutPrimary::OlderPrimary => by_age(true),
        WithoutPrimary::ZeroChanges => match (has_none(own), has_none(other)) {
            (false, false) => None,
            (true, false) => Some(Which::Own),
            (false, true) => Some(Which::Other),
            (true, true) => fewer_changes(own, other),
        },
        WithoutPrimary::LeastChanges => fewer_changes(own, other),
        WithoutPrimary::Node(node) if node == own.node => Some(Which::Own),
        WithoutPrimary::Node(node) if node == other.node => Some(Which::Other),
        WithoutPrimary::Node(_) => None,
    }
}

/// Nobody, where one of the numbers is not known. Of equals it is the line of the lower name, so
/// that all members of a line come to the same.
fn fewer_changes(own: &Side, other: &Side) -> Option<Which> {
    let key = |side: &Side| (side.standing.changed_blocks, side.branch.0);
    if own.standing.changed_blocks.max(other.standing.changed_blocks) == u64::MAX {
        return None;
    }
    match key(own).cmp(&key(other)) {
        std::cmp::Ordering::Less => Some(Which::Own),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(Which::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use format::ids::ValueId;

    fn node(number: u8) -> NodeId {
        NodeId::new(number).unwrap()
    }

    fn side(number: u8, changed_blocks: u64) -> Side {
        let standing = Standing {
            id: 1,
            head: ValueId(u64::from(number)),
            against: ValueId(9),
            is_primary: false,
            changed_blocks,
            policy: 0,
        };
        Side { node: node(number), standing, branch: Branch(u64::from(number)), went_along: false }
    }

    fn along(side: Side) -> Side {
        Side { went_along: true, ..side }
    }

    fn primary(mut side: Side) -> Side {
        side.standing.is_primary = true;
        side
    }

    fn policies() -> impl Iterator<Item = AfterSplit> {
        let none = [
            WithoutPrimary::Disconnect,
            WithoutPrimary::YoungerPrimary,
            WithoutPrimary::OlderPrimary,
            WithoutPrimary::ZeroChanges,
            WithoutPrimary::LeastChanges,
            WithoutPrimary::Node(node(1)),
            WithoutPrimary::Local,
            WithoutPrimary::Remote,
        ];
        none.into_iter().flat_map(move |none| {
            WithOnePrimary::ALL
                .into_iter()
                .flat_map(move |one| WithTwoPrimaries::ALL.map(|two| AfterSplit { none, one, two }))
        })
    }

    fn sides(number: u8) -> Vec<Side> {
        let plain = [0, 1, 7, u64::MAX].map(|changed| side(number, changed));
        plain.into_iter().flat_map(|it| [it, along(it), primary(it), primary(along(it))]).collect()
    }

    fn pairs() -> impl Iterator<Item = (Side, Side)> {
        sides(1).into_iter().flat_map(|one| sides(2).into_iter().map(move |two| (one, two)))
    }

    /// Else both would go, or nobody.
    #[test]
    fn both_sides_come_to_the_same() {
        let mirrored = |verdict| match verdict {
            Verdict::GivesWay(Which::Own) => Verdict::GivesWay(Which::Other),
            Verdict::GivesWay(Which::Other) => Verdict::GivesWay(Which::Own),
            Verdict::PrimaryLost(Which::Own) => Verdict::PrimaryLost(Which::Other),
            Verdict::PrimaryLost(Which::Other) => Verdict::PrimaryLost(Which::Own),
            Verdict::Undecided => Verdict::Undecided,
        };
        for policy in policies() {
            let (seen_by_1, seen_by_2) =
                (policy.seen_by(node(1), node(2)), policy.seen_by(node(2), node(1)));
            if seen_by_1.code() != seen_by_2.code() {
                continue;
            }
            for (one, two) in pairs() {
                let there = judge(seen_by_1, &[one, two]);
                let here = judge(seen_by_2, &[two, one]);
                assert_eq!(there, mirrored(here), "{policy:?} {one:?} {two:?}");
            }
        }
    }

    /// Whoever may lose what a client was told is written is named by the options.
    #[test]
    fn no_primary_goes_unless_the_options_say_violently() {
        for policy in policies() {
            for (one, two) in pairs() {
                let both = one.standing.is_primary && two.standing.is_primary;
                let may = if both {
                    policy.two == WithTwoPrimaries::Violently
                } else {
                    policy.one == WithOnePrimary::Violently
                };
                let goes = judge(policy.seen_by(node(1), node(2)), &[one, two]);
                if one.standing.is_primary && !may {
                    assert_ne!(goes, Verdict::GivesWay(Which::Own), "{policy:?} {one:?} {two:?}");
                }
            }
        }
    }

    #[test]
    fn each_choice_is_what_its_name_says() {
        let judged = |none, one: Side, two: Side| {
            judge(AfterSplit { none, ..AfterSplit::default() }, &[one, two])
        };
        let (few, many) = (along(side(1, 3)), side(2, 5));
        let own = Verdict::GivesWay(Which::Own);
        let other = Verdict::GivesWay(Which::Other);
        assert_eq!(judged(WithoutPrimary::Disconnect, few, many), Verdict::Undecided);
        assert_eq!(judged(WithoutPrimary::YoungerPrimary, few, many), other);
        assert_eq!(judged(WithoutPrimary::OlderPrimary, few, many), own);
        assert_eq!(judged(WithoutPrimary::ZeroChanges, few, many), Verdict::Undecided);
        assert_eq!(judged(WithoutPrimary::ZeroChanges, side(1, 0), many), own);
        assert_eq!(judged(WithoutPrimary::LeastChanges, few, many), own);
        let unknown = side(2, u64::MAX);
        assert_eq!(judged(WithoutPrimary::LeastChanges, few, unknown), Verdict::Undecided);
        assert_eq!(judged(WithoutPrimary::Node(node(2)), few, many), other);
    }

    #[test]
    fn the_default_moves_nobody() {
        let policy = AfterSplit::default();
        assert!(policy.is_nobody());
        for (one, two) in sides(1).into_iter().zip(sides(2)) {
            assert_eq!(judge(policy, &[one, two]), Verdict::Undecided);
        }
    }
}
