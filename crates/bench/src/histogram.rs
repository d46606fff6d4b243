//! Latencies in buckets: 32 to each power of two, so a percentile is right within 3 %.

use std::time::Duration;

const STEPS_LOG2: u32 = 5;
const STEPS: usize = 1 << STEPS_LOG2;
const BUCKETS: usize = (64 - STEPS_LOG2 as usize + 1) * STEPS;

#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum_ns: u128,
    max_ns: u64,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0, sum_ns: 0, max_ns: 0 }
    }

    pub(crate) fn add(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
        self.sum_ns += u128::from(nanos);
        self.max_ns = self.max_ns.max(nanos);
    }

    pub(crate) fn count(&self) -> u64 {
        self.total
    }

    pub(crate) fn max(&self) -> Duration {
        Duration::from_nanos(self.max_ns)
    }

    pub(crate) fn mean(&self) -> Duration {
        let mean = self.sum_ns / u128::from(self.total.max(1));
        Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    /// The latency that `per_mille` of 1000 requests did not exceed; zero without any.
    pub(crate) fn percentile(&self, per_mille: u64) -> Duration {
        let wanted = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Duration::from_nanos(upper_bound(index).min(self.max_ns));
            }
        }
        Duration::ZERO
    }
}

fn bucket(nanos: u64) -> usize {
    let top = 63 - nanos.max(1).leading_zeros();
    if top < STEPS_LOG2 {
        return small(nanos);
    }
    let shift = top - STEPS_LOG2;
    let step = small(nanos >> shift) - STEPS;
    (shift as usize + 1) * STEPS + step
}

/// The largest number that falls into the bucket.
fn upper_bound(index: usize) -> u64 {
    let (row, step) = (index / STEPS, index % STEPS);
    if row == 0 {
        return step as u64;
    }
    let next = (STEPS + step + 1) as u128;
    u64::try_from((next << (row - 1)) - 1).unwrap_or(u64::MAX)
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("a number of a few bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_its_numbers_and_is_narrow() {
        for shift in 0..64 {
            for number in [1u64 << shift, (1u64 << shift) + (1u64 << shift) / 3, u64::MAX >> shift]
            {
                let bound = upper_bound(bucket(number));
                assert!(bound >= number, "{number} is above {bound}");
                assert!(bound - number <= number / 32, "{number} is far below {bound}");
            }
        }
    }

    #[test]
    fn percentiles_of_a_straight_line() {
        let mut histogram = Histogram::new();
        for micros in 1..=1000 {
            histogram.add(Duration::from_micros(micros));
        }
        let median = histogram.percentile(500).as_micros();
        assert!((500..=516).contains(&median), "{median}");
        assert_eq!(histogram.percentile(1000), Duration::from_millis(1));
        assert_eq!(histogram.max(), Duration::from_millis(1));
        assert_eq!(histogram.count(), 1000);
    }
}
