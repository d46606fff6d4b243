//! Rules about the shape of one Rust file: its header, its lengths, and where `unsafe` may stand.
//!
//! Lengths are read off the layout that rustfmt gives: the body of a function ends at the first
//! `}` as far in as its `fn`. Clippy holds functions to 70 lines of code; the bound here is the one
//! that not even an `#[expect]` may pass.

use super::Findings;

const LINE_COLUMNS_MAX: usize = 100;
const FILE_LINES_LISTED: usize = 500;
const FILE_LINES_MAX: usize = 1_000;
const FUNCTION_LINES_MAX: usize = 150;
/// A header that holds these words, and a reason after them, may stand over a longer file.
const LONG_FILE_REASON: &str = "This file is long because ";

/// The crates that promise the compiler to hold no `unsafe`.
const SAFE_CRATES: [&str; 9] =
    ["stdx", "format", "config", "api", "replication", "frontend", "simulator", "model", "bench"];
/// The one folder where `unsafe` may stand.
const UNSAFE_HOME: &str = "crates/io/";

pub(super) fn examine(path: &str, text: &str, findings: &mut Findings) {
    findings.complaints.extend(header(path, text));
    findings.complaints.extend(long_lines(path, text));
    findings.complaints.extend(long_functions(path, text));
    findings.complaints.extend(unsafe_code(path, text));
    match file_length(text) {
        FileLength::Fits => {}
        FileLength::Listed(lines) => {
            findings.notes.push(format!("{path}: {lines} lines; has a second story moved in?"));
        }
        FileLength::TooLong(lines) => findings.complaints.push(format!(
            "{path}: {lines} lines, and more than {FILE_LINES_MAX} need a reason: split it, or \
             say `{LONG_FILE_REASON}..` in its header"
        )),
    }
}

fn header(path: &str, text: &str) -> Option<String> {
    let says_something = |line: &str| line.strip_prefix("//! ").is_some_and(|it| !it.is_empty());
    if text.lines().next().is_some_and(says_something) {
        return None;
    }
    Some(format!("{path}:1: the file does not open with `//!`: what it is, in a sentence"))
}

fn long_lines(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX {
            let at = number + 1;
            complaints.push(format!("{path}:{at}: {columns} columns, over {LINE_COLUMNS_MAX}"));
        }
    }
    complaints
}

#[derive(Debug, PartialEq, Eq)]
enum FileLength {
    Fits,
    Listed(usize),
    TooLong(usize),
}

/// Tests at the end of a file do not count.
fn file_length(text: &str) -> FileLength {
    let lines = lines_before_tests(text);
    let mut header = text.lines().take_while(|line| line.starts_with("//!"));
    if lines <= FILE_LINES_LISTED {
        FileLength::Fits
    } else if lines <= FILE_LINES_MAX || header.any(|line| line.contains(LONG_FILE_REASON)) {
        FileLength::Listed(lines)
    } else {
        FileLength::TooLong(lines)
    }
}

/// Where the tests that are written out at the end of a file begin. A bare `mod tests;` is a line
/// like any other, wherever it stands.
pub(super) fn lines_before_tests(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let is_start = |pair: &[&str]| {
        pair[0] == "#[cfg(test)]" && pair[1].starts_with("mod ") && pair[1].ends_with('{')
    };
    lines.windows(2).position(is_start).unwrap_or(lines.len())
}

fn long_functions(path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut complaints = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let margin = &line[..line.len() - line.trim_start().len()];
        let end = format!("{margin}}}");
        let is_end = |line: &&str| **line == end || line.ends_with(';') && !line.starts_with(' ');
        let length = lines[start..].iter().position(is_end).map_or(0, |found| found + 1);
        if length > FUNCTION_LINES_MAX {
            complaints.push(format!(
                "{path}:{}: `{name}` has {length} lines, over {FUNCTION_LINES_MAX}",
                start + 1
            ));
        }
    }
    complaints
}

/// The name of the function that begins in this line and has its body below it.
fn function_name(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let is_one_line = code.ends_with(';') || code.ends_with('}');
    if is_one_line || code.starts_with("//") {
        return None;
    }
    let (before, after) = code.split_once("fn ")?;
    let qualifiers = ["", "const", "async", "unsafe", "extern", "\"C\""];
    let is_qualifier = |word: &str| qualifiers.contains(&word) || word.starts_with("pub");
    // `pub(in crate::lane) fn` is two words, of which the second ends in a bracket.
    let is_function = before.split(' ').all(|word| is_qualifier(word) || word.ends_with(')'));
    let name = after.split(['(', '<']).next()?;
    (is_function && !name.is_empty()).then_some(name)
}

fn unsafe_code(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for name in SAFE_CRATES {
        let is_root = path == format!("crates/{name}/src/lib.rs");
        if is_root && !text.lines().any(|line| line == "#![forbid(unsafe_code)]") {
            complaints.push(format!("{path}: the crate does not say `#![forbid(unsafe_code)]`"));
        }
    }
    if path.starts_with(UNSAFE_HOME) {
        return complaints;
    }
    for (number, line) in text.lines().enumerate() {
        let code = line.trim_start();
        if !code.starts_with("//") && has_unsafe(code) {
            let at = number + 1;
            complaints.push(format!("{path}:{at}: `unsafe` stands outside {UNSAFE_HOME}"));
        }
    }
    complaints
}

/// `unsafe` as the compiler reads it: before a block or an item, or in a lint that is lifted.
fn has_unsafe(code: &str) -> bool {
    let before = [" {", " fn ", " impl ", " impl<", " trait ", " extern "];
    let is_item = before.iter().any(|after| code.contains(&format!("unsafe{after}")));
    let is_lifted = ["allow(", "expect(", "warn("]
        .iter()
        .any(|lint| code.contains(&format!("{lint}unsafe_code")));
    is_item || is_lifted
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/engine/src/shard.rs";

    #[test]
    fn file_opens_with_a_header() {
        assert_eq!(header(PATH, "//! A shard.\n"), None);
        for text in ["", "use std::fs;\n//! A shard.\n", "//!\n", "// A shard.\n", "\n//! A.\n"] {
            assert!(header(PATH, text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn line_length_counts_characters() {
        let fits = format!("//! {}", "é".repeat(LINE_COLUMNS_MAX - 4));
        assert_eq!(long_lines(PATH, &fits), Vec::<String>::new());
        let complaints = long_lines(PATH, &format!("//! A.\n{fits}x\n"));
        assert_eq!(complaints, [format!("{PATH}:2: 101 columns, over 100")]);
    }

    #[test]
    fn long_file_needs_a_reason_and_tests_do_not_count() {
        let text = |header: &str, lines: usize| format!("{header}\n{}", "x;\n".repeat(lines));
        assert_eq!(file_length(&text("//! A.", 499)), FileLength::Fits);
        assert_eq!(file_length(&text("//! A.", 500)), FileLength::Listed(501));
        assert_eq!(file_length(&text("//! A.", 999)), FileLength::Listed(1_000));
        assert_eq!(file_length(&text("//! A.", 1_000)), FileLength::TooLong(1_001));
        let reason = format!("//! {LONG_FILE_REASON}it is a table.");
        assert_eq!(file_length(&text(&reason, 1_000)), FileLength::Listed(1_001));
        let tests = format!("//! A.\n#[cfg(test)]\nmod tests {{\n{}", "x;\n".repeat(2_000));
        assert_eq!(file_length(&tests), FileLength::Fits);
        let elsewhere = format!("//! A.\n#[cfg(test)]\nmod tests;\n{}", "x;\n".repeat(2_000));
        assert_eq!(file_length(&elsewhere), FileLength::TooLong(2_003));
    }

    #[test]
    fn long_file_is_a_complaint_and_a_listed_one_a_note() {
        let mut findings = Findings::default();
        examine(PATH, &format!("//! A.\n{}", "x;\n".repeat(600)), &mut findings);
        assert_eq!((findings.notes.len(), findings.complaints.len()), (1, 0));
        examine(PATH, &format!("//! A.\n{}", "x;\n".repeat(1_600)), &mut findings);
        assert_eq!((findings.notes.len(), findings.complaints.len()), (1, 1));
    }

    #[test]
    fn long_function_is_found_among_short_ones() {
        let long = "        x();\n".repeat(FUNCTION_LINES_MAX - 1);
        let text = format!(
            "impl A {{\n    fn short() {{\n        x();\n    }}\n\n    pub(crate) const fn \
             long<T>(\n        t: T,\n    ) {{\n{long}    }}\n}}\n"
        );
        let complaints = long_functions(PATH, &text);
        assert_eq!(complaints, [format!("{PATH}:6: `long` has 153 lines, over 150")]);
    }

    #[test]
    fn functions_are_told_from_mentions_of_fn() {
        assert_eq!(function_name("pub(in crate::lane) fn a("), Some("a"));
        assert_eq!(
            function_name(concat!("    un", "safe extern \"C\" fn b<T>(x: T) {")),
            Some("b")
        );
        assert_eq!(function_name("    run: fn() -> Outcome,"), None);
        assert_eq!(function_name("    fn c(&self) -> u8;"), None);
        assert_eq!(function_name("// the fn d( of old"), None);
    }

    #[test]
    fn unsafe_code_stands_in_io_alone() {
        let blocks = [
            concat!("    un", "safe { read() }"),
            concat!("un", "safe impl Send for A {}"),
            concat!("pub un", "safe fn a() {"),
            concat!("#![expect(un", "safe_code, reason = \"x\")]"),
        ];
        for code in blocks {
            assert_eq!(unsafe_code(PATH, code).len(), 1, "{code}");
            assert_eq!(unsafe_code("crates/io/src/ring.rs", code).len(), 0, "{code}");
        }
        assert_eq!(unsafe_code(PATH, concat!("// An un", "safe { block } in prose.")).len(), 0);
        assert_eq!(unsafe_code(PATH, "#![forbid(unsafe_code)]").len(), 0);
    }

    #[test]
    fn pure_crates_forbid_unsafe() {
        for name in SAFE_CRATES {
            let path = format!("crates/{name}/src/lib.rs");
            assert_eq!(unsafe_code(&path, "//! A.\n#![forbid(unsafe_code)]\n").len(), 0);
            assert_eq!(unsafe_code(&path, "//! A.\n#![deny(unsafe_code)]\n").len(), 1);
        }
        assert_eq!(unsafe_code("crates/node/src/lib.rs", "//! A.\n").len(), 0);
    }
}
