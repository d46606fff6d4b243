//! `demo`: three nodes, a volume, load, and nodes killed under it. The binary does all of that;
//! this builds it and brings what it can use: fio, for the load figure.

use crate::packages::Package;
use crate::{metadata, packages, process};
use anyhow::{Context as _, Result};
use std::process::{Command, ExitCode};

pub(crate) const PACKAGES: &[Package] = &[("fio", "the load figure of the demo")];

pub(crate) fn run() -> Result<ExitCode> {
    packages::ensure(PACKAGES)?;
    let build = ["build", "--release", "--locked", "--package", "basalt"];
    process::must_succeed(&mut process::cargo(&build)?)?;

    let binary = metadata::read()?.target_directory.join("release/basalt");
    let status = process::status(Command::new(binary).args(["demo", "--fio"]))?;
    let code =
        status.code().with_context(|| format!("the demo was ended by a signal: {status}"))?;
    // An exit code is one byte; anything else would be a failure of the system.
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}
