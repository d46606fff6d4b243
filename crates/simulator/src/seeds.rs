//! Sets of seeds, for tests: fixed ones, and in their place others that move with the commit.
//!
//! `BASALT_SEEDS=moving:WORD` asks for a quarter as many as each set has, from a place among the
//! first 2,000 seeds that is drawn from the word. What a test demands of all runs together, it
//! demands of a whole set alone.

use std::ops::RangeInclusive;
use std::thread;

use stdx::checksum::crc32c;
use stdx::random::Random;

use crate::run::{Report, RunOptions};

/// A kind of run, and the word by which `cargo xtask sim` shows one of it again.
pub type Kind = (fn(&RunOptions) -> Result<Report, String>, &'static str);

const VARIABLE: &str = "BASALT_SEEDS";
/// Seeds of each kind that the long tier of tests goes through.
const HUNTED: u64 = 2_000;

/// The seeds of a test in this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    pub seeds: RangeInclusive<u64>,
    /// Are they all that the test names? Then the rare things happen that it looks for.
    pub is_whole: bool,
}

/// All of these; or where the run asks for a part that moves, a quarter as many, from another place
/// among all seeds.
///
/// # Panics
/// Where the environment asks for neither.
#[must_use]
pub fn of_this_run(whole: RangeInclusive<u64>) -> Set {
    match std::env::var(VARIABLE) {
        Ok(word) => moving(&whole, &word),
        Err(_) => Set { seeds: whole, is_whole: true },
    }
}

fn moving(whole: &RangeInclusive<u64>, word: &str) -> Set {
    let Some(drawn_by) = word.strip_prefix("moving:") else {
        panic!("{VARIABLE} is moving:WORD or not set, and not {word:?}");
    };
    let count = (whole.end() - whole.start()).div_ceil(4).max(1);
    let mut random = Random::new(crc32c(drawn_by.as_bytes()).into());
    let first = 1 + random.below(HUNTED - count);
    Set { seeds: first..=first + count - 1, is_whole: false }
}

/// What the runs of these seeds did together.
///
/// # Panics
/// At the first that breaks a promise, with what an operator types to see it again.
pub fn all_of(kind: Kind, seeds: impl IntoIterator<Item = u64>, events: u64) -> Report {
    let (run, word) = kind;
    let mut total = Report::default();
    for seed in seeds {
        let options = RunOptions::of(seed, events);
        let _again = Again(format!("seed {seed} again: {} {word}", options.again()));
        match run(&options) {
            Ok(report) => total.add(&report),
            Err(text) => panic!("seed {seed}: {text}"),
        }
    }
    total
}

/// Says how a run is seen again where it panics, the core's assertions too.
struct Again(String);

impl Drop for Again {
    #[expect(clippy::print_stderr, reason = "for whom the test failed")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_moves_with_the_word_and_is_a_quarter() {
        let parts: Vec<_> = (0..50).map(|n| moving(&(1..=72), &format!("moving:c{n}"))).collect();
        for part in &parts {
            let (first, last) = (*part.seeds.start(), *part.seeds.end());
            assert!(first >= 1 && last <= HUNTED && !part.is_whole, "{part:?}");
            assert_eq!(last - first + 1, 18, "{part:?}");
        }
        let mut firsts: Vec<u64> = parts.iter().map(|part| *part.seeds.start()).collect();
        firsts.sort_unstable();
        firsts.dedup();
        assert!(firsts.len() > 40, "{firsts:?}");
        assert_eq!(parts[3], moving(&(1..=72), "moving:c3"));
    }
}
