//! The program under test: built once per run, in the profile of all tests, and what it prints.

use crate::outcome::Outcome;
use crate::{metadata, process};
use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

/// What programs under test reported, since the last step began.
static REPORTS: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// A program under test said so.
pub(super) fn keep(program: &str, report: &Value) {
    let mut reports = REPORTS.lock().expect("nobody panics with it");
    reports.push(json!({ "command": program, "report": report }));
}

/// What programs under test reported, since this was last asked.
pub(super) fn take_reports() -> Vec<Value> {
    std::mem::take(&mut *REPORTS.lock().expect("nobody panics with it"))
}

/// The binary; built with the features of the whole workspace, so that nothing is built twice.
pub(crate) fn program() -> Result<PathBuf> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = PROGRAM.get() {
        return Ok(path.clone());
    }
    let build = ["build", "--workspace", "--bin", "basalt", "--locked"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    let path = metadata::read()?.target_directory.join("debug/basalt");
    Ok(PROGRAM.get_or_init(|| path).clone())
}

/// Runs it with `--json`; its report, and whether it was content.
pub(crate) fn report(words: &[&str]) -> Result<(Value, Outcome)> {
    let mut command = Command::new(program()?);
    command.args(words).arg("--json").stderr(Stdio::inherit());
    println!("basalt {} --json", words.join(" "));
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let Ok(report) = serde_json::from_str(&text) else {
        bail!("{command:?} ended with {} and printed no report: {text}", output.status);
    };
    keep(&format!("basalt {}", words.join(" ")), &report);
    Ok((report, Outcome::of(output.status)))
}

/// A number of a report, which has to be there.
pub(crate) fn number(report: &Value, name: &str) -> Result<f64> {
    report[name].as_f64().with_context(|| format!("the report has no number {name:?}: {report}"))
}
