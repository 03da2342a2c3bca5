//! Names of threads.
//!
//! # Invariants
//! * A name is UTF-16 behind `name_chars`, null for none. Either the program set it, once: then it is malloc'ed and
//!   `name_free` is set; or the runtime did: then it is static, and the program may still set one.
//! * Names are read and changed under one lock, because a pool's worker gets its own name back while others may ask for it.
use crate::cx::Cx;
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::threads::{green, state};
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;
use vervet_abi::ThreadContext;
use vervet_abi::layouts::InternalThreadObject as Internal;
use vervet_os::LeafLock;

const CHARS: usize = offset_of!(Internal, name_chars);
const LENGTH: usize = offset_of!(Internal, name_length);
const FREE: usize = offset_of!(Internal, name_free);

static LOCK: LeafLock<()> = LeafLock::new(());

/// A name that the runtime gives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Default {
    /// The finalizer's thread.
    Finalizer,
    /// A worker of the pool.
    PoolWorker,
    /// The thread that learns which sockets are ready.
    IoSelector,
}
/// The units of ASCII text.
const fn units<const N: usize>(text: &str) -> [u16; N] {
    let mut out = [0; N];
    let mut i = 0;
    while i < N {
        out[i] = text.as_bytes()[i] as u16;
        i += 1;
    }
    out
}
static FINALIZER: [u16; 9] = units("Finalizer");
static POOL_WORKER: [u16; 18] = units("Thread Pool Worker");
static IO_SELECTOR: [u16; 24] = units("Thread Pool I/O Selector");

impl Default {
    fn units(self) -> &'static [u16] {
        match self {
            Default::Finalizer => &FINALIZER,
            Default::PoolWorker => &POOL_WORKER,
            Default::IoSelector => &IO_SELECTOR,
        }
    }
}

/// What is to be freed once the lock is gone.
fn replace(internal: ObjRef<'_>, chars: usize, length: usize, free: bool) -> *mut libc::c_void {
    let old = match internal.read::<i32>(FREE) {
        0 => std::ptr::null_mut(),
        _ => internal.read::<usize>(CHARS) as *mut libc::c_void,
    };
    internal.write(CHARS, chars);
    // (`free` reads these without the lock.)
    state::field_i32(internal, LENGTH).store(length as i32, Relaxed);
    state::field_i32(internal, FREE).store(i32::from(free), Relaxed);
    old
}

/// Tells the profiler that the thread of an InternalThread has a name, if it runs.
fn tell(internal: ObjRef<'_>, units: &[u16]) {
    let context = internal.read::<usize>(offset_of!(Internal, runtime_thread_info));
    if context != 0 && !units.is_empty() {
        // SAFETY: the word is the context of the thread as long as the thread runs; contexts are never freed.
        unsafe { hooks::thread_named(context as *mut ThreadContext, units) };
    }
}
/// Tells the profiler the name of a thread that begins to run.
pub(super) fn tell_started(internal: ObjRef<'_>) {
    if hooks::wants_threads()
        && let Some(name) = get(internal)
    {
        tell(internal, &name);
    }
}

/// Gives the calling thread the runtime's name for it; nothing if it has it.
pub fn set_default(internal: ObjRef<'_>, name: Default) {
    let units = name.units();
    if internal.read::<usize>(CHARS) == units.as_ptr() as usize {
        return;
    }
    let old = {
        let _guard = LOCK.lock();
        replace(internal, units.as_ptr() as usize, units.len(), false)
    };
    // SAFETY: a name the program set is malloc'ed, and nobody finds it any more.
    unsafe { libc::free(old) };
    tell(internal, units);
    show(internal);
}

/// The program names a thread; None makes it stay without one. False if it did so before.
pub fn set(internal: ObjRef<'_>, name: Option<&[u16]>) -> bool {
    let copy = name.map(|units| {
        // SAFETY: the copy has room for the units.
        unsafe {
            let copy = libc::malloc(units.len() * 2 + 2) as *mut u16;
            if !copy.is_null() {
                std::ptr::copy_nonoverlapping(units.as_ptr(), copy, units.len());
            }
            copy
        }
    });
    let _guard = LOCK.lock();
    if internal.read::<i32>(FREE) != 0 {
        // SAFETY: the copy was made above, if there is one.
        unsafe { libc::free(copy.unwrap_or(std::ptr::null_mut()).cast()) };
        return false;
    }
    let length = name.map_or(0, <[u16]>::len);
    replace(
        internal,
        copy.map_or(0, |c| c as usize),
        length,
        copy.is_some(),
    );
    tell(internal, name.unwrap_or_default());
    true
}

/// The name of a thread, if it has one.
pub fn get(internal: ObjRef<'_>) -> Option<Vec<u16>> {
    let _guard = LOCK.lock();
    let chars = internal.read::<usize>(CHARS) as *const u16;
    if chars.is_null() {
        return None;
    }
    let length = internal.read::<i32>(LENGTH) as usize;
    // SAFETY: the name was stored with that length, and the lock keeps it there.
    Some(unsafe { std::slice::from_raw_parts(chars, length) }.to_vec())
}

/// The name of a thread while the world is stopped: then no thread is under the lock. Takes no memory; `take` gets the units.
pub(crate) fn of_stopped(internal: ObjRef<'_>, take: impl FnOnce(&[u16])) {
    let chars = internal.read::<usize>(CHARS) as *const u16;
    if !chars.is_null() {
        let length = internal.read::<i32>(LENGTH) as usize;
        // SAFETY: the name was stored with that length; only managed threads change it, in Runtime state.
        take(unsafe { std::slice::from_raw_parts(chars, length) });
    }
}

/// The object is finalized, or becomes another green thread's: a name of its own goes.
pub fn free(internal: ObjRef<'_>) {
    // Most threads have none. (One that is given at this moment is as one that is given behind this call.)
    let is_zero = |field| state::field_i32(internal, field).load(Relaxed) == 0;
    if is_zero(LENGTH) && is_zero(FREE) {
        return;
    }
    let old = {
        let _guard = LOCK.lock();
        replace(internal, 0, 0, false)
    };
    // SAFETY: the old name was malloc's and the object's own. The lock was held while the object gave it up, so nobody reads it.
    unsafe { libc::free(old) };
}

/// Shows the managed name of the calling thread to the system. A green thread has no place there.
pub fn show(internal: ObjRef<'_>) {
    if green::is_green(&Cx::current()) {
        return;
    }
    let Some(name) = get(internal) else { return };
    let name = String::from_utf16_lossy(&name);
    let mut bytes = [0u8; 16];
    let end = (0..=name.len().min(15))
        .rev()
        .find(|n| name.is_char_boundary(*n))
        .unwrap_or(0);
    bytes[..end].copy_from_slice(&name.as_bytes()[..end]);
    // SAFETY: a zero-terminated name of at most 16 bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, bytes.as_ptr()) };
}
