//! Native half of System.Reflection.EventInfo and RuntimeEventInfo.
//!
//! Keeps nothing.
use crate::support::handles;
use crate::support::objects::{event_object, method_object, opt_method_object};
use std::mem::offset_of;
use vervet_abi::layouts::{RawRef, RuntimeEventInfoObject};
use vervet_metadata::{Table, Token};
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::{ObjRef, store_ref};
use vervet_types::{Class, ClassRef, Event, Known};

/// `System.Reflection.MonoEventInfo`.
#[repr(C)]
pub struct MonoEventInfo {
    declaring_type: RawRef,
    reflected_type: RawRef,
    name: RawRef,
    add_method: RawRef,
    remove_method: RawRef,
    raise_method: RawRef,
    attrs: i32,
    other_methods: RawRef,
}

/// The event of an EventInfo object, and the class it was asked of.
pub fn event_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<(&'static Event, ClassRef)> {
    let object = cx.non_null(object)?;
    // SAFETY: the runtime stored the handles in the object when it made it.
    let (event, class) = unsafe {
        (
            handles::in_object(object, offset_of!(RuntimeEventInfoObject, handle)),
            handles::in_object(object, offset_of!(RuntimeEventInfoObject, klass)),
        )
    };
    Ok((handles::event(cx, event)?, cx.class_of_handle(class)?))
}
/// The Event token.
pub fn token(event: &Event) -> Token {
    Token::new(Table::Event, event.rid)
}

icalls! {
    /// The EventInfo of an event handle, seen through a type handle.
    "System.Reflection.EventInfo::internal_from_handle_type" fn internal_from_handle_type(cx, event: Handle<Event>, ty: Handle<Class>) -> ObjRef<'cx> {
        let e = handles::event(cx, event)?;
        let class = if ty.is_null() { e.class } else { cx.class_of_handle(ty)? };
        event_object(cx, e, class)
    }

    /// Fills the struct.
    "System.Reflection.RuntimeEventInfo::get_event_info" fn get_event_info(cx, event: ObjRef<'cx>, info: *mut MonoEventInfo) {
        let (e, reflected) = event_of(cx, event)?;
        let name: Vec<u16> = e.name.encode_utf16().collect();
        // SAFETY: managed code passes the address of such a struct; each reference is stored with its card.
        unsafe {
            store_ref(&raw mut (*info).declaring_type as *mut usize, cx.type_object(e.class)?);
            store_ref(&raw mut (*info).reflected_type as *mut usize, cx.type_object(reflected)?);
            store_ref(&raw mut (*info).name as *mut usize, cx.intern(&name)?);
            store_ref(&raw mut (*info).add_method as *mut usize, opt_method_object(cx, e.add, reflected)?);
            store_ref(&raw mut (*info).remove_method as *mut usize, opt_method_object(cx, e.remove, reflected)?);
            store_ref(&raw mut (*info).raise_method as *mut usize, opt_method_object(cx, e.raise, reflected)?);
            (*info).attrs = e.flags as i32;
            if !e.others.is_empty() {
                let others = cx.alloc_ref_array(cx.known(Known::MethodInfo), e.others.len(), |i| method_object(cx, e.others[i], Some(reflected)))?;
                store_ref(&raw mut (*info).other_methods as *mut usize, others);
            }
        }
        Ok(())
    }
    /// The Event token.
    "System.Reflection.RuntimeEventInfo::get_metadata_token" fn get_metadata_token(cx, event: ObjRef<'cx>) -> i32 {
        Ok(token(event_of(cx, event)?.0).0 as i32)
    }
}
