//! Files as DRBD users have them parse unchanged, mean what they say, and survive being written.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use config::effective::{
    AckWhen, Congestion, OnCongestion, OnNoQuorum, Patience, Quorum, ReadBalancing,
};
use config::model::{MetaDisk, Resource};
use config::options::value::Value;
use config::{ConfigFile, parse_file, parse_text};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn read(name: &str) -> ConfigFile {
    let config = parse_file(&file(name)).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(!config.resources.is_empty(), "{name} says nothing");
    for resource in &config.resources {
        assert_eq!(&rewritten(resource), resource, "{name} changed on being written");
    }
    config
}

fn rewritten(resource: &Resource) -> Resource {
    let text = resource.to_res_text();
    let mut again = parse_text("written", &text).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(again.resources.len(), 1);
    let again = again.resources.remove(0);
    assert_eq!(again.to_res_text(), text, "the canonical text is not a fixed point");
    again
}

fn told(config: &ConfigFile) -> Vec<&str> {
    config.warnings.iter().map(|warning| warning.option.as_str()).collect()
}

fn address(text: &str) -> SocketAddr {
    text.parse().expect("the test names an address")
}

/// Node id of each peer, and its paths from here to there.
fn peers(resource: &Resource, node: &str) -> Vec<(u8, Vec<(String, String)>)> {
    let text = |(local, remote): &(SocketAddr, SocketAddr)| (local.to_string(), remote.to_string());
    let peers = resource.peers_of(node);
    peers.iter().map(|peer| (peer.node_id, peer.paths.iter().map(text).collect())).collect()
}

fn one_path(local: &str, remote: &str) -> Vec<(String, String)> {
    vec![(local.to_owned(), remote.to_owned())]
}

#[test]
fn two_paths_between_hosts_without_addresses() {
    let config = read("two_paths.res");
    let resource = &config.resources[0];
    assert_eq!(resource.name, "test");
    assert_eq!(resource.volume_numbers(), [1]);
    let volume = resource.host_by_name("hostB").unwrap().volume(1).unwrap();
    assert_eq!(volume.device.as_ref().unwrap().minor, 1);
    let disk = volume.disk.as_ref().unwrap();
    assert_eq!(disk.path, "/dev/vg/lv");
    assert_eq!(disk.meta_disk, MetaDisk::Internal);
    let peers = resource.peers_of("hostB");
    assert_eq!(peers.len(), 1);
    assert_eq!((peers[0].name.as_str(), peers[0].node_id), ("hostA", 0));
    let local_first = [
        (address("10.0.0.2:7900"), address("10.0.0.1:7900")),
        (address("10.0.1.2:7900"), address("10.0.1.1:7900")),
    ];
    assert_eq!(peers[0].paths, local_first);
    let expected = ["max-buffers"];
    assert_eq!(told(&config), expected);
}

#[test]
fn two_nodes_need_no_node_ids_and_no_connection() {
    let config = read("two_nodes.res");
    let resource = &config.resources[0];
    assert_eq!(resource.host_by_name("alice").unwrap().node_id, 0);
    assert_eq!(resource.host_by_name("bob").unwrap().node_id, 1);
    assert_eq!(peers(resource, "alice"), [(1, one_path("10.1.1.31:7789", "10.1.1.32:7789"))]);
    let volume = resource.host_by_name("bob").unwrap().volume(0).unwrap();
    assert_eq!(volume.disk.as_ref().unwrap().path, "/dev/sda7");
    assert!(config.warnings.is_empty());
}

#[test]
fn defaults_hold_where_nothing_is_said() {
    let config = read("two_nodes.res");
    let resource = &config.resources[0];
    let options = resource.resource_options();
    assert_eq!(options.quorum, Quorum::Majority);
    assert_eq!(options.on_no_quorum, OnNoQuorum::SuspendIo);
    assert!(options.auto_promote);
    let net = resource.net_options("alice", "bob");
    assert_eq!(net.ack_when, AckWhen::Durable);
    assert_eq!(net.patience, Patience::Own);
    let none = Congestion { then: OnCongestion::Block, fill_bytes: 0, extents: 1237 };
    assert_eq!(net.congestion, none);
    assert_eq!(resource.disk_options("alice", 0).al_extents, 1237);
    let rate = resource.peer_disk_options("alice", "bob", 0).c_max_rate_bytes;
    assert_eq!(rate, Some(100 << 20));
}

#[test]
fn a_mesh_connects_every_pair() {
    let config = read("three_nodes.res");
    let resource = &config.resources[0];
    let ends: Vec<[&str; 2]> = resource
        .connections
        .iter()
        .map(|connection| [connection.ends[0].as_str(), connection.ends[1].as_str()])
        .collect();
    assert_eq!(ends, [["alice", "bob"], ["alice", "charlie"], ["bob", "charlie"]]);
    let expected = [
        (0, one_path("10.1.1.32:7000", "10.1.1.31:7000")),
        (2, one_path("10.1.1.32:7000", "10.1.1.33:7000")),
    ];
    assert_eq!(peers(resource, "bob"), expected);
}

#[test]
fn connections_and_volumes_override_what_is_above_them() {
    let config = read("own_ports.res");
    let resource = &config.resources[0];
    let expected = [
        (0, one_path("10.1.1.33:7002", "10.1.1.31:7020")),
        (1, one_path("10.1.1.33:7012", "10.1.1.32:7021")),
    ];
    assert_eq!(peers(resource, "charlie"), expected);
    let charlie = resource.host_by_name("charlie").unwrap();
    assert!(charlie.volume(0).unwrap().is_diskless() && charlie.volume(1).unwrap().is_diskless());
    assert_eq!(charlie.address, Some(address("[fd00::33]:7000")));
    let bob = resource.host_by_name("bob").unwrap();
    let disk = bob.volume(1).unwrap().disk.as_ref().unwrap();
    assert_eq!(disk.path, "/dev/vg1/b");
    let meta_disk = MetaDisk::External { path: "/dev/vg0/meta".to_owned(), index: Some(1) };
    assert_eq!(disk.meta_disk, meta_disk);
    assert_eq!(resource.disk_options("bob", 1).al_extents, 257);
    assert_eq!(resource.disk_options("alice", 1).al_extents, 1237);
    let rate = |a, b, volume| resource.peer_disk_options(a, b, volume).c_max_rate_bytes;
    assert_eq!(rate("alice", "bob", 0), Some(200 << 20));
    assert_eq!(rate("charlie", "bob", 0), Some(10 << 20));
    assert_eq!(rate("bob", "charlie", 1), None);
    assert_eq!(resource.net_options("bob", "charlie").ping_timeout_ms, Some(1000));
    assert_eq!(resource.net_options("bob", "alice").ping_timeout_ms, None);
}

#[test]
fn files_of_drbd_8_still_work() {
    let config = read("old_style.res");
    let resource = &config.resources[0];
    // The addresses decide, not the order of the sections or of the names.
    assert_eq!(resource.host_by_name("zeta").unwrap().node_id, 0);
    assert_eq!(resource.host_by_name("alpha").unwrap().node_id, 1);
    assert_eq!(resource.disk_options("alpha", 0).al_extents, 379);
    assert_eq!(resource.disk.given("resync-rate").unwrap().to_string(), "25M");
    assert_eq!(resource.net.given("csums-after-crash-only").unwrap().to_string(), "yes");
    assert_eq!(resource.net.given("tcp-cork").unwrap().to_string(), "no");
    assert_eq!(resource.net.given("fencing").unwrap().to_string(), "dont-care");
    assert_eq!(resource.disk.given("disk-flushes").unwrap().to_string(), "no");
    assert_eq!(resource.startup.given("wfc-timeout").unwrap().to_string(), "1");
    assert_eq!(resource.startup.given("degr-wfc-timeout").unwrap().to_string(), "60");
    let handler = resource.handlers.given("split-brain").unwrap().to_string();
    assert_eq!(handler, "/usr/lib/drbd/notify-split-brain.sh \"root\"");
    assert!(resource.handlers.given("fence-peer").is_some());
    assert_eq!(resource.net_options("zeta", "alpha").patience, Patience::Endless);
    assert!(told(&config).contains(&"disk-flushes"));
    assert!(!told(&config).contains(&"on-io-error"), "what happens anyway needs no warning");
}

#[test]
fn generated_files_name_hosts_without_their_domain() {
    let config = read("generated.res");
    let resource = &config.resources[0];
    let expected = [
        (0, one_path("10.43.70.3:7000", "10.43.70.1:7000")),
        (1, one_path("10.43.70.3:7000", "10.43.70.2:7000")),
    ];
    assert_eq!(peers(resource, "node-3"), expected);
    assert_eq!(peers(resource, "node-3.example.org"), expected);
    assert_eq!(peers(resource, "node-3.example.com"), []);
    let client = resource.host_by_name("node-3").unwrap().volume(0).unwrap();
    assert!(client.is_diskless());
    assert_eq!(client.is_tiebreaker, Some(true));
    assert_eq!(resource.resource_options().on_no_quorum, OnNoQuorum::IoError);
}

#[test]
fn suffixes_and_clamping_follow_drbd() {
    let config = read("fast_link.res");
    let resource = &config.resources[0];
    let disk = resource.disk_options("storage-a", 0);
    assert_eq!(disk.al_extents, 65_534);
    assert_eq!(disk.read_balancing, ReadBalancing::Striping { kib: 1024 });
    assert_eq!(resource.net.given("max-epoch-size").unwrap().as_number(), Some(16_384));
    assert_eq!(resource.net.given("max-buffers").unwrap().as_number(), Some(36_864));
    // Rates count in KiB, fill targets in sectors.
    assert_eq!(resource.disk.given("resync-rate").unwrap().as_number(), Some(4 << 20));
    assert_eq!(resource.disk.given("c-fill-target").unwrap().as_number(), Some(2048));
    let rate = resource.peer_disk_options("storage-a", "storage-b", 0).c_max_rate_bytes;
    assert_eq!(rate, Some(4 << 30));
    let net = resource.net_options("storage-a", "storage-b");
    assert_eq!(net.patience, Patience::Milliseconds(63_000));
    assert_eq!(net.connect_interval_ms, Some(15_000));
    assert_eq!(net.ping_interval_ms, Some(15_000));
    assert_eq!(net.ping_timeout_ms, Some(1000));
    assert_eq!(resource.host_by_name("storage-b.lan").unwrap().node_id, 28);
    let device = resource.hosts[0].volumes[0].device.as_ref().unwrap();
    assert_eq!((device.minor, device.path.as_deref()), (27, Some("/dev/drbd_fast")));
}

#[test]
fn floating_hosts_are_found_by_address() {
    let config = read("floating.res");
    let resource = &config.resources[0];
    let own = resource.host_by_address(|it| it.to_string() == "fd00::2").unwrap();
    assert_eq!(own.node_id, 2);
    assert!(resource.host_by_address(|it| it.to_string() == "10.0.0.1").is_none());
    assert_eq!(peers(resource, &own.name), [(1, one_path("[fd00::2]:7706", "127.0.0.1:7706"))]);
}

#[test]
fn includes_templates_and_skips() {
    let config = read("tree/drbd.conf");
    let names: Vec<&str> = config.resources.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let a = config.resource("a").unwrap();
    assert_eq!(a.resource_options().on_no_quorum, OnNoQuorum::IoError);
    assert!(!a.resource_options().auto_promote);
    assert_eq!(a.net_options("n1", "n2").patience, Patience::Milliseconds(21_000));
    assert_eq!(a.net_options("n1", "n2").ping_timeout_ms, Some(2000));
    assert_eq!(a.disk.given("al-extents").unwrap().as_number(), Some(2000));
    assert_eq!(a.disk_options("n1", 0).al_extents, 3000);
    // A template stands in for `common`, it is not added to it.
    let b = config.resource("b").unwrap();
    assert_eq!(b.peer_disk_options("n1", "n2", 0).c_max_rate_bytes, Some(1 << 20));
    assert!(b.net.is_empty() && b.options.is_empty());
    let module = &config.warnings[0];
    assert_eq!((module.option.as_str(), module.line), ("require-drbd-module-version", 2));
    assert!(module.file.ends_with("drbd.d/global_common.conf"), "{module}");
}

#[test]
fn a_mesh_leaves_explicit_connections_alone() {
    let text = "resource r {
        volume 0 { disk /d; }
        on a { node-id 0; address 10.0.0.1:1; }
        on b { node-id 1; address 10.0.0.2:1; }
        on c { node-id 2; address 10.0.0.3:1; }
        connection { host b port 9; host a port 8; net { timeout 10; } }
        connection-mesh { hosts c b a; net { timeout 20; ping-int 3; } }
    }";
    let config = parse_text("r.res", text).unwrap_or_else(|errors| panic!("{errors}"));
    let resource = &config.resources[0];
    assert_eq!(resource.connections.len(), 3);
    let own = resource.net_options("a", "b");
    assert_eq!((own.patience, own.ping_interval_ms), (Patience::Milliseconds(7000), Some(3000)));
    let meshed = resource.net_options("a", "c");
    assert_eq!(
        (meshed.patience, meshed.ping_interval_ms),
        (Patience::Milliseconds(14_000), Some(3000))
    );
    assert_eq!(peers(resource, "a")[0], (1, one_path("10.0.0.1:8", "10.0.0.2:9")));
}

#[test]
fn canonical_text_is_in_the_shape_of_a_dump() {
    let config = read("two_nodes.res");
    let expected = "\
resource r0 {
    on alice {
        node-id          0;
        volume 0 {
            device           minor 1;
            disk             /dev/sda7;
            meta-disk        internal;
        }
        address          ipv4 10.1.1.31:7789;
    }
    on bob {
        node-id          1;
        volume 0 {
            device           minor 1;
            disk             /dev/sda7;
            meta-disk        internal;
        }
        address          ipv4 10.1.1.32:7789;
    }
    connection {
        host             alice            address ipv4 10.1.1.31:7789;
        host             bob              address ipv4 10.1.1.32:7789;
    }
}
";
    assert_eq!(config.resources[0].to_res_text(), expected);
}

#[test]
fn the_example_of_the_documentation_is_right() {
    let document = include_str!("../../../docs/config.md");
    let example = document.split("```").nth(1).unwrap();
    let config = parse_text("config.md", example).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(config.warnings, []);
    let resource = &config.resources[0];
    assert_eq!(rewritten(resource), *resource);
    assert_eq!(resource.peers_of("charlie").len(), 2);
    assert!(resource.host_by_name("charlie").unwrap().volume(0).unwrap().is_diskless());
}

#[test]
fn an_asynchronous_peer_has_a_policy_for_congestion() {
    let text = |net: &str| {
        format!(
            "resource r {{ net {{ protocol A; {net} }} volume 0 {{ disk /d; }} \
             on a {{ node-id 0; address 10.0.0.1:1; }} on b {{ node-id 1; address 10.0.0.2:1; }} }}"
        )
    };
    let of = |net: &str| {
        let file = parse_text("r.res", &text(net)).unwrap();
        file.resources[0].net_options("a", "b").congestion
    };
    let Congestion { then, fill_bytes, extents } =
        of("on-congestion pull-ahead; congestion-fill 2M; congestion-extents 500;");
    assert_eq!((then, fill_bytes, extents), (OnCongestion::PullAhead, 2 << 20, 500));
    assert_eq!(of("on-congestion disconnect;").then, OnCongestion::Disconnect);
    assert_eq!(of("congestion-extents 3;").extents, 67);
    assert_eq!(of("congestion-extents 70000;").extents, 65_534);
}

/// A name without the domain was another host to some of them.
#[test]
fn a_domain_may_be_missing_wherever_a_host_is_named() {
    let text = "resource r { volume 0 { disk /d; }
        startup { become-primary-on alpha.example.com; }
        net { after-sb-0pri discard-node-bravo; }
        on alpha { node-id 0; address 10.0.0.1:1; }
        on bravo.example.com { node-id 1; address 10.0.0.2:1; }
        on charlie c.example.com { node-id 2; address 10.0.0.3:1; }
        connection-mesh { hosts alpha.example.com bravo c; }
    }";
    let config = parse_text("r.res", text).unwrap();
    let resource = &config.resources[0];
    for name in ["alpha", "alpha.example.com", "alpha.lan"] {
        assert_eq!(resource.host_by_name(name).unwrap().node_id, 0);
        assert_eq!(resource.peers_of(name).len(), 2);
        assert!(resource.becomes_primary(name));
        assert!(resource.connection_between("bravo", name).is_some());
    }
    assert!(!resource.becomes_primary("bravo"));
    for name in ["charlie", "c", "c.example.com", "charlie.lan"] {
        assert_eq!(resource.host_by_name(name).unwrap().node_id, 2, "{name}");
    }
    assert!(resource.host_by_name("bravo.example.org").is_none());
}

/// DRBD takes them, and tells them apart by their whole names.
#[test]
fn hosts_may_differ_in_their_domain_alone() {
    let text = "resource r { volume 0 { disk /d; }
        startup { become-primary-on db.b.example; }
        on db.a.example { node-id 0; address 10.0.0.1:1; }
        on db.b.example { node-id 1; address 10.0.0.2:1; }
        on alpha { node-id 2; address 10.0.0.3:1; }
        connection { host db.a.example; host db.b.example; }
        connection-mesh { hosts alpha.lan db.a.example db.b.example; }
    }";
    let config = parse_text("r.res", text).unwrap();
    assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    let resource = &config.resources[0];
    for (id, name) in [(0, "db.a.example"), (1, "db.b.example")] {
        assert_eq!(resource.host_meant(name).unwrap().unwrap().node_id, id);
        assert_eq!(resource.peers_of(name).len(), 2, "{name}");
        assert_eq!(resource.becomes_primary(name), id == 1, "{name}");
    }
    let told = resource.host_meant("db").unwrap_err().to_string();
    assert_eq!(told, "`db` could be db.a.example or db.b.example");
    assert!(resource.host_by_name("db").is_none() && resource.peers_of("db").is_empty());
    for option in ["startup { become-primary-on db; }", "net { after-sb-0pri discard-node-db; }"] {
        let text = text.replace("startup { become-primary-on db.b.example; }", option);
        let warnings = parse_text("r.res", &text).unwrap().warnings;
        let told = warnings.iter().map(ToString::to_string).find(|it| it.contains("could be"));
        assert!(told.is_some(), "{option}: {warnings:?}");
    }
}

/// As drbdadm 9.22 takes them: each was tried there.
#[test]
fn suffixes_may_be_small_letters_and_s_may_not_be_large() {
    let read = |section: &str, option: &str| {
        let text = format!(
            "resource r {{ {section} {{ {option}; }} volume 0 {{ disk /d; }} \
             on a {{ node-id 0; address 10.0.0.1:1; }} }}"
        );
        let name = option.split(' ').next().unwrap();
        let config = parse_text("r.res", &text).ok()?;
        let resource = &config.resources[0];
        let sets = [&resource.net, &resource.disk, &resource.options];
        sets.iter().find_map(|set| set.given(name)).and_then(Value::as_number)
    };
    for (section, option, value) in [
        ("disk", "c-max-rate 10m", Some(10 << 10)),
        ("disk", "c-max-rate 1g", Some(1 << 20)),
        ("disk", "c-max-rate 10k", Some(10)),
        ("disk", "c-max-rate 100s", Some(50)),
        ("disk", "c-max-rate \"10m\"", Some(10 << 10)),
        ("disk", "c-max-rate 01000", Some(1000)),
        ("disk", "c-fill-target 10m", Some(20 << 10)),
        ("disk", "size 1g", Some(2 << 20)),
        ("disk", "al-extents 2k", Some(2048)),
        ("disk", "rs-discard-granularity 64k", Some(64 << 10)),
        ("net", "sndbuf-size 10m", Some(10 << 20)),
        ("net", "max-buffers 36k", Some(36 << 10)),
        ("net", "congestion-fill 1g", Some(2 << 20)),
        ("options", "peer-ack-window 2m", Some(4096)),
        ("disk", "c-max-rate 100S", None),
        ("disk", "c-max-rate 1t", None),
        ("disk", "c-max-rate 1T", None),
        ("disk", "c-max-rate 10kb", None),
        ("disk", "c-max-rate 10B", None),
        ("disk", "c-max-rate 0x10", None),
        ("net", "sndbuf-size 1g", None),
        ("net", "timeout 1k", None),
        ("options", "quorum 1k", None),
    ] {
        assert_eq!(read(section, option), value, "{section} {option}");
    }
}

#[test]
fn devices_are_named_as_drbdadm_takes_them() {
    let read = |device: &str| {
        let text = format!(
            "resource r {{ volume 0 {{ device {device}; disk /d; }} \
             on a {{ node-id 0; address 10.0.0.1:1; }} }}"
        );
        let config = parse_text("r.res", &text).ok()?;
        let device = config.resources[0].hosts[0].volumes[0].device.clone()?;
        Some((device.minor, device.path))
    };
    let path = |minor, path: &str| Some((minor, Some(path.to_owned())));
    for (device, expected) in [
        ("drbd1", Some((1, None))),
        ("\"drbd1\"", Some((1, None))),
        ("/dev/drbd1", Some((1, None))),
        ("minor 1", Some((1, None))),
        ("drbd1 minor 1", Some((1, None))),
        ("drbd01", path(1, "/dev/drbd01")),
        ("drbd_r0 minor 3", path(3, "/dev/drbd_r0")),
        ("/dev/drbd_r0 minor 3", path(3, "/dev/drbd_r0")),
        ("drbd", None),
        ("drbd_r0", None),
        ("drbd1x", None),
        ("\"drbd+1\"", None),
        ("drbd1 minor 2", None),
        ("1", None),
        ("sda minor 1", None),
        ("DRBD1", None),
        ("dev/drbd1", None),
        ("drbd1048576", None),
    ] {
        assert_eq!(read(device), expected, "{device}");
    }
}

/// Linux may know digests that Basalt does not: what a file says of them is not for the reader.
#[test]
fn any_digest_may_be_named() {
    for digest in ["md5", "sha224", "sha3-256", "rmd160"] {
        let text = format!(
            "resource r {{ net {{ cram-hmac-alg {digest}; shared-secret x; }} disk /d; \
             on a {{ address 10.0.0.1:1; }} on b {{ address 10.0.0.2:1; }} }}"
        );
        let config = parse_text("r.res", &text).unwrap();
        assert_eq!(rewritten(&config.resources[0]), config.resources[0]);
        let net = config.resources[0].net_options("a", "b");
        assert_eq!(net.cram_hmac_alg.as_deref(), Some(digest));
    }
}

/// Each was asked of drbdadm 9.22: the metadata of such hosts has these ids in it.
#[test]
fn two_hosts_without_node_ids_get_those_that_drbdadm_gives() {
    for (left, right, id) in [
        ("192.0.2.11:7789", "192.0.2.12:7789", 1),
        ("192.0.2.12:7789", "192.0.2.11:7789", 0),
        ("192.0.2.1:7000", "192.0.2.2:7001", 0),
        ("192.0.2.1:7001", "192.0.2.2:7000", 0),
        ("192.0.2.73:7793", "192.0.2.74:7793", 1),
        ("10.0.0.9:7", "10.0.0.10:7", 0),
        ("10.0.1.1:7", "10.0.0.2:7", 0),
        ("[2001:db8::1]:7", "[2001:db8::2]:7", 0),
        ("[2001:db8::2]:7", "[2001:db8::3]:7", 0),
        ("[2001:db8::3]:7", "[2001:db8::9]:7", 0),
        ("[fd00::a]:7", "[fd00::b]:7", 1),
    ] {
        let family = if left.starts_with('[') { "ipv6 " } else { "" };
        let text = format!(
            "resource r {{ disk /d; on a {{ address {family}{left}; }} \
             on b {{ address {family}{right}; }} }}"
        );
        let config = parse_text("r.res", &text).unwrap();
        let ids = ["a", "b"].map(|name| config.resources[0].host_by_name(name).unwrap().node_id);
        assert_eq!(ids, [id, 1 - id], "{left} {right}");
    }
}
