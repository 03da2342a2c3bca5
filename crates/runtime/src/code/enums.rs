//! Names of enums, which generated code asks for before the class library's IL.
//!
//! # How it works
//! The class library lists the names and values of an enum once, in the order of the values, and keeps the list at the Type object (`RuntimeType.GenericCache`). What is
//! looked up here is looked up in that list, by the search that the class library makes in it. Before anyone has asked for a name there is none, and the class library
//! answers. The same holds for the question whether the enum has FlagsAttribute, whose first answer is noted at the class.
//!
//! The methods that these are asked for are the JIT's (`calls/answers.rs` in `vervet-jit`).
//!
//! # Invariants
//! * Each is a leaf: it takes no lock and no memory, and looks at [`MOST`] names at most.
//! * What is answered is what the class library would answer, and the same string.
use crate::code::ordinal;
use crate::object::ObjRef;
use vervet_abi::VTable;
use vervet_abi::object::{ARRAY_DATA_OFFSET, HEADER_SIZE};
use vervet_types::Prim;

/// How many names a leaf looks at.
const MOST: usize = 500;

/// Where the list is: the class of the object that has it, and offsets, 16 bits each: of the field of the Type object, and of the vectors of values and of names.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) class: usize,
    pub(super) offsets: u64,
}

/// The list of an enum: values and names.
///
/// The vectors are the class library's own, which no program sees: `Enum.GetValues` and `GetNames` give copies. They are as long as each other, and
/// sorted by value as unsigned numbers of 64 bits, so that a negative value follows the others.
struct Names<'a> {
    values: &'a [u64],
    names: ObjRef<'a>,
}

impl<'a> Names<'a> {
    /// The list of the enum with that VTable; None: there is none yet, or it is too long.
    fn of(vt: &VTable, places: Places) -> Option<Names<'a>> {
        let root = vt.type_root.load(std::sync::atomic::Ordering::Acquire);
        if root == 0 {
            return None;
        }
        let [cache, values, names] =
            [0, 16, 32].map(|shift| usize::from((places.offsets >> shift) as u16));
        // SAFETY: a root slot is never freed, and holds a Type object or null.
        let of_type = unsafe { ObjRef::from_addr(*(root as *const usize)) };
        let list = of_type.non_null()?.read_ref(cache).non_null()?;
        if list.vtable().class != places.class {
            return None;
        }
        let (values, names) = (
            list.read_ref(values).non_null()?,
            list.read_ref(names).non_null()?,
        );
        let values: &[u64] = values.elements::<u64>();
        (values.len() == names.array_len() && values.len() <= MOST)
            .then_some(Names { values, names })
    }

    /// A name.
    fn name(&self, i: usize) -> ObjRef<'a> {
        self.names.read_ref(ARRAY_DATA_OFFSET as usize + 8 * i)
    }
}

/// The value in the box of an enum, extended as the class library does it. None: the type under the enum is none of the eight integers.
fn value_of(boxed: ObjRef<'_>) -> Option<u64> {
    let at = HEADER_SIZE as usize;
    let is = |prim: Prim| boxed.vtable().element_type == prim as u8;
    Some(match () {
        _ if is(Prim::I4) => boxed.read::<i32>(at) as u64,
        _ if is(Prim::U1) => u64::from(boxed.read::<u8>(at)),
        _ if is(Prim::I8) || is(Prim::U8) => boxed.read::<u64>(at),
        _ if is(Prim::U4) => u64::from(boxed.read::<u32>(at)),
        _ if is(Prim::I2) => boxed.read::<i16>(at) as u64,
        _ if is(Prim::U2) => u64::from(boxed.read::<u16>(at)),
        _ if is(Prim::I1) => boxed.read::<i8>(at) as u64,
        _ => return None,
    })
}

/// Where a value is: the middle of what is left, again and again. Of values that are equal, another search would find another one.
fn search(values: &[u64], value: u64) -> Option<usize> {
    let (mut low, mut high) = (0, values.len());
    while low < high {
        // The class library's upper limit is inclusive.
        let middle = low + (high - 1 - low) / 2;
        match values[middle].cmp(&value) {
            std::cmp::Ordering::Equal => return Some(middle),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

/// The helper `EnumName`. Null: not known here.
pub(super) fn name(boxed: ObjRef<'_>, places: Places) -> ObjRef<'_> {
    let known = || {
        let boxed = boxed.non_null()?;
        if boxed.class().has_flags_attribute()? {
            return None;
        }
        let list = Names::of(boxed.vtable(), places)?;
        Some(list.name(search(list.values, value_of(boxed)?)?))
    };
    known().unwrap_or(ObjRef::NULL)
}

/// The helper `EnumNumber`. False: not known here, and nothing was written.
///
/// # Safety
/// `to` is null, or may be written as a value of the enum.
pub(super) unsafe fn number(
    (vt, places): (&VTable, Places),
    text: ObjRef<'_>,
    ignores_case: bool,
    to: *mut u8,
) -> bool {
    let known = || {
        let text = text.non_null()?.units();
        // The ends are no white space, the first is none of a number, and there is one name.
        let is_plain = |c: &u16| (0x21..0x7F).contains(c);
        let (first, last) = (text.first()?, text.last()?);
        let is_number = |c: &u16| matches!(u8::try_from(*c), Ok(b'0'..=b'9' | b'-' | b'+'));
        if !is_plain(first) || !is_plain(last) || is_number(first) || to.is_null() {
            return None;
        }
        if text.contains(&u16::from(b',')) {
            return None;
        }
        let list = Names::of(vt, places)?;
        for (i, value) in list.values.iter().enumerate() {
            let name = list.name(i).non_null()?.units();
            let is_same = match ignores_case {
                true => ordinal::order(name, text)? == 0,
                false => name == text,
            };
            if is_same {
                return Some(*value);
            }
        }
        None
    };
    let Some(value) = known() else {
        return false;
    };
    // SAFETY: as the caller promises; an enum has one of four sizes, and the low bytes are the value.
    unsafe {
        match vt.size - HEADER_SIZE {
            1 => to.write(value as u8),
            2 => to.cast::<u16>().write_unaligned(value as u16),
            4 => to.cast::<u32>().write_unaligned(value as u32),
            8 => to.cast::<u64>().write_unaligned(value),
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::search;

    #[test]
    fn of_equal_values_the_middle_one_is_found() {
        assert_eq!(search(&[], 1), None);
        assert_eq!(search(&[1, 1, 1, 1], 1), Some(1));
        assert_eq!(search(&[0, 1, 1, 5], 1), Some(1));
        assert_eq!(search(&[0, 0, 1, 5, 5], 5), Some(3));
        for n in 0..20u64 {
            let all: Vec<u64> = (0..n).map(|i| 2 * i).collect();
            for value in 0..2 * n + 2 {
                let want = all.iter().position(|v| *v == value);
                assert_eq!(search(&all, value), want);
            }
        }
    }
}
