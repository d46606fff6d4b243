//! What a replica and a voter keep on stable storage, as types. PROTOCOL.md, M1 to M4.

use crate::config::Config;
use crate::ids::{
    Ballot, Branch, Epoch, Incarnation, KernelBootId, NodeId, Nonce, ResourceId, ValueId,
    VoteStoreId,
};

/// Changes in one activity-log record.
pub const AL_CHANGES_MAX: usize = 64;
/// Rings of a volume's activity log.
pub const AL_RINGS: usize = 16;
/// Slots of the table that one record repeats.
pub const AL_CONTEXT: usize = 256;
/// Most extents hot in one ring at a time.
pub const AL_SLOTS_MAX: usize = 1024;

/// The replica superblock: two copies, the one with the higher write counter and a good CRC wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    pub resource: ResourceId,
    pub resource_name: String,
    pub volume: u16,
    pub node: NodeId,
    pub branch: Branch,
    pub incarnation: Incarnation,
    pub sealed: Sealed,
    pub joined: Epoch,
    pub candidate: Option<Candidate>,
    pub state: ReplicaState,
    pub kernel_boot_id: KernelBootId,
    pub size_bytes: u64,
    pub lanes: u8,
    pub write_counter: u64,
    /// The activity log is empty and every slot page is written.
    pub clean: bool,
    /// Stamp of the vote store that belongs to this disk.
    pub vote_stamp: VoteStamp,
    /// Index: bitmap slot; value: the member it tracks. Slot of the replica itself included.
    pub slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sealed {
    pub ballot: Ballot,
    pub nonce: Nonce,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub epoch: Epoch,
    pub value_id: ValueId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaState {
    Blank,
    Syncing,
    InSync,
    Outdated,
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VoteStamp {
    pub store: VoteStoreId,
    pub promised: Ballot,
    pub epoch: Epoch,
    pub write_counter: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub member: NodeId,
    pub base_epoch: Epoch,
    pub base_incarnation: Incarnation,
    /// Pages of this slot on disk may hold set bits; `false` spares the reading of them.
    pub in_use: bool,
}

/// A 4 KiB record of one activity-log ring.
///
/// A record holds its changes and a cyclic part of the ring's whole table, so that the newest
/// `ceil(AL_SLOTS_MAX / context size)` records give the table back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlRecord {
    pub ring: u8,
    /// Counts up by one with each record of the ring.
    pub number: u64,
    pub changes: Vec<AlChange>,
    pub context_start: u16,
    /// The extents of slots `context_start..`; `None` of an empty slot.
    pub context: Vec<Option<u64>>,
}

/// Slot `slot` of the ring's table now holds `extent` (an eviction and the insert in its place
/// are one change), or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlChange {
    pub slot: u16,
    pub extent: Option<u64>,
}

/// The config register at a voter: one file with two slots of 64 KiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    pub resource: ResourceId,
    pub store: VoteStoreId,
    pub promised: Ballot,
    pub promised_nonce: Nonce,
    pub accepted: Option<(Ballot, Config)>,
    pub write_counter: u64,
    /// The write counter when this voter's own disk was given up: the stamp there says no more.
    pub disk_left_at: Option<u64>,
}
