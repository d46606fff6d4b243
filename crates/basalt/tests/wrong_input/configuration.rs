//! Configurations that cannot be meant: the running state stays.

use std::fs;

use crate::cluster::{Cluster, RESOURCE};
use api::disk_state::DiskState;
use api::status::ResourceStatus;

/// What must be as before: the resource runs the same configuration, with the same peers.
fn essence(status: &ResourceStatus) -> impl PartialEq + std::fmt::Debug + use<> {
    let peers: Vec<_> = status
        .connections
        .iter()
        .map(|one| (one.name.clone(), one.connection_state, one.paths.clone()))
        .collect();
    (status.role, status.devices[0].disk_state, peers)
}

#[test]
fn refused_configuration_changes_nothing() {
    let cluster = Cluster::start(3);
    let good = cluster.text();
    let mut client = cluster.nodes[0].client();
    client.write(0, &[4; 4096]).unwrap();
    let before = essence(&cluster.nodes[0].status().unwrap());
    let stored = fs::read(cluster.nodes[0].state_dir().join("resources/r0.res")).unwrap();
    let file = cluster.config.display().to_string();
    let twice = good.replace("node-id 1;", "node-id 0;");
    for (text, exit, parts) in [
        (good.replace("options {", "optoins {"), 2, ["2:", "optoins", "options"]),
        (good.replace("quorum majority", "quorum most"), 10, ["2:", "most", "majority"]),
        (twice, 10, ["9:13", "node-id 0", "first given at"]),
        (good.replace("node-id 2;", "node-id 99;"), 10, ["99", "node-id", "31"]),
        (good.replace("}\n}\n", "}\n"), 2, ["}", "resource", "end"]),
        (
            good.replace("on alfa", "on zulu").replace("hosts alfa", "hosts zulu"),
            10,
            ["alfa", "on", "r0"],
        ),
    ] {
        assert_ne!(text, good);
        cluster.configure(&text);
        for verb in ["adjust", "up"] {
            let said = cluster.adm(0, &[verb, RESOURCE]);
            said.refused_with(exit, &parts);
            assert!(parts[0] != "2:" || said.stderr.contains(&file), "where? {said:?}");
            assert_eq!(essence(&cluster.nodes[0].status().unwrap()), before);
        }
        client.write(4096, &[5; 4096]).unwrap();
    }
    let after = fs::read(cluster.nodes[0].state_dir().join("resources/r0.res")).unwrap();
    assert_eq!(after, stored);
    cluster.configure(&good);
    cluster.adm(0, &["adjust", RESOURCE]).ok();
    client.write(0, &[6; 4096]).unwrap();
}

/// The text is good, but what it names cannot be used: the old state is built again.
#[test]
fn adjust_to_what_cannot_be_used_goes_back() {
    let cluster = Cluster::start(3);
    let good = cluster.text();
    let missing = cluster.nodes[1].home.join("nowhere").display().to_string();
    let disk = cluster.nodes[1].disk().display().to_string();
    let taken = std::net::TcpListener::bind((cluster.nodes[1].peer.ip(), 0)).unwrap();
    let taken = taken.local_addr().map(|address| (taken, address.to_string())).unwrap();
    for (text, part) in [
        (good.replace(&disk, &missing), missing.clone()),
        (good.replace(&cluster.nodes[1].peer.to_string(), &taken.1), taken.1.clone()),
    ] {
        cluster.configure(&text);
        cluster.adm(1, &["adjust", RESOURCE]).refused_with(10, &[&part, "try: "]);
        cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
        cluster.wait_for_connections();
    }
}

/// `up` of another text does not replace what runs.
#[test]
fn up_with_another_configuration_is_told_to_adjust() {
    let cluster = Cluster::start(1);
    cluster.configure(&cluster.text().replace("device minor 0", "device minor 7"));
    cluster.adm(0, &["up", RESOURCE]).refused_with(11, &["another configuration", "adjust"]);
    cluster.adm(0, &["adjust", "--dry-run", RESOURCE]).exits(0);
    assert_eq!(cluster.nodes[0].status().unwrap().devices[0].minor, 0);
    cluster.adm(0, &["adjust", RESOURCE]).exits(0);
    assert_eq!(cluster.nodes[0].status().unwrap().devices[0].minor, 7);
}
