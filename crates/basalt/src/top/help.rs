//! The keys and the columns of the page, explained over the screen: on several pages where a
//! terminal has few lines.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::top::columns::{Column, OF_NODES, OF_PEERS, OF_VOLUMES};
use crate::top::keys;
use crate::top::lines::{cells, wrapped};
use crate::top::wishes::{Page, Wishes};

/// Cells of the border, and of the blank beside it.
const FRAME_CELLS: u16 = 4;
const BORDER_LINES: u16 = 2;
const LINE_MAX: u16 = 76;

pub(super) fn draw(frame: &mut Frame<'_>, wishes: &mut Wishes) {
    let Some(page) = wishes.help else { return };
    let screen = frame.area();
    let width = screen.width.saturating_sub(FRAME_CELLS).min(LINE_MAX);
    let lines = match wishes.page {
        Page::Volumes => lines(&[&OF_VOLUMES, &OF_PEERS], width),
        Page::Nodes => lines(&[&OF_NODES], width),
    };
    let room = usize::from(screen.height.saturating_sub(BORDER_LINES).max(1));
    wishes.help_pages = lines.len().div_ceil(room);
    // The terminal may have grown since.
    let page = page.min(wishes.help_pages - 1);
    let shown: Vec<Line<'_>> =
        lines.into_iter().skip(page * room).take(room).map(Line::from).collect();
    let widest = shown.iter().map(Line::width).max().unwrap_or(0);
    let area = middle(screen, widest + usize::from(FRAME_CELLS), shown.len() + 2);
    let title = match wishes.help_pages {
        1 => " keys and columns; any key goes on ".to_owned(),
        pages => format!(" keys and columns, {} of {pages}; any key goes on ", page + 1),
    };
    let text = Paragraph::new(shown);
    let block = Block::bordered().title(title).padding(ratatui::widgets::Padding::horizontal(1));
    frame.render_widget(Clear, area);
    frame.render_widget(text.block(block), area);
}

fn lines(tables: &[&[Column]], width: u16) -> Vec<String> {
    let mut lines = explained(keys::ALL.map(|key| (key.names(), key.to_string())).iter(), width);
    for table in tables {
        lines.push(String::new());
        let columns: Vec<_> =
            table.iter().map(|column| (column.head(), column.to_string())).collect();
        lines.extend(explained(columns.iter(), width));
    }
    lines
}

/// Each name, and its meaning beside it.
fn explained<'a>(
    rows: impl Iterator<Item = &'a (&'static str, String)> + Clone,
    width: u16,
) -> Vec<String> {
    let longest = rows.clone().map(|(name, _)| cells(name)).max().unwrap_or(0);
    let line =
        |(name, meaning): &(&str, String)| wrapped(&format!("{name:longest$}  "), meaning, width);
    rows.flat_map(line).collect()
}

fn middle(area: Rect, width: usize, height: usize) -> Rect {
    let length = |cells: usize| Constraint::Length(u16::try_from(cells).unwrap_or(u16::MAX));
    let [area] = Layout::horizontal([length(width)]).flex(Flex::Center).areas(area);
    let [area] = Layout::vertical([length(height)]).flex(Flex::Center).areas(area);
    area
}
