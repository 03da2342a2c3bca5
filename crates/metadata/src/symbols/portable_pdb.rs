//! The portable PDB format: metadata tables 0x30 and up in a file of its own.
//!
//! Invariant: the same root, heaps and tables as an image, with the same
//! checks; the points of a method are decoded from its blob at each lookup.

use super::{Nearest, SourceLine};
use crate::bytes;
use crate::error::Error;
use crate::heaps::{Heaps, Root};
use crate::signature::SigReader;
use crate::tables::schema::{MAX_ROWS, TABLE_SLOTS};
use crate::tables::{Table, Tables};
use crate::token::Token;

/// A portable `.pdb` file.
#[derive(Debug, Clone)]
pub struct PortablePdb<'a> {
    heaps: Heaps<'a>,
    tables: Tables<'a>,
    id: [u8; 20],
}

/// A sequence point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequencePoint {
    /// The instruction.
    pub il_offset: u32,
    /// The Document row.
    pub document: u32,
    /// Start, or `None` if the point is hidden.
    pub start: Option<(u32, u32)>,
}

impl<'a> PortablePdb<'a> {
    /// Parses the headers.
    pub fn parse(data: &'a [u8]) -> Result<PortablePdb<'a>, Error> {
        let root = Root::parse(data)?;
        let pdb = root
            .pdb
            .ok_or(Error::format("the metadata has no #Pdb stream", 0))?;
        let short = Error::format("the #Pdb stream is truncated", 0);
        let id = bytes::array(pdb, 0).ok_or(short)?;
        let referenced = bytes::u64_at(pdb, 24).ok_or(short)?;
        let mut rows = [0; TABLE_SLOTS];
        let mut at = 32;
        for (i, slot) in rows.iter_mut().enumerate() {
            if referenced >> i & 1 != 0 {
                *slot = bytes::u32_at(pdb, at).ok_or(short)?.min(MAX_ROWS);
                at += 4;
            }
        }
        let tables = Tables::parse(root.tables, Some(&rows))?;
        Ok(PortablePdb {
            heaps: root.heaps,
            tables,
            id,
        })
    }

    /// The first 16 bytes of the PDB identifier.
    pub fn guid(&self) -> [u8; 16] {
        bytes::array(&self.id, 0).unwrap_or_default()
    }

    /// The tables.
    pub fn tables(&self) -> &Tables<'a> {
        &self.tables
    }

    /// The name of a Document: parts joined by the separator.
    pub fn document_name(&self, rid: u32) -> Result<String, Error> {
        let blob = self.heaps.blob(self.tables.document(rid)?.name)?;
        let Some((&separator, _)) = blob.split_first() else {
            return Ok(String::new());
        };
        let mut reader = SigReader::new(blob);
        reader.u8()?;
        let mut name = String::new();
        let mut first = true;
        while !reader.rest().is_empty() {
            if !first && separator != 0 {
                name.push(char::from(separator));
            }
            first = false;
            let part = self.heaps.blob(reader.compressed_u32()?)?;
            // Parts may be shared and repeated: bound what they can expand to.
            if name.len() + part.len() > 0x1_0000 {
                return Err(Error::blob(
                    "a document's name is too long",
                    reader.offset(),
                ));
            }
            name.push_str(
                core::str::from_utf8(part)
                    .map_err(|_| Error::blob("a document's name is not UTF-8", reader.offset()))?,
            );
        }
        Ok(name)
    }

    /// Calls `each` with every sequence point of a method until it says no.
    pub fn sequence_points(
        &self,
        method: u32,
        mut each: impl FnMut(SequencePoint) -> bool,
    ) -> Result<(), Error> {
        let row = self.tables.method_debug_information(method)?;
        let mut reader = SigReader::new(self.heaps.blob(row.sequence_points)?);
        if reader.rest().is_empty() {
            return Ok(());
        }
        reader.compressed_u32()?; // signature of the locals
        let mut document = row.document;
        if document == 0 {
            document = reader.compressed_u32()?;
        }
        let mut il_offset = 0u32;
        let mut first = true;
        let mut previous: Option<(u32, u32)> = None;
        while !reader.rest().is_empty() {
            let delta = reader.compressed_u32()?;
            if delta == 0 && !first {
                document = reader.compressed_u32()?;
                continue;
            }
            il_offset = il_offset.wrapping_add(delta);
            first = false;
            let delta_lines = reader.compressed_u32()?;
            let delta_columns = if delta_lines == 0 {
                reader.compressed_u32()? as i32
            } else {
                reader.compressed_i32()?
            };
            let mut start = None;
            if delta_lines != 0 || delta_columns != 0 {
                let (line, column) = match previous {
                    None => (reader.compressed_u32()?, reader.compressed_u32()?),
                    Some((line, column)) => (
                        line.wrapping_add_signed(reader.compressed_i32()?),
                        column.wrapping_add_signed(reader.compressed_i32()?),
                    ),
                };
                start = Some((line, column));
                previous = start;
            }
            if !each(SequencePoint {
                il_offset,
                document,
                start,
            }) {
                break;
            }
        }
        Ok(())
    }

    /// The IL offsets of the visible points of a MethodDef, as they come.
    pub fn points(&self, method: Token) -> Option<Vec<u32>> {
        if !method.is(Table::MethodDef) {
            return None;
        }
        let mut points = Vec::new();
        self.sequence_points(method.rid(), |point| {
            points.extend(point.start.map(|_| point.il_offset));
            true
        })
        .ok()?;
        Some(points)
    }

    /// The source of the instruction at `il_offset` of a MethodDef.
    pub fn lookup(&self, method: Token, il_offset: u32) -> Option<SourceLine> {
        if !method.is(Table::MethodDef) {
            return None;
        }
        let mut nearest = Nearest::new(il_offset);
        self.sequence_points(method.rid(), |point| {
            if let Some(start) = point.start {
                nearest.offer(point.il_offset, (point.document, start));
            }
            point.il_offset <= il_offset || nearest.best.is_none()
        })
        .ok()?;
        let (document, (line, col)) = nearest.best?;
        Some(SourceLine {
            file: self.document_name(document).ok()?,
            line,
            col,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::SymbolFile;
    use crate::testing::{Metadata, halves};

    /// One document, `/src/a.cs`, and two methods: the first with points at
    /// 0 (3:5), 4 (hidden) and 9 (5:1); the second without any.
    fn file() -> Vec<u8> {
        let mut blobs = vec![0, 3];
        blobs.extend(b"src"); // at 1
        blobs.extend([4, b'a', b'.', b'c', b's']); // at 5
        let name = blobs.len() as u16;
        blobs.extend([4, b'/', 0, 1, 5]);
        let points = blobs.len() as u16;
        blobs.extend([14, 0]);
        blobs.extend([0, 0, 9, 3, 5]); // no line more, nine columns more
        blobs.extend([4, 0, 0]);
        blobs.extend([5, 1, 0x7B, 4, 0x79]); // two lines down, four columns back
        let mut pdb = vec![7; 20];
        pdb.extend([0; 4]);
        pdb.extend((1u64 << Table::MethodDef as u8).to_le_bytes());
        pdb.extend(2u32.to_le_bytes());
        Metadata {
            tables: vec![
                (Table::Document, vec![halves(&[name, 0, 0, 0])]),
                (
                    Table::MethodDebugInformation,
                    vec![halves(&[1, points]), halves(&[0, 0])],
                ),
            ],
            blobs,
            pdb: Some(pdb),
            ..Metadata::default()
        }
        .root()
    }

    #[test]
    fn points_are_found_and_hidden_ones_passed_over() {
        let file = file();
        let symbols = SymbolFile::parse(&file).unwrap();
        let at = |offset| {
            let found = symbols.lookup(Token(0x0600_0001), offset).unwrap();
            assert_eq!(found.file, "/src/a.cs");
            (found.line, found.col)
        };
        assert_eq!(symbols.guid(), [7; 16]);
        assert_eq!(at(0), (3, 5));
        assert_eq!(at(4), (3, 5));
        assert_eq!(at(8), (3, 5));
        assert_eq!(at(9), (5, 1));
        assert_eq!(at(99), (5, 1));
        assert_eq!(symbols.lookup(Token(0x0600_0002), 0), None);
        assert_eq!(symbols.lookup(Token(0x0600_0003), 0), None);
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_survived() {
        let file = file();
        let lookup = |data: &[u8]| {
            if let Ok(symbols) = SymbolFile::parse(data) {
                let _ = symbols.lookup(Token(0x0600_0001), 9);
            }
        };
        (0..file.len()).for_each(|len| lookup(&file[..len]));
        for at in 0..file.len() {
            for value in 0..=255 {
                let mut data = file.clone();
                data[at] = value;
                lookup(&data);
            }
        }
    }
}
