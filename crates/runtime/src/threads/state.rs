//! ThreadState, waiting, and interrupts.
//!
//! # Invariants
//! * `InternalThread.state` is changed by several threads, so atomically. WaitSleepJoin is set by the thread itself.
//! * An interrupt is a byte of the InternalThread, an abort a bit of the context, both set before the thread is unparked.
//!   Waits of managed code go through [`park`], which looks at both before it commits and after it wakes, and answers with an
//!   [`Alerted`]: so they end a wait, or the next one. Only waits that nothing may end use [`park::park`] itself.
use super::{current_internal, lifetime};
use crate::cx::{Cx, Result, Throw};
use crate::object::ObjRef;
use crate::threads::abort;
use crate::threads::park;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, Ordering};
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_types::Known;

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
        && let Some(lifetime) = lifetime::of(internal)
    {
        lifetime.keep_alive(|| get(internal) & BACKGROUND == 0);
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

/// What the calling thread was told besides what it waits for; whoever gets one stops waiting, and raises it when it has
/// cleaned up. Only [`alerted`] makes one.
#[must_use]
pub struct Alerted(Alert);
enum Alert {
    Abort,
    Interrupt,
}
impl Alerted {
    /// The exception, left pending.
    pub fn raise(self, cx: &Cx<'_>) -> Throw {
        match self.0 {
            Alert::Abort => abort::raise_due(cx),
            Alert::Interrupt => {
                interrupt_byte(own(cx)).store(0, Ordering::SeqCst);
                cx.throw(
                    Known::ThreadInterruptedException,
                    "Thread was interrupted from a waiting state.",
                )
            }
        }
    }
}

/// Is the calling thread interrupted, or aborted where that is possible?
pub fn alerted(cx: &Cx<'_>) -> Option<Alerted> {
    if abort::is_due(cx) {
        return Some(Alerted(Alert::Abort));
    }
    let internal = own(cx);
    (!internal.is_null() && interrupt_byte(internal).load(Ordering::SeqCst) != 0)
        .then_some(Alerted(Alert::Interrupt))
}
/// Throws ThreadInterruptedException if an interrupt is pending for the calling thread, which then is no more, or
/// ThreadAbortException.
pub fn poll_interrupt(cx: &Cx<'_>) -> Result<()> {
    alerted(cx).map_or(Ok(()), |a| Err(a.raise(cx)))
}
/// A wait of managed code: [`park::park`], unless an interrupt or abort is pending (then there is no commit) or comes.
pub fn park(
    cx: &Cx<'_>,
    commit: impl FnOnce(),
    deadline: Option<std::time::Instant>,
) -> std::result::Result<bool, Alerted> {
    if let Some(alert) = alerted(cx) {
        return Err(alert);
    }
    let token = park::park(cx, commit, deadline);
    alerted(cx).map_or(Ok(token), Err)
}
/// Thread.Interrupt.
pub fn interrupt(internal: ObjRef<'_>) {
    interrupt_byte(internal).store(1, Ordering::SeqCst);
    if let Some(id) = wake(internal) {
        park::interrupt_io(id);
    }
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
        _ if s & (abort::REQUESTED | STOPPED) != 0 => None,
        _ if s & UNSTARTED != 0 => Some(s | ABORTED),
        _ => Some(s | abort::REQUESTED),
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
    let asked = SUSPENDED | SUSPEND_REQUESTED | abort::REQUESTED;
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
        park(cx, || {}, deadline).map_err(|alert| alert.raise(cx))?;
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
/// Null-safe [`get`] for the calling thread's own use.
pub fn current<'cx>(cx: &'cx Cx<'cx>) -> u32 {
    current_internal(cx).non_null().map_or(0, get)
}
