//! The configurations in the folder `examples` of the repository: read without an error or a
//! warning, in canonical form the same, and what their comments say of them is true.

use std::fs;
use std::path::{Path, PathBuf};

use config::effective::{OnNoQuorum, Quorum};
use config::model::{Resource, Volume};
use config::{parse_file, parse_text};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// The one resource of an example, which nothing is said against.
fn resource(name: &str) -> Resource {
    let config = parse_file(&folder().join(name)).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(config.warnings.is_empty(), "{name}: {:?}", config.warnings);
    let [resource] = config.resources.as_slice() else { panic!("{name} has not one resource") };
    resource.clone()
}

fn with_disks(resource: &Resource) -> Vec<&str> {
    let has_disk = |volume: &Volume| !volume.is_diskless();
    let hosts = resource.hosts.iter().filter(|host| host.volume(0).is_some_and(has_disk));
    hosts.map(|host| host.name.as_str()).collect()
}

#[test]
fn every_example_is_read_and_written_without_a_word() {
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".res")).collect();
    names.sort_unstable();
    let expected = [
        "client-without-a-disk.res",
        "three-replicas-with-tls.res",
        "two-replicas-and-a-witness.res",
    ];
    assert_eq!(names, expected);
    for name in names {
        let resource = resource(&name);
        let text = resource.to_res_text();
        let again = parse_text("written", &text).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(again.warnings.is_empty(), "{name}: {:?}", again.warnings);
        assert_eq!(again.resources, [resource], "{name} changed on being written");
    }
}

#[test]
fn two_replicas_have_a_third_node_that_votes() {
    let resource = resource("two-replicas-and-a-witness.res");
    assert_eq!(with_disks(&resource), ["alpha", "bravo"]);
    assert_eq!((resource.hosts.len(), resource.connections.len()), (3, 3));
    let options = resource.resource_options();
    assert_eq!((options.quorum, options.on_no_quorum), (Quorum::Majority, OnNoQuorum::SuspendIo));
    assert!(!resource.net_options("alpha", "bravo").tls);
}

#[test]
fn three_replicas_encrypt_every_link() {
    let resource = resource("three-replicas-with-tls.res");
    assert_eq!(with_disks(&resource), ["alpha", "bravo", "charlie"]);
    for (left, right) in [("alpha", "bravo"), ("alpha", "charlie"), ("bravo", "charlie")] {
        assert!(resource.net_options(left, right).tls, "{left} and {right}");
        let rate = resource.peer_disk_options(left, right, 0).c_max_rate_bytes;
        assert_eq!(rate, Some(200 << 20));
    }
}

#[test]
fn a_client_without_a_disk_is_connected_to_every_replica() {
    let resource = resource("client-without-a-disk.res");
    assert_eq!(with_disks(&resource), ["alpha", "bravo", "charlie"]);
    let delta = resource.host_by_name("delta").unwrap();
    assert!(delta.volume(0).unwrap().is_diskless() && delta.volume(1).unwrap().is_diskless());
    assert_eq!(resource.volume_numbers(), [0, 1]);
    let peers = resource.peers_of("delta");
    assert_eq!(peers.iter().map(|peer| peer.node_id).collect::<Vec<_>>(), [0, 1, 2]);
}
