//! The internal call by which reflection calls methods: plain calls are made here, the others by the runtime.
//!
//! # How it works
//! ```text
//! InternalInvoke(info, object, parameters, out exception):
//!     brif exception & TAG, ready, ask
//! ready:                          ; the caller has asked, module `calls/bypass.rs`
//!     words = exception - TAG;  exception = words[EXCEPTION]
//!     jump plain(words[CODE], &words[BLOCK])
//! ask:
//!     code = PlainTarget(info, object, parameters, own block)
//!     brif code, plain(code, own block), slow
//! slow: (cold)
//!     return_call_indirect block[0](info, object, parameters, exception)
//! plain(code, block):
//!     *exception = null
//!     if block[NEW] != 0:  block[0] = AllocObject(block[NEW])
//!     value = call_indirect code(block[0] .. block[5])
//!     NOTHING: return null      REFERENCE: return value      MADE: return block[0]
//!     a VTable: return a box of `value`
//! ```
//!
//! # Invariants
//! * A register that the callee does not read has a stale word, and the word of a result that the callee does not have is not looked at.
//! * The block lies in this frame or in the caller's, where the collector finds what its words refer to until the call is over.
//! * Code behind the call keeps no reference but those in the block.
//! * The function counts as the wrapper of the internal call in stack traces. Where the runtime makes the call, this frame is gone.
use crate::blob::Blob;
use crate::emit::sequences::{EmitExt, build};
use crate::emit::{Codegen, Emitter, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{INT_ARG_REGS, LoweredSignature};
use crate::translate::fast_paths::alloc::box_of_word;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{AbiParam, BlockArg, InstBuilder, Signature, Value};
use cranelift_codegen::isa::CallConv;
use vervet_abi::{PLAIN_CALL_WORDS, PLAIN_NEW, PLAIN_RESULT, call, plain_result, ready_call};
use vervet_types::MethodRef;

/// Is it the internal call that calls methods, or constructors?
pub fn is_internal_invoke(method: MethodRef) -> bool {
    method.name == "InternalInvoke"
        && method.is_icall()
        && method.class.module.is_corlib()
        && method.class.namespace == "System.Reflection"
        && matches!(
            method.class.name,
            "RuntimeMethodInfo" | "RuntimeConstructorInfo"
        )
}

/// See the module.
pub fn internal_invoke(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    let signature = lowered.clif.clone();
    build(
        codegen,
        Tier::Optimised,
        "(InternalInvoke)",
        signature,
        |e, params| {
            emit(e, &lowered.clif, params);
            Ok(())
        },
    )
}

fn emit(e: &mut Emitter, own: &Signature, params: &[Value]) {
    let [plain, slow, make, call_block, boxed, direct, ready, ask] =
        [(); 8].map(|()| e.b.create_block());
    e.b.set_cold_block(slow);
    let [info, object, parameters, exception] = [0, 1, 2, 3].map(|i| params[i]);
    let tag = e.b.ins().band_imm_u(exception, ready_call::TAG as i64);
    e.b.ins().brif(tag, ready, &[], ask, &[]);

    e.b.switch_to_block(ready);
    let words = e.b.ins().iadd_imm_s(exception, -(ready_call::TAG as i64));
    let word = |n: usize| 8 * n as i32;
    let [code, to] = [ready_call::CODE, ready_call::EXCEPTION]
        .map(|n| e.b.ins().load(I64, trusted(), words, word(n)));
    let block = (e.b.ins()).iadd_imm_s(words, i64::from(word(ready_call::BLOCK)));
    let found = [code, to, block].map(BlockArg::Value);
    e.b.ins().jump(plain, &found);

    e.b.switch_to_block(ask);
    let block = e.stack(8 * PLAIN_CALL_WORDS as u32);
    let code = e.helper_value(call::PlainTarget, [info, object, parameters, block]);
    let found = [code, exception, block].map(BlockArg::Value);
    e.b.ins().brif(code, plain, &found, slow, &[]);

    e.b.switch_to_block(slow);
    let word = e.b.ins().load(I64, trusted(), block, 0);
    e.tail_call(own, word, params);

    let [code, exception, block] = [(); 3].map(|()| e.b.append_block_param(plain, I64));
    e.b.switch_to_block(plain);
    let null = e.word(0);
    // No card: null is no young object.
    e.b.ins().store(trusted(), null, exception, 0);
    let new = 8 * PLAIN_NEW as i32;
    let vtable = e.b.ins().load(I64, trusted(), block, new);
    e.b.ins().brif(vtable, make, &[], call_block, &[]);
    e.b.switch_to_block(make);
    let made = e.helper_value(call::AllocObject, [vtable]);
    e.b.ins().store(trusted(), made, block, 0);
    e.b.ins().jump(call_block, &[]);

    e.b.switch_to_block(call_block);
    let mut callee = Signature::new(CallConv::Tail);
    callee
        .params
        .resize(INT_ARG_REGS as usize, AbiParam::new(I64));
    callee.returns.push(AbiParam::new(I64));
    let words: Vec<Value> = (0..INT_ARG_REGS as i32)
        .map(|i| e.b.ins().load(I64, trusted(), block, 8 * i))
        .collect();
    let value = e.call_address(&callee, code, &words)[0];
    let result = 8 * PLAIN_RESULT as i32;
    let kind = e.b.ins().load(I64, trusted(), block, result);
    let last = plain_result::MADE as i64;
    let is_box = e.b.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, kind, last);
    e.b.ins().brif(is_box, boxed, &[], direct, &[]);

    e.b.switch_to_block(direct);
    let made = e.b.ins().load(I64, trusted(), block, 0);
    let null = e.word(0);
    let is = |e: &mut Emitter, what: usize| e.b.ins().icmp_imm_u(IntCC::Equal, kind, what as i64);
    let is_made = is(e, plain_result::MADE);
    let other = e.b.ins().select(is_made, made, null);
    let is_reference = is(e, plain_result::REFERENCE);
    let object = e.b.ins().select(is_reference, value, other);
    e.b.ins().return_(&[object]);

    e.b.switch_to_block(boxed);
    let object = box_of_word(e, kind, value);
    e.b.ins().return_(&[object]);
    e.b.seal_all_blocks();
}
