//! Asking other threads to abort or to suspend themselves.
//!
//! # How it works
//! A request is a bit of `ThreadContext::interrupts`. The requester sets the bit, makes the stack limit MAX, so that every prologue
//! looks at the bits, wakes the thread out of a wait and out of a blocking system call, and, if the thread runs managed code, stops it
//! and makes it call [`at_instruction`](super::interrupts::at_instruction). It does so once; the [retry thread](super::retry_thread)
//! goes on until the request is served.
//!
//! An abort also ends a system call that a P/Invoke waits in: the thread gets a signal, and one call EINTR, as under mono. What the native code makes of it is its own matter.
use super::park;
use super::retry_thread::{self, raise_limit, redirect};
use crate::cx::Cx;
use crate::object::ObjRef;
use crate::safepoint::{green_contexts, registry};
use std::sync::atomic::Ordering;
use vervet_abi::ThreadContext;
use vervet_abi::context::interrupts::{ABORT, END_CALL};

/// Asks the running thread with that InternalThread, if there is one. The calling thread holds no lock.
pub fn request(cx: &Cx<'_>, internal: ObjRef<'_>, bits: u32) {
    request_where(cx, |_, thread| if thread == internal { bits } else { 0 });
}

/// Asks the managed threads what `bits` says of each, given its context and InternalThread. It takes no memory and no lock.
pub(super) fn request_where(
    cx: &Cx<'_>,
    mut bits: impl FnMut(*mut ThreadContext, ObjRef<'_>) -> u32,
) {
    let mut asked: Vec<(*mut ThreadContext, u32)> =
        Vec::with_capacity(registry::count() + green_contexts::count() + 64);
    let mut ask = |context: *mut ThreadContext| {
        // SAFETY: contexts are never freed; the word changes while the world is stopped only, or when the thread begins and
        // ends. It is 0 or an InternalThread, which is not moved while the calling thread is in Runtime state.
        let internal: ObjRef<'_> =
            unsafe { ObjRef::from_addr((&raw const (*context).internal_thread).read_volatile()) };
        if internal.is_null() || asked.len() == asked.capacity() {
            return;
        }
        let bits = bits(context, internal);
        if bits != 0 {
            // SAFETY: contexts are never freed. The thread is attached, or a green one, so its owner id does not change.
            unsafe {
                let more = if bits & ABORT != 0 { END_CALL } else { 0 };
                registry::interrupts(context).fetch_or(bits | more, Ordering::SeqCst);
                raise_limit(context);
                asked.push((context, (*context).owner_id));
            }
        }
    };
    // Each green thread once, whatever carrier runs it meanwhile: an OS thread is visited with its own context.
    registry::visit(|thread| ask(thread.base));
    green_contexts::visit(ask);
    asked.retain(|(context, _)| *context != cx.context());
    for (context, id) in &asked {
        park::unpark(*id);
        park::interrupt_io(*id);
        // SAFETY: contexts are never freed.
        if unsafe { registry::waits_in_native(*context) } {
            registry::signal_owner(*id);
        }
        // SAFETY: the token's context is the calling thread's; the other is that of a thread that was on the list.
        unsafe { redirect(cx.context(), *context) };
    }
    if !asked.is_empty() {
        retry_thread::kick();
    }
}

/// The calling thread asks itself: it looks at its next prologue or branch back.
pub(super) fn request_own(cx: &Cx<'_>, bits: u32) {
    cx.interrupts().fetch_or(bits, Ordering::SeqCst);
    // SAFETY: a token's context is that of an attached thread.
    unsafe { raise_limit(cx.context()) };
    retry_thread::kick();
}
