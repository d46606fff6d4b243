//! `basalt bench canary`: checks the checker, against servers that do one thing wrong.
//!
//! A case loads a server in memory, lets it do its one wrong thing, stops, reads everything back,
//! and compares what the checker says with what was done. A run without any flaw must be clean.

use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use io::clock;
use serde::Serialize;

use crate::checker::Run;
use crate::checker::plan::Plan;
use crate::checker::report::Report;
use crate::output::Output;
use crate::progress::Progress;
use crate::ram_server::{Flaw, RamServer, Volume};
use crate::waiting;

const VOLUME_BYTES: usize = 64 << 20;
/// Requests before the flaw.
const WARM_UP_REQUESTS: u64 = 2000;
/// A later write may repair the damage before anyone sees it; then the case starts again.
const ATTEMPTS_MAX: u32 = 10;
const STEP_LIMIT: Duration = Duration::from_secs(60);

const CASES: [Option<Flaw>; 5] = [
    None,
    Some(Flaw::DropWrite),
    Some(Flaw::StaleRead),
    Some(Flaw::TornBlock),
    Some(Flaw::MisdirectedWrite),
];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    output: Output,
}

/// What was done and what the checker said.
#[derive(Debug, Serialize)]
struct Outcome {
    name: &'static str,
    is_as_expected: bool,
    lost: usize,
    stale: usize,
    torn: usize,
    misdirected: usize,
    requests: u64,
}

/// The exit code is zero only if the checker was right about every server.
pub(crate) fn main(options: &Options) -> Result<ExitCode> {
    let outcomes: Vec<Outcome> = CASES.into_iter().map(judge).collect::<Result<_>>()?;
    let mut out = std::io::stdout();
    if options.output.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&outcomes)?)?;
    } else {
        for one in &outcomes {
            let verdict = if one.is_as_expected { "caught" } else { "MISSED" };
            let verdict = if one.name == "none" && one.is_as_expected { "clean" } else { verdict };
            let Outcome { name, lost, stale, torn, misdirected, requests, .. } = one;
            writeln!(
                out,
                "{name:<18} {verdict:<7} lost {lost} stale {stale} torn {torn} \
                 misdirected {misdirected}, {requests} requests"
            )?;
        }
    }
    let all = outcomes.iter().all(|outcome| outcome.is_as_expected);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judge(flaw: Option<Flaw>) -> Result<Outcome> {
    let mut missed = None;
    for _ in 0..ATTEMPTS_MAX {
        let Some(report) = attempt(flaw, |plan| plan)? else { continue };
        let outcome = Outcome::new(flaw, &report);
        // What was there before may be of a write that was under way at the same time: then either
        // of the two is right.
        let may_be_right = matches!(flaw, Some(Flaw::StaleRead | Flaw::DropWrite));
        if !(may_be_right && report.passed) {
            return Ok(outcome);
        }
        missed = Some(outcome);
    }
    missed.with_context(|| {
        format!("the load repaired the damage of {flaw:?} in each of {ATTEMPTS_MAX} runs")
    })
}

/// One run; none if the damage was overwritten before it could be seen.
fn attempt(flaw: Option<Flaw>, adapt: impl FnOnce(Plan) -> Plan) -> Result<Option<Report>> {
    let volume = Volume::new(VOLUME_BYTES);
    let server = RamServer::start(volume.clone()).context("cannot listen on loopback")?;
    let run = Run::start(adapt(Plan {
        answer_limit: STEP_LIMIT,
        reconnect_limit: STEP_LIMIT,
        ..Plan::new(vec![server.uri().parse()?], clock::random_u64(), VOLUME_BYTES as u64)
    }))?;
    let is_warm = || Ok((run.load.shared().tally().requests() > WARM_UP_REQUESTS).then_some(()));
    waiting::wait_for("the first requests", STEP_LIMIT, is_warm)?;
    if let Some(flaw) = flaw {
        volume.arm(flaw);
        waiting::wait_for("the flaw", STEP_LIMIT, || Ok(volume.is_damaged().then_some(())))?;
    }
    let mut progress = Progress::new();
    let report = run.finish_with(&mut progress, || volume.may_lie())?;
    Ok((!volume.is_overwritten()).then_some(report))
}

impl Outcome {
    fn new(flaw: Option<Flaw>, report: &Report) -> Self {
        let counts = [report.lost, report.stale, report.torn, report.misdirected];
        let (name, is_as_expected) = match flaw {
            None => ("none", report.passed),
            Some(Flaw::DropWrite) => {
                ("dropped write", matches!(counts, [lost, 0, 0, 0] if lost > 0))
            }
            Some(Flaw::StaleRead) => ("stale read", matches!(counts, [0, 1, 0, 0])),
            Some(Flaw::TornBlock) => ("torn block", matches!(counts, [0, 0, 1, 0])),
            Some(Flaw::MisdirectedWrite) => {
                ("misdirected write", matches!(counts, [lost, 0, 0, 1] if lost > 0))
            }
        };
        let [lost, stale, torn, misdirected] = counts;
        let requests = report.writes.count + report.reads.count + report.flushes.count;
        let is_as_expected = is_as_expected && (report.passed == flaw.is_none());
        Self { name, is_as_expected, lost, stale, torn, misdirected, requests }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checker::block::BLOCK_BYTES;
    use crate::ram_server::VICTIM_FIRST;

    #[test]
    fn the_checker_is_right_about_every_server() {
        for case in CASES {
            let outcome = judge(case).unwrap();
            assert!(outcome.is_as_expected, "{outcome:?}");
        }
    }

    #[test]
    fn a_stale_answer_to_the_last_read_of_all_is_looked_at_again() {
        // Every block that the flaw may meet is part of the last read, and requests never overlap.
        let span_blocks = VICTIM_FIRST as u64 + 16;
        let small = |plan: Plan| Plan {
            span_bytes: span_blocks * BLOCK_BYTES as u64,
            connections: 1,
            depth: 1,
            ..plan
        };
        let flaw = Some(Flaw::StaleRead);
        let mut seen = 0;
        for _ in 0..2_000 {
            let Some(report) = attempt(flaw, small).unwrap() else { continue };
            let outcome = Outcome::new(flaw, &report);
            assert!(outcome.is_as_expected, "{outcome:?}");
            seen += 1;
            if seen == 2 {
                return;
            }
        }
        panic!("the load repaired the damage in nearly each of 2,000 runs");
    }
}
