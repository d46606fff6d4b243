//! The sentences about the data: each disk of this node, and where every acknowledged write is.
//!
//! A split brain, a loss and a node out of touch each make a plain "every write is on" false.
//! `tests` prints each sentence in each situation, and docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::disk_state::DiskState;
use api::role::Role;
use api::status::{DeviceStatus, EpochStatus, ResourceStatus};

use crate::adm::dates::as_of;
use crate::adm::explain::{disk_failure, is_of_requests, list};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    /// A disk of this node.
    Here {
        volume: u16,
        path: String,
        why: Disk,
    },
    Complete {
        nodes: String,
        why: But,
    },
    CompleteAsOf {
        when: String,
        nodes: String,
        why: But,
    },
    AnotherDisk {
        nodes: String,
    },
    InMemory {
        nodes: String,
    },
    Following {
        nodes: String,
    },
    Lost {
        times: u32,
    },
    /// The daemon's own words.
    Told(String),
}

/// How the disk of a volume is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Disk {
    UpToDate,
    ByConfiguration,
    /// A request failed; in the words of the daemon.
    Failing(String),
    FailedSince(String),
    Failed,
    OutOfUse,
    /// A replica is whole or not there: the disk of this volume of it failed.
    OutOfUseWith(u16),
    Inconsistent,
    Outdated,
    Consistent,
    Changing(DiskState),
}

/// Writes of which it is not said that they are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum But {
    None,
    /// They were lost, or are given up.
    Told,
    /// Another node took them in a split brain that goes on.
    OtherSide,
    OtherSideAndTold,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here { volume, path, why } => {
                write!(f, "volume {volume} here: ")?;
                why.write(path, f)
            }
            Self::Complete { nodes, why } => {
                write!(f, "{} is on {nodes}{}", why.writes(), why.exceptions())
            }
            Self::CompleteAsOf { when, nodes, why } => write!(
                f,
                "as of {when} {} was on {nodes}{}; since then neither a quorum nor the leader is \
                 in reach of this node, and writes may go on without it",
                why.writes(),
                why.exceptions()
            ),
            Self::AnotherDisk { nodes } => write!(
                f,
                "the disk of {nodes} that had every acknowledged write is in use no more: it \
                 failed, was detached, given up or made anew"
            ),
            Self::InMemory { nodes } => {
                write!(f, "of the newest, {nodes} may have some in memory alone (protocol B)")
            }
            Self::Following { nodes } => write!(
                f,
                "the newest may not have come to {nodes} yet, which no answer waits for (protocol \
                 A)"
            ),
            Self::Lost { times } => {
                f.write_str("acknowledged writes may have been lost ")?;
                match times {
                    1 => f.write_str("once")?,
                    many => write!(f, "{many} times")?,
                }
                f.write_str(
                    ": by `primary --force`, without power at all replicas, or with a restart \
                     under protocol B; check what is on the volume",
                )
            }
            Self::Told(text) => f.write_str(text),
        }
    }
}

impl Disk {
    fn write(&self, path: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UpToDate => write!(f, "{path} is up to date"),
            Self::ByConfiguration => {
                f.write_str("there is no disk by configuration; it is used over the network")
            }
            Self::Failing(failure) => write!(f, "{path} is going out of use: {failure}"),
            Self::FailedSince(failure) => write!(f, "{path} is out of use: {failure}"),
            Self::Failed => write!(f, "{path} answered with an error and is going out of use"),
            Self::OutOfUse => {
                write!(f, "{path} is out of use, by `detach` or an error before the daemon started")
            }
            Self::OutOfUseWith(volume) => {
                write!(f, "{path} is out of use because the disk of volume {volume} failed")
            }
            Self::Inconsistent => {
                write!(f, "{path} is new or in the middle of a resync: nobody may read it")
            }
            Self::Outdated => write!(f, "{path} misses writes: see resync"),
            Self::Consistent => {
                write!(f, "{path} is whole; whether it is the newest is for a quorum to say")
            }
            Self::Changing(state) => write!(f, "{path} is {state}"),
        }
    }

    /// `failed` is another volume of the replica, whose disk failed.
    fn of(device: &DeviceStatus, failed: Option<u16>) -> Self {
        let failure = device.disk_failure.as_ref().map(disk_failure);
        match (device.disk_state, failure) {
            (DiskState::Failed, Some(failure)) => Self::Failing(failure),
            (_, Some(failure)) => Self::FailedSince(failure),
            (DiskState::UpToDate, None) => Self::UpToDate,
            (DiskState::Diskless, None) if device.client => Self::ByConfiguration,
            (DiskState::Diskless, None) => failed.map_or(Self::OutOfUse, Self::OutOfUseWith),
            (DiskState::Failed, None) => Self::Failed,
            (DiskState::Inconsistent, None) => Self::Inconsistent,
            (DiskState::Outdated, None) => Self::Outdated,
            (DiskState::Consistent, None) => Self::Consistent,
            (
                state @ (DiskState::Attaching
                | DiskState::Detaching
                | DiskState::Negotiating
                | DiskState::DUnknown),
                None,
            ) => Self::Changing(state),
        }
    }
}

impl But {
    fn of(resource: &ResourceStatus, epoch: &EpochStatus) -> Self {
        let is_told = epoch.losses > 0 || epoch.awaits_reopen;
        match (resource.connections.iter().any(|peer| peer.split_brain), is_told) {
            (false, false) => Self::None,
            (false, true) => Self::Told,
            (true, false) => Self::OtherSide,
            (true, true) => Self::OtherSideAndTold,
        }
    }

    fn writes(self) -> &'static str {
        match self {
            Self::None | Self::Told => "every acknowledged write",
            Self::OtherSide | Self::OtherSideAndTold => {
                "every write that was acknowledged on this side"
            }
        }
    }

    fn exceptions(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Told => ", but for those that are told lost or given up below",
            Self::OtherSide => "; what another node acknowledged meanwhile is not",
            Self::OtherSideAndTold => {
                ", but for those that are told lost or given up below; what another node \
                 acknowledged meanwhile is not"
            }
        }
    }
}

pub(super) fn data(resource: &ResourceStatus) -> Vec<Sentence> {
    let failed = resource.devices.iter().find(|device| device.disk_failure.is_some());
    let failed = failed.map(|device| device.volume);
    let here = |device: &DeviceStatus| {
        let path = device.backing_dev.as_deref().unwrap_or("its disk").to_owned();
        Sentence::Here { volume: device.volume, path, why: Disk::of(device, failed) }
    };
    let mut sentences: Vec<_> = resource.devices.iter().map(here).collect();
    if let Some(epoch) = resource.epoch.as_ref().filter(|epoch| !epoch.insync.is_empty()) {
        sentences.extend(holders(resource, epoch));
    }
    let losses = resource.epoch.as_ref().map_or(0, |epoch| epoch.losses);
    sentences.extend((losses > 0).then_some(Sentence::Lost { times: losses }));
    // The other answers say nothing of these reasons.
    let is_new = |it: &&String| !it.starts_with("no quorum") && !is_of_requests(it);
    sentences.extend(resource.reasons.iter().filter(is_new).cloned().map(Sentence::Told));
    sentences
}

/// Where the data is, by the newest configuration that is known here.
fn holders(resource: &ResourceStatus, epoch: &EpochStatus) -> Vec<Sentence> {
    let with = |letter: &str| -> Vec<&str> {
        let connections = resource.connections.iter();
        let chosen = connections.filter(|it| it.protocol.as_deref() == Some(letter));
        chosen.map(|it| it.name.as_str()).collect()
    };
    let is_primary = resource.role == Role::Primary;
    let following = if is_primary { with("A") } else { Vec::new() };
    let by_receipt = if is_primary { with("B") } else { Vec::new() };
    let complete = epoch.insync.iter().map(String::as_str);
    let complete = complete.filter(|name| !following.contains(name));
    let (anew, complete): (Vec<&str>, Vec<&str>) =
        complete.partition(|name| has_another_replica(resource, name));
    let mut sentences = Vec::new();
    if !complete.is_empty() {
        let (nodes, why) = (list(&complete), But::of(resource, epoch));
        sentences.push(match epoch.age_ms.map(as_of) {
            Some(when) => Sentence::CompleteAsOf { when, nodes, why },
            None => Sentence::Complete { nodes, why },
        });
    }
    if !anew.is_empty() {
        sentences.push(Sentence::AnotherDisk { nodes: list(&anew) });
    }
    if !by_receipt.is_empty() {
        sentences.push(Sentence::InMemory { nodes: list(&by_receipt) });
    }
    if !following.is_empty() {
        sentences.push(Sentence::Following { nodes: list(&following) });
    }
    sentences
}

/// The newest configuration has it in sync, and its disk is not the one that this is said of.
fn has_another_replica(resource: &ResourceStatus, name: &str) -> bool {
    let is_another = |state| matches!(state, DiskState::Inconsistent | DiskState::Diskless);
    match resource.connections.iter().find(|it| it.name == name) {
        Some(peer) => peer.peer_devices.iter().any(|device| is_another(device.peer_disk_state)),
        None => resource.devices.iter().any(|device| is_another(device.disk_state)),
    }
}
