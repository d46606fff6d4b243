//! A copy of the core and the simulator outside of the repository, where faults are planted.
//!
//! Only what differs is written, so that cargo builds again what a patch touched and nothing else.
//! A lock keeps two runs apart.

use crate::{metadata, process};
use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The crate whose programs are run; it and what it builds on are copied.
const ROOT_CRATE: &str = "simulator";
/// Files that say how the workspace is built.
const ROOT_FILES: [&str; 3] = ["Cargo.lock", "clippy.toml", "rust-toolchain.toml"];
/// Folders that crates are built from besides their own.
const ROOT_FOLDERS: [&str; 1] = ["examples"];

#[derive(Debug)]
pub(super) struct Workshop {
    folder: PathBuf,
    repository: PathBuf,
    crates: BTreeSet<String>,
    /// Held while this lives.
    _lock: File,
}

impl Workshop {
    pub(super) fn open() -> Result<Self> {
        let workspace = metadata::read()?;
        let folder = workspace.target_directory.join("mutants");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let lock = File::create(folder.join("lock")).context("cannot make the lock file")?;
        lock.lock().context("cannot lock the folder of the mutants")?;
        let crates = closure(&workspace.packages);
        Ok(Self { folder, repository: process::repository()?, crates, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.folder
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// Makes the copy equal to the repository.
    pub(super) fn restore(&self) -> Result<()> {
        let crates = self.crates.iter().map(|name| Path::new("crates").join(name));
        for part in crates.chain(ROOT_FOLDERS.map(PathBuf::from)) {
            mirror(&self.repository.join(&part), &self.tree().join(&part))?;
        }
        for name in ROOT_FILES {
            write_if_different(&self.tree().join(name), &read(&self.repository.join(name))?)?;
        }
        let manifest = String::from_utf8(read(&self.repository.join("Cargo.toml"))?)
            .context("the manifest is no UTF-8")?;
        let alone = manifest.replace("[\"crates/*\", \"xtask\"]", "[\"crates/*\"]");
        write_if_different(&self.tree().join("Cargo.toml"), alone.as_bytes())
    }

    pub(super) fn apply(&self, patch: &Path) -> Result<()> {
        let mut command = Command::new("git");
        // One line of context has to fit: the rest may have been reworded.
        command.args(["apply", "-C1"]).arg(patch).current_dir(self.tree());
        // No repository around the copy is meant.
        command.env("GIT_CEILING_DIRECTORIES", &self.folder);
        let output = command.output().context("cannot start git")?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            bail!("{} does not apply any more: {}", patch.display(), text.trim());
        }
        Ok(())
    }

    /// The simulator alone, whose seeds find most faults: optimised and incremental, in seconds.
    pub(super) fn build_simulator(&self) -> Result<PathBuf> {
        let built = self.build(&["build", "--bin", ROOT_CRATE], &[ROOT_CRATE])?;
        built.simulator.context("cargo built no simulator")
    }

    /// The test binaries that lead the cluster step by step, for what the seeds did not find.
    pub(super) fn build_scenarios(&self) -> Result<Vec<PathBuf>> {
        let words = ["test", "--no-run", "--test", "*"];
        Ok(self.build(&words, &[ROOT_CRATE, "replication", "format"])?.scenarios)
    }

    /// Copies programs of the code as it is to where the next build leaves them alone.
    pub(super) fn keep_pristine(&self, programs: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let folder = self.folder.join("pristine");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let keep = |program: &PathBuf| {
            let name = program.file_name().context("a program has a name")?;
            let kept = folder.join(name);
            fs::copy(program, &kept)
                .with_context(|| format!("cannot copy {}", program.display()))?;
            Ok(kept)
        };
        programs.iter().map(keep).collect()
    }

    fn build(&self, words: &[&str], packages: &[&str]) -> Result<Built> {
        let mut command = process::cargo(words)?;
        command.args(["--release", "--offline", "--message-format", "json"]);
        for name in packages {
            command.args(["--package", name]);
        }
        command.current_dir(self.tree());
        command.env("CARGO_TARGET_DIR", self.folder.join("target"));
        command.env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
        command.env("CARGO_PROFILE_RELEASE_DEBUG", "false");
        // Tests are built so whatever the profile says; then all share one build.
        command.env("CARGO_PROFILE_RELEASE_PANIC", "unwind");
        let output = command
            .stderr(Stdio::piped())
            .output()
            .with_context(|| format!("cannot start {command:?}"))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let error = text.lines().find(|line| line.starts_with("error"));
            bail!("it does not build: {}", error.unwrap_or("cargo said nothing"));
        }
        Ok(programs(&String::from_utf8_lossy(&output.stdout)))
    }
}

/// The programs of one build.
#[derive(Debug)]
struct Built {
    simulator: Option<PathBuf>,
    scenarios: Vec<PathBuf>,
}

/// What cargo says it built, one JSON value per line.
fn programs(messages: &str) -> Built {
    let mut simulator = None;
    let mut scenarios = Vec::new();
    for line in messages.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
        let Some(executable) = message["executable"].as_str() else { continue };
        let (name, kind) = (&message["target"]["name"], &message["target"]["kind"][0]);
        let is_test = message["profile"]["test"] == true;
        if kind == "bin" && name == ROOT_CRATE && !is_test {
            simulator = Some(PathBuf::from(executable));
        } else if kind == "test" && name != "seeds" {
            // The seeds are run one by one, by us.
            scenarios.push(PathBuf::from(executable));
        }
    }
    Built { simulator, scenarios }
}

/// The simulator and every crate of ours below it.
fn closure(packages: &[metadata::Package]) -> BTreeSet<String> {
    let mut found = BTreeSet::from([ROOT_CRATE.to_owned()]);
    loop {
        let below: Vec<String> = packages
            .iter()
            .filter(|package| found.contains(&package.name))
            .flat_map(|package| &package.dependencies)
            .filter(|dependency| dependency.path.is_some() && !found.contains(&dependency.name))
            .map(|dependency| dependency.name.clone())
            .collect();
        if below.is_empty() {
            return found;
        }
        found.extend(below);
    }
}

/// Makes the folder `to` hold what `from` holds, and touches nothing that is equal already.
fn mirror(from: &Path, to: &Path) -> Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let (source, target) = (from.join(&folder), to.join(&folder));
        fs::create_dir_all(&target).with_context(|| format!("cannot make {}", target.display()))?;
        let mut names = BTreeSet::new();
        for (name, is_folder) in entries(&source)? {
            if is_folder {
                folders.push(folder.join(&name));
            } else {
                write_if_different(&target.join(&name), &read(&source.join(&name))?)?;
            }
            names.insert(name);
        }
        for (name, is_folder) in entries(&target)? {
            if names.contains(&name) {
                continue;
            }
            let path = target.join(name);
            let removed =
                if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

/// Names in a folder, and whether each is a folder.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, bool)>> {
    let context = || format!("cannot read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let is_folder = entry.file_type().with_context(context)?.is_dir();
        found.push((PathBuf::from(entry.file_name()), is_folder));
    }
    Ok(found)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write_if_different(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_among_what_cargo_says() {
        let line = |name: &str, kind: &str, test: bool| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"executable\":\"/x/{name}\",\"target\":\
                 {{\"name\":\"{name}\",\"kind\":[\"{kind}\"]}},\"profile\":{{\"test\":{test}}}}}\n"
            )
        };
        let messages = [
            line("simulator", "bin", true).replace("/x/", "/tests/"),
            line("simulator", "bin", false),
            line("seeds", "test", true),
            line("scenarios", "test", true),
            "no json\n".to_owned(),
        ];
        let found = programs(&messages.concat());
        assert_eq!(found.simulator, Some(PathBuf::from("/x/simulator")));
        assert_eq!(found.scenarios, [PathBuf::from("/x/scenarios")]);
        assert_eq!(programs(&messages[2]).simulator, None, "seeds alone");
    }
}
