//! What is said of members.

use format::ids::{NodeId, Nonce};
use format::message::SlotBase;

use crate::contract::RoundId;

/// One stay of a member in the write set of a session. What a group says of a stay may reach the
/// home after its end, and says nothing of a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stay {
    pub member: NodeId,
    pub nonce: Nonce,
    /// The round by which the member came; `RoundId(0)` if the session began with it.
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

/// A member, and from where on its bitmap slot has all that the member misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostMember {
    pub member: NodeId,
    pub base: SlotBase,
}

/// What no version of this program sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misbehaviour {
    /// A message whose content makes no sense in the state that both sides are in.
    Nonsense,
    /// More writes than a leader has under way.
    TooManyWrites,
    /// More flushes than a leader has under way.
    TooManyFlushes,
    /// More about lost members than a leader sends before it is answered.
    TooManyLosses,
}
