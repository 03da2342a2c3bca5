//! The Mono symbol format, version 50.0 (`.mdb`).
//!
//! Invariant: every offset of the file's tables is checked where it is used;
//! the line program is run byte by byte and ends with the file.

use super::{Nearest, SourceLine};
use crate::bytes;
use crate::error::Error;
use crate::tables::Table;
use crate::token::Token;

const MAGIC: u64 = 0x45E8_2623_FD7F_A614;

/// A `.mdb` file.
#[derive(Debug, Clone)]
pub struct Mdb<'a> {
    data: &'a [u8],
    guid: [u8; 16],
    units: TableAt,
    sources: TableAt,
    methods: TableAt,
    line_base: i32,
    line_range: u8,
    opcode_base: u8,
}

#[derive(Debug, Clone, Copy)]
struct TableAt {
    offset: usize,
    count: u32,
}

/// A cursor whose reads end with the file.
struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn byte(&mut self) -> Option<u8> {
        let b = *self.data.get(self.at)?;
        self.at += 1;
        Some(b)
    }

    /// A 7-bit encoded 32-bit integer; negative ones take five bytes.
    fn leb(&mut self) -> Option<u32> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let b = self.byte()?;
            value |= u32::from(b & 0x7F).wrapping_shl(shift);
            if b & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn string(&mut self) -> Option<&'a str> {
        let len = self.leb()? as usize;
        let text = bytes::slice(self.data, self.at, len)?;
        self.at += len;
        core::str::from_utf8(text).ok()
    }
}

#[derive(Clone, Copy)]
struct Point {
    index: usize,
    file: u32,
    line: u32,
}

impl<'a> Mdb<'a> {
    /// Parses the header.
    pub fn parse(data: &'a [u8]) -> Result<Mdb<'a>, Error> {
        if bytes::u64_at(data, 0) != Some(MAGIC) {
            return Err(Error::format("not a symbol file", 0));
        }
        let short = Error::format("the symbol file's header is truncated", 0);
        let word = |at| bytes::u32_at(data, at).ok_or(short);
        if (word(8)?, word(12)?) != (50, 0) {
            return Err(Error::format("unknown version of symbol file", 8));
        }
        let guid = bytes::array(data, 16).ok_or(short)?;
        // The offset table starts at 32: total size, data offset and size,
        // then count, offset and size of units, sources and methods.
        let table = |at| -> Result<TableAt, Error> {
            Ok(TableAt {
                count: word(at)?,
                offset: word(at + 4)? as usize,
            })
        };
        let line_base = word(32 + 64)? as i32;
        let line_range = u8::try_from(word(32 + 68)?).unwrap_or(0);
        let opcode_base = u8::try_from(word(32 + 72)?).unwrap_or(0);
        if line_range == 0 || opcode_base == 0 {
            return Err(Error::format("bad parameters of the line program", 32 + 64));
        }
        Ok(Mdb {
            data,
            guid,
            units: table(32 + 12)?,
            sources: table(32 + 24)?,
            methods: table(32 + 36)?,
            line_base,
            line_range,
            opcode_base,
        })
    }

    /// The MVID of the module described.
    pub fn guid(&self) -> [u8; 16] {
        self.guid
    }

    fn cell(&self, table: TableAt, row: u32, size: usize, column: usize) -> Option<u32> {
        if row >= table.count {
            return None;
        }
        let at = (row as usize)
            .checked_mul(size)?
            .checked_add(table.offset)?;
        bytes::u32_at(self.data, at.checked_add(column)?)
    }

    /// The data and line table offsets of a method.
    fn method(&self, token: Token) -> Option<(usize, usize)> {
        let cell = |row, column| self.cell(self.methods, row, 12, column);
        // The writer sorts methods by token.
        let (mut low, mut high) = (0, self.methods.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if cell(middle, 0)? < token.0 {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (cell(low, 0)? == token.0).then_some(())?;
        Some((cell(low, 4)? as usize, cell(low, 8)? as usize))
    }

    fn source_name(&self, index: u32) -> Option<&'a str> {
        let at = self.cell(self.sources, index.checked_sub(1)?, 8, 4)? as usize;
        Cursor {
            data: self.data,
            at,
        }
        .string()
    }

    fn unit_source(&self, unit: u32) -> Option<u32> {
        let at = self.cell(self.units, unit.checked_sub(1)?, 8, 4)? as usize;
        Cursor {
            data: self.data,
            at,
        }
        .leb()
    }

    /// The source of the instruction at `il_offset` of a MethodDef.
    pub fn lookup(&self, method: Token, il_offset: u32) -> Option<SourceLine> {
        if !method.is(Table::MethodDef) {
            return None;
        }
        let (data_at, lines_at) = self.method(method)?;
        let mut head = Cursor {
            data: self.data,
            at: data_at,
        };
        let unit = head.leb()?;
        for _ in 0..5 {
            head.leb()?; // locals, namespace, blocks, scopes, real name
        }
        let flags = head.leb().unwrap_or(0);
        let mut lines = Cursor {
            data: self.data,
            at: lines_at,
        };
        let mut nearest = Nearest::new(il_offset);
        let count = self.run_lines(&mut lines, |offset, point| nearest.offer(offset, point))?;
        let point = nearest.best?;
        let file = self
            .source_name(point.file)
            .or_else(|| self.source_name(self.unit_source(unit)?))?;
        let mut col = 0;
        if flags & 2 != 0 && point.index < count {
            for _ in 0..point.index {
                lines.leb()?;
            }
            col = lines.leb().unwrap_or(0);
        }
        Some(SourceLine {
            file: file.to_owned(),
            line: point.line,
            col,
        })
    }

    /// The IL offsets of the visible points of a MethodDef, as they come.
    pub fn points(&self, method: Token) -> Option<Vec<u32>> {
        if !method.is(Table::MethodDef) {
            return None;
        }
        let (_, at) = self.method(method)?;
        let mut lines = Cursor {
            data: self.data,
            at,
        };
        let mut points = Vec::new();
        self.run_lines(&mut lines, |offset, _| points.push(offset))?;
        Some(points)
    }

    /// Runs the line program to its end, and gives out the visible points with
    /// their offsets; the number of points.
    fn run_lines(&self, lines: &mut Cursor<'a>, mut each: impl FnMut(u32, Point)) -> Option<usize> {
        let (mut file, mut line, mut offset, mut hidden) = (1u32, 1u32, 0u32, false);
        let (mut index, mut modified) = (0usize, false);
        loop {
            let mut emit = false;
            let mut end = false;
            match lines.byte()? {
                0 => {
                    let size = lines.byte()?;
                    let next = lines.at.checked_add(usize::from(size))?;
                    match lines.byte()? {
                        1 => {
                            end = true;
                            emit = modified;
                        }
                        0x40 => {
                            hidden = !hidden;
                            modified = true;
                        }
                        0x41..=0x7F => {}
                        _ => return None,
                    }
                    lines.at = next;
                }
                op if op >= self.opcode_base => {
                    let op = op - self.opcode_base;
                    let step = self.line_base.wrapping_add(i32::from(op % self.line_range));
                    offset = offset.wrapping_add(u32::from(op / self.line_range));
                    line = line.wrapping_add_signed(step);
                    emit = true;
                }
                1 => emit = true,
                2 => {
                    offset = offset.wrapping_add(lines.leb()?);
                    modified = true;
                }
                3 => {
                    line = line.wrapping_add(lines.leb()?);
                    modified = true;
                }
                4 => {
                    file = lines.leb()?;
                    modified = true;
                }
                8 => {
                    offset =
                        offset.wrapping_add(u32::from((255 - self.opcode_base) / self.line_range));
                    modified = true;
                }
                _ => return None,
            }
            if emit {
                if !hidden {
                    each(offset, Point { index, file, line });
                }
                index += 1;
                modified = false;
            }
            if end {
                return Some(index);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::SymbolFile;

    /// What the Mono C# compiler wrote for `/src/a.cs`:
    ///
    /// ```text
    /// using System;
    /// class A {
    ///   static int F(int x) {
    ///     int y = x + 1;
    ///     if (y > 3)
    ///       throw new Exception("e");
    ///     return y;
    ///   }
    ///   static void Main() { Console.WriteLine(F(2)); }
    /// }
    /// ```
    #[rustfmt::skip]
    const FILE: &[u8] = &[
        0x14, 0xA6, 0x7F, 0xFD, 0x23, 0x26, 0xE8, 0x45, 0x32, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x7D, 0xCB, 0xA7, 0xBC, 0x0C, 0xB0, 0xBF, 0x48, 0x90, 0x6D, 0x8D, 0x5D,
        0x77, 0x0C, 0x73, 0xA6, 0x20, 0x01, 0x00, 0x00, 0x70, 0x00, 0x00, 0x00, 0x7C, 0x00,
        0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x18, 0x01, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x10, 0x01, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x03, 0x00,
        0x00, 0x00, 0xEC, 0x00, 0x00, 0x00, 0x24, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x20, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF,
        0xFF, 0xFF, 0x08, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x09, 0x2F, 0x73, 0x72, 0x63, 0x2F, 0x61, 0x2E, 0x63, 0x73, 0x60, 0xA6, 0x6E, 0x40,
        0xCF, 0x64, 0x82, 0x4C, 0xB6, 0xF0, 0x42, 0xD4, 0x81, 0x72, 0xA7, 0x99, 0xFD, 0x19,
        0x57, 0xFF, 0x20, 0x8D, 0xEB, 0x66, 0x6B, 0x5E, 0x34, 0xAD, 0xFC, 0xA6, 0x28, 0x6E,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x01, 0x9E, 0x01, 0x00,
        0x9F, 0x01, 0xA0, 0x01, 0x00, 0x02, 0x01, 0x00, 0x01, 0x79, 0x00, 0x00, 0x00, 0x0C,
        0x13, 0x2B, 0x43, 0x32, 0x3B, 0x43, 0x00, 0x01, 0x01, 0x17, 0x05, 0x05, 0x07, 0x0D,
        0x05, 0x03, 0x01, 0xAE, 0x01, 0x00, 0xB3, 0x01, 0xB4, 0x01, 0x00, 0x02, 0x00, 0x00,
        0x00, 0x03, 0x08, 0x01, 0x12, 0x12, 0x32, 0x32, 0x00, 0x01, 0x01, 0x16, 0x18, 0x2A,
        0x20, 0x31, 0x01, 0xD0, 0x01, 0x00, 0xD1, 0x01, 0xD2, 0x01, 0x00, 0x02, 0x01, 0x00,
        0x00, 0x06, 0xA4, 0x00, 0x00, 0x00, 0xA1, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x06,
        0xC6, 0x00, 0x00, 0x00, 0xB5, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x06, 0xE2, 0x00,
        0x00, 0x00, 0xD3, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x70, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x9B, 0x00, 0x00, 0x00,
    ];

    #[test]
    fn points_of_a_compiled_method() {
        let symbols = SymbolFile::parse(FILE).unwrap();
        let at = |offset| {
            let found = symbols.lookup(Token(0x0600_0002), offset).unwrap();
            assert_eq!(found.file, "/src/a.cs");
            (found.line, found.col)
        };
        assert_eq!(at(0), (3, 23));
        assert_eq!(at(1), (4, 5));
        assert_eq!(at(4), (4, 5));
        assert_eq!(at(5), (5, 5));
        assert_eq!(at(12), (6, 7));
        assert_eq!(at(22), (6, 13));
        assert_eq!(at(23), (7, 5));
        assert_eq!(at(1000), (8, 3));
        assert_eq!(
            symbols.lookup(Token(0x0600_0003), 1).map(|l| l.line),
            Some(9)
        );
        assert_eq!(symbols.lookup(Token(0x0600_0004), 0), None);
        assert_eq!(symbols.lookup(Token(0x0200_0002), 0), None);
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_survived() {
        let lookup = |data: &[u8]| {
            if let Ok(symbols) = SymbolFile::parse(data) {
                (1..4).for_each(|rid| drop(symbols.lookup(Token::new(Table::MethodDef, rid), 9)));
            }
        };
        (0..FILE.len()).for_each(|len| lookup(&FILE[..len]));
        for at in 0..FILE.len() {
            for value in 0..=255 {
                let mut data = FILE.to_vec();
                data[at] = value;
                lookup(&data);
            }
        }
    }
}
