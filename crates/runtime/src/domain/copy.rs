//! Values that go from one domain to another as copies: strings, boxes of plain values, and arrays of both.
//!
//! Everything else is serialized by the class library: an object graph would need an identity map, and surrogates for what refers across domains.
//!
//! # Invariants
//! A copy belongs to the current domain altogether: neither it nor anything in it has a VTable of another.
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_abi::vtable::flags;
use vervet_types::Known;

/// Can the object be copied? Strings can, boxes and vectors of numbers, and vectors of strings; null can. Numbers are those of classes that all domains share: an enumeration of
/// the program's is another in each domain.
pub fn is_copyable<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<bool> {
    let Some(object) = object.non_null() else {
        return Ok(true);
    };
    let vt = object.vtable();
    if vt.flags & flags::STRING != 0 {
        return Ok(true);
    }
    let number = match vt.flags & flags::VALUE_TYPE != 0 {
        true => Some(object.class()),
        false => object
            .class()
            .element()
            .filter(|_| vt.flags & flags::SZ_ARRAY != 0),
    };
    let Some(number) = number else {
        return Ok(false);
    };
    let is_string = std::ptr::eq(number, cx.known(Known::String));
    Ok(is_string || number.module.owner == 0 && cx.load(number.stack_prim())?.is_some())
}

/// A copy of the object in the current domain: the text of a string, the value in a box, the elements of a vector. None if it is of another kind, which
/// only a serializer can copy.
pub fn copy<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    if !is_copyable(cx, object)? {
        return Ok(None);
    }
    let Some(object) = object.non_null() else {
        return Ok(Some(object));
    };
    let vt = object.vtable();
    if vt.flags & flags::STRING != 0 {
        return cx.alloc_utf16(object.units()).map(Some);
    }
    let Some(element) = object.class().element() else {
        // SAFETY: the box holds a value of its class, which has no references; the copy may move neither, as the stack pins it.
        return unsafe { cx.box_value(object.class(), object.value_ptr()) }.map(Some);
    };
    let length = object.array_len();
    let made = cx.alloc_array(element, length)?;
    if vt.flags & flags::ELEMENT_REFS == 0 {
        // SAFETY: both arrays have so many elements of that size, none of which is a reference.
        unsafe {
            std::ptr::copy_nonoverlapping(
                object.array_data() as *const u8,
                made.array_data(),
                length * vt.size as usize,
            );
        }
        return Ok(Some(made));
    }
    for i in 0..length {
        if let Some(text) = object.element_ref(i).non_null() {
            let text = cx.alloc_utf16(text.units())?;
            made.set_element_ref(i, text);
        }
    }
    Ok(Some(made))
}
