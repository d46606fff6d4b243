//! What one member does when things come in an order that is rare between processes.

use format::ids::{
    BlockMask, BlockRange, BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce,
    QuestionId, Seq,
};
use format::message::{Data, DataBody, ReadStatus, SlotBase, Write, WriteKind};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutCuts, AboutFlushes, DeviceResult, FromGroup, GroupAction, GroupInput, LostMember, PartId,
    Request, RequestKind, RoundId, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup, LoadedPage};
use stdx::time::Time;

const SESSION: Nonce = Nonce(9);

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

fn base(epoch: u64) -> SlotBase {
    SlotBase { epoch: Epoch(epoch), incarnation: Incarnation(5) }
}

fn lost(member: u8, epoch: u64) -> LostMember {
    LostMember { member: node(member), base: base(epoch) }
}

/// Node 1, with slots for nodes 0 to 2; the slot of node 2 starts at `start`.
fn group(start: Epoch, slots: Vec<LoadedPage>) -> LaneGroup {
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
        tracked: MemberSet(0b111),
        read_policy: ReadPolicy::default(),
        slow_limit: replication::limits::SLOW_MEMBER_LIMIT,
        slots,
        slot_bases: vec![lost(0, 1), lost(1, 1), lost(2, start.0)],
    })
}

fn step(group: &mut LaneGroup, input: GroupInput) -> Vec<GroupAction> {
    let mut actions = Vec::new();
    group.step(Time(1), input, &mut actions);
    group.settle(Time(1), &mut actions);
    actions
}

fn from_leader(body: DataBody) -> GroupInput {
    let message = Data { nonce: SESSION, volume: 0, body };
    GroupInput::Peer { from: node(0), message, payload: None }
}

fn loss(lost: LostMember, ranges: Vec<BlockRange>) -> GroupInput {
    let LostMember { member, base } = lost;
    from_leader(DataBody::Loss {
        lane: LaneIndex(0),
        member,
        base,
        ranges,
        id: QuestionId::UNNAMED,
    })
}

fn discard(seq: u64) -> DataBody {
    DataBody::Write(Write {
        lane: LaneIndex(0),
        seq: Seq(seq),
        order: 0,
        range: BlockRange::new(0, 1),
        kind: WriteKind::Discard,
        fua: false,
        stable: Seq(0),
        absent: MemberSet::EMPTY,
    })
}

/// Two ways lead to a returning member: what the leader says of a loss, and the slot of another
/// that it was told to take over. The second may come last, and know less.
#[test]
fn a_slot_that_is_taken_over_does_not_empty_what_a_loss_has_filled() {
    let mut group = group(Epoch(1), Vec::new());
    step(&mut group, GroupInput::Home(ToGroup::Seal { nonce: SESSION, round: RoundId(1) }));
    let (floors, round) = (Vec::new(), RoundId(2));
    step(&mut group, GroupInput::Home(ToGroup::Admit { nonce: SESSION, floors, round }));
    let keep = lost(2, replication::KEEP.0);
    step(&mut group, loss(keep, vec![BlockRange::new(7, 1)]));
    step(&mut group, loss(lost(2, 3), vec![BlockRange::new(9, 1)]));
    assert!(group.is_marked(node(2), 9));
    assert!(group.is_marked(node(2), 7), "what was in flight when node 2 went away");
}

/// An in-sync member starts the slot anew: the lost one had all that was marked before.
#[test]
fn a_loss_empties_the_slot_of_an_older_one_at_an_in_sync_member() {
    let mut group = group(Epoch(1), Vec::new());
    step(&mut group, GroupInput::Home(ToGroup::Seal { nonce: SESSION, round: RoundId(1) }));
    let (ranges, round) = (Vec::new(), RoundId(2));
    step(&mut group, GroupInput::Home(ToGroup::Inherit { nonce: SESSION, ranges, round }));
    step(&mut group, loss(lost(2, 1), vec![BlockRange::new(7, 1)]));
    step(&mut group, loss(lost(2, 3), vec![BlockRange::new(9, 1)]));
    assert!(group.is_marked(node(2), 9) && !group.is_marked(node(2), 7));
}

#[test]
fn a_slot_that_misses_everything_is_not_narrowed_by_its_pages_on_disk() {
    let page =
        LoadedPage { member: node(2), lane: LaneIndex(0), page: 0, bits: Box::new([0; 512]) };
    let group = group(replication::FULL, vec![page]);
    assert!(group.is_marked(node(2), 7));
}

/// Leads a session whose one member with data is node 0.
fn serve_with_node_0(group: &mut LaneGroup) {
    let members = MemberSet(0b1);
    let lead = ToGroup::Lead {
        nonce: SESSION,
        write_set: members,
        boots: vec![(node(0), BootId(2))],
        outdated: Vec::new(),
        missed: Vec::new(),
        lost: Vec::new(),
    };
    step(group, GroupInput::PeerUp { peer: node(0) });
    step(group, GroupInput::Home(lead));
    let (epoch, round) = (Epoch(2), RoundId(1));
    step(group, GroupInput::Home(ToGroup::Serve { epoch, in_sync: members, round }));
}

fn asked(actions: &[GroupAction]) -> Option<(NodeId, u32)> {
    actions.iter().find_map(|action| {
        let GroupAction::Send { to, message, .. } = action else { return None };
        let DataBody::Read { id, .. } = message.body else { return None };
        Some((*to, id))
    })
}

/// A member that joined just now is in sync by the config, and may hear of it after the first read.
#[test]
fn a_read_that_a_new_member_refuses_is_asked_of_it_again() {
    let mut group = group(Epoch(1), Vec::new());
    serve_with_node_0(&mut group);
    let request = Request { part: PartId(1), kind: RequestKind::Read, offset: 0, length: 4096 };
    let (to, id) = asked(&step(&mut group, GroupInput::Request(request))).expect("a read");
    assert_eq!(to, node(0));
    let status = ReadStatus::Refused;
    let (lane, length_bytes, zeroes) = (LaneIndex(0), 0, BlockMask::EMPTY);
    let refused = DataBody::ReadDone { lane, id, status, length_bytes, zeroes };
    let actions = step(&mut group, from_leader(refused));
    let failed = actions.iter().any(|action| matches!(action, GroupAction::Complete { .. }));
    assert!(!failed, "the member has the bytes: {actions:?}");
    let again =
        asked(&actions).or_else(|| asked(&step(&mut group, GroupInput::PeerUp { peer: to })));
    assert_eq!(again.map(|(to, _)| to), Some(node(0)));
}

/// Bytes of a peer never reach an assert: it says that a write is on every member while this one
/// has not applied it.
#[test]
fn a_leader_that_calls_stable_what_was_not_acknowledged_is_reset() {
    let mut group = group(Epoch(1), Vec::new());
    step(&mut group, GroupInput::Home(ToGroup::Seal { nonce: SESSION, round: RoundId(1) }));
    let (ranges, round) = (Vec::new(), RoundId(2));
    step(&mut group, GroupInput::Home(ToGroup::Inherit { nonce: SESSION, ranges, round }));
    step(&mut group, from_leader(discard(1)));
    let stable = DataBody::Stable { lane: LaneIndex(0), stable: Seq(5) };
    let actions = step(&mut group, from_leader(stable));
    let leader = node(0);
    let is_reset = |action: &GroupAction| {
        let GroupAction::Home(FromGroup::Misbehaved { member, .. }) = action else { return false };
        *member == leader
    };
    assert!(actions.iter().any(is_reset), "{actions:?}");
}

/// A member that came back as another process does not speak for the one that was sent the write.
#[test]
fn an_acknowledgement_of_another_boot_is_void() {
    for (boot, is_valid) in [(BootId(2), true), (BootId(3), false)] {
        let mut group = group(Epoch(1), Vec::new());
        serve_with_node_0(&mut group);
        let kind = RequestKind::Discard { fua: false };
        let request = Request { part: PartId(1), kind, offset: 0, length: 4096 };
        step(&mut group, GroupInput::Request(request));
        step(&mut group, GroupInput::Flush(PartId(2)));
        let lane = LaneIndex(0);
        let ack = DataBody::Ack { lane, base: Seq(1), mask: 1, boot_id: boot };
        let flushed = DataBody::FlushDone { id: 0, shard: 0, boot_id: boot };
        for body in [ack, flushed] {
            let actions = step(&mut group, from_leader(body));
            let completes = |action: &GroupAction| matches!(action, GroupAction::Complete { .. });
            assert_eq!(actions.iter().any(completes), is_valid, "{boot:?}: {actions:?}");
        }
    }
}

/// As node 1 of a session; its disk does at once what it is asked. Gives what the home is told.
fn obey(group: &mut LaneGroup, input: GroupInput) -> Vec<FromGroup> {
    let (mut inputs, mut told) = (vec![input], Vec::new());
    while let Some(input) = inputs.pop() {
        for action in step(group, input) {
            if let GroupAction::WriteMetadata { token, .. }
            | GroupAction::ZeroDevice { token, .. }
            | GroupAction::FlushDevice { token } = action
            {
                inputs.push(GroupInput::Device { token, result: Ok(DeviceResult::Done) });
            } else if let GroupAction::Home(FromGroup::DeviceFlushed { number }) = action {
                let believe = AboutFlushes::Believe { shard: 0, number };
                inputs.push(ToGroup::Flushes(believe).into());
            } else if let GroupAction::Home(fact) = action {
                told.push(fact);
            }
        }
    }
    told
}

fn cut(number: u32, seq: u64) -> GroupInput {
    let (lane, seq, stable) = (LaneIndex(0), Seq(seq), Seq(0));
    from_leader(DataBody::Cut { lane, number, seq, stable, skipped: u64::MAX << 1 })
}

/// What it applied before it held anything is all in the second of two cuts: the first one, which
/// its other lanes may be at, makes no state of it that ever was.
#[test]
fn a_returned_follower_is_at_the_cut_that_is_released_and_at_no_later_one() {
    for (released, is_wanted_open) in [(5, true), (6, false)] {
        let mut group = group(Epoch(1), Vec::new());
        let (nonce, floors) = (SESSION, vec![Seq(1); 16]);
        obey(&mut group, ToGroup::Seal { nonce, round: RoundId(1) }.into());
        obey(&mut group, ToGroup::Admit { nonce, floors, round: RoundId(2) }.into());
        for input in [from_leader(discard(1)), cut(5, 1), from_leader(discard(2))] {
            obey(&mut group, input);
        }
        for about in [AboutCuts::Hold { round: RoundId(3) }, AboutCuts::Release { number: 5 }] {
            obey(&mut group, ToGroup::Cuts(about).into());
        }
        obey(&mut group, cut(6, 2));
        obey(&mut group, ToGroup::Cuts(AboutCuts::Release { number: released }).into());
        let told = obey(&mut group, ToGroup::Seal { nonce: Nonce(10), round: RoundId(4) }.into());
        let is_open = told.iter().find_map(|fact| {
            let FromGroup::Quiesced { is_open, .. } = fact else { return None };
            Some(*is_open)
        });
        assert_eq!(is_open, Some(is_wanted_open), "cut {released} was released last: {told:?}");
    }
}
