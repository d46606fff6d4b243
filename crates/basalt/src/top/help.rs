//! The keys and the columns, explained over the screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

const LINES: &[&str] = &[
    "up, down, j, k    choose a row; its peers and reasons stand below",
    "PgUp, PgDn, Home, End   by pages, to the first, to the last",
    "n     the nodes of the cluster, and back",
    "s, r  another order: name, writes, latency, in flight, out of sync;",
    "      reversed",
    "/     only names with the text that you type; Esc ends it",
    "q     quit",
    "",
    "!         behind a name: there is a reason, shown below",
    "WR/s      writes a second of this node's clients",
    "READ/s    read from the disk here, in KiB, MiB, ..",
    "WRITE/s   written to the disk here",
    "us        mean of those writes, in microseconds",
    "INFL      requests of clients that are not answered yet",
    "MISSES    amount that is out of sync at a peer",
    "LEFT      estimated time to the end of the resync",
];

pub(super) fn draw(frame: &mut Frame<'_>) {
    let width = LINES.iter().map(|line| line.len()).max().unwrap_or(0) + 4;
    let area = middle(frame.area(), width, LINES.len() + 2);
    let lines: Vec<Line<'_>> = LINES.iter().copied().map(Line::from).collect();
    let block = Block::bordered().title(" keys and columns; any key goes on ");
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn middle(area: Rect, width: usize, height: usize) -> Rect {
    let length = |cells: usize| Constraint::Length(u16::try_from(cells).unwrap_or(u16::MAX));
    let [area] = Layout::horizontal([length(width)]).flex(Flex::Center).areas(area);
    let [area] = Layout::vertical([length(height)]).flex(Flex::Center).areas(area);
    area
}
