//! From the rows of the tables to cells, and figures in few letters.

use std::time::Duration;

use api::connection_state::ConnectionState;
use api::disk_state::DiskState;
use ratatui::style::Style;
use ratatui::widgets::{Cell, Row};

use crate::top::columns::Columns;
use crate::top::lines::bad;
use crate::top::nodes::Node;
use crate::top::rows::{Peer, Rates, Volume};

const BAR_CELLS: usize = 10;

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
pub(super) fn volume_row(volume: &Volume, columns: &Columns) -> Row<'static> {
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
        Cell::from(count(u64::from(volume.in_flight))),
        Cell::from(amount(volume.out_of_sync_kib as f64)),
        Cell::from(amount(volume.size_kib as f64)),
        Cell::from(if volume.is_open { "yes" } else { "no" }),
    ])
}

#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
pub(super) fn peer_row(peer: &Peer, columns: &Columns) -> Row<'static> {
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
pub(super) fn node_row(node: &Node, columns: &Columns) -> Row<'static> {
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

/// In six digits or fewer, or in thousands (k) or millions (M).
pub(super) fn figure(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(small) if small < 999_999.5 => format!("{small:.0}"),
        Some(large) if large < 999_999_500.0 => format!("{:.0}k", large / 1e3),
        Some(huge) => format!("{:.0}M", huge / 1e6),
    }
}

/// The same in four digits or fewer.
fn count(of: u64) -> String {
    match of {
        0..10_000 => of.to_string(),
        10_000..1_000_000 => format!("{}k", of / 1000),
        _ => format!("{}M", of / 1_000_000),
    }
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
pub(super) fn amount(kib: f64) -> String {
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

pub(super) fn age(seconds: u64) -> String {
    let time = Duration::from_secs(seconds);
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, time.as_secs() / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m{:02}s", seconds % 60),
        (0, ..) => format!("{hours}h{minutes:02}m"),
        _ => format!("{days}d{hours:02}h"),
    }
}
