//! Signatures as bytes: types and methods, and descriptions of arrays.
//!
//! # How it works
//! A host has the address of a signature and not its length. So [`Walk`] finds first where it ends; the bytes up to there are read as any signature is.
//!
//! # Invariants
//! * Nothing behind the end of a signature is read.
//! * Types and signatures live for ever. A `MonoArrayType` does, too, unless [`mono_metadata_parse_array`] made it.
use crate::support::{Bool, ClassP, ImageP, SigP, set};
use crate::tables::compressed;
use rustc_hash::FxHashMap;
use std::ffi::{c_int, c_void};
use vervet_metadata::{CallConvKind, SigReader, SigType};
use vervet_os::LeafLock;
use vervet_runtime::rt;
use vervet_types::{ClassKind, GenericContext, Known, MethodSig, Module, Scope};

/// A `MonoCustomMod`: the lowest bit says whether it is required, the others are the token.
#[repr(C)]
pub struct Modifier {
    bits: u32,
}
/// A `MonoArrayType`.
#[repr(C)]
pub struct ArrayType {
    element: ClassP,
    rank: u8,
    size_count: u8,
    bound_count: u8,
    sizes: *mut c_int,
    bounds: *mut c_int,
}

/// The scope of a module's tokens outside of any generic type.
pub fn scope(module: &'static Module) -> Scope {
    Scope {
        module,
        context: GenericContext::default(),
        dynamic: None,
    }
}

/// Goes over a signature.
struct Walk(*const u8);
impl Walk {
    /// # Safety
    /// A signature goes on here; so for all of this.
    unsafe fn byte(&mut self) -> u8 {
        // SAFETY: the caller's promise.
        unsafe {
            self.0 = self.0.add(1);
            *self.0.sub(1)
        }
    }
    /// # Safety
    /// As for `byte`.
    unsafe fn number(&mut self) -> u32 {
        // SAFETY: the caller's promise.
        let (number, length) = unsafe { compressed(self.0) };
        // SAFETY: the number has been read.
        self.0 = unsafe { self.0.add(length) };
        number
    }
    /// # Safety
    /// As for `byte`.
    unsafe fn types(&mut self, count: u32) {
        for _ in 0..count {
            // SAFETY: the caller's promise.
            unsafe { self.ty() };
        }
    }
    /// # Safety
    /// As for `byte`.
    unsafe fn ty(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            loop {
                match self.byte() {
                    // Pointers, by-ref types, arrays, what is pinned; the sentinel: another type follows.
                    0x0f | 0x10 | 0x1d | 0x41 | 0x45 => continue,
                    0x1f | 0x20 => {
                        self.number();
                        continue;
                    }
                    0x11 | 0x12 | 0x13 | 0x1e => {
                        self.number();
                    }
                    0x14 => {
                        self.ty();
                        self.shape();
                    }
                    0x15 => {
                        self.ty();
                        let count = self.number();
                        self.types(count);
                    }
                    0x1b => self.method(),
                    _ => {}
                }
                return;
            }
        }
    }
    /// # Safety
    /// As for `byte`.
    unsafe fn shape(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            self.number();
            for _ in 0..2 {
                for _ in 0..self.number() {
                    self.number();
                }
            }
        }
    }
    /// # Safety
    /// As for `byte`.
    unsafe fn method(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.byte() & 0x10 != 0 {
                self.number();
            }
            let count = self.number();
            self.types(count + 1);
        }
    }
}
/// The bytes that `walk` goes over; where they end goes to `end`.
///
/// # Safety
/// What `walk` reads lies there; `end` is null or a variable.
unsafe fn bytes<'b>(at: *const u8, end: *mut *const u8, walk: impl FnOnce(&mut Walk)) -> &'b [u8] {
    let mut over = Walk(at);
    walk(&mut over);
    // SAFETY: the caller's promise.
    unsafe {
        set(end, over.0);
        std::slice::from_raw_parts(at, over.0.offset_from_unsigned(at))
    }
}

/// # Safety
/// A type lies there; `end` is null or a variable.
unsafe fn parse(image: ImageP, at: *const u8, end: *mut *const u8) -> ClassP {
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes(at, end, |walk| walk.ty()) };
    let raw = SigReader::new(bytes).ty().ok()?;
    scope(image?).type_in_signature(&raw).ok()
}

/// So many numbers, for `free`.
fn numbers(list: &[c_int]) -> *mut c_int {
    if list.is_empty() {
        return std::ptr::null_mut();
    }
    let made: Box<[c_int]> = list.into();
    Box::into_raw(made).cast()
}
/// # Safety
/// They come from [`numbers`], and nobody else has them.
unsafe fn free_numbers(list: *mut c_int, count: u8) {
    if !list.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(list, count.into())) });
    }
}

static ARRAYS: LeafLock<Option<FxHashMap<u32, usize>>> = LeafLock::new(None);

query_api! {
    fn mono_metadata_parse_typedef_or_ref(_image: ImageP, at: *const u8, end: *mut *const u8) -> u32 {
        let mut walk = Walk(at);
        let coded = walk.number();
        set(end, walk.0);
        [0x0200_0000, 0x0100_0000, 0x1b00_0000, 0][(coded & 3) as usize] | coded >> 2
    }
    /// 1, and the modifier; 0 if there is none.
    fn mono_metadata_parse_custom_mod(_image: ImageP, to: *mut Modifier, at: *const u8, end: *mut *const u8) -> c_int {
        let kind = *at;
        if !matches!(kind, 0x1f | 0x20) {
            set(end, at);
            return 0;
        }
        let mut walk = Walk(at.add(1));
        let coded = walk.number();
        let token = [0x0200_0000, 0x0100_0000, 0x1b00_0000, 0][(coded & 3) as usize] | coded >> 2;
        set(to, Modifier { bits: token << 1 | u32::from(kind == 0x1f) });
        set(end, walk.0);
        1
    }
    fn mono_metadata_parse_type(image: ImageP, _mode: c_int, _attributes: i16, at: *const u8, end: *mut *const u8) -> ClassP { parse(image, at, end) }
    fn mono_metadata_parse_param(image: ImageP, at: *const u8, end: *mut *const u8) -> ClassP { parse(image, at, end) }
    fn mono_metadata_parse_field_type(image: ImageP, _flags: i16, at: *const u8, end: *mut *const u8) -> ClassP { parse(image, at, end) }
    fn mono_metadata_parse_method_signature(image: ImageP, _definition: c_int, at: *const u8, end: *mut *const u8) -> SigP {
        let bytes = bytes(at, end, |walk| walk.method());
        let raw = SigReader::new(bytes).method().ok()?;
        scope(image?).method_signature(&raw).ok()
    }
    /// The element's type and the shape; `mono_metadata_free_array` frees it.
    fn mono_metadata_parse_array(image: ImageP, at: *const u8, end: *mut *const u8) -> *mut ArrayType {
        let mut over = Walk(at);
        over.ty();
        over.shape();
        set(end, over.0);
        let array = [&[0x14], std::slice::from_raw_parts(at, over.0.offset_from_unsigned(at))].concat();
        let Ok(SigType::Array(form)) = SigReader::new(&array).ty() else { return std::ptr::null_mut() };
        let sizes: Vec<c_int> = form.sizes.iter().map(|s| *s as c_int).collect();
        Box::into_raw(Box::new(ArrayType {
            element: image.and_then(|i| scope(i).type_in_signature(&form.elem).ok()),
            rank: form.rank as u8,
            size_count: sizes.len() as u8,
            bound_count: form.lo_bounds.len() as u8,
            sizes: numbers(&sizes),
            bounds: numbers(&form.lo_bounds),
        }))
    }
    fn mono_metadata_free_array(array: *mut ArrayType) {
        if !array.is_null() {
            let array = Box::from_raw(array);
            free_numbers(array.sizes, array.size_count);
            free_numbers(array.bounds, array.bound_count);
        }
    }
    /// Types keep no bounds: those that compilers write, 0 in each dimension.
    fn mono_type_get_array_type(ty: ClassP) -> *const ArrayType {
        let Some(ty) = ty else { return std::ptr::null() };
        let (element, rank) = match &ty.kind {
            ClassKind::Array { elem, rank } => (*elem, *rank as u8),
            ClassKind::SzArray(elem) => (*elem, 1),
            _ => return std::ptr::null(),
        };
        let mut all = ARRAYS.lock();
        let made = all.get_or_insert_default().entry(ty.id).or_insert_with(|| {
            let bounds = numbers(&vec![0; rank.into()]);
            let made = ArrayType { element: Some(element), rank, size_count: 0, bound_count: rank, sizes: std::ptr::null_mut(), bounds };
            Box::into_raw(Box::new(made)) as usize
        });
        *made as *const ArrayType
    }
    /// A signature of so many parameters, of no type yet.
    fn mono_metadata_signature_alloc(_image: ImageP, count: u32) -> SigP {
        let void = rt().universe.known(Known::Void);
        Some(Box::leak(Box::new(MethodSig {
            has_this: false,
            explicit_this: false,
            call_conv: CallConvKind::Default,
            generic_arity: 0,
            ret: void,
            params: vec![void; count as usize],
            sentinel: None,
        })))
    }
    fn mono_metadata_generic_class_is_valuetype(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.is_value_type().unwrap_or(false))) }
    /// A parameter is its class.
    fn mono_class_from_generic_parameter(param: ClassP, _image: ImageP, _of_method: Bool) -> ClassP { param }
    /// What a token names: a type, method or field, and the class of its handle.
    fn mono_ldtoken(image: ImageP, token: u32, handle: *mut ClassP, _context: *const c_void) -> *const c_void {
        use vervet_types::TokenTarget::{Field, Method, Type};
        let target = image.and_then(|i| scope(i).token(vervet_types::Token(token)).ok());
        let (found, name): (*const c_void, _) = match target {
            Some(Type(class)) => (std::ptr::from_ref(class).cast(), "RuntimeTypeHandle"),
            Some(Method(method)) => (std::ptr::from_ref(method).cast(), "RuntimeMethodHandle"),
            Some(Field(field)) => (std::ptr::from_ref(field).cast(), "RuntimeFieldHandle"),
            None => return std::ptr::null(),
        };
        set(handle, crate::classes::by_name(rt().universe.corlib(), "System", name, false));
        found
    }
}
