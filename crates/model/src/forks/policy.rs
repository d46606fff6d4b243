//! 9.5b: what the options say of two lines, as a function of facts that both sides have.

use super::state::{Branch, Standing};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Without {
    Disconnect,
    YoungerPrimary,
    OlderPrimary,
    ZeroChanges,
    LeastChanges,
    /// The node of this number: `discard-local`, `discard-remote`, or its name.
    Node(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum With {
    Disconnect,
    Consensus,
    Secondary,
    Violently,
}

/// `after-sb-0pri`, `-1pri`, `-2pri`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    pub none: Without,
    pub one: With,
    pub two: With,
}

impl Policy {
    const fn new(none: Without, one: With, two: With) -> Self {
        Self { none, one, two }
    }

    pub const NOBODY: Self = Self::new(Without::Disconnect, With::Disconnect, With::Disconnect);
    pub const YOUNGER: Self = Self::new(Without::YoungerPrimary, With::Consensus, With::Disconnect);
    pub const OLDER: Self = Self::new(Without::OlderPrimary, With::Consensus, With::Disconnect);
    pub const ZERO: Self = Self::new(Without::ZeroChanges, With::Consensus, With::Disconnect);
    pub const LEAST: Self = Self::new(Without::LeastChanges, With::Violently, With::Violently);
    pub const SECONDARY: Self = Self::new(Without::Disconnect, With::Secondary, With::Disconnect);
    pub const FIRST: Self = Self::new(Without::Node(0), With::Consensus, With::Violently);
    pub const SECOND: Self = Self::new(Without::Node(1), With::Consensus, With::Disconnect);

    pub(super) fn is_nobody(self) -> bool {
        self.none == Without::Disconnect && self.one != With::Secondary
    }
}

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
