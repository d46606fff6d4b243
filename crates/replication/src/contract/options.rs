//! What the configuration asks of a resource: of its members, of a Primary that reaches too few of
//! them, and of two lines that parted.

use format::ids::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberOptions {
    pub node: NodeId,
    pub diskful: bool,
    pub ack_when: AckWhen,
    /// Of a follower.
    pub congestion: Congestion,
    /// It may be the witness, if it has no disk.
    pub may_witness: bool,
}

/// When a member counts for the answer to a write, while this node is Primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckWhen {
    /// It was sent the write: a follower.
    Sent,
    /// It has the write in memory.
    Received,
    /// Its device has it.
    #[default]
    Durable,
}

/// When a follower counts as congested, and what then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Congestion {
    pub then: OnCongestion,
    /// Bytes that it was sent and has not written; 0: any number.
    pub fill_bytes: u64,
    /// Extents of the leader's activity log that hold what is not written everywhere; 0: any
    /// number.
    pub extents: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnCongestion {
    /// What is beyond the bounds waits for it.
    #[default]
    Block,
    /// It is left behind, and brought up to date later.
    PullAhead,
    /// The connection ends, until the operator wants it again.
    Disconnect,
}

/// Whether the replica may be brought up to date as soon as somebody leads who can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readmission {
    #[default]
    AtOnce,
    /// It asks first while it holds the data of one moment.
    Ask,
    /// It also asks where a copy has begun, each time that the copy goes on.
    AskAlways,
}

/// What a Primary needs to answer its clients, beside the majority of the voters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demands {
    pub on_no_quorum: OnNoQuorum,
    /// What becomes of requests while no in-sync replica is in reach.
    pub on_no_data: OnNoQuorum,
    /// Voters in reach; never fewer than the majority.
    pub quorum: Share,
    /// In-sync replicas in reach, of those that vote.
    pub redundancy: Share,
    pub without_quorum: WithoutQuorum,
    /// Who gives way after both went on alone.
    pub after_split: AfterSplit,
}

impl Default for Demands {
    fn default() -> Self {
        Self {
            on_no_quorum: OnNoQuorum::SuspendIo,
            on_no_data: OnNoQuorum::IoError,
            quorum: Share::Majority,
            redundancy: Share::AtLeast(1),
            without_quorum: WithoutQuorum::Wait,
            after_split: AfterSplit::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnNoQuorum {
    SuspendIo,
    IoError,
}

/// How many of those that there are have to be in reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    Majority,
    All,
    AtLeast(u8),
}

impl Share {
    pub(crate) fn of(self, all: usize) -> usize {
        match self {
            Self::Majority => all / 2 + 1,
            Self::All => all,
            Self::AtLeast(count) => usize::from(count),
        }
    }
}

/// What a node does that has data, and reaches no quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutQuorum {
    /// Nothing is decided.
    Wait,
    /// It goes on alone, on a new branch (`quorum off`).
    GoOn,
    /// The same, once it is known that the others are out (`quorum off`, `fencing`).
    GoOnFenced,
    /// With two voters, once it is proven that the other one is out (`fencing`).
    Prove(Meanwhile),
}

/// What becomes of requests until it is known whether the others are out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// What `on-no-quorum` says.
    AsDemanded,
    /// They wait.
    Hold,
}

/// Who gives way (`after-sb-0pri`, `-1pri`, `-2pri`); by default nobody does by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AfterSplit {
    pub none: WithoutPrimary,
    pub one: WithOnePrimary,
    pub two: WithTwoPrimaries,
}

/// While neither side is Primary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutPrimary {
    #[default]
    Disconnect,
    /// The side that became Primary only when the lines parted; else the one with fewer changes.
    YoungerPrimary,
    /// The side whose clients wrote on; else the one with fewer changes.
    OlderPrimary,
    /// A side that has written nothing, if there is one.
    ZeroChanges,
    LeastChanges,
    Node(NodeId),
    Local,
    Remote,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithOnePrimary {
    #[default]
    Disconnect,
    /// As without a Primary, if that is not the Primary.
    Consensus,
    /// As without a Primary, whoever that is: its clients get errors.
    Violently,
    Secondary,
    /// As `Consensus`; where it would be the Primary, that one is to be restarted.
    CallPrimary,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithTwoPrimaries {
    #[default]
    Disconnect,
    Violently,
    CallPrimary,
}

impl WithOnePrimary {
    pub const ALL: [Self; 5] =
        [Self::Disconnect, Self::Consensus, Self::Violently, Self::Secondary, Self::CallPrimary];
}

impl WithTwoPrimaries {
    pub const ALL: [Self; 3] = [Self::Disconnect, Self::Violently, Self::CallPrimary];
}

impl AfterSplit {
    pub const NOBODY: Self = Self {
        none: WithoutPrimary::Disconnect,
        one: WithOnePrimary::Disconnect,
        two: WithTwoPrimaries::Disconnect,
    };

    /// Nobody ever gives way by it.
    pub(crate) fn is_nobody(self) -> bool {
        self.none == WithoutPrimary::Disconnect && self.one != WithOnePrimary::Secondary
    }

    /// The same with nodes for the words that mean another one on each side.
    pub(crate) fn seen_by(self, me: NodeId, peer: NodeId) -> Self {
        let mut seen = self;
        if self.none == WithoutPrimary::Local {
            seen.none = WithoutPrimary::Node(me);
        } else if self.none == WithoutPrimary::Remote {
            seen.none = WithoutPrimary::Node(peer);
        }
        seen
    }

    /// A name for it that two nodes can compare.
    pub(crate) fn code(self) -> u32 {
        let none = match self.none {
            WithoutPrimary::Disconnect => 0,
            WithoutPrimary::YoungerPrimary => 1,
            WithoutPrimary::OlderPrimary => 2,
            WithoutPrimary::ZeroChanges => 3,
            WithoutPrimary::LeastChanges => 4,
            WithoutPrimary::Local => 5,
            WithoutPrimary::Remote => 6,
            WithoutPrimary::Node(node) => 0x40 | u32::from(node.get()),
        };
        let one = match self.one {
            WithOnePrimary::Disconnect => 0,
            WithOnePrimary::Consensus => 1,
            WithOnePrimary::Violently => 2,
            WithOnePrimary::Secondary => 3,
            WithOnePrimary::CallPrimary => 4,
        };
        let two = match self.two {
            WithTwoPrimaries::Disconnect => 0,
            WithTwoPrimaries::Violently => 1,
            WithTwoPrimaries::CallPrimary => 2,
        };
        none | one << 8 | two << 16
    }
}
