//! Constants of fields, parameters and properties, boxed.
//!
//! # Invariants
//! The type of a constant comes from its row of the Constant table, not from the member; [`typed`] then makes it the
//! member's enum.
use crate::support::values::box_int;
use vervet_metadata::{ConstantValue, Token};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, FieldRef, Known, ModuleRef};

fn decode(cx: &Cx<'_>, module: ModuleRef, owner: Token) -> Result<Option<ConstantValue<'static>>> {
    let Some(row) = module.image.constant_of(owner) else {
        return Ok(None);
    };
    match module.image.constant_value(row) {
        Ok(v) => Ok(Some(v)),
        Err(e) => Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
    }
}

/// The constant of a Field, Param or Property row, boxed by its stored type; None if there is none.
pub fn raw<'cx>(cx: &'cx Cx<'cx>, module: ModuleRef, owner: Token) -> Result<Option<ObjRef<'cx>>> {
    decode(cx, module, owner)?
        .map(|v| object(cx, v, None))
        .transpose()
}
/// The same, boxed as `class` if that is an enum.
pub fn typed<'cx>(
    cx: &'cx Cx<'cx>,
    module: ModuleRef,
    owner: Token,
    class: ClassRef,
) -> Result<Option<ObjRef<'cx>>> {
    let class = if cx.load(class.is_enum())? {
        Some(class)
    } else {
        None
    };
    decode(cx, module, owner)?
        .map(|v| object(cx, v, class))
        .transpose()
}
/// The value of a literal field, enums boxed as such.
pub fn of_field<'cx>(cx: &'cx Cx<'cx>, field: FieldRef) -> Result<Option<ObjRef<'cx>>> {
    let ty = cx.load(field.ty())?;
    typed(
        cx,
        field.class.module,
        crate::system::reflection::field::token(field),
        ty,
    )
}
/// The value of an integral constant, extended by its stored type.
pub fn integer(cx: &Cx<'_>, module: ModuleRef, owner: Token) -> Result<Option<i64>> {
    Ok(match decode(cx, module, owner)? {
        Some(ConstantValue::Bool(v)) => Some(v as i64),
        Some(ConstantValue::Char(v) | ConstantValue::U2(v)) => Some(v as i64),
        Some(ConstantValue::I1(v)) => Some(v as i64),
        Some(ConstantValue::U1(v)) => Some(v as i64),
        Some(ConstantValue::I2(v)) => Some(v as i64),
        Some(ConstantValue::I4(v)) => Some(v as i64),
        Some(ConstantValue::U4(v)) => Some(v as i64),
        Some(ConstantValue::I8(v)) => Some(v),
        Some(ConstantValue::U8(v)) => Some(v as i64),
        _ => None,
    })
}

fn object<'cx>(
    cx: &'cx Cx<'cx>,
    value: ConstantValue<'static>,
    class: Option<ClassRef>,
) -> Result<ObjRef<'cx>> {
    let int = |known: Known, v: i64| {
        let class = match class {
            Some(c) => c,
            None => cx.known(known),
        };
        box_int(cx, class, v)
    };
    match value {
        ConstantValue::Bool(v) => int(Known::Boolean, v as i64),
        ConstantValue::Char(v) => int(Known::Char, v as i64),
        ConstantValue::I1(v) => int(Known::SByte, v as i64),
        ConstantValue::U1(v) => int(Known::Byte, v as i64),
        ConstantValue::I2(v) => int(Known::Int16, v as i64),
        ConstantValue::U2(v) => int(Known::UInt16, v as i64),
        ConstantValue::I4(v) => int(Known::Int32, v as i64),
        ConstantValue::U4(v) => int(Known::UInt32, v as i64),
        ConstantValue::I8(v) => int(Known::Int64, v),
        ConstantValue::U8(v) => int(Known::UInt64, v as i64),
        ConstantValue::R4(v) => box_int(cx, cx.known(Known::Single), v.to_bits() as i64),
        ConstantValue::R8(v) => box_int(cx, cx.known(Known::Double), v.to_bits() as i64),
        ConstantValue::String(v) => cx.alloc_utf16(&v.units().collect::<Vec<_>>()),
        ConstantValue::Null => Ok(ObjRef::NULL),
    }
}
