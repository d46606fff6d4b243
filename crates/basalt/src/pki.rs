//! `basalt pki`: the certificates of a cluster.
//!
//! ```text
//! DIR/ca.key, DIR/ca.crt      the CA: whoever has the key can let anybody in; it stays here
//! DIR/basalt.conf             a first configuration, in which TLS is on
//! DIR/nodes/NAME/             for the node: ca.crt, node.crt, node.key, to be copied as a whole
//! DIR/clients/NAME/           for an NBD client, under the names that libnbd and QEMU look for:
//!                             ca-cert.pem, client-cert.pem, client-key.pem
//! ```
//!
//! Keys are ECDSA P-256. A node is named in its certificate as `NAME.node.basalt`, a client as
//! `NAME.client.basalt`: neither can pass for the other. Nothing is ever written over.

use std::fmt;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use config::number::number;
use io::clock;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

use crate::refused::{self, Form, Refusal};

/// Where a daemon looks for its certificates.
pub(crate) const DIR_DEFAULT: &str = "/etc/basalt/pki";
/// Where the CA is kept.
const CA_DIR_DEFAULT: &str = "/etc/basalt/ca";
/// All CAs are called the same; what tells them apart is their key.
const CA_NAME: &str = "Basalt cluster CA";
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Clocks of nodes may be wrong by so much.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(3600);
const NAME_BYTES_MAX: usize = 200;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make the CA of a new cluster, and a first configuration in which TLS is on
    Init(Init),
    /// Make the certificate and key of a node
    Issue(Issue),
    /// Make the certificate and key of an NBD client
    IssueClient(IssueClient),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// Where the CA is to be kept; its key must not leave this folder
    #[arg(long, value_name = "DIR", default_value = CA_DIR_DEFAULT)]
    dir: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,

    /// How long its certificate is valid
    #[arg(long, default_value_t = 3650, value_parser = number::<u32>(1, 36500, "days"))]
    days: u32,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Issue {
    /// Where the CA is
    #[arg(long, value_name = "DIR", default_value = CA_DIR_DEFAULT)]
    dir: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,

    /// How long the certificate is valid
    #[arg(long, default_value_t = 825, value_parser = number::<u32>(1, 36500, "days"))]
    days: u32,

    /// A host name or address that NBD clients use for this node; may be given more than once
    #[arg(long, value_name = "HOST")]
    address: Vec<String>,

    /// Name of the node, as in the `on` sections of the configuration
    node: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct IssueClient {
    /// Where the CA is
    #[arg(long, value_name = "DIR", default_value = CA_DIR_DEFAULT)]
    dir: PathBuf,

    /// Answer in JSON
    #[arg(long)]
    json: bool,

    /// How long the certificate is valid
    #[arg(long, default_value_t = 825, value_parser = number::<u32>(1, 36500, "days"))]
    days: u32,

    /// Name of the client, as in the file `clients` of the nodes
    client: String,
}

/// The CA of a cluster, able to sign.
struct Authority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

/// Why there is no certificate.
#[derive(Debug)]
enum PkiError {
    /// Nothing is written over.
    Exists {
        path: PathBuf,
    },
    NoAuthority {
        path: PathBuf,
        source: std::io::Error,
    },
    File {
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    BadKey {
        path: PathBuf,
        reason: String,
    },
    BadName {
        name: String,
    },
    BadHost {
        name: String,
    },
    Certificate {
        what: &'static str,
        reason: String,
    },
}

type Result<T> = std::result::Result<T, PkiError>;

impl fmt::Display for PkiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exists { path } => write!(f, "{} is there already", path.display()),
            Self::NoAuthority { path, source } => {
                write!(f, "cannot read {}: {source}", path.display())
            }
            Self::File { what, path, source } => {
                write!(f, "cannot {what} {}: {source}", path.display())
            }
            Self::BadKey { path, reason } => {
                write!(f, "{} is no key in PEM: {reason}", path.display())
            }
            Self::BadName { name } => write!(f, "{name:?} is no name for a certificate"),
            Self::BadHost { name } => write!(f, "{name:?} is no host name"),
            Self::Certificate { what, reason } => write!(f, "cannot {what}: {reason}"),
        }
    }
}

impl PkiError {
    fn code(&self) -> &'static str {
        match self {
            Self::Exists { .. } => "exists",
            Self::NoAuthority { .. } => "no-authority",
            Self::File { .. } => "file",
            Self::BadKey { .. } => "bad-key",
            Self::BadName { .. } | Self::BadHost { .. } => "bad-name",
            Self::Certificate { .. } => "certificate",
        }
    }

    fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Exists { path }
            | Self::NoAuthority { path, .. }
            | Self::File { path, .. }
            | Self::BadKey { path, .. } => Some(path.clone()),
            Self::BadName { .. } | Self::BadHost { .. } | Self::Certificate { .. } => None,
        }
    }

    fn to_try(&self) -> String {
        match self {
            Self::Exists { .. } => "move it away first: nothing is written over".to_owned(),
            Self::NoAuthority { .. } => {
                "`basalt pki init` makes a CA; --dir names the folder of one that is elsewhere"
                    .to_owned()
            }
            Self::File { .. } => "`ls -ld` of the folder shows whether it is there, and who may \
                                  write to it"
                .to_owned(),
            Self::BadKey { .. } => "put the CA's own key back, from its backup".to_owned(),
            Self::BadName { .. } => {
                format!("letters, digits and `-_.`, at most {NAME_BYTES_MAX}")
            }
            Self::BadHost { .. } => "a host name, or an IP address".to_owned(),
            Self::Certificate { .. } => "another --days, or another name".to_owned(),
        }
    }
}

pub(crate) fn main(command: &Command) -> ExitCode {
    let (verb, is_json, made) = match command {
        Command::Init(options) => ("pki init", options.json, init(options)),
        Command::Issue(options) => ("pki issue", options.json, issue(options)),
        Command::IssueClient(options) => ("pki issue-client", options.json, issue_client(options)),
    };
    let form = if is_json { Form::Json } else { Form::Text };
    match made {
        Ok(text) => refused::done(verb, &text, form),
        Err(error) => {
            let (code, file) = (error.code(), error.file());
            let (message, to_try) = (error.to_string(), error.to_try());
            let refusal = Refusal { verb, code, file, message, to_try, exit: 1 };
            refused::tell(&[refusal], form)
        }
    }
}

fn init(options: &Init) -> Result<String> {
    let Init { dir, days, .. } = options;
    make_folder(dir)?;
    let key = KeyPair::generate().map_err(certificate("make a key"))?;
    let certificate =
        ca_params(*days)?.self_signed(&key).map_err(certificate("make a certificate"))?;
    write_new(&dir.join("ca.key"), &key.serialize_pem(), 0o600)?;
    write_new(&dir.join("ca.crt"), &certificate.pem(), 0o644)?;
    let config = "# Everything that nodes say to each other is sealed, for all resources.\n\
                  common { net { tls yes; } }\n\
                  include \"basalt.d/*.res\";\n";
    write_new(&dir.join("basalt.conf"), config, 0o644)?;
    let dir = dir.display();
    Ok(format!(
        "{dir}/ca.key is the key of the cluster: it stays here, and is not for the nodes\n\
         next: `basalt pki issue --dir {dir} NODE` for each node,\n\
         and copy {dir}/basalt.conf to /etc/basalt.conf on all of them\n"
    ))
}

fn issue(options: &Issue) -> Result<String> {
    let Issue { dir, days, address, node, .. } = options;
    let authority = Authority::read(dir)?;
    let mut params = leaf_params(node, &node::node_domain_name(node), *days)?;
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    for host in address {
        params.subject_alt_names.push(match host.parse::<IpAddr>() {
            Ok(address) => SanType::IpAddress(address),
            Err(_) => dns_name(host)?,
        });
    }
    let folder = dir.join("nodes").join(node);
    let names = ["ca.crt", "node.crt", "node.key"];
    authority.issue(&params, &folder, names)?;
    let folder = folder.display();
    Ok(format!(
        "made {folder}; copy what is in it to {DIR_DEFAULT} of {node}, over a way that you trust\n"
    ))
}

fn issue_client(options: &IssueClient) -> Result<String> {
    let IssueClient { dir, days, client, .. } = options;
    let authority = Authority::read(dir)?;
    let mut params = leaf_params(client, &node::client_domain_name(client), *days)?;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    let folder = dir.join("clients").join(client);
    let names = ["ca-cert.pem", "client-cert.pem", "client-key.pem"];
    authority.issue(&params, &folder, names)?;
    let folder = folder.display();
    Ok(format!(
        "made {folder}, for the client; on the nodes, say what it may do in {DIR_DEFAULT}/clients\n"
    ))
}

impl Authority {
    fn read(dir: &Path) -> Result<Self> {
        let read = |name: &str| {
            let path = dir.join(name);
            fs::read_to_string(&path).map_err(|source| PkiError::NoAuthority { path, source })
        };
        let key = KeyPair::from_pem(&read("ca.key")?).map_err(|error| PkiError::BadKey {
            path: dir.join("ca.key"),
            reason: error.to_string(),
        })?;
        let certificate = read("ca.crt")?;
        // Of the CA only its name counts here, and that is always the same.
        Ok(Self { certificate, issuer: Issuer::new(ca_params(1)?, key) })
    }

    /// Writes a folder with the CA's certificate, a new one and its key, under these names.
    fn issue(&self, params: &CertificateParams, folder: &Path, names: [&str; 3]) -> Result<()> {
        let key = KeyPair::generate().map_err(certificate("make a key"))?;
        let certificate =
            params.signed_by(&key, &self.issuer).map_err(certificate("sign a certificate"))?;
        make_folder(folder)?;
        write_new(&folder.join(names[2]), &key.serialize_pem(), 0o600)?;
        write_new(&folder.join(names[1]), &certificate.pem(), 0o644)?;
        write_new(&folder.join(names[0]), &self.certificate, 0o644)
    }
}

fn ca_params(days: u32) -> Result<CertificateParams> {
    let mut params = params(CA_NAME, days)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(params)
}

fn leaf_params(name: &str, domain_name: &str, days: u32) -> Result<CertificateParams> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        return Err(PkiError::BadName { name: name.to_owned() });
    }
    let mut params = params(name, days)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.use_authority_key_identifier_extension = true;
    params.subject_alt_names = vec![dns_name(domain_name)?];
    Ok(params)
}

fn params(common_name: &str, days: u32) -> Result<CertificateParams> {
    let mut params =
        CertificateParams::new(Vec::new()).map_err(certificate("begin a certificate"))?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, common_name);
    let now = clock::unix_time();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + (now.saturating_sub(CLOCK_TOLERANCE));
    params.not_after = epoch + (now + DAY * days);
    Ok(params)
}

fn dns_name(name: &str) -> Result<SanType> {
    let text = name.try_into().map_err(|_foreign| PkiError::BadHost { name: name.to_owned() })?;
    Ok(SanType::DnsName(text))
}

fn certificate(what: &'static str) -> impl Fn(rcgen::Error) -> PkiError {
    move |error| PkiError::Certificate { what, reason: error.to_string() }
}

fn file(what: &'static str, path: &Path) -> impl Fn(std::io::Error) -> PkiError {
    move |source| PkiError::File { what, path: path.to_owned(), source }
}

fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(file("make", path))
}

/// Never over another file: keys cannot be made again.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let mut written = match opened {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(PkiError::Exists { path: path.to_owned() });
        }
        other => other.map_err(file("write", path))?,
    };
    written
        .write_all(text.as_bytes())
        .and_then(|()| written.sync_all())
        .map_err(file("write", path))
}
