//! `quorum off`: nodes that lost their state directory, and meet the other side of a split.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};
use simulator::cluster::Replaced;
use simulator::scenario::Scenario;

/// Nodes 0 and 1 wrote on without node 2, which went on alone; then node 0 lost its vote store, and
/// only node 2 is there to be met: the lines parted.
fn met_by_the_other_side() -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part_node_2_that_goes_on();
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.cluster.replace(0, Replaced::VoteStore);
    it.cluster.start(0);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it
}

/// The lines parted, for all that the node has: it was needed for what the others wrote, and its
/// disk may be the last that has that.
#[test]
fn who_lost_its_vote_store_is_not_copied_to_from_another_line() {
    let mut it = met_by_the_other_side();
    it.promote(2);
    it.run(Duration::from_secs(10));
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 5000)), (100, 0));
    // And so in each of its lives.
    it.cluster.kill(0);
    it.cluster.start(0);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.run(Duration::from_secs(10));
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 5000)), (100, 0));
    // Its line goes on where another one speaks for it.
    it.cluster.start(1);
    it.promote(1);
    it.until("its return", |it| it.is_in_sync(1, 0));
    it.must_write(1, 7, 101);
    assert_eq!(it.on_disk(0, 7), 101);
    assert!(it.is_split(0, 2) && it.is_split(1, 2));
}

#[test]
fn who_lost_its_vote_store_gives_way_by_a_word() {
    let mut it = met_by_the_other_side();
    it.discard(0, 2);
    it.promote(2);
    it.until("its return", |it| it.is_in_sync(2, 0) && it.is_in_sync(0, 0));
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 5000)), (1, 30));
}

/// Nobody speaks for that line but the operator, who takes the disk for the truth.
#[test]
fn the_other_side_gives_way_to_who_lost_its_vote_store() {
    let mut it = met_by_the_other_side();
    it.force(0);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.discard(2, 0);
    it.until("its return", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 5000)), (100, 0));
    it.must_write(0, 7, 102);
    assert_eq!(it.on_disk(2, 7), 102);
}

/// What is forced goes on from what the disk says, so that all of that side follow by themselves,
/// and are compared in full: a value that only the lost store knew may have been without this one.
#[test]
fn who_lost_its_vote_store_and_is_forced_goes_on_with_its_line() {
    let mut it = met_by_the_other_side();
    it.force(0);
    assert!(it.losses(0) > 0, "what others acknowledged may be gone");
    it.must_write(0, 7, 102);
    it.cluster.start(1);
    let copied = it.copied_until_in_sync(0, 1);
    assert!(copied > 20_000, "{copied} blocks were compared");
    assert_eq!(it.on_disk(1, 7), 102);
    assert!(it.is_split(0, 2) && it.is_split(1, 2) && !it.is_split(1, 0));
}

/// An old copy of the state directory names a value of the same line, and a later one of the other
/// side: it is no more than one that is lost.
#[test]
fn an_older_vote_store_does_not_hide_the_vote_on_the_disk() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    let before = it.cluster.disk_image(0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.start(2);
    it.until("its return", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    it.part_node_2_that_goes_on();
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.cluster.put_register_back(0, &before);
    it.cluster.start(0);
    it.meet(&[0, 1], &[2]);
    for _ in 0..2 {
        it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
        it.run(Duration::from_secs(10));
        assert_eq!((it.on_disk(0, 7), it.on_disk(0, 5000)), (100, 0));
        it.cluster.kill(0);
        it.cluster.start(0);
    }
    // Nor is the replica up to date by what the register says.
    it.cluster.kill(2);
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    it.until("the refusal", |it| it.failed(promoted));
    let reason = it.refusal(promoted).expect("it failed");
    assert!(reason.contains("vote store") && reason.contains("--force"), "{reason}");
}

/// An old copy of the state directory has this very replica in sync, on a line that it left since:
/// what is on the disk goes on from the other one.
#[test]
fn a_vote_store_of_a_line_that_was_left_does_not_hide_the_vote_on_the_disk() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part_node_2_that_goes_on();
    it.cluster.kill(1);
    let before = it.cluster.disk_image(0);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.demote(0);
    it.discard(0, 2);
    it.promote(2);
    it.until("its return", |it| it.is_in_sync(2, 0) && it.voters(0).contains(&0));
    it.cluster.kill(0);
    it.cluster.kill(2);
    it.cluster.put_register_back(0, &before);
    it.cluster.start(0);
    it.force(0);
    it.cluster.start(2);
    it.until("all of that line", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 5000)), (1, 30));
}

/// What the others have may be gone, and the one whose disk it is cannot say that it stays.
#[test]
fn nobody_gives_way_to_a_vote_whose_store_is_lost() {
    let mut it = met_by_the_other_side();
    it.discard(2, 0);
    it.run(Duration::from_secs(10));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 5000)), (1, 30));
    assert!(it.is_split(0, 2) && it.is_split(2, 0));
}

/// New stores that know of nothing are a quorum of such: the disk knows more. So it does of a line
/// that was forced before, for which no ballot of a new store counted.
#[test]
fn a_lone_voter_that_lost_its_store_is_forced_to_go_on_with_its_line() {
    for nodes in [1, 2] {
        let mut it = Scenario::new(nodes, 0, 0);
        it.must_write(0, 7, 1);
        for times in 1..=3 {
            let epoch = it.accepted(0);
            for node in 0..usize::from(nodes) {
                it.cluster.kill(node);
                it.cluster.replace(node, Replaced::VoteStore);
            }
            (0..usize::from(nodes)).for_each(|node| it.cluster.start(node));
            it.run(Duration::from_secs(2));
            it.force(0);
            assert_eq!(it.losses(0), times);
            assert!(it.accepted(0) > epoch, "a history without a past");
            let nodes = 0..usize::from(nodes);
            it.until("all in sync", |it| nodes.clone().all(|node| it.is_in_sync(0, node)));
            assert_eq!(it.must_read(0, 7), 1);
        }
    }
}
