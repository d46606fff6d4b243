//! `fencing`: with two voters, proof that the other one is out counts as much as its vote.

use std::time::Duration;

use replication::contract::{
    Command, Demands, FenceVerdict, Meanwhile, OnNoQuorum, PromoteMode, RequestError, WithoutQuorum,
};
use replication::limits;
use simulator::cluster::BadDisk;
use simulator::run::run_fenced;
use simulator::scenario::Scenario;
use simulator::seeds::{all_of, of_this_run};
use simulator::sometimes::Mark;

fn pair() -> Scenario {
    let mut it = Scenario::with_fencing(2, 0);
    it.must_write(0, 7, 1);
    it
}

fn without_quorum(without_quorum: WithoutQuorum) -> Demands {
    Demands { without_quorum, ..Demands::default() }
}

fn asks_about(it: &Scenario, node: usize, peer: usize) -> bool {
    it.cluster.fence_asked[node].iter().any(|&(_, asked)| asked == peer)
}

#[test]
fn a_primary_goes_on_once_the_other_one_is_proven_out() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.run(Duration::from_secs(20));
    assert_eq!(it.ended(waiting), None, "held until the answer");
    it.cluster.kill(1);
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.until("the write", |it| it.ended(waiting).is_some());
    assert_eq!(it.must_read(0, 7), 2);
    it.must_write(0, 9000, 3);
    it.meet(&[0], &[1]);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1) && it.voters(0) == [0, 1]);
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9000)), (2, 3));
    assert!(!it.is_split(0, 1) && !it.is_split(1, 0));
}

#[test]
fn without_proof_a_primary_waits_until_the_other_one_is_back() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Unproven);
    it.run(Duration::from_secs(60));
    assert_eq!(
        (it.ended(waiting), it.cluster.fence_asked[0].as_slice()),
        (None, &[][..]),
        "asked once"
    );
    it.meet(&[0], &[1]);
    it.until("the write", |it| it.ended(waiting).is_some());
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
    assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (2, 2));
}

/// The handler could not put it out, and the operator knows better: what was held completes, as
/// nothing that was acknowledged here is lost. Others may have lost something.
#[test]
fn by_an_operators_word_a_primary_goes_on_without_proof() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Unproven);
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
    it.force(0);
    assert_eq!(it.voters(0), [0], "it is answered once that is so");
    it.until("the write", |it| it.ended(waiting).is_some());
    assert_eq!(it.ended(waiting), Some(&Ok(None)));
    it.must_write(0, 9000, 3);
    assert_eq!((it.losses(0), it.awaits_reopen(0)), (0, true));
    it.meet(&[0], &[1]);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1) && it.voters(0) == [0, 1]);
    assert_eq!((it.on_disk(1, 7), it.on_disk(1, 9000)), (2, 3));
    assert!(!it.is_split(0, 1) && !it.is_split(1, 0));
    // It was said of one absence.
    it.cluster.fence_asked[0].clear();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 4);
    it.until("another question", |it| asks_about(it, 0, 1));
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
}

/// Somebody wants this node to be Primary, which it is: a while after the handler could prove
/// nothing it is asked again.
#[test]
fn a_primary_that_is_to_be_one_asks_again() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Unproven);
    for (after, asks) in [(Duration::from_secs(20), false), (Duration::from_secs(11), true)] {
        it.run(after);
        let promoted = it.command(0, Command::Promote(PromoteMode::Normal));
        it.until("the answer", |it| it.succeeded(promoted));
        it.run(Duration::from_secs(1));
        assert_eq!(asks_about(&it, 0, 1), asks);
    }
    it.cluster.kill(1);
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.until("the write", |it| it.ended(waiting).is_some());
}

/// The former Primary had recorded the loss of the other one, and proposed to go on without it:
/// that came to nothing, and it is only behind.
#[test]
fn a_secondary_takes_over_from_a_primary_that_was_put_out() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 8, 5);
    it.until("the question of the Primary", |it| asks_about(it, 0, 1));
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the question", |it| asks_about(it, 1, 0));
    assert!(!it.succeeded(promoted));
    it.cluster.kill(0);
    it.cluster.answer_fence(1, FenceVerdict::Out);
    it.until("the promotion", |it| it.succeeded(promoted));
    assert_eq!(it.ended(waiting), None);
    assert_eq!(it.must_read(1, 7), 1);
    it.must_write(1, 7, 2);
    it.meet(&[0], &[1]);
    it.cluster.start(0);
    it.until("the return of node 0", |it| it.is_in_sync(1, 0) && it.voters(1) == [0, 1]);
    assert_eq!((it.on_disk(0, 7), it.on_disk(0, 8)), (2, it.on_disk(1, 8)));
    assert!(!it.is_split(0, 1) && !it.is_split(1, 0));
}

/// A script takes longer than a promotion that is not asked for proof: who put the peer out, and
/// then gave up, would leave nobody to serve.
#[test]
fn a_proof_that_takes_its_time_is_not_in_vain() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the question", |it| asks_about(it, 1, 0));
    it.run(Duration::from_secs(30));
    it.cluster.kill(0);
    it.cluster.answer_fence(1, FenceVerdict::Out);
    it.until("the promotion", |it| it.succeeded(promoted));
    assert_eq!(it.must_read(1, 7), 1);
}

/// It is tried with the vote that is there now.
#[test]
fn a_promotion_that_waits_for_proof_goes_on_with_the_peer_that_is_back() {
    let mut it = pair();
    it.cluster.kill(0);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the question", |it| asks_about(it, 1, 0));
    it.run(Duration::from_secs(30));
    it.cluster.start(0);
    it.until("the promotion", |it| it.succeeded(promoted));
    assert_eq!(it.must_read(1, 7), 1);
}

/// The other one may have gone on, with proof that this node was out: it was.
#[test]
fn a_node_that_was_restarted_proves_nothing() {
    let mut it = pair();
    it.cluster.kill(1);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.must_write(0, 7, 2);
    it.cluster.kill(0);
    it.cluster.start(1);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("a refusal", |it| it.failed(promoted));
    assert!(it.cluster.fence_asked[1].is_empty(), "nothing is asked that would not help");
    it.cluster.start(0);
    it.until("the return", |it| it.is_in_sync(0, 1) || it.is_in_sync(1, 1));
    assert_eq!(it.on_disk(1, 7), 2);
}

/// The others have a quorum of their own when they are back.
#[test]
fn one_of_three_voters_proves_nothing() {
    let mut it = Scenario::with_fencing(3, 0);
    it.must_write(0, 7, 1);
    it.cluster.kill(1);
    it.cluster.kill(2);
    let waiting = it.write(0, 7, 2);
    it.run(Duration::from_secs(20));
    assert_eq!((it.ended(waiting), it.cluster.fence_asked[0].as_slice()), (None, &[][..]));
    it.cluster.start(1);
    it.until("the write", |it| it.ended(waiting).is_some());
}

/// Node 2 leaves, and node 0 does not know whether that was decided: if not, the others decide
/// without it, and may have by the time at which they are proven to be out.
#[test]
fn a_voter_that_may_have_left_can_still_help_the_other_one() {
    let mut went_on = 0;
    for micros in (0..1_000).step_by(50) {
        let mut it = Scenario::with_fencing(3, 0);
        it.must_write(0, 7, 1);
        it.command(2, Command::Stop);
        it.until("the change", |it| it.explains(0, "change: Some(Members"));
        it.run(Duration::from_micros(micros));
        it.part(&[0], &[1, 2]);
        let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
        it.run(Duration::from_secs(20));
        if it.succeeded(promoted) {
            assert!(it.cluster.fence_asked[0].is_empty(), "after {micros} us: it proves nothing");
            went_on += 1;
        }
    }
    assert!(went_on > 0, "node 1 is never helped by node 2");
}

/// What was proven of a peer ends when it is connected again.
#[test]
fn a_proof_is_good_for_one_absence() {
    let mut it = pair();
    it.cluster.kill(1);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.must_write(0, 7, 2);
    it.cluster.start(1);
    it.until("the return of node 1", |it| it.is_in_sync(0, 1) && it.voters(0) == [0, 1]);
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 3);
    it.until("another question", |it| asks_about(it, 0, 1));
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
}

/// Each of two others is asked about while both are gone. With a quorum by one of them this node
/// goes on, and the other one may be back behind it: what is known of that one is of before, be it
/// that it is out or that nobody could put it out.
#[test]
fn a_proof_ends_with_a_quorum_by_another_one() {
    for verdict in [FenceVerdict::Out, FenceVerdict::Unproven] {
        let mut it = Scenario::with_fencing(3, 0);
        it.demand(without_quorum(WithoutQuorum::GoOnFenced));
        it.must_write(0, 7, 1);
        it.part(&[0], &[1, 2]);
        it.until("the questions", |it| asks_about(it, 0, 1) && asks_about(it, 0, 2));
        it.cluster.kill(1);
        it.cluster.answer_fence_about(0, 1, verdict);
        it.meet(&[0], &[2]);
        it.must_write(0, 7, 2);
        it.cluster.fence_asked[0].clear();
        it.cluster.start(1);
        it.run(Duration::from_secs(5));
        it.part(&[0], &[2]);
        let waiting = it.write(0, 7, 3);
        it.until("the question about node 2", |it| asks_about(it, 0, 2));
        assert!(asks_about(&it, 0, 1), "{verdict:?}");
        it.cluster.answer_fence_about(0, 2, FenceVerdict::Out);
        it.run(Duration::from_secs(5));
        assert_eq!(it.ended(waiting), None, "{verdict:?}");
        it.cluster.kill(1);
        it.cluster.answer_fence_about(0, 1, FenceVerdict::Out);
        it.until("the write", |it| it.ended(waiting).is_some());
    }
}

/// The script ended after there was a quorum: it says nothing of the next absence.
#[test]
fn an_answer_that_comes_with_a_quorum_by_another_one_is_none() {
    let mut it = Scenario::with_fencing(3, 0);
    it.demand(without_quorum(WithoutQuorum::GoOnFenced));
    it.must_write(0, 7, 1);
    it.part(&[0], &[1, 2]);
    it.until("the questions", |it| asks_about(it, 0, 1) && asks_about(it, 0, 2));
    it.meet(&[0], &[2]);
    it.must_write(0, 7, 2);
    it.cluster.answer_fence_about(0, 1, FenceVerdict::Out);
    it.cluster.fence_asked[0].clear();
    it.part(&[0], &[2]);
    it.until("the question about node 2", |it| asks_about(it, 0, 2));
    assert!(asks_about(&it, 0, 1), "its answer is not of now");
}

/// What an unreachable peer is depends on the options: dead enough without a quorum, and no proof
/// with one. An "out" of before may be of either.
#[test]
fn a_proof_ends_when_the_options_ask_for_a_better_one() {
    let mut it = pair();
    it.demand(without_quorum(WithoutQuorum::GoOnFenced));
    it.part(&[0], &[1]);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the question", |it| asks_about(it, 1, 0));
    it.run(limits::PROVEN_PROMOTE_DEADLINE);
    assert!(it.failed(promoted), "nobody answered");
    it.cluster.answer_fence(1, FenceVerdict::Out);
    it.demand(without_quorum(WithoutQuorum::Prove(Meanwhile::Hold)));
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("another question", |it| asks_about(it, 1, 0));
    assert!(!it.succeeded(promoted));
}

/// The script was called while less was proof enough.
#[test]
fn an_answer_by_the_options_of_before_is_none() {
    let mut it = pair();
    it.demand(without_quorum(WithoutQuorum::GoOnFenced));
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    let first = std::mem::take(&mut it.cluster.fence_asked[0]);
    it.demand(without_quorum(WithoutQuorum::Prove(Meanwhile::Hold)));
    it.until("another question", |it| asks_about(it, 0, 1));
    let second = std::mem::replace(&mut it.cluster.fence_asked[0], first);
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.run(Duration::from_secs(5));
    assert_eq!(it.ended(waiting), None);
    // What becomes of requests meanwhile says nothing of what is proof.
    it.demand(without_quorum(WithoutQuorum::Prove(Meanwhile::AsDemanded)));
    it.run(Duration::from_secs(5));
    assert!(it.cluster.fence_asked[0].is_empty(), "the second one stands");
    it.cluster.kill(1);
    it.cluster.fence_asked[0] = second;
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.until("the write", |it| it.ended(waiting).is_some());
}

/// Between the core and its node, questions and answers may get lost. One that only comes late is
/// the answer all the same: the question is about the same absence.
#[test]
fn a_question_without_an_answer_is_asked_again() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    let first = std::mem::take(&mut it.cluster.fence_asked[0]);
    it.run(Duration::from_secs(110));
    assert!(it.cluster.fence_asked[0].is_empty());
    it.run(Duration::from_secs(20));
    assert!(asks_about(&it, 0, 1));
    it.cluster.kill(1);
    it.cluster.fence_asked[0] = first;
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.until("the write", |it| it.ended(waiting).is_some());
}

/// The disk of the other one is detached already: nothing but its vote is missing, and nothing is
/// tried meanwhile.
#[test]
fn a_question_that_got_lost_is_asked_again_though_nothing_else_happens() {
    let mut it = pair();
    let detached = it.command(1, Command::Detach);
    it.until("the end of its replica", |it| it.succeeded(detached) && !it.is_in_sync(0, 1));
    assert_eq!(it.voters(0), [0, 1]);
    it.part(&[0], &[1]);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.fence_asked[0].clear();
    it.run(Duration::from_secs(110));
    assert!(it.cluster.fence_asked[0].is_empty());
    it.run(Duration::from_secs(20));
    assert!(asks_about(&it, 0, 1));
}

/// It was called again meanwhile, and the first call said that it could not put the peer out.
#[test]
fn a_proof_counts_though_an_earlier_answer_was_none() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let waiting = it.write(0, 7, 2);
    it.until("the question", |it| asks_about(it, 0, 1));
    let first = it.cluster.fence_asked[0].clone();
    it.cluster.answer_fence(0, FenceVerdict::Unproven);
    it.cluster.kill(1);
    it.cluster.fence_asked[0] = first;
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.until("the write", |it| it.ended(waiting).is_some());
}

/// The vote that it would go on with is gone: until a quorum is back there is nothing to wait for,
/// whatever the options say of going on alone.
#[test]
fn requests_fail_where_the_own_voter_can_decide_nothing_alone() {
    let alone =
        [WithoutQuorum::GoOn, WithoutQuorum::GoOnFenced, WithoutQuorum::Prove(Meanwhile::Hold)];
    // The register takes no write any more when the other one is lost, or when this node goes on.
    for (alone, phase) in alone
        .into_iter()
        .flat_map(|it| [(it, None), (it, Some("Preparing")), (it, Some("Accepting"))])
    {
        let mut it = pair();
        it.demand(Demands { on_no_quorum: OnNoQuorum::IoError, ..without_quorum(alone) });
        let register = BadDisk { register: true, ..BadDisk::default() };
        if phase.is_none() {
            it.cluster.bad[0] = register;
        }
        it.part(&[0], &[1]);
        if let Some(phase) = phase {
            if alone != WithoutQuorum::GoOn {
                it.until("the question", |it| asks_about(it, 0, 1));
                it.cluster.kill(1);
                it.cluster.answer_fence(0, FenceVerdict::Out);
            }
            it.until("a vote of its own", |it| {
                it.explains(0, phase) && it.explains(0, "by: Alone")
            });
            it.cluster.bad[0] = register;
        }
        it.until("its failure", |it| it.cluster.is_mute(0));
        let part = it.write(0, 7, 2);
        it.run(limits::LEASE * 2);
        assert_eq!(it.ended(part), Some(&Err(RequestError::Io)), "{alone:?} in {phase:?}");
    }
}

/// Nor can it be had for a replica that is not here: nobody is asked for proof.
#[test]
fn requests_fail_where_the_node_has_no_data_to_go_on_with() {
    let alone =
        [WithoutQuorum::GoOn, WithoutQuorum::GoOnFenced, WithoutQuorum::Prove(Meanwhile::Hold)];
    for alone in alone {
        let mut it = pair();
        it.demand(Demands { on_no_quorum: OnNoQuorum::IoError, ..without_quorum(alone) });
        let detached = it.command(0, Command::Detach);
        it.until("the end of its replica", |it| it.succeeded(detached) && !it.is_in_sync(0, 0));
        it.must_write(0, 7, 2);
        it.part(&[0], &[1]);
        let part = it.write(0, 7, 3);
        it.run(limits::LEASE * 4);
        assert_eq!(it.ended(part), Some(&Err(RequestError::Io)), "{alone:?}");
        assert!(it.cluster.fence_asked[0].is_empty(), "{alone:?}");
    }
}

/// The other one serves, perhaps, and is put out for a promotion that is refused in the end.
fn is_refused_unasked(it: &mut Scenario, node: usize, mode: PromoteMode) -> String {
    let promoted = it.command(node, Command::Promote(mode));
    it.run(Duration::from_secs(19));
    assert!(it.cluster.fence_asked[node].is_empty(), "nobody is put out for that");
    it.until("the refusal", |it| it.failed(promoted));
    it.refusal(promoted).expect("it failed").to_owned()
}

#[test]
fn nobody_is_put_out_for_a_follower_that_may_lack_answers() {
    for proof in [WithoutQuorum::GoOnFenced, WithoutQuorum::Prove(Meanwhile::Hold)] {
        let mut it = Scenario::with_followers(2, 0, &[1], 1);
        it.demand(without_quorum(proof));
        it.must_write(0, 7, 1);
        it.until("its word", |it| it.follows(0, 1));
        it.part(&[0], &[1]);
        let reason = is_refused_unasked(&mut it, 1, PromoteMode::Normal);
        assert!(reason.contains("protocol A") && reason.contains("--force"), "{reason}");
        // What it lacks is given up by an operator's word.
        it.cluster.kill(0);
        it.force(1);
    }
}

/// It helped to decide that it is lost, and did not hear that this was chosen.
#[test]
fn nobody_is_put_out_for_a_replica_that_others_go_on_without() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let before = it.accepted(1);
    let waiting = it.write(0, 8, 5);
    it.until("the record", |it| it.recorded_losses(0).len() == 1);
    it.run(Duration::from_secs(1));
    it.meet(&[0], &[1]);
    it.until("its vote", |it| it.accepted(1) > before);
    it.part(&[0], &[1]);
    assert!(it.is_in_sync(1, 1) && !it.knows_that_it_left(1));
    let reason = is_refused_unasked(&mut it, 1, PromoteMode::Normal);
    assert!(reason.contains("without this replica") && reason.contains("--force"), "{reason}");
    it.meet(&[0], &[1]);
    it.until("the write", |it| it.ended(waiting).is_some());
    it.until("the return of node 1", |it| it.is_in_sync(0, 1));
}

#[test]
fn nobody_is_put_out_to_call_replicas_with_a_history_equal() {
    let mut it = pair();
    it.part(&[0], &[1]);
    let reason = is_refused_unasked(&mut it, 1, PromoteMode::ForceAllEqual);
    assert!(reason.contains("history"), "{reason}");
}

/// Both were told what was not so: two lines, which nobody merges.
#[test]
fn a_proof_that_was_a_lie_is_a_split_brain() {
    let mut it = pair();
    it.part(&[0], &[1]);
    it.until("the question", |it| asks_about(it, 0, 1));
    it.cluster.answer_fence(0, FenceVerdict::Out);
    it.must_write(0, 7, 10);
    let promoted = it.command(1, Command::Promote(PromoteMode::Normal));
    it.until("the other question", |it| asks_about(it, 1, 0));
    it.cluster.answer_fence(1, FenceVerdict::Out);
    it.until("the promotion", |it| it.succeeded(promoted));
    it.must_write(1, 7, 20);
    it.meet(&[0], &[1]);
    it.until("the split brain", |it| it.is_split(0, 1) && it.is_split(1, 0));
    assert_eq!((it.on_disk(0, 7), it.on_disk(1, 7)), (10, 20));
}

/// Whoever goes on has the other one killed before: no two lines ever part. Budget: 20 s on two
/// cores.
#[test]
fn no_seed_with_fencing_breaks_a_promise() {
    let set = of_this_run(1..=120);
    let total = all_of((run_fenced, "--fenced"), set.seeds, 6_000);
    assert!(total.writes > 0, "{total:?}");
    if set.is_whole {
        assert!(total.writes > 4_000 && total.reads > 4_000 && total.kills > 20, "{total:?}");
        assert!(total.marks.contains(&Mark::WentAlone), "{total:?}");
    }
}
