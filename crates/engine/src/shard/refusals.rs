//! What commands are refused with, in words.
//!
//! The core says what is wrong; what helps is a row of [`Advice`]. docs/operate/messages has the
//! rows in refusals.md, with the commands that are refused so.

use std::fmt;

use api::response::{Failure, FailureCode};
use replication::contract::{CommandError, CommandErrorCode};

use crate::shard::hosted::CommandKind;

/// A command of an operator, and the state that it was refused in.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) kind: CommandKind,
    pub(super) resource: String,
    pub(super) is_primary: bool,
    /// By configuration.
    pub(super) has_disk: bool,
    /// Another node that is Primary by the newest that is known here.
    pub(super) primary: Option<String>,
}

/// An operator tries this next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advice {
    FindMissing,
    WaitForSync,
    Adopt,
    ConnectOrForce,
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
            // The core says of it what this replica misses.
            CommandErrorCode::NoQuorum if kind == CommandKind::Resize => Self::WaitForSync,
            CommandErrorCode::NoQuorum => Self::FindMissing,
            CommandErrorCode::VotesLost => Self::Adopt,
            CommandErrorCode::NoUpToDateData if kind == CommandKind::Promote => {
                Self::ConnectOrForce
            }
            CommandErrorCode::NoUpToDateData => Self::ConnectUpToDate,
            CommandErrorCode::PeerPrimary if kind == CommandKind::Promote => Self::DemoteOther,
            CommandErrorCode::PeerPrimary => Self::ReopenThere,
            CommandErrorCode::Busy if kind == CommandKind::GiveUp && asked.is_primary => {
                Self::DemoteHere
            }
            CommandErrorCode::Busy if kind == CommandKind::GiveUp => Self::LookAtReplicas,
            CommandErrorCode::Busy => Self::TryAgain,
            CommandErrorCode::NoDisk if asked.has_disk => Self::AttachDisk,
            CommandErrorCode::NoDisk => Self::NodeWithDisk,
            CommandErrorCode::TimedOut => Self::LookAtWait,
            CommandErrorCode::NotPrimary => Self::OnThePrimary,
            CommandErrorCode::Size => Self::OtherSize,
            CommandErrorCode::NoSlot => Self::FreeSlots,
        }
    }

    fn text(self, asked: &Asked) -> String {
        let resource = &asked.resource;
        let primary = asked.primary.as_deref().unwrap_or("the other node");
        match self {
            Self::FindMissing => format!(
                "connect more nodes: `basalt adm explain {resource}` says who is missing, and why"
            ),
            Self::WaitForSync => format!(
                "type it on a node whose replica is up to date, or wait here: `basalt adm \
                 wait-sync {resource}`"
            ),
            Self::Adopt => "`basalt adm adopt` finds out by the disks who is up to date: take the \
                            resource down on all nodes first (docs/operate/state-lost.md); do not \
                            use `primary --force`"
                .to_owned(),
            Self::ConnectOrForce => format!(
                "connect a node with up-to-date data; `basalt adm primary --force {resource}` \
                 makes the local data the truth"
            ),
            Self::ConnectUpToDate => format!(
                "connect a node with up-to-date data first: `basalt adm status {resource}` shows \
                 what each replica has"
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
                "`basalt adm status {resource}` shows what is under way; type it again after that"
            ),
            Self::AttachDisk => format!(
                "`basalt adm status {resource}` says why the disk is out of use; `basalt adm \
                 attach {resource}` takes it, or another one, back"
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
                "the size stays as it is; `basalt adm resize --size SIZE {resource}` makes it \
                 larger, and a smaller volume is a new one to copy to"
            ),
            Self::FreeSlots => {
                "what nodes had that are gone is free after `basalt adm down` and `up` of the \
                 resource here; for more replicas than that make the metadata anew on one node \
                 after the other: `down`, `create-md --force --max-peers N`, `up`, and wait until \
                 it is UpToDate"
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
            Self::Other => "another command",
        })
    }
}

pub(super) fn failure(error: CommandError, asked: &Asked) -> Failure {
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
    Failure::new(code, error.message, Advice::of(error.code, asked).text(asked))
}

pub fn unknown_resource(name: &str) -> Failure {
    let message = format!("no resource {name:?} is up on this node");
    Failure::new(FailureCode::UnknownResource, message, "see `basalt adm status`")
}

pub(super) fn busy() -> Failure {
    let message = "another command is changing the resource";
    Failure::new(FailureCode::StateRefused, message, "try again when it is done")
}

pub fn address_failure(error: &std::io::Error) -> Failure {
    let hint = "is another daemon or service listening there, and is the address of this machine?";
    Failure::new(FailureCode::AddressInUse, error.to_string(), hint)
}

#[cfg(test)]
mod tests;
