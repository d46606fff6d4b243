//! Copies: making members equal after a promotion, and bringing a returned one up to date.
//!
//! A copy is an operation that holds its range like any other: it reads from a source, writes to
//! the members that need the bytes, and only then counts them as equal. A returning member gets
//! every operation as soon as it is in the write set. So the blocks that it misses only become
//! fewer, and there is no second mode.

use format::ids::{BLOCK_BYTES, BlockMask, BlockRange, MemberSet, NodeId, QuestionId, Seq};
use format::message::{DataBody, WriteKind};

use crate::contract::{Compare, FromGroup, GroupAction, LostMember, Misbehaviour, Payload};
use crate::lane::read::has_source;
use crate::lane::verify::Verify;
use crate::lane::write::Wanted;
use crate::lane::{Lane, Leader, Operation, OperationKind, OperationState, Turn};
use crate::limits;
use crate::marks::Marks;

/// The resync of one returning member, in this lane.
#[derive(Debug)]
pub(crate) struct Resync {
    pub(crate) member: NodeId,
    /// The name of this resync, among all resyncs of the lane.
    id: u64,
    /// The blocks that the member misses.
    pub(crate) bits: Marks,
    /// Slots that are to be read, the current one first.
    loads: Vec<Load>,
    /// The other absent members, and from where on the slots for them at `from` are good.
    absent: Vec<LostMember>,
    /// The in-sync member whose slots are read.
    from: NodeId,
    /// How many LOSS messages the returning member has not answered.
    forwards: u32,
    /// The question that all of these messages name.
    forwarded_as: QuestionId,
    /// The place of its last question or LOSS among all that the group sent or asked.
    asked_as: u64,
    /// The block from which the next one to copy is looked for.
    cursor: u64,
    /// How many copies of it are under way.
    in_flight: u32,
    pub(crate) copied_blocks: u64,
    /// How many of the copied blocks the member had already.
    pub(crate) equal_blocks: u64,
    compare: Compare,
    /// How many copies in a row were compared and found no equal block.
    misses: u32,
    /// How many copies found no source that could be read.
    failures: u32,
    /// The member misses nothing any more, in this lane.
    pub(crate) done: bool,
}

/// The slot for member `slot` at node `at`, which is asked for piece by piece.
#[derive(Clone, Copy, Debug)]
struct Load {
    at: NodeId,
    slot: NodeId,
    /// Where the next piece begins.
    from: u64,
    /// Set where the slot is for a third, absent member: the returning one is told what that member
    /// misses.
    forward: Option<LostMember>,
}

impl Leader {
    fn is_reconciling(&self) -> bool {
        self.operations.iter().any(|(_, it)| it.kind == OperationKind::Reconcile)
    }

    /// Whether one more copy to a returning member may begin. A comparison has a place of its own.
    fn may_resync(&self) -> bool {
        let kept = usize::from(self.verify.as_ref().is_some_and(Verify::wants_place));
        self.copies + kept < limits::COPIES_PER_LANE_MAX && !self.is_full()
    }
}

impl Resync {
    fn count(&mut self, operation: &Operation) {
        let blocks = operation.range.count;
        let equal = match operation.state {
            OperationState::Equal => blocks,
            OperationState::Sent { kind: WriteKind::Copy { given, zeroes } } => {
                blocks - (given | zeroes).len()
            }
            OperationState::Sent { .. }
            | OperationState::Waiting
            | OperationState::Stalled { .. }
            | OperationState::Reading { .. }
            | OperationState::Comparing { .. }
            | OperationState::Hashing => 0,
        };
        self.copied_blocks += u64::from(blocks);
        self.equal_blocks += u64::from(equal);
        self.misses = if equal > 0 { 0 } else { self.misses.saturating_add(1) };
    }

    /// The returning member has recorded a piece of what an absent one misses. True if that was
    /// waited for.
    pub(crate) fn on_forwarded(&mut self, id: QuestionId) -> bool {
        let is_awaited = self.forwards > 0 && id.answers(self.forwarded_as);
        self.forwards -= u32::from(is_awaited);
        is_awaited
    }

    /// The member whose answer comes next: it was asked for a piece of a slot, or has to record
    /// one.
    fn awaited(&self) -> Option<NodeId> {
        let writes = (self.forwards > 0).then_some(self.member);
        self.loads.first().map(|load| load.at).or(writes)
    }

    pub(crate) fn explain(&self) -> String {
        let Self { member, loads, forwards, cursor, in_flight, .. } = self;
        let left = self.bits.ones();
        format!("to {member}: {left} left, {loads:?} {forwards} {cursor} {in_flight}")
    }
}

impl Lane {
    /// `member` is in the write set from now on. Asks what it misses: its slot at an in-sync
    /// member, and its own slot.
    pub(crate) fn start_resync(
        &mut self,
        turn: &mut Turn<'_>,
        member: NodeId,
        compare: Compare,
        from: NodeId,
        absent: &[LostMember],
    ) {
        let mut loads = vec![
            Load { at: from, slot: member, from: 0, forward: None },
            Load { at: member, slot: member, from: 0, forward: None },
        ];
        loads.extend(forwards(absent, from));
        let bits = Marks::new(self.index, turn.view.lanes.get(), &turn.view.space);
        let forwarded_as = self.next_question();
        let leader = self.leader.as_mut().expect("only a leader resyncs members");
        leader.resyncs.retain(|resync| resync.member != member);
        // No order is used twice, so an order will do as a name.
        let id = leader.next_order;
        leader.next_order += 1;
        leader.resyncs.push(Resync {
            member,
            id,
            bits,
            loads,
            absent: absent.to_vec(),
            from,
            forwards: 0,
            forwarded_as,
            asked_as: 0,
            cursor: 0,
            in_flight: 0,
            copied_blocks: 0,
            equal_blocks: 0,
            compare,
            misses: 0,
            failures: 0,
            done: false,
        });
        self.load_next(turn, member);
    }

    fn load_next(&mut self, turn: &mut Turn<'_>, member: NodeId) {
        while let Some(resync) = self.resync(member)
            && let Some(&load) = resync.loads.first()
        {
            resync.asked_as = turn.shared.room.next_place();
            if load.at != turn.view.me {
                let Load { slot, from, .. } = load;
                return turn.send(load.at, DataBody::SlotRead { lane: self.index, slot, from });
            }
            let (ranges, next) = self.read_slot(load.slot, load.from);
            self.take_slot_ranges(turn, member, load, &ranges, next);
        }
    }

    /// A piece of a slot here, for the node that asked for it.
    pub(crate) fn read_slot(&self, slot: NodeId, from: u64) -> (Vec<BlockRange>, Option<u64>) {
        let Some(slot) = self.slot(slot) else { return (Vec::new(), None) };
        let mut ranges = Vec::new();
        let mut at = from;
        while let Some(run) = slot.bits.next_run(at, 1024) {
            if ranges.len() == limits::SLOT_RANGES_PER_MESSAGE {
                return (ranges, Some(run.start));
            }
            ranges.push(run);
            at = run.end();
        }
        (ranges, None)
    }

    pub(crate) fn on_slot_data(
        &mut self,
        turn: &mut Turn<'_>,
        from: NodeId,
        (slot, asked): (NodeId, u64),
        ranges: &[BlockRange],
        next: Option<u64>,
    ) {
        let Some(leader) = self.leader.as_ref() else { return };
        let waiting = leader.resyncs.iter().find_map(|resync| {
            let load = resync.loads.first().copied()?;
            (load.at == from && load.slot == slot && load.from == asked)
                .then_some((resync.member, load))
        });
        let Some((member, load)) = waiting else { return };
        if next.is_some_and(|next| next <= load.from) {
            return turn
                .tell_home(FromGroup::Misbehaved { member: from, how: Misbehaviour::Nonsense });
        }
        self.take_slot_ranges(turn, member, load, ranges, next);
        self.load_next(turn, member);
    }

    fn take_slot_ranges(
        &mut self,
        turn: &mut Turn<'_>,
        member: NodeId,
        load: Load,
        ranges: &[BlockRange],
        next: Option<u64>,
    ) {
        let Some(resync) = self.resync(member) else { return };
        // A member that makes ready for a larger size marks its new blocks, here too, and keeps the
        // marks where it does not hear that the size is given up. This copy is about the blocks of
        // the size chosen before it began: for later ones the member is asked itself (10.3).
        let space = resync.bits.space();
        let ranges: Vec<_> = ranges.iter().filter_map(|&range| space.cut(range)).collect();
        match next {
            Some(next) => resync.loads[0].from = next,
            None => drop(resync.loads.remove(0)),
        }
        if let Some(lost) = load.forward {
            resync.forwards += 1;
            resync.asked_as = turn.shared.room.next_place();
            let id = resync.forwarded_as;
            self.send_loss_to(turn, member, lost, id, ranges);
        } else {
            for range in ranges {
                resync.bits.set(range);
            }
        }
    }

    /// LOSS messages to the returning member may be lost: sends all of them again.
    pub(crate) fn forward_again(&mut self, turn: &mut Turn<'_>, member: NodeId) {
        let forwarded_as = self.next_question();
        let Some(resync) = self.resync(member) else { return };
        if resync.forwards == 0 {
            return;
        }
        resync.forwards = 0;
        resync.forwarded_as = forwarded_as;
        resync.loads.retain(|load| load.forward.is_none());
        let again: Vec<Load> = forwards(&resync.absent, resync.from).collect();
        resync.loads.extend(again);
        self.load_next(turn, member);
    }

    /// The member whose slots were being read is gone. The slots of another one may have other
    /// bases, or be missing. So all blocks are copied, and nothing is promised of absent members.
    pub(crate) fn reload_from(&mut self, turn: &mut Turn<'_>, lost: NodeId, instead: NodeId) {
        let Some(leader) = self.leader.as_mut() else { return };
        let mut members = Vec::new();
        for resync in leader.resyncs.iter_mut().filter(|it| it.from == lost) {
            resync.from = instead;
            for known in &mut resync.absent {
                known.base = crate::UNUSED;
            }
            if !resync.loads.iter().any(|load| load.at == lost) {
                continue;
            }
            let Resync { member, .. } = *resync;
            let is_own = |load: &Load| load.at == lost && load.slot == member;
            if resync.loads.iter().any(is_own) {
                resync.bits.set_all();
                resync.loads.retain(|load| !is_own(load));
                if resync.compare == Compare::Never {
                    resync.compare = Compare::WhileItPays;
                }
            }
            for load in resync.loads.iter_mut().filter(|load| load.at == lost) {
                load.at = instead;
                load.from = 0;
                if let Some(known) = &mut load.forward {
                    known.base = crate::UNUSED;
                }
            }
            members.push(member);
        }
        for member in members {
            self.load_next(turn, member);
        }
    }

    /// Asks `peer` again for the piece that it has not given: its connection is back.
    pub(crate) fn reask_slots(&mut self, turn: &mut Turn<'_>, peer: NodeId) {
        let Some(leader) = self.leader.as_ref() else { return };
        let members: Vec<NodeId> = leader
            .resyncs
            .iter()
            .filter(|resync| resync.loads.first().is_some_and(|load| load.at == peer))
            .map(|resync| resync.member)
            .collect();
        for member in members {
            self.load_next(turn, member);
        }
    }

    /// Begins copies: first of what may differ between members, then of what returning members
    /// miss.
    pub(crate) fn start_copies(&mut self, turn: &mut Turn<'_>) {
        if turn.view.draining && self.is_reconciled() || !turn.view.serving {
            return;
        }
        // Without a source every copy fails at once, and leaves as much to copy as before.
        if !has_source(turn.view) {
            return;
        }
        while let Some(leader) = self.leader.as_mut().filter(|it| !it.outdated.is_empty()) {
            if leader.copies >= limits::COPIES_PER_LANE_MAX || leader.is_full() {
                return;
            }
            let next = leader
                .outdated
                .iter()
                .flat_map(crate::lane::by_extent)
                .map(|run| BlockRange::new(run.start, run.count.min(limits::COPY_BLOCKS_MAX)))
                .filter(|run| !leader.unreadable.overlaps(*run))
                .find(|run| !leader.operations.iter().any(|(_, o)| o.range.overlaps(*run)));
            match next {
                Some(range) => self.admit_copy(turn, OperationKind::Reconcile, range),
                None if leader.is_reconciling() => return,
                // No member could read what is left, or a client's operation holds it.
                None => break,
            }
        }
        self.start_resync_copies(turn);
    }

    fn start_resync_copies(&mut self, turn: &mut Turn<'_>) {
        let Some(leader) = self.leader.as_ref().filter(|_| !turn.view.draining) else { return };
        let mut left: MemberSet = leader.resyncs.iter().map(|resync| resync.member).collect();
        for position in 0..leader.resyncs.len() {
            self.check_synced(position);
        }
        while let Some(position) = self.least_missing(left) {
            while let Some((kind, range)) = self.next_resync_range(position) {
                let leader = self.leader.as_mut().expect("only a leader resyncs members");
                let bytes = range.length_bytes();
                if !leader.may_resync() || turn.shared.rate.budget < bytes {
                    return;
                }
                turn.shared.rate.budget -= bytes;
                let resync = &mut leader.resyncs[position];
                resync.cursor = range.end();
                resync.in_flight += 1;
                self.admit_copy(turn, kind, range);
            }
            let leader = self.leader.as_ref().expect("only a leader resyncs members");
            left.remove(leader.resyncs[position].member);
        }
    }

    /// The member that misses least is copied to first: it counts soon, and does not wait for hours
    /// for one that gets everything. The list keeps its order, by which answers about a slot are
    /// told apart.
    fn least_missing(&self, among: MemberSet) -> Option<usize> {
        let resyncs = self.leader.iter().flat_map(|leader| &leader.resyncs).enumerate();
        let resyncs = resyncs.filter(|(_, resync)| among.has(resync.member));
        Some(resyncs.min_by_key(|(_, resync)| resync.bits.ones())?.0)
    }

    fn next_resync_range(&mut self, position: usize) -> Option<(OperationKind, BlockRange)> {
        let resync = self.leader.as_mut()?.resyncs.get_mut(position)?;
        if !resync.loads.is_empty() || resync.failures >= limits::COPY_FAILURES_MAX {
            return None;
        }
        let kind = OperationKind::Resync { member: resync.member, id: resync.id };
        let run = resync.bits.next_run(resync.cursor, limits::COPY_BLOCKS_MAX);
        if run.is_none() && resync.in_flight == 0 && !resync.bits.is_empty() {
            resync.cursor = 0;
            let run = resync.bits.next_run(0, limits::COPY_BLOCKS_MAX)?;
            return Some((kind, run));
        }
        Some((kind, run?))
    }

    fn check_synced(&mut self, position: usize) {
        let Some(leader) = self.leader.as_mut() else { return };
        if !leader.outdated.is_empty() {
            return;
        }
        let Some(resync) = leader.resyncs.get_mut(position) else { return };
        let complete = resync.loads.is_empty() && resync.forwards == 0 && resync.bits.is_empty();
        resync.done |= complete;
    }

    /// Makes blocks equal that may differ, before a read or a partial write touches them.
    pub(crate) fn reconcile_within(&mut self, turn: &mut Turn<'_>, range: BlockRange) {
        let mut left = range;
        while left.count > 0 {
            let leader = self.leader.as_ref().expect("only a leader reconciles");
            if leader.outdated.is_empty() {
                return;
            }
            let Some(run) = leader.outdated.first_within(left) else { return };
            let after = u32::try_from(left.end() - run.end()).expect("within an extent");
            left = BlockRange::new(run.end(), after);
            let known = leader.operations.iter().any(|(_, operation)| {
                operation.kind == OperationKind::Reconcile && operation.range.contains(run)
            });
            if !known {
                self.admit_copy(turn, OperationKind::Reconcile, run);
            }
        }
    }

    /// A member could not read `range`: has what the others hold written there again.
    pub(crate) fn repair(&mut self, turn: &mut Turn<'_>, range: BlockRange) {
        if turn.view.in_sync.len() > 1 && self.leader.is_some() {
            self.admit_copy(turn, OperationKind::Reconcile, range);
            let leader = self.leader.as_mut().expect("checked above");
            leader.outdated.insert(range);
        }
    }

    pub(crate) fn admit_copy(
        &mut self,
        turn: &mut Turn<'_>,
        kind: OperationKind,
        range: BlockRange,
    ) {
        let leader = self.leader.as_mut().expect("only a leader copies");
        leader.copies += 1;
        let length = u32::try_from(range.length_bytes()).expect("within an extent");
        // What is read once the members are equal may be relied on as if a disk gave it back after
        // a loss of power (7.6); and a returning member joins with what is durable.
        let fua = true;
        let offset = range.start * BLOCK_BYTES;
        self.admit(turn, Wanted { kind, part: None, range, offset, length, payload: None, fua });
    }

    /// The copy holds its range now: goes on with it, if it is still wanted.
    pub(crate) fn start_copy(&mut self, turn: &mut Turn<'_>, index: u32) {
        let Operation { kind, range, .. } = *self.operation(index);
        let leader = self.leader.as_ref().expect("only a leader copies");
        let wanted = match kind {
            OperationKind::Resync { id, .. } => leader.resyncs.iter().any(|it| it.id == id),
            OperationKind::Reconcile => leader.outdated.overlaps(range),
            OperationKind::Verify { id } => self.is_verifying(id),
            OperationKind::Write | OperationKind::Discard | OperationKind::Zeroes => {
                unreachable!("only copies start here")
            }
        };
        if !wanted {
            return self.finish(turn, index);
        }
        if let OperationKind::Resync { member, .. } = kind
            && self.compares(member)
        {
            return self.ask_digests(turn, index, MemberSet::of(member));
        }
        if matches!(kind, OperationKind::Verify { .. }) {
            let members = Self::verified_members(turn);
            return self.ask_digests(turn, index, members);
        }
        self.read_for_operation(turn, index, MemberSet::EMPTY);
    }

    /// Whether the next copy to a returning member looks first at what it has.
    fn compares(&mut self, member: NodeId) -> bool {
        let Some(resync) = self.resync(member) else { return false };
        match resync.compare {
            Compare::Never => false,
            Compare::Always => true,
            Compare::WhileItPays if resync.misses < limits::COMPARE_MISSES_MAX => true,
            // Now and then one copy is compared all the same.
            Compare::WhileItPays => {
                resync.misses += 1;
                resync.misses % limits::COMPARE_MISSES_MAX == 0
            }
        }
    }

    /// The bytes of the source are here, and the copy holds its range.
    pub(crate) fn on_operation_bytes(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        payload: Payload,
        zeroes: BlockMask,
    ) {
        match self.operation(index).kind {
            OperationKind::Write => self.merge(turn, index, payload),
            OperationKind::Resync { id, .. } if !self.is_resyncing(id) => {
                self.operation_mut(index).payload = Some(payload);
                self.finish(turn, index);
            }
            OperationKind::Resync { .. } => self.compare_bytes(turn, index, payload, zeroes),
            OperationKind::Reconcile => {
                self.operation_mut(index).payload = Some(payload);
                self.send_copy(turn, index, zeroes, BlockMask::EMPTY);
            }
            OperationKind::Discard | OperationKind::Zeroes | OperationKind::Verify { .. } => {
                turn.release(Some(payload));
            }
        }
    }

    /// Sends the bytes of a copy. Blocks of zeroes are named instead of sent, and take no space at
    /// the target; blocks of `equal` are left out.
    pub(crate) fn send_copy(
        &mut self,
        turn: &mut Turn<'_>,
        index: u32,
        zeroes: BlockMask,
        equal: BlockMask,
    ) {
        let operation = self.operation_mut(index);
        let all = BlockMask::all(operation.range.count);
        let equal = equal.and(all);
        let zeroes = zeroes.and(all).minus(equal);
        let given = all.minus(zeroes | equal);
        if equal == all {
            operation.state = OperationState::Equal;
            return self.finish(turn, index);
        }
        if given.is_empty() {
            let payload = operation.payload.take();
            turn.release(payload);
        } else if let Some(payload) = operation.payload
            && given != all
        {
            turn.actions.push(GroupAction::KeepBlocks { payload, keep: given });
        }
        self.send(turn, index, WriteKind::Copy { given, zeroes });
    }

    #[inline]
    pub(crate) fn on_finished(&mut self, turn: &mut Turn<'_>, operation: &Operation) {
        match operation.kind {
            OperationKind::Write | OperationKind::Discard | OperationKind::Zeroes => {}
            OperationKind::Resync { member, id } => {
                self.on_copy_finished(turn, operation, Some((member, id)));
            }
            OperationKind::Reconcile | OperationKind::Verify { .. } => {
                self.on_copy_finished(turn, operation, None);
            }
        }
    }

    /// A copy ended, and still holds its range. If it was for a returning member, and that member
    /// has the blocks now, all members clear them in their slots for it.
    fn on_copy_finished(
        &mut self,
        turn: &mut Turn<'_>,
        operation: &Operation,
        resync: Option<(NodeId, u64)>,
    ) {
        let lane = self.index;
        let leader = self.leader.as_mut().expect("only a leader copies");
        if let OperationKind::Verify { id } = operation.kind {
            leader.end_comparison(id);
        }
        leader.copies -= 1;
        leader.forget_comparison(operation.order);
        let Some((member, id)) = resync else {
            if operation.seq == Seq(0) && leader.outdated.overlaps(operation.range) {
                // No member could read it. It is left alone until a client asks for it.
                leader.unreadable.insert(operation.range);
            } else {
                leader.unreadable.remove(operation.range);
            }
            return;
        };
        let Some(position) = leader.resyncs.iter().position(|resync| resync.id == id) else {
            return;
        };
        let resync = &mut leader.resyncs[position];
        resync.in_flight = resync.in_flight.saturating_sub(1);
        let is_there = match operation.state {
            OperationState::Sent { .. } => operation.acknowledged.has(member),
            OperationState::Equal => true,
            OperationState::Waiting
            | OperationState::Stalled { .. }
            | OperationState::Reading { .. }
            | OperationState::Comparing { .. }
            | OperationState::Hashing => false,
        };
        if !is_there && operation.seq == Seq(0) {
            resync.failures += 1;
            if resync.failures == limits::COPY_FAILURES_MAX {
                let stay = turn.view.stay_of(member);
                turn.tell_home(FromGroup::CopyFailed { stay });
            }
        }
        if !is_there {
            return;
        }
        resync.bits.clear(operation.range);
        resync.count(operation);
        let others = turn.view.write_set.without(turn.view.me).and(turn.view.connected);
        for other in others.iter() {
            let (seq, range) = (operation.seq, operation.range);
            turn.send(other, DataBody::Clear { lane, seq, slot: member, range });
        }
        self.clear_bits(member, operation.range);
        self.check_synced(position);
    }

    /// Clears bits of a slot: only the leader says so, while the copy holds its range, and once the
    /// copy is durable (I14).
    pub(crate) fn clear_bits(&mut self, member: NodeId, range: BlockRange) {
        if let Some(slot) = self.slot_mut(member) {
            slot.bits.clear(range);
        }
    }

    pub(crate) fn is_resyncing(&self, id: u64) -> bool {
        self.leader.as_ref().is_some_and(|leader| leader.resyncs.iter().any(|it| it.id == id))
    }

    pub(crate) fn resync(&mut self, member: NodeId) -> Option<&mut Resync> {
        let leader = self.leader.as_mut()?;
        leader.resyncs.iter_mut().find(|resync| resync.member == member)
    }

    /// Members whose answer a resync waits for, and the place of the question among all that the
    /// group sent or asked.
    pub(crate) fn awaited_for_resyncs(&self) -> impl Iterator<Item = (NodeId, u64)> + '_ {
        let resyncs = self.leader.iter().flat_map(|leader| &leader.resyncs);
        resyncs.filter_map(|resync| Some((resync.awaited()?, resync.asked_as)))
    }

    pub(crate) fn is_reconciled(&self) -> bool {
        self.leader.as_ref().is_none_or(|leader| leader.outdated.is_empty())
    }
}

fn forwards(absent: &[LostMember], at: NodeId) -> impl Iterator<Item = Load> + '_ {
    let load =
        move |&lost: &LostMember| Load { at, slot: lost.member, from: 0, forward: Some(lost) };
    absent.iter().map(load)
}
