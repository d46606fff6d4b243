//! A resource at its home: the machine that decides for it, and what surrounds that.

use std::collections::VecDeque;

use api::status::DiskFailure;
use format::ids::NodeId;
use format::layout::Layout;
use format::metadata::{Register, Superblock};
use format::space::{Place, Space, VOLUMES_MAX};
use frontend::nvme::view::Path;
use io::DiskId;
use replication::contract::{CommandId, GroupDisk, SaveId};
use replication::resource::Resource;
use stdx::time::Time;

use crate::clients::fact::Comer;
use crate::contract::{DiskTrouble, Ticket};
use crate::definition::Definition;
use crate::handover::NewDisk;
use crate::hosted_id::HostedId;
use crate::limits::SHARDS_MAX;
use crate::shard::fence::Fence;
use crate::shard::last_verify::LastVerify;
use crate::shard::operation::{Disk, Further};
use crate::shard::pace::Pace;

#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) id: HostedId,
    pub(crate) definition: Definition,
    pub(crate) resource: Resource,
    /// Where its superblock is, while it has a disk.
    pub(crate) superblock_at: Option<SuperblockPlaces>,
    /// The superblock is not written while metadata is moved.
    pub(super) is_metadata_held: bool,
    /// A disk that is to be attached, until the machines take it.
    pub(crate) offer: Option<Box<Offer>>,
    /// Shards where something may still be under way on the disk that was given up.
    pub(crate) closing: [bool; SHARDS_MAX as usize],
    /// Why the disk is out of use, where another shard saw that first; that shard sets it, and the
    /// next attach clears it.
    pub(crate) trouble_elsewhere: Option<Box<DiskTrouble>>,
    pub(crate) register_disk: DiskId,
    pub(crate) saves: VecDeque<Save>,
    pub(crate) peers: Vec<Peer>,
    /// Of the copy to the replica of this node, once somebody asked for it; cleared by the first
    /// question behind the end of that copy.
    pub(crate) pace_here: Option<Pace>,
    pub(crate) is_primary: bool,
    /// The groups were told last to fail requests of clients rather than to keep them, for want of
    /// a quorum or of data; cleared when this node becomes Secondary.
    pub(crate) fails_requests: bool,
    /// How the last split brain ended that this process saw, or how it would end if the other side
    /// gives way; cleared when clients may go on again that cannot tell.
    pub(crate) split_end: Option<SplitEnd>,
    /// The configuration before this one said that clients are to be looked at first (`reopen`).
    pub(crate) awaited_reopen: bool,
    /// The volumes, as clients see them.
    pub(crate) space: Space,
    pub(crate) clients: Clients,
    pub(crate) way: Way,
    /// Definition that the machines are to follow, until they say so.
    pub(crate) redefinition: Option<Box<Definition>>,
    pub(crate) commands: Vec<PendingCommand>,
    pub(crate) next_command: u64,
    /// Its state may be another than when it was told last, and that is told and not asked yet.
    pub(crate) is_news: bool,
    pub(crate) is_told: bool,
    /// The register could not be written: this node votes no more.
    pub(crate) register_failed: bool,
    pub(crate) removal: Option<Removal>,
    pub(super) last_verify: LastVerify,
    /// What waits for the parts on other shards.
    pub(crate) fence: Fence,
    /// Clients of this resource on each of the other shards.
    pub(crate) clients_elsewhere: [u32; SHARDS_MAX as usize],
}

/// The end of a split brain: it cost the writes of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitEnd {
    /// This node gave up the writes that it took meanwhile.
    GaveUp { peer: NodeId },
    /// The peer gave up the writes that it took meanwhile.
    Kept { peer: NodeId },
}

/// A member other than this node.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    /// Of the resync that this node feeds the member with, once somebody asked for it.
    pub(crate) pace: Option<Pace>,
    /// It fell behind, and the connection was ended for that.
    pub(crate) is_congested: bool,
    /// Why its disk is out of use, as it said, by volume; cleared when it is disconnected.
    pub(crate) disks_failed: Vec<DiskFailedThere>,
}

/// A request that a disk of a member failed.
#[derive(Clone, Debug)]
pub(crate) struct DiskFailedThere {
    pub(crate) place: Place,
    pub(crate) told_at: Time,
    /// Milliseconds from the failure to `told_at`.
    pub(crate) age_ms: u64,
    pub(crate) request: String,
    pub(crate) error: String,
}

impl Peer {
    pub(crate) fn disk_failed(&self, place: Place) -> Option<&DiskFailedThere> {
        self.disks_failed.iter().find(|failed| failed.place == place)
    }
}

impl DiskFailedThere {
    /// The path of the disk, and so a hint about it, is known there alone.
    pub(crate) fn describe(&self, now: Time) -> DiskFailure {
        let since = u64::try_from(now.since(self.told_at).as_millis()).unwrap_or(u64::MAX);
        DiskFailure {
            request: self.request.clone(),
            error: self.error.clone(),
            age_ms: self.age_ms.saturating_add(since),
            ..DiskFailure::default()
        }
    }
}

/// A disk that is open, and what the group of each shard needs to know of it.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(super) disk: Disk,
    /// For the other shards, in their order.
    pub(super) shared: Vec<NewDisk>,
    /// By shard.
    pub(super) groups: Vec<GroupDisk>,
}

/// What a resource knows of its clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clients {
    /// The operator made this node Primary: it stays so without clients.
    pub(crate) is_explicit: bool,
    /// So it does for block devices that were taken over, by their places.
    pub(crate) devices: [bool; VOLUMES_MAX],
    /// Some client waits in its handshake.
    pub(crate) wanted_by: Option<Comer>,
    /// Without a client until then, the node goes back to Secondary.
    pub(crate) grace_until: Time,
}

impl Default for Clients {
    fn default() -> Self {
        Self {
            is_explicit: false,
            devices: [false; VOLUMES_MAX],
            wanted_by: None,
            grace_until: Time::NEVER,
        }
    }
}

/// The way that a resource's home told initiators of last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(super) told: Option<(Path, Space, u32)>,
    pub(super) changes: u64,
    /// This node stepped down, or could not become Primary, a moment ago: it is no way until then.
    pub(crate) shut_until: Time,
}

impl Default for Way {
    fn default() -> Self {
        Self { told: None, changes: 0, shut_until: Time::NEVER }
    }
}

/// A save that is not durable yet; only the first of the queue is being written.
#[derive(Debug)]
pub(crate) struct Save {
    pub(crate) save: SaveId,
    pub(crate) register: Option<Box<Register>>,
    pub(crate) superblock: Option<Box<Superblock>>,
    /// Disks of further volumes whose stamp is written.
    pub(crate) stamps: usize,
    /// Its write that has not ended.
    pub(crate) under_way: Option<SaveStep>,
}

/// In the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SaveStep {
    Register,
    /// Of one further volume.
    Stamp,
    Superblock,
}

/// Where the superblock of a replica is, and the stamps of its other disks.
#[derive(Debug)]
pub(crate) struct SuperblockPlaces {
    pub(crate) first: (DiskId, Layout),
    pub(crate) further: Vec<StampPlace>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StampPlace {
    pub(crate) place: Place,
    pub(crate) disk: DiskId,
    pub(crate) layout: Layout,
}

impl SuperblockPlaces {
    pub(crate) fn of(disk: &Disk) -> Self {
        let stamp = |it: &Further| StampPlace { place: it.place, disk: it.meta, layout: it.layout };
        let further = disk.further.iter().map(stamp).collect();
        Self { first: (disk.meta, disk.layout), further }
    }

    /// The stamps that belong to this superblock: a disk that was added later has none yet.
    pub(crate) fn stamps_of(&self, superblock: &Superblock) -> impl Iterator<Item = StampPlace> {
        let is_listed = |it: &&StampPlace| superblock.further.iter().any(|at| at.place == it.place);
        self.further.iter().filter(is_listed).copied()
    }
}

/// Who waits for the answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The admin socket, by its ticket.
    Admin(Ticket),
    /// The thread of a block device, by its ticket, and its volume.
    Device(Ticket, Place),
    /// Clients that wait in their handshake.
    Clients,
    /// The last client left.
    Grace,
    /// The resource goes down.
    Removal,
}

/// A resource that goes down: for the ticket of `down`, or with the daemon.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removal {
    pub(crate) ticket: Option<Ticket>,
    /// What is not clean by then is recovered at the next start.
    pub(crate) deadline: Time,
    /// When a majority was seen last: without one a Primary cannot step down.
    pub(crate) quorum_at: Time,
    pub(crate) look_at: Time,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingCommand {
    pub(crate) id: CommandId,
    pub(crate) asker: Asker,
    pub(crate) kind: CommandKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandKind {
    Promote,
    Demote,
    Attach,
    Redefine,
    /// `invalidate`, and `connect --discard-my-data`.
    GiveUp,
    Resize,
    Verify,
    Reopen,
    Other,
}

/// The disk of this node for the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnDisk {
    /// The configuration has none here.
    None,
    /// It was detached, or it failed.
    OutOfUse,
    InUse,
}

impl CommandKind {
    pub(crate) fn is_of_role(self) -> bool {
        match self {
            Self::Promote | Self::Demote => true,
            Self::Attach
            | Self::Redefine
            | Self::GiveUp
            | Self::Resize
            | Self::Verify
            | Self::Reopen
            | Self::Other => false,
        }
    }
}

impl Hosted {
    pub(crate) fn peer(&self, node: NodeId) -> Option<&Peer> {
        self.peers.iter().find(|peer| peer.node == node)
    }

    pub(crate) fn name(&self) -> &str {
        &self.definition.name
    }

    /// The earlier of what its machines wait for.
    pub(crate) fn wake_at(&self) -> Time {
        let removal =
            self.removal.map_or(Time::NEVER, |removal| removal.look_at.min(removal.deadline));
        let clients = self.clients.grace_until.min(self.way.shut_until);
        self.resource.wake_at().min(clients).min(removal)
    }
}
