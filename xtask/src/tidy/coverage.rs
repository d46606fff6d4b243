//! docs/coverage.md: every scenario of docs/TESTING.md has a line there, and what a line names
//! exists, and runs.

use std::collections::BTreeSet;

/// A line that names no test has to open like this, and say why.
const EXCUSES: [&str; 4] = ["absent: ", "does not apply: ", "seeds", "there are no "];

/// What there is to name.
pub(super) struct Named<'a, F> {
    /// The text of a file below `crates/`.
    pub(super) text_of: F,
    /// Of `test`.
    pub(super) steps: &'a [&'a str],
    /// Of `guest`.
    pub(super) chapters: &'a [&'a str],
}

impl<F: Fn(&str) -> Option<String>> Named<'_, F> {
    /// Whether what stands between two backticks is there; `None` if it names nothing of ours.
    fn has(&self, name: &str) -> Option<bool> {
        if let Some((path, test)) = name.split_once("::") {
            Some((self.text_of)(path).is_some_and(|text| is_test(&text, test)))
        } else if let Some(step) = name.strip_prefix("step:") {
            Some(self.steps.contains(&step))
        } else if let Some(chapter) = name.strip_prefix("guest:") {
            Some(self.chapters.contains(&chapter))
        } else if name.ends_with(".rs") {
            Some((self.text_of)(name).is_some())
        } else {
            None
        }
    }
}

/// Whether the function of this name is one that libtest calls.
fn is_test(text: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let Some(at) = lines.iter().position(|line| line.starts_with(&head)) else { return false };
    let above = lines[..at].iter().rev();
    above.take_while(|line| line.starts_with("#[")).any(|line| *line == "#[test]")
}

pub(super) fn examine<F: Fn(&str) -> Option<String>>(
    scenarios: &str,
    coverage: &str,
    there: &Named<'_, F>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let wanted = numbers(scenarios);
    let mut complain = |what: String| complaints.push(format!("docs/coverage.md: {what}"));
    for number in wanted.difference(&numbers(coverage)) {
        complain(format!("S{number} of docs/TESTING.md has no line"));
    }
    for line in coverage.lines().filter(|line| line.starts_with("| ") && !line.starts_with("|--")) {
        let mut named = 0;
        for name in line.split('`').skip(1).step_by(2) {
            let Some(is_there) = there.has(name) else { continue };
            named += 1;
            if !is_there {
                complain(format!("there is no `{name}`"));
            }
        }
        let cell = line.rsplit(" | ").next().unwrap_or_default();
        let is_head = line.starts_with("| # ") || line.starts_with("| Scenarios ");
        let is_excused = EXCUSES.iter().any(|excuse| cell.starts_with(excuse));
        if named == 0 && !is_head && !is_excused {
            complain(format!("no test, and no reason why not: {line}"));
        }
    }
    complaints
}

/// The numbers of the scenarios that have a line in a table.
fn numbers(text: &str) -> BTreeSet<u32> {
    let number = |line: &str| line.strip_prefix("| S")?.split_once(" |")?.0.parse().ok();
    text.lines().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIOS: &str = "| # | Reference |\n|---|---|\n| S1 | a |\n| S2 | b |\n";

    fn complaints(coverage: &str) -> Vec<String> {
        let text = "#[test]\n    #[expect(x)]\n    fn it_holds() {}\n\nfn it_helps() {}";
        let text_of = |path: &str| (path == "a/t.rs").then(|| text.to_owned());
        examine(SCENARIOS, coverage, &Named { text_of, steps: &["kills"], chapters: &["reboot"] })
    }

    #[test]
    fn lines_that_name_what_exists_or_a_reason_pass() {
        let good =
            "| # | x |\n|---|---|\n| S1 | `a/t.rs::it_holds` |\n| S2 | absent: not built |\n";
        assert_eq!(complaints(good), [""; 0]);
        for cell in ["`step:kills`", "`guest:reboot`", "`a/t.rs` (all of it)"] {
            assert_eq!(complaints(&good.replace("absent: not built", cell)), [""; 0]);
        }
    }

    #[test]
    fn a_line_too_few_and_a_test_that_is_gone_are_found() {
        let line = "| S2 | absent: not built |\n";
        assert!(complaints(line)[0].contains("S1 of docs/TESTING.md"));
        for cell in [
            "`a/t.rs::it_went`",
            "`a/t.rs::it_helps`",
            "`b/t.rs::it_holds`",
            "`b/t.rs`",
            "`step:fills`",
            "`guest:kills`",
            "later",
        ] {
            let found = complaints(&format!("| S1 | {cell} |\n{line}"));
            assert_eq!(found.len(), 1, "{cell}: {found:?}");
        }
    }
}
