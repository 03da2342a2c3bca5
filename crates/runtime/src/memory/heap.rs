//! Making objects, and copying what they hold: what the runtime does with the heap of [`crate::memory::gc`].
//!
//! # Invariants
//! * An object's header and length are stored before this thread lets the world stop.
//! * `card[(address >> 9) & mask]` exists for every address; a mark is the low byte of the stored
//!   reference, clean is 0xFF (never the low byte of a reference).
use crate::cx::{Cx, Result};
use crate::memory::gc;
use crate::object::{ObjRef, load_word, store_word};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_abi::object::*;
use vervet_abi::vtable::flags;
use vervet_os::memory;
use vervet_types::{ClassRef, Known};

static CARDS: AtomicUsize = AtomicUsize::new(0);
static MASK: AtomicUsize = AtomicUsize::new(CARD_MASK);

/// Reserves the card table with `mask + 1` cards; its base. Called once, before the heap is made.
pub(crate) fn reserve_cards(mask: usize) -> std::io::Result<usize> {
    let cards = memory::reserve(mask + 1)? as usize;
    MASK.store(mask, Ordering::Relaxed);
    CARDS.store(cards, Ordering::Release);
    Ok(cards)
}
/// Base of the card table.
pub fn card_table() -> usize {
    CARDS.load(Ordering::Relaxed)
}
/// Address of the card of `address`.
#[inline]
pub fn card_of(address: usize) -> usize {
    card_table() + ((address >> CARD_SHIFT) & MASK.load(Ordering::Relaxed))
}
/// Marks the card of `address` after the reference `value` was stored there.
#[inline]
pub fn mark_card(address: usize, value: usize) {
    // SAFETY: the table has an entry for every masked index. Several threads may mark a card at a time.
    unsafe { (*(card_of(address) as *const AtomicU8)).store(value as u8, Ordering::Relaxed) }
}

fn place<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable, size: usize) -> Result<ObjRef<'cx>> {
    vervet_os::lock::assert_no_leaf_lock("allocating an object");
    // SAFETY: the context belongs to this thread.
    let tlab = unsafe { gc::tlab(cx.context()) };
    match gc::heap().allocate(tlab, size, vt as *const VTable as u64) {
        // SAFETY: fresh zeroed memory with that header.
        Some(at) => Ok(unsafe { ObjRef::from_addr(at) }),
        None => Err(cx.rt().throw_out_of_memory(cx)),
    }
}

/// A zeroed instance of a fixed-size class.
pub fn alloc_object<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable) -> Result<ObjRef<'cx>> {
    debug_assert!(vt.rank == 0 && vt.flags & flags::STRING == 0);
    let object = place(cx, vt, vt.size as usize)?;
    if vt.flags & flags::FINALIZER != 0 {
        gc::register_finalizer(object);
    }
    Ok(object)
}

/// A zeroed vector. A length that is no int32, or negative, is OverflowException, as in mono; one for which there is no room
/// OutOfMemoryException.
pub fn alloc_array<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable, len: i64) -> Result<ObjRef<'cx>> {
    if !(0..=i32::MAX as i64).contains(&len) {
        return Err(cx.throw_default(Known::OverflowException));
    }
    let size = ARRAY_DATA_OFFSET as usize + len as usize * vt.size as usize;
    let array = place(cx, vt, size)?;
    array.write(ARRAY_LENGTH_OFFSET as usize, len as u32);
    Ok(array)
}

/// A zeroed array with bounds.
pub fn alloc_md_array<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
    bounds: &[(i64, i32)],
) -> Result<ObjRef<'cx>> {
    let mut total: i64 = 1;
    for &(len, _) in bounds {
        if len < 0 {
            return Err(cx.throw_default(Known::OverflowException));
        }
        total = match total.checked_mul(len) {
            Some(t) if t <= i32::MAX as i64 => t,
            _ => return Err(cx.rt().throw_out_of_memory(cx)),
        };
    }
    let data = md_array_data_offset(bounds.len() as u32) as usize;
    let array = place(cx, vt, data + total as usize * vt.size as usize)?;
    array.write(ARRAY_LENGTH_OFFSET as usize, total as u32);
    for (i, &(len, lower)) in bounds.iter().enumerate() {
        let at = ARRAY_BOUNDS_OFFSET as usize + i * BOUND_SIZE as usize;
        array.write(at, len as u32);
        array.write(at + 4, lower);
    }
    Ok(array)
}

/// A string of `len` zero units and a terminator.
pub fn alloc_string<'cx>(cx: &'cx Cx<'cx>, len: usize) -> Result<ObjRef<'cx>> {
    if len > (i32::MAX as usize - 64) / 2 {
        return Err(cx.rt().throw_out_of_memory(cx));
    }
    let vt = cx.rt().vtable_or_throw(cx, cx.known(Known::String))?;
    let s = place(cx, vt, STRING_CHARS_OFFSET as usize + 2 * (len + 1))?;
    s.write(STRING_LENGTH_OFFSET as usize, len as i32);
    Ok(s)
}

/// A box with a copy of the value; Nullable by its rule.
///
/// # Safety
/// `value` points to a value of `class`.
pub unsafe fn box_value<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    value: *const u8,
) -> Result<ObjRef<'cx>> {
    let mut value = value;
    let mut class = class;
    if let Some(inner) = class.nullable_arg() {
        let (has, at) = crate::classes::vtables::nullable_offsets(cx, class)?;
        // SAFETY: the caller's value is a Nullable of that layout.
        unsafe {
            if *value.add(has as usize) == 0 {
                return Ok(ObjRef::NULL);
            }
            value = value.add(at as usize);
        }
        class = inner;
    }
    let vt = cx.rt().vtable_or_throw(cx, class)?;
    let object = alloc_object(cx, vt)?;
    let size = vt.size as usize - HEADER_SIZE as usize;
    // SAFETY: the box has room for `size` bytes; the source holds a value of that size.
    unsafe {
        copy_value(
            object.value_ptr(),
            value,
            size,
            vt.flags & flags::HAS_REFS != 0,
        )
    };
    Ok(object)
}

/// Copies `size` bytes of a value; words are copied whole, and cards marked if the value holds references.
///
/// # Safety
/// Both sides are valid for `size` bytes; with `refs`, both are 8-aligned.
pub unsafe fn copy_value(to: *mut u8, from: *const u8, size: usize, refs: bool) {
    // SAFETY: passed on.
    unsafe {
        if !refs {
            std::ptr::copy(from, to, size);
            return;
        }
        copy_words(to as *mut usize, from as *const usize, size / 8);
        std::ptr::copy(from.add(size & !7), to.add(size & !7), size & 7);
    }
}

/// Copies words that may be references, overlap allowed, each whole, and marks their cards: a card is marked once, after
/// all stores to it, since nothing stops a thread here (it is in Runtime state, or critical).
///
/// # Safety
/// Both sides are valid for `words` aligned words.
pub unsafe fn copy_words(to: *mut usize, from: *const usize, words: usize) {
    const CARD: usize = 1 << CARD_SHIFT;
    // SAFETY: passed on; each word passes through one general register.
    let one = |i: usize| unsafe {
        let v = load_word(from.add(i));
        store_word(to.add(i), v);
        v
    };
    let mark = |i: usize, any: usize| {
        if any != 0 {
            mark_card(to as usize + 8 * i, 0);
        }
    };
    if to as usize <= from as usize {
        let mut i = 0;
        while i < words {
            let room = (CARD - (to as usize + 8 * i) % CARD) / 8;
            let end = words.min(i + room);
            mark(i, (i..end).fold(0, |any, i| any | one(i)));
            i = end;
        }
    } else {
        let mut end = words;
        while end > 0 {
            let room = (to as usize + 8 * (end - 1)) % CARD / 8 + 1;
            let start = end.saturating_sub(room);
            mark(start, (start..end).rev().fold(0, |any, i| any | one(i)));
            end = start;
        }
    }
}

/// Zeroes `size` bytes of a value. Null needs no card; words that may be references are zeroed whole.
///
/// # Safety
/// The range may be written; with `refs` it is 8-aligned.
pub unsafe fn clear_value(to: *mut u8, size: usize, refs: bool) {
    // SAFETY: passed on.
    unsafe {
        if refs {
            for i in 0..size / 8 {
                store_word((to as *mut usize).add(i), 0);
            }
            to.add(size & !7).write_bytes(0, size & 7);
        } else {
            to.write_bytes(0, size);
        }
    }
}

// ---- copies of any length, in Runtime state ------------------------------------------------------------------

/// Bytes that Runtime code copies or clears between two polls.
const POLL_STEP: usize = 64 << 10;

/// Where a long loop of Runtime code lets a stop happen.
#[inline]
pub fn poll_point(cx: &Cx<'_>) {
    crate::safepoint::poll(cx.context());
}

/// [`poll_point`] once in a while: `i` is the index of a loop whose steps take well under a microsecond.
#[inline]
pub fn poll_sometimes(cx: &Cx<'_>, i: usize) {
    if i % 4096 == 4095 {
        poll_point(cx);
    }
}

/// An address in a stack slot, where a scan finds it at a poll and pins the object it points into. (Without it LLVM may
/// keep only an end pointer or the difference of two addresses.)
struct Anchored(std::cell::Cell<usize>);
impl Anchored {
    #[inline(always)]
    fn get(&self) -> usize {
        // SAFETY: a plain word of ours; volatile, so that it is there to be read, and found, each time.
        unsafe { self.0.as_ptr().read_volatile() }
    }
}

/// Steps of at most [`POLL_STEP`] bytes through `size` bytes, with a poll between two, from the end if `backward`.
#[inline(always)]
fn in_steps(
    size: usize,
    backward: bool,
    mut poll: impl FnMut(),
    mut step: impl FnMut(usize, usize),
) {
    let mut done = 0;
    loop {
        let n = POLL_STEP.min(size - done);
        step(if backward { size - done - n } else { done }, n);
        done += n;
        if done == size {
            return;
        }
        poll();
    }
}

/// Copies `size` bytes, overlap allowed, and lets stops happen on the way. With `refs` words are copied whole and cards
/// marked.
///
/// # Safety
/// Both sides are valid for `size` bytes and stay so while the world is stopped (an object, pinned by its address
/// here, does); with `refs`, both are 8-aligned and `size` is a multiple of 8.
pub unsafe fn move_bytes(cx: &Cx<'_>, to: *mut u8, from: *const u8, size: usize, refs: bool) {
    // SAFETY: passed on.
    unsafe { move_polling(to, from, size, refs, || poll_point(cx)) }
}
/// [`move_bytes`] with what is done between two steps.
unsafe fn move_polling(to: *mut u8, from: *const u8, size: usize, refs: bool, poll: impl FnMut()) {
    debug_assert!(!refs || size.is_multiple_of(8));
    let backward = (to as usize).wrapping_sub(from as usize) < size;
    let to = Anchored(std::cell::Cell::new(to as usize));
    let from = Anchored(std::cell::Cell::new(from as usize));
    in_steps(size, backward, poll, |at, n| {
        // SAFETY: `at` and `n` lie within the caller's ranges.
        unsafe {
            copy_value(
                (to.get() + at) as *mut u8,
                (from.get() + at) as *const u8,
                n,
                refs,
            )
        }
    });
}

/// Zeroes `size` bytes and lets stops happen on the way.
///
/// # Safety
/// As [`move_bytes`].
pub unsafe fn clear_bytes(cx: &Cx<'_>, to: *mut u8, size: usize, refs: bool) {
    let to = Anchored(std::cell::Cell::new(to as usize));
    in_steps(
        size,
        false,
        || poll_point(cx),
        |at, n| {
            // SAFETY: `at` and `n` lie within the caller's range.
            unsafe { clear_value((to.get() + at) as *mut u8, n, refs) }
        },
    );
}

/// A shallow copy (Object.MemberwiseClone).
pub fn clone_object<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let vt = object.vtable();
    let size = object_size(object);
    let copy = place(cx, vt, size)?;
    if vt.rank != 0 || vt.flags & flags::STRING != 0 {
        // The copy must say how long it is before a collection may look at it.
        const { assert!(STRING_LENGTH_OFFSET == ARRAY_LENGTH_OFFSET) };
        let at = ARRAY_LENGTH_OFFSET as usize;
        copy.write(at, object.read::<u32>(at));
    }
    let fields = (size - HEADER_SIZE as usize).next_multiple_of(8);
    let refs = vt.flags & (flags::HAS_REFS | flags::ELEMENT_REFS) != 0;
    // SAFETY: both objects have `size` bytes, rounded to whole words; the header is not copied.
    unsafe { move_bytes(cx, copy.value_ptr(), object.value_ptr(), fields, refs) };
    if vt.flags & flags::FINALIZER != 0 {
        gc::register_finalizer(copy);
    }
    Ok(copy)
}

/// Bytes an object takes, header included, not rounded.
pub fn object_size(object: ObjRef<'_>) -> usize {
    let vt = object.vtable();
    if vt.flags & flags::STRING != 0 {
        STRING_CHARS_OFFSET as usize + 2 * (object.string_len() + 1)
    } else if vt.flags & flags::SZ_ARRAY != 0 {
        ARRAY_DATA_OFFSET as usize + object.array_len() * vt.size as usize
    } else if vt.rank != 0 {
        md_array_data_offset(vt.rank as u32) as usize + object.array_len() * vt.size as usize
    } else {
        vt.size as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(address: usize) -> u8 {
        // SAFETY: the table has an entry for every masked index.
        unsafe { *(card_of(address) as *const u8) }
    }
    /// Memory that is its own cards' only user.
    fn words(n: usize) -> *mut usize {
        gc::for_tests();
        let at = memory::reserve(n * 8 + 4096).expect("memory") as *mut usize;
        for page in 0..=n * 8 / 512 {
            mark_card(at as usize + page * 512, 0xFF);
        }
        at
    }

    #[test]
    fn a_copy_with_references_marks_the_cards_it_stores_to() {
        let (to, from) = (words(256), words(256));
        // SAFETY: both have 256 words.
        unsafe {
            from.add(70).write(0x1230);
            copy_value(to as *mut u8, from as *const u8, 8 * 128, true);
            assert_eq!(to.add(70).read(), 0x1230);
            assert_eq!(card(to as usize), 0xFF, "nulls need no mark");
            assert_ne!(card(to.add(70) as usize), 0xFF);
            assert_eq!(card(to.add(128) as usize), 0xFF, "not stored to");
            copy_value(to.add(128) as *mut u8, from as *const u8, 8 * 128, false);
            assert_eq!(card(to.add(128) as usize), 0xFF, "holds no references");
        }
    }

    #[test]
    fn words_that_look_like_a_clean_card_mark_it_dirty() {
        let (to, from) = (words(64), words(64));
        // SAFETY: both have 64 words.
        unsafe {
            from.write(0xFF);
            copy_words(to, from, 1);
        }
        assert_ne!(card(to as usize), 0xFF);
    }

    #[test]
    fn a_copy_in_either_direction_marks_exactly_the_cards_it_stores_to() {
        for (to, from) in [(3, 200), (200, 3), (61, 61), (64, 0), (0, 64)] {
            for n in [1, 2, 63, 64, 65, 130] {
                let at = words(512);
                // SAFETY: both ranges lie inside.
                unsafe {
                    (0..n).for_each(|i| at.add(from + i).write(0x1000 + 8 * i));
                    copy_words(at.add(to), at.add(from), n);
                    assert!((0..n).all(|i| at.add(to + i).read() == 0x1000 + 8 * i));
                }
                for c in 0..8 {
                    let stored = (to..to + n).any(|w| w / 64 == c);
                    assert_eq!(card(at as usize + 512 * c) != 0xFF, stored, "{n} to {to}");
                }
            }
        }
    }

    #[test]
    fn overlapping_copies_in_steps_go_the_right_way() {
        let n = 3 * POLL_STEP / 8 + 5;
        for (from, to) in [
            (0, 3),
            (3, 0),
            (0, POLL_STEP / 8 + 1),
            (POLL_STEP / 8 + 1, 0),
            (7, 7),
        ] {
            for refs in [false, true] {
                let at = words(n + POLL_STEP / 4);
                // SAFETY: both ranges lie inside.
                unsafe {
                    (0..n).for_each(|i| at.add(from + i).write(8 * i));
                    let (to_at, from_at) = (at.add(to) as *mut u8, at.add(from) as *const u8);
                    let mut polls = 0;
                    move_polling(to_at, from_at, n * 8, refs, || polls += 1);
                    assert!(
                        (0..n).all(|i| at.add(to + i).read() == 8 * i),
                        "{from} to {to}"
                    );
                    assert_eq!(polls, 3, "one between two steps");
                }
            }
        }
    }
}
