//! The replica's side of a write (the leader's is `write`).
//!
//! `apply` drops duplicates, marks what absent members miss, makes sure that the extent is in the
//! activity log, and writes; `on_applied` acknowledges; `on_stable` forgets what every member has.
//!
//! Code on the way of each write is inlined, as in `write`; what few writes need is a call.

use format::ids::{BlockRange, MemberSet, Seq};
use format::message::{DataBody, Write, WriteKind};
use stdx::ring::Ring;

use crate::activity::{ActivityLog, HotSlot, Waiter};
use crate::contract::{DeviceError, FromGroup, GroupAction, Misbehaviour, Payload, ReplicaRole};
use crate::lane::{Applied, AppliedState, Common, DeviceUse, Lane, Manner, Origin, Replica, Turn};
use crate::limits;
use crate::view::View;

/// The parts of a write that matter when it is not applied at once. Were the whole write handed on,
/// the compiler would keep all of it at hand on the way of every write.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    seq: Seq,
    range: BlockRange,
    absent: MemberSet,
    manner: Manner,
}

impl Lane {
    /// Applies a write of the session; the group has checked the session.
    #[inline(always)]
    pub(crate) fn apply(
        &mut self,
        turn: &mut Turn<'_>,
        origin: Origin,
        write: Write,
        payload: Option<Payload>,
    ) {
        let Write { seq, range, absent, kind, fua, stable, .. } = write;
        let is_own = origin == Origin::Own;
        self.replica.leader_node = Some(origin.sender(turn.view.me));
        self.on_stable(turn, stable);
        let replica = &self.replica;
        // Nearly all writes are so.
        let is_plain = kind == WriteKind::Data
            && seq > replica.newest
            && replica.window.len() < limits::WINDOW_AT_MEMBER_MAX
            && (is_own || !turn.view.holds_writes);
        if is_plain && let Some(slot) = turn.shared.activity.acquire(range) {
            if !absent.is_empty() {
                self.mark_absent(absent, range);
            }
            self.submit(turn, (seq, range), Manner { kind, fua }, payload, slot);
            let state = AppliedState::Writing(slot);
            self.replica.newest = seq;
            self.replica.window.push_back(Applied { seq, range, state, payload, is_own });
        } else {
            let arrived = Arrived { seq, range, absent, manner: Manner { kind, fua } };
            self.apply_carefully(&mut turn.again(), origin, arrived, payload);
        }
    }

    /// Applies a write of any kind, or keeps it until it may be applied.
    #[inline(never)]
    fn apply_carefully(
        &mut self,
        turn: &mut Turn<'_>,
        origin: Origin,
        arrived: Arrived,
        payload: Option<Payload>,
    ) {
        let Arrived { seq, range, absent, manner } = arrived;
        let is_own = origin == Origin::Own;
        let replica = &mut self.replica;
        if seq <= replica.newest && replica.has_seen(seq) {
            turn.touch(self.position);
            return turn.release(payload.filter(|_| !is_own));
        }
        if replica.window.len() >= limits::WINDOW_AT_MEMBER_MAX {
            // A disk that is being given up may never answer what it was asked.
            let is_given_up = turn.view.replica == ReplicaRole::None;
            assert!(!is_own || is_given_up, "a leader sends no more than a member keeps");
            let how = Misbehaviour::TooManyWrites;
            let member = origin.sender(turn.view.me);
            turn.tell_home(FromGroup::Misbehaved { member, how });
            return turn.release(payload.filter(|_| !is_own));
        }
        replica.newest = replica.newest.max(seq);
        self.mark_absent(absent, range);
        let state = if turn.view.holds_writes && !is_own {
            turn.shared.activity.hold(Waiter::new(range, self.index, seq));
            AppliedState::Held(manner)
        } else if let Some(slot) = turn.shared.activity.acquire_or_wait(range, self.index, seq) {
            self.submit(turn, (seq, range), manner, payload, slot);
            AppliedState::Writing(slot)
        } else {
            AppliedState::Cold(manner)
        };
        let window = &mut self.replica.window;
        window.push_back(Applied { seq, range, state, payload, is_own });
        // If it was sent again, later writes may be here before it.
        let position = place_in(window, seq);
        if position + 1 < window.len() {
            window.move_last_to(position);
        }
    }

    /// Marks the write in the slots of members that miss it, before it is applied here.
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
        assert_eq!(applied.seq, waiter.seq, "a write that is dropped waits no longer");
        let AppliedState::Cold(manner) = applied.state else {
            unreachable!("a write is granted its extent once")
        };
        let slot = turn.shared.activity.granted_slot(waiter.extent);
        applied.state = AppliedState::Writing(slot);
        let Applied { seq, range, payload, .. } = *applied;
        self.submit(turn, (seq, range), manner, payload, slot);
    }

    /// Hands a write to the device. `_logged` proves that its extent is in the durable log (I10).
    #[inline(always)]
    pub(crate) fn submit(
        &mut self,
        turn: &mut Turn<'_>,
        (seq, range): (Seq, BlockRange),
        Manner { kind, fua }: Manner,
        payload: Option<Payload>,
        _logged: HotSlot,
    ) {
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
            turn.touch(self.position);
        }
    }

    /// The device wrote a write, or refused it. True if this node leads, so that the caller
    /// acknowledges it by a call instead of a message.
    #[inline(always)]
    pub(crate) fn on_applied(
        &mut self,
        common: Common<'_>,
        seq: Seq,
        result: Result<(), DeviceError>,
        actions: &mut Vec<GroupAction>,
    ) -> bool {
        let Common { view, shared, flushes_started } = common;
        let replica = &mut self.replica;
        let applied = find_in(&mut replica.window, replica.stable, seq);
        if let Some(payload) = applied.payload.take().filter(|_| !applied.is_own) {
            actions.push(GroupAction::Release(payload));
        }
        let AppliedState::Writing(slot) = applied.state else {
            unreachable!("a completion has its submission")
        };
        if result.is_err() {
            // Never acknowledged, and never tried again: the member is lost (I15).
            applied.state = AppliedState::Failed(slot);
            shared.touched.insert(self.position);
            actions.push(GroupAction::Home(FromGroup::MemberFailed { member: view.me }));
            return false;
        }
        applied.state = AppliedState::Done(slot);
        shared.activity.on_written(slot, flushes_started);
        if replica.nonce != view.nonce {
            return false;
        }
        if replica.leader_node == Some(view.me) {
            return true;
        }
        replica.acks.push(seq);
        shared.touched.insert(self.position);
        false
    }

    /// Every member has everything up to `stable`: forgets what was kept for a failover.
    #[inline]
    pub(crate) fn on_stable(&mut self, turn: &mut Turn<'_>, stable: Seq) {
        if stable > self.replica.stable && turn.view.replica != ReplicaRole::None {
            self.leave_window(turn.view, &mut turn.shared.activity, stable, turn.actions);
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
        if stable > replica.newest {
            replica.newest = stable;
        }
        let is_marked = !replica.inherited.is_empty() || replica.has_own_marks();
        let may_leave = |first: &Applied| first.seq <= stable && first.state.is_done();
        while let Some(first) = replica.window.pop_front_if(may_leave) {
            if let AppliedState::Done(slot) = first.state {
                activity.release(slot);
            }
            if is_marked {
                replica.unmark(view.replica, first.range);
            }
            if first.seq == stable {
                return;
            }
        }
        // Only what this member acknowledged is stable: a leader that says otherwise is broken.
        if let Some(first) = replica.window.front().filter(|first| first.seq <= stable) {
            replica.stable = Seq(first.seq.0 - 1);
            if let Some(member) = replica.leader_node {
                let how = Misbehaviour::Nonsense;
                actions.push(GroupAction::Home(FromGroup::Misbehaved { member, how }));
            }
        }
    }

    /// One message acknowledges everything that completed in this turn.
    #[inline(always)]
    pub(crate) fn send_acks(&mut self, turn: &mut Turn<'_>) {
        let (lane, boot_id) = (self.index, turn.view.boot_id);
        while let Some((base, mask)) = self.replica.acks.pop() {
            if let Some(node) = self.replica.leader_node {
                turn.send(node, DataBody::Ack { lane, base, mask, boot_id });
            }
        }
    }
}

impl Replica {
    /// Whether this write was here before. If the device wrote it, it is acknowledged once more.
    #[cold]
    fn has_seen(&mut self, seq: Seq) -> bool {
        let known = self.window.get(place_in(&self.window, seq)).filter(|it| it.seq == seq);
        if seq <= self.stable || known.is_some_and(|known| known.state.is_done()) {
            self.acks.push(seq);
        }
        seq <= self.stable || known.is_some()
    }

    #[inline(always)]
    fn has_own_marks(&self) -> bool {
        let own = self.own_slot.and_then(|own| self.slots.get(usize::from(own)));
        own.is_some_and(|own| !own.bits.is_empty())
    }

    /// All members hold the same in `range`: takes back the marks of it.
    #[inline(never)]
    fn unmark(&mut self, role: ReplicaRole, range: BlockRange) {
        self.inherited.remove(range);
        // While this member is being resynced, only a CLEAR says that a block is right again.
        if role == ReplicaRole::InSync
            && let Some(own) = self.own_slot
        {
            self.slots[usize::from(own)].bits.clear(range);
        }
    }
}

/// The write of a window with this seq. Most windows have no gap, and begin right behind `stable`.
#[inline(always)]
fn find_in(window: &mut Ring<Applied>, stable: Seq, seq: Seq) -> &mut Applied {
    let guess = usize::try_from(seq.0.wrapping_sub(stable.0).wrapping_sub(1)).unwrap_or(usize::MAX);
    if window.get(guess).is_none_or(|it| it.seq != seq) {
        return find_behind_gap(window, seq);
    }
    window.get_mut(guess).expect("it was looked at")
}

#[cold]
fn find_behind_gap(window: &mut Ring<Applied>, seq: Seq) -> &mut Applied {
    let found = window.get_mut(place_in(window, seq)).filter(|it| it.seq == seq);
    found.expect("an entry stays until its write is done")
}

/// The place of `seq` in a window, or where it would be.
#[inline(always)]
fn place_in(window: &Ring<Applied>, seq: Seq) -> usize {
    if window.back().is_none_or(|last| last.seq < seq) {
        return window.len();
    }
    window.partition_point(|known| known.seq < seq)
}
