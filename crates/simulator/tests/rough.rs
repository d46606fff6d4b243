//! More than one node wants to be Primary: what leases, seals and promotions have to stand.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};
use simulator::cluster::SlowDisk;
use simulator::run::{RunOptions, run};
use simulator::scenario::Scenario;

/// Node 0 alone is in sync: node 1 votes for the loss of node 2, and node 2, which is there to vote
/// for that of node 1, comes back too late to be in sync again.
fn leave_one_in_sync(it: &mut Scenario) {
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.kill(1);
    it.cluster.slow[2].flush = Duration::from_secs(60);
    it.cluster.start(2);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
}

/// A disk whose superblock cannot be written, life after life, while the register can: the register
/// is ahead of the disk by more than one end explains, and the disk is no old image for all that.
#[test]
fn the_last_replica_survives_two_ends_between_register_and_superblock() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    leave_one_in_sync(&mut it);
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

/// The only replica in sync fails to take a stamp, takes one, and fails again: what its register
/// says of the first failure is over by then, and the disk is no old image of itself.
#[test]
fn the_last_replica_survives_failures_with_one_stamp_in_between() {
    for millis in (0..40).step_by(2) {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        leave_one_in_sync(&mut it);
        it.cluster.kill(2);
        it.cluster.slow[2] = SlowDisk::default();
        let incarnation = it.incarnation(0);
        it.cluster.start(1);
        let lives = [(true, 300), (false, millis), (true, 2_000)];
        for (fails, millis) in lives {
            it.cluster.kill(0);
            it.cluster.start(0);
            it.cluster.bad[0].save = fails;
            let _ = it.command(0, Command::Promote(PromoteMode::Normal));
            it.run(Duration::from_millis(millis));
            let _ = it.command(1, Command::Promote(PromoteMode::Normal));
            it.run(Duration::from_millis(millis));
            it.cluster.bad[0].save = false;
        }
        for node in [0, 1] {
            it.cluster.kill(node);
            it.cluster.start(node);
        }
        it.promote(0);
        assert_eq!((it.incarnation(0), it.must_read(0, 7)), (incarnation, 1));
    }
}

/// The node that promotes itself right after another one did finds voters that wait for the first
/// lease of that session, and its client keeps what it was given.
#[test]
fn a_second_promotion_does_not_overtake_the_first_before_its_lease() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.demote(0);
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
    it.demote(0);
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

/// What a disk gives back after its power was cut is on the disk: a client that read it once need
/// not flush it. So what makes the others equal to the source is durable before the read ends.
#[test]
fn what_was_read_after_a_loss_of_power_survives_the_next_one() {
    const BLOCKS: u64 = 30;
    let mut it = Scenario::new(3, 0, 0);
    for node in [1, 2] {
        it.cluster.slow[node].write = Duration::from_secs(2);
    }
    for block in 0..BLOCKS {
        let _ = it.write(0, block, 100 + block);
    }
    it.run(Duration::from_millis(100));
    let lose_power = |it: &mut Scenario| {
        for node in 0..3 {
            it.cluster.cut_power(node);
        }
        for node in 0..3 {
            it.cluster.slow[node] = SlowDisk::default();
            it.cluster.start(node);
        }
    };
    lose_power(&mut it);
    it.promote(0);
    let seen: Vec<u64> = (0..BLOCKS).map(|block| it.must_read(0, block)).collect();
    assert!(seen.iter().any(|&value| value > 0), "some of it reached the disk of node 0");
    lose_power(&mut it);
    it.promote(1);
    let again: Vec<u64> = (0..BLOCKS).map(|block| it.must_read(1, block)).collect();
    assert_eq!(again, seen);
}

/// The only replica in sync fails a flush: what it held back may be gone, whatever it says later.
#[test]
fn a_failed_flush_of_the_last_replica_counts_as_lost_memory() {
    let mut it = Scenario::new(3, 0, 0);
    leave_one_in_sync(&mut it);
    it.must_write(0, 7, 1);
    let losses = |it: &Scenario| it.status(0).and_then(|status| status.config).map(|it| it.losses);
    let before = losses(&it);
    it.cluster.bad[0].flush = true;
    let flush = it.flush(0);
    it.until("an answer to the flush", |it| it.ended(flush).is_some());
    assert!(it.ended(flush).is_some_and(Result::is_err));
    it.run(Duration::from_millis(100));
    it.cluster.kill(0);
    it.cluster.start(0);
    it.promote(0);
    assert_eq!(losses(&it), before.map(|losses| losses + 1));
}

/// A block that no member in sync can read ends no copy, and no copy tries for ever.
#[test]
fn a_copy_of_what_nobody_can_read_is_given_up_for_a_while() {
    let mut it = Scenario::new(3, 0, 0);
    for block in [7, 8] {
        it.must_write(0, block, 1);
    }
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    for block in [7, 8] {
        it.must_write(0, block, 2);
    }
    for node in [0, 1] {
        it.cluster.bad[node].unreadable = Some(8);
    }
    it.cluster.start(2);
    it.until("the resync", |it| it.status(0).is_some_and(|status| status.members[2].syncing));
    it.until("its end", |it| it.status(0).is_some_and(|status| !status.members[2].syncing));
    assert!(!it.is_in_sync(0, 2));
    let before = it.cluster.events_done;
    it.run(Duration::from_secs(10));
    let events = it.cluster.events_done - before;
    assert!(events < 3_000, "{events} events in 10 s of nothing to do");
    it.must_write(0, 9, 3);
    for node in [0, 1] {
        it.cluster.bad[node].unreadable = None;
    }
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8), it.on_disk(2, 9)), (2, 2, 3));
}

/// One of two sources cannot read a block: the other one serves the copy, and the block is written
/// again where it could not be read.
#[test]
fn a_copy_takes_another_source_and_mends_the_first() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.bad[0].unreadable = Some(7);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 7), 2);
    it.until("the block written again", |it| it.cluster.bad[0].unreadable.is_none());
    assert_eq!(it.must_read(0, 7), 2);
}

/// A disk that fails while its node stops has nothing to say any more: the node need not wait.
#[test]
fn a_stop_ends_though_the_disk_fails_meanwhile() {
    for fails_before in [false, true] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        if fails_before {
            it.cluster.bad[2].write = true;
            it.must_write(0, 8, 2);
            it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
        } else {
            it.cluster.bad[2].flush = true;
        }
        let stopped = it.command(2, Command::Stop);
        it.until("the stop", |it| it.succeeded(stopped));
    }
}

/// A node without an in-sync replica leads, and only then its disk has stored the seal of an
/// earlier session: its lanes must not stop to lead for that.
#[test]
fn a_seal_that_was_slow_to_store_ends_no_later_session() {
    let options = RunOptions {
        seed: 512,
        trace: false,
        trace_lane: None,
        events: 12_000,
        skip: 0,
        rough: true,
    };
    run(&options).unwrap_or_else(|text| panic!("{text}"));
}
