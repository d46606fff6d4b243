//! Nodes on hosts of their own, struck by everything at once, under the built-in checker.

use super::Outcome;
use super::basalt::report;
use crate::process;
use anyhow::Result;
use serde_json::Value;
use std::process::Command;

/// Three replicas and a client for a minute.
pub(super) fn short() -> Result<Outcome> {
    if !is_root()? {
        println!("skipped: only root may make network namespaces");
        return Ok(Outcome::SKIPPED);
    }
    strike("3", "60")
}

pub(super) fn is_root() -> Result<bool> {
    Ok(process::output(Command::new("id").arg("-u"))?.trim() == "0")
}

/// Ten minutes: three replicas and a client, then five and a client.
pub(super) fn long() -> Result<Outcome> {
    let mut outcome = strike("3", "300")?;
    outcome += strike("5", "300")?;
    Ok(outcome)
}

fn strike(replicas: &str, seconds: &str) -> Result<Outcome> {
    let words = ["bench", "chaos", "--replicas", replicas, "--clients", "1", "--seconds", seconds];
    let (report, outcome) = report(&words)?;
    println!("{}", summary(&report));
    for violation in report["violations"].as_array().into_iter().flatten() {
        println!("{violation}");
    }
    Ok(outcome)
}

fn summary(report: &Value) -> String {
    format!(
        "schedule {}: lost {} stale {} torn {} misdirected {}, {} blows, {} writes, {} sessions, \
         replicas equal: {}",
        report["seed"],
        report["lost"],
        report["stale"],
        report["torn"],
        report["misdirected"],
        report["faults"].as_array().map_or(0, Vec::len),
        report["writes"]["count"],
        report["sessions"].as_array().map_or(0, Vec::len),
        report["replicas_are_equal"],
    )
}
