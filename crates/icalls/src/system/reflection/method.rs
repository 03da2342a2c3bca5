//! Native half of System.Reflection.MethodBase, RuntimeMethodInfo, RuntimeConstructorInfo and MonoMethodInfo.
//!
//! Keeps nothing.
use crate::support::callers;
use crate::support::handles;
use crate::support::invoke;
use crate::support::marshal_as;
use crate::support::objects::{self, load, method_object, method_of, method_reflected, same};
use crate::support::security;
use crate::system::reflection::parameter;
use vervet_abi::layouts::RawRef;
use vervet_metadata::{CallConvKind, Table, Token};
use vervet_runtime::RefSlot;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::icalls;
use vervet_runtime::object::{ObjRef, store_ref};
use vervet_types::method::impl_flags;
use vervet_types::{Class, ClassRef, Known, LoadError, Method, MethodRef};

/// `System.Reflection.MonoMethodInfo`.
#[repr(C)]
pub struct MonoMethodInfo {
    parent: RawRef,
    ret: RawRef,
    attrs: i32,
    impl_attrs: i32,
    call_conv: i32,
}

/// The method of `class` or an ancestor that corresponds to `method`: the same one, or of another instantiation.
pub fn seen_through(
    class: ClassRef,
    method: MethodRef,
) -> std::result::Result<Option<MethodRef>, LoadError> {
    if same(class, method.class) {
        return Ok(Some(method));
    }
    if !same(class.def(), method.class.def()) {
        return Ok(None);
    }
    let found = handles::method_on(class, method)?;
    match found {
        Some(m) if !method.method_args().is_empty() => m
            .universe()
            .instantiate_method(m, method.method_args())
            .map(Some),
        other => Ok(other),
    }
}

/// The method an override first overrode (`definition`), or the next one up.
fn base_method(method: MethodRef, definition: bool) -> std::result::Result<MethodRef, LoadError> {
    /// MethodAttributes.NewSlot.
    const NEW_SLOT: u32 = 0x100;
    if !method.is_virtual()
        || method.is_static()
        || method.class.is_interface()
        || method.flags & NEW_SLOT != 0
    {
        return Ok(method);
    }
    let Some(slot) = method.slot()? else {
        return Ok(method);
    };
    let mut result = method;
    let mut at = method.class.parent()?;
    while let Some(class) = at {
        for &m in class.methods()? {
            if m.is_virtual() && m.slot()? == Some(slot) && m.name == method.name {
                result = m;
                if !definition {
                    return Ok(result);
                }
            }
        }
        at = class.parent()?;
    }
    if !result.method_args().is_empty()
        || method.method_args().is_empty()
        || result.generic_arity == 0
    {
        return Ok(result);
    }
    result
        .universe()
        .instantiate_method(result, method.method_args())
}

/// The calling convention as System.Reflection.CallingConventions.
fn calling_convention(method: MethodRef) -> std::result::Result<i32, LoadError> {
    let sig = method.sig()?;
    let mut c = if sig.call_conv == CallConvKind::VarArg {
        2
    } else {
        1
    };
    if sig.has_this {
        c |= 0x20;
    }
    if sig.explicit_this {
        c |= 0x40;
    }
    Ok(c)
}

/// MethodImplAttributes. The accessors of arrays have none in metadata; an abstract method is no internal call, as in mono.
fn implementation(method: MethodRef) -> u32 {
    match method.class.is_array() {
        true if method.name == ".ctor" => impl_flags::INTERNAL_CALL,
        true => impl_flags::RUNTIME | impl_flags::INTERNAL_CALL,
        false if method.is_abstract() => method.impl_flags & !impl_flags::INTERNAL_CALL,
        false => method.impl_flags,
    }
}

/// Does metadata define the method?
fn has_row(method: MethodRef) -> bool {
    !method.is_nameless() && !method.class.is_array()
}

icalls! {
    /// The method that called; of generic ones the definition.
    "System.Reflection.MethodBase::GetCurrentMethod" fn get_current_method(cx) -> ObjRef<'cx> {
        match callers::first(cx) {
            Some(m) => method_object(cx, m.definition(), None),
            None => Ok(ObjRef::NULL),
        }
    }

    /// Fills the struct.
    "System.Reflection.MonoMethodInfo::get_method_info" fn get_method_info(cx, handle: Handle<Method>, info: *mut MonoMethodInfo) {
        let method = handles::method(cx, handle)?;
        let ret = load(cx, || method.sig())?.ret;
        let parent = cx.type_object(method.class)?;
        let ret = cx.type_object(ret)?;
        let call_conv = load(cx, || calling_convention(method))?;
        // SAFETY: managed code passes the address of such a struct.
        unsafe {
            store_ref(&raw mut (*info).parent as *mut usize, parent);
            store_ref(&raw mut (*info).ret as *mut usize, ret);
            (*info).attrs = method.flags as i32;
            (*info).impl_attrs = implementation(method) as i32;
            (*info).call_conv = call_conv;
        }
        Ok(())
    }
    /// MethodAttributes.
    "System.Reflection.MonoMethodInfo::get_method_attributes" fn get_method_attributes(cx, handle: Handle<Method>) -> i32 {
        Ok(handles::method(cx, handle)?.flags as i32)
    }
    /// The parameters, without the return value.
    "System.Reflection.MonoMethodInfo::get_parameter_info" fn get_parameter_info(cx, handle: Handle<Method>, member: ObjRef<'cx>) -> ObjRef<'cx> {
        parameter::of_method(cx, handles::method(cx, handle)?, member)
    }
    /// The MarshalAs of the return value, or null.
    "System.Reflection.MonoMethodInfo::get_retval_marshal" fn get_retval_marshal(cx, handle: Handle<Method>) -> ObjRef<'cx> {
        let method = handles::method(cx, handle)?;
        match parameter::param_row(method, 0) {
            Some(rid) => marshal_as::of(cx, method.module(), Token::new(Table::Param, rid)),
            None => Ok(ObjRef::NULL),
        }
    }

    /// IL, locals and clauses; null without a body.
    "System.Reflection.RuntimeMethodInfo::GetMethodBodyInternal" fn get_method_body_internal(cx, handle: Handle<Method>) -> ObjRef<'cx> {
        crate::system::reflection::method_body::of_method(cx, handles::method(cx, handle)?)
    }
    /// The object of a method handle, seen through a type handle.
    "System.Reflection.RuntimeMethodInfo::GetMethodFromHandleInternalType_native" fn get_method_from_handle(cx, method: Handle<Method>, ty: Handle<Class>, generic_check: bool) -> ObjRef<'cx> {
        let method = handles::method(cx, method)?;
        if ty.is_null() {
            return method_object(cx, method, None);
        }
        let class = cx.class_of_handle(ty)?;
        if !generic_check {
            return method_object(cx, method, Some(class));
        }
        match load(cx, || seen_through(class, method))? {
            Some(m) => method_object(cx, m, Some(class)),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Name.
    "System.Reflection.RuntimeMethodInfo::get_name" fn get_name(cx, method: ObjRef<'cx>) -> ObjRef<'cx> {
        let name: Vec<u16> = method_of(cx, method)?.name.encode_utf16().collect();
        cx.intern(&name)
    }
    /// The method it overrides, itself if none.
    "System.Reflection.RuntimeMethodInfo::get_base_method" fn get_base_method(cx, method: ObjRef<'cx>, definition: bool) -> ObjRef<'cx> {
        let m = method_of(cx, method)?;
        let base = load(cx, || base_method(m, definition))?;
        // As it is seen through the class that declares it, whatever it was found through.
        method_object(cx, base, None)
    }
    /// The token by which reflection names the method.
    "System.Reflection.RuntimeMethodInfo::get_metadata_token" fn get_metadata_token(cx, method: ObjRef<'cx>) -> i32 {
        let method = method_of(cx, method)?;
        Ok(if has_row(method) { method.reflection_token().0 as i32 } else { 0 })
    }
    /// Calls the method; what is wrong with the call comes back through `exception`.
    "System.Reflection.RuntimeMethodInfo::InternalInvoke" fn internal_invoke(cx, this: ObjRef<'cx>, object: ObjRef<'cx>, parameters: ObjRef<'cx>, exception: RefSlot<'cx>) -> ObjRef<'cx> {
        invoke::through_reflection(cx, method_of(cx, this)?, object, parameters, exception)
    }
    /// What a DllImport says.
    "System.Reflection.RuntimeMethodInfo::GetPInvoke" fn get_pinvoke(cx, this: ObjRef<'cx>, flags: *mut i32, entry: RefSlot<'cx>, dll: RefSlot<'cx>) {
        let method = method_of(cx, this)?;
        let import = load(cx, || method.dll_import())?;
        // SAFETY: managed code passes the address of an int.
        unsafe { flags.write(import.as_ref().map_or(0, |i| i.flags as i32)) };
        entry.set(cx.alloc_opt_str(import.as_ref().map(|i| i.entry))?);
        dll.set(cx.alloc_opt_str(import.as_ref().map(|i| i.dll))?);
        Ok(())
    }
    /// The instantiation of a generic method.
    "System.Reflection.RuntimeMethodInfo::MakeGenericMethod_impl" fn make_generic_method(cx, this: ObjRef<'cx>, types: ObjRef<'cx>) -> ObjRef<'cx> {
        let method = method_of(cx, this)?;
        let reflected = method_reflected(cx, this)?;
        let args = objects::classes_of_array(cx, types)?;
        if let Some(bad) = args.iter().find(|a| a.is_no_argument() || a.is_ptr()) {
            let text = format!("The type '{}' may not be used as a type argument.", bad.full_name());
            return Err(cx.throw(Known::ArgumentException, &text));
        }
        let made = load(cx, || method.universe().instantiate_method(method, &args))?;
        if !load(cx, || made.satisfies_constraints())? {
            return Err(cx.throw2(Known::ArgumentException, "Invalid generic arguments", "typeArguments"));
        }
        method_object(cx, made, Some(reflected))
    }
    /// The arguments of an instantiated method or the parameters of a definition.
    "System.Reflection.RuntimeMethodInfo::GetGenericArguments" fn get_generic_arguments(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let method = method_of(cx, this)?;
        let args: &[ClassRef] = if !method.method_args().is_empty() {
            method.method_args()
        } else if method.generic_arity > 0 {
            load(cx, || method.generic_params())?
        } else {
            &[]
        };
        objects::type_array(cx, args)
    }
    /// The generic definition, the method itself if it is one, null if it is not generic.
    "System.Reflection.RuntimeMethodInfo::GetGenericMethodDefinition_impl" fn get_generic_method_definition(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let method = method_of(cx, this)?;
        if method.generic_arity == 0 {
            return Ok(ObjRef::NULL);
        }
        if method.method_args().is_empty() {
            return Ok(this);
        }
        let reflected = method_reflected(cx, this)?;
        // The definition on the method's own class, which may itself be an instantiation.
        match load(cx, || handles::method_on(method.class, method))? {
            Some(m) => method_object(cx, m, Some(reflected)),
            None => method_object(cx, method.definition(), None),
        }
    }
    /// Is it a generic method definition?
    "System.Reflection.RuntimeMethodInfo::get_IsGenericMethodDefinition" fn get_is_generic_method_definition(cx, this: ObjRef<'cx>) -> bool {
        let m = method_of(cx, this)?;
        Ok(m.generic_arity > 0 && m.method_args().is_empty())
    }
    /// Is it a generic method, open or not?
    "System.Reflection.RuntimeMethodInfo::get_IsGenericMethod" fn get_is_generic_method(cx, this: ObjRef<'cx>) -> bool {
        Ok(method_of(cx, this)?.generic_arity > 0)
    }
    /// There is no such security here.
    "System.Reflection.RuntimeMethodInfo::get_core_clr_security_level" fn get_core_clr_security_level(cx, this: ObjRef<'cx>) -> i32 {
        let member = method_of(cx, this)?;
        Ok(security::of_member(cx, member.class.def(), member.token()))
    }

    /// Makes an object and constructs it, or constructs the one given.
    "System.Reflection.RuntimeConstructorInfo::InternalInvoke" fn constructor_internal_invoke(cx, this: ObjRef<'cx>, object: ObjRef<'cx>, parameters: ObjRef<'cx>, exception: RefSlot<'cx>) -> ObjRef<'cx> {
        invoke::through_reflection(cx, method_of(cx, this)?, object, parameters, exception)
    }
    /// There is no such security here.
    "System.Reflection.RuntimeConstructorInfo::get_core_clr_security_level" fn constructor_core_clr_security_level(cx, this: ObjRef<'cx>) -> i32 {
        let member = method_of(cx, this)?;
        Ok(security::of_member(cx, member.class.def(), member.token()))
    }
    /// The MethodDef token.
    "System.Reflection.RuntimeConstructorInfo::get_metadata_token" fn constructor_metadata_token(cx, method: ObjRef<'cx>) -> i32 {
        let method = method_of(cx, method)?;
        Ok(if has_row(method) { method.token().0 as i32 } else { 0 })
    }
}
