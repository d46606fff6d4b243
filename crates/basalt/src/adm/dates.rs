//! Times as they are printed: of an event, and from the age that the daemon tells.

use io::clock;

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

/// `2026-01-31T12:00:00`
fn to_the_second(at_us: u64) -> String {
    let seconds = at_us / 1_000_000;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    let second = second % 60;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// The date of a day since 1970, by the eras of 400 years that begin on the first of March.
fn date(days: u64) -> (u64, u64, u64) {
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_those_of_the_calendar() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(951_827_696_000_007), "2000-02-29T12:34:56.000007+00:00");
        assert_eq!(timestamp(1_769_860_800_123_456), "2026-01-31T12:00:00.123456+00:00");
        assert_eq!(timestamp(4_107_542_399_000_000), "2100-02-28T23:59:59.000000+00:00");
    }
}
