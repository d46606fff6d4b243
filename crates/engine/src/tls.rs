//! One end of a TLS 1.3 connection whose bytes lie in the shard's buffers.
//!
//! ```text
//! kernel --recv--> incoming buffer --rustls--> caller's buffer      (`room`, `on_bytes`, `read`)
//! caller's pieces --rustls--> fresh buffers --send--> kernel        (`write`, `sealed`)
//! ```
//!
//! rustls does the handshake and the records; nothing here reads or writes a socket, and a
//! connection that has begun with TLS never carries a byte in the clear. What rustls holds is
//! bounded: of what came one record, of what goes what one `write` was given.
//!
//! Who the peer is stands in the names of its certificate, under a domain for its kind
//! ([`node_domain_name`], [`client_domain_name`]), so that no client can pass for a node.

pub mod credentials;
pub mod grants;

use std::io::{ErrorKind, IoSlice, Read, Write};

use config::host_name::is_same_host;
use io::{BufferId, Pool, Slice};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::ParsedCertificate;
use rustls::{AlertDescription, CertificateError, Connection, Error};
use webpki::EndEntityCert;

use crate::tls::credentials::Credentials;

/// Buffers that one send of sealed bytes takes; what is left goes with the next.
pub(crate) const SEALED_BUFFERS_MAX: usize = 8;
/// The first byte of every TLS connection: the type of a handshake record.
pub(crate) const FIRST_BYTE: u8 = 0x16;

const NODE_DOMAIN: &str = ".node.basalt";

/// The name in the certificate of a node.
#[must_use]
pub fn node_domain_name(node: &str) -> String {
    format!("{node}{NODE_DOMAIN}")
}

/// The name in the certificate of a client.
#[must_use]
pub fn client_domain_name(client: &str) -> String {
    format!("{client}.client.basalt")
}

fn has_name(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) =
        (ParsedCertificate::try_from(certificate), ServerName::try_from(name))
    else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
}

/// Whether the certificate is that of this node, with or without a domain in either of the names.
fn is_of_node(certificate: &CertificateDer<'_>, node: &str) -> bool {
    let Ok(parsed) = EndEntityCert::try_from(certificate) else { return false };
    let node = node.to_ascii_lowercase();
    let mut names = parsed.valid_dns_names().map(str::to_ascii_lowercase);
    let is_meant = |name: &str| is_same_host(name, &node);
    has_name(certificate, &node_domain_name(&node))
        || names.any(|name| name.strip_suffix(NODE_DOMAIN).is_some_and(is_meant))
}

/// Why a connection cannot be secured, or is over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    #[error("the peer closed the connection")]
    Closed,
    #[error("{}", in_words(.0))]
    Refused(Error),
    #[error("a TLS connection cannot begin: {0}")]
    Begin(String),
    #[error("TLS: {0}")]
    Io(std::io::Error),
}

#[derive(Debug)]
pub(crate) struct Session {
    connection: Connection,
    /// What the kernel brought, and how far rustls has taken it.
    incoming: Option<BufferId>,
    taken: u32,
    filled: u32,
}

impl Session {
    /// This end dials the node of this name, and takes nobody else for it.
    pub(crate) fn dial(credentials: &Credentials, node: &str) -> Result<Self, TlsError> {
        let begin = |error: &dyn std::fmt::Display| TlsError::Begin(error.to_string());
        let name = ServerName::try_from(node_domain_name(node)).map_err(|e| begin(&e))?;
        let connection = credentials.dial(name).map_err(|e| begin(&e))?;
        Ok(Self::new(Connection::Client(connection)))
    }

    /// This end was dialled; whoever it is has to show a certificate.
    pub(crate) fn accept(credentials: &Credentials) -> Result<Self, TlsError> {
        let connection =
            credentials.accept().map_err(|error| TlsError::Begin(error.to_string()))?;
        Ok(Self::new(Connection::Server(connection)))
    }

    fn new(mut connection: Connection) -> Self {
        // The caller's own bound holds: it writes nothing more before all of it is sealed and sent.
        connection.set_buffer_limit(None);
        Self { connection, incoming: None, taken: 0, filled: 0 }
    }

    /// Begins with bytes that were received already, in a buffer that it takes over.
    pub(crate) fn take_over(&mut self, buffer: BufferId, from: u32, to: u32) {
        assert!(self.incoming.is_none(), "a session takes over before it receives");
        self.incoming = Some(buffer);
        self.taken = from;
        self.filled = to;
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether the peer's certificate, which was checked, has this name.
    pub(crate) fn peer_has_name(&self, name: &str) -> bool {
        self.peer_certificate().is_some_and(|certificate| has_name(certificate, name))
    }

    /// Whether the peer's certificate, which was checked, is that of this node.
    pub(crate) fn peer_is_node(&self, node: &str) -> bool {
        self.peer_certificate().is_some_and(|certificate| is_of_node(certificate, node))
    }

    fn peer_certificate(&self) -> Option<&CertificateDer<'static>> {
        self.connection.peer_certificates().and_then(|chain| chain.first())
    }

    /// Where the next receive goes: into the buffer that `renew` gives for the one that it has;
    /// `None` while none is free. All of an earlier one has to be read by then.
    pub(crate) fn room(
        &mut self,
        renew: impl FnOnce(Option<BufferId>) -> Option<Slice>,
    ) -> Option<Slice> {
        assert_eq!(self.taken, self.filled, "what came is read before more is received");
        let room = renew(self.incoming);
        self.incoming = room.map(|room| room.buffer);
        self.taken = 0;
        self.filled = 0;
        room
    }

    pub(crate) fn on_bytes(&mut self, length: u32) {
        self.filled += length;
    }

    /// All that came was read.
    pub(crate) fn is_drained(&self) -> bool {
        self.taken == self.filled
    }

    /// What came is not looked at.
    pub(crate) fn forget(&mut self) {
        self.taken = self.filled;
    }

    /// Puts what the peer said into `into`, as far as it goes; 0 means that more has to come.
    pub(crate) fn read(&mut self, into: Slice, pool: &mut Pool) -> Result<u32, TlsError> {
        let mut done = 0;
        while done < into.length {
            let rest = into.part(done, into.length - done);
            match self.connection.reader().read(pool.bytes_mut(rest)) {
                Ok(0) if done == 0 => return Err(TlsError::Closed),
                Ok(0) => break,
                Ok(count) => done += u32::try_from(count).expect("within the room"),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !self.open_more(pool)? {
                        break;
                    }
                }
                Err(error) => return Err(TlsError::Io(error)),
            }
        }
        Ok(done)
    }

    /// Gives rustls the next piece of what came; false if there is none.
    fn open_more(&mut self, pool: &Pool) -> Result<bool, TlsError> {
        let Some(buffer) = self.incoming.filter(|_| self.taken < self.filled) else {
            return Ok(false);
        };
        let rest = pool.whole(buffer).part(self.taken, self.filled - self.taken);
        let count = self.connection.read_tls(&mut pool.bytes(rest)).map_err(TlsError::Io)?;
        self.taken += u32::try_from(count).expect("not more than was given");
        self.connection.process_new_packets().map_err(TlsError::Refused)?;
        Ok(true)
    }

    /// Seals all of these pieces; [`Self::sealed`] gives what to send.
    pub(crate) fn write(
        &mut self,
        pieces: impl Iterator<Item = Slice>,
        pool: &Pool,
    ) -> Result<(), TlsError> {
        let pieces: Vec<_> = pieces.map(|piece| IoSlice::new(pool.bytes(piece))).collect();
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        let written = self.connection.writer().write_vectored(&pieces).map_err(TlsError::Io)?;
        assert_eq!(written, total, "a session without a limit takes all");
        Ok(())
    }

    /// Something is to be sent: what was written, or what rustls itself has to say.
    pub(crate) fn wants_send(&self) -> bool {
        self.connection.wants_write()
    }

    /// Fills a fresh buffer with sealed bytes. `None` if there are none, or no buffer is free.
    pub(crate) fn sealed(
        &mut self,
        room: impl FnOnce(&mut Pool) -> Option<Slice>,
        pool: &mut Pool,
    ) -> Option<Slice> {
        if !self.connection.wants_write() {
            return None;
        }
        let whole = room(pool)?;
        let mut room = pool.bytes_mut(whole);
        while self.connection.wants_write() && !room.is_empty() {
            // A slice fails only when it is full, and then it takes nothing.
            if self.connection.write_tls(&mut room).is_ok_and(|count| count == 0) {
                break;
            }
        }
        let left = u32::try_from(room.len()).expect("within a buffer");
        Some(whole.part(0, whole.length - left))
    }

    /// Has no bytes of its own left, so that another shard may go on with it.
    pub(crate) fn detach(&mut self, pool: &mut Pool) -> bool {
        let is_idle = self.taken == self.filled && !self.connection.wants_write();
        self.dispose(pool);
        is_idle
    }

    pub(crate) fn dispose(&mut self, pool: &mut Pool) {
        if let Some(buffer) = self.incoming.take() {
            pool.release(buffer);
        }
        self.taken = 0;
        self.filled = 0;
    }
}

/// What failed, and what to try.
#[expect(clippy::wildcard_enum_match_arm, reason = "the rest has words of its own in rustls")]
pub(crate) fn in_words(error: &Error) -> String {
    let why = match error {
        Error::InvalidCertificate(reason) => return certificate_in_words(reason),
        Error::NoCertificatesPresented => "the peer showed no certificate",
        Error::AlertReceived(alert) => return alert_in_words(*alert),
        Error::InvalidMessage(_) => {
            "the peer does not speak TLS; is `tls` the same on all nodes, and the port right?"
        }
        Error::DecryptError => "a record was damaged or forged on its way",
        Error::PeerIncompatible(_) => "the peer offers no TLS 1.3, and nothing older is accepted",
        other => return format!("TLS: {other}"),
    };
    why.to_owned()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest has words of its own in rustls")]
fn certificate_in_words(reason: &CertificateError) -> String {
    let why = match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "the peer's certificate is not of this cluster's CA; give all nodes certificates of \
             one `basalt pki init`"
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "the peer's certificate has expired, or a clock is wrong; issue a new one with \
             `basalt pki issue`"
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "the peer's certificate is not valid yet; compare the clocks of the nodes"
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "the peer's certificate is for another node; compare the addresses in the \
             configuration, and which certificate was copied where"
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "the peer's certificate is not for this purpose: that of a client is none of a node"
        }
        other => return format!("the peer's certificate is refused: {other}"),
    };
    why.to_owned()
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the rest has words of its own in rustls")]
fn alert_in_words(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "its CA did not issue this node's certificate; give all nodes certificates of one \
             `basalt pki init`"
        }
        AlertDescription::CertificateExpired => {
            "this node's certificate has expired, or a clock is wrong; issue a new one with \
             `basalt pki issue`"
        }
        AlertDescription::CertificateRequired => {
            "it wants a certificate and got none: `basalt pki issue` makes one"
        }
        AlertDescription::BadCertificate | AlertDescription::AccessDenied => {
            "it does not accept this node's certificate; its log says why"
        }
        AlertDescription::ProtocolVersion => "it speaks no TLS 1.3",
        other => return format!("the peer ended the TLS handshake: {other:?}"),
    };
    format!("the peer ended the TLS handshake: {why}")
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    #[test]
    fn a_certificate_is_of_one_node_with_or_without_a_domain() {
        let certificate = |name: &str| {
            let key = KeyPair::generate().unwrap();
            let names = vec![name.to_owned(), "alpha".to_owned(), "alpha.example.com".to_owned()];
            CertificateParams::new(names).unwrap().self_signed(&key).unwrap().der().clone()
        };
        for (named, node, is_it) in [
            ("alpha", "alpha", true),
            ("alpha", "Alpha", true),
            ("alpha", "alpha.example.com", true),
            ("alpha.example.com", "alpha", true),
            ("alpha.example.com", "alpha.example.com", true),
            ("alpha.example.com", "alpha.example.org", false),
            ("alpha.example.com", "example", false),
            ("alpha.example.com", "bravo.example.com", false),
            ("bravo", "alpha", false),
            ("x.alpha", "alpha", false),
        ] {
            let own = certificate(&node_domain_name(named));
            assert_eq!(is_of_node(&own, node), is_it, "{named} {node}");
            let client = certificate(&client_domain_name(named));
            assert!(!is_of_node(&client, node), "that of a client: {named} {node}");
        }
    }
}
