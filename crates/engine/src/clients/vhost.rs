//! The vhost-user front end on a shard: rings in the memory of virtual machines.
//!
//! ```text
//! a monitor's thread (`node/guests`)            shards
//! Open   -> session waits -> Primary ->  home   Admitted, or Refused
//! Start  -> kick, requests, answers  ->  the ring's shard
//! Stop   -> all answered             ->         Stopped, where it goes on
//! Close  -> nothing is touched       ->  all    Closed
//! ```
//!
//! Data is copied between the guest's memory and buffers of the pool, part by part. A guest may
//! change a buffer while it is written: what the replicas get must not change under their
//! checksum. So a write is copied in any case, once; a read lands in a buffer that peers and other
//! shards may fill as well.
//!
//! Answers of a turn are shown together, with one signal for each ring at most, which never waits
//! (a syscall, and another one for every 32nd). Whatever a guest does that it must not do ends its
//! session, with the reason, and nothing else.

pub mod addresses;
mod requests;
mod room;
mod taking;

use std::collections::VecDeque;
use std::fmt::Display;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use api::status::Holder;
use format::space::Place;
use frontend::vhost::config::{Cache, Disk, Features};
use frontend::vhost::memory::{GuestMemory, Shared};
use frontend::vhost::ring::{Chain, Ring, Signal};
use io::{Eventfd, KickId, Ringer, SharedMemory};
use replication::resource::Reign;

use crate::clients::fact::{Comer, Fact};
use crate::clients::vhost::addresses::Claim;
use crate::clients::vhost::requests::GuestRequest;
use crate::clients::vhost::room::Room;
use crate::clients::vhost::taking::Unread;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::slab::{Key, Slab};

/// Kind of the reactor's tokens that belong to rings of guests.
pub(crate) const TOKEN_RING: u8 = 7;

/// Memory that is mapped from a file of the monitor's.
#[derive(Debug)]
pub struct Window {
    memory: SharedMemory,
    /// Given back after the memory is unmapped.
    _claim: Claim,
}

impl Window {
    pub fn new(memory: SharedMemory, claim: Claim) -> Self {
        Self { memory, _claim: claim }
    }
}

impl Shared for Window {
    fn length(&self) -> u64 {
        self.memory.length()
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Option<()> {
        self.memory.read(at, into).then_some(())
    }

    fn write(&self, at: u64, from: &[u8]) -> Option<()> {
        self.memory.write(at, from).then_some(())
    }

    fn load(&self, at: u64) -> Option<u16> {
        self.memory.load(at)
    }

    fn store(&self, at: u64, value: u16) -> Option<()> {
        self.memory.store(at, value).then_some(())
    }
}

/// A number that no other session of this daemon has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionNumber(pub u64);

/// How the thread of a session is reached.
#[derive(Clone, Debug)]
pub struct Line {
    pub session: SessionNumber,
    pub news: Sender<News>,
    pub stream: Arc<UnixStream>,
}

impl Line {
    /// Whoever is told may be gone already.
    fn tell(&self, news: News) {
        drop(self.news.send(news));
    }

    pub fn refuse(&self, reason: &str) {
        self.tell(News::Refused(reason.to_owned()));
    }

    /// Ends the session: its thread finds the stream at its end, and the reason in its news.
    pub(crate) fn cut(&self, reason: String) {
        self.tell(News::Over(reason));
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

/// What the thread of a session is told.
#[derive(Debug)]
pub enum News {
    Admitted(Facts),
    Refused(String),
    /// A ring has answered everything, and goes on here.
    Stopped {
        ring: u16,
        next_available: u16,
    },
    /// A shard has done what it was asked.
    Done,
    /// A shard touches nothing of the session any more.
    Closed,
    /// The session is over, for this reason.
    Over(String),
}

/// What a session is about.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub hosted: HostedId,
    pub place: Place,
    pub size_bytes: u64,
    pub block_bytes: u32,
    pub reign: Reign,
}

/// What the threads of sessions want.
#[derive(Debug)]
pub enum GuestOrder {
    /// To the home shard: a monitor waits for the resource to be Primary.
    Open {
        resource: String,
        place: Place,
        line: Line,
        pid: Option<u32>,
    },
    /// To the shard of the ring.
    Start(Box<NewRing>),
    Stop {
        session: SessionNumber,
        ring: u16,
    },
    SetCall {
        line: Line,
        ring: u16,
        call: Option<Eventfd>,
    },
    SetMemory {
        line: Line,
        memory: Arc<GuestMemory<Window>>,
    },
    SetCache {
        line: Line,
        cache: Cache,
    },
    SetSize {
        line: Line,
        size_bytes: u64,
    },
    /// Nothing of the session is touched any more.
    Close {
        line: Line,
    },
}

/// A ring that is to be served.
#[derive(Debug)]
pub struct NewRing {
    pub hosted: HostedId,
    /// Where its volume begins in the block space.
    pub base: u64,
    pub line: Line,
    pub number: u16,
    pub ring: Ring<Window>,
    pub disk: Disk,
    /// What the guest is told when it asks for the disk's name.
    pub name: String,
    pub features: Features,
    pub cache: Cache,
    pub kick: Eventfd,
    pub call: Option<Eventfd>,
}

#[derive(Debug)]
pub struct Vhost {
    /// Of resources that are at home here.
    sessions: Vec<Session>,
    queues: Slab<Queue>,
    requests: Slab<GuestRequest>,
    facts: VecDeque<Fact>,
    /// Requests of rings that are gone, which the core has not answered yet.
    orphans: usize,
    room: Room,
    unread: Unread,
    /// Queues with answers that are not shown yet, or that are to be looked at.
    dirty: Vec<Key>,
    /// Memory of chains for requests to come.
    spare: Vec<Chain>,
    /// Made for the first ring.
    ringer: Option<Ringer>,
}

#[derive(Debug)]
struct Session {
    hosted: HostedId,
    place: Place,
    line: Line,
    pid: Option<u32>,
    is_admitted: bool,
}

#[derive(Debug)]
struct Queue {
    /// Of its session, in `room`.
    account: Key,
    hosted: HostedId,
    base: u64,
    line: Line,
    number: u16,
    ring: Ring<Window>,
    disk: Disk,
    name: String,
    features: Features,
    cache: Cache,
    kicks: Option<KickId>,
    call: Option<Eventfd>,
    is_stopping: bool,
    is_dirty: bool,
    /// It stands among those with requests that are not taken yet.
    is_unread: bool,
    /// Nothing is taken of it until there is room.
    is_paused: bool,
}

impl Default for Vhost {
    fn default() -> Self {
        Self::new()
    }
}

impl Vhost {
    pub fn new() -> Self {
        Self {
            sessions: Vec::new(),
            queues: Slab::default(),
            requests: Slab::default(),
            facts: VecDeque::with_capacity(1024),
            orphans: 0,
            room: Room::default(),
            unread: Unread::default(),
            dirty: Vec::with_capacity(64),
            spare: Vec::new(),
            ringer: None,
        }
    }

    pub(crate) fn requests_in_progress(&self) -> usize {
        self.requests.len() - self.orphans
    }

    #[cfg(test)]
    pub(crate) fn rings(&self) -> usize {
        self.queues.len()
    }

    pub(crate) fn has_fact(&self) -> bool {
        !self.facts.is_empty()
    }

    pub(crate) fn pop_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    // ---- Sessions, at the home of their resource.

    pub fn open(&mut self, (hosted, place): (HostedId, Place), line: Line, pid: Option<u32>) {
        self.sessions.push(Session { hosted, place, line, pid, is_admitted: false });
        self.facts.push_back(Fact::Wanted { hosted, by: Comer::Other });
    }

    /// The resource is Primary here: everybody who waits for this volume of it is served.
    pub fn admit(&mut self, facts: Facts) {
        for session in &mut self.sessions {
            let is_meant = (session.hosted, session.place) == (facts.hosted, facts.place);
            if is_meant && !session.is_admitted {
                session.is_admitted = true;
                session.line.tell(News::Admitted(facts));
            }
        }
    }

    /// Sends everybody away who waits for this resource.
    pub(crate) fn refuse(&mut self, hosted: HostedId, reason: &str) {
        self.sessions.retain(|session| {
            let is_meant = session.hosted == hosted && !session.is_admitted;
            if is_meant {
                session.line.tell(News::Refused(reason.to_owned()));
                self.facts.push_back(Fact::Left { hosted });
            }
            !is_meant
        });
    }

    /// Sessions of this resource that wait or are served.
    pub fn clients_of(&self, hosted: HostedId) -> usize {
        self.sessions.iter().filter(|session| session.hosted == hosted).count()
    }

    pub(crate) fn holders(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
    ) -> impl Iterator<Item = (HostedId, Place, Holder)> {
        self.sessions.iter().filter(move |session| is_meant(session.hosted)).map(|session| {
            let holder = Holder { pid: session.pid, ..Holder::default() };
            (session.hosted, session.place, holder)
        })
    }

    /// Ends all sessions of a resource: what they still asked for is not answered.
    pub(crate) fn end(&mut self, hosted: HostedId, reason: &str, kit: &mut Kit) {
        self.sessions.retain(|session| {
            let is_meant = session.hosted == hosted && session.is_admitted;
            if is_meant {
                session.line.cut(reason.to_owned());
                self.facts.push_back(Fact::Left { hosted });
            }
            !is_meant
        });
        self.remove_all(|queue| queue.hosted == hosted, kit);
    }

    pub fn close(&mut self, line: &Line, kit: &mut Kit) {
        self.remove_all(|queue| queue.line.session == line.session, kit);
        if let Some(place) = self.sessions.iter().position(|it| it.line.session == line.session) {
            let Session { hosted, .. } = self.sessions.swap_remove(place);
            self.facts.push_back(Fact::Left { hosted });
        }
        line.tell(News::Closed);
    }

    // ---- Rings.

    pub fn start_ring(&mut self, new: NewRing, kit: &mut Kit) {
        // An earlier server may have died between its last answer and the signal for it.
        if let Err(reason) = signal(&mut self.ringer, new.call.as_ref()) {
            new.line.cut(format!("ring {}: {reason}", new.number));
            return;
        }
        let NewRing { hosted, base, line, number, ring, disk, name, .. } = new;
        let NewRing { features, cache, kick, call, .. } = new;
        let account = self.room.open(line.session);
        let key = self.queues.insert(Queue {
            account,
            hosted,
            base,
            line,
            number,
            ring,
            disk,
            name,
            features,
            cache,
            kicks: None,
            call,
            is_stopping: false,
            is_dirty: false,
            is_unread: false,
            is_paused: false,
        });
        let kicks = kit.reactor.watch_kicks(kick, key.token(TOKEN_RING));
        self.queues.get_mut(key).expect("just put in").kicks = Some(kicks);
        self.on_kicked(key, kit);
    }

    pub fn stop_ring(&mut self, session: SessionNumber, ring: u16) {
        if let Some(key) = self.find(session, ring)
            && let Some(queue) = self.queues.get_mut(key)
        {
            queue.is_stopping = true;
            self.mark(key);
        }
    }

    pub fn set_call(&mut self, line: &Line, ring: u16, call: Option<Eventfd>, kit: &mut Kit) {
        if let Some(key) = self.find(line.session, ring) {
            // What was signalled to the old one meanwhile may have been lost with it.
            let signalled = signal(&mut self.ringer, call.as_ref());
            self.queues.get_mut(key).expect("just found").call = call;
            self.check(key, signalled, kit);
        }
        line.tell(News::Done);
    }

    pub(crate) fn set_memory(
        &mut self,
        line: &Line,
        memory: &Arc<GuestMemory<Window>>,
        kit: &mut Kit,
    ) {
        self.each_of(line.session, kit, |vhost, key, kit| {
            let queue = vhost.queues.get_mut(key).expect("a key of this slab");
            let set = queue.ring.set_memory(Arc::clone(memory));
            vhost.check(key, set, kit);
        });
        line.tell(News::Done);
    }

    pub(crate) fn set_cache(&mut self, line: &Line, cache: Cache, kit: &mut Kit) {
        self.each_of(line.session, kit, |vhost, key, _| {
            vhost.queues.get_mut(key).expect("a key of this slab").cache = cache;
        });
        line.tell(News::Done);
    }

    /// The volume is larger now.
    pub(crate) fn set_size(&mut self, line: &Line, size_bytes: u64, kit: &mut Kit) {
        self.each_of(line.session, kit, |vhost, key, _| {
            vhost.queues.get_mut(key).expect("a key of this slab").disk.size_bytes = size_bytes;
        });
        line.tell(News::Done);
    }

    /// Shows the guests what was answered, and ends what is to end.
    pub(crate) fn flush(&mut self, kit: &mut Kit) {
        if self.dirty.is_empty() {
            return;
        }
        let mut dirty = std::mem::take(&mut self.dirty);
        for key in dirty.drain(..) {
            let Some(queue) = self.queues.get_mut(key) else { continue };
            queue.is_dirty = false;
            let signalled = match queue.ring.publish() {
                Ok(Signal::Needed) => signal(&mut self.ringer, queue.call.as_ref()),
                Ok(Signal::Spared) => Ok(()),
                Err(broken) => Err(broken.to_string()),
            };
            if let Err(reason) = signalled {
                self.break_off(key, &reason, kit);
                continue;
            }
            if queue.is_stopping && queue.ring.taken() == 0 {
                let (ring, next_available) = (queue.number, queue.ring.next_available());
                queue.line.tell(News::Stopped { ring, next_available });
                self.remove(key, kit);
            }
        }
        self.dirty = dirty;
    }

    fn mark(&mut self, key: Key) {
        if let Some(queue) = self.queues.get_mut(key)
            && !queue.is_dirty
        {
            queue.is_dirty = true;
            self.dirty.push(key);
        }
    }

    /// Nothing that the guest asks would be heard any more: its monitor is to come back.
    pub(crate) fn on_kicks_failed(&mut self, key: Key, error: &std::io::Error, kit: &mut Kit) {
        self.break_off(key, &format!("its kicks are not heard: {error}"), kit);
    }

    fn check<E: Display>(&mut self, key: Key, result: Result<(), E>, kit: &mut Kit) {
        if let Err(reason) = result {
            self.break_off(key, &reason, kit);
        }
    }

    /// Ends a session whose other side did what it must not do, or cannot be signalled.
    fn break_off(&mut self, key: Key, reason: &dyn Display, kit: &mut Kit) {
        if let Some(queue) = self.queues.get(key) {
            queue.line.cut(format!("ring {}: {reason}", queue.number));
            self.remove(key, kit);
        }
    }

    /// Lets a ring go. Its parts in the core go on; their answers find nobody.
    fn remove(&mut self, key: Key, kit: &mut Kit) {
        let Some(queue) = self.queues.remove(key) else { return };
        let has_requests = queue.ring.taken() > 0;
        self.let_go(&queue, kit);
        if has_requests {
            self.orphan_requests(kit);
        }
    }

    fn remove_all(&mut self, is_meant: impl Fn(&Queue) -> bool, kit: &mut Kit) {
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            if self.queues.get(key).is_some_and(&is_meant)
                && let Some(queue) = self.queues.remove(key)
            {
                self.let_go(&queue, kit);
            }
        }
        self.orphan_requests(kit);
    }

    fn let_go(&mut self, queue: &Queue, kit: &mut Kit) {
        if let Some(kicks) = queue.kicks {
            kit.reactor.close_kicks(kicks);
        }
        self.room.close(queue.account);
    }

    fn each_of(
        &mut self,
        session: SessionNumber,
        kit: &mut Kit,
        mut each: impl FnMut(&mut Self, Key, &mut Kit),
    ) {
        for index in 0..self.queues.end() {
            let Some(key) = self.queues.key_at(index) else { continue };
            if self.queues.get(key).is_some_and(|queue| queue.line.session == session) {
                each(self, key, kit);
            }
        }
    }

    fn find(&self, session: SessionNumber, ring: u16) -> Option<Key> {
        let is_meant = |queue: &Queue| queue.line.session == session && queue.number == ring;
        self.queues.iter().find(|(_, queue)| is_meant(queue)).map(|(key, _)| key)
    }
}

/// Never waits, whatever the monitor does with its file.
fn signal(ringer: &mut Option<Ringer>, call: Option<&Eventfd>) -> Result<(), String> {
    let Some(call) = call else { return Ok(()) };
    let ringer = match ringer {
        Some(ringer) => ringer,
        None => ringer.insert(Ringer::new().map_err(|error| error.to_string())?),
    };
    ringer.ring(call).map_err(|error| format!("cannot signal: {error}"))
}

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;
