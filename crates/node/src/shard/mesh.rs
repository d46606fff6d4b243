//! What the shards of a node say to each other, and the mailboxes for it.
//!
//! One mailbox for each ordered pair of shards: what one says to another arrives in order, whatever
//! it is about. A turn pushes what it has and publishes once, at its end. What finds a mailbox full
//! waits behind it: its number is bounded by what clients and peers have under way.

use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::OwnedFd;

use api::response::Failure;
use format::ids::NodeId;
use frontend::nbd::wire::Extent;
use frontend::nvme::view::Subsystem;
use io::Loan;
use io::mailbox::Sender;
use replication::contract::GroupDisk;
use replication::contract::{FromGroup, PartId, Request, RequestError, RoundId, ToGroup};
use stdx::time::Time;

use crate::definition::Definition;
use crate::handover::{NewDisk, NewFurther, NewPart};
use crate::hosted_id::HostedId;
use crate::links::Handles;
use crate::links::secure::Secrecy;
use crate::links::set::LinkNews;
use crate::nbd;
use crate::slab::Key;

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
    Offer(Box<nbd::Offer>),
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
    /// A client came or left; so many are there now.
    Clients {
        count: u32,
        change: Change,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Wanted(nbd::Comer),
    Left,
}

/// Hosting a part, or ending it, comes beside `ToPart`: it is no news of the resource's machine.
#[derive(Debug)]
pub(crate) enum Hosting {
    Host(Box<NewPart>),
    Remove,
}

#[derive(Debug)]
struct Line {
    sender: Sender<Cross>,
    backlog: VecDeque<Cross>,
}

/// A shard's ways to the other shards.
#[derive(Debug)]
pub(crate) struct Mesh {
    me: u8,
    /// By shard; none to itself.
    lines: Vec<Option<Line>>,
}

impl Mesh {
    /// `senders` by shard, with none at the place of `me`.
    pub(crate) fn new(me: u8, senders: Vec<Option<Sender<Cross>>>) -> Self {
        let line =
            |sender: Option<_>| sender.map(|sender| Line { sender, backlog: VecDeque::new() });
        Self { me, lines: senders.into_iter().map(line).collect() }
    }

    pub(crate) fn me(&self) -> u8 {
        self.me
    }

    pub(crate) fn shards(&self) -> u8 {
        u8::try_from(self.lines.len()).expect("few shards")
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.lines.len() == 1
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = u8> + Clone + use<> {
        let me = self.me;
        (0..self.shards()).filter(move |shard| *shard != me)
    }

    /// Queues a message; it leaves with `publish`.
    pub(crate) fn send(&mut self, to: u8, message: Cross) {
        let line = self.lines[usize::from(to)].as_mut().expect("nobody writes to itself");
        if !line.backlog.is_empty() {
            line.backlog.push_back(message);
        } else if let Err(message) = line.sender.push(message) {
            line.backlog.push_back(message);
        }
    }

    pub(crate) fn publish(&mut self) {
        for line in self.lines.iter_mut().flatten() {
            while let Some(message) = line.backlog.pop_front() {
                if let Err(message) = line.sender.push(message) {
                    line.backlog.push_front(message);
                    break;
                }
            }
            line.sender.publish();
        }
    }

    /// Whether something waits for room: nobody tells when there is some.
    pub(crate) fn has_backlog(&self) -> bool {
        self.lines.iter().flatten().any(|line| !line.backlog.is_empty())
    }
}
