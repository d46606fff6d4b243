//! Hosts with their node ids and their full lists of volumes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::ast::{HostNode, ResourceNode, Spanned, VolumeNode};
use crate::diagnostic::{Problem, Report, Sentence};
use crate::host_name::{flaw, is_same_host};
use crate::limits::VOLUMES_MAX;
use crate::model::{BackingDisk, Disk, Host, MetaDisk, Volume};
use crate::options::Section;
use crate::resolve::option_set;

/// The hosts of a resource in order of node id; `None` if something was wrong and reported.
pub(super) fn hosts(report: &mut Report, node: &ResourceNode) -> Option<Vec<Host>> {
    if node.hosts.is_empty() {
        let sentence = Sentence::NoHosts { resource: node.name.value.clone() };
        report.problem(
            Problem::new(node.name.span, sentence)
                .hint("add a section for each: on NAME { node-id 0; address 10.0.0.1:7789; }"),
        );
        return None;
    }
    let are_named = check_names(report, node);
    let ids = node_ids(report, node)?;
    let mut hosts = Vec::new();
    for (host, node_id) in node.hosts.iter().zip(ids) {
        hosts.push(Host {
            name: host.names[0].value.clone(),
            other_names: host.names[1..].iter().map(|name| name.value.clone()).collect(),
            is_floating: host.is_floating,
            node_id,
            address: host.address.as_ref().map(|address| address.value),
            options: option_set(&host.settings, Section::Options),
            volumes: volumes(report, node, host)?,
        });
    }
    let are_complete = check_same_volumes(report, node, &hosts);
    hosts.sort_by_key(|host| host.node_id);
    (are_named && are_complete).then_some(hosts)
}

fn check_names(report: &mut Report, node: &ResourceNode) -> bool {
    let mut is_fine = true;
    for name in node.hosts.iter().flat_map(|host| &host.names) {
        if let Some(flaw) = flaw(&name.value) {
            report.problem(Problem::new(name.span, Sentence::HostName { flaw }));
            is_fine = false;
        }
    }
    are_told_apart(report, node) && is_fine
}

/// A name without a domain could be every host with its label.
fn are_told_apart(report: &mut Report, node: &ResourceNode) -> bool {
    let hosts = node.hosts.iter().enumerate();
    let names = hosts.flat_map(|(host, it)| it.names.iter().map(move |name| (host, name)));
    let mut seen: Vec<(usize, &Spanned<String>)> = Vec::new();
    let mut is_fine = true;
    for (host, name) in names {
        let is_taken = |(other, present): &&(usize, &Spanned<String>)| {
            let has_domain = !node.hosts[host].is_floating && !node.hosts[*other].is_floating;
            present.value == name.value
                || (*other != host && has_domain && is_same_host(&present.value, &name.value))
        };
        let first = seen.iter().find(is_taken).map(|(_, first)| *first);
        seen.push((host, name));
        let Some(first) = first else { continue };
        let problem = if first.value == name.value {
            report.duplicate(&format!("the host {}", name.value), name.span, first.span)
        } else {
            let (other, second) = (first.value.clone(), name.value.clone());
            let place = report.place(first.span);
            let sentence = Sentence::AlikeHosts { first: other, second };
            Problem::new(name.span, sentence).hint(format!(
                "{} stands at {place}; say the whole names of both, and the same as the --name of \
                 their daemons",
                first.value
            ))
        };
        report.problem(problem);
        is_fine = false;
    }
    is_fine
}

/// The node ids in the order of the sections.
///
/// A file from before there were node ids has none at all, and two hosts. They get 0 and 1 by their
/// addresses, as drbdadm gives them: metadata that is taken over from DRBD has these ids in it.
fn node_ids(report: &mut Report, node: &ResourceNode) -> Option<Vec<u8>> {
    if let [left, right] = node.hosts.as_slice()
        && left.node_id.is_none()
        && right.node_id.is_none()
    {
        let order = |host: &HostNode| {
            let address = host.address.as_ref().map(|address| address.value);
            let hash = address.map(|address| address_hash(&address.ip().to_string()));
            (Reverse(hash), address, host.names[0].value.clone())
        };
        return Some(if order(left) <= order(right) { vec![0, 1] } else { vec![1, 0] });
    }
    let mut ids = Vec::new();
    let mut is_fine = true;
    for host in &node.hosts {
        let name = &host.names[0];
        let Some(id) = &host.node_id else {
            let sentence = Sentence::NoNodeId { host: name.value.clone() };
            let hint = "give each host of the resource its own: node-id 0; to node-id 31;";
            report.problem(Problem::new(name.span, sentence).hint(hint));
            is_fine = false;
            continue;
        };
        let same = node.hosts.iter().filter_map(|other| other.node_id.as_ref());
        let first = same.clone().find(|other| other.value == id.value);
        if let Some(first) = first.filter(|first| first.span != id.span) {
            let what = format!("the node-id {}", id.value);
            let problem = report.duplicate(&what, id.span, first.span);
            report.problem(problem);
            is_fine = false;
        }
        ids.push(id.value);
    }
    is_fine.then_some(ids)
}

/// CRC-32C of an address without its port, from a start value of drbdadm's; the host with the
/// greater one, as a signed number, is node 0.
fn address_hash(address: &str) -> i32 {
    const START: u32 = 0x1a65_6f21;
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let shift = |crc: u32, _| (crc >> 1) ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 };
    let mix = |crc: u32, byte: u8| (0..8).fold(crc ^ u32::from(byte), shift);
    address.bytes().fold(START, mix).cast_signed()
}

/// The volumes of one host: those of the resource, overridden by its own.
fn volumes(report: &mut Report, node: &ResourceNode, host: &HostNode) -> Option<Vec<Volume>> {
    let mut merged: Vec<VolumeNode> = Vec::new();
    for part in node.volumes.iter().chain(&host.volumes) {
        match merged.iter_mut().find(|volume| volume.number.value == part.number.value) {
            Some(volume) => merge(volume, part),
            None => merged.push(part.clone()),
        }
    }
    if merged.len() > VOLUMES_MAX {
        let what = format!("volumes on host {}", host.names[0].value);
        let many = Sentence::TooMany { max: VOLUMES_MAX as u64, what };
        report.problem(Problem::new(host.names[0].span, many));
        return None;
    }
    if let Some(implicit) = merged.iter().find(|volume| volume.is_implicit)
        && merged.len() > 1
    {
        let problem = Problem::new(implicit.number.span, Sentence::ImplicitVolume);
        report.problem(problem.hint("move it into the section of the volume that it is meant for"));
        return None;
    }
    merged.sort_by_key(|volume| volume.number.value);
    let count = merged.len();
    let volumes: Vec<Volume> =
        merged.iter().filter_map(|volume| checked_volume(report, host, volume)).collect();
    (volumes.len() == count).then_some(volumes)
}

fn merge(volume: &mut VolumeNode, over: &VolumeNode) {
    volume.is_implicit |= over.is_implicit;
    volume.number = over.number.clone();
    volume.device = over.device.clone().or_else(|| volume.device.take());
    volume.disk = over.disk.clone().or_else(|| volume.disk.take());
    volume.meta_disk = over.meta_disk.clone().or_else(|| volume.meta_disk.take());
    volume.is_tiebreaker = over.is_tiebreaker.clone().or_else(|| volume.is_tiebreaker.take());
    volume.settings.extend(over.settings.iter().cloned());
}

fn checked_volume(report: &mut Report, host: &HostNode, node: &VolumeNode) -> Option<Volume> {
    let number = node.number.value;
    let Some(backing) = &node.disk else {
        let sentence = Sentence::NoDisk { volume: number, host: host.names[0].value.clone() };
        report.problem(
            Problem::new(node.number.span, sentence)
                .hint("name its backing device or file: disk PATH; or `disk none;` for a client"),
        );
        return None;
    };
    let disk = match &backing.value {
        BackingDisk::None => None,
        BackingDisk::Path(path) if path.is_empty() => {
            report.problem(Problem::new(backing.span, Sentence::EmptyPath));
            return None;
        }
        BackingDisk::Path(path) => {
            let meta_disk = node.meta_disk.as_ref().map_or(MetaDisk::Internal, |m| m.value.clone());
            Some(Disk { path: path.clone(), meta_disk })
        }
    };
    Some(Volume {
        number,
        device: node.device.as_ref().map(|device| device.value.clone()),
        disk,
        is_tiebreaker: node.is_tiebreaker.as_ref().map(|answer| answer.value),
        options: option_set(&node.settings, Section::Disk),
    })
}

/// Every host has every volume, be it without a disk.
fn check_same_volumes(report: &mut Report, node: &ResourceNode, hosts: &[Host]) -> bool {
    let all: BTreeSet<u16> =
        hosts.iter().flat_map(|host| host.volumes.iter().map(|volume| volume.number)).collect();
    let mut is_fine = true;
    for (host, section) in hosts.iter().zip(&node.hosts) {
        for number in all.iter().filter(|number| host.volume(**number).is_none()) {
            let sentence = Sentence::VolumeMissing { volume: *number, host: host.name.clone() };
            report.problem(Problem::new(section.names[0].span, sentence).hint(format!(
                "give the host a disk for it: volume {number} {{ disk PATH; }}, or `disk \
                         none` where no replica is to be"
            )));
            is_fine = false;
        }
    }
    is_fine
}
