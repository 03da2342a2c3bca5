//! The targets.
//!
//! Invariant: a target's function is total but for its oracles: whatever the bytes, it returns, or panics because what it
//! tests is wrong.

mod attributes;
mod bodies;
mod code_files;
mod config;
mod grafts;
mod images;
mod names;
mod options;
mod processes;
mod recordings;
mod signatures;
mod symbols;
mod system;
mod types;
mod versions;

use crate::target::Target;

/// Every target.
pub static ALL: &[Target] = &[
    images::IMAGE,
    images::WRITE,
    signatures::SIGNATURE,
    attributes::ATTRIBUTE,
    bodies::BODY,
    symbols::SYMBOLS,
    versions::VERSION,
    code_files::CODE_FILE,
    recordings::RECORDING,
    types::TYPES,
    grafts::GRAFTS,
    config::CONFIG,
    names::ASSEMBLY_NAME,
    names::TYPE_NAME,
    options::OPTIONS,
    system::SYSTEM,
    processes::REFLECT,
    processes::PROGRAM,
    processes::COMMAND,
];
