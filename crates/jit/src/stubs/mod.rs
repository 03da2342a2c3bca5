//! Functions that have no IL: the bodies of methods that the runtime implements, and the stubs at
//! the boundaries.
//!
//! # How it works
//! ```text
//! method_stub   the body of a delegate's member, an array's accessor, a P/Invoke
//! invoke        the runtime calls managed code
//! delegate      what `invoke_impl` of a delegate points to
//! remote        managed code calls a transparent proxy
//! cold_call     managed code calls managed code, rarely
//! reflection    the internal call by which reflection calls methods
//! native        managed code calls native code, and native code calls managed code
//! array         array accessors
//! ```
//!
//! A stub is emitted with the same emitter as a method and becomes a blob like one. Stubs of equal
//! signatures are shared: [`LoweredSignature::key`](crate::LoweredSignature::key) is equal then.
//!
//! # Invariants
//! * A stub has no IL map.
//! * The only protected region is that of the invoke stub, which catches everything. Whatever
//!   another stub throws, it throws by a hardware trap or from a helper, and the exception goes to
//!   its caller.
pub mod array;
pub mod cold_call;
pub mod delegate;
pub mod invoke;
pub mod native;
pub mod reflection;
pub mod remote;
#[cfg(test)]
pub(crate) mod tests;

use crate::blob::Blob;
use crate::emit::Codegen;
use crate::error::CompileError;
use vervet_types::MethodRef;
use vervet_types::method::MethodKind;

/// The body of a method that the runtime implements. None: it is not one of the methods known here.
pub fn method_stub(codegen: &Codegen, method: MethodRef) -> Result<Option<Blob>, CompileError> {
    match method.kind {
        MethodKind::ArrayGet | MethodKind::ArraySet | MethodKind::ArrayAddress => {
            array::accessor(codegen, method).map(Some)
        }
        MethodKind::ArrayCtor { .. } => {
            let reason = "an array's constructor has no body".to_owned();
            Err(CompileError::Invalid {
                method: method.full_name(),
                offset: 0,
                reason,
            })
        }
        MethodKind::NativeFunction => native::pinvoke::native_function(codegen, method).map(Some),
        MethodKind::Normal if method.is_pinvoke() => {
            native::pinvoke::pinvoke(codegen, method).map(Some)
        }
        MethodKind::Normal if reflection::is_internal_invoke(method) => {
            reflection::internal_invoke(codegen, method).map(Some)
        }
        MethodKind::Normal if method.is_runtime() && method.class.is_delegate()? => {
            delegate::member(codegen, method)
        }
        _ => Ok(None),
    }
}
