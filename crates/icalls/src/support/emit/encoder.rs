//! Tokens: what builders and the runtime's own types and members are called in a module that grows.
//!
//! # How it works
//! | what | its token |
//! |---|---|
//! | a type of the same module, created or not | TypeDef; a generic one within its own code: TypeSpec of itself with its own parameters |
//! | a type of another module | TypeRef, with the row of its assembly; TypeSpec if it is constructed |
//! | a MethodBuilder or ConstructorBuilder of the same module | MethodDef: the builder has had the row number from the start |
//! | a FieldBuilder of the same module | Field: the number is given out at the first mention, and kept in `handle` until the field exists |
//! | a member of any other type, or of an instantiation | MemberRef on the type's token |
//! | an instantiation of a generic method | MethodSpec |
//!
//! A builder of a type may be mentioned before it is created. Then the type is *named*: it gets a TypeDef row that is not complete, with its
//! generic parameters and its place in the type around it, so that signatures may contain it ([`vervet_types::growing`]).
//!
//! # Invariants
//! * There is one encoder in the process, behind a lock that is held while something is encoded. So a type is named once, and equal things
//!   get equal tokens. No managed code runs under it, and nothing is allocated on the managed heap.
//! * Rows are published one by one, and readers take no part in the lock: a row that another refers to is put first.
use crate::support::emit::error::{E, EmitError};
use crate::support::emit::handles::{MAX_ROW, method_row, runtime_field, runtime_method};
use crate::support::emit::types::{self, TypeKind};
use crate::support::emit::{modules, read};
use crate::support::objects::is_known;
use rustc_hash::FxHashMap;
use std::mem::offset_of;
use vervet_abi::layouts::*;
use vervet_metadata::{Coded, Growing, Table, Token};
use vervet_os::SafeLock;
use vervet_runtime::code::icall::Handle;
use vervet_runtime::cx::{Cx, Result};
use vervet_runtime::loader::BUILDER_KIND;
use vervet_runtime::object::ObjRef;
use vervet_types::{
    Assembly, ClassKind, ClassRef, Field, FieldRef, Known, MethodRef, Module, ModuleRef,
    TokenTarget,
};

/// What has a token in one module.
#[derive(Default)]
struct Tokens {
    assemblies: FxHashMap<usize, Token>,
    modules: FxHashMap<usize, Token>,
    /// TypeRefs, by class.
    types: FxHashMap<u32, Token>,
    /// TypeSpecs, by signature.
    specs: FxHashMap<Vec<u8>, Token>,
    /// MemberRefs, by parent, name and signature, and what they are known to mean: overloads may differ by modifiers only, which the signatures of
    /// the runtime's own members do not have here.
    members: FxHashMap<(Token, String, Vec<u8>, Option<TokenTarget>), Token>,
    /// MethodSpecs, by method and signature.
    method_specs: FxHashMap<(Token, Vec<u8>), Token>,
    /// StandAloneSigs, by signature.
    signatures: FxHashMap<Vec<u8>, Token>,
    /// Rows of PropertyMap and EventMap, by table and type.
    maps: FxHashMap<(u8, u32), u32>,
    /// ModuleRefs of native libraries, by name.
    libraries: FxHashMap<u32, u32>,
}

/// A row that is put once everything has been encoded. `rid` 0: the next number.
struct Later {
    growing: &'static Growing,
    table: Table,
    rid: u32,
    cells: smallvec::SmallVec<[u32; 6]>,
    owner: u32,
}

/// See the module.
#[derive(Default)]
pub struct Encoder {
    modules: FxHashMap<u32, Tokens>,
    /// How deep in a type what is being encoded lies.
    depth: u32,
    later: Vec<Later>,
}

/// The deepest that types may be constructed of types, or lie in types; the type system accepts no deeper ones.
const DEEPEST: u32 = vervet_types::MAX_DEPTH;

static ENCODER: SafeLock<Option<Encoder>> = SafeLock::new(None);

/// Encodes under the lock. What is missing is asked for, as the type system does, with the lock given back, and `work` is done again.
pub fn encode<'cx, T>(cx: &'cx Cx<'cx>, mut work: impl FnMut(&mut Encoder) -> E<T>) -> Result<T> {
    loop {
        let answer = work(ENCODER.lock().get_or_insert_default());
        match answer {
            Err(EmitError::Load(vervet_types::LoadError::Need(need))) => {
                cx.supply(&need)?;
            }
            answer => return answer.map_err(|e| e.throw(cx)),
        }
    }
}

/// An unsigned number as signatures have it (II.23.2).
pub fn compressed(out: &mut Vec<u8>, n: u32) {
    match n {
        0..0x80 => out.push(n as u8),
        0x80..0x4000 => out.extend((n as u16 | 0x8000).to_be_bytes()),
        _ => out.extend((n | 0xC000_0000).to_be_bytes()),
    }
}

/// A TypeDefOrRef token as signatures have it.
pub(super) fn compressed_token(out: &mut Vec<u8>, token: Token) -> E<()> {
    let raw = Coded::TypeDefOrRef
        .encode(token)
        .ok_or_else(|| EmitError::not_supported("a token that is no type"))?;
    compressed(out, raw);
    Ok(())
}

/// The coded cell of a token.
pub fn coded(kind: Coded, token: Token) -> E<u32> {
    if token.is_nil() {
        return Ok(0);
    }
    kind.encode(token)
        .ok_or_else(|| EmitError::not_supported("a token of a wrong table"))
}

/// The module of a ModuleBuilder.
pub fn module_of(builder: ObjRef<'_>) -> E<ModuleRef> {
    let word = builder.read(offset_of!(ModuleBuilderObject, handle));
    // SAFETY: `basic_init` stored the address of the module, which lives for ever; the field is 0 before.
    let module: Handle<Module> = unsafe { Handle::from_word(word) };
    module
        .get()
        .ok_or_else(|| EmitError::not_supported("a module that was not initialized"))
}
/// The module of a TypeBuilder.
pub fn module_of_type(builder: ObjRef<'_>) -> E<ModuleRef> {
    module_of(non_null(
        builder.read_ref(offset_of!(TypeBuilderObject, pmodule)),
    )?)
}
/// The object, if it is one.
pub fn non_null(object: ObjRef<'_>) -> E<ObjRef<'_>> {
    object
        .non_null()
        .ok_or_else(|| EmitError::Throw(Known::NullReferenceException, String::new()))
}

impl Encoder {
    fn tokens(&mut self, module: ModuleRef) -> &mut Tokens {
        self.modules.entry(module.id).or_default()
    }

    // ---- rows that wait ----------------------------------------------------------------------------------------

    /// Has a row put by [`Encoder::put_later`]; `rid` 0: with the next number.
    pub(super) fn later(
        &mut self,
        growing: &'static Growing,
        table: Table,
        rid: u32,
        cells: &[u32],
        owner: u32,
    ) {
        self.later.push(Later {
            growing,
            table,
            rid,
            cells: cells.into(),
            owner,
        });
    }
    /// Drops what an attempt has left that was given up.
    pub(super) fn forget_later(&mut self) {
        self.later.clear();
    }
    /// Puts the rows that wait.
    pub(super) fn put_later(&mut self) -> E<()> {
        for row in std::mem::take(&mut self.later) {
            let rid = match row.rid {
                0 => row.growing.reserve_row(row.table)?,
                rid => rid,
            };
            row.growing.put_row(row.table, rid, &row.cells, row.owner)?;
        }
        Ok(())
    }
    /// The number of the PropertyMap or EventMap row of a type.
    pub(super) fn map_row(&mut self, module: ModuleRef, table: Table, ty: u32) -> E<u32> {
        let growing = module.growing()?;
        if let Some(rid) = self.tokens(module).maps.get(&(table as u8, ty)) {
            return Ok(*rid);
        }
        let rid = growing.add_row(table, &[ty, 0], 0)?;
        self.tokens(module).maps.insert((table as u8, ty), rid);
        Ok(rid)
    }
    /// The ModuleRef of a native library, whose name is the string of that index.
    pub(super) fn library_row(&mut self, module: ModuleRef, name: u32) -> E<u32> {
        let growing = module.growing()?;
        if let Some(rid) = self.tokens(module).libraries.get(&name) {
            return Ok(*rid);
        }
        let rid = growing.add_row(Table::ModuleRef, &[name], 0)?;
        self.tokens(module).libraries.insert(name, rid);
        Ok(rid)
    }

    // ---- types -----------------------------------------------------------------------------------------------

    /// The token of the assembly or module that a class of another module is looked for in.
    pub(super) fn scope(&mut self, module: ModuleRef, of: ModuleRef) -> E<Token> {
        let assembly = of
            .assembly()
            .ok_or_else(|| EmitError::not_supported("a module without an assembly"))?;
        if module.assembly() == Some(assembly) {
            let key = of as *const Module as usize;
            if let Some(token) = self.tokens(module).modules.get(&key) {
                return Ok(*token);
            }
            let growing = module.growing()?;
            let name = growing.add_string(modules::file_name(of).as_bytes())?;
            let rid = growing.add_row(Table::ModuleRef, &[name], 0)?;
            let token = Token::new(Table::ModuleRef, rid);
            self.tokens(module).modules.insert(key, token);
            return Ok(token);
        }
        let key = assembly as *const Assembly as usize;
        if let Some(token) = self.tokens(module).assemblies.get(&key) {
            return Ok(*token);
        }
        let token = module.add_assembly_ref(assembly)?;
        self.tokens(module).assemblies.insert(key, token);
        Ok(token)
    }
    /// The TypeDef or TypeRef of a definition.
    pub fn definition(&mut self, module: ModuleRef, class: ClassRef) -> E<Token> {
        if class.module == module {
            return Ok(class.token());
        }
        if let Some(token) = self.tokens(module).types.get(&class.id) {
            return Ok(*token);
        }
        let scope = match class.declaring_type()? {
            Some(outer) => self.definition(module, outer)?,
            None => self.scope(module, class.module)?,
        };
        let token = module.add_type_ref(class, scope)?;
        self.tokens(module).types.insert(class.id, token);
        Ok(token)
    }
    /// The token of a class. `open` says that a generic definition means itself with its own parameters, as in its own code.
    pub fn class(&mut self, module: ModuleRef, class: ClassRef, open: bool) -> E<Token> {
        if matches!(class.kind, ClassKind::Def { .. }) && !(open && class.is_generic_def()) {
            return self.definition(module, class);
        }
        let mut signature = Vec::new();
        if class.is_generic_def() {
            self.own_signature(module, &mut signature, class)?;
        } else {
            self.class_signature(module, &mut signature, class)?;
        }
        self.spec(module, signature)
    }
    /// The TypeSpec of a signature.
    fn spec(&mut self, module: ModuleRef, signature: Vec<u8>) -> E<Token> {
        if let Some(token) = self.tokens(module).specs.get(&signature) {
            return Ok(*token);
        }
        let token = module.add_type_spec(&signature)?;
        self.tokens(module).specs.insert(signature, token);
        Ok(token)
    }
    /// The token of what a Type object stands for.
    pub fn type_token(&mut self, module: ModuleRef, ty: ObjRef<'_>, open: bool) -> E<Token> {
        match types::kind(ty)? {
            TypeKind::Class(class) => self.class(module, class, open),
            TypeKind::Builder(builder) if !(open && types::generic_arity(builder) > 0) => {
                self.builder(module, builder)
            }
            _ => {
                let mut signature = Vec::new();
                self.type_signature(module, &mut signature, ty)?;
                self.spec(module, signature)
            }
        }
    }
    /// The TypeDef or TypeRef of a TypeBuilder that has not been created.
    pub(super) fn builder(&mut self, module: ModuleRef, builder: ObjRef<'_>) -> E<Token> {
        let own = module_of_type(builder)?;
        let token = self.name(builder)?;
        if own == module {
            return Ok(token);
        }
        self.definition(module, own.type_def(token.rid())?)
    }
    /// The class of a TypeBuilder, which gets a name if it has none.
    pub fn named_class(&mut self, builder: ObjRef<'_>) -> E<ClassRef> {
        match types::kind(builder)? {
            TypeKind::Class(class) => Ok(class),
            _ => {
                let token = self.name(builder)?;
                Ok(module_of_type(builder)?.type_def(token.rid())?)
            }
        }
    }
    /// Names the type of a TypeBuilder, unless it has a row already. Its TypeDef token.
    pub fn name(&mut self, builder: ObjRef<'_>) -> E<Token> {
        let module = module_of_type(builder)?;
        let rid: u32 = builder.read(offset_of!(TypeBuilderObject, table_idx));
        let token = Token::new(Table::TypeDef, rid);
        let growing = module.growing()?;
        let has_row = growing.has_row(Table::TypeDef, rid);
        // The row of `<Module>` has been there from the start.
        if !has_row || rid == 1 {
            let key = (BUILDER_KIND, module as *const Module as usize, rid as usize);
            Cx::current().domain().cache(key, builder);
        }
        if has_row {
            return Ok(token);
        }
        let outer = builder.read_ref(offset_of!(TypeBuilderObject, nesting_type));
        let outer = match types::kind_or_none(outer)? {
            Some(TypeKind::Builder(outer)) => self.deeper(|e| e.name(outer))?.rid(),
            Some(TypeKind::Class(class)) => class.rid(),
            _ => 0,
        };
        let cells = self.first_cells(module, builder)?;
        // The class is made once, by whoever finds the row: what decides of which kind it is lies before it. From here on nothing asks for a type.
        if outer != 0 {
            growing.add_row(Table::NestedClass, &[rid, outer], 0)?;
        }
        let params = builder.read_ref(offset_of!(TypeBuilderObject, generic_params));
        self.generic_params(growing, token, params)?;
        growing.put_row(Table::TypeDef, rid, &cells, 0)?;
        // A parent may mention this type (`class C : I<C>`).
        self.type_row(module, builder, 0)?;
        Ok(token)
    }
    /// The first TypeDef row of a builder: its name, its flags, and its parent if that decides of which kind the type is.
    fn first_cells(&mut self, module: ModuleRef, builder: ObjRef<'_>) -> E<[u32; 6]> {
        let growing = module.growing()?;
        let flags: u32 = builder.read(offset_of!(TypeBuilderObject, attrs));
        let parent = builder.read_ref(offset_of!(TypeBuilderObject, parent));
        let simple = match types::kind_or_none(parent)? {
            Some(TypeKind::Class(class)) if !class.is_inst() => {
                coded(Coded::TypeDefOrRef, self.class(module, class, false)?)?
            }
            _ => 0,
        };
        let (name, space) = self.names_of(growing, builder)?;
        Ok([flags, name, space, simple, 0, 0])
    }
    /// The name and the namespace of a TypeBuilder, as indices of strings.
    fn names_of(&self, growing: &'static Growing, builder: ObjRef<'_>) -> E<(u32, u32)> {
        let text = |field| builder.read_ref(field).text();
        let name = text(offset_of!(TypeBuilderObject, tname));
        let space = text(offset_of!(TypeBuilderObject, nspace));
        Ok((
            growing.add_string(name.as_bytes())?,
            growing.add_string(space.as_bytes())?,
        ))
    }
    /// Puts the TypeDef row of a builder as it stands; `complete` is the row's owner cell.
    pub fn type_row(&mut self, module: ModuleRef, builder: ObjRef<'_>, complete: u32) -> E<()> {
        /// Interface.
        const INTERFACE: u32 = 0x20;
        let growing = module.growing()?;
        let rid: u32 = builder.read(offset_of!(TypeBuilderObject, table_idx));
        let flags: u32 = builder.read(offset_of!(TypeBuilderObject, attrs));
        let parent = builder.read_ref(offset_of!(TypeBuilderObject, parent));
        let (name, space) = self.names_of(growing, builder)?;
        let extends = match parent.non_null() {
            Some(parent) if flags & INTERFACE == 0 => {
                // A generic parent means itself where there are no parameters that could be its arguments.
                let open = types::generic_arity(builder) > 0;
                coded(Coded::TypeDefOrRef, self.type_token(module, parent, open)?)?
            }
            _ => 0,
        };
        let cells = [flags, name, space, extends, 0, 0];
        growing.put_row(Table::TypeDef, rid, &cells, 0)?;
        if complete != 0 {
            // Before anybody can see that it is complete.
            module.check_kind(rid)?;
            growing.put_row(Table::TypeDef, rid, &cells, complete)?;
        }
        Ok(())
    }
    /// Adds the rows of generic parameters, without their constraints.
    pub fn generic_params(
        &mut self,
        growing: &'static Growing,
        owner: Token,
        params: ObjRef<'_>,
    ) -> E<()> {
        let count = read::elements(params).count();
        if count > usize::from(u16::MAX) {
            return Err(EmitError::Throw(
                Known::TypeLoadException,
                format!("{count} generic parameters"),
            ));
        }
        for param in read::elements(params) {
            let param = non_null(param)?;
            let number: u32 = param.read(offset_of!(GenericTypeParameterBuilderObject, index));
            let flags: u32 = param.read(offset_of!(GenericTypeParameterBuilderObject, attrs));
            let name = param.read_ref(offset_of!(GenericTypeParameterBuilderObject, name));
            let cells = [
                number,
                flags,
                coded(Coded::TypeOrMethodDef, owner)?,
                growing.add_string(name.text().as_bytes())?,
            ];
            growing.add_row(Table::GenericParam, &cells, 0)?;
        }
        Ok(())
    }

    // ---- depth -----------------------------------------------------------------------------------------------

    /// Does something for a part of a type, or for the type around it. An error if there are too many.
    pub(super) fn deeper<T>(&mut self, work: impl FnOnce(&mut Encoder) -> E<T>) -> E<T> {
        if self.depth >= DEEPEST {
            let text = format!("a type is constructed of more than {DEEPEST} others");
            return Err(EmitError::Throw(Known::TypeLoadException, text));
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    // ---- members of the runtime's own types --------------------------------------------------------------------

    /// The MemberRef of that name and signature on a type.
    fn member(
        &mut self,
        module: ModuleRef,
        parent: Token,
        name: &str,
        signature: Vec<u8>,
        meant: Option<TokenTarget>,
    ) -> E<Token> {
        let key = (parent, name.to_owned(), signature, meant);
        if let Some(token) = self.tokens(module).members.get(&key) {
            return Ok(*token);
        }
        let token = module.add_member_ref(parent, name, &key.2, meant)?;
        self.tokens(module).members.insert(key, token);
        Ok(token)
    }
    /// The token of a method. `variable` is the `Type[]` of variable arguments at a call site, or null.
    pub fn method(
        &mut self,
        module: ModuleRef,
        method: MethodRef,
        open: bool,
        variable: ObjRef<'_>,
    ) -> E<Token> {
        if !method.method_args().is_empty() {
            let generic = self.method(module, method.generic_def(), open, ObjRef::NULL)?;
            let mut signature = vec![0x0A];
            compressed(&mut signature, method.method_args().len() as u32);
            for argument in method.method_args() {
                self.class_signature(module, &mut signature, argument)?;
            }
            return self.method_spec(module, generic, signature);
        }
        let own = method.class.module == module && method.module() == module;
        let plain = matches!(method.class.kind, ClassKind::Def { .. })
            && !method.class.is_generic_def()
            && variable.is_null();
        if own && plain && method.rid != 0 {
            return Ok(method.token());
        }
        let parent = self.class(module, method.class, open)?;
        let mut signature = Vec::new();
        let sig = if method.rid == 0 {
            method.sig()?
        } else {
            method.open_sig()?
        };
        self.method_signature(module, &mut signature, sig, variable)?;
        // Of a generic definition the member is looked up: what it is depends on what the type's token means where it is used.
        let meant = (!method.class.is_generic_def()).then_some(TokenTarget::Method(method));
        self.member(module, parent, method.name, signature, meant)
    }
    /// The MethodSpec of a method.
    fn method_spec(&mut self, module: ModuleRef, method: Token, signature: Vec<u8>) -> E<Token> {
        let key = (method, signature);
        if let Some(token) = self.tokens(module).method_specs.get(&key) {
            return Ok(*token);
        }
        let growing = module.growing()?;
        let cells = [
            coded(Coded::MethodDefOrRef, method)?,
            growing.add_blob(&key.1)?,
        ];
        let rid = growing.add_row(Table::MethodSpec, &cells, 0)?;
        let token = Token::new(Table::MethodSpec, rid);
        self.tokens(module).method_specs.insert(key, token);
        Ok(token)
    }
    /// The token of a field.
    pub fn field(&mut self, module: ModuleRef, field: FieldRef) -> E<Token> {
        let plain =
            matches!(field.class.kind, ClassKind::Def { .. }) && !field.class.is_generic_def();
        if field.class.module == module && plain {
            return Ok(Token::new(Table::Field, field.rid));
        }
        let parent = self.class(module, field.class, true)?;
        let mut signature = vec![0x06];
        self.class_signature(module, &mut signature, field.open_ty()?)?;
        let meant = (!field.class.is_generic_def()).then_some(TokenTarget::Field(field));
        self.member(module, parent, field.name, signature, meant)
    }
    /// The StandAloneSig of a signature.
    pub fn stand_alone(&mut self, module: ModuleRef, signature: Vec<u8>) -> E<Token> {
        if let Some(token) = self.tokens(module).signatures.get(&signature) {
            return Ok(*token);
        }
        let growing = module.growing()?;
        let cells = [growing.add_blob(&signature)?];
        let rid = growing.add_row(Table::StandAloneSig, &cells, 0)?;
        let token = Token::new(Table::StandAloneSig, rid);
        self.tokens(module).signatures.insert(signature, token);
        Ok(token)
    }

    // ---- members of builders -----------------------------------------------------------------------------------

    /// The token of a MethodBuilder or ConstructorBuilder. `open` says that a type that is generic means itself with its own parameters.
    pub fn method_builder(
        &mut self,
        module: ModuleRef,
        method: ObjRef<'_>,
        open: bool,
        variable: ObjRef<'_>,
    ) -> E<Token> {
        let is_method = is_known(method.class(), Known::MethodBuilder);
        let (ty, rid, name) = if is_method {
            (
                method.read_ref(offset_of!(MethodBuilderObject, ty)),
                method_row(method),
                method
                    .read_ref(offset_of!(MethodBuilderObject, name))
                    .text(),
            )
        } else {
            let attrs: u32 = method.read(offset_of!(ConstructorBuilderObject, attrs));
            (
                method.read_ref(offset_of!(ConstructorBuilderObject, ty)),
                method_row(method),
                constructor_name(attrs).to_owned(),
            )
        };
        let ty = non_null(ty)?;
        let own = module_of_type(ty)? == module && !(open && types::generic_arity(ty) > 0);
        if own && variable.is_null() {
            let owner = self.name(ty)?;
            let growing = module.growing()?;
            if !growing.has_row(Table::MethodDef, rid) {
                growing.promise(Table::MethodDef, rid, owner.rid());
            }
            return Ok(Token::new(Table::MethodDef, rid));
        }
        let parent = self.type_token(module, ty, open)?;
        let signature = self.builder_signature(module, method, variable)?;
        self.member(module, parent, &name, signature, None)
    }
    /// The row number of a FieldBuilder in its own module.
    pub fn field_row(&mut self, field: ObjRef<'_>) -> E<u32> {
        const HANDLE: usize = offset_of!(FieldBuilderObject, handle);
        let word: usize = field.read(HANDLE);
        if word > MAX_ROW {
            // SAFETY: a greater value is the address of the field, which `create_runtime_class` stored and which lives for ever.
            let made: Handle<Field> = unsafe { Handle::from_word(word) };
            return Ok(made.get().map_or(0, |f| f.rid));
        }
        if word != 0 {
            return Ok(word as u32);
        }
        let ty = non_null(field.read_ref(offset_of!(FieldBuilderObject, typeb)))?;
        let growing = module_of_type(ty)?.growing()?;
        let rid = growing.reserve_row(Table::Field)?;
        growing.promise(
            Table::Field,
            rid,
            ty.read(offset_of!(TypeBuilderObject, table_idx)),
        );
        field.write(HANDLE, rid as usize);
        Ok(rid)
    }
    /// The token of a FieldBuilder.
    pub fn field_builder(&mut self, module: ModuleRef, field: ObjRef<'_>, open: bool) -> E<Token> {
        let ty = non_null(field.read_ref(offset_of!(FieldBuilderObject, typeb)))?;
        if module_of_type(ty)? == module && !(open && types::generic_arity(ty) > 0) {
            self.name(ty)?;
            return Ok(Token::new(Table::Field, self.field_row(field)?));
        }
        let parent = self.type_token(module, ty, open)?;
        let signature = self.field_signature(module, field)?;
        let name = field.read_ref(offset_of!(FieldBuilderObject, name)).text();
        self.member(module, parent, &name, signature, None)
    }

    /// The token of what IL names. `open` says that a definition means itself with its own parameters; so do generic methods.
    pub fn code_token(&mut self, module: ModuleRef, object: ObjRef<'_>, open: bool) -> E<Token> {
        let token = self.token(module, object, open)?;
        let arity = if !open {
            0
        } else if is_known(object.class(), Known::MethodBuilder) {
            let params = object.read_ref(offset_of!(MethodBuilderObject, generic_params));
            read::elements(params).count() as u32
        } else if is_known(object.class(), Known::RuntimeMethodInfo) {
            let method = runtime_method(object)?;
            match method.method_args().is_empty() {
                true => method.generic_arity,
                false => 0,
            }
        } else {
            0
        };
        if arity == 0 {
            return Ok(token);
        }
        let mut signature = vec![0x0A];
        compressed(&mut signature, arity);
        for n in 0..arity {
            signature.push(0x1E);
            compressed(&mut signature, n);
        }
        self.method_spec(module, token, signature)
    }
    /// The token of whatever IL may name: a type, member or signature.
    pub fn token(&mut self, module: ModuleRef, object: ObjRef<'_>, open: bool) -> E<Token> {
        let object = non_null(object)?;
        let class = object.class();
        let is = |known| is_known(class, known);
        if is(Known::MethodBuilder) || is(Known::ConstructorBuilder) {
            self.method_builder(module, object, open, ObjRef::NULL)
        } else if is(Known::FieldBuilder) {
            self.field_builder(module, object, open)
        } else if is(Known::RuntimeMethodInfo) || is(Known::RuntimeConstructorInfo) {
            self.method(module, runtime_method(object)?, open, ObjRef::NULL)
        } else if is(Known::RuntimeFieldInfo) {
            self.field(module, runtime_field(object)?)
        } else if is(Known::SignatureHelper) {
            let signature = self.helper_signature(module, object)?;
            self.stand_alone(module, signature)
        } else if is(Known::MonoArrayMethod) {
            self.array_method(module, object)
        } else if is(Known::MethodOnTypeBuilderInst) {
            self.method_on_instance(module, object)
        } else if is(Known::ConstructorOnTypeBuilderInst) || is(Known::FieldOnTypeBuilderInst) {
            // Both have the instantiation and the member in the same places.
            let on = object.read_ref(offset_of!(MemberOnInstanceObject, instantiation));
            let of = object.read_ref(offset_of!(MemberOnInstanceObject, member));
            self.member_on(module, on, of)
        } else {
            self.type_token(module, object, open)
        }
    }
    /// The MemberRef of a member of a generic definition on an instantiation.
    fn member_on(&mut self, module: ModuleRef, on: ObjRef<'_>, member: ObjRef<'_>) -> E<Token> {
        let parent = self.type_token(module, on, true)?;
        let member = non_null(member)?;
        let class = member.class();
        let is = |known| is_known(class, known);
        let (name, signature) = if is(Known::MethodBuilder) {
            let name = member.read_ref(offset_of!(MethodBuilderObject, name));
            (
                name.text(),
                self.builder_signature(module, member, ObjRef::NULL)?,
            )
        } else if is(Known::ConstructorBuilder) {
            let attrs: u32 = member.read(offset_of!(ConstructorBuilderObject, attrs));
            let signature = self.builder_signature(module, member, ObjRef::NULL)?;
            (constructor_name(attrs).to_owned(), signature)
        } else if is(Known::FieldBuilder) {
            let name = member.read_ref(offset_of!(FieldBuilderObject, name));
            (name.text(), self.field_signature(module, member)?)
        } else if is(Known::RuntimeFieldInfo) {
            let field = runtime_field(member)?;
            let mut signature = vec![0x06];
            self.class_signature(module, &mut signature, field.open_ty()?)?;
            (field.name.to_owned(), signature)
        } else if is(Known::RuntimeMethodInfo) || is(Known::RuntimeConstructorInfo) {
            let method = runtime_method(member)?;
            let mut signature = Vec::new();
            self.method_signature(module, &mut signature, method.open_sig()?, ObjRef::NULL)?;
            (method.name.to_owned(), signature)
        } else {
            let text = format!("a member that is {}", class.full_name());
            return Err(EmitError::not_supported(&text));
        };
        self.member(module, parent, &name, signature, None)
    }
    /// The token of a method of an instantiation, or of an instantiation of a generic method.
    fn method_on_instance(&mut self, module: ModuleRef, object: ObjRef<'_>) -> E<Token> {
        let on = object.read_ref(offset_of!(MethodOnInstanceObject, instantiation));
        let of = object.read_ref(offset_of!(MethodOnInstanceObject, base_method));
        let arguments = object.read_ref(offset_of!(MethodOnInstanceObject, method_arguments));
        let generic = object.read_ref(offset_of!(
            MethodOnInstanceObject,
            generic_method_definition
        ));
        // An instantiation of a generic method of an instantiation refers to the method of the latter.
        let method = match generic.non_null() {
            Some(generic) if !arguments.is_null() && generic.class() == object.class() => {
                self.method_on_instance(module, generic)?
            }
            _ => match types::kind(on)? {
                // A generic method of a type that is not generic.
                TypeKind::Builder(b) if types::generic_arity(b) == 0 => {
                    self.token(module, of, false)?
                }
                TypeKind::Class(c) if !c.is_generic() => self.token(module, of, false)?,
                _ => self.member_on(module, on, of)?,
            },
        };
        if arguments.is_null() {
            return Ok(method);
        }
        let mut signature = vec![0x0A];
        compressed(&mut signature, read::elements(arguments).count() as u32);
        for argument in read::elements(arguments) {
            self.type_signature(module, &mut signature, argument)?;
        }
        self.method_spec(module, method, signature)
    }
    /// The MemberRef of a method of an array.
    fn array_method(&mut self, module: ModuleRef, object: ObjRef<'_>) -> E<Token> {
        let parent = object.read_ref(offset_of!(MonoArrayMethodObject, parent));
        let parent = self.type_token(module, parent, true)?;
        let conv: u32 = object.read(offset_of!(MonoArrayMethodObject, call_conv));
        let params = object.read_ref(offset_of!(MonoArrayMethodObject, parameters));
        let mut signature = vec![(conv & 0x60) as u8];
        compressed(&mut signature, read::elements(params).count() as u32);
        match object
            .read_ref(offset_of!(MonoArrayMethodObject, ret))
            .non_null()
        {
            Some(ret) => self.type_signature(module, &mut signature, ret)?,
            None => signature.push(0x01),
        }
        for param in read::elements(params) {
            self.type_signature(module, &mut signature, param)?;
        }
        let name = object
            .read_ref(offset_of!(MonoArrayMethodObject, name))
            .text();
        self.member(module, parent, &name, signature, None)
    }
}

/// MethodAttributes.
pub(super) const STATIC: u32 = 0x10;

/// The name of a constructor with these MethodAttributes.
pub fn constructor_name(attrs: u32) -> &'static str {
    if attrs & STATIC != 0 {
        ".cctor"
    } else {
        ".ctor"
    }
}
