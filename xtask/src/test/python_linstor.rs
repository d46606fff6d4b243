//! python-linstor, unmodified, against a controller: its package, at one version, in an environment
//! of its own, whose interpreter the controller's test is told of.

use super::libtest;
use super::scratch::Scratch;
use crate::outcome::Outcome;
use crate::process;
use anyhow::Result;
use std::fs;
use std::process::Command;

/// With the digest of its file: no other one is installed.
const REQUIREMENT: &str = "python-linstor==1.29.1 --hash=sha256:\
    6afce21194f23e221ab52a5a1468e3b81e6223a830f4647c42a53ea519405abf\n";

pub(super) fn run() -> Result<Outcome> {
    let scratch = Scratch::new("python-linstor")?;
    let (venv, wanted) = (scratch.path().join("venv"), scratch.path().join("wanted.txt"));
    fs::write(&wanted, REQUIREMENT)?;
    process::must_succeed(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let python = venv.join("bin/python");
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r"]);
    if !process::status(pip.arg(&wanted))?.success() {
        println!("skipped: the package cannot be fetched");
        return Ok(Outcome::SKIPPED);
    }
    let words = ["test", "--locked", "-p", "controller", "--lib", "python_linstor"];
    libtest::run(process::cargo(&words)?.env("BASALT_PYTHON_LINSTOR", &python))
}
