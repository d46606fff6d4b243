//! Sequences of failures that were found by thought, each with what must hold after it.

use std::time::Duration;

use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// Leaves node 2 behind, and starts it again: it is being brought up to date.
fn with_returning_member() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 2);
    it.cluster.start(2);
    it
}

#[test]
fn a_member_whose_join_is_in_doubt_stays_in_the_write_set() {
    let mut it = with_returning_member();
    it.until("the join to be prepared", |it| it.explains(0, "change: Some(PreparingJoin"));
    // The value with which it joins takes long to be chosen, and the member is lost meanwhile.
    it.cluster.slow[1] = SlowDisk { save: Duration::from_millis(300), ..SlowDisk::default() };
    it.cluster.slow[0] = SlowDisk { save: Duration::from_millis(300), ..SlowDisk::default() };
    it.until("the join to be proposed", |it| it.explains(0, "change: Some(Joining"));
    it.cluster.kill(2);
    it.must_write(0, 7, 3);
    it.run(Duration::from_secs(1));
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!(it.on_disk(2, 7), 3);
}
