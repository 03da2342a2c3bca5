//! Reference queues: a host hears of objects that are gone.
//!
//! # How it works
//! An entry is a weak handle that tracks resurrection, and a word of the host's. After each collection, when its finalizers have run, the finalizer thread looks
//! for handles that are empty, and calls the host with their words.
//!
//! # Invariants
//! * Each entry's word is given to the host once: when the object is gone, or when its queue is freed.
//! * The host's function runs on the finalizer thread, in Foreign state and without a lock of ours: it may use the queue.
use crate::support::{Bool, Object, object, outside};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_os::LeafLock;
use vervet_runtime::ObjRef;
use vervet_runtime::cx::Cx;
use vervet_runtime::memory::finalizer;
use vervet_runtime::memory::handles::{self, HandleKind};

type Callback = unsafe extern "C" fn(*mut c_void);

/// A `MonoReferenceQueue`.
pub struct Queue {
    callback: Callback,
    entries: LeafLock<Vec<(u32, usize)>>,
    freed: AtomicBool,
}
static QUEUES: LeafLock<Vec<&'static Queue>> = LeafLock::new(Vec::new());

/// Tells the host of the objects that are gone.
fn look(_cx: &Cx<'_>) {
    let queues = QUEUES.lock().clone();
    for queue in queues {
        let freed = queue.freed.load(Ordering::Acquire);
        let gone = |entry: &mut (u32, usize)| {
            freed || handles::target(entry.0).is_none_or(ObjRef::is_null)
        };
        let gone: Vec<(u32, usize)> = queue.entries.lock().extract_if(.., gone).collect();
        for (handle, word) in gone {
            handles::free(handle);
            // SAFETY: the host's function, called as its type says.
            outside(|| unsafe { (queue.callback)(word as *mut c_void) });
        }
    }
    let ended = |q: &&'static Queue| q.freed.load(Ordering::Acquire) && q.entries.lock().is_empty();
    let queues = QUEUES.lock().clone();
    let ended: Vec<&Queue> = queues.into_iter().filter(ended).collect();
    QUEUES
        .lock()
        .retain(|q| !ended.iter().any(|e| std::ptr::eq(*e, *q)));
}

api! {
    fn mono_gc_reference_queue_new(callback: Option<Callback>) -> Option<&'static Queue> {
        let queue: &'static Queue = Box::leak(Box::new(Queue { callback: callback?, entries: LeafLock::new(Vec::new()), freed: AtomicBool::new(false) }));
        QUEUES.lock().push(queue);
        finalizer::do_after_collections(look);
        Some(queue)
    }
    /// The words of the objects that are still there are given to the host.
    fn mono_gc_reference_queue_free(queue: Option<&'static Queue>) {
        if let Some(queue) = queue {
            queue.freed.store(true, Ordering::Release);
            finalizer::request();
        }
    }
}

object_api! {
    fn mono_gc_reference_queue_add(cx; queue: Option<&'static Queue>, target: Object, word: *mut c_void) -> Bool {
        let Some(queue) = queue.filter(|q| !q.freed.load(Ordering::Acquire)) else { return 0 };
        match handles::alloc_or_throw(cx, object(target), HandleKind::WeakTrackResurrection) {
            Ok(handle) => { queue.entries.lock().push((handle, word as usize)); 1 }
            Err(throw) => { let _ = cx.take_pending(throw); 0 }
        }
    }
}
