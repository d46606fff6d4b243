//! Messages between two nodes, as types. A link is per node pair; see PROTOCOL.md section 4.
//!
//! Two layers share one link: `LinkMessage` concerns the pair of nodes, `ResourceMessage` concerns
//! one resource, named on the wire by the handle that OPEN agreed on. Of the latter, `Control`
//! goes to the resource's home shard and `Data` to the shard of the lane.

use crate::config::Config;
use crate::ids::{
    BLOCK_BYTES, Ballot, BlockMask, BlockRange, BootId, Branch, Digest, Epoch, Incarnation,
    LaneIndex, MemberSet, NodeId, Nonce, QuestionId, ResourceId, Seq, ValueId, VoteStoreId,
};
use crate::limits::PAYLOAD_BYTES_MAX;
use crate::metadata::Candidate;
use crate::space::{Place, Space};

pub use crate::wire::NAME_BYTES_MAX;

/// The most bytes of the descriptors of one frame.
pub const HEADER_BYTES_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkMessage {
    /// The first message of a connection, from the side that connected.
    Hello(Box<Hello>),
    /// The answer to it; the connection is up when it arrived.
    Welcome(Box<Hello>),
    /// Boxed: seldom, and larger than what lanes say, which lies in the same places.
    Open(Box<Open>),
    /// The peer refuses or drops a handle; the link stays.
    Close {
        handle: u32,
        reason: CloseReason,
    },
    Heartbeat(Heartbeat),
    HeartbeatAck(HeartbeatAck),
    /// What proofs over this connection have to be made for: only to a peer that knows of them.
    Challenge {
        challenge: u128,
    },
    /// Comes right before the OPEN of the same handle.
    Proof(Proof),
    /// What fills packets of the largest size that the path takes: before all else, and only to a
    /// peer that knows of it.
    Probe(Probe),
    /// The receiver's PROBE came, with so many bytes of padding.
    Probed {
        padding_bytes: u32,
    },
    /// Why the sender's disk is out of use. For people alone: nothing is decided by it. Only to who
    /// knows of `FEATURE_TELLS`.
    DiskFailed(Box<DiskFailed>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Name of the node, at most 64 bytes of UTF-8.
    pub node_name: String,
    pub version_min: u16,
    pub version_max: u16,
    pub features: u64,
    pub boot_id: BootId,
    /// Starts of this daemon so far: an older count than seen before is a restored backup.
    pub start_count: u64,
    pub shards: u8,
    /// The shards this connection joins: of the sender, and of the receiver.
    pub shard_local: u8,
    pub shard_remote: u8,
    pub class: LinkClass,
    pub path: u8,
    /// Alignment of payloads that the sender of this message wants to receive, in bytes.
    pub quantum_bytes: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkClass {
    Data,
    Bulk,
    /// Carries heartbeats alone: whether its path works.
    Watch,
}

/// A feature of HELLO: its sender takes connections of the class `Watch`.
pub const FEATURE_WATCH: u64 = 1;
/// Its sender knows of CHALLENGE, PROOF and the reasons to close that belong to them.
pub const FEATURE_PROOF: u64 = 2;
/// Its sender packs frames by the quantum that the receiver named; others take the largest one.
pub const FEATURE_QUANTUM: u64 = 4;
/// Its sender reads messages whose last field is a `QuestionId`.
pub const FEATURE_QUESTIONS: u64 = 8;
/// Its sender knows of LINE_LOST and the answer to it.
pub const FEATURE_LINES: u64 = 16;
/// Its sender knows of the answer to VERIFY.
pub const FEATURE_VERIFY_ANSWER: u64 = 32;
/// Its sender knows of OWN_REPLICA.
pub const FEATURE_OWN_REPLICA: u64 = 64;
/// Its sender knows of NEWS.
pub const FEATURE_NEWS: u64 = 128;
/// Its sender knows of PROBE and PROBED, and waits for both.
pub const FEATURE_PROBE: u64 = 256;
/// Its sender knows of TOUCH.
pub const FEATURE_TOUCH: u64 = 512;
/// Its sender knows of COPYING and DISK_FAILED.
pub const FEATURE_TELLS: u64 = 1024;
/// What this release knows of.
pub const FEATURES: u64 = FEATURE_WATCH
    | FEATURE_PROOF
    | FEATURE_QUANTUM
    | FEATURE_QUESTIONS
    | FEATURE_LINES
    | FEATURE_VERIFY_ANSWER
    | FEATURE_OWN_REPLICA
    | FEATURE_NEWS
    | FEATURE_PROBE
    | FEATURE_TOUCH
    | FEATURE_TELLS;

/// The longest padding of a PROBE: as much as a message has of payload.
pub const PROBE_PADDING_BYTES_MAX: u32 = PAYLOAD_BYTES_MAX;

/// Bytes that mean nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    pub padding: Vec<u8>,
}

/// That the sender knows the secret of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    pub handle: u32,
    pub algorithm: ProofAlgorithm,
    /// As long as the digest of the algorithm.
    pub code: Vec<u8>,
}

/// The digest of an HMAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofAlgorithm {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// A request that a disk of the sender failed, at the cost of its replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskFailed {
    pub handle: u32,
    /// The volume whose disk it is.
    pub place: Place,
    /// The kind of request, in words, at most 127 bytes of UTF-8.
    pub request: String,
    /// The error, in the words of the sender's system, at most 127 bytes of UTF-8.
    pub error: String,
    /// Milliseconds from the failure to this message.
    pub age_ms: u64,
}

/// Attaches a resource to the link. Both sides send it; a resource is up when both did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    pub handle: u32,
    pub resource: ResourceId,
    /// At most 127 bytes; for messages to people.
    pub resource_name: String,
    pub sender: NodeId,
    pub receiver: NodeId,
    /// What the sender's replica is, or `None` of a member without data.
    pub replica: Option<ReplicaReport>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaReport {
    pub incarnation: Incarnation,
    pub branch: Branch,
    pub joined: Epoch,
    /// A value that made the replica in sync, if it was chosen.
    pub candidate: Option<Candidate>,
    /// The session that the replica obeys.
    pub sealed: Nonce,
    /// The volumes that it holds.
    pub space: Space,
    pub lanes: u8,
    /// Extents that the activity log of each of its shards holds.
    pub log_slots: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    UnknownResource,
    NodeIdMismatch,
    UnrelatedData,
    SizeTooSmall,
    Down,
    /// The sender has a secret, and the receiver proved nothing.
    ProofMissing,
    /// The receiver proves that it knows a secret, and the sender has none.
    ProofUnexpected,
    ProofAlgorithmDiffers,
    ProofWrong,
}

/// Sent every heartbeat interval: alive, and leases asked for all resources of the pair at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    pub id: u64,
    /// Nanoseconds of the sender's clock, returned unread.
    pub sent_at_ns: u64,
    pub leases: Vec<LeaseRequest>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub handle: u32,
    pub nonce: Nonce,
    pub length_ms: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatAck {
    pub id: u64,
    pub sent_at_ns: u64,
    /// Handles (as named in the request) whose lease was refused; all others are granted.
    pub refused: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceMessage {
    /// Boxed: seldom, and several times as large as what lanes say.
    Control(Box<Control>),
    Data(Data),
}

/// What a voter answers about its register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Control {
    Prepare {
        ballot: Ballot,
        nonce: Nonce,
    },
    Promise {
        ballot: Ballot,
        store: VoteStoreId,
        accepted: Option<Accepted>,
    },
    /// Refused: the voter promised `promised`, or grants a lease to another nonce.
    PrepareRefused {
        ballot: Ballot,
        promised: Ballot,
        lease_held: bool,
        accepted: Option<Accepted>,
    },
    Accept {
        ballot: Ballot,
        nonce: Nonce,
        value: Config,
    },
    Accepted {
        ballot: Ballot,
        store: VoteStoreId,
        value_id: ValueId,
    },
    AcceptRefused {
        ballot: Ballot,
        promised: Ballot,
    },
    /// A value known to be chosen; `session` tells whose lease it belongs to.
    Chosen {
        ballot: Ballot,
        value: Config,
    },
    /// A value known to be chosen: its sender need not lead. Only to who knows of `FEATURE_NEWS`.
    News {
        ballot: Ballot,
        value: Config,
    },
    /// Whether who leads the session reaches a quorum: what it knows of others may be old, and so
    /// may be what the receiver knows. Only to who knows of `FEATURE_TOUCH`.
    Touch {
        nonce: Nonce,
        has_quorum: bool,
    },
    /// How far the copy to the receiver is, of who leads the session: blocks of each volume that
    /// are left, and blocks that were copied. For people alone: nothing is decided by it. Only to
    /// who knows of `FEATURE_TELLS`.
    Copying {
        nonce: Nonce,
        left: Box<Space>,
        copied_blocks: u64,
    },
    /// The holder of `nonce` gives its lease back: it stopped, and cleanly so.
    LeaseRelease {
        nonce: Nonce,
    },

    Seal {
        ballot: Ballot,
        nonce: Nonce,
    },
    Sealed(Box<Sealed>),
    SealRefused {
        ballot: Ballot,
        sealed: Ballot,
    },
    NewEpoch {
        ballot: Ballot,
        nonce: Nonce,
        value: Config,
        inherited: Vec<BlockRange>,
    },
    NewEpochDone {
        nonce: Nonce,
        epoch: Epoch,
        boot_id: BootId,
    },
    /// Admits a returning member to the write set of the session; `floors` one per lane.
    Admit {
        nonce: Nonce,
        value: Config,
        floors: Vec<Seq>,
    },
    Admitted {
        nonce: Nonce,
        boot_id: BootId,
        replica: ReplicaReport,
    },
    /// Asks what the receiver's bitmap slots are good for.
    SlotQuery {
        nonce: Nonce,
    },
    SlotInfo {
        nonce: Nonce,
        slots: Vec<SlotInfo>,
    },
    /// Marks every block out of sync for `member`, known from now on as `incarnation`.
    SetFull {
        nonce: Nonce,
        member: NodeId,
        incarnation: Incarnation,
        base_epoch: Epoch,
    },
    SetFullDone {
        nonce: Nonce,
        member: NodeId,
        boot_id: BootId,
    },
    /// All of the resync is copied: make it durable, and remember the value that may be chosen.
    PrepareJoin {
        nonce: Nonce,
        epoch: Epoch,
        value_id: ValueId,
    },
    JoinPrepared {
        nonce: Nonce,
        epoch: Epoch,
        boot_id: BootId,
    },
    /// A member's replica failed: its disk refused a write or a flush.
    ReplicaFailed {
        nonce: Nonce,
    },
    /// From now on the sender applies writes by cuts: no answer need wait for it.
    Following {
        nonce: Nonce,
    },
    /// Asks the leader of the session to compare the replicas; `until_block` is exclusive.
    Verify {
        nonce: Nonce,
        from_block: u64,
        until_block: u64,
        repair: bool,
        id: QuestionId,
    },
    /// To whoever asked for that: it is under way, or another one was already. Only to who has
    /// `FEATURE_VERIFY_ANSWER`; of an older release no answer comes.
    VerifyAnswer {
        nonce: Nonce,
        started: bool,
        id: QuestionId,
    },
    /// The sender is about to stop: it is to be outdated, and to have no vote, before it goes.
    Leave,
    /// What becomes of the sender's replica; its vote stays.
    OwnReplica(OwnReplica),
    /// To a peer of a line that parted from the sender's: what the sender would bring into a
    /// decision on which of the two gives way (PROTOCOL.md 9.5).
    Standing(Standing),
    /// The sender is about to give up what was written on its line: is the receiver to stay as it
    /// is? By the two standings that say so, or (both 0) by an operator's word.
    GiveWay {
        standing: u64,
        against: u64,
    },
    /// The receiver of GIVE_WAY stays as it is, or does not promise that.
    GiveWayAnswer {
        standing: u64,
        agreed: bool,
    },
    /// To the leader of the session: the sender agreed that another line, whose value counts so
    /// many losses, is given up, and no value says what its clients lost. Only to who has
    /// `FEATURE_LINES`, and so is the answer.
    LineLost {
        nonce: Nonce,
        losses: u32,
    },
    /// The value says it.
    LineLostDone {
        nonce: Nonce,
    },
    /// Asks the leader of the session for another size of a volume: 0 is all that the in-sync
    /// members have room for. Without `zeroes` the new area stays as it is: the operator says that
    /// all hold the same there.
    Resize {
        nonce: Nonce,
        place: Place,
        size_bytes: u64,
        zeroes: bool,
        id: QuestionId,
    },
    /// To whoever asked for a size: it is under way, or why not. `member` and `size_bytes` say
    /// which disk is too small, and what it holds; else the size that is meant.
    ResizeAnswer {
        outcome: ResizeOutcome,
        member: NodeId,
        size_bytes: u64,
        id: QuestionId,
    },
    /// Asks a member to make room for so many bytes of a volume, or (0) for as many as its backing
    /// has.
    Enlarge {
        nonce: Nonce,
        place: Place,
        size_bytes: u64,
    },
    /// What the member's disk of that volume holds now.
    Enlarged {
        nonce: Nonce,
        boot_id: BootId,
        place: Place,
        size_bytes: u64,
    },
    /// Asks a member to make ready for the size `to_bytes` of a volume: to make the area from
    /// `from_bytes` on read as zeroes, and to mark it for the members of `absent`, durably.
    PrepareSize {
        nonce: Nonce,
        id: u32,
        place: Place,
        from_bytes: u64,
        to_bytes: u64,
        absent: MemberSet,
        zeroes: bool,
    },
    SizePrepared {
        nonce: Nonce,
        id: u32,
        boot_id: BootId,
    },
    /// What the sender's voter has accepted; sent on every connection.
    Report {
        store: Option<VoteStoreId>,
        session: Option<Nonce>,
        accepted: Option<Accepted>,
        /// Whom the sender's configuration names, itself included.
        members: MemberSet,
    },
}

impl Control {
    /// The features without which a receiver would take it for damage.
    #[must_use]
    pub fn needed_features(&self) -> u64 {
        let is_about_lines = matches!(self, Self::LineLost { .. } | Self::LineLostDone { .. });
        let is_about_verify = matches!(self, Self::VerifyAnswer { .. });
        let is_news = matches!(self, Self::News { .. });
        let lines = if is_about_lines { FEATURE_LINES } else { 0 };
        let news = if is_news { FEATURE_NEWS } else { 0 };
        let touch = if matches!(self, Self::Touch { .. }) { FEATURE_TOUCH } else { 0 };
        let tells = if matches!(self, Self::Copying { .. }) { FEATURE_TELLS } else { 0 };
        let is_about_replica = matches!(self, Self::OwnReplica(_));
        let replica = if is_about_replica { FEATURE_OWN_REPLICA } else { 0 };
        lines
            | news
            | touch
            | tells
            | replica
            | if is_about_verify { FEATURE_VERIFY_ANSWER } else { 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnReplica {
    /// What was to be given up is kept.
    Stays,
    /// It is to be given up once the value says that it is not in sync.
    Leaves,
    /// The disk is not in use any more.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Not 0; another one whenever anything below is another.
    pub id: u64,
    /// The newest values of the sender and, as far as it knows, of the receiver.
    pub head: ValueId,
    pub against: ValueId,
    pub is_primary: bool,
    /// Blocks that the sender's line has, perhaps, and the receiver's has not; `u64::MAX` if
    /// nobody knows.
    pub changed_blocks: u64,
    /// Names what the sender's options say; only equal ones are followed.
    pub policy: u32,
}

/// What became of the wish for another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeOutcome {
    UnderWay,
    /// The volume has that size.
    SameSize,
    /// Another size, or the end of the session, is under way.
    Busy,
    DiskTooSmall,
    /// The volume is larger than what was asked for, or than the smallest disk.
    Smaller,
    TimedOut,
    /// There is no such volume.
    NoVolume,
    /// The node that leads serves it by a device whose size it cannot change.
    Device,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    pub ballot: Ballot,
    pub value: Config,
}

/// What a sealed replica reports, once no device write of an older session is outstanding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    pub ballot: Ballot,
    pub nonce: Nonce,
    pub boot_id: BootId,
    pub rank: u8,
    pub replica: ReplicaReport,
    /// Per lane: the session its window belongs to, stable_seq, and the ranges above it.
    pub lanes: Vec<SealedLane>,
    pub inherited: Vec<BlockRange>,
    /// Where a restarted replica may differ from everyone.
    pub own_slot: Vec<BlockRange>,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SealedLane {
    pub nonce: Nonce,
    pub stable: Seq,
    /// The highest seq applied.
    pub applied: Seq,
    pub window: Vec<WindowEntry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowEntry {
    pub seq: Seq,
    pub range: BlockRange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotInfo {
    pub member: NodeId,
    pub base: SlotBase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBase {
    pub epoch: Epoch,
    pub incarnation: Incarnation,
}

/// Messages of a lane or of a group of lanes. All carry the session's nonce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    pub nonce: Nonce,
    pub volume: u16,
    pub body: DataBody,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataBody {
    /// Carries the payload that `Write::payload_bytes` says.
    Write(Write),
    Ack {
        lane: LaneIndex,
        base: Seq,
        mask: u64,
        boot_id: BootId,
    },
    /// The same seqs are in the sender's memory, on their way to its device: not written yet.
    Received {
        lane: LaneIndex,
        base: Seq,
        mask: u64,
        boot_id: BootId,
    },
    Stable {
        lane: LaneIndex,
        stable: Seq,
    },
    /// To a follower (PROTOCOL.md 10.1): the writes of the lane up to `seq` are in this cut.
    /// `skipped` are lanes of the sender's shard, a bit each, with nothing new since the last one.
    Cut {
        lane: LaneIndex,
        number: u32,
        seq: Seq,
        stable: Seq,
        skipped: u64,
    },
    Read {
        lane: LaneIndex,
        id: u32,
        range: BlockRange,
    },
    /// Carries the payload that `id` asked for, if `status` is `Ok`.
    ReadDone {
        lane: LaneIndex,
        id: u32,
        status: ReadStatus,
        length_bytes: u32,
        /// Blocks of it that are all zeroes (looked for in reads of copies only).
        zeroes: BlockMask,
    },
    /// Asks for digests of the blocks, as keyed by the session; of a member that may be syncing.
    Digest {
        lane: LaneIndex,
        id: u32,
        range: BlockRange,
    },
    /// One digest for each block that `id` asked for, if `status` is `Ok`.
    DigestDone {
        lane: LaneIndex,
        id: u32,
        status: ReadStatus,
        digests: Vec<Digest>,
    },
    /// A flush of the whole volume, by the shard of the sender.
    Flush {
        id: u32,
        shard: u8,
    },
    FlushDone {
        id: u32,
        shard: u8,
        boot_id: BootId,
    },
    /// A part of the blocks that `member` misses; see PROTOCOL.md section 6.
    Loss {
        lane: LaneIndex,
        member: NodeId,
        base: SlotBase,
        ranges: Vec<BlockRange>,
        id: QuestionId,
    },
    LossDone {
        lane: LaneIndex,
        member: NodeId,
        boot_id: BootId,
        id: QuestionId,
    },
    /// Asks for the dirty blocks of a slot from `from` on; a member's own slot by its own id.
    SlotRead {
        lane: LaneIndex,
        slot: NodeId,
        from: u64,
    },
    /// `next` is where to ask on, or `None` at the end.
    SlotData {
        lane: LaneIndex,
        slot: NodeId,
        from: u64,
        ranges: Vec<BlockRange>,
        next: Option<u64>,
    },
    /// These blocks of `slot` were copied durably, under their lock.
    Clear {
        lane: LaneIndex,
        seq: Seq,
        slot: NodeId,
        range: BlockRange,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    pub lane: LaneIndex,
    pub seq: Seq,
    /// Reserved for asynchronous followers (PROTOCOL.md section 10); zero in format 1.
    pub order: u64,
    pub range: BlockRange,
    pub kind: WriteKind,
    /// Durable before it is acknowledged.
    pub fua: bool,
    pub stable: Seq,
    /// Members that miss this write and whose bits the receiver sets.
    pub absent: MemberSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteKind {
    /// Bytes of a client.
    Data,
    /// A resync or a reconciliation. The payload has the blocks of `given`, one behind the other;
    /// those of `zeroes` read as zeroes afterwards, and their space may be given back; the others
    /// stay as they are.
    Copy { given: BlockMask, zeroes: BlockMask },
    /// No payload: the range reads as zeroes afterwards and its space may be given back.
    Discard,
    /// No payload: the range reads as zeroes afterwards and its space stays allocated.
    Zeroes,
}

impl DataBody {
    /// The lane that it is about; none if it is about the whole volume.
    #[must_use]
    pub fn lane(&self) -> Option<LaneIndex> {
        match self {
            Self::Write(write) => Some(write.lane),
            Self::Ack { lane, .. }
            | Self::Received { lane, .. }
            | Self::Stable { lane, .. }
            | Self::Cut { lane, .. }
            | Self::Read { lane, .. }
            | Self::ReadDone { lane, .. }
            | Self::Digest { lane, .. }
            | Self::DigestDone { lane, .. }
            | Self::Loss { lane, .. }
            | Self::LossDone { lane, .. }
            | Self::SlotRead { lane, .. }
            | Self::SlotData { lane, .. }
            | Self::Clear { lane, .. } => Some(*lane),
            Self::Flush { .. } | Self::FlushDone { .. } => None,
        }
    }
}

impl Write {
    #[must_use]
    pub fn has_payload(&self) -> bool {
        match self.kind {
            WriteKind::Data => true,
            WriteKind::Copy { given, .. } => !given.is_empty(),
            WriteKind::Discard | WriteKind::Zeroes => false,
        }
    }

    /// Bytes of the payload: of a copy, those of the blocks that are given.
    #[must_use]
    pub fn payload_bytes(&self) -> u64 {
        match self.kind {
            WriteKind::Data => self.range.length_bytes(),
            WriteKind::Copy { given, .. } => u64::from(given.len()) * BLOCK_BYTES,
            WriteKind::Discard | WriteKind::Zeroes => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStatus {
    Ok,
    /// The sender's disk failed the read.
    DeviceError,
    /// The sender may not serve: not sealed to this session, or not in sync.
    Refused,
}
