//! The IL of methods, and walks of the stack.
//!
//! # Invariants
//! A `MonoMethodHeader` lives until the host frees it; the code and the types that it names live for ever. A grafted method shows no body: the tokens in its IL are not
//! those of its module.
use crate::support::{Bool, ClassP, ImageP, MethodP, outside, set, supplied};
use std::ffi::{c_int, c_void};
use vervet_metadata::{EhKind, MethodBody};
use vervet_runtime::Cx;
use vervet_runtime::domain::Domain;
use vervet_runtime::exceptions::walk::Walk;
use vervet_types::{LoadError, MethodRef, Module};

/// A `MonoMethodHeader`.
pub struct Header {
    body: MethodBody<'static>,
    locals: Vec<ClassP>,
}
/// A `MonoExceptionClause`.
#[repr(C)]
pub struct Clause {
    flags: u32,
    try_offset: u32,
    try_len: u32,
    handler_offset: u32,
    handler_len: u32,
    data: ClauseData,
}
#[repr(C)]
union ClauseData {
    filter_offset: u32,
    catch_class: ClassP,
}
type WalkFunction = unsafe extern "C" fn(MethodRef, i32, i32, Bool, *mut c_void) -> Bool;

fn header(method: MethodRef) -> Result<Header, LoadError> {
    let body = method.body()?;
    let locals = method.scope().locals(body.local_sig)?;
    let locals = locals.iter().map(|l| Some(l.ty)).collect();
    Ok(Header { body, locals })
}
fn header_or_null(cx: &'static Cx<'static>, method: MethodP) -> *mut Header {
    let method = method.filter(|m| m.has_body() && !m.is_grafted());
    let header = method.and_then(|m| supplied(cx, || header(m)));
    header.map_or(std::ptr::null_mut(), |h| Box::into_raw(Box::new(h)))
}
fn clause(
    cx: &'static Cx<'static>,
    header: &Header,
    method: MethodRef,
    index: usize,
) -> Option<Clause> {
    let found = header.body.clauses.get(index)?;
    let (flags, data) = match found.kind {
        EhKind::Catch(token) => {
            let catch_class = supplied(cx, || method.scope().type_(token));
            (0, ClauseData { catch_class })
        }
        EhKind::Filter(filter_offset) => (1, ClauseData { filter_offset }),
        EhKind::Finally => (2, ClauseData { catch_class: None }),
        EhKind::Fault => (4, ClauseData { catch_class: None }),
    };
    Some(Clause {
        flags,
        try_offset: found.try_offset,
        try_len: found.try_len,
        handler_offset: found.handler_offset,
        handler_len: found.handler_len,
        data,
    })
}

/// Bytes of the body that begins at an address: header, code, and the sections behind it.
///
/// # Safety
/// A body begins there.
unsafe fn body_length(at: *const u8) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        let word = |at: *const u8| at.cast::<u32>().read_unaligned();
        let first = *at;
        if first & 3 != 3 {
            return 1 + usize::from(first >> 2);
        }
        let mut end = at.add(12 + word(at.add(4)) as usize);
        let mut more = first & 8 != 0;
        while more {
            end = end.add(end.align_offset(4));
            let head = word(end);
            more = head & 0x80 != 0;
            end = end.add(
                if head & 0x40 != 0 {
                    head >> 8
                } else {
                    head >> 8 & 0xff
                }
                .max(4) as usize,
            );
        }
        end.offset_from_unsigned(at)
    }
}
fn header_at(module: &'static Module, bytes: &'static [u8]) -> Result<Header, LoadError> {
    let body = MethodBody::parse(bytes, bytes.as_ptr() as u32)
        .map_err(|e| LoadError::bad_image(module, e.to_string()))?;
    let locals = crate::signatures::scope(module).locals(body.local_sig)?;
    let locals = locals.iter().map(|l| Some(l.ty)).collect();
    Ok(Header { body, locals })
}

api! {
    fn mono_metadata_free_mh(header: *mut Header) {
        if !header.is_null() {
            drop(Box::from_raw(header));
        }
    }
    fn mono_method_header_get_code(header: Option<&Header>, size: *mut u32, max_stack: *mut u32) -> *const u8 {
        let Some(Header { body, .. }) = header else { return std::ptr::null() };
        set(size, body.code.len() as u32);
        set(max_stack, u32::from(body.max_stack));
        body.code.as_ptr()
    }
    fn mono_method_header_get_locals(header: Option<&Header>, count: *mut u32, init: *mut Bool) -> *const ClassP {
        let Some(header) = header else { return std::ptr::null() };
        set(count, header.locals.len() as u32);
        set(init, Bool::from(header.body.init_locals));
        header.locals.as_ptr()
    }
    fn mono_method_header_get_num_clauses(header: Option<&Header>) -> c_int { header.map_or(0, |h| h.body.clauses.len() as c_int) }
}

/// Calls the host for each managed frame of the calling thread until it answers 1.
fn walk(cx: &'static Cx<'static>, function: WalkFunction, user: *mut c_void, il: bool) {
    for frame in Walk::here(cx) {
        for (method, offset) in frame.logical() {
            let native = frame.pc - frame.code.start;
            let offset = offset.filter(|_| il).map_or(-1, |o| o as i32);
            // SAFETY: the host's function, called as its type says.
            let ends = outside(|| unsafe { function(method, native as i32, offset, 1, user) });
            if ends != 0 {
                return;
            }
        }
    }
}

/// A walk in what may be a signal handler.
type AsyncWalkFunction =
    unsafe extern "C" fn(MethodRef, &'static Domain, *const c_void, c_int, *mut c_void) -> Bool;

object_api! {
    /// The header of a body as bytes, which stay where they are.
    fn mono_metadata_parse_mh(cx; image: ImageP, at: *const u8) -> *mut Header {
        let Some(image) = image else { return std::ptr::null_mut() };
        let bytes: &'static [u8] = std::slice::from_raw_parts(at, body_length(at));
        let header = supplied(cx, || header_at(image, bytes));
        header.map_or(std::ptr::null_mut(), |h| Box::into_raw(Box::new(h)))
    }
    /// As `mono_stack_walk`, with the domain of each frame and where its code begins. Of the calling thread's own frames below the native code that calls
    /// this: what a signal interrupted in managed code is not walked.
    fn mono_stack_walk_async_safe(cx; function: Option<AsyncWalkFunction>, _signal: *const c_void, user: *mut c_void) {
        let Some(function) = function else { return };
        for frame in Walk::here(cx) {
            let domain = vervet_runtime::domain::by_id(frame.code.domain);
            let (start, native) = (frame.code.start as *const c_void, frame.pc - frame.code.start);
            for (method, _) in frame.logical() {
                if outside(|| function(method, domain, start, native as c_int, user)) != 0 {
                    return;
                }
            }
        }
    }
    fn mono_method_get_header(cx; method: MethodP) -> *mut Header { header_or_null(cx, method) }
    fn mono_method_get_header_checked(cx; method: MethodP, error: *mut crate::exceptions::Error) -> *mut Header {
        crate::exceptions::Error::clear(error);
        let header = header_or_null(cx, method);
        if header.is_null() {
            crate::exceptions::Error::put(error, 6, "Method has no body");
        }
        header
    }
    /// The next clause; the iterator is null at first.
    fn mono_method_header_get_clauses(cx; header: Option<&Header>, method: MethodP, iter: *mut usize, out: *mut Clause) -> c_int {
        let (Some(header), Some(method)) = (header, method) else { return 0 };
        if iter.is_null() { return 0; }
        let Some(found) = clause(cx, header, method, *iter) else { return 0 };
        *iter += 1;
        out.write(found);
        1
    }
    fn mono_stack_walk(cx; function: Option<WalkFunction>, user: *mut c_void) {
        if let Some(function) = function { walk(cx, function, user, true); }
    }
    fn mono_stack_walk_no_il(cx; function: Option<WalkFunction>, user: *mut c_void) {
        if let Some(function) = function { walk(cx, function, user, false); }
    }
}
