//! Leaders that were superseded and do not know: what they may still ask of replicas.

use std::time::Duration;

use format::ids::{EXTENT_BLOCKS, NodeId};
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

const WHILE: Duration = Duration::from_secs(5);

/// Node 0 lost node 2 and serves with node 1; then it stands alone, and node 1 leads with node 2,
/// which is in sync again. Node 0 may not reach node 1, and meets node 2.
fn superseded_leader_meets_a_follower_of_the_new_one() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.part(&[0], &[1, 2]);
    it.cluster.start(2);
    it.promote(1);
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    it.must_write(1, 7, 3);
    it.run(WHILE);
    it
}

#[test]
fn a_superseded_leader_takes_no_replica_from_the_newer_session() {
    let mut it = superseded_leader_meets_a_follower_of_the_new_one();
    it.meet(&[0], &[2]);
    for _ in 0..50 {
        it.run(WHILE / 50);
        assert!(it.is_in_sync(1, 2), "at {:?}", it.cluster.now);
        it.must_write(1, 7, 4);
    }
}

/// The new leader dies as the two meet: what its last member has is all that was acknowledged.
#[test]
fn the_last_member_of_a_newer_session_can_be_promoted_beside_a_superseded_leader() {
    let mut it = superseded_leader_meets_a_follower_of_the_new_one();
    it.meet(&[0], &[2]);
    it.cluster.kill(1);
    it.run(WHILE);
    it.promote(2);
    assert_eq!(it.must_read(2, 7), 3);
}

/// The same of a session without clients, which has no lease: it copies to node 2 and is cut off
/// from node 1, which becomes Primary by the vote of node 2.
#[test]
fn a_superseded_resync_takes_no_replica_from_a_primary() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    for block in 0..20 {
        it.must_write(0, block * EXTENT_BLOCKS, 2);
    }
    it.demote(0);
    it.cluster.slow[2] = SlowDisk { write: Duration::from_millis(200), ..SlowDisk::default() };
    it.cluster.start(2);
    it.until("a session for the copy", |it| it.leader(0) == NodeId::new(0));
    it.run(Duration::from_millis(500));
    it.part(&[0], &[1]);
    it.promote(1);
    it.cluster.slow[2] = SlowDisk::default();
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    it.run(WHILE);
    for _ in 0..50 {
        it.run(WHILE / 50);
        assert!(it.is_in_sync(1, 2), "at {:?}", it.cluster.now);
    }
}

/// It meets one voter alone, which serves the newer session and promises nothing to another.
#[test]
fn a_superseded_leader_hears_of_it_from_a_voter_that_it_meets() {
    let mut it = superseded_leader_meets_a_follower_of_the_new_one();
    assert!(it.cluster.is_primary(0));
    it.meet(&[0], &[2]);
    it.run(Duration::from_secs(1));
    assert!(!it.cluster.is_primary(0));
    it.must_write(1, 7, 4);
}

/// Of five voters it reaches `reached`; one of these the others reach, too.
fn superseded_leader_hears_of_it(mut it: Scenario, leader: usize, reached: &[usize]) {
    it.must_write(leader, 7, 1);
    let others: Vec<usize> = (0..5).filter(|it| *it != leader && !reached.contains(it)).collect();
    it.part(&[leader], &others);
    it.part(&others, &reached[1..]);
    it.until("the end of its lease", |it| !it.status(leader).is_some_and(|it| it.has_quorum));
    it.promote(1);
    it.must_write(1, 7, 2);
    it.run(Duration::from_secs(1));
    assert!(!it.cluster.is_primary(leader));
    it.must_write(1, 7, 3);
}

/// It was never parted from the one voter that serves the newer session.
#[test]
fn a_superseded_leader_hears_of_it_from_the_voter_that_it_reaches() {
    superseded_leader_hears_of_it(Scenario::new(5, 0, 0), 0, &[2]);
}

/// It has no vote, and so nobody was told of a value that it accepted.
#[test]
fn a_superseded_leader_without_a_vote_hears_of_it_from_a_witness() {
    superseded_leader_hears_of_it(Scenario::new(6, 2, 5), 5, &[4, 2]);
}
