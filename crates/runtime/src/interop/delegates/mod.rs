//! Filling delegates: which code `Invoke` jumps to.
//!
//! # What the fields of a delegate hold
//! | field | holds |
//! |---|---|
//! | `m_target` | the first argument of a closed delegate; null for an open one |
//! | `method_ptr` | the permanent stub of the method, equal for equal targets |
//! | `invoke_impl` | the code that `Invoke` jumps to, with `m_target` as first argument, or the delegate itself if that is null |
//!
//! # What a call of `Invoke(a, b)` becomes
//! | binding | method | `invoke_impl` | the method gets |
//! |---|---|---|---|
//! | closed, instance | `T.M(a, b)` | the method's stub | `m_target`, a, b |
//! | closed, instance, null target | the same | thunk | null, a, b |
//! | closed, static | `M(first, a, b)` | the method's stub; a thunk if the first argument is null | `m_target`, a, b |
//! | open, static | `M(a, b)` | thunk | a, b |
//! | open, instance | `A.M(b)` | thunk | a as `this`, b |
//! | open, virtual, or of a MarshalByRefObject | `A.M(b)` | thunk that looks the implementation up | a as `this`, b |
//!
//! The caller loads `m_target`, or the delegate if that is null, as first argument and jumps: it does not test what kind of delegate it has. A
//! method is closed if it has one parameter more than `Invoke`, `this` included.
//!
//! Generated code fills a delegate itself if the method is known when the code is compiled and `invoke_impl` is the method's stub
//! (`jit/translate/calls/newobj.rs`). [`init`] fills the others.
//!
//! # Invariants
//! `invoke_impl` is the method's own stub exactly when the delegate is closed over a non-null first argument. Every other delegate has
//! a thunk, by binding and signature, that all domains share and that gets the delegate as first argument and arranges the arguments of the method.
pub mod async_call;

use crate::code::entries;
use crate::code::link;
use crate::code::table::{self, CodeKind};
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::remoting;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::layouts::{DelegateObject, MulticastDelegateObject};
use vervet_jit::LoweredSignature;
use vervet_jit::stubs::delegate::{Binding, DelegateThunk};
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::{Known, LoadError, MethodRef};

/// What a delegate class says about all delegates of it. Made when the runtime first needs it, and kept, because programs make
/// delegates all the time.
struct Facts {
    /// `Invoke`.
    invoke: MethodRef,
    /// Its signature.
    lowered: LoweredSignature,
    /// Code of the thunks by [`DelegateThunk`], 0 for those that were not asked for yet.
    thunks: [AtomicUsize; DelegateThunk::COUNT],
}

/// [`Facts`] by the id of the class.
static FACTS: Chunks<Published<Facts>> = Chunks::new();

fn facts<'cx>(cx: &'cx Cx<'cx>, class: vervet_types::ClassRef) -> Result<&'static Facts> {
    let cell = FACTS.at(class.id);
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let make = || {
        let invoke = class
            .find_method("Invoke", None)?
            .ok_or_else(|| LoadError::missing_method(class, "Invoke"))?;
        Ok(Facts {
            invoke,
            lowered: LoweredSignature::of_method(invoke)?,
            thunks: Default::default(),
        })
    };
    Ok(cell.put(cx.load(make())?))
}

/// The `Invoke` of a delegate class.
pub fn invoke_method<'cx>(cx: &'cx Cx<'cx>, class: vervet_types::ClassRef) -> Result<MethodRef> {
    Ok(facts(cx, class)?.invoke)
}

/// Code of the thunks by kind and lowered signature. Two threads may make one at the same time; both work, and the second stays.
static THUNKS: LeafLock<Option<FxHashMap<(DelegateThunk, String), usize>>> = LeafLock::new(None);

/// What `invoke_impl` of a delegate of that class with that binding holds; `code` is its `method_ptr`.
fn invoke_impl<'cx>(
    cx: &'cx Cx<'cx>,
    class: vervet_types::ClassRef,
    binding: Binding,
    code: usize,
) -> Result<usize> {
    let facts = facts(cx, class)?;
    let Some(kind) = DelegateThunk::of(binding, &facts.lowered) else {
        return Ok(code);
    };
    let kept = &facts.thunks[kind as usize];
    let mut thunk = kept.load(Ordering::Acquire);
    if thunk == 0 {
        // Traces name the class of such a delegate.
        let name = match kind {
            DelegateThunk::Multicast => Some(table::MULTICAST_THUNK),
            DelegateThunk::OpenVirtual => Some(table::OPEN_VIRTUAL_THUNK),
            _ => None,
        };
        thunk = match name {
            Some(name) => {
                let code = thunk_of(cx, kind, &facts.lowered, name)?;
                table::name_thunk(code, facts.invoke);
                code
            }
            None => thunk_for(cx, kind, &facts.lowered)?,
        };
        kept.store(thunk, Ordering::Release);
    }
    Ok(thunk)
}

/// The thunk of that kind for an `Invoke` of that signature. Classes with the same signature share it.
fn thunk_for<'cx>(
    cx: &'cx Cx<'cx>,
    kind: DelegateThunk,
    lowered: &LoweredSignature,
) -> Result<usize> {
    let key = (kind, lowered.key());
    if let Some(code) = THUNKS.lock().as_ref().and_then(|m| m.get(&key).copied()) {
        return Ok(code);
    }
    let code = thunk_of(cx, kind, lowered, "delegate-thunk")?;
    THUNKS
        .lock()
        .get_or_insert_with(FxHashMap::default)
        .insert(key, code);
    Ok(code)
}

/// Makes a thunk, whose code has that name.
fn thunk_of<'cx>(
    cx: &'cx Cx<'cx>,
    kind: DelegateThunk,
    lowered: &LoweredSignature,
    name: &'static str,
) -> Result<usize> {
    let blob = crate::code::kept_stub::delegate_thunk(cx, kind, lowered);
    Ok(link::link(cx, cx.rt().root, blob, CodeKind::Stub(name))?.start)
}

/// Fills a new delegate over `method`. `this` is its target or first argument, null if none.
pub fn init<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    this: ObjRef<'cx>,
    method: MethodRef,
    is_virtual: bool,
) -> Result<()> {
    let class = delegate.class();
    let invoke = invoke_method(cx, class)?;
    let wanted = cx.load(invoke.sig())?.params.len();
    let has = cx.load(method.sig())?.params.len() + usize::from(!method.is_static());
    let mut target = method;
    let entry = cx.load(entries::entry(cx.domain(), method))?;
    let mut code = entry.stub();
    if let Some(this) = this.non_null() {
        if remoting::is_proxy(this) && !method.is_static() {
            code = cx.proxy_code(this.vtable(), method)?;
        } else if (is_virtual || method.is_abstract()) && !method.is_static() && method.is_virtual()
        {
            // Of a method without a body `ldftn` names the one that the target has for it.
            // A delegate is made over what the slot holds, as in mono, also if the method is final and a class has replaced it all the same.
            let named = match method.is_final() && !method.class.is_interface() {
                true => cx.load(this.class().find_in_slot(method))?,
                false => method,
            };
            code = crate::code::prestub::resolve_virtual(cx, this, named)?;
            target = entries::method_of_stub(code).unwrap_or(method);
        } else if !method.is_static() && cx.load(method.class.is_value_type())? {
            code = cx.load(entry.boxed_stub())?;
        }
    }
    let closed = has == wanted + 1;
    let null = this.is_null();
    let binding = match (closed, method.is_static()) {
        (true, true) => Binding::ClosedStatic { null },
        (true, false) => Binding::ClosedInstance { null },
        (false, true) => Binding::OpenStatic,
        // The first argument is the address of a value, and nothing overrides the method.
        (false, false) if cx.load(method.class.is_value_type())? => Binding::OpenInstance,
        (false, false) if is_virtual && method.is_virtual() => Binding::OpenVirtual,
        // The object may be a transparent proxy, and then it decides.
        (false, false) if cx.load(method.class.is_marshal_by_ref())? => Binding::OpenVirtual,
        (false, false) => Binding::OpenInstance,
    };
    if let Binding::OpenVirtual = binding {
        // What decides must be an object. Mono finds out when the delegate is called.
        let receiver = cx.load(invoke.sig())?.params.first();
        let is_object = match receiver {
            Some(class) => cx.load(class.is_reference_type())?,
            None => false,
        };
        if !is_object {
            return Err(cx.throw_default(Known::InvalidProgramException));
        }
    }
    let impl_code = invoke_impl(cx, class, binding, code)?;
    delegate.write(offset_of!(DelegateObject, method_ptr), code);
    delegate.write(offset_of!(DelegateObject, invoke_impl), impl_code);
    delegate.write(
        offset_of!(DelegateObject, method),
        target as *const _ as usize,
    );
    delegate.write_ref(
        offset_of!(DelegateObject, m_target),
        if closed { this } else { ObjRef::NULL },
    );
    delegate.write(
        offset_of!(DelegateObject, method_is_virtual),
        u8::from(is_virtual && this.is_null()),
    );
    Ok(())
}

/// A delegate constructor called with a bare code address (`ldftn` was not next to `newobj`).
pub fn init_from_code<'cx>(
    cx: &'cx Cx<'cx>,
    delegate: ObjRef<'cx>,
    this: ObjRef<'cx>,
    code: usize,
) -> Result<()> {
    match entries::method_of_stub(code) {
        Some(m) => {
            if this.is_null() && !m.is_static() {
                let invoke = cx
                    .load(invoke_method(cx, delegate.class())?.sig())?
                    .params
                    .len();
                if cx.load(m.sig())?.params.len() == invoke {
                    return Err(cx.throw(
                        Known::ArgumentException,
                        "Value does not fall within the expected range.",
                    ));
                }
            }
            init(cx, delegate, this, m, false)
        }
        None if code == 0 => Err(cx.throw_arg_null("method")),
        None => Err(cx.throw(
            Known::NotSupportedException,
            "a delegate over an address that is no method",
        )),
    }
}

/// A new delegate of the same class that will hold several targets (its `delegates` is filled by managed code).
pub fn alloc_multicast_like<'cx>(cx: &'cx Cx<'cx>, delegate: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let made = cx.alloc(delegate.class())?;
    let code = invoke_impl(cx, delegate.class(), Binding::Multicast, 0)?;
    made.write(offset_of!(DelegateObject, invoke_impl), code);
    let _ = offset_of!(MulticastDelegateObject, delegates);
    Ok(made)
}
