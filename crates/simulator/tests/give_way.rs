//! Lines that parted, and whose side gives way by itself (PROTOCOL.md 9.5).

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::{
    AfterSplit, Command, Demands, PromoteMode, WithOnePrimary, WithTwoPrimaries, WithoutPrimary,
    WithoutQuorum,
};
use simulator::cluster::SlowDisk;
use simulator::scenario::Scenario;

/// Blocks of the volume.
const ALL: u64 = 20 * 1024;
/// Long enough for whoever gives way to do so.
const A_WHILE: Duration = Duration::from_secs(5);

fn by(none: WithoutPrimary) -> AfterSplit {
    AfterSplit { none, ..AfterSplit::default() }
}

fn demand(it: &mut Scenario, node: usize, after_split: AfterSplit) {
    let without_quorum = WithoutQuorum::GoOn;
    it.cluster.demand(node, Demands { without_quorum, after_split, ..Demands::default() });
}

/// Node 0 wrote on, and has more changes; node 1 became Primary when they parted. Both are Primary.
fn parted(after_split: AfterSplit) -> Scenario {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.demand_after_split(after_split);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1]);
    it.promote(1);
    for block in [7, 11, 12, 13] {
        it.must_write(0, block, 10 + block);
    }
    it.must_write(1, 7, 20);
    it.must_write(1, 5000, 21);
    it
}

/// Node 2 went on alone, and is no Primary any more; node 0 is, and node 1 with it.
fn third_parted() -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.demand_after_split(AfterSplit::default());
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.promote(2);
    it.must_write(2, 7, 30);
    it.demote(2);
    it.must_write(0, 7, 10);
    it
}

fn meet(it: &mut Scenario) {
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
}

/// `winner` has kept what it had, and `loser` has the same.
fn follows(it: &mut Scenario, loser: usize, winner: usize) {
    it.until("the return of the loser", |it| {
        it.is_in_sync(winner, loser) && it.is_in_sync(loser, winner)
    });
    let kept = if winner == 0 { (17, 0) } else { (20, 21) };
    for node in [winner, loser] {
        assert_eq!((it.on_disk(node, 7), it.on_disk(node, 5000)), kept, "node {node}");
    }
    it.until("both to vote", |it| it.voters(winner) == [0, 1]);
}

fn nobody_goes(it: &mut Scenario) {
    it.run(A_WHILE);
    assert!(it.is_split(0, 1) && it.is_split(1, 0));
    assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (17, 20));
}

#[test]
fn without_a_primary_the_options_name_the_one_that_goes() {
    let cases = [
        (WithoutPrimary::YoungerPrimary, 1),
        (WithoutPrimary::OlderPrimary, 0),
        (WithoutPrimary::LeastChanges, 1),
        (WithoutPrimary::Node(NodeId::new(0).unwrap()), 0),
        (WithoutPrimary::Node(NodeId::new(1).unwrap()), 1),
    ];
    for (none, loser) in cases {
        let mut it = parted(by(none));
        it.demote(0);
        it.demote(1);
        it.meet(&[0], &[1]);
        follows(&mut it, loser, 1 - loser);
    }
}

#[test]
fn local_and_remote_name_one_node_between_them() {
    let mut it = parted(AfterSplit::default());
    demand(&mut it, 0, by(WithoutPrimary::Remote));
    demand(&mut it, 1, by(WithoutPrimary::Local));
    it.demote(0);
    it.demote(1);
    it.meet(&[0], &[1]);
    follows(&mut it, 1, 0);
}

/// Each would give up its own data.
#[test]
fn options_that_differ_move_nobody() {
    let mut it = parted(by(WithoutPrimary::Local));
    it.demote(0);
    it.demote(1);
    meet(&mut it);
    nobody_goes(&mut it);
}

#[test]
fn without_options_nobody_goes() {
    let mut it = parted(AfterSplit::default());
    it.demote(0);
    it.demote(1);
    meet(&mut it);
    nobody_goes(&mut it);
}

#[test]
fn zero_changes_is_for_a_side_that_wrote_nothing() {
    let mut it = parted(by(WithoutPrimary::ZeroChanges));
    it.demote(0);
    it.demote(1);
    meet(&mut it);
    nobody_goes(&mut it);

    let mut it = Scenario::with_quorum_off(2, 0);
    it.demand_after_split(by(WithoutPrimary::ZeroChanges));
    it.must_write(0, 7, 1);
    // What may be under way counts as written.
    it.run(Duration::from_secs(1));
    it.part(&[0], &[1]);
    it.must_write(0, 7, 17);
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 1);
    it.demote(1);
    it.demote(0);
    it.meet(&[0], &[1]);
    follows(&mut it, 1, 0);
}

/// It counts as changed, whatever it wrote so far: its clients write at any time.
#[test]
fn a_primary_that_wrote_nothing_is_none_with_zero_changes() {
    let policy = AfterSplit { one: WithOnePrimary::Violently, ..by(WithoutPrimary::ZeroChanges) };
    let mut it = Scenario::with_quorum_off(2, 0);
    it.demand_after_split(policy);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1]);
    it.must_write(0, 7, 17);
    it.promote(1);
    it.demote(0);
    meet(&mut it);
    it.run(A_WHILE);
    it.must_write(1, 7, 20);
    nobody_goes(&mut it);
}

#[test]
fn a_secondary_gives_way_to_the_primary() {
    for primary in [0, 1] {
        let one = WithOnePrimary::Secondary;
        let mut it = parted(AfterSplit { one, ..AfterSplit::default() });
        it.demote(1 - primary);
        it.meet(&[0], &[1]);
        follows(&mut it, 1 - primary, primary);
        it.must_write(primary, 7, 50);
        assert_eq!(it.on_disk(1 - primary, 7), 50);
    }
}

#[test]
fn only_what_differs_is_copied() {
    let one = WithOnePrimary::Secondary;
    let mut it = parted(AfterSplit { one, ..AfterSplit::default() });
    it.demote(1);
    it.meet(&[0], &[1]);
    let most = std::cell::Cell::new(0);
    it.until("the return of the loser", |it| {
        let status = it.status(0).expect("the node is up");
        most.set(most.get().max(status.members[1].copied_blocks));
        it.is_in_sync(0, 1)
    });
    assert!(most.get() < ALL / 2, "{} blocks were copied", most.get());
}

#[test]
fn by_consensus_the_primary_never_goes() {
    let policy = AfterSplit { one: WithOnePrimary::Consensus, ..by(WithoutPrimary::LeastChanges) };
    let mut it = parted(policy);
    it.demote(1);
    it.meet(&[0], &[1]);
    follows(&mut it, 1, 0);

    let mut it = parted(policy);
    it.demote(0);
    meet(&mut it);
    nobody_goes(&mut it);
    it.must_write(1, 7, 20);
}

#[test]
fn violently_the_primary_goes_and_its_clients_hear_of_it() {
    let one = AfterSplit { one: WithOnePrimary::Violently, ..by(WithoutPrimary::LeastChanges) };
    let mut it = parted(one);
    it.demote(0);
    it.meet(&[0], &[1]);
    follows(&mut it, 1, 0);
    assert!(!it.cluster.is_primary(1));

    let two = AfterSplit { two: WithTwoPrimaries::Violently, ..by(WithoutPrimary::LeastChanges) };
    let mut it = parted(two);
    it.meet(&[0], &[1]);
    follows(&mut it, 1, 0);
    assert!(it.cluster.is_primary(0) && !it.cluster.is_primary(1));
    it.must_write(0, 7, 50);
    assert_eq!(it.on_disk(1, 7), 50);
}

#[test]
fn two_primaries_stay_apart_otherwise() {
    let policy = AfterSplit { one: WithOnePrimary::Secondary, ..by(WithoutPrimary::LeastChanges) };
    let mut it = parted(policy);
    meet(&mut it);
    nobody_goes(&mut it);
    // Until one is told to be none.
    it.demote(0);
    follows(&mut it, 0, 1);
}

/// By the operator's word: the second one is refused, or both are.
#[test]
fn both_are_told_and_never_both_go() {
    for micros in (0..3000).step_by(100) {
        let mut it = parted(AfterSplit::default());
        it.demote(0);
        it.demote(1);
        meet(&mut it);
        it.command(0, Command::DiscardData { peer: None });
        it.run(Duration::from_micros(micros));
        it.command(1, Command::DiscardData { peer: None });
        it.run(A_WHILE);
        if it.is_split(0, 1) {
            nobody_goes(&mut it);
            it.discard(1, 0);
            follows(&mut it, 1, 0);
        } else {
            let kept = it.on_disk(0, 7);
            assert!(kept == 17 || kept == 20, "{kept}");
            it.until("equal replicas", |it| it.on_disk(1, 7) == kept);
        }
    }
}

/// They meet with the wish of both.
#[test]
fn both_were_told_before_they_met_and_nobody_goes() {
    let mut it = parted(AfterSplit::default());
    it.demote(0);
    it.demote(1);
    it.discard(0, 1);
    it.discard(1, 0);
    meet(&mut it);
    nobody_goes(&mut it);
}

/// The word would lie there, and give up without a question what clients write after some later
/// split brain.
#[test]
fn nobody_is_told_to_give_way_where_nothing_parted() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.demand_after_split(AfterSplit::default());
    it.must_write(0, 7, 1);
    for peer in [None, NodeId::new(0)] {
        let refused = it.command(1, Command::DiscardData { peer });
        it.until("a refusal", |it| it.failed(refused));
    }
}

/// The operator spoke of what there was when the node was told.
#[test]
fn what_was_written_since_a_node_was_told_to_give_way_is_not_given_up() {
    let mut it = parted(AfterSplit::default());
    it.demote(1);
    it.discard(1, 0);
    it.promote(1);
    it.must_write(1, 5000, 22);
    it.demote(1);
    meet(&mut it);
    nobody_goes(&mut it);
}

/// One of three went on alone. Of the others the operator tells one to give way to it, when it
/// comes; then clients write to those two, and only that one of them is left.
#[test]
fn a_word_ends_when_clients_write_to_the_replica_through_another_node() {
    let mut it = third_parted();
    it.demote(0);
    it.discard(1, 2);
    it.promote(0);
    it.must_write(0, 7, 20);
    let refused = it.command(1, Command::DiscardData { peer: NodeId::new(2) });
    it.until("a refusal", |it| it.failed(refused));
    it.cluster.kill(0);
    it.meet(&[1], &[2]);
    it.until("the split brain", |it| it.is_split(1, 2));
    it.run(A_WHILE);
    assert_eq!((it.on_disk(1, 7), it.on_disk(2, 7)), (20, 30));
}

/// Who is to take over goes before it answers, and clients write on to the one that was told.
#[test]
fn a_word_ends_where_who_was_asked_goes_away() {
    for micros in (0..4000).step_by(100) {
        let mut it = third_parted();
        it.meet(&[1], &[2]);
        it.until("the split brain", |it| it.is_split(1, 2) && it.is_split(2, 1));
        it.command(1, Command::DiscardData { peer: NodeId::new(2) });
        it.run(Duration::from_micros(micros));
        it.part(&[1], &[2]);
        it.run(A_WHILE);
        if !it.is_in_sync(1, 1) {
            continue;
        }
        it.must_write(0, 7, 20);
        assert_eq!(it.on_disk(1, 7), 20);
        it.cluster.kill(0);
        it.meet(&[1], &[2]);
        it.run(A_WHILE);
        assert_eq!(it.on_disk(1, 7), 20, "{micros} us after the word");
    }
}

/// Who is asked by the first one may have agreed already.
#[test]
fn the_last_word_is_the_one_that_counts() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.part(&[1], &[2]);
    it.must_write(0, 7, 10);
    for (node, value) in [(1, 20), (2, 30)] {
        it.promote(node);
        it.must_write(node, 7, value);
        it.demote(node);
    }
    it.meet(&[1], &[0, 2]);
    it.until("the split brain", |it| it.is_split(1, 0) && it.is_split(1, 2) && it.is_split(2, 1));
    it.command(1, Command::DiscardData { peer: NodeId::new(2) });
    it.discard(1, 0);
    it.run(A_WHILE);
    assert_eq!(it.on_disk(1, 7), 10);
}

/// A word that is given in the moment in which they meet is heeded.
#[test]
fn who_is_told_while_they_meet_gives_way() {
    for micros in (0..6000).step_by(100) {
        let mut it = parted(AfterSplit::default());
        it.demote(1);
        it.meet(&[0], &[1]);
        it.run(Duration::from_micros(micros));
        it.discard(1, 0);
        follows(&mut it, 1, 0);
    }
}

/// Node 0 died when it had written down that it lost node 1, and takes itself for one that may have
/// gone on; to node 1 it is behind. Node 1 is told to give way to node 2 when node 0 is to do so to
/// node 1.
#[test]
fn who_agreed_is_bound_though_it_sees_no_split_brain() {
    // Node 1 leads first, to let its value say what clients lose.
    for micros in (0..3000).step_by(100).chain((3000..240_000).step_by(1000)) {
        let mut it = Scenario::with_quorum_off(3, 0);
        let without_quorum = WithoutQuorum::Wait;
        it.cluster.demand(0, Demands { without_quorum, ..Demands::default() });
        it.must_write(0, 7, 1);
        it.part(&[0], &[1, 2]);
        it.run(Duration::from_secs(1));
        it.cluster.kill(0);
        it.promote(1);
        it.must_write(1, 7, 20);
        it.part(&[1], &[2]);
        it.must_write(1, 8, 21);
        it.demote(1);
        it.promote(2);
        it.must_write(2, 8, 30);
        it.demote(2);
        it.meet(&[1], &[2]);
        it.until("the split brain", |it| it.is_split(1, 2) && it.is_split(2, 1));
        it.cluster.start(0);
        it.meet(&[0], &[1]);
        it.until("its doubts", |it| it.is_split(0, 1));
        assert!(!it.is_split(1, 0));
        it.cluster.slow[0].save = Duration::from_millis(20);
        it.cluster.slow[1].save = Duration::from_millis(20);
        it.command(0, Command::DiscardData { peer: None });
        it.run(Duration::from_micros(micros));
        it.command(1, Command::DiscardData { peer: NodeId::new(2) });
        for _ in 0..600 {
            assert!(!it.gives_up(0) || !it.gives_up(1), "both, {micros} us apart");
            it.run(Duration::from_micros(500));
        }
    }
}

/// Members of a line follow whoever leads it.
#[test]
fn the_smaller_side_of_three_gives_way_and_so_do_two() {
    for loser in [0, 2] {
        let node = |number| WithoutPrimary::Node(NodeId::new(number).unwrap());
        let mut it = Scenario::with_quorum_off(3, 0);
        it.must_write(0, 7, 1);
        it.part(&[0, 1], &[2]);
        it.promote(2);
        it.must_write(0, 7, 10);
        it.must_write(2, 7, 20);
        it.must_write(2, 8, 21);
        if loser == 2 {
            it.demand_after_split(by(node(2)));
        } else {
            it.demand_after_split(by(WithoutPrimary::LeastChanges));
        }
        it.demote(0);
        it.demote(2);
        it.meet(&[0, 1], &[2]);
        it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(2, node)));
        let kept = if loser == 2 { (10, 0) } else { (20, 21) };
        for node in 0..3 {
            assert_eq!((it.on_disk(node, 7), it.on_disk(node, 8)), kept, "node {node}");
        }
        it.until("all to vote", |it| it.voters(2) == [0, 1, 2]);
    }
}

/// Node 1 is being copied to when node 2, whose data that is, gives way to node 0: of the line that
/// node 1 began to follow nobody has the data any more.
#[test]
fn a_replica_in_mid_copy_leaves_the_line_with_the_last_of_its_data() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.demand_after_split(by(WithoutPrimary::Node(NodeId::new(2).unwrap())));
    it.must_write(0, 7, 1);
    it.part(&[0, 2], &[1]);
    it.must_write(0, 7, 10);
    it.part(&[0], &[2]);
    it.must_write(0, 8, 11);
    it.demote(0);
    it.cluster.slow[1].write = Duration::from_secs(20);
    it.meet(&[1], &[2]);
    it.promote(2);
    it.must_write(2, 7, 20);
    it.until("a resync", |it| it.status(2).is_some_and(|status| status.members[1].syncing));
    it.part(&[1], &[2]);
    it.demote(2);
    it.cluster.slow[1] = SlowDisk::default();
    it.meet(&[0], &[2]);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    it.meet(&[0, 2], &[1]);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    for node in 0..3 {
        assert_eq!((it.on_disk(node, 7), it.on_disk(node, 8)), (10, 11), "node {node}");
    }
}

/// The loser loses its power at any moment of it, and goes on with it.
#[test]
fn a_loser_that_dies_meanwhile_gives_way_after_its_start() {
    for micros in (0..8_000).step_by(200) {
        let mut it = parted(by(WithoutPrimary::Node(NodeId::new(1).unwrap())));
        it.demote(0);
        it.demote(1);
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(1, 0));
        it.run(Duration::from_micros(micros));
        it.cluster.cut_power(1);
        it.cluster.start(1);
        follows(&mut it, 1, 0);
    }
}

/// Node 1 has a line of its own, which is to go, after so many writes to the common one. The others
/// go on; of node 2's replica, which was made anew since, no slot of node 1 says anything, so that
/// node 1 becomes a blank one when it gives way.
fn parted_from_a_new_replica(writes: usize) -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.demand_after_split(by(WithoutPrimary::Node(NodeId::new(1).expect("a node"))));
    (0..writes).for_each(|_| it.must_write(0, 7, 1));
    it.part(&[0, 2], &[1]);
    it.promote(1);
    it.must_write(0, 7, 10);
    it.must_write(1, 7, 20);
    it.demote(1);
    let made_anew = it.command(2, Command::Invalidate);
    it.until("its loss", |it| it.succeeded(made_anew) && !it.is_in_sync(0, 2));
    it.until("the return of node 2", |it| it.is_in_sync(0, 2) && it.is_in_sync(2, 2));
    it
}

/// The same where its slots do not say what differs: its replica becomes another one, that knows
/// nothing, before its register hears of it.
#[test]
fn a_loser_without_marks_that_dies_meanwhile_gives_way_after_its_start() {
    for micros in (0..8_000).step_by(200) {
        let mut it = parted_from_a_new_replica(1);
        it.demote(0);
        let before = it.incarnation(1);
        it.meet(&[0, 2], &[1]);
        it.until("the split brain", |it| it.is_split(1, 0) || it.is_split(1, 2));
        it.run(Duration::from_micros(micros));
        it.cluster.cut_power(1);
        it.cluster.start(1);
        it.until("its return", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 0));
        assert_ne!(it.incarnation(1), before);
        assert_eq!(it.on_disk(1, 7), 10);
    }
}

/// Node 1 gave its line up for that of node 2 with a mute voter, and is in sync there: its file may
/// still name the line that it left. It has the data of node 2 then, and meets a third line.
#[test]
fn data_of_a_line_that_the_register_does_not_know_is_not_given_up_for_a_third_one() {
    let mut behind = 0;
    // Whether the write that fails happens is chance.
    for writes in 1..=16 {
        let mut it = parted_from_a_new_replica(writes);
        it.part(&[0], &[2]);
        it.must_write(0, 7, 11);
        it.demote(0);
        it.promote(2);
        it.must_write(2, 7, 30);
        it.demote(2);
        let left = it.accepted(1);
        it.spoil_register(1);
        it.meet(&[1], &[2]);
        it.until("its return", |it| it.is_in_sync(2, 1));
        assert!(it.cluster.is_mute(1));
        it.run(Duration::from_secs(1));
        it.cluster.kill(1);
        it.part(&[1], &[2]);
        it.cluster.start(1);
        it.run(Duration::from_secs(1));
        behind += usize::from(it.accepted(1) == left);
        let before = it.incarnation(1);
        it.meet(&[0], &[1]);
        it.run(A_WHILE);
        assert_eq!((it.incarnation(1), it.on_disk(1, 7)), (before, 30));
        // The line of its data is the one that it goes on with, once it is in reach.
        it.meet(&[1], &[2]);
        it.until("its return", |it| it.is_in_sync(2, 1) && it.is_in_sync(1, 1));
        assert_eq!((it.incarnation(1), it.on_disk(1, 7)), (before, 30));
    }
    assert!(behind > 0, "its register named the other line each time");
}

/// Node 2 went on alone early; the others wrote block 7 to both of them and led in turn, until each
/// went on alone, too. Node 1 gave its line up for that of node 2, with a mute voter, and starts
/// with the register of before: it knows where the line that it left and that of node 0 parted,
/// which says nothing of the data that it has.
fn copied_on_an_early_line(writes: u64) -> Option<Scenario> {
    let mut it = Scenario::with_quorum_off(3, 0);
    (1..=writes).for_each(|write| it.must_write(0, 7, write));
    it.part_node_2_that_goes_on();
    for _ in 0..4 {
        it.demote_and_promote(0, 1);
        it.demote_and_promote(1, 0);
    }
    it.part(&[0], &[1]);
    it.promote(1);
    it.demote(1);
    it.until("node 0 to go on", |it| it.voters(0) == [0]);
    it.demote(0);
    let left = it.accepted(1);
    it.give_way_with_a_mute_voter(1, 2);
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 5000)), (writes, 30));
    it.run(Duration::from_secs(1));
    it.cluster.kill(1);
    it.part(&[1], &[2]);
    it.cluster.start(1);
    it.run(Duration::from_secs(1));
    (it.accepted(1) == left).then_some(it)
}

/// What node 2 had in place of what both of the others wrote is in no slot of theirs.
#[test]
fn data_of_a_line_that_the_register_does_not_know_is_given_up_in_full() {
    // Whether the write that fails happens is chance.
    let mut behind = 0;
    for mut it in (1..=16).filter_map(copied_on_an_early_line) {
        behind += 1;
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.discard(1, 0);
        it.until("its return", |it| it.is_in_sync(0, 1) && it.is_in_sync(1, 1));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 5000)), (100, 0));
    }
    assert!(behind > 0, "its register named the other line each time");
}

/// Node 1 is to go and asks; it becomes Primary before the answer is there, and by that node 0 is
/// the one to go. Whoever agreed to what nobody wants any more is not bound by it.
#[test]
fn who_agreed_is_free_again_when_the_question_was_withdrawn() {
    let node_1 = WithoutPrimary::Node(NodeId::new(1).unwrap());
    let policy = AfterSplit { one: WithOnePrimary::Secondary, ..by(node_1) };
    let mut outcomes = [0; 2];
    // Node 0 leads first, to let its value say what clients lose.
    for micros in (0..3000).step_by(50).chain((3000..240_000).step_by(1000)) {
        let mut it = parted(policy);
        it.demote(0);
        it.demote(1);
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(1, 0));
        it.run(Duration::from_micros(micros));
        it.command(1, Command::Promote(PromoteMode::Normal));
        it.run(A_WHILE);
        let loser = if it.on_disk(0, 7) == 17 { 1 } else { 0 };
        follows(&mut it, loser, 1 - loser);
        outcomes[loser] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 0), "{outcomes:?}");
}

/// Whatever node 0 does to say what the clients of node 1 lose is no reason for node 1 to ask anew,
/// however long messages take: it would be counted again, and node 1 would never go.
#[test]
fn a_line_that_gives_way_far_away_is_counted_once() {
    let node_1 = WithoutPrimary::Node(NodeId::new(1).unwrap());
    let one = AfterSplit { one: WithOnePrimary::Secondary, ..by(node_1) };
    let by_word = AfterSplit::default();
    for millis in [0, 5, 20, 60, 150] {
        for (policy, serves) in
            [(by(node_1), false), (one, true), (by_word, false), (by_word, true)]
        {
            let mut it = parted(policy);
            it.demote(1);
            if !serves {
                it.demote(0);
            }
            it.cluster.far_apart = Duration::from_millis(millis);
            if policy == by_word {
                meet(&mut it);
                it.discard(1, 0);
            } else {
                it.meet(&[0], &[1]);
            }
            follows(&mut it, 1, 0);
            let told = (it.losses(0), it.awaits_reopen(0));
            assert_eq!(told, (u32::from(!serves), true), "{millis} ms, {policy:?}");
        }
    }
}
