//! Which managed thread a thread is.
//!
//! Invariant: the word `internal_thread` of a context is 0 or an InternalThread, which the collector visits and updates.
use super::state;
use crate::cx::Cx;
use crate::object::ObjRef;
use std::mem::offset_of;
use std::sync::atomic::Ordering;
use vervet_abi::layouts::{InternalThreadObject as Internal, ThreadObject};

/// The InternalThread of the calling thread; null if it has none.
pub fn current_internal<'cx>(cx: &'cx Cx<'cx>) -> ObjRef<'cx> {
    // SAFETY: the context belongs to this thread, its field is 0 or an InternalThread.
    unsafe { ObjRef::from_addr((*cx.context()).internal_thread) }
}

/// The id by which the thread of a Thread object is unparked; None if it has not begun or has ended.
pub fn owner_of(thread: ObjRef<'_>) -> Option<u32> {
    let internal = thread
        .read_ref(offset_of!(ThreadObject, internal_thread))
        .non_null()?;
    let id = state::field_i32(internal, offset_of!(Internal, small_id)).load(Ordering::SeqCst);
    u32::try_from(id).ok().filter(|id| *id != 0)
}
