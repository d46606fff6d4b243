//! Figures as people read them: few digits, and the unit that fits.

/// With a comma between groups of three digits.
pub(super) fn thousands(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in microseconds, in the unit that has one to three digits before the point.
pub(super) fn latency(us: f64) -> String {
    match us {
        us if us < 9.95 => format!("{us:.1} us"),
        us if us < 999.5 => format!("{us:.0} us"),
        us if us < 9_995.0 => format!("{:.2} ms", us / 1e3),
        us if us < 99_950.0 => format!("{:.1} ms", us / 1e3),
        us if us < 999_500.0 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// A round number, in thousands or millions where it is large.
pub(super) fn short(number: f64) -> String {
    match number {
        large if large >= 1e6 => format!("{} M", rounded(large / 1e6)),
        large if large >= 1e3 => format!("{} k", rounded(large / 1e3)),
        small => rounded(small),
    }
}

/// A round time in microseconds.
pub(super) fn short_latency(us: f64) -> String {
    match us {
        long if long >= 1e6 => format!("{} s", rounded(long / 1e6)),
        middle if middle >= 1e3 => format!("{} ms", rounded(middle / 1e3)),
        0.0 => "0".to_owned(),
        small => format!("{} us", rounded(small)),
    }
}

/// Without zeroes that say nothing.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            ["0", "999", "1,000", "14,800,000"],
            [0.0, 999.0, 1000.0, 14.8e6].map(thousands)
        );
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        let all = [0.42, 56.4, 999.4, 999.6, 3_398.0, 14_685.0, 403_000.0, 1.5e6];
        let expected =
            ["0.4 us", "56 us", "999 us", "1.00 ms", "3.40 ms", "14.7 ms", "403 ms", "1.50 s"];
        assert_eq!(all.map(latency), expected);
        assert_eq!(
            [0.0, 20.0, 500.0, 1e3, 2.5e3, 1e5, 1e6].map(short_latency),
            ["0", "20 us", "500 us", "1 ms", "2.5 ms", "100 ms", "1 s"]
        );
        assert_eq!(["1.5 k", "200", "0.1", "14.8 M"], [1.5e3, 200.0, 0.1, 14.8e6].map(short));
    }
}
