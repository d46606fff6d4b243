//! The alerts of docs/monitoring/rules.yml and the pages of docs/operate/alerts: each alert names
//! its page, each page has its alert and answers the four questions, and the index names them all.
//! The tests of the rules see each alert fire and end again.

use std::collections::BTreeSet;

pub(super) const RULES: &str = "docs/monitoring/rules.yml";
pub(super) const TESTS: &str = "docs/monitoring/rules_test.yml";
pub(super) const FOLDER: &str = "docs/operate/alerts/";
const INDEX: &str = "README.md";
/// The questions of somebody whom an alert woke, in their order.
const QUESTIONS: [&str; 4] =
    ["\n**For my data**", "\n**First**", "\n**Next**", "\n**Stop and ask**"];

/// `pages` are the files of the folder: their names in it, and their texts.
pub(super) fn examine(rules: &str, pages: &[(String, String)]) -> Vec<String> {
    let mut complaints = Vec::new();
    let alerts = alerts(rules);
    for Alert { line, name, page } in &alerts {
        let wanted = format!("{FOLDER}{name}.md");
        if *page != Some(wanted.as_str()) {
            complaints.push(format!("{RULES}:{line}: {name} has no `runbook_url: {wanted}`"));
        }
        if !pages.iter().any(|(page, _)| page.strip_suffix(".md") == Some(name)) {
            complaints.push(format!("{RULES}:{line}: {name} has no page {wanted}"));
        }
    }
    let names: BTreeSet<&str> = alerts.iter().map(|alert| alert.name).collect();
    let index = pages.iter().find(|(name, _)| name == INDEX).map_or("", |(_, text)| text);
    for (page, text) in pages.iter().filter(|(page, _)| page != INDEX) {
        let name = page.trim_end_matches(".md");
        if !names.contains(name) {
            complaints.push(format!("{FOLDER}{page}: {RULES} has no alert {name}"));
        }
        if !index.contains(&format!("[{name}]({page})")) {
            complaints.push(format!("{FOLDER}{INDEX}: the index does not name {page}"));
        }
        complaints.extend(questions(page, text));
    }
    complaints
}

/// Each alert fires in `tests`, which are of promtool, and is over later in the same one.
pub(super) fn examine_tests(rules: &str, tests: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for Alert { line, name, .. } in alerts(rules) {
        let lacks = |what: &str| format!("{RULES}:{line}: {TESTS} never sees {name} {what}");
        let mut fires = false;
        let mut ends = false;
        for group in tests.split("\n  - interval:") {
            let mut fires_here = false;
            for seen in group.split("- eval_time:").filter(|seen| is_of(seen, name)) {
                fires_here |= seen.contains("- exp_labels:");
                ends |= fires_here && seen.contains("exp_alerts: []");
            }
            fires |= fires_here;
        }
        if !fires {
            complaints.push(lacks("fire"));
        } else if !ends {
            complaints.push(lacks("end"));
        }
    }
    complaints
}

fn is_of(seen: &str, alert: &str) -> bool {
    seen.lines().any(|line| line.trim().strip_prefix("alertname: ") == Some(alert))
}

/// A page answers each question once, in the order in which they are asked.
fn questions(page: &str, text: &str) -> Option<String> {
    let mut rest = text;
    for question in QUESTIONS {
        let Some((_, behind)) = rest.split_once(question) else {
            let question = question.trim_start();
            return Some(format!("{FOLDER}{page}: no `{question}` where it has to stand"));
        };
        rest = behind;
    }
    None
}

struct Alert<'t> {
    line: usize,
    name: &'t str,
    page: Option<&'t str>,
}

fn alerts(rules: &str) -> Vec<Alert<'_>> {
    let mut alerts: Vec<Alert<'_>> = Vec::new();
    for (number, line) in rules.lines().enumerate() {
        let line = line.trim_start();
        if let Some(name) = line.strip_prefix("- alert: ") {
            alerts.push(Alert { line: number + 1, name, page: None });
        } else if let (Some(page), Some(alert)) =
            (line.strip_prefix("runbook_url: "), alerts.last_mut())
        {
            alert.page = Some(page);
        }
    }
    alerts
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "rules:\n  - alert: A\n    annotations:\n      \
                        runbook_url: docs/operate/alerts/A.md\n";
    const PAGE: &str = "# A\n\n**For my data**: x\n\n**First**\n\n**Next**\n\n**Stop and ask** y\n";

    fn complaints(rules: &str, pages: &[(&str, &str)]) -> Vec<String> {
        let pages: Vec<(String, String)> =
            pages.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        examine(rules, &pages)
    }

    #[test]
    fn alert_with_its_page_passes() {
        let pages = [("A.md", PAGE), ("README.md", "[A](A.md)")];
        assert_eq!(complaints(GOOD, &pages), Vec::<String>::new());
    }

    #[test]
    fn alert_without_a_page_and_page_without_an_alert_are_found() {
        let found = complaints(GOOD, &[("B.md", PAGE), ("README.md", "[B](B.md)")]);
        assert_eq!(
            found,
            [
                "docs/monitoring/rules.yml:2: A has no page docs/operate/alerts/A.md",
                "docs/operate/alerts/B.md: docs/monitoring/rules.yml has no alert B",
            ]
        );
    }

    #[test]
    fn alert_names_its_own_page() {
        let pages = [("A.md", PAGE), ("README.md", "[A](A.md)")];
        for wrong in [GOOD.replace("/A.md", "/B.md"), GOOD.replace("runbook_url", "runbook")] {
            let found = complaints(&wrong, &pages);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(":2: A has no `runbook_url: docs/operate/alerts/A.md`"));
        }
    }

    #[test]
    fn alert_fires_and_ends_in_one_test() {
        let seen = |alert: &str, what: &str| {
            format!(
                "      - eval_time: 3m\n        alertname: {alert}\n        exp_alerts:{what}\n"
            )
        };
        let (fires, ends) = (seen("A", "\n          - exp_labels: {}"), seen("A", " []"));
        let test = |parts: &[&str]| format!("tests:\n  - interval: 1m\n{}", parts.concat());
        let found = |tests: &str| examine_tests(GOOD, tests);
        assert_eq!(found(&test(&[&fires, &ends])), Vec::<String>::new());
        let place = "docs/monitoring/rules.yml:2: docs/monitoring/rules_test.yml never sees A";
        let other = seen("B", "\n          - exp_labels: {}");
        for none in [test(&[]), test(&[&ends]), test(&[&other, &ends])] {
            assert_eq!(found(&none), [format!("{place} fire")]);
        }
        let apart = format!("{}  - interval: 1m\n{ends}", test(&[&fires]));
        for none in [test(&[&fires]), test(&[&ends, &fires]), apart] {
            assert_eq!(found(&none), [format!("{place} end")]);
        }
    }

    #[test]
    fn page_answers_the_questions_and_stands_in_the_index() {
        let unordered = PAGE.replace("**Next**", "**First**").replacen("**First**", "**Next**", 1);
        let found = complaints(GOOD, &[("A.md", &unordered), ("README.md", "")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("the index does not name A.md"), "{found:?}");
        assert!(found[1].contains("A.md: no `**Next**`"), "{found:?}");
    }
}
