//! Functions that have no IL: the bodies of runtime-implemented methods, and the stubs at the edges.
//!
//! # How it works
//! [`method_stub`] gives the body of a method that the runtime implements: a delegate's members, a
//! multi-dimensional array's accessors, a P/Invoke. The other entries make code that belongs to no one method:
//! [`invoke`] (our code to managed code), [`delegate`] (what `invoke_impl` of a delegate points to), [`native`]
//! (a delegate around a native function) and [`reverse`] (native code to managed code).
//!
//! # Invariants
//! A stub has no IL map and no protected region but the invoke stub's catch-all: what it raises, it raises as a
//! hardware trap or from a helper.
pub mod array;
pub mod delegate;
pub mod emit;
pub mod invoke;
pub mod marshal_plan;
pub mod marshal_spec;
pub mod native;
pub mod native_layout;
pub mod reverse;
pub mod scalar;
pub mod sysv;
#[cfg(test)]
pub(crate) mod tests;

use crate::blob::Blob;
use crate::codegen::Codegen;
use crate::compiler::{CompileError, Compiler, guarded};
use crate::shape::Shape;
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
        MethodKind::Normal if method.is_pinvoke() => native::pinvoke(codegen, method).map(Some),
        MethodKind::Normal if method.is_runtime() && method.class.is_delegate()? => {
            delegate::member(codegen, method)
        }
        _ => Ok(None),
    }
}

/// Code that belongs to no one method.
impl Compiler {
    /// What `invoke_impl` of a delegate points to; `shape` is that of the delegate class's `Invoke`. Which one a
    /// delegate needs: [`delegate::DelegateThunk::of`].
    pub fn delegate_thunk(
        &self,
        kind: delegate::DelegateThunk,
        shape: &Shape,
    ) -> Result<Blob, CompileError> {
        let name = || format!("the delegate thunk {kind:?}");
        guarded(name, || {
            delegate::delegate_thunk(self.codegen(), kind, shape)
        })
    }
    /// What `invoke_impl` of a delegate around a native function points to; `invoke` is the class's `Invoke`.
    /// The function's address is in `extra_arg`, `m_target` is null.
    pub fn native_delegate_thunk(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || {
            native::native_delegate_thunk(self.codegen(), invoke)
        })
    }
    /// What the reverse thunk calls, a Tail function `(delegate, ReverseCall block)`; `invoke` is the delegate
    /// class's `Invoke`.
    pub fn reverse_stub(&self, invoke: MethodRef) -> Result<Blob, CompileError> {
        let name = || invoke.full_name();
        guarded(name, || reverse::reverse_stub(self.codegen(), invoke))
    }
}
