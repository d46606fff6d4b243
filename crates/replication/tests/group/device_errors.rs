//! I15: a write that the device failed is never acknowledged, whoever asks how often.

use format::message::{DataBody, Write, WriteKind};
use replication::contract::{
    DeviceError, FromGroup, GroupAction, GroupInput, MetadataWrite, Token,
};

use crate::harness::{Disk, Group, discard, node, options, sent, told};

fn write_once(group: &mut Group) -> &[GroupAction] {
    group.hear_write(Write { kind: WriteKind::Data, ..discard(1) })
}

fn acknowledges(actions: &[GroupAction]) -> bool {
    sent(actions).any(|(_, body)| matches!(body, DataBody::Ack { .. }))
}

/// Starts the session, writes once, and lets the activity log record its extent.
fn write_under_way() -> (Group, Token) {
    let mut group = Group::new(Disk::ByHand, options(1, &[0, 1])).into_member();
    let record = write_once(&mut group).iter().find_map(|action| {
        let GroupAction::WriteMetadata { token, write: MetadataWrite::Activity(_) } = action else {
            return None;
        };
        Some(*token)
    });
    let record = record.expect("a cold extent is logged first");
    let write = group.done(record).iter().find_map(|action| {
        let GroupAction::WriteDevice { token, .. } = action else { return None };
        Some(*token)
    });
    (group, write.expect("a hot extent is written"))
}

#[test]
fn a_repeated_write_that_failed_on_the_device_is_not_acknowledged() {
    let (mut group, token) = write_under_way();
    let actions = group.step(GroupInput::Device { token, result: Err(DeviceError) });
    assert!(!acknowledges(actions));
    let failed = |fact: &FromGroup| {
        let FromGroup::MemberFailed { member } = fact else { return false };
        *member == node(1)
    };
    assert!(told(actions).any(failed), "the home shard hears of it");
    assert!(!acknowledges(write_once(&mut group)), "sent again before the replica is withdrawn");
}

#[test]
fn a_repeated_write_that_is_done_is_acknowledged_again() {
    let (mut group, token) = write_under_way();
    assert!(acknowledges(group.done(token)));
    assert!(acknowledges(write_once(&mut group)));
}
