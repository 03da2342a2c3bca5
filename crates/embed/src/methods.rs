//! Methods: what they are, and where their code is.
use crate::support::{Bool, ClassP, FieldP, ImageP, MethodP, new_text, set, text};
use std::ffi::{c_char, c_int, c_void};
use vervet_metadata::Table;
use vervet_runtime::code::{entries, first_call, icall};
use vervet_runtime::domain::Domain;
use vervet_types::{GenericContext, Module, Scope, Token};

/// The scope of a module's tokens.
fn scope(module: &'static Module) -> Scope {
    Scope {
        module,
        context: GenericContext::default(),
        dynamic: None,
    }
}

query_api! {
    fn mono_get_method(image: ImageP, token: u32, _class: ClassP) -> MethodP { scope(image?).method(Token(token)).ok() }
    fn mono_get_method_full(image: ImageP, token: u32, _class: ClassP, _context: *const c_void) -> MethodP { scope(image?).method(Token(token)).ok() }
    fn mono_get_method_constrained(image: ImageP, token: u32, _class: ClassP, _context: *const c_void, cil: *mut MethodP) -> MethodP {
        let method = scope(image?).method(Token(token)).ok();
        set(cil, method);
        method
    }
    fn mono_free_method(_method: MethodP) {}
    fn mono_method_get_name(method: MethodP) -> *const c_char { method.map_or(std::ptr::null(), |m| text(m.name)) }
    fn mono_method_get_class(method: MethodP) -> ClassP { method.map(|m| m.class) }
    fn mono_method_get_token(method: MethodP) -> u32 { method.map_or(0, |m| if m.rid == 0 { 0 } else { m.token().0 }) }
    fn mono_method_get_flags(method: MethodP, iflags: *mut u32) -> u32 {
        set(iflags, method.map_or(0, |m| m.impl_flags));
        method.map_or(0, |m| m.flags)
    }
    /// The row of the method, from 1.
    fn mono_method_get_index(method: MethodP) -> u32 { method.map_or(0, |m| m.rid) }
    fn mono_method_get_param_names(method: MethodP, names: *mut *const c_char) {
        let Some(method) = method else { return };
        let known = method.param_names().unwrap_or_default();
        for i in 0..method.sig().map_or(0, |s| s.params.len()) {
            names.add(i).write(text(known.get(i).copied().unwrap_or("")));
        }
    }
    fn mono_method_get_param_token(method: MethodP, index: c_int) -> u32 {
        let Some(method) = method else { return 0 };
        let image = &method.module().image;
        // The rows follow one another from the first, as the table says.
        match image.tables().raw_cell(Table::MethodDef, method.rid, 5) {
            Some(first) if index >= 0 => Token::new(Table::Param, first + index as u32).0,
            _ => 0,
        }
    }
    fn mono_method_has_marshal_info(method: MethodP) -> Bool {
        let Some(method) = method else { return 0 };
        let image = &method.module().image;
        Bool::from(image.method_params(method.rid).any(|rid| image.field_marshal_of(Token::new(Table::Param, rid)).is_some()))
    }
    fn mono_method_get_marshal_info(method: MethodP, specs: *mut *mut c_void) {
        for i in 0..=method.and_then(|m| m.sig().ok()).map_or(0, |s| s.params.len()) {
            specs.add(i).write(std::ptr::null_mut());
        }
    }
    fn mono_class_inflate_generic_method(method: MethodP, _context: *const c_void) -> MethodP { method }
    fn mono_get_inflated_method(method: MethodP) -> MethodP { method }
    fn mono_lookup_internal_call(method: MethodP) -> *const c_void {
        method.and_then(|m| icall::find(&vervet_runtime::rt().icalls, m)).map_or(std::ptr::null(), |c| c as *const c_void)
    }
    fn mono_lookup_icall_symbol(_method: MethodP) -> *const c_char { std::ptr::null() }
    fn mono_method_get_last_managed() -> MethodP { None }
    fn mono_jit_info_table_find(_domain: *const Domain, address: usize) -> *const c_void {
        vervet_runtime::code::table::find(address).map_or(std::ptr::null(), |c| std::ptr::from_ref(c).cast())
    }
    fn mono_jit_info_get_code_start(info: *const vervet_runtime::code::table::Code) -> *const c_void { (*info).start as *const c_void }
    fn mono_jit_info_get_code_size(info: *const vervet_runtime::code::table::Code) -> c_int { ((*info).end - (*info).start) as c_int }
    fn mono_jit_info_get_method(info: *const vervet_runtime::code::table::Code) -> MethodP { (*info).method() }
    /// `Namespace.Class.Method(int,string)`.
    fn mono_method_get_reflection_name(method: MethodP) -> *mut c_char {
        method.map_or(std::ptr::null_mut(), |m| new_text(&crate::describe::full_name(m, true).replacen(':', ".", 1).replacen(" (", "(", 1)))
    }
    fn mono_method_verify(_method: MethodP, _level: c_int) -> *const c_void { std::ptr::null() }
    fn mono_free_verify_list(_list: *const c_void) {}
    fn mono_verify_corlib() -> *const c_char { std::ptr::null() }
    fn mono_verifier_set_mode(_mode: c_int) {}
    fn mono_debugger_method_has_breakpoint(_method: MethodP) -> c_int { 0 }
    fn mono_field_from_token(image: ImageP, token: u32, class: *mut ClassP, _context: *const c_void) -> FieldP {
        let field = scope(image?).field(Token(token)).ok()?;
        set(class, Some(field.class));
        Some(field)
    }
}

object_api! {
    /// The address of the compiled code.
    fn mono_compile_method(cx; method: MethodP) -> *const c_void {
        let Some(method) = method else { return std::ptr::null() };
        let code = cx
            .load(entries::entry(cx.domain(), method))
            .and_then(|entry| first_call::code_of(cx, entry));
        match code {
            Ok(code) => code as *const c_void,
            Err(throw) => {
                let _ = cx.take_pending(throw);
                std::ptr::null()
            }
        }
    }
    fn mono_lookup_pinvoke_call(cx; method: MethodP, class: *mut *const c_char, argument: *mut *const c_char) -> *const c_void {
        let Some(method) = method else { return std::ptr::null() };
        match vervet_runtime::interop::pinvoke::bind_method(cx, method) {
            Ok(address) => address as *const c_void,
            Err(throw) => {
                let exception = cx.take_pending(throw);
                set(class, text(exception.class().name));
                // The library if that is not found, else the function.
                let import = crate::support::found(method.dll_import()).filter(|_| exception.class().name == "DllNotFoundException");
                set(argument, text(import.map_or(method.name, |i| i.dll)));
                std::ptr::null()
            }
        }
    }
}
