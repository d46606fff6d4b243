//! What a node proves itself with, and what it checks others against.
//!
//! ```text
//! DIR/ca.crt      whom the nodes trust: the one CA of the cluster
//! DIR/node.crt    this node's certificate, for NAME.node.basalt and the names of its NBD server
//! DIR/node.key    its key, for the daemon's user alone
//! DIR/clients     who may use which volume over NBD, a line each (`grants`)
//! ```
//!
//! The control side reads them, and again when they change: new connections use the new ones.
//! TLS 1.3 and nothing older; no tickets and no early data, so that each connection proves itself.

use std::io as stdio;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, ParsedCertificate, WebPkiClientVerifier};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    ServerConfig, ServerConnection, SignatureScheme, version,
};

use crate::limits::CERTIFICATE_YEARS_MAX;
use crate::tls::grants::Grants;
use crate::tls::{NODE_DOMAIN, in_words, is_of_node, node_domain_name};

pub const CA: &str = "ca.crt";
pub const CERTIFICATE: &str = "node.crt";
pub const KEY: &str = "node.key";
pub const CLIENTS: &str = "clients";
const SECONDS_OF_YEAR: u64 = 365 * 24 * 3600;

/// Why a node has no credentials.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: stdio::Error },
    #[error("{} may be read by other users; use `chmod 600`", .0.display())]
    OpenKey(PathBuf),
    #[error("{} is no {what}: {reason}", path.display())]
    Damaged { path: PathBuf, what: &'static str, reason: String },
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable { path: PathBuf, reason: String },
    #[error("a data thread is overloaded, and may not have them yet; it is told again soon")]
    Untold,
}

/// The content of the folder, to see whether it changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    pub folder: PathBuf,
    pub ca: Vec<u8>,
    pub certificate: Vec<u8>,
    pub key: Vec<u8>,
    pub clients: String,
}

#[derive(Debug)]
pub struct Credentials {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    grants: Result<Grants, String>,
    /// Seconds of the Unix epoch; set when the files are read.
    ends_at: u64,
}

impl Credentials {
    pub fn of(files: &Files, node: &str) -> Result<Self, CredentialsError> {
        let at = |name: &str| files.folder.join(name);
        let chain = certificates(&files.certificate, at(CERTIFICATE))?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates(&files.ca, at(CA))? {
            roots.add(certificate).map_err(|error| CredentialsError::Unusable {
                path: at(CA),
                reason: error.to_string(),
            })?;
        }
        let key = || {
            PrivateKeyDer::from_pem_slice(&files.key).map_err(|error| CredentialsError::Damaged {
                path: at(KEY),
                what: "private key",
                reason: error.to_string(),
            })
        };
        let unusable =
            |reason: String| CredentialsError::Unusable { path: at(CERTIFICATE), reason };
        let provider = Arc::new(provider());
        check(&chain[0], &roots, &provider, node).map_err(unusable)?;
        let ends_at = end_of(UnixTime::now().as_secs(), |at| {
            let at = UnixTime::since_unix_epoch(Duration::from_secs(at));
            verify(&chain[0], &[], &roots, &provider, at).is_ok()
        });
        let roots = Arc::new(roots);
        let refused = |error: rustls::Error| unusable(error.to_string());
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&version::TLS13])
            .map_err(refused)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(NodeVerifier {
                roots: Arc::clone(&roots),
                provider: Arc::clone(&provider),
            }))
            .with_client_auth_cert(chain.clone(), key()?)
            .map_err(refused)?;
        client.resumption = Resumption::disabled();
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13])
            .map_err(refused)?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key()?)
            .map_err(refused)?;
        server.send_tls13_tickets = 0;
        server.session_storage = Arc::new(NoServerSessionStorage {});
        let grants = Grants::parse(&files.clients);
        Ok(Self { client: Arc::new(client), server: Arc::new(server), grants, ends_at })
    }

    /// What clients may do; nothing while the list cannot be read.
    pub fn grants(&self) -> &Grants {
        static NONE: Grants = Grants::NONE;
        self.grants.as_ref().unwrap_or(&NONE)
    }

    /// What is wrong with the list of clients.
    pub fn grants_failure(&self) -> Option<&str> {
        self.grants.as_ref().err().map(String::as_str)
    }

    /// The last second, of the Unix epoch, in which other nodes take this node's certificate; the
    /// CA's may end before it.
    pub fn ends_at(&self) -> u64 {
        self.ends_at
    }

    pub(super) fn dial(
        &self,
        name: ServerName<'static>,
    ) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.client), name)
    }

    pub(super) fn accept(&self) -> Result<ServerConnection, rustls::Error> {
        ServerConnection::new(Arc::clone(&self.server))
    }
}

/// As that of rustls, but that a node may have a domain in one of the two names alone.
#[derive(Debug)]
struct NodeVerifier {
    roots: Arc<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for NodeVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        verify(end_entity, intermediates, &self.roots, &self.provider, now)?;
        let name = server_name.to_str();
        let node = name.strip_suffix(NODE_DOMAIN);
        if node.is_some_and(|node| is_of_node(end_entity, node)) {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::NotValidForName.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("TLS 1.2 is not spoken".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The cheapest cipher first: both ends are this program, or choose for themselves.
fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.cipher_suites = vec![
        ring::cipher_suite::TLS13_AES_128_GCM_SHA256,
        ring::cipher_suite::TLS13_AES_256_GCM_SHA384,
        ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ];
    provider
}

fn certificates(
    text: &[u8],
    path: PathBuf,
) -> Result<Vec<CertificateDer<'static>>, CredentialsError> {
    let damaged =
        |reason: String| CredentialsError::Damaged { path, what: "certificate in PEM", reason };
    match CertificateDer::pem_slice_iter(text).collect::<Result<Vec<_>, _>>() {
        Ok(chain) if chain.is_empty() => Err(damaged("there is none in it".to_owned())),
        Ok(chain) => Ok(chain),
        Err(error) => Err(damaged(error.to_string())),
    }
}

/// The last second from `now` on in which `is_valid` holds, as it does now: the checks of other
/// nodes decide, and not a field that this node would read in its own way.
fn end_of(now: u64, is_valid: impl Fn(u64) -> bool) -> u64 {
    let (mut valid, mut invalid) = (now, now + CERTIFICATE_YEARS_MAX * SECONDS_OF_YEAR);
    if is_valid(invalid) {
        return invalid;
    }
    while invalid - valid > 1 {
        let middle = valid.midpoint(invalid);
        if is_valid(middle) {
            valid = middle;
        } else {
            invalid = middle;
        }
    }
    valid
}

/// What the others would say of this node's own certificate.
fn check(
    own: &CertificateDer<'_>,
    roots: &RootCertStore,
    provider: &CryptoProvider,
    node: &str,
) -> Result<(), String> {
    verify(own, &[], roots, provider, UnixTime::now())
        .map_err(|error| in_words(&error).replace("the peer's certificate", "it"))?;
    let name = node_domain_name(node);
    ServerName::try_from(name.as_str())
        .map_err(|error| format!("{node:?} is no name for a certificate: {error}"))?;
    if is_of_node(own, node) {
        return Ok(());
    }
    Err(format!("it is not for node {node:?}: `basalt pki issue {node}` makes one for {name}"))
}

fn verify(
    certificate: &CertificateDer<'_>,
    intermediates: &[CertificateDer<'_>],
    roots: &RootCertStore,
    provider: &CryptoProvider,
    at: UnixTime,
) -> Result<(), rustls::Error> {
    let parsed = ParsedCertificate::try_from(certificate)?;
    let algorithms = provider.signature_verification_algorithms.all;
    verify_server_cert_signed_by_trust_anchor(&parsed, roots, intermediates, at, algorithms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_last_second_that_is_valid() {
        const MAX: u64 = CERTIFICATE_YEARS_MAX * SECONDS_OF_YEAR;
        for last in [0, 1, 2, 86_400, MAX - 1] {
            assert_eq!(end_of(7, |at| at <= 7 + last), 7 + last);
        }
        assert_eq!(end_of(7, |_| true), 7 + MAX);
    }
}
