//! Properties and events.
use crate::invoke;
use crate::support::{ClassP, EventP, MethodP, Object, PropertyP, text};
use std::ffi::{c_char, c_void};
use vervet_metadata::Table;
use vervet_types::Token;

query_api! {
    fn mono_property_get_name(property: PropertyP) -> *const c_char { property.map_or(std::ptr::null(), |p| text(p.name)) }
    fn mono_property_get_get_method(property: PropertyP) -> MethodP { property?.getter }
    fn mono_property_get_set_method(property: PropertyP) -> MethodP { property?.setter }
    fn mono_property_get_parent(property: PropertyP) -> ClassP { property.map(|p| p.class) }
    fn mono_property_get_flags(property: PropertyP) -> u32 { property.map_or(0, |p| p.flags) }
    fn mono_class_get_property_token(property: PropertyP) -> u32 { property.map_or(0, |p| Token::new(Table::Property, p.rid).0) }
    fn mono_event_get_name(event: EventP) -> *const c_char { event.map_or(std::ptr::null(), |e| text(e.name)) }
    fn mono_event_get_add_method(event: EventP) -> MethodP { event?.add }
    fn mono_event_get_remove_method(event: EventP) -> MethodP { event?.remove }
    fn mono_event_get_raise_method(event: EventP) -> MethodP { event?.raise }
    fn mono_event_get_parent(event: EventP) -> ClassP { event.map(|e| e.class) }
    fn mono_event_get_flags(event: EventP) -> u32 { event.map_or(0, |e| e.flags) }
    fn mono_class_get_event_token(event: EventP) -> u32 { event.map_or(0, |e| Token::new(Table::Event, e.rid).0) }
}

object_api! {
    fn mono_property_get_value(cx; property: PropertyP, target: *mut c_void, params: *const *mut c_void, exc: *mut Object) -> Object {
        match property.and_then(|p| p.getter) {
            Some(getter) => invoke::from_host(cx, getter, target, params, exc),
            None => std::ptr::null_mut(),
        }
    }
    fn mono_property_set_value(cx; property: PropertyP, target: *mut c_void, params: *const *mut c_void, exc: *mut Object) {
        if let Some(setter) = property.and_then(|p| p.setter) {
            invoke::from_host(cx, setter, target, params, exc);
        }
    }
}
