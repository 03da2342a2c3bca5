//! The stubs through which calls that are made rarely go, so that they preserve every register.
//!
//! ```text
//!   code is linked that names a stub (Symbol::ColdCall)
//!     it was made before                      -> its address
//!     the cache of compiled code has it       -> link it
//!     otherwise                               -> jit/stubs/cold_call.rs makes it; the cache keeps it
//! ```
//! There are four: by what a call gives back. Walks of the stack go through their frames as through those of other stubs, and show none.
//!
//! # Invariants
//! * A stub is made when code that names it is linked, and stays for ever. Two threads may make one at the same time; both work.
use crate::code::table::CodeKind;
use crate::code::{kept_stub, link};
use crate::cx::{Cx, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_jit::blob::ColdResult;

static STUBS: [AtomicUsize; ColdResult::ALL.len()] = [const { AtomicUsize::new(0) }; 4];

/// The address of the stub for calls with that result.
pub fn address<'cx>(cx: &'cx Cx<'cx>, result: ColdResult) -> Result<usize> {
    let cell = &STUBS[result as usize];
    match cell.load(Ordering::Acquire) {
        0 => {
            let blob = kept_stub::cold_call(cx, result);
            let code = link::link(cx, cx.rt().root, blob, CodeKind::Stub("cold-call"))?.start;
            cell.store(code, Ordering::Release);
            Ok(code)
        }
        known => Ok(known),
    }
}
