//! Each sentence about a comparison, for each situation.

use super::*;
use crate::adm::explain::rows::{self, Row};

fn report(state: &str) -> VerifyReport {
    VerifyReport {
        state: state.to_owned(),
        stop: 20_480,
        verified: 20_480,
        age_ms: 3_612_000,
        took_ms: 12_000,
        ended_age_ms: Some(3_600_000),
        ..VerifyReport::default()
    }
}

/// The times of day are those of the test.
fn told(report: &VerifyReport) -> String {
    let text = verify(report).to_string();
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for word in &mut words {
        let rest = word.trim_end_matches([':', ',']);
        if rest.ends_with('Z') && rest.starts_with("20") {
            *word = format!("TIME{}", &word[rest.len()..]);
        }
    }
    words.join(" ")
}

#[test]
fn rows_of_a_verify_are_those_of_the_page() {
    let mut differing = report("done");
    differing.differing = vec![("bob".to_owned(), 4), ("carol".to_owned(), 8)];
    let repaired = VerifyReport { repaired: true, ..differing.clone() };
    let running = VerifyReport { ended_age_ms: None, verified: 8192, ..report("running") };
    let skipped = VerifyReport { volume: Some(1), skipped: 4096, ..report("done") };
    let rows = [
        ("`verify` waits for this node to lead a session", report("waiting")),
        ("`verify` runs", running),
        ("`verify` ended", report("done")),
        (
            "`verify` ended, and no peer was there for any of it",
            VerifyReport { verified: 0, skipped: 20_480, ..report("done") },
        ),
        ("`verify` of one of several volumes ended; a peer was away meanwhile", skipped),
        ("`verify` ended and found differences", differing),
        ("`verify --repair` ended and found differences", repaired),
        ("the role of this node ended first", report("interrupted")),
    ];
    let rows = rows.map(|(situation, report)| Row {
        variant: rows::variant_of(&verify(&report)),
        situation: situation.to_owned(),
        sentence: told(&report),
    });
    let title = "What `explain` says of the last verify";
    rows::check(("explain-verify.md", title), rows.into_iter().collect());
}

/// `status` told of differences alone, and nothing of a verify that found none.
#[test]
fn end_and_duration_are_told_where_nothing_differs() {
    let text = told(&report("done"));
    assert!(text.contains("began at TIME, ended at TIME and took 12 s:"), "{text}");
    assert!(text.ends_with("20480 KiB were compared, and nothing differs"), "{text}");
    let began = as_of(3_612_000);
    assert!(verify(&report("done")).to_string().contains(&began[..16]), "an hour ago");
}
