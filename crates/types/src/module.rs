//! Modules and assemblies: metadata images, and finding types in them.
//!
//! # How it works
//! A type reference is resolved through its resolution scope (ECMA-335 II.22.38): this module,
//! another module of the assembly, another assembly, or an enclosing type. A name that an assembly
//! does not define may be forwarded to another one (II.22.14).
//!
//! # Invariants
//! * The image of a module is never unmapped, so names and signatures are borrowed from it.
//! * A row has at most one canonical object, created when it is first asked for.
//! * Top-level types are found by one hash table per module, made at the first search.
//! * References and forwards that lead to each other end at [`MAX_DEPTH`].
use crate::class::Nature;
use crate::friends::Friends;
use crate::name_table::TypeNames;
use crate::*;
use rustc_hash::FxHashMap;
use vervet_metadata::{Image, Table};
use vervet_os::{Chunks, LeafLock, Published};

/// Finds assemblies and module files. Implemented by the runtime; called without locks held.
pub trait AssemblyLoader: Send + Sync {
    /// The assembly a reference means, loaded. May answer [`LoadError::Need`].
    fn load_assembly(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> R<&'static Assembly>;
    /// Another file of a multi-module assembly, loaded by [`Universe::load_module`].
    fn load_file(&self, manifest: ModuleRef, file_name: &str) -> R<ModuleRef>;
    /// Whether the file of a module lies where the class library does. Not known: all do.
    fn is_in_library(&self, _module: ModuleRef) -> bool {
        true
    }
    /// How many assemblies have been loaded in this process. Not counted: 0.
    fn loads(&self) -> u64 {
        0
    }
}

/// An AssemblyRef row (II.22.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AssemblyRefInfo {
    /// Simple name.
    pub name: &'static str,
    /// Version.
    pub version: [u16; 4],
    /// Culture, "" for neutral.
    pub culture: &'static str,
    /// Public key or its token, empty if none; flags bit 0 says that it is a whole key.
    pub public_key_or_token: &'static [u8],
    /// AssemblyFlags.
    pub flags: u32,
}

impl AssemblyRefInfo {
    /// Token of the public key, if there is one.
    pub fn public_key_token(&self) -> Option<[u8; 8]> {
        match self.public_key_or_token {
            [] => None,
            key if self.flags & 1 != 0 => Some(token_of_key(key)),
            token => token.try_into().ok(),
        }
    }
}
impl std::fmt::Display for AssemblyRefInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&names::assembly_name(
            self.name,
            self.version,
            self.culture,
            self.public_key_token(),
        ))
    }
}

/// An assembly: its manifest module and what the Assembly row says (II.22.2).
pub struct Assembly {
    /// The module with the manifest.
    pub manifest: ModuleRef,
    /// Simple name.
    pub name: &'static str,
    /// Version.
    pub version: [u16; 4],
    /// Culture, "" for neutral.
    pub culture: &'static str,
    /// Public key, empty if none.
    pub public_key: &'static [u8],
    /// Token of a public key that the assembly will have when it is saved.
    pub given_token: Option<[u8; 8]>,
    /// AssemblyFlags.
    pub flags: u32,
    /// It was loaded to be looked at, not to run.
    pub is_reflection_only: bool,
    /// A program has defined it to be saved, not to run.
    pub is_save_only: bool,
    /// It asks that its code is not verified: the code may use every member of every type.
    pub(crate) skips_verification: bool,
    /// See [`crate::friends`]. Stays empty while the assembly grows.
    pub(crate) friends: Published<Friends>,
    pub(crate) modules: LeafLock<Vec<ModuleRef>>,
}

/// One metadata image.
pub struct Module {
    /// The image.
    pub image: Image<'static>,
    /// Dense process-wide id.
    pub id: u32,
    /// Id of the application domain whose loader loaded it, which also resolves its references. 0, the root domain, for the modules that all domains
    /// share: those of the class libraries.
    pub owner: u32,
    /// Path of the file, if it came from one.
    pub path: Option<String>,
    /// Name of the Module row.
    pub name: &'static str,
    /// Is one of the assemblies whose types are grafts ([`crate::grafts`]).
    pub(crate) is_graft: bool,
    universe: &'static Universe,
    pub(crate) assembly: Published<Assembly>,
    names: Published<TypeNames>,
    lower_names: Published<FxHashMap<(String, String), Token>>,
    pub(crate) derived: Published<derived::Derived>,
    type_defs: Chunks<Published<Class>>,
    method_defs: Chunks<Published<Method>>,
    field_defs: Chunks<Published<Field>>,
    pub(crate) type_refs: Chunks<Published<Class>>,
    pub(crate) assembly_refs: Chunks<Published<Assembly>>,
    files: Chunks<Published<Module>>,
    /// Of a module that grows, by TypeDef row: not 0 if the program was asked to complete the type ([`Class::set_offered`]).
    pub(crate) offered: Chunks<std::sync::atomic::AtomicUsize>,
    pub(crate) cache: resolve::TokenCache,
}
impl PartialEq for Module {
    fn eq(&self, other: &Module) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Module {}
impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// TypeDefs with at least this visibility are nested (II.23.1.15).
const NESTED_PUBLIC: u32 = 2;

impl Module {
    pub(crate) fn new(
        image: Image<'static>,
        id: u32,
        owner: u32,
        path: Option<String>,
        name: &'static str,
        is_graft: bool,
        universe: &'static Universe,
    ) -> Module {
        Module {
            image,
            id,
            owner,
            path,
            name,
            is_graft,
            universe,
            assembly: Published::new(),
            names: Published::new(),
            lower_names: Published::new(),
            derived: Published::new(),
            type_defs: Chunks::new(),
            method_defs: Chunks::new(),
            field_defs: Chunks::new(),
            type_refs: Chunks::new(),
            assembly_refs: Chunks::new(),
            files: Chunks::new(),
            offered: Chunks::new(),
            cache: Default::default(),
        }
    }
    /// The universe it lives in.
    pub fn universe(&self) -> &'static Universe {
        self.universe
    }
    /// The assembly it belongs to.
    pub fn assembly(&self) -> Option<&'static Assembly> {
        self.assembly.get()
    }
    /// Display name of its assembly, or its own name.
    pub fn assembly_name(&self) -> String {
        self.assembly()
            .map_or_else(|| self.name.to_string(), Assembly::full_name)
    }
    /// Does it belong to an assembly that was loaded to be looked at, not to run?
    pub fn is_reflection_only(&self) -> bool {
        self.assembly().is_some_and(|a| a.is_reflection_only)
    }
    /// It belongs to an assembly that a program has defined to be saved, not to run.
    pub fn is_save_only(&self) -> bool {
        self.assembly().is_some_and(|a| a.is_save_only)
    }
    /// Is the core library.
    pub fn is_corlib(&self) -> bool {
        self.universe
            .corlib
            .get()
            .is_some_and(|m| std::ptr::eq(m, self))
    }
    /// Is the manifest module of the class library's assembly of that name: one with the key of the ECMA standard, or Mono's, that lies where the class library does. (Anybody may
    /// write such a key into an assembly: nobody checks the signature.)
    pub fn is_of_class_library(&'static self, name: &str) -> bool {
        const ECMA: [u8; 8] = [0xb7, 0x7a, 0x5c, 0x56, 0x19, 0x34, 0xe0, 0x89];
        const MONO: [u8; 8] = [0x07, 0x38, 0xeb, 0x9f, 0x13, 0x2e, 0xd7, 0x56];
        let has_name = self
            .assembly()
            .is_some_and(|a| a.name == name && matches!(a.public_key_token(), Some(ECMA | MONO)));
        has_name && self.universe.loader.is_in_library(self)
    }
    /// Does the file lie where the class library does?
    pub fn is_in_library(&'static self) -> bool {
        self.is_corlib() || self.universe.loader.is_in_library(self)
    }
    /// A reader's error as one about this module.
    pub(crate) fn bad(&'static self, e: vervet_metadata::Error) -> LoadError {
        LoadError::bad_image(self, e.to_string())
    }
    /// A string of `#Strings`.
    pub fn string(&'static self, index: u32) -> R<&'static str> {
        self.image.string(index).map_err(|e| self.bad(e))
    }
    /// A blob of `#Blob`.
    pub fn blob(&'static self, index: u32) -> R<&'static [u8]> {
        self.image.blob(index).map_err(|e| self.bad(e))
    }

    /// The class of a TypeDef row.
    pub fn type_def(&'static self, rid: u32) -> R<ClassRef> {
        match self.type_defs.get(rid).and_then(Published::get) {
            Some(c) => Ok(c),
            None => self.make_def(rid),
        }
    }
    /// Creates the class of a TypeDef row: its identity only.
    #[cold]
    fn make_def(&'static self, rid: u32) -> R<ClassRef> {
        let row = self.image.type_def(rid).map_err(|e| self.bad(e))?;
        let (namespace, name) = (self.string(row.namespace)?, self.string(row.name)?);
        let corlib_system = namespace == "System" && self.is_corlib();
        let nature = self.nature_of(row.extends, corlib_system && name == "Enum");
        let is_open = self
            .image
            .generic_params_of(Token::new(Table::TypeDef, rid))
            .len()
            > 0;
        let cell = self.type_defs.at(rid);
        // Made under the lock of the tables of constructed types: the first is the only one.
        Ok(self.universe.make_once(cell, |id| Class {
            kind: ClassKind::Def {
                rid,
                params: Published::new(),
            },
            id,
            module: self,
            flags: row.flags,
            namespace,
            name,
            prim: if corlib_system {
                Prim::of_name(name)
            } else {
                None
            },
            is_open,
            inst_depth: 0,
            weight: 1,
            nature,
            cells: Default::default(),
        }))
    }
    /// The nature of a type with that parent. `is_enum` says that it is System.Enum itself. What the name of the parent says is checked when the
    /// parent is loaded ([`Class::parent`]).
    pub(crate) fn nature_of(&'static self, extends: Token, is_enum: bool) -> Nature {
        match self.base_of_system(extends) {
            Some("Enum") => Nature::Enum,
            Some("ValueType") if is_enum => Nature::Reference,
            Some("ValueType") => Nature::Value,
            Some("MulticastDelegate") => Nature::Delegate,
            _ => Nature::Reference,
        }
    }
    /// The name of the base type, if it is one of the core library's namespace System: read, not loaded.
    fn base_of_system(&'static self, extends: Token) -> Option<&'static str> {
        let (namespace, name) = match extends.table()? {
            Table::TypeDef if self.is_corlib() => {
                let row = self.image.type_def(extends.rid()).ok()?;
                (row.namespace, row.name)
            }
            Table::TypeRef => {
                let row = self.image.type_ref(extends.rid()).ok()?;
                if !row.resolution_scope.is(Table::AssemblyRef) {
                    return None;
                }
                (row.namespace, row.name)
            }
            _ => return None,
        };
        (self.image.string(namespace).ok()? == "System").then(|| self.image.string(name).ok())?
    }
    /// The method of a MethodDef row.
    pub fn method_def(&'static self, rid: u32) -> R<MethodRef> {
        if let Some(m) = self.method_defs.get(rid).and_then(Published::get) {
            return Ok(m);
        }
        if let Some(owner) = self.promised(Table::MethodDef, rid) {
            return Err(self.type_def(owner)?.not_created(None));
        }
        let none = || LoadError::bad_image(self, format!("no method row {rid}"));
        let owner = self.type_def(self.image.method_owner(rid).ok_or_else(none)?)?;
        let class = match self.is_graft {
            true => {
                let row = self.image.method_def(rid).map_err(|e| self.bad(e))?;
                Module::class_of_method(owner, row.flags)
            }
            false => owner,
        };
        let methods = class.methods()?;
        let guess = methods
            .first()
            .map_or(0, |m| rid.wrapping_sub(m.rid) as usize);
        let is_row = |m: &&MethodRef| m.rid == rid && m.module() == self;
        let found = methods.get(guess).filter(is_row).or_else(|| {
            // Rows of one type are in any order here: all of them at once, or each would be searched for.
            if self.image.grows().is_some() {
                for m in methods.iter().filter(|m| m.module() == self) {
                    self.method_defs.at(m.rid).set(m);
                }
            }
            methods.iter().find(is_row)
        });
        Ok(self.method_defs.at(rid).set(found.ok_or_else(none)?))
    }
    /// The field of a Field row.
    pub fn field_def(&'static self, rid: u32) -> R<FieldRef> {
        if let Some(f) = self.field_defs.get(rid).and_then(Published::get) {
            return Ok(f);
        }
        if let Some(owner) = self.promised(Table::Field, rid) {
            return Err(self.type_def(owner)?.not_created(Some(Ask::Create)));
        }
        let none = || LoadError::bad_image(self, format!("no field row {rid}"));
        let class = self.type_def(self.image.field_owner(rid).ok_or_else(none)?)?;
        let fields = class.fields()?;
        let guess = fields
            .first()
            .map_or(0, |f| rid.wrapping_sub(f.rid) as usize);
        let found = fields.get(guess).filter(|f| f.rid == rid).or_else(|| {
            if self.image.grows().is_some() {
                for f in fields {
                    self.field_defs.at(f.rid).set(f);
                }
            }
            fields.iter().find(|f| f.rid == rid)
        });
        Ok(self.field_defs.at(rid).set(found.ok_or_else(none)?))
    }
    /// The class a TypeRef row means (II.22.38).
    pub fn type_ref(&'static self, rid: u32) -> R<ClassRef> {
        match self.type_refs.get(rid).and_then(Published::get) {
            Some(c) => Ok(c),
            None => self.find_ref(rid, 0),
        }
    }
    /// Follows a TypeRef; `depth` counts the rows that refer to each other.
    fn find_ref(&'static self, rid: u32, depth: u32) -> R<ClassRef> {
        if depth > MAX_DEPTH {
            return Err(LoadError::bad_image(
                self,
                format!("TypeRef:{rid}: type references are nested in a cycle"),
            ));
        }
        let row = self.image.type_ref(rid).map_err(|e| self.bad(e))?;
        let (namespace, name) = (self.string(row.namespace)?, self.string(row.name)?);
        let at = row.resolution_scope;
        let found = match at.table() {
            Some(Table::AssemblyRef) if !at.is_nil() => {
                let manifest = self.referenced_assembly(at.rid())?.manifest;
                manifest.find_type(namespace, name)?
            }
            Some(Table::TypeRef) if !at.is_nil() => {
                let outer = self.find_ref(at.rid(), depth + 1)?;
                outer.module.find_nested(outer, name)?
            }
            Some(Table::ModuleRef) if !at.is_nil() => {
                let row = self.image.module_ref(at.rid()).map_err(|e| self.bad(e))?;
                match self.file_if_there(self.string(row.name)?)? {
                    Some(module) => module.find_own(namespace, name)?,
                    None => None,
                }
            }
            Some(Table::Module) if !at.is_nil() => self.find_type(namespace, name)?,
            _ => {
                let manifest = self.assembly().map_or(self, |a| a.manifest);
                manifest.find_type(namespace, name)?
            }
        };
        match found {
            Some(class) => Ok(self.type_refs.at(rid).set(class)),
            None => Err(self.no_such_type(rid, at, namespace, name)),
        }
    }
    /// The error of a TypeRef row that names a type which is not there; `scope` is where it looks.
    fn no_such_type(
        &'static self,
        rid: u32,
        scope: Token,
        namespace: &str,
        name: &str,
    ) -> LoadError {
        let class = match namespace {
            "" => name.to_string(),
            _ => format!("{namespace}.{name}"),
        };
        let assembly = match scope.table() {
            Some(Table::AssemblyRef) => self
                .assembly_ref(scope.rid())
                .map_or_else(|_| String::new(), |r| r.to_string()),
            Some(Table::TypeRef) => String::new(),
            _ => self.assembly_name(),
        };
        LoadError::NoSuchType {
            token: Token::new(Table::TypeRef, rid).0,
            class,
            assembly,
        }
    }
    /// What an AssemblyRef row says.
    pub fn assembly_ref(&'static self, rid: u32) -> R<AssemblyRefInfo> {
        let row = self.image.assembly_ref(rid).map_err(|e| self.bad(e))?;
        Ok(AssemblyRefInfo {
            name: self.string(row.name)?,
            version: [row.major, row.minor, row.build, row.revision],
            culture: self.string(row.culture)?,
            public_key_or_token: self.blob(row.public_key_or_token)?,
            flags: row.flags,
        })
    }
    /// The assembly an AssemblyRef row means, loaded.
    pub fn referenced_assembly(&'static self, rid: u32) -> R<&'static Assembly> {
        if let Some(a) = self.assembly_refs.get(rid).and_then(Published::get) {
            return Ok(a);
        }
        let reference = self.assembly_ref(rid)?;
        let loader = &self.universe.loader;
        let loads = loader.loads();
        let found = loader.load_assembly(self, &reference);
        let assembly = found.inspect_err(|_| edges::failed(self.id, rid))?;
        if loader.loads() != loads {
            edges::loaded(self.id, rid);
        }
        let assembly = self.assembly_refs.at(rid).set(assembly);
        edges::bound();
        Ok(assembly)
    }
    /// The same where types are looked for: those of a file that is not there do not exist.
    pub fn file_if_there(&'static self, name: &str) -> R<Option<ModuleRef>> {
        match self.file(name) {
            Err(LoadError::NoModule { .. }) => Ok(None),
            found => found.map(Some),
        }
    }
    /// Another module of the same assembly, by the name of its file.
    pub fn file(&'static self, name: &str) -> R<ModuleRef> {
        let manifest = self.assembly().map_or(self, |a| a.manifest);
        let rows = manifest.image.row_count(Table::File);
        let rid = (1..=rows).find(|r| {
            let row = manifest.image.file(*r).ok();
            row.and_then(|row| manifest.image.string(row.name).ok())
                .is_some_and(|n| n.eq_ignore_ascii_case(name))
        });
        let cell = manifest.files.at(rid.unwrap_or(0));
        if rid.is_some()
            && let Some(m) = cell.get()
        {
            return Ok(m);
        }
        edges::lose_track();
        let module = self.universe.loader.load_file(manifest, name)?;
        if let Some(assembly) = manifest.assembly() {
            assembly.add_module(module);
        }
        Ok(if rid.is_some() {
            cell.set(module)
        } else {
            module
        })
    }

    /// The hash table of the top-level types.
    fn names(&'static self) -> R<&'static TypeNames> {
        self.names.get_or_try(|| {
            let image = &self.image;
            let (types, exported) = (
                image.row_count(Table::TypeDef),
                image.row_count(Table::ExportedType),
            );
            let mut names = TypeNames::new(types.saturating_add(exported));
            let hash = |namespace, name| {
                let bytes = |index| image.string_bytes(index).map_err(|e| self.bad(e));
                R::Ok(TypeNames::hash(bytes(namespace)?, bytes(name)?))
            };
            for rid in 1..=types {
                let row = image.type_def(rid).map_err(|e| self.bad(e))?;
                if row.flags & class::type_flags::VISIBILITY_MASK < NESTED_PUBLIC {
                    names.add(
                        hash(row.namespace, row.name)?,
                        Token::new(Table::TypeDef, rid),
                    );
                }
            }
            for rid in 1..=exported {
                let row = image.exported_type(rid).map_err(|e| self.bad(e))?;
                if !row.implementation.is(Table::ExportedType) {
                    let token = Token::new(Table::ExportedType, rid);
                    names.add(hash(row.namespace, row.name)?, token);
                }
            }
            Ok(names)
        })
    }
    /// Namespace and name of a row of [`Module::names`].
    fn name_of(&'static self, token: Token) -> R<(&'static str, &'static str)> {
        let rid = token.rid();
        let (namespace, name) = match token.is(Table::TypeDef) {
            true => {
                let row = self.image.type_def(rid).map_err(|e| self.bad(e))?;
                (row.namespace, row.name)
            }
            false => {
                let row = self.image.exported_type(rid).map_err(|e| self.bad(e))?;
                (row.namespace, row.name)
            }
        };
        Ok((self.string(namespace)?, self.string(name)?))
    }
    /// The row of that name.
    fn row_named(&'static self, namespace: &str, name: &str) -> R<Option<Token>> {
        if let Some(growing) = self.image.grows() {
            for rid in growing.types_named(name) {
                let token = Token::new(Table::TypeDef, rid);
                let row = self.image.type_def(rid).map_err(|e| self.bad(e))?;
                let nested = row.flags & class::type_flags::VISIBILITY_MASK >= NESTED_PUBLIC;
                if !nested && self.name_of(token)? == (namespace, name) {
                    return Ok(Some(token));
                }
            }
            return Ok(None);
        }
        let hash = TypeNames::hash(namespace.as_bytes(), name.as_bytes());
        for token in self.names()?.candidates(hash) {
            if self.name_of(token)? == (namespace, name) {
                return Ok(Some(token));
            }
        }
        Ok(None)
    }
    /// The type of a row that was found by name: a TypeDef, or a forwarder, which is followed.
    fn named(&'static self, token: Token, depth: u32) -> R<Option<ClassRef>> {
        if token.is(Table::TypeDef) {
            return self.type_def(token.rid()).map(Some);
        }
        if depth > MAX_DEPTH {
            return Err(LoadError::bad_image(
                self,
                format!("{token}: a type is forwarded in a cycle"),
            ));
        }
        let row = self
            .image
            .exported_type(token.rid())
            .map_err(|e| self.bad(e))?;
        let (namespace, name) = (self.string(row.namespace)?, self.string(row.name)?);
        let at = row.implementation;
        match at.table() {
            Some(Table::AssemblyRef) => {
                self.referenced_assembly(at.rid())?
                    .manifest
                    .find_at(namespace, name, depth + 1)
            }
            Some(Table::File) => {
                let file = self.image.file(at.rid()).map_err(|e| self.bad(e))?;
                match self.file_if_there(self.string(file.name)?)? {
                    Some(module) => module.find_own(namespace, name),
                    None => Ok(None),
                }
            }
            _ => Ok(None),
        }
    }
    /// A top-level type, `depth` forwarders deep.
    fn find_at(&'static self, namespace: &str, name: &str, depth: u32) -> R<Option<ClassRef>> {
        match self.row_named(namespace, name)? {
            Some(token) => self.named(token, depth),
            None => Ok(None),
        }
    }
    /// A top-level type that is defined in this very module.
    pub fn find_own(&'static self, namespace: &str, name: &str) -> R<Option<ClassRef>> {
        match self.row_named(namespace, name)? {
            Some(token) if token.is(Table::TypeDef) => self.type_def(token.rid()).map(Some),
            _ => Ok(None),
        }
    }
    /// A top-level type, of this module, of another file of the assembly, or forwarded elsewhere (II.22.14).
    pub fn find_type(&'static self, namespace: &str, name: &str) -> R<Option<ClassRef>> {
        self.find_at(namespace, name, 0)
    }
    /// As [`Module::find_type`], whatever the case of the letters.
    pub fn find_type_ignoring_case(
        &'static self,
        namespace: &str,
        name: &str,
    ) -> R<Option<ClassRef>> {
        if self.image.grows().is_some() {
            let wanted = (namespace.to_lowercase(), name.to_lowercase());
            let same = |c: &ClassRef| {
                (c.namespace.to_lowercase(), c.name.to_lowercase()) == wanted
                    && c.flags & class::type_flags::VISIBILITY_MASK < NESTED_PUBLIC
            };
            return Ok(self.types()?.into_iter().find(same));
        }
        let lower = self.lower_names.get_or_try(|| {
            let mut rows = Vec::new();
            for token in self.names()?.tokens() {
                let (namespace, name) = self.name_of(token)?;
                rows.push(((namespace.to_lowercase(), name.to_lowercase()), token));
            }
            // Of rows that differ in case only, the first of the table is collected last, and so is found.
            rows.sort_by_key(|(_, token)| std::cmp::Reverse(*token));
            Ok::<_, LoadError>(rows.into_iter().collect())
        })?;
        match lower.get(&(namespace.to_lowercase(), name.to_lowercase())) {
            Some(token) => self.named(*token, 0),
            None => Ok(None),
        }
    }
    fn find_nested_by(
        &'static self,
        enclosing: ClassRef,
        same: impl Fn(&str) -> bool,
    ) -> R<Option<ClassRef>> {
        let module = enclosing.module;
        for rid in module.image.nested_classes_in(enclosing.rid()) {
            let row = module.image.type_def(rid).map_err(|e| module.bad(e))?;
            let ns = module.string(row.namespace)?;
            let n = module.string(row.name)?;
            if same(n) || !ns.is_empty() && same(&format!("{ns}.{n}")) {
                return module.type_def(rid).map(Some);
            }
        }
        Ok(None)
    }
    /// A nested type.
    pub fn find_nested(&'static self, enclosing: ClassRef, name: &str) -> R<Option<ClassRef>> {
        self.find_nested_by(enclosing, |n| n == name)
    }
    /// A nested type, whatever the case of the letters.
    pub fn find_nested_ignoring_case(
        &'static self,
        enclosing: ClassRef,
        name: &str,
    ) -> R<Option<ClassRef>> {
        let lower = name.to_lowercase();
        self.find_nested_by(enclosing, |n| n.to_lowercase() == lower)
    }
    /// Every TypeDef that is complete.
    pub fn types(&'static self) -> R<Vec<ClassRef>> {
        (1..=self.image.row_count(Table::TypeDef))
            .filter(|rid| self.image.is_complete(*rid))
            .map(|rid| self.type_def(rid))
            .collect()
    }
    /// The entry point: a method of this module or of another file of the assembly.
    pub fn entry_point(&'static self) -> R<Option<MethodRef>> {
        match self.image.entry_point() {
            Some(t) if t.is(Table::MethodDef) => self.method_def(t.rid()).map(Some),
            Some(t) if t.is(Table::File) => {
                let file = self.image.file(t.rid()).map_err(|e| self.bad(e))?;
                self.file(self.string(file.name)?)?.entry_point()
            }
            _ => Ok(None),
        }
    }
}

/// The token of a public key: the last eight bytes of its SHA-1, reversed (ECMA-335 II.6.3).
fn token_of_key(key: &[u8]) -> [u8; 8] {
    use sha1::{Digest, Sha1};
    const ECMA: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    if key == ECMA {
        return 0xb77a_5c56_1934_e089_u64.to_be_bytes();
    }
    let mut token = [0; 8];
    for (to, from) in token.iter_mut().zip(Sha1::digest(key).iter().rev()) {
        *to = *from;
    }
    token
}

impl Assembly {
    /// `name, Version=1.2.3.4, Culture=neutral, PublicKeyToken=...`.
    pub fn full_name(&self) -> String {
        names::assembly_name(
            self.name,
            self.version,
            self.culture,
            self.public_key_token(),
        )
    }
    /// Token of the public key.
    pub fn public_key_token(&self) -> Option<[u8; 8]> {
        let own = || (!self.public_key.is_empty()).then(|| token_of_key(self.public_key));
        self.given_token.or_else(own)
    }
    /// The modules loaded so far, the manifest first.
    pub fn modules(&self) -> Vec<ModuleRef> {
        self.modules.lock().clone()
    }
    /// Makes a loaded file one of the assembly's modules.
    pub fn add_module(&'static self, module: ModuleRef) {
        if module.assembly.set(self) == self {
            let mut modules = self.modules.lock();
            if !modules.contains(&module) {
                modules.push(module);
            }
        }
    }
}
impl PartialEq for Assembly {
    fn eq(&self, other: &Assembly) -> bool {
        std::ptr::eq(self, other)
    }
}
impl Eq for Assembly {}
impl std::fmt::Debug for Assembly {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
