//! Charts as inline SVG: lines over a horizontal axis, and groups of bars.
//!
//! A chart is a text that a page holds as it is: no script, no style sheet, nothing to load. What
//! colours the series have is said by classes, and decided by the page, which also says which
//! series is which.

use std::fmt::Write;

use super::figures::{short, short_latency};

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 34.0;
/// About so many lines across.
const TICKS: f64 = 5.0;
/// Letters are about so wide, and lines so high.
const LETTER: f64 = 5.6;
const LINE: f64 = 11.0;
/// Of the line that crosses the end of a range, to each side.
const RANGE_END: f64 = 4.0;

/// Ascending in the first; a gap where the second is not known.
pub(super) type Points = Vec<(f64, Option<f64>)>;

#[derive(Debug)]
pub(super) struct Line {
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
    /// None where each figure has its own, as times do.
    pub(super) unit: Option<&'a str>,
    pub(super) figures: Figures,
}

/// What the figures at the vertical axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figures {
    Numbers,
    /// Microseconds, which are told in the unit that fits.
    Times,
}

/// One bar, and the least and the most of its rounds where there were several.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    pub(super) value: f64,
    pub(super) range: Option<(f64, f64)>,
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
    scale.draw(&mut svg, titles.figures);
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
    svg + "</svg>\n"
}

/// Groups of bars side by side, one bar of each series in each group.
pub(super) fn bars(
    titles: &Titles<'_>,
    upwards: Upwards,
    series: &[&str],
    groups: &[(&str, Vec<Bar>)],
) -> String {
    let all = || groups.iter().flat_map(|(_, bars)| bars);
    let ends = |bar: &Bar| {
        let (least, most) = bar.range.unwrap_or((bar.value, bar.value));
        [bar.value, least, most]
    };
    let values = || all().flat_map(ends);
    let most = values().fold(0.0, f64::max);
    let least = values().filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    let scale = Scale::new(upwards, least, most);
    let mut svg = open(titles);
    scale.draw(&mut svg, titles.figures);
    let room = (WIDTH - LEFT - RIGHT) / float(groups.len().max(1));
    let width = room * 0.8 / float(series.len().max(1));
    for (group, (name, bars)) in groups.iter().enumerate() {
        let from = LEFT + room * (float(group) + 0.1);
        for (number, bar) in bars.iter().enumerate() {
            let (x, y) = (from + width * float(number), scale.height(bar.value));
            let height = HEIGHT - BOTTOM - y;
            writeln!(
                svg,
                "<rect class=\"bar s{number}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                 height=\"{height:.1}\"><title>{}: {}</title></rect>",
                width * 0.92,
                escaped(series.get(number).copied().unwrap_or_default()),
                titles.figures.text(bar.value)
            )
            .expect("writing to a string");
            if let Some(range) = bar.range {
                draw_range(&mut svg, &scale, x + width * 0.46, range);
            }
        }
        label(&mut svg, (from + room * 0.4, HEIGHT - BOTTOM + 14.0), room, name);
    }
    svg + "</svg>\n"
}

/// From the least to the most of the rounds.
fn draw_range(svg: &mut String, scale: &Scale, x: f64, (least, most): (f64, f64)) {
    let (low, high) = (scale.height(least), scale.height(most));
    let (left, right) = (x - RANGE_END, x + RANGE_END);
    writeln!(
        svg,
        "<path class=\"range\" d=\"M{left:.1} {high:.1}H{right:.1}M{x:.1} {high:.1}V{low:.1}\
         M{left:.1} {low:.1}H{right:.1}\"/>"
    )
    .expect("writing to a string");
}

/// The name of a group; one that is wider than its room goes on below, behind a hyphen.
fn label(svg: &mut String, (x, y): (f64, f64), room: f64, name: &str) {
    let is_wide = LETTER * float(name.chars().count()) > room;
    match name.split_once('-').filter(|_| is_wide) {
        Some((first, rest)) => {
            text(svg, (x, y), "middle", &format!("{first}-"));
            text(svg, (x, y + LINE), "middle", rest);
        }
        None => text(svg, (x, y), "middle", name),
    }
}

impl Figures {
    fn text(self, number: f64) -> String {
        match self {
            Self::Numbers => short(number),
            Self::Times => short_latency(number),
        }
    }
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

    fn draw(&self, svg: &mut String, figures: Figures) {
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
            text(svg, (LEFT - 6.0, y + 4.0), "end", &figures.text(mark));
        }
    }
}

fn open(titles: &Titles<'_>) -> String {
    let unit = titles.unit.map_or_else(String::new, |unit| format!(", {unit}"));
    let title = escaped(&format!("{}{unit}", titles.chart));
    let mut svg =
        format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{title}\">\n");
    text(&mut svg, (4.0, 14.0), "start", &format!("{}{unit}", titles.chart));
    svg
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

    const TITLES: Titles<'static> =
        Titles { chart: "a & b", unit: Some("per s"), figures: Figures::Numbers };
    const TIMES: Titles<'static> = Titles { chart: "a & b", unit: None, figures: Figures::Times };

    fn known(points: &[(f64, f64)]) -> Points {
        points.iter().map(|(x, y)| (*x, Some(*y))).collect()
    }

    fn one_bar(value: f64, range: Option<(f64, f64)>) -> Vec<Bar> {
        vec![Bar { value, range }]
    }

    /// Where texts begin and end, by the line that they stand in.
    fn texts(svg: &str) -> Vec<(f64, f64, f64)> {
        let number = |line: &str, name: &str| -> f64 {
            let rest = line.split_once(&format!(" {name}=\"")).unwrap().1;
            rest.split_once('"').unwrap().0.parse().unwrap()
        };
        let lines = svg.lines().filter(|line| line.starts_with("<text "));
        let text = |line: &str| {
            let words = line.split_once('>').unwrap().1.trim_end_matches("</text>");
            let (x, width) = (number(line, "x"), LETTER * float(words.chars().count()));
            let from = match line {
                middle if middle.contains("\"middle\"") => x - width / 2.0,
                end if end.contains("\"end\"") => x - width,
                _ => x,
            };
            (number(line, "y"), from, from + width)
        };
        lines.map(text).collect()
    }

    fn assert_texts_apart(svg: &str) {
        let texts = texts(svg);
        for (index, (y, from, to)) in texts.iter().enumerate() {
            assert!(*from >= 0.0 && *to <= WIDTH && *y <= HEIGHT, "{from} to {to} in {svg}");
            for (other_y, other_from, other_to) in &texts[index + 1..] {
                let is_apart =
                    (y - other_y).abs() >= LINE - 1.0 || to <= other_from || other_to <= from;
                assert!(is_apart, "{from} to {to} at {y}, {other_from} at {other_y}: {svg}");
            }
        }
    }

    /// The names of the loads lay over each other.
    #[test]
    fn texts_of_a_chart_stand_apart() {
        let jobs = crate::matrix::jobs::JOBS;
        let groups: Vec<(&str, Vec<Bar>)> =
            jobs.iter().map(|job| (job.name, one_bar(15.4, Some((14.0, 20_000.0))))).collect();
        assert_texts_apart(&bars(&TIMES, Upwards::Logarithmic, &["one"], &groups));
        for last in [1.0, 10.0, 29.75, 3600.0] {
            let points = known(&[(0.0, 10.0), (last, 14.8e6)]);
            let line = Line { points };
            for upwards in [Upwards::FromZero, Upwards::Logarithmic] {
                let line = Line { points: line.points.clone() };
                assert_texts_apart(&lines(&TIMES, Across::Seconds, upwards, &[line]));
            }
        }
        let points = known(&[(1.0, 10.0), (99.99, 1e6)]);
        let curve = lines(&TIMES, Across::Percentiles, Upwards::Logarithmic, &[Line { points }]);
        assert_texts_apart(&curve);
        assert!(curve.contains(">100 us<") && curve.contains(">10 ms<"), "{curve}");
    }

    #[test]
    fn range_of_the_rounds_is_drawn_over_its_bar() {
        let groups = [("job", one_bar(50.0, Some((0.0, 100.0)))), ("other", one_bar(1.0, None))];
        let svg = bars(&TITLES, Upwards::FromZero, &["one"], &groups);
        assert_eq!(svg.matches("class=\"range\"").count(), 1, "{svg}");
        assert!(svg.contains("V206.0M") && svg.contains(" 34.6H"), "from the ground to 100: {svg}");
        assert!(svg.contains("<title>one: 50</title>"), "{svg}");
    }

    #[test]
    fn a_line_has_gaps_where_nothing_is_known_and_a_lone_point_is_seen() {
        let points = vec![(0.0, Some(0.0)), (5.0, None), (10.0, Some(100.0))];
        let svg = lines(&TITLES, Across::Seconds, Upwards::FromZero, &[Line { points }]);
        assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
        assert!(svg.contains("points=\"596.0,34.6 596.0,34.6\""), "{svg}");
    }

    #[test]
    fn lines_lie_where_their_points_are() {
        let line = Line { points: known(&[(0.0, 0.0), (10.0, 100.0)]) };
        let svg = lines(&TITLES, Across::Seconds, Upwards::FromZero, &[line]);
        // From the lower left to the right, 5 % below the top.
        assert!(svg.contains("points=\"70.0,206.0 596.0,34.6\""), "{svg}");
        assert!(svg.contains("a &amp; b") && !svg.contains("a & b"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn percentiles_give_each_nine_the_same_room() {
        let line = Line { points: known(&[(0.0, 1.0), (90.0, 10.0), (99.0, 100.0)]) };
        let svg = lines(&TITLES, Across::Percentiles, Upwards::Logarithmic, &[line]);
        assert!(svg.contains("points=\"70.0,206.0 333.0,116.0 596.0,26.0\""), "{svg}");
    }

    #[test]
    fn a_chart_of_nothing_is_drawn_all_the_same() {
        for upwards in [Upwards::FromZero, Upwards::Logarithmic] {
            let svg = lines(&TITLES, Across::Seconds, upwards, &[]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let svg = bars(&TITLES, upwards, &["one"], &[("job", one_bar(0.0, None))]);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(ticks(1_700.0), [0.0, 500.0, 1_000.0, 1_500.0]);
    }
}
