//! Options of DRBD on the command line, as in `net-options --timeout=60`.
//!
//! The verbs that take them take ours before the verb: behind it a name that DRBD has an option of
//! is DRBD's, whatever our own options are called. Their values come from the configuration.

use std::ffi::{OsStr, OsString};

use clap::Command;
use config::options::table::TABLE;
use config::options::{Kind, OptionSpec, Section};

use crate::adm::failure::AdmError;

/// The verbs, and the section of which they take the options.
const VERBS: [(&str, Section); 8] = [
    ("net-options", Section::Net),
    ("new-peer", Section::Net),
    ("disk-options", Section::Disk),
    ("peer-device-options", Section::Disk),
    ("attach", Section::Disk),
    ("new-minor", Section::Disk),
    ("resource-options", Section::Options),
    ("new-resource", Section::Options),
];

/// The words without such options, and the options.
pub(crate) fn taken_out(words: Vec<OsString>, command: &Command) -> (Vec<OsString>, Vec<OsString>) {
    let Some(at) = verb_at(&words, command) else { return (words, Vec::new()) };
    let Some((_, section)) = VERBS.iter().find(|(verb, _)| words[at] == *verb) else {
        return (words, Vec::new());
    };
    let mut words = words.into_iter();
    let mut kept: Vec<OsString> = words.by_ref().take(at + 1).collect();
    let mut options = Vec::new();
    while let Some(word) = words.next() {
        // What follows is no option of anybody's.
        if word == "--" {
            kept.push(word);
            kept.extend(words);
            break;
        }
        let Some(spec) = spec_of(&word, *section) else {
            kept.push(word);
            continue;
        };
        let has_value = word.to_str().is_some_and(|word| word.contains('='));
        options.push(word);
        if !has_value && spec.kind != Kind::Flag {
            options.extend(words.next());
        }
    }
    (kept, options)
}

/// Why nothing is done with them.
pub(crate) fn refusal(options: &[OsString], verb: &str, resource: &str) -> AdmError {
    let words: Vec<_> = options.iter().map(|word| word.to_string_lossy()).collect();
    let message = format!("options come from the configuration, not from `{}`", words.join(" "));
    let hint = format!("change it there, then `basalt adm {verb} {resource}`");
    AdmError::configuration(message, hint)
}

/// `--NAME`, `--NAME=VALUE` or `--no-NAME` of the section.
fn spec_of(word: &OsStr, section: Section) -> Option<&'static OptionSpec> {
    let name = word.to_str()?.strip_prefix("--")?;
    let name = name.split('=').next().unwrap_or(name);
    let of = |name: &str| TABLE.iter().find(|spec| spec.section == section && spec.name == name);
    of(name).or_else(|| of(name.strip_prefix("no-")?).filter(|spec| spec.kind == Kind::Flag))
}

/// Behind the program's own options and their values.
fn verb_at(words: &[OsString], command: &Command) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.to_str()?;
        if !text.starts_with('-') {
            return Some(at);
        }
        at += if takes_next(text, command) { 2 } else { 1 };
    }
    None
}

fn takes_next(word: &str, command: &Command) -> bool {
    let short = word.strip_prefix('-').and_then(|it| {
        let mut letters = it.chars();
        letters.next().filter(|_| letters.next().is_none())
    });
    command.get_arguments().any(|argument| {
        let is_it = word.strip_prefix("--").is_some_and(|it| argument.get_long() == Some(it))
            || short.is_some_and(|it| argument.get_short() == Some(it));
        is_it && argument.get_action().takes_values()
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::adm::arguments::CommandLine;

    /// The words, with `|` before the options that were taken out.
    fn apart(text: &str) -> String {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        let (kept, options) = taken_out(words, &CommandLine::command());
        let text = |words: Vec<OsString>| -> String {
            words.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        format!("{} | {}", text(kept), text(options))
    }

    #[test]
    fn behind_such_a_verb_a_name_of_drbds_is_drbds() {
        for (typed, expected) in [
            ("x net-options r0 --timeout=60", "x net-options r0 | --timeout=60"),
            ("x net-options --timeout 60 r0", "x net-options r0 | --timeout 60"),
            ("x --timeout 5 net-options r0", "x --timeout 5 net-options r0 | "),
            (
                "x -c net-options new-peer r0 --timeout=6",
                "x -c net-options new-peer r0 | --timeout=6",
            ),
            ("x net-options --json --tls r0", "x net-options --json r0 | --tls"),
            ("x disk-options --no-md-flushes 1", "x disk-options 1 | --no-md-flushes"),
            ("x disk-options --timeout=5 1", "x disk-options --timeout=5 1 | "),
            ("x status --timeout=5 r0", "x status --timeout=5 r0 | "),
            ("x net-options r0 -- --timeout=6", "x net-options r0 -- --timeout=6 | "),
            ("x", "x | "),
        ] {
            assert_eq!(apart(typed), expected, "of {typed}");
        }
    }
}
