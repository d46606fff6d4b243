//! Operators give copies up on several nodes at one moment, as a loop over hosts does: one that is
//! up to date stays, and the nodes agree on what is where.

use std::thread;

use api::disk_state::DiskState;

use crate::BLOCK;
use crate::harness::Cluster;

const ROUNDS: usize = 3;

/// What those say who were refused.
fn on_all_at_once(cluster: &Cluster, nodes: &[usize], verb: &str) -> Vec<String> {
    let outputs = thread::scope(|scope| {
        let told = nodes.iter().map(|&node| scope.spawn(move || cluster.adm(node, &[verb, "r0"])));
        let told: Vec<_> = told.collect();
        told.into_iter().map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    let refused = outputs.into_iter().filter(|output| !output.status.success());
    refused.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect()
}

/// All nodes show these disks, of themselves and of each other.
#[track_caller]
fn wait_for_disks(cluster: &Cluster, expected: &[DiskState]) {
    for node in 0..expected.len() {
        cluster.wait(node, "view of all disks as they are", |status| {
            let peers = status.connections.iter();
            let mut shown: Vec<_> = peers
                .map(|it| (usize::from(it.peer_node_id), it.peer_devices[0].peer_disk_state))
                .chain([(node, status.devices[0].disk_state)])
                .collect();
            shown.sort_by_key(|&(node, _)| node);
            shown.iter().map(|&(_, state)| state).eq(expected.iter().copied())
        });
    }
}

#[track_caller]
fn has_block(cluster: &Cluster, node: usize) {
    let mut block = [0; BLOCK];
    let mut client = cluster.client(node);
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [7; BLOCK]);
    client.close().unwrap();
    cluster.adm_ok(node, &["secondary", "r0"]);
}

#[test]
fn all_are_invalidated_at_once_and_one_keeps_its_copy() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    for round in 0..ROUNDS {
        let refused = on_all_at_once(&cluster, &[0, 1, 2], "invalidate");
        let is_known = |said: &String| said.contains("no other UpToDate replica is connected");
        assert!(refused.iter().all(is_known), "{refused:?}");
        wait_for_disks(&cluster, &[DiskState::UpToDate; 3]);
        has_block(&cluster, round % 3);
    }
    cluster.assert_replicas_equal(size);
}

#[test]
fn all_are_detached_at_once_and_one_keeps_its_disk() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[7; BLOCK]).unwrap();
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    for round in 0..ROUNDS {
        let refused = on_all_at_once(&cluster, &[0, 1, 2], "detach");
        assert_eq!(refused.len(), 1, "one keeps its disk, and no more: {refused:?}");
        assert!(refused[0].contains("it is the last UpToDate replica in reach"), "{refused:?}");
        let is_kept = |&node: &usize| {
            cluster.status(node).unwrap().devices[0].disk_state == DiskState::UpToDate
        };
        let kept = (0..3).find(is_kept).unwrap();
        let mut expected = [DiskState::Diskless; 3];
        expected[kept] = DiskState::UpToDate;
        wait_for_disks(&cluster, &expected);
        for node in (0..3).filter(|&node| node != kept) {
            cluster.poll(node, "disk", || {
                cluster.adm(node, &["attach", "r0"]).status.success().then_some(())
            });
        }
        wait_for_disks(&cluster, &[DiskState::UpToDate; 3]);
        has_block(&cluster, round % 3);
    }
}
