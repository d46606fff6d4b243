//! Reads a configuration with all files that it includes.
//!
//! A name is relative to the directory of the file that includes it, and may be a pattern, which
//! may match nothing. Files are read one after another from a list of those still to read, so that
//! neither depth nor number of includes costs stack; both have limits, as have the bytes.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use crate::ast::{Document, ResourceNode, Spanned};
use crate::diagnostic::{FileFlaw, Problem, Report, Sentence, Span};
use crate::limits::{DIRECTORY_ENTRIES_MAX, FILES_MAX, INCLUDE_DEPTH_MAX, TOTAL_BYTES_MAX};
use crate::parser::{self, FileNode};

/// Reads `path` and what it includes.
pub(crate) fn read_file(report: &mut Report, path: &Path) -> Document {
    let nothing = report.add_source(path.display().to_string(), String::new());
    let start = Span { source: nothing, start: 0, length: 0 };
    let mut document = Document::default();
    let mut reader = Reader::default();
    let mut pending =
        vec![Pending { path: path.to_owned(), depth: 0, parent: None, included_at: start }];
    while let Some(next) = pending.pop() {
        if report.is_full() {
            break;
        }
        let Some((source, file)) = reader.open(report, &next) else { continue };
        // The parser reports while it reads, so that it cannot borrow the text from the report.
        let text = report.sources[source].text.clone();
        let node = parser::file(report, source, &text);
        let first_new = document.resources.len();
        let includes = absorb(report, &mut document, node);
        let directory = next.path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        // The list is worked off from its end: the first include goes there last.
        for include in includes.iter().rev() {
            let found = expand(report, &directory, include);
            let child = |path| Pending {
                path,
                depth: next.depth + 1,
                parent: Some(file),
                included_at: include.span,
            };
            pending.extend(found.into_iter().rev().map(child));
        }
        let added = &mut document.resources[first_new..];
        read_templates(report, added, &mut reader, &directory, next.depth);
    }
    document
}

/// Reads text that is in no file, and so may include none.
pub(crate) fn read_text(report: &mut Report, name: &str, text: &str) -> Document {
    let source = report.add_source(name.to_owned(), text.to_owned());
    let mut document = Document::default();
    if u64::try_from(text.len()).map_or(true, |length| length > TOTAL_BYTES_MAX) {
        let start = Span { source, start: 0, length: 0 };
        let many = Sentence::TooMany { max: TOTAL_BYTES_MAX, what: "bytes of text".to_owned() };
        report.problem(Problem::new(start, many));
        return document;
    }
    let node = parser::file(report, source, text);
    let includes = absorb(report, &mut document, node);
    let templates = document.resources.iter().filter_map(|resource| resource.template.as_ref());
    for file in includes.iter().chain(templates) {
        let problem = Problem::new(file.span, Sentence::NoFileHere);
        report.problem(problem.hint("write in place what the file says"));
    }
    document
}

/// Adds what a file says to what the files before it said; returns what it includes.
fn absorb(report: &mut Report, document: &mut Document, node: FileNode) -> Vec<Spanned<String>> {
    document.numbers_links |= node.numbers_links;
    for common in node.commons {
        match &document.common {
            Some(first) => {
                let problem = report.duplicate("the section `common`", common.span, first.span);
                report.problem(problem);
            }
            None => document.common = Some(common),
        }
    }
    document.resources.extend(node.resources);
    node.includes
}

/// A file that is still to be read.
struct Pending {
    path: PathBuf,
    depth: usize,
    /// The file that includes it, as an index into the files read.
    parent: Option<usize>,
    included_at: Span,
}

/// What was read so far, to keep count and to notice circles.
#[derive(Default)]
struct Reader {
    files: Vec<(PathBuf, Option<usize>)>,
    bytes: u64,
}

impl Reader {
    /// The text of a file as a source of the report, and the index of the file here.
    fn open(&mut self, report: &mut Report, next: &Pending) -> Option<(usize, usize)> {
        let mut fail = |sentence: Sentence, hint: &str| {
            report.problem(Problem::new(next.included_at, sentence).hint(hint));
        };
        let path = next.path.display().to_string();
        if next.depth > INCLUDE_DEPTH_MAX {
            fail(Sentence::TooDeep { path }, "include it from a file nearer to the first");
            return None;
        }
        let canonical = fs::canonicalize(&next.path).unwrap_or_else(|_| next.path.clone());
        let mut ancestor = next.parent;
        while let Some(index) = ancestor {
            let (file, parent) = &self.files[index];
            if *file == canonical {
                fail(Sentence::IncludesItself { path }, "remove one include of the circle");
                return None;
            }
            ancestor = *parent;
        }
        if self.files.len() >= FILES_MAX {
            let what = "files in all".to_owned();
            fail(Sentence::TooMany { max: FILES_MAX as u64, what }, "include fewer files");
            return None;
        }
        let text = match read(&next.path, TOTAL_BYTES_MAX - self.bytes) {
            Ok(text) => text,
            Err(ReadError { why, hint }) => {
                fail(Sentence::File { path, why }, hint);
                return None;
            }
        };
        self.bytes += u64::try_from(text.len()).expect("what was left of TOTAL_BYTES_MAX held it");
        self.files.push((canonical, next.parent));
        let source = report.add_source(path, text);
        Some((source, self.files.len() - 1))
    }
}

/// Reads the template of each resource of one file that has one.
fn read_templates(
    report: &mut Report,
    added: &mut [ResourceNode],
    reader: &mut Reader,
    directory: &Path,
    depth: usize,
) {
    for resource in added {
        let Some(name) = &resource.template else { continue };
        let path = directory.join(&name.value);
        let pending = Pending { path, depth: depth + 1, parent: None, included_at: name.span };
        let settings = reader.open(report, &pending).map(|(source, _)| {
            let text = report.sources[source].text.clone();
            parser::template(report, source, &text)
        });
        resource.template_settings = Some(settings.unwrap_or_default());
    }
}

struct ReadError {
    why: FileFlaw,
    hint: &'static str,
}

/// A file of at most so many bytes.
fn read(path: &Path, bytes_max: u64) -> Result<String, ReadError> {
    let unreadable = |error: &std::io::Error| ReadError {
        why: FileFlaw::Unreadable(error.to_string()),
        hint: "check that the file exists and may be read by this user",
    };
    // A pipe could keep the reader waiting for ever.
    let is_file = fs::metadata(path).map_err(|error| unreadable(&error))?.is_file();
    if !is_file {
        let hint = "name a file; `dir/*.res` includes the files of a directory";
        return Err(ReadError { why: FileFlaw::Irregular, hint });
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bytes_max + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(&error))?;
    if u64::try_from(bytes.len()).map_or(true, |length| length > bytes_max) {
        let hint = "is it a configuration? include less";
        return Err(ReadError { why: FileFlaw::Large, hint });
    }
    String::from_utf8(bytes).map_err(|error| ReadError {
        why: FileFlaw::Foreign { byte: error.utf8_error().valid_up_to() },
        hint: "is it a configuration? save it in UTF-8",
    })
}

/// The files that an include names, in order of name.
fn expand(report: &mut Report, directory: &Path, include: &Spanned<String>) -> Vec<PathBuf> {
    let pattern = directory.join(&include.value);
    let has_pattern = include.value.contains(['*', '?', '[']);
    if !has_pattern {
        if !pattern.exists() {
            let path = pattern.display().to_string();
            report.problem(
                Problem::new(include.span, Sentence::NoSuchFile { path })
                    .hint("a name is relative to the directory of the file that includes it"),
            );
            return Vec::new();
        }
        return vec![pattern];
    }
    let mut found = vec![directory.to_path_buf()];
    for component in Path::new(&include.value).components() {
        let mut deeper = Vec::new();
        for base in &found {
            match component {
                Component::Normal(name) if is_pattern(&name.to_string_lossy()) => {
                    deeper.extend(matches_in(base, &name.to_string_lossy()));
                }
                Component::Prefix(_)
                | Component::RootDir
                | Component::CurDir
                | Component::ParentDir
                | Component::Normal(_) => deeper.push(base.join(component)),
            }
            if deeper.len() > FILES_MAX {
                report.problem(Problem::new(include.span, Sentence::ManyMatches));
                return Vec::new();
            }
        }
        found = deeper;
    }
    found.retain(|path| path.is_file());
    found
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

fn matches_in(directory: &Path, pattern: &str) -> Vec<PathBuf> {
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    // A directory that is not there matches nothing, as in a shell.
    let Ok(entries) = fs::read_dir(here) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .take(DIRECTORY_ENTRIES_MAX)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| !name.starts_with('.') || pattern.starts_with('.'))
        .filter(|name| matches(pattern, name))
        .collect();
    names.sort();
    names.into_iter().map(|name| directory.join(name)).collect()
}

/// Whether `name` is matched by a pattern of `*`, `?`, `[a-z]` and `[!a-z]`.
///
/// Only the last `*` is ever taken up again, which is enough and keeps the time within the product
/// of the lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, n));
            p += 1;
            continue;
        }
        if let Some(after) = match_one(&pattern, p, name[n]) {
            p = after;
            n += 1;
            continue;
        }
        let Some((star_p, star_n)) = star else { return false };
        star = Some((star_p, star_n + 1));
        p = star_p + 1;
        n = star_n + 1;
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Where the pattern goes on if its element at `p` matches `c`.
fn match_one(pattern: &[char], p: usize, c: char) -> Option<usize> {
    match pattern.get(p)? {
        '?' => Some(p + 1),
        '[' => match_set(pattern, p, c),
        literal => (*literal == c).then_some(p + 1),
    }
}

fn match_set(pattern: &[char], p: usize, c: char) -> Option<usize> {
    let is_negated = pattern.get(p + 1) == Some(&'!');
    let first = if is_negated { p + 2 } else { p + 1 };
    // A bracket right at the start of the set stands for itself.
    let length = pattern.get(first + 1..)?.iter().position(|end| *end == ']')? + 1;
    let set = &pattern[first..first + length];
    let mut is_in = false;
    let mut i = 0;
    while i < set.len() {
        if i + 2 < set.len() && set[i + 1] == '-' {
            is_in |= (set[i]..=set[i + 2]).contains(&c);
            i += 3;
        } else {
            is_in |= set[i] == c;
            i += 1;
        }
    }
    (is_in != is_negated).then_some(first + length + 1)
}
