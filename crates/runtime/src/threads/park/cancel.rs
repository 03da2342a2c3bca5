//! Ending a blocking operation of another thread.
//!
//! # Invariants
//! Whoever makes a request makes it visible before it calls [`interrupt_io`], and the thread looks for requests after its word is
//! INSIDE. So one of the two sees the other. The retry thread repeats the signal until the thread is out.
use super::waiter::{CANCEL, INSIDE, REQUEST, ROUND, green, unpark, waiter};
use crate::safepoint::registry;
use crate::threads::retry_thread;
use std::sync::atomic::Ordering;

/// Makes a thread that is inside a blocking operation look for interrupt requests. Called after the requests can be seen.
pub fn interrupt_io(id: u32) {
    wake(id, operation(id), REQUEST);
}

/// Ends the operation that a thread is in, if it is in one, with EINTR. One that has its result keeps it.
pub fn cancel_io(id: u32) {
    wake(id, operation(id), CANCEL);
}

/// The operation that a thread is in, or none.
#[derive(Clone, Copy)]
pub(super) struct Operation(u32);

/// What operation the thread is in now.
pub(super) fn operation(id: u32) -> Operation {
    Operation(waiter(id).io.load(Ordering::SeqCst))
}

/// As [`cancel_io`], if the thread is in that operation still.
pub(super) fn cancel(id: u32, operation: Operation) {
    wake(id, operation, CANCEL);
}

fn wake(id: u32, Operation(seen): Operation, why: u32) {
    let word = &waiter(id).io;
    if seen & INSIDE == 0 {
        return;
    }
    // The same operation, or none.
    let add = |w: u32| (w / ROUND == seen / ROUND && w & INSIDE != 0).then_some(w | why);
    if word
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, add)
        .is_ok()
    {
        registry::signal_owner(id);
        if green(id) != 0 {
            // It may be parked until the descriptor is ready.
            unpark(id);
        }
        retry_thread::kick();
    }
}
