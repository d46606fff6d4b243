//! Tables for people, and the answers as JSON.

use serde::Serialize;

use crate::plane::trouble::Trouble;

/// Columns as wide as their widest cell.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(head: [&str; N]) -> Self {
        Self { rows: vec![head.map(str::to_owned)] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    pub(crate) fn text(&self) -> String {
        let width = |at: usize| self.rows.iter().map(|row| row[at].chars().count()).max();
        let widths: [usize; N] = std::array::from_fn(|at| width(at).unwrap_or(0));
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
            let line = cells.collect::<Vec<_>>().join("  ");
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

pub(crate) fn json(answer: &impl Serialize) -> Result<String, Trouble> {
    let text = serde_json::to_string_pretty(answer);
    Ok(text.expect("answers are made of strings, numbers and lists") + "\n")
}

/// The word that a value has in JSON.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}

/// Bytes in the largest unit that they fill.
pub(crate) fn amount(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let Some((shift, unit)) = units.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
        return format!("{bytes} B");
    };
    let tenths = (u128::from(bytes) * 10) >> shift;
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        rest => format!("{}.{rest} {unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_largest_unit_that_they_fill() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536 << 10, "1.5 MiB"),
            (10 << 30, "10 GiB"),
            (u64::MAX, "16777215.9 TiB"),
        ] {
            assert_eq!(amount(bytes), text);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell_and_lines_end_without_blanks() {
        let mut table = Table::new(["A", "LONG"]);
        table.row(["abc".to_owned(), "x".to_owned()]);
        table.row(["a".to_owned(), String::new()]);
        assert_eq!(table.text(), "A    LONG\nabc  x\na\n");
    }
}
