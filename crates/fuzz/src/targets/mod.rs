//! The targets.
//!
//! Invariant: a target's function is total but for its oracles: whatever the bytes, it returns, or panics because what it
//! tests is wrong.

mod attributes;
mod bodies;
mod config;
mod images;
mod names;
mod options;
mod processes;
mod signatures;
mod symbols;
mod system;
mod types;
mod versions;

use crate::corpus::Corpus;
use crate::random::Random;

/// Something that reads bytes.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it reads and what must hold.
    pub about: &'static str,
    /// Reads an input and panics when an oracle is hurt.
    pub run: fn(&[u8]),
    /// An input that knows the format.
    pub generate: fn(&mut Random, &Corpus) -> Vec<u8>,
    /// What the generator starts from, and what is replayed first.
    pub corpus: fn() -> Corpus,
    /// How many bytes a case may allocate besides 512 for each byte of its input.
    pub memory: usize,
    /// Why it cannot run here; None if it can.
    pub missing: fn() -> Option<String>,
}

/// Every target.
pub static ALL: &[Target] = &[
    images::IMAGE,
    signatures::SIGNATURE,
    attributes::ATTRIBUTE,
    bodies::BODY,
    symbols::SYMBOLS,
    versions::VERSION,
    types::TYPES,
    config::CONFIG,
    names::ASSEMBLY_NAME,
    names::TYPE_NAME,
    options::OPTIONS,
    system::SYSTEM,
    processes::REFLECT,
    processes::PROGRAM,
    processes::COMMAND,
];
