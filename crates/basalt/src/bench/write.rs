//! `basalt bench write`: what one replicated 4 KiB write costs, beside two others on this machine.
//!
//! fio writes at random over NBD on a unix socket: to three Basalt daemons, to QEMU's quorum driver
//! over three storage daemons, and to nbdkit's memory plugin, which keeps one copy and marks what
//! NBD alone costs. All files lie on tmpfs: this measures the software, and nothing of it is
//! durable. The systems take turns, so that a disturbance of the machine meets all of them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::Output;
use super::fio::{self, Access, Pattern};
use super::machine::Machine;
use super::measure::Measured;
use super::systems::{self, System};
use crate::cluster::directory::Directory;
use crate::progress::Progress;

const DURABILITY: &str = "none: every file is on tmpfs, and nothing is flushed";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Writes in flight, one run each
    #[arg(long, value_delimiter = ',', default_values_t = [1, 32, 128])]
    depth: Vec<u32>,
    /// Measured seconds of each run
    #[arg(long, default_value_t = 6)]
    seconds: u64,
    /// Runs of each system at each depth, of which the median counts
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// MiB of the volume, all of it written over and over
    #[arg(long, default_value_t = 512)]
    size_mib: u64,
    /// Where the files go; tmpfs for the figures to mean what they say
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// Threads that carry data in each of Basalt's daemons
    #[arg(long, default_value_t = 1)]
    shards: u8,
    /// Which systems take part
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    systems: Vec<Kind>,
    #[command(flatten)]
    output: Output,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    Basalt,
    Quorum,
    Nbdkit,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Basalt, Self::Quorum, Self::Nbdkit];
}

#[derive(Debug, Serialize)]
struct BenchReport {
    what: &'static str,
    durability: &'static str,
    machine: Machine,
    fio: String,
    seconds: u64,
    repeat: usize,
    systems: Vec<SystemReport>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct SystemReport {
    name: &'static str,
    what: String,
}

/// One system at one depth: the median of its runs.
#[derive(Clone, Debug, Serialize)]
struct Row {
    system: &'static str,
    depth: u32,
    iops: f64,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
    /// CPU time of all processes of the system per write.
    server_cpu_us: f64,
    /// With fio's.
    all_cpu_us: f64,
    /// What other processes used meanwhile, in percent of one CPU.
    disturbance_percent: f64,
    /// Server CPU time per write in each run, in order.
    runs_server_cpu_us: Vec<f64>,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    ensure!(options.seconds >= 2, "--seconds {} is too short to measure", options.seconds);
    ensure!(options.repeat >= 1, "--repeat 0 measures nothing");
    let fio = fio::version()?;
    let mut progress = Progress::new();
    let directory = Directory::for_bench(&options.place)?;
    let size_bytes = options.size_mib << 20;
    let mut systems = Vec::new();
    for kind in &options.systems {
        systems.push(match kind {
            Kind::Basalt => {
                systems::basalt(&options.place, size_bytes, options.shards, &mut progress)?
            }
            Kind::Quorum => systems::quorum(directory.path(), size_bytes)?,
            Kind::Nbdkit => systems::nbdkit(directory.path(), size_bytes)?,
        });
    }
    for system in &systems {
        progress.say(&format!("filling {}", system.name));
        let target = std::slice::from_ref(&system.uri);
        fio::fill(target, size_bytes, directory.path()).context(system.name)?;
    }
    let rows = measure_all(options, &systems, directory.path(), &mut progress)?;
    let report = BenchReport {
        what: "random 4 KiB writes over NBD on a unix socket",
        durability: DURABILITY,
        machine: Machine::this()?,
        fio,
        seconds: options.seconds,
        repeat: options.repeat,
        systems: systems
            .iter()
            .map(|system| SystemReport { name: system.name, what: system.what.clone() })
            .collect(),
        rows,
    };
    drop(progress);
    options.output.print(&report, |out| report.print(out))?;
    Ok(ExitCode::SUCCESS)
}

fn measure_all(
    options: &Options,
    systems: &[System],
    directory: &std::path::Path,
    progress: &mut Progress,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let total = options.depth.len() * systems.len() * options.repeat;
    let mut done = 0;
    for depth in &options.depth {
        let mut runs: Vec<Vec<Row>> = systems.iter().map(|_| Vec::new()).collect();
        for _ in 0..options.repeat {
            for (system, runs) in systems.iter().zip(&mut runs) {
                let pattern = Pattern::RandomWrite;
                let job = fio::Job {
                    targets: vec![system.uri.clone()],
                    span_bytes: options.size_mib << 20,
                    access: Access { pattern, block_kib: 4, depth: *depth },
                    ramp: Duration::from_secs(1),
                    time: Duration::from_secs(options.seconds),
                };
                let measured = system.measure(&job, directory, |share| {
                    progress.show(Some(share_of(done, total, share)), || {
                        format!("{} at depth {depth}", system.name)
                    });
                });
                runs.push(row(system, *depth, &measured?));
                done += 1;
            }
        }
        rows.extend(runs.into_iter().map(median));
    }
    Ok(rows)
}

fn row(system: &System, depth: u32, measured: &Measured) -> Row {
    let Measured { outcome, server_cpu_us, all_cpu_us, disturbance_percent, .. } = measured;
    Row {
        system: system.name,
        depth,
        iops: outcome.iops,
        mean_us: outcome.mean_us,
        p50_us: outcome.p50_us,
        p99_us: outcome.p99_us,
        server_cpu_us: *server_cpu_us,
        all_cpu_us: *all_cpu_us,
        disturbance_percent: *disturbance_percent,
        runs_server_cpu_us: vec![*server_cpu_us],
    }
}

/// The run whose server CPU time is the middle one.
fn median(mut runs: Vec<Row>) -> Row {
    let costs: Vec<f64> = runs.iter().map(|run| run.server_cpu_us).collect();
    runs.sort_by(|a, b| a.server_cpu_us.total_cmp(&b.server_cpu_us));
    let middle = runs.swap_remove(runs.len() / 2);
    Row { runs_server_cpu_us: costs, ..middle }
}

impl BenchReport {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "{}; {}, {}", self.what, self.machine.line(), self.fio)?;
        writeln!(out, "durability: {}", self.durability)?;
        for system in &self.systems {
            writeln!(out, "  {}: {}", system.name, system.what)?;
        }
        writeln!(
            out,
            "\n{:<12} {:>5} {:>9} {:>8} {:>8} {:>8} {:>13} {:>13} {:>11}",
            "system",
            "depth",
            "writes/s",
            "mean us",
            "p50 us",
            "p99 us",
            "server CPU us",
            "with fio's us",
            "others %"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<12} {:>5} {:>9.0} {:>8.0} {:>8.0} {:>8.0} {:>13.1} {:>13.1} {:>11.0}",
                row.system,
                row.depth,
                row.iops,
                row.mean_us,
                row.p50_us,
                row.p99_us,
                row.server_cpu_us,
                row.all_cpu_us,
                row.disturbance_percent
            )?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people to read")]
fn share_of(done: usize, total: usize, within: f64) -> f64 {
    (done as f64 + within) / total as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_run_is_kept_whole_and_all_costs_in_their_order() {
        let row = |cost: f64| Row {
            system: "x",
            depth: 1,
            iops: cost * 10.0,
            mean_us: 0.0,
            p50_us: 0.0,
            p99_us: 0.0,
            server_cpu_us: cost,
            all_cpu_us: cost,
            disturbance_percent: 0.0,
            runs_server_cpu_us: vec![cost],
        };
        let row = median(vec![row(3.0), row(1.0), row(2.0)]);
        assert_eq!(row.iops.to_bits(), 20.0f64.to_bits());
        assert_eq!(row.runs_server_cpu_us, [3.0, 1.0, 2.0]);
    }
}
