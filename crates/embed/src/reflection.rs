//! Objects of reflection, and types by name.
use crate::support::{
    AssemblyP, ClassP, EventP, FieldP, ImageP, MethodP, Object, PropertyP, object, or_null, read,
};
use std::ffi::{c_char, c_int};
use vervet_icalls::support::objects;
use vervet_icalls::support::type_lookup::{self, Lookup};
use vervet_icalls::system::reflection::{method_body, parameter};
use vervet_runtime::ObjRef;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_types::Known;
use vervet_types::type_name::TypeName;

/// A type by the name that reflection gives it, looked up in an image and the core library.
fn by_name(cx: &'static Cx<'static>, name: &str, image: ImageP) -> ClassP {
    let name = TypeName::parse(name)?;
    let modules = image.into_iter().chain([cx.rt().universe.corlib()]);
    for module in modules {
        let lookup = Lookup {
            reflection_only: false,
            home: module.assembly(),
            ignore_case: false,
            events: false,
            builders: false,
        };
        match type_lookup::resolve(cx, &name, lookup) {
            Ok(Some(class)) => return Some(class),
            Ok(None) => {}
            Err(throw) => {
                let _ = cx.take_pending(throw);
            }
        }
    }
    None
}

/// The token of what a reflection object stands for.
fn token<'cx>(cx: &'cx Cx<'cx>, target: vervet_runtime::ObjRef<'cx>) -> Result<u32> {
    let target = cx.non_null(target)?;
    let class = target.class();
    if crate::kinds::is(class, Known::RuntimeType) {
        return Ok(cx.class_of(target)?.token().0);
    }
    if crate::kinds::is(class, Known::RuntimeFieldInfo) {
        return Ok(objects::field_of(cx, target)?.token().0);
    }
    Ok(objects::method_of(cx, target)?.token().0)
}

/// Calls a static method of a class of the core library with objects.
fn ask<'cx>(
    cx: &'cx Cx<'cx>,
    (namespace, class, method): (&str, &str, &str),
    args: &[Value<'cx>],
) -> Result<ObjRef<'cx>> {
    let class = crate::classes::by_name(cx.rt().universe.corlib(), namespace, class, false);
    let found = class.and_then(|c| crate::support::found(c.find_method(method, Some(args.len()))));
    let Some(found) = found else {
        return Err(cx.throw(Known::MissingMethodException, method));
    };
    match cx.invoke(found, None, args)? {
        Value::Ref(result) => Ok(result),
        _ => Ok(ObjRef::NULL),
    }
}

object_api! {
    /// The attributes of what a reflection object stands for, undecoded: CustomAttributeData.
    fn mono_reflection_get_custom_attrs_data(cx; target: Object) -> Object {
        or_null(cx, ask(cx, ("System", "MonoCustomAttrs", "GetCustomAttributesDataInternal"), &[Value::Ref(object(target))]))
    }
    /// The blob of an attribute that would be made so.
    fn mono_reflection_get_custom_attrs_blob(cx; assembly: Object, ctor: Object, args: Object, properties: Object, property_values: Object, fields: Object, field_values: Object) -> Object {
        let all = [assembly, ctor, args, properties, property_values, fields, field_values].map(|o| Value::Ref(object(o)));
        or_null(cx, ask(cx, ("System.Reflection.Emit", "CustomAttributeBuilder", "GetBlob"), &all))
    }
    fn mono_reflection_assembly_get_assembly(cx; target: Object) -> AssemblyP {
        match cx.non_null(object(target)).and_then(|o| objects::assembly_of_object(cx, o)) {
            Ok(assembly) => Some(assembly),
            Err(throw) => { let _ = cx.take_pending(throw); None }
        }
    }
    /// The type of a Type object.
    fn mono_reflection_type_get_type(cx; target: Object) -> ClassP { cx.class_of(object(target)).map_err(|t| { let _ = cx.take_pending(t); }).ok() }
    fn mono_reflection_get_token(cx; target: Object) -> u32 {
        match token(cx, object(target)) {
            Ok(token) => token,
            Err(throw) => { let _ = cx.take_pending(throw); 0 }
        }
    }
    fn mono_reflection_type_from_name(cx; name: *const c_char, image: ImageP) -> ClassP { by_name(cx, &read(name), image) }
}

domain_api! {
    fn mono_param_get_objects(cx; method: MethodP) -> Object {
        let Some(method) = method else { return std::ptr::null_mut() };
        let made = objects::method_object(cx, method, Some(method.class)).and_then(|member| parameter::of_method(cx, method, member));
        or_null(cx, made)
    }
    fn mono_method_body_get_object(cx; method: MethodP) -> Object {
        method.map_or(std::ptr::null_mut(), |m| or_null(cx, method_body::of_method(cx, m)))
    }
    fn mono_type_get_object(cx; ty: ClassP) -> Object {
        ty.map_or(std::ptr::null_mut(), |t| or_null(cx, cx.type_object(t)))
    }
    fn mono_assembly_get_object(cx; assembly: AssemblyP) -> Object {
        assembly.map_or(std::ptr::null_mut(), |a| or_null(cx, objects::assembly_object(cx, a)))
    }
    /// The module that a row of the File table names, from 1; null for a file without metadata.
    fn mono_module_file_get_object(cx; image: ImageP, row: c_int) -> Object {
        let file = image.and_then(|i| crate::images::file_of(i, row as u32));
        file.map_or(std::ptr::null_mut(), |f| or_null(cx, objects::module_object(cx, f)))
    }
    /// The assembly that a handler of AppDomain.TypeResolve gives for a name; without one, for the name of a type that is being built.
    fn mono_domain_try_type_resolve(cx; name: *const c_char, builder: Object) -> Object {
        let wanted = match (name.is_null(), object(builder).non_null()) {
            (true, Some(builder)) => cx.class_of(builder).map(|class| class.full_name()),
            _ => Ok(read(name)),
        };
        let found = wanted.and_then(|name| type_lookup::raise_type_resolve(cx, &name));
        or_null(cx, found.and_then(|found| found.map_or(Ok(ObjRef::NULL), |a| objects::assembly_object(cx, a))))
    }
    fn mono_module_get_object(cx; image: ImageP) -> Object {
        image.map_or(std::ptr::null_mut(), |i| or_null(cx, objects::module_object(cx, i)))
    }
    fn mono_method_get_object(cx; method: MethodP, class: ClassP) -> Object {
        method.map_or(std::ptr::null_mut(), |m| or_null(cx, objects::method_object(cx, m, class)))
    }
    fn mono_field_get_object(cx; class: ClassP, field: FieldP) -> Object {
        field.map_or(std::ptr::null_mut(), |f| or_null(cx, objects::field_object(cx, f, class.unwrap_or(f.class))))
    }
    fn mono_property_get_object(cx; class: ClassP, property: PropertyP) -> Object {
        property.map_or(std::ptr::null_mut(), |p| or_null(cx, objects::property_object(cx, p, class.unwrap_or(p.class))))
    }
    fn mono_event_get_object(cx; class: ClassP, event: EventP) -> Object {
        event.map_or(std::ptr::null_mut(), |e| or_null(cx, objects::event_object(cx, e, class.unwrap_or(e.class))))
    }
    fn mono_get_dbnull_object(cx; ) -> Object {
        let Ok(Some(field)) = cx.known(Known::DBNull).find_field("Value") else { return std::ptr::null_mut() };
        let _ = cx.run_class_init(field.class);
        crate::reflection::static_object(cx, field)
    }
}

/// What a static field of reference type holds.
pub fn static_object(cx: &'static Cx<'static>, field: vervet_types::FieldRef) -> Object {
    let at = cx.rt().vtable_or_throw(cx, field.class).and_then(|vt| {
        cx.load(vervet_runtime::memory::statics::field_address(
            cx, vt, field,
        ))
    });
    match at {
        // SAFETY: the place of a static field of reference type.
        Ok(at) => unsafe { *(at as *const Object) },
        Err(throw) => {
            let _ = cx.take_pending(throw);
            std::ptr::null_mut()
        }
    }
}
