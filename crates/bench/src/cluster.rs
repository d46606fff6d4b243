//! A cluster of node daemons on this machine, to be loaded, killed and started again.
//!
//! Each node is a process of this binary with a loopback address, a state directory and a backing
//! file of its own. Everything is done as an operator would: `.res` file, `basalt adm`, status.
//! Nothing outlives it: dropping it kills the daemons, and a daemon ends when this process is gone.

pub(crate) mod directory;
pub(crate) mod disks;
mod network;
mod node;
pub(crate) mod replicas;

pub(crate) use self::network::{Direction, Network};
pub(crate) use self::node::{Node, Signal};

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::client::AskError;
use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use api::replication_state::ReplicationState;
use api::response::FailureCode;
use api::role::Role;
use api::status::{DeviceStatus, PeerDeviceStatus, ResourceStatus};

use self::directory::Directory;
use self::disks::{Disks, Refusal};
use crate::waiting;

/// The only resource, which is also the name of its export.
pub(crate) const RESOURCE: &str = "demo";
pub(crate) const NODE_NAMES: [&str; 3] = ["alfa", "bravo", "charlie"];
/// Of a larger cluster or fleet; they begin with the same three.
pub(crate) const FLEET_NODE_NAMES: [&str; 26] = [
    "alfa", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
    "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "tango",
    "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
];
/// The most nodes of a cluster.
pub(crate) const NODES_MAX: usize = 7;
/// What the backing file is larger than the volume, for its metadata.
const METADATA_ROOM_BYTES: u64 = 8 << 20;
pub(crate) const START_LIMIT: Duration = Duration::from_secs(20);
pub(crate) const COMMAND_LIMIT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Where the temporary directory is made.
    pub(crate) place: PathBuf,
    pub(crate) volume_bytes: u64,
    pub(crate) shape: Shape,
    /// Threads that carry data, of the nodes in turn.
    pub(crate) shards: Vec<u8>,
    /// The CPU that each node has for itself; of those that are not named here, any.
    pub(crate) cpus: Vec<Option<usize>>,
    /// What the nodes run instead of this program.
    pub(crate) program: Option<PathBuf>,
    /// Other than plain ones need a network of namespaces.
    pub(crate) disks: Disks,
}

impl Plan {
    /// Three nodes of this program on loopback addresses, with one data thread each.
    pub(crate) fn small(place: &Path, volume_bytes: u64) -> Self {
        let (shape, shards) = (Shape::SMALL, vec![1]);
        Self {
            place: place.to_owned(),
            volume_bytes,
            shape,
            shards,
            cpus: Vec::new(),
            program: None,
            disks: Disks::Plain,
        }
    }
}

/// The words before a command that run it on one CPU (`taskset` of util-linux); none where it may
/// be any.
pub(crate) fn on_cpu(cpu: Option<usize>) -> Vec<String> {
    cpu.map_or_else(Vec::new, |cpu| vec!["taskset".into(), "-c".into(), cpu.to_string()])
}

/// Who is in the cluster, and how they are joined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Nodes with a replica; they come first.
    pub(crate) replicas: usize,
    /// Nodes without one.
    pub(crate) clients: usize,
    /// Each node in a network namespace of its own, instead of a loopback address.
    pub(crate) has_network: bool,
}

impl Shape {
    /// Three replicas on loopback addresses.
    pub(crate) const SMALL: Self =
        Self { replicas: NODE_NAMES.len(), clients: 0, has_network: false };
}

#[derive(Debug)]
pub(crate) struct Cluster {
    nodes: Vec<Node>,
    network: Option<Rc<Network>>,
    config_file: PathBuf,
    /// Dropped last: the daemons are dead by then.
    directory: Directory,
}

impl Cluster {
    /// Starts three daemons with a fresh volume. The first is primary and fills the replicas of the
    /// two others; see [`Self::release`].
    pub(crate) fn start(plan: &Plan) -> Result<Self> {
        let directory = Directory::create(&plan.place)?;
        let Shape { replicas, clients, has_network } = plan.shape;
        let count = replicas + clients;
        let network = if has_network { Some(Rc::new(Network::create(count)?)) } else { None };
        let names = FLEET_NODE_NAMES.into_iter().take(count);
        let mut nodes = Vec::new();
        for (id, name) in (0..).zip(names) {
            let shards = plan.shards.iter().cycle().nth(id.into()).copied().unwrap_or(1);
            let mut node = Node::prepare(directory.path(), name, id, shards)?;
            node.has_replica = usize::from(id) < replicas;
            node.cpu = plan.cpus.get(usize::from(id)).copied().flatten();
            if let Some(program) = &plan.program {
                node.install(program);
            }
            if let Some(network) = &network {
                node.move_to(Rc::clone(network));
            }
            if node.has_replica {
                let bytes = plan.volume_bytes + METADATA_ROOM_BYTES;
                node.create_disk(bytes, plan.disks, plan.volume_bytes)?;
            }
            nodes.push(node);
        }
        let config_file = directory.path().join("cluster.res");
        fs::write(&config_file, configuration(&nodes))
            .with_context(|| format!("cannot write {}", config_file.display()))?;
        let mut cluster = Self { nodes, network, config_file, directory };
        for index in 0..cluster.nodes.len() {
            if cluster.nodes[index].has_replica {
                let name = cluster.nodes[index].name;
                cluster.adm(index, &["create-md", "--node", name, RESOURCE])?;
            }
            cluster.nodes[index].start()?;
        }
        for index in 0..cluster.nodes.len() {
            cluster.nodes[index].wait_until_it_listens(START_LIMIT)?;
            cluster.adm(index, &["up", RESOURCE])?;
        }
        waiting::wait_for("the nodes to connect", COMMAND_LIMIT, || {
            let states = cluster.states();
            Ok(states.iter().all(|state| state.as_ref().is_some_and(is_connected)).then_some(()))
        })
        .with_context(|| cluster.describe())?;
        cluster.adm(0, &["primary", "--force", RESOURCE])?;
        Ok(cluster)
    }

    /// Takes the role from the first node: from now on whoever opens the export makes its node
    /// primary.
    pub(crate) fn release(&self) -> Result<()> {
        self.demote(0)
    }

    /// As an operator does.
    pub(crate) fn demote(&self, index: usize) -> Result<()> {
        self.adm(index, &["secondary", RESOURCE])
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Of a cluster that was made with one.
    pub(crate) fn network(&self) -> Result<&Network> {
        self.network.as_deref().context("this cluster has no network of its own")
    }

    pub(crate) fn kill(&mut self, index: usize) -> Result<()> {
        self.nodes[index].kill()
    }

    /// A machine without power; see [`Disks::Volatile`].
    pub(crate) fn cut_power(&mut self, index: usize) -> Result<()> {
        self.nodes[index].cut_power()
    }

    /// From now on the disk of a node refuses so.
    pub(crate) fn refuse(&self, index: usize, refusal: Option<Refusal>) {
        self.nodes[index].refuse(refusal);
    }

    /// Requests that the disks refused, and bytes that they lost.
    pub(crate) fn disk_faults(&self) -> (u64, u64) {
        let each = self.nodes.iter().map(Node::disk_faults);
        each.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// As an operator does whose disk was repaired. A node that is not ready for it refuses, and is
    /// asked again when this is called again.
    pub(crate) fn attach_lost_disks(&self) {
        for (index, node) in self.nodes.iter().enumerate() {
            let is_lost = || node.status().is_ok_and(|state| has_disk(&state, &LOST));
            if node.may_lose_its_disk() && is_lost() && node.attach().is_err_and(|it| is_last(&it))
            {
                // Requests wait for it, and only the disk can tell what became of them.
                let verbs: [&[&str]; 2] = [&["down", "--force", RESOURCE], &["up", RESOURCE]];
                verbs.iter().try_for_each(|words| self.adm(index, words)).ok();
            }
        }
    }

    /// The same where nobody could write until then.
    pub(crate) fn attach_lost_disks_if_all_wait(&self) {
        let is_up_to_date = |state: &ResourceStatus| has_disk(state, &[DiskState::UpToDate]);
        let any_may_be_lost = self.nodes.iter().any(Node::may_lose_its_disk);
        if any_may_be_lost && !self.states().iter().flatten().any(is_up_to_date) {
            self.attach_lost_disks();
        }
    }

    /// As an operator does who looked at the data: the checker of the load does that, and power
    /// cuts are expected to cost writes that no flush followed.
    pub(crate) fn reopen_after_losses(&self) {
        for node in self.nodes.iter().filter(|node| node.may_lose_its_disk()) {
            let epoch = node.status().ok().and_then(|state| state.epoch);
            if epoch.is_some_and(|epoch| epoch.awaits_reopen) && node.reopen().is_ok() {
                return;
            }
        }
    }

    /// Ends a node as an operator would, and starts it again as another version.
    pub(crate) fn replace(&mut self, index: usize, program: &Path) -> Result<()> {
        self.nodes[index].stop(COMMAND_LIMIT)?;
        self.nodes[index].install(program);
        self.restart(index)
    }

    /// Starts a killed node again; its resource comes up by itself.
    pub(crate) fn restart(&mut self, index: usize) -> Result<()> {
        self.nodes[index].start()?;
        self.nodes[index].wait_until_it_listens(START_LIMIT)
    }

    /// What each node says of the resource; none of a node that does not answer.
    pub(crate) fn states(&self) -> Vec<Option<ResourceStatus>> {
        self.nodes.iter().map(|node| node.status().ok()).collect()
    }

    /// The node that is primary, if there is exactly one to be seen.
    pub(crate) fn primary(&self) -> Option<usize> {
        let states = self.states();
        let is_primary = |state: &Option<ResourceStatus>| {
            state.as_ref().is_some_and(|s| s.role == Role::Primary)
        };
        let mut primaries = (0..states.len()).filter(|index| is_primary(&states[*index]));
        primaries.next().filter(|_| primaries.next().is_none())
    }

    /// True if every node runs and every replica is up to date, with nothing left to copy.
    pub(crate) fn is_whole(&self) -> bool {
        self.states().iter().all(|state| state.as_ref().is_some_and(is_whole))
    }

    /// One line per node, for error messages.
    pub(crate) fn describe(&self) -> String {
        let mut text = String::from("the cluster at this moment:");
        for node in &self.nodes {
            let state = match node.status() {
                Ok(state) => summary(&state),
                Err(error) => format!("{error:#}"),
            };
            write!(text, "\n  {}: {state}", node.name).expect("writing to a string");
        }
        text
    }

    /// Ends all daemons as an operator would, so that everything is on disk.
    pub(crate) fn stop(&mut self) -> Result<()> {
        self.nodes.iter_mut().try_for_each(|node| node.stop(COMMAND_LIMIT))
    }

    /// Leaves files and logs behind for a look at what went wrong, and says where.
    pub(crate) fn keep_files(&mut self) -> &Path {
        // The directory gets another name, under which nobody would unmount anything.
        self.nodes.iter_mut().for_each(Node::unmount_disk);
        self.directory.keep()
    }

    /// Adds to a failure what is there to be seen: states, logs, and the files, which are kept.
    pub(crate) fn with_evidence(&mut self, error: &anyhow::Error) -> anyhow::Error {
        let state = self.describe();
        let logs: Vec<String> = self.nodes.iter().map(Node::log_tail).collect();
        let kept = self.keep_files().display().to_string();
        anyhow::anyhow!(
            "{error:#}\n{state}\n{}\nfiles and logs are kept in {kept}",
            logs.join("\n")
        )
    }

    /// Every node's backing file.
    pub(crate) fn replicas(&self) -> Vec<replicas::Replica<'_>> {
        let nodes = self.nodes.iter().filter(|node| node.has_replica);
        nodes.map(|node| (node.name, node.backing.as_path())).collect()
    }

    fn adm(&self, index: usize, words: &[&str]) -> Result<()> {
        self.nodes[index].adm(&self.config_file, words)
    }
}

/// The resource as an operator would write it.
fn configuration(nodes: &[Node]) -> String {
    let mut text = format!(
        "resource {RESOURCE} {{\n  options {{ quorum majority; on-no-quorum suspend-io; }}\n  \
         net {{ protocol C; }}\n"
    );
    let mut hosts = String::new();
    for node in nodes {
        let disk = if node.has_replica {
            format!("disk \"{}\"; meta-disk internal;", node.disk.display())
        } else {
            "disk none;".to_owned()
        };
        write!(
            text,
            "  on {} {{\n    node-id {};\n    address {};\n    \
             volume 0 {{ device minor 0; {disk} }}\n  }}\n",
            node.name, node.id, node.peer_address
        )
        .expect("writing to a string");
        write!(hosts, " {}", node.name).expect("writing to a string");
    }
    write!(text, "  connection-mesh {{ hosts{hosts}; }}\n}}\n").expect("writing to a string");
    text
}

fn is_connected(state: &ResourceStatus) -> bool {
    !state.connections.is_empty()
        && state.connections.iter().all(|one| one.connection_state == ConnectionState::Connected)
}

/// Why `attach` was refused: nobody else is up to date.
fn is_last(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<AskError>();
    matches!(refusal, Some(AskError::Refused(it)) if it.code == FailureCode::NoUpToDateData)
}

const LOST: [DiskState; 2] = [DiskState::Diskless, DiskState::Failed];

fn has_disk(state: &ResourceStatus, among: &[DiskState]) -> bool {
    state.devices.iter().any(|device| among.contains(&device.disk_state))
}

fn is_whole(state: &ResourceStatus) -> bool {
    let is_client = state.devices.iter().any(|device| device.client);
    let is_good = |peer: &PeerDeviceStatus| {
        let is_copied = peer.replication_state == ReplicationState::Established
            && peer.peer_disk_state == DiskState::UpToDate
            && peer.out_of_sync == 0;
        is_copied || is_client || peer.peer_client
    };
    let has_good_disk =
        |device: &DeviceStatus| device.client || device.disk_state == DiskState::UpToDate;
    !state.devices.is_empty()
        && state.devices.iter().all(has_good_disk)
        && is_connected(state)
        && state
            .connections
            .iter()
            .all(|one| !one.peer_devices.is_empty() && one.peer_devices.iter().all(is_good))
}

fn summary(state: &ResourceStatus) -> String {
    let mut text = format!("{:?}", state.role);
    for device in &state.devices {
        write!(text, " disk {:?}", device.disk_state).expect("writing to a string");
    }
    for connection in &state.connections {
        write!(text, ", {} {:?}", connection.name, connection.connection_state)
            .expect("writing to a string");
        for peer in &connection.peer_devices {
            write!(
                text,
                " {:?} {:?} out-of-sync {} KiB",
                peer.replication_state, peer.peer_disk_state, peer.out_of_sync
            )
            .expect("writing to a string");
        }
    }
    for reason in &state.reasons {
        write!(text, "; {reason}").expect("writing to a string");
    }
    text
}

/// Checks early that a cluster can be made at `place`.
pub(crate) fn check_room(place: &Path, volume_bytes: u64) -> Result<()> {
    if !place.is_dir() {
        bail!("{} is no directory; name one with room for three copies", place.display());
    }
    if volume_bytes == 0 || !volume_bytes.is_multiple_of(4096) {
        bail!("a volume of {volume_bytes} bytes is no multiple of 4096");
    }
    Ok(())
}
