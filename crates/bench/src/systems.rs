//! The systems that are measured, each started by this process and ended with it.

use std::fs::File;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;
use frontend::nbd::client::uri::{Address, Uri};

use crate::children::Server;
use crate::cluster::{self, Cluster};
use crate::fio::Job;
use crate::loopback;
use crate::machine;
use crate::measure::{Measured, Subject, measure};
use crate::needs::Program;
use crate::placement::Cpus;
use crate::progress::Progress;
use crate::rig;

pub(crate) const QEMU: Program =
    Program { name: "qemu-storage-daemon", package: "qemu-system-common" };
pub(crate) const NBDKIT: Program = Program { name: "nbdkit", package: "nbdkit" };
/// Sets routes, and hosts in network namespaces.
pub(crate) const IP: Program = Program { name: "ip", package: "iproute2" };
/// Limits links.
pub(crate) const TC: Program = Program { name: "tc", package: "iproute2" };
/// What a replica is larger than its volume, for its metadata.
const METADATA_ROOM_BYTES: u64 = 8 << 20;
/// What an activity log holds: `al-extents`, which our volumes do not set, is above the most.
const LOG_EXTENTS: u64 = 1024;
const EXTENT_BYTES: u64 = 4 << 20;
/// How each of quorum's storage daemons uses its file: as in the scripts that the goals were set
/// with. No other way was found to be faster, on tmpfs either (docs/benchmarks).
const QUORUM_MODE: &str = "aio=io_uring,cache.direct=on";
const WITHOUT_QUICK_ACKS: &str =
    "needs root, for quick acknowledgements: without them quorum's answers can stand for 40 ms";

#[derive(Debug)]
pub(crate) struct System {
    pub(crate) name: &'static str,
    pub(crate) what: String,
    pub(crate) uri: Uri,
    /// What a completed write is worth when all machines lose power.
    pub(crate) durability: String,
    /// What keeps it here from being what it could be.
    pub(crate) handicap: Option<&'static str>,
    parts: Parts,
}

#[derive(Debug)]
enum Parts {
    Cluster(Cluster),
    Processes { servers: Vec<Server>, _routes: Vec<QuickAcks> },
}

impl System {
    /// Calls of `io_uring_enter` so far, of all daemons, where the system counts them.
    fn enters(&self) -> Option<u64> {
        match &self.parts {
            Parts::Cluster(cluster) => cluster.nodes().iter().map(cluster::Node::enters).sum(),
            Parts::Processes { .. } => None,
        }
    }

    /// One run of fio; `at` hears how much of it is over, from 0 to 1.
    pub(crate) fn measure(
        &self,
        job: &Job,
        directory: &Path,
        at: impl FnMut(f64),
    ) -> Result<Measured> {
        let subject = Subject { name: self.name, pids: &self.pids() };
        measure(&subject, || self.enters(), job, directory, at)
    }

    /// The processes whose CPU time is the system's.
    pub(crate) fn pids(&self) -> Vec<u32> {
        match &self.parts {
            Parts::Cluster(cluster) => {
                cluster.nodes().iter().filter_map(cluster::Node::pid).collect()
            }
            Parts::Processes { servers, .. } => servers.iter().map(Server::pid).collect(),
        }
    }
}

/// What so many replicas of a volume take.
pub(crate) fn replicas_bytes(count: usize, volume_bytes: u64) -> u64 {
    (volume_bytes + METADATA_ROOM_BYTES).saturating_mul(count as u64)
}

/// Whether measured writes to our volumes wait for records of the activity log.
pub(crate) fn activity_log(volume_bytes: u64) -> String {
    let extents = volume_bytes.div_ceil(EXTENT_BYTES);
    if extents > LOG_EXTENTS {
        return format!(
            "a volume has {extents} extents, and its activity log holds {LOG_EXTENTS}: random \
             writes wait for records of it too"
        );
    }
    format!(
        "the activity log is never cold: all {extents} extents of a volume fit into its log of \
         {LOG_EXTENTS}, and are there since the volume was filled; random writes to more than {} \
         GiB would wait for records too, and cost more",
        (LOG_EXTENTS * EXTENT_BYTES) >> 30
    )
}

/// Three daemons, the first of which serves.
pub(crate) fn basalt(
    place: &Path,
    size_bytes: u64,
    shards: u8,
    cpus: Cpus,
    progress: &mut Progress,
) -> Result<System> {
    let what = "three daemons over loopback TCP; a write is complete on all three";
    let small = cluster::Plan::small(place, size_bytes);
    let cpus = vec![cpus.front, cpus.others, cpus.others];
    let plan = cluster::Plan { shards: vec![shards], cpus, ..small };
    of_cluster("basalt", what, &plan, progress)
}

/// Daemons of which the first one serves, or the last one where that has no replica.
pub(crate) fn of_cluster(
    name: &'static str,
    what: &str,
    plan: &cluster::Plan,
    progress: &mut Progress,
) -> Result<System> {
    progress.say(&format!("starting {name}"));
    let cluster = rig::start_cluster(plan, progress)?;
    let server = if plan.shape.clients > 0 { cluster.nodes().len() - 1 } else { 0 };
    let uri = cluster.nodes()[server].local_uri();
    Ok(System {
        name,
        what: what.to_owned(),
        uri,
        durability: machine::durability(&plan.place)?,
        handicap: None,
        parts: Parts::Cluster(cluster),
    })
}

/// The same on hosts of their own, where each replica's host can send only so much.
pub(crate) fn behind_links(
    name: &'static str,
    plan: &cluster::Plan,
    mbit: u32,
    progress: &mut Progress,
) -> Result<System> {
    let replicas = plan.shape.replicas;
    let what = format!(
        "replicas on {replicas} hosts in network namespaces, each sending at most {mbit} Mbit/s, \
         served by a host without one"
    );
    let system = of_cluster(name, &what, plan, progress)?;
    if let Parts::Cluster(cluster) = &system.parts {
        (0..replicas).try_for_each(|host| cluster.network()?.limit(host, mbit))?;
    }
    Ok(system)
}

/// QEMU's quorum driver in one storage daemon, over NBD and TCP to three others.
pub(crate) fn quorum(directory: &Path, size_bytes: u64, cpus: Cpus) -> Result<System> {
    let mode = QUORUM_MODE;
    let mut servers = Vec::new();
    let mut front: Vec<String> = Vec::new();
    let mut children = String::new();
    let mut routes = Vec::new();
    for (child, host) in (20..23).enumerate() {
        let [address] = loopback::free_ports(host)?;
        routes.extend(QuickAcks::from_address(address.ip()));
        let file = directory.join(format!("quorum{child}"));
        File::create(&file).and_then(|file| file.set_len(size_bytes))?;
        let arguments = [
            "--blockdev".into(),
            format!("driver=file,node-name=f,filename={},{mode}", file.display()),
            "--nbd-server".into(),
            format!("addr.type=inet,addr.host={},addr.port={}", address.ip(), address.port()),
            "--export".into(),
            "type=nbd,id=e,node-name=f,name=v,writable=on".into(),
        ];
        let mut server =
            Server::start(QEMU.name, cpus.others, &arguments, file.with_extension("log"))?;
        let (host, port) = (address.ip().to_string(), address.port());
        let export = Uri { address: Address::Tcp { host, port }, export: "v".to_owned() };
        server.wait_until_it_serves(&export)?;
        servers.push(server);
        front.extend([
            "--blockdev".into(),
            format!(
                "driver=nbd,node-name=c{child},server.type=inet,server.host={},server.port={port},\
                 export=v",
                address.ip()
            ),
        ]);
        children += &format!(",children.{child}=c{child}");
    }
    let socket = directory.join("quorum.sock");
    front.extend([
        "--blockdev".into(),
        format!("driver=quorum,node-name=q,vote-threshold=2,read-pattern=fifo{children}"),
        "--nbd-server".into(),
        format!("addr.type=unix,addr.path={}", socket.display()),
        "--export".into(),
        "type=nbd,id=e,node-name=q,name=v,writable=on".into(),
    ]);
    let mut server = Server::start(QEMU.name, cpus.front, &front, directory.join("quorum.log"))?;
    let uri = Uri { address: Address::Unix(socket), export: "v".to_owned() };
    server.wait_until_it_serves(&uri)?;
    servers.push(server);
    let is_quick = routes.len() + 1 == servers.len();
    let acks = if is_quick { "with" } else { "WITHOUT (root is needed)" };
    let what = format!(
        "one storage daemon with the quorum driver, three behind it over loopback TCP ({mode}), \
         {acks} quick acknowledgements, which QEMU needs since it leaves Nagle's algorithm on"
    );
    Ok(System {
        name: "qemu-quorum",
        what,
        uri,
        durability: machine::durability(directory)?,
        handicap: (!is_quick).then_some(WITHOUT_QUICK_ACKS),
        parts: Parts::Processes { servers, _routes: routes },
    })
}

/// nbdkit's memory plugin: one copy, no network, no file.
pub(crate) fn nbdkit(directory: &Path, size_bytes: u64, cpus: Cpus) -> Result<System> {
    let socket = directory.join("nbdkit.sock");
    let arguments = [
        "--foreground".to_owned(),
        "--exit-with-parent".to_owned(),
        "--unix".to_owned(),
        socket.display().to_string(),
        "memory".to_owned(),
        format!("size={size_bytes}"),
        "allocator=malloc".to_owned(),
    ];
    let mut server =
        Server::start(NBDKIT.name, cpus.front, &arguments, directory.join("nbdkit.log"))?;
    let uri = Uri { address: Address::Unix(socket), export: String::new() };
    server.wait_until_it_serves(&uri)?;
    let what = "one copy in memory, no replication: what NBD alone costs".to_owned();
    Ok(System {
        name: "nbdkit-memory",
        what,
        uri,
        durability: "none: one copy in the memory of a process".to_owned(),
        handicap: None,
        parts: Parts::Processes { servers: vec![server], _routes: Vec::new() },
    })
}

/// Makes the kernel acknowledge at once what arrives from an address. QEMU's NBD server leaves
/// Nagle's algorithm on: without this each of its answers waits for a delayed one, 40 ms.
#[derive(Debug)]
struct QuickAcks(IpAddr);

impl QuickAcks {
    /// None if the route cannot be set, which takes root.
    fn from_address(address: IpAddr) -> Option<Self> {
        let quick = ["dev", "lo", "table", "local", "src", "127.0.0.1", "quickack", "1"];
        Self::route("replace", address, &quick).then_some(Self(address))
    }

    fn route(verb: &str, address: IpAddr, rest: &[&str]) -> bool {
        let mut command = Command::new("ip");
        command.args(["route", verb, "local", &format!("{address}/32")]).args(rest);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for QuickAcks {
    fn drop(&mut self) {
        // Only this process uses the address, so a route that stays harms nobody.
        Self::route("del", self.0, &["dev", "lo", "table", "local"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_the_activity_log_holds_a_volume_is_told() {
        assert!(activity_log(128 << 20).contains("never cold: all 32 extents"));
        assert!(activity_log((4 << 30) + 1).contains("1025 extents, and its activity log holds"));
        // The daemons' bound, as the configuration tells it.
        let bound = config::options::reasons::condition_of("al-extents").unwrap();
        assert!(bound.starts_with("up to 1,024"), "{bound}");
    }
}
