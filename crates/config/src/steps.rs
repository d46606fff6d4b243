//! What lies between two configurations of a node: the commands of `drbdsetup` and `drbdmeta` that
//! would lead from the one that runs to the one that is wanted, in the order in which drbdadm
//! gives them. They say exactly what differs; carrying them out is up to the daemon.

use std::net::SocketAddr;

use crate::model::{Disk, MetaDisk, Peer, Resource, Volume};
use crate::options::value::Value;
use crate::options::{SECRET_OPTION, spec_of};
use crate::side::{Options, Side};

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub text: String,
    pub reach: Reach,
}

/// What a step disturbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing: it sets options that are read when they are needed, or that change nothing.
    Options,
    /// Nothing but the member that comes or goes.
    Members,
    /// Nothing but a connection over a path that goes.
    Paths,
    /// Nothing: a volume comes beside those that are there.
    Volumes,
    /// Disks or options that a running resource does not change.
    Structure,
}

/// Options of a resource that a running daemon takes over at once.
const LIVE_OPTIONS: [&str; 36] = [
    "after-sb-0pri",
    "after-sb-1pri",
    "after-sb-2pri",
    "allow-remote-read",
    "auto-promote",
    "auto-promote-timeout",
    "block-size",
    "c-max-rate",
    "congestion-extents",
    "congestion-fill",
    "connect-int",
    "cpu-mask",
    "cram-hmac-alg",
    "discard-granularity",
    "disk-timeout",
    "fencing",
    "ko-count",
    "load-balance-paths",
    "on-congestion",
    "on-io-error",
    "on-no-data-accessible",
    "on-no-quorum",
    "peer-tiebreaker",
    "ping-int",
    "ping-timeout",
    "protocol",
    "quorum",
    "quorum-minimum-redundancy",
    "rcvbuf-size",
    "read-balancing",
    "resync-after",
    "shared-secret",
    "size",
    "sndbuf-size",
    "timeout",
    "transport",
];

/// What is left to later where a resource comes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    pub disks: bool,
    pub connections: bool,
}

/// The steps from `running` to `wanted` on the node `node`; none if nothing differs.
#[must_use]
pub fn steps(running: Option<&Resource>, wanted: &Resource, node: &str) -> Vec<Step> {
    steps_but(running, wanted, node, Skipped::default())
}

/// The same, without what is left to later.
#[must_use]
pub fn steps_but(
    running: Option<&Resource>,
    wanted: &Resource,
    node: &str,
    skipped: Skipped,
) -> Vec<Step> {
    let mut steps = Vec::new();
    let Some(new) = Side::of(wanted, node) else { return steps };
    match running.and_then(|running| Side::of(running, node)) {
        None => up(&new, skipped, &mut steps),
        Some(old) if old.host.node_id == new.host.node_id => adjust(&old, &new, &mut steps),
        Some(_) => {
            structure(&mut steps, format!("drbdsetup down {}", wanted.name));
            up(&new, skipped, &mut steps);
        }
    }
    steps
}

/// The steps that take the disks of the node into use.
#[must_use]
pub fn attach_steps(resource: &Resource, node: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let Some(side) = Side::of(resource, node) else { return steps };
    side.host.volumes.iter().for_each(|volume| attach(&side, volume, &mut steps));
    steps
}

/// The step that connects to a peer.
#[must_use]
pub fn connect_step(resource: &str, peer: u8) -> Step {
    Step { text: format!("drbdsetup connect {resource} {peer}"), reach: Reach::Structure }
}

fn structure(steps: &mut Vec<Step>, text: String) {
    steps.push(Step { text, reach: Reach::Structure });
}

fn set_reach(steps: &mut [Step], reach: Reach) {
    steps.iter_mut().for_each(|step| step.reach = reach);
}

fn up(new: &Side<'_>, skipped: Skipped, steps: &mut Vec<Step>) {
    let name = &new.resource.name;
    let options = option_words(&new.resource_options());
    structure(steps, format!("drbdsetup new-resource {name} {}{options}", new.host.node_id));
    for volume in &new.host.volumes {
        new_minor(name, volume, steps);
    }
    new.peers.iter().for_each(|peer| new_peer(new, peer, steps));
    new.peers.iter().for_each(|peer| new_paths(new, peer, &[], steps));
    for peer in &new.peers {
        for volume in &new.host.volumes {
            let options = option_words(&new.peer_device_options(peer, volume.number));
            if !options.is_empty() {
                let (id, number) = (peer.node_id, volume.number);
                let words = format!("peer-device-options {name} {id} {number}{options}");
                structure(steps, format!("drbdsetup {words}"));
            }
        }
    }
    if !skipped.disks {
        new.host.volumes.iter().for_each(|volume| attach(new, volume, steps));
    }
    if !skipped.connections {
        steps.extend(new.peers.iter().map(|peer| connect_step(name, peer.node_id)));
    }
}

fn adjust(old: &Side<'_>, new: &Side<'_>, steps: &mut Vec<Step>) {
    let name = &new.resource.name;
    for peer in &old.peers {
        if new.peer(peer.node_id).is_none() {
            for verb in ["disconnect", "del-peer"] {
                let text = format!("drbdsetup {verb} {name} {}", peer.node_id);
                steps.push(Step { text, reach: Reach::Members });
            }
        }
    }
    for volume in &old.host.volumes {
        let kept = new.host.volume(volume.number);
        let is_gone = kept.is_none_or(|kept| minor(kept) != minor(volume));
        if volume.disk.is_some() && kept.is_none_or(|kept| is_gone || kept.disk != volume.disk) {
            structure(steps, format!("drbdsetup detach {}", minor(volume)));
        }
        if is_gone {
            structure(steps, format!("drbdsetup del-minor {}", minor(volume)));
        }
    }
    // The first volume is what the replica is of.
    let first = |side: &Side<'_>| side.host.volumes.iter().map(|volume| volume.number).min();
    let is_first_kept = first(old) == first(new);
    let comes = |volume: &Volume| is_first_kept && old.host.volume(volume.number).is_none();
    let options = new.resource_options();
    if options != old.resource_options() {
        let text =
            format!("drbdsetup resource-options {name} --set-defaults{}", option_words(&options));
        steps.push(Step { text, reach: reach(&old.resource_options(), &options) });
    }
    for volume in &new.host.volumes {
        let before = old.host.volume(volume.number);
        if before.is_none_or(|before| minor(before) != minor(volume)) {
            let known = steps.len();
            new_minor(name, volume, steps);
            if comes(volume) {
                set_reach(&mut steps[known..], Reach::Volumes);
            }
        }
    }
    new.peers.iter().for_each(|peer| adjust_peer(old, new, peer, steps));
    for volume in &new.host.volumes {
        let before = old.host.volume(volume.number);
        if before.is_none_or(|before| minor(before) != minor(volume) || before.disk != volume.disk)
        {
            let known = steps.len();
            attach(new, volume, steps);
            if comes(volume) {
                set_reach(&mut steps[known..], Reach::Volumes);
            }
        } else if let (Some(_), options) = (&volume.disk, new.disk_options(volume)) {
            let before = old.disk_options(before.unwrap_or(volume));
            if before != options {
                let words = option_words(&options);
                let text =
                    format!("drbdsetup disk-options {} --set-defaults{words}", minor(volume));
                steps.push(Step { text, reach: reach(&before, &options) });
            }
        }
    }
    for peer in &new.peers {
        if old.peer(peer.node_id).is_none() {
            let text = format!("drbdsetup connect {name} {}", peer.node_id);
            steps.push(Step { text, reach: Reach::Members });
        }
    }
}

/// What differs about a peer: its name, addresses and options.
fn adjust_peer(old: &Side<'_>, new: &Side<'_>, peer: &Peer, steps: &mut Vec<Step>) {
    let (name, id) = (&new.resource.name, peer.node_id);
    let Some(before) = old.peer(id) else {
        let first = steps.len();
        new_peer(new, peer, steps);
        new_paths(new, peer, &[], steps);
        adjust_peer_devices(None, new, peer, steps);
        return steps[first..].iter_mut().for_each(|step| step.reach = Reach::Members);
    };
    for path in before.paths.iter().filter(|path| !peer.paths.contains(path)) {
        let text = format!("drbdsetup del-path {name} {id} {}", path_text(*path));
        steps.push(Step { text, reach: Reach::Paths });
    }
    let first = steps.len();
    new_paths(new, peer, &before.paths, steps);
    steps[first..].iter_mut().for_each(|step| step.reach = Reach::Paths);
    let options = new.net_options(peer);
    if options != old.net_options(before) || before.name != peer.name {
        let words = option_words(&options);
        let text = format!(
            "drbdsetup net-options {name} {id} --set-defaults --_name={}{words}",
            peer.name
        );
        let is_renamed = before.name != peer.name;
        let reach =
            if is_renamed { Reach::Structure } else { reach(&old.net_options(before), &options) };
        steps.push(Step { text, reach });
    }
    adjust_peer_devices(Some((old, before)), new, peer, steps);
}

fn adjust_peer_devices(
    old: Option<(&Side<'_>, &Peer)>,
    new: &Side<'_>,
    peer: &Peer,
    steps: &mut Vec<Step>,
) {
    for volume in &new.host.volumes {
        let options = new.peer_device_options(peer, volume.number);
        let before = match old {
            Some((side, peer)) => side.peer_device_options(peer, volume.number),
            None => Options::new(),
        };
        if before != options {
            let (name, id, number) = (&new.resource.name, peer.node_id, volume.number);
            let words = option_words(&options);
            let text =
                format!("drbdsetup peer-device-options {name} {id} {number} --set-defaults{words}");
            steps.push(Step { text, reach: reach(&before, &options) });
        }
    }
}

fn new_minor(name: &str, volume: &Volume, steps: &mut Vec<Step>) {
    structure(steps, format!("drbdsetup new-minor {name} {} {}", minor(volume), volume.number));
}

fn new_peer(side: &Side<'_>, peer: &Peer, steps: &mut Vec<Step>) {
    let options = option_words(&side.net_options(peer));
    let (name, id) = (&side.resource.name, peer.node_id);
    structure(steps, format!("drbdsetup new-peer {name} {id} --_name={}{options}", peer.name));
}

fn new_paths(
    side: &Side<'_>,
    peer: &Peer,
    known: &[(SocketAddr, SocketAddr)],
    steps: &mut Vec<Step>,
) {
    for path in peer.paths.iter().filter(|path| !known.contains(path)) {
        let (name, id) = (&side.resource.name, peer.node_id);
        structure(steps, format!("drbdsetup new-path {name} {id} {}", path_text(*path)));
    }
}

fn attach(side: &Side<'_>, volume: &Volume, steps: &mut Vec<Step>) {
    let Some(disk) = &volume.disk else { return };
    let minor = minor(volume);
    let (meta, in_metadata, in_attach) = meta_words(disk);
    let options = option_words(&side.disk_options(volume));
    let (data, meta) = (escaped(&disk.path), escaped(meta));
    structure(steps, format!("drbdmeta {minor} v09 {meta} {in_metadata} apply-al"));
    structure(steps, format!("drbdsetup attach {minor} {data} {meta} {in_attach}{options}"));
}

/// Where the metadata is, and how `drbdmeta` and `drbdsetup` call its form.
fn meta_words(disk: &Disk) -> (&str, String, String) {
    match &disk.meta_disk {
        MetaDisk::Internal => (&disk.path, "internal".to_owned(), "internal".to_owned()),
        MetaDisk::External { path, index: None } => {
            (path, "flex-external".to_owned(), "flexible".to_owned())
        }
        MetaDisk::External { path, index: Some(index) } => {
            (path, index.to_string(), index.to_string())
        }
    }
}

/// As a shell reads it, with a backslash before what it would read otherwise.
fn escaped(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for c in word.chars() {
        if !c.is_ascii_alphanumeric() && !"/._-:=,@%+".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn minor(volume: &Volume) -> u32 {
    volume.device.as_ref().map_or(0, |device| device.minor)
}

fn path_text((local, remote): (SocketAddr, SocketAddr)) -> String {
    format!("{} {}", address_text(local), address_text(remote))
}

fn address_text(address: SocketAddr) -> String {
    let family = if address.is_ipv4() { "ipv4" } else { "ipv6" };
    escaped(&format!("{family}:{address}"))
}

fn option_words(options: &[(&str, Value)]) -> String {
    let word = |(name, value): &(&str, Value)| match *name {
        // What is told of steps goes to terminals and logs.
        SECRET_OPTION => format!(" --{name}=(hidden)"),
        name => format!(" --{name}={value}"),
    };
    options.iter().map(word).collect()
}

/// How far the change from one set of options to another reaches.
fn reach(old: &[(&str, Value)], new: &[(&str, Value)]) -> Reach {
    use crate::options::Status;
    let differs = |name: &str| {
        let value = |set: &[(&str, Value)]| {
            set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.clone())
        };
        value(old) != value(new)
    };
    let is_live = |name: &str| {
        LIVE_OPTIONS.contains(&name)
            || spec_of(name).is_none_or(|spec| matches!(spec.status, Status::Nothing { .. }))
    };
    let mut changed = old.iter().chain(new).map(|(name, _)| *name).filter(|name| differs(name));
    if changed.all(is_live) { Reach::Options } else { Reach::Structure }
}
