//! Operators give copies up on several nodes at one moment, as a loop over hosts does: one that is
//! up to date stays, and the nodes agree on what is where.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use api::client::ask;
use api::disk_state::DiskState;
use api::request::Command;
use api::role::Role;
use io::now;

use crate::BLOCK;
use crate::harness::Cluster;

const ROUNDS: usize = 3;
/// The rest is for a machine that has other things to do.
const PAUSE_MAX: Duration = Duration::from_secs(5);

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

/// The same without the time that a process takes to start: within less than a message between
/// nodes takes.
fn invalidate_at_one_moment(cluster: &Cluster, nodes: &[usize]) -> Vec<String> {
    let together = Barrier::new(nodes.len());
    thread::scope(|scope| {
        let told = nodes.iter().map(|&node| {
            let together = &together;
            scope.spawn(move || {
                let command = Command::Invalidate { resource: "r0".to_owned() };
                let socket = cluster.admin_socket(node);
                together.wait();
                ask(&socket, command, Duration::from_secs(30)).err()
            })
        });
        let told: Vec<_> = told.collect();
        let refused = told.into_iter().filter_map(|it| it.join().unwrap());
        refused.map(|it| it.to_string()).collect()
    })
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

/// Its client was cut off: both replicas were gone, and nobody was left to read from.
#[test]
fn client_of_a_node_without_a_disk_is_served_while_both_replicas_are_invalidated_at_once() {
    let cluster = Cluster::start_in_sync(3, 1);
    cluster.adm_ok(0, &["secondary", "r0"]);
    let mut client = cluster.client(2);
    let size = client.export().size_bytes;
    client.write(0, &[7; BLOCK]).unwrap();
    for round in 1..=ROUNDS {
        let is_over = AtomicBool::new(false);
        let longest = thread::scope(|scope| {
            let writing = scope.spawn(|| {
                let mut longest = Duration::ZERO;
                let mut block = [0; BLOCK];
                while !is_over.load(Ordering::Relaxed) {
                    let began = now();
                    client.write(BLOCK as u64, &[u8::try_from(round).unwrap(); BLOCK]).unwrap();
                    client.read(0, &mut block).unwrap();
                    assert_eq!(block, [7; BLOCK]);
                    longest = longest.max(now().since(began));
                }
                longest
            });
            let refused = invalidate_at_one_moment(&cluster, &[0, 1]);
            let is_known = |said: &String| said.contains("no other UpToDate replica is connected");
            assert!((1..=2).contains(&refused.len()), "one copy stays: {refused:?}");
            assert!(refused.iter().all(is_known), "{refused:?}");
            let both = [DiskState::UpToDate, DiskState::UpToDate, DiskState::Diskless];
            wait_for_disks(&cluster, &both);
            is_over.store(true, Ordering::Relaxed);
            writing.join().unwrap()
        });
        assert!(longest < PAUSE_MAX, "a client waited for {longest:?}");
        assert_eq!(cluster.role(2), Role::Primary);
    }
    client.close().unwrap();
    cluster.adm_ok(2, &["secondary", "r0"]);
    cluster.assert_replicas_equal(size);
    has_block(&cluster, 0);
}
