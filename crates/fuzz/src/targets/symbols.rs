//! Target `symbols`: `.mdb` files and portable `.pdb` files.
//!
//! Oracles: a lookup ends; its answer does not depend on what was asked before.

use crate::corpus::Corpus;
use crate::mutate;
use crate::random::Random;
use crate::target::Target;
use vervet_metadata::testing::{Metadata, halves};
use vervet_metadata::{SymbolFile, Table, Token};

pub(super) const SYMBOLS: Target = Target {
    name: "symbols",
    about: ".mdb and portable .pdb files: a lookup ends",
    run,
    generate,
    corpus: || Corpus::read("symbols"),
    memory: 1 << 20,
    missing: || None,
};

fn run(data: &[u8]) {
    let Ok(symbols) = SymbolFile::parse(data) else {
        return;
    };
    let ask = |rid: u32, offset: u32| symbols.lookup(Token::new(Table::MethodDef, rid), offset);
    for rid in (0..8).chain([0xFFFF, 0xFF_FFFF]) {
        for offset in [0, 1, 7, 0x7FFF_FFFF, u32::MAX] {
            let found = ask(rid, offset);
            assert_eq!(found, ask(rid, offset));
        }
    }
    let _ = (symbols.guid(), symbols.lookup(Token(u32::MAX), 0));
}

/// A portable PDB of random documents and points.
fn pdb(random: &mut Random) -> Vec<u8> {
    let blobs: Vec<u8> = (0..random.below(96))
        .map(|_| random.number() as u8)
        .collect();
    let mut header = vec![0; 20];
    header.extend(0u32.to_le_bytes());
    header.extend((1u64 << (Table::MethodDef as u8)).to_le_bytes());
    header.extend(random.number().to_le_bytes());
    let mut index = || (random.bits() % 80) as u16;
    let documents = (0..3).map(|_| halves(&[index(), 0, index(), 0])).collect();
    let methods = (0..4).map(|_| halves(&[index() % 5, index()])).collect();
    Metadata {
        tables: vec![
            (Table::Document, documents),
            (Table::MethodDebugInformation, methods),
        ],
        strings: b"\0a.cs\0".to_vec(),
        blobs,
        pdb: Some(header),
        ..Metadata::default()
    }
    .root()
}

fn generate(random: &mut Random, corpus: &Corpus) -> Vec<u8> {
    let mut data = if corpus.inputs.is_empty() || random.once_in(2) {
        pdb(random)
    } else {
        random.of(&corpus.inputs).1.clone()
    };
    if !random.once_in(8) {
        mutate::bytes(&mut data, random);
    }
    data
}
