//! Followers that fall behind (`on-congestion`): nobody waits for them beyond what the
//! configuration allows, and they return. Budget: 20 s on two cores.

use std::time::Duration;

use format::ids::{EXTENT_BLOCKS, MemberSet};
use replication::contract::{Congestion, OnCongestion, PartId};
use simulator::cluster::{SlowDisk, Way};
use simulator::run::run_with_protocols;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

const SLOW: Duration = Duration::from_secs(2);
const PROMPT: Duration = Duration::from_millis(100);
/// Longer than any write of a disk that is not slow takes to be noticed as late.
const HANGS: Duration = Duration::from_secs(1000);
const BLOCK: u64 = 4096;

const BY_FILL: Congestion =
    Congestion { then: OnCongestion::PullAhead, fill_bytes: 4 * BLOCK, extents: 0 };

/// Node 0 leads, node 2 follows.
fn follow(congestion: Congestion, shards: u8) -> Scenario {
    let mut it = Scenario::with_congestion(2, shards, congestion);
    for extent in 0..4 {
        it.must_write(0, extent * EXTENT_BLOCKS, 1);
    }
    it.until("a follower", |it| it.follows(0, 2));
    it.run(Duration::from_secs(1));
    it
}

fn wait(it: &mut Scenario, part: PartId) -> Duration {
    let before = it.cluster.now;
    it.until("an answer", |it| it.ended(part).is_some());
    assert_eq!(it.ended(part), Some(&Ok(None)));
    it.cluster.now.since(before)
}

fn hang(it: &mut Scenario) {
    it.cluster.slow[2] = SlowDisk { write: HANGS, ..SlowDisk::default() };
}

/// Writes one block after the other, which keeps nobody waiting.
fn write_promptly(it: &mut Scenario, blocks: impl Iterator<Item = u64>, value: u64) {
    for block in blocks {
        let part = it.write(0, block, value);
        assert!(wait(it, part) < PROMPT, "block {block} waits");
    }
}

#[test]
fn a_follower_that_falls_behind_is_left_there_and_returns() {
    for shards in [1, 2] {
        let mut it = follow(BY_FILL, shards);
        it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
        write_promptly(&mut it, (10..40).step_by(2), 2);
        assert!(it.is_in_sync(0, 2) == it.follows(0, 2));
        it.until("both ends to know", |it| it.is_behind(0, 2) && it.is_behind(2, 2));
        // Nothing is sent to it, and it is none of those that have to be there.
        write_promptly(&mut it, 50..60, 3);
        assert!(!it.is_in_sync(0, 2) && it.is_behind(0, 2));
        it.cluster.slow[2] = SlowDisk::default();
        it.until("its return", |it| it.follows(0, 2) && !it.is_behind(2, 2));
        for block in (10..40).step_by(2) {
            assert_eq!(it.on_disk(2, block), 2);
        }
        assert_eq!((it.on_disk(2, 55), it.losses(0)), (3, 0));
    }
}

/// Until the limit is reached nothing happens, and what is written meanwhile counts no more.
#[test]
fn a_follower_within_the_limit_stays() {
    let mut it = follow(BY_FILL, 1);
    it.cluster.slow[2] = SlowDisk { write: Duration::from_millis(200), ..SlowDisk::default() };
    for round in 0..6 {
        write_promptly(&mut it, 10..13, 2 + round);
        it.run(Duration::from_secs(1));
        assert!(it.follows(0, 2), "three blocks are less than four");
    }
    write_promptly(&mut it, 10..14, 9);
    it.until("the limit", |it| !it.follows(0, 2));
}

#[test]
fn extents_of_the_log_have_a_limit_of_their_own() {
    let by_extents = Congestion { then: OnCongestion::PullAhead, fill_bytes: 0, extents: 3 };
    let mut it = follow(by_extents, 1);
    hang(&mut it);
    write_promptly(&mut it, (10..13).chain(EXTENT_BLOCKS..EXTENT_BLOCKS + 2), 2);
    it.run(Duration::from_secs(1));
    assert!(it.follows(0, 2), "two extents");
    write_promptly(&mut it, [2 * EXTENT_BLOCKS].into_iter(), 2);
    it.run(Duration::from_millis(500));
    assert!(it.is_behind(0, 2));
}

/// What all have written keeps no extent, though lanes that write no more say so late.
#[test]
fn extents_that_are_written_everywhere_do_not_count() {
    let by_extents = Congestion { then: OnCongestion::PullAhead, fill_bytes: 0, extents: 3 };
    let mut it = follow(by_extents, 1);
    // The last one of a cut is cold, and waits for the follower's log.
    it.cluster.slow[2] = SlowDisk { metadata: SLOW, ..SlowDisk::default() };
    for block in [EXTENT_BLOCKS, EXTENT_BLOCKS + 1, 5 * EXTENT_BLOCKS] {
        it.write(0, block, 2);
    }
    it.until("the follower", |it| it.on_disk(2, EXTENT_BLOCKS + 1) == 2);
    it.run(Duration::from_millis(5));
    assert_eq!(it.on_disk(2, 5 * EXTENT_BLOCKS), 0);
    write_promptly(&mut it, [2 * EXTENT_BLOCKS].into_iter(), 2);
    it.run(PROMPT / 2);
    assert!(it.follows(0, 2), "two extents");
}

/// More is under way than the logs have room for.
fn beyond_the_room(then: OnCongestion) -> (Scenario, Duration) {
    let mut it = follow(Congestion { then, fill_bytes: 0, extents: 0 }, 1);
    hang(&mut it);
    let before = it.cluster.now;
    for extent in 0..20 {
        it.must_write(0, extent * EXTENT_BLOCKS + 3, 2);
    }
    let took = it.cluster.now.since(before);
    (it, took)
}

#[test]
fn what_is_kept_for_a_follower_is_bounded_and_that_is_congestion_too() {
    let (it, took) = beyond_the_room(OnCongestion::PullAhead);
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert!(it.is_behind(0, 2));
    let (_, took) = beyond_the_room(OnCongestion::Block);
    assert!(took > Duration::from_secs(4), "else it waits: {took:?}");
}

/// The copies took all of the log, which counted as congestion: the follower was left behind
/// whenever it returned.
#[test]
fn copies_to_a_follower_that_returns_are_no_congestion() {
    all_of((run_with_protocols, "--protocols"), 21_413..=21_413, 1_200);
}

#[test]
fn a_congested_connection_ends_where_that_is_wanted() {
    let mut it = follow(Congestion { then: OnCongestion::Disconnect, ..BY_FILL }, 1);
    it.cluster.slow[2] = SlowDisk { write: 5 * SLOW, ..SlowDisk::default() };
    write_promptly(&mut it, 10..30, 2);
    it.run(Duration::from_secs(30));
    assert!(!it.is_in_sync(0, 2) && !it.is_behind(0, 2));
    it.cluster.slow[2] = SlowDisk::default();
    it.run(Duration::from_secs(200));
    assert!(!it.is_in_sync(0, 2), "until the operator says so");
    it.meet(&[0], &[2]);
    it.until("its return", |it| it.follows(0, 2));
    assert_eq!(it.on_disk(2, 20), 2);
}

/// Without protocol A its answer is needed: there is nothing to be ahead of.
#[test]
fn only_followers_are_left_behind() {
    let mut it = Scenario::with_congestion(9, 1, BY_FILL);
    it.must_write(0, 7, 1);
    it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
    let parts: Vec<PartId> = (10..30).map(|block| it.write(0, block, 2)).collect();
    for part in parts {
        it.until("an answer", |it| it.ended(part).is_some());
    }
    assert!(it.on_disk(2, 29) == 2 && it.is_in_sync(0, 2));
}

/// A return takes as long as it takes: nobody waits for that either.
#[test]
fn no_answer_waits_for_a_follower_that_is_being_copied_to() {
    for shards in [1, 2] {
        let mut it = follow(BY_FILL, shards);
        it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
        write_promptly(&mut it, (10..300).step_by(7), 2);
        it.until("its eviction", |it| it.is_behind(0, 2));
        it.cluster.slow[2] = SlowDisk { write: Duration::from_millis(400), ..SlowDisk::default() };
        let is_copied_to = |it: &Scenario| {
            let status = it.status(0).unwrap();
            status.members.iter().any(|it| it.node.index() == 2 && it.syncing)
        };
        it.until("the resync", is_copied_to);
        for value in 3..8 {
            assert!(is_copied_to(&it));
            let part = it.write(0, 1000, value);
            assert!(wait(&mut it, part) < PROMPT, "write {value}");
            it.run(Duration::from_millis(450));
        }
        it.cluster.slow[2] = SlowDisk::default();
        it.until("its return", |it| it.follows(0, 2));
        assert_eq!((it.on_disk(2, 1000), it.on_disk(2, 17)), (7, 2));
    }
}

/// With more to do than it can it returns less and less often.
#[test]
fn a_follower_that_never_keeps_up_is_seldom_asked_back() {
    let mut it = follow(BY_FILL, 1);
    it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(3), ..SlowDisk::default() };
    let (mut times, mut was_behind, mut late) = (0, false, 0);
    for round in 0..3_000 {
        let part = it.write(0, 10 + round % 40, round);
        let took = wait(&mut it, part);
        // A block that is being written there, or copied, is locked.
        assert!(took < 2 * SLOW, "round {round} took {took:?}");
        late += u32::from(took > PROMPT);
        it.run(PROMPT);
        let is_behind = it.is_behind(0, 2);
        times += u32::from(is_behind && !was_behind);
        was_behind = is_behind;
    }
    assert!((3..12).contains(&times), "left behind {times} times in five minutes");
    assert!(late <= 2 * times, "{late} writes waited");
}

/// A follower that returns applies at once what it is sent until it holds: until all of that is in
/// a cut that came as a whole it says that it is none.
#[test]
fn a_follower_that_returned_says_when_it_is_at_no_cut() {
    for wait_for_hold in [Duration::ZERO, Duration::from_millis(250)] {
        let mut it = Scenario::with_followers(5, 1, &[2, 3], 2);
        it.must_write(0, 7, 1);
        it.must_write(0, EXTENT_BLOCKS, 1);
        it.until("followers", |it| it.follows(0, 2) && it.follows(0, 3));
        it.run(Duration::from_secs(1));
        it.cluster.kill(2);
        it.until("its loss", |it| !it.is_in_sync(0, 2));
        it.must_write(0, 9, 1);
        it.cluster.slow_mail.insert((2, 1, Way::ToGroup), PROMPT);
        it.cluster.start(2);
        it.until("its return", |it| it.is_in_sync(0, 2));
        // Its second shard does not hold yet, nor does it know of the first cut.
        it.run(Duration::from_millis(5));
        it.cluster.delay_lane(0, 2, 0, SLOW);
        it.cluster.cut_link(0, 3);
        for block in [7, EXTENT_BLOCKS] {
            let part = it.write(0, block, 2);
            assert!(wait(&mut it, part) < PROMPT);
        }
        it.until("the second write", |it| it.on_disk(2, EXTENT_BLOCKS) == 2);
        it.run(wait_for_hold);
        it.cluster.kill(0);
        it.cluster.kill(1);
        assert_eq!(it.on_disk(2, 7), 1, "torn");
        it.run(Duration::from_secs(1));
        it.force(3);
        assert_eq!((it.must_read(3, 7), it.must_read(3, EXTENT_BLOCKS)), (1, 1));
        it.until("its answer to the seal", |it| !it.is_intact(2));
    }
}

/// Node 1 is lost, and node 2, a follower, does not write down what it misses.
fn with_a_loss_beside_a_follower_that_hangs() -> Scenario {
    let mut it = Scenario::with_followers(5, 0, &[2], 1);
    it.must_write(0, 7, 1);
    it.until("a follower", |it| it.follows(0, 2));
    it.cluster.slow[2] = SlowDisk {
        write: HANGS,
        metadata: HANGS,
        flush: HANGS,
        save: HANGS,
        ..SlowDisk::default()
    };
    it.cluster.kill(1);
    it
}

/// The operator wants no followers any more while the loss waits: nobody looks at it as that of one
/// any more, and nothing wakes the node up for it.
#[test]
fn a_loss_that_waits_for_a_follower_is_as_any_other_once_it_is_none() {
    let mut it = with_a_loss_beside_a_follower_that_hangs();
    it.write(0, 7, 2);
    it.run(Duration::from_millis(500));
    it.cluster.count_as(0, MemberSet::EMPTY, MemberSet::EMPTY);
    it.run(Duration::from_secs(4));
    assert!(it.is_in_sync(0, 2), "it has longer than a follower");
    it.until("its eviction", |it| !it.is_in_sync(0, 2));
}

/// A loss is written down by all before writes go on; one that stands still is lost with it.
#[test]
fn the_loss_of_another_member_does_not_wait_for_a_follower() {
    let mut it = with_a_loss_beside_a_follower_that_hangs();
    let part = it.write(0, 7, 2);
    let took = wait(&mut it, part);
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert!(!it.is_in_sync(0, 1) && !it.is_in_sync(0, 2));
}

#[test]
fn runs_leave_followers_behind_and_lose_nothing() {
    let set = of_this_run(1..=40);
    let total = all_of((run_with_protocols, "--protocols"), set.seeds, 3_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        for mark in [Mark::PulledAhead, Mark::Congested] {
            assert!(total.marks.contains(&mark), "{mark:?} never happened");
        }
    }
}
