//! The token of a thread in Runtime state: what an icall needs to allocate, throw and call.
//!
//! This file holds the token and what needs nothing else. The modules above add methods to [`Cx`] for what they do: allocation in
//! `memory/allocate.rs`, exceptions in `exceptions/make.rs`, calls in `code/invoke.rs`, types in `domain.rs`.
//!
//! # Invariants
//! * A `&Cx` exists only on a thread that is attached and in Runtime state. So the thread may touch objects, and no stop happens
//!   before the thread polls, calls managed code or goes to Native.
//! * A token does not go to another thread: it is neither `Send` nor `Sync`.
//! * An `Err(Throw)` means that the exception is in `ThreadContext::pending`. The caller returns it at once, or takes the exception
//!   with [`Cx::take_pending`]; calling managed code with an exception pending would lose it.
use crate::object::ObjRef;
use std::marker::PhantomData;
use vervet_abi::ThreadContext;

/// The proof that an exception is pending on this thread. See the module.
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
    #[inline]
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
    /// The token for a context that is known.
    ///
    /// # Safety
    /// The context is the calling thread's, in Runtime state.
    #[inline]
    pub(crate) unsafe fn of(context: *mut ThreadContext) -> Cx<'cx> {
        Cx {
            context,
            _not_send: PhantomData,
        }
    }
    /// The raw context.
    #[inline]
    pub fn context(&self) -> *mut ThreadContext {
        self.context
    }

    /// Leaves an existing exception object pending.
    pub fn throw_object(&self, exception: ObjRef<'_>) -> Throw {
        // SAFETY: a token holds the context of the calling thread, and only that thread writes the word.
        unsafe { (*self.context).pending = exception.addr() };
        Throw(())
    }
    /// Takes the pending exception back, so that the caller may go on.
    pub fn take_pending(&'cx self, _throw: Throw) -> ObjRef<'cx> {
        // SAFETY: a token holds the context of the calling thread. The word is 0 or a live object, which the collector keeps until the
        // reference is on this stack.
        unsafe {
            let addr = (*self.context).pending;
            (*self.context).pending = 0;
            ObjRef::from_addr(addr)
        }
    }
}
