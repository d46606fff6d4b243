//! TLS of a client: from the answer to STARTTLS until it is known who the client is.
//!
//! A client that has to use TLS has to show a certificate of the cluster's CA, and may use what the
//! list of clients grants to the name in it: nothing, if that is in no line of it.

use crate::clients::nbd::Nbd;
use crate::clients::nbd::client::Stage;
use crate::kit::Kit;
use crate::log::{Scope, log};
use crate::slab::Key;
use crate::tls::{Session, TlsError};

impl Nbd {
    pub(super) fn step_securing(&mut self, key: Key, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        match &client.tls {
            // The answer is in clear text: nothing is sealed before it is sent.
            None if !client.outbox.is_empty() => {}
            None => self.begin_tls(key, kit),
            Some(tls) if tls.is_handshaking() => {}
            Some(_) => {
                self.on_secured(key);
                // The client may have begun already.
                self.step_handshake(key, kit);
            }
        }
    }

    fn begin_tls(&mut self, key: Key, kit: &mut Kit) {
        let begun = match &self.credentials {
            Some(credentials) => Session::accept(credentials),
            None => Err(TlsError::Begin("this node has no certificate".to_owned())),
        };
        match begun {
            Ok(tls) => {
                let client = self.clients.get_mut(key).expect("the client that is to begin");
                client.begin_tls(tls);
            }
            Err(error) => {
                log!(Error, Scope::NODE, "an NBD client was turned away: {error}");
                self.close(key, "", kit);
            }
        }
    }

    fn on_secured(&mut self, key: Key) {
        let Some(client) = self.clients.get_mut(key) else { return };
        let (Some(tls), Some(credentials)) = (&client.tls, &self.credentials) else { return };
        client.grants = Some(credentials.grants().of_peer(tls));
        if let Stage::Securing { machine, deadline } = client.take_stage() {
            client.stage = Stage::Handshake { machine, deadline };
        }
    }

    /// The client is told why, as far as TLS has a word for it, and let go.
    pub(super) fn fail_tls(&mut self, key: Key, error: &TlsError, kit: &mut Kit) {
        let Some(client) = self.clients.get_mut(key) else { return };
        if client.is_served() {
            return self.close(key, &error.to_string(), kit);
        }
        let remote = kit.reactor.peer_addr(client.socket);
        let remote = remote.map_or_else(String::new, |remote| format!(" at {remote}"));
        log!(Warning, Scope::NODE, "an NBD client{remote} was turned away: {error}");
        self.leave(key, kit);
    }
}
