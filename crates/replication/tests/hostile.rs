//! Bytes of a peer never reach an assert, and never make a member hold more and more.

use format::ids::{
    BlockMask, BlockRange, BootId, Epoch, Incarnation, LaneIndex, MemberSet, NodeId, Nonce,
    QuestionId, Seq,
};
use format::message::{Data, DataBody, ReadStatus, SlotBase, Write, WriteKind};
use format::space::Space;
use replication::balance::ReadPolicy;
use replication::contract::{
    AboutReceipts, FromGroup, GroupAction, GroupInput, LostMember, Misbehaviour, PartId, Payload,
    Request, RequestKind, RoundId, SizeOrder, ToGroup,
};
use replication::group::{GroupOptions, LaneGroup};
use replication::limits;
use stdx::time::Time;

const SESSION: Nonce = Nonce(9);
const LANE: LaneIndex = LaneIndex(0);
const BASE: SlotBase = SlotBase { epoch: Epoch(1), incarnation: Incarnation(5) };

fn node(id: u8) -> NodeId {
    NodeId::new(id).expect("a small id")
}

/// Node 1, with a slot for node 2 on a disk of 1 GiB.
fn group() -> LaneGroup {
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
        slow_limit: limits::SLOW_MEMBER_LIMIT,
        slots: Vec::new(),
        slot_bases: vec![LostMember { member: node(2), base: BASE }],
    })
}

/// The same as an in-sync member of the session of node 0.
fn member() -> LaneGroup {
    let mut group = group();
    let inherit = ToGroup::Inherit { nonce: SESSION, ranges: Vec::new(), round: RoundId(2) };
    step(&mut group, GroupInput::Home(ToGroup::Seal { nonce: SESSION, round: RoundId(1) }));
    step(&mut group, GroupInput::Home(inherit));
    group
}

fn step(group: &mut LaneGroup, input: GroupInput) -> Vec<GroupAction> {
    let mut actions = Vec::new();
    group.step(Time(1), input, &mut actions);
    group.settle(Time(1), &mut actions);
    actions
}

fn from_peer(body: DataBody, payload: Option<Payload>) -> GroupInput {
    let message = Data { nonce: SESSION, volume: 0, body };
    GroupInput::Peer { from: node(0), message, payload }
}

fn discard(seq: u64, stable: u64) -> GroupInput {
    let write = Write {
        lane: LANE,
        seq: Seq(seq),
        order: 0,
        range: BlockRange::new(0, 1),
        kind: WriteKind::Discard,
        fua: false,
        stable: Seq(stable),
        absent: MemberSet::EMPTY,
    };
    from_peer(DataBody::Write(write), None)
}

fn resets(actions: &[GroupAction]) -> bool {
    let is_reset = |action: &GroupAction| {
        let GroupAction::Home(FromGroup::Misbehaved { member, .. }) = action else { return false };
        *member == node(0)
    };
    actions.iter().any(is_reset)
}

/// The name of a device write holds 52 bits of its seq: one that came back cut was not found among
/// the writes under way, and ended the process.
#[test]
fn a_seq_that_no_lane_reaches_is_refused() {
    let far = 1 << 52;
    for input in [
        discard(far + 2, 0),
        discard(far - 1, far),
        from_peer(DataBody::Stable { lane: LANE, stable: Seq(far) }, None),
    ] {
        let mut group = member();
        let actions = step(&mut group, input);
        assert!(resets(&actions), "{actions:?}");
        assert!(!resets(&step(&mut group, discard(1, 0))), "it was as if nothing had come");
    }
}

/// A leader that never says what is stable fills the window, and no more.
#[test]
fn more_writes_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    for seq in 1..=limits::WINDOW_AT_MEMBER_MAX as u64 {
        assert!(!resets(&step(&mut group, discard(seq, 0))), "write {seq} is within the bound");
    }
    let next = limits::WINDOW_AT_MEMBER_MAX as u64 + 1;
    assert!(resets(&step(&mut group, discard(next, 0))));
    assert!(!resets(&step(&mut group, discard(1, 0))), "one that is sent again is no more");
}

/// What a peer asks for is bounded as well: beyond that it hears to ask another.
#[test]
fn more_reads_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    step(
        &mut group,
        GroupInput::Home(ToGroup::Replica(replication::contract::ReplicaRole::InSync)),
    );
    let read = |id: u32| DataBody::Read { lane: LANE, id, range: BlockRange::new(0, 1) };
    let is_refused = |actions: &[GroupAction]| {
        actions.iter().any(|action| {
            let GroupAction::Send { message, .. } = action else { return false };
            matches!(message.body, DataBody::ReadDone { status: ReadStatus::Refused, .. })
        })
    };
    let most = u32::try_from(limits::PEER_READS_PER_LANE_MAX).expect("a small bound");
    for id in 0..most {
        assert!(!is_refused(&step(&mut group, from_peer(read(id), None))), "read {id}");
    }
    assert!(is_refused(&step(&mut group, from_peer(read(most), None))));
}

/// How a peer misbehaved, if it did.
fn misbehaviour(actions: &[GroupAction]) -> Option<Misbehaviour> {
    actions.iter().find_map(|action| {
        let GroupAction::Home(FromGroup::Misbehaved { how, .. }) = action else { return None };
        Some(*how)
    })
}

/// A disk that never ends a flush keeps those who wait for one, and no more of them than there may
/// be. With the connection goes what was asked over it.
#[test]
fn more_flushes_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    let flush = |id| from_peer(DataBody::Flush { id, shard: 0 }, None);
    let most = u32::try_from(limits::FLUSHES_AT_MEMBER_MAX).expect("a small bound");
    // One flush is that of its begin.
    for id in 1..most {
        assert_eq!(misbehaviour(&step(&mut group, flush(id))), None, "flush {id}");
    }
    let too_many = Some(Misbehaviour::TooManyFlushes);
    assert_eq!(misbehaviour(&step(&mut group, flush(most))), too_many);
    step(&mut group, GroupInput::PeerDown { peer: node(0) });
    assert_eq!(misbehaviour(&step(&mut group, flush(0))), None);
}

/// The same of losses, where the start of a slot does not become durable.
#[test]
fn more_losses_than_a_leader_asks_to_write_down_are_refused() {
    let loss = |epoch| {
        let (lane, member, ranges, id) = (LANE, node(2), Vec::new(), QuestionId::UNNAMED);
        let base = SlotBase { epoch: Epoch(epoch), ..BASE };
        from_peer(DataBody::Loss { lane, member, base, ranges, id }, None)
    };
    let too_many = Some(Misbehaviour::TooManyLosses);
    let mut group = member();
    for count in 0..limits::LOSSES_AT_MEMBER_MAX {
        assert_eq!(misbehaviour(&step(&mut group, loss(7))), None, "loss {count}");
    }
    assert_eq!(misbehaviour(&step(&mut group, loss(7))), too_many);
    step(&mut group, GroupInput::PeerDown { peer: node(0) });
    assert_eq!(misbehaviour(&step(&mut group, loss(7))), None);

    // Each of another start is a thing to do for the home, which the connection does not end.
    let mut group = member();
    for epoch in 0..u64::from(limits::SLOT_STARTS_MAX) {
        assert_eq!(misbehaviour(&step(&mut group, loss(7 + epoch))), None, "start {epoch}");
        step(&mut group, GroupInput::PeerDown { peer: node(0) });
    }
    assert_eq!(misbehaviour(&step(&mut group, loss(99))), too_many);
    let base = SlotBase { epoch: Epoch(7), ..BASE };
    let rebased = ToGroup::SlotRebased(LostMember { member: node(2), base });
    step(&mut group, GroupInput::Home(rebased));
    assert_eq!(misbehaviour(&step(&mut group, loss(99))), None);
}

/// Node 1 leads a session in which node 0 alone has to have what is written.
fn leader() -> LaneGroup {
    let mut group = group();
    let members = MemberSet(0b1);
    let lead = ToGroup::Lead {
        nonce: SESSION,
        write_set: members,
        boots: vec![(node(0), BootId(1))],
        outdated: Vec::new(),
        missed: Vec::new(),
        lost: Vec::new(),
    };
    let serve = ToGroup::Serve { epoch: Epoch(2), in_sync: members, round: RoundId(1) };
    step(&mut group, GroupInput::PeerUp { peer: node(0) });
    step(&mut group, GroupInput::Home(lead));
    step(&mut group, GroupInput::Home(serve));
    step(&mut group, GroupInput::Home(ToGroup::Lease { until: Time(2) }));
    group
}

/// What waits behind another write has no seq yet: none that is acknowledged is its own.
#[test]
fn an_acknowledgement_of_what_was_not_sent_is_none() {
    let mut group = leader();
    let write = |part: u64| {
        let kind = RequestKind::Write { payload: Payload(7), fua: false };
        GroupInput::Request(Request { part: PartId(part), kind, offset: 0, length: 4096 })
    };
    step(&mut group, write(1));
    step(&mut group, write(2));
    let ack = |base: u64| {
        let (lane, boot_id) = (LANE, BootId(1));
        from_peer(DataBody::Ack { lane, base: Seq(base), mask: 1, boot_id }, None)
    };
    let answered = |actions: &[GroupAction]| {
        actions.iter().any(|action| matches!(action, GroupAction::Complete { .. }))
    };
    let actions = step(&mut group, ack(0));
    assert!(resets(&actions) && !answered(&actions), "{actions:?}");
    assert!(answered(&step(&mut group, ack(1))));
}

/// The same of what a member has in memory, which would be answered when the others have written.
#[test]
fn a_receipt_of_what_was_not_sent_is_none() {
    let mut group = group();
    let members = MemberSet(0b101);
    let boots = vec![(node(0), BootId(1)), (node(2), BootId(2))];
    let (outdated, missed, lost) = (Vec::new(), Vec::new(), Vec::new());
    let lead = ToGroup::Lead { nonce: SESSION, write_set: members, boots, outdated, missed, lost };
    let count = ToGroup::Receipts(AboutReceipts::Count(MemberSet::of(node(0))));
    let serve = ToGroup::Serve { epoch: Epoch(2), in_sync: members, round: RoundId(1) };
    for told in [count, lead, serve, ToGroup::Lease { until: Time(2) }] {
        step(&mut group, GroupInput::Home(told));
    }
    let write = |part: u64| {
        let kind = RequestKind::Write { payload: Payload(7), fua: false };
        GroupInput::Request(Request { part: PartId(part), kind, offset: 0, length: 4096 })
    };
    step(&mut group, write(1));
    step(&mut group, write(2));
    let (lane, boot_id, mask) = (LANE, BootId(1), 1);
    let receipt = |base| from_peer(DataBody::Received { lane, base, mask, boot_id }, None);
    let from = |id: u8, boot: u64, base: u64| GroupInput::Peer {
        from: node(id),
        message: Data {
            nonce: SESSION,
            volume: 0,
            body: DataBody::Ack { lane, base: Seq(base), mask, boot_id: BootId(boot) },
        },
        payload: None,
    };
    let answered = |actions: &[GroupAction]| {
        actions.iter().any(|action| matches!(action, GroupAction::Complete { .. }))
    };
    let actions = step(&mut group, receipt(Seq(0)));
    assert!(resets(&actions) && !answered(&actions), "{actions:?}");
    // Both have the first one, and the second is sent: node 2 writes it, and node 0 has nothing.
    step(&mut group, from(0, 1, 1));
    assert!(answered(&step(&mut group, from(2, 2, 1))));
    assert!(!answered(&step(&mut group, from(2, 2, 2))));
    assert!(answered(&step(&mut group, receipt(Seq(2)))));
}

/// A client asked for a block and would have got what fits into the answer.
#[test]
fn an_answer_of_another_length_than_was_asked_for_is_no_answer() {
    let mut group = leader();
    let request = Request { part: PartId(1), kind: RequestKind::Read, offset: 0, length: 8192 };
    let actions = step(&mut group, GroupInput::Request(request));
    let id = actions.iter().find_map(|action| {
        let GroupAction::Send { message, .. } = action else { return None };
        let DataBody::Read { id, .. } = message.body else { return None };
        Some(id)
    });
    let id = id.expect("node 0 is asked");
    let done = |length_bytes| DataBody::ReadDone {
        lane: LANE,
        id,
        status: ReadStatus::Ok,
        length_bytes,
        zeroes: BlockMask::EMPTY,
    };
    let is_answer = |action: &GroupAction| matches!(action, GroupAction::Complete { .. });
    let actions = step(&mut group, from_peer(done(4096), Some(Payload(7))));
    assert!(resets(&actions) && !actions.iter().any(is_answer), "{actions:?}");
    let is_released = |action: &GroupAction| matches!(action, GroupAction::Release(Payload(7)));
    assert!(actions.iter().any(is_released), "{actions:?}");
    let actions = step(&mut group, from_peer(done(8192), Some(Payload(8))));
    assert!(actions.iter().any(is_answer), "{actions:?}");
}

/// A config that names another size reached the slots of a disk that is smaller.
#[test]
fn a_volume_that_is_larger_than_the_disk_is_served_as_far_as_the_disk_goes() {
    let mut group = member();
    let size = |blocks| {
        let space = Space::of_one(blocks);
        GroupInput::Home(ToGroup::Size(Box::new(SizeOrder::Volume { space })))
    };
    let (held, lost) = ((1 << 30) / 4096, LostMember { member: node(2), base: BASE });
    step(&mut group, size(1 << 40));
    step(&mut group, GroupInput::Home(ToGroup::SetFull { lost, round: RoundId(3) }));
    assert!(group.is_marked(node(2), held - 1));
    step(&mut group, size(1024));
    step(&mut group, size(held));
    assert!(group.is_marked(node(2), 7), "a smaller size in between takes no mark away");
    let mut write = discard(1, 0);
    if let GroupInput::Peer { message: Data { body: DataBody::Write(write), .. }, .. } = &mut write
    {
        write.range = BlockRange::new(held, 1);
    }
    assert!(resets(&step(&mut group, write)), "beyond the end there is nothing to write");
}
