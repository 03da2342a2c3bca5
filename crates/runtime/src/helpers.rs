//! The bodies of the helpers that generated code calls, and their stubs.
//!
//! # Invariants
//! One row per `vervet_abi::Helper`; a helper's effect decides its thunk. What is `Leaf` here takes no lock,
//! allocates nothing and cannot throw.
use crate::cx::{Cx, Result};
use crate::exceptions::{self, throw::TraceMode};
use crate::icall::{IcallRet, finish};
use crate::marshal::helpers as marshal;
use crate::object::ObjRef;
use crate::threads::attention;
use vervet_abi::vtable::flags;
use vervet_abi::{Effect, Helper, VTable};
use vervet_os::{Chunks, Published};
use vervet_types::{Class, Known, Method, MethodRef};

static STUBS: Chunks<Published<usize>> = Chunks::new();

/// Code address of a helper's stub.
pub fn address(helper: Helper) -> usize {
    *STUBS
        .at(helper as u32)
        .get()
        .expect("helpers are made at start-up")
}

/// Makes the stubs. Called once at start-up.
pub fn initialise() {
    for &h in Helper::ALL {
        let code = match h.sig().effect {
            // Blocks of any length, in steps that a stop does not have to wait for.
            Effect::Leaf if h == Helper::MemMove => crate::arch::blocks::move_stub(),
            Effect::Leaf if h == Helper::MemSet => crate::arch::blocks::set_stub(),
            Effect::Asm => crate::arch::grow_address(),
            Effect::Leaf => crate::prestub::place_stub(crate::arch::leaf_stub(body(h)), "helper")
                .expect("room at start-up"),
            Effect::Runtime | Effect::NoReturn => {
                crate::prestub::place_stub(crate::arch::icall_stub(body(h), 0, 0), "helper")
                    .expect("room at start-up")
            }
        };
        STUBS.at(h as u32).put(code);
    }
}

fn with<'a, T: IcallRet>(f: impl FnOnce(&'a Cx<'a>) -> Result<T>) -> T::Abi {
    let cx = Cx::current();
    // SAFETY: the token stays on this frame while `f` runs; nothing `f` returns borrows it.
    let cx: &'a Cx<'a> = unsafe { &*(&cx as *const Cx<'a>) };
    finish(f(cx))
}
fn object<'a>(addr: usize) -> ObjRef<'a> {
    // SAFETY: generated code passes null or a live object, kept by the exit record.
    unsafe { ObjRef::from_addr(addr) }
}
fn vt(addr: usize) -> &'static VTable {
    // SAFETY: generated code passes the address of a VTable.
    unsafe { &*(addr as *const VTable) }
}
fn class(addr: usize) -> &'static Class {
    // SAFETY: generated code passes a class handle.
    unsafe { &*(addr as *const Class) }
}
fn method(addr: usize) -> MethodRef {
    // SAFETY: generated code passes a method handle.
    unsafe { &*(addr as *const Method) }
}

fn body(h: Helper) -> usize {
    match h {
        Helper::AllocObject => alloc_object as *const () as usize,
        Helper::AllocArray => alloc_array as *const () as usize,
        Helper::AllocMdArray => alloc_md_array as *const () as usize,
        Helper::AllocJaggedArray => alloc_jagged_array as *const () as usize,
        Helper::CastClass => cast_class as *const () as usize,
        Helper::IsInst => is_inst as *const () as usize,
        Helper::CheckArrayStore => check_array_store as *const () as usize,
        Helper::CheckLdelema => check_ldelema as *const () as usize,
        Helper::Unbox => unbox as *const () as usize,
        Helper::UnboxNullable => unbox_nullable as *const () as usize,
        Helper::BoxNullable => box_nullable as *const () as usize,
        Helper::Throw => throw as *const () as usize,
        Helper::Rethrow => rethrow as *const () as usize,
        Helper::ThrowKind => throw_kind as *const () as usize,
        Helper::ContinueUnwind => exceptions::throw::continue_unwind as *const () as usize,
        Helper::EndCatch => end_catch as *const () as usize,
        Helper::ClassInit => class_init as *const () as usize,
        Helper::ThreadStatics => thread_statics as *const () as usize,
        Helper::ResolveVirtual => resolve_virtual as *const () as usize,
        Helper::DelegateCtor => delegate_ctor as *const () as usize,
        Helper::DelegateCtorMethod => delegate_ctor_method as *const () as usize,
        Helper::DelegateBeginInvoke => delegate_begin_invoke as *const () as usize,
        Helper::DelegateEndInvoke => delegate_end_invoke as *const () as usize,
        Helper::Localloc => localloc as *const () as usize,
        Helper::MonitorEnter => monitor_enter as *const () as usize,
        Helper::MonitorExit => monitor_exit as *const () as usize,
        Helper::MonitorEnterQuick => monitor_enter_quick as *const () as usize,
        Helper::MonitorExitQuick => monitor_exit_quick as *const () as usize,
        Helper::MonitorWake => monitor_wake as *const () as usize,
        Helper::TypeObject => type_object as *const () as usize,
        Helper::CopyValue => copy_value as *const () as usize,
        // Their stubs are `crate::blocks`.
        Helper::MemMove | Helper::MemSet => 0,
        Helper::SetHandle => set_handle as *const () as usize,
        Helper::FreeHandle => free_handle as *const () as usize,
        Helper::FMod => fmod as *const () as usize,
        Helper::BindPInvoke => crate::pinvoke::bind as *const () as usize,
        Helper::Poll => poll as *const () as usize,
        Helper::MarshalToNative => marshal_to_native as *const () as usize,
        Helper::MarshalBack => marshal_back as *const () as usize,
        Helper::MarshalResult => marshal_result as *const () as usize,
        Helper::MarshalStructToNative => marshal_struct_to_native as *const () as usize,
        Helper::MarshalStructToManaged => marshal_struct_to_managed as *const () as usize,
        Helper::MarshalArgToManaged => marshal_arg_to_managed as *const () as usize,
        Helper::MarshalArgBack => marshal_arg_back as *const () as usize,
        Helper::MarshalResultToNative => marshal_result_to_native as *const () as usize,
        Helper::Grow => 0,
        _ => unsupported as *const () as usize,
    }
}

extern "C" fn alloc_object(v: usize) -> usize {
    with(|cx| {
        let v = vt(v);
        if v.flags & flags::NO_INSTANCES != 0 {
            return Err(cx.throw(
                Known::MemberAccessException,
                "Cannot create an instance of an abstract class or interface.",
            ));
        }
        attention::serve(cx)?;
        crate::heap::alloc_object(cx, v)
    })
}
extern "C" fn alloc_array(v: usize, len: i64) -> usize {
    with(|cx| {
        attention::serve(cx)?;
        crate::heap::alloc_array(cx, vt(v), len)
    })
}
extern "C" fn alloc_md_array(v: usize, lengths: *const i32, lower: *const i32) -> usize {
    with(|cx| {
        let rank = vt(v).rank as usize;
        // SAFETY: generated code passes `rank` lengths, and as many lower bounds or null.
        let bounds: Vec<(i64, i32)> = (0..rank)
            .map(|i| unsafe {
                (
                    *lengths.add(i) as i64,
                    if lower.is_null() { 0 } else { *lower.add(i) },
                )
            })
            .collect();
        crate::heap::alloc_md_array(cx, vt(v), &bounds)
    })
}

extern "C" fn alloc_jagged_array(v: usize, lengths: *const i32, count: u32) -> usize {
    fn level<'cx>(cx: &'cx Cx<'cx>, v: &'static VTable, lengths: &[i32]) -> Result<ObjRef<'cx>> {
        let array = crate::heap::alloc_array(cx, v, i64::from(lengths[0]))?;
        if lengths.len() > 1 {
            let inner = cx.rt().vtable_or_throw(cx, class(v.element_class))?;
            for i in 0..array.array_len() {
                array.set_element_ref(i, level(cx, inner, &lengths[1..])?);
            }
        }
        Ok(array)
    }
    with(|cx| {
        // SAFETY: generated code passes that many lengths, at least one.
        let lengths = unsafe { std::slice::from_raw_parts(lengths, count as usize) };
        level(cx, vt(v), lengths)
    })
}

/// Is the object (not null) an instance of the class?
pub fn is_instance<'cx>(cx: &'cx Cx<'cx>, o: ObjRef<'cx>, c: &'static Class) -> Result<bool> {
    let own = o.class();
    if std::ptr::eq(own, c) {
        return Ok(true);
    }
    cx.load(crate::casts::is_assignable(cx.universe(), own, c))
}
extern "C" fn cast_class(o: usize, c: usize) -> usize {
    with(|cx| {
        let (o, c) = (object(o), class(c));
        let target = c.nullable_arg().unwrap_or(c);
        if o.is_null() || is_instance(cx, o, target)? {
            Ok(o)
        } else {
            Err(cx.throw_default(Known::InvalidCastException))
        }
    })
}
extern "C" fn is_inst(o: usize, c: usize) -> usize {
    with(|cx| {
        let (o, c) = (object(o), class(c));
        let target = c.nullable_arg().unwrap_or(c);
        Ok(if o.is_null() || !is_instance(cx, o, target)? {
            ObjRef::NULL
        } else {
            o
        })
    })
}
extern "C" fn check_array_store(array: usize, value: usize) {
    with(|cx| {
        let (array, value) = (object(array), object(value));
        if array.is_null() {
            return Err(cx.throw_default(Known::NullReferenceException));
        }
        if value.is_null() || is_instance(cx, value, class(array.vtable().element_class))? {
            Ok(())
        } else {
            Err(cx.throw_default(Known::ArrayTypeMismatchException))
        }
    })
}
extern "C" fn check_ldelema(array: usize, c: usize) {
    with(|cx| {
        if object(array).vtable().element_class == c {
            Ok(())
        } else {
            Err(cx.throw_default(Known::ArrayTypeMismatchException))
        }
    })
}
extern "C" fn unbox(o: usize, c: usize) -> usize {
    with(|cx| {
        let o = cx.non_null(object(o))?;
        let (have, want) = (o.class(), class(c));
        if !std::ptr::eq(have, want) {
            let (a, b) = (cx.load(have.stack_prim())?, cx.load(want.stack_prim())?);
            if !cx.load(have.is_value_type())? || a.is_none() || a != b {
                return Err(cx.throw_default(Known::InvalidCastException));
            }
        }
        Ok(o.value_ptr() as usize)
    })
}
extern "C" fn unbox_nullable(o: usize, c: usize, to: *mut u8) {
    // SAFETY: generated code passes room for a Nullable of that class, on its stack.
    with(|cx| unsafe { unbox_nullable_into(cx, object(o), class(c), to) })
}
/// Unboxes null or a box of the argument as a Nullable of class `c`.
///
/// # Safety
/// `to` has room for it.
pub(crate) unsafe fn unbox_nullable_into<'cx>(
    cx: &'cx Cx<'cx>,
    o: ObjRef<'cx>,
    c: &'static Class,
    to: *mut u8,
) -> Result<()> {
    let inner = c.nullable_arg().expect("a nullable class");
    let (has, at) = crate::vtables::nullable_offsets(cx, c)?;
    let layout = cx.load(c.layout())?;
    // SAFETY: the caller's promise; the offsets lie inside.
    unsafe {
        crate::heap::clear_value(to, layout.size as usize, !layout.ref_map.is_empty());
        if o.is_null() {
            return Ok(());
        }
        if !std::ptr::eq(o.class(), inner) {
            return Err(cx.throw_default(Known::InvalidCastException));
        }
        *to.add(has as usize) = 1;
        let layout = cx.load(inner.layout())?;
        crate::heap::copy_value(
            to.add(at as usize),
            o.value_ptr(),
            layout.size as usize,
            !layout.ref_map.is_empty(),
        );
    }
    Ok(())
}
extern "C" fn box_nullable(c: usize, from: *const u8) -> usize {
    // SAFETY: generated code passes the address of a Nullable of that class.
    with(|cx| unsafe { cx.box_value(class(c), from) })
}
extern "C" fn throw(o: usize) {
    let cx = Cx::current();
    match object(o).non_null() {
        None => exceptions::traps::throw_kind(&cx, vervet_abi::ThrowKind::NullReference as u32),
        Some(e) => {
            exceptions::throw::raise(&cx, exceptions::wrapped::wrap(&cx, e), TraceMode::Fresh)
        }
    }
}
extern "C" fn rethrow(o: usize) {
    let cx = Cx::current();
    exceptions::throw::raise(&cx, object(o), TraceMode::Rethrow)
}
extern "C" fn throw_kind(kind: u32) {
    let cx = Cx::current();
    exceptions::traps::throw_kind(&cx, kind)
}
extern "C" fn end_catch() {
    let cx = Cx::current();
    crate::abort::raise_again(&cx);
    poll();
}
extern "C" fn poll() {
    with(attention::serve)
}
extern "C" fn class_init(v: usize) {
    with(|cx| crate::class_init::ensure(cx, vt(v)))
}
extern "C" fn thread_statics(v: usize) -> usize {
    with(|cx| Ok(cx.load(crate::statics::thread_block(cx.context(), vt(v)))? as usize))
}
extern "C" fn resolve_virtual(o: usize, m: usize) -> usize {
    with(|cx| crate::prestub::resolve_virtual(cx, object(o), method(m)))
}
extern "C" fn delegate_ctor(d: usize, target: usize, code: usize) {
    with(|cx| crate::delegates::init_from_code(cx, object(d), object(target), code))
}
extern "C" fn delegate_ctor_method(d: usize, target: usize, m: usize, is_virtual: i32) {
    with(|cx| {
        let (d, target, m) = (object(d), object(target), method(m));
        if target.is_null() && !m.is_static() {
            if is_virtual != 0 {
                return Err(cx.throw_default(Known::NullReferenceException));
            }
            let invoke = crate::delegates::invoke_method(cx, d.class())?;
            if cx.load(invoke.sig())?.params.len() == cx.load(m.sig())?.params.len() {
                return Err(cx.throw(
                    Known::ArgumentException,
                    "Value does not fall within the expected range.",
                ));
            }
        }
        crate::delegates::init(cx, d, target, m, is_virtual != 0)
    })
}
extern "C" fn delegate_begin_invoke(d: usize, m: usize, words: *const u64) -> usize {
    with(|cx| crate::delegates::async_call::begin(cx, object(d), method(m), words))
}
extern "C" fn delegate_end_invoke(d: usize, m: usize, words: *const u64, out: *mut u8) {
    with(|cx| crate::delegates::async_call::end(cx, object(d), method(m), words, out))
}
extern "C" fn localloc(bytes: u64) -> usize {
    with(|cx| crate::side_stack::take(cx, bytes as usize))
}
extern "C" fn monitor_enter(o: usize) {
    with(|cx| crate::monitor::enter(cx, object(o)))
}
extern "C" fn monitor_exit(o: usize) {
    with(|cx| crate::monitor::exit(cx, object(o)))
}
extern "C" fn monitor_enter_quick(ctx: *mut vervet_abi::Context, o: usize) -> u32 {
    // SAFETY: generated code passes its thread's context, and cannot be stopped in here.
    unsafe { crate::monitor::quick::enter(ctx, object(o)) as u32 }
}
extern "C" fn monitor_exit_quick(ctx: *mut vervet_abi::Context, o: usize) -> u32 {
    // SAFETY: as above.
    unsafe { crate::monitor::quick::exit(ctx, object(o)) as u32 }
}
extern "C" fn monitor_wake(o: usize) {
    crate::monitor::quick::wake(object(o));
}
extern "C" fn type_object(c: usize) -> usize {
    with(|cx| cx.type_object(class(c)))
}
extern "C" fn copy_value(to: *mut u8, from: *const u8, c: usize) {
    let Ok(layout) = class(c).layout() else {
        return;
    };
    // SAFETY: generated code passes two addresses of values of that class.
    unsafe { crate::heap::copy_value(to, from, layout.size as usize, !layout.ref_map.is_empty()) };
}
extern "C" fn set_handle(handle: u32, o: usize) -> u32 {
    match crate::handles::set_target(handle, object(o)) {
        true => handle,
        false => 0,
    }
}
extern "C" fn free_handle(ctx: *mut vervet_abi::Context, handle: u32) {
    // SAFETY: as above.
    unsafe { crate::handles::free_by(ctx, handle) };
}
extern "C" fn fmod(a: f64, b: f64) -> f64 {
    a % b
}
extern "C" fn marshal_to_native(m: usize, index: i64, managed: usize) -> usize {
    with(|cx| marshal::to_native(cx, method(m), index, managed))
}
extern "C" fn marshal_back(m: usize, index: i64, managed: usize, native: usize) {
    with(|cx| marshal::back(cx, method(m), index, managed, native))
}
extern "C" fn marshal_result(m: usize, native: usize) -> usize {
    with(|cx| marshal::result(cx, method(m), native))
}
extern "C" fn marshal_struct_to_native(m: usize, index: i64, managed: usize, native: usize) {
    with(|cx| marshal::struct_to_native(cx, method(m), index, managed, native))
}
extern "C" fn marshal_struct_to_managed(m: usize, index: i64, native: usize, managed: usize) {
    with(|cx| marshal::struct_to_managed(cx, method(m), index, native, managed))
}
extern "C" fn marshal_arg_to_managed(m: usize, index: i64, native: usize, block: usize) -> usize {
    with(|cx| marshal::arg_to_managed(cx, method(m), index, native, block))
}
extern "C" fn marshal_arg_back(m: usize, index: i64, managed: usize, native: usize) {
    with(|cx| marshal::arg_back(cx, method(m), index, managed, native))
}
extern "C" fn marshal_result_to_native(m: usize, managed: usize) -> usize {
    with(|cx| marshal::result_to_native(cx, method(m), managed))
}
extern "C" fn unsupported() -> usize {
    with(|cx| {
        Err::<usize, _>(cx.throw(
            Known::NotSupportedException,
            "not supported by this version of Vervet",
        ))
    })
}
