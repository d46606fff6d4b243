//! The screen: the node, sums, a table of volumes or nodes, more of the chosen row, the keys.
//!
//! Nothing is cut without a word. Lines wrap, or show as many of their parts as have room; of the
//! chosen row the last line tells how many more there are. Where the daemon owes an answer, the
//! second line says so, and all that is old is dimmed.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;
use stdx::time::Time;

use crate::top::cells::{age, amount, figure, node_row, peer_row, volume_row};
use crate::top::columns::{self, Columns, OF_NODES, OF_PEERS};
use crate::top::lines::{bad, bold, cells, fitted, in_lines, old, reversed, shortened, wrapped};
use crate::top::nodes::{self, Node};
use crate::top::rows::{self, Look, Peer, Rates, Totals, Volume};
use crate::top::sentence::Sentence;
use crate::top::wishes::{Page, Wishes};
use crate::top::{State, help, keys};

/// The table keeps its head and so many rows, whatever there is to say of the chosen one.
const ROWS_MIN: usize = 5;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, now: Time, wishes: &mut Wishes) {
    let screen = frame.area();
    let trouble = state.trouble(now);
    let trouble = trouble.map_or_else(Vec::new, |it| wrapped("", &it.to_string(), screen.width));
    let volumes = state.now.as_ref().map(|look| {
        let volumes = rows::volumes(look, state.before.as_ref(), wishes);
        let totals = rows::totals(&volumes);
        (look, volumes, totals)
    });
    let sums = volumes.as_ref().map_or_else(Vec::new, |it| sum_lines(&it.2, screen.width));
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(length(trouble.len()).min(screen.height / 3)),
        Constraint::Length(length(sums.len().max(1))),
        Constraint::Fill(1),
        Constraint::Length(1),
    ]);
    let [head, told, sum, body, foot] = areas.areas(screen);
    let has_trouble = !trouble.is_empty();
    frame.render_widget(Paragraph::new(headline(state, now, screen.width)).style(bold()), head);
    frame.render_widget(paragraph(trouble, reversed().patch(bad())), told);
    if let Some((look, volumes, totals)) = &volumes {
        let style = if totals.with_reasons > 0 { bad() } else { Style::new() };
        frame.render_widget(paragraph(sums, style), sum);
        match wishes.page {
            Page::Volumes => draw_volumes(frame, body, (*look, volumes.as_slice()), wishes),
            Page::Nodes => draw_nodes(frame, body, &nodes::nodes(look, wishes), wishes),
        }
    }
    if has_trouble {
        frame.buffer_mut().set_style(sum.union(body), old());
    }
    frame.render_widget(Paragraph::new(keys::last_line(wishes, foot.width)), foot);
    help::draw(frame, wishes);
}

fn draw_volumes(
    frame: &mut Frame<'_>,
    area: Rect,
    (look, volumes): (&Look, &[Volume]),
    wishes: &mut Wishes,
) {
    let place = wishes.choose(volumes.iter().map(|volume| volume.name.as_str()));
    let Some(place) = place else { return draw_nothing(frame, area, wishes) };
    let volume = &volumes[place];
    let verify = rows::verify(look, volume);
    let detail = Detail {
        title: title(&volume.name, (place, volumes.len()), area.width),
        peers: rows::peers(look, volume),
        lines: reason_lines(&volume.reasons, area.width)
            .into_iter()
            .chain(verify.iter().flat_map(|it| lines("  ", it, area.width, Style::new())))
            .collect(),
        resource: volume.resource.clone(),
    };
    let rest = detail.draw(frame, area, volumes.len());
    let columns = Columns::new(columns::of_volumes(area.width), area.width);
    let rows = volumes.iter().map(|volume| volume_row(volume, &columns));
    wishes.room = rest.height.saturating_sub(1);
    let table = columns.table(rows).row_highlight_style(reversed());
    frame.render_stateful_widget(table, rest, &mut wishes.scroll);
}

fn draw_nodes(frame: &mut Frame<'_>, area: Rect, nodes: &[Node], wishes: &mut Wishes) {
    let place = wishes.choose(nodes.iter().map(|node| node.name.as_str()));
    let Some(place) = place else { return draw_nothing(frame, area, wishes) };
    let node = &nodes[place];
    let (resource, reason) = node.reason.clone().unzip();
    let detail = Detail {
        title: title(&node.name, (place, nodes.len()), area.width),
        peers: Vec::new(),
        lines: reason_lines(reason.as_slice(), area.width),
        resource: resource.unwrap_or_default(),
    };
    let rest = detail.draw(frame, area, nodes.len());
    let columns = Columns::new(&OF_NODES, area.width);
    let rows = nodes.iter().map(|node| node_row(node, &columns));
    wishes.room = rest.height.saturating_sub(1);
    let table = columns.table(rows).row_highlight_style(reversed());
    frame.render_stateful_widget(table, rest, &mut wishes.scroll);
}

/// In the place of a table without rows.
fn draw_nothing(frame: &mut Frame<'_>, area: Rect, wishes: &Wishes) {
    let sentence = match wishes.filter.as_str() {
        "" => Sentence::NothingUp,
        filter => Sentence::NoneMatches { filter: filter.to_owned() },
    };
    let lines = wrapped("", &sentence.to_string(), area.width);
    frame.render_widget(paragraph(lines, Style::new()), area);
}

/// More of the chosen row, below the table.
struct Detail {
    title: Vec<String>,
    peers: Vec<Peer>,
    /// Its reasons, and what else there is to say.
    lines: Vec<Line<'static>>,
    /// Where it has no room, `explain` of this one tells the rest.
    resource: String,
}

impl Detail {
    /// Draws it at the bottom of an area whose table has so many rows; the rest is the table's.
    fn draw(self, frame: &mut Frame<'_>, area: Rect, rows: usize) -> Rect {
        let height = usize::from(area.height);
        // Half is for the chosen row, and more if its reasons ask for it.
        let table = (rows.min(ROWS_MIN) + 1).min(height / 2);
        let room = height - table;
        let Self { title, peers, mut lines, resource } = self;
        let mut peer_lines = if peers.is_empty() { 0 } else { peers.len() + 1 };
        if title.len() + peer_lines + lines.len() > room {
            let all = peer_lines + lines.len();
            let more = |lines| {
                let sentence = Sentence::More { lines, resource: resource.clone() };
                self::lines("", &sentence.to_string(), area.width, bad())
            };
            let shown = room.saturating_sub(title.len() + more(all).len());
            peer_lines = peer_lines.min((shown / 2).max(shown.saturating_sub(lines.len())));
            lines.truncate(shown - peer_lines);
            lines.extend(more(all - peer_lines - lines.len()));
        }
        let areas = Layout::vertical([
            Constraint::Fill(1),
            Constraint::Length(length(title.len()).min(area.height / 2)),
            Constraint::Length(length(peer_lines)),
            Constraint::Length(length(lines.len())),
        ]);
        let [rest, upper, middle, lower] = areas.areas(area);
        frame.render_widget(paragraph(title, bold()), upper);
        let columns = Columns::new(&OF_PEERS, area.width);
        let rows = peers.iter().map(|peer| peer_row(peer, &columns));
        frame.render_widget(columns.table(rows), middle);
        frame.render_widget(Paragraph::new(lines), lower);
        rest
    }
}

fn reason_lines(reasons: &[String], width: u16) -> Vec<Line<'static>> {
    reasons.iter().flat_map(|reason| lines("! ", reason, width, bad())).collect()
}

fn lines(mark: &str, text: &str, width: u16, style: Style) -> Vec<Line<'static>> {
    wrapped(mark, text, width).into_iter().map(|line| Line::styled(line, style)).collect()
}

/// The whole name of the chosen row, and its place among all.
fn title(name: &str, (place, rows): (usize, usize), width: u16) -> Vec<String> {
    let parts = [format!("-- {name}"), format!("-- {} of {rows}", place + 1)];
    let whole = |line: String| {
        if cells(&line) > usize::from(width) { wrapped("", &line, width) } else { vec![line] }
    };
    in_lines(&parts, width).into_iter().flat_map(whole).collect()
}

fn headline(state: &State, now: Time, width: u16) -> String {
    let Some(Look { at, status }) = &state.now else { return Sentence::Waiting.to_string() };
    let node = &status.node;
    let age_of_rows =
        state.trouble(now).map(|_| format!("as of {} ago", age(now.since(*at).as_secs())));
    let name = [shortened(&node.name, usize::from(width) / 2)];
    let rest = [
        format!("basalt {}", node.version),
        format!("resources {}", status.resources.len()),
        format!("up {}", age(node.uptime_ms / 1000)),
        node.io_backend.clone(),
    ];
    let parts: Vec<String> = name.into_iter().chain(age_of_rows).chain(rest).collect();
    fitted(&parts, width)
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn sum_lines(totals: &Totals, width: u16) -> Vec<String> {
    let Totals { rates, in_flight, out_of_sync_kib, with_reasons } = totals;
    let Rates { writes, read_kib, written_kib, latency_us } = *rates;
    let parts = [
        format!("reasons {with_reasons}"),
        format!("writes/s {}", figure(Some(writes))),
        format!("us {}", figure(latency_us)),
        format!("read {}/s", amount(read_kib)),
        format!("write {}/s", amount(written_kib)),
        format!("in flight {in_flight}"),
        format!("misses {}", amount(*out_of_sync_kib as f64)),
    ];
    in_lines(&parts, width)
}

fn paragraph(lines: Vec<String>, style: Style) -> Paragraph<'static> {
    Paragraph::new(lines.into_iter().map(Line::from).collect::<Vec<_>>()).style(style)
}

fn length(lines: usize) -> u16 {
    u16::try_from(lines).unwrap_or(u16::MAX)
}
