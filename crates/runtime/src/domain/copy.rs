//! Values that go from one domain to another as copies: strings, boxes of plain values, and vectors of both.
//!
//! [`graph`](super::graph) copies what is made of these. Everything else is serialized by the class library: it may have surrogates, callbacks, or refer across domains.
//!
//! # Invariants
//! * A copy belongs to the current domain altogether: neither it nor anything in it has a VTable of another.
//! * Plain values are those of the core library's classes. A class of any other module may be another one in each domain, whichever domain its module belongs to: the root
//!   domain's own programs are of domain 0, as the class libraries are.
use super::graph;
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_abi::vtable::flags;
use vervet_types::{ClassRef, Known};

/// How an object is copied that refers to no other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaf {
    /// A string.
    Text,
    /// A box.
    Boxed,
    /// A vector of plain values.
    Vector,
}

/// Is it a class of the core library, with no part of another module?
pub(crate) fn is_core(cx: &Cx<'_>, class: ClassRef) -> bool {
    match class.element() {
        Some(element) => is_core(cx, element),
        None => {
            std::ptr::eq(class.module, cx.known(Known::Object).module)
                && (!class.is_inst() || class.args().iter().all(|a| is_core(cx, a)))
        }
    }
}

/// Is it a class of numbers, or one that the serializer writes as one?
pub(super) fn is_plain<'cx>(cx: &'cx Cx<'cx>, class: ClassRef) -> Result<bool> {
    let is = |known| std::ptr::eq(class, cx.known(known));
    Ok(is_core(cx, class)
        && (cx.load(class.stack_prim())?.is_some() || is(Known::DateTime) || is(Known::TimeSpan)))
}

/// How the object is copied, if it refers to no other.
pub(super) fn leaf<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<Leaf>> {
    let vt = object.vtable();
    if vt.flags & flags::STRING != 0 {
        return Ok(Some(Leaf::Text));
    }
    if vt.flags & flags::VALUE_TYPE != 0 {
        return Ok(is_plain(cx, object.class())?.then_some(Leaf::Boxed));
    }
    if vt.flags & flags::SZ_ARRAY == 0 || vt.flags & flags::ELEMENT_REFS != 0 {
        return Ok(None);
    }
    Ok(match object.class().element() {
        Some(element) => is_plain(cx, element)?.then_some(Leaf::Vector),
        None => None,
    })
}

/// Can the object be copied? Null can.
pub fn is_copyable<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<bool> {
    match object.non_null() {
        None => Ok(true),
        Some(object) => match leaf(cx, object)? {
            Some(_) => Ok(true),
            None => graph::is_copyable(cx, object),
        },
    }
}

/// A copy of the object in the current domain. None if it is of another kind, which only a serializer can copy.
pub fn copy<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<Option<ObjRef<'cx>>> {
    let Some(object) = object.non_null() else {
        return Ok(Some(object));
    };
    match leaf(cx, object)? {
        Some(kind) => copy_leaf(cx, object, kind).map(Some),
        None => graph::copy(cx, object),
    }
}

/// A copy of an object of that kind.
pub(super) fn copy_leaf<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    kind: Leaf,
) -> Result<ObjRef<'cx>> {
    match kind {
        // What is read from a stream is `String.Empty`, too.
        Leaf::Text if object.string_len() == 0 => cx.intern(&[]),
        Leaf::Text => cx.alloc_utf16(object.units()),
        // SAFETY: the box holds a value of its class, which has no references; the copy may move neither, as the stack pins it.
        Leaf::Boxed => unsafe { cx.box_value(object.class(), object.value_ptr()) },
        Leaf::Vector => {
            let element = object.class().element().expect("a vector has elements");
            let length = object.array_len();
            let made = cx.alloc_array(element, length)?;
            // SAFETY: both arrays have so many elements of that size, none of which is a reference.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    object.array_data() as *const u8,
                    made.array_data(),
                    length * object.vtable().size as usize,
                );
            }
            Ok(made)
        }
    }
}
