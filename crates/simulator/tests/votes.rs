//! What counts as a vote, and who finds out what became of a value in doubt.

use std::time::Duration;

use replication::contract::{Command, PromoteMode};
use replication::limits;
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

fn three() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it
}

/// `node` has sent ACCEPT, and nobody has answered.
fn until_it_proposes(it: &mut Scenario, node: usize) {
    it.until("a proposal", |it| it.explains(node, "Accepting"));
}

/// A voter reports a value that it is still writing down; if its power goes, it never had it. The
/// checker knows what is on the disks.
#[test]
fn what_a_voter_is_still_writing_is_no_vote_to_anybody() {
    let mut it = three();
    it.part(&[0], &[1]);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.command(0, Command::Demote);
    until_it_proposes(&mut it, 0);
    it.cluster.slow[2].save = Duration::from_secs(3);
    it.run(Duration::from_millis(300));
    it.cluster.reset_link(1, 2);
    it.meet(&[0], &[1]);
    it.run(Duration::from_millis(300));
    it.cluster.cut_power(2);
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.start(2);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 1);
}

/// Nor to itself.
#[test]
fn what_a_node_is_still_writing_is_no_vote_of_its_own() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1]);
    it.until("a proposal of its own", |it| {
        it.explains(0, "Preparing") && it.explains(0, "by: Alone")
    });
    it.cluster.slow[0].save = Duration::from_secs(3);
    it.run(Duration::from_millis(300));
    it.meet(&[0], &[1]);
    it.run(Duration::from_millis(300));
}

/// One voter has the end of the last session on its disk, the other ones have not, and all lose
/// their power: without a session nobody could tell what was chosen, and a member to be added would
/// wait for ever.
#[test]
fn a_clean_end_in_doubt_is_found_out_without_clients() {
    let mut it = Scenario::with_spares(4, 1, 1);
    it.must_write(0, 7, 2);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.command(0, Command::Demote);
    until_it_proposes(&mut it, 0);
    it.part(&[0], &[3]);
    it.run(Duration::from_millis(300));
    it.cluster.cut_power(0);
    it.cluster.cut_power(3);
    it.meet(&[0], &[3]);
    it.cluster.start(0);
    it.cluster.start(3);
    it.configure(&[0, 2, 3], &[0, 1, 2, 3]);
    it.until("the member that was added", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 7), 2);
}

/// PREPARE goes out while node 2 is away, and node 1 hangs.
#[test]
fn a_voter_that_connects_is_asked_for_its_vote() {
    let mut it = three();
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.demote(0);
    it.cluster.slow[1].save = Duration::from_secs(10);
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    it.until("a PREPARE", |it| it.explains(0, "Preparing"));
    it.run(Duration::from_millis(1));
    it.cluster.start(2);
    let before = it.cluster.now;
    it.until("the vote of node 2", |it| !it.explains(0, "Preparing"));
    let took = it.cluster.now.since(before);
    assert!(took < Duration::from_millis(500), "{took:?}");
    it.cluster.slow[1] = SlowDisk::default();
    it.until("the promotion", |it| it.succeeded(promoted));
}

/// A voter that was only told of a session, and has not written that down, forgets both with its
/// power: no lease that it granted would hold anybody off.
#[test]
fn what_a_voter_is_still_writing_gets_no_lease() {
    for millis in 0..4 {
        let mut it = three();
        it.demote(0);
        it.run(Duration::from_millis(millis));
        it.cluster.slow[1].save = Duration::from_secs(10);
        it.promote(0);
        it.run(Duration::from_millis(1_700));
        it.part(&[0], &[2]);
        it.run(Duration::from_millis(1_700));
        it.part(&[0], &[1]);
        it.cluster.kill(1);
        it.cluster.slow[1] = SlowDisk::default();
        it.cluster.start(1);
        it.promote(2);
        it.must_write(2, 7, 2);
        let read = it.read(0, 7);
        it.run(Duration::from_millis(10));
        assert_eq!(it.ended(read), None, "read from a session that is over");
        it.meet(&[0], &[1, 2]);
        it.until("the return of node 0", |it| it.is_in_sync(2, 0));
        assert_ne!(it.ended(read), Some(&Ok(Some(vec![1]))));
    }
}

/// Node 3 has no disk, and leads. Of the three voters node 2 is down, and it reaches only node 0.
fn cut_off_primary() -> Scenario {
    let mut it = Scenario::new(4, 1, 3);
    it.must_write(3, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(3, 2));
    it.must_write(3, 7, 2);
    it.part(&[3], &[1]);
    it
}

/// A Primary without a quorum does not keep the voter that it reaches from one that has a quorum
/// with it.
#[test]
fn who_reaches_a_majority_takes_over_from_a_primary_that_reaches_one_voter() {
    for clients_write in [false, true] {
        let mut it = cut_off_primary();
        if clients_write {
            it.write(3, 7, 3);
        }
        it.run(Duration::from_secs(3));
        it.promote(1);
        it.must_write(1, 8, 4);
        it.meet(&[3], &[1]);
        it.until("the end of the former session", |it| it.leader(3) == it.leader(1));
        it.demote_and_promote(1, 3);
        assert_eq!(it.must_read(3, 8), 4);
    }
}

/// It goes on at once when it has its quorum back.
#[test]
fn a_primary_that_was_cut_off_for_a_moment_goes_on() {
    for millis in (100..3_000).step_by(100) {
        let mut it = cut_off_primary();
        it.run(Duration::from_millis(millis));
        let before = it.cluster.connections(3, 1);
        it.meet(&[3], &[1]);
        let part = it.write(3, 7, 3);
        // Each side notices the silence when it does.
        let patience = limits::PEER_SILENT_MAX.as_millis() + 50;
        let was_made_anew = (0..patience).any(|_| {
            it.run(Duration::from_millis(1));
            it.cluster.connections(3, 1) > before
        });
        assert!(was_made_anew, "{millis} ms: no connection");
        it.run(Duration::from_secs(1));
        assert!(matches!(it.ended(part), Some(Ok(_))), "{millis} ms: {:?}", it.ended(part));
        assert_eq!(it.must_read(3, 7), 3);
    }
}

/// Its next life leads nothing, and holds nobody off for what this one read.
#[test]
fn what_a_leader_is_still_writing_counts_for_its_own_lease() {
    let mut it = three();
    it.demote(0);
    it.cluster.slow[0].save = Duration::from_secs(10);
    it.promote(0);
    it.part(&[0], &[2]);
    it.run(Duration::from_secs(3));
    let read = it.read(0, 7);
    it.run(Duration::from_millis(100));
    assert_eq!(it.ended(read), Some(&Ok(Some(vec![1]))));
}
