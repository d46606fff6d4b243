//! Who is late, and who is only slow: what a group that leads tells its home of members.

use std::time::Duration;

use format::ids::{
    BlockRange, BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce, QuestionId,
};
use format::message::{Data, DataBody, SlotBase};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutCuts, Compare, FromGroup, GroupAction, GroupInput, LostMember, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits;
use stdx::time::Time;

const SESSION: Nonce = Nonce(9);
const BASE: SlotBase = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

/// Node 1, which has no disk, and its clock.
struct Leader {
    group: LaneGroup,
    now: Time,
    actions: Vec<GroupAction>,
}

impl Leader {
    /// It leads a session in which node 0 has to have what is written.
    fn new() -> Self {
        let group = LaneGroup::new(GroupOptions {
            me: node(1),
            boot_id: BootId(1),
            shard: 0,
            shards: 1,
            volume: 0,
            lanes: 16,
            space: Space::of_one(1 << 18),
            has_disk: false,
            al_slots: 8,
            al_next_number: 1,
            tracked: MemberSet(0b101),
            read_policy: ReadPolicy::default(),
            slow_limit: limits::SLOW_MEMBER_LIMIT,
            slots: Vec::new(),
            slot_bases: Vec::new(),
        });
        let mut leader = Self { group, now: Time(1), actions: Vec::new() };
        leader.step(GroupInput::PeerUp { peer: node(0) });
        leader
    }

    fn lead(&mut self, missed: Vec<BlockRange>, lost: Vec<(LostMember, RoundId)>) {
        let (write_set, boots) = (MemberSet(0b1), vec![(node(0), BootId(2))]);
        let outdated = Vec::new();
        let lead = ToGroup::Lead { nonce: SESSION, write_set, boots, outdated, missed, lost };
        self.step(GroupInput::Home(lead));
    }

    fn step(&mut self, input: GroupInput) {
        self.group.step(self.now, input, &mut self.actions);
        self.group.settle(self.now, &mut self.actions);
    }

    fn hear(&mut self, from: u8, body: DataBody) {
        let message = Data { nonce: SESSION, volume: 0, body };
        self.step(GroupInput::Peer { from: node(from), message, payload: None });
    }

    /// Time goes by.
    fn run(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.now = until.min(self.now + Duration::from_millis(100));
            self.group.settle(self.now, &mut self.actions);
        }
    }

    fn sent(&mut self) -> Vec<(NodeId, DataBody)> {
        let sent = self.actions.drain(..).filter_map(|action| {
            let GroupAction::Send { to, message, .. } = action else { return None };
            Some((to, message.body))
        });
        sent.collect()
    }

    /// By the rule for all, or by that for followers.
    fn finds_late(&self, member: u8) -> bool {
        let mut facts = self.actions.iter();
        facts.any(|action| {
            let GroupAction::Home(FromGroup::MemberSlow { stay } | FromGroup::LossLate { stay }) =
                action
            else {
                return false;
            };
            stay.member == node(member)
        })
    }
}

/// The lanes and names of LOSS messages.
fn losses(sent: &[(NodeId, DataBody)]) -> Vec<(LaneIndex, QuestionId)> {
    let named = sent.iter().filter_map(|(_, body)| {
        let DataBody::Loss { lane, id, .. } = body else { return None };
        Some((*lane, *id))
    });
    named.collect()
}

fn recorded(lost: u8, (lane, id): (LaneIndex, QuestionId)) -> DataBody {
    DataBody::LossDone { lane, member: node(lost), boot_id: BootId(2), id }
}

/// Node 2 misses more pieces of each lane than a message names. Node 0 writes down one message
/// every other second, which takes it a minute and more: it is slow, and not late. Then it says no
/// more, with one left.
#[test]
fn who_writes_down_one_piece_after_the_other_is_not_late() {
    let mut leader = Leader::new();
    let missed = (0..16 * 2048).step_by(2).map(|block| BlockRange::new(block, 1)).collect();
    leader.lead(missed, vec![(LostMember { member: node(2), base: BASE }, RoundId(1))]);
    let asked = losses(&leader.sent());
    assert!(asked.len() > 30, "two for each lane");
    let (last, rest) = asked.split_last().expect("there are some");
    for &piece in rest {
        leader.run(Duration::from_secs(2));
        leader.hear(0, recorded(2, piece));
    }
    assert!(!leader.finds_late(0));
    leader.run(limits::SLOW_MEMBER_LIMIT * 3 / 2);
    assert!(leader.finds_late(0));
    leader.actions.clear();
    leader.hear(0, recorded(2, *last));
    leader.run(limits::SLOW_MEMBER_LIMIT * 2);
    assert!(!leader.finds_late(0), "nobody waits for it any more");
}

/// Node 2 returns, and what it misses is asked of node 0, which never says.
#[test]
fn who_never_tells_what_another_one_misses_is_late() {
    let mut leader = Leader::new();
    leader.step(GroupInput::PeerUp { peer: node(2) });
    leader.lead(Vec::new(), Vec::new());
    let (member, boot, from, absent) = (node(2), BootId(3), node(0), Vec::new());
    let (compare, round) = (Compare::Never, RoundId(1));
    let resync = ToGroup::Resync { member, boot, from, absent, compare, round };
    leader.step(GroupInput::Home(resync));
    let is_asked = |(to, body): &(NodeId, DataBody)| {
        *to == node(0) && matches!(body, DataBody::SlotRead { .. })
    };
    assert!(leader.sent().iter().any(is_asked));
    leader.run(limits::SLOW_MEMBER_LIMIT * 3 / 2);
    assert!(leader.finds_late(0) && !leader.finds_late(2));
}

/// Nobody waits for a follower for long. But node 0, which is one, has just heard of the second
/// loss when it ends its part in the first.
#[test]
fn a_follower_is_not_late_with_one_loss_for_another_one() {
    let mut leader = Leader::new();
    let lost = |id| LostMember { member: node(id), base: BASE };
    leader.lead(Vec::new(), vec![(lost(2), RoundId(1))]);
    let (named, counted) = (MemberSet(0b1), MemberSet(0b1));
    leader.step(GroupInput::Home(ToGroup::Cuts(AboutCuts::Follow { named, counted })));
    let first = losses(&leader.sent());
    leader.run(limits::FOLLOWER_LOSS_PATIENCE * 9 / 10);
    leader.step(GroupInput::Home(ToGroup::Lose { lost: lost(3), round: RoundId(2) }));
    let second = losses(&leader.sent());
    for piece in first {
        leader.hear(0, recorded(2, piece));
    }
    leader.run(limits::FOLLOWER_LOSS_PATIENCE / 2);
    assert!(!second.is_empty() && !leader.finds_late(0));
    leader.run(limits::FOLLOWER_LOSS_PATIENCE * 2);
    assert!(leader.finds_late(0));
}

/// The node sleeps for the answers that complete a write, and for no other.
#[test]
fn nobody_waits_for_the_answer_of_a_follower() {
    let mut leader = Leader::new();
    leader.lead(Vec::new(), Vec::new());
    let both = MemberSet(0b101);
    assert_eq!(leader.group.answering(both), both);
    let (named, counted) = (MemberSet(0b1), MemberSet(0b1));
    leader.step(GroupInput::Home(ToGroup::Cuts(AboutCuts::Follow { named, counted })));
    assert_eq!(leader.group.answering(both), MemberSet(0b100));
}
