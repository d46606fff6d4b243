//! Links: one to each other node, over which the resources of the pair talk.
//!
//! A link dials (the node whose name sorts first) or is dialled, says HELLO, opens its resources
//! ([`session`]), and keeps the pair alive ([`heartbeat`]). A connection ([`connection`]) is one
//! TCP stream of a link; a new one of the same peer replaces the older. What arrives becomes
//! [`Fact`]s, in the order of arrival, that the shard hands on; what is to go out waits in the
//! link's queue and leaves in one send per turn ([`send`]).
//!
//! Bytes of a peer are checked here and never reach an assert: garbage closes the connection.

pub(crate) mod connection;
pub(crate) mod paths;
mod receive;
mod send;
pub(crate) mod session;
pub(crate) mod heartbeat;

use std::collections::VecDeque;
use std::io as stdio;
use std::net::SocketAddr;
use std::time::Duration;

use format::frame::{Message, PayloadRef};
use format::ids::{BootId, NodeId, Nonce};
use format::message::{Heartbeat, LeaseRequest, LinkMessage, ResourceMessage};
use io::{ListenAddr, SocketId};
use replication::contract::{Payload, PeerReport};
use stdx::time::Time;

use crate::limits::{DIAL_BACKOFF_MIN, STRANGERS_MAX};
use crate::links::connection::{Connection, Stage};
use crate::links::paths::Target;
use crate::links::session::Session;
use crate::log::{Scope, log};
use crate::payloads::Kit;
use crate::slab::{Key, Slab};

/// Kinds of the reactor's tokens that belong to links.
pub(crate) const TOKEN_CONNECTION: u8 = 1;
pub(crate) const TOKEN_LISTENER: u8 = 2;

/// The shard's number of a resource that it hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HostedId(pub(crate) u32);

/// What a link has to say to the shard.
#[derive(Debug)]
pub(crate) enum Fact {
    Message {
        hosted: HostedId,
        from: NodeId,
        message: ResourceMessage,
        payload: Option<Payload>,
    },
    Up {
        hosted: HostedId,
        peer: NodeId,
        report: PeerReport,
    },
    Down {
        hosted: HostedId,
        peer: NodeId,
    },
    /// Our OPEN is due: answer with `Links::open`.
    OpenDue {
        hosted: HostedId,
        peer: NodeId,
    },
    /// Our heartbeat is due: answer with `Links::send_heartbeat`.
    HeartbeatDue {
        link: usize,
    },
    Heartbeat {
        link: usize,
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
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) boot_id: BootId,
    pub(crate) start_count: u64,
    pub(crate) shards: u8,
}

#[derive(Debug)]
pub(crate) struct Links {
    identity: Identity,
    listeners: Vec<Listener>,
    links: Vec<Link>,
    connections: Slab<Connection>,
    facts: VecDeque<Fact>,
    next_handle: u32,
    /// Memory for the lease requests of the next heartbeat that arrives.
    spare_requests: Vec<LeaseRequest>,
    /// Some connection found no free buffer to receive into.
    starved: bool,
    /// Something changed that `tick` has to look at.
    is_due: bool,
}

#[derive(Debug)]
struct Listener {
    address: SocketAddr,
    socket: SocketId,
    users: u32,
}

/// The pair of this node and one other.
#[derive(Debug)]
struct Link {
    name: String,
    /// The ways to the peer, in order of preference.
    targets: Vec<Target>,
    next_target: usize,
    /// Attempts since one succeeded, or since the last rest.
    failed_dials: usize,
    connection: Option<Key>,
    dial_at: Time,
    backoff: Duration,
    /// The failure that was logged last, so that a peer that stays away is one line.
    failure: Option<String>,
    boot_id: Option<BootId>,
    start_count: u64,
    peer_shards: u8,
    sessions: Vec<Session>,
    queue: VecDeque<Queued>,
    heart: heartbeat::Heart,
    sends: u64,
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
    pub(crate) fn new(identity: Identity) -> Self {
        Self {
            identity,
            listeners: Vec::new(),
            links: Vec::new(),
            connections: Slab::default(),
            facts: VecDeque::with_capacity(1024),
            next_handle: 1,
            spare_requests: Vec::new(),
            starved: false,
            is_due: false,
        }
    }

    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    /// Whether `tick` is to come at once, and no more.
    pub(crate) fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.is_due)
    }

    pub(crate) fn pop_fact(&mut self) -> Option<Fact> {
        self.facts.pop_front()
    }

    /// Listens on `address`, if no other resource had it done already.
    pub(crate) fn listen(&mut self, address: SocketAddr, kit: &mut Kit) -> stdio::Result<()> {
        if let Some(listener) = self.listeners.iter_mut().find(|l| l.address == address) {
            listener.users += 1;
            return Ok(());
        }
        let socket =
            kit.reactor.listen(ListenAddr::Tcp(address), u64::from(TOKEN_LISTENER) << 56)?;
        self.listeners.push(Listener { address, socket, users: 1 });
        Ok(())
    }

    pub(crate) fn unlisten(&mut self, address: SocketAddr, kit: &mut Kit) {
        let Some(place) = self.listeners.iter().position(|l| l.address == address) else { return };
        self.listeners[place].users -= 1;
        if self.listeners[place].users == 0 {
            kit.reactor.close(self.listeners.swap_remove(place).socket);
        }
    }

    /// Does what time asks for, and says when to come again.
    pub(crate) fn tick(&mut self, kit: &mut Kit) -> Time {
        let mut next = Time::NEVER;
        for index in 0..self.links.len() {
            if self.links[index].sessions.is_empty() {
                continue;
            }
            next = next.min(match self.links[index].connection {
                None if self.dials(index) => self.dial(index, kit),
                None => Time::NEVER,
                Some(_) => self.tick_connected(index, kit),
            });
        }
        next.min(self.expire_strangers(kit))
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
                self.close_connection(key, "no answer to the connection attempt", kit);
            } else {
                next = next.min(deadline);
            }
        }
        next
    }

    pub(crate) fn on_accepted(&mut self, socket: SocketId, kit: &mut Kit) {
        let strangers = self.connections.iter().filter(|(_, c)| c.link.is_none()).count();
        if strangers >= STRANGERS_MAX {
            kit.reactor.close(socket);
            return;
        }
        self.is_due = true;
        let mut connection = Connection::new(None, Stage::AwaitHello, kit.now);
        connection.socket = Some(socket);
        let key = self.connections.insert(connection);
        self.start_receive(key, kit);
    }

    pub(crate) fn on_connected(&mut self, key: Key, result: stdio::Result<()>, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let remote = connection.socket.and_then(|socket| kit.reactor.peer_addr(socket));
        if let Err(error) = result {
            let place = remote.map_or_else(String::new, |remote| format!(" to {remote}"));
            self.close_connection(key, &format!("cannot connect{place}: {error}"), kit);
            return;
        }
        connection.stage = Stage::AwaitWelcome;
        let hello = self.hello();
        self.send_alone(key, &LinkMessage::Hello(hello), kit);
        self.start_receive(key, kit);
    }

    /// Ends a connection; if it was its link's, everything that used it is told.
    pub(crate) fn close_connection(&mut self, key: Key, reason: &str, kit: &mut Kit) {
        let Some(connection) = self.connections.remove(key) else { return };
        self.is_due = true;
        let link = connection.link;
        let was_up = connection.stage == Stage::Up;
        connection.dispose(kit);
        let Some(index) = link else {
            log!(Warning, Scope::NODE, "a connection was closed: {reason}");
            return;
        };
        if self.links[index].connection != Some(key) {
            return;
        }
        self.links[index].connection = None;
        self.links[index].note_failure(reason);
        if was_up {
            self.links[index].start_over(kit.now);
        } else {
            self.links[index].back_off(kit.now);
        }
        self.sessions_down(index);
        while let Some(queued) = self.links[index].queue.pop_front() {
            if let Some((payload, _)) = queued.payload {
                kit.release(payload);
            }
        }
    }

    /// Sends so far, for each peer.
    pub(crate) fn sends(&self) -> impl Iterator<Item = (&str, u64)> {
        self.links.iter().map(|link| (link.name.as_str(), link.sends))
    }

    /// Whether the link of this peer is up, and what failed last if it is not.
    pub(crate) fn peer_state(&self, peer_name: &str) -> (bool, Option<&str>) {
        let Some(link) = self.links.iter().find(|l| l.name == peer_name) else {
            return (false, None);
        };
        let up = link
            .connection
            .and_then(|key| self.connections.get(key))
            .is_some_and(|connection| connection.stage == Stage::Up);
        (up, link.failure.as_deref())
    }
}

impl Link {
    fn new(name: String, now: Time) -> Self {
        Self {
            name,
            targets: Vec::new(),
            next_target: 0,
            failed_dials: 0,
            connection: None,
            dial_at: now,
            backoff: DIAL_BACKOFF_MIN,
            failure: None,
            boot_id: None,
            start_count: 0,
            peer_shards: 1,
            sessions: Vec::new(),
            queue: VecDeque::with_capacity(256),
            heart: heartbeat::Heart::default(),
            sends: 0,
        }
    }

    fn note_failure(&mut self, failure: &str) {
        if self.sessions.is_empty() {
            return;
        }
        if self.failure.as_deref() != Some(failure) {
            log!(Warning, Scope::peer(&self.name), "{failure}");
            self.failure = Some(failure.to_owned());
        }
    }
}
