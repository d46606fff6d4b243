//! Where peers are listened for: an address counts for all resources that name it.
//!
//! An address may come to the machine after the resource that names it, with a network that is slow
//! to come up, say. The resource is there meanwhile, and the address is tried again at intervals,
//! for as long as a resource names it. So a wrong one is told of, which a socket that may be bound
//! to any address (`IP_FREEBIND`) would hide.

use std::io as stdio;
use std::net::SocketAddr;

use io::{ListenAddr, SocketId};
use stdx::time::Time;

use crate::kit::Kit;
use crate::limits::LISTEN_REST;
use crate::links::away::Deaf;
use crate::links::{Links, TOKEN_LISTENER};
use crate::log::{Scope, log};

#[derive(Debug)]
pub(super) struct Listener {
    address: SocketAddr,
    users: u32,
    state: State,
}

#[derive(Debug)]
enum State {
    Listening(SocketId),
    Waiting {
        again_at: Time,
        /// Why it was not to be had.
        reason: Deaf,
    },
}

impl Links {
    /// Listens on `address`, if no other resource had it done already; as soon as it can be, where
    /// the machine does not have it. One that another resource waits for is tried again.
    pub(crate) fn listen(&mut self, address: SocketAddr, kit: &mut Kit) -> stdio::Result<()> {
        let known = self.listeners.iter_mut().find(|it| it.address == address);
        if let Some(Listener { users, state: State::Listening(_), .. }) = known {
            *users += 1;
            return Ok(());
        }
        match bind(address, kit) {
            Ok(socket) => self.add_user(address, State::Listening(socket)),
            Err(error) if is_missing(&error) => self.listen_later(address, &error, kit.now),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Listens on an address as soon as that can be, which it cannot now.
    pub(crate) fn listen_later(&mut self, address: SocketAddr, error: &stdio::Error, now: Time) {
        let reason = why_not(address, error);
        if self.deaf_at(address).as_ref() != Some(&reason.to_string()) {
            log!(Warning, Scope::NODE, "{reason}");
        }
        self.add_user(address, State::Waiting { again_at: now + LISTEN_REST, reason });
        self.is_due = true;
    }

    /// One more resource names the address, of which this is known now.
    fn add_user(&mut self, address: SocketAddr, state: State) {
        if let Some(listener) = self.listeners.iter_mut().find(|it| it.address == address) {
            listener.users += 1;
            listener.state = state;
        } else {
            self.listeners.push(Listener { address, users: 1, state });
        }
    }

    pub(crate) fn unlisten(&mut self, address: SocketAddr, kit: &mut Kit) {
        let Some(place) = self.listeners.iter().position(|it| it.address == address) else {
            return;
        };
        self.listeners[place].users -= 1;
        if self.listeners[place].users == 0
            && let State::Listening(socket) = self.listeners.swap_remove(place).state
        {
            kit.reactor.close(socket);
        }
    }

    /// Why nobody comes in at this address, where that is so.
    pub(crate) fn deaf_at(&self, address: SocketAddr) -> Option<String> {
        let listener = self.listeners.iter().find(|it| it.address == address)?;
        match &listener.state {
            State::Listening(_) => None,
            State::Waiting { reason, .. } => Some(reason.to_string()),
        }
    }

    /// Tries again to listen where that could not be, and says when to come again.
    pub(super) fn tick_listeners(&mut self, kit: &mut Kit) -> Time {
        let mut next = Time::NEVER;
        for Listener { address, state, .. } in &mut self.listeners {
            let State::Waiting { again_at, reason } = state else { continue };
            if kit.now < *again_at {
                next = next.min(*again_at);
                continue;
            }
            match bind(*address, kit) {
                Ok(socket) => {
                    log!(Notice, Scope::NODE, "{address} is there: peers are let in");
                    *state = State::Listening(socket);
                }
                Err(error) => {
                    let other = why_not(*address, &error);
                    if *reason != other {
                        log!(Warning, Scope::NODE, "{other}");
                        *reason = other;
                    }
                    *again_at = kit.now + LISTEN_REST;
                    next = next.min(*again_at);
                }
            }
        }
        next
    }
}

fn bind(address: SocketAddr, kit: &mut Kit) -> stdio::Result<SocketId> {
    kit.reactor.listen(ListenAddr::Tcp(address), u64::from(TOKEN_LISTENER) << 56)
}

/// Whether no interface of the machine has the address.
pub fn is_missing(error: &stdio::Error) -> bool {
    error.kind() == stdio::ErrorKind::AddrNotAvailable
}

fn why_not(address: SocketAddr, error: &stdio::Error) -> Deaf {
    if is_missing(error) {
        Deaf::NotHere { address }
    } else {
        Deaf::Refused { error: error.into() }
    }
}

/// For an operator: what is missing, what becomes of it, and what to look at.
pub fn missing_address(address: SocketAddr) -> String {
    Deaf::NotHere { address }.to_string()
}

#[expect(clippy::disallowed_methods, reason = "the other end is the test's own")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::fixture::connected;

    /// Of a network for documentation, which no machine has.
    const NOWHERE: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 7900);

    /// A missing address kept the resource down.
    #[test]
    fn missing_address_is_tried_again_until_nobody_names_it() {
        let (mut kit, (mut links, _)) = (Kit::of_lone_shard(), connected());
        links.listen(NOWHERE, &mut kit).unwrap();
        links.listen(NOWHERE, &mut kit).unwrap();
        assert!(links.take_due());
        assert!(links.deaf_at(NOWHERE).unwrap().contains("192.0.2.1:7900 is not of this machine"));
        for _ in 0..3 {
            let next = links.tick_listeners(&mut kit);
            assert_eq!(next, kit.now + LISTEN_REST);
            kit.now = next;
        }
        links.unlisten(NOWHERE, &mut kit);
        assert!(links.deaf_at(NOWHERE).is_some(), "the other resource names it still");
        links.unlisten(NOWHERE, &mut kit);
        assert!(links.deaf_at(NOWHERE).is_none());
        assert_eq!(links.tick_listeners(&mut kit), Time::NEVER);
    }

    #[test]
    fn address_that_somebody_else_has_is_refused() {
        let (mut kit, (mut links, _)) = (Kit::of_lone_shard(), connected());
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let error = links.listen(address, &mut kit).unwrap_err();
        assert_eq!(error.kind(), stdio::ErrorKind::AddrInUse);
        assert!(links.deaf_at(address).is_none());
        // A resource that is in use cannot go back.
        links.listen_later(address, &error, kit.now);
        drop(taken);
        kit.now = links.tick_listeners(&mut kit);
        assert!(links.deaf_at(address).is_some());
        assert_eq!(links.tick_listeners(&mut kit), Time::NEVER);
        assert!(links.deaf_at(address).is_none());
    }

    /// The next resource was told that it is up: one waited for the port already.
    #[test]
    fn taken_address_is_refused_though_another_resource_waits_for_it() {
        let (mut kit, (mut links, _)) = (Kit::of_lone_shard(), connected());
        let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        let error = stdio::Error::from(stdio::ErrorKind::AddrInUse);
        links.listen_later(address, &error, kit.now);
        let error = links.listen(address, &mut kit).unwrap_err();
        assert_eq!(error.kind(), stdio::ErrorKind::AddrInUse);
        assert!(links.deaf_at(address).is_some(), "the first one waits on");
        drop(taken);
        links.listen(address, &mut kit).unwrap();
        assert!(links.deaf_at(address).is_none(), "it is had at once, for both");
        for is_last in [false, true] {
            links.unlisten(address, &mut kit);
            assert_eq!(links.listeners.is_empty(), is_last);
        }
    }
}
