//! Native half of System.RuntimeTypeHandle: questions about one type.
//!
//! Keeps nothing.
use crate::support::callers;
use crate::support::emit::modules;
use crate::support::handles;
use crate::support::marks;
use crate::support::objects::{self, is_known, load, same};
use crate::support::type_lookup::{self, Lookup};
use vervet_runtime::classes::vtables::is_com;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::class::{facts, type_flags};
use vervet_types::type_name::TypeName;
use vervet_types::{Class, ClassKind, ClassRef, Known, LoadError, ModuleRef};

/// The element-type byte of a type (II.23.1.16).
pub fn element_type(class: ClassRef) -> std::result::Result<u8, LoadError> {
    Ok(match &class.kind {
        ClassKind::SzArray(_) => 0x1d,
        ClassKind::Array { .. } => 0x14,
        ClassKind::Ptr(_) => 0x0f,
        ClassKind::ByRef(_) => 0x10,
        ClassKind::FnPtr(_) => 0x1b,
        ClassKind::GenericParam { owner_token, .. } => {
            if owner_token.is(vervet_metadata::Table::MethodDef) {
                0x1e
            } else {
                0x13
            }
        }
        ClassKind::Position { of_method, .. } => {
            if *of_method {
                0x1e
            } else {
                0x13
            }
        }
        ClassKind::Inst { .. } => 0x15,
        ClassKind::Def { .. } => match class.prim {
            Some(p) => p as u8,
            None if is_known(class, Known::String) => 0x0e,
            None if is_known(class, Known::Object) => 0x1c,
            None if is_known(class, Known::TypedReference) => 0x16,
            None if class.is_value_type()? => 0x11,
            None => 0x12,
        },
    })
}

/// The Type of an optional class, or null.
pub fn opt_type<'cx>(cx: &'cx Cx<'cx>, class: Option<ClassRef>) -> Result<ObjRef<'cx>> {
    match class {
        Some(c) => cx.type_object(c),
        None => Ok(ObjRef::NULL),
    }
}

/// `Mono.RuntimeStructs.GenericParamInfo`.
#[repr(C)]
struct GenericParamInfo {
    class: usize,
    name: usize,
    flags: u16,
    token: u32,
    constraints: usize,
}

/// The module that reflection says a type is declared in. A generic parameter of a grafted method has its row in another module than
/// the class that the method belongs to.
fn declaring_module(class: ClassRef) -> ModuleRef {
    match class.kind {
        ClassKind::GenericParam { owner, .. } => owner.module,
        _ => class.module,
    }
}

/// The TypeAttributes; those of what a by-ref type refers to, and of a pointer the visibility of that.
fn attributes(class: ClassRef) -> u32 {
    match class.element() {
        Some(element) if class.is_byref() => attributes(element),
        Some(element) if class.is_ptr() => attributes(element) & type_flags::VISIBILITY_MASK,
        _ => class.flags,
    }
}

/// Fills the word by which generated code answers the next question, unless the type may still change.
fn note(class: ClassRef) {
    class.note_facts(|| {
        if class.module.image.grows().is_some() {
            return None;
        }
        let bit = |is: bool, bit: u64| if is { bit } else { 0 };
        let element = u64::from(element_type(class).ok()?) << facts::ELEMENT_TYPE_SHIFT;
        let is_variable = bit(class.is_generic_param(), facts::GENERIC_VARIABLE);
        let is_definition = bit(class.is_generic_def(), facts::GENERIC_DEFINITION);
        let is_generic = bit(has_type_arguments(class), facts::INSTANTIATION);
        Some(u64::from(attributes(class)) | element | is_variable | is_definition | is_generic)
    });
}

/// Generic instance or definition?
fn has_type_arguments(class: ClassRef) -> bool {
    class.is_inst() || class.is_generic_def()
}

icalls! {
    /// TypeAttributes.
    "System.RuntimeTypeHandle::GetAttributes" fn get_attributes(cx, ty: ObjRef<'cx>) -> i32 {
        let class = cx.class_of(ty)?;
        note(class);
        Ok(attributes(class) as i32)
    }
    /// The TypeDef token; as in mono, 0 for generic parameters.
    "System.RuntimeTypeHandle::GetMetadataToken" fn get_metadata_token(cx, ty: ObjRef<'cx>) -> i32 {
        let class = cx.class_of(ty)?;
        let class = if class.is_byref() { class.element().unwrap_or(class) } else { class };
        Ok(match class.kind {
            ClassKind::SzArray(_) | ClassKind::Array { .. } | ClassKind::Ptr(_) | ClassKind::FnPtr(_) | ClassKind::GenericParam { .. } => 0,
            ClassKind::Inst { def, .. } => def.token().0 as i32,
            _ => class.token().0 as i32,
        })
    }
    /// The generic definition, the type itself if it is one, or null.
    "System.RuntimeTypeHandle::GetGenericTypeDefinition_impl" fn get_generic_type_definition(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        // The definition of a type that a program has defined is the builder, as in mono; Equals holds between that and the type.
        if class.is_inst() && let Some(builder) = modules::builder_of(cx, class.def()) {
            return Ok(builder);
        }
        if class.is_inst() || class.is_generic_def() { cx.type_object(class.def()) } else { Ok(ObjRef::NULL) }
    }
    /// The ELEMENT_TYPE byte.
    "System.RuntimeTypeHandle::GetCorElementType" fn get_cor_element_type(cx, ty: ObjRef<'cx>) -> u8 {
        let class = cx.class_of(ty)?;
        note(class);
        load(cx, || element_type(class))
    }
    /// Generic instance or definition?
    "System.RuntimeTypeHandle::HasInstantiation" fn has_instantiation(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        note(class);
        Ok(has_type_arguments(class))
    }
    /// Does the class derive from an imported one?
    "System.RuntimeTypeHandle::IsComObject" fn is_com_object(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        cx.load(is_com(class))
    }
    /// Is the object an instance of the type? Null is of none.
    "System.RuntimeTypeHandle::IsInstanceOfType" fn is_instance_of_type(cx, ty: ObjRef<'cx>, object: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        load(cx, || class.check_asked())?;
        if object.is_null() {
            return Ok(false);
        }
        if vervet_runtime::remoting::is_proxy(object) {
            return vervet_runtime::remoting::classes::is_instance(cx, object, class);
        }
        load(cx, || objects::is_instance(object.class(), class))
    }
    /// Do values of the type hold object references?
    "System.RuntimeTypeHandle::HasReferences" fn has_references(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        if !load(cx, || class.is_value_type())? {
            return Ok(!(class.is_ptr() || class.is_fn_ptr() || class.is_byref()));
        }
        Ok(!load(cx, || class.layout())?.ref_map.is_empty())
    }
    /// Rank of an array type.
    "System.RuntimeTypeHandle::GetArrayRank" fn get_array_rank(cx, ty: ObjRef<'cx>) -> i32 {
        match cx.class_of(ty)?.rank() {
            Some(r) => Ok(r as i32),
            None => Err(cx.throw(Known::ArgumentException, "Type must be an array type")),
        }
    }
    /// The assembly that declares the type.
    "System.RuntimeTypeHandle::GetAssembly" fn get_assembly(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        objects::assembly_object(cx, objects::assembly_of(cx, declaring_module(class))?)
    }
    /// Element of an array, pointer or byref; null otherwise.
    "System.RuntimeTypeHandle::GetElementType" fn get_element_type(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        opt_type(cx, class.element())
    }
    /// The module that declares the type.
    "System.RuntimeTypeHandle::GetModule" fn get_module(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        objects::module_object(cx, declaring_module(cx.class_of(ty)?))
    }
    /// Is it a parameter of a generic type or method?
    "System.RuntimeTypeHandle::IsGenericVariable" fn is_generic_variable(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        note(class);
        Ok(class.is_generic_param())
    }
    /// The base type; null for interfaces, object, pointers and byrefs.
    "System.RuntimeTypeHandle::GetBaseType" fn get_base_type(cx, ty: ObjRef<'cx>) -> ObjRef<'cx> {
        let class = cx.class_of(ty)?;
        if class.is_byref() || class.is_ptr() {
            return Ok(ObjRef::NULL);
        }
        let parent = load(cx, || class.parent())?;
        opt_type(cx, parent)
    }
    /// `a.IsAssignableFrom(b)`.
    "System.RuntimeTypeHandle::type_is_assignable_from" fn type_is_assignable_from(cx, a: ObjRef<'cx>, b: ObjRef<'cx>) -> bool {
        let (to, from) = (cx.class_of(a)?, cx.class_of(b)?);
        load(cx, || {
            to.check_asked()?;
            from.check_asked()?;
            cx.universe().is_assignable_from_reflection(to, from)
        })
    }
    /// Is it a generic type definition?
    "System.RuntimeTypeHandle::IsGenericTypeDefinition" fn is_generic_type_definition(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        note(class);
        Ok(class.is_generic_def())
    }
    /// The native record of a generic parameter (never freed by managed code: leaked once per parameter).
    "System.RuntimeTypeHandle::GetGenericParameterInfo" fn get_generic_parameter_info(cx, ty: ObjRef<'cx>) -> usize {
        let class = cx.class_of(ty)?;
        let ClassKind::GenericParam { rid, .. } = class.kind else {
            return Err(cx.throw(Known::ArgumentException, "the type is not a generic parameter"));
        };
        if let Some(at) = PARAM_INFO.lock().get_or_insert_default().get(&class.id) {
            return Ok(*at);
        }
        let row = match class.module.image.generic_param(rid) {
            Ok(r) => r,
            Err(e) => return Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        };
        let constraints = load(cx, || class.param_constraints())?;
        let list = if constraints.is_empty() {
            0
        } else {
            let list: Vec<usize> = constraints.iter().map(|c| *c as *const _ as usize).chain([0]).collect();
            list.leak().as_ptr() as usize
        };
        let info = GenericParamInfo {
            class: class as *const _ as usize,
            name: handles::malloc_str(class.name) as usize,
            flags: row.flags,
            token: 0x2A00_0000 | rid,
            constraints: list,
        };
        let at = Box::leak(Box::new(info)) as *const _ as usize;
        Ok(*PARAM_INFO.lock().get_or_insert_default().entry(class.id).or_insert(at))
    }
    /// Strict class inheritance between two type handles.
    "System.RuntimeTypeHandle::is_subclass_of" fn is_subclass_of(cx, child: Handle<Class>, base: Handle<Class>) -> bool {
        let (child, base) = (cx.class_of_handle(child)?, cx.class_of_handle(base)?);
        // Everything but Object itself is one of Object, also interfaces, pointers and by-refs.
        if base == cx.known(Known::Object) && child != base {
            return Ok(true);
        }
        if child.is_byref() || base.is_byref() {
            return Ok(false);
        }
        let mut at = load(cx, || child.parent())?;
        while let Some(c) = at {
            if same(c, base) {
                return Ok(true);
            }
            at = load(cx, || c.parent())?;
        }
        Ok(false)
    }
    /// A struct with IsByRefLikeAttribute?
    "System.RuntimeTypeHandle::IsByRefLike" fn is_by_ref_like(cx, ty: ObjRef<'cx>) -> bool {
        let class = cx.class_of(ty)?;
        Ok(!class.is_byref() && !class.is_array() && marks::is_on_class(class, "System.Runtime.CompilerServices", "IsByRefLikeAttribute"))
    }
}

static PARAM_INFO: vervet_os::LeafLock<Option<rustc_hash::FxHashMap<u32, usize>>> =
    vervet_os::LeafLock::new(None);

icalls! {
    /// The core of Type.GetType.
    "System.RuntimeTypeHandle::internal_from_name" fn internal_from_name(cx, name: ObjRef<'cx>, mark: *mut i32, caller: ObjRef<'cx>, throw_on_error: bool, ignore_case: bool, reflection_only: bool) -> ObjRef<'cx> {
        let text = cx.non_null(name)?.text();
        let Some(parsed) = TypeName::parse(&text) else {
            if throw_on_error {
                return Err(type_lookup::malformed(cx, &text));
            }
            return Ok(ObjRef::NULL);
        };
        let home = match caller.non_null() {
            Some(a) => Some(objects::assembly_of_object(cx, a)?),
            None => callers::marked_assembly(cx),
        };
        if reflection_only && parsed.assembly.is_none() {
            return Err(cx.throw2(Known::ArgumentException, "Assembly qualifed type name is required", "typeName"));
        }
        let shown = || format!("{}.{}", parsed.namespace, parsed.name);
        match type_lookup::resolve(cx, &parsed, Lookup { home, ignore_case, events: true, reflection_only, builders: false }) {
            Ok(Some(class)) => cx.type_object(class),
            Ok(None) if throw_on_error => Err(type_lookup::not_found(cx, (&parsed, &shown()), home)),
            Ok(None) => Ok(ObjRef::NULL),
            Err(throw) if throw_on_error => Err(throw),
            Err(throw) => {
                cx.take_pending(throw);
                Ok(ObjRef::NULL)
            }
        }
    }
}
