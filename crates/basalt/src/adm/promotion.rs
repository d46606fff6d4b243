//! `primary --dry-run`: what a promotion of this node would find and give up, replica by replica,
//! as far as it can be known from here.
//!
//! The newest configuration that this node knows says who has every acknowledged write. A newer one
//! may have been chosen without it, by a majority that it does not see; that is said, not guessed.

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::role::Role;
use api::status::{ConnectionStatus, EpochStatus, ResourceStatus};
use config::host_name::is_same_host;

use crate::adm::dates::as_of;

/// The prospect in sentences, the conclusion first.
pub(crate) fn prospect(resource: &ResourceStatus, node: &str) -> Vec<String> {
    let mut sentences = vec![conclusion(resource, node)];
    if let Some(epoch) = &resource.epoch {
        let when = epoch.age_ms.map(|age_ms| format!(", as of {}", as_of(age_ms)));
        sentences.push(format!(
            "the newest configuration that is known here is epoch {} of branch {}{}: every \
             acknowledged write was on {}",
            epoch.epoch,
            epoch.branch,
            when.unwrap_or_default(),
            names(&epoch.insync)
        ));
    }
    for device in &resource.devices {
        let state = device.disk_state;
        let holds = holds(resource.epoch.as_ref(), node, state);
        sentences.push(format!("{node} (this node): {state}, {holds}"));
    }
    sentences.extend(primary_elsewhere(resource));
    sentences.extend(resource.connections.iter().map(|peer| of_peer(resource, peer)));
    sentences
}

fn conclusion(resource: &ResourceStatus, node: &str) -> String {
    if let Some(peer) = resource.connections.iter().find(|it| it.peer_role == Role::Primary) {
        return format!(
            "{} is Primary: `primary` is refused, also with --force; use `secondary` there",
            peer.name
        );
    }
    if resource.role == Role::Primary {
        return "this node is Primary already".to_owned();
    }
    let state = resource.devices.first().map(|device| device.disk_state);
    let has_quorum = resource.devices.iter().all(|device| device.quorum);
    let insync = resource.epoch.as_ref().map(|epoch| &epoch.insync);
    match (state, insync) {
        _ if has_quorum && resource.may_promote => {
            "a majority answers: `primary` does it without --force, and nothing is lost".to_owned()
        }
        (Some(DiskState::Diskless | DiskState::Failed) | None, _) => {
            "this node has no disk to go on from: --force is refused here".to_owned()
        }
        (_, Some(insync)) if insync.is_empty() => {
            "no replica has data that counts yet: with --force this one's does, and the others \
             are overwritten"
                .to_owned()
        }
        (Some(DiskState::Inconsistent), Some(insync)) if is_among(insync, node) => format!(
            "--force LOSES acknowledged writes: {} had them, and the disk that this node has now \
             is another one, or was given up. Bring one that had them back instead",
            names(insync)
        ),
        (_, Some(insync)) if is_among(insync, node) => {
            "--force goes on from this replica. It had every acknowledged write of the epoch \
             below; what a majority without this node acknowledged after it would be lost"
                .to_owned()
        }
        (_, Some(insync)) => format!(
            "--force LOSES acknowledged writes: all that were made since this replica was in sync \
             last. {} had them: bring one of these back instead",
            names(insync)
        ),
        (_, None) => {
            "this node knows no configuration of the resource: what --force would lose cannot be \
             said; bring more nodes back first"
                .to_owned()
        }
    }
}

/// A Primary that is out of reach of this node may serve clients all the same.
fn primary_elsewhere(resource: &ResourceStatus) -> Option<String> {
    let epoch = resource.epoch.as_ref()?;
    let name = epoch.primary.as_ref()?;
    let peer = resource.connections.iter().find(|it| it.name == *name)?;
    let when = epoch
        .age_ms
        .map_or_else(|| "by that one".to_owned(), |age_ms| format!("as of {}", as_of(age_ms)));
    (peer.peer_role != Role::Primary).then(|| {
        format!(
            "{name} was Primary {when}, and is out of reach: while it serves clients there, what \
             they write is not here"
        )
    })
}

fn of_peer(resource: &ResourceStatus, peer: &ConnectionStatus) -> String {
    let device = peer.peer_devices.first();
    let state = device.map_or(DiskState::DUnknown, |device| device.peer_disk_state);
    let holds = holds(resource.epoch.as_ref(), &peer.name, state);
    let differs = device.map_or(0, |device| device.out_of_sync);
    let differs = match differs {
        0 => String::new(),
        kib => format!("; {kib} KiB differ from this node's, as far as is noted"),
    };
    if peer.connection_state == ConnectionState::Connected {
        return format!("{}: {state}, {holds}{differs}", peer.name);
    }
    let reason = peer.reason.as_deref().unwrap_or("it is not connected");
    format!("{}: out of reach ({reason}); {holds}{differs}", peer.name)
}

/// What a replica has of the writes that were acknowledged.
fn holds(epoch: Option<&EpochStatus>, name: &str, state: DiskState) -> String {
    let Some(epoch) = epoch else { return "what it holds is not known".to_owned() };
    if is_among(&epoch.insync, name) && state == DiskState::Inconsistent {
        return format!(
            "it had every acknowledged write of epoch {}, on another disk",
            epoch.epoch
        );
    }
    if is_among(&epoch.insync, name) {
        return format!("it has every acknowledged write of epoch {}", epoch.epoch);
    }
    if state == DiskState::Diskless {
        return "it holds no data".to_owned();
    }
    format!("it misses writes of epoch {} or before", epoch.epoch)
}

/// The configuration names the node: it may have another disk since.
fn is_among(insync: &[String], node: &str) -> bool {
    insync.iter().any(|name| is_same_host(name, node))
}

fn names(names: &[String]) -> String {
    if names.is_empty() { "no replica".to_owned() } else { names.join(", ") }
}
