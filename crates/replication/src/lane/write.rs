//! The walk of a write: both sides of it.
//!
//! Leader: `on_request` admits and waits for overlapping operations; `start` reads the edges of a
//! partial write; `send` gives it its seq and hands it to every member of the write set, the own
//! replica among them; `on_acknowledged` counts; `finish` answers the client, frees the range and
//! moves `stable`.
//!
//! Replica: `on_write` drops duplicates, marks what absent members miss, makes sure that the
//! extent is in the activity log, and writes; `on_applied` acknowledges; `on_stable` forgets what
//! every member has.
//!
//! What each write passes is `inline(always)`: as calls, these steps would spend as much on handing
//! the turn to each other as on their work (`cargo xtask test instructions`).

use format::ids::{BLOCK_BYTES, BlockRange, LaneIndex, MemberSet, NodeId, Seq};
use format::message::{DataBody, Write, WriteKind};

use crate::activity::{ActivityLog, Waiter};
use crate::contract::{
    DeviceError, FromGroup, GroupAction, Misbehaviour, PartId, Payload, ReplicaRole, Request,
    RequestError, RequestKind,
};
use crate::lane::receipt::in_masks;
use crate::lane::{
    Applied, AppliedState, AppliedWrite, DeviceUse, Lane, Operation, OperationKind, OperationState,
    Replica, Turn,
};
use crate::limits;
use crate::quorum;
use crate::view::View;
use stdx::ring::Ring;

/// What is asked of the lane, before it has an order.
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

// ---- The leader's side.

impl Lane {
    #[inline(always)]
    pub(crate) fn on_request(&mut self, turn: &mut Turn<'_>, request: &Request) {
        let range = BlockRange::covering(request.offset, request.length);
        assert!(self.owns(turn.view, range), "a front end splits requests at extent borders");
        let leader = self.leader.as_mut().expect("the group asks only a lane that leads");
        if leader.is_full() || !leader.overflow.is_empty() {
            leader.overflow.push_back(*request);
            return;
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
        let Wanted { kind, part, range, offset, length, payload, fua } = wanted;
        let index = leader.operations.insert(Operation {
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
        });
        if overlapping > 0 {
            leader.waiting += 1;
        } else if let Some(kind) = sent_at_once(kind, range, length) {
            self.send(turn, index, kind);
        } else {
            self.start(turn, index);
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
    /// have room for it.
    #[inline(always)]
    pub(crate) fn send(&mut self, turn: &mut Turn<'_>, index: u32, kind: WriteKind) {
        if turn.room.is_full() {
            self.operation_mut(index).state = OperationState::Stalled { kind };
            return turn.room.stall(self.index, index);
        }
        self.operation_mut(index).state = OperationState::Sent { kind };
        self.send_now(turn, index);
    }

    /// There is room for it.
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
        self.operation_mut(index).state = OperationState::Sent { kind };
        self.send_now(turn, index);
    }

    #[inline(always)]
    fn send_now(&mut self, turn: &mut Turn<'_>, index: u32) {
        let sent_as = turn.room.send_one();
        let view = turn.view;
        let leader = self.leader.as_deref_mut().expect("only a leader sends");
        let seq = Seq(leader.next_seq);
        leader.next_seq += 1;
        leader.sent.push_back(Some(index));
        let operation = leader.operations.get_mut(index).expect("an operation until it finished");
        let (needed, absent) = match operation.kind {
            // What a resync copies is no news for the members that are absent.
            OperationKind::Resync { member, .. } => (MemberSet::of(member), MemberSet::EMPTY),
            OperationKind::Write
            | OperationKind::Discard
            | OperationKind::Zeroes
            | OperationKind::Reconcile
            | OperationKind::Verify { .. } => (view.write_set, view.absent()),
        };
        (operation.seq, operation.sent_as) = (seq, sent_as);
        (operation.needed, operation.absent) = (needed, absent);
        let (write, payload) = operation.as_write(self.index, Seq(leader.stable));
        // What travels to all of the write set need not be said again.
        leader.stable_unsent &= needed != view.write_set;
        let to = needed.without(view.me).and(view.connected.minus(view.interrupted));
        if !to.is_empty() {
            let message = turn.data(DataBody::Write(write));
            turn.actions.push(GroupAction::SendWrite { to, message, payload });
        }
        if needed.has(view.me) {
            self.apply(turn, view.me, &write, payload);
        } else if needed.is_empty() {
            self.finish(turn, index);
        }
    }

    /// Sends again an operation that has its seq.
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
        } else if turn.view.may_answer_early() {
            self.answer_early(turn, index);
        }
    }

    /// All that have to have it do, or it has nothing to do any more.
    pub(crate) fn finish(&mut self, turn: &mut Turn<'_>, index: u32) {
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
        // It is moved where somebody asks for it, which nobody does for most that finish.
        let is_awaited = leader.waiting > 0 || !leader.reads.is_empty();
        let is_looked_at = is_awaited || !kind.is_of_client();
        let finished = if is_looked_at { Some(*operation) } else { None };
        leader.operations.forget(index);
        if is_answered {
            leader.early.remove(range);
        }
        if seq != Seq(0) {
            turn.room.are_stable(leader.complete_seq(seq));
            if !leader.outdated.is_empty() && !matches!(kind, OperationKind::Resync { .. }) {
                leader.outdated.remove(range);
            }
        }
        if let Some(finished) = finished {
            self.on_finished(turn, &finished);
            self.unblock(turn, &finished);
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
        // Those that waited for one that was answered early went on then.
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

    /// The write set shrank, or grew smaller than what operations wait for.
    pub(crate) fn forget_member(&mut self, turn: &mut Turn<'_>, member: NodeId) {
        if member == turn.view.me {
            self.drop_borrowed(turn);
        }
        let Some(leader) = self.leader.as_mut() else { return };
        leader.resyncs.retain(|resync| resync.member != member);
        leader.forget_differing(member);
        // As another process it may be connected, and does not know what was asked; or its disk
        // hangs, this node's own too.
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

/// What an operation is sent as for which nothing is to be read before.
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
        let reads = self.reads.len() - self.answered_reads;
        self.operations.len() + reads >= limits::OPERATIONS_PER_LANE_MAX
            || self.sent.len() >= limits::WINDOW_PER_LANE_MAX
            || self.reads.len() >= limits::READ_PLACES_MAX
    }

    /// The operation that has this seq, until it completes.
    pub(crate) fn with_seq(&self, seq: Seq) -> Option<u32> {
        let position = usize::try_from(seq.0.checked_sub(self.stable + 1)?).ok()?;
        *self.sent.get(position)?
    }

    /// Gives how many are stable by that.
    fn complete_seq(&mut self, seq: Seq) -> usize {
        let position = usize::try_from(seq.0 - self.stable - 1).expect("a window fits in memory");
        let operation = self.sent.get_mut(position).expect("what completes was sent");
        assert!(operation.take().is_some(), "a seq completes once");
        let before = self.sent.len();
        while let Some(None) = self.sent.front() {
            self.sent.drop_front();
            self.stable += 1;
            self.stable_unsent = true;
        }
        before - self.sent.len()
    }
}

// ---- The replica's side.

impl Lane {
    /// Applies a write of the session; the group has checked the session.
    #[inline(always)]
    pub(crate) fn apply(
        &mut self,
        turn: &mut Turn<'_>,
        from: NodeId,
        write: &Write,
        payload: Option<Payload>,
    ) {
        let owns_payload = from != turn.view.me;
        let replica = &mut self.replica;
        replica.leader_node = Some(from);
        self.on_stable(turn, write.stable);
        let replica = &mut self.replica;
        if write.seq <= replica.stable {
            replica.acks.push(write.seq);
            return turn.release(payload.filter(|_| owns_payload));
        }
        let position = place_in(&replica.window, write.seq);
        if let Some(known) = replica.window.get(position)
            && known.write.seq == write.seq
        {
            if known.state == AppliedState::Done {
                replica.acks.push(write.seq);
            }
            return turn.release(payload.filter(|_| owns_payload));
        }
        if replica.window.len() >= limits::WINDOW_AT_MEMBER_MAX {
            let how = Misbehaviour::TooManyWrites;
            turn.tell_home(FromGroup::Misbehaved { member: from, how });
            return turn.release(payload.filter(|_| owns_payload));
        }
        if !write.absent.is_empty() {
            self.mark_absent(write.absent, write.range);
        }
        let Write { seq, range, kind, fua, .. } = *write;
        let write = AppliedWrite { seq, range, kind, fua };
        let (mut state, mut log_slot) = (AppliedState::Cold, 0);
        if turn.view.holds_writes && owns_payload {
            state = AppliedState::Held;
            turn.activity.hold(Waiter::new(range, self.index, seq));
        } else if let Some(slot) = turn.activity.acquire(range, self.index, seq) {
            (state, log_slot) = (AppliedState::Writing, slot);
            self.submit(turn, write, payload, slot);
        }
        let window = &mut self.replica.window;
        let is_last = position == window.len();
        window.push_back(Applied { write, state, log_slot, payload, owns_payload });
        if !is_last {
            // It was sent again, and what was sent after it is here.
            window.move_last_to(position);
        }
    }

    /// Some members miss it: their slots say so before it is applied here.
    #[inline(never)]
    fn mark_absent(&mut self, absent: MemberSet, range: BlockRange) {
        for member in absent.iter() {
            if let Some(slot) = self.slot_mut(member) {
                slot.bits.set(range);
            }
        }
    }

    /// The extent of a waiting write is in the durable log.
    pub(crate) fn on_granted(&mut self, turn: &mut Turn<'_>, waiter: Waiter) {
        let window = &mut self.replica.window;
        let position = place_in(window, waiter.seq);
        let applied = window.get_mut(position).expect("a write that is dropped waits no longer");
        assert_eq!(applied.write.seq, waiter.seq, "a write that is dropped waits no longer");
        assert_eq!(applied.state, AppliedState::Cold, "a write is granted its extent once");
        applied.note_submitted(turn.activity.slot_of(waiter.extent));
        let Applied { write, payload, log_slot, .. } = *applied;
        self.submit(turn, write, payload, log_slot);
    }

    #[inline(always)]
    pub(crate) fn submit(
        &mut self,
        turn: &mut Turn<'_>,
        write: AppliedWrite,
        payload: Option<Payload>,
        log_slot: u16,
    ) {
        assert!(turn.activity.holds(log_slot, write.range.extent()), "I10");
        self.replica.device_writes += 1;
        let AppliedWrite { seq, range, fua, kind } = write;
        let token = DeviceUse::Apply { seq }.token(self.index);
        match kind {
            WriteKind::Data => {
                let payload = payload.expect("the group drops writes without their payload");
                turn.actions.push(GroupAction::WriteDevice { token, range, payload, fua });
            }
            WriteKind::Copy { given, zeroes } => {
                let copy = GroupAction::CopyDevice { token, range, payload, given, zeroes, fua };
                turn.actions.push(copy);
            }
            WriteKind::Discard | WriteKind::Zeroes => {
                let deallocate = kind == WriteKind::Discard;
                turn.actions.push(GroupAction::ZeroDevice { token, range, deallocate, fua });
            }
        }
        if turn.view.tells_receipt && !fua && !matches!(kind, WriteKind::Copy { .. }) {
            self.replica.receipts.push(seq);
        }
    }

    #[inline(always)]
    pub(crate) fn on_applied(
        &mut self,
        turn: &mut Turn<'_>,
        seq: Seq,
        result: Result<(), DeviceError>,
    ) {
        let replica = &mut self.replica;
        assert!(replica.device_writes > 0, "a completion has its submission");
        replica.device_writes -= 1;
        let applied = find_in(&mut replica.window, replica.stable, seq);
        let payload = applied.payload.take().filter(|_| applied.owns_payload);
        turn.release(payload);
        if result.is_err() {
            // I15: never acknowledged, never tried again; the member is lost.
            applied.state = AppliedState::Failed;
            return turn.tell_home(FromGroup::MemberFailed { member: turn.view.me });
        }
        applied.state = AppliedState::Done;
        turn.activity.on_written(applied.log_slot, turn.flushes_started);
        replica.applied = replica.applied.max(seq);
        if replica.nonce == turn.view.nonce {
            replica.acks.push(seq);
        }
    }

    /// Everything up to `stable` is on every member: what was kept for a failover can go.
    #[inline]
    pub(crate) fn on_stable(&mut self, turn: &mut Turn<'_>, stable: Seq) {
        if stable > self.replica.stable && turn.view.replica != ReplicaRole::None {
            self.leave_window(turn.view, turn.activity, stable, turn.actions);
        }
    }

    #[inline(always)]
    fn leave_window(
        &mut self,
        view: &View,
        activity: &mut ActivityLog,
        stable: Seq,
        actions: &mut Vec<GroupAction>,
    ) {
        let replica = &mut self.replica;
        replica.stable = stable;
        // While it is being resynced only a CLEAR says that a block is right again.
        let own = replica.own_slot.filter(|_| view.replica == ReplicaRole::InSync);
        let own = own.filter(|&own| !replica.slots[usize::from(own)].bits.is_empty());
        let is_marked = own.is_some() || !replica.inherited.is_empty();
        while let Some(first) = replica.window.front() {
            let AppliedWrite { seq, range, .. } = first.write;
            if seq > stable {
                break;
            }
            if first.state != AppliedState::Done {
                // Stable means acknowledged by this member: who says it of what is not is broken.
                replica.stable = Seq(seq.0 - 1);
                if let Some(member) = replica.leader_node {
                    actions.push(GroupAction::Home(FromGroup::Misbehaved {
                        member,
                        how: Misbehaviour::Nonsense,
                    }));
                }
                return;
            }
            activity.release(first.log_slot);
            replica.window.drop_front();
            if is_marked {
                replica.unmark(own, range);
            }
            if seq == stable {
                break;
            }
        }
    }

    /// One message acknowledges everything that completed in this turn.
    #[inline(always)]
    pub(crate) fn send_acks(&mut self, turn: &mut Turn<'_>) {
        if self.replica.acks.is_empty() {
            return;
        }
        self.replica.acks.sort_unstable();
        match self.replica.leader_node {
            Some(node) if node == turn.view.me => return self.take_own_acks(turn, node),
            Some(node) => {
                let (lane, boot_id) = (self.index, turn.view.boot_id);
                for (base, mask) in in_masks(&self.replica.acks) {
                    turn.send(node, DataBody::Ack { lane, base, mask, boot_id });
                }
            }
            None => {}
        }
        self.replica.acks.clear();
    }

    #[inline(always)]
    fn take_own_acks(&mut self, turn: &mut Turn<'_>, me: NodeId) {
        let mut acks = std::mem::take(&mut self.replica.acks);
        for &seq in &acks {
            self.on_acknowledged(turn, me, seq);
        }
        acks.clear();
        // Completions may have applied more writes of this node, and so acknowledged more.
        if self.replica.acks.is_empty() {
            self.replica.acks = acks;
        }
    }
}

impl Replica {
    /// All members have what was written last in `range`.
    #[inline(never)]
    fn unmark(&mut self, own: Option<u8>, range: BlockRange) {
        self.inherited.remove(range);
        if let Some(own) = own {
            self.slots[usize::from(own)].bits.clear(range);
        }
    }
}

/// The write of a window that is `seq`: most have no gap, and begin behind what is stable.
#[inline(always)]
fn find_in(window: &mut Ring<Applied>, stable: Seq, seq: Seq) -> &mut Applied {
    let guess = usize::try_from(seq.0.wrapping_sub(stable.0 + 1)).unwrap_or(usize::MAX);
    if window.get(guess).is_none_or(|it| it.write.seq != seq) {
        return find_behind_gap(window, seq);
    }
    window.get_mut(guess).expect("it was looked at")
}

#[cold]
fn find_behind_gap(window: &mut Ring<Applied>, seq: Seq) -> &mut Applied {
    let found = window.get_mut(place_in(window, seq)).filter(|it| it.write.seq == seq);
    found.expect("an entry stays until its write is done")
}

/// Where `seq` is in a window, or would be.
#[inline(always)]
fn place_in(window: &Ring<Applied>, seq: Seq) -> usize {
    if window.back().is_none_or(|last| last.write.seq < seq) {
        return window.len();
    }
    window.partition_point(|known| known.write.seq < seq)
}
