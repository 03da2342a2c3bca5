//! What a Type object stands for while something is emitted: a class of the runtime's, or something that builders describe.
//!
//! # Invariants
//! A builder that has been created counts as the class that it became.
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::read;
use crate::support::objects::is_known;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::object::ObjRef;
use vervet_types::{Class, ClassRef, Known};

/// See the module.
#[derive(Clone, Copy)]
pub enum TypeKind<'cx> {
    /// A class.
    Class(ClassRef),
    /// A TypeBuilder that has not been created.
    Builder(ObjRef<'cx>),
    /// A type variable: its position, and whether it is a method's.
    Variable(u32, bool),
    /// `T[]` (rank 0) or `T[,]`.
    Array(ObjRef<'cx>, u32),
    /// `T&`.
    ByRef(ObjRef<'cx>),
    /// `T*`.
    Pointer(ObjRef<'cx>),
    /// A generic definition with arguments: Type and `Type[]`.
    Instance(ObjRef<'cx>, ObjRef<'cx>),
}

/// The class behind a RuntimeType.
fn class_of(ty: ObjRef<'_>) -> E<ClassRef> {
    // SAFETY: the runtime stores the address of the class when it makes a RuntimeType, and nothing else writes the field.
    let class: Handle<Class> =
        unsafe { Handle::from_word(ty.read(offset_of!(TypeObject, handle))) };
    class
        .get()
        .ok_or_else(|| EmitError::not_supported("a type without a handle"))
}

/// What a Type object stands for.
///
/// # Errors
/// It is null, or a Type that programs have derived themselves.
pub fn kind<'cx>(ty: ObjRef<'cx>) -> E<TypeKind<'cx>> {
    let Some(ty) = ty.non_null() else {
        return Err(EmitError::Throw(
            Known::ArgumentNullException,
            "type".to_owned(),
        ));
    };
    let class = ty.class();
    let is = |known| is_known(class, known);
    Ok(if is(Known::RuntimeType) {
        TypeKind::Class(class_of(ty)?)
    } else if is(Known::TypeBuilder) {
        match ty
            .read_ref(offset_of!(TypeBuilderObject, created))
            .non_null()
        {
            Some(created) => TypeKind::Class(class_of(created)?),
            None => TypeKind::Builder(ty),
        }
    } else if is(Known::EnumBuilder) {
        return kind(ty.read_ref(offset_of!(EnumBuilderObject, tb)));
    } else if is(Known::GenericTypeParameterBuilder) {
        let of_method = ty.read_ref(offset_of!(GenericTypeParameterBuilderObject, mbuilder));
        let index: u32 = ty.read(offset_of!(GenericTypeParameterBuilderObject, index));
        TypeKind::Variable(index, !of_method.is_null())
    } else if is(Known::ArrayType) {
        let rank: i32 = ty.read(offset_of!(ArrayTypeObject, rank));
        TypeKind::Array(
            ty.read_ref(offset_of!(SymbolTypeObject, base_type)),
            rank.max(0) as u32,
        )
    } else if is(Known::ByRefType) {
        TypeKind::ByRef(ty.read_ref(offset_of!(SymbolTypeObject, base_type)))
    } else if is(Known::PointerType) {
        TypeKind::Pointer(ty.read_ref(offset_of!(SymbolTypeObject, base_type)))
    } else if is(Known::TypeBuilderInstantiation) {
        TypeKind::Instance(
            ty.read_ref(offset_of!(TypeBuilderInstantiationObject, generic_type)),
            ty.read_ref(offset_of!(TypeBuilderInstantiationObject, type_arguments)),
        )
    } else {
        let text = format!("{} is no type of the runtime's", class.full_name());
        return Err(EmitError::not_supported(&text));
    })
}

/// Is a TypeBuilder one of a value type? Its parent says so, as it stands.
pub fn is_value_builder(builder: ObjRef<'_>) -> E<bool> {
    let parent = builder.read_ref(offset_of!(TypeBuilderObject, parent));
    if parent.is_null() {
        return Ok(false);
    }
    Ok(match kind(parent)? {
        TypeKind::Class(class) => is_known(class, Known::ValueType) || is_known(class, Known::Enum),
        _ => false,
    })
}

/// The number of generic parameters of a TypeBuilder.
pub fn generic_arity(builder: ObjRef<'_>) -> usize {
    read::elements(builder.read_ref(offset_of!(TypeBuilderObject, generic_params))).count()
}

/// What a Type object stands for, or nothing if it is null.
pub fn kind_or_none<'cx>(ty: ObjRef<'cx>) -> E<Option<TypeKind<'cx>>> {
    ty.non_null().map(kind).transpose()
}
