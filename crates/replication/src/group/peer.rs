//! Messages of other members: whether they are heard, which lane they are for, and what takes them.

use format::ids::{BlockRange, NodeId, Seq};
use format::message::{Data, DataBody, ReadStatus, WriteKind};
use stdx::time::Time;

use crate::contract::{
    DeviceError, FromGroup, GroupAction, GroupInput, LostMember, Misbehaviour, Payload, ReplicaRole,
};
use crate::group::LaneGroup;
use crate::lane::asked::Asker;
use crate::lane::cut::HeldCut;
use crate::lane::{Lane, Origin, SEQ_MAX, Turn};

impl LaneGroup {
    /// Whether a message is of the session that this member obeys: no other one is heard (I4).
    #[inline(always)]
    fn is_of_session(&self, message: &Data) -> bool {
        message.nonce == self.view.nonce && message.volume == self.view.volume
    }

    /// A message that is neither a write nor an acknowledgement: these have ways of their own.
    #[inline(never)]
    pub(super) fn step_peer(
        &mut self,
        now: Time,
        mut input: GroupInput,
        actions: &mut Vec<GroupAction>,
    ) {
        let GroupInput::Peer { from, ref mut message, payload } = input else {
            unreachable!("`step` looked at it")
        };
        let first = actions.len();
        self.on_peer(now, from, message, payload, actions);
        self.end_step(first, actions);
    }

    #[inline(always)]
    fn on_peer(
        &mut self,
        now: Time,
        from: NodeId,
        message: &mut Data,
        payload: Option<Payload>,
        actions: &mut Vec<GroupAction>,
    ) {
        if !self.is_of_session(message) {
            return drop_payload(payload, actions);
        }
        if !self.may_receive(from, &message.body) {
            return drop_payload(payload, actions);
        }
        let Some(lane) = self.check_addressing(&message.body, payload) else {
            drop_payload(payload, actions);
            return actions.push(GroupAction::Home(FromGroup::Misbehaved {
                member: from,
                how: Misbehaviour::Nonsense,
            }));
        };
        let body = &mut message.body;
        self.touch(lane);
        match *body {
            DataBody::Flush { id, shard } => self.on_peer_flush(from, id, shard, actions),
            DataBody::FlushDone { id, .. } => self.on_flush_done(from, id, actions),
            DataBody::Loss { lane: index, member, base, ref ranges, id } => {
                self.on_loss(from, index, (LostMember { member, base }, id), ranges, actions);
            }
            DataBody::LossDone { lane: index, member, id, .. } => {
                self.on_loss_recorded(from, index, member, id);
            }
            DataBody::Cut { lane: index, number, seq, stable, skipped } => {
                let cut = HeldCut { number, seq };
                self.with_lane(now, lane, actions, |lane, turn| lane.on_cut(turn, cut, stable));
                self.on_peer_cut(index, number, skipped, actions);
            }
            DataBody::Write(_) => unreachable!("writes have a way of their own"),
            DataBody::Ack { .. }
            | DataBody::Received { .. }
            | DataBody::Stable { .. }
            | DataBody::Read { .. }
            | DataBody::ReadDone { .. }
            | DataBody::Digest { .. }
            | DataBody::DigestDone { .. }
            | DataBody::SlotRead { .. }
            | DataBody::SlotData { .. }
            | DataBody::Clear { .. } => self.with_lane(now, lane, actions, |lane, turn| {
                lane.on_peer(turn, from, body, payload);
            }),
        }
    }

    #[inline(never)]
    pub(super) fn step_ack(
        &mut self,
        now: Time,
        input: GroupInput,
        actions: &mut Vec<GroupAction>,
    ) {
        let GroupInput::Peer { from, message, payload } = input else {
            unreachable!("an acknowledgement is a message")
        };
        let is_of_session = self.is_of_session(&message);
        let DataBody::Ack { lane, base, mask, boot_id } = message.body else {
            unreachable!("`step` looked at it")
        };
        if payload.is_some() || base == Seq(0) || !is_of_session {
            let input = GroupInput::Peer { from, message, payload };
            return self.step_peer(now, input, actions);
        }
        if !self.view.leading || !self.view.is_process(from, boot_id) {
            return;
        }
        let first = actions.len();
        let position = self.position_of_lane(lane);
        if self.lanes.get(position).is_none_or(|known| known.index != lane) {
            return actions.push(GroupAction::Home(FromGroup::Misbehaved {
                member: from,
                how: Misbehaviour::Nonsense,
            }));
        }
        let (lanes, mut turn) = self.turn(now, actions);
        lanes[position].on_acknowledgements(&mut turn, from, base, mask);
        self.end_step(first, actions);
    }

    /// A write of the leader. It completes no request and loses no member, so there is no
    /// `end_step`.
    #[inline(never)]
    pub(super) fn step_write(
        &mut self,
        now: Time,
        input: GroupInput,
        actions: &mut Vec<GroupAction>,
    ) {
        let GroupInput::Peer { from, message, payload } = input else {
            unreachable!("a write of a peer is a message")
        };
        let is_of_session = self.is_of_session(&message);
        let DataBody::Write(write) = message.body else { unreachable!("`step` looked at it") };
        if !is_of_session || !self.may_apply() {
            return drop_payload(payload, actions);
        }
        let position = self.position_of_lane(write.lane);
        let is_counted = write.seq.max(write.stable) <= SEQ_MAX;
        let lane = self.lanes.get(position).filter(|lane| lane.index == write.lane);
        // The blocks that the volumes have and the disk holds.
        let reach = self.shared.activity.space();
        let is_good = is_counted
            && lane.is_some_and(|lane| lane.owns_of(&self.view, reach, write.range))
            && (write.kind == WriteKind::Data && payload.is_some()
                || write.has_payload() == payload.is_some());
        if !is_good {
            drop_payload(payload, actions);
            return actions.push(GroupAction::Home(FromGroup::Misbehaved {
                member: from,
                how: Misbehaviour::Nonsense,
            }));
        }
        let (lanes, mut turn) = self.turn(now, actions);
        lanes[position].apply(&mut turn, Origin::Peer(from), write, payload);
    }

    /// Whether this node has the role that the message is for, and the sender is the process that
    /// the session knows.
    fn may_receive(&self, from: NodeId, body: &DataBody) -> bool {
        match body {
            DataBody::Write(_)
            | DataBody::Stable { .. }
            | DataBody::Cut { .. }
            | DataBody::Read { .. }
            | DataBody::Digest { .. }
            | DataBody::Flush { .. }
            | DataBody::Clear { .. } => self.may_apply(),
            DataBody::Loss { .. } | DataBody::SlotRead { .. } => self.is_member(),
            DataBody::Ack { boot_id, .. }
            | DataBody::Received { boot_id, .. }
            | DataBody::FlushDone { boot_id, .. }
            | DataBody::LossDone { boot_id, .. } => {
                self.view.leading && self.view.is_process(from, *boot_id)
            }
            DataBody::ReadDone { .. } | DataBody::DigestDone { .. } | DataBody::SlotData { .. } => {
                self.view.leading
            }
        }
    }

    /// Whether the disk holds these blocks. The disk of a leader need not.
    #[inline]
    fn holds(&self, range: BlockRange) -> bool {
        self.view.leading || self.sizes.held.as_ref().is_none_or(|held| held.contains(range))
    }

    fn may_apply(&self) -> bool {
        self.view.admitted & self.is_member()
    }

    fn is_member(&self) -> bool {
        !self.view.leading & (self.view.replica != ReplicaRole::None)
    }

    /// The position of the lane that the message is for, if the message makes sense for it.
    fn check_addressing(&self, body: &DataBody, payload: Option<Payload>) -> Option<usize> {
        let Some(index) = body.lane() else { return Some(0) };
        let position = usize::from(index.0 / self.shards);
        let lane = self.lanes.get(position).filter(|lane| lane.index == index)?;
        let is_here = |range: BlockRange| lane.owns(&self.view, range) && self.holds(range);
        let (fits, with_payload) = match body {
            DataBody::Write(_) => unreachable!("writes have a way of their own"),
            // An operation that is not sent yet has seq 0: no message may name it.
            DataBody::Ack { base, .. } | DataBody::Received { base, .. } => {
                (*base != Seq(0), false)
            }
            DataBody::Stable { stable, .. } => (*stable <= SEQ_MAX, false),
            DataBody::Cut { seq, stable, .. } => (*seq.max(stable) <= SEQ_MAX, false),
            DataBody::Read { range, .. }
            | DataBody::Digest { range, .. }
            | DataBody::Clear { range, .. } => (is_here(*range), false),
            DataBody::ReadDone { length_bytes, .. } => (true, *length_bytes > 0),
            DataBody::Loss { ranges, .. } => (ranges.iter().all(|&range| is_here(range)), false),
            // A slot may have marks behind the end of a volume.
            DataBody::SlotData { ranges, .. } => (lane.are_of_lane(&self.view, ranges), false),
            DataBody::DigestDone { .. }
            | DataBody::Flush { .. }
            | DataBody::FlushDone { .. }
            | DataBody::LossDone { .. }
            | DataBody::SlotRead { .. } => (true, false),
        };
        (fits && with_payload == payload.is_some()).then_some(position)
    }
}

#[cold]
fn drop_payload(payload: Option<Payload>, actions: &mut Vec<GroupAction>) {
    actions.extend(payload.map(GroupAction::Release));
}

impl Lane {
    #[inline(always)]
    fn on_acknowledgements(&mut self, turn: &mut Turn<'_>, from: NodeId, base: Seq, mask: u64) {
        let mut left = mask;
        while left != 0 {
            // Only a broken peer goes past the last number. It could name any other number, too.
            let seq = Seq(base.0.wrapping_add(left.trailing_zeros().into()));
            self.on_acknowledged(turn, from, seq);
            left &= left - 1;
        }
    }

    /// The messages that concern one lane only.
    fn on_peer(
        &mut self,
        turn: &mut Turn<'_>,
        from: NodeId,
        body: &mut DataBody,
        payload: Option<Payload>,
    ) {
        match *body {
            DataBody::Ack { base, mask, .. } => {
                self.on_acknowledgements(turn, from, base, mask);
            }
            DataBody::Received { base, mask, .. } => {
                let places = (0..64).filter(|place| mask >> place & 1 == 1);
                for seq in places.map(|place| Seq(base.0.saturating_add(place))) {
                    self.on_received(turn, from, seq);
                }
            }
            DataBody::Stable { stable, .. } => self.on_stable(turn, stable),
            DataBody::Read { id, range, .. } => self.on_peer_read(turn, from, id, range),
            DataBody::ReadDone { id, status, length_bytes, zeroes, .. } => {
                // The read ended meanwhile: the answer is dropped.
                let Some(asker) = self.asker(id) else { return turn.release(payload) };
                if payload.is_some() && self.asked_bytes(asker) != length_bytes {
                    turn.release(payload);
                    return turn.tell_home(FromGroup::Misbehaved {
                        member: from,
                        how: Misbehaviour::Nonsense,
                    });
                }
                self.on_read_done(turn, (asker, from), (status, zeroes), payload);
            }
            DataBody::Digest { id, range, .. } => self.on_peer_digest(turn, from, id, range),
            DataBody::DigestDone { id, status, ref mut digests, .. } => {
                let is_ok = status == ReadStatus::Ok;
                let result = if is_ok { Ok(std::mem::take(digests)) } else { Err(DeviceError) };
                if let Some(Asker::Operation { index }) = self.asker(id) {
                    self.on_digests(turn, index, from, result);
                }
            }
            DataBody::SlotRead { slot, from: at, .. } => {
                let (ranges, next) = self.read_slot(slot, at);
                let lane = self.index;
                turn.send(from, DataBody::SlotData { lane, slot, from: at, ranges, next });
            }
            DataBody::SlotData { slot, from: at, ref ranges, next, .. } => {
                self.on_slot_data(turn, from, (slot, at), ranges, next);
            }
            DataBody::Clear { slot, range, .. } => self.clear_bits(slot, range),
            DataBody::Write(_)
            | DataBody::Cut { .. }
            | DataBody::Flush { .. }
            | DataBody::FlushDone { .. }
            | DataBody::Loss { .. }
            | DataBody::LossDone { .. } => unreachable!("the group keeps these to itself"),
        }
    }
}
