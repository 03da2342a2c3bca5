//! Running class constructors.
//!
//! # Invariants
//! * A class constructor runs at most once; an access by the thread that is running it goes through.
//! * What it threw is wrapped in one TypeInitializationException that every later access throws again, with a trace of its own.
//! * No lock is held while it runs.
use crate::cx::{Cx, Result};
use crate::exceptions::make;
use crate::object::ObjRef;
use crate::roots::Root;
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;
use vervet_abi::VTable;
use vervet_abi::vtable::{INIT_DONE, INIT_FAILED, INIT_NONE, INIT_RUNNING};
use vervet_os::LeafLock;

static FAILURES: LeafLock<Option<FxHashMap<usize, Root>>> = LeafLock::new(None);

/// Runs the class constructor of the VTable's class if it has not run.
pub fn ensure<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable) -> Result<()> {
    match vt.init_state.compare_exchange(
        INIT_NONE,
        INIT_RUNNING,
        Ordering::AcqRel,
        Ordering::Acquire,
    ) {
        Ok(_) => {}
        // One mutator thread: whoever runs it is ourselves, further out.
        Err(INIT_DONE | INIT_RUNNING) => return Ok(()),
        Err(_) => {
            let root = FAILURES
                .lock()
                .as_ref()
                .and_then(|f| f.get(&(vt as *const _ as usize)).copied());
            let failure: ObjRef<'cx> = root.map_or(ObjRef::NULL, Root::get);
            if !failure.is_null() {
                crate::exceptions::trace::forget(failure);
            }
            return Err(cx.throw_object(failure));
        }
    }
    let class = crate::prestub::class_of(vt);
    let result = match cx.load(class.cctor())? {
        Some(cctor) => cx.invoke(cctor, None, &[]).map(|_| ()),
        None => Ok(()),
    };
    match result {
        Ok(()) => {
            vt.init_state.store(INIT_DONE, Ordering::Release);
            Ok(())
        }
        Err(throw) => {
            let inner = cx.take_pending(throw);
            let wrapped = make::type_initialization(cx, class, inner)?;
            let root = Root::of(wrapped);
            FAILURES
                .lock()
                .get_or_insert_with(FxHashMap::default)
                .insert(vt as *const _ as usize, root);
            vt.init_state.store(INIT_FAILED, Ordering::Release);
            Err(cx.throw_object(wrapped))
        }
    }
}
