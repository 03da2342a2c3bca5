//! Native half of System.Reflection.RuntimePropertyInfo.
//!
//! Keeps nothing.
use crate::support::constants;
use crate::support::handles;
use crate::support::objects::{load, opt_method_object, property_object, same};
use crate::system::reflection::parameter;
use std::mem::offset_of;
use vervet_abi::layouts::{RawRef, RuntimePropertyInfoObject};
use vervet_metadata::{Table, Token};
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::{ObjRef, store_ref};
use vervet_types::{Class, ClassRef, Known, MethodRef, Property};

/// `System.Reflection.MonoPropertyInfo`.
#[repr(C)]
pub struct MonoPropertyInfo {
    parent: RawRef,
    declaring_type: RawRef,
    name: RawRef,
    get_method: RawRef,
    set_method: RawRef,
    attrs: i32,
}

/// The property of a PropertyInfo object, and the class it was asked of.
pub fn property_of<'cx>(
    cx: &'cx Cx<'cx>,
    object: ObjRef<'cx>,
) -> Result<(&'static Property, ClassRef)> {
    let object = cx.non_null(object)?;
    // SAFETY: the runtime stored the handles in the object when it made it.
    let (property, class) = unsafe {
        (
            handles::in_object(object, offset_of!(RuntimePropertyInfoObject, prop)),
            handles::in_object(object, offset_of!(RuntimePropertyInfoObject, klass)),
        )
    };
    Ok((handles::property(cx, property)?, cx.class_of_handle(class)?))
}
/// The token of the property's row in its own module.
pub fn token(property: &Property) -> Token {
    Token::new(Table::Property, property.rid)
}

/// An accessor or another method as it is seen through a class: private ones only through their own.
fn visible(method: Option<MethodRef>, reflected: ClassRef) -> Option<MethodRef> {
    method.filter(|m| m.flags & 7 != 1 || same(m.class, reflected))
}

const ATTRIBUTES: i32 = 1;
const GET_METHOD: i32 = 2;
const SET_METHOD: i32 = 4;
const REFLECTED_TYPE: i32 = 8;
const DECLARING_TYPE: i32 = 16;
const NAME: i32 = 32;

icalls! {
    /// Fills what is asked for.
    "System.Reflection.RuntimePropertyInfo::get_property_info" fn get_property_info(cx, property: ObjRef<'cx>, info: *mut MonoPropertyInfo, wanted: i32) {
        let (p, reflected) = property_of(cx, property)?;
        // SAFETY: managed code passes the address of such a struct; each reference is stored with its card.
        unsafe {
            if wanted & REFLECTED_TYPE != 0 {
                store_ref(&raw mut (*info).parent as *mut usize, cx.type_object(reflected)?);
            }
            if wanted & DECLARING_TYPE != 0 {
                store_ref(&raw mut (*info).declaring_type as *mut usize, cx.type_object(p.class)?);
            }
            if wanted & NAME != 0 {
                let name: Vec<u16> = p.name.encode_utf16().collect();
                store_ref(&raw mut (*info).name as *mut usize, cx.intern(&name)?);
            }
            if wanted & ATTRIBUTES != 0 {
                (*info).attrs = p.flags as i32;
            }
            if wanted & GET_METHOD != 0 {
                let m = opt_method_object(cx, visible(p.getter, reflected), reflected)?;
                store_ref(&raw mut (*info).get_method as *mut usize, m);
            }
            if wanted & SET_METHOD != 0 {
                let m = opt_method_object(cx, visible(p.setter, reflected), reflected)?;
                store_ref(&raw mut (*info).set_method as *mut usize, m);
            }
        }
        Ok(())
    }
    /// Custom modifiers of the property's type.
    "System.Reflection.RuntimePropertyInfo::GetTypeModifiers" fn get_type_modifiers(cx, property: ObjRef<'cx>, optional: bool) -> ObjRef<'cx> {
        let (p, _) = property_of(cx, property)?;
        let image = &p.module.image;
        let sig = image.property(p.rid).and_then(|r| image.blob(r.signature)).and_then(vervet_metadata::parse_property_sig);
        match sig {
            Ok(sig) => parameter::modifiers(cx, p.module, &sig.ty, optional),
            Err(e) => Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        }
    }
    /// The constant of the property.
    "System.Reflection.RuntimePropertyInfo::get_default_value" fn get_default_value(cx, property: ObjRef<'cx>) -> ObjRef<'cx> {
        let (p, _) = property_of(cx, property)?;
        match constants::raw(cx, p.module, token(p))? {
            Some(v) => Ok(v),
            None => Err(cx.throw_default(Known::InvalidOperationException)),
        }
    }
    /// The token by which reflection names the property.
    "System.Reflection.RuntimePropertyInfo::get_metadata_token" fn get_metadata_token(cx, property: ObjRef<'cx>) -> i32 {
        Ok(property_of(cx, property)?.0.reflection_token().0 as i32)
    }
    /// The PropertyInfo of a property handle, seen through a type handle.
    "System.Reflection.RuntimePropertyInfo::internal_from_handle_type" fn internal_from_handle_type(cx, property: Handle<Property>, ty: Handle<Class>) -> ObjRef<'cx> {
        let p = handles::property(cx, property)?;
        let class = if ty.is_null() { p.class } else { cx.class_of_handle(ty)? };
        let mut at = Some(class);
        while let Some(c) = at {
            if same(c, p.class) {
                return property_object(cx, p, class);
            }
            at = load(cx, || c.parent())?;
        }
        Ok(ObjRef::NULL)
    }
}
