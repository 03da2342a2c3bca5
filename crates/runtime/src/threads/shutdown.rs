//! The end of the background threads when the process ends in the ordinary way: they are aborted, and waited for.
//!
//! # Invariants
//! A thread to which the exception has been raised is waited for wherever it is: its handlers may well be in native code,
//! writing to the console. One that native code keeps from being aborted is waited for [`NATIVE_PATIENCE`] at most, any
//! other [`PATIENCE`].
use super::{requests, state};
use crate::cx::Cx;
use crate::safepoint::registry;
use crate::threads::park;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use vervet_abi::context::interrupts::{ABORT, RAISED};
use vervet_abi::{State, ThreadContext};

const PATIENCE: Duration = Duration::from_secs(1);
/// A call that ends by itself, such as a write, ends within that; one that blocks keeps the process no longer.
const NATIVE_PATIENCE: Duration = Duration::from_millis(100);
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Aborts every thread but the calling one and the finalizer thread, until they have ended.
pub fn abort_background(cx: &Cx<'_>) {
    let begin = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        let mut left = false;
        let mut left_in_native = false;
        requests::request_where(cx, |context, thread| {
            // SAFETY: the context is that of a thread on the list.
            let goes_on = context == cx.context()
                || unsafe {
                    crate::memory::finalizer::is_finalizer(context) || !runs_managed_code(context)
                };
            if goes_on {
                return 0;
            }
            let waits = state::get(thread) & state::WAIT_SLEEP_JOIN != 0;
            // SAFETY: contexts are never freed; the state is a byte that its owner writes at any time.
            let state = unsafe { (&raw const (*context).state).read_volatile() };
            let is_native = state == State::Native as u8 || state == State::Foreign as u8;
            // SAFETY: the context is that of a thread on the list.
            let interrupts = unsafe { registry::interrupts(context) }.load(Ordering::SeqCst);
            let is_raised = interrupts & RAISED != 0;
            match waits || !is_native || is_raised {
                true => left = true,
                false => left_in_native = true,
            }
            // Again if it has reset the abort before.
            match state::request_abort(thread) {
                true => ABORT,
                false => 0,
            }
        });
        let waited = begin.elapsed();
        let is_patient = left && waited < PATIENCE;
        if !(is_patient || left_in_native && waited < NATIVE_PATIENCE) {
            return;
        }
        park::reason::set(cx, park::Reason::Foreground, None);
        park::park(cx, || {}, Some(Instant::now() + pause));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Is managed code on the thread's stack? (A pool's thread without work has none.)
///
/// # Safety
/// The context is that of a thread, attached or not.
unsafe fn runs_managed_code(context: *mut ThreadContext) -> bool {
    // SAFETY: contexts are never freed; words that their owner writes at any time.
    unsafe {
        // A green thread's first managed frames have no entry record below them. It has a place for native frames until it has ended.
        let is_first_piece =
            (*context).green != 0 && (&raw const (*context).native_sp).read_volatile() != 0;
        is_first_piece || !(&raw const (*context).record).read_volatile().is_null()
    }
}
