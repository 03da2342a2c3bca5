//! ThreadState, waiting, and interrupts.
//!
//! # Invariants
//! * `InternalThread.state` is changed by several threads, so atomically. WaitSleepJoin is set by the thread itself.
//! * An interrupt is a byte of the InternalThread, set before the thread is unparked; whoever waits looks at it before
//!   each park. So it ends a wait, or the next one.
use super::{current_internal, life};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::park;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_types::Known;

/// ThreadState.Background.
pub const BACKGROUND: u32 = 4;
/// ThreadState.Unstarted.
pub const UNSTARTED: u32 = 8;
/// ThreadState.Stopped.
pub const STOPPED: u32 = 16;
/// ThreadState.WaitSleepJoin.
pub const WAIT_SLEEP_JOIN: u32 = 32;
/// ThreadState.Aborted.
pub const ABORTED: u32 = 256;
/// ApartmentState.Unknown.
pub const APARTMENT_UNKNOWN: u8 = 2;
/// ApartmentState.MTA.
pub const APARTMENT_MTA: u8 = 1;

fn word(internal: ObjRef<'_>) -> &AtomicU32 {
    let at = internal.addr() + offset_of!(Internal, state);
    // SAFETY: the object is not null and has the field; it is not moved while this thread is in Runtime.
    unsafe { &*(at as *const AtomicU32) }
}
/// An `int` field of an InternalThread that several threads use.
pub(super) fn field_i32(internal: ObjRef<'_>, offset: usize) -> &AtomicI32 {
    // SAFETY: as above; the caller names an `int` field.
    unsafe { &*((internal.addr() + offset) as *const AtomicI32) }
}
fn interrupt_byte(internal: ObjRef<'_>) -> &AtomicU8 {
    let at = internal.addr() + offset_of!(Internal, thread_interrupt_requested);
    // SAFETY: as above; a bool field.
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
        && let Some(life) = life::of(internal)
    {
        life.keep_alive(|| get(internal) & BACKGROUND == 0);
    }
    before
}
/// Takes a thread from Unstarted to started, once. False if it was started already.
pub(super) fn claim_start(internal: ObjRef<'_>) -> bool {
    word(internal).fetch_and(!UNSTARTED, Ordering::SeqCst) & UNSTARTED != 0
}

/// While it lives, the calling thread is in WaitSleepJoin.
pub struct Waiting<'a, 'cx>(&'a Cx<'cx>, bool);
impl<'a, 'cx> Waiting<'a, 'cx> {
    /// Begins waiting; nests.
    pub fn begin(cx: &'a Cx<'cx>) -> Self {
        let internal = own(cx);
        let outermost = !internal.is_null()
            && word(internal).fetch_or(WAIT_SLEEP_JOIN, Ordering::SeqCst) & WAIT_SLEEP_JOIN == 0;
        Waiting(cx, outermost)
    }
}
impl Drop for Waiting<'_, '_> {
    fn drop(&mut self) {
        if self.1 {
            word(own(self.0)).fetch_and(!WAIT_SLEEP_JOIN, Ordering::SeqCst);
        }
    }
}
/// [`current_internal`] for a token of any lifetime.
fn own<'a>(cx: &Cx<'_>) -> ObjRef<'a> {
    // SAFETY: the context belongs to this thread, its field is 0 or an InternalThread.
    unsafe { ObjRef::from_addr((*cx.context()).internal_thread) }
}

/// Is an interrupt pending for the calling thread?
pub fn is_interrupted(cx: &Cx<'_>) -> bool {
    let internal = own(cx);
    !internal.is_null() && interrupt_byte(internal).load(Ordering::SeqCst) != 0
}
/// Throws ThreadInterruptedException if an interrupt is pending for the calling thread, which then is no more.
pub fn poll_interrupt(cx: &Cx<'_>) -> Result<()> {
    let internal = own(cx);
    if internal.is_null() || interrupt_byte(internal).swap(0, Ordering::SeqCst) == 0 {
        return Ok(());
    }
    Err(cx.throw(
        Known::ThreadInterruptedException,
        "Thread was interrupted from a waiting state.",
    ))
}
/// Thread.Interrupt.
pub fn interrupt(internal: ObjRef<'_>) {
    interrupt_byte(internal).store(1, Ordering::SeqCst);
    let id = field_i32(internal, offset_of!(Internal, small_id)).load(Ordering::SeqCst);
    if id > 0 {
        park::unpark(id as u32);
    }
}

/// Waits until `ready` gives an answer, the deadline passes (None) or the thread is interrupted. `ready` is asked
/// before each park; what makes it ready unparks this thread.
pub fn wait_until<T>(
    cx: &Cx<'_>,
    deadline: Option<std::time::Instant>,
    mut ready: impl FnMut() -> Option<T>,
) -> Result<Option<T>> {
    let _waiting = Waiting::begin(cx);
    loop {
        poll_interrupt(cx)?;
        if let Some(answer) = ready() {
            return Ok(Some(answer));
        }
        if park::is_over(deadline) {
            return Ok(None);
        }
        park::park(cx, || {}, deadline);
    }
}
/// Thread.Sleep: that many milliseconds (-1: for ever).
pub fn sleep(cx: &Cx<'_>, ms: i32) -> Result<()> {
    if ms == 0 {
        poll_interrupt(cx)?;
        cx.native(std::thread::yield_now);
        return Ok(());
    }
    wait_until(cx, park::deadline(ms), || None::<()>).map(|_| ())
}
/// Runs a blocking system call in Native state, in WaitSleepJoin. An interrupt ends it only before it begins.
pub fn blocking<T>(cx: &Cx<'_>, work: impl FnOnce() -> T) -> Result<T> {
    poll_interrupt(cx)?;
    let _waiting = Waiting::begin(cx);
    Ok(cx.native(work))
}
/// Null-safe [`get`] for the calling thread's own use.
pub fn current<'cx>(cx: &'cx Cx<'cx>) -> u32 {
    current_internal(cx).non_null().map_or(0, get)
}
