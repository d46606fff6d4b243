//! The page of a made-up result, as a reader meets it.

use super::*;
use crate::fio::Moment;
use crate::machine::Machine;
use crate::matrix::jobs::JOBS;
use crate::matrix::published;
use crate::matrix::result::{LayoutReport, SideReport};

const SECONDS: f64 = 1.0;

fn side(key: &'static str, name: &'static str) -> SideReport {
    SideReport { key, name, what: "three copies".to_owned(), durability: "none".to_owned() }
}

fn measured(side: &'static str, iops: f64, mean_us: f64, rounds: usize) -> SideResult {
    let round = |number: u32| {
        let factor = 1.0 + f64::from(number) / 10.0;
        Round { iops: iops * factor, mb_per_second: 10.0, mean_us, server_cpu_us: 1_500.0 * factor }
    };
    let moment =
        |step: u32| Moment { seconds: f64::from(step) / 4.0, iops, mean_us: Some(mean_us) };
    let count = u32::try_from(rounds).unwrap();
    SideResult {
        side,
        loads: 6,
        iops,
        mb_per_second: 10.0,
        mean_us,
        max_us: 2e6,
        percentiles_us: vec![(50.0, mean_us), (99.0, 12_340.0), (99.99, 1e6)],
        server_cpu_us: 1_500.0,
        all_cpu_us: 2_000.0,
        enters: None,
        disturbance_percent: 0.0,
        stolen_percent: 0.0,
        series: (1..=4 * count).map(moment).collect(),
        rounds: (0..count).map(round).collect(),
    }
}

fn result(rounds: usize) -> Result {
    let jobs = JOBS.iter().map(|job| {
        let results = vec![
            measured("remote", 40_000.0, 900.0, rounds),
            measured("local", 82_558.0, 56.0, rounds),
            measured("quorum", 20_000.0, 3_398.0, rounds),
        ];
        JobResult::new(job, results)
    });
    Result {
        what: "loads on many volumes".to_owned(),
        version: "0.1.0".to_owned(),
        machine: Machine {
            kernel: "6.1".to_owned(),
            cpus: 2,
            cpu_model: "some".to_owned(),
            memory_gib: 4,
        },
        fio: "fio-3.33".to_owned(),
        layout: LayoutReport {
            nodes: 3,
            daemons: 6,
            volumes_per_node: 2,
            loads: 6,
            replicas: 3,
            size_mib: 128,
            hosts: "loopback addresses",
            shards: 1,
        },
        controls: vec!["direct I/O".to_owned()],
        warm_up_seconds: 1.0,
        seconds: SECONDS,
        rounds,
        total_seconds: 60.0,
        sides: vec![
            side("remote", "basalt, no local replica"),
            side("local", "basalt, local replica"),
            side("quorum", "QEMU quorum"),
        ],
        jobs: jobs.collect(),
        published: published::ALL.to_vec(),
    }
}

#[test]
fn first_sentence_says_what_came_of_it() {
    let page = page(&result(3));
    let told = page.split_once("<p class=\"headline\">").unwrap().1.split_once("</p>").unwrap().0;
    assert_eq!(
        told,
        "6 loads at once made 82,558 random writes of 4 KiB a second on volumes with 3 replicas, \
         4.13 times as many as with QEMU quorum; one write at a time took 56 us on average."
    );
    let mut alone = result(1);
    alone.sides.truncate(2);
    alone.jobs.iter_mut().for_each(|job| job.results.truncate(2));
    assert!(!headline(&alone).contains("times as many"), "{}", headline(&alone));
    alone.jobs.clear();
    assert_eq!(headline(&alone), "No random writes were measured.");
}

#[test]
fn times_are_told_in_milliseconds_where_they_are_that_long() {
    let page = page(&result(1));
    assert!(page.contains("mean 3.40 ms, p99 12.3 ms<br>1.50 ms of CPU per request"), "a cell");
    assert!(page.contains(">10 ms</text>") && page.contains(">100 us</text>"), "the curve's axis");
    for title in ["mean latency</text>", "latency that so many requests stay below, logarithmic<"] {
        assert!(page.contains(title), "{title}");
    }
    for unit in ["3398 us", "12340 us", "us per request"] {
        assert!(!page.contains(unit), "{unit}");
    }
}

#[test]
fn ranges_of_rounds_stand_beside_figures_and_over_bars() {
    let several = page(&result(3));
    // The result of each load, and the CPU time, of each system.
    assert_eq!(several.matches("class=\"range\"").count(), 2 * JOBS.len() * 3);
    assert!(several.contains("82,558 IOPS to 99,070 IOPS in 3 rounds"), "a cell");
    assert!(several.contains("the range of 3 rounds"), "the bars are explained");
    let one = page(&result(1));
    assert!(!one.contains("class=\"range\"") && !one.contains("rounds<br>"), "nothing to range");
}

#[test]
fn rounds_are_apart_in_charts_over_time() {
    let points: Points = (1..=8).map(|step| (f64::from(step) / 4.0, Some(1.0))).collect();
    let gaps: Vec<f64> =
        apart(&points, 1.0).iter().filter(|(_, y)| y.is_none()).map(|(x, _)| *x).collect();
    assert_eq!(gaps, [1.0]);
    assert_eq!(apart(&points, 2.0), points);
}

/// Two columns said `not known` in most of their cells.
#[test]
fn published_figures_stand_with_their_sources_and_no_cell_is_empty() {
    let page = page(&result(3));
    assert!(!page.contains("not known") && !page.contains("<td></td>"));
    let row = page.split_once("LINBIT, DRBD 9</td>").unwrap().1.split_once("</tr>").unwrap().0;
    assert!(row.contains("random-read: 14,800,000 IOPS") && row.contains("linbit.com"), "{row}");
    let results = page.split_once("<h2>Results</h2>").unwrap().1.split_once("</table>").unwrap().0;
    assert!(!results.contains("published"), "{results}");
}

/// Tables made the whole page wider than a telephone, and charts had letters of five pixels.
#[test]
fn narrow_screen_scrolls_tables_and_charts_and_not_the_page() {
    let page = page(&result(3));
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    for rule in [
        "minmax(min(100%, 420px), 1fr)",
        ".charts > div { overflow-x: auto; }",
        ".wide { overflow-x: auto; }",
        "min-width: 420px",
        "@media (max-width: 700px)",
    ] {
        assert!(style.contains(rule), "no {rule} in {style}");
    }
    let charts = page.matches("<svg ").count();
    assert_eq!(charts, 4 * JOBS.len() + 1);
    assert_eq!(page.matches("<div><svg ").count(), charts, "each chart scrolls by itself");
    let tables = page.matches("<table").count();
    let kept = page.matches("<div class=\"wide\"><table>").count();
    assert_eq!((tables, kept), (3, 2), "and the setup folds: {}", page.contains("class=\"setup\""));
    for word in ["src=", "href=", "@import", "url(", "<script", "NaN", ">inf"] {
        assert!(!page.contains(word), "{word}");
    }
}
