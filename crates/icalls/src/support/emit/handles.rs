//! What lies behind the members that programs pass: the runtime's own methods and fields, and those that builders became.
//!
//! # Invariants
//! A word of an object is taken for an address only if the object is of the very class whose objects the runtime fills: programs derive classes of
//! their own from MethodInfo and its kin.
use crate::support::emit::encoder::non_null;
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::types::{self, TypeKind};
use crate::support::objects::is_known;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Field, FieldRef, Known, Method, MethodRef, Module, ModuleRef};

/// The greatest row number: what is above it is an address.
pub const MAX_ROW: usize = 0xFF_FFFF;

/// Checks that an object is of one of these classes.
pub fn is_one_of(object: ObjRef<'_>, classes: &[Known]) -> E<()> {
    let class = non_null(object)?.class();
    match classes.iter().any(|known| is_known(class, *known)) {
        true => Ok(()),
        false => {
            let text = format!("a member that is {}", class.full_name());
            Err(EmitError::not_supported(&text))
        }
    }
}

/// The method behind a RuntimeMethodInfo or RuntimeConstructorInfo.
pub fn runtime_method(object: ObjRef<'_>) -> E<MethodRef> {
    is_one_of(
        object,
        &[Known::RuntimeMethodInfo, Known::RuntimeConstructorInfo],
    )?;
    let word = object.read(offset_of!(RuntimeMethodInfoObject, mhandle));
    // SAFETY: the runtime stored the address of the method when it made the object.
    let method: Handle<Method> = unsafe { Handle::from_word(word) };
    method
        .get()
        .ok_or_else(|| EmitError::not_supported("a method without a handle"))
}

/// The field behind a RuntimeFieldInfo.
pub fn runtime_field(object: ObjRef<'_>) -> E<FieldRef> {
    is_one_of(object, &[Known::RuntimeFieldInfo])?;
    let word = object.read(offset_of!(RuntimeFieldInfoObject, fhandle));
    // SAFETY: the runtime stored the address of the field when it made the object.
    let field: Handle<Field> = unsafe { Handle::from_word(word) };
    field
        .get()
        .ok_or_else(|| EmitError::not_supported("a field without a handle"))
}

/// The module behind a RuntimeModule or ModuleBuilder.
pub fn runtime_module(object: ObjRef<'_>) -> E<ModuleRef> {
    is_one_of(object, &[Known::RuntimeModule, Known::ModuleBuilder])?;
    let at = if is_known(object.class(), Known::ModuleBuilder) {
        offset_of!(ModuleBuilderObject, handle)
    } else {
        offset_of!(RuntimeModuleObject, handle)
    };
    // SAFETY: the runtime stored the address of the module when it made the one object, or the module of the other.
    let module: Handle<Module> = unsafe { Handle::from_word(object.read(at)) };
    module
        .get()
        .ok_or_else(|| EmitError::not_supported("a module without a handle"))
}

/// The class that a created TypeBuilder became.
///
/// # Errors
/// NotSupportedException: it has not been created.
pub fn created_class(builder: ObjRef<'_>) -> E<ClassRef> {
    match types::kind(builder)? {
        TypeKind::Class(class) => Ok(class),
        _ => Err(EmitError::not_supported(
            "The invoked member is not supported in a dynamic module.",
        )),
    }
}

/// The method that a created MethodBuilder or ConstructorBuilder became.
pub fn created_method(builder: ObjRef<'_>) -> E<MethodRef> {
    let at = if is_known(builder.class(), Known::MethodBuilder) {
        offset_of!(MethodBuilderObject, mhandle)
    } else {
        offset_of!(ConstructorBuilderObject, mhandle)
    };
    // SAFETY: `create_runtime_class` stored the address of the method; the field is 0 before.
    let method: Handle<Method> = unsafe { Handle::from_word(builder.read(at)) };
    method
        .get()
        .ok_or_else(|| EmitError::not_supported("the type of the method has not been created"))
}

/// The row number of a MethodBuilder or ConstructorBuilder in the image that grows. What the builder itself says is right until its module is
/// saved: then it says the number in the file.
pub fn method_row(builder: ObjRef<'_>) -> u32 {
    match created_method(builder) {
        Ok(method) => method.rid,
        Err(_) if is_known(builder.class(), Known::MethodBuilder) => {
            builder.read(offset_of!(MethodBuilderObject, table_idx))
        }
        Err(_) => builder.read(offset_of!(ConstructorBuilderObject, table_idx)),
    }
}

/// The field that a created FieldBuilder became.
pub fn created_field(builder: ObjRef<'_>) -> E<FieldRef> {
    let word: usize = builder.read(offset_of!(FieldBuilderObject, handle));
    let address = if word > MAX_ROW { word } else { 0 };
    // SAFETY: a value above the greatest row number is the address of the field, which `create_runtime_class` stored.
    let field: Handle<Field> = unsafe { Handle::from_word(address) };
    field
        .get()
        .ok_or_else(|| EmitError::not_supported("the type of the field has not been created"))
}
