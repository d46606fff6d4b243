//! What waits in a lane goes on as soon as it can, though nothing more is asked of the lane.

use format::ids::{BlockMask, BlockRange, EXTENT_BLOCKS, Epoch, MemberSet, Seq};
use format::message::DataBody;
use replication::contract::{
    AboutCuts, AboutReceipts, DeviceResult, FromGroup, GroupAction, GroupInput, Lag, LagLimits,
    PartId, Payload, ReplicaRole, Request, RequestError, RequestKind, RoundId, ToGroup, Token,
};
use replication::limits;
use stdx::time::Time;

use crate::harness::{Disk, Group, LANE, SESSION, WRITE, boot, node, options, sent, set, told};

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

/// The disk answers all that it was asked, but for what it `holds`; gives how much it wrote.
fn work(group: &mut Group, holds: impl Fn(&GroupAction) -> bool) -> usize {
    let (mut at, mut written) = (0, 0);
    while let Some(action) = group.actions.get(at).cloned() {
        at += 1;
        if !holds(&action) {
            answer(group, &action);
            let is_write = |action: &GroupAction| {
                matches!(action, GroupAction::WriteDevice { .. } | GroupAction::CopyDevice { .. })
            };
            written += usize::from(is_write(&action));
        }
    }
    group.actions.retain(|action| holds(action) || asked_of_disk(action).is_none());
    written
}

fn asked_of_disk(action: &GroupAction) -> Option<Token> {
    if let GroupAction::WriteDevice { token, .. }
    | GroupAction::CopyDevice { token, .. }
    | GroupAction::ReadDevice { token, .. }
    | GroupAction::FlushDevice { token }
    | GroupAction::WriteMetadata { token, .. } = *action
    {
        Some(token)
    } else {
        None
    }
}

fn answer(group: &mut Group, action: &GroupAction) {
    let Some(token) = asked_of_disk(action) else { return };
    let (payload, zeroes) = (Payload(9), BlockMask::EMPTY);
    let is_read = matches!(action, GroupAction::ReadDevice { .. });
    let result = if is_read { DeviceResult::Read { payload, zeroes } } else { DeviceResult::Done };
    group.step(GroupInput::Device { token, result: Ok(result) });
}

/// Node 1 leads, and its disk is asked by hand.
fn leader_by_hand(members: &[u8], outdated: Vec<BlockRange>) -> Group {
    let mut group = Group::new(Disk::ByHand, options(1, members));
    group.step(ToGroup::Replica(ReplicaRole::InSync));
    group.seal();
    group.inherit();
    let boots = members.iter().map(|&id| (node(id), boot(id))).collect();
    let (write_set, missed, lost) = (set(members), Vec::new(), Vec::new());
    group.step(ToGroup::Lead { nonce: SESSION, write_set, boots, outdated, missed, lost });
    let (epoch, in_sync, round) = (Epoch(2), set(members), RoundId(3));
    group.step(ToGroup::Serve { epoch, in_sync, round });
    group.step(ToGroup::Lease { until: Time::NEVER });
    group
}

/// What the disk is late with.
fn is_late(action: &GroupAction) -> bool {
    let first = BlockRange::new(0, 1);
    matches!(action, GroupAction::WriteDevice { range, .. } if *range == first)
}

fn is_read(action: &GroupAction) -> bool {
    matches!(action, GroupAction::ReadDevice { .. })
}

/// The disk is late with one write, and ends those that came after it; as many as a lane may have
/// under way wait for what they have to read. One more part comes, for which blocks are to be made
/// equal first, each of which is a write as well. All of it is more than a member keeps: the rest
/// waits until the late one is done. Gives how many parts there are.
fn fill_window(members: &[u8]) -> (Group, usize) {
    let outdated = (600..632).step_by(2).map(|at| BlockRange::new(at, 1)).collect();
    let mut group = leader_by_hand(members, outdated);
    let mut parts = 0;
    let mut ask = |group: &mut Group, kind, offset, length| {
        parts += 1;
        group.step(GroupInput::Request(Request {
            part: PartId(parts as u64),
            kind,
            offset,
            length,
        }));
        parts
    };
    for block in 0..limits::WINDOW_PER_LANE_MAX as u64 - 1 {
        ask(&mut group, WRITE, block * 4096, 4096);
    }
    work(&mut group, |action| is_late(action) || is_read(action));
    // Two blocks are being made equal already.
    for block in 0..limits::OPERATIONS_PER_LANE_MAX as u64 - 4 {
        ask(&mut group, WRITE, (700 + block) * 4096, 512);
    }
    let all = ask(&mut group, RequestKind::Read, 600 * 4096, 32 * 4096);
    (group, all)
}

/// What a member does not keep waits until there is a place for it. The own disk missed it, and its
/// client waited for ever.
#[test]
fn no_more_is_sent_than_a_member_keeps() {
    let (mut group, all) = fill_window(&[1]);
    assert_eq!(group.actions.iter().filter(|action| is_read(action)).count(), 16 + 252);
    let written = work(&mut group, is_late);
    let refused = told(&group.actions).any(|fact| matches!(fact, FromGroup::Misbehaved { .. }));
    assert!(!refused, "what the leader sends, its own replica takes");
    assert_eq!(written + limits::WINDOW_PER_LANE_MAX - 2, limits::WINDOW_AT_MEMBER_MAX - 1);
    work(&mut group, |_| false);
    assert_eq!(ended(&group, &Ok(None)) + ended(&group, &Ok(Some(Payload(9)))), all);
}

/// One lane has no place in the members' windows. Another one takes in the next of its requests as
/// soon as one is done, behind what waits there: it went on with the next input only.
#[test]
fn what_has_room_does_not_wait_for_a_lane_that_has_none() {
    let (mut group, _) = fill_window(&[1]);
    work(&mut group, is_late);
    let is_write_of = |action: &GroupAction, wanted: u64| {
        let wanted = BlockRange::new(EXTENT_BLOCKS + wanted, 1);
        matches!(action, GroupAction::WriteDevice { range, .. } if *range == wanted)
    };
    let is_of_other = |action: &GroupAction| (0..300).any(|block| is_write_of(action, block));
    let last = limits::WINDOW_PER_LANE_MAX as u64;
    for block in 0..=last {
        group.ask(1000 + block, WRITE, EXTENT_BLOCKS + block);
    }
    work(&mut group, |action| is_late(action) || is_of_other(action));
    assert!(!group.actions.iter().any(|action| is_write_of(action, last)), "the lane is full");
    let first = group.actions.iter().find(|action| is_write_of(action, 0)).cloned();
    answer(&mut group, &first.expect("its first write is under way"));
    assert!(group.actions.iter().any(|action| is_write_of(action, last)));
}

/// How node 2, a follower, is told to be behind.
fn congestion(group: &Group) -> Option<Lag> {
    let lags = told(&group.actions).filter_map(|fact| {
        let FromGroup::Lag { lag, .. } = fact else { return None };
        Some(*lag)
    });
    lags.last()
}

fn watch_follower(group: &mut Group) {
    let (member, followers) = (node(2), set(&[2]));
    group.step(ToGroup::Cuts(AboutCuts::Follow { named: followers, counted: followers }));
    let limits = LagLimits { is_any: true, bytes: 0, extents: 0 };
    group.step(ToGroup::Cuts(AboutCuts::WatchLag { member, limits }));
}

/// The leader's own disk keeps a lane from going on, whatever a follower has: leaving that one
/// behind would help nobody. Once the disk is done, only the follower does.
#[test]
fn a_window_that_others_fill_is_no_congestion() {
    let (mut group, _) = fill_window(&[1, 2]);
    watch_follower(&mut group);
    work(&mut group, is_late);
    assert_eq!(congestion(&group), None);
    work(&mut group, |_| false);
    assert!(congestion(&group).is_some_and(|lag| lag.is_full), "{:?}", congestion(&group));
}

/// A follower that does not write lets a lane have no more than so many operations, of few bytes
/// and in one extent: what a client asks for next would wait for it.
#[test]
fn a_window_that_a_follower_fills_is_congestion() {
    let mut group = leader_by_hand(&[1, 2], Vec::new());
    watch_follower(&mut group);
    let most = limits::WINDOW_PER_LANE_MAX as u64;
    for part in 0..most {
        group.ask(part, WRITE, part);
        work(&mut group, |_| false);
    }
    assert_eq!((ended(&group, &Ok(None)) as u64, congestion(&group)), (most, None));
    group.ask(most, WRITE, most);
    assert!(congestion(&group).is_some_and(|lag| lag.is_full));
}
