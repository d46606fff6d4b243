//! Fixed sets of seeds, for tests.

use crate::run::{Report, RunOptions};

/// A kind of run, and the word by which `cargo xtask sim` shows one of it again.
pub type Kind = (fn(&RunOptions) -> Result<Report, String>, &'static str);

/// What the runs of these seeds did together.
///
/// # Panics
/// At the first that breaks a promise, with what an operator types to see it again.
pub fn all_of(kind: Kind, seeds: impl IntoIterator<Item = u64>, events: u64) -> Report {
    let (run, word) = kind;
    let mut total = Report::default();
    for seed in seeds {
        let options = RunOptions::of(seed, events);
        match run(&options) {
            Ok(report) => total.add(&report),
            Err(text) => panic!("seed {seed}: {text}\nagain: {} {word}", options.again()),
        }
    }
    total
}
