//! Native half of System.RuntimeType and System.Type: questions about types, and making arrays, pointers and
//! instantiations. Listing members is in [`members`].
//!
//! Keeps nothing: the type system has one `Class` for each type.
mod interface_order;
pub mod members;

use crate::support::marks;
use crate::support::objects::{self, is_known, load, opt_method_object, same};
use crate::support::security;
use crate::support::type_display::{self, Format};
use crate::system::runtime_type_handle::opt_type;
use vervet_runtime::RefSlot;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{Class, ClassKind, ClassRef, Known, LoadError, MAX_RANK, MethodRef, Prim};

/// System.TypeCode of a type.
pub fn type_code(class: ClassRef) -> std::result::Result<i32, LoadError> {
    if class.is_byref() {
        return Ok(1);
    }
    Ok(match class.stack_prim()? {
        Some(Prim::Bool) => 3,
        Some(Prim::Char) => 4,
        Some(Prim::I1) => 5,
        Some(Prim::U1) => 6,
        Some(Prim::I2) => 7,
        Some(Prim::U2) => 8,
        Some(Prim::I4) => 9,
        Some(Prim::U4) => 10,
        Some(Prim::I8) => 11,
        Some(Prim::U8) => 12,
        Some(Prim::R4) => 13,
        Some(Prim::R8) => 14,
        Some(Prim::Void | Prim::IntPtr | Prim::UIntPtr) => 1,
        None if is_known(class, Known::String) => 18,
        None if is_known(class, Known::Decimal) => 15,
        None if is_known(class, Known::DateTime) => 16,
        None if is_known(class, Known::DBNull) => 2,
        None => 1,
    })
}

/// The instantiation of a definition over arguments, with the checks of `Type.MakeGenericType`.
pub fn make_generic<'cx>(
    cx: &'cx Cx<'cx>,
    definition: ClassRef,
    args: &[ClassRef],
) -> Result<ClassRef> {
    let definition = definition.def();
    let params = load(cx, || definition.params())?;
    if params.len() != args.len() {
        return Err(cx.throw(Known::ArgumentException, "The number of generic arguments provided doesn't equal the arity of the generic type definition."));
    }
    let made = objects::load(cx, || cx.universe().instantiate(definition, args))?;
    if !objects::load(cx, || made.satisfies_constraints())? {
        return Err(cx.throw2(
            Known::ArgumentException,
            "Invalid generic arguments",
            "typeArguments",
        ));
    }
    Ok(made)
}

/// The outermost class whose namespace a nested type shares; arrays and the like are as their element.
fn namespace_of(class: ClassRef) -> std::result::Result<&'static str, LoadError> {
    let mut c = class;
    while let Some(e) = c.element() {
        c = e;
    }
    if let ClassKind::GenericParam { owner, .. } = c.kind {
        return Ok(owner.namespace);
    }
    while let Some(outer) = c.declaring_type()? {
        c = outer;
    }
    Ok(c.namespace)
}

/// No type is derived from TypedReference.
fn refuse_typed_reference(cx: &Cx<'_>, class: ClassRef) -> Result<()> {
    match is_known(class, Known::TypedReference) {
        true => Err(cx.throw2(Known::TypeLoadException, &class.full_name(), "")),
        false => Ok(()),
    }
}

/// The methods of an interface and those that implement them in a class.
fn interface_map(
    class: ClassRef,
    interface: ClassRef,
) -> std::result::Result<Vec<(MethodRef, Option<MethodRef>)>, LoadError> {
    let mut out = Vec::new();
    for &m in interface.methods()? {
        if m.is_virtual() && !m.is_static() {
            out.push((m, class.find_interface_impl(m)?));
        }
    }
    Ok(out)
}

/// TypeLoadException for arrays of what lives on a stack only.
pub fn refuse_stack_only(cx: &Cx<'_>, element: ClassRef) -> Result<()> {
    if marks::is_stack_only(element) {
        let text = format!("Could not create array type '{}[]'", element.full_name());
        return Err(cx.throw(Known::TypeLoadException, &text));
    }
    Ok(())
}

icalls! {
    /// The Type of a type handle; null for 0.
    "System.Type::internal_from_handle" fn internal_from_handle(cx, handle: Handle<Class>) -> ObjRef<'cx> {
        if handle.is_null() { Ok(ObjRef::NULL) } else { cx.type_object(cx.class_of_handle(handle)?) }
    }

    /// There is no Windows Runtime here.
    "System.RuntimeType::IsWindowsRuntimeObjectType" fn is_windows_runtime_object_type(cx, ty: ObjRef<'cx>) -> bool { Ok(false) }
    /// There is no Windows Runtime here.
    "System.RuntimeType::IsTypeExportedToWindowsRuntime" fn is_type_exported_to_windows_runtime(cx, ty: ObjRef<'cx>) -> bool { Ok(false) }
    /// `T[]`, or an array of a rank.
    "System.RuntimeType::make_array_type" fn make_array_type(cx, this: ObjRef<'cx>, rank: i32) -> ObjRef<'cx> {
        // Mono takes a by-ref type for what it refers to.
        let class = cx.class_of(this)?;
        let class = class.element().filter(|_| class.is_byref()).unwrap_or(class);
        // More than this MakeArrayType does not let through, and the message would be as long as the rank.
        if !(0..=255).contains(&rank) {
            return Err(cx.throw_default(Known::IndexOutOfRangeException));
        }
        if rank > MAX_RANK as i32 {
            let commas = ",".repeat(rank as usize - 1);
            return Err(cx.throw(Known::TypeLoadException, &format!("{}[{commas}] has too many dimensions.", class.full_name())));
        }
        refuse_typed_reference(cx, class)?;
        refuse_stack_only(cx, class)?;
        let (u, class) = (cx.universe(), cx.load(class.nested())?);
        cx.type_object(if rank == 0 { u.sz_array(class) } else { u.array(class, rank as u32) })
    }
    /// `T&`.
    "System.RuntimeType::make_byref_type" fn make_byref_type(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        if class.is_byref() {
            return Err(cx.throw2(Known::TypeLoadException, &class.full_name(), ""));
        }
        refuse_typed_reference(cx, class)?;
        cx.type_object(cx.universe().byref(cx.load(class.nested())?))
    }
    /// `T*`.
    "System.RuntimeType::MakePointerType" fn make_pointer_type(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        if class.is_byref() {
            return Err(cx.throw2(Known::TypeLoadException, &class.full_name(), ""));
        }
        refuse_typed_reference(cx, class)?;
        cx.type_object(cx.universe().ptr(cx.load(class.nested())?))
    }
    /// The instantiation of a generic type.
    "System.RuntimeType::MakeGenericType" fn make_generic_type(cx, definition: ObjRef<'cx>, types: ObjRef<'cx>) -> ObjRef<'cx> {
        let definition = cx.class_of(definition)?;
        let args = objects::classes_of_array(cx, types)?;
        cx.type_object(make_generic(cx, definition, &args)?)
    }
    /// What implements each method of an interface.
    "System.RuntimeType::GetInterfaceMapData" fn get_interface_map_data(cx, ty: ObjRef<'cx>, interface: ObjRef<'cx>, targets: RefSlot<'cx>, methods: RefSlot<'cx>) {
        let (class, interface) = (cx.class_of(ty)?, cx.class_of(interface)?);
        load(cx, || class.check_asked())?;
        let fits = |i: &&ClassRef| same(i, interface) || i.def() == interface.def() && cx.universe().is_variant(i, interface).unwrap_or(false);
        if !load(cx, || class.interfaces())?.iter().any(|i| fits(&i)) {
            return Ok(());
        }
        let map = load(cx, || interface_map(class, interface))?;
        let element = cx.known(Known::MethodInfo);
        let declared = cx.alloc_ref_array(element, map.len(), |i| objects::method_object(cx, map[i].0, Some(interface)))?;
        let found = cx.alloc_ref_array(element, map.len(), |i| match map[i].1 {
            Some(m) => objects::method_object(cx, m, Some(class)),
            None => Ok(ObjRef::NULL),
        })?;
        methods.set(declared);
        targets.set(found);
        Ok(())
    }
    /// The pack and size of a StructLayout.
    "System.RuntimeType::GetPacking" fn get_packing(cx, this: ObjRef<'cx>, packing: *mut i32, size: *mut i32) {
        let class = cx.class_of(this)?;
        let (mut pack, mut bytes) = (8, 0);
        if let ClassKind::Def { rid, .. } = class.def().kind {
            let image = &class.def().module.image;
            if let Some(row) = image.class_layout_of(rid).and_then(|r| image.class_layout(r).ok()) {
                if row.packing_size != 0 {
                    pack = row.packing_size as i32;
                }
                bytes = row.class_size as i32;
            }
        }
        // SAFETY: managed code passes the addresses of two ints.
        unsafe {
            packing.write(pack);
            size.write(bytes);
        }
        Ok(())
    }
    /// TypeCode; Empty for null.
    "System.RuntimeType::GetTypeCodeImplInternal" fn get_type_code(cx, ty: ObjRef<'cx>) -> i32 {
        if ty.is_null() {
            return Ok(0);
        }
        let class = cx.class_of(ty)?;
        load(cx, || type_code(class))
    }
    /// An instance without a constructor run; null for Nullable.
    "System.RuntimeType::CreateInstanceInternal" fn create_instance_internal(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        if class.is_nullable() {
            return Ok(ObjRef::NULL);
        }
        if class.rid() == 0 || class.is_interface() || class.is_abstract() || is_known(class, Known::String) {
            let text = format!("No parameterless constructor defined for type '{}'", class.full_name());
            return Err(cx.throw(Known::MissingMethodException, &text));
        }
        cx.alloc(class)
    }
    /// The method a generic parameter belongs to, or null.
    "System.RuntimeType::get_DeclaringMethod" fn get_declaring_method(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        match class.kind {
            ClassKind::GenericParam { owner, owner_token, .. } if owner_token.is(vervet_metadata::Table::MethodDef) => {
                let m = load(cx, || class.module.method_def(owner_token.rid()))?;
                opt_method_object(cx, Some(m), owner)
            }
            ClassKind::GenericParam { .. } => Ok(ObjRef::NULL),
            _ => Err(cx.throw(Known::InvalidOperationException, "DeclaringMethod can only be used on generic arguments")),
        }
    }
    /// The name in one of its three formats; null for the full name of a generic parameter, and of a reference to one.
    "System.RuntimeType::getFullName" fn get_full_name(cx, this: ObjRef<'cx>, full_name: bool, assembly_qualified: bool) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        let format = match (full_name, assembly_qualified) {
            (true, true) => Format::Qualified,
            (true, false) => Format::Full,
            _ => Format::Reflection,
        };
        let referred = class.element().filter(|_| class.is_byref());
        if full_name && referred.unwrap_or(class).is_generic_param() {
            return Ok(ObjRef::NULL);
        }
        let name = load(cx, || type_display::type_name(class, format))?;
        cx.alloc_str(&name)
    }
    /// The arguments of an instantiation or the parameters of a definition.
    "System.RuntimeType::GetGenericArgumentsInternal" fn get_generic_arguments(cx, this: ObjRef<'cx>, runtime_array: bool) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        let args: &[ClassRef] = if class.is_inst() {
            class.args()
        } else if class.is_generic_def() {
            load(cx, || class.params())?
        } else {
            &[]
        };
        let element = cx.known(if runtime_array { Known::RuntimeType } else { Known::Type });
        cx.alloc_ref_array(element, args.len(), |i| cx.type_object(args[i]))
    }
    /// Position of a generic parameter.
    "System.RuntimeType::GetGenericParameterPosition" fn get_generic_parameter_position(cx, this: ObjRef<'cx>) -> i32 {
        match cx.class_of(this)?.kind {
            ClassKind::GenericParam { index, .. } => Ok(index as i32),
            _ => Ok(-1),
        }
    }
    /// All interfaces, inherited ones included; of a reference those of what it refers to.
    "System.RuntimeType::GetInterfaces" fn get_interfaces(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        let all = match class.element().filter(|_| class.is_byref()) {
            Some(element) => load(cx, || interface_order::of_type(element))?,
            None if class.is_ptr() => Vec::new(),
            None => load(cx, || interface_order::of_type(class))?,
        };
        objects::type_array(cx, &all)
    }
    /// The enclosing type, or the owner of a generic parameter.
    "System.RuntimeType::get_DeclaringType" fn get_declaring_type(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        if class.is_byref() {
            return Ok(ObjRef::NULL);
        }
        let found = match class.kind {
            ClassKind::GenericParam { owner, .. } => Some(owner),
            ClassKind::Def { .. } | ClassKind::Inst { .. } => load(cx, || class.declaring_type())?,
            _ => None,
        };
        opt_type(cx, found.map(|c| c.def()))
    }
    /// Simple name.
    "System.RuntimeType::get_Name" fn get_name(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        cx.type_name(this)
    }
    /// Namespace, null for none.
    "System.RuntimeType::get_Namespace" fn get_namespace(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(this)?;
        let namespace = load(cx, || namespace_of(class))?;
        cx.alloc_opt_str((!namespace.is_empty()).then_some(namespace))
    }
    /// Critical, safe-critical or transparent, as the class library is marked.
    "System.RuntimeType::get_core_clr_security_level" fn get_core_clr_security_level(cx, this: ObjRef<'cx>) -> i32 {
        Ok(security::of_class(cx, cx.class_of(this)?))
    }
}
