//! After a promotion that may have lost acknowledged writes: who is sent away until somebody has
//! looked at the data, and who goes on (C5).

use api::disk_state::DiskState;
use api::role::Role;

use crate::BLOCK;
use crate::harness::Cluster;
use crate::initiator::{Initiator, command};
use crate::nvme::initiator;

const OPTIMIZED: u8 = 1;
const INACCESSIBLE: u8 = 3;
const STATUS_INACCESSIBLE: u16 = 0x302;

/// The first node is Primary, and dies with what was written there while the others had no disk.
fn die_with_the_newest(cluster: &mut Cluster, write: impl FnOnce()) {
    for index in [1, 2] {
        cluster.adm_ok(index, &["detach", "r0"]);
    }
    write();
    cluster.kill(0);
    cluster.adm_ok(1, &["attach", "r0"]);
}

/// The second node is taken by force then.
fn with_losses() -> Cluster {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    die_with_the_newest(&mut cluster, || {
        client.write(BLOCK as u64, &[2; BLOCK]).unwrap();
        drop(client);
    });
    let said = cluster.adm_warned(1, &["primary", "--force", "r0"]);
    assert!(said.contains("`basalt adm reopen r0`"), "it says what to type: {said}");
    assert!(!said.contains("not needed"), "{said}");
    cluster.adm_ok(2, &["attach", "r0"]);
    cluster.wait(2, "a copy", |status| status.devices[0].disk_state == DiskState::UpToDate);
    cluster
}

/// Recipes end with --force by habit, also where a majority answers and a replica has everything.
#[test]
fn force_that_is_not_needed_gives_nothing_up() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.kill(0);
    drop(client);
    let said = cluster.adm_warned(1, &["primary", "--force", "r0"]);
    assert!(said.contains("--force was not needed"), "{said}");
    assert!(!awaits_reopen(&cluster, 1));
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
    client.close().unwrap();
}

#[track_caller]
fn assert_refused(cluster: &Cluster, index: usize) {
    let refusal = cluster.connect(index).expect_err("it is let in").to_string();
    assert!(refusal.contains("may be lost") && refusal.contains("adm reopen r0"), "{refusal}");
}

fn awaits_reopen(cluster: &Cluster, index: usize) -> bool {
    cluster.status(index).unwrap().epoch.unwrap().awaits_reopen
}

/// Whoever comes may have been there before, and would go on as if nothing had been.
#[test]
fn nbd_clients_are_refused_on_every_node_until_reopen() {
    let mut cluster = with_losses();
    assert_refused(&cluster, 1);
    let explained = cluster.adm_told(1, &["explain", "r0"]);
    assert!(explained.contains("adm reopen r0"), "{explained}");
    // Neither another Primary nor a restart makes anybody forget.
    cluster.launch(0);
    cluster.wait_up_to_date(0);
    cluster.kill(1);
    assert_refused(&cluster, 2);
    cluster.launch(1);
    cluster.wait_up_to_date(1);
    assert_refused(&cluster, 0);
    cluster.wait(0, "the way back", |status| status.role == Role::Secondary);
    cluster.adm_ok(2, &["reopen", "r0"]);
    let mut client = cluster.client(1);
    let mut block = [0; BLOCK];
    client.read(0, &mut block).unwrap();
    assert_eq!(block, [1; BLOCK]);
    client.close().unwrap();
    assert!((0..3).all(|index| !awaits_reopen(&cluster, index)));
    cluster.client(2).close().unwrap();
}

/// A client that tries again and again made its node Primary each time before it heard that it may
/// not: for so long no other node could be, and `reopen` was refused there.
#[test]
fn a_client_that_is_refused_promotes_nothing() {
    let cluster = with_losses();
    cluster.adm_ok(1, &["secondary", "r0"]);
    let epoch = |index| cluster.status(index).unwrap().epoch.unwrap();
    cluster.poll(2, "the news", || (epoch(2) == epoch(1)).then_some(()));
    let before = epoch(1);
    for index in [1, 2, 1] {
        assert_refused(&cluster, index);
        assert_eq!(cluster.status(index).unwrap().role, Role::Secondary);
    }
    assert_eq!([epoch(1), epoch(2)], [before.clone(), before]);
    cluster.adm_ok(2, &["reopen", "r0"]);
    cluster.client(2).close().unwrap();
}

/// An operator's word is about what there was to look at.
#[test]
fn the_next_loss_has_to_be_looked_at_again() {
    let mut cluster = with_losses();
    cluster.launch(0);
    cluster.wait_up_to_date(0);
    let refusal = cluster.adm_refused(2, &["reopen", "r0"]);
    assert!(refusal.contains("another node is Primary"), "{refusal}");
    cluster.adm_ok(1, &["reopen", "r0"]);
    cluster.adm_ok(1, &["reopen", "r0"]);
    cluster.client(1).close().unwrap();
    cluster.kill(1);
    cluster.kill(2);
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    assert_eq!(cluster.status(0).unwrap().epoch.unwrap().losses, 2);
    assert_refused(&cluster, 0);
    cluster.adm_ok(0, &["reopen", "r0"]);
    cluster.client(0).close().unwrap();
}

fn name(initiator: &mut Initiator) -> [u8; 16] {
    initiator.identify(3)[4..20].try_into().unwrap()
}

/// The node that is taken by force was a way to the volume all along.
#[test]
fn an_nvme_host_gets_another_namespace_and_no_way_to_the_one_that_it_had() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut first = initiator(&cluster, 0);
    assert_eq!(first.write(0, &[1; BLOCK]), 0);
    let mut second = initiator(&cluster, 1);
    let former = name(&mut second);
    assert_eq!(name(&mut first), former);
    let wish = command(9, &[(40, &[0x0b]), (44, &[0, 1])]);
    assert_eq!(second.admin.run(wish, &[], 0).status, 0);
    let event = second.admin.send(command(0x0c, &[]), &[], 0);
    die_with_the_newest(&mut cluster, || {
        assert_eq!(first.write(0, &[7; BLOCK]), 0);
        drop(first);
    });
    cluster.adm_ok(1, &["primary", "--force", "r0"]);
    cluster.adm_ok(2, &["attach", "r0"]);
    assert_eq!(second.write(0, &[2; BLOCK]), STATUS_INACCESSIBLE);
    let end = second.admin.wait(&[]);
    assert_eq!((end.command, end.result), (event, 0x0004_0002), "a namespace changed");
    assert_eq!(second.path(), INACCESSIBLE);
    // It reads the name, and the namespace, and compares. What it sent before that may come yet.
    let latter = name(&mut second);
    assert_ne!(latter, former);
    second.identify(0);
    assert_eq!(second.write(0, &[2; BLOCK]), STATUS_INACCESSIBLE);
    // It reads once more what it goes on with.
    second.identify(0);
    assert_eq!(second.write(0, &[3; BLOCK]), 0);
    assert_eq!((second.path(), second.read(0, BLOCK)), (OPTIMIZED, vec![3; BLOCK]));
    drop(second);
    let mut third = initiator(&cluster, 2);
    cluster.poll(2, "the same name on another way", || (name(&mut third) == latter).then_some(()));
    let mut again = initiator(&cluster, 1);
    assert_eq!(again.write(0, &[4; BLOCK]), STATUS_INACCESSIBLE, "it may be one of before");
    name(&mut again);
    again.identify(0);
    again.identify(0);
    assert_eq!(again.write(0, &[4; BLOCK]), 0);
    // Neither an operator's word nor another node's turn changes the name.
    cluster.adm_ok(1, &["reopen", "r0"]);
    assert_eq!((name(&mut again), again.write(0, &[5; BLOCK])), (latter, 0));
}

/// Some initiators read a name, and nothing that shows what they made of it.
#[test]
fn an_nvme_host_that_read_the_names_is_served_after_a_while() {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut host = initiator(&cluster, 1);
    name(&mut host);
    let mut client = cluster.client(0);
    die_with_the_newest(&mut cluster, || {
        client.write(0, &[1; BLOCK]).unwrap();
        drop(client);
    });
    cluster.adm_ok(1, &["primary", "--force", "r0"]);
    let before = io::now();
    name(&mut host);
    cluster.poll(1, "a way", || (host.path() == OPTIMIZED).then_some(()));
    assert!(io::now().since(before).as_secs() >= 1, "it had no time to compare");
    assert_eq!(host.write(0, &[2; BLOCK]), 0);
}
