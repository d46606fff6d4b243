//! ARCHITECTURE.md stays short, and the files and functions that it and docs/walks.md name are
//! there.
//!
//! `CRATE/FILE.rs` is a file of `crates/CRATE/src`, or of `crates/CRATE`; `decisions/0037` is the
//! decision of that number; everything else is a path from the top. Functions that stand behind a
//! file, as in `engine/shard.rs turn(), perform()`, are some of that file.

pub(super) const DOCUMENT: &str = "ARCHITECTURE.md";
pub(super) const WALKS: &str = "docs/walks.md";
/// What a newcomer reads at one go.
const BYTES_MAX: usize = 10_000;

/// What there is to name.
pub(super) struct Tree<'a, F> {
    /// The text of a file of the repository by its path from the top; an empty one for a folder.
    pub(super) text_of: F,
    /// The names of the files in docs/decisions.
    pub(super) decisions: &'a [String],
}

impl<F: Fn(&str) -> Option<String>> Tree<'_, F> {
    fn find(&self, name: &str) -> Option<String> {
        let (first, rest) = name.split_once('/').unwrap_or((name, ""));
        (self.text_of)(name)
            .or_else(|| (self.text_of)(&format!("crates/{first}/src/{rest}")))
            .or_else(|| (self.text_of)(&format!("crates/{name}")))
            .or_else(|| self.decision(name))
    }

    fn decision(&self, name: &str) -> Option<String> {
        let (folder, number) = name.rsplit_once('/')?;
        let start = format!("{number}-");
        let is_one = folder.ends_with("decisions")
            && number.len() == 4
            && self.decisions.iter().any(|file| file.starts_with(&start));
        is_one.then(String::new)
    }
}

/// The complaint of a text that is too long.
pub(super) fn measure(text: &str) -> Option<String> {
    let bytes = text.len();
    (bytes > BYTES_MAX)
        .then(|| format!("{DOCUMENT}: {bytes} bytes, over {BYTES_MAX}: move details out"))
}

/// What the text of a document names, and is not there.
pub(super) fn examine<F: Fn(&str) -> Option<String>>(
    document: &str,
    text: &str,
    tree: &Tree<'_, F>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        for (name, behind) in words(line).filter(|(name, _)| is_file(name)) {
            let Some(file) = tree.find(name) else {
                complaints.push(format!("{document}:{at}: there is no {name}"));
                continue;
            };
            for function in functions(behind) {
                let start = format!("fn {function}");
                let mut found = file.match_indices(&start).map(|(at, _)| &file[at + start.len()..]);
                if !found.any(|rest| rest.starts_with(['(', '<'])) {
                    complaints.push(format!("{document}:{at}: {name} has no function {function}"));
                }
            }
        }
    }
    complaints
}

/// The functions that stand behind a file, with commas between them.
fn functions(behind: &str) -> impl Iterator<Item = &str> {
    let words = behind.trim_start_matches(' ').split(", ");
    let names = words.map_while(|word| word.split_once("()"));
    let mut is_over = false;
    names.map_while(move |(name, rest)| {
        let is_one = !is_over && name.chars().all(is_part);
        is_over |= !rest.is_empty();
        is_one.then_some(name)
    })
}

/// The words that may be paths, each with the rest of the line behind it.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        rest = &rest[start..];
        let end = rest.find(|it| !is_part(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        Some((word.trim_end_matches('.'), behind))
    })
}

fn is_part(it: char) -> bool {
    it.is_ascii_alphanumeric() || "_-./".contains(it)
}

/// Whether a word names a file or a folder of ours.
fn is_file(word: &str) -> bool {
    let ends = [".rs", ".md", ".toml", ".yml", ".sh"];
    let starts = ["docs/", "crates/", "xtask/", "tests/", "decisions/"];
    ends.iter().any(|end| word.ends_with(end)) || starts.iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        let files = [
            (
                "crates/engine/src/shard.rs",
                "    pub(crate) fn turn(&mut self) {\n    fn put<T>(it: T) {",
            ),
            ("crates/io/tests/rings.rs", ""),
            ("docs/PROTOCOL.md", ""),
            ("docs/decisions/", ""),
        ];
        let text_of = |path: &str| {
            files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
        };
        let decisions = ["0037-persistent-memory.md".to_owned()];
        let mut found: Vec<_> = measure(text).into_iter().collect();
        found.extend(examine(DOCUMENT, text, &Tree { text_of, decisions: &decisions }));
        found
    }

    #[test]
    fn files_and_functions_that_are_there_pass() {
        let text = "`engine/shard.rs turn()` calls step() (io/tests/rings.rs, docs/PROTOCOL.md).\n\
                    engine/shard.rs turn(), put(): what follows, as in begin(), is free\n\
                    See docs/decisions/ and docs/decisions/0037, decisions/0037.\n\
                    A lane mod S / a word, e.g. 0..16 or a.b\n";
        assert_eq!(complaints(text), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_there_is_found() {
        let bad = [
            ("node/lane.rs", "there is no node/lane.rs"),
            ("shard.rs", "there is no shard.rs"),
            ("docs/GONE.md", "there is no docs/GONE.md"),
            ("decisions/0038", "there is no decisions/0038"),
            ("docs/decisions/003", "there is no docs/decisions/003"),
            ("engine/shard.rs  step()", "engine/shard.rs has no function step"),
            ("engine/shard.rs turn(), step(): a", "engine/shard.rs has no function step"),
        ];
        for (text, expected) in bad {
            let found = complaints(&format!("\n({text})."));
            assert_eq!(found, [format!("ARCHITECTURE.md:2: {expected}")]);
        }
    }

    #[test]
    fn long_document_is_found() {
        assert_eq!(complaints(&"x".repeat(10_000)), Vec::<String>::new());
        let found = complaints(&"x".repeat(10_001));
        assert_eq!(found, ["ARCHITECTURE.md: 10001 bytes, over 10000: move details out"]);
    }
}
