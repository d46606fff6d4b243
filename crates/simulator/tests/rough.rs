//! More than one node wants to be Primary: what leases, seals and promotions have to stand.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// A disk whose superblock cannot be written, life after life, while the register can: the register
/// is ahead of the disk by more than one end explains, and the disk is no old image for all that.
#[test]
fn the_last_replica_survives_two_ends_between_register_and_superblock() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    // Node 1 votes for the loss of node 2, and comes back too late to be in sync again.
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.kill(1);
    it.cluster.slow[2].flush = Duration::from_secs(60);
    it.cluster.start(2);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.cluster.kill(2);
    it.cluster.slow[2] = SlowDisk::default();
    let incarnation = it.incarnation(0);
    for _ in 0..3 {
        it.cluster.kill(0);
        it.cluster.start(0);
        it.cluster.bad[0].save = true;
        let _ = it.command(0, Command::Promote(PromoteMode::Normal));
        it.run(Duration::from_millis(10));
    }
    for node in [0, 1, 2] {
        it.cluster.kill(node);
        it.cluster.start(node);
    }
    it.promote(0);
    assert_eq!((it.incarnation(0), it.must_read(0, 7)), (incarnation, 1));
}

/// The node that promotes itself right after another one did finds voters that wait for the first
/// lease of that session, and its client keeps what it was given.
#[test]
fn a_second_promotion_does_not_overtake_the_first_before_its_lease() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let demoted = it.command(0, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(demoted));
    let first = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the first promotion", |it| it.succeeded(first));
    let second = it.command(2, Command::Promote(PromoteMode::Normal));
    let write = it.write(1, 7, 2);
    let before = it.cluster.now;
    it.until("an answer to the second", |it| it.failed(second) || it.succeeded(second));
    assert!(it.failed(second), "it ended the session of node 1");
    assert!(it.cluster.now.since(before) < Duration::from_secs(3), "it was told late");
    assert_eq!(it.ended(write), Some(&Ok(None)));
    assert_eq!(it.must_read(1, 7), 2);
}

/// Of two that want to be Primary at once one hears that it lost when the other one won.
#[test]
fn the_loser_of_two_promotions_is_told_at_once() {
    let mut it = Scenario::new(3, 0, 0);
    let demoted = it.command(0, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(demoted));
    let before = it.cluster.now;
    let both = [1, 2].map(|node| it.command(node, Command::Promote(PromoteMode::Normal)));
    it.until("both answers", |it| both.iter().all(|&id| it.succeeded(id) || it.failed(id)));
    assert_eq!(both.iter().filter(|&&id| it.succeeded(id)).count(), 1);
    assert!(it.cluster.now.since(before) < Duration::from_secs(1));
}

/// A Primary whose node is cut off from a majority keeps a member that another node seals and
/// then leaves alone. When the majority is back the Primary is still the one of the register.
#[test]
fn a_primary_hears_that_its_last_member_was_sealed_by_one_that_died() {
    let mut it = Scenario::new(4, 1, 3);
    it.must_write(3, 7, 1);
    for node in [0, 1] {
        it.cluster.cut_link(3, node);
    }
    // Long enough for the leases of nodes 0 and 1 to end.
    it.run(Duration::from_secs(4));
    it.cluster.slow[0].save = Duration::from_millis(300);
    let _ = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the seals", |it| it.explains(1, "phase: Sealing"));
    it.run(Duration::from_millis(20));
    it.cluster.kill(1);
    it.cluster.slow[0] = SlowDisk::default();
    it.cluster.heal_link(3, 0);
    let write = it.write(3, 7, 2);
    it.until("an answer to the write", |it| it.ended(write).is_some());
    if !it.cluster.is_primary(3) {
        it.promote(3);
    }
    it.must_write(3, 7, 3);
    assert_eq!(it.must_read(3, 7), 3);
}
