//! The end of the background threads when the process ends in the ordinary way: they are aborted, and waited for.
//!
//! # Invariants
//! A thread that cannot be aborted, because it is in a call of native code, is not waited for; no thread is waited for
//! longer than [`PATIENCE`].
use super::{attention, state};
use crate::cx::Cx;
use crate::park;
use std::time::{Duration, Instant};
use vervet_abi::{Context, State};

const PATIENCE: Duration = Duration::from_secs(1);
const FIRST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);

/// Aborts every thread but the calling one and the finalizer thread, until they have ended.
pub fn abort_background(cx: &Cx<'_>) {
    let end = Instant::now() + PATIENCE;
    let mut pause = FIRST_PAUSE;
    loop {
        let mut left = 0;
        attention::request_where(cx, |ctx, thread| {
            if ctx == cx.context() || crate::finalizer::is_finalizer(ctx) || !runs_managed_code(ctx)
            {
                return 0;
            }
            let waits = state::get(thread) & state::WAIT_SLEEP_JOIN != 0;
            // SAFETY: contexts are never freed; the state is a byte that its owner writes at any time.
            let is_native =
                unsafe { (&raw const (*ctx).state).read_volatile() } == State::Native as u8;
            left += (waits || !is_native) as u32;
            // Again if it has reset the abort before.
            match state::request_abort(thread) {
                true => vervet_abi::context::attention::ABORT,
                false => 0,
            }
        });
        if left == 0 || Instant::now() >= end {
            return;
        }
        park::park(cx, || {}, Some(Instant::now() + pause));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Is managed code on the thread's stack? (A pool's thread without work has none.)
fn runs_managed_code(ctx: *mut Context) -> bool {
    // SAFETY: contexts are never freed; a word that its owner writes at any time.
    unsafe { !(&raw const (*ctx).record).read_volatile().is_null() }
}
