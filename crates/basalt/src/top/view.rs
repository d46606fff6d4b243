//! The screen: the node, sums, a table of volumes or nodes, more of the chosen row, the keys.
//!
//! The first column has the room that the others leave, so that names are whole where the terminal
//! is wide; in a narrow one a name loses its middle, as its start and its end tell most.

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};

use crate::top::nodes::{self, Node};
use crate::top::rows::{self, Look, Peer, Rates, Totals, Volume};
use crate::top::wishes::{Page, Wishes};
use crate::top::{State, help};

const BAR_CELLS: usize = 10;
/// A terminal of so many columns has the further columns of a table.
const WIDE: u16 = 110;
/// The fewest cells of a name.
const NAME_MIN: u16 = 8;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, wishes: &mut Wishes) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(1),
    ]);
    let [head, sums, body, foot] = areas.areas(frame.area());
    frame.render_widget(Paragraph::new(headline(state)).style(bold()), head);
    if let Some(now) = &state.now {
        let volumes = rows::volumes(now, state.before.as_ref(), wishes);
        frame.render_widget(Paragraph::new(sum_line(&rows::totals(&volumes))), sums);
        match wishes.page {
            Page::Volumes => draw_volumes(frame, body, (now, &volumes), wishes),
            Page::Nodes => draw_nodes(frame, body, &nodes::nodes(now, wishes), wishes),
        }
    }
    frame.render_widget(Paragraph::new(footline(state, wishes)), foot);
    if wishes.has_help {
        help::draw(frame);
    }
}

fn draw_volumes(
    frame: &mut Frame<'_>,
    area: Rect,
    (now, volumes): (&Look, &[Volume]),
    wishes: &mut Wishes,
) {
    let chosen = wishes.choose(volumes.iter().map(|volume| volume.name.as_str()));
    let chosen = chosen.map(|place| &volumes[place]);
    let peers = chosen.map_or_else(Vec::new, |volume| rows::peers(now, &volume.name));
    let reasons = chosen.map_or(&[][..], |volume| &volume.reasons);
    let reasons: Vec<Line<'_>> =
        reasons.iter().flat_map(|reason| reason_lines(reason, area.width)).collect();
    // Half of the screen at most is for the chosen one, so that there is a choice to see.
    let peer_lines = u16::try_from(peers.len() + 1).unwrap_or(u16::MAX).min(area.height / 2);
    let rest = (area.height / 2).saturating_sub(peer_lines);
    let reason_lines = u16::try_from(reasons.len()).unwrap_or(u16::MAX).min(rest);
    let areas = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(peer_lines),
        Constraint::Length(reason_lines),
    ]);
    let [upper, middle, lower] = areas.areas(area);
    let columns = Columns::new(volume_columns(area.width), area.width);
    let rows = volumes.iter().map(|volume| volume_row(volume, &columns));
    wishes.room = upper.height.saturating_sub(1);
    let table = columns.table(rows).row_highlight_style(reversed());
    frame.render_stateful_widget(table, upper, &mut wishes.scroll);
    let columns = Columns::new(&PEER_COLUMNS, area.width);
    let rows = peers.iter().map(|peer| peer_row(peer, &columns));
    frame.render_widget(columns.table(rows), middle);
    frame.render_widget(Paragraph::new(reasons), lower);
}

fn draw_nodes(frame: &mut Frame<'_>, area: Rect, nodes: &[Node], wishes: &mut Wishes) {
    let chosen = wishes.choose(nodes.iter().map(|node| node.name.as_str()));
    let reason = chosen.and_then(|place| nodes[place].reason.as_ref());
    let reason = reason.map_or_else(Vec::new, |reason| reason_lines(reason, area.width));
    let lines = u16::try_from(reason.len()).unwrap_or(u16::MAX);
    let areas =
        Layout::vertical([Constraint::Fill(1), Constraint::Length(lines.min(area.height / 2))]);
    let [upper, lower] = areas.areas(area);
    let columns = Columns::new(&NODE_COLUMNS, area.width);
    let rows = nodes.iter().map(|node| node_row(node, &columns));
    wishes.room = upper.height.saturating_sub(1);
    let table = columns.table(rows).row_highlight_style(reversed());
    frame.render_stateful_widget(table, upper, &mut wishes.scroll);
    frame.render_widget(Paragraph::new(reason), lower);
}

fn headline(state: &State) -> Line<'static> {
    let Some(Look { status, .. }) = &state.now else {
        return Line::from("basalt top: waiting for the daemon");
    };
    let node = &status.node;
    Line::from(format!(
        "{}  basalt {}  {}  up {}  resources {}",
        node.name,
        node.version,
        node.io_backend,
        age(node.uptime_ms / 1000),
        status.resources.len()
    ))
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn sum_line(totals: &Totals) -> Line<'static> {
    let Totals { rates, in_flight, out_of_sync_kib, with_reasons } = totals;
    let style = if *with_reasons > 0 { bad() } else { Style::new() };
    let text = format!(
        "reasons {with_reasons}  writes/s {:.0}  us {}  read {}/s  write {}/s  \
         in flight {in_flight}  misses {}",
        rates.writes,
        figure(rates.latency_us),
        amount(rates.read_kib),
        amount(rates.written_kib),
        amount(*out_of_sync_kib as f64),
    );
    Line::styled(text, style)
}

fn footline(state: &State, wishes: &Wishes) -> Line<'static> {
    if let Some(failure) = &state.failure {
        return Line::styled(failure.clone(), Style::new().fg(Color::Red));
    }
    if wishes.is_typing {
        return Line::from(format!("filter: {}_", wishes.filter));
    }
    let direction = if wishes.is_reversed { " reversed" } else { "" };
    let filter = match wishes.filter.as_str() {
        "" => String::new(),
        text => format!("filter: {text} (Esc ends it)  "),
    };
    let order = wishes.order.word();
    let other = match wishes.page {
        Page::Volumes => "n nodes",
        Page::Nodes => "n volumes",
    };
    Line::from(format!(
        "{filter}q quit  ? help  {other}  s sort: {order}{direction}  r reverse  / filter"
    ))
}

/// Heads and widths of the columns behind the first, whose head is the first one here.
struct Columns {
    heads: Vec<&'static str>,
    widths: Vec<u16>,
}

impl Columns {
    /// In a terminal of so many columns.
    fn new(columns: &[(&'static str, u16)], width: u16) -> Self {
        let (heads, mut widths): (Vec<_>, Vec<u16>) = columns.iter().copied().unzip();
        let others: u16 = widths[1..].iter().map(|width| width + 1).sum();
        widths[0] = width.saturating_sub(others).max(NAME_MIN);
        Self { heads, widths }
    }

    fn table<'a>(&self, rows: impl Iterator<Item = Row<'a>>) -> Table<'a> {
        let widths = self.widths.iter().copied().map(Constraint::Length);
        Table::new(rows, widths).header(Row::new(self.heads.clone()).style(bold()))
    }

    /// A name, and a mark behind it, in the room of the first column.
    fn name(&self, name: &str, mark: &str) -> Cell<'static> {
        Cell::from(shortened(name, usize::from(self.widths[0]) - mark.len()) + mark)
    }
}

/// A reason in lines of so many cells, which end between words.
fn reason_lines(reason: &str, width: u16) -> Vec<Line<'static>> {
    let mut lines = vec!["!".to_owned()];
    for word in reason.split_whitespace() {
        let line = lines.last_mut().expect("there is a first one");
        if line.len() + 1 + word.len() > usize::from(width) && line.len() > 1 {
            lines.push(format!("  {word}"));
        } else {
            line.push(' ');
            line.push_str(word);
        }
    }
    lines.into_iter().map(|line| Line::styled(line, bad())).collect()
}

/// A name in at most so many cells, without its middle where it is longer. Names are ASCII.
fn shortened(name: &str, cells: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= cells {
        return name.to_owned();
    }
    let kept = cells.saturating_sub(2);
    let start = kept.div_ceil(2);
    let end = letters.len() - (kept - start);
    letters[..start].iter().chain(&['.', '.']).chain(&letters[end..]).collect()
}

const VOLUME_COLUMNS: [(&str, u16); 12] = [
    ("VOLUME", 0),
    ("ROLE", 9),
    ("DISK", 12),
    ("QUORUM", 6),
    ("WR/s", 7),
    ("READ/s", 6),
    ("WRITE/s", 7),
    ("us", 6),
    ("INFL", 4),
    ("MISSES", 6),
    ("SIZE", 5),
    ("OPEN", 4),
];
/// Those of `VOLUME_COLUMNS` that a narrow terminal has.
const VOLUME_COLUMNS_NARROW: usize = 9;

const PEER_COLUMNS: [(&str, u16); 7] = [
    ("PEER", 0),
    ("CONNECTION", 14),
    ("TLS", 3),
    ("DISK", 12),
    ("MISSES", 6),
    ("RESYNC", 15),
    ("LEFT", 6),
];

const NODE_COLUMNS: [(&str, u16); 7] = [
    ("NODE", 0),
    ("CONNECTED", 11),
    ("PRIMARY", 7),
    ("REPLICAS", 8),
    ("UPTODATE", 8),
    ("MISSES", 6),
    ("RESYNCS", 7),
];

fn volume_columns(width: u16) -> &'static [(&'static str, u16)] {
    let count = if width < WIDE { VOLUME_COLUMNS_NARROW } else { VOLUME_COLUMNS.len() };
    &VOLUME_COLUMNS[..count]
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn volume_row(volume: &Volume, columns: &Columns) -> Row<'static> {
    let rate = |of: fn(&Rates) -> f64| volume.rates.as_ref().map(of);
    let traffic = |of| rate(of).map_or_else(|| "-".to_owned(), amount);
    let mark = if volume.reasons.is_empty() { "" } else { "!" };
    // A narrow terminal has no columns for the last cells.
    Row::new([
        columns.name(&volume.name, mark),
        Cell::from(volume.role.to_string()),
        disk_cell(volume.disk),
        if volume.has_quorum { Cell::from("yes") } else { Cell::from("no").style(bad()) },
        Cell::from(figure(rate(|it| it.writes))),
        Cell::from(traffic(|it| it.read_kib)),
        Cell::from(traffic(|it| it.written_kib)),
        Cell::from(figure(volume.rates.and_then(|it| it.latency_us))),
        Cell::from(volume.in_flight.to_string()),
        Cell::from(amount(volume.out_of_sync_kib as f64)),
        Cell::from(amount(volume.size_kib as f64)),
        Cell::from(if volume.is_open { "yes" } else { "no" }),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn peer_row(peer: &Peer, columns: &Columns) -> Row<'static> {
    let is_connected = peer.connection == ConnectionState::Connected;
    let connection = if is_connected { Style::new() } else { bad() };
    let resync = peer.done_percent.map_or_else(|| peer.replication.to_string(), bar);
    Row::new([
        columns.name(&peer.name, ""),
        Cell::from(peer.connection.to_string()).style(connection),
        Cell::from(if peer.has_tls { "yes" } else { "no" }),
        disk_cell(peer.disk),
        Cell::from(amount(peer.out_of_sync_kib as f64)),
        Cell::from(resync),
        Cell::from(peer.seconds_left.map_or_else(String::new, age)),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn node_row(node: &Node, columns: &Columns) -> Row<'static> {
    let part = |count: usize, of: usize| {
        let style = if count < of { bad() } else { Style::new() };
        Cell::from(format!("{count}/{of}")).style(style)
    };
    Row::new([
        columns.name(&node.name, if node.is_own { " *" } else { "" }),
        part(node.connected, node.resources),
        Cell::from(node.primaries.to_string()),
        Cell::from(node.replicas.to_string()),
        part(node.up_to_date, node.replicas),
        Cell::from(amount(node.out_of_sync_kib as f64)),
        Cell::from(node.resyncs.to_string()),
    ])
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |it| format!("{it:.0}"))
}

fn disk_cell(disk: DiskState) -> Cell<'static> {
    let is_well = matches!(disk, DiskState::UpToDate | DiskState::Diskless);
    Cell::from(disk.to_string()).style(if is_well { Style::new() } else { bad() })
}

/// `####______ 42%`
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a percentage between 0 and 100"
)]
fn bar(percent: f64) -> String {
    let filled = ((percent.clamp(0.0, 100.0) / 100.0) * BAR_CELLS as f64) as usize;
    format!("{}{} {percent:.0}%", "#".repeat(filled), "_".repeat(BAR_CELLS - filled))
}

/// Of KiB, in four digits or fewer.
fn amount(kib: f64) -> String {
    let units = ["K", "M", "G", "T"];
    let mut value = kib;
    for unit in units {
        if value < 1000.0 {
            return format!("{value:.0}{unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.0}P")
}

fn age(seconds: u64) -> String {
    let time = Duration::from_secs(seconds);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, time.as_secs() / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, ..) => format!("{hours}h{minutes:02}m"),
        _ => format!("{days}d{hours:02}h"),
    }
}

/// What is not as it should be stands out.
fn bad() -> Style {
    Style::new().fg(Color::Red)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn reversed() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}
