//! Commands of I/O queues: taken from the stream, let in or sent elsewhere, and begun.
//!
//! The data of a long write is asked for once there is room for all of it; a long read begins
//! under the same bound. A write goes to the core when all of its data is here and its digests are
//! right.

use format::space::Place;
use frontend::block::Kind;
use frontend::nvme::auth::is_part;
use frontend::nvme::command::{Data, Io, What, decode};
use frontend::nvme::receive::{Check, Parsed};
use frontend::nvme::send::Completion;
use frontend::nvme::status::{Fatal, Status};
use frontend::nvme::view::Path;
use frontend::nvme::wire::{FABRICS, Sqe};
use io::Slice;

use crate::clients::budget::Wish;
use crate::clients::fact::{Comer, Fact};
use crate::clients::nvme::Nvme;
use crate::clients::nvme::admin::Session;
use crate::clients::nvme::queue::{Admission, Filling, IoQueue, Queue, Stage};
use crate::clients::nvme::room::{held_bytes, lengths};
use crate::clients::nvme::work::{Hold, IoRequest, Parts, Step, Work};
use crate::clients::outstanding::{Orphanage, Outstanding};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::{Key, Slab};

/// What becomes of a command that came.
enum Gate {
    Open,
    /// Not yet: it stays in the stream.
    Closed,
    /// Another node has to do it.
    Elsewhere,
}

/// How far a command could be begun.
enum Begun {
    Yes,
    /// No buffer is free: it stays in the stream.
    NotYet,
    Refused(Status),
}

impl Nvme {
    pub(super) fn io_queue(&mut self, key: Key) -> Option<&mut IoQueue> {
        match self.queues.get_mut(key) {
            Some(Queue { stage: Stage::Io(it), .. }) => Some(it),
            Some(_) | None => None,
        }
    }

    pub(super) fn step_io(&mut self, key: Key, kit: &mut Kit) {
        while self.take_data(key, kit) {
            let Some(queue) = self.queues.get_mut(key).filter(|it| it.is_listening()) else {
                return;
            };
            let slice = queue.stream.available().filter(|slice| slice.length > 0);
            let bytes = slice.map_or(&[][..], |slice| kit.reactor.pool_ref().bytes(slice));
            match queue.receiver.next(bytes) {
                Parsed::NeedMore(_) => return,
                Parsed::Command { consumed, sqe, data, check: Check::Intact }
                    if queue.proving.is_some() && (queue.is_locked() || is_part(&sqe)) =>
                {
                    // Short, and rare: the queue can be changed while they are looked at.
                    let data = bytes[data].to_vec();
                    queue.take_command(consumed);
                    self.take_part(key, &sqe, &data, kit);
                }
                Parsed::Command { consumed, sqe, data, check } => {
                    let at = |value: usize| u32::try_from(value).expect("within a buffer");
                    let data = slice.map(|it| it.part(at(data.start), at(data.len())));
                    let begun = match check {
                        Check::Intact => self.on_command(key, &sqe, data, kit),
                        Check::Broken => Begun::Refused(Status::TRANSPORT_ERROR),
                    };
                    let Some(queue) = self.queues.get_mut(key) else { return };
                    match begun {
                        Begun::NotYet => return,
                        Begun::Yes => queue.take_command(consumed),
                        Begun::Refused(status) => {
                            queue.take_command(consumed);
                            self.answer(key, &Completion::of(sqe.command(), status), kit);
                        }
                    }
                    self.grant(kit);
                }
                Parsed::Data { consumed, head } => {
                    queue.take(consumed);
                    let Some(it) = self.io_queue(key) else { return };
                    let request = match it.transfers.on_data(&head) {
                        Ok(request) => request,
                        Err(fatal) => return self.give_up(key, &fatal, kit),
                    };
                    let room = self.places(request).and_then(|parts| parts.rest.take());
                    let Some(it) = self.io_queue(key) else { return };
                    it.filling = Some(Filling { request, tag: head.tag, room });
                }
                Parsed::DataEnd { consumed, check } => {
                    queue.take(consumed);
                    self.end_data(key, check, kit);
                }
                Parsed::Hello { .. } => {
                    let fatal = Fatal::sequence("a second greeting");
                    return self.give_up(key, &fatal, kit);
                }
                Parsed::Terminated(reason) => {
                    let reason = format!("the initiator gave a connection up: {reason}");
                    return self.close(key, &reason, kit);
                }
                Parsed::Invalid(fatal) => return self.give_up(key, &fatal, kit),
            }
        }
    }

    // ---- Data of long writes.

    pub(super) fn places(&mut self, request: Key) -> Option<&mut Parts> {
        match &mut self.requests.get_mut(request)?.work {
            Work::Write { parts, .. } | Work::Ranges { data: parts, .. } => Some(parts),
            Work::Read { .. } | Work::Range { .. } | Work::Flush => None,
        }
    }

    /// Moves what arrived of a PDU's data to its place. False while it waits for bytes.
    fn take_data(&mut self, key: Key, kit: &mut Kit) -> bool {
        loop {
            let Some(Queue { stage: Stage::Io(it), receiver, stream, .. }) =
                self.queues.get_mut(key)
            else {
                return false;
            };
            let left = receiver.payload_left();
            if left == 0 {
                return true;
            }
            let Some(filling) = it.filling else { return false };
            let Some(room) = filling.room.filter(|room| room.length > 0) else {
                let room = self.places(filling.request).and_then(Parts::next_place);
                if room.is_none() {
                    self.close(key, "data came for a request that is gone", kit);
                    return false;
                }
                if let Some(it) = self.io_queue(key) {
                    it.filling = Some(Filling { room, ..filling });
                }
                continue;
            };
            let arrived = stream.available().map_or(0, |bytes| bytes.length);
            let length = arrived.min(room.length).min(left);
            if length == 0 {
                return false;
            }
            let from = stream.available().expect("some bytes arrived").part(0, length);
            kit.reactor.pool().copy(from, room.part(0, length));
            receiver.advance(kit.reactor.pool_ref().bytes(from));
            stream.take(length);
            let room = Some(room.part(length, room.length - length));
            it.filling = Some(Filling { room, ..filling });
        }
    }

    /// A PDU with data is over.
    fn end_data(&mut self, key: Key, check: Check, kit: &mut Kit) {
        let Some(filling) = self.io_queue(key).and_then(|it| it.filling.take()) else { return };
        if let Some(parts) = self.places(filling.request) {
            parts.rest = filling.room;
        }
        let Some(request) = self.requests.get_mut(filling.request) else { return };
        if check == Check::Broken {
            request.failed = Some(Status::TRANSPORT_ERROR);
        }
        let is_whole = self.io_queue(key).is_some_and(|it| it.transfers.end_if_whole(filling.tag));
        if is_whole {
            self.on_data_whole(filling.request, kit);
        }
    }

    /// All of a request's data is here.
    fn on_data_whole(&mut self, key: Key, kit: &mut Kit) {
        let Some(request) = self.requests.get_mut(key) else { return };
        request.step = Step::Working;
        let failed = request.failed;
        if let Some(status) = failed {
            self.finish(key, status, kit);
        } else if self.may_go_to_core(key, kit) {
            self.give_to_core(key, kit);
        } else {
            self.wait_for_core(key);
        }
    }

    // ---- Commands.

    fn on_command(&mut self, key: Key, sqe: &Sqe, data: Option<Slice>, kit: &mut Kit) -> Begun {
        if sqe.opcode() == FABRICS {
            return Begun::Refused(Status::INVALID_OPCODE);
        }
        match self.gate(key) {
            Gate::Open => {}
            Gate::Closed => return Begun::NotYet,
            Gate::Elsewhere => return Begun::Refused(Status::PATH_INACCESSIBLE),
        }
        let Some(queue) = self.queues.get_mut(key) else { return Begun::NotYet };
        let entries = queue.entries();
        let Stage::Io(it) = &queue.stage else { return Begun::NotYet };
        if it.requests >= entries {
            let fatal = Fatal::sequence("more commands come than the queue has entries");
            self.give_up(key, &fatal, kit);
            return Begun::NotYet;
        }
        let hosted = it.hosted;
        // A flush of all namespaces names none.
        let place = place_of(sqe.namespace()).unwrap_or(Place::FIRST);
        let size_bytes = self.size_of(hosted, sqe.namespace());
        let capsule = data.map_or(0, |data| data.length as usize);
        match decode(sqe, capsule, size_bytes) {
            Ok(io) => self.begin(key, (sqe.command(), hosted, place), io, data, kit),
            Err(status) => Begun::Refused(status),
        }
    }

    pub(super) fn size_of(&self, hosted: HostedId, namespace: u32) -> Option<u64> {
        let offer = self.offers.iter().find(|offer| offer.hosted == hosted)?;
        Some(offer.subsystem.namespace(namespace)?.size_bytes)
    }

    /// The first command of a queue makes this node Primary, where no other one is known to be.
    fn gate(&mut self, key: Key) -> Gate {
        let Some(Queue { stage: Stage::Io(it), .. }) = self.queues.get_mut(key) else {
            return Gate::Closed;
        };
        let hosted = it.hosted;
        let offer = self.offers.iter().find(|offer| offer.hosted == hosted);
        let known = self.controllers.get(it.controller).map(|session| session.knows);
        // Writes may be lost that were acknowledged to who knows the namespace by its former name.
        let offer = offer.filter(|offer| known == Some(offer.subsystem.losses));
        match offer.map(|offer| offer.subsystem.path) {
            None | Some(Path::Inaccessible) => Gate::Elsewhere,
            Some(Path::Optimized | Path::NonOptimized) => match it.admission {
                Admission::Admitted => Gate::Open,
                Admission::Waiting => Gate::Closed,
                Admission::Idle => {
                    it.admission = Admission::Waiting;
                    self.facts.push_back(Fact::Wanted { hosted, by: Comer::Other });
                    Gate::Closed
                }
            },
        }
    }

    fn begin(
        &mut self,
        queue: Key,
        (command, hosted, place): (u16, HostedId, Place),
        io: Io,
        data: Option<Slice>,
        kit: &mut Kit,
    ) -> Begun {
        let Io { what, fua, data: way } = io;
        if matches!(what, What::Nothing) {
            return Begun::Refused(Status::SUCCESS);
        }
        let capsule = match way {
            Data::InCapsule => data,
            Data::None | Data::ToHost | Data::OnLeave { .. } => None,
        };
        let Some(it) = self.io_queue(queue) else { return Begun::NotYet };
        let controller = it.controller;
        let length = data_bytes(way, &what, capsule);
        let held_bytes = held_bytes(&what, length);
        let has_to_wait = length > 0 && capsule.is_none();
        if held_bytes > 0 && !has_to_wait && !self.has_room_for(queue, kit) {
            return Begun::NotYet;
        }
        let mut parts = Parts::default();
        if let Some(capsule) = capsule {
            let Some(taken) = Parts::take(lengths(&what, capsule.length), kit) else {
                self.waiting.is_starved = true;
                return Begun::NotYet;
            };
            taken.fill(capsule, kit);
            parts = taken;
        }
        let work = match what {
            What::Nothing => unreachable!("answered above"),
            What::Deallocate { ranges } => {
                Work::Ranges { data: parts, count: ranges, taken: 0, range: None }
            }
            What::Block(request) => {
                let end = request.offset + request.length;
                let (next, to_send) = (request.offset, request.offset);
                match request.kind {
                    Kind::Read => Work::Read { request, next, to_send, ready: Default::default() },
                    Kind::Write { .. } => Work::Write { request, fua, parts },
                    Kind::Zeroes { .. } | Kind::Discard => Work::Range { request, fua, next, end },
                    Kind::Flush => Work::Flush,
                }
            }
        };
        let step = if has_to_wait { Step::Waiting } else { Step::Working };
        let request = IoRequest {
            queue,
            hosted,
            place,
            command,
            work,
            step,
            in_flight: 0,
            failed: None,
            controller,
            length,
            held_bytes,
            hold: Hold::Nothing,
            reply_bytes: 0,
            is_orphan: false,
            since: kit.now,
            to_come: 0,
        };
        let key = self.insert(request);
        if has_to_wait {
            self.wait_for_room(controller, key);
        } else {
            self.hold(key, Hold::Core, kit);
            self.issue(key, kit);
        }
        Begun::Yes
    }

    fn insert(&mut self, request: IoRequest) -> Key {
        if let Some(it) = self.io_queue(request.queue) {
            it.requests += 1;
        }
        self.requests.insert(request)
    }

    /// Whether a command whose data came with it may begin. What stands before data that has leave
    /// to come may always.
    fn has_room_for(&mut self, queue: Key, kit: &Kit) -> bool {
        let Some(it) = self.io_queue(queue) else { return false };
        if !it.transfers.is_empty() {
            return true;
        }
        let (hosted, controller) = (it.hosted, it.controller);
        let own = self.controllers.get(controller).map_or(0, Session::held_bytes);
        self.waiting.has_room(hosted, own, Wish::Work, kit)
    }

    /// Forgets a request that is answered, or whose queue is gone.
    pub(super) fn forget(&mut self, key: Key, kit: &mut Kit) -> Option<IoRequest> {
        let mut request = self.requests.remove(key)?;
        request.work.release(kit);
        self.let_go(&request, kit);
        if let Some(it) = self.io_queue(request.queue) {
            it.requests -= 1;
        }
        Some(request)
    }

    /// Forgets what a queue that is gone had asked; what holds buffers in the core, when it is
    /// answered.
    pub(super) fn drop_requests(&mut self, queue: Key, kit: &mut Kit) {
        let mut controller = None;
        for index in 0..self.requests.end() {
            let Some(key) = self.requests.key_at(index) else { continue };
            let Some(request) = self.requests.get_mut(key) else { continue };
            if request.queue != queue || request.is_orphan {
                continue;
            }
            request.work.release(kit);
            // Nobody is to have what the core still reads.
            let unread = std::mem::take(&mut request.reply_bytes);
            kit.budget.give_up(unread);
            if let Some(session) = self.controllers.get_mut(request.controller) {
                session.reading -= unread;
            }
            controller = Some(request.controller);
            self.orphan(key, kit);
        }
        if let Some(session) = controller.and_then(|key| self.controllers.get_mut(key)) {
            session.waiting.retain(|key| self.requests.get(*key).is_some());
        }
    }
}

impl Orphanage for Nvme {
    type Request = IoRequest;

    fn requests(&mut self) -> &mut Slab<IoRequest> {
        &mut self.requests
    }

    fn outstanding(request: &mut IoRequest) -> Outstanding<'_> {
        Outstanding {
            hosted: request.hosted,
            is_orphan: &mut request.is_orphan,
            in_flight: &mut request.in_flight,
            part_bytes: 0,
            is_counted: request.held_bytes > 0,
        }
    }

    fn orphans(&mut self) -> &mut usize {
        &mut self.orphans
    }

    fn take_out(&mut self, key: Key, kit: &mut Kit) {
        self.forget(key, kit);
    }
}

/// The number of the namespace of a volume.
pub(crate) fn namespace_of(place: Place) -> u32 {
    u32::from(place.number()) + 1
}

fn place_of(namespace: u32) -> Option<Place> {
    Place::new(u16::try_from(namespace.checked_sub(1)?).ok()?).ok()
}

/// Bytes of a command's data.
fn data_bytes(way: Data, what: &What, capsule: Option<Slice>) -> u32 {
    match (way, what) {
        (Data::OnLeave { length }, _) => length,
        (Data::ToHost, What::Block(request)) => {
            u32::try_from(request.length).expect("bounded by MDTS")
        }
        (Data::InCapsule, _) => capsule.map_or(0, |capsule| capsule.length),
        (Data::None | Data::ToHost, _) => 0,
    }
}
