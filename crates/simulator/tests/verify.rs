//! Replicas are compared while they are in use.

use std::time::Duration;

use format::space::Place;
use replication::contract::{Command, NewArea, Repair, ResizeTask, VerifyTask};
use replication::resource::{ResizeState, VerifyState, VerifyStatus};
use simulator::cluster::{BadDisk, Misplaced, SlowDisk};
use simulator::scenario::Scenario;

const ALL: VerifyTask = VerifyTask { from_block: 0, until_block: u64::MAX, repair: Repair::No };
const FIXING: VerifyTask = VerifyTask { repair: Repair::AtOnce, ..ALL };
/// Of the volume.
const BLOCKS: u64 = 20_480;

/// Compares as `asked` is told, and says what the leader found; writes go on meanwhile.
fn verify(it: &mut Scenario, asked: usize, leader: usize, task: VerifyTask) -> VerifyStatus {
    let told = it.command(asked, Command::Verify(task));
    it.until("a verify that is under way", |it| it.succeeded(told));
    let found = |it: &Scenario| it.status(leader).and_then(|status| status.verify);
    let is_over = |it: &Scenario| found(it).is_some_and(|it| it.state == VerifyState::Done);
    if it.status(leader).is_some_and(|status| status.primary_here) {
        for value in 1..=300 {
            it.write(leader, value * 911 % BLOCKS, 10_000 + value);
            it.run(Duration::from_micros(200));
        }
    }
    it.until("the end of the verify", is_over);
    found(it).expect("it is over")
}

fn counts(found: &VerifyStatus) -> Vec<(u8, u64)> {
    found.differing.iter().map(|&(node, count)| (node.get(), count)).collect()
}

#[test]
fn nothing_differs_while_a_client_writes() {
    let mut it = Scenario::new(3, 0, 0);
    let found = verify(&mut it, 0, 0, ALL);
    assert_eq!(counts(&found), []);
    assert_eq!((found.verified_blocks, found.skipped_blocks), (BLOCKS, 0));
}

#[test]
fn a_part_is_compared_when_only_that_was_asked_for() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.spoil(1, 12_000, 77);
    let task = VerifyTask { from_block: 100, until_block: 9_000, ..ALL };
    let found = verify(&mut it, 0, 0, task);
    assert_eq!((found.verified_blocks, found.position), (8_900, 9_000));
    assert_eq!(counts(&found), []);
    let found = verify(&mut it, 0, 0, VerifyTask { from_block: 9_000, ..ALL });
    assert_eq!(counts(&found), [(1, 1)]);
}

#[test]
fn what_a_disk_lost_is_found_and_left() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 20_001, 5);
    it.must_write(0, 3, 6);
    it.cluster.spoil(2, 20_001, 77);
    it.cluster.spoil(2, 3, 78);
    it.cluster.spoil(1, 4, 79);
    let found = verify(&mut it, 0, 0, ALL);
    assert_eq!(counts(&found), [(1, 1), (2, 2)]);
    assert_eq!((it.on_disk(2, 20_001), it.on_disk(2, 3)), (77, 78));
}

/// Most replicas are believed, against the Primary's own one too.
#[test]
fn what_a_disk_lost_is_made_equal() {
    let mut it = Scenario::new(3, 0, 0);
    for (block, value) in [(20_001, 5), (3, 6), (40, 7)] {
        it.must_write(0, block, value);
    }
    it.cluster.spoil(2, 20_001, 77);
    it.cluster.spoil(0, 3, 78);
    let found = verify(&mut it, 0, 0, FIXING);
    assert_eq!(counts(&found), [(0, 1), (2, 1)]);
    it.until("equal replicas", |it| it.on_disk(2, 20_001) == 5 && it.on_disk(0, 3) == 6);
    let found = verify(&mut it, 0, 0, ALL);
    assert_eq!(counts(&found), []);
}

/// The member gets what differs when it comes back, and not only what it missed.
#[test]
fn what_was_found_is_copied_when_the_member_returns() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 20_001, 5);
    it.cluster.spoil(2, 20_001, 77);
    let found = verify(&mut it, 0, 0, ALL);
    assert_eq!(counts(&found), [(2, 1)]);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 20_001), 5);
    assert_eq!(it.status(0).and_then(|status| status.verify).map(|it| counts(&it)), Some(vec![]));
}

/// It leaves before the pass is over: what the pass goes on to find is of the others.
#[test]
fn what_was_found_at_a_member_that_left_is_no_finding_of_the_rest() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.spoil(2, 100, 77);
    it.cluster.spoil(1, 20_001, 78);
    it.cluster.slow[1].read = Duration::from_millis(20);
    let told = it.command(0, Command::Verify(ALL));
    let found = |it: &Scenario| it.status(0).and_then(|status| status.verify);
    it.until("a first finding", |it| found(it).is_some_and(|it| counts(&it) == [(2, 1)]));
    assert!(it.succeeded(told));
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.until("the end of the verify", |it| {
        found(it).is_some_and(|it| it.state == VerifyState::Done)
    });
    assert_eq!(found(&it).map(|it| counts(&it)), Some(vec![(1, 1)]));
}

/// It was away for so short a time that it missed nothing: what differs is reason enough.
#[test]
fn what_was_found_is_copied_after_a_short_absence() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 20_001, 5);
    it.cluster.spoil(2, 20_001, 77);
    let found = verify(&mut it, 0, 0, ALL);
    assert_eq!(counts(&found), [(2, 1)]);
    // Its loss waits for another member, and would be taken back.
    it.cluster.stop_for(1, Duration::from_millis(300));
    it.cluster.reset_link(0, 2);
    it.until("the block to be equal", |it| it.on_disk(2, 20_001) == 5);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
}

#[test]
fn a_secondary_hands_the_task_to_the_primary() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.spoil(2, 9, 77);
    let found = verify(&mut it, 1, 0, ALL);
    assert_eq!(counts(&found), [(2, 1)]);
}

/// No lane has a block so far behind the end; who leads does not look for one.
#[test]
fn a_pass_from_behind_the_end_compares_nothing() {
    let mut it = Scenario::new(3, 0, 0);
    for asked in [0, 1] {
        let task = VerifyTask { from_block: u64::MAX, ..ALL };
        let found = verify(&mut it, asked, 0, task);
        assert_eq!((found.from_block, found.position), (BLOCKS, BLOCKS));
        assert_eq!((found.verified_blocks, found.skipped_blocks), (0, 0));
    }
}

/// The Primary gives its role up in the middle.
#[test]
fn a_pass_that_is_cut_short_says_where_to_go_on() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.slow[1] = SlowDisk { read: Duration::from_millis(5), ..SlowDisk::default() };
    it.cluster.spoil(2, BLOCKS - 1, 77);
    let told = it.command(0, Command::Verify(ALL));
    let found = |it: &Scenario| it.status(0).and_then(|status| status.verify);
    it.until("a part of the pass", |it| found(it).is_some_and(|it| it.position > BLOCKS / 8));
    assert!(it.succeeded(told));
    it.demote(0);
    let cut = found(&it).expect("it began");
    assert_eq!(cut.state, VerifyState::Interrupted);
    assert!((1..BLOCKS).contains(&cut.position) && counts(&cut).is_empty(), "{cut:?}");
    it.promote(0);
    let rest = verify(&mut it, 0, 0, VerifyTask { from_block: cut.position, ..ALL });
    assert_eq!((rest.verified_blocks, counts(&rest)), (BLOCKS - cut.position, vec![(2, 1)]));
}

/// Nobody is Primary: the node that was asked leads for as long as it takes.
#[test]
fn replicas_are_compared_while_nobody_is_primary() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 9, 5);
    it.demote(0);
    it.run(Duration::from_millis(100));
    it.cluster.spoil(2, 9, 77);
    let found = verify(&mut it, 1, 1, FIXING);
    assert_eq!(counts(&found), [(2, 1)]);
    it.until("equal replicas", |it| it.on_disk(2, 9) == 5);
    it.until("the end of the session", |it| it.leader(1).is_none());
}

/// A disk says that it wrote, and did not; another one wrote to another block.
#[test]
fn a_write_that_a_disk_dropped_or_put_elsewhere_is_found_and_made_good() {
    let mut it = Scenario::new(3, 0, 0);
    for block in [9, 40, 41] {
        it.must_write(0, block, block);
    }
    it.cluster.bad[1].misplaces = Some(Misplaced { block: 9, to: None });
    it.cluster.bad[2].misplaces = Some(Misplaced { block: 40, to: Some(41) });
    it.must_write(0, 9, 90);
    it.must_write(0, 40, 400);
    assert_eq!((it.on_disk(1, 9), it.on_disk(2, 40), it.on_disk(2, 41)), (9, 40, 400));
    let found = verify(&mut it, 0, 0, FIXING);
    assert_eq!(counts(&found), [(1, 1), (2, 2)]);
    it.until("equal replicas", |it| {
        (it.on_disk(1, 9), it.on_disk(2, 40), it.on_disk(2, 41)) == (90, 400, 41)
    });
    assert_eq!(it.cluster.bad, [BadDisk::default(); 3]);
}

/// In the midst of it `end` happens to node 2.
fn verify_until_lost(end: impl Fn(&mut Scenario)) -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 100, 5);
    it.cluster.spoil(1, 100, 77);
    it.cluster.spoil(2, 20_001, 78);
    it.cluster.slow[2].read = Duration::from_millis(20);
    let told = it.command(0, Command::Verify(ALL));
    it.until("a verify that is under way", |it| it.succeeded(told));
    let found = |it: &Scenario| it.status(0).and_then(|status| status.verify);
    it.until("a part of it", |it| found(it).is_some_and(|it| it.position > 1_024));
    end(&mut it);
    it.until("the end of the verify", |it| {
        found(it).is_some_and(|it| it.state == VerifyState::Done)
    });
    let found = found(&it).expect("it is over");
    assert_eq!(counts(&found), [(1, 1)], "what is not there is not compared");
    assert!(!it.is_in_sync(0, 2));
    it
}

#[test]
fn a_member_that_dies_meanwhile_is_compared_no_more() {
    let mut it = verify_until_lost(|it| it.cluster.kill(2));
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    let found = verify(&mut it, 0, 0, FIXING);
    assert_eq!(counts(&found), [(1, 1), (2, 1)]);
}

#[test]
fn a_member_whose_disk_fails_meanwhile_is_compared_no_more() {
    let it = verify_until_lost(|it| {
        it.cluster.bad[2].write = true;
        it.must_write(0, 7, 8);
    });
    assert_eq!(it.on_disk(1, 7), 8);
}

/// A larger size is asked for, for which node 1 makes its disk ready in so long; the others have
/// done so.
fn begin_to_grow(it: &mut Scenario, write: Duration) {
    let bytes = |blocks| blocks * 4096;
    it.cluster.backing.fill(bytes(2 * BLOCKS));
    it.cluster.slow[1].write = write;
    let (place, size_bytes) = (Place::FIRST, bytes(GROWN));
    let task = ResizeTask { place, size_bytes, new_area: NewArea::Zeroed };
    let asked = it.command(0, Command::Resize(task));
    it.until("a size that is under way", |it| it.succeeded(asked));
    let others = it.status(0).expect("it leads").members.len();
    it.until("those who are ready", |it| {
        (0..others).all(|node| node == 1 || it.on_disk(node, GROWN - 1) == 0)
    });
    assert_ne!(it.on_disk(1, GROWN - 1), 0);
}

/// With ten extents more.
const GROWN: u64 = BLOCKS + 10 * 1024;

fn resize_state(it: &Scenario, leader: usize) -> Option<ResizeState> {
    it.status(leader)?.resize.map(|resize| resize.state)
}

/// Compares while nobody writes.
fn compare(it: &mut Scenario, leader: usize, task: VerifyTask) -> VerifyStatus {
    let told = it.command(leader, Command::Verify(task));
    it.until("a verify that is under way", |it| it.succeeded(told));
    let found = |it: &Scenario| it.status(leader).and_then(|status| status.verify);
    it.until("the end of the verify", |it| {
        found(it).is_some_and(|it| it.state == VerifyState::Done)
    });
    found(it).expect("it is over")
}

/// What is new differs until all have made it zeroes: a repair would copy to one what another one
/// is about to overwrite, or has overwritten.
#[test]
fn blocks_that_are_not_chosen_yet_are_not_compared() {
    for leader in [0, 1] {
        let mut it = Scenario::new(2, 0, leader);
        begin_to_grow(&mut it, Duration::from_millis(300));
        let found = compare(&mut it, leader, FIXING);
        it.cluster.slow[1] = SlowDisk::default();
        it.until("the new size", |it| resize_state(it, leader) == Some(ResizeState::Done));
        for block in BLOCKS..GROWN {
            assert_eq!([0, 1].map(|node| it.on_disk(node, block)), [0; 2], "{block}");
        }
        assert_eq!((found.verified_blocks, found.skipped_blocks), (BLOCKS, 0));
        let found = compare(&mut it, leader, ALL);
        assert_eq!((found.verified_blocks, counts(&found)), (GROWN, vec![]));
    }
}

/// The pass comes to the end of the volume when the new blocks are nobody's any more.
#[test]
fn a_pass_ends_with_the_volume_though_a_larger_size_is_given_up() {
    let mut it = Scenario::new(3, 0, 0);
    begin_to_grow(&mut it, Duration::from_secs(70));
    it.cluster.slow[2].read = Duration::from_secs(2);
    let told = it.command(0, Command::Verify(ALL));
    it.until("a verify that is under way", |it| it.succeeded(told));
    let state = |it: &Scenario| it.status(0)?.verify.map(|verify| verify.state);
    it.until("the end of the larger size", |it| resize_state(it, 0) == Some(ResizeState::Refused));
    assert_eq!(state(&it), Some(VerifyState::Running));
    it.cluster.slow[2] = SlowDisk::default();
    it.until("the end of the verify", |it| state(it) == Some(VerifyState::Done));
}

/// What was found goes into the record of the member's loss, which no other one takes that has
/// blocks in it which are not there: that one is lost, too.
#[test]
fn a_member_alone_is_lost_after_a_larger_size_was_given_up() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 3, 6);
    it.cluster.spoil(1, 3, 77);
    begin_to_grow(&mut it, Duration::from_secs(70));
    let found = compare(&mut it, 0, ALL);
    it.until("the end of the larger size", |it| resize_state(it, 0) == Some(ResizeState::Refused));
    it.cluster.kill(1);
    it.must_write(0, 4, 7);
    assert_eq!([1, 2].map(|node| it.is_in_sync(0, node)), [false, true]);
    assert_eq!(counts(&found), [(1, 1)]);
}

/// It was dropped where it came to, and who had asked was told that all is well.
#[test]
fn who_asks_another_node_hears_that_a_verify_is_under_way_already() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.slow[1].read = Duration::from_millis(20);
    let first = it.command(2, Command::Verify(ALL));
    it.until("a verify that is under way", |it| it.succeeded(first));
    let second = it.command(1, Command::Verify(ALL));
    it.until("a refusal", |it| it.failed(second));
    // One question at a time; and who leads goes before it can answer.
    it.cluster.stop_for(0, Duration::from_millis(100));
    let asked = [it.command(2, Command::Verify(ALL)), it.command(2, Command::Verify(ALL))];
    it.until("one refusal", |it| it.failed(asked[1]));
    assert!(!it.failed(asked[0]) && !it.succeeded(asked[0]));
    it.cluster.kill(0);
    it.until("the other one", |it| it.failed(asked[0]));
}
