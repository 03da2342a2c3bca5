//! The object model: everything that the collector asks of an object of the CLI is answered from the VTable in its header.
//!
//! ```text
//!   objects of                      descriptor              size                                contents
//!   ------------------------------  ----------------------  ----------------------------------  --------------------------
//!   a class without references      PLAIN                   VTable::size                        Plain
//!   a class with references         FIELDS, or OTHER        the same                            References, by the map
//!     (large, or past word 48)
//!   String                          ITEMS of 2 bytes        characters and a terminator         Plain
//!   an array of plain values        ITEMS                   data offset + length * element      Plain
//!   an array of references          REFERENCES              the same, 8 bytes each              References, every word
//!   an array of structs that hold   OTHER                   the same                            References, by the map of
//!     references                                                                                an element; Ephemerons for
//!                                                                                               arrays of Ephemeron
//! ```
//!
//! # Invariants
//! * A VTable's size, flags, rank and map are constant once an object can refer to it, and VTables are never freed while
//!   an object with them lives. So every answer holds at any time and needs no lock.
//! * An array's length is stored before a collection can look at the array, and never changes.
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_abi::object::*;
use vervet_abi::vtable::flags;
use vervet_heap::{Contents, Descriptor, Model};
use vervet_types::Class;

/// System.Runtime.CompilerServices.Ephemeron: arrays of it are tables of pairs.
static EPHEMERON: AtomicUsize = AtomicUsize::new(0);
/// System.Runtime.ConstrainedExecution.CriticalFinalizerObject.
static CRITICAL: AtomicUsize = AtomicUsize::new(0);

/// Tells the model the two classes it knows by name. Called once at start-up.
pub fn set_known_classes(ephemeron: &'static Class, critical: &'static Class) {
    EPHEMERON.store(ephemeron as *const Class as usize, Ordering::Release);
    CRITICAL.store(critical as *const Class as usize, Ordering::Release);
}

/// The descriptor of a class's objects, whose VTable is this but for that.
pub fn descriptor(vt: &VTable, map: &[u64]) -> Descriptor {
    if vt.flags & flags::STRING != 0 {
        return Descriptor::variable(STRING_CHARS_OFFSET as usize + 2, 2, false);
    }
    if vt.rank == 0 {
        return Descriptor::fixed((vt.size as usize + 7) & !7, map);
    }
    match vt.flags & flags::ELEMENT_REFS != 0 {
        true if vt.size == 8 => Descriptor::variable(data_offset(vt), 8, true),
        true => Descriptor::OTHER,
        false => Descriptor::variable(data_offset(vt), vt.size as usize, false),
    }
}

/// See the module.
pub struct Objects;

#[inline(always)]
fn vtable(header: u64) -> &'static VTable {
    // SAFETY: the low half of a header is the address of a VTable, which lives as long as the object.
    unsafe { &*(header as u32 as usize as *const VTable) }
}

/// The length of a string or an array. It is loaded atomically, because the thread that makes the object may just be storing it.
///
/// # Safety
/// `object` is a string or an array.
#[inline(always)]
unsafe fn length(object: usize) -> usize {
    // SAFETY: strings and arrays have their length at this offset, aligned to 4.
    unsafe {
        (*((object + ARRAY_LENGTH_OFFSET as usize) as *const AtomicU32)).load(Ordering::Relaxed)
            as usize
    }
}

/// Offset of an array's first element.
#[inline(always)]
fn data_offset(vt: &VTable) -> usize {
    if vt.flags & flags::SZ_ARRAY != 0 {
        ARRAY_DATA_OFFSET as usize
    } else {
        md_array_data_offset(vt.rank as u32) as usize
    }
}

/// Calls `visit` for the words of `[base, base + ..)` that `map` names, and that lie in `[from, to)`.
///
/// # Safety
/// The map has a bit for every word of `words`.
#[inline(always)]
unsafe fn visit_map(
    base: usize,
    map: *const u64,
    words: usize,
    from: usize,
    to: usize,
    visit: &mut impl FnMut(usize),
) {
    for i in 0..words.div_ceil(64) {
        // SAFETY: the map has a bit for every word of `words`, so this word of it exists.
        let mut bits = unsafe { *map.add(i) };
        while bits != 0 {
            let at = base + 8 * (64 * i + bits.trailing_zeros() as usize);
            bits &= bits - 1;
            if at >= from && at < to {
                visit(at);
            }
        }
    }
}

// SAFETY: sizes, maps and lengths are those the type system and the allocator laid the object out with.
unsafe impl Model for Objects {
    const LENGTH: usize = {
        assert!(STRING_LENGTH_OFFSET == ARRAY_LENGTH_OFFSET);
        ARRAY_LENGTH_OFFSET as usize
    };
    #[inline(always)]
    fn descriptor(header: u64) -> Descriptor {
        Descriptor::from_bits(vtable(header).descriptor)
    }
    #[inline]
    unsafe fn size(object: usize, header: u64) -> usize {
        let vt = vtable(header);
        let bytes = if vt.rank == 0 && vt.flags & flags::STRING == 0 {
            vt.size as usize
        } else if vt.rank != 0 {
            // SAFETY: a class with a rank is one of arrays.
            data_offset(vt) + unsafe { length(object) } * vt.size as usize
        } else {
            // SAFETY: what has no rank and a variable size is a string.
            STRING_CHARS_OFFSET as usize + 2 * (unsafe { length(object) } + 1)
        };
        (bytes + 7) & !7
    }
    #[inline]
    unsafe fn contents(header: u64) -> Contents {
        let vt = vtable(header);
        if vt.flags & (flags::HAS_REFS | flags::ELEMENT_REFS) == 0 {
            Contents::Plain
        } else if vt.element_class != 0 && vt.element_class == EPHEMERON.load(Ordering::Relaxed) {
            Contents::Ephemerons
        } else {
            Contents::References
        }
    }
    #[inline]
    unsafe fn visit(
        object: usize,
        header: u64,
        from: usize,
        to: usize,
        mut visit: impl FnMut(usize),
    ) {
        let vt = vtable(header);
        // SAFETY: the VTable's map describes its instances, or its elements.
        unsafe {
            if vt.rank == 0 {
                let words = (vt.size as usize).div_ceil(8);
                visit_map(object, vt.ref_map, words, from, to, &mut visit);
                return;
            }
            let size = vt.size as usize;
            let data = object + data_offset(vt);
            let end = data + length(object) * size;
            if size == 8 {
                let (mut at, end) = (from.max(data), to.min(end));
                while at < end {
                    visit(at);
                    at += 8;
                }
                return;
            }
            let first = data + from.saturating_sub(data) / size * size;
            let mut at = first;
            while at < end && at < to {
                visit_map(at, vt.ref_map, size.div_ceil(8), from, to, &mut visit);
                at += size;
            }
        }
    }
    unsafe fn ephemerons(object: usize) -> (usize, usize) {
        // SAFETY: a table of pairs is an array, perhaps of several dimensions; its first word is its header.
        unsafe {
            let vt = vtable((*(object as *const AtomicU64)).load(Ordering::Relaxed));
            (object + data_offset(vt), length(object))
        }
    }
    unsafe fn is_critical(header: u64) -> bool {
        let vt = vtable(header);
        let critical = CRITICAL.load(Ordering::Acquire);
        // SAFETY: `supers` has `depth + 1` classes.
        unsafe { std::slice::from_raw_parts(vt.supers, vt.depth as usize + 1).contains(&critical) }
    }
    fn name(header: u64) -> String {
        // SAFETY: the class word of a VTable is that of a class, which lives for ever.
        unsafe { (*(vtable(header).class as *const Class)).full_name() }
    }
    fn is_plausible(header: u64) -> bool {
        let at = header as u32 as usize;
        at & 15 == 0 && crate::memory::vtable_area::contains(at)
    }
}
