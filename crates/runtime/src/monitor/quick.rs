//! What entering and leaving come to when nobody waits and nothing is inflated: leaves, called by generated code when the
//! sync word is neither free nor entered once by the thread.
//!
//! # Invariants
//! * The thread cannot be stopped in here, so a fat monitor that the sync word names stays the object's.
//! * Nothing here takes a lock or memory, or throws: whatever else is to be done is left to the caller.
use super::{contend, fat, word};
use crate::object::ObjRef;
use std::sync::atomic::Ordering::Relaxed;
use vervet_abi::Context;
use vervet_parking::thin::{self, Step};

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
    match thin::enter(word(object), me) {
        Step::Changed => {
            *held += 1;
            true
        }
        Step::Counted => true,
        Step::Other(v) => match fat::index_of(v).map(fat::get) {
            Some(m) if m.lock.is_own(me) => {
                m.count.store(m.count.load(Relaxed) + 1, Relaxed);
                true
            }
            Some(m) => {
                let taken = contend::try_lock(m, me);
                *held += taken as u32;
                taken
            }
            None => false,
        },
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
    match thin::exit(word(object), me) {
        Step::Changed => {
            *held -= 1;
            Exit::Done
        }
        Step::Counted => Exit::Done,
        Step::Other(v) => match fat::index_of(v).map(fat::get) {
            Some(m) if m.lock.is_own(me) && m.lock.is_uncontended() => {
                let count = m.count.load(Relaxed) - 1;
                m.count.store(count, Relaxed);
                if count != 0 {
                    return Exit::Done;
                }
                *held -= 1;
                match m.lock.give_up() {
                    true => Exit::Wake,
                    false => Exit::Done,
                }
            }
            _ => Exit::Not,
        },
    }
}

/// Wakes a thread that enters the object's monitor, if none has been woken yet.
pub fn wake(object: ObjRef<'_>) {
    // Whoever enters is a user of the monitor, so it is still there if it is needed.
    if let Some(m) = super::fat_if_inflated(object) {
        contend::wake_next(m);
    }
}
