//! Names of methods as hosts write them: `Namespace.Class:Method(int,string)`.
//!
//! ```text
//!   [namespace.]class:method[(arguments)]      `*` stands for any class; `::` may stand for `:`
//!   argument: int, string, object ... | Namespace.Class | Outer/Inner, then any of & [] *
//! ```
use crate::kinds;
use crate::support::{Bool, ClassP, ImageP, MethodP, found, new_text, read_opt};
use std::ffi::c_char;
use vervet_types::names::short_name;
use vervet_types::{ClassRef, Known, MethodRef, MethodSig, Prim};

/// A `MonoMethodDesc`.
pub struct Description {
    namespace: Option<String>,
    class: Option<String>,
    method: String,
    args: Option<String>,
    include_namespace: bool,
}

/// An argument's type as descriptions spell it.
pub fn argument(class: ClassRef, namespace: bool) -> String {
    if namespace {
        return short_name(class);
    }
    if let Some(e) = class.element() {
        let inner = argument(e, namespace);
        return match class.rank() {
            Some(rank) => format!("{inner}[{}]", ",".repeat(rank as usize - 1)),
            None if class.is_ptr() => inner + "*",
            None => inner + "&",
        };
    }
    let short = match class.prim {
        Some(Prim::Void) => "void",
        Some(Prim::Bool) => "bool",
        Some(Prim::Char) => "char",
        Some(Prim::I1) => "sbyte",
        Some(Prim::U1) => "byte",
        Some(Prim::I2) => "int16",
        Some(Prim::U2) => "uint16",
        Some(Prim::I4) => "int",
        Some(Prim::U4) => "uint",
        Some(Prim::I8) => "long",
        Some(Prim::U8) => "ulong",
        Some(Prim::R4) => "single",
        Some(Prim::R8) => "double",
        Some(Prim::IntPtr) => "intptr",
        Some(Prim::UIntPtr) => "uintptr",
        None if kinds::is(class, Known::String) => "string",
        None if kinds::is(class, Known::Object) => "object",
        None => return class_text(class, namespace),
    };
    short.into()
}
/// A class with its namespace, if that is wanted, and those around it.
pub fn class_text(class: ClassRef, namespace: bool) -> String {
    let own = match found(class.declaring_type()) {
        Some(outer) => format!("{}/{}", class_text(outer, namespace), class.name),
        None if namespace && !class.namespace.is_empty() => {
            format!("{}.{}", class.namespace, class.name)
        }
        None => class.name.to_string(),
    };
    if class.is_generic_param() {
        return class.name.to_string();
    }
    if class.is_inst() {
        let args: Vec<String> = class
            .args()
            .iter()
            .map(|a| argument(a, namespace))
            .collect();
        return format!("{own}<{}>", args.join(", "));
    }
    own
}
/// The class of a method: a generic definition without its parameters.
fn owner(class: ClassRef) -> String {
    let name = short_name(class);
    match class.is_generic_def() {
        true => name.split('<').next().unwrap_or(&name).to_string(),
        false => name,
    }
}
/// The names of a nested class and those around it, and the outermost class.
fn nested_name(class: ClassRef) -> (String, ClassRef) {
    let mut full = class.name.to_string();
    let mut outermost = class;
    while let Some(outer) = found(outermost.declaring_type()) {
        full = format!("{}/{full}", outer.name);
        outermost = outer;
    }
    (full, outermost)
}
/// The arguments of a signature, separated by commas.
pub fn params_text(sig: &MethodSig, namespace: bool) -> String {
    sig.params
        .iter()
        .map(|p| argument(p, namespace))
        .collect::<Vec<_>>()
        .join(",")
}

/// Reads a description; None if it is none.
fn parse(text: &str, include_namespace: bool) -> Option<Description> {
    let (names, args) = match text.find('(') {
        Some(at) => {
            let inner = text[at + 1..]
                .strip_suffix(')')
                .or_else(|| text[at + 1..].split_once(')').map(|p| p.0))?;
            (text[..at].trim_end(), Some(inner.to_string()))
        }
        None => (text, None),
    };
    let at = names.rfind(':')?;
    let method = names[at + 1..].trim().to_string();
    let class = names[..at].trim_end_matches(':').trim();
    let (namespace, class) = match class.rfind('.') {
        Some(dot) => (Some(class[..dot].to_string()), &class[dot + 1..]),
        None => (None, class),
    };
    let args = args.map(|a| a.split(',').map(str::trim).collect::<Vec<_>>().join(","));
    Some(Description {
        namespace,
        class: (class != "*").then(|| class.to_string()),
        method,
        args,
        include_namespace,
    })
}

impl Description {
    /// Do the method's name and arguments fit?
    fn fits(&self, method: MethodRef) -> bool {
        if self.method != method.name {
            return false;
        }
        match (&self.args, method.sig()) {
            (None, _) => true,
            (Some(args), Ok(sig)) => {
                let count = if args.is_empty() {
                    0
                } else {
                    args.split(',').count()
                };
                count == sig.params.len()
                    && (*args == params_text(sig, self.include_namespace)
                        || *args == params_text(sig, true))
                    || *args == params_text(sig, self.include_namespace)
            }
            _ => false,
        }
    }
    /// Does the class fit too?
    fn fits_class(&self, class: ClassRef) -> bool {
        let Some(wanted) = &self.class else {
            return true;
        };
        let (full, outermost) = nested_name(class);
        full == *wanted
            && self
                .namespace
                .as_ref()
                .is_none_or(|n| n == outermost.namespace)
    }
}

/// `Namespace.Class:Method`, and with its signature ` (int,string)`.
pub fn full_name(m: MethodRef, signature: bool) -> String {
    let mut name = format!("{}:{}", owner(m.class), m.name);
    let own = m.generic_params().unwrap_or(&[]);
    let generic = if m.method_args().is_empty() {
        own
    } else {
        m.method_args()
    };
    if !generic.is_empty() {
        let args: Vec<String> = generic.iter().map(|a| argument(a, true)).collect();
        name += &format!("<{}>", args.join(", "));
    }
    if let (true, Ok(sig)) = (signature, m.sig()) {
        name += &format!(" ({})", params_text(sig, true));
    }
    name
}

query_api! {
    fn mono_method_desc_new(text: *const c_char, include_namespace: Bool) -> *mut Description {
        read_opt(text).and_then(|t| parse(&t, include_namespace != 0)).map_or(std::ptr::null_mut(), |d| Box::into_raw(Box::new(d)))
    }
    fn mono_method_desc_from_method(method: MethodP) -> *mut Description {
        let Some(m) = method else { return std::ptr::null_mut() };
        let (class, outermost) = nested_name(m.class);
        Box::into_raw(Box::new(Description {
            namespace: Some(outermost.namespace.to_string()),
            class: Some(class),
            method: m.name.to_string(),
            args: m.sig().ok().map(|s| params_text(s, true)),
            include_namespace: true,
        }))
    }
    fn mono_method_desc_free(description: *mut Description) {
        if !description.is_null() {
            drop(Box::from_raw(description));
        }
    }
    fn mono_method_desc_is_full(description: *const Description) -> Bool { Bool::from((*description).class.as_ref().is_some_and(|c| !c.is_empty())) }
    fn mono_method_desc_match(description: *const Description, method: MethodP) -> Bool {
        Bool::from(method.is_some_and(|m| (*description).fits(m)))
    }
    fn mono_method_desc_full_match(description: *const Description, method: MethodP) -> Bool {
        Bool::from(method.is_some_and(|m| (*description).fits(m) && (*description).fits_class(m.class)))
    }
    fn mono_method_desc_search_in_class(description: *const Description, class: ClassP) -> MethodP {
        let description = &*description;
        class?.methods().ok()?.iter().copied().find(|m| description.fits(m))
    }
    fn mono_method_desc_search_in_image(description: *const Description, image: ImageP) -> MethodP {
        let (description, image) = (&*description, image?);
        if let (Some(namespace), Some(class)) = (&description.namespace, &description.class) {
            let class = crate::classes::by_name(image, namespace, class, false)?;
            return class.methods().ok()?.iter().copied().find(|m| description.fits(m));
        }
        let all = image.types().ok()?;
        all.into_iter()
            .filter(|c| description.fits_class(c))
            .find_map(|c| c.methods().ok()?.iter().copied().find(|m| description.fits(m)))
    }
    /// `Namespace.Class:Method (int,string)`.
    fn mono_method_full_name(method: MethodP, signature: Bool) -> *mut c_char {
        method.map_or(std::ptr::null_mut(), |m| new_text(&full_name(m, signature != 0)))
    }
}
