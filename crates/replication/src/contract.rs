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
    /// Obey session `nonce` alone from now on. Answered by `Quiesced` once no device write of an
    /// older session is outstanding.
    Seal { nonce: Nonce, round: RoundId },
    /// Begin to lead session `nonce`. Blocks of `outdated` may differ between the members of
    /// `write_set`. Every member records that those in `lost` may miss the blocks of `missed`; the
    /// round beside each is answered once all have.
    Lead {
        nonce: Nonce,
        write_set: MemberSet,
        /// The process that each member of `write_set` is. Another process of the same node may
        /// acknowledge nothing.
        boots: Vec<(NodeId, BootId)>,
        outdated: Vec<BlockRange>,
        missed: Vec<BlockRange>,
        lost: Vec<(LostMember, RoundId)>,
    },
    /// The config of the session is chosen and stored: let requests in. Answered when no block may
    /// differ between the members any more.
    Serve { epoch: Epoch, in_sync: MemberSet, round: RoundId },
    /// This node leads no more: fail every request. Answered once this group answers no read.
    StandDown { round: RoundId },
    /// At most so many operations of the group may be sent and not stable yet: the activity logs of
    /// the members have no room for more.
    LogRoom { operations: usize },
    /// As a member of the new session `nonce`: keep in mind that `ranges` may differ between its
    /// members, in place of the window of the former session. Answered once that is done.
    Inherit { nonce: Nonce, ranges: Vec<BlockRange>, round: RoundId },
    /// The lease: as the leader, answer reads before `until`, and none after it.
    Lease { until: Time },
    /// What this node's replica may do.
    Replica(ReplicaRole),
    /// As the leader: begin to remove this member from the write set. Answered when every other
    /// member has recorded what it misses.
    Lose { lost: LostMember, round: RoundId },
    /// The value without `member` is chosen: take it out of the write set.
    Lost { member: NodeId, epoch: Epoch, in_sync: MemberSet },
    /// The loss of `member` is withdrawn: the same process is connected again, and no value without
    /// it was proposed. Send again what it has not answered. Its stay counts from `since` on.
    Resend { member: NodeId, since: RoundId },
    /// As the leader: answer by `Floors`, for each lane the seq from which a member that returns
    /// now is sent every operation.
    ReportFloors { round: RoundId },
    /// As the returning member: mark in the own slot what no other member knows of, then expect
    /// operations from `floors` on. Answered when the own slot is durable.
    Admit { nonce: Nonce, floors: Vec<Seq>, round: RoundId },
    /// Mark all blocks in the slot of this member, and let the slot begin at `lost.base`. Answered
    /// at once.
    SetFull { lost: LostMember, round: RoundId },
    /// Send every operation to `member`, too, from now on; then copy what it misses: what `from`, a
    /// member in sync, has marked in its slot for it. Answered when it misses nothing.
    Resync {
        member: NodeId,
        boot: BootId,
        from: NodeId,
        /// Those who miss writes, too, and where their slots begin: `member` is told of them.
        absent: Vec<LostMember>,
        compare: Compare,
        round: RoundId,
    },
    /// Compare what the in-sync members hold of the blocks of `space`. Answered when all of the
    /// task is compared. An earlier task ends.
    Verify { task: VerifyTask, space: Box<Space>, round: RoundId },
    /// The value that has `member` in sync is chosen: its resync is over.
    Joined { member: NodeId, epoch: Epoch, in_sync: MemberSet },
    /// As the member that is to join: make slots and data durable. Answered then.
    MakeDurable { round: RoundId },
    /// As the member that joined: empty the own slot, for the replica differs from the others
    /// nowhere.
    ForgetOwnSlot,
    /// The slot header that `FromGroup::RebaseSlot` asked for is durable.
    SlotRebased(LostMember),
    /// Finish everything and flush. Answered then. New requests wait until `Resume`.
    Drain { round: RoundId },
    /// As the leader: copy at most so many bytes per second while clients are at work; 0 is no
    /// limit.
    ResyncRate { bytes_per_second: u64 },
    /// Where reads of clients go from now on.
    ReadPolicy(ReadPolicy),
    /// No read of a client goes to these members from now on.
    NoReadsFrom(MemberSet),
    /// A member that takes longer to answer is left behind.
    SlowLimit(Duration),
    /// There is no quorum: fail new requests and those that wait, or (`false`) let them wait.
    OnNoQuorum { fail: bool },
    /// Admit no request and answer no write from now on, or (`false`) do so again. What is under
    /// way goes on.
    Hold { hold: bool },
    /// About members that count for an answer once they received a write (protocol B).
    Receipts(AboutReceipts),
    /// About followers (protocol A), and the cuts that they apply as a whole.
    Cuts(AboutCuts),
    /// About flushes that the device called done.
    Flushes(AboutFlushes),
    /// A drain did not succeed, or a suspension ended: requests go on.
    Resume,
    /// Obey no session, and write what is dirty, so that the next start replays nothing. Answered
    /// then.
    Stop { round: RoundId },
    /// The same, and what any slot marks is marked in the own slot: all of it may differ from what
    /// others hold.
    MergeSlots { round: RoundId },
    /// Say how many blocks the slot of `member` marks. Answered by `Marks`.
    CountMarks { member: NodeId, round: RoundId },
    /// `members` have data by the value: writes mark what those of them miss that are absent.
    /// `slots` are the members for whom the disk has a slot, in their order on it. A slot that is
    /// kept for anyone else is good for nothing.
    Track { members: MemberSet, slots: Vec<NodeId> },
    /// How large the volumes or the disk are, or are to become.
    Size(Box<SizeOrder>),
    /// The group's part of a disk that is taken (back) into use. The shard sends it for `TakeDisk`,
    /// in order with the home shard's messages. From its delivery on, and not before, what the
    /// group asks of a device goes to this disk. The group takes the disk once all that it asked of
    /// the former one is answered, asks nothing until then, and answers when it has taken it.
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
    /// These do. A leading group counts so; a member that is one of them says what it received.
    Count(MemberSet),
    /// Some may soon: from now on a flush asks first (`FromGroup::SettleReceipts`). Answered at
    /// once.
    Allow { round: RoundId },
    /// Answered when every member has written what this group had answered to clients by now.
    Settle { round: RoundId },
    /// All groups answered `Settle`, for question `number` of the group of `shard`.
    Settled { shard: u8, number: u32 },
}

/// From a group to the home shard.
#[derive(Clone, Debug)]
pub enum FromGroup {
    /// What this round asked for is done.
    Answer {
        round: RoundId,
    },
    /// The answer to `Seal`: no device write of an older session is outstanding.
    Quiesced {
        round: RoundId,
        lanes: Vec<(LaneIndex, SealedLane)>,
        inherited: Vec<BlockRange>,
        own_slot: Vec<BlockRange>,
        /// A follower's cut is applied in part, and will not be in full.
        is_torn: bool,
        /// This member has applied no whole cut since it was admitted. For a follower that is as
        /// bad as `is_torn`.
        is_open: bool,
    },
    /// As the leader: followers were sent what is in no cut yet.
    WantCut,
    /// As a follower: these lanes, a bit each, have received all that is theirs of cut `number`.
    CutArrived {
        nonce: Nonce,
        number: u32,
        lanes: u64,
    },
    /// The slot of this member begins anew, at another base: make its header durable, then answer
    /// with `SlotRebased`.
    RebaseSlot(LostMember),
    /// As the leader: a flush waits until all members have written what the groups have answered.
    /// Answered by `AboutReceipts::Settled` with this number.
    SettleReceipts {
        number: u32,
    },
    /// The device called this flush of the group done. Answered by `AboutFlushes::Believe`, if the
    /// flush is to be believed.
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
    /// How far a comparison of the members is in the lanes of the group.
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
    /// How far a follower is behind that `AboutCuts::WatchLag` named; said when it changes.
    Lag {
        stay: Stay,
        lag: Lag,
    },
    /// A follower has for long not recorded what another member misses.
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

/// How a split brain ends at this node.
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
    /// Nobody was asked: the question was void (`Resource::is_asking_to_fence`) before that began.
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
    /// The write of the register failed, or did not end: this process writes it no more. The
    /// register may reach the disk all the same; the superblock of this save was not written.
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
        /// Members for whom its metadata has room, this one included.
        slots_max: u8,
    },
    /// The shards have opened a disk for one more volume. Ends with an answer.
    AddDisk {
        id: CommandId,
        disk: FurtherDisk,
    },
    /// The answer to `EnlargeDisk`: the metadata of the volume's disk has room for so many bytes.
    DiskEnlarged {
        place: Place,
        size_bytes: u64,
    },
    /// Whether the device by which this node serves a volume can become larger. It can, until this
    /// says otherwise.
    Device {
        place: Place,
        size: DeviceSize,
    },
    /// The configuration names other members now. Ends with an answer. A member that it drops stays
    /// a peer until `Forget`.
    Members {
        id: CommandId,
        members: Vec<MemberOptions>,
    },
    /// The configuration asks for something else of a Primary now.
    Demands(Demands),
    /// The configuration says otherwise now whether the replica asks before a resync.
    Readmission(Readmission),
    /// The configuration has another rate for resyncs beside clients; 0 is no limit.
    ResyncRate {
        bytes_per_second: u64,
    },
    /// The answer to the `AskToResync` of this number. After a refusal the next admission asks
    /// anew.
    ResyncAnswer {
        number: u64,
        allowed: bool,
    },
    /// The answer to `AskToFence`: whether the peer is out, and stays so until it is connected.
    FenceAnswer {
        number: u64,
        verdict: FenceVerdict,
    },
    /// Time passed: comes at `Resource::wake_at` at the latest.
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
    /// Hand this to the group of every shard.
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
    /// The Primary role began or ended here: front ends admit clients from now on, or end what they
    /// have.
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
    /// This node went on alone without a quorum, on a branch of its own.
    WentAlone,
    /// The local replica is to be brought up to date, by this leader: answer with
    /// `ResyncAnswer`, whenever that may begin.
    AskToResync {
        number: u64,
        from: NodeId,
        /// The replica holds the data of one moment, until that is allowed.
        is_image: bool,
    },
    /// See to it that this peer, which is not connected, does not go on by itself: answer with
    /// `FenceAnswer`.
    AskToFence {
        number: u64,
        peer: NodeId,
    },
    /// The lines of the peer and of this node parted, and both went on: one side has to give way.
    SplitBrain {
        peer: NodeId,
        /// The last value that both lines have, if both still list it.
        fork: Option<Ancestor>,
    },
    /// How that ends.
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
