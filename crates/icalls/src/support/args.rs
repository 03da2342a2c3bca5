//! Types of the parameters of internal calls: `out` and `ref` slots, and characters in pinned memory.
use crate::support::error_numbers;
use crate::support::text::{chars_z, path};
use std::ffi::CString;
use std::marker::PhantomData;
use vervet_runtime::code::icall::{AbiTy, IcallArg};
use vervet_runtime::interop::marshal::strings::no_utf8;

/// The address of a slot that managed code passed for an `out` or `ref` parameter, or a pointer to one value.
#[derive(Clone, Copy)]
pub struct Out<'cx, T>(*mut T, PhantomData<&'cx ()>);
impl<T: Copy> Out<'_, T> {
    /// Stores into it; nothing happens for a null address.
    pub fn set(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: managed code passed the address of a slot of that type, which it holds in place during the call.
            unsafe { self.0.write_unaligned(value) }
        }
    }
    /// Reads it.
    pub fn get(self) -> T {
        // SAFETY: managed code passed the address of a slot of that type, which it holds in place during the call.
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
    /// It as a path for the kernel. ERROR_INVALID_NAME for a text with half a pair of surrogates, which has no UTF-8.
    pub fn path(self) -> std::result::Result<CString, i32> {
        let units = self.until_zero();
        match no_utf8(units) {
            None => Ok(path(units)),
            Some(_) => Err(error_numbers::INVALID_NAME),
        }
    }
}
impl IcallArg for Chars<'_> {
    type Abi = usize;
    const TY: AbiTy = AbiTy::I64;
    fn from_abi(abi: usize) -> Self {
        Chars(abi as *const u16, PhantomData)
    }
}
