//! Greetings, Connect, and the commands of admin queues.

use std::collections::VecDeque;
use std::time::Duration;

use frontend::nvme::auth;
use frontend::nvme::connect::{Connect, Field, FlowControl};
use frontend::nvme::controller::{Answer, Controller, Event};
use frontend::nvme::limits::CONTROLLERS_PER_NODE;
use frontend::nvme::receive::{Check, Parsed};
use frontend::nvme::send::{Completion, DataEnd, Encoder};
use frontend::nvme::status::{Fatal, Status};
use frontend::nvme::transfers::Transfers;
use frontend::nvme::view::{Path, Record, Subsystem, View};
use frontend::nvme::wire::{CONTROLLER_DYNAMIC, DISCOVERY_NQN, Sqe};
use io::SocketId;
use stdx::time::Time;

use crate::clients::nvme::queue::{Admission, IoQueue, Queue, Stage};
use crate::clients::nvme::{Nvme, Offer};
use crate::clients::waiting::Tick;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{
    NVME_CONTROLLERS_MAX, NVME_DISCOVERIES_MAX, NVME_DISCOVERY_SILENCE_MAX, NVME_KEEP_ALIVE_GRACE,
    NVME_NAMES_REST,
};
use crate::log::{Scope, log};
use crate::slab::Key;

/// A controller and its admin queue.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) machine: Controller,
    pub(super) queue: Key,
    /// `None` of a discovery controller.
    pub(super) hosted: Option<HostedId>,
    /// Of the resource.
    pub(super) name: Option<String>,
    pub(super) heard_at: Time,
    /// The initiator took the namespaces by the names that they have after so many losses.
    pub(super) knows: u32,
    /// It reads the names after so many losses, and counts as done then.
    pub(super) reads_until: Option<(u32, Time)>,
    /// How often the path became another one for this initiator alone.
    pub(super) moves: u64,
    /// Requests that wait for room for their data.
    pub(super) waiting: VecDeque<Key>,
    /// Bytes of the buffers of the other ones, and of what was read and is not sent.
    pub(super) held: usize,
    pub(super) unsent: usize,
    /// Of the former, those for data that arrives, and those for data that is read.
    pub(super) arriving: usize,
    pub(super) reading: usize,
}

impl Session {
    pub(super) fn new(
        machine: Controller,
        queue: Key,
        (hosted, name): (Option<HostedId>, Option<String>),
        now: Time,
    ) -> Self {
        Self {
            machine,
            queue,
            hosted,
            name,
            heard_at: now,
            knows: 0,
            reads_until: None,
            moves: 0,
            waiting: VecDeque::new(),
            held: 0,
            unsent: 0,
            arriving: 0,
            reading: 0,
        }
    }

    /// The resource as the initiator may see it: one that knows a namespace by a former name has
    /// no way to it.
    fn shown(&self, subsystem: &Subsystem) -> Subsystem {
        let mut shown = subsystem.clone();
        shown.changes += self.moves;
        if self.knows != subsystem.losses {
            shown.path = Path::Inaccessible;
        }
        shown
    }

    /// When something is due: its initiator counts as gone, or as one that read all names.
    fn deadline(&self) -> Time {
        let read = self.reads_until.map_or(Time::NEVER, |(_, until)| until);
        self.gone_at().min(read)
    }

    fn gone_at(&self) -> Time {
        match self.machine.keep_alive_ms() {
            0 if self.hosted.is_none() => self.heard_at + NVME_DISCOVERY_SILENCE_MAX,
            0 => Time::NEVER,
            silence => {
                self.heard_at + Duration::from_millis(silence.into()) + NVME_KEEP_ALIVE_GRACE
            }
        }
    }
}

impl Nvme {
    /// Takes commands of a queue that carries no I/O, or is to.
    pub(super) fn step_admin(&mut self, key: Key, kit: &mut Kit) {
        loop {
            let Some(queue) = self.queues.get_mut(key).filter(|it| it.is_listening()) else {
                return;
            };
            let Some(slice) = queue.stream.available().filter(|slice| slice.length > 0) else {
                return;
            };
            let bytes = kit.reactor.pool_ref().bytes(slice);
            match queue.receiver.next(bytes) {
                Parsed::NeedMore(_) => return,
                Parsed::Hello { consumed, hello } => {
                    let encoder = Encoder::new(&hello);
                    queue.encoder = Some(encoder);
                    queue.take(consumed);
                    if !queue.say(kit, |encoder, out| encoder.hello(out)) {
                        return self.close(key, "no buffer is free", kit);
                    }
                    self.mark(key);
                }
                Parsed::Command { consumed, sqe, data, check } => {
                    // Short, and rare: the queue can be changed while they are looked at.
                    let data = bytes[data].to_vec();
                    queue.take_command(consumed);
                    if check == Check::Intact {
                        self.on_admin(key, &sqe, &data, kit);
                    } else {
                        let end = Completion::of(sqe.command(), Status::TRANSPORT_ERROR);
                        self.answer(key, &end, kit);
                    }
                    let stage = self.queues.get(key).map(|queue| &queue.stage);
                    if !matches!(stage, Some(Stage::Greeting | Stage::Admin { .. })) {
                        self.mark(key);
                        return;
                    }
                }
                Parsed::Data { .. } | Parsed::DataEnd { .. } => {
                    let fatal = Fatal::sequence("data comes that nobody asked for");
                    return self.give_up(key, &fatal, kit);
                }
                Parsed::Terminated(reason) => {
                    let reason = format!("the initiator gave the connection up: {reason}");
                    return self.close(key, &reason, kit);
                }
                Parsed::Invalid(fatal) => return self.give_up(key, &fatal, kit),
            }
        }
    }

    /// Says why, then closes the connection.
    pub(super) fn give_up(&mut self, key: Key, fatal: &Fatal, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let offending = queue.stream.available();
        let offending =
            offending.map_or_else(Vec::new, |it| kit.reactor.pool_ref().bytes(it).to_vec());
        queue.say(kit, |encoder, out| encoder.terminate(fatal, &offending, out));
        if let Some(controller) = self.leave(key, kit) {
            self.end_controller(controller, &fatal.to_string(), kit);
        } else {
            log!(Info, Scope::NODE, "an initiator was let go: {fatal}");
        }
    }

    /// Takes nothing more from a queue, and closes it when all was said, or after a while. Gives
    /// the controller that is to end with it.
    pub(super) fn leave(&mut self, key: Key, kit: &mut Kit) -> Option<Key> {
        let queue = self.queues.get_mut(key)?;
        let controller = queue.ends_with_it();
        let stage = queue.begin_goodbye(kit.now);
        let unsent = queue.outbox.unsent().data;
        self.waiting.come_by(queue.deadline);
        self.mark(key);
        if let Stage::Io(it) = stage {
            if let Some(session) = self.controllers.get_mut(it.controller) {
                session.unsent -= unsent;
            }
            self.drop_requests(key, kit);
            if it.admission != Admission::Idle {
                self.facts.push_back(crate::clients::fact::Fact::Left { hosted: it.hosted });
            }
        }
        controller
    }

    pub(super) fn answer(&mut self, key: Key, end: &Completion, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        if queue.complete(end, kit) {
            self.mark(key);
        } else {
            self.close(key, "no buffer is free", kit);
        }
    }

    fn on_admin(&mut self, key: Key, sqe: &Sqe, data: &[u8], kit: &mut Kit) {
        if self.take_part(key, sqe, data, kit) {
            return;
        }
        let Some(queue) = self.queues.get(key) else { return };
        let Stage::Admin { controller } = queue.stage else {
            return self.on_connect(key, sqe, data, kit);
        };
        let address = kit.reactor.local_addr(queue.socket);
        let Some(session) = self.controllers.get_mut(controller) else { return };
        session.heard_at = kit.now;
        let check = self.host_check.as_ref();
        let records: Vec<_> = match (session.hosted, address) {
            (None, Some(address)) => {
                let offers = self.offers.iter().filter(|offer| {
                    offer.subsystem.has_volume()
                        && check.is_none_or(|it| it.may_hear(session, offer))
                });
                offers.map(|offer| Record { nqn: offer.subsystem.nqn(), address }).collect()
            }
            (Some(_), _) | (None, None) => Vec::new(),
        };
        let offer = self.offers.iter().find(|offer| session.hosted == Some(offer.hosted));
        let shown = offer.map(|offer| session.shown(&offer.subsystem));
        let view = match (session.hosted, &shown) {
            (None, _) => View::Discovery { records: &records, changes: self.changes },
            (Some(_), Some(shown)) => View::Volume(shown),
            (Some(_), None) => return self.close(key, "the resource went down", kit),
        };
        let mut given = Vec::new();
        let answer = session.machine.on_command(sqe, data, &view, &mut given);
        let Some(queue) = self.queues.get_mut(key) else { return };
        let is_said = match &answer {
            Answer::Later => true,
            Answer::Now(end) => queue.give(end.command, &given, kit) && queue.complete(end, kit),
        };
        if !is_said {
            return self.close(key, "no buffer is free", kit);
        }
        self.mark(key);
        if let Some(shown) = &shown {
            self.note_looks(controller, shown, kit);
        }
        self.tell_events(controller, kit);
        self.note_deadline(controller);
    }

    /// Whether the initiator has read the names that the namespaces have now, and what it made of
    /// them: it may go on with those that it took. Of one that does not show that, some time after
    /// it began has to do: what it did not take it has dropped by then.
    fn note_looks(&mut self, controller: Key, subsystem: &Subsystem, kit: &Kit) {
        let Some(session) = self.controllers.get_mut(controller) else { return };
        let losses = subsystem.losses;
        if session.knows == losses || !session.machine.looks_at_names(subsystem) {
            return;
        }
        if session.machine.has_taken_names(subsystem) {
            self.open_path(controller, losses);
        } else if session.reads_until.is_none_or(|(read, _)| read != losses) {
            session.reads_until = Some((losses, kit.now + NVME_NAMES_REST));
        }
    }

    fn open_path(&mut self, controller: Key, losses: u32) {
        let Some(session) = self.controllers.get_mut(controller) else { return };
        session.knows = losses;
        session.reads_until = None;
        session.moves += 1;
        session.machine.on_event(Event::Path);
        let (queue, hosted) = (session.queue, session.hosted);
        self.mark(queue);
        if let Some(hosted) = hosted {
            self.mark_all_of(hosted);
        }
    }

    /// Answers requests for events that have one.
    pub(super) fn tell_events(&mut self, controller: Key, kit: &mut Kit) {
        while let Some(session) = self.controllers.get_mut(controller) {
            let Some(end) = session.machine.next_event() else { return };
            let queue = session.queue;
            self.answer(queue, &end, kit);
        }
    }

    fn tell_of_names(&mut self, controller: Key) {
        if let Some(session) = self.controllers.get_mut(controller) {
            session.machine.on_event(Event::Namespace);
        }
    }

    fn note_deadline(&mut self, controller: Key) {
        if let Some(session) = self.controllers.get(controller) {
            self.waiting.come_by(session.deadline());
        }
    }

    /// Tells the initiators of a resource, or those that look for some, what changed. They hear of
    /// it with the next `flush`.
    pub(super) fn announce(&mut self, hosted: Option<HostedId>, event: Event) {
        for index in 0..self.controllers.end() {
            let Some(key) = self.controllers.key_at(index) else { continue };
            let Some(session) = self.controllers.get_mut(key) else { continue };
            if session.hosted == hosted {
                session.machine.on_event(event);
                let queue = session.queue;
                self.mark(queue);
            }
        }
    }

    fn on_connect(&mut self, key: Key, sqe: &Sqe, data: &[u8], kit: &mut Kit) {
        let connect = match Connect::of(sqe, data) {
            Ok(connect) => connect,
            Err(end) => return self.turn_away(key, &end, kit),
        };
        if self.queues.get(key).is_some_and(|queue| queue.is_surplus) {
            let busy = Completion::of(connect.command, Status::CONNECT_BUSY);
            return self.turn_away(key, &busy, kit);
        }
        let parties = match self.parties_of(&connect) {
            Ok(parties) => parties,
            Err(end) => return self.turn_away(key, &end, kit),
        };
        let answer = if connect.queue == 0 {
            self.make_controller(key, &connect, kit)
        } else {
            self.join_controller(key, &connect)
        };
        match answer {
            Ok(id) => {
                let required = if parties.is_some() { auth::REQUIRED } else { 0 };
                if let Some(queue) = self.queues.get_mut(key) {
                    queue.connect(&connect);
                }
                match parties {
                    Some(parties) => self.begin_proof(key, parties, kit),
                    None => self.end_former(key, kit),
                }
                let (command, result) = (connect.command, u64::from(id) | u64::from(required));
                let end = Completion { command, result, status: Status::SUCCESS };
                self.answer(key, &end, kit);
            }
            Err(end) => self.turn_away(key, &end, kit),
        }
    }

    fn turn_away(&mut self, key: Key, end: &Completion, kit: &mut Kit) {
        self.answer(key, end, kit);
        if let Some(queue) = self.queues.get_mut(key) {
            queue.begin_goodbye(kit.now);
            self.waiting.come_by(queue.deadline);
        }
    }

    /// For one more controller of that kind.
    fn has_place(&self, connect: &Connect) -> bool {
        let discoveries = self.controllers.iter().filter(|(_, it)| it.hosted.is_none()).count();
        match connect.subsystem == DISCOVERY_NQN {
            true => discoveries < NVME_DISCOVERIES_MAX,
            false => self.controllers.len() - discoveries < NVME_CONTROLLERS_MAX,
        }
    }

    fn make_controller(
        &mut self,
        key: Key,
        connect: &Connect,
        kit: &mut Kit,
    ) -> Result<u16, Completion> {
        let refuse = |field: Field| Err(field.refuse(connect.command));
        if connect.controller != CONTROLLER_DYNAMIC {
            return refuse(Field::CONTROLLER);
        }
        if !self.has_place(connect) {
            let text = match connect.subsystem == DISCOVERY_NQN {
                true => format!("has {NVME_DISCOVERIES_MAX} hosts that only ask what there is"),
                false => format!("has {NVME_CONTROLLERS_MAX} controllers"),
            };
            self.tell_full(&text);
            return Err(Completion::of(connect.command, Status::CONNECT_BUSY));
        }
        let (id, hosted, name) = if connect.subsystem == DISCOVERY_NQN {
            (1, None, None)
        } else {
            let is_meant = |offer: &&Offer| offer.subsystem.nqn() == connect.subsystem;
            let Some(offer) = self.offers.iter().find(is_meant) else {
                return refuse(Field::SUBSYSTEM);
            };
            if !offer.subsystem.has_volume() {
                // No size is known yet: no replica is connected.
                return Err(Completion::of(connect.command, Status::CONNECT_BUSY));
            }
            let (hosted, node) = (offer.hosted, u16::from(offer.subsystem.node));
            let name = offer.subsystem.name.clone();
            (self.controller_id(hosted, node), Some(hosted), Some(name))
        };
        let machine = Controller::new(id, connect);
        if let Some(name) = &name {
            let host = &machine.host;
            log!(Info, Scope::resource(name), "NVMe controller {id} began, for host {host}");
        }
        let session = Session::new(machine, key, (hosted, name), kit.now);
        let controller = self.controllers.insert(session);
        if let Some(queue) = self.queues.get_mut(key) {
            queue.stage = Stage::Admin { controller };
        }
        self.note_deadline(controller);
        Ok(id)
    }

    /// An initiator has one controller at an address. When it comes again it has given the former
    /// one up: nothing that may still arrive there can follow what it sends again here.
    pub(super) fn end_former(&mut self, key: Key, kit: &mut Kit) {
        let Some(Queue { socket, stage: Stage::Admin { controller }, .. }) = self.queues.get(key)
        else {
            return;
        };
        let (socket, controller) = (*socket, *controller);
        let ends = |kit: &Kit, socket: SocketId| {
            let peer = kit.reactor.peer_addr(socket).map(|address| address.ip());
            (kit.reactor.local_addr(socket), peer)
        };
        let now = ends(kit, socket);
        for index in 0..self.controllers.end() {
            let Some(former) = self.controllers.key_at(index) else { continue };
            let (Some(session), Some(latter)) =
                (self.controllers.get(former), self.controllers.get(controller))
            else {
                continue;
            };
            let is_meant = former != controller
                && session.hosted.is_some()
                && session.hosted == latter.hosted
                && session.machine.is_of_host(&latter.machine)
                && self.queues.get(session.queue).is_some_and(|it| ends(kit, it.socket) == now);
            if is_meant {
                self.end_controller(former, "its initiator has connected again", kit);
            }
        }
    }

    /// An id of this node's range that no controller of the subsystem has.
    fn controller_id(&mut self, hosted: HostedId, node: u16) -> u16 {
        loop {
            // There are far fewer controllers than ids.
            self.next_controller = (self.next_controller + 1) % CONTROLLERS_PER_NODE;
            let id = node * CONTROLLERS_PER_NODE + self.next_controller + 1;
            let mut others = self.controllers.iter();
            if others.all(|(_, it)| it.hosted != Some(hosted) || it.machine.id != id) {
                return id;
            }
        }
    }

    fn join_controller(&mut self, key: Key, connect: &Connect) -> Result<u16, Completion> {
        let refuse = |field: Field| Err(field.refuse(connect.command));
        let is_meant = |session: &Session| {
            session.machine.id == connect.controller
                && session.machine.host == connect.host
                && session.hosted.is_some()
                && self.offers.iter().any(|offer| {
                    session.hosted == Some(offer.hosted)
                        && offer.subsystem.nqn() == connect.subsystem
                })
        };
        let found = self.controllers.iter().find(|(_, session)| is_meant(session));
        let Some((controller, session)) = found else { return refuse(Field::CONTROLLER) };
        if connect.queue > session.machine.queues || self.is_taken(controller, connect.queue, key) {
            return refuse(Field::QUEUE);
        }
        if !session.machine.is_ready() {
            return Err(Completion::of(connect.command, Status::SEQUENCE_ERROR));
        }
        let hosted = session.hosted.expect("only such controllers are found");
        let last_data = match connect.flow_control {
            FlowControl::On => DataEnd::Last,
            FlowControl::Off => DataEnd::Success,
        };
        let id = session.machine.id;
        if let Some(queue) = self.queues.get_mut(key) {
            queue.stage = Stage::Io(IoQueue {
                controller,
                hosted,
                admission: Admission::Idle,
                transfers: Transfers::new(connect.entries),
                filling: None,
                requests: 0,
                last_data,
            });
        }
        Ok(id)
    }

    /// Whether another queue of the controller has this number, and the right to it.
    pub(super) fn is_taken(&self, controller: Key, number: u16, by_other_than: Key) -> bool {
        self.queues.iter().any(|(key, queue)| match &queue.stage {
            Stage::Io(it) => {
                it.controller == controller
                    && queue.number() == number
                    && !queue.is_locked()
                    && key != by_other_than
            }
            Stage::Greeting | Stage::Admin { .. } | Stage::Leaving => false,
        })
    }

    /// Ends connections that lead nowhere and controllers whose initiator is silent, and notes
    /// when to come again.
    pub(crate) fn tick(&mut self, kit: &mut Kit) {
        match self.waiting.tick(kit) {
            Tick::NotYet => return,
            Tick::Due => {}
            Tick::DueInCrowd => self.judge_stalls(kit),
        }
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            let Some(queue) = self.queues.get(key) else { continue };
            if kit.now >= queue.deadline {
                let late = match (&queue.stage, &queue.proving) {
                    (Stage::Leaving, _) => "take the last answer",
                    (_, Some(_)) => "prove itself",
                    (_, None) => "connect",
                };
                log!(Info, Scope::NODE, "an initiator was let go: it did not {late} in time");
                self.close(key, "it did not prove itself in time", kit);
            } else {
                self.waiting.come_by(queue.deadline);
            }
        }
        for index in 0..self.controllers.end() {
            let Some(key) = self.controllers.key_at(index) else { continue };
            let Some(session) = self.controllers.get(key) else { continue };
            if kit.now >= session.gone_at() {
                self.end_controller(key, "its initiator has been silent for too long", kit);
            } else if let Some((losses, until)) = session.reads_until
                && kit.now >= until
            {
                self.open_path(key, losses);
                // What it dropped it may find anew.
                self.tell_of_names(key);
                self.note_deadline(key);
            } else {
                self.waiting.come_by(session.deadline());
            }
        }
    }
}
