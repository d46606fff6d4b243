//! A commit of before, found and laid out beside this tree, to be built and compared with.

use crate::process;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The full name of a commit, branch or tag; none if this clone has no such commit.
pub(crate) fn find(name: &str) -> Result<Option<String>> {
    let mut git = git()?;
    git.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
    git.arg(format!("{name}^{{commit}}"));
    let commit = process::output(&mut git)?.trim().to_owned();
    Ok(Some(commit).filter(|commit| !commit.is_empty()))
}

/// As [`find`]; a shallow clone fetches what it lacks.
pub(crate) fn find_or_fetch(commit: &str) -> Result<String> {
    if let Some(found) = find(commit)? {
        return Ok(found);
    }
    println!("this clone has no commit {commit}; fetching it");
    let fetched = process::status(git()?.args(["fetch", "--depth", "1", "origin", commit]))?;
    let found = find(commit)?.filter(|_| fetched.success());
    found.with_context(|| {
        format!(
            "this clone has no commit {commit} and could not fetch it from `origin`; in a shallow \
             clone, run `git fetch --unshallow` where the remote is in reach"
        )
    })
}

/// Writes the files of a commit to `source`, in place of what was there.
pub(crate) fn lay_out(commit: &str, source: &Path) -> Result<()> {
    let archive = source.with_extension("tar");
    if source.exists() {
        fs::remove_dir_all(source).with_context(|| format!("cannot empty {}", source.display()))?;
    }
    fs::create_dir_all(source).with_context(|| format!("cannot make {}", source.display()))?;
    let mut git = git()?;
    git.args(["archive", "--format=tar", "--output"]).arg(&archive).arg(commit);
    process::must_succeed(&mut git)?;
    let mut tar = Command::new("tar");
    // With the time of now: by that of the commit, cargo takes an older tree for built already.
    process::must_succeed(tar.arg("-xmf").arg(&archive).arg("-C").arg(source))?;
    fs::remove_file(&archive).with_context(|| format!("cannot remove {}", archive.display()))
}

/// Cargo in the tree of a commit, with a target folder of its own. By the name, so that rustup
/// takes the toolchain which that commit asks for.
pub(crate) fn cargo(source: &Path, target: &Path) -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(source).env("CARGO_TARGET_DIR", target).env_remove("RUSTUP_TOOLCHAIN");
    cargo
}

fn git() -> Result<Command> {
    let mut git = Command::new("git");
    git.current_dir(process::repository()?);
    Ok(git)
}
