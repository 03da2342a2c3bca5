//! Names of types and methods as text, and types by name as text.
//!
//! # How it works
//! The grammar, as reflection has it:
//!
//! ```text
//! name      = [namespace "."] identifier { "+" identifier }
//! type      = name [ "[" argument { "," argument } "]" ] { suffix } [ "&" ] [ "," assembly ]
//! argument  = type without assembly | "[" type "]"
//! suffix    = "[]" | "[,]" | "[*]" | "*"
//! ```
//!
//! ```text
//! style        the same type
//! ToString     System.Collections.Generic.List`1[System.Int32]
//! FullName     System.Collections.Generic.List`1[[System.Int32, mscorlib, Version=...]]
//! mono's       System.Collections.Generic.List`1<int>
//! ```
//!
//! # Invariants
//! What is printed as `Type.FullName` or as an assembly-qualified name is read back by
//! [`TypeName::parse`] to the same type. Both sides know the same special characters, and escape
//! them with a backslash.
use crate::*;
use std::fmt::Write;

/// How a type is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `Type.ToString()`.
    Reflection,
    /// `Type.FullName`: arguments carry their assemblies.
    Full,
    /// As mono's native messages: `int`, `Outer/Inner`, ``List`1<int>``.
    Native,
}

/// Characters that the grammar gives a meaning.
const SPECIAL: &[char] = &['\\', ',', '[', ']', '&', '*', '+'];

/// Writes a name with special characters escaped.
fn escape(out: &mut String, name: &str, style: Style) {
    if style == Style::Native || !name.contains(SPECIAL) {
        out.push_str(name);
        return;
    }
    for c in name.chars() {
        if SPECIAL.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
}

/// The C# keyword of a primitive.
fn prim_name(prim: Prim) -> &'static str {
    match prim {
        Prim::Void => "void",
        Prim::Bool => "bool",
        Prim::Char => "char",
        Prim::I1 => "sbyte",
        Prim::U1 => "byte",
        Prim::I2 => "int16",
        Prim::U2 => "uint16",
        Prim::I4 => "int",
        Prim::U4 => "uint",
        Prim::I8 => "long",
        Prim::U8 => "ulong",
        Prim::R4 => "single",
        Prim::R8 => "double",
        Prim::IntPtr => "intptr",
        Prim::UIntPtr => "uintptr",
    }
}

/// Writes namespace, enclosing types and name of a definition.
fn write_def(out: &mut String, module: &Module, rid: u32, style: Style, depth: u32) {
    let Ok(row) = module.image.type_def(rid) else {
        return;
    };
    if let Some(outer) = module
        .image
        .nested_class_of(rid)
        .filter(|_| depth < MAX_DEPTH)
    {
        write_def(out, module, outer, style, depth + 1);
        out.push(if style == Style::Native { '/' } else { '+' });
    }
    let namespace = module.image.string(row.namespace).unwrap_or_default();
    if !namespace.is_empty() {
        escape(out, namespace, style);
        out.push('.');
    }
    escape(
        out,
        module.image.string(row.name).unwrap_or_default(),
        style,
    );
}

/// Writes generic arguments.
fn write_args(out: &mut String, args: &[ClassRef], style: Style) {
    let (open, close) = if style == Style::Native {
        ('<', '>')
    } else {
        ('[', ']')
    };
    out.push(open);
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(if style == Style::Native { ", " } else { "," });
        }
        if style == Style::Full {
            out.push('[');
            write_class(out, arg, style);
            out.push_str(", ");
            out.push_str(&arg.module.assembly_name().replace(']', "\\]"));
            out.push(']');
        } else {
            write_class(out, arg, style);
        }
    }
    out.push(close);
}

/// Writes the name of a class.
fn write_class(out: &mut String, class: &Class, style: Style) {
    match &class.kind {
        ClassKind::Def { rid, params } => {
            if style == Style::Native && class.namespace == "System" && class.module.is_corlib() {
                let short = match class.name {
                    "String" => Some("string"),
                    "Object" => Some("object"),
                    _ => class.prim.map(prim_name),
                };
                if let Some(short) = short {
                    return out.push_str(short);
                }
            }
            write_def(out, class.module, *rid, style, 0);
            if class.is_open && style != Style::Full {
                // The parameters' names are read, so that printing makes nothing.
                let _ = params;
                let image = &class.module.image;
                let (open, close) = if style == Style::Native {
                    ('<', '>')
                } else {
                    ('[', ']')
                };
                out.push(open);
                for (i, rid) in image.generic_params_of(class.token()).enumerate() {
                    if i > 0 {
                        out.push_str(if style == Style::Native { ", " } else { "," });
                    }
                    out.push_str(
                        image
                            .generic_param(rid)
                            .and_then(|row| image.string(row.name))
                            .unwrap_or("?"),
                    );
                }
                out.push(close);
            }
        }
        ClassKind::Inst { def, args } => {
            write_def(out, class.module, def.rid(), style, 0);
            write_args(out, args, style);
        }
        ClassKind::SzArray(e) => {
            write_class(out, e, style);
            out.push_str("[]");
        }
        ClassKind::Array { elem, rank } => {
            write_class(out, elem, style);
            out.push('[');
            match rank {
                1 => out.push('*'),
                _ => (1..*rank).for_each(|_| out.push(',')),
            }
            out.push(']');
        }
        ClassKind::Ptr(e) => {
            write_class(out, e, style);
            out.push('*');
        }
        ClassKind::ByRef(e) => {
            write_class(out, e, style);
            out.push('&');
        }
        ClassKind::FnPtr(sig) => {
            let _ = write!(out, "{}(*){}", text_of(sig.ret, style), sig.params_text());
        }
        ClassKind::GenericParam { .. } | ClassKind::Position { .. } => {
            escape(out, class.name, style)
        }
    }
}

/// The name of a class.
fn text_of(class: &Class, style: Style) -> String {
    let mut out = String::new();
    write_class(&mut out, class, style);
    out
}

/// As mono's native messages write a type: `int`, ``List`1<string>``.
pub fn short_name(class: &Class) -> String {
    text_of(class, Style::Native)
}

/// The display name of an assembly.
pub fn assembly_name(
    name: &str,
    version: [u16; 4],
    culture: &str,
    token: Option<[u8; 8]>,
) -> String {
    let [a, b, c, d] = version;
    let culture = if culture.is_empty() {
        "neutral"
    } else {
        culture
    };
    let mut out = String::with_capacity(80);
    for c in name.chars() {
        if matches!(c, ',' | '\\' | '"' | '\'' | '=') {
            out.push('\\');
        }
        out.push(c);
    }
    let _ = write!(
        out,
        ", Version={a}.{b}.{c}.{d}, Culture={culture}, PublicKeyToken="
    );
    match token {
        None => out.push_str("null"),
        Some(bytes) => bytes.iter().for_each(|b| {
            let _ = write!(out, "{b:02x}");
        }),
    }
    out
}

impl Class {
    /// ``Dictionary`2+Enumerator[System.Int32,System.String]``, as `Type.ToString()`.
    pub fn full_name(&self) -> String {
        text_of(self, Style::Reflection)
    }
    /// As `Type.FullName`: arguments with their assemblies. None where reflection answers null: for generic
    /// parameters and what contains them, but not for generic definitions.
    pub fn reflection_name(&'static self) -> Option<String> {
        (!self.is_open || self.is_generic_def()).then(|| text_of(self, Style::Full))
    }
    /// As `Type.AssemblyQualifiedName`.
    pub fn assembly_qualified_name(&'static self) -> Option<String> {
        Some(format!(
            "{}, {}",
            self.reflection_name()?,
            self.module.assembly_name()
        ))
    }
}

impl Method {
    /// `Namespace.Type:Name (int,string)`, as in mono's native messages.
    pub fn full_name(&self) -> String {
        let mut out = format!("{}:{}", short_name(self.class), self.name);
        if !self.method_args.is_empty() {
            write_args(&mut out, self.method_args, Style::Native);
        }
        if let Some(sig) = self.cells.sig.get() {
            let _ = write!(out, " {}", sig.params_text());
        }
        out
    }
    /// As the wrapper around it is shown in traces: `Type.Method(ThisType,int,string)`.
    pub fn wrapper_name(&'static self) -> String {
        let m = self.definition();
        let mut out = format!("{}.{}(", m.class.full_name(), m.name);
        let Ok(sig) = m.sig() else { return out + ")" };
        let this = (!m.is_static()).then_some(m.class);
        for (i, p) in this.iter().chain(&sig.params).enumerate() {
            if i > 0 {
                out.push(',');
            }
            write_class(&mut out, p, Style::Native);
        }
        out.push(')');
        out
    }
    /// As a line of a stack trace: `Namespace.Type.Name (System.Int32 x, System.String y)`. Generic classes and
    /// methods are named as their definitions.
    pub fn trace_name(&'static self) -> String {
        let m = self.definition();
        let mut out = format!("{}.{}", m.class.full_name(), m.name);
        if let (true, Ok(params)) = (m.generic_arity > 0, m.generic_params()) {
            write_args(&mut out, params, Style::Reflection);
        }
        out.push_str(" (");
        if let Ok(sig) = m.sig() {
            let names = m.param_names().unwrap_or_default();
            for (i, p) in sig.params.iter().enumerate() {
                let _ = write!(out, "{}{}", if i > 0 { ", " } else { "" }, p.full_name());
                if let Some(name) = names.get(i).filter(|n| !n.is_empty()) {
                    let _ = write!(out, " {name}");
                }
            }
        }
        out.push(')');
        out
    }
}

/// What follows a type's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suffix {
    /// `[]`.
    SzArray,
    /// `[,]`, or `[*]` with rank 1.
    Array(u32),
    /// `*`.
    Ptr,
    /// `&`.
    ByRef,
}

/// A type's name as reflection takes it, parsed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TypeName {
    /// Namespace, "" if none.
    pub namespace: String,
    /// The name, then those of nested types.
    pub names: Vec<String>,
    /// Generic arguments.
    pub args: Vec<TypeName>,
    /// Arrays, pointers, byref, from the inside out.
    pub suffixes: Vec<Suffix>,
    /// Display name of the assembly.
    pub assembly: Option<String>,
}

struct Parser<'t> {
    rest: &'t str,
}

impl Parser<'_> {
    /// The next character.
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }
    /// Takes that character, if it is the next one.
    fn take(&mut self, c: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(c)?;
        Some(())
    }
    /// Skips spaces.
    fn skip_spaces(&mut self) {
        self.rest = self.rest.trim_start();
    }
    /// An identifier up to a special character, unescaped; and where its last unescaped dot is.
    fn identifier(&mut self) -> Option<(String, Option<usize>)> {
        let (mut out, mut dot) = (String::new(), None);
        let mut chars = self.rest.char_indices();
        let end = loop {
            match chars.next() {
                None => break self.rest.len(),
                Some((_, '\\')) => out.push(chars.next()?.1),
                Some((at, c)) if SPECIAL.contains(&c) => break at,
                Some((_, c)) => {
                    if c == '.' {
                        dot = Some(out.len());
                    }
                    out.push(c);
                }
            }
        };
        self.rest = &self.rest[end..];
        (!out.is_empty()).then_some((out, dot))
    }
    /// `bracketed`: an argument in its own brackets; `argument`: one without, which names no assembly.
    fn type_name(&mut self, bracketed: bool, argument: bool, depth: u32) -> Option<TypeName> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip_spaces();
        let mut name = TypeName::default();
        let (first, dot) = self.identifier()?;
        match dot.filter(|d| *d > 0) {
            Some(dot) => {
                name.namespace = first[..dot].to_string();
                name.names.push(first[dot + 1..].to_string());
            }
            None => name.names.push(first),
        }
        while self.take('+').is_some() {
            name.names.push(self.identifier()?.0);
        }
        loop {
            match self.peek() {
                Some('[') => {
                    self.take('[')?;
                    self.skip_spaces();
                    match self.peek()? {
                        ']' | ',' | '*' => {
                            let suffix = self.array()?;
                            name.suffixes.push(suffix);
                        }
                        _ if name.args.is_empty() && name.suffixes.is_empty() => {
                            self.args(&mut name, depth)?
                        }
                        _ => return None,
                    }
                }
                Some('*') => {
                    self.take('*')?;
                    name.suffixes.push(Suffix::Ptr);
                }
                Some('&') => {
                    self.take('&')?;
                    name.suffixes.push(Suffix::ByRef);
                    break;
                }
                _ => break,
            }
            if name.suffixes.len() > MAX_NESTING as usize {
                return None;
            }
        }
        self.skip_spaces();
        if !argument && self.take(',').is_some() {
            self.skip_spaces();
            let end = if bracketed {
                find_unescaped(self.rest, ']')?
            } else {
                self.rest.len()
            };
            let text = self.rest[..end].trim_end();
            if text.is_empty() {
                return None;
            }
            name.assembly = Some(if bracketed {
                text.replace("\\]", "]")
            } else {
                text.to_string()
            });
            self.rest = &self.rest[end..];
        }
        Some(name)
    }
    /// Reads what follows `[`: an array's rank.
    fn array(&mut self) -> Option<Suffix> {
        if self.take('*').is_some() {
            self.take(']')?;
            return Some(Suffix::Array(1));
        }
        let mut rank = 1;
        while self.take(',').is_some() {
            rank += 1;
            self.skip_spaces();
        }
        self.take(']')?;
        match rank {
            1 => Some(Suffix::SzArray),
            2..=32 => Some(Suffix::Array(rank)),
            _ => None,
        }
    }
    /// Reads generic arguments.
    fn args(&mut self, name: &mut TypeName, depth: u32) -> Option<()> {
        loop {
            self.skip_spaces();
            if self.take('[').is_some() {
                name.args.push(self.type_name(true, false, depth + 1)?);
                self.take(']')?;
            } else {
                name.args.push(self.type_name(false, true, depth + 1)?);
            }
            self.skip_spaces();
            if self.take(']').is_some() {
                return Some(());
            }
            self.take(',')?;
        }
    }
}

/// The position of a character that is not escaped.
fn find_unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if c == wanted => return Some(at),
            _ => {}
        }
    }
    None
}

impl TypeName {
    /// Reads a name; `None` if it does not follow the grammar.
    pub fn parse(text: &str) -> Option<TypeName> {
        let mut parser = Parser { rest: text };
        let name = parser.type_name(false, false, 0)?;
        parser.rest.is_empty().then_some(name)
    }
}

/// Gives the manifest module of the assembly with that display name; `None` if there is none and that is no error.
pub type FindAssembly<'f> = dyn FnMut(&str) -> R<Option<ModuleRef>> + 'f;

impl Universe {
    /// The type with that name. Without an assembly it is looked for in `default`, then in the core library.
    pub fn find_type_by_name(
        &'static self,
        name: &TypeName,
        default: Option<ModuleRef>,
        ignore_case: bool,
        find_assembly: &mut FindAssembly<'_>,
    ) -> R<Option<ClassRef>> {
        let mut class = match &name.assembly {
            Some(assembly) => match find_assembly(assembly)? {
                Some(module) => find_in(module, name, ignore_case)?,
                None => None,
            },
            None => {
                let own = default
                    .map(|m| find_in(m, name, ignore_case))
                    .transpose()?
                    .flatten();
                match own {
                    Some(c) => Some(c),
                    None => find_in(self.corlib(), name, ignore_case)?,
                }
            }
        };
        if let (Some(def), false) = (class, name.args.is_empty()) {
            let mut args = Vec::with_capacity(name.args.len());
            for arg in &name.args {
                match self.find_type_by_name(arg, default, ignore_case, find_assembly)? {
                    Some(arg) => args.push(arg),
                    None => return Ok(None),
                }
            }
            if def.params()?.len() != args.len() {
                return Ok(None);
            }
            class = Some(self.instantiate(def, &args)?);
        }
        let Some(mut class) = class else {
            return Ok(None);
        };
        for suffix in &name.suffixes {
            if class.is_byref() {
                return Ok(None);
            }
            let class_in = class.nested()?;
            class = match suffix {
                Suffix::SzArray => self.sz_array(class_in),
                Suffix::Array(rank) => self.array(class_in, *rank),
                Suffix::Ptr => self.ptr(class_in),
                Suffix::ByRef => self.byref(class_in),
            };
        }
        Ok(Some(class))
    }
}

/// Finds a type in a module, nested types included.
fn find_in(module: ModuleRef, name: &TypeName, ignore_case: bool) -> R<Option<ClassRef>> {
    let mut names = name.names.iter();
    let first = names.next().map_or("", String::as_str);
    let found = match ignore_case {
        false => module.find_type(&name.namespace, first)?,
        true => module.find_type_ignoring_case(&name.namespace, first)?,
    };
    let Some(mut class) = found else {
        return Ok(None);
    };
    for name in names {
        let found = match ignore_case {
            false => class.module.find_nested(class, name)?,
            true => class.module.find_nested_ignoring_case(class, name)?,
        };
        match found {
            Some(c) => class = c,
            None => return Ok(None),
        }
    }
    Ok(Some(class))
}
