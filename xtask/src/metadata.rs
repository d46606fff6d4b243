//! What `cargo metadata` says of the workspace: its crates, their dependencies, the target folder.

use crate::process;
use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    pub(crate) target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Present where the dependency is a folder, which in this repository means: one of ours.
    pub(crate) path: Option<PathBuf>,
}

pub(crate) fn read() -> Result<Workspace> {
    let mut command = process::cargo(&["metadata", "--no-deps", "--format-version", "1"])?;
    let text = process::output(&mut command)?;
    serde_json::from_str(&text).with_context(|| format!("cannot read the answer of {command:?}"))
}

/// The version of the program, which all of our crates have.
pub(crate) fn version() -> Result<String> {
    let basalt = read()?.packages.into_iter().find(|package| package.name == "basalt");
    Ok(basalt.context("the workspace has no crate basalt")?.version)
}
