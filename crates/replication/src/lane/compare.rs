//! Comparing what members hold, by digests, under the range lock.
//!
//! While an operation holds its range nothing else changes it at any member of the write set, and
//! all that came before is applied there: so what differs then, differs. The leader asks members
//! for a digest of each block, and looks at the answers side by side. A copy whose target has some
//! of the blocks already leaves them out.

use format::ids::{BlockMask, BlockRange, Digest, MemberSet, NodeId};
use format::message::{DataBody, ReadStatus};

use crate::contract::{DeviceError, DeviceResult, GroupAction, Payload};
use crate::lane::asked::{self, Asked, Asker};
use crate::lane::read::{PeerRead, Wants};
use crate::lane::{DeviceUse, Lane, Operation, OperationKind, OperationState, Turn};
use crate::limits;

/// The digests that members gave for one operation.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The order of the operation.
    order: u64,
    digests: Vec<(NodeId, Vec<Digest>)>,
    /// Blocks of a copy that its source found to be zeroes.
    zeroes: BlockMask,
}

// ---- The leader's side.

impl Lane {
    /// Asks `members` for digests of the operation's range.
    pub(crate) fn ask_digests(&mut self, turn: &mut Turn<'_>, index: u32, members: MemberSet) {
        let (lane, generation, key) = (self.index, self.generation, turn.view.nonce);
        let members = members.and(turn.view.reachable());
        let operation = self.operation_mut(index);
        let (range, order) = (operation.range, operation.order);
        operation.state = OperationState::Comparing { awaiting: members };
        operation.sent_as = turn.shared.room.next_place();
        let leader = self.leader.as_mut().expect("an operation has a leader");
        let comparison = Comparison { order, digests: Vec::new(), zeroes: BlockMask::EMPTY };
        leader.comparisons.push(comparison);
        for member in members.iter() {
            if member == turn.view.me {
                let asked = Asked::new(index, order);
                let token = DeviceUse::OperationDigest { asked, generation }.token(lane);
                turn.actions.push(GroupAction::DigestDevice { token, range, key });
            } else {
                let id = asked::wire_id(Asker::Operation { index }, order);
                turn.send(member, DataBody::Digest { lane, id, range });
            }
        }
        if members.is_empty() {
            self.on_compared(turn, index);
        }
    }

    pub(crate) fn on_digests(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        member: NodeId,
        result: Result<Vec<Digest>, DeviceError>,
    ) {
        let Some(leader) = self.leader.as_mut() else { return };
        let Some(operation) = leader.operations.get_mut(index) else { return };
        let OperationState::Comparing { awaiting } = &mut operation.state else { return };
        if !awaiting.has(member) {
            return;
        }
        awaiting.remove(member);
        let is_last = awaiting.is_empty();
        let known = leader.comparisons.iter_mut().find(|it| it.order == operation.order);
        // A member that gives no digest is left out.
        if let (Some(known), Ok(digests)) = (known, result)
            && digests.len() == operation.range.count as usize
        {
            known.digests.push((member, digests));
        }
        if is_last {
            self.on_compared(turn, index);
        }
    }

    /// All members that are in reach have answered.
    pub(crate) fn on_compared(&mut self, turn: &mut Turn<'_>, index: u32) {
        match self.operation(index).kind {
            OperationKind::Resync { id, .. } if self.is_resyncing(id) => {
                self.read_for_operation(turn, index, MemberSet::EMPTY);
            }
            OperationKind::Resync { .. } => self.finish(turn, index),
            OperationKind::Verify { .. } => self.on_verified(turn, index),
            OperationKind::Write
            | OperationKind::Discard
            | OperationKind::Zeroes
            | OperationKind::Reconcile => unreachable!("these compare nothing"),
        }
    }

    /// The bytes of a copy are here: has them hashed, to find the blocks that the target has
    /// already.
    pub(crate) fn compare_bytes(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        payload: Payload,
        zeroes: BlockMask,
    ) {
        let (generation, key) = (self.generation, turn.view.nonce);
        let operation = self.operation_mut(index);
        let order = operation.order;
        operation.payload = Some(payload);
        let leader = self.leader.as_mut().expect("an operation has a leader");
        let known = leader.comparisons.iter_mut().find(|it| it.order == order);
        let Some(known) = known.filter(|known| !known.digests.is_empty()) else {
            return self.send_copy(turn, index, zeroes, BlockMask::EMPTY);
        };
        known.zeroes = zeroes;
        self.operation_mut(index).state = OperationState::Hashing;
        let asked = Asked::new(index, order);
        let token = DeviceUse::PayloadDigest { asked, generation }.token(self.index);
        turn.actions.push(GroupAction::DigestPayload { token, payload, key });
    }

    pub(crate) fn on_bytes_hashed(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        result: &Result<Vec<Digest>, DeviceError>,
    ) {
        let known = self.leader.as_ref().and_then(|leader| leader.operations.get(index));
        let is_hashing = |it: &&Operation| it.state == OperationState::Hashing;
        let Some(&operation) = known.filter(is_hashing) else { return };
        if let OperationKind::Resync { id, .. } = operation.kind
            && !self.is_resyncing(id)
        {
            return self.finish(turn, index);
        }
        let leader = self.leader.as_ref().expect("an operation has a leader");
        let known = leader.comparisons.iter().find(|it| it.order == operation.order);
        let known = known.expect("kept until the operation ends");
        let theirs = known.digests.first().map_or(&[][..], |(_, digests)| digests);
        let equal = match result {
            Ok(ours) => equal_blocks(ours, theirs),
            Err(DeviceError) => BlockMask::EMPTY,
        };
        let zeroes = known.zeroes;
        self.send_copy(turn, index, zeroes, equal);
    }
}

/// The blocks of which both have a digest, and the same one.
fn equal_blocks(ours: &[Digest], theirs: &[Digest]) -> BlockMask {
    let equal = (0..32).zip(ours.iter().zip(theirs)).filter(|(_, (our, their))| our == their);
    equal.fold(BlockMask::EMPTY, |mask, (place, _)| mask | BlockMask::of(place))
}

impl Comparison {
    pub(crate) fn is_of(&self, order: u64) -> bool {
        self.order == order
    }

    pub(crate) fn digests(&self) -> &[(NodeId, Vec<Digest>)] {
        &self.digests
    }
}

impl crate::lane::Leader {
    /// Forgets the digests of an operation that is over.
    pub(crate) fn forget_comparison(&mut self, order: u64) {
        self.comparisons.retain(|comparison| comparison.order != order);
    }
}

// ---- For the leader, at another node.

impl Lane {
    pub(crate) fn on_peer_digest(
        &mut self,
        turn: &mut Turn<'_>,
        from: NodeId,
        id: u32,
        range: BlockRange,
    ) {
        if self.replica.peer_reads.len() >= limits::PEER_READS_PER_LANE_MAX {
            let (lane, status, digests) = (self.index, ReadStatus::Refused, Vec::new());
            return turn.send(from, DataBody::DigestDone { lane, id, status, digests });
        }
        let key = turn.view.nonce;
        let read = PeerRead { from, id, range, nonce: key, wants: Wants::Digests };
        let index = self.replica.peer_reads.insert(read);
        let token = DeviceUse::PeerDigest { index }.token(self.index);
        turn.actions.push(GroupAction::DigestDevice { token, range, key });
    }

    pub(crate) fn on_peer_digest_done(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        result: Result<Vec<Digest>, DeviceError>,
    ) {
        let read = self.replica.peer_reads.remove(index);
        let Some(read) = read.filter(|read| read.is_wanted(turn.view)) else { return };
        assert_eq!(read.wants, Wants::Digests, "a digest was asked of the device");
        let (status, digests) = match result {
            Ok(digests) => (ReadStatus::Ok, digests),
            Err(DeviceError) => (ReadStatus::DeviceError, Vec::new()),
        };
        let body = DataBody::DigestDone { lane: self.index, id: read.id, status, digests };
        turn.send(read.from, body);
    }
}

/// The digests that a device gave.
pub(crate) fn digests_of(
    result: &mut Result<DeviceResult, DeviceError>,
) -> Result<Vec<Digest>, DeviceError> {
    match result {
        Ok(DeviceResult::Digests(digests)) => Ok(std::mem::take(digests)),
        Ok(DeviceResult::Done | DeviceResult::Read { .. }) | Err(DeviceError) => Err(DeviceError),
    }
}
