//! Members that count for a client's answer once they received a write (protocol B): what is
//! answered before it is written everywhere, what waits all the same, and what a promotion makes of
//! such a member that restarted. Budget: 30 s on two cores.

use std::time::Duration;

use format::ids::{EXTENT_BLOCKS, MemberSet, NodeId};
use replication::balance::ReadPolicy;
use replication::contract::{Command, PartId, PromoteMode};
use simulator::cluster::SlowDisk;
use simulator::run::run_with_protocols;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

const SEEDS: u64 = 40;
const EVENTS: u64 = 6_000;
/// What the slow disk takes for a write: nothing that waits for it is answered sooner.
const SLOW: Duration = Duration::from_secs(1);
const PROMPT: Duration = Duration::from_millis(100);
/// A block of a lane that the second of two shards has.
const SECOND: u64 = 1024;

#[test]
fn no_write_is_lost_but_by_a_promotion_that_says_so() {
    let set = of_this_run(1..=SEEDS);
    let total = all_of((run_with_protocols, "--protocols"), set.seeds, EVENTS);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        // The set means something only while the faults happen and requests are served.
        assert!(total.kills > 100 && total.power_cuts > 30 && total.cuts > 30, "{total:?}");
        assert!(total.writes > 3_000 && total.flushes > 150 && total.sessions > 60, "{total:?}");
        for mark in [Mark::Received, Mark::FlushAsked, Mark::ReceiptsAllowed, Mark::LossesCounted] {
            assert!(total.marks.contains(&mark), "{mark:?} never happened");
        }
    }
}

/// Three replicas; node 0 leads and counts node 2 by receipt, whose disk is slow. Block 7 is hot.
fn with_slow_member() -> Scenario {
    let mut it = Scenario::counting_receipts(3, 0, &[2], 1);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(1));
    it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
    it
}

fn wait(it: &mut Scenario, part: PartId) -> Duration {
    let before = it.cluster.now;
    it.until("an answer", |it| it.ended(part).is_some());
    assert!(matches!(it.ended(part), Some(Ok(_))), "{:?}", it.ended(part));
    it.cluster.now.since(before)
}

#[test]
fn a_write_is_answered_when_such_a_member_has_it_in_memory() {
    let mut it = with_slow_member();
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    assert_eq!((it.on_disk(1, 7), it.on_disk(2, 7)), (2, 1));
    assert_eq!(it.cluster.answered_early(0), 1);
    it.run(2 * SLOW);
    assert_eq!((it.on_disk(2, 7), it.cluster.answered_early(0)), (2, 0));
}

#[test]
fn a_write_waits_for_a_member_that_does_not_count_so() {
    let mut it = with_slow_member();
    it.cluster.slow[1] = SlowDisk { write: SLOW / 2, ..SlowDisk::default() };
    let part = it.write(0, 7, 2);
    let took = wait(&mut it, part);
    assert!(took >= SLOW / 2 && took < SLOW, "{took:?}");
}

/// What it said that it received is found again, whatever becomes of it.
#[test]
fn a_receipt_waits_for_the_activity_log() {
    let mut it = with_slow_member();
    it.cluster.slow[2] = SlowDisk { metadata: SLOW, ..SlowDisk::default() };
    let cold = 3 * EXTENT_BLOCKS;
    let part = it.write(0, cold, 2);
    assert!(wait(&mut it, part) >= SLOW);
    assert!(it.is_logged(2, 3));
}

#[test]
fn durable_writes_and_overlapping_ones_wait_for_its_disk() {
    let mut it = with_slow_member();
    let durable = it.write_durably(0, 7, 2);
    assert!(wait(&mut it, durable) >= SLOW);
    let first = it.write(0, 7, 3);
    assert!(wait(&mut it, first) < PROMPT);
    // The block is locked until all have written it.
    let second = it.write(0, 7, 4);
    let took = wait(&mut it, second);
    assert!(took >= SLOW - PROMPT && took < SLOW + PROMPT, "{took:?}");
}

/// Also one that another shard has than the one that answered the write.
#[test]
fn a_flush_waits_until_what_was_answered_is_written() {
    for (shards, block) in [(1, 7), (2, 7), (2, SECOND)] {
        let mut it = Scenario::counting_receipts(3, 0, &[2], shards);
        it.must_write(0, block, 1);
        it.run(Duration::from_secs(1));
        it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
        let part = it.write(0, block, 2);
        assert!(wait(&mut it, part) < PROMPT);
        let flush = it.flush(0);
        let took = wait(&mut it, flush);
        assert!(took >= SLOW - PROMPT, "{took:?}");
        // Nothing that it had is in the disk's cache alone.
        it.cluster.cut_power(2);
        assert_eq!(it.on_disk(2, block), 2);
    }
}

#[test]
fn a_read_comes_from_a_member_that_has_written_or_waits() {
    let mut it = with_slow_member();
    it.balance_reads(0, ReadPolicy::PreferRemote);
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    for _ in 0..8 {
        let read = it.read(0, 7);
        assert!(wait(&mut it, read) < PROMPT);
        assert_eq!(it.ended(read), Some(&Ok(Some(vec![2]))));
    }
    assert_eq!(it.cluster.answered_early(0), 1, "node 2 has not written it yet");
    // A Primary without data, and nobody who has written: the read waits.
    let mut it = Scenario::counting_receipts(4, 2, &[0, 1], 1);
    it.demote_and_promote(0, 3);
    it.must_write(3, 7, 1);
    it.run(Duration::from_secs(1));
    for node in [0, 1] {
        it.cluster.slow[node] = SlowDisk { write: SLOW, ..SlowDisk::default() };
    }
    let part = it.write(3, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    let read = it.read(3, 7);
    assert!(wait(&mut it, read) >= SLOW - PROMPT);
    assert_eq!(it.ended(read), Some(&Ok(Some(vec![2]))));
}

/// It wrote what it had received before it said where it stands.
#[test]
fn a_member_that_stayed_up_takes_over_with_all_that_was_answered() {
    let mut it = with_slow_member();
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.kill(0);
    it.part(&[1], &[2]);
    it.cluster.cut_power(1);
    it.cluster.start(1);
    it.run(Duration::from_millis(200));
    it.meet(&[1], &[2]);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 2);
    assert_eq!(it.losses(2), 0);
}

/// Killed with a write in memory that was answered, while the Primary dies as well.
fn with_forgetful_member() -> Scenario {
    let mut it = with_slow_member();
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.lose_what_is_written(2);
    for node in [0, 1, 2] {
        it.cluster.kill(node);
    }
    it.cluster.slow[2] = SlowDisk::default();
    assert_eq!(it.on_disk(2, 7), 1, "it forgot");
    it
}

#[test]
fn a_member_that_restarted_is_passed_over_for_one_that_wrote() {
    let mut it = with_forgetful_member();
    // Node 1 restarted as well; what it acknowledged, its kernel has.
    it.cluster.start(1);
    it.cluster.start(2);
    it.run(Duration::from_millis(100));
    it.promote(1);
    assert_eq!((it.losses(1), it.must_read(1, 7)), (0, 2));
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    assert_eq!(it.on_disk(2, 7), 2);
}

#[test]
fn a_promotion_from_such_a_member_alone_says_that_writes_may_be_lost() {
    let mut it = Scenario::counting_receipts(3, 1, &[1], 1);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(1));
    it.cluster.slow[1] = SlowDisk { write: SLOW, ..SlowDisk::default() };
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.lose_what_is_written(1);
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.cluster.slow[1] = SlowDisk::default();
    it.cluster.start(1);
    it.run(Duration::from_millis(100));
    it.promote(1);
    assert_eq!((it.losses(1), it.must_read(1, 7)), (1, 1));
    // Node 0 had more, and follows.
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    it.until("equal replicas", |it| it.on_disk(0, 7) == 1);
}

/// By the leader's configuration alone, and at once; but what was answered is remembered.
#[test]
fn an_operator_changes_the_protocol_under_clients() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.run(Duration::from_secs(1));
    it.cluster.slow[2] = SlowDisk { write: SLOW, ..SlowDisk::default() };
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) >= SLOW);
    let counts = |it: &Scenario, node| it.counts_by_receipt(0, node);
    it.cluster.count_by_receipt(0, MemberSet::of(NodeId::new(2).unwrap()));
    it.until("receipts to count", |it| counts(it, 2));
    assert!(!counts(&it, 1));
    // Node 2 hears of it, and says from then on what it received.
    it.run(PROMPT);
    let part = it.write(0, 7, 3);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.count_by_receipt(0, MemberSet::EMPTY);
    assert!(!counts(&it, 2));
    let flush = it.flush(0);
    assert!(wait(&mut it, flush) >= SLOW - PROMPT, "of the write before");
    let part = it.write(0, 7, 4);
    assert!(wait(&mut it, part) >= SLOW);
}

/// Nothing is answered early once so much of a lane is kept in memory.
#[test]
fn what_is_answered_early_is_bounded() {
    let mut it = with_slow_member();
    let writes = 2 * replication::limits::EARLY_BYTES_PER_LANE_MAX / (32 * 4096);
    let parts: Vec<PartId> = (0..writes).map(|at| it.write_blocks(0, 32 * at, 32, at)).collect();
    it.run(PROMPT);
    let answered = parts.iter().filter(|part| it.ended(**part).is_some()).count() as u64;
    assert_eq!(answered, writes / 2);
    it.until("all answers", |it| parts.iter().all(|part| it.ended(*part).is_some()));
}

/// A session without clients answers nobody: a member that restarts after it lost nothing.
#[test]
fn a_member_that_restarts_where_nobody_wrote_lost_nothing() {
    let mut it = Scenario::counting_receipts(3, 1, &[0, 1], 1);
    it.must_write(0, 7, 1);
    let demotion = it.command(0, Command::Demote);
    it.until("the demotion", |it| it.succeeded(demotion));
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.cluster.start(1);
    let promotion = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the promotion", |it| it.succeeded(promotion));
    assert_eq!((it.losses(1), it.must_read(1, 7)), (0, 1));
}
