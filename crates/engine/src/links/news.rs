//! The news that the shards of a node have for each other about a link: to shard 0, which leads the
//! sets of connections, and from it.

use std::os::fd::OwnedFd;

use format::ids::BootId;
use format::message::Hello;

use crate::definition::link::Path;
use crate::links::away::Away;
use crate::links::path_state::PathState;
use crate::tls::Session;

/// What the shards of a node tell each other about the link to `peer`.
#[derive(Debug)]
pub(crate) struct LinkNews {
    pub(crate) peer: String,
    pub(crate) set: u64,
    pub(crate) news: News,
}

#[derive(Debug)]
pub(crate) enum News {
    /// From shard 0: connect to this shard of the peer.
    Dial { shard: u8, path: Path },
    /// From shard 0: this peer was accepted for the receiver, and said this.
    Adopt { socket: OwnedFd, tls: Option<Box<Session>>, hello: Box<Hello> },
    /// From shard 0: the set is complete, on these paths as far as they are known.
    Up { boot_id: BootId, shards: u8, used: Vec<Path> },
    /// From shard 0: it is lost.
    Down { reason: Away, ending: Ending },
    /// From shard 0: no other set follows soon.
    MovesEnd,
    /// From shard 0: what became of a path that is watched.
    Path { path: Path, state: PathState },
    /// From shard 0: why it does not come up.
    Failed { reason: Away },
    /// To shard 0: the connection with this shard of the peer is up.
    Joined { shard: u8, boot_id: BootId, shards: u8 },
    /// To shard 0: a connection is lost.
    Lost { reason: Away },
    /// To shard 0: the operator says that who was seen as this peer before was somebody else.
    Forget,
    /// From a resource's home: this handle of the peer is known, or void, and all up to the second.
    Settled { handle: u32, up_to: u32 },
}

/// What comes after the end of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Lost,
    /// Another path works: the next set is made at once.
    Moves,
}
