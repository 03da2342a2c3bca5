//! A thread becomes a managed thread, and stops being one.
//!
//! # Invariants
//! * `InternalThread.small_id` is the owner id exactly while the thread runs as a managed thread. It is stored last and cleared first,
//!   so whoever reads it may unpark the thread.
//! * Whoever makes a request of a thread sets the state first and looks for the thread then; a thread that begins publishes itself
//!   first and reads the state then. So one of the two sees the request.
use super::{abort, lifetime, name, requests, state};
use crate::cx::{Cx, Result};
use crate::memory::allocate::alloc_without_finalizer;
use crate::object::ObjRef;
use std::mem::offset_of;
use std::sync::atomic::{AtomicI32, Ordering};
use vervet_abi::ThreadContext;
use vervet_abi::context::interrupts::{ABORT, SUSPEND};
use vervet_abi::layouts::{InternalThreadObject as Internal, ThreadObject};
use vervet_types::Known;

static NEXT_ID: AtomicI32 = AtomicI32::new(1);

/// A new InternalThread of a thread that has not been started, with an id of its own.
pub fn new_internal<'cx>(cx: &'cx Cx<'cx>) -> Result<ObjRef<'cx>> {
    // The root domain's, whichever is current: all domains share it, and it must not go with one of them.
    let vt = cx.load(cx.rt().root.vtable(cx.known(Known::InternalThread)))?;
    Ok(begin(crate::memory::allocate::alloc_object(cx, vt)?))
}

/// Gives a new InternalThread an id and the properties of a thread that has not been started.
fn begin(internal: ObjRef<'_>) -> ObjRef<'_> {
    let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    internal.write(offset_of!(Internal, managed_id), id);
    internal.write(offset_of!(Internal, state), state::UNSTARTED);
    internal.write(
        offset_of!(Internal, apartment_state),
        state::APARTMENT_UNKNOWN,
    );
    internal.write(offset_of!(Internal, priority), 2i32);
    internal
}

/// Makes the objects of the process's first thread.
pub fn adopt<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let internal = new_internal(cx)?;
    lifetime::give(internal, lifetime::ThreadLifetime::new(false));
    give_objects(cx, internal)
}

/// Makes the objects of the calling thread, which native code has started. It is in the background: the process does not wait for it.
pub fn adopt_foreign<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let internal = new_internal(cx)?;
    lifetime::give(internal, lifetime::ThreadLifetime::new(false));
    give_objects(cx, internal)?;
    state::change(internal, state::BACKGROUND, 0);
    Ok(())
}

/// Makes the objects of the calling green thread, which runs tasks: it is in the background as a worker of the pool is. The InternalThread has
/// no finalizer, so who ends the thread calls [`forget`].
pub(super) fn adopt_for_tasks<'cx>(cx: &'cx Cx<'cx>) -> Result<()> {
    let vt = cx
        .rt()
        .vtable_or_throw(cx, cx.known(Known::InternalThread))?;
    let internal = begin(alloc_without_finalizer(cx, vt)?);
    internal.write(offset_of!(Internal, threadpool_thread), 1u8);
    internal.write(offset_of!(Internal, apartment_state), state::APARTMENT_MTA);
    give_objects(cx, internal)?;
    state::change(internal, state::BACKGROUND, 0);
    Ok(())
}

/// Gives back what an InternalThread holds that is no object, but for its life. The finalizer does this too.
pub fn forget(internal: ObjRef<'_>) {
    name::free(internal);
    abort::forget_state(internal);
}

/// Makes the Thread of the calling thread, of which `internal` is the new InternalThread.
pub(super) fn give_objects<'cx>(cx: &'cx Cx<'cx>, internal: ObjRef<'cx>) -> Result<()> {
    let thread = cx.alloc(cx.known(Known::Thread))?;
    thread.write_ref(offset_of!(ThreadObject, internal_thread), internal);
    internal.write(offset_of!(Internal, state), 0u32);
    internal.write_ref(offset_of!(Internal, root_domain_thread), thread);
    become_thread(cx, thread, internal);
    tell_host(cx, internal);
    Ok(())
}

/// The calling thread, which is attached, is from now on the thread of these objects.
pub(super) fn become_thread(cx: &Cx<'_>, thread: ObjRef<'_>, internal: ObjRef<'_>) {
    // SAFETY: plain libc queries; the context belongs to this thread.
    unsafe {
        let context = cx.context();
        (*context).thread_object = thread.addr();
        (*context).internal_thread = internal.addr();
        // A green thread has no OS thread of its own.
        let (thread_id, native_handle) = match (*context).green {
            0 => (
                libc::pthread_self() as u64,
                libc::syscall(libc::SYS_gettid) as usize,
            ),
            record => (record as u64, (*context).owner_id as usize),
        };
        internal.write(offset_of!(Internal, thread_id), thread_id);
        internal.write(offset_of!(Internal, native_handle), native_handle);
        internal.write(
            offset_of!(Internal, runtime_thread_info),
            cx.context() as usize,
        );
        // The default Context, once there is one.
        if let Some(context) = *cx.domain().context.lock() {
            internal.write_ref(offset_of!(Internal, current_appcontext), context.get());
        }
        // Last: who sees it may unpark this thread.
        state::field_i32(internal, offset_of!(Internal, small_id))
            .store((*context).owner_id as i32, Ordering::SeqCst);
    }
    // Asked for before the thread could be found. (Who asks sets the state first and then looks for the thread.)
    let asked = state::get(internal);
    if asked & state::ABORT_REQUESTED != 0 {
        requests::request_own(cx, ABORT);
    }
    if asked & state::SUSPEND_REQUESTED != 0 {
        requests::request_own(cx, SUSPEND);
    }
}

/// Tells a host that the calling thread, which has become a managed one, has started. The host may wait for any other thread.
pub(super) fn tell_host(cx: &Cx<'_>, internal: ObjRef<'_>) {
    if let Some(host) = crate::process::host_events::get() {
        let id = internal.read::<u64>(offset_of!(Internal, thread_id));
        (host.thread_started)(cx, id);
    }
}

/// The calling thread ends as a managed thread: it is Stopped, and who joins it goes on. Called by [`detach`](crate::threads::attach::detach)
/// behind its hooks: what the thread held (mutexes) is given up before anybody learns that it has ended. In Runtime state; no
/// managed code runs on the thread any more.
///
/// # Safety
/// The context is the ending thread's: the calling one, or one that has ended. The calling thread is in Runtime state.
pub unsafe fn end(context: *mut ThreadContext) {
    // SAFETY: nobody else uses the context; its field is 0 or an InternalThread.
    let internal: ObjRef<'_> = unsafe { ObjRef::from_addr((*context).internal_thread) };
    if internal.is_null() {
        return;
    }
    state::field_i32(internal, offset_of!(Internal, small_id)).store(0, Ordering::SeqCst);
    internal.write(offset_of!(Internal, runtime_thread_info), 0usize);
    state::change(internal, state::STOPPED, state::BACKGROUND);
    // Behind the state: who joins a thread that has no life yet gives it one, and then looks at the state.
    if let Some(lifetime) = lifetime::of(internal) {
        lifetime.end();
    }
}
