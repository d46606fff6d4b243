//! State changes for an operator: one line each, to standard error.
//!
//! A line is `<level>resource: peer: text`, with the level as the number that systemd's journal
//! understands when standard error is a journal stream, and as a word elsewhere; or it is an object
//! of JSON ([`api::log_line`]). Nothing that happens per request is logged.
//!
//! In a daemon a thread of its own writes the lines: whoever takes them may stand still, a full
//! pipe or a journal that waits for a page of its own, and no data thread waits for that. Lines
//! that find the queue full are counted.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, SyncSender};

use api::log_line::{LogLine, timestamp};

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// An object of JSON in each line.
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error,
    Warning,
    Notice,
    Info,
}

impl Format {
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = [Self::Text, Self::Json].into_iter().find(|format| format.word() == word);
        known.ok_or_else(|| format!("`{word}` is no form of a log: it is text or json"))
    }
}

impl Level {
    fn journal_prefix(self) -> &'static str {
        match self {
            Self::Error => "<3>",
            Self::Warning => "<4>",
            Self::Notice => "<5>",
            Self::Info => "<6>",
        }
    }

    /// Before a line for people.
    fn mark(self) -> &'static str {
        match self {
            Self::Error => "error: ",
            Self::Warning => "warning: ",
            Self::Notice | Self::Info => "",
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
            Self::Info => "info",
        }
    }
}

/// Where a line is about: a resource, a peer, both or neither.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    pub resource: &'a str,
    pub peer: &'a str,
}

impl<'a> Scope<'a> {
    pub const NODE: Self = Self { resource: "", peer: "" };

    #[must_use]
    pub fn resource(resource: &'a str) -> Self {
        Self { resource, peer: "" }
    }

    #[must_use]
    pub fn peer(peer: &'a str) -> Self {
        Self { resource: "", peer }
    }
}

/// The format for processes that a daemon starts, as `Format::word` has it.
pub const FORMAT_VARIABLE: &str = "BASALT_LOG_FORMAT";

static FORMAT: OnceLock<Format> = OnceLock::new();

/// Lines are written so from now on. The first format that is given stays.
pub fn set_format(format: Format) {
    FORMAT.set(format).ok();
}

/// How lines are written: as was said, else as the environment says.
pub fn format() -> Format {
    *FORMAT.get_or_init(|| {
        let word = std::env::var_os(FORMAT_VARIABLE);
        let is_json = word.is_some_and(|word| word == Format::Json.word());
        if is_json { Format::Json } else { Format::Text }
    })
}

pub fn line(level: Level, scope: Scope<'_>, text: &str) {
    let out = rendered(level, scope, text);
    match WRITER.get() {
        Some(writer) => {
            if writer.try_send(Entry::Line(out)).is_err() {
                LOST.fetch_add(1, Ordering::Relaxed);
            }
        }
        None => write(&out),
    }
}

/// The line as it is written, with its end.
pub fn rendered(level: Level, scope: Scope<'_>, text: &str) -> String {
    static JOURNAL: OnceLock<bool> = OnceLock::new();
    let journal = *JOURNAL.get_or_init(|| {
        std::env::var_os("JOURNAL_STREAM").is_some() && !io::stderr().is_terminal()
    });
    let stamp = ::io::clock::unix_time();
    let mut out = String::with_capacity(128);
    if journal {
        out.push_str(level.journal_prefix());
    }
    if format() == Format::Json {
        let (time, Scope { resource, peer }) = (timestamp(stamp), scope);
        let line = LogLine { time, level: level.word(), resource, peer, message: text };
        out.push_str(&line.json());
        out.push('\n');
        return out;
    }
    if !journal {
        let seconds = stamp.as_secs() % 86_400;
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        let millis = stamp.subsec_millis();
        out.push_str(&format!("{hours:02}:{minutes:02}:{:02}.{millis:03} ", seconds % 60));
        out.push_str(level.mark());
    }
    for part in [scope.resource, scope.peer] {
        if !part.is_empty() {
            out.push_str(part);
            out.push_str(": ");
        }
    }
    // A text of several lines (a config error with its excerpt) stays one record.
    out.push_str(&text.replace('\n', "\n    "));
    out.push('\n');
    out
}

/// What the thread that writes is given.
#[derive(Debug)]
pub enum Entry {
    Line(String),
    /// Says when everything before it is written.
    Flush(Sender<()>),
}

static WRITER: OnceLock<SyncSender<Entry>> = OnceLock::new();
static LOST: AtomicU64 = AtomicU64::new(0);

/// Lines go to this thread from now on. The first one that is given stays, and writes for all.
pub fn set_writer(entries: SyncSender<Entry>) {
    drop(WRITER.set(entries));
}

/// The thread that writes, where there is one.
pub fn writer() -> Option<&'static SyncSender<Entry>> {
    WRITER.get()
}

/// Lines that found no room since it was asked last.
pub fn take_lost() -> u64 {
    LOST.swap(0, Ordering::Relaxed)
}

/// Writes a line at once.
#[cfg(not(test))]
pub fn write(line: &str) {
    // Standard error may be closed; there is nowhere left to say so.
    drop(io::Write::write_all(&mut io::stderr().lock(), line.as_bytes()));
}

/// Of this crate's own tests: shown with the one that fails, and no other. Lines of tests of other
/// crates go past that, to standard error.
#[cfg(test)]
pub fn write(line: &str) {
    eprint!("{line}");
}

/// Logs a line: its level, its scope, its text.
#[doc(hidden)]
#[macro_export]
macro_rules! log_line {
    ($level:ident, $scope:expr, $($text:tt)*) => {
        $crate::log::line($crate::log::Level::$level, $scope, &format!($($text)*))
    };
}
pub use log_line as log;
