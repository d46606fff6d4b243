//! `explain`: the state of a resource in sentences, with what to do about it.
//!
//! Everything said here is in the status too; this is the reading of it, for one who does not know
//! which figure matters. Sentences are grouped by the question that they answer; a question whose
//! answer is that all is well gets one sentence.
//!
//! Sentences are rows of an enum for each question (`explain/role.rs` and `explain/quorum.rs`;
//! others are to follow): docs/operate/messages has each of them beside the situations that print
//! it.

mod role;
mod quorum;
#[cfg(test)]
#[path = "../../../engine/src/shard/rows.rs"]
pub(crate) mod rows;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::latency::LatencyHistogram;
use api::replication_state::ReplicationState;
use api::role::Role;
use api::status::{
    ConnectionStatus, DeviceStatus, DiskFailure, EpochStatus, Holder, PathStatus, PeerDeviceStatus,
    REQUESTS_FAIL, ResourceStatus, STALLED_SECONDS,
};
use serde::Serialize;

use crate::adm::dates::as_of;
use crate::called;

/// A question and the sentences that answer it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Answered {
    pub(crate) about: &'static str,
    pub(crate) sentences: Vec<String>,
}

pub(crate) fn explain(resource: &ResourceStatus) -> Vec<Answered> {
    let about = |about, sentences: Vec<String>| Answered { about, sentences };
    let mut all = vec![about("role", words(&role::role(resource)))];
    if resource.devices.is_empty() {
        all = vec![about("state", resource.reasons.clone())];
    } else {
        all.push(about("quorum", words(&quorum::quorum(resource))));
        all.push(about("data", data(resource)));
        all.push(about("resync", resyncs(resource)));
        all.push(about("peers", peers(resource)));
        all.push(about("open", openers(resource)));
    }
    all.push(about("options", options(resource)));
    for sentence in all.iter_mut().flat_map(|answered| &mut answered.sentences) {
        *sentence = called::in_its_words(sentence);
    }
    all
}

fn words(sentences: &[impl ToString]) -> Vec<String> {
    sentences.iter().map(ToString::to_string).collect()
}

/// The answers as text, a paragraph for each question.
pub(crate) fn text(resource: &ResourceStatus) -> String {
    let mut text = format!("{}\n", resource.name);
    for Answered { about, sentences } in explain(resource) {
        for (index, sentence) in sentences.iter().enumerate() {
            let label = if index == 0 { format!("{about}:") } else { String::new() };
            text += &format!("  {label:<9}{sentence}\n");
        }
    }
    text.push('\n');
    text
}

/// Since when what this node knows of the others is old; `None` where it is of now.
fn out_of_touch(resource: &ResourceStatus) -> Option<String> {
    resource.epoch.as_ref()?.age_ms.map(as_of)
}

/// A reason of the daemon that is about requests of clients now.
fn is_of_requests(reason: &str) -> bool {
    reason.starts_with(REQUESTS_FAIL)
}

fn data(resource: &ResourceStatus) -> Vec<String> {
    let mut sentences = Vec::new();
    for device in &resource.devices {
        sentences.push(format!("volume {} here: {}", device.volume, disk(device)));
    }
    if let Some(epoch) = &resource.epoch
        && !epoch.insync.is_empty()
    {
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
        let lists = (list(&complete), list(&anew));
        if !complete.is_empty() {
            sentences.push(complete_at(resource, epoch, &lists.0));
        }
        if !anew.is_empty() {
            sentences.push(format!(
                "the disk of {} that had every acknowledged write is in use no more: it was made \
                 anew, failed or was given up",
                lists.1
            ));
        }
        if !by_receipt.is_empty() {
            sentences.push(format!(
                "of the newest, {} may have some in memory alone (protocol B)",
                list(&by_receipt)
            ));
        }
        if !following.is_empty() {
            sentences.push(format!(
                "the newest may not have come to {} yet, which no answer waits for (protocol A)",
                list(&following)
            ));
        }
    }
    if let Some(epoch) = &resource.epoch
        && epoch.losses > 0
    {
        let times =
            if epoch.losses == 1 { "once".to_owned() } else { format!("{} times", epoch.losses) };
        sentences.push(format!(
            "acknowledged writes may have been lost {times}: by `primary --force`, without power \
             at all replicas, or with a restart under protocol B; check what is on the volume"
        ));
    }
    // What the sentences above did not say.
    let is_new = |it: &&String| !it.starts_with("no quorum") && !is_of_requests(it);
    sentences.extend(resource.reasons.iter().filter(is_new).cloned());
    sentences
}

/// One sentence says where all of the data is.
fn complete_at(resource: &ResourceStatus, epoch: &EpochStatus, nodes: &str) -> String {
    match epoch.age_ms {
        Some(age_ms) => format!(
            "as of {} every acknowledged write was on {nodes}; since then neither a quorum nor who \
             leads is in reach of this node, and writes may go on without it",
            as_of(age_ms)
        ),
        None if is_one_side(resource) => format!(
            "every write that was acknowledged on this side is on {nodes}; what another node \
             acknowledged meanwhile is not"
        ),
        None if epoch.losses > 0 => format!(
            "every acknowledged write is on {nodes}, but for those that are told lost below"
        ),
        None => format!("every acknowledged write is on {nodes}"),
    }
}

/// Another node took writes of its own, or may have: they are not part of the data here.
fn is_one_side(resource: &ResourceStatus) -> bool {
    let awaits_reopen = resource.epoch.as_ref().is_some_and(|epoch| epoch.awaits_reopen);
    awaits_reopen || resource.connections.iter().any(|peer| peer.split_brain)
}

/// The newest configuration has it in sync, and its disk is not the one that this is said of.
fn has_another_replica(resource: &ResourceStatus, name: &str) -> bool {
    let is_another = |state| matches!(state, DiskState::Inconsistent | DiskState::Diskless);
    match resource.connections.iter().find(|it| it.name == name) {
        Some(peer) => peer.peer_devices.iter().any(|device| is_another(device.peer_disk_state)),
        None => resource.devices.iter().any(|device| is_another(device.disk_state)),
    }
}

fn disk(device: &DeviceStatus) -> String {
    let path = device.backing_dev.as_deref().unwrap_or("its disk");
    if let Some(failure) = &device.disk_failure {
        let is_going = device.disk_state == DiskState::Failed;
        let state = if is_going { "is going out of use" } else { "is out of use" };
        return format!("{path} {state}: {}", disk_failure(failure));
    }
    match device.disk_state {
        DiskState::UpToDate => format!("{path} is up to date"),
        DiskState::Diskless if device.client => {
            "there is no disk by configuration; it is used over the network".to_owned()
        }
        DiskState::Diskless => {
            format!("{path} is out of use, by `detach` or an error before the daemon started")
        }
        DiskState::Failed => format!("{path} answered with an error and is going out of use"),
        DiskState::Inconsistent => {
            format!("{path} is new or in the middle of a resync: nobody may read it")
        }
        DiskState::Outdated => format!("{path} misses writes; a resync brings them"),
        DiskState::Consistent => {
            format!("{path} is whole; whether it is the newest is for a quorum to say")
        }
        DiskState::Attaching
        | DiskState::Detaching
        | DiskState::Negotiating
        | DiskState::DUnknown => format!("{path} is {}", device.disk_state),
    }
}

/// One sentence tells which request failed, on which disk, when, and what to look at.
pub(crate) fn disk_failure(failure: &DiskFailure) -> String {
    let DiskFailure { disk, request, error, hint, age_ms } = failure;
    format!("{request} failed at {} ({disk}): {error}; {hint}", as_of(*age_ms))
}

/// The same of the disk of a peer, as the peer says.
pub(crate) fn disk_failure_at(name: &str, failure: &DiskFailure) -> String {
    let DiskFailure { request, error, age_ms, .. } = failure;
    format!("{request} failed at {}, on {name}: {error}", as_of(*age_ms))
}

fn resyncs(resource: &ResourceStatus) -> Vec<String> {
    let mut sentences = Vec::new();
    for connection in &resource.connections {
        for device in &connection.peer_devices {
            sentences.extend(resync(resource, connection, device));
        }
    }
    if sentences.is_empty() {
        sentences.push("nothing is being copied, and nothing waits to be".to_owned());
    }
    sentences
}

fn resync(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    device: &PeerDeviceStatus,
) -> Option<String> {
    let (name, volume) = (&connection.name, device.volume);
    if matches!(
        device.replication_state,
        ReplicationState::SyncSource | ReplicationState::PausedSyncS
    ) {
        return Some(copy_to(name, device));
    }
    if device.replication_state == ReplicationState::Ahead {
        return Some(format!(
            "{name} fell behind, and writes go on without it (protocol A): what it misses of \
             volume {volume} is copied once it has written what it was sent"
        ));
    }
    if device.replication_state == ReplicationState::Behind {
        return Some(format!(
            "volume {volume} here fell behind {name}, which goes on without it (protocol A)"
        ));
    }
    if matches!(device.replication_state, ReplicationState::VerifyS | ReplicationState::VerifyT) {
        return Some(format!("volume {volume} is being compared with {name}, not copied"));
    }
    if device.replication_state.has_progress() {
        return Some(format!(
            "volume {volume} is being copied here from {name}{}",
            device.sync.as_ref().map(|_| rest_of(device)).unwrap_or_default()
        ));
    }
    let own = resource.devices.iter().find(|own| own.volume == volume);
    let is_behind = own
        .is_some_and(|own| matches!(own.disk_state, DiskState::Inconsistent | DiskState::Outdated));
    let when = out_of_touch(resource);
    if connection.connection_state != ConnectionState::Connected {
        let insync = resource.epoch.iter().flat_map(|epoch| &epoch.insync);
        let has_all = insync.into_iter().any(|it| it == name);
        let sentence = match when {
            Some(when) if is_behind && has_all => format!(
                "{name} is not connected: as of {when} it had what volume {volume} here misses"
            ),
            Some(_) => format!(
                "{name} is not connected: which of the two misses what is known once they are in \
                 touch again"
            ),
            None if is_behind && has_all => {
                format!("{name} is not connected: it has what volume {volume} here misses")
            }
            None => format!("{name} is not connected: what it misses is copied when it comes back"),
        };
        return (!device.peer_client).then_some(sentence);
    }
    if is_behind {
        return missing_here(resource, connection, volume);
    }
    if device.peer_disk_state != DiskState::Inconsistent {
        return None;
    }
    if let Some(when) = when {
        return Some(format!(
            "{name} missed data as of {when}; a copy of it needs a quorum, or who leads, in reach"
        ));
    }
    if connection.lost_again.is_some() {
        return Some(format!("{name} misses data, and rests before it is copied: see peers"));
    }
    Some(if resource.role == Role::Primary {
        format!("{name} waits for this node to begin its copy")
    } else {
        format!(
            "{name} misses data; a Primary copies it, or without one a Secondary that is up to date"
        )
    })
}

/// What is left of a copy to a peer.
fn copy_to(name: &str, device: &PeerDeviceStatus) -> String {
    let volume = device.volume;
    format!("volume {volume} is being copied to {name}{}", rest_of(device))
}

fn rest_of(device: &PeerDeviceStatus) -> String {
    let mib = device.out_of_sync / 1024;
    let eta = device.sync.as_ref().map(|sync| sync.estimated_seconds_to_finish);
    let rest = match eta.filter(|seconds| *seconds != STALLED_SECONDS) {
        Some(seconds) => format!("about {seconds} s at the present rate"),
        None => "at what rate is not known yet; ask again in a few seconds".to_owned(),
    };
    format!(": {mib} MiB are left, {rest}")
}

/// This node lacks data, and this peer does not give it now.
fn missing_here(
    resource: &ResourceStatus,
    connection: &ConnectionStatus,
    volume: u16,
) -> Option<String> {
    let name = &connection.name;
    let is_in_touch = out_of_touch(resource).is_none();
    if connection.peer_role == Role::Primary && is_in_touch {
        return Some(format!(
            "volume {volume} here waits for {name}, the Primary, to begin its copy"
        ));
    }
    // The same for each peer: one sentence is enough.
    let of_all = || resource.connections.iter();
    let is_first = of_all().find(|it| it.connection_state == ConnectionState::Connected);
    let is_first = is_first.is_some_and(|it| it.name == *name);
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
        format!(
            "volume {volume} here misses data: it is copied once a quorum, or who leads, is in \
             reach"
        )
    } else if resource.role == Role::Primary {
        format!("volume {volume} here is brought up to date from the other replicas")
    } else {
        format!(
            "volume {volume} here misses data: a Primary copies it, or without one a Secondary \
             that is up to date"
        )
    })
}

fn peers(resource: &ResourceStatus) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    for connection in &resource.connections {
        let name = &connection.name;
        let state = connection.connection_state;
        if connection.split_brain {
            sentences.push(connection.reason.clone().unwrap_or_default());
        } else if state == ConnectionState::StandAlone {
            let target = format!("{}:{name}", resource.name);
            sentences.push(format!(
                "{name} is parted from this node: `basalt adm connect {target}` ends that{}",
                connection.reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"))
            ));
        } else if state != ConnectionState::Connected {
            let reason = connection.reason.as_deref().unwrap_or("no reason is known");
            let since = down_since(connection).map(|when| format!(", since {when}"));
            sentences.push(format!("{name} is {state}{}: {reason}", since.unwrap_or_default()));
        }
        sentences.extend(lost_again(resource, connection));
        // The only path has the reason of the connection, which is told already.
        let is_told = state != ConnectionState::Connected && connection.paths.len() == 1;
        let dead = connection.paths.iter().filter(|path| !path.established && !is_told);
        sentences.extend(dead.map(|path| dead_path(connection, path)));
    }
    sentences.extend(slowest(resource));
    if sentences.is_empty() {
        sentences.push("all are connected".to_owned());
    }
    sentences
}

/// Small packets pass, and so it connects; what holds everybody up each time is more than that.
fn lost_again(resource: &ResourceStatus, connection: &ConnectionStatus) -> Option<String> {
    let known = connection.lost_again.as_ref()?;
    let name = &connection.name;
    let path =
        connection.paths.iter().find(|path| path.in_use).or_else(|| connection.paths.first())?;
    Some(format!(
        "{name} rests for {} s{}: {} times in a row its connection broke soon after it returned, \
         and held writes up; often a network on the way loses large packets (MTU): {}; \
         `basalt adm disconnect {}:{name}`, then `connect`, ends the rest",
        known.rest_ms.div_ceil(1000),
        if resource.suspended { "" } else { ", and writes go on without it" },
        known.losses,
        path.remote_host.how_to_see_large_packets(),
        resource.name
    ))
}

/// What is known of a path that does not work, and where to look.
fn dead_path(connection: &ConnectionStatus, path: &PathStatus) -> String {
    let (name, here, there) = (&connection.name, &path.this_host, &path.remote_host);
    let since = path.down_ms.map_or_else(String::new, |ms| format!(" for {} s", ms / 1000));
    let reason = path.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    let advice = if connection.paths.iter().any(|other| other.in_use) {
        "; another path carries; check cable, address and firewall of this one, it is tried again \
         by itself"
    } else {
        ""
    };
    format!(
        "the path from {}:{} to {name} at {}:{} is down{since}{reason}{advice}",
        here.address, here.port, there.address, there.port
    )
}

/// Since when no link to the peer is up, where that is known.
pub(crate) fn down_since(connection: &ConnectionStatus) -> Option<String> {
    let is_down = connection.connection_state != ConnectionState::Connected;
    connection.down_ms.filter(|_| is_down).map(as_of)
}

/// The peer that sets the pace of writes, where the times are known.
fn slowest(resource: &ResourceStatus) -> Option<String> {
    let in_touch = resource.connections.iter();
    let in_touch = in_touch.filter(|it| it.connection_state == ConnectionState::Connected);
    let timed = in_touch.filter_map(|connection| {
        let mut devices = connection.peer_devices.iter();
        let latency = devices.find_map(|device| device.ack_latency.as_ref())?;
        Some((mean_us(latency)?, &connection.name))
    });
    let mut timed: Vec<_> = timed.collect();
    timed.sort_unstable();
    let (us, name) = timed.last()?;
    let others: Vec<String> =
        timed.iter().rev().skip(1).map(|(us, name)| format!("{name} {us} us")).collect();
    let others = if others.is_empty() { String::new() } else { format!("; {}", others.join(", ")) };
    Some(format!("{name} acknowledges slowest, after {us} us on average{others}"))
}

fn mean_us(latency: &LatencyHistogram) -> Option<u64> {
    latency.sum_us.checked_div(latency.count())
}

fn openers(resource: &ResourceStatus) -> Vec<String> {
    let mut sentences = Vec::new();
    for device in &resource.devices {
        for holder in &device.holders {
            let requests = match holder.requests {
                0 => "idle".to_owned(),
                1 => "1 request in flight".to_owned(),
                many => format!("{many} requests in flight"),
            };
            sentences.push(format!("volume {}: {}, {requests}", device.volume, who(holder)));
        }
    }
    if sentences.is_empty() {
        sentences.push("no client of this node has it open".to_owned());
    }
    sentences
}

fn who(holder: &Holder) -> String {
    match (&holder.address, holder.pid, &holder.command) {
        (Some(address), ..) => format!("a client at {address}"),
        (None, Some(pid), Some(command)) => format!("{command} (process {pid})"),
        (None, Some(pid), None) => format!("process {pid}, which ended or is hidden"),
        (None, None, _) => "a client that is not known".to_owned(),
    }
}

fn options(resource: &ResourceStatus) -> Vec<String> {
    if resource.not_in_effect.is_empty() {
        return vec!["all that are set are in effect".to_owned()];
    }
    resource.not_in_effect.clone()
}

fn list<N: AsRef<str>>(names: &[N]) -> String {
    match names {
        [] => "nobody".to_owned(),
        [only] => only.as_ref().to_owned(),
        [rest @ .., last] => {
            let rest: Vec<&str> = rest.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", rest.join(", "), last.as_ref())
        }
    }
}
