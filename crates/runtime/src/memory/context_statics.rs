//! Memory of `[ContextStatic]` fields: a block for each class in each remoting context that uses them.
//!
//! # Invariants
//! A block is root memory, made at the first access in its context. It stays until the Context object is finalized or its domain is unloaded. A context has a
//! number from its first access on, which its object keeps and no other context ever gets; 0 is none.
use crate::classes::vtables::class_of;
use crate::cx::Cx;
use crate::memory::roots;
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_abi::layouts::{ContextObject, InternalThreadObject};
use vervet_os::LeafLock;
use vervet_types::LoadError;

/// The number of a context, and the ids of the domain and of the class.
type Key = (usize, u32, u32);
/// Where a block lies, and its bytes.
type Block = (usize, usize);
static BLOCKS: LeafLock<Option<FxHashMap<Key, Block>>> = LeafLock::new(None);
static LAST: AtomicUsize = AtomicUsize::new(0);

/// The remoting context that this thread is in: null before there is one.
pub fn current<'cx>(cx: &'cx Cx<'_>) -> ObjRef<'cx> {
    // SAFETY: the context belongs to this thread; the word is 0 or its InternalThread.
    let internal: ObjRef<'cx> = unsafe { ObjRef::from_addr((*cx.context()).internal_thread) };
    let at = offset_of!(InternalThreadObject, current_appcontext);
    let own = internal.non_null().and_then(|i| i.read_ref(at).non_null());
    own.unwrap_or_else(|| cx.domain().context.lock().map_or(ObjRef::NULL, |r| r.get()))
}

/// The word of a Context that holds its number.
fn number_word(context: ObjRef<'_>) -> &AtomicUsize {
    let at = context.addr() + offset_of!(ContextObject, static_data);
    // SAFETY: an aligned word of an object, which does not move while the reference to it is used here; only this module touches the word.
    unsafe { AtomicUsize::from_ptr(at as *mut usize) }
}

/// The context's number, which it gets now if it has none.
fn number_of(context: ObjRef<'_>) -> usize {
    let word = number_word(context);
    match word.load(Ordering::Relaxed) {
        0 => {
            let new = LAST.fetch_add(1, Ordering::Relaxed) + 1;
            match word.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => new,
                Err(other) => other,
            }
        }
        own => own,
    }
}

/// The block of the class's context statics in this thread's context.
pub fn block(cx: &Cx<'_>, vt: &'static VTable) -> Result<*mut u8, LoadError> {
    let number = current(cx).non_null().map_or(0, number_of);
    let class = class_of(vt);
    let key = (number, vt.domain, class.id);
    if let Some(block) = BLOCKS.lock().get_or_insert_default().get(&key) {
        return Ok(block.0 as *mut u8);
    }
    let layout = class.layout()?;
    let bytes = layout.context_statics_size as usize;
    let new = roots::reserve_mapped(bytes, &layout.context_statics_map)?;
    let at = BLOCKS
        .lock()
        .get_or_insert_default()
        .entry(key)
        .or_insert((new as usize, bytes))
        .0;
    if at != new as usize {
        // SAFETY: reserved above with that size; another thread was first, and nobody knows this one.
        unsafe { roots::free_mapped(new, bytes) };
    }
    Ok(at as *mut u8)
}

/// Gives back the blocks that are chosen.
///
/// # Safety
/// No code that uses them runs, or will.
unsafe fn free_if(chosen: impl Fn(&Key) -> bool) {
    let gone: Vec<(Key, Block)> = match &mut *BLOCKS.lock() {
        Some(all) => all.extract_if(|key, _| chosen(key)).collect(),
        None => return,
    };
    for (_, (at, bytes)) in gone {
        // SAFETY: reserved with that size; the caller's promise.
        unsafe { roots::free_mapped(at as *mut u8, bytes) };
    }
}

/// The Context is being finalized: no thread is in it.
pub fn release(context: ObjRef<'_>) {
    let number = number_word(context).swap(0, Ordering::Relaxed);
    if number != 0 {
        // SAFETY: a thread that runs in the context refers to it.
        unsafe { free_if(|key| key.0 == number) };
    }
}

/// A domain is unloaded: nothing runs in it any more.
pub(crate) fn release_domain(domain: u32) {
    // SAFETY: the blocks are used by code of the domain alone.
    unsafe { free_if(|key| key.1 == domain) };
}
