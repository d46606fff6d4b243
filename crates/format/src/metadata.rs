//! What a replica and a voter keep on stable storage, as types. PROTOCOL.md, M1 to M4.

use crate::config::Config;
use crate::ids::{
    BLOCK_BYTES, Ballot, Branch, Epoch, Incarnation, KernelBootId, MemberSet, NodeId, Nonce,
    ResourceId, ValueId, VoteStoreId,
};
use crate::space::{Place, Space};
use crate::vote::VoteCopy;

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
    /// What the records of the activity log name, where that is not this incarnation: a replica
    /// that is made anew in use goes on with its log.
    pub log: Option<Incarnation>,
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
    /// What the voter of this node accepted last, as far as it is known and has room here. It
    /// stays when a vote store is lost and a new one has not accepted anything.
    pub vote: Option<Box<VoteCopy>>,
    /// Index: bitmap slot; value: the member it tracks. Slot of the replica itself included.
    pub slots: Vec<Slot>,
    /// On the disk of the first volume the disks of the others; on another one that of the first.
    pub further: Vec<FurtherDisk>,
}

/// The disk of another volume of the same replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FurtherDisk {
    pub place: Place,
    pub incarnation: Incarnation,
    pub size_bytes: u64,
    pub content: Content,
}

/// What the blocks of a further volume are, as far as the resource can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Whatever the disk had. A Blank replica is copied full, whatever it is; one that has data
    /// cannot bring such a volume into the resource.
    Unknown,
    /// `create-md` made them zeroes, and no value had the volume since.
    Zeroes,
    /// What the history of the replica says: a value that it followed had the volume.
    OfHistory,
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
    /// Pages of this slot on disk may hold set bits; `false` spares the reading of them, but for
    /// the own slot, of which it says nothing.
    pub in_use: bool,
}

impl Superblock {
    /// The incarnation that the records of the activity log name.
    #[must_use]
    pub fn log_incarnation(&self) -> Incarnation {
        self.log.unwrap_or(self.incarnation)
    }

    /// The members that have a slot.
    #[must_use]
    pub fn slotted(&self) -> MemberSet {
        self.slots.iter().map(|slot| slot.member).collect()
    }

    /// The volumes of the replica: on the disk of the first one those of all.
    #[must_use]
    pub fn space(&self) -> Space {
        self.space_where(|_| true)
    }

    /// The volumes that may be part of a value which this replica follows.
    #[must_use]
    pub fn usable_space(&self) -> Space {
        let is_blank = self.state == ReplicaState::Blank;
        self.space_where(|disk| is_blank || disk.content != Content::Unknown)
    }

    fn space_where(&self, is_meant: impl Fn(&FurtherDisk) -> bool) -> Space {
        let first = Space::of_one(self.size_bytes / BLOCK_BYTES);
        let further = self.further.iter().filter(|it| it.place != Place::FIRST && is_meant(it));
        further.fold(first, |space, it| space.with(it.place, it.size_bytes / BLOCK_BYTES))
    }

    /// The replica follows a value with its volumes. One that it has beside them stays zeroes; of
    /// one that was in use on another line nothing is known any more. One that is named without a
    /// size may have been made ready, and is again.
    pub fn follow_volumes(&mut self, value: &Config) {
        let space = value.space();
        for disk in &mut self.further {
            let is_named =
                || value.volumes.iter().any(|it| it.number == disk.place.number().into());
            if space.blocks_at(disk.place) > 0 {
                disk.content = Content::OfHistory;
            } else if disk.content == Content::OfHistory && !is_named() {
                disk.content = Content::Unknown;
            }
        }
    }
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
