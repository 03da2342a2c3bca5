//! Objects: made, asked, boxed, compared with classes; monitors.
use crate::fields;
use crate::support::{Bool, ClassP, ImageP, Object, address, object, or_null, set};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_runtime::code::invoke::invoke_virtual;
use vervet_runtime::cx::Value;
use vervet_runtime::memory::allocate;
use vervet_runtime::memory::cards::mark_card;
use vervet_runtime::memory::copy;
use vervet_runtime::object::store_ref;
use vervet_runtime::threads::monitor;
use vervet_runtime::{ObjRef, rt};
use vervet_types::Known;

/// Is the object an instance of the class?
fn is_instance(object: ObjRef<'_>, class: ClassP) -> bool {
    class.is_some_and(|c| {
        !object.is_null()
            && rt()
                .universe
                .is_assignable(object.class(), c)
                .unwrap_or(false)
    })
}

object_api! {
    fn mono_object_new_specific(cx; vt: Option<&'static VTable>) -> Object {
        vt.map_or(std::ptr::null_mut(), |vt| or_null(cx, allocate::alloc_object(cx, vt)))
    }
    fn mono_object_new_fast(cx; vt: Option<&'static VTable>) -> Object {
        vt.map_or(std::ptr::null_mut(), |vt| or_null(cx, allocate::alloc_object(cx, vt)))
    }
    fn mono_object_new_alloc_specific(cx; vt: Option<&'static VTable>) -> Object {
        vt.map_or(std::ptr::null_mut(), |vt| or_null(cx, allocate::alloc_object(cx, vt)))
    }
    fn mono_object_clone(cx; target: Object) -> Object { or_null(cx, allocate::clone_object(cx, object(target))) }
    fn mono_object_hash(cx; target: Object) -> c_int {
        let o = object(target);
        if o.is_null() { 0 } else { monitor::identity_hash(o) }
    }
    fn mono_object_get_size(cx; target: Object) -> u32 {
        let o = object(target);
        allocate::object_size(o) as u32
    }
    fn mono_object_isinst(cx; target: Object, class: ClassP) -> Object { if is_instance(object(target), class) { target } else { std::ptr::null_mut() } }
    fn mono_object_isinst_mbyref(cx; target: Object, class: ClassP) -> Object { if is_instance(object(target), class) { target } else { std::ptr::null_mut() } }
    fn mono_object_castclass_mbyref(cx; target: Object, class: ClassP) -> Object { if is_instance(object(target), class) { target } else { std::ptr::null_mut() } }
    fn mono_object_to_string(cx; target: Object, exc: *mut Object) -> Object {
        let made = cx.known_method(Known::Object, "ToString", 0)
            .and_then(|m| invoke_virtual(cx, m, cx.non_null(object(target))?, &[]));
        match made {
            Ok(Value::Ref(text)) => { set(exc, std::ptr::null_mut()); address(text) }
            Ok(_) => std::ptr::null_mut(),
            Err(throw) => crate::exceptions::give(cx, throw, exc),
        }
    }
    fn mono_value_copy(cx; to: *mut u8, from: *const u8, class: ClassP) {
        if let Some(class) = class {
            fields::store(to, from, class);
        }
    }
    fn mono_value_copy_array(cx; array: Object, index: c_int, from: *const u8, count: c_int) {
        let array = object(array);
        let Some(element) = array.class().element() else { return };
        let size = crate::classes::slot_size(element).0 as usize;
        let to = array.array_data().add(index as usize * size);
        fields::store_many(cx, to, from, element, count.max(0) as usize);
    }
    fn mono_gc_wbarrier_set_field(cx; target: Object, slot: *mut usize, value: Object) { store_ref(slot, object(value)); }
    fn mono_gc_wbarrier_set_arrayref(cx; array: Object, slot: *mut usize, value: Object) { store_ref(slot, object(value)); }
    fn mono_gc_wbarrier_generic_store(cx; slot: *mut usize, value: Object) { store_ref(slot, object(value)); }
    fn mono_gc_wbarrier_generic_store_atomic(cx; slot: *mut usize, value: Object) { store_ref(slot, object(value)); }
    /// The host has stored: the card is marked for what lies there now. Nothing is stored, because another thread may have stored since.
    fn mono_gc_wbarrier_generic_nostore(cx; slot: *mut usize) {
        let value = (*slot.cast::<AtomicUsize>()).load(Ordering::Relaxed);
        mark_card(slot.addr(), value);
    }
    fn mono_gc_wbarrier_arrayref_copy(cx; to: *mut usize, from: *const usize, count: c_int) {
        let bytes = 8 * count.max(0) as usize;
        copy::move_bytes(cx, to.cast(), from.cast(), bytes, true);
    }
    fn mono_gc_wbarrier_value_copy(cx; to: *mut u8, from: *const u8, count: c_int, class: ClassP) {
        let Some(class) = class else { return };
        fields::store_many(cx, to, from, class, count.max(0) as usize);
    }
    fn mono_gc_wbarrier_object_copy(cx; to: Object, from: Object) {
        let (to, from) = (object(to), object(from));
        let size = allocate::object_size(from) - vervet_abi::object::HEADER_SIZE as usize;
        let refs = !from.class().instance_layout().is_ok_and(|l| l.ref_map.is_empty());
        copy::move_bytes(cx, to.value_ptr(), from.value_ptr(), size, refs);
    }
    fn mono_monitor_enter(cx; target: Object) -> Bool { settle(cx, monitor::enter(cx, object(target)).map(|()| true)) }
    fn mono_monitor_enter_v4(cx; target: Object, taken: *mut u8) {
        let done = settle(cx, monitor::enter(cx, object(target)).map(|()| true));
        set(taken, done as u8);
    }
    fn mono_monitor_try_enter(cx; target: Object, ms: u32) -> Bool { settle(cx, monitor::try_enter(cx, object(target), ms as i32)) }
    fn mono_monitor_exit(cx; target: Object) { settle(cx, monitor::exit(cx, object(target)).map(|()| true)); }
}

pinned_api! {
    fn mono_object_get_class(target: Object) -> ClassP { object(target).non_null().map(ObjRef::class) }
    fn mono_object_get_vtable(target: Object) -> Option<&'static VTable> { object(target).non_null().map(ObjRef::vtable) }
    fn mono_object_unbox(target: Object) -> *mut c_void { object(target).value_ptr().cast() }
}

domain_api! {
    /// A zeroed object; no constructor runs.
    fn mono_object_new(cx; class: ClassP) -> Object {
        let Some(class) = class else { return std::ptr::null_mut() };
        or_null(cx, cx.alloc(class))
    }
    fn mono_object_new_from_token(cx; image: ImageP, token: u32) -> Object {
        match image.and_then(|i| crate::classes::by_token(i, token)) {
            Some(class) => or_null(cx, cx.alloc(class)),
            None => std::ptr::null_mut(),
        }
    }
    fn mono_value_box(cx; class: ClassP, value: *const u8) -> Object {
        let Some(class) = class else { return std::ptr::null_mut() };
        or_null(cx, cx.box_value(class, value))
    }
}

fn settle(
    cx: &'static vervet_runtime::Cx<'static>,
    done: vervet_runtime::cx::Result<bool>,
) -> Bool {
    match done {
        Ok(done) => Bool::from(done),
        Err(throw) => {
            let exception = cx.take_pending(throw);
            crate::exceptions::set_pending(cx, exception);
            0
        }
    }
}
