//! Steps about nodes that have volumes and nothing to do: their memory, CPU time and start.

use super::basalt::{number, report};
use crate::outcome::Outcome;
use anyhow::{Context as _, Result};

/// What three nodes hold, and what a node may take for it.
struct Case {
    volumes: u64,
    size_mib: u64,
    writes: u64,
    place: &'static str,
    memory_mib: f64,
}

const CPU_PERCENT: f64 = 0.5;
const START_MS: f64 = 2000.0;
const TEBIBYTE_MIB: u64 = 1 << 20;

const ONE: Case =
    Case { volumes: 1, size_mib: TEBIBYTE_MIB, writes: 0, place: "/tmp", memory_mib: 100.0 };
const HUNDRED: Case = Case { volumes: 100, size_mib: 64, memory_mib: 250.0, ..ONE };
/// Memory and start follow what differs, not the size. No file of this size fits on ext4.
const VAST: Case =
    Case { size_mib: 100 * TEBIBYTE_MIB, writes: 100, place: "/dev/shm", memory_mib: 64.0, ..ONE };

pub(super) fn short() -> Result<Outcome> {
    all(15)
}

pub(super) fn long() -> Result<Outcome> {
    all(60)
}

fn all(seconds: u64) -> Result<Outcome> {
    let mut outcome = measure(&ONE, seconds)?;
    outcome += measure(&HUNDRED, seconds)?;
    outcome += measure(&VAST, seconds)?;
    Ok(outcome)
}

fn measure(case: &Case, seconds: u64) -> Result<Outcome> {
    let Case { volumes, size_mib, writes, place, .. } = case;
    let line = format!(
        "bench idle --volumes {volumes} --size-mib {size_mib} --writes {writes} --place {place} \
         --seconds {seconds}"
    );
    let (report, outcome) = report(&line.split(' ').collect::<Vec<_>>())?;
    let mut is_good = true;
    let mut judge = |what: &str, found: f64, most: f64| {
        let word = if found <= most { "ok" } else { "TOO MUCH" };
        println!("{what}: {found:.2}, at most {most}: {word}");
        is_good &= found <= most;
    };
    for node in report["nodes"].as_array().context("a list of nodes")? {
        let name = node["name"].as_str().context("a node's name")?;
        let memory_mib = number(node, "memory_kib")? / 1024.0;
        judge(&format!("memory of {name} in MiB"), memory_mib, case.memory_mib);
        judge(&format!("CPU of {name} in %"), number(node, "cpu_percent")?, CPU_PERCENT);
    }
    let start = |name| number(&report, name);
    judge("start to up to date in ms", start("start_ms")?, START_MS);
    let after_kill = start("start_after_kill_ms")?;
    judge("the same after SIGKILL in ms", after_kill, START_MS);
    Ok(if is_good { outcome } else { Outcome::FAILED })
}
