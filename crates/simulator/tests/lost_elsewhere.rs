//! Sequences in which other systems lost data (docs/TESTING.md, section A), against the real core.
//!
//! Every invariant is checked after every event; what is asserted here is what a client sees.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};
use simulator::cluster::{BadDisk, SlowDisk};
use simulator::scenario::Scenario;

fn slow(time: Duration) -> SlowDisk {
    SlowDisk { save: time, flush: time, write: time, metadata: time, ..SlowDisk::default() }
}

fn lose(it: &mut Scenario, leader: usize, node: usize) {
    it.cluster.kill(node);
    it.until("the loss of a node", |it| !it.is_in_sync(leader, node));
}

fn until_in_sync(it: &mut Scenario, leader: usize, nodes: &[usize]) {
    it.until("all to be in sync", |it| nodes.iter().all(|&node| it.is_in_sync(leader, node)));
}

fn cut_off(it: &mut Scenario, node: usize, others: &[usize]) {
    for &other in others {
        it.cluster.cut_link(node, other);
    }
}

fn heal(it: &mut Scenario, nodes: usize) {
    for a in 0..nodes {
        for b in 0..nodes {
            it.cluster.heal_link(a, b);
        }
    }
}

/// S1. The primary has no disk and forgets who it was; what was written while node 1 was away has
/// to reach it all the same.
#[test]
fn a_diskless_primary_that_restarts_knows_what_an_absent_member_misses() {
    let mut it = Scenario::new(4, 1, 3);
    it.must_write(3, 7, 1);
    lose(&mut it, 3, 1);
    it.must_write(3, 7, 2);
    it.cluster.kill(3);
    it.cluster.start(3);
    it.promote(3);
    it.must_write(3, 8, 3);
    it.cluster.start(1);
    until_in_sync(&mut it, 3, &[1]);
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 8)), (2, 3));
}

/// S2. Node 2 returns where only node 1 reaches it: nobody may bring it up to date behind the
/// primary's back.
#[test]
fn nobody_is_brought_up_to_date_without_the_primary() {
    let mut it = Scenario::new(3, 0, 0);
    lose(&mut it, 0, 2);
    it.must_write(0, 7, 1);
    it.cluster.cut_link(0, 2);
    it.cluster.start(2);
    it.run(Duration::from_secs(5));
    assert!(!it.is_in_sync(0, 2) && !it.is_in_sync(1, 2));
    it.must_write(0, 8, 2);
    heal(&mut it, 3);
    until_in_sync(&mut it, 0, &[2]);
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8)), (1, 2));
}

/// S3. A member that returned counts by what it holds: the answer waits for its disk.
#[test]
fn a_write_is_answered_when_the_slowest_member_has_it() {
    let mut it = Scenario::new(3, 0, 0);
    lose(&mut it, 0, 2);
    it.must_write(0, 7, 1);
    it.cluster.start(2);
    until_in_sync(&mut it, 0, &[2]);
    it.cluster.slow[2] = slow(Duration::from_millis(300));
    it.must_write(0, 7, 2);
    assert_eq!(it.on_disk(2, 7), 2);
}

/// S4. Every link breaks at once while a write is under way, and the nodes meet again in pairs.
#[test]
fn nodes_that_lost_each_other_all_at_once_agree_again() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    for block in 7..12 {
        it.write(0, block, 2);
    }
    it.run(Duration::from_micros(250));
    cut_off(&mut it, 0, &[1, 2]);
    it.cluster.cut_link(1, 2);
    it.run(Duration::from_secs(3));
    it.cluster.heal_link(1, 2);
    it.promote(1);
    let seen = it.must_read(1, 7);
    heal(&mut it, 3);
    until_in_sync(&mut it, 1, &[0, 1, 2]);
    let values: Vec<u64> = (0..3).map(|node| it.on_disk(node, 7)).collect();
    assert_eq!(values, [seen; 3]);
}

/// S5. Node 2 stops in good order, and its link is gone before it can say so.
#[test]
fn a_member_that_stops_behind_a_broken_link_gets_what_it_missed() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    cut_off(&mut it, 2, &[0, 1]);
    it.command(2, Command::Stop);
    it.run(Duration::from_millis(200));
    it.cluster.kill(2);
    it.must_write(0, 7, 2);
    heal(&mut it, 3);
    it.cluster.start(2);
    it.until("the copy", |it| it.is_in_sync(0, 2) && it.on_disk(2, 7) == 2);
}

/// S6, S7. Two members are being copied to, one is cut off from the source and meets the other;
/// later a member that was a target leads, and is the source.
#[test]
fn what_members_miss_stays_marked_through_chains_of_copies() {
    let mut it = Scenario::new(5, 0, 0);
    lose(&mut it, 0, 3);
    it.must_write(0, 7, 1);
    lose(&mut it, 0, 4);
    it.must_write(0, 4096, 2);
    for node in [3, 4] {
        it.cluster.slow[node] = slow(Duration::from_millis(50));
        it.cluster.start(node);
    }
    it.run(Duration::from_millis(120));
    cut_off(&mut it, 0, &[3, 4]);
    it.run(Duration::from_secs(2));
    it.must_write(0, 8, 3);
    it.cluster.slow = vec![SlowDisk::default(); 5];
    it.cluster.heal_link(0, 3);
    until_in_sync(&mut it, 0, &[3]);
    it.demote(0);
    it.promote(3);
    it.must_write(3, 9, 4);
    heal(&mut it, 5);
    until_in_sync(&mut it, 3, &[0, 1, 2, 3, 4]);
    for (block, value) in [(7, 1), (4096, 2), (8, 3), (9, 4)] {
        assert_eq!(it.on_disk(4, block), value, "block {block}");
    }
}

/// S9, S32. A member returns with nothing to copy while a write is under way.
#[test]
fn a_write_that_races_with_an_empty_resync_reaches_the_member() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    lose(&mut it, 0, 2);
    it.cluster.start(2);
    let mut parts = Vec::new();
    for block in 20..60 {
        parts.push(it.write(0, block, block));
        it.run(Duration::from_millis(1));
    }
    it.until("all writes", |it| parts.iter().all(|&part| it.ended(part) == Some(&Ok(None))));
    until_in_sync(&mut it, 0, &[2]);
    for block in 20..60 {
        assert_eq!(it.on_disk(2, block), block);
    }
}

/// S16, S25. A write reached one survivor and was never answered: once it was read it is on both.
#[test]
fn what_a_survivor_alone_has_is_on_all_before_it_is_read() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[2] = slow(Duration::from_millis(20));
    it.write(0, 7, 2);
    it.until("one copy", |it| it.on_disk(1, 7) == 2);
    it.cluster.kill(0);
    it.promote(2);
    let seen = it.must_read(2, 7);
    assert_eq!((it.on_disk(1, 7), it.on_disk(2, 7)), (seen, seen));
}

/// S20, S21, S33. A member dies three times in the middle of its copy, once by power: it is nothing
/// that may serve until it is whole.
#[test]
fn a_member_that_is_copied_to_and_dies_again_and_again_ends_whole() {
    let mut it = Scenario::new(3, 0, 0);
    lose(&mut it, 0, 2);
    for block in 0..40 {
        it.must_write(0, block * 25, block + 1);
    }
    it.cluster.slow[2] = slow(Duration::from_millis(4));
    for round in 0..3 {
        it.cluster.start(2);
        it.until("some of the copy", |it| it.on_disk(2, round * 25) != 0);
        assert!(!it.is_in_sync(0, 2));
        if round == 1 {
            it.cluster.cut_power(2);
        } else {
            it.cluster.kill(2);
        }
    }
    // Of node 2 and a voter without its disk nobody makes a volume.
    let detached = it.command(1, Command::Detach);
    it.until("the end of the disk", |it| it.succeeded(detached));
    it.cluster.start(2);
    it.cluster.kill(0);
    let promoted = it.command(2, Command::Promote(PromoteMode::Normal));
    it.until("a refusal", |it| it.failed(promoted));
    it.cluster.start(0);
    it.promote(0);
    it.until("the copy", |it| it.is_in_sync(0, 2));
    assert!((0..40).all(|block| it.on_disk(2, block * 25) == block + 1));
}

/// S28. Two of five are away for a long time, die again, and come back together.
#[test]
fn members_that_were_away_for_long_return_together() {
    let mut it = Scenario::new(5, 0, 0);
    lose(&mut it, 0, 3);
    lose(&mut it, 0, 4);
    for block in 0..30 {
        it.must_write(0, block, block + 1);
    }
    it.run(Duration::from_secs(3_600));
    it.cluster.start(3);
    it.cluster.start(4);
    until_in_sync(&mut it, 0, &[3, 4]);
    assert!([3, 4].iter().all(|&node| (0..30).all(|block| it.on_disk(node, block) == block + 1)));
}

/// One that misses little does not wait for one that gets all there is.
#[test]
fn a_member_that_misses_little_returns_beside_a_full_copy() {
    let mut it = Scenario::new(5, 0, 0);
    for extent in 0..20 {
        it.must_write(0, extent * 1024, 1);
    }
    // Its log names nothing.
    it.stop(4);
    it.must_write(0, 7, 2);
    it.cluster.slow[3].read = Duration::from_millis(500);
    let invalidated = it.command(3, Command::Invalidate);
    it.until("the answer", |it| it.succeeded(invalidated));
    it.until("its copy", |it| it.explains(0, "to 3: "));
    it.cluster.start(4);
    it.run(Duration::from_secs(2));
    assert!(!it.is_in_sync(0, 3));
    assert!(it.is_in_sync(0, 4));
    until_in_sync(&mut it, 0, &[3]);
    assert_eq!(it.on_disk(4, 7), 2);
}

/// Who looks would take it for one that hangs.
#[test]
fn a_copy_beside_one_that_began_earlier_tells_how_far_it_is() {
    let mut it = Scenario::new(5, 0, 0);
    it.stop(4);
    for extent in 0..20 {
        for block in (0..1000).step_by(100) {
            it.must_write(0, extent * 1024 + block, 2);
        }
    }
    it.cluster.slow[3].read = Duration::from_secs(5);
    let invalidated = it.command(3, Command::Invalidate);
    it.until("the answer", |it| it.succeeded(invalidated));
    it.until("its copy", |it| it.explains(0, "to 3: "));
    it.cluster.slow[4].write = Duration::from_millis(500);
    it.cluster.start(4);
    let member = |it: &Scenario| it.status(0).expect("it is up").members[4];
    it.until("blocks that were copied", |it| member(it).copied_blocks > 0);
    let left = member(&it).out_of_sync;
    assert!(!left.is_empty() && !it.is_in_sync(0, 3), "{left:?}");
}

/// A copy that waits for a client's write keeps no other one waiting.
#[test]
fn copies_go_on_beside_one_that_waits() {
    let mut it = Scenario::new(3, 0, 0);
    lose(&mut it, 0, 2);
    for block in (0..1000).step_by(100) {
        it.must_write(0, block, 1);
    }
    it.cluster.slow[1].write = Duration::from_secs(3);
    let part = it.write(0, 0, 2);
    it.cluster.start(2);
    it.run(Duration::from_secs(2));
    assert!(it.ended(part).is_none());
    let copied = it.status(0).expect("it is up").members[2].copied_blocks;
    assert!(copied >= 8, "{copied}");
    until_in_sync(&mut it, 0, &[2]);
}

/// S30. The old primary was cut off with a lease in hand: what it reads later is not what the new
/// one has overwritten.
#[test]
fn a_primary_that_was_cut_off_never_answers_with_what_was_overwritten() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    cut_off(&mut it, 0, &[1, 2]);
    it.promote(1);
    it.must_write(1, 7, 2);
    let stale = it.read(0, 7);
    it.run(Duration::from_secs(1));
    assert_eq!(it.ended(stale), None, "there is nobody who says that it still leads");
    heal(&mut it, 3);
    it.until("its end", |it| it.ended(stale).is_some_and(Result::is_err));
    assert_eq!(it.must_read(1, 7), 2);
}

/// S37. A flush failed: no later one makes that good.
#[test]
fn a_flush_that_failed_once_is_never_believed_again() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.bad[2] = BadDisk { flush: true, ..BadDisk::default() };
    let flushed = it.flush(0);
    it.until("the flush", |it| it.ended(flushed).is_some());
    assert_eq!(it.ended(flushed), Some(&Ok(None)), "by those who did flush");
    assert!(!it.is_in_sync(0, 2) && !it.cluster.has_open_disk(2));
}

/// Node 2 alone has a write of a leader that died, and stops in good order: nobody has to ask
/// its activity log then.
#[test]
fn a_member_that_stops_tells_later_what_it_alone_has() {
    let mut it = Scenario::new(3, 0, 0);
    // So that no slot for node 2 says that it lacks everything, as they do at birth.
    it.stop(2);
    it.must_write(0, 7, 1);
    it.cluster.start(2);
    it.until("all to vote", |it| it.voters(0) == [0, 1, 2]);
    it.cluster.cut_link(0, 1);
    it.write(0, 7, 2);
    it.until("the write at node 2", |it| it.on_disk(2, 7) == 2);
    it.cluster.kill(0);
    it.cluster.cut_link(1, 2);
    it.stop(2);
    it.cluster.heal_link(1, 2);
    it.cluster.start(2);
    it.promote(1);
    let seen = it.must_read(1, 7);
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    assert_eq!((it.on_disk(1, 7), it.on_disk(2, 7)), (seen, seen));
}
