//! Volumes that grow while they are in use.

use std::time::Duration;

use replication::contract::{Command, CommandId, NewArea, ResizeTask};
use replication::resource::ResizeState;
use simulator::run::{Report, RunOptions, run_with_grows};
use simulator::scenario::{SPARE_BYTES, Scenario};

const SEEDS: u64 = 32;
const EVENTS: u64 = 4_000;

/// Budget: 60 s on two cores.
#[test]
fn no_seed_breaks_a_promise_while_the_volume_grows() {
    let mut total = Report::default();
    for seed in 1..=SEEDS {
        let options = RunOptions {
            seed,
            trace: false,
            trace_lane: None,
            events: EVENTS,
            skip: 0,
            rough: false,
        };
        match run_with_grows(&options) {
            Ok(report) => total.add(&report),
            Err(text) => {
                panic!(
                    "seed {seed}: {text}\nagain: cargo xtask sim {seed} --events {EVENTS} --grow"
                )
            }
        }
    }
    assert!(total.grows > SEEDS, "{total:?}");
    assert!(total.kills > 10 && total.power_cuts > 5 && total.attaches > 10, "{total:?}");
}

const EXTENT: u64 = 4096 * 1024;
/// Of a scenario, at first.
const SIZE: u64 = 20 * EXTENT;

fn ask(it: &mut Scenario, node: usize, size_bytes: u64) -> CommandId {
    it.command(node, Command::Resize(ResizeTask { size_bytes, new_area: NewArea::Zeroed }))
}

fn size_at(it: &Scenario, node: usize) -> u64 {
    let config = it.status(node).and_then(|status| status.config);
    config.map_or(0, |config| config.volumes[0].size_bytes)
}

fn enlarge_all(it: &mut Scenario, bytes: u64) {
    it.cluster.backing.fill(SIZE + bytes);
}

fn grow(it: &mut Scenario, asked: usize, size_bytes: u64) {
    let id = ask(it, asked, size_bytes);
    it.until("a size that is under way", |it| it.succeeded(id));
    it.until("the new size", |it| size_at(it, asked) == size_bytes);
}

fn state(it: &Scenario, node: usize) -> Option<ResizeState> {
    it.status(node)?.resize.map(|resize| resize.state)
}

/// What the disks held there before is not seen, and what is written there is on all of them.
#[test]
fn new_blocks_read_as_zeroes_everywhere() {
    let mut it = Scenario::with_shards(3, 0, 0, 3);
    let block = 25 * 1024 + 3;
    assert_ne!(it.on_disk(1, block), 0);
    enlarge_all(&mut it, 10 * EXTENT);
    grow(&mut it, 0, SIZE + 10 * EXTENT);
    it.run(Duration::from_millis(50));
    assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [0; 3]);
    assert_eq!(it.must_read(0, block), 0);
    it.must_write(0, block, 5);
    assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [5; 3]);
}

#[test]
fn smallest_disk_decides_and_is_named_where_it_is_too_small() {
    let mut it = Scenario::new(3, 0, 0);
    enlarge_all(&mut it, 10 * EXTENT);
    it.cluster.backing[2] = SIZE + 4 * EXTENT;
    let id = ask(&mut it, 0, SIZE + 5 * EXTENT);
    it.until("a refusal", |it| it.failed(id));
    let id = ask(&mut it, 0, SIZE - EXTENT);
    it.until("a refusal to shrink", |it| it.failed(id));
    let id = ask(&mut it, 0, 0);
    it.until("a size that is under way", |it| it.succeeded(id));
    it.until("the smallest size", |it| size_at(it, 1) == SIZE + 4 * EXTENT);
}

#[test]
fn a_secondary_and_a_diskless_primary_can_be_asked() {
    let mut it = Scenario::new(4, 1, 3);
    enlarge_all(&mut it, 10 * EXTENT);
    grow(&mut it, 1, SIZE + EXTENT);
    grow(&mut it, 3, SIZE + 3 * EXTENT + 4096);
    it.run(Duration::from_millis(50));
    it.must_write(3, (SIZE + 3 * EXTENT) / 4096, 9);
    assert_eq!(it.on_disk(2, (SIZE + 3 * EXTENT) / 4096), 9);
}

#[test]
fn a_volume_that_nobody_uses_grows_and_is_left_clean() {
    let mut it = Scenario::new(3, 0, 0);
    let id = it.command(0, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(id));
    it.run(Duration::from_millis(100));
    enlarge_all(&mut it, 10 * EXTENT);
    grow(&mut it, 1, SIZE + EXTENT);
    it.until("a clean end", |it| {
        it.status(1).and_then(|status| status.config).is_some_and(|config| config.clean)
    });
    it.promote(2);
    it.must_write(2, SIZE / 4096, 9);
}

/// It finds its disk too small when it returns, makes room, and gets all that is new.
#[test]
fn a_member_that_was_away_grows_before_its_resync() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    enlarge_all(&mut it, 10 * EXTENT);
    grow(&mut it, 0, SIZE + 10 * EXTENT);
    it.run(Duration::from_millis(50));
    it.must_write(0, SIZE / 4096, 9);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, SIZE / 4096), 9);
    assert_eq!(it.on_disk(2, SIZE / 4096 + 9 * 1024), 0, "and not what was there before");
}

#[test]
fn a_member_without_room_is_not_admitted_until_it_has_some() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    enlarge_all(&mut it, 10 * EXTENT);
    it.cluster.backing[2] = SIZE + EXTENT;
    grow(&mut it, 0, SIZE + 10 * EXTENT);
    it.cluster.start(2);
    it.run(Duration::from_secs(10));
    assert!(!it.is_in_sync(0, 2));
    it.cluster.backing[2] = SIZE + 10 * EXTENT;
    it.cluster.kill(2);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
}

/// One that leads with a disk that is too small marks nothing there, and copies to others all the
/// same.
#[test]
fn a_primary_whose_own_disk_is_too_small_brings_others_up_to_date() {
    let mut it = Scenario::new(5, 1, 0);
    it.cluster.kill(2);
    it.cluster.kill(3);
    it.until("their loss", |it| !it.is_in_sync(0, 2) && !it.is_in_sync(0, 3));
    enlarge_all(&mut it, 10 * EXTENT);
    it.cluster.backing[2] = SIZE;
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    grow(&mut it, 0, SIZE + 10 * EXTENT);
    it.cluster.start(2);
    let id = it.command(0, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(id));
    it.run(Duration::from_millis(500));
    it.promote(2);
    let block = SIZE / 4096 + 7 * 1024;
    it.must_write(2, block, 9);
    it.cluster.start(3);
    it.until("the return of node 3", |it| it.is_in_sync(2, 3));
    assert_eq!(it.on_disk(3, block), 9);
    assert!(!it.is_in_sync(2, 2));
}

/// In every moment of it: the volume has the old size or the new one, and can be grown again.
#[test]
fn the_leader_dies_at_any_time_of_it() {
    for steps in 0..60 {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 5, 1);
        enlarge_all(&mut it, 20 * EXTENT);
        it.cluster.kill(2);
        it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
        ask(&mut it, 0, SIZE + 6 * EXTENT);
        it.run(Duration::from_micros(steps * 400));
        if steps % 2 == 0 {
            it.cluster.kill(0);
        } else {
            it.cluster.cut_power(0);
        }
        it.cluster.start(2);
        it.cluster.start(0);
        it.until("its return", |it| it.status(0).is_some_and(|status| status.config.is_some()));
        it.promote(1);
        let size = size_at(&it, 1);
        assert!(size == SIZE || size == SIZE + 6 * EXTENT, "{size}");
        it.until("all in sync", |it| it.is_in_sync(1, 0) && it.is_in_sync(1, 2));
        grow(&mut it, 0, SIZE + 9 * EXTENT);
        it.run(Duration::from_millis(50));
        let block = SIZE / 4096 + 8 * 1024;
        assert_eq!(it.must_read(1, block), 0);
        it.must_write(1, block, 9);
        assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [9; 3]);
    }
}

/// A member is lost while it makes ready: the others mark for it what is new.
#[test]
fn a_member_that_dies_meanwhile_gets_what_is_new() {
    for steps in 0..40 {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 20 * EXTENT);
        let id = ask(&mut it, 0, SIZE + 6 * EXTENT);
        it.run(Duration::from_micros(steps * 500));
        it.cluster.cut_power(2);
        it.until("the new size", |it| size_at(it, 0) == SIZE + 6 * EXTENT);
        assert!(it.succeeded(id));
        it.run(Duration::from_millis(50));
        it.must_write(0, SIZE / 4096, 9);
        it.cluster.start(2);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        assert_eq!(it.on_disk(2, SIZE / 4096), 9);
        assert_eq!(it.on_disk(2, SIZE / 4096 + 5 * 1024), 0);
        assert_eq!(state(&it, 0), Some(ResizeState::Done));
    }
}

#[test]
fn the_disks_have_as_much_room_as_the_tests_say() {
    const { assert!(SPARE_BYTES >= 20 * EXTENT) };
}
