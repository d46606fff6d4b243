//! Sequences of failures that were found by thought, each with what must hold after it.

use std::time::Duration;

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
    let id = it.command(
        1,
        replication::contract::Command::Promote(replication::contract::PromoteMode::Normal),
    );
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
    use replication::contract::{Command, PromoteMode};
    let mut it = Scenario::new(4, 1, 0);
    it.must_write(0, 7, 1);
    let demoted = it.command(0, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(demoted));
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    it.until("the new value", |it| it.explains(0, "phase: Announcing"));
    let _ = it.command(3, Command::Promote(PromoteMode::Normal));
    it.until("the promises", |it| it.explains(3, "phase: Sealing"));
    it.cluster.kill(3);
    it.until("the session", |it| it.succeeded(promoted));
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 1);
}
