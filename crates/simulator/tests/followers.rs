//! Members for whom no answer waits (protocol A): what they hold is a state that all replicas could
//! have been in, and it may be an older one. Budget: 20 s on two cores.

use std::time::Duration;

use format::ids::{EXTENT_BLOCKS, MemberSet, NodeId};
use replication::contract::{Command, Demands, OnNoQuorum, PartId, PromoteMode, Share};
use simulator::cluster::{BadDisk, SlowDisk, Way};
use simulator::scenario::Scenario;

/// What the slow disk takes for a write: nothing that waits for it is answered sooner.
const SLOW: Duration = Duration::from_secs(1);
const PROMPT: Duration = Duration::from_millis(100);
/// A block of a lane that the second of two shards has.
const SECOND: u64 = EXTENT_BLOCKS;

fn follow(nodes: u8, clients: u8, follower: u8, shards: u8) -> Scenario {
    let mut it = Scenario::with_followers(nodes, clients, &[follower], shards);
    it.must_write(0, 7, 1);
    it.must_write(0, SECOND, 1);
    it.until("a follower", |it| it.follows(0, follower.into()));
    it.run(Duration::from_secs(1));
    it
}

fn wait(it: &mut Scenario, part: PartId) -> Duration {
    let before = it.cluster.now;
    it.until("an answer", |it| it.ended(part).is_some());
    assert!(matches!(it.ended(part), Some(Ok(_))), "{:?}", it.ended(part));
    it.cluster.now.since(before)
}

fn slow(it: &mut Scenario, node: usize) {
    it.cluster.slow[node] = SlowDisk { write: SLOW, flush: SLOW, ..SlowDisk::default() };
}

#[test]
fn neither_a_write_nor_a_flush_waits_for_a_follower() {
    for shards in [1, 2] {
        let mut it = follow(3, 0, 2, shards);
        slow(&mut it, 2);
        for (block, value) in [(7, 2), (SECOND, 3)] {
            let part = it.write(0, block, value);
            assert!(wait(&mut it, part) < PROMPT);
        }
        let durable = it.write_durably(0, 8, 4);
        assert!(wait(&mut it, durable) < PROMPT);
        let flush = it.flush(0);
        assert!(wait(&mut it, flush) < PROMPT);
        let read = it.read(0, 7);
        assert!(wait(&mut it, read) < PROMPT);
        assert_eq!(it.ended(read), Some(&Ok(Some(vec![2]))));
        assert_eq!((it.on_disk(1, 7), it.on_disk(2, 7)), (2, 1));
        it.run(4 * SLOW);
        assert_eq!((it.on_disk(2, 7), it.on_disk(2, SECOND), it.on_disk(2, 8)), (2, 3, 4));
    }
}

/// It is left behind like any member that does not keep up, and answers go on meanwhile.
#[test]
fn a_follower_that_hangs_is_left_behind() {
    let mut it = follow(3, 0, 2, 1);
    it.cluster.slow[2].write = Duration::from_secs(1000);
    let parts: Vec<PartId> = (0..6).map(|at| it.write(0, at * EXTENT_BLOCKS, 2)).collect();
    for part in parts {
        assert!(wait(&mut it, part) < PROMPT);
    }
    it.until("its eviction", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 3);
}

/// Two writes of which the second was asked for when the first was answered; the link with the
/// first is slow.
fn with_dependent_writes() -> Scenario {
    let mut it = follow(3, 0, 2, 2);
    it.cluster.delay_lane(0, 2, 0, SLOW);
    let first = it.write(0, 7, 2);
    assert!(wait(&mut it, first) < PROMPT);
    let second = it.write(0, SECOND, 2);
    assert!(wait(&mut it, second) < PROMPT);
    it.run(PROMPT);
    it
}

#[test]
fn a_write_that_overtook_an_earlier_one_waits_for_it() {
    let mut it = with_dependent_writes();
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, SECOND)), (1, 1));
    it.run(4 * SLOW);
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, SECOND)), (2, 2));
}

#[test]
fn what_is_not_whole_when_the_primary_dies_is_dropped() {
    let mut it = with_dependent_writes();
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.part(&[1], &[2]);
    it.run(2 * SLOW);
    it.force(2);
    assert_eq!((it.must_read(2, 7), it.must_read(2, SECOND)), (1, 1));
}

/// The second shard hears late of a cut, and the Primary dies when the follower has applied it.
#[test]
fn what_is_answered_while_a_cut_is_made_is_not_left_out_of_it() {
    let mut it = follow(3, 0, 2, 2);
    it.cluster.slow_mail.insert((0, 1, Way::ToGroup), PROMPT);
    it.write(0, 16 * EXTENT_BLOCKS, 2);
    it.run(PROMPT / 2);
    let first = it.write(0, 7, 2);
    assert!(wait(&mut it, first) < 2 * PROMPT);
    it.write(0, SECOND, 2);
    it.until("the second write", |it| it.on_disk(2, SECOND) == 2);
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.force(2);
    assert_eq!((it.must_read(2, 7), it.must_read(2, SECOND)), (2, 2));
}

/// All others die: node 2 leads with what it has, and counts as one that never was away.
fn assert_leads_from_a_cut(it: &mut Scenario) {
    it.cluster.kill(0);
    it.cluster.kill(1);
    it.run(2 * SLOW);
    let forced = it.command(2, Command::Promote(PromoteMode::Force));
    it.until("the promotion", |it| {
        assert!(it.is_intact(2), "it is at a cut");
        it.succeeded(forced)
    });
    assert_eq!((it.must_read(2, 9), it.must_read(2, SECOND)), (3, 1));
}

/// It was away, and returned: what it holds is a whole state again with the next cut, though in
/// most lanes nothing was written since.
#[test]
fn a_follower_that_returned_is_at_a_cut_again() {
    for shards in [1, 2] {
        let mut it = follow(3, 0, 2, shards);
        it.part(&[0, 1], &[2]);
        it.until("its loss", |it| !it.is_in_sync(0, 2));
        it.meet(&[0, 1], &[2]);
        it.until("its return", |it| it.follows(0, 2));
        it.run(PROMPT);
        it.must_write(0, 9, 3);
        it.run(Duration::from_secs(1));
        assert_leads_from_a_cut(&mut it);
    }
}

/// Of a volume that nobody writes the last cut may be there before the follower holds anything.
#[test]
fn a_follower_that_returned_to_an_idle_volume_is_at_a_cut_again() {
    for shards in [1, 2] {
        let mut it = follow(3, 0, 2, shards);
        it.part(&[0, 1], &[2]);
        it.until("its loss", |it| !it.is_in_sync(0, 2));
        it.must_write(0, 9, 3);
        it.meet(&[0, 1], &[2]);
        it.until("its return", |it| it.follows(0, 2));
        it.run(Duration::from_secs(1));
        assert_leads_from_a_cut(&mut it);
    }
}

/// A follower, and nobody else, is left.
fn alone() -> Scenario {
    let mut it = follow(3, 1, 1, 1);
    slow(&mut it, 1);
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.kill(0);
    it.cluster.slow[1] = SlowDisk::default();
    it
}

#[test]
fn a_follower_alone_takes_over_by_force_and_says_what_that_costs() {
    let mut it = alone();
    let normal = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the refusal", |it| it.failed(normal));
    assert_eq!(it.losses(1), 0);
    it.force(1);
    assert_eq!(it.losses(1), 1);
}

/// The operator gave up what the follower did not have.
#[test]
fn the_former_primary_returns_with_writes_that_the_follower_never_had() {
    let mut it = follow(3, 1, 1, 1);
    it.cluster.delay_lane(0, 1, 0, 10 * SLOW);
    for block in [7, 16 * EXTENT_BLOCKS] {
        let part = it.write(0, block, 2);
        assert!(wait(&mut it, part) < PROMPT);
    }
    it.cluster.kill(0);
    it.cluster.delay_lane(0, 1, 0, Duration::ZERO);
    it.run(PROMPT);
    it.force(1);
    it.must_write(1, 9, 3);
    assert_eq!((it.must_read(1, 7), it.losses(1)), (1, 1));
    it.cluster.start(0);
    it.until("its return", |it| it.is_in_sync(1, 0));
    it.until("equal replicas", |it| {
        (it.on_disk(0, 7), it.on_disk(0, 16 * EXTENT_BLOCKS), it.on_disk(0, 9)) == (1, 0, 3)
    });
}

/// What was released is applied, though nobody leads any more.
#[test]
fn what_was_released_is_applied_when_the_session_is_over() {
    let mut it = follow(3, 1, 1, 1);
    // The extent is cold: the write waits for the log first, for longer than a lease lasts.
    it.cluster.slow[1] = SlowDisk { metadata: 5 * SLOW, ..SlowDisk::default() };
    let cold = 2 * EXTENT_BLOCKS;
    let part = it.write(0, cold, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.run(PROMPT);
    it.cluster.kill(0);
    it.force(1);
    assert_eq!(it.must_read(1, cold), 2);
}

#[test]
fn one_that_has_all_is_taken_before_a_follower() {
    let mut it = follow(3, 0, 2, 1);
    slow(&mut it, 2);
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.kill(0);
    // It restarts, and the follower stays up.
    it.cluster.kill(1);
    it.cluster.start(1);
    it.cluster.slow[2] = SlowDisk::default();
    it.run(PROMPT);
    it.promote(1);
    assert_eq!((it.must_read(1, 7), it.losses(1)), (2, 0));
    it.until("its return", |it| it.is_in_sync(1, 2));
    assert_eq!(it.on_disk(2, 7), 2);
}

#[test]
fn a_drain_releases_everything() {
    for shards in [1, 2] {
        let mut it = follow(3, 0, 2, shards);
        for block in 0..4 {
            it.write(0, block * EXTENT_BLOCKS, 5);
        }
        it.demote_and_promote(0, 2);
        for block in 0..4 {
            assert_eq!(it.on_disk(2, block * EXTENT_BLOCKS), 5);
        }
        assert_eq!(it.losses(2), 0);
        assert!(!it.follows(2, 2));
    }
}

/// It is no second copy of what was answered.
#[test]
fn a_follower_does_not_count_for_the_redundancy() {
    let mut it = follow(3, 0, 2, 1);
    it.demand(Demands { redundancy: Share::AtLeast(2), ..Demands::default() });
    it.must_write(0, 7, 2);
    it.cluster.kill(1);
    it.until("the loss", |it| !it.is_in_sync(0, 1));
    let part = it.write(0, 7, 3);
    it.run(SLOW);
    assert_eq!(it.ended(part), None);
    it.cluster.start(1);
    it.until("an answer", |it| it.ended(part).is_some());
}

/// The last one that has all is not left behind for a follower.
#[test]
fn a_session_does_not_go_on_by_a_follower_alone() {
    let mut it = follow(4, 2, 1, 1);
    it.demote_and_promote(0, 3);
    it.must_write(3, 7, 2);
    it.until("a follower", |it| it.follows(3, 1));
    it.cluster.kill(0);
    it.run(4 * SLOW);
    assert!(it.is_in_sync(3, 0));
    it.cluster.start(0);
    it.run(SLOW);
    it.promote(3);
    assert_eq!(it.must_read(3, 7), 2);
}

/// By the leader's configuration alone, and at once; what it is called stays until the session
/// ends.
#[test]
fn an_operator_changes_who_follows_under_clients() {
    let mut it = Scenario::with_shards(3, 0, 0, 2);
    it.must_write(0, 7, 1);
    let two = NodeId::new(2).map(MemberSet::of).unwrap();
    let none = MemberSet::EMPTY;
    it.cluster.count_as(0, none, two);
    it.until("a follower", |it| it.follows(0, 2));
    slow(&mut it, 2);
    let part = it.write(0, 7, 2);
    assert!(wait(&mut it, part) < PROMPT);
    it.cluster.count_as(0, none, none);
    assert!(!it.follows(0, 2));
    let part = it.write(0, 8, 2);
    assert!(wait(&mut it, part) >= SLOW);
}

/// Node 3 leads, and the value by which node 1 is a follower is about to be chosen.
fn naming_the_follower(save: Duration) -> Scenario {
    let mut it = Scenario::new(4, 2, 3);
    it.must_write(3, 7, 1);
    it.run(Duration::from_secs(1));
    for slow in &mut it.cluster.slow {
        slow.save = save;
    }
    let follower = MemberSet::of(NodeId::new(1).expect("a small number"));
    it.cluster.count_as(3, MemberSet::EMPTY, follower);
    it
}

/// One becomes a follower by a value that is chosen after the loss of the last other one began,
/// which was recorded while there seemed to be another one left. It is waited for all the same.
#[test]
fn the_last_one_that_is_no_follower_stays_though_its_loss_began_before() {
    let mut it = naming_the_follower(PROMPT);
    it.cluster.kill(0);
    it.until("a follower", |it| it.follows(3, 1));
    it.run(4 * SLOW);
    assert!(it.is_in_sync(3, 0));
    it.cluster.start(0);
    it.run(SLOW);
    it.promote(3);
    assert_eq!((it.must_read(3, 7), it.losses(3)), (1, 0));
}

/// The same, but it is there: it was to be left behind for being slow, once an operator did not
/// want the other one to follow any more, which the value says for as long as the session lasts.
#[test]
fn the_last_one_that_is_no_follower_is_waited_for_though_it_was_to_be_left_behind() {
    let mut it = naming_the_follower(4 * PROMPT);
    it.cluster.count_as(3, MemberSet::EMPTY, MemberSet::EMPTY);
    it.cluster.be_patient(3, PROMPT);
    it.cluster.slow[0].write = 3 * SLOW;
    let part = it.write(3, 7, 2);
    it.until("its loss", |it| it.explains(3, "Recorded"));
    assert!(it.explains(3, "change: Some(Members"));
    it.until("the value", |it| it.explains(3, "change: None"));
    it.cluster.be_patient(3, 10 * SLOW);
    it.until("an answer", |it| it.ended(part).is_some());
    assert_eq!(it.ended(part), Some(&Ok(None)));
    assert!(it.is_in_sync(3, 0));
    // Were its loss still under way, no session would end.
    it.demote_and_promote(3, 0);
    assert_eq!((it.must_read(0, 7), it.losses(0)), (2, 0));
}

/// Who is being lost is a follower, which is behind: requests wait for the disk.
#[test]
fn a_leader_whose_disk_fails_beside_followers_waits_for_it() {
    let mut it = Scenario::with_followers(3, 0, &[1, 2], 1);
    it.demand(Demands { on_no_data: OnNoQuorum::SuspendIo, ..Demands::default() });
    it.must_write(0, 7, 1);
    it.until("followers", |it| it.follows(0, 1) && it.follows(0, 2));
    it.run(Duration::from_secs(1));
    it.cluster.slow_mail.insert((0, 0, Way::ToGroup), Duration::from_millis(300));
    it.command(1, Command::Detach);
    it.run(Duration::from_millis(20));
    it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
    let part = it.write(0, 7, 2);
    it.run(Duration::from_secs(2));
    assert!(it.cluster.is_primary(0) && it.ended(part).is_none());
}
