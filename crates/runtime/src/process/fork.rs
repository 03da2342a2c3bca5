//! A program, or a library, forks the process.
//!
//! The forked process has one thread. It can run managed code until it needs a thread that is not there any more: the collector's, the finalizer's, another
//! one that the program had. So it is good for the steps before `exec`, as it is with Mono. What it does there must not reach the first process.
//!
//! # Invariants
//! * The two processes share no memory that is written. All memory of the runtime is private, but for the arena of code, which is mapped twice and
//!   therefore shared: the forked process gets a copy before it runs anything else.
//! * A thread that forks in a host's code is not held by the suspend signal while it has one of these locks that the stopper could need: the stopper
//!   lets all go and begins again. It can be held while it waits for a lock whose owner may stop the world.
//! * Nobody is placing code while the process is forked, nor starting, changing or draining a recording, and the background compiler is not at work: the
//!   forked process finds these locks free.
//!
//! `posix_spawn`, which `Process.Start` uses, does not come here: its child runs no managed code.
use crate::code::{arena, background, cache, compiling};
use crate::profiler::{live, recording, sampling};
use crate::safepoint::{progress, stop_word::SUSPEND};
use std::sync::atomic::{AtomicPtr, Ordering};
use vervet_os::lock::LeafGuard;
use vervet_os::signal::Blocked;

/// What the calling thread holds while it forks: locks whose owners the forked process would not have.
struct Held {
    // They go in this order.
    _recording: recording::Held,
    _arena: LeafGuard<'static, ()>,
    _not_held: Blocked,
    _profiler: live::Held,
    _sampling: sampling::Held,
    _compiler: background::Held,
}

/// A box's address; null while nobody forks. One thread at a time does: whoever has written it holds the locks. (A thread-local word would be one of the few
/// that the library for hosts has.)
static HELD: AtomicPtr<Held> = AtomicPtr::new(std::ptr::null_mut());

/// Has the handlers called. Called once at start-up.
pub fn initialise() {
    // SAFETY: functions that live as long as the process. (Without memory for them a fork is what it would be without handlers.)
    unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after_in_child)) };
}

extern "C" fn before() {
    // Its memory first: with the arena's lock, for which the stopper may wait, this thread must not wait for a lock of the C library.
    let held = Box::<Held>::new_uninit();
    // In the order in which others take them, those that may be held for long first. Whoever holds one of the first two may stop the world, and this thread
    // can be stopped while it waits for them.
    let compiler = background::hold();
    let (profiler, sampling) = (live::hold(), sampling::before_fork());
    let not_held = Blocked::new(SUSPEND);
    let held = Box::write(
        held,
        Held {
            _recording: recording::hold(),
            _arena: arena::hold(),
            _not_held: not_held,
            _profiler: profiler,
            _sampling: sampling,
            _compiler: compiler,
        },
    );
    HELD.store(Box::into_raw(held), Ordering::Relaxed);
}

/// The calling thread, or its copy in the forked process, holds nothing more.
fn release() {
    let held = HELD.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !held.is_null() {
        // SAFETY: `before` made the box, and the word was its one owner.
        drop(unsafe { Box::from_raw(held) });
    }
}

extern "C" fn after() {
    release();
    sampling::after_fork();
}

extern "C" fn after_in_child() {
    background::has_forked();
    cache::setting::has_forked();
    compiling::has_forked();
    recording::has_forked();
    sampling::has_forked();
    progress::has_forked();
    // SAFETY: a forked process has one thread, and that held the arena.
    unsafe { arena::separate() };
    release();
}
