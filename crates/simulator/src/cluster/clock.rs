//! Every machine has a clock of its own, which began somewhere and drifts.

use stdx::time::Time;

/// Parts per million by which a clock may be fast or slow: two differ by less than 1 %.
pub(super) const DRIFT_MAX_PPM: u64 = 4_900;

#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// When the rate changed last, in the simulation's time and in the clock's own.
    since: Time,
    read: u64,
    /// Clock ticks per million.
    rate: u64,
}

const MILLION: u64 = 1_000_000;

impl Clock {
    pub(super) fn exact() -> Self {
        Self { since: Time(0), read: 0, rate: MILLION }
    }

    /// From `now` on it runs `ppm` more than `DRIFT_MAX_PPM` parts per million slow.
    pub(super) fn drift(&mut self, now: Time, ppm: u64) {
        *self = Self { since: now, read: self.local(now).0, rate: MILLION - DRIFT_MAX_PPM + ppm };
    }

    pub(super) fn set_ahead(&mut self, nanos: u64) {
        self.read += nanos;
    }

    pub(super) fn local(&self, now: Time) -> Time {
        let elapsed = now.0 - self.since.0;
        Time(self.read + scale(elapsed, self.rate, MILLION))
    }

    /// When the clock shows `local` or more, not before `now`.
    pub(super) fn when(&self, now: Time, local: Time) -> Time {
        if local == Time::NEVER || local <= self.local(now) {
            return if local == Time::NEVER { Time::NEVER } else { now };
        }
        Time(self.since.0 + scale(local.0 - self.read, MILLION, self.rate) + 1)
    }
}

fn scale(value: u64, by: u64, of: u64) -> u64 {
    if let Some(product) = value.checked_mul(by) {
        return product / of;
    }
    let scaled = u128::from(value) * u128::from(by) / u128::from(of);
    u64::try_from(scaled).expect("a short run")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_met_and_not_much_later() {
        let mut clock = Clock::exact();
        clock.set_ahead(77);
        for ppm in [0, 1, DRIFT_MAX_PPM, 2 * DRIFT_MAX_PPM] {
            let now = Time(clock.since.0 + 12_345_678);
            clock.drift(now, ppm);
            for ahead in [1, 2, 1_000, 1_500_000_000] {
                let local = Time(clock.local(now).0 + ahead);
                let at = clock.when(now, local);
                assert!(clock.local(at) >= local, "{ppm} {ahead}");
                assert!(clock.local(now.max(Time(at.0 - 3))) < local, "{ppm} {ahead}");
            }
        }
    }
}
