//! The addresses of the helpers' stubs, as linked code names them.
//!
//! Invariant: the table is filled once at start-up, before any code is linked, and never changes.
use vervet_abi::Helper;
use vervet_os::{Chunks, Published};

pub(super) static STUBS: Chunks<Published<usize>> = Chunks::new();
/// The stubs that preserve all registers, of the helpers that have one.
pub(super) static PRESERVING: Chunks<Published<usize>> = Chunks::new();
/// Those that leave exceptions pending besides.
pub(super) static DEFERRING: Chunks<Published<usize>> = Chunks::new();

/// Code address of a helper's stub.
pub fn address(helper: Helper) -> usize {
    *STUBS
        .at(helper as u32)
        .get()
        .expect("helpers are made at start-up")
}

/// Code address of a helper's stub that preserves all registers. The helper has one ([`Helper::preserves_registers`]).
pub fn preserving(helper: Helper) -> usize {
    *PRESERVING
        .at(helper as u32)
        .get()
        .expect("helpers are made at start-up")
}

/// As [`preserving`], of the stub that leaves an exception pending.
pub fn deferring(helper: Helper) -> usize {
    *DEFERRING
        .at(helper as u32)
        .get()
        .expect("helpers are made at start-up")
}
