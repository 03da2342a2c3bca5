//! Conversions between characters and bytes that are ASCII, which generated code tries before the class library's IL.
//!
//! The methods that these are tried for are the JIT's (`calls/texts.rs` in `vervet-jit`).
//!
//! # How it works
//! ```text
//! 43 units:  |---- 16 ----|---- 16 ----|
//!                                  |---- 16 ----|        the last group reaches back
//! 11 units:  |-- 8 --|
//!               |-- 8 --|
//!  7 units:  one by one
//! ```
//!
//! A group is loaded, looked at and stored by a few vector instructions. Most texts that programs convert are names and lines, so the end of a text matters as much
//! as its middle: one by one, the last units would take longer than all groups before.
//!
//! # Invariants
//! * Each is a leaf: it takes no lock and no memory, and is called for at most 32,768 units, which takes less than 10 microseconds.
//! * A group is looked at and written from one copy, because another thread may write what is read here: what is written is ASCII, whatever that thread does. Units
//!   that two groups share are read and written twice; then both are what was there at some moment.
//! * Nothing is written for a group that has a unit which is no ASCII.

/// Units that are looked at and converted at once.
const GROUP: usize = 16;
/// Half of them. What is shorter still is converted one by one; generated code leaves most of that to the class library.
const HALF: usize = GROUP / 2;
/// Characters that [`line_end`] looks at without a branch.
const LINE_GROUP: usize = 32;

/// A unit of a text, and what it is converted to. Each function says whether all units of a group are ASCII; if not, nothing is written.
trait Unit: Copy {
    type Other: Copy;
    fn group(from: &[Self; GROUP], to: &mut [Self::Other; GROUP]) -> bool;
    fn half(from: &[Self; HALF], to: &mut [Self::Other; HALF]) -> bool;
    fn one(self) -> Option<Self::Other>;
}

/// Converts units until one is no ASCII.
///
/// The ranges lie apart, so what is read is not changed by what is written. That is what makes it right to convert units once more: the last group reaches back over units that are converted already, and does so again.
#[inline]
fn convert<U: Unit>(from: &[U], to: &mut [U::Other]) -> bool {
    let mut at = 0;
    while let (Some(x), Some(y)) = (from[at..].first_chunk(), to[at..].first_chunk_mut()) {
        if !U::group(x, y) {
            return false;
        }
        at += GROUP;
    }
    if at == from.len() {
        return true;
    }
    // The end of a text that has a group.
    if let (Some(x), Some(y)) = (from.last_chunk(), to.last_chunk_mut()) {
        return U::group(x, y);
    }
    // One that has half a group: its beginning and its end.
    if let (Some(x), Some(y)) = (from.first_chunk(), to.first_chunk_mut()) {
        return U::half(x, y)
            && match (from.last_chunk(), to.last_chunk_mut()) {
                (Some(x), Some(y)) => U::half(x, y),
                _ => false,
            };
    }
    for (unit, place) in from.iter().zip(to) {
        match unit.one() {
            Some(unit) => *place = unit,
            None => return false,
        }
    }
    true
}

/// Groups in a few instructions. What is written is made of what was read once.
///
/// A byte is ASCII if its highest bit is 0, which one instruction collects of 16 bytes. Of characters the nine highest bits are compared with 0. Widening puts a
/// zero behind each byte; narrowing packs with saturation, which does nothing to ASCII.
#[cfg(target_arch = "x86_64")]
mod groups {
    use super::{GROUP, HALF, Unit};
    use std::arch::x86_64::*;

    /// Are all of two vectors of characters ASCII?
    #[inline]
    fn are_ascii(a: __m128i, b: __m128i) -> bool {
        // SAFETY: every processor of this kind has SSE2.
        unsafe {
            let beyond = _mm_and_si128(_mm_or_si128(a, b), _mm_set1_epi16(0xFF80u16 as i16));
            _mm_movemask_epi8(_mm_cmpeq_epi16(beyond, _mm_setzero_si128())) == 0xFFFF
        }
    }

    impl Unit for u8 {
        type Other = u16;
        #[inline]
        fn group(from: &[u8; GROUP], to: &mut [u16; GROUP]) -> bool {
            // SAFETY: 16 bytes are read and 32 written; every processor of this kind has SSE2.
            unsafe {
                let bytes = _mm_loadu_si128(from.as_ptr().cast());
                if _mm_movemask_epi8(bytes) != 0 {
                    return false;
                }
                let (zero, at) = (_mm_setzero_si128(), to.as_mut_ptr().cast::<__m128i>());
                _mm_storeu_si128(at, _mm_unpacklo_epi8(bytes, zero));
                _mm_storeu_si128(at.add(1), _mm_unpackhi_epi8(bytes, zero));
            }
            true
        }
        #[inline]
        fn half(from: &[u8; HALF], to: &mut [u16; HALF]) -> bool {
            // SAFETY: 8 bytes are read and 16 written; every processor of this kind has SSE2.
            unsafe {
                let bytes = _mm_loadl_epi64(from.as_ptr().cast());
                if _mm_movemask_epi8(bytes) != 0 {
                    return false;
                }
                let wide = _mm_unpacklo_epi8(bytes, _mm_setzero_si128());
                _mm_storeu_si128(to.as_mut_ptr().cast(), wide);
            }
            true
        }
        #[inline]
        fn one(self) -> Option<u16> {
            (self < 0x80).then_some(u16::from(self))
        }
    }

    impl Unit for u16 {
        type Other = u8;
        #[inline]
        fn group(from: &[u16; GROUP], to: &mut [u8; GROUP]) -> bool {
            // SAFETY: 32 bytes are read and 16 written; every processor of this kind has SSE2.
            unsafe {
                let at = from.as_ptr().cast::<__m128i>();
                let (a, b) = (_mm_loadu_si128(at), _mm_loadu_si128(at.add(1)));
                if !are_ascii(a, b) {
                    return false;
                }
                _mm_storeu_si128(to.as_mut_ptr().cast(), _mm_packus_epi16(a, b));
            }
            true
        }
        #[inline]
        fn half(from: &[u16; HALF], to: &mut [u8; HALF]) -> bool {
            // SAFETY: 16 bytes are read and 8 written; every processor of this kind has SSE2.
            unsafe {
                let a = _mm_loadu_si128(from.as_ptr().cast());
                if !are_ascii(a, a) {
                    return false;
                }
                _mm_storel_epi64(to.as_mut_ptr().cast(), _mm_packus_epi16(a, a));
            }
            true
        }
        #[inline]
        fn one(self) -> Option<u8> {
            (self < 0x80).then_some(self as u8)
        }
    }
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
mod groups {
    use super::{GROUP, HALF, Unit};

    fn all<U: Unit, const N: usize>(from: &[U; N], to: &mut [U::Other; N]) -> bool {
        let from = *from;
        if from.iter().any(|unit| unit.one().is_none()) {
            return false;
        }
        for (unit, place) in from.iter().filter_map(|unit| unit.one()).zip(to) {
            *place = unit;
        }
        true
    }
    impl Unit for u8 {
        type Other = u16;
        fn group(from: &[u8; GROUP], to: &mut [u16; GROUP]) -> bool {
            all(from, to)
        }
        fn half(from: &[u8; HALF], to: &mut [u16; HALF]) -> bool {
            all(from, to)
        }
        fn one(self) -> Option<u16> {
            (self < 0x80).then_some(u16::from(self))
        }
    }
    impl Unit for u16 {
        type Other = u8;
        fn group(from: &[u16; GROUP], to: &mut [u8; GROUP]) -> bool {
            all(from, to)
        }
        fn half(from: &[u16; HALF], to: &mut [u8; HALF]) -> bool {
            all(from, to)
        }
        fn one(self) -> Option<u8> {
            (self < 0x80).then_some(self as u8)
        }
    }
}

/// Are all units ASCII, by the bits that their union has beyond it? Looks no further than a few groups behind the first that is not.
#[inline]
fn check<U: Copy + Default + std::ops::BitOr<Output = U>>(
    units: &[U],
    is_ascii: impl Fn(U) -> bool,
) -> bool {
    units
        .chunks(8 * GROUP)
        .all(|group| is_ascii(group.iter().fold(U::default(), |all, u| all | *u)))
}

/// Characters to bytes.
pub(super) extern "C" fn narrow_ascii(from: *const u16, to: *mut u8, count: usize) -> i32 {
    // SAFETY: generated code passes two ranges of that many units, which lie apart, and are fixed as the class library does it.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(from, count),
            std::slice::from_raw_parts_mut(to, count),
        )
    };
    i32::from(convert(from, to))
}

/// Bytes to characters.
pub(super) extern "C" fn widen_ascii(from: *const u8, to: *mut u16, count: usize) -> i32 {
    // SAFETY: as above.
    let (from, to) = unsafe {
        (
            std::slice::from_raw_parts(from, count),
            std::slice::from_raw_parts_mut(to, count),
        )
    };
    i32::from(convert(from, to))
}

/// Are characters ASCII?
pub(super) extern "C" fn are_ascii_chars(from: *const u16, count: usize) -> i32 {
    // SAFETY: generated code passes a range of that many units, which is fixed as the class library does it.
    i32::from(check(
        unsafe { std::slice::from_raw_parts(from, count) },
        |c| c < 0x80,
    ))
}

/// Are bytes ASCII?
pub(super) extern "C" fn are_ascii_bytes(from: *const u8, count: usize) -> i32 {
    // SAFETY: as above.
    i32::from(check(
        unsafe { std::slice::from_raw_parts(from, count) },
        |b| b < 0x80,
    ))
}

/// Where the first character is that ends a line; -1 if there is none. It reads the characters twice where a group has one, which
/// another thread may replace meanwhile; then the answer is that of one of the two.
pub(super) extern "C" fn line_end(from: *const u16, count: i32) -> i32 {
    let ends = |c: &u16| *c == u16::from(b'\n') || *c == u16::from(b'\r');
    // SAFETY: generated code passes a range of a string or of a vector, which has that many characters; nothing moves during a leaf.
    let all = unsafe { std::slice::from_raw_parts(from, count as usize) };
    let mut at = 0;
    for group in all.chunks_exact(LINE_GROUP) {
        // Without a branch in the group, so by vector instructions.
        if group.iter().fold(false, |found, c| found | ends(c)) {
            break;
        }
        at += LINE_GROUP;
    }
    match all[at..].iter().position(ends) {
        Some(more) => (at + more) as i32,
        None => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_line_is_the_first() {
        for length in [0usize, 1, 31, 32, 33, 70] {
            let mut all = vec![u16::from(b'x'); length];
            assert_eq!(line_end(all.as_ptr(), length as i32), -1);
            for at in (0..length).rev() {
                all[at] = u16::from(if at % 2 == 0 { b'\n' } else { b'\r' });
                assert_eq!(line_end(all.as_ptr(), length as i32), at as i32);
            }
        }
    }

    #[test]
    fn what_is_ascii_is_copied_up_to_the_first_that_is_not() {
        for length in [0usize, 1, 7, 31, 32, 33, 63, 64, 100, 200] {
            let chars: Vec<u16> = (0..length).map(|i| (i % 128) as u16).collect();
            let mut bytes = vec![0xffu8; length];
            assert_eq!(narrow_ascii(chars.as_ptr(), bytes.as_mut_ptr(), length), 1);
            assert!(chars.iter().zip(&bytes).all(|(c, b)| *c == u16::from(*b)));
            let mut back = vec![0xffffu16; length];
            assert_eq!(widen_ascii(bytes.as_ptr(), back.as_mut_ptr(), length), 1);
            assert_eq!(back, chars);
            assert_eq!(are_ascii_chars(chars.as_ptr(), length), 1);
            assert_eq!(are_ascii_bytes(bytes.as_ptr(), length), 1);
            for at in 0..length {
                for other in [0x80u16, 0xff, 0x100, 0x4e00, 0xd800, 0xff41] {
                    let mut chars = chars.clone();
                    chars[at] = other;
                    let mut narrow = vec![0xffu8; length];
                    let done = narrow_ascii(chars.as_ptr(), narrow.as_mut_ptr(), length);
                    assert_eq!(done, 0);
                    let same = |n: usize| narrow[n] == 0xff || narrow[n] == bytes[n];
                    assert!((0..at).all(same));
                    assert!(narrow[at..].iter().all(|b| *b == 0xff));
                    assert_eq!(are_ascii_chars(chars.as_ptr(), length), 0);
                }
                let mut bytes = bytes.clone();
                bytes[at] = 0x80;
                let mut wide = vec![0xffffu16; length];
                assert_eq!(widen_ascii(bytes.as_ptr(), wide.as_mut_ptr(), length), 0);
                assert!(wide[at..].iter().all(|c| *c == 0xffff));
                assert_eq!(are_ascii_bytes(bytes.as_ptr(), length), 0);
            }
        }
    }
}
