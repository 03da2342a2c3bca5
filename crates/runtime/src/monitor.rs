//! Monitors of this stage: the final sync word, uncontended.
//!
//! # Invariants
//! The sync word has the form of `vervet_abi::object::sync_word`. There is one mutator thread, so a lock that is
//! not free is ours; a word that must carry both a hash and a lock, or a recursion beyond the thin word, is
//! inflated to an entry of the fat table.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::object::sync_word::*;
use vervet_os::LeafLock;
use vervet_types::Known;

#[derive(Clone, Copy, Default)]
struct Fat {
    owner: u32,
    count: u32,
    hash: u32,
}
static FAT: LeafLock<Vec<Fat>> = LeafLock::new(Vec::new());

fn word(object: ObjRef<'_>) -> &'static AtomicU32 {
    // SAFETY: every object has a sync word, aligned to 4; objects are not moved while a reference is on the stack.
    unsafe { &*((object.addr() + vervet_abi::object::SYNC_OFFSET as usize) as *const AtomicU32) }
}
fn me(cx: &Cx<'_>) -> u32 {
    // SAFETY: the context belongs to this thread.
    unsafe { (*cx.context()).owner_id }
}

/// Notes that this thread is in one more monitor (+1), or in one less (-1): its owner id is its own while it is in any.
fn count_locks(cx: &Cx<'_>, by: i32) {
    // SAFETY: the context belongs to this thread.
    unsafe {
        let held = &mut (*cx.context()).locks_held;
        *held = held.wrapping_add_signed(by);
    }
}

fn inflate(object: ObjRef<'_>) -> usize {
    let w = word(object);
    loop {
        let v = w.load(Ordering::Acquire);
        let fat = match v & KIND_MASK {
            KIND_FAT => return (v >> PAYLOAD_SHIFT) as usize,
            KIND_HASH => Fat {
                owner: 0,
                count: 0,
                hash: v >> PAYLOAD_SHIFT,
            },
            _ if v == 0 => Fat::default(),
            _ => Fat {
                owner: v >> OWNER_SHIFT,
                count: ((v & RECURSION_MASK) >> RECURSION_SHIFT) + 1,
                hash: 0,
            },
        };
        let index = {
            let mut t = FAT.lock();
            t.push(fat);
            t.len() - 1
        };
        let fat_word = (index as u32) << PAYLOAD_SHIFT | KIND_FAT;
        if w.compare_exchange(v, fat_word, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            return index;
        }
    }
}

/// Enters the object's monitor. ArgumentNullException for null.
pub fn enter<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    try_enter(cx, object, -1).map(|_| ())
}

/// Tries to enter within that many milliseconds (-1: for ever).
pub fn try_enter<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, _ms: i32) -> Result<bool> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    let (w, me) = (word(object), me(cx));
    loop {
        let v = w.load(Ordering::Acquire);
        let next = match v & KIND_MASK {
            _ if v == 0 => me << OWNER_SHIFT,
            KIND_THIN if v >> OWNER_SHIFT == me && v & RECURSION_MASK != RECURSION_MASK => {
                v + (1 << RECURSION_SHIFT)
            }
            KIND_FAT => {
                let mut t = FAT.lock();
                let f = &mut t[(v >> PAYLOAD_SHIFT) as usize];
                if f.owner != 0 && f.owner != me {
                    return Ok(false);
                }
                if f.owner == 0 {
                    count_locks(cx, 1);
                }
                f.owner = me;
                f.count += 1;
                return Ok(true);
            }
            _ => {
                inflate(object);
                continue;
            }
        };
        if w.compare_exchange(v, next, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            if v == 0 {
                count_locks(cx, 1);
            }
            return Ok(true);
        }
    }
}

/// Leaves the object's monitor. SynchronizationLockException if this thread does not own it.
pub fn exit<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<()> {
    if object.is_null() {
        return Err(cx.throw_arg_null("obj"));
    }
    let (w, me) = (word(object), me(cx));
    loop {
        let v = w.load(Ordering::Acquire);
        let next = match v & KIND_MASK {
            KIND_THIN if v != 0 && v >> OWNER_SHIFT == me => {
                if v & RECURSION_MASK == 0 {
                    0
                } else {
                    v - (1 << RECURSION_SHIFT)
                }
            }
            KIND_FAT => {
                let mut t = FAT.lock();
                let f = &mut t[(v >> PAYLOAD_SHIFT) as usize];
                if f.owner == me {
                    f.count -= 1;
                    if f.count == 0 {
                        f.owner = 0;
                        count_locks(cx, -1);
                    }
                    return Ok(());
                }
                drop(t);
                return Err(not_owner(cx));
            }
            _ => return Err(not_owner(cx)),
        };
        if w.compare_exchange(v, next, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            if next == 0 {
                count_locks(cx, -1);
            }
            return Ok(());
        }
    }
}

fn not_owner(cx: &Cx<'_>) -> crate::cx::Throw {
    cx.throw(
        Known::SynchronizationLockException,
        "Object synchronization method was called from an unsynchronized block of code.",
    )
}

/// Who owns the monitor: (owner id or 0, recursion count).
pub fn owner(object: ObjRef<'_>) -> (u32, u32) {
    let v = word(object).load(Ordering::Acquire);
    match v & KIND_MASK {
        KIND_FAT => {
            let f = FAT.lock()[(v >> PAYLOAD_SHIFT) as usize];
            (f.owner, f.count)
        }
        KIND_THIN if v != 0 => (
            v >> OWNER_SHIFT,
            ((v & RECURSION_MASK) >> RECURSION_SHIFT) + 1,
        ),
        _ => (0, 0),
    }
}
/// Does this thread own it?
pub fn is_entered(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    owner(object).0 == me(cx)
}

static NEXT_HASH: AtomicU32 = AtomicU32::new(0x2545_F491);

/// The identity hash of an object (0 for null): made once, kept in the sync word or its fat entry.
pub fn identity_hash(object: ObjRef<'_>) -> i32 {
    if object.is_null() {
        return 0;
    }
    let w = word(object);
    loop {
        let v = w.load(Ordering::Acquire);
        match v & KIND_MASK {
            KIND_HASH => return (v >> PAYLOAD_SHIFT) as i32,
            KIND_FAT => {
                let mut t = FAT.lock();
                let f = &mut t[(v >> PAYLOAD_SHIFT) as usize];
                if f.hash == 0 {
                    f.hash = fresh_hash();
                }
                return f.hash as i32;
            }
            _ if v == 0 => {
                let h = fresh_hash();
                if w.compare_exchange(
                    0,
                    h << PAYLOAD_SHIFT | KIND_HASH,
                    Ordering::AcqRel,
                    Ordering::Acquire,
                )
                .is_ok()
                {
                    return h as i32;
                }
            }
            _ => {
                inflate(object);
            }
        }
    }
}
fn fresh_hash() -> u32 {
    let mut x = NEXT_HASH.fetch_add(0x9E37_79B9, Ordering::Relaxed);
    x ^= x >> 16;
    x = x.wrapping_mul(0x7FEB_352D);
    x ^= x >> 15;
    (x & 0x3FFF_FFFF).max(1)
}
