//! Words that do not land: unfinished code, sleeping, skips that nobody hears of, and paths of
//! somebody's machine.
//!
//! The words are spelled in two halves here, so that this file passes its own rule.

use super::source::lines_before_tests;

/// In code, comments apart. A wait has an event and a deadline; a test runs or is deleted.
const BANNED: [(&str, &str); 6] = [
    (concat!("todo", "!("), "finish it, or leave it out"),
    (concat!("unimplemented", "!("), "finish it, or leave it out"),
    (concat!("dbg", "!("), "left over from a search for a bug"),
    (concat!("thread::", "sleep"), "wait for an event with a deadline"),
    (concat!("#[", "ignore"), "a test that does not run proves nothing"),
    (concat!("use super::", "*"), "name what you use (tests may not)"),
];

/// In comments too. Each must carry the number of its issue: `(#12)`.
const MARKS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

const HOMES: [&str; 2] = [concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(super) fn banned(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let is_test_file = path.contains("/tests/") || path.ends_with("/tests.rs");
    let code_lines = if is_test_file { 0 } else { lines_before_tests(text) };
    for (number, line) in text.lines().enumerate() {
        let at = number + 1;
        let code = if line.trim_start().starts_with("//") { "" } else { line };
        for (word, advice) in BANNED {
            let is_glob = word.starts_with("use ");
            if code.contains(word) && !(is_glob && number >= code_lines) {
                complaints.push(format!("{path}:{at}: `{word}`: {advice}"));
            }
        }
        for mark in MARKS {
            if holds_unnumbered(line, mark) {
                complaints.push(format!("{path}:{at}: `{mark}` without an issue: `{mark}(#12)`"));
            }
        }
    }
    complaints
}

/// Is the mark there as a word of its own and without a number behind it?
fn holds_unnumbered(line: &str, mark: &str) -> bool {
    let is_word_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.match_indices(mark).any(|(start, _)| {
        let before = line[..start].bytes().next_back();
        let rest = &line[start + mark.len()..];
        let is_word =
            !before.is_some_and(is_word_part) && !rest.bytes().next().is_some_and(is_word_part);
        let number = rest.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
        let is_numbered = number.is_some_and(|(number, _)| number.parse::<u64>().is_ok());
        is_word && !is_numbered
    })
}

/// libtest keeps to itself what a passing test prints, and then its skip counts as passed. The
/// steps of `test` say it to whoever reads them, and return it.
pub(super) fn swallowed_skips(path: &str, text: &str) -> Vec<String> {
    if path.starts_with("xtask/") {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    let call = "println!(";
    for (start, _) in text.match_indices(call) {
        if text[start + call.len()..].trim_start().starts_with("\"skipped") {
            let at = text[..start].matches('\n').count() + 1;
            complaints.push(format!(
                "{path}:{at}: nobody counts this skip: `stdx::testing::skip`, and return"
            ));
        }
    }
    complaints
}

/// A path of one machine works on that machine only. Longer paths that merely hold the word, such
/// as `/var/lib/x/home/`, are fine.
pub(super) fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let starts_path = |start: usize| {
            let before = line[..start].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || "_.-}".contains(c))
        };
        for home in HOMES {
            if line.match_indices(home).any(|(start, _)| starts_path(start)) {
                complaints
                    .push(format!("{path}:{}: `{home}` is a path of one machine", number + 1));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/engine/src/shard.rs";

    #[test]
    fn every_banned_word_is_found_in_code_and_not_in_comments() {
        for (word, _) in BANNED {
            let complaints = banned(PATH, &format!("//! A.\n    {word}\n"));
            assert_eq!(complaints.len(), 1, "{word}");
            assert!(complaints[0].starts_with(&format!("{PATH}:2: ")), "{complaints:?}");
            assert_eq!(banned(PATH, &format!("    // Why not {word}.\n")).len(), 0, "{word}");
        }
    }

    #[test]
    fn tests_may_use_all_of_their_parent() {
        let glob = concat!("    use super::", "*;");
        assert_eq!(banned(PATH, &format!("#[cfg(test)]\nmod tests {{\n{glob}\n}}\n")).len(), 0);
        assert_eq!(banned("crates/engine/src/shard/tests.rs", glob).len(), 0);
        assert_eq!(banned(PATH, glob).len(), 1);
        assert_eq!(banned(PATH, &format!("#[cfg(test)]\nmod tests;\n{glob}")).len(), 1);
    }

    #[test]
    fn mark_needs_an_issue_number() {
        for mark in MARKS {
            assert_eq!(banned(PATH, &format!("// {mark}: later")).len(), 1);
            assert_eq!(banned(PATH, &format!("// {mark}(#later): later")).len(), 1);
            assert_eq!(banned(PATH, &format!("// {mark}(#12): later")).len(), 0);
            assert_eq!(banned(PATH, &format!("// {mark}LIST and _{mark} are words")).len(), 0);
        }
    }

    #[test]
    fn skip_that_libtest_swallows_is_found() {
        for call in
            ["println!(\"skipped: no", "eprintln!(\"skipped, no", "println!(\n    \"skipped"]
        {
            let text = format!("//! A.\n    {call} tool\");\n");
            let complaints = swallowed_skips(PATH, &text);
            assert_eq!(complaints.len(), 1, "{call}");
            assert!(complaints[0].starts_with(&format!("{PATH}:2: ")), "{complaints:?}");
            assert_eq!(swallowed_skips("xtask/src/test/chaos.rs", &text).len(), 0);
        }
        let text = "skip(\"no tool\"); println!(\"a skipped\")";
        assert_eq!(swallowed_skips(PATH, text).len(), 0);
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for home in HOMES {
            assert_eq!(machine_paths("README.md", &format!("cd {home}me/basalt")).len(), 1);
            assert_eq!(machine_paths("README.md", &format!("\"{home}x\"")).len(), 1);
            assert_eq!(machine_paths("README.md", &format!("/var/lib{home}x")).len(), 0);
            assert_eq!(machine_paths("README.md", &format!("${{PREFIX}}{home}x")).len(), 0);
        }
    }
}
