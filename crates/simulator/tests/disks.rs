//! Disks that fail, are given up, and come back.

use std::time::Duration;

use replication::contract::Command;
use simulator::cluster::BadDisk;
use simulator::scenario::Scenario;

fn detach(it: &mut Scenario, node: usize) {
    let detached = it.command(node, Command::Detach);
    it.until("the end of the disk", |it| it.succeeded(detached));
    it.until("the loss of the replica", |it| !it.is_in_sync(0, node));
}

fn restart(it: &mut Scenario, node: usize) {
    it.cluster.kill(node);
    it.cluster.start(node);
}

/// While a disk is away its node votes on, and the register gets ahead of the stamp on the disk.
/// That is no sign of an old image: what the disk misses is known.
#[test]
fn a_disk_that_was_detached_comes_back_as_what_it_was() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let before = it.incarnation(2);
    detach(&mut it, 2);
    it.must_write(0, 7, 2);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    restart(&mut it, 2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.incarnation(2), before, "copied in full, though all it misses is marked");
    assert_eq!(it.on_disk(2, 7), 2);
}

#[test]
fn the_last_replica_serves_again_after_its_disk_failed_a_write() {
    let mut it = Scenario::new(3, 0, 0);
    detach(&mut it, 1);
    detach(&mut it, 2);
    it.must_write(0, 7, 1);
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let failed = it.write(0, 7, 2);
    it.until("the error", |it| it.ended(failed).is_some_and(Result::is_err));
    restart(&mut it, 0);
    it.promote(1);
    let value = it.must_read(1, 7);
    // Old, new, or torn: but the same for ever.
    assert_ne!(value, 0);
    assert_eq!(it.must_read(1, 7), value);
}

/// The source of a resync fails while it is the only one. Copies that cannot begin are not to be
/// begun again and again in one turn.
#[test]
fn a_resync_waits_while_nobody_has_the_data() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    detach(&mut it, 2);
    let invalidated = it.command(1, Command::Invalidate);
    it.until("the invalidation", |it| it.succeeded(invalidated));
    it.until("a full copy under way", |it| it.explains(0, "step: Copying"));
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let failed = it.write(0, 7, 2);
    it.until("the error", |it| it.ended(failed).is_some_and(Result::is_err));
    it.run(Duration::from_secs(1));
    assert!(!it.is_in_sync(0, 1));
}
