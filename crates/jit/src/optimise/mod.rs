//! Passes over a finished CLIF function, before Cranelift compiles it.
//!
//! # How it works
//! [`run`] calls one pass after the other. They see CLIF and nothing else: no IL, no classes. What a pass must know beyond the function, the
//! emitter says in [`FrameNotes`].
//!
//! ```text
//! translator -> CLIF -> slots: stack slots become values -> Cranelift
//! ```
//!
//! # Invariants
//! * A pass changes no behaviour that the program, the collector or the unwinder can notice.
//! * A pass is deterministic: blobs of two compiles of one method are compared (`--cache=verify`).
//! * Every instruction that a pass adds has the source location of the instruction it stands for.
mod notes;
mod slots;

pub use notes::FrameNotes;

use cranelift_codegen::Context;
use cranelift_codegen::isa::TargetIsa;

/// Functions of more instructions than this are left as they are. Few methods have a tenth of it, and for the others the register allocator takes the
/// time anyway; the limit bounds what the passes, which are not linear, may add.
const MAX_INSTRUCTIONS: usize = 20_000;

/// Runs all passes on the function of the context.
///
/// The control-flow graph and the dominator tree are computed in the memory of the context, where Cranelift computes them again afterwards. Blocks
/// that cannot be reached are removed first: what they do with a slot must not keep it in memory.
///
/// # Errors
/// What Cranelift says of an invalid function.
pub fn run(
    context: &mut Context,
    notes: &FrameNotes,
    isa: &dyn TargetIsa,
) -> Result<(), cranelift_codegen::CodegenError> {
    let func = &context.func;
    let promotes = notes.promote()
        && !func.sized_stack_slots.is_empty()
        && func.dfg.num_insts() <= MAX_INSTRUCTIONS;
    if promotes {
        context.compute_cfg();
        context.compute_domtree();
        context.eliminate_unreachable_code(isa)?;
        slots::promote(&mut context.func, &context.cfg, &context.domtree, notes);
    }
    notes.share(&mut context.func);
    Ok(())
}
