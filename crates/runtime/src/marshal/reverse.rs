//! Native code that calls managed code: a code address for a delegate, a delegate for a code address.
//!
//! # Invariants
//! Each delegate that native code may call has one thunk, remembered in the delegate's `delegate_trampoline`; the
//! thunk's record holds the delegate through a root. (Thunks are not given back yet.)
use crate::code::link;
use crate::code::table::CodeKind;
use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::roots::Root;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use vervet_abi::Context;
use vervet_abi::layouts::DelegateObject;
use vervet_os::LeafLock;
use vervet_types::{ClassRef, Known, MethodRef};

/// What the reverse thunk of a delegate leads to; the asm reads the first two words.
#[repr(C)]
pub struct Record {
    /// Address of the root slot that holds the delegate.
    pub root: usize,
    /// The reverse stub of its class.
    pub stub: usize,
}

#[derive(Default)]
struct Tables {
    stubs: FxHashMap<u32, usize>,
    thunks: FxHashMap<usize, Root>,
    natives: FxHashMap<u32, usize>,
}
static TABLES: LeafLock<Option<Tables>> = LeafLock::new(None);

fn reverse_stub<'cx>(cx: &'cx Cx<'cx>, invoke: MethodRef) -> Result<usize> {
    if let Some(code) = TABLES.lock().get_or_insert_default().stubs.get(&invoke.id) {
        return Ok(*code);
    }
    let blob =
        cx.native(|| crate::thread::on_service_stack(|| cx.rt().compiler.reverse_stub(invoke)));
    let blob = blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
    let code = link::link(cx, blob, CodeKind::Wrapper(invoke))?.start;
    TABLES
        .lock()
        .get_or_insert_default()
        .stubs
        .insert(invoke.id, code);
    Ok(code)
}

/// A native code address that calls the delegate; 0 for null.
pub fn function_pointer<'cx>(cx: &'cx Cx<'cx>, delegate: ObjRef<'cx>) -> Result<usize> {
    if delegate.is_null() {
        return Ok(0);
    }
    let at = offset_of!(DelegateObject, delegate_trampoline);
    let have: usize = delegate.read(at);
    if have != 0 {
        return Ok(have);
    }
    let extra: usize = delegate.read(offset_of!(DelegateObject, extra_arg));
    if extra != 0 {
        return Ok(extra);
    }
    let invoke = crate::delegates::invoke_method(cx, delegate.class())?;
    let stub = reverse_stub(cx, invoke)?;
    let root = Root::of(delegate);
    let record: &'static Record = Box::leak(Box::new(Record {
        root: root.address(),
        stub,
    }));
    let thunk = crate::prestub::place_stub(
        crate::arch::reverse_thunk(record as *const Record as usize),
        "native-to-managed",
    );
    TABLES
        .lock()
        .get_or_insert_default()
        .thunks
        .insert(thunk, root);
    delegate.write(at, thunk);
    Ok(thunk)
}

/// A delegate of that class that calls the native function; null for 0. A thunk of ours gives back its delegate.
pub fn delegate_for<'cx>(cx: &'cx Cx<'cx>, address: usize, class: ClassRef) -> Result<ObjRef<'cx>> {
    if address == 0 {
        return Ok(ObjRef::NULL);
    }
    if let Some(root) = TABLES.lock().get_or_insert_default().thunks.get(&address) {
        return Ok(root.get());
    }
    let invoke = crate::delegates::invoke_method(cx, class)?;
    let known = TABLES
        .lock()
        .get_or_insert_default()
        .natives
        .get(&invoke.id)
        .copied();
    let code = match known {
        Some(c) => c,
        None => {
            let blob = cx.native(|| {
                crate::thread::on_service_stack(|| cx.rt().compiler.native_delegate_thunk(invoke))
            });
            let blob =
                blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
            let code = link::link(cx, blob, CodeKind::Wrapper(invoke))?.start;
            TABLES
                .lock()
                .get_or_insert_default()
                .natives
                .insert(invoke.id, code);
            code
        }
    };
    let delegate = cx.alloc(class)?;
    delegate.write(offset_of!(DelegateObject, invoke_impl), code);
    delegate.write(offset_of!(DelegateObject, extra_arg), address);
    delegate.write(
        offset_of!(DelegateObject, method),
        invoke as *const _ as usize,
    );
    delegate.write(offset_of!(DelegateObject, method_ptr), address);
    Ok(delegate)
}

/// From the reverse thunk: the context of this thread, attached if it is foreign to us.
pub extern "C" fn prepare() -> *mut Context {
    let ctx = crate::thread::current_context();
    if ctx.is_null() {
        let ctx = crate::thread::attach();
        let cx = Cx::current();
        if let Err(t) = crate::startup::attach_thread_objects(&cx) {
            cx.take_pending(t);
        }
        return ctx;
    }
    // SAFETY: the context belongs to this thread.
    if unsafe { (*ctx).state } == vervet_abi::State::Managed as u8 {
        crate::startup::internal_error(
            "native code called managed code while this thread was in managed code (a delegate used as a signal handler?)",
            ctx,
        );
    }
    ctx
}
