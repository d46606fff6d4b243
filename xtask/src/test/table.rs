//! `test --table`: the steps with what they came to when they last ran.

use super::report;
use super::seen::Seen;
use super::steps::{self, Step, WHOLE};
use anyhow::Result;
use serde_json::Value;

/// From the report of the last run, and from `tests/long-tier` for steps that did not run then.
pub(super) fn of_last_runs() -> Result<String> {
    let (report, seen) = (report::last()?, Seen::read()?);
    let rows = steps::ALL.iter().map(|step| {
        let sums = report.as_ref().and_then(|report| in_report(report, step));
        row(step, sums.or_else(|| seen.last(step)))
    });
    let head =
        "| step | tier | budget, s | last, s | tests | guards |\n|---|---|---|---|---|---|\n";
    Ok(head.to_owned() + &rows.collect::<String>())
}

/// Tests and seconds.
fn in_report(report: &Value, step: &Step) -> Option<(u64, u64)> {
    let mut steps = report["steps"].as_array()?.iter();
    let found = steps.find(|it| it["step"] == step.name && it["failed"] == 0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole seconds")]
    let seconds = found["seconds"].as_f64()?.ceil() as u64;
    Some((found["passed"].as_u64()?, seconds))
}

fn row(step: &Step, sums: Option<(u64, u64)>) -> String {
    let guards = if step.guards == WHOLE { "all".to_owned() } else { step.guards.join(", ") };
    let (tests, seconds) = match sums {
        Some((passed, seconds)) => (passed.to_string(), seconds.to_string()),
        None => ("not run".to_owned(), String::new()),
    };
    let Step { name, tier, budget_s, .. } = step;
    format!("| `{name}` | {tier} | {budget_s} | {seconds} | {tests} | {guards} |\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_step_has_the_sums_of_its_last_green_run() {
        let step = steps::named("guest").expect("a step");
        let of = |failed: u64| {
            json!({ "steps": [
                { "step": "chaos", "passed": 9, "failed": 0, "seconds": 1.0 },
                { "step": "guest", "passed": 7, "failed": failed, "seconds": 61.2 },
            ] })
        };
        assert_eq!(in_report(&of(0), step), Some((7, 62)));
        assert_eq!(in_report(&of(1), step), None);
        let row = row(step, Some((7, 62)));
        assert!(
            row.starts_with("| `guest` | long | 240 | 62 | 7 | crates/engine/src/links, "),
            "{row}"
        );
    }
}
