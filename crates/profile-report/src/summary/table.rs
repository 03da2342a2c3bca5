//! A table of text: numbers to the right, the last column to the left.
use std::io::{Result, Write};

/// Rows of equal length.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With its headings.
    pub(super) fn new(headings: &[&str]) -> Table {
        Table {
            rows: vec![headings.iter().map(|h| (*h).to_owned()).collect()],
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Writes it, two spaces from the left.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let lengths = self.rows.iter().filter_map(|r| r.get(column));
            lengths.map(|c| c.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            write!(out, "  ")?;
            for (at, cell) in row.iter().enumerate() {
                match at + 1 == columns {
                    true => writeln!(out, "{cell}")?,
                    false => write!(out, "{cell:>0$}  ", widths[at])?,
                }
            }
        }
        Ok(())
    }
}
