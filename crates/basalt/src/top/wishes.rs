//! The choices of the operator, made by keys.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::widgets::TableState;

/// The filter has at most so many letters.
const FILTER_MAX: usize = 64;

/// Which table the screen shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Page {
    /// The volumes, and the peers and reasons of the chosen one.
    #[default]
    Volumes,
    /// The nodes of the cluster, as this one sees them.
    Nodes,
}

/// By what the volumes are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Name,
    Writes,
    Latency,
    InFlight,
    OutOfSync,
}

#[derive(Debug, Default)]
pub(super) struct Wishes {
    pub(super) page: Page,
    pub(super) order: Order,
    pub(super) is_reversed: bool,
    /// Only resources, or nodes, with this in their names.
    pub(super) filter: String,
    /// The filter is being typed.
    pub(super) is_typing: bool,
    /// The page of the help that is shown, from 0.
    pub(super) help: Option<usize>,
    /// So many pages the help had when it was last drawn.
    pub(super) help_pages: usize,
    /// The name of the chosen row, which moves when the order does; the first row if there is no
    /// such name.
    pub(super) chosen: Option<String>,
    /// Rows to move on by at the next drawing, which clears this.
    step: isize,
    /// Rows that the table had room for when it was last drawn.
    pub(super) room: u16,
    /// Which rows are in sight.
    pub(super) scroll: TableState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Quit,
}

impl Order {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Name => Self::Writes,
            Self::Writes => Self::Latency,
            Self::Latency => Self::InFlight,
            Self::InFlight => Self::OutOfSync,
            Self::OutOfSync => Self::Name,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Writes => "writes",
            Self::Latency => "latency",
            Self::InFlight => "in flight",
            Self::OutOfSync => "out of sync",
        }
    }
}

impl Wishes {
    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys mean nothing here")]
    pub(super) fn on_key(&mut self, key: KeyEvent) -> Next {
        if key.kind == KeyEventKind::Release {
            return Next::Go;
        }
        let is_interrupt =
            key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
        if is_interrupt {
            return Next::Quit;
        }
        if let Some(page) = self.help {
            // Any key goes on, or takes the help away, and does nothing else.
            let is_end = matches!(key.code, KeyCode::Char('q') | KeyCode::Esc);
            self.help = Some(page + 1).filter(|next| !is_end && *next < self.help_pages);
            return Next::Go;
        }
        if self.is_typing {
            self.on_typed(key.code);
            return Next::Go;
        }
        let page = isize::try_from(self.room.max(1)).unwrap_or(1);
        match key.code {
            KeyCode::Char('q') => return Next::Quit,
            KeyCode::Esc if self.filter.is_empty() => return Next::Quit,
            KeyCode::Esc => self.filter.clear(),
            KeyCode::Char('?' | 'h') => self.help = Some(0),
            KeyCode::Char('n') => self.turn_to(Page::Nodes),
            KeyCode::Char('v') => self.turn_to(Page::Volumes),
            KeyCode::Char('s') => self.order = self.order.next(),
            KeyCode::Char('r') => self.is_reversed = !self.is_reversed,
            KeyCode::Char('/') => self.is_typing = true,
            KeyCode::Char('j') | KeyCode::Down => self.move_by(1),
            KeyCode::Char('k') | KeyCode::Up => self.move_by(-1),
            KeyCode::PageDown => self.move_by(page),
            KeyCode::PageUp => self.move_by(-page),
            KeyCode::Home => self.move_by(isize::MIN),
            KeyCode::End => self.move_by(isize::MAX),
            _ => {}
        }
        Next::Go
    }

    /// To a page, or back to the volumes from it.
    fn turn_to(&mut self, page: Page) {
        self.page = if self.page == page { Page::Volumes } else { page };
        self.chosen = None;
        self.scroll = TableState::default();
    }

    fn move_by(&mut self, rows: isize) {
        self.step = self.step.saturating_add(rows);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most keys mean nothing here")]
    fn on_typed(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter) if self.filter.len() < FILTER_MAX => self.filter.push(letter),
            _ => {}
        }
    }

    /// Moves the choice as the keys said, among rows of these names; its place.
    pub(super) fn choose<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Option<usize> {
        let names: Vec<&str> = names.collect();
        let step = std::mem::take(&mut self.step);
        let Some(last) = names.len().checked_sub(1) else {
            self.scroll.select(None);
            return None;
        };
        let chosen = self.chosen.as_deref();
        let place = chosen.and_then(|chosen| names.iter().position(|name| *name == chosen));
        let place = place.unwrap_or(0).saturating_add_signed(step).min(last);
        if self.chosen.is_some() || step != 0 {
            self.chosen = Some(names[place].to_owned());
        }
        self.scroll.select(Some(place));
        Some(place)
    }
}
