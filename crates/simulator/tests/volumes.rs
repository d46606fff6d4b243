//! Several volumes in one resource, each on a disk with a volatile cache of its own: the activity
//! log is on one disk and the data on another, and power takes from one what the other keeps.
//! Budget: 30 s on two cores.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use format::space::Place;
use simulator::run::run_with_volumes;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};

const SEEDS: u64 = 32;
const EVENTS: u64 = 6_000;

#[test]
fn no_write_is_lost_whatever_disk_of_a_replica_forgets() {
    let set = of_this_run(1..=SEEDS);
    let total = all_of((run_with_volumes, "--volumes"), set.seeds, EVENTS);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        // The set means something only while the faults happen and requests are served.
        assert!(total.power_cuts > 8 && total.kills > 15 && total.cuts > 30, "{total:?}");
        assert!(total.added > 4, "{total:?}");
        assert!(total.writes > 2_500 && total.flushes > 100 && total.sessions > 30, "{total:?}");
    }
}

/// A leader froze while it had a member's leaving on its way to the voters. Whoever of the two that
/// were left lost its vote store then would have taken the register along: the run has to know.
#[test]
fn a_vote_store_is_not_lost_while_a_member_leaves() {
    let report = all_of((run_with_volumes, "--volumes"), [2032], 1_200);
    assert!(report.stops > 0 && report.lost_stores == 0, "{report:?}");
}

/// A volume that is added while all are down has one content everywhere, and a member that comes
/// late gets what was written to it meanwhile.
#[test]
fn an_added_volume_is_equal_everywhere_from_its_first_write() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 101);
    for node in [0, 1, 2] {
        it.cluster.kill(node);
    }
    let place = Place::new(1).expect("a small number");
    it.add_volume(&[0, 1, 2], place, 3 * EXTENT_BLOCKS);
    it.cluster.start(0);
    it.cluster.start(1);
    it.promote(1);
    let block = place.first_block() + 2 * EXTENT_BLOCKS + 5;
    assert_eq!(it.must_read(1, block), 0);
    it.must_write(1, block, 102);
    assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [102, 102, 0]);
    it.cluster.start(2);
    it.until("the last one to be in sync", |it| it.is_in_sync(1, 2));
    it.must_write(1, block + 1, 103);
    for node in [0, 1, 2] {
        let held = [7, block, block + 1].map(|block| it.on_disk(node, block));
        assert_eq!(held, [101, 102, 103], "at node {node}");
    }
}

/// A replica that lacks a volume of the resource stays away, whatever it has of the others.
#[test]
fn a_replica_without_one_of_the_volumes_does_not_return() {
    let mut it = Scenario::new(3, 0, 0);
    for node in [0, 1, 2] {
        it.cluster.kill(node);
    }
    let place = Place::new(2).expect("a small number");
    it.add_volume(&[0, 1], place, EXTENT_BLOCKS);
    for node in [0, 1] {
        it.cluster.start(node);
    }
    it.promote(0);
    it.must_write(0, place.first_block(), 101);
    it.cluster.start(2);
    it.run(Duration::from_secs(3));
    assert!(!it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, place.first_block()), 0);
}

/// A new disk of a replica that came in before the others had the volume was never made zeroes,
/// nor copied to: the volume waits for another one.
#[test]
fn a_disk_with_unknown_blocks_is_not_taken_for_zeroes() {
    let mut it = Scenario::new(3, 0, 0);
    let (place, blocks) = (Place::new(1).expect("a small number"), EXTENT_BLOCKS);
    let block = place.first_block() + 3;
    it.cluster.kill(2);
    it.must_write(0, 7, 101);
    it.replace_with_volume(2, (place, blocks), block);
    it.cluster.start(2);
    it.until("the new replica to be in sync", |it| it.is_in_sync(0, 2));
    for node in [0, 1, 2] {
        it.cluster.kill(node);
    }
    it.add_volume(&[0, 1], place, blocks);
    for node in [0, 1, 2] {
        it.cluster.start(node);
    }
    it.promote(1);
    it.until("all to be in sync", |it| it.is_in_sync(1, 0) && it.is_in_sync(1, 2));
    assert_eq!(it.volumes(1), [Place::FIRST]);

    it.cluster.kill(2);
    it.replace_with_volume(2, (place, blocks), block);
    it.must_write(1, 8, 102);
    for node in [0, 1] {
        it.cluster.kill(node);
        it.cluster.start(node);
    }
    it.promote(0);
    assert_eq!(it.volumes(0), [Place::FIRST, place]);
    it.cluster.start(2);
    it.until("the new replica to be in sync", |it| it.is_in_sync(0, 2));
    assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [0, 0, 0]);
}

/// A new replica has a disk for a volume that no value names. It leads later, and copies nothing of
/// that to another new one, which would refuse it.
#[test]
fn a_volume_that_no_value_names_is_copied_to_nobody() {
    let mut it = Scenario::new(3, 0, 0);
    let (place, blocks) = (Place::new(1).expect("a small number"), EXTENT_BLOCKS);
    let block = place.first_block() + 3;
    it.must_write(0, 7, 101);
    let renew = |it: &mut Scenario, node, leader| {
        it.cluster.kill(node);
        it.until("its loss", |it| !it.is_in_sync(leader, node));
        it.replace_with_volume(node, (place, blocks), block);
        it.cluster.start(node);
        it.until("the new replica to be in sync", |it| it.is_in_sync(leader, node));
    };
    renew(&mut it, 2, 0);
    it.until("its vote", |it| it.voters(0) == [0, 1, 2]);
    it.demote_and_promote(0, 2);
    renew(&mut it, 1, 2);
    assert_eq!(it.volumes(2), [Place::FIRST]);
    assert_eq!(it.on_disk(1, 7), 101);
}

/// What was written to a volume on a line that was given up is not what the other line has, when
/// that line gets the volume, too.
#[test]
fn a_volume_of_a_line_that_was_given_up_is_not_taken_for_zeroes() {
    let mut it = Scenario::with_quorum_off(2, 0);
    let (place, blocks) = (Place::new(1).expect("a small number"), EXTENT_BLOCKS);
    let block = place.first_block() + 3;
    it.must_write(0, 7, 101);
    it.part(&[0], &[1]);
    it.promote(1);
    it.must_write(1, 7, 102);
    it.cluster.kill(1);
    it.add_volume(&[1], place, blocks);
    it.cluster.start(1);
    it.promote(1);
    it.must_write(1, block, 103);
    it.demote(1);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("the return of the loser", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 1));
    // A promotion that has node 1 adds no volume that it lacks, and one without a quorum adds none.
    it.until("its vote", |it| it.voters(0) == [0, 1]);
    it.stop(1);
    it.cluster.kill(0);
    it.add_volume(&[0], place, blocks);
    it.cluster.start(0);
    it.promote(0);
    it.cluster.start(1);
    it.must_write(0, block + 1, 104);
    it.run(Duration::from_secs(3));
    let lacks = |it: &Scenario| it.status(0)?.members.get(1)?.lacks;
    assert_eq!((it.volumes(0), lacks(&it)), (vec![Place::FIRST, place], Some(place)));
    assert!(!it.is_in_sync(0, 1));
}

/// The volume that is added while the resource is in use.
const THIRD: u64 = 2 * EXTENT_BLOCKS + 5;

fn third() -> Place {
    Place::new(3).expect("a small number")
}

fn is_added(it: &Scenario, node: usize) -> bool {
    it.volumes(node) == [Place::FIRST, third()]
}

/// It comes into use once all have a disk for it, beside a Primary that stays what it is.
#[test]
fn a_volume_is_added_while_the_resource_is_in_use() {
    let mut it = Scenario::new(4, 1, 0);
    it.must_write(0, 7, 101);
    for node in [1, 2] {
        it.add_disk(node, third(), THIRD);
    }
    it.run(Duration::from_secs(3));
    assert_eq!(it.volumes(0), [Place::FIRST], "one of them has no disk for it yet");
    let tenure = it.status(0).and_then(|status| status.config?.tenure);
    it.add_disk(0, third(), THIRD);
    it.until("the volume", |it| is_added(it, 0));
    let last = third().first_block() + THIRD - 1;
    assert_eq!(it.must_read(0, last), 0);
    it.must_write(0, last, 102);
    it.must_write(0, 8, 103);
    assert_eq!(it.status(0).and_then(|status| status.config?.tenure), tenure);
    for node in [0, 1, 2] {
        assert_eq!([7, 8, last].map(|block| it.on_disk(node, block)), [101, 103, 102]);
    }
    it.until("a member without data to know it", |it| is_added(it, 3));
    it.cluster.kill(0);
    it.promote(3);
    assert_eq!(it.must_read(3, last), 102);
}

/// A member that is away meanwhile returns with a disk for the volume, and not without.
#[test]
fn a_member_that_was_away_returns_with_the_volume() {
    for steps in 0..16 {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 101);
        it.add_disk(0, third(), THIRD);
        it.add_disk(1, third(), THIRD);
        it.run(Duration::from_millis(20));
        let has_disk = steps % 2 == 0;
        if has_disk {
            // It is the last one, and dies somewhere on the way.
            it.add_disk(2, third(), THIRD);
            it.run(Duration::from_millis(steps * 2));
        }
        it.cluster.cut_power(2);
        it.until("the volume without it", |it| is_added(it, 0));
        let block = third().first_block() + EXTENT_BLOCKS + 9;
        it.must_write(0, block, 102);
        it.cluster.start(2);
        if !has_disk {
            it.run(Duration::from_secs(3));
            assert!(!it.is_in_sync(0, 2), "it has no disk for the volume");
            it.cluster.kill(2);
        }
        it.cluster.kill(2);
        it.add_disk(2, third(), THIRD);
        it.cluster.start(2);
        it.until("its return", |it| it.is_in_sync(0, 2));
        assert_eq!([7, block].map(|block| it.on_disk(2, block)), [101, 102]);
        it.must_write(0, block + 1, 103);
        assert_eq!(it.on_disk(2, block + 1), 103);
    }
}

/// Who leads dies somewhere on the way: the others have it, or have it added by whoever leads next.
#[test]
fn a_leader_that_dies_leaves_the_volume_or_not() {
    let mut without = 0;
    for steps in 0..24 {
        let mut it = Scenario::new(3, 0, 0);
        for node in [0, 1, 2] {
            it.add_disk(node, third(), THIRD);
        }
        it.run(Duration::from_millis(steps * 2));
        without += u32::from(!is_added(&it, 0));
        it.cluster.kill(0);
        it.promote(1);
        it.until("the volume", |it| is_added(it, 1));
        let block = third().first_block() + 9;
        assert_eq!(it.must_read(1, block), 0);
        it.must_write(1, block, 102);
        // It may not have noted its disk any more.
        it.add_disk(0, third(), THIRD);
        it.cluster.start(0);
        it.until("its return", |it| it.is_in_sync(1, 0));
        assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [102; 3]);
    }
    assert!((4..24).contains(&without), "{without} runs died before");
}

/// What one side of a fork wrote to a volume that it added alone is not what the other side has.
#[test]
fn a_volume_that_was_added_beside_a_fork_is_not_taken_for_zeroes() {
    let mut it = Scenario::with_quorum_off(2, 0);
    let block = third().first_block() + 3;
    it.must_write(0, 7, 101);
    it.part(&[0], &[1]);
    it.must_write(0, 8, 102);
    it.add_disk(0, third(), THIRD);
    it.until("the volume", |it| is_added(it, 0));
    it.must_write(0, block, 103);
    it.promote(1);
    it.must_write(1, 7, 104);
    it.demote(0);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(0, 1);
    it.until("the return of the loser", |it| it.is_in_sync(1, 0) && it.is_in_sync(0, 0));
    it.add_disk(1, third(), THIRD);
    it.run(Duration::from_secs(30));
    assert_eq!(it.on_disk(0, block), 103, "nobody knows what its disk has");
    assert_eq!(it.volumes(1), [Place::FIRST], "and it is not used");
}

/// The disk came while a connection was being made that had told of the replica without it.
#[test]
fn who_connects_while_a_disk_is_added_hears_of_it() {
    all_of((run_with_volumes, "--volumes"), [300_074], 1_200);
}
