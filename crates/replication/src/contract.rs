//! What goes into the core and what comes out of it.
//!
//! Two machines make up a resource on a node. `Resource` runs once, on the resource's home shard:
//! config register, seals, promotion, leases, membership. `LaneGroup` runs once per shard that
//! serves the resource: its lanes, its activity log, its part of the bitmaps. Neither machine reads
//! a clock, waits, fails or sees payload bytes: failures are inputs, decisions are actions.
//!
//! The order that the machines rely on, with any number of shards:
//!
//! 1. Home and group talk by `ToGroup` and `FromGroup`. Between the home shard and one group each
//!    direction is a queue: nothing is lost, nothing overtakes, any delay will do. Between the
//!    queues of different groups, and between the two directions, there is no order. The lease
//!    (`ToGroup::Lease`) travels in the queue like the rest.
//! 2. The connections to a peer, the control one and one for each pair of shards, live and die
//!    together. Once one of them broke, none of the others is used any more: all are closed, and
//!    all are built anew. Until a side notices, messages may still arrive on the others.
//! 3. Who was told of their beginning hears of such an end once: groups by `PeerDown`, the home by
//!    `Disconnected`, in any order among each other. After its `PeerDown` a group gets no message
//!    of the old connections, and after `Disconnected` the home gets none. New connections carry
//!    nothing before all of them on this node were told.
//! 4. `Connected` comes when every group of this node had its `PeerUp`. So what the home says of a
//!    peer (`Resend`) finds groups that know its connections. Control messages of the peer come
//!    after `Connected`; its data may come to a group before `PeerUp`.
//! 5. Each connection keeps its own order. There is none between two connections, the control one
//!    included; the machines wait for answers where they need it.
//! 6. A group is stepped with `PeerDown` and `PeerUp`, requests and completions in any order
//!    against its queue from home.
//! 7. A lease is asked for and answered on the control connection. A voter may grant from any
//!    thread that steps the home.

mod commands;
mod options;
mod members;
mod disks;
mod sizes;
mod cuts;
mod flushes;

use std::time::Duration;

use format::config::{Ancestor, Config};
use format::ids::{
    BlockMask, BlockRange, BootId, Branch, Digest, Epoch, LaneIndex, MemberSet, NodeId, Nonce, Seq,
};
use format::message::{Control, Data, ReplicaReport, SealedLane};
use format::metadata::{AlRecord, FurtherDisk, Register, Superblock};
use format::space::{Place, Space};
use stdx::time::Time;

use crate::balance::ReadPolicy;
pub use crate::contract::commands::{
    Command, CommandDone, CommandError, CommandErrorCode, CommandId, PromoteMode,
};
pub use crate::contract::cuts::{AboutCuts, Lag, LagLimits};
pub(crate) use crate::contract::cuts::{CUTS_BETWEEN_ALL_LANES, is_later_cut, next_cut};
pub use crate::contract::disks::{GroupDisk, LoadedPage};
pub use crate::contract::flushes::AboutFlushes;
pub use crate::contract::members::{LostMember, Misbehaviour, Parting, Stay};
pub use crate::contract::options::{
    AckWhen, AfterSplit, Congestion, Demands, Meanwhile, MemberOptions, OnCongestion, OnNoQuorum,
    Readmission, Share, WithOnePrimary, WithTwoPrimaries, WithoutPrimary, WithoutQuorum,
};
pub use crate::contract::sizes::{DeviceSize, NewArea, ResizeTask, SizeOrder, SizeTask};

/// Payload bytes that the shard keeps for the core.
///
/// An input that carries one gives the core a reference, which the core gives back exactly once:
/// with `Release`, or with the `Complete` that carries it. The shard takes references of its own
/// for as long as a device or a socket uses the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload(pub u32);

/// The front end's name for one part of a request; the core returns it unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartId(pub u64);

/// The core's name for a device operation; the shard returns it unread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Token(pub u64);

/// One part of a client's request: within one extent, and at most `PAYLOAD_BYTES_MAX` of payload.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub part: PartId,
    pub kind: RequestKind,
    pub offset: u64,
    pub length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Answered with a payload of whole blocks, from the block of `offset` on.
    Read,
    // Discards and zeroes cover whole blocks: the front end cuts or writes their edges.
    /// `payload` holds exactly `length` bytes.
    Write {
        payload: Payload,
        fua: bool,
    },
    Discard {
        fua: bool,
    },
    Zeroes {
        fua: bool,
    },
}

/// How a part ends when it does not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestError {
    /// No replica could serve it, or the session ended: EIO.
    Io,
    /// This node is not Primary (any more).
    NotPrimary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceResult {
    Done,
    /// Bytes read, and which of the blocks are zero (looked for only where the read asked for it).
    Read {
        payload: Payload,
        zeroes: BlockMask,
    },
    /// One for each block.
    Digests(Vec<Digest>),
}

#[derive(Clone, Debug)]
pub enum GroupInput {
    Request(Request),
    /// A flush of the volume, completed by `Complete` with this part.
    Flush(PartId),
    /// A message of a member; its payload, if it has one, already matched its checksum.
    Peer {
        from: NodeId,
        message: Data,
        payload: Option<Payload>,
    },
    Device {
        token: Token,
        result: Result<DeviceResult, DeviceError>,
    },
    /// All connections to `peer` are up again after a loss, or down.
    PeerUp {
        peer: NodeId,
    },
    PeerDown {
        peer: NodeId,
    },
    Home(ToGroup),
}

impl GroupInput {
    /// The session that a peer speaks for.
    #[must_use]
    pub fn session(&self) -> Option<Nonce> {
        match self {
            Self::Peer { message, .. } => Some(message.nonce),
            Self::Request(_)
            | Self::Flush(_)
            | Self::Device { .. }
            | Self::PeerUp { .. }
            | Self::PeerDown { .. }
            | Self::Home(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum GroupAction {
    /// Answered by `Device` with `DeviceResult::Read`.
    ReadDevice {
        token: Token,
        range: BlockRange,
        detect_zero: bool,
    },
    /// Answered by `Device` with a digest of each block that the device has, keyed by `key`.
    DigestDevice {
        token: Token,
        range: BlockRange,
        key: Nonce,
    },
    WriteDevice {
        token: Token,
        range: BlockRange,
        payload: Payload,
        fua: bool,
    },
    /// Writes the blocks of `given`, which the payload has one behind the other, and makes zeroes
    /// of those of `zeroes`, whose space is given back; the others stay as they are.
    CopyDevice {
        token: Token,
        range: BlockRange,
        payload: Option<Payload>,
        given: BlockMask,
        zeroes: BlockMask,
        fua: bool,
    },
    /// The range reads as zeroes afterwards; with `deallocate` its space may be given back.
    ZeroDevice {
        token: Token,
        range: BlockRange,
        deallocate: bool,
        fua: bool,
    },
    FlushDevice {
        token: Token,
    },
    /// Durable when answered.
    WriteMetadata {
        token: Token,
        write: MetadataWrite,
    },
    /// To one member; never to this node itself.
    Send {
        to: NodeId,
        message: Data,
        payload: Option<Payload>,
    },
    /// The same message and payload to several members.
    SendWrite {
        to: MemberSet,
        message: Data,
        payload: Option<Payload>,
    },
    /// Copies all bytes of `patch` over `base`, from byte `at` of it.
    Overlay {
        base: Payload,
        patch: Payload,
        at: u32,
    },
    /// Answered by `Device` with a digest of each block of the payload.
    DigestPayload {
        token: Token,
        payload: Payload,
        key: Nonce,
    },
    /// Leaves only these blocks of a payload, one behind the other. Nobody else uses it.
    KeepBlocks {
        payload: Payload,
        keep: BlockMask,
    },
    /// A payload travels with the answer of a read, and with it the core's reference.
    Complete {
        part: PartId,
        result: Result<Option<Payload>, RequestError>,
    },
    Release(Payload),
    Home(FromGroup),
}

#[derive(Clone, Debug)]
pub enum MetadataWrite {
    Activity(AlRecord),
    /// One page of the bitmap slot that tracks `member`: page `page` of the lane's part of it.
    Bitmap {
        member: NodeId,
        lane: LaneIndex,
        page: u32,
        bits: Box<BitmapBits>,
    },
}

/// 32,768 bits, one per block, least significant first: what one 4 KiB bitmap page holds.
pub type BitmapBits = [u64; 512];

/// The home's name for a question to the groups. Each group answers it once, and no other question
/// ever has the name: an answer that comes late counts for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoundId(pub u32);

/// A comparison of what the in-sync members hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyTask {
    pub from_block: u64,
    /// Exclusive; past the end of the volume is its end.
    pub until_block: u64,
    pub repair: Repair,
}

/// What becomes of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    No,
    /// They are made equal at once.
    AtOnce,
}

/// Whether a copy looks first at what its target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Never,
    /// As long as some blocks turn out to be equal.
    WhileItPays,
    Always,
}

/// From the home shard to a group. What carries a `round` is answered, most by `Answer`.
#[derive(Clone, Debug)]
pub enum ToGroup {
    /// Ignore every session but `nonce`; answer `Quiesced` once no older device write is left.
    Seal { nonce: Nonce, round: RoundId },
    /// Start to lead session `nonce`: record what `lost` miss, answer for each of them.
    /// `outdated` may differ between the members of `write_set`; the lost may miss `missed`.
    Lead {
        nonce: Nonce,
        write_set: MemberSet,
        /// The processes that its members are: no other one's acknowledgement counts.
        boots: Vec<(NodeId, BootId)>,
        outdated: Vec<BlockRange>,
        missed: Vec<BlockRange>,
        lost: Vec<(LostMember, RoundId)>,
    },
    /// The config of the session is chosen and stored: requests may complete. Answer when no block
    /// may differ between the members any more.
    Serve { epoch: Epoch, in_sync: MemberSet, round: RoundId },
    /// The session of this node is over: every request fails. Answer when no read is answered.
    StandDown { round: RoundId },
    /// So many operations of the group may be unstable: the members' logs have room for them.
    LogRoom { operations: usize },
    /// As a member: these ranges may differ between the members of the new session. Answer when
    /// they are taken over.
    Inherit { nonce: Nonce, ranges: Vec<BlockRange>, round: RoundId },
    /// Reads may be answered until then.
    Lease { until: Time },
    /// What this node's replica may do.
    Replica(ReplicaRole),
    /// Members whose bits every write sets: tracked, and not in the write set.
    /// Answer when every other member recorded what it misses.
    Lose { lost: LostMember, round: RoundId },
    /// The loss is chosen: `member` is out of the write set.
    Lost { member: NodeId, epoch: Epoch, in_sync: MemberSet },
    /// The lost member came back with all it had, before its loss was proposed: send again.
    Resend { member: NodeId, since: RoundId },
    /// Answer `Floors`: where a returning member is to start.
    ReportFloors { round: RoundId },
    /// As the returning member: take over what is only known here, then start at `floors`. Answer
    /// when that is durable.
    Admit { nonce: Nonce, floors: Vec<Seq>, round: RoundId },
    /// Mark all blocks as missing at the member, whose slot starts at `base`; answer.
    SetFull { lost: LostMember, round: RoundId },
    /// From now on every operation goes to `member` too; then copy what it misses.
    /// `from` is an in-sync member whose slot for it is asked. Answer when it misses nothing.
    Resync {
        member: NodeId,
        boot: BootId,
        from: NodeId,
        absent: Vec<LostMember>,
        compare: Compare,
        round: RoundId,
    },
    /// Compare what the in-sync members hold of the blocks of `space`; answer when all of it was. A
    /// former task ends.
    Verify { task: VerifyTask, space: Box<Space>, round: RoundId },
    /// The member joined: it is in sync.
    Joined { member: NodeId, epoch: Epoch, in_sync: MemberSet },
    /// As the member that is to join: make slots and data durable; answer.
    MakeDurable { round: RoundId },
    /// As the member that joined: nothing is private any more.
    ForgetOwnSlot,
    /// A slot header is durable.
    SlotRebased(LostMember),
    /// Finish everything and flush; answer. New requests wait.
    Drain { round: RoundId },
    /// Copy at most so many bytes per second while requests come in; 0 is no limit.
    ResyncRate { bytes_per_second: u64 },
    /// Where reads of clients go from now on.
    ReadPolicy(ReadPolicy),
    /// No read of a client goes to these members from now on.
    NoReadsFrom(MemberSet),
    /// How long a member may take to answer before it is left behind.
    SlowLimit(Duration),
    /// New requests and those that wait get this answer, or (`None`) wait.
    OnNoQuorum { fail: bool },
    /// Neither admit a request nor answer a write; what is under way goes on.
    Hold { hold: bool },
    /// What a member has in memory, and counts.
    Receipts(AboutReceipts),
    /// Followers, and what they apply together.
    Cuts(AboutCuts),
    /// Flushes of the device that ended well.
    Flushes(AboutFlushes),
    /// The drain did not succeed: requests go on.
    Resume,
    /// Obey no session, write what is dirty, so that the next start replays nothing; answer.
    Stop { round: RoundId },
    /// The same, and what any slot marks is marked in the own slot: all of it may differ from what
    /// others hold.
    MergeSlots { round: RoundId },
    /// How many blocks does the slot of `member` mark?
    CountMarks { member: NodeId, round: RoundId },
    /// The members that the value names, for the absent of which bits are set; and the slots of
    /// the disk, in their order on it. What is kept of anyone else is good for nothing.
    Track { members: MemberSet, slots: Vec<NodeId> },
    /// How large the volumes are, the disk, or both are to become.
    Size(Box<SizeOrder>),
    /// The group's part of a disk that is taken (back) into use; answer. Sent by the shard for
    /// `TakeDisk`, in order with the home shard's messages; from its delivery on, and not
    /// before, the group's requests go to this disk. The group takes it once its requests to the
    /// former one are answered, and makes none until then.
    Attach { disk: Box<GroupDisk>, round: RoundId },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplicaRole {
    /// No disk, or not usable.
    None,
    /// Applies and acknowledges, answers no read.
    Syncing,
    /// May serve reads of its session.
    InSync,
}

/// Members that count for a client's answer once they received a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AboutReceipts {
    /// These do: a group that leads counts so, a member that is one of them says what it received.
    Count(MemberSet),
    /// Some may soon: from now on flushes ask first. Answer.
    Allow { round: RoundId },
    /// Answer when every write is written everywhere that was answered until now.
    Settle { round: RoundId },
    /// All groups did, as the group of `shard` wanted with `FromGroup::SettleReceipts`.
    Settled { shard: u8, number: u32 },
}

/// From a group to the home shard.
#[derive(Clone, Debug)]
pub enum FromGroup {
    /// What the question of this round was for is done.
    Answer {
        round: RoundId,
    },
    Quiesced {
        round: RoundId,
        lanes: Vec<(LaneIndex, SealedLane)>,
        inherited: Vec<BlockRange>,
        own_slot: Vec<BlockRange>,
        /// A follower's cut is applied in part, and will not be in full.
        is_torn: bool,
        /// Since it was admitted it has applied no cut: if it is a follower, that is as bad.
        is_open: bool,
    },
    /// Followers were sent what is in no cut yet.
    WantCut,
    /// As a follower: all of this cut is here that is in these lanes, a bit each.
    CutArrived {
        nonce: Nonce,
        number: u32,
        lanes: u64,
    },
    /// The slot of `member` starts anew at `base`: make its header durable, answer `SlotRebased`.
    RebaseSlot(LostMember),
    /// A flush waits for what the groups answered before all members wrote it.
    SettleReceipts {
        number: u32,
    },
    /// The device called this flush of the group done: is it to be believed?
    DeviceFlushed {
        number: u64,
    },
    Floors {
        round: RoundId,
        floors: Vec<(LaneIndex, Seq)>,
    },
    Marks {
        round: RoundId,
        blocks: u64,
    },
    SyncProgress {
        member: NodeId,
        /// Blocks of each volume.
        remaining: Box<Space>,
        copied_blocks: u64,
    },
    /// How far a verify is in the lanes of the group.
    VerifyProgress {
        /// All blocks before it are compared.
        position: u64,
        verified_blocks: u64,
        skipped_blocks: u64,
        differing: Vec<(NodeId, u64)>,
    },
    /// A member's disk failed a write or a flush.
    MemberFailed {
        member: NodeId,
    },
    /// A member of the write set did not answer for as long as one may take.
    MemberSlow {
        stay: Stay,
    },
    /// How far a follower is behind that may be left behind.
    Lag {
        stay: Stay,
        lag: Lag,
    },
    /// A follower has not written down for long what another member misses.
    LossLate {
        stay: Stay,
    },
    /// What a returning member misses could not be read anywhere, again and again.
    CopyFailed {
        stay: Stay,
    },
    /// A peer sent what no version of this program sends: its connection is made anew.
    Misbehaved {
        member: NodeId,
        how: Misbehaviour,
    },
}

/// What two lines that parted come to at this node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterSplitBrain {
    /// It gives up what it wrote since: the peer agreed to stay as it is.
    GivesWay { by: GiveWayReason },
    /// It does not, though the operator said so: the peer did not agree.
    KeepsData,
    /// The options say that this node, which is Primary, has to give way: it is to be restarted.
    PrimaryLost,
    /// The options of the two nodes differ: nobody gives way.
    PoliciesDiffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GiveWayReason {
    Operator,
    /// `after-sb-*`.
    Policy,
    /// Nothing here is of the line that it leaves.
    NoData,
}

/// What a peer said of itself when its connection came up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerReport {
    pub boot_id: BootId,
    pub shards: u8,
    /// What its release knows of, as HELLO says it.
    pub features: u64,
    pub replica: Option<ReplicaReport>,
}

/// Whether a peer that is gone may go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceVerdict {
    /// It does not, before it is connected.
    Out,
    /// Nobody knows.
    Unproven,
    /// Nobody was asked: it was void (`is_asking_to_fence`) by the time that this was to begin.
    NotAsked,
}

#[derive(Clone, Debug)]
pub enum ResourceInput {
    /// All connections to the peer are up and the resource is open on both sides.
    Connected {
        peer: NodeId,
        report: Box<PeerReport>,
    },
    Disconnected {
        peer: NodeId,
        parting: Parting,
    },
    Control {
        from: NodeId,
        message: Box<Control>,
    },
    /// `peer` answered the lease request that was sent at `sent_at`.
    Lease {
        peer: NodeId,
        nonce: Nonce,
        sent_at: Time,
        granted: bool,
    },
    Saved {
        save: SaveId,
    },
    /// The superblock could not be written: the disk failed.
    SaveFailed {
        save: SaveId,
    },
    /// The register could not be written, or that did not end, and it is written no more while
    /// this process lives. Nothing else of the save was written; it may still be.
    RegisterFailed {
        save: SaveId,
    },
    Group {
        shard: u8,
        fact: FromGroup,
    },
    Command {
        id: CommandId,
        command: Command,
    },
    /// A disk with this superblock is there to be used, recovered as at a start. Nothing that a
    /// group asked of a former disk is under way any more. Ends with an answer.
    Attach {
        id: CommandId,
        superblock: Box<Superblock>,
        /// For how many members it has room: the own one, and those that may miss writes.
        slots_max: u8,
    },
    /// The shards have a disk for one more volume.
    AddDisk {
        id: CommandId,
        disk: FurtherDisk,
    },
    /// The answer to `EnlargeDisk`: the metadata of the volume's disk has room for so many bytes.
    DiskEnlarged {
        place: Place,
        size_bytes: u64,
    },
    /// Whether a volume can become larger where this node serves it; it can unless this says not.
    Device {
        place: Place,
        size: DeviceSize,
    },
    /// The configuration names other members now. Ends with an answer; who is dropped is a peer
    /// until `Forget` says so.
    Members {
        id: CommandId,
        members: Vec<MemberOptions>,
    },
    /// The configuration asks for something else now.
    Demands(Demands),
    /// The same of replicas that are to be brought up to date.
    Readmission(Readmission),
    /// The same of how fast that is to be, beside clients; 0 is no limit.
    ResyncRate {
        bytes_per_second: u64,
    },
    /// The answer to `AskToResync`; a refusal is for this once.
    ResyncAnswer {
        number: u64,
        allowed: bool,
    },
    /// The answer to `AskToFence`: whether the peer is out, and stays so until it is connected.
    FenceAnswer {
        number: u64,
        verdict: FenceVerdict,
    },
    /// Comes at `Resource::wake_at`.
    Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SaveId(pub u64);

/// Why the local disk goes out of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskEnd {
    Failed,
    /// By an operator's word.
    Detached,
}

#[derive(Clone, Debug)]
pub enum ResourceAction {
    /// Never to this node itself.
    Send {
        to: NodeId,
        message: Control,
    },
    /// Durable when answered with `Saved`: the register first, then the superblock.
    Save {
        save: SaveId,
        register: Option<Box<Register>>,
        superblock: Option<Box<Superblock>>,
    },
    /// To the group of every shard.
    Group(ToGroup),
    /// Drop and rebuild all connections to `peer` for this resource.
    Reset {
        peer: NodeId,
    },
    /// The reason for a `Reset` that follows.
    Misbehaved {
        peer: NodeId,
        how: Misbehaviour,
    },
    /// The local disk goes out of use: close it once what is outstanding ended.
    CloseDisk(DiskEnd),
    /// The disk that `Attach` offered is wanted: `ToGroup::Attach` to the group of every shard.
    TakeDisk {
        round: RoundId,
    },
    /// Make room for so many bytes on the disk of a volume, or (0) for as many as its backing has.
    /// Ends with `DiskEnlarged`, whatever became of it, unless the disk is given up.
    EnlargeDisk {
        place: Place,
        size_bytes: u64,
    },
    Answer {
        id: CommandId,
        result: Result<CommandDone, CommandError>,
    },
    /// The primary role began or ended here: front ends admit or end client sessions.
    RoleChanged {
        primary: bool,
    },
    /// The chosen config changed.
    ConfigChanged(Box<Config>),
    /// A member (this node itself, if its disk is slow) is taken out of the write set, and returns
    /// by a resync after a rest.
    Evicted {
        member: NodeId,
        rest: Duration,
    },
    /// A follower that fell too far behind is taken out of the write set, and asked to return after
    /// a rest.
    PulledAhead {
        member: NodeId,
        rest: Duration,
    },
    /// The connections of a member broke soon after it returned, for the `losses`-th time: it is
    /// asked to return after a rest.
    LostAgain {
        member: NodeId,
        rest: Duration,
        losses: u32,
    },
    /// The follower is taken out, and the connection is to end until the operator wants it again.
    Disconnect {
        peer: NodeId,
    },
    /// Ask all peers for the lease now instead of with the next heartbeat.
    RenewLease,
    /// No value needs this member any more, which the configuration dropped: it is no peer.
    Forget {
        peer: NodeId,
    },
    /// This Primary answers no client for want of a quorum; the status says what is missing.
    QuorumLost,
    /// It answers them again.
    QuorumBack,
    /// Without a quorum this node goes on alone, on a branch of its own.
    WentAlone,
    /// The local replica is to be brought up to date, by this leader: answer with
    /// `ResyncAnswer`, whenever that may begin.
    AskToResync {
        number: u64,
        from: NodeId,
        /// It holds what was there at some moment, until then.
        is_image: bool,
    },
    /// See to it that this peer, which is not connected, does not go on by itself: answer with
    /// `FenceAnswer`.
    AskToFence {
        number: u64,
        peer: NodeId,
    },
    /// Both went on after the lines of the peer and of this node parted: one has to give way.
    SplitBrain {
        peer: NodeId,
        fork: Option<Ancestor>,
    },
    /// What becomes of that.
    AfterSplit {
        peer: NodeId,
        outcome: AfterSplitBrain,
    },
    /// A peer holds data of another history (`branch`): it is not copied to.
    Unrelated {
        peer: NodeId,
        branch: Branch,
    },
}
