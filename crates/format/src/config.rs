//! The value of the config register: one link of the config chain.
//!
//! PROTOCOL.md, M1. A value names who may serve and who must acknowledge. Values are compared by
//! `(branch, epoch)` on one line of history, never across lines.

use crate::ids::{
    BLOCK_BYTES, Branch, Epoch, Incarnation, MemberSet, NodeId, Nonce, ResourceId, ValueId,
    VoteStoreId,
};
use crate::space::{Place, Space};

/// Ancestors kept in a value; older ones force a full resync.
pub const ANCESTORS_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub resource: ResourceId,
    pub branch: Branch,
    pub ancestors: Vec<Ancestor>,
    pub epoch: Epoch,
    pub value_id: ValueId,
    pub previous: ValueId,
    pub primary: Option<Primary>,
    pub tenure: Option<Tenure>,
    pub volumes: Vec<VolumeConfig>,
    pub voters: Vec<Voter>,
    /// Present only while a change of voters is under way.
    pub voters_old: Vec<Voter>,
    pub members: MemberSet,
    /// Members whose receipt of a write may have counted for its client since this value: what they
    /// acknowledged so is in their memory alone until they wrote it.
    pub by_receipt: MemberSet,
    /// Members whom no answer may have waited for since this value: they hold a consistent, older
    /// state (protocol A).
    pub followers: MemberSet,
    pub clean: bool,
    /// Grows when a promotion may have lost completed writes.
    pub losses: u32,
    /// They grew, and no operator said since that clients may go on which cannot tell (C5).
    pub awaits_reopen: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ancestor {
    pub branch: Branch,
    pub epoch: Epoch,
    pub value_id: ValueId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Primary {
    pub node: NodeId,
    pub nonce: Nonce,
    pub purpose: Purpose,
}

/// An unbroken run of one node's sessions for clients, also over restarts of its daemon and
/// sessions for a resync: while it lasts, nobody else wrote for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenure {
    pub node: NodeId,
    /// The nonce of its first session.
    pub id: Nonce,
}

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Requests of clients: the node's role is Primary.
    Clients,
    /// Bringing members up to date while nobody uses the volume: the role stays Secondary, and
    /// the session holds no lease, so that whoever wants to be Primary takes over at once.
    Resync,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeConfig {
    pub number: u16,
    pub size_bytes: u64,
    pub lanes: u8,
    /// In order of node id, without repetition.
    pub insync: Vec<InSync>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InSync {
    pub node: NodeId,
    pub incarnation: Incarnation,
    pub joined: Epoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voter {
    pub node: NodeId,
    pub store: VoteStoreId,
}

impl Config {
    /// The volumes and their sizes. A number without a place is none of ours.
    #[must_use]
    pub fn space(&self) -> Space {
        self.volumes.iter().fold(Space::EMPTY, |space, volume| match Place::new(volume.number) {
            Ok(place) => space.with(place, volume.size_bytes / BLOCK_BYTES),
            Err(_) => space,
        })
    }
}

impl VolumeConfig {
    #[must_use]
    pub fn insync_set(&self) -> MemberSet {
        self.insync.iter().map(|member| member.node).collect()
    }
    #[must_use]
    pub fn insync_member(&self, node: NodeId) -> Option<&InSync> {
        self.insync.iter().find(|member| member.node == node)
    }
}
