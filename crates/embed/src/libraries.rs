//! Native libraries that a host opens when the system does not find them.
//!
//! # Invariants
//! * A host's function runs in Foreign state, without a lock of ours.
//! * A handler that is unregistered opens nothing more; what it has opened keeps its functions.
use crate::support::outside;
use std::ffi::{CString, c_char, c_int, c_void};
use vervet_os::LeafLock;
use vervet_runtime::cx::Cx;
use vervet_runtime::interop::pinvoke::{self, HostLibraries};

type Load =
    unsafe extern "C" fn(*const c_char, c_int, *mut *mut c_char, *mut c_void) -> *mut c_void;
type Symbol =
    unsafe extern "C" fn(*mut c_void, *const c_char, *mut *mut c_char, *mut c_void) -> *mut c_void;

/// A `MonoDlFallbackHandler`.
#[derive(Clone, Copy)]
pub struct Handler {
    load: Load,
    symbol: Symbol,
    user: usize,
}
/// `MONO_DL_LAZY`.
const LAZY: c_int = 1;

static HANDLERS: LeafLock<Vec<&'static Handler>> = LeafLock::new(Vec::new());
/// Libraries and who has opened them.
static OPENED: LeafLock<Vec<(usize, &'static Handler)>> = LeafLock::new(Vec::new());

/// What a host's function gave, without the text of its error.
fn found(call: impl FnOnce(*mut *mut c_char) -> *mut c_void) -> Option<usize> {
    let mut error = std::ptr::null_mut();
    let found = outside(|| call(&mut error));
    // SAFETY: null, or a text of malloc that is ours.
    unsafe { libc::free(error.cast()) };
    (!found.is_null()).then_some(found as usize)
}
fn open(_cx: &Cx<'_>, name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    let handlers = HANDLERS.lock().clone();
    handlers.into_iter().find_map(|handler| {
        let user = handler.user as *mut c_void;
        // SAFETY: the host's function, called as its type says.
        let library = found(|error| unsafe { (handler.load)(name.as_ptr(), LAZY, error, user) })?;
        OPENED.lock().push((library, handler));
        Some(library)
    })
}
fn symbol(_cx: &Cx<'_>, library: usize, name: &str) -> Option<usize> {
    let name = CString::new(name).ok()?;
    let opened = OPENED.lock().iter().rev().find(|o| o.0 == library).copied();
    let (_, handler) = opened?;
    let (library, user) = (library as *mut c_void, handler.user as *mut c_void);
    // SAFETY: the host's function, called as its type says.
    found(|error| unsafe { (handler.symbol)(library, name.as_ptr(), error, user) })
}

api! {
    /// Null without the first two functions. Libraries are never closed, so the third is never called.
    fn mono_dl_fallback_register(load: Option<Load>, symbol_function: Option<Symbol>, _close: *const c_void, user: *mut c_void) -> Option<&'static Handler> {
        let handler: &'static Handler = Box::leak(Box::new(Handler { load: load?, symbol: symbol_function?, user: user as usize }));
        HANDLERS.lock().push(handler);
        pinvoke::ask_host(HostLibraries { open, symbol });
        Some(handler)
    }
    fn mono_dl_fallback_unregister(handler: Option<&'static Handler>) {
        HANDLERS.lock().retain(|h| handler.is_none_or(|gone| !std::ptr::eq(*h, gone)));
    }
}
