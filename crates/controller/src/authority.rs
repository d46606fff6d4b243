//! The cluster's own certificates, and the words that let machines in.
//!
//! The authority signs a certificate for the controller and one for each node. A node is named in
//! its own as `ID.agent.basalt`: by that the controller knows who speaks, and by nothing else.
//!
//! A join word is `basalt-` and 64 hexadecimal digits: a secret of 16 bytes, and the first 16 bytes
//! of the SHA-256 of the authority's certificate. By these the machine that joins knows that it
//! speaks with this cluster before it says the secret.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use io::clock;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PublicKeyData, SanType, SignatureAlgorithm,
};
use ring::digest;
use uuid::Uuid;

/// The controller in its certificate.
pub(crate) const CONTROLLER_NAME: &str = "controller.basalt";
/// Behind the id of a node in its certificate.
const AGENT_SUFFIX: &str = ".agent.basalt";
const AUTHORITY_NAME: &str = "Basalt control plane CA";
const WORD_PREFIX: &str = "basalt-";
pub(crate) const SECRET_BYTES: usize = 16;
const FINGERPRINT_BYTES: usize = 16;
const POINT_BYTES: usize = 65;
const DAY: Duration = Duration::from_secs(24 * 3600);
const VALID_DAYS: u32 = 3650;
/// Clocks of nodes may be wrong by so much.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(3600);

#[derive(Debug, thiserror::Error)]
pub enum AuthorityError {
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: std::io::Error },
    #[error("cannot {action}: {source}")]
    Certificate { action: &'static str, source: rcgen::Error },
}

type Result<T> = std::result::Result<T, AuthorityError>;

pub(crate) struct Authority {
    /// In PEM.
    pub(crate) certificate: String,
    /// The same in DER.
    der: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

impl std::fmt::Debug for Authority {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

/// A certificate in PEM, and its key.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    /// That of the folder; a new one if it has none. A certificate without its key is refused: with
    /// another key nobody in the cluster would trust it.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let (key_path, path) = (folder.join("ca.key"), folder.join("ca.crt"));
        if !key_path.exists() && !path.exists() {
            let key = KeyPair::generate().map_err(failed("make a key"))?;
            write_new(&key_path, &key.serialize_pem(), 0o600)?;
        }
        let key = KeyPair::from_pem(&read(&key_path)?);
        let key = key.map_err(failed("read the key of the authority"))?;
        // It is made behind the key: who stopped between the two goes on here.
        if !path.exists() {
            let certificate = authority_params()?.self_signed(&key);
            let certificate = certificate.map_err(failed("make a certificate"))?;
            write_new(&path, &certificate.pem(), 0o644)?;
        }
        let certificate = read(&path)?;
        let der = der_of(&certificate)
            .ok_or(rcgen::Error::CouldNotParseCertificate)
            .map_err(failed("read the certificate of the authority"))?;
        Ok(Self { certificate, der, issuer: Issuer::new(authority_params()?, key) })
    }

    /// The controller's own, made anew at each start.
    pub(crate) fn controller(&self) -> Result<Identity> {
        let key = KeyPair::generate().map_err(failed("make a key"))?;
        let mut params = params("controller", CONTROLLER_NAME)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer);
        let certificate = certificate.map_err(failed("sign a certificate"))?.pem();
        Ok(Identity { certificate, key: key.serialize_pem() })
    }

    /// In PEM: for the node with this key.
    pub(crate) fn node(&self, id: Uuid, key: &Point) -> Result<String> {
        let mut params = params(&id.to_string(), &format!("{id}{AGENT_SUFFIX}"))?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let certificate = params.signed_by(key, &self.issuer);
        Ok(certificate.map_err(failed("sign a certificate"))?.pem())
    }

    pub(crate) fn word(&self, secret: &[u8; SECRET_BYTES]) -> String {
        let fingerprint = digest::digest(&digest::SHA256, &self.der);
        let fingerprint = &fingerprint.as_ref()[..FINGERPRINT_BYTES];
        format!("{WORD_PREFIX}{}{}", hex(secret), hex(fingerprint))
    }
}

/// The public key of a node.
#[derive(Debug)]
pub(crate) struct Point(Vec<u8>);

impl Point {
    pub(crate) fn read(digits: &str) -> Option<Self> {
        let bytes = unhex(digits)?;
        // Of a point that is not compressed.
        (bytes.len() == POINT_BYTES && bytes[0] == 4).then_some(Self(bytes))
    }
}

impl PublicKeyData for Point {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

/// The node that a certificate names, which the authority signed.
pub(crate) fn node_of(certificate: &rustls::pki_types::CertificateDer<'_>) -> Option<Uuid> {
    let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
    let mut names = certificate.valid_dns_names();
    names.find_map(|name| name.strip_suffix(AGENT_SUFFIX)?.parse().ok())
}

/// What the store keeps of a secret, in hexadecimal digits.
pub(crate) fn digest_of(secret: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, secret).as_ref())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let pair = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..digits.len()).step_by(2).map(pair).collect()
}

fn read(path: &Path) -> Result<String> {
    let failed = |source| AuthorityError::File { action: "read", path: path.to_owned(), source };
    fs::read_to_string(path).map_err(failed)
}

fn der_of(pem: &str) -> Option<Vec<u8>> {
    use rustls::pki_types::pem::PemObject as _;
    let read = rustls::pki_types::CertificateDer::from_pem_slice(pem.as_bytes());
    read.ok().map(|der| der.as_ref().to_vec())
}

fn authority_params() -> Result<CertificateParams> {
    let mut params = dated(AUTHORITY_NAME)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn params(common_name: &str, domain_name: &str) -> Result<CertificateParams> {
    let mut params = dated(common_name)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    let name = domain_name.try_into().map_err(failed("name a certificate"))?;
    params.subject_alt_names = vec![SanType::DnsName(name)];
    Ok(params)
}

fn dated(common_name: &str) -> Result<CertificateParams> {
    let mut params = CertificateParams::new(Vec::new()).map_err(failed("begin a certificate"))?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    let (now, epoch) = (clock::unix_time(), rcgen::date_time_ymd(1970, 1, 1));
    params.not_before = epoch + now.saturating_sub(CLOCK_TOLERANCE);
    params.not_after = epoch + (now + DAY * VALID_DAYS);
    Ok(params)
}

fn failed(action: &'static str) -> impl Fn(rcgen::Error) -> AuthorityError {
    move |source| AuthorityError::Certificate { action, source }
}

/// Never over another file: keys cannot be made again.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let failed = |source| AuthorityError::File { action: "write", path: path.to_owned(), source };
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut file = opened.map_err(failed)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    use super::*;

    #[test]
    fn certificate_of_a_node_names_it_and_that_of_the_controller_no_node() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::open(folder.path()).unwrap();
        let (id, key) = (Uuid::new_v4(), KeyPair::generate().unwrap());
        let point = Point::read(&hex(key.der_bytes())).unwrap();
        let der = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
        assert_eq!(node_of(&der(&authority.node(id, &point).unwrap())), Some(id));
        assert_eq!(node_of(&der(&authority.controller().unwrap().certificate)), None);
    }

    #[test]
    fn authority_is_the_same_after_it_is_opened_again() {
        let folder = tempfile::tempdir().unwrap();
        let word = |()| Authority::open(folder.path()).unwrap().word(&[7; SECRET_BYTES]);
        let first = word(());
        assert_eq!(word(()), first);
        assert!(first.starts_with("basalt-07070707"), "{first}");
        assert_eq!(first.len(), "basalt-".len() + 64);
    }

    #[test]
    fn keys_that_are_no_points_are_refused() {
        for digits in ["", "04", "zz", "é0", &"02".repeat(65), &"04".repeat(66)] {
            assert!(Point::read(digits).is_none(), "{digits}");
        }
        assert!(Point::read(&"04".repeat(65)).is_some());
    }
}
