//! Peers that are not what they should be.

use std::net::Ipv4Addr;

use crate::cluster::{Cluster, RESOURCE, wait_for};
use crate::fake_peer::{FakePeer, hello, hello_of_start, masked, resource_messages, seal};
use api::disk_state::DiskState;

/// Of the OPEN of a fake peer.
const HANDLE: u32 = 1000;

/// Two configurations that give the ids to other nodes: neither believes the other.
#[test]
fn exchanged_node_ids_keep_the_nodes_apart() {
    let cluster = Cluster::start(3);
    let good = cluster.text();
    for index in [0, 1] {
        cluster.adm(index, &["down", RESOURCE]).ok();
    }
    // Alfa's file gives 1 to charlie and 2 to bravo.
    let exchanged = good.replace("node-id 1;", "node-id X;").replace("node-id 2;", "node-id 1;");
    cluster.configure(&exchanged.replace("node-id X;", "node-id 2;"));
    cluster.adm(0, &["up", RESOURCE]).ok();
    cluster.wait_for_reason(0, "charlie", "node ids differ");
    cluster.nodes[2].wait_for_log("compare the node-id lines of both configurations");
    // Alfa has left, and has no vote of its own.
    let written_anywhere = cluster.nodes[0].status().unwrap().quorum_votes.unwrap().have;
    assert_eq!(written_anywhere, 0, "no vote of a node that is somebody else");

    cluster.configure(&good);
    cluster.adm(0, &["adjust", RESOURCE]).exits(0);
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.wait_for_connections();
    for node in &cluster.nodes {
        node.wait_for_disk(DiskState::UpToDate);
    }
}

#[test]
fn peer_with_another_resource_is_told_and_shown() {
    let cluster = Cluster::start(3);
    cluster.adm(1, &["down", RESOURCE]).ok();
    cluster.configure(
        &cluster.text().replace("resource r0", "resource other").replace("/disk\"", "/other\""),
    );
    let disk = cluster.nodes[1].home.join("other");
    std::fs::copy(cluster.nodes[1].disk(), &disk).unwrap();
    cluster.adm(1, &["create-md", "--force", "--node", "bravo", "other"]).exits(0);
    cluster.adm(1, &["up", "other"]).ok();
    cluster.wait_for_reason(0, "bravo", "does not have this resource");
    cluster.adm(1, &["down", "other"]).ok();
    cluster.configure(&cluster.text());
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
    cluster.wait_for_connections();
}

/// Daemons without alfa, whose address is the one that the fake peers connect from.
pub(crate) fn without_alfa() -> Cluster {
    let mut cluster = Cluster::prepare_with_first_at(Ipv4Addr::LOCALHOST, 3).bring_up();
    cluster.nodes[0].kill();
    wait_for("charlie to miss alfa", || cluster.reason(2, "alfa"));
    cluster
}

/// The daemon lives, serves, and takes the real peer back.
pub(crate) fn is_well(mut cluster: Cluster) {
    let mut client = cluster.nodes[1].client();
    client.write(0, &[9; 4096]).unwrap();
    client.close().unwrap();
    for index in [1, 2] {
        assert!(!cluster.nodes[index].has_ended(), "{}", cluster.nodes[index].log());
    }
    cluster.nodes[0].start();
    cluster.wait_for_connections();
    for node in &cluster.nodes {
        node.wait_for_disk(DiskState::UpToDate);
    }
}

#[test]
fn peer_of_another_version_is_refused_with_both_versions() {
    let cluster = without_alfa();
    let charlie = cluster.nodes[2].peer;
    for (min, max) in [(2, 3), (0, 0)] {
        let mut peer = FakePeer::connect(charlie);
        peer.send(&hello("alfa", min, max));
        peer.expect_close();
        let wanted = format!("speaks protocol versions {min} to {max}, this node 1 to 1");
        cluster.nodes[2].wait_for_log(&wanted);
        cluster.nodes[2].wait_for_log("update the older one");
    }
    is_well(cluster);
}

#[test]
fn strangers_are_refused_by_name() {
    let cluster = without_alfa();
    let charlie = cluster.nodes[2].peer;
    for (name, part) in
        [("zulu", "no member of a resource here"), ("charlie", "two nodes have one name")]
    {
        let mut peer = FakePeer::connect(charlie);
        peer.send(&hello(name, 1, 1));
        peer.expect_close();
        cluster.nodes[2].wait_for_log(part);
    }
    is_well(cluster);
}

/// The name of a member, from where that member is not.
#[test]
fn name_of_a_member_counts_only_at_its_address() {
    let mut cluster = Cluster::start(3);
    cluster.nodes[0].kill();
    wait_for("charlie to miss alfa", || cluster.reason(2, "alfa"));
    let mut peer = FakePeer::connect(cluster.nodes[2].peer);
    peer.send(&hello_of_start("alfa", u64::MAX));
    peer.expect_close();
    cluster.nodes[2].wait_for_log("calls itself \"alfa\", whose address is");
    // Its start count was not believed either: the real node is not an old copy.
    is_well(cluster);
}

/// Another process at the address of a member, while that member is connected.
#[test]
fn connected_member_is_not_replaced_by_its_name() {
    let cluster = Cluster::prepare_with_first_at(Ipv4Addr::LOCALHOST, 3).bring_up();
    let mut client = cluster.nodes[1].client();
    for start in [1, u64::MAX] {
        let mut peer = FakePeer::connect(cluster.nodes[2].peer);
        peer.send(&hello_of_start("alfa", start));
        peer.expect_close();
        client.write(0, &[5; 4096]).unwrap();
    }
    client.close().unwrap();
    cluster.nodes[2].wait_for_log("another process calls itself \"alfa\"");
    let log = cluster.nodes[2].log();
    assert_eq!(log.matches("alfa: connected").count(), 1, "it was never cut off: {log}");
    assert!(!log.contains("alfa: disconnected"), "{log}");
}

/// What a stranger said of a node's starts is forgotten at the word of the operator.
#[test]
fn start_count_of_a_stranger_is_forgotten_by_connect() {
    let mut cluster = without_alfa();
    let mut peer = FakePeer::connect(cluster.nodes[2].peer);
    peer.send(&hello_of_start("alfa", u64::MAX));
    peer.receive_frame().expect("nobody else is there to be alfa");
    peer.end();
    cluster.nodes[0].start();
    cluster.nodes[2].wait_for_log("make this one forget it");
    for verb in ["disconnect", "connect"] {
        cluster.adm(2, &[verb, &format!("{RESOURCE}:alfa")]).ok();
    }
    cluster.wait_for_connections();
}

/// A node that has no disk needs nothing that it is sent to lie on a multiple of 512.
#[test]
fn frames_are_no_longer_than_their_receiver_asks() {
    let (cluster, charlie) = (without_alfa(), 2);
    let address = cluster.nodes[charlie].peer;
    let mut small = FakePeer::greet_in_small_quanta(address, "alfa");
    let frame = small.receive_frame().expect("a peer that is up is sent OPEN");
    assert!(frame.len().is_multiple_of(64) && !frame.len().is_multiple_of(512), "{}", frame.len());
    small.end();
    // A version that has no say in it is taken for one that pads to 512, and gets the same.
    let mut older = FakePeer::greet(address, "alfa");
    let frame = older.receive_frame().expect("a peer that is up is sent OPEN");
    assert_eq!(frame.len(), 512);
    older.end();
    is_well(cluster);
}

/// Frames that are cut, too long, damaged, or no frames at all, before and after the greeting.
#[test]
fn garbage_frames_end_their_connection_only() {
    let cluster = without_alfa();
    let charlie = cluster.nodes[2].peer;
    let good = hello("alfa", 1, 1);
    let changed = |at: usize, bytes: &[u8]| {
        let mut frame = good.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        frame
    };
    let resealed = |at: usize, bytes: &[u8]| {
        let mut frame = changed(at, bytes);
        seal(&mut frame);
        frame
    };
    let noise: Vec<u8> =
        (0..100_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[3]).collect();
    for (what, bytes) in [
        ("noise", noise),
        ("zeroes", vec![0; 65_536]),
        ("a client's words", b"GET / HTTP/1.1\r\nHost: charlie\r\n\r\n".to_vec()),
        ("a damaged byte", changed(60, &[0xaa])),
        ("another frame version", resealed(4, &[9])),
        ("a header part of 4 GiB", resealed(8, &[0xff; 4])),
        ("a header part of nothing", resealed(8, &[0; 4])),
        ("4 GiB of messages", resealed(12, &[0xff; 4])),
        ("a payload of 4 GiB", resealed(16, &[0xff; 4])),
        ("an unknown message", resealed(32, &[0xff, 0x7f])),
        ("a message of 4 GiB", resealed(36, &[0xff; 4])),
        ("a name of 65,535 bytes", resealed(79, &[0xff; 2])),
        ("a name that is no text", resealed(81, &[0xff, 0xfe])),
    ] {
        let mut stranger = FakePeer::connect(charlie);
        stranger.send(&bytes);
        stranger.expect_close();
        assert!(cluster.nodes[2].status().is_some(), "{what}:\n{}", cluster.nodes[2].log());
        let mut known = FakePeer::greet(charlie, "alfa");
        known.send(&bytes);
        known.expect_close();
        assert!(cluster.nodes[2].status().is_some(), "{what}:\n{}", cluster.nodes[2].log());
    }
    for length in [1, 31, 32, 100, good.len() - 1] {
        let mut peer = FakePeer::connect(charlie);
        peer.send(&good[..length]);
        drop(peer);
    }
    is_well(cluster);
}

/// A member whose messages are well formed and say what cannot be: of volumes, lanes, sessions and
/// blocks that are not there. Its connection may end; the daemon does not.
#[test]
fn nonsense_of_a_member_does_not_end_a_secondary() {
    let cluster = without_alfa();
    say_nonsense(&cluster);
    is_well(cluster);
}

#[test]
fn nonsense_of_a_member_does_not_end_a_primary() {
    let cluster = without_alfa();
    let mut client = cluster.nodes[2].client();
    client.write(0, &[8; 4096]).unwrap();
    say_nonsense(&cluster);
    client.write(4096, &[8; 4096]).unwrap();
    let mut read = [0; 8192];
    client.read(0, &mut read).unwrap();
    assert_eq!(read, [8; 8192]);
    client.close().unwrap();
    is_well(cluster);
}

fn say_nonsense(cluster: &Cluster) {
    let charlie = &cluster.nodes[2];
    for (name, message) in resource_messages(HANDLE) {
        for mask in [0xff, 0x83, 0x0f, 0x01, 0] {
            let message = masked(&message, mask);
            let mut peer = FakePeer::greet(charlie.peer, "alfa");
            peer.open(HANDLE, 0, 2);
            peer.send(&message);
            peer.send(&message);
            peer.end();
            let is_alive = charlie.status().is_some();
            assert!(is_alive, "after {name}, {mask:#x}:\n{}", charlie.log());
        }
    }
    let log = charlie.log();
    assert!(log.matches("r0: alfa: connected").count() > 100, "it spoke as a member: {log}");
}
