//! The report as a page of HTML that needs nothing but itself.

use super::chart::{Across, Line, Points, Titles, Upwards, bars, escaped, lines};
use super::result::{JobResult, Result, SideResult};

const STYLE: &str = "
:root { color-scheme: light dark; --s0: #c2410c; --s1: #1d4ed8; --s2: #15803d; --s3: #7e22ce; }
@media (prefers-color-scheme: dark) {
  :root { --s0: #fb923c; --s1: #60a5fa; --s2: #4ade80; --s3: #c084fc; }
}
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1320px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #8886; padding: .3em .7em; text-align: right; vertical-align: top; }
th:first-child, td:first-child, td.words { text-align: left; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(420px, 1fr)); gap: 1em; }
svg { width: 100%; height: auto; font: 10px system-ui, sans-serif; }
svg text { fill: currentColor; } .grid { stroke: #8884; stroke-width: 1; }
.line { fill: none; stroke-width: 1.8; stroke-linecap: round; }
.line.s0 { stroke: var(--s0); } .line.s1 { stroke: var(--s1); }
.line.s2 { stroke: var(--s2); } .line.s3 { stroke: var(--s3); }
.bar.s0 { fill: var(--s0); } .bar.s1 { fill: var(--s1); }
.bar.s2 { fill: var(--s2); } .bar.s3 { fill: var(--s3); }
";

pub(super) fn page(result: &Result) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>Basalt: measured loads</title>\n<style>{STYLE}</style></head>\n<body>\n\
         <h1>Basalt {}: {}</h1>\n",
        escaped(&result.version),
        escaped(&result.what)
    );
    setup(&mut page, result);
    table(&mut page, result);
    published(&mut page, result);
    page.push_str("<h2>CPU time</h2>\n<div class=\"charts\">\n");
    page += &cpu_chart(result);
    page.push_str("</div>\n");
    for job in &result.jobs {
        charts(&mut page, result, job);
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn setup(page: &mut String, result: &Result) {
    page.push_str("<table>\n");
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

/// Ours, the peers of this machine, and what others published, load by load.
fn table(page: &mut String, result: &Result) {
    page.push_str("<h2>Results</h2>\n<table>\n<tr><th>Load</th>");
    for side in &result.sides {
        page.push_str(&format!("<th>{}</th>", escaped(side.name)));
    }
    for one in &result.published {
        page.push_str(&format!("<th>{}, as published, on 12 servers</th>", escaped(one.who)));
    }
    page.push_str("</tr>\n");
    for job in &result.jobs {
        let (name, what) = (escaped(job.name), escaped(&job.what));
        page.push_str(&format!("<tr><td>{name}<br><small>{what}</small></td>"));
        for side in &job.results {
            page.push_str(&format!("<td>{}</td>", cell(job, side)));
        }
        let there = result.published_of(job.name);
        for one in &result.published {
            let found = there.iter().find(|(who, _)| *who == one.who);
            let text = found.map_or("not known", |(_, text)| text);
            page.push_str(&format!("<td>{}</td>", escaped(text)));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn cell(job: &JobResult, side: &SideResult) -> String {
    format!(
        "<b>{}</b><br><small>mean {:.0} us, p99 {:.0} us<br>{:.1} CPU us per request</small>",
        escaped(&side.headline(job.metric)),
        side.mean_us,
        side.percentile_us(99.0),
        side.server_cpu_us
    )
}

/// Absolute figures of different hardware are no comparison; that is said with both spelled out.
fn published(page: &mut String, result: &Result) {
    page.push_str("<h2>What was measured on what</h2>\n<table>\n");
    page.push_str("<tr><th>Whose</th><th>What</th><th>Hardware</th><th>Source</th></tr>\n");
    let row = |page: &mut String, cells: [&str; 4]| {
        page.push_str("<tr>");
        for text in cells {
            page.push_str(&format!("<td class=\"words\">{}</td>", escaped(text)));
        }
        page.push_str("</tr>\n");
    };
    let machine = format!("one machine for all nodes and all loads: {}", result.machine.line());
    row(page, ["Basalt, here", &result.setup(), &machine, "this report"]);
    for one in &result.published {
        let source = format!("{}. {}", one.source, one.remark);
        row(page, [one.who, one.what, one.hardware, &source]);
    }
    page.push_str("</table>\n");
    page.push_str(
        "<p>Published figures come from other hardware: they show the form of the test, and what \
         its field calls fast. To compare systems, compare those that ran here.</p>\n",
    );
}

fn cpu_chart(result: &Result) -> String {
    let names: Vec<&str> = result.sides.iter().map(|side| side.name).collect();
    let groups: Vec<(&str, Vec<f64>)> = result
        .jobs
        .iter()
        .map(|job| (job.name, job.results.iter().map(|side| side.server_cpu_us).collect()))
        .collect();
    let titles = Titles { chart: "CPU time of all servers", unit: "us per request, logarithmic" };
    bars(&titles, &names, &groups)
}

fn charts(page: &mut String, result: &Result, job: &JobResult) {
    let of = |points: &dyn Fn(&SideResult) -> Points| -> Vec<Line> {
        let sides = job.results.iter().zip(&result.sides);
        sides.map(|(one, side)| Line { name: side.name.to_owned(), points: points(one) }).collect()
    };
    let rates = of(&|one| one.series.iter().map(|at| (at.seconds, Some(at.iops))).collect());
    let means = of(&|one| one.series.iter().map(|at| (at.seconds, at.mean_us)).collect());
    let curves = of(&|one| one.percentiles_us.iter().map(|(x, y)| (*x, Some(*y))).collect());
    let (name, what) = (escaped(job.name), escaped(&job.what));
    page.push_str(&format!("<h2>{name}: {what}</h2>\n<div class=\"charts\">\n"));
    let rate = Titles { chart: "requests of all loads", unit: "per s" };
    *page += &lines(&rate, Across::Seconds, Upwards::FromZero, &rates);
    let mean = Titles { chart: "mean latency", unit: "us" };
    *page += &lines(&mean, Across::Seconds, Upwards::FromZero, &means);
    let curve =
        Titles { chart: "latency that so many requests stay below", unit: "us, logarithmic" };
    *page += &lines(&curve, Across::Percentiles, Upwards::Logarithmic, &curves);
    page.push_str("</div>\n");
}
