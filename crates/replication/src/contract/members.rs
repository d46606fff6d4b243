//! What is said of members.

use format::ids::{NodeId, Nonce};
use format::message::SlotBase;

use crate::contract::RoundId;

/// One stay of a member in the write set of a session: what a group says of it may reach the home
/// when it is over, and counts for no later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    pub member: NodeId,
    pub nonce: Nonce,
    /// What began it; `RoundId(0)` of those with whom the session began.
    pub since: RoundId,
}

/// How the connections to a peer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parting {
    /// One of the two nodes ended them, while they worked.
    Closed,
    /// They broke, or fell silent.
    Broken,
    /// They broke, and are there again already, over another path.
    Moved,
}

/// A member and what its bitmap slot is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostMember {
    pub member: NodeId,
    pub base: SlotBase,
}

/// What no version of this program sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// It makes no sense here.
    Nonsense,
    /// More writes than a leader has under way.
    TooManyWrites,
    /// The same of flushes.
    TooManyFlushes,
    /// More about lost members than a leader sends before it is answered.
    TooManyLosses,
}
