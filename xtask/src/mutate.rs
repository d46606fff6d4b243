//! `mutate`: are the proofs able to fail? Each patch under crates/simulator/mutations/ plants one
//! believable fault in the core; the simulator's seeds and scenarios have to see it.
//!
//! A fault counts as found only where the code as it stands passes the very same seed or test. A
//! patch that does not apply or build any more is an error, never a silence: the code moved on, and
//! the patch has to follow. Faults that the simulator was not seen to find lie in the folder
//! `unseen` beside the others; they run by `--unseen` only, and move up when one is seen.

mod workshop;
mod hunt;

use crate::outcome::Outcome;
use crate::process::Stopwatch;
use anyhow::{Context as _, Result, bail};
use hunt::{Hunt, Kill};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use workshop::Workshop;

/// These run in `test`: each dies of another checker, and soon.
const FIXED: [&str; 6] = [
    "accepted-before-durable",
    "ack-before-all",
    "bit-cleared-early",
    "bits-not-set-for-absent",
    "copy-admitted-without-lock",
    "extent-leaves-log-early",
];
/// Seeds that a fault may hide from before it counts as survivor.
const SEEDS: u64 = 120;
/// Events per seed in which faults of nodes and links happen.
const EVENTS: u64 = 8_000;

pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let every = mutations()?;
    let (seeds, words) = match words {
        ["--seeds", count, rest @ ..] => {
            (count.parse().with_context(|| format!("not a number of seeds: {count:?}"))?, rest)
        }
        rest => (SEEDS, rest),
    };
    let chosen = match words {
        ["--list"] => {
            for mutation in &every {
                let mark = if mutation.sight == Sight::Unseen { "(unseen) " } else { "" };
                println!("{:<40} {mark}{}", mutation.name, mutation.about);
            }
            return Ok(ExitCode::SUCCESS);
        }
        [] => every.into_iter().filter(|it| it.sight == Sight::Seen).collect(),
        ["--unseen"] => every.into_iter().filter(|it| it.sight == Sight::Unseen).collect(),
        ["--fixed"] => choose(every, &FIXED)?,
        names => choose(every, names)?,
    };
    Ok(plant(&chosen, seeds)?.exit_code())
}

/// The fixed few, as a step of `test`.
pub(crate) fn fixed() -> Result<Outcome> {
    plant(&choose(mutations()?, &FIXED)?, SEEDS)
}

/// One of `shares` like parts of all that the simulator is known to see, as a step of `test`.
pub(crate) fn share(index: usize, shares: usize) -> Result<Outcome> {
    let seen = mutations()?.into_iter().filter(|it| it.sight == Sight::Seen);
    plant(&seen.skip(index).step_by(shares).collect::<Vec<_>>(), SEEDS)
}

#[derive(Debug)]
struct Mutation {
    name: String,
    /// The first line of the patch file.
    about: String,
    patch: PathBuf,
    sight: Sight,
}

/// What is known of the simulator's power over a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    Seen,
    Unseen,
}

#[derive(Debug)]
enum Verdict {
    Killed(Kill),
    Survived,
    /// It is no fault of the code as it is now.
    Stale(String),
}

/// Plants one fault after the other; each counts as one test.
fn plant(mutations: &[Mutation], seeds: u64) -> Result<Outcome> {
    let workshop = Workshop::open()?;
    println!("planting {} faults in {}", mutations.len(), workshop.path().display());
    workshop.restore()?;
    let pristine = workshop.keep_pristine(&[workshop.build_simulator()?])?.remove(0);
    let hunt = Hunt::new(pristine, seeds, EVENTS);
    let mut outcome = Outcome::default();
    let mut verdicts = Vec::new();
    for (index, mutation) in mutations.iter().enumerate() {
        let watch = Stopwatch::start();
        let verdict = judge(&workshop, &hunt, mutation)?;
        let seconds = watch.elapsed().as_secs_f64();
        let position = format!("[{}/{}]", index + 1, mutations.len());
        println!("{position} {} {seconds:.1} s", row(mutation, &verdict));
        outcome += match verdict {
            Verdict::Killed(_) => Outcome::PASSED,
            Verdict::Survived | Verdict::Stale(_) => Outcome::FAILED,
        };
        verdicts.push((mutation, verdict));
    }
    workshop.restore()?;
    print_table(&verdicts, seeds);
    println!("{outcome}");
    Ok(outcome)
}

/// The scenarios of the code as it is are built for the first fault that no seed sees: that build
/// and their run take longer than all seeds.
fn judge(workshop: &Workshop, hunt: &Hunt, mutation: &Mutation) -> Result<Verdict> {
    workshop.restore()?;
    if let Err(error) = workshop.apply(&mutation.patch) {
        return Ok(Verdict::Stale(format!("{error:#}")));
    }
    let simulator = match workshop.build_simulator() {
        Ok(simulator) => simulator,
        Err(error) => return Ok(Verdict::Stale(format!("{error:#}"))),
    };
    if let Some(kill) = hunt.kill_by_seed(&simulator)? {
        return Ok(Verdict::Killed(kill));
    }
    let pristine = match hunt.scenarios() {
        Some(pristine) => pristine,
        None => {
            workshop.restore()?;
            let scenarios = workshop.keep_pristine(&workshop.build_scenarios()?)?;
            let pristine = hunt.learn_scenarios(&scenarios)?;
            workshop.apply(&mutation.patch)?;
            pristine
        }
    };
    let scenarios = match workshop.build_scenarios() {
        Ok(scenarios) => scenarios,
        Err(error) => return Ok(Verdict::Stale(format!("{error:#}"))),
    };
    Ok(pristine.kill(&scenarios)?.map_or(Verdict::Survived, Verdict::Killed))
}

fn row(mutation: &Mutation, verdict: &Verdict) -> String {
    let text = match verdict {
        Verdict::Killed(kill) => format!("killed    {:<10} {}", kill.at, kill.by),
        Verdict::Survived => "SURVIVED".to_owned(),
        Verdict::Stale(reason) => {
            format!("STALE     {}: {reason}", mutation.patch.display())
        }
    };
    format!("{:<40} {text}", mutation.name)
}

fn print_table(verdicts: &[(&Mutation, Verdict)], seeds: u64) {
    println!(
        "\nfault, verdict, seed or test, what saw it ({seeds} seeds of {EVENTS} events each):"
    );
    for (mutation, verdict) in verdicts {
        println!("{}", row(mutation, verdict));
    }
    for (mutation, verdict) in verdicts {
        if matches!(verdict, Verdict::Survived) {
            println!("survived: {}: {}", mutation.name, mutation.about);
        }
    }
}

/// All patches, by name.
fn mutations() -> Result<Vec<Mutation>> {
    let folder = crate::process::repository()?.join("crates/simulator/mutations");
    let mut mutations = patches(&folder, Sight::Seen)?;
    mutations.extend(patches(&folder.join("unseen"), Sight::Unseen)?);
    mutations.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(mutations)
}

fn patches(folder: &Path, sight: Sight) -> Result<Vec<Mutation>> {
    let mut mutations = Vec::new();
    let context = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(context)? {
        let patch = entry.with_context(context)?.path();
        if patch.extension().is_some_and(|extension| extension == "patch") {
            let (name, about) = describe(&patch)?;
            mutations.push(Mutation { name, about, patch, sight });
        }
    }
    Ok(mutations)
}

/// Its name, and its first line.
fn describe(patch: &Path) -> Result<(String, String)> {
    let text =
        fs::read_to_string(patch).with_context(|| format!("cannot read {}", patch.display()))?;
    let name = patch.file_stem().and_then(|stem| stem.to_str()).context("a name in UTF-8")?;
    let about = text.lines().next().unwrap_or_default();
    if about.is_empty() || about.starts_with("diff") || about.starts_with("---") {
        bail!("{} does not open with a line that says what it breaks", patch.display());
    }
    Ok((name.to_owned(), about.to_owned()))
}

fn choose(every: Vec<Mutation>, names: &[&str]) -> Result<Vec<Mutation>> {
    for name in names {
        if !every.iter().any(|mutation| mutation.name == *name) {
            bail!("there is no mutation `{name}`; `cargo xtask mutate --list` names them");
        }
    }
    Ok(every.into_iter().filter(|mutation| names.contains(&mutation.name.as_str())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_patch_says_what_it_breaks_and_the_fixed_ones_exist() {
        let every = mutations().expect("patches that can be read");
        let chosen = choose(every, &FIXED).expect("all of them");
        assert_eq!(chosen.len(), FIXED.len());
    }

    #[test]
    fn unknown_mutation_is_an_error_that_names_it() {
        let error = choose(Vec::new(), &["no-such-fault"]).expect_err("none").to_string();
        assert!(error.contains("no-such-fault"), "{error}");
    }
}
