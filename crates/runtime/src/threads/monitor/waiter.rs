//! The calling thread, as [`vervet_parking::monitor`] asks of it: how it waits, spins and counts what it owns.
use crate::cx::Cx;
use crate::threads::wait::{self, Alerted};
use crate::threads::{green, park};
use std::time::Instant;
use vervet_abi::ThreadContext;
use vervet_parking::monitor::{Owner, Thread, Why};

/// Turns of the pause between two loads of a monitor's word: the first pause, and the longest. Each load takes the cache line from the
/// owner, which then waits for it twice as long as a short critical section takes, so loads are rare.
const FIRST_PAUSE: u32 = 32;
const LONGEST_PAUSE: u32 = 128;

/// A thread that may wait, at the object with that address.
pub(super) struct Waiter<'a, 'cx>(pub &'a Cx<'cx>, pub usize);

impl Owner for Waiter<'_, '_> {
    fn id(&self) -> u32 {
        park::id(self.0)
    }
    fn held(&self, change: i32) {
        // SAFETY: a token holds the context of the calling thread.
        unsafe { count(self.0.context(), change) }
    }
}

impl<'cx> Thread for Waiter<'_, 'cx> {
    type Alert = Alerted;
    type Deadline = Option<Instant>;
    type Waiting<'t>
        = wait::Waiting<'t, 'cx>
    where
        Self: 't;

    fn deadline(ms: i32) -> Option<Instant> {
        park::deadline(ms)
    }
    fn is_over(deadline: Option<Instant>) -> bool {
        park::is_over(deadline)
    }
    fn waiting(&self, why: Why, deadline: Option<Instant>) -> wait::Waiting<'_, 'cx> {
        let reason = match why {
            Why::Enter => park::Reason::Monitor(self.1),
            Why::Pulse => park::Reason::Pulse(self.1),
        };
        park::reason::set(self.0, reason, deadline);
        wait::Waiting::begin(self.0)
    }
    fn park(&self, commit: impl FnOnce(), deadline: Option<Instant>) {
        park::park(self.0, commit, deadline);
    }
    fn park_alertable(
        &self,
        commit: impl FnOnce(),
        deadline: Option<Instant>,
    ) -> Result<(), Alerted> {
        wait::park(self.0, commit, deadline).map(|_| ())
    }
    fn is_alerted(&self) -> bool {
        wait::alerted(self.0).is_some()
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
