//! systemd judges the units in docs/systemd, and the daemon its file there.

use super::basalt;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::process;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ENDINGS: [&str; 2] = ["service", "timer"];
/// Where a unit starts the program, which need not be installed here.
const INSTALLED: &str = "/usr/bin/basalt";

pub(super) fn run() -> Result<Outcome> {
    let folder = process::repository()?.join("docs/systemd");
    let program = basalt::program()?;
    let scratch = Scratch::new("units")?;
    let units = copy_units(&folder, scratch.path(), &program)?;
    let mut outcome = verify(&units)?;
    let mut check = Command::new(&program);
    check.args(["node", "--check-config", "--config"]).arg(folder.join("node.conf"));
    outcome += Outcome::of(process::status(&mut check)?);
    // A unit that systemd does not take as it stands has to be seen as such.
    let broken = scratch.path().join("broken.service");
    let unit = format!("[Service]\nExecStart={}\nWatchdogSec=sixty\n", program.display());
    fs::write(&broken, unit)?;
    ensure!(verify(&[broken])? == Outcome::FAILED, "systemd says nothing to a unit that is wrong");
    Ok(outcome)
}

/// Copies all units, which start the program from where it is.
fn copy_units(from: &Path, to: &Path, program: &Path) -> Result<Vec<PathBuf>> {
    let mut copies = Vec::new();
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let Some(name) = path.file_name().filter(|_| is_unit(&path)) else { continue };
        let text = fs::read_to_string(&path)?;
        let copy = to.join(name);
        fs::write(&copy, text.replace(INSTALLED, &program.display().to_string()))?;
        copies.push(copy);
    }
    copies.sort();
    ensure!(!copies.is_empty(), "there are no units in {}", from.display());
    Ok(copies)
}

fn is_unit(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|unit| *unit == ending))
}

/// A line that systemd does not understand is told and left out, and is no failure for it.
fn verify(units: &[PathBuf]) -> Result<Outcome> {
    let mut analyze = Command::new("systemd-analyze");
    let output = analyze.arg("verify").args(units).output().context("cannot start it")?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    print!("{said}");
    let is_fine = output.status.success() && said.is_empty();
    Ok(if is_fine { Outcome::PASSED } else { Outcome::FAILED })
}
