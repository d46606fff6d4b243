//! Real daemons on loopback addresses, with file-backed disks in a temporary directory.
//!
//! Every daemon ends with the test process, whatever becomes of it. A wait polls the admin socket
//! and has a deadline; a test that fails shows what the daemons said.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use api::client::ask;
use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::response::Reply;
use api::role::Role;
use api::status::ResourceStatus;
use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{ClientError, Connection, Wishes};
use io::now;
use stdx::child::HeldChild;
use tempfile::TempDir;

use crate::BLOCK;
use crate::variant::Variant;

#[path = "../../../bench/src/ports.rs"]
mod ports;

pub(crate) const DISK_BYTES: u64 = 64 << 20;
const WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Cluster {
    pub(crate) directory: TempDir,
    pub(crate) nodes: Vec<Node>,
    pub(crate) variant: Variant,
}

/// Where a server of this test may listen, again after a while, too.
pub(crate) fn own_port() -> SocketAddr {
    ports::claim_ports(Ipv4Addr::LOCALHOST, 1).unwrap()[0]
}

pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) shards: u8,
    pub(crate) address: SocketAddr,
    pub(crate) nvme: SocketAddr,
    pub(crate) has_disk: bool,
    pub(crate) daemon: Option<HeldChild>,
    /// What enters the network of the node, before the daemon's own words.
    pub(crate) entry: Vec<String>,
    /// What else the daemon is told.
    pub(crate) words: Vec<String>,
    /// What is in its environment besides.
    pub(crate) environment: Vec<(&'static str, &'static str)>,
    /// Where its metadata is, if not at the end of its disk.
    pub(crate) metadata: Option<PathBuf>,
}

/// What a cluster is to be like. What differs from node to node is told to the nodes, between
/// [`Plan::prepare`] and [`Cluster::begin`].
pub(crate) struct Plan {
    nodes: usize,
    clients: usize,
    sections: String,
    /// What the test needs; otherwise what the run asks for.
    variant: Option<Variant>,
}

impl Plan {
    /// The last so many nodes have no disk.
    pub(crate) fn clients(mut self, count: usize) -> Self {
        self.clients = count;
        self
    }

    /// `r0` has these sections, in front of its hosts.
    pub(crate) fn sections(mut self, sections: &str) -> Self {
        sections.clone_into(&mut self.sections);
        self
    }

    /// Not as the run asks for.
    pub(crate) fn variant(mut self, variant: Variant) -> Self {
        self.variant = Some(variant);
        self
    }

    /// Configuration and formatted disks, and no daemon.
    pub(crate) fn prepare(&self) -> Cluster {
        let variant = self.variant.unwrap_or_else(Variant::of_this_test);
        let shards = variant.shards();
        let nodes = (0..self.nodes).map(|index| Node {
            name: format!("n{index}"),
            shards: shards[index % shards.len()],
            address: own_port(),
            nvme: own_port(),
            has_disk: index + self.clients < self.nodes,
            daemon: None,
            entry: Vec::new(),
            words: Vec::new(),
            environment: variant.environment(),
            metadata: None,
        });
        let (directory, nodes) = (tempfile::tempdir().unwrap(), nodes.collect());
        let cluster = Cluster { directory, nodes, variant };
        cluster.configure(&cluster.config_with(&self.sections));
        if variant.has_tls() {
            cluster.issue_certificates();
        }
        for (index, node) in cluster.nodes.iter().enumerate() {
            fs::create_dir(cluster.vhost_folder(index)).unwrap();
            if node.has_disk {
                File::create(cluster.disk(index)).unwrap().set_len(DISK_BYTES).unwrap();
                cluster.create_md(index, "r0", &[]);
            }
        }
        cluster
    }

    /// Daemons that run, with `r0` up on all of them.
    pub(crate) fn start(&self) -> Cluster {
        let mut cluster = self.prepare();
        cluster.begin();
        cluster
    }

    /// The same, with `r0` on the same empty history everywhere and the first node Primary.
    pub(crate) fn start_in_sync(&self) -> Cluster {
        let cluster = self.start();
        cluster.make_in_sync();
        cluster
    }
}

/// The text of a resource with these sections in front of what it has.
pub(crate) fn with_sections(text: &str, sections: &str) -> String {
    let start = text.find("resource ").unwrap();
    let (before, after) = text.split_at(start + text[start..].find('{').unwrap() + 1);
    format!("{before} {sections}{after}")
}

/// Distinct content for each block and round.
pub(crate) fn pattern(index: u64, round: u8) -> [u8; BLOCK] {
    let mut block = [round; BLOCK];
    block[..8].copy_from_slice(&index.to_le_bytes());
    block
}

impl Cluster {
    pub(crate) fn plan(nodes: usize) -> Plan {
        Plan { nodes, clients: 0, sections: String::new(), variant: None }
    }

    /// A plan in short; see [`Plan::start_in_sync`].
    pub(crate) fn start_in_sync(nodes: usize, clients: usize) -> Self {
        Self::plan(nodes).clients(clients).start_in_sync()
    }

    /// A plan in short; see [`Plan::prepare`].
    pub(crate) fn prepare(nodes: usize, clients: usize) -> Self {
        Self::plan(nodes).clients(clients).prepare()
    }

    /// Starts what was prepared.
    pub(crate) fn begin(&mut self) {
        for index in 0..self.nodes.len() {
            self.launch(index);
        }
        for index in 0..self.nodes.len() {
            self.adm_ok(index, &["up", "r0"]);
        }
    }

    /// From the first node's replica, which becomes Primary.
    pub(crate) fn make_in_sync(&self) {
        self.wait_connected(0);
        self.adm_ok(0, &["primary", "--force", "r0"]);
        for index in 0..self.nodes.len() {
            self.wait_up_to_date(index);
        }
        self.wait_for_votes(0);
    }

    /// Formats the disk of a node for a resource, with these words besides.
    #[track_caller]
    pub(crate) fn create_md(&self, index: usize, resource: &str, words: &[&str]) {
        let own = ["create-md", "--node", &self.nodes[index].name];
        self.adm_ok(index, &[&own[..], words, &[resource]].concat());
    }

    fn pki(&self, index: usize) -> PathBuf {
        self.directory.path().join("ca/nodes").join(&self.nodes[index].name)
    }

    /// For the nodes whose names have none yet.
    pub(crate) fn issue_certificates(&self) {
        let ca = self.directory.path().join("ca");
        let basalt = |words: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
            let output = command.arg("pki").args(words).arg("--dir").arg(&ca).output().unwrap();
            assert!(output.status.success(), "{words:?}: {output:?}");
        };
        if !ca.exists() {
            basalt(&["init"]);
        }
        let lacks = |index: &usize| !self.pki(*index).exists();
        let lacking = (0..self.nodes.len()).filter(lacks);
        lacking.for_each(|index| basalt(&["issue", &self.nodes[index].name]));
    }

    /// Writes the configuration of all nodes; those that run go by what they were told last.
    pub(crate) fn configure(&self, text: &str) {
        fs::write(self.config(), text).unwrap();
    }

    /// Gives all nodes that run a configuration of `r0` with these sections.
    #[track_caller]
    pub(crate) fn adjust_to(&self, sections: &str) {
        self.configure(&self.config_with(sections));
        self.adjust();
    }

    /// Gives all nodes that run what was configured.
    #[track_caller]
    pub(crate) fn adjust(&self) {
        for index in 0..self.nodes.len() {
            self.adm_ok(index, &["adjust", "r0"]);
        }
    }

    /// The text of `r0` with these sections.
    pub(crate) fn config_with(&self, sections: &str) -> String {
        with_sections(&self.config_text("r0"), sections)
    }

    pub(crate) fn config_text(&self, resource: &str) -> String {
        self.config_text_of(resource, &(0..self.nodes.len()).collect::<Vec<_>>())
    }

    /// Names only these nodes.
    pub(crate) fn config_text_of(&self, resource: &str, members: &[usize]) -> String {
        let has_tls = self.variant.has_tls();
        let common = if has_tls { "common { net { tls yes; } }\n" } else { "" };
        let mut text = format!("{common}resource {resource} {{\n");
        let members = || members.iter().map(|&index| (index, &self.nodes[index]));
        for (index, node) in members() {
            let disk = if node.has_disk {
                let internal = Path::new("internal");
                let place = node.metadata.as_deref().unwrap_or(internal).display();
                format!("disk {}; meta-disk {place};", self.disk(index).display())
            } else {
                "disk none;".to_owned()
            };
            text += &format!(
                "  on {} {{ node-id {index}; address {}; \
                 volume 0 {{ device minor 1; {disk} }} }}\n",
                node.name, node.address
            );
        }
        let names: Vec<_> = members().map(|(_, node)| node.name.as_str()).collect();
        if names.len() > 1 {
            text += &format!("  connection-mesh {{ hosts {}; }}\n", names.join(" "));
        }
        text + "}\n"
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.directory.path().join("r0.res")
    }

    pub(crate) fn disk(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("disk{index}"))
    }

    pub(crate) fn state_dir(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("state{index}"))
    }

    pub(crate) fn log(&self, index: usize) -> String {
        fs::read_to_string(self.directory.path().join(format!("log{index}"))).unwrap_or_default()
    }

    /// A connection may end, or a command be answered, before the line that tells of it is written.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, index: usize, part: &str) {
        self.poll(index, &format!("the line {part:?}"), || {
            self.log(index).contains(part).then_some(())
        });
    }

    pub(crate) fn nbd_socket(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("nbd{index}"))
    }

    pub(crate) fn vhost_folder(&self, index: usize) -> PathBuf {
        self.directory.path().join(format!("vhost{index}"))
    }

    pub(crate) fn daemon_command(&self, index: usize) -> Command {
        let program = env!("CARGO_BIN_EXE_basalt");
        let mut command = match self.nodes[index].entry.split_first() {
            Some((first, words)) => {
                let mut command = Command::new(first);
                command.args(words).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.args(["node", "--exit-with-parent", "--name", &self.nodes[index].name]);
        command.args(["--shards", &self.nodes[index].shards.to_string()]);
        command.arg("--state-dir").arg(self.state_dir(index));
        command.arg("--nbd-unix").arg(self.nbd_socket(index));
        command.args(["--nvme", &self.nodes[index].nvme.to_string()]);
        command.arg("--vhost").arg(self.vhost_folder(index));
        command.arg("--pki").arg(self.pki(index));
        command.args(&self.nodes[index].words);
        command
    }

    /// Starts a daemon and waits until it answers.
    pub(crate) fn launch(&mut self, index: usize) {
        self.spawn(index);
        self.wait_for_answer(index);
    }

    /// A daemon that may be long in starting.
    pub(crate) fn spawn(&mut self, index: usize) {
        let log = self.directory.path().join(format!("log{index}"));
        let log = File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.daemon_command(index);
        command.envs(self.nodes[index].environment.iter().copied());
        let daemon = command.stdin(Stdio::null()).stderr(log).spawn().unwrap();
        self.nodes[index].daemon = Some(daemon.into());
    }

    pub(crate) fn wait_for_answer(&self, index: usize) {
        self.poll(index, "an answer of the daemon", || self.status_of_all(index).map(drop));
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self, index: usize) {
        let mut daemon = self.nodes[index].daemon.take().unwrap();
        daemon.kill().unwrap();
        daemon.wait().unwrap();
    }

    /// SIGTERM, and the exit code.
    pub(crate) fn terminate(&mut self, index: usize) -> Option<i32> {
        self.tell_to_end(index).wait().unwrap().code()
    }

    /// SIGTERM to a daemon that may be long in ending.
    pub(crate) fn tell_to_end(&mut self, index: usize) -> HeldChild {
        let daemon = self.nodes[index].daemon.take().unwrap();
        let id = daemon.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        daemon
    }

    pub(crate) fn adm(&self, index: usize, words: &[&str]) -> Output {
        self.adm_command(index, words).output().unwrap()
    }

    /// A command that goes on by itself.
    pub(crate) fn adm_started(&self, index: usize, words: &[&str]) -> Child {
        let mut command = self.adm_command(index, words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn adm_command(&self, index: usize, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_basalt"));
        command.arg("adm").arg("-c").arg(self.config());
        command.arg("--node-socket").arg(self.admin_socket(index));
        command.args(words);
        command
    }

    #[track_caller]
    pub(crate) fn adm_ok(&self, index: usize, words: &[&str]) {
        self.adm_warned(index, words);
    }

    /// What a command that is done tells.
    #[track_caller]
    pub(crate) fn adm_told(&self, index: usize, words: &[&str]) -> String {
        String::from_utf8(self.adm_done(index, words).stdout).unwrap()
    }

    /// What a command that is done complains of all the same.
    #[track_caller]
    pub(crate) fn adm_warned(&self, index: usize, words: &[&str]) -> String {
        String::from_utf8(self.adm_done(index, words).stderr).unwrap()
    }

    #[track_caller]
    fn adm_done(&self, index: usize, words: &[&str]) -> Output {
        let output = self.adm(index, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?} on node {index}: {said}");
        output
    }

    /// What a command that must fail complains of.
    #[track_caller]
    pub(crate) fn adm_refused(&self, index: usize, words: &[&str]) -> String {
        let output = self.adm(index, words);
        assert!(!output.status.success(), "{words:?} on node {index} succeeded");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    pub(crate) fn admin_socket(&self, index: usize) -> PathBuf {
        self.state_dir(index).join("admin.sock")
    }

    pub(crate) fn status_of_all(&self, index: usize) -> Option<Vec<ResourceStatus>> {
        let command = api::request::Command::Status { resources: Vec::new(), statistics: true };
        match ask(&self.admin_socket(index), command, Duration::from_secs(5)) {
            Ok(Reply::Status(reply)) => Some(reply.resources),
            Ok(Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_)) | Err(_) => None,
        }
    }

    /// The status of `r0`.
    pub(crate) fn status(&self, index: usize) -> Option<ResourceStatus> {
        self.status_of_all(index)?.into_iter().find(|resource| resource.name == "r0")
    }

    /// Waits until `done` gives something.
    #[track_caller]
    pub(crate) fn poll<T>(
        &self,
        index: usize,
        what: &str,
        mut done: impl FnMut() -> Option<T>,
    ) -> T {
        let deadline = now() + WAIT;
        loop {
            if let Some(result) = done() {
                return result;
            }
            let status = || self.status(index);
            assert!(now() < deadline, "node {index}: no {what}; its status is {:#?}", status());
            thread::park_timeout(POLL);
        }
    }

    #[track_caller]
    pub(crate) fn wait(&self, index: usize, what: &str, is_so: impl Fn(&ResourceStatus) -> bool) {
        self.poll(index, what, || self.status(index).filter(&is_so).map(drop));
    }

    #[track_caller]
    pub(crate) fn wait_connected(&self, index: usize) {
        self.wait(index, "connection to everybody", |status| {
            status.connections.iter().all(|c| c.connection_state == ConnectionState::Connected)
        });
    }

    /// Waits until this node sees every replica in sync, and everybody connected.
    #[track_caller]
    pub(crate) fn wait_up_to_date(&self, index: usize) {
        self.wait_connected(index);
        let is_good = |state: DiskState, has_disk: bool| {
            state == if has_disk { DiskState::UpToDate } else { DiskState::Diskless }
        };
        self.wait(index, "replicas that are all up to date", |status| {
            is_good(status.devices[0].disk_state, self.nodes[index].has_disk)
                && status.connections.iter().all(|connection| {
                    let peer = &self.nodes[usize::from(connection.peer_node_id)];
                    is_good(connection.peer_devices[0].peer_disk_state, peer.has_disk)
                })
        });
    }

    /// Waits until every replica that this node knows of votes, and no change of the voters is
    /// under way: before that, those who voted when one of several nodes was down may be few, and
    /// the death of one of them leaves no majority of these.
    #[track_caller]
    pub(crate) fn wait_for_votes(&self, index: usize) {
        self.wait(index, "vote of every replica", |status| {
            let Some(votes) = &status.quorum_votes else { return false };
            let peers = status.connections.iter().map(|it| usize::from(it.peer_node_id));
            let mut replicas = peers.chain([index]).filter(|&at| self.nodes[at].has_disk);
            let votes_as = |at: usize| votes.voters.iter().any(|it| usize::from(it.node_id) == at);
            votes.before_change.is_none()
                && votes.voters.iter().all(|voter| voter.present)
                && replicas.all(votes_as)
        });
    }

    pub(crate) fn role(&self, index: usize) -> Role {
        self.status(index).unwrap().role
    }

    pub(crate) fn connect(&self, index: usize) -> Result<Connection, ClientError> {
        Connection::open(&self.uri(index), &Wishes::default())
    }

    pub(crate) fn uri(&self, index: usize) -> Uri {
        self.uri_of(index, "r0")
    }

    pub(crate) fn uri_of(&self, index: usize, export: &str) -> Uri {
        let socket = self.nbd_socket(index);
        format!("nbd+unix:///{export}?socket={}", socket.display()).parse().unwrap()
    }

    /// A client of this node, as soon as the node can serve one.
    #[track_caller]
    pub(crate) fn client(&self, index: usize) -> Connection {
        self.client_of(index, "r0")
    }

    #[track_caller]
    pub(crate) fn client_of(&self, index: usize, export: &str) -> Connection {
        let open = || Connection::open(&self.uri_of(index, export), &Wishes::default()).ok();
        self.poll(index, "NBD session", open)
    }

    /// The data of a replica. The daemons have to be idle or gone.
    pub(crate) fn data(&self, index: usize, size_bytes: u64) -> Vec<u8> {
        let mut bytes = vec![0; usize::try_from(size_bytes).unwrap()];
        File::open(self.disk(index)).unwrap().read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[track_caller]
    pub(crate) fn assert_replicas_equal(&self, size_bytes: u64) {
        let first = self.data(0, size_bytes);
        for index in (1..self.nodes.len()).filter(|index| self.nodes[*index].has_disk) {
            let other = self.data(index, size_bytes);
            let block = first.chunks(4096).zip(other.chunks(4096)).position(|(a, b)| a != b);
            assert_eq!(block, None, "replica {index} differs from the first in this block");
        }
    }
}

impl Drop for Cluster {
    #[expect(clippy::print_stdout, reason = "what the daemons of a failed test said")]
    fn drop(&mut self) {
        self.nodes.iter_mut().for_each(|node| drop(node.daemon.take()));
        if thread::panicking() {
            for index in 0..self.nodes.len() {
                println!("---- {} said:\n{}", self.nodes[index].name, self.log(index));
            }
        }
    }
}
