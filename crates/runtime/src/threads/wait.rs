//! Waits of managed code: what ends them besides what they wait for.
//!
//! # Invariants
//! * A wait of managed code goes through [`park`], which looks for an interrupt and an abort before it commits and after it wakes, and
//!   answers with an [`Alerted`]. An interrupt is a byte of the InternalThread and an abort a bit of the context; both are set before
//!   the thread is unparked. So they end the wait, or the next one. Only waits that nothing may end use [`park::park`] itself.
//! * A wait that managed code calls as a reentrant internal call may return without having ended, because its thread leaves the native stack
//!   ([`reentry`]); it is then called again. So each begins with [`reentry::resumed`], and undoes nothing when it leaves.
//! * WaitSleepJoin is set by the thread itself, while a [`Waiting`] lives.
use super::green::kept::Kept;
use super::green::reentry;
use super::lifetime::{self, ThreadLifetime};
use super::park::Leaves;
use super::state::{self, WAIT_SLEEP_JOIN, interrupt_byte, word};
use super::{abort, attach, blocking, green, interrupts, park};
use crate::cx::{Cx, Result, Throw};
use crate::object::ObjRef;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vervet_types::Known;

/// A thread that joins one which the program did not start wakes after this time and tests whether that thread still exists.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// While it lives, the calling thread is in WaitSleepJoin.
pub struct Waiting<'a, 'cx>(&'a Cx<'cx>, bool);

impl<'a, 'cx> Waiting<'a, 'cx> {
    /// Begins waiting, or goes on with a wait that was left; nests.
    pub fn begin(cx: &'a Cx<'cx>, resumed: bool) -> Self {
        let internal = own(cx);
        if internal.is_null() {
            return Waiting(cx, false);
        }
        // The thread alone sets and clears it.
        let is_new = word(internal).load(Ordering::Relaxed) & WAIT_SLEEP_JOIN == 0;
        if is_new {
            word(internal).fetch_or(WAIT_SLEEP_JOIN, Ordering::SeqCst);
        }
        Waiting(cx, is_new || resumed)
    }
}

impl Drop for Waiting<'_, '_> {
    fn drop(&mut self) {
        // A thread that leaves the native stack goes on waiting.
        if reentry::leaves(self.0) {
            return;
        }
        // The thread may have got what it waits for without a park.
        park::reason::forget(self.0);
        if self.1 {
            word(own(self.0)).fetch_and(!WAIT_SLEEP_JOIN, Ordering::SeqCst);
        }
    }
}

/// [`current_internal`] for a token of any lifetime.
fn own<'a>(cx: &Cx<'_>) -> ObjRef<'a> {
    // SAFETY: a token holds the context of the calling thread. The field is 0 or an InternalThread, which the collector keeps.
    unsafe { ObjRef::from_addr((*cx.context()).internal_thread) }
}

/// What the calling thread was told besides what it waits for; whoever gets one stops waiting, and raises it when it has
/// cleaned up. Only [`alerted`] makes one.
#[must_use]
pub struct Alerted(Alert);

enum Alert {
    Abort,
    Interrupt,
    /// The thread leaves the native stack; there is no exception.
    Leaves,
}

impl Alerted {
    /// Does the thread leave the native stack? Then the caller cleans nothing up.
    pub(super) fn leaves(&self) -> bool {
        matches!(self.0, Alert::Leaves)
    }
    /// The exception, left pending.
    pub fn raise(self, cx: &Cx<'_>) -> Throw {
        match self.0 {
            Alert::Leaves => Throw(()),
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

/// A wait of managed code: [`park::park_reentrant`], unless an interrupt or abort is pending (then there is no commit) or comes.
pub(crate) fn park(
    cx: &Cx<'_>,
    commit: impl FnOnce(),
    until: Option<Instant>,
    kept: Kept,
) -> std::result::Result<bool, Alerted> {
    if let Some(alert) = alerted(cx) {
        // The caller has said why it waits, and does not.
        park::reason::forget(cx);
        return Err(alert);
    }
    let token = park_deaf(cx, commit, until, kept)?;
    alerted(cx).map_or(Ok(token), Err)
}

/// The same, whatever is pending; the only alert is that the thread leaves the native stack.
pub(super) fn park_deaf(
    cx: &Cx<'_>,
    commit: impl FnOnce(),
    until: Option<Instant>,
    kept: Kept,
) -> std::result::Result<bool, Alerted> {
    park::park_reentrant(cx, commit, until, kept).map_err(|Leaves| Alerted(Alert::Leaves))
}

/// Waits until `ready` gives an answer, the time is over (None) or the thread is interrupted. `ready` is asked before each park; what makes it ready
/// unparks this thread. Reports say `reason`. `end`: the end of the whole wait, of which this may be a part.
fn wait_until<T>(
    cx: &Cx<'_>,
    reason: park::Reason,
    until: Option<Instant>,
    end: Option<Instant>,
    mut ready: impl FnMut() -> Option<T>,
) -> Result<Option<T>> {
    loop {
        poll_interrupt(cx)?;
        if let Some(answer) = ready() {
            return Ok(Some(answer));
        }
        if park::is_over(until) {
            return Ok(None);
        }
        park::reason::set(cx, reason, until);
        park(cx, || {}, until, Kept { end, note: 0 }).map_err(|alert| alert.raise(cx))?;
    }
}

/// Waits until `ready` says so, or the thread is interrupted or aborted. What makes it ready unparks the thread. It is a wait of the runtime's: the thread
/// does not leave the native stack.
pub(crate) fn until(cx: &Cx<'_>, mut ready: impl FnMut() -> bool) -> Result<()> {
    let _waiting = Waiting::begin(cx, false);
    loop {
        poll_interrupt(cx)?;
        if ready() {
            return Ok(());
        }
        park::park(cx, || {}, None);
    }
}

/// Thread.Yield: lets other threads run, the carrier's other green threads, or those that the kernel schedules.
pub fn yield_now(cx: &Cx<'_>) -> Result<()> {
    if reentry::resumed(cx).is_none() {
        begin_yield(cx)?;
    }
    interrupts::suspend_if_asked(cx);
    abort::poll(cx)
}

fn begin_yield(cx: &Cx<'_>) -> Result<()> {
    if green::wait::may_go_on(cx) {
        return Ok(());
    }
    if reentry::leave_to_yield(cx) {
        return Err(Throw(())); // The thread leaves the native stack; there is no exception.
    }
    if !green::wait::yield_now(cx, |wait| blocking(wait)) {
        cx.native(std::thread::yield_now);
    }
    Ok(())
}

/// Thread.Sleep: that many milliseconds (-1: for ever).
pub fn sleep(cx: &Cx<'_>, ms: i32) -> Result<()> {
    sleep_until_over(cx, ms)?;
    interrupts::suspend_if_asked(cx);
    Ok(())
}

fn sleep_until_over(cx: &Cx<'_>, ms: i32) -> Result<()> {
    let resumed = reentry::resumed(cx);
    if ms == 0 {
        if resumed.is_none() {
            poll_interrupt(cx)?;
            begin_yield(cx)?;
        }
        return Ok(());
    }
    let end = resumed.map_or_else(|| park::deadline(ms), |kept| kept.end);
    let _waiting = Waiting::begin(cx, resumed.is_some());
    wait_until(cx, park::Reason::Sleep, end, end, || None::<()>).map(|_| ())
}

/// Thread.Join: waits for the end of the thread with that InternalThread, at most that many milliseconds (-1: for ever). None: it has not been started.
pub fn join(cx: &Cx<'_>, internal: ObjRef<'_>, ms: i32) -> Result<Option<bool>> {
    let resumed = reentry::resumed(cx);
    let ended = match lifetime::to_join(internal) {
        Some(life) if state::get(internal) & state::UNSTARTED == 0 => {
            life.join(cx, internal, ms, resumed)?
        }
        _ => {
            // The start may have failed meanwhile.
            drop(resumed.map(|_| Waiting::begin(cx, true)));
            None
        }
    };
    interrupts::suspend_if_asked(cx);
    Ok(ended)
}

impl ThreadLifetime {
    /// Waits for the end, at most that many milliseconds (-1: for ever). None: the start has failed.
    fn join(
        &self,
        cx: &Cx<'_>,
        internal: ObjRef<'_>,
        ms: i32,
        resumed: Option<Kept>,
    ) -> Result<Option<bool>> {
        let me = park::id(cx);
        let ended = || {
            let mut joining = self.joining.lock();
            let ended = self.ended.load(Ordering::SeqCst);
            let is_over = ended || state::get(internal) & state::UNSTARTED != 0;
            if !is_over && !joining.contains(&me) {
                joining.push(me);
            }
            is_over.then_some(ended)
        };
        let end = resumed.map_or_else(|| park::deadline(ms), |kept| kept.end);
        let reason = park::Reason::Join(std::ptr::from_ref(self) as usize);
        let _waiting = Waiting::begin(cx, resumed.is_some());
        let result = loop {
            // A library's thread may end without detaching itself: it is searched for from time to time.
            let until = match self.started {
                true => end,
                false => {
                    attach::bury_dead();
                    let soon = Instant::now() + LOOK_AGAIN;
                    Some(end.map_or(soon, |e| e.min(soon)))
                }
            };
            match wait_until(cx, reason, until, end, ended) {
                Ok(None) if !park::is_over(end) => {}
                result => break result,
            }
        };
        if !reentry::leaves(cx) {
            self.joining.lock().retain(|j| *j != me);
        }
        Ok(match result? {
            Some(ended) => ended.then_some(true),
            None => Some(false),
        })
    }
}
