//! The outcome of a run, for people and for programs.

use std::fmt;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::Serialize;
use stdx::time::Time;

use super::oracle::{Violation, ViolationKind};
use super::shared::Shared;
use super::tally::{Fault, Tally};
use crate::histogram::Histogram;
use crate::output::Output;

/// How many violations a report shows in full.
const SHOWN_MAX: usize = 20;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    /// Nothing lost, stale, torn or misdirected, and requests were served.
    pub(crate) passed: bool,
    pub(crate) lost: usize,
    pub(crate) stale: usize,
    pub(crate) torn: usize,
    pub(crate) misdirected: usize,
    /// Whether the replicas are equal byte for byte; absent where they were not compared.
    pub(crate) replicas_are_equal: Option<bool>,
    pub(crate) seed: u64,
    pub(crate) seconds: f64,
    pub(crate) iops: f64,
    pub(crate) writes: Latency,
    pub(crate) reads: Latency,
    pub(crate) flushes: Latency,
    pub(crate) mib_written: f64,
    pub(crate) mib_read: f64,
    pub(crate) refused: u64,
    pub(crate) unanswered: u64,
    pub(crate) longest_pause_ms: f64,
    pub(crate) longest_pause_at_s: f64,
    pub(crate) sessions: Vec<SessionReport>,
    pub(crate) faults: Vec<FaultReport>,
    pub(crate) violations: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Latency {
    pub(crate) count: u64,
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) p999_us: f64,
    pub(crate) max_us: f64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionReport {
    pub(crate) at_s: f64,
    pub(crate) server: String,
    pub(crate) ended: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct FaultReport {
    pub(crate) at_s: f64,
    pub(crate) role: String,
    pub(crate) what: String,
    /// From the fault to the acknowledgement of a write that started after it.
    pub(crate) pause_ms: Option<f64>,
}

impl Report {
    /// `from` and `to` bound the load; the read-back comes after.
    pub(crate) fn new(shared: &Shared, from: Time, to: Time, load: &Tally) -> Self {
        let oracle = shared.oracle();
        let [lost, stale, torn, misdirected] = [
            ViolationKind::Lost,
            ViolationKind::Stale,
            ViolationKind::Torn,
            ViolationKind::Misdirected,
        ]
        .map(|kind| oracle.count(kind));
        let seconds = to.since(from).as_secs_f64();
        let has_progress = load.writes.count() > 0 && load.reads.count() > 0;
        let at_s = |time: Time| time.since(from).as_secs_f64();
        let servers = &shared.plan.servers;
        let session = |session: &super::tally::Session| SessionReport {
            at_s: at_s(session.started),
            server: servers[session.server].to_string(),
            ended: session.end.clone(),
        };
        Self {
            passed: oracle.violations().is_empty() && has_progress,
            lost,
            stale,
            torn,
            misdirected,
            replicas_are_equal: None,
            seed: shared.plan.seed,
            seconds,
            iops: float(load.requests()) / seconds.max(0.001),
            writes: Latency::new(&load.writes),
            reads: Latency::new(&load.reads),
            flushes: Latency::new(&load.flushes),
            mib_written: float(load.bytes_written) / 1_048_576.0,
            mib_read: float(load.bytes_read) / 1_048_576.0,
            refused: load.refused,
            unanswered: load.unanswered,
            longest_pause_ms: millis(load.pause.length),
            longest_pause_at_s: at_s(load.pause.from),
            sessions: load.sessions.iter().map(session).collect(),
            faults: load.faults.iter().map(|fault| FaultReport::new(fault, from)).collect(),
            violations: oracle.violations().iter().take(SHOWN_MAX).map(describe).collect(),
        }
    }

    /// The replicas were compared; `difference` says where they differ.
    pub(crate) fn on_comparison(&mut self, difference: Option<String>) {
        self.replicas_are_equal = Some(difference.is_none());
        self.passed &= difference.is_none();
        self.violations.extend(difference);
    }

    /// Prints it to standard output; the exit code tells whether all was well.
    pub(crate) fn print(&self, output: Output) -> Result<ExitCode> {
        let text = if output.json { serde_json::to_string_pretty(self)? } else { self.to_string() };
        writeln!(std::io::stdout(), "{text}").context("cannot print the report")?;
        Ok(if self.passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// The time without service after faults of `role`: the one that 95 of 100 did not exceed.
    pub(crate) fn pause_p95_ms(&self, role: &str) -> Option<f64> {
        let mut pauses: Vec<f64> = self
            .faults
            .iter()
            .filter(|fault| fault.role == role)
            .filter_map(|fault| fault.pause_ms)
            .collect();
        pauses.sort_by(f64::total_cmp);
        let rank = (pauses.len() * 95).div_ceil(100);
        rank.checked_sub(1).map(|index| pauses[index])
    }
}

impl Latency {
    fn new(histogram: &Histogram) -> Self {
        Self {
            count: histogram.count(),
            mean_us: micros(histogram.mean()),
            p50_us: micros(histogram.percentile(500)),
            p99_us: micros(histogram.percentile(990)),
            p999_us: micros(histogram.percentile(999)),
            max_us: micros(histogram.max()),
        }
    }
}

impl FaultReport {
    fn new(fault: &Fault, from: Time) -> Self {
        Self {
            at_s: fault.at.since(from).as_secs_f64(),
            role: fault.role.clone(),
            what: fault.what.clone(),
            pause_ms: fault.over.map(|over| millis(over.since(fault.at))),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:.1} s, {:.0} IOPS, {:.0} MiB written, {:.0} MiB read",
            self.seconds, self.iops, self.mib_written, self.mib_read
        )?;
        for (name, latency) in
            [("write", &self.writes), ("read", &self.reads), ("flush", &self.flushes)]
        {
            writeln!(
                f,
                "{name:>7}  {:>9}  mean {:>7.0} us  p50 {:>7.0}  p99 {:>7.0}  p99.9 {:>7.0}  \
                 max {:>7.0}",
                latency.count,
                latency.mean_us,
                latency.p50_us,
                latency.p99_us,
                latency.p999_us,
                latency.max_us
            )?;
        }
        for fault in &self.faults {
            let pause = fault.pause_ms.map_or_else(
                || "no write since".to_owned(),
                |ms| format!("next write after {ms:.0} ms"),
            );
            writeln!(f, "  at {:>6.2} s {}: {pause}", fault.at_s, fault.what)?;
        }
        if self.sessions.len() > 1 {
            for session in &self.sessions {
                let ended = session.ended.as_deref().unwrap_or("until the end");
                writeln!(
                    f,
                    "  at {:>6.2} s session with {}: {ended}",
                    session.at_s, session.server
                )?;
            }
        }
        writeln!(
            f,
            "longest pause {:.0} ms (at {:.2} s), {} requests refused, {} unanswered, seed {}",
            self.longest_pause_ms,
            self.longest_pause_at_s,
            self.refused,
            self.unanswered,
            self.seed
        )?;
        let mut roles: Vec<&str> = self.faults.iter().map(|fault| fault.role.as_str()).collect();
        roles.sort_unstable();
        roles.dedup();
        for role in roles {
            let count = self.faults.iter().filter(|fault| fault.role == role).count();
            let p95 = self.pause_p95_ms(role).unwrap_or(f64::NAN);
            writeln!(f, "{role}, {count} times: next write after {p95:.0} ms (p95)")?;
        }
        if self.replicas_are_equal == Some(true) {
            writeln!(f, "the replicas are equal byte for byte")?;
        }
        for violation in &self.violations {
            writeln!(f, "  {violation}")?;
        }
        write!(
            f,
            "lost {} stale {} torn {} misdirected {}",
            self.lost, self.stale, self.torn, self.misdirected
        )
    }
}

fn describe(violation: &Violation) -> String {
    let allowed: Vec<u64> = violation.allowed.iter().map(|write| write.0).collect();
    format!(
        "{:?}: block {} returned {:?}, expected one of the writes {allowed:?}",
        violation.kind, violation.block, violation.got
    )
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

#[expect(clippy::cast_precision_loss, reason = "numbers for people to read")]
fn float(number: u64) -> f64 {
    number as f64
}
