//! Who the agent is: the files that joining a cluster leaves in its folder, and the TLS made of
//! them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{KeyPair, PublicKeyData};
use ring::digest;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use serde::{Deserialize, Serialize};

use api::agent::{Join, JoinPool, Joined};

use crate::line::{Line, LineError};

const WORD_PREFIX: &str = "basalt-";
const SECRET_DIGITS: usize = 32;
const FINGERPRINT_BYTES: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error("{word:?} is no join word: that is `basalt-` and 64 hexadecimal digits")]
    Word { word: String },
    #[error("this node is in a cluster already: {}", path.display())]
    Member { path: PathBuf },
    #[error("this node is in no cluster yet: {} does not exist", path.display())]
    NoMember { path: PathBuf },
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("{}: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("cannot make a key: {0}")]
    Key(rcgen::Error),
    #[error("TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error(transparent)]
    Line(#[from] LineError),
    #[error("cannot start the runtime: {0}")]
    Runtime(std::io::Error),
}

/// What the node is called in its cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    pub cluster: String,
    pub node: String,
    pub name: String,
    /// HOST:PORT
    pub controller: String,
}

/// A node that is to join.
#[derive(Clone, Debug)]
pub struct Newcomer {
    pub state_dir: PathBuf,
    /// HOST:PORT
    pub controller: String,
    pub word: String,
    pub name: String,
    pub address: std::net::IpAddr,
    pub data_port: u16,
    /// As [`Join::nbd`].
    pub nbd: String,
    pub pool: Option<JoinPool>,
}

/// Brings the node into the cluster of the word.
///
/// # Errors
/// If it is in one already, or the controller refuses or is not there.
pub fn join(newcomer: &Newcomer) -> Result<Identity, IdentityError> {
    let path = newcomer.state_dir.join("identity.json");
    if path.exists() {
        return Err(IdentityError::Member { path });
    }
    let (secret, fingerprint) = parts_of(&newcomer.word)?;
    let key = KeyPair::generate().map_err(IdentityError::Key)?;
    let request = Join {
        secret,
        name: newcomer.name.clone(),
        address: newcomer.address,
        data_port: newcomer.data_port,
        nbd: newcomer.nbd.clone(),
        public_key: key.der_bytes().iter().map(|byte| format!("{byte:02x}")).collect(),
        pool: newcomer.pool.clone(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(IdentityError::Runtime)?;
    let mut line = Line::new(&newcomer.controller, Arc::new(pinned(fingerprint)?));
    let joined: Joined = runtime.block_on(line.post("/agent/v1/join", &request))?;
    let identity = Identity {
        cluster: joined.cluster,
        node: joined.node,
        name: newcomer.name.clone(),
        controller: newcomer.controller.clone(),
    };
    let folder = &newcomer.state_dir;
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(file("make", folder))?;
    write(&folder.join("agent.key"), &key.serialize_pem())?;
    write(&folder.join("agent.crt"), &joined.certificate)?;
    write(&folder.join("ca.crt"), &joined.authority)?;
    // The last: with it the node counts as a member.
    let text = serde_json::to_string_pretty(&identity).expect("it is made of strings");
    write(&path, &(text + "\n"))?;
    Ok(identity)
}

impl Identity {
    /// # Errors
    /// If the folder is of no member.
    pub fn read(folder: &Path) -> Result<Self, IdentityError> {
        let path = folder.join("identity.json");
        if !path.exists() {
            return Err(IdentityError::NoMember { path });
        }
        let text = fs::read_to_string(&path).map_err(file("read", &path))?;
        serde_json::from_str(&text)
            .map_err(|error| IdentityError::Damaged { path, reason: error.to_string() })
    }
}

/// As a member of the cluster.
pub(crate) fn tls(folder: &Path) -> Result<ClientConfig, IdentityError> {
    let damaged = |path: &Path| {
        let path = path.to_owned();
        move |error: rustls::pki_types::pem::Error| IdentityError::Damaged {
            path,
            reason: error.to_string(),
        }
    };
    let certificate = |name: &str| {
        let path = folder.join(name);
        let text = fs::read(&path).map_err(file("read", &path))?;
        CertificateDer::from_pem_slice(&text).map_err(damaged(&path))
    };
    let path = folder.join("agent.key");
    let text = fs::read(&path).map_err(file("read", &path))?;
    let key = PrivateKeyDer::from_pem_slice(&text).map_err(damaged(&path))?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.crt")?)?;
    let config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![certificate("agent.crt")?], key)?;
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The secret of a word, and the fingerprint of the authority that made it.
fn parts_of(word: &str) -> Result<(String, Vec<u8>), IdentityError> {
    let wrong = || IdentityError::Word { word: word.to_owned() };
    let digits = word.trim().strip_prefix(WORD_PREFIX).ok_or_else(wrong)?;
    let is_plain =
        digits.len() == 2 * SECRET_DIGITS && digits.bytes().all(|it| it.is_ascii_hexdigit());
    if !is_plain {
        return Err(wrong());
    }
    let (secret, fingerprint) = digits.split_at(SECRET_DIGITS);
    let byte = |at: usize| u8::from_str_radix(&fingerprint[at..at + 2], 16);
    let bytes: Result<Vec<u8>, _> = (0..SECRET_DIGITS).step_by(2).map(byte).collect();
    Ok((secret.to_owned(), bytes.map_err(|_no_digits| wrong())?))
}

/// As one that knows of the cluster only what the word says.
fn pinned(fingerprint: Vec<u8>) -> Result<ClientConfig, IdentityError> {
    let provider = provider();
    let verifier = Pinned { fingerprint, provider: Arc::clone(&provider) };
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(config)
}

/// Trusts the authority with this fingerprint, and whom that signed.
#[derive(Debug)]
struct Pinned {
    fingerprint: Vec<u8>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let unknown = || rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let is_meant = |it: &&CertificateDer<'_>| {
            let digest = digest::digest(&digest::SHA256, it);
            digest.as_ref()[..FINGERPRINT_BYTES] == self.fingerprint[..]
        };
        let authority = intermediates.iter().find(is_meant).ok_or_else(unknown)?;
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone().into_owned())?;
        let provider = Arc::clone(&self.provider);
        let built = WebPkiServerVerifier::builder_with_provider(roots.into(), provider).build();
        let verifier = built.map_err(|_no_roots| unknown())?;
        verifier.verify_server_cert(end_entity, &[], server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

fn file(action: &'static str, path: &Path) -> impl Fn(std::io::Error) -> IdentityError {
    move |source| IdentityError::File { action, path: path.to_owned(), source }
}

/// For the agent's user alone, whole or not there, and durable.
fn write(path: &Path, text: &str) -> Result<(), IdentityError> {
    let draft = path.with_extension("new");
    let opened =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft);
    let mut written = opened.map_err(file("write", &draft))?;
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    written
        .write_all(text.as_bytes())
        .and_then(|()| written.sync_all())
        .and_then(|()| fs::rename(&draft, path))
        .and_then(|()| fs::File::open(folder)?.sync_all())
        .map_err(file("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_is_a_secret_and_a_fingerprint() {
        let word = format!("basalt-{}{}", "0a".repeat(16), "ff".repeat(16));
        let (secret, fingerprint) = parts_of(&format!(" {word}\n")).unwrap();
        assert_eq!((secret, fingerprint), ("0a".repeat(16), vec![0xff; 16]));
        for wrong in ["", "basalt-", &word[1..], &word[..70], &format!("{word}0"), "basalt-é"] {
            assert!(parts_of(wrong).is_err(), "{wrong}");
        }
        let odd = format!("basalt-{}", "+1".repeat(32));
        parts_of(&odd).unwrap_err();
    }
}
