//! `basalt bench rows`: the goals of this project for speed and cost, each measured beside a system
//! that it is compared with, in turns.
//!
//! Each goal is a row: what fio does, which systems take part, what is judged and how. A ratio is
//! taken in each round, between runs that followed each other, and the median of the rounds counts,
//! so that a disturbance of the machine meets both sides. A goal that is missed is printed as
//! missed; it is no failure of the program.

mod goals;
mod stage;
mod verdict;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;

use self::goals::{Contender, Kind, Place, Row};
use self::stage::Stage;
use self::verdict::{GoalReport, judge};
use crate::course::{Course, turns};
use crate::fio::{self, Job};
use crate::machine::{self, Machine};
use crate::measure::{Measured, median};
use crate::needs;
use crate::output::Output;
use crate::placement::{Placement, TASKSET};
use crate::progress::Progress;
use crate::systems::{self, System};

const WARM_UP: Duration = Duration::from_secs(1);
/// Of a CPU, in percent: where more is used by others, or taken by the host, a figure is in doubt.
const DISTURBANCE_MAX: f64 = 25.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Which rows; all when left out
    #[arg(long = "row", value_enum, value_delimiter = ',', default_values_t = Kind::ALL)]
    rows: Vec<Kind>,
    /// Measured seconds of each run
    #[arg(long, default_value_t = 4, value_parser = needs::seconds(1))]
    seconds: u64,
    /// Rounds, in each of which every system of a row runs once
    #[arg(long, default_value_t = 5, value_parser = needs::count())]
    repeat: usize,
    /// MiB of the volume, written once before anything is measured
    #[arg(long, default_value_t = 512, value_parser = needs::size_mib(8))]
    size_mib: u64,
    /// Where the files go; tmpfs for the figures to tell of the software
    #[arg(long, default_value = "/dev/shm")]
    place: PathBuf,
    /// Where they go for the row that is about a disk
    #[arg(long, default_value = "/var/tmp")]
    disk: PathBuf,
    /// Threads that carry data in each of Basalt's daemons
    #[arg(long, default_value_t = 1, value_parser = needs::shards())]
    shards: u8,
    /// Where fio and the servers of every system run
    #[arg(long, value_enum, default_value_t = Placement::Any)]
    placement: Placement,
    /// What each replica's host may send, where links are the limit
    #[arg(long, default_value_t = 400, value_parser = needs::mbit())]
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
    placement: Placement,
    activity_log: String,
    rows: Vec<RowReport>,
}

#[derive(Debug, Serialize)]
struct RowReport {
    row: &'static str,
    what: String,
    note: Option<&'static str>,
    /// Why it could not be measured; then the rest is empty.
    error: Option<String>,
    systems: Vec<SystemReport>,
    goals: Vec<GoalReport>,
    /// Why the figures should be taken again.
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SystemReport {
    system: &'static str,
    what: String,
    durability: String,
    /// What keeps it from being what it could be.
    handicap: Option<&'static str>,
    median: Figures,
    rounds: Vec<Figures>,
}

#[derive(Clone, Debug, Default, Serialize)]
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
    stolen_percent: f64,
}

pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let rows: Vec<Row> = options.rows.iter().map(|kind| kind.row()).collect();
    check(options, &rows)?;
    let cpus = options.placement.cpus()?;
    let (fio, machine) = (fio::version()?, Machine::this()?);
    let mut progress = Progress::new();
    let mut stage = Stage::new(options, cpus)?;
    let time = Duration::from_secs(options.seconds);
    let runs: Vec<usize> = rows.iter().map(|row| options.repeat * row.systems.len()).collect();
    let mut course = Course::new(runs.iter().sum(), WARM_UP, time);
    let mut reports = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let measured = stage
            .set(row, &mut progress, &course)
            .and_then(|()| measure_row(options, row, &stage, &mut progress, &mut course));
        // The rows behind it are measured all the same, by systems that were started anew.
        reports.push(measured.unwrap_or_else(|error| {
            progress.say(&format!("{}: {error:#}", row.name));
            stage.clear();
            RowReport::failed(row, &error)
        }));
        course.reach(runs[..=number].iter().sum());
    }
    drop(stage);
    drop(progress);
    let (seconds, rounds) = (options.seconds, options.repeat);
    let activity_log = systems::activity_log(options.size_mib << 20);
    let placement = options.placement;
    let report = Report { machine, fio, seconds, rounds, placement, activity_log, rows: reports };
    options.output.print(&report, |out| report.print(out))?;
    let has_failed = report.rows.iter().any(|row| row.error.is_some());
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whether the rows can be measured here.
fn check(options: &Options, rows: &[Row]) -> Result<()> {
    let mut programs = vec![fio::PROGRAM];
    programs.extend(rows.iter().flat_map(|row| row.systems).flat_map(|one| one.programs()));
    if options.placement != Placement::Any {
        programs.push(TASKSET);
    }
    needs::programs(&programs)?;
    let in_need = rows.iter().find(|row| row.systems.iter().any(|one| one.needs_root()));
    if let Some(row) = in_need {
        ensure!(needs::is_root(), "{} takes root; choose other rows with --row", row.name);
    }
    for (place, directory) in [(Place::Memory, &options.place), (Place::Disk, &options.disk)] {
        let of_row = |row: &Row| -> u64 {
            row.systems.iter().map(|one| one.room_bytes(options.size_mib << 20)).sum()
        };
        let most = rows.iter().filter(|row| row.place == place).map(of_row).max();
        needs::room(directory, most.unwrap_or(0))?;
    }
    Ok(())
}

/// All rounds of a row, whose systems are on the stage.
fn measure_row(
    options: &Options,
    row: &Row,
    stage: &Stage<'_>,
    progress: &mut Progress,
    course: &mut Course,
) -> Result<RowReport> {
    let directory = stage.directory(row);
    let systems: Vec<&System> = row.systems.iter().map(|one| stage.system(row, *one)).collect();
    let mut rounds: Vec<Vec<Figures>> = systems.iter().map(|_| Vec::new()).collect();
    for round in 0..options.repeat {
        for index in turns(round, systems.len()) {
            let system = systems[index];
            let job = Job {
                targets: vec![system.uri.clone(); row.connections],
                span_bytes: options.size_mib << 20,
                access: row.access,
                cpu: stage.cpu_of_fio(),
                ramp: WARM_UP,
                time: Duration::from_secs(options.seconds),
            };
            let measured = system.measure(&job, directory, |within| {
                course.show(progress, within, || format!("{}: {}", row.name, system.name));
            });
            rounds[index].push(Figures::of(&measured?));
            course.go_on();
        }
    }
    let of_round = |index: Option<&Vec<Figures>>| index.cloned().unwrap_or_default();
    let (ours, others) = (of_round(rounds.first()), of_round(rounds.last()));
    let handicap = systems.last().and_then(|system| system.handicap);
    let reports: Vec<SystemReport> = systems
        .iter()
        .zip(rounds)
        .map(|(system, rounds)| SystemReport {
            system: system.name,
            what: system.what.clone(),
            durability: row.durability(&system.durability),
            handicap: system.handicap,
            median: Figures::median(&rounds),
            rounds,
        })
        .collect();
    Ok(RowReport {
        row: row.name,
        what: row.what(),
        note: row.note(),
        error: None,
        warnings: warnings(row, &reports),
        systems: reports,
        goals: row.goals.iter().map(|goal| judge(goal, &ours, &others, handicap)).collect(),
    })
}

fn warnings(row: &Row, systems: &[SystemReport]) -> Vec<String> {
    let mut warnings = Vec::new();
    for SystemReport { system, handicap, median, .. } in systems {
        let Figures { disturbance_percent: others, stolen_percent: stolen, .. } = median;
        if *others > DISTURBANCE_MAX {
            warnings.push(format!(
                "{system}: the rest of the machine used {others:.0} % of a CPU; repeat"
            ));
        }
        if *stolen > DISTURBANCE_MAX {
            warnings.push(format!("{system}: the host took {stolen:.0} % of a CPU; repeat"));
        }
        if let Some(handicap) = handicap {
            warnings.push(format!("{system}: {handicap}"));
        }
    }
    let quorum = row.systems.iter().zip(systems).find(|(one, _)| **one == Contender::Quorum);
    let quorum = quorum.map(|(_, quorum)| quorum).filter(|quorum| quorum.handicap.is_none());
    if let (Some(expected), Some(quorum)) = (row.quorum_iops, quorum) {
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
        let Measured { outcome, .. } = measured;
        Self {
            iops: outcome.iops,
            mb_per_second: outcome.bytes_per_second / 1e6,
            mean_us: outcome.mean_us,
            p50_us: outcome.p50_us,
            p99_us: outcome.p99_us,
            server_cpu_us: measured.server_cpu_us,
            all_cpu_us: measured.all_cpu_us,
            enters: measured.enters,
            disturbance_percent: measured.disturbance_percent,
            stolen_percent: measured.stolen_percent,
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
            stolen_percent: of(|one| one.stolen_percent),
        }
    }
}

impl Report {
    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "{}, {}; medians of {} rounds of {} s in turns, and their range behind a goal",
            self.machine.line(),
            self.fio,
            self.rounds,
            self.seconds
        )?;
        writeln!(out, "placement: {}", self.placement.what())?;
        writeln!(out, "{}", self.activity_log)?;
        for row in &self.rows {
            row.print(out)?;
        }
        Ok(())
    }
}

impl RowReport {
    fn failed(row: &Row, error: &anyhow::Error) -> Self {
        Self {
            row: row.name,
            what: row.what(),
            note: row.note(),
            error: Some(format!("{error:#}")),
            systems: Vec::new(),
            goals: Vec::new(),
            warnings: Vec::new(),
        }
    }

    fn print(&self, out: &mut impl Write) -> Result<()> {
        writeln!(out, "\n{}: {}", self.row, self.what)?;
        if let Some(error) = &self.error {
            writeln!(out, "  NOT MEASURED: {error}")?;
            return Ok(());
        }
        for system in &self.systems {
            writeln!(out, "  {}: {}", system.system, system.what)?;
        }
        let durability = |one: &SystemReport| (one.system, one.durability.clone());
        for line in machine::durability_lines(self.systems.iter().map(durability)) {
            writeln!(out, "  {line}")?;
        }
        if let Some(note) = self.note {
            writeln!(out, "  {note}")?;
        }
        self.print_table(out)?;
        for goal in &self.goals {
            writeln!(out, "  goal: {}", goal.line())?;
        }
        for warning in &self.warnings {
            writeln!(out, "  warning: {warning}")?;
        }
        Ok(())
    }

    fn print_table(&self, out: &mut impl Write) -> Result<()> {
        writeln!(
            out,
            "  {:<20} {:>8} {:>7} {:>8} {:>7} {:>8} {:>9} {:>9} {:>8} {:>7} {:>6}",
            "system",
            "per s",
            "MB/s",
            "mean us",
            "p50",
            "p99",
            "CPU us/IO",
            "with fio",
            "enter/IO",
            "others%",
            "steal%"
        )?;
        for system in &self.systems {
            let it = &system.median;
            let enters = it.enters.map_or_else(|| "-".to_owned(), |enters| format!("{enters:.2}"));
            writeln!(
                out,
                "  {:<20} {:>8.0} {:>7.0} {:>8.0} {:>7.0} {:>8.0} {:>9.1} {:>9.1} {:>8} {:>7.0} \
                 {:>6.0}",
                system.system,
                it.iops,
                it.mb_per_second,
                it.mean_us,
                it.p50_us,
                it.p99_us,
                it.server_cpu_us,
                it.all_cpu_us,
                enters,
                it.disturbance_percent,
                it.stolen_percent
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(system: &'static str, iops: f64, handicap: Option<&'static str>) -> SystemReport {
        SystemReport {
            system,
            what: format!("what {system} is"),
            durability: "none".to_owned(),
            handicap,
            median: Figures { iops, ..Figures::default() },
            rounds: Vec::new(),
        }
    }

    #[test]
    fn a_row_that_could_not_be_measured_says_why_and_the_others_are_printed() {
        let row = Kind::Write1.row();
        let failed = RowReport::failed(&row, &anyhow::anyhow!("no such driver"));
        let measured = RowReport {
            systems: vec![report("basalt", 1.0, None)],
            error: None,
            ..RowReport::failed(&Kind::Write32.row(), &anyhow::anyhow!("none"))
        };
        let mut text = Vec::new();
        for row in [failed, measured] {
            row.print(&mut text).unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("write-1: ") && text.contains("NOT MEASURED: no such driver"));
        assert!(text.contains("\n  basalt: what basalt is\n  durability: none\n"), "{text}");
    }

    #[test]
    fn a_machine_is_not_judged_by_a_system_that_is_held_back() {
        let row = Kind::Write32.row();
        let systems =
            |handicap| [report("basalt", 90_000.0, None), report("qemu-quorum", 800.0, handicap)];
        let found = warnings(&row, &systems(None));
        assert!(found.len() == 1 && found[0].contains("0.07 times"), "{found:?}");
        let found = warnings(&row, &systems(Some("needs root")));
        assert_eq!(found, ["qemu-quorum: needs root"]);
    }
}
