//! The table stream `#~` or `#-` (II.24.2.6).
//!
//! Invariant: once a stream's header was accepted, every row `1..=rows` of every table lies
//! wholly inside the stream, so that reading a row is one bounds check and
//! arithmetic; nothing is decoded before it is asked for.

pub(crate) mod cells;
pub mod rows;
pub mod schema;

pub use rows::*;
pub use schema::{Coded, Column, Table};

use crate::bytes;
use crate::error::Error;
use crate::growing::Growing;
use cells::Cells;
use schema::{Layout, MAX_ROWS, TABLE_SLOTS, cell_width};

/// The parsed header of a table stream and its rows.
#[derive(Debug, Clone)]
pub struct Tables<'a> {
    rows: &'a [u8],
    layouts: [Layout; TABLE_SLOTS],
    /// The rows of an image that grows, which has none otherwise.
    growing: Option<&'static Growing>,
}

impl<'a> Tables<'a> {
    /// Reads the header of a table stream. `external` gives the row counts of
    /// tables that live in another image (portable PDB).
    pub(crate) fn parse(
        stream: &'a [u8],
        external: Option<&[u32; TABLE_SLOTS]>,
    ) -> Result<Tables<'a>, Error> {
        let short = Error::format("table stream header is truncated", 0);
        let heap_sizes = *stream.get(6).ok_or(short)?;
        let valid = bytes::u64_at(stream, 8).ok_or(short)?;
        // Which tables the file claims to be sorted: the word must be there, and is not used.
        stream.get(16..24).ok_or(short)?;
        let mut at = 24;
        let mut layouts = [Layout::default(); TABLE_SLOTS];
        let mut counts = external.copied().unwrap_or([0; TABLE_SLOTS]);
        for (i, layout) in layouts.iter_mut().enumerate() {
            if valid >> i & 1 == 0 {
                continue;
            }
            let n = bytes::u32_at(stream, at)
                .ok_or(Error::format("table row counts are truncated", at))?;
            if n > MAX_ROWS {
                return Err(Error::format("a table has more than 2^24-1 rows", at));
            }
            if n > 0 && Table::from_u8(i as u8).is_none() {
                return Err(Error::format("a table of unknown number is present", at));
            }
            layout.rows = n;
            counts[i] = n;
            at += 4;
        }
        if heap_sizes & 0x40 != 0 {
            at += 4; // "extra data" of edit-and-continue streams
        }
        let rows = stream
            .get(at..)
            .ok_or(Error::format("table stream header is truncated", at))?;
        let mut offset = 0usize;
        for table in Table::ALL {
            let layout = &mut layouts[*table as usize];
            let mut start = 0u8;
            for (i, column) in table.columns().iter().enumerate() {
                start += cell_width(*column, &counts, heap_sizes);
                layout.starts[i + 1] = start;
            }
            layout.row_size = start;
            layout.offset = offset;
            // At most 2^24 rows of 36 bytes in 64 tables: no overflow in 64 bits.
            let end = offset as u64 + u64::from(layout.rows) * u64::from(start);
            if end > rows.len() as u64 {
                return Err(Error::Row {
                    table: *table,
                    rid: layout.rows,
                    reason: "the table ends beyond its stream",
                });
            }
            offset = end as usize;
        }
        Ok(Tables {
            rows,
            layouts,
            growing: None,
        })
    }

    /// The tables of an image that grows.
    pub(crate) fn growing(growing: &'static Growing) -> Tables<'a> {
        Tables {
            rows: &[],
            layouts: [Layout::default(); TABLE_SLOTS],
            growing: Some(growing),
        }
    }

    /// How many rows `table` has.
    #[inline]
    pub fn row_count(&self, table: Table) -> u32 {
        match self.growing {
            None => self.layouts[table as usize].rows,
            Some(g) => g.row_count(table),
        }
    }

    /// The cells of row `rid`.
    #[inline]
    pub(crate) fn cells(&self, table: Table, rid: u32) -> Result<Cells<'_, 'a>, Error> {
        let layout = &self.layouts[table as usize];
        let out = Error::Row {
            table,
            rid,
            reason: "no such row",
        };
        if rid == 0 || rid > layout.rows {
            return self.growing.and_then(|g| g.cells(table, rid)).ok_or(out);
        }
        let size = usize::from(layout.row_size);
        let start = layout.offset + (rid as usize - 1) * size;
        let bytes = self.rows.get(start..start + size).ok_or(out)?;
        Ok(Cells { bytes, layout })
    }

    /// The bytes of the cell at (`rid`, `column`).
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn cell_bytes(&self, table: Table, rid: u32, column: usize) -> Option<&'a [u8]> {
        let cells = self.cells(table, rid).ok()?;
        let (start, end) = (
            *cells.layout.starts.get(column)?,
            *cells.layout.starts.get(column + 1)?,
        );
        cells.bytes.get(usize::from(start)..usize::from(end))
    }

    /// Do the cells of a column ascend? Reads each row once, without the checks of a single look-up.
    pub(crate) fn ascends(&self, table: Table, column: usize) -> bool {
        let layout = &self.layouts[table as usize];
        let (from, to) = (
            usize::from(layout.starts[column]),
            usize::from(layout.starts[column + 1]),
        );
        let size = usize::from(layout.row_size).max(1);
        let end = layout.offset + layout.rows as usize * size;
        let Some(rows) = self.rows.get(layout.offset..end) else {
            return false;
        };
        let rows = rows.chunks_exact(size);
        match to - from {
            4 => rows
                .map(|r| u32::from_le_bytes([r[from], r[from + 1], r[from + 2], r[from + 3]]))
                .is_sorted(),
            2 => rows
                .map(|r| u16::from_le_bytes([r[from], r[from + 1]]))
                .is_sorted(),
            _ => layout.rows == 0,
        }
    }

    /// The bytes of row `rid` in the file. `None` when there is no such row, or it is of an image that grows.
    pub fn row_bytes(&self, table: Table, rid: u32) -> Option<&'a [u8]> {
        let layout = &self.layouts[table as usize];
        let size = usize::from(layout.row_size);
        let start = layout.offset + (rid.checked_sub(1)? as usize) * size;
        (rid <= layout.rows).then(|| self.rows.get(start..start + size))?
    }
    /// How many bytes the cells of each column take in the file.
    pub fn column_sizes(&self, table: Table) -> impl Iterator<Item = u32> + use<'_> {
        let starts = &self.layouts[table as usize].starts;
        let columns = 0..table.columns().len();
        columns.map(|c| u32::from(starts[c + 1]) - u32::from(starts[c]))
    }

    /// The raw cell at (`rid`, `column`): an index as it is stored, coded or not. `None` when there is none.
    pub fn raw_cell(&self, table: Table, rid: u32, column: usize) -> Option<u32> {
        (column < table.columns().len())
            .then(|| self.cell(table, rid, column))
            .flatten()
    }
    /// The raw cell at (`rid`, `column`), or `None` when there is none.
    #[inline]
    pub(crate) fn cell(&self, table: Table, rid: u32, column: usize) -> Option<u32> {
        self.cells(table, rid).ok().map(|c| c.get(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Metadata, halves};
    use crate::{Image, Token};

    #[test]
    fn coded_indices_round_trip() {
        for kind in [
            Coded::HasCustomAttribute,
            Coded::ResolutionScope,
            Coded::MemberRefParent,
        ] {
            for table in kind.tables().iter().flatten() {
                let token = Token::new(*table, 0x1234);
                assert_eq!(
                    kind.encode(token).and_then(|raw| kind.decode(raw)),
                    Some(token)
                );
            }
        }
        assert_eq!(Coded::CustomAttributeType.decode(0), Some(Token::NIL));
        assert_eq!(Coded::CustomAttributeType.decode(8), None);
        assert_eq!(Coded::HasSemantics.decode(u32::MAX), None);
    }

    #[test]
    fn layouts_follow_row_counts_and_heap_sizes() {
        let mut rows = [0; TABLE_SLOTS];
        let width = |rows: &_, column, heaps| cell_width(column, rows, heaps);
        rows[Table::TypeRef as usize] = 0x3FFF;
        assert_eq!(width(&rows, Column::Coded(Coded::TypeDefOrRef), 0), 2);
        rows[Table::TypeRef as usize] = 0x4000;
        assert_eq!(width(&rows, Column::Coded(Coded::TypeDefOrRef), 0), 4);
        rows[Table::Field as usize] = 0xFFFF;
        assert_eq!(width(&rows, Column::Rid(Table::Field), 0), 2);
        rows[Table::Field as usize] = 0x1_0000;
        assert_eq!(width(&rows, Column::Rid(Table::Field), 0), 4);
        assert_eq!(
            [Column::Str, Column::Guid, Column::Blob].map(|c| width(&rows, c, 5)),
            [4, 2, 4]
        );
    }

    #[test]
    fn tables_beyond_the_stream_are_refused() {
        let tables = vec![(Table::TypeSpec, vec![halves(&[1]), halves(&[2])])];
        let data = Metadata {
            tables,
            ..Metadata::default()
        }
        .image();
        let image = Image::parse(&data).unwrap();
        assert_eq!(image.type_spec(2).unwrap().signature, 2);
        assert!(image.type_spec(0).is_err());
        assert!(image.type_spec(3).is_err());
        let at = data.windows(4).position(|w| w == [2, 0, 0, 1]).unwrap() + 20;
        for rows in [3u32, 0xFF_FFFF, u32::MAX] {
            let mut bad = data.clone();
            bad[at..at + 4].copy_from_slice(&rows.to_le_bytes());
            assert!(Image::parse(&bad).is_err(), "{rows} rows");
        }
    }
}
