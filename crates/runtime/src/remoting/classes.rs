//! Remote classes: what a transparent proxy stands for, its VTable, and the casts that its real proxy decides.
//!
//! # Invariants
//! * There is one [`RemoteClass`] for a domain, a class and a list of interfaces. It lives for ever, with one VTable.
//! * A proxy gains interfaces and classes derived from its own, and loses none: a cast that was granted is granted again.
use crate::classes::{casts, vtables};
use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, Ordering};
use vervet_abi::layouts::{RealProxyObject, TransparentProxyObject, TypeObject};
use vervet_os::LeafLock;
use vervet_types::{ClassRef, Known, MethodRef};

/// See the module. The class library reads `proxy_class` (`Mono.RuntimeRemoteClassHandle`).
#[repr(C)]
pub struct RemoteClass {
    /// Address of the proxies' VTable.
    vtable: usize,
    /// Not used.
    _cross_domain: usize,
    /// Address of the class that proxies stand for.
    proxy_class: usize,
    /// The interfaces that they have besides.
    interfaces: Vec<ClassRef>,
}

/// By domain, class and interfaces.
type Key = (u32, u32, Vec<u32>);
static CLASSES: LeafLock<Option<FxHashMap<Key, &'static RemoteClass>>> = LeafLock::new(None);

impl RemoteClass {
    /// The remote class of those in the current domain, made if need be.
    fn of<'cx>(
        cx: &'cx Cx<'cx>,
        class: ClassRef,
        interfaces: Vec<ClassRef>,
    ) -> Result<&'static RemoteClass> {
        let domain = cx.domain();
        let ids = interfaces.iter().map(|c| c.id).collect();
        let key: Key = (domain.id, class.id, ids);
        if let Some(known) = CLASSES.lock().get_or_insert_default().get(&key) {
            return Ok(known);
        }
        let model = cx.load(domain.vtable(cx.known(Known::TransparentProxy)))?;
        let vtable = cx.load(vtables::make_proxy(class, model, domain.id))?;
        // Of a proxy for an interface alone `GetType` says the interface.
        let shown = match interfaces.first() {
            Some(interface) if std::ptr::eq(class, cx.known(Known::MarshalByRefObject)) => {
                interface
            }
            _ => class,
        };
        let root = domain.type_root(cx, shown)?;
        vtable.type_root.store(root.address(), Ordering::Release);
        let made = &*Box::leak(Box::new(RemoteClass {
            vtable: std::ptr::from_ref(vtable) as usize,
            _cross_domain: 0,
            proxy_class: class as *const _ as usize,
            interfaces,
        }));
        let mut all = CLASSES.lock();
        Ok(all.get_or_insert_default().entry(key).or_insert(made))
    }
    fn class(&self) -> ClassRef {
        // SAFETY: the word was stored from a class, and classes live for ever.
        unsafe { &*(self.proxy_class as *const vervet_types::Class) }
    }
}

/// The remote class of a transparent proxy.
fn remote_class(proxy: ObjRef<'_>) -> &'static RemoteClass {
    let word: usize = proxy.read(offset_of!(TransparentProxyObject, remote_class));
    // SAFETY: only this file makes transparent proxies, and stores the address of a remote class, which lives for ever.
    unsafe { &*(word as *const RemoteClass) }
}

/// The class of which a type object says that it is to be proxied.
fn class_to_proxy<'cx>(cx: &'cx Cx<'cx>, real: ObjRef<'cx>) -> Result<ClassRef> {
    let ty = cx.non_null(real.read_ref(offset_of!(RealProxyObject, class_to_proxy)))?;
    let word: usize = ty.read(offset_of!(TypeObject, handle));
    // SAFETY: a RuntimeType holds the address of its class.
    Ok(unsafe { &*(word as *const vervet_types::Class) })
}

/// A new transparent proxy of the real proxy, for the class that it names.
pub fn make<'cx>(cx: &'cx Cx<'cx>, real: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let class = class_to_proxy(cx, real)?;
    let remote = match class.is_interface() {
        true => RemoteClass::of(cx, cx.known(Known::MarshalByRefObject), vec![class])?,
        false => RemoteClass::of(cx, class, Vec::new())?,
    };
    let interface = cx.known(Known::IRemotingTypeInfo);
    let decides = cx.load(casts::is_assignable(cx.universe(), real.class(), interface))?;
    let proxy = cx.alloc(cx.known(Known::TransparentProxy))?;
    proxy.write_ref(offset_of!(TransparentProxyObject, real_proxy), real);
    proxy.write(
        offset_of!(TransparentProxyObject, custom_type_info),
        u8::from(decides),
    );
    become_of(proxy, remote);
    Ok(proxy)
}

/// The transparent proxy is one of that remote class from now on.
fn become_of(proxy: ObjRef<'_>, remote: &'static RemoteClass) {
    proxy.write(
        offset_of!(TransparentProxyObject, remote_class),
        std::ptr::from_ref(remote) as usize,
    );
    // SAFETY: the header is the low word of the object, which other threads and the collector load whole. Both VTables say the same of size and references.
    let header = unsafe { AtomicU32::from_ptr(proxy.addr() as *mut u32) };
    header.store(remote.vtable as u32, Ordering::Release);
}

/// The class that a transparent proxy was made for, without the interfaces that it has as well.
pub fn base_class(proxy: ObjRef<'_>) -> ClassRef {
    remote_class(proxy).class()
}

/// The class that a transparent proxy stands for.
pub fn proxied_class(proxy: ObjRef<'_>) -> ClassRef {
    let remote = remote_class(proxy);
    match remote.interfaces.first() {
        Some(interface) if remote.class().name == "MarshalByRefObject" => interface,
        _ => remote.class(),
    }
}

/// The method that a message names, if `method` is called on a proxy for an object of the class: the implementation that the class has of it. The classes of
/// proxies for interfaces have none, so the method itself is named.
pub fn called<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, method: MethodRef) -> Result<MethodRef> {
    if method.is_static() || !method.is_virtual() {
        return Ok(method);
    }
    if method.class.is_interface() {
        return Ok(cx
            .load(class.find_interface_impl(method))?
            .unwrap_or(method));
    }
    cx.load(class.find_virtual_impl(method))
}

/// The method that a message names if it is not called through a slot or an interface method table: by reflection, by `BeginInvoke`, or a generic method. As in mono
/// an interface's method and a generic one are named themselves, and the object's domain looks the implementation up.
pub fn named<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, method: MethodRef) -> Result<MethodRef> {
    match method.class.is_interface() || !method.method_args().is_empty() {
        true => Ok(method),
        false => called(cx, class, method),
    }
}

/// Is the transparent proxy an instance of the class? What its VTable cannot tell the real proxy is asked.
pub fn is_instance<'cx>(cx: &'cx Cx<'cx>, proxy: ObjRef<'cx>, class: ClassRef) -> Result<bool> {
    if std::ptr::eq(class, cx.known(Known::TransparentProxy)) {
        return Ok(true);
    }
    let remote = remote_class(proxy);
    for have in std::iter::once(&remote.class()).chain(&remote.interfaces) {
        if cx.load(casts::is_assignable(cx.universe(), have, class))? {
            return Ok(true);
        }
    }
    let asks: u8 = proxy.read(offset_of!(TransparentProxyObject, custom_type_info));
    if asks == 0 {
        return Ok(false);
    }
    // Code that knows the proxy as an object of its class calls slots of that class's VTable. (Mono takes any class, with what follows.)
    if !class.is_interface()
        && !cx.load(casts::is_assignable(cx.universe(), class, remote.class()))?
    {
        return Ok(false);
    }
    let can_cast = cx.known_method(Known::IRemotingTypeInfo, "CanCastTo", 2)?;
    let real = cx.non_null(proxy.read_ref(offset_of!(TransparentProxyObject, real_proxy)))?;
    let args = [Value::Ref(cx.type_object(class)?), Value::Ref(proxy)];
    let granted = crate::code::invoke::invoke_virtual(cx, can_cast, real, &args)?;
    if !matches!(granted, Value::Int(yes) if yes != 0) {
        return Ok(false);
    }
    let mut interfaces = remote.interfaces.clone();
    let base = match class.is_interface() {
        true => {
            interfaces.push(class);
            remote.class()
        }
        false => class,
    };
    let upgraded = cx.within_that_of(proxy, |cx| RemoteClass::of(cx, base, interfaces))?;
    become_of(proxy, upgraded);
    Ok(true)
}
