//! Monitors: the lock, the condition and the identity hash that every object has.
//!
//! # Map
//! Here: the sync word and what it says by itself (free, thin, hash); [`fat`]: the table of inflated monitors; [`owners`]: what the
//! collector asks of it; `contend`: taking and leaving those; [`quick`]: what needs no waiting; `wait`: Wait and Pulse.
//!
//! # Invariants
//! * The sync word has the form of `vervet_abi::object::sync_word`. It changes by CAS only: from free to thin and back by
//!   the thread itself, to fat by any thread; an inflated monitor is deflated by the collector alone, world stopped.
//! * Whoever inflates copies owner, count and hash from the very word it replaces, so an owner that comes to leave a
//!   thin lock and finds it fat finds its own state there.
//! * `Context::locks_held` counts the monitors a thread owns (not how often): its owner id is not used again before it is 0.
mod contend;
pub mod fat;
pub mod owners;
pub mod quick;
mod wait;

use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use fat::Fat;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::object::sync_word::*;
use vervet_parking::thin::{self, Step};
use vervet_types::Known;

use fat::index_of;
pub use wait::{pulse, wait};

/// How long a thin lock of another thread is watched before it is inflated.
const THIN_SPIN: u32 = 8;

fn word(object: ObjRef<'_>) -> &'static AtomicU32 {
    // SAFETY: every object has a sync word, aligned to 4; objects are not moved while a reference is on the stack.
    unsafe { &*((object.addr() + vervet_abi::object::SYNC_OFFSET as usize) as *const AtomicU32) }
}
fn me(cx: &Cx<'_>) -> u32 {
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).owner_id }
}

/// Counts a monitor taken (+1) or given up (-1).
fn held(cx: &Cx<'_>, change: i32) {
    // SAFETY: the context belongs to this thread.
    unsafe {
        let n = &raw mut (*cx.context()).locks_held;
        *n = (*n).wrapping_add_signed(change);
    }
}

/// The object's fat monitor, made if need be; its state is what the sync word said.
fn fat_of(object: ObjRef<'_>) -> &'static Fat {
    let w = word(object);
    loop {
        let v = w.load(Ordering::Acquire);
        let Some((owner, count, hash)) = thin::state(v) else {
            return fat::get(v >> PAYLOAD_SHIFT);
        };
        let entry = fat::allocate(owner, count, hash);
        if thin::exchange(w, v, entry.word()) {
            owners::add(object);
            return entry;
        }
        fat::release(entry);
    }
}
fn fat_if_inflated(object: ObjRef<'_>) -> Option<&'static Fat> {
    index_of(word(object).load(Ordering::Acquire)).map(fat::get)
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
    let (w, me) = (word(object), me(cx));
    loop {
        match thin::enter(w, me) {
            Step::Changed => {
                held(cx, 1);
                return Ok(true);
            }
            Step::Counted => return Ok(true),
            Step::Other(v) => match v & KIND_MASK {
                KIND_FAT => return enter_fat(cx, fat::get(v >> PAYLOAD_SHIFT), me, ms),
                KIND_THIN if v >> OWNER_SHIFT != me => {
                    if ms == 0 {
                        return Ok(false);
                    }
                    if !contend::spin(THIN_SPIN, || w.load(Ordering::Relaxed) != v) {
                        fat_of(object);
                    }
                }
                _ => {
                    fat_of(object);
                }
            },
        }
    }
}

fn enter_fat(cx: &Cx<'_>, m: &'static Fat, me: u32, ms: i32) -> Result<bool> {
    if m.lock.is_own(me) {
        m.count.fetch_add(1, Ordering::Relaxed);
        return Ok(true);
    }
    if !contend::try_lock(m, me) {
        if ms == 0 {
            return Ok(false);
        }
        if !contend::spin_for(m, me) {
            m.users.fetch_add(1, Ordering::SeqCst);
            let result = contend::lock(cx, m, true, crate::park::deadline(ms), false);
            m.users.fetch_sub(1, Ordering::SeqCst);
            if !contend::outcome(cx, result)? {
                return Ok(false);
            }
        }
    }
    held(cx, 1);
    Ok(true)
}

/// Leaves the object's monitor. SynchronizationLockException if this thread does not own it.
pub fn exit<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    let me = me(cx);
    match thin::exit(word(object), me) {
        Step::Changed => held(cx, -1),
        Step::Counted => {}
        Step::Other(v) => match index_of(v).map(fat::get) {
            Some(m) if m.lock.is_own(me) => match m.count.load(Ordering::Relaxed) {
                1 => {
                    held(cx, -1);
                    contend::unlock(m);
                }
                n => m.count.store(n - 1, Ordering::Relaxed),
            },
            _ => return Err(not_owner(cx)),
        },
    }
    Ok(())
}

fn not_owner(cx: &Cx<'_>) -> crate::cx::Throw {
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
    let v = word(object).load(Ordering::Acquire);
    match thin::state(v) {
        Some((owner, count, _)) => (owner, count),
        None => {
            let m = fat::get(v >> PAYLOAD_SHIFT);
            (m.lock.owner(), m.count.load(Ordering::Relaxed))
        }
    }
}
/// Does this thread own it?
pub fn is_entered(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    owner(object).0 == me(cx)
}

static NEXT_HASH: AtomicU32 = AtomicU32::new(0x2545_F491);

/// The identity hash of an object (0 for null): made once, kept in the sync word or its fat entry.
pub fn identity_hash(object: ObjRef<'_>) -> i32 {
    if object.is_null() {
        return 0;
    }
    let w = word(object);
    loop {
        let v = w.load(Ordering::Acquire);
        match v & KIND_MASK {
            KIND_HASH => return (v >> PAYLOAD_SHIFT) as i32,
            KIND_FAT => {
                let m = fat::get(v >> PAYLOAD_SHIFT);
                match m.hash.load(Ordering::Acquire) {
                    0 => {}
                    h => return h as i32,
                }
                let fresh = fresh_hash();
                let first = m
                    .hash
                    .compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire);
                return first.map_or_else(|h| h, |_| fresh) as i32;
            }
            _ if v == 0 => {
                let h = fresh_hash();
                if w.compare_exchange(
                    0,
                    h << PAYLOAD_SHIFT | KIND_HASH,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                )
                .is_ok()
                {
                    return h as i32;
                }
            }
            _ => {
                fat_of(object);
            }
        }
    }
}
fn fresh_hash() -> u32 {
    let mut x = NEXT_HASH.fetch_add(0x9E37_79B9, Ordering::Relaxed);
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    (x & 0x3FFF_FFFF).max(1)
}
