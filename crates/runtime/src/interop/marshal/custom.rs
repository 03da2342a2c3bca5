//! Custom marshalers: parameters that a program's `ICustomMarshaler` converts (`UnmanagedType.CustomMarshaler`).
//!
//! # Which of its methods are called
//! | parameter | before the call | after the call |
//! |---|---|---|
//! | by value | ManagedToNative | `[In, Out]`: NativeToManaged, whose result is dropped; CleanUpNativeData |
//! | by value, `[Out]` only | nothing: the callee gets null | nothing |
//! | `ref` | ManagedToNative | NativeToManaged; CleanUpNativeData |
//! | `out` | nothing | NativeToManaged; CleanUpNativeData |
//! | result | | NativeToManaged; CleanUpNativeData |
//! | of a delegate, by value | NativeToManaged | CleanUpManagedData |
//! | of a delegate, `ref` | NativeToManaged | ManagedToNative; CleanUpManagedData |
//! | of a delegate, `out` | nothing | ManagedToNative; CleanUpManagedData |
//! | of a delegate, result | | ManagedToNative; CleanUpManagedData |
//!
//! Null is null on both sides, and no method is called for it. This is what mono does (measured).
//!
//! # Invariants
//! * One instance serves all parameters with the same type and cookie. The class library keeps it (`Marshal.GetCustomMarshalerInstance`).
//! * An object that a marshaler makes is an instance of the parameter's type when managed code gets it.
use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use vervet_jit::stubs::native::marshal_plan::CustomMarshaler;
use vervet_types::type_name::TypeName;
use vervet_types::{ClassRef, Known, MethodRef};

/// The marshaler's type.
fn marshaler_class<'cx>(cx: &'cx Cx<'cx>, declared: &CustomMarshaler) -> Result<ClassRef> {
    let name = cx.alloc_str(declared.name)?;
    let args = [Value::Ref(name), Value::Int(1)];
    let names_assembly = TypeName::parse(declared.name).is_some_and(|n| n.assembly.is_some());
    let found = match declared.module.assembly() {
        Some(home) if !names_assembly => {
            let home = crate::loader::assembly_object(cx, home)?;
            let get_type = cx.known_method(Known::Assembly, "GetType", 2)?;
            crate::code::invoke::invoke_virtual(cx, get_type, home, &args)?
        }
        _ => cx.invoke(cx.known_method(Known::Type, "GetType", 2)?, None, &args)?,
    };
    match found {
        Value::Ref(object) if !object.is_null() => cx.class_of(object),
        _ => Err(cx.throw(Known::TypeLoadException, declared.name)),
    }
}

/// The instance that converts a parameter.
fn instance<'cx>(cx: &'cx Cx<'cx>, declared: &CustomMarshaler) -> Result<ObjRef<'cx>> {
    let class = marshaler_class(cx, declared)?;
    let made_by = |m: &&MethodRef| {
        m.name == "GetInstance"
            && m.is_static()
            && m.sig().is_ok_and(|s| {
                s.params[..] == [cx.known(Known::String)]
                    && s.ret == cx.known(Known::ICustomMarshaler)
            })
    };
    if !cx.load(class.methods())?.iter().any(|m| made_by(&m)) {
        let text = format!(
            "Custom marshaler '{}' does not implement a static GetInstance method that takes a single string parameter and returns an \
             ICustomMarshaler.",
            class.full_name()
        );
        return Err(cx.throw(Known::ApplicationException, &text));
    }
    let get = cx.known_method(Known::Marshal, "GetCustomMarshalerInstance", 2)?;
    let cookie = cx.alloc_str(declared.cookie)?;
    let args = [Value::Ref(cx.type_object(class)?), Value::Ref(cookie)];
    match cx.invoke(get, None, &args)? {
        Value::Ref(object) if !object.is_null() => Ok(object),
        _ => Err(cx.throw_default(Known::NullReferenceException)),
    }
}

/// Calls a method of the marshaler.
fn call<'cx>(
    cx: &'cx Cx<'cx>,
    declared: &CustomMarshaler,
    name: &str,
    arg: Value<'cx>,
) -> Result<Value<'cx>> {
    let marshaler = instance(cx, declared)?;
    let method = cx.known_method(Known::ICustomMarshaler, name, 1)?;
    crate::code::invoke::invoke_virtual(cx, method, marshaler, &[arg])
}

/// `MarshalManagedToNative`; null is 0.
pub fn to_native<'cx>(
    cx: &'cx Cx<'cx>,
    declared: &CustomMarshaler,
    object: ObjRef<'cx>,
) -> Result<usize> {
    if object.is_null() {
        return Ok(0);
    }
    match call(cx, declared, "MarshalManagedToNative", Value::Ref(object))? {
        Value::Int(word) => Ok(word as usize),
        _ => Ok(0),
    }
}

/// `MarshalNativeToManaged`; 0 is null.
pub fn to_managed<'cx>(
    cx: &'cx Cx<'cx>,
    declared: &CustomMarshaler,
    native: usize,
) -> Result<ObjRef<'cx>> {
    if native == 0 {
        return Ok(ObjRef::NULL);
    }
    let made = call(
        cx,
        declared,
        "MarshalNativeToManaged",
        Value::Int(native as i64),
    )?;
    let Value::Ref(object) = made else {
        return Ok(ObjRef::NULL);
    };
    let fits =
        object.is_null() || cx.load(cx.universe().is_assignable(object.class(), declared.class))?;
    match fits {
        true => Ok(object),
        false => Err(cx.throw_default(Known::InvalidCastException)),
    }
}

/// `CleanUpNativeData`, unless it is 0.
pub fn clean_up_native<'cx>(
    cx: &'cx Cx<'cx>,
    declared: &CustomMarshaler,
    native: usize,
) -> Result<()> {
    if native != 0 {
        call(cx, declared, "CleanUpNativeData", Value::Int(native as i64))?;
    }
    Ok(())
}

/// `CleanUpManagedData`, unless it is null.
pub fn clean_up_managed<'cx>(
    cx: &'cx Cx<'cx>,
    declared: &CustomMarshaler,
    object: ObjRef<'cx>,
) -> Result<()> {
    if !object.is_null() {
        call(cx, declared, "CleanUpManagedData", Value::Ref(object))?;
    }
    Ok(())
}
