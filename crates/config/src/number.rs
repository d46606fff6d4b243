//! Whole numbers with a range, as people type them behind a flag or in `node.conf`.
//!
//! The refusal says the range and what the number counts. Whoever shows it says which word was
//! read, as clap does. Numbers of `.res` files have units of their own: see `options/value.rs`.

/// A number that is none, or out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it takes a number from {min} to {max}: {what}")]
pub struct NotInRange {
    pub min: u64,
    pub max: u64,
    /// The number's unit or name, such as `seconds` or `a minor`.
    pub what: &'static str,
}

/// A parser of numbers, such as a definition of a command line has for each of its options.
pub trait Reads<T>: Fn(&str) -> Result<T, NotInRange> + Clone + Send + Sync + 'static {}

impl<T, F: Fn(&str) -> Result<T, NotInRange> + Clone + Send + Sync + 'static> Reads<T> for F {}

/// Reads numbers of digits alone from `min` to `max`; `what` is their unit or their name.
pub fn number<T: TryFrom<u64> + 'static>(min: u64, max: u64, what: &'static str) -> impl Reads<T> {
    move |text| {
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let value =
            text.parse::<u64>().ok().filter(|value| is_digits && (min..=max).contains(value));
        value.and_then(|value| T::try_from(value).ok()).ok_or(NotInRange { min, max, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_of_digits_and_within_its_range() {
        let read = number::<u8>(1, 200, "threads");
        for (text, value) in [("1", 1), ("007", 7), ("200", 200)] {
            assert_eq!(read(text), Ok(value), "{text}");
        }
        for text in ["", "0", "201", "256", "-1", "+1", "1.5", " 1", "x", "99999999999999999999"] {
            let refused = read(text).unwrap_err().to_string();
            assert_eq!(refused, "it takes a number from 1 to 200: threads", "{text:?}");
        }
    }
}
