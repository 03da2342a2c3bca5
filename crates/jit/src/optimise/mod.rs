//! Passes over a finished CLIF function, before Cranelift compiles it.
//!
//! # How it works
//! [`run`] calls one pass after the other. They see CLIF and nothing else: no IL, no classes. What a
//! pass must know beyond the function, the emitter says in [`FrameNotes`].
//!
//! ```text
//! translator -> CLIF -> selects, signs       choices between constants and by a sign become conditional moves
//!                    -> switches  questions about one number become one jump table, small tables comparisons
//!                    -> slots     stack slots become values
//!                    -> objects   objects that do not escape become stack slots
//!                    -> known     branches that an earlier one has decided go
//!                    -> rare      what a branch leads to that asks for one value of many is cold
//!                    -> divisions, bounds   bounds checks that cannot fail go, and so does the sign of dividends
//!                    -> cold      rare paths go behind the others
//!                    -> cold_calls   what lives across a rare call stays in registers
//!                    -> Cranelift's own passes
//!                    -> lines     blocks that follow one another become one
//!                    -> latches   the end of a loop's turn stands behind each way that leads there
//!                    -> positions   what takes a load into itself has its source location
//!                    -> cold, copies
//!                    -> whole_steps   what lies between a store and its card mark belongs to them
//!                    -> Cranelift's code generator
//! ```
//!
//! Slots come first: an index or an array that lay in a struct is a value by the time that its checks
//! are looked at.
//!
//! # Invariants
//! * A pass changes no behaviour that the program, the collector or the unwinder can notice.
//! * A pass is deterministic: blobs of two compiles of one method are compared (`--cache=verify`).
//! * Every instruction that a pass adds has the source location of the instruction it stands for.
mod bounds;
mod cold;
mod cold_calls;
mod copies;
mod divisions;
mod edges;
mod known;
mod latches;
mod lines;
mod notes;
mod objects;
mod positions;
mod rare;
mod selects;
mod signs;
mod slots;
mod switches;
mod whole_steps;

pub use notes::{Allocation, ColdCall, FrameNotes, Rarely};
pub(crate) use whole_steps::gap;

use crate::emit::trap_code;
use cranelift_codegen::Context;
use cranelift_codegen::isa::TargetIsa;
use vervet_abi::ThrowKind;

/// Functions of more instructions than this are left as they are. Few methods have a tenth of it, and
/// for the others the register allocator takes the time anyway; the limit bounds what the passes,
/// which are not linear, may add.
const MAX_INSTRUCTIONS: usize = 20_000;

/// How many times objects become slots, and these values: an object in a field of another one needs
/// one more.
const ROUNDS: u32 = 4;

/// Runs all passes on the function of the context.
///
/// The control-flow graph and the dominator tree are computed in the memory of the context, where
/// Cranelift computes them again afterwards. Blocks that cannot be reached are removed first: what
/// they do with a slot must not keep it in memory.
///
/// # Errors
/// What Cranelift says of an invalid function.
pub fn run(
    context: &mut Context,
    notes: &mut FrameNotes,
    isa: &dyn TargetIsa,
) -> Result<(), cranelift_codegen::CodegenError> {
    let func = &context.func;
    if func.dfg.num_insts() <= MAX_INSTRUCTIONS {
        selects::convert(&mut context.func);
        signs::convert(&mut context.func);
        switches::merge(&mut context.func);
    }
    let func = &context.func;
    let (slots, checks) = (
        !func.sized_stack_slots.is_empty(),
        !notes.lengths().is_empty(),
    );
    if notes.promote() && func.dfg.num_insts() <= MAX_INSTRUCTIONS {
        drop_unreachable(context, isa)?;
        if slots {
            replace_slots(context, notes, isa)?;
        }
        let mut rounds = 0;
        while rounds < ROUNDS
            && objects::replace(&mut context.func, &context.cfg, &context.domtree, notes)
        {
            drop_unreachable(context, isa)?;
            replace_slots(context, notes, isa)?;
            rounds += 1;
        }
        let null = trap_code(ThrowKind::NullReference);
        let (cfg, domtree) = (&context.cfg, &context.domtree);
        let objects = notes.allocations().iter().map(|a| a.object);
        if known::decide(&mut context.func, cfg, domtree, null, objects) {
            drop_unreachable(context, isa)?;
        }
        let (cfg, domtree) = (&context.cfg, &context.domtree);
        rare::mark(&mut context.func, cfg, domtree);
        let divides = divisions::test_remainders(&mut context.func);
        let (cfg, domtree) = (&context.cfg, &context.domtree);
        if (checks || divides) && bounds::remove_checks(&mut context.func, cfg, domtree, notes) {
            // Cranelift's verifier compares them with the function.
            context.compute_cfg();
            context.compute_domtree();
        }
    }
    notes.share(&mut context.func);
    cold::mark_slow_paths(&mut context.func, notes);
    cold::spread(&mut context.func);
    cold_calls::preserve(&mut context.func, notes);
    Ok(())
}

/// Makes values of stack slots.
fn replace_slots(
    context: &mut Context,
    notes: &FrameNotes,
    isa: &dyn TargetIsa,
) -> Result<(), cranelift_codegen::CodegenError> {
    if slots::promote(&mut context.func, &context.cfg, &context.domtree, notes) {
        drop_unreachable(context, isa)?;
    }
    Ok(())
}

/// Computes the control-flow graph and the dominator tree, and removes what cannot be reached.
fn drop_unreachable(
    context: &mut Context,
    isa: &dyn TargetIsa,
) -> Result<(), cranelift_codegen::CodegenError> {
    context.compute_cfg();
    context.compute_domtree();
    context.eliminate_unreachable_code(isa)
}

/// Runs the one pass that quickly compiled code needs, too: its loads are joined with what computes with them all the same.
pub fn finish_quick(context: &mut Context) {
    positions::of_loads(&mut context.func);
}

/// Runs the passes that come after Cranelift's own, on a function that [`Context::optimize`] has left.
pub fn finish(context: &mut Context) {
    if lines::join(&mut context.func) {
        context.compute_cfg();
        context.compute_domtree();
    }
    if latches::copy(&mut context.func, &context.domtree) {
        context.compute_cfg();
        context.compute_domtree();
    }
    context
        .loop_analysis
        .compute(&context.func, &context.cfg, &context.domtree);
    positions::of_loads(&mut context.func);
    cold::sink_constants(&mut context.func);
    copies::copy_fixed(&mut context.func, &context.loop_analysis);
    whole_steps::close(&mut context.func);
}

/// What tests of passes begin with.
#[cfg(test)]
mod testing {
    use cranelift_codegen::dominator_tree::DominatorTree;
    use cranelift_codegen::flowgraph::ControlFlowGraph;
    use cranelift_codegen::ir::Function;
    use cranelift_codegen::isa::OwnedTargetIsa;
    use cranelift_codegen::settings::{self, Configurable};

    /// The processor of this machine.
    pub(super) fn isa() -> OwnedTargetIsa {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").expect("a setting");
        cranelift_native::builder()
            .expect("a supported machine")
            .finish(settings::Flags::new(flags))
            .expect("valid settings")
    }

    /// The function of a text, with its control-flow graph and dominator tree.
    pub(super) fn parsed(text: &str) -> (Function, ControlFlowGraph, DominatorTree) {
        let func = cranelift_reader::parse_functions(text)
            .expect("valid")
            .remove(0);
        let mut cfg = ControlFlowGraph::new();
        cfg.compute(&func);
        let domtree = DominatorTree::with_function(&func, &cfg);
        (func, cfg, domtree)
    }
}
