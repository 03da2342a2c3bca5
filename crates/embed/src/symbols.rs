//! Debug symbols: where in its source an instruction is. They are read under `mono_debug_init`, from beside the assembly, from within it, or from a host's memory.
//!
//! | type of the API | what it is |
//! |---|---|
//! | `MonoDebugMethodInfo` | the method |
//! | `MonoDebugSourceLocation`, `MonoDebugMethodJitInfo` | a record of `malloc`, which the host frees |
//! | `MonoDebugHandle` | a record that lives for ever, one for each image with symbols |
//!
//! # Invariants
//! A native offset is that of a return address, as `mono_stack_walk` gives it, in the code that the method has now.
use crate::support::{DomainP, ImageP, MethodP, new_text, text};
use rustc_hash::FxHashMap;
use std::ffi::{c_char, c_int, c_void};
use vervet_os::LeafLock;
use vervet_runtime::code::{entries, table};
use vervet_runtime::exceptions::symbols;
use vervet_types::{MethodRef, Module};

/// A `MonoDebugSourceLocation`.
#[repr(C)]
pub struct Location {
    file: *mut c_char,
    row: u32,
    column: u32,
    il_offset: u32,
}
/// A `MonoDebugMethodJitInfo`: where the code is. Variables and line numbers are none of it.
#[repr(C)]
pub struct CodeInfo {
    start: *const u8,
    size: u32,
    prologue_end: u32,
    epilogue_begin: u32,
    wrapper: *const u8,
    rest: [usize; 9],
}
/// A `MonoDebugHandle`.
#[repr(C)]
pub struct Handle {
    index: u32,
    file: *const c_char,
    image: &'static Module,
    rest: [usize; 3],
}
static HANDLES: LeafLock<Option<FxHashMap<u32, usize>>> = LeafLock::new(None);

/// What the host frees.
fn given<T>(record: T) -> *mut T {
    // SAFETY: malloc's memory has room for the record.
    unsafe {
        let at = libc::malloc(size_of::<T>()).cast::<T>();
        if at.is_null() {
            crate::support::fail("out of memory");
        }
        at.write(record);
        at
    }
}

/// The compiled code of a method in a domain.
fn code_of(method: MethodRef, domain: DomainP) -> Option<&'static table::Code> {
    let domain = domain
        .or_else(crate::domains::current)
        .or_else(crate::domains::root)?;
    if !entries::is_compiled(domain, method) {
        return None;
    }
    table::find(entries::entry(domain, method).ok()?.code())
}
/// The instruction that is reached at a native offset of a method.
fn il_offset(method: MethodRef, domain: DomainP, native: u32) -> Option<u32> {
    let code = code_of(method, domain)?;
    code.il_offset(code.start + (native as usize).saturating_sub(1))
}
/// Where in the source an instruction is, with the offset at which its line begins.
fn location(method: MethodRef, il: u32) -> *mut Location {
    let Some(line) = symbols::source_line(method, il) else {
        return std::ptr::null_mut();
    };
    let points = symbols::points(method).unwrap_or_default();
    let begins = points.into_iter().take_while(|point| *point <= il).last();
    given(Location {
        file: new_text(&line.file),
        row: line.line,
        column: line.col,
        il_offset: begins.unwrap_or(il),
    })
}
/// A frame as traces show it.
fn frame(method: MethodRef, domain: DomainP, native: u32) -> String {
    let name = crate::describe::full_name(method, true).replace(':', ".");
    let Some(il) = il_offset(method, domain, native) else {
        return format!("at {name} <0x{native:05x}>");
    };
    if let Some(line) = symbols::source_line(method, il) {
        return format!("at {name} [0x{il:05x}] in {}:{}", line.file, line.line);
    }
    let mvid = method.module().image.mvid().unwrap_or_default();
    let mvid: String = [3usize, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
        .iter()
        .map(|&i| format!("{:02x}", mvid[i]))
        .collect();
    format!("at {name} [0x{il:05x}] in <{mvid}>:0")
}

api! {
    /// The method, if there are symbols of it.
    fn mono_debug_lookup_method(method: MethodP) -> MethodP {
        method.filter(|m| m.rid != 0 && symbols::points(m).is_some())
    }
    fn mono_debug_method_lookup_location(method: MethodP, il: c_int) -> *mut Location {
        method.map_or(std::ptr::null_mut(), |m| location(m, il.max(0) as u32))
    }
    fn mono_debug_lookup_source_location(method: MethodP, native: u32, domain: DomainP) -> *mut Location {
        let found = method.and_then(|m| Some((m, il_offset(m, domain, native)?)));
        found.map_or(std::ptr::null_mut(), |(method, il)| location(method, il))
    }
    fn mono_debug_free_source_location(location: *mut Location) {
        if !location.is_null() {
            libc::free((*location).file.cast());
            libc::free(location.cast());
        }
    }
    fn mono_debug_il_offset_from_address(method: MethodP, domain: DomainP, native: u32) -> i32 {
        method.and_then(|m| il_offset(m, domain, native)).map_or(-1, |il| il as i32)
    }
    fn mono_debug_print_stack_frame(method: MethodP, native: u32, domain: DomainP) -> *mut c_char {
        method.map_or(std::ptr::null_mut(), |m| new_text(&frame(m, domain, native)))
    }
    fn mono_debug_find_method(method: MethodP, domain: DomainP) -> *mut CodeInfo {
        let Some(code) = method.and_then(|m| code_of(m, domain)) else { return std::ptr::null_mut() };
        let size = (code.end - code.start) as u32;
        given(CodeInfo {
            start: code.start as *const u8,
            size,
            prologue_end: code.prologue_end,
            epilogue_begin: size,
            wrapper: std::ptr::null(),
            rest: [0; 9],
        })
    }
    fn mono_debug_free_method_jit_info(info: *mut CodeInfo) { libc::free(info.cast()); }
    /// Null for an image without symbols.
    fn mono_debug_get_handle(image: ImageP) -> *const Handle {
        let Some(image) = image.filter(|i| symbols::of(i).is_some()) else { return std::ptr::null() };
        let mut all = HANDLES.lock();
        let all = all.get_or_insert_default();
        let index = all.len() as u32;
        let made = all.entry(image.id).or_insert_with(|| {
            let file = text(image.path.as_deref().unwrap_or_default());
            Box::into_raw(Box::new(Handle { index, file, image, rest: [0; 3] })) as usize
        });
        *made as *const Handle
    }
    /// Symbols that a host has in memory; null: they lie beside the assembly.
    fn mono_debug_open_image_from_memory(image: ImageP, bytes: *const u8, size: c_int) {
        if let (Some(image), false) = (image, bytes.is_null()) {
            symbols::remember(image, std::slice::from_raw_parts(bytes, size.max(0) as usize));
        }
    }
    fn mono_debug_remove_method(_method: MethodP, _domain: DomainP) {}
    fn mono_debug_add_delegate_trampoline(_code: *const c_void, _size: c_int) {}
}
