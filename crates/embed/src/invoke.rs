//! Calls of managed methods by a host.
//!
//! | parameter | what a host passes |
//! |---|---|
//! | a value type | the address of a value |
//! | `Nullable<T>` | a box of a T, or null |
//! | by reference | the address of the variable |
//! | a reference, a pointer | itself |
//!
//! # Invariants
//! * A method with a [plan](crate::plans) is called by that.
//! * Exactly the given method is called: a host that wants the override asks for it first.
//! * The result is an object: a value is boxed, an empty Nullable is null.
use crate::plans::{self, Plan, Returned};
use crate::support::{ClassP, MethodP, Object, object, set};
use std::ffi::c_void;
use vervet_icalls::support::{invoke as reflection, values};
use vervet_runtime::ObjRef;
use vervet_runtime::code::invoke::REGISTERS;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::interop::delegates;
use vervet_runtime::memory::localloc_stack::Scope;
use vervet_types::{ClassRef, Known, MethodRef};

/// How many arguments lie in the frame.
const FEW: usize = 8;

/// The argument of that type as a host passed it.
///
/// # Safety
/// It is what the table of this module says.
unsafe fn argument<'cx>(
    cx: &'cx Cx<'cx>,
    class: ClassRef,
    passed: *mut c_void,
    scope: &Scope<'cx>,
) -> Result<Value<'cx>> {
    if class.is_byref() || class.is_ptr() || class.is_fn_ptr() {
        return Ok(Value::Ptr(passed.cast()));
    }
    if !cx.load(class.is_value_type())? {
        // SAFETY: the caller's promise.
        return Ok(Value::Ref(unsafe { object(passed) }));
    }
    // SAFETY: the caller's promise; the scratch has room for the Nullable.
    unsafe {
        if class.is_nullable() {
            let at = scope.bytes(values::size_of(cx, class)?.next_multiple_of(8))?;
            values::store_object(cx, class, at, object(passed))?;
            return values::value_at(cx, class, at);
        }
        values::value_at(cx, class, passed.cast())
    }
}

/// Calls the method as [`call`] does, and gives the host the result and the exception.
///
/// # Safety
/// As for [`call`]; `exc` is null or a variable.
pub unsafe fn from_host(
    cx: &'static Cx<'static>,
    method: MethodRef,
    target: *mut c_void,
    params: *const *mut c_void,
    exc: *mut Object,
) -> Object {
    // SAFETY: the caller's promise.
    unsafe {
        match call(cx, method, target, params) {
            Ok(result) => {
                set(exc, std::ptr::null_mut());
                crate::support::address(result)
            }
            Err(throw) => crate::exceptions::give(cx, throw, exc),
        }
    }
}

/// As [`call`], for a method with a plan.
///
/// # Safety
/// As for [`call`].
unsafe fn call_planned<'cx>(
    cx: &'cx Cx<'cx>,
    plan: &Plan,
    method: MethodRef,
    target: *mut c_void,
    params: *const *mut c_void,
) -> Result<ObjRef<'cx>> {
    let first = usize::from(plan.has_this());
    let mut words = [0; REGISTERS];
    words[0] = target as u64;
    // SAFETY: the caller's promise.
    unsafe {
        let kinds = plan.kinds()[first..].iter();
        for (i, (word, kind)) in words[first..].iter_mut().zip(kinds).enumerate() {
            let passed = *params.add(i);
            *word = match kind {
                None => passed as u64,
                Some(prim) => plans::load(*prim, passed.cast()),
            };
        }
        let result = plan.call(cx, &words)?;
        match plan.result() {
            Returned::Nothing => Ok(ObjRef::NULL),
            Returned::Reference => Ok(ObjRef::from_addr(result as usize)),
            Returned::Prim(prim) => {
                let sig = cx.load(method.sig())?;
                values::box_int(cx, sig.ret, plans::narrow(prim, result))
            }
            Returned::Pointer => returned_pointer(cx, method, result as *mut u8),
        }
    }
}
/// What a by-ref result refers to, as an object, or a pointer.
///
/// # Safety
/// The method has returned it.
unsafe fn returned_pointer<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    at: *mut u8,
) -> Result<ObjRef<'cx>> {
    let sig = cx.load(method.sig())?;
    match sig.ret.element() {
        Some(_) if sig.ret.is_byref() && at.is_null() => Ok(ObjRef::NULL),
        // SAFETY: the caller's promise.
        Some(element) if sig.ret.is_byref() => unsafe { values::object_at(cx, element, at) },
        _ => values::returned(cx, sig.ret, Value::Ptr(at)),
    }
}

/// Calls a method. `target` is the object, or the address of the value.
///
/// # Safety
/// The arguments are what the table of this module says, one for each parameter.
pub unsafe fn call<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    target: *mut c_void,
    params: *const *mut c_void,
) -> Result<ObjRef<'cx>> {
    if let Some(plan) = plans::of(cx, method) {
        // SAFETY: the caller's promise.
        return unsafe { call_planned(cx, plan, method, target, params) };
    }
    let sig = cx.load(method.sig())?;
    let scope = Scope::new(cx);
    let mut few = [Value::Void; FEW];
    let count = sig.params.len();
    let args: &mut [Value<'cx>] = if count <= FEW {
        &mut few[..count]
    } else {
        // Not in a Vec: the collector finds the references here.
        scope.slice(count, Value::Void)?
    };
    for (i, (slot, class)) in args.iter_mut().zip(&sig.params).enumerate() {
        // SAFETY: the caller's promise.
        *slot = unsafe { argument(cx, class, *params.add(i), &scope)? };
    }
    let class = method.class;
    if method.name == ".ctor" && crate::kinds::is(class, Known::String) {
        // A string's length is known from what it is made of: the constructor is a function that returns it.
        // SAFETY: the arguments are objects or boxes of the parameters' types.
        return unsafe { new_string(cx, method, args) };
    }
    let this = if method.is_static() {
        None
    } else if cx.load(class.is_value_type())? {
        Some(Value::Ptr(target.cast()))
    } else {
        // SAFETY: the caller's promise.
        Some(Value::Ref(cx.non_null(unsafe { object(target) })?))
    };
    match cx.invoke(method, this, args)? {
        // SAFETY: the method has returned it.
        Value::Ptr(at) => unsafe { returned_pointer(cx, method, at) },
        result => values::returned(cx, sig.ret, result),
    }
}

/// Makes the string that a constructor of System.String stands for.
///
/// # Safety
/// The arguments are those of the constructor.
unsafe fn new_string<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    args: &[Value<'cx>],
) -> Result<ObjRef<'cx>> {
    let sig = cx.load(method.sig())?;
    let boxes = cx.alloc_array(cx.known(Known::Object), args.len())?;
    for (i, (value, class)) in args.iter().zip(&sig.params).enumerate() {
        boxes.set_element_ref(i, values::returned(cx, class, *value)?);
    }
    reflection::call(cx, method, ObjRef::NULL, boxes)
}

/// Calls `Main` with its arguments; the code that it returns, or that the program set.
pub fn main<'cx>(cx: &'cx Cx<'cx>, method: MethodRef, args: ObjRef<'cx>) -> Result<i32> {
    let sig = cx.load(method.sig())?;
    let with_args = [Value::Ref(args)];
    let values: &[Value<'_>] = if sig.params.is_empty() {
        &[]
    } else {
        &with_args
    };
    let rt = cx.rt();
    Ok(match cx.invoke(method, None, values)? {
        Value::Int(code) => {
            rt.exit_code
                .store(code as i32, std::sync::atomic::Ordering::Relaxed);
            code as i32
        }
        _ => rt.exit_code.load(std::sync::atomic::Ordering::Relaxed),
    })
}

object_api! {
    fn mono_runtime_invoke(cx; method: MethodP, target: *mut c_void, params: *const *mut c_void, exc: *mut Object) -> Object {
        match method {
            Some(method) => from_host(cx, method, target, params, exc),
            None => crate::support::fail("mono_runtime_invoke: the method is null"),
        }
    }
    /// As reflection calls: the arguments are objects, and are converted.
    fn mono_runtime_invoke_array(cx; method: MethodP, target: *mut c_void, params: Object, exc: *mut Object) -> Object {
        let Some(method) = method else { return std::ptr::null_mut() };
        let target = match method.class.is_value_type() {
            Ok(true) if !method.is_static() && !target.is_null() => match cx.box_value(method.class, target.cast::<u8>()) {
                Ok(boxed) => boxed,
                Err(throw) => return crate::exceptions::give(cx, throw, exc),
            },
            _ => object(target),
        };
        match reflection::call(cx, method, target, object(params)) {
            Ok(result) => {
                set(exc, std::ptr::null_mut());
                crate::support::address(result)
            }
            Err(throw) => crate::exceptions::give(cx, throw, exc),
        }
    }
    fn mono_runtime_delegate_invoke(cx; delegate: Object, params: *const *mut c_void, exc: *mut Object) -> Object {
        let target = object(delegate);
        if target.is_null() {
            return std::ptr::null_mut();
        }
        match delegates::invoke_method(cx, target.class()) {
            Ok(method) => from_host(cx, method, delegate, params, exc),
            Err(throw) => crate::exceptions::give(cx, throw, exc),
        }
    }
    /// Runs the constructor without parameters.
    fn mono_runtime_object_init(cx; target: Object) {
        let this = object(target);
        if this.is_null() {
            return;
        }
        let class = this.class();
        if let Ok(Some(ctor)) = class.find_method(".ctor", Some(0)) {
            let at = if class.is_value_type().unwrap_or(false) { this.value_ptr().cast() } else { target };
            if let Err(throw) = call(cx, ctor, at, std::ptr::null()) {
                crate::exceptions::give(cx, throw, std::ptr::null_mut());
            }
        }
    }
    /// The implementation of a virtual or interface method on an object.
    fn mono_object_get_virtual_method(cx; target: Object, method: MethodP) -> MethodP {
        let (target, method) = (object(target), method?);
        if target.is_null() || !method.is_virtual() {
            return Some(method);
        }
        let class = target.class();
        if method.class.is_interface() {
            return class.find_interface_impl(method).ok().flatten();
        }
        class.find_virtual_impl(method).ok()
    }
}

api! {
    fn mono_get_delegate_invoke(class: ClassP) -> MethodP { class?.find_method("Invoke", None).ok().flatten() }
    fn mono_get_delegate_begin_invoke(class: ClassP) -> MethodP { class?.find_method("BeginInvoke", None).ok().flatten() }
    fn mono_get_delegate_end_invoke(class: ClassP) -> MethodP { class?.find_method("EndInvoke", None).ok().flatten() }
}
