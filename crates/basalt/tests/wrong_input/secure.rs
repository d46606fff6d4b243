//! Nodes that are to use TLS, and peers that do not, or that are somebody else.
//!
//! Whatever a peer tries, nothing is said in clear text, and both ends say what is wrong.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use api::disk_state::DiskState;
use rcgen::{CertificateParams, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection};

use crate::cluster::{Cluster, RESOURCE, wait_for};
use crate::fake_peer::hello;

const NODES: [&str; 3] = ["alfa", "bravo", "charlie"];

/// The CA of a cluster, and what it has issued.
pub(crate) struct Pki {
    pub(crate) dir: PathBuf,
}

impl Pki {
    pub(crate) fn init(dir: PathBuf) -> Self {
        basalt(&["init"], &dir);
        Self { dir }
    }

    fn issue(&self, node: &str) -> PathBuf {
        basalt(&["issue", node], &self.dir);
        self.dir.join("nodes").join(node)
    }

    /// A certificate of this CA that ended an hour ago, which the program itself never makes.
    fn issue_expired(&self, node: &str) -> PathBuf {
        let folder = self.issue(node);
        let ca_key = KeyPair::from_pem(&text_of(&self.dir.join("ca.key"))).unwrap();
        let mut ca = CertificateParams::new(Vec::new()).unwrap();
        ca.distinguished_name = rcgen::DistinguishedName::new();
        ca.distinguished_name.push(rcgen::DnType::CommonName, "Basalt cluster CA");
        let mut params = CertificateParams::new(vec![format!("{node}.node.basalt")]).unwrap();
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(2021, 1, 1);
        let key = KeyPair::from_pem(&text_of(&folder.join("node.key"))).unwrap();
        let certificate = params.signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
        fs::write(folder.join("node.crt"), certificate.pem()).unwrap();
        folder
    }
}

pub(crate) fn basalt(words: &[&str], dir: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
    let output = command.arg("pki").args(words).arg("--dir").arg(dir).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
}

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub(crate) fn install(from: &Path, cluster: &Cluster, index: usize) {
    let to = cluster.nodes[index].home.join("pki");
    fs::create_dir_all(&to).unwrap();
    for name in ["ca.crt", "node.crt", "node.key"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

fn with_tls(text: &str) -> String {
    text.replace("  options {", "  net { tls yes; }\n  options {")
}

/// Nodes that are ready to use TLS; nothing runs.
fn prepare() -> (Cluster, Pki) {
    let cluster = Cluster::prepare(3);
    let pki = Pki::init(cluster.nodes[0].home.join("ca"));
    for (index, name) in NODES.into_iter().enumerate() {
        install(&pki.issue(name), &cluster, index);
    }
    cluster.configure(&with_tls(&cluster.text()));
    (cluster, pki)
}

fn launch(cluster: &mut Cluster, index: usize) {
    cluster.create_md(index);
    cluster.nodes[index].start();
    cluster.adm(index, &["up", RESOURCE]).ok();
}

/// Bravo comes with what the test gave it, after alfa and charlie; the first two things that are
/// said of each other's connection.
#[track_caller]
fn bravo_stays_apart(cluster: &Cluster, alfa_says: &str, bravo_says: &str) {
    cluster.wait_for_reason(0, "bravo", alfa_says);
    cluster.wait_for_reason(1, "alfa", bravo_says);
    cluster.wait_for_reason(2, "bravo", "");
    let votes = |index: usize| cluster.nodes[index].status().unwrap().quorum_votes.unwrap().have;
    assert_eq!((votes(0), votes(1)), (2, 1), "bravo is alone");
}

#[test]
fn nodes_of_one_ca_are_connected_with_tls_and_say_so() {
    let (mut cluster, _pki) = prepare();
    for index in 0..3 {
        launch(&mut cluster, index);
    }
    cluster.become_whole();
    cluster.nodes[1].serves();
    let status = cluster.adm(0, &["status", RESOURCE, "--verbose"]);
    assert_eq!(status.stdout.matches("tls:yes").count(), 2, "{status:?}");
    // A renewed certificate is for the next connection.
    install(&Pki { dir: cluster.nodes[0].home.join("ca") }.dir.join("nodes/alfa"), &cluster, 0);
    cluster.nodes[0].kill();
    cluster.nodes[0].start();
    cluster.become_whole();
}

/// With what `pki init` writes a resource uses TLS, whatever its file says of it.
#[test]
fn the_first_configuration_of_a_cluster_has_tls_on() {
    let folder = tempfile::tempdir().unwrap();
    let pki = Pki::init(folder.path().join("ca"));
    let first = pki.dir.join("basalt.conf");
    let resource = "resource r0 {
        volume 0 { device minor 0; disk /dev/vg/r0; meta-disk internal; }
        on alfa { node-id 0; address 10.0.0.1:7000; }
        on bravo { node-id 1; address 10.0.0.2:7000; }
    }";
    fs::write(&first, text_of(&first) + resource).unwrap();
    let mut dump = Command::new(env!("CARGO_BIN_EXE_basalt"));
    let output = dump.args(["adm", "dump", "r0", "-c"]).arg(&first).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["tls", "yes;"]), "{text}");
}

#[test]
fn peer_in_clear_text_is_not_let_in() {
    let (mut cluster, _pki) = prepare();
    launch(&mut cluster, 0);
    launch(&mut cluster, 2);
    // Bravo dials charlie, and alfa dials bravo.
    cluster.configure(&cluster.text());
    launch(&mut cluster, 1);
    cluster.wait_for_reason(2, "bravo", "connects in clear text");
    cluster.wait_for_reason(1, "charlie", "without an answer");
    bravo_stays_apart(&cluster, "is `tls` the same on all nodes?", "connects with TLS");
}

#[test]
fn peer_without_a_certificate_says_what_is_missing() {
    let (mut cluster, _pki) = prepare();
    launch(&mut cluster, 0);
    launch(&mut cluster, 2);
    fs::remove_dir_all(cluster.nodes[1].home.join("pki")).unwrap();
    cluster.create_md(1);
    cluster.nodes[1].start();
    let said = cluster.adm(1, &["up", RESOURCE]);
    said.refused_with(11, &["has `tls yes`", "no certificate in", "basalt pki issue"]);
    cluster.configure(&cluster.text());
    cluster.adm(1, &["up", RESOURCE]).ok();
    cluster.wait_for_reason(0, "bravo", "closed the connection in the TLS handshake");
    let log = || cluster.nodes[1].log();
    wait_for("bravo to say why", || log().contains("has no certificate").then_some(()));
}

#[test]
fn peer_of_another_ca_is_not_let_in() {
    let (mut cluster, _pki) = prepare();
    let other = Pki::init(cluster.nodes[1].home.join("ca"));
    install(&other.issue("bravo"), &cluster, 1);
    for index in [0, 2, 1] {
        launch(&mut cluster, index);
    }
    let told = "its CA did not issue this node's certificate";
    bravo_stays_apart(&cluster, "is not of this cluster's CA", told);
    let lines = cluster.nodes[1].log().matches(told).count();
    assert!(lines <= 2, "a peer that tries again and again is told of once: {lines} lines");
}

#[test]
fn own_certificate_that_others_would_refuse_is_not_used() {
    let (mut cluster, pki) = prepare();
    let home = cluster.nodes[0].home.clone();
    cluster.create_md(0);
    cluster.nodes[0].start();
    install(&pki.dir.join("nodes/bravo"), &cluster, 0);
    let said = cluster.adm(0, &["up", RESOURCE]);
    said.refused_with(11, &["it is not for node \"alfa\"", "basalt pki issue alfa"]);
    fs::remove_dir_all(pki.dir.join("nodes/alfa")).unwrap();
    install(&pki.issue_expired("alfa"), &cluster, 0);
    cluster.adm(0, &["up", RESOURCE]).refused_with(11, &["has expired", "basalt pki issue"]);
    let key = home.join("pki/node.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    cluster.adm(0, &["up", RESOURCE]).refused_with(11, &["node.key", "chmod 600"]);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(home.join("pki/node.crt"), "garbage").unwrap();
    cluster.adm(0, &["up", RESOURCE]).refused_with(11, &["node.crt", "no certificate in PEM"]);
}

#[test]
fn resources_of_one_pair_of_nodes_cannot_differ() {
    let (mut cluster, _pki) = prepare();
    for index in 0..3 {
        launch(&mut cluster, index);
    }
    cluster.become_whole();
    let other = cluster.text().replace("resource r0", "resource other").replace("disk\"", "two\"");
    let disk = cluster.nodes[0].home.join("two");
    fs::File::create(&disk).unwrap().set_len(24 << 20).unwrap();
    cluster.configure(&other);
    cluster.adm(0, &["create-md", "--node", "alfa", "other"]).exits(0);
    let said = cluster.adm(0, &["up", "other"]);
    said.refused_with(11, &["link to bravo is used with TLS", "this one wants it in clear text"]);
    cluster.nodes[0].wait_for_disk(DiskState::UpToDate);
}

/// A peer that speaks TLS with what it is given, made of rustls itself.
struct Stranger {
    roots: Arc<RootCertStore>,
    chain: Vec<CertificateDer<'static>>,
    key: PathBuf,
}

impl Stranger {
    fn with(folder: &Path) -> Self {
        let certificates = |name: &str| -> Vec<_> {
            CertificateDer::pem_file_iter(folder.join(name)).unwrap().map(Result::unwrap).collect()
        };
        let mut roots = RootCertStore::empty();
        roots.add(certificates("ca.crt").remove(0)).unwrap();
        let chain = certificates("node.crt");
        Self { roots: Arc::new(roots), chain, key: folder.join("node.key") }
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_file(&self.key).unwrap()
    }

    /// Dials a node, says this HELLO, and gives what becomes of it.
    fn greets(&self, address: SocketAddr, node: &str, hello: &[u8]) -> std::io::Result<Vec<u8>> {
        self.greets_over(TcpStream::connect(address).unwrap(), node, hello)
    }

    /// The same, over this connection.
    fn greets_over(&self, socket: TcpStream, node: &str, hello: &[u8]) -> std::io::Result<Vec<u8>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(Arc::clone(&self.roots))
            .with_client_auth_cert(self.chain.clone(), self.key())
            .unwrap();
        let name = ServerName::try_from(format!("{node}.node.basalt")).unwrap();
        let tls = ClientConnection::new(Arc::new(config), name).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut stream = rustls::StreamOwned::new(tls, socket);
        stream.write_all(hello)?;
        let mut answer = vec![0; 4096];
        let length = match stream.read(&mut answer) {
            // Closed without a word.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
            other => other?,
        };
        answer.truncate(length);
        Ok(answer)
    }

    /// Waits for a node to dial, and gives what the handshake came to.
    fn is_dialled(&self, address: SocketAddr) -> std::io::Result<()> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::clone(&self.roots);
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider)).build();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.unwrap())
            .with_single_cert(self.chain.clone(), self.key())
            .unwrap();
        let listener = TcpListener::bind(address).unwrap();
        let (mut socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut tls = ServerConnection::new(Arc::new(config)).unwrap();
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(())
    }
}

/// Charlie, with TLS; alfa and bravo are for the test to play. Alfa is at 127.0.0.1.
fn charlie_alone() -> (Cluster, Pki) {
    let mut cluster = Cluster::prepare_with_first_at(std::net::Ipv4Addr::LOCALHOST, 3);
    let pki = Pki::init(cluster.nodes[0].home.join("ca"));
    for (index, name) in NODES.into_iter().enumerate() {
        install(&pki.issue(name), &cluster, index);
    }
    cluster.configure(&with_tls(&cluster.text()));
    launch(&mut cluster, 2);
    (cluster, pki)
}

#[test]
fn only_the_holder_of_a_name_is_welcome_under_it() {
    let (cluster, pki) = charlie_alone();
    let charlie = cluster.nodes[2].peer;
    let hello = hello("alfa", 1, 1);
    let alfa = Stranger::with(&pki.dir.join("nodes/alfa"));
    let welcome = alfa.greets(charlie, "charlie", &hello).unwrap();
    assert!(welcome.starts_with(b"BSLT"), "the real one is welcome: {welcome:?}");

    let bravo = Stranger::with(&pki.dir.join("nodes/bravo"));
    let answer = bravo.greets(charlie, "charlie", &hello);
    assert!(answer.is_ok_and(|answer| answer.is_empty()), "a peer under another's name is let in");
    cluster.wait_for_reason(2, "alfa", "its certificate is for another name");

    fs::remove_dir_all(pki.dir.join("nodes/alfa")).unwrap();
    let expired = Stranger::with(&pki.issue_expired("alfa"));
    let lingering = TcpStream::connect(charlie).unwrap();
    let socket = lingering.try_clone().unwrap();
    let refusal = expired.greets_over(socket, "charlie", &hello).unwrap_err().to_string();
    assert!(refusal.contains("CertificateExpired"), "{refusal}");

    // In clear text nobody is answered.
    let mut socket = TcpStream::connect(charlie).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(&hello).unwrap();
    let mut answer = Vec::new();
    match socket.read_to_end(&mut answer) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
    }
    assert!(answer.is_empty(), "{answer:?}");
    cluster.wait_for_reason(2, "alfa", "connects in clear text");
    // That one who was turned away before leaves only now is no news.
    drop(lingering);
    std::thread::park_timeout(Duration::from_millis(300));
    cluster.wait_for_reason(2, "alfa", "connects in clear text");
}

#[test]
fn whoever_answers_at_a_peers_address_has_to_be_that_peer() {
    let (mut cluster, pki) = charlie_alone();
    cluster.nodes[2].kill();
    cluster.create_md(0);
    cluster.nodes[0].start();
    let bravo = cluster.nodes[1].peer;
    let answers =
        |folder: PathBuf| std::thread::spawn(move || Stranger::with(&folder).is_dialled(bravo));
    let impostor = answers(pki.dir.join("nodes/charlie"));
    cluster.adm(0, &["up", RESOURCE]).ok();
    let refusal = impostor.join().unwrap().unwrap_err().to_string();
    assert!(refusal.contains("BadCertificate"), "{refusal}");
    cluster.wait_for_reason(0, "bravo", "is for another node");

    let other = Pki::init(cluster.nodes[1].home.join("ca"));
    let refusal = answers(other.issue("bravo")).join().unwrap().unwrap_err().to_string();
    assert!(refusal.contains("DecryptError"), "{refusal}");
    cluster.wait_for_reason(0, "bravo", "is not of this cluster's CA");

    fs::remove_dir_all(pki.dir.join("nodes/bravo")).unwrap();
    let refusal = answers(pki.issue_expired("bravo")).join().unwrap().unwrap_err().to_string();
    assert!(refusal.contains("CertificateExpired"), "{refusal}");
    cluster.wait_for_reason(0, "bravo", "has expired");
}
