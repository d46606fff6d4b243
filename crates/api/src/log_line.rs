//! A line of the daemon's log as JSON, for programs that gather logs (`--log-format json`).

use std::time::Duration;

use serde::Serialize;
use time::UtcDateTime;

/// Names stay as they are, and fields may be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogLine<'a> {
    /// `2026-01-31T12:00:00.123Z`.
    pub time: String,
    /// `error`, `warning`, `notice` or `info`.
    pub level: &'a str,
    /// The resource that the line is about; absent if it is about none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub resource: &'a str,
    /// The peer that the line is about; absent if it is about none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub peer: &'a str,
    /// May have several lines.
    pub message: &'a str,
}

impl LogLine<'_> {
    /// One line, without an end of line.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("texts are JSON")
    }
}

/// `2026-01-31T12:00:00.123Z`, from the time since 1970; the calendar ends with the year 9999.
#[must_use]
pub fn timestamp(since_1970: Duration) -> String {
    let seconds = i64::try_from(since_1970.as_secs()).unwrap_or(i64::MAX);
    let at = UtcDateTime::from_unix_timestamp(seconds).unwrap_or(UtcDateTime::MAX);
    let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
    let (hour, minute, second) = at.as_hms();
    let millis = since_1970.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_one_line_of_json_with_what_it_is_about() {
        let time = timestamp(Duration::from_millis(951_827_696_007));
        let mut line =
            LogLine { time, level: "warning", resource: "r0", peer: "", message: "a\n\"b" };
        let expected = "{\"time\":\"2000-02-29T12:34:56.007Z\",\"level\":\"warning\",\
                        \"resource\":\"r0\",\"message\":\"a\\n\\\"b\"}";
        assert_eq!(line.json(), expected);
        (line.resource, line.peer) = ("", "bob");
        assert!(line.json().contains("\"level\":\"warning\",\"peer\":\"bob\",\"message\""));
    }
}
