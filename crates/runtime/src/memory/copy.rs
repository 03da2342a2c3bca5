//! Copying and clearing memory that managed code sees.
//!
//! # Invariants
//! * Words that may be references are loaded and stored whole, since the marker and other threads may read them meanwhile, and the
//!   cards of what is stored to are marked.
//! * [`copy_value`], [`copy_words`] and [`clear_value`] are one step: no stop happens inside. They are for a value or an element.
//! * [`move_bytes`] and [`clear_bytes`] are for any length: they let a stop happen every [`POLL_STEP`] bytes. Between two steps an
//!   address into the block lies in the frame, where the collector finds it and pins the object.
use crate::cx::Cx;
use crate::memory::cards::mark_card;
use crate::object::{load_word, store_word};
use vervet_abi::object::CARD_SHIFT;

/// Copies `size` bytes of a value; words are copied whole, and cards marked if the value holds references.
///
/// # Safety
/// Both sides are valid for `size` bytes; with `refs`, both are 8-aligned.
pub unsafe fn copy_value(to: *mut u8, from: *const u8, size: usize, refs: bool) {
    // SAFETY: both sides are valid for `size` bytes; with `refs` both are aligned for `copy_words`, which gets the whole words.
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
    // SAFETY: `i` is below `words`, so both words exist and are aligned; each passes through one general register, whole.
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
    // SAFETY: the range may be written, and with `refs` it is aligned, so its whole words are too.
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

/// Bytes that Runtime code copies or clears between two polls.
const POLL_STEP: usize = 64 << 10;

/// Where a long loop of Runtime code lets a stop happen.
#[inline]
pub fn poll_point(cx: &Cx<'_>) {
    cx.poll();
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
    // SAFETY: both sides are valid for `size` bytes, and stay so over the polls, as the caller promises.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::cards::card_of;
    use crate::memory::gc;
    use vervet_os::memory;

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
