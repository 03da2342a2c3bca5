//! GC handles of the process: [`vervet_handles`] with the calling thread's hint and domain.
//!
//! # Invariants
//! * Called in Runtime state, or with `critical` set, only: the collector counts on nobody changing a handle while the world
//!   is stopped.
//! * A thread's hint is its own and lies in its [`Thread`]; when the thread is detached, its slots go to the others.
//! * A value that is stale, foreign or garbage is recognised and never read wildly.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::safepoint::registry::{self, Thread};
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_abi::ThreadContext;
use vervet_handles::{Hint, Tables};

pub use vervet_handles::Kind as HandleKind;

/// The handles of all threads and domains; the collector visits them.
pub static TABLES: Tables = Tables::new();

const _: () = {
    use abi::lane;
    use vervet_abi::handles as abi;
    use vervet_handles::{INDEX_BITS, KIND_BITS, layout};
    assert!(abi::KIND_BITS == KIND_BITS && abi::INDEX_BITS == INDEX_BITS);
    assert!(1 << abi::GROUP_SHIFT == vervet_handles::GROUP);
    let mut bits = 12;
    while bits <= INDEX_BITS {
        assert!(abi::sides(bits) as usize == layout::sides(bits));
        assert!(abi::young(bits) as usize == layout::young(bits));
        bits += 1;
    }
    assert!(lane::SIZE as usize == layout::LANE_SIZE && lane::ROOM == layout::LANE_ROOM);
    assert!(lane::FIRST as usize == layout::LANE_FIRST);
    assert!(lane::READY as usize == layout::LANE_READY);
    assert!(lane::END as usize == layout::LANE_END && lane::RING as usize == layout::LANE_RING);
    assert!(abi::OCCUPIED == vervet_handles::OCCUPIED as u64);
    assert!(abi::VALID == vervet_handles::VALID as u64 && abi::TAGS == vervet_handles::TAGS as u64);
};

/// Reserves the slots; an index has `bits` bits. Called once at start-up.
pub(crate) fn initialise(bits: u32) -> std::io::Result<()> {
    TABLES.limit(bits);
    let rows = TABLES.rows();
    rows.map(|_| ())
        .ok_or_else(|| std::io::ErrorKind::OutOfMemory.into())
}

/// Address of the slots' words, for generated code.
pub(crate) fn rows() -> usize {
    TABLES.rows().expect("reserved at start-up")
}

/// What generated code has for lanes while every handle is made and freed by the runtime.
static BARREN: Hint = Hint::barren();
/// Does the runtime make and free all handles?
static SEES_ALL: AtomicBool = AtomicBool::new(false);

/// The lanes that generated code of this thread uses.
fn lanes_of(thread: &Thread) -> usize {
    match SEES_ALL.load(Ordering::SeqCst) {
        true => &raw const BARREN as usize,
        false => thread.own.handles.get() as usize,
    }
}

/// From now on every handle is made and freed by the functions here, whatever code asks for it; with false, generated code does so again where it can.
/// (Threads get their lanes back when they next come here.) With true, the calling thread is in Runtime state.
pub(crate) fn see_all(on: bool) {
    if SEES_ALL.swap(on, Ordering::SeqCst) == on || !on {
        return;
    }
    // SAFETY: the calling thread's context; it is in Runtime state and holds no lock.
    unsafe {
        crate::safepoint::stop(crate::threads::current_context(), |_| {
            registry::visit(update_lanes);
        });
    }
}

/// Has generated code of the thread use the lanes that [`lanes_of`] says. The thread is the calling one or stopped, and on the list: so a change of the
/// answer, which visits the list, and a thread that comes on it do not miss each other.
pub(crate) fn update_lanes(thread: &Thread) {
    let lanes = lanes_of(thread);
    // SAFETY: the thread is stopped or the calling one, so nobody else writes this word. (A green thread takes it from the carrier's own context when it
    // is mounted.)
    unsafe {
        (*thread.base).handle_lanes = lanes;
        (*thread.context()).handle_lanes = lanes;
    }
}

/// The calling thread, which has this context, uses its own lanes again, if the runtime no longer makes and frees all handles.
///
/// # Safety
/// The context is the calling thread's, which cannot be stopped meanwhile, or null.
unsafe fn recover_lanes(context: *mut ThreadContext) {
    if context.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe {
        if (*context).handle_lanes == &raw const BARREN as usize && !SEES_ALL.load(Ordering::SeqCst)
        {
            update_lanes(Thread::of(context));
        }
    }
}

/// Runs `work` with the slots and the domain of the thread that has this context; a thread that is not attached (null) has
/// none of its own.
///
/// # Safety
/// The context is the calling thread's, or null.
#[inline]
unsafe fn with_hint<T>(context: *mut ThreadContext, work: impl FnOnce(&mut Hint, u32) -> T) -> T {
    if context.is_null() {
        return with_no_hint(work);
    }
    // SAFETY: the context is the calling thread's. Only that thread uses its hint, and `work`, which is this module's, does not call this
    // function again, so the reference is unique.
    unsafe {
        work(
            &mut *Thread::of(context).own.handles.get(),
            (*context).domain,
        )
    }
}

#[cold]
#[inline(never)]
fn with_no_hint<T>(work: impl FnOnce(&mut Hint, u32) -> T) -> T {
    let mut hint = Hint::new();
    let result = work(&mut hint, 0);
    TABLES.retire(&mut hint);
    result
}

/// A thread ends: its slots go to the others.
///
/// # Safety
/// The context is the ending thread's: the calling one, or one that has ended.
pub(crate) unsafe fn retire(context: *mut ThreadContext) {
    // SAFETY: nobody else uses the context.
    unsafe { with_hint(context, |hint, _| TABLES.retire(hint)) }
}

fn current_domain() -> u32 {
    let context = crate::threads::current_context();
    match context.is_null() {
        true => 0,
        // SAFETY: the context of this thread.
        false => unsafe { (*context).domain },
    }
}

/// For generated code: as [`free`].
///
/// # Safety
/// The context is the calling thread's, which cannot be stopped meanwhile.
pub(crate) unsafe fn free_by(context: *mut ThreadContext, handle: u32) -> bool {
    // The event first: as soon as the slot is free, another thread may make a handle of the same number, whose event is to come behind it.
    if let Some(kind) = TABLES.kind(handle) {
        hooks::handle_freed(kind as u32, handle);
    }
    // SAFETY: the context is the calling thread's, which cannot be stopped meanwhile.
    unsafe {
        recover_lanes(context);
        with_hint(context, |hint, _| TABLES.free(hint, handle))
    }
}

fn try_alloc(cx: &Cx<'_>, object: ObjRef<'_>, kind: HandleKind) -> Option<u32> {
    // SAFETY: a token's context is the calling thread's.
    let handle = unsafe {
        recover_lanes(cx.context());
        with_hint(cx.context(), |hint, domain| {
            TABLES.alloc(hint, kind, object.addr(), domain)
        })
    }?;
    hooks::handle_made(kind as u32, handle, object.addr());
    Some(handle)
}

/// Allocates a handle of the calling thread's domain; never 0. Without memory, or if all slots are in use, OutOfMemoryException: a
/// program that uses them all up meets the runtime's own handles as well.
pub fn alloc_or_throw<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'_>, kind: HandleKind) -> Result<u32> {
    try_alloc(cx, object, kind).ok_or_else(|| cx.rt().throw_out_of_memory(cx))
}
/// Allocates a handle that belongs to the runtime, whatever domain is current: no unload frees it.
pub(crate) fn alloc_for_runtime<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'_>,
    kind: HandleKind,
) -> Result<u32> {
    // SAFETY: a token's context is the calling thread's.
    let handle = unsafe {
        with_hint(cx.context(), |hint, _| {
            TABLES.alloc(hint, kind, object.addr(), 0)
        })
    };
    match handle {
        Some(handle) => {
            hooks::handle_made(kind as u32, handle, object.addr());
            Ok(handle)
        }
        None => Err(cx.rt().throw_out_of_memory(cx)),
    }
}
/// Frees all handles of a domain, which is unloaded.
pub(crate) fn free_domain(domain: u32) {
    TABLES.free_domain(domain);
}
/// The kind of a handle in use.
pub fn kind(handle: u32) -> Option<HandleKind> {
    TABLES.kind(handle)
}
/// What a handle refers to (null if that is gone); None if it is not a handle in use.
pub fn target<'cx>(handle: u32) -> Option<ObjRef<'cx>> {
    // SAFETY: a slot holds 0 or the address of a live object, and the collector waits for this thread to leave Runtime.
    TABLES
        .target(handle)
        .map(|o| unsafe { ObjRef::from_addr(o) })
}
/// Sets what a handle refers to; false if it is not a handle in use.
pub fn set_target(handle: u32, object: ObjRef<'_>) -> bool {
    TABLES.set_target(handle, object.addr())
}
/// Is it a handle in use, of the calling thread's domain?
pub fn is_of_current_domain(handle: u32) -> bool {
    TABLES.domain(handle) == Some(current_domain())
}
/// Frees a handle; false if it is not in use.
pub fn free(handle: u32) -> bool {
    // SAFETY: the context is the calling thread's, in Runtime state.
    unsafe { free_by(crate::threads::current_context(), handle) }
}

/// As [`free`], where there is a token.
#[inline]
pub fn free_by_token(cx: &Cx<'_>, handle: u32) -> bool {
    // SAFETY: a token's context is the calling thread's, in Runtime state.
    unsafe { free_by(cx.context(), handle) }
}

/// Lines for `--stats`.
pub fn report() -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for kind in HandleKind::ALL {
        let c = TABLES.count(kind);
        if c.given_out != 0 {
            let kind = format!("{kind:?}");
            let _ = writeln!(
                text,
                "GC handles            {kind}: {} in use, {} of them expired, {} slots",
                c.used, c.expired, c.given_out
            );
        }
    }
    text
}
