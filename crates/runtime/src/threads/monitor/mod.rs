//! Monitors: the lock, the condition and the identity hash that every object has.
//!
//! # What happens between `lock` and the futex
//! | step | where | if it fails |
//! |---|---|---|
//! | one compare-and-swap of the sync word: free, or this thread's own | generated code (`jit/translate/fast_paths/monitors.rs`) | a leaf helper |
//! | a free inflated monitor is taken | [`fast_path`] | a helper in Runtime state |
//! | the thread spins, then inflates the lock and queues itself | [`enter`], [`vervet_parking::monitor`] | |
//! | the thread parks in Native state | `waiter`, [`crate::threads::park`] | |
//!
//! The sync word is free, a thin lock (owner id and count), an identity hash, or the index of an inflated monitor, which then has both.
//! `vervet_abi::object::sync_word` has the bits.
//!
//! # Map
//! The algorithms, with their models, are in [`vervet_parking::monitor`]. Here: what they are of objects, and their exceptions;
//! [`fat`]: the table of inflated monitors; [`side_table`]: which objects have one, for the collector; [`fast_path`]: what needs no
//! waiting; `waiter`: how a thread waits.
//!
//! # Invariants
//! * `ThreadContext::locks_held` counts the monitors that a thread owns (not how often): its owner id is not used again before it is 0.
//! * An inflated monitor belongs to the one object whose sync word names it. The collector deflates idle ones while the world is stopped.
pub mod fast_path;
pub mod fat;
pub mod side_table;
mod waiter;

use crate::cx::{Cx, Result, Throw};
use crate::object::ObjRef;
use crate::threads::wait::{self as managed_wait, Alerted};
use fat::Of;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_parking::monitor::{Lock, Stop};
use vervet_types::Known;
use waiter::Waiter;

fn word(object: ObjRef<'_>) -> &'static AtomicU32 {
    // SAFETY: every object has a sync word, aligned to 4; objects are not moved while a reference is on the stack.
    unsafe { &*((object.addr() + vervet_abi::object::SYNC_OFFSET as usize) as *const AtomicU32) }
}
/// The lock of an object that is not null.
#[inline]
fn lock<'l, 'o>(object: &'l Of<'o>) -> Lock<'l, Of<'o>> {
    Lock {
        word: word(object.0),
        table: object,
    }
}
fn me(cx: &Cx<'_>) -> u32 {
    // SAFETY: a token holds the context of the calling thread, whose owner id does not change while it is attached.
    unsafe { (*cx.context()).owner_id }
}

/// Enters the object's monitor. ArgumentNullException for null.
pub fn enter<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    try_enter(cx, object, -1).map(|_| ())
}

/// Tries to enter within that many milliseconds (-1: for ever).
pub fn try_enter<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, ms: i32) -> Result<bool> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    let waiter = Waiter::new(cx, object.addr());
    let entered = lock(&Of(object)).enter(&waiter, ms);
    if !matches!(entered, Err(Stop::Leaves)) {
        waiter.tell(matches!(entered, Ok(true)));
    }
    entered.map_err(|stop| raise(cx, stop))
}

/// Leaves the object's monitor. SynchronizationLockException if this thread does not own it.
pub fn exit<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    match lock(&Of(object)).exit(&Waiter::new(cx, object.addr())) {
        true => Ok(()),
        false => Err(not_owner(cx)),
    }
}

/// Waits for a pulse, at most that many milliseconds (-1: for ever); false if none came.
pub fn wait<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, ms: i32) -> Result<bool> {
    let waiter = Waiter::new(cx, object.addr());
    if !waiter.is_resumed() {
        ensure_owned(cx, object)?;
        managed_wait::poll_interrupt(cx)?;
    }
    let signalled = lock(&Of(object)).wait(&waiter, ms);
    if !matches!(signalled, Err(Stop::Leaves)) {
        // Whatever ends a wait, it ends with the monitor.
        waiter.tell(true);
    }
    let signalled = signalled.map_err(|stop| raise(cx, stop))?;
    if !signalled {
        managed_wait::poll_interrupt(cx)?;
    }
    Ok(signalled)
}

/// Lets the first waiter go on, or all of them, once this thread leaves.
pub fn pulse<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, all: bool) -> Result<()> {
    ensure_owned(cx, object)?;
    lock(&Of(object)).pulse(all);
    Ok(())
}

/// The exception of an alert; none if the thread leaves the native stack.
fn raise(cx: &Cx<'_>, stop: Stop<Alerted>) -> Throw {
    match stop {
        Stop::Alerted(alert) => alert.raise(cx),
        Stop::Leaves => Throw(()),
    }
}

fn not_owner(cx: &Cx<'_>) -> Throw {
    cx.throw(
        Known::SynchronizationLockException,
        "Object synchronization method was called from an unsynchronized block of code.",
    )
}

fn ensure_owned<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    if is_entered(cx, object) {
        Ok(())
    } else {
        Err(not_owner(cx))
    }
}

/// Who owns the monitor: (owner id or 0, recursion count).
pub fn owner(object: ObjRef<'_>) -> (u32, u32) {
    lock(&Of(object)).owner()
}
/// Does this thread own it?
pub fn is_entered(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    owner(object).0 == me(cx)
}

static NEXT_HASH: AtomicU32 = AtomicU32::new(0x2545_F491);

/// The identity hash of an object (0 for null): made once, kept in the sync word or its fat entry.
pub fn identity_hash(object: ObjRef<'_>) -> i32 {
    match object.is_null() {
        true => 0,
        false => lock(&Of(object)).hash(fresh_hash) as i32,
    }
}
fn fresh_hash() -> u32 {
    let mut x = NEXT_HASH.fetch_add(0x9E37_79B9, Ordering::Relaxed);
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    (x & 0x3FFF_FFFF).max(1)
}
