//! Texts in the room of a terminal: lines that end between words, parts that are shown whole or not
//! at all, names without their middle; and the styles.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;

/// Parts of a line stand so far from each other.
const GAP: &str = "  ";

/// The cells that a text takes.
pub(super) fn cells(text: &str) -> usize {
    Span::raw(text).width()
}

/// A text behind a mark, in lines of so many cells. They end between words where words are short
/// enough; those after the first are as deep as the mark.
pub(super) fn wrapped(mark: &str, text: &str, width: u16) -> Vec<String> {
    let deep = " ".repeat(cells(mark));
    let room = usize::from(width).saturating_sub(deep.len()).max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first one");
        if !line.is_empty() && cells(line) + 1 + cells(word) <= room {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        let mut rest = word.chars().peekable();
        let mut piece = String::new();
        while let Some(letter) = rest.next() {
            piece.push(letter);
            let is_full = rest.peek().is_some_and(|next| cells(&format!("{piece}{next}")) > room);
            if is_full {
                add(&mut lines, std::mem::take(&mut piece));
            }
        }
        add(&mut lines, piece);
    }
    let marks = std::iter::once(mark).chain(std::iter::repeat(deep.as_str()));
    marks.zip(lines).map(|(mark, line)| format!("{mark}{line}")).collect()
}

/// As a line of its own, unless the last one is empty.
fn add(lines: &mut Vec<String>, line: String) {
    match lines.last_mut() {
        Some(last) if last.is_empty() => *last = line,
        Some(_) | None => lines.push(line),
    }
}

/// As many of the parts as have room in a line, from the first on.
pub(super) fn fitted(parts: &[String], width: u16) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { GAP };
        if cells(&line) + gap.len() + cells(part) > usize::from(width) && !line.is_empty() {
            break;
        }
        line = line + gap + part;
    }
    line
}

/// All of the parts, in as many lines as they take.
pub(super) fn in_lines(parts: &[String], width: u16) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in parts {
        let line = lines.last_mut().expect("there is a first one");
        if line.is_empty() {
            line.push_str(part);
        } else if cells(line) + GAP.len() + cells(part) <= usize::from(width) {
            line.push_str(GAP);
            line.push_str(part);
        } else {
            lines.push(part.clone());
        }
    }
    lines
}

/// A name in at most so many cells, without its middle where it is longer. Names are ASCII.
pub(super) fn shortened(name: &str, cells: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= cells {
        return name.to_owned();
    }
    let kept = cells.saturating_sub(2);
    let start = kept.div_ceil(2);
    let end = letters.len() - (kept - start);
    letters[..start].iter().chain(&['.', '.']).chain(&letters[end..]).collect()
}

/// The state that it is of is not as it should be.
pub(super) fn bad() -> Style {
    Style::new().fg(Color::Red)
}

pub(super) fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

pub(super) fn reversed() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

/// It is of a while ago.
pub(super) fn old() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}
