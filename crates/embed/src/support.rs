//! What the functions of the API share: how they are declared, strings, failures.
//!
//! # Invariants
//! * What a host passes is what the prototype in the header says; nothing else is relied on, and nothing of it is checked but null.
//! * A text that a host does not free is kept once for the life of the process.
use crate::domains;
use rustc_hash::FxHashMap;
use std::ffi::{CStr, CString, c_char};
use vervet_os::LeafLock;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::domain::Domain;
use vervet_runtime::loader;
use vervet_runtime::threads::foreign::{self, Entered, Stay};
use vervet_runtime::{ObjRef, Throw};
use vervet_types::{Assembly, Class, Event, Field, LoadError, Method, MethodSig, Module, Property};

/// An object in C: its address, or null.
pub type Object = *mut std::ffi::c_void;
/// `mono_bool`.
pub type Bool = i32;
/// A nullable `MonoDomain*`.
pub type DomainP = Option<&'static Domain>;
/// A nullable `MonoClass*` or `MonoType*`.
pub type ClassP = Option<&'static Class>;
/// A nullable `MonoMethod*`.
pub type MethodP = Option<&'static Method>;
/// A nullable `MonoClassField*`.
pub type FieldP = Option<&'static Field>;
/// A nullable `MonoProperty*`.
pub type PropertyP = Option<&'static Property>;
/// A nullable `MonoEvent*`.
pub type EventP = Option<&'static Event>;
/// A nullable `MonoImage*`.
pub type ImageP = Option<&'static Module>;
/// A nullable `MonoAssembly*`.
pub type AssemblyP = Option<&'static Assembly>;
/// A nullable `MonoMethodSignature*`.
pub type SigP = Option<&'static MethodSig>;

/// Declares functions of the API. `cx fn` needs an attached thread, and its body sees the token as the first name.
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident($($p:ident : $t:ty),* $(,)?) $(-> $r:ty)? $body:block)*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) $(-> $r)? {
            let _entered = vervet_runtime::threads::foreign::enter();
            // SAFETY: the host passes what the prototype of the function says.
            let work = || $(-> $r)? { unsafe { $body } };
            work()
        }
    )* };
}

/// As `api!`, for questions about metadata: one that fails because a host or the program has to supply an assembly is asked again once that is done. So no body
/// changes anything before it has its answer.
macro_rules! query_api {
    ($($(#[$meta:meta])* fn $name:ident($($p:ident : $t:ty),* $(,)?) $(-> $r:ty)? $body:block)*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) $(-> $r)? {
            let entered = vervet_runtime::threads::foreign::enter();
            // SAFETY: the host passes what the prototype of the function says.
            let work = || $(-> $r)? { unsafe { $body } };
            $crate::support::with_supplies(&entered, work)
        }
    )* };
}

/// As `api!`, for functions that touch objects: the body sees the token under the name that stands before the semicolon.
macro_rules! object_api {
    ($($(#[$meta:meta])* fn $name:ident($cx:ident; $($p:ident : $t:ty),* $(,)?) $(-> $r:ty)? $body:block)*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) $(-> $r)? {
            let entered = $crate::support::attached(stringify!($name));
            let token = entered.token();
            let $cx: &'static vervet_runtime::Cx<'static> = $crate::support::for_the_call(&token);
            // SAFETY: the host passes what the prototype of the function says.
            let work = || $(-> $r)? { unsafe { $body } };
            work()
        }
    )* };
}

/// Declares functions that read, in an object that the host's frames keep in place, what no thread changes: its header, its length, where its fields and
/// elements begin. They take no lock, so that a thread may be stopped in them as in the host's own code, whose state they leave.
macro_rules! pinned_api {
    ($($(#[$meta:meta])* fn $name:ident($($p:ident : $t:ty),* $(,)?) $(-> $r:ty)? $body:block)*) => { $(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($p: $t),*) $(-> $r)? {
            // SAFETY: the host passes what the prototype of the function says.
            unsafe { $body }
        }
    )* };
}

/// As `object_api!`, for functions whose first parameter is a domain that the list does not show: the body runs in it. No body raises an exception through the host's frames: the
/// thread would stay there.
macro_rules! domain_api {
    ($($(#[$meta:meta])* fn $name:ident($cx:ident; $($p:ident : $t:ty),* $(,)?) $(-> $r:ty)? $body:block)*) => { object_api! { $(
        $(#[$meta])*
        fn $name($cx; domain: $crate::support::DomainP, $($p: $t),*) $(-> $r)? { $crate::support::in_domain($cx, domain, || $body) }
    )* } };
}

/// Does something in a domain; null is the current one.
#[inline]
pub fn in_domain<T>(cx: &'static Cx<'static>, domain: DomainP, work: impl FnOnce() -> T) -> T {
    match domain.filter(|d| d.id != cx.domain().id) {
        None => work(),
        Some(domain) => domains::visit(cx, domain, work),
    }
}

/// Enters a function that needs an attached thread, and that neither attaches nor detaches it.
#[inline]
pub fn attached(name: &str) -> Stay {
    foreign::enter()
        .stay_attached()
        .unwrap_or_else(|| not_attached(name))
}
#[cold]
fn not_attached(name: &str) -> ! {
    fail(&format!(
        "{name}: the calling thread is not attached to the runtime"
    ))
}

/// The token under the lifetime that objects have in a body: what the body returns to the host is an address.
#[inline]
pub fn for_the_call(token: &Cx<'static>) -> &'static Cx<'static> {
    // SAFETY: the token lives in the frame of the function, which the body does not outlive.
    unsafe { &*std::ptr::from_ref(token) }
}

/// A host has broken the rules: says how, and ends the process as mono's assertions do.
pub fn fail(text: &str) -> ! {
    eprintln!("vervet: {text}");
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

/// The object at an address that a host passed.
///
/// # Safety
/// It is null or a live object, and the calling thread is in Runtime state.
pub unsafe fn object<'cx>(address: Object) -> ObjRef<'cx> {
    // SAFETY: the caller's promise.
    unsafe { ObjRef::from_addr(address as usize) }
}
/// The address of an object, for the host.
pub fn address(object: ObjRef<'_>) -> Object {
    object.addr() as Object
}

/// What was made, or null: the exception is dropped.
pub fn or_null(cx: &'static Cx<'static>, made: Result<ObjRef<'_>>) -> Object {
    made.map_or_else(|throw| drop_pending(cx, throw), address)
}
fn drop_pending(cx: &'static Cx<'static>, throw: Throw) -> Object {
    let _ = cx.take_pending(throw);
    std::ptr::null_mut()
}

/// What a question about metadata finds, once the host or the program has supplied the assemblies that it needs; None if that failed.
pub fn supplied<T>(
    cx: &'static Cx<'static>,
    ask: impl FnMut() -> std::result::Result<T, LoadError>,
) -> Option<T> {
    match vervet_icalls::support::objects::load(cx, ask) {
        Ok(found) => Some(found),
        Err(throw) => {
            drop_pending(cx, throw);
            None
        }
    }
}
/// Asks, and asks again as long as something is needed that a host or the program supplies.
pub fn with_supplies<T>(entered: &Entered, ask: impl Fn() -> T) -> T {
    if !entered.is_attached() {
        return ask();
    }
    let _earlier = loader::take_need();
    loop {
        let answer = ask();
        let Some(need) = loader::take_need() else {
            return answer;
        };
        let token = Cx::current();
        let cx = for_the_call(&token);
        if let Err(throw) = cx.supply(&need) {
            drop_pending(cx, throw);
            return answer;
        }
    }
}
/// What was found; None if that failed.
pub fn found<T>(result: std::result::Result<Option<T>, LoadError>) -> Option<T> {
    result.ok().flatten()
}

static TEXTS: LeafLock<Option<FxHashMap<Box<str>, &'static CStr>>> = LeafLock::new(None);

/// A text that lives for ever. One that holds a zero ends there.
pub fn text(text: &str) -> *const c_char {
    let mut all = TEXTS.lock();
    let all = all.get_or_insert_default();
    if let Some(have) = all.get(text) {
        return have.as_ptr();
    }
    let until = text.find('\0').unwrap_or(text.len());
    let made: &'static CStr = Box::leak(
        CString::new(&text[..until])
            .unwrap_or_default()
            .into_boxed_c_str(),
    );
    all.insert(text.into(), made);
    made.as_ptr()
}

/// A text that the host frees with `mono_free`.
pub fn new_text(text: &str) -> *mut c_char {
    new_bytes(text.as_bytes()).cast()
}
/// Bytes and a zero, which the host frees with `mono_free`.
pub fn new_bytes(bytes: &[u8]) -> *mut u8 {
    // SAFETY: malloc's memory has room for the bytes and the zero.
    unsafe {
        let p = libc::malloc(bytes.len() + 4).cast::<u8>();
        if p.is_null() {
            fail("out of memory");
        }
        bytes.as_ptr().copy_to_nonoverlapping(p, bytes.len());
        p.add(bytes.len()).cast::<u32>().write_unaligned(0);
        p
    }
}

/// A host's string; "" for null.
///
/// # Safety
/// It is null, or ends with a zero.
pub unsafe fn read(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    unsafe { read_opt(text) }.unwrap_or_default()
}
/// A host's string.
///
/// # Safety
/// It is null, or ends with a zero.
pub unsafe fn read_opt(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}

/// Stores through a pointer that may be null.
///
/// # Safety
/// It is null, or may be written.
pub unsafe fn set<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the caller's promise.
        unsafe { to.write(value) };
    }
}

/// The next of a list that a host walks with an iterator word, null at first.
///
/// # Safety
/// `iter` is the address of the word.
pub unsafe fn next<T: Copy>(list: &[T], iter: *mut *mut std::ffi::c_void) -> Option<T> {
    if iter.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let at = *iter as usize;
        let item = list.get(at).copied();
        if item.is_some() {
            *iter = (at + 1) as *mut std::ffi::c_void;
        }
        item
    }
}

/// Calls the host in Foreign state.
pub fn outside<T>(call: impl FnOnce() -> T) -> T {
    let cx = Cx::current();
    foreign::outside(&cx, call)
}

/// The same for functions that need no attached thread.
pub fn outside_if_attached<T>(call: impl FnOnce() -> T) -> T {
    match vervet_runtime::threads::current_context().is_null() {
        true => call(),
        false => outside(call),
    }
}

/// A function that is not here was called.
pub fn missing(name: &str, why: &str) -> ! {
    fail(&format!("{name} is not implemented: {why}"))
}
