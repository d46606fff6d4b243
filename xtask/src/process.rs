//! Starting other programs, and the time that they take.
//!
//! A program inherits our terminal unless its output is parsed. An error names the whole command
//! line, so that it can be run again by hand.

use anyhow::{Context as _, Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The top folder of the repository, which cargo tells us by way of this package's folder.
pub(crate) fn repository() -> Result<PathBuf> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .context("CARGO_MANIFEST_DIR is not set: start this program as `cargo xtask`")?;
    let root = PathBuf::from(package).parent().map(PathBuf::from);
    root.context("the folder of xtask has no parent folder")
}

/// What is built once for all clones: `$XDG_CACHE_HOME/basalt`, or `~/.cache/basalt`.
pub(crate) fn cache_directory() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = cache.or_else(home).context("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("basalt"))
}

/// A cargo command in the repository, by the cargo that runs us.
pub(crate) fn cargo(arguments: &[&str]) -> Result<Command> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(repository()?);
    Ok(command)
}

pub(crate) fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().with_context(|| format!("cannot start {command:?}"))
}

/// What the program printed; its exit status is not judged here.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    String::from_utf8(output.stdout).with_context(|| format!("{command:?} printed no UTF-8"))
}

pub(crate) fn must_succeed(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(())
}

/// Is the program there and does it run? Its output is of no interest.
pub(crate) fn is_installed(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// How long a step took, for the eyes of a person only.
#[derive(Clone, Copy)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "a task reports its real duration")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
