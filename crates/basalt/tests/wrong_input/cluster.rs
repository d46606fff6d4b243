//! Daemons, their configuration, and what an operator and a client do with them.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::request::Command as NodeCommand;
use api::response::Reply;
use api::status::{ResourceStatus, StatusReply};
use frontend::nbd::client::uri::{Address, Uri};
use frontend::nbd::client::{Connection, Wishes};
use stdx::child::HeldChild;
use tempfile::TempDir;

use crate::ports::claim_ports;

pub(crate) const RESOURCE: &str = "r0";
pub(crate) const VOLUME_BYTES: u64 = 16 << 20;
/// What a backing file is larger than its volume.
pub(crate) const METADATA_ROOM_BYTES: u64 = 8 << 20;
const LIMIT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Looks until `look` finds something, and fails with what it looked for after a while.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    #[expect(clippy::disallowed_methods, reason = "the deadline of a test that watches processes")]
    let now = std::time::Instant::now;
    let began = now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(now().duration_since(began) < LIMIT, "waited {LIMIT:?} in vain for {what}");
        std::thread::park_timeout(POLL_INTERVAL);
    }
}

/// A loopback address that no other node of any test has.
fn own_host() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let process = std::process::id().to_le_bytes();
    let host = NEXT.fetch_add(1, Ordering::Relaxed);
    Ipv4Addr::from([127, 128 | (process[1] & 63), process[0], host])
}

/// What a command said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// The text of a refusal, which names each of `parts`.
    #[track_caller]
    pub(crate) fn refused_with(&self, exit: i32, parts: &[&str]) {
        assert_eq!(self.exit, exit, "{self:?}");
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {self:?}");
        }
    }

    #[track_caller]
    pub(crate) fn ok(&self) {
        assert_eq!((self.exit, self.stderr.as_str()), (0, ""), "{self:?}");
    }

    #[track_caller]
    pub(crate) fn exits(&self, exit: i32) {
        assert_eq!(self.exit, exit, "{self:?}");
    }
}

pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) id: u8,
    pub(crate) peer: SocketAddr,
    pub(crate) nbd: SocketAddr,
    pub(crate) home: PathBuf,
    /// Name of the backing file in `home`.
    pub(crate) disk_name: &'static str,
    process: Option<HeldChild>,
}

impl Node {
    fn new(directory: &Path, name: &'static str, id: u8, host: Ipv4Addr) -> Self {
        let ports = claim_ports(host, 2).unwrap();
        let [peer, nbd] = [ports[0], ports[1]];
        let home = directory.join(name);
        fs::create_dir(&home).unwrap();
        let node = Self { name, id, peer, nbd, home, disk_name: "disk", process: None };
        File::create(node.disk()).unwrap().set_len(VOLUME_BYTES + METADATA_ROOM_BYTES).unwrap();
        node
    }

    pub(crate) fn disk(&self) -> PathBuf {
        self.home.join(self.disk_name)
    }

    pub(crate) fn state_dir(&self) -> PathBuf {
        self.home.join("state")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.state_dir().join("admin.sock")
    }

    /// The daemon's command line.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command
            // The fake peers of these tests have one connection.
            .args(["node", "--name", self.name, "--exit-with-parent", "--shards", "1"])
            .args([OsStr::new("--state-dir"), self.state_dir().as_ref()])
            .args([OsStr::new("--pki"), self.home.join("pki").as_ref()])
            .args(["--nbd", &self.nbd.to_string()]);
        self.quiet(&mut command);
        command
    }

    /// Standard error goes to the log.
    pub(crate) fn quiet(&self, command: &mut Command) {
        let log = File::options().create(true).append(true).open(self.home.join("log")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    }

    pub(crate) fn start(&mut self) {
        self.start_as(self.command());
    }

    pub(crate) fn start_as(&mut self, mut command: Command) {
        assert!(self.process.is_none(), "{} runs already", self.name);
        self.process = Some(command.spawn().unwrap().into());
        wait_for("the daemon to answer", || {
            let ended = self.process.as_mut().and_then(|process| process.try_wait().unwrap());
            assert!(ended.is_none(), "{} ended: {ended:?}\n{}", self.name, self.log());
            self.try_status_of_all()
        });
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.process.as_ref().expect("the daemon runs").id()
    }

    /// SIGKILL; it is gone, but for what the kernel still clears away.
    pub(crate) fn kill(&mut self) {
        let mut process = self.process.take().expect("the daemon runs");
        process.kill().unwrap();
        process.wait().unwrap();
    }

    /// Ended by the operator, cleanly.
    pub(crate) fn stop(&mut self) {
        let mut process = self.process.take().expect("the daemon runs");
        api::client::ask(&self.socket(), NodeCommand::Shutdown, LIMIT).unwrap();
        let status = wait_for("the daemon to end", || process.try_wait().unwrap());
        assert!(status.success(), "{status}\n{}", self.log());
    }

    /// Starts a daemon that must give up by itself, and gives its last words.
    pub(crate) fn fails_to_start(&self) -> String {
        self.fails_to_start_as(self.command())
    }

    pub(crate) fn fails_to_start_as(&self, mut command: Command) -> String {
        self.gives_up(&mut command, 1);
        self.log().lines().last().unwrap_or_default().to_owned()
    }

    /// The same of one that an option keeps from starting: its words are those of a check.
    pub(crate) fn refuses_to_start(&self, mut command: Command) -> String {
        let before = self.log().len();
        self.gives_up(&mut command, 2);
        self.log()[before..].to_owned()
    }

    fn gives_up(&self, command: &mut Command, exit: i32) {
        let mut process = command.spawn().unwrap();
        let status = wait_for("the daemon to give up", || process.try_wait().unwrap());
        assert_eq!(status.code(), Some(exit), "{}", self.log());
    }

    /// A connection may end, or a command be answered, before the line that tells of it is written.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, part: &str) {
        wait_for(&format!("{} to say {part:?}", self.name), || {
            self.log().contains(part).then_some(())
        });
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home.join("log")).unwrap_or_default()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.process.as_mut().is_none_or(|process| process.try_wait().unwrap().is_some())
    }

    pub(crate) fn adm(&self, config: &Path, words: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_basalt"))
            .args([OsStr::new("adm"), OsStr::new("-c"), config.as_ref()])
            .args([OsStr::new("--node-socket"), self.socket().as_ref()])
            .args(words)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said {
            exit: output.status.code().unwrap(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    fn try_status_of_all(&self) -> Option<Vec<ResourceStatus>> {
        let command = NodeCommand::Status { resources: Vec::new(), statistics: true };
        match api::client::ask(&self.socket(), command, Duration::from_secs(5)).ok()? {
            Reply::Status(StatusReply { resources, .. }) => Some(resources),
            other @ (Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_)) => {
                panic!("status was answered with {other:?}")
            }
        }
    }

    /// The status of the resource; `None` while it is not up.
    pub(crate) fn status(&self) -> Option<ResourceStatus> {
        let mut all = self.try_status_of_all()?.into_iter();
        all.find(|resource| resource.name == RESOURCE && !resource.devices.is_empty())
    }

    pub(crate) fn disk_state(&self) -> Option<DiskState> {
        Some(self.status()?.devices.first()?.disk_state)
    }

    pub(crate) fn wait_for_disk(&self, wanted: DiskState) {
        wait_for(&format!("{} to be {wanted:?}\n{}", self.name, self.log()), || {
            (self.disk_state()? == wanted).then_some(())
        });
    }

    /// It is up, and its data can be written.
    pub(crate) fn serves(&self) {
        self.client().write(0, &[0xab; 4096]).unwrap();
        self.wait_for_disk(DiskState::UpToDate);
    }

    pub(crate) fn client(&self) -> Connection {
        let address = Address::Tcp { host: self.nbd.ip().to_string(), port: self.nbd.port() };
        let uri = Uri { address, export: RESOURCE.to_owned() };
        let client = Connection::open(&uri, &Wishes::default()).unwrap();
        client.set_read_timeout(LIMIT).unwrap();
        client
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.process.take());
        if std::thread::panicking() {
            eprintln!("log of {}:\n{}", self.name, self.log());
        }
    }
}

pub(crate) struct Cluster {
    pub(crate) nodes: Vec<Node>,
    pub(crate) config: PathBuf,
    _directory: TempDir,
}

impl Cluster {
    /// Nodes with empty disks and a configuration; nothing runs.
    pub(crate) fn prepare(count: usize) -> Self {
        Self::prepare_with_first_at(own_host(), count)
    }

    /// The same, with the first node at this address.
    pub(crate) fn prepare_with_first_at(host: Ipv4Addr, count: usize) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let names = ["alfa", "bravo", "charlie"].into_iter().take(count).zip(0..);
        let place = |id| if id == 0 { host } else { own_host() };
        let nodes: Vec<Node> =
            names.map(|(name, id)| Node::new(directory.path(), name, id, place(id))).collect();
        let config = directory.path().join("basalt.conf");
        let cluster = Self { nodes, config, _directory: directory };
        cluster.configure(&cluster.text());
        cluster
    }

    /// Nodes whose resource is up, connected and up to date everywhere.
    pub(crate) fn start(count: usize) -> Self {
        Self::prepare(count).bring_up()
    }

    pub(crate) fn bring_up(mut self) -> Self {
        for index in 0..self.nodes.len() {
            self.create_md(index);
            self.nodes[index].start();
            self.adm(index, &["up", RESOURCE]).ok();
        }
        self.become_whole();
        self
    }

    pub(crate) fn create_md(&self, index: usize) {
        self.adm(index, &["create-md", "--node", self.nodes[index].name, RESOURCE]).exits(0);
    }

    /// Waits until all are connected and up to date, from the first node's replica if need be.
    pub(crate) fn become_whole(&self) {
        self.wait_for_connections();
        // One that was restarted is Inconsistent for a moment, too.
        let is_blank = |node: &Node| node.disk_state() == Some(DiskState::Inconsistent);
        let is_fresh = self.nodes.iter().all(is_blank);
        let promote =
            if is_fresh { &["primary", "--force", RESOURCE][..] } else { &["primary", RESOURCE] };
        self.adm(0, promote).ok();
        for node in &self.nodes {
            node.wait_for_disk(DiskState::UpToDate);
        }
        self.adm(0, &["secondary", RESOURCE]).ok();
    }

    pub(crate) fn wait_for_connections(&self) {
        for node in &self.nodes {
            wait_for(&format!("{} to be connected", node.name), || {
                let status = node.status()?;
                let mut all = status.connections.iter();
                all.all(|one| one.connection_state == ConnectionState::Connected).then_some(())
            });
        }
    }

    /// What the status of a node says of why it is not connected to a peer.
    pub(crate) fn reason(&self, index: usize, peer: &str) -> Option<String> {
        let status = self.nodes[index].status()?;
        status.connections.into_iter().find(|one| one.name == peer)?.reason
    }

    #[track_caller]
    pub(crate) fn wait_for_reason(&self, index: usize, peer: &str, part: &str) {
        let (says, log) = (self.reason(index, peer), self.nodes[index].log());
        let what = format!("{index} to say of {peer}: {part}; it says {says:?}\n{log}");
        wait_for(&what, || self.reason(index, peer).filter(|reason| reason.contains(part)));
    }

    pub(crate) fn adm(&self, index: usize, words: &[&str]) -> Said {
        self.nodes[index].adm(&self.config, words)
    }

    pub(crate) fn configure(&self, text: &str) {
        fs::write(&self.config, text).unwrap();
    }

    /// The resource as an operator would write it.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("resource {RESOURCE} {{\n  options {{ quorum majority; }}\n");
        let mut hosts = String::new();
        for node in &self.nodes {
            let Node { name, id, peer, .. } = node;
            let disk = node.disk();
            write!(
                text,
                "  on {name} {{\n    node-id {id};\n    address {peer};\n    volume 0 {{ device \
                 minor 0; disk \"{}\"; meta-disk internal; }}\n  }}\n",
                disk.display()
            )
            .unwrap();
            write!(hosts, " {name}").unwrap();
        }
        if self.nodes.len() > 1 {
            writeln!(text, "  connection-mesh {{ hosts{hosts}; }}").unwrap();
        }
        text + "}\n"
    }
}
