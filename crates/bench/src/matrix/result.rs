//! The result of the matrix: as JSON it is what these types say, and as a table it is printed here.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;

use super::figures::{latency, thousands};
use super::jobs::{Metric, Named};
use super::published::Published;
use crate::fio::{Moment, Outcome};
use crate::machine::{self, Machine};
use crate::measure::Measured;
use crate::systems;

/// What every run does, so that its figures can be believed.
pub(super) fn controls(warm_up: Duration, volume_bytes: u64) -> Vec<String> {
    let begin = if warm_up.is_zero() {
        "no load warms up before it is measured"
    } else {
        "each load warms up before it is measured"
    };
    let mut controls: Vec<String> = [
        "every block of every volume is written before anything is measured",
        "direct I/O: no cache of a client between fio and the system",
        "no random seed is used twice (randrepeat=0)",
        "IOPS, bandwidth, latencies and percentiles are fio's own figures",
        "IOPS and bandwidth are summed over the volumes, mean latencies averaged, percentiles are \
         of all requests together",
    ]
    .map(str::to_owned)
    .to_vec();
    controls.push(format!(
        "{begin}, and the systems take turns at each load, in the reverse order at every other \
         one; a round is over when all have run all loads"
    ));
    controls.push(systems::activity_log(volume_bytes));
    controls
}

/// In 100,000: the points of a curve of percentiles.
const PERCENTILES: [u64; 14] = [
    1_000, 5_000, 10_000, 25_000, 50_000, 75_000, 90_000, 95_000, 98_000, 99_000, 99_500, 99_900,
    99_950, 99_990,
];

#[derive(Debug, Serialize)]
pub(super) struct Result {
    pub(super) what: String,
    pub(super) version: String,
    pub(super) machine: Machine,
    pub(super) fio: String,
    pub(super) layout: LayoutReport,
    pub(super) controls: Vec<String>,
    pub(super) warm_up_seconds: f64,
    /// Of each round.
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    pub(super) total_seconds: f64,
    pub(super) sides: Vec<SideReport>,
    pub(super) jobs: Vec<JobResult>,
    pub(super) published: Vec<Published>,
}

#[derive(Debug, Serialize)]
pub(super) struct LayoutReport {
    pub(super) nodes: usize,
    pub(super) daemons: usize,
    pub(super) volumes_per_node: usize,
    pub(super) loads: usize,
    pub(super) replicas: usize,
    pub(super) size_mib: u64,
    pub(super) hosts: &'static str,
    pub(super) shards: u8,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct SideReport {
    pub(super) key: &'static str,
    pub(super) name: &'static str,
    pub(super) what: String,
    pub(super) durability: String,
}

#[derive(Debug, Serialize)]
pub(super) struct JobResult {
    pub(super) name: &'static str,
    pub(super) what: String,
    pub(super) metric: Metric,
    pub(super) results: Vec<SideResult>,
}

/// Of all rounds together; means are over all of their requests.
#[derive(Debug, Serialize)]
pub(super) struct SideResult {
    pub(super) side: &'static str,
    pub(super) loads: usize,
    pub(super) iops: f64,
    pub(super) mb_per_second: f64,
    pub(super) mean_us: f64,
    pub(super) max_us: f64,
    /// Percent of the requests, and within how many microseconds they were done.
    pub(super) percentiles_us: Vec<(f64, f64)>,
    /// CPU time of all processes of the system per request, and with fio's.
    pub(super) server_cpu_us: f64,
    pub(super) all_cpu_us: f64,
    /// Calls of `io_uring_enter` per request, where they are counted.
    pub(super) enters: Option<f64>,
    pub(super) disturbance_percent: f64,
    pub(super) stolen_percent: f64,
    /// The rounds one behind the other, as if nothing had been between them.
    pub(super) series: Vec<Moment>,
    pub(super) rounds: Vec<Round>,
}

/// The figures of one round.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Round {
    pub(super) iops: f64,
    pub(super) mb_per_second: f64,
    pub(super) mean_us: f64,
    pub(super) server_cpu_us: f64,
}

impl JobResult {
    pub(super) fn new(job: &Named, results: Vec<SideResult>) -> Self {
        Self { name: job.name, what: job.access.to_string(), metric: job.metric, results }
    }
}

impl SideResult {
    /// `seconds` is the time of each round.
    pub(super) fn new(side: &'static str, loads: usize, rounds: &[Measured], seconds: f64) -> Self {
        let outcomes: Vec<&Outcome> = rounds.iter().map(|round| &round.outcome).collect();
        let outcome = Outcome::of_rounds(&outcomes, seconds);
        let percentile = |of: u64| (percent(of), outcome.percentile_us(of));
        // A round with more requests counts for more in what is told of a request.
        let requests: f64 = outcomes.iter().map(|outcome| outcome.iops).sum();
        let per_request = |of: &dyn Fn(&Measured) -> f64| -> f64 {
            rounds.iter().map(|round| of(round) * round.outcome.iops / requests).sum()
        };
        let mean = |of: &dyn Fn(&Measured) -> f64| -> f64 {
            rounds.iter().map(of).sum::<f64>() / float(rounds.len())
        };
        let has_enters = rounds.iter().all(|round| round.enters.is_some());
        let of_round = |round: &Measured| Round {
            iops: round.outcome.iops,
            mb_per_second: round.outcome.bytes_per_second / 1e6,
            mean_us: round.outcome.mean_us,
            server_cpu_us: round.server_cpu_us,
        };
        Self {
            side,
            loads,
            iops: outcome.iops,
            mb_per_second: outcome.bytes_per_second / 1e6,
            mean_us: outcome.mean_us,
            max_us: outcome.max_us,
            percentiles_us: PERCENTILES.map(percentile).to_vec(),
            server_cpu_us: per_request(&|round| round.server_cpu_us),
            all_cpu_us: per_request(&|round| round.all_cpu_us),
            enters: has_enters.then(|| per_request(&|round| round.enters.unwrap_or(0.0))),
            disturbance_percent: mean(&|round| round.disturbance_percent),
            stolen_percent: mean(&|round| round.stolen_percent),
            series: outcome.series.clone(),
            rounds: rounds.iter().map(of_round).collect(),
        }
    }

    /// The least and the most of the rounds, where there were several.
    pub(super) fn range(&self, of: impl Fn(&Round) -> f64) -> Option<(f64, f64)> {
        let values = || self.rounds.iter().map(&of);
        let (least, most) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        (self.rounds.len() > 1).then_some((least, most))
    }

    /// The figure that the load was run for.
    pub(super) fn headline(&self, metric: Metric) -> String {
        metric.text(self.figure(metric))
    }

    /// The same as a number: requests or MB per second, or microseconds.
    pub(super) fn figure(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Iops => self.iops,
            Metric::MbPerSecond => self.mb_per_second,
            Metric::MeanUs => self.mean_us,
        }
    }

    pub(super) fn percentile_us(&self, wanted: f64) -> f64 {
        let found = self.percentiles_us.iter().find(|(percent, _)| *percent >= wanted);
        found.map_or(self.max_us, |(_, us)| *us)
    }
}

impl Round {
    pub(super) fn figure(&self, metric: Metric) -> f64 {
        match metric {
            Metric::Iops => self.iops,
            Metric::MbPerSecond => self.mb_per_second,
            Metric::MeanUs => self.mean_us,
        }
    }
}

impl Metric {
    /// A figure with its unit.
    pub(super) fn text(self, figure: f64) -> String {
        match self {
            Self::Iops => format!("{} IOPS", thousands(figure)),
            Self::MbPerSecond => format!("{} MB/s", thousands(figure)),
            Self::MeanUs => latency(figure),
        }
    }
}

impl Result {
    pub(super) fn setup(&self) -> String {
        let LayoutReport { nodes, daemons, volumes_per_node, loads, replicas, size_mib, .. } =
            self.layout;
        format!(
            "{nodes} nodes, volumes of each: {volumes_per_node}, {loads} loads at once, {replicas} \
             replicas, {size_mib} MiB a volume; {daemons} daemons on {}, data threads of each: {}",
            self.layout.hosts, self.layout.shards
        )
    }

    pub(super) fn durability(&self) -> Vec<String> {
        machine::durability_lines(
            self.sides.iter().map(|side| (side.name, side.durability.clone())),
        )
    }

    pub(super) fn timing(&self) -> String {
        format!(
            "in each of {} rounds each load warms up for {:.1} s and is measured for {:.1} s; \
             {:.0} s in all",
            self.rounds, self.warm_up_seconds, self.seconds, self.total_seconds
        )
    }

    pub(super) fn print(&self, out: &mut impl Write) -> anyhow::Result<()> {
        writeln!(out, "{}", self.setup())?;
        writeln!(out, "{}, {}, basalt {}", self.machine.line(), self.fio, self.version)?;
        for line in self.durability() {
            writeln!(out, "{line}")?;
        }
        writeln!(out, "{}", self.timing())?;
        for side in &self.sides {
            writeln!(out, "  {}: {}", side.name, side.what)?;
        }
        for control in &self.controls {
            writeln!(out, "  - {control}")?;
        }
        writeln!(
            out,
            "\n{:<17} {:<26} {:>16} {:>9} {:>8} {:>8} {:>8} {:>10} {:>8} {:>7}",
            "load",
            "system",
            "result",
            "mean us",
            "p50",
            "p99",
            "p99.9",
            "CPU us/IO",
            "others%",
            "steal%"
        )?;
        for job in &self.jobs {
            for (result, side) in job.results.iter().zip(&self.sides) {
                writeln!(
                    out,
                    "{:<17} {:<26} {:>16} {:>9.0} {:>8.0} {:>8.0} {:>8.0} {:>10.1} {:>8.0} \
                     {:>7.0}",
                    job.name,
                    side.name,
                    result.headline(job.metric),
                    result.mean_us,
                    result.percentile_us(50.0),
                    result.percentile_us(99.0),
                    result.percentile_us(99.9),
                    result.server_cpu_us,
                    result.disturbance_percent,
                    result.stolen_percent
                )?;
            }
            for (who, text) in self.published_of(job.name) {
                writeln!(out, "{:<17} {:<26} {:>16}", job.name, format!("({who})"), text)?;
            }
        }
        for one in &self.published {
            writeln!(out, "\n({}): {}; {}. {}", one.who, one.what, one.hardware, one.source)?;
        }
        Ok(())
    }

    /// Who published a figure of this load, and which.
    pub(super) fn published_of(&self, job: &str) -> Vec<(&'static str, &'static str)> {
        let of_one = |one: &Published| {
            let cell = one.cells.iter().find(|cell| cell.job == job)?;
            Some((one.who, cell.text))
        };
        self.published.iter().filter_map(of_one).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "at most 100,000")]
fn percent(per_100_000: u64) -> f64 {
    per_100_000 as f64 / 1e3
}

#[expect(clippy::cast_precision_loss, reason = "a count of rounds")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::super::jobs::JOBS;
    use super::super::published;
    use super::*;

    #[test]
    fn the_rules_tell_whether_loads_warm_up_and_what_the_activity_log_holds() {
        let all = |seconds, mib: u64| controls(Duration::from_secs(seconds), mib << 20).join("\n");
        let usual = all(5, 128);
        assert!(usual.contains("each load warms up before it"), "{usual}");
        assert!(usual.contains("never cold: all 32 extents"), "{usual}");
        let odd = all(0, 8192);
        assert!(odd.contains("no load warms up before it"), "{odd}");
        assert!(odd.contains("has 2048 extents, and its activity log holds 1024"), "{odd}");
    }

    #[test]
    fn what_is_published_belongs_to_loads_of_the_matrix() {
        for cell in published::ALL.iter().flat_map(|one| one.cells) {
            assert!(JOBS.iter().any(|job| job.name == cell.job), "{cell:?}");
        }
    }
}
