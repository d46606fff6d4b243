//! What waits in a lane goes on as soon as it can, though nothing more is asked of the lane.

use format::ids::{Epoch, MemberSet, Seq};
use format::message::DataBody;
use replication::contract::{
    AboutReceipts, GroupAction, GroupInput, Payload, RequestError, RequestKind, ToGroup,
};
use replication::limits;

use crate::harness::{Disk, Group, LANE, WRITE, boot, node, options, sent, set};

/// The node that leads, and its disk, if it has one. The nodes `members` have the data.
fn leader(me: u8, members: &[u8]) -> Group {
    Group::new(Disk::ReadsNothing, options(me, members)).into_leader(members)
}

fn ended(group: &Group, wanted: &Result<Option<Payload>, RequestError>) -> usize {
    let is_end = |action: &&GroupAction| {
        let GroupAction::Complete { result, .. } = action else { return false };
        result == wanted
    };
    group.actions.iter().filter(is_end).count()
}

fn reads_from(group: &Group, member: u8) -> usize {
    let is_read =
        |(to, body): &(_, &DataBody)| *to == node(member) && matches!(body, DataBody::Read { .. });
    sent(&group.actions).filter(is_read).count()
}

/// The last one that could have been asked is lost with as many reads as a lane may have under way:
/// what came after them is refused as well.
#[test]
fn what_waits_behind_reads_that_all_fail_is_answered() {
    let mut leader = leader(0, &[0, 1]);
    let all = limits::OPERATIONS_PER_LANE_MAX as u64 + 20;
    for part in 0..all {
        leader.ask(part, RequestKind::Read, part);
    }
    leader.step(GroupInput::PeerDown { peer: node(1) });
    assert_eq!(ended(&leader, &Err(RequestError::Io)), 0);
    let (member, epoch, in_sync) = (node(1), Epoch(3), set(&[0]));
    leader.step(ToGroup::Lost { member, epoch, in_sync });
    assert_eq!(ended(&leader, &Err(RequestError::Io)) as u64, all);
}

/// A write is answered that both members have in memory alone, and then receipts count no more. A
/// read of it goes to the first that has written, whatever the other one does.
#[test]
fn a_read_goes_to_the_first_that_wrote_what_was_answered() {
    let mut leader = leader(1, &[0, 2]);
    let count = |members| ToGroup::Receipts(AboutReceipts::Count(members));
    leader.step(count(set(&[0, 2])));
    leader.ask(1, WRITE, 7);
    let (lane, base, mask) = (LANE, Seq(1), 1);
    for id in [0, 2] {
        leader.hear(id, DataBody::Received { lane, base, mask, boot_id: boot(id) });
    }
    assert_eq!(ended(&leader, &Ok(None)), 1);
    leader.ask(2, RequestKind::Read, 7);
    leader.step(count(MemberSet::EMPTY));
    assert_eq!((reads_from(&leader, 0), reads_from(&leader, 2)), (0, 0));
    leader.hear(0, DataBody::Ack { lane, base, mask, boot_id: boot(0) });
    assert_eq!((reads_from(&leader, 0), reads_from(&leader, 2)), (1, 0));
}
