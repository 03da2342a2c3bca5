//! Which objects have fat monitors: what the collector needs to take a monitor away with its object, or from a live one
//! that nobody uses.
//!
//! # Invariants
//! * An object whose sync word names a monitor is in one of the lists, once; it is added by who inflated it, before that
//!   thread lets the world stop.
//! * The lists hold addresses weakly; the collector corrects them, world stopped. An object is in `young` until it is old.
use super::fat;
use crate::object::ObjRef;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::object::SYNC_OFFSET;
use vervet_heap::memory::{List, UNBOUNDED};
use vervet_os::LeafLock;

struct Owners {
    young: List<usize>,
    old: List<usize>,
}
static OWNERS: LeafLock<Option<Owners>> = LeafLock::new(None);

/// The object's sync word was made to name a monitor.
pub(super) fn add(object: ObjRef<'_>) {
    let mut owners = OWNERS.lock();
    owners
        .get_or_insert_with(|| {
            let list = || List::new(UNBOUNDED).expect("a list reserves nothing yet");
            Owners {
                young: list(),
                old: list(),
            }
        })
        .young
        .push(object.addr());
}

fn sync_word(object: usize) -> &'static AtomicU32 {
    // SAFETY: the object's memory, dead or alive, is as it was until the collection ends.
    unsafe { &*((object + SYNC_OFFSET as usize) as *const AtomicU32) }
}

/// World stopped: `seen` says where an object is now and whether it is young, or None if it is gone for good.
pub fn visit(young_only: bool, seen: &mut dyn FnMut(usize) -> Option<(usize, bool)>) {
    let mut owners = OWNERS.lock();
    let Some(Owners { young, old }) = &mut *owners else {
        return;
    };
    let mut look = |object: usize, deflate: bool| {
        let place = seen(object);
        let word = sync_word(place.map_or(object, |p| p.0));
        let index = fat::index_of(word.load(Ordering::Relaxed))?;
        if place.is_none() {
            fat::abandon(index);
            return None;
        }
        if deflate && let Some(plain) = fat::deflate(index) {
            word.store(plain, Ordering::Relaxed);
            return None;
        }
        place
    };
    if !young_only {
        old.retain_map(|o| look(o, true).map(|p| p.0));
    }
    young.retain_map(|o| match look(o, !young_only)? {
        (to, true) => Some(to),
        (to, false) => {
            old.push(to);
            None
        }
    });
}
