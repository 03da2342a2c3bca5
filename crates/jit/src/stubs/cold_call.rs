//! Calls of managed code that preserve every register, for calls that are made rarely.
//!
//! # How it works
//! A call gives its callee all registers that carry arguments, and most others. In a loop that calls only where a guess was wrong, or the first time, the register
//! allocator keeps the loop's variables in memory because of it. So such a call goes through a stub that saves all registers, calls, and loads them again. Arguments
//! stay where they are: the PreserveAll convention has them in the same registers as the Tail convention.
//!
//! ```text
//!     context.cold_function = target
//!     call cold_call(arguments)          stub(rdi, rsi, rdx, rcx, r8, r9, xmm0 .. xmm7), PreserveAll:
//!                                            v1 = call_indirect [context.cold_function](all of them)
//!                                            context.cold_function = v1      ; a reference: context.cold_result
//!     v0 = load context.cold_function
//! ```
//!
//! # Invariants
//! * A reference that comes back is in a word that the collector visits. The address of a field, which it would have to find as well, is never returned this way.
//! * The stub does not check the stack: the guard has room for [`COLD_CALL_FRAME`].
//! * No handler is around such a call: a handler is entered with no register preserved.
use crate::blob::{Blob, ColdResult};
use crate::emit::front::StackCheck;
use crate::emit::sequences::build;
use crate::emit::{Codegen, Results};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass};
use cranelift_codegen::ir::types::{F64, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature};
use cranelift_codegen::isa::CallConv;
use vervet_abi::context::{COLD_FUNCTION, COLD_RESULT};
use vervet_abi::stack::COLD_CALL_FRAME;

/// Registers that carry integers, and floats.
const REGISTERS: (usize, usize) = (6, 8);

/// What a call of that signature gives back. None: the call cannot be made this way.
pub(crate) fn result_of(lowered: &LoweredSignature) -> Option<ColdResult> {
    let (mut ints, mut floats) = (0, 0);
    for param in &lowered.clif.params {
        match param.value_type {
            ty if ty.bits() > 64 => return None,
            ty if ty.is_float() => floats += 1,
            _ => ints += 1,
        }
    }
    if ints > REGISTERS.0 || floats > REGISTERS.1 {
        return None;
    }
    let class = lowered.ret_class;
    match (&lowered.ret, &lowered.clif.returns[..]) {
        (Pass::None | Pass::Address, []) => Some(ColdResult::Nothing),
        (Pass::Scalar(_), [one]) if one.value_type.is_float() => Some(ColdResult::Float),
        (Pass::Scalar(_), [_]) if class.is_byref() => None,
        (Pass::Scalar(_), [_]) if class.is_ptr() || class.is_value_type().ok()? => {
            Some(ColdResult::Word)
        }
        (Pass::Scalar(_), [_]) => Some(ColdResult::Reference),
        _ => None,
    }
}

/// The stub for calls with that result.
pub fn cold_call(codegen: &Codegen, result: ColdResult) -> Result<Blob, CompileError> {
    let mut signature = Signature::new(CallConv::PreserveAll);
    let ints = std::iter::repeat_n(AbiParam::new(I64), REGISTERS.0);
    let floats = std::iter::repeat_n(AbiParam::new(F64), REGISTERS.1);
    signature.params.extend(ints.chain(floats));
    let mut callee = Signature {
        call_conv: CallConv::Tail,
        ..signature.clone()
    };
    match result {
        ColdResult::Nothing => {}
        ColdResult::Word | ColdResult::Reference => callee.returns.push(AbiParam::new(I64)),
        ColdResult::Float => callee.returns.push(AbiParam::new(F64)),
    }
    let name = format!("(cold call, {result:?})");
    let blob = build(codegen, Tier::Optimised, &name, signature, |e, args| {
        e.check = StackCheck::Never;
        let target = e.load_context(I64, COLD_FUNCTION);
        let callee = e.b.import_signature(callee);
        let results: Results = e.call_indirect(callee, target, args);
        match result {
            ColdResult::Nothing => {}
            ColdResult::Word | ColdResult::Float => e.store_context(results[0], COLD_FUNCTION),
            ColdResult::Reference => e.store_context(results[0], COLD_RESULT),
        }
        e.b.ins().return_(&[]);
        Ok(())
    })?;
    // The return address and the frame pointer lie above the frame.
    assert!(blob.frame_size as usize + 16 <= COLD_CALL_FRAME);
    Ok(blob)
}
