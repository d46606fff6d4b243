//! Times as they are printed: of an event, and from the age that the daemon tells.

use io::clock;
use time::UtcDateTime;

/// Microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    u64::try_from(clock::unix_time().as_micros()).expect("584,000 years fit")
}

/// `2026-01-31T12:00:00.123456+00:00`, from microseconds since 1970.
pub(crate) fn timestamp(at_us: u64) -> String {
    format!("{}.{:06}+00:00", to_the_second(at_us), at_us % 1_000_000)
}

/// So long ago: `2026-01-31T12:00:00Z`.
pub(crate) fn as_of(age_ms: u64) -> String {
    let at_us = now_us().saturating_sub(age_ms.saturating_mul(1000));
    format!("{}Z", to_the_second(at_us))
}

/// A time that something took, in its two largest units.
pub(crate) fn lasting(ms: u64) -> String {
    let seconds = ms / 1000;
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    match (hours, minutes) {
        (0, 0) if seconds < 10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        (0, 0) => format!("{seconds} s"),
        (0, _) => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{hours} h {minutes} min"),
    }
}

/// `2026-01-31T12:00:00`; the calendar ends with the year 9999.
fn to_the_second(at_us: u64) -> String {
    let seconds = i64::try_from(at_us / 1_000_000).unwrap_or(i64::MAX);
    let at = UtcDateTime::from_unix_timestamp(seconds).unwrap_or(UtcDateTime::MAX);
    let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
    let (hour, minute, second) = at.as_hms();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_something_took_have_two_units_at_most() {
        for (ms, expected) in [
            (0, "0.0 s"),
            (1_290, "1.2 s"),
            (59_999, "59 s"),
            (60_000, "1 min 0 s"),
            (3_599_000, "59 min 59 s"),
            (100_000_000, "27 h 46 min"),
        ] {
            assert_eq!(lasting(ms), expected);
        }
    }

    #[test]
    fn timestamps_are_those_of_the_calendar() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(951_827_696_000_007), "2000-02-29T12:34:56.000007+00:00");
        assert_eq!(timestamp(1_769_860_800_123_456), "2026-01-31T12:00:00.123456+00:00");
        assert_eq!(timestamp(4_107_542_399_000_000), "2100-02-28T23:59:59.000000+00:00");
    }
}
