//! How fast a resync goes, from looks at how far it is.
//!
//! Nothing is measured while nobody asks: each question for the status is a look. Rates are over
//! all looks of a resync, over those of the last seconds, and since the last one.

use std::time::Duration;

use api::status::{STALLED_SECONDS, SyncDetails};
use format::ids::BLOCK_BYTES;
use stdx::time::Time;

const SECTORS_PER_BLOCK: u64 = BLOCK_BYTES / 512;
/// Looks that are older than this do not count for the recent rate.
const RECENT: Duration = Duration::from_secs(3);

/// How far a resync was at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    pub(crate) at: Time,
    pub(crate) copied_blocks: u64,
    pub(crate) left_blocks: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    first: Look,
    /// The two marks are `RECENT` apart or more; the older one begins the recent looks.
    marks: [Look; 2],
    previous: Look,
    newest: Look,
}

impl Pace {
    pub(crate) fn new(look: Look) -> Self {
        Self { first: look, marks: [look; 2], previous: look, newest: look }
    }

    /// Takes another look in; a copy that went back is another resync, measured anew.
    pub(crate) fn note(&mut self, look: Look) {
        if look.copied_blocks < self.newest.copied_blocks {
            *self = Self::new(look);
            return;
        }
        if look.at.since(self.marks[1].at) >= RECENT {
            self.marks = [self.marks[1], look];
        }
        self.previous = self.newest;
        self.newest = look;
    }

    pub(crate) fn details(&self) -> SyncDetails {
        let Look { copied_blocks, left_blocks, .. } = self.newest;
        let total = copied_blocks + left_blocks;
        let rate_recent = rate_since(self.marks[0], self.newest);
        let (dt0, dt1) = (self.elapsed_ms(self.previous), self.elapsed_ms(self.marks[0]));
        let sectors = |then: Look| (copied_blocks - then.copied_blocks) * SECTORS_PER_BLOCK;
        SyncDetails {
            rs_total: total * SECTORS_PER_BLOCK,
            rs_dt_start_ms: self.elapsed_ms(self.first),
            rs_dt0_ms: dt0,
            rs_db0_sectors: sectors(self.previous),
            rs_dt1_ms: dt1,
            rs_db1_sectors: sectors(self.marks[0]),
            rate_tick: rate_since(self.previous, self.newest),
            rate_recent,
            rate_overall: rate_since(self.first, self.newest),
            estimated_seconds_to_finish: seconds(mib(left_blocks), rate_recent),
            percent_resync_done: mib(copied_blocks) * 100.0 / mib(total.max(1)),
            ..SyncDetails::default()
        }
    }

    fn elapsed_ms(&self, then: Look) -> u64 {
        u64::try_from(self.newest.at.since(then.at).as_millis()).unwrap_or(u64::MAX)
    }
}

/// MiB per second; 0 as long as no time has passed.
fn rate_since(then: Look, now: Look) -> f64 {
    let seconds = now.at.since(then.at).as_secs_f64();
    if seconds > 0.0 { mib(now.copied_blocks - then.copied_blocks) / seconds } else { 0.0 }
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn mib(blocks: u64) -> f64 {
    (blocks * BLOCK_BYTES) as f64 / f64::from(1 << 20)
}

#[expect(clippy::cast_possible_truncation, reason = "bounded by the constant before")]
#[expect(clippy::cast_sign_loss, reason = "an amount and a rate are not negative")]
fn seconds(left_mib: f64, rate: f64) -> u64 {
    let estimate = left_mib / rate;
    if estimate.is_finite() && estimate < 1e8 { estimate.ceil() as u64 } else { STALLED_SECONDS }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(seconds: u64, copied_mib: u64, left_mib: u64) -> Look {
        let at = Time::ZERO + Duration::from_secs(100 + seconds);
        Look { at, copied_blocks: copied_mib * 256, left_blocks: left_mib * 256 }
    }

    #[test]
    fn rates_and_remaining_time_come_from_the_looks() {
        let mut pace = Pace::new(look(0, 0, 400));
        assert_eq!(pace.details().estimated_seconds_to_finish, STALLED_SECONDS);
        pace.note(look(4, 200, 200));
        pace.note(look(8, 208, 192));
        let details = pace.details();
        assert_eq!((details.rate_overall, details.rate_recent), (26.0, 2.0));
        assert_eq!((details.rate_tick, details.percent_resync_done), (2.0, 52.0));
        assert_eq!(details.estimated_seconds_to_finish, 96);
        assert_eq!((details.rs_total, details.rs_dt_start_ms), (400 << 11, 8000));
    }

    #[test]
    fn another_resync_is_measured_anew() {
        let mut pace = Pace::new(look(0, 100, 0));
        pace.note(look(1, 5, 95));
        assert_eq!(pace.details().estimated_seconds_to_finish, STALLED_SECONDS);
        pace.note(look(2, 10, 90));
        assert_eq!(pace.details().estimated_seconds_to_finish, 18);
    }
}
