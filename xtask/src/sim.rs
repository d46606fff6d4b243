//! `sim`: the simulator, built with optimisation: one seed with its trace, or a hunt.

use crate::outcome::Outcome;
use crate::{metadata, process};
use anyhow::{Context as _, Result, bail, ensure};
use std::process::{Command, ExitCode};

/// `sim SEED [OPTIONS]` replays one seed with its trace; `sim --seeds N [OPTIONS]` hunts.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    check(words)?;
    let mut simulator = built()?;
    match words {
        [seed, rest @ ..] if seed.parse::<u64>().is_ok() => {
            simulator.args(["--seed", seed, "--trace"]).args(rest);
        }
        options => {
            simulator.args(options);
        }
    }
    let status = process::status(&mut simulator)?;
    let code = status.code().with_context(|| format!("ended by a signal: {status}"))?;
    Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Words that ask for the other kinds of runs.
const KINDS: [&str; 9] = [
    "--adopt",
    "--detach",
    "--fenced",
    "--forced",
    "--forks",
    "--grow",
    "--rough",
    "--volumes",
    "--protocols",
];
const SWITCHES: [&str; 2] = ["--shrink", "--trace"];
const NUMBERS: [&str; 6] = ["--events", "--lane", "--seed", "--seeds", "--skip", "--threads"];
const SEEDS_OF_A_KIND: u64 = 2_000;

/// The simulator itself passes over words that it does not know.
fn check(words: &[&str]) -> Result<()> {
    let mut words = words.iter().peekable();
    words.next_if(|word| word.parse::<u64>().is_ok());
    while let Some(word) = words.next() {
        if NUMBERS.contains(word) {
            let is_number = words.next().is_some_and(|number| number.parse::<u64>().is_ok());
            ensure!(is_number, "{word} takes a number");
        } else if !SWITCHES.contains(word) && !KINDS.contains(word) {
            bail!("no option of `sim`: {word:?}; `cargo xtask` lists them");
        }
    }
    Ok(())
}

/// A part of the long hunt, as a step of `test`.
pub(crate) fn hunted(words: &[&str], first: u64, seeds: u64) -> Result<Outcome> {
    let mut simulator = built()?;
    simulator.args(["--seed", &first.to_string(), "--seeds", &seeds.to_string()]).args(words);
    Ok(Outcome::of(process::status(&mut simulator)?))
}

/// Each other kind of runs, as a step of `test`.
pub(crate) fn hunted_by_kind() -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for kind in KINDS {
        println!("hunt {kind} ..");
        outcome += hunted(&[kind], 1, SEEDS_OF_A_KIND)?;
    }
    Ok(outcome)
}

fn built() -> Result<Command> {
    let build = ["build", "--release", "--locked", "--package", "simulator"];
    process::must_succeed(&mut process::cargo(&build)?)?;
    Ok(Command::new(metadata::read()?.target_directory.join("release/simulator")))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn words_that_mean_nothing_are_refused() {
        for words in [
            &["4711"][..],
            &["4711", "--events", "6000", "--shrink"],
            &["--seeds", "10", "--forks"],
            &["--seed", "3", "--skip", "8", "--rough", "--trace"],
        ] {
            check(words).unwrap();
        }
        for words in [&["--shrnk"][..], &["4711", "--events"], &["--events", "x"], &["4711", "12"]]
        {
            check(words).unwrap_err();
        }
    }
}
