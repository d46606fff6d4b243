//! A daemon that was killed comes back, whatever the kernel still holds of the dead process.

use crate::cluster::{Cluster, RESOURCE, wait_for};
use api::disk_state::DiskState;

/// The kernel takes a killed process's ring apart after its parent has heard of the end. A start at
/// that moment met its own dead listener ("address already in use") and its own dead locks, and
/// left the resource down.
#[test]
fn node_comes_back_at_once_after_each_of_twenty_kills() {
    let mut cluster = Cluster::start(3);
    let mut client = cluster.nodes[0].client();
    for round in 0..20_u64 {
        // Requests are under way when the daemon dies.
        client.write(round * 4096, &[7; 4096]).unwrap();
        let node = &mut cluster.nodes[1];
        node.kill();
        node.start();
        let log = node.log();
        assert!(!log.contains("stays down"), "round {round}:\n{log}");
        assert!(node.status().is_some(), "round {round}: {RESOURCE} is not up\n{log}");
    }
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
    wait_for("a clean end", || (client.flush().is_ok()).then_some(()));
}
