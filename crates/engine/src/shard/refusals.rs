//! What commands are refused with, in words.
//!
//! The core says what is wrong; what helps is a row of [`Advice`]. docs/operate/messages has the
//! rows in refusals.md, with the commands that are refused so.

use std::fmt;
use std::io::{Error, ErrorKind};

use api::response::{Failure, FailureCode};
use replication::contract::{CommandError, CommandErrorCode};

use crate::shard::hosted::{CommandKind, OwnDisk};

/// A command of an operator, and the state that it was refused in.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) kind: CommandKind,
    pub(super) resource: String,
    pub(super) is_primary: bool,
    pub(super) disk: OwnDisk,
    /// The replica of this node is in sync by the newest configuration that is known here.
    pub(super) is_up_to_date: bool,
    /// A majority of the voters is in reach.
    pub(super) has_majority: bool,
    /// The state directory of this node takes no write: its vote is lost until a restart.
    pub(super) is_mute: bool,
    /// Another node that is Primary by the newest that is known here.
    pub(super) primary: Option<String>,
}

/// An operator tries this next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    FindMissing,
    LookAtVotes,
    MendStateDirectory,
    WaitForSync,
    OnUpToDate,
    Adopt,
    ConnectOrForce,
    ConnectOrAttach,
    ConnectUpToDate,
    DemoteOther,
    ReopenThere,
    DemoteHere,
    LookAtReplicas,
    TryAgain,
    AttachDisk,
    NodeWithDisk,
    LookAtWait,
    OnThePrimary,
    OtherSize,
    FreeSlots,
}

impl Advice {
    fn of(code: CommandErrorCode, asked: &Asked) -> Self {
        let kind = asked.kind;
        match code {
            CommandErrorCode::NoQuorum => Self::without_quorum(asked),
            CommandErrorCode::VotesLost => Self::Adopt,
            CommandErrorCode::NoUpToDateData if kind == CommandKind::Promote => match asked.disk {
                OwnDisk::InUse => Self::ConnectOrForce,
                OwnDisk::OutOfUse => Self::ConnectOrAttach,
                OwnDisk::None => Self::ConnectUpToDate,
            },
            CommandErrorCode::NoUpToDateData => Self::ConnectUpToDate,
            CommandErrorCode::PeerPrimary if kind == CommandKind::Promote => Self::DemoteOther,
            CommandErrorCode::PeerPrimary => Self::ReopenThere,
            CommandErrorCode::Busy if kind == CommandKind::GiveUp && asked.is_primary => {
                Self::DemoteHere
            }
            CommandErrorCode::Busy if kind == CommandKind::GiveUp => Self::LookAtReplicas,
            CommandErrorCode::Busy => Self::TryAgain,
            CommandErrorCode::NoDisk if asked.disk == OwnDisk::None => Self::NodeWithDisk,
            CommandErrorCode::NoDisk => Self::AttachDisk,
            CommandErrorCode::TimedOut => Self::LookAtWait,
            CommandErrorCode::NotPrimary => Self::OnThePrimary,
            CommandErrorCode::Size => Self::OtherSize,
            CommandErrorCode::NoSlot => Self::FreeSlots,
        }
    }

    /// What is missing of a quorum, or of a node that leads for want of a Primary: that one has to
    /// be up to date.
    fn without_quorum(asked: &Asked) -> Self {
        let needs_leader = match asked.kind {
            CommandKind::Verify | CommandKind::Resize | CommandKind::Reopen => true,
            CommandKind::Promote
            | CommandKind::Demote
            | CommandKind::Attach
            | CommandKind::Redefine
            | CommandKind::GiveUp
            | CommandKind::Other => false,
        };
        match asked.disk {
            _ if asked.is_mute => Self::MendStateDirectory,
            _ if !asked.has_majority => Self::FindMissing,
            // They do not agree, or the options ask for more.
            _ if asked.is_up_to_date || !needs_leader => Self::LookAtVotes,
            OwnDisk::InUse => Self::WaitForSync,
            OwnDisk::OutOfUse | OwnDisk::None => Self::OnUpToDate,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn text(self, asked: &Asked) -> String {
        let resource = &asked.resource;
        let primary = asked.primary.as_deref().unwrap_or("the other node");
        match self {
            Self::FindMissing => format!(
                "connect more nodes: `basalt adm explain {resource}` says who is missing, and why"
            ),
            Self::LookAtVotes => {
                format!("`basalt adm status {resource}` says what is missing, and what helps")
            }
            Self::MendStateDirectory => format!(
                "mend the state directory of this node and restart its daemon (`systemctl restart \
                 basalt-node`), or connect more nodes: `basalt adm explain {resource}` says who is \
                 missing, and why"
            ),
            Self::WaitForSync => format!(
                "type it on a node whose replica is up to date, or wait here: `basalt adm \
                 wait-sync {resource}`"
            ),
            Self::OnUpToDate => format!(
                "type it on a node whose replica is up to date: `basalt adm status {resource}` \
                 shows what each replica has"
            ),
            Self::Adopt => "`basalt adm adopt` finds out by the disks who is up to date: take the \
                            resource down on all nodes first (docs/operate/state-lost.md); do not \
                            use `primary --force`"
                .to_owned(),
            Self::ConnectOrForce => format!(
                "connect a node with up-to-date data; only if all of these are gone for good, \
                 `basalt adm primary --force --dry-run {resource}` says what `--force` would lose"
            ),
            Self::ConnectOrAttach => format!(
                "connect a node with up-to-date data, or take the disk of this one back: `basalt \
                 adm status {resource}` says why it is out of use, and `basalt adm attach \
                 {resource}` takes it"
            ),
            Self::ConnectUpToDate => format!(
                "a node with up-to-date data has to be connected first: `basalt adm explain \
                 {resource}` says who has it, and why each is away"
            ),
            Self::DemoteOther => format!(
                "on {primary} end what uses the volume, and type `basalt adm secondary \
                 {resource}`; if {primary} is dead, type this again in a few seconds"
            ),
            Self::ReopenThere => format!("on {primary}: `basalt adm reopen {resource}`"),
            Self::DemoteHere => format!(
                "end what uses the volume here, type `basalt adm secondary {resource}`, and then \
                 this again"
            ),
            Self::LookAtReplicas => format!(
                "nothing was given up: `basalt adm explain {resource}` shows what each replica has"
            ),
            Self::TryAgain => format!(
                "type it again in a few seconds; if it is refused then as well, `basalt adm \
                 explain {resource}` shows what is under way"
            ),
            Self::AttachDisk => format!(
                "`basalt adm status {resource}` says why the disk is out of use; `basalt adm \
                 attach {resource}` takes it back, and another one once `create-md --force \
                 {resource}` has made it"
            ),
            Self::NodeWithDisk => {
                "this node has no disk by configuration: type it on one that has".to_owned()
            }
            Self::LookAtWait => {
                format!("`basalt adm explain {resource}` shows what it waits for")
            }
            Self::OnThePrimary => {
                format!("`basalt adm status {resource}` names the Primary: type it there")
            }
            Self::OtherSize => format!(
                "nothing was changed: `basalt adm resize --size SIZE {resource}` takes a size that \
                 is larger than now, and that all of the disks have room for; for a smaller volume \
                 make a new resource, and copy the data"
            ),
            Self::FreeSlots => {
                "what nodes had that are gone is free after `basalt adm down` and `up` of the \
                 resource here; for more replicas than that make the metadata anew on one node \
                 after the other, and only while another replica is UpToDate: `down`, `create-md \
                 --force --max-peers N`, `up`, and wait until it is UpToDate"
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Promote => "`primary`",
            Self::Demote => "`secondary`",
            Self::Attach => "`attach`",
            Self::Redefine => "`adjust`",
            Self::GiveUp => "`invalidate`, `connect --discard-my-data`",
            Self::Resize => "`resize`",
            Self::Verify => "`verify`",
            Self::Reopen => "`reopen`",
            Self::Other => "another command",
        })
    }
}

/// Why a verify would compare nothing, and tell nobody so.
pub(super) fn nothing_to_compare(why: &VerifiesNothing, asked: &Asked) -> Failure {
    let code = match why {
        VerifiesNothing::NoQuorum { .. } => CommandErrorCode::NoQuorum,
        VerifiesNothing::NobodyElse => CommandErrorCode::NoUpToDateData,
    };
    failure(CommandError { code, message: why.to_string() }, asked)
}

/// A verify that this node would lead compares nothing for this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum VerifiesNothing {
    /// In the words of `status`, without a full stop.
    NoQuorum {
        lacking: String,
    },
    NobodyElse,
}

impl fmt::Display for VerifiesNothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoQuorum { lacking } => write!(f, "nothing can be compared: {lacking}"),
            Self::NobodyElse => f.write_str(
                "fewer than two replicas that are up to date are in reach: there is nothing to \
                 compare",
            ),
        }
    }
}

/// A node without a replica cannot take it for the truth: the core, which knows of no disks, says
/// to all what force would do.
fn without_force(message: &str) -> String {
    let Some((before, _)) = message.split_once("`primary --force`") else {
        return message.to_owned();
    };
    if before.starts_with("this replica") || before.starts_with("others go on without this") {
        return "no replica that is up to date is in reach".to_owned();
    }
    let clause = [": ", "; "].iter().filter_map(|mark| before.rfind(mark)).max();
    before[..clause.unwrap_or(before.len())].to_owned()
}

pub(super) fn failure(error: CommandError, asked: &Asked) -> Failure {
    let message = match asked.disk {
        OwnDisk::InUse => error.message,
        OwnDisk::OutOfUse | OwnDisk::None if asked.kind == CommandKind::Promote => {
            without_force(&error.message)
        }
        OwnDisk::OutOfUse | OwnDisk::None => error.message,
    };
    let code = match error.code {
        CommandErrorCode::NoQuorum | CommandErrorCode::VotesLost => FailureCode::NoQuorum,
        CommandErrorCode::NoUpToDateData => FailureCode::NoUpToDateData,
        CommandErrorCode::PeerPrimary => FailureCode::MultiplePrimaries,
        CommandErrorCode::NoDisk => FailureCode::NoLocalDisk,
        CommandErrorCode::TimedOut => FailureCode::Timeout,
        CommandErrorCode::Busy | CommandErrorCode::NotPrimary | CommandErrorCode::Size => {
            FailureCode::StateRefused
        }
        CommandErrorCode::NoSlot => FailureCode::MetadataMismatch,
    };
    Failure::new(code, message, Advice::of(error.code, asked).text(asked))
}

pub fn unknown_resource(name: &str) -> Failure {
    let message = format!("no resource {name:?} is up on this node");
    Failure::new(FailureCode::UnknownResource, message, "see `basalt adm status`")
}

pub(super) fn busy() -> Failure {
    let message = "another command is changing the resource";
    Failure::new(FailureCode::StateRefused, message, "try again when it is done")
}

pub fn address_failure(error: &Error) -> Failure {
    let hint = AddressAdvice::of(error).to_string();
    Failure::new(FailureCode::AddressInUse, error.to_string(), hint)
}

/// A disk or a resource that this shard does not take, or not any more.
#[derive(Debug)]
pub(super) enum NotTaken {
    /// What is open already could not be made this thread's.
    Disk {
        error: Error,
    },
    DaemonEnds,
    GivenBack,
    OtherSize {
        error: Error,
    },
}

impl NotTaken {
    fn hint(&self) -> &'static str {
        match self {
            Self::Disk { .. } => {
                "files or memory may have run out: `systemctl show -p LimitNOFILE basalt-node` and \
                 `free -m` tell"
            }
            Self::DaemonEnds => {
                "type it again once the next one runs: `systemctl start basalt-node`"
            }
            Self::GivenBack => "`basalt adm status` shows which disk is in use, and why none is",
            Self::OtherSize { .. } => {
                "it stays in use as it is; `df -h` shows the room on its file system, `free -m` \
                 the memory"
            }
        }
    }
}

impl fmt::Display for NotTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk { error } => write!(f, "a data thread cannot take a disk over: {error}"),
            Self::DaemonEnds => f.write_str("the daemon is ending"),
            Self::GivenBack => {
                f.write_str("the disk is not in use any more, or is another one by now")
            }
            Self::OtherSize { error } => {
                write!(f, "the disk cannot be used at the size that it has now: {error}")
            }
        }
    }
}

impl From<NotTaken> for Failure {
    fn from(why: NotTaken) -> Self {
        let code = match why {
            NotTaken::Disk { .. } | NotTaken::OtherSize { .. } => FailureCode::DiskFailed,
            NotTaken::DaemonEnds => FailureCode::StateRefused,
            NotTaken::GivenBack => FailureCode::NoLocalDisk,
        };
        Self::new(code, why.to_string(), why.hint())
    }
}

pub(super) fn not_adopted(error: Error) -> Failure {
    NotTaken::Disk { error }.into()
}

/// What helps where an address cannot be listened on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressAdvice {
    EndOther,
    HaveAddress,
    LookAtSocket,
}

impl AddressAdvice {
    fn of(error: &Error) -> Self {
        if error.kind() == ErrorKind::AddrInUse {
            Self::EndOther
        } else if error.kind() == ErrorKind::AddrNotAvailable {
            Self::HaveAddress
        } else {
            Self::LookAtSocket
        }
    }
}

impl fmt::Display for AddressAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndOther => {
                "`ss -ltnp` shows who listens there, and `ss -lxp` of a unix socket: end it, or \
                 take another address"
            }
            Self::HaveAddress => {
                "`ip addr` shows the addresses of this machine: give it this one, or take another \
                 address"
            }
            Self::LookAtSocket => {
                "`ip addr` shows the addresses of this machine, `ss -ltnp` who listens, and `ls \
                 -ld` of a unix socket's folder who may make one there"
            }
        })
    }
}

#[cfg(test)]
mod tests;
