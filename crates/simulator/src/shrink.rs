//! Makes a failing run smaller: fewer kinds of faults, then fewer events.

use crate::run::{FAULT_KINDS, RunOptions, run};

/// The smallest options that were found to fail still, and how.
#[must_use]
pub fn shrink(options: &RunOptions, failure: String) -> (RunOptions, String) {
    let mut best = RunOptions { trace: false, ..options.clone() };
    let mut failure = failure;
    for kind in 0..FAULT_KINDS {
        let without = RunOptions { skip: best.skip | 1 << kind, ..best.clone() };
        if let Err(text) = run(&without) {
            (best, failure) = (without, text);
        }
    }
    let mut step = best.events / 2;
    while step > 50 {
        let shorter = RunOptions { events: best.events - step, ..best.clone() };
        match run(&shorter) {
            Err(text) => (best, failure) = (shorter, text),
            Ok(_) => step /= 2,
        }
        step = step.min(best.events / 2);
    }
    (best, failure)
}
