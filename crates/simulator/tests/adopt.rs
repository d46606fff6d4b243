//! Vote stores that are lost on a majority at once: the disks say what goes on.
//!
//! A cluster whose voters forgot what they knew serves nobody: any quorum of new stores could
//! choose anything, and the operator would have to guess which replica has everything.

use std::time::Duration;

use format::ids::{MemberSet, NodeId};
use replication::adoption::{Fate, Obstacle, Proof, Verdict};
use replication::contract::{Command, PromoteMode};
use simulator::cluster::{BadDisk, Replaced, SlowDisk};
use simulator::run::run_with_lost_stores;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn nodes(ids: &[u8]) -> MemberSet {
    ids.iter().map(|&id| node(id)).collect()
}

/// All die, these lose their state directories, and nobody starts before old leases are over.
fn lose(it: &mut Scenario, stores: &[usize]) {
    for node in 0..usize::from(it.cluster.options.nodes) {
        it.cluster.kill(node);
    }
    for &node in stores {
        it.cluster.replace(node, Replaced::VoteStore);
    }
    it.run(Duration::from_secs(2));
}

fn adopt_and_start(it: &mut Scenario, given_up: &[u8]) -> Verdict {
    let verdict = it.adopt(nodes(given_up)).expect("the disks are there");
    start_all(it, given_up);
    verdict
}

fn start_all(it: &mut Scenario, without: &[u8]) {
    for node in 0..usize::from(it.cluster.options.nodes) {
        if !without.iter().any(|&gone| usize::from(gone) == node) {
            it.cluster.start(node);
        }
    }
}

#[test]
fn replicas_whose_voters_forgot_everything_serve_again_by_what_the_disks_say() {
    for lost in [&[0, 1][..], &[1, 2], &[0, 1, 2]] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.must_write(0, 5000, 2);
        lose(&mut it, lost);
        start_all(&mut it, &[]);
        it.run(Duration::from_secs(3));
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.until("a refusal", |it| it.failed(promoted));
        lose(&mut it, &[]);
        let verdict = adopt_and_start(&mut it, &[]);
        assert_eq!(verdict.proof, Proof::Complete);
        assert!(verdict.fates.values().all(|fate| *fate == Fate::InSync), "{verdict:?}");
        it.promote(1);
        assert_eq!((it.must_read(1, 7), it.must_read(1, 5000)), (1, 2));
        it.must_write(1, 8, 3);
        it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(1, node)));
        it.until("all to vote", |it| it.voters(1) == [0, 1, 2]);
    }
}

/// The one that missed writes says of itself that it is in sync, and does not know better.
#[test]
fn a_replica_that_was_left_behind_is_not_the_truth_and_gets_only_what_it_missed() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    lose(&mut it, &[0, 1, 2]);
    it.meet(&[0, 1], &[2]);
    let verdict = adopt_and_start(&mut it, &[]);
    assert_eq!(verdict.proof, Proof::Complete);
    assert_eq!(verdict.fates[&node(2)], Fate::Incremental);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 2);
    let copied = it.copied_until_in_sync(2, 2);
    assert!(copied < 20 * 1024, "{copied} blocks");
    assert_eq!(it.on_disk(2, 7), 2);
}

/// The value was made from the disks: nobody leads, and the sessions before it never ended.
#[test]
fn replicas_are_made_equal_after_it_though_nobody_asks_for_the_volume() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    lose(&mut it, &[0, 1, 2]);
    it.meet(&[0, 1], &[2]);
    adopt_and_start(&mut it, &[]);
    it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(1, node)));
    it.until("a clean end", |it| it.leader(1).is_none());
    assert_eq!(it.on_disk(2, 7), 2);
}

/// The only disk that is left was being copied to: it knows who had everything.
#[test]
fn without_a_replica_that_was_in_sync_nothing_is_adopted() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.slow[2].write = Duration::from_secs(20);
    it.meet(&[0, 1], &[2]);
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[2].syncing));
    it.run(Duration::from_millis(500));
    lose(&mut it, &[0, 1, 2]);
    assert_eq!(it.adopt(nodes(&[0, 1])), Err(Obstacle::NoData(nodes(&[0, 1]))));
}

#[test]
fn what_was_not_looked_at_has_to_be_named() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    lose(&mut it, &[0]);
    let refused = it.adopt(MemberSet::EMPTY);
    assert_eq!(refused, Err(Obstacle::HasQuorum(nodes(&[1, 2]))), "two vote stores are left");
    it.cluster.replace(1, Replaced::VoteStore);
    let verdict = adopt_and_start(&mut it, &[0]);
    assert_eq!(verdict.proof, Proof::Missing(nodes(&[0])), "it may have been alone in the end");
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 1);
    it.must_write(2, 7, 2);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(2, 0));
    assert_eq!(it.on_disk(0, 7), 2);
    it.until("all to vote", |it| it.voters(2) == [0, 1, 2]);
}

#[test]
fn one_disk_of_three_proves_nothing_and_is_believed_by_name_only() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    lose(&mut it, &[0, 1, 2]);
    let verdict = it.adopt(nodes(&[0, 1])).expect("the operator named them");
    assert_eq!(verdict.proof, Proof::Missing(nodes(&[0, 1])));
    assert!(verdict.value.losses > verdict.base.losses, "clients have to be told");
    it.cluster.start(2);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 1);
}

/// A node whose disk failed votes, and leaves no copy: so two disks of three meet every quorum, and
/// know nothing of what the third one did with the vote of one of them.
#[test]
fn a_vote_without_a_disk_is_on_no_disk_and_its_writes_are_not_called_safe() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.bad[1] = BadDisk { write: true, save: true, ..BadDisk::default() };
    it.must_write(0, 7, 3);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.must_write(0, 7, 4);
    lose(&mut it, &[0, 1, 2]);
    it.cluster.bad[1] = BadDisk::default();
    let verdict = it.cluster.judge(nodes(&[0])).expect("a replica that was in sync");
    assert_ne!(it.on_disk(1, 7), 4, "what was acknowledged last is on node 0 alone");
    assert_eq!(verdict.proof, Proof::Missing(nodes(&[0])), "{verdict:?}");
    it.meet(&[0, 1], &[2]);
    let verdict = adopt_and_start(&mut it, &[]);
    assert_eq!(verdict.proof, Proof::Complete);
    assert_eq!(verdict.fates[&node(1)], Fate::Incremental);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 4);
}

/// Two voters without a disk chose it, and the leader ended before its disk had it: then no disk
/// does. Its members had everything all the same, and so has who is left of them.
#[test]
fn a_value_that_only_forgotten_votes_chose_is_found_by_the_losses_before_it() {
    let mut forgotten = 0;
    for round in 0..16 {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        for node in [1, 2] {
            it.cluster.bad[node] = BadDisk { write: true, save: true, ..BadDisk::default() };
        }
        let last = it.write(0, 7, 100);
        it.until("two records", |it| nodes(&[1, 2]).is_subset_of(it.recorded_losses(0)));
        it.run(Duration::from_micros(round * 40));
        it.cluster.slow[0].save = Duration::from_secs(5);
        it.until("the write", |it| it.ended(last).is_some());
        lose(&mut it, &[0, 1, 2]);
        it.cluster.bad.fill(BadDisk::default());
        it.cluster.slow.fill(SlowDisk::default());
        let verdict = adopt_and_start(&mut it, &[]);
        assert_eq!(verdict.proof, Proof::Complete);
        forgotten += usize::from(verdict.base.volumes[0].insync.len() == 3);
        it.promote(1);
        assert_eq!(it.must_read(1, 7), 100);
    }
    assert!(forgotten > 0, "the leader's own vote was on its disk each time");
}

/// A line that an operator forced beside the one that the others have.
#[test]
fn lines_that_parted_are_not_mixed() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 10);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.force(2);
    it.must_write(2, 7, 20);
    lose(&mut it, &[0, 1, 2]);
    it.meet(&[0, 1], &[2]);
    let refused = it.adopt(MemberSet::EMPTY);
    assert_eq!(refused, Err(Obstacle::Parted(nodes(&[0, 1]))));
    let verdict = it.adopt(nodes(&[2])).expect("one of the lines");
    assert_eq!(verdict.proof, Proof::Complete);
    it.cluster.start(0);
    it.cluster.start(1);
    it.promote(0);
    assert_eq!(it.must_read(0, 7), 10);
}

/// Budget: 20 s on two cores.
#[test]
fn no_seed_in_which_vote_stores_are_lost_breaks_a_promise() {
    let set = of_this_run(1..=50);
    let total = all_of((run_with_lost_stores, "--adopt"), set.seeds, 4_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        assert!(total.writes > 4_000 && total.adoptions > 40, "{total:?}");
    }
}
