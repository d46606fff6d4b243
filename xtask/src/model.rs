//! `model`: the models of the protocol, built with optimisation, searched to the last state.

use crate::{metadata, process};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// `model [--size small|large]`; that each rule is needed is a test of the crate.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let build = ["build", "--release", "--locked", "--package", "model"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    let binary = metadata::read()?.target_directory.join("release/model");
    let status = process::status(Command::new(binary).args(words))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
