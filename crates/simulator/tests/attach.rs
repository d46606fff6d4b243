//! Disks that are given up and taken back while the resource is in use.

use std::time::Duration;

use replication::contract::{Command, CommandId, PromoteMode};
use simulator::cluster::{BadDisk, Replaced, SlowDisk};
use simulator::run::run_with_detaches;
use simulator::scenario::Scenario;
use simulator::seeds::all_of;

/// Of the 20,480 blocks of the volume: the extents that were active when the disk was given up, and
/// the blocks that it missed.
const FEW: u64 = 8 * 1024 + 64;

fn detach(it: &mut Scenario, node: usize) {
    let id = it.command(node, Command::Detach);
    it.until("an end of the detach", |it| it.succeeded(id));
}

/// Blocks that were copied to `member` until it was in sync, as the Primary `node` tells it.
fn until_in_sync(it: &mut Scenario, node: usize, member: usize) -> u64 {
    let copied = std::cell::Cell::new(0);
    it.until("the return of the replica", |it| {
        let status = it.status(node).expect("the node is up");
        copied.set(copied.get().max(status.members[member].copied_blocks));
        it.is_in_sync(node, member)
    });
    copied.get()
}

#[test]
fn attached_replica_gets_what_it_missed_and_no_more() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    detach(&mut it, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.must_write(0, 5000, 3);
    // The register goes on without the disk.
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.attach(2);
    let copied = until_in_sync(&mut it, 0, 2);
    assert!(copied < FEW, "{copied} blocks were copied");
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 5000)), (2, 3));
}

#[test]
fn primary_goes_on_without_its_disk_and_takes_it_back() {
    let mut it = Scenario::new(3, 0, 0);
    for value in 1..=20 {
        it.write(0, value * 911 % 20_000, value);
    }
    detach(&mut it, 0);
    it.until("the loss of the own replica", |it| !it.is_in_sync(0, 0));
    it.must_write(0, 7, 100);
    assert_eq!(it.must_read(0, 7), 100);
    for value in 101..=120 {
        it.write(0, value * 577 % 20_000, value);
    }
    it.attach(0);
    it.must_write(0, 9, 200);
    let copied = until_in_sync(&mut it, 0, 0);
    assert!(copied < FEW, "{copied} blocks were copied");
    it.until("equal replicas", |it| (it.on_disk(0, 7), it.on_disk(0, 9)) == (100, 200));
    // The others know of the replica: one of them may lead it.
    it.cluster.kill(0);
    it.cluster.start(0);
    it.promote(1);
    it.until("all in sync", |it| it.is_in_sync(1, 0));
}

/// It comes back before anybody recorded that it left: its session does not go on for it, for what
/// it had not answered it does not have.
#[test]
fn replica_that_is_back_before_its_loss_is_recorded_is_lost_nevertheless() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    // The others take long to write down what it misses, and it to write what it is sent.
    for node in [0, 1] {
        it.cluster.slow[node] =
            SlowDisk { save: Duration::from_millis(300), ..SlowDisk::default() };
    }
    it.cluster.bad[2].write = true;
    let part = it.write(0, 7, 2);
    it.until("the end of the disk", |it| !it.cluster.has_open_disk(2));
    it.cluster.bad[2] = BadDisk::default();
    it.attach(2);
    it.until("the write", |it| it.ended(part).is_some());
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    until_in_sync(&mut it, 0, 2);
    assert_eq!(it.on_disk(2, 7), 2);
}

/// Clients that open the volume again and again would keep the disk away that they wait for.
#[test]
fn a_promotion_that_waits_for_data_gives_way_to_a_disk() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    detach(&mut it, 1);
    it.cluster.kill(2);
    it.until("the loss of the two others", |it| !it.is_in_sync(0, 1) && !it.is_in_sync(0, 2));
    it.cluster.kill(0);
    it.cluster.start(2);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.run(Duration::from_secs(3));
    assert!(!it.failed(promoted), "it waits for the data of node 0");
    let began = it.cluster.now;
    it.attach(1);
    let took = it.cluster.now.since(began);
    assert!(took < Duration::from_secs(2), "{took:?}");
    it.until("the end of the promotion", |it| it.failed(promoted));
    it.cluster.start(0);
    it.promote(1);
    it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(1, node)));
    assert_eq!(it.must_read(1, 7), 1);
}

/// The same where no quorum answers: that may be what the disk brings.
#[test]
fn a_promotion_that_waits_for_voters_gives_way_to_a_disk() {
    let mut it = Scenario::new(3, 0, 0);
    detach(&mut it, 1);
    it.until("the loss of the replica", |it| !it.is_in_sync(0, 1));
    it.cluster.kill(0);
    it.cluster.kill(2);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.run(Duration::from_secs(1));
    assert!(!it.failed(promoted), "it waits for voters");
    let began = it.cluster.now;
    it.attach(1);
    let took = it.cluster.now.since(began);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// An image of the disk from before it was in sync last must not pass for the disk.
#[test]
fn older_image_of_the_disk_is_copied_in_full() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let image = it.cluster.disk_image(2);
    for _ in 0..2 {
        it.cluster.kill(1);
        it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
        it.cluster.start(1);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    }
    it.must_write(0, 7, 2);
    detach(&mut it, 2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.cluster.put_disk_image(2, image);
    it.attach(2);
    let copied = until_in_sync(&mut it, 0, 2);
    assert!(copied > 20_000, "{copied} blocks were compared");
    assert_eq!(it.on_disk(2, 7), 2);
}

/// The mix of faults of the fixed seeds, with disks that come and go. Budget: 25 s on two cores.
#[test]
fn no_seed_with_disks_that_come_and_go_breaks_a_promise() {
    let total = all_of((run_with_detaches, "--detach"), 1..=6, 4_000);
    assert!(total.attaches > 15, "{total:?}");
}

/// Twice in the life of a node its turn to lead a resync asked for one more turn at once, seconds
/// apart. What it asked for was done each time, by the next message, and it never spun.
#[test]
fn two_turns_that_each_began_something_are_no_spin() {
    all_of((run_with_detaches, "--detach"), [1177], 6_000);
}

/// The groups take the disk into use while the session that this node leads ends, at each moment of
/// that end. It is none for the disk: without its part of the answer the node held it, and offered
/// it to nobody, for ever.
#[test]
fn a_disk_that_is_taken_back_while_a_session_ends_is_in_use() {
    let mut during_the_end = 0;
    for moment in 0..400 {
        let mut it = Scenario::with_shards(3, 0, 0, 3);
        it.must_write(0, 7, 1);
        detach(&mut it, 0);
        it.until("the loss of the own replica", |it| !it.is_in_sync(0, 0));
        it.must_write(0, 7, 2);
        let demoted = it.command(0, Command::Demote);
        it.run(Duration::from_micros(moment * 25));
        let led = !it.succeeded(demoted);
        let id = CommandId(1 << 40);
        if !it.cluster.attach(0, id) {
            continue;
        }
        it.until("an answer", |it| it.succeeded(id) || it.failed(id));
        during_the_end += u32::from(led && it.succeeded(demoted) && it.succeeded(id));
        if it.failed(id) {
            it.attach(0);
        }
        // Another one asks for the role meanwhile, and seals what the drain counts on.
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.until("the end", |it| it.succeeded(demoted) || it.succeeded(promoted));
        if !it.succeeded(promoted) {
            it.promote(1);
        }
        it.until("the return of node 0", |it| it.is_in_sync(1, 0));
        assert_eq!(it.on_disk(0, 7), 2);
    }
    assert!(during_the_end > 0, "no moment was the one that is meant");
}

/// The config that names it is chosen after its disk went: it is in sync with nothing.
#[test]
fn replica_whose_disk_goes_while_it_joins_is_not_in_sync() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it.until("the join to be prepared", |it| it.explains(0, "change: Some(PreparingJoin"));
    for node in [0, 1] {
        it.cluster.slow[node] =
            SlowDisk { save: Duration::from_millis(100), ..SlowDisk::default() };
    }
    it.until("the join to be proposed", |it| it.explains(0, "change: Some(Joining"));
    detach(&mut it, 2);
    it.until("the loss of node 2", |it| {
        it.status(2).is_some_and(|status| status.epoch == it.status(0).unwrap().epoch)
            && it.explains(0, "losses: {}")
            && !it.is_in_sync(0, 2)
    });
    it.must_write(0, 9, 3);
    it.attach(2);
    until_in_sync(&mut it, 0, 2);
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 9)), (2, 3));
}

/// Nodes 0 and 1 wrote on without node 2, which went on alone; then node 1 is without its disk.
fn parted_without_a_disk() -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part_node_2_that_goes_on();
    detach(&mut it, 1);
    it.until("its loss", |it| !it.is_in_sync(0, 1));
    it.demote(0);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| it.is_split(1, 2) && it.is_split(2, 1));
    it
}

/// What node 2 had in place of what the others wrote is in no slot: neither in its own, nor in that
/// of the disk, which nobody told to make all its marks its own.
#[test]
fn a_disk_whose_node_gave_way_without_it_is_copied_in_full() {
    for restarts in [false, true] {
        let mut it = parted_without_a_disk();
        it.discard(1, 2);
        it.until("its new line", |it| it.accepted(1) == it.accepted(2));
        if restarts {
            it.cluster.kill(1);
            it.cluster.start(1);
        } else {
            it.attach(1);
        }
        it.until("its return", |it| it.is_in_sync(2, 1) && it.is_in_sync(1, 1));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 5000)), (1, 30), "restarts: {restarts}");
    }
}

/// A backup of its disk from before its last return is put back when its state directory is lost,
/// too: no register says that the disk is an old one.
#[test]
fn an_old_disk_without_its_register_is_not_in_sync() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.flush(0);
    it.run(Duration::from_secs(1));
    let image = it.cluster.disk_image(2);
    it.cluster.kill(2);
    it.until("its loss", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it.until("its return", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    it.demote(0);
    for node in [2, 1, 0] {
        it.cluster.kill(node);
    }
    it.cluster.put_disk_image(2, image);
    it.cluster.replace(2, Replaced::VoteStore);
    for node in 0..3 {
        it.cluster.start(node);
    }
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 2);
    it.until("its return", |it| it.is_in_sync(2, 2));
    assert_eq!((it.must_read(2, 7), it.on_disk(2, 7)), (2, 2));
}
