//! How long a volume stands still, against what was promised.

use super::Outcome;
use super::basalt::{number, report};
use super::kills;
use crate::packages;
use anyhow::{Result, ensure};

/// For 95 of 100 outages, in ms.
const BOUNDS: [(&str, f64); 4] = [
    ("killed_ms", 2500.0),
    ("vanished_ms", 3000.0),
    ("frozen_secondary_ms", 1600.0),
    ("switched_ms", 200.0),
];

pub(super) fn short() -> Result<Outcome> {
    outages(5)
}

pub(super) fn long() -> Result<Outcome> {
    outages(20)
}

/// Without root there is no network that could be cut: then only the primary dies.
fn outages(rounds: u32) -> Result<Outcome> {
    if !packages::is_root()? {
        println!("skipped: only root may make network namespaces; killing the primary only");
        let mut outcome = kills::take_overs(rounds)?;
        outcome += Outcome::SKIPPED;
        return Ok(outcome);
    }
    let (report, outcome) = report(&["bench", "failover", "--rounds", &rounds.to_string()])?;
    let mut late = Vec::new();
    for (name, at_most) in BOUNDS {
        let p95 = number(&report[name], "p95")?;
        println!("{name}: p95 {p95:.0}, at most {at_most:.0}: {}", report[name]["all"]);
        if p95 > at_most {
            late.push(format!("{name}: {p95:.0} ms"));
        }
    }
    ensure!(late.is_empty(), "too late: {}", late.join(", "));
    Ok(outcome)
}
