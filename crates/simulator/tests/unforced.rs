//! `primary --force` where `primary` would do: nothing is given up, and who asked is told.

use std::time::Duration;

use format::ids::Branch;
use replication::contract::{Command, CommandDone, CommandId, PromoteMode};
use simulator::scenario::Scenario;

/// What a node tells that somebody lost, and whether its clients wait for `reopen`.
fn given_up(it: &Scenario, node: usize) -> (u32, bool) {
    (it.losses(node), it.awaits_reopen(node))
}

/// The line that a node is of.
fn branch(it: &Scenario, node: usize) -> Option<Branch> {
    Some(it.status(node)?.config?.branch)
}

/// Node 0 alone was up to date, and is dead; node 1 has an older replica, and node 2 votes.
fn without_the_newest() -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(1);
    it.until("the loss of node 1", |it| !it.is_in_sync(0, 1));
    let detached = it.command(2, Command::Detach);
    it.until("the end of its replica", |it| it.succeeded(detached));
    it.must_write(0, 7, 1);
    it.cluster.kill(0);
    it.cluster.start(1);
    it
}

fn ask(it: &mut Scenario, node: usize) -> CommandId {
    it.command(node, Command::Promote(PromoteMode::Force))
}

fn force(it: &mut Scenario, node: usize) -> CommandDone {
    let id = ask(it, node);
    it.until("the promotion", |it| it.succeeded(id));
    it.how(id).expect("it succeeded")
}

/// The recipe that ends with --force: all replicas are there and hold the same, or the Primary is
/// dead and was not alone.
#[test]
fn force_is_not_used_where_the_ordinary_way_leads_there() {
    for dies in [false, true] {
        let mut it = Scenario::new(3, 0, 0);
        it.must_write(0, 7, 1);
        if dies {
            it.cluster.kill(0);
        } else {
            it.demote(0);
        }
        let (line, before) = (branch(&it, 1), given_up(&it, 1));
        assert_eq!(force(&mut it, 1), CommandDone::WithoutForce);
        assert_eq!((branch(&it, 1), given_up(&it, 1)), (line, before));
        assert_eq!(it.must_read(1, 7), 1);
        it.must_write(1, 8, 2);
    }
}

/// A replica that is not up to date leads with the data of those that are, as it does unforced.
#[test]
fn an_old_replica_is_not_taken_for_the_truth_while_others_are_there() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 1);
    it.cluster.bad[2].write = true;
    it.demote(0);
    it.cluster.start(2);
    assert_eq!(force(&mut it, 2), CommandDone::WithoutForce);
    assert_eq!(it.must_read(2, 7), 1);
}

/// A node that has no disk is served by the others' replicas.
#[test]
fn a_node_without_a_disk_needs_no_force() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    let detached = it.command(2, Command::Detach);
    it.until("the end of its replica", |it| it.succeeded(detached));
    it.demote(0);
    assert_eq!(force(&mut it, 2), CommandDone::WithoutForce);
    assert_eq!(it.must_read(2, 7), 1);
    it.demote(2);
    it.part(&[2], &[0, 1]);
    let forced = ask(&mut it, 2);
    it.until("the refusal", |it| it.failed(forced));
    assert!(it.refusal(forced).is_some_and(|said| said.contains("no disk")));
}

/// Those with the data come a little later than the command, as after a start of all nodes.
#[test]
fn who_is_about_to_connect_is_waited_for() {
    let mut it = Scenario::new(3, 0, 0);
    it.cluster.kill(2);
    it.until("the loss of node 2", |it| !it.is_in_sync(0, 2));
    it.must_write(0, 7, 1);
    it.demote(0);
    it.part(&[0, 1], &[2]);
    it.cluster.start(2);
    it.run(Duration::from_millis(100));
    let forced = ask(&mut it, 2);
    it.run(Duration::from_secs(1));
    it.meet(&[0, 1], &[2]);
    it.until("the promotion", |it| it.succeeded(forced));
    assert_eq!(it.how(forced), Some(CommandDone::WithoutForce));
    assert_eq!(it.must_read(2, 7), 1);
}

/// Where it is needed it is used, in not much more time than it takes to see that.
#[test]
fn force_is_used_where_nothing_else_leads_there() {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.demote(0);
    it.cluster.kill(0);
    it.cluster.kill(1);
    let (line, before) = (branch(&it, 2), given_up(&it, 2));
    let began = it.cluster.now;
    assert_eq!(force(&mut it, 2), CommandDone::AsAsked);
    assert!(it.cluster.now.since(began) < Duration::from_secs(4), "no quorum answers");
    assert_ne!(branch(&it, 2), line);
    assert!(given_up(&it, 2) > before);

    // A quorum answers, and who is up to date is gone.
    let mut it = without_the_newest();
    let (began, forced) = (it.cluster.now, ask(&mut it, 1));
    it.until("the promotion", |it| it.succeeded(forced));
    assert_eq!(it.how(forced), Some(CommandDone::AsAsked));
    assert!(it.cluster.now.since(began) < Duration::from_secs(8));
}

/// Somebody asks for force while an ordinary promotion waits for data: it is told as the other.
#[test]
fn force_that_is_asked_for_meanwhile_is_used() {
    let mut it = without_the_newest();
    let waits = it.command(1, Command::Promote(PromoteMode::Normal));
    it.run(Duration::from_secs(3));
    assert!(!it.succeeded(waits) && !it.failed(waits), "it waits");
    let forced = ask(&mut it, 1);
    it.until("the promotion", |it| it.succeeded(forced));
    assert_eq!(it.how(forced), Some(CommandDone::AsAsked));
    assert_eq!(it.how(waits), Some(CommandDone::AsAsked));
}

/// Another node is Primary: force is refused as ever, and nothing is done later.
#[test]
fn force_beside_a_primary_is_refused() {
    let mut it = Scenario::new(3, 0, 0);
    let before = given_up(&it, 0);
    let forced = ask(&mut it, 1);
    it.until("the refusal", |it| it.failed(forced));
    it.run(Duration::from_secs(30));
    assert_eq!(given_up(&it, 0), before);
    it.must_write(0, 7, 1);
}
