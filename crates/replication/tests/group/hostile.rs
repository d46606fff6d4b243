//! Bytes of a peer never reach an assert, and never make a member hold more and more.

use format::ids::{BlockMask, BlockRange, QuestionId, Seq};
use format::message::{DataBody, ReadStatus, Write};
use format::space::Space;
use replication::contract::{
    AboutReceipts, GroupAction, GroupInput, Misbehaviour, PartId, Payload, ReplicaRole, Request,
    RequestKind, RoundId, SizeOrder, ToGroup,
};
use replication::group::GroupOptions;
use replication::limits;

use crate::harness::{
    Disk, Group, LANE, WRITE, answers, asked, boot, discard, loss, lost, misbehaviour, node,
    options, resets, sent, set,
};

/// Node 1, with a slot for node 2 on a disk of 1 GiB.
fn group() -> Group {
    let slot_bases = vec![lost(2, 1)];
    Group::new(Disk::ByHand, GroupOptions { slot_bases, ..options(1, &[0, 1]) })
}

/// The same as an in-sync member of the session of node 0.
fn member() -> Group {
    group().into_member()
}

/// Node 1 leads a session in which node 0 alone has to have what is written.
fn leader() -> Group {
    group().into_leader(&[0])
}

/// The name of a device write holds 52 bits of its seq: one that came back cut was not found among
/// the writes under way, and ended the process.
#[test]
fn a_seq_that_no_lane_reaches_is_refused() {
    let far = 1 << 52;
    for body in [
        DataBody::Write(discard(far + 2)),
        DataBody::Write(Write { stable: Seq(far), ..discard(far - 1) }),
        DataBody::Stable { lane: LANE, stable: Seq(far) },
    ] {
        let mut group = member();
        let actions = group.hear(0, body);
        assert!(resets(actions), "{actions:?}");
        assert!(!resets(group.hear_write(discard(1))), "it was as if nothing had come");
    }
}

/// A leader that never says what is stable fills the window, and no more.
#[test]
fn more_writes_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    let mut is_refused = |seq| resets(group.hear_write(discard(seq)));
    let most = limits::WINDOW_AT_MEMBER_MAX as u64;
    for seq in 1..=most {
        assert!(!is_refused(seq), "write {seq} is within the bound");
    }
    assert!(is_refused(most + 1));
    assert!(!is_refused(1), "one that is sent again is no more");
}

/// What a peer asks for is bounded as well: beyond that it hears to ask another.
#[test]
fn more_reads_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    group.step(ToGroup::Replica(ReplicaRole::InSync));
    let mut is_refused = |id| {
        let read = DataBody::Read { lane: LANE, id, range: BlockRange::new(0, 1) };
        sent(group.hear(0, read))
            .any(|(_, body)| matches!(body, DataBody::ReadDone { status: ReadStatus::Refused, .. }))
    };
    let most = u32::try_from(limits::PEER_READS_PER_LANE_MAX).expect("a small bound");
    for id in 0..most {
        assert!(!is_refused(id), "read {id}");
    }
    assert!(is_refused(most));
}

/// A disk that never ends a flush keeps those who wait for one, and no more of them than there may
/// be. With the connection goes what was asked over it.
#[test]
fn more_flushes_than_a_leader_has_under_way_are_refused() {
    let mut group = member();
    let flush = |id| DataBody::Flush { id, shard: 0 };
    let most = u32::try_from(limits::FLUSHES_AT_MEMBER_MAX).expect("a small bound");
    // One flush is that of its begin.
    for id in 1..most {
        assert_eq!(misbehaviour(group.hear(0, flush(id))), None, "flush {id}");
    }
    let too_many = Some(Misbehaviour::TooManyFlushes);
    assert_eq!(misbehaviour(group.hear(0, flush(most))), too_many);
    group.step(GroupInput::PeerDown { peer: node(0) });
    assert_eq!(misbehaviour(group.hear(0, flush(0))), None);
}

/// The same of losses, where the start of a slot does not become durable.
#[test]
fn more_losses_than_a_leader_asks_to_write_down_are_refused() {
    let loss = |epoch| loss(QuestionId::UNNAMED, lost(2, epoch), Vec::new());
    let too_many = Some(Misbehaviour::TooManyLosses);
    let mut group = member();
    for count in 0..limits::LOSSES_AT_MEMBER_MAX {
        assert_eq!(misbehaviour(group.hear(0, loss(7))), None, "loss {count}");
    }
    assert_eq!(misbehaviour(group.hear(0, loss(7))), too_many);
    group.step(GroupInput::PeerDown { peer: node(0) });
    assert_eq!(misbehaviour(group.hear(0, loss(7))), None);

    // Each of another start is a thing to do for the home, which the connection does not end.
    let mut group = member();
    for epoch in 0..u64::from(limits::SLOT_STARTS_MAX) {
        assert_eq!(misbehaviour(group.hear(0, loss(7 + epoch))), None, "start {epoch}");
        group.step(GroupInput::PeerDown { peer: node(0) });
    }
    assert_eq!(misbehaviour(group.hear(0, loss(99))), too_many);
    group.step(ToGroup::SlotRebased(lost(2, 7)));
    assert_eq!(misbehaviour(group.hear(0, loss(99))), None);
}

/// What waits behind another write has no seq yet: none that is acknowledged is its own.
#[test]
fn an_acknowledgement_of_what_was_not_sent_is_none() {
    let mut group = leader();
    group.ask(1, WRITE, 0);
    group.ask(2, WRITE, 0);
    let (lane, boot_id) = (LANE, boot(0));
    let ack = |base: u64| DataBody::Ack { lane, base: Seq(base), mask: 1, boot_id };
    let actions = group.hear(0, ack(0));
    assert!(resets(actions) && !answers(actions), "{actions:?}");
    assert!(answers(group.hear(0, ack(1))));
}

/// The same of what a member has in memory, which would be answered when the others have written.
#[test]
fn a_receipt_of_what_was_not_sent_is_none() {
    let mut group = group();
    group.step(ToGroup::Receipts(AboutReceipts::Count(set(&[0]))));
    let mut group = group.into_leader(&[0, 2]);
    group.ask(1, WRITE, 0);
    group.ask(2, WRITE, 0);
    let (lane, mask) = (LANE, 1);
    let receipt = |base| DataBody::Received { lane, base: Seq(base), mask, boot_id: boot(0) };
    let ack = |id, base| DataBody::Ack { lane, base: Seq(base), mask, boot_id: boot(id) };
    let actions = group.hear(0, receipt(0));
    assert!(resets(actions) && !answers(actions), "{actions:?}");
    // Both have the first one, and the second is sent: node 2 writes it, and node 0 has nothing.
    group.hear(0, ack(0, 1));
    assert!(answers(group.hear(2, ack(2, 1))));
    assert!(!answers(group.hear(2, ack(2, 2))));
    assert!(answers(group.hear(0, receipt(2))));
}

/// A client asked for a block and would have got what fits into the answer.
#[test]
fn an_answer_of_another_length_than_was_asked_for_is_no_answer() {
    let mut group = leader();
    let request = Request { part: PartId(1), kind: RequestKind::Read, offset: 0, length: 8192 };
    let (_, id) = asked(group.step(GroupInput::Request(request))).expect("node 0 is asked");
    let done = |length_bytes| DataBody::ReadDone {
        lane: LANE,
        id,
        status: ReadStatus::Ok,
        length_bytes,
        zeroes: BlockMask::EMPTY,
    };
    let actions = group.hear_with(0, done(4096), Some(Payload(7)));
    assert!(resets(actions) && !answers(actions), "{actions:?}");
    let is_released = |action: &GroupAction| matches!(action, GroupAction::Release(Payload(7)));
    assert!(actions.iter().any(is_released), "{actions:?}");
    let actions = group.hear_with(0, done(8192), Some(Payload(8)));
    assert!(answers(actions), "{actions:?}");
}

/// A config that names another size reached the slots of a disk that is smaller.
#[test]
fn a_volume_that_is_larger_than_the_disk_is_served_as_far_as_the_disk_goes() {
    let mut group = member();
    let size = |blocks| {
        let space = Space::of_one(blocks);
        ToGroup::Size(Box::new(SizeOrder::Volume { space }))
    };
    let held = (1 << 30) / 4096;
    group.step(size(1 << 40));
    group.step(ToGroup::SetFull { lost: lost(2, 1), round: RoundId(3) });
    assert!(group.lanes.is_marked(node(2), held - 1));
    group.step(size(1024));
    group.step(size(held));
    assert!(group.lanes.is_marked(node(2), 7), "a smaller size in between takes no mark away");
    let beyond = Write { range: BlockRange::new(held, 1), ..discard(1) };
    assert!(resets(group.hear_write(beyond)), "beyond the end there is nothing to write");
}
