//! What the control side and a shard say to each other, and what the shards of a node do.
//!
//! ```text
//! control side -- ToShard --> shard -- Cross --> another shard
//!              <- FromShard -       <- Cross ---
//! ```

use std::fs::File;
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};

use api::response::{Failure, Reply};
use format::ids::NodeId;
use format::layout::Layout;
use format::space::Place;
use frontend::nbd::wire::Extent;
use frontend::nvme::auth::Finding;
use frontend::nvme::view::Subsystem;
use io::{ListenAddr, Loan};
use replication::contract::{
    Command, DeviceSize, FenceVerdict, FromGroup, GroupDisk, PartId, PromoteMode, Request,
    RequestError, RoundId, ToGroup,
};
use stdx::time::Time;

use crate::clients::fact::Comer;
use crate::clients::nbd::Offer;
use crate::clients::nvme::hosts::HostCheck;
use crate::clients::ublk::News;
use crate::clients::vhost::GuestOrder;
use crate::definition::Definition;
use crate::definition::link::Secrecy;
use crate::handover::{
    Attached, GrowingDisk, Moved, NewDisk, NewFurther, NewPart, NewVolume, Replica,
};
use crate::hosted_id::HostedId;
use crate::links::Handles;
use crate::links::news::LinkNews;
use crate::slab::Key;
use crate::tls::credentials::Credentials;

/// The control thread's name for a question; returned with the answer.
pub type Ticket = u64;

/// Whether clients that have it open are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    No,
    Yes,
}

impl From<bool> for Force {
    fn from(force: bool) -> Self {
        if force { Self::Yes } else { Self::No }
    }
}

#[derive(Debug)]
pub enum ToShard {
    /// Starts to serve a resource, or says why not.
    Host {
        ticket: Ticket,
        attached: Box<Attached>,
    },
    /// Other options of a resource that is up; its structure is the same.
    Redefine {
        ticket: Ticket,
        definition: Box<Definition>,
    },
    /// Ends to serve a resource, cleanly.
    Remove {
        ticket: Ticket,
        resource: String,
        force: Force,
    },
    Promote {
        ticket: Ticket,
        resource: String,
        mode: PromoteMode,
    },
    Demote {
        ticket: Ticket,
        resource: String,
        force: Force,
    },
    /// Has the machine of a resource answer a command that concerns nothing else.
    Ask {
        ticket: Ticket,
        resource: String,
        command: Command,
    },
    /// Whether this disk is in use, and divided like this.
    CheckRoom {
        ticket: Ticket,
        resource: String,
        disk: GrowingDisk,
    },
    /// No metadata is written until `ReleaseMetadata`; answered when none is under way. Refused
    /// where that disk is not there any more, or cannot be used at the size that it has by now.
    HoldMetadata {
        ticket: Ticket,
        resource: String,
        disk: GrowingDisk,
    },
    /// Metadata is written again, wherever it is now.
    ReleaseMetadata {
        resource: String,
        moved: Moved,
    },
    /// The disk of a volume has room for so much data now; 0 if nothing changed.
    Enlarged {
        resource: String,
        place: Place,
        size_bytes: u64,
    },
    Detach {
        ticket: Ticket,
        resource: String,
    },
    /// Whether a disk is missing that could be attached.
    CheckAttach {
        ticket: Ticket,
        resource: String,
    },
    /// Takes a disk that was read and recovered into use.
    Attach {
        ticket: Ticket,
        resource: String,
        replica: Box<Replica>,
    },
    /// Whether the replica could take a disk for one more volume: `NoLocalDisk` where it could not.
    CheckVolume {
        ticket: Ticket,
        resource: String,
        place: Place,
    },
    /// Takes one that was read into use, beside those of the replica.
    AddVolume {
        ticket: Ticket,
        resource: String,
        volume: Box<NewVolume>,
    },
    /// To one peer, or to all.
    Connect {
        ticket: Ticket,
        resource: String,
        peer: Option<String>,
        own_data: OwnData,
    },
    Disconnect {
        ticket: Ticket,
        resource: String,
        peer: Option<String>,
    },
    Status {
        ticket: Ticket,
        resources: Vec<String>,
        statistics: bool,
    },
    /// The same, of those that are here.
    StatusOfKnown {
        ticket: Ticket,
        resources: Vec<String>,
        statistics: bool,
    },
    /// Which resources are at home here: their names alone.
    Names {
        ticket: Ticket,
    },
    /// Whether changes of resources are to be told.
    Watch {
        is_on: bool,
    },
    /// New connections prove themselves with these.
    Credentials(Arc<Credentials>),
    /// NVMe hosts that connect have to prove themselves, with this.
    NvmeHosts(Arc<HostCheck>),
    /// The work of a queue's proof is done.
    Proved {
        queue: Key,
        finding: Finding,
    },
    ListenNbd {
        ticket: Ticket,
        address: ListenAddr,
        secrecy: Secrecy,
    },
    ListenNvme {
        ticket: Ticket,
        address: ListenAddr,
    },
    /// Whether the replica may be brought up to date.
    ResyncAnswer {
        resource: String,
        number: u64,
        allowed: bool,
    },
    /// Refused (`StateRefused`) when nobody asks any more whether the peer of a question is out.
    CheckFence {
        ticket: Ticket,
        resource: String,
        number: u64,
    },
    /// Whether the peer of a question is out.
    FenceAnswer {
        resource: String,
        number: u64,
        verdict: FenceVerdict,
    },
    /// About the block device of a resource.
    Device {
        resource: String,
        order: DeviceOrder,
    },
    /// About the session of a virtual machine.
    Guest(GuestOrder),
    /// Ends all resources that are at home here, cleanly.
    Stop {
        ticket: Ticket,
    },
    /// Ends the thread.
    Exit,
}

#[derive(Debug)]
pub enum DeviceOrder {
    /// Who served clients last, as the news say.
    AskTenure { news: mpsc::Sender<News> },
    /// This node is to be Primary for a device that is taken over.
    Promote { ticket: Ticket, place: Place },
    /// It need not be for that any more, nor become it.
    GiveUp { place: Place },
    /// A device is to be made; the news say of what, and later how it goes.
    Prepare { place: Place, news: mpsc::Sender<News> },
    /// Its requests are taken from here.
    Serve { place: Place, file: Arc<File>, depth: u16, size: DeviceSize },
    /// Every request is answered with an error from now on.
    End { place: Place },
    /// No request is answered any more, and the resource is let go as by a crash.
    Leave { ticket: Ticket },
}

#[derive(Debug)]
pub enum FromShard {
    Answer {
        ticket: Ticket,
        answer: Result<Reply, Failure>,
    },
    /// The thread ends, and the kernel has requests to the disk of this resource still.
    DiskLeft {
        resource: String,
    },
    /// The state of a resource may be another; told once until somebody asks for it.
    Changed {
        resource: String,
    },
    /// A resource goes down, which nobody refuses any more: what is done to its disks is in vain.
    Going {
        resource: String,
    },
    /// Something that its state does not tell afterwards.
    Happened {
        resource: String,
        fact: Fact,
    },
    /// A volume that was added came into use.
    InUse {
        resource: String,
    },
    /// Nobody is a member any more whom its definition dropped.
    Settled {
        resource: String,
    },
    /// A volume has so many bytes now, which are more than before.
    Grown {
        resource: String,
        place: Place,
        size_bytes: u64,
    },
    /// The disk of a volume is to have room for so much data, or (0) for all that it can.
    Enlarge {
        resource: String,
        place: Place,
        layout: Layout,
        size_bytes: u64,
    },
}

/// What handlers are called for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The role went to another node, or the session ended, without an order of this node.
    PrimaryLost,
    /// The disk was given up because it failed.
    DiskFailed,
    /// After a split brain this Primary is the one that should give way, and does not by itself.
    ShouldGiveWay,
    /// The replica is to be brought up to date by this leader (this node, if none is named), and
    /// that waits for `ResyncAnswer`.
    ResyncWanted { number: u64, leader: Option<(u8, String)>, is_image: bool },
    /// This peer is gone, and is not to go on by itself; that waits for `FenceAnswer`.
    FenceWanted { number: u64, peer: Option<(u8, String)>, unreachable: Unreachable },
}

/// What it means that a peer which is to be out cannot be reached, and may be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    IsNoProof,
    /// As far as the operator asks for one (`quorum off`).
    IsEnough,
}

/// What becomes of this node's data when it meets a peer, and both went on by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnData {
    Kept,
    GivenUp,
}

/// Between two shards of a node.
#[derive(Debug)]
pub(crate) enum Cross {
    /// A part of a client's request, for a lane of the receiver. A write's payload is lent.
    Request {
        hosted: HostedId,
        request: Request,
        loan: Option<Loan>,
    },
    /// The answer to it; what was read is lent.
    Complete {
        part: PartId,
        result: Result<Option<Loan>, RequestError>,
    },
    Returned(Loan),
    /// A client's question which blocks are holes, for the home of the resource.
    Allocation {
        hosted: HostedId,
        request: Key,
        range: Range<u64>,
    },
    /// The answer to it.
    Allocated {
        request: Key,
        extents: Box<[Extent]>,
    },
    /// A client that was accepted, for the receiver to serve.
    Client(OwnedFd, Secrecy),
    Link(Box<LinkNews>),
    /// From the home of a resource to its other shards.
    ToPart(HostedId, ToPart),
    FromPart(HostedId, FromPart),
    Hosting(HostedId, Hosting),
}

/// What the home shard of a resource tells the others; each is answered by `Applied`, but `Host`
/// and `Remove`, which have answers of their own.
#[derive(Debug)]
pub(crate) enum ToPart {
    Group(Box<ToGroup>),
    /// `ToGroup::Lease`, which comes all the time.
    Lease {
        until: Time,
    },
    /// The peer is connected, under these handles.
    Connected {
        peer: NodeId,
        handles: Handles,
    },
    Disconnected {
        peer: NodeId,
        handles: Handles,
    },
    /// The definition changed; there may be new members.
    Redefine(Box<Definition>),
    /// A member is none any more.
    Forget {
        peer: NodeId,
    },
    CloseDisk,
    /// `ToGroup::Attach`, with the disk.
    Attach {
        disk: Box<NewDisk>,
        group: Box<GroupDisk>,
        round: RoundId,
    },
    /// The disk of one more volume, beside those that there are.
    AddVolume(Box<NewFurther>),
    /// Clients see the resource so.
    Offer(Box<Offer>),
    /// Initiators see it so.
    Path(Box<Subsystem>),
    Withdraw,
    Admit(Exports),
    Refuse(Box<str>),
    /// The NBD clients that wait are sent away.
    Bar(Box<str>),
    EndSessions(Box<str>),
}

/// Whether NBD clients are admitted with the others.
#[derive(Clone, Debug)]
pub(crate) enum Exports {
    Open,
    /// For this reason they are refused: none can tell that it was there before.
    Barred(Box<str>),
}

#[derive(Debug)]
pub(crate) enum FromPart {
    Hosted(Result<(), Box<Failure>>),
    Removed,
    /// One more message of the home was applied, and everything that followed from it was said.
    Applied,
    Fact(Box<FromGroup>),
    /// Nothing is under way any more on the disk that was given up.
    DiskClosed,
    /// A request to the disk failed, at the cost of the replica.
    DiskFailed(Box<DiskTrouble>),
    /// A client came or left; so many are there now.
    Clients {
        count: u32,
        change: Change,
    },
}

/// A request that a disk failed, at the cost of its replica.
#[derive(Clone, Debug)]
pub(crate) struct DiskTrouble {
    /// Whose disk it is.
    pub(crate) place: Place,
    pub(crate) at: Time,
    /// The kind of request, in words.
    pub(crate) request: &'static str,
    /// In the words of the system.
    pub(crate) error: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Wanted(Comer),
    Left,
}

/// Hosting a part, or ending it, comes beside `ToPart`: it is no news of the resource's machine.
#[derive(Debug)]
pub(crate) enum Hosting {
    Host(Box<NewPart>),
    Remove,
}
