//! What every lane of a group knows about its resource, read by reference.
//!
//! The home shard alone decides; a group changes its view when `ToGroup` says so, and a lane
//! learns a write set in no other way.

use std::num::NonZeroU8;
use std::time::Duration;

use format::ids::{BootId, Epoch, MemberSet, NODES_MAX, NodeId, Nonce};
use format::space::Space;
use stdx::time::Time;

use crate::contract::{ReplicaRole, RoundId, Stay};

/// By node id.
type Processes = [Option<BootId>; NODES_MAX as usize];
pub(crate) const NO_PROCESSES: Processes = [None; NODES_MAX as usize];
pub(crate) const SINCE_THE_BEGIN: [RoundId; NODES_MAX as usize] = [RoundId(0); NODES_MAX as usize];

#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) me: NodeId,
    pub(crate) boot_id: BootId,
    pub(crate) volume: u16,
    pub(crate) shard: u8,
    pub(crate) lanes: NonZeroU8,
    /// How large the volumes are.
    pub(crate) space: Space,
    /// Members with data: each of them has a bitmap slot here for what it misses.
    pub(crate) tracked: MemberSet,
    /// The session that the local replica obeys; messages of any other are dropped.
    pub(crate) nonce: Nonce,
    pub(crate) epoch: Epoch,
    pub(crate) replica: ReplicaRole,
    /// Set when the disk of this node fails a write or a flush, or is given up; cleared when a disk
    /// is attached. What such a disk reads may be older than what was written to it, and no flush
    /// of it counts.
    pub(crate) disk_failed: bool,
    /// This member was told where it begins in the session (`Inherit`, `Admit`); cleared by a seal.
    /// Until then it records losses, and drops writes: they are of an earlier part of the session.
    pub(crate) admitted: bool,
    /// This node leads the session: it sequences, and answers clients.
    pub(crate) leading: bool,
    /// The config of the session is chosen and stored: requests are let in.
    pub(crate) serving: bool,
    /// The members whose acknowledgement an operation needs.
    pub(crate) write_set: MemberSet,
    /// The process that each member of the write set is.
    pub(crate) boots: Processes,
    /// When each member of the write set came into it.
    pub(crate) since: [RoundId; NODES_MAX as usize],
    /// The members that reads may be sent to.
    pub(crate) in_sync: MemberSet,
    /// Members of `in_sync` that no read of a client is sent to.
    pub(crate) write_only: MemberSet,
    /// Members that count for a client's answer once they received a write (protocol B): at the
    /// leader those of its write set, at another member those of the session that it obeys.
    pub(crate) by_receipt: MemberSet,
    /// Some write may have been answered before all members had written it: there is, or was, a
    /// member that counts by receipt, or a follower for whom no answer waits. Never cleared.
    pub(crate) is_early: bool,
    /// This node is in `by_receipt`: it says what it received.
    pub(crate) tells_receipt: bool,
    /// The members that the value calls followers: they are sent cuts.
    pub(crate) named_followers: MemberSet,
    /// Those of `named_followers` for whom no client's answer waits.
    pub(crate) followers: MemberSet,
    /// This node is a follower, and applies no write before the home releases its cut.
    pub(crate) holds_writes: bool,
    /// Members of the write set that are being removed: writes mark from now on that they miss
    /// them.
    pub(crate) losing: MemberSet,
    /// Members of the write set whose connection broke while this node led. Cleared by `Resend`, by
    /// which they get again what they have not answered. Nothing new goes to them before that: it
    /// would fill their activity logs, and wait there for the older writes (group/log_room.rs).
    pub(crate) interrupted: MemberSet,
    /// Peers whose connections are up.
    pub(crate) connected: MemberSet,
    /// Reads may be answered before then.
    pub(crate) lease_until: Time,
    /// Nothing new is begun, so that a flush, a stop or a suspension finds the lanes empty. Set by
    /// `Drain`; cleared by `Resume` and at the end of the session.
    pub(crate) draining: bool,
    /// Requests fail instead of waiting, for want of a quorum or of data. Set and cleared by
    /// `OnNoQuorum`.
    pub(crate) fail_requests: bool,
    /// No request is let in, and no write answered. Set and cleared by `Hold`.
    pub(crate) holding: bool,
    /// A member that takes longer to answer is left behind.
    pub(crate) slow_limit: Duration,
}

impl View {
    /// The members that miss an operation which is sent now.
    #[must_use]
    pub(crate) fn absent(&self) -> MemberSet {
        self.tracked.minus(self.write_set) | self.losing
    }

    /// The members that an operation can be sent to now.
    #[must_use]
    pub(crate) fn reachable(&self) -> MemberSet {
        self.connected.with(self.me)
    }

    /// Whether the session knows `member` as this process. The acknowledgement of another process
    /// is void (section 4).
    #[must_use]
    pub(crate) fn is_process(&self, member: NodeId, boot: BootId) -> bool {
        self.boots[member.index()] == Some(boot)
    }

    pub(crate) fn stay_of(&self, member: NodeId) -> Stay {
        Stay { member, nonce: self.nonce, since: self.since[member.index()] }
    }

    pub(crate) fn set_process(&mut self, member: NodeId, boot: BootId) {
        self.boots[member.index()] = Some(boot);
    }

    /// Those that a session begins with.
    pub(crate) fn set_processes(&mut self, processes: &[(NodeId, BootId)]) {
        self.boots = NO_PROCESSES;
        self.since = SINCE_THE_BEGIN;
        for &(member, boot) in processes {
            self.set_process(member, boot);
        }
    }

    #[must_use]
    pub(crate) fn may_answer_reads(&self, now: Time) -> bool {
        self.leading && self.serving && now < self.lease_until
    }
}
