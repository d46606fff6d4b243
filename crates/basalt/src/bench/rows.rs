//! `basalt bench rows`: the goals of this project for speed and cost, each measured beside a system
//! that it is compared with, in turns.
//!
//! Each goal is a row: what fio does, which systems take part, what is judged and how. A ratio is
//! taken in each round, between runs that followed each other, and the median of the rounds counts,
//! so that a disturbance of the machine meets both sides. A goal that is missed is printed as
//! missed; it is no failure of the program.

mod goals;
mod stage;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;

use self::goals::{Contender, Goal, Kind, Row};
use self::stage::Stage;
use super::fio::{self, Job};
use super::machine::Machine;
use super::measure::{Measured, median};
use super::{Output, systems::System};
use crate::progress::Progress;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Which rows; all when left out
    #[arg(long = "row", value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    rows: Vec<Kind>,
    /// Measured seconds of each run
    #[arg(long, default_value_t = 4)]
    seconds: u64,
    /// Rounds, in each of which every system of a row runs once
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// MiB of the volume, written once before anything is measured
    #[arg(long, default_value_t = 512)]
    size_mib: u64,
    /// Where the files go; tmpfs for the figures to tell of the software
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// Where they go for the row that is about a disk
    #[arg(long, default_value = "/var/tmp")]
    disk: PathBuf,
    /// Threads that carry data in each of Basalt's daemons
    #[arg(long, default_value_t = 1)]
    shards: u8,
    /// What each replica's host may send, where links are the limit
    #[arg(long, default_value_t = 400)]
    link_mbit: u32,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    fio: String,
    seconds: u64,
    rounds: usize,
    rows: Vec<RowReport>,
}

#[derive(Debug, Serialize)]
struct RowReport {
    row: &'static str,
    what: String,
    durability: String,
    note: Option<&'static str>,
    systems: Vec<SystemReport>,
    goals: Vec<GoalReport>,
    /// Why the figures should be taken again.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SystemReport {
    system: &'static str,
    what: String,
    median: Figures,
    rounds: Vec<Figures>,
}

#[derive(Debug, Serialize)]
struct GoalReport {
    what: String,
    found: Option<f64>,
    is_met: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Figures {
    iops: f64,
    mb_per_second: f64,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
    server_cpu_us: f64,
    all_cpu_us: f64,
    enters: Option<f64>,
    disturbance_percent: f64,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    ensure!(options.seconds >= 1, "--seconds 0 measures nothing");
    ensure!(options.repeat >= 1, "--repeat 0 measures nothing");
    let fio = fio::version()?;
    let mut progress = Progress::new();
    let mut stage = Stage::new(options)?;
    let mut rows = Vec::new();
    for (number, kind) in options.rows.iter().enumerate() {
        let row = kind.row();
        stage.set(&row, &mut progress)?;
        let share = |within: f64| share_of(number, options.rows.len(), within);
        rows.push(measure_row(options, &row, &stage, &mut progress, share)?);
    }
    drop(stage);
    let report = Report {
        machine: Machine::this()?,
        fio,
        seconds: options.seconds,
        rounds: options.repeat,
        rows,
    };
    drop(progress);
    options.output.print(&report, |out| report.print(out))?;
    Ok(ExitCode::SUCCESS)
}

/// All rounds of a row, whose systems are on the stage.
fn measure_row(
    options: &Options,
    row: &Row,
    stage: &Stage<'_>,
    progress: &mut Progress,
    share: impl Fn(f64) -> f64,
) -> Result<RowReport> {
    let directory = stage.directory(row);
    let systems: Vec<&System> = row.systems.iter().map(|one| stage.system(row, *one)).collect();
    let mut rounds: Vec<Vec<Figures>> = systems.iter().map(|_| Vec::new()).collect();
    let total = options.repeat * systems.len();
    for round in 0..options.repeat {
        for (index, system) in systems.iter().enumerate() {
            let job = Job {
                targets: vec![system.uri.clone(); row.connections],
                span_bytes: options.size_mib << 20,
                access: row.access,
                ramp: Duration::from_secs(1),
                time: Duration::from_secs(options.seconds),
            };
            let done = round * systems.len() + index;
            let measured = system.measure(&job, directory, |within| {
                progress.show(Some(share(share_of(done, total, within))), || {
                    format!("{}: {}", row.name, system.name)
                });
            });
            rounds[index].push(Figures::of(&measured?));
        }
    }
    let goals = row.goals.iter().map(|goal| judge(goal, &rounds)).collect();
    let reports: Vec<SystemReport> = systems
        .iter()
        .zip(&rounds)
        .map(|(system, rounds)| SystemReport {
            system: system.name,
            what: system.what.clone(),
            median: Figures::median(rounds),
            rounds: rounds.clone(),
        })
        .collect();
    Ok(RowReport {
        row: row.name,
        what: row.what(),
        durability: stage.durability(row)?,
        note: row.note(),
        warnings: warnings(row, &reports),
        systems: reports,
        goals,
    })
}

fn judge(goal: &Goal, rounds: &[Vec<Figures>]) -> GoalReport {
    let ours = rounds.first().map_or(&[][..], Vec::as_slice);
    let others = rounds.last().map_or(&[][..], Vec::as_slice);
    let pairs = || ours.iter().zip(others);
    let found = match goal {
        Goal::CpuAtMost(_) => median(ours.iter().map(|one| one.server_cpu_us).collect()),
        Goal::EntersAtMost(_) => {
            median(ours.iter().map(|one| one.enters).collect::<Option<_>>().unwrap_or_default())
        }
        Goal::RateAtLeast(_) => median(pairs().map(|(one, other)| one.iops / other.iops).collect()),
        Goal::LatencyAtMost(_) => {
            median(pairs().map(|(one, other)| one.mean_us / other.mean_us).collect())
        }
    };
    GoalReport { what: goal.to_string(), found, is_met: found.is_some_and(|it| goal.is_met(it)) }
}

fn warnings(row: &Row, systems: &[SystemReport]) -> Vec<String> {
    let mut warnings = Vec::new();
    for system in systems {
        let others = system.median.disturbance_percent;
        if others > 25.0 {
            let name = system.system;
            warnings.push(format!("{name}: other processes used {others:.0} % of a CPU; repeat"));
        }
    }
    let quorum = row.systems.iter().zip(systems).find(|(one, _)| **one == Contender::Quorum);
    if let (Some(expected), Some((_, quorum))) = (row.quorum_iops, quorum) {
        let times = quorum.median.iops / expected;
        if !(0.5..=2.0).contains(&times) {
            warnings.push(format!(
                "quorum made {times:.2} times the {expected:.0} requests/s of the machine that the \
                 goals were set on: goals in microseconds do not fit this one as it is now"
            ));
        }
    }
    warnings
}

impl Figures {
    fn of(measured: &Measured) -> Self {
        let Measured { outcome, server_cpu_us, all_cpu_us, disturbance_percent, enters } = measured;
        Self {
            iops: outcome.iops,
            mb_per_second: outcome.bytes_per_second / 1e6,
            mean_us: outcome.mean_us,
            p50_us: outcome.p50_us,
            p99_us: outcome.p99_us,
            server_cpu_us: *server_cpu_us,
            all_cpu_us: *all_cpu_us,
            enters: *enters,
            disturbance_percent: *disturbance_percent,
        }
    }

    /// Of each figure for itself.
    fn median(rounds: &[Self]) -> Self {
        let of = |get: fn(&Self) -> f64| median(rounds.iter().map(get).collect()).unwrap_or(0.0);
        Self {
            iops: of(|one| one.iops),
            mb_per_second: of(|one| one.mb_per_second),
            mean_us: of(|one| one.mean_us),
            p50_us: of(|one| one.p50_us),
            p99_us: of(|one| one.p99_us),
            server_cpu_us: of(|one| one.server_cpu_us),
            all_cpu_us: of(|one| one.all_cpu_us),
            enters: rounds.iter().map(|one| one.enters).collect::<Option<_>>().and_then(median),
            disturbance_percent: of(|one| one.disturbance_percent),
        }
    }
}

impl Report {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "{}, {}; medians of {} interleaved runs of {} s",
            self.machine.line(),
            self.fio,
            self.rounds,
            self.seconds
        )?;
        for row in &self.rows {
            row.print(out)?;
        }
        Ok(())
    }
}

impl RowReport {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "\n{}: {}\n  durability: {}", self.row, self.what, self.durability)?;
        if let Some(note) = self.note {
            writeln!(out, "  {note}")?;
        }
        writeln!(
            out,
            "  {:<20} {:>8} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>8} {:>7}",
            "system",
            "per s",
            "MB/s",
            "mean us",
            "p50",
            "p99",
            "CPU us/IO",
            "with fio",
            "enter/IO",
            "others%"
        )?;
        for system in &self.systems {
            let it = &system.median;
            let enters = it.enters.map_or_else(|| "-".to_owned(), |enters| format!("{enters:.2}"));
            writeln!(
                out,
                "  {:<20} {:>8.0} {:>7.0} {:>8.0} {:>7.0} {:>8.0} {:>9.1} {:>9.1} {:>8} {:>7.0}",
                system.system,
                it.iops,
                it.mb_per_second,
                it.mean_us,
                it.p50_us,
                it.p99_us,
                it.server_cpu_us,
                it.all_cpu_us,
                enters,
                it.disturbance_percent
            )?;
        }
        for goal in &self.goals {
            let found = goal.found.map_or_else(|| "not known".to_owned(), |it| format!("{it:.2}"));
            let word = if goal.is_met { "met" } else { "MISSED" };
            writeln!(out, "  goal: {}: {found}, {word}", goal.what)?;
        }
        for warning in &self.warnings {
            writeln!(out, "  warning: {warning}")?;
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

    fn figures(iops: f64, mean_us: f64, enters: Option<f64>) -> Figures {
        Figures {
            iops,
            mb_per_second: 0.0,
            mean_us,
            p50_us: 0.0,
            p99_us: 0.0,
            server_cpu_us: 1e6 / iops,
            all_cpu_us: 0.0,
            enters,
            disturbance_percent: 0.0,
        }
    }

    #[test]
    fn ratios_are_taken_in_each_round() {
        // A machine that is twice as slow in the second round, for both.
        let ours = vec![figures(100.0, 10.0, Some(0.4)), figures(50.0, 20.0, Some(0.6))];
        let others = vec![figures(20.0, 50.0, None), figures(10.0, 100.0, None)];
        let rounds = [ours, others];
        let found = |goal: Goal| {
            let report = judge(&goal, &rounds);
            (report.found.unwrap(), report.is_met)
        };
        assert_eq!(found(Goal::RateAtLeast(5.0)), (5.0, true));
        assert_eq!(found(Goal::RateAtLeast(5.1)), (5.0, false));
        assert_eq!(found(Goal::LatencyAtMost(0.2)), (0.2, true));
        assert_eq!(found(Goal::EntersAtMost(0.5)), (0.5, true));
        assert_eq!(found(Goal::CpuAtMost(14_999.0)), (15_000.0, false));
    }

    #[test]
    fn a_figure_that_nobody_counted_meets_no_goal() {
        let report = judge(&Goal::EntersAtMost(0.5), &[vec![figures(1.0, 1.0, None)]]);
        assert!(report.found.is_none() && !report.is_met, "{report:?}");
    }
}
