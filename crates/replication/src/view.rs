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
    /// The volumes.
    pub(crate) space: Space,
    /// Members with data, which bitmap slots track.
    pub(crate) tracked: MemberSet,
    /// The session that the local replica obeys; messages of any other are dropped.
    pub(crate) nonce: Nonce,
    pub(crate) epoch: Epoch,
    pub(crate) replica: ReplicaRole,
    /// The disk of this node failed something but a read, or was given up: what it gives may be
    /// older than what was written to it, and no flush of it counts, until another one is attached.
    pub(crate) disk_failed: bool,
    /// Told where to start in the session. A sealed member that is not yet admitted records losses,
    /// and drops what was sent to it in an earlier part of the same session.
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
    /// Of these, the members that no read of a client goes to.
    pub(crate) write_only: MemberSet,
    /// Of the write set, those that count for a client's answer once they received a write. At a
    /// member: those of the session that it obeys.
    pub(crate) by_receipt: MemberSet,
    /// Some answer may have gone before all members had written: there is, or was, one of them, or
    /// of the followers.
    pub(crate) is_early: bool,
    /// This node is one of them, and says what it received.
    pub(crate) tells_receipt: bool,
    /// The members that the value calls followers: they are sent cuts.
    pub(crate) named_followers: MemberSet,
    /// Those of them for whom no answer waits.
    pub(crate) followers: MemberSet,
    /// This node is one, and applies nothing that is not released.
    pub(crate) holds_writes: bool,
    /// Members of the write set that are being removed: what is sent now, they miss.
    pub(crate) losing: MemberSet,
    /// Members of the write set whose connection broke while this node led, and that have not got
    /// again what they did not answer (`Resend`): nothing new goes to them before that. It would
    /// fill their activity logs with what waits for the former to be stable (group/log_room.rs).
    pub(crate) interrupted: MemberSet,
    /// Peers whose connections are up.
    pub(crate) connected: MemberSet,
    /// Reads may be answered before then.
    pub(crate) lease_until: Time,
    /// Nothing new is started: a flush or a stop is to find the lanes empty.
    pub(crate) draining: bool,
    /// Without quorum requests fail instead of waiting.
    pub(crate) fail_requests: bool,
    /// No request is let in, and no write answered.
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

    /// Whether the session knows `member` as this process (section 4: any other's acknowledgement
    /// is void).
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
