//! What goes wrong between the shards of one node, when one of them hears of things late.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::Command;
use simulator::cluster::{BadDisk, SlowDisk, Way};
use simulator::scenario::Scenario;

/// A block of a lane that the second of two shards has.
const SECOND: u64 = 1024;

/// The old Primary's second shard learns late that the session is over. Until then it may answer
/// reads: so nobody may be told that the lease is void.
#[test]
fn a_lease_is_released_only_when_every_shard_has_stood_down() {
    // A Primary with a disk is sealed as well, and a seal is answered by every shard.
    let mut it = Scenario::with_shards(4, 1, 3, 2);
    it.must_write(3, SECOND, 1);
    let demotion = it.command(3, Command::Demote);
    it.until("the last change", |it| it.explains(3, "change: Some(Demoting)"));
    it.cluster.slow_mail.insert((3, 1, Way::ToGroup), Duration::from_millis(700));
    it.until("the demotion", |it| it.succeeded(demotion));
    // Two Primaries that answer reads at a time are what the checker looks for.
    it.promote(1);
    it.must_write(1, SECOND, 2);
    assert_eq!(it.must_read(1, SECOND), 2);
}

/// A drain is given up, the requests go on, and it is asked for again: that a shard was drained
/// for the first time says nothing of the second.
#[test]
fn a_shard_that_was_drained_once_is_not_taken_for_drained_again() {
    let mut it = Scenario::with_shards(3, 0, 0, 2);
    it.must_write(0, 7, 1);
    it.must_write(0, SECOND, 1);
    it.run(Duration::from_secs(1));
    let flush = Duration::from_millis(10);
    it.cluster.slow[1] = SlowDisk { write: Duration::from_secs(11), flush, ..SlowDisk::default() };
    let _ = it.write(0, 7, 2);
    let first = it.command(0, Command::Demote);
    it.until("the flush of the second shard", |it| it.flushes_waiting(0) > 0);
    it.until("its end here", |it| it.flushes_waiting(0) == 0);
    it.cluster.slow_mail.insert((0, 1, Way::FromGroup), Duration::from_secs(12));
    it.until("the end of the first drain", |it| it.failed(first));
    // What the second shard said of the first drain is still on its way.
    it.run(Duration::from_millis(1900));
    it.cluster.slow_mail.clear();
    it.cluster.slow[1] = SlowDisk::default();
    it.cluster.silence(0, 1, 1);
    let second = it.command(0, Command::Demote);
    let _ = it.write(0, SECOND, 2);
    it.until("the second drain", |it| it.succeeded(second));
    // Were the end called clean with the write under way, node 1 would be taken for equal.
    it.promote(1);
    assert_eq!(it.must_read(1, SECOND), 2);
    it.until("equal replicas", |it| it.on_disk(1, SECOND) == it.on_disk(0, SECOND));
}

/// Writes to more extents than the members' logs hold, from four shards to nodes with one: each
/// member gets them in an order of its own, and keeps an extent in its log until all have it.
#[test]
fn members_do_not_wait_for_each_others_logs() {
    let mut it = Scenario::with_unequal_shards(&[4, 1, 1]);
    for round in 1..=8 {
        let parts: Vec<_> =
            (0..20).map(|extent| it.write(0, extent * 1024 + round, round)).collect();
        // Before anybody is left behind for being slow.
        it.run(Duration::from_secs(3));
        assert!(parts.iter().all(|&part| it.ended(part) == Some(&Ok(None))), "round {round}");
    }
}

/// The connection broke, and the member is there again: a shard hears of that before it hears from
/// home that the loss is withdrawn, and that what was not answered is to be sent again. What is
/// new would fill the member's log meanwhile, and would be stable only after the former, for which
/// there was no room any more.
#[test]
fn what_is_new_does_not_overtake_what_is_repeated() {
    for leader in [2, 0] {
        let mut it = Scenario::new(3, 1, leader);
        it.cluster.slow_mail.insert((leader, 0, Way::ToGroup), Duration::from_millis(100));
        let is_connected = |it: &Scenario| it.status(leader).unwrap().members[1].connected;
        it.cluster.reset_link(leader, 1);
        it.until("the end of the connection", |it| !is_connected(it));
        it.run(Duration::from_micros(100));
        let write = |it: &mut Scenario, extent: u64| it.write(leader, extent * 1024, 1);
        let mut parts: Vec<_> = (0..8).map(|extent| write(&mut it, extent)).collect();
        it.until("the connection", is_connected);
        parts.extend((8..16).map(|extent| write(&mut it, extent)));
        // Before anybody is left behind for being slow.
        it.run(Duration::from_secs(3));
        assert!(parts.iter().all(|&part| it.ended(part) == Some(&Ok(None))), "node {leader} leads");
        assert!(it.is_in_sync(leader, 1));
    }
}

/// The same of a member whose connection broke before the shard heard that it returns.
#[test]
fn what_is_new_does_not_overtake_what_a_returning_member_was_not_sent() {
    const CLIENT: usize = 3;
    let mut it = Scenario::new(4, 1, CLIENT);
    it.must_write(CLIENT, 0, 1);
    it.cluster.kill(1);
    it.until("its loss", |it| !it.is_in_sync(CLIENT, 1));
    it.cluster.start(1);
    it.until("its admission", |it| it.explains(CLIENT, "step: Admitting"));
    it.cluster.slow_mail.insert((CLIENT, 0, Way::ToGroup), Duration::from_millis(1_500));
    it.until("the begin of its copy", |it| it.explains(CLIENT, "step: Copying"));
    it.cluster.cut_link(CLIENT, 1);
    it.run(Duration::from_millis(1_502));
    let write = |it: &mut Scenario, extent: u64| it.write(CLIENT, extent * 1024, 2);
    let mut parts: Vec<_> = (0..8).map(|extent| write(&mut it, extent)).collect();
    it.cluster.heal_link(CLIENT, 1);
    it.until("the connection", |it| it.status(CLIENT).unwrap().members[1].connected);
    parts.extend((8..16).map(|extent| write(&mut it, extent)));
    it.cluster.slow_mail.clear();
    // Before anybody is left behind for being slow.
    it.run(Duration::from_secs(3));
    assert!(parts.iter().all(|&part| it.ended(part) == Some(&Ok(None))));
    assert!(it.is_in_sync(CLIENT, 1));
}

/// A member that is copied to is lost, and returns as the same process. The second shard hears late
/// that it was lost, and says meanwhile that the copy is complete which was under way before: that
/// is nothing that the new admission may join by.
#[test]
fn a_copy_of_before_a_loss_does_not_end_the_one_after_it() {
    const CLIENT: usize = 3;
    let mut it = Scenario::with_shards(4, 1, CLIENT, 2);
    it.must_write(CLIENT, SECOND, 1);
    it.cluster.kill(2);
    it.until("its loss", |it| !it.is_in_sync(CLIENT, 2));
    // All that its log names is to be compared, and is equal.
    for source in [0, 1] {
        it.cluster.slow[source].read = Duration::from_secs(2);
    }
    it.cluster.start(2);
    it.until("the last copies", |it| it.explains(CLIENT, "to 2: 64 left"));
    it.run(Duration::from_secs(1));
    it.cluster.reset_link(CLIENT, 2);
    it.until("its loss", |it| it.explains(CLIENT, "losses: {n2: Recording}"));
    it.cluster.slow_mail.insert((CLIENT, 1, Way::ToGroup), Duration::from_secs(3));
    it.until("the end of its loss", |it| !it.explains(CLIENT, "losses: {n2: "));
    it.run(Duration::from_millis(100));
    it.must_write(CLIENT, 7, 2);
    it.cluster.slow_mail.clear();
    it.until("its return", |it| it.is_in_sync(CLIENT, 2));
    assert_eq!(it.on_disk(2, 7), 2);
}

/// The disk of node 1 lost its cache, and told one request of one shard. What another shard flushes
/// meanwhile the disk calls done: it found nothing to do. That makes no write durable, at the
/// Primary or at a member, whatever was told (I15).
#[test]
fn a_flush_of_one_shard_is_not_believed_where_another_shard_was_told_of_an_error() {
    for leader in [0, 1] {
        for told in [Told::Flush, Told::DurableWrite, Told::Record] {
            let mut it = Scenario::with_shards(3, 0, leader, 2);
            it.must_write(leader, 7, 1);
            it.must_write(leader, SECOND, 1);
            it.cluster.bad[1] = BadDisk { forgets: true, ..BadDisk::default() };
            // The error is there, and nobody looked at it yet; then only the shard knows.
            it.cluster.slow[1] = slow_to_tell();
            it.cluster.slow_mail.insert((1, 0, Way::FromGroup), Duration::from_millis(200));
            told.ask(&mut it, leader);
            it.until("the loss of the cache", |it| !it.cluster.bad[1].forgets);
            it.cluster.slow[1] = SlowDisk::default();
            let flush = it.flush_by(leader, SECOND);
            it.until("the end of the flush", |it| it.ended(flush).is_some());
            assert!(!it.is_in_sync(leader, 1), "{told:?}, node {leader} leads: it counted");
            assert_eq!(it.ended(flush), Some(&Ok(None)), "the others have it");
        }
    }
}

/// The same, where the shard that was told nothing needs room in its activity log: what it names no
/// more, a replica that is taken back would not be given again.
#[test]
fn no_extent_leaves_the_log_by_a_flush_that_found_the_cache_gone() {
    let mut it = Scenario::with_shards(3, 0, 0, 2);
    let of_second = |extent: u64| (2 * extent + 1) * EXTENT_BLOCKS;
    for extent in 0..8 {
        it.must_write(0, of_second(extent), 1);
    }
    it.run(Duration::from_secs(1));
    it.cluster.bad[1] = BadDisk { forgets: true, ..BadDisk::default() };
    it.cluster.slow_mail.insert((1, 0, Way::FromGroup), Duration::from_millis(200));
    let _ = it.write_durably(0, 7, 1);
    it.until("the loss of the cache", |it| !it.cluster.bad[1].forgets);
    let _ = it.write(0, of_second(8), 2);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.cluster.slow_mail.clear();
    it.attach(1);
    it.until("its return", |it| it.is_in_sync(0, 1));
    for extent in 0..8 {
        assert_eq!(it.on_disk(1, of_second(extent)), 1, "extent {extent}");
    }
}

/// The disk of node 1 lost its cache and failed a flush; only the shard that asked knows. What that
/// shard flushes next the disk calls done, and is believed no more than a flush of another one, at
/// whatever moment it is asked for: as long as the loss of node 1 is not recorded, its data counts.
#[test]
fn a_flush_of_the_shard_that_was_told_of_an_error_is_not_believed() {
    for leader in [0, 1] {
        for steps in 0..16 {
            let mut it = Scenario::with_shards(3, 0, leader, 2);
            it.must_write(leader, 7, 1);
            it.cluster.bad[1] = BadDisk { forgets: true, ..BadDisk::default() };
            it.cluster.slow_mail.insert((1, 0, Way::FromGroup), Duration::from_millis(20));
            let first = it.flush(leader);
            it.until("the loss of the cache", |it| !it.cluster.bad[1].forgets);
            for voter in [0, 2] {
                it.cluster.slow[voter].save = Duration::from_millis(200);
            }
            it.run(Duration::from_millis(2) * steps);
            let second = it.flush(leader);
            let is_over = |it: &Scenario, flush| it.ended(flush).is_some();
            it.until("the end of a flush", |it| is_over(it, first) || is_over(it, second));
            assert!(!it.is_in_sync(leader, 1), "node {leader} leads, {steps} steps: it counted");
            it.until("the end of both", |it| is_over(it, first) && is_over(it, second));
            assert_eq!([first, second].map(|flush| it.ended(flush)), [Some(&Ok(None)); 2]);
        }
    }
}

/// The home saves its superblock by itself, and may be the one that is told: as a voter, of a value
/// that is chosen without it.
#[test]
fn a_flush_waits_for_a_superblock_that_is_on_its_way() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.start(2);
    it.until("its return", |it| it.explains(0, "change: Some(Joining"));
    it.cluster.bad[1] = BadDisk { forgets: true, ..BadDisk::default() };
    it.cluster.slow[1] = SlowDisk { save: Duration::from_millis(20), ..SlowDisk::default() };
    it.until("the loss of the cache", |it| !it.cluster.bad[1].forgets);
    let flush = it.flush(0);
    it.until("the end of the flush", |it| it.ended(flush).is_some());
    assert!(!it.is_in_sync(0, 1), "it counted");
}

/// What makes something durable, and so is told that the cache is gone.
#[derive(Clone, Copy, Debug)]
enum Told {
    Flush,
    DurableWrite,
    /// Of the activity log.
    Record,
}

impl Told {
    fn ask(self, it: &mut Scenario, leader: usize) {
        let _ = match self {
            Self::Flush => it.flush(leader),
            Self::DurableWrite => it.write_durably(leader, 7, 2),
            Self::Record => it.write(leader, 4 * EXTENT_BLOCKS, 2),
        };
    }
}

fn slow_to_tell() -> SlowDisk {
    let late = Duration::from_millis(20);
    SlowDisk { flush: late, write: late, metadata: late, save: late, ..SlowDisk::default() }
}
