//! Routines of the class library that generated code calls in place of their IL: searches, comparisons and sorts of plain values.
//!
//! The rows that say which methods these stand for are the JIT's (`calls/library.rs` in `vervet-jit`). Each does what the IL does, in fewer cycles.
//!
//! | routine | looks at | is left to the class library |
//! |---|---|---|
//! | a search for a character or byte | the range of a span | more than 64 KiB |
//! | a search for an element | a range of a vector | a range that does not fit, more than 64 KiB, strings that are alike for more than 16,384 characters |
//! | a comparison | two ranges of bytes | more than 64 KiB |
//! | a copy | ranges of two arrays | other element types, a range that does not fit, more than 16 KiB |
//! | a sort | a vector of integers | a comparer |
//!
//! # Invariants
//! * A search or comparison is a leaf: it takes no lock and no memory, and is called for at most 64 KiB, which takes less than 10 microseconds.
//! * A sort is of integers, so its result does not depend on how it is found. It works on a copy: in state Runtime for up to
//!   [`SHORT`] bytes, in state Native for more, so that no collection waits for it.
//! * Another thread may write what is read here. Then the result is that of some order of reads and writes, as it is in IL, and nothing else goes wrong:
//!   the only accesses are those to the range that the caller has checked.
use crate::arch::search::{self, Lane};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_abi::UNKNOWN_ORDER;
use vervet_abi::vtable::flags;
use vervet_types::Prim;

/// Bytes that are sorted in state Runtime.
const SHORT: usize = 8 << 10;

/// Elements of a group, which is looked through without a branch, by vector instructions: first in large ones, then in small ones.
const GROUPS: [usize; 2] = [32, 8];

/// How many groups from the first on do not have the value.
///
/// The compiler makes vector instructions of the loop over a group, because it has no way out before its end.
#[inline]
fn without<const N: usize, T: Copy + PartialEq>(all: &[T], value: T) -> usize {
    let has = |group: &[T; N]| {
        let mut found = false;
        for x in group {
            found |= *x == value;
        }
        found
    };
    let groups = all.as_chunks::<N>().0;
    groups.iter().position(has).unwrap_or(groups.len())
}

/// Index of the first element that is `value`; -1 if none is.
#[inline]
fn find<T: Lane>(all: &[T], value: T) -> i32 {
    search::find(all, value, by_groups)
}

fn by_groups<T: Lane>(all: &[T], value: T) -> i32 {
    let large = GROUPS[0] * without::<{ GROUPS[0] }, T>(all, value);
    let at = large + GROUPS[1] * without::<{ GROUPS[1] }, T>(&all[large..], value);
    match all[at..].iter().position(|x| *x == value) {
        Some(more) => (at + more) as i32,
        None => -1,
    }
}

/// `SpanHelpers.IndexOf(ref char, char, int)`.
pub(super) extern "C" fn index_of_char(at: *const u16, value: u32, count: i32) -> i32 {
    // SAFETY: generated code passes the range of a span, which is aligned; nothing moves during a leaf.
    find(
        unsafe { std::slice::from_raw_parts(at, count as usize) },
        value as u16,
    )
}

/// `SpanHelpers.IndexOf(ref byte, byte, int)`.
pub(super) extern "C" fn index_of_byte(at: *const u8, value: u32, count: i32) -> i32 {
    // SAFETY: as above.
    find(
        unsafe { std::slice::from_raw_parts(at, count as usize) },
        value as u8,
    )
}

/// `SpanHelpers.SequenceEqual(ref byte, ref byte, ulong)`: 1 if the bytes are equal.
pub(super) extern "C" fn sequence_equal(a: *const u8, b: *const u8, bytes: usize) -> i32 {
    // SAFETY: generated code passes two ranges of that many bytes; nothing moves during a leaf.
    let (a, b) = unsafe {
        (
            std::slice::from_raw_parts(a, bytes),
            std::slice::from_raw_parts(b, bytes),
        )
    };
    i32::from(a == b)
}

/// The part of a vector that a range names, with elements of that many bytes; None: the class library answers, which throws if the range does not fit.
fn range_of(all: ObjRef<'_>, (from, count): (i32, i32), size: u32) -> Option<(*const u8, usize)> {
    /// Bytes that a leaf looks at.
    const MOST: usize = 64 << 10;
    let all = all.non_null()?;
    let (from, count) = (usize::try_from(from).ok()?, usize::try_from(count).ok()?);
    let vt = all.vtable();
    let fits = vt.flags & flags::SZ_ARRAY != 0
        && vt.size == size
        && from + count <= all.array_len()
        && count * size as usize <= MOST;
    // SAFETY: the range lies within the vector.
    fits.then(|| unsafe {
        (
            all.array_data().add(from * size as usize).cast_const(),
            count,
        )
    })
}

/// `Array.IndexOf` of integers of `1 << shift` bytes.
pub(super) fn index_of_element(all: ObjRef<'_>, value: u64, range: (i32, i32), shift: i32) -> i32 {
    let Some((at, count)) = range_of(all, range, 1 << shift) else {
        return UNKNOWN_ORDER;
    };
    // SAFETY: a part of a vector of such integers, which are aligned; nothing moves during a leaf.
    let found = unsafe {
        match shift {
            0 => find(std::slice::from_raw_parts(at, count), value as u8),
            1 => find(std::slice::from_raw_parts(at.cast(), count), value as u16),
            2 => find(std::slice::from_raw_parts(at.cast(), count), value as u32),
            _ => find(std::slice::from_raw_parts(at.cast(), count), value),
        }
    };
    if found < 0 { -1 } else { range.0 + found }
}

/// `Array.IndexOf` of strings. The class library answers where the comparisons would take too long.
pub(super) fn index_of_string(all: ObjRef<'_>, value: ObjRef<'_>, range: (i32, i32)) -> i32 {
    /// Characters that are compared.
    const MOST: usize = 16 << 10;
    let Some((at, count)) = range_of(all, range, 8) else {
        return UNKNOWN_ORDER;
    };
    let sought = value.non_null().map(ObjRef::units);
    let mut work = 0;
    for i in 0..count {
        // SAFETY: an element of a vector of references; nothing moves during a leaf.
        let element = unsafe { ObjRef::from_addr(*at.cast::<usize>().add(i)) };
        let is_same = match (element.non_null(), sought) {
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
            (Some(element), Some(_)) if element == value => true,
            (Some(element), Some(sought)) => {
                let units = element.units();
                units.len() == sought.len() && {
                    work += sought.len();
                    units == sought
                }
            }
        };
        if is_same {
            return range.0 + i as i32;
        }
        if work > MOST {
            return UNKNOWN_ORDER;
        }
    }
    -1
}

/// Bytes that a leaf copies.
const LEAF_COPY: usize = 16 << 10;

/// `Array.FastCopy` between vectors of one element type, for at most [`LEAF_COPY`] bytes. False: nothing was done.
///
/// Generated code copies few elements without references itself where both vectors are of one class, so that what comes here are references, for which
/// cards are marked, longer copies, and vectors that two domains have made.
pub(super) fn copy_elements(
    (source, from): (ObjRef<'_>, i32),
    (dest, to): (ObjRef<'_>, i32),
    count: i32,
) -> bool {
    let (Some(source), Some(dest)) = (source.non_null(), dest.non_null()) else {
        return false;
    };
    let is_vector = |array: ObjRef<'_>| array.vtable().flags & flags::SZ_ARRAY != 0;
    if !is_vector(source)
        || !is_vector(dest)
        || source.vtable().element_class != dest.vtable().element_class
        || from < 0
        || to < 0
        || count < 0
    {
        return false;
    }
    let (from, to, count) = (from as usize, to as usize, count as usize);
    let size = dest.vtable().size as usize;
    if from + count > source.array_len()
        || to + count > dest.array_len()
        || count * size > LEAF_COPY
    {
        return false;
    }
    let has_refs = dest.vtable().flags & flags::ELEMENT_REFS != 0;
    // SAFETY: both ranges lie within their vectors, whose elements are `size` bytes of one type; nothing moves during a leaf.
    unsafe {
        crate::memory::copy::copy_value(
            dest.array_data().add(to * size),
            source.array_data().add(from * size),
            count * size,
            has_refs,
        );
    }
    true
}

/// `Buffer.InternalBlockCopy`, for at most [`LEAF_COPY`] bytes. False: nothing was done.
pub(super) fn copy_bytes(
    (source, from): (ObjRef<'_>, i32),
    (dest, to): (ObjRef<'_>, i32),
    count: i32,
) -> bool {
    let place = |array: ObjRef<'_>, at: i32| {
        let array = array.non_null()?;
        let element = array.vtable().element_class;
        if element == 0 {
            return None;
        }
        // SAFETY: the word was stored from a `&'static Class` when the VTable was made.
        let prim = unsafe { &*(element as *const vervet_types::Class) }.prim?;
        let length = array.array_len() * array.vtable().size as usize;
        let (at, count) = (usize::try_from(at).ok()?, usize::try_from(count).ok()?);
        let fits = prim != Prim::Void && count <= LEAF_COPY && at + count <= length;
        // SAFETY: the offset lies within the array.
        fits.then(|| unsafe { array.array_data().add(at) })
    };
    let (Some(source), Some(dest)) = (place(source, from), place(dest, to)) else {
        return false;
    };
    // SAFETY: both ranges lie within their arrays, whose elements are primitives; nothing moves during a leaf.
    unsafe { std::ptr::copy(source, dest, count as usize) };
    true
}

/// The element types of vectors that [`sort`] takes are those whose equal values have equal bits: any order of equal elements is then the same order, and the
/// result is that of the class library's introsort, whatever sorts.
///
/// `ArraySortHelper<T>.Sort(T[], int, int, null)` for integers: sorts `count` elements of a vector, from `from` on.
pub(super) fn sort<'cx>(
    cx: &'cx Cx<'cx>,
    array: ObjRef<'cx>,
    from: i32,
    count: i32,
    prim: u32,
) -> Result<()> {
    const I1: u32 = Prim::I1 as u32;
    const U1: u32 = Prim::U1 as u32;
    const I2: u32 = Prim::I2 as u32;
    const U2: u32 = Prim::U2 as u32;
    const CHAR: u32 = Prim::Char as u32;
    const I4: u32 = Prim::I4 as u32;
    const U4: u32 = Prim::U4 as u32;
    const I8: u32 = Prim::I8 as u32;
    const U8: u32 = Prim::U8 as u32;
    let array = cx.non_null(array)?;
    let range = (from, count);
    match prim {
        I1 => sort_as::<i8>(cx, array, range),
        U1 => sort_as::<u8>(cx, array, range),
        I2 => sort_as::<i16>(cx, array, range),
        U2 | CHAR => sort_as::<u16>(cx, array, range),
        I4 => sort_as::<i32>(cx, array, range),
        U4 => sort_as::<u32>(cx, array, range),
        I8 => sort_as::<i64>(cx, array, range),
        U8 => sort_as::<u64>(cx, array, range),
        other => unreachable!("a vector of kind {other} is not sorted here"),
    }
}

/// Sorts a range as elements of type `T`.
///
/// What is sorted is a copy that no other thread sees. The sort of the standard library ends the process if elements change under it, and a program whose
/// threads race gets a badly ordered array at worst. (Where the class library sorts, it may also get an ArgumentException.)
fn sort_as<'cx, T: Ord + Copy + Send>(
    cx: &'cx Cx<'cx>,
    array: ObjRef<'cx>,
    (from, count): (i32, i32),
) -> Result<()> {
    let (from, count) = (from.max(0) as usize, count.max(0) as usize);
    assert!(
        from + count <= array.array_len(),
        "the caller has checked the range"
    );
    let mut copy: Vec<T> = Vec::new();
    if copy.try_reserve_exact(count).is_err() {
        return Err(cx.rt().throw_out_of_memory(cx));
    }
    // The array cannot move while its reference is in a frame of this thread, so its address is good throughout.
    // SAFETY: a vector of such elements, and the range was checked.
    let at = unsafe { array.array_data().cast::<T>().add(from) };
    // SAFETY: there is room for `count` elements, and all of them are written.
    unsafe {
        std::ptr::copy_nonoverlapping(at, copy.as_mut_ptr(), count);
        copy.set_len(count);
    }
    match count * size_of::<T>() > SHORT {
        true => cx.native(|| copy.sort_unstable()),
        false => copy.sort_unstable(),
    }
    // SAFETY: the range that was copied; the elements have no references.
    unsafe { std::ptr::copy_nonoverlapping(copy.as_ptr(), at, count) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_is_finding_the_first() {
        for length in [0usize, 1, 15, 31, 32, 33, 64, 100, 129] {
            let mut all = vec![7u16; length];
            assert_eq!(index_of_char(all.as_ptr(), 8, length as i32), -1);
            for at in (0..length).rev() {
                all[at] = 8;
                assert_eq!(index_of_char(all.as_ptr(), 8, length as i32), at as i32);
            }
            let bytes = vec![1u8; length];
            assert_eq!(
                index_of_byte(bytes.as_ptr(), 1, length as i32),
                if length == 0 { -1 } else { 0 }
            );
            assert_eq!(
                index_of_byte(bytes.as_ptr(), 0x101, length as i32),
                if length == 0 { -1 } else { 0 }
            );
        }
    }

    #[test]
    fn equal_is_equal_in_every_byte() {
        let a: Vec<u8> = (0..100).collect();
        for at in 0..100 {
            let mut b = a.clone();
            assert_eq!(sequence_equal(a.as_ptr(), b.as_ptr(), 100), 1);
            b[at] ^= 1;
            assert_eq!(sequence_equal(a.as_ptr(), b.as_ptr(), 100), 0);
            assert_eq!(sequence_equal(a.as_ptr(), b.as_ptr(), at), 1);
        }
    }
}
