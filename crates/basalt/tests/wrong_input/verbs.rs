//! Every verb twice in a row, and resources that go down and up again.

use crate::cluster::{Cluster, RESOURCE};
use api::disk_state::DiskState;
use api::role::Role;

/// The second time it is done already: that is no failure, except where doing it again would
/// destroy something or there is nothing left to do it to.
#[test]
fn every_verb_may_come_twice() {
    let mut cluster = Cluster::prepare(3);
    let create = ["create-md", "--node", "alfa", RESOURCE];
    cluster.adm(0, &create).exits(0);
    cluster.adm(0, &create).refused_with(10, &["metadata of resource `r0`", "--force"]);
    cluster.create_md(1);
    cluster.create_md(2);
    for node in &mut cluster.nodes {
        node.start();
    }
    for index in 0..3 {
        cluster.adm(index, &["up", RESOURCE]).ok();
        cluster.adm(index, &["up", RESOURCE]).ok();
    }
    cluster.become_whole();

    for words in [
        &["adjust", RESOURCE][..],
        &["adjust", "--dry-run", RESOURCE],
        &["primary", RESOURCE],
        &["status", RESOURCE],
        &["role", RESOURCE],
        &["cstate", RESOURCE],
        &["dstate", RESOURCE],
        &["dump", RESOURCE],
        &["disconnect", "r0:bravo"],
        &["connect", "r0:bravo"],
        &["disconnect", RESOURCE],
        &["connect", RESOURCE],
        &["secondary", RESOURCE],
    ] {
        let first = cluster.adm(0, words);
        let second = cluster.adm(0, words);
        assert_eq!((first.exit, second.exit), (0, 0), "{words:?}: {first:?} {second:?}");
        assert_eq!(second.stderr, "", "{words:?}");
    }
    cluster.become_whole();
    // Without a Primary, and with one.
    for _ in 0..2 {
        cluster.adm(2, &["invalidate", RESOURCE]).ok();
        let again = cluster.adm(2, &["invalidate", RESOURCE]);
        assert!([0, 11].contains(&again.exit), "{again:?}");
        cluster.nodes[2].wait_for_disk(DiskState::UpToDate);
        cluster.adm(0, &["primary", RESOURCE]).ok();
    }

    cluster.adm(2, &["detach", RESOURCE]).ok();
    cluster.nodes[2].wait_for_disk(DiskState::Diskless);
    cluster.adm(2, &["detach", RESOURCE]).ok();

    cluster.adm(2, &["down", RESOURCE]).ok();
    for words in [&["down", RESOURCE][..], &["down", "--force", RESOURCE]] {
        let again = cluster.adm(2, words);
        again.exits(0);
        assert!(again.stderr.contains("nothing to take down"), "{again:?}");
    }
    cluster.adm(2, &["down", "all"]).exits(0);
    cluster.adm(2, &["up", RESOURCE]).ok();
    cluster.nodes[2].wait_for_disk(DiskState::UpToDate);
}

#[test]
fn down_and_up_again_loses_nothing() {
    let cluster = Cluster::start(3);
    let mut client = cluster.nodes[0].client();
    for round in 0..8_u8 {
        cluster.adm(1, &["down", RESOURCE]).ok();
        client.write(u64::from(round) * 8192, &[round + 1; 4096]).unwrap();
        cluster.adm(1, &["up", RESOURCE]).ok();
        client.write(u64::from(round) * 8192 + 4096, &[round + 1; 4096]).unwrap();
    }
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
    let in_use = cluster.adm(0, &["down", RESOURCE]);
    in_use.refused_with(11, &["(-12)", "1 clients have it open"]);
    client.flush().unwrap();
    client.close().unwrap();

    for _ in 0..4 {
        for index in 0..3 {
            cluster.adm(index, &["down", RESOURCE]).ok();
        }
        for index in 0..3 {
            cluster.adm(index, &["up", RESOURCE]).ok();
        }
    }
    cluster.nodes[1].wait_for_disk(DiskState::UpToDate);
    let mut client = cluster.nodes[1].client();
    for round in 0..8_u8 {
        let mut read = [0; 8192];
        client.read(u64::from(round) * 8192, &mut read).unwrap();
        assert!(read.iter().all(|byte| *byte == round + 1), "round {round}");
    }
    assert_eq!(cluster.nodes[1].status().unwrap().role, Role::Primary);
}
