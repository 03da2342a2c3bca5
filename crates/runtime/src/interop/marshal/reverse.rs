//! Native code that calls managed code: a code address for a delegate, a delegate for a code address.
//!
//! # Invariants
//! * A delegate that native code may call has one thunk, remembered in its `delegate_trampoline`; the thunk's record holds the delegate by a weak
//!   handle ([`super::thunks`]). The delegate lives as long as managed code holds it, as in mono and .NET: while native code can call
//!   it, the program keeps a reference. A call of one that was collected ends the process with a message.
//! * From the moment when [`prepare`] has found the delegate the thread is in Runtime state and its stack holds the reference.
//! * The delegate runs where it is called, on the stack of its thread, which is attached by its first call and stays so; one on its
//!   way out ([`crate::threads::attach`]) is attached for the call only. A call that a signal handler makes is not made here
//!   ([`handler_calls`]).
use super::handler_calls;
use super::native_functions;
use super::thunks::{self, Record};
use crate::arch::upcalls::{FOR_THE_CALL, OF_DOMAIN, OF_GREEN, ReverseEntry};
use crate::code::link;
use crate::code::table::CodeKind;
use crate::cx::{Cx, Result};
use crate::domain;
use crate::exceptions::trace::TraceMode;
use crate::object::ObjRef;
use crate::safepoint::registry;
use crate::threads::green;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::layouts::DelegateObject;
use vervet_abi::native_call::ReverseCall;
use vervet_abi::{State, ThreadContext};
use vervet_os::{LeafLock, signal};
use vervet_types::{ClassRef, Known, MethodRef};

#[derive(Default)]
struct Tables {
    /// By the id of `Invoke`. They name no VTable, so all domains share them.
    stubs: FxHashMap<u32, usize>,
    /// By the ids of the domain and of `Invoke`.
    natives: FxHashMap<(u32, u32), usize>,
}
static TABLES: LeafLock<Option<Tables>> = LeafLock::new(None);

fn reverse_stub<'cx>(cx: &'cx Cx<'cx>, invoke: MethodRef) -> Result<usize> {
    if let Some(code) = TABLES.lock().get_or_insert_default().stubs.get(&invoke.id) {
        return Ok(*code);
    }
    let blob = cx.native(|| {
        crate::threads::service_stack::on_service_stack(|| cx.rt().compiler.reverse_stub(invoke))
    });
    let blob = blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
    let code = link::link(cx, cx.rt().root, blob, CodeKind::Callback(invoke))?.start;
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
    if let Some(native) = native_functions::address_in(delegate) {
        return Ok(native);
    }
    let invoke = crate::interop::delegates::invoke_method(cx, delegate.class())?;
    let stub = reverse_stub(cx, invoke)?;
    let record = thunks::take(cx, invoke, stub, delegate)?;
    let thunk = record.thunk.load(Ordering::Acquire);
    // SAFETY: the word lies in the delegate, which stays where it is while the reference is in use here.
    let word = unsafe { AtomicUsize::from_ptr((delegate.addr() + at) as *mut usize) };
    match word.compare_exchange(0, thunk, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(thunk),
        Err(first) => {
            thunks::give_back(record);
            Ok(first)
        }
    }
}

/// A delegate of that class that calls the native function; null for 0. A thunk of ours gives back its delegate.
pub fn delegate_for<'cx>(cx: &'cx Cx<'cx>, address: usize, class: ClassRef) -> Result<ObjRef<'cx>> {
    if address == 0 {
        return Ok(ObjRef::NULL);
    }
    // One of another class is called through its thunk, as any native function is.
    if let Some(delegate) = own_delegate(cx, address)?
        && cx.load(cx.universe().is_assignable(delegate.class(), class))?
    {
        return Ok(delegate);
    }
    around_native(cx, address, class)
}

/// What a program gets that asks for a delegate for a function's address: of a thunk of ours its delegate, also if that is of another class.
///
/// # Errors
/// NotSupportedException if the delegate belongs to another domain.
pub fn delegate_asked_for<'cx>(
    cx: &'cx Cx<'cx>,
    address: usize,
    class: ClassRef,
) -> Result<ObjRef<'cx>> {
    match own_delegate(cx, address)? {
        Some(delegate) => Ok(delegate),
        None if address == 0 => Ok(ObjRef::NULL),
        None => around_native(cx, address, class),
    }
}

/// The delegate whose thunk is at that address.
fn own_delegate<'cx>(cx: &'cx Cx<'cx>, address: usize) -> Result<Option<ObjRef<'cx>>> {
    match thunks::delegate_at(address) {
        Some(delegate) if delegate.vtable().domain != cx.domain().id => Err(cx.throw(
            Known::NotSupportedException,
            "Delegates cannot be marshalled from native code into a domain other than their home domain",
        )),
        found => Ok(found),
    }
}

/// A delegate of that class that calls the native function.
fn around_native<'cx>(cx: &'cx Cx<'cx>, address: usize, class: ClassRef) -> Result<ObjRef<'cx>> {
    let invoke = crate::interop::delegates::invoke_method(cx, class)?;
    let key = (cx.domain().id, invoke.id);
    let known = TABLES
        .lock()
        .get_or_insert_default()
        .natives
        .get(&key)
        .copied();
    let code = match known {
        Some(c) => c,
        None => {
            let blob = cx.native(|| {
                crate::threads::service_stack::on_service_stack(|| {
                    cx.rt().compiler.native_delegate_thunk(invoke)
                })
            });
            let blob =
                blob.map_err(|e| cx.throw(Known::MarshalDirectiveException, &e.to_string()))?;
            let code = link::link(cx, cx.domain(), blob, CodeKind::Wrapper(invoke))?.start;
            TABLES
                .lock()
                .get_or_insert_default()
                .natives
                .insert(key, code);
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
    // The class library asks for the method when a program does.
    delegate.write(offset_of!(DelegateObject, method_is_virtual), 1u8);
    Ok(delegate)
}

/// From the reverse thunk, after a call that was [`FOR_THE_CALL`], [`OF_GREEN`] or [`OF_DOMAIN`], in the state that the call was made in.
#[unsafe(export_name = "vervet_finish_reverse_call")]
pub extern "C" fn finish(before: usize) {
    // SAFETY: errno is the calling thread's.
    unsafe {
        let errno = *libc::__errno_location();
        let context = crate::threads::current_context();
        if before & FOR_THE_CALL != 0 {
            // It goes with its domain.
            crate::threads::attach::detach();
        } else {
            if before & OF_DOMAIN != 0 {
                go_back(context, before);
            }
            if before & OF_GREEN != 0 {
                green::wait::enter_native(context);
            }
        }
        *libc::__errno_location() = errno;
    }
}

/// Back to the domain that the thread left for a call. It is in Native or Foreign state, and is so again afterwards.
///
/// # Safety
/// The context is the calling thread's; `before` is what [`prepare`] has said, with [`OF_DOMAIN`].
unsafe fn go_back(context: *mut ThreadContext, before: usize) {
    // SAFETY: the context is this thread's, in the state that `before` says; the native frames below are found as before the call.
    unsafe {
        let state = registry::state(context);
        let native = before as u8 == State::Native as u8;
        if native {
            crate::threads::native_state::leave_native(context);
        } else {
            crate::threads::native_state::leave_foreign(context);
        }
        let cx = Cx::current();
        domain::crossing::enter(&cx, domain::by_id((before >> 32) as u32));
        domain::crossing::pop(&cx);
        if native {
            crate::threads::native_state::go_native(context);
        } else {
            state.store(before as u8, Ordering::Release);
        }
    }
}

/// Was the call made by a signal handler? Handlers run on an alternate stack (all that are installed by way of our
/// `sigaction`); one that does not is seen at least if it interrupted managed code.
///
/// # Safety
/// The context is the calling thread's, or null if the call is not `on_own_stack`.
unsafe fn is_in_handler(context: *mut ThreadContext, on_own_stack: bool) -> bool {
    match on_own_stack {
        // SAFETY: on its own stack a thread is attached, and the context is its.
        true => unsafe { registry::state(context) }.load(Ordering::Relaxed) == State::Managed as u8,
        false => signal::is_on_alternate_stack(),
    }
}

/// From the reverse thunk: the context of this thread, attached if it is foreign to us, and now in Runtime state.
///
/// # Safety
/// The record and the block are those of the thunk.
#[unsafe(export_name = "vervet_prepare_reverse_call")]
pub unsafe extern "C" fn prepare(record: &'static Record, call: *mut ReverseCall) -> ReverseEntry {
    let context = crate::threads::current_context();
    if context.is_null() && !signal::is_on_alternate_stack() {
        let (context, for_the_call) = crate::threads::attach::attach_foreign();
        let cx = Cx::current();
        if let Err(t) = crate::threads::adopt::adopt_foreign(&cx) {
            cx.take_pending(t);
        }
        // SAFETY: the context belongs to this thread, none of whose native frames holds a reference.
        let into = unsafe {
            (*context).scan_sp = (*context).stack_base;
            (*call).delegate = thunks::callee_of(record, (*call).int_regs[0]);
            enter_domain(&cx, (*call).delegate)
        };
        return ReverseEntry {
            context,
            before: State::Native as usize | into | if for_the_call { FOR_THE_CALL } else { 0 },
        };
    }
    let here = (&raw const context) as usize;
    let on_own_stack = !context.is_null() && crate::threads::attach::is_on_own_stack(context, here);
    // SAFETY: the context is this thread's.
    if unsafe { is_in_handler(context, on_own_stack) } {
        // SAFETY: the record and the block are those of the thunk, as the caller promises, and live until it returns.
        unsafe { handler_calls::call(context, record, &mut *call) };
        return ReverseEntry {
            context: std::ptr::null_mut(),
            before: 0,
        };
    }
    if !on_own_stack {
        crate::process::fatal::internal_error(
            "native code called managed code on a stack that is not its thread's",
        );
    }
    // SAFETY: the context is this thread's, which is attached and calls managed code from Native or Runtime state.
    let before = unsafe {
        let before = registry::state(context).load(Ordering::Relaxed);
        let of_green = (*context).green != 0 && green::wait::is_in_native_call(context);
        if before == State::Native as u8 {
            if of_green {
                green::wait::leave_native(context);
            }
            crate::threads::native_state::leave_native(context);
        } else {
            crate::threads::native_state::leave_foreign(context);
            if of_green {
                crate::threads::native_state::wait_for_processor(context);
            }
        }
        before as usize | if of_green { OF_GREEN } else { 0 }
    };
    let cx = Cx::current();
    if let Err(throw) = crate::threads::stack_guard::check_native(&cx) {
        // It passes the native frames by, as one that the delegate throws.
        let overflow = cx.take_pending(throw);
        crate::exceptions::throw::raise(&cx, overflow, TraceMode::Fresh);
    }
    // SAFETY: the block is that of the thunk, as the caller promises.
    let into = unsafe {
        (*call).delegate = thunks::callee_of(record, (*call).int_regs[0]);
        enter_domain(&cx, (*call).delegate)
    };
    ReverseEntry {
        context,
        before: before | into,
    }
}

/// The thread goes to the domain of the delegate at that address, which the calling thread's stack holds. What [`finish`] has to know of it: [`OF_DOMAIN`] and
/// the domain before, or 0 if it is the same.
///
/// # Safety
/// It is the address of a delegate, and the thread is in Runtime state.
unsafe fn enter_domain(cx: &Cx<'_>, delegate: usize) -> usize {
    // SAFETY: the caller's promise.
    let of = unsafe { ObjRef::from_addr(delegate) }.vtable().domain;
    if of == cx.domain().id {
        return 0;
    }
    let domain = domain::by_id(of);
    domain::crossing::push(cx, domain);
    let before = domain::crossing::enter(cx, domain);
    OF_DOMAIN | (before.id as usize) << 32
}
