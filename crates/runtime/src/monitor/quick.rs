//! What entering and leaving come to when nobody waits and nothing is inflated: leaves, called by generated code when the
//! sync word is neither free nor entered once by the thread.
//!
//! # Invariants
//! * The thread cannot be stopped in here, so a fat monitor that the sync word names stays the object's.
//! * Nothing here takes a lock or memory, or throws: whatever else is to be done is left to the caller.
use super::fat::{self, Fat};
use super::{contend, recursion, word};
use crate::object::ObjRef;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, SeqCst};
use vervet_abi::Context;
use vervet_abi::object::sync_word::*;

/// How [`exit`] went.
#[repr(u32)]
pub enum Exit {
    /// Nothing was done.
    Not = 0,
    /// The monitor is left once.
    Done = 1,
    /// It is free, and a thread that enters it has come meanwhile: [`wake`].
    Wake = 2,
}

/// Enters the monitor if it is free or the thread's own. False: the long way.
///
/// # Safety
/// The context is the calling thread's, which cannot be stopped meanwhile; the object is alive or null.
pub unsafe fn enter(ctx: *mut Context, object: ObjRef<'_>) -> bool {
    if object.is_null() {
        return false;
    }
    // SAFETY: the context is the calling thread's.
    let (me, held) = unsafe { ((*ctx).owner_id, &mut (*ctx).locks_held) };
    let w = word(object);
    let v = w.load(Acquire);
    match v & KIND_MASK {
        _ if v == 0 => {
            let taken = w
                .compare_exchange(0, me << OWNER_SHIFT, AcqRel, Relaxed)
                .is_ok();
            *held += taken as u32;
            taken
        }
        KIND_THIN if v >> OWNER_SHIFT == me && v & RECURSION_MASK != RECURSION_MASK => w
            .compare_exchange(v, v + (1 << RECURSION_SHIFT), AcqRel, Relaxed)
            .is_ok(),
        KIND_FAT => {
            let m = fat::get(v >> PAYLOAD_SHIFT);
            if m.owner.load(Relaxed) == me {
                m.count.store(m.count.load(Relaxed) + 1, Relaxed);
                return true;
            }
            let taken = contend::try_lock(m, me);
            *held += taken as u32;
            taken
        }
        _ => false,
    }
}

/// Leaves the monitor.
///
/// # Safety
/// As [`enter`].
pub unsafe fn exit(ctx: *mut Context, object: ObjRef<'_>) -> Exit {
    if object.is_null() {
        return Exit::Not;
    }
    // SAFETY: the context is the calling thread's.
    let (me, held) = unsafe { ((*ctx).owner_id, &mut (*ctx).locks_held) };
    let w = word(object);
    let v = w.load(Acquire);
    match v & KIND_MASK {
        KIND_THIN if v != 0 && v >> OWNER_SHIFT == me => {
            let (next, given_up) = match recursion(v) {
                0 => (0, 1),
                _ => (v - (1 << RECURSION_SHIFT), 0),
            };
            if w.compare_exchange(v, next, AcqRel, Relaxed).is_err() {
                return Exit::Not;
            }
            *held -= given_up;
            Exit::Done
        }
        KIND_FAT => {
            let m = fat::get(v >> PAYLOAD_SHIFT);
            if m.owner.load(Relaxed) != me || m.contenders.load(Relaxed) != 0 {
                return Exit::Not;
            }
            match m.count.load(Relaxed) {
                1 => {
                    *held -= 1;
                    free(m)
                }
                n => {
                    m.count.store(n - 1, Relaxed);
                    Exit::Done
                }
            }
        }
        _ => Exit::Not,
    }
}

fn free(m: &Fat) -> Exit {
    m.count.store(0, Relaxed);
    m.owner.store(0, SeqCst);
    match contend::must_wake(m) {
        true => Exit::Wake,
        false => Exit::Done,
    }
}

/// Wakes a thread that enters the object's monitor, if none has been woken yet.
pub fn wake(object: ObjRef<'_>) {
    // Whoever enters is a user of the monitor, so it is still there if it is needed.
    if let Some(m) = super::fat_if_inflated(object) {
        contend::wake_next(m);
    }
}
