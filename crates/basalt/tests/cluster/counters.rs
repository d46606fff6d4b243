//! What is counted of the connections: how much was written over them, and what is under way.

use std::thread;

use api::status::{ConnectionStatus, ResourceStatus};
use api::write_ordering::WriteOrdering;

use crate::BLOCK;
use crate::frozen::Place;
use crate::harness::Cluster;

/// Of the connection at this place: KiB sent and received, sectors in flight, and how many
/// acknowledgements each side owes the other one.
fn counted(status: &ResourceStatus, connection: usize) -> [u64; 5] {
    let ConnectionStatus { ap_in_flight, peer_devices, .. } = &status.connections[connection];
    let it = &peer_devices[0];
    [it.sent, it.received, *ap_in_flight, it.pending.into(), it.unacked.into()]
}

#[test]
fn writes_are_counted_at_both_ends_while_they_are_under_way_and_after() {
    // A member that does not answer is waited for longer than the test looks at it.
    let mut cluster = Cluster::plan(3).sections("net { timeout 60; ko-count 7; }").prepare();
    let Some(mut place) = Place::of_disk(&cluster, 2) else { return };
    cluster.begin();
    cluster.wait_connected(0);
    cluster.adm_ok(0, &["new-current-uuid", "--clear-bitmap", "r0"]);
    cluster.wait_up_to_date(0);
    let mut client = cluster.client(0);
    let base = [0, 1, 2].map(|index| counted(&cluster.status(index).unwrap(), 0));
    for index in 0..64 {
        client.write(index * 4096, &[1; BLOCK]).unwrap();
    }
    let block_kib = u64::try_from(BLOCK / 1024).unwrap();
    let kib = 64 * block_kib;
    cluster.wait(0, "what was sent", |status| counted(status, 1) == [base[0][0] + kib, 0, 0, 0, 0]);
    cluster.wait(2, "what came", |status| counted(status, 0) == [0, base[2][1] + kib, 0, 0, 0]);
    assert_eq!(cluster.status(0).unwrap().write_ordering, WriteOrdering::Flush);

    // One more reaches a disk that stands still: it is owed until the member is left behind.
    place.freeze();
    let writer = thread::spawn(move || {
        client.write(0, &[2; BLOCK]).unwrap();
        client
    });
    let sent = base[0][0] + kib + block_kib;
    cluster.wait(0, "a write under way", |status| counted(status, 1) == [sent, 0, 8, 1, 0]);
    cluster.wait(2, "a write that is owed", |status| counted(status, 0)[4] == 1);
    let shown = cluster.adm_told(0, &["status", "--verbose", "r0"]);
    assert!(shown.contains("ap-in-flight:8"), "{shown}");
    let told = cluster.adm_told(0, &["events2", "--now", "--statistics", "r0"]);
    assert!(told.contains("ap-in-flight:8") && told.contains("pending:1"), "{told}");
    place.thaw();
    let client = writer.join().unwrap();
    cluster.wait(0, "its answer", |status| counted(status, 1)[2..] == [0, 0, 0]);
    client.close().unwrap();
}
