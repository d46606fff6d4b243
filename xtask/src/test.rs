//! `test`: everything that CI runs, step by step, with one line of sums at the end; and `test
//! --long`, everything that there is.
//!
//! CI runs the quick steps, those of a commit, and the short ones of the long tier whose guarded
//! paths differ from when they were last seen green (`tests/long-tier`). `test --long` runs what
//! was not seen green as things are, keeps what it saw there, and so goes on where it was ended.
//!
//! A step is one entry of `steps::ALL`: a name, the packages it needs and a function that counts.
//! A step that cannot run is a failure, never a silence, and a run in which nothing passed fails.
//! The last line is `N passed, N failed, N skipped`, which CI reads.

pub(crate) mod steps;
mod seen;
mod libtest;
pub(crate) mod basalt;
mod chaos;
mod upgrade;
mod failover;
mod kills;
mod idle;
mod puppet;
mod python_linstor;
pub(crate) mod scratch;
mod images;
mod drbd_utils;
mod monitoring;
mod packages;
mod units;
mod instructions;
mod fio;
mod bench;
mod report;
mod table;

use crate::outcome::Outcome;
use crate::packages::Package;
use crate::process::Stopwatch;
use anyhow::{Context as _, Result};
use report::Wanted;
use seen::{Seen, State};
use std::process::ExitCode;
use steps::{Step, Tier};

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    if let ["--list", paths @ ..] = words {
        list(paths);
        return Ok(ExitCode::SUCCESS);
    }
    if words == ["--table"] {
        print!("{}", table::of_last_runs()?);
        return Ok(ExitCode::SUCCESS);
    }
    let (words, asked) = report::split(words);
    let mut seen = Seen::read()?;
    let is_seen = |step: &Step| Ok(seen.has(step, &seen::state(step)?));
    let chosen = choose(&words, is_seen)?;
    if asked == Wanted::Printed {
        return report::print(&words);
    }
    if chosen.is_empty() {
        println!("every step was seen green on this tree; see tests/long-tier");
        return Ok(ExitCode::SUCCESS);
    }
    let watch = Stopwatch::start();
    let wanted: Vec<Package> = chosen.iter().flat_map(|step| step.packages).copied().collect();
    crate::packages::ensure(&wanted)?;

    let mut sum = Outcome::default();
    let mut broken = Vec::new();
    let mut reports = Vec::new();
    let mut times = Vec::new();
    for (index, step) in chosen.iter().enumerate() {
        let watch = Stopwatch::start();
        let outcome = run_step(step, &format!("[{}/{}]", index + 1, chosen.len()));
        let seconds = watch.elapsed().as_secs_f64();
        reports.push(report::of_step(step, outcome, seconds));
        times.push((step, seconds));
        if outcome.failed > 0 {
            broken.push(step.name);
        } else if words.first() == Some(&LONG) {
            keep(&mut seen, step, (outcome.passed, watch.elapsed().as_secs()))?;
        }
        sum += outcome;
    }
    tell_times(times);
    for name in broken {
        println!("failed: {name}; run it alone with `cargo xtask test {name}`");
    }
    println!("all steps took {:.1} s", watch.elapsed().as_secs_f64());
    report::write(&asked, &reports, sum)?;
    println!("{sum}");
    Ok(sum.exit_code())
}

const LONG: &str = "--long";

/// The steps, or those that a change of these files and folders asks for.
fn list(paths: &[&str]) {
    let is_asked_for =
        |step: &&Step| paths.is_empty() || paths.iter().any(|path| step.guards(path));
    for step in steps::ALL.iter().filter(is_asked_for) {
        let (tier, name, budget_s, about) = (step.tier, step.name, step.budget_s, step.about);
        let by_test = step.tier != Tier::Long || step.is_guard();
        let mark = if by_test { "test" } else { "test --long" };
        println!("{tier:<7} {name:<15} {budget_s:>5} s  {mark:<11}  {about}");
    }
}

/// Keeps that a step was green, if a commit has what it guards.
fn keep(seen: &mut Seen, step: &Step, sums: (u64, u64)) -> Result<()> {
    match seen::state(step)? {
        State::Committed(state) => seen.record(step, state, sums),
        State::Edited => {
            println!("{} is not kept as seen: what it guards is not committed", step.name);
            Ok(())
        }
    }
}

/// The dearest steps, for whoever wants the run to be shorter.
fn tell_times(mut times: Vec<(&&Step, f64)>) {
    times.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    for (step, seconds) in times.iter().take(5) {
        println!("{seconds:>7.1} s of {:>4} s  {}", step.budget_s, step.name);
    }
}

/// The steps that these words ask for. `is_seen` tells whether a step was green on this tree.
fn choose(words: &[&str], is_seen: impl Fn(&Step) -> Result<bool>) -> Result<Vec<&'static Step>> {
    let mut chosen = Vec::new();
    match words {
        [] | [LONG] => {
            for step in steps::ALL {
                let is_chosen = match step.tier {
                    _ if words == [LONG] => !is_seen(step)?,
                    Tier::Quick | Tier::Commit => true,
                    Tier::Long => step.is_guard() && !is_seen(step)?,
                };
                chosen.extend(is_chosen.then_some(step));
            }
        }
        ["--quick"] => chosen.extend(steps::ALL.iter().filter(|it| it.tier == Tier::Quick)),
        [LONG, names @ ..] | names => {
            for name in names {
                let step = steps::named(name).with_context(|| {
                    let names: Vec<&str> = steps::ALL.iter().map(|step| step.name).collect();
                    format!("there is no test step `{name}`; the steps are: {}", names.join(", "))
                })?;
                chosen.push(step);
            }
        }
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
        names_where(words, |_| true)
    }

    fn names_where(words: &[&str], is_seen: impl Fn(&Step) -> bool) -> Vec<&'static str> {
        let chosen = choose(words, |step| Ok(is_seen(step))).expect("known steps");
        chosen.iter().map(|step| step.name).collect()
    }

    #[test]
    fn quick_leaves_out_what_is_slow() {
        assert!(names(&["--quick"]).contains(&"workspace"));
        assert!(!names(&["--quick"]).contains(&"check"));
    }

    #[test]
    fn a_short_long_step_runs_by_commit_where_what_it_guards_changed() {
        let all_seen = names(&[]);
        assert!(all_seen.contains(&"workspace") && all_seen.contains(&"check"));
        assert!(!all_seen.contains(&"guest") && !all_seen.contains(&"hunt-1"));
        let touched = names_where(&[], |step| step.name != "guest" && step.name != "hunt-1");
        assert!(touched.contains(&"guest"));
        assert!(!touched.contains(&"hunt-1"), "it takes too long");
        assert!(!touched.contains(&"chaos"));
    }

    #[test]
    fn long_goes_on_where_it_was_ended() {
        assert_eq!(names(&[LONG]), [""; 0]);
        assert_eq!(names_where(&[LONG], |step| step.name != "hunt-2"), ["hunt-2"]);
        assert_eq!(names_where(&[LONG], |_| false).len(), steps::ALL.len());
        assert_eq!(names(&[LONG, "hunt-2", "chaos"]), ["hunt-2", "chaos"], "seen or not");
    }

    #[test]
    fn named_steps_run_in_the_order_given() {
        assert_eq!(names(&["workspace", "check"]), ["workspace", "check"]);
        assert_eq!(names(&["kills-full", "check"]), ["kills-full", "check"]);
    }

    #[test]
    fn unknown_step_is_an_error_that_lists_the_steps() {
        let error = choose(&["no-such-step"], |_| Ok(true)).expect_err("no such step");
        let error = error.to_string();
        assert!(error.contains("no-such-step") && error.contains("workspace"), "{error}");
    }

    #[test]
    fn step_that_cannot_run_counts_as_failed() {
        let step = Step {
            name: "broken",
            about: "never starts",
            packages: &[],
            tier: Tier::Quick,
            budget_s: 1,
            guards: steps::WHOLE,
            run: || anyhow::bail!("no such program"),
        };
        assert_eq!(run_step(&step, "[1/1]"), Outcome::FAILED);
    }
}
