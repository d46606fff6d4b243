//! What is wrong, where, and what would be right.
//!
//! While reading, a `Problem` points into the sources by `Span`. What leaves the crate is a
//! [`Diagnostic`], which holds the line itself and so outlives the sources:
//!
//! ```text
//! /etc/drbd.d/r0.res:5:5: unknown option `protocl` in net
//!     protocl C;
//!     ^^^^^^^
//!   did you mean `protocol`?
//!   allowed here: protocol, after-sb-0pri, ..
//! ```

mod sentence;

use std::fmt;

pub(crate) use self::sentence::{Caution, FileFlaw, NameFlaw, Sentence, ValueFlaw};
use crate::limits::{ALLOWED_SHOWN_MAX, ERRORS_MAX, SHOWN_CHARS_MAX};

/// What kind of mistake it is, for a caller that acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A file cannot be read.
    Unreadable,
    /// A file is not UTF-8 text.
    NotText,
    /// A file, or all of them together, or their number, exceeds a limit.
    TooLarge,
    /// Files include each other, or too deep.
    IncludeDepth,
    /// An include that names no file, or one in text that came from no file.
    IncludeMissing,
    /// A character that no token begins with.
    BadCharacter,
    /// A quoted string without its closing quote.
    UnterminatedString,
    /// A word or a string longer than its limit.
    TooLong,
    /// Another token was expected here.
    UnexpectedToken,
    /// The file ends inside a section.
    UnexpectedEnd,
    /// Not a statement of this section, nor one of its options.
    UnknownWord,
    /// A value that is not of the type of its option.
    BadValue,
    /// A number outside the range of its option.
    OutOfRange,
    /// An IP address or a port that is none.
    BadAddress,
    /// Understood, but not there, and ignoring it would change what is safe.
    NotSupported,
    /// Given twice.
    Duplicate,
    /// A statement that must be there is not.
    Missing,
    /// A name of a host that the resource does not have.
    UnknownHost,
    /// Statements that contradict each other.
    Contradiction,
}

/// One mistake, with all that is needed to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub kind: ErrorKind,
    pub file: String,
    /// From 1; 0 if the mistake is about the file as a whole.
    pub line: usize,
    /// From 1, in characters; 0 if the mistake is about the file as a whole.
    pub column: usize,
    pub message: String,
    /// The words that would be right here, the likeliest first.
    pub allowed: Vec<String>,
    /// What to try.
    pub hint: Option<String>,
    /// The closest of the allowed words, if one is close.
    pub suggestion: Option<String>,
    excerpt: Option<Excerpt>,
}

/// The part of a source line that is shown, and the width of the mark below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Excerpt {
    text: String,
    mark_start: usize,
    mark_length: usize,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(excerpt) = &self.excerpt {
            // Tabs stay tabs, so that the mark stands below its word on any terminal.
            let indent: String = excerpt
                .text
                .chars()
                .take(excerpt.mark_start)
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            let mark = "^".repeat(excerpt.mark_length);
            write!(f, "\n    {}\n    {indent}{mark}", excerpt.text)?;
        }
        if let Some(word) = &self.suggestion {
            write!(f, "\n  did you mean `{word}`?")?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  {hint}")?;
        }
        if !self.allowed.is_empty() {
            let shown = self.allowed.len().min(ALLOWED_SHOWN_MAX);
            write!(f, "\n  allowed here: {}", self.allowed[..shown].join(", "))?;
            if shown < self.allowed.len() {
                f.write_str(", ..")?;
            }
        }
        Ok(())
    }
}

/// Every mistake that was found, at least one, in the order of reading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Errors {
    pub list: Vec<Diagnostic>,
    /// Reading stopped at the limit: there may be more.
    pub truncated: bool,
}

impl Errors {
    fn text(&self) -> String {
        let mut lines: Vec<String> = self.list.iter().map(Diagnostic::to_string).collect();
        if self.truncated {
            lines.push(format!("stopped after {ERRORS_MAX} errors, there may be more"));
        }
        lines.join("\n")
    }

    #[must_use]
    pub fn has(&self, kind: ErrorKind) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.kind == kind)
    }
}

/// An option that was accepted and changes nothing; told once for each option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub option: String,
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: warning: {}", self.file, self.line, self.column, self.message)
    }
}

/// Bytes `start..start + length` of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) source: usize,
    pub(crate) start: usize,
    pub(crate) length: usize,
}

/// One text that was read, and the name to call it by.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A mistake while the sources are still at hand.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) span: Span,
    pub(crate) sentence: Sentence,
    pub(crate) allowed: Vec<String>,
    pub(crate) hint: Option<String>,
    /// What was found where an allowed word was expected.
    pub(crate) found: Option<String>,
}

impl Problem {
    pub(crate) fn new(span: Span, sentence: Sentence) -> Self {
        Self { span, sentence, allowed: Vec::new(), hint: None, found: None }
    }
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    /// `found` is what stood there instead; the nearest word is suggested.
    pub(crate) fn allowed<'w>(
        mut self,
        found: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Self {
        self.allowed = words.into_iter().map(str::to_owned).collect();
        self.found = Some(found.to_owned());
        self
    }
}

/// Collects problems and warnings, and knows when enough is enough.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) sources: Vec<Source>,
    problems: Vec<Problem>,
    is_full: bool,
    /// Problems that left something out of the tree.
    losses: usize,
    warnings: Vec<Warning>,
    ambiguities: Vec<Warning>,
    /// Of both lists, in the order of their making.
    #[cfg(test)]
    cautions: Vec<Caution>,
}

impl Report {
    pub(crate) fn add_source(&mut self, name: String, text: String) -> usize {
        self.sources.push(Source { name, text });
        self.sources.len() - 1
    }

    /// That `what` stands at `again` although it stood at `first` already.
    pub(crate) fn duplicate(&self, what: &str, again: Span, first: Span) -> Problem {
        let place = self.place(first);
        Problem::new(again, Sentence::Again { what: what.to_owned() })
            .hint(format!("it was first given at {place}"))
    }

    /// The file and the line.
    pub(crate) fn place(&self, span: Span) -> String {
        let source = &self.sources[span.source];
        let line = place_of(&source.text, span.start).line;
        format!("{}:{line}", source.name)
    }

    /// A problem after which the tree lacks what was wrong.
    pub(crate) fn problem(&mut self, problem: Problem) {
        self.losses += 1;
        self.refusal(problem);
    }

    /// How many problems so far left something out: what depends on it cannot be judged.
    pub(crate) fn losses(&self) -> usize {
        self.losses
    }

    /// A problem with something that was read completely.
    pub(crate) fn refusal(&mut self, problem: Problem) {
        if self.problems.len() < ERRORS_MAX {
            self.problems.push(problem);
        } else {
            self.is_full = true;
        }
    }

    /// No further problem is kept, so that there is no use in reading on.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    pub(crate) fn warn_once(&mut self, option: &str, span: Span, caution: &Caution) {
        if self.warnings.iter().any(|warning| warning.option == option) {
            return;
        }
        let source = &self.sources[span.source];
        let place = place_of(&source.text, span.start);
        self.warnings.push(Warning {
            file: source.name.clone(),
            line: place.line,
            column: place.column,
            option: option.to_owned(),
            message: caution.to_string(),
        });
        #[cfg(test)]
        self.cautions.push(caution.clone());
    }

    /// An override that may not be meant, and the place that it overrides; so many as are shown.
    pub(crate) fn note_ambiguity(
        &mut self,
        option: &str,
        span: Span,
        (caution, overridden): (Caution, Span),
    ) {
        if self.ambiguities.len() >= ERRORS_MAX {
            return;
        }
        let source = &self.sources[span.source];
        let place = place_of(&source.text, span.start);
        self.ambiguities.push(Warning {
            file: source.name.clone(),
            line: place.line,
            column: place.column,
            option: option.to_owned(),
            message: format!("{caution} (the other: {})", self.place(overridden)),
        });
        #[cfg(test)]
        self.cautions.push(caution);
    }

    /// Warnings, and what is ambiguous.
    pub(crate) fn finish(self) -> Result<(Vec<Warning>, Vec<Warning>), Errors> {
        if self.problems.is_empty() {
            return Ok((self.warnings, self.ambiguities));
        }
        let list = self.problems.iter().map(|p| diagnose(p, &self.sources)).collect();
        Err(Errors { list, truncated: self.is_full })
    }
}

fn diagnose(problem: &Problem, sources: &[Source]) -> Diagnostic {
    let source = &sources[problem.span.source];
    let place = place_of(&source.text, problem.span.start);
    let about_a_place = !source.text.is_empty();
    let mut allowed = problem.allowed.clone();
    let mut suggestion = None;
    if let Some(found) = &problem.found {
        allowed.sort_by_key(|word| (distance(found, word), word.clone()));
        allowed.dedup();
        suggestion = allowed.first().filter(|word| is_close(found, word)).cloned();
    }
    Diagnostic {
        kind: problem.sentence.kind(),
        file: source.name.clone(),
        line: if about_a_place { place.line } else { 0 },
        column: if about_a_place { place.column } else { 0 },
        message: problem.sentence.to_string(),
        allowed,
        hint: problem.hint.clone(),
        suggestion,
        excerpt: if about_a_place { excerpt_of(&source.text, problem.span, place) } else { None },
    }
}

#[derive(Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
    line_start: usize,
}

fn place_of(text: &str, offset: usize) -> Place {
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    Place { line, column: text[line_start..offset].chars().count() + 1, line_start }
}

/// A window of the line around the mark: a line of a megabyte stays readable. A line with a
/// secret is not shown, because errors go to logs.
fn excerpt_of(text: &str, span: Span, place: Place) -> Option<Excerpt> {
    let line = text[place.line_start..].split('\n').next().unwrap_or_default();
    if line.contains(crate::options::SECRET_OPTION) {
        return None;
    }
    let skipped = (place.column - 1).saturating_sub(SHOWN_CHARS_MAX / 2);
    let shown: String = line
        .trim_end_matches('\r')
        .chars()
        .skip(skipped)
        .take(SHOWN_CHARS_MAX)
        .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
        .collect();
    let mark_start = place.column - 1 - skipped;
    let end = text.len().min(span.start + span.length);
    let marked = text[span.start..end].split('\n').next().unwrap_or_default().chars().count();
    let room = shown.chars().count().saturating_sub(mark_start);
    Some(Excerpt { text: shown, mark_start, mark_length: marked.min(room).max(1) })
}

/// Close enough that the one was probably meant by the other: some letter of it is left.
fn is_close(found: &str, word: &str) -> bool {
    let (shorter, longer) = (word.len().min(found.len()), word.len().max(found.len()));
    let distance = distance(found, word);
    distance <= 1 + shorter / 4 && distance < longer
}

/// Edits that lead from one word to the other; only the first characters of long words count.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=left.len()).collect();
    for (r, right_char) in right.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = r + 1;
        for (l, left_char) in left.iter().enumerate() {
            let substituted = diagonal + usize::from(*left_char != right_char);
            diagonal = row[l + 1];
            row[l + 1] = substituted.min(row[l] + 1).min(diagonal + 1);
        }
    }
    row[left.len()]
}
