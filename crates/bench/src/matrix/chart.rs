//! Charts as inline SVG: lines over a horizontal axis, and groups of bars.
//!
//! A chart is a text that a page holds as it is: no script, no style sheet, nothing to load. What
//! colours the series have is said by classes, and decided by the page.

use std::fmt::Write;

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 34.0;
/// About so many lines across.
const TICKS: f64 = 5.0;

/// Ascending in the first; a gap where the second is not known.
pub(super) type Points = Vec<(f64, Option<f64>)>;

#[derive(Debug)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) points: Points,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Across {
    /// From zero on.
    Seconds,
    /// Percent of requests; each further nine takes the same room.
    Percentiles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upwards {
    FromZero,
    /// Each factor of ten takes the same room.
    Logarithmic,
}

#[derive(Debug)]
pub(super) struct Titles<'a> {
    pub(super) chart: &'a str,
    pub(super) unit: &'a str,
}

pub(super) fn lines(
    titles: &Titles<'_>,
    across: Across,
    upwards: Upwards,
    lines: &[Line],
) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let known = || points().filter_map(|(_, y)| *y);
    let most = known().fold(0.0, f64::max);
    let least = known().filter(|y| *y > 0.0).fold(f64::INFINITY, f64::min);
    let scale = Scale::new(upwards, least, most);
    let last = points().map(|(x, _)| *x).fold(0.0, f64::max);
    let horizontal = |x: f64| {
        let share = match across {
            Across::Seconds => x / last.max(f64::MIN_POSITIVE),
            Across::Percentiles => nines(x) / nines(last),
        };
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    };
    let mut svg = open(titles);
    scale.draw(&mut svg);
    let labels: Vec<(f64, String)> = match across {
        Across::Seconds => ticks(last).into_iter().map(|x| (x, format!("{x} s"))).collect(),
        Across::Percentiles => [50.0, 90.0, 99.0, 99.9, 99.99]
            .into_iter()
            .filter(|x| *x <= last)
            .map(|x| (x, format!("{x} %")))
            .collect(),
    };
    for (x, label) in labels {
        text(&mut svg, (horizontal(x), HEIGHT - BOTTOM + 16.0), "middle", &label);
    }
    for (number, line) in lines.iter().enumerate() {
        for part in line.points.split(|(_, y)| y.is_none()) {
            let known = part.iter().filter_map(|(x, y)| Some((*x, (*y)?)));
            let mut path: Vec<String> = known
                .map(|(x, y)| format!("{:.1},{:.1}", horizontal(x), scale.height(y)))
                .collect();
            match path.len() {
                0 => continue,
                // From itself to itself, or a point between gaps would not be seen.
                1 => path.push(path[0].clone()),
                _ => {}
            }
            let path = path.join(" ");
            writeln!(svg, "<polyline class=\"line s{number}\" points=\"{path}\"/>")
                .expect("writing to a string");
        }
    }
    legend(&mut svg, lines.iter().map(|line| line.name.as_str()));
    svg + "</svg>\n"
}

/// Groups of bars side by side, one bar of each series in each group.
pub(super) fn bars(titles: &Titles<'_>, series: &[&str], groups: &[(&str, Vec<f64>)]) -> String {
    let values = || groups.iter().flat_map(|(_, values)| values);
    let most = values().copied().fold(0.0, f64::max);
    let least = values().copied().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let scale = Scale::new(Upwards::Logarithmic, least, most);
    let mut svg = open(titles);
    scale.draw(&mut svg);
    let room = (WIDTH - LEFT - RIGHT) / float(groups.len().max(1));
    let width = room * 0.8 / float(series.len().max(1));
    for (group, (name, values)) in groups.iter().enumerate() {
        let from = LEFT + room * (float(group) + 0.1);
        for (number, value) in values.iter().enumerate() {
            let (x, y) = (from + width * float(number), scale.height(*value));
            let height = HEIGHT - BOTTOM - y;
            writeln!(
                svg,
                "<rect class=\"bar s{number}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                 height=\"{height:.1}\"><title>{}: {value:.1}</title></rect>",
                width * 0.92,
                escaped(series.get(number).copied().unwrap_or_default())
            )
            .expect("writing to a string");
        }
        text(&mut svg, (from + room * 0.4, HEIGHT - BOTTOM + 16.0), "middle", name);
    }
    legend(&mut svg, series.iter().copied());
    svg + "</svg>\n"
}

/// The vertical axis.
#[derive(Debug)]
struct Scale {
    upwards: Upwards,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(upwards: Upwards, least: f64, most: f64) -> Self {
        match upwards {
            Upwards::FromZero => {
                Self { upwards, from: 0.0, to: if most > 0.0 { most * 1.05 } else { 1.0 } }
            }
            Upwards::Logarithmic if least.is_finite() => {
                let (from, to) = (least.log10().floor(), most.log10().ceil());
                Self { upwards, from, to: to.max(from + 1.0) }
            }
            Upwards::Logarithmic => Self { upwards, from: 0.0, to: 1.0 },
        }
    }

    fn height(&self, y: f64) -> f64 {
        let place = match self.upwards {
            Upwards::FromZero => y,
            // What is not there lies on the ground.
            Upwards::Logarithmic if y <= 0.0 => self.from,
            Upwards::Logarithmic => y.log10(),
        };
        let share = ((place - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }

    fn draw(&self, svg: &mut String) {
        let marks = match self.upwards {
            Upwards::FromZero => ticks(self.to),
            Upwards::Logarithmic => {
                let mut marks = vec![10f64.powf(self.from)];
                while marks.last().is_some_and(|mark| mark.log10() + 0.5 < self.to) {
                    marks.extend(marks.last().map(|mark| mark * 10.0));
                }
                marks
            }
        };
        for mark in marks {
            let y = self.height(mark);
            writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>",
                WIDTH - RIGHT
            )
            .expect("writing to a string");
            text(svg, (LEFT - 6.0, y + 4.0), "end", &short(mark));
        }
    }
}

fn open(titles: &Titles<'_>) -> String {
    let (chart, unit) = (escaped(titles.chart), escaped(titles.unit));
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{chart}, {unit}\">\n"
    );
    text(&mut svg, (4.0, 14.0), "start", &format!("{}, {}", titles.chart, titles.unit));
    svg
}

fn legend<'a>(svg: &mut String, names: impl Iterator<Item = &'a str>) {
    let mut x = LEFT;
    for (number, name) in names.enumerate() {
        let y = HEIGHT - 6.0;
        writeln!(
            svg,
            "<rect class=\"bar s{number}\" x=\"{x:.1}\" y=\"{:.1}\" width=\"10\" height=\"10\"/>",
            y - 9.0
        )
        .expect("writing to a string");
        text(svg, (x + 14.0, y), "start", name);
        // Letters are about so wide.
        x += 24.0 + 5.6 * float(name.chars().count());
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let words = escaped(words);
    writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>")
        .expect("writing to a string");
}

/// Round numbers from zero to `most`: steps of 1, 2 or 5 times a power of ten.
fn ticks(most: f64) -> Vec<f64> {
    if !most.is_finite() || most <= 0.0 {
        return vec![0.0];
    }
    let power = 10f64.powf((most / TICKS).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = steps.into_iter().find(|step| most / step <= TICKS + 1.0).unwrap_or(most);
    let mut ticks = vec![0.0];
    while ticks.len() < 20 {
        let next = float(ticks.len()) * step;
        if next > most * 1.0001 {
            break;
        }
        ticks.push(next);
    }
    ticks
}

/// How many nines a percentage has: 90 has one, 99 two.
fn nines(percent: f64) -> f64 {
    -((1.0 - percent / 100.0).max(1e-9)).log10()
}

fn short(number: f64) -> String {
    match number {
        large if large >= 1e6 => format!("{} M", rounded(large / 1e6)),
        large if large >= 1e3 => format!("{} k", rounded(large / 1e3)),
        small => rounded(small),
    }
}

/// Without zeroes that say nothing.
fn rounded(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
fn float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLES: Titles<'static> = Titles { chart: "a & b", unit: "per s" };

    fn known(points: &[(f64, f64)]) -> Points {
        points.iter().map(|(x, y)| (*x, Some(*y))).collect()
    }

    #[test]
    fn a_line_has_gaps_where_nothing_is_known_and_a_lone_point_is_seen() {
        let points = vec![(0.0, Some(0.0)), (5.0, None), (10.0, Some(100.0))];
        let line = Line { name: "one".to_owned(), points };
        let svg = lines(&TITLES, Across::Seconds, Upwards::FromZero, &[line]);
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        assert!(svg.contains("points=\"596.0,34.6 596.0,34.6\""), "{svg}");
    }

    #[test]
    fn lines_lie_where_their_points_are() {
        let line = Line { name: "one".to_owned(), points: known(&[(0.0, 0.0), (10.0, 100.0)]) };
        let svg = lines(&TITLES, Across::Seconds, Upwards::FromZero, &[line]);
        // From the lower left to the right, 5 % below the top.
        assert!(svg.contains("points=\"70.0,206.0 596.0,34.6\""), "{svg}");
        assert!(svg.contains("a &amp; b") && !svg.contains("a & b"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn percentiles_give_each_nine_the_same_room() {
        let points = known(&[(0.0, 1.0), (90.0, 10.0), (99.0, 100.0)]);
        let line = Line { name: "one".to_owned(), points };
        let svg = lines(&TITLES, Across::Percentiles, Upwards::Logarithmic, &[line]);
        assert!(svg.contains("points=\"70.0,206.0 333.0,116.0 596.0,26.0\""), "{svg}");
    }

    #[test]
    fn a_chart_of_nothing_is_drawn_all_the_same() {
        for upwards in [Upwards::FromZero, Upwards::Logarithmic] {
            let svg = lines(&TITLES, Across::Seconds, upwards, &[]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let svg = bars(&TITLES, &["one"], &[("job", vec![0.0])]);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(1_700.0), [0.0, 500.0, 1_000.0, 1_500.0]);
        assert_eq!(["1.5 k", "200", "0.1", "14.8 M"], [1.5e3, 200.0, 0.1, 14.8e6].map(short));
    }
}
