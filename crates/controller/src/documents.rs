//! What each node is to have, from what the cluster is to be: a pure function.

use std::fmt::Write as _;
use std::net::IpAddr;

use api::agent::{
    Document, Want, WantedDisk, WantedPool, WantedSize, WantedVolume, data_path, metadata_path,
};
use uuid::Uuid;

use crate::model::{Desired, Node, Phase, Placement, Stage, Volume};

pub(crate) fn document(desired: &Desired, node: Uuid) -> Document {
    let pools = desired.pools_of(node).map(|pool| WantedPool {
        id: pool.id.to_string(),
        kind: pool.kind,
        location: pool.location.clone(),
    });
    let here = |volume: &Volume| volume.placements.iter().find(|it| it.node == node).copied();
    let volumes = desired.volumes.values();
    let volumes = volumes.filter_map(|it| Some(wanted(desired, it, here(it)?)));
    let stones = desired.tombstones.values().filter(|stone| stone.node == node);
    let gone = stones.map(|stone| WantedVolume {
        id: stone.volume.to_string(),
        name: stone.name.clone(),
        want: Want::Gone,
        config_text: String::new(),
        grow_to: None,
        disks: disks(stone.pool, stone.parts.iter().map(|number| (*number, 0))),
    });
    Document {
        revision: desired.revision,
        pools: pools.collect(),
        volumes: volumes.chain(gone).collect(),
    }
}

fn wanted(desired: &Desired, volume: &Volume, here: Placement) -> WantedVolume {
    let want = match volume.phase {
        Phase::Retreating | Phase::Leaving => Want::Gone,
        Phase::Birth { by } if by == here.node => Want::Birth,
        Phase::Birth { .. } => Want::Up,
        Phase::Live if here.stage == Stage::Down => Want::Leave,
        Phase::Live if volume.attached == Some(here.node) => Want::Attached,
        Phase::Live | Phase::Closing { .. } | Phase::Defined => Want::Up,
    };
    let is_new = matches!(volume.phase, Phase::Birth { .. }) || here.stage == Stage::Joining;
    let parts = volume.parts.iter().map(|part| (part.number, volume.wanted_bytes_of(part)));
    let disks = match is_new {
        true => new_disks(here.pool, parts),
        false => disks(here.pool, parts),
    };
    let config_text =
        if want == Want::Gone { String::new() } else { config_text(desired, volume, here.node) };
    let (id, name) = (volume.id.to_string(), volume.name.clone());
    let grow_to = volume.growth.filter(|it| it.by == here.node);
    let grow_to = grow_to.map(|it| WantedSize { number: it.number, size_bytes: it.to_bytes });
    WantedVolume { id, name, want, config_text, disks, grow_to }
}

fn disks(pool: Option<Uuid>, parts: impl Iterator<Item = (u16, u64)>) -> Vec<WantedDisk> {
    let Some(pool) = pool.map(|pool| pool.to_string()) else { return Vec::new() };
    let disk = |(number, size_bytes)| {
        let (pool, new) = (pool.clone(), false);
        WantedDisk { number, pool, size_bytes, new }
    };
    parts.map(disk).collect()
}

/// They are to be made.
fn new_disks(pool: Option<Uuid>, parts: impl Iterator<Item = (u16, u64)>) -> Vec<WantedDisk> {
    disks(pool, parts).into_iter().map(|disk| WantedDisk { new: true, ..disk }).collect()
}

/// The text is equal on all nodes but for the paths of disks, which each agent puts in for its own.
/// A node that leaves stands in its own text alone: the others go on without it first.
fn config_text(desired: &Desired, volume: &Volume, own: Uuid) -> String {
    let mut text = format!("resource \"{}\" {{\n", volume.name);
    let hosts: Vec<(&Node, &Placement)> = volume
        .placements
        .iter()
        .filter(|placement| placement.stays() || placement.node == own)
        .filter_map(|placement| Some((desired.nodes.get(&placement.node)?, placement)))
        .collect();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes all");
    for (node, placement) in &hosts {
        line(format!("  on \"{}\" {{", node.name));
        line(format!("    node-id {};", placement.node_id));
        line(format!("    address {};", address(node.address, node.data_port)));
        for part in &volume.parts {
            line(format!("    volume {} {{", part.number));
            line(format!("      device minor {};", part.minor));
            match placement.pool {
                Some(_) => {
                    line(format!("      disk \"{}\";", data_path(part.number)));
                    line(format!("      meta-disk \"{}\";", metadata_path(part.number)));
                }
                None => line("      disk none;".to_owned()),
            }
            line("    }".to_owned());
        }
        line("  }".to_owned());
    }
    if hosts.len() > 1 {
        let names = hosts.iter().map(|(node, _)| format!("\"{}\"", node.name));
        line(format!("  connection-mesh {{ hosts {}; }}", names.collect::<Vec<_>>().join(" ")));
    }
    text + "}\n"
}

fn address(ip: IpAddr, port: u16) -> String {
    match ip {
        IpAddr::V4(ip) => format!("{ip}:{port}"),
        IpAddr::V6(ip) => format!("ipv6 [{ip}]:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use api::cluster::PoolKind;

    use super::*;
    use crate::model::{Change, Object, Part, Pool, Tombstone};

    fn desired(phase: Phase, attached: Option<Uuid>) -> Desired {
        let mut desired = Desired { revision: 7, ..Desired::default() };
        for index in 0u8..3 {
            desired.apply(Change::Put(Object::Node(Node {
                id: Uuid::from_u128(index.into()),
                name: format!("n{index}.example.com"),
                address: match index {
                    2 => IpAddr::V6("fd00::2".parse().unwrap()),
                    _ => Ipv4Addr::new(10, 0, 0, index).into(),
                },
                data_port: 7789,
                nbd: String::new(),
                joined_ms: 0,
            })));
        }
        let pool = Uuid::from_u128(100);
        desired.apply(Change::Put(Object::Pool(Pool {
            id: pool,
            node: Uuid::from_u128(0),
            name: "default".to_owned(),
            kind: PoolKind::FileThin,
            location: "/pool".to_owned(),
        })));
        let placement = |node_id: u8| Placement {
            node: Uuid::from_u128(node_id.into()),
            node_id,
            pool: (node_id < 2).then_some(pool),
            since: 0,
            stage: Stage::In,
            cause: crate::model::Cause::Planned,
        };
        let volume = crate::model::samples::volume("db", 1 << 30);
        let mut parts = volume.parts.clone();
        parts.push(Part { number: 3, size_bytes: 1 << 20, minor: 1001, ..parts[0].clone() });
        desired.apply(Change::Put(Object::Volume(Volume {
            parts,
            phase,
            placements: [0, 1, 2].map(placement).to_vec(),
            attached,
            ..volume
        })));
        desired
    }

    #[test]
    fn text_is_read_by_the_parser_of_res_files_and_has_all_hosts() {
        let text = document(&desired(Phase::Live, None), Uuid::from_u128(0)).volumes.remove(0);
        let read = config::parse_text("volume", &text.config_text).unwrap();
        let resource = &read.resources[0];
        assert_eq!(resource.name, "db");
        assert_eq!(resource.hosts.len(), 3);
        assert_eq!(resource.connections.len(), 3);
        let told: Vec<Vec<u16>> = resource
            .hosts
            .iter()
            .map(|host| host.volumes.iter().map(|it| it.number).collect())
            .collect();
        assert_eq!(told, [[0, 3], [0, 3], [0, 3]]);
        let disks: Vec<_> = text.disks.iter().map(|it| (it.number, it.size_bytes)).collect();
        assert_eq!(disks, [(0, 1 << 30), (3, 1 << 20)]);
    }

    #[test]
    fn node_is_told_its_own_part() {
        let wants = |phase, attached| {
            let desired = desired(phase, attached);
            [0, 1, 2].map(|node| document(&desired, Uuid::from_u128(node)).volumes[0].want)
        };
        let first = Uuid::from_u128(0);
        assert_eq!(wants(Phase::Birth { by: first }, None), [Want::Birth, Want::Up, Want::Up]);
        assert_eq!(wants(Phase::Live, Some(first)), [Want::Attached, Want::Up, Want::Up]);
        assert_eq!(wants(Phase::Leaving, Some(first)), [Want::Gone; 3]);
        let is_new = |phase| {
            let told = document(&desired(phase, None), first).volumes.remove(0);
            told.disks[0].new
        };
        assert!(is_new(Phase::Birth { by: first }));
        assert!(!is_new(Phase::Live), "its loss is told, and no blank one made");
    }

    #[test]
    fn tombstone_tells_a_node_that_was_away_what_is_to_go() {
        let mut desired = Desired::default();
        let (node, volume) = (Uuid::from_u128(1), Uuid::from_u128(9));
        let (name, parts) = ("db".to_owned(), vec![0]);
        let stone = Tombstone { node, volume, name, pool: None, since: 0, parts };
        desired.apply(Change::Put(Object::Tombstone(stone)));
        let told = document(&desired, node).volumes;
        assert_eq!((told.len(), told[0].want), (1, Want::Gone));
        assert!(document(&desired, Uuid::from_u128(2)).volumes.is_empty());
    }
}
