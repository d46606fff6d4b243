//! Three nodes with many volumes, born without a copy.

use std::fmt::Write;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use api::disk_state::DiskState;
use api::status::ResourceStatus;
use frontend::nbd::client::uri::Uri;
use frontend::nbd::client::{Connection, Wishes};

use crate::clock;
use crate::cluster::directory::Directory;
use crate::cluster::{COMMAND_LIMIT, NODE_NAMES, Node, START_LIMIT};
use crate::loopback;

#[derive(Debug)]
pub(super) struct Fleet {
    nodes: Vec<Node>,
    volumes: usize,
    config_file: PathBuf,
    /// Dropped last: the daemons are dead by then.
    directory: Directory,
}

/// What a node needs in the configuration.
struct Host {
    name: &'static str,
    home: PathBuf,
    addresses: Vec<SocketAddr>,
}

impl Fleet {
    pub(super) fn start(place: &Path, volumes: usize, backing_bytes: u64) -> Result<Self> {
        let directory = Directory::create(place)?;
        let (mut nodes, mut hosts) = (Vec::new(), Vec::new());
        for (id, name) in (0..).zip(NODE_NAMES) {
            nodes.push(Node::prepare(directory.path(), name, id, 1)?);
            let home = directory.path().join(name);
            for volume in 0..volumes {
                let path = disk(&home, volume);
                File::create_new(&path)
                    .and_then(|file| file.set_len(backing_bytes))
                    .with_context(|| format!("cannot make {}", path.display()))?;
            }
            let addresses = loopback::many_free_ports(20 + id, volumes)?;
            hosts.push(Host { name, home, addresses });
        }
        let config_file = directory.path().join("fleet.res");
        let text: String = (0..volumes).map(|volume| resource_text(&hosts, volume)).collect();
        fs::write(&config_file, text)
            .with_context(|| format!("cannot write {}", config_file.display()))?;
        let mut fleet = Self { nodes, volumes, config_file, directory };
        match fleet.bring_up() {
            Ok(()) => Ok(fleet),
            Err(error) => Err(fleet.evidence(&error)),
        }
    }

    fn bring_up(&mut self) -> Result<()> {
        for node in &mut self.nodes {
            node.adm(&self.config_file, &["create-md", "--node", node.name, "all"])?;
            node.start()?;
            node.wait_until_it_listens(START_LIMIT)?;
            node.adm(&self.config_file, &["up", "all"])?;
        }
        // The nodes need a moment to meet; until then the command is refused.
        let first = &self.nodes[0];
        for volume in 0..self.volumes {
            let words = ["new-current-uuid", "--clear-bitmap", &resource_name(volume)];
            let mut refusal = None;
            let begin = || {
                refusal = first.adm(&self.config_file, &words).err();
                Ok(refusal.is_none().then_some(()))
            };
            if let Err(error) = clock::wait_for("the nodes to meet", COMMAND_LIMIT, begin) {
                return Err(refusal.unwrap_or(error));
            }
        }
        Ok(())
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.nodes.iter().map(|node| node.name).collect()
    }

    pub(super) fn pids(&self) -> Result<Vec<u32>> {
        let pid = |node: &Node| node.pid().with_context(|| format!("{} does not run", node.name));
        self.nodes.iter().map(pid).collect()
    }

    pub(super) fn wait_until_up_to_date(&self, limit: Duration) -> Result<()> {
        (0..self.nodes.len()).try_for_each(|index| self.wait_until_node_is_up_to_date(index, limit))
    }

    pub(super) fn wait_until_node_is_up_to_date(
        &self,
        index: usize,
        limit: Duration,
    ) -> Result<()> {
        let node = &self.nodes[index];
        let what = format!("all volumes of {} to be up to date", node.name);
        clock::wait_for(&what, limit, || {
            let states = node.statuses(Vec::new()).unwrap_or_default();
            let good = states.iter().filter(|state| is_up_to_date(state)).count();
            Ok((good == self.volumes).then_some(()))
        })
    }

    /// A client of the first volume, at the first node.
    pub(super) fn open_first(&self) -> Result<Connection> {
        let uri = Uri { export: resource_name(0), ..self.nodes[0].local_uri() };
        Connection::open(&uri, &Wishes::default()).context("opening the first volume")
    }

    /// Ends a daemon as an operator would.
    pub(super) fn end(&mut self, index: usize) -> Result<()> {
        self.nodes[index].stop(COMMAND_LIMIT)
    }

    pub(super) fn kill(&mut self, index: usize) -> Result<()> {
        self.nodes[index].kill()
    }

    pub(super) fn start_node(&mut self, index: usize) -> Result<()> {
        self.nodes[index].start()
    }

    /// Adds the logs to a failure, and leaves the files behind.
    pub(super) fn evidence(&mut self, error: &anyhow::Error) -> anyhow::Error {
        let logs: Vec<String> = self.nodes.iter().map(Node::log_tail).collect();
        let kept = self.directory.keep().display().to_string();
        anyhow::anyhow!("{error:#}\n{}\nfiles and logs are kept in {kept}", logs.join("\n"))
    }
}

fn resource_name(volume: usize) -> String {
    format!("idle-{volume}")
}

fn disk(home: &Path, volume: usize) -> PathBuf {
    home.join(format!("disk-{volume}"))
}

fn resource_text(hosts: &[Host], volume: usize) -> String {
    let mut text = format!(
        "resource {} {{\n  options {{ quorum majority; on-no-quorum suspend-io; }}\n  \
         net {{ protocol C; }}\n",
        resource_name(volume)
    );
    let mut names = String::new();
    for (id, host) in hosts.iter().enumerate() {
        write!(
            text,
            "  on {} {{\n    node-id {id};\n    address {};\n    volume 0 {{ device minor \
             {volume}; disk \"{}\"; meta-disk internal; }}\n  }}\n",
            host.name,
            host.addresses[volume],
            disk(&host.home, volume).display()
        )
        .expect("writing to a string");
        write!(names, " {}", host.name).expect("writing to a string");
    }
    writeln!(text, "  connection-mesh {{ hosts{names}; }}\n}}").expect("writing to a string");
    text
}

fn is_up_to_date(state: &ResourceStatus) -> bool {
    !state.devices.is_empty()
        && state.devices.iter().all(|device| device.disk_state == DiskState::UpToDate)
}
