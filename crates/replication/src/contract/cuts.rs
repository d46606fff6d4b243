//! What the home and the groups say to each other of followers (protocol A).

use format::ids::{MemberSet, NodeId};

use crate::contract::RoundId;

/// Followers (protocol A): they apply what was sent to them cut by cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboutCuts {
    /// As the leader: `named` are sent cuts, if they are in sync; for those of `counted` no answer
    /// waits.
    Follow { named: MemberSet, counted: MemberSet },
    /// As the leader: what was sent until now is in this cut. Answer; from then on nothing is
    /// answered to clients.
    Note { number: u32, round: RoundId },
    /// Every shard noted: answers go. Answer when all followers have written this part of the cut.
    LetGo { round: RoundId },
    /// As the leader: say with `FromGroup::Lag` how far this follower is behind.
    WatchLag { member: NodeId, limits: LagLimits },
    /// As a follower: apply nothing that is not released. Answer.
    Hold { round: RoundId },
    /// As a follower: all of this cut is here, in every shard.
    Release { number: u32 },
}

/// How far behind a follower is as much as one may be; 0: no matter how far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagLimits {
    /// There is any limit: what is kept in memory has one for all.
    pub is_any: bool,
    pub bytes: u64,
    pub extents: u64,
}

/// How far a follower is behind in the lanes of a group, as far as the limits go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// What it was sent and has not written.
    pub bytes: u64,
    /// Of this node's activity log, while something waits for followers alone.
    pub extents: u64,
    /// Requests wait for it: no more is kept.
    pub is_full: bool,
}
