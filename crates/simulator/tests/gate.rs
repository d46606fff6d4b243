//! Replicas that ask before they are brought up to date (`before-resync-target`).

use std::time::Duration;

use format::metadata::ReplicaState;
use replication::contract::Readmission;
use simulator::run::{run, run_forks};
use simulator::scenario::Scenario;
use simulator::seeds::all_of;

/// Node 2 missed a write of block 7, is back, and asks.
fn with_one_that_asks() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.options.readmission = Readmission::Ask;
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it.until("a question", |it| it.cluster.asked[2].is_some());
    it
}

/// Whoever leads gives up waiting and asks again meanwhile.
#[test]
fn a_replica_that_asks_is_left_as_it_is_until_it_is_allowed() {
    let mut it = with_one_that_asks();
    it.run(Duration::from_secs(70));
    it.must_write(0, 8, 3);
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8)), (1, 0));
    assert!(it.status(2).unwrap().asks_to_resync && !it.is_in_sync(0, 2));
    // It votes.
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.must_write(0, 9, 4);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8), it.on_disk(2, 9)), (2, 3, 4));
    assert!(!it.status(2).unwrap().asks_to_resync);
}

#[test]
fn a_resync_that_was_refused_is_asked_for_again() {
    let mut it = with_one_that_asks();
    it.cluster.refuse_resync(2);
    it.until("another question", |it| it.cluster.asked[2].is_some());
    assert_eq!(it.on_disk(2, 7), 1);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(0, 2));
}

#[test]
fn an_answer_is_good_for_whoever_leads_by_then() {
    let mut it = with_one_that_asks();
    it.demote(0);
    it.promote(1);
    it.run(Duration::from_secs(2));
    assert_eq!(it.on_disk(2, 7), 1);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(1, 2));
    assert_eq!(it.on_disk(2, 7), 2);
}

/// The session that asked ended first: it makes nothing of the replica.
#[test]
fn an_answer_that_comes_after_the_session_begins_nothing_for_it() {
    let mut it = with_one_that_asks();
    it.demote(0);
    it.run(Duration::from_millis(50));
    it.cluster.allow_resync(2);
    it.run(Duration::from_millis(10));
    assert_eq!(it.status(2).unwrap().replica, Some(ReplicaState::Outdated));
    it.until("the return", |it| it.is_in_sync(0, 2) || it.is_in_sync(1, 2));
    assert_eq!((it.on_disk(2, 7), it.cluster.asked[2]), (2, None));
}

/// Between the core and its node, questions and answers may get lost.
#[test]
fn a_question_that_nobody_answers_is_asked_again_in_the_end() {
    let mut it = with_one_that_asks();
    let first = it.cluster.asked[2];
    it.run(Duration::from_secs(240));
    assert_eq!(it.cluster.asked[2], first);
    it.run(Duration::from_secs(120));
    assert_ne!(it.cluster.asked[2], first);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(0, 2));
}

/// What was allowed once is not allowed for what the replica became since.
#[test]
fn a_permission_ends_when_the_replica_is_in_sync_in_another_way() {
    let mut it = with_one_that_asks();
    for node in 0..2 {
        it.cluster.kill(node);
    }
    it.run(Duration::from_secs(1));
    it.cluster.allow_resync(2);
    it.force(2);
    it.must_write(2, 9, 3);
    it.cluster.options.readmission = Readmission::AtOnce;
    for node in 0..2 {
        it.cluster.start(node);
    }
    it.until("the others", |it| it.is_in_sync(2, 0) && it.is_in_sync(2, 1));
    it.until("their votes", |it| it.voters(2) == [0, 1, 2]);
    it.demote(2);
    it.promote(0);
    it.part(&[0, 1], &[2]);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 9, 4);
    it.meet(&[0, 1], &[2]);
    it.until("a question", |it| it.cluster.asked[2].is_some());
    assert_eq!(it.on_disk(2, 9), 3);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(0, 2));
}

/// Its data is what an operator may want to look at again.
#[test]
fn the_loser_of_a_split_brain_keeps_its_data_until_it_is_allowed() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.cluster.options.readmission = Readmission::Ask;
    it.cluster.start(1);
    it.until("a question", |it| it.cluster.asked[1].is_some());
    it.cluster.allow_resync(1);
    it.until("the return", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 1));
    it.until("both to vote", |it| it.voters(0) == [0, 1] && it.voters(1) == [0, 1]);
    it.part(&[0], &[1]);
    it.must_write(0, 7, 10);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.demote(1);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("a question", |it| it.cluster.asked[1].is_some());
    it.run(Duration::from_secs(40));
    assert_eq!(it.on_disk(1, 7), 20);
    it.cluster.allow_resync(1);
    it.until("the return", |it| it.is_in_sync(0, 1));
    assert_eq!(it.on_disk(1, 7), 10);
}

/// `resync-after`: it asks also where a copy has begun, each time that it goes on.
#[test]
fn a_replica_that_waits_for_its_turn_asks_again_after_an_interruption() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.options.readmission = Readmission::AskAlways;
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    (0..8).for_each(|block| it.must_write(0, block, 2));
    it.cluster.slow[2].write = Duration::from_secs(5);
    it.cluster.start(2);
    it.until("a question", |it| it.cluster.asked[2].is_some());
    it.cluster.allow_resync(2);
    let is_syncing = |it: &Scenario| it.status(0).is_some_and(|it| it.members[2].syncing);
    it.until("a resync", is_syncing);
    it.run(Duration::from_secs(1));
    it.cluster.kill(2);
    it.cluster.slow[2].write = Duration::ZERO;
    it.until("its end", |it| !is_syncing(it));
    it.cluster.start(2);
    it.until("another question", |it| it.cluster.asked[2].is_some());
    it.must_write(0, 9000, 3);
    it.run(Duration::from_secs(40));
    assert!(!it.is_in_sync(0, 2) && it.on_disk(2, 9000) == 0);
    it.cluster.allow_resync(2);
    it.until("the return", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 9000)), (2, 3));
}

/// The mix of faults of the fixed seeds, with replicas that ask. Budget: 20 s on two cores.
#[test]
fn no_seed_with_replicas_that_ask_breaks_a_promise() {
    all_of((run, ""), [8, 16, 24, 32, 40, 80], 6_000);
    all_of((run_forks, "--forks"), [48, 56, 64, 72, 80], 6_000);
}
