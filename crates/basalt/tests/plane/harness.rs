//! A controller, and machines with a data daemon and an agent each, on loopback. Every process ends
//! with the test.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{Connection, Wishes};
use io::now;
use serde_json::Value;
use stdx::child::HeldChild;
use tempfile::TempDir;

#[path = "../../../bench/src/ports.rs"]
mod ports;

const WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_basalt");

pub(crate) fn own_port() -> u16 {
    ports::claim_ports(Ipv4Addr::LOCALHOST, 1).unwrap()[0].port()
}

pub(crate) struct Plane {
    pub(crate) folder: TempDir,
    pub(crate) listen: SocketAddr,
    pub(crate) agents: SocketAddr,
    controller: Option<HeldChild>,
    pub(crate) machines: Vec<Machine>,
}

pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) nbd_port: u16,
    daemon: Option<HeldChild>,
    agent: Option<HeldChild>,
}

impl Plane {
    /// A controller and no machine.
    pub(crate) fn alone() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (listen, agents) = (at(own_port()), at(own_port()));
        let mut plane = Self { folder, listen, agents, controller: None, machines: Vec::new() };
        plane.launch_controller();
        plane
    }

    /// Machines n0, n1, .. that joined.
    pub(crate) fn of(machines: usize) -> Self {
        let mut plane = Self::alone();
        for index in 0..machines {
            plane.join(&format!("n{index}"));
        }
        for index in 0..machines {
            plane.wait_online(index);
        }
        plane
    }

    fn log(&self, name: &str) -> fs::File {
        let path = self.folder.path().join(format!("{name}.log"));
        fs::OpenOptions::new().create(true).append(true).open(path).unwrap()
    }

    fn spawn(&self, log: &str, words: &[&str]) -> HeldChild {
        let (out, err) = (self.log(log), self.log(log));
        let mut command = Command::new(PROGRAM);
        command.args(words).stdin(Stdio::null()).stdout(out).stderr(err);
        command.spawn().unwrap().into()
    }

    pub(crate) fn launch_controller(&mut self) {
        let state_dir = self.folder.path().join("controller");
        let (listen, agents) = (self.listen.to_string(), self.agents.to_string());
        let state_dir = state_dir.to_str().unwrap();
        let words =
            ["controller", "--state-dir", state_dir, "--listen", &listen, "--agents", &agents];
        self.controller = Some(self.spawn("controller", &words));
        self.poll("a controller that answers", || {
            let answer = self.basalt(&["cluster", "show", "--json"]);
            answer.status.success().then_some(())
        });
    }

    pub(crate) fn kill_controller(&mut self) {
        let mut controller = self.controller.take().unwrap();
        controller.kill().unwrap();
        controller.wait().unwrap();
    }

    pub(crate) fn root(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn pool(&self, index: usize) -> PathBuf {
        self.root(&self.machines[index].name).join("var/lib/basalt/pool")
    }

    pub(crate) fn word(&self) -> String {
        let told = self.ok(&["cluster", "word"]);
        told.trim().to_owned()
    }

    /// The words of `cluster join` for a machine.
    pub(crate) fn join_words(&self, name: &str, nbd_port: u16, word: &str) -> Vec<String> {
        let root = self.root(name);
        let (data, nbd, agents) = (own_port(), nbd_port, self.agents);
        let text = format!(
            "cluster join --no-start --root {} --name {name} --address 127.0.0.1 --data-port \
             {data} --nbd-port {nbd} {agents} {word}",
            root.display()
        );
        text.split(' ').map(str::to_owned).collect()
    }

    pub(crate) fn join(&mut self, name: &str) {
        let (nbd_port, word) = (own_port(), self.word());
        let words = self.join_words(name, nbd_port, &word);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.ok(&words);
        let name = name.to_owned();
        self.machines.push(Machine { name, nbd_port, daemon: None, agent: None });
        let index = self.machines.len() - 1;
        self.launch_daemon(index);
        self.launch_agent(index);
    }

    pub(crate) fn socket(&self, index: usize) -> PathBuf {
        self.root(&self.machines[index].name).join("admin.sock")
    }

    pub(crate) fn launch_daemon(&mut self, index: usize) {
        let name = self.machines[index].name.clone();
        let nbd = format!("127.0.0.1:{}", self.machines[index].nbd_port);
        let (state, socket) = (self.root(&name).join("node"), self.socket(index));
        let (state, socket_path) = (state.to_str().unwrap(), socket.to_str().unwrap());
        let words = [
            "node",
            "--exit-with-parent",
            "--name",
            &name,
            "--state-dir",
            state,
            "--admin-socket",
            socket_path,
            "--nbd",
            &nbd,
            "--shards",
            "1",
        ];
        let daemon = self.spawn(&format!("{name}-node"), &words);
        self.machines[index].daemon = Some(daemon);
        self.poll("a daemon that answers", || UnixStream::connect(&socket).ok());
    }

    pub(crate) fn launch_agent(&mut self, index: usize) {
        let name = self.machines[index].name.clone();
        let (state, socket) = (self.root(&name).join("var/lib/basalt/agent"), self.socket(index));
        let words = [
            "agent",
            "--state-dir",
            state.to_str().unwrap(),
            "--node-socket",
            socket.to_str().unwrap(),
        ];
        let agent = self.spawn(&format!("{name}-agent"), &words);
        self.machines[index].agent = Some(agent);
    }

    pub(crate) fn kill_agent(&mut self, index: usize) {
        end(self.machines[index].agent.take());
    }

    /// As a machine without power.
    pub(crate) fn kill_machine(&mut self, index: usize) {
        end(self.machines[index].agent.take());
        end(self.machines[index].daemon.take());
    }

    /// A command of ours, with the controller's address.
    pub(crate) fn basalt(&self, words: &[&str]) -> Output {
        let controller = self.listen.to_string();
        let mut command = Command::new(PROGRAM);
        let verb = words.len().min(2);
        command.args(&words[..verb]).args(["--controller", &controller]).args(&words[verb..]);
        command.stdin(Stdio::null()).output().unwrap()
    }

    #[track_caller]
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let output = self.basalt(words);
        assert!(output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a command that is refused says on standard error.
    #[track_caller]
    pub(crate) fn refused(&self, words: &[&str]) -> String {
        let output = self.basalt(words);
        assert!(!output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stderr).unwrap()
    }

    #[track_caller]
    pub(crate) fn json(&self, words: &[&str]) -> Value {
        let text = self.ok(&[words, &["--json"]].concat());
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    pub(crate) fn wait_online(&self, index: usize) {
        self.wait_for_agent(index, Agent::Online);
    }

    #[track_caller]
    pub(crate) fn wait_offline(&self, index: usize) {
        self.wait_for_agent(index, Agent::Offline);
    }

    #[track_caller]
    fn wait_for_agent(&self, index: usize, wanted: Agent) {
        let online = wanted == Agent::Online;
        let name = self.machines[index].name.as_str();
        self.poll("the node online, or not", || {
            let nodes = self.json(&["node", "list"]);
            let node = nodes.as_array()?.iter().find(|node| node["name"] == name)?;
            let has_pool = !online || node["pools"][0]["total_bytes"].is_u64();
            (node["online"] == online && has_pool).then_some(())
        });
    }

    #[track_caller]
    pub(crate) fn poll<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = now() + WAIT;
        loop {
            if let Some(found) = look() {
                return found;
            }
            assert!(now() < deadline, "no {what}: {}", self.logs());
            std::thread::park_timeout(POLL);
        }
    }

    pub(crate) fn client(&self, index: usize, volume: &str) -> Connection {
        let uri = format!("nbd://127.0.0.1:{}/{volume}", self.machines[index].nbd_port);
        let uri = uri.parse::<Uri>().unwrap();
        self.poll("an NBD session", || Connection::open(&uri, &Wishes::default()).ok())
    }

    /// What the processes said last.
    pub(crate) fn logs(&self) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|it| it == "log") {
                let log = fs::read_to_string(&path).unwrap_or_default();
                let last: Vec<&str> = log.lines().rev().take(15).collect();
                let last: Vec<&str> = last.into_iter().rev().collect();
                text += &format!("\n== {}\n{}", path.display(), last.join("\n"));
            }
        }
        text
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agent {
    Online,
    Offline,
}

fn end(child: Option<HeldChild>) {
    if let Some(mut child) = child {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

fn told(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(out), String::from_utf8_lossy(err))
}

/// Whether the folder of a pool has nothing in it but its mark, or is not there.
pub(crate) fn is_empty(folder: &Path) -> bool {
    let is_mark = |entry: &std::io::Result<fs::DirEntry>| {
        entry.as_ref().is_ok_and(|it| it.file_name() == ".basalt-pool")
    };
    fs::read_dir(folder).map_or(true, |mut entries| entries.all(|it| is_mark(&it)))
}
