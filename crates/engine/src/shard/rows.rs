//! The rows of docs/operate/messages: each sentence that can be printed, with the situations that
//! print it. Tests make them; tidy asks that each variant of an enum of sentences has a row.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;

const COLUMNS: usize = 100;

/// A sentence as a test printed it.
pub(crate) struct Row {
    /// The variant, as `Debug` begins it.
    pub(crate) variant: String,
    pub(crate) situation: String,
    pub(crate) sentence: String,
}

/// The variant that `Debug` begins with, and the one inside of it that says why.
pub(crate) fn variant_of(sentence: &impl Debug) -> String {
    let debug = format!("{sentence:?}");
    let name =
        |text: &str| -> String { text.chars().take_while(char::is_ascii_alphanumeric).collect() };
    let outer = name(&debug);
    let of_fields = [" why: ", " way: "].iter().find_map(|field| debug.split_once(field));
    let of_tuple = debug[outer.len()..].strip_prefix('(');
    let inner = of_fields.map(|(_, rest)| rest).or(of_tuple).map(name).unwrap_or_default();
    if inner.is_empty() { outer } else { format!("{outer}, {inner}") }
}

/// Compares the rows with the page, or writes it where `UPDATE_GOLDEN` is set.
pub(crate) fn check((page, title): (&str, &str), rows: Vec<Row>) {
    let mut by_variant: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for Row { variant, situation, sentence } in rows {
        let situations = by_variant.entry((variant, sentence)).or_default();
        if !situations.contains(&situation) {
            situations.push(situation);
        }
    }
    let head = format!(
        "A test makes this page (`UPDATE_GOLDEN=1 cargo test -p {} rows`). Below the name of a row \
         stand the situations that print it, and then the sentence.",
        env!("CARGO_PKG_NAME")
    );
    let mut text = format!("# {title}\n\n{}", wrapped("", &head));
    for ((variant, sentence), situations) in by_variant {
        text += &format!("\n**{variant}**\n");
        for situation in situations {
            text += &wrapped("- ", &situation);
        }
        text += "\n";
        text += &wrapped("> ", &sentence);
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/operate/messages");
    let path = path.join(page);
    let golden = fs::read_to_string(&path).unwrap_or_default();
    if golden == text {
        return;
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let line = golden.lines().zip(text.lines()).find(|(left, right)| left != right);
    panic!("{}: {line:?} differs; UPDATE_GOLDEN=1 writes the page anew", path.display());
}

/// The text behind `mark`, in lines that are not too long; those after the first are as deep.
fn wrapped(mark: &str, text: &str) -> String {
    let next = if mark == "- " { "  " } else { mark };
    let (mut out, mut line) = (String::new(), mark.to_owned());
    for word in text.split(' ') {
        if line.chars().count() + word.chars().count() + 1 > COLUMNS {
            out += line.trim_end();
            out.push('\n');
            line = next.to_owned();
        }
        if line.len() > next.len() {
            line.push(' ');
        }
        line += word;
    }
    out + &line + "\n"
}
