//! Steps about nodes that have volumes and nothing to do: their memory, CPU time and start.

use super::Outcome;
use super::basalt::{number, report};
use anyhow::{Context as _, Result};

/// What a node may take.
struct Limits {
    memory_mib: f64,
    cpu_percent: f64,
    start_ms: f64,
}

const ONE: Limits = Limits { memory_mib: 100.0, cpu_percent: 0.5, start_ms: 2000.0 };
const HUNDRED: Limits = Limits { memory_mib: 250.0, cpu_percent: 0.5, start_ms: 2000.0 };
const TEBIBYTE_MIB: u64 = 1 << 20;
const SMALL_MIB: u64 = 64;

pub(super) fn short() -> Result<Outcome> {
    let mut outcome = measure(1, TEBIBYTE_MIB, 15, &ONE)?;
    outcome += measure(100, SMALL_MIB, 15, &HUNDRED)?;
    Ok(outcome)
}

pub(super) fn long() -> Result<Outcome> {
    let mut outcome = measure(1, TEBIBYTE_MIB, 60, &ONE)?;
    outcome += measure(100, SMALL_MIB, 60, &HUNDRED)?;
    Ok(outcome)
}

fn measure(volumes: u64, size_mib: u64, seconds: u64, limits: &Limits) -> Result<Outcome> {
    let numbers = [volumes, size_mib, seconds].map(|number| number.to_string());
    let [volumes, size_mib, seconds] = numbers.each_ref().map(String::as_str);
    let words = ["bench", "idle", "--volumes", volumes, "--size-mib", size_mib];
    let (report, outcome) = report(&[&words[..], &["--seconds", seconds]].concat())?;
    let mut is_good = true;
    let mut judge = |what: &str, found: f64, most: f64| {
        let word = if found <= most { "ok" } else { "TOO MUCH" };
        println!("{what}: {found:.2}, at most {most}: {word}");
        is_good &= found <= most;
    };
    for node in report["nodes"].as_array().context("a list of nodes")? {
        let name = node["name"].as_str().context("a node's name")?;
        let memory_mib = number(node, "memory_kib")? / 1024.0;
        judge(&format!("memory of {name} in MiB"), memory_mib, limits.memory_mib);
        judge(&format!("CPU of {name} in %"), number(node, "cpu_percent")?, limits.cpu_percent);
    }
    let start = |name| number(&report, name);
    judge("start to up to date in ms", start("start_ms")?, limits.start_ms);
    judge("the same after SIGKILL in ms", start("start_after_kill_ms")?, limits.start_ms);
    Ok(if is_good { outcome } else { Outcome::FAILED })
}
