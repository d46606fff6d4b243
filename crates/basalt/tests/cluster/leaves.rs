//! Nodes that are stopped in turn: the last one serves, and none that left does (DRBD's "last man
//! standing").

use std::thread;
use std::time::Duration;

use api::disk_state::DiskState;
use api::role::Role;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::members::voters;

#[test]
fn two_are_stopped_in_turn_and_the_last_one_serves() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    let size = client.export().size_bytes;
    client.write(0, &[7; BLOCK]).unwrap();
    cluster.adm_ok(2, &["down", "r0"]);
    let status = cluster.status(0).unwrap();
    assert_eq!(voters(&status), ["n0", "n1"]);
    assert!(status.reasons.iter().any(|it| it.contains("n2 has no vote")), "{status:?}");
    client.write(4096, &[8; BLOCK]).unwrap();
    assert_eq!(cluster.terminate(1), Some(0), "{}", cluster.log(1));
    let status = cluster.status(0).unwrap();
    assert_eq!(voters(&status), ["n0"]);
    assert!(status.devices[0].quorum);
    // Longer than a lease of before lasts.
    thread::park_timeout(Duration::from_secs(3));
    client.write(8192, &[9; BLOCK]).unwrap();
    let mut block = [0; BLOCK];
    client.read(4096, &mut block).unwrap();
    assert_eq!(block, [8; BLOCK]);
    assert_eq!(cluster.role(0), Role::Primary);

    cluster.adm_ok(2, &["up", "r0"]);
    cluster.launch(1);
    cluster.wait_up_to_date(0);
    cluster.wait(0, "their votes", |status| voters(status) == ["n0", "n1", "n2"]);
    client.close().unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    cluster.assert_replicas_equal(size);
}

#[test]
fn one_that_left_serves_nobody_without_the_last() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    cluster.client(0).write(0, &[7; BLOCK]).unwrap();
    cluster.adm_ok(0, &["secondary", "r0"]);
    // Without a Primary as well.
    for index in [1, 2] {
        assert_eq!(cluster.terminate(index), Some(0), "{}", cluster.log(index));
    }
    cluster.adm_ok(0, &["primary", "r0"]);
    cluster.client(0).write(0, &[8; BLOCK]).unwrap();
    cluster.kill(0);
    for index in [1, 2] {
        cluster.launch(index);
    }
    cluster.wait(1, "the other", |it| it.connections.iter().any(|one| one.name == "n2"));
    let said = cluster.adm_refused(1, &["primary", "r0"]);
    assert!(said.contains("no quorum: 0 of 1 voters answer"), "{said}");
    let status = cluster.status(1).unwrap();
    assert_eq!(status.devices[0].disk_state, DiskState::Outdated);
    assert_eq!(voters(&status), ["n0"]);

    cluster.launch(0);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [8; BLOCK]);
}
