//! The NVMe/TCP front end: initiators from accept to goodbye.
//!
//! ```text
//! accept -> greeting, Connect -> admin queue of a new controller  \  one failure or nonsense
//!                             -> I/O queue of a controller        /  ends all
//!                             (each proves itself first, where hosts have to)
//! closed by the initiator:     an I/O queue goes alone, the admin queue takes all with it
//! a command of an I/O queue:   path optimized   -> the core
//!                              non-optimized    waits until this node is Primary, or is refused
//!                              inaccessible     is sent back, for another path
//! ```
//!
//! A connection does not make this node Primary: initiators connect to every node. The first
//! command does, where nobody else serves the volume; from then on the queue counts as a client.
//! When the node is Primary no more, every command of such a queue that the core still has is
//! sent back: the initiator gives it to the node that comes next, whose seal shuts the late ones
//! out.
//!
//! What a queue asks becomes [`Fact`]s for the shard, as with NBD. An initiator's bytes are
//! checked here and in `frontend` and never reach an assert: nonsense ends its controller.

mod queue;
pub mod hosts;
mod proving;
mod admin;
mod requests;
mod room;
mod answers;
mod work;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::io as stdio;
use std::sync::Arc;

use api::status::Holder;
use format::space::Place;
use frontend::nvme::controller::Event;
use frontend::nvme::view::{Path, Subsystem};
use io::{ListenAddr, SocketId};
use stdx::time::Time;

use crate::clients::fact::Fact;
use crate::clients::nvme::admin::Session;
use crate::clients::nvme::hosts::HostCheck;
use crate::clients::nvme::queue::{Admission, IoQueue, Queue, Stage};
use crate::clients::nvme::work::IoRequest;
use crate::clients::waiting::{WaitingRoom, Wake};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{NVME_QUEUES_MAX, NVME_QUEUES_SURPLUS_MAX};
use crate::log::{Scope, log};
use crate::slab::{Key, Slab};

pub(crate) use crate::clients::nvme::requests::namespace_of;

/// Kinds of the reactor's tokens that belong to initiators.
pub(crate) const TOKEN_INITIATOR: u8 = 9;
pub(crate) const TOKEN_LISTENER: u8 = 10;

/// A resource as initiators may see it.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) hosted: HostedId,
    pub(crate) subsystem: Subsystem,
}

/// An initiator, which has all volumes of a resource open.
#[derive(Debug)]
pub(crate) struct HolderOfAll {
    holder: Holder,
    /// Not answered yet, by the number of the volume's place.
    requests: BTreeMap<u8, u32>,
}

impl HolderOfAll {
    /// As one of this volume.
    pub(crate) fn at(&self, place: Place) -> Holder {
        let requests = self.requests.get(&place.number()).copied().unwrap_or(0);
        Holder { requests, ..self.holder.clone() }
    }
}

#[derive(Debug)]
pub(crate) struct Nvme {
    listeners: Vec<SocketId>,
    queues: Slab<Queue>,
    /// How many of them came when `NVME_QUEUES_MAX` others were here.
    surplus: usize,
    /// That initiators are refused was said; until a connection or a controller is gone.
    is_full_told: bool,
    controllers: Slab<Session>,
    requests: Slab<IoRequest>,
    /// In order of name, kept up to date by the homes of the resources.
    offers: Vec<Offer>,
    /// How often what is offered changed.
    changes: u64,
    facts: VecDeque<Fact>,
    waiting: WaitingRoom,
    /// Controllers with requests that wait for room for their data.
    turns: VecDeque<Key>,
    /// Some of these have room, and found no buffer.
    lacks_buffer: bool,
    /// Requests of queues that are gone, of which the core has something.
    orphans: usize,
    /// Requests that failed: the end of this node's reign may turn out to be why.
    doubtful: VecDeque<(Time, Key)>,
    next_controller: u16,
    /// Hosts have to prove themselves.
    host_check: Option<Arc<HostCheck>>,
    /// One more for each step of a proof that is elsewhere.
    jobs: Arc<()>,
}

impl Nvme {
    pub(crate) fn new() -> Self {
        Self {
            listeners: Vec::new(),
            queues: Slab::default(),
            surplus: 0,
            is_full_told: false,
            controllers: Slab::default(),
            requests: Slab::default(),
            offers: Vec::new(),
            changes: 0,
            facts: VecDeque::with_capacity(1024),
            waiting: WaitingRoom::new(),
            turns: VecDeque::new(),
            lacks_buffer: false,
            orphans: 0,
            doubtful: VecDeque::new(),
            // After a restart, other ids than before: an initiator may still know those.
            next_controller: io::random_u64().to_le_bytes()[0].into(),
            host_check: None,
            jobs: Arc::new(()),
        }
    }

    pub(crate) fn requests_in_progress(&self) -> usize {
        self.requests.len() - self.orphans
    }

    pub(crate) fn listen(&mut self, address: ListenAddr, kit: &mut Kit) -> stdio::Result<()> {
        let socket = kit.reactor.listen(address, u64::from(TOKEN_LISTENER) << 56)?;
        self.listeners.push(socket);
        Ok(())
    }

    pub(crate) fn stop_listening(&mut self, kit: &mut Kit) {
        for socket in self.listeners.drain(..) {
            kit.reactor.close(socket);
        }
    }

    pub(crate) fn has_fact(&self) -> bool {
        !self.facts.is_empty()
    }

    pub(crate) fn pop_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// Offers a resource, or changes its offer, and tells those who want to hear of it.
    pub(crate) fn offer(&mut self, offer: Offer) {
        let name = offer.subsystem.name.as_str();
        match self.offers.binary_search_by(|known| known.subsystem.name.as_str().cmp(name)) {
            Ok(place) => {
                let old = std::mem::replace(&mut self.offers[place], offer);
                let new = &self.offers[place].subsystem;
                let has_resized = old.subsystem.namespaces != new.namespaces
                    || old.subsystem.losses != new.losses;
                let has_moved = old.subsystem.changes != new.changes;
                if has_resized {
                    self.announce(Some(old.hosted), Event::Namespace);
                }
                if has_moved {
                    self.announce(Some(old.hosted), Event::Path);
                }
                self.mark_all_of(old.hosted);
            }
            Err(place) => {
                self.offers.insert(place, offer);
                self.changes += 1;
                self.announce(None, Event::Discovery);
            }
        }
    }

    /// The resource is not to be had here any more.
    pub(crate) fn withdraw(&mut self, hosted: HostedId, kit: &mut Kit) {
        let before = self.offers.len();
        self.offers.retain(|offer| offer.hosted != hosted);
        if self.offers.len() == before {
            return;
        }
        self.changes += 1;
        self.announce(None, Event::Discovery);
        for index in 0..self.controllers.end() {
            let Some(key) = self.controllers.key_at(index) else { continue };
            if self.controllers.get(key).is_some_and(|it| it.hosted == Some(hosted)) {
                self.end_controller(key, "the resource goes down", kit);
            }
        }
    }

    /// The resource is Primary here: everybody who waits for it is served.
    pub(crate) fn admit(&mut self, hosted: HostedId) {
        self.each_of(hosted, |it| {
            if it.admission == Admission::Waiting {
                it.admission = Admission::Admitted;
            }
        });
        self.mark_all_of(hosted);
    }

    /// This node could not become Primary: who waits for it is sent to another one.
    pub(crate) fn refuse(&mut self, hosted: HostedId) {
        if let Some(offer) = self.offers.iter_mut().find(|offer| offer.hosted == hosted) {
            offer.subsystem.path = Path::Inaccessible;
        }
        self.stop_waiting(hosted, Admission::Waiting);
        self.mark_all_of(hosted);
    }

    /// This node is not Primary any more: what was asked is sent to another one.
    pub(crate) fn end_sessions(&mut self, hosted: HostedId, kit: &mut Kit) {
        if let Some(offer) = self.offers.iter_mut().find(|offer| offer.hosted == hosted) {
            offer.subsystem.path = Path::Inaccessible;
        }
        self.send_back(hosted, kit);
        self.stop_waiting(hosted, Admission::Admitted);
        self.mark_all_of(hosted);
    }

    /// Queues in this state are clients no more.
    fn stop_waiting(&mut self, hosted: HostedId, state: Admission) {
        let mut count = 0_usize;
        self.each_of(hosted, |it| {
            if it.admission == state {
                it.admission = Admission::Idle;
                count += 1;
            }
        });
        self.facts.extend((0..count).map(|_| Fact::Left { hosted }));
    }

    fn each_of(&mut self, hosted: HostedId, mut change: impl FnMut(&mut IoQueue)) {
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            if let Some(Queue { stage: Stage::Io(it), .. }) = self.queues.get_mut(key)
                && it.hosted == hosted
            {
                change(it);
            }
        }
    }

    fn mark_all_of(&mut self, hosted: HostedId) {
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            let is_meant = self.queues.get(key).is_some_and(|queue| match &queue.stage {
                Stage::Io(it) => it.hosted == hosted,
                Stage::Greeting | Stage::Admin { .. } | Stage::Leaving => false,
            });
            if is_meant {
                self.mark(key);
            }
        }
    }

    /// Queues that asked for something.
    fn users(&self) -> impl Iterator<Item = &IoQueue> {
        let io = self.queues.iter().filter_map(|(_, queue)| match &queue.stage {
            Stage::Io(io) => Some(io),
            Stage::Greeting | Stage::Admin { .. } | Stage::Leaving => None,
        });
        io.filter(|io| io.admission != Admission::Idle)
    }

    /// Queues of this resource that this node serves, or is to.
    pub(crate) fn clients_of(&self, hosted: HostedId) -> usize {
        self.users().filter(|io| io.hosted == hosted).count()
    }

    /// Resources that initiators use here, each as often as there are queues for it.
    pub(crate) fn open(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
    ) -> impl Iterator<Item = HostedId> {
        self.users().map(|io| io.hosted).filter(move |hosted| is_meant(*hosted))
    }

    /// Initiators that have a resource open here, which is all of its volumes.
    pub(crate) fn holders(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
        kit: &Kit,
    ) -> impl Iterator<Item = (HostedId, HolderOfAll)> {
        let mut busy: BTreeMap<Key, BTreeMap<u8, u32>> =
            self.users().map(|io| (io.controller, BTreeMap::new())).collect();
        for (_, request) in self.requests.iter().filter(|(_, it)| !it.is_orphan) {
            let Some(of_controller) = busy.get_mut(&request.controller) else { continue };
            *of_controller.entry(request.place.number()).or_default() += 1;
        }
        self.controllers.iter().filter_map(move |(key, session)| {
            let hosted = session.hosted.filter(|hosted| is_meant(*hosted))?;
            let requests = busy.get(&key)?.clone();
            let socket = self.queues.get(session.queue)?.socket;
            let address = kit.reactor.peer_addr(socket).map(|address| address.to_string());
            let holder = Holder { address, pid: None, command: None, requests: 0 };
            Some((hosted, HolderOfAll { holder, requests }))
        })
    }

    /// The volume of each request that is not answered.
    pub(crate) fn requests_in_flight(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
    ) -> impl Iterator<Item = (HostedId, Place)> {
        let requests = self.requests.iter().filter(|(_, it)| !it.is_orphan);
        requests.map(|(_, it)| (it.hosted, it.place)).filter(move |(hosted, _)| is_meant(*hosted))
    }

    pub(crate) fn on_accepted(&mut self, socket: SocketId, kit: &mut Kit) {
        let is_surplus = self.queues.len() - self.surplus >= NVME_QUEUES_MAX;
        if is_surplus {
            let text = format!("has {NVME_QUEUES_MAX} connections of initiators");
            self.tell_full(&text);
            if self.surplus >= NVME_QUEUES_SURPLUS_MAX {
                // So many are being told already: it learns it from the end of its connection.
                kit.reactor.close(socket);
                return;
            }
        }
        self.surplus += usize::from(is_surplus);
        let mut queue = Queue::new(socket, kit.now);
        queue.is_surplus = is_surplus;
        self.waiting.come_by(queue.deadline);
        let key = self.queues.insert(queue);
        self.mark(key);
    }

    /// Says once why initiators are refused.
    fn tell_full(&mut self, what: &str) {
        if !std::mem::replace(&mut self.is_full_told, true) {
            log!(
                Warning,
                Scope::NODE,
                "NVMe/TCP initiators are refused: a data thread of this node {what}, which is as \
                 many as it serves: disconnect one, have hosts use fewer queues \
                 (--nr-io-queues), or use another node"
            );
        }
    }

    /// One send for each queue with something to say, and another look at those that waited.
    pub(crate) fn flush(&mut self, kit: &mut Kit) {
        let has_asked = !self.turns.is_empty() || !self.doubtful.is_empty();
        let wake = self.waiting.wake(kit);
        if wake == Wake::Nobody && !has_asked {
            return;
        }
        self.judge_doubtful(kit);
        self.retry_stalled(kit);
        self.grant(kit);
        let (mut line, _) = self.waiting.line_up(wake, &self.queues);
        for key in line.drain(..) {
            if let Some(queue) = self.queues.get_mut(key) {
                queue.is_dirty = false;
                self.proceed(key, kit);
            }
            let Some(queue) = self.queues.get_mut(key) else { continue };
            queue.outbox.submit(queue.socket, key.token(TOKEN_INITIATOR), kit);
            if matches!(queue.stage, Stage::Leaving) && queue.outbox.is_empty() {
                self.close(key, "", kit);
            }
        }
        self.waiting.put_away(line);
    }

    /// Whether a queue waits for the next turn without an event of its own.
    pub(crate) fn is_waiting(&self, kit: &Kit) -> bool {
        self.waiting.is_waiting(kit)
    }

    /// A queue waits for a buffer, or a request does.
    pub(crate) fn is_starved(&self) -> bool {
        self.waiting.is_starved || self.lacks_buffer
    }

    fn mark(&mut self, key: Key) {
        if let Some(queue) = self.queues.get_mut(key) {
            self.waiting.mark(key, &mut queue.is_dirty);
        }
    }

    pub(crate) fn on_sent(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        let before = queue.outbox.unsent().data;
        queue.outbox.finish(kit);
        let sent = before - queue.outbox.unsent().data;
        if let Stage::Io(it) = &queue.stage
            && let Some(session) = self.controllers.get_mut(it.controller)
        {
            session.unsent -= sent;
        }
        match result {
            Ok(_) => self.mark(key),
            Err(error) => self.close(key, &format!("cannot send: {error}"), kit),
        }
    }

    pub(crate) fn on_received(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(queue) = self.queues.get_mut(key) else { return };
        match result {
            // It may give its queues up one by one, and shut the controller down after the last.
            Ok(0) if matches!(queue.stage, Stage::Io(_)) => self.drop_queue(key, kit),
            Ok(0) => self.close(key, "the initiator closed its connection", kit),
            Err(error) => self.close(key, &format!("connection lost: {error}"), kit),
            Ok(length) => {
                queue.on_bytes(length, kit);
                self.proceed(key, kit);
            }
        }
    }

    /// Takes what the initiator sent as far as it goes, then receives more.
    fn proceed(&mut self, key: Key, kit: &mut Kit) {
        let Some(queue) = self.queues.get(key) else { return };
        match queue.stage {
            Stage::Greeting => self.step_admin(key, kit),
            Stage::Admin { controller } => {
                self.tell_events(controller, kit);
                self.step_admin(key, kit);
            }
            Stage::Io(_) => self.step_io(key, kit),
            Stage::Leaving => return,
        }
        let token = key.token(TOKEN_INITIATOR);
        if let Some(queue) = self.queues.get_mut(key)
            && !queue.receive(token, kit)
        {
            self.waiting.is_starved = true;
        }
    }

    /// Ends a connection, and the controller that it belongs to.
    fn close(&mut self, key: Key, reason: &str, kit: &mut Kit) {
        if let Some(controller) = self.queues.get(key).and_then(Queue::ends_with_it) {
            self.end_controller(controller, reason, kit);
        }
        self.drop_queue(key, kit);
    }

    /// Ends one connection. What it asked of the core goes on; the answers find nobody.
    fn drop_queue(&mut self, key: Key, kit: &mut Kit) {
        let Some(mut queue) = self.queues.remove(key) else { return };
        kit.reactor.close(queue.socket);
        if queue.is_surplus {
            self.surplus -= 1;
        } else {
            self.is_full_told = false;
        }
        if let Stage::Io(it) = &queue.stage
            && let Some(session) = self.controllers.get_mut(it.controller)
        {
            session.unsent -= queue.outbox.unsent().data;
        }
        self.drop_requests(key, kit);
        queue.dispose(kit);
        if let Stage::Io(it) = queue.stage
            && it.admission != Admission::Idle
        {
            self.facts.push_back(Fact::Left { hosted: it.hosted });
        }
    }

    fn end_controller(&mut self, key: Key, reason: &str, kit: &mut Kit) {
        let Some(session) = self.controllers.remove(key) else { return };
        for index in 0..self.queues.end() {
            let Some(queue) = self.queues.key_at(index) else { continue };
            let is_meant = self.queues.get(queue).is_some_and(|queue| match &queue.stage {
                Stage::Io(it) => it.controller == key,
                Stage::Admin { controller } => *controller == key,
                Stage::Greeting | Stage::Leaving => false,
            });
            if is_meant {
                self.drop_queue(queue, kit);
            }
        }
        if let Some(name) = &session.name {
            let id = session.machine.id;
            log!(Info, Scope::resource(name), "NVMe controller {id} ended: {reason}");
        }
    }

    pub(crate) fn deadline(&self) -> Time {
        let doubt = self.doubtful.front().map_or(Time::NEVER, |(until, _)| *until);
        self.waiting.deadline().min(doubt)
    }
}
