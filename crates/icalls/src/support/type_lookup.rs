//! From type names to types: `RuntimeTypeHandle.internal_from_name`, `Assembly.InternalGetType`, names in attributes.
//!
//! # Invariants
//! A type without an assembly name is looked for in the assembly at hand, then in the core library. A name that
//! is not found is `None`; only loading itself (a broken image, a bad instantiation) throws.
use crate::support::emit::encoder::encode;
use crate::support::emit::read;
use crate::support::objects::{self, load};
use std::mem::offset_of;
use vervet_abi::layouts::{
    AppDomainObject, AssemblyBuilderObject, ModuleBuilderObject, TypeBuilderObject,
};
use vervet_binder::{AssemblyName, Version, qualified};
use vervet_metadata::Table;
use vervet_runtime::cx::{Cx, Result, Value};
use vervet_runtime::object::ObjRef;
use vervet_types::rows::Asked;
use vervet_types::type_name::{Suffix, TypeName};
use vervet_types::{Assembly, ClassRef, Known, LoadError, MAX_RANK, ModuleRef, Prim};

/// How a name is looked up.
#[derive(Clone, Copy)]
pub struct Lookup {
    /// The assembly of names without one.
    pub home: Option<&'static Assembly>,
    /// Whether case counts.
    pub ignore_case: bool,
    /// Whether `AppDomain.TypeResolve` may be raised.
    pub events: bool,
    /// Assemblies that names state are those that are looked at.
    pub reflection_only: bool,
    /// Whether types are found that a program has defined and not created yet.
    pub builders: bool,
}

/// Compares names, ignoring case if that is wanted.
fn same_name(a: &str, b: &str, ignore_case: bool) -> bool {
    a == b || ignore_case && a.to_lowercase() == b.to_lowercase()
}

/// A named type, without arguments and suffixes, in one module.
fn definition_in(
    module: ModuleRef,
    name: &TypeName,
    ignore_case: bool,
) -> std::result::Result<Option<ClassRef>, LoadError> {
    // `Outer/Inner`, as metadata and mono write it, is understood too.
    let mut parts = name.name.split('/');
    let outermost = parts.next().unwrap_or_default();
    let found = if ignore_case {
        module.find_type_ignoring_case(&name.namespace, outermost)?
    } else {
        module.find_type(&name.namespace, outermost)?
    };
    let Some(mut class) = found else {
        return Ok(None);
    };
    for nested in parts.chain(name.nested.iter().map(|n| &**n)) {
        match class
            .nested_types()?
            .into_iter()
            .find(|n| same_name(n.name, nested, ignore_case))
        {
            Some(n) => class = n,
            None => return Ok(None),
        }
    }
    Ok(Some(class))
}

/// A named type in an assembly.
pub fn definition_in_assembly(
    assembly: &Assembly,
    name: &TypeName,
    ignore_case: bool,
) -> std::result::Result<Option<ClassRef>, LoadError> {
    let mut found = definition_in(assembly.manifest, name, ignore_case)?;
    // ExportedType rows name the public types of other modules only.
    let image = &assembly.manifest.image;
    for rid in 1..=image.row_count(Table::File) {
        if found.is_some() {
            break;
        }
        let file = image.file(rid)?;
        if file.flags & NO_METADATA == 0
            && let Some(module) = assembly.manifest.file_if_there(image.string(file.name)?)?
        {
            found = definition_in(module, name, ignore_case)?;
        }
    }
    Ok(found)
}
/// The flag of a File row whose file has no metadata (II.23.1.6).
const NO_METADATA: u32 = 1;

/// Does an assembly mean itself by that name? What a program defines is found under no name, so that its full name in its own metadata means itself.
fn is_own_name(home: &Assembly, name: &AssemblyName) -> bool {
    let is_defined = home.manifest.image.grows().is_some();
    let same_version = |v: Version| is_defined && v == home.version;
    home.name.eq_ignore_ascii_case(&name.name)
        && name.version.is_none_or(same_version)
        && (name.public_key_token.is_none() || is_defined && home.public_key_token().is_some())
        && (!is_defined || name.culture.as_deref().is_none_or(|c| c == home.culture))
}

/// A type that a program has defined in its assembly, by name: it need not be created.
fn builder_in<'cx>(
    cx: &'cx Cx<'cx>,
    assembly: &'static Assembly,
    name: &TypeName,
    lookup: Lookup,
) -> Result<Option<ClassRef>> {
    if !lookup.builders || assembly.manifest.image.grows().is_none() {
        return Ok(None);
    }
    let object = vervet_runtime::loader::assembly_object(cx, assembly)?;
    if !objects::is_known(object.class(), Known::AssemblyBuilder) {
        return Ok(None);
    }
    encode(cx, |e| {
        let modules = object.read_ref(offset_of!(AssemblyBuilderObject, modules));
        for module in read::elements(modules).filter(|m| !m.is_null()) {
            let types = module.read_ref(offset_of!(ModuleBuilderObject, types));
            let of_name = |builder: &ObjRef<'_>| {
                same_text(
                    *builder,
                    offset_of!(TypeBuilderObject, nspace),
                    &name.namespace,
                )
            };
            let mut found = named_builder(read::elements(types).filter(of_name), &name.name);
            for nested in &name.nested {
                let Some(outer) = found else { break };
                let types = outer.read_ref(offset_of!(TypeBuilderObject, subtypes));
                found = named_builder(read::elements(types), nested);
            }
            if let Some(builder) = found {
                return e.named_class(builder).map(Some);
            }
        }
        Ok(None)
    })
}

/// The first TypeBuilder of that name.
fn named_builder<'cx>(
    mut builders: impl Iterator<Item = ObjRef<'cx>>,
    name: &str,
) -> Option<ObjRef<'cx>> {
    builders.find(|b| same_text(*b, offset_of!(TypeBuilderObject, tname), name))
}
/// Is the string in a field of a TypeBuilder that text? No if there is no TypeBuilder.
fn same_text(builder: ObjRef<'_>, field: usize, text: &str) -> bool {
    let string = |b: ObjRef<'_>| b.read_ref(field).non_null().map(ObjRef::text);
    builder
        .non_null()
        .is_some_and(|b| string(b).unwrap_or_default() == text)
}

/// Loads the assembly a type name states; None if it is not found.
fn stated_assembly<'cx>(
    cx: &'cx Cx<'cx>,
    text: &str,
    lookup: Lookup,
) -> Result<Option<&'static Assembly>> {
    let Ok(name) = qualified::parse(text) else {
        return Ok(None);
    };
    let home = lookup.home;
    if let Some(home) = home
        && is_own_name(home, &name)
    {
        return Ok(Some(home));
    }
    if lookup.reflection_only {
        return cx.load(cx.loader().bind_reflection_only(&name));
    }
    match cx
        .loader()
        .load_by_name(cx, &name, home.map(|h| h.manifest))
    {
        Ok(a) => Ok(Some(a)),
        Err(throw) => {
            let exception = cx.take_pending(throw);
            if objects::is_known(exception.class(), Known::FileNotFoundException) {
                Ok(None)
            } else {
                Err(cx.throw_object(exception))
            }
        }
    }
}

/// Raises `AppDomain.TypeResolve`; the assembly a handler gave.
pub fn raise_type_resolve<'cx>(cx: &'cx Cx<'cx>, name: &str) -> Result<Option<&'static Assembly>> {
    let domain = crate::system::app_domain::current(cx)?;
    if domain
        .read_ref(std::mem::offset_of!(AppDomainObject, type_resolve))
        .is_null()
    {
        return Ok(None);
    }
    let class = cx.known(Known::AppDomain);
    let method = load(cx, || {
        class
            .find_method("DoTypeResolve", Some(1))
            .and_then(|m| m.ok_or_else(|| LoadError::missing_method(class, "DoTypeResolve")))
    })?;
    let text = cx.alloc_str(name)?;
    match cx.invoke(method, Some(Value::Ref(domain)), &[Value::Ref(text)])? {
        Value::Ref(a) if !a.is_null() => Ok(vervet_runtime::loader::made_of(cx, a)),
        _ => Ok(None),
    }
}

/// The type a parsed name means.
pub fn resolve<'cx>(cx: &'cx Cx<'cx>, name: &TypeName, lookup: Lookup) -> Result<Option<ClassRef>> {
    let mut found = match &name.assembly {
        Some(text) => match stated_assembly(cx, text, lookup)? {
            Some(assembly) => objects::load(cx, || {
                definition_in_assembly(assembly, name, lookup.ignore_case)
            })?
            .map_or_else(|| builder_in(cx, assembly, name, lookup), |c| Ok(Some(c)))?,
            None => return Ok(None),
        },
        None => {
            let at_home = match lookup.home {
                Some(home) => objects::load(cx, || {
                    definition_in_assembly(home, name, lookup.ignore_case)
                })?
                .map_or_else(|| builder_in(cx, home, name, lookup), |c| Ok(Some(c)))?,
                None => None,
            };
            match at_home {
                Some(c) => Some(c),
                None => load(cx, || {
                    definition_in(cx.universe().corlib(), name, lookup.ignore_case)
                })?,
            }
        }
    };
    if found.is_none()
        && lookup.events
        && let Some(assembly) = raise_type_resolve(cx, &name.full())?
    {
        found = objects::load(cx, || {
            definition_in_assembly(assembly, name, lookup.ignore_case)
        })?;
    }
    match found {
        Some(class) => construct(cx, class, name, lookup),
        None => Ok(None),
    }
}

/// A definition with the arguments and suffixes that a name adds.
pub fn construct<'cx>(
    cx: &'cx Cx<'cx>,
    definition: ClassRef,
    name: &TypeName,
    lookup: Lookup,
) -> Result<Option<ClassRef>> {
    load(cx, || definition.check_rows(Asked::First))?;
    let mut class = definition;
    if !name.args.is_empty() {
        let mut args = Vec::with_capacity(name.args.len());
        for a in &name.args {
            match resolve(cx, a, lookup)? {
                Some(c) => args.push(c),
                None => return Ok(None),
            }
        }
        if !class.is_generic_def() {
            return Err(cx.throw_load(LoadError::type_load(class, "the type is not generic")));
        }
        let wanted = load(cx, || class.params())?.len();
        if wanted != args.len() {
            let text = format!(
                "The generic type definition needs {wanted} type arguments, but was instantiated with {} ",
                args.len()
            );
            return Err(cx.throw2(Known::ArgumentException, &text, "types"));
        }
        // Constraints are not looked at, as in mono.
        class = objects::load(cx, || cx.universe().instantiate(class, &args))?;
    }
    let u = cx.universe();
    for s in &name.suffixes {
        if class.is_byref() || class.prim == Some(Prim::Void) && !matches!(s, Suffix::Pointer) {
            return Ok(None);
        }
        let inner = cx.load(class.nested())?;
        class = match s {
            Suffix::Vector => u.sz_array(inner),
            Suffix::Array(rank) if *rank > MAX_RANK => return Ok(None),
            Suffix::Array(rank) => u.array(inner, *rank),
            Suffix::Pointer => u.ptr(inner),
            Suffix::ByRef => u.byref(inner),
        };
    }
    Ok(Some(class))
}

/// The type a name in an attribute's blob means; names without an assembly are of the attribute's module first.
pub fn attribute_type<'cx>(
    cx: &'cx Cx<'cx>,
    module: ModuleRef,
    name: &str,
) -> Result<Option<ClassRef>> {
    match TypeName::parse(name) {
        Some(parsed) => resolve(
            cx,
            &parsed,
            Lookup {
                home: module.assembly(),
                ignore_case: false,
                events: true,
                reflection_only: module.is_reflection_only(),
                builders: true,
            },
        ),
        None => Ok(None),
    }
}

/// The TypeLoadException about a name that is not found, which it shows as `shown`: `Type.GetType` the namespace and the outermost type, with a dot between them
/// even if there is no namespace, the others what they were given, as in mono.
pub fn not_found(
    cx: &Cx<'_>,
    (name, shown): (&TypeName, &str),
    home: Option<&'static Assembly>,
) -> vervet_runtime::cx::Throw {
    let assembly = match &name.assembly {
        Some(text) => qualified::parse(text).map_or_else(|_| text.clone(), |n| n.to_string()),
        None => home
            .map(crate::support::type_display::assembly_full_name)
            .unwrap_or_default(),
    };
    cx.throw2(Known::TypeLoadException, shown, &assembly)
}

/// The ArgumentException about a name that cannot be parsed. As in mono, it names the namespace, or the type if it has none.
pub fn malformed(cx: &Cx<'_>, text: &str) -> vervet_runtime::cx::Throw {
    let shown = text
        .split(['[', ']', '*', '&', ',', '+'])
        .next()
        .unwrap_or("");
    let shown = shown
        .rsplit_once('.')
        .map_or(shown, |(namespace, _)| namespace);
    cx.throw2(
        Known::ArgumentException,
        &format!("failed parse: {shown}"),
        "typeName",
    )
}
