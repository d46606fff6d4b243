//! `basalt bench failover`: how long a volume stands still when its primary dies, when the
//! primary's host vanishes, when a secondary stands still, when an operator moves the role, and
//! when the daemon that serves is restarted under a load.
//!
//! Each node is a process on a host of its own in a network of namespaces. One client writes block
//! after block with a count in each; after every take-over the last count that was acknowledged
//! has to be there.

use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use frontend::nbd::client::{ClientError, Connection, Wishes};
use io::clock;
use serde::Serialize;
use stdx::time::Time;

use crate::cluster::{self, Cluster, Node, Shape, Signal};
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;
use crate::rig;
use crate::waiting;

const VOLUME_BYTES: u64 = 32 << 20;
const BLOCK_BYTES: usize = 4096;
/// No take-over may take longer than this before the run gives up.
const LIMIT: Duration = Duration::from_secs(60);
/// How long one attempt to open the volume at another node may last.
const ATTEMPT: Duration = Duration::from_secs(10);
/// Writes of a load, in the middle of which the daemon dies.
const LOAD: u64 = 50;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How often each of the first four happens
    #[arg(long, default_value_t = 20, value_parser = needs::some())]
    rounds: usize,
    /// How often the daemon that serves is restarted
    #[arg(long, default_value_t = 50, value_parser = needs::some())]
    restarts: usize,
    /// Where the nodes' files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Serialize)]
struct Report {
    /// From SIGKILL of the primary to the first write acknowledged through another node, in ms.
    killed_ms: Times,
    /// The same from the moment in which no packet leaves the primary's host any more.
    vanished_ms: Times,
    /// The longest write while a secondary stands still (SIGSTOP).
    frozen_secondary_ms: Times,
    /// From `secondary` here to the first write acknowledged there.
    switched_ms: Times,
    /// From SIGKILL of the daemon that serves, in the middle of writes, to the first write that is
    /// acknowledged through it again: it is started at once.
    restarted_ms: Times,
}

/// Ascending.
#[derive(Debug, Serialize)]
struct Times {
    p50: f64,
    p95: f64,
    all: Vec<f64>,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    ensure!(options.rounds > 0 && options.restarts > 0, "at least one round");
    cluster::check_room(&options.place, VOLUME_BYTES)?;
    let mut progress = Progress::new();
    progress.say("starting three nodes");
    let plan = cluster::Plan {
        shape: Shape { has_network: true, ..Shape::SMALL },
        ..cluster::Plan::small(&options.place, VOLUME_BYTES)
    };
    let cluster = rig::start_cluster(&plan, &mut progress)?;
    let mut bench = Bench { cluster, progress, count: 0 };
    let report = match bench.run(options) {
        Ok(report) => report,
        Err(error) => return Err(bench.cluster.with_evidence(&error)),
    };
    let text = match options.output.json {
        true => serde_json::to_string_pretty(&report)?,
        false => report.to_string(),
    };
    drop(bench);
    writeln!(std::io::stdout(), "{text}").context("cannot print the report")?;
    Ok(ExitCode::SUCCESS)
}

struct Bench {
    cluster: Cluster,
    progress: Progress,
    /// The newest count that was written and acknowledged.
    count: u64,
}

impl Bench {
    fn run(&mut self, options: &Options) -> Result<Report> {
        let rounds = options.rounds;
        Ok(Report {
            killed_ms: self.repeat("killing the primary", rounds, Self::kill)?,
            vanished_ms: self.repeat("the primary's host vanishes", rounds, Self::vanish)?,
            frozen_secondary_ms: self.repeat("a secondary stands still", rounds, Self::freeze)?,
            switched_ms: self.repeat("moving the role", rounds, Self::switch)?,
            restarted_ms: self.repeat("restarting the daemon", options.restarts, Self::restart)?,
        })
    }

    /// Each round begins with all replicas up to date and another node.
    fn repeat(
        &mut self,
        what: &str,
        rounds: usize,
        once: fn(&mut Self, usize, usize) -> Result<Duration>,
    ) -> Result<Times> {
        self.progress.say(what);
        let nodes = self.cluster.nodes().len();
        let mut times = Vec::new();
        for round in 0..rounds {
            rig::wait_until_whole(&self.cluster, &mut self.progress)?;
            let time = once(self, round % nodes, (round + 1) % nodes);
            times.push(time.with_context(|| format!("{what}, round {}", round + 1))?);
        }
        Ok(Times::of(&times))
    }

    fn kill(&mut self, primary: usize, other: usize) -> Result<Duration> {
        let client = self.write_some(primary)?;
        let from = clock::now();
        self.cluster.kill(primary)?;
        drop(client);
        let time = self.take_over(other, from)?;
        self.cluster.restart(primary)?;
        Ok(time)
    }

    fn vanish(&mut self, primary: usize, other: usize) -> Result<Duration> {
        let client = self.write_some(primary)?;
        let from = clock::now();
        self.cluster.network()?.unplug(primary)?;
        let time = self.take_over(other, from)?;
        drop(client);
        self.cluster.network()?.heal()?;
        Ok(time)
    }

    fn freeze(&mut self, primary: usize, other: usize) -> Result<Duration> {
        let mut client = self.write_some(primary)?;
        let from = clock::now();
        self.cluster.nodes()[other].signal(Signal::Stop)?;
        let mut longest = Duration::ZERO;
        while clock::now().since(from) < Duration::from_secs(3) {
            longest = longest.max(self.write(&mut client)?);
        }
        self.cluster.nodes()[other].signal(Signal::Continue)?;
        client.close()?;
        Ok(longest)
    }

    fn switch(&mut self, primary: usize, other: usize) -> Result<Duration> {
        let client = self.write_some(primary)?;
        client.close()?;
        let from = clock::now();
        self.cluster.demote(primary)?;
        self.take_over(other, from)
    }

    fn restart(&mut self, primary: usize, _other: usize) -> Result<Duration> {
        let mut client = self.write_some(primary)?;
        let before = self.count;
        let written = Arc::new(AtomicU64::new(before));
        let counter = Arc::clone(&written);
        let load = std::thread::spawn(move || {
            let mut count = before;
            while client.write(place_of(count + 1), &block_of(count + 1)).is_ok() {
                count += 1;
                counter.store(count, Ordering::Relaxed);
            }
            count
        });
        let mut is_under_way =
            || Ok((written.load(Ordering::Relaxed) >= before + LOAD).then_some(()));
        waiting::wait_for("a load", LIMIT, &mut is_under_way)?;
        let from = clock::now();
        self.cluster.kill(primary)?;
        self.cluster.restart(primary)?;
        self.count = load.join().ok().context("the load ended badly")?;
        self.take_over(primary, from)
    }

    /// Opens the volume at `node`, which makes it primary, and writes for a moment.
    fn write_some(&mut self, node: usize) -> Result<Connection> {
        let mut opened = None;
        let mut look = || {
            opened = open(&self.cluster.nodes()[node]).ok();
            Ok(opened.is_some().then_some(()))
        };
        waiting::wait_for("the volume to be opened", LIMIT, &mut look)?;
        let mut client = opened.context("it was just opened")?;
        for _ in 0..50 {
            self.write(&mut client)?;
        }
        Ok(client)
    }

    fn write(&mut self, client: &mut Connection) -> Result<Duration> {
        let count = self.count + 1;
        let block = block_of(count);
        let from = clock::now();
        client.write(place_of(count), &block)?;
        self.count = count;
        Ok(clock::now().since(from))
    }

    /// Until a write is acknowledged through `node`; what was acknowledged before has to be there.
    fn take_over(&mut self, node: usize, from: Time) -> Result<Duration> {
        let mut client = loop {
            match open(&self.cluster.nodes()[node]) {
                Ok(client) => break client,
                Err(error) => {
                    ensure!(clock::now() < from + LIMIT, "nobody took over: {error}");
                }
            }
        };
        let last = self.count;
        self.write(&mut client)?;
        let time = clock::now().since(from);
        let mut block = [0; BLOCK_BYTES];
        client.read(place_of(last), &mut block)?;
        let found = u64::from_le_bytes(*block.first_chunk().context("a block has eight bytes")?);
        ensure!(found == last, "write {last} was acknowledged, and {found} is there");
        client.close()?;
        Ok(time)
    }
}

fn place_of(count: u64) -> u64 {
    let blocks = VOLUME_BYTES / BLOCK_BYTES as u64 / 2;
    count % blocks * BLOCK_BYTES as u64
}

fn block_of(count: u64) -> [u8; BLOCK_BYTES] {
    let mut block = [0; BLOCK_BYTES];
    block[..8].copy_from_slice(&count.to_le_bytes());
    block
}

fn open(node: &Node) -> Result<Connection, ClientError> {
    let wishes = Wishes { connect_timeout: ATTEMPT, read_timeout: ATTEMPT, ..Wishes::default() };
    Connection::open(&node.local_uri(), &wishes)
}

impl Times {
    fn of(times: &[Duration]) -> Self {
        let mut all: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1000.0).collect();
        all.sort_by(f64::total_cmp);
        let at = |percent: usize| all[(all.len() * percent).div_ceil(100).max(1) - 1];
        Self { p50: at(50), p95: at(95), all }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = [
            ("primary killed", &self.killed_ms),
            ("host of the primary vanished", &self.vanished_ms),
            ("longest write, secondary stands still", &self.frozen_secondary_ms),
            ("role moved", &self.switched_ms),
            ("daemon restarted under a load", &self.restarted_ms),
        ];
        for (name, Times { p50, p95, all }) in rows {
            writeln!(f, "{name:<38} p50 {p50:5.0} ms  p95 {p95:5.0} ms  of {}", all.len())?;
        }
        Ok(())
    }
}
