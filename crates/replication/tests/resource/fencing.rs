//! Whom a node asks its handler `fence-peer` about, and how long an answer counts.

use super::*;

/// Node 1 of nodes 0 to 2, and a value of all of them: `quorum off`, and who is not in reach has to
/// be out. Nobody is connected.
fn one_of_three_that_fences() -> Resource {
    one_of_three_that_fences_with(ReplicaState::InSync)
}

fn one_of_three_that_fences_with(state: ReplicaState) -> Resource {
    let mut value = joined(ValueId(8));
    let third = MemberOptions { node: node(2), ..options(None).members[0] };
    value.voters.push(Voter { node: node(2), store: VoteStoreId(0) });
    value.members.insert(node(2));
    let mut options = options(Some(Superblock { state, ..superblock(None) }));
    options.members.push(third);
    options.register.accepted = Some((Ballot { counter: 5, random: 1 }, value));
    options.demands.without_quorum = WithoutQuorum::GoOnFenced;
    Resource::new(options)
}

fn connect_third(resource: &mut Resource, now: Time) -> Vec<ResourceAction> {
    connect_at(resource, now, node(2))
}

fn connect_at(resource: &mut Resource, now: Time, peer: NodeId) -> Vec<ResourceAction> {
    let report = PeerReport { boot_id: BootId(3), shards: 1, features: FEATURES, replica: None };
    step_at(resource, now, ResourceInput::Connected { peer, report: Box::new(report) })
}

fn answers(all: &[(Time, ResourceAction)]) -> Vec<Time> {
    let answers = all.iter().filter(|(_, it)| matches!(it, ResourceAction::Answer { .. }));
    answers.map(|(at, _)| *at).collect()
}

fn promote(resource: &mut Resource) {
    promote_at(resource, Time(2));
}

fn promote_at(resource: &mut Resource, now: Time) {
    let command = Command::Promote(PromoteMode::Normal);
    step_at(resource, now, ResourceInput::Command { id: CommandId(1), command });
}

/// The numbers of the questions whether a peer is out, and the peers.
fn fences_asked(all: &[(Time, ResourceAction)]) -> Vec<(u64, NodeId)> {
    let asked = all.iter().filter_map(|(_, it)| {
        let ResourceAction::AskToFence { number, peer } = *it else { return None };
        Some((number, peer))
    });
    asked.collect()
}

/// A script takes longer than a promotion that is not asked for proof.
#[test]
fn a_promotion_that_waits_for_a_proof_sleeps_until_there_is_one() {
    let mut alone = options(Some(Superblock { state: ReplicaState::InSync, ..superblock(None) }));
    alone.register.accepted = Some((Ballot { counter: 5, random: 1 }, joined(ValueId(8))));
    alone.demands.without_quorum = WithoutQuorum::GoOnFenced;
    let (mut resource, start) = (Resource::new(alone), Time(2));
    promote(&mut resource);
    let all = tick_until(&mut resource, start, start + 2 * limits::FENCE_PATIENCE);
    let asked = all.iter().filter(|(_, it)| matches!(it, ResourceAction::AskToFence { .. }));
    let asked: Vec<Time> = asked.map(|(at, _)| *at).collect();
    assert_eq!((asked.len(), answers(&all)), (1, vec![asked[0] + limits::FENCE_PATIENCE]));
}

/// A script that waits for its turn is not called any more for somebody who need not be out.
#[test]
fn a_question_is_void_with_its_peer_or_a_quorum_by_another_one_or_by_the_options() {
    for ends in [Voided::Peer, Voided::Quorum, Voided::Options] {
        let (mut resource, start) = (one_of_three_that_fences(), Time(2));
        promote(&mut resource);
        let asking = start + limits::ALONE_PROMOTION_WAIT * 2;
        let all = tick_until(&mut resource, start, asking);
        let asked = all.iter().find_map(|(_, it)| {
            let ResourceAction::AskToFence { number, peer } = *it else { return None };
            (peer != node(2)).then_some((number, peer))
        });
        let (number, peer) = asked.expect("it asks about both others");
        assert!(resource.is_asking_to_fence(number));
        match ends {
            Voided::Peer => drop(connect_at(&mut resource, asking, peer)),
            Voided::Quorum => {
                connect_third(&mut resource, asking);
                assert!(resource.is_asking_to_fence(number), "it has no vote yet");
                step_at(&mut resource, asking, vote_of_third());
            }
            Voided::Options => {
                let wait = Demands { without_quorum: WithoutQuorum::Wait, ..Demands::default() };
                step_at(&mut resource, asking, ResourceInput::Demands(wait));
            }
        }
        assert!(!resource.is_asking_to_fence(number), "{ends:?}");
    }
}

/// A script that waited for its turn put peers out for a node that was not to be Primary any more,
/// or had no disk, and could not go on whatever it said.
#[test]
fn a_question_is_void_where_this_node_does_not_go_on_alone_whatever_is_said() {
    let start = Time(2);
    let asking = start + limits::ALONE_PROMOTION_WAIT * 2;
    for loses_disk in [false, true] {
        let mut resource = one_of_three_that_fences();
        promote(&mut resource);
        let asked = fences_asked(&tick_until(&mut resource, start, asking));
        assert_eq!(asked.len(), 2);
        let late = start + limits::PROVEN_PROMOTE_DEADLINE;
        if loses_disk {
            let fact = FromGroup::MemberFailed { member: node(1) };
            step_at(&mut resource, asking, ResourceInput::Group { shard: 0, fact });
        } else {
            assert_eq!(answers(&tick_until(&mut resource, asking, late)).len(), 1);
        }
        assert!(asked.iter().all(|(number, _)| !resource.is_asking_to_fence(*number)));
        if loses_disk {
            continue;
        }
        // What was not begun for it is asked for anew, and at once.
        for &(number, _) in &asked {
            let verdict = FenceVerdict::NotAsked;
            step_at(&mut resource, late, ResourceInput::FenceAnswer { number, verdict });
        }
        promote_at(&mut resource, late);
        let all = tick_until(&mut resource, late, late + limits::ALONE_PROMOTION_WAIT * 2);
        let again = fences_asked(&all);
        assert_eq!(again.len(), 2);
        assert!(again.iter().all(|one| !asked.contains(one)), "{again:?}");
    }
}

/// It counted for ever: whoever was out then may be back by now, and lead behind a third one. And
/// after half a minute it counted no more: who was put out was put out again before it was back.
#[test]
fn a_proof_that_was_of_no_use_is_asked_for_again_by_a_later_promotion() {
    let (mut resource, start) = (one_of_three_that_fences(), Time(2));
    promote(&mut resource);
    let known = start + limits::ALONE_PROMOTION_WAIT * 2;
    let asked = fences_asked(&tick_until(&mut resource, start, known));
    let verdicts = [FenceVerdict::Out, FenceVerdict::Unproven];
    for (&(number, _), verdict) in asked.iter().zip(verdicts) {
        step_at(&mut resource, known, ResourceInput::FenceAnswer { number, verdict });
    }
    let asks = |resource: &mut Resource, now: Time| {
        let all = tick_until(resource, now, now + limits::ALONE_PROMOTION_WAIT);
        let late = tick_until(resource, now, now + limits::PROVEN_PROMOTE_DEADLINE);
        assert_eq!(answers(&late).len(), 1);
        fences_asked(&all)
    };
    assert_eq!(asks(&mut resource, known), []);
    let second = Duration::from_secs(1);
    let soon = known + (limits::FENCE_RETRY - second);
    promote_at(&mut resource, soon);
    assert_eq!(asks(&mut resource, soon), []);
    let later = known + (limits::FENCED_FOR - second);
    promote_at(&mut resource, later);
    assert_eq!(asks(&mut resource, later), [asked[1]], "who is not out is asked about again");
    let late = later + limits::FENCED_FOR;
    promote_at(&mut resource, late);
    assert_eq!(asks(&mut resource, late).len(), 2);
}

/// The only replica that was up to date was put out, and again and again as it started: for a
/// promotion that is refused whatever is said of it.
#[test]
fn nobody_is_put_out_for_a_replica_that_is_older() {
    let (mut resource, start) = (one_of_three_that_fences_with(ReplicaState::Syncing), Time(2));
    promote(&mut resource);
    let all = tick_until(&mut resource, start, start + limits::PROMOTE_DEADLINE);
    assert_eq!(fences_asked(&all), []);
    // Before anything is written: what it heard of meanwhile would need proof.
    let refused = all.iter().find_map(|(_, it)| {
        let ResourceAction::Answer { result: Err(error), .. } = it else { return None };
        Some(error.code)
    });
    assert_eq!(refused, Some(CommandErrorCode::NoUpToDateData));
}

/// By what nobody asks any more.
#[derive(Clone, Copy, Debug)]
enum Voided {
    Peer,
    Quorum,
    Options,
}

fn vote_of_third() -> ResourceInput {
    let (store, members) = (Some(VoteStoreId(9)), MemberSet(0b111));
    let report = Control::Report { store, session: None, accepted: None, members };
    ResourceInput::Control { from: node(2), message: Box::new(report) }
}

/// Each question is asked again before the other one is given up.
#[test]
fn questions_that_nobody_answers_keep_no_promotion_waiting_for_ever() {
    let (mut resource, start) = (one_of_three_that_fences(), Time(2));
    connect_third(&mut resource, start);
    promote(&mut resource);
    let half = start + limits::FENCE_PATIENCE / 2;
    let mut all = tick_until(&mut resource, start, half);
    step_at(
        &mut resource,
        half,
        ResourceInput::Disconnected { peer: node(2), parting: Parting::Broken },
    );
    all.extend(tick_until(&mut resource, half, start + 10 * limits::FENCE_PATIENCE));
    let asked = all.iter().filter(|(_, it)| matches!(it, ResourceAction::AskToFence { .. }));
    assert!(asked.count() > 1, "no question is asked again");
    assert!(answers(&all).iter().any(|at| *at <= start + limits::PROVEN_PROMOTE_DEADLINE));
}

/// Each time it is tried with one more, and then asked about once more.
#[test]
fn a_peer_that_comes_and_goes_keeps_no_promotion_waiting_for_ever() {
    let (mut resource, mut now) = (one_of_three_that_fences(), Time(2));
    promote(&mut resource);
    let mut all = Vec::new();
    let end = now + limits::PROVEN_PROMOTE_DEADLINE;
    while now < end {
        all.extend(tick_until(&mut resource, now, now + limits::PROMOTE_DEADLINE / 2));
        now = now + limits::PROMOTE_DEADLINE / 2;
        connect_third(&mut resource, now);
        step_at(
            &mut resource,
            now,
            ResourceInput::Disconnected { peer: node(2), parting: Parting::Broken },
        );
    }
    assert_eq!(answers(&all), [end]);
}

/// One of the two others is back, or votes again, and with it nobody has to be out: that of the
/// third one is not waited for.
#[test]
fn a_promotion_that_has_a_quorum_waits_for_no_proof() {
    let start = Time(2);
    let late = start + limits::FENCE_PATIENCE / 2;
    for connected in [start, late] {
        let mut resource = one_of_three_that_fences();
        promote(&mut resource);
        let mut all = tick_until(&mut resource, start, connected);
        connect_third(&mut resource, connected);
        all.extend(tick_until(&mut resource, connected, late));
        step_at(&mut resource, late, vote_of_third());
        all.extend(tick_until(&mut resource, late, start + limits::PROVEN_PROMOTE_DEADLINE));
        assert_eq!(answers(&all), [late + limits::PROMOTE_DEADLINE], "{connected:?}");
    }
}
