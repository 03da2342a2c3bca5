//! Native half of System.TypedReference, the struct `{type handle, address of the value, class}`.
//!
//! Keeps nothing.
use crate::support::handles;
use crate::support::values;
use crate::system::reflection::field;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::Known;

/// `System.TypedReference`.
#[repr(C)]
pub struct TypedReference {
    ty: usize,
    value: usize,
    class: usize,
}

icalls! {
    /// Makes a reference to a field of a field ... of an object.
    "System.TypedReference::InternalMakeTypedReference" fn internal_make_typed_reference(cx, result: *mut TypedReference, target: ObjRef<'cx>, fields: ObjRef<'cx>, last: ObjRef<'cx>) {
        let path: &[usize] = cx.non_null(fields)?.elements::<usize>();
        let Some((&first, rest)) = path.split_first() else { return Err(cx.throw_default(Known::ArgumentException)) };
        // SAFETY: managed code passes field handles that it got from this runtime.
        let field_of = |word| handles::field(cx, unsafe { Handle::from_word(word) });
        let mut at = field::address(cx, field_of(first)?, target)? as usize;
        for &h in rest {
            let f = field_of(h)?;
            if !cx.load(f.class.is_value_type())? {
                return Err(cx.throw_default(Known::ArgumentException));
            }
            at += cx.load(f.offset())? as usize;
        }
        let class = cx.class_of(last)? as *const _ as usize;
        // SAFETY: managed code passes the address of a TypedReference.
        unsafe { result.write(TypedReference { ty: class, value: at, class }) };
        Ok(())
    }
    /// Boxes what a reference refers to.
    "System.TypedReference::InternalToObject" fn internal_to_object(cx, reference: *const TypedReference) -> ObjRef<'cx> {
        // SAFETY: managed code passes the address of a TypedReference.
        let (ty, value) = unsafe { (Handle::from_word((*reference).ty), (*reference).value) };
        if ty.is_null() || value == 0 {
            return Err(cx.throw_default(Known::ArgumentNullException));
        }
        let class = cx.class_of_handle(ty)?;
        // SAFETY: the reference refers to a value of that class.
        unsafe { values::object_at(cx, class, value as *const u8) }
    }
}
