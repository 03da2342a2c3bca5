//! Native half of System.Reflection.Assembly and RuntimeAssembly.
//!
//! Keeps nothing: the loader has the assemblies. Manifest resources are in [`crate::system::reflection::resources`].
use crate::support::callers;
use crate::support::handles::ptr_array;
use crate::support::objects::{
    self, Fill, assembly_object, assembly_of_object, load, method_object, module_object,
};
use crate::support::type_display;
use crate::support::type_lookup::{self, Lookup};
use crate::system::reflection::assembly_name::{self, MonoAssemblyName};
use crate::system::reflection::method_body::bad_image;
use std::path::Path;
use vervet_binder::AssemblyName;
use vervet_metadata::{Table, Token};
use vervet_os::memory::map_open_file;
use vervet_runtime::RefSlot;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::icalls;
use vervet_runtime::loader::Given;
use vervet_runtime::object::ObjRef;
use vervet_types::rows::Asked;
use vervet_types::type_name::TypeName;
use vervet_types::{Assembly, ClassRef, Known, LoadError, MethodRef, ModuleRef};

/// Is the type visible outside its assembly, all enclosing types included?
fn is_visible(class: ClassRef) -> std::result::Result<bool, LoadError> {
    let mut c = class;
    loop {
        match (c.flags & 7, c.declaring_type()?) {
            (1, _) => return Ok(true),
            (2, Some(outer)) => c = outer,
            _ => return Ok(false),
        }
    }
}

/// The `Type[]` of modules; what cannot be loaded makes a ReflectionTypeLoadException with nulls in its places.
pub fn types_of<'cx>(
    cx: &'cx Cx<'cx>,
    modules: &[ModuleRef],
    exported_only: bool,
) -> Result<ObjRef<'cx>> {
    let mut found: Vec<Option<ClassRef>> = Vec::new();
    let mut errors = 0;
    // The exceptions live in a managed list of the greatest possible length, cut down below.
    let total: usize = modules
        .iter()
        .map(|m| m.image.row_count(Table::TypeDef) as usize)
        .sum();
    let mut thrown: Option<ObjRef<'cx>> = None;
    for &module in modules {
        for rid in 2..=module.image.row_count(Table::TypeDef) {
            // Of a module that the program defines, types that it has not created.
            if !module.image.is_complete(rid) {
                continue;
            }
            let loaded = load(cx, || {
                let class = module.type_def(rid)?;
                if exported_only && !is_visible(class)? {
                    return Ok(None);
                }
                class.check_rows(Asked::Always)?;
                Ok(Some(class))
            });
            match loaded {
                Ok(Some(class)) => found.push(Some(class)),
                Ok(None) => {}
                Err(throw) => {
                    let exception = cx.take_pending(throw);
                    let list = match thrown {
                        Some(l) => l,
                        None => cx.alloc_array(cx.known(Known::Exception), total)?,
                    };
                    list.set_element_ref(errors, exception);
                    thrown = Some(list);
                    errors += 1;
                    found.push(None);
                }
            }
        }
    }
    let types = cx.alloc_ref_array(cx.known(Known::Type), found.len(), |i| match found[i] {
        Some(c) => cx.type_object(c),
        None => Ok(ObjRef::NULL),
    })?;
    let Some(list) = thrown else { return Ok(types) };
    let exceptions = cx.alloc_ref_array(cx.known(Known::Exception), errors, |i| {
        Ok(list.element_ref(i))
    })?;
    let class = cx.known(Known::ReflectionTypeLoadException);
    let ctor = load(cx, || class.find_method(".ctor", Some(2)))?;
    let made = cx.alloc(class)?;
    if let Some(ctor) = ctor {
        cx.invoke(
            ctor,
            Some(Value::Ref(made)),
            &[Value::Ref(types), Value::Ref(exceptions)],
        )?;
    }
    Err(cx.throw_object(made))
}

/// The assembly of a method, null for none.
fn assembly_of_method<'cx>(cx: &'cx Cx<'cx>, method: Option<MethodRef>) -> Result<ObjRef<'cx>> {
    match method.and_then(|m| m.class.module.assembly()) {
        Some(a) => assembly_object(cx, a),
        None => Err(cx.throw(Known::NotSupportedException, "no managed method is calling")),
    }
}

/// What the class library's own runtime says of every file that it cannot open as an assembly.
const INVALID_IMAGE: &str = "Invalid Image";

/// How a file is opened as an assembly.
enum How {
    /// As LoadFile does.
    File,
    /// As LoadFrom, which prefers what is loaded under its name.
    From,
    /// As ReflectionOnlyLoadFrom.
    ReflectionOnly,
}

/// Opens an assembly's file.
fn open<'cx>(cx: &'cx Cx<'cx>, file: ObjRef<'cx>, how: How) -> Result<ObjRef<'cx>> {
    let Some(file) = file.non_null() else {
        return Err(cx.throw_arg_null("assemblyFile"));
    };
    let path = file.text();
    if path.is_empty() {
        return Err(match how {
            How::From | How::ReflectionOnly => {
                cx.throw2(Known::FileNotFoundException, INVALID_IMAGE, &path)
            }
            How::File => cx.throw(Known::ArgumentException, "Path can't be empty"),
        });
    }
    if matches!(how, How::File) && Path::new(&path).is_relative() {
        let text = "Absolute path information is required.";
        return Err(cx.throw2(Known::ArgumentException, text, "assemblyFile"));
    }
    let named = vervet_binder::binder::path_of_code_base(&path);
    let (loader, path_of) = (cx.loader(), Path::new(&*named));
    // A file that is loaded need not be there any more.
    if !path_of.is_file() && !loader.is_loaded_from(path_of) {
        let class = match path_of.exists() {
            true => Known::BadImageFormatException,
            false => Known::FileNotFoundException,
        };
        return Err(cx.throw2(class, INVALID_IMAGE, &path));
    }
    if !matches!(how, How::ReflectionOnly) {
        loader.opens_again(path_of);
    }
    let opened = match how {
        How::From => loader.open_from(path_of),
        How::File => loader.open_exactly(path_of),
        How::ReflectionOnly => loader.open_reflection_only(path_of).map(Given::Opened),
    };
    match opened {
        Ok(given) => match loader.take_given(cx, given)? {
            Some(assembly) => assembly_object(cx, assembly),
            None => Err(cx.throw2(Known::FileNotFoundException, INVALID_IMAGE, &path)),
        },
        Err(LoadError::BadImage { .. }) => {
            Err(cx.throw2(Known::BadImageFormatException, INVALID_IMAGE, &path))
        }
        Err(e) => Err(cx.throw_load(e)),
    }
}

/// A path as a file URI.
fn file_uri(path: &str, escaped: bool) -> String {
    let mut out = String::from("file://");
    for b in path.bytes() {
        if !escaped || b.is_ascii_alphanumeric() || b"-_.!~*'()/:@&=+$,".contains(&b) {
            out.push(b as char);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    if escaped {
        out
    } else {
        format!("file://{path}")
    }
}

/// The assembly of an Assembly object.
fn this_assembly<'cx>(cx: &'cx Cx<'cx>, this: ObjRef<'cx>) -> Result<&'static Assembly> {
    assembly_of_object(cx, this)
}

/// A file that a manifest names.
struct File {
    name: &'static str,
    path: String,
    /// It has no metadata.
    is_resource: bool,
    /// Its row.
    token: Token,
}

/// The files that the manifest of an assembly names.
fn files(cx: &Cx<'_>, assembly: &'static Assembly) -> Result<Vec<File>> {
    /// FileAttributes.
    const NO_METADATA: u32 = 1;
    let (module, image) = (assembly.manifest, &assembly.manifest.image);
    let rows = image.row_count(Table::File);
    if rows == 0 {
        return Ok(Vec::new());
    }
    let dir = cx.loader().directory(module).unwrap_or_default();
    let file = |rid| -> std::result::Result<File, vervet_metadata::Error> {
        let row = image.file(rid)?;
        let name = image.string(row.name)?;
        Ok(File {
            name,
            path: dir.join(name).to_string_lossy().into_owned(),
            is_resource: row.flags & NO_METADATA != 0,
            token: Token::new(Table::File, rid),
        })
    };
    (1..=rows)
        .map(|rid| file(rid).map_err(|e| bad_image(cx, e)))
        .collect()
}

/// A Module object for a file without metadata. There is no module behind it, and it is another one each time, as in mono.
fn resource_module<'cx>(
    cx: &'cx Cx<'cx>,
    assembly: &'static Assembly,
    file: &File,
) -> Result<ObjRef<'cx>> {
    let owner = assembly_object(cx, assembly)?;
    let name = cx.alloc_str(file.name)?;
    let path = cx.alloc_str(&file.path)?;
    Ok(Fill::new(cx, Known::RuntimeModule)?
        .set("assembly", owner)?
        .set("fqname", path)?
        .set("name", name)?
        .set("scopename", name)?
        .put("is_resource", 1u8)?
        .put("token", file.token.0 as i32)?
        .object)
}

icalls! {
    /// All types, or those visible outside.
    "System.Reflection.Assembly::GetTypes" fn get_types(cx, this: ObjRef<'cx>, exported_only: bool) -> ObjRef<'cx> {
        let assembly = this_assembly(cx, this)?;
        for file in files(cx, assembly)?.iter().filter(|f| !f.is_resource) {
            // Of one that is missing there are no types.
            if let Err(missing) = load(cx, || assembly.manifest.file(file.name)) {
                cx.take_pending(missing);
            }
        }
        types_of(cx, &assembly.modules(), exported_only)
    }
    /// A type of this assembly (or of one module) by name.
    "System.Reflection.Assembly::InternalGetType" fn internal_get_type(cx, this: ObjRef<'cx>, module: ObjRef<'cx>, name: ObjRef<'cx>, throw_on_error: bool, ignore_case: bool) -> ObjRef<'cx> {
        let assembly = this_assembly(cx, this)?;
        let text = cx.non_null(name)?.text();
        let parsed = TypeName::parse(&text);
        let parsed = match parsed {
            Some(p) if p.assembly.is_none() => p,
            other => {
                if throw_on_error {
                    return Err(match other {
                        Some(_) => cx.throw(Known::ArgumentException, "Type names passed to Assembly.GetType() must not specify an assembly."),
                        None => cx.throw2(Known::ArgumentException, "failed to parse the type", "typeName"),
                    });
                }
                return Ok(ObjRef::NULL);
            }
        };
        let lookup = Lookup { home: Some(assembly), ignore_case, events: true, reflection_only: assembly.is_reflection_only, builders: false };
        let find = || -> Result<Option<ClassRef>> {
            let mut definition = load(cx, || type_lookup::definition_in_assembly(assembly, &parsed, ignore_case))?;
            // As in mono, only types that are still being made are asked for by an event.
            if definition.is_none()
                && assembly.manifest.image.grows().is_some()
                && let Some(other) = type_lookup::raise_type_resolve(cx, &parsed.full())?
            {
                definition = load(cx, || type_lookup::definition_in_assembly(other, &parsed, ignore_case))?;
            }
            match definition {
                // The rows of a definition by itself are checked below.
                Some(d) if parsed.args.is_empty() && parsed.suffixes.is_empty() => Ok(Some(d)),
                Some(d) => type_lookup::construct(cx, d, &parsed, lookup),
                None => Ok(None),
            }
        };
        match find() {
            Ok(Some(class)) => {
                // Who asks first gets the error in any case. A value type is given out later, as in mono.
                let asked = match throw_on_error && !load(cx, || class.is_value_type())? {
                    true => Asked::Always,
                    false => Asked::First,
                };
                load(cx, || class.check_rows(asked))?;
                cx.type_object(class)
            }
            Ok(None) if throw_on_error => Err(type_lookup::not_found(cx, (&parsed, &text), Some(assembly))),
            Ok(None) => Ok(ObjRef::NULL),
            Err(throw) if throw_on_error => Err(throw),
            Err(throw) => {
                cx.take_pending(throw);
                Ok(ObjRef::NULL)
            }
        }
    }
    /// Reads an assembly's name from its file without loading it.
    "System.Reflection.Assembly::InternalGetAssemblyName" fn internal_get_assembly_name(cx, file: ObjRef<'cx>, name: *mut MonoAssemblyName, code_base: RefSlot<'cx>) {
        let path = cx.non_null(file)?.text();
        let mapped = match cx.native(|| map_open_file(Path::new(&path))) {
            Ok((mapped, ..)) => Some(mapped),
            // What is no file is a bad image. (A device has no length.)
            Err(e) if e.kind() == std::io::ErrorKind::IsADirectory => None,
            Err(_) => return Err(cx.throw2(Known::FileNotFoundException, "", &path)),
        };
        let image = vervet_metadata::Image::parse(mapped.as_deref().unwrap_or_default());
        if image.as_ref().is_ok_and(|image| image.row_count(Table::Assembly) == 0) {
            return Err(cx.throw2(Known::ArgumentException, "The file does not contain a manifest", "assemblyFile"));
        }
        let read = image.and_then(|image| assembly_name::native_of_image(&image));
        match read {
            // SAFETY: managed code passes the address of such a struct.
            Ok(native) => unsafe { name.write(native) },
            Err(_) => return Err(cx.throw2(Known::BadImageFormatException, INVALID_IMAGE, &path)),
        }
        let full = std::path::absolute(&path).map_or(path.clone(), |p| p.to_string_lossy().into_owned());
        code_base.set(cx.alloc_str(&file_uri(&full, false))?);
        Ok(())
    }
    /// The assembly of Main, or null.
    "System.Reflection.Assembly::GetEntryAssembly" fn get_entry_assembly(cx) -> ObjRef<'cx> {
        match cx.loader().entry() {
            Some(assembly) => assembly_object(cx, assembly),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Loads a file.
    "System.Reflection.Assembly::LoadFrom" fn load_from(cx, file: ObjRef<'cx>, reflection_only: bool, mark: *mut i32) -> ObjRef<'cx> {
        open(cx, file, if reflection_only { How::ReflectionOnly } else { How::From })
    }
    /// Loads exactly this file.
    "System.Reflection.Assembly::LoadFile_internal" fn load_file_internal(cx, file: ObjRef<'cx>, mark: *mut i32) -> ObjRef<'cx> { open(cx, file, How::File) }
    /// The newest assembly that a partial name fits, or null.
    "System.Reflection.Assembly::load_with_partial_name" fn load_with_partial_name(cx, name: ObjRef<'cx>, evidence: ObjRef<'cx>) -> ObjRef<'cx> {
        let text = cx.non_null(name)?.text();
        let Ok(name) = AssemblyName::parse(&text) else { return Ok(ObjRef::NULL) };
        let loader = cx.loader();
        let bound = loader.bind(&name, None).ok().flatten();
        let found = bound.or_else(|| {
            let candidates = loader.binder().partial_name_candidates(&name);
            candidates.iter().find_map(|candidate| loader.open(&candidate.path).ok())
        });
        if let Some(a) = found {
            cx.tell_loaded()?;
            return assembly_object(cx, a);
        }
        match loader.resolve_quietly(cx, &text, None)? {
            Some(a) => assembly_object(cx, a),
            None => Ok(ObjRef::NULL),
        }
    }
    /// The assembly of the method that called.
    "System.Reflection.Assembly::GetExecutingAssembly" fn get_executing_assembly(cx) -> ObjRef<'cx> { assembly_of_method(cx, callers::executing(cx)) }
    /// The assembly of that method's caller.
    "System.Reflection.Assembly::GetCallingAssembly" fn get_calling_assembly(cx) -> ObjRef<'cx> { assembly_of_method(cx, callers::calling(cx)) }
    /// The AssemblyRef rows, as an array of native names.
    "System.Reflection.Assembly::InternalGetReferencedAssemblies" fn internal_get_referenced_assemblies(cx, assembly: ObjRef<'cx>) -> usize {
        let module = assembly_of_object(cx, assembly)?.manifest;
        let mut out = Vec::new();
        for rid in 1..=module.image.row_count(Table::AssemblyRef) {
            let native = assembly_name::native_of_reference(&module.image, rid).map_err(|e| bad_image(cx, e))?;
            out.push(assembly_name::malloc(native));
        }
        Ok(ptr_array(&out))
    }

    /// Where it came from, as a URI.
    "System.Reflection.RuntimeAssembly::get_code_base" fn get_code_base(cx, assembly: ObjRef<'cx>, escaped: bool) -> ObjRef<'cx> {
        let module = this_assembly(cx, assembly)?.manifest;
        let path = match cx.loader().source(module) {
            Some(file) => file.to_string_lossy().into_owned(),
            None => objects::module_path(module),
        };
        cx.alloc_str(&file_uri(&path, escaped))
    }
    /// Full path; empty for one loaded from memory.
    "System.Reflection.RuntimeAssembly::get_location" fn get_location(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let path = this_assembly(cx, this)?.manifest.path.as_deref();
        cx.alloc_str(path.unwrap_or(""))
    }
    /// Display name.
    "System.Reflection.RuntimeAssembly::get_fullname" fn get_fullname(cx, assembly: ObjRef<'cx>) -> ObjRef<'cx> {
        cx.alloc_str(&type_display::assembly_full_name(this_assembly(cx, assembly)?))
    }
    /// Nothing is compiled ahead of time.
    "System.Reflection.RuntimeAssembly::GetAotIdInternal" fn get_aot_id_internal(cx, id: ObjRef<'cx>) -> bool { Ok(false) }
    /// The version that its metadata names.
    "System.Reflection.RuntimeAssembly::InternalImageRuntimeVersion" fn internal_image_runtime_version(cx, assembly: ObjRef<'cx>) -> ObjRef<'cx> {
        cx.alloc_str(this_assembly(cx, assembly)?.manifest.image.metadata_version())
    }
    /// Was it loaded from the global assembly cache?
    "System.Reflection.RuntimeAssembly::get_global_assembly_cache" fn get_global_assembly_cache(cx, this: ObjRef<'cx>) -> bool {
        let assembly = this_assembly(cx, this)?;
        let Some(path) = assembly.manifest.path.as_deref() else { return Ok(false) };
        Ok(cx.loader().binder().is_in_gac(Path::new(path)))
    }
    /// The entry point, or null.
    "System.Reflection.RuntimeAssembly::get_EntryPoint" fn get_entry_point(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let manifest = this_assembly(cx, this)?.manifest;
        match load(cx, || manifest.entry_point())? {
            Some(m) => method_object(cx, m, None),
            None => Ok(ObjRef::NULL),
        }
    }
    /// Was it loaded to be looked at?
    "System.Reflection.RuntimeAssembly::get_ReflectionOnly" fn get_reflection_only(cx, this: ObjRef<'cx>) -> bool { Ok(this_assembly(cx, this)?.is_reflection_only) }
    /// The module with the manifest.
    "System.Reflection.RuntimeAssembly::GetManifestModuleInternal" fn get_manifest_module_internal(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        module_object(cx, this_assembly(cx, this)?.manifest)
    }
    /// All modules: those that are loaded, and those that the manifest names, which are loaded now. A file without metadata counts as one.
    "System.Reflection.RuntimeAssembly::GetModulesInternal" fn get_modules_internal(cx, this: ObjRef<'cx>) -> ObjRef<'cx> {
        let assembly = this_assembly(cx, this)?;
        let files = files(cx, assembly)?;
        for file in files.iter().filter(|f| !f.is_resource) {
            load(cx, || assembly.manifest.file(file.name))?;
        }
        let modules = assembly.modules();
        let resources: Vec<&File> = files.iter().filter(|f| f.is_resource).collect();
        cx.alloc_ref_array(cx.known(Known::Module), modules.len() + resources.len(), |i| match modules.get(i) {
            Some(module) => module_object(cx, module),
            None => resource_module(cx, assembly, resources[i - modules.len()]),
        })
    }
    /// Paths of the files of the manifest, or of one of them.
    "System.Reflection.RuntimeAssembly::GetFilesInternal" fn get_files_internal(cx, this: ObjRef<'cx>, name: ObjRef<'cx>, resource_modules: bool) -> ObjRef<'cx> {
        let mut files = files(cx, this_assembly(cx, this)?)?;
        if let Some(name) = name.non_null() {
            let name = name.text();
            let found = files.iter().find(|f| f.name == name);
            return cx.alloc_opt_str(found.map(|f| f.path.as_str()));
        }
        files.retain(|f| !f.is_resource || resource_modules);
        cx.alloc_ref_array(cx.known(Known::String), files.len(), |i| cx.alloc_str(&files[i].path))
    }
    /// Permission sets are ignored.
    "System.Reflection.RuntimeAssembly::LoadPermissions" fn load_permissions(cx, assembly: ObjRef<'cx>, minimum: *mut usize, minimum_length: *mut i32, optional: *mut usize, optional_length: *mut i32, refused: *mut usize, refused_length: *mut i32) -> bool { Ok(false) }
}
