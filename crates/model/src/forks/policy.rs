//! 9.5b: what the options say of two lines, as a function of facts that both sides have.

use super::size::{Policy, With, Without};
use super::state::{Branch, Standing};

#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) node: u8,
    pub(super) standing: Standing,
    pub(super) branch: Branch,
    /// Its line simply went on, or its first branch after the fork began with that session.
    pub(super) went_along: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Undecided,
    OwnGoes,
    OtherGoes,
}

/// It comes to the same on both sides: nothing in it depends on who asks.
pub(super) fn judge(policy: Policy, own: &Side, other: &Side) -> Verdict {
    let weaker = weaker(policy.none, own, other);
    let is_primary = |verdict| match verdict {
        Verdict::OwnGoes => own.standing.is_primary,
        Verdict::OtherGoes => other.standing.is_primary,
        Verdict::Undecided => false,
    };
    let with = match (own.standing.is_primary, other.standing.is_primary) {
        (false, false) => return weaker,
        (true, true) => policy.two,
        (true, false) | (false, true) => policy.one,
    };
    match with {
        With::Violently => weaker,
        With::Consensus if !is_primary(weaker) => weaker,
        With::Secondary if own.standing.is_primary => Verdict::OtherGoes,
        With::Secondary => Verdict::OwnGoes,
        With::Consensus | With::Disconnect => Verdict::Undecided,
    }
}

fn weaker(choice: Without, own: &Side, other: &Side) -> Verdict {
    let by_age = |goes_along: bool| match (own.went_along, other.went_along) {
        (ours, theirs) if ours == theirs => fewer_changes(own, other),
        (ours, _) if ours == goes_along => Verdict::OwnGoes,
        _ => Verdict::OtherGoes,
    };
    let has_none = |side: &Side| side.standing.changed == Some(0);
    match choice {
        Without::Disconnect => Verdict::Undecided,
        Without::YoungerPrimary => by_age(false),
        Without::OlderPrimary => by_age(true),
        Without::ZeroChanges => match (has_none(own), has_none(other)) {
            (false, false) => Verdict::Undecided,
            (true, false) => Verdict::OwnGoes,
            (false, true) => Verdict::OtherGoes,
            (true, true) => fewer_changes(own, other),
        },
        Without::LeastChanges => fewer_changes(own, other),
        Without::Node(node) if node == own.node => Verdict::OwnGoes,
        Without::Node(node) if node == other.node => Verdict::OtherGoes,
        Without::Node(_) => Verdict::Undecided,
    }
}

/// Of equals it is the line of the lower name, so that all members of a line come to the same.
fn fewer_changes(own: &Side, other: &Side) -> Verdict {
    let (Some(ours), Some(theirs)) = (own.standing.changed, other.standing.changed) else {
        return Verdict::Undecided;
    };
    match (ours, own.branch).cmp(&(theirs, other.branch)) {
        std::cmp::Ordering::Less => Verdict::OwnGoes,
        std::cmp::Ordering::Equal => Verdict::Undecided,
        std::cmp::Ordering::Greater => Verdict::OtherGoes,
    }
}
