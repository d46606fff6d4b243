//! The columns of the tables: head, width and meaning of each, and their place in a terminal.
//!
//! The first column of a table has the room that the others leave, so that names are whole where
//! the terminal is wide; in a narrow one a name loses its middle, as its start and its end tell
//! most. `help` explains all columns, and docs/operate/messages/top.md has them, too.

use std::fmt;

use ratatui::layout::Constraint;
use ratatui::widgets::{Cell, Row, Table};

use crate::top::lines::{bold, shortened};

/// A terminal of so many columns has the further columns of a table.
const WIDE: u16 = 110;
/// The fewest cells of a name.
const NAME_MIN: u16 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Volume,
    Role,
    Disk,
    Quorum,
    Writes,
    ReadHere,
    WrittenHere,
    Latency,
    InFlight,
    Misses,
    Size,
    Open,
    Peer,
    Connection,
    Tls,
    PeerDisk,
    PeerMisses,
    Resync,
    Left,
    Node,
    Connected,
    Primary,
    Replicas,
    UpToDate,
    NodeMisses,
    Resyncs,
}

pub(super) const OF_VOLUMES: [Column; 12] = [
    Column::Volume,
    Column::Role,
    Column::Disk,
    Column::Quorum,
    Column::Writes,
    Column::ReadHere,
    Column::WrittenHere,
    Column::Latency,
    Column::InFlight,
    Column::Misses,
    Column::Size,
    Column::Open,
];
/// Those of `OF_VOLUMES` that a narrow terminal has.
const OF_VOLUMES_NARROW: usize = 9;

pub(super) const OF_PEERS: [Column; 7] = [
    Column::Peer,
    Column::Connection,
    Column::Tls,
    Column::PeerDisk,
    Column::PeerMisses,
    Column::Resync,
    Column::Left,
];

pub(super) const OF_NODES: [Column; 7] = [
    Column::Node,
    Column::Connected,
    Column::Primary,
    Column::Replicas,
    Column::UpToDate,
    Column::NodeMisses,
    Column::Resyncs,
];

/// Those of `OF_VOLUMES` for which a terminal has room.
pub(super) fn of_volumes(width: u16) -> &'static [Column] {
    let count = if width < WIDE { OF_VOLUMES_NARROW } else { OF_VOLUMES.len() };
    &OF_VOLUMES[..count]
}

impl Column {
    pub(super) fn head(self) -> &'static str {
        self.row().0
    }

    /// The head, the cells, and the meaning.
    fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::Volume => ("VOLUME", 0, "resource/number; `!` behind it: a reason stands below"),
            Self::Role => ("ROLE", 9, "of this node: the Primary serves the clients"),
            Self::Disk => ("DISK", 12, "the state of the replica of this node"),
            Self::Quorum => ("QUORUM", 6, "whether enough voters answer to this node"),
            Self::Writes => ("WR/s", 7, "writes of this node's clients, per second"),
            Self::ReadHere => ("READ/s", 6, "read from the disk here per second, in KiB, MiB, .."),
            Self::WrittenHere => ("WRITE/s", 7, "written to the disk here per second"),
            Self::Latency => ("us", 6, "mean time of a client's write, in microseconds"),
            Self::InFlight => ("INFL", 4, "requests of clients that are not answered yet"),
            Self::Misses => ("MISSES", 6, "amount that is out of sync, of all peers"),
            Self::Size => ("SIZE", 5, "what the volume has room for"),
            Self::Open => ("OPEN", 4, "whether a client of this node has it open"),
            Self::Peer => ("PEER", 0, "another node of the chosen volume's resource"),
            Self::Connection => ("CONNECTION", 14, "the state of the connection to the peer"),
            Self::Tls => ("TLS", 3, "whether the connection is encrypted"),
            Self::PeerDisk => ("DISK", 12, "the state of the replica of the peer"),
            Self::PeerMisses => ("MISSES", 6, "amount that is out of sync at the peer"),
            Self::Resync => ("RESYNC", 15, "how far it is, or what else is done for the peer"),
            Self::Left => ("LEFT", 6, "estimated time to the end of the resync"),
            Self::Node => ("NODE", 0, "of the cluster; `*` behind it: the one that was asked"),
            Self::Connected => {
                ("CONNECTED", 11, "resources over which it is connected, of those shared with it")
            }
            Self::Primary => ("PRIMARY", 7, "resources that it is Primary of"),
            Self::Replicas => ("REPLICAS", 8, "volumes that it has a replica of"),
            Self::UpToDate => ("UPTODATE", 11, "replicas that are up to date, of all that it has"),
            Self::NodeMisses => ("MISSES", 6, "amount that is out of sync on it"),
            Self::Resyncs => ("RESYNCS", 7, "volumes that are copied to it or from it now"),
        }
    }
}

/// Its meaning.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().2)
    }
}

/// Heads and widths of the columns of one table.
pub(super) struct Columns {
    heads: Vec<&'static str>,
    widths: Vec<u16>,
}

impl Columns {
    /// In a terminal of so many columns.
    pub(super) fn new(columns: &[Column], width: u16) -> Self {
        let rows = columns.iter().map(|column| column.row());
        let (heads, mut widths): (Vec<_>, Vec<u16>) =
            rows.map(|(head, width, _)| (head, width)).unzip();
        let others: u16 = widths[1..].iter().map(|width| width + 1).sum();
        widths[0] = width.saturating_sub(others).max(NAME_MIN);
        Self { heads, widths }
    }

    pub(super) fn table<'a>(&self, rows: impl Iterator<Item = Row<'a>>) -> Table<'a> {
        let widths = self.widths.iter().copied().map(Constraint::Length);
        Table::new(rows, widths).header(Row::new(self.heads.clone()).style(bold()))
    }

    /// A name, and a mark behind it, in the room of the first column.
    pub(super) fn name(&self, name: &str, mark: &str) -> Cell<'static> {
        Cell::from(shortened(name, usize::from(self.widths[0]) - mark.len()) + mark)
    }
}
