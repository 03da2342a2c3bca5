//! What happens at a method's first call, at the first call through a slot of a VTable, and at an interface call no IMT stub knows.
//!
//! # What a method's first call finds
//! ```text
//!   caller --> slot --> stub --> prestub thunk: record, Managed -> Runtime
//!                                  | first_call::code_of: the entry has code already (another thread)?   -> that
//!                                  | icall: a stub that calls the Rust function               (Runtime state)
//!                                  | the cache has the blob?                                  (Runtime state)
//!                                  | background compiler has the blob?                        (Native state)
//!                                  | compile on the service stack                             (Native state)
//!                                  |   Need(assembly): raise AssemblyResolve, compile again   (Runtime state)
//!                                  | raise AssemblyLoad for what was loaded                   (Runtime state)
//!                                  | link: place the code, resolve relocations, publish       (Runtime state)
//!                                  | initialise the classes that the blob lists               (Runtime state)
//!                                  v
//!                                thunk: restore the arguments, jump to the code
//! ```
//! The arguments stay where the call put them: the thunk saves the argument registers in its frame, which the collector scans conservatively.
//!
//! # Invariants
//! * The prestub is idempotent: two threads may compile one method, and the first to publish its code wins. (They seldom do: [`super::compiling`].)
//! * Compiling runs in Native state on the service stack, so a stop does not wait for it. Everything that may allocate, raise a
//!   resolve event or throw happens in Runtime state, with no lock held.
//! * If compiling needs an assembly that only a resolve event can supply, it fails with `Need`; the event is raised, and compiling begins
//!   again.
//! * An IMT stub only grows, and each version is complete before it is stored. So a call goes to the right method or to the resolver.
use crate::arch::ImtTarget;
use crate::classes::remembered;
use crate::classes::vtables::class_of;
use crate::code::cache::{self, Found, compile, compile_as};
use crate::code::table::CodeKind;
use crate::code::{arena, entries, link, neutral, plain_calls};
use crate::cx::{Cx, Result};
use crate::domain::{self, Domain};
use crate::object::ObjRef;
use crate::remoting;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use vervet_abi::{ThreadContext, VTable, vtable};
use vervet_jit::{Blob, CompileError, LoweredSignature};
use vervet_os::SafeLock;
use vervet_types::{ClassRef, Known, LoadError, MethodRef};

/// Code that is linked, and what is to be initialised before it is called.
#[derive(Clone)]
pub(super) struct Made {
    pub code: usize,
    pub initialise: Arc<[ClassRef]>,
}

/// Links a blob of the method.
fn link_method<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    (method, kind): (MethodRef, CodeKind),
    mut blob: Blob,
) -> Result<Made> {
    let initialise = std::mem::take(&mut blob.initialise).into();
    let code = link::link(cx, domain, blob, kind)?;
    link::tell_host(cx, method, code);
    Ok(Made {
        code: code.start,
        initialise,
    })
}

/// Compiles and links a method, or places the stub of an icall. The caller publishes the code.
pub(super) fn make_code<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    method: MethodRef,
) -> Result<Made> {
    if method.is_icall() {
        let code = icall_code(cx, method)?;
        if !vervet_jit::stubs::reflection::is_internal_invoke(method) {
            let initialise = Arc::default();
            return Ok(Made { code, initialise });
        }
        // Generated code makes most calls, and leaves the others to the internal call.
        plain_calls::generated::take_slow(method, code);
    }
    if method.is_abstract() && !method.has_body() {
        return Err(cx.throw(Known::EntryPointNotFoundException, &method.signed_name()));
    }
    if method.class.is_open {
        let text = format!(
            "Could not execute the method because the containing type '{}', is not fully instantiated.",
            method.class.full_name()
        );
        return Err(cx.throw(Known::InvalidOperationException, &text));
    }
    let rt = cx.rt();
    let kind = if method.has_body() {
        CodeKind::Method(method)
    } else {
        CodeKind::Wrapper(method)
    };
    let only = match kept_code(cx, domain, method, kind)? {
        Kept::Code(code) => return Ok(code),
        Kept::Nothing { only } => only,
    };
    crate::process::counters::trace_code("compile", method);
    // The background compiler may have it, or may be at work on it; then waiting is cheaper than compiling.
    // What it made may assume what is not to be assumed.
    let mut ready = match only {
        None => cx.native(|| crate::code::background::take(method)),
        Some(_) => None,
    };
    let compiled = loop {
        let result = match ready.take() {
            Some(compiled) => Ok(compiled),
            None => cx.computing(|| {
                crate::threads::service_stack::on_service_stack(|| match domain.is_root() {
                    true => compile(method, only.clone()),
                    false => compile_as(method, rt.compiler.tier_for(method), only.clone(), None),
                })
            }),
        };
        match result {
            Ok(compiled) => break compiled,
            Err(CompileError::Load(LoadError::Need(need))) => cx.supply(&need)?,
            Err(CompileError::Load(e)) => return Err(cx.throw_load(e)),
            Err(e @ CompileError::Invalid { .. }) => {
                return Err(cx.throw(Known::InvalidProgramException, &e.to_string()));
            }
            Err(e @ CompileError::Internal { .. }) => {
                eprintln!("vervet: {e}");
                return Err(cx.throw(Known::InvalidProgramException, &e.to_string()));
            }
        }
    };
    // Assemblies that compiling has loaded: AssemblyLoad is raised before code runs that uses them.
    cx.tell_loaded()?;
    crate::process::counters::compiled(method, &compiled.blob);
    if domain.is_root() {
        crate::code::background::enqueue_callees(&compiled.blob);
        cache::keep(method, &compiled);
    } else {
        neutral::keep(method, &compiled.blob);
        cache::keep_bare(method, &compiled);
    }
    // Linking makes VTables, and raises no events: what is wrong with a class it says itself.
    while let Err(LoadError::Need(need)) = compiled.blob.check_classes() {
        cx.supply(&need)?;
    }
    link_method(cx, domain, (method, kind), compiled.blob)
}

/// What an earlier compile has left of a method.
enum Kept {
    /// Its code, linked.
    Code(Made),
    /// Nothing. With `only`, a compile may take no other class for initialised.
    Nothing { only: Option<Vec<ClassRef>> },
}

/// Links the code that the cache has of the method, or, for a domain other than the root domain, that another such domain has compiled.
fn kept_code<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    method: MethodRef,
    kind: CodeKind,
) -> Result<Kept> {
    let only = match cache::find(cx, domain, method) {
        Found::Blob(blob) => {
            crate::process::counters::trace_code("cached", method);
            // As after a compile: what was loaded before, by whomever.
            cx.tell_loaded()?;
            // As a compile does, so that names in dumps have their parameters. What it needs is bound: the compile needed it.
            let _ = method.sig();
            let mut blob = *blob;
            if domain.is_root() {
                crate::code::background::forget(method);
                // Where a process before found the method to be worth it, its loops need not begin in quick code.
                if method.body().is_ok_and(|body| vervet_jit::has_loop(&body))
                    && let Some(better) = cache::find_again(cx, method)
                {
                    blob = better;
                }
            }
            match link_method(cx, domain, (method, kind), blob) {
                Ok(made) => return Ok(Kept::Code(made)),
                // Whatever is wrong, the compile says it.
                Err(throw) => drop(cx.take_pending(throw)),
            }
            None
        }
        Found::Nothing(only) => only,
    };
    if domain.is_root() {
        return Ok(Kept::Nothing { only });
    }
    if let Some(blob) = neutral::find(method) {
        return Ok(Kept::Code(link_method(cx, domain, (method, kind), blob)?));
    }
    // What the background compiler and a compile make may assume classes that are initialised in the root domain only.
    Ok(Kept::Nothing {
        only: Some(Vec::new()),
    })
}

/// Where an icall's rows are looked up: `Namespace.Outer/Inner::Name`, then with the signature.
fn icall_code<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<usize> {
    let definition = method.definition();
    let key = format!(
        "{}::{}",
        crate::code::icall::class_key(definition.class),
        definition.name
    );
    let sig = crate::code::icall::signature_key(definition).unwrap_or_default();
    let full = format!("{key}({sig})");
    let rt = cx.rt();
    let built_in = || {
        rt.icalls
            .get(key.as_str())
            .or_else(|| rt.icalls.get(full.as_str()))
            .map(|row| (row.code.0 as usize, row.reentrant))
    };
    let registered =
        crate::code::icall::registered(&full).or_else(|| crate::code::icall::registered(&key));
    let foreign = registered.is_some_and(|r| r.foreign);
    let found = registered.map(|r| (r.code, false)).or_else(built_in);
    let Some((target, reentrant)) = found else {
        crate::process::counters::missing_icall(method);
        return Err(cx.throw(
            Known::MissingMethodException,
            &format!("internal call {full} is not implemented"),
        ));
    };
    let lowered = cx.load(LoweredSignature::of_method(method))?;
    let name = method as *const _ as usize;
    let (used, on_stack) = (lowered.int_args(), lowered.stack_arg_bytes);
    let bytes = if foreign {
        let extend = cx.load(c_result(method))?;
        crate::arch::foreign_icall_stub(target, name, (used, on_stack), extend)
    } else if reentrant && on_stack == 0 {
        crate::arch::reentrant_stub(target, name, used)
    } else {
        crate::arch::icall_stub(target, name, used, on_stack)
    };
    let name = || format!("(internal call) {}", method.full_name());
    cx.load(arena::place_stub(bytes, name))
}

/// How the result of a C function that stands for the method is extended.
fn c_result(
    method: MethodRef,
) -> std::result::Result<crate::arch::Extend, vervet_types::LoadError> {
    use crate::arch::Extend;
    use vervet_types::Prim as P;
    Ok(match method.sig()?.ret.stack_prim()? {
        Some(P::Bool | P::U1) => Extend::U1,
        Some(P::I1) => Extend::I1,
        Some(P::Char | P::U2) => Extend::U2,
        Some(P::I2) => Extend::I2,
        _ => Extend::No,
    })
}

// ---- virtual dispatch ---------------------------------------------------------------------------------------

/// From the slot thunk: the code behind that slot of the VTable of `this`, which the slot holds from now on, or 0 with an exception pending.
#[unsafe(export_name = "vervet_resolve_slot_call")]
pub extern "C" fn resolve_slot_call(_ctx: *mut ThreadContext, slot: u32, this: usize) -> usize {
    let cx = Cx::current();
    // SAFETY: the call has loaded its target from the VTable of `this`, so it is a live object; the thunk's frame pins it.
    let this = unsafe { ObjRef::from_addr(this) };
    let vt = this.vtable();
    let class = class_of(vt);
    let found = cx.load(class.vtable()).and_then(|layout| {
        let method = layout.slots[slot as usize];
        if remoting::is_proxy_vtable(vt) {
            let code = cx.proxy_code(vt, method)?;
            entries::store_slot(vt, slot as usize, code);
            return Ok(code);
        }
        cx.load(entries::fill_slot(
            method,
            wants_unboxing(method, vt),
            vt,
            slot as usize,
        ))
    });
    found.unwrap_or_default()
}

// ---- interface dispatch --------------------------------------------------------------------------------------

/// What each IMT entry (VTable address, index) knows.
type ImtTable = FxHashMap<(usize, usize), Vec<ImtTarget>>;
static IMT: SafeLock<Option<ImtTable>> = SafeLock::new(None);

/// From the IMT thunk: finds the implementation of interface method `hidden` for `this`, extends the IMT stub of
/// its VTable, returns the code, or 0 with an exception pending.
#[unsafe(export_name = "vervet_resolve_interface_call")]
pub extern "C" fn resolve_interface_call(
    _ctx: *mut ThreadContext,
    hidden: usize,
    this: usize,
) -> usize {
    let cx = Cx::current();
    // SAFETY: the call site stored the address of a method, which lives for ever, in `hidden`. The call has loaded the VTable of `this`,
    // so it is a live object; the thunk's frame pins it.
    let (method, this): (MethodRef, ObjRef<'_>) = unsafe {
        (
            &*(hidden as *const vervet_types::Method),
            ObjRef::from_addr(this),
        )
    };
    let vt = this.vtable();
    if remoting::is_proxy_vtable(vt) {
        let found = cx.proxy_stub(vt, method);
        return found.map_or(0, |stub| {
            extend_imt(vt, method, stub.cell, false);
            stub.code
        });
    }
    let found = implementation(&cx, vt, method).and_then(|target| {
        let code = callable(&cx, target, vt)?;
        let entry = cx.load(entries::entry(domain::by_id(vt.domain), target))?;
        extend_imt(vt, method, entry.slot(), wants_unboxing(target, vt));
        Ok(code)
    });
    found.unwrap_or_default()
}

/// The implementation of an interface method on a class.
fn implementation<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
    method: MethodRef,
) -> Result<MethodRef> {
    let class = class_of(vt);
    match cx.load(class.find_interface_impl(method))? {
        Some(m) => Ok(m),
        None => Err(cx.throw(
            Known::EntryPointNotFoundException,
            &format!("{} on {}", method.signed_name(), class.full_name()),
        )),
    }
}

/// The callable code (boxed entry for value types) of an interface method on a class.
pub fn implementation_code<'cx>(
    cx: &'cx Cx<'cx>,
    vt: &'static VTable,
    method: MethodRef,
) -> Result<usize> {
    callable(cx, implementation(cx, vt, method)?, vt)
}

/// Does the method, called on an object of that VTable, want a byref to the value in the box?
fn wants_unboxing(method: MethodRef, vt: &'static VTable) -> bool {
    vt.flags & vtable::flags::VALUE_TYPE != 0 && std::ptr::eq(method.class, class_of(vt))
}

/// The address to call a method at on an object of that VTable: the unboxing stub if the method belongs to a
/// value type.
pub fn callable<'cx>(cx: &'cx Cx<'cx>, method: MethodRef, vt: &'static VTable) -> Result<usize> {
    let e = cx.load(entries::entry(domain::by_id(vt.domain), method))?;
    if wants_unboxing(method, vt) {
        cx.load(e.boxed_stub())
    } else {
        Ok(e.stub())
    }
}

/// Where there is no room for a longer stub, calls go on to come here.
fn extend_imt(vt: &'static VTable, method: MethodRef, slot: usize, boxed: bool) {
    let index = vtable::imt_index(method.stable_hash());
    let key = method as *const _ as usize;
    // Held until the stub is stored: of two threads the one that knows more targets stores last.
    let mut all = IMT.lock();
    let known = all
        .get_or_insert_default()
        .entry((vt as *const VTable as usize, index))
        .or_default();
    if known.iter().any(|t| t.method == key) {
        return;
    }
    known.push(ImtTarget {
        method: key,
        slot,
        boxed,
    });
    if let Ok(stub) = crate::arch::place_imt_stub(known, crate::arch::imt_resolve_address()) {
        vt.imt[index].store(stub, Ordering::Release);
    }
}

/// A remembered answer of [`resolve_virtual`]: VTable, method, code.
type Resolved = (usize, usize, usize);
const RESOLVED: usize = 256;
thread_local! {
    /// Answers of this thread, by a hash. What they name lives for ever and code addresses are permanent stubs. They are on the heap: the library for hosts
    /// has little room for thread-local variables.
    static ANSWERS: Box<[std::cell::Cell<Resolved>]> = vec![std::cell::Cell::new((0, 0, 0)); RESOLVED].into();
}

/// Code for ldvirtftn and generic virtual calls.
pub fn resolve_virtual<'cx>(
    cx: &'cx Cx<'cx>,
    this: ObjRef<'cx>,
    method: MethodRef,
) -> Result<usize> {
    let this = cx.non_null(this)?;
    let vt = this.vtable();
    let key = (
        vt as *const VTable as usize,
        method as *const vervet_types::Method as usize,
    );
    let at = ((key.0 >> 4) ^ (key.1 >> 4) ^ (key.1 >> 12)) % RESOLVED;
    let known = answer(at);
    if (known.0, known.1) == key {
        remembered::generic(vt, method, known.2);
        return Ok(known.2);
    }
    let code = look_up_virtual(cx, vt, method)?;
    remember(at, (key.0, key.1, code));
    remembered::generic(vt, method, code);
    Ok(code)
}

// A green thread may change its OS thread while a method is looked up: no address of a thread-local variable is kept across that.
#[inline(never)]
fn answer(at: usize) -> Resolved {
    // A thread that ends, and has no answers any more, looks everything up.
    ANSWERS.try_with(|a| a[at].get()).unwrap_or_default()
}
#[inline(never)]
fn remember(at: usize, answer: Resolved) {
    let _ = ANSWERS.try_with(|a| a[at].set(answer));
}

/// The code that a virtual call of the method on an object of that VTable reaches: by its slot, or its implementation of the interface.
fn look_up_virtual<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable, method: MethodRef) -> Result<usize> {
    if remoting::is_proxy_vtable(vt) {
        return cx.proxy_code(vt, method);
    }
    if method.class.is_interface() {
        return implementation_code(cx, vt, method);
    }
    if !method.is_virtual() {
        return Ok(cx
            .load(entries::entry(domain::by_id(vt.domain), method))?
            .stub());
    }
    let target = cx.load(class_of(vt).find_virtual_impl(method))?;
    callable(cx, target, vt)
}
