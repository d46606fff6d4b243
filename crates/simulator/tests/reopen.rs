//! Losses, and the operator's word after them (C5): the value says that clients wait which cannot
//! tell of losses, at every node and over every change of the leader, until somebody says `reopen`.

use std::time::Duration;

use format::ids::NodeId;
use replication::contract::{AfterSplit, Command, PromoteMode, WithoutPrimary};
use replication::limits::UNFORCED_PATIENCE;
use simulator::run::run_with_protocols;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

/// Node 0 died with what the follower, node 1, did not have yet, and the operator took node 1.
fn with_losses() -> Scenario {
    let mut it = Scenario::with_followers(3, 1, &[1], 1);
    it.must_write(0, 7, 1);
    it.until("a follower", |it| it.follows(0, 1));
    it.cluster.kill(0);
    assert!(!it.awaits_reopen(1));
    it.force(1);
    assert_eq!((it.losses(1), it.awaits_reopen(1)), (1, true));
    it.cluster.start(0);
    it.until("its return", |it| it.is_in_sync(1, 0));
    it
}

fn reopen(it: &mut Scenario, node: usize) {
    let said = it.command(node, Command::Reopen);
    it.until("the answer", |it| it.succeeded(said));
}

#[test]
fn a_birth_awaits_nothing_and_reopen_is_nothing_there() {
    let mut it = Scenario::new(3, 0, 0);
    assert!((0..3).all(|node| !it.awaits_reopen(node)));
    reopen(&mut it, 0);
    assert_eq!(it.losses(0), 0);
}

#[test]
fn the_primary_after_the_next_one_awaits_it_still() {
    let mut it = with_losses();
    it.demote_and_promote(1, 0);
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (1, true));
    let elsewhere = it.command(1, Command::Reopen);
    it.until("the refusal", |it| it.failed(elsewhere));
    reopen(&mut it, 0);
    it.run(Duration::from_secs(1));
    assert_eq!((it.losses(1), it.awaits_reopen(1)), (1, false));
    it.demote_and_promote(0, 1);
    assert!(!it.awaits_reopen(1), "it was said once for all");
}

#[test]
fn it_is_recorded_where_nobody_is_primary() {
    let mut it = with_losses();
    let demoted = it.command(1, Command::Demote);
    it.until("the end of the session", |it| it.succeeded(demoted));
    it.run(Duration::from_millis(100));
    reopen(&mut it, 0);
    it.until("the news", |it| !it.awaits_reopen(1));
    it.promote(1);
    assert!(!it.awaits_reopen(1));
}

/// What the operator looked at is not what there is.
#[test]
fn losses_that_come_later_are_awaited_again() {
    let mut it = with_losses();
    reopen(&mut it, 1);
    it.until("a follower", |it| it.follows(0, 1) || it.is_in_sync(1, 0));
    it.cluster.kill(1);
    it.cluster.kill(2);
    it.run(Duration::from_millis(100));
    it.force(0);
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (2, true));
}

/// Both were typed before either was done. Node 1 died with what node 0 does not have.
#[test]
fn a_word_is_not_about_losses_that_come_before_it_is_recorded() {
    for later in (0..300).step_by(5) {
        let mut it = with_losses();
        it.cluster.kill(0);
        it.until("its loss", |it| !it.is_in_sync(1, 0));
        it.must_write(1, 7, 2);
        it.cluster.kill(1);
        it.cluster.start(0);
        let forced = it.command(0, Command::Promote(PromoteMode::Force));
        it.run(UNFORCED_PATIENCE - Duration::from_millis(100) + Duration::from_millis(later));
        if it.succeeded(forced) {
            assert!(later >= 100, "it is not tried before");
            return;
        }
        let said = it.command(0, Command::Reopen);
        it.until("an answer", |it| it.succeeded(said) || it.failed(said));
        it.until("a forced promotion", |it| it.succeeded(forced));
        assert_eq!((it.losses(0), it.awaits_reopen(0)), (2, true), "{later} ms later");
    }
    unreachable!("it is over by then");
}

#[test]
fn an_operator_without_a_quorum_is_told() {
    let mut it = with_losses();
    it.cluster.kill(1);
    it.cluster.kill(2);
    let said = it.command(0, Command::Reopen);
    it.until("the refusal", |it| it.failed(said));
    assert!(it.awaits_reopen(0));
}

/// Both nodes serve clients while they are parted; node 1 stops, and they meet.
fn part_and_meet(it: &mut Scenario, block: u64, contents: [u64; 2]) {
    it.part(&[0], &[1]);
    it.promote(1);
    it.must_write(0, block, contents[0]);
    it.must_write(1, block, contents[1]);
    it.demote(1);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
}

fn with_two_lines() -> Scenario {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    part_and_meet(&mut it, 7, [10, 20]);
    it
}

/// The clients of node 1 found other data at the next Primary, and nobody had told them. Those of
/// node 0 lost nothing: what they hold on to stays as it is.
#[test]
fn clients_of_a_line_that_gave_way_are_told() {
    let mut it = with_two_lines();
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (0, true));
    it.demote_and_promote(0, 1);
    assert_eq!((it.losses(1), it.awaits_reopen(1)), (0, true));
    reopen(&mut it, 1);
    it.run(Duration::from_secs(5));
    assert!(!it.awaits_reopen(0) && !it.awaits_reopen(1), "it was said once for all");
}

/// Where nobody is served everybody is told.
#[test]
fn a_line_that_gave_way_to_one_without_clients_counts_as_a_loss() {
    let mut it = with_two_lines();
    it.demote(0);
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (1, true));
    it.promote(1);
    assert_eq!((it.losses(1), it.awaits_reopen(1)), (1, true));
}

/// The power of a node fails, which goes on without what its disk had not written for good.
fn lose_and_lead(it: &mut Scenario, node: usize) {
    it.cluster.cut_power(node);
    it.cluster.start(node);
    it.promote(node);
    assert_eq!((it.losses(node), it.awaits_reopen(node)), (1, true));
}

/// NVMe hosts know a volume by its losses. Those of node 1 were told of one that those of node 0
/// were not.
#[test]
fn more_losses_are_counted_than_on_the_line_that_gave_way() {
    let mut it = Scenario::with_quorum_off(2, 0);
    it.must_write(0, 7, 1);
    it.part(&[0], &[1]);
    lose_and_lead(&mut it, 1);
    it.must_write(0, 7, 10);
    it.must_write(1, 7, 20);
    it.demote(0);
    it.demote(1);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    assert_eq!((it.losses(0), it.losses(1)), (0, 1));
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (2, true));
}

/// Both lines have one loss, for which they wait still. Node 0 copies to node 2, without clients,
/// when node 1 gives way to it.
#[test]
fn a_session_without_clients_counts_a_line_while_it_awaits_reopen() {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.cluster.cut_power(1);
    it.cluster.cut_power(2);
    it.cluster.cut_power(0);
    it.cluster.start(1);
    it.cluster.start(2);
    it.cluster.start(0);
    it.promote(0);
    it.until("the others", |it| {
        (0..3).all(|node| it.is_in_sync(node, 1) && it.is_in_sync(node, 2))
    });
    it.part(&[0, 2], &[1]);
    it.promote(1);
    it.must_write(1, 7, 20);
    it.part(&[0], &[2]);
    it.must_write(0, 7, 10);
    it.demote(0);
    it.demote(1);
    it.cluster.slow[2].write = Duration::from_secs(20);
    it.meet(&[0], &[2]);
    it.until("a resync", |it| it.status(0).is_some_and(|status| status.members[2].syncing));
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    assert_eq!((it.losses(0), it.losses(1), it.awaits_reopen(0)), (1, 1, true));
    it.discard(1, 0);
    it.until("its end", |it| it.gives_up(1));
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (2, true));
}

/// Nodes 0 and 1 are one line. Node 2 went on alone; it is none with a role any more, and reaches
/// nobody.
fn with_a_lone_node() -> Scenario {
    let mut it = Scenario::with_quorum_off(3, 0);
    it.must_write(0, 7, 1);
    it.part(&[0, 1], &[2]);
    it.promote(2);
    it.must_write(0, 7, 10);
    it.must_write(2, 7, 20);
    it.demote(2);
    it
}

/// Node 1 agrees, and follows node 0, which node 2 does not reach.
#[test]
fn who_leads_says_what_another_node_agreed_to() {
    for reopens in [false, true] {
        let mut it = with_a_lone_node();
        it.meet(&[1], &[2]);
        it.until("the split brain", |it| it.is_split(1, 2) && it.is_split(2, 1));
        it.discard(2, 1);
        it.until("its end", |it| it.gives_up(2));
        assert_eq!((it.losses(0), it.awaits_reopen(0)), (0, true));
        it.meet(&[0], &[2]);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        if reopens {
            reopen(&mut it, 0);
        }
        it.demote_and_promote(0, 1);
        assert_eq!((it.losses(1), it.awaits_reopen(1)), (0, !reopens), "it was said once");
    }
}

/// Nobody leads when node 1 agrees, and hears of it by the options; then node 0 does.
#[test]
fn who_leads_next_says_what_another_node_agreed_to() {
    for millis in 0..20 {
        let mut it = with_a_lone_node();
        let none = WithoutPrimary::Node(NodeId::new(2).unwrap());
        it.demand_after_split(AfterSplit { none, ..AfterSplit::default() });
        it.demote(0);
        it.meet(&[1], &[2]);
        it.until("the split brain", |it| it.is_split(1, 2));
        it.run(Duration::from_millis(millis));
        it.meet(&[0], &[2]);
        it.until("the return of node 2", |it| it.is_in_sync(0, 2));
        assert_eq!((it.losses(0), it.awaits_reopen(0)), (1, true), "{millis} ms");
        it.promote(1);
        assert_eq!(it.losses(1), 1, "it was counted once, {millis} ms");
    }
}

/// The operator looked at the data before another line was given up for it.
#[test]
fn a_word_is_not_about_a_line_that_gives_way_before_it_is_recorded() {
    let mut it = with_two_lines();
    it.discard(1, 0);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1) && it.voters(0) == [0, 1]);
    it.run(Duration::from_secs(1));
    part_and_meet(&mut it, 8, [1, 2]);
    it.cluster.slow[0].save = Duration::from_millis(500);
    let said = it.command(0, Command::Reopen);
    it.discard(1, 0);
    it.until("the refusal", |it| it.failed(said));
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert!(it.awaits_reopen(0));
}

#[test]
fn nobody_lets_clients_go_on_but_an_operator() {
    let set = of_this_run(1001..=1020);
    let total = all_of((run_with_protocols, "--protocols"), set.seeds, 6_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        for mark in [Mark::LossesCounted, Mark::ReopenAsked] {
            assert!(total.marks.contains(&mark), "{mark:?} never happened");
        }
    }
}
