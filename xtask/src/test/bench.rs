//! The matrix of loads in its short form: that every load ran on every system, and that the report
//! holds what it promises. How fast they were is not judged.

use super::basalt::{number, report};
use super::scratch::Scratch;
use crate::outcome::Outcome;
use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use std::fs;

const JOBS: [&str; 7] = [
    "random-read",
    "random-70-30",
    "random-write",
    "sequential-read",
    "sequential-write",
    "read-latency",
    "write-latency",
];
const SIDES: [&str; 3] = ["remote", "local", "quorum"];
/// Loads at once, of each system: one volume on each of three nodes.
const LOADS: u64 = 3;
/// Four charts for each load, and one for all of them.
const CHARTS: usize = 4 * JOBS.len() + 1;

const HEADLINE: &str = "<p class=\"headline\">3 loads at once made ";

pub(super) fn short() -> Result<Outcome> {
    let scratch = Scratch::new("bench")?;
    let out = scratch.path().to_str().context("a path in UTF-8")?;
    let words = ["bench", "--short", "--peer", "quorum", "--out", out];
    let (report, outcome) = report(&words)?;
    let saved = fs::read_to_string(scratch.path().join("basalt-bench.json"))?;
    let saved: Value = serde_json::from_str(&saved).context("the saved report")?;
    ensure!(saved == report, "what was saved is not what was printed");
    check_report(&report)?;
    let page = fs::read_to_string(scratch.path().join("basalt-bench.html"))?;
    check_page(&page)?;
    println!("{} loads ran on {} systems each", JOBS.len(), SIDES.len());
    Ok(outcome)
}

fn check_report(report: &Value) -> Result<()> {
    for name in ["fio", "controls", "machine", "layout", "published"] {
        ensure!(!report[name].is_null(), "the report says nothing of its {name}");
    }
    ensure!(number(report, "total_seconds")? > 0.0, "no time was taken");
    ensure!(keys(&report["sides"], "key")? == SIDES, "systems: {}", report["sides"]);
    for side in report["sides"].as_array().into_iter().flatten() {
        ensure!(side["durability"].is_string(), "what is a write worth? {side}");
    }
    ensure!(keys(&report["jobs"], "name")? == JOBS, "loads: {}", report["jobs"]);
    for job in report["jobs"].as_array().into_iter().flatten() {
        ensure!(keys(&job["results"], "side")? == SIDES, "{}: who ran it?", job["name"]);
        for result in job["results"].as_array().into_iter().flatten() {
            check_result(result).with_context(|| format!("{} {}", job["name"], result["side"]))?;
        }
    }
    Ok(())
}

fn check_result(result: &Value) -> Result<()> {
    ensure!(result["loads"].as_u64() == Some(LOADS), "{} loads", result["loads"]);
    for name in ["iops", "mb_per_second", "mean_us", "max_us", "server_cpu_us", "all_cpu_us"] {
        ensure!(number(result, name)? > 0.0, "{name} is {}", result[name]);
    }
    ensure!(result["rounds"].as_array().map(Vec::len) == Some(1), "rounds: {}", result["rounds"]);
    let series = result["series"].as_array().context("no series")?;
    ensure!(!series.is_empty(), "an empty series");
    let curve = result["percentiles_us"].as_array().context("no percentiles")?;
    let mut below = 0.0;
    for point in curve {
        let us = point[1].as_f64().context("a percentile")?;
        ensure!(us >= below, "percentiles fall: {curve:?}");
        below = us;
    }
    ensure!(below > 0.0, "percentiles are nothing: {curve:?}");
    Ok(())
}

fn check_page(page: &str) -> Result<()> {
    let charts = page.matches("<svg ").count();
    ensure!(charts == CHARTS, "{charts} charts on the page, not {CHARTS}");
    ensure!(page.contains("14,800,000 IOPS"), "the published figure is not on the page");
    ensure!(page.contains(HEADLINE), "the page does not begin with its result");
    for job in JOBS {
        ensure!(page.contains(&format!("<h2>{job}: ")), "{job} is not on the page");
    }
    // A page that stands alone loads nothing, and a figure that is none is no figure.
    for word in ["src=", "href=", "@import", "url(", "<script", "NaN", ">inf"] {
        if page.contains(word) {
            bail!("the page holds {word:?}");
        }
    }
    Ok(())
}

fn keys<'a>(list: &'a Value, name: &str) -> Result<Vec<&'a str>> {
    let list = list.as_array().context("no list")?;
    list.iter().map(|one| one[name].as_str().with_context(|| format!("no {name}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(percentiles: &Value, series: &Value) -> Value {
        json!({ "loads": 3, "iops": 1.0, "mb_per_second": 1.0, "mean_us": 1.0, "max_us": 1.0,
                "server_cpu_us": 1.0, "all_cpu_us": 1.0, "percentiles_us": percentiles,
                "series": series, "rounds": [{}] })
    }

    #[test]
    fn a_result_without_figures_is_seen() {
        let (curve, series) = (json!([[50.0, 2.0], [99.0, 3.0]]), json!([{ "iops": 1.0 }]));
        check_result(&result(&curve, &series)).expect("a good result");
        let falling = json!([[50.0, 3.0], [99.0, 2.0]]);
        assert!(check_result(&result(&falling, &series)).is_err());
        assert!(check_result(&result(&curve, &json!([]))).is_err());
        let mut idle = result(&curve, &series);
        idle["iops"] = json!(0.0);
        assert!(check_result(&idle).is_err());
    }

    #[test]
    fn a_page_that_loads_something_is_seen() {
        let heads: String = JOBS.map(|job| format!("<h2>{job}: x</h2>")).concat();
        let good = "<svg >".repeat(CHARTS) + &heads + "14,800,000 IOPS" + HEADLINE;
        check_page(&good).expect("a good page");
        assert!(check_page(&format!("{good}<script>")).is_err());
        assert!(check_page(&good.replacen("<svg ", "<p ", 1)).is_err());
    }
}
