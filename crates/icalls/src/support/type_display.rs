//! Names of types as reflection spells them (`Type.FullName`, `AssemblyQualifiedName`, `ToString`).
//!
//! # Invariants
//! What [`Format::Qualified`] writes, the grammar of [`crate::support::type_name`] reads back to the same type.
use vervet_binder::{AssemblyName, PublicKeyToken};
use vervet_metadata::Table;
use vervet_types::{Assembly, ClassKind, ClassRef, LoadError};

/// What a name is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `Type.ToString`: arguments by their own such names, parameters of definitions listed.
    Reflection,
    /// `Type.FullName`: arguments assembly-qualified.
    Full,
    /// `Type.AssemblyQualifiedName`.
    Qualified,
}

/// The name of a type.
pub fn type_name(class: ClassRef, format: Format) -> Result<String, LoadError> {
    let mut out = String::new();
    write_type(class, format, false, &mut out)?;
    Ok(out)
}

/// Writes text with the characters of the grammar escaped.
pub fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, ',' | '+' | '&' | '*' | '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Appends the name of a type; with `nested`, as an argument of another type's name.
fn write_type(
    class: ClassRef,
    format: Format,
    outer: bool,
    out: &mut String,
) -> Result<(), LoadError> {
    let inner_format = if format == Format::Qualified {
        Format::Full
    } else {
        format
    };
    match &class.kind {
        ClassKind::SzArray(elem) => {
            write_type(elem, inner_format, false, out)?;
            out.push_str("[]");
        }
        ClassKind::Array { elem, rank } => {
            write_type(elem, inner_format, false, out)?;
            out.push('[');
            match rank {
                1 => out.push('*'),
                n => out.extend((1..*n).map(|_| ',')),
            }
            out.push(']');
        }
        ClassKind::Ptr(elem) => {
            write_type(elem, inner_format, false, out)?;
            out.push('*');
        }
        ClassKind::ByRef(elem) => {
            write_type(elem, inner_format, false, out)?;
            out.push('&');
        }
        ClassKind::GenericParam { .. } | ClassKind::Position { .. } => {
            out.push_str(class.name);
            return Ok(());
        }
        _ => {
            if let Some(enclosing) = class.declaring_type()? {
                write_type(enclosing.def(), format, true, out)?;
                out.push('+');
            } else if !class.namespace.is_empty() {
                escape(class.namespace, out);
                out.push('.');
            }
            escape(class.name, out);
            if outer {
                return Ok(());
            }
            if class.is_inst() {
                let nested = if format == Format::Full {
                    Format::Qualified
                } else {
                    format
                };
                out.push('[');
                for (i, arg) in class.args().iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    // As in mono: a method's parameter is an argument with an assembly, without one.
                    let brackets = nested == Format::Qualified && !is_parameter_of_type(arg);
                    if brackets {
                        out.push('[');
                    }
                    write_type(arg, nested, false, out)?;
                    if brackets {
                        out.push(']');
                    }
                }
                out.push(']');
            } else if class.is_generic_def() && format == Format::Reflection {
                out.push('[');
                for (i, p) in class.params()?.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    out.push_str(p.name);
                }
                out.push(']');
            }
        }
    }
    if format == Format::Qualified
        && let Some(assembly) = class.module.assembly()
    {
        out.push_str(", ");
        out.push_str(&assembly_full_name(assembly));
    }
    Ok(())
}

/// Whether it is a generic parameter that a type declares.
fn is_parameter_of_type(class: ClassRef) -> bool {
    match class.kind {
        ClassKind::GenericParam { owner_token, .. } => owner_token.is(Table::TypeDef),
        _ => false,
    }
}

/// The identity of an assembly as its manifest states it.
pub fn assembly_name(assembly: &Assembly) -> AssemblyName {
    let key: &[u8] = assembly.public_key;
    AssemblyName {
        name: assembly.name.to_string(),
        version: Some(assembly.version),
        culture: Some(assembly.culture.to_string()),
        public_key_token: assembly.public_key_token().map(PublicKeyToken),
        public_key: (!key.is_empty()).then(|| key.to_vec()),
        retargetable: assembly.flags & 0x100 != 0,
        ..AssemblyName::default()
    }
}
/// The display name of an assembly.
pub fn assembly_full_name(assembly: &Assembly) -> String {
    assembly_name(assembly).to_string()
}
