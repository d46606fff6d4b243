//! TLS on a connection: the handshake before HELLO, and what is sealed and opened after it.
//!
//! ```text
//! dialling                                   dialled
//! Connecting -> Securing -> AwaitWelcome     AwaitHello -(first byte)-> Securing -> AwaitHello
//! ```
//!
//! A link is in clear text or it is not, as the configuration says ([`Secrecy`]); what the other
//! end does never changes it. Who dials begins as its link has to. Who is dialled learns from the
//! first byte what the peer began with, from HELLO which link is meant, and refuses what does not
//! fit. Between both only a HELLO is read, and nothing is answered.
//!
//! A connection that is refused in its handshake stays until the peer has heard why, or until the
//! deadline of the handshake: to close it at once may destroy the alert on its way.

use std::sync::Arc;

use api::response::{Failure, FailureCode};
use config::host_name::{Ambiguous, is_same_host, label, meant};
use io::Class;

use crate::definition::link::{PeerPaths, Secrecy};
use crate::kit::Kit;
use crate::links::away::{Away, WHOLE_NAME};
use crate::links::stage::Stage;
use crate::links::{Link, Links};
use crate::slab::Key;
use crate::tls::credentials::Credentials;
use crate::tls::{FIRST_BYTE, SEALED_BUFFERS_MAX, Session, node_domain_name};

/// How far the bytes that came were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opened {
    All,
    /// No buffer is free, or another shard is waited for.
    Waits,
}

impl Links {
    /// What new connections prove themselves with.
    pub(crate) fn set_credentials(&mut self, credentials: Arc<Credentials>) {
        self.credentials = Some(credentials);
    }

    /// Resources share the link of a node pair: all of them have to want the same of it, and to
    /// mean the same node.
    pub(crate) fn check_peer(&self, peer: &PeerPaths) -> Result<(), Failure> {
        let link = self.link_that_is_meant(&peer.peer_name).map_err(|ambiguous| {
            let message = format!("other resources have peers of this label: {ambiguous}");
            Failure::new(FailureCode::StateRefused, message, WHOLE_NAME)
        })?;
        let Some(link) = link.filter(|link| link.secrecy != peer.secrecy) else {
            return Ok(());
        };
        let message = format!(
            "the link to {} is used {} by other resources, and this one wants it {}",
            link.name,
            link.secrecy.in_words(),
            peer.secrecy.in_words()
        );
        let hint = "`tls` is of a pair of nodes: take their resources down, and give all of them \
                    the same, best in `common`";
        Err(Failure::new(FailureCode::StateRefused, message, hint))
    }

    /// The link of the peer that a resource calls so. Neither that name, nor one that others use
    /// for their peers, nor one of a daemon could mean two hosts.
    fn link_that_is_meant(&self, name: &str) -> Result<Option<&Link>, Ambiguous> {
        let alike =
            self.links.iter().filter(|link| !link.is_unused() && label(&link.name) == label(name));
        for other in alike.clone().filter(|link| !is_same_host(&link.name, name)) {
            let said = other.named.iter().map(|named| &named.peer_name).chain(&other.called);
            // What is not as the link is called has no domain.
            if let Some(short) = said.into_iter().find(|said| **said != other.name) {
                return Err(Ambiguous {
                    name: short.clone(),
                    first: other.name.clone(),
                    second: name.to_owned(),
                });
            }
        }
        meant(name, alike, |link| [link.name.as_str()])
    }

    /// Another host has the label of this link's peer: only whole names count.
    fn has_twin(&self, index: usize) -> bool {
        let name = &self.links[index].name;
        let others = self.links.iter().filter(|link| !link.is_unused()).map(|link| &link.name);
        let mut known = others.chain([&self.identity.name]);
        known.any(|other| label(other) == label(name) && !is_same_host(other, name))
    }

    /// Whether what is said to this peer is sealed.
    pub(crate) fn is_secured(&self, peer_name: &str) -> bool {
        let link = self.link_to(peer_name).map(|index| &self.links[index]);
        link.is_some_and(|link| link.is_up && link.secrecy == Secrecy::Tls)
    }

    /// The TCP connection is there: this side begins.
    pub(super) fn begin(&mut self, key: Key, kit: &mut Kit) -> Result<(), Away> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        let index = connection.link.expect("a connection that was dialled has a link");
        let Link { name, secrecy, .. } = &self.links[index];
        match *secrecy {
            Secrecy::ClearText => self.say_hello(key, kit),
            Secrecy::Tls => {
                let credentials = self.credentials.as_ref().ok_or(Away::NoCertificate)?;
                let tls = Session::dial(credentials, name)?;
                connection.tls = Some(Box::new(tls));
                connection.stage = Stage::Securing;
                self.send_sealed(key, kit);
            }
        }
        Ok(())
    }

    /// A stranger began with a handshake of TLS: what came so far belongs to it.
    pub(super) fn accept_tls(&mut self, key: Key, kit: &mut Kit) -> Result<(), Away> {
        let Some(connection) = self.connections.get_mut(key) else { return Ok(()) };
        let Some(credentials) = &self.credentials else {
            let remote = connection.ends(kit).map(|(_, remote)| remote.ip().to_canonical());
            return Err(Away::NoCertificateForPeer { remote });
        };
        let mut tls = Session::accept(credentials)?;
        if let Some((buffer, from, to)) = connection.receiver.give_up() {
            tls.take_over(buffer, from, to);
        }
        connection.tls = Some(Box::new(tls));
        connection.stage = Stage::Securing;
        Ok(())
    }

    /// Whether a stranger's first bytes are those of TLS.
    pub(super) fn begins_with_tls(&self, key: Key, kit: &mut Kit) -> bool {
        let Some(connection) = self.connections.get(key) else { return false };
        connection.stage == Stage::AwaitHello
            && connection.receiver.first_byte(kit) == Some(FIRST_BYTE)
    }

    /// Opens what came, as far as it goes, and takes in the frames.
    pub(super) fn receive_sealed(&mut self, key: Key, kit: &mut Kit) -> Result<Opened, Away> {
        loop {
            let Some(connection) = self.connections.get_mut(key) else { return Ok(Opened::All) };
            let Some(tls) = &mut connection.tls else { return Ok(Opened::All) };
            let receiver = &mut connection.receiver;
            if receiver.is_paused {
                return Ok(Opened::Waits);
            }
            if !receiver.make_room(kit.reactor.pool()) {
                self.starved = true;
                return Ok(Opened::Waits);
            }
            let room = receiver.room(kit);
            let count = tls.read(room, kit.reactor.pool())?;
            receiver.filled += count;
            if connection.stage == Stage::Securing && !tls.is_handshaking() {
                self.on_secured(key, kit);
            }
            self.send_sealed(key, kit);
            if count == 0 {
                return Ok(Opened::All);
            }
            self.take_frames(key, kit)?;
        }
    }

    fn on_secured(&mut self, key: Key, kit: &mut Kit) {
        let connection = self.connections.get_mut(key).expect("the connection that spoke");
        if connection.link.is_some() {
            self.say_hello(key, kit);
        } else {
            connection.stage = Stage::AwaitHello;
        }
    }

    /// Sends what is sealed and not on its way yet.
    pub(super) fn send_sealed(&mut self, key: Key, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let (Some(tls), Some(socket)) = (&mut connection.tls, connection.socket) else { return };
        let sending = &mut connection.sending;
        if sending.busy {
            return;
        }
        while sending.sealed.len() < SEALED_BUFFERS_MAX {
            let class = if sending.sealed.is_empty() { Class::Medium } else { Class::Large };
            let room = |pool: &mut io::Pool| pool.take_for(class.size_bytes());
            let Some(sealed) = tls.sealed(room, kit.reactor.pool()) else { break };
            sending.sealed.push(sealed);
        }
        if sending.sealed.is_empty() {
            // Either there is nothing, or no buffer is free: then the next turn tries again.
            return;
        }
        sending.busy = true;
        kit.reactor.send(socket, &sending.sealed, Self::token(key));
    }

    /// Ends a connection in its handshake, once the peer has heard why.
    pub(super) fn refuse_connection(&mut self, key: Key, reason: Away, kit: &mut Kit) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if let Some(tls) = &mut connection.tls {
            tls.forget();
        }
        let has_alert = connection.tls.as_ref().is_some_and(|tls| tls.wants_send());
        if !has_alert || matches!(connection.stage, Stage::Probing | Stage::Up | Stage::Refused) {
            return self.close_connection(key, &reason, kit);
        }
        connection.stage = Stage::Refused;
        if connection.link.is_none() {
            // At once: when the peer has closed, another one may have been turned away since.
            let ends = connection.ends(kit);
            self.note_stranger(ends, &reason, kit);
        }
        if let Some(connection) = self.connections.get_mut(key) {
            connection.refusal = Some(reason);
        }
        self.send_sealed(key, kit);
        self.start_receive(key, kit);
    }

    /// Whether the connection with the node that calls itself `name` is as its link has to be used,
    /// and that node is who it says.
    pub(super) fn check_secrecy(&self, key: Key, index: usize, name: &str) -> Result<(), Away> {
        let Link { name: expected, secrecy, .. } = &self.links[index];
        let tls = self.connections.get(key).and_then(|connection| connection.tls.as_ref());
        let has_twin = self.has_twin(index);
        match (secrecy, tls) {
            (Secrecy::ClearText, None) => Ok(()),
            (Secrecy::Tls, Some(tls))
                if has_twin && !tls.peer_has_name(&node_domain_name(expected)) =>
            {
                let (name, expected) = (name.to_owned(), expected.clone());
                Err(Away::ShortCertificate { name, expected })
            }
            (Secrecy::Tls, Some(tls)) if tls.peer_is_node(name) && tls.peer_is_node(expected) => {
                Ok(())
            }
            (Secrecy::Tls, Some(_)) => Err(Away::OtherCertificate { name: name.to_owned() }),
            (Secrecy::Tls, None) => Err(Away::ClearText { name: name.to_owned() }),
            (Secrecy::ClearText, Some(_)) => Err(Away::UnwantedTls { name: name.to_owned() }),
        }
    }
}
