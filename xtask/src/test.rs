//! `test`: everything that CI runs, step by step, with one line of sums at the end.
//!
//! A step is one entry of `steps::ALL`: a name, the packages it needs and a function that counts.
//! A step that cannot run is a failure, never a silence, and a run in which nothing passed fails.
//! The last line is `N passed, N failed, N skipped`, which CI reads.

pub(crate) mod steps;
mod libtest;
pub(crate) mod basalt;
mod chaos;
mod upgrade;
mod failover;
mod kills;
mod idle;
mod puppet;
pub(crate) mod scratch;
mod images;
mod drbd_utils;
mod monitoring;
mod instructions;
mod fio;
mod bench;
mod report;

use crate::packages::{self, Package};
use crate::process::Stopwatch;
use anyhow::{Result, bail};
use report::Wanted;
use std::fmt;
use std::ops::AddAssign;
use std::process::{ExitCode, ExitStatus};
use steps::Step;

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    if words == ["--list"] {
        for step in steps::ALL {
            println!("{:<18} {}", step.name, step.about);
        }
        println!("only when named:");
        for step in steps::ON_REQUEST {
            println!("{:<18} {}", step.name, step.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let (words, asked) = report::split(words);
    let chosen = choose(&words)?;
    if asked == Wanted::Printed {
        return report::print(&words);
    }
    let watch = Stopwatch::start();
    let wanted: Vec<Package> = chosen.iter().flat_map(|step| step.packages).copied().collect();
    packages::ensure(&wanted)?;

    let mut sum = Outcome::default();
    let mut broken = Vec::new();
    let mut reports = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        let watch = Stopwatch::start();
        let outcome = run_step(step, &format!("[{}/{}]", index + 1, chosen.len()));
        reports.push(report::of_step(step.name, outcome, watch.elapsed().as_secs_f64()));
        if outcome.failed > 0 {
            broken.push(step.name);
        }
        sum += outcome;
    }
    for name in broken {
        println!("failed: {name}; run it alone with `cargo xtask test {name}`");
    }
    println!("all steps took {:.1} s", watch.elapsed().as_secs_f64());
    println!("{sum}");
    report::write(&asked, &reports, sum)?;
    Ok(sum.exit_code())
}

/// What a step, or all of them, came to.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Outcome {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    /// A program as one test.
    pub(crate) fn of(status: ExitStatus) -> Self {
        if status.success() { Self::PASSED } else { Self::FAILED }
    }

    /// Success needs a test that passed: a run that found nothing to do proves nothing.
    pub(crate) fn is_success(self) -> bool {
        self.failed == 0 && self.passed > 0
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        if self.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

fn choose(words: &[&str]) -> Result<Vec<&'static Step>> {
    if words.is_empty() {
        return Ok(steps::ALL.iter().collect());
    }
    if words == ["--quick"] {
        return Ok(steps::ALL.iter().filter(|step| step.is_quick).collect());
    }
    let mut chosen = Vec::new();
    for word in words {
        let mut every = steps::ALL.iter().chain(steps::ON_REQUEST);
        let Some(step) = every.find(|step| step.name == *word) else {
            let every = steps::ALL.iter().chain(steps::ON_REQUEST);
            let names: Vec<&str> = every.map(|step| step.name).collect();
            bail!("there is no test step `{word}`; the steps are: {}", names.join(", "));
        };
        chosen.push(step);
    }
    Ok(chosen)
}

fn run_step(step: &Step, position: &str) -> Outcome {
    let watch = Stopwatch::start();
    println!("{position} {}: {}", step.name, step.about);
    let outcome = (step.run)().unwrap_or_else(|error| {
        println!("{position} {} could not run: {error:#}", step.name);
        Outcome::FAILED
    });
    println!("{position} {}: {outcome} in {:.1} s", step.name, watch.elapsed().as_secs_f64());
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<&'static str> {
        choose(words).expect("known steps").iter().map(|step| step.name).collect()
    }

    #[test]
    fn sum_prints_in_the_form_that_ci_reads() {
        let mut sum = Outcome { passed: 10, failed: 1, skipped: 2 };
        sum += Outcome::PASSED;
        assert_eq!(sum.to_string(), "11 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn nothing_passed_is_no_success() {
        assert!(!Outcome::default().is_success());
        assert!(!Outcome { skipped: 4, ..Outcome::default() }.is_success());
        assert!(!Outcome { passed: 9, failed: 1, skipped: 0 }.is_success());
        assert!(Outcome::PASSED.is_success());
    }

    #[test]
    fn quick_leaves_out_what_is_slow() {
        assert_eq!(names(&[]).len(), steps::ALL.len());
        assert!(names(&["--quick"]).contains(&"workspace"));
        assert!(!names(&["--quick"]).contains(&"check"));
    }

    #[test]
    fn named_steps_run_in_the_order_given() {
        assert_eq!(names(&["workspace", "check"]), ["workspace", "check"]);
        assert_eq!(names(&["kills-full", "check"]), ["kills-full", "check"]);
        assert!(!names(&[]).contains(&"kills-full"));
    }

    #[test]
    fn unknown_step_is_an_error_that_lists_the_steps() {
        let error = choose(&["no-such-step"]).expect_err("no such step").to_string();
        assert!(error.contains("no-such-step") && error.contains("workspace"), "{error}");
    }

    #[test]
    fn step_that_cannot_run_counts_as_failed() {
        let step = Step {
            name: "broken",
            about: "never starts",
            packages: &[],
            is_quick: true,
            run: || bail!("no such program"),
        };
        assert_eq!(run_step(&step, "[1/1]"), Outcome::FAILED);
    }
}
