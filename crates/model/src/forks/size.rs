//! How much may happen, by which options, and which rules may be taken out.

pub(super) const NODES: usize = 3;

/// A rule of PROTOCOL.md that may be taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// 9.4: who goes on alone begins a branch.
    NewBranch,
    /// 9.4: the replica is of the branch as soon as the vote counts.
    ReplicaOfBranch,
    /// 9.5: whose value is later than the fork is not behind.
    Behind,
    /// 9.5: a side that is behind and in use counts as forked.
    InUse,
    /// 9.5: what was never chosen does not part.
    LeftUndecided,
    /// 9.5b: the other side is asked first.
    Ask,
    /// 9.5b: who gives way, or is to, agrees to nothing.
    RefuseWhileGoing,
    /// 9.5b: who has no data of its line agrees to nothing.
    AgreeWithData,
    /// 9.5b: who was overtaken on its own branch agrees to nothing.
    RefuseOvertaken,
    /// 9.5b: an agreement that comes when nobody asks any more ends the connection.
    LateAgreement,
    /// 9.5b: who has no data of its line leaves it with the last one that has.
    FollowTheLast,
    /// 9.5b: a Primary goes by the options only where they say so.
    SparePrimary,
    /// 9.6: all slots of the loser are in its own slot.
    MergeSlots,
    /// 7.3: whom a value names in sync, and whose replica is not, is no member.
    ReplicaInSync,
}

impl Rule {
    pub const ALL: [Self; 14] = [
        Self::NewBranch,
        Self::ReplicaOfBranch,
        Self::InUse,
        Self::LeftUndecided,
        Self::Ask,
        Self::RefuseWhileGoing,
        Self::AgreeWithData,
        Self::LateAgreement,
        Self::SparePrimary,
        Self::Behind,
        Self::MergeSlots,
        Self::ReplicaInSync,
        Self::RefuseOvertaken,
        Self::FollowTheLast,
    ];

    /// A space in which its absence shows.
    #[must_use]
    pub fn size(self) -> Size {
        match self {
            Self::NewBranch | Self::ReplicaOfBranch | Self::InUse | Self::LateAgreement => {
                Size::POLICIES
            }
            Self::Ask | Self::RefuseWhileGoing => Size::BOTH,
            Self::RefuseOvertaken => Size::VOTER,
            Self::FollowTheLast => Size::THREE_POLICIES,
            Self::SparePrimary => Size::POLICIES,
            Self::Behind => Size::CUTS,
            Self::LeftUndecided | Self::AgreeWithData | Self::MergeSlots | Self::ReplicaInSync => {
                Size::OPERATOR
            }
        }
    }
}

/// How far a session goes before anything else happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steps {
    /// ACCEPT, WRITE and their answers reach each node on their own.
    Single,
    /// They reach all that are connected at once; what is in doubt is shown with two nodes.
    Whole,
}

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
pub struct Size {
    pub name: &'static str,
    pub nodes: usize,
    /// Those with data; the others only vote.
    pub replicas: usize,
    pub steps: Steps,
    pub blocks: u8,
    pub writes: u8,
    /// Nodes that become Primary, after the first one.
    pub promotions: u8,
    /// Branches that are begun.
    pub branches: u8,
    /// Links that are cut; each is made anew at any later time.
    pub cuts: u8,
    pub kills: u8,
    /// Whether an operator says `connect --discard-my-data`, to anybody and as often as needed.
    pub has_operator: bool,
    /// The options of each node, with a name: one start each.
    pub policies: &'static [(&'static str, [Policy; NODES])],
}

impl Size {
    const BASE: Self = Self {
        name: "",
        nodes: 2,
        replicas: 2,
        steps: Steps::Single,
        blocks: 1,
        writes: 2,
        promotions: 1,
        branches: 2,
        cuts: 1,
        kills: 0,
        has_operator: false,
        policies: &[],
    };
    /// All policies, without an operator.
    pub const POLICIES: Self = Self {
        name: "two nodes, by the options",
        policies: &[
            ("by discard-younger-primary", [Policy::YOUNGER; NODES]),
            ("by discard-older-primary", [Policy::OLDER; NODES]),
            ("by discard-zero-changes", [Policy::ZERO; NODES]),
            ("by discard-least-changes, violently", [Policy::LEAST; NODES]),
            ("by discard-secondary", [Policy::SECONDARY; NODES]),
            ("by the name of a node", [Policy::FIRST; NODES]),
            ("not where options differ", [Policy::FIRST, Policy::SECOND, Policy::SECOND]),
        ],
        ..Self::BASE
    };
    pub const OPERATOR: Self = Self {
        name: "two nodes, by the operator",
        has_operator: true,
        kills: 1,
        policies: &[("by nobody", [Policy::NOBODY; NODES])],
        ..Self::BASE
    };
    /// Too large to be searched to the end.
    const CUTS: Self = Self { name: "two nodes, two cuts", cuts: 2, kills: 0, ..Self::OPERATOR };
    pub const BOTH: Self = Self {
        name: "two nodes, by both",
        has_operator: true,
        policies: &[
            ("by discard-least-changes, violently", [Policy::LEAST; NODES]),
            ("by the name of a node", [Policy::FIRST; NODES]),
        ],
        ..Self::BASE
    };
    /// Two sides, and a third node that only votes.
    pub const VOTER: Self = Self {
        name: "two nodes and a voter, by the operator",
        nodes: 3,
        steps: Steps::Whole,
        cuts: 3,
        kills: 0,
        ..Self::OPERATOR
    };
    /// Two sides, and a third one that is of either.
    pub const THREE: Self =
        Self { name: "three nodes, by the operator", replicas: 3, cuts: 2, ..Self::VOTER };
    /// Too large to be searched to the end.
    const THREE_POLICIES: Self = Self {
        name: "three nodes, by the options",
        writes: 0,
        branches: 1,
        has_operator: false,
        policies: &[("by discard-least-changes, violently", [Policy::LEAST; NODES])],
        ..Self::THREE
    };
    pub const SMALL: [Self; 5] =
        [Self::POLICIES, Self::BOTH, Self::OPERATOR, Self::VOTER, Self::THREE];
    pub const LARGE: [Self; 3] = [
        Self { name: "two nodes, two blocks, by both", blocks: 2, ..Self::BOTH },
        Self {
            name: "two nodes and a voter, kills, by the operator",
            cuts: 2,
            kills: 1,
            ..Self::VOTER
        },
        Self {
            name: "two nodes and a voter, by the options",
            writes: 1,
            has_operator: false,
            policies: Self::THREE_POLICIES.policies,
            ..Self::VOTER
        },
    ];
}
