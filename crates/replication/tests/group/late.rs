//! Who is late, and who is only slow: what a group that leads tells its home of members.

use std::time::Duration;

use format::ids::{BlockRange, LaneIndex, QuestionId};
use format::message::DataBody;
use replication::contract::{
    AboutCuts, Compare, FromGroup, GroupAction, GroupInput, PartId, Request, RequestKind, RoundId,
    ToGroup,
};
use replication::limits;

use crate::harness::{Disk, Group, boot, lost, node, options, sent, set, told};

/// Node 1, which has no disk, and is to lead a session in which node 0 has to have what is written.
fn leader() -> Group {
    let mut leader = Group::new(Disk::ByHand, options(1, &[0, 2]));
    leader.step(GroupInput::PeerUp { peer: node(0) });
    leader
}

/// Node 0 is a follower.
fn follow() -> ToGroup {
    ToGroup::Cuts(AboutCuts::Follow { named: set(&[0]), counted: set(&[0]) })
}

/// By the rule for all, or by that for followers.
fn finds_late(leader: &Group, member: u8) -> bool {
    told(&leader.actions).any(|fact| {
        let (FromGroup::MemberSlow { stay } | FromGroup::LossLate { stay }) = fact else {
            return false;
        };
        stay.member == node(member)
    })
}

/// The lanes and names of LOSS messages.
fn losses(actions: &[GroupAction]) -> Vec<(LaneIndex, QuestionId)> {
    let named = sent(actions).filter_map(|(_, body)| {
        let DataBody::Loss { lane, id, .. } = body else { return None };
        Some((*lane, *id))
    });
    named.collect()
}

/// Node 0 wrote down what node 2 misses.
fn recorded((lane, id): (LaneIndex, QuestionId)) -> DataBody {
    DataBody::LossDone { lane, member: node(2), boot_id: boot(0), id }
}

/// Node 2 misses more pieces of each lane than a message names. Node 0 writes down one message
/// every other second, which takes it a minute and more: it is slow, and not late. Then it says no
/// more, with one left.
#[test]
fn who_writes_down_one_piece_after_the_other_is_not_late() {
    let mut leader = leader();
    let missed = (0..16 * 2048).step_by(2).map(|block| BlockRange::new(block, 1)).collect();
    let asked = losses(leader.lead(&[0], missed, vec![(lost(2, 1), RoundId(1))]));
    assert!(asked.len() > 30, "two for each lane");
    let (last, rest) = asked.split_last().expect("there are some");
    for &piece in rest {
        leader.run(Duration::from_secs(2));
        leader.hear(0, recorded(piece));
    }
    assert!(!finds_late(&leader, 0));
    leader.run(limits::SLOW_MEMBER_LIMIT * 3 / 2);
    assert!(finds_late(&leader, 0));
    leader.actions.clear();
    leader.hear(0, recorded(*last));
    leader.run(limits::SLOW_MEMBER_LIMIT * 2);
    assert!(!finds_late(&leader, 0), "nobody waits for it any more");
}

/// Node 2 returns, and what it misses is asked of node 0, which never says.
#[test]
fn who_never_tells_what_another_one_misses_is_late() {
    let mut leader = leader();
    leader.step(GroupInput::PeerUp { peer: node(2) });
    leader.lead(&[0], Vec::new(), Vec::new());
    let (member, boot, from, absent) = (node(2), boot(2), node(0), Vec::new());
    let (compare, round) = (Compare::Never, RoundId(1));
    let resync = ToGroup::Resync { member, boot, from, absent, compare, round };
    let is_asked =
        |(to, body): (_, &DataBody)| to == node(0) && matches!(body, DataBody::SlotRead { .. });
    assert!(sent(leader.step(resync)).any(is_asked));
    leader.run(limits::SLOW_MEMBER_LIMIT * 3 / 2);
    assert!(finds_late(&leader, 0) && !finds_late(&leader, 2));
}

/// Node 0 is away for long, while a write waits for it, or a flush, and returns as it was. It is
/// asked again, and has as much time for that as it would have for anything else.
#[test]
fn who_returns_is_not_late_with_what_it_was_asked_before() {
    let asked: [GroupInput; 3] = [
        GroupInput::Flush(PartId(1)),
        ToGroup::Drain { round: RoundId(7) }.into(),
        GroupInput::Request(Request {
            part: PartId(1),
            kind: RequestKind::Discard { fua: false },
            offset: 0,
            length: 4096,
        }),
    ];
    for input in asked {
        let mut leader = Group::new(Disk::ByHand, options(1, &[0, 2])).into_leader(&[0]);
        leader.step(input);
        let peer = node(0);
        leader.step(GroupInput::PeerDown { peer });
        leader.step(ToGroup::Lose { lost: lost(0, 1), round: RoundId(8) });
        leader.run(limits::SLOW_MEMBER_LIMIT * 4);
        leader.step(GroupInput::PeerUp { peer });
        leader.step(ToGroup::Resend { member: peer, since: RoundId(9) });
        leader.run(limits::SLOW_MEMBER_LIMIT * 9 / 10);
        assert!(!finds_late(&leader, 0));
        leader.run(limits::SLOW_MEMBER_LIMIT);
        assert!(finds_late(&leader, 0));
    }
}

/// Nobody waits for a follower for long. But node 0, which is one, has just heard of the second
/// loss when it ends its part in the first.
#[test]
fn a_follower_is_not_late_with_one_loss_for_another_one() {
    let mut leader = leader();
    let first = losses(leader.lead(&[0], Vec::new(), vec![(lost(2, 1), RoundId(1))]));
    leader.step(follow());
    leader.run(limits::FOLLOWER_LOSS_PATIENCE * 9 / 10);
    let second = losses(leader.step(ToGroup::Lose { lost: lost(3, 1), round: RoundId(2) }));
    for piece in first {
        leader.hear(0, recorded(piece));
    }
    leader.run(limits::FOLLOWER_LOSS_PATIENCE / 2);
    assert!(!second.is_empty() && !finds_late(&leader, 0));
    leader.run(limits::FOLLOWER_LOSS_PATIENCE * 2);
    assert!(finds_late(&leader, 0));
}

/// The operator wants no followers any more while a loss waits for the only one.
#[test]
fn the_loss_that_waited_for_a_follower_is_looked_at_no_more_when_there_is_none() {
    let mut leader = leader();
    leader.lead(&[0], Vec::new(), vec![(lost(2, 1), RoundId(1))]);
    leader.step(follow());
    leader.run(limits::FOLLOWER_LOSS_PATIENCE / 2);
    let nobody = AboutCuts::Follow { named: set(&[]), counted: set(&[]) };
    leader.step(ToGroup::Cuts(nobody));
    leader.run(limits::FOLLOWER_LOSS_PATIENCE * 2);
    assert!(!finds_late(&leader, 0));
}

/// The node sleeps for the answers that complete a write, and for no other.
#[test]
fn nobody_waits_for_the_answer_of_a_follower() {
    let mut leader = leader();
    leader.lead(&[0], Vec::new(), Vec::new());
    let both = set(&[0, 2]);
    assert_eq!(leader.lanes.answering(both), both);
    leader.step(follow());
    assert_eq!(leader.lanes.answering(both), set(&[2]));
}
