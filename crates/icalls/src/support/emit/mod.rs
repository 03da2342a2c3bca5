//! What the internal calls of System.Reflection.Emit share: reading builder objects, and writing what they describe.
//!
//! # How it works
//! ```text
//! builder objects (managed)  --CreateType-->  rows of a growing image  -->  classes, as of any other image
//! DynamicMethod objects      --------------------------------------------->  methods without metadata (`vervet_types::dynamic`)
//! ```
//! * [`read`]: fields of builder objects
//! * [`modules`]: assemblies and modules that the program defines
//! * [`types`]: what a Type object stands for; [`encoder`]: tokens; [`signatures`]; [`error`]
//! * [`handles`]: the methods and fields behind the objects that programs pass
//! * [`registry`]: what pseudo tokens stand for
//! * [`create`]: CreateType; with [`attributes`], [`constants`], [`marshal`]
//! * [`bodies`]: an ILGenerator's code, locals and clauses
//! * [`save`]: the files of modules
//!
//! # Invariants
//! * Only fields of builder objects are read, so no managed code runs while something is encoded.
//! * The declared layouts of builder objects are compared with the class library before the first is read ([`check`]).
pub mod attributes;
pub mod bodies;
pub mod constants;
pub mod create;
pub mod encoder;
pub mod error;
pub mod handles;
pub mod marshal;
pub mod modules;
pub mod read;
pub mod registry;
pub mod save;
pub mod signatures;
pub mod types;

use std::sync::atomic::{AtomicBool, Ordering};
use vervet_runtime::classes::layout_check;
use vervet_runtime::cx::{Cx, Result};
use vervet_types::Known;

/// Has [`check`] found the layouts to be right?
static CHECKED: AtomicBool = AtomicBool::new(false);

/// Compares the declared layouts of builder objects with the class library, once. Programs that emit nothing do without.
///
/// # Errors
/// ExecutionEngineException: the class library has other fields.
pub fn check(cx: &Cx<'_>) -> Result<()> {
    if CHECKED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let universe = cx.universe();
    if !layout_check::was_compared(universe.corlib()) || cfg!(debug_assertions) {
        layout_check::check_emit(universe)
            .map_err(|text| cx.throw(Known::ExecutionEngineException, &text))?;
    }
    CHECKED.store(true, Ordering::Relaxed);
    Ok(())
}
