//! An NBD client that stops in the middle of things: in clear text or over TLS, byte by byte.

use std::fs;
use std::io::{Error, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command as Program;
use std::sync::Arc;
use std::time::Duration;

use frontend::nbd::wire::{
    Command, GREETING_MAGIC, OPT_GO, OPT_STARTTLS, OPTION_MAGIC, OPTION_REPLY_MAGIC, REP_ACK,
    REP_ERROR_BIT, REQUEST_MAGIC, SIMPLE_REPLY_MAGIC,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::harness::{Cluster, own_port};

/// Longer than anything takes that is not held up.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The way of a client to the first node.
#[derive(Clone)]
pub(crate) enum Way {
    Plain,
    Tls { address: SocketAddr, config: Arc<ClientConfig> },
}

pub(crate) trait Wire: Read + Write + Send {}

impl Wire for UnixStream {}
impl Wire for StreamOwned<ClientConnection, TcpStream> {}

/// A connection that was greeted, or more.
pub(crate) struct Raw {
    pub(crate) wire: Box<dyn Wire>,
}

/// A cluster whose first node also serves NBD over TLS, and the way there of a client that may
/// write.
pub(crate) fn with_tls(cluster: &mut Cluster) -> Way {
    cluster.issue_certificates();
    let ca = cluster.directory.path().join("ca");
    let mut issue = Program::new(env!("CARGO_BIN_EXE_basalt"));
    issue.args(["pki", "issue-client", "web", "--dir"]).arg(&ca);
    assert!(issue.output().unwrap().status.success());
    fs::write(ca.join("nodes/n0/clients"), "web * rw\n").unwrap();
    let address = own_port();
    cluster.nodes[0].words.extend(["--nbd-tls".to_owned(), address.to_string()]);
    let own = ca.join("clients/web");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(own.join("ca-cert.pem")).unwrap()).unwrap();
    let chain = CertificateDer::pem_file_iter(own.join("client-cert.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(own.join("client-key.pem")).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    Way::Tls { address, config: Arc::new(config) }
}

impl Raw {
    /// Greeted, with TLS where the way has it.
    pub(crate) fn connect(cluster: &Cluster, way: &Way) -> Self {
        match way {
            Way::Plain => {
                let mut stream = UnixStream::connect(cluster.nbd_socket(0)).unwrap();
                stream.set_read_timeout(Some(LIMIT)).unwrap();
                take_greeting(&mut stream);
                Self { wire: Box::new(stream) }
            }
            Way::Tls { address, config } => {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(LIMIT)).unwrap();
                stream.set_nodelay(true).unwrap();
                take_greeting(&mut stream);
                stream.write_all(&option(OPT_STARTTLS, &[])).unwrap();
                assert_eq!(answer(&mut stream).unwrap().0, REP_ACK, "the answer to STARTTLS");
                let name = ServerName::try_from("n0.node.basalt").unwrap();
                let tls = ClientConnection::new(Arc::clone(config), name).unwrap();
                Self { wire: Box::new(StreamOwned::new(tls, stream)) }
            }
        }
    }

    /// Chooses the volume, or gives the text with which it is refused.
    pub(crate) fn go(&mut self) -> Result<(), String> {
        let payload = [&2_u32.to_be_bytes()[..], b"r0", &0_u16.to_be_bytes()].concat();
        self.wire.write_all(&option(OPT_GO, &payload)).unwrap();
        loop {
            let (kind, text) = answer(&mut self.wire).map_err(|error| error.to_string())?;
            if kind & REP_ERROR_BIT != 0 {
                return Err(String::from_utf8_lossy(&text).into_owned());
            }
            if kind == REP_ACK {
                return Ok(());
            }
        }
    }

    /// A session of the volume.
    pub(crate) fn open(cluster: &Cluster, way: &Way) -> Self {
        let mut client = Self::connect(cluster, way);
        client.go().unwrap();
        client
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.wire.write_all(bytes).unwrap();
        self.wire.flush().unwrap();
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let head = head_of(Command::Write, offset, bytes.len());
        self.wire.write_all(&[&head[..], bytes].concat())?;
        self.wire.flush()?;
        self.reply()
    }

    pub(crate) fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.wire.write_all(&head_of(Command::Read, offset, bytes.len()))?;
        self.wire.flush()?;
        self.reply()?;
        self.wire.read_exact(bytes)
    }

    fn reply(&mut self) -> Result<(), Error> {
        let mut head = [0; 16];
        self.wire.read_exact(&mut head)?;
        assert_eq!((be32(&head), be32(&head[4..])), (SIMPLE_REPLY_MAGIC, 0), "a good reply");
        Ok(())
    }
}

/// A request without its payload.
pub(crate) fn head_of(command: Command, offset: u64, length: usize) -> Vec<u8> {
    let mut head = REQUEST_MAGIC.to_be_bytes().to_vec();
    head.extend(0_u16.to_be_bytes());
    head.extend(command.number().to_be_bytes());
    head.extend(offset.to_be_bytes());
    head.extend(offset.to_be_bytes());
    head.extend(u32::try_from(length).unwrap().to_be_bytes());
    head
}

fn take_greeting(stream: &mut (impl Read + Write)) {
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).unwrap();
    assert_eq!(be64(&greeting), GREETING_MAGIC);
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
}

fn option(number: u32, payload: &[u8]) -> Vec<u8> {
    let mut option = OPTION_MAGIC.to_be_bytes().to_vec();
    option.extend(number.to_be_bytes());
    option.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    option.extend(payload);
    option
}

fn be32(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[..4].try_into().unwrap())
}

fn be64(bytes: &[u8]) -> u64 {
    u64::from_be_bytes(bytes[..8].try_into().unwrap())
}

/// Kind and payload of one answer.
fn answer(stream: &mut impl Read) -> Result<(u32, Vec<u8>), Error> {
    let mut head = [0; 20];
    stream.read_exact(&mut head)?;
    assert_eq!(be64(&head), OPTION_REPLY_MAGIC);
    let mut payload = vec![0; be32(&head[16..]) as usize];
    stream.read_exact(&mut payload)?;
    Ok((be32(&head[12..]), payload))
}
