//! How long requests took, in steps of powers of two.

use serde::{Deserialize, Serialize, Serializer};

/// Steps of a latency histogram with an upper bound; one more has none.
pub const LATENCY_STEPS: usize = 20;
/// The upper bound of the first step; each next one is twice as wide.
const LATENCY_FIRST_US: u64 = 32;

/// How long requests took.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", default)]
pub struct LatencyHistogram {
    /// Of each step, not summed up: the step `n` ends at 32 µs times 2 to the power of n, the last
    /// has no end.
    pub counts: Vec<u64>,
    pub sum_us: u64,
    /// Where the steps end, in microseconds, for readers that are not to compute it.
    #[serde(skip_deserializing)]
    #[cfg_attr(test, schemars(with = "Vec<u64>"))]
    pub ends_us: StepEnds,
}

/// The ends of all steps but the last, which has none; in JSON a list of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepEnds;

impl Serialize for StepEnds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..LATENCY_STEPS).map_while(LatencyHistogram::end_of))
    }
}

impl LatencyHistogram {
    /// The step that a time belongs to.
    #[must_use]
    pub fn step_of(us: u64) -> usize {
        let steps = (us.max(1) - 1) / LATENCY_FIRST_US;
        let steps = u64::BITS - steps.leading_zeros();
        usize::try_from(steps).map_or(LATENCY_STEPS, |steps| steps.min(LATENCY_STEPS))
    }

    /// Where the step ends, in microseconds; `None` of the last.
    #[must_use]
    pub fn end_of(step: usize) -> Option<u64> {
        (step < LATENCY_STEPS).then(|| LATENCY_FIRST_US << step)
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts what another one counted, too.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.counts.iter_mut().zip(&other.counts) {
            *sum += more;
        }
        self.sum_us = self.sum_us.wrapping_add(other.sum_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_belongs_to_the_step_that_ends_at_it_or_after() {
        for (us, step) in [(0, 0), (32, 0), (33, 1), (64, 1), (65, 2), (u64::MAX / 2, 20)] {
            assert_eq!(LatencyHistogram::step_of(us), step, "{us}");
        }
        for step in 0..LATENCY_STEPS {
            let end = LatencyHistogram::end_of(step).unwrap();
            assert_eq!(LatencyHistogram::step_of(end), step);
            assert_eq!(LatencyHistogram::step_of(end + 1), step + 1);
        }
        assert_eq!(LatencyHistogram::end_of(LATENCY_STEPS), None);
        let told = serde_json::to_value(LatencyHistogram::default()).unwrap();
        let ends: Vec<u64> = serde_json::from_value(told["ends-us"].clone()).unwrap();
        assert_eq!((ends.len(), &ends[..3]), (LATENCY_STEPS, &[32, 64, 128][..]));
    }
}
