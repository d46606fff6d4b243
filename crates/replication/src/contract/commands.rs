//! What an operator asks of a resource, and how that ends.

use format::ids::NodeId;

use crate::contract::{ResizeTask, VerifyTask};

/// The node's name for a command to a resource; returned with the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommandId(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Become Primary. Ends with an answer after at most `limits::PROMOTE_DEADLINE`.
    Promote(PromoteMode),
    /// Become Secondary; the front end admits no new request meanwhile.
    Demote,
    /// Stop for good: demote, leave (PROTOCOL.md 9.3), leave everything clean.
    Stop,
    /// Discard the local data: the replica is to be copied in full.
    Invalidate,
    /// Give the local replica up; `ResourceInput::Attach` takes it back.
    Detach,
    /// Compare the replicas, whoever leads; answered when that is under way.
    Verify(VerifyTask),
    /// Keep the clients' requests from now on; answered when what was under way is done.
    Suspend,
    /// Let them go on.
    Resume,
    /// Clients may go on that cannot tell that completed writes may be lost; answered when that is
    /// recorded, or there is nothing to record.
    Reopen,
    /// Give a volume another size, whoever leads; answered when that is under way.
    Resize(ResizeTask),
    /// Give up what was written here since this node's line and that of `peer`, or of any peer,
    /// parted. For the next time that they meet, or for now if they have; answered at once. Refused
    /// where nothing parted, and over when clients write to the replica.
    DiscardData { peer: Option<NodeId> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromoteMode {
    Normal,
    /// Make the local replica the truth although the config does not say so: a new branch. What
    /// `Normal` does is tried first.
    Force,
    /// Birth only: all connected replicas hold the same (the operator says so).
    ForceAllEqual,
}

/// How a command succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandDone {
    AsAsked,
    /// `PromoteMode::Force` was asked for, and `PromoteMode::Normal` was enough: nothing is given
    /// up, and the line goes on.
    WithoutForce,
}

/// Why a command did not succeed, in words an operator can act on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    pub code: CommandErrorCode,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandErrorCode {
    /// Fewer voters than a majority answer.
    NoQuorum,
    /// A majority of the vote stores knows of nothing, and there are replicas with data.
    VotesLost,
    /// No replica that may serve is reachable.
    NoUpToDateData,
    /// Another node is Primary.
    PeerPrimary,
    /// Something else is under way; try again.
    Busy,
    NoDisk,
    TimedOut,
    NotPrimary,
    /// The size that was asked for cannot be had.
    Size,
    /// The disk's metadata has no slot for a replica that is to be added.
    NoSlot,
}
