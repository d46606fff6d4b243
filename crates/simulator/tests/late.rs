//! Members that are late: who is waited for, for how long, and what is owed meanwhile.

use std::time::Duration;

use replication::contract::{Demands, PartId, Share};
use replication::group::under_way::UnderWay;
use replication::limits;
use simulator::cluster::{SlowDisk, Way};
use simulator::scenario::Scenario;

#[test]
fn a_member_that_does_not_keep_up_is_left_behind_and_returns() {
    for slow in [0, 2] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.cluster.slow[slow] = SlowDisk { write: Duration::from_secs(25), ..SlowDisk::default() };
        let before = it.cluster.now;
        it.must_write(0, 7, 2);
        assert!(it.cluster.now.since(before) < Duration::from_secs(8), "node {slow}");
        assert!(!it.is_in_sync(0, slow));
        it.must_write(0, 8, 3);
        it.cluster.slow[slow] = SlowDisk::default();
        it.until("the return", |it| it.is_in_sync(0, slow));
        assert_eq!((it.on_disk(slow, 7), it.on_disk(slow, 8)), (2, 3));
    }
}

#[test]
fn a_member_that_does_not_flush_is_left_behind() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[1] = SlowDisk { flush: Duration::from_secs(25), ..SlowDisk::default() };
    let before = it.cluster.now;
    let flush = it.flush(0);
    it.until("a flush", |it| it.ended(flush).is_some());
    assert!(it.cluster.now.since(before) < Duration::from_secs(8));
    assert!(!it.is_in_sync(0, 1));
}

/// `timeout` times `ko-count`; also where a write is under way already.
#[test]
fn a_member_is_waited_for_as_long_as_the_options_say() {
    for (limit, at_least, at_most) in [(1, 1, 2), (12, 11, 19)] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(25), ..SlowDisk::default() };
        let part = it.write(0, 7, 2);
        it.run(Duration::from_millis(10));
        it.cluster.be_patient(0, Duration::from_secs(limit));
        let before = it.cluster.now;
        it.until("a write", |it| it.ended(part).is_some());
        let waited = it.cluster.now.since(before);
        let bounds = Duration::from_secs(at_least)..=Duration::from_secs(at_most);
        assert!(bounds.contains(&waited), "{waited:?} of {limit} s");
        assert!(!it.is_in_sync(0, 2));
    }
}

/// What an operator is told to be under way: what the other side owes, and what it is owed, until
/// it is answered.
#[test]
fn what_is_sent_and_not_acknowledged_is_counted_at_both_ends() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let nothing = UnderWay::default();
    assert_eq!((it.under_way(0, 2), it.under_way(2, 0)), (vec![nothing], vec![nothing]));
    it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(2), ..SlowDisk::default() };
    let parts = [it.write(0, 7, 2), it.write(0, 9, 2)];
    it.run(Duration::from_millis(500));
    let sent = UnderWay { application_bytes: 2 * 4096, pending: 2, ..nothing };
    assert_eq!((it.under_way(0, 2), it.under_way(0, 1)), (vec![sent], vec![nothing]));
    let owed = UnderWay { unacked: 2, ..nothing };
    assert_eq!((it.under_way(2, 0), it.under_way(1, 0)), (vec![owed], vec![nothing]));
    for part in parts {
        it.until("a write", |it| it.ended(part).is_some());
    }
    assert_eq!((it.under_way(0, 2), it.under_way(2, 0)), (vec![nothing], vec![nothing]));
}

/// A limit holds from when it is set: nobody is late by one that was not there. Setting the same
/// one again changes nothing.
#[test]
fn a_new_limit_counts_from_when_it_is_set() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(40), ..SlowDisk::default() };
    let part = it.write(0, 7, 2);
    it.run(Duration::from_millis(4900));
    it.cluster.be_patient(0, Duration::from_secs(12));
    it.run(Duration::from_millis(11_900));
    assert!(it.is_in_sync(0, 2) && it.ended(part).is_none());
    for _ in 0..7 {
        it.cluster.be_patient(0, Duration::from_secs(12));
        it.run(Duration::from_secs(1));
    }
    assert!(!it.is_in_sync(0, 2) && it.ended(part).is_some());
}

/// Without it requests would be held back, or fail, for longer than it takes.
#[test]
fn a_member_without_which_too_few_are_left_is_waited_for() {
    let mut it = Scenario::new(3, 0, 0);
    it.demand(Demands { redundancy: Share::AtLeast(2), ..Demands::default() });
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.cluster.slow[2] = SlowDisk { write: Duration::from_secs(15), ..SlowDisk::default() };
    let (before, part) = (it.cluster.now, it.write(0, 7, 2));
    it.until("a write", |it| it.ended(part).is_some());
    assert!(it.cluster.now.since(before) < Duration::from_secs(17));
    assert!(it.is_in_sync(0, 2));
}

#[test]
fn the_last_member_is_waited_for_however_slow_it_is() {
    let mut it = Scenario::new(3, 0, 0);
    for node in 0..3 {
        it.cluster.slow[node] = SlowDisk { write: Duration::from_secs(20), ..SlowDisk::default() };
    }
    it.must_write(0, 7, 1);
    assert!((0..3).any(|node| it.is_in_sync(0, node) && it.on_disk(node, 7) == 1));
}

/// A shorter limit counts from when it is set: what was waited for longer than that until then was
/// not late.
#[test]
fn nobody_is_late_by_a_limit_that_was_not_there() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(3));
    it.cluster.slow[1].write = Duration::from_millis(3_300);
    let part = it.write(0, 7, 2);
    it.run(Duration::from_millis(2_600));
    it.cluster.be_patient(0, Duration::from_secs(1));
    it.until("the write", |it| it.ended(part).is_some());
    assert!(it.is_in_sync(0, 1));
}

/// Node 1 is late with a write, and one of the Primary's threads says so late: by then node 1 was
/// lost, came back as it was, and has written. It was late as the one that was lost.
#[test]
fn a_late_word_of_a_slow_member_is_none_about_one_that_came_back() {
    let mut it = Scenario::with_shards(3, 0, 0, 2);
    it.must_write(0, 7, 1);
    let of_second_shard = 1024;
    it.cluster.slow[1].write = Duration::from_secs(6);
    it.cluster.slow_mail.insert((0, 1, Way::FromGroup), Duration::from_secs(3));
    let part = it.write(0, of_second_shard, 1);
    it.run(Duration::from_millis(5500));
    it.cluster.reset_link(0, 1);
    it.run(Duration::from_millis(1500));
    assert_eq!(it.ended(part), Some(&Ok(None)));
    it.run(Duration::from_secs(8));
    assert!(it.is_in_sync(0, 1), "it was left behind for what is over");
}

/// More flushes than one of the Primary's threads has under way wait there, and not at the members:
/// these keep no more for it than that, however slow their disks are.
#[test]
fn flushes_beyond_the_bound_wait_at_the_primary() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[1].flush = Duration::from_millis(100);
    let most = limits::FLUSHES_PER_GROUP_MAX;
    let flushes: Vec<PartId> = (0..2 * most + 100).map(|_| it.flush(0)).collect();
    it.run(Duration::from_millis(50));
    assert_eq!(it.flushes_waiting(1), most);
    // It comes back before its loss is recorded.
    it.cluster.slow[2].save = Duration::from_secs(1);
    it.cluster.reset_link(0, 1);
    it.until("all flushes", |it| flushes.iter().all(|&flush| it.ended(flush).is_some()));
    assert!(flushes.iter().all(|&flush| it.ended(flush) == Some(&Ok(None))));
    assert!(it.is_in_sync(0, 1));
    assert_eq!(it.flushes_waiting(1), 0);
}

/// Node 2 writes nothing any more, and its connections are made anew again and again, each time
/// before its loss is proposed: it is given no more time for what it was asked before.
#[test]
fn connections_made_anew_give_a_member_that_answers_nothing_no_more_time() {
    for is_flush in [false, true] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        let hangs = Duration::from_secs(3600);
        it.cluster.slow[2] = SlowDisk { write: hangs, flush: hangs, ..SlowDisk::default() };
        // The word about a loss takes until the member is back.
        it.cluster.slow_mail.insert((1, 0, Way::FromGroup), Duration::from_millis(50));
        it.cluster.delay_lane(1, 0, 0, Duration::from_millis(200));
        let part = if is_flush { it.flush(0) } else { it.write(0, 7, 2) };
        for _ in 0..10 {
            it.cluster.reset_link(0, 2);
            it.run(Duration::from_secs(2));
        }
        assert_eq!(it.ended(part), Some(&Ok(None)), "a flush: {is_flush}");
        assert!(!it.is_in_sync(0, 2));
    }
}
