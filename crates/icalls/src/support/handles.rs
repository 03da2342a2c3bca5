//! Handles: addresses that managed code carries about, and the GPtrArrays they travel in.
//!
//! # Invariants
//! A handle is the address of something that lives for ever; 0 is none. A GPtrArray (docs/class-library.md#native-structures-that-managed-code-reads) and its data
//! are one malloc'ed block, which managed code frees through `GPtrArrayFree`.
use std::borrow::Cow;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Event, Field, Known, LoadError, Method, MethodRef, Module, Property};

macro_rules! from_handle { ($(#[$doc:meta] $name:ident -> $ty:ty, $what:literal;)*) => { $(
    #[$doc]
    pub fn $name(cx: &Cx<'_>, handle: Handle<$ty>) -> Result<&'static $ty> {
        handle
            .get()
            .ok_or_else(|| cx.throw(Known::ArgumentException, concat!("a null ", $what, " handle")))
    }
)* } }
from_handle! {
    /// The method of a RuntimeMethodHandle's value.
    method -> Method, "method";
    /// The field of a RuntimeFieldHandle's value.
    field -> Field, "field";
    /// The property of a RuntimePropertyHandle's value.
    property -> Property, "property";
    /// The event of a RuntimeEventHandle's value.
    event -> Event, "event";
    /// The module of a RuntimeModule's `_impl`.
    module -> Module, "module";
}

/// The handle in a field of an object of the reflection library (`RuntimeMethodInfo.mhandle` and the like), which the runtime stores when it makes
/// the object.
///
/// # Safety
/// The field at `offset` holds 0 or the address of a `T` that lives for ever.
pub unsafe fn in_object<T>(object: ObjRef<'_>, offset: usize) -> Handle<T> {
    // SAFETY: the caller's promise about the field.
    unsafe { Handle::from_word(object.read(offset)) }
}

/// The method of `class` (an instantiation of the same definition) that corresponds to `method`.
pub fn method_on(
    class: ClassRef,
    method: MethodRef,
) -> std::result::Result<Option<MethodRef>, LoadError> {
    let definition = method.definition();
    let all = class.methods()?;
    Ok(all.iter().copied().find(|m| {
        if definition.rid == 0 {
            std::ptr::eq(m.definition(), definition)
        } else {
            m.rid == definition.rid && m.module() == definition.module()
        }
    }))
}
/// The native GPtrArray.
#[repr(C)]
pub struct GPtrArray {
    /// The elements.
    pub data: *mut usize,
    /// How many.
    pub len: i32,
}

/// `size` malloc'ed bytes, zeroed. Aborts when there are none.
pub fn malloc(size: usize) -> *mut u8 {
    // SAFETY: `calloc` takes numbers; its result is checked below.
    let p = unsafe { libc::calloc(1, size.max(1)) } as *mut u8;
    assert!(!p.is_null(), "out of native memory");
    p
}
/// Frees what [`malloc`] gave (null is fine).
///
/// # Safety
/// `p` is null or came from malloc and is not used any more.
pub unsafe fn free(p: *mut u8) {
    // SAFETY: the caller promises memory of `malloc` that it gives up.
    unsafe { libc::free(p as *mut libc::c_void) }
}
/// A malloc'ed NUL-terminated copy of a text.
pub fn malloc_str(text: &str) -> *mut u8 {
    let p = malloc(text.len() + 1);
    // SAFETY: there is room for the text and its terminator, which calloc wrote.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), p, text.len()) };
    p
}
/// The text of a NUL-terminated string, None for null.
///
/// # Safety
/// `p` is null or a NUL-terminated string.
pub unsafe fn text_at(p: usize) -> Option<String> {
    // SAFETY: the promise of the caller; the text is copied.
    unsafe { borrowed_text_at(p) }.map(Cow::into_owned)
}
/// The same without a copy, if it is UTF-8.
///
/// # Safety
/// `p` is null or a NUL-terminated string that lives as long as what is returned, unchanged.
pub unsafe fn borrowed_text_at<'a>(p: usize) -> Option<Cow<'a, str>> {
    if p == 0 {
        return None;
    }
    // SAFETY: the caller promises a NUL-terminated string at an address that is not 0.
    Some(unsafe { std::ffi::CStr::from_ptr(p as *const libc::c_char) }.to_string_lossy())
}

/// A malloc'ed GPtrArray of these words, which lie behind it in the same block; its address.
pub fn ptr_array(words: &[usize]) -> usize {
    const HEADER: usize = std::mem::size_of::<GPtrArray>();
    // SAFETY: the block has room for the header and the words, and malloc aligns it for both.
    unsafe {
        let array = libc::malloc(HEADER + words.len() * 8) as *mut GPtrArray;
        assert!(!array.is_null(), "out of native memory");
        let data = array.byte_add(HEADER) as *mut usize;
        std::ptr::copy_nonoverlapping(words.as_ptr(), data, words.len());
        array.write(GPtrArray {
            data,
            len: words.len() as i32,
        });
        array as usize
    }
}
