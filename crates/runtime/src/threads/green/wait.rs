//! Leaving the carrier: parking, yielding, being preempted; and native calls, in which a green thread stays on its carrier.
//!
//! # Invariants
//! * [`leave`] is the only place where a green thread changes carriers. The caller is in Runtime state and holds no lock.
//! * A bound green thread is one that cannot leave its carrier ([`may_leave`]). When it waits, its carrier gives the processor away. Whoever makes the
//!   thread ready queues it as any other; the carrier that takes it from the queue gives the bound carrier its processor.
//! * In Native state a green thread's processor may be retaken. So there the thread asks the scheduler for nothing but a processor, once it has given
//!   its own away.
use super::pins::{self, Cause};
use super::record::{self, Green};
use super::scheduler;
use crate::arch;
use crate::cx::Cx;
use crate::safepoint::registry::{self, Thread};
use crate::threads::current::current_context;
use crate::threads::park::waiter;
use crate::threads::service_stack;
use std::sync::atomic::Ordering;
use std::time::Instant;
use vervet_abi::context::RecordKind;
use vervet_abi::{State, ThreadContext};
use vervet_parking::stopping;
use vervet_sched::{Carrier, Outcome};

/// Is the calling thread a green one?
pub fn is_green(cx: &Cx<'_>) -> bool {
    // SAFETY: a token's context is the calling thread's.
    unsafe { (*cx.context()).green != 0 }
}

/// The carrier that runs a green thread.
///
/// # Safety
/// The context is the calling green thread's. The reference is used for one call of the scheduler.
unsafe fn carrier<'a>(context: *mut ThreadContext) -> &'a mut Carrier {
    // SAFETY: a green thread that runs has a carrier, whose seat and record live while it runs; nobody else uses them meanwhile.
    unsafe { &mut *(*Thread::of(context).own.carries.get()).carrier }
}

/// The carrier that runs the calling thread, if that is a green one. The reference is used for one call of the scheduler.
fn current_carrier<'a>() -> Option<&'a mut Carrier> {
    let context = current_context();
    // SAFETY: the context is the calling thread's, or null.
    unsafe { (!context.is_null() && (*context).green != 0).then(|| carrier(context)) }
}

/// Starts a green thread.
pub(super) fn spawn(id: u32) {
    scheduler().spawn(current_carrier(), id);
}

/// Makes a green thread that slept ready. Its park word has been given the token.
pub(crate) fn make_ready(id: u32) {
    scheduler().make_ready(current_carrier(), id);
}

/// Switches to the carrier, which tells the scheduler why. Returns when a carrier runs the thread again.
///
/// # Safety
/// The context is the calling green thread's, which is in Runtime state and [may leave](may_leave).
#[inline(never)]
unsafe fn leave(context: *mut ThreadContext, why: Outcome) {
    vervet_os::lock::assert_no_leaf_lock("leaving the carrier");
    // SAFETY: the caller's promise. The carrier has left its stack pointer in the seat.
    unsafe {
        let seat = Thread::of(context).own.carries.get();
        (*seat).outcome = why;
        arch::switch(&raw mut (*context).scan_sp, (*seat).target.carrier_sp);
    }
}

/// The green thread has ended.
///
/// # Safety
/// The context is the calling green thread's, which is in Runtime state with no managed code on its stack.
pub(super) unsafe fn end(context: *mut ThreadContext) -> ! {
    // SAFETY: the caller's promise.
    unsafe { leave(context, Outcome::End) };
    unreachable!("a green thread that has ended was run")
}

/// May the calling green thread leave its carrier? Not while native code that called managed code lies on its stack, because that code may keep what
/// belongs to an OS thread; and not while it compiles, on a stack of the OS thread's.
///
/// # Safety
/// The context is the calling thread's.
#[inline(never)]
unsafe fn may_leave(context: *mut ThreadContext) -> bool {
    if service_stack::is_on_service_stack() {
        return false;
    }
    // SAFETY: the records of the calling thread.
    unsafe {
        let mut at = (*context).record;
        while let Some(record) = at.as_ref() {
            if record.kind == RecordKind::NativeEntry as usize {
                return false;
            }
            at = record.previous;
        }
    }
    true
}

/// Waits for the token of an unpark, or the deadline. The calling green thread has begun to park, and has made its wait known. `blocking` runs its
/// argument in Native state with the processor given away.
pub(crate) fn park(cx: &Cx<'_>, deadline: Option<Instant>, blocking: impl FnOnce(&dyn Fn())) {
    let context = cx.context();
    // SAFETY: the token's context is the calling thread's.
    unsafe {
        let id = (*context).owner_id;
        let Some(has_timer) = set_timer(context, deadline) else {
            return;
        };
        if may_leave(context) {
            leave(context, Outcome::Park);
        } else if let Some(green) = record::of_context(context) {
            let cause = match service_stack::is_on_service_stack() {
                true => Cause::Compilation,
                false => Cause::Callback,
            };
            pins::record(context, cause);
            blocking(&|| park_bound(context, green));
        }
        if has_timer {
            scheduler().cancel_timer(id);
        }
    }
}

/// Has the calling green thread, which has begun to park, made ready when the deadline is over. None: it is over. Otherwise: is there a timer to be
/// cancelled?
///
/// # Safety
/// The context is the calling green thread's.
pub(super) unsafe fn set_timer(
    context: *mut ThreadContext,
    deadline: Option<Instant>,
) -> Option<bool> {
    let Some(deadline) = deadline else {
        return Some(false);
    };
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return None;
    }
    let left = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
    let at = vervet_os::clock::now().saturating_add(left);
    // SAFETY: the caller's promise.
    unsafe { scheduler().set_timer(carrier(context), (*context).owner_id, at) };
    Some(true)
}

/// Parks without leaving the carrier, whose processor was given away. The caller takes one again.
///
/// # Safety
/// The context is the calling green thread's, in Native state.
unsafe fn park_bound(context: *mut ThreadContext, green: &Green) {
    // SAFETY: the caller's promise.
    unsafe {
        let c = carrier(context);
        // Before anybody can make it ready.
        green.bind(c.id());
        if waiter::word(green.id()).sleeps() {
            wait_for_processor(c);
        } else {
            green.bind(0);
        }
    }
}

/// Sleeps until another carrier gives this one its processor.
fn wait_for_processor(c: &mut Carrier) {
    while !scheduler().take_hand(c) {
        scheduler().sleep(c);
    }
}

/// Runs native code, or Rust code in Native state, on the carrier of the calling green thread. `enter` is [`enter_native`]: if it takes long, the
/// carrier's processor is given to another; [`enter_computing`], as well, but only after a slice; or [`enter_blocking`]:
/// the processor is given away at once. The thread waits for one at the end.
///
/// # Safety
/// The context is the calling green thread's, in Native state.
pub(crate) unsafe fn in_native<T>(
    context: *mut ThreadContext,
    enter: unsafe extern "C" fn(*mut ThreadContext),
    work: impl FnOnce() -> T,
) -> T {
    // SAFETY: the caller's promise.
    unsafe {
        enter(context);
        let result = work();
        leave_native(context);
        result
    }
}

/// See [`in_native`].
///
/// # Safety
/// The context is the calling green thread's.
#[unsafe(export_name = "vervet_green_enter_native")]
pub(crate) unsafe extern "C" fn enter_native(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe { scheduler().enter_native(carrier(context)) };
}

/// See [`in_native`].
///
/// # Safety
/// The context is the calling green thread's, in Native state.
pub(crate) unsafe extern "C" fn enter_computing(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe { scheduler().enter_computing(carrier(context)) };
}

/// Is the green thread in a native call, as the scheduler sees it?
///
/// # Safety
/// The context is the calling green thread's.
pub(crate) unsafe fn is_in_native_call(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise.
    unsafe { !carrier(context).has_processor() }
}

/// See [`in_native`].
///
/// # Safety
/// The context is the calling green thread's, in Native state.
pub(crate) unsafe extern "C" fn enter_blocking(context: *mut ThreadContext) {
    // SAFETY: the caller's promise.
    unsafe { scheduler().enter_blocking(carrier(context)) };
}

/// See [`in_native`]. errno is kept.
///
/// Behind a native function that has called the embedding API the thread is in Foreign state, and could be held with the scheduler's locks. So it goes to
/// Native: the references that such a function had are in frames that are gone.
///
/// # Safety
/// The context is the calling green thread's, in Native or Foreign state, and `scan_sp` is that of the native call.
#[unsafe(export_name = "vervet_green_leave_native")]
pub(crate) unsafe extern "C" fn leave_native(context: *mut ThreadContext) {
    // SAFETY: the caller's promise. Records are never freed.
    unsafe {
        let state = registry::state(context);
        if state.load(Ordering::Relaxed) == State::Foreign as u8 {
            stopping::go_native(state);
        }
        let c = carrier(context);
        let Some(green) = record::of_context(context) else {
            return;
        };
        let has_processor = scheduler().leave_native(c, green.id());
        if c.take_retaken() {
            let errno = *libc::__errno_location();
            pins::record_native_call(context);
            *libc::__errno_location() = errno;
        }
        if !has_processor {
            let errno = *libc::__errno_location();
            green.bind(c.id());
            scheduler().wait_for_hand(c, green.id());
            wait_for_processor(c);
            *libc::__errno_location() = errno;
        }
    }
}

/// Are other threads to run on the carrier of the calling green thread? A leaf.
///
/// # Safety
/// The context is the calling green thread's.
pub(crate) unsafe fn others_ready(context: *mut ThreadContext) -> bool {
    // SAFETY: the caller's promise.
    scheduler().others_ready(unsafe { carrier(context) })
}

/// Is the calling thread a green one that yields, and nobody else is to run?
pub(crate) fn may_go_on(cx: &Cx<'_>) -> bool {
    // SAFETY: a token's context is the calling thread's.
    is_green(cx) && scheduler().may_go_on(unsafe { carrier(cx.context()) })
}

/// Lets others run, if the calling thread is a green one. False: it is not. `blocking` runs its argument in Native state with the processor given away.
pub(crate) fn yield_now(cx: &Cx<'_>, blocking: impl FnOnce(&dyn Fn())) -> bool {
    step_aside(cx, Outcome::Yield, blocking)
}

/// The calling thread has run for long while others wait. `blocking` is as for [`yield_now`].
pub(crate) fn preempted(cx: &Cx<'_>, blocking: impl FnOnce(&dyn Fn())) {
    step_aside(cx, Outcome::Preempted, blocking);
}

fn step_aside(cx: &Cx<'_>, why: Outcome, blocking: impl FnOnce(&dyn Fn())) -> bool {
    let context = cx.context();
    // SAFETY: a token's context is the calling thread's, in Runtime state.
    unsafe {
        let Some(green) = record::of_context(context) else {
            return false;
        };
        if may_leave(context) {
            leave(context, why);
        } else {
            blocking(&|| queue_bound(context, green));
        }
    }
    true
}

/// Lets others run without leaving the carrier, whose processor was given away: the thread goes behind all that are in the queue.
///
/// # Safety
/// The context is the calling green thread's, in Native state.
unsafe fn queue_bound(context: *mut ThreadContext, green: &Green) {
    // SAFETY: the caller's promise.
    let c = unsafe { carrier(context) };
    green.bind(c.id());
    scheduler().yield_for_hand(c, green.id());
    wait_for_processor(c);
}
