//! Native half of System.RuntimeFieldHandle.
//!
//! Keeps nothing.
use crate::support::objects::{field_of, load};
use crate::support::values;
use crate::system::reflection::field::set;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{FieldRef, Known};

/// Address of an instance field in what a `System.TypedReference` refers to.
fn direct_address<'cx>(
    cx: &'cx Cx<'cx>,
    field: FieldRef,
    reference: *mut usize,
) -> Result<*mut u8> {
    if reference.is_null() || field.is_static() {
        return Err(cx.throw_default(Known::ArgumentException));
    }
    // SAFETY: managed code passes the address of a TypedReference: {type handle, address, class}.
    let (class, value) = unsafe { (Handle::from_word(*reference), *reference.add(1)) };
    let class = cx.class_of_handle(class)?;
    let offset = cx.load(field.offset())? as usize;
    if cx.load(class.is_value_type())? {
        return Ok((value + offset) as *mut u8);
    }
    // SAFETY: a reference to a reference type's variable points to an object reference.
    let object: ObjRef<'cx> = unsafe { ObjRef::from_addr(*(value as *const usize)) };
    let object = cx.non_null(object)?;
    Ok((object.value_ptr() as usize + offset) as *mut u8)
}

icalls! {
    /// As RuntimeFieldInfo.SetValueInternal.
    "System.RuntimeFieldHandle::SetValueInternal" fn handle_set_value_internal(cx, field: ObjRef<'cx>, object: ObjRef<'cx>, value: ObjRef<'cx>) {
        set(cx, field_of(cx, field)?, object, value)
    }
    /// Reads a field of the value a typed reference refers to.
    "System.RuntimeFieldHandle::GetValueDirect" fn get_value_direct(cx, field: ObjRef<'cx>, field_type: ObjRef<'cx>, reference: *mut usize, context: ObjRef<'cx>) -> ObjRef<'cx> {
        let field = field_of(cx, field)?;
        let ty = load(cx, || field.ty())?;
        let at = direct_address(cx, field, reference)?;
        // SAFETY: the field lies at that address.
        unsafe { values::object_at(cx, ty, at) }
    }
    /// Writes a field of the value a typed reference refers to.
    "System.RuntimeFieldHandle::SetValueDirect" fn set_value_direct(cx, field: ObjRef<'cx>, field_type: ObjRef<'cx>, reference: *mut usize, value: ObjRef<'cx>, context: ObjRef<'cx>) {
        let field = field_of(cx, field)?;
        let ty = load(cx, || field.ty())?;
        let at = direct_address(cx, field, reference)?;
        // SAFETY: the field lies at that address.
        unsafe { values::store_object(cx, ty, at, value) }
    }
}
