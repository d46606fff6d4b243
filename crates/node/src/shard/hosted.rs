//! One resource on this shard: its two machines, and what surrounds them.

use std::collections::VecDeque;

use format::ids::{LaneIndex, NodeId, Seq};
use format::message::{Write, WriteKind};
use format::metadata::{Register, Superblock};
use io::DiskId;
use replication::contract::{CommandId, SaveId};
use replication::group::LaneGroup;
use replication::resource::Resource;
use stdx::time::Time;

use crate::definition::Definition;
use crate::histogram::Histogram;
use crate::limits::ACK_FOLLOWED_MAX;
use crate::links::HostedId;
use crate::shard::attaching::Offer;
use crate::shard::clients::Clients;
use crate::shard::disk::Disk;
use crate::shard::messages::Ticket;
use crate::shard::pace::Pace;

#[derive(Debug)]
pub(crate) struct Hosted {
    pub(crate) id: HostedId,
    pub(crate) definition: Definition,
    pub(crate) resource: Resource,
    pub(crate) group: LaneGroup,
    pub(crate) disk: Option<Disk>,
    /// A disk that is to be attached, until the group takes it.
    pub(crate) offer: Option<Box<Offer>>,
    pub(crate) register_disk: DiskId,
    pub(crate) saves: VecDeque<Save>,
    pub(crate) peers: Vec<Peer>,
    pub(crate) is_primary: bool,
    pub(crate) size_bytes: u64,
    pub(crate) clients: Clients,
    pub(crate) commands: Vec<PendingCommand>,
    pub(crate) next_command: u64,
    pub(crate) is_touched: bool,
    /// Its state may be another than when it was told last, and that is told and not asked yet.
    pub(crate) is_news: bool,
    pub(crate) is_told: bool,
    /// The register could not be written: this node votes no more.
    pub(crate) register_failed: bool,
    pub(crate) removal: Option<Removal>,
}

/// A member other than this node.
#[derive(Clone, Debug)]
pub(crate) struct Peer {
    pub(crate) node: NodeId,
    pub(crate) name: String,
    pub(crate) link: usize,
    /// Of the resync that this node feeds the member with, once somebody asked for it.
    pub(crate) pace: Option<Pace>,
    pub(crate) acks: Acks,
}

/// How long a peer takes to acknowledge: one write at a time is followed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    pub(crate) latency: Histogram,
    followed: Option<Followed>,
}

#[derive(Clone, Copy, Debug)]
struct Followed {
    lane: LaneIndex,
    seq: Seq,
    sent_at: Time,
}

impl Acks {
    pub(crate) fn on_sent(&mut self, write: &Write, now: Time) {
        // A copy is larger and may wait: what counts is what clients wait for.
        if write.kind != WriteKind::Data {
            return;
        }
        // One that was never answered, because the peer went away, is given up.
        if self.followed.is_none_or(|it| now.since(it.sent_at) >= ACK_FOLLOWED_MAX) {
            self.followed = Some(Followed { lane: write.lane, seq: write.seq, sent_at: now });
        }
    }

    pub(crate) fn on_ack(&mut self, lane: LaneIndex, base: Seq, mask: u64, now: Time) {
        let Some(Followed { lane: own, seq, sent_at }) = self.followed else { return };
        let place = seq.0.wrapping_sub(base.0);
        if own == lane && place < 64 && mask & (1 << place) != 0 {
            self.followed = None;
            self.latency.record(now.since(sent_at));
        }
    }
}

/// A save that is not durable yet; only the first of the queue is being written.
#[derive(Debug)]
pub(crate) struct Save {
    pub(crate) save: SaveId,
    pub(crate) register: Option<Box<Register>>,
    pub(crate) superblock: Option<Box<Superblock>>,
}

/// Who waits for the answer of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// The admin socket, by its ticket.
    Admin(Ticket),
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
    Other,
}

impl CommandKind {
    pub(crate) fn is_of_role(self) -> bool {
        match self {
            Self::Promote | Self::Demote => true,
            Self::Attach | Self::Other => false,
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
        self.resource.wake_at().min(self.group.wake_at()).min(self.clients.grace_until).min(removal)
    }
}
