//! The order in which bitmap pages are written.

use format::ids::{BlockRange, QuestionId};
use format::message::DataBody;
use replication::contract::{
    AboutFlushes, FromGroup, GroupAction, MetadataWrite, RoundId, ToGroup, Token,
};
use replication::group::{GroupOptions, LoadedPage};

use crate::harness::{Disk, Group, LANE, loss, lost, node, options, sent, told};

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
