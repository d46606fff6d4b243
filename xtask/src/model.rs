//! `model`: the models of the protocol, built with optimisation, searched to the last state.

use crate::outcome::Outcome;
use crate::{metadata, process};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// `model [--size small|large]`; that each rule is needed is a test of the crate.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    Ok(search(words)?.exit_code())
}

/// As a step of `test`.
pub(crate) fn searched(size: &str) -> Result<Outcome> {
    search(&["--size", size])
}

fn search(words: &[&str]) -> Result<Outcome> {
    let build = ["build", "--release", "--locked", "--package", "model"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    let binary = metadata::read()?.target_directory.join("release/model");
    Ok(Outcome::of(process::status(Command::new(binary).args(words))?))
}
