//! Conversions between characters and bytes that are ASCII, which generated code tries before the class library's IL.
//!
//! The methods that these are tried for are the JIT's (`calls/texts.rs` in `vervet-jit`).
//!
//! # Invariants
//! * Each is a leaf: it takes no lock and no memory, and is called for at most 32,768 units, which takes less than 10 microseconds.
//! * Units are read once: a group is looked at and written from a copy, because another thread may write what is read here.
//! * Nothing is written for a group that has a unit which is no ASCII.

/// Units that are looked at and converted without a branch, by vector instructions.
const GROUP: usize = 32;

/// A unit of a text.
trait Unit: Copy + Default + std::ops::BitOr<Output = Self> {
    fn is_ascii(self) -> bool;
}
impl Unit for u8 {
    fn is_ascii(self) -> bool {
        self < 0x80
    }
}
impl Unit for u16 {
    fn is_ascii(self) -> bool {
        self < 0x80
    }
}

/// Are all units of a group ASCII? They are exactly if their union is.
fn are_ascii<U: Unit>(group: &[U]) -> bool {
    group
        .iter()
        .fold(U::default(), |all, u| all | *u)
        .is_ascii()
}

/// Converts units until one is no ASCII.
fn convert<U: Unit, V: Copy>(from: &[U], to: &mut [V], convert: impl Fn(U) -> V) -> bool {
    let (groups, rest) = from.as_chunks::<GROUP>();
    let (spaces, more) = to.as_chunks_mut::<GROUP>();
    for (group, space) in groups.iter().zip(spaces) {
        let group = *group;
        if !are_ascii(&group) {
            return false;
        }
        for (unit, place) in group.iter().zip(space) {
            *place = convert(*unit);
        }
    }
    for (unit, place) in rest.iter().zip(more) {
        let unit = *unit;
        if !unit.is_ascii() {
            return false;
        }
        *place = convert(unit);
    }
    true
}

/// Are all units ASCII? Looks no further than the group of the first that is not.
fn check<U: Unit>(units: &[U]) -> bool {
    units.chunks(4 * GROUP).all(are_ascii)
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
    i32::from(convert(from, to, |c| c as u8))
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
    i32::from(convert(from, to, u16::from))
}

/// Are characters ASCII?
pub(super) extern "C" fn are_ascii_chars(from: *const u16, count: usize) -> i32 {
    // SAFETY: generated code passes a range of that many units, which is fixed as the class library does it.
    i32::from(check(unsafe { std::slice::from_raw_parts(from, count) }))
}

/// Are bytes ASCII?
pub(super) extern "C" fn are_ascii_bytes(from: *const u8, count: usize) -> i32 {
    // SAFETY: as above.
    i32::from(check(unsafe { std::slice::from_raw_parts(from, count) }))
}

/// Where the first character is that ends a line; -1 if there is none. It reads the characters twice where a group has one, which
/// another thread may replace meanwhile; then the answer is that of one of the two.
pub(super) extern "C" fn line_end(from: *const u16, count: i32) -> i32 {
    let ends = |c: &u16| *c == u16::from(b'\n') || *c == u16::from(b'\r');
    // SAFETY: generated code passes a range of a string or of a vector, which has that many characters; nothing moves during a leaf.
    let all = unsafe { std::slice::from_raw_parts(from, count as usize) };
    let mut at = 0;
    for group in all.chunks_exact(GROUP) {
        // Without a branch in the group, so by vector instructions.
        if group.iter().fold(false, |found, c| found | ends(c)) {
            break;
        }
        at += GROUP;
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
