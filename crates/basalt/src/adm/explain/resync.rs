//! The sentences about copies between replicas: those under way, and those that wait, and for whom.
//!
//! A copy is promised only where nothing but time is in its way. `tests` prints each sentence in
//! each situation, and docs/operate/messages has them all.

#[cfg(test)]
mod tests;

use std::fmt;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatus, GoesOn, PeerDeviceStatus, ResourceStatus, STALLED_SECONDS,
};

use crate::adm::explain::out_of_touch;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    Nothing,
    CopyTo {
        name: String,
        volume: u16,
        mib: u64,
        seconds: u64,
    },
    CopyToAtNoKnownRate {
        name: String,
        volume: u16,
        mib: u64,
    },
    /// It has begun just now, or something is in its way.
    CopyToStandsStill {
        name: String,
        volume: u16,
        mib: u64,
    },
    FellBehind {
        name: String,
        volume: u16,
    },
    BehindHere {
        name: String,
        volume: u16,
    },
    Compared {
        name: String,
        volume: u16,
    },
    CopyHere {
        name: String,
        volume: u16,
    },
    CopyHereTimed {
        name: String,
        volume: u16,
        mib: u64,
        seconds: u64,
    },
    CopyHereStandsStill {
        name: String,
        volume: u16,
        mib: u64,
    },
    /// For its turn.
    CopyHereWaits {
        name: String,
        volume: u16,
    },
    /// Neither side is copied to the other.
    SplitBrain {
        name: String,
    },
    AwayWithData {
        name: String,
        volume: u16,
    },
    AwayWithDataAsOf {
        name: String,
        volume: u16,
        when: String,
    },
    AwayUnknown {
        name: String,
    },
    AwayWithout {
        name: String,
    },
    /// It may have gone on by itself.
    AwayOrAlone {
        name: String,
    },
    /// Nobody in reach has what could be copied.
    AwayWithNobody {
        name: String,
    },
    StaysAway {
        name: String,
    },
    MissedAsOf {
        name: String,
        when: String,
    },
    Rests {
        name: String,
    },
    WaitsForThisNode {
        name: String,
    },
    WaitsForLeader {
        name: String,
    },
    HereWaitsForPrimary {
        name: String,
        volume: u16,
    },
    HereWaitsForTouch {
        volume: u16,
    },
    HereFromOthers {
        volume: u16,
    },
    HereFromNobody {
        volume: u16,
    },
    HereWaitsForLeader {
        volume: u16,
    },
}

impl fmt::Display for Sentence {
    #[expect(clippy::too_many_lines, reason = "one flat match, a sentence each")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing is being copied, and nothing waits to be"),
            Self::CopyTo { name, volume, mib, seconds } => write!(
                f,
                "volume {volume} is being copied to {name}: {mib} MiB are left, about {seconds} s \
                 at the present rate"
            ),
            Self::CopyToAtNoKnownRate { name, volume, mib } => write!(
                f,
                "volume {volume} is being copied to {name}: {mib} MiB are left, at what rate is \
                 not known yet; ask again in a few seconds"
            ),
            Self::CopyToStandsStill { name, volume, mib } => write!(
                f,
                "volume {volume} is being copied to {name}: {mib} MiB are left, and none were \
                 copied in the last seconds; if that stays so, look at the network and at the \
                 disks of both nodes (`dmesg | tail`)"
            ),
            Self::FellBehind { name, volume } => write!(
                f,
                "{name} fell behind, and writes go on without it (protocol A): what it misses of \
                 volume {volume} is copied once it has written what it was sent"
            ),
            Self::BehindHere { name, volume } => write!(
                f,
                "volume {volume} here fell behind {name}, which goes on without it (protocol A)"
            ),
            Self::Compared { name, volume } => {
                write!(f, "volume {volume} is being compared with {name}, not copied")
            }
            Self::CopyHere { name, volume } => {
                write!(f, "volume {volume} is being copied here from {name}")
            }
            Self::CopyHereTimed { name, volume, mib, seconds } => write!(
                f,
                "volume {volume} is being copied here from {name}: {mib} MiB are left, about \
                 {seconds} s at the present rate"
            ),
            Self::CopyHereStandsStill { name, volume, mib } => write!(
                f,
                "volume {volume} is being copied here from {name}: {mib} MiB are left, and none \
                 were copied in the last seconds; if that stays so, look at the network and at the \
                 disks of both nodes (`dmesg | tail`)"
            ),
            Self::CopyHereWaits { name, volume } => write!(
                f,
                "volume {volume} here is to be copied from {name}, and waits for its turn: see data"
            ),
            Self::SplitBrain { name } => write!(
                f,
                "nothing is copied between this node and {name} until one of them gives its \
                 changes up: see peers"
            ),
            Self::AwayWithData { name, volume } => {
                write!(f, "{name} is not connected: it has what volume {volume} here misses")
            }
            Self::AwayWithDataAsOf { name, volume, when } => write!(
                f,
                "{name} is not connected: as of {when} it had what volume {volume} here misses"
            ),
            Self::AwayUnknown { name } => write!(
                f,
                "{name} is not connected: which of the two misses what is known once they are in \
                 touch again"
            ),
            Self::AwayWithout { name } => {
                write!(f, "{name} is not connected: what it misses is copied when it comes back")
            }
            Self::AwayOrAlone { name } => write!(
                f,
                "{name} is not connected: what it misses is copied when it comes back, unless it \
                 went on by itself meanwhile (`quorum off`)"
            ),
            Self::AwayWithNobody { name } => write!(
                f,
                "{name} is not connected, and no replica in reach is UpToDate: nothing is copied \
                 before one is"
            ),
            Self::StaysAway { name } => {
                write!(f, "{name} misses data, and nobody copies it, for the reason told with data")
            }
            Self::MissedAsOf { name, when } => write!(
                f,
                "{name} missed data as of {when}; a copy of it needs a quorum, or the leader, in \
                 reach"
            ),
            Self::Rests { name } => {
                write!(f, "{name} misses data, and rests before it is copied: see peers")
            }
            Self::WaitsForThisNode { name } => write!(
                f,
                "{name} misses data: this node begins to copy it when {name} asks; its turn \
                 (`resync-after`, `max-parallel-resyncs`) or its handler before-resync-target may \
                 come first, which `basalt adm status` there tells"
            ),
            Self::WaitsForLeader { name } => write!(
                f,
                "{name} misses data; a Primary copies it, or without one a Secondary that is up to \
                 date"
            ),
            Self::HereWaitsForPrimary { name, volume } => {
                write!(f, "volume {volume} here waits for {name}, the Primary, to begin its copy")
            }
            Self::HereWaitsForTouch { volume } => write!(
                f,
                "volume {volume} here misses data: it is copied once a quorum, or the leader, is \
                 in reach"
            ),
            Self::HereFromOthers { volume } => {
                write!(f, "volume {volume} here is brought up to date from the other replicas")
            }
            Self::HereFromNobody { volume } => write!(
                f,
                "volume {volume} here misses data, and no replica in reach is UpToDate: nothing is \
                 copied before one is"
            ),
            Self::HereWaitsForLeader { volume } => write!(
                f,
                "volume {volume} here misses data: a Primary copies it, or without one a Secondary \
                 that is up to date"
            ),
        }
    }
}

pub(super) fn resyncs(resource: &ResourceStatus) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    for connection in &resource.connections {
        for device in &connection.peer_devices {
            let told = resync(resource, connection, device);
            // Some are about all volumes of a peer.
            sentences.extend(told.filter(|sentence| !sentences.contains(sentence)));
        }
    }
    if sentences.is_empty() {
        sentences.push(Sentence::Nothing);
    }
    sentences
}

fn resync(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    device: &PeerDeviceStatus,
) -> Option<Sentence> {
    let (name, volume) = (connection.name.clone(), device.volume);
    if let Some(sentence) = under_way(&name, device) {
        return Some(sentence);
    }
    if connection.split_brain {
        return Some(Sentence::SplitBrain { name });
    }
    if connection.connection_state != ConnectionState::Connected {
        return (!device.peer_client).then(|| away(resource, name, volume));
    }
    if is_behind(resource, volume) {
        return missing_here(resource, connection, volume);
    }
    if device.peer_disk_state != DiskState::Inconsistent {
        return None;
    }
    if let Some(when) = out_of_touch(resource) {
        return Some(Sentence::MissedAsOf { name, when });
    }
    Some(if resource.stays_away(&name) {
        Sentence::StaysAway { name }
    } else if connection.lost_again.is_some() {
        Sentence::Rests { name }
    } else if resource.role == Role::Primary {
        Sentence::WaitsForThisNode { name }
    } else {
        Sentence::WaitsForLeader { name }
    })
}

fn under_way(name: &str, device: &PeerDeviceStatus) -> Option<Sentence> {
    let (name, volume, state) = (name.to_owned(), device.volume, device.replication_state);
    if matches!(state, ReplicationState::SyncSource | ReplicationState::PausedSyncS) {
        Some(copy_to(name, device))
    } else if state == ReplicationState::Ahead {
        Some(Sentence::FellBehind { name, volume })
    } else if state == ReplicationState::Behind {
        Some(Sentence::BehindHere { name, volume })
    } else if matches!(state, ReplicationState::VerifyS | ReplicationState::VerifyT) {
        Some(Sentence::Compared { name, volume })
    } else {
        state.has_progress().then(|| copy_here(name, device))
    }
}

/// The sentence about a copy to a peer: how much is left, and how long that takes.
fn copy_to(name: String, device: &PeerDeviceStatus) -> Sentence {
    let (volume, mib) = (device.volume, device.out_of_sync / 1024);
    match seconds_left(device) {
        _ if device.sync.is_none() => Sentence::CopyToAtNoKnownRate { name, volume, mib },
        Some(seconds) => Sentence::CopyTo { name, volume, mib, seconds },
        None => Sentence::CopyToStandsStill { name, volume, mib },
    }
}

/// The same of one to this node, where the peer says it.
fn copy_here(name: String, device: &PeerDeviceStatus) -> Sentence {
    let (volume, mib) = (device.volume, device.out_of_sync / 1024);
    match seconds_left(device) {
        _ if device.replication_state == ReplicationState::PausedSyncT => {
            Sentence::CopyHereWaits { name, volume }
        }
        _ if device.sync.is_none() => Sentence::CopyHere { name, volume },
        Some(seconds) => Sentence::CopyHereTimed { name, volume, mib, seconds },
        None => Sentence::CopyHereStandsStill { name, volume, mib },
    }
}

fn seconds_left(device: &PeerDeviceStatus) -> Option<u64> {
    let eta = device.sync.as_ref().map(|sync| sync.estimated_seconds_to_finish);
    eta.filter(|seconds| *seconds != STALLED_SECONDS)
}

/// The replica of this node lacks data.
fn is_behind(resource: &ResourceStatus, volume: u16) -> bool {
    let own = resource.devices.iter().find(|own| own.volume == volume);
    own.is_some_and(|own| matches!(own.disk_state, DiskState::Inconsistent | DiskState::Outdated))
}

/// A replica in reach has what another one could miss.
fn has_source(resource: &ResourceStatus, volume: u16) -> bool {
    let is_here = |own: &DeviceStatus| own.volume == volume;
    let here = resource.devices.iter().filter(|own| is_here(own)).map(|own| own.disk_state);
    let in_touch = resource.connections.iter();
    let in_touch = in_touch.filter(|it| it.connection_state == ConnectionState::Connected);
    let devices = in_touch.flat_map(|it| &it.peer_devices).filter(|it| it.volume == volume);
    here.chain(devices.map(|it| it.peer_disk_state)).any(|state| state == DiskState::UpToDate)
}

/// A replica that is not connected.
fn away(resource: &ResourceStatus, name: String, volume: u16) -> Sentence {
    let mut insync = resource.epoch.iter().flat_map(|epoch| &epoch.insync);
    let has_all = is_behind(resource, volume) && insync.any(|it| *it == name);
    let goes_on = resource.without_quorum.map(|it| it.goes_on);
    match out_of_touch(resource) {
        Some(when) if has_all => Sentence::AwayWithDataAsOf { name, volume, when },
        Some(_) => Sentence::AwayUnknown { name },
        None if has_all => Sentence::AwayWithData { name, volume },
        None if !has_source(resource, volume) => Sentence::AwayWithNobody { name },
        None if goes_on == Some(GoesOn::Alone) => Sentence::AwayOrAlone { name },
        None => Sentence::AwayWithout { name },
    }
}

/// This node lacks data, and this peer does not give it now.
fn missing_here(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    volume: u16,
) -> Option<Sentence> {
    let name = connection.name.clone();
    let is_in_touch = out_of_touch(resource).is_none();
    if connection.peer_role == Role::Primary && is_in_touch {
        return Some(Sentence::HereWaitsForPrimary { name, volume });
    }
    // The same for each peer: one sentence is enough.
    let of_all = || resource.connections.iter();
    let is_first = of_all().find(|it| it.connection_state == ConnectionState::Connected);
    let is_first = is_first.is_some_and(|it| it.name == name);
    let is_told = of_all().any(|it| {
        let is_given = it
            .peer_devices
            .iter()
            .any(|device| device.volume == volume && device.replication_state.has_progress());
        it.peer_role == Role::Primary && is_in_touch || is_given || it.split_brain
    });
    if !is_first || is_told {
        return None;
    }
    Some(if !is_in_touch {
        Sentence::HereWaitsForTouch { volume }
    } else if !has_source(resource, volume) {
        Sentence::HereFromNobody { volume }
    } else if resource.role == Role::Primary {
        Sentence::HereFromOthers { volume }
    } else {
        Sentence::HereWaitsForLeader { volume }
    })
}
