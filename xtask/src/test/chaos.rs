//! Nodes on hosts of their own, struck by everything at once, under the built-in checker.

use super::{Outcome, kills};
use crate::packages;
use anyhow::Result;

/// Three replicas and a client for a minute.
pub(super) fn short() -> Result<Outcome> {
    if !packages::is_root()? {
        println!("skipped: only root may make network namespaces");
        return Ok(Outcome::SKIPPED);
    }
    strike("3", "60")
}

/// Ten minutes: three replicas and a client, then five and a client.
pub(super) fn long() -> Result<Outcome> {
    let mut outcome = strike("3", "300")?;
    outcome += strike("5", "300")?;
    Ok(outcome)
}

fn strike(replicas: &str, seconds: &str) -> Result<Outcome> {
    let words = ["bench", "chaos", "--replicas", replicas, "--clients", "1", "--seconds", seconds];
    Ok(kills::checked(&words)?.1)
}
