//! A leader whose own replica is the only one: nobody else is to be waited for.

use format::ids::{BootId, Epoch, Incarnation, MemberSet, NodeId, Nonce};
use format::message::SlotBase;
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutFlushes, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember, PartId, Payload,
    ReplicaRole, Request, RequestKind, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits;
use stdx::time::Time;

const SESSION: Nonce = Nonce(9);
const NOW: Time = Time(1);
const EXTENT_BYTES: u64 = 4 << 20;

/// Node 0 and its disk, which does at once what it is asked.
struct Alone {
    group: LaneGroup,
    completed: u64,
}

impl Alone {
    fn new(al_slots: usize) -> Self {
        let (me, all) = (NodeId::new(0).expect("a small id"), MemberSet(0b1));
        let base = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };
        let group = LaneGroup::new(GroupOptions {
            me,
            boot_id: BootId(1),
            shard: 0,
            shards: 1,
            volume: 0,
            lanes: 16,
            space: Space::of_one(1 << 18),
            has_disk: true,
            al_slots,
            al_next_number: 1,
            tracked: all,
            read_policy: ReadPolicy::default(),
            slow_limit: limits::SLOW_MEMBER_LIMIT,
            slots: Vec::new(),
            slot_bases: vec![LostMember { member: me, base }],
        });
        let mut alone = Self { group, completed: 0 };
        let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
        let (nonce, write_set, boots) = (SESSION, all, vec![(me, BootId(1))]);
        for order in [
            ToGroup::Replica(ReplicaRole::InSync),
            ToGroup::Seal { nonce, round: RoundId(1) },
            ToGroup::Inherit { nonce, ranges: Vec::new(), round: RoundId(2) },
            ToGroup::Lead { nonce, write_set, boots, outdated, missed, lost },
            ToGroup::Serve { epoch: Epoch(2), in_sync: all, round: RoundId(3) },
            ToGroup::Lease { until: Time::NEVER },
        ] {
            alone.step(GroupInput::Home(order));
        }
        alone
    }

    /// All that follows from an input, without any time going by.
    fn step(&mut self, input: GroupInput) {
        let (mut inputs, mut actions) = (vec![input], Vec::new());
        while !inputs.is_empty() {
            for input in inputs.drain(..) {
                self.group.step(NOW, input, &mut actions);
            }
            self.group.settle(NOW, &mut actions);
            for action in actions.drain(..) {
                match action {
                    GroupAction::WriteDevice { token, .. }
                    | GroupAction::FlushDevice { token }
                    | GroupAction::WriteMetadata { token, .. } => {
                        let result = Ok(DeviceResult::Done);
                        inputs.push(GroupInput::Device { token, result });
                    }
                    GroupAction::Complete { result, .. } => {
                        assert_eq!(result, Ok(None));
                        self.completed += 1;
                    }
                    GroupAction::Home(FromGroup::DeviceFlushed { number }) => {
                        let believe = AboutFlushes::Believe { shard: 0, number };
                        inputs.push(ToGroup::Flushes(believe).into());
                    }
                    GroupAction::Release(_) | GroupAction::Home(_) => {}
                    other @ (GroupAction::ReadDevice { .. }
                    | GroupAction::DigestDevice { .. }
                    | GroupAction::CopyDevice { .. }
                    | GroupAction::ZeroDevice { .. }
                    | GroupAction::Send { .. }
                    | GroupAction::SendWrite { .. }
                    | GroupAction::Overlay { .. }
                    | GroupAction::DigestPayload { .. }
                    | GroupAction::KeepBlocks { .. }) => {
                        panic!("a write needs nothing like {other:?}")
                    }
                }
            }
            assert!(!self.group.forgets_errands());
        }
    }

    fn write(&mut self, offset: u64) {
        let kind = RequestKind::Write { payload: Payload(1), fua: false };
        let request = Request { part: PartId(offset), kind, offset, length: 4096 };
        self.step(GroupInput::Request(request));
    }
}

/// A write is stable as soon as the one replica has it, and its extent may leave the log, though
/// its lane has no further write that would say so.
#[test]
fn a_small_log_makes_room_at_once() {
    let mut alone = Alone::new(2);
    for extent in 0..60 {
        alone.write(extent * EXTENT_BYTES);
    }
    assert_eq!(alone.completed, 60);
}

/// What is stable is missed by nobody who is lost afterwards.
#[test]
fn a_loss_finds_nothing_that_is_stable() {
    let mut alone = Alone::new(64);
    (0..5).for_each(|extent| alone.write(extent * EXTENT_BYTES));
    assert!((0..5).any(|extent| alone.group.holds_unequal(extent * 1024)));
    alone.step(GroupInput::Home(ToGroup::Lease { until: Time::NEVER }));
    assert!(!(0..5).any(|extent| alone.group.holds_unequal(extent * 1024)));
}
