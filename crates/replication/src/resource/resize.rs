//! Another size of a volume: asked of any node, done by the one that leads (PROTOCOL.md 10.3).
//!
//! Two questions to every member of the write set come before the CAS: how much its disk can hold,
//! and to make the new area ready (zeroes, and marks for who is not there, both durable). Nobody is
//! admitted meanwhile, so the write set can only shrink: who leaves it is asked for no more, and
//! those that stay are asked once more to mark the new area for it. When all who are left did, the
//! value with the new size is proposed. A session that ends before leaves the old size; every
//! member goes back to it when it is told of the next session.
//!
//! What a member does for it is in `room`.

use std::collections::BTreeMap;
use std::time::Duration;

use format::config::{Config, VolumeConfig};
use format::ids::{BLOCK_BYTES, BootId, MemberSet, NodeId, Nonce, QuestionId};
use format::message::{Control, ResizeOutcome};
use format::metadata::ReplicaState;
use format::space::Place;
use stdx::time::Time;

use crate::contract::{CommandError, CommandErrorCode, CommandId, NewArea, ResizeTask};
use crate::limits;
use crate::resource::Resource;
use crate::resource::change::Change;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeState {
    /// Nobody leads yet.
    Waiting,
    /// The members say what their disks hold.
    Asking,
    /// They make the new area ready.
    Preparing,
    /// The value with the new size may be chosen.
    Proposing,
    Done,
    /// The session ended first.
    Interrupted,
    /// A disk is too small, or a member was late.
    Refused,
}

/// As an operator sees it.
#[derive(Clone, Debug)]
pub struct ResizeStatus {
    pub place: Place,
    pub state: ResizeState,
    pub from_bytes: u64,
    /// 0 until it is known.
    pub to_bytes: u64,
    /// Who did not do yet what the state is about.
    pub waits_for: MemberSet,
    pub started_at: Time,
}

/// Who wants to hear whether it can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asker {
    Command(CommandId),
    Peer(NodeId, QuestionId),
    Nobody,
}

/// As the leader.
#[derive(Debug)]
pub(crate) struct Resizing {
    task: ResizeTask,
    asker: Asker,
    state: ResizeState,
    from_bytes: u64,
    to_bytes: u64,
    /// Who was asked on its present connection.
    asked: MemberSet,
    /// What their disks hold.
    held: BTreeMap<NodeId, u64>,
    prepared: MemberSet,
    /// For whom the members mark the new area.
    absent: MemberSet,
    /// Tells the newest question from those before.
    id: u32,
    started_at: Time,
    deadline: Time,
}

/// Another node leads, and was asked.
#[derive(Debug)]
pub(crate) struct SizeWish {
    command: CommandId,
    leader: NodeId,
    id: QuestionId,
    until: Time,
}

impl Resizing {
    pub(crate) fn status(&self) -> ResizeStatus {
        let held: MemberSet = self.held.keys().copied().collect();
        let waits_for = match self.state {
            ResizeState::Asking => self.asked.minus(held),
            ResizeState::Preparing => self.asked.minus(self.prepared),
            ResizeState::Waiting
            | ResizeState::Proposing
            | ResizeState::Done
            | ResizeState::Interrupted
            | ResizeState::Refused => MemberSet::EMPTY,
        };
        let Self { task, state, from_bytes, to_bytes, started_at, .. } = *self;
        ResizeStatus { place: task.place, state, from_bytes, to_bytes, waits_for, started_at }
    }

    fn is_under_way(&self) -> bool {
        match self.state {
            ResizeState::Asking | ResizeState::Preparing | ResizeState::Proposing => true,
            ResizeState::Waiting
            | ResizeState::Done
            | ResizeState::Interrupted
            | ResizeState::Refused => false,
        }
    }
}

// ---- As an operator asks.

impl Resource {
    pub(crate) fn on_resize(&mut self, id: CommandId, task: ResizeTask) {
        let is_asked_for = self.is_resizing() || self.wants_resize() || self.size_wish.is_some();
        if is_asked_for || self.stop.is_some() {
            let text = "another size, or the end of the resource, is under way";
            return self.refuse(id, CommandErrorCode::Busy, text);
        }
        if self.session.is_some() {
            return self.start_resize(Asker::Command(id), task);
        }
        if let Some((leader, nonce)) = self.leader_in_reach() {
            let until = self.now + limits::RESIZE_DEADLINE + limits::RESIZE_DEADLINE / 4;
            let (command, id) = (id, QuestionId::of(self.random.next_u64()));
            self.size_wish = Some(SizeWish { command, leader, id, until });
            let ResizeTask { place, size_bytes, new_area } = task;
            let zeroes = new_area == NewArea::Zeroed;
            return self.send(leader, Control::Resize { nonce, place, size_bytes, zeroes, id });
        }
        if self.replica_state() != Some(ReplicaState::InSync) || !self.reaches_majority() {
            let text = "no node leads, and this one cannot: its replica has to be up to date, \
                        and a majority of the voters in reach";
            return self.refuse(id, CommandErrorCode::NoQuorum, text);
        }
        self.resize = Some(self.resizing(Asker::Command(id), task, ResizeState::Waiting));
        if self.promotion.is_none() {
            self.promote_for_resync();
        }
    }

    pub(crate) fn on_resize_answer(
        &mut self,
        from: NodeId,
        id: QuestionId,
        outcome: ResizeOutcome,
        member: NodeId,
        size_bytes: u64,
    ) {
        let is_of = |wish: &mut SizeWish| wish.leader == from && id.answers(wish.id);
        if let Some(wish) = self.size_wish.take_if(is_of) {
            self.answer(wish.command, answer_of(outcome, member, size_bytes));
        }
    }

    pub(crate) fn on_peer_asks(
        &mut self,
        from: NodeId,
        id: QuestionId,
        nonce: Nonce,
        task: ResizeTask,
    ) {
        let asker = Asker::Peer(from, id);
        if !self.leads(nonce) || self.is_resizing() || self.stop.is_some() {
            return self.answer_asker(asker, ResizeOutcome::Busy, self.me(), 0);
        }
        self.start_resize(asker, task);
    }

    fn resizing(&self, asker: Asker, task: ResizeTask, state: ResizeState) -> Resizing {
        Resizing {
            task,
            asker,
            state,
            from_bytes: self.config().map_or(0, |config| config.space().bytes_at(task.place)),
            to_bytes: 0,
            asked: MemberSet::EMPTY,
            held: BTreeMap::new(),
            prepared: MemberSet::EMPTY,
            absent: MemberSet::EMPTY,
            // The last question of the former one said that its size is given up.
            id: self.resize.as_ref().map_or(0, |former| former.id.wrapping_add(1)),
            started_at: self.now,
            deadline: self.now + limits::RESIZE_DEADLINE,
        }
    }

    pub(crate) fn size_wish_until(&self) -> Time {
        self.size_wish.as_ref().map_or(Time::NEVER, |wish| wish.until)
    }

    pub(crate) fn resize_wakes_at(&self) -> Time {
        let again = self.room.ask_again_at().min(self.volume_wakes_at());
        self.resize.as_ref().map_or(again, |resize| match resize.state {
            ResizeState::Waiting | ResizeState::Asking | ResizeState::Preparing => {
                resize.deadline.min(again)
            }
            ResizeState::Proposing
            | ResizeState::Done
            | ResizeState::Interrupted
            | ResizeState::Refused => again,
        })
    }

    pub(crate) fn wants_resize(&self) -> bool {
        self.resize.as_ref().is_some_and(|resize| resize.state == ResizeState::Waiting)
    }

    pub(crate) fn is_resizing(&self) -> bool {
        self.resize.as_ref().is_some_and(Resizing::is_under_way)
    }

    fn answer_asker(
        &mut self,
        asker: Asker,
        outcome: ResizeOutcome,
        member: NodeId,
        size_bytes: u64,
    ) {
        match asker {
            Asker::Command(id) => self.answer(id, answer_of(outcome, member, size_bytes)),
            Asker::Peer(peer, id) => {
                self.send(peer, Control::ResizeAnswer { outcome, member, size_bytes, id });
            }
            Asker::Nobody => {}
        }
    }
}

// ---- As the leader.

impl Resource {
    fn start_resize(&mut self, asker: Asker, task: ResizeTask) {
        let size = self.config().map_or(0, |config| config.space().bytes_at(task.place));
        if size == 0 {
            return self.answer_asker(asker, ResizeOutcome::NoVolume, self.me(), 0);
        }
        if self.room.keeps_size(task.place) {
            return self.answer_asker(asker, ResizeOutcome::Device, self.me(), size);
        }
        if task.size_bytes != 0 && task.size_bytes < size {
            return self.answer_asker(asker, ResizeOutcome::Smaller, self.me(), size);
        }
        if task.size_bytes == size {
            return self.answer_asker(asker, ResizeOutcome::SameSize, self.me(), size);
        }
        self.resize = Some(self.resizing(asker, task, ResizeState::Asking));
        self.give_up_admissions();
    }

    /// A volume that the value names without a size.
    pub(crate) fn start_first_size(&mut self, task: ResizeTask) {
        self.resize = Some(self.resizing(Asker::Nobody, task, ResizeState::Asking));
        self.give_up_admissions();
    }

    /// This node leads now, and that is what for.
    pub(crate) fn start_wanted_resize(&mut self) {
        let wanted = self.resize.take_if(|resize| resize.state == ResizeState::Waiting);
        if let Some(Resizing { task, asker, .. }) = wanted {
            self.start_resize(asker, task);
        }
    }

    pub(crate) fn interrupt_resize(&mut self) {
        let Some(resize) = self.resize.as_mut().filter(|resize| resize.is_under_way()) else {
            return;
        };
        resize.state = ResizeState::Interrupted;
        let asker = std::mem::replace(&mut resize.asker, Asker::Nobody);
        self.answer_asker(asker, ResizeOutcome::Busy, self.me(), 0);
    }

    /// What it was asked may not have come.
    pub(crate) fn forget_asked_for_size(&mut self, node: NodeId) {
        if let Some(resize) = self.resize.as_mut() {
            resize.asked.remove(node);
        }
        if let Some(wish) = self.size_wish.take_if(|wish| wish.leader == node) {
            let text = "the node that leads went away; ask again";
            self.refuse(wish.command, CommandErrorCode::Busy, text);
        }
    }

    /// The resource is being stopped: what the answer is nobody here will hear.
    pub(crate) fn give_up_size_wish(&mut self) {
        if let Some(wish) = self.size_wish.take() {
            let text = "the resource is being stopped; `status` of the node that leads tells of \
                        its size";
            self.refuse(wish.command, CommandErrorCode::Busy, text);
        }
    }

    /// Nobody leads yet, and this node will not.
    pub(crate) fn give_up_waiting_resize(&mut self, code: CommandErrorCode, why: &str) {
        let is_waiting = |it: &&mut Resizing| it.state == ResizeState::Waiting;
        let Some(resize) = self.resize.as_mut().filter(is_waiting) else { return };
        resize.state = ResizeState::Refused;
        if let Asker::Command(id) = std::mem::replace(&mut resize.asker, Asker::Nobody) {
            self.refuse(id, code, why);
        }
    }

    pub(crate) fn advance_resize(&mut self) {
        self.make_room();
        if let Some(wish) = self.size_wish.take_if(|wish| self.now >= wish.until) {
            let text = "the node that leads did not answer";
            self.refuse(wish.command, CommandErrorCode::TimedOut, text);
        }
        let Some(resize) = &self.resize else { return };
        let is_late = self.now >= resize.deadline;
        match resize.state {
            ResizeState::Waiting | ResizeState::Asking | ResizeState::Preparing if is_late => {
                let member = resize.status().waits_for.first().unwrap_or_else(|| self.me());
                self.end_resize(ResizeOutcome::TimedOut, member, 0);
            }
            ResizeState::Asking => self.ask_for_room(),
            ResizeState::Preparing => self.have_size_prepared(),
            ResizeState::Waiting
            | ResizeState::Proposing
            | ResizeState::Done
            | ResizeState::Interrupted
            | ResizeState::Refused => {}
        }
    }

    /// The old size stays; whoever made ready for another one goes back to it.
    fn end_resize(&mut self, outcome: ResizeOutcome, member: NodeId, size_bytes: u64) {
        let Some(resize) = self.resize.as_mut() else { return };
        let was_preparing = resize.state == ResizeState::Preparing;
        resize.state = match outcome {
            ResizeOutcome::SameSize => ResizeState::Done,
            ResizeOutcome::UnderWay
            | ResizeOutcome::Busy
            | ResizeOutcome::DiskTooSmall
            | ResizeOutcome::Smaller
            | ResizeOutcome::NoVolume
            | ResizeOutcome::Device
            | ResizeOutcome::TimedOut => ResizeState::Refused,
        };
        let asker = std::mem::replace(&mut resize.asker, Asker::Nobody);
        let (id, from_bytes) = (resize.id.wrapping_add(1), resize.from_bytes);
        let place = resize.task.place;
        self.answer_asker(asker, outcome, member, size_bytes);
        let Some(session) = self.session.as_ref().filter(|_| was_preparing) else { return };
        let (nonce, write_set) = (session.nonce, session.write_set);
        for member in write_set.iter() {
            let (to_bytes, absent) = (from_bytes, MemberSet::EMPTY);
            let zeroes = false;
            self.send(
                member,
                Control::PrepareSize { nonce, id, place, from_bytes, to_bytes, absent, zeroes },
            );
        }
        // This node made ready, too, and may have lost its disk since.
        if let Some(value) = self.config().cloned() {
            self.settle_size(&value);
        }
    }

    fn ask_for_room(&mut self) {
        let connected = self.connected();
        let (Some(session), Some(resize)) = (&self.session, &mut self.resize) else { return };
        let (nonce, write_set) = (session.nonce, session.write_set);
        let ResizeTask { place, size_bytes, .. } = resize.task;
        resize.held.retain(|&member, _| write_set.has(member));
        let held: MemberSet = resize.held.keys().copied().collect();
        // Who is away for a moment is asked when it is back.
        let to_ask = write_set.minus(held).minus(resize.asked).and(connected);
        resize.asked |= to_ask;
        for member in to_ask.iter() {
            self.send(member, Control::Enlarge { nonce, place, size_bytes });
        }
        if write_set.is_subset_of(held) && !write_set.is_empty() {
            self.choose_size();
        }
    }

    pub(crate) fn on_enlarged(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        boot_id: BootId,
        place: Place,
        size_bytes: u64,
    ) {
        let peer = self.peers.get_mut(&from);
        if let Some(replica) = peer.and_then(|peer| peer.report.as_mut()?.replica.as_mut()) {
            let blocks = (size_bytes / BLOCK_BYTES).max(replica.space.blocks_at(place));
            replica.space = replica.space.with(place, blocks);
        }
        let Some(session) = self.session.as_ref().filter(|it| it.nonce == nonce) else { return };
        let is_same = session.boots.get(&from) == Some(&boot_id);
        if let Some(resize) = self.resize.as_mut().filter(|it| is_same && it.task.place == place)
            && resize.state == ResizeState::Asking
        {
            resize.held.insert(from, size_bytes - size_bytes % BLOCK_BYTES);
        }
    }

    /// The smallest disk decides where nobody asked for a certain size.
    fn choose_size(&mut self) {
        let Some(resize) = &mut self.resize else { return };
        let smallest = resize.held.iter().min_by_key(|&(&member, &size)| (size, member));
        let Some((&member, &held)) = smallest else { return };
        let from = resize.from_bytes;
        let wanted = resize.task.size_bytes;
        let to = if wanted == 0 { held } else { wanted };
        if held < to {
            return self.end_resize(ResizeOutcome::DiskTooSmall, member, held);
        }
        if to <= from {
            return self.end_resize(ResizeOutcome::SameSize, member, from);
        }
        let gib = u32::try_from((to - from) >> 30).unwrap_or(u32::MAX);
        resize.to_bytes = to;
        resize.state = ResizeState::Preparing;
        resize.asked = MemberSet::EMPTY;
        resize.id = resize.id.wrapping_add(1);
        resize.deadline = self.now + prepare_limit(gib);
        let asker = std::mem::replace(&mut resize.asker, Asker::Nobody);
        self.answer_asker(asker, ResizeOutcome::UnderWay, member, to);
        self.have_size_prepared();
    }

    fn have_size_prepared(&mut self) {
        let (tracked, connected) = (self.tracked(), self.connected());
        let (Some(session), Some(resize)) = (&self.session, &mut self.resize) else { return };
        let (nonce, write_set) = (session.nonce, session.write_set);
        // A newcomer for whom room is made is not there, either.
        let absent = tracked.minus(write_set);
        if absent != resize.absent {
            resize.absent = absent;
            resize.id = resize.id.wrapping_add(1);
            resize.asked = MemberSet::EMPTY;
            resize.prepared = MemberSet::EMPTY;
        }
        let to_ask = write_set.minus(resize.prepared).minus(resize.asked).and(connected);
        resize.asked |= to_ask;
        let message = Control::PrepareSize {
            nonce,
            id: resize.id,
            place: resize.task.place,
            from_bytes: resize.from_bytes,
            to_bytes: resize.to_bytes,
            absent,
            zeroes: resize.task.new_area == NewArea::Zeroed,
        };
        let is_ready = write_set.is_subset_of(resize.prepared) && !write_set.is_empty();
        for member in to_ask.iter() {
            self.send(member, message.clone());
        }
        if is_ready {
            self.propose_size();
        }
    }

    pub(crate) fn on_member_prepared(
        &mut self,
        from: NodeId,
        nonce: Nonce,
        boot_id: BootId,
        id: u32,
    ) {
        let Some(session) = self.session.as_ref().filter(|it| it.nonce == nonce) else { return };
        let is_same = session.boots.get(&from) == Some(&boot_id);
        if let Some(resize) = self.resize.as_mut().filter(|resize| is_same && resize.id == id)
            && resize.state == ResizeState::Preparing
        {
            resize.prepared.insert(from);
        }
    }

    fn propose_size(&mut self) {
        if self.attempt.is_some() {
            return;
        }
        let (Some(session), Some(resize)) = (&mut self.session, &mut self.resize) else { return };
        let is_idle = session.change.is_none()
            && session.losses.is_empty()
            && session.adding.is_none()
            && !session.is_draining();
        if !is_idle {
            return;
        }
        session.change = Some(Change::Resizing);
        resize.state = ResizeState::Proposing;
        let (place, to_bytes) = (resize.task.place, resize.to_bytes);
        self.propose(|config| {
            let of_place = |volume: &&mut VolumeConfig| volume.number == place.number().into();
            if let Some(volume) = config.volumes.iter_mut().find(of_place) {
                volume.size_bytes = to_bytes;
            }
        });
    }

    pub(crate) fn on_resized(&mut self) {
        if let Some(resize) = self.resize.as_mut() {
            resize.state = ResizeState::Done;
        }
    }

    /// This node went on alone while the size was proposed: with it, if its own voter had accepted
    /// it.
    pub(crate) fn settle_size_alone(&mut self, value: &Config) {
        let me = self.me();
        let Some(resize) = self.resize.as_mut() else { return };
        if resize.state != ResizeState::Proposing {
            return;
        }
        if value.space().bytes_at(resize.task.place) >= resize.to_bytes {
            return self.on_resized();
        }
        // Whoever prepared it goes back.
        resize.state = ResizeState::Preparing;
        self.end_resize(ResizeOutcome::Busy, me, 0);
    }
}

fn prepare_limit(gib: u32) -> Duration {
    let per_gib = limits::PREPARE_SIZE_PER_GIB.checked_mul(gib);
    per_gib.map_or(Duration::MAX, |time| limits::PREPARE_SIZE_DEADLINE + time)
}

fn answer_of(outcome: ResizeOutcome, member: NodeId, size_bytes: u64) -> Result<(), CommandError> {
    let (code, message) = match outcome {
        ResizeOutcome::UnderWay | ResizeOutcome::SameSize => return Ok(()),
        ResizeOutcome::Busy => {
            let text = "another size, or the end of the session, is under way; ask again";
            (CommandErrorCode::Busy, text.to_owned())
        }
        ResizeOutcome::DiskTooSmall => {
            let text = format!(
                "the disk of node {member} has room for {size_bytes} bytes of data: enlarge it \
                 first, or ask for no more (`--size {}s`)",
                size_bytes / 512
            );
            (CommandErrorCode::Size, text)
        }
        ResizeOutcome::Smaller => {
            let text = format!(
                "the volume has {size_bytes} bytes and cannot be made smaller: copy it to a new \
                 one"
            );
            (CommandErrorCode::Size, text)
        }
        ResizeOutcome::NoVolume => (CommandErrorCode::Size, "there is no such volume".to_owned()),
        ResizeOutcome::Device => {
            let text = format!(
                "node {member} serves it by a ublk device, whose size its kernel cannot change \
                 while it is there (Linux 6.16 and later can): unmount it, and there \
                 `secondary`, `resize`, `primary`"
            );
            (CommandErrorCode::Size, text)
        }
        ResizeOutcome::TimedOut => {
            let text = format!("node {member} did not make room in time");
            (CommandErrorCode::TimedOut, text)
        }
    };
    Err(CommandError { code, message })
}
