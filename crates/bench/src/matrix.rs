//! `basalt bench`: the matrix of loads by which replicated block storage is compared in public.
//!
//! N nodes with M volumes each, every volume with three replicas and a load of its own, all at
//! once: random reads, writes and a mix of both, large reads and writes in a row, and the latency
//! of one request at a time. Each is run where the serving node has no replica and where it has
//! one, and against peers that are installed here. The systems take turns at each load, and all of
//! it is repeated in rounds, whose range tells how much a figure is worth. IOPS and bandwidth are
//! summed, latencies averaged; the result is a table, a JSON file, and a page of HTML that needs
//! nothing else.

mod jobs;
mod layout;
mod published;
mod figures;
mod result;
mod chart;
mod page;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use frontend::nbd::client::uri::Uri;
use io::clock;

use self::jobs::JOBS;
use self::layout::{Layout, Placed, REPLICAS};
use self::result::{JobResult, LayoutReport, Result as MatrixResult, SideReport};
use crate::cluster::directory::Directory;
use crate::course::{Course, turns};
use crate::fio::{self, Job};
use crate::fleet::{self, Fleet, Hosts};
use crate::machine::{self, Machine};
use crate::measure::{Measured, Subject, measure};
use crate::needs;
use crate::output::Output;
use crate::placement::Cpus;
use crate::progress::Progress;
use crate::systems::{self, System};

const UP_TO_DATE_LIMIT: Duration = Duration::from_secs(120);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Nodes with replicas; three of them are joined by as many without, which serve
    #[arg(long, default_value_t = 3, value_parser = needs::count())]
    nodes: usize,
    /// Volumes that each node serves, each with a load of its own
    #[arg(long, default_value_t = 2, value_parser = needs::count())]
    volumes: usize,
    /// Measured seconds of each load in each round
    #[arg(long, default_value_t = 10, value_parser = needs::seconds(1))]
    seconds: u64,
    /// Rounds of all loads; the report tells the range of each figure
    #[arg(long, default_value_t = 3, value_parser = needs::count())]
    repeat: usize,
    /// Seconds of each load before it is measured
    #[arg(long, default_value_t = 5, value_parser = needs::warm_up())]
    warm_up: u64,
    /// MiB of each volume, all of it written before anything is measured
    #[arg(long, default_value_t = 128, value_parser = needs::size_mib(8))]
    size_mib: u64,
    /// One volume per node of 32 MiB, a second per load: whether it works, not how fast
    #[arg(long, conflicts_with_all = ["volumes", "seconds", "repeat", "warm_up", "size_mib"])]
    short: bool,
    /// Where the files go; tmpfs measures the software, a file system on a disk the whole
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// What a node is: by default a network namespace where there are more than three
    #[arg(long, value_enum)]
    hosts: Option<Hosts>,
    /// Threads that carry data in each daemon
    #[arg(long, default_value_t = 1, value_parser = needs::shards())]
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
    rounds: usize,
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
    check(options, scale)?;
    let layout = Layout::new(options.nodes, scale.volumes);
    let result = run(options, &layout, scale)?;
    // Printed first: what took minutes to find is not lost where files cannot be written any more.
    let printed = options.output.print(&result, |out| result.print(out));
    write_files(&result, &options.out)?;
    printed?;
    if !options.output.json {
        let out = options.out.display();
        writeln!(std::io::stdout(), "\nwritten to {out}: {JSON_FILE} and {PAGE_FILE}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether what the options ask for can be measured here, before any of it is built.
fn check(options: &Options, scale: Scale) -> Result<()> {
    ensure!(options.nodes >= REPLICAS, "{REPLICAS} replicas need as many --nodes");
    ensure!(
        layout::hosts(options.nodes) <= fleet::NODES_MAX,
        "--nodes {}: this bench starts at most {} daemons",
        options.nodes,
        fleet::NODES_MAX
    );
    needs::writable(&options.out).context("--out")?;
    needs::room(&options.place, room_bytes(options, scale))?;
    let mut programs = vec![fio::PROGRAM];
    for peer in &options.peers {
        match peer {
            Peer::Quorum => programs.extend([systems::QEMU, systems::IP]),
            Peer::Nbdkit => programs.push(systems::NBDKIT),
        }
    }
    if options.hosts() == Hosts::Namespaces {
        programs.push(systems::IP);
        ensure!(needs::is_root(), "network namespaces take root; see --hosts");
    }
    needs::programs(&programs)
}

/// All copies of all volumes.
fn room_bytes(options: &Options, scale: Scale) -> u64 {
    let of_peers: u64 = options
        .peers
        .iter()
        .map(|peer| match peer {
            Peer::Quorum => REPLICAS as u64,
            // In memory, not at the place; which for tmpfs is the same.
            Peer::Nbdkit => 1,
        })
        .sum();
    let mine = systems::replicas_bytes(REPLICAS, scale.size_bytes);
    let each = mine.saturating_add(of_peers.saturating_mul(scale.size_bytes));
    each.saturating_mul((options.nodes * scale.volumes) as u64)
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
                rounds: 1,
            };
        }
        Scale {
            volumes: self.volumes,
            size_bytes: self.size_mib << 20,
            warm_up: Duration::from_secs(self.warm_up),
            time: Duration::from_secs(self.seconds),
            rounds: self.repeat,
        }
    }

    fn hosts(&self) -> Hosts {
        let many = if self.nodes > REPLICAS { Hosts::Namespaces } else { Hosts::Loopback };
        self.hosts.unwrap_or(many)
    }
}

fn run(options: &Options, layout: &Layout, scale: Scale) -> Result<MatrixResult> {
    let started = clock::now();
    let (fio, machine) = (fio::version()?, Machine::this()?);
    let mut progress = Progress::new();
    progress.say(&format!("starting {} daemons, {} volumes", layout.hosts, layout.volumes.len()));
    let mut fleet = Fleet::start(&fleet::Plan {
        place: options.place.clone(),
        nodes: layout.hosts,
        hosts: options.hosts(),
        shards: options.shards,
        backing_bytes: systems::replicas_bytes(1, scale.size_bytes),
        volumes: layout.members(),
    })?;
    let result = run_sides(options, layout, scale, &fleet, &mut progress);
    let (sides, jobs) = result.map_err(|error| fleet.evidence(&error))?;
    drop(fleet);
    Ok(MatrixResult {
        what: "loads on many replicated volumes at once, over NBD on unix sockets".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        machine,
        fio,
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
        controls: result::controls(scale.warm_up, scale.size_bytes),
        warm_up_seconds: scale.warm_up.as_secs_f64(),
        seconds: scale.time.as_secs_f64(),
        rounds: scale.rounds,
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
    let durability = machine::durability(&options.place)?;
    let mut sides = fleet_sides(layout, fleet, &durability)?;
    sides.extend(peers.iter().map(|(report, systems)| Side {
        report: report.clone(),
        targets: systems.iter().map(|system| system.uri.clone()).collect(),
        pids: systems.iter().flat_map(System::pids).collect(),
        servers: None,
    }));
    let runs = scale.rounds * JOBS.len() * sides.len();
    let mut course = Course::new(runs, scale.warm_up, scale.time);
    // Both of ours have the same volumes.
    for side in &sides[1..] {
        let what = format!("writing every block of every volume: {}", side.report.name);
        progress.say(&what);
        side.enter(fleet)?;
        fio::fill(&side.targets, scale.size_bytes, directory.path(), |elapsed| {
            course.prepare(progress, elapsed, &what);
        })
        .context(side.report.key)?;
        side.leave(fleet)?;
    }
    // By load and side; a round each.
    let mut measured = vec![vec![Vec::new(); sides.len()]; JOBS.len()];
    for round in 0..scale.rounds {
        for (number, job) in JOBS.iter().enumerate() {
            for index in turns(round * JOBS.len() + number, sides.len()) {
                let side = &sides[index];
                let one = side.measure(job, scale, fleet, directory.path(), |within| {
                    course.show(progress, within, || format!("{}, {}", job.name, side.report.name));
                })?;
                course.go_on();
                measured[number][index].push(one);
            }
        }
    }
    let seconds = scale.time.as_secs_f64();
    let jobs = JOBS.iter().zip(&measured).map(|(job, of_sides)| {
        let result = |(side, rounds): (&Side, &Vec<Measured>)| {
            result::SideResult::new(side.report.key, side.targets.len(), rounds, seconds)
        };
        JobResult::new(job, sides.iter().zip(of_sides).map(result).collect())
    });
    let jobs = jobs.collect();
    Ok((sides.into_iter().map(|side| side.report).collect(), jobs))
}

fn fleet_sides(layout: &Layout, fleet: &Fleet, durability: &str) -> Result<Vec<Side>> {
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
            report: SideReport {
                key,
                name,
                what: what.to_owned(),
                durability: durability.to_owned(),
            },
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
            Peer::Quorum => systems::quorum(&home, scale.size_bytes, Cpus::default())?,
            Peer::Nbdkit => systems::nbdkit(&home, scale.size_bytes, Cpus::default())?,
        });
    }
    let what = format!("for each volume: {}", systems[0].what);
    let durability = systems[0].durability.clone();
    Ok((SideReport { key, name, what, durability }, systems))
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

    /// Its turn at a load; `at` hears how much of it is over, from 0 to 1.
    fn measure(
        &self,
        job: &jobs::Named,
        scale: Scale,
        fleet: &Fleet,
        directory: &Path,
        at: impl FnMut(f64),
    ) -> Result<Measured> {
        let run = Job {
            targets: self.targets.clone(),
            span_bytes: scale.size_bytes,
            access: job.access,
            cpu: None,
            ramp: scale.warm_up,
            time: scale.time,
        };
        let subject = Subject { name: self.report.name, pids: &self.pids };
        let enters = || self.servers.as_ref().and_then(|_| fleet.enters());
        self.enter(fleet)?;
        let measured = measure(&subject, enters, &run, directory, at)?;
        self.leave(fleet)?;
        Ok(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn refusal(words: &[&str]) -> String {
        let line = std::iter::once("bench").chain(words.iter().copied());
        match Line::try_parse_from(line) {
            Ok(Line { options }) => {
                format!("{:#}", check(&options, options.scale()).expect_err("too much"))
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_nobody_can_have_is_refused_before_any_of_it_is_built() {
        for (words, why) in [
            (["--nodes", "1000000000"], "1000"),
            (["--nodes", "1000"], "at most 26 daemons"),
            (["--nodes", "2"], "as many --nodes"),
            (["--volumes", "1000000000"], "1000"),
            (["--size-mib", "17592186044416"], "1073741824"),
            (["--size-mib", "16777216"], "MiB are needed"),
            (["--seconds", "18446744073709551615"], "3600"),
            (["--out", "/nonexistent"], "cannot make a file in /nonexistent"),
        ] {
            let refusal = refusal(&words);
            assert!(refusal.contains(why), "{words:?}: {refusal}");
        }
    }
}
