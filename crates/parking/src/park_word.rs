//! The word of a thread that may park.
//!
//! ```text
//!   state     meaning                                        begin       sleeps     end          unpark (by another thread)
//!   --------  ---------------------------------------------  ----------  ---------  -----------  --------------------------
//!   RUNNING   the thread runs, or makes its wait known       RUNNING     PARKED     RUNNING      TOKEN
//!   PARKED    it sleeps on the word                          -           -          RUNNING      TOKEN, and wakes it
//!   TOKEN     somebody unparked it: it does not sleep        (fails)     (fails)    RUNNING      TOKEN
//! ```
//!
//! # Invariants
//! * An unpark always leaves the token, which ends the current park or the next one, so no wake-up is lost.
//! * Because a token may be an old one, every wait is a loop around a condition.
//! * Only the thread itself leaves RUNNING and PARKED otherwise than to TOKEN.
use crate::sync::{AtomicU32, Ordering::SeqCst};

const RUNNING: u32 = 0;
/// What [`ParkWord::futex`] holds while its thread sleeps.
const PARKED: u32 = 1;
const TOKEN: u32 = 2;

/// What another thread sees of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// The thread runs, or makes its wait known.
    Running,
    /// It sleeps.
    Parked,
    /// It was unparked, and has not gone on yet, or has not parked yet.
    Unparked,
}

/// The word of a thread. See the module. All zero bytes are a valid one: the thread runs.
#[derive(Debug)]
#[repr(transparent)]
pub struct ParkWord(AtomicU32);

impl ParkWord {
    /// The value of the word while its thread sleeps.
    pub const PARKED: u32 = PARKED;

    /// A running thread's.
    #[expect(clippy::new_without_default, reason = "loom's are not const")]
    pub fn new() -> ParkWord {
        ParkWord(AtomicU32::new(RUNNING))
    }
    /// The thread is going to park. False: there is a token, so it will not sleep, and need not make its wait known.
    ///
    /// A look is enough: a token that comes later makes [`ParkWord::sleeps`] fail.
    pub fn begin(&self) -> bool {
        self.0.load(SeqCst) != TOKEN
    }
    /// The wait is known to others now. True: the thread sleeps while [`ParkWord::is_parked`]. False: it was unparked meanwhile.
    pub fn sleeps(&self) -> bool {
        self.0
            .compare_exchange(RUNNING, PARKED, SeqCst, SeqCst)
            .is_ok()
    }
    /// Has no thread unparked it since it went to sleep?
    pub fn is_parked(&self) -> bool {
        self.0.load(SeqCst) == PARKED
    }
    /// What the word says now, for reports.
    pub fn seen(&self) -> Seen {
        match self.0.load(SeqCst) {
            RUNNING => Seen::Running,
            PARKED => Seen::Parked,
            _ => Seen::Unparked,
        }
    }
    /// The thread goes on. Returns whether a token was the reason; the token is used up.
    pub fn end(&self) -> bool {
        self.0.swap(RUNNING, SeqCst) == TOKEN
    }
    /// Leaves a token. True: its thread sleeps, and has to be woken.
    pub fn unpark(&self) -> bool {
        self.0.swap(TOKEN, SeqCst) == PARKED
    }
    /// What its thread sleeps on.
    #[cfg(not(feature = "loom"))]
    pub fn futex(&self) -> &AtomicU32 {
        &self.0
    }
}
