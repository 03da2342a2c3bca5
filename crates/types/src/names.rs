//! Names of types and methods as text. [`crate::type_name`] has the grammar, and reads them.
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
//! [`TypeName::parse`](crate::type_name::TypeName::parse) to the same type. Both sides know the same special characters, and escape
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
    /// The same without namespaces.
    Short,
}
impl Style {
    fn is_native(self) -> bool {
        matches!(self, Style::Native | Style::Short)
    }
}

/// Characters that the grammar gives a meaning.
const SPECIAL: &[char] = &['\\', ',', '[', ']', '&', '*', '+'];

/// Writes a name with special characters escaped.
fn escape(out: &mut String, name: &str, style: Style) {
    if style.is_native() || !name.contains(SPECIAL) {
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
        out.push(if style.is_native() { '/' } else { '+' });
    }
    let namespace = module.image.string(row.namespace).unwrap_or_default();
    if !namespace.is_empty() && style != Style::Short {
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
    let (open, close) = if style.is_native() {
        ('<', '>')
    } else {
        ('[', ']')
    };
    out.push(open);
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(if style.is_native() { ", " } else { "," });
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

/// Writes the names of classes, with a character between them.
fn write_list(out: &mut String, classes: &[ClassRef], between: char, style: Style) {
    for (i, class) in classes.iter().enumerate() {
        if i > 0 {
            out.push(between);
        }
        write_class(out, class, style);
    }
}

/// The name of a wrapper so far, and the signature of what it wraps: what it does, the result, and, if there are any, parameters behind `before_params`.
fn wrapper_of(mut out: String, what: &str, before_params: &str, sig: Option<&MethodSig>) -> String {
    out.push_str(what);
    if let Some(sig) = sig {
        write_list(&mut out, &[sig.ret], '_', Style::Short);
        if !sig.params.is_empty() {
            out.push_str(before_params);
            write_list(&mut out, &sig.params, '_', Style::Short);
        }
    }
    out
}

/// Writes the name of a class.
fn write_class(out: &mut String, class: &Class, style: Style) {
    match &class.kind {
        ClassKind::Def { rid, params } => {
            if style.is_native() && class.namespace == "System" && class.module.is_corlib() {
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
                let (open, close) = if style.is_native() {
                    ('<', '>')
                } else {
                    ('[', ']')
                };
                out.push(open);
                for (i, rid) in image.generic_params_of(class.token()).enumerate() {
                    if i > 0 {
                        out.push_str(if style.is_native() { ", " } else { "," });
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

/// Is a parameter of the class handed to another domain without being serialized, in mono?
fn is_copied(class: ClassRef) -> bool {
    if let Some(element) = class.element().filter(|_| class.is_array()) {
        return is_copied(element);
    }
    let is_text = class.module.is_corlib() && (class.namespace, class.name) == ("System", "String");
    is_text || !matches!(class.prim, None | Some(Prim::IntPtr | Prim::UIntPtr))
}

/// How mono's messages begin with a dynamic method's name.
pub const DYNAMIC: &str = "(wrapper dynamic-method) ";

impl Method {
    /// `Namespace.Type:Name (int,string)`, as in mono's native messages.
    pub fn full_name(&self) -> String {
        let wrapper = if self.is_dynamic() { DYNAMIC } else { "" };
        let mut out = format!("{wrapper}{}:{}", short_name(self.class), self.name);
        if !self.method_args().is_empty() {
            write_args(&mut out, self.method_args(), Style::Native);
        }
        if let Some(sig) = self.cells.sig.get() {
            let _ = write!(out, " {}", sig.params_text());
        }
        out
    }
    /// As [`Method::full_name`], and always with the parameters: for texts that programs see. (The other has them if somebody has asked for the
    /// signature before, which depends on what was compiled.)
    pub fn signed_name(&'static self) -> String {
        let _ = self.sig();
        self.full_name()
    }
    /// As the wrapper around it is shown in traces: `Type.Method(ThisType,int,string)`.
    pub fn wrapper_name(&'static self) -> String {
        let m = self.definition();
        m.name_in_traces((!m.is_static()).then_some(m.class))
    }
    /// Of the wrapper in which a call from another domain arrives, in mono: `Type.Method(object,byte[]&,byte[]&,int)`, with the parameters that are
    /// not serialized.
    pub fn dispatch_name(&'static self) -> String {
        let class = self.class.full_name();
        let mut out = format!("{class}.{}(object,byte[]&,byte[]&", self.name);
        for param in self.sig().into_iter().flat_map(|sig| &sig.params) {
            if is_copied(
                param
                    .element()
                    .filter(|_| param.is_byref())
                    .unwrap_or(param),
            ) {
                out.push(',');
                out.push_str(&short_name(param));
            }
        }
        out.push(')');
        out
    }
    /// Of a wrapper that stands for the method itself, without `this` and with type arguments in place of type parameters: `Type.Method(string)`.
    pub fn instantiated_name(&'static self) -> String {
        self.name_in_traces(None)
    }
    fn name_in_traces(&'static self, this: Option<ClassRef>) -> String {
        let mut out = format!("{}.{}(", self.class.full_name(), self.name);
        let Ok(sig) = self.sig() else {
            return out + ")";
        };
        let params: Vec<_> = this.iter().chain(&sig.params).copied().collect();
        write_list(&mut out, &params, ',', Style::Native);
        out.push(')');
        out
    }
    /// Of a delegate's `Invoke`, the name of mono's wrapper that calls several targets: ``System.Action`1[System.Int32].invoke_void_T(int)``. Those
    /// of delegates that are not generic belong to no class: `<Module>.invoke_void_object(object)`.
    pub fn delegate_invoke_name(&'static self) -> String {
        self.of_delegate_in_traces("invoke_", "_")
    }
    /// Of a delegate's `Invoke`, the name of mono's wrapper that looks the method up in the first argument. Those of generic delegates belong to no class either:
    /// `<Module>.invoke_callvirt_void_object(object)`.
    pub fn delegate_invoke_virtual_name(&'static self) -> String {
        let name = |out| wrapper_of(out, "invoke_callvirt_", "_", self.sig().ok());
        self.with_params_in_traces(name("<Module>.".to_owned()))
    }
    /// Of a delegate's `EndInvoke`, likewise: `<Module>.end_invoke_int__this___IAsyncResult(System.IAsyncResult)`.
    pub fn delegate_end_invoke_name(&'static self) -> String {
        self.of_delegate_in_traces("end_invoke_", "__this___")
    }
    /// See [`Method::delegate_invoke_name`]. `after_result`: what stands between the result and the parameters.
    fn of_delegate_in_traces(&'static self, what: &str, after_result: &str) -> String {
        let mut out = match self.class.is_inst() {
            true => self.class.full_name(),
            false => "<Module>".to_owned(),
        };
        out.push('.');
        let out = wrapper_of(out, what, after_result, self.definition().sig().ok());
        self.with_params_in_traces(out)
    }
    fn with_params_in_traces(&'static self, mut out: String) -> String {
        out.push('(');
        if let Ok(sig) = self.sig() {
            write_list(&mut out, &sig.params, ',', Style::Native);
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
