//! The leader's side of a write; that of every replica, the leader's own among them, is `apply`.
//!
//! `on_request` admits and waits for overlapping operations; `send_new` begins what waits for none,
//! and `start` what waited, or has to read the edges of a partial write first; `sequence` gives it
//! its seq, and `hand_out` hands it to every member of the write set; `on_acknowledged` counts;
//! `finish` and `close` answer the client, free the range and move `stable`.
//!
//! What each write passes is `inline(always)`: as calls, these steps would spend as much on handing
//! the turn to each other as on their work (`cargo xtask test instructions`).

use format::ids::{BLOCK_BYTES, BlockRange, LaneIndex, MemberSet, NodeId, Seq};
use format::message::{DataBody, Write, WriteKind};

use crate::contract::{GroupAction, PartId, Payload, Request, RequestError, RequestKind};
use crate::group::refuse;
use crate::lane::{Lane, Operation, OperationKind, OperationState, Origin, Turn};
use crate::limits;
use crate::quorum;

/// An operation that the lane is asked for, before it has its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) kind: OperationKind,
    pub(crate) part: Option<PartId>,
    pub(crate) range: BlockRange,
    pub(crate) offset: u64,
    pub(crate) length: u32,
    pub(crate) payload: Option<Payload>,
    pub(crate) fua: bool,
}

/// The request lies behind the end: a front end may know of a larger size before the lane does.
#[cold]
#[inline(never)]
fn refuse_behind_end(request: &Request, actions: &mut Vec<GroupAction>) {
    refuse(*request, RequestError::Io, actions);
}

impl Lane {
    #[inline(always)]
    pub(crate) fn on_request(&mut self, turn: &mut Turn<'_>, request: &Request) {
        let range = BlockRange::covering(request.offset, request.length);
        if !self.owns(turn.view, range) {
            return refuse_behind_end(request, turn.actions);
        }
        let leader = self.leader.as_mut().expect("the group asks only a lane that leads");
        if leader.is_full() || !leader.overflow.is_empty() {
            leader.overflow.push_back(*request);
            return turn.touch(self.position);
        }
        self.admit_request(turn, request, range);
    }

    pub(crate) fn admit_overflow(&mut self, turn: &mut Turn<'_>) {
        while let Some(leader) = self.leader.as_mut() {
            if leader.is_full() {
                return;
            }
            let Some(request) = leader.overflow.pop_front() else { return };
            let range = BlockRange::covering(request.offset, request.length);
            self.admit_request(turn, &request, range);
        }
    }

    #[inline(always)]
    fn admit_request(&mut self, turn: &mut Turn<'_>, request: &Request, range: BlockRange) {
        // Nearly all requests are writes of whole blocks.
        if let RequestKind::Write { payload, fua } = request.kind
            && u64::from(request.length) == range.length_bytes()
        {
            let &Request { part, offset, length, .. } = request;
            let (part, payload, kind) = (Some(part), Some(payload), OperationKind::Write);
            self.admit(turn, Wanted { kind, part, range, offset, length, payload, fua });
        } else {
            turn.touch(self.position);
            self.admit_other(&mut turn.again(), request, range);
        }
    }

    #[inline(never)]
    fn admit_other(&mut self, turn: &mut Turn<'_>, request: &Request, range: BlockRange) {
        let (kind, payload, fua) = match request.kind {
            RequestKind::Read => return self.admit_read(turn, request.part, range),
            RequestKind::Write { payload, fua } => (OperationKind::Write, Some(payload), fua),
            RequestKind::Discard { fua } => (OperationKind::Discard, None, fua),
            RequestKind::Zeroes { fua } => (OperationKind::Zeroes, None, fua),
        };
        let &Request { part, offset, length, .. } = request;
        let is_partial = u64::from(length) != range.length_bytes();
        if is_partial {
            assert_eq!(kind, OperationKind::Write, "discards and zeroes cover whole blocks");
            self.reconcile_within(turn, range);
        }
        self.admit(turn, Wanted { kind, part: Some(part), range, offset, length, payload, fua });
    }

    /// Gives an operation its place behind all earlier ones that overlap it.
    #[inline(always)]
    pub(crate) fn admit(&mut self, turn: &mut Turn<'_>, wanted: Wanted) {
        let leader = self.leader.as_mut().expect("only a leader admits");
        let overlapping = leader.count_overlapping(wanted.range);
        let order = leader.next_order;
        leader.next_order += 1;
        let operation = Operation::new(wanted, order, overlapping);
        let kind = sent_at_once(operation.kind, operation.range, operation.length);
        if let (0, Some(kind)) = (overlapping, kind)
            && !turn.shared.room.is_full()
        {
            return self.send_new(turn, operation, kind);
        }
        let index = leader.operations.insert(operation);
        if overlapping > 0 {
            leader.waiting += 1;
        } else {
            self.start(&mut turn.again(), index);
        }
    }

    /// The operation holds its range from here on.
    pub(crate) fn start(&mut self, turn: &mut Turn<'_>, index: u32) {
        let operation = self.operation(index);
        assert_eq!(operation.blockers, 0, "an operation starts when nothing overlaps it (I5)");
        let is_of_client = operation.kind.is_of_client();
        if let Some(kind) = sent_at_once(operation.kind, operation.range, operation.length) {
            self.send(turn, index, kind);
        } else if is_of_client {
            let operation = self.operation_mut(index);
            operation.patch = operation.payload.take();
            self.read_for_operation(turn, index, MemberSet::EMPTY);
        } else {
            self.start_copy(turn, index);
        }
    }

    /// The whole blocks around a partial write were read: put the client's bytes over them.
    pub(crate) fn merge(&mut self, turn: &mut Turn<'_>, index: u32, base: Payload) {
        let operation = self.operation_mut(index);
        let patch = operation.patch.take().expect("a partial write keeps the client's bytes");
        operation.payload = Some(base);
        let at = u32::try_from(operation.offset % BLOCK_BYTES).expect("within a block");
        turn.actions.push(GroupAction::Overlay { base, patch, at });
        turn.actions.push(GroupAction::Release(patch));
        self.send(turn, index, WriteKind::Data);
    }

    /// Sequences the operation and sends it to every member that has to have it, once their logs
    /// and their windows have room for it.
    pub(crate) fn send(&mut self, turn: &mut Turn<'_>, index: u32, kind: WriteKind) {
        if turn.shared.room.is_full() || !self.has_window() {
            return self.stall(turn, index, kind);
        }
        self.send_now(turn, index, kind);
    }

    #[cold]
    fn stall(&mut self, turn: &mut Turn<'_>, index: u32, kind: WriteKind) {
        self.operation_mut(index).state = OperationState::Stalled { kind };
        turn.shared.room.stall(self.index, index);
    }

    /// Whether the windows of the members have a place for one more operation. The windows are
    /// larger than what clients may fill: the rest is for copies of a resync, each of which was
    /// given its place when it was asked for.
    #[inline]
    pub(crate) fn has_window(&self) -> bool {
        let sent = self.leader.as_ref().map_or(0, |leader| leader.sent.len());
        sent < limits::WINDOW_AT_MEMBER_MAX
    }

    /// Sends an operation that waited for room.
    pub(crate) fn send_stalled(&mut self, turn: &mut Turn<'_>, index: u32) {
        let operation = self.operation(index);
        let OperationState::Stalled { kind } = operation.state else {
            unreachable!("what waits for room does nothing else")
        };
        if let OperationKind::Resync { id, .. } = operation.kind
            && !self.is_resyncing(id)
        {
            // Its member was lost meanwhile.
            return self.finish(turn, index);
        }
        self.send_now(turn, index, kind);
    }

    /// Sends an operation that never had to wait, as nearly all that clients ask for.
    #[inline(always)]
    fn send_new(&mut self, turn: &mut Turn<'_>, mut operation: Operation, kind: WriteKind) {
        let leader = self.leader.as_deref_mut().expect("only a leader sends");
        leader.sequence(turn, &mut operation, kind);
        let (write, payload) = operation.as_write(self.index, Seq(leader.stable));
        let index = leader.operations.insert(operation);
        leader.sent.push_back(Some(index));
        self.hand_out(turn, index, operation.needed, write, payload);
    }

    fn send_now(&mut self, turn: &mut Turn<'_>, index: u32, kind: WriteKind) {
        let leader = self.leader.as_deref_mut().expect("only a leader sends");
        let mut operation = *leader.operations.get(index).expect("an operation until it finished");
        leader.sequence(turn, &mut operation, kind);
        let (write, payload) = operation.as_write(self.index, Seq(leader.stable));
        *self.operation_mut(index) = operation;
        let leader = self.leader.as_deref_mut().expect("only a leader sends");
        leader.sent.push_back(Some(index));
        self.hand_out(turn, index, operation.needed, write, payload);
    }

    /// Hands a write to all members that have to have it; to the own replica by a call.
    #[inline(always)]
    fn hand_out(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        needed: MemberSet,
        write: Write,
        payload: Option<Payload>,
    ) {
        let view = turn.view;
        let to = needed.without(view.me).and(view.connected.minus(view.interrupted));
        if !to.is_empty() {
            let message = turn.data(DataBody::Write(write));
            turn.actions.push(GroupAction::SendWrite { to, message, payload });
        }
        if needed.has(view.me) {
            self.apply(turn, Origin::Own, write, payload);
        } else if needed.is_empty() {
            self.finish(&mut turn.again(), index);
        }
    }

    /// Sends an operation once more, with the seq that it has.
    pub(crate) fn send_again(&mut self, turn: &mut Turn<'_>, index: u32, to: MemberSet) {
        let leader = self.leader.as_ref().expect("only a leader sends");
        let (write, payload) = self.operation(index).as_write(self.index, Seq(leader.stable));
        let message = turn.data(DataBody::Write(write));
        turn.actions.push(GroupAction::SendWrite { to, message, payload });
    }

    #[inline(always)]
    pub(crate) fn on_acknowledged(&mut self, turn: &mut Turn<'_>, member: NodeId, seq: Seq) {
        let Some(leader) = self.leader.as_mut() else { return };
        // An acknowledgement that is sent again finds its operation finished.
        let Some(index) = leader.with_seq(seq) else { return };
        let operation = leader.operations.get_mut(index).expect("an operation until it finished");
        operation.acknowledged.insert(member);
        if quorum::is_complete(operation.acknowledged, operation.needed) {
            self.finish(turn, index);
        } else if turn.view.is_early {
            turn.touch(self.position);
            self.answer_early(&mut turn.again(), index);
        }
    }

    /// Ends an operation: all members that have to have it do, or there is nothing left to do.
    pub(crate) fn finish(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("only a leader finishes");
        let operation = leader.operations.get(index).expect("an operation finishes once");
        let is_awaited = leader.waiting > 0 || !leader.reads.is_empty();
        if is_awaited || !operation.kind.is_of_client() {
            self.finish_awaited(turn, index);
        } else {
            self.close(turn, index);
        }
        if self.leader.as_ref().is_some_and(|leader| leader.has_work()) {
            turn.touch(self.position);
        }
    }

    /// The same for an operation that others may wait for.
    #[inline(never)]
    fn finish_awaited(&mut self, turn: &mut Turn<'_>, index: u32) {
        let finished = *self.operation(index);
        self.close(turn, index);
        self.on_finished(turn, &finished);
        self.unblock(turn, &finished);
    }

    /// Answers the client of an operation, and takes it out.
    #[inline(always)]
    fn close(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("only a leader finishes");
        let operation = leader.operations.get(index).expect("an operation finishes once");
        let &Operation { kind, seq, range, is_answered, .. } = operation;
        if seq != Seq(0) {
            assert!(quorum::is_complete(operation.acknowledged, operation.needed), "I3");
        }
        if let Some(part) = operation.part {
            turn.actions.push(GroupAction::Complete { part, result: Ok(None) });
        }
        turn.release(operation.payload);
        turn.release(operation.patch);
        leader.operations.forget(index);
        if is_answered {
            leader.early.remove(range);
        }
        if seq != Seq(0) {
            turn.shared.room.are_stable(leader.complete_seq(seq));
            turn.shared.tell_stable_later(turn.now);
            if !leader.outdated.is_empty() && !matches!(kind, OperationKind::Resync { .. }) {
                leader.outdated.remove(range);
            }
        }
    }

    /// Takes an operation out that could not be done: no member could read what it needs.
    pub(crate) fn fail(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("only a leader fails operations");
        let operation = leader.operations.remove(index).expect("an operation ends once");
        assert_eq!(operation.seq, Seq(0), "what was sent is finished, not failed");
        if let Some(part) = operation.part {
            turn.actions.push(GroupAction::Complete { part, result: Err(RequestError::Io) });
        }
        turn.release(operation.payload);
        turn.release(operation.patch);
        self.on_finished(turn, &operation);
        self.fail_reads_within(turn, operation.range);
        self.unblock(turn, &operation);
    }

    /// Lets operations and reads go on that waited for `finished`.
    #[inline(always)]
    fn unblock(&mut self, turn: &mut Turn<'_>, finished: &Operation) {
        let leader = self.leader.as_ref();
        if leader.is_some_and(|leader| leader.waiting > 0 || !leader.reads.is_empty()) {
            self.unblock_some(turn, finished);
        }
    }

    fn unblock_some(&mut self, turn: &mut Turn<'_>, finished: &Operation) {
        let mut from = 0;
        while self.leader.as_ref().is_some_and(|leader| leader.waiting > 0)
            && let Some(index) = self.next_unblocked(finished, &mut from)
        {
            self.start(turn, index);
        }
        // Reads that waited for an operation which was answered early went on at that time.
        if !finished.is_answered {
            self.unblock_reads(turn, finished);
        }
    }

    /// Counts `finished` off the next operation from `from` on that waited for it, and returns
    /// that operation if it waits for no other.
    fn next_unblocked(&mut self, finished: &Operation, from: &mut u32) -> Option<u32> {
        let leader = self.leader.as_mut()?;
        for (index, other) in leader.operations.iter_mut() {
            if index < *from || other.order < finished.order {
                continue;
            }
            if other.state == OperationState::Waiting && other.range.overlaps(finished.range) {
                assert!(other.blockers > 0, "what waits is blocked");
                other.blockers -= 1;
                if other.blockers == 0 {
                    leader.waiting -= 1;
                    *from = index + 1;
                    return Some(index);
                }
            }
        }
        None
    }

    #[inline(always)]
    pub(crate) fn operation(&self, index: u32) -> &Operation {
        let leader = self.leader.as_ref().expect("only a leader has operations");
        leader.operations.get(index).expect("an operation until it finished")
    }

    #[inline(always)]
    pub(crate) fn operation_mut(&mut self, index: u32) -> &mut Operation {
        let leader = self.leader.as_mut().expect("only a leader has operations");
        leader.operations.get_mut(index).expect("an operation until it finished")
    }

    /// `member` left the write set: no operation waits for it any more.
    pub(crate) fn forget_member(&mut self, turn: &mut Turn<'_>, member: NodeId) {
        if member == turn.view.me {
            self.drop_borrowed(turn);
        }
        let Some(leader) = self.leader.as_mut() else { return };
        leader.resyncs.retain(|resync| resync.member != member);
        leader.forget_differing(member);
        // It may be connected as another process, which does not know the questions. Or its disk
        // hangs, which may be this node's own.
        leader.ask_elsewhere(member);
        let (mut complete, mut open) = (Vec::new(), Vec::new());
        for (index, operation) in leader.operations.iter_mut() {
            operation.needed.remove(member);
            let sent = matches!(operation.state, OperationState::Sent { .. });
            if sent && quorum::is_complete(operation.acknowledged, operation.needed) {
                complete.push((operation.seq, index));
            } else if sent {
                open.push(index);
            }
        }
        complete.sort_unstable();
        for index in open {
            self.answer_early(turn, index);
        }
        for (_, index) in complete {
            self.finish(turn, index);
        }
    }
}

/// The kind of write that an operation is sent as at once; `None` if bytes are to be read before.
#[inline]
fn sent_at_once(kind: OperationKind, range: BlockRange, length: u32) -> Option<WriteKind> {
    match kind {
        OperationKind::Write if u64::from(length) == range.length_bytes() => Some(WriteKind::Data),
        OperationKind::Discard => Some(WriteKind::Discard),
        OperationKind::Zeroes => Some(WriteKind::Zeroes),
        OperationKind::Write
        | OperationKind::Reconcile
        | OperationKind::Resync { .. }
        | OperationKind::Verify { .. } => None,
    }
}

impl Operation {
    /// An operation that waits for so many earlier ones, and is not sent yet.
    #[inline(always)]
    fn new(wanted: Wanted, order: u64, overlapping: usize) -> Self {
        let Wanted { kind, part, range, offset, length, payload, fua } = wanted;
        Self {
            kind,
            part,
            range,
            offset,
            length,
            payload,
            patch: None,
            fua,
            order,
            blockers: u32::try_from(overlapping).expect("bounded by the operations of a lane"),
            state: OperationState::Waiting,
            seq: Seq(0),
            sent_as: 0,
            needed: MemberSet::EMPTY,
            absent: MemberSet::EMPTY,
            acknowledged: MemberSet::EMPTY,
            received: MemberSet::EMPTY,
            is_answered: false,
        }
    }

    /// An operation that has its seq as a message, and the payload that goes with it.
    #[inline(always)]
    fn as_write(&self, lane: LaneIndex, stable: Seq) -> (Write, Option<Payload>) {
        let OperationState::Sent { kind } = self.state else {
            unreachable!("only an operation with a seq is written")
        };
        let &Self { seq, range, fua, absent, payload, .. } = self;
        let write = Write { lane, seq, order: 0, range, kind, fua, stable, absent };
        (write, payload.filter(|_| write.has_payload()))
    }
}

impl crate::lane::Leader {
    /// No more is admitted: too much is under way, or waits behind one slow operation.
    pub(crate) fn is_full(&self) -> bool {
        let all = self.operations.len() + self.reads.len();
        let has_room = all < limits::OPERATIONS_PER_LANE_MAX;
        self.has_full_window() || !has_room && self.is_full_of(all)
    }

    #[inline(always)]
    pub(crate) fn has_full_window(&self) -> bool {
        self.sent.len() >= limits::WINDOW_PER_LANE_MAX
    }

    #[cold]
    fn is_full_of(&self, all: usize) -> bool {
        all - self.answered_reads >= limits::OPERATIONS_PER_LANE_MAX
            || self.reads.len() >= limits::READ_PLACES_MAX
    }

    /// Gives an operation its seq, and says who has to have it.
    #[inline(always)]
    fn sequence(&mut self, turn: &mut Turn<'_>, operation: &mut Operation, kind: WriteKind) {
        let view = turn.view;
        let (needed, absent) = match operation.kind {
            // A copy writes nothing new: what absent members miss stays the same.
            OperationKind::Resync { member, .. } => (MemberSet::of(member), MemberSet::EMPTY),
            OperationKind::Write
            | OperationKind::Discard
            | OperationKind::Zeroes
            | OperationKind::Reconcile
            | OperationKind::Verify { .. } => (view.write_set, view.absent()),
        };
        operation.state = OperationState::Sent { kind };
        operation.seq = Seq(self.next_seq);
        operation.sent_as = turn.shared.room.send_one();
        (operation.needed, operation.absent) = (needed, absent);
        self.next_seq += 1;
        // The write tells `stable` to all of the write set.
        self.stable_unsent &= needed != view.write_set;
    }

    /// The operation that has this seq, until it completes.
    pub(crate) fn with_seq(&self, seq: Seq) -> Option<u32> {
        let position = seq.0.wrapping_sub(self.stable).wrapping_sub(1);
        *self.sent.get(usize::try_from(position).ok()?)?
    }

    /// Completes an operation, and returns how many became stable by that.
    #[inline(always)]
    fn complete_seq(&mut self, seq: Seq) -> usize {
        let position = seq.0.wrapping_sub(self.stable).wrapping_sub(1);
        let position = usize::try_from(position).expect("a window fits in memory");
        let operation = self.sent.get_mut(position).expect("what completes was sent");
        assert!(operation.take().is_some(), "a seq completes once");
        let before = self.sent.len();
        while self.sent.pop_front_if(Option::is_none).is_some() {
            self.stable += 1;
            self.stable_unsent = true;
        }
        before - self.sent.len()
    }
}
