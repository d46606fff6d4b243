//! Connections that carry small packets, and none of those that have to be as large as they get.

use crate::fake_peer::FakePeer;
use crate::peers::{is_well, without_alfa};

const CHARLIE: usize = 2;
/// A padding that is nothing special.
const PADDING_BYTES: u32 = 20_000;
/// The handle and the nodes of the OPEN of a fake peer.
const HANDLE: u32 = 1000;
const ALFA: u8 = 0;

/// The connection was up, and a member over it, until the first large message was stuck.
#[test]
fn connection_counts_when_large_packets_passed_both_ways() {
    let cluster = without_alfa();
    let address = cluster.nodes[CHARLIE].peer;

    // Nothing large comes from alfa.
    let (mut peer, padding_bytes) = FakePeer::greet_with_probe(address, "alfa");
    assert!(padding_bytes >= 4 * 1448, "{padding_bytes} bytes are not several large packets");
    assert_eq!(peer.receive_frame(), None, "nothing more is said, and it ends");
    cluster.wait_for_reason(CHARLIE, "alfa", "large packets do not arrive here from there");
    cluster.wait_for_reason(CHARLIE, "alfa", "`ping -M do -s 1472 127.0.0.1`");

    // Nothing large comes to alfa.
    let (mut peer, _) = FakePeer::greet_with_probe(address, "alfa");
    peer.probe(PADDING_BYTES);
    peer.expect_probed(PADDING_BYTES);
    assert_eq!(peer.receive_frame(), None, "nothing more is said, and it ends");
    cluster.wait_for_reason(CHARLIE, "alfa", "large packets do not arrive there from here");

    // All of it passes.
    let (mut peer, padding_bytes) = FakePeer::greet_with_probe(address, "alfa");
    peer.say_probed(padding_bytes);
    peer.probe(PADDING_BYTES);
    peer.expect_probed(PADDING_BYTES);
    peer.open(HANDLE, ALFA, u8::try_from(CHARLIE).unwrap());
    cluster.nodes[CHARLIE].wait_for_log("r0: alfa: connected");
    peer.end();
    is_well(cluster);
}

/// A release that knows of no probes is not waited for.
#[test]
fn older_peer_counts_without_a_probe() {
    let cluster = without_alfa();
    let mut peer = FakePeer::greet(cluster.nodes[CHARLIE].peer, "alfa");
    peer.open(HANDLE, ALFA, u8::try_from(CHARLIE).unwrap());
    cluster.nodes[CHARLIE].wait_for_log("r0: alfa: connected");
    peer.end();
    is_well(cluster);
}

#[test]
fn what_is_no_probe_ends_the_connection() {
    let cluster = without_alfa();
    let address = cluster.nodes[CHARLIE].peer;
    let log = |part: &str| cluster.nodes[CHARLIE].wait_for_log(part);
    let (mut early, _) = FakePeer::greet_with_probe(address, "alfa");
    early.say_open(HANDLE, ALFA, u8::try_from(CHARLIE).unwrap());
    early.expect_close();
    log("it sent a message out of turn (Probing)");
    let (mut twice, _) = FakePeer::greet_with_probe(address, "alfa");
    twice.probe(PADDING_BYTES);
    twice.probe(PADDING_BYTES);
    twice.expect_close();
    log("it sent a second probe");
    let (mut other, padding_bytes) = FakePeer::greet_with_probe(address, "alfa");
    other.say_probed(padding_bytes - 1);
    other.expect_close();
    log("bytes of a probe came there, which are not ours");
    let (mut late, padding_bytes) = FakePeer::greet_with_probe(address, "alfa");
    late.probe(PADDING_BYTES);
    late.say_probed(padding_bytes);
    late.probe(PADDING_BYTES);
    late.expect_close();
    log("it sent a probe over a connection that counts already");
    let (mut huge, _) = FakePeer::greet_with_probe(address, "alfa");
    huge.probe((128 << 10) + 1);
    huge.expect_close();
    log("it sent garbage");
    is_well(cluster);
}
