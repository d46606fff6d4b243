//! `test --json`: what the steps came to, for a program.
//!
//! The steps print as ever, to standard error: they run in a process of their own, which leaves
//! its report in a file. On standard output is the report and nothing else.

use super::basalt;
use super::steps::Step;
use crate::metadata;
use crate::outcome::Outcome;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The option by which the inner process is told where to write.
const OPTION: &str = "--report";

/// The words without the options for programs, and what those ask for.
pub(super) fn split<'a>(words: &[&'a str]) -> (Vec<&'a str>, Wanted) {
    match words {
        [OPTION, path, rest @ ..] => (rest.to_vec(), Wanted::InFile(PathBuf::from(path))),
        _ if words.contains(&"--json") => {
            (words.iter().copied().filter(|&word| word != "--json").collect(), Wanted::Printed)
        }
        _ => (words.to_vec(), Wanted::Nothing),
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Nothing,
    Printed,
    InFile(PathBuf),
}

/// Runs the same in a process that prints to standard error, and prints its report.
#[expect(clippy::print_stdout, reason = "this is what the caller asked for")]
pub(super) fn print(words: &[&str]) -> Result<ExitCode> {
    let name = format!("test-report-{}.json", std::process::id());
    let path = metadata::read()?.target_directory.join(name);
    let program = std::env::current_exe().context("cannot tell which program this is")?;
    let mut command = Command::new(program);
    command.arg("test").arg(OPTION).arg(&path).args(words).stdout(io::stderr());
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{command:?} ended with {status} and left no report"))?;
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    print!("{text}");
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The entry of a step that has just ended.
pub(super) fn of_step(step: &Step, outcome: Outcome, seconds: f64) -> Value {
    let programs = basalt::take_reports();
    let Outcome { passed, failed, skipped } = outcome;
    json!({
        "step": step.name, "tier": step.tier.to_string(), "passed": passed, "failed": failed,
        "skipped": skipped, "seconds": seconds, "budget_s": step.budget_s, "programs": programs,
    })
}

pub(super) fn write(wanted: &Wanted, steps: &[Value], sum: Outcome) -> Result<()> {
    let path = match wanted {
        Wanted::InFile(path) => path.clone(),
        Wanted::Nothing | Wanted::Printed => {
            let path = last_path()?;
            println!("seconds and counts of each step: {}", path.display());
            path
        }
    };
    let Outcome { passed, failed, skipped } = sum;
    let report = json!({ "passed": passed, "failed": failed, "skipped": skipped, "steps": steps });
    fs::write(&path, format!("{report:#}\n"))
        .with_context(|| format!("cannot write the report {}", path.display()))
}

/// Of the last run that asked for no report.
pub(super) fn last() -> Result<Option<Value>> {
    let path = last_path()?;
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("no report: {}", path.display())).map(Some)
}

fn last_path() -> Result<PathBuf> {
    Ok(metadata::read()?.target_directory.join("test-report.json"))
}

#[cfg(test)]
mod tests {
    use super::super::steps;
    use super::*;

    fn named(name: &str) -> &'static Step {
        steps::named(name).expect("a step")
    }

    #[test]
    fn json_may_stand_anywhere_and_is_no_step() {
        assert_eq!(split(&["failover", "--json"]), (vec!["failover"], Wanted::Printed));
        assert_eq!(split(&["--json", "a", "b"]), (vec!["a", "b"], Wanted::Printed));
        assert_eq!(split(&["--quick"]), (vec!["--quick"], Wanted::Nothing));
        let inner = split(&[OPTION, "/tmp/x", "a"]);
        assert_eq!(inner, (vec!["a"], Wanted::InFile(PathBuf::from("/tmp/x"))));
    }

    #[test]
    fn step_keeps_what_its_programs_reported_and_only_that() {
        basalt::keep("basalt bench failover", &json!({ "p95": 7 }));
        let first = of_step(named("failover"), Outcome::PASSED, 1.0);
        assert_eq!(first["programs"][0]["report"]["p95"], 7);
        assert_eq!(first["passed"], 1);
        let second = of_step(named("check"), Outcome::FAILED, 1.0);
        assert_eq!(second["programs"], json!([]));
    }
}
