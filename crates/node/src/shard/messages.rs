//! What the control thread and a shard say to each other.

use std::fs::File;
use std::sync::{Arc, mpsc};

use api::response::{Failure, Reply};
use format::layout::Layout;
use format::space::Place;
use frontend::nvme::auth::Finding;
use io::ListenAddr;
use replication::contract::{Command, DeviceSize, FenceVerdict, PromoteMode};

use crate::definition::Definition;
use crate::handover::{Attached, GrowingDisk, Moved, NewVolume, Replica};
use crate::links::secure::Secrecy;
use crate::nvme::hosts::HostCheck;
use crate::slab::Key;
use crate::tls::credentials::Credentials;
use crate::ublk::News;
use crate::vhost::GuestOrder;

/// The control thread's name for a question; returned with the answer.
pub(crate) type Ticket = u64;

/// Whether clients that have it open are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    No,
    Yes,
}

impl From<bool> for Force {
    fn from(force: bool) -> Self {
        if force { Self::Yes } else { Self::No }
    }
}

#[derive(Debug)]
pub(crate) enum ToShard {
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
pub(crate) enum DeviceOrder {
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
pub(crate) enum FromShard {
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
pub(crate) enum Fact {
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
pub(crate) enum Unreachable {
    IsNoProof,
    /// As far as the operator asks for one (`quorum off`).
    IsEnough,
}

/// What becomes of this node's data when it meets a peer, and both went on by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OwnData {
    Kept,
    GivenUp,
}
