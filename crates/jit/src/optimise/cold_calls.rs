//! Calls on rare paths leave the registers of the others alone: they go through a stub that preserves
//! all of them ([`crate::stubs::cold_call`]).
//!
//! ```text
//!     v2 = call_indirect sig0, v0(v1)            v5 = get_pinned_reg
//!                                     ->         store v0, v5+COLD_FUNCTION
//!                                                call fn1(v1)           ; PreserveAll
//!                                                v2 = load v5+COLD_FUNCTION
//! ```
//!
//! An ordinary call gives its callee most registers. In a loop the register allocator then keeps what
//! lives across it in memory, for every turn, however rarely the call is made.
//!
//! # Invariants
//! * Only calls are changed whose stub the translator has named: their arguments are in the same
//!   registers under both conventions, and no handler is around them.
//! * A call outside of loops stays: it is made once at most for what is around it.
use super::{ColdCall, FrameNotes, Rarely};
use crate::blob::ColdResult;
use crate::emit::trusted;
use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{
    ExtFuncData, FuncRef, Function, InstBuilder, Opcode, Signature, Value,
};
use cranelift_codegen::isa::CallConv;
use smallvec::SmallVec;
use vervet_abi::context::{COLD_FUNCTION, COLD_RESULT};

/// Makes the rare ones of the calls that the notes name go through their stubs.
pub(super) fn preserve(func: &mut Function, notes: &FrameNotes) {
    for noted in notes.cold_calls() {
        // (It may have been removed.)
        if let Some(block) = func.layout.inst_block(noted.call)
            && (noted.rarely == Rarely::Always || func.layout.is_cold(block))
            && func.dfg.insts[noted.call].opcode() == Opcode::CallIndirect
        {
            go_through_stub(func, noted);
        }
    }
}

/// Replaces one call.
///
/// Nothing that stops or calls may come between the store and the call, nor between the call and the
/// load: the word of the context is that of the thread, and others of its calls use it.
fn go_through_stub(func: &mut Function, noted: &ColdCall) {
    let values: SmallVec<[Value; 8]> = func.dfg.inst_args(noted.call).into();
    let [target, ref args @ ..] = values[..] else {
        return;
    };
    let stub = import(func, noted, args);
    let result = func.dfg.inst_results(noted.call).first().copied();
    let ty = result.map(|v| func.dfg.value_type(v));
    func.dfg.detach_inst_results(noted.call);
    let mut at = FuncCursor::new(func).at_inst(noted.call);
    at.use_srcloc(noted.call);
    let context = at.ins().get_pinned_reg(I64);
    at.ins().store(trusted(), target, context, COLD_FUNCTION);
    at.ins().call(stub, args);
    if let (Some(old), Some(ty)) = (result, ty) {
        let new = match noted.result {
            ColdResult::Nothing => unreachable!("a call with a result was noted without"),
            ColdResult::Word | ColdResult::Float => {
                at.ins().load(ty, trusted(), context, COLD_FUNCTION)
            }
            ColdResult::Reference => {
                let reference = at.ins().load(ty, trusted(), context, COLD_RESULT);
                let none = at.ins().iconst(I64, 0);
                at.ins().store(trusted(), none, context, COLD_RESULT);
                reference
            }
        };
        at.func.dfg.change_to_alias(old, new);
    }
    at.remove_inst();
}

/// The stub, as a function that takes those arguments: its signature has the parameters of the call,
/// in the order and of the types that they have there, and no result.
fn import(func: &mut Function, noted: &ColdCall, args: &[Value]) -> FuncRef {
    let mut signature = Signature::new(CallConv::PreserveAll);
    let old = func.dfg.call_signature(noted.call).expect("a call");
    signature
        .params
        .clone_from(&func.dfg.signatures[old].params);
    debug_assert_eq!(signature.params.len(), args.len());
    let signature = func.import_signature(signature);
    func.import_function(ExtFuncData {
        name: noted.stub.clone(),
        signature,
        colocated: false,
        patchable: false,
    })
}

#[cfg(test)]
mod tests {
    use super::preserve;
    use crate::blob::ColdResult;
    use crate::optimise::testing::parsed;
    use crate::optimise::{ColdCall, FrameNotes, Rarely};
    use cranelift_codegen::ir::{ExternalName, Inst, Opcode, UserExternalName};

    #[test]
    fn calls_in_cold_blocks_go_through_the_stub_and_others_stay() {
        let (mut func, ..) = parsed(
            "function %f(i64, i64) -> i64 {
                sig0 = (i64) -> i64 tail
            block0(v0: i64, v1: i64):
                v2 = call_indirect sig0, v0(v1)
                brif v2, block1, block2
            block1 cold:
                v3 = call_indirect sig0, v0(v2)
                jump block2
            block2:
                return v2
            }",
        );
        let calls: Vec<Inst> = func
            .layout
            .blocks()
            .flat_map(|b| func.layout.block_insts(b))
            .filter(|i| func.dfg.insts[*i].opcode() == Opcode::CallIndirect)
            .collect();
        let mut notes = FrameNotes::default();
        let name = func.declare_imported_user_function(UserExternalName::new(0, 0));
        for call in calls {
            notes.cold_call(ColdCall {
                call,
                rarely: Rarely::InColdBlocks,
                result: ColdResult::Reference,
                stub: ExternalName::user(name),
            });
        }
        preserve(&mut func, &notes);
        func.dfg.resolve_all_aliases();
        let text = func.to_string();
        assert_eq!(text.matches("call_indirect").count(), 1, "{text}");
        assert_eq!(text.matches("call fn0(v2)").count(), 1, "{text}");
        assert!(text.contains("preserve_all"), "{text}");
        // What comes back, and the word that is empty again.
        assert_eq!(text.matches("load").count(), 1, "{text}");
        assert_eq!(text.matches("store").count(), 2, "{text}");
    }
}
