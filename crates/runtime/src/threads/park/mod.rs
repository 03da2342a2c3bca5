//! The park layer: where a thread waits, whatever it waits for.
//!
//! # How it works
//! Every thread has a [`Waiter`], found by its owner id. A thread that wants to wait calls [`park`] with a `commit` that publishes
//! the wait (usually by releasing a queue's lock); a thread that wants it to go on calls [`unpark`] with the id. On an OS thread
//! waiting is a futex in Native state; a green thread leaves its carrier ([`green::wait`]).
//!
//! # The park word
//! | value | meaning | `park` makes it | `unpark` makes it |
//! |---|---|---|---|
//! | RUNNING | the thread runs, or publishes its wait | PARKED, when `commit` has returned | TOKEN: the thread will not sleep |
//! | PARKED | the thread sleeps | | TOKEN, and wakes the thread |
//! | TOKEN | a wake-up has come | RUNNING, at once or at the end of the park | TOKEN |
//!
//! # Map
//! * [`waiter`](mod@waiter): the table of waiters, and queues of them
//! * [`blocking_io`]: waits for descriptors; [`wait_set`]: for one of several; [`cancel`]: ending them
//! * [`offload`]: waits for helper threads that make a call which has to block
//! * [`pipe_calls`]: the same for the class library's own native functions
//! * [`reason`]: what reports say of a wait
//!
//! # Invariants
//! * An unpark always leaves a token, which ends the current park or the next one. So no wake-up is lost, and because a token may be
//!   old, every caller of `park` tests its condition again in a loop.
//! * `commit` runs exactly once, in Runtime state, before the thread sleeps.
pub mod blocking_io;
pub mod cancel;
pub mod offload;
pub(crate) mod pipe_calls;
pub mod reason;
pub mod wait_set;
pub mod waiter;

pub use cancel::{cancel_io, interrupt_io};
pub use reason::Reason;
pub use waiter::{Queue, Waiter, is_queued, is_signalled, set_signalled, unpark};

use crate::cx::Cx;
use crate::profiler::sampling::off_cpu;
use crate::threads::green::kept::Kept;
use crate::threads::{blocking, green};
use std::time::{Duration, Instant};
use waiter::{futex_wait, waiter};

/// The id of the calling thread, by which others unpark it.
pub fn id(cx: &Cx<'_>) -> u32 {
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).owner_id }
}

/// The end of a wait of that many milliseconds; None for ever (-1).
pub fn deadline(ms: i32) -> Option<Instant> {
    u64::try_from(ms)
        .ok()
        .map(|ms| Instant::now() + Duration::from_millis(ms))
}
/// Is it over?
pub fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|d| Instant::now() >= d)
}

/// The calling thread leaves the native stack: see [`park_reentrant`].
#[must_use]
pub(crate) struct Leaves;

/// As [`park`], in an internal call that may be made again. If the calling thread leaves the native stack, `kept` is what that call finds, and the
/// caller returns at once. `until`: when the park is over.
pub(crate) fn park_reentrant(
    cx: &Cx<'_>,
    commit: impl FnOnce(),
    until: Option<Instant>,
    kept: Kept,
) -> Result<bool, Leaves> {
    let me = waiter(id(cx));
    let starts = me.word.begin();
    commit();
    match starts && green::reentry::leave(cx, until, kept) {
        true => Err(Leaves),
        false => Ok(wait(cx, me, starts, until)),
    }
}

/// Waits for an [`unpark`] of this thread or the deadline. True if a token ended it. It may end early: the caller tests its condition again.
pub fn park(cx: &Cx<'_>, commit: impl FnOnce(), deadline: Option<Instant>) -> bool {
    let me = waiter(id(cx));
    let starts = me.word.begin();
    commit();
    wait(cx, me, starts, deadline)
}

/// The calling thread has begun to park (`starts`; else there is a token), and has made its wait known.
fn wait(cx: &Cx<'_>, me: &Waiter, starts: bool, deadline: Option<Instant>) -> bool {
    let since = off_cpu::begins();
    if starts && green::is_green(cx) {
        // Its carrier says that it sleeps, when it has left its stack.
        green::wait::park(cx, deadline, |wait| blocking(wait));
    } else if starts && me.word.sleeps() {
        cx.native(|| while me.word.is_parked() && futex_wait(me.word.futex(), deadline) {});
    }
    off_cpu::ends(cx, since, reason::kind_of(me));
    reason::clear(me);
    me.word.end()
}
