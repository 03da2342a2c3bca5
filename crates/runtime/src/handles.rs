//! GC handles of the process: [`vervet_handles`] with the calling thread's hint and domain.
//!
//! # Invariants
//! * Called in Runtime state only: the collector counts on nobody changing a handle while the world is stopped.
//! * A thread's hint is its own; when the thread ends, its slots go to the others. That may be while the world is stopped,
//!   the thread being detached by then: it changes free slots only, at which the collector does not look.
//! * A value that is stale, foreign or garbage is recognised and never read wildly.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use std::cell::RefCell;
use vervet_handles::{Hint, Tables};

pub use vervet_handles::Kind as HandleKind;

/// The handles of all threads and domains; the collector visits them.
pub static TABLES: Tables = Tables::new();

struct OwnHint(Hint);
impl Drop for OwnHint {
    fn drop(&mut self) {
        TABLES.retire(&mut self.0);
    }
}
thread_local! {
    static HINT: RefCell<OwnHint> = const { RefCell::new(OwnHint(Hint::new())) };
}

fn with_hint<T>(work: impl FnOnce(&mut Hint) -> T) -> T {
    let mut work = Some(work);
    let done = HINT.try_with(|own| {
        let work = work.take().expect("not run yet");
        work(&mut own.borrow_mut().0)
    });
    // The thread is ending and its own hint is gone.
    done.unwrap_or_else(|_| {
        let mut hint = OwnHint(Hint::new());
        work.take().expect("not run yet")(&mut hint.0)
    })
}

fn current_domain() -> u32 {
    let ctx = crate::thread::current_context();
    if ctx.is_null() {
        return 0;
    }
    // SAFETY: the context belongs to this thread.
    unsafe { (*ctx).domain }
}

/// Allocates a handle of the calling thread's domain; never 0. The runtime's own handles: no memory for one is the end.
pub fn alloc(object: ObjRef<'_>, kind: HandleKind) -> u32 {
    with_hint(|hint| TABLES.alloc(hint, kind, object.addr(), current_domain()))
        .expect("memory for a GC handle")
}
/// As [`alloc`], for handles that the program asks for: without memory, OutOfMemoryException.
pub fn alloc_or_throw<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'_>, kind: HandleKind) -> Result<u32> {
    with_hint(|hint| TABLES.alloc(hint, kind, object.addr(), current_domain()))
        .ok_or_else(|| cx.rt().throw_out_of_memory(cx))
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
    with_hint(|hint| TABLES.free(hint, handle))
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
