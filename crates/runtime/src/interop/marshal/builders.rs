//! StringBuilder objects and native buffers.
//!
//! # Invariants
//! A buffer has room for the builder's capacity in either encoding, and a terminator behind it that native code does not reach. The builder is
//! read and written through its own methods: how it keeps its text is the class library's matter.
use super::{allocate, strings};
use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use vervet_jit::stubs::native::layout::Encoding;
use vervet_types::{Known, LoadError};

/// Text of a StringBuilder, through its `ToString`.
fn text<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<Vec<u16>> {
    let to_string = cx.known_method(Known::Object, "ToString", 0)?;
    match crate::code::invoke::invoke_virtual(cx, to_string, builder, &[])? {
        Value::Ref(s) if !s.is_null() => Ok(s.units().to_vec()),
        _ => Ok(Vec::new()),
    }
}
/// Calls the method of StringBuilder with that name whose parameters fit `args`; overloads differ by whether a parameter is a string.
fn builder_call<'cx>(
    cx: &'cx Cx<'cx>,
    builder: ObjRef<'cx>,
    name: &str,
    args: &[Value<'cx>],
) -> Result<Value<'cx>> {
    let class = cx.known(Known::StringBuilder);
    let all = cx.load(class.methods())?;
    let string = cx.known(Known::String);
    let fits = |m: &&vervet_types::MethodRef| {
        m.name == name
            && m.sig().is_ok_and(|s| {
                s.params.len() == args.len()
                    && s.params
                        .iter()
                        .zip(args)
                        .all(|(p, a)| !matches!(a, Value::Ref(_)) || std::ptr::eq(*p, string))
            })
    };
    let m = all
        .iter()
        .find(fits)
        .ok_or_else(|| cx.throw_load(LoadError::missing_method(class, name)))?;
    cx.invoke(m, Some(Value::Ref(builder)), args)
}
/// Characters that a StringBuilder can take without growing: what native code may write.
fn capacity<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<usize> {
    match builder_call(cx, builder, "get_Capacity", &[])? {
        Value::Int(n) => Ok(n.max(0) as usize),
        _ => Ok(0),
    }
}

/// A buffer with the builder's text and room for its capacity; 0 for null.
pub fn to_native<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>, encoding: Encoding) -> Result<usize> {
    if builder.is_null() {
        return Ok(0);
    }
    let text = text(cx, builder)?;
    if encoding == Encoding::Utf8 && strings::no_utf8(strings::before_nul(&text)).is_some() {
        let reason = "Failed to convert StringBuilder from utf16 to utf8";
        return Err(cx.throw(Known::ExecutionEngineException, reason));
    }
    let room = capacity(cx, builder)?.max(text.len()) + 1;
    // A UTF-16 unit becomes at most three bytes of UTF-8.
    let unit = if encoding.unit() == 1 { 4 } else { 2 };
    let p = allocate(room * unit + 8);
    let copy = strings::units_to_native(&text, encoding);
    // SAFETY: the buffer has room for the text in either encoding.
    unsafe {
        let n = if encoding.unit() == 1 {
            libc::strlen(copy.cast())
        } else {
            text.len() * 2
        };
        std::ptr::copy_nonoverlapping(copy, p, n);
        strings::free(copy, encoding);
    }
    Ok(p as usize)
}

/// Gives the builder the text of a buffer.
///
/// # Safety
/// The buffer holds a text of that encoding.
pub unsafe fn set_text<'cx>(
    cx: &'cx Cx<'cx>,
    builder: ObjRef<'cx>,
    buffer: *const u8,
    encoding: Encoding,
) -> Result<()> {
    // SAFETY: the caller says so.
    let text = unsafe { strings::units(buffer, encoding) };
    builder_call(cx, builder, "set_Length", &[Value::Int(0)])?;
    let s = cx.alloc_utf16(&text)?;
    builder_call(cx, builder, "Append", &[Value::Ref(s)])?;
    Ok(())
}

/// A new builder with the text of a native string; null for null.
///
/// # Safety
/// `p` is null or a string of that encoding.
pub unsafe fn to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    p: *const u8,
    encoding: Encoding,
) -> Result<ObjRef<'cx>> {
    if p.is_null() {
        return Ok(ObjRef::NULL);
    }
    let class = cx.known(Known::StringBuilder);
    let builder = cx.alloc(class)?;
    builder_call(cx, builder, ".ctor", &[])?;
    // SAFETY: as the caller says.
    unsafe { set_text(cx, builder, p, encoding)? };
    Ok(builder)
}
