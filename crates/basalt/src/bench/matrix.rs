//! `basalt bench`: the matrix of loads by which replicated block storage is compared in public.
//!
//! N nodes with M volumes each, every volume with three replicas and a load of its own, all at
//! once: random reads, writes and a mix of both, large reads and writes in a row, and the latency
//! of one request at a time. Each is run where the serving node has no replica and where it has
//! one, and against peers that are installed here. The systems take turns at each load. IOPS and
//! bandwidth are summed, latencies averaged; the result is a table, a JSON file, and a page of HTML
//! that needs nothing else.

mod jobs;
mod layout;
mod published;
mod result;
mod page;
mod chart;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use frontend::nbd::client::uri::Uri;

use self::jobs::JOBS;
use self::layout::{Layout, Placed, REPLICAS};
use self::result::{JobResult, LayoutReport, Result as MatrixResult, SideReport};
use super::Output;
use super::fio::{self, Job};
use super::fleet::{self, Fleet, Hosts};
use super::machine::{self, Machine};
use super::measure::{Measured, Subject, measure};
use super::systems::{self, System};
use crate::clock;
use crate::cluster::directory::Directory;
use crate::progress::Progress;

/// What fio needs to start and to end, for the estimate of the time that is left.
const START_AND_END: Duration = Duration::from_millis(700);
const METADATA_ROOM_BYTES: u64 = 8 << 20;
const UP_TO_DATE_LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Nodes with replicas; three of them are joined by as many without, which serve
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// Volumes that each node serves, each with a load of its own
    #[arg(long, default_value_t = 2)]
    volumes: usize,
    /// Measured seconds of each load
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// Seconds of each load before it is measured
    #[arg(long, default_value_t = 5)]
    warm_up: u64,
    /// MiB of each volume, all of it written before anything is measured
    #[arg(long, default_value_t = 128)]
    size_mib: u64,
    /// One volume per node of 32 MiB, a second per load: whether it works, not how fast
    #[arg(long, conflicts_with_all = ["volumes", "seconds", "warm_up", "size_mib"])]
    short: bool,
    /// Where the files go; tmpfs measures the software, a file system on a disk the whole
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// What a node is: by default a network namespace where there are more than three
    #[arg(long, value_enum)]
    hosts: Option<Hosts>,
    /// Threads that carry data in each daemon
    #[arg(long, default_value_t = 1)]
    shards: u8,
    /// What else runs the same loads, if it is installed here
    #[arg(long = "peer", value_enum, value_delimiter = ',')]
    peers: Vec<Peer>,
    /// Where basalt-bench.json and basalt-bench.html go
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Peer {
    /// QEMU's quorum driver over three storage daemons, for each volume
    Quorum,
    /// nbdkit's memory plugin for each volume: one copy, no network
    Nbdkit,
}

/// What the options come to.
#[derive(Clone, Copy, Debug)]
struct Scale {
    volumes: usize,
    size_bytes: u64,
    warm_up: Duration,
    time: Duration,
}

/// A column of the table.
#[derive(Debug)]
struct Side {
    report: SideReport,
    targets: Vec<Uri>,
    pids: Vec<u32>,
    /// Nodes of the fleet that serve the volumes, in the order of these; none of a peer.
    servers: Option<Vec<usize>>,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let scale = options.scale();
    ensure!(options.nodes >= REPLICAS, "{REPLICAS} replicas need as many --nodes");
    ensure!(scale.volumes >= 1, "--volumes 0 is nothing to measure");
    ensure!(scale.time >= Duration::from_secs(1), "--seconds 0 measures nothing");
    ensure!(scale.size_bytes >= 8 << 20, "--size-mib: at least 8");
    ensure!(options.out.is_dir(), "--out {} is no directory", options.out.display());
    let layout = Layout::new(options.nodes, scale.volumes);
    ensure!(
        layout.hosts <= fleet::NODES_MAX,
        "--nodes {}: this bench starts at most {} daemons",
        options.nodes,
        fleet::NODES_MAX
    );
    check_room(options, &layout, scale)?;
    let result = run(options, &layout, scale)?;
    write_files(&result, &options.out)?;
    options.output.print(&result, |out| {
        result.print(out)?;
        writeln!(out, "\nwritten to {}: {JSON_FILE} and {PAGE_FILE}", options.out.display())?;
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

const JSON_FILE: &str = "basalt-bench.json";
const PAGE_FILE: &str = "basalt-bench.html";

fn write_files(result: &MatrixResult, out: &Path) -> Result<()> {
    let write = |name: &str, text: String| {
        let path = out.join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write(JSON_FILE, serde_json::to_string_pretty(result)?)?;
    write(PAGE_FILE, page::page(result))
}

impl Options {
    fn scale(&self) -> Scale {
        if self.short {
            return Scale {
                volumes: 1,
                size_bytes: 32 << 20,
                warm_up: Duration::from_millis(500),
                time: Duration::from_secs(1),
            };
        }
        Scale {
            volumes: self.volumes,
            size_bytes: self.size_mib << 20,
            warm_up: Duration::from_secs(self.warm_up),
            time: Duration::from_secs(self.seconds),
        }
    }

    fn hosts(&self) -> Hosts {
        let many = if self.nodes > REPLICAS { Hosts::Namespaces } else { Hosts::Loopback };
        self.hosts.unwrap_or(many)
    }
}

/// All copies of all volumes have to fit: a full tmpfs would end daemons and peers alike.
fn check_room(options: &Options, layout: &Layout, scale: Scale) -> Result<()> {
    let volumes = layout.volumes.len() as u64;
    let copies: u64 = options
        .peers
        .iter()
        .map(|peer| match peer {
            Peer::Quorum => REPLICAS as u64,
            // In memory, not at the place; which for tmpfs is the same.
            Peer::Nbdkit => 1,
        })
        .sum();
    let mine = (scale.size_bytes + METADATA_ROOM_BYTES) * REPLICAS as u64;
    let needed = volumes * (mine + copies * scale.size_bytes);
    let place = options.place.as_path();
    let mut df = Command::new("df");
    let output = df.args(["--output=avail", "-B1"]).arg(place).output().context("cannot run df")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let free: u64 = text
        .lines()
        .nth(1)
        .and_then(|line| line.trim().parse().ok())
        .with_context(|| format!("df does not know how much is free in {}", place.display()))?;
    ensure!(
        needed <= free,
        "{} MiB are needed in {} and {} are free: take fewer --volumes or a smaller --size-mib",
        needed >> 20,
        place.display(),
        free >> 20
    );
    Ok(())
}

fn run(options: &Options, layout: &Layout, scale: Scale) -> Result<MatrixResult> {
    let started = clock::now();
    let fio = fio::version()?;
    let mut progress = Progress::new();
    progress.say(&format!("starting {} daemons, {} volumes", layout.hosts, layout.volumes.len()));
    let mut fleet = Fleet::start(&fleet::Plan {
        place: options.place.clone(),
        nodes: layout.hosts,
        hosts: options.hosts(),
        shards: options.shards,
        backing_bytes: scale.size_bytes + METADATA_ROOM_BYTES,
        volumes: layout.members(),
    })?;
    let result = run_sides(options, layout, scale, &fleet, &mut progress);
    let (sides, jobs) = result.map_err(|error| fleet.evidence(&error))?;
    drop(fleet);
    Ok(MatrixResult {
        what: "loads on many replicated volumes at once, over NBD on unix sockets".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Machine::this()?,
        fio,
        durability: machine::durability(&options.place)?,
        layout: LayoutReport {
            nodes: options.nodes,
            daemons: layout.hosts,
            volumes_per_node: scale.volumes,
            loads: layout.volumes.len(),
            replicas: REPLICAS,
            size_mib: scale.size_bytes >> 20,
            hosts: match options.hosts() {
                Hosts::Loopback => "loopback addresses of one machine",
                Hosts::Namespaces => "network namespaces of one machine",
            },
            shards: options.shards,
        },
        controls: result::CONTROLS.map(str::to_owned).to_vec(),
        warm_up_seconds: scale.warm_up.as_secs_f64(),
        seconds: scale.time.as_secs_f64(),
        total_seconds: clock::now().since(started).as_secs_f64(),
        sides,
        jobs,
        published: published::ALL.to_vec(),
    })
}

/// Everything that takes part, in turns at each load.
fn run_sides(
    options: &Options,
    layout: &Layout,
    scale: Scale,
    fleet: &Fleet,
    progress: &mut Progress,
) -> Result<(Vec<SideReport>, Vec<JobResult>)> {
    fleet.wait_until_up_to_date(UP_TO_DATE_LIMIT)?;
    let directory = Directory::for_bench(&options.place)?;
    let mut peers = Vec::new();
    for peer in &options.peers {
        peers.push(start_peer(*peer, layout.volumes.len(), scale, directory.path(), progress)?);
    }
    let mut sides = fleet_sides(layout, fleet)?;
    sides.extend(peers.iter().map(|(report, systems)| Side {
        report: report.clone(),
        targets: systems.iter().map(|system| system.uri.clone()).collect(),
        pids: systems.iter().flat_map(System::pids).collect(),
        servers: None,
    }));
    // Both of ours have the same volumes.
    for side in &sides[1..] {
        progress.say(&format!("writing every block of every volume: {}", side.report.name));
        side.enter(fleet)?;
        fio::fill(&side.targets, scale.size_bytes, directory.path()).context(side.report.key)?;
        side.leave(fleet)?;
    }
    let mut turns = Turns { scale, fleet, directory: directory.path(), progress, done: 0, all: 0 };
    turns.all = JOBS.len() * sides.len();
    let mut jobs = Vec::new();
    for job in JOBS {
        let mut results = Vec::new();
        for side in &sides {
            let measured = turns.take(side, job)?;
            results.push(result::SideResult::new(side.report.key, side.targets.len(), &measured));
        }
        jobs.push(JobResult::new(job, results));
    }
    Ok((sides.into_iter().map(|side| side.report).collect(), jobs))
}

fn fleet_sides(layout: &Layout, fleet: &Fleet) -> Result<Vec<Side>> {
    let mut sides = Vec::new();
    for (key, name, what) in [
        (
            "remote",
            "basalt, no local replica",
            "three replicas, none on the node that serves: all data goes over the network",
        ),
        ("local", "basalt, local replica", "three replicas, one of them on the node that serves"),
    ] {
        let server = |placed: &Placed| if key == "remote" { placed.remote } else { placed.local };
        let servers: Vec<usize> = layout.volumes.iter().map(server).collect();
        let numbered = servers.iter().enumerate();
        sides.push(Side {
            report: SideReport { key, name, what: what.to_owned() },
            targets: numbered.map(|(volume, node)| fleet.uri(*node, volume)).collect(),
            pids: fleet.pids()?,
            servers: Some(servers),
        });
    }
    Ok(sides)
}

fn start_peer(
    peer: Peer,
    volumes: usize,
    scale: Scale,
    directory: &Path,
    progress: &Progress,
) -> Result<(SideReport, Vec<System>)> {
    let (key, name) = match peer {
        Peer::Quorum => ("quorum", "QEMU quorum"),
        Peer::Nbdkit => ("nbdkit", "nbdkit, one copy"),
    };
    progress.say(&format!("starting {volumes} times {name}"));
    let mut systems = Vec::new();
    for volume in 0..volumes {
        let home = directory.join(format!("{key}-{volume}"));
        std::fs::create_dir(&home).with_context(|| format!("cannot make {}", home.display()))?;
        systems.push(match peer {
            Peer::Quorum => systems::quorum(&home, scale.size_bytes)?,
            Peer::Nbdkit => systems::nbdkit(&home, scale.size_bytes)?,
        });
    }
    let what = format!("for each volume: {}", systems[0].what);
    Ok((SideReport { key, name, what }, systems))
}

impl Side {
    /// Before its volumes are opened.
    fn enter(&self, fleet: &Fleet) -> Result<()> {
        self.servers.as_ref().map_or(Ok(()), |servers| fleet.promote(servers))
    }

    /// After they were closed.
    fn leave(&self, fleet: &Fleet) -> Result<()> {
        self.servers.as_ref().map_or(Ok(()), |_| fleet.release())
    }
}

/// Who has run, and how long the rest will take.
struct Turns<'a> {
    scale: Scale,
    fleet: &'a Fleet,
    directory: &'a Path,
    progress: &'a mut Progress,
    done: usize,
    all: usize,
}

impl Turns<'_> {
    fn take(&mut self, side: &Side, job: &jobs::Named) -> Result<Measured> {
        let Scale { size_bytes, warm_up, time, .. } = self.scale;
        let run = Job {
            targets: side.targets.clone(),
            span_bytes: size_bytes,
            access: job.access,
            ramp: warm_up,
            time,
        };
        let subject = Subject { name: side.report.name, pids: &side.pids };
        let (fleet, progress) = (self.fleet, &mut *self.progress);
        let enters = || side.servers.as_ref().and_then(|_| fleet.enters());
        let (done, all) = (self.done, self.all);
        let each = warm_up + time + START_AND_END;
        side.enter(fleet)?;
        let measured = measure(&subject, enters, &run, self.directory, |within| {
            let share = (float(done) + within) / float(all);
            progress.show(Some(share), || {
                let left = each.mul_f64(float(all) * (1.0 - share));
                format!("{} left: {}, {}", minutes(left), job.name, side.report.name)
            });
        })?;
        side.leave(fleet)?;
        self.done += 1;
        Ok(measured)
    }
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02} min", seconds / 60, seconds % 60)
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_in_minutes() {
        assert_eq!(minutes(Duration::from_millis(200_900)), "3:20 min");
    }
}
