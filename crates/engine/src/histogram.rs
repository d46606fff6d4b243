//! How long something took, in steps of powers of two: recording is one addition in an array.
//!
//! A time is that of a shard's turn, so what ends in the turn in which it began counts as 0.

use std::time::Duration;

use api::latency::{LATENCY_STEPS, LatencyHistogram, StepEnds};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Histogram {
    counts: [u64; LATENCY_STEPS + 1],
    sum_us: u64,
}

impl Histogram {
    pub(crate) fn record(&mut self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.counts[LatencyHistogram::step_of(us)] += 1;
        self.sum_us = self.sum_us.wrapping_add(us);
    }

    pub(crate) fn shown(&self) -> LatencyHistogram {
        LatencyHistogram { counts: self.counts.to_vec(), sum_us: self.sum_us, ends_us: StepEnds }
    }
}
