//! `quorum off`: nodes that leave a line for another one, and what of the one that they left must
//! not hold any more.

use std::time::Duration;

use format::ids::{Branch, EXTENT_BLOCKS, NodeId};
use replication::contract::{AfterSplit, Command, CommandId, PromoteMode, WithoutPrimary};
use simulator::cluster::{SlowDisk, Way};
use simulator::run::run_forks;
use simulator::scenario::Scenario;
use simulator::seeds::all_of;

/// Node 2 went on alone, and so did the other two, by their quorum; they meet, and node 2 is none.
fn parted_of_three() -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.promote(2);
    it.must_write(0, 7, 10);
    it.must_write(2, 7, 20);
    it.must_write(2, 8, 21);
    it.demote(2);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it
}

/// Node 1 leads a newer line, in which it has no vote, and dies while it copies to its own replica:
/// its register knows the older line alone, whose value has it in sync.
#[test]
fn a_replica_that_began_to_follow_another_line_is_no_longer_of_the_older_one() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.part(&[1], &[2]);
    it.must_write(0, 7, 10);
    it.demote(0);
    it.meet(&[0], &[1]);
    it.promote(1);
    it.until("a copy", |it| it.on_disk(1, 7) == 10);
    for node in [1, 0, 2] {
        it.cluster.kill(node);
    }
    it.meet(&[1], &[2]);
    it.cluster.start(1);
    it.cluster.start(2);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 1);
    it.must_write(2, 9, 2);
    it.until("the return of node 1, with a copy of everything", |it| it.is_in_sync(2, 1));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9)), (1, 2));
}

/// The same with a value of the older line that the other one was never in sync by.
#[test]
fn a_half_copied_replica_of_another_line_returns_by_itself() {
    all_of((run_forks, "--forks"), [1_337], 6_000);
}

/// Node 0 proposed its next value to nobody but itself, and died. Who gives way to it has that
/// value, too, but does not take it for chosen: the other two might have chosen another one.
#[test]
fn who_gives_way_to_a_line_takes_its_last_proposal_for_no_more_than_that() {
    let mut seen = 0;
    // Whether the vote that node 1 writes down as it dies is on its disk is chance.
    for writes in 1..=16 {
        let mut it = Scenario::with_quorum_off(3, 0);
        (1..=writes).for_each(|write| it.must_write(0, 7, write));
        let before = it.accepted(0);
        it.cluster.slow[1].save = Duration::from_millis(5);
        it.part(&[0, 1], &[2]);
        it.until("a proposal", |it| it.accepted(0) > before);
        it.cluster.kill(0);
        it.cluster.kill(1);
        if it.accepted(1) > before {
            continue;
        }
        seen += 1;
        it.cluster.slow[1] = SlowDisk::default();
        it.promote(2);
        it.must_write(2, 7, 20);
        it.demote(2);
        it.cluster.start(0);
        it.meet(&[0, 1], &[2]);
        it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
        it.discard(2, 0);
        it.run(Duration::from_millis(500));
        it.cluster.start(1);
        it.promote(0);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        assert_eq!((it.on_disk(2, 7), it.must_read(0, 7)), (writes, writes));
    }
    assert!(seen > 0, "the vote of node 1 was written down each time");
}

/// The voter that it was until then votes no more, not even for what it was about to say yes to.
#[test]
fn who_gives_way_sends_no_vote_that_it_never_wrote_down() {
    // Whether an answer is still delivered when its sender closes the connection is chance.
    for writes in 1..=16 {
        let mut it = Scenario::with_quorum_off(3, 0);
        it.must_write(0, 7, 1);
        it.part(&[0], &[1, 2]);
        it.must_write(0, 7, 10);
        it.promote(2);
        it.until("node 1 to follow", |it| it.is_in_sync(2, 1));
        (0..writes).for_each(|write| it.must_write(2, 7, 20 + write));
        it.demote(0);
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.cluster.slow[1].save = Duration::from_millis(20);
        // Node 1 writes down its promise, then what it gives up; the proposal comes meanwhile.
        it.command(2, Command::Demote);
        it.run(Duration::from_millis(5));
        it.discard(1, 0);
        it.promote(0);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
        assert_eq!(it.on_disk(1, 7), 10);
    }
}

/// The line that node 2 gives way to chose its last value without it, and names it in sync.
#[test]
fn who_gave_way_is_not_in_sync_by_an_older_word() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(1));
    it.cluster.slow[2].save = Duration::from_millis(100);
    let before = it.accepted(0);
    it.demote(0);
    assert!(it.accepted(0) > before);
    it.cluster.kill(2);
    it.part(&[0, 1], &[2]);
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.start(2);
    assert_eq!(it.accepted(2), before);
    it.promote(2);
    it.must_write(2, 7, 20);
    it.demote(2);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.discard(2, 0);
    it.until("its end", |it| !it.is_split(0, 2) && !it.is_split(2, 0));
    it.run(Duration::from_millis(200));
    it.promote(0);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!((it.must_read(0, 7), it.on_disk(2, 7)), (1, 1));
}

/// Node 2 was in sync with node 0, then began to follow node 1, which then gives way to node 0. Of
/// the line that nobody follows any more nothing has to be known.
#[test]
fn a_line_that_its_last_member_left_makes_no_demands() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.part(&[1], &[2]);
    it.must_write(0, 7, 10);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.meet(&[0], &[2]);
    it.until("node 2 to follow", |it| it.is_in_sync(0, 2));
    it.must_write(0, 8, 11);
    it.cluster.kill(0);
    it.cluster.slow[2].write = Duration::from_secs(20);
    it.meet(&[1], &[2]);
    it.until("the split brain", |it| it.is_split(1, 2) && it.is_split(2, 1));
    it.discard(2, 1);
    it.until("a resync", |it| it.status(1).is_some_and(|status| status.members[2].syncing));
    it.part(&[1], &[2]);
    it.cluster.kill(2);
    it.cluster.slow[2] = SlowDisk::default();
    it.demote(1);
    it.cluster.start(0);
    it.promote(0);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.cluster.start(2);
    it.meet(&[1], &[2]);
    it.until("the return of node 2, or its doubts", |it| it.is_in_sync(0, 2) || it.is_split(0, 2));
    if it.is_split(0, 2) {
        it.discard(2, 0);
    }
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8)), (10, 11));
}

/// Node 2 gave way to node 0, which goes on alone once more before it copies anything. What node 2
/// wrote down as it went on alone itself says nothing of the line that it follows.
#[test]
fn who_gave_way_follows_a_line_that_goes_on_alone_again() {
    let mut it = parted_of_three();
    it.discard(2, 0);
    it.until("its end", |it| !it.is_split(0, 2) && !it.is_split(2, 0));
    it.cluster.kill(1);
    it.part(&[0], &[1, 2]);
    it.must_write(0, 9, 12);
    it.meet(&[0], &[2]);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2) || it.is_split(2, 0));
    assert!(!it.is_split(2, 0) && !it.is_split(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8), it.on_disk(2, 9)), (10, 0, 12));
}

/// The same when it is in sync already: of a loss that is over nothing is left.
#[test]
fn who_returned_follows_a_line_that_goes_on_alone_again() {
    let mut it = parted_of_three();
    it.discard(2, 0);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    it.until("all to vote", |it| it.voters(0) == [0, 1, 2] && it.voters(2) == [0, 1, 2]);
    it.cluster.kill(1);
    it.part(&[0], &[2]);
    it.must_write(0, 9, 12);
    it.meet(&[0], &[2]);
    it.until("the return of node 2", |it| {
        it.is_split(2, 0) || it.is_in_sync(0, 2) && it.on_disk(2, 9) == 12
    });
    assert!(!it.is_split(2, 0) && !it.is_split(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8), it.on_disk(2, 9)), (10, 0, 12));
}

/// The clients of node 0 wrote on alone, and that was given up for a line in which nobody served
/// clients since. Whoever holds on to the volume at node 0 must not go on as if nothing was lost.
#[test]
fn clients_whose_line_was_given_up_find_another_tenure() {
    for is_in_sync in [true, false] {
        let mut it = Scenario::with_quorum_off(3, 0);
        it.must_write(0, 7, 1);
        let reign = it.reign(0);
        it.part(&[0], &[1, 2]);
        it.must_write(0, 7, 10);
        it.until("the others to go on", |it| it.accepted(1) >= it.accepted(0));
        it.demote(0);
        it.promote(0);
        assert_eq!(it.reign(0), reign);
        it.demote(0);
        it.meet(&[0], &[1, 2]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.discard(0, 1);
        it.until("its end", |it| !it.is_split(0, 1) && !it.is_split(1, 0));
        if is_in_sync {
            it.until("the return of node 0", |it| it.is_in_sync(1, 0) && it.is_in_sync(0, 0));
            it.until("all to vote", |it| it.voters(0) == [0, 1, 2]);
            it.run(Duration::from_secs(1));
        }
        it.promote(0);
        assert_eq!(it.must_read(0, 7), 1);
        assert_ne!(it.reign(0), reign);
        // From now on it goes on as ever.
        let reign = it.reign(0);
        it.run(Duration::from_secs(5));
        it.demote(0);
        it.promote(0);
        assert_eq!(it.reign(0), reign);
    }
}

/// A peer that node 3 leaves had said what it accepted, which shows the line that was left to be
/// chosen: it is not taken up again while the vote for the other one is being written down.
#[test]
fn who_gave_way_does_not_take_up_the_line_that_it_left() {
    let mut it = Scenario::with_quorum_off(4, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2, 3]);
    it.part(&[1], &[2, 3]);
    it.must_write(0, 7, 10);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.meet(&[1], &[2, 3]);
    it.until("three to vote", |it| it.voters(1) == [1, 2, 3] && it.voters(3) == [1, 2, 3]);
    // Connected anew, before anybody is lost, they say what they accepted last.
    it.cluster.slow_mail.insert((1, 0, Way::FromGroup), Duration::from_millis(200));
    let before = it.accepted(1);
    it.cluster.reset_link(1, 3);
    it.cluster.reset_link(2, 3);
    it.run(Duration::from_millis(100));
    assert_eq!(it.accepted(1), before);
    it.meet(&[0], &[3]);
    it.until("the split brain", |it| it.is_split(0, 3) && it.is_split(3, 0));
    it.cluster.slow[3].save = Duration::from_millis(200);
    it.discard(3, 0);
    it.until("the return of node 3", |it| it.is_in_sync(0, 3) && it.is_in_sync(3, 0));
    assert_eq!((it.on_disk(3, 7), it.must_read(0, 7), it.must_read(1, 7)), (10, 10, 20));
}

/// Node 0 left the line of node 2 for that of node 1, was copied to, and gave way to that of node 2
/// again: no slot there has what it gave up when it left.
#[test]
fn who_gives_way_to_the_line_that_it_came_from_is_copied_to_in_full() {
    let mut it = Scenario::with_quorum_off(3, 0);
    // So that no slot for node 2 says that it lacks everything, as they do at birth.
    it.cluster.kill(2);
    it.must_write(0, 7, 1);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2) && it.is_in_sync(1, 2));
    it.part(&[1], &[0, 2]);
    it.promote(1);
    let gives_up = 2 * EXTENT_BLOCKS;
    it.must_write(0, gives_up, 10);
    it.must_write(1, 7, 20);
    it.demote(0);
    it.part(&[0], &[2]);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(0, 1);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0) && it.is_in_sync(0, 0));
    assert_eq!(it.on_disk(0, gives_up), 0);
    // So that its own log does not name that extent any more.
    for extent in 3..15 {
        it.must_write(1, extent * EXTENT_BLOCKS, 21);
    }
    assert!(!it.is_logged(0, 2));
    it.promote(2);
    it.must_write(2, 9, 30);
    it.part(&[0], &[1]);
    it.meet(&[0], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.discard(0, 2);
    it.until("the return of node 0", |it| it.is_in_sync(2, 0));
    assert_eq!((it.on_disk(0, gives_up), it.on_disk(0, 9)), (10, 30));
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 3 * EXTENT_BLOCKS)), (1, 0));
}

/// Node 2 follows node 0, which went on alone; the others go on by their quorum, and hear from node
/// 2 of ballots of the newer line, which theirs are no lower than from then on.
#[test]
fn who_follows_a_newer_line_does_not_vote_for_the_older_one() {
    let mut it = Scenario::with_quorum_off(5, 1);
    assert_eq!(it.voters(0), [0, 1, 2, 3, 4]);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2, 3, 4]);
    it.must_write(0, 7, 10);
    it.meet(&[0], &[2]);
    it.until("node 2 to follow", |it| it.is_in_sync(0, 2) && it.on_disk(2, 7) == 10);
    let newer = branch(&it, 2);
    assert_eq!(newer, branch(&it, 0));
    // Nobody holds a lease any more, and its promise comes too late to show what it follows.
    it.part(&[0], &[2]);
    it.run(Duration::from_secs(3));
    it.cluster.slow[2].save = Duration::from_millis(20);
    it.promote(1);
    it.must_write(1, 8, 20);
    it.demote(1);
    it.run(Duration::from_secs(1));
    assert_eq!(branch(&it, 2), newer);
    assert_ne!(branch(&it, 1), newer);
    it.cluster.slow[2] = SlowDisk::default();
    it.discard(1, 0);
    it.discard(3, 0);
    it.meet(&[0], &[1, 2, 3, 4]);
    it.until("the return of all", |it| it.is_in_sync(0, 1) && it.is_in_sync(0, 3));
    assert_eq!((it.on_disk(2, 7), it.on_disk(1, 7), it.on_disk(3, 8)), (10, 10, 0));
}

/// Node 2, which has no disk, proposed to lead, and does not hear what became of that: the only one
/// who could say gave way to another line meanwhile.
fn proposed_on_a_line_that_all_left() -> (Scenario, CommandId) {
    let mut it = Scenario::with_quorum_off(3, 1);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.part(&[1], &[2]);
    it.must_write(0, 7, 10);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.demote(1);
    it.meet(&[1], &[2]);
    it.run(Duration::from_secs(1));
    it.cluster.deaf_to[1] = Some("Accept {");
    let promoted = it.command(2, Command::Promote(PromoteMode::Normal));
    it.until("its proposal", |it| it.cluster.deaf_to[1].is_none());
    it.part(&[1], &[2]);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    (it, promoted)
}

#[test]
fn who_proposed_on_a_line_that_all_left_gives_it_up_too() {
    let (mut it, promoted) = proposed_on_a_line_that_all_left();
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(2, 0) && it.is_split(2, 1));
    // For longer than a promotion takes otherwise.
    it.run(Duration::from_secs(25));
    it.discard(2, 0);
    assert!(it.failed(promoted));
    it.until("the end of the split brain", |it| !it.is_split(2, 0) && !it.is_split(2, 1));
    it.demote_and_promote(0, 2);
    assert_eq!(it.must_read(2, 7), 10);
}

/// By the options it leaves the line without a word: not while its promotion may come to something,
/// and not before whoever is asked can rely on that.
#[test]
fn who_proposed_on_a_line_that_all_left_follows_once_its_promotion_is_overdue() {
    let (mut it, promoted) = proposed_on_a_line_that_all_left();
    let none = WithoutPrimary::Node(NodeId::new(1).expect("a node"));
    it.demand_after_split(AfterSplit { none, ..AfterSplit::default() });
    let connections =
        |it: &mut Scenario| it.cluster.connections(0, 2) + it.cluster.connections(1, 2);
    let before = connections(&mut it);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(2, 0) && it.is_split(2, 1));
    it.run(Duration::from_secs(10));
    let times = connections(&mut it) - before;
    assert!(times <= 4, "they connected {times} times");
    assert!(it.is_split(2, 1) && !it.failed(promoted));
    it.until("the end of the split brain", |it| !it.is_split(2, 0) && !it.is_split(2, 1));
    assert!(it.failed(promoted));
    it.demote_and_promote(0, 2);
    assert_eq!(it.must_read(2, 7), 10);
}

/// Node 2 is being copied to, and has not noticed yet that the only one with the data of their line
/// is away: that one just gave it up for the line of node 0.
#[test]
fn nobody_gives_way_to_data_that_was_just_given_up() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.must_write(0, 7, 10);
    it.demote(0);
    it.promote(1);
    it.cluster.kill(2);
    it.must_write(1, 8, 20);
    it.cluster.slow[2].write = Duration::from_millis(500);
    it.cluster.start(2);
    it.until("node 2 to be copied to", |it| branch(it, 2) == branch(it, 1));
    it.demote(1);
    it.meet(&[0], &[1, 2]);
    it.until("the split brain", |it| it.is_split(1, 0) && it.is_split(2, 0) && it.is_split(0, 2));
    assert!(!it.is_in_sync(2, 2));
    it.part(&[1], &[2]);
    it.discard(1, 0);
    it.until("node 1 to give its data up", |it| branch(it, 1) == branch(it, 0));
    let _kept = it.command(0, Command::DiscardData { peer: NodeId::new(2) });
    it.run(Duration::from_secs(5));
    it.promote(0);
    assert_eq!(it.must_read(0, 7), 10);
}

/// Node 2 has no disk, and the only one in sync on its line gave way: it asks that one, which is
/// being copied to and has no data to follow yet. Without an operator, and not for ever.
#[test]
fn a_refusal_of_who_is_being_copied_to_is_for_once() {
    let mut it = Scenario::with_quorum_off(3, 1);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.must_write(0, 7, 10);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.demote(1);
    it.run(Duration::from_secs(1));
    it.part(&[1], &[2]);
    it.demote(0);
    let none = WithoutPrimary::Node(NodeId::new(1).expect("a node"));
    it.demand_after_split(AfterSplit { none, ..AfterSplit::default() });
    it.cluster.slow[1].write = Duration::from_secs(10);
    it.meet(&[0], &[1]);
    it.until("node 1 to give its data up", |it| branch(it, 1) == branch(it, 0));
    it.run(Duration::from_millis(300));
    it.meet(&[0, 1], &[2]);
    it.run(Duration::from_secs(5));
    it.cluster.slow[1] = SlowDisk::default();
    it.until("the end of the split brain", |it| !it.is_split(2, 0) && !it.is_split(2, 1));
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 10);
}

/// How far a node is that gave way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Returned {
    Copied,
    InSync,
}

/// Node 3, which has no disk, follows node 1 and is cut off from it, and nodes 2 and 0 each have a
/// line of their own. By the options node 1 gives way to node 0, and is that far; node 3 is told to
/// give way to node 2, which it does not see yet, and meets node 1.
fn told_to_follow_another_one_than_it_meets(returned: Returned) -> Scenario {
    let mut it = Scenario::with_quorum_off(4, 1);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2, 3]);
    it.part(&[2], &[1, 3]);
    it.must_write(0, 7, 10);
    it.promote(2);
    it.must_write(2, 7, 30);
    it.demote(2);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.demote(1);
    it.run(Duration::from_secs(1));
    it.part(&[1], &[3]);
    it.demote(0);
    let none = WithoutPrimary::Node(NodeId::new(1).expect("a node"));
    it.demand_after_split(AfterSplit { none, ..AfterSplit::default() });
    if returned == Returned::Copied {
        it.cluster.slow[1].write = Duration::from_secs(10);
    }
    it.meet(&[0], &[1]);
    if returned == Returned::Copied {
        it.until("node 1 to give its data up", |it| branch(it, 1) == branch(it, 0));
        it.run(Duration::from_millis(300));
    } else {
        it.until("the return of node 1", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 1));
    }
    it.discard(3, 2);
    it.meet(&[1], &[3]);
    it.until("the split brain", |it| it.is_split(3, 1));
    it.run(Duration::from_secs(1));
    it
}

fn branch(it: &Scenario, node: usize) -> Option<Branch> {
    it.status(node).map(|status| status.branch)
}

/// The refusal of the one that it meets ends no wish.
#[test]
fn a_refusal_of_who_was_asked_without_a_word_does_not_end_the_wish() {
    let mut it = told_to_follow_another_one_than_it_meets(Returned::Copied);
    it.part(&[1], &[3]);
    it.meet(&[2], &[3]);
    it.until("the end of the split brain", |it| branch(it, 3) == branch(it, 2));
    it.promote(3);
    assert_eq!(it.must_read(3, 7), 30);
}

/// Nor does it go where nobody sent it, though it has no data that would keep it.
#[test]
fn who_was_told_whom_to_follow_follows_nobody_else_unasked() {
    let mut it = told_to_follow_another_one_than_it_meets(Returned::InSync);
    assert!(it.is_split(3, 1));
    it.meet(&[2], &[3]);
    it.until("the end of the split brain", |it| branch(it, 3) == branch(it, 2));
    it.promote(3);
    assert_eq!(it.must_read(3, 7), 30);
}

/// The wish names nobody, and a Primary without a disk is met before the replica of its line.
#[test]
fn who_has_no_data_to_follow_does_not_end_the_wish() {
    let mut it = Scenario::with_quorum_off(4, 2);
    it.must_write(0, 7, 1);
    it.part(&[0, 2], &[1, 3]);
    it.must_write(0, 7, 10);
    it.demote(0);
    it.promote(2);
    it.must_write(2, 7, 11);
    // So that node 2 hears of the replica as it is since its birth.
    it.cluster.reset_link(0, 2);
    it.run(Duration::from_secs(1));
    it.promote(1);
    it.must_write(1, 7, 20);
    it.demote(1);
    let id = it.command(1, Command::DiscardData { peer: None });
    it.until("the answer", |it| it.succeeded(id));
    it.meet(&[2], &[1]);
    it.run(Duration::from_millis(500));
    it.meet(&[0], &[1]);
    it.until("the return of node 1", |it| it.is_in_sync(2, 1));
    assert_eq!(it.on_disk(1, 7), 11);
}

/// Whether a replica heard that it is in sync.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joined {
    Knowing,
    Unknowing,
}

/// Node 1 fell behind on its line, of which node 2 alone had the data, and left it for the line of
/// node 3 with a mute voter; it starts with the register of before. Node 2 gave way to node 0.
fn left_by_its_register_alone(writes: u64, joined: Joined) -> Option<Scenario> {
    let mut it = Scenario::with_quorum_off(4, 0);
    (1..=writes).for_each(|write| it.must_write(0, 7, write));
    it.part(&[0], &[1, 2, 3]);
    it.part(&[3], &[1, 2]);
    it.must_write(0, 7, 100);
    it.demote(0);
    it.promote(3);
    it.must_write(3, 7, 300);
    it.demote(3);
    it.promote(2);
    it.until("node 1 to follow", |it| it.is_in_sync(2, 1) && it.is_in_sync(1, 1));
    it.cluster.kill(1);
    it.must_write(2, 7, 200);
    it.cluster.slow[1].write = Duration::from_secs(20);
    it.cluster.start(1);
    it.until("node 1 to be copied to", |it| {
        branch(it, 1) == branch(it, 2) && it.status(2).is_some_and(|it| it.members[1].syncing)
    });
    it.run(Duration::from_millis(100));
    it.part(&[1], &[2]);
    it.demote(2);
    it.cluster.slow[1] = SlowDisk::default();
    let left = it.accepted(1);
    match joined {
        Joined::Knowing => {
            it.give_way_with_a_mute_voter(1, 3);
            it.run(Duration::from_secs(1));
        }
        Joined::Unknowing => {
            it.almost_return_with_a_mute_voter(1, 3);
            it.cluster.deaf_to[1] = Some("Chosen");
            it.until("its return", |it| it.cluster.deaf_to[1].is_none());
            assert!(it.is_about_to_join(1));
        }
    }
    it.cluster.kill(1);
    it.part(&[1], &[3]);
    it.meet(&[0], &[2]);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.discard(2, 0);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    it.cluster.start(1);
    it.run(Duration::from_secs(1));
    (it.accepted(1) == left).then_some(it)
}

/// Nobody has the data of the line that its register names. It has that of another one, perhaps the
/// last, and no option says that it is to go.
#[test]
fn data_of_a_line_that_the_register_never_heard_of_stays_when_all_left_the_one_it_names() {
    for joined in [Joined::Knowing, Joined::Unknowing] {
        // Whether the write that fails happens is chance.
        let mut behind = 0;
        for mut it in (1..=16).filter_map(|writes| left_by_its_register_alone(writes, joined)) {
            behind += 1;
            let none = WithoutPrimary::Node(NodeId::new(3).expect("a node"));
            it.demand_after_split(AfterSplit { none, ..AfterSplit::default() });
            let before = it.incarnation(1);
            it.meet(&[0, 2], &[1]);
            it.until("the split brain", |it| it.is_split(1, 0) && it.is_split(1, 2));
            it.run(Duration::from_secs(5));
            assert_eq!((it.incarnation(1), it.on_disk(1, 7)), (before, 300));
            it.meet(&[1], &[3]);
            it.until("the return of node 1", |it| it.is_in_sync(3, 1) && it.is_in_sync(1, 1));
            assert_eq!((it.incarnation(1), it.on_disk(1, 7)), (before, 300));
        }
        assert!(behind > 0, "its register named the other line each time");
    }
}

/// Node 1 was copied to on the line of a quorum after node 2 had gone on alone, and died before it
/// joined. Its register knows no value since they parted.
fn copied_to_past_a_fork(writes: u64) -> Option<Scenario> {
    let mut it = Scenario::with_quorum_off(5, 1);
    (1..=writes).for_each(|write| it.must_write(0, 7, write));
    it.cluster.kill(1);
    it.until("its loss", |it| !it.is_in_sync(0, 1) && !it.is_in_sync(2, 1));
    it.run(Duration::from_secs(1));
    it.part(&[0, 3, 4, 1], &[2]);
    it.promote(2);
    it.must_write(0, 1500, 10);
    let known = it.accepted(1);
    it.spoil_register(1);
    it.cluster.start(1);
    it.until("a copy", |it| it.on_disk(1, 1500) == 10);
    assert!(it.cluster.is_mute(1));
    it.cluster.slow[1].save = Duration::from_secs(20);
    it.must_write(0, 1600, 11);
    for extent in 3..20 {
        it.must_write(0, extent * EXTENT_BLOCKS, 12);
    }
    it.cluster.kill(1);
    it.cluster.slow[1] = SlowDisk::default();
    it.part(&[0, 3, 4], &[1]);
    (it.accepted(1) == known && !it.is_about_to_join(1)).then_some(it)
}

/// What it was copied there is in no slot of the line that it goes on with.
#[test]
fn what_was_copied_past_a_fork_does_not_stay() {
    let mut copied = 0;
    for mut it in (1..=16).filter_map(copied_to_past_a_fork) {
        copied += usize::from(it.on_disk(1, 1500) == 10 && it.on_disk(1, 1600) == 11);
        it.meet(&[1], &[2]);
        it.cluster.start(1);
        it.until("its return", |it| it.is_in_sync(2, 1));
        assert_eq!((it.on_disk(1, 1500), it.on_disk(1, 1600)), (0, 0));
        assert_eq!(it.on_disk(1, 3 * EXTENT_BLOCKS), 0);
    }
    assert!(copied > 0, "nothing was copied to it");
}

/// Node 2 was away, came back, was lost again and went on alone from there, and node 1 wrote on
/// with a majority of five. Its register, which took no write at that time, knows nothing of all
/// that, and its disk that it was told what node 2 misses since it came back.
#[test]
fn who_was_told_of_a_loss_that_its_register_never_heard_of_does_not_follow_the_one_that_was_lost() {
    let mut it = Scenario::with_quorum_off(5, 0);
    it.must_write(0, 7, 1);
    it.spoil_register(1);
    it.cluster.kill(2);
    it.until("its loss", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it.until("its return", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    assert!(it.cluster.is_mute(1));
    it.part(&[0, 1, 3, 4], &[2]);
    it.until("its second loss", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 10);
    it.cluster.kill(1);
    it.part(&[0, 3, 4], &[1]);
    it.promote(2);
    it.must_write(2, 8, 20);
    it.demote(2);
    it.cluster.start(1);
    it.meet(&[1], &[2]);
    it.until("the split brain", |it| it.is_split(1, 2));
    it.run(Duration::from_secs(5));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 8)), (10, 0));
    it.meet(&[0, 3, 4], &[1]);
    it.until("its return to its line", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 1));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 8)), (10, 0));
}
