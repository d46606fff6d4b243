//! docs/coverage.md: every scenario of docs/TESTING.md has a line there, and what a line names
//! exists.

use std::collections::BTreeSet;

/// A line that names no test has to open like this, and say why.
const EXCUSES: [&str; 4] = ["absent: ", "does not apply: ", "seeds", "there are no "];

/// `test_of` gives the text of a file below `crates/`, and `steps` are those of `test`.
pub(super) fn examine(
    scenarios: &str,
    coverage: &str,
    text_of: impl Fn(&str) -> Option<String>,
    steps: &[&str],
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
            let found = if let Some((path, test)) = name.split_once("::") {
                named += 1;
                let head = format!("fn {test}(");
                text_of(path).is_some_and(|text| text.contains(&head))
            } else if let Some(step) = name.strip_prefix("step:") {
                named += 1;
                steps.contains(&step)
            } else {
                true
            };
            if !found {
                complain(format!("there is no `{name}`"));
            }
        }
        let cell = line.rsplit(" | ").next().unwrap_or_default();
        let is_head = line.starts_with("| # ") || line.starts_with("| Scenarios ");
        let is_excused = EXCUSES.iter().any(|excuse| cell.starts_with(excuse));
        if named == 0 && !is_head && !is_excused && !cell.contains(".rs`") {
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
        let text_of = |path: &str| (path == "a/t.rs").then(|| "fn it_holds() {}".to_owned());
        examine(SCENARIOS, coverage, text_of, &["kills"])
    }

    #[test]
    fn lines_that_name_what_exists_or_a_reason_pass() {
        let good =
            "| # | x |\n|---|---|\n| S1 | `a/t.rs::it_holds` |\n| S2 | absent: not built |\n";
        assert_eq!(complaints(good), [""; 0]);
        assert_eq!(complaints(&good.replace("absent: not built", "`step:kills`")), [""; 0]);
    }

    #[test]
    fn a_line_too_few_and_a_test_that_is_gone_are_found() {
        let line = "| S2 | absent: not built |\n";
        assert!(complaints(line)[0].contains("S1 of docs/TESTING.md"));
        for cell in ["`a/t.rs::it_went`", "`b/t.rs::it_holds`", "`step:fills`", "later"] {
            let found = complaints(&format!("| S1 | {cell} |\n{line}"));
            assert_eq!(found.len(), 1, "{cell}: {found:?}");
        }
    }
}
