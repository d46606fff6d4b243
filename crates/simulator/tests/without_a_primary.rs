//! Replicas that become equal while no node is Primary.

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::Command;
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// Node 2 missed a write, and comes back when no node is Primary.
fn with_return_to_secondaries() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.demote(0);
    it.cluster.start(2);
    it
}

fn nobody_is_primary(it: &Scenario) -> bool {
    (0..3).all(|node| !it.cluster.is_primary(node))
}

#[test]
fn a_replica_that_returns_to_secondaries_is_brought_up_to_date() {
    let mut it = with_return_to_secondaries();
    it.until("the return of node 2", |it| it.is_in_sync(2, 2) && it.leader(2).is_none());
    assert!(nobody_is_primary(&it));
    assert_eq!(it.on_disk(2, 7), 2);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 2);
}

#[test]
fn who_wants_to_be_primary_does_not_wait_for_a_resync_without_clients() {
    let mut it = with_return_to_secondaries();
    it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(30), ..SlowDisk::default() };
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[2].syncing));
    assert!(nobody_is_primary(&it));
    let before = it.cluster.now;
    it.promote(1);
    assert!(it.cluster.now.since(before) < Duration::from_millis(500));
    assert_eq!(it.must_read(1, 7), 2);
}

#[test]
fn after_the_death_of_everyone_replicas_become_equal_without_clients() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    // Two of three have the write when all die.
    it.cluster.cut_link(0, 2);
    it.write(0, 7, 2);
    it.until("two copies", |it| it.on_disk(0, 7) == 2 && it.on_disk(1, 7) == 2);
    for node in 0..3 {
        it.cluster.kill(node);
    }
    it.cluster.heal_link(0, 2);
    for node in 0..3 {
        it.cluster.start(node);
    }
    assert_ne!(it.on_disk(2, 7), it.on_disk(1, 7));
    it.until("equal replicas", |it| it.on_disk(2, 7) == it.on_disk(1, 7));
    it.until("the end of the resync", |it| {
        it.leader(0).is_none() && (0..3).all(|node| it.is_in_sync(0, node))
    });
    assert!(nobody_is_primary(&it));
}

#[test]
fn an_invalidated_replica_is_copied_without_a_primary() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.demote(0);
    let incarnation = |it: &Scenario| {
        let config = it.status(0)?.config?;
        Some(config.volumes.first()?.insync_member(NodeId::new(2)?)?.incarnation)
    };
    let before = incarnation(&it);
    let invalidated = it.command(2, Command::Invalidate);
    it.until("the answer", |it| it.succeeded(invalidated));
    it.until("the copy", |it| {
        it.leader(0).is_none() && incarnation(it).is_some_and(|now| Some(now) != before)
    });
    assert!(nobody_is_primary(&it));
}

/// Its session would go on with a replica that holds nothing, and record the loss of those that
/// hold everything: nobody would be up to date any more.
#[test]
fn a_replica_whose_node_is_primary_is_not_invalidated() {
    for is_alone in [false, true] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        if is_alone {
            it.cluster.kill(2);
            it.until("the loss", |it| !it.is_in_sync(0, 2));
        }
        let before = it.incarnation(0);
        for _ in 0..2 {
            let refused = it.command(0, Command::Invalidate);
            it.until("the refusal", |it| it.failed(refused) || it.succeeded(refused));
        }
        it.run(Duration::from_secs(10));
        assert!(it.is_in_sync(0, 1), "the replica that has everything was disowned");
        assert_eq!(it.incarnation(0), before, "its replica was given up");
        assert_eq!(it.must_read(0, 7), 1);
        // Once it is Secondary the others have the data, and it is copied.
        it.demote(0);
        let invalidated = it.command(0, Command::Invalidate);
        it.until("the answer", |it| it.succeeded(invalidated));
        it.until("the copy", |it| it.leader(1).is_none() && it.is_in_sync(1, 0));
        it.promote(0);
        assert_eq!(it.must_read(0, 7), 1);
    }
}
