//! Symbol files: where in its source an instruction comes from.
//!
//! Invariant: a file is decoded per lookup; nothing is cached and nothing in
//! it is trusted. A lookup that meets malformed data answers `None`.

pub mod debug_directory;
pub mod mdb;
pub mod portable_pdb;

use crate::error::Error;
use crate::token::Token;
use mdb::Mdb;
use portable_pdb::PortablePdb;

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The path, as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 if not recorded.
    pub col: u32,
}

/// A symbol file of either format.
#[derive(Debug, Clone)]
pub enum SymbolFile<'a> {
    /// The Mono symbol format, `.mdb`.
    Mdb(Mdb<'a>),
    /// The portable PDB format, `.pdb`.
    PortablePdb(Box<PortablePdb<'a>>),
}

impl<'a> SymbolFile<'a> {
    /// Parses the headers of a symbol file of either format.
    pub fn parse(data: &'a [u8]) -> Result<SymbolFile<'a>, Error> {
        if data.starts_with(b"BSJB") {
            PortablePdb::parse(data).map(|pdb| SymbolFile::PortablePdb(Box::new(pdb)))
        } else {
            Mdb::parse(data).map(SymbolFile::Mdb)
        }
    }

    /// The identifier that matches the file to its image: the module's MVID
    /// (`.mdb`) or the first part of the PDB identifier.
    pub fn guid(&self) -> [u8; 16] {
        match self {
            SymbolFile::Mdb(mdb) => mdb.guid(),
            SymbolFile::PortablePdb(pdb) => pdb.guid(),
        }
    }

    /// The IL offsets at which a line of source begins in a MethodDef, sorted;
    /// `None` if nothing is known of the method.
    pub fn points(&self, method: Token) -> Option<Vec<u32>> {
        let mut points = match self {
            SymbolFile::Mdb(mdb) => mdb.points(method),
            SymbolFile::PortablePdb(pdb) => pdb.points(method),
        }?;
        points.sort_unstable();
        points.dedup();
        (!points.is_empty()).then_some(points)
    }

    /// The source of the instruction at `il_offset` of a MethodDef.
    pub fn lookup(&self, method: Token, il_offset: u32) -> Option<SourceLine> {
        match self {
            SymbolFile::Mdb(mdb) => mdb.lookup(method, il_offset),
            SymbolFile::PortablePdb(pdb) => pdb.lookup(method, il_offset),
        }
    }
}

/// Keeps the point that answers a lookup: the last visible one at or before
/// the offset, or else the first visible one.
struct Nearest<T> {
    wanted: u32,
    best: Option<T>,
}

impl<T> Nearest<T> {
    fn new(wanted: u32) -> Nearest<T> {
        Nearest { wanted, best: None }
    }

    /// Offers a visible point; points come in order of offset.
    fn offer(&mut self, offset: u32, point: T) {
        if offset <= self.wanted || self.best.is_none() {
            self.best = Some(point);
        }
    }
}
