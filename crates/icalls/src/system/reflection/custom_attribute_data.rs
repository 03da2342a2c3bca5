//! Native half of System.Reflection.CustomAttributeData: the arguments of an attribute, without an instance of it.
//!
//! Keeps nothing.
use crate::support::objects::{self, field_object, load, method_of, property_object};
use crate::system::mono_custom_attrs::{Target, bad_format, fixed_arguments, named_argument};
use vervet_metadata::CustomAttrReader;
use vervet_runtime::RefSlot;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{ClassRef, Known, MethodRef};

/// The constructor of a class with these parameter types.
fn constructor(cx: &Cx<'_>, class: Known, params: [Known; 2]) -> Result<MethodRef> {
    let class = cx.known(class);
    for &m in load(cx, || class.methods())? {
        if m.is_ctor() {
            let sig = load(cx, || m.sig())?;
            if sig.params.len() == 2
                && sig
                    .params
                    .iter()
                    .zip(params)
                    .all(|(p, k)| std::ptr::eq(*p, cx.known(k)))
            {
                return Ok(m);
            }
        }
    }
    Err(cx.throw2(Known::MissingMethodException, &class.full_name(), ".ctor"))
}

/// The argument of a constructor's parameter: a value declared as object shows the type it really has.
fn fixed_argument<'cx>(cx: &'cx Cx<'cx>, ty: ClassRef, value: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let ty = if std::ptr::eq(ty, cx.known(Known::Object)) && !value.is_null() {
        value.class()
    } else {
        ty
    };
    typed(cx, ty, value)
}

/// A boxed `CustomAttributeTypedArgument`.
fn typed<'cx>(cx: &'cx Cx<'cx>, ty: ClassRef, value: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
    let ctor = constructor(
        cx,
        Known::CustomAttributeTypedArgument,
        [Known::Type, Known::Object],
    )?;
    let made = cx.alloc(cx.known(Known::CustomAttributeTypedArgument))?;
    let ty = cx.type_object(ty)?;
    cx.invoke(
        ctor,
        Some(Value::Ptr(made.value_ptr())),
        &[Value::Ref(ty), Value::Ref(value)],
    )?;
    Ok(made)
}

icalls! {
    /// Decodes a blob into arrays of boxed argument structs.
    "System.Reflection.CustomAttributeData::ResolveArgumentsInternal" fn resolve_arguments_internal(cx, ctor: ObjRef<'cx>, assembly: ObjRef<'cx>, data: *const u8, length: u32, ctor_args: RefSlot<'cx>, named_args: RefSlot<'cx>) {
        let method = method_of(cx, ctor)?;
        let module = objects::assembly_of_object(cx, assembly)?.manifest;
        ctor_args.set(ObjRef::NULL);
        named_args.set(ObjRef::NULL);
        if length == 0 {
            return Ok(());
        }
        if data.is_null() || length > i32::MAX as u32 {
            return Err(bad_format(cx));
        }
        // SAFETY: managed code passes back the pointer and length of a blob in a mapped image.
        let blob = unsafe { std::slice::from_raw_parts(data, length as usize) };
        let mut r = CustomAttrReader::new(blob).map_err(|_| bad_format(cx))?;
        let fixed = fixed_arguments(cx, module, method, &mut r)?;
        let sig = load(cx, || method.sig())?;
        let object = cx.known(Known::Object);
        let fixed = cx.alloc_ref_array(object, sig.params.len(), |i| fixed_argument(cx, sig.params[i], fixed.element_ref(i)))?;
        let count = r.named_count().map_err(|_| bad_format(cx))?;
        let make = constructor(cx, Known::CustomAttributeNamedArgument, [Known::MemberInfo, Known::Object])?;
        let named = cx.alloc_ref_array(object, count as usize, |_| {
            let (target, ty, value) = named_argument(cx, module, method.class, &mut r)?;
            let member = match target {
                Target::Field(f) => field_object(cx, f, f.class)?,
                Target::Property(p) => property_object(cx, p, p.class)?,
            };
            // Its type is that of the field or property, also if that is object.
            let value = typed(cx, ty, value)?;
            let made = cx.alloc(cx.known(Known::CustomAttributeNamedArgument))?;
            cx.invoke(make, Some(Value::Ptr(made.value_ptr())), &[Value::Ref(member), Value::Ref(value)])?;
            Ok(made)
        })?;
        ctor_args.set(fixed);
        named_args.set(named);
        Ok(())
    }
}
