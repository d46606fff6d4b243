//! One node: a daemon process, its files and its addresses.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::client;
use api::request::Command as NodeCommand;
use api::response::Reply;
use api::status::ResourceStatus;
use frontend::nbd::client::uri::{Address, Uri};
use io::clock;
use stdx::child::HeldChild;

use super::disks::{Disk, Disks, Refusal};
use super::{Network, RESOURCE, on_cpu};
use crate::loopback;
use crate::waiting;

const STATUS_LIMIT: Duration = Duration::from_secs(2);
/// How much of a daemon's log an error message shows.
const LOG_TAIL_LINES: usize = 15;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Stop,
    Continue,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) name: &'static str,
    pub(crate) id: u8,
    shards: u8,
    /// The one that it has for itself; none is any.
    pub(super) cpu: Option<usize>,
    /// What it runs, and what administers it; another version than this program may be.
    program: PathBuf,
    pub(crate) peer_address: SocketAddr,
    /// What the daemon uses.
    pub(crate) disk: PathBuf,
    /// The file where its bytes are.
    pub(super) backing: PathBuf,
    /// What stands between the two, if anything does.
    mounted: Option<Disk>,
    /// The kernel boot that the daemon is told of, where the power can be cut.
    boot_file: PathBuf,
    pub(crate) has_replica: bool,
    network: Option<Rc<Network>>,
    nbd_address: SocketAddr,
    nbd_socket: PathBuf,
    state_dir: PathBuf,
    log_file: PathBuf,
    process: Option<HeldChild>,
}

impl Node {
    /// Names everything; nothing runs yet.
    pub(crate) fn prepare(
        directory: &Path,
        name: &'static str,
        id: u8,
        shards: u8,
    ) -> Result<Self> {
        let home = directory.join(name);
        let state_dir = home.join("state");
        fs::create_dir_all(&state_dir)
            .with_context(|| format!("cannot make {}", state_dir.display()))?;
        let [peer_address, nbd_address] = loopback::free_ports(10 + id)?;
        let program = std::env::current_exe().context("cannot find this program's own file")?;
        Ok(Self {
            name,
            id,
            shards,
            cpu: None,
            program,
            peer_address,
            nbd_address,
            disk: home.join("disk"),
            backing: home.join("disk"),
            mounted: None,
            boot_file: home.join("boot-id"),
            has_replica: true,
            network: None,
            nbd_socket: home.join("nbd.sock"),
            state_dir,
            log_file: home.join("log"),
            process: None,
        })
    }

    /// From now on it runs on the host of the network that has its number.
    pub(crate) fn move_to(&mut self, network: Rc<Network>) {
        // Nobody else listens there.
        self.peer_address.set_ip(Network::address(self.id.into()));
        self.nbd_address.set_ip(Ipv4Addr::LOCALHOST.into());
        self.network = Some(network);
    }

    /// What it runs from its next start on.
    pub(crate) fn install(&mut self, program: &Path) {
        program.clone_into(&mut self.program);
    }

    /// A sparse backing file, of which the first `data_bytes` are the volume's.
    pub(super) fn create_disk(&mut self, bytes: u64, kind: Disks, data_bytes: u64) -> Result<()> {
        File::create_new(&self.backing)
            .and_then(|file| file.set_len(bytes))
            .with_context(|| format!("cannot make {} of {bytes} bytes", self.backing.display()))?;
        if kind != Disks::Plain {
            self.disk.set_file_name("mounted-disk");
            self.mounted = Some(Disk::mount(&self.backing, &self.disk, kind, data_bytes)?);
            self.boot_anew()?;
        }
        Ok(())
    }

    /// What is in front of the backing file goes away; the daemon is about to end.
    pub(super) fn unmount_disk(&mut self) {
        self.mounted = None;
    }

    /// The machine loses its power, with the daemon and what was not on the disk.
    pub(super) fn cut_power(&mut self) -> Result<()> {
        if self.process.is_some() {
            self.kill()?;
        }
        if let Some(disk) = &self.mounted {
            disk.cut_power()?;
        }
        self.boot_anew()
    }

    pub(super) fn refuse(&self, refusal: Option<Refusal>) {
        if let Some(disk) = &self.mounted {
            disk.refuse(refusal);
        }
    }

    /// Requests that its disk refused, and bytes that it lost.
    pub(super) fn disk_faults(&self) -> (u64, u64) {
        self.mounted.as_ref().map_or((0, 0), |disk| (disk.refused(), disk.lost_bytes()))
    }

    /// A daemon that is told of another kernel boot knows that its disk lost what was in a cache.
    fn boot_anew(&self) -> Result<()> {
        let id = format!("{:016x}{:016x}\n", clock::random_u64(), clock::random_u64());
        fs::write(&self.boot_file, id)
            .with_context(|| format!("cannot write {}", self.boot_file.display()))
    }

    pub(super) fn may_lose_its_disk(&self) -> bool {
        self.mounted.is_some()
    }

    pub(super) fn attach(&self) -> Result<()> {
        self.ask(NodeCommand::Attach { resource: RESOURCE.to_owned() }).map(drop)
    }

    pub(super) fn reopen(&self) -> Result<()> {
        self.ask(NodeCommand::Reopen { resource: RESOURCE.to_owned() }).map(drop)
    }

    /// The export over TCP.
    pub(crate) fn uri(&self) -> Uri {
        let (host, port) = (self.nbd_address.ip().to_string(), self.nbd_address.port());
        Uri { address: Address::Tcp { host, port }, export: RESOURCE.to_owned() }
    }

    /// The export over a unix socket.
    pub(crate) fn local_uri(&self) -> Uri {
        Uri { address: Address::Unix(self.nbd_socket.clone()), export: RESOURCE.to_owned() }
    }

    /// The process number of the running daemon.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(|child| child.id())
    }

    pub(crate) fn start(&mut self) -> Result<()> {
        assert!(self.process.is_none(), "{} runs already", self.name);
        let log = File::options().create(true).append(true).open(&self.log_file);
        let log = log.with_context(|| format!("cannot open {}", self.log_file.display()))?;
        let mut command = self.program();
        let child = command
            .arg("node")
            .args(["--name", self.name, "--shards", &self.shards.to_string()])
            .args([OsStr::new("--state-dir"), self.state_dir.as_ref()])
            .args(["--nbd", &self.nbd_address.to_string()])
            .args([OsStr::new("--nbd-unix"), self.nbd_socket.as_ref()])
            .arg("--exit-with-parent")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start the daemon of {}", self.name))?;
        self.process = Some(child.into());
        Ok(())
    }

    /// Its program, on the node's host.
    fn program(&self) -> Command {
        let words = on_cpu(self.cpu).into_iter().map(OsString::from);
        let mut words = words.chain([self.program.clone().into()]);
        let Some(network) = &self.network else {
            let mut command = Command::new(words.next().expect("the program"));
            command.args(words);
            return command;
        };
        let mut command = network.enter(self.id.into());
        if self.mounted.is_some() {
            // Seen by this process alone: each has mounts of its own there.
            let script = "mount --bind \"$0\" /proc/sys/kernel/random/boot_id && exec \"$@\"";
            command.args(["sh", "-c", script]).arg(&self.boot_file);
        }
        command.args(words);
        command
    }

    /// The file that the running daemon was started from.
    pub(crate) fn running_program(&self) -> Result<PathBuf> {
        let pid = self.pid().with_context(|| format!("{} does not run", self.name))?;
        let link = format!("/proc/{pid}/exe");
        fs::read_link(&link).with_context(|| format!("cannot read {link}"))
    }

    /// Stops it where it is (SIGSTOP), or lets it go on (SIGCONT).
    pub(crate) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = self.pid().with_context(|| format!("{} does not run", self.name))?;
        let word = match signal {
            Signal::Stop => "-STOP",
            Signal::Continue => "-CONT",
        };
        let status = Command::new("kill").args([word, &pid.to_string()]).status();
        let status = status.context("cannot start `kill` (package procps)")?;
        if !status.success() {
            bail!("cannot send {word} to {}: {status}", self.name);
        }
        Ok(())
    }

    pub(crate) fn wait_until_it_listens(&mut self, limit: Duration) -> Result<()> {
        let what = format!("the admin socket of {}", self.name);
        let look = || {
            let child = self.process.as_mut().context("it was not started")?;
            if let Some(status) = child.try_wait()? {
                bail!("the daemon of {} ended with {status}", self.name);
            }
            Ok(self.ask(NodeCommand::Status { resources: vec![], statistics: false }).ok())
        };
        let answer = waiting::wait_for(&what, limit, look);
        answer.map(drop).with_context(|| self.log_tail())
    }

    /// SIGKILL, and it is gone when this returns.
    pub(crate) fn kill(&mut self) -> Result<()> {
        let mut child =
            self.process.take().with_context(|| format!("{} does not run", self.name))?;
        child.kill().with_context(|| format!("cannot kill {}", self.name))?;
        child.wait().map(drop).with_context(|| format!("cannot wait for {}", self.name))
    }

    /// Asks the daemon to demote, flush and end.
    pub(crate) fn stop(&mut self, limit: Duration) -> Result<()> {
        if self.process.is_none() {
            return Ok(());
        }
        self.ask(NodeCommand::Shutdown)?;
        let what = format!("the daemon of {} to end", self.name);
        let status = {
            let child = self.process.as_mut().context("it runs, as was just checked")?;
            waiting::wait_for(&what, limit, || Ok(child.try_wait()?))
        };
        let status = status.with_context(|| self.log_tail())?;
        self.process = None;
        if !status.success() {
            bail!("the daemon of {} ended with {status}\n{}", self.name, self.log_tail());
        }
        Ok(())
    }

    pub(crate) fn status(&self) -> Result<ResourceStatus> {
        if self.process.is_none() {
            bail!("is not running");
        }
        let mine = self.statuses(vec![RESOURCE.to_owned()])?;
        let mine = mine.into_iter().find(|one| one.name == RESOURCE);
        mine.with_context(|| format!("{} does not know {RESOURCE}", self.name))
    }

    /// Of the named resources, or of all if none is named.
    pub(crate) fn statuses(&self, resources: Vec<String>) -> Result<Vec<ResourceStatus>> {
        match self.ask(NodeCommand::Status { resources, statistics: true })? {
            Reply::Status(reply) => Ok(reply.resources),
            Reply::Done { .. } | Reply::Adjusted { .. } | Reply::Running(_) => {
                bail!("it answered something else")
            }
        }
    }

    /// Calls of `io_uring_enter` so far, of all shards.
    pub(crate) fn enters(&self) -> Option<u64> {
        let resources = self.statuses(Vec::new()).ok()?;
        // Every resource tells the same of the shards that they share.
        let shards = &resources.first()?.shards;
        Some(shards.iter().map(|shard| shard.enters).sum())
    }

    /// Runs `basalt adm` for this node.
    pub(crate) fn adm(&self, config_file: &Path, words: &[&str]) -> Result<()> {
        let socket = self.admin_socket();
        let output = Command::new(&self.program)
            .arg("adm")
            .args([OsStr::new("-c"), config_file.as_ref()])
            .args([OsStr::new("--node-socket"), socket.as_ref()])
            .args(words)
            .stdin(Stdio::null())
            .output()
            .context("cannot run `basalt adm`")?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let (words, log) = (words.join(" "), self.log_tail());
        bail!("`basalt adm {words}` on {}: {}\n{log}", self.name, said.trim())
    }

    /// The end of the daemon's log.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log_file).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = &lines[lines.len().saturating_sub(LOG_TAIL_LINES)..];
        format!("log of {}:\n  {}", self.name, tail.join("\n  "))
    }

    fn admin_socket(&self) -> PathBuf {
        self.state_dir.join("admin.sock")
    }

    fn ask(&self, command: NodeCommand) -> Result<Reply> {
        Ok(client::ask(&self.admin_socket(), command, STATUS_LIMIT)?)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Before what its disk lies on.
        drop(self.process.take());
    }
}
