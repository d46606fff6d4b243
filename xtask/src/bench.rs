//! `bench`: what requests cost beside peers, measured by the product's own binary.

use crate::{metadata, packages, process};
use anyhow::{Context as _, Result};
use std::process::{Command, ExitCode};

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    packages::ensure(&[
        ("fio", "the load of the bench"),
        ("qemu-system-common", "qemu-storage-daemon, the peer with three copies"),
        ("nbdkit", "the peer without copies"),
        ("iproute2", "hosts in network namespaces, with links of a given speed"),
    ])?;
    let build = ["build", "--release", "--locked", "--package", "basalt"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    let binary = metadata::read()?.target_directory.join("release/basalt");
    let status = process::status(Command::new(binary).arg("bench").args(words))?;
    let code = status.code().with_context(|| format!("ended by a signal: {status}"))?;
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}
