//! Requests that are held back though a majority is there: `quorum`, `quorum-minimum-redundancy`,
//! `on-no-data-accessible`, and an operator's suspension.

use std::time::Duration;

use replication::contract::{
    AfterSplit, Command, CommandId, Demands, OnNoQuorum, PromoteMode, RequestError, Share,
    WithoutQuorum,
};
use replication::limits;
use replication::resource::Shortage;
use simulator::scenario::Scenario;

const TWO_COPIES: Demands = Demands {
    on_no_quorum: OnNoQuorum::SuspendIo,
    on_no_data: OnNoQuorum::IoError,
    quorum: Share::Majority,
    redundancy: Share::AtLeast(2),
    without_quorum: WithoutQuorum::Wait,
    after_split: AfterSplit::NOBODY,
};

/// By then the shards heard what their home said.
const MAIL: Duration = Duration::from_millis(20);

fn three(demands: Demands) -> Scenario {
    let mut it = Scenario::new(3, 0, 0);
    it.must_write(0, 7, 1);
    it.demand(demands);
    it
}

fn shortage(it: &Scenario, node: usize) -> Option<Shortage> {
    it.status(node).and_then(|status| status.shortage)
}

fn answered(it: &mut Scenario, id: CommandId) -> bool {
    it.until("an answer", |it| it.succeeded(id) || it.failed(id));
    it.succeeded(id)
}

/// The last two are lost at once: a write that only the Primary has is done, and not answered.
#[test]
fn a_write_that_too_few_have_is_not_answered() {
    let mut it = three(TWO_COPIES);
    it.stop(2);
    it.cluster.silence(1, 0, 0);
    let part = it.write(0, 7, 2);
    it.until("the copy at node 1", |it| it.on_disk(1, 7) == 2 || it.on_disk(0, 7) == 2);
    it.stop(1);
    it.until("the smaller config", |it| !it.is_in_sync(0, 1) && it.voters(0) == [0]);
    assert_eq!(shortage(&it, 0), Some(Shortage::Replicas { have: 1, needed: 2 }));
    let later = it.write(0, 9, 3);
    it.run(Duration::from_secs(5));
    assert!(it.ended(part).is_none(), "it is at node 0 alone");
    assert!(it.ended(later).is_none());
    it.cluster.start(1);
    it.until("the writes", |it| it.ended(part).is_some() && it.ended(later).is_some());
    assert_eq!(it.ended(part), Some(&Ok(None)));
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9)), (2, 3));
    assert_eq!(shortage(&it, 0), None);
}

#[test]
fn requests_fail_where_the_options_say_so() {
    let mut it = three(Demands { on_no_quorum: OnNoQuorum::IoError, ..TWO_COPIES });
    it.stop(2);
    it.stop(1);
    let part = it.write(0, 7, 2);
    it.until("an answer", |it| it.ended(part).is_some());
    assert_eq!(it.ended(part), Some(&Err(RequestError::Io)));
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    it.run(MAIL);
    it.must_write(0, 7, 3);
}

/// Whoever takes over has its first lease a round trip later: what clients ask for meanwhile waits.
#[test]
fn requests_of_a_new_primary_wait_for_its_first_lease() {
    let demands = Demands { on_no_quorum: OnNoQuorum::IoError, ..Demands::default() };
    let mut it = three(demands);
    it.cluster.kill(0);
    it.promote(1);
    let part = it.write(1, 7, 2);
    it.until("an answer", |it| it.ended(part).is_some());
    assert_eq!(it.ended(part), Some(&Ok(None)));
    // One that never comes is missed when it would have run out.
    it.demote(1);
    it.promote(1);
    it.cluster.cut_link(1, 2);
    let part = it.write(1, 7, 3);
    it.run(limits::LEASE * 2);
    assert_eq!(it.ended(part), Some(&Err(RequestError::Io)));
}

/// Else the first lease of the next session would be missed before a majority could answer.
#[test]
fn what_a_former_session_was_granted_is_no_lease_of_the_next() {
    let mut it = three(Demands::default());
    it.demote(0);
    it.promote(0);
    let held = |it: &Scenario| it.status(0).and_then(|status| status.lease_until);
    let began = it.cluster.now;
    assert!(held(&it).is_some_and(|until| until <= began), "nobody granted one yet");
    it.until("the first", |it| held(it).is_some_and(|until| until > began));
}

#[test]
fn held_requests_are_let_go_when_the_options_change() {
    let mut it = three(TWO_COPIES);
    it.stop(2);
    it.stop(1);
    let part = it.write(0, 7, 2);
    it.run(Duration::from_secs(1));
    assert!(it.ended(part).is_none());
    it.demand(Demands { on_no_quorum: OnNoQuorum::IoError, ..TWO_COPIES });
    it.until("an answer", |it| it.ended(part).is_some());
    assert_eq!(it.ended(part), Some(&Err(RequestError::Io)));
    it.demand(Demands::default());
    it.run(MAIL);
    it.must_write(0, 7, 3);
}

#[test]
fn all_voters_are_needed_where_quorum_is_all() {
    let mut it = three(Demands { quorum: Share::All, ..Demands::default() });
    it.must_write(0, 7, 2);
    it.cluster.kill(2);
    it.until("the loss", |it| !it.is_in_sync(0, 2));
    assert_eq!(shortage(&it, 0), Some(Shortage::Votes { have: 2, needed: 3 }));
    let part = it.write(0, 7, 3);
    it.run(Duration::from_secs(2));
    assert!(it.ended(part).is_none());
    it.cluster.start(2);
    it.until("the write", |it| it.ended(part).is_some());
    assert_eq!(it.told_of_quorum(0), [false, true]);
    // One that leaves is no voter that is missed, if it heard of those that would be left.
    it.until("its view", |it| it.status(2).is_some_and(|status| status.members[1].connected));
    it.run(Duration::from_millis(20));
    it.stop(2);
    it.must_write(0, 7, 4);
}

#[test]
fn a_number_counts_whoever_left() {
    let mut it = three(Demands { quorum: Share::AtLeast(2), ..Demands::default() });
    it.stop(2);
    it.must_write(0, 7, 2);
    it.stop(1);
    assert_eq!(shortage(&it, 0), Some(Shortage::Votes { have: 1, needed: 2 }));
    let part = it.write(0, 7, 3);
    it.run(Duration::from_secs(2));
    assert!(it.ended(part).is_none());
}

/// Whatever is asked for, two parts of a cluster never go on both.
#[test]
fn a_number_below_the_majority_is_the_majority() {
    let mut it = three(Demands { quorum: Share::AtLeast(1), ..Demands::default() });
    for node in [1, 2] {
        it.cluster.cut_link(0, node);
    }
    it.promote(1);
    it.must_write(1, 7, 2);
    let part = it.write(0, 7, 3);
    it.run(Duration::from_secs(3));
    assert_ne!(it.ended(part), Some(&Ok(None)));
}

#[test]
fn nobody_is_promoted_to_answer_nobody() {
    let mut it = three(TWO_COPIES);
    let demoted = it.command(0, Command::Demote);
    assert!(answered(&mut it, demoted));
    it.stop(2);
    it.stop(1);
    let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
    assert!(!answered(&mut it, promoted));
    it.cluster.start(1);
    it.until("the copy", |it| it.is_in_sync(0, 1));
    it.promote(0);
}

#[test]
fn a_suspension_waits_for_what_is_under_way_and_keeps_the_rest() {
    let mut it = three(Demands::default());
    it.cluster.slow[1].write = Duration::from_millis(300);
    let before = it.write(0, 7, 2);
    let suspended = it.command(0, Command::Suspend);
    it.run(MAIL);
    let after = it.write(0, 9, 3);
    assert!(it.ended(before).is_none() && !it.succeeded(suspended));
    assert!(answered(&mut it, suspended));
    assert_eq!(it.ended(before), Some(&Ok(None)), "it was under way");
    it.run(Duration::from_secs(3));
    assert!(it.ended(after).is_none());
    assert!((0..3).all(|node| it.on_disk(node, 9) == 0 && it.on_disk(node, 7) == 2));
    assert!(it.status(0).is_some_and(|status| status.suspended_by_user));
    let resumed = it.command(0, Command::Resume);
    assert!(answered(&mut it, resumed));
    it.until("the write", |it| it.ended(after).is_some());
    assert_eq!(it.ended(after), Some(&Ok(None)));
}

#[test]
fn a_suspension_outlives_the_role_and_the_loss_of_a_member() {
    let mut it = three(Demands::default());
    let suspended = it.command(0, Command::Suspend);
    assert!(answered(&mut it, suspended));
    it.cluster.kill(2);
    it.until("the loss", |it| !it.is_in_sync(0, 2));
    let part = it.write(0, 9, 3);
    let demoted = it.command(0, Command::Demote);
    assert!(answered(&mut it, demoted));
    assert_eq!(it.ended(part), Some(&Err(RequestError::Io)));
    it.promote(0);
    let part = it.write(0, 9, 4);
    it.run(Duration::from_secs(1));
    assert!(it.ended(part).is_none(), "nobody resumed it");
    let resumed = it.command(0, Command::Resume);
    assert!(answered(&mut it, resumed));
    it.until("the write", |it| it.ended(part).is_some());
    it.cluster.start(2);
    it.until("the return of node 2", |it| it.is_in_sync(0, 2));
}

#[test]
fn a_suspension_that_cannot_be_ends_with_an_error_and_is_undone() {
    let mut it = three(Demands::default());
    it.cluster.kill(1);
    it.cluster.kill(2);
    let part = it.write(0, 7, 2);
    let suspended = it.command(0, Command::Suspend);
    assert!(!answered(&mut it, suspended));
    assert!(it.ended(part).is_none());
    assert!(it.status(0).is_some_and(|status| !status.suspended_by_user));
    it.cluster.start(1);
    it.until("the write", |it| it.ended(part).is_some());
}

/// Of a Primary without a disk, whose last up-to-date replica is cut off from it.
fn without_data(on_no_data: OnNoQuorum) -> (Scenario, simulator::scenario::Ended) {
    let mut it = Scenario::new(4, 1, 3);
    it.must_write(3, 7, 1);
    it.demand(Demands { on_no_data, ..Demands::default() });
    for node in [1, 2] {
        it.cluster.kill(node);
        it.until("the loss", |it| !it.is_in_sync(3, node));
        it.cluster.slow[node].write = Duration::from_secs(30);
        if node == 1 {
            it.cluster.start(1);
            it.until("its connection", |it| it.status(3).is_some_and(|it| it.members[1].connected));
        }
    }
    it.cluster.start(2);
    it.until("its connection", |it| it.status(3).is_some_and(|it| it.members[2].connected));
    it.must_write(3, 8, 2);
    assert!(it.is_in_sync(3, 0) && !it.is_in_sync(3, 1) && !it.is_in_sync(3, 2));
    let part = it.write(3, 7, 3);
    it.cluster.cut_link(3, 0);
    it.run(limits::PEER_SILENT_MAX + Duration::from_secs(1));
    let early = it.ended(part).cloned();
    if early.is_none() {
        assert!(it.status(3).is_some_and(|status| status.waits_for_data));
        it.cluster.heal_link(3, 0);
        it.until("the write", |it| it.ended(part).is_some());
    }
    let end = it.ended(part).cloned().expect("it ended");
    (it, early.unwrap_or(end))
}

#[test]
fn without_data_requests_fail_or_wait_as_the_options_say() {
    assert_eq!(without_data(OnNoQuorum::IoError).1, Err(RequestError::Io));
    let (mut it, end) = without_data(OnNoQuorum::SuspendIo);
    assert_eq!(end, Ok(None));
    assert_eq!(it.must_read(3, 7), 3);
}
