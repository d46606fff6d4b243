//! The keys: the page of `?` explains them, and the last line of the screen reminds of them.

use std::fmt;

use crate::top::lines::{cells, fitted};
use crate::top::wishes::{Page, Wishes};

/// The help has these in this order.
pub(super) const ALL: [Key; 8] = [
    Key::Choose,
    Key::ChooseFar,
    Key::Nodes,
    Key::Sort,
    Key::Reverse,
    Key::Filter,
    Key::Help,
    Key::Quit,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Choose,
    ChooseFar,
    Nodes,
    Sort,
    Reverse,
    Filter,
    Help,
    Quit,
}

impl Key {
    pub(super) fn names(self) -> &'static str {
        match self {
            Self::Choose => "up, down, k, j",
            Self::ChooseFar => "PgUp, PgDn, Home, End",
            Self::Nodes => "n",
            Self::Sort => "s",
            Self::Reverse => "r",
            Self::Filter => "/",
            Self::Help => "?, h",
            Self::Quit => "q",
        }
    }
}

/// What it does.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Choose => "choose a row; its peers and reasons stand below",
            Self::ChooseFar => "by as many rows as are in sight; the first; the last",
            Self::Nodes => "the nodes of the cluster, and back",
            Self::Sort => "order of the volumes: name, writes, latency, in flight, out of sync",
            Self::Reverse => "the reverse of that order",
            Self::Filter => "only names with the text that you type; Esc ends it",
            Self::Help => "keys and columns",
            Self::Quit => "quit",
        })
    }
}

/// A part of the last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hint {
    Leave,
    Explain,
    ToNodes,
    ToVolumes,
    Ordered { order: &'static str },
    OrderedReversed { order: &'static str },
    Narrow,
    TurnRound,
    Filtered { filter: String },
    Typing { filter: String },
    KeepOrEnd,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leave => f.write_str("q quit"),
            Self::Explain => f.write_str("? help"),
            Self::ToNodes => f.write_str("n nodes"),
            Self::ToVolumes => f.write_str("n volumes"),
            Self::Ordered { order } => write!(f, "s sort: {order}"),
            Self::OrderedReversed { order } => write!(f, "s sort: {order} reversed"),
            Self::Narrow => f.write_str("/ filter"),
            Self::TurnRound => f.write_str("r reverse"),
            Self::Filtered { filter } => write!(f, "filter: {filter} (Esc ends it)"),
            Self::Typing { filter } => write!(f, "filter: {filter}_"),
            Self::KeepOrEnd => f.write_str("Enter keeps it, Esc ends it"),
        }
    }
}

/// As many hints as a line of so many cells has room for; of a long filter the end is shown.
pub(super) fn last_line(wishes: &Wishes, width: u16) -> String {
    let hints = match (wishes.is_typing, wishes.page) {
        (true, _) => vec![Hint::KeepOrEnd],
        (false, Page::Volumes) => {
            let sort = sort_hint(wishes);
            vec![Hint::Leave, Hint::Explain, Hint::ToNodes, sort, Hint::Narrow, Hint::TurnRound]
        }
        (false, Page::Nodes) => {
            vec![Hint::Leave, Hint::Explain, Hint::ToVolumes, Hint::Narrow]
        }
    };
    let has_filter = wishes.is_typing || !wishes.filter.is_empty();
    let filter = has_filter.then(|| filter_hint(wishes, usize::from(width)));
    let parts: Vec<String> = filter.iter().chain(&hints).map(Hint::to_string).collect();
    fitted(&parts, width)
}

fn sort_hint(wishes: &Wishes) -> Hint {
    let order = wishes.order.word();
    if wishes.is_reversed { Hint::OrderedReversed { order } } else { Hint::Ordered { order } }
}

fn filter_hint(wishes: &Wishes, width: usize) -> Hint {
    let hint = |filter: String| {
        if wishes.is_typing { Hint::Typing { filter } } else { Hint::Filtered { filter } }
    };
    let others = cells(&hint(String::new()).to_string());
    let rest = cells("  q quit  ? help");
    let room = width.saturating_sub(others + rest).max(1);
    let letters: Vec<char> = wishes.filter.chars().collect();
    if letters.len() <= room {
        return hint(wishes.filter.clone());
    }
    let end: String = letters[letters.len() - room.saturating_sub(2)..].iter().collect();
    hint(format!("..{end}"))
}
