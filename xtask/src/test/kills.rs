//! Steps in which nodes are killed under the built-in checker.
//!
//! The checker knows every acknowledged write. It fails by itself when something was lost, stale or
//! torn, or when the replicas' files differ at the end; the steps look at what else was promised.

use super::basalt::{number, report};
use crate::outcome::Outcome;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

/// From the death of the primary to the first write acknowledged through another node, for 95 of
/// 100 deaths.
const TAKE_OVER_P95_MAX_MS: f64 = 2500.0;

/// Every kind of victim once or twice.
pub(super) fn some() -> Result<Outcome> {
    scheduled(7)
}

/// Twenty kills of every kind of victim.
pub(super) fn many() -> Result<Outcome> {
    scheduled(100)
}

/// All three nodes at once, over and over: what was acknowledged is on their disks.
pub(super) fn everyone() -> Result<Outcome> {
    let (report, outcome) = run(4, Some("everyone"))?;
    ensure!(report["replicas_are_equal"] == true, "the replicas were not compared: {report}");
    Ok(outcome)
}

pub(super) fn canary() -> Result<Outcome> {
    let (report, outcome) = report(&["bench", "canary"])?;
    for case in report.as_array().context("a list of cases")? {
        println!("{case}");
    }
    Ok(outcome)
}

pub(super) fn demo() -> Result<Outcome> {
    let words = ["demo", "--size-mib", "256", "--seconds-scale", "0.3"];
    let (report, outcome) = report(&words)?;
    println!("take-over {} ms, {}", report["take_over_ms"], summary(&report["checker"]));
    Ok(outcome)
}

fn scheduled(rounds: u32) -> Result<Outcome> {
    let (report, outcome) = run(rounds, None)?;
    let faults = report["faults"].as_array().map_or(0, Vec::len);
    ensure!(faults >= rounds as usize, "{faults} nodes were killed in {rounds} rounds");
    Ok(outcome)
}

pub(super) fn take_overs(rounds: u32) -> Result<Outcome> {
    let (report, outcome) = run(rounds, Some("primary"))?;
    let mut pauses = Vec::new();
    for fault in report["faults"].as_array().context("a list of faults")? {
        pauses.push(number(fault, "pause_ms")?);
    }
    ensure!(pauses.len() == rounds as usize, "{} take-overs of {rounds}", pauses.len());
    pauses.sort_by(f64::total_cmp);
    let p95 = pauses[(pauses.len() * 95).div_ceil(100) - 1];
    let rounded: Vec<f64> = pauses.iter().map(|pause| pause.round()).collect();
    println!("take-overs in ms: {rounded:?}, p95 {p95:.0}, at most {TAKE_OVER_P95_MAX_MS:.0}");
    ensure!(p95 <= TAKE_OVER_P95_MAX_MS, "a take-over took {p95:.0} ms");
    Ok(outcome)
}

/// Runs a schedule with a new seed, which is printed first.
fn run(rounds: u32, victims: Option<&str>) -> Result<(Value, Outcome)> {
    let (seed, rounds) = (seed().to_string(), rounds.to_string());
    let mut words = vec!["bench", "verify", "--kill-schedule", &seed, "--kills", &rounds];
    words.extend(victims.iter().flat_map(|victims| ["--victims", victims]));
    checked(&words)
}

/// Runs a load under the checker and prints what it found.
pub(super) fn checked(words: &[&str]) -> Result<(Value, Outcome)> {
    let (report, outcome) = report(words)?;
    println!("{}", summary(&report));
    for violation in report["violations"].as_array().into_iter().flatten() {
        println!("{violation}");
    }
    Ok((report, outcome))
}

/// A new one each time; a failure names it, and the printed command line repeats the run.
#[expect(clippy::disallowed_methods, reason = "the time of day is no clock here, but a seed")]
fn seed() -> u64 {
    use std::time::SystemTime;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::from(since.subsec_nanos()) ^ since.as_secs()
}

fn summary(report: &Value) -> String {
    let count = |name: &str| report[name].as_array().map_or(0, Vec::len);
    let (faults, sessions) = (count("faults"), count("sessions"));
    format!(
        "schedule {}: lost {} stale {} torn {} misdirected {}, {faults} faults, {} writes, \
         {sessions} sessions, replicas equal: {}",
        report["seed"],
        report["lost"],
        report["stale"],
        report["torn"],
        report["misdirected"],
        report["writes"]["count"],
        report["replicas_are_equal"],
    )
}
