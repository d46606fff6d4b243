//! How long a volume stands still, against what was promised.

use super::basalt::{number, report};
use super::kills;
use crate::outcome::Outcome;
use crate::packages;
use anyhow::{Result, ensure};

/// For 95 of 100 outages, in ms.
const BOUNDS: [(&str, f64); 5] = [
    ("killed_ms", 2500.0),
    ("vanished_ms", 3000.0),
    ("frozen_secondary_ms", 1600.0),
    ("switched_ms", 200.0),
    ("restarted_ms", 2000.0),
];

pub(super) fn short() -> Result<Outcome> {
    outages(5, 5)
}

pub(super) fn long() -> Result<Outcome> {
    outages(20, 50)
}

/// Without root there is no network that could be cut: then only the primary dies.
fn outages(rounds: u32, restarts: u32) -> Result<Outcome> {
    if !packages::is_root()? {
        println!("skipped: only root may make network namespaces; killing the primary only");
        let mut outcome = kills::take_overs(rounds)?;
        outcome += Outcome::SKIPPED;
        return Ok(outcome);
    }
    let (rounds, restarts) = (rounds.to_string(), restarts.to_string());
    let words = ["bench", "failover", "--rounds", &rounds, "--restarts", &restarts];
    let (report, outcome) = report(&words)?;
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
