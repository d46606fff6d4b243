//! State directories that take no write any more: the voter is mute, and its replica goes on.

use std::time::Duration;

use format::ids::EXTENT_BLOCKS;
use replication::contract::{Command, PromoteMode};
use simulator::scenario::Scenario;

/// Node 0 leads, and alone has the data in the end: nobody can do without what its replica writes
/// down. The two other voters decide.
#[test]
fn a_leader_that_cannot_write_its_register_loses_others_as_ever() {
    let mut it = Scenario::new(3, 1, 0);
    it.must_write(0, 7, 1);
    it.spoil_register(0);
    for value in [2, 3] {
        let detached = it.command(1, Command::Detach);
        it.until("the end of the disk", |it| it.succeeded(detached));
        it.must_write(0, 7, value);
        assert!(it.cluster.is_mute(0) && !it.is_in_sync(0, 1));
        it.attach(1);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    }
    it.demote_and_promote(0, 1);
    assert_eq!(it.must_read(1, 7), 3);
}

/// One of three is away, one is mute: whatever it was asked for last, the third decides nothing.
#[test]
fn a_mute_voter_is_missed_where_its_vote_is_needed() {
    for (phase, millis) in [("Preparing", 0), ("Accepting", 0), ("Accepting", 1)] {
        let mut it = Scenario::new(3, 0, 0);
        it.run(Duration::from_millis(millis));
        it.cluster.slow[0].save = Duration::from_millis(5);
        it.cluster.kill(2);
        it.until("the vote", |it| it.explains(0, phase));
        it.spoil_register(0);
        it.until("its failure", |it| it.cluster.is_mute(0));
        let part = it.write(0, 7, 1);
        it.run(Duration::from_secs(5));
        assert_eq!(it.ended(part), None, "one voter of three decided");
        it.cluster.start(2);
        it.until("the write", |it| it.ended(part).is_some());
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
    }
}

/// After a restart it votes again: a later leader needs it.
#[test]
fn a_voter_that_was_mute_votes_again_after_a_restart() {
    for (node, leader, other) in [(0, 1, 2), (1, 2, 0), (2, 1, 0)] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        it.spoil_register(node);
        it.demote(0);
        it.promote(1);
        assert!(it.cluster.is_mute(node));
        it.must_write(1, 7, 2);
        it.cluster.kill(node);
        if leader != 1 {
            it.promote(leader);
        }
        it.cluster.start(node);
        it.run(Duration::from_secs(2));
        it.until("all in sync", |it| (0..3).all(|node| it.is_in_sync(leader, node)));
        it.cluster.kill(other);
        it.must_write(leader, 7, 3);
    }
}

/// A majority at once: none of them is a new voter, or nobody would be left to admit it.
#[test]
fn all_voters_that_were_mute_decide_after_a_restart() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    for node in 0..3 {
        it.spoil_register(node);
    }
    it.command(0, Command::Demote);
    it.until("their failures", |it| (0..3).all(|node| it.cluster.is_mute(node)));
    it.run(Duration::from_secs(1));
    for node in 0..3 {
        it.cluster.kill(node);
        it.cluster.start(node);
    }
    it.promote(1);
    assert_eq!(it.must_read(1, 7), 1);
}

/// The replica of node 1 has what node 0 wrote, and its file says so, or still that it is of the
/// line that was left: the write that failed may have happened. The time until node 1 leads says
/// which.
fn with_a_mute_voter_that_gave_way(millis: u64) -> Scenario {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.run(Duration::from_millis(millis));
    it.must_write(0, 7, 1);
    it.part(&[0], &[1]);
    it.promote(1);
    it.must_write(0, 7, 10);
    it.must_write(1, 7, 20);
    it.demote(1);
    it.give_way_with_a_mute_voter(1, 0);
    it.must_write(0, 7, 30);
    it.cluster.kill(1);
    it.until("its loss", |it| !it.is_in_sync(0, 1));
    it
}

/// What its file says of the line that is left is no obstacle, in this life and in the next.
#[test]
fn a_replica_with_a_mute_voter_gives_way() {
    let mut was_split = [0; 2];
    for millis in 0..600 {
        let mut it = with_a_mute_voter_that_gave_way(millis);
        it.cluster.start(1);
        it.until("a meeting", |it| it.is_in_sync(0, 1) || it.is_split(1, 0));
        was_split[usize::from(it.is_split(1, 0))] += 1;
        it.until("its return in another life", |it| it.is_in_sync(0, 1));
        it.until("both to vote", |it| it.voters(0) == [0, 1]);
        assert_eq!(it.on_disk(1, 7), 30);
    }
    assert!(was_split.iter().all(|&times| times > 0), "{was_split:?}");
}

/// Alone it goes on with neither: its line is the one that was left, and its data is that of the
/// other one.
#[test]
fn a_replica_that_gave_way_leads_nothing_on_the_line_that_was_left() {
    for millis in (0..600).step_by(20) {
        let mut it = with_a_mute_voter_that_gave_way(millis);
        it.cluster.kill(0);
        it.cluster.start(1);
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.until("a refusal", |it| it.failed(promoted));
        it.cluster.start(0);
        it.promote(0);
        it.until("its return", |it| it.is_in_sync(0, 1));
        assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (30, 30));
    }
}

/// Node 1 gave the line that it has with node 2 up for that of node 0, and its register says so or
/// not; it is down, and nobody is Primary but node 0, which is out of reach.
fn with_a_mute_voter_that_left_another(millis: u64) -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.run(Duration::from_millis(millis));
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.promote(1);
    it.must_write(0, 7, 10);
    it.must_write(1, 1500, 20);
    // So that the log of node 2 does not name that extent any more.
    for extent in 10..20 {
        it.must_write(1, extent * EXTENT_BLOCKS, 21);
    }
    it.until("the end of its extent in the log", |it| !it.is_logged(2, 1));
    it.demote(1);
    it.part(&[1], &[2]);
    it.give_way_with_a_mute_voter(1, 0);
    it.cluster.kill(1);
    it.until("its loss", |it| !it.is_in_sync(0, 1));
    it.part(&[0], &[1]);
    it.meet(&[1], &[2]);
    it
}

/// The line is the one that was left, and the data that of the other one: of what node 2 wrote on
/// the former no slot here knows.
#[test]
fn who_returns_to_data_of_another_line_that_was_forced_is_copied_to_in_full() {
    let mut forced = 0;
    for millis in (0..200).step_by(20) {
        let mut it = with_a_mute_voter_that_left_another(millis);
        it.cluster.kill(2);
        it.cluster.start(1);
        it.force(1);
        it.cluster.start(2);
        it.until("a meeting", |it| it.is_in_sync(1, 2) || it.is_split(1, 2));
        if it.is_split(1, 2) {
            continue;
        }
        forced += 1;
        for block in [7, 1500] {
            assert_eq!(it.on_disk(2, block), it.on_disk(1, block), "block {block}");
        }
    }
    assert!(forced > 0, "its register named the other line each time");
}

/// Its replica is of the line of node 0. Clients use the one that it left, and it cannot leave that
/// now: it asks nobody to let it, and once they are gone it goes.
#[test]
fn who_serves_a_line_that_its_replica_left_waits_until_it_is_no_primary() {
    let mut served = 0;
    for millis in (0..200).step_by(20) {
        let mut it = with_a_mute_voter_that_left_another(millis);
        it.cluster.start(1);
        it.run(Duration::from_secs(1));
        if it.is_split(1, 2) {
            continue;
        }
        served += 1;
        it.promote(1);
        assert_eq!(it.must_read(1, 1500), 20);
        let before = it.cluster.connections(0, 1);
        it.meet(&[0], &[1]);
        it.run(Duration::from_secs(2));
        let times = it.cluster.connections(0, 1) - before;
        assert_eq!(times, 1, "they connected {times} times");
        assert_eq!(it.must_read(1, 1500), 20);
        it.demote(1);
        it.until("its return", |it| it.is_in_sync(0, 1));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 1500)), (10, 0));
    }
    assert!(served > 0, "its register named the other line each time");
}

/// Node 1 went on alone with those who leave, and gave way with a mute voter to the line that it
/// came from, on which those who stay go on by a quorum. It is down, as it was about to join there;
/// its file names the line that it left, if what is returned is one.
fn about_to_join_where_it_came_from(
    (stays, leaves): (&[usize], &[usize]),
    writes: u64,
) -> Option<Scenario> {
    let nodes = u8::try_from(stays.len() + leaves.len()).expect("a few");
    // So that the voters are odd.
    let mut it = Scenario::with_quorum_off(nodes, u8::from(stays.contains(&4)));
    (1..=writes).for_each(|write| it.must_write(0, 7, write));
    it.part(stays, leaves);
    it.promote(1);
    it.until("all who left to vote", |it| {
        leaves.iter().all(|&node| it.voters(node).len() == leaves.len())
    });
    it.must_write(0, 7, 100);
    it.must_write(1, 1500, 20);
    it.demote(1);
    // So that the epochs of its line are not those of the other one.
    it.promote(1);
    it.demote(1);
    leaves.iter().filter(|&&node| node != 1).for_each(|&node| it.part(&[1], &[node]));
    let left = it.accepted(1);
    it.almost_return_with_a_mute_voter(1, 0);
    it.cluster.kill(1);
    it.part(&[1], &[0]);
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 1500)), (100, 0));
    (it.accepted(1) == left).then_some(it)
}

/// Of the line that it left it has nothing any more.
#[test]
fn who_was_about_to_join_another_line_does_not_lead_the_one_that_it_left() {
    let mut behind = 0;
    for mut it in (1..=16).filter_map(|it| about_to_join_where_it_came_from((&[0, 2], &[1]), it)) {
        behind += 1;
        it.cluster.start(1);
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.until("an answer", |it| it.failed(promoted) || it.succeeded(promoted));
        assert!(it.failed(promoted));
        it.meet(&[0], &[1]);
        it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
        it.discard(1, 0);
        it.until("its return", |it| it.is_in_sync(0, 1));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 1500)), (100, 0));
    }
    assert!(behind > 0, "its register named the other line each time");
}

/// Node 3 has what was written on the line that node 1 left; it returns to that, and to no part of
/// what it got on the other one.
#[test]
fn who_was_about_to_join_another_line_returns_to_the_one_of_its_register() {
    let mut behind = 0;
    let sides: (&[usize], &[usize]) = (&[0, 2, 4], &[1, 3]);
    for mut it in (1..=16).filter_map(|it| about_to_join_where_it_came_from(sides, it)) {
        behind += 1;
        let before = it.on_disk(3, 7);
        it.meet(&[1], &[3]);
        it.cluster.start(1);
        it.promote(3);
        it.until("its return", |it| it.is_in_sync(3, 1));
        assert_eq!((it.must_read(3, 7), it.must_read(3, 1500)), (before, 20));
        assert_eq!((it.on_disk(1, 7), it.on_disk(1, 1500)), (before, 20));
    }
    assert!(behind > 0, "its register named the other line each time");
}

/// The last copy is of a new line only if the register may be asked about that: else nobody has
/// data for the line which that knows.
#[test]
fn a_node_whose_voter_is_mute_as_it_goes_alone_keeps_its_data() {
    for millis in (0..200).step_by(20) {
        let mut it = Scenario::with_quorum_off(2, 0);
        it.run(Duration::from_millis(millis));
        it.must_write(0, 7, 1);
        it.cluster.kill(1);
        it.until("its promise", |it| it.explains(0, "Accepting") && it.explains(0, "by: Alone"));
        it.spoil_register(0);
        it.until("its failure", |it| it.cluster.is_mute(0));
        it.run(Duration::from_secs(1));
        it.cluster.kill(0);
        it.cluster.start(0);
        it.promote(0);
        assert_eq!(it.must_read(0, 7), 1);
        it.must_write(0, 7, 2);
        it.cluster.start(1);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
        assert_eq!(it.on_disk(1, 7), 2);
    }
}

/// Node 1 was about to lead without the others as its register failed. The write may have happened.
fn with_a_promotion_that_ended_with_the_voter(nodes: u8, phase: &str, millis: u64) -> Scenario {
    let mut it = Scenario::with_quorum_off(nodes, 0);
    it.run(Duration::from_millis(millis));
    it.must_write(0, 7, 1);
    others_of_node_1(nodes).for_each(|node| it.cluster.kill(node));
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("a vote of its own", |it| it.explains(1, phase) && it.explains(1, "by: Alone"));
    it.spoil_register(1);
    it.until("its failure", |it| it.cluster.is_mute(1));
    it.until("a refusal", |it| it.failed(promoted));
    it
}

fn others_of_node_1(nodes: u8) -> impl Iterator<Item = usize> {
    (0..usize::from(nodes)).filter(|&node| node != 1)
}

fn phases_and_millis() -> impl Iterator<Item = (&'static str, u64)> {
    (0..100).step_by(20).flat_map(|at| [("Preparing", at), ("Accepting", at)])
}

/// By its one vote, which it has no more.
#[test]
fn a_promotion_alone_ends_with_the_voter() {
    for (phase, millis) in phases_and_millis() {
        let mut it = with_a_promotion_that_ended_with_the_voter(2, phase, millis);
        it.cluster.kill(1);
        it.cluster.start(1);
        it.promote(1);
        assert_eq!(it.must_read(1, 7), 1);
        it.cluster.start(0);
        it.until("the return of node 0", |it| it.is_in_sync(1, 0));
    }
}

/// Nobody heard of the line that it was about to begin: this life follows whoever goes on. The next
/// one may find it in its register, and sees that its replica left it.
#[test]
fn who_would_have_led_alone_follows_whoever_does() {
    for (phase, millis) in phases_and_millis() {
        let mut it = with_a_promotion_that_ended_with_the_voter(2, phase, millis);
        it.cluster.start(0);
        it.promote(0);
        it.must_write(0, 7, 2);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
        it.cluster.kill(1);
        it.cluster.start(1);
        it.must_write(0, 7, 3);
        it.until("its second return", |it| it.is_in_sync(0, 1));
        assert_eq!(it.on_disk(1, 7), 3);
    }
}

/// The others are a quorum without its vote.
#[test]
fn who_would_have_led_alone_leads_by_the_votes_of_others() {
    for (phase, millis) in phases_and_millis() {
        let mut it = with_a_promotion_that_ended_with_the_voter(3, phase, millis);
        others_of_node_1(3).for_each(|node| it.cluster.start(node));
        it.promote(1);
        assert_eq!(it.must_read(1, 7), 1);
        it.must_write(1, 7, 2);
        it.until("the return of all", |it| it.is_in_sync(1, 0) && it.is_in_sync(1, 2));
    }
}

/// By its one vote as well, on a line that it went on with alone before.
#[test]
fn a_promotion_on_a_line_of_one_voter_ends_with_the_voter() {
    for phase in ["Preparing", "Accepting"] {
        let mut it = Scenario::with_quorum_off(2, 0);
        it.cluster.kill(1);
        it.must_write(0, 7, 1);
        it.demote(0);
        let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
        it.until("a vote of its own", |it| it.explains(0, phase));
        assert!(it.explains(0, "by: Voters"));
        it.spoil_register(0);
        it.until("its failure", |it| it.cluster.is_mute(0));
        it.run(Duration::from_millis(10));
        let told = it.refusal(promoted).expect("nobody else says what becomes of it");
        assert!(told.contains("state directory"), "{told}");
        it.cluster.kill(0);
        it.cluster.start(0);
        it.promote(0);
        assert_eq!(it.must_read(0, 7), 1);
        it.cluster.start(1);
        it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    }
}
