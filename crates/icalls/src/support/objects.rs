//! Making reflection objects, and reading the entity back out of one.
//!
//! # Invariants
//! The fields that the runtime fills are those of docs/class-library.md#fields-that-the-runtime-fills; everything else is left zero for managed code.
use crate::support::handles;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_abi::object::HEADER_SIZE;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{Assembly, ClassRef, FieldRef, Known, LoadError, MethodRef, Module, ModuleRef};

/// Kinds of cached reflection objects (first part of the cache's key).
pub mod key {
    /// RuntimeMethodInfo or RuntimeConstructorInfo, by method and reflected class.
    pub const METHOD: u32 = 9;
    /// RuntimeFieldInfo, by field and reflected class.
    pub const FIELD: u32 = 2;
    /// RuntimePropertyInfo, by property and reflected class.
    pub const PROPERTY: u32 = 3;
    /// RuntimeEventInfo, by event and reflected class.
    pub const EVENT: u32 = 4;
    /// RuntimeAssembly: the runtime makes those.
    pub const ASSEMBLY: u32 = vervet_runtime::loader::ASSEMBLY_KIND;
    /// RuntimeModule.
    pub const MODULE: u32 = 6;
    /// RuntimeModule of a file that holds resources only, by image and File row.
    pub const RESOURCE_MODULE: u32 = 7;
    /// The process's GUID string.
    pub const PROCESS_GUID: u32 = 8;
    /// `ParameterInfo[]` of a method, by method and reflected class.
    pub const PARAMETERS: u32 = 10;
}

/// Asks the type system, raising the program's resolve events as often as it needs them.
pub fn load<'cx, T>(
    cx: &'cx Cx<'cx>,
    mut ask: impl FnMut() -> std::result::Result<T, LoadError>,
) -> Result<T> {
    loop {
        match ask() {
            Err(LoadError::Need(need)) => cx.supply(&need)?,
            answer => return cx.load(answer),
        }
    }
}

/// Is an object of class `class` an instance of `to`?
pub fn is_instance(class: ClassRef, to: ClassRef) -> std::result::Result<bool, LoadError> {
    let to = to.nullable_arg().unwrap_or(to);
    if to.is_byref() || to.is_generic_param() {
        return Ok(false);
    }
    to.universe().is_assignable(class, to)
}
/// Is it the same class?
pub fn same(a: ClassRef, b: ClassRef) -> bool {
    std::ptr::eq(a, b)
}

/// Is it the known class?
pub fn is_known(class: ClassRef, known: Known) -> bool {
    std::ptr::eq(class, class.universe().known(known))
}

/// The field of that name in the class or an ancestor.
pub fn field_named(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<FieldRef> {
    let mut at = Some(class);
    while let Some(c) = at {
        if let Some(f) = load(cx, || c.find_field(name))? {
            return Ok(f);
        }
        at = load(cx, || c.parent())?;
    }
    Err(cx.throw_load(LoadError::missing_field(class, name)))
}
/// Offset of an instance field from the start of the object.
pub fn heap_offset(cx: &Cx<'_>, class: ClassRef, name: &str) -> Result<usize> {
    let field = field_named(cx, class, name)?;
    Ok((HEADER_SIZE + load(cx, || field.offset())?) as usize)
}

/// A new object whose fields are filled by name, without running a constructor.
pub struct Fill<'cx> {
    cx: &'cx Cx<'cx>,
    /// The object.
    pub object: ObjRef<'cx>,
}
impl<'cx> Fill<'cx> {
    /// A new zeroed object.
    pub fn new(cx: &'cx Cx<'cx>, class: Known) -> Result<Fill<'cx>> {
        Ok(Fill {
            cx,
            object: cx.alloc(cx.known(class))?,
        })
    }
    /// Goes on filling an object.
    pub fn of(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Fill<'cx> {
        Fill { cx, object }
    }
    /// Sets a reference field.
    pub fn set(self, name: &str, value: ObjRef<'_>) -> Result<Fill<'cx>> {
        let at = heap_offset(self.cx, self.object.class(), name)?;
        self.object.write_ref(at, value);
        Ok(self)
    }
    /// Sets a field of a plain type.
    pub fn put<T: vervet_runtime::object::Plain>(self, name: &str, value: T) -> Result<Fill<'cx>> {
        let at = heap_offset(self.cx, self.object.class(), name)?;
        self.object.write(at, value);
        Ok(self)
    }
}

// ---- making ---------------------------------------------------------------------------------------------

/// Is the method a constructor as reflection sees it?
pub fn is_constructor(method: MethodRef) -> bool {
    method.name == ".ctor" || method.name == ".cctor"
}

/// The MethodInfo or ConstructorInfo of a method, seen through a class (its own if None).
pub fn method_object<'cx>(
    cx: &'cx Cx<'cx>,
    method: MethodRef,
    reflected: Option<ClassRef>,
) -> Result<ObjRef<'cx>> {
    let reflected = reflected.unwrap_or(method.class);
    let reference = method as *const _ as usize;
    cx.cached(
        key::METHOD,
        reference,
        reflected as *const _ as usize,
        || {
            let kind = if is_constructor(method) {
                Known::RuntimeConstructorInfo
            } else {
                Known::RuntimeMethodInfo
            };
            let object = cx.alloc(cx.known(kind))?;
            object.write(offset_of!(RuntimeMethodInfoObject, mhandle), reference);
            let ty = cx.type_object(reflected)?;
            object.write_ref(offset_of!(RuntimeMethodInfoObject, reftype), ty);
            Ok(object)
        },
    )
}
/// The same, or null.
pub fn opt_method_object<'cx>(
    cx: &'cx Cx<'cx>,
    method: Option<MethodRef>,
    reflected: ClassRef,
) -> Result<ObjRef<'cx>> {
    match method {
        Some(m) => method_object(cx, m, Some(reflected)),
        None => Ok(ObjRef::NULL),
    }
}

/// The FieldInfo of a field, seen through a class.
pub fn field_object<'cx>(
    cx: &'cx Cx<'cx>,
    field: FieldRef,
    reflected: ClassRef,
) -> Result<ObjRef<'cx>> {
    let reference = field as *const _ as usize;
    cx.cached(
        key::FIELD,
        reference,
        reflected as *const _ as usize,
        || {
            let object = cx.alloc(cx.known(Known::RuntimeFieldInfo))?;
            object.write(
                offset_of!(RuntimeFieldInfoObject, klass),
                reflected as *const _ as usize,
            );
            object.write(offset_of!(RuntimeFieldInfoObject, fhandle), reference);
            let name = cx.intern(&field.name.encode_utf16().collect::<Vec<_>>())?;
            object.write_ref(offset_of!(RuntimeFieldInfoObject, name), name);
            object.write(
                offset_of!(RuntimeFieldInfoObject, attrs),
                field.flags as i32,
            );
            // `type` stays null: managed code asks ResolveType for it.
            Ok(object)
        },
    )
}

/// The PropertyInfo of a property, seen through a class.
pub fn property_object<'cx>(
    cx: &'cx Cx<'cx>,
    property: &'static vervet_types::Property,
    reflected: ClassRef,
) -> Result<ObjRef<'cx>> {
    let reference = property as *const _ as usize;
    cx.cached(
        key::PROPERTY,
        reference,
        reflected as *const _ as usize,
        || {
            let object = cx.alloc(cx.known(Known::RuntimePropertyInfo))?;
            object.write(
                offset_of!(RuntimePropertyInfoObject, klass),
                reflected as *const _ as usize,
            );
            object.write(offset_of!(RuntimePropertyInfoObject, prop), reference);
            Ok(object)
        },
    )
}

/// The EventInfo of an event, seen through a class.
pub fn event_object<'cx>(
    cx: &'cx Cx<'cx>,
    event: &'static vervet_types::Event,
    reflected: ClassRef,
) -> Result<ObjRef<'cx>> {
    let reference = event as *const _ as usize;
    cx.cached(
        key::EVENT,
        reference,
        reflected as *const _ as usize,
        || {
            let object = cx.alloc(cx.known(Known::RuntimeEventInfo))?;
            object.write(
                offset_of!(RuntimeEventInfoObject, klass),
                reflected as *const _ as usize,
            );
            object.write(offset_of!(RuntimeEventInfoObject, handle), reference);
            Ok(object)
        },
    )
}

pub use vervet_runtime::loader::{assembly_object, assembly_of as assembly_of_object};

/// The assembly a module belongs to.
pub fn assembly_of(cx: &Cx<'_>, module: ModuleRef) -> Result<&'static Assembly> {
    match module.assembly() {
        Some(a) => Ok(a),
        None => Err(cx.throw(
            Known::BadImageFormatException,
            "a module that belongs to no assembly",
        )),
    }
}

/// The Module object of a module.
pub fn module_object<'cx>(cx: &'cx Cx<'cx>, module: ModuleRef) -> Result<ObjRef<'cx>> {
    let reference = module as *const Module as usize;
    cx.cached(key::MODULE, reference, 0, || {
        let object = cx.alloc(cx.known(Known::RuntimeModule))?;
        object.write(offset_of!(RuntimeModuleObject, handle), reference);
        if let Some(a) = module.assembly() {
            let assembly = assembly_object(cx, a)?;
            object.write_ref(offset_of!(RuntimeModuleObject, assembly), assembly);
        }
        let path = module_path(module);
        let full = cx.alloc_str(&path)?;
        object.write_ref(offset_of!(RuntimeModuleObject, fqname), full);
        let file = cx.alloc_str(path.rsplit('/').next().unwrap_or(&path))?;
        object.write_ref(offset_of!(RuntimeModuleObject, name), file);
        let scope = module
            .image
            .module(1)
            .and_then(|row| module.image.string(row.name))
            .unwrap_or("");
        let scope = cx.alloc_str(scope)?;
        object.write_ref(offset_of!(RuntimeModuleObject, scopename), scope);
        // `token` is that of the module's row in the manifest's File table; the manifest module has none.
        Ok(object)
    })
}
/// What FullyQualifiedName says of a module: its full path, or a stand-in for one loaded from memory.
pub fn module_path(module: ModuleRef) -> String {
    match module.path.as_deref() {
        Some(p) => p.to_string(),
        None => format!("data-{:#x}", module.image.data().as_ptr() as usize),
    }
}

// ---- reading --------------------------------------------------------------------------------------------

/// The method of a MethodInfo or ConstructorInfo of the runtime.
pub fn method_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<MethodRef> {
    let object = cx.non_null(object)?;
    if is_known(object.class(), Known::DynamicMethod) {
        // SAFETY: `create_dynamic_method` stored the handle; the field is 0 before.
        let handle =
            unsafe { handles::in_object(object, offset_of!(DynamicMethodObject, mhandle)) };
        return handles::method(cx, handle);
    }
    if !is_known(object.class(), Known::RuntimeMethodInfo)
        && !is_known(object.class(), Known::RuntimeConstructorInfo)
    {
        return Err(cx.throw(
            Known::NotSupportedException,
            "the method is not one of the runtime's",
        ));
    }
    // SAFETY: the runtime stored the handle in the object when it made it.
    let handle =
        unsafe { handles::in_object(object, offset_of!(RuntimeMethodInfoObject, mhandle)) };
    handles::method(cx, handle)
}
/// The class a MethodInfo or ConstructorInfo was asked of.
pub fn method_reflected<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<ClassRef> {
    let ty = object.read_ref(offset_of!(RuntimeMethodInfoObject, reftype));
    if ty.is_null() {
        Ok(method_of(cx, object)?.class)
    } else {
        cx.class_of(ty)
    }
}
/// The field of a FieldInfo.
pub fn field_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<FieldRef> {
    let object = cx.non_null(object)?;
    // SAFETY: the runtime stored the handle in the object when it made it.
    let handle = unsafe { handles::in_object(object, offset_of!(RuntimeFieldInfoObject, fhandle)) };
    handles::field(cx, handle)
}
/// The class a FieldInfo was asked of.
pub fn field_reflected<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<ClassRef> {
    // SAFETY: the runtime stored the handle in the object when it made it.
    let handle = unsafe { handles::in_object(object, offset_of!(RuntimeFieldInfoObject, klass)) };
    cx.class_of_handle(handle)
}
/// The module of a Module object.
pub fn module_of_object<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<ModuleRef> {
    let object = cx.non_null(object)?;
    // SAFETY: the runtime stored the handle in the object when it made it.
    let handle = unsafe { handles::in_object(object, offset_of!(RuntimeModuleObject, handle)) };
    handles::module(cx, handle)
}

/// A `Type[]` of classes.
pub fn type_array<'cx>(cx: &'cx Cx<'cx>, classes: &[ClassRef]) -> Result<ObjRef<'cx>> {
    let element = cx.known(Known::Type);
    cx.alloc_ref_array(element, classes.len(), |i| cx.type_object(classes[i]))
}
/// The classes of a `Type[]`.
pub fn classes_of_array<'cx>(cx: &'cx Cx<'cx>, types: ObjRef<'cx>) -> Result<Vec<ClassRef>> {
    let types = cx.non_null(types)?;
    (0..types.array_len())
        .map(|i| cx.class_of(types.element_ref(i)))
        .collect()
}
/// The classes of an `IntPtr[]` of type handles; null gives none.
pub fn classes_of_handles<'cx>(
    cx: &'cx Cx<'cx>,
    handles: ObjRef<'cx>,
) -> Result<Option<Vec<ClassRef>>> {
    match handles.non_null() {
        None => Ok(None),
        Some(array) => {
            let words: &[usize] = array.elements::<usize>();
            Ok(Some(
                words
                    .iter()
                    // SAFETY: managed code passes type handles that it got from this runtime.
                    .map(|h| cx.class_of_handle(unsafe { Handle::from_word(*h) }))
                    .collect::<Result<Vec<_>>>()?,
            ))
        }
    }
}
