//! Disks and resources on their way to the data threads.
//!
//! The control side reads and opens them; a shard takes what is open already.

use format::ids::{Incarnation, MemberSet, NodeId};
use format::layout::Layout;
use format::metadata::{AL_RINGS, FurtherDisk, Register, Superblock};
use format::space::Place;
use io::{DiskIdentity, SharedDisk};
use replication::contract::LoadedPage;
use replication::group::GroupOptions;

use crate::definition::Definition;

/// A resource, ready to be served.
#[derive(Debug)]
pub struct Attached {
    pub definition: Definition,
    pub register: Register,
    pub register_disk: SharedDisk,
    pub replica: Option<Replica>,
    pub apart: Apart,
}

/// Peers that are not called, and may not come, until `connect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    All,
    These(MemberSet),
}

impl Apart {
    pub const NOBODY: Self = Self::These(MemberSet::EMPTY);

    pub fn has(self, peer: NodeId) -> bool {
        match self {
            Self::All => true,
            Self::These(peers) => peers.has(peer),
        }
    }
}

/// What was found on the disk.
#[derive(Clone, Debug)]
pub struct Replica {
    pub superblock: Superblock,
    /// Open, for all data threads.
    pub disk: NewDisk,
    /// Pages of the bitmaps with a bit set.
    pub pages: Vec<LoadedPage>,
    /// Number of the next record of each ring.
    pub al_next_numbers: [u64; AL_RINGS],
}

/// What a shard needs to serve its part.
#[derive(Debug)]
pub(crate) struct NewPart {
    pub(crate) definition: Definition,
    pub(crate) group: GroupOptions,
    pub(crate) disk: Option<NewDisk>,
}

/// A disk that the control side has opened.
#[derive(Clone, Debug)]
pub struct NewDisk {
    pub data: SharedDisk,
    /// `None`: on the data disk.
    pub meta: Option<SharedDisk>,
    pub layout: Layout,
    /// What the records of its activity log name.
    pub log: Incarnation,
    pub slots: Vec<NodeId>,
    pub further: Vec<NewFurther>,
}

/// What one volume behind the first is kept on, open, on its way to the shards.
#[derive(Clone, Debug)]
pub struct NewFurther {
    pub place: Place,
    pub data: SharedDisk,
    /// `None`: on the data disk.
    pub meta: Option<SharedDisk>,
    pub layout: Layout,
}

/// The disk of a volume that is added to a replica in use, as it was found.
#[derive(Clone, Debug)]
pub struct NewVolume {
    pub disk: FurtherDisk,
    /// For all data threads.
    pub opened: NewFurther,
}

/// The disk of a volume, as it was found by whoever is to enlarge it. Another one can have the same
/// metadata: a copy of all that it holds.
#[derive(Clone, Copy, Debug)]
pub struct GrowingDisk {
    pub place: Place,
    pub layout: Layout,
    pub data: DiskIdentity,
    /// The same if the data is there, too.
    pub meta: DiskIdentity,
}

/// What became of a move.
#[derive(Clone, Copy, Debug)]
pub enum Moved {
    /// The metadata on the disk of that volume is there now.
    To(Place, Layout),
    /// It is where it was.
    Not,
    /// Nobody knows which of the two places counts, or the disk may have lost what it was told to
    /// keep: nothing may be written any more.
    Lost,
}
