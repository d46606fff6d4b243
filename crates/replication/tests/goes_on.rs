//! What waits in a lane goes on as soon as it can, though nothing more is asked of the lane.

use format::ids::{BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce, Seq};
use format::message::{Data, DataBody, SlotBase};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutReceipts, DeviceError, DeviceResult, GroupAction, GroupInput, LostMember, PartId, Payload,
    ReplicaRole, Request, RequestError, RequestKind, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits;
use stdx::time::Time;

const NOW: Time = Time(1);
const SESSION: Nonce = Nonce(9);

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn boot(id: u8) -> BootId {
    BootId(u64::from(id) + 1)
}

/// The node that leads, and its disk, if it has one, which reads nothing.
struct Leader {
    group: LaneGroup,
    /// What else it did.
    actions: Vec<GroupAction>,
}

impl Leader {
    /// The nodes `members` have the data.
    fn new(me: u8, members: &[u8]) -> Self {
        let base = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };
        let all: MemberSet = members.iter().map(|&id| node(id)).collect();
        let has_disk = members.contains(&me);
        let group = LaneGroup::new(GroupOptions {
            me: node(me),
            boot_id: boot(me),
            shard: 0,
            shards: 1,
            volume: 0,
            lanes: 16,
            space: Space::of_one(1 << 18),
            has_disk,
            al_slots: 8,
            al_next_number: 1,
            tracked: all,
            read_policy: ReadPolicy::default(),
            slow_limit: limits::SLOW_MEMBER_LIMIT,
            slots: Vec::new(),
            slot_bases: all.iter().map(|member| LostMember { member, base }).collect(),
        });
        let mut leader = Self { group, actions: Vec::new() };
        for &id in members.iter().filter(|&&id| id != me) {
            leader.step(GroupInput::PeerUp { peer: node(id) });
        }
        let nonce = SESSION;
        let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let boots = members.iter().map(|&id| (node(id), boot(id))).collect();
        if has_disk {
            leader.obey(ToGroup::Replica(ReplicaRole::InSync));
            leader.obey(ToGroup::Seal { nonce, round: RoundId(1) });
            leader.obey(ToGroup::Inherit { nonce, ranges: Vec::new(), round: RoundId(2) });
        }
        leader.obey(ToGroup::Lead { nonce, write_set: all, boots, outdated, missed, lost });
        leader.obey(ToGroup::Serve { epoch: Epoch(2), in_sync: all, round: RoundId(3) });
        leader.obey(ToGroup::Lease { until: Time::NEVER });
        leader.actions.clear();
        leader
    }

    fn step(&mut self, input: GroupInput) {
        let (mut inputs, mut actions) = (vec![input], Vec::new());
        while !inputs.is_empty() {
            for input in inputs.drain(..) {
                self.group.step(NOW, input, &mut actions);
            }
            self.group.settle(NOW, &mut actions);
            assert!(!self.group.forgets_errands());
            for action in actions.drain(..) {
                if let GroupAction::ReadDevice { token, .. } = action {
                    inputs.push(GroupInput::Device { token, result: Err(DeviceError) });
                } else if let GroupAction::FlushDevice { token } = action {
                    inputs.push(GroupInput::Device { token, result: Ok(DeviceResult::Done) });
                } else {
                    self.actions.push(action);
                }
            }
        }
    }

    fn obey(&mut self, order: ToGroup) {
        self.step(GroupInput::Home(order));
    }

    fn hear(&mut self, from: u8, body: DataBody) {
        let message = Data { nonce: SESSION, volume: 0, body };
        self.step(GroupInput::Peer { from: node(from), message, payload: None });
    }

    /// Of one block.
    fn ask(&mut self, part: u64, kind: RequestKind, block: u64) {
        let (part, offset) = (PartId(part), block * 4096);
        self.step(GroupInput::Request(Request { part, kind, offset, length: 4096 }));
    }

    fn ended(&self, wanted: &Result<Option<Payload>, RequestError>) -> usize {
        let is_end = |action: &&GroupAction| {
            let GroupAction::Complete { result, .. } = action else { return false };
            result == wanted
        };
        self.actions.iter().filter(is_end).count()
    }

    fn reads_from(&self, member: u8) -> usize {
        let is_read = |action: &&GroupAction| {
            let GroupAction::Send { to, message, .. } = action else { return false };
            *to == node(member) && matches!(message.body, DataBody::Read { .. })
        };
        self.actions.iter().filter(is_read).count()
    }
}

/// The last one that could have been asked is lost with as many reads as a lane may have under way:
/// what came after them is refused as well.
#[test]
fn what_waits_behind_reads_that_all_fail_is_answered() {
    let mut leader = Leader::new(0, &[0, 1]);
    let all = limits::OPERATIONS_PER_LANE_MAX as u64 + 20;
    (0..all).for_each(|part| leader.ask(part, RequestKind::Read, part));
    leader.step(GroupInput::PeerDown { peer: node(1) });
    assert_eq!(leader.ended(&Err(RequestError::Io)), 0);
    let (member, epoch, in_sync) = (node(1), Epoch(3), MemberSet::of(node(0)));
    leader.obey(ToGroup::Lost { member, epoch, in_sync });
    assert_eq!(leader.ended(&Err(RequestError::Io)) as u64, all);
}

/// A write is answered that both members have in memory alone, and then receipts count no more. A
/// read of it goes to the first that has written, whatever the other one does.
#[test]
fn a_read_goes_to_the_first_that_wrote_what_was_answered() {
    let mut leader = Leader::new(1, &[0, 2]);
    let count = |members| ToGroup::Receipts(AboutReceipts::Count(members));
    leader.obey(count(MemberSet(0b101)));
    leader.ask(1, RequestKind::Write { payload: Payload(1), fua: false }, 7);
    let (lane, base, mask) = (LaneIndex(0), Seq(1), 1);
    for id in [0, 2] {
        leader.hear(id, DataBody::Received { lane, base, mask, boot_id: boot(id) });
    }
    assert_eq!(leader.ended(&Ok(None)), 1);
    leader.ask(2, RequestKind::Read, 7);
    leader.obey(count(MemberSet::EMPTY));
    assert_eq!((leader.reads_from(0), leader.reads_from(2)), (0, 0));
    leader.hear(0, DataBody::Ack { lane, base, mask, boot_id: boot(0) });
    assert_eq!((leader.reads_from(0), leader.reads_from(2)), (1, 0));
}
