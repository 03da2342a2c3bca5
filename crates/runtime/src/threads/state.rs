//! The word of ThreadState, and the byte of `Thread.Interrupt`.
//!
//! # The bits of ThreadState
//! | bit | set by | cleared by |
//! |---|---|---|
//! | Unstarted | the constructor | `Thread.Start`, once |
//! | Background | any thread | any thread |
//! | WaitSleepJoin | the thread, while it waits ([`Waiting`](super::wait::Waiting)) | the thread |
//! | SuspendRequested | any thread, by Suspend | the thread, when it suspends itself; or Resume |
//! | Suspended | the thread | any thread, by Resume |
//! | AbortRequested | any thread, by Abort | the thread, by ResetAbort |
//! | Aborted | Abort of a thread that has not been started: it never runs | never |
//! | Stopped | the thread, at its end | never |
//!
//! Running is none of these bits.
//!
//! ```text
//!            Start                      end of the delegate, or an abort that nobody reset
//!  Unstarted ------> Running ----------------------------------------------------------------> Stopped
//!      |              |   ^                                                                       ^
//!      | Abort        |   |  leaves the wait: pulse, time-out, interrupt, abort                   |
//!      v              |   +---------------- WaitSleepJoin                                         |
//!  Unstarted|Aborted  |                        ^                                                  |
//!  (never runs)       +------------------------+  Wait, Sleep, Join, a lock                       |
//!                     |   Abort                         ResetAbort                                |
//!                     +---------> AbortRequested -----------------> Running                       |
//!                     |                 +---------------------------------------------------------+
//!                     |   Suspend                  it serves the request            Resume
//!                     +---------> SuspendRequested -----------------------> Suspended ----> Running
//!                                       +---- Resume: the request is withdrawn -----------> Running
//! ```
//! The three chains are independent bits of one word: a thread may wait and have an abort and a suspension requested at the same time.
//!
//! | transition | forbidden by | answer |
//! |---|---|---|
//! | Start | not Unstarted | ThreadStateException |
//! | Abort | AbortRequested, Stopped | nothing happens |
//! | Suspend | Unstarted, Aborted, Stopped | ThreadStateException |
//! | Suspend | SuspendRequested, Suspended, AbortRequested | nothing happens |
//! | Resume | neither SuspendRequested nor Suspended | ThreadStateException |
//! | Join | Unstarted | ThreadStateException |
//!
//! # Invariants
//! * `InternalThread.state` is changed by several threads, so only by atomic operations. A request is one compare-and-swap that also
//!   tests the bits which forbid it.
//! * An interrupt is a byte of the InternalThread. It is set before the thread is unparked.
use super::lifetime;
use crate::object::ObjRef;
use crate::threads::park;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering};
use vervet_abi::layouts::InternalThreadObject as Internal;

/// ThreadState.SuspendRequested.
pub const SUSPEND_REQUESTED: u32 = 2;
/// ThreadState.Background.
pub const BACKGROUND: u32 = 4;
/// ThreadState.Unstarted.
pub const UNSTARTED: u32 = 8;
/// ThreadState.Stopped.
pub const STOPPED: u32 = 16;
/// ThreadState.WaitSleepJoin.
pub const WAIT_SLEEP_JOIN: u32 = 32;
/// ThreadState.Suspended.
pub const SUSPENDED: u32 = 64;
/// ThreadState.AbortRequested.
pub const ABORT_REQUESTED: u32 = 128;
/// ThreadState.Aborted.
pub const ABORTED: u32 = 256;
/// ApartmentState.Unknown.
pub const APARTMENT_UNKNOWN: u8 = 2;
/// ApartmentState.MTA.
pub const APARTMENT_MTA: u8 = 1;

pub(super) fn word(internal: ObjRef<'_>) -> &AtomicU32 {
    let at = internal.addr() + offset_of!(Internal, state);
    // SAFETY: the object is not null and has the field; it is not moved while this thread is in Runtime.
    unsafe { &*(at as *const AtomicU32) }
}
/// An `int` field of an InternalThread that several threads use.
pub(super) fn field_i32(internal: ObjRef<'_>, offset: usize) -> &AtomicI32 {
    // SAFETY: the object is an InternalThread, and the caller names an `int` field of it; the reference pins the object.
    unsafe { &*((internal.addr() + offset) as *const AtomicI32) }
}
pub(super) fn interrupt_byte(internal: ObjRef<'_>) -> &AtomicU8 {
    let at = internal.addr() + offset_of!(Internal, thread_interrupt_requested);
    // SAFETY: the object is an InternalThread, which has the bool field; the reference pins the object.
    unsafe { &*(at as *const AtomicU8) }
}

/// The state of a thread.
pub fn get(internal: ObjRef<'_>) -> u32 {
    word(internal).load(Ordering::SeqCst)
}
/// Sets and clears bits; the state before.
pub fn change(internal: ObjRef<'_>, set: u32, clear: u32) -> u32 {
    let change = |s: u32| Some(s & !clear | set);
    let before = word(internal)
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, change)
        .unwrap_or_else(|s| s);
    if (set | clear) & BACKGROUND != 0
        && let Some(lifetime) = lifetime::of(internal)
    {
        // One whose start has failed has a life, and does not run.
        lifetime.keep_alive(|| get(internal) & (BACKGROUND | UNSTARTED) == 0);
    }
    before
}
/// What [`claim_start`] found.
pub(super) enum Claim {
    /// The thread was Unstarted, and is not any more.
    Taken,
    /// It was aborted before it was started: it never runs.
    Aborted,
    /// It was started already.
    Refused,
}
/// Takes a thread from Unstarted to started, once.
pub(super) fn claim_start(internal: ObjRef<'_>) -> Claim {
    let is_free = |s: u32| s & UNSTARTED != 0 && s & ABORTED == 0;
    match try_change(internal, |s| is_free(s).then_some(s & !UNSTARTED)) {
        Ok(_) => Claim::Taken,
        Err(s) if s & ABORTED != 0 => Claim::Aborted,
        Err(_) => Claim::Refused,
    }
}
/// A thread whose start was [claimed](claim_start) is Unstarted again. What was asked of it meanwhile was asked of one that does not run: an abort has aborted it.
pub(super) fn give_start_back(internal: ObjRef<'_>) {
    let _ = try_change(internal, |s| {
        let aborted = if s & ABORT_REQUESTED != 0 { ABORTED } else { 0 };
        Some(s & !(ABORT_REQUESTED | SUSPEND_REQUESTED) | UNSTARTED | aborted)
    });
}

/// Thread.Interrupt.
pub fn interrupt(internal: ObjRef<'_>) {
    interrupt_byte(internal).store(1, Ordering::SeqCst);
    if let Some(id) = wake(internal) {
        park::interrupt_io(id);
    }
}
/// The thread was not asked to leave a wait.
pub(super) fn forget_interrupt(internal: ObjRef<'_>) {
    interrupt_byte(internal).store(0, Ordering::SeqCst);
}
/// Unparks a thread that runs; its id.
fn wake(internal: ObjRef<'_>) -> Option<u32> {
    let id = field_i32(internal, offset_of!(Internal, small_id)).load(Ordering::SeqCst);
    (id > 0).then(|| {
        park::unpark(id as u32);
        id as u32
    })
}

/// Changes the state if `change` gives another; what it was.
fn try_change(
    internal: ObjRef<'_>,
    change: impl FnMut(u32) -> Option<u32>,
) -> std::result::Result<u32, u32> {
    word(internal).fetch_update(Ordering::SeqCst, Ordering::SeqCst, change)
}

/// Notes that an abort of another thread is asked for. False if there is nothing to be done: it has ended, is being
/// aborted, or has not been started; then it never runs.
pub fn request_abort(internal: ObjRef<'_>) -> bool {
    let before = try_change(internal, |s| match s {
        _ if s & (ABORT_REQUESTED | STOPPED) != 0 => None,
        _ if s & UNSTARTED != 0 => Some(s | ABORTED),
        _ => Some(s | ABORT_REQUESTED),
    });
    before.is_ok_and(|s| s & UNSTARTED == 0)
}

/// What Suspend or Resume found.
pub enum Suspending {
    /// The state was changed.
    Done,
    /// It is so already.
    Already,
    /// The thread has not been started, or is dead; or is not suspended.
    WrongState,
}
/// Notes that a thread is to suspend itself. The state is what counts; the bit in the context only makes the thread look.
pub fn request_suspend(internal: ObjRef<'_>) -> Suspending {
    let asked = SUSPENDED | SUSPEND_REQUESTED | ABORT_REQUESTED;
    match try_change(internal, |s| {
        (s & (UNSTARTED | ABORTED | STOPPED | asked) == 0).then_some(s | SUSPEND_REQUESTED)
    }) {
        Ok(_) => Suspending::Done,
        Err(s) if s & (UNSTARTED | ABORTED | STOPPED) != 0 => Suspending::WrongState,
        Err(_) => Suspending::Already,
    }
}
/// Thread.Resume.
pub fn resume(internal: ObjRef<'_>) -> Suspending {
    let asked = SUSPENDED | SUSPEND_REQUESTED;
    match try_change(internal, |s| (s & asked != 0).then_some(s & !asked)) {
        Ok(_) => {
            wake(internal);
            Suspending::Done
        }
        Err(_) => Suspending::WrongState,
    }
}
/// The calling thread does what it was asked to: is it to stay suspended?
pub(super) fn stays_suspended(internal: ObjRef<'_>) -> bool {
    let _ = try_change(internal, |s| {
        (s & SUSPEND_REQUESTED != 0).then_some(s & !SUSPEND_REQUESTED | SUSPENDED)
    });
    get(internal) & SUSPENDED != 0
}
