//! This version beside the one of before, whose commit `tests/upgrade/base` names: nodes go from
//! one to the other and back under the built-in checker.
//!
//! The base is built once, outside of the clone, and again when the file names another commit.

use super::kills;
use crate::outcome::Outcome;
use crate::{commit, process};
use anyhow::{Context as _, Result, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const BASE: &str = "tests/upgrade/base";
/// What a run has to have done, by the role of its faults: each node there and back, and the
/// death of a Primary of each version on both ways.
const FAULTS: [(&str, usize); 2] = [("replaced node", 6), ("primary", 4)];

pub(super) fn run() -> Result<Outcome> {
    let other = base_program()?;
    let other = other.to_str().context("the path of the base's program is no UTF-8")?;
    let (report, outcome) = kills::checked(&["bench", "upgrade", "--other", other])?;
    for (role, expected) in FAULTS {
        let faults = report["faults"].as_array().context("a list of faults")?;
        let count = faults.iter().filter(|fault| fault["role"] == role).count();
        ensure!(count == expected, "{count} faults of the role {role:?}, not {expected}");
    }
    Ok(outcome)
}

/// Two who want it at once build it once.
fn base_program() -> Result<PathBuf> {
    let path = process::repository()?.join(BASE);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let commit = named_in(&text).with_context(|| format!("{BASE} names no commit in full"))?;
    let folder = process::cache_directory()?.join("upgrade").join(commit);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let lock = File::create(folder.join("lock")).context("cannot make the lock of the base")?;
    lock.lock().context("cannot lock the folder of the base")?;
    let program = folder.join("basalt");
    if !program.exists() {
        build(commit, &folder, &program)?;
    }
    Ok(program)
}

/// The first line that is no comment.
fn named_in(text: &str) -> Option<&str> {
    let commit = text.lines().map(str::trim).find(|line| !line.starts_with('#'))?;
    let is_full = commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_full.then_some(commit)
}

fn build(commit: &str, folder: &Path, program: &Path) -> Result<()> {
    let commit = commit::find_or_fetch(commit)?;
    let (source, target) = (folder.join("source"), folder.join("target"));
    println!("building {commit} in {} (2 min)", folder.display());
    commit::lay_out(&commit, &source)?;
    let mut cargo = commit::cargo(&source, &target);
    cargo.args(["build", "--locked", "--package", "basalt", "--bin", "basalt"]);
    // As all tests are built; nobody looks into it with a debugger.
    process::must_succeed(cargo.env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
    let built = target.join("debug/basalt");
    fs::rename(&built, program).with_context(|| format!("cannot move {}", built.display()))?;
    for rest in [source, target] {
        fs::remove_dir_all(&rest).with_context(|| format!("cannot remove {}", rest.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_is_a_commit_in_full_behind_comments() {
        let commit = "9c840e1eb88d9fea12cecb34877f909f30ca8c77";
        assert_eq!(named_in(&format!("# why\n{commit}\n")), Some(commit));
        assert_eq!(named_in("# why\nmain\n"), None);
        assert_eq!(named_in("# only this\n"), None);
    }

    #[test]
    fn base_of_this_tree_is_named() {
        let path = process::repository().expect("a root").join(BASE);
        let text = fs::read_to_string(path).expect("the file of the base");
        assert!(named_in(&text).is_some(), "{text}");
    }
}
