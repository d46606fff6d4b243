//! A lane: a fixed part of a volume's address space, sequenced on its own.
//!
//! The lane of the session's leader orders operations (`leader`); the lane of every replica, the
//! leader's own included, applies them (`replica`). A write passes `write` at the leader and
//! `apply` at every replica; `read`, `copy` and `loss` are the other stories. Overlapping
//! operations are never in flight together: an operation holds its range from its start until all
//! of the write set have acknowledged it.

pub(crate) mod write;
mod apply;
mod overlap;
pub(crate) mod receipt;
pub(crate) mod cut;
pub(crate) mod read;
pub(crate) mod asked;
pub(crate) mod copy;
pub(crate) mod compare;
pub(crate) mod verify;
pub(crate) mod loss;
pub(crate) mod seal;
mod seqs;
pub(crate) mod shared;
pub(crate) mod log_room;

use std::collections::VecDeque;

use format::ids::{
    BlockRange, EXTENT_BLOCKS, LaneIndex, MemberSet, NodeId, Nonce, QuestionId, Seq,
};
use format::message::{Data, DataBody, SlotBase, WriteKind};
use format::space::{Place, Space};
use stdx::ring::Ring;
use stdx::slab::Slab;
use stdx::time::Time;

use crate::activity::HotSlot;
use crate::contract::{FromGroup, GroupAction, PartId, Payload, Request, Token};
use crate::lane::asked::Asked;
use crate::lane::seqs::Seqs;
use crate::lane::shared::Shared;
use crate::marks::Marks;
use crate::ranges::RangeSet;
use crate::view::View;

/// What a lane may use while it handles one input.
pub(crate) struct Turn<'a> {
    pub(crate) view: &'a View,
    pub(crate) shared: &'a mut Shared,
    pub(crate) now: Time,
    /// Device flushes that have begun so far.
    pub(crate) flushes_started: u64,
    pub(crate) actions: &'a mut Vec<GroupAction>,
}

/// What the end of a device write uses of its group: less than a [`Turn`], for which most of them
/// have no use.
pub(crate) struct Common<'a> {
    pub(crate) view: &'a View,
    pub(crate) shared: &'a mut Shared,
    /// Device flushes that have begun so far.
    pub(crate) flushes_started: u64,
}

impl Turn<'_> {
    /// A copy of the turn, for calls that few inputs make. If the turn itself were handed on by
    /// reference there, the compiler would keep it in memory on the way of every write.
    #[inline(always)]
    pub(crate) fn again(&mut self) -> Turn<'_> {
        Turn {
            view: self.view,
            shared: self.shared,
            now: self.now,
            flushes_started: self.flushes_started,
            actions: self.actions,
        }
    }

    pub(crate) fn data(&self, body: DataBody) -> Data {
        Data { nonce: self.view.nonce, volume: self.view.volume, body }
    }

    pub(crate) fn send(&mut self, to: NodeId, body: DataBody) {
        assert_ne!(to, self.view.me, "what concerns this node is a call, not a message");
        let message = self.data(body);
        self.actions.push(GroupAction::Send { to, message, payload: None });
    }

    /// Has the next settle visit the lane at `position`.
    #[inline(always)]
    pub(crate) fn touch(&mut self, position: u8) {
        self.shared.touched.insert(position);
    }

    #[inline]
    pub(crate) fn tell_home(&mut self, fact: FromGroup) {
        self.actions.push(GroupAction::Home(fact));
    }

    #[inline]
    pub(crate) fn release(&mut self, payload: Option<Payload>) {
        if let Some(payload) = payload {
            self.actions.push(GroupAction::Release(payload));
        }
    }
}

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) index: LaneIndex,
    /// Its place among the lanes of its group.
    pub(crate) position: u8,
    pub(crate) replica: Replica,
    /// Boxed: most lanes of most nodes lead nothing.
    pub(crate) leader: Option<Box<Leader>>,
    /// Changes when the lane begins or ends to lead. Tokens of the leader's reads carry it, so that
    /// a completion of an earlier session finds nothing.
    pub(crate) generation: u8,
    /// The newest question about a lost member.
    last_question: QuestionId,
}

/// The applying side.
#[derive(Debug)]
pub(crate) struct Replica {
    /// The session in which the writes of the window were sent.
    pub(crate) nonce: Nonce,
    /// Every member of the write set has all operations up to here.
    pub(crate) stable: Seq,
    /// The newest of `stable` and of all that came into the window. An operation with a later seq
    /// was never here.
    pub(crate) newest: Seq,
    /// Where this replica began in the session: it is sent the operations behind this seq.
    pub(crate) began_behind: Seq,
    /// Applied, or being applied, and not stable; ascending by seq.
    pub(crate) window: Ring<Applied>,
    /// Blocks that may differ between the members since the last promotion (`ToGroup::Inherit`).
    pub(crate) inherited: RangeSet,
    /// One for each tracked member; that of this node itself is the own slot.
    pub(crate) slots: Vec<Slot>,
    /// The place of the own slot in `slots`, if there is one. It never changes.
    pub(crate) own_slot: Option<u8>,
    /// Acknowledgements that the next settle sends.
    pub(crate) acks: Seqs,
    /// Receipts that the next settle sends: of writes that are on their way to the device.
    pub(crate) receipts: Seqs,
    /// As a follower: the newest cut that this lane has received all of.
    pub(crate) cut: cut::HeldCut,
    /// As a follower: the last seq that was applied at once, before this member began to hold.
    pub(crate) unheld: Seq,
    /// Boxed: no write looks at them.
    pub(crate) peer_reads: Box<Slab<read::PeerRead>>,
    /// Who sent the last write of the session: the node that leads it.
    pub(crate) leader_node: Option<NodeId>,
}

#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) member: NodeId,
    pub(crate) base: SlotBase,
    pub(crate) bits: Marks,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Applied {
    pub(crate) seq: Seq,
    pub(crate) range: BlockRange,
    pub(crate) state: AppliedState,
    pub(crate) payload: Option<Payload>,
    /// It is the leader's own: its payload belongs to the operation. The payload of a peer's
    /// message is released by this side.
    pub(crate) is_own: bool,
}

/// Where a write comes from that a replica applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From this node, which leads. The payload belongs to the operation.
    Own,
    /// From this peer, which leads. The payload is released once the device has it.
    Peer(NodeId),
}

impl Origin {
    #[inline(always)]
    fn sender(self, me: NodeId) -> NodeId {
        match self {
            Self::Own => me,
            Self::Peer(from) => from,
        }
    }
}

/// How a write is to be applied. It is not kept beyond the submission to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) kind: WriteKind,
    pub(crate) fua: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppliedState {
    /// At a follower: waits until its cut is released.
    Held(Manner),
    /// Waits until its extent is in the activity log.
    Cold(Manner),
    /// The device has been asked to write it, and has not answered.
    Writing(HotSlot),
    /// The device has written it.
    Done(HotSlot),
    /// The device refused it: it is never acknowledged, though it may be sent again (I15).
    Failed(HotSlot),
}

/// The sequencing side: of the node that leads the session.
#[derive(Debug, Default)]
pub(crate) struct Leader {
    pub(crate) next_seq: u64,
    /// All operations up to this seq are complete: all of the write set have them.
    pub(crate) stable: u64,
    /// At place `i` the index of the operation with seq `stable + 1 + i`; `None` once it is
    /// complete.
    pub(crate) sent: Ring<Option<u32>>,
    /// Some member was not told of `stable` yet.
    pub(crate) stable_unsent: bool,
    pub(crate) operations: Slab<Operation>,
    /// A bit for each place that an operation holds, or held: see `overlap`.
    pub(crate) held_places: u64,
    /// How many operations wait for others to free their range.
    pub(crate) waiting: usize,
    /// The operations that are answered, and not written everywhere.
    pub(crate) early: receipt::Early,
    pub(crate) reads: Slab<read::ClientRead>,
    /// How many of the reads are answered, and wait for a late member's answer alone.
    pub(crate) answered_reads: usize,
    /// Counts admissions: the order of overlapping operations.
    pub(crate) next_order: u64,
    /// Requests that did not fit into `operations`, oldest first.
    pub(crate) overflow: VecDeque<Request>,
    /// Blocks that may differ between the members: U of PROTOCOL.md section 7.
    pub(crate) outdated: RangeSet,
    /// Blocks of `outdated` that no member could read. They are left alone until a client asks for
    /// them, or `group::copying` has them tried again.
    pub(crate) unreadable: RangeSet,
    pub(crate) resyncs: Vec<copy::Resync>,
    pub(crate) losses: Vec<loss::Loss>,
    /// How many copies are under way.
    pub(crate) copies: usize,
    pub(crate) comparisons: Vec<compare::Comparison>,
    pub(crate) verify: Option<verify::Verify>,
    /// What a verify found, by member.
    pub(crate) differing: Vec<verify::Differing>,
    /// Some operation or read waits until a member, or the lease, is back.
    pub(crate) stalled: bool,
}

/// One operation that holds, or waits for, its range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) kind: OperationKind,
    pub(crate) part: Option<PartId>,
    pub(crate) range: BlockRange,
    /// What the client asked for, in bytes; smaller than `range` for a partial write.
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) payload: Option<Payload>,
    /// The client's bytes of a partial write, until they are merged into whole blocks.
    pub(crate) patch: Option<Payload>,
    pub(crate) fua: bool,
    pub(crate) order: u64,
    /// How many earlier operations overlap this one and are not finished.
    pub(crate) blockers: u32,
    pub(crate) state: OperationState,
    pub(crate) seq: Seq,
    /// Its place among all that the group sent or asked: every member gets writes in this order, so
    /// that no two of them wait for each other's slots of the activity log.
    pub(crate) sent_as: u64,
    pub(crate) needed: MemberSet,
    /// The members that missed it when it was sent. A repetition names the same ones, whoever has
    /// come back since.
    pub(crate) absent: MemberSet,
    pub(crate) acknowledged: MemberSet,
    /// The members that said that they received it.
    pub(crate) received: MemberSet,
    /// The client has its answer, though some member has not written the operation yet.
    pub(crate) is_answered: bool,
}

impl AppliedState {
    /// The device has it.
    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Done(_))
    }
}

impl Leader {
    /// Something waits for others to end, or is copied or compared beside the clients' requests.
    #[inline(always)]
    pub(crate) fn has_work(&self) -> bool {
        !self.overflow.is_empty()
            || self.stalled
            || !self.outdated.is_empty()
            || !self.resyncs.is_empty()
            || self.verify.is_some()
    }
}

impl Operation {
    /// The members whose answers it waits for.
    pub(crate) fn waits_for(&self) -> MemberSet {
        match self.state {
            OperationState::Sent { .. } => self.needed.minus(self.acknowledged),
            OperationState::Reading { from: Some(member), .. } => MemberSet::of(member),
            OperationState::Comparing { awaiting } => awaiting,
            OperationState::Reading { from: None, .. }
            | OperationState::Waiting
            | OperationState::Stalled { .. }
            | OperationState::Hashing
            | OperationState::Equal => MemberSet::EMPTY,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Write,
    Discard,
    Zeroes,
    /// Makes the members equal again.
    Reconcile,
    /// Copies to one returning member; `id` is that of the resync, for the member may be lost and
    /// return while a copy is under way.
    Resync {
        member: NodeId,
        id: u64,
    },
    /// Compares the in-sync members; `id` is that of the pass.
    Verify {
        id: u64,
    },
}

impl OperationKind {
    pub(crate) fn is_of_client(self) -> bool {
        match self {
            Self::Write | Self::Discard | Self::Zeroes => true,
            Self::Reconcile | Self::Resync { .. } | Self::Verify { .. } => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationState {
    Waiting,
    /// It has its range and its bytes, and waits for room in the members' logs or windows.
    Stalled {
        kind: WriteKind,
    },
    /// Its bytes are read from `from`, or from whoever comes back; those in `tried` could not give
    /// them.
    Reading {
        from: Option<NodeId>,
        tried: MemberSet,
    },
    /// It waits for digests of these members.
    Comparing {
        awaiting: MemberSet,
    },
    /// The bytes of a copy are being hashed.
    Hashing,
    /// It has its seq, and was sent to the members that need it.
    Sent {
        kind: WriteKind,
    },
    /// A copy whose target has all of the bytes already: nothing is sent.
    Equal,
}

/// Device operations of a lane, packed into a `Token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceUse {
    /// Applies a write.
    Apply {
        seq: Seq,
    },
    /// Reads for an operation of the leader.
    OperationRead {
        asked: Asked,
        generation: u8,
    },
    ClientRead {
        asked: Asked,
        generation: u8,
    },
    /// Reads for another node.
    PeerRead {
        index: u32,
    },
    /// Hashes for an operation of the leader.
    OperationDigest {
        asked: Asked,
        generation: u8,
    },
    /// Hashes for another node.
    PeerDigest {
        index: u32,
    },
    /// Hashes what an operation of the leader has in memory.
    PayloadDigest {
        asked: Asked,
        generation: u8,
    },
}

const APPLY: u64 = 1;
const KIND_SHIFT: u32 = 60;
const LANE_SHIFT: u32 = 52;
const VALUE_MASK: u64 = (1 << LANE_SHIFT) - 1;
/// The largest seq that a token holds. No lane ever gets so far.
pub(crate) const SEQ_MAX: Seq = Seq(VALUE_MASK);

pub(crate) fn group_token(value: u64) -> Token {
    assert!(value <= VALUE_MASK, "a counter stays below 2^52");
    Token(value)
}

pub(crate) fn token_kind(token: Token) -> u64 {
    token.0 >> KIND_SHIFT
}

pub(crate) fn token_lane(token: Token) -> LaneIndex {
    LaneIndex(u8::try_from(token.0 >> LANE_SHIFT & 0xff).expect("masked"))
}

/// Of `DeviceUse::Apply`, which most tokens are.
#[inline]
pub(crate) fn is_apply(token: Token) -> bool {
    token_kind(token) == APPLY
}

/// The seq in a token of `DeviceUse::Apply`.
#[inline]
pub(crate) fn token_seq(token: Token) -> Seq {
    Seq(token.0 & VALUE_MASK)
}

impl Replica {
    pub(crate) fn new(me: NodeId, slots: Vec<Slot>) -> Self {
        let own_slot = (0..).zip(&slots).find(|(_, slot)| slot.member == me).map(|(at, _)| at);
        Self {
            own_slot,
            nonce: Nonce(0),
            stable: Seq(0),
            newest: Seq(0),
            began_behind: Seq(0),
            window: Ring::default(),
            inherited: RangeSet::default(),
            slots,
            acks: Seqs::default(),
            receipts: Seqs::default(),
            cut: cut::HeldCut::default(),
            unheld: Seq(0),
            peer_reads: Box::default(),
            leader_node: None,
        }
    }
}

impl DeviceUse {
    #[inline(always)]
    pub(crate) fn token(self, lane: LaneIndex) -> Token {
        let (kind, value) = match self {
            Self::Apply { seq } => (APPLY, seq.0),
            Self::OperationRead { asked, generation } => (2, asked.in_token(generation)),
            Self::ClientRead { asked, generation } => (3, asked.in_token(generation)),
            Self::PeerRead { index } => (4, u64::from(index)),
            Self::OperationDigest { asked, generation } => (5, asked.in_token(generation)),
            Self::PeerDigest { index } => (6, u64::from(index)),
            Self::PayloadDigest { asked, generation } => (7, asked.in_token(generation)),
        };
        assert!(value <= VALUE_MASK, "a seq of a peer is looked at when it comes");
        Token(kind << KIND_SHIFT | u64::from(lane.0) << LANE_SHIFT | value)
    }

    /// Its result is what the disk holds.
    pub(crate) fn is_read(self) -> bool {
        !matches!(self, Self::Apply { .. } | Self::PayloadDigest { .. })
    }

    pub(crate) fn of(token: Token) -> Option<Self> {
        let value = token.0 & VALUE_MASK;
        let index = u32::try_from(value & u64::from(u32::MAX)).expect("masked");
        let (asked, generation) = Asked::of_token(value);
        match token_kind(token) {
            APPLY => Some(Self::Apply { seq: Seq(value) }),
            2 => Some(Self::OperationRead { asked, generation }),
            3 => Some(Self::ClientRead { asked, generation }),
            4 => Some(Self::PeerRead { index }),
            5 => Some(Self::OperationDigest { asked, generation }),
            6 => Some(Self::PeerDigest { index }),
            7 => Some(Self::PayloadDigest { asked, generation }),
            _ => None,
        }
    }
}

impl Lane {
    pub(crate) fn new(index: LaneIndex, position: u8, me: NodeId, slots: Vec<Slot>) -> Self {
        let replica = Replica::new(me, slots);
        let last_question = QuestionId::UNNAMED;
        Self { index, position, replica, leader: None, generation: 0, last_question }
    }

    /// Once per turn in which the lane was touched: acknowledgements, and what may start now.
    #[inline(always)]
    pub(crate) fn settle(&mut self, turn: &mut Turn<'_>) {
        self.send_acks(turn);
        if !self.replica.receipts.is_empty() {
            self.send_receipts(turn);
        }
        if self.leader.as_ref().is_some_and(|leader| leader.has_work()) {
            self.settle_leader(turn);
        }
    }

    fn settle_leader(&mut self, turn: &mut Turn<'_>) {
        // What fails makes room for what waits.
        if self.leader.as_ref().is_some_and(|leader| leader.stalled) {
            self.retry_stalled(turn);
        }
        if self.leader.as_ref().is_some_and(|leader| !leader.overflow.is_empty()) {
            self.admit_overflow(turn);
        }
        let Some(leader) = self.leader.as_ref() else { return };
        let is_verifying = leader.verify.is_some();
        if !(leader.outdated.is_empty() && leader.resyncs.is_empty()) {
            self.start_copies(turn);
        }
        if is_verifying {
            self.continue_verify(turn);
        }
    }

    /// There is something that only `settle` sends or begins.
    pub(crate) fn needs_settle(&self) -> bool {
        let waits = |leader: &Leader| !leader.overflow.is_empty() && !leader.is_full();
        let has_news = !self.replica.acks.is_empty() || !self.replica.receipts.is_empty();
        has_news || self.leader.as_deref().is_some_and(waits)
    }

    /// No operation, read or copy of this lane is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.leader.as_ref().is_none_or(|leader| {
            leader.operations.is_empty()
                && leader.reads.len() == leader.answered_reads
                && leader.overflow.is_empty()
        })
    }

    pub(crate) fn slot_mut(&mut self, member: NodeId) -> Option<&mut Slot> {
        self.replica.slots.iter_mut().find(|slot| slot.member == member)
    }

    pub(crate) fn slot(&self, member: NodeId) -> Option<&Slot> {
        self.replica.slots.iter().find(|slot| slot.member == member)
    }

    /// Whether `range` is a non-empty part of one extent of this lane, inside the volume.
    #[inline]
    pub(crate) fn owns(&self, view: &View, range: BlockRange) -> bool {
        self.owns_of(view, &view.space, range)
    }

    /// The same with other sizes of the volumes than those of the view.
    #[inline(always)]
    pub(crate) fn owns_of(&self, view: &View, space: &Space, range: BlockRange) -> bool {
        is_part_of_extent(range) && space.contains(range) && self.has_extent_of(view, range)
    }

    /// Whether each of `ranges` is a non-empty part of one extent of this lane, inside the volume
    /// or behind it. Kept out of line, for each acknowledgement passes its caller.
    #[cold]
    pub(crate) fn are_of_lane(&self, view: &View, ranges: &[BlockRange]) -> bool {
        ranges.iter().all(|&range| is_part_of_extent(range) && self.has_extent_of(view, range))
    }

    #[inline(always)]
    fn has_extent_of(&self, view: &View, range: BlockRange) -> bool {
        range.extent() % u64::from(view.lanes.get()) == u64::from(self.index.0)
    }

    /// The parts of `ranges` that belong to this lane, each within one extent.
    pub(crate) fn pieces<'a>(
        &self,
        view: &View,
        ranges: &'a [BlockRange],
    ) -> impl Iterator<Item = BlockRange> + use<'a> {
        let (lanes, lane) = (u64::from(view.lanes.get()), u64::from(self.index.0));
        ranges
            .iter()
            .flat_map(|&range| by_extent(range))
            // A peer may name blocks for which there is no place.
            .filter(|piece| Place::of_block(piece.start).is_some())
            .filter(move |piece| piece.extent() % lanes == lane)
    }
}

/// Cuts a range at extent borders.
pub(crate) fn by_extent(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let mut start = range.start;
    std::iter::from_fn(move || {
        if start >= range.end() {
            return None;
        }
        let end = range.end().min((start / EXTENT_BLOCKS + 1) * EXTENT_BLOCKS);
        let piece = BlockRange::new(start, u32::try_from(end - start).expect("within an extent"));
        start = end;
        Some(piece)
    })
}

#[inline(always)]
fn is_part_of_extent(range: BlockRange) -> bool {
    range.count > 0 && range.start % EXTENT_BLOCKS + u64::from(range.count) <= EXTENT_BLOCKS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_as_they_went() {
        let uses = [
            DeviceUse::Apply { seq: Seq(1 << 40) },
            DeviceUse::OperationRead { asked: Asked::new(77, 1), generation: 255 },
            DeviceUse::ClientRead { asked: Asked::new(16_383, u64::MAX), generation: 1 },
            DeviceUse::PeerRead { index: 3 },
            DeviceUse::OperationDigest { asked: Asked::new(9, 1 << 29), generation: 7 },
            DeviceUse::PeerDigest { index: u32::MAX },
            DeviceUse::PayloadDigest { asked: Asked::new(9, 2), generation: 7 },
        ];
        for device_use in uses {
            let token = device_use.token(LaneIndex(63));
            assert_eq!(DeviceUse::of(token), Some(device_use));
            assert_eq!(token_lane(token), LaneIndex(63));
        }
        assert_eq!(DeviceUse::of(group_token(5)), None);
    }
}
