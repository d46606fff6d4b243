//! `sim`: the simulator, built with optimisation: one seed with its trace, or a hunt.

use crate::{metadata, process};
use anyhow::{Context as _, Result};
use std::process::{Command, ExitCode};

/// `sim SEED [OPTIONS]` replays one seed with its trace; `sim --seeds N [OPTIONS]` hunts.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let build = ["build", "--release", "--locked", "--package", "simulator"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    let binary = metadata::read()?.target_directory.join("release/simulator");
    let mut simulator = Command::new(binary);
    match words {
        [seed, rest @ ..] if seed.parse::<u64>().is_ok() => {
            simulator.args(["--seed", seed, "--trace"]).args(rest);
        }
        options => {
            simulator.args(options);
        }
    }
    let status = process::status(&mut simulator)?;
    let code = status.code().with_context(|| format!("ended by a signal: {status}"))?;
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}
