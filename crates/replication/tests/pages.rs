//! The order in which bitmap pages are written.

use format::ids::{
    BlockRange, BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce, QuestionId,
};
use format::message::{Data, DataBody, SlotBase};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutFlushes, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember, MetadataWrite,
    RoundId, ToGroup, Token,
};
use replication::group::{GroupOptions, LaneGroup, LoadedPage};
use stdx::time::Time;

const ME: u8 = 0;

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn lost(member: u8, epoch: u64) -> LostMember {
    let base = SlotBase { epoch: Epoch(epoch), incarnation: Incarnation(u128::from(member)) };
    LostMember { member: node(member), base }
}

/// Node 0, whose own slot marks block 7 since an earlier life, and nothing else does.
fn restarted() -> LaneGroup {
    let mut bits = Box::new([0; 512]);
    bits[0] = 1 << 7;
    LaneGroup::new(GroupOptions {
        me: node(ME),
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
        slots: vec![LoadedPage { member: node(ME), lane: LaneIndex(0), page: 0, bits }],
        slot_bases: vec![lost(1, 3), lost(ME, 0)],
    })
}

fn step(group: &mut LaneGroup, input: GroupInput) -> Vec<GroupAction> {
    let mut actions = Vec::new();
    group.step(Time(1), input, &mut actions);
    group.settle(Time(1), &mut actions);
    actions
}

fn tell(group: &mut LaneGroup, message: ToGroup) -> Vec<GroupAction> {
    step(group, GroupInput::Home(message))
}

fn done(group: &mut LaneGroup, token: Token) -> Vec<GroupAction> {
    step(group, GroupInput::Device { token, result: Ok(DeviceResult::Done) })
}

/// The device flushed, and the home of the only group has heard of no error.
fn flushed(group: &mut LaneGroup, token: Token) -> Vec<GroupAction> {
    let number = done(group, token).into_iter().find_map(|action| {
        let GroupAction::Home(FromGroup::DeviceFlushed { number }) = action else { return None };
        Some(number)
    });
    let number = number.expect("the home is asked whether to believe that");
    let shard = 0;
    tell(group, ToGroup::Flushes(AboutFlushes::Believe { shard, number }))
}

/// The pages that are written: of whom, what they mark, and by which request.
fn pages(actions: &[GroupAction]) -> Vec<(u8, u64, Token)> {
    let page = |action: &GroupAction| {
        let GroupAction::WriteMetadata { token, write } = action else { return None };
        let MetadataWrite::Bitmap { member, bits, .. } = write else { return None };
        Some((member.get(), bits[0], *token))
    };
    actions.iter().filter_map(page).collect()
}

/// A promotion of this replica alone moves what its own slot marks to the slot of the one that is
/// away. No activity log names that extent any more, and the two pages went to the disk together:
/// a power cut that kept one of them alone left the block marked for nobody.
#[test]
fn marks_that_move_to_another_slot_leave_the_own_one_last() {
    let mut group = restarted();
    let (nonce, round) = (Nonce(9), RoundId(1));
    let flush = tell(&mut group, ToGroup::Seal { nonce, round }).into_iter().find_map(|action| {
        let GroupAction::FlushDevice { token } = action else { return None };
        Some(token)
    });
    flushed(&mut group, flush.expect("the device is flushed before the first seal is answered"));
    let LostMember { member, base } = lost(1, 3);
    let (lane, ranges, id) = (LaneIndex(0), vec![BlockRange::new(7, 1)], QuestionId::of(1));
    let body = DataBody::Loss { lane, member, base, ranges, id };
    let message = Data { nonce, volume: 0, body };
    let recorded = step(&mut group, GroupInput::Peer { from: node(2), message, payload: None });
    assert!(recorded.iter().any(|action| {
        matches!(action, GroupAction::Send { message, .. }
            if matches!(message.body, DataBody::LossDone { .. }))
    }));
    tell(&mut group, ToGroup::Inherit { nonce, ranges: Vec::new(), round: RoundId(2) });

    let actions = tell(&mut group, ToGroup::MakeDurable { round: RoundId(3) });
    let [(1, 0x80, of_other)] = pages(&actions)[..] else { panic!("{:?}", pages(&actions)) };
    let flush = actions.iter().find_map(|action| {
        let GroupAction::FlushDevice { token } = action else { return None };
        Some(*token)
    });
    let actions = flushed(&mut group, flush.expect("a checkpoint flushes"));
    assert_eq!(pages(&actions), []);
    let actions = done(&mut group, of_other);
    let [(ME, 0, of_own)] = pages(&actions)[..] else { panic!("{:?}", pages(&actions)) };
    let is_durable = |actions: &[GroupAction]| {
        let answered = GroupAction::Home(FromGroup::Answer { round: RoundId(3) });
        actions.iter().any(|action| format!("{action:?}") == format!("{answered:?}"))
    };
    assert!(!is_durable(&actions));
    assert!(is_durable(&done(&mut group, of_own)));
}
