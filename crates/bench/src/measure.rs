//! One run of fio against one system, with what it cost: CPU time of the system's processes, and
//! how often they entered the kernel.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use io::clock;

use crate::cpu::{Sample, Shares};
use crate::fio::{self, Job, Outcome};

/// fio and its connections need about this long to start; nothing is sampled before.
const START: Duration = Duration::from_millis(700);
const END: Duration = Duration::from_millis(300);

#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) outcome: Outcome,
    /// CPU time of all processes of the system per request.
    pub(crate) server_cpu_us: f64,
    /// With fio's.
    pub(crate) all_cpu_us: f64,
    /// What the rest of the machine used meanwhile, in percent of one CPU.
    pub(crate) disturbance_percent: f64,
    /// What the host of a virtual machine took, in percent of one CPU.
    pub(crate) stolen_percent: f64,
    /// Calls of `io_uring_enter` per request, where the system counts them.
    pub(crate) enters: Option<f64>,
}

/// Whose cost is counted.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) name: &'a str,
    pub(crate) pids: &'a [u32],
}

/// What the system has used up to a moment.
#[derive(Debug)]
struct Meter {
    cpu: Sample,
    enters: Option<u64>,
}

impl Meter {
    fn read(pids: &[u32], enters: impl Fn() -> Option<u64>) -> Result<Self> {
        Ok(Self { cpu: Sample::take(pids)?, enters: enters() })
    }
}

/// `enters` tells what the subject counted so far; `at` hears how much of the run is over, from 0
/// to 1.
pub(crate) fn measure(
    subject: &Subject<'_>,
    enters: impl Fn() -> Option<u64>,
    job: &Job,
    directory: &Path,
    mut at: impl FnMut(f64),
) -> Result<Measured> {
    let Subject { name, pids } = *subject;
    let whole = job.ramp + job.time;
    // A short run gives less away, and is the less exact for it.
    let begin = job.ramp + START.min(job.time / 4);
    let end = whole.saturating_sub(END.min(job.time / 8));
    let (mut first, mut last) = (None, None);
    let outcome = fio::measure(job, directory, |elapsed| {
        if first.is_none() && elapsed >= begin {
            first = Some((clock::now(), Meter::read(pids, &enters)));
        }
        if last.is_none() && elapsed >= end {
            last = Some((clock::now(), Meter::read(pids, &enters)));
        }
        at((elapsed.as_secs_f64() / whole.as_secs_f64()).min(1.0));
    });
    let outcome = outcome.with_context(|| format!("{name}, {}", job.access))?;
    let (Some((from, first)), Some((to, last))) = (first, last) else {
        bail!("fio ended before its measured time, against {name}");
    };
    let (first, last) = (first?, last?);
    let shares = Shares::between(&first.cpu, &last.cpu);
    let per_request = |cpus: f64| cpus / outcome.iops * 1e6;
    let requests = to.since(from).as_secs_f64() * outcome.iops;
    let enters = last.enters.zip(first.enters);
    Ok(Measured {
        server_cpu_us: per_request(shares.servers),
        all_cpu_us: per_request(shares.servers + shares.fio),
        disturbance_percent: shares.others * 100.0,
        stolen_percent: shares.stolen * 100.0,
        enters: enters.map(|(last, first)| float(last.saturating_sub(first)) / requests),
        outcome,
    })
}

/// The middle one; of an even number the mean of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[values.len() / 2 - 1], upper))
}

#[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
    }
}
