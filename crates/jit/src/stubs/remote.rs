//! Calls of transparent proxies: the stub that stands for a method.
//!
//! A slot of a proxy's VTable holds the stub of the slot's method, an entry of its interface method table leads to that of the interface's method, and a call that tests
//! for proxies asks the RemoteCode helper for it.
//!
//! ```text
//! stub(this, result buffer, arguments...):
//!     store arguments..., block                    ; one word each
//!     call RemoteInvoke(this, method, block, at)   ; at: the buffer, or 32 bytes of this frame
//!     return what lies at `at`
//! ```
//!
//! The stub stores its arguments, one word each, into its frame, and calls the RemoteInvoke helper, which knows their types by the method.
//!
//! # Invariants
//! * The signature is the method's, so a caller need not know whether it calls the method or the stub.
//! * Arguments lie in the frame while the call is under way: the collector finds their references there, and by-reference arguments stay addresses of the caller's.
use crate::blob::{Blob, Symbol};
use crate::emit::Codegen;
use crate::emit::front::StackCheck;
use crate::emit::sequences::{EmitExt, build};
use crate::error::CompileError;
use crate::options::Tier;
use crate::signature::{LoweredSignature, Pass};
use cranelift_codegen::ir::InstBuilder;
use vervet_abi::call;
use vervet_types::MethodRef;

/// The stub of an instance method.
pub fn remote_stub(codegen: &Codegen, method: MethodRef) -> Result<Blob, CompileError> {
    let lowered = LoweredSignature::of_method(method)?;
    build(
        codegen,
        Tier::Quick,
        &method.full_name(),
        lowered.clif.clone(),
        |e, args| {
            e.check = StackCheck::Always;
            let first = lowered.first_value(0).min(args.len());
            let block = e.pack(&args[first..]);
            let handle = e.symbol(Symbol::MethodHandle(method));
            if let (Pass::Address, Some(buffer)) = (&lowered.ret, lowered.ret_buffer_index()) {
                e.helper(call::RemoteInvoke, [args[0], handle, block, args[buffer]]);
                e.b.ins().return_(&[]);
                return Ok(());
            }
            let ret = e.zeroed_stack(32);
            e.helper(call::RemoteInvoke, [args[0], handle, block, ret]);
            let results = e.results_from_memory(&lowered, args, ret);
            e.b.ins().return_(&results);
            Ok(())
        },
    )
}
