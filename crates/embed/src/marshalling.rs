//! How arguments and fields are marshalled: descriptions in the metadata (ECMA-335 II.23.4), and what a type becomes.
//!
//! # Invariants
//! A `MonoMarshalSpec` lives until the host frees it, and so do its texts.
use crate::support::{Bool, ClassP, ImageP, set};
use crate::tables::compressed;
use std::ffi::{c_char, c_int};
use vervet_metadata::Table;
use vervet_types::{ClassRef, Known, Module, Token};

/// A `MonoMarshalSpec`.
#[repr(C)]
pub struct Spec {
    native: c_int,
    data: SpecData,
}
#[repr(C)]
union SpecData {
    array: ArraySpec,
    custom: CustomSpec,
    safe_array: SafeArraySpec,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct ArraySpec {
    element: c_int,
    count: i32,
    parameter: i16,
    times: i16,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct CustomSpec {
    name: *mut c_char,
    cookie: *mut c_char,
    image: ImageP,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct SafeArraySpec {
    element: c_int,
    count: i32,
}

/// Native types.
mod native {
    pub const BOOLEAN: i32 = 0x02;
    pub const I1: i32 = 0x03;
    pub const U1: i32 = 0x04;
    pub const U2: i32 = 0x06;
    pub const BSTR: i32 = 0x13;
    pub const LPSTR: i32 = 0x14;
    pub const LPWSTR: i32 = 0x15;
    pub const LPTSTR: i32 = 0x16;
    pub const BY_VAL_STRING: i32 = 0x17;
    pub const IUNKNOWN: i32 = 0x19;
    pub const IDISPATCH: i32 = 0x1a;
    pub const STRUCT: i32 = 0x1b;
    pub const INTERFACE: i32 = 0x1c;
    pub const SAFE_ARRAY: i32 = 0x1d;
    pub const BY_VAL_ARRAY: i32 = 0x1e;
    pub const INT: i32 = 0x1f;
    pub const UINT: i32 = 0x20;
    pub const ANSI_BSTR: i32 = 0x23;
    pub const TBSTR: i32 = 0x24;
    pub const VARIANT_BOOL: i32 = 0x25;
    pub const FUNC: i32 = 0x26;
    pub const LP_ARRAY: i32 = 0x2a;
    pub const CUSTOM: i32 = 0x2c;
    pub const UTF8: i32 = 0x30;
}
/// Conversions (`MonoMarshalConv`), by name.
mod by {
    pub const NONE: i32 = 0;
    pub const VARIANT_BOOL: i32 = 1;
    pub const BOOL_I4: i32 = 2;
    pub const BSTR: i32 = 3;
    pub const LPSTR: i32 = 4;
    pub const LPWSTR: i32 = 7;
    pub const LPTSTR: i32 = 9;
    pub const ANSI_BSTR: i32 = 10;
    pub const TBSTR: i32 = 11;
    pub const BY_VAL_STRING: i32 = 12;
    pub const BY_VAL_WIDE_STRING: i32 = 13;
    pub const BY_VAL_ARRAY: i32 = 20;
    pub const BY_VAL_CHARACTERS: i32 = 21;
    pub const SAFE_ARRAY: i32 = 22;
    pub const LP_ARRAY: i32 = 23;
    pub const INTERFACE: i32 = 25;
    pub const IDISPATCH: i32 = 26;
    pub const IUNKNOWN: i32 = 27;
    pub const STRUCT: i32 = 28;
    pub const DELEGATE: i32 = 29;
    pub const SAFE_HANDLE: i32 = 33;
    pub const HANDLE_REF: i32 = 34;
    pub const UTF8: i32 = 35;
}

/// Reads a description that its blob's length ends.
struct Reader {
    at: *const u8,
    end: *const u8,
}
impl Reader {
    fn more(&self) -> bool {
        self.at < self.end
    }
    /// # Safety
    /// There is more, or the description is cut off where bytes of the heap follow; so for all of this.
    unsafe fn number(&mut self) -> u32 {
        // SAFETY: the caller's promise.
        unsafe {
            let (number, length) = compressed(self.at);
            self.at = self.at.add(length);
            number
        }
    }
    /// The number that stands there, or another if nothing does.
    ///
    /// # Safety
    /// As for `number`.
    unsafe fn number_or(&mut self, other: i32) -> i32 {
        match self.more() {
            // SAFETY: the caller's promise.
            true => (unsafe { self.number() }) as i32,
            false => other,
        }
    }
    /// # Safety
    /// As for `number`.
    unsafe fn text(&mut self) -> *mut c_char {
        // SAFETY: the caller's promise.
        unsafe {
            let length = self.number() as usize;
            let bytes = std::slice::from_raw_parts(self.at, length);
            self.at = self.at.add(length);
            crate::support::new_bytes(bytes).cast()
        }
    }
    /// # Safety
    /// As for `number`.
    unsafe fn skip_text(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            let length = self.number() as usize;
            self.at = self.at.add(length);
        }
    }
}

/// The description in a blob, with its length before it.
///
/// # Safety
/// Such a blob lies there.
unsafe fn parse(image: ImageP, blob: *const u8) -> *mut Spec {
    // SAFETY: the caller's promise.
    unsafe {
        let (length, of_length) = compressed(blob);
        let start = blob.add(of_length);
        let mut reader = Reader {
            at: start,
            end: start.add(length as usize),
        };
        let native = reader.number() as c_int;
        let array = |element, count, parameter, times| SpecData {
            array: ArraySpec {
                element,
                count,
                parameter,
                times,
            },
        };
        let data = match native {
            native::LP_ARRAY => {
                let element = reader.number_or(0);
                let parameter = reader.number_or(0) as i16;
                let count = reader.number_or(-1);
                array(element, count, parameter, reader.number_or(-1) as i16)
            }
            native::BY_VAL_STRING | native::BY_VAL_ARRAY => array(0, reader.number_or(0), 0, 0),
            native::CUSTOM => {
                // An identity and the name of a native type, which nobody uses.
                reader.skip_text();
                reader.skip_text();
                let (name, cookie) = (reader.text(), reader.text());
                SpecData {
                    custom: CustomSpec {
                        name,
                        cookie,
                        image,
                    },
                }
            }
            native::SAFE_ARRAY => {
                let element = reader.number_or(0);
                SpecData {
                    safe_array: SafeArraySpec {
                        element,
                        count: reader.number_or(0),
                    },
                }
            }
            _ => array(0, 0, 0, 0),
        };
        Box::into_raw(Box::new(Spec { native, data }))
    }
}

/// The blob of a field or parameter, with its length before it; rows count from 0.
fn blob_of(image: &Module, row: u32, of_field: bool) -> Option<*const u8> {
    let table = if of_field { Table::Field } else { Table::Param };
    let image = &image.image;
    let rid = image.field_marshal_of(Token::new(table, row + 1))?;
    let index = image.tables().raw_cell(Table::FieldMarshal, rid, 1)?;
    Some(crate::tables::blob_start(image.blob(index).ok()?).cast())
}

/// What a value of that type becomes, and by which conversion; a description says more.
fn unmanaged(ty: ClassRef, native: Option<c_int>, utf16: bool) -> (c_int, c_int) {
    let is_value = ty.is_value_type().unwrap_or(false);
    let is = |known| crate::kinds::is(ty, known);
    match crate::kinds::element_type(ty) {
        _ if ty.is_byref() => (native::UINT, by::NONE),
        0x02 => match native {
            Some(native::VARIANT_BOOL) => (native::VARIANT_BOOL, by::VARIANT_BOOL),
            Some(other @ (native::I1 | native::U1)) => (other, by::NONE),
            _ => (native::BOOLEAN, by::BOOL_I4),
        },
        0x03 => match native {
            Some(other) => (other, by::NONE),
            None => (if utf16 { native::U2 } else { native::U1 }, by::NONE),
        },
        number @ 0x04..=0x0d => (number - 1, by::NONE),
        0x0e => of_string(native, utf16),
        0x0f => (native::UINT, by::NONE),
        0x18 => (native::INT, by::NONE),
        0x19 => (native::UINT, by::NONE),
        0x1b => (native::FUNC, by::NONE),
        0x14 | 0x1d => of_array(ty, native, utf16),
        0x11 | 0x15 if is_value => match crate::support::found(ty.enum_underlying()) {
            Some(underlying) if ty.is_enum().unwrap_or(false) => {
                unmanaged(underlying, native, utf16)
            }
            _ if is_named(ty, "System.Runtime.InteropServices", "HandleRef") => {
                (native::INT, by::HANDLE_REF)
            }
            _ => (native::STRUCT, by::NONE),
        },
        _ if is(Known::Object) || !is_value => of_object(ty, native),
        _ => (native::STRUCT, by::NONE),
    }
}
fn is_named(ty: ClassRef, namespace: &str, name: &str) -> bool {
    ty.namespace == namespace && ty.name == name
}
fn of_string(native: Option<c_int>, utf16: bool) -> (c_int, c_int) {
    let conversion = match native {
        Some(native::BSTR) => by::BSTR,
        Some(native::LPSTR) => by::LPSTR,
        Some(native::LPWSTR) => by::LPWSTR,
        Some(native::LPTSTR) => by::LPTSTR,
        Some(native::ANSI_BSTR) => by::ANSI_BSTR,
        Some(native::TBSTR) => by::TBSTR,
        Some(native::UTF8) => by::UTF8,
        Some(native::BY_VAL_STRING) if utf16 => by::BY_VAL_WIDE_STRING,
        Some(native::BY_VAL_STRING) => by::BY_VAL_STRING,
        _ if utf16 => return (native::LPWSTR, by::LPWSTR),
        _ => return (native::LPSTR, by::LPSTR),
    };
    (native.unwrap_or(native::LPSTR), conversion)
}
fn of_array(ty: ClassRef, native: Option<c_int>, utf16: bool) -> (c_int, c_int) {
    let of_characters = ty
        .element()
        .is_some_and(|e| crate::kinds::element_type(e) == 0x03);
    match native {
        Some(native::BY_VAL_ARRAY) if of_characters && !utf16 => {
            (native::BY_VAL_ARRAY, by::BY_VAL_CHARACTERS)
        }
        Some(native::BY_VAL_ARRAY) => (native::BY_VAL_ARRAY, by::BY_VAL_ARRAY),
        Some(native::SAFE_ARRAY) => (native::SAFE_ARRAY, by::SAFE_ARRAY),
        _ => (native::LP_ARRAY, by::LP_ARRAY),
    }
}
fn of_object(ty: ClassRef, native: Option<c_int>) -> (c_int, c_int) {
    let delegate = ty.is_delegate().unwrap_or(false);
    let mut at = Some(ty);
    let is_safe_handle = std::iter::from_fn(|| {
        let class = at?;
        at = crate::support::found(class.parent());
        Some(class)
    })
    .any(|c| is_named(c, "System.Runtime.InteropServices", "SafeHandle"));
    match native {
        Some(native::STRUCT) => (native::STRUCT, by::NONE),
        Some(native::CUSTOM) => (native::CUSTOM, by::NONE),
        Some(native::INTERFACE) => (native::INTERFACE, by::INTERFACE),
        Some(native::IDISPATCH) => (native::IDISPATCH, by::IDISPATCH),
        Some(native::IUNKNOWN) => (native::IUNKNOWN, by::IUNKNOWN),
        _ if delegate => (native::FUNC, by::DELEGATE),
        _ if is_safe_handle => (native::INT, by::SAFE_HANDLE),
        _ => (native::STRUCT, by::STRUCT),
    }
}

query_api! {
    fn mono_metadata_get_marshal_info(image: ImageP, row: u32, of_field: Bool) -> *const u8 {
        image.and_then(|i| blob_of(i, row, of_field != 0)).unwrap_or(std::ptr::null())
    }
    fn mono_metadata_parse_marshal_spec(image: ImageP, blob: *const u8) -> *mut Spec { parse(image, blob) }
    fn mono_metadata_free_marshal_spec(spec: *mut Spec) {
        if spec.is_null() { return; }
        let spec = Box::from_raw(spec);
        if spec.native == native::CUSTOM {
            libc::free(spec.data.custom.name.cast());
            libc::free(spec.data.custom.cookie.cast());
        }
    }
    /// A field's declared offset (all ones: none), where its data lie in the file (0: nowhere), and how it is marshalled, by its row from 0.
    fn mono_metadata_field_info(image: ImageP, row: u32, offset: *mut u32, rva: *mut u32, spec: *mut *mut Spec) {
        let Some(image) = image else { return };
        let file = &image.image;
        let cell = |table, rid: Option<u32>| rid.and_then(|rid| file.tables().raw_cell(table, rid, 0));
        set(offset, cell(Table::FieldLayout, file.field_layout_of(row + 1)).unwrap_or(u32::MAX));
        set(rva, cell(Table::FieldRva, file.field_rva_of(row + 1)).unwrap_or(0));
        if !spec.is_null() && let Some(blob) = blob_of(image, row, true) {
            *spec = parse(Some(image), blob);
        }
    }
    fn mono_type_to_unmanaged(ty: ClassP, spec: Option<&Spec>, _as_field: Bool, utf16: Bool, conversion: *mut c_int) -> u32 {
        let Some(ty) = ty else { return 0 };
        let (native, by) = unmanaged(ty, spec.map(|s| s.native), utf16 != 0);
        set(conversion, by);
        native as u32
    }
}
