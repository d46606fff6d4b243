//! A remark on an option of the daemon: told by the check of its file, and by a start that ends.

use std::fmt;

use crate::options::sentence::Sentence;

/// A mistake in an option, or a note that is worth a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The name of the option: that of the flag, without its dashes.
    pub option: &'static str,
    /// The value that is meant, of an option that may have several.
    pub value: Option<String>,
    pub weight: Weight,
    /// The remark in words, with the command to type.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The daemon would not start.
    Wrong,
    /// It would start.
    Note,
}

impl Remark {
    pub(crate) fn wrong(option: &'static str, value: Option<String>, said: &Sentence) -> Self {
        Self { option, value, weight: Weight::Wrong, text: said.to_string() }
    }

    pub(crate) fn note(option: &'static str, value: Option<String>, said: &Sentence) -> Self {
        Self { option, value, weight: Weight::Note, text: said.to_string() }
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.option, self.text)
    }
}
