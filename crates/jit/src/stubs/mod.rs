//! Functions that have no IL: the bodies of runtime-implemented methods, and the stubs at the edges.
//!
//! # How it works
//! [`method_stub`] gives the body of a method that the runtime implements: a delegate's members, a
//! multi-dimensional array's accessors, a P/Invoke. The other entries make code that belongs to no one method:
//! [`invoke`] (our code to managed code), [`delegate`] (what `invoke_impl` of a delegate points to), [`native`]
//! (managed code to native code and back).
//!
//! # Invariants
//! A stub has no IL map and no protected region but the invoke stub's catch-all: what it raises, it raises as a
//! hardware trap or from a helper.
pub mod array;
pub mod delegate;
pub mod invoke;
pub mod native;
#[cfg(test)]
pub(crate) mod tests;

use crate::blob::Blob;
use crate::emit::Codegen;
use crate::error::CompileError;
use vervet_types::MethodRef;
use vervet_types::method::MethodKind;

/// The body of a method that the runtime implements; None if it is not one of those known here.
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
        MethodKind::Normal if method.is_pinvoke() => {
            native::pinvoke::pinvoke(codegen, method).map(Some)
        }
        MethodKind::Normal if method.is_runtime() && method.class.is_delegate()? => {
            delegate::member(codegen, method)
        }
        _ => Ok(None),
    }
}
