//! Ways between two nodes that swallow what is large, or all of one direction, and links that break
//! again and again: each return of a member holds the writes of all until it is lost again. A
//! connection that is probed does not return through a hole. Budget: 30 s on two cores.

use std::time::Duration;

use replication::contract::{Demands, Share};
use replication::limits;
use replication::resource::LostAgain;
use simulator::cluster::Hole;
use simulator::run::run;
use simulator::scenario::Scenario;
use simulator::seeds::all_of;
use simulator::sometimes::Mark;

/// What a segment of a network with 1,500 bytes carries, less than a block.
const SEGMENT: Hole = Hole::Larger(1448);
/// A write that takes longer waited for a member that is lost.
const PROMPT: Duration = Duration::from_millis(500);
/// Writes of a client that is never idle for long, to few blocks.
const INTERVAL: Duration = Duration::from_millis(50);
const BLOCKS: u64 = 16;
/// Returns, silences and config changes that are under way when a rest is over.
const SLACK: Duration = Duration::from_secs(5);

/// Writes at `node` for so long, without a pause; how many writes had to wait.
fn pauses(it: &mut Scenario, node: usize, time: Duration) -> u32 {
    let (mut pauses, mut value) = (0, 0);
    let end = it.cluster.now + time;
    while it.cluster.now < end {
        value += 1;
        let began = it.cluster.now;
        it.must_write(node, value % BLOCKS, value);
        pauses += u32::from(it.cluster.now.since(began) > PROMPT);
        it.run(INTERVAL);
    }
    pauses
}

fn is_connected(it: &Scenario, node: usize, peer: usize) -> bool {
    let status = it.status(node).expect("it is up");
    status.members.iter().any(|known| known.node.index() == peer && known.connected)
}

fn lost_again(it: &Scenario, node: usize, member: usize) -> Option<LostAgain> {
    let status = it.status(node).expect("it is up");
    status.members.iter().find(|known| known.node.index() == member)?.lost_again
}

/// Until the member rests that a hole from node 0 keeps out, and comes back through.
fn rest_behind_a_hole(it: &mut Scenario, member: usize) {
    it.cluster.probes = false;
    it.cluster.make_hole(0, member, SEGMENT);
    let mut value = 1;
    while lost_again(it, 0, member).is_none() {
        value += 1;
        it.must_write(0, value % BLOCKS, value);
        it.run(INTERVAL);
        assert!(value < 500, "it never rests");
    }
    it.until("its loss", |it| !it.is_in_sync(0, member));
}

/// For as long as nodes without probes rest five times.
#[test]
fn a_hole_for_large_messages_holds_writes_once() {
    for shards in [1, 2] {
        let mut it = Scenario::with_shards(3, 0, 0, shards);
        it.cluster.make_hole(0, 2, SEGMENT);
        assert_eq!(pauses(&mut it, 0, Duration::from_secs(135) + SLACK), 1);
        assert!(!is_connected(&it, 0, 2) && !is_connected(&it, 2, 0));
        it.cluster.fill_hole(0, 2);
        it.run(SLACK);
        assert!(it.is_in_sync(0, 2), "{:?}", lost_again(&it, 0, 2));
        assert_eq!(lost_again(&it, 0, 2), None, "it was lost once");
    }
}

/// What goes to the Primary may be small for ever, as acknowledgements are: a way back that loses
/// what is large is found by the probe alone.
#[test]
fn connections_do_not_return_through_a_hole_of_either_direction() {
    for (from, to) in [(0, 2), (2, 0)] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 1, 1);
        it.cluster.reset_link(0, 2);
        it.cluster.make_hole(from, to, SEGMENT);
        let pauses = pauses(&mut it, 0, Duration::from_secs(60));
        assert!(pauses <= 1, "{pauses} pauses, {from} to {to}");
        assert!(!is_connected(&it, 0, 2) && !is_connected(&it, 2, 0), "{from} to {to}");
        assert!(!it.is_in_sync(0, 2), "{from} to {to}");
        it.cluster.fill_hole(from, to);
        it.run(SLACK);
        assert!(it.is_in_sync(0, 2), "{from} to {to}: {:?}", lost_again(&it, 0, 2));
    }
}

/// The rests of 5, 10, 20, 40 and 60 s, each with one return before it, fill 135 s.
#[test]
fn a_hole_for_large_messages_holds_writes_once_for_each_rest() {
    for shards in [1, 2] {
        let mut it = Scenario::with_shards(3, 0, 0, shards);
        it.cluster.probes = false;
        it.cluster.make_hole(0, 2, SEGMENT);
        let first = pauses(&mut it, 0, Duration::from_secs(135) + SLACK);
        assert!((3..=7).contains(&first), "{first} pauses");
        let later = pauses(&mut it, 0, 3 * limits::LOST_AGAIN_REST_MAX);
        assert!(later <= 3, "{later} pauses in three of the longest rests");
        it.until("a connection", |it| it.status(0).is_some_and(|it| it.members[2].connected));
        it.cluster.fill_hole(0, 2);
        it.run(limits::LOST_AGAIN_REST_MAX);
        it.until("its return", |it| it.is_in_sync(0, 2));
        assert_eq!(lost_again(&it, 0, 2), None);
    }
}

/// What a client without a disk reads is large, and the acknowledgements are behind it.
#[test]
fn a_hole_on_the_way_back_holds_reads_and_writes_once() {
    assert_eq!(pauses_of_a_client(Scenario::new(4, 1, 3)), 1);
    let mut of_older = Scenario::new(4, 1, 3);
    of_older.cluster.probes = false;
    let older = pauses_of_a_client(of_older);
    assert!((3..=7).contains(&older), "{older} pauses: one for each rest");
}

fn pauses_of_a_client(mut it: Scenario) -> u32 {
    it.cluster.make_hole(2, 3, SEGMENT);
    let (mut pauses, mut value) = (0, 0);
    let end = it.cluster.now + Duration::from_secs(135) + SLACK;
    while it.cluster.now < end {
        value += 1;
        let began = it.cluster.now;
        it.must_write(3, value % BLOCKS, value);
        assert_eq!(it.must_read(3, value % BLOCKS), value);
        pauses += u32::from(it.cluster.now.since(began) > PROMPT);
        it.run(INTERVAL);
    }
    pauses
}

/// Nothing connects over such a way: there is one loss, and no return to rest from.
#[test]
fn a_way_that_swallows_all_holds_writes_once() {
    for (from, to) in [(0, 2), (2, 0)] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 1, 1);
        it.cluster.make_hole(from, to, Hole::All);
        assert_eq!(pauses(&mut it, 0, Duration::from_secs(60)), 1);
        it.cluster.fill_hole(from, to);
        it.run(SLACK);
        assert!(it.is_in_sync(0, 2), "it rests after one loss");
    }
}

#[test]
fn a_link_that_breaks_again_and_again_rests_longer_each_time() {
    let mut it = Scenario::new(3, 0, 0);
    let mut pauses = 0;
    let end = it.cluster.now + Duration::from_secs(135);
    while it.cluster.now < end {
        it.cluster.cut_link(0, 2);
        let began = it.cluster.now;
        it.must_write(0, 7, 1);
        pauses += u32::from(it.cluster.now.since(began) > Duration::from_millis(50));
        it.run(Duration::from_millis(300));
        it.cluster.heal_link(0, 2);
        it.run(Duration::from_millis(300));
    }
    assert!((2..=7).contains(&pauses), "{pauses} pauses");
}

/// Whom writes wait for is asked back at once.
#[test]
fn a_rest_ends_when_the_others_are_not_enough() {
    let mut it = Scenario::new(3, 0, 0);
    it.demand(Demands { redundancy: Share::AtLeast(2), ..Demands::default() });
    rest_behind_a_hole(&mut it, 2);
    it.cluster.fill_hole(0, 2);
    it.cluster.kill(1);
    it.run(Duration::from_secs(3));
    assert!(it.is_in_sync(0, 2), "{:?}", lost_again(&it, 0, 2));
    it.must_write(0, 1, 3);
}

/// ... and never lost while the others would not be.
#[test]
fn who_is_needed_does_not_rest() {
    let mut it = Scenario::new(3, 1, 0);
    it.demand(Demands { redundancy: Share::AtLeast(2), ..Demands::default() });
    for _ in 0..6 {
        it.cluster.reset_link(0, 1);
        it.run(Duration::from_secs(1));
        assert!(it.is_in_sync(0, 1), "{:?}", lost_again(&it, 0, 1));
        it.must_write(0, 1, 3);
    }
}

#[test]
fn another_process_does_not_rest() {
    let mut it = Scenario::new(3, 0, 0);
    rest_behind_a_hole(&mut it, 2);
    it.cluster.fill_hole(0, 2);
    it.cluster.kill(2);
    it.cluster.start(2);
    it.run(Duration::from_secs(3));
    assert!(it.is_in_sync(0, 2), "{:?}", lost_again(&it, 0, 2));
}

/// An operator who disconnects it, and connects it again, has looked at it.
#[test]
fn who_was_parted_on_purpose_does_not_rest() {
    let mut it = Scenario::new(3, 0, 0);
    rest_behind_a_hole(&mut it, 2);
    it.cluster.fill_hole(0, 2);
    for _ in 0..3 {
        it.cluster.renew_link(0, 2);
        it.run(Duration::from_secs(1));
        assert!(it.is_in_sync(0, 2), "{:?}", lost_again(&it, 0, 2));
    }
}

/// The next Primary knows of no rest, and may be one to which the way is whole.
#[test]
fn another_primary_asks_at_once() {
    let mut it = Scenario::new(3, 0, 0);
    rest_behind_a_hole(&mut it, 2);
    it.demote_and_promote(0, 1);
    it.run(Duration::from_secs(3));
    assert!(it.is_in_sync(1, 2));
}

/// Who stayed for long begins with the shortest rest.
#[test]
fn losses_that_are_far_apart_bring_no_rest() {
    let mut it = Scenario::new(3, 0, 0);
    for _ in 0..4 {
        it.cluster.cut_link(0, 2);
        it.until("its loss", |it| !it.is_in_sync(0, 2));
        it.cluster.heal_link(0, 2);
        it.run(Duration::from_secs(3));
        assert!(it.is_in_sync(0, 2), "{:?}", lost_again(&it, 0, 2));
        it.run(limits::LOST_AGAIN_WITHIN);
    }
}

#[test]
fn runs_with_holes_lose_nothing() {
    let seeds = (5..).step_by(7).take(24);
    let total = all_of((run, ""), seeds, 3_000);
    assert!(total.holes > 20, "{total:?}");
    assert!(total.marks.contains(&Mark::LostAgain), "nobody was lost again");
}
