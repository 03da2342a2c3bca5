//! `UnmanagedType.AsAny`: what native code gets depends on the object that is passed.
//!
//! | object | native form |
//! |---|---|
//! | null | 0 |
//! | string | a copy, as the CharSet says |
//! | boxed value, object of a formatted class | a block of its native layout |
//! | anything else | ArgumentException |
//!
//! # Invariants
//! The block belongs to the call. `[Out]` copies it back into the same object, which the stub's frame pins.
use super::{allocate, release, strings, structs};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use vervet_jit::stubs::native::layout::{Encoding, NativeLayout, native_layout};
use vervet_jit::stubs::native::marshal_spec::CharSet;
use vervet_types::Known;

fn encoding(char_set: CharSet) -> Encoding {
    match char_set {
        CharSet::Unicode => Encoding::Utf16,
        CharSet::Ansi => Encoding::Utf8,
    }
}

/// The layout of an object that is no string; an ArgumentException if it has none.
fn layout<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<&'static NativeLayout> {
    let class = object.class();
    if class.flags & 0x18 != 0 && !class.is_array() {
        let layout = cx.load(native_layout(class))?;
        if layout.unsupported.is_none() {
            return Ok(layout);
        }
    }
    let text = "No PInvoke conversion exists for value passed to Object-typed parameter.";
    Err(cx.throw(Known::ArgumentException, text))
}

fn is_string(cx: &Cx<'_>, object: ObjRef<'_>) -> bool {
    std::ptr::eq(object.class(), cx.known(Known::String))
}

/// The native form, filled if the parameter is an `input`.
pub fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    char_set: CharSet,
    object: ObjRef<'cx>,
    input: bool,
) -> Result<usize> {
    if object.is_null() {
        return Ok(0);
    }
    if is_string(cx, object) {
        return Ok(strings::to_native(cx, object, encoding(char_set))? as usize);
    }
    let layout = layout(cx, object)?;
    let block = allocate(layout.size as usize);
    if input {
        // SAFETY: the object is of the layout's class; the block has its native size.
        unsafe { structs::to_native(cx, layout, object.value_ptr(), block)? };
    }
    Ok(block as usize)
}

/// After the call: copies back if `output`, and frees.
pub fn back<'cx>(
    cx: &'cx Cx<'cx>,
    char_set: CharSet,
    object: ObjRef<'cx>,
    native: usize,
    output: bool,
) -> Result<()> {
    if object.is_null() || native == 0 {
        return Ok(());
    }
    let block = native as *mut u8;
    if is_string(cx, object) {
        // SAFETY: `to_native` made the copy for this call, which is over.
        unsafe { strings::free(block, encoding(char_set)) };
        return Ok(());
    }
    let layout = layout(cx, object)?;
    // SAFETY: `to_native` made the block, of this layout, for this call, which is over.
    unsafe {
        if output {
            structs::to_managed(cx, layout, block, object.value_ptr())?;
        }
        structs::free(layout, block);
        release(block);
    }
    Ok(())
}
