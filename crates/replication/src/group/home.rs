//! Messages of the home shard to a group: about sessions, members and ends.

use format::ids::{BlockRange, BootId, LaneIndex, MemberSet, NodeId, Nonce, QuestionId, Seq};
use format::message::DataBody;
use stdx::time::Time;

use crate::contract::{
    FromGroup, GroupAction, LostMember, Misbehaviour, Payload, ReplicaRole, RequestError, RoundId,
    ToGroup,
};
use crate::group::durable::{CheckpointReason, Rebase, Waiting};
use crate::group::slow::Owed;
use crate::group::{Draining, LaneGroup, Stopping, answer};
use crate::lane::seal::Released;
use crate::lane::{Lane, Turn};

impl LaneGroup {
    #[expect(clippy::too_many_lines, reason = "one flat match, an arm for each message")]
    pub(crate) fn on_home(&mut self, now: Time, message: ToGroup, actions: &mut Vec<GroupAction>) {
        match message {
            ToGroup::Seal { nonce, round } => self.on_seal(now, (nonce, round), actions),
            ToGroup::Lead { nonce, write_set, boots, outdated, missed, lost } => {
                self.view.write_set = write_set;
                self.view.set_processes(&boots);
                self.lead(now, nonce, &outdated, actions);
                for (lost, round) in lost {
                    self.lose(now, lost, round, &missed, actions);
                }
            }
            ToGroup::Inherit { nonce, ranges, round } => {
                self.with_lanes(now, actions, |lane, turn| lane.inherit(turn, nonce, &ranges));
                self.view.replica = ReplicaRole::InSync;
                self.view.admitted = true;
                self.cuts.mend();
                actions.push(answer(round));
            }
            ToGroup::Serve { epoch, in_sync, round } => {
                self.view.epoch = epoch;
                self.view.in_sync = in_sync;
                self.view.serving = true;
                self.reconciling = Some(round);
                self.touch_all();
                self.unpark(now, actions);
            }
            ToGroup::StandDown { round } => {
                self.stand_down(now, actions);
                actions.push(answer(round));
            }
            ToGroup::Lease { until } => {
                let waited = now >= self.view.lease_until;
                self.view.lease_until = until;
                if waited {
                    self.touch_all();
                }
            }
            ToGroup::Replica(role) => self.set_role(now, role, actions),
            ToGroup::OnNoQuorum { fail } => {
                self.view.fail_requests = fail;
                if fail {
                    self.fail_all(now, actions);
                }
            }
            ToGroup::Hold { hold: true } => {
                self.view.holding = true;
                self.note_keeping();
            }
            ToGroup::Hold { hold: false } => self.stop_holding(now, actions),
            ToGroup::Drain { round } => self.drain(round),
            ToGroup::ResyncRate { bytes_per_second } => self.set_copy_rate(bytes_per_second),
            ToGroup::LogRoom { operations } => self.shared.room.set_limit(operations),
            ToGroup::ReadPolicy(policy) => self.shared.balance.policy = policy,
            ToGroup::NoReadsFrom(members) => self.view.write_only = members.without(self.view.me),
            ToGroup::SlowLimit(limit) => self.set_slow_limit(now, limit),
            ToGroup::Resume => self.resume(now, actions),
            ToGroup::Stop { round } => self.obey_nobody(now, Stopping::Stop(round), actions),
            ToGroup::Size(order) => self.on_size(*order),
            ToGroup::Track { members, slots } => self.track(members, &slots),
            ToGroup::Attach { disk, round } => self.attaching = Some((disk, round)),
            ToGroup::Receipts(about) => self.on_receipts(about, actions),
            ToGroup::Cuts(about) => self.on_cuts(now, about, actions),
            ToGroup::Flushes(about) => self.on_flushes(about, actions),
            message @ (ToGroup::Lose { .. }
            | ToGroup::Lost { .. }
            | ToGroup::Resend { .. }
            | ToGroup::ReportFloors { .. }
            | ToGroup::Admit { .. }
            | ToGroup::SetFull { .. }
            | ToGroup::Resync { .. }
            | ToGroup::Verify { .. }
            | ToGroup::Joined { .. }
            | ToGroup::MakeDurable { .. }
            | ToGroup::MergeSlots { .. }
            | ToGroup::CountMarks { .. }
            | ToGroup::ForgetOwnSlot
            | ToGroup::SlotRebased(_)) => self.on_membership(now, message, actions),
        }
    }

    /// Messages about members that leave, return and join.
    #[expect(clippy::too_many_lines, reason = "one flat match, an arm for each message")]
    fn on_membership(&mut self, now: Time, message: ToGroup, actions: &mut Vec<GroupAction>) {
        match message {
            ToGroup::Lose { lost, round } => self.lose(now, lost, round, &[], actions),
            ToGroup::Lost { member, epoch, in_sync } => {
                self.view.epoch = epoch;
                self.view.in_sync = in_sync;
                self.forget_member(now, member, actions);
                if self.has_verified() {
                    self.report_verify(actions);
                }
            }
            ToGroup::Resend { member, since } => {
                self.view.since[member.index()] = since;
                self.keep_member(now, member, actions);
            }
            ToGroup::ReportFloors { round } => {
                let floors = self.lanes.iter().map(|lane| (lane.index, lane.floor())).collect();
                actions.push(GroupAction::Home(FromGroup::Floors { round, floors }));
            }
            ToGroup::Admit { nonce, floors, round } => {
                self.admit(now, nonce, &floors, actions);
                self.start_checkpoint(CheckpointReason::Round(round));
            }
            ToGroup::SetFull { lost, round } => {
                self.set_full(lost);
                actions.push(answer(round));
            }
            ToGroup::Resync { member, boot, from, absent, compare, round } => {
                self.add_to_write_set(member, boot, round);
                self.with_lanes(now, actions, |lane, turn| {
                    lane.start_resync(turn, member, compare, from, &absent);
                });
            }
            ToGroup::Verify { task, space, round } => self.begin_verify(task, *space, round),
            ToGroup::Joined { member, epoch, in_sync } => {
                self.view.epoch = epoch;
                self.view.in_sync = in_sync;
                self.syncing.retain(|&(other, _)| other != member);
                self.with_lanes(now, actions, |lane, _| lane.end_resync(member));
            }
            ToGroup::MakeDurable { round } => {
                self.start_checkpoint(CheckpointReason::Round(round));
            }
            ToGroup::ForgetOwnSlot => self.forget_own_slot(),
            ToGroup::MergeSlots { round } => {
                self.obey_nobody(now, Stopping::MergeSlots(round), actions);
            }
            ToGroup::CountMarks { member, round } => {
                let blocks = self.lanes.iter().map(|lane| lane.marks_of(member)).sum();
                actions.push(GroupAction::Home(FromGroup::Marks { round, blocks }));
            }
            ToGroup::SlotRebased(slot) => {
                for waiting in self.durable.on_rebased(slot) {
                    self.answer_loss(waiting, actions);
                }
            }
            ToGroup::Seal { .. }
            | ToGroup::Lead { .. }
            | ToGroup::Inherit { .. }
            | ToGroup::Serve { .. }
            | ToGroup::StandDown { .. }
            | ToGroup::Lease { .. }
            | ToGroup::Replica(_)
            | ToGroup::OnNoQuorum { .. }
            | ToGroup::Hold { .. }
            | ToGroup::Drain { .. }
            | ToGroup::ResyncRate { .. }
            | ToGroup::LogRoom { .. }
            | ToGroup::ReadPolicy(_)
            | ToGroup::NoReadsFrom(_)
            | ToGroup::SlowLimit(_)
            | ToGroup::Resume
            | ToGroup::Size(_)
            | ToGroup::Attach { .. }
            | ToGroup::Track { .. }
            | ToGroup::Receipts(_)
            | ToGroup::Cuts(_)
            | ToGroup::Flushes(_)
            | ToGroup::Stop { .. } => unreachable!("handled before"),
        }
    }

    fn set_role(&mut self, now: Time, role: ReplicaRole, actions: &mut Vec<GroupAction>) {
        self.view.replica = role;
        self.view.disk_failed |= role == ReplicaRole::None;
        if role == ReplicaRole::None {
            self.flushes.forget_waiting();
        }
        // The disk is gone: held writes will never be applied.
        if role == ReplicaRole::None && self.view.holds_writes {
            self.end_following();
            self.with_lanes(now, actions, |lane, turn| {
                lane.drop_unsubmitted(turn, Released::Dropped);
            });
        }
    }

    fn drain(&mut self, round: RoundId) {
        self.view.draining = true;
        self.draining = Draining::Finishing { round };
        self.touch_all();
    }

    fn add_to_write_set(&mut self, member: NodeId, boot: BootId, round: RoundId) {
        self.view.set_process(member, boot);
        self.view.since[member.index()] = round;
        self.view.write_set.insert(member);
        self.view.losing.remove(member);
        self.view.interrupted.remove(member);
        // Its connection broke before this message came. The home hears of that, and sends
        // `Resend`.
        if !self.view.reachable().has(member) {
            self.view.interrupted.insert(member);
        }
        self.syncing.retain(|&(other, _)| other != member);
        self.syncing.push((member, round));
    }

    /// Fails requests that wait, and those that are done and not answered yet.
    fn fail_all(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.fail_held(actions);
        self.with_lanes(now, actions, Lane::fail_waiting);
        self.fail_parked(RequestError::Io, actions);
        self.fail_flushes(actions);
    }

    /// The loss of a member is withdrawn: sends it again all that it has not answered.
    fn keep_member(&mut self, now: Time, member: NodeId, actions: &mut Vec<GroupAction>) {
        self.view.losing.remove(member);
        self.view.interrupted.remove(member);
        self.recording.retain(|&(other, _)| other != member);
        let write = self.transmit_again(now, member, actions);
        let owed = Owed { write, flush: self.flushes.oldest_owed_by(member) };
        self.slow.note_returned(member, self.shared.room.next_place(), owed);
        self.with_lanes(now, actions, |lane, turn| lane.resend(turn, member));
        self.tell_cut_again(member, actions);
        self.resend_flushes(member, actions);
    }

    fn resume(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.view.draining = false;
        self.draining = Draining::No;
        self.touch_all();
        self.unpark(now, actions);
    }

    fn forget_own_slot(&mut self) {
        let me = self.view.me;
        self.view.replica = ReplicaRole::InSync;
        for slot in self.lanes.iter_mut().filter_map(|lane| lane.slot_mut(me)) {
            slot.bits.set_none();
        }
        self.start_checkpoint(CheckpointReason::OwnSlotEmpty);
    }

    fn on_seal(
        &mut self,
        now: Time,
        (nonce, round): (Nonce, RoundId),
        actions: &mut Vec<GroupAction>,
    ) {
        // If the own replica of the leader returns, it is sealed to the session that goes on.
        if !(self.view.leading && self.view.nonce == nonce) {
            self.stand_down(now, actions);
        }
        self.view.nonce = nonce;
        self.view.admitted = false;
        self.sizes.preparing = None;
        self.drop_unsubmitted(now, actions);
        self.durable.void_checkpoints();
        self.durable.forget_answers();
        self.flushes.forget_peers();
        self.sealing = Some(round);
        if self.holds_former_writes {
            self.want_activity_flush(actions);
        }
    }

    fn drop_unsubmitted(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let released = self.end_following();
        let drop = |lane: &mut Lane, turn: &mut Turn<'_>| {
            lane.drop_unsubmitted(turn, released);
        };
        self.with_lanes(now, actions, drop);
    }

    /// Stops once the lanes are quiet: marks in the own slot what only this member knows, and
    /// begins to write everything that is dirty.
    pub(crate) fn settle_stop(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        let Some(stopping) = self.stopping else { return };
        if !self.lanes.iter().all(Lane::is_over) || self.sizes.zeroes_in_flight > 0 {
            return;
        }
        self.stopping = None;
        self.with_lanes(now, actions, Lane::settle_for_stop);
        let round = match stopping {
            Stopping::Stop(round) => round,
            Stopping::MergeSlots(round) => {
                let me = self.view.me;
                self.lanes.iter_mut().for_each(|lane| lane.merge_slots(me));
                round
            }
        };
        self.start_checkpoint(CheckpointReason::Stop(round));
    }

    /// Answers a seal once no device write of an older session is outstanding (I25).
    pub(crate) fn settle_seal(&mut self, actions: &mut Vec<GroupAction>) {
        let Some(round) = self.sealing else { return };
        let is_quiet = self.lanes.iter().all(Lane::is_over) && self.sizes.zeroes_in_flight == 0;
        if self.holds_former_writes || !is_quiet {
            return;
        }
        self.sealing = None;
        let lanes = self.lanes.iter().map(|lane| (lane.index, lane.report())).collect();
        let replicas = || self.lanes.iter().map(|lane| &lane.replica);
        let inherited = replicas().flat_map(|replica| replica.inherited.iter()).collect();
        let me = self.view.me;
        let own_slot = self
            .lanes
            .iter()
            .filter_map(|lane| lane.slot(me))
            .flat_map(|slot| slot.bits.runs())
            .collect();
        let (is_torn, is_open) = (self.cuts.is_torn(), self.cuts.is_open);
        let fact = FromGroup::Quiesced { round, lanes, inherited, own_slot, is_torn, is_open };
        actions.push(GroupAction::Home(fact));
    }

    fn lead(
        &mut self,
        now: Time,
        nonce: Nonce,
        outdated: &[BlockRange],
        actions: &mut Vec<GroupAction>,
    ) {
        self.stand_down(now, actions);
        self.view.nonce = nonce;
        self.view.leading = true;
        // Of a connection that broke before this message came the home hears, and sends `Resend`.
        let others = self.view.write_set.without(self.view.me);
        self.view.interrupted = others.minus(self.view.connected);
        self.begin_receipts();
        self.forget_cuts();
        self.with_lanes(now, actions, |lane, turn| lane.lead(turn, outdated));
    }

    fn stand_down(&mut self, now: Time, actions: &mut Vec<GroupAction>) {
        self.view.leading = false;
        self.view.serving = false;
        self.view.draining = false;
        self.view.fail_requests = false;
        self.view.holding = false;
        self.view.lease_until = Time::ZERO;
        self.view.losing = MemberSet::EMPTY;
        self.view.interrupted = MemberSet::EMPTY;
        self.draining = Draining::No;
        self.reconciling = None;
        self.verifying = None;
        self.recording.clear();
        self.syncing.clear();
        self.with_lanes(now, actions, Lane::stand_down);
        self.shared.room.clear();
        self.shared.balance.forget_all();
        self.fail_held(actions);
        self.cuts.keeps_answers = false;
        self.note_keeping();
        self.fail_parked(RequestError::Io, actions);
        self.fail_flushes(actions);
    }

    /// Ends the group, whatever is under way, and returns all payloads that it holds. No client
    /// hears what became of its requests.
    #[must_use]
    pub fn let_go(mut self, now: Time) -> Vec<Payload> {
        let mut actions = Vec::new();
        self.stand_down(now, &mut actions);
        self.with_lanes(now, &mut actions, Lane::let_go);
        let payload_of = |action| {
            if let GroupAction::Release(payload) = action { Some(payload) } else { None }
        };
        actions.into_iter().filter_map(payload_of).collect()
    }

    fn obey_nobody(&mut self, now: Time, stopping: Stopping, actions: &mut Vec<GroupAction>) {
        self.stand_down(now, actions);
        self.view.nonce = Nonce(0);
        self.sizes.preparing = None;
        self.drop_unsubmitted(now, actions);
        self.stopping = Some(stopping);
    }

    /// Sends a member again all that it has not acknowledged. Returns the place of the oldest of
    /// that, if there is any.
    fn transmit_again(
        &mut self,
        now: Time,
        member: NodeId,
        actions: &mut Vec<GroupAction>,
    ) -> Option<u64> {
        let lanes = self.lanes.iter().enumerate();
        let mut unacknowledged: Vec<(u64, usize, u32)> = lanes
            .flat_map(|(position, lane)| {
                let found = lane.unacknowledged(member).into_iter();
                found.map(move |(sent_as, index)| (sent_as, position, index))
            })
            .collect();
        unacknowledged.sort_unstable();
        let oldest = unacknowledged.first().map(|&(sent_as, ..)| sent_as);
        for (_, position, index) in unacknowledged {
            self.with_lane(now, position, actions, |lane, turn| {
                lane.send_again(turn, index, MemberSet::of(member));
            });
        }
        oldest
    }

    fn set_full(&mut self, lost: LostMember) {
        for slot in self.lanes.iter_mut().filter_map(|lane| lane.slot_mut(lost.member)) {
            slot.bits.set_all();
            slot.base = lost.base;
        }
        self.durable.set_base(lost);
    }

    /// The member is out of the write set: nothing waits for its answers any more.
    fn forget_member(&mut self, now: Time, member: NodeId, actions: &mut Vec<GroupAction>) {
        self.view.write_set.remove(member);
        self.view.losing.remove(member);
        self.view.interrupted.remove(member);
        self.recording.retain(|&(other, _)| other != member);
        self.syncing.retain(|&(other, _)| other != member);
        // A member out of reach is asked again when it comes back, or is lost, too.
        let in_sync = self.view.in_sync;
        let source = in_sync.and(self.view.reachable()).first().or_else(|| in_sync.first());
        self.with_lanes(now, actions, |lane, turn| {
            lane.forget_loss(member);
            lane.forget_member(turn, member);
            if let Some(source) = source {
                lane.reload_from(turn, member, source);
            }
        });
        self.forget_flushes_of(member, actions);
    }

    /// Has every member record what `lost` misses, this one included.
    fn lose(
        &mut self,
        now: Time,
        lost: LostMember,
        round: RoundId,
        missed: &[BlockRange],
        actions: &mut Vec<GroupAction>,
    ) {
        self.view.losing.insert(lost.member);
        self.recording.retain(|&(other, _)| other != lost.member);
        self.recording.push((lost.member, round));
        let me = self.view.me;
        let own = self.view.write_set.has(me) && !self.view.losing.has(me);
        for position in 0..self.lanes.len() {
            let index = self.lanes[position].index;
            let (ranges, id) = self.with_lane(now, position, actions, |lane, turn| {
                lane.start_loss(turn, lost, missed)
            });
            if own {
                self.on_loss(me, index, (lost, id), &ranges, actions);
            }
        }
    }

    pub(crate) fn on_loss(
        &mut self,
        from: NodeId,
        lane: LaneIndex,
        (lost, id): (LostMember, QuestionId),
        ranges: &[BlockRange],
        actions: &mut Vec<GroupAction>,
    ) {
        let position = self.position_of_lane(lane);
        self.lanes[position].record_loss(self.view.replica, lost, ranges);
        let answer = Waiting { slot: lost, id, by: from, lane };
        match self.durable.is_rebased(answer) {
            Rebase::Durable | Rebase::Untracked => self.answer_loss(answer, actions),
            Rebase::Waits => {}
            Rebase::Asks => actions.push(GroupAction::Home(FromGroup::RebaseSlot(lost))),
            Rebase::TooMany => {
                let how = Misbehaviour::TooManyLosses;
                actions.push(GroupAction::Home(FromGroup::Misbehaved { member: from, how }));
            }
        }
    }

    fn answer_loss(&mut self, answer: Waiting, actions: &mut Vec<GroupAction>) {
        let Waiting { slot: LostMember { member, .. }, id, by, lane } = answer;
        if by == self.view.me {
            return self.on_loss_recorded(by, lane, member, id);
        }
        let boot_id = self.view.boot_id;
        let message = self.data(DataBody::LossDone { lane, member, boot_id, id });
        actions.push(GroupAction::Send { to: by, message, payload: None });
    }

    /// A member recorded a piece of what `lost` misses. When all lanes have all answers,
    /// `settle_facts` tells the home.
    pub(crate) fn on_loss_recorded(
        &mut self,
        by: NodeId,
        lane: LaneIndex,
        lost: NodeId,
        id: QuestionId,
    ) {
        let position = self.position_of_lane(lane);
        self.touch(position);
        if self.lanes[position].on_loss_recorded(by, lost, id) {
            self.slow.note_recorded(by, self.shared.room.next_place());
        }
    }

    #[inline]
    pub(crate) fn deliver_local_losses(&mut self, actions: &mut Vec<GroupAction>) {
        if !self.shared.local_losses.is_empty() {
            self.deliver_some_losses(actions);
        }
    }

    #[cold]
    fn deliver_some_losses(&mut self, actions: &mut Vec<GroupAction>) {
        while let Some((lane, lost, ranges, id)) = self.shared.local_losses.pop() {
            let me = self.view.me;
            self.on_loss(me, lane, (lost, id), &ranges, actions);
        }
    }

    fn admit(&mut self, now: Time, nonce: Nonce, floors: &[Seq], actions: &mut Vec<GroupAction>) {
        self.view.replica = ReplicaRole::Syncing;
        self.view.admitted = true;
        self.durable.ask_again_of_useless();
        self.cuts.mend();
        self.cuts.is_open = true;
        self.with_lanes(now, actions, |lane, turn| {
            let floor = floors.get(usize::from(lane.index.0)).copied().unwrap_or(Seq(1));
            lane.take_over_window(turn, nonce, floor);
        });
    }

    /// Goes on with a drain: it ends when nothing is under way, no block differs, and every member
    /// has flushed.
    pub(crate) fn settle_drain(&mut self, actions: &mut Vec<GroupAction>) {
        match self.draining {
            Draining::Finishing { round } => {
                let idle = self.lanes.iter().all(|lane| lane.is_idle() && lane.is_reconciled())
                    && !self.cuts.keeps_answers
                    && !self.flushes.are_too_many();
                if idle {
                    let flush = self.flushes.next_id();
                    self.draining = Draining::Flushing { round, flush };
                    self.start_volume_flush(None, actions);
                } else {
                    self.touch_all();
                }
            }
            Draining::Done { round } => {
                self.draining = Draining::No;
                for position in 0..self.lanes.len() {
                    self.with_lane(Time::ZERO, position, actions, Lane::send_stable);
                }
                actions.push(answer(round));
            }
            Draining::No | Draining::Flushing { .. } => {}
        }
    }
}

impl Lane {
    fn forget_loss(&mut self, member: NodeId) {
        if let Some(leader) = self.leader.as_mut() {
            leader.losses.retain(|loss| loss.lost.member != member);
            for loss in &mut leader.losses {
                loss.waiting.retain(|&(other, _)| other != member);
            }
        }
    }

    fn end_resync(&mut self, member: NodeId) {
        if let Some(leader) = self.leader.as_mut() {
            leader.resyncs.retain(|resync| resync.member != member);
        }
    }
}
