//! What a replica keeps of members that are away, while that begins anew on its disk.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::Command;
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// Node 1 marks a write for node 2, which is away. Node 0 leads, and knows nothing of what node 2
/// misses: all of it is to be copied. Node 1 loses its power when it marks everything in memory,
/// and its disk does not say so yet.
#[test]
fn a_slot_that_becomes_full_forgets_no_mark_before_the_disk_says_so() {
    let mut it = Scenario::new(3, 0, 0);
    let missed = 15 * EXTENT_BLOCKS + 3;
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    let invalidated = it.command(2, Command::Invalidate);
    it.until("the invalidation", |it| it.succeeded(invalidated));
    it.until("a full copy under way", |it| it.explains(0, "step: Copying"));
    it.cluster.slow[2].save = Duration::from_secs(10);
    it.until("the join to be prepared", |it| it.explains(0, "change: Some(PreparingJoin"));
    it.cluster.kill(2);
    it.cluster.slow[2] = SlowDisk::default();
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    for node in [0, 1] {
        it.cluster.kill(node);
    }
    for node in [0, 1] {
        it.cluster.start(node);
    }
    it.promote(0);
    it.must_write(0, missed, 2);
    it.cluster.slow[1].save = Duration::from_secs(10);
    it.cluster.start(2);
    it.until("everything to be marked", |it| it.explains(0, "step: MarkingFull"));
    it.run(Duration::from_millis(100));
    for extent in (1..14).chain(16..20) {
        it.must_write(0, extent * EXTENT_BLOCKS, 3);
    }
    it.until("the end of its extent in the log", |it| !it.is_logged(1, 15));
    for node in [0, 1] {
        it.cluster.cut_power(node);
    }
    it.cluster.slow[1] = SlowDisk::default();
    for node in [0, 1] {
        it.cluster.start(node);
    }
    it.promote(1);
    it.until("the return of node 2", |it| it.is_in_sync(1, 2));
    assert_eq!(it.on_disk(2, missed), 2);
}
