//! Volumes that grow while they are in use.

use std::time::Duration;

use format::space::Place;
use replication::contract::{
    Command, CommandId, DeviceSize, NewArea, PromoteMode, ResizeTask, ResourceInput,
};
use replication::resource::ResizeState;
use simulator::cluster::{SlowDisk, Way};
use simulator::run::run_with_grows;
use simulator::scenario::{SPARE_BYTES, Scenario};
use simulator::seeds::{all_of, of_this_run};

const SEEDS: u64 = 32;
const EVENTS: u64 = 4_000;

/// Budget: 60 s on two cores.
#[test]
fn no_seed_breaks_a_promise_while_the_volume_grows() {
    let set = of_this_run(1..=SEEDS);
    let total = all_of((run_with_grows, "--grow"), set.seeds, EVENTS);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        assert!(total.grows > SEEDS, "{total:?}");
        assert!(total.kills > 10 && total.power_cuts > 5 && total.attaches > 10, "{total:?}");
    }
}

const EXTENT: u64 = 4096 * 1024;
/// Of a scenario, at first.
const SIZE: u64 = 20 * EXTENT;

fn ask(it: &mut Scenario, node: usize, size_bytes: u64) -> CommandId {
    ask_of(it, node, (Place::FIRST, size_bytes))
}

fn ask_of(it: &mut Scenario, node: usize, (place, size_bytes): (Place, u64)) -> CommandId {
    let task = ResizeTask { place, size_bytes, new_area: NewArea::Zeroed };
    it.command(node, Command::Resize(task))
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

/// A caretaker may be at work meanwhile, to which a promotion gives way.
fn promote_at_last(it: &mut Scenario, node: usize) {
    for _ in 0..5 {
        let id = it.command(node, Command::Promote(PromoteMode::Normal));
        it.until("an answer", |it| it.succeeded(id) || it.failed(id));
        if it.succeeded(id) {
            return;
        }
    }
    panic!("node {node} does not become Primary");
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

/// All that know of the new size lose power, and the first of them that returns hears of the old
/// one from a leader that was cut off before. What its slots say of the new area holds all the
/// same.
#[test]
fn old_news_of_the_size_cost_no_mark() {
    for steps in 0..20 {
        let mut it = Scenario::new(3, 0, 0);
        it.part(&[0], &[1, 2]);
        it.promote(1);
        enlarge_all(&mut it, 10 * EXTENT);
        grow(&mut it, 1, SIZE + 10 * EXTENT);
        it.run(Duration::from_millis(50));
        it.must_write(1, SIZE / 4096, 9);
        let flush = it.flush(1);
        it.until("a flush", |it| it.ended(flush).is_some());
        it.cluster.cut_power(2);
        it.cluster.cut_power(1);
        it.meet(&[0], &[1]);
        it.cluster.start(1);
        it.run(Duration::from_millis(steps * 10));
        it.meet(&[0], &[2]);
        it.cluster.start(2);
        promote_at_last(&mut it, 1);
        assert_eq!(size_at(&it, 1), SIZE + 10 * EXTENT);
        it.until("all in sync", |it| it.is_in_sync(1, 0) && it.is_in_sync(1, 2));
        assert_eq!(it.on_disk(0, SIZE / 4096), 9);
        assert_eq!(it.on_disk(0, SIZE / 4096 + 9 * 1024), 0, "and not what was there before");
    }
}

/// The disks hold more than the volume, which ends within an extent: after a loss of power all of
/// that extent is marked, and nothing behind the end is made equal, or waited for. A member that
/// was told to write there would call it nonsense, and be lost by it.
#[test]
fn marks_behind_the_end_of_the_volume_are_nobodys() {
    for (leader, further) in [(0, 1), (1, 5), (2, 511), (1, 1023), (0, 1024 + 512)] {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 10 * EXTENT);
        let size = SIZE + 2 * EXTENT + further * 4096;
        grow(&mut it, 0, size);
        it.run(Duration::from_millis(50));
        let last = size / 4096 - 1;
        it.must_write(0, last, 9);
        (0..3).for_each(|node| it.cluster.cut_power(node));
        (0..3).for_each(|node| it.cluster.start(node));
        it.promote(leader);
        let mut in_sync = [false; 3];
        for _ in 0..1000 {
            let are_now = [0, 1, 2].map(|node| it.is_in_sync(leader, node));
            let are_lost = in_sync.iter().zip(are_now).any(|(&was, is)| was && !is);
            assert!(!are_lost, "{further} blocks in the last extents, node {leader} leads");
            in_sync = are_now;
            it.run(Duration::from_millis(1));
        }
        it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(leader, node)));
        it.must_write(leader, last, 10);
        it.demote(leader);
        assert_eq!([0, 1, 2].map(|node| it.on_disk(node, last)), [10; 3]);
    }
}

/// A member that made ready for a size and left before it was chosen gets all that is new when it
/// returns, from a disk that lost power meanwhile.
#[test]
fn who_made_ready_and_left_counts_as_having_nothing() {
    for steps in 0..30 {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 10 * EXTENT);
        let id = ask(&mut it, 0, SIZE + 6 * EXTENT);
        it.until("a size that is under way", |it| it.succeeded(id));
        it.run(Duration::from_micros(steps * 100));
        it.part(&[2], &[0, 1]);
        it.until("the new size", |it| size_at(it, 0) == SIZE + 6 * EXTENT);
        it.run(Duration::from_millis(50));
        it.must_write(0, SIZE / 4096, 9);
        it.cluster.cut_power(2);
        it.meet(&[2], &[0, 1]);
        it.cluster.start(2);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        assert_eq!(it.on_disk(2, SIZE / 4096), 9);
        assert_eq!(it.on_disk(2, SIZE / 4096 + 5 * 1024), 0, "and not what was there before");
    }
}

#[test]
fn the_disks_have_as_much_room_as_the_tests_say() {
    const { assert!(SPARE_BYTES >= 20 * EXTENT) };
}

/// The second of two volumes grows, and then the first: each on its own disk, while the other stays
/// as it is.
#[test]
fn volumes_of_a_resource_grow_one_by_one() {
    let second = Place::new(1).expect("a small number");
    let first_of = |place: Place, extent: u64| place.first_block() + extent * 1024;
    for steps in 0..12 {
        let mut it = Scenario::new(3, 0, 0);
        (0..3).for_each(|node| it.cluster.kill(node));
        it.add_volume(&[0, 1, 2], second, 1024);
        (0..3).for_each(|node| it.cluster.start(node));
        it.promote(0);
        it.must_write(0, second.first_block() + 3, 7);
        it.until("the others", |it| it.is_in_sync(0, 1) && it.is_in_sync(0, 2));
        enlarge_all(&mut it, 10 * EXTENT);
        let id = ask_of(&mut it, 1, (second, 5 * EXTENT));
        it.until("a size that is under way", |it| it.succeeded(id));
        let size = |it: &Scenario, place| {
            let config = it.status(0).and_then(|status| status.config);
            config.map_or(0, |config| config.space().bytes_at(place))
        };
        it.run(Duration::from_millis(steps));
        it.cluster.cut_power(2);
        it.until("its new size", |it| size(it, second) == 5 * EXTENT);
        assert_eq!(size(&it, Place::FIRST), SIZE);
        grow(&mut it, 0, SIZE + EXTENT);
        it.run(Duration::from_millis(50));
        assert_eq!(it.must_read(0, first_of(second, 4) + 1000), 0);
        it.must_write(0, first_of(second, 4) + 1000, 8);
        it.must_write(0, first_of(Place::FIRST, 20), 9);
        it.cluster.start(2);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        for (block, value) in [
            (second.first_block() + 3, 7),
            (first_of(second, 4) + 1000, 8),
            (first_of(second, 2), 0),
            (first_of(Place::FIRST, 20), 9),
            (first_of(Place::FIRST, 20) + 5, 0),
        ] {
            assert_eq!([0, 1, 2].map(|node| it.on_disk(node, block)), [value; 3], "{block}");
        }
        let id = ask_of(&mut it, 1, (Place::new(7).expect("a small number"), 0));
        it.until("a refusal: there is no such volume", |it| it.failed(id));
    }
}

/// Wherever it is asked: the node that leads knows that what it serves the volume by cannot follow.
#[test]
fn a_volume_whose_device_keeps_its_size_does_not_grow() {
    let mut it = Scenario::new(3, 0, 0);
    enlarge_all(&mut it, 10 * EXTENT);
    let device = |size| ResourceInput::Device { place: Place::FIRST, size };
    it.cluster.step_resource(0, device(DeviceSize::Stays));
    for node in [0, 1] {
        let id = ask(&mut it, node, SIZE + EXTENT);
        it.until("a refusal", |it| it.failed(id));
    }
    assert_eq!(size_at(&it, 0), SIZE);
    it.cluster.step_resource(0, device(DeviceSize::Follows));
    grow(&mut it, 1, SIZE + EXTENT);
}

/// What the others heard of its disk when it connected is older than the room that it made since,
/// and its connections stay.
#[test]
fn a_member_that_made_room_is_taken_back_by_whoever_leads() {
    for leader in [0, 1] {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 10 * EXTENT);
        grow(&mut it, 0, SIZE + EXTENT);
        it.demote(0);
        it.promote(leader);
        it.cluster.slow[2].write = Duration::from_secs(8);
        it.write(leader, 7, 1);
        it.until("the loss of node 2", |it| !it.is_in_sync(leader, 2));
        it.cluster.slow[2] = SlowDisk::default();
        it.until("its return", |it| it.is_in_sync(leader, 2));
    }
}

/// A member that returned meanwhile had to wait; nothing else happens that would let it in.
#[test]
fn a_size_that_is_refused_keeps_nobody_away() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.demote(0);
    it.cluster.start(2);
    it.run(Duration::from_millis(100));
    let id = ask(&mut it, 0, SIZE + 50 * EXTENT);
    it.until("a refusal", |it| it.failed(id));
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
}

/// A node that stood still was told to make room by a session that was over, and did: the volume
/// had grown without it by then.
#[test]
fn who_makes_room_late_needs_no_mark_of_it() {
    all_of((run_with_grows, "--grow"), [50_182], 6_000);
}

/// A member is slow to make ready for a size, which is given up; what it says of going back to the
/// old one crosses the question of the next try. That one it has not heard yet: it would make
/// blocks zeroes that were written meanwhile.
#[test]
fn an_answer_about_a_size_that_was_given_up_is_none_about_the_next() {
    for offset in (0..40).map(|step| Duration::from_micros(25 * step)) {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 10 * EXTENT);
        it.cluster.slow[1].write = Duration::from_secs(70);
        let first = ask(&mut it, 0, SIZE + 4 * EXTENT);
        it.until("a size that is under way", |it| it.succeeded(first));
        let ready = it.cluster.now + Duration::from_secs(70);
        it.run(Duration::from_secs(58));
        it.until("the end of the first try", |it| state(it, 0) == Some(ResizeState::Refused));
        // With a member gone, the next try has one more question.
        it.cluster.kill(2);
        it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
        it.cluster.slow[1].write = Duration::from_secs(1);
        let left = ready.since(it.cluster.now);
        it.run(left - Duration::from_millis(1) + offset);
        let second = ask(&mut it, 0, SIZE + 4 * EXTENT);
        it.until("a size that is under way", |it| it.succeeded(second));
        it.run(Duration::from_millis(1));
        it.cluster.slow[1] = SlowDisk::default();
        it.until("the new size", |it| size_at(it, 0) == SIZE + 4 * EXTENT);
        it.must_write(0, SIZE / 4096, 9);
        it.run(Duration::from_secs(2));
        assert_eq!(it.on_disk(1, SIZE / 4096), 9, "{offset:?}");
    }
}

/// It is asked again, for what it was asked before, or what it answered, was lost: a size would go
/// on by no other event than its return, and nobody is admitted until that comes to an end.
#[test]
fn a_member_whose_connections_are_made_anew_meanwhile_is_asked_again() {
    for steps in 0..60 {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 20 * EXTENT);
        // So it is back before its loss is recorded.
        it.cluster.slow[2].save = Duration::from_millis(30);
        ask(&mut it, 0, SIZE + 6 * EXTENT);
        it.run(Duration::from_micros(steps * 1_500));
        it.cluster.reset_link(0, 1);
        it.run(Duration::from_secs(3));
        assert_eq!(state(&it, 0), Some(ResizeState::Done), "after {steps} steps");
    }
}

/// Node 1 asks the leader for a size, loses its connections to it before it hears what came of it,
/// and asks for another. What is said of the first is no word about the second.
#[test]
fn an_answer_to_who_asked_before_is_none_about_another_size() {
    let begin = || {
        let mut it = Scenario::new(3, 0, 0);
        enlarge_all(&mut it, 20 * EXTENT);
        it.cluster.slow[2].save = Duration::from_secs(2);
        let first = ask(&mut it, 1, SIZE + 4 * EXTENT);
        it.until("a leader that was asked", |it| state(it, 0) == Some(ResizeState::Asking));
        it.cluster.reset_link(0, 1);
        it.until("the end of the wish", |it| it.failed(first));
        it
    };
    let mut it = begin();
    it.until("the answers", |it| state(it, 0) == Some(ResizeState::Preparing));
    let answered = it.cluster.now;
    for early in (0..20).map(|step| Duration::from_micros(30 * step)) {
        let mut it = begin();
        it.run(answered.since(it.cluster.now) - early);
        let second = ask(&mut it, 1, SIZE + 9 * EXTENT);
        it.until("an answer", |it| it.succeeded(second) || it.failed(second));
        it.cluster.slow[2] = SlowDisk::default();
        it.until("the end of it", |it| state(it, 0) == Some(ResizeState::Done));
        assert!(it.failed(second), "another size was under way: {early:?}");
    }
}

/// A member is sealed, and slow to answer; who leads gave that admission up for a size that came to
/// nothing, and begins it anew. The late answer is none to the seal that is on its way: what is
/// said to the member before it obeys that one, it does not hear, and would be waited for in vain.
#[test]
fn a_late_answer_to_a_seal_is_none_to_the_next() {
    let begin = |save: Duration| {
        let mut it = Scenario::new(3, 0, 0);
        it.cluster.kill(2);
        it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
        it.cluster.slow[2].save = save;
        it.cluster.start(2);
        it.until("an admission", |it| it.explains(0, "admissions: {n2:"));
        let asked = it.cluster.now;
        it.run(Duration::from_millis(2));
        let id = ask(&mut it, 0, SIZE + 50 * EXTENT);
        it.until("a refusal", |it| it.failed(id));
        assert!(it.explains(0, "admissions: {}"));
        (it, asked)
    };
    let (mut it, asked) = begin(Duration::from_secs(5));
    it.until("the next admission", |it| it.explains(0, "admissions: {n2:"));
    let between = it.cluster.now.since(asked);
    for step in 0..40 {
        let save = between - Duration::from_millis(1) + Duration::from_micros(50) * step;
        let (mut it, _) = begin(save);
        it.cluster.slow[2] = SlowDisk::default();
        it.run(Duration::from_secs(4));
        assert!(it.is_in_sync(0, 2), "with saves of {save:?}");
    }
}

/// The only replica that is left makes the new area ready, and marks it for the one that is away.
/// The size is given up while who leads does not reach it: it is back, and was told of nothing.
/// What it marks behind the end of the volume keeps nobody away.
#[test]
fn a_size_that_is_given_up_behind_the_back_of_a_member_keeps_nobody_away() {
    let mut it = Scenario::new(4, 2, 3);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(3, 1));
    enlarge_all(&mut it, 10 * EXTENT);
    it.cluster.slow[0].write = Duration::from_millis(300);
    let id = ask(&mut it, 3, SIZE + 6 * EXTENT);
    it.until("a size that is under way", |it| it.succeeded(id));
    it.run(Duration::from_millis(50));
    it.part(&[0], &[2, 3]);
    it.cluster.slow[0] = SlowDisk::default();
    it.run(Duration::from_secs(62));
    assert_eq!(state(&it, 3), Some(ResizeState::Refused));
    it.meet(&[0], &[2, 3]);
    it.must_write(3, 5, 6);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(3, 1));
    assert_eq!(it.on_disk(1, 5), 6);
    grow(&mut it, 3, SIZE + 9 * EXTENT);
    it.run(Duration::from_millis(50));
    it.must_write(3, SIZE / 4096, 9);
    for (block, value) in [(SIZE / 4096, 9), (SIZE / 4096 + 7 * 1024, 0)] {
        assert_eq!([0, 1].map(|node| it.on_disk(node, block)), [value; 2]);
    }
}

/// Node 1 is copied to while a size is made ready: it asks late for what the absent one misses, and
/// the leader marks the new area for that one by then. Node 1 has not heard of that area yet: told
/// of it, it would call that nonsense.
#[test]
fn a_member_that_returns_hears_of_no_block_that_is_made_ready_since() {
    let mut it = Scenario::new(5, 0, 0);
    it.cluster.kill(3);
    it.cluster.kill(1);
    it.until("their loss", |it| !it.is_in_sync(0, 1) && !it.is_in_sync(0, 3));
    enlarge_all(&mut it, 10 * EXTENT);
    it.must_write(0, 5, 6);
    it.cluster.delay_lane(1, 0, 0, Duration::from_millis(50));
    it.cluster.start(1);
    it.until("its copy", |it| it.explains(0, "Copying"));
    it.cluster.slow_mail.insert((1, 0, Way::ToGroup), Duration::from_millis(300));
    let id = ask(&mut it, 0, SIZE + 6 * EXTENT);
    it.until("a size that is under way", |it| it.succeeded(id));
    it.until("the new size", |it| size_at(it, 0) == SIZE + 6 * EXTENT);
    it.cluster.slow_mail.clear();
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!(it.cluster.connections(0, 1), 2, "and none of its connections was made anew");
    it.must_write(0, SIZE / 4096, 9);
    it.cluster.start(3);
    it.until("the return of node 3", |it| it.is_in_sync(0, 3));
    for (block, value) in [(5, 6), (SIZE / 4096, 9), (SIZE / 4096 + 5 * 1024, 0)] {
        assert_eq!([0, 1, 3].map(|node| it.on_disk(node, block)), [value; 3], "{block}");
    }
}

/// Neither member hears that the size is given up: the leader loses its disk meanwhile, and
/// takes the larger size for the volume's no longer than the member that it does not reach.
#[test]
fn a_leader_that_lost_its_disk_goes_back_from_a_size_that_is_given_up() {
    let mut it = Scenario::new(5, 2, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    enlarge_all(&mut it, 10 * EXTENT);
    it.cluster.slow[1].write = Duration::from_millis(300);
    let id = ask(&mut it, 0, SIZE + 6 * EXTENT);
    it.until("a size that is under way", |it| it.succeeded(id));
    it.run(Duration::from_millis(50));
    let detached = it.command(0, Command::Detach);
    it.until("the end of its disk", |it| it.succeeded(detached));
    assert_eq!(state(&it, 0), Some(ResizeState::Preparing));
    it.part(&[1], &[0, 3, 4]);
    it.cluster.slow[1] = SlowDisk::default();
    it.run(Duration::from_secs(62));
    assert_eq!(state(&it, 0), Some(ResizeState::Refused));
    it.meet(&[1], &[0, 3, 4]);
    it.must_write(0, 5, 6);
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 5), 6);
    grow(&mut it, 0, SIZE + 9 * EXTENT);
    it.run(Duration::from_millis(50));
    it.must_write(0, SIZE / 4096, 9);
    for (block, value) in [(SIZE / 4096, 9), (SIZE / 4096 + 7 * 1024, 0)] {
        assert_eq!([1, 2].map(|node| it.on_disk(node, block)), [value; 2]);
    }
}

/// Who had asked waited for half a minute, for a node that would not lead any more.
#[test]
fn a_size_that_waits_is_refused_where_its_node_will_not_lead() {
    for ends in [Command::Detach, Command::Stop] {
        let mut it = Scenario::new(3, 0, 0);
        it.demote(0);
        it.run(Duration::from_millis(100));
        let id = ask(&mut it, 1, SIZE + EXTENT);
        assert_eq!(state(&it, 1), Some(ResizeState::Waiting));
        it.command(1, ends);
        it.run(Duration::from_millis(100));
        assert!(it.failed(id), "{:?}", state(&it, 1));
    }
}

/// With the size or without it; a size that was in doubt for ever kept every member away.
#[test]
fn who_goes_on_alone_while_a_size_is_proposed_is_done_with_it() {
    let (mut with, mut without) = (0, 0);
    for millis in (0..200).step_by(10) {
        let mut it = Scenario::with_quorum_off(2, 0);
        it.must_write(0, 7, 1);
        enlarge_all(&mut it, EXTENT);
        for node in [0, 1] {
            it.cluster.slow[node] =
                SlowDisk { save: Duration::from_millis(50), ..SlowDisk::default() };
        }
        ask(&mut it, 0, SIZE + EXTENT);
        it.until("its proposal", |it| state(it, 0) == Some(ResizeState::Proposing));
        it.run(Duration::from_millis(millis));
        it.part(&[0], &[1]);
        it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
        let is_grown = size_at(&it, 0) > SIZE;
        *(if is_grown { &mut with } else { &mut without }) += 1;
        it.must_write(0, 7, 2);
        it.meet(&[0], &[1]);
        it.until("its return", |it| it.is_in_sync(0, 1));
        assert_eq!(it.on_disk(1, 7), 2);
        if !is_grown {
            grow(&mut it, 0, SIZE + EXTENT);
        }
    }
    assert!(with > 0 && without > 0, "{with} with, {without} without the size");
}
