//! Native half of System.Reflection.RuntimeModule, with the resolution of tokens.
//!
//! Keeps nothing. The arrays of type arguments that tokens are resolved with are leaked: contexts live for ever.
use crate::support::handles;
use crate::support::objects::{classes_of_handles, field_object, is_known, load, method_object};
use crate::system::reflection::assembly;
use vervet_metadata::{Table, Token};
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::icalls;
use vervet_runtime::object::ObjRef;
use vervet_types::{GenericContext, Known, LoadError, MethodRef, Module, ModuleRef, Scope};

const OUT_OF_RANGE: i32 = 0;
const BAD_TABLE: i32 = 1;
const OTHER: i32 = 2;

/// The scope that the argument arrays of a Resolve call make.
fn scope<'cx>(
    cx: &'cx Cx<'cx>,
    module: ModuleRef,
    type_args: ObjRef<'cx>,
    method_args: ObjRef<'cx>,
) -> Result<Scope> {
    if module.image.grows().is_some() {
        // Builders are resolved as they were defined, whatever the arguments.
        let context = GenericContext::default();
        return Ok(Scope {
            module,
            context,
            dynamic: None,
        });
    }
    let list = |handles: ObjRef<'cx>| -> Result<&'static [vervet_types::ClassRef]> {
        // Contexts live for ever; token resolution with arguments is rare enough to leak them.
        Ok(classes_of_handles(cx, handles)?.map_or(&[], |v| &*v.leak()))
    };
    Ok(Scope {
        module,
        context: GenericContext {
            class_args: list(type_args)?,
            method_args: list(method_args)?,
        },
        dynamic: None,
    })
}

/// Is it a token of one of the tables, with a row or the token of a grafted method?
fn check(module: ModuleRef, token: Token, tables: &[Table]) -> std::result::Result<(), i32> {
    if let Some(growing) = module.image.grows() {
        // Of a module that a program defines there is what has been created, and no range.
        let (is_type, rid) = (token.is(Table::TypeDef), token.rid());
        let is_there = token
            .table()
            .is_some_and(|t| tables.contains(&t) && growing.has_row(t, rid));
        return match is_there && (!is_type || module.image.is_complete(rid)) {
            true => Ok(()),
            false => Err(BAD_TABLE),
        };
    }
    match token.table() {
        Some(t) if tables.contains(&t) => {
            let grafted = t == Table::MethodDef
                && module
                    .grafted_method(token.rid())
                    .is_ok_and(|m| m.is_some());
            if token.rid() == 0 || token.rid() > module.image.row_count(t) && !grafted {
                Err(OUT_OF_RANGE)
            } else {
                Ok(())
            }
        }
        _ => Err(BAD_TABLE),
    }
}

/// The handle a token resolves to, or 0 with the reason.
fn resolved<'cx, T: 'static>(
    cx: &'cx Cx<'cx>,
    module: ModuleRef,
    token: Token,
    tables: &[Table],
    error: *mut i32,
    resolve: impl FnMut() -> std::result::Result<&'static T, LoadError>,
) -> Result<usize> {
    let set = |e: i32| {
        // SAFETY: managed code passes the address of an int.
        unsafe { error.write(e) }
    };
    set(OTHER);
    if let Err(e) = check(module, token, tables) {
        set(e);
        return Ok(0);
    }
    Ok(load(cx, resolve)? as *const T as usize)
}

const TYPES: &[Table] = &[Table::TypeDef, Table::TypeRef, Table::TypeSpec];
const METHODS: &[Table] = &[Table::MethodDef, Table::MemberRef, Table::MethodSpec];
const FIELDS: &[Table] = &[Table::Field, Table::MemberRef];

/// The method of a token: of a row, or grafted onto a type of the module ([`vervet_types::grafts`]).
fn method_of_token(scope: &Scope, token: Token) -> std::result::Result<MethodRef, LoadError> {
    if token.is(Table::MethodDef)
        && let Some(method) = scope.module.grafted_method(token.rid())?
    {
        return Ok(method);
    }
    scope.method(token)
}

/// Is a MemberRef row of a field?
fn is_field_ref(module: ModuleRef, token: Token) -> bool {
    let image = &module.image;
    token.is(Table::MemberRef)
        && image
            .member_ref(token.rid())
            .and_then(|r| image.blob(r.signature))
            .is_ok_and(|b| b.first() == Some(&6))
}

icalls! {
    /// The Module row's token.
    "System.Reflection.RuntimeModule::get_MetadataToken" fn get_metadata_token(cx, module: ObjRef<'cx>) -> i32 {
        // A ModuleBuilder has none.
        let is_runtime = module.non_null().is_some_and(|m| is_known(m.class(), Known::RuntimeModule));
        Ok(is_runtime.into())
    }
    /// Version of the metadata root.
    "System.Reflection.RuntimeModule::GetMDStreamVersion" fn get_md_stream_version(cx, module: usize) -> i32 { Ok(0x10001) }
    /// All types.
    "System.Reflection.RuntimeModule::InternalGetTypes" fn internal_get_types(cx, module: Handle<Module>) -> ObjRef<'cx> {
        match module.get() {
            Some(_) => assembly::types_of(cx, &[handles::module(cx, module)?], false),
            // A file without metadata.
            None => assembly::types_of(cx, &[], false),
        }
    }
    /// There are no such handles here.
    "System.Reflection.RuntimeModule::GetHINSTANCE" fn get_hinstance(cx, module: usize) -> isize { Ok(-1) }
    /// The module's version id.
    "System.Reflection.RuntimeModule::GetGuidInternal" fn get_guid_internal(cx, module: Handle<Module>, guid: ObjRef<'cx>) {
        let mvid = handles::module(cx, module)?.image.mvid().map_err(|e| crate::system::reflection::method_body::bad_image(cx, e))?;
        let bytes = cx.non_null(guid)?.elements::<u8>();
        let n = bytes.len().min(16);
        bytes[..n].copy_from_slice(&mvid[..n]);
        Ok(())
    }
    /// `<Module>`.
    "System.Reflection.RuntimeModule::GetGlobalType" fn get_global_type(cx, module: Handle<Module>) -> ObjRef<'cx> {
        let module = handles::module(cx, module)?;
        let class = load(cx, || module.type_def(1))?;
        cx.type_object(class)
    }
    /// The type handle of a token.
    "System.Reflection.RuntimeModule::ResolveTypeToken" fn resolve_type_token(cx, module: Handle<Module>, token: u32, type_args: ObjRef<'cx>, method_args: ObjRef<'cx>, error: *mut i32) -> usize {
        let module = handles::module(cx, module)?;
        let scope = scope(cx, module, type_args, method_args)?;
        resolved(cx, module, Token(token), TYPES, error, || scope.type_(Token(token)))
    }
    /// The method handle of a token.
    "System.Reflection.RuntimeModule::ResolveMethodToken" fn resolve_method_token(cx, module: Handle<Module>, token: u32, type_args: ObjRef<'cx>, method_args: ObjRef<'cx>, error: *mut i32) -> usize {
        let module = handles::module(cx, module)?;
        let scope = scope(cx, module, type_args, method_args)?;
        if is_field_ref(module, Token(token)) {
            // SAFETY: managed code passes the address of an int.
            unsafe { error.write(BAD_TABLE) };
            return Ok(0);
        }
        resolved(cx, module, Token(token), METHODS, error, || method_of_token(&scope, Token(token)))
    }
    /// The field handle of a token.
    "System.Reflection.RuntimeModule::ResolveFieldToken" fn resolve_field_token(cx, module: Handle<Module>, token: u32, type_args: ObjRef<'cx>, method_args: ObjRef<'cx>, error: *mut i32) -> usize {
        let module = handles::module(cx, module)?;
        let scope = scope(cx, module, type_args, method_args)?;
        if Token(token).is(Table::MemberRef) && !is_field_ref(module, Token(token)) {
            // SAFETY: managed code passes the address of an int.
            unsafe { error.write(BAD_TABLE) };
            return Ok(0);
        }
        resolved(cx, module, Token(token), FIELDS, error, || scope.field(Token(token)))
    }
    /// The text of a user-string token.
    "System.Reflection.RuntimeModule::ResolveStringToken" fn resolve_string_token(cx, module: Handle<Module>, token: u32, error: *mut i32) -> ObjRef<'cx> {
        let module = handles::module(cx, module)?;
        let found = if Token(token).table_byte() == Token::USER_STRING { module.image.user_string(token).map_err(|_| if module.image.grows().is_some() { BAD_TABLE } else { OUT_OF_RANGE }) } else { Err(BAD_TABLE) };
        match found {
            Ok(s) => cx.intern(&s.units().collect::<Vec<_>>()),
            Err(e) => {
                // SAFETY: managed code passes the address of an int.
                unsafe { error.write(e) };
                Ok(ObjRef::NULL)
            }
        }
    }
    /// The member of a token, or null.
    "System.Reflection.RuntimeModule::ResolveMemberToken" fn resolve_member_token(cx, module: Handle<Module>, token: u32, type_args: ObjRef<'cx>, method_args: ObjRef<'cx>, error: *mut i32) -> ObjRef<'cx> {
        let module = handles::module(cx, module)?;
        let scope = scope(cx, module, type_args, method_args)?;
        let token = Token(token);
        let fails = |e: i32| {
            // SAFETY: managed code passes the address of an int.
            unsafe { error.write(e) };
            Ok(ObjRef::NULL)
        };
        if let Err(e) = check(module, token, &[TYPES, METHODS, FIELDS].concat()) {
            return fails(e);
        }
        match token.table() {
            Some(t) if TYPES.contains(&t) => {
                let class = load(cx, || scope.type_(token))?;
                cx.type_object(class)
            }
            Some(Table::Field) => {
                let f = load(cx, || scope.field(token))?;
                field_object(cx, f, f.class)
            }
            Some(_) if is_field_ref(module, token) => {
                let f = load(cx, || scope.field(token))?;
                field_object(cx, f, f.class)
            }
            Some(_) => {
                let m = load(cx, || method_of_token(&scope, token))?;
                method_object(cx, m, None)
            }
            None => fails(BAD_TABLE),
        }
    }
    /// The blob of a StandAloneSig.
    "System.Reflection.RuntimeModule::ResolveSignature" fn resolve_signature(cx, module: Handle<Module>, token: u32, error: *mut i32) -> ObjRef<'cx> {
        let module = handles::module(cx, module)?;
        let token = Token(token);
        if let Err(e) = check(module, token, &[Table::StandAloneSig]) {
            // SAFETY: managed code passes the address of an int.
            unsafe { error.write(e) };
            return Ok(ObjRef::NULL);
        }
        let image = &module.image;
        let blob = image.stand_alone_sig(token.rid()).and_then(|r| image.blob(r.signature)).map_err(|e| crate::system::reflection::method_body::bad_image(cx, e))?;
        let bytes = cx.alloc_array(cx.known(Known::Byte), blob.len())?;
        bytes.elements::<u8>().copy_from_slice(blob);
        Ok(bytes)
    }
    /// PortableExecutableKinds and ImageFileMachine.
    "System.Reflection.RuntimeModule::GetPEKind" fn get_pe_kind(cx, module: Handle<Module>, kind: *mut i32, machine: *mut i32) {
        const IL_ONLY: u32 = 1;
        const REQUIRED_32_BIT: u32 = 2;
        let image = &handles::module(cx, module)?.image;
        let info = image.pe_info();
        let mut k = 0;
        if image.cli_flags() & IL_ONLY != 0 {
            k |= 1;
        }
        if image.cli_flags() & REQUIRED_32_BIT != 0 {
            k |= 2;
        }
        if info.pe32_plus {
            k |= 4;
        }
        // SAFETY: managed code passes the addresses of two ints.
        unsafe {
            kind.write(k);
            machine.write(info.machine as i32);
        }
        Ok(())
    }
}
