//! Custom attributes: the rows of what builders carry, and the blobs of attribute values (ECMA-335 II.23.3).
//!
//! # Invariants
//! * An attribute that a program sets on an assembly or module after it was asked for attributes is added at the next question
//!   ([`flush`]); rows are never taken back.
use crate::support::emit::encoder::{Encoder, coded, compressed, encode, module_of, non_null};
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::handles::is_one_of;
use crate::support::emit::read;
use crate::support::emit::types::{self, TypeKind};
use crate::support::objects::is_known;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_metadata::{Coded, Table, Token};
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::object::ObjRef;
use vervet_types::{Assembly, ClassKind, ClassRef, Known, ModuleRef, Prim, Property};

/// Has rows added for the CustomAttributeBuilders of an array, but for the first `skip`: see [`Encoder::later`].
pub fn add(
    encoder: &mut Encoder,
    module: ModuleRef,
    parent: Token,
    list: ObjRef<'_>,
    skip: usize,
) -> E<()> {
    let growing = module.growing()?;
    for attribute in read::elements(list).filter(|a| !a.is_null()).skip(skip) {
        let constructor = attribute.read_ref(offset_of!(CustomAttributeBuilderObject, ctor));
        let constructor = encoder.token(module, constructor, false)?;
        let data = attribute.read_ref(offset_of!(CustomAttributeBuilderObject, data));
        let cells = [
            coded(Coded::HasCustomAttribute, parent)?,
            coded(Coded::CustomAttributeType, constructor)?,
            growing.add_blob(&read::all_bytes(data))?,
        ];
        encoder.later(growing, Table::CustomAttribute, 0, &cells, 0);
    }
    Ok(())
}

/// Adds what an AssemblyBuilder or ModuleBuilder carries and its image does not have yet. The module and row that attributes are read from.
pub fn flush<'cx>(cx: &'cx Cx<'cx>, builder: ObjRef<'cx>) -> Result<(ModuleRef, Token)> {
    encode(cx, |e| {
        let (module, owner, list) = if is_known(builder.class(), Known::AssemblyBuilder) {
            let word = builder.read(offset_of!(AssemblyBuilderObject, mono_assembly));
            // SAFETY: `basic_init` stored the address of the assembly, which lives for ever.
            let assembly: Option<&Assembly> =
                unsafe { vervet_runtime::code::icall::Handle::from_word(word) }.get();
            let assembly =
                assembly.ok_or_else(|| EmitError::not_supported("an assembly without a handle"))?;
            let list = builder.read_ref(offset_of!(AssemblyBuilderObject, cattrs));
            (assembly.manifest, Token::new(Table::Assembly, 1), list)
        } else {
            let list = builder.read_ref(offset_of!(ModuleBuilderObject, cattrs));
            (module_of(builder)?, Token::new(Table::Module, 1), list)
        };
        let have = module.image.custom_attributes_of(owner).len();
        e.forget_later();
        add(e, module, owner, list, have)?;
        e.put_later()?;
        Ok((module, owner))
    })
}

/// What a value is declared as.
#[derive(Clone, Copy)]
enum Declared<'cx> {
    Class(ClassRef),
    Object(ObjRef<'cx>),
}

impl<'cx> Declared<'cx> {
    fn of(ty: ObjRef<'cx>) -> E<Declared<'cx>> {
        Ok(match types::kind(ty)? {
            TypeKind::Class(class) => Declared::Class(class),
            _ => Declared::Object(ty),
        })
    }
}

/// The arguments of [`blob`], as managed code passes them.
pub struct Values<'cx> {
    /// A ConstructorInfo.
    pub constructor: ObjRef<'cx>,
    /// `object[]`.
    pub arguments: ObjRef<'cx>,
    /// `PropertyInfo[]` and `object[]`.
    pub properties: (ObjRef<'cx>, ObjRef<'cx>),
    /// `FieldInfo[]` and `object[]`.
    pub fields: (ObjRef<'cx>, ObjRef<'cx>),
}

/// The blob of an attribute's values.
pub fn blob(values: &Values<'_>) -> E<Vec<u8>> {
    let mut out = vec![1, 0];
    let constructor = non_null(values.constructor)?;
    let class = constructor.class();
    if is_known(class, Known::ConstructorBuilder) {
        let list = constructor.read_ref(offset_of!(ConstructorBuilderObject, parameters));
        for (i, ty) in read::elements(list).enumerate() {
            value(
                &mut out,
                Declared::of(ty)?,
                read::element(values.arguments, i),
            )?;
        }
    } else {
        let method = crate::support::emit::handles::runtime_method(constructor)?;
        for (i, class) in method.sig()?.params.iter().enumerate() {
            value(
                &mut out,
                Declared::Class(class),
                read::element(values.arguments, i),
            )?;
        }
    }
    let count =
        read::elements(values.properties.0).count() + read::elements(values.fields.0).count();
    out.extend((count as u16).to_le_bytes());
    for (i, property) in read::elements(values.properties.0).enumerate() {
        let property = non_null(property)?;
        let (ty, name) = if is_known(property.class(), Known::PropertyBuilder) {
            let ty = property.read_ref(offset_of!(PropertyBuilderObject, ty));
            let name = property.read_ref(offset_of!(PropertyBuilderObject, name));
            (Declared::of(ty)?, name.text())
        } else {
            is_one_of(property, &[Known::RuntimePropertyInfo])?;
            let word = property.read(offset_of!(RuntimePropertyInfoObject, prop));
            // SAFETY: the runtime stored the address of the property when it made the object.
            let found: Option<&Property> =
                unsafe { vervet_runtime::code::icall::Handle::from_word(word) }.get();
            let found =
                found.ok_or_else(|| EmitError::not_supported("a property without a handle"))?;
            let ty = match (found.getter, found.setter) {
                (Some(getter), _) => Some(getter.sig()?.ret),
                (_, Some(setter)) => setter.sig()?.params.last().copied(),
                _ => None,
            };
            let ty = ty.ok_or_else(|| EmitError::not_supported("a property without accessors"))?;
            (Declared::Class(ty), found.name.to_owned())
        };
        named(
            &mut out,
            0x54,
            ty,
            &name,
            read::element(values.properties.1, i),
        )?;
    }
    for (i, field) in read::elements(values.fields.0).enumerate() {
        let field = non_null(field)?;
        let (ty, name) = if is_known(field.class(), Known::FieldBuilder) {
            let ty = field.read_ref(offset_of!(FieldBuilderObject, ty));
            let name = field.read_ref(offset_of!(FieldBuilderObject, name));
            (Declared::of(ty)?, name.text())
        } else {
            let found = crate::support::emit::handles::runtime_field(field)?;
            (Declared::Class(found.ty()?), found.name.to_owned())
        };
        named(&mut out, 0x53, ty, &name, read::element(values.fields.1, i))?;
    }
    Ok(out)
}

fn named(out: &mut Vec<u8>, kind: u8, ty: Declared<'_>, name: &str, v: ObjRef<'_>) -> E<()> {
    out.push(kind);
    tag(out, ty)?;
    string(out, name);
    value(out, ty, v)
}

/// A SerString.
fn string(out: &mut Vec<u8>, text: &str) {
    compressed(out, text.len() as u32);
    out.extend(text.as_bytes());
}

/// A name, and the assembly that is named with it; none with type variables.
type InAssembly = (String, Option<String>);

fn qualified((name, assembly): InAssembly) -> String {
    match assembly {
        Some(assembly) => format!("{name}, {assembly}"),
        None => name,
    }
}

/// The name of a type as attributes have it. As in mono, type variables are written by their bare names, and whoever reads the attribute gets a
/// TypeLoadException.
fn type_name(ty: ObjRef<'_>) -> E<String> {
    type_and_assembly(ty, 0).map(qualified)
}

/// `Definition[[A, assembly],T]`.
fn instance(definition: &str, arguments: impl Iterator<Item = E<(InAssembly, bool)>>) -> E<String> {
    let arguments = arguments
        .map(|argument| {
            argument.map(|(name, is_variable)| match is_variable {
                true => qualified(name),
                false => format!("[{}]", qualified(name)),
            })
        })
        .collect::<E<Vec<_>>>()?;
    Ok(format!("{definition}[{}]", arguments.join(",")))
}

/// [`type_and_assembly`] of a class.
fn class_and_assembly(class: ClassRef) -> E<InAssembly> {
    let with = |inner, suffix: &str| {
        class_and_assembly(inner).map(|(name, assembly)| (name + suffix, assembly))
    };
    if let Some(name) = class.reflection_name() {
        return Ok((name, Some(class.module.assembly_name())));
    }
    match class.kind {
        ClassKind::Inst { def, args } => {
            let (definition, assembly) = class_and_assembly(def)?;
            let arguments = args
                .iter()
                .map(|a| class_and_assembly(a).map(|name| (name, a.is_generic_param())));
            Ok((instance(&definition, arguments)?, assembly))
        }
        ClassKind::SzArray(element) => with(element, "[]"),
        ClassKind::Array { elem, rank: 1 } => with(elem, "[*]"),
        ClassKind::Array { elem, rank } => {
            with(elem, &format!("[{}]", ",".repeat(rank as usize - 1)))
        }
        ClassKind::Ptr(target) => with(target, "*"),
        ClassKind::ByRef(target) => with(target, "&"),
        _ => Ok((class.name.to_owned(), None)),
    }
}

/// The full name of a type, constructed ones included, and that of its assembly. `depth` counts types within types.
fn type_and_assembly(ty: ObjRef<'_>, depth: u32) -> E<InAssembly> {
    if depth > vervet_types::MAX_DEPTH {
        let text = "a type of too many types as the value of an attribute";
        return Err(EmitError::not_supported(text));
    }
    let inner = |ty| type_and_assembly(ty, depth + 1);
    let with = |ty, suffix: &str| inner(ty).map(|(name, assembly)| (name + suffix, assembly));
    match types::kind(ty)? {
        TypeKind::Class(class) => class_and_assembly(class),
        TypeKind::Builder(builder) => {
            let name = builder
                .read_ref(offset_of!(TypeBuilderObject, tname))
                .text();
            let space = builder
                .read_ref(offset_of!(TypeBuilderObject, nspace))
                .text();
            let module = crate::support::emit::encoder::module_of_type(builder)?;
            let outer = builder.read_ref(offset_of!(TypeBuilderObject, nesting_type));
            let full = match outer.non_null() {
                Some(outer) => format!("{}+{name}", inner(outer)?.0),
                None if space.is_empty() => name,
                None => format!("{space}.{name}"),
            };
            Ok((full, Some(module.assembly_name())))
        }
        TypeKind::Array(element, 0) => with(element, "[]"),
        TypeKind::Array(element, 1) => with(element, "[*]"),
        TypeKind::Array(element, rank) => {
            with(element, &format!("[{}]", ",".repeat(rank as usize - 1)))
        }
        TypeKind::Pointer(target) => with(target, "*"),
        TypeKind::ByRef(target) => with(target, "&"),
        TypeKind::Instance(definition, arguments) => {
            let (definition, assembly) = inner(definition)?;
            let arguments = read::elements(arguments).map(|a| Ok((inner(a)?, is_variable(a)?)));
            Ok((instance(&definition, arguments)?, assembly))
        }
        TypeKind::Variable(..) => {
            let name = ty.read_ref(offset_of!(GenericTypeParameterBuilderObject, name));
            Ok((name.text(), None))
        }
    }
}

fn is_variable(ty: ObjRef<'_>) -> E<bool> {
    Ok(match types::kind(ty)? {
        TypeKind::Class(class) => class.is_generic_param(),
        TypeKind::Variable(..) => true,
        _ => false,
    })
}

/// The tag of a type before a value that does not say it otherwise.
fn tag(out: &mut Vec<u8>, ty: Declared<'_>) -> E<()> {
    let class = match ty {
        Declared::Class(class) => class,
        Declared::Object(object) => {
            out.push(0x55);
            string(out, &type_name(object)?);
            return Ok(());
        }
    };
    if let Some(element) = class.element().filter(|_| class.is_sz_array()) {
        out.push(0x1D);
        return tag(out, Declared::Class(element));
    }
    if class.is_enum()? {
        out.push(0x55);
        let name = class.assembly_qualified_name().unwrap_or_default();
        string(out, &name);
    } else if let Some(prim) = class.prim {
        out.push(prim as u8);
    } else if is_known(class, Known::String) {
        out.push(0x0E);
    } else if is_known(class, Known::Object) {
        out.push(0x51);
    } else if is_known(class, Known::Type) || is_known(class, Known::RuntimeType) {
        out.push(0x50);
    } else {
        let text = format!("{class} cannot be the type of an attribute's value");
        return Err(EmitError::Throw(Known::ArgumentException, text));
    }
    Ok(())
}

/// A value of a declared type.
fn value(out: &mut Vec<u8>, ty: Declared<'_>, v: ObjRef<'_>) -> E<()> {
    value_at(out, ty, v, 0)
}

/// As [`value`], in so many arrays.
fn value_at(out: &mut Vec<u8>, ty: Declared<'_>, v: ObjRef<'_>, depth: u32) -> E<()> {
    let bad = || {
        EmitError::Throw(
            Known::ArgumentException,
            "a value of a wrong type".to_owned(),
        )
    };
    let class = match ty {
        Declared::Class(class) => class,
        // An enum that has not been created: the value says how it is represented.
        Declared::Object(_) => v.non_null().ok_or_else(bad)?.class(),
    };
    if depth > vervet_types::MAX_DEPTH {
        return Err(bad());
    }
    if is_known(class, Known::Object) {
        // The value says its own type; null is a null string.
        let Some(v) = v.non_null() else {
            out.extend([0x0E, 0xFF]);
            return Ok(());
        };
        let own = v.class();
        let as_type = types::kind(v).is_ok() && !v.is_string();
        let own = match as_type {
            true => own.universe().known(Known::Type),
            // It says nothing.
            false if is_known(own, Known::Object) => return Err(bad()),
            false => own,
        };
        tag(out, Declared::Class(own))?;
        return value_at(out, Declared::Class(own), v, depth);
    }
    if is_known(class, Known::String) {
        match v.non_null() {
            Some(v) if v.is_string() => string(out, &v.text()),
            Some(_) => return Err(bad()),
            None => out.push(0xFF),
        }
        return Ok(());
    }
    if is_known(class, Known::Type) || is_known(class, Known::RuntimeType) {
        match v.non_null() {
            Some(v) => string(out, &type_name(v)?),
            None => out.push(0xFF),
        }
        return Ok(());
    }
    if let Some(element) = class.element().filter(|_| class.is_sz_array()) {
        let Some(v) = v.non_null() else {
            out.extend(u32::MAX.to_le_bytes());
            return Ok(());
        };
        if !v.is_array() {
            return Err(bad());
        }
        out.extend((v.array_len() as u32).to_le_bytes());
        return elements(out, element, v, depth);
    }
    let prim = class.stack_prim()?.ok_or_else(bad)?;
    let v = v.non_null().ok_or_else(bad)?;
    if v.class().stack_prim()? != Some(prim) {
        return Err(bad());
    }
    let header = vervet_abi::HEADER_SIZE as usize;
    primitive(out, prim, v, header);
    Ok(())
}

/// The elements of an array.
fn elements(out: &mut Vec<u8>, element: ClassRef, array: ObjRef<'_>, depth: u32) -> E<()> {
    let wrong = || {
        let text = "an array of a wrong type".to_owned();
        EmitError::Throw(Known::ArgumentException, text)
    };
    let own = array.class().element().ok_or_else(wrong)?;
    match element.stack_prim()? {
        Some(prim) => {
            if own.stack_prim()? != Some(prim) {
                return Err(wrong());
            }
            let start = array.array_data() as usize - array.addr();
            for i in 0..array.array_len() {
                primitive(out, prim, array, start + i * prim.size() as usize);
            }
        }
        None if own.is_value_type()? => return Err(wrong()),
        None => {
            for v in read::elements(array) {
                value_at(out, Declared::Class(element), v, depth + 1)?;
            }
        }
    }
    Ok(())
}

/// A primitive that lies at an offset of an object.
fn primitive(out: &mut Vec<u8>, prim: Prim, object: ObjRef<'_>, at: usize) {
    match prim.size() {
        1 => out.extend(object.read::<u8>(at).to_le_bytes()),
        2 => out.extend(object.read::<u16>(at).to_le_bytes()),
        4 => out.extend(object.read::<u32>(at).to_le_bytes()),
        _ => out.extend(object.read::<u64>(at).to_le_bytes()),
    }
}
