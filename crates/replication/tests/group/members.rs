//! What one member does when things come in an order that is rare between processes.

use format::ids::{
    BlockMask, BlockRange, BootId, EXTENT_BLOCKS, LaneIndex, Nonce, QuestionId, Seq,
};
use format::message::{DataBody, ReadStatus};
use replication::contract::{
    AboutCuts, FromGroup, GroupInput, LoadedPage, LostMember, PartId, RequestKind, RoundId, ToGroup,
};
use replication::group::GroupOptions;

use crate::harness::{
    Disk, Group, LANE, SESSION, answers, asked, boot, discard, loss, lost, node, options, resets,
    sent, set, told,
};

/// Node 1 of those with the data.
fn group() -> Group {
    Group::new(Disk::ByHand, options(1, &[0, 1, 2]))
}

fn hear_loss(group: &mut Group, lost: LostMember, ranges: Vec<BlockRange>) {
    group.hear(0, loss(QuestionId::UNNAMED, lost, ranges));
}

/// Two ways lead to a returning member: what the leader says of a loss, and the slot of another
/// that it was told to take over. The second may come last, and know less.
#[test]
fn a_slot_that_is_taken_over_does_not_empty_what_a_loss_has_filled() {
    let mut group = group();
    group.seal();
    group.step(ToGroup::Admit { nonce: SESSION, floors: Vec::new(), round: RoundId(2) });
    hear_loss(&mut group, lost(2, replication::KEEP.0), vec![BlockRange::new(7, 1)]);
    hear_loss(&mut group, lost(2, 3), vec![BlockRange::new(9, 1)]);
    assert!(group.lanes.is_marked(node(2), 9));
    assert!(group.lanes.is_marked(node(2), 7), "what was in flight when node 2 went away");
}

/// The header says so since long. The home hears of it all the same: another shard may be told of a
/// better start, for lanes that have the marks.
#[test]
fn a_replica_that_is_admitted_tells_home_of_each_slot_that_is_good_for_nothing() {
    let useless = LostMember { member: node(2), base: replication::UNUSED };
    let slot_bases = vec![lost(0, 1), lost(1, 1), useless];
    let options = GroupOptions { slot_bases, ..options(1, &[0, 1, 2]) };
    let mut group = Group::new(Disk::ByHand, options);
    group.seal();
    group.step(ToGroup::Admit { nonce: SESSION, floors: Vec::new(), round: RoundId(2) });
    let actions = group.hear(0, loss(QuestionId::UNNAMED, useless, Vec::new()));
    let is_told = told(actions).any(|fact| matches!(fact, FromGroup::RebaseSlot(_)));
    assert!(is_told, "{actions:?}");
}

/// An in-sync member starts the slot anew: the lost one had all that was marked before.
#[test]
fn a_loss_empties_the_slot_of_an_older_one_at_an_in_sync_member() {
    let mut group = group().into_member();
    hear_loss(&mut group, lost(2, 1), vec![BlockRange::new(7, 1)]);
    hear_loss(&mut group, lost(2, 3), vec![BlockRange::new(9, 1)]);
    assert!(group.lanes.is_marked(node(2), 9) && !group.lanes.is_marked(node(2), 7));
}

#[test]
fn a_slot_that_misses_everything_is_not_narrowed_by_its_pages_on_disk() {
    let page = LoadedPage { member: node(2), lane: LANE, page: 0, bits: Box::new([0; 512]) };
    let slot_bases = vec![lost(0, 1), lost(1, 1), lost(2, replication::FULL.0)];
    let options = GroupOptions { slots: vec![page], slot_bases, ..options(1, &[0, 1, 2]) };
    assert!(Group::new(Disk::ByHand, options).lanes.is_marked(node(2), 7));
}

/// A member that joined just now is in sync by the config, and may hear of it after the first read.
#[test]
fn a_read_that_a_new_member_refuses_is_asked_of_it_again() {
    let mut group = group().into_leader(&[0]);
    let (to, id) = asked(group.ask(1, RequestKind::Read, 0)).expect("a read");
    assert_eq!(to, node(0));
    let status = ReadStatus::Refused;
    let (lane, length_bytes, zeroes) = (LANE, 0, BlockMask::EMPTY);
    let refused = DataBody::ReadDone { lane, id, status, length_bytes, zeroes };
    let actions = group.hear(0, refused);
    assert!(!answers(actions), "the member has the bytes: {actions:?}");
    let again = asked(actions).or_else(|| asked(group.step(GroupInput::PeerUp { peer: to })));
    assert_eq!(again.map(|(to, _)| to), Some(node(0)));
}

/// Bytes of a peer never reach an assert: it says that a write is on every member while this one
/// has not applied it.
#[test]
fn a_leader_that_calls_stable_what_was_not_acknowledged_is_reset() {
    let mut group = group().into_member();
    group.hear_write(discard(1));
    let actions = group.hear(0, DataBody::Stable { lane: LANE, stable: Seq(5) });
    assert!(resets(actions), "{actions:?}");
}

/// A member that came back as another process does not speak for the one that was sent the write.
#[test]
fn an_acknowledgement_of_another_boot_is_void() {
    for (boot_id, is_valid) in [(boot(0), true), (BootId(99), false)] {
        let mut group = group().into_leader(&[0]);
        group.ask(1, RequestKind::Discard { fua: false }, 0);
        group.step(GroupInput::Flush(PartId(2)));
        let ack = DataBody::Ack { lane: LANE, base: Seq(1), mask: 1, boot_id };
        let flushed = DataBody::FlushDone { id: 0, shard: 0, boot_id };
        for body in [ack, flushed] {
            let actions = group.hear(0, body);
            assert_eq!(answers(actions), is_valid, "{boot_id:?}: {actions:?}");
        }
    }
}

fn cut(number: u32, seq: u64) -> DataBody {
    let (seq, stable) = (Seq(seq), Seq(0));
    DataBody::Cut { lane: LANE, number, seq, stable, skipped: u64::MAX << 1 }
}

/// What it applied before it held anything is all in the second of two cuts: the first one, which
/// its other lanes may be at, makes no state of it that ever was.
#[test]
fn a_returned_follower_is_at_the_cut_that_is_released_and_at_no_later_one() {
    for (released, is_wanted_open) in [(5, true), (6, false)] {
        let mut group = Group::new(Disk::Works, options(1, &[0, 1, 2]));
        group.seal();
        let (nonce, floors) = (SESSION, vec![Seq(1); 16]);
        group.step(ToGroup::Admit { nonce, floors, round: RoundId(2) });
        group.hear_write(discard(1));
        group.hear(0, cut(5, 1));
        group.hear_write(discard(2));
        for about in [AboutCuts::Hold { round: RoundId(3) }, AboutCuts::Release { number: 5 }] {
            group.step(ToGroup::Cuts(about));
        }
        group.hear(0, cut(6, 2));
        group.step(ToGroup::Cuts(AboutCuts::Release { number: released }));
        let sealed = group.step(ToGroup::Seal { nonce: Nonce(10), round: RoundId(4) });
        let is_open = told(sealed).find_map(|fact| {
            let FromGroup::Quiesced { is_open, .. } = fact else { return None };
            Some(*is_open)
        });
        assert_eq!(is_open, Some(is_wanted_open), "cut {released} was released last: {sealed:?}");
    }
}

/// The numbers of cuts go round: the one after the last is later, and none has the number 0.
#[test]
fn a_follower_applies_the_cut_after_the_last_number() {
    let mut group = Group::new(Disk::Works, options(1, &[0, 1, 2])).into_member();
    group.step(ToGroup::Cuts(AboutCuts::Hold { round: RoundId(3) }));
    for (number, seq) in [(u32::MAX - 1, 1), (u32::MAX, 2), (1, 3), (2, 4)] {
        group.hear_write(discard(seq));
        group.hear(0, cut(number, seq));
        let actions = group.step(ToGroup::Cuts(AboutCuts::Release { number }));
        let acknowledged = sent(actions).find_map(|(_, body)| {
            let DataBody::Ack { base, mask: 1, .. } = body else { return None };
            Some(*base)
        });
        assert_eq!(acknowledged, Some(Seq(seq)), "cut {number}: {actions:?}");
    }
}

/// Half of all numbers are later than a given one: a follower that heard of a lane so long ago, for
/// nothing was new there, would take the next cut of it for an older one.
#[test]
fn followers_hear_of_each_lane_now_and_then() {
    let mut group = Group::new(Disk::ByHand, options(1, &[0, 2])).into_leader(&[0, 2]);
    let (named, counted) = (set(&[2]), set(&[2]));
    group.step(ToGroup::Cuts(AboutCuts::Follow { named, counted }));
    group.ask(1, RequestKind::Discard { fua: false }, EXTENT_BLOCKS);
    let mut is_told = |number| {
        let round = RoundId(number);
        let actions = group.step(ToGroup::Cuts(AboutCuts::Note { number, round }));
        sent(actions)
            .any(|(_, body)| matches!(body, DataBody::Cut { lane, .. } if *lane == LaneIndex(1)))
    };
    assert!(is_told(1) && !is_told(2));
    for number in [1 << 20, 5 << 20, 4095 << 20] {
        assert!(is_told(number) && !is_told(number + 1), "{number}");
    }
}
