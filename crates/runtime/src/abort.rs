//! Thread.Abort of the calling thread: raised at once, and again at the end of each catch until it is reset.
//!
//! # Invariants
//! While an abort is under way, the InternalThread has its exception in `abort_exc`, the bit [`REQUESTED`] in its
//! state and the context has [`ATTENTION`], which makes generated code call [`raise_again`] when it leaves a catch.
//! What the catching handler calls is not disturbed: only the frame that caught it, and its callers, raise it again.
use crate::cx::{Cx, Result, Throw};
use crate::exceptions::walk::Walk;
use crate::exceptions::{make, throw};
use crate::handles::{self, HandleKind};
use crate::object::ObjRef;
use std::cell::Cell;
use std::mem::offset_of;
use vervet_abi::Context;
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_types::Known;

/// ThreadState.AbortRequested.
pub const REQUESTED: u32 = 128;
/// The bit of `Context::attention`.
pub const ATTENTION: u32 = 1;

thread_local! {
    /// Frame pointer of the frame that caught the abort last.
    static CAUGHT_AT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// A catch at `fp` is about to get `exception`.
pub(crate) fn caught(ctx: *mut Context, exception: ObjRef<'_>, fp: usize) {
    // SAFETY: the context belongs to this thread; its field is 0 or an InternalThread.
    let thread: ObjRef<'_> = unsafe {
        if (*ctx).attention & ATTENTION == 0 {
            return;
        }
        ObjRef::from_addr((*ctx).internal_thread)
    };
    if !thread.is_null() && thread.read_ref(offset_of!(Internal, abort_exc)) == exception {
        CAUGHT_AT.set(fp);
    }
}

fn internal<'cx>(cx: &'cx Cx<'cx>) -> ObjRef<'cx> {
    // SAFETY: the context belongs to this thread, its field is an InternalThread.
    unsafe { ObjRef::from_addr((*cx.context()).internal_thread) }
}

/// The calling thread aborts itself.
pub fn abort_self<'cx>(cx: &'cx Cx<'cx>, state: ObjRef<'cx>) -> Throw {
    let exception = match make::new(cx, cx.known(Known::ThreadAbortException), &[]) {
        Ok(e) => e,
        Err(t) => return t,
    };
    let thread = internal(cx);
    thread.write(
        offset_of!(Internal, state),
        thread.read::<u32>(offset_of!(Internal, state)) | REQUESTED,
    );
    thread.write_ref(offset_of!(Internal, abort_exc), exception);
    forget_state(thread);
    if !state.is_null() {
        thread.write(
            offset_of!(Internal, abort_state_handle),
            handles::alloc(state, HandleKind::Normal) as i32,
        );
    }
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).attention |= ATTENTION };
    CAUGHT_AT.set(usize::MAX);
    cx.throw_object(exception)
}

/// What was given to Thread.Abort.
pub fn state<'cx>(thread: ObjRef<'cx>) -> ObjRef<'cx> {
    handles::target(thread.read::<i32>(offset_of!(Internal, abort_state_handle)) as u32)
        .unwrap_or(ObjRef::NULL)
}

fn forget_state(thread: ObjRef<'_>) {
    handles::free(thread.read::<i32>(offset_of!(Internal, abort_state_handle)) as u32);
    thread.write(offset_of!(Internal, abort_state_handle), 0i32);
}

/// Thread.ResetAbort of the calling thread.
pub fn reset<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let thread = internal(cx);
    let state = thread.read::<u32>(offset_of!(Internal, state));
    if state & REQUESTED == 0 {
        return Err(cx.throw(
            Known::ThreadStateException,
            "Unable to reset abort because no abort was requested.",
        ));
    }
    thread.write(offset_of!(Internal, state), state & !REQUESTED);
    thread.write_ref(offset_of!(Internal, abort_exc), ObjRef::NULL);
    forget_state(thread);
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).attention &= !ATTENTION };
    Ok(())
}

/// At the end of a catch: raises the exception of an abort under way again.
pub fn raise_again(cx: &Cx<'_>) {
    // SAFETY: the context belongs to this thread; its field is 0 or an InternalThread.
    let thread: ObjRef<'_> = unsafe { ObjRef::from_addr((*cx.context()).internal_thread) };
    if thread.is_null() || thread.read::<u32>(offset_of!(Internal, state)) & REQUESTED == 0 {
        return;
    }
    let exception = thread.read_ref(offset_of!(Internal, abort_exc));
    let outside = Walk::new(cx.context())
        .next()
        .is_some_and(|f| f.fp >= CAUGHT_AT.get());
    if !exception.is_null() && outside {
        throw::raise(cx, exception, throw::TraceMode::Fresh);
    }
}
