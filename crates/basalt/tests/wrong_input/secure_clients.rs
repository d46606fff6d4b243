//! NBD over TLS, with libnbd's tools as clients: who may do what, and what is refused.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use stdx::testing::skip;

use crate::cluster::{Cluster, RESOURCE, VOLUME_BYTES, wait_for};
use crate::ports::claim_ports;
use crate::secure::{Pki, basalt, install};

struct Served {
    cluster: Cluster,
    pki: Pki,
    tls: SocketAddr,
}

/// Runs a tool of libnbd, which ends by itself or is ended.
fn run(words: &[&str]) -> Output {
    Command::new("timeout").arg("60").args(words).output().unwrap()
}

fn is_installed(tool: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {tool}")])
        .output()
        .unwrap()
        .status
        .success()
}

/// One node, which is Primary, and serves NBD with TLS to two clients; none without libnbd.
fn serve() -> Option<Served> {
    if !is_installed("nbdinfo") || !is_installed("nbdcopy") {
        skip("nbdinfo and nbdcopy are not installed");
        return None;
    }
    let mut cluster = Cluster::prepare(1);
    let node = &cluster.nodes[0];
    let host = node.nbd.ip();
    let tls = claim_ports(host, 1).unwrap()[0];
    let pki = Pki::init(node.home.join("ca"));
    basalt(&["issue", "alfa", "--address", &host.to_string()], &pki.dir);
    for client in ["web", "backup", "nobody"] {
        basalt(&["issue-client", client], &pki.dir);
    }
    install(&pki.dir.join("nodes/alfa"), &cluster, 0);
    let grants = "# who may do what\nweb r0 rw\nbackup * ro\n";
    fs::write(node.home.join("pki/clients"), grants).unwrap();
    let mut command = node.command();
    command.args(["--nbd-tls", &tls.to_string()]);
    cluster.create_md(0);
    cluster.nodes[0].start_as(command);
    cluster.adm(0, &["up", RESOURCE]).ok();
    cluster.adm(0, &["primary", "--force", RESOURCE]).ok();
    Some(Served { cluster, pki, tls })
}

impl Served {
    fn uri(&self, folder: &Path) -> String {
        format!("nbds://{}/{RESOURCE}?tls-certificates={}", self.tls, folder.display())
    }

    fn client(&self, name: &str) -> PathBuf {
        self.pki.dir.join("clients").join(name)
    }

    /// `why` is said by the client or, in a line that may be written after the client was told to
    /// go, by the node.
    #[track_caller]
    fn refuses(&self, words: &[&str], why: &str) {
        let output = run(words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{words:?} succeeded");
        let log = || self.cluster.nodes[0].log();
        let is_said = || said.contains(why) || log().contains(why);
        wait_for(&format!("{why:?} in {said}"), || is_said().then_some(()));
    }
}

#[test]
fn clients_may_do_what_is_granted_to_their_certificates() {
    let Some(served) = serve() else { return };
    let image = served.cluster.nodes[0].home.join("image");
    let copy = served.cluster.nodes[0].home.join("copy");
    let bytes: Vec<u8> = (0..VOLUME_BYTES / 8).flat_map(|n| (n * 7).to_le_bytes()).collect();
    fs::write(&image, &bytes).unwrap();
    let (image, copy) = (image.to_str().unwrap(), copy.to_str().unwrap());

    let web = served.uri(&served.client("web"));
    let output = run(&["nbdcopy", "--flush", image, &web]);
    assert!(output.status.success(), "{output:?}");
    let backup = served.uri(&served.client("backup"));
    let told = run(&["nbdinfo", "--json", &backup]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(told.contains("\"is_read_only\": true") && told.contains("\"TLS\": true"), "{told}");
    let output = run(&["nbdcopy", &backup, copy]);
    assert!(output.status.success(), "{output:?}");
    let read = fs::read(copy).unwrap();
    assert!(read.len() >= bytes.len(), "the volume is not smaller than {VOLUME_BYTES} bytes");
    let differs = read.iter().zip(&bytes).position(|(read, written)| read != written);
    assert_eq!(differs, None, "what was written over TLS is read over TLS");

    served.refuses(&["nbdcopy", image, &backup], "read-only");
    let nobody = served.uri(&served.client("nobody"));
    served.refuses(&["nbdinfo", &nobody], "server replied with error to opt_go request");
}

#[test]
fn clients_without_tls_or_with_other_certificates_are_turned_away() {
    let Some(served) = serve() else { return };
    let home = &served.cluster.nodes[0].home;
    let clear = format!("nbd://{}/{RESOURCE}", served.tls);
    served.refuses(&["nbdinfo", &clear], "server replied with error to opt_go request");

    let plain = served.uri(&served.client("web"));
    let plain = plain.replace(&served.tls.to_string(), &served.cluster.nodes[0].nbd.to_string());
    served.refuses(&["nbdinfo", &plain], "connection is closed");

    let bare = home.join("bare");
    fs::create_dir(&bare).unwrap();
    fs::copy(served.client("web").join("ca-cert.pem"), bare.join("ca-cert.pem")).unwrap();
    served.refuses(&["nbdinfo", &served.uri(&bare)], "the peer showed no certificate");

    let other = Pki::init(home.join("other"));
    basalt(&["issue-client", "web"], &other.dir);
    let stranger = other.dir.join("clients/web");
    fs::copy(served.pki.dir.join("ca.crt"), stranger.join("ca-cert.pem")).unwrap();
    served.refuses(&["nbdinfo", &served.uri(&stranger)], "is not of this cluster's CA");

    // A node is no client.
    let node = served.pki.dir.join("nodes/alfa");
    for (from, to) in
        [("ca.crt", "ca-cert.pem"), ("node.crt", "client-cert.pem"), ("node.key", "client-key.pem")]
    {
        fs::copy(node.join(from), node.join(to)).unwrap();
    }
    served.refuses(&["nbdinfo", &served.uri(&node)], "server replied with error to opt_go request");
}
