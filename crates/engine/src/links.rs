//! Links: one to each other node, over which the resources of the pair talk.
//!
//! A link dials (the node whose label sorts first) or is dialled, says HELLO, opens its resources
//! ([`session`]), and keeps the pair alive ([`heartbeat`]). It has one connection ([`connection`])
//! for each pair of shards with a lane in common, and is up while all of them are ([`set`]); each
//! shard has its own ends of them. What arrives becomes [`Fact`]s, in the order of arrival, that
//! the shard hands on; what is to go out waits in a queue and leaves in one send per turn and
//! connection ([`send`]).
//!
//! Who dials is let in at the node's addresses, as soon as the machine has them ([`listening`]).
//! Where a peer is reached over several paths ([`paths`]), each of them is watched by a connection
//! of its own ([`watch`]), and a set whose path died is made anew over one that lives before the
//! resources hear of a loss ([`moves`]).
//!
//! Bytes of a peer are checked here and never reach an assert: garbage closes the connection.

mod stage;
pub(crate) mod away;
pub(crate) mod connection;
pub(crate) mod paths;
mod attempts;
pub mod listening;
pub(crate) mod path_state;
pub(crate) mod watch;
mod moves;
pub(crate) mod times;
mod probe;
mod receive;
mod send;
pub(crate) mod buffers;
pub(crate) mod secure;
pub(crate) mod news;
pub(crate) mod set;
pub(crate) mod session;
mod disk_trouble;
pub(crate) mod proof;
mod active;
pub(crate) mod heartbeat;
#[cfg(test)]
mod fixture;

use std::collections::VecDeque;
use std::io as stdio;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use config::host_name::{Ambiguous, is_same_host, meant};
use format::frame::{Message, PayloadRef};
use format::ids::{BootId, NodeId, Nonce, ResourceId};
use format::message::{
    DiskFailed, Heartbeat, LeaseRequest, LinkClass, LinkMessage, ResourceMessage,
};
use io::SocketId;
use replication::contract::{Parting, Payload, PeerReport};
use stdx::time::Time;

use crate::definition::link::{LinkTimes, Path, Secrecy};
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{
    DIAL_BACKOFF_MIN, STRANGERS_MAX, TURNED_AWAY_LOG_INTERVAL, TURNED_AWAY_LOGGED_MAX,
};
use crate::links::active::{Actives, Opened, Settled};
use crate::links::away::Away;
use crate::links::connection::Connection;
use crate::links::listening::Listener;
use crate::links::news::LinkNews;
use crate::links::path_state::PathState;
use crate::links::paths::{Named, Target};
use crate::links::session::Session;
use crate::links::stage::Stage;
use crate::log::{Scope, log};
use crate::slab::{Key, Slab};
use crate::tls::credentials::Credentials;

/// Kinds of the reactor's tokens that belong to links.
pub(crate) const TOKEN_CONNECTION: u8 = 1;
pub(crate) const TOKEN_LISTENER: u8 = 2;

/// The shard that leads the sets of connections, and listens for peers.
pub const LEAD: u8 = 0;

/// A connection of a link, by the peer's shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) link: usize,
    pub(crate) shard: u8,
}

/// The handles of one session: what our messages carry, and what the peer's do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handles {
    pub(crate) ours: u32,
    pub(crate) theirs: u32,
    /// Of connections: a peer that starts anew begins to count its handles anew.
    pub(crate) set: u64,
}

/// What a link has to say to the shard.
#[derive(Debug)]
pub(crate) enum Fact {
    Message {
        hosted: HostedId,
        from: NodeId,
        message: ResourceMessage,
        payload: Option<Payload>,
    },
    /// At the home of the resource: both sides opened it.
    Up {
        hosted: HostedId,
        peer: NodeId,
        handles: Handles,
        report: Box<PeerReport>,
    },
    Down {
        hosted: HostedId,
        peer: NodeId,
        handles: Handles,
        parting: Parting,
    },
    /// At the home of the resource: this handle of the peer leads to nobody, or not any more.
    Void {
        link: usize,
        set: u64,
        handle: u32,
    },
    /// At the home of the resource: why the disk of the peer is out of use.
    DiskFailed {
        hosted: HostedId,
        peer: NodeId,
        failed: Box<DiskFailed>,
    },
    /// A path to a member of the resource works again, or does not any more.
    PathChanged {
        hosted: HostedId,
    },
    /// Our OPEN is due: answer with `Links::open`.
    OpenDue {
        hosted: HostedId,
        peer: NodeId,
    },
    /// Our heartbeat is due: answer with `Links::send_heartbeat`.
    HeartbeatDue {
        way: Way,
    },
    Heartbeat {
        way: Way,
        heartbeat: Heartbeat,
    },
    Lease {
        hosted: HostedId,
        peer: NodeId,
        nonce: Nonce,
        sent_at: Time,
        granted: bool,
    },
}

/// This node, as HELLO tells it.
#[derive(Clone, Debug)]
pub struct Identity {
    pub name: String,
    pub boot_id: BootId,
    pub start_count: u64,
    pub shards: u8,
}

#[derive(Debug)]
pub(crate) struct Links {
    me: u8,
    identity: Identity,
    /// What this node proves itself with, where it has something.
    credentials: Option<Arc<Credentials>>,
    listeners: Vec<Listener>,
    links: Vec<Link>,
    connections: Slab<Connection>,
    facts: VecDeque<Fact>,
    /// For other shards, by number; the shard hands them on before all that it says itself later.
    news: VecDeque<(u8, LinkNews)>,
    /// What was logged of whom no link misses: where it came from, why it was turned away, when.
    turned_away: VecDeque<(IpAddr, String, Time)>,
    /// Memory for the lease requests of the next heartbeat that arrives.
    spare_requests: Vec<LeaseRequest>,
    /// Some connection found no free buffer to receive into.
    starved: bool,
    /// A resource has, or had, a disk here: what arrives is to lie as disks need it.
    has_disks: bool,
    /// Something changed that `tick` has to look at.
    is_due: bool,
}

/// The pair of this node and one other.
#[derive(Debug)]
struct Link {
    /// As the resources name the peer, with the domain where one of them has it.
    name: String,
    /// As it called itself last; it may have left the domain out.
    called: Option<String>,
    /// The ways to the peer, in order of preference.
    targets: Vec<Target>,
    /// Some target is to be watched, or is.
    has_watches: bool,
    /// As the resources that use it say.
    secrecy: Secrecy,
    /// When it was up last, or was made; of no meaning while it is up.
    down_since: Time,
    /// The paths that each resource names.
    named: Vec<Named>,
    /// What is known of those that are watched, on every shard.
    path_states: Vec<(Path, PathState)>,
    /// The times that each resource asks for.
    asked: Vec<LinkTimes>,
    /// Attempts on any path, and how many there had been when one succeeded, or at the last rest.
    attempts: u64,
    round_from: u64,
    dial_at: Time,
    /// A lost set is not dialled anew without a rest before.
    at_once_from: Time,
    backoff: Duration,
    /// Why it is not up: what failed last.
    failure: Option<Away>,
    /// The failure that was logged last of those whose path is not known.
    failure_elsewhere: Option<String>,
    boot_id: Option<BootId>,
    start_count: u64,
    peer_shards: u8,
    peer_features: u64,
    /// It takes connections that watch a path.
    takes_watches: bool,
    /// Number of the set of connections that is up, or comes up.
    set: u64,
    is_up: bool,
    /// Sessions of the set before are held for the next one until then.
    moving_until: Option<Time>,
    /// At shard 0: pairs of shards whose connection is not up yet, and how long it may take.
    missing: Vec<(u8, u8)>,
    join_until: Time,
    /// At shard 0: the path on which the set was dialled from here.
    dialled: Option<Path>,
    /// The paths that the set uses, as far as they are known; that of the shards 0 comes first.
    used: Vec<Path>,
    /// By the peer's shard.
    pipes: Vec<Pipe>,
    /// Of resources that are at home on this shard.
    sessions: Vec<Session>,
    /// No session that is not open has to be looked at before.
    opens_from: Time,
    /// The count of the handle of the next OPEN.
    next_handle: u32,
    /// OPENs of ours that hold no longer, while the peer's answer is to come: one of a resource.
    given_up: Vec<(ResourceId, u32)>,
    /// Of all resources that are connected.
    actives: Actives,
    settled: Settled,
    /// At the homes of resources.
    opened: Opened,
}

/// This shard's end of the connection with one shard of the peer.
#[derive(Debug)]
struct Pipe {
    connection: Option<Key>,
    queue: VecDeque<Queued>,
    heart: heartbeat::Heart,
    sends: u64,
    proving: proof::Proving,
}

impl Pipe {
    fn new() -> Self {
        Self {
            connection: None,
            queue: VecDeque::with_capacity(256),
            heart: heartbeat::Heart::default(),
            sends: 0,
            proving: proof::Proving::default(),
        }
    }

    /// Forgets what was to be sent.
    fn clear(&mut self, kit: &mut Kit) {
        while let Some(queued) = self.queue.pop_front() {
            if let Some((payload, _)) = queued.payload {
                kit.release(payload);
            }
        }
    }
}

/// A message that waits for the next send. The payload is a reference of the queue's own.
#[derive(Debug)]
struct Queued {
    /// 0 of a message of the link itself.
    handle: u32,
    message: Message,
    payload: Option<(Payload, PayloadRef)>,
}

impl Links {
    pub(crate) fn new(identity: Identity, me: u8) -> Self {
        Self {
            me,
            identity,
            credentials: None,
            listeners: Vec::new(),
            links: Vec::new(),
            connections: Slab::default(),
            facts: VecDeque::with_capacity(1024),
            news: VecDeque::new(),
            turned_away: VecDeque::new(),
            spare_requests: Vec::new(),
            starved: false,
            has_disks: false,
            is_due: false,
        }
    }

    /// Whether this shard listens for peers and dials them.
    pub(crate) fn leads(&self) -> bool {
        self.me == LEAD
    }

    /// A resource with a disk on this node comes up. Connections that are up already stay as they
    /// are: what arrives over them may have to be copied before it is written.
    pub(crate) fn note_disk(&mut self) {
        self.has_disks = true;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Whether `tick` is to come at once, and no more.
    pub(crate) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.is_due)
    }

    pub(crate) fn has_fact(&self) -> bool {
        !self.facts.is_empty()
    }

    pub(crate) fn pop_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// News for the links of another shard.
    pub(crate) fn pop_news(&mut self) -> Option<(u8, LinkNews)> {
        self.news.pop_front()
    }

    /// The link to the node that calls itself so.
    fn link_called_so(&self, name: &str) -> Result<Option<usize>, Ambiguous> {
        let needed = (0..self.links.len()).filter(|index| !self.links[*index].is_unused());
        let index = meant(name, needed, |index| [self.links[*index].name.as_str()])?;
        Ok(index.or_else(|| self.link_to(name)))
    }

    /// The link to the node of this name: one that a resource needs, if there is one.
    fn link_to(&self, name: &str) -> Option<usize> {
        let is_meant = |link: &Link| is_same_host(&link.name, name);
        let needed = self.links.iter().position(|link| is_meant(link) && !link.is_unused());
        needed.or_else(|| self.links.iter().position(is_meant))
    }

    fn link_named(&mut self, name: &str, now: Time) -> usize {
        self.link_to(name).unwrap_or_else(|| {
            self.links.push(Link::new(name.to_owned(), now));
            self.links.len() - 1
        })
    }

    /// Does what time asks for, and says when to come again.
    pub(crate) fn tick(&mut self, kit: &mut Kit) -> Time {
        let mut next = Time::NEVER;
        self.beat_if_due(kit.now);
        for index in 0..self.links.len() {
            let link = &self.links[index];
            let is_wanted = self.me == LEAD && !link.targets.is_empty() && self.dials(index);
            if is_wanted && !link.has_connection() {
                next = next.min(self.dial(index, kit));
            }
            next = next.min(self.check_set(index, kit)).min(self.tick_connected(index, kit));
            next = next.min(self.tick_watches(index, kit)).min(self.tick_moves(index, kit));
        }
        next.min(self.tick_listeners(kit)).min(self.expire_strangers(kit))
    }

    /// Closes connections that did not say who they are.
    fn expire_strangers(&mut self, kit: &mut Kit) -> Time {
        let mut next = Time::NEVER;
        for index in 0..self.connections.end() {
            let Some(key) = self.connections.key_at(index) else { continue };
            let connection = self.connections.get(key).expect("a key of this slab");
            if connection.stage == Stage::Up {
                continue;
            }
            let deadline = connection.deadline;
            if kit.now >= deadline {
                if let (Some(index), Some(path)) = (connection.link, connection.path) {
                    self.links[index].note_silent(path);
                }
                let late = Away::late_at(connection.stage, connection.path);
                let reason = self.lost_large(key, kit);
                let reason = reason.unwrap_or(late);
                self.close_connection(key, &reason, kit);
            } else {
                next = next.min(deadline);
            }
        }
        next
    }

    pub(crate) fn on_accepted(&mut self, socket: SocketId, kit: &mut Kit) {
        let remote = kit.reactor.peer_addr(socket).map(|remote| remote.ip());
        let of_peer =
            remote.is_some_and(|remote| self.links.iter().any(|link| link.is_reached_at(remote)));
        let alike = |it: &(Key, &Connection)| it.1.link.is_none() && it.1.of_peer == of_peer;
        let oldest = self.connections.iter().filter(alike).min_by_key(|it| it.1.deadline);
        let oldest = oldest.map(|(key, _)| key);
        if self.connections.iter().filter(alike).count() >= STRANGERS_MAX {
            if of_peer {
                // Many peers that come at once would else push each other out before any is done.
                kit.reactor.close(socket);
                return;
            }
            if let Some(oldest) = oldest {
                self.close_connection(oldest, &Away::CrowdedOut, kit);
            }
        }
        self.is_due = true;
        let mut connection = Connection::new(None, 0, Stage::AwaitHello, kit.now);
        connection.socket = Some(socket);
        connection.of_peer = of_peer;
        let key = self.connections.insert(connection);
        self.start_receive(key, kit);
    }

    pub(crate) fn on_connected(&mut self, key: Key, result: stdio::Result<()>, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let remote = connection.socket.and_then(|socket| kit.reactor.peer_addr(socket));
        if let Err(error) = result {
            let reason = Away::Connect { remote, error: (&error).into() };
            self.close_connection(key, &reason, kit);
            return;
        }
        match self.begin(key, kit) {
            Ok(()) => self.start_receive(key, kit),
            Err(reason) => self.close_connection(key, &reason, kit),
        }
    }

    /// The side that dialled says who it is.
    fn say_hello(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.stage = Stage::AwaitWelcome;
        let (shard, class) = (connection.shard, connection.class);
        let hello = self.greet(key, shard, class);
        self.send_alone(key, &LinkMessage::Hello(Box::new(hello)), kit);
    }

    /// Ends a connection; if it was its link's, the whole set ends.
    pub(crate) fn close_connection(&mut self, key: Key, reason: &Away, kit: &mut Kit) {
        let Some(mut connection) = self.connections.remove(key) else { return };
        self.is_due = true;
        let refusal = connection.refusal.take();
        let was_said = refusal.is_some();
        let reason = refusal.as_ref().unwrap_or(reason);
        let (link, shard, connection_class) = (connection.link, connection.shard, connection.class);
        let ends = connection.ends(kit);
        connection.dispose(kit);
        let Some(index) = link else {
            if !was_said {
                self.note_stranger(ends, reason, kit);
            }
            return;
        };
        if connection_class == LinkClass::Watch {
            return self.lose_watch(index, key, reason, kit);
        }
        let pipe = self.links[index].pipe_mut(shard);
        if pipe.connection == Some(key) {
            pipe.connection = None;
            pipe.clear(kit);
            self.lose_set(index, reason, kit);
        }
    }

    /// Says why one who came over this path was turned away: it may be a peer that is missing.
    fn note_stranger(&mut self, ends: Option<Path>, reason: &Away, kit: &mut Kit) {
        let missing = ends.and_then(|(_, remote)| self.missing_at(remote.ip()));
        match (missing, ends) {
            (Some(index), Some((local, remote))) => {
                let path = self.links[index].path_of(local, remote.ip());
                self.note_failure(index, path, reason);
            }
            (_, Some((_, remote))) if !self.is_news(remote.ip(), &reason.to_string(), kit.now) => {}
            _ => log!(Warning, Scope::NODE, "a connection was closed: {reason}"),
        }
    }

    /// Whether nobody from there was turned away for this lately: whoever it is dials again.
    fn is_news(&mut self, address: IpAddr, reason: &str, now: Time) -> bool {
        let is_same = |known: &(IpAddr, String, Time)| known.0 == address && known.1 == reason;
        if let Some(place) = self.turned_away.iter().position(is_same) {
            if now < self.turned_away[place].2 + TURNED_AWAY_LOG_INTERVAL {
                return false;
            }
            self.turned_away.remove(place);
        } else if self.turned_away.len() == TURNED_AWAY_LOGGED_MAX {
            self.turned_away.pop_front();
        }
        self.turned_away.push_back((address, reason.to_owned(), now));
        true
    }

    /// Sends so far, for each peer.
    pub(crate) fn sends(&self) -> impl Iterator<Item = (&str, u64)> {
        let sends = |link: &Link| link.pipes.iter().map(|pipe| pipe.sends).sum();
        self.links.iter().map(move |link| (link.name.as_str(), sends(link)))
    }

    /// Whether the link of this peer is up, and what failed last if it is not.
    pub(crate) fn peer_state(&self, peer_name: &str) -> (bool, Option<&Away>) {
        let Some(index) = self.link_to(peer_name) else { return (false, None) };
        let link = &self.links[index];
        (link.is_up, link.failure.as_ref())
    }

    /// Since when the link of this peer is not up; `None` while it is.
    pub(crate) fn peer_down_since(&self, peer_name: &str) -> Option<Time> {
        let link = &self.links[self.link_to(peer_name)?];
        (!link.is_up).then_some(link.down_since)
    }
}

impl Link {
    fn new(name: String, now: Time) -> Self {
        Self {
            name,
            called: None,
            targets: Vec::new(),
            has_watches: false,
            down_since: now,
            named: Vec::new(),
            path_states: Vec::new(),
            secrecy: Secrecy::default(),
            asked: Vec::new(),
            attempts: 0,
            round_from: 0,
            dial_at: now,
            at_once_from: now,
            backoff: DIAL_BACKOFF_MIN,
            failure: None,
            failure_elsewhere: None,
            boot_id: None,
            start_count: 0,
            peer_shards: 1,
            peer_features: 0,
            takes_watches: false,
            set: 0,
            is_up: false,
            moving_until: None,
            missing: Vec::new(),
            join_until: Time::NEVER,
            dialled: None,
            used: Vec::new(),
            pipes: Vec::new(),
            sessions: Vec::new(),
            opens_from: Time::NEVER,
            next_handle: 1,
            given_up: Vec::new(),
            actives: Actives::default(),
            settled: Settled::default(),
            opened: Opened::default(),
        }
    }

    fn has_connection(&self) -> bool {
        self.pipes.iter().any(|pipe| pipe.connection.is_some())
    }

    /// The place of the connection with a shard of the peer.
    fn pipe_mut(&mut self, shard: u8) -> &mut Pipe {
        let place = usize::from(shard);
        if self.pipes.len() <= place {
            self.pipes.resize_with(place + 1, Pipe::new);
        }
        &mut self.pipes[place]
    }
}
