//! Reads: of clients, of the leader for its own operations, and for other nodes.
//!
//! A client's read first waits for operations in flight that overlap it. Once its bytes are there
//! it waits for overlapping operations that began after it: the bytes may be of one of them, which
//! is not on all members yet (I7). Last comes the fence: the lease is looked at when the answer is
//! about to go.
//!
//! `balance` chooses which in-sync member is asked. If that member answers late, another one is
//! asked, too, and the first answer counts, for all of them are right. The read keeps its place
//! until all that were asked have answered or are gone: so no late answer is taken for that of
//! another read.

use format::ids::{BlockMask, BlockRange, MemberSet, NodeId};
use format::message::{DataBody, ReadStatus};
use stdx::time::Time;

use crate::contract::{
    DeviceError, DeviceResult, GroupAction, PartId, Payload, ReplicaRole, RequestError,
};
use crate::lane::asked::{self, Asked, Asker};
use crate::lane::{DeviceUse, Lane, Leader, Operation, OperationKind, OperationState, Turn};
use crate::limits;
use crate::view::View;

/// A client's read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientRead {
    pub(crate) part: PartId,
    pub(crate) range: BlockRange,
    /// Its place among operations and reads: those with a smaller one came before it.
    pub(crate) order: u64,
    state: ReadState,
    /// The members that were asked, and have not answered.
    asked: MemberSet,
    /// When the last of these members was asked.
    asked_at: Time,
    /// The members that could not give the bytes.
    tried: MemberSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadState {
    /// So many earlier operations overlap it and are not finished.
    Blocked { blockers: u32 },
    /// It waits for bytes: of the members that were asked, or until one can be asked.
    Reading,
    /// The bytes are here; operations in `order..until` overlap and are not finished.
    Held { payload: Payload, until: u64, blockers: u32 },
    /// The bytes are here, and the answer waits for the lease alone.
    Fenced { payload: Payload },
    /// The client has its answer, and some member that was asked has not answered.
    Answered,
}

impl ClientRead {
    /// The read waits for the lease alone.
    pub(crate) fn is_fenced(&self) -> bool {
        matches!(self.state, ReadState::Fenced { .. })
    }

    /// The bytes, if they are here and the client has no answer yet.
    pub(crate) fn held_payload(&self) -> Option<Payload> {
        match self.state {
            ReadState::Held { payload, .. } | ReadState::Fenced { payload } => Some(payload),
            ReadState::Blocked { .. } | ReadState::Reading | ReadState::Answered => None,
        }
    }

    /// The client has its answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.state == ReadState::Answered
    }
}

/// A read for another node, which leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PeerRead {
    pub(crate) from: NodeId,
    pub(crate) id: u32,
    pub(crate) range: BlockRange,
    pub(crate) nonce: format::ids::Nonce,
    pub(crate) wants: Wants,
}

impl PeerRead {
    /// The session is over: the answer of the disk is dropped.
    pub(crate) fn forget(&mut self) {
        self.nonce = format::ids::Nonce(0);
    }

    /// Whether the asking node still waits: the session in which it asked lasts.
    pub(crate) fn is_wanted(&self, view: &View) -> bool {
        self.nonce == view.nonce && view.nonce != format::ids::Nonce(0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    Bytes,
    Digests,
}

/// Where bytes can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Member(NodeId),
    /// There is a member that has them, and it does not answer now.
    Later,
    /// No member has them.
    None,
}

/// Whether there is a member with the bytes, in reach or not.
pub(crate) fn has_source(view: &View) -> bool {
    view.in_sync.has(view.me) && reads_own_disk(view) || !view.in_sync.without(view.me).is_empty()
}

impl Source {
    /// The same where a member was left out for now: it may be asked later.
    fn or_later(self) -> Self {
        match self {
            Self::None => Self::Later,
            source @ (Self::Member(_) | Self::Later) => source,
        }
    }
}

/// An in-sync member that a client's read can be sent to: none of `past`. Members in `behind` have
/// not written yet what a client was told is written: they are left out for now.
fn client_source(
    turn: &mut Turn<'_>,
    range: BlockRange,
    past: MemberSet,
    behind: MemberSet,
) -> Source {
    let (have, now) = sources(turn.view, past | turn.view.write_only);
    let now = now.minus(behind);
    if turn.shared.balance.stays_local(turn.view.me, now) {
        return Source::Member(turn.view.me);
    }
    match turn.shared.balance.choose(turn.view.me, now, range.start) {
        Some(member) => Source::Member(member),
        None => absent_source(turn.view, have),
    }
}

/// An in-sync member that an operation can read from: this node itself, or the others in turn.
fn operation_source(turn: &mut Turn<'_>, past: MemberSet) -> Source {
    let (have, now) = sources(turn.view, past);
    let me = turn.view.me;
    let found = if now.has(me) { Some(me) } else { turn.shared.balance.next_of(now) };
    match found {
        Some(member) => Source::Member(member),
        None => absent_source(turn.view, have),
    }
}

/// The in-sync members but for `past`, and those of them that can be asked now.
fn sources(view: &View, past: MemberSet) -> (MemberSet, MemberSet) {
    let have = view.in_sync.minus(past);
    let now = have.and(view.reachable()).minus(view.losing);
    let now = if reads_own_disk(view) { now } else { now.without(view.me) };
    (have, now)
}

fn reads_own_disk(view: &View) -> bool {
    view.replica == ReplicaRole::InSync && !view.disk_failed
}

fn absent_source(view: &View, have: MemberSet) -> Source {
    // If this node alone was in sync when its disk failed, the data may come back with that disk.
    let is_last = view.disk_failed && view.in_sync.has(view.me);
    if have.without(view.me).is_empty() && !is_last { Source::None } else { Source::Later }
}

impl Lane {
    pub(crate) fn admit_read(&mut self, turn: &mut Turn<'_>, part: PartId, range: BlockRange) {
        self.reconcile_within(turn, range);
        let leader = self.leader.as_mut().expect("only a leader admits");
        let is_before = |other: &Operation| other.range.overlaps(range) && !other.is_answered;
        let overlapping = leader.operations.iter().filter(|(_, other)| is_before(other)).count();
        let blockers = u32::try_from(overlapping).expect("bounded by the operations of a lane");
        let read = ClientRead {
            part,
            range,
            order: leader.next_order,
            state: ReadState::Blocked { blockers },
            asked: MemberSet::EMPTY,
            asked_at: Time::ZERO,
            tried: MemberSet::EMPTY,
        };
        leader.next_order += 1;
        let index = leader.reads.insert(read);
        if blockers == 0 {
            let behind = self.behind(turn, range);
            let source = client_source(turn, range, MemberSet::EMPTY, behind);
            self.read_from(turn, index, source);
        }
    }

    fn read_for_client(&mut self, turn: &mut Turn<'_>, index: u32) {
        let Some(&ClientRead { range, asked, tried, .. }) = self.read(index) else { return };
        let behind = self.behind(turn, range);
        let source = client_source(turn, range, tried | asked, behind);
        self.read_from(turn, index, source);
    }

    fn read_from(&mut self, turn: &mut Turn<'_>, index: u32, source: Source) {
        let generation = self.generation;
        let lane = self.index;
        let Some(read) = self.read_mut(index) else { return };
        let (range, order) = (read.range, read.order);
        read.state = ReadState::Reading;
        match source {
            Source::Member(member) => {
                read.asked.insert(member);
                read.asked_at = turn.now;
                turn.shared.balance.on_asked(turn.now, member);
                if member == turn.view.me {
                    let asked = Asked::new(index, order);
                    let token = DeviceUse::ClientRead { asked, generation }.token(lane);
                    turn.actions.push(GroupAction::ReadDevice { token, range, detect_zero: false });
                } else {
                    let id = asked::wire_id(Asker::Client { index }, order);
                    turn.send(member, DataBody::Read { lane, id, range });
                }
            }
            // A member that was asked may still answer.
            Source::Later | Source::None if !read.asked.is_empty() => {}
            Source::Later => self.leader.as_mut().expect("a read has a leader").stalled = true,
            Source::None => self.fail_read(turn, index),
        }
    }

    /// Asks another member, too, for each read that has waited for long. Returns the members that
    /// have not answered for longer than a member may take.
    pub(crate) fn ask_others(&mut self, turn: &mut Turn<'_>) -> MemberSet {
        let mut slow = MemberSet::EMPTY;
        let places = self.leader.as_ref().map_or(0, |leader| leader.reads.places());
        let patience = turn.shared.balance.patience(sources(turn.view, turn.view.write_only).1);
        for index in 0..places {
            let Some(read) = self.read(index).filter(|read| !read.asked.is_empty()) else {
                continue;
            };
            let ClientRead { range, asked, asked_at, tried, .. } = *read;
            let waited = turn.now.since(asked_at);
            if waited >= turn.view.slow_limit {
                slow |= asked;
            }
            if waited < patience {
                continue;
            }
            asked.iter().for_each(|member| turn.shared.balance.on_overdue(member));
            let is_waited_for = read.state == ReadState::Reading;
            if !is_waited_for || asked.len() >= limits::READ_SOURCES_MAX {
                continue;
            }
            let behind = self.behind(turn, range);
            if let source @ Source::Member(_) = client_source(turn, range, tried | asked, behind) {
                self.read_from(turn, index, source);
            }
        }
        slow
    }

    /// Reads what a partial write or a copy needs. The operation holds its range meanwhile.
    pub(crate) fn read_for_operation(&mut self, turn: &mut Turn<'_>, index: u32, tried: MemberSet) {
        let is_of_client = self.operation(index).part.is_some();
        let past = if is_of_client { tried | turn.view.write_only } else { tried };
        let source = operation_source(turn, past);
        self.read_operation_from(turn, index, source, tried);
    }

    fn read_operation_from(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        source: Source,
        tried: MemberSet,
    ) {
        let generation = self.generation;
        let lane = self.index;
        let operation = self.operation_mut(index);
        let (range, order) = (operation.range, operation.order);
        match source {
            Source::Member(member) => {
                operation.state = OperationState::Reading { from: Some(member), tried };
                operation.sent_as = turn.shared.room.next_place();
                if member == turn.view.me {
                    let asked = Asked::new(index, order);
                    let token = DeviceUse::OperationRead { asked, generation }.token(lane);
                    let detect_zero = operation.part.is_none();
                    turn.actions.push(GroupAction::ReadDevice { token, range, detect_zero });
                } else {
                    let id = asked::wire_id(Asker::Operation { index }, order);
                    turn.send(member, DataBody::Read { lane, id, range });
                }
            }
            Source::Later => {
                operation.state = OperationState::Reading { from: None, tried };
                self.leader.as_mut().expect("an operation has a leader").stalled = true;
            }
            Source::None => self.fail(turn, index),
        }
    }

    pub(crate) fn on_operation_read(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        from: NodeId,
        result: Result<(Payload, BlockMask), DeviceError>,
    ) {
        let known = self.leader.as_ref().and_then(|leader| leader.operations.get(index));
        let tried = match known.map(|operation| operation.state) {
            Some(OperationState::Reading { from: asked, tried }) if asked == Some(from) => tried,
            // It was lost meanwhile, and another is asked.
            _ => return turn.release(result.ok().map(|(payload, _)| payload)),
        };
        match result {
            Ok((payload, zeroes)) => {
                let Operation { kind, range, .. } = *self.operation(index);
                self.on_operation_bytes(turn, index, payload, zeroes);
                // The others write to the member that failed. This one goes to another.
                if !tried.is_empty() && matches!(kind, OperationKind::Resync { .. }) {
                    self.repair(turn, range);
                }
            }
            Err(DeviceError) => {
                self.read_for_operation(turn, index, tried.with(from));
            }
        }
    }

    fn on_client_read(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        from: NodeId,
        result: Result<Payload, DeviceError>,
    ) {
        let Some(leader) = self.leader.as_deref_mut() else { return turn.release(result.ok()) };
        let Leader { reads, operations, next_order, .. } = leader;
        let Some(read) = reads.get_mut(index).filter(|read| read.asked.has(from)) else {
            return turn.release(result.ok());
        };
        read.asked.remove(from);
        let (ReadState::Reading, Ok(payload)) = (read.state, result) else {
            return self.on_no_bytes(turn, index, from, result);
        };
        turn.shared.balance.on_served(turn.now, from, read.asked_at);
        let (part, range, order) = (read.part, read.range, read.order);
        let was_tried = !read.tried.is_empty();
        let later = operations
            .iter()
            .filter(|(_, other)| other.order > order && other.range.overlaps(range))
            .filter(|(_, other)| !other.is_answered)
            .count();
        let blockers = u32::try_from(later).expect("bounded by the operations of a lane");
        if blockers > 0 {
            read.state = ReadState::Held { payload, until: *next_order, blockers };
        } else if read.asked.is_empty() && turn.view.may_answer_reads(turn.now) {
            reads.forget(index);
            turn.actions.push(GroupAction::Complete { part, result: Ok(Some(payload)) });
        } else {
            read.state = ReadState::Fenced { payload };
            self.answer_if_fenced(turn, index);
        }
        if was_tried {
            self.repair(turn, range);
        }
    }

    /// A member gave no bytes for a client's read, or gave them after another one did.
    fn on_no_bytes(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        from: NodeId,
        result: Result<Payload, DeviceError>,
    ) {
        turn.shared.balance.on_refused(from);
        let leader = self.leader.as_mut().expect("a read has a leader");
        let read = leader.reads.get_mut(index).expect("the caller found it");
        let (range, is_waiting) = (read.range, read.state == ReadState::Reading);
        if is_waiting {
            // Another member serves it, and what that one says is copied back (6.6).
            read.tried.insert(from);
            return self.read_for_client(turn, index);
        }
        if read.is_answered() && read.asked.is_empty() {
            leader.forget_read(index);
        }
        match result {
            Ok(payload) => turn.release(Some(payload)),
            Err(DeviceError) => self.repair(turn, range),
        }
    }

    fn answer_if_fenced(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("a read has a leader");
        let Some(&ClientRead { state: ReadState::Fenced { payload }, .. }) =
            leader.reads.get(index)
        else {
            return;
        };
        if turn.view.may_answer_reads(turn.now) {
            leader.answer_read(turn, index, Ok(Some(payload)));
        } else {
            leader.stalled = true;
        }
    }

    /// An operation finished: reads that waited for it, before or after their bytes came, go on.
    pub(crate) fn unblock_reads(&mut self, turn: &mut Turn<'_>, finished: &Operation) {
        let mut from = 0;
        while let Some(index) = self.next_unblocked_read(finished, &mut from) {
            let Some(read) = self.read_mut(index) else { continue };
            match read.state {
                ReadState::Blocked { .. } => self.read_for_client(turn, index),
                ReadState::Held { payload, .. } => {
                    read.state = ReadState::Fenced { payload };
                    self.answer_if_fenced(turn, index);
                }
                ReadState::Reading | ReadState::Fenced { .. } | ReadState::Answered => {}
            }
        }
    }

    fn next_unblocked_read(&mut self, finished: &Operation, from: &mut u32) -> Option<u32> {
        let leader = self.leader.as_mut()?;
        for (index, read) in leader.reads.iter_mut() {
            if index < *from || !read.range.overlaps(finished.range) {
                continue;
            }
            let order = read.order;
            let blockers = match &mut read.state {
                ReadState::Blocked { blockers } if finished.order < order => blockers,
                ReadState::Held { until, blockers, .. }
                    if finished.order > order && finished.order < *until =>
                {
                    blockers
                }
                ReadState::Blocked { .. }
                | ReadState::Held { .. }
                | ReadState::Reading
                | ReadState::Fenced { .. }
                | ReadState::Answered => continue,
            };
            assert!(*blockers > 0, "what waits is blocked");
            *blockers -= 1;
            if *blockers == 0 {
                *from = index + 1;
                return Some(index);
            }
        }
        None
    }

    /// Tries again what no member could give: a connection or the lease may have changed.
    pub(crate) fn retry_stalled(&mut self, turn: &mut Turn<'_>) {
        let Some(leader) = self.leader.as_mut().filter(|leader| leader.stalled) else { return };
        leader.stalled = false;
        let (reads, operations) = (leader.reads.places(), leader.operations.places());
        for index in 0..reads {
            let Some(&ClientRead { state, asked, .. }) = self.read(index) else { continue };
            match state {
                ReadState::Reading if asked.is_empty() => self.read_for_client(turn, index),
                ReadState::Fenced { .. } => self.answer_if_fenced(turn, index),
                ReadState::Blocked { .. }
                | ReadState::Reading
                | ReadState::Held { .. }
                | ReadState::Answered => {}
            }
        }
        for index in 0..operations {
            let leader = self.leader.as_ref().expect("it leads all the while");
            let Some(operation) = leader.operations.get(index) else { continue };
            match operation.state {
                OperationState::Reading { from: None, tried } => {
                    self.read_for_operation(turn, index, tried);
                }
                OperationState::Comparing { awaiting: MemberSet::EMPTY } => {
                    self.on_compared(turn, index);
                }
                OperationState::Waiting
                | OperationState::Stalled { .. }
                | OperationState::Reading { .. }
                | OperationState::Comparing { .. }
                | OperationState::Hashing
                | OperationState::Sent { .. }
                | OperationState::Equal => {}
            }
        }
    }

    /// A member is not connected any more: asks another one for what it was asked.
    pub(crate) fn on_source_lost(&mut self, member: NodeId) {
        self.replica
            .peer_reads
            .iter_mut()
            .filter(|(_, read)| read.from == member)
            .for_each(|(_, read)| read.forget());
        if let Some(leader) = self.leader.as_mut() {
            leader.ask_elsewhere(member);
        }
    }

    pub(crate) fn fail_reads_within(&mut self, turn: &mut Turn<'_>, range: BlockRange) {
        let Some(leader) = self.leader.as_ref() else { return };
        let blocked: Vec<u32> = leader
            .reads
            .iter()
            .filter(|(_, read)| {
                read.range.overlaps(range) && matches!(read.state, ReadState::Blocked { .. })
            })
            .map(|(index, _)| index)
            .collect();
        for index in blocked {
            self.fail_read(turn, index);
        }
    }

    fn fail_read(&mut self, turn: &mut Turn<'_>, index: u32) {
        let leader = self.leader.as_mut().expect("a read has a leader");
        leader.answer_read(turn, index, Err(RequestError::Io));
    }

    fn read(&self, index: u32) -> Option<&ClientRead> {
        self.leader.as_ref().and_then(|leader| leader.reads.get(index))
    }

    fn read_mut(&mut self, index: u32) -> Option<&mut ClientRead> {
        self.leader.as_mut().and_then(|leader| leader.reads.get_mut(index))
    }
}

impl Leader {
    /// Counts on no answer of `member` to what it was asked so far.
    pub(crate) fn ask_elsewhere(&mut self, member: NodeId) {
        for index in 0..self.reads.places() {
            let Some(read) = self.reads.get_mut(index).filter(|read| read.asked.has(member)) else {
                continue;
            };
            read.asked.remove(member);
            if read.asked.is_empty() {
                match read.state {
                    ReadState::Reading => self.stalled = true,
                    ReadState::Answered => self.forget_read(index),
                    ReadState::Blocked { .. }
                    | ReadState::Held { .. }
                    | ReadState::Fenced { .. } => {}
                }
            }
        }
        for (_, operation) in self.operations.iter_mut() {
            if let OperationState::Reading { from, .. } = &mut operation.state
                && *from == Some(member)
            {
                *from = None;
                self.stalled = true;
            }
        }
        self.compare_without(member);
    }

    pub(crate) fn compare_without(&mut self, member: NodeId) {
        for (_, operation) in self.operations.iter_mut() {
            if let OperationState::Comparing { awaiting } = &mut operation.state
                && awaiting.has(member)
            {
                awaiting.remove(member);
                self.stalled = true;
            }
        }
    }

    /// The client has its answer. Until all that were asked have answered, the place of the read is
    /// given to no other: the bytes of a late one would be taken for that other's.
    pub(crate) fn answer_read(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        result: Result<Option<Payload>, RequestError>,
    ) {
        let known = self.reads.get_mut(index).filter(|read| !read.is_answered());
        let Some(read) = known else { return };
        let part = read.part;
        if read.asked.is_empty() {
            self.reads.remove(index);
        } else {
            read.state = ReadState::Answered;
            self.answered_reads += 1;
        }
        turn.actions.push(GroupAction::Complete { part, result });
    }

    fn forget_read(&mut self, index: u32) {
        let read = self.reads.remove(index).expect("a read that is known");
        assert!(read.is_answered(), "a client's read is answered before it is forgotten");
        self.answered_reads -= 1;
    }
}

// ---- For other nodes.

impl Lane {
    pub(crate) fn on_peer_read(
        &mut self,
        turn: &mut Turn<'_>,
        from: NodeId,
        id: u32,
        range: BlockRange,
    ) {
        let lane = self.index;
        let is_full = self.replica.peer_reads.len() >= limits::PEER_READS_PER_LANE_MAX;
        if turn.view.replica != ReplicaRole::InSync || is_full {
            let status = ReadStatus::Refused;
            let (length_bytes, zeroes) = (0, BlockMask::EMPTY);
            return turn.send(from, DataBody::ReadDone { lane, id, status, length_bytes, zeroes });
        }
        let read = PeerRead { from, id, range, nonce: turn.view.nonce, wants: Wants::Bytes };
        let index = self.replica.peer_reads.insert(read);
        let token = DeviceUse::PeerRead { index }.token(lane);
        let detect_zero = asked::is_for_operation(id);
        turn.actions.push(GroupAction::ReadDevice { token, range, detect_zero });
    }

    /// The device answered a read for a peer: sends the answer on, if the session still lasts.
    pub(crate) fn on_peer_read_done(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        result: Result<(Payload, BlockMask), DeviceError>,
    ) {
        let read = self.replica.peer_reads.remove(index);
        let Some(read) = read.filter(|read| read.is_wanted(turn.view)) else {
            return turn.release(result.ok().map(|(payload, _)| payload));
        };
        let (lane, id) = (self.index, read.id);
        let (status, payload, zeroes) = match result {
            Ok((payload, zeroes)) => (ReadStatus::Ok, Some(payload), zeroes),
            Err(DeviceError) => (ReadStatus::DeviceError, None, BlockMask::EMPTY),
        };
        let length_bytes = u32::try_from(read.range.length_bytes()).expect("within an extent");
        let length_bytes = if payload.is_some() { length_bytes } else { 0 };
        let message = turn.data(DataBody::ReadDone { lane, id, status, length_bytes, zeroes });
        turn.actions.push(GroupAction::Send { to: read.from, message, payload });
        turn.release(payload);
    }

    /// How many bytes the answer of another node to this question has.
    pub(crate) fn asked_bytes(&self, asker: Asker) -> u32 {
        let range = match asker {
            Asker::Operation { index } => self.operation(index).range,
            Asker::Client { index } => self.read(index).expect("it asked").range,
        };
        u32::try_from(range.length_bytes()).expect("within an extent")
    }

    /// The answer of another node to a read of this one.
    pub(crate) fn on_read_done(
        &mut self,
        turn: &mut Turn<'_>,
        (asker, from): (Asker, NodeId),
        (status, zeroes): (ReadStatus, BlockMask),
        payload: Option<Payload>,
    ) {
        if status == ReadStatus::Refused {
            turn.release(payload);
            return self.on_read_refused(turn, asker, from);
        }
        let result = match (status, payload) {
            (ReadStatus::Ok, Some(payload)) => Ok((payload, zeroes)),
            (_, payload) => {
                turn.release(payload);
                Err(DeviceError)
            }
        };
        match asker {
            Asker::Operation { index } => self.on_operation_read(turn, index, from, result),
            Asker::Client { index } => {
                self.on_client_read(turn, index, from, result.map(|(payload, _)| payload));
            }
        }
    }

    /// `from` refused a read, for it does not know yet that it is in sync: asks another member, or
    /// the same one later.
    fn on_read_refused(&mut self, turn: &mut Turn<'_>, asker: Asker, from: NodeId) {
        match asker {
            Asker::Operation { index } => self.on_operation_refused(turn, index, from),
            Asker::Client { index } => self.on_client_refused(turn, index, from),
        }
    }

    fn on_client_refused(&mut self, turn: &mut Turn<'_>, index: u32, from: NodeId) {
        let Some(read) = self.read_mut(index).filter(|read| read.asked.has(from)) else { return };
        read.asked.remove(from);
        turn.shared.balance.on_refused(from);
        let read = *read;
        if read.state == ReadState::Reading {
            let past = (read.tried | read.asked).with(from);
            let behind = self.behind(turn, read.range);
            let source = client_source(turn, read.range, past, behind).or_later();
            self.read_from(turn, index, source);
        } else if read.is_answered() && read.asked.is_empty() {
            self.leader.as_mut().expect("a read has a leader").forget_read(index);
        }
    }

    fn on_operation_refused(&mut self, turn: &mut Turn<'_>, index: u32, from: NodeId) {
        let Some(leader) = self.leader.as_ref() else { return };
        let state = leader.operations.get(index).map(|operation| operation.state);
        if let Some(OperationState::Reading { from: Some(asked), tried }) = state
            && asked == from
        {
            let source = operation_source(turn, tried.with(from)).or_later();
            self.read_operation_from(turn, index, source, tried);
        }
    }

    pub(crate) fn on_device_read(
        &mut self,
        turn: &mut Turn<'_>,
        device_use: DeviceUse,
        result: &Result<DeviceResult, DeviceError>,
    ) {
        let bytes = match *result {
            Ok(DeviceResult::Read { payload, zeroes }) => Ok((payload, zeroes)),
            Ok(DeviceResult::Done | DeviceResult::Digests(_)) | Err(DeviceError) => {
                Err(DeviceError)
            }
        };
        let me = turn.view.me;
        let drop = |turn: &mut Turn<'_>| turn.release(bytes.ok().map(|(payload, _)| payload));
        match device_use {
            DeviceUse::OperationRead { asked, generation } => {
                match self.operation_asked(asked, generation) {
                    Some(index) => self.on_operation_read(turn, index, me, bytes),
                    None => drop(turn),
                }
            }
            DeviceUse::ClientRead { asked, generation } => {
                match self.read_asked(asked, generation) {
                    Some(index) => {
                        self.on_client_read(turn, index, me, bytes.map(|(payload, _)| payload));
                    }
                    None => drop(turn),
                }
            }
            DeviceUse::PeerRead { index } => self.on_peer_read_done(turn, index, bytes),
            DeviceUse::Apply { .. }
            | DeviceUse::OperationDigest { .. }
            | DeviceUse::PeerDigest { .. }
            | DeviceUse::PayloadDigest { .. } => drop(turn),
        }
    }
}

#[cfg(test)]
mod tests {
    use format::ids::NodeId;

    use super::*;

    /// Their places are named in few bits.
    #[test]
    fn what_a_late_disk_owes_is_bounded() {
        let mut leader = Leader::default();
        let asked = MemberSet::of(NodeId::new(1).expect("a small number"));
        for part in 0..limits::READ_PLACES_MAX {
            assert!(!leader.is_full(), "{part} reads are answered");
            leader.reads.insert(ClientRead {
                part: PartId(part as u64),
                range: BlockRange::new(0, 1),
                order: 0,
                state: ReadState::Answered,
                asked,
                asked_at: Time::ZERO,
                tried: MemberSet::EMPTY,
            });
            leader.answered_reads += 1;
        }
        assert!(leader.is_full());
        Asked::new(leader.reads.places(), 0);
    }
}
