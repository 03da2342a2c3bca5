//! Types (`MonoType`) and signatures.
use crate::classes::{behind, slot_size};
use crate::support::{Bool, ClassP, MethodP, SigP, found, new_text, next, set};
use std::ffi::{c_char, c_int, c_void};
use vervet_runtime::rt;
use vervet_types::{Class, ClassKind, ClassRef, Known, Prim};

/// Element types (ECMA-335 II.23.1.16).
pub fn element_type(class: ClassRef) -> c_int {
    let class = behind(class);
    match &class.kind {
        ClassKind::SzArray(_) => 0x1d,
        ClassKind::Array { .. } => 0x14,
        ClassKind::Ptr(_) => 0x0f,
        ClassKind::FnPtr(_) => 0x1b,
        ClassKind::Inst { .. } => 0x15,
        ClassKind::GenericParam { owner_token, .. } => {
            if owner_token.table_byte() == 0x06 {
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
        _ => match class.prim {
            Some(prim) => of_prim(prim),
            None if is(class, Known::String) => 0x0e,
            None if is(class, Known::Object) => 0x1c,
            None if is(class, Known::TypedReference) => 0x16,
            None if class.is_value_type().unwrap_or(false) => 0x11,
            None => 0x12,
        },
    }
}
fn of_prim(prim: Prim) -> c_int {
    match prim {
        Prim::Void => 0x01,
        Prim::Bool => 0x02,
        Prim::Char => 0x03,
        Prim::I1 => 0x04,
        Prim::U1 => 0x05,
        Prim::I2 => 0x06,
        Prim::U2 => 0x07,
        Prim::I4 => 0x08,
        Prim::U4 => 0x09,
        Prim::I8 => 0x0a,
        Prim::U8 => 0x0b,
        Prim::R4 => 0x0c,
        Prim::R8 => 0x0d,
        Prim::IntPtr => 0x18,
        Prim::UIntPtr => 0x19,
    }
}
/// Is it that class of the core library?
pub fn is(class: ClassRef, known: Known) -> bool {
    std::ptr::eq(class, rt().universe.known(known))
}

/// A type as mono writes it: `System.Collections.Generic.List<System.Int32>`, nested types behind a dot.
pub fn name(class: &'static Class) -> String {
    match &class.kind {
        ClassKind::SzArray(e) => name(e) + "[]",
        ClassKind::Array { elem, rank } => {
            format!("{}[{}]", name(elem), ",".repeat(*rank as usize - 1))
        }
        ClassKind::Ptr(e) => name(e) + "*",
        ClassKind::ByRef(e) => name(e) + "&",
        ClassKind::FnPtr(_) => "*()".into(),
        ClassKind::Inst { def, args } => {
            let args: Vec<String> = args.iter().map(|a| name(a)).collect();
            format!("{}<{}>", plain_name(def), args.join(","))
        }
        ClassKind::Def { .. } if class.is_generic_def() => {
            let args: Vec<String> = class.args().iter().map(|a| a.name.to_string()).collect();
            format!("{}<{}>", plain_name(class), args.join(","))
        }
        ClassKind::GenericParam { .. } | ClassKind::Position { .. } => class.name.into(),
        ClassKind::Def { .. } => plain_name(class),
    }
}
/// A definition with its namespace and without the number of its parameters.
fn plain_name(class: ClassRef) -> String {
    let own = class.name.split('`').next().unwrap_or(class.name);
    match found(class.declaring_type()) {
        Some(outer) => format!("{}.{own}", plain_name(outer)),
        None if class.namespace.is_empty() => own.into(),
        None => format!("{}.{own}", class.namespace),
    }
}

/// Is an argument of that type a reference?
pub fn is_reference(class: ClassRef) -> bool {
    !class.is_byref()
        && !class.is_ptr()
        && !class.is_fn_ptr()
        && class.is_reference_type().unwrap_or(false)
}

query_api! {
    fn mono_type_get_name(ty: ClassP) -> *mut c_char { ty.map_or(std::ptr::null_mut(), |t| new_text(&name(t))) }
    /// As descriptions of methods spell it.
    fn mono_type_full_name(ty: ClassP) -> *mut c_char { ty.map_or(std::ptr::null_mut(), |t| new_text(&crate::describe::argument(t, true))) }
    fn mono_type_get_name_full(ty: ClassP, format: c_int) -> *mut c_char {
        let Some(ty) = ty else { return std::ptr::null_mut() };
        new_text(&match format {
            1 => ty.full_name(),
            2 => ty.reflection_name().unwrap_or_else(|| ty.full_name()),
            3 => ty.assembly_qualified_name().unwrap_or_else(|| ty.full_name()),
            _ => name(ty),
        })
    }
    fn mono_type_get_type(ty: ClassP) -> c_int { ty.map_or(0, element_type) }
    fn mono_type_is_byref(ty: ClassP) -> Bool { Bool::from(ty.is_some_and(|t| t.is_byref())) }
    fn mono_type_is_reference(ty: ClassP) -> Bool { Bool::from(ty.is_some_and(|t| is_reference(behind(t)))) }
    fn mono_type_is_pointer(ty: ClassP) -> Bool {
        Bool::from(ty.is_some_and(|t| !t.is_byref() && (matches!(element_type(t), 0x18 | 0x19 | 0x0f | 0x1b | 0x0e | 0x12 | 0x1c | 0x14 | 0x1d) || t.is_inst() && is_reference(t)) || t.is_byref()))
    }
    fn mono_type_is_struct(ty: ClassP) -> Bool {
        Bool::from(ty.is_some_and(|t| !t.is_byref() && t.prim.is_none() && t.is_value_type().unwrap_or(false) && !t.is_enum().unwrap_or(false)))
    }
    fn mono_type_is_void(ty: ClassP) -> Bool { Bool::from(ty.is_some_and(|t| t.prim == Some(Prim::Void))) }
    fn mono_type_is_generic_parameter(ty: ClassP) -> Bool { Bool::from(ty.is_some_and(|t| t.is_generic_param())) }
    fn mono_type_get_class(ty: ClassP) -> ClassP {
        let t = behind(ty?);
        matches!(element_type(t), 0x11 | 0x12 | 0x0e | 0x1c | 0x15).then_some(t)
    }
    fn mono_type_get_ptr_type(ty: ClassP) -> ClassP { ty?.element() }
    fn mono_type_get_signature(ty: ClassP) -> SigP {
        match &ty?.kind { ClassKind::FnPtr(sig) => Some(*sig), _ => None }
    }
    fn mono_type_get_modifiers(_ty: ClassP, _required: *mut Bool, _iter: *mut *mut c_void) -> ClassP { None }
    fn mono_type_get_underlying_type(ty: ClassP) -> ClassP {
        let t = ty?;
        if t.is_enum().unwrap_or(false) { found(t.enum_underlying()).or(ty) } else { ty }
    }
    fn mono_type_size(ty: ClassP, align: *mut c_int) -> c_int {
        let (size, alignment) = ty.map_or((0, 1), |t| if t.is_byref() { (8, 8) } else { slot_size(t) });
        set(align, alignment as c_int);
        size
    }
    fn mono_type_stack_size(ty: ClassP, align: *mut c_int) -> c_int {
        let size = ty.map_or(0, |t| if t.is_byref() { 8 } else { slot_size(t).0 });
        set(align, 8);
        (size + 7) & !7
    }
    fn mono_type_generic_inst_is_valuetype(ty: ClassP) -> Bool { Bool::from(ty.is_some_and(|t| t.is_value_type().unwrap_or(false))) }
    fn mono_metadata_type_equal(a: ClassP, b: ClassP) -> Bool { Bool::from(a == b) }
    fn mono_metadata_type_hash(ty: ClassP) -> u32 { ty.map_or(0, |t| t.id) }
    fn mono_metadata_free_type(_ty: ClassP) {}

    fn mono_method_signature(method: MethodP) -> SigP { method?.sig().ok() }
    fn mono_method_get_signature(method: MethodP, _image: *const c_void, _token: u32) -> SigP { method?.sig().ok() }
    fn mono_method_get_signature_full(method: MethodP, _image: *const c_void, _token: u32, _context: *const c_void) -> SigP { method?.sig().ok() }
    fn mono_signature_get_return_type(sig: SigP) -> ClassP { sig.map(|s| s.ret) }
    fn mono_signature_get_params(sig: SigP, iter: *mut *mut c_void) -> ClassP { next(&sig?.params, iter) }
    fn mono_signature_get_param_count(sig: SigP) -> u32 { sig.map_or(0, |s| s.params.len() as u32) }
    fn mono_signature_get_call_conv(sig: SigP) -> u32 { sig.map_or(0, |s| s.call_conv as u32) }
    fn mono_signature_vararg_start(sig: SigP) -> c_int { sig.and_then(|s| s.sentinel).map_or(-1, |n| n as c_int) }
    fn mono_signature_is_instance(sig: SigP) -> Bool { Bool::from(sig.is_some_and(|s| s.has_this)) }
    fn mono_signature_explicit_this(sig: SigP) -> Bool { Bool::from(sig.is_some_and(|s| s.explicit_this)) }
    fn mono_signature_param_is_out(_sig: SigP, _param: c_int) -> Bool { 0 }
    fn mono_signature_hash(sig: SigP) -> u32 { sig.map_or(0, |s| s.params.iter().fold(s.ret.id, |h, p| h.wrapping_mul(31).wrapping_add(p.id))) }
    fn mono_signature_get_desc(sig: SigP, namespace: Bool) -> *mut c_char {
        let Some(sig) = sig else { return std::ptr::null_mut() };
        new_text(&crate::describe::params_text(sig, namespace != 0))
    }
    fn mono_metadata_signature_equal(a: SigP, b: SigP) -> Bool {
        let (Some(a), Some(b)) = (a, b) else { return 0 };
        Bool::from(a.has_this == b.has_this && a.ret == b.ret && a.params == b.params && a.generic_arity == b.generic_arity)
    }
    fn mono_metadata_signature_dup(sig: SigP) -> SigP { sig }
    fn mono_metadata_free_method_signature(_sig: SigP) {}
}
