//! A node that whoever leads does not reach hears from the others what was chosen without it
//! (PROTOCOL.md 7d).

use std::time::Duration;

use format::ids::Epoch;
use replication::contract::{Command, PromoteMode};
use replication::limits;
use simulator::scenario::Scenario;

/// A Primary takes out whom it lost, and all hear of it.
const SOON: Duration = limits::PEER_SILENT_MAX.saturating_add(Duration::from_millis(500));

fn epoch(it: &Scenario, node: usize) -> Epoch {
    it.status(node).map_or(Epoch(0), |status| status.epoch)
}

/// The leader does not reach `cut`, which hears all the same what `leader` knows.
fn hears_what_goes_on_without_it(it: &mut Scenario, leader: usize, cut: usize) {
    it.run(SOON);
    it.must_write(leader, 7, 2);
    it.run(Duration::from_millis(100));
    assert!(!it.is_in_sync(leader, cut));
    assert!(!it.is_in_sync(cut, cut), "node {cut} takes itself for up to date");
    assert_eq!(epoch(it, cut), epoch(it, leader));
    assert_eq!(it.leader(cut), it.leader(leader));
}

#[test]
fn a_replica_that_only_the_primary_does_not_reach_hears_that_it_is_behind() {
    for (nodes, clients, primary) in [(3, 0, 0), (3, 1, 0), (3, 1, 2), (5, 0, 0), (6, 2, 5)] {
        let mut it = Scenario::new(nodes, clients, primary);
        it.must_write(primary, 7, 1);
        it.cluster.cut_link(primary, 1);
        hears_what_goes_on_without_it(&mut it, primary, 1);
    }
}

/// Node 2 tells node 3, which tells node 4.
#[test]
fn news_passes_over_several_nodes() {
    let mut it = Scenario::new(5, 0, 0);
    it.part(&[3], &[0, 1]);
    it.part(&[4], &[0, 1, 2]);
    hears_what_goes_on_without_it(&mut it, 0, 3);
    hears_what_goes_on_without_it(&mut it, 0, 4);
}

/// It was alone meanwhile, and none of those whom it meets leads.
#[test]
fn a_replica_that_meets_another_one_hears_what_it_missed() {
    let mut it = Scenario::new(5, 0, 0);
    it.part(&[1], &[0, 2, 3, 4]);
    it.run(SOON);
    it.must_write(0, 7, 2);
    assert!(it.is_in_sync(1, 1));
    it.meet(&[1], &[4]);
    it.run(Duration::from_millis(100));
    assert!(!it.is_in_sync(1, 1));
    assert_eq!(epoch(&it, 1), epoch(&it, 0));
}

/// As one that restarted it knows of no chosen value.
#[test]
fn a_replica_that_restarts_hears_what_it_missed() {
    let mut it = Scenario::new(5, 0, 0);
    it.part(&[1], &[0, 2, 3]);
    it.cluster.kill(1);
    it.run(SOON);
    it.must_write(0, 7, 2);
    it.cluster.start(1);
    it.run(Duration::from_millis(100));
    assert_eq!(epoch(&it, 1), epoch(&it, 0));
    assert!(!it.is_in_sync(1, 1));
}

/// It has no data, and shows which replicas are up to date.
#[test]
fn a_client_that_the_primary_does_not_reach_hears_whose_replica_is_behind() {
    let mut it = Scenario::new(4, 1, 0);
    it.cluster.cut_link(0, 3);
    it.run(SOON);
    it.cluster.kill(2);
    it.run(SOON);
    assert!(!it.is_in_sync(0, 2));
    assert!(!it.is_in_sync(3, 2));
    assert_eq!(epoch(&it, 3), epoch(&it, 0));
}

/// Node 4 was away, and the last Primary that it knows of was not the last one.
#[test]
fn old_news_ends_no_promotion() {
    let mut it = Scenario::new(5, 2, 0);
    it.must_write(0, 7, 1);
    it.part(&[4], &[0, 1, 2, 3]);
    it.demote_and_promote(0, 1);
    it.demote(1);
    it.part(&[3], &[0, 1, 2]);
    it.run(SOON);
    let promotion = it.command(3, Command::Promote(PromoteMode::Normal));
    it.run(Duration::from_millis(100));
    it.meet(&[4], &[3]);
    it.run(Duration::from_millis(100));
    assert_eq!(epoch(&it, 4), epoch(&it, 3));
    assert_eq!(it.refusal(promotion), None);
    it.meet(&[3], &[0, 1, 2]);
    it.until("the promotion", |it| it.succeeded(promotion));
}

/// What it shows of others is of the time when it last reached a quorum, or who leads.
#[test]
fn a_node_that_reaches_nobody_says_since_when() {
    let since = |it: &Scenario, node| it.status(node).and_then(|it| it.out_of_touch_since);
    let mut it = Scenario::new(3, 0, 0);
    assert_eq!((0..3).find_map(|node| since(&it, node)), None);
    let before = it.cluster.now;
    it.part(&[1], &[0, 2]);
    it.run(SOON);
    assert!(since(&it, 1).is_some_and(|at| at.since(before) <= limits::PEER_SILENT_MAX));
    it.meet(&[1], &[2]);
    it.run(SOON);
    assert_eq!((0..3).find_map(|node| since(&it, node)), None);
    // Of five it reaches who leads, and no majority.
    let mut it = Scenario::new(5, 0, 0);
    it.part(&[1], &[2, 3, 4]);
    it.run(SOON);
    assert_eq!(since(&it, 1), None);
    let started = it.cluster.now;
    it.cluster.kill(1);
    it.part(&[1], &[0]);
    it.run(SOON);
    it.cluster.start(1);
    it.run(SOON);
    assert!(since(&it, 1).is_some_and(|at| at >= started));
}

/// Node 1 reaches the former leader alone, which does not know that another one took over.
#[test]
fn a_node_that_reaches_a_leader_without_a_quorum_says_since_when() {
    let since = |it: &Scenario, node| it.status(node).and_then(|it| it.out_of_touch_since);
    let mut it = Scenario::new(5, 0, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2, 3, 4]);
    it.run(SOON);
    it.promote(2);
    it.must_write(2, 7, 2);
    it.run(SOON);
    let is_said = [0, 1].map(|node| since(&it, node).is_some());
    assert_eq!(is_said, [true, true], "what they show is of before they were cut off");
    it.meet(&[1], &[4]);
    it.run(SOON);
    assert_eq!(epoch(&it, 1), epoch(&it, 2));
}

/// Whatever a test looks at: the checker of the simulator sees who shows old values for long.
#[test]
fn nodes_that_are_cut_off_for_long_say_so_all_the_time() {
    for (nodes, cut) in [(5, &[0, 1][..]), (5, &[0]), (5, &[3]), (3, &[1]), (7, &[0, 1, 2])] {
        let others: Vec<usize> = (0..usize::from(nodes)).filter(|it| !cut.contains(it)).collect();
        let mut it = Scenario::new(nodes, 0, 0);
        it.part(cut, &others);
        it.run(SOON);
        let leader = others[0];
        if leader != 0 {
            it.promote(leader);
        }
        it.must_write(leader, 7, 2);
        it.run(Duration::from_secs(15));
        let says_so =
            |node: usize| it.status(node).is_some_and(|it| it.out_of_touch_since.is_some());
        assert!(cut.iter().all(|&node| says_so(node)), "{nodes} {cut:?}");
        assert!(!others.iter().any(|&node| says_so(node)), "{nodes} {cut:?}");
    }
}
