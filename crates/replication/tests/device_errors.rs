//! I15: a write that the device failed is never acknowledged, whoever asks how often.

use format::ids::{BlockRange, BootId, Incarnation, LaneIndex, MemberSet, NodeId, Nonce, Seq};
use format::message::{Data, DataBody, SlotBase, Write, WriteKind};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    DeviceError, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember, MetadataWrite,
    Payload, RoundId, ToGroup, Token,
};
use replication::group::{GroupOptions, LaneGroup};
use stdx::time::Time;

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn secondary() -> LaneGroup {
    let base = SlotBase { epoch: format::ids::Epoch(0), incarnation: Incarnation(0) };
    let slot = |id| LostMember { member: node(id), base };
    LaneGroup::new(GroupOptions {
        me: node(1),
        boot_id: BootId(1),
        shard: 0,
        shards: 1,
        volume: 0,
        lanes: 16,
        space: Space::of_one(1 << 18),
        has_disk: true,
        al_slots: 8,
        al_next_number: 1,
        tracked: MemberSet(0b11),
        read_policy: ReadPolicy::default(),
        slow_limit: replication::limits::SLOW_MEMBER_LIMIT,
        slots: Vec::new(),
        slot_bases: vec![slot(0), slot(1)],
    })
}

fn step(group: &mut LaneGroup, input: GroupInput) -> Vec<GroupAction> {
    let mut actions = Vec::new();
    group.step(Time(1), input, &mut actions);
    group.settle(Time(1), &mut actions);
    actions
}

fn write_once(group: &mut LaneGroup) -> Vec<GroupAction> {
    let write = Write {
        lane: LaneIndex(0),
        seq: Seq(1),
        order: 0,
        range: BlockRange::new(0, 1),
        kind: WriteKind::Data,
        fua: false,
        stable: Seq(0),
        absent: MemberSet::EMPTY,
    };
    let message = Data { nonce: Nonce(9), volume: 0, body: DataBody::Write(write) };
    step(group, GroupInput::Peer { from: node(0), message, payload: Some(Payload(1)) })
}

fn acknowledges(actions: &[GroupAction]) -> bool {
    actions.iter().any(|action| {
        matches!(action, GroupAction::Send { message, .. }
            if matches!(message.body, DataBody::Ack { .. }))
    })
}

/// Starts the session, writes once, and lets the activity log record its extent.
fn write_under_way() -> (LaneGroup, Token) {
    let mut group = secondary();
    step(&mut group, GroupInput::Home(ToGroup::Seal { nonce: Nonce(9), round: RoundId(1) }));
    let (nonce, ranges, round) = (Nonce(9), Vec::new(), RoundId(2));
    step(&mut group, GroupInput::Home(ToGroup::Inherit { nonce, ranges, round }));
    let actions = write_once(&mut group);
    let record = actions.iter().find_map(|action| {
        let GroupAction::WriteMetadata { token, write: MetadataWrite::Activity(_) } = action else {
            return None;
        };
        Some(*token)
    });
    let token = record.expect("a cold extent is logged first");
    let done = GroupInput::Device { token, result: Ok(DeviceResult::Done) };
    let write = step(&mut group, done).iter().find_map(|action| {
        let GroupAction::WriteDevice { token, .. } = action else { return None };
        Some(*token)
    });
    (group, write.expect("a hot extent is written"))
}

#[test]
fn a_repeated_write_that_failed_on_the_device_is_not_acknowledged() {
    let (mut group, token) = write_under_way();
    let actions = step(&mut group, GroupInput::Device { token, result: Err(DeviceError) });
    assert!(!acknowledges(&actions));
    let failed = |action: &GroupAction| {
        let GroupAction::Home(FromGroup::MemberFailed { member }) = action else { return false };
        *member == node(1)
    };
    assert!(actions.iter().any(failed), "the home shard hears of it");
    assert!(!acknowledges(&write_once(&mut group)), "sent again before the replica is withdrawn");
}

#[test]
fn a_repeated_write_that_is_done_is_acknowledged_again() {
    let (mut group, token) = write_under_way();
    let done = GroupInput::Device { token, result: Ok(DeviceResult::Done) };
    assert!(acknowledges(&step(&mut group, done)));
    assert!(acknowledges(&write_once(&mut group)));
}
