//! The report as a page of HTML that needs nothing but itself.

use std::fmt::Write;

use super::chart::{Across, Bar, Figures, Line, Points, Titles, Upwards, bars, escaped, lines};
use super::figures::latency;
use super::jobs::Metric;
use super::result::{JobResult, Result, Round, SideResult};

const STYLE: &str = "
:root { color-scheme: light dark; --s0: #c2410c; --s1: #1d4ed8; --s2: #15803d; --s3: #7e22ce; }
@media (prefers-color-scheme: dark) {
  :root { --s0: #fb923c; --s1: #60a5fa; --s2: #4ade80; --s3: #c084fc; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1320px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
.headline { font-size: 1.25em; max-width: 45em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #8886; padding: .3em .7em; text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.words { text-align: left; }
td.words { overflow-wrap: anywhere; }
.charts { display: grid; gap: 1em;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); }
.charts > div { overflow-x: auto; }
svg { width: 100%; min-width: 420px; height: auto; font: 10px system-ui, sans-serif; }
svg text { fill: currentColor; } .grid { stroke: #8884; stroke-width: 1; }
.line { fill: none; stroke-width: 1.8; stroke-linecap: round; }
.range { fill: none; stroke: currentColor; stroke-width: 1.2; }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); }
.line.s2 { stroke: var(--s2); } .line.s3 { stroke: var(--s3); }
.bar.s0 { fill: var(--s0); } .bar.s1 { fill: var(--s1); }
.bar.s2 { fill: var(--s2); } .bar.s3 { fill: var(--s3); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .4em 0 1em; }
.key.s0 { background: var(--s0); } .key.s1 { background: var(--s1); }
.key.s2 { background: var(--s2); } .key.s3 { background: var(--s3); }
@media (max-width: 700px) {
  body { margin: 1em auto; }
  .setup tr, .setup th, .setup td { display: block; border: 0; text-align: left; }
  .setup th { padding-bottom: 0; }
}
";

pub(super) fn page(result: &Result) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Basalt: measured loads</title>\n<style>{STYLE}</style></head>\n<body>\n\
         <h1>Basalt {}: {}</h1>\n<p class=\"headline\">{}</p>\n",
        escaped(&result.version),
        escaped(&result.what),
        escaped(&headline(result))
    );
    setup(&mut page, result);
    table(&mut page, result);
    published(&mut page, result);
    page.push_str("<h2>CPU time</h2>\n");
    legend(&mut page, result);
    page.push_str("<div class=\"charts\">\n");
    chart(&mut page, &cpu_chart(result));
    page.push_str("</div>\n");
    for job in &result.jobs {
        charts(&mut page, result, job);
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// The result in one sentence: writes per second, beside the first peer, and the time of one write.
fn headline(result: &Result) -> String {
    // Of ours the last one has a local replica.
    let ours = result.sides.iter().rposition(|side| OURS.contains(&side.key));
    let of = |name: &str| result.jobs.iter().find(|job| job.name == name);
    let (Some(ours), Some(writes)) = (ours, of("random-write")) else {
        return "No random writes were measured.".to_owned();
    };
    let one = &writes.results[ours];
    let mut sentence = format!(
        "{} loads at once made {} random writes of 4 KiB a second on volumes with {} replicas",
        one.loads,
        super::figures::thousands(one.iops),
        result.layout.replicas
    );
    let peer = result.sides.iter().position(|side| !OURS.contains(&side.key));
    if let Some(peer) = peer {
        let (name, there) = (result.sides[peer].name, &writes.results[peer]);
        let ratio = one.iops / there.iops.max(f64::MIN_POSITIVE);
        sentence += &format!(", {ratio:.2} times as many as with {name}");
    }
    if let Some(alone) = of("write-latency") {
        let mean = latency(alone.results[ours].mean_us);
        sentence += &format!("; one write at a time took {mean} on average");
    }
    sentence + "."
}

/// The keys of the sides that are Basalt.
const OURS: [&str; 2] = ["remote", "local"];

/// Whose colour is which.
fn legend(page: &mut String, result: &Result) {
    page.push_str("<p>");
    for (number, side) in result.sides.iter().enumerate() {
        let name = escaped(side.name);
        write!(page, "<span class=\"key s{number}\"></span>{name}").expect("writing to a string");
    }
    if result.rounds > 1 {
        write!(page, " (thin lines over bars: the range of {} rounds)", result.rounds)
            .expect("writing to a string");
    }
    page.push_str("</p>\n");
}

fn chart(page: &mut String, svg: &str) {
    page.push_str("<div>");
    page.push_str(svg);
    page.push_str("</div>\n");
}

fn setup(page: &mut String, result: &Result) {
    page.push_str("<table class=\"setup\">\n");
    let machine = format!("{}; {}", result.machine.line(), result.fio);
    for (name, words) in [
        ("Machine", machine.as_str()),
        ("Layout", &result.setup()),
        ("Durability", &result.durability().join("; ")),
        ("Time", &result.timing()),
        ("Rules", &result.controls.join("; ")),
    ] {
        let words = escaped(words);
        page.push_str(&format!("<tr><th>{name}</th><td class=\"words\">{words}</td></tr>\n"));
    }
    for side in &result.sides {
        let (name, what) = (escaped(side.name), escaped(&side.what));
        page.push_str(&format!("<tr><th>{name}</th><td class=\"words\">{what}</td></tr>\n"));
    }
    page.push_str("</table>\n");
}

/// Ours and the peers of this machine, load by load.
fn table(page: &mut String, result: &Result) {
    page.push_str("<h2>Results</h2>\n<div class=\"wide\"><table>\n<tr><th>Load</th>");
    for side in &result.sides {
        page.push_str(&format!("<th>{}</th>", escaped(side.name)));
    }
    page.push_str("</tr>\n");
    for job in &result.jobs {
        let (name, what) = (escaped(job.name), escaped(&job.what));
        page.push_str(&format!("<tr><td>{name}<br><small>{what}</small></td>"));
        for side in &job.results {
            page.push_str(&format!("<td>{}</td>", cell(job, side)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div>\n");
}

fn cell(job: &JobResult, side: &SideResult) -> String {
    let range = side.range(|round| round.figure(job.metric)).map(|(least, most)| {
        let (least, most) = (job.metric.text(least), job.metric.text(most));
        format!("{} to {} in {} rounds<br>", escaped(&least), escaped(&most), side.rounds.len())
    });
    format!(
        "<b>{}</b><br><small>{}mean {}, p99 {}<br>{} of CPU per request</small>",
        escaped(&side.headline(job.metric)),
        range.unwrap_or_default(),
        latency(side.mean_us),
        latency(side.percentile_us(99.0)),
        latency(side.server_cpu_us)
    )
}

/// Absolute figures of different hardware are no comparison; that is said with both spelled out.
fn published(page: &mut String, result: &Result) {
    page.push_str("<h2>What was measured on what</h2>\n<div class=\"wide\"><table>\n");
    page.push_str("<tr><th>Whose</th><th>What</th><th>Hardware</th><th>Figures</th>");
    page.push_str("<th>Source</th></tr>\n");
    let row = |page: &mut String, cells: [&str; 5]| {
        page.push_str("<tr>");
        for text in cells {
            page.push_str(&format!("<td class=\"words\">{}</td>", escaped(text)));
        }
        page.push_str("</tr>\n");
    };
    let machine = format!("one machine for all nodes and all loads: {}", result.machine.line());
    row(page, ["Basalt, here", &result.setup(), &machine, "above", "this report"]);
    for one in &result.published {
        let source = format!("{}. {}", one.source, one.remark);
        let figures = one.cells.iter().map(|cell| format!("{}: {}", cell.job, cell.text));
        let figures = figures.collect::<Vec<_>>().join("; ");
        row(page, [one.who, one.what, one.hardware, &figures, &source]);
    }
    page.push_str("</table></div>\n");
    page.push_str(
        "<p>Published figures come from other hardware: they show the form of the test, and what \
         its field calls fast. To compare systems, compare those that ran here.</p>\n",
    );
}

fn cpu_chart(result: &Result) -> String {
    let names: Vec<&str> = result.sides.iter().map(|side| side.name).collect();
    let bar = |side: &SideResult| Bar {
        value: side.server_cpu_us,
        range: side.range(|round: &Round| round.server_cpu_us),
    };
    let groups: Vec<(&str, Vec<Bar>)> =
        result.jobs.iter().map(|job| (job.name, job.results.iter().map(bar).collect())).collect();
    let titles = Titles {
        chart: "CPU time of all servers",
        unit: Some("per request, logarithmic"),
        figures: Figures::Times,
    };
    bars(&titles, Upwards::Logarithmic, &names, &groups)
}

fn charts(page: &mut String, result: &Result, job: &JobResult) {
    let of = |points: &dyn Fn(&SideResult) -> Points| -> Vec<Line> {
        job.results.iter().map(|one| Line { points: points(one) }).collect()
    };
    let apart = |points: Points| apart(&points, result.seconds);
    let rates = of(&|one| apart(one.series.iter().map(|at| (at.seconds, Some(at.iops))).collect()));
    let means = of(&|one| apart(one.series.iter().map(|at| (at.seconds, at.mean_us)).collect()));
    let curves = of(&|one| one.percentiles_us.iter().map(|(x, y)| (*x, Some(*y))).collect());
    let (name, what) = (escaped(job.name), escaped(&job.what));
    page.push_str(&format!("<h2>{name}: {what}</h2>\n"));
    legend(page, result);
    page.push_str("<div class=\"charts\">\n");
    chart(page, &result_chart(result, job));
    let numbers = |chart, unit| Titles { chart, unit: Some(unit), figures: Figures::Numbers };
    let times = |chart, unit| Titles { chart, unit, figures: Figures::Times };
    let rate = numbers("requests of all loads", "per s");
    chart(page, &lines(&rate, Across::Seconds, Upwards::FromZero, &rates));
    let mean = times("mean latency", None);
    chart(page, &lines(&mean, Across::Seconds, Upwards::FromZero, &means));
    let curve = times("latency that so many requests stay below", Some("logarithmic"));
    chart(page, &lines(&curve, Across::Percentiles, Upwards::Logarithmic, &curves));
    page.push_str("</div>\n");
}

/// The figure that the load was run for, side by side.
fn result_chart(result: &Result, job: &JobResult) -> String {
    let names: Vec<&str> = result.sides.iter().map(|side| side.name).collect();
    let bar = |side: &SideResult| Bar {
        value: side.figure(job.metric),
        range: side.range(|round| round.figure(job.metric)),
    };
    let (chart, unit, figures) = match job.metric {
        Metric::Iops => ("requests of all loads", Some("per s, all rounds"), Figures::Numbers),
        Metric::MbPerSecond => ("bandwidth", Some("MB/s, all rounds"), Figures::Numbers),
        Metric::MeanUs => ("mean latency", Some("all rounds"), Figures::Times),
    };
    let titles = Titles { chart, unit, figures };
    let groups = [("", job.results.iter().map(bar).collect())];
    bars(&titles, Upwards::FromZero, &names, &groups)
}

/// With a gap from the end of each round to the begin of the next one.
fn apart(points: &Points, round_seconds: f64) -> Points {
    let mut with_gaps: Points = Vec::new();
    let mut end = round_seconds;
    for (seconds, value) in points {
        // The last step of a round ends with it.
        if *seconds > end * 1.000_001 {
            with_gaps.push((end, None));
            end += round_seconds;
        }
        with_gaps.push((*seconds, *value));
    }
    with_gaps
}

#[cfg(test)]
mod tests;
