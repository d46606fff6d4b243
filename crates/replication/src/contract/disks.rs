//! What a group is given of a disk that it is to use.

use format::ids::{LaneIndex, NodeId};
use format::space::Space;

use crate::contract::{BitmapBits, LostMember};

/// What one group needs of a disk.
#[derive(Clone, Debug)]
pub struct GroupDisk {
    pub space: Space,
    pub al_next_number: u64,
    /// What the bitmap slots on disk hold, of the lanes of this shard.
    pub slots: Vec<LoadedPage>,
    pub slot_bases: Vec<LostMember>,
}

/// One page of a bitmap slot as read from disk.
#[derive(Clone, Debug)]
pub struct LoadedPage {
    pub member: NodeId,
    pub lane: LaneIndex,
    pub page: u32,
    pub bits: Box<BitmapBits>,
}
