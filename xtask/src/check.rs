//! `check`: what must pass before a commit. All parts run, so that one call shows all complaints.

use crate::outcome::Outcome;
use crate::process::{self, Stopwatch};
use crate::tidy;
use anyhow::Result;
use std::process::{Command, ExitCode};

pub(crate) fn run(named: &tidy::Named) -> Result<ExitCode> {
    let mut outcome = run_parts(named)?;
    outcome += doc()?;
    println!("{outcome}");
    Ok(outcome.exit_code())
}

/// Each part counts as one test.
pub(crate) fn run_parts(named: &tidy::Named) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut fmt = process::cargo(&["fmt", "--all", "--", "--check"])?;
    outcome += command_part("fmt", &mut fmt)?;

    let mut clippy = process::cargo(&["clippy", "--workspace", "--all-targets", "--locked"])?;
    clippy.args(["--keep-going", "--", "-D", "warnings"]);
    outcome += command_part("clippy", &mut clippy)?;

    outcome += tidy_part(named)?;
    outcome += deny_part()?;
    Ok(outcome)
}

/// A long step of its own: it takes as long as all the parts above.
pub(crate) fn doc() -> Result<Outcome> {
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items", "--locked"];
    let mut doc = process::cargo(&doc)?;
    doc.env("RUSTDOCFLAGS", "-D warnings");
    command_part("doc", &mut doc)
}

fn command_part(name: &str, command: &mut Command) -> Result<Outcome> {
    let watch = Stopwatch::start();
    println!("check {name} ..");
    let outcome = Outcome::of(process::status(command)?);
    report(name, outcome, watch);
    Ok(outcome)
}

fn tidy_part(named: &tidy::Named) -> Result<Outcome> {
    let watch = Stopwatch::start();
    println!("check tidy ..");
    let findings = tidy::examine(named)?;
    tidy::print(&findings);
    let is_tidy = findings.complaints.is_empty();
    let outcome = if is_tidy { Outcome::PASSED } else { Outcome::FAILED };
    report("tidy", outcome, watch);
    Ok(outcome)
}

/// Licences and sources of the dependencies, by the rules of deny.toml.
fn deny_part() -> Result<Outcome> {
    if !process::is_installed(&mut process::cargo(&["deny", "--version"])?) {
        println!("check deny skipped: cargo-deny is not installed (`cargo install cargo-deny`)");
        return Ok(Outcome::SKIPPED);
    }
    let deny = ["deny", "check", "licenses", "bans", "sources"];
    command_part("deny", &mut process::cargo(&deny)?)
}

fn report(name: &str, outcome: Outcome, watch: Stopwatch) {
    let word = if outcome.failed == 0 { "ok" } else { "FAILED" };
    println!("check {name} {word} in {:.1} s", watch.elapsed().as_secs_f64());
}
