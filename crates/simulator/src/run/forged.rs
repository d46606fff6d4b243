//! A run in which peers send what they should not: see `cluster::forger`.

use std::time::Duration;

use crate::cluster::{Forged, Outcome};
use crate::run::workload::Pending;
use crate::run::{Run, RunOptions, Story};

/// Events between two looks at what is held.
const LOOK_INTERVAL: u64 = 256;
/// Lanes times what each may have under way, for each of four nodes, and room.
const PAYLOADS_MAX: usize = 16 * 256 * 4;
const UNDER_WAY_MAX: usize = 100_000;

/// Runs one seed; the answer is how many messages were forged. A panic is a violation, and an
/// error says what else was.
///
/// # Errors
/// What is held without bound, or a read whose answer has another length than was asked for.
pub fn run_forged(options: &RunOptions, forged: Forged) -> Result<u64, String> {
    let mut run = Run::new(options, Story::default());
    run.be_born()?;
    run.cluster.forge(forged);
    while run.cluster.events_done < options.events {
        run.act();
        for _ in 0..run.random.below(12) {
            let until = run.cluster.now + Duration::from_millis(5);
            run.cluster.step(until);
            run.take_forged_outcomes()?;
        }
        if run.cluster.events_done.is_multiple_of(LOOK_INTERVAL) {
            run.cluster.check_bounds(PAYLOADS_MAX, UNDER_WAY_MAX)?;
        }
    }
    run.cluster.check_bounds(PAYLOADS_MAX, UNDER_WAY_MAX)?;
    Ok(run.cluster.forger.as_ref().map_or(0, |forger| forger.count))
}

impl Run {
    /// What a client reads may be wrong, and nothing else.
    fn take_forged_outcomes(&mut self) -> Result<(), String> {
        for outcome in std::mem::take(&mut self.cluster.outcomes) {
            match outcome {
                Outcome::Completed { part, result, .. } => {
                    let pending = self.pending.remove(&part);
                    if let (Some(Pending::Read { sectors, .. }), Ok(values)) = (pending, result) {
                        let blocks = sectors.len() / crate::contents::SECTORS;
                        let read = values.map_or(0, |values| values.len());
                        if read != blocks {
                            return Err(format!("a read of {blocks} blocks brought {read}"));
                        }
                    }
                }
                Outcome::Answered { node, id, result } => self.answered(node, id, &result),
                Outcome::Role { node, primary } => {
                    if !primary {
                        self.end_client(node);
                    }
                }
                Outcome::Quorum { .. } | Outcome::Config { .. } | Outcome::Unrelated { .. } => {}
            }
        }
        Ok(())
    }
}
