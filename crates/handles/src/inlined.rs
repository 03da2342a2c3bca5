//! What generated code does instead of calls, for the models: the steps of these lists, on the same words.
#![doc = include_str!("inlined.txt")]
use crate::memory::*;
use crate::word::{OCCUPIED, TAGS, VALID};
use crate::{Hint, KIND_BITS, Kind, Tables, handle_of};

/// The list `read`: the target of a handle. None: generated code calls the method.
pub(crate) fn read(tables: &Tables, handle: u32) -> Option<usize> {
    let slot = tables.slot(handle)?;
    let word = slot.word.load(Ordering::Acquire);
    (word & VALID != 0).then_some(word & !TAGS)
}

/// The list `make`: a new handle of a slot that the thread owns. None: generated code calls the method. The thread cannot be stopped meanwhile,
/// because `critical` is set.
pub(crate) fn make(
    tables: &Tables,
    hint: &mut Hint,
    kind: Kind,
    object: usize,
    domain: u32,
) -> Option<u32> {
    if object == 0 {
        return None;
    }
    let lane = &mut hint.lanes[kind as usize];
    let (first, ready) = (lane.first, lane.ready);
    if first == ready {
        return None;
    }
    let index = lane.ring[(first & (ROOM - 1)) as usize];
    lane.first = first.wrapping_add(1);
    let table = tables.table(kind)?;
    table.row.claimed(index);
    let slot = table.slot(index);
    slot.side.store(domain, Ordering::Release);
    slot.word
        .store(object | VALID | OCCUPIED, Ordering::Release);
    let young = table.row.young(index);
    if young.load(Ordering::Acquire) == 0 {
        young.store(1, Ordering::Release);
    }
    Some(handle_of(kind, index))
}

/// The list `free`, and the helper that generated code calls if that does not succeed.
pub(crate) fn free(tables: &Tables, hint: &mut Hint, handle: u32) -> bool {
    match free_in_place(tables, hint, handle) {
        Some(()) => true,
        None => tables.free(hint, handle),
    }
}

/// Frees a handle without a call: the word by compare-and-swap from what was loaded, then the slot into the thread's ring. None: the word has
/// changed, or the ring is full.
fn free_in_place(tables: &Tables, hint: &mut Hint, handle: u32) -> Option<()> {
    let (kind, index) = (Kind::of(handle)?, handle >> KIND_BITS);
    let table = tables.table(kind)?;
    let slot = table.slot(index);
    let word = slot.word.load(Ordering::Acquire);
    if word & OCCUPIED == 0 {
        return None;
    }
    let lane = &mut hint.lanes[kind as usize];
    let (first, end) = (lane.first, lane.end);
    let next = end.wrapping_add(1);
    if next.wrapping_sub(first) >= ROOM {
        return None;
    }
    slot.word
        .compare_exchange(word, 0, Ordering::SeqCst, Ordering::SeqCst)
        .ok()?;
    table.row.freed(index);
    lane.ring[(end & (ROOM - 1)) as usize] = index;
    lane.end = next;
    Some(())
}
