//! A replica that is copied to knows how far that is, as its source counts it.

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::Command;
use replication::limits;
use replication::resource::CopyStatus;
use simulator::scenario::Scenario;

/// Of the volume.
const BLOCKS: u64 = 20_480;

fn told(it: &Scenario, node: usize) -> Option<CopyStatus> {
    it.status(node)?.copying_here
}

/// Node 2 has nothing any more, and its disk is slow.
fn copied_to_slowly(nodes: u8, shards: u8) -> Scenario {
    let mut it = Scenario::with_shards(nodes, 0, 0, shards);
    for extent in 0..20 {
        it.must_write(0, extent * 1024, 1);
    }
    // What it has is compared first.
    it.cluster.slow[2].read = Duration::from_millis(500);
    let invalidated = it.command(2, Command::Invalidate);
    it.until("the answer", |it| it.succeeded(invalidated));
    it
}

#[test]
fn a_replica_that_is_copied_to_knows_how_far_that_is() {
    for shards in [1, 3] {
        let mut it = copied_to_slowly(3, shards);
        it.until("a word of it", |it| told(it, 2).is_some());
        let mut before = told(&it, 2).expect("it was told");
        assert_eq!(before.left.blocks() + before.copied_blocks, BLOCKS, "{before:?}");
        for _ in 0..4 {
            it.run(2 * limits::COPYING_TOLD_INTERVAL);
            let now = told(&it, 2).expect("it is told while it is copied to");
            let source = it.status(0).expect("it is up").members[2];
            assert!(now.copied_blocks > before.copied_blocks, "{now:?} after {before:?}");
            assert!(now.left.blocks() < before.left.blocks(), "{now:?} after {before:?}");
            assert!(now.copied_blocks <= source.copied_blocks, "it knows no more than its source");
            before = now;
        }
        assert_eq!([told(&it, 0), told(&it, 1)], [None, None], "they are told nothing");
        it.cluster.slow[2].read = Duration::ZERO;
        it.until("the end of the copy", |it| it.is_in_sync(2, 2));
        assert_eq!(told(&it, 2), None);
    }
}

/// How far another copy was says nothing of this one.
#[test]
fn a_copy_of_another_session_is_told_of_anew() {
    let mut it = copied_to_slowly(3, 1);
    it.until("half of it", |it| told(it, 2).is_some_and(|copy| copy.copied_blocks > BLOCKS / 2));
    it.cluster.kill(0);
    it.promote(1);
    let leads = |it: &Scenario| it.leader(2) == NodeId::new(1);
    it.until("another session", leads);
    it.until("a copy in it", |it| it.status(1).is_some_and(|status| status.members[2].syncing));
    let copied = it.status(1).expect("it is up").members[2].copied_blocks;
    let known = told(&it, 2).map_or(0, |copy| copy.copied_blocks);
    assert!(known <= copied, "{known} of another copy, {copied} of this one");
    it.until("a word of it", |it| told(it, 2).is_some());
    it.cluster.slow[2].read = Duration::ZERO;
    it.until("the end of the copy", |it| it.is_in_sync(2, 2));
    assert_eq!(told(&it, 2), None);
}
