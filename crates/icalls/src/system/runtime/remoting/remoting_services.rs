//! Native half of System.Runtime.Remoting.RemotingServices.
//!
//! Keeps nothing.
use crate::support::invoke;
use crate::support::objects::{method_object, method_of};
use crate::support::type_display::{Format, type_name};
use crate::system::reflection::field;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_runtime::remoting;
use vervet_runtime::{RefSlot, icalls};
use vervet_types::Known;

icalls! {
    /// Is the object a transparent proxy?
    "System.Runtime.Remoting.RemotingServices::IsTransparentProxy" fn is_transparent_proxy(cx, object: ObjRef<'cx>) -> bool { Ok(remoting::is_proxy(object)) }
    /// Calls a method of the object that a message is for; the values of its by-reference arguments, in order. FieldGetter and FieldSetter of Object stand for
    /// accesses of fields.
    "System.Runtime.Remoting.RemotingServices::InternalExecute" fn internal_execute(cx, method: ObjRef<'cx>, object: ObjRef<'cx>, parameters: ObjRef<'cx>, out_args: RefSlot<'cx>) -> ObjRef<'cx> {
        let called = method_of(cx, method)?;
        if std::ptr::eq(called.class, cx.known(Known::Object)) && matches!(called.name, "FieldGetter" | "FieldSetter") {
            return access_field(cx, called.name == "FieldGetter", cx.non_null(object)?, cx.non_null(parameters)?, out_args);
        }
        let sig = cx.load(called.sig())?;
        let given = if parameters.is_null() { cx.alloc_array(cx.known(Known::Object), 0)? } else { parameters };
        let result = match remoting::calls::server(cx, object)? {
            // The message has come through the sinks of the object's context already. The thread may be one of the pool, which runs what was begun, in no context.
            Some(server) => invoke::on_proxy(cx, called, (object, server), given)?,
            None => invoke::through_reflection(cx, called, object, given, out_args)?,
        };
        let thrown = out_args.get();
        if !thrown.is_null() {
            return Err(cx.throw_object(thrown));
        }
        let by_reference: Vec<usize> = (0..sig.params.len()).filter(|i| sig.params[*i].is_byref()).collect();
        let outs = cx.alloc_array(cx.known(Known::Object), by_reference.len())?;
        for (k, i) in by_reference.into_iter().enumerate() {
            outs.set_element_ref(k, given.element_ref(i));
        }
        out_args.set(outs);
        Ok(result)
    }
    /// What a call of a method on an object of a type reaches.
    "System.Runtime.Remoting.RemotingServices::GetVirtualMethod" fn get_virtual_method(cx, ty: ObjRef<'cx>, method: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        let method = method_of(cx, method)?;
        let reached = cx.load(invoke::virtual_target(class, method))?;
        method_object(cx, reached, None)
    }
}

/// `Object.FieldGetter` and `Object.FieldSetter`: (name of the type that declares the field, name of the field, value).
fn access_field<'cx>(
    cx: &'cx Cx<'cx>,
    gets: bool,
    object: ObjRef<'cx>,
    parameters: ObjRef<'cx>,
    out_args: RefSlot<'cx>,
) -> Result<ObjRef<'cx>> {
    let text = |i: usize| cx.non_null(parameters.element_ref(i)).map(ObjRef::text);
    let (declaring, name) = (text(0)?, text(1)?);
    for class in cx.load(object.class().supers())? {
        if cx.load(type_name(class, Format::Full))? != declaring {
            continue;
        }
        let Some(found) = cx.load(class.find_field(&name))? else {
            continue;
        };
        let outs = cx.alloc_array(cx.known(Known::Object), usize::from(gets))?;
        if gets {
            let value = field::get(cx, found, object)?;
            outs.set_element_ref(0, value);
        } else {
            field::set(cx, found, object, parameters.element_ref(2))?;
        }
        out_args.set(outs);
        return Ok(ObjRef::NULL);
    }
    Err(cx.throw(Known::MissingFieldException, &format!("{declaring}.{name}")))
}
