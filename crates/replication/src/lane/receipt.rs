//! Answers that rest on what a member has in memory (protocol B, PROTOCOL.md 10.1): both sides.
//!
//! Replica: says `Received` of a client's write as soon as the write is on its way to the device,
//! which is after its extent is in the durable log. So whatever counts by receipt is found again:
//! a seal waits for device writes that are outstanding, and after an end without notice the log
//! names the extent.
//!
//! Leader: answers the client once every member has written or, where that counts, received. The
//! operation stays as it is: it holds its range and its place in the window until all of the write
//! set wrote, and so locks, `stable`, flushes and bits know of no receipts. A read beside it goes
//! to a member that has written; nothing is answered early once too many bytes are kept so.

use format::ids::{BlockRange, MemberSet, NodeId, Seq};
use format::message::DataBody;

use crate::contract::GroupAction;
use crate::lane::{Lane, Leader, Operation, OperationState, Turn};
use crate::limits;
use crate::quorum;

/// Operations that are answered, and not written everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Early {
    pub(crate) count: u32,
    bytes: u64,
    /// Bytes of the one that did not fit, and waits for all.
    refused: u64,
}

impl Early {
    /// No more is answered early now.
    pub(crate) fn is_full(&self) -> bool {
        self.refused > 0 && self.bytes + self.refused > limits::EARLY_BYTES_PER_LANE_MAX
    }

    pub(crate) fn remove(&mut self, range: BlockRange) {
        self.count -= 1;
        self.bytes -= range.length_bytes();
    }
}

// ---- The leader's side.

impl Lane {
    pub(crate) fn on_received(&mut self, turn: &mut Turn<'_>, member: NodeId, seq: Seq) {
        let Some(leader) = self.leader.as_mut() else { return };
        // All may have written it meanwhile.
        let Some(index) = leader.with_seq(seq) else { return };
        let operation = leader.operations.get_mut(index).expect("an operation until it finished");
        operation.received.insert(member);
        self.answer_early(turn, index);
    }

    /// Answers the client, if every member has the write in one way or the other.
    pub(crate) fn answer_early(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("only a leader answers");
        let operation = leader.operations.get_mut(index).expect("an operation until it finished");
        let followers = turn.view.followers;
        let mut has_it = operation.acknowledged | followers;
        if !operation.fua {
            has_it |= operation.received.and(turn.view.by_receipt);
        }
        let bytes = operation.range.length_bytes();
        let is_sent = matches!(operation.state, OperationState::Sent { .. });
        if !is_sent
            || operation.needed.is_subset_of(followers)
            || !quorum::is_complete(has_it, operation.needed)
        {
            return;
        }
        if leader.early.bytes + bytes > limits::EARLY_BYTES_PER_LANE_MAX {
            leader.early.refused = bytes;
            return;
        }
        let Some(part) = operation.part.take() else { return };
        operation.is_answered = true;
        leader.early.count += 1;
        leader.early.bytes += bytes;
        let operation = *operation;
        turn.actions.push(GroupAction::Complete { part, result: Ok(None) });
        self.unblock_reads(turn, &operation);
    }

    /// Members that have not written what a client was told is done, somewhere in `range`.
    #[inline]
    pub(crate) fn behind(&self, turn: &Turn<'_>, range: BlockRange) -> MemberSet {
        match &self.leader {
            Some(leader) if leader.early.count > 0 => behind_in(leader, turn, range),
            Some(_) | None => MemberSet::EMPTY,
        }
    }

    /// An operation that was sent by then is answered, and not written everywhere.
    pub(crate) fn is_early(&self, sent: u64, followers: MemberSet) -> bool {
        let leader = self.leader.as_ref().filter(|leader| leader.early.count > 0);
        leader.is_some_and(|leader| {
            let mut operations = leader.operations.iter();
            operations.any(|(_, operation)| {
                let missing = operation.needed.minus(operation.acknowledged | followers);
                operation.is_answered && operation.sent_as <= sent && !missing.is_empty()
            })
        })
    }
}

fn behind_in(leader: &Leader, turn: &Turn<'_>, range: BlockRange) -> MemberSet {
    let is_early = |it: &&Operation| it.is_answered && it.range.overlaps(range);
    let operations = leader.operations.iter().map(|(_, operation)| operation);
    operations.filter(is_early).fold(MemberSet::EMPTY, |behind, operation| {
        behind | turn.view.in_sync.minus(operation.acknowledged)
    })
}

// ---- The replica's side.

impl Lane {
    /// One message for all that came in this turn.
    pub(crate) fn send_receipts(&mut self, turn: &mut Turn<'_>) {
        let (lane, boot_id) = (self.index, turn.view.boot_id);
        let to = self.replica.leader_node.filter(|&node| node != turn.view.me);
        while let Some((base, mask)) = self.replica.receipts.pop() {
            if let Some(to) = to {
                turn.send(to, DataBody::Received { lane, base, mask, boot_id });
            }
        }
    }
}
