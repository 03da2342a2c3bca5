//! Objects of native code that managed code calls by COM interfaces.
//!
//! ```text
//! transparent proxy --> ComInteropProxy { ref_count, com_object } --> __ComObject { iunknown, hash_table } --> Interfaces
//!                       |
//!                       a call of a method of an imported interface --> the native function in the interface's table
//! ```
//! The class library makes these objects (`Marshal.GetObjectForIUnknown`) and counts how often; here are the table by which it finds the proxy of an IUnknown again, the
//! interfaces that an object was asked for, and the methods that stand for native functions. How they are called is in [`remoting`].
//!
//! # Invariants
//! * [`Interfaces`] holds one reference for each interface, until `ReleaseInterfaces`. Afterwards the object has no IUnknown, and the class library refuses calls.
//! * The table does not keep proxies. Its handles belong to the runtime, so no unload of a domain gives their numbers to others.
use super::crossing::{query_native, release};
use super::{guid_of, no_interface};
use crate::cx::{Cx, Result, Value};
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use crate::remoting;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use vervet_abi::layouts::{ComInteropProxyObject, ComObjectObject, TransparentProxyObject};
use vervet_jit::stubs::native::layout::is;
use vervet_jit::stubs::native::marshal_plan::keep_com_plan;
use vervet_os::LeafLock;
use vervet_types::class::type_flags;
use vervet_types::method::impl_flags;
use vervet_types::{ClassRef, Known, MethodRef};

/// Weak handles of the proxies, by domain and address of IUnknown.
static PROXIES: LeafLock<Option<FxHashMap<(u32, usize), u32>>> = LeafLock::new(None);
/// The methods that stand for native functions, by that of the interface.
static FUNCTIONS: LeafLock<Option<FxHashMap<u32, MethodRef>>> = LeafLock::new(None);
/// The methods of [`caller`], by that of the interface.
static CALLERS: LeafLock<Option<FxHashMap<u32, MethodRef>>> = LeafLock::new(None);

/// The addresses of the interfaces that an object was asked for, by the ids of their classes.
#[derive(Default)]
struct Interfaces(LeafLock<Vec<(u32, usize)>>);

/// Is the real proxy one of an object of native code?
pub fn is_proxy_of_one(real: ObjRef<'_>) -> bool {
    is(real.class(), Known::ComInteropProxy)
}

/// The `__ComObject` of an object of native code that managed code holds a proxy of; none of another object.
pub fn behind<'cx>(object: ObjRef<'cx>) -> Option<ObjRef<'cx>> {
    if !remoting::is_proxy(object) {
        return None;
    }
    let real = object
        .read_ref(offset_of!(TransparentProxyObject, real_proxy))
        .non_null()?;
    is_proxy_of_one(real).then(|| com_object(real))?
}

/// The `__ComObject` of a ComInteropProxy.
pub fn com_object<'cx>(real: ObjRef<'cx>) -> Option<ObjRef<'cx>> {
    real.read_ref(offset_of!(ComInteropProxyObject, com_object))
        .non_null()
}

/// Keeps the proxy of an IUnknown.
pub fn add_proxy<'cx>(cx: &'cx Cx<'cx>, unknown: usize, real: ObjRef<'cx>) -> Result<()> {
    let handle = handles::alloc_for_runtime(cx, real, HandleKind::Weak)?;
    let mut proxies = PROXIES.lock();
    let proxies = proxies.get_or_insert_default();
    if let Some(before) = proxies.insert((cx.domain().id, unknown), handle) {
        handles::free(before);
    }
    Ok(())
}

/// The proxy of an IUnknown, while it lives.
pub fn find_proxy<'cx>(cx: &'cx Cx<'cx>, unknown: usize) -> ObjRef<'cx> {
    let proxies = PROXIES.lock();
    let handle = proxies
        .as_ref()
        .and_then(|all| all.get(&(cx.domain().id, unknown)).copied());
    handle.and_then(handles::target).unwrap_or(ObjRef::NULL)
}

/// The interfaces of a `__ComObject`, made if need be.
fn interfaces(object: ObjRef<'_>) -> &'static Interfaces {
    const FIELD: usize = offset_of!(ComObjectObject, hash_table);
    static MAKES: LeafLock<()> = LeafLock::new(());
    let _one_at_a_time = MAKES.lock();
    let mut address: usize = object.read(FIELD);
    if address == 0 {
        address = Box::into_raw(Box::<Interfaces>::default()) as usize;
        object.write(FIELD, address);
    }
    // SAFETY: the field holds the address of such a box, which is never freed.
    unsafe { &*(address as *const Interfaces) }
}

/// The address of an interface of a `__ComObject`, whose reference stays the object's. Without it: InvalidCastException, or 0 unless `throws`.
pub fn interface_of<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    class: ClassRef,
    throws: bool,
) -> Result<usize> {
    let interfaces = interfaces(object);
    let known = |all: &Vec<(u32, usize)>| all.iter().find(|i| i.0 == class.id).map(|i| i.1);
    if let Some(found) = known(&interfaces.0.lock()) {
        return Ok(found);
    }
    let unknown: usize = object.read(offset_of!(ComObjectObject, iunknown));
    let found = guid_of(class).and_then(|guid| query_native(cx, unknown, &guid));
    let Some(found) = found else {
        return match throws {
            true => Err(no_interface(cx)),
            false => Ok(0),
        };
    };
    let mut all = interfaces.0.lock();
    if let Some(first) = known(&all) {
        drop(all);
        release(cx, found);
        return Ok(first);
    }
    all.push((class.id, found));
    Ok(found)
}

/// Lets the object of native code go. As in mono, one that was never asked for an interface is kept.
pub fn release_interfaces<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) {
    const TABLE: usize = offset_of!(ComObjectObject, hash_table);
    const UNKNOWN: usize = offset_of!(ComObjectObject, iunknown);
    if object.read::<usize>(TABLE) == 0 {
        return;
    }
    let all = std::mem::take(&mut *interfaces(object).0.lock());
    let unknown: usize = object.read(UNKNOWN);
    object.write(TABLE, 0usize);
    object.write(UNKNOWN, 0usize);
    let mut proxies = PROXIES.lock();
    let known = proxies
        .as_mut()
        .and_then(|p| p.remove(&(cx.domain().id, unknown)));
    drop(proxies);
    if let Some(handle) = known {
        handles::free(handle);
    }
    for (_, interface) in all {
        release(cx, interface);
    }
    if unknown != 0 {
        release(cx, unknown);
    }
}

/// Gives back one of the references that the class library has counted for the proxy; how many are left, or -1 if there was none.
pub fn release_one<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>) -> Result<i32> {
    const COUNT: usize = offset_of!(ComInteropProxyObject, ref_count);
    let real = cx.non_null(proxy.read_ref(offset_of!(TransparentProxyObject, real_proxy)))?;
    let count = real.read::<i32>(COUNT);
    if count == 0 {
        return Ok(-1);
    }
    real.write(COUNT, count - 1);
    if let (1, Some(object)) = (count, com_object(real)) {
        release_interfaces(cx, object);
    }
    Ok(count - 1)
}

/// The address of an interface, by the class library, which refuses it of an object that was let go.
pub fn declared_interface<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
    class: ClassRef,
) -> Result<usize> {
    let ask = cx.known_method(Known::ComObject, "GetInterface", 1)?;
    let args = [Value::Ref(cx.type_object(class)?)];
    address(cx.invoke(ask, Some(Value::Ref(object)), &args)?)
}

/// The address of IUnknown or IDispatch, by the property of that getter.
pub(super) fn property<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>, getter: &str) -> Result<usize> {
    let ask = cx.known_method(Known::ComObject, getter, 0)?;
    address(cx.invoke(ask, Some(Value::Ref(object)), &[])?)
}

fn address(value: Value<'_>) -> Result<usize> {
    match value {
        Value::Int(address) => Ok(address as usize),
        Value::Ptr(address) => Ok(address as usize),
        _ => Ok(0),
    }
}

/// The object of native code that an interface belongs to, as a proxy.
pub(super) fn proxy_of<'cx>(cx: &'cx Cx<'cx>, interface: usize) -> Result<ObjRef<'cx>> {
    let make = cx.known_method(Known::Marshal, "GetObjectForIUnknown", 1)?;
    match cx.invoke(make, None, &[Value::Int(interface as i64)])? {
        Value::Ref(proxy) => Ok(proxy),
        _ => Ok(ObjRef::NULL),
    }
}

/// The static method that stands for the native function of an interface's method: it has the interface's address before the method's parameters, and unless the
/// [signature is kept](keeps_signature) returns an HRESULT, and has one parameter more for the result.
pub fn function_of<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<MethodRef> {
    if let Some(known) = FUNCTIONS.lock().get_or_insert_default().get(&method.id) {
        return Ok(known);
    }
    let sig = cx.load(method.sig())?;
    let pointer = cx.known(Known::IntPtr);
    let mut params = vec![pointer];
    params.extend(&sig.params);
    let mut ret = sig.ret;
    if !keeps_signature(method) {
        if sig.ret != cx.known(Known::Void) {
            params.push(cx.universe().byref(sig.ret));
        }
        ret = cx.known(Known::Int32);
    }
    let slot = super::slot_of(cx, method)?;
    let made = cx
        .universe()
        .add_interface_function(slot, method.name, ret, params);
    cx.load(keep_com_plan(made, method))?;
    let mut functions = FUNCTIONS.lock();
    Ok(functions
        .get_or_insert_default()
        .entry(method.id)
        .or_insert(made))
}

/// Is it native code's where the object is? Methods of imported interfaces are, unless they are generic.
pub fn is_native(method: MethodRef) -> bool {
    let class = method.class;
    class.is_interface() && class.flags & type_flags::IMPORT != 0 && method.generic_arity == 0
}

/// A static method that calls such a method on its first argument.
pub fn caller<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Result<MethodRef> {
    if let Some(known) = CALLERS.lock().get_or_insert_default().get(&method.id) {
        return Ok(known);
    }
    let made = super::stubs::wrapper(cx, method.class, method, true)?;
    let mut callers = CALLERS.lock();
    Ok(callers
        .get_or_insert_default()
        .entry(method.id)
        .or_insert(made))
}

/// Does the native function return what the method does?
pub fn keeps_signature(method: MethodRef) -> bool {
    method.impl_flags & impl_flags::PRESERVE_SIG != 0
}
