//! Sequences of failures that were found by thought, each with what must hold after it.

use std::time::Duration;

use replication::contract::{Command, PromoteMode, Repair, VerifyTask};
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// Leaves node 2 behind, and starts it again: it is being brought up to date.
fn with_returning_member() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it
}

#[test]
fn a_member_whose_join_is_in_doubt_stays_in_the_write_set() {
    let mut it = with_returning_member();
    it.until("the join to be prepared", |it| it.explains(0, "change: Some(PreparingJoin"));
    // The value with which it joins takes long to be chosen, and the member is lost meanwhile.
    it.cluster.slow[1] = SlowDisk { save: Duration::from_millis(300), ..SlowDisk::default() };
    it.cluster.slow[0] = SlowDisk { save: Duration::from_millis(300), ..SlowDisk::default() };
    it.until("the join to be proposed", |it| it.explains(0, "change: Some(Joining"));
    it.cluster.kill(2);
    it.must_write(0, 7, 3);
    it.run(Duration::from_secs(1));
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 7), 3);
}

#[test]
fn a_member_that_loses_power_after_its_seal_is_not_taken_for_the_one_that_answered() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(0);
    // Node 2 answers the seal; then it loses what its device cached, and comes back in time for
    // the new epoch.
    it.cluster.slow[1] = SlowDisk { save: Duration::from_millis(400), ..SlowDisk::default() };
    let id = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the proposal", |it| it.explains(1, "phase: Proposing"));
    it.cluster.cut_power(2);
    it.cluster.start(2);
    it.until("the promotion", |it| it.succeeded(id));
    it.until("the loss of node 2, whose memory is gone", |it| !it.is_in_sync(1, 2));
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
}

#[test]
fn a_promotion_goes_on_without_a_member_that_missed_the_new_epoch() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    it.cluster.deaf_to[2] = Some("NewEpoch");
    it.cluster.slow[1] = SlowDisk { save: Duration::from_millis(200), ..SlowDisk::default() };
    it.promote(1);
    it.must_write(1, 7, 2);
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    it.until("equal replicas", |it| it.on_disk(2, 7) == 2);
}

/// A voter that promised itself to somebody who died grants no lease to the session that was
/// chosen before, until a higher ballot of that session comes.
#[test]
fn a_promise_to_a_dead_promoter_does_not_end_the_leases() {
    let mut it = Scenario::new(4, 1, 0);
    it.must_write(0, 7, 1);
    for node in 1..4 {
        it.cluster.cut_link(0, node);
    }
    // The leases that nodes 1 and 2 granted end.
    it.run(Duration::from_secs(2));
    let _ = it.command(3, Command::Promote(PromoteMode::Normal));
    it.until("the promises", |it| it.explains(3, "phase: Sealing"));
    it.cluster.kill(3);
    for node in 1..3 {
        it.cluster.heal_link(0, node);
    }
    it.run(Duration::from_secs(5));
    assert!(it.cluster.is_primary(0));
    assert_eq!(it.must_read(0, 7), 1);
}

/// A member that stops moves what only it may have from its window to its own slot. Who seals it
/// before its process ends has to hear of that.
#[test]
fn a_member_that_was_told_to_stop_is_sealed_as_one_that_restarted() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(1));
    it.cluster.silence(0, 2, 0);
    let _ = it.write(0, 7, 2);
    it.until("a copy at node 1", |it| it.on_disk(1, 7) == 2);
    it.cluster.kill(0);
    let stopped = it.command(1, Command::Stop);
    it.until("the stop", |it| it.succeeded(stopped));
    it.promote(2);
    let value = it.must_read(2, 7);
    // It had asked to be let go, so the session goes on without it.
    it.cluster.kill(1);
    it.cluster.start(1);
    it.until("equal replicas", |it| it.on_disk(1, 7) == value && it.on_disk(2, 7) == value);
    it.run(Duration::from_secs(1));
}

/// Voters start again and forget that they granted a lease, which the holder still uses.
#[test]
fn voters_that_restarted_wait_for_the_leases_that_they_forgot() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.cut_link(0, 1);
    it.cluster.cut_link(0, 2);
    for node in [1, 2] {
        it.cluster.kill(node);
        it.cluster.start(node);
    }
    let id = it.command(1, Command::Promote(PromoteMode::Normal));
    // Both would answer reads, which the checker of I12 sees.
    it.until("the promotion", |it| it.succeeded(id) || it.failed(id));
    it.run(Duration::from_secs(2));
}

/// A write reached one member of four. Who promotes itself tells all of them that they may differ
/// there, for it may die before they do not.
#[test]
fn a_promotion_that_dies_leaves_its_members_told_of_their_differences() {
    let mut it = Scenario::new(5, 0, 0);
    it.must_write(0, 7, 1);
    for node in [2, 3, 4] {
        it.cluster.cut_link(0, node);
    }
    it.write(0, 7, 2);
    it.until("one copy", |it| it.on_disk(1, 7) == 2);
    it.cluster.kill(0);
    for node in [2, 3, 4] {
        let write = Duration::from_secs(1);
        it.cluster.slow[node] = SlowDisk { write, ..SlowDisk::default() };
    }
    it.promote(2);
    it.cluster.kill(2);
    it.run(Duration::from_millis(100));
    it.promote(3);
    let seen = it.must_read(3, 7);
    assert_eq!([1, 3, 4].map(|node| it.on_disk(node, 7)), [seen; 3]);
}

/// Somebody wants the volume while the last one's session is still being ended: "yes" would be
/// taken back a moment later.
#[test]
fn a_promotion_that_comes_while_the_node_is_demoted_holds() {
    let mut it = Scenario::new(3, 0, 0);
    let part = it.write(0, 7, 1);
    let demoted = it.command(0, Command::Demote);
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    it.until("the promotion", |it| it.succeeded(promoted));
    assert!(it.succeeded(demoted) && it.ended(part) == Some(&Ok(None)));
    it.run(Duration::from_secs(1));
    assert_eq!(it.must_read(0, 7), 1);
}

/// A verify needs a leader while a promotion waits for a slow member: the candidate's own replica
/// is sealed to the other one, and must not be led back into the session that it left.
#[test]
fn a_candidate_whose_replica_was_sealed_by_another_begins_anew() {
    for step in 0..10 {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.cluster.kill(0);
        it.cluster.slow[0] = SlowDisk { save: Duration::from_millis(200), ..SlowDisk::default() };
        it.cluster.start(0);
        it.run(Duration::from_millis(500));
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.run(Duration::from_millis(100 * step));
        let task = VerifyTask { from_block: 0, until_block: 20 * 1024, repair: Repair::No };
        it.command(2, Command::Verify(task));
        it.until("an answer", |it| it.succeeded(promoted) || it.failed(promoted));
        assert!(it.succeeded(promoted), "after {step} steps");
        assert_eq!(it.must_read(1, 7), 1);
    }
}

/// A replica is sealed so slowly that its leader dies meanwhile, and its own node, whose replica is
/// not needed for that, is about to lead by then. The late seal takes nothing from that session.
#[test]
fn a_seal_that_is_stored_late_does_not_end_what_its_node_leads() {
    for tenths in 26..44 {
        let mut it = Scenario::new(5, 0, 0);
        it.must_write(0, 7, 1);
        it.cluster.kill(2);
        it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
        let slow = |millis| SlowDisk { save: Duration::from_millis(millis), ..Default::default() };
        it.cluster.slow[2] = slow(100 * tenths);
        it.cluster.start(2);
        it.until("a seal under way", |it| it.explains(0, "step: Sealing"));
        it.run(Duration::from_millis(20));
        it.cluster.slow[2] = SlowDisk::default();
        // Its promotion takes its time, too.
        it.cluster.slow[1] = slow(700);
        it.cluster.kill(0);
        it.promote(2);
        it.cluster.slow[1] = SlowDisk::default();
        it.must_write(2, 7, 2);
        it.run(Duration::from_secs(6));
        it.until("the own replica", |it| it.is_in_sync(2, 2));
        assert_eq!((it.must_read(2, 7), it.on_disk(2, 7)), (2, 2));
    }
}

/// What a promotion inherits is kept until it is equal everywhere, block by block: the next one
/// inherits the rest.
#[test]
fn half_of_what_was_inherited_is_inherited_again() {
    for time in (1..20).map(|tens| Duration::from_millis(20 * tens)) {
        let mut it = Scenario::new(4, 1, 0);
        it.must_write(0, 0, 1);
        it.part(&[0], &[2]);
        for block in 1..40 {
            it.write(0, 2 * block, 100 + block);
        }
        it.run(Duration::from_millis(2));
        it.cluster.kill(0);
        it.meet(&[0], &[2]);
        for node in [1, 2] {
            it.cluster.slow[node].read = Duration::from_millis(100);
        }
        it.promote(3);
        it.must_write(3, 3, 2);
        it.run(time);
        it.cluster.kill(3);
        for node in [1, 2] {
            it.cluster.slow[node] = SlowDisk::default();
        }
        it.promote(1);
        it.until("equal replicas", |it| {
            (0..80).all(|block| it.on_disk(1, block) == it.on_disk(2, block))
        });
    }
}

/// Of the two members with the data one dies, and the other is out of reach for a while, just when
/// the marks of a returning one are being read: they are read from the one that is left, once it is
/// in reach again.
#[test]
fn marks_are_read_from_who_comes_into_reach_again() {
    const CLIENT: usize = 5;
    let mut it = Scenario::new(6, 1, CLIENT);
    // Two that vote, and are being copied to for long.
    for member in [2, 3] {
        it.cluster.kill(member);
        it.until("its loss", |it| !it.is_in_sync(CLIENT, member));
    }
    for block in 0..64 {
        it.must_write(CLIENT, block * 64, 1 + block);
    }
    for member in [2, 3] {
        it.cluster.slow[member].write = Duration::from_secs(1);
        it.cluster.start(member);
        it.until("its resync", |it| it.explains(CLIENT, &format!("to {member}: ")));
    }
    it.cluster.kill(4);
    it.until("its loss", |it| !it.is_in_sync(CLIENT, 4));
    it.cluster.start(4);
    it.until("its marks", |it| it.explains(CLIENT, "to 4: 0 left, [Load { at: n0,"));
    for voter in [2, 3, 4] {
        it.cluster.slow[voter].save = Duration::from_millis(500);
    }
    it.part(&[CLIENT], &[0]);
    it.until("a proposal without node 0", |it| it.explains(CLIENT, "losses: {n0: Proposing}"));
    it.part(&[CLIENT], &[1]);
    it.until("the loss of node 0", |it| !it.is_in_sync(CLIENT, 0));
    assert!(it.is_in_sync(CLIENT, 1), "the last one stays");
    it.meet(&[CLIENT], &[1]);
    for member in [2, 3] {
        it.cluster.slow[member] = SlowDisk::default();
    }
    it.until("all others in sync", |it| (1..5).all(|member| it.is_in_sync(CLIENT, member)));
}

/// A value says that it is in sync, and its node has not heard of that; nor have members heard that
/// the write is on all of them. It has to be equal all the same.
#[test]
#[should_panic(expected = "I6: in-sync members differ in block 7")]
fn a_replica_that_joined_unequal_is_noticed_before_it_knows() {
    let mut it = with_returning_member();
    it.until("its return", |it| it.is_in_sync(0, 2));
    it.part(&[0], &[2]);
    assert!(!it.is_in_sync(2, 2));
    // As if it had not been copied to.
    it.cluster.spoil(2, 7, 1);
    it.cluster.spoiled.clear();
    it.run(Duration::from_secs(1));
}
