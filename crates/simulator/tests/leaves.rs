//! Members that are stopped one after the other: the last one that stands still serves (9.3).

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::{Command, PromoteMode};
use replication::limits;
use simulator::scenario::Scenario;

/// Blocks of the volume.
const ALL: u64 = 20 * 1024;
const EVERY_ORDER: [[usize; 3]; 6] =
    [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

fn three() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it
}

/// Nobody is Primary.
fn three_at_rest() -> Scenario {
    let mut it = three();
    it.demote(0);
    it
}

/// Whether `node` can become Primary.
fn can_promote(it: &mut Scenario, node: usize) -> bool {
    let promoted = it.command(node, Command::Promote(PromoteMode::Normal));
    it.until("an answer", |it| it.succeeded(promoted) || it.failed(promoted));
    it.succeeded(promoted)
}

#[test]
fn two_leave_one_after_the_other_and_the_last_one_serves() {
    let mut it = three();
    it.stop(2);
    assert_eq!(it.voters(0), [0, 1]);
    it.must_write(0, 7, 2);
    it.stop(1);
    assert_eq!(it.voters(0), [0]);
    it.must_write(0, 7, 3);
    // Longer than any lease.
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 3);
    it.must_write(0, 9, 4);
}

#[test]
fn they_leave_without_a_primary_and_the_last_one_is_promoted() {
    let mut it = three_at_rest();
    it.stop(0);
    it.stop(1);
    assert_eq!(it.voters(2), [2]);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 1);
    it.must_write(2, 7, 2);
}

/// The Primary itself is stopped, and then the one that took over.
#[test]
fn the_primary_leaves_and_so_does_the_next() {
    let mut it = three();
    it.stop(0);
    it.promote(1);
    it.must_write(1, 7, 2);
    it.stop(1);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 2);
    it.must_write(2, 7, 3);
    it.cluster.start(0);
    it.cluster.start(1);
    it.until("the voters", |it| it.voters(2) == [0, 1, 2]);
    assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (3, 3));
}

#[test]
fn the_leaders_only_peer_leaves() {
    let mut it = Scenario::new(2, 0, 0);
    it.must_write(0, 7, 1);
    it.stop(1);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
    it.cluster.start(1);
    it.until("the voters", |it| it.voters(0) == [0, 1]);
    assert_eq!(it.on_disk(1, 7), 2);
}

#[test]
fn what_left_is_outdated_before_it_stops_and_comes_back_by_little() {
    let mut it = three();
    it.stop(2);
    assert!(!it.is_in_sync(0, 2));
    assert!(it.knows_that_it_left(2), "on its disk");
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    let copied = it.copied_until_in_sync(0, 2);
    assert!(copied < ALL / 2, "{copied} blocks were copied");
    assert_eq!(it.on_disk(2, 7), 2);
    it.until("its vote", |it| it.voters(0) == [0, 1, 2]);
}

/// Nobody was cut off, so nobody need be waited for.
#[test]
fn what_left_a_volume_at_rest_is_back_soon_after_its_start() {
    let mut it = three_at_rest();
    it.stop(1);
    it.cluster.start(1);
    let started = it.cluster.now;
    it.until("its return", |it| it.is_in_sync(0, 1));
    let took = it.cluster.now.since(started);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

/// Nothing that it remembers lets it serve what the last one went on with.
#[test]
fn one_that_left_and_comes_back_alone_does_not_serve() {
    for first in [1, 2] {
        let mut it = three();
        it.stop(first);
        it.stop(3 - first);
        it.must_write(0, 7, 2);
        it.cluster.kill(0);
        it.cluster.start(first);
        assert!(!can_promote(&mut it, first), "node {first} alone");
        it.cluster.start(3 - first);
        assert!(!can_promote(&mut it, 3 - first), "both that left");
        it.cluster.start(0);
        it.promote(first);
        assert_eq!(it.must_read(first, 7), 2);
    }
}

#[test]
fn all_leave_in_turn_and_return_in_any_order() {
    for leaving in EVERY_ORDER {
        for returning in EVERY_ORDER {
            let mut it = three_at_rest();
            for node in leaving {
                it.stop(node);
            }
            for node in returning {
                it.cluster.start(node);
                it.run(Duration::from_millis(700));
            }
            it.until("the voters", |it| it.voters(2) == [0, 1, 2]);
            assert!((0..3).all(|node| it.is_in_sync(2, node)), "{leaving:?} {returning:?}");
        }
    }
}

#[test]
fn all_that_leave_at_once_keep_their_votes() {
    let mut it = three_at_rest();
    let began = it.cluster.now;
    let stops: Vec<_> = (0..3).map(|node| it.command(node, Command::Stop)).collect();
    it.until("the stops", |it| stops.iter().all(|&stop| it.succeeded(stop)));
    assert!(it.cluster.now.since(began) < limits::LEAVE_DEADLINE);
    for node in 0..3 {
        it.cluster.kill(node);
    }
    it.cluster.start(0);
    it.cluster.start(1);
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 1);
}

#[test]
fn one_leaves_in_mid_resync() {
    let mut it = three();
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    for block in 0..40 {
        it.must_write(0, block * 500, block + 2);
    }
    it.cluster.slow[1].write = Duration::from_millis(200);
    it.cluster.start(1);
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[1].syncing));
    // Who has not heard of those that would be left goes without a word.
    it.until("its view", |it| it.status(1).is_some_and(|status| status.members[2].connected));
    it.run(Duration::from_millis(20));
    it.stop(1);
    assert_eq!(it.voters(0), [0, 2]);
    it.stop(2);
    it.must_write(0, 7, 99);
    it.cluster.slow[1].write = Duration::ZERO;
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 500)), (99, 3));
}

/// Two of three may not be lost at once: the one that leaves while another is gone is still
/// missed, and does not wait for what cannot be.
#[test]
fn a_leave_that_finds_no_quorum_ends_at_once() {
    let mut it = three();
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    let began = it.cluster.now;
    it.stop(2);
    assert!(it.cluster.now.since(began) < Duration::from_millis(200));
    let part = it.write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert!(it.ended(part).is_none(), "node 1 did not say that it left");
    it.cluster.start(2);
    it.until("the write", |it| it.ended(part).is_some());
}

/// A leader that hangs does not answer, though it is not lost yet; the stop goes on.
#[test]
fn a_leave_that_nobody_answers_ends_within_its_bound() {
    let mut it = three();
    let began = it.cluster.now;
    it.cluster.slow[0].save = Duration::from_secs(10);
    it.stop(2);
    let took = it.cluster.now.since(began);
    assert!(took >= limits::LEAVE_DEADLINE, "{took:?}: it was let go");
    assert!(took < limits::LEAVE_DEADLINE + Duration::from_millis(200), "{took:?}");
    it.cluster.slow[0].save = Duration::ZERO;
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
}

/// Whoever dies in the middle of it leaves nothing that the others cannot take over.
#[test]
fn a_crash_in_the_middle_of_a_leave_is_survived() {
    for died_after in 0..24 {
        for victim in 0..3 {
            let mut it = three();
            it.command(2, Command::Stop);
            it.run(Duration::from_micros(150 * died_after));
            it.cluster.kill(victim);
            it.run(Duration::from_secs(5));
            let leader = usize::from(victim == 0);
            if victim != 2 {
                it.cluster.kill(2);
                it.cluster.start(2);
            }
            if victim == 1 {
                // Where node 2 is out, both others are needed.
                it.cluster.start(1);
            }
            if victim == 0 && !it.cluster.is_primary(1) {
                it.cluster.start(0);
                it.promote(1);
            }
            it.must_write(leader, 7, 5);
            it.cluster.start(victim);
            it.until("the voters", |it| it.voters(leader) == [0, 1, 2]);
            it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(leader, node)));
            assert!((0..3).all(|node| it.on_disk(node, 7) == 5), "{victim} after {died_after}");
        }
    }
}

#[test]
fn with_a_witness_the_replica_that_stays_needs_nobody() {
    let mut it = Scenario::new(3, 1, 0);
    it.must_write(0, 7, 1);
    it.stop(1);
    assert_eq!(it.voters(0), [0]);
    it.stop(2);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
    it.cluster.start(1);
    it.cluster.start(2);
    it.until("the voters", |it| it.voters(0) == [0, 1, 2]);
}

#[test]
fn a_witness_that_leaves_is_not_waited_for() {
    let mut it = Scenario::new(3, 1, 0);
    it.must_write(0, 7, 1);
    it.stop(2);
    assert_eq!(it.voters(0), [0, 1]);
    it.must_write(0, 7, 2);
    it.stop(1);
    it.must_write(0, 7, 3);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 3);
}

/// A third node without a disk votes from then on, so that two are not both needed.
#[test]
fn a_witness_takes_the_vote_of_the_one_that_left() {
    let mut it = Scenario::new(4, 1, 0);
    it.must_write(0, 7, 1);
    assert_eq!(it.voters(0), [0, 1, 2]);
    it.stop(2);
    assert_eq!(it.voters(0), [0, 1, 3]);
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.must_read(0, 7), 2);
}

/// Of a Primary without a disk.
#[test]
fn the_last_up_to_date_replica_is_not_let_go() {
    let mut it = Scenario::new(3, 1, 2);
    it.must_write(2, 7, 1);
    it.stop(0);
    it.must_write(2, 7, 2);
    it.stop(1);
    assert!(it.is_in_sync(2, 1), "nobody else has it");
    let part = it.read(2, 7);
    it.run(Duration::from_secs(2));
    assert!(it.ended(part).is_none());
    it.cluster.start(0);
    it.run(Duration::from_secs(5));
    let node = NodeId::new(0).expect("a small id");
    let leads = it.leader(0) == Some(node);
    assert!(!leads, "what node 0 has is old");
    it.cluster.start(1);
    // Who was Primary has to find out that the session is over.
    it.run(Duration::from_secs(3));
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 2);
}

/// Who begins to lead for that dies right after its seals: the next one does not wait for it.
#[test]
fn who_leaves_is_let_go_though_the_first_to_do_so_dies() {
    for micros in [0, 100, 300, 600, 1000, 2000] {
        let mut it = Scenario::new(5, 0, 0);
        it.must_write(0, 7, 1);
        it.demote(0);
        it.run(Duration::from_secs(1));
        let began = it.cluster.now;
        let stop = it.command(4, Command::Stop);
        it.until("the caretaker's seals", |it| it.explains(0, "phase: Sealing"));
        it.run(Duration::from_micros(micros));
        it.cluster.kill(0);
        it.until("the stop", |it| it.succeeded(stop));
        let took = it.cluster.now.since(began);
        assert!(took < Duration::from_millis(3900), "{micros}: {took:?}");
    }
}
