//! Builds small images and metadata roots for the unit tests.
//!
//! Invariant: what is built is well-formed in its container; only the rows
//! and heaps a test gives can be wrong.

use crate::tables::Table;

/// Metadata whose tables and heaps are all small.
#[derive(Default)]
pub(crate) struct Metadata {
    /// Whether to write a `#-` stream.
    pub uncompressed: bool,
    /// Rows as lists of cells; a cell is two bytes, or four if so marked.
    pub tables: Vec<(Table, Vec<Vec<Cell>>)>,
    pub strings: Vec<u8>,
    pub blobs: Vec<u8>,
    pub pdb: Option<Vec<u8>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Cell {
    Half(u16),
    Word(u32),
}

/// A row of two-byte cells.
pub(crate) fn halves(cells: &[u16]) -> Vec<Cell> {
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
    pub(crate) fn root(&self) -> Vec<u8> {
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
    pub(crate) fn image(&self) -> Vec<u8> {
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
