//! The order in which bitmap pages are written.

use format::ids::{BlockRange, EXTENT_BLOCKS, LaneIndex, QuestionId, Seq};
use format::message::{DataBody, Write};
use replication::contract::{
    AboutFlushes, FromGroup, GroupAction, LoadedPage, MetadataWrite, RoundId, ToGroup, Token,
};
use replication::group::GroupOptions;

use crate::harness::{Disk, Group, LANE, discard, loss, lost, node, options, sent, set, told};

const ME: u8 = 0;

/// Node 0, whose own slot marks block 7 since an earlier life, and nothing else does.
fn restarted() -> Group {
    let mut bits = Box::new([0; 512]);
    bits[0] = 1 << 7;
    let slots = vec![LoadedPage { member: node(ME), lane: LANE, page: 0, bits }];
    let slot_bases = vec![lost(1, 3), lost(ME, 0)];
    Group::new(Disk::ByHand, GroupOptions { slots, slot_bases, ..options(ME, &[ME, 1]) })
}

/// The flush that the device is asked for.
fn flush(actions: &[GroupAction]) -> Option<Token> {
    actions.iter().find_map(|action| {
        let GroupAction::FlushDevice { token } = action else { return None };
        Some(*token)
    })
}

/// The device flushed, and the home of the only group has heard of no error.
fn flushed(group: &mut Group, token: Token) -> &[GroupAction] {
    let number = told(group.done(token)).find_map(|fact| {
        let FromGroup::DeviceFlushed { number } = fact else { return None };
        Some(*number)
    });
    let number = number.expect("the home is asked whether to believe that");
    group.step(ToGroup::Flushes(AboutFlushes::Believe { shard: 0, number }))
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
    let before = flush(group.seal()).expect("the device is flushed before the seal is answered");
    flushed(&mut group, before);
    let recorded = group.hear(2, loss(QuestionId::of(1), lost(1, 3), vec![BlockRange::new(7, 1)]));
    assert!(sent(recorded).any(|(_, body)| matches!(body, DataBody::LossDone { .. })));
    group.inherit();

    let actions = group.step(ToGroup::MakeDurable { round: RoundId(3) });
    let [(1, 0x80, of_other)] = pages(actions)[..] else { panic!("{:?}", pages(actions)) };
    let checkpoint = flush(actions).expect("a checkpoint flushes");
    assert_eq!(pages(flushed(&mut group, checkpoint)), []);
    let actions = group.done(of_other);
    let [(ME, 0, of_own)] = pages(actions)[..] else { panic!("{:?}", pages(actions)) };
    let is_durable = |actions: &[GroupAction]| {
        told(actions).any(|fact| matches!(fact, FromGroup::Answer { round: RoundId(3) }))
    };
    assert!(!is_durable(actions));
    assert!(is_durable(group.done(of_own)));
}

/// The device and the log do what they are asked, from action `at` on, but for pages.
fn work(group: &mut Group, mut at: usize) {
    while let Some(action) = group.actions.get(at).cloned() {
        at += 1;
        let is_page = !pages(std::slice::from_ref(&action)).is_empty();
        if let Some(token) = flush(std::slice::from_ref(&action)) {
            flushed(group, token);
        } else if let GroupAction::ZeroDevice { token, .. }
        | GroupAction::WriteMetadata { token, .. } = action
            && !is_page
        {
            group.done(token);
        }
    }
}

/// The log of node 1 has room for two extents. Both have what node 2 misses; the page of the first
/// one is on its way to the disk for a checkpoint when two more are to be logged, and the page of
/// the second goes there for them. The checkpoint has nothing to do with that one: while writes
/// went on, there was always such a page, and a member that returned did not join.
#[test]
fn a_checkpoint_does_not_wait_for_pages_that_are_written_beside_it() {
    let some = GroupOptions { al_slots: 2, ..options(1, &[0, 1, 2]) };
    let mut group = Group::new(Disk::ByHand, some).into_member();
    work(&mut group, 0);
    let write_extent = |group: &mut Group, extent: u8| {
        let (lane, range) =
            (LaneIndex(extent), BlockRange::new(EXTENT_BLOCKS * u64::from(extent), 1));
        let at = group.actions.len();
        group.hear_write(Write { lane, range, absent: set(&[2]), ..discard(1) });
        work(group, at);
        group.hear(0, DataBody::Stable { lane, stable: Seq(1) });
    };
    write_extent(&mut group, 0);
    let at = group.actions.len();
    let [(2, 1, first)] = pages(group.step(ToGroup::MakeDurable { round: RoundId(3) }))[..] else {
        panic!("{:?}", pages(&group.actions))
    };
    work(&mut group, at);
    for extent in [1, 2, 3] {
        write_extent(&mut group, extent);
    }
    let [_, (2, 1, _)] = pages(&group.actions)[..] else { panic!("{:?}", pages(&group.actions)) };
    let mut done = told(group.done(first));
    assert!(done.any(|fact| matches!(fact, FromGroup::Answer { round: RoundId(3) })));
}
