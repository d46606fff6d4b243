//! The screen: a line about the node, its volumes, their peers, and a line about the keys.

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Table};

use crate::top::rows::{self, Look, Peer, Volume};
use crate::top::{State, Wishes};

const BAR_CELLS: usize = 10;
/// Of the lines for both tables, those of the peers.
const PEERS_PERCENT: u16 = 50;

pub(super) fn draw(frame: &mut Frame<'_>, state: &State, wishes: &mut Wishes) {
    let areas = Layout::vertical([
        Constraint::Length(1),
        Constraint::Percentage(100 - PEERS_PERCENT),
        Constraint::Percentage(PEERS_PERCENT),
        Constraint::Length(1),
    ]);
    let [head, upper, lower, foot] = areas.areas(frame.area());
    frame.render_widget(Paragraph::new(headline(state)).style(bold()), head);
    if let Some(now) = &state.now {
        let volumes = rows::volumes(now, state.before.as_ref(), wishes);
        wishes.skipped = wishes.skipped.min(volumes.len().saturating_sub(1));
        frame.render_widget(volume_table(volumes.iter().skip(wishes.skipped)), upper);
        frame.render_widget(peer_table(rows::peers(now, wishes)), lower);
    }
    frame.render_widget(Paragraph::new(footline(state, wishes)), foot);
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
    Line::from(format!(
        "{filter}q quit  s sort: {order}{direction}  r reverse  / filter  arrows scroll"
    ))
}

fn volume_table<'a>(volumes: impl Iterator<Item = &'a Volume>) -> Table<'static> {
    let heads = ["VOLUME", "ROLE", "DISK", "QUORUM", "WR/s", "READ/s", "WRITE/s", "us", "INFL"];
    // With the gaps between them 80 columns.
    let widths = [15, 9, 12, 6, 7, 6, 7, 6, 4].map(Constraint::Length);
    Table::new(volumes.map(volume_row), widths).header(Row::new(heads).style(reversed()))
}

fn volume_row(volume: &Volume) -> Row<'static> {
    let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |it| format!("{it:.0}"));
    let rates = volume.rates;
    let mark = if volume.reasons > 0 { "!" } else { "" };
    Row::new([
        Cell::from(format!("{}{mark}", volume.name)),
        Cell::from(volume.role.to_string()),
        disk_cell(volume.disk),
        if volume.has_quorum { Cell::from("yes") } else { Cell::from("no").style(bad()) },
        Cell::from(figure(rates.map(|it| it.writes))),
        Cell::from(rates.map_or_else(|| "-".to_owned(), |it| amount(it.read_kib))),
        Cell::from(rates.map_or_else(|| "-".to_owned(), |it| amount(it.written_kib))),
        Cell::from(figure(rates.and_then(|it| it.latency_us))),
        Cell::from(volume.in_flight.to_string()),
    ])
}

fn peer_table(peers: Vec<Peer>) -> Table<'static> {
    let heads = ["PEER", "VOLUME", "CONNECTION", "TLS", "DISK", "MISSES", "RESYNC", "LEFT"];
    let widths = [9, 13, 10, 3, 12, 6, 15, 5].map(Constraint::Length);
    let rows = peers.into_iter().map(peer_row);
    Table::new(rows, widths).header(Row::new(heads).style(reversed()))
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
fn peer_row(peer: Peer) -> Row<'static> {
    let is_connected = peer.connection == ConnectionState::Connected;
    let connection = if is_connected { Style::new() } else { bad() };
    let resync = peer.done_percent.map_or_else(|| peer.replication.to_string(), bar);
    Row::new([
        Cell::from(peer.name),
        Cell::from(peer.volume),
        Cell::from(peer.connection.to_string()).style(connection),
        Cell::from(if peer.has_tls { "yes" } else { "no" }),
        disk_cell(peer.disk),
        Cell::from(amount(peer.out_of_sync_kib as f64)),
        Cell::from(resync),
        Cell::from(peer.seconds_left.map_or_else(String::new, age)),
    ])
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
