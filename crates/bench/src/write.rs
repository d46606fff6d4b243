//! `basalt bench write`: what one replicated 4 KiB write costs, beside two others on this machine.
//!
//! fio writes at random over NBD on a unix socket: to three Basalt daemons, to QEMU's quorum driver
//! over three storage daemons, and to nbdkit's memory plugin, which keeps one copy and marks what
//! NBD alone costs. Files lie on tmpfs where nothing else is said: this measures the software, and
//! nothing of it is durable. The systems take turns, so that a disturbance of the machine meets all
//! of them.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::cluster::directory::Directory;
use crate::course::{Course, turns};
use crate::fio::{self, Access, Pattern};
use crate::machine::{self, Machine};
use crate::measure::Measured;
use crate::needs;
use crate::needs::Program;
use crate::output::Output;
use crate::placement::Cpus;
use crate::progress::Progress;
use crate::systems::{self, System};

const WARM_UP: Duration = Duration::from_secs(1);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Writes in flight, one run each
    #[arg(long, value_delimiter = ',', default_values_t = [1, 32, 128])]
    #[arg(value_parser = needs::depth())]
    depth: Vec<u32>,
    /// Measured seconds of each run
    #[arg(long, default_value_t = 6, value_parser = needs::seconds(2))]
    seconds: u64,
    /// Runs of each system at each depth, of which the median counts
    #[arg(long, default_value_t = 3, value_parser = needs::count())]
    repeat: usize,
    /// MiB of the volume, all of it written over and over
    #[arg(long, default_value_t = 512, value_parser = needs::size_mib(8))]
    size_mib: u64,
    /// Where the files go; tmpfs for the figures to mean what they say
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// Threads that carry data in each of Basalt's daemons
    #[arg(long, default_value_t = 1, value_parser = needs::shards())]
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

    fn programs(self) -> &'static [Program] {
        match self {
            Self::Basalt => &[],
            Self::Quorum => &[systems::QEMU, systems::IP],
            Self::Nbdkit => &[systems::NBDKIT],
        }
    }

    /// For nbdkit in memory, which for tmpfs is the same.
    fn room_bytes(self, volume_bytes: u64) -> u64 {
        match self {
            Self::Basalt => systems::replicas_bytes(3, volume_bytes),
            Self::Quorum => 3 * volume_bytes,
            Self::Nbdkit => volume_bytes,
        }
    }
}

#[derive(Debug, Serialize)]
struct BenchReport {
    what: &'static str,
    activity_log: String,
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
    durability: String,
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
    /// What the host of a virtual machine took.
    stolen_percent: f64,
    /// Server CPU time per write in each run, in order.
    runs_server_cpu_us: Vec<f64>,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let mut programs = vec![fio::PROGRAM];
    programs.extend(options.systems.iter().flat_map(|kind| kind.programs()));
    needs::programs(&programs)?;
    let size_bytes = options.size_mib << 20;
    needs::room(
        &options.place,
        options.systems.iter().map(|one| one.room_bytes(size_bytes)).sum(),
    )?;
    let (fio, machine) = (fio::version()?, Machine::this()?);
    let mut progress = Progress::new();
    let directory = Directory::for_bench(&options.place)?;
    let mut systems = Vec::new();
    for kind in &options.systems {
        systems.push(match kind {
            Kind::Basalt => {
                let (place, shards, cpus) = (&options.place, options.shards, Cpus::default());
                systems::basalt(place, size_bytes, shards, cpus, &mut progress)?
            }
            Kind::Quorum => systems::quorum(directory.path(), size_bytes, Cpus::default())?,
            Kind::Nbdkit => systems::nbdkit(directory.path(), size_bytes, Cpus::default())?,
        });
    }
    let runs = options.depth.len() * systems.len() * options.repeat;
    let mut course = Course::new(runs, WARM_UP, Duration::from_secs(options.seconds));
    for system in &systems {
        let what = format!("filling {}", system.name);
        progress.say(&what);
        let target = std::slice::from_ref(&system.uri);
        fio::fill(target, size_bytes, directory.path(), |elapsed| {
            course.prepare(&mut progress, elapsed, &what);
        })
        .context(system.name)?;
    }
    let rows = measure_all(options, &systems, directory.path(), &mut progress, &mut course)?;
    let report = BenchReport {
        what: "random 4 KiB writes over NBD on a unix socket",
        activity_log: systems::activity_log(size_bytes),
        machine,
        fio,
        seconds: options.seconds,
        repeat: options.repeat,
        systems: systems
            .iter()
            .map(|system| SystemReport {
                name: system.name,
                what: system.what.clone(),
                durability: format!("{}; nothing is flushed", system.durability),
            })
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
    course: &mut Course,
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for depth in &options.depth {
        let mut runs: Vec<Vec<Row>> = systems.iter().map(|_| Vec::new()).collect();
        for round in 0..options.repeat {
            for index in turns(round, systems.len()) {
                let system = &systems[index];
                let pattern = Pattern::RandomWrite;
                let job = fio::Job {
                    targets: vec![system.uri.clone()],
                    span_bytes: options.size_mib << 20,
                    access: Access { pattern, block_kib: 4, depth: *depth },
                    cpu: None,
                    ramp: WARM_UP,
                    time: Duration::from_secs(options.seconds),
                };
                let measured = system.measure(&job, directory, |within| {
                    course.show(progress, within, || format!("{} at depth {depth}", system.name));
                });
                runs[index].push(row(system, *depth, &measured?));
                course.go_on();
            }
        }
        rows.extend(runs.into_iter().map(median));
    }
    Ok(rows)
}

fn row(system: &System, depth: u32, measured: &Measured) -> Row {
    let Measured { outcome, server_cpu_us, .. } = measured;
    Row {
        system: system.name,
        depth,
        iops: outcome.iops,
        mean_us: outcome.mean_us,
        p50_us: outcome.p50_us,
        p99_us: outcome.p99_us,
        server_cpu_us: *server_cpu_us,
        all_cpu_us: measured.all_cpu_us,
        disturbance_percent: measured.disturbance_percent,
        stolen_percent: measured.stolen_percent,
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
        writeln!(out, "{}", self.activity_log)?;
        let durability = |one: &SystemReport| (one.name, one.durability.clone());
        for line in machine::durability_lines(self.systems.iter().map(durability)) {
            writeln!(out, "{line}")?;
        }
        for system in &self.systems {
            writeln!(out, "  {}: {}", system.name, system.what)?;
        }
        writeln!(
            out,
            "\n{:<12} {:>5} {:>9} {:>8} {:>8} {:>8} {:>13} {:>13} {:>8} {:>7}",
            "system",
            "depth",
            "writes/s",
            "mean us",
            "p50 us",
            "p99 us",
            "server CPU us",
            "with fio's us",
            "others%",
            "steal%"
        )?;
        for row in &self.rows {
            writeln!(
                out,
                "{:<12} {:>5} {:>9.0} {:>8.0} {:>8.0} {:>8.0} {:>13.1} {:>13.1} {:>8.0} \
                 {:>7.0}",
                row.system,
                row.depth,
                row.iops,
                row.mean_us,
                row.p50_us,
                row.p99_us,
                row.server_cpu_us,
                row.all_cpu_us,
                row.disturbance_percent,
                row.stolen_percent
            )?;
        }
        Ok(())
    }
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
            stolen_percent: 0.0,
            runs_server_cpu_us: vec![cost],
        };
        let row = median(vec![row(3.0), row(1.0), row(2.0)]);
        assert_eq!(row.iops.to_bits(), 20.0f64.to_bits());
        assert_eq!(row.runs_server_cpu_us, [3.0, 1.0, 2.0]);
    }
}
