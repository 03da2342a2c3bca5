//! Builds small images and metadata roots, and finds their parts, for tests here and in other crates.
//!
//! Invariant: what is built is well-formed in its container; only the rows
//! and heaps a test gives can be wrong.

use crate::image::Image;
use crate::tables::Table;
use std::ops::Range;

pub mod signatures;

/// Where a cell of a table lies in the bytes of an image.
pub fn cell_place(
    image: &Image<'_>,
    table: Table,
    rid: u32,
    column: usize,
) -> Option<Range<usize>> {
    place(image, image.tables().cell_bytes(table, rid, column)?)
}

/// Where a part of an image lies in its bytes.
pub fn place(image: &Image<'_>, part: &[u8]) -> Option<Range<usize>> {
    let start = (part.as_ptr() as usize).checked_sub(image.data().as_ptr() as usize)?;
    (start + part.len() <= image.data().len()).then_some(start..start + part.len())
}

/// Metadata whose tables and heaps are all small.
#[derive(Default)]
pub struct Metadata {
    /// Whether to write a `#-` stream.
    pub uncompressed: bool,
    /// Rows as lists of cells; a cell is two bytes, or four if so marked.
    pub tables: Vec<(Table, Vec<Vec<Cell>>)>,
    /// The bytes of `#Strings`.
    pub strings: Vec<u8>,
    /// The bytes of `#Blob`.
    pub blobs: Vec<u8>,
    /// The bytes of `#Pdb`, if there is one.
    pub pdb: Option<Vec<u8>>,
}

/// A cell of a row.
#[derive(Clone, Copy)]
pub enum Cell {
    /// Two bytes.
    Half(u16),
    /// Four bytes.
    Word(u32),
}

/// A row of two-byte cells.
pub fn halves(cells: &[u16]) -> Vec<Cell> {
    cells.iter().map(|c| Cell::Half(*c)).collect()
}

impl Metadata {
    fn table_stream(&self) -> Vec<u8> {
        let mut out = vec![0, 0, 0, 0, 2, 0, 0, 1];
        let valid = self
            .tables
            .iter()
            .fold(0u64, |v, (t, _)| v | 1 << (*t as u8));
        out.extend(valid.to_le_bytes());
        out.extend(0u64.to_le_bytes());
        for (_, rows) in &self.tables {
            out.extend((rows.len() as u32).to_le_bytes());
        }
        for cell in self
            .tables
            .iter()
            .flat_map(|(_, rows)| rows.iter().flatten())
        {
            match cell {
                Cell::Half(v) => out.extend(v.to_le_bytes()),
                Cell::Word(v) => out.extend(v.to_le_bytes()),
            }
        }
        out
    }

    /// The metadata root and its streams.
    pub fn root(&self) -> Vec<u8> {
        let tables = if self.uncompressed { "#-" } else { "#~" };
        let mut streams = vec![
            (tables, self.table_stream()),
            ("#Strings", self.strings.clone()),
            ("#Blob", self.blobs.clone()),
        ];
        if let Some(pdb) = &self.pdb {
            streams.push(("#Pdb", pdb.clone()));
        }
        let mut out = b"BSJB\x01\x00\x01\x00\0\0\0\0\x0C\0\0\0v4.0.30319\0\0\0\0".to_vec();
        out.extend((streams.len() as u16).to_le_bytes());
        let padded = |name: &str| (name.len() + 1).next_multiple_of(4);
        let mut at = out.len() + streams.iter().map(|(n, _)| 8 + padded(n)).sum::<usize>();
        for (name, bytes) in &streams {
            out.extend((at as u32).to_le_bytes());
            out.extend((bytes.len() as u32).to_le_bytes());
            let end = out.len() + padded(name);
            out.extend(name.as_bytes());
            out.resize(end, 0);
            at += bytes.len();
        }
        streams.iter().for_each(|(_, bytes)| out.extend(bytes));
        out
    }

    /// A PE image with one section that holds the CLI header and the root.
    pub fn image(&self) -> Vec<u8> {
        const RVA: u32 = 0x2000;
        let root = self.root();
        let mut out = vec![0; 0x200];
        let put = |out: &mut [u8], at: usize, v: &[u8]| out[at..at + v.len()].copy_from_slice(v);
        put(&mut out, 0, b"MZ");
        put(&mut out, 0x3C, &0x40u32.to_le_bytes());
        put(&mut out, 0x40, b"PE\0\0\x4C\x01\x01\0");
        put(&mut out, 0x54, &224u16.to_le_bytes());
        put(&mut out, 0x58, &0x10Bu16.to_le_bytes());
        put(&mut out, 0x58 + 92, &16u32.to_le_bytes());
        put(&mut out, 0x58 + 96 + 14 * 8, &RVA.to_le_bytes());
        put(&mut out, 0x58 + 96 + 14 * 8 + 4, &72u32.to_le_bytes());
        let section = 0x58 + 224;
        let size = (72 + root.len()) as u32;
        for (i, v) in [size, RVA, size, 0x200].iter().enumerate() {
            put(&mut out, section + 8 + i * 4, &v.to_le_bytes());
        }
        let mut cli = vec![0; 72];
        put(&mut cli, 8, &(RVA + 72).to_le_bytes());
        put(&mut cli, 12, &(root.len() as u32).to_le_bytes());
        out.extend(cli);
        out.extend(root);
        out
    }
}
