//! The NBD front end: clients from accept to goodbye.
//!
//! ```text
//! accept -> handshake -> (this node becomes Primary) -> transmission -> close
//! ```
//!
//! A client that chooses an export waits in its handshake until the resource is Primary here, or
//! is refused with the reason. What a client asks becomes [`Fact`]s for the shard; what the core
//! answers comes back through [`Nbd::complete`]. Replies of one turn leave in one send.
//!
//! A client's bytes are checked here and in `frontend` and never reach an assert: nonsense ends
//! the session, and only that.

mod client;
mod greeting;
mod securing;
mod pieces;
mod requests;
mod answers;
mod work;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io as stdio;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use api::status::Holder;
use format::ids::BLOCK_BYTES;
use format::space::Place;
use frontend::nbd::handshake::{Access, Export};
use frontend::nbd::wire::FLAG_SEND_FAST_ZERO;
use io::{ListenAddr, SocketId};

use crate::clients::fact::Fact;
use crate::clients::nbd::client::{Client, Stage};
use crate::clients::nbd::greeting::Guest;
use crate::clients::nbd::work::ClientRequest;
use crate::clients::waiting::{WaitingRoom, Wake};
use crate::definition::link::Secrecy;
use crate::histogram::Histogram;
use crate::hosted_id::HostedId;
use crate::kit::Kit;
use crate::limits::{CLIENTS_MAX, CLIENTS_SURPLUS_MAX};
use crate::log::{Scope, log};
use crate::slab::{Key, Slab};
use crate::tls::credentials::Credentials;

/// Kinds of the reactor's tokens that belong to clients.
pub(crate) const TOKEN_CLIENT: u8 = 3;
pub(crate) const TOKEN_LISTENER: u8 = 4;
/// The listener of clients that have to use TLS.
pub(crate) const TOKEN_TLS_LISTENER: u8 = 13;

/// A resource as clients may see it.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) hosted: HostedId,
    /// Which volume of it.
    pub(crate) place: Place,
    /// The number that the configuration gives it.
    pub(crate) volume: u16,
    pub(crate) export: Export,
    /// How long a handshake waits for this node to become Primary.
    pub(crate) promote_wait: Duration,
}

/// The name of an export among those of this process: the resource, and the volume of it.
fn export_id(hosted: HostedId, place: Place) -> u64 {
    u64::from(place.number()) << 32 | u64::from(hosted.0)
}

/// What sessions of a volume are offered: all but zeroes that are fast or fail at once. A disk
/// without a command for zeroes has them written, by the kernel or by us, and neither says so
/// before; nor does a member on another node.
///
/// The smallest request is a byte, whatever the sectors of a disk are: the lane reads the blocks
/// around it. Blocks that the configuration makes larger are told, so that clients keep to them.
pub(crate) fn export_of(
    name: &str,
    (hosted, place): (HostedId, Place),
    size_bytes: u64,
    block_bytes: u32,
) -> Export {
    let mut export = Export::new(name, size_bytes, Access::ReadWrite);
    export.id = export_id(hosted, place);
    export.abilities &= !FLAG_SEND_FAST_ZERO;
    if u64::from(block_bytes) >= BLOCK_BYTES {
        export.blocks.min_bytes = block_bytes;
    }
    export
}

/// Why a client finds no place.
fn full_in_words() -> String {
    format!(
        "a data thread of this node has {CLIENTS_MAX} client sessions, which is as many as it \
         serves: end one, or use another node"
    )
}

#[derive(Debug)]
pub(crate) struct Nbd {
    listeners: Vec<SocketId>,
    clients: Slab<Client>,
    /// How many of them came when `CLIENTS_MAX` others were here.
    surplus: usize,
    /// That this is so was said; until one of the others is gone.
    is_full_told: bool,
    requests: Slab<ClientRequest>,
    /// In order of name, kept up to date by the shard.
    offers: Vec<Offer>,
    facts: VecDeque<Fact>,
    /// Of each resource that was ever offered.
    write_latency: Vec<Histogram>,
    waiting: WaitingRoom,
    /// Requests of clients that are gone, of which the core has something.
    orphans: usize,
    credentials: Option<Arc<Credentials>>,
}

impl Nbd {
    pub(crate) fn new() -> Self {
        Self {
            listeners: Vec::new(),
            clients: Slab::default(),
            surplus: 0,
            is_full_told: false,
            requests: Slab::default(),
            offers: Vec::new(),
            facts: VecDeque::with_capacity(1024),
            write_latency: Vec::new(),
            waiting: WaitingRoom::new(),
            orphans: 0,
            credentials: None,
        }
    }

    pub(crate) fn requests_in_progress(&self) -> usize {
        self.requests.len() - self.orphans
    }

    pub(crate) fn listen(
        &mut self,
        address: ListenAddr,
        secrecy: Secrecy,
        kit: &mut Kit,
    ) -> stdio::Result<SocketId> {
        let kind = match secrecy {
            Secrecy::ClearText => TOKEN_LISTENER,
            Secrecy::Tls => TOKEN_TLS_LISTENER,
        };
        let socket = kit.reactor.listen(address, u64::from(kind) << 56)?;
        self.listeners.push(socket);
        Ok(socket)
    }

    /// What new connections prove themselves with, and what clients may do.
    pub(crate) fn set_credentials(&mut self, credentials: Arc<Credentials>) {
        self.credentials = Some(credentials);
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

    /// Offers a resource, or changes its offer.
    pub(crate) fn offer(&mut self, offer: Offer) {
        self.offers.retain(|known| (known.hosted, known.place) != (offer.hosted, offer.place));
        let known = self.write_latency.len().max(offer.hosted.0 as usize + 1);
        self.write_latency.resize(known, Histogram::default());
        let place = self.offers.partition_point(|o| o.export.name < offer.export.name);
        self.offers.insert(place, offer);
    }

    pub(crate) fn withdraw(&mut self, hosted: HostedId) {
        self.offers.retain(|offer| offer.hosted != hosted);
    }

    pub(crate) fn on_accepted(&mut self, socket: SocketId, secrecy: Secrecy, kit: &mut Kit) {
        if self.clients.len() - self.surplus < CLIENTS_MAX {
            return self.greet(socket, secrecy, Guest::Welcome, kit);
        }
        if !std::mem::replace(&mut self.is_full_told, true) {
            log!(Warning, Scope::NODE, "NBD clients are refused: {}", full_in_words());
        }
        if self.surplus < CLIENTS_SURPLUS_MAX {
            self.greet(socket, secrecy, Guest::Surplus, kit);
        } else {
            // So many are being told already: it learns it from the end of its connection.
            kit.reactor.close(socket);
        }
    }

    /// A client that another shard accepted.
    pub(crate) fn on_passed(&mut self, socket: OwnedFd, secrecy: Secrecy, kit: &mut Kit) {
        match kit.reactor.adopt(socket) {
            Ok(socket) => self.on_accepted(socket, secrecy, kit),
            Err(error) => log!(Warning, Scope::NODE, "an NBD client was turned away: {error}"),
        }
    }

    /// Clients of this resource that wait or are served.
    pub(crate) fn clients_of(&self, hosted: HostedId) -> usize {
        self.clients.iter().filter(|(_, client)| client.hosted == Some(hosted)).count()
    }

    /// Ends all sessions of a resource: what they still asked for is not answered.
    pub(crate) fn end_sessions(&mut self, hosted: HostedId, reason: &str, kit: &mut Kit) {
        for index in 0..self.clients.end() {
            let Some(key) = self.clients.key_at(index) else { continue };
            let client = self.clients.get(key).expect("a key of this slab");
            if client.hosted == Some(hosted) && client.is_served() {
                self.close(key, reason, kit);
            }
        }
    }

    /// Ends one session. Its parts in the core go on; their answers find nobody.
    fn close(&mut self, key: Key, reason: &str, kit: &mut Kit) {
        let Some(mut client) = self.clients.remove(key) else { return };
        kit.reactor.close(client.socket);
        if client.is_surplus {
            self.surplus -= 1;
        } else {
            self.is_full_told = false;
        }
        self.drop_requests(key, kit);
        client.dispose(kit);
        if let Some(hosted) = client.hosted {
            self.facts.push_back(Fact::Left { hosted });
        }
        if !reason.is_empty() {
            let name = client.export_name();
            log!(Info, Scope::resource(name), "NBD client session ended: {reason}");
        }
    }

    /// One send for each client with something to say, and another look at those that waited.
    pub(crate) fn flush(&mut self, kit: &mut Kit) {
        let wake = self.waiting.wake(kit);
        if wake == Wake::Nobody {
            return;
        }
        self.retry_stalled(kit);
        let (mut line, waiting) = self.waiting.line_up(wake, &self.clients);
        for key in &line[..waiting] {
            self.go_on(*key, kit);
        }
        for key in line.drain(..) {
            if let Some(client) = self.clients.get_mut(key) {
                client.is_dirty = false;
                if !client.is_up_to_date() {
                    self.proceed(key, kit);
                }
            }
            let Some(client) = self.clients.get_mut(key) else { continue };
            match client.submit(key.token(TOKEN_CLIENT), kit) {
                Ok(()) if client.is_finished() => self.close(key, "", kit),
                Ok(()) => {}
                Err(error) => self.close(key, &error.to_string(), kit),
            }
        }
        self.waiting.put_away(line);
    }

    /// Whether a client waits for the next turn without an event of its own.
    pub(crate) fn is_waiting(&self, kit: &Kit) -> bool {
        self.waiting.is_waiting(kit)
    }

    /// A client waits for a buffer.
    pub(crate) fn is_starved(&self) -> bool {
        self.waiting.is_starved
    }

    fn mark(&mut self, key: Key) {
        if let Some(client) = self.clients.get_mut(key) {
            self.waiting.mark(key, &mut client.is_dirty);
        }
    }

    pub(crate) fn on_sent(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        client.outbox.finish(kit);
        match result {
            Ok(_) => {
                self.go_on(key, kit);
                self.mark(key);
            }
            Err(error) => self.close(key, &format!("cannot send: {error}"), kit),
        }
    }

    pub(crate) fn on_received(&mut self, key: Key, result: stdio::Result<u32>, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        match result {
            Ok(0) => self.close(key, "the client closed the connection", kit),
            Err(error) => self.close(key, &format!("connection lost: {error}"), kit),
            Ok(length) => {
                client.on_bytes(length);
                self.proceed(key, kit);
            }
        }
    }

    /// Takes what the client sent as far as it goes, then receives more.
    fn proceed(&mut self, key: Key, kit: &mut Kit) {
        loop {
            let Some(client) = self.clients.get(key) else { return };
            match client.stage {
                Stage::Handshake { .. } => self.step_handshake(key, kit),
                Stage::Securing { .. } => self.step_securing(key, kit),
                Stage::Waiting { .. } => {}
                Stage::Serving { .. } => self.step_transmission(key, kit),
                Stage::Leaving { .. } => {}
            }
            let Some(client) = self.clients.get_mut(key) else { return };
            match client.open(kit) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.fail_tls(key, &error, kit);
                    break;
                }
            }
        }
        if self.clients.get(key).is_some_and(Client::has_to_seal) {
            self.mark(key);
        }
        if let Some(client) = self.clients.get_mut(key)
            && !client.receive(key.token(TOKEN_CLIENT), kit)
        {
            self.waiting.is_starved = true;
        }
    }

    /// Who has a resource open, or is about to.
    pub(crate) fn holders(
        &self,
        is_meant: impl Fn(HostedId) -> bool,
        kit: &Kit,
    ) -> impl Iterator<Item = (HostedId, Place, Holder)> {
        let clients = self.clients.iter();
        let clients = clients.filter_map(|(_, client)| Some((client.hosted?, client)));
        clients.filter(move |(hosted, _)| is_meant(*hosted)).map(|(hosted, client)| {
            let address = kit.reactor.peer_addr(client.socket).map(|address| address.to_string());
            let pid = match address {
                Some(_) => None,
                None => kit.reactor.peer_process(client.socket),
            };
            let requests = u32::try_from(client.requests).unwrap_or(u32::MAX);
            (hosted, client.place, Holder { address, pid, command: None, requests })
        })
    }

    pub(crate) fn write_latency(&self, hosted: HostedId) -> Option<&Histogram> {
        self.write_latency.get(hosted.0 as usize)
    }
}
