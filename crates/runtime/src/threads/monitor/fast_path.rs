//! What entering and leaving come to when nobody waits and nothing is inflated: leaves, called by generated code when the
//! sync word is neither free nor entered once by the thread.
//!
//! # Invariants
//! * The thread cannot be stopped in here, so a fat monitor that the sync word names stays the object's.
//! * Nothing here takes a lock or memory, or throws: whatever else is to be done is left to the caller.
use super::fat::Of;
use super::lock;
use super::waiter::FastPathOwner;
use crate::object::ObjRef;
use vervet_abi::ThreadContext;

pub use vervet_parking::monitor::Exit;

/// Enters the monitor if it is free or the thread's own. False: the long way.
///
/// # Safety
/// The context is the calling thread's, which cannot be stopped meanwhile; the object is alive or null.
pub unsafe fn enter(context: *mut ThreadContext, object: ObjRef<'_>) -> bool {
    // SAFETY: the context is the calling thread's.
    !object.is_null() && lock(&Of(object)).enter_fast(&unsafe { FastPathOwner::new(context) })
}

/// Leaves the monitor.
///
/// # Safety
/// As [`enter`].
pub unsafe fn exit(context: *mut ThreadContext, object: ObjRef<'_>) -> Exit {
    if object.is_null() {
        return Exit::Not;
    }
    // SAFETY: the context is the calling thread's.
    lock(&Of(object)).exit_fast(&unsafe { FastPathOwner::new(context) })
}

/// Wakes a thread that enters the object's monitor, if none has been woken yet.
pub fn wake(object: ObjRef<'_>) {
    lock(&Of(object)).wake();
}
