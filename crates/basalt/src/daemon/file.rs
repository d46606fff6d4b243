//! The file of `basalt node --config`: its lines, and what is wrong with them.
//!
//! A line is `name = value`, with the name of a flag without its dashes, and `yes` or `no` for a
//! flag that takes no value. `#` begins a comment, at the start of a line or behind a blank. Quotes
//! keep blanks at the ends of a value, and a `#`. There is nothing else: no sections, no includes,
//! no escapes. The values are judged by the parser of the command line.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::ser::SerializeStruct as _;

use crate::daemon::sentence::{Flaw, Wrong};

/// A file with every option, each explained, has a tenth of that.
const FILE_BYTES_MAX: u64 = 64 << 10;
/// Mistakes that are told at a time.
const MISTAKES_MAX: usize = 20;
/// Characters of a line that are shown.
const SHOWN_MAX: usize = 80;

/// One option of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) value: String,
    /// Counted from 1.
    pub(super) line: usize,
    /// Where its name begins, in characters and counted from 1; and its value.
    pub(super) name_column: usize,
    pub(super) value_column: usize,
    /// The whole line, for who has to find it.
    pub(super) text: String,
}

/// The kind of a mistake, for a program that acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Code {
    /// Of the words that were typed.
    Usage,
    /// A file that cannot be read.
    File,
    /// A line that cannot be read.
    Syntax,
    UnknownOption,
    Duplicate,
    BadValue,
    /// An option that has to be given is not.
    Missing,
    /// A value that this machine, or another option, does not allow.
    Configuration,
    /// No mistake, but worth a look.
    Note,
}

/// A mistake of the file: its place, the mistake in words, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) code: Code,
    /// `None` if it is on the command line, or nowhere.
    pub(super) file: Option<PathBuf>,
    /// `None` if it is about the whole file.
    pub(super) line: Option<usize>,
    /// From 1, in characters; `None` if it is about the whole line.
    pub(super) column: Option<usize>,
    /// The line as it stands there.
    pub(super) text: Option<String>,
    pub(super) message: String,
    /// An operator types this, where the message does not say it.
    pub(super) hint: Option<String>,
}

impl Mistake {
    /// Of no place, with the way out in its words.
    pub(super) fn new(code: Code, message: String) -> Self {
        Self { code, file: None, line: None, column: None, text: None, message, hint: None }
    }

    /// Of no place.
    pub(super) fn of(code: Code, wrong: &Wrong) -> Self {
        Self { hint: Some(wrong.hint()), ..Self::new(code, wrong.to_string()) }
    }
}

/// The names are those of `basalt adm --json`, and `text` beside them.
impl serde::Serialize for Mistake {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Mistake", 8)?;
        object.serialize_field("code", &self.code)?;
        object.serialize_field("file", &self.file)?;
        object.serialize_field("line", &self.line)?;
        object.serialize_field("column", &self.column)?;
        object.serialize_field("text", &self.text)?;
        object.serialize_field("message", &self.message)?;
        object.serialize_field("hint", &self.hint)?;
        object.serialize_field("try", self.hint.as_deref().unwrap_or_default())?;
        object.end()
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}", file.display())?,
            None => write!(f, "basalt node")?,
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)?;
        if let Some(text) = &self.text {
            write!(f, "\n    {text}")?;
        }
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "\n  {hint}"))
    }
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) entries: Vec<Entry>,
}

impl File {
    /// Reads the lines of a file. Those that cannot be read are told, and the others are there.
    pub(super) fn read(path: &Path) -> (Self, Vec<Mistake>) {
        let mut file = Self { path: path.to_owned(), entries: Vec::new() };
        let mistakes = match read_bytes(path) {
            Ok(bytes) => file.take(&bytes),
            Err(wrong) => {
                let mistake = Mistake::of(Code::File, &wrong);
                vec![Mistake { file: Some(path.to_owned()), ..mistake }]
            }
        };
        (file, mistakes)
    }

    fn take(&mut self, bytes: &[u8]) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        let mut untold = 0;
        for (line, bytes) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            let text = String::from_utf8_lossy(bytes);
            match str::from_utf8(bytes).map_err(|_utf8| Flaw::Foreign).and_then(read_line) {
                Ok(None) => {}
                Ok(Some((name, value))) => {
                    self.entries.push(Entry {
                        name: name.to_owned(),
                        value: value.to_owned(),
                        line,
                        name_column: column_of(&text, name),
                        value_column: column_of(&text, value),
                        text: shown(&text),
                    });
                }
                Err(flaw) if mistakes.len() < MISTAKES_MAX => {
                    let mistake = Mistake::of(Code::Syntax, &Wrong::Line(flaw));
                    mistakes.push(self.at((line, &shown(&text)), mistake));
                }
                Err(_) => untold += 1,
            }
        }
        if untold > 0 {
            let mistake = Mistake::of(Code::Syntax, &Wrong::MoreLines { count: untold });
            mistakes.push(Mistake { file: Some(self.path.clone()), ..mistake });
        }
        mistakes
    }

    /// The mistake at a line that has it.
    pub(super) fn at(&self, (line, text): (usize, &str), mistake: Mistake) -> Mistake {
        let (file, text) = (Some(self.path.clone()), Some(text.to_owned()));
        Mistake { file, line: Some(line), text, ..mistake }
    }
}

/// Where a part of a line begins, in characters and from 1; `part` is cut out of `line`.
fn column_of(line: &str, part: &str) -> usize {
    let bytes = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    line.get(..bytes).map_or(1, |before| before.chars().count() + 1)
}

/// The whole file, or why not and what to do.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Wrong> {
    let failed = |error: std::io::Error| Wrong::Unreadable {
        path: path.to_owned(),
        error: error.to_string(),
    };
    // To open a pipe would wait for somebody who writes into it.
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(Wrong::NoFile);
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Wrong::Large { path: path.to_owned(), kib: FILE_BYTES_MAX >> 10 });
    }
    Ok(bytes)
}

/// Name and value of a line, if it has any.
fn read_line(line: &str) -> Result<Option<(&str, &str)>, Flaw> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    if line.contains(|c: char| c.is_control() && c != '\t') {
        return Err(Flaw::Control);
    }
    let (name, rest) = line.split_once('=').ok_or(Flaw::NoEquals)?;
    let (name, rest) = (name.trim(), rest.trim());
    if name.is_empty() {
        return Err(Flaw::NoName);
    }
    let value = match rest.strip_prefix('"') {
        Some(quoted) => {
            let (value, behind) = quoted.split_once('"').ok_or(Flaw::OpenQuote)?;
            if !without_comment(behind).is_empty() {
                return Err(Flaw::BehindQuote);
            }
            value
        }
        None => match without_comment(rest) {
            "" => return Err(Flaw::NoValue),
            value if value.contains('"') => return Err(Flaw::QuoteInside),
            value => value,
        },
    };
    Ok(Some((name, value)))
}

/// The part in front of a `#` that begins the text, or has a blank before it.
fn without_comment(text: &str) -> &str {
    let is_start =
        |(at, _): &(usize, &str)| text[..*at].chars().last().is_none_or(char::is_whitespace);
    let comment = text.match_indices('#').find(is_start);
    comment.map_or(text, |(at, _)| &text[..at]).trim()
}

/// A line for the eye, whatever is in it.
fn shown(line: &str) -> String {
    let mut shown: String = line.trim().chars().take(SHOWN_MAX).flat_map(printed).collect();
    if line.trim().chars().nth(SHOWN_MAX).is_some() {
        shown.push_str("..");
    }
    shown
}

fn printed(c: char) -> Box<dyn Iterator<Item = char>> {
    if c.is_control() || c == '\u{feff}' {
        Box::new(c.escape_debug())
    } else {
        Box::new([c].into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (Vec<(usize, String, String)>, Vec<Mistake>) {
        let mut file = File { path: PathBuf::from("node.conf"), entries: Vec::new() };
        let mistakes = file.take(bytes);
        (file.entries.into_iter().map(|it| (it.line, it.name, it.value)).collect(), mistakes)
    }

    #[test]
    fn a_line_has_a_name_and_a_value() {
        for (line, value) in [
            ("a=b", "b"),
            ("  a\t=  b  ", "b"),
            ("a = b\r", "b"),
            ("a = b c", "b c"),
            ("a = b=c", "b=c"),
            ("a = b # why", "b"),
            ("a = b#c", "b#c"),
            ("a = \" b \"", " b "),
            ("a = \"b # c\" # why", "b # c"),
            ("a = \"\"", ""),
            ("a = ä", "ä"),
        ] {
            let (entries, mistakes) = read(format!("# first\n\n{line}\n").as_bytes());
            assert_eq!(mistakes, [], "{line:?}");
            assert_eq!(entries, [(3, "a".to_owned(), value.to_owned())], "{line:?}");
        }
        for line in ["", "  ", "#", " # a = b", "\t"] {
            assert_eq!(read(line.as_bytes()), (Vec::new(), Vec::new()), "{line:?}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_told_with_its_number_and_what_to_type() {
        for (line, message) in [
            (&b"nbd 127.0.0.1:10809"[..], "there is no `=`"),
            (b"[node]", "there is no `=`"),
            (b"drbd-names", "there is no `=`"),
            (b"= b", "there is no name"),
            (b"a =", "there is no value"),
            (b"a = # b", "there is no value"),
            (b"a = \"b", "not closed"),
            (b"a = \"", "not closed"),
            (b"a = \"b\" c", "behind the closing quote"),
            (b"a = b\"c\"", "a quote inside"),
            (b"a = b\0c", "a control character"),
            (b"a = b\x1b[2J", "a control character"),
            (b"a = \xff", "not UTF-8"),
        ] {
            let (entries, mistakes) = read(&[b"x = y\n", line, b"\nz = z"].concat());
            let [mistake] = &mistakes[..] else { panic!("{mistakes:?}") };
            assert_eq!(mistake.line, Some(2));
            assert!(mistake.message.contains(message), "no {message:?} in {mistake:?}");
            let told = mistake.to_string();
            assert!(told.starts_with("node.conf:2: "), "{told}");
            assert!(!told.contains(['\0', '\x1b']), "{told:?}");
            assert_eq!(entries.len(), 2, "the other lines are read: {entries:?}");
        }
    }

    #[test]
    fn mistakes_are_told_up_to_a_bound_and_a_long_line_in_part() {
        let (_, mistakes) = read("wrong\n".repeat(1000).as_bytes());
        assert_eq!(mistakes.len(), MISTAKES_MAX + 1);
        let last = &mistakes[MISTAKES_MAX];
        assert_eq!((&*last.message, last.line), ("980 more lines cannot be read", None));
        let (_, mistakes) = read("w".repeat(10_000).as_bytes());
        assert!(mistakes[0].text.as_ref().is_some_and(|text| text.len() == SHOWN_MAX + 2));
    }

    #[test]
    fn what_is_no_file_of_options_is_refused_whole() {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large");
        fs::write(&large, vec![b'\n'; 1 << 20]).unwrap();
        let missing = folder.path().join("missing");
        for (path, part) in [
            (folder.path(), "no regular file"),
            (Path::new("/dev/zero"), "no regular file"),
            (&large, "more than 64 KiB"),
            (&missing, "cannot read it"),
        ] {
            let (file, mistakes) = File::read(path);
            assert_eq!(file.entries, []);
            let told = mistakes[0].to_string();
            assert!(told.contains(part) && told.contains("--config FILE"), "{told}");
        }
    }
}
