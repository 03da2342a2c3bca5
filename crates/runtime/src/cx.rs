//! The token of a thread in Runtime state: what an icall needs to allocate, throw and call.
//!
//! # Invariants
//! A `&Cx` exists only on a thread that is attached and in Runtime state, so objects may be touched.
//! An `Err(Throw)` means the exception is in `ThreadContext::pending`: return it at once, or take it with
//! [`Cx::take_pending`].
use crate::object::ObjRef;
use std::marker::PhantomData;
use vervet_abi::ThreadContext;

/// An exception is pending on this thread. See the module.
#[derive(Debug)]
#[must_use]
pub struct Throw(pub(crate) ());

/// What an icall returns.
pub type Result<T> = std::result::Result<T, Throw>;

/// See the module.
pub struct Cx<'cx> {
    pub(crate) context: *mut ThreadContext,
    pub(crate) _not_send: PhantomData<(&'cx (), *mut ())>,
}

/// An argument or result of [`Cx::invoke`].
#[derive(Clone, Copy, Debug)]
pub enum Value<'cx> {
    /// void.
    Void,
    /// Any integer, bool or char, sign- or zero-extended by its type.
    Int(i64),
    /// A float.
    F32(f32),
    /// A double.
    F64(f64),
    /// A reference.
    Ref(ObjRef<'cx>),
    /// Address of a value (byref, pointer), or of a struct passed by value.
    Ptr(*mut u8),
}

impl<'cx> Cx<'cx> {
    /// The context of the current thread; it must be attached and in Runtime state.
    pub fn current() -> Cx<'cx> {
        let context = crate::threads::current_context();
        assert!(
            !context.is_null(),
            "this thread is not attached to the runtime"
        );
        Cx {
            context,
            _not_send: PhantomData,
        }
    }
    /// The raw context.
    pub fn context(&self) -> *mut ThreadContext {
        self.context
    }

    /// Leaves an existing exception object pending.
    pub fn throw_object(&self, exception: ObjRef<'_>) -> Throw {
        // SAFETY: the context belongs to this thread.
        unsafe { (*self.context).pending = exception.addr() };
        Throw(())
    }
    /// Takes the pending exception back, so that the caller may go on.
    pub fn take_pending(&'cx self, _throw: Throw) -> ObjRef<'cx> {
        // SAFETY: the context belongs to this thread; the word is an object reference.
        unsafe {
            let addr = (*self.context).pending;
            (*self.context).pending = 0;
            ObjRef::from_addr(addr)
        }
    }
}
