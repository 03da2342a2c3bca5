//! What Cranelift's passes have put between two instructions that belong together belongs to them.
//!
//! ```text
//!     store v1, v0+8         ; IL 10, NO_REDIRECT
//!     v3 = ushr v2, 9        ; was simplified, and has no location any more
//!     istore8 v1, v3+table   ; IL 10, NO_REDIRECT
//! ```
//!
//! # Invariants
//! * No thread is made to throw between two such instructions, and the verifier of the heap knows a thread that was stopped there: every
//!   instruction between them has their location, which has [`NO_REDIRECT`]. A store whose card is never marked loses its object.
//! * The instructions of one step have one location; its blocks are left by instructions that have it, too.
//! * The pass is the last one: what is moved or added later would have a location of its own.
use crate::emit::positions::NO_REDIRECT;
use cranelift_codegen::CompiledCode;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::{Block, Function, Inst, SourceLoc};
use rustc_hash::FxHashMap;

/// Gives everything within a step the location of the step, and nothing else such a location: what was computed for one step, and is computed elsewhere now.
pub(super) fn close(func: &mut Function) {
    let entered = entered(func);
    let mut locations: Vec<(Inst, SourceLoc)> = Vec::new();
    // Since the last instruction of a step, or since the beginning of a block.
    let mut since: Vec<Inst> = Vec::new();
    for block in func.layout.blocks() {
        let mut last = None;
        for inst in func.layout.block_insts(block) {
            let Some(step) = step_of(func, inst) else {
                since.push(inst);
                continue;
            };
            let goes_on = match last {
                Some(last) => last == step,
                None => entered[block].contains(&step),
            };
            match goes_on {
                true => locations.extend(since.drain(..).map(|i| (i, step))),
                false => locations.extend(since.drain(..).filter_map(|i| outside(func, i))),
            }
            last = Some(step);
        }
        locations.extend(since.drain(..).filter_map(|i| outside(func, i)));
    }
    for (inst, location) in locations {
        func.set_srcloc(inst, location);
    }
}

/// The step that an instruction is one of: it is there for its effect, so nothing has moved it.
fn step_of(func: &Function, inst: Inst) -> Option<SourceLoc> {
    let opcode = func.dfg.insts[inst].opcode();
    let location = func.srcloc(inst);
    let has_effect = opcode.can_store()
        || opcode.is_call()
        || opcode.is_terminator()
        || opcode.other_side_effects();
    (has_effect && is_of_step(location)).then_some(location)
}

/// The location of an instruction that is in no step, if it has one of a step.
fn outside(func: &Function, inst: Inst) -> Option<(Inst, SourceLoc)> {
    let location = func.srcloc(inst);
    is_of_step(location).then(|| (inst, SourceLoc::new(location.bits() & !NO_REDIRECT)))
}

/// By block: the steps that a block before it has begun and not ended.
fn entered(func: &Function) -> SecondaryMap<Block, Vec<SourceLoc>> {
    let mut entered: SecondaryMap<Block, Vec<SourceLoc>> = SecondaryMap::new();
    for block in func.layout.blocks() {
        let last = func.layout.last_inst(block);
        if let Some(step) = last.and_then(|last| step_of(func, last)) {
            for next in func.block_successors(block) {
                entered[next].push(step);
            }
        }
    }
    entered
}

/// Where the machine code of a step is interrupted within a block, if it is anywhere: the offset at which it goes on.
pub(crate) fn gap(code: &CompiledCode) -> Option<u32> {
    let mut blocks = code.bb_starts.iter().peekable();
    let mut ends: FxHashMap<u32, u32> = FxHashMap::default();
    code.buffer.get_srclocs_sorted().iter().find_map(|s| {
        while blocks.next_if(|b| **b <= s.start).is_some() {
            ends.clear();
        }
        let before = is_of_step(s.loc).then(|| ends.insert(s.loc.bits(), s.end));
        before
            .flatten()
            .is_some_and(|end| end != s.start)
            .then_some(s.start)
    })
}

/// (What has no location has all bits.)
fn is_of_step(location: SourceLoc) -> bool {
    !location.is_default() && location.bits() & NO_REDIRECT != 0
}

#[cfg(test)]
mod tests {
    use super::{NO_REDIRECT, close};
    use crate::optimise::testing::parsed;
    use cranelift_codegen::ir::{Function, SourceLoc};

    /// Sets the locations, an IL offset each, and `true` for those of a step. Returns them as the pass leaves them.
    fn closed(text: &str, locations: &[Option<(u32, bool)>]) -> Vec<Option<(u32, bool)>> {
        let (mut func, ..) = parsed(text);
        let insts = |func: &Function| -> Vec<_> {
            let blocks = func.layout.blocks();
            blocks.flat_map(|b| func.layout.block_insts(b)).collect()
        };
        let all = insts(&func);
        assert_eq!(all.len(), locations.len());
        for (inst, location) in all.iter().zip(locations) {
            if let Some((il, step)) = location {
                let bits = il | if *step { NO_REDIRECT } else { 0 };
                func.set_srcloc(*inst, SourceLoc::new(bits));
            }
        }
        close(&mut func);
        let location = |inst| Some(func.srcloc(inst)).filter(|l| !l.is_default());
        (all.into_iter())
            .map(|i| location(i).map(|l| (l.bits() & !NO_REDIRECT, l.bits() & NO_REDIRECT != 0)))
            .collect()
    }

    const STEP: Option<(u32, bool)> = Some((10, true));

    #[test]
    fn what_lies_between_a_store_and_its_mark_is_of_the_step() {
        let text = "function u0:0(i64, i64, i64) {
            block0(v0: i64, v1: i64, v2: i64):
                v3 = iadd v0, v2
                store notrap aligned v1, v0+8
                v4 = ushr v0, v2
                v5 = iadd v4, v2
                istore8 notrap aligned v1, v5
                v6 = iadd v3, v2
                return
        }";
        let other = Some((7, false));
        let before = [None, STEP, None, other, STEP, None, other];
        let after = [None, STEP, STEP, STEP, STEP, None, other];
        assert_eq!(closed(text, &before), after);
    }

    #[test]
    fn steps_of_two_places_stay_apart() {
        let text = "function u0:0(i64, i64) {
            block0(v0: i64, v1: i64):
                store notrap aligned v1, v0+8
                v2 = iadd v0, v1
                store notrap aligned v1, v0+16
                return
        }";
        let locations = [STEP, None, Some((20, true)), None];
        assert_eq!(closed(text, &locations), locations);
    }

    #[test]
    fn what_is_computed_for_two_steps_is_of_the_one_it_stands_in() {
        let text = "function u0:0(i64, i64) {
            block0(v0: i64, v1: i64):
                v2 = iadd v0, v1
                store notrap aligned v1, v0+8
                v3 = ushr v0, v1
                istore8 notrap aligned v1, v3
                v4 = iadd v3, v1
                return
        }";
        let other = Some((20, true));
        let before = [STEP, STEP, other, STEP, other, None];
        let after = [Some((10, false)), STEP, STEP, STEP, Some((20, false)), None];
        assert_eq!(closed(text, &before), after);
    }

    #[test]
    fn a_step_goes_on_in_the_block_to_which_it_branches() {
        let text = "function u0:0(i64, i64) {
            block0(v0: i64, v1: i64):
                store notrap aligned v1, v0+8
                brif v0, block1, block2
            block1:
                v2 = iadd v0, v1
                store notrap aligned v1, v2
                jump block2
            block2:
                v3 = iadd v0, v1
                return
        }";
        let before = [STEP, STEP, None, STEP, None, None, None];
        let after = [STEP, STEP, STEP, STEP, None, None, None];
        assert_eq!(closed(text, &before), after);
        // A loop around a step is none.
        let ended = [STEP, None, None, STEP, None, None, None];
        assert_eq!(closed(text, &ended), ended);
    }
}
