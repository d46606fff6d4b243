//! `basalt bench idle`: what a node costs that has volumes and nothing to do.
//!
//! Three nodes hold sparse, equal replicas of some volumes, so that nothing has to be copied. When
//! all is up to date, and some blocks at random places are written, they are left alone; then their
//! memory and their CPU time are read from /proc. At last one of them ends and starts again, and
//! its way back to up-to-date volumes is timed.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use frontend::nbd::client::{Connection, Wishes};
use io::clock;
use serde::Serialize;
use stdx::random::Random;

use crate::fleet::{self, Fleet, Hosts, Members};
use crate::needs;
use crate::output::Output;
use crate::progress::Progress;
use crate::waiting;

/// The kernel counts CPU time in these for user space, on every architecture (`USER_HZ`).
const TICKS_PER_SECOND: f64 = 100.0;
const BLOCK_BYTES: usize = 4096;
const NODES: usize = 3;
const RETURN_LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many volumes, each a resource of its own with three replicas
    #[arg(long, default_value_t = 1, value_parser = needs::count())]
    volumes: usize,
    /// MiB of each backing file, which is sparse
    #[arg(long, default_value_t = 1024, value_parser = needs::size_mib(8))]
    size_mib: u64,
    /// Blocks of 4 KiB that are written before, at random places of the first volume
    #[arg(long, default_value_t = 0, value_parser = needs::any("blocks"))]
    writes: u64,
    /// The first node is Primary of all volumes, and nobody uses them
    #[arg(long)]
    primary: bool,
    /// How long the nodes are left alone; CPU time is counted meanwhile
    #[arg(long, default_value_t = 30, value_parser = needs::long_seconds())]
    seconds: u64,
    /// Where the sparse files go, in a directory that is removed at the end; the system's
    /// temporary folder if left out
    #[arg(long, default_value_os_t = std::env::temp_dir(), hide_default_value = true)]
    place: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Serialize)]
struct IdleReport {
    volumes: usize,
    backing_bytes: u64,
    writes: u64,
    /// Whether the first node is Primary of all volumes.
    primary: bool,
    seconds: f64,
    nodes: Vec<NodeReport>,
    /// From the start of a daemon, with its peers up, until it tells that all volumes are up to
    /// date; and the same after SIGKILL.
    start_ms: f64,
    start_after_kill_ms: f64,
}

#[derive(Debug, Serialize)]
struct NodeReport {
    name: &'static str,
    /// Resident memory and huge pages.
    memory_kib: u64,
    /// Of one CPU.
    cpu_percent: f64,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let progress = Progress::new();
    let members = Members { replicas: (0..NODES).collect(), clients: Vec::new() };
    let mut fleet = Fleet::start(&fleet::Plan {
        place: options.place.clone(),
        nodes: NODES,
        hosts: Hosts::Loopback,
        shards: 1,
        backing_bytes: options.size_mib << 20,
        volumes: vec![members; options.volumes],
    })?;
    let report = measure(&mut fleet, options, progress).map_err(|error| fleet.evidence(&error))?;
    options.output.print(&report, |out| report.print(out))?;
    Ok(ExitCode::SUCCESS)
}

fn measure(fleet: &mut Fleet, options: &Options, mut progress: Progress) -> Result<IdleReport> {
    fleet.wait_until_up_to_date(RETURN_LIMIT)?;
    progress.say(&format!("{} volumes are up to date", options.volumes));
    write_at_random(fleet, options.writes, &mut progress)?;
    if options.primary {
        fleet.promote(&vec![0; options.volumes])?;
    }
    progress.say("now the nodes rest");
    let started = clock::now();
    let before = fleet.pids()?.into_iter().map(cpu_seconds).collect::<Result<Vec<_>>>()?;
    let limit = Duration::from_secs(options.seconds);
    while clock::now().since(started) < limit {
        let share = clock::now().since(started).as_secs_f64() / limit.as_secs_f64();
        progress.show(Some(share), || "at rest".to_owned());
        waiting::rest();
    }
    let seconds = clock::now().since(started).as_secs_f64();
    let mut nodes = Vec::new();
    for ((pid, name), before) in fleet.pids()?.into_iter().zip(fleet.names()).zip(before) {
        let cpu_percent = (cpu_seconds(pid)? - before) / seconds * 100.0;
        nodes.push(NodeReport { name, memory_kib: memory_kib(pid)?, cpu_percent });
    }
    progress.say("ending a node and starting it again");
    fleet.end(1)?;
    let start_ms = time_of_return(fleet, 1)?;
    fleet.kill(2)?;
    let start_after_kill_ms = time_of_return(fleet, 2)?;
    Ok(IdleReport {
        volumes: options.volumes,
        backing_bytes: options.size_mib << 20,
        writes: options.writes,
        primary: options.primary,
        seconds,
        nodes,
        start_ms,
        start_after_kill_ms,
    })
}

fn write_at_random(fleet: &Fleet, writes: u64, progress: &mut Progress) -> Result<()> {
    if writes == 0 {
        return Ok(());
    }
    let mut client = Connection::open(&fleet.uri(0, 0), &Wishes::default())?;
    let blocks = client.export().size_bytes / BLOCK_BYTES as u64;
    let mut random = Random::new(11);
    for done in 0..writes {
        let block = [u8::try_from(done % 255 + 1).expect("a byte"); BLOCK_BYTES];
        client.write(random.below(blocks) * BLOCK_BYTES as u64, &block)?;
        if done % 256 == 0 {
            progress.show(Some(fraction(done, writes)), || "writing".to_owned());
        }
    }
    Ok(client.close()?)
}

#[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
fn fraction(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

fn time_of_return(fleet: &mut Fleet, index: usize) -> Result<f64> {
    let started = clock::now();
    fleet.start_node(index)?;
    fleet.wait_until_node_is_up_to_date(index, RETURN_LIMIT)?;
    Ok(clock::now().since(started).as_secs_f64() * 1e3)
}

/// CPU time of the process so far, all threads.
fn cpu_seconds(pid: u32) -> Result<f64> {
    let path = format!("/proc/{pid}/stat");
    let stat = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    // The name, in brackets, may hold anything; utime and stime are the 12th and 13th after it.
    let (_, rest) = stat.rsplit_once(") ").with_context(|| format!("{path}: {stat}"))?;
    let fields = rest.split(' ').skip(11).take(2);
    let ticks = fields.map(|field| field.parse::<f64>().context("a number of ticks"));
    Ok(ticks.sum::<Result<f64>>()? / TICKS_PER_SECOND)
}

fn memory_kib(pid: u32) -> Result<u64> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    Ok(field_kib(&status, "VmRSS")? + field_kib(&status, "HugetlbPages")?)
}

/// Reads a line like `VmRSS:     6372 kB`.
fn field_kib(status: &str, name: &str) -> Result<u64> {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = value.and_then(|value| value.trim().strip_suffix(" kB")?.parse().ok());
    number.with_context(|| format!("the kernel does not tell {name} of a process"))
}

impl IdleReport {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        let Self { volumes, seconds, start_ms, start_after_kill_ms, .. } = self;
        let role = if self.primary { "the first node is Primary" } else { "nobody is Primary" };
        writeln!(
            out,
            "{volumes} volumes on {} MiB each, {} writes, {role}, after {seconds:.0} s",
            self.backing_bytes >> 20,
            self.writes
        )?;
        for NodeReport { name, memory_kib, cpu_percent } in &self.nodes {
            writeln!(out, "{name:<8} {memory_kib:>8} KiB, {cpu_percent:.2} % of a CPU")?;
        }
        writeln!(out, "started again, all volumes up to date: after {start_ms:.0} ms")?;
        writeln!(out, "the same after SIGKILL: {start_after_kill_ms:.0} ms")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_line_of_its_name() {
        let status = "VmPeak:\t    9 kB\nVmRSS:\t    6372 kB\nHugetlbPages:\t       0 kB\n";
        assert_eq!(field_kib(status, "VmRSS").unwrap(), 6372);
        assert_eq!(field_kib(status, "HugetlbPages").unwrap(), 0);
        field_kib(status, "VmSwap").unwrap_err();
    }

    #[test]
    fn this_process_has_used_memory_and_time() {
        assert!(memory_kib(std::process::id()).unwrap() > 0);
        assert!(cpu_seconds(std::process::id()).unwrap() >= 0.0);
    }
}
