//! Classes: looked up, described, walked.
use crate::support::{
    Bool, ClassP, DomainP, EventP, FieldP, ImageP, MethodP, PropertyP, found, new_text, next, read,
    set, text,
};
use std::ffi::{c_char, c_int, c_void};
use vervet_abi::VTable;
use vervet_abi::object::HEADER_SIZE;
use vervet_runtime::classes::vtables;
use vervet_runtime::rt;
use vervet_types::{ClassRef, GenericContext, Known, Module, Scope, Token};

/// The class that a TypeDef, TypeRef or TypeSpec token names.
pub fn by_token(module: &'static Module, token: u32) -> ClassP {
    let scope = Scope {
        module,
        context: GenericContext::default(),
        dynamic: None,
    };
    scope.type_(Token(token)).ok()
}

/// `Outer/Inner` of a module.
pub fn by_name(module: &'static Module, namespace: &str, name: &str, ignore_case: bool) -> ClassP {
    let mut parts = name.split('/');
    let first = parts.next()?;
    let mut class = match ignore_case {
        true => found(module.find_type_ignoring_case(namespace, first))?,
        false => found(module.find_type(namespace, first))?,
    };
    for part in parts {
        class = match ignore_case {
            true => found(module.find_nested_ignoring_case(class, part))?,
            false => found(class.module.find_nested(class, part))?,
        };
    }
    Some(class)
}

/// The class behind a by-ref type, else the type itself.
pub fn behind(class: ClassRef) -> ClassRef {
    if class.is_byref() {
        class.element().unwrap_or(class)
    } else {
        class
    }
}

/// `sizeof (MonoObject)` in the headers. Hosts take it off the size of a value type and the offsets of its fields.
pub const DECLARED_HEADER: u32 = 16;

/// Bytes of an instance, with its header; of a value type, with the header that hosts take off.
fn instance_size(class: ClassRef) -> i32 {
    let Ok(layout) = class.instance_layout() else {
        return 0;
    };
    let header = match class.is_value_type() {
        Ok(true) => DECLARED_HEADER,
        _ => HEADER_SIZE,
    };
    (layout.size + header) as i32
}
/// Bytes of the fields, and how they are aligned.
fn value_size(class: ClassRef) -> (i32, u32) {
    class
        .instance_layout()
        .map_or((0, 1), |layout| (layout.size as i32, layout.align))
}
/// The bases of delegates count as delegates, as in mono.
fn is_delegate_base(class: ClassRef) -> bool {
    let known = |k| std::ptr::eq(class, rt().universe.known(k));
    known(Known::Delegate) || known(Known::MulticastDelegate)
}
/// Bytes of a value of that type in a field or an array.
pub fn slot_size(class: ClassRef) -> (i32, u32) {
    match class.is_value_type() {
        Ok(true) => value_size(class),
        _ => (8, 8),
    }
}

/// The nearest method of that name and number of parameters in the chain of parents.
pub fn method_named(class: ClassRef, name: &str, params: c_int, flags: c_int) -> MethodP {
    let mut at = Some(class);
    while let Some(class) = at {
        let fits = |m: &&'static vervet_types::Method| {
            m.name == name
                && (params < 0 || m.sig().is_ok_and(|s| s.params.len() == params as usize))
                && (flags == 0 || m.flags as c_int & flags == flags)
        };
        if let Some(m) = class
            .methods()
            .ok()
            .and_then(|all| all.iter().copied().find(fits))
        {
            return Some(m);
        }
        at = found(class.parent());
    }
    None
}

query_api! {
    fn mono_class_from_name(image: ImageP, namespace: *const c_char, name: *const c_char) -> ClassP {
        by_name(image?, &read(namespace), &read(name), false)
    }
    fn mono_class_from_name_case(image: ImageP, namespace: *const c_char, name: *const c_char) -> ClassP {
        by_name(image?, &read(namespace), &read(name), true)
    }
    fn mono_class_get(image: ImageP, token: u32) -> ClassP { by_token(image?, token) }
    fn mono_class_get_full(image: ImageP, token: u32, _context: *const c_void) -> ClassP { by_token(image?, token) }
    fn mono_class_from_typeref(image: ImageP, token: u32) -> ClassP { by_token(image?, token) }
    fn mono_class_from_typeref_checked(image: ImageP, token: u32, _error: *mut c_void) -> ClassP { by_token(image?, token) }
    fn mono_class_name_from_token(image: ImageP, token: u32) -> *mut c_char {
        match image.and_then(|i| by_token(i, token)) {
            Some(c) if c.namespace.is_empty() => new_text(c.name),
            Some(c) => new_text(&format!("{}.{}", c.namespace, c.name)),
            None => std::ptr::null_mut(),
        }
    }
    fn mono_class_init(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.supers().is_ok() && c.vtable().is_ok())) }
    fn mono_class_vtable(domain: DomainP, class: ClassP) -> Option<&'static VTable> { domain.or_else(crate::domains::current)?.vtable(class?).ok() }
    fn mono_vtable_class(vt: Option<&'static VTable>) -> ClassP { vt.map(vtables::class_of) }
    fn mono_class_get_name(class: ClassP) -> *const c_char { class.map_or(std::ptr::null(), |c| text(c.name)) }
    fn mono_class_get_namespace(class: ClassP) -> *const c_char { class.map_or(std::ptr::null(), |c| text(c.namespace)) }
    fn mono_class_get_image(class: ClassP) -> ImageP { class.map(|c| c.module) }
    fn mono_class_get_parent(class: ClassP) -> ClassP { found(class?.parent()) }
    fn mono_class_get_nesting_type(class: ClassP) -> ClassP { found(class?.declaring_type()) }
    fn mono_class_get_type(class: ClassP) -> ClassP { class }
    fn mono_class_get_byref_type(class: ClassP) -> ClassP { class.map(|c| rt().universe.byref(c)) }
    fn mono_class_from_mono_type(ty: ClassP) -> ClassP { ty.map(behind) }
    fn mono_class_get_flags(class: ClassP) -> u32 { class.map_or(0, |c| c.flags) }
    fn mono_class_get_rank(class: ClassP) -> c_int { class.and_then(|c| c.rank()).unwrap_or(0) as c_int }
    fn mono_class_get_element_class(class: ClassP) -> ClassP {
        let class = class?;
        if let Ok(true) = class.is_enum() {
            return found(class.enum_underlying());
        }
        Some(class.element().unwrap_or(class))
    }
    fn mono_class_get_type_token(class: ClassP) -> u32 {
        class.map_or(0, |c| if c.is_array() || c.is_ptr() || c.is_generic_param() { 0 } else { c.token().0 })
    }
    fn mono_class_is_valuetype(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.is_value_type().unwrap_or(false))) }
    fn mono_class_is_enum(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.is_enum().unwrap_or(false))) }
    fn mono_class_is_delegate(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.is_delegate().unwrap_or(false) || is_delegate_base(c))) }
    fn mono_class_is_nullable(class: ClassP) -> Bool { Bool::from(class.is_some_and(|c| c.is_inst() && c.is_nullable())) }
    fn mono_class_get_nullable_param(class: ClassP) -> ClassP { class?.nullable_arg() }
    fn mono_class_enum_basetype(class: ClassP) -> ClassP { found(class?.enum_underlying()) }
    fn mono_class_is_subclass_of(class: ClassP, ancestor: ClassP, interfaces: Bool) -> Bool {
        let (Some(class), Some(ancestor)) = (class, ancestor) else { return 0 };
        if ancestor.is_interface() && interfaces != 0 {
            return Bool::from(class == ancestor || class.implements(ancestor).unwrap_or(false));
        }
        let is_object = std::ptr::eq(ancestor, rt().universe.known(Known::Object));
        Bool::from(class == ancestor || class.is_subclass_of(ancestor).unwrap_or(false) || is_object && interfaces != 0)
    }
    fn mono_class_is_assignable_from(class: ClassP, other: ClassP) -> Bool {
        let (Some(class), Some(other)) = (class, other) else { return 0 };
        Bool::from(rt().universe.is_assignable_from_reflection(class, other).unwrap_or(false))
    }
    fn mono_class_implements_interface(class: ClassP, interface: ClassP) -> Bool {
        let (Some(class), Some(interface)) = (class, interface) else { return 0 };
        let mut at = Some(class);
        while let Some(c) = at {
            if c.implements(interface).unwrap_or(false) {
                return 1;
            }
            at = found(c.parent());
        }
        0
    }
    fn mono_class_instance_size(class: ClassP) -> i32 { class.map_or(0, instance_size) }
    fn mono_class_value_size(class: ClassP, align: *mut u32) -> i32 {
        let (size, alignment) = class.map_or((0, 1), value_size);
        set(align, alignment);
        size
    }
    fn mono_class_min_align(class: ClassP) -> i32 { class.map_or(1, |c| c.instance_layout().map_or(1, |l| l.align as i32)) }
    fn mono_class_data_size(class: ClassP) -> i32 {
        class.map_or(0, |c| c.layout().map_or(0, |l| (l.statics_refs_size + l.statics_values_size) as i32))
    }
    fn mono_class_array_element_size(class: ClassP) -> i32 { class.map_or(0, |c| slot_size(c).0) }
    fn mono_array_element_size(class: ClassP) -> i32 { class.and_then(|c| c.element()).map_or(0, |e| slot_size(e).0) }
    fn mono_array_class_get(element: ClassP, rank: u32) -> ClassP { array_of(element?, rank, false) }
    fn mono_bounded_array_class_get(element: ClassP, rank: u32, bounded: Bool) -> ClassP { array_of(element?, rank, bounded != 0) }
    fn mono_ptr_class_get(ty: ClassP) -> ClassP { ty.map(|c| rt().universe.ptr(c)) }
    fn mono_class_num_fields(class: ClassP) -> c_int { class.and_then(|c| c.fields().ok()).map_or(0, |l| l.len() as c_int) }
    fn mono_class_num_methods(class: ClassP) -> c_int { class.and_then(|c| c.methods().ok()).map_or(0, |l| l.len() as c_int) }
    fn mono_class_num_properties(class: ClassP) -> c_int { class.and_then(|c| c.properties().ok()).map_or(0, |l| l.len() as c_int) }
    fn mono_class_num_events(class: ClassP) -> c_int { class.and_then(|c| c.events().ok()).map_or(0, |l| l.len() as c_int) }
    fn mono_class_get_fields(class: ClassP, iter: *mut *mut c_void) -> FieldP { next(class?.fields().ok()?, iter) }
    fn mono_class_get_methods(class: ClassP, iter: *mut *mut c_void) -> MethodP { next(class?.methods().ok()?, iter) }
    fn mono_class_get_properties(class: ClassP, iter: *mut *mut c_void) -> PropertyP {
        let all = class?.properties().ok()?;
        let at = next(&(0..all.len()).collect::<Vec<_>>(), iter)?;
        Some(&all[at])
    }
    fn mono_class_get_events(class: ClassP, iter: *mut *mut c_void) -> EventP {
        let all = class?.events().ok()?;
        let at = next(&(0..all.len()).collect::<Vec<_>>(), iter)?;
        Some(&all[at])
    }
    fn mono_class_get_interfaces(class: ClassP, iter: *mut *mut c_void) -> ClassP { next(class?.declared_interfaces().ok()?, iter) }
    fn mono_class_get_nested_types(class: ClassP, iter: *mut *mut c_void) -> ClassP { next(&class?.nested_types().ok()?, iter) }
    fn mono_class_get_method_from_name(class: ClassP, name: *const c_char, params: c_int) -> MethodP {
        method_named(class?, &read(name), params, 0)
    }
    fn mono_class_get_method_from_name_flags(class: ClassP, name: *const c_char, params: c_int, flags: c_int) -> MethodP {
        method_named(class?, &read(name), params, flags)
    }
    fn mono_class_get_field_from_name(class: ClassP, name: *const c_char) -> FieldP {
        let name = read(name);
        let mut at = class;
        while let Some(c) = at {
            if let Some(field) = found(c.find_field(&name)) {
                return Some(field);
            }
            at = found(c.parent());
        }
        None
    }
    fn mono_class_get_property_from_name(class: ClassP, name: *const c_char) -> PropertyP {
        let name = read(name);
        let mut at = class;
        while let Some(c) = at {
            if let Some(property) = c.properties().ok().and_then(|all| all.iter().find(|p| p.name == name)) {
                return Some(property);
            }
            at = found(c.parent());
        }
        None
    }
    fn mono_class_get_field(class: ClassP, token: u32) -> FieldP {
        let class = class?;
        class.fields().ok()?.iter().copied().find(|f| f.token().0 == token)
    }
    fn mono_class_interface_offset(_class: ClassP, _interface: ClassP) -> c_int { -1 }
    fn mono_class_get_context(_class: ClassP) -> *const c_void { std::ptr::null() }
    fn mono_class_inflate_generic_type(ty: ClassP, _context: *const c_void) -> ClassP { ty }
    fn mono_method_can_access_field(_method: MethodP, field: FieldP) -> Bool { Bool::from(field.is_some_and(|f| f.flags & 7 >= 4)) }
    fn mono_method_can_access_method(_method: MethodP, called: MethodP) -> Bool { Bool::from(called.is_some_and(|m| m.flags & 7 >= 4)) }
}

fn array_of(element: ClassRef, rank: u32, bounded: bool) -> ClassP {
    let universe = rt().universe;
    match rank {
        0 => None,
        1 if !bounded => Some(universe.sz_array(element)),
        _ => Some(universe.array(element, rank)),
    }
}

macro_rules! known_classes { ($($name:ident $known:ident)*) => {
    api! { $( fn $name() -> ClassP { vervet_runtime::runtime::rt_opt().map(|rt| rt.universe.known(Known::$known)) } )* }
} }
known_classes! {
    mono_get_object_class Object
    mono_get_byte_class Byte
    mono_get_void_class Void
    mono_get_boolean_class Boolean
    mono_get_sbyte_class SByte
    mono_get_int16_class Int16
    mono_get_uint16_class UInt16
    mono_get_int32_class Int32
    mono_get_uint32_class UInt32
    mono_get_intptr_class IntPtr
    mono_get_uintptr_class UIntPtr
    mono_get_int64_class Int64
    mono_get_uint64_class UInt64
    mono_get_single_class Single
    mono_get_double_class Double
    mono_get_char_class Char
    mono_get_string_class String
    mono_get_enum_class Enum
    mono_get_array_class Array
    mono_get_thread_class Thread
    mono_get_exception_class Exception
    mono_get_appdomain_class AppDomain
}
