//! The dump of all threads: what each runs or waits for, with its managed stack, and who waits for whom. SIGQUIT asks for it.
//!
//! # How it works
//! A thread of its own makes the memory for the dump, stops the world, and notes of each thread what it needs ([`collect`](mod@collect)):
//! numbers and addresses that stay valid. Then the threads go on, while it looks for threads that wait for each other ([`blocked`]) and writes the
//! text ([`text`]). Threads with the same stack that wait for the same kind of thing are one group, so the dump of a million green threads is short.
//!
//! # Invariants
//! * While the world is stopped, the dump takes no memory and no lock but leaf locks, as [`stop`](crate::safepoint::stop::stop) wants it.
//! * One dump is made at a time. A request that comes meanwhile is dropped: it gets the dump that is being made.
mod blocked;
mod collect;
mod looks;
mod text;

use crate::process::fatal;
use crate::threads::green;
use collect::Snapshot;
pub(crate) use looks::Looks;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Bytes of the stack of the thread that makes a dump.
pub(super) const STACK: usize = 512 << 10;

static MAKING: AtomicBool = AtomicBool::new(false);

/// Writes the dump to the error stream. The calling thread is not attached.
pub(super) fn make() {
    if !MAKING.swap(true, Ordering::AcqRel) {
        write();
        MAKING.store(false, Ordering::Release);
    }
}

/// Starts a thread that writes a dump when every green thread waits and nobody is left to wake one (`--report-deadlocks`).
pub(crate) fn watch() {
    if vervet_os::thread::spawn_detached(STACK, look_for_deadlocks).is_err() {
        fatal::write_stderr("vervet: --report-deadlocks: there is no memory for a thread\n");
    }
}

/// How often it is looked whether a green thread ran, and the longest pause between two looks at all threads while none does.
const EVERY: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Looking stops the world, so it is done only when no green thread has run for a while, and less often the longer that lasts.
fn look_for_deadlocks() {
    let mut last = None;
    let mut pause = EVERY;
    let mut told = None;
    loop {
        std::thread::sleep(pause);
        let Some(scheduler) = green::scheduler_in_use() else {
            continue;
        };
        let switches = scheduler.stats().switches;
        if last.replace(switches) != Some(switches) {
            pause = EVERY;
            continue;
        }
        if told == Some(switches) {
            continue;
        }
        pause = (2 * pause).min(LONGEST);
        if let Some(snapshot) = Snapshot::take()
            && blocked::nobody_goes_on(&snapshot)
            && scheduler.stats().switches == switches
        {
            told = Some(switches);
            fatal::write_stderr(&text::of(&snapshot));
        }
    }
}

/// The dump. None: there is no memory. The calling thread is not attached.
pub(crate) fn text_of_all() -> Option<String> {
    Snapshot::take().map(|snapshot| text::of(&snapshot))
}

/// Writes the dump to the error stream.
fn write() {
    match text_of_all() {
        Some(text) => fatal::write_stderr(&text),
        None => fatal::write_stderr("vervet: there is no memory for a dump of the stacks\n"),
    }
}
