//! Disks that fail, are given up, and come back.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::{Command, Demands, OnNoQuorum, PromoteMode};
use simulator::cluster::{BadDisk, SlowDisk, Way};
use simulator::scenario::Scenario;

fn detach(it: &mut Scenario, node: usize) {
    let detached = it.command(node, Command::Detach);
    it.until("the end of the disk", |it| it.succeeded(detached));
    it.until("the loss of the replica", |it| !it.is_in_sync(0, node));
}

fn restart(it: &mut Scenario, node: usize) {
    it.cluster.kill(node);
    it.cluster.start(node);
}

/// While a disk is away its node votes on, and the register gets ahead of the stamp on the disk.
/// That is no sign of an old image: what the disk misses is known.
#[test]
fn a_disk_that_was_detached_comes_back_as_what_it_was() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let before = it.incarnation(2);
    detach(&mut it, 2);
    let status = it.status(2).expect("it runs");
    assert!(status.disk_failed && !status.disk_wants_restart, "`attach` takes it");
    it.must_write(0, 7, 2);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    restart(&mut it, 2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.incarnation(2), before, "copied in full, though all it misses is marked");
    assert_eq!(it.on_disk(2, 7), 2);
}

#[test]
fn the_last_replica_serves_again_after_its_disk_failed_a_write() {
    let mut it = Scenario::new(3, 0, 0);
    detach(&mut it, 1);
    detach(&mut it, 2);
    it.must_write(0, 7, 1);
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let failed = it.write(0, 7, 2);
    it.until("the error", |it| it.ended(failed).is_some_and(Result::is_err));
    restart(&mut it, 0);
    it.promote(1);
    let value = it.must_read(1, 7);
    // Old, new, or torn: but the same for ever.
    assert_ne!(value, 0);
    assert_eq!(it.must_read(1, 7), value);
}

/// A disk that cannot flush loses its cache: reads that it answers after that find what was there
/// before.
#[test]
fn reads_that_end_after_a_failed_flush_are_answered_by_another_replica() {
    for reader in [0, 3] {
        let mut it = Scenario::new(4, 1, reader);
        it.must_write(reader, 7, 1);
        let flushed = it.flush(reader);
        it.until("a flush", |it| it.ended(flushed).is_some());
        let image = it.cluster.disk_image(0);
        it.must_write(reader, 7, 2);
        it.cluster.slow[0] = SlowDisk { read: Duration::from_millis(2), ..SlowDisk::default() };
        it.cluster.bad[0] = BadDisk { flush: true, ..BadDisk::default() };
        let reads: Vec<_> = (0..30).map(|_| it.read(reader, 7)).collect();
        it.flush(reader);
        it.until("the failure", |it| !it.cluster.bad[0].flush);
        it.cluster.put_disk_image(0, image);
        for read in reads {
            it.until("the read", |it| it.ended(read).is_some());
            assert!(matches!(it.ended(read), Some(Ok(Some(values))) if values[0] == 2));
        }
    }
}

/// What the first flush lost is lost: that a later one succeeds says nothing of it (I15).
#[test]
fn no_flush_counts_after_one_that_failed() {
    let mut it = Scenario::new(3, 0, 0);
    detach(&mut it, 1);
    detach(&mut it, 2);
    it.must_write(0, 7, 1);
    // The disk is given up late.
    it.cluster.slow_mail.insert((0, 0, Way::FromGroup), Duration::from_millis(300));
    it.cluster.bad[0] = BadDisk { flush: true, ..BadDisk::default() };
    let flushes = [it.flush(0), it.flush(0)];
    it.run(Duration::from_millis(100));
    let late = it.flush(0);
    it.run(Duration::from_secs(2));
    for flush in flushes.into_iter().chain([late]) {
        assert!(!matches!(it.ended(flush), Some(Ok(_))), "a flush was acknowledged");
    }
}

/// Writes wait for room in the activity log, which a flush would make.
#[test]
fn a_disk_that_failed_is_not_asked_again_and_again() {
    let mut it = Scenario::new(3, 0, 0);
    for extent in 0..8 {
        it.must_write(0, extent * EXTENT_BLOCKS, 1);
    }
    // Without the others nobody is taken out, and nothing ends the wait.
    it.part(&[0], &[1, 2]);
    it.cluster.bad[0] = BadDisk { flush: true, ..BadDisk::default() };
    for extent in 8..16 {
        it.write(0, extent * EXTENT_BLOCKS, 2);
    }
    it.run(Duration::from_millis(100));
    assert!(!it.cluster.bad[0].flush, "a flush was asked for");
    let before = it.cluster.events_done;
    it.run(Duration::from_secs(1));
    let events = it.cluster.events_done - before;
    assert!(events < 1_000, "{events} events in a second of waiting");
}

/// Its content is older than it was, and nobody else has it: the read waits for a replica.
#[test]
fn reads_wait_where_the_last_replica_failed_a_flush() {
    let mut it = Scenario::new(3, 0, 0);
    it.demand(Demands { on_no_data: OnNoQuorum::SuspendIo, ..Demands::default() });
    detach(&mut it, 1);
    detach(&mut it, 2);
    it.must_write(0, 7, 1);
    it.cluster.slow[0] = SlowDisk { read: Duration::from_millis(2), ..SlowDisk::default() };
    it.cluster.bad[0] = BadDisk { flush: true, ..BadDisk::default() };
    let read = it.read(0, 7);
    it.flush(0);
    it.until("the failure", |it| !it.cluster.bad[0].flush);
    let later = it.read(0, 7);
    it.run(Duration::from_secs(2));
    assert_eq!((it.ended(read), it.ended(later)), (None, None));
    let status = it.status(0).expect("it runs");
    assert!(status.disk_failed && status.disk_wants_restart, "`attach` refuses it");
}

/// The source of a resync fails while it is the only one. Copies that cannot begin are not to be
/// begun again and again in one turn.
#[test]
fn a_resync_waits_while_nobody_has_the_data() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    detach(&mut it, 2);
    let invalidated = it.command(1, Command::Invalidate);
    it.until("the invalidation", |it| it.succeeded(invalidated));
    it.until("a full copy under way", |it| it.explains(0, "step: Copying"));
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let failed = it.write(0, 7, 2);
    it.until("the error", |it| it.ended(failed).is_some_and(Result::is_err));
    it.run(Duration::from_secs(1));
    assert!(!it.is_in_sync(0, 1));
}

/// What a dead Primary left half done can be read nowhere at first. It is tried again: until then
/// nobody joins.
#[test]
fn what_could_not_be_read_at_first_is_made_equal_later() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    let bad = BadDisk { read: true, ..BadDisk::default() };
    it.cluster.bad = vec![BadDisk::default(), bad, bad];
    it.promote(1);
    it.until("the failed reads", |it| it.cluster.bad.iter().all(|&bad| bad == BadDisk::default()));
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    assert_eq!(it.on_disk(0, 7), 1);
}

/// Again and again, so soon that the day of the last time is still in the register.
#[test]
fn a_disk_that_is_detached_right_after_its_return_comes_back_as_what_it_was() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let before = it.incarnation(2);
    detach(&mut it, 2);
    for _ in 0..2 {
        it.cluster.kill(1);
        it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
        // The disk gets a stamp, and the register nothing.
        restart(&mut it, 2);
        it.until("its seal", |it| it.explains(0, "step: AskingFloors"));
        let detached = it.command(2, Command::Detach);
        it.until("the end of the disk", |it| it.succeeded(detached));
        it.cluster.start(1);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
        it.must_write(0, 7, 2);
    }
    restart(&mut it, 2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.incarnation(2), before);
}

/// The Primary's disk fails while another write of it waits for its extent to be logged. The others
/// have that write, it completes, and its bytes are given back: nothing may write them later.
#[test]
fn a_write_that_waits_for_the_log_of_a_failed_disk_is_dropped() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow[0] = SlowDisk { metadata: Duration::from_millis(500), ..SlowDisk::default() };
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let cold = it.write(0, 3 * 1024, 2);
    let failed = it.write(0, 7, 3);
    it.until("both writes", |it| it.ended(cold).is_some() && it.ended(failed).is_some());
    assert!(!it.is_in_sync(0, 0));
    it.run(Duration::from_secs(1));
    assert_eq!(it.must_read(0, 3 * 1024), 2);
}

/// A sequential writer does not wait for the log: the next extent is in it before the writer is
/// there, on every member, and durable before the first write of it is.
#[test]
fn a_sequential_writer_finds_its_next_extent_logged() {
    let mut it = Scenario::new(3, 0, 0);
    for block in 0..320 {
        it.must_write(0, block, 1);
    }
    it.run(Duration::from_millis(100));
    for node in 0..3 {
        assert!(it.is_logged(node, 1) && !it.is_logged(node, 2), "node {node}");
    }
    // With metadata that is never written again, a write into the extent still completes.
    for node in 0..3 {
        let metadata = Duration::from_secs(3600);
        it.cluster.slow[node] = SlowDisk { metadata, ..SlowDisk::default() };
    }
    it.must_write(0, 1024, 2);
    it.cluster.cut_power(0);
    it.cluster.start(0);
    it.cluster.slow[0] = SlowDisk::default();
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    it.promote(1);
    assert_eq!(it.must_read(1, 1024), 2);
}

/// Each try to lead waits for that disk, and undoes what the others had tried.
#[test]
fn a_resync_leaves_it_to_who_is_to_be_primary_beside_a_silent_disk() {
    let mut it = Scenario::new(3, 0, 2);
    it.must_write(2, 7, 1);
    it.part(&[0], &[1, 2]);
    it.until("the loss of node 0", |it| !it.is_in_sync(2, 0));
    it.must_write(2, 7, 2);
    it.demote(2);
    const EVER: Duration = Duration::from_hours(1);
    it.cluster.slow[1] =
        SlowDisk { read: EVER, save: EVER, flush: EVER, write: EVER, metadata: EVER };
    it.meet(&[0], &[1, 2]);
    it.run(Duration::from_secs(5));
    let before = it.cluster.now;
    it.promote(0);
    let took = it.cluster.now.since(before);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(it.must_read(0, 7), 2);
}

/// Neither node has a replica: no seal tells node 3 of node 4, which then dies.
#[test]
fn who_is_to_be_primary_begins_anew_when_the_replicas_obey_another() {
    let mut it = Scenario::new(5, 2, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.demote(0);
    it.cluster.slow_mail.insert((3, 0, Way::ToGroup), Duration::from_millis(300));
    let promoted = it.command(3, Command::Promote(PromoteMode::Normal));
    it.until("what node 2 misses to be written down", |it| it.explains(3, "phase: Recording"));
    let began = it.cluster.now;
    it.command(4, Command::Promote(PromoteMode::Normal));
    it.until("the seals of node 4", |it| it.explains(4, "phase: Sealing"));
    it.run(Duration::from_micros(500));
    it.cluster.kill(4);
    it.until("the promotion", |it| it.succeeded(promoted));
    let took = it.cluster.now.since(began);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(it.must_read(3, 7), 2);
}

/// The value still names all three: nothing that was acknowledged is gone, and whoever leads next
/// finds it.
#[test]
fn a_leader_whose_disk_fails_while_it_loses_all_others_begins_anew() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    // What the others miss is not written down before its own disk is gone.
    it.cluster.slow_mail.insert((0, 0, Way::ToGroup), Duration::from_millis(300));
    for node in [1, 2] {
        it.cluster.bad[node].write = true;
    }
    it.write(0, 7, 2);
    it.run(Duration::from_millis(20));
    it.cluster.bad[0].write = true;
    it.write(0, 9, 3);
    it.run(Duration::from_secs(1));
    for node in [1, 2, 0] {
        it.cluster.bad[node] = BadDisk::default();
        it.attach(node);
    }
    it.until("all to be in sync", |it| (0..3).all(|node| it.is_in_sync(1, node)));
    it.promote(1);
    it.must_read(1, 7);
}

/// The same where the loss of one of them is decided, perhaps, and that of the other is not.
#[test]
fn a_leader_whose_disk_fails_keeps_who_is_not_decided_about() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.slow_mail.insert((0, 0, Way::ToGroup), Duration::from_millis(50));
    for node in 0..3 {
        it.cluster.slow[node].save = Duration::from_millis(400);
    }
    it.cluster.bad[1].write = true;
    it.write(0, 7, 2);
    it.run(Duration::from_millis(700));
    it.cluster.bad[2].write = true;
    it.write(0, 9, 2);
    it.run(Duration::from_millis(20));
    it.cluster.bad[0].write = true;
    it.write(0, 11, 3);
    it.run(Duration::from_secs(3));
    for node in 0..3 {
        it.cluster.bad[node] = BadDisk::default();
        it.cluster.slow[node] = SlowDisk::default();
    }
    it.cluster.slow_mail.clear();
    // The leader's disk is gone for good; the others' are whole.
    for node in [1, 2] {
        it.attach(node);
    }
    it.run(Duration::from_secs(5));
    it.promote(2);
    it.must_read(2, 7);
}

/// Who is being lost was in mid-copy: nobody else has the data, and requests wait for the disk.
#[test]
fn a_leader_whose_disk_fails_as_the_last_one_waits_for_it() {
    let mut it = Scenario::new(3, 0, 0);
    it.demand(Demands { on_no_data: OnNoQuorum::SuspendIo, ..Demands::default() });
    it.must_write(0, 7, 1);
    let d = it.command(2, Command::Detach);
    it.until("detached", |it| it.succeeded(d) && !it.is_in_sync(0, 2));
    let invalidated = it.command(1, Command::Invalidate);
    it.until("the invalidation", |it| it.succeeded(invalidated));
    it.until("a full copy under way", |it| it.explains(0, "step: Copying"));
    it.cluster.slow_mail.insert((0, 0, Way::ToGroup), Duration::from_millis(300));
    it.command(1, Command::Detach);
    it.run(Duration::from_millis(20));
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let part = it.write(0, 7, 2);
    it.run(Duration::from_secs(2));
    assert!(it.cluster.is_primary(0) && it.ended(part).is_none());
}

/// Node 1 alone has a write of a leader that died, and says so in its own slot, for its log had
/// other uses. Node 2, which lacks it, goes, and is noted in memory; node 1 starts anew, and its
/// metadata is slow from then on.
fn private_block() -> (Scenario, u64) {
    let mut it = Scenario::new(3, 0, 0);
    // So that no slot for node 2 says that it lacks everything, as they do at birth.
    it.stop(2);
    it.must_write(0, 7, 1);
    it.cluster.start(2);
    it.until("all to vote", |it| it.voters(0) == [0, 1, 2]);
    it.cluster.cut_link(0, 2);
    let alone = 16 * EXTENT_BLOCKS + 3;
    let blocks = [7, 40, 70, 100, alone];
    for block in blocks {
        it.write(0, block, 2);
    }
    it.until("the writes at node 1", |it| blocks.iter().all(|&block| it.on_disk(1, block) == 2));
    it.cluster.kill(0);
    // Only two blocks are made equal at a time.
    for node in [1, 2] {
        it.cluster.slow[node].write = Duration::from_secs(2);
    }
    it.promote(1);
    for extent in 1..8 {
        it.write(1, extent * EXTENT_BLOCKS, 3);
    }
    it.until("the end of its extent in the log", |it| !it.is_logged(1, 16));
    let detached = it.command(2, Command::Detach);
    it.until("the end of the disk", |it| it.succeeded(detached));
    it.until("the loss of the replica", |it| !it.is_in_sync(1, 2));
    restart(&mut it, 1);
    it.cluster.slow[1] = SlowDisk { metadata: Duration::from_secs(1), ..SlowDisk::default() };
    (it, alone)
}

/// Node 1 loses its power; nobody but it can lead, and node 2 returns to it.
fn return_after_a_power_cut((mut it, alone): (Scenario, u64), draws: u32) {
    // What becomes of the pages that are under way.
    for _ in 0..draws {
        let _ = it.cluster.random.next_u64();
    }
    it.cluster.cut_power(1);
    it.cluster.slow[1] = SlowDisk::default();
    it.cluster.start(1);
    it.attach(2);
    it.promote(1);
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    assert_eq!(it.on_disk(1, alone), it.on_disk(2, alone));
}

/// The power fails while the pages of both slots are on their way.
#[test]
fn power_that_fails_between_two_pages_leaves_a_block_marked_for_somebody() {
    for draws in 0..24 {
        let (mut it, alone) = private_block();
        it.promote(1);
        it.command(1, Command::Stop);
        it.run(Duration::from_millis(500));
        return_after_a_power_cut((it, alone), draws);
    }
}

/// The session ends cleanly, and the power fails before a page is written. That all who were in
/// sync are equal says nothing of what they had noted for node 2: it is in the own slot alone, and
/// the next session did not look there.
#[test]
fn what_a_clean_end_had_in_memory_alone_is_marked_again() {
    for draws in 0..8 {
        let (mut it, alone) = private_block();
        it.promote(1);
        it.demote(1);
        return_after_a_power_cut((it, alone), draws);
    }
}
