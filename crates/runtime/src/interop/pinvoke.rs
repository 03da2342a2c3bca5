//! Finding native functions: dllmaps, libraries, symbols.
//!
//! ```text
//!   DllImport("lib", EntryPoint = "f")
//!     a host's, dllmap of the assembly, of the machine    (lib, f) -> (other lib, other f)
//!     LIBRARIES: opened for this module already?      -> handle
//!     candidates: the name as it is, with lib and .so, beside the assembly, beside the executable: the first that dlopen takes,
//!                 or else the host
//!     symbols: f, with A or W as CharSet says, unless ExactSpelling: the first that dlsym finds
//!     Entry::pinvoke: the address, for the stubs of all callers
//! ```
//!
//! # Invariants
//! Libraries are opened once by name and never closed. Opening and symbol lookup run in Native state.
use crate::code::entries;
use crate::code::icall::finish;
use crate::code::libm;
use crate::cx::{Cx, Result};
use crate::threads::park::pipe_calls;
use rustc_hash::FxHashMap;
use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::Ordering;
use vervet_binder::dllmap::DllMap;
use vervet_binder::native::{CharSet, Library, library_candidates, symbol_candidates};
use vervet_os::{LeafLock, Published};
use vervet_types::{Known, Method, MethodRef};

/// Handles by the id of the module and the name in its metadata: what a name leads to depends on where the module lies. 1 is the process itself.
static LIBRARIES: LeafLock<Option<FxHashMap<(u32, String), usize>>> = LeafLock::new(None);

/// How a host opens libraries that the system does not find.
#[derive(Clone, Copy, Debug)]
pub struct HostLibraries {
    /// Opens a library by one of the names that it may have.
    pub open: fn(&Cx<'_>, &str) -> Option<usize>,
    /// Looks a symbol up in a library that it has opened.
    pub symbol: fn(&Cx<'_>, usize, &str) -> Option<usize>,
}
static HOST: Published<HostLibraries> = Published::new();
/// Libraries that the host has opened.
static OF_HOST: LeafLock<Vec<usize>> = LeafLock::new(Vec::new());

/// Asks a host for what does not open. Only the first one counts.
pub fn ask_host(libraries: HostLibraries) {
    HOST.put(libraries);
}

/// Helper BindPInvoke: the native address of a method, bound at its first call.
pub extern "C" fn bind(method: usize) -> usize {
    let cx = Cx::current();
    // SAFETY: generated code passes a method handle.
    let method: MethodRef = unsafe { &*(method as *const Method) };
    finish(bind_method(&cx, method))
}

/// Finds the native function of a P/Invoke method that is called, and remembers it.
pub fn bind_method(cx: &Cx<'_>, method: MethodRef) -> Result<usize> {
    bind_or_miss(cx, method)?.map_err(|Missing { class, what }| {
        let text = format!("{what} assembly:<unknown assembly> type:<unknown type> member:(null)");
        cx.throw(class, &text)
    })
}

/// The same of a method that is bound before it is called: mono's exception says what is missing and no more.
pub fn prelink(cx: &Cx<'_>, method: MethodRef) -> Result<usize> {
    bind_or_miss(cx, method)?.map_err(|Missing { class, what }| cx.throw(class, &what))
}

/// A library or a function that was not found.
struct Missing {
    class: Known,
    what: String,
}

fn bind_or_miss(cx: &Cx<'_>, method: MethodRef) -> Result<std::result::Result<usize, Missing>> {
    let cell = &cx.load(entries::entry(cx.domain(), method))?.pinvoke;
    // Several threads may bind it at once: all find the same address.
    let have = cell.address.load(Ordering::Acquire);
    if have != 0 {
        return Ok(Ok(have));
    }
    let Some(import) = cx.load(method.dll_import())? else {
        return Err(cx.throw(Known::EntryPointNotFoundException, method.name));
    };
    let module = method.module();
    let loader = cx.loader();
    let host = loader.host_mapping(module, import.dll, import.entry);
    let (to_library, to_function) = host.unwrap_or_else(|| {
        let target = DllMap::resolve(
            loader.dllmap(module),
            &loader.shared.config.dllmap,
            import.dll,
            import.entry,
        );
        (target.library.to_string(), target.function.to_string())
    });
    let library = open(cx, module, &to_library);
    let Some(library) = library else {
        return Ok(Err(Missing {
            class: Known::DllNotFoundException,
            what: to_library,
        }));
    };
    let char_set = match import.flags & 0x6 {
        0x2 => CharSet::Ansi,
        0x4 => CharSet::Unicode,
        0x6 => CharSet::Auto,
        _ => CharSet::None,
    };
    for name in symbol_candidates(&to_function, char_set, import.flags & 1 != 0) {
        if let Some(address) = symbol(cx, library, &name) {
            let address = match pipe_calls::replacement(import.dll, &name) {
                0 => address,
                ours => ours,
            };
            if libm::is_short(import.entry, address) {
                cell.short.store(address, Ordering::Release);
            }
            cell.address.store(address, Ordering::Release);
            return Ok(Ok(address));
        }
    }
    Ok(Err(Missing {
        class: Known::EntryPointNotFoundException,
        what: to_function,
    }))
}

/// Looks a symbol up in an opened library (0: the process).
pub fn symbol(cx: &Cx<'_>, library: usize, name: &str) -> Option<usize> {
    let is_of_host = OF_HOST.lock().contains(&library);
    if let (true, Some(host)) = (is_of_host, HOST.get()) {
        return (host.symbol)(cx, library, name);
    }
    let name = CString::new(name).ok()?;
    let handle = if library == 1 {
        libc::RTLD_DEFAULT
    } else {
        library as *mut libc::c_void
    };
    // SAFETY: a handle of ours and a C string.
    let p = cx.native(|| unsafe {
        let found = libc::dlsym(handle, name.as_ptr());
        // What a library calls by that name is the executable's, if that has one (`sigaction`): the same for managed code.
        match !found.is_null() && found == libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) {
            true => libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()),
            false => found,
        }
    });
    (!p.is_null()).then_some(p as usize)
}

/// Opens a library by exactly that name, by the system or by the host.
fn opened(cx: &Cx<'_>, name: &str) -> Option<usize> {
    let c_name = CString::new(name).ok()?;
    // In the global scope, as mono opens them: libraries look each other's symbols up in the process.
    let flags = libc::RTLD_LAZY | libc::RTLD_GLOBAL;
    // SAFETY: opening a library runs its initialisers; we hold nothing.
    let handle = cx.native(|| unsafe { libc::dlopen(c_name.as_ptr(), flags) });
    if !handle.is_null() {
        return Some(handle as usize);
    }
    let handle = (HOST.get()?.open)(cx, name)?;
    OF_HOST.lock().push(handle);
    Some(handle)
}

/// Opens a library as mono would for a module; None if nothing opens.
pub fn open(cx: &Cx<'_>, module: vervet_types::ModuleRef, scope: &str) -> Option<usize> {
    let key = (module.id, scope.to_string());
    if let Some(h) = LIBRARIES.lock().as_ref().and_then(|m| m.get(&key).copied()) {
        return Some(h);
    }
    let dir = module.path.as_deref().and_then(|p| Path::new(p).parent());
    let exe = std::env::current_exe().ok();
    let exe_dir = exe.as_deref().and_then(Path::parent);
    for candidate in library_candidates(scope, dir, exe_dir) {
        let handle = match candidate {
            Library::Process => Some(1),
            Library::Open(name) => opened(cx, &name),
        };
        if let Some(h) = handle {
            LIBRARIES
                .lock()
                .get_or_insert_with(FxHashMap::default)
                .insert(key, h);
            return Some(h);
        }
    }
    None
}
