//! Invoke stubs: how the runtime calls managed code of a signature.
//!
//! # How it works
//! ```text
//!     v0.. = load args[i]                               ; one word per CLIF parameter
//!     try_call_indirect code(v0..), [default: caught]
//!     store results, ret
//!     return 0
//! caught(exception, record):
//!     context.pending = exception
//!     return 1
//! ```
//!
//! # Invariants
//! * The call is a `try_call` with a handler for everything, so no exception leaves the stub into
//!   Rust frames.
//! * The stub is a System V function, and its callee has the Tail convention, which preserves no
//!   register. Cranelift therefore saves and restores the registers that the System V caller
//!   expects to keep.
use crate::blob::Blob;
use crate::emit::sequences::{EmitExt, build};
use crate::emit::{CATCH_ALL, Codegen, Emitter, trusted};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::LoweredSignature;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value};
use cranelift_codegen::isa::CallConv;
use vervet_abi::context;

/// See [`crate::Compiler::invoke_stub`].
pub fn invoke_stub(codegen: &Codegen, lowered: &LoweredSignature) -> Result<Blob, CompileError> {
    let mut signature = Signature::new(CallConv::SystemV);
    signature.params.resize(4, AbiParam::new(I64));
    signature.returns.push(AbiParam::new(I32));
    build(
        codegen,
        Tier::Optimised,
        "(runtime-invoke)",
        signature,
        |e, params| {
            emit(e, lowered, params[0], params[1], params[2]);
            Ok(())
        },
    )
}

/// Emits the body.
fn emit(e: &mut Emitter, lowered: &LoweredSignature, code: Value, args: Value, ret: Value) {
    let types = lowered.clif.params.iter().map(|p| p.value_type).enumerate();
    let values: Vec<Value> = types
        .map(|(i, ty)| e.b.ins().load(ty, trusted(), args, 8 * i as i32))
        .collect();
    let caught = e.b.create_block();
    e.b.append_block_param(caught, I64);
    e.b.append_block_param(caught, I64);
    e.b.set_cold_block(caught);
    // Everything that managed code throws ends here.
    e.set_handlers(&[(CATCH_ALL, caught)]);
    let results = e.call_address(&lowered.clif, code, &values);
    e.set_handlers(&[]);
    e.store_words(&results, ret);
    let status = e.b.ins().iconst(I32, 0);
    e.b.ins().return_(&[status]);

    e.b.switch_to_block(caught);
    let exception = e.b.block_params(caught)[0];
    e.store_context(exception, context::PENDING);
    let status = e.b.ins().iconst(I32, 1);
    e.b.ins().return_(&[status]);
}
