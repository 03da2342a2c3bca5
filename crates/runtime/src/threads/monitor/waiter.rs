//! The calling thread, as [`vervet_parking::monitor`] asks of it: how it waits, spins and counts what it owns.
use crate::cx::Cx;
use crate::profiler::hooks;
use crate::threads::green::kept::Kept;
use crate::threads::green::reentry;
use crate::threads::wait::{self, Alerted};
use crate::threads::{green, park};
use std::cell::Cell;
use std::time::Instant;
use vervet_abi::ThreadContext;
use vervet_parking::monitor::{Left, Owner, Park, Stop, Thread, Why};

/// Turns of the pause between two loads of a monitor's word: the first pause, and the longest. Each load takes the cache line from the
/// owner, which then waits for it twice as long as a short critical section takes, so loads are rare.
const FIRST_PAUSE: u32 = 32;
const LONGEST_PAUSE: u32 = 128;

/// A thread that may wait at an object, in one call.
pub(super) struct Waiter<'a, 'cx> {
    cx: &'a Cx<'cx>,
    /// The address of the object.
    object: usize,
    /// The wait that the call goes on with.
    kept: Option<Kept>,
    /// The end of the wait.
    end: Cell<Option<Instant>>,
    /// It has to wait to enter.
    contended: Cell<bool>,
}

impl<'a, 'cx> Waiter<'a, 'cx> {
    /// The calling thread, in a call that may wait: made first.
    pub(super) fn new(cx: &'a Cx<'cx>, object: usize) -> Self {
        let kept = reentry::resumed(cx);
        Waiter {
            cx,
            object,
            kept,
            end: Cell::new(kept.and_then(|kept| kept.end)),
            // A wait that goes on was told of when it began.
            contended: Cell::new(kept.is_some_and(|kept| kept.note as u8 != Park::Waiting as u8)),
        }
    }
    /// Does the call go on with a wait?
    pub(super) fn is_resumed(&self) -> bool {
        self.kept.is_some()
    }
    /// The call ends, with the monitor or (`entered` is false) without it.
    pub(super) fn tell(&self, entered: bool) {
        if self.contended.get() {
            let what = if entered {
                hooks::Lock::Done
            } else {
                hooks::Lock::Fail
            };
            hooks::monitor(what, self.object);
        }
    }
    /// What reports say of the wait is forgotten at the end of each park.
    fn say(&self, why: Why, deadline: Option<Instant>) {
        let reason = match why {
            Why::Enter => park::Reason::Monitor(self.object),
            Why::Pulse => park::Reason::Pulse(self.object),
        };
        park::reason::set(self.cx, reason, deadline);
    }
    fn keep(&self, left: Left, deadline: Option<Instant>) -> Kept {
        let why = match left.park {
            Park::Waiting => Why::Pulse,
            Park::Entering | Park::ReenteringLate | Park::ReenteringPulsed => Why::Enter,
        };
        self.say(why, deadline);
        Kept {
            end: self.end.get(),
            note: u64::from(left.count) << 8 | left.park as u64,
        }
    }
}

fn stop(alert: Alerted) -> Stop<Alerted> {
    match alert.leaves() {
        true => Stop::Leaves,
        false => Stop::Alerted(alert),
    }
}

impl Owner for Waiter<'_, '_> {
    fn id(&self) -> u32 {
        park::id(self.cx)
    }
    fn held(&self, change: i32) {
        // SAFETY: a token holds the context of the calling thread.
        unsafe { count(self.cx.context(), change) }
    }
}

impl<'cx> Thread for Waiter<'_, 'cx> {
    type Alert = Alerted;
    type Deadline = Option<Instant>;
    type Waiting<'t>
        = wait::Waiting<'t, 'cx>
    where
        Self: 't;

    fn resumed(&self) -> Option<Left> {
        let note = self.kept?.note;
        let park = match note as u8 {
            n if n == Park::Entering as u8 => Park::Entering,
            n if n == Park::Waiting as u8 => Park::Waiting,
            n if n == Park::ReenteringLate as u8 => Park::ReenteringLate,
            _ => Park::ReenteringPulsed,
        };
        Some(Left {
            park,
            count: (note >> 8) as u32,
        })
    }
    fn deadline(&self, ms: i32) -> Option<Instant> {
        if self.kept.is_none() {
            self.end.set(park::deadline(ms));
        }
        self.end.get()
    }
    fn never() -> Option<Instant> {
        None
    }
    fn is_over(deadline: Option<Instant>) -> bool {
        park::is_over(deadline)
    }
    fn waiting(&self, why: Why, deadline: Option<Instant>) -> wait::Waiting<'_, 'cx> {
        if why == Why::Enter && !self.contended.replace(true) {
            hooks::monitor(hooks::Lock::Contention, self.object);
        }
        self.say(why, deadline);
        wait::Waiting::begin(self.cx, self.kept.is_some())
    }
    fn park(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Option<Instant>,
    ) -> Result<(), Stop<Alerted>> {
        let parked = wait::park_deaf(self.cx, commit, deadline, self.keep(left, deadline));
        parked.map(|_| ()).map_err(stop)
    }
    fn park_alertable(
        &self,
        left: Left,
        commit: impl FnOnce(),
        deadline: Option<Instant>,
    ) -> Result<(), Stop<Alerted>> {
        let parked = wait::park(self.cx, commit, deadline, self.keep(left, deadline));
        parked.map(|_| ()).map_err(stop)
    }
    fn alert(&self) -> Option<Alerted> {
        wait::alerted(self.cx)
    }
    fn spin(turns: u32, owner: impl Fn() -> u32, mut wanted: impl FnMut() -> bool) -> bool {
        let mut pause = FIRST_PAUSE;
        for _ in 0..turns {
            if wanted() {
                return true;
            }
            // A green thread that is parked, or ready and on no carrier, may be one that this carrier is to run.
            if vervet_os::thread::processors() == 1 || green::is_off_carrier(owner()) {
                return false;
            }
            for _ in 0..pause {
                std::hint::spin_loop();
            }
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        false
    }
}

/// A thread of which only the context is known: it cannot wait.
pub(super) struct FastPathOwner {
    context: *mut ThreadContext,
    id: u32,
}
impl FastPathOwner {
    /// # Safety
    /// The context is the calling thread's, and stays so as long as this lives.
    #[inline]
    pub unsafe fn new(context: *mut ThreadContext) -> FastPathOwner {
        // SAFETY: the caller passes the context of the calling thread, whose owner id does not change meanwhile.
        let id = unsafe { (*context).owner_id };
        FastPathOwner { context, id }
    }
}
impl Owner for FastPathOwner {
    #[inline]
    fn id(&self) -> u32 {
        self.id
    }
    #[inline]
    fn held(&self, change: i32) {
        // SAFETY: who made it promised that the context is this thread's.
        unsafe { count(self.context, change) }
    }
}

/// Counts a monitor taken (+1) or given up (-1).
///
/// # Safety
/// The context is the calling thread's.
#[inline]
unsafe fn count(context: *mut ThreadContext, change: i32) {
    // SAFETY: the context is the calling thread's, and no other thread reads or writes the word while the thread is attached.
    unsafe {
        let held = &raw mut (*context).locks_held;
        *held = (*held).wrapping_add_signed(change);
    }
}
