//! After a promotion that may have lost acknowledged writes: who is sent away until somebody has
//! looked at the data, and who goes on (C5).

use api::role::Role;

use crate::BLOCK;
use crate::harness::Cluster;

/// The first node is Primary and dies with a client's write; the second one is taken by force.
fn with_losses() -> Cluster {
    let mut cluster = Cluster::start_in_sync(3, 0);
    let mut client = cluster.client(0);
    client.write(0, &[1; BLOCK]).unwrap();
    cluster.kill(0);
    drop(client);
    let said = cluster.adm(1, &["primary", "--force", "r0"]);
    assert!(said.status.success());
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(said.contains("`basalt adm reopen r0`"), "it says what to type: {said}");
    cluster
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
    let explained = String::from_utf8(cluster.adm(1, &["explain", "r0"]).stdout).unwrap();
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
    cluster.adm_ok(0, &["primary", "--force", "r0"]);
    assert_eq!(cluster.status(0).unwrap().epoch.unwrap().losses, 2);
    assert_refused(&cluster, 0);
    cluster.adm_ok(0, &["reopen", "r0"]);
    cluster.client(0).close().unwrap();
}
