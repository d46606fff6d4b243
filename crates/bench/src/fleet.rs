//! Nodes with many volumes, born without a copy: each volume is a resource of its own, with
//! replicas on some of the nodes and, if need be, others that only serve it.

use std::fmt::Write;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use api::disk_state::DiskState;
use api::role::Role;
use api::status::{DeviceStatus, ResourceStatus};
use frontend::nbd::client::uri::Uri;

use crate::cluster::directory::Directory;
use crate::cluster::{COMMAND_LIMIT, FLEET_NODE_NAMES, Network, Node, START_LIMIT, Signal};
use crate::loopback;
use crate::waiting;

/// The most nodes of a fleet.
pub(crate) const NODES_MAX: usize = FLEET_NODE_NAMES.len();

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Where the temporary directory is made.
    pub(crate) place: PathBuf,
    pub(crate) nodes: usize,
    pub(crate) hosts: Hosts,
    /// Threads that carry data, of each node.
    pub(crate) shards: u8,
    /// Of each backing file, which is sparse.
    pub(crate) backing_bytes: u64,
    pub(crate) volumes: Vec<Members>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Hosts {
    /// Each node has a loopback address of its own
    Loopback,
    /// Each node is in a network namespace of its own, which takes root
    Namespaces,
}

/// Numbers of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Members {
    pub(crate) replicas: Vec<usize>,
    /// Without a replica.
    pub(crate) clients: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Fleet {
    nodes: Vec<Node>,
    volumes: Vec<Members>,
    /// Dropped last: the daemons are dead by then.
    directory: Directory,
}

/// What a node needs in the configuration.
struct Host {
    name: &'static str,
    home: PathBuf,
    addresses: Vec<SocketAddr>,
}

impl Members {
    pub(crate) fn has(&self, node: usize) -> bool {
        self.replicas.contains(&node) || self.clients.contains(&node)
    }
}

impl Fleet {
    pub(crate) fn start(plan: &Plan) -> Result<Self> {
        ensure!(plan.nodes <= NODES_MAX, "{} nodes are more than {NODES_MAX}", plan.nodes);
        let directory = Directory::create(&plan.place)?;
        let network = match plan.hosts {
            Hosts::Loopback => None,
            Hosts::Namespaces => Some(Rc::new(Network::create(plan.nodes)?)),
        };
        let (mut nodes, mut hosts) = (Vec::new(), Vec::new());
        for (id, name) in (0..).zip(FLEET_NODE_NAMES).take(plan.nodes) {
            let mut node = Node::prepare(directory.path(), name, id, plan.shards)?;
            if let Some(network) = &network {
                node.move_to(Rc::clone(network));
            }
            let home = directory.path().join(name);
            let mut addresses = loopback::many_free_ports(40 + id, plan.volumes.len())?;
            if plan.hosts == Hosts::Namespaces {
                addresses.iter_mut().for_each(|one| one.set_ip(node.peer_address.ip()));
            }
            for (volume, members) in plan.volumes.iter().enumerate() {
                if members.replicas.contains(&usize::from(id)) {
                    let path = disk(&home, volume);
                    File::create_new(&path)
                        .and_then(|file| file.set_len(plan.backing_bytes))
                        .with_context(|| format!("cannot make {}", path.display()))?;
                }
            }
            nodes.push(node);
            hosts.push(Host { name, home, addresses });
        }
        // A node is told only of what concerns it.
        for (index, node) in nodes.iter().enumerate() {
            let mine = plan.volumes.iter().enumerate().filter(|(_, members)| members.has(index));
            let text: String =
                mine.map(|(volume, members)| resource_text(&hosts, volume, members)).collect();
            let path = config_file(&directory, node);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let mut fleet = Self { nodes, volumes: plan.volumes.clone(), directory };
        match fleet.bring_up() {
            Ok(()) => Ok(fleet),
            Err(error) => Err(fleet.evidence(&error)),
        }
    }

    fn bring_up(&mut self) -> Result<()> {
        for index in 0..self.nodes.len() {
            let name = self.nodes[index].name;
            let mut words = vec!["create-md".to_owned(), "--node".to_owned(), name.to_owned()];
            words.extend(self.names_where(|members| members.replicas.contains(&index)));
            if words.len() > 3 {
                self.adm(index, &words)?;
            }
            self.nodes[index].start()?;
        }
        for index in 0..self.nodes.len() {
            self.nodes[index].wait_until_it_listens(START_LIMIT)?;
            self.adm(index, &["up".to_owned(), "all".to_owned()])?;
        }
        // The nodes need a moment to meet; until then the command is refused.
        for volume in 0..self.volumes.len() {
            let words = ["new-current-uuid", "--clear-bitmap", &resource_name(volume)];
            let words = words.map(str::to_owned);
            let first = self.volumes[volume].replicas[0];
            let mut refusal = None;
            let begin = || {
                refusal = self.adm(first, &words).err();
                Ok(refusal.is_none().then_some(()))
            };
            if let Err(error) = waiting::wait_for("the nodes to meet", COMMAND_LIMIT, begin) {
                return Err(refusal.unwrap_or(error));
            }
        }
        Ok(())
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.nodes.iter().map(|node| node.name).collect()
    }

    pub(crate) fn pids(&self) -> Result<Vec<u32>> {
        let pid = |node: &Node| node.pid().with_context(|| format!("{} does not run", node.name));
        self.nodes.iter().map(pid).collect()
    }

    /// Calls of `io_uring_enter` so far, of all daemons.
    pub(crate) fn enters(&self) -> Option<u64> {
        self.nodes.iter().map(Node::enters).sum()
    }

    /// Where a node serves a volume, over a unix socket.
    pub(crate) fn uri(&self, node: usize, volume: usize) -> Uri {
        Uri { export: resource_name(volume), ..self.nodes[node].local_uri() }
    }

    /// Makes a node primary for each volume, by its number. Opening a volume would do it too, but
    /// hundreds at once take longer than a client that connects may wait.
    pub(crate) fn promote(&self, servers: &[usize]) -> Result<()> {
        for index in 0..self.nodes.len() {
            let mut words = vec!["primary".to_owned()];
            let volumes = servers.iter().enumerate().filter(|(_, server)| **server == index);
            words.extend(volumes.map(|(volume, _)| resource_name(volume)));
            if words.len() > 1 {
                self.adm(index, &words)?;
            }
        }
        Ok(())
    }

    /// Takes the role from whoever has it, so that another node may serve next.
    pub(crate) fn release(&self) -> Result<()> {
        for (index, node) in self.nodes.iter().enumerate() {
            let mut words = vec!["secondary".to_owned()];
            let states = node.statuses(Vec::new())?;
            let mine = states.into_iter().filter(|state| state.role == Role::Primary);
            words.extend(mine.map(|state| state.name));
            if words.len() > 1 {
                self.adm(index, &words)?;
            }
        }
        Ok(())
    }

    pub(crate) fn wait_until_up_to_date(&self, limit: Duration) -> Result<()> {
        (0..self.nodes.len()).try_for_each(|index| self.wait_until_node_is_up_to_date(index, limit))
    }

    pub(crate) fn wait_until_node_is_up_to_date(
        &self,
        index: usize,
        limit: Duration,
    ) -> Result<()> {
        let node = &self.nodes[index];
        let wanted = self.volumes.iter().filter(|members| members.has(index)).count();
        let what = format!("all volumes of {} to be up to date", node.name);
        waiting::wait_for(&what, limit, || {
            let states = node.statuses(Vec::new()).unwrap_or_default();
            let good = states.iter().filter(|state| is_up_to_date(state)).count();
            Ok((good == wanted).then_some(()))
        })
    }

    /// The state of a volume, as a node tells it.
    pub(crate) fn status(&self, node: usize, volume: usize) -> Result<ResourceStatus> {
        let mut states = self.nodes[node].statuses(vec![resource_name(volume)])?;
        states.pop().with_context(|| format!("{} tells nothing", self.nodes[node].name))
    }

    /// Where a run may leave files until the fleet goes.
    pub(crate) fn scratch(&self) -> &Path {
        self.directory.path()
    }

    /// Ends a daemon as an operator would.
    pub(crate) fn end(&mut self, index: usize) -> Result<()> {
        self.nodes[index].stop(COMMAND_LIMIT)
    }

    pub(crate) fn kill(&mut self, index: usize) -> Result<()> {
        self.nodes[index].kill()
    }

    pub(crate) fn signal(&self, index: usize, signal: Signal) -> Result<()> {
        self.nodes[index].signal(signal)
    }

    pub(crate) fn start_node(&mut self, index: usize) -> Result<()> {
        self.nodes[index].start()
    }

    /// Adds the logs to a failure, and leaves the files behind.
    pub(crate) fn evidence(&mut self, error: &anyhow::Error) -> anyhow::Error {
        let logs: Vec<String> = self.nodes.iter().map(Node::log_tail).collect();
        let kept = self.directory.keep().display().to_string();
        anyhow::anyhow!("{error:#}\n{}\nfiles and logs are kept in {kept}", logs.join("\n"))
    }

    fn adm(&self, index: usize, words: &[String]) -> Result<()> {
        let node = &self.nodes[index];
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        node.adm(&config_file(&self.directory, node), &words)
    }

    fn names_where(&self, is_wanted: impl Fn(&Members) -> bool) -> Vec<String> {
        let volumes = self.volumes.iter().enumerate();
        let wanted = volumes.filter(|(_, members)| is_wanted(members));
        wanted.map(|(volume, _)| resource_name(volume)).collect()
    }
}

fn resource_name(volume: usize) -> String {
    format!("volume-{volume}")
}

fn disk(home: &Path, volume: usize) -> PathBuf {
    home.join(format!("disk-{volume}"))
}

fn config_file(directory: &Directory, node: &Node) -> PathBuf {
    directory.path().join(format!("{}.res", node.name))
}

fn resource_text(hosts: &[Host], volume: usize, members: &Members) -> String {
    let mut text = format!(
        "resource {} {{\n  options {{ quorum majority; on-no-quorum suspend-io; }}\n  \
         net {{ protocol C; }}\n",
        resource_name(volume)
    );
    let mut names = String::new();
    for (id, host) in hosts.iter().enumerate().filter(|(id, _)| members.has(*id)) {
        let disk = if members.replicas.contains(&id) {
            format!("disk \"{}\"; meta-disk internal;", disk(&host.home, volume).display())
        } else {
            "disk none;".to_owned()
        };
        write!(
            text,
            "  on {} {{\n    node-id {id};\n    address {};\n    volume 0 {{ device minor \
             {volume}; {disk} }}\n  }}\n",
            host.name, host.addresses[volume],
        )
        .expect("writing to a string");
        write!(names, " {}", host.name).expect("writing to a string");
    }
    writeln!(text, "  connection-mesh {{ hosts{names}; }}\n}}").expect("writing to a string");
    text
}

fn is_up_to_date(state: &ResourceStatus) -> bool {
    let is_good = |device: &DeviceStatus| device.client || device.disk_state == DiskState::UpToDate;
    !state.devices.is_empty() && state.devices.iter().all(is_good)
}
