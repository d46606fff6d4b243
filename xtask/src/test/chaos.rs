//! Nodes on hosts of their own, struck by everything at once, under the built-in checker.

use super::basalt::number;
use super::kills;
use crate::outcome::Outcome;
use crate::packages;
use anyhow::{Result, ensure};
use std::path::Path;

/// What disks the nodes have, how many of them have one, and for how many seconds.
type Round = (&'static str, &'static str, &'static str);

const SHORT: [Round; 3] = [("plain", "3", "60"), ("volatile", "3", "25"), ("failing", "3", "25")];
/// Ten minutes, with the control.
const LONG: [Round; 6] = [
    ("plain", "3", "110"),
    ("volatile", "3", "100"),
    ("failing", "3", "90"),
    ("plain", "5", "110"),
    ("volatile", "5", "90"),
    ("failing", "5", "80"),
];

/// Three replicas and a client.
pub(super) fn short() -> Result<Outcome> {
    if !packages::is_root()? {
        println!("skipped: only root may make network namespaces and mount disks");
        return Ok(Outcome::SKIPPED);
    }
    rounds(&SHORT)
}

/// Three replicas and a client, then five and a client.
pub(super) fn long() -> Result<Outcome> {
    rounds(&LONG)
}

fn rounds(rounds: &[Round]) -> Result<Outcome> {
    let has_fuse = Path::new("/dev/fuse").exists();
    let mut outcome = if has_fuse { control()? } else { Outcome::SKIPPED };
    for (disks, replicas, seconds) in rounds {
        if *disks != "plain" && !has_fuse {
            println!("skipped: without /dev/fuse there are no {disks} disks");
            outcome += Outcome::SKIPPED;
            continue;
        }
        let words = ["bench", "chaos", "--clients", "1", "--disks", disks];
        let words = [&words[..], &["--replicas", replicas, "--seconds", seconds]].concat();
        outcome += kills::checked(&words)?.1;
    }
    Ok(outcome)
}

/// Disks that lie about flushes lose writes, and a checker that does not see it sees nothing.
fn control() -> Result<Outcome> {
    let words = ["bench", "chaos", "--clients", "1", "--disks", "lying", "--seconds", "5"];
    let (report, outcome) = kills::checked(&words)?;
    let lost = number(&report, "lost")?;
    ensure!(outcome == Outcome::FAILED && lost > 0.0, "disks lied and nobody noticed: {report}");
    println!("as it has to be: the checker noticed that disks lied about {lost} blocks");
    Ok(Outcome::PASSED)
}
