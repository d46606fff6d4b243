//! Values of options: from text, and back to text.
//!
//! A number is kept in the unit of its option. On reading, a suffix says bytes (`K`, `M`, `G`, also
//! small: powers of 1024, `s`: sectors of 512), which are then converted to that unit; a bare
//! number is in the unit already. The text that is written is the shortest that reads back to the
//! same value.

use std::fmt;

use crate::diagnostic::ValueFlaw;
use crate::options::{Kind, OptionSpec, Status, Unit};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Flag(bool),
    Number { value: u64, unit: Unit },
    Word(&'static str),
    Text(String),
}

impl Value {
    /// The text of a number or a word, as it is written after the name of its option.
    fn text(&self) -> String {
        match self {
            Self::Flag(true) => "yes".to_owned(),
            Self::Flag(false) => "no".to_owned(),
            Self::Number { value, unit } => number_text(*value, *unit),
            Self::Word(word) => (*word).to_owned(),
            Self::Text(text) => text.clone(),
        }
    }

    #[must_use]
    pub fn as_flag(&self) -> Option<bool> {
        if let Self::Flag(flag) = self { Some(*flag) } else { None }
    }

    /// In the unit of the option.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        if let Self::Number { value, .. } = self { Some(*value) } else { None }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// Why a text is no value of an option.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BadValue {
    pub(crate) flaw: ValueFlaw,
    /// The words that would do.
    pub(crate) words: &'static [&'static str],
}

pub(crate) fn parse(kind: Kind, text: &str) -> Result<Value, BadValue> {
    match kind {
        Kind::Flag => match text {
            "yes" => Ok(Value::Flag(true)),
            "no" => Ok(Value::Flag(false)),
            _ => Err(bad_word(text, &["yes", "no"])),
        },
        Kind::Number { min, max, unit } => {
            let range = Range { min, max, unit };
            range.check(text, number(text, range)?)
        }
        Kind::Clamped { min, max } => {
            let range = Range { min, max, unit: Unit::Count };
            let value = number(text, range)?.clamp(min, max);
            Ok(Value::Number { value, unit: Unit::Count })
        }
        Kind::Words(words) => word(text, words),
        Kind::Letters(words) => word(&text.to_ascii_uppercase(), words),
        Kind::WordsOrNumber { words, min, max } => match word(text, words) {
            Err(_) if text.starts_with(|c: char| c.is_ascii_digit()) => {
                let range = Range { min, max, unit: Unit::Count };
                range.check(text, number(text, range)?)
            }
            Err(BadValue { words, .. }) => {
                let flaw = ValueFlaw::WordOrNumber { text: text.to_owned(), min, max };
                Err(BadValue { flaw, words })
            }
            other => other,
        },
        Kind::Text { bytes_max } if text.len() > bytes_max => Err(BadValue {
            flaw: ValueFlaw::Long { bytes: text.len(), max: bytes_max },
            words: &[],
        }),
        Kind::Text { .. } | Kind::Names => Ok(Value::Text(text.to_owned())),
    }
}

/// Whether `value` is among `texts`, where `*` alone is any value, and `1..9` any such number.
pub(crate) fn is_among(value: &Value, texts: &[&str]) -> bool {
    let own = value.text();
    let is_within = |text: &str| {
        let bounds = text.split_once("..").map(|(low, high)| (low.parse(), high.parse()));
        let Some((Ok(low), Ok(high))) = bounds else { return false };
        value.as_number().is_some_and(|number| (low..=high).contains(&number))
    };
    texts.iter().any(|text| *text == "*" || *text == own || is_within(text))
}

/// Whether to accept `value` of `spec`, to accept it aloud, or to refuse it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    ChangesNothing,
    Refused { works: &'static [&'static str] },
}

pub(crate) fn judge(spec: &OptionSpec, value: &Value) -> Verdict {
    match spec.status {
        Status::InEffect => Verdict::Accepted,
        Status::Nothing { holds } if is_among(value, holds) => Verdict::Accepted,
        Status::Nothing { .. } => Verdict::ChangesNothing,
        Status::Refused { works } if is_among(value, works) => Verdict::Accepted,
        Status::Refused { works } => Verdict::Refused { works },
    }
}

fn word(text: &str, words: &'static [&'static str]) -> Result<Value, BadValue> {
    if let Some(word) = words.iter().find(|word| **word == text && !word.ends_with('*')) {
        return Ok(Value::Word(word));
    }
    let matches_stem = |word: &&str| {
        word.strip_suffix('*').is_some_and(|stem| text.len() > stem.len() && text.starts_with(stem))
    };
    if words.iter().any(matches_stem) {
        return Ok(Value::Text(text.to_owned()));
    }
    Err(bad_word(text, words))
}

fn bad_word(text: &str, words: &'static [&'static str]) -> BadValue {
    BadValue { flaw: ValueFlaw::Word { text: text.to_owned() }, words }
}

/// The numbers that an option can have, in its unit.
#[derive(Clone, Copy, Debug)]
struct Range {
    min: u64,
    max: u64,
    unit: Unit,
}

impl Range {
    /// As an operator reads it.
    fn text(self) -> String {
        let Self { min, max, unit } = self;
        format!("{} to {}{}", number_text(min, unit), number_text(max, unit), unit_name(unit))
    }

    fn check(self, text: &str, value: u64) -> Result<Value, BadValue> {
        let (text, range) = (text.to_owned(), self.text());
        let flaw = match value {
            _ if value < self.min => ValueFlaw::Small { text, range },
            _ if value > self.max => ValueFlaw::Big { text, range },
            _ => return Ok(Value::Number { value, unit: self.unit }),
        };
        Err(BadValue { flaw, words: &[] })
    }
}

fn number(text: &str, range: Range) -> Result<u64, BadValue> {
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let not_a_number = || {
        let (text, unit, range) = (text.to_owned(), range.unit, range.text());
        let flaw = match unit {
            Unit::Bytes | Unit::Kibibytes | Unit::Sectors => {
                ValueFlaw::DigitsOfBytes { text, range }
            }
            Unit::Count | Unit::Seconds | Unit::Tenths | Unit::Milliseconds => {
                ValueFlaw::Digits { text, range }
            }
        };
        BadValue { flaw, words: &[] }
    };
    if digits.is_empty() {
        return Err(not_a_number());
    }
    let suffix_bytes = match suffix {
        "" => None,
        "s" => Some(512),
        "k" | "K" => Some(1 << 10),
        "m" | "M" => Some(1 << 20),
        "g" | "G" => Some(1 << 30),
        _ => return Err(not_a_number()),
    };
    let too_big = || BadValue {
        flaw: ValueFlaw::Big { text: text.to_owned(), range: range.text() },
        words: &[],
    };
    // Digits alone fail to parse only when they overflow.
    let count: u64 = digits.parse().ok().ok_or_else(too_big)?;
    let Some(suffix_bytes) = suffix_bytes else { return Ok(count) };
    let bytes = count.checked_mul(suffix_bytes).ok_or_else(too_big)?;
    let unit_bytes = bytes_of(range.unit);
    if !bytes.is_multiple_of(unit_bytes) {
        let (text, range) = (text.to_owned(), range.text());
        let flaw = ValueFlaw::Fraction { text, unit_bytes, range };
        return Err(BadValue { flaw, words: &[] });
    }
    Ok(bytes / unit_bytes)
}

fn bytes_of(unit: Unit) -> u64 {
    match unit {
        Unit::Kibibytes => 1 << 10,
        Unit::Sectors => 512,
        Unit::Count | Unit::Bytes | Unit::Seconds | Unit::Tenths | Unit::Milliseconds => 1,
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Count => "",
        Unit::Bytes | Unit::Kibibytes => " bytes",
        Unit::Sectors => " (sectors of 512 bytes)",
        Unit::Seconds => " seconds",
        Unit::Tenths => " tenths of a second",
        Unit::Milliseconds => " milliseconds",
    }
}

fn number_text(value: u64, unit: Unit) -> String {
    match unit {
        Unit::Count | Unit::Seconds | Unit::Tenths | Unit::Milliseconds => value.to_string(),
        Unit::Sectors if value == 0 => "0".to_owned(),
        Unit::Sectors => format!("{value}s"),
        Unit::Bytes => scaled_text(value, &["", "K", "M", "G"]),
        Unit::Kibibytes if value == 0 => "0".to_owned(),
        Unit::Kibibytes => scaled_text(value, &["K", "M", "G"]),
    }
}

fn scaled_text(mut value: u64, suffixes: &[&str]) -> String {
    let mut step = 0;
    while step + 1 < suffixes.len() && value != 0 && value.is_multiple_of(1024) {
        value /= 1024;
        step += 1;
    }
    format!("{value}{}", suffixes[step])
}
