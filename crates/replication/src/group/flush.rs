//! Flushes: of the device, and of the volume.
//!
//! FLUSH is an operation of the volume; no lane takes part (PROTOCOL.md 5.5). Writes that completed
//! before it are in the device cache of every member already. So each member flushes its device
//! once after the request arrived. Requests that wait together share one device flush. It counts
//! when no group was told that the device lost something (`trust`).

use std::collections::VecDeque;

use format::ids::{MemberSet, NodeId};
use format::message::DataBody;

use crate::contract::{
    DeviceError, FromGroup, GroupAction, Misbehaviour, PartId, RequestError, Token,
};
use crate::group::{Draining, LaneGroup, durable::DurableUse, fail_part};
use crate::limits;
use crate::quorum;

/// Device flushes by number, and the volume's flushes that wait.
#[derive(Debug, Default)]
pub(crate) struct Flushes {
    started: u64,
    done: u64,
    running: Running,
    /// Those whom the device flush that runs serves.
    current: Vec<Waiter>,
    /// Those who came after it began: the next one serves them.
    next: Vec<Waiter>,
    /// As the leader: flushes of the volume that are under way.
    volume: Vec<VolumeFlush>,
    /// Flushes of clients that found as many under way as there may be, oldest first. The front
    /// ends bound their number.
    overflow: VecDeque<PartId>,
    next_id: u32,
}

/// How far the newest flush of the device is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Running {
    #[default]
    No,
    Asked,
    /// The device called it done, and the home asks all groups whether to believe that.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiter {
    Peer {
        from: NodeId,
        id: u32,
        shard: u8,
    },
    /// This node's own part of a volume flush.
    Own {
        id: u32,
    },
    Checkpoint,
    Activity,
}

#[derive(Clone, Copy, Debug)]
struct VolumeFlush {
    id: u32,
    /// The client's part; `None` if a drain ends with this flush.
    part: Option<PartId>,
    needed: MemberSet,
    acknowledged: MemberSet,
    /// How many looks for late members found it under way.
    looks: u8,
}

impl Flushes {
    pub(crate) fn started(&self) -> u64 {
        self.started
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// The id of the next flush of the volume.
    pub(crate) fn next_id(&self) -> u32 {
        self.next_id
    }

    /// Another disk is taken into use: nobody waits for a flush of the former one.
    pub(crate) fn forget_device(&mut self) {
        assert_ne!(self.running, Running::Asked, "nothing is under way on the former disk");
        self.forget_waiting();
    }

    /// The disk failed: those who wait for its flushes never get an answer.
    pub(crate) fn forget_waiting(&mut self) {
        if self.running == Running::Ended {
            self.running = Running::No;
        }
        self.current.clear();
        self.next.clear();
    }

    pub(crate) fn has_volume_flushes(&self) -> bool {
        !self.volume.is_empty()
    }

    /// The group looked for late members: counts that for each flush under way.
    pub(crate) fn note_look(&mut self) {
        for flush in &mut self.volume {
            flush.looks = flush.looks.saturating_add(1);
        }
    }

    /// The flushes under way count as begun now.
    pub(crate) fn forget_looks(&mut self) {
        for flush in &mut self.volume {
            flush.looks = 0;
        }
    }

    /// Members without whose answer a flush is under way that was so at the last look but one.
    pub(crate) fn late_members(&self) -> MemberSet {
        let late = self.volume.iter().filter(|flush| flush.looks >= 2);
        late.fold(MemberSet::EMPTY, |set, flush| set | flush.needed.minus(flush.acknowledged))
    }

    /// The volume's flushes that the member did not answer, oldest first.
    fn owed_by(&self, member: NodeId) -> impl Iterator<Item = u32> {
        let is_owed =
            move |it: &&VolumeFlush| it.needed.has(member) && !it.acknowledged.has(member);
        self.volume.iter().filter(is_owed).map(|flush| flush.id)
    }

    pub(crate) fn oldest_owed_by(&self, member: NodeId) -> Option<u32> {
        self.owed_by(member).next()
    }

    /// How many wait for a flush of the device.
    pub(crate) fn waiting(&self) -> usize {
        self.current.len() + self.next.len()
    }

    /// Some flushes of clients wait until others end.
    pub(crate) fn are_too_many(&self) -> bool {
        !self.overflow.is_empty()
    }

    /// The connections of a peer are gone: it asks again for flushes that it still needs.
    pub(crate) fn forget_peer(&mut self, peer: NodeId) {
        for waiters in [&mut self.current, &mut self.next] {
            waiters.retain(|waiter| !matches!(waiter, Waiter::Peer { from, .. } if *from == peer));
        }
    }

    /// Another session seals this member: no flush of an older one is answered any more. The new
    /// leader may use the same id for a later flush.
    pub(crate) fn forget_peers(&mut self) {
        for waiters in [&mut self.current, &mut self.next] {
            waiters.retain(|waiter| !matches!(waiter, Waiter::Peer { .. }));
        }
    }
}

impl LaneGroup {
    pub(crate) fn on_client_flush(&mut self, part: PartId, actions: &mut Vec<GroupAction>) {
        if !self.view.leading || !self.view.serving || self.view.fail_requests {
            return fail_part(part, actions);
        }
        if self.receipts.may_answer_early() {
            return self.flush_after_receipts(part, actions);
        }
        self.flush_for_client(part, actions);
    }

    pub(crate) fn flush_for_client(&mut self, part: PartId, actions: &mut Vec<GroupAction>) {
        if self.flushes.volume.len() >= limits::FLUSHES_PER_GROUP_MAX {
            return self.flushes.overflow.push_back(part);
        }
        self.start_volume_flush(Some(part), actions);
    }

    pub(crate) fn start_volume_flush(
        &mut self,
        part: Option<PartId>,
        actions: &mut Vec<GroupAction>,
    ) {
        let id = self.flushes.next_id;
        self.flushes.next_id = id.wrapping_add(1);
        // A client's flush does not wait for followers: they need to have the writes, no more.
        let spared = part.map_or(MemberSet::EMPTY, |_| self.view.followers);
        let needed = self.view.write_set.minus(spared);
        let acknowledged = MemberSet::EMPTY;
        self.flushes.volume.push(VolumeFlush { id, part, needed, acknowledged, looks: 0 });
        let others = needed.without(self.view.me).and(self.view.connected);
        for member in others.iter() {
            self.send_flush(member, id, actions);
        }
        if needed.has(self.view.me) {
            self.want_flush(Waiter::Own { id }, actions);
        }
    }

    fn send_flush(&self, to: NodeId, id: u32, actions: &mut Vec<GroupAction>) {
        let body = DataBody::Flush { id, shard: self.view.shard };
        let message = self.data(body);
        actions.push(GroupAction::Send { to, message, payload: None });
    }

    pub(crate) fn on_peer_flush(
        &mut self,
        from: NodeId,
        id: u32,
        shard: u8,
        actions: &mut Vec<GroupAction>,
    ) {
        if self.flushes.waiting() >= limits::FLUSHES_AT_MEMBER_MAX {
            let how = Misbehaviour::TooManyFlushes;
            let fact = FromGroup::Misbehaved { member: from, how };
            return actions.push(GroupAction::Home(fact));
        }
        self.want_flush(Waiter::Peer { from, id, shard }, actions);
    }

    pub(crate) fn on_flush_done(
        &mut self,
        member: NodeId,
        id: u32,
        actions: &mut Vec<GroupAction>,
    ) {
        if let Some(flush) = self.flushes.volume.iter_mut().find(|flush| flush.id == id) {
            flush.acknowledged.insert(member);
        }
        self.complete_flushes(actions);
    }

    fn complete_flushes(&mut self, actions: &mut Vec<GroupAction>) {
        let draining = &mut self.draining;
        self.flushes.volume.retain(|flush| {
            let complete = quorum::is_complete(flush.acknowledged, flush.needed);
            match flush.part {
                Some(part) if complete => {
                    actions.push(GroupAction::Complete { part, result: Ok(None) });
                }
                // The flush of a drain that was given up ends nothing.
                None if complete => {
                    if let Draining::Flushing { round, flush: id } = *draining
                        && id == flush.id
                    {
                        *draining = Draining::Done { round };
                    }
                }
                Some(_) | None => {}
            }
            !complete
        });
        while self.flushes.volume.len() < limits::FLUSHES_PER_GROUP_MAX
            && let Some(part) = self.flushes.overflow.pop_front()
        {
            self.start_volume_flush(Some(part), actions);
        }
    }

    /// `member` left the write set: no flush waits for it any more.
    pub(crate) fn forget_flushes_of(&mut self, member: NodeId, actions: &mut Vec<GroupAction>) {
        for flush in &mut self.flushes.volume {
            flush.needed.remove(member);
        }
        self.complete_flushes(actions);
    }

    pub(crate) fn resend_flushes(&mut self, member: NodeId, actions: &mut Vec<GroupAction>) {
        let owed: Vec<u32> = self.flushes.owed_by(member).collect();
        for id in owed {
            self.send_flush(member, id, actions);
        }
    }

    /// Fails the flushes of clients. The flush of a drain goes on, for the drain ends by it alone.
    pub(crate) fn fail_flushes(&mut self, actions: &mut Vec<GroupAction>) {
        let drain = match self.draining {
            Draining::Flushing { flush, .. } => Some(flush),
            Draining::No | Draining::Finishing { .. } | Draining::Done { .. } => None,
        };
        self.flushes.volume.retain(|flush| {
            if let Some(part) = flush.part {
                let result = Err(RequestError::Io);
                actions.push(GroupAction::Complete { part, result });
            }
            drain == Some(flush.id)
        });
        for part in std::mem::take(&mut self.flushes.overflow) {
            fail_part(part, actions);
        }
        self.fail_waiting_flushes(actions);
    }

    pub(crate) fn want_checkpoint_flush(&mut self, actions: &mut Vec<GroupAction>) {
        self.want_flush(Waiter::Checkpoint, actions);
    }

    /// The activity log needs a device flush. One is enough for all that wait.
    pub(crate) fn want_activity_flush(&mut self, actions: &mut Vec<GroupAction>) {
        let waits = |waiters: &[Waiter]| waiters.contains(&Waiter::Activity);
        if !waits(&self.flushes.current) && !waits(&self.flushes.next) {
            self.want_flush(Waiter::Activity, actions);
        }
    }

    fn want_flush(&mut self, waiter: Waiter, actions: &mut Vec<GroupAction>) {
        if self.view.disk_failed {
            // A later flush might succeed, though the device lost something before it (I15).
            return;
        }
        self.flushes.next.push(waiter);
        self.start_device_flush(actions);
    }

    fn start_device_flush(&mut self, actions: &mut Vec<GroupAction>) {
        if self.flushes.running != Running::No || self.flushes.next.is_empty() {
            return;
        }
        self.flushes.running = Running::Asked;
        self.flushes.started += 1;
        std::mem::swap(&mut self.flushes.current, &mut self.flushes.next);
        let token: Token = self.durable.token(DurableUse::Flush);
        actions.push(GroupAction::FlushDevice { token });
    }

    pub(crate) fn on_device_flushed(
        &mut self,
        result: Result<(), DeviceError>,
        actions: &mut Vec<GroupAction>,
    ) {
        self.flushes.running = Running::Ended;
        if self.view.disk_failed {
            // No flush of this disk counts any more, and the member is lost (I15).
            self.flushes.forget_waiting();
            if result.is_err() {
                let fact = FromGroup::MemberFailed { member: self.view.me };
                actions.push(GroupAction::Home(fact));
            }
            return;
        }
        let number = self.flushes.started;
        actions.push(GroupAction::Home(FromGroup::DeviceFlushed { number }));
    }

    /// No group was told of a loss: the flush counts, and those who waited for it are answered.
    pub(crate) fn on_flush_believed(&mut self, number: u64, actions: &mut Vec<GroupAction>) {
        if self.flushes.running != Running::Ended || self.flushes.started != number {
            return;
        }
        if self.view.disk_failed {
            return self.flushes.forget_waiting();
        }
        self.flushes.running = Running::No;
        self.flushes.done = number;
        self.holds_former_writes = false;
        let mut served = std::mem::take(&mut self.flushes.current);
        for &waiter in &served {
            match waiter {
                Waiter::Peer { from, id, shard } => {
                    let boot_id = self.view.boot_id;
                    let message = self.data(DataBody::FlushDone { id, shard, boot_id });
                    actions.push(GroupAction::Send { to: from, message, payload: None });
                }
                Waiter::Own { id } => self.on_flush_done(self.view.me, id, actions),
                Waiter::Checkpoint => self.durable.on_flushed(),
                Waiter::Activity => {}
            }
        }
        served.clear();
        self.flushes.current = served;
        self.start_device_flush(actions);
    }
}
