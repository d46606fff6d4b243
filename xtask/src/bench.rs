//! `bench`: what requests cost beside peers, measured by the product's own binary.

mod compare;

use crate::packages::Package;
use crate::{metadata, packages, process};
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

pub(crate) const PACKAGES: &[Package] = &[("fio", "the load of the bench")];
/// What `bench` needs besides, and `bench compare` does not.
pub(crate) const PEERS: &[Package] = &[
    ("qemu-system-common", "qemu-storage-daemon, the peer with three copies"),
    ("nbdkit", "the peer without copies"),
    ("iproute2", "hosts in network namespaces, with links of a given speed"),
];

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    packages::ensure(PACKAGES)?;
    if let ["compare", rest @ ..] = words {
        return compare::run(rest);
    }
    packages::ensure(PEERS)?;
    let status = process::status(Command::new(release_binary()?).arg("bench").args(words))?;
    let code = status.code().with_context(|| format!("ended by a signal: {status}"))?;
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn release_binary() -> Result<PathBuf> {
    let build = ["build", "--release", "--locked", "--package", "basalt"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    Ok(metadata::read()?.target_directory.join("release/basalt"))
}
