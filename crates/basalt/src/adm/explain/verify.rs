//! The sentence about the last comparison of the replicas that this node led: when it began, how
//! long it took, and what it found.

#[cfg(test)]
mod tests;

use std::fmt;

use api::status::VerifyReport;

use crate::adm::dates::{as_of, lasting};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Sentence {
    Waits { began: String },
    Runs { part: String, times: Times, why: Found },
    Done { part: String, times: Times, why: Found },
    Interrupted { part: String, times: Times, why: Found },
}

/// What the comparison found so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing { skipped_kib: u64 },
    Equal { compared_kib: u64, skipped_kib: u64 },
    Differs { compared_kib: u64, skipped_kib: u64, differing: String },
    Repaired { compared_kib: u64, skipped_kib: u64, differing: String },
}

/// When it began and ended, and the time from one to the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Times {
    began: String,
    /// Of one that runs: now.
    ended: String,
    took: String,
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits { began } => {
                write!(f, "a verify waits since {began} for this node to lead")
            }
            Self::Runs { part, times: Times { began, took, .. }, why } => {
                write!(f, "a verify of {part} began at {began} and runs for {took}: {why}")
            }
            Self::Done { part, times: Times { began, ended, took }, why } => write!(
                f,
                "the last verify, of {part}, began at {began}, ended at {ended} and took {took}: \
                 {why}"
            ),
            Self::Interrupted { part, times: Times { began, ended, took }, why } => write!(
                f,
                "the last verify, of {part}, began at {began} and was interrupted at {ended}, \
                 after {took}: {why}"
            ),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Nothing { skipped_kib }
        | Self::Equal { skipped_kib, .. }
        | Self::Differs { skipped_kib, .. }
        | Self::Repaired { skipped_kib, .. }) = self;
        match self {
            Self::Nothing { .. } => f.write_str("nothing was compared")?,
            Self::Equal { compared_kib, .. } => {
                write!(f, "{compared_kib} KiB were compared, and nothing differs")?;
            }
            Self::Differs { compared_kib, differing, .. } => {
                write!(f, "{compared_kib} KiB were compared, and what differs is {differing}")?;
            }
            Self::Repaired { compared_kib, differing, .. } => write!(
                f,
                "{compared_kib} KiB were compared, and what differed was made equal: {differing}"
            )?,
        }
        if *skipped_kib == 0 {
            return Ok(());
        }
        write!(f, "; for {skipped_kib} KiB nobody was there to compare with")
    }
}

pub(super) fn verify(report: &VerifyReport) -> Sentence {
    let began = as_of(report.age_ms);
    let part = match report.volume {
        Some(volume) => format!("KiB {} to {} of volume {volume}", report.start, report.stop),
        None => format!("KiB {} to {}", report.start, report.stop),
    };
    let times = Times {
        began: began.clone(),
        ended: as_of(report.ended_age_ms.unwrap_or(0)),
        took: lasting(report.took_ms),
    };
    let why = found(report);
    match report.state.as_str() {
        "waiting" => Sentence::Waits { began },
        "done" => Sentence::Done { part, times, why },
        "interrupted" => Sentence::Interrupted { part, times, why },
        _ => Sentence::Runs { part, times, why },
    }
}

fn found(report: &VerifyReport) -> Found {
    let (compared_kib, skipped_kib) = (report.verified, report.skipped);
    let differing = report.differing.iter().filter(|(_, kib)| *kib > 0);
    let differing: Vec<String> =
        differing.map(|(name, kib)| format!("{kib} KiB at {name}")).collect();
    let is_equal = differing.is_empty();
    let differing = differing.join(", ");
    if compared_kib == 0 && is_equal {
        Found::Nothing { skipped_kib }
    } else if is_equal {
        Found::Equal { compared_kib, skipped_kib }
    } else if report.repaired {
        Found::Repaired { compared_kib, skipped_kib, differing }
    } else {
        Found::Differs { compared_kib, skipped_kib, differing }
    }
}
