//! The Native state of the calling thread: blocking calls, long work, and native code that says it may block. And the way out of the code of a host, which is
//! the same but for the frames that are scanned.
//!
//! # Invariants
//! * A thread in Native state touches no object, and everything it refers to lies at `scan_sp` or above, so it counts as stopped.
//! * It leaves the state only while no stop is under way ([`transitions`]).
use crate::cx::Cx;
use crate::safepoint::registry;
use crate::safepoint::stop_word::STOP;
use crate::safepoint::transitions;
use crate::threads::{current_context, green};
use std::sync::atomic::Ordering;
use vervet_abi::{State, ThreadContext};
use vervet_parking::stopping;

/// Runs `work` in Native state: it touches no object. If the calling thread is in Native state already, or is not attached, `work` just
/// runs.
pub fn native<T>(work: impl FnOnce() -> T) -> T {
    in_native(work, green::wait::enter_native)
}

/// As [`native`], for work that computes: a green thread keeps its processor for a slice.
fn computing<T>(work: impl FnOnce() -> T) -> T {
    in_native(work, green::wait::enter_computing)
}

/// As [`native`], for work that waits for another thread: a green thread's processor goes to another carrier at once.
pub fn blocking<T>(work: impl FnOnce() -> T) -> T {
    in_native(work, green::wait::enter_blocking)
}

/// Waits for a lock: calls one of the two, in Native state. A green thread waits until the lock was free (`look`), and takes it when it has a
/// processor again; if it took the lock before (`take`), the others would wait for the lock as long as it waits for a processor.
pub(crate) fn wait_for_lock(take: &mut dyn FnMut(), look: &mut dyn FnMut()) {
    let context = current_context();
    // SAFETY: the context belongs to this thread.
    let waits_for_processor = !context.is_null()
        && unsafe { (*context).green != 0 && (*context).state == State::Runtime as u8 };
    match waits_for_processor {
        true => blocking(look),
        false => native(take),
    }
}

/// See [`native`]. A green thread says to the scheduler by `enter` what follows.
#[inline]
fn in_native<T>(work: impl FnOnce() -> T, enter: unsafe extern "C" fn(*mut ThreadContext)) -> T {
    let context = current_context();
    // SAFETY: the context belongs to this thread.
    if context.is_null() || unsafe { (*context).state } != State::Runtime as u8 {
        return work();
    }
    vervet_os::lock::assert_no_leaf_lock("changing to Native");
    // SAFETY: the context belongs to this thread.
    let is_green = unsafe { (*context).green != 0 };
    let work = || match is_green {
        // SAFETY: the context is that of the calling green thread, which is in Native state.
        true => unsafe { green::wait::in_native(context, enter, work) },
        false => work(),
    };
    crate::arch::closures::through_asm(work, |f, arg| {
        // SAFETY: the context belongs to this thread, which is in Runtime state; `f` does not unwind.
        unsafe { crate::arch::call_native(f, arg, context) }
    })
}

/// Saves errno as the last error of the current thread.
pub fn save_last_error() {
    let context = current_context();
    if !context.is_null() {
        // SAFETY: the context belongs to this thread.
        unsafe { (*context).last_error = *libc::__errno_location() };
    }
}

/// From Foreign state to Runtime, when the world runs.
///
/// # Safety
/// The context is that of the calling thread, which is in Foreign state.
#[inline]
pub(crate) unsafe fn leave_foreign(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe {
        if !stopping::try_leave_native(registry::state(context), &STOP) {
            leave_foreign_slowly(context);
        }
    }
}

/// As [`leave_foreign`], when the stop word is not zero.
#[cold]
unsafe fn leave_foreign_slowly(context: *mut ThreadContext) {
    let here = 0;
    // SAFETY: the caller's promise.
    unsafe {
        if registry::is_on_native_stack(context, &raw const here as usize) {
            crate::arch::park(context);
            return;
        }
        // A stack that the host has made, whose extent is not known: the thread is held by the signal, which finds it (`safepoint::elsewhere`).
        let state = registry::state(context);
        loop {
            state.store(State::Runtime as u8, Ordering::SeqCst);
            if !STOP.is_stopping() {
                return;
            }
            state.store(State::Foreign as u8, Ordering::SeqCst);
            registry::Thread::of(context).signal();
            std::thread::yield_now();
        }
    }
}

/// A green thread that is in a native call for the scheduler, and in Runtime state, waits for a processor.
///
/// # Safety
/// The context is that of the calling thread.
pub(crate) unsafe fn wait_for_processor(context: *mut ThreadContext) {
    // SAFETY: the context belongs to this thread.
    let wait = || unsafe { green::wait::leave_native(context) };
    crate::arch::closures::through_asm(wait, |f, arg| {
        // SAFETY: the context belongs to this thread, which is in Runtime state; `f` does not unwind.
        unsafe { crate::arch::call_native(f, arg, context) }
    });
}

/// With the state before a region: the green thread was in a native call, for the scheduler, and is so behind the region.
const IN_NATIVE_CALL: usize = 0x100;

/// From the thunk of [`crate::arch::enter_safe_region`]: native code that holds no reference announces that it may block.
/// `registers` are its callee-saved ones (a caller's of ours may have references in them), `sp` its stack pointer.
/// Returns the state before.
#[unsafe(export_name = "vervet_enter_native")]
pub(crate) extern "C" fn enter_native(registers: *const [usize; 6], sp: usize) -> usize {
    let context = current_context();
    if context.is_null() {
        return State::Native as usize;
    }
    // SAFETY: the context and its thread belong to this thread.
    unsafe {
        let before = (*context).state;
        if before != State::Native as u8 {
            *registry::Thread::of(context).saved.get() = *registers;
            (*context).scan_sp = sp;
            stopping::go_native(registry::state(context));
            if (*context).green != 0 {
                if green::wait::is_in_native_call(context) {
                    return before as usize | IN_NATIVE_CALL;
                }
                green::wait::enter_native(context);
            }
        }
        before as usize
    }
}

/// Undoes what [`crate::arch::enter_safe_region`] did.
pub fn leave_safe_region(before: usize) {
    let context = current_context();
    if context.is_null() || before == State::Native as usize {
        return;
    }
    // SAFETY: the context and its thread belong to this thread.
    unsafe {
        let is_green_call = (*context).green != 0 && before & IN_NATIVE_CALL == 0;
        if (*context).state == State::Foreign as u8 {
            // A call of the embedding API within: the thread may refer to objects, in frames that were not noted.
            leave_foreign(context);
            if is_green_call && green::wait::is_in_native_call(context) {
                wait_for_processor(context);
            }
        } else {
            if is_green_call {
                green::wait::leave_native(context);
            }
            leave_native(context);
        }
        *registry::Thread::of(context).saved.get() = [0; 6];
        registry::state(context).store(before as u8, Ordering::Release);
    }
}

/// From Native to Runtime, as soon as the world runs.
///
/// # Safety
/// The context is that of the calling thread, which is in Native state.
pub(crate) unsafe fn leave_native(context: *mut ThreadContext) {
    // SAFETY: the caller's promise: the context is this thread's.
    unsafe {
        if !stopping::try_leave_native(registry::state(context), &STOP) {
            transitions::leave_native(context);
        }
    }
}

/// The thread is back in native code, whose frames are scanned from where they were before.
///
/// # Safety
/// The context is that of the calling thread, which is in Runtime state and was in Native state when its frames were noted.
pub(crate) unsafe fn go_native(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe { stopping::go_native(registry::state(context)) };
}

impl<'cx> Cx<'cx> {
    /// Runs a blocking call or long work in Native state: no object may be touched inside.
    pub fn native<T>(&self, work: impl FnOnce() -> T) -> T {
        native(work)
    }
    /// [`computing`].
    pub fn computing<T>(&self, work: impl FnOnce() -> T) -> T {
        computing(work)
    }
}
