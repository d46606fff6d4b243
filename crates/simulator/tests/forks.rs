//! `quorum off`: nodes that go on alone, meet again, and give up what one of them wrote.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::{Command, CommandId, Demands, PromoteMode, WithoutQuorum};
use replication::limits;
use simulator::cluster::{BadDisk, Replaced, SlowDisk};
use simulator::run::{run_forced, run_forks};
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

/// Blocks of the volume.
const ALL: u64 = 20 * 1024;

/// Both of two nodes went on after the connection between them broke.
fn parted() -> Scenario {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.must_write(0, 9000, 2);
    it.part(&[0], &[1]);
    it.promote(1);
    it.must_write(0, 7, 10);
    it.must_write(0, 11, 11);
    it.must_write(1, 7, 20);
    it.must_write(1, 5000, 21);
    it
}

#[test]
fn the_survivor_of_two_goes_on_and_the_other_one_catches_up() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    assert_eq!(it.must_read(0, 7), 2);
    it.run(Duration::from_secs(5));
    it.must_write(0, 9000, 3);
    it.cluster.start(1);
    let copied = it.copied_until_in_sync(0, 1);
    assert!(copied < ALL / 2, "{copied} blocks were copied");
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9000)), (2, 3));
    it.until("both to vote", |it| it.voters(0) == [0, 1]);
}

#[test]
fn a_secondary_whose_primary_died_becomes_primary_alone() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 1);
    it.must_write(1, 7, 2);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    assert_eq!(it.on_disk(0, 7), 2);
    assert!(!it.is_split(0, 1) && !it.is_split(1, 0));
}

/// Again and again, so that the list of forks grows, each time incrementally.
#[test]
fn a_peer_that_comes_and_goes_is_copied_only_what_it_missed() {
    let mut it = Scenario::with_quorum_off(2, 0);
    for round in 0..6 {
        it.part(&[0], &[1]);
        it.must_write(0, 100 + round, round + 1);
        it.meet(&[0], &[1]);
        let copied = it.copied_until_in_sync(0, 1);
        assert!(copied < ALL / 2, "{copied} blocks were copied in round {round}");
        assert_eq!(it.on_disk(1, 100 + round), round + 1);
        it.until("both to vote", |it| it.voters(0) == [0, 1]);
    }
}

/// A member that was lost again rests; the rest ends while its leader goes on alone, and asks
/// nobody back. The leader was to do something about it at once, for as long as that took.
#[test]
fn a_rest_that_ends_while_a_node_goes_on_alone_wakes_it_up_for_nothing_else() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.part(&[0], &[1]);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    it.meet(&[0], &[1]);
    it.until("its return", |it| it.is_in_sync(0, 1));
    // Of what it misses, and then of the branch.
    it.cluster.slow[0].save = limits::LOST_AGAIN_REST_MIN * 2 / 5;
    it.part(&[0], &[1]);
    it.until("its rest", |it| it.explains(0, "LostAgain"));
    it.until("the end of it", |it| !it.explains(0, "LostAgain"));
    assert!(it.explains(0, "change: Some(Alone)"));
    it.cluster.slow[0] = SlowDisk::default();
    it.must_write(0, 7, 2);
    it.meet(&[0], &[1]);
    it.until("its return", |it| it.is_in_sync(0, 1));
    assert_eq!(it.on_disk(1, 7), 2);
}

#[test]
fn both_went_on_and_both_say_so() {
    let mut it = parted();
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.run(Duration::from_secs(5));
    assert!(it.is_split(0, 1) && it.is_split(1, 0));
    // Each goes on by itself.
    it.must_write(0, 7, 30);
    it.must_write(1, 7, 40);
    assert_eq!((it.must_read(0, 7), it.must_read(1, 7)), (30, 40));
}

#[test]
fn the_data_of_one_is_given_up_and_only_what_differs_is_copied() {
    for (winner, loser) in [(0, 1), (1, 0)] {
        let mut it = parted();
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        let refused = it.command(loser, Command::DiscardData { peer: None });
        it.until("a refusal", |it| it.failed(refused));
        it.demote(loser);
        it.discard(loser, winner);
        let copied = it.copied_until_in_sync(winner, loser);
        assert!(copied < ALL / 2, "{copied} blocks were copied");
        for block in [7, 11, 5000, 9000] {
            assert_eq!(it.on_disk(loser, block), it.on_disk(winner, block), "block {block}");
        }
        it.until("both to vote", |it| it.voters(winner) == [0, 1]);
        it.must_write(winner, 7, 50);
        assert_eq!(it.on_disk(loser, 7), 50);
    }
}

/// The wish is known before they meet.
#[test]
fn data_can_be_given_up_before_the_peers_meet() {
    let mut it = parted();
    it.demote(1);
    it.discard(1, 0);
    it.must_write(0, 12, 12);
    it.meet(&[0], &[1]);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 12), it.on_disk(1, 5000)), (10, 12, 0));
}

/// The loser dies while it gives its data up, at any moment; then it is told once more.
#[test]
fn a_loser_that_dies_meanwhile_gives_its_data_up_later() {
    for micros in (0..6_000).step_by(150) {
        let mut it = parted();
        it.demote(1);
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.discard(1, 0);
        it.run(Duration::from_micros(micros));
        it.cluster.cut_power(1);
        it.cluster.start(1);
        it.discard(1, 0);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
        for block in [7, 11, 5000, 9000] {
            assert_eq!(it.on_disk(1, block), it.on_disk(0, block), "block {block}");
        }
    }
}

/// The loser is stopped in good order while it is copied to: only its own slot says what of its
/// line is left, and nothing but that slot did ever mark anything on its disk.
#[test]
fn a_loser_that_stops_in_mid_copy_remembers_what_it_has_to_give_up() {
    let mut it = parted();
    // More than is copied at a time: of what was under way the leader keeps a note.
    let given_up: Vec<u64> = (5000..5060).step_by(2).collect();
    for &block in &given_up {
        it.must_write(1, block, 22);
    }
    it.demote(1);
    it.cluster.slow[1].write = Duration::from_millis(500);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("the end of the split brain", |it| !it.is_split(0, 1) && !it.is_split(1, 0));
    it.run(Duration::from_millis(100));
    assert!(!it.is_in_sync(0, 1));
    it.stop(1);
    it.cluster.slow[1] = SlowDisk::default();
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    for block in [7, 11, 9000].into_iter().chain(given_up) {
        assert_eq!(it.on_disk(1, block), it.on_disk(0, block), "block {block}");
    }
}

/// Two of three decide by quorum; the third one, alone, does so too. The two are not its victims.
#[test]
fn a_side_with_a_quorum_is_not_ended_by_one_that_went_on_alone() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.promote(2);
    it.must_write(0, 7, 10);
    it.must_write(2, 7, 20);
    it.must_write(2, 8, 21);
    it.meet(&[0, 1], &[2]);
    it.until("the split brain", |it| {
        it.is_split(0, 2) && it.is_split(1, 2) && it.is_split(2, 0) && it.is_split(2, 1)
    });
    it.must_write(0, 9, 11);
    assert_eq!(it.must_read(0, 7), 10);
    it.demote(2);
    it.discard(2, 0);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    assert_eq!((it.on_disk(2, 7), it.on_disk(2, 8), it.on_disk(2, 9)), (10, 0, 11));
    it.until("all to vote", |it| it.voters(0) == [0, 1, 2]);
}

/// The same before anybody has recorded the loss of the one that went on, and while a node leads
/// that has no record of its own: that clients use its line is all it knows.
#[test]
fn a_side_in_use_is_not_ended_before_it_recorded_a_loss() {
    let mut it = Scenario::with_quorum_off(4, 1);
    it.must_write(0, 7, 1);
    it.demote_and_promote(0, 3);
    // They are late with the loss, and not so late that they are left behind.
    for node in [0, 1] {
        it.cluster.slow[node].save = Duration::from_secs(3);
    }
    it.part(&[0, 1, 3], &[2]);
    it.promote(2);
    it.must_write(2, 8, 20);
    it.meet(&[0, 1, 3], &[2]);
    it.until("the split brain", |it| it.is_split(3, 2) && it.is_split(0, 2));
    assert!(it.explains(3, "losses: {n2: Recording}"));
    for node in [0, 1] {
        it.cluster.slow[node] = SlowDisk::default();
    }
    it.must_write(3, 9, 11);
    assert_eq!((it.must_read(3, 7), it.must_read(3, 8)), (1, 0));
    it.demote(2);
    it.discard(2, 0);
    it.until("the return of node 2", |it| it.is_in_sync(3, 2));
    assert_eq!((it.on_disk(2, 8), it.on_disk(2, 9)), (0, 11));
}

/// What the loser wrote alone is at a third member as well, which goes on when the loser is gone:
/// it gives up what it got from the loser, too.
#[test]
fn a_third_member_that_carries_the_fork_on_gives_all_of_it_up() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    // Node 2 and node 1 are both alone for a while; node 1 then follows node 2.
    it.part(&[0], &[1, 2]);
    it.part(&[1], &[2]);
    it.must_write(0, 7, 10);
    it.promote(2);
    it.must_write(2, 7, 20);
    it.must_write(2, 5000, 21);
    it.meet(&[1], &[2]);
    it.until("node 1 to follow", |it| it.is_in_sync(2, 1));
    it.until("both to vote", |it| it.voters(2) == [1, 2]);
    it.must_write(2, 6000, 22);
    it.cluster.kill(2);
    it.promote(1);
    it.must_write(1, 8000, 23);
    it.demote(1);
    it.meet(&[0], &[1, 2]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    for block in [7, 5000, 6000, 8000] {
        assert_eq!(it.on_disk(1, block), it.on_disk(0, block), "block {block}");
    }
    it.cluster.start(2);
    it.until("the split brain", |it| it.is_split(0, 2) && it.is_split(2, 0));
    it.discard(2, 0);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    for block in [7, 5000, 6000, 8000] {
        assert_eq!(it.on_disk(2, block), it.on_disk(0, block), "block {block}");
    }
}

/// Node 2 accepted a value that was not chosen in the end, and went on alone from it: what was
/// acknowledged since the other one was chosen is not in its line.
#[test]
fn a_line_that_began_from_a_value_that_was_not_chosen_is_judged_by_the_one_before() {
    all_of((run_forks, "--forks"), [331, 51_151, 57_441], 6_000);
}

/// Node 0 still leads, and waits for a quorum; meanwhile the other two decided without it, and node
/// 1 went on from there. What a quorum chose is not given up for what was before it: node 2, which
/// remembers that, would let nobody lead. Node 0 is in doubt of that in another life, too, and goes
/// by an operator's word; unless it hears what was chosen from node 2, before that follows node 1.
#[test]
fn nobody_gives_way_to_one_that_was_overtaken() {
    for first in [0, 1] {
        let mut it = Scenario::with_quorum_off(3, 1);
        let demands = Demands { without_quorum: WithoutQuorum::Wait, ..Demands::default() };
        it.cluster.demand(0, demands);
        it.must_write(0, 7, 1);
        it.part(&[0], &[1, 2]);
        it.promote(1);
        it.must_write(1, 7, 20);
        it.part(&[1], &[2]);
        it.must_write(1, 8, 21);
        it.demote(1);
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.discard(1, 0);
        it.run(Duration::from_secs(3));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 8)), (20, 21));
        it.cluster.kill(0);
        it.cluster.start(0);
        it.until("its doubts", |it| it.is_split(0, 1));
        it.meet(&[first], &[2]);
        it.run(Duration::from_millis(100));
        it.meet(&[0, 1], &[2]);
        if first == 1 {
            it.discard(0, 1);
        }
        it.until("the return of node 0", |it| it.is_in_sync(1, 0) && it.is_in_sync(0, 0));
        assert_eq!((it.on_disk(0, 7), it.on_disk(0, 8)), (20, 21));
    }
}

/// A node that knows that it is not up to date does not take the lead by itself.
#[test]
fn an_outdated_replica_goes_on_alone_only_by_force() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.must_write(0, 7, 2);
    it.cluster.slow[2].write = Duration::from_secs(20);
    it.meet(&[0, 1], &[2]);
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[2].syncing));
    it.part(&[0, 1], &[2]);
    it.cluster.slow[2] = SlowDisk::default();
    let promoted = it.command(2, Command::Promote(PromoteMode::Normal));
    it.until("a refusal", |it| it.failed(promoted));
    it.force(2);
    assert_eq!(it.must_read(2, 7), 1);
}

/// Who decides by a quorum does not go on alone, and gives way to none.
#[test]
fn the_operator_may_force_a_node_without_a_quorum() {
    let mut it = Scenario::new(2, 0, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("a refusal", |it| it.failed(promoted));
    it.force(1);
    assert_eq!(it.must_read(1, 7), 1);
    it.must_write(1, 8, 2);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    assert_eq!(it.on_disk(0, 8), 2);
}

/// It holds requests, and knows all that was acknowledged here. If others went on, before or later,
/// that is a fork like any other.
#[test]
fn the_operator_may_force_a_primary_without_a_quorum() {
    for others_are_first in [false, true] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.part(&[0], &[1, 2]);
        let waiting = it.write(0, 7, 2);
        if others_are_first {
            it.promote(1);
            it.must_write(1, 7, 20);
        }
        it.run(Duration::from_secs(5));
        assert_eq!(it.ended(waiting), None);
        it.force(0);
        it.until("the write", |it| it.ended(waiting).is_some());
        assert_eq!((it.must_read(0, 7), it.losses(0), it.awaits_reopen(0)), (2, 0, true));
        if !others_are_first {
            it.promote(1);
            it.must_write(1, 7, 20);
        }
        it.must_write(0, 8, 3);
        it.meet(&[0], &[1, 2]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        assert_eq!((it.must_read(0, 7), it.must_read(1, 7)), (2, 20));
        it.demote(0);
        it.discard(0, 1);
        it.until("the return of node 0", |it| it.is_in_sync(1, 0) && it.voters(1) == [0, 1, 2]);
        assert_eq!((it.on_disk(0, 7), it.on_disk(0, 8)), (20, 0));
    }
}

/// Whoever did not go on meanwhile is copied what it missed: one in reach, too, is counted as gone.
#[test]
fn who_was_said_to_be_gone_is_behind() {
    let mut it = Scenario::new(5, 0, 0);
    it.must_write(0, 7, 1);
    (2..5).for_each(|node| it.cluster.kill(node));
    let waiting = it.write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
    it.force(0);
    it.until("the write", |it| it.ended(waiting).is_some());
    it.until("node 1", |it| it.is_in_sync(0, 1));
    (2..5).for_each(|node| it.cluster.start(node));
    it.until("all to vote", |it| it.voters(0) == [0, 1, 2, 3, 4]);
    assert!((0..5).all(|node| it.on_disk(node, 7) == 2));
}

/// The answer says what holds: nothing is done later that was refused, or is needed no more.
#[test]
fn a_primary_that_need_not_or_cannot_go_on_alone_is_not_forced_to() {
    let mut it = Scenario::new(3, 0, 0);
    it.force(0);
    it.run(Duration::from_secs(1));
    assert_eq!((it.voters(0), it.awaits_reopen(0)), (vec![0, 1, 2], false), "it has a quorum");
    // Its vote takes its time, and the others are back before it goes on.
    it.cluster.slow[0].save = Duration::from_secs(4);
    it.part(&[0], &[1, 2]);
    it.run(Duration::from_secs(2));
    let forced = it.command(0, Command::Promote(PromoteMode::Force));
    it.run(Duration::from_millis(10));
    it.meet(&[0], &[1, 2]);
    it.until("the answer", |it| it.succeeded(forced));
    it.cluster.slow[0] = SlowDisk::default();
    it.run(Duration::from_secs(10));
    assert_eq!((it.voters(0), it.awaits_reopen(0)), (vec![0, 1, 2], false), "they are back");

    let cannot = |it: &mut Scenario, reason: &str| {
        let forced = it.command(0, Command::Promote(PromoteMode::Force));
        it.until("a refusal", |it| it.failed(forced));
        let said = it.refusal(forced).unwrap();
        assert!(said.contains(reason), "{said}");
    };
    let mut it = Scenario::new(3, 0, 0);
    let detached = it.command(0, Command::Detach);
    it.until("the end of its replica", |it| it.succeeded(detached));
    it.part(&[0], &[1, 2]);
    it.run(Duration::from_secs(5));
    cannot(&mut it, "no disk");

    let mut it = Scenario::new(3, 0, 0);
    it.spoil_register(0);
    it.part(&[0], &[1, 2]);
    it.until("its failure", |it| it.cluster.is_mute(0));
    it.run(Duration::from_secs(5));
    cannot(&mut it, "state directory");

    let mut it = Scenario::new(3, 0, 0);
    it.part(&[0], &[1, 2]);
    it.run(Duration::from_secs(2));
    let stopped = it.command(0, Command::Stop);
    cannot(&mut it, "stopped");
    it.until("its end", |it| it.succeeded(stopped));
}

/// A Primary without a quorum that is to go on alone, at a time after it was told so; its register
/// takes as long as that for a write.
fn forced_and_then(millis: u64) -> (Scenario, CommandId) {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.slow[0].save = Duration::from_millis(50);
    it.part(&[0], &[1, 2]);
    it.run(Duration::from_secs(4));
    let forced = it.command(0, Command::Promote(PromoteMode::Force));
    it.run(Duration::from_millis(millis));
    (it, forced)
}

/// What is being decided may be chosen already: who asked for it hears of it when it is. The node
/// looked again and again whether it is time to give that up.
#[test]
fn a_word_that_is_being_followed_is_waited_for() {
    let mut waited = 0;
    for millis in (0..1000).step_by(20) {
        let (mut it, forced) = forced_and_then(millis);
        it.cluster.slow[0].save = Duration::from_secs(30);
        it.run(Duration::from_secs(25));
        if it.failed(forced) || it.succeeded(forced) {
            continue;
        }
        waited += 1;
        it.cluster.slow[0] = SlowDisk::default();
        it.until("the answer", |it| it.succeeded(forced));
        assert_eq!(it.voters(0), [0]);
    }
    assert!(waited > 0, "nothing was under way");
}

/// Its command stayed, and kept every other one about the role away.
#[test]
fn a_word_ends_where_the_register_that_it_needs_fails() {
    for millis in (0..1000).step_by(20) {
        let (mut it, forced) = forced_and_then(millis);
        it.spoil_register(0);
        it.until("an answer", |it| it.failed(forced) || it.succeeded(forced));
    }
}

/// So that the log of `replica` does not name what was written to the first extents, which it would
/// ask for by itself.
fn until_not_logged(it: &mut Scenario, primary: usize, replica: usize) {
    for round in 0..2 {
        for extent in 10..20 {
            it.must_write(primary, extent * EXTENT_BLOCKS + round, 5);
            let flushed = it.flush(primary);
            it.until("a flush", |it| it.ended(flushed).is_some());
        }
    }
    let is_logged = |it: &Scenario| it.is_logged(replica, 0) || it.is_logged(replica, 1);
    it.until("the end of the extents in the log", |it| !is_logged(it));
}

/// `node` returns to what `forced` has, whatever that is.
fn follows_the_forced(it: &mut Scenario, node: usize, forced: usize) {
    it.until("its return", |it| it.is_in_sync(forced, node));
    for block in [7, 1500] {
        assert_eq!(it.on_disk(node, block), it.on_disk(forced, block), "block {block}");
    }
}

/// The register is the one that it was, and names the node in sync: with the disk that it had. That
/// the other one lacks everything is not forgotten with the process.
#[test]
fn who_returns_to_a_new_disk_that_was_forced_is_copied_to_in_full() {
    let mut it = Scenario::new(2, 0, 0);
    it.must_write(0, 7, 1);
    it.must_write(0, 1500, 2);
    until_not_logged(&mut it, 0, 0);
    it.cluster.kill(1);
    it.cluster.kill(0);
    it.cluster.replace(1, Replaced::Disk);
    it.cluster.start(1);
    it.force(1);
    assert_eq!(it.must_read(1, 7), 0);
    it.cluster.kill(1);
    it.cluster.start(1);
    it.promote(1);
    it.cluster.start(0);
    follows_the_forced(&mut it, 0, 1);
}

/// Node 1 was the last one in sync; its slot for the other one is of an older day, like all that
/// its disk has.
#[test]
fn who_returns_to_an_older_image_that_was_forced_is_copied_to_in_full() {
    let mut it = Scenario::new(2, 0, 1);
    it.must_write(1, 7, 1);
    it.stop(0);
    it.must_write(1, 1500, 2);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    until_not_logged(&mut it, 1, 1);
    it.run(Duration::from_secs(1));
    let image = it.cluster.disk_image(1);
    it.must_write(1, 7, 3);
    it.must_write(1, 1500, 4);
    until_not_logged(&mut it, 1, 0);
    it.stop(0);
    it.stop(1);
    it.cluster.put_disk_image(1, image);
    it.cluster.start(1);
    it.force(1);
    assert_eq!(it.must_read(1, 7), 1);
    it.cluster.start(0);
    follows_the_forced(&mut it, 0, 1);
}

/// The connection breaks, and is there again before the Primary goes on by itself.
#[test]
fn a_connection_that_is_soon_back_begins_no_branch() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    let branch = it.status(0).map(|status| status.branch);
    it.cluster.reset_link(0, 1);
    it.must_write(0, 7, 2);
    it.run(Duration::from_secs(5));
    assert_eq!(it.status(0).map(|status| status.branch), branch);
    assert!(it.is_in_sync(0, 1));
}

/// Two nodes, of which the other one is back and about to vote again, and is cut off.
fn cut_while_it_was_to_vote() -> Scenario {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.must_write(0, 7, 2);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!(it.voters(0), [0]);
    it.part(&[0], &[1]);
    it
}

/// The connection breaks when the one that is back is to vote again, and did not hear of it: the
/// Primary waits neither for its vote nor for what became of the proposal.
#[test]
fn the_survivor_goes_on_though_the_other_one_was_about_to_vote() {
    let mut it = cut_while_it_was_to_vote();
    it.must_write(0, 7, 3);
    it.meet(&[0], &[1]);
    it.until("both to vote", |it| it.voters(0) == [0, 1]);
    assert_eq!(it.on_disk(1, 7), 3);
}

/// The Primary goes on alone meanwhile, on another branch: what it had copied before is not copied
/// again.
#[test]
fn a_full_copy_that_is_interrupted_goes_on_where_it_was() {
    for restarts in [false, true] {
        let mut it = Scenario::with_quorum_off(2, 0);
        it.must_write(0, 7, 1);
        it.cluster.kill(1);
        it.cluster.replace(1, Replaced::Disk);
        it.cluster.start(1);
        it.until("half of it", |it| it.status(0).unwrap().members[1].copied_blocks > ALL / 2);
        let branch = it.status(0).map(|status| status.branch);
        if restarts {
            it.cluster.kill(1);
        } else {
            it.part(&[0], &[1]);
        }
        it.run(Duration::from_secs(3));
        it.must_write(0, 9000, 2);
        assert!(!it.is_in_sync(0, 1) && it.status(0).map(|status| status.branch) != branch);
        if restarts {
            it.cluster.start(1);
        } else {
            it.meet(&[0], &[1]);
        }
        let copied = it.copied_until_in_sync(0, 1);
        assert!(copied < ALL * 3 / 4, "{copied} blocks were copied, restarts: {restarts}");
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9000)), (1, 2));
    }
}

/// It is back while the value without it is being chosen, is sent a write, and is away again
/// before it has that: nobody had marked the write for it.
#[test]
fn who_returns_while_the_other_one_goes_on_alone_gets_what_it_missed() {
    let mut alone = 0;
    for millis in (300..1200).step_by(10) {
        let mut it = cut_while_it_was_to_vote();
        // Its register takes long for the writes with which it goes on alone.
        it.cluster.slow[0].save = Duration::from_millis(50);
        it.run(Duration::from_millis(millis));
        it.meet(&[0], &[1]);
        it.run(Duration::from_millis(4));
        it.write(0, 9000, 3);
        it.run(Duration::from_micros(100));
        it.part(&[0], &[1]);
        it.run(Duration::from_secs(4));
        alone += u32::from(it.voters(0) == [0]);
        it.meet(&[0], &[1]);
        it.cluster.slow[0].save = Duration::ZERO;
        it.until("both to vote", |it| it.voters(0) == [0, 1] && it.is_in_sync(0, 1));
        assert_eq!(it.on_disk(0, 9000), it.on_disk(1, 9000), "{millis} ms");
    }
    assert!(alone > 0, "it never went on alone");
}

/// What was being decided when it began to go on alone goes on with the votes of others, once it
/// is clear that it cannot: its writes waited for members whose loss nobody proposed any more.
#[test]
fn who_cannot_go_on_alone_goes_on_with_the_votes_of_others() {
    for with_quorum_off in [true, false] {
        let mut it =
            if with_quorum_off { Scenario::with_quorum_off(3, 0) } else { Scenario::new(3, 0, 0) };
        it.must_write(0, 7, 1);
        it.cluster.slow[0].save = Duration::from_millis(50);
        it.part(&[0], &[1, 2]);
        if !with_quorum_off {
            it.run(Duration::from_secs(4));
            it.command(0, Command::Promote(PromoteMode::Force));
        }
        it.until("its beginning", |it| it.explains(0, "change: Some(Alone"));
        it.spoil_register(0);
        it.until("the failure", |it| it.cluster.is_mute(0));
        it.cluster.slow[0].save = Duration::ZERO;
        it.meet(&[0], &[1, 2]);
        let write = it.write(0, 9000, 3);
        it.until("the write", |it| it.ended(write).is_some());
        it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(0, node)));
        it.demote(0);
    }
}

/// Its own data is gone, and the others have all of it: it does not begin a line without data.
#[test]
fn who_loses_its_disk_while_it_goes_on_alone_stays_with_the_others() {
    let mut ended = 0;
    for millis in (0..120).step_by(10) {
        let mut it = Scenario::with_quorum_off(3, 0);
        it.must_write(0, 7, 1);
        it.cluster.slow[0].save = Duration::from_millis(50);
        it.part(&[0], &[1, 2]);
        it.until("its beginning", |it| it.explains(0, "change: Some(Alone"));
        it.run(Duration::from_millis(millis));
        if !it.explains(0, "change: Some(Alone") {
            continue;
        }
        it.cluster.bad[0] = BadDisk { write: true, ..BadDisk::default() };
        it.write(0, 9000, 2);
        it.run(Duration::from_millis(5));
        ended += u32::from(it.explains(0, "node 0: None None None"));
        it.run(Duration::from_secs(2));
        it.cluster.slow[0].save = Duration::ZERO;
    }
    assert!(ended > 0, "its disk never failed in time");
}

/// Budget: 30 s on two cores.
#[test]
fn no_seed_with_quorum_off_breaks_a_promise() {
    let set = of_this_run(1..=360);
    let total = all_of((run_forks, "--forks"), set.seeds, 6_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        assert!(total.writes > 4_000 && total.reads > 4_000 && total.kills > 20, "{total:?}");
        // Replicas that gave a line up because an operator said so.
        assert!(total.member_changes > 10, "{total:?}");
        assert!(total.marks.contains(&Mark::WentAlone) && total.marks.contains(&Mark::SplitBrain));
    }
}

/// Budget: 15 s on two cores.
#[test]
fn no_seed_with_forced_primaries_breaks_a_promise() {
    let set = of_this_run(1..=90);
    let total = all_of((run_forced, "--forced"), set.seeds, 6_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        assert!(total.writes > 2_000 && total.reads > 2_000 && total.kills > 10, "{total:?}");
        assert!(total.marks.contains(&Mark::WentAlone) && total.marks.contains(&Mark::SplitBrain));
    }
}
