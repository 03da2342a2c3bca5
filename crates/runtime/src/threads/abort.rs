//! Thread.Abort: asked for by any thread, raised by the thread itself, and again at the end of each catch until it is reset.
//!
//! # Invariants
//! * From the request to the reset (or the end of the thread) the bit [`state::ABORT_REQUESTED`] is set in the InternalThread's state;
//!   who sets it makes the request, so there is one at a time, with one state object.
//! * `interrupts::ABORT` says that the exception is still to be raised, `RAISED` that it was: then the InternalThread has it in
//!   `abort_exc`, and generated code calls [`raise_again`] when it leaves a catch.
//! * An abort by another thread is not raised where [`protected`] says no. One of the thread's own is raised anywhere.
//! * What the catching handler calls is not disturbed: only the frame that caught it, and its callers, raise it again.
use crate::cx::{Cx, Result, Throw};
use crate::exceptions::trace::TraceMode;
use crate::exceptions::walk::Walk;
use crate::exceptions::{make, protected, throw};
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use crate::threads::{current_internal, requests, state};
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, Ordering};
use vervet_abi::context::interrupts::{ABORT, END_CALL, RAISED};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_types::Known;

/// The calling thread aborts itself.
pub fn abort_self<'cx>(cx: &'cx Cx<'cx>, reason: ObjRef<'cx>) -> Throw {
    let thread = current_internal(cx);
    let kept = match keep(cx, reason) {
        Ok(kept) => kept,
        Err(throw) => return throw,
    };
    state::change(thread, state::ABORT_REQUESTED, 0);
    set_state(thread, kept);
    begin(cx)
}

/// Aborts another thread: it will raise the exception where that may be. Nothing is done for one that has ended or is
/// being aborted; one that has not been started will never run.
pub fn abort_other<'cx>(cx: &'cx Cx<'cx>, thread: ObjRef<'cx>, reason: ObjRef<'cx>) -> Result<()> {
    let kept = keep(cx, reason)?;
    if !state::request_abort(thread) {
        handles::free(kept);
        return Ok(());
    }
    set_state(thread, kept);
    if state::get(thread) & state::ABORT_REQUESTED == 0 {
        // The thread has reset the abort meanwhile, and does not look here again.
        forget_state(thread);
    }
    requests::request(cx, thread, ABORT);
    // A suspended thread goes on, to be aborted.
    let _ = state::resume(thread);
    Ok(())
}

/// Stands for the handle of a state object where an unload has asked for the abort. It is no handle.
const BY_UNLOAD: i32 = -1;

/// Aborts the threads with those owner ids, as [`abort_other`] does, but without a state object. One that is being aborted is asked again only if it has
/// reset the abort.
pub(crate) fn request_of(cx: &Cx<'_>, owners: &[u32]) {
    requests::request_where(cx, |context, internal| {
        // SAFETY: contexts are never freed, and a thread that is attached keeps its owner id.
        let owner = unsafe { (*context).owner_id };
        if !owners.contains(&owner) || !state::request_abort(internal) {
            return 0;
        }
        // Before the bit: who sees that reads this.
        put_handle(internal, BY_UNLOAD);
        ABORT
    });
}

/// Makes the exception and notes that an abort is under way.
fn begin<'cx>(cx: &'cx Cx<'cx>) -> Throw {
    let word = cx.interrupts();
    // First: the exception's constructor looks for requests too.
    let bits = word.fetch_and(!(ABORT | END_CALL), Ordering::SeqCst);
    let exception = match make::new(cx, cx.known(Known::ThreadAbortException), &[]) {
        Ok(e) => e,
        Err(t) => {
            word.fetch_or(bits & ABORT, Ordering::SeqCst);
            return t;
        }
    };
    current_internal(cx).write_ref(offset_of!(Internal, abort_exc), exception);
    word.fetch_or(RAISED, Ordering::SeqCst);
    throw::forget_abort_catch(cx.context());
    cx.throw_object(exception)
}

/// Has an unload asked for the abort that is under way on the calling thread, or is to come?
pub(crate) fn is_by_unload(cx: &Cx<'_>) -> bool {
    let own = current_internal(cx);
    !own.is_null()
        && state::get(own) & state::ABORT_REQUESTED != 0
        && own.read::<i32>(offset_of!(Internal, abort_state_handle)) == BY_UNLOAD
}

/// Is the calling thread to raise the exception of an abort here?
pub fn is_due(cx: &Cx<'_>) -> bool {
    cx.interrupts().load(Ordering::SeqCst) & ABORT != 0
        && !protected::is_protected(cx)
        && is_meant(cx)
}

/// Was the calling thread asked, and not the one that had its context before? The state is set before the request is made.
#[cold]
fn is_meant(cx: &Cx<'_>) -> bool {
    let own = current_internal(cx);
    let meant = own.is_null() || state::get(own) & state::ABORT_REQUESTED != 0;
    if meant && is_by_unload(cx) && !crate::domain::crossing::is_leaving(cx) {
        // The thread has left the domain meanwhile.
        if let Err(throw) = reset(&Cx::current()) {
            Cx::current().take_pending(throw);
        }
        return false;
    }
    if !meant {
        cx.interrupts()
            .fetch_and(!(ABORT | END_CALL), Ordering::SeqCst);
        // The request may have been made between the two.
        return state::get(own) & state::ABORT_REQUESTED != 0;
    }
    meant
}

/// Raises the exception of an abort that another thread has asked for, if it may be raised here.
pub fn poll<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    match is_due(cx) {
        true => Err(raise_due(cx)),
        false => Ok(()),
    }
}
/// The exception of an abort that [`is_due`].
pub(crate) fn raise_due(_: &Cx<'_>) -> Throw {
    begin(&Cx::current())
}

/// What was given to Thread.Abort.
pub fn state<'cx>(thread: ObjRef<'cx>) -> ObjRef<'cx> {
    handles::target(thread.read::<i32>(offset_of!(Internal, abort_state_handle)) as u32)
        .unwrap_or(ObjRef::NULL)
}

/// A handle to what was given to Thread.Abort, 0 for null.
fn keep<'cx>(cx: &'cx Cx<'cx>, reason: ObjRef<'cx>) -> Result<u32> {
    match reason.is_null() {
        true => Ok(0),
        false => handles::alloc_for_runtime(cx, reason, HandleKind::Normal),
    }
}
fn set_state(thread: ObjRef<'_>, kept: u32) {
    put_handle(thread, kept as i32);
}
/// Lets go of what was given to Thread.Abort.
pub(super) fn forget_state(thread: ObjRef<'_>) {
    put_handle(thread, 0);
}
/// Exchanges the handle. Who takes one out frees it, so it is freed once, whatever aborts and resets come at the same time.
fn put_handle(thread: ObjRef<'_>, handle: i32) {
    // SAFETY: the field is a word of the object, which other threads change in the same way only; objects do not move in Runtime state.
    let field = unsafe {
        AtomicI32::from_ptr((thread.addr() + offset_of!(Internal, abort_state_handle)) as *mut i32)
    };
    let before = field.swap(handle, Ordering::SeqCst);
    if before != BY_UNLOAD {
        handles::free(before as u32);
    }
}

/// Thread.ResetAbort of the calling thread. An abort that is still to be raised is forgotten.
pub fn reset<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let thread = current_internal(cx);
    if state::get(thread) & state::ABORT_REQUESTED == 0 {
        return Err(cx.throw(
            Known::ThreadStateException,
            "Unable to reset abort because no abort was requested.",
        ));
    }
    cx.interrupts()
        .fetch_and(!(ABORT | END_CALL | RAISED), Ordering::SeqCst);
    thread.write_ref(offset_of!(Internal, abort_exc), ObjRef::NULL);
    forget_state(thread);
    // Last: from here on another thread may ask again.
    state::change(thread, 0, state::ABORT_REQUESTED);
    Ok(())
}

/// At the end of a catch: raises the exception of an abort under way again.
pub fn raise_again(cx: &Cx<'_>) {
    if cx.interrupts().load(Ordering::Relaxed) & RAISED == 0 {
        return;
    }
    let cx = &Cx::current();
    let thread = current_internal(cx);
    if thread.is_null() || state::get(thread) & state::ABORT_REQUESTED == 0 {
        return;
    }
    let exception = thread.read_ref(offset_of!(Internal, abort_exc));
    let outside = Walk::here(cx)
        .next()
        .is_some_and(|f| throw::is_outside_abort_catch(cx.context(), f.fp));
    if !exception.is_null() && outside {
        throw::raise(cx, exception, TraceMode::Fresh);
    }
}
