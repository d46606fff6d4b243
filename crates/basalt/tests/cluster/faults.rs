//! Nodes that die and come back.

use api::role::Role;

use crate::BLOCK;
use crate::harness::{Cluster, DISK_BYTES, pattern};

#[test]
fn killed_secondary_gets_what_it_missed() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for index in 0..300 {
        if index == 100 {
            cluster.kill(1);
        }
        if index == 200 {
            cluster.launch(1);
        }
        let place = index * 37 % (size / 4096) * 4096;
        client.write(place, &pattern(index, 1)).unwrap();
    }
    cluster.wait_up_to_date(0);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn another_node_takes_over_from_a_killed_primary() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for index in 0..50 {
        client.write(index * 4096, &pattern(index, 1)).unwrap();
    }
    cluster.kill(0);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    for index in 0..50 {
        client.read(index * 4096, &mut block).unwrap();
        assert_eq!(block, pattern(index, 1), "block {index} was acknowledged");
        client.write(index * 4096, &pattern(index, 2)).unwrap();
    }
    cluster.launch(0);
    cluster.wait_up_to_date(1);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
    assert_eq!(cluster.data(0, size)[..BLOCK], pattern(0, 2));
}

#[test]
fn all_nodes_killed_at_once_come_back_with_every_acknowledged_write() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for index in 0..100 {
        client.write(index * 8192, &pattern(index, 1)).unwrap();
    }
    for index in 0..3 {
        cluster.kill(index);
    }
    for index in 0..3 {
        cluster.launch(index);
    }
    let mut client = cluster.client(2);
    let mut block = [0; BLOCK];
    for index in 0..100 {
        client.read(index * 8192, &mut block).unwrap();
        assert_eq!(block, pattern(index, 1), "block {index} was acknowledged");
    }
    cluster.wait_up_to_date(2);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn stopped_daemons_leave_nothing_to_recover() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[9; BLOCK]).unwrap();
    drop(client);
    for index in 0..3 {
        assert_eq!(cluster.terminate(index), Some(0), "{}", cluster.log(index));
    }
    for index in 0..3 {
        cluster.launch(index);
    }
    cluster.wait_connected(0);
    for index in 0..3 {
        assert!(!cluster.log(index).contains("unclean end"), "{}", cluster.log(index));
    }
    let mut block = [0; BLOCK];
    cluster.client(1).read(0, &mut block).unwrap();
    assert_eq!(block, [9; BLOCK]);
    assert_eq!(cluster.role(1), Role::Primary);
}

#[test]
fn disconnected_peer_is_resynced_when_it_is_connected_again() {
    let cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    cluster.adm_ok(0, &["disconnect", "r0:n2"]);
    for index in 0..64 {
        client.write(index * 65_536 % (DISK_BYTES / 2), &pattern(index, 3)).unwrap();
    }
    cluster.adm_ok(0, &["connect", "r0:n2"]);
    cluster.wait_up_to_date(0);
    client.close().unwrap();
    cluster.assert_replicas_equal(size);
}

#[test]
fn replica_that_returns_to_secondaries_gets_what_it_missed() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.kill(2);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    for index in 0..64 {
        client.write(index * 65_536 % (DISK_BYTES / 2), &pattern(index, 4)).unwrap();
    }
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    cluster.launch(2);
    cluster.wait_up_to_date(0);
    cluster.wait_up_to_date(2);
    for index in 0..3 {
        assert_eq!(cluster.role(index), Role::Secondary);
    }
    cluster.assert_replicas_equal(size);
}

#[test]
fn only_replica_is_up_to_date_after_a_restart() {
    let mut cluster = Cluster::start_in_sync(1, 0);
    cluster.kill(0);
    cluster.launch(0);
    cluster.wait_up_to_date(0);
    assert_eq!(cluster.role(0), Role::Secondary);
}
