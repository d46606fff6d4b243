//! Connections: explicit ones, those that a mesh stands for, and the one between two hosts that
//! need not be written.

use std::net::SocketAddr;

use crate::ast::{ConnectionNode, EndNode, MeshNode, PathNode, ResourceNode, Setting, Spanned};
use crate::diagnostic::{Caution, Problem, Report, Sentence, Span};
use crate::model::{Connection, Host, Path, PeerVolume, host_index};
use crate::options::Section;
use crate::resolve::option_set;

/// The connections of a resource in order of their ends; `None` if something was wrong and
/// reported. `hosts` are in order of node id.
pub(super) fn connections(
    report: &mut Report,
    node: &ResourceNode,
    hosts: &[Host],
) -> Option<Vec<Connection>> {
    let mut is_fine = true;
    let mut made: Vec<Made> = Vec::new();
    for explicit in &node.connections {
        match explicit_connection(report, explicit, hosts) {
            Some(new) => is_fine &= add(report, &mut made, new),
            None => is_fine = false,
        }
    }
    let explicit_count = made.len();
    for mesh in &node.meshes {
        is_fine &= expand_mesh(report, mesh, hosts, &mut made, explicit_count);
    }
    if node.connections.is_empty() && node.meshes.is_empty() {
        is_fine &= implicit_connection(report, node, hosts, &mut made);
    }
    made.sort_by_key(|new| new.pair);
    is_fine.then(|| made.into_iter().map(|new| new.connection).collect())
}

/// A connection, the indices of its hosts in the list of hosts, and where it was written.
struct Made {
    pair: (usize, usize),
    span: Span,
    connection: Connection,
}

fn add(report: &mut Report, made: &mut Vec<Made>, new: Made) -> bool {
    if let Some(first) = made.iter().find(|present| present.pair == new.pair) {
        let [left, right] = &new.connection.ends;
        let what = format!("the connection between {left} and {right}");
        let problem = report
            .duplicate(&what, new.span, first.span)
            .hint("two ways between two hosts are two `path` sections of one connection");
        report.problem(problem);
        return false;
    }
    made.push(new);
    true
}

fn explicit_connection(report: &mut Report, node: &ConnectionNode, hosts: &[Host]) -> Option<Made> {
    let mut pair = None;
    let mut paths: Vec<Path> = Vec::new();
    for path_node in &node.paths {
        let (ends, path) = path(report, path_node, hosts)?;
        if pair.is_some_and(|first| first != ends) {
            report.problem(
                Problem::new(path_node.span, Sentence::PathsPart)
                    .hint("write one connection for each pair of hosts"),
            );
            return None;
        }
        if paths.contains(&path) {
            report.problem(Problem::new(path_node.span, Sentence::SamePath));
            return None;
        }
        pair = Some(ends);
        paths.push(path);
    }
    let mut volumes = Vec::new();
    for volume in &node.volumes {
        let number = volume.number.value;
        if hosts.iter().all(|host| host.volume(number).is_none()) {
            let sentence = Sentence::NoVolume { volume: number };
            report.problem(Problem::new(volume.number.span, sentence));
            return None;
        }
        volumes.push(PeerVolume { number, disk: option_set(&volume.settings, Section::Disk) });
    }
    volumes.sort_by_key(|volume| volume.number);
    // A connection without any path was reported when it was read.
    let pair = pair?;
    let connection = Connection { volumes, ..connection(pair, paths, &node.settings, hosts) };
    Some(Made { pair, span: node.span, connection })
}

fn connection(
    pair: (usize, usize),
    paths: Vec<Path>,
    settings: &[Setting],
    hosts: &[Host],
) -> Connection {
    Connection {
        ends: [hosts[pair.0].name.clone(), hosts[pair.1].name.clone()],
        paths,
        net: option_set(settings, Section::Net),
        disk: option_set(settings, Section::Disk),
        volumes: Vec::new(),
    }
}

/// Which two hosts a path joins, the lower node id first, and their addresses in that order.
fn path(report: &mut Report, node: &PathNode, hosts: &[Host]) -> Option<((usize, usize), Path)> {
    let [left, right] = node.ends.as_slice() else {
        report.problem(
            Problem::new(node.span, Sentence::PathEnds { count: node.ends.len() })
                .hint("write host A address 10.0.0.1:7789; host B address 10.0.0.2:7789;"),
        );
        return None;
    };
    let left_index = known_host(report, &left.host, hosts)?;
    let right_index = known_host(report, &right.host, hosts)?;
    if left_index == right_index {
        let sentence = Sentence::SelfConnected { host: left.host.value.clone() };
        report.problem(Problem::new(right.host.span, sentence));
        return None;
    }
    let left_address = address(report, left, &hosts[left_index])?;
    let right_address = address(report, right, &hosts[right_index])?;
    Some(if left_index < right_index {
        ((left_index, right_index), Path { addresses: [left_address, right_address] })
    } else {
        ((right_index, left_index), Path { addresses: [right_address, left_address] })
    })
}

fn known_host(report: &mut Report, name: &Spanned<String>, hosts: &[Host]) -> Option<usize> {
    let index = match host_index(hosts, &name.value) {
        Ok(index) => index,
        Err(ambiguous) => {
            let problem = Problem::new(name.span, Sentence::AmbiguousHost(ambiguous));
            report.problem(problem.hint("say the whole name"));
            return None;
        }
    };
    if index.is_none() {
        let sentence = Sentence::UnknownHost { name: name.value.clone() };
        let names = hosts.iter().map(|host| host.name.as_str());
        report.problem(
            Problem::new(name.span, sentence)
                .hint("each host needs its own `on` section")
                .allowed(&name.value, names),
        );
    }
    index
}

/// The address of an end: its own, or that of its host, with its own port perhaps.
fn address(report: &mut Report, end: &EndNode, host: &Host) -> Option<SocketAddr> {
    if let Some(address) = &end.address {
        return Some(address.value);
    }
    match (host.address, end.port) {
        (Some(address), Some(port)) => Some(SocketAddr::new(address.ip(), port)),
        (Some(address), None) => Some(address),
        (None, _) => {
            no_address(report, end.host.span, host);
            None
        }
    }
}

fn no_address(report: &mut Report, span: Span, host: &Host) {
    report.problem(
        Problem::new(span, Sentence::NoAddress { host: host.name.clone() })
            .hint("give one here or in its `on` section: address 10.0.0.1:7789;"),
    );
}

/// Connects all pairs of a mesh. A pair that has a connection of its own keeps it; the mesh then
/// only adds the options that are not set there.
fn expand_mesh(
    report: &mut Report,
    mesh: &MeshNode,
    hosts: &[Host],
    made: &mut Vec<Made>,
    explicit_count: usize,
) -> bool {
    let mut indices = Vec::new();
    for name in &mesh.hosts {
        let Some(index) = known_host(report, name, hosts) else { return false };
        if indices.contains(&index) {
            let sentence = Sentence::TwiceInMesh { host: name.value.clone() };
            report.problem(Problem::new(name.span, sentence));
            return false;
        }
        indices.push(index);
    }
    indices.sort_unstable();
    let mut is_fine = true;
    for (position, left) in indices.iter().enumerate() {
        for right in &indices[position + 1..] {
            let pair = (*left, *right);
            let own = made[..explicit_count].iter_mut().find(|present| present.pair == pair);
            if let Some(own) = own {
                let mesh_net = option_set(&mesh.settings, Section::Net);
                own.connection.net = mesh_net.overlaid(&own.connection.net);
                let [left, right] = own.connection.ends.clone();
                let caution = Caution::MeshOver { left, right };
                report.note_ambiguity("connection-mesh", mesh.span, (caution, own.span));
                continue;
            }
            let Some(path) = own_addresses(report, mesh.span, hosts, pair) else { return false };
            let connection = connection(pair, vec![path], &mesh.settings, hosts);
            is_fine &= add(report, made, Made { pair, span: mesh.span, connection });
        }
    }
    is_fine
}

fn own_addresses(
    report: &mut Report,
    span: Span,
    hosts: &[Host],
    pair: (usize, usize),
) -> Option<Path> {
    let mut addresses = [pair.0, pair.1].map(|index| (&hosts[index], hosts[index].address));
    for (host, address) in &mut addresses {
        if address.is_none() {
            no_address(report, span, host);
        }
    }
    Some(Path { addresses: [addresses[0].1?, addresses[1].1?] })
}

/// Two hosts need not be told that they are connected. More need to be.
fn implicit_connection(
    report: &mut Report,
    node: &ResourceNode,
    hosts: &[Host],
    made: &mut Vec<Made>,
) -> bool {
    if hosts.len() > 2 {
        let sentence = Sentence::NoConnection { hosts: hosts.len() };
        let names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
        report.problem(
            Problem::new(node.name.span, sentence)
                .hint(format!("write connection-mesh {{ hosts {}; }}", names.join(" "))),
        );
        return false;
    }
    if hosts.len() == 2 {
        let span = node.hosts[0].names[0].span;
        let Some(path) = own_addresses(report, span, hosts, (0, 1)) else { return false };
        let connection = connection((0, 1), vec![path], &[], hosts);
        made.push(Made { pair: (0, 1), span, connection });
    }
    true
}
