//! Native half of System.Enum.
//!
//! Keeps nothing: managed code caches names and values.
use crate::support::constants;
use crate::support::objects::load;
use crate::support::values::{self, box_int};
use crate::system::reflection::field;
use vervet_runtime::RefSlot;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Known, Prim};

/// The integer type of an enum; ArgumentException for another class.
fn underlying(cx: &Cx<'_>, class: ClassRef) -> Result<ClassRef> {
    match load(cx, || class.enum_underlying())? {
        Some(u) => Ok(u),
        None => Err(cx.throw2(
            Known::ArgumentException,
            "Type provided must be an Enum.",
            "enumType",
        )),
    }
}
/// The primitive that a class is on the evaluation stack, None if it is none.
fn prim(cx: &Cx<'_>, class: ClassRef) -> Result<Option<Prim>> {
    load(cx, || class.stack_prim())
}

icalls! {
    /// Order of two values: -1, 0, 1; 1 if the other is null, 2 if the types differ, 3 if the underlying type cannot be.
    "System.Enum::InternalCompareTo" fn internal_compare_to(cx, a: ObjRef<'cx>, b: ObjRef<'cx>) -> i32 {
        let a = cx.non_null(a)?;
        let Some(b) = b.non_null() else { return Ok(1) };
        if !std::ptr::eq(a.class(), b.class()) {
            return Ok(2);
        }
        let order = match prim(cx, a.class())? {
            Some(Prim::R4 | Prim::R8 | Prim::Void) | None => return Ok(3),
            Some(Prim::U8 | Prim::UIntPtr) => (values::int_of(cx, a)? as u64).cmp(&(values::int_of(cx, b)? as u64)),
            _ => values::int_of(cx, a)?.cmp(&values::int_of(cx, b)?),
        };
        Ok(order as i32)
    }
    /// The underlying type.
    "System.Enum::InternalGetUnderlyingType" fn internal_get_underlying_type(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        cx.type_object(underlying(cx, class)?)
    }
    /// Values (extended to 64 bits) and names in order of declaration; true if the values ascend as unsigned.
    "System.Enum::GetEnumValuesAndNames" fn get_enum_values_and_names(cx, ty: ObjRef<'cx>, out_values: RefSlot<'cx>, out_names: RefSlot<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        underlying(cx, class)?;
        let mut found: Vec<(u64, &'static str)> = Vec::new();
        for &f in load(cx, || class.fields())? {
            if !f.is_static() || !f.is_literal() {
                continue;
            }
            let value = match constants::integer(cx, f.class.module, field::token(f))? {
                Some(v) => v,
                None => return Err(cx.throw(Known::BadImageFormatException, "a literal of an enum has no value")),
            };
            found.push((value as u64, f.name));
        }
        let sorted = found.is_sorted_by_key(|f| f.0);
        let list = cx.alloc_array(cx.known(Known::UInt64), found.len())?;
        for (to, from) in list.elements::<u64>().iter_mut().zip(&found) {
            *to = from.0;
        }
        out_values.set(list);
        let names = cx.alloc_ref_array(cx.known(Known::String), found.len(), |i| {
            // As in mono, no literal of the program.
            cx.alloc_str(found[i].1)
        })?;
        out_names.set(names);
        Ok(sorted)
    }
    /// A box of the enum with the low bytes of the value.
    "System.Enum::InternalBoxEnum" fn internal_box_enum(cx, ty: ObjRef<'cx>, value: i64) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        underlying(cx, class)?;
        box_int(cx, class, value)
    }
    /// The value boxed as its underlying type.
    "System.Enum::get_value" fn get_value(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let this = cx.non_null(this)?;
        let class = underlying(cx, this.class())?;
        // SAFETY: a box of an enum holds a value of its underlying type.
        unsafe { cx.box_value(class, this.value_ptr()) }
    }
    /// `(this & flags) == flags`.
    "System.Enum::InternalHasFlag" fn internal_has_flag(cx, this: ObjRef<'cx>, flags: ObjRef<'cx>) -> bool {
        let (a, b) = (values::int_of(cx, cx.non_null(this)?)?, values::int_of(cx, cx.non_null(flags)?)?);
        Ok(a & b == b)
    }
    /// As the underlying value's GetHashCode.
    "System.Enum::get_hashcode" fn get_hashcode(cx, this: ObjRef<'cx>) -> i32 {
        let this = cx.non_null(this)?;
        let v = values::int_of(cx, this)?;
        Ok(match prim(cx, this.class())? {
            Some(Prim::I8 | Prim::U8 | Prim::IntPtr | Prim::UIntPtr) => v as i32 ^ (v >> 32) as i32,
            // SByte and Int16 double their bits in this class library.
            Some(Prim::I1) => v as i8 as i32 ^ ((v as i8 as i32) << 8),
            Some(Prim::I2) => v as u16 as i32 | ((v as i16 as i32) << 16),
            _ => v as i32,
        })
    }
}
