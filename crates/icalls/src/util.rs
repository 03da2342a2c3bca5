//! What the icalls share: strings behind pointers, exceptions by name, out parameters.
use std::ffi::CString;
use std::marker::PhantomData;
use vervet_runtime::cx::{Cx, Result, Throw};
use vervet_runtime::icall::{AbiTy, IcallArg};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, FieldRef, Known, LoadError};

/// The address of a slot that managed code passed for an `out` or `ref` parameter, or a pointer to one value.
#[derive(Clone, Copy)]
pub struct Out<'cx, T>(*mut T, PhantomData<&'cx ()>);
impl<T: Copy> Out<'_, T> {
    /// Stores into it; nothing happens for a null address.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: managed code passed the address of a slot of that type.
            unsafe { self.0.write_unaligned(value) }
        }
    }
    /// Reads it.
    pub fn get(self) -> T {
        // SAFETY: as above.
        unsafe { self.0.read_unaligned() }
    }
    /// The address.
    pub fn ptr(self) -> *mut T {
        self.0
    }
}
impl<T> IcallArg for Out<'_, T> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        Out(abi as *mut T, PhantomData)
    }
}

/// A `char*` that managed code passed from pinned memory.
#[derive(Clone, Copy)]
pub struct Chars<'cx>(*const u16, PhantomData<&'cx ()>);
impl<'cx> Chars<'cx> {
    /// Is it null?
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
    /// The address.
    pub fn ptr(self) -> *const u16 {
        self.0
    }
    /// Its first `len` units; none for null or a negative length.
    pub fn take(self, len: i32) -> &'cx [u16] {
        if self.0.is_null() || len <= 0 {
            return &[];
        }
        // SAFETY: managed code passed the number of units that lie there.
        unsafe { std::slice::from_raw_parts(self.0, len as usize) }
    }
    /// Its units up to a zero; none for null.
    pub fn until_zero(self) -> &'cx [u16] {
        // SAFETY: managed strings end in a zero unit.
        unsafe { chars_z(self.0) }
    }
    /// It as a path for the kernel.
    pub fn path(self) -> CString {
        path(self.until_zero())
    }
}
impl IcallArg for Chars<'_> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        Chars(abi as *const u16, PhantomData)
    }
}

/// UTF-16 units up to a zero; null gives none.
///
/// # Safety
/// `p` is null or points to zero-terminated units that stay there while the slice is used.
pub unsafe fn chars_z<'a>(p: *const u16) -> &'a [u16] {
    if p.is_null() {
        return &[];
    }
    // SAFETY: the caller promises a terminator.
    unsafe {
        let mut n = 0;
        while *p.add(n) != 0 {
            n += 1;
        }
        std::slice::from_raw_parts(p, n)
    }
}
/// A text from units; lone surrogates become U+FFFD.
pub fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units)
}
/// A path for the kernel; it ends at the first zero unit.
pub fn path(units: &[u16]) -> CString {
    let mut bytes = text(units).into_bytes();
    if let Some(end) = bytes.iter().position(|b| *b == 0) {
        bytes.truncate(end);
    }
    CString::new(bytes).expect("zeros were cut off")
}
/// The text of a NUL-terminated byte string, undecodable bytes as U+FFFD.
///
/// # Safety
/// `p` points to a NUL-terminated string.
pub unsafe fn utf8_z(p: *const u8) -> String {
    // SAFETY: the caller's promise.
    unsafe { std::ffi::CStr::from_ptr(p.cast()) }
        .to_string_lossy()
        .into_owned()
}
/// A class of the core library by name.
pub fn corlib_class(cx: &Cx<'_>, namespace: &str, name: &str) -> Result<ClassRef> {
    let corlib = cx.universe().corlib();
    let found = cx.load(corlib.find_type(namespace, name))?;
    match found {
        Some(c) => Ok(c),
        None => Err(cx.throw(
            Known::TypeLoadException,
            &format!("Could not load type '{namespace}.{name}'."),
        )),
    }
}
/// NotSupportedException.
pub fn not_supported(cx: &Cx<'_>, message: &str) -> Throw {
    cx.throw(Known::NotSupportedException, message)
}
/// An instance field of a class or one of its ancestors, and its offset in the object.
pub fn field_offset(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<usize> {
    let f = find_field(cx, class, name)?;
    Ok(cx.load(f.offset())? as usize + vervet_abi::HEADER_SIZE as usize)
}
/// A field of a class or one of its ancestors.
pub fn find_field(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<FieldRef> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(f) = cx.load(c.find_field(name))? {
            return Ok(f);
        }
        at = cx.load(c.parent())?;
    }
    Err(cx.throw_load(LoadError::missing_field(class, name)))
}
/// Sets a reference field by name.
pub fn set_ref<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    name: &str,
    value: ObjRef<'cx>,
) -> Result<()> {
    object.write_ref(field_offset(cx, object.class(), name)?, value);
    Ok(())
}
/// Sets a bool field by name.
pub fn set_bool<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, name: &str, value: bool) -> Result<()> {
    object.write(field_offset(cx, object.class(), name)?, u8::from(value));
    Ok(())
}
/// Sets an int field by name.
pub fn set_i32<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, name: &str, value: i32) -> Result<()> {
    object.write(field_offset(cx, object.class(), name)?, value);
    Ok(())
}
/// Reads a string field by name; None if it is null.
pub fn string_field<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    name: &str,
) -> Result<Option<String>> {
    let s = object.read_ref(field_offset(cx, object.class(), name)?);
    Ok(if s.is_null() { None } else { Some(s.text()) })
}
/// A string array from texts.
pub fn string_array<'cx, S: AsRef<str>>(cx: &'cx Cx<'cx>, items: &[S]) -> Result<ObjRef<'cx>> {
    cx.alloc_ref_array(cx.known(Known::String), items.len(), |i| {
        cx.alloc_str(items[i].as_ref())
    })
}
/// A byte array.
pub fn byte_array<'cx>(cx: &'cx Cx<'cx>, bytes: &[u8]) -> Result<ObjRef<'cx>> {
    let a = cx.alloc_array(cx.known(Known::Byte), bytes.len())?;
    // SAFETY: the array has just been made with that many bytes.
    unsafe {
        vervet_runtime::heap::move_bytes(cx, a.array_data(), bytes.as_ptr(), bytes.len(), false);
    }
    Ok(a)
}
/// The calling thread's errno.
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
/// Repeats a call that EINTR broke off.
pub fn retry(mut call: impl FnMut() -> isize) -> isize {
    loop {
        let r = call();
        if r != -1 || errno() != libc::EINTR {
            return r;
        }
    }
}
