//! What the home of a resource is told when it is made, and what may change under it.

use format::ids::{BootId, KernelBootId, NodeId, ResourceId};
use format::metadata::{Register, Superblock};
use stdx::time::Time;

use crate::contract::{Demands, MemberOptions, Readmission};

#[derive(Debug)]
pub struct ResourceOptions {
    pub resource: ResourceId,
    pub name: String,
    pub me: NodeId,
    pub boot_id: BootId,
    pub kernel_boot_id: KernelBootId,
    /// Shards of this node.
    pub shards: u8,
    /// Extents that the activity log of each of them holds.
    pub log_slots: u16,
    pub seed: u64,
    pub members: Vec<MemberOptions>,
    pub register: Register,
    pub superblock: Option<Superblock>,
    /// Members that the metadata of the disk has room for, this one included.
    pub slots_max: u8,
    pub started_at: Time,
    pub demands: Demands,
    /// Bytes per second of a resync while clients are at work; 0 is no limit.
    pub resync_rate: u64,
    pub comparing: Comparing,
    pub readmission: Readmission,
}

/// Which resyncs look first at what the target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparing {
    /// Those of all blocks, as long as that finds something.
    Full,
    /// Also those of a replica that was restarted: its activity log marks more than differs.
    AfterCrash,
    Always,
}
