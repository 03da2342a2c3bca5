//! Modules that grow while they are used: those of System.Reflection.Emit.
//!
//! # How it works
//! The rows of such a module are those of any other; classes, methods and fields are made of them in the same way. Three things differ:
//!
//! | | a file's module | a module that grows |
//! |---|---|---|
//! | a type | has all its rows | can be *named* before it is *complete*: its identity is there, and asking for members is [`Need::Builder`] |
//! | a TypeRef, AssemblyRef or MemberRef | is looked up by name | whoever adds it says what it means, so two assemblies of one name can be told apart |
//! | a type by name | a hash table, made once | the growing image's own list |
//!
//! # Invariants
//! * The row of a TypeDef is there before its class is asked for, with its generic parameters, because the class is made once.
//! * A complete type is of the kind that its class says ([`Module::check_kind`]): code that mentioned the type before has been compiled for that.
//! * A row of a reference gets its meaning ([`Module::add_type_ref`] and the like) before its number is handed out.
use crate::resolve::Member;
use crate::*;
use std::sync::atomic::Ordering;
use vervet_metadata::growing::COMPLETE;
use vervet_metadata::{Coded, Growing, Image, Table};
use vervet_os::{LeafLock, Published};

/// What the Assembly row of an assembly that grows says.
#[derive(Clone, Debug)]
pub struct AssemblyIdentity {
    /// Simple name.
    pub name: String,
    /// Version.
    pub version: [u16; 4],
    /// Culture, "" for neutral.
    pub culture: String,
    /// Public key, empty if none.
    pub public_key: Vec<u8>,
    /// Token of a public key that is not known yet.
    pub public_key_token: Option<[u8; 8]>,
    /// AssemblyFlags.
    pub flags: u32,
    /// Id of the application domain that defines it.
    pub owner: u32,
    /// Nothing in it runs.
    pub is_save_only: bool,
    /// It is only looked at.
    pub is_reflection_only: bool,
}

/// A coded cell.
fn coded(kind: Coded, token: Token) -> R<u32> {
    kind.encode(token).ok_or_else(|| LoadError::BadImage {
        file: String::new(),
        message: format!("{token} in a column that cannot name it"),
    })
}

impl Universe {
    /// An assembly that grows, with its manifest module.
    pub fn add_growing_assembly(
        &'static self,
        identity: AssemblyIdentity,
        mvid: [u8; 16],
    ) -> R<&'static Assembly> {
        let AssemblyIdentity {
            name,
            version,
            culture,
            public_key,
            public_key_token,
            flags,
            owner,
            is_save_only,
            is_reflection_only,
        } = identity;
        let module = self.growing_module(owner, format!("{name}.dll"), mvid)?;
        let growing = module.growing()?;
        let (name, culture) = (&*name.leak(), &*culture.leak());
        let public_key = &*public_key.leak();
        let cells = [
            // SHA-1.
            0x8004,
            version[0].into(),
            version[1].into(),
            version[2].into(),
            version[3].into(),
            flags,
            growing.add_blob(public_key)?,
            growing.add_string(name.as_bytes())?,
            growing.add_string(culture.as_bytes())?,
        ];
        growing.put_row(Table::Assembly, 1, &cells, 0)?;
        let assembly = Box::leak(Box::new(Assembly {
            manifest: module,
            name,
            version,
            culture,
            public_key,
            given_token: public_key_token,
            flags,
            is_reflection_only,
            is_save_only,
            skips_verification: false,
            friends: Published::new(),
            modules: LeafLock::new(vec![module]),
        }));
        Ok(module.assembly.set(assembly))
    }
    /// A further module of an assembly that grows.
    pub fn add_growing_module(
        &'static self,
        assembly: &'static Assembly,
        name: String,
        mvid: [u8; 16],
    ) -> R<ModuleRef> {
        let module = self.growing_module(assembly.manifest.owner, name, mvid)?;
        assembly.add_module(module);
        Ok(module)
    }
    /// A module with the rows of the module itself and of `<Module>`, which is complete when its members are asked for, or when the program has
    /// defined some ([`Module::complete_global`]).
    fn growing_module(&'static self, owner: u32, name: String, mvid: [u8; 16]) -> R<ModuleRef> {
        let growing = Growing::leak();
        let name = &*name.leak();
        let cells = [
            0,
            growing.add_string(name.as_bytes())?,
            growing.add_guid(mvid)?,
            0,
            0,
        ];
        growing.put_row(Table::Module, 1, &cells, 0)?;
        let global = growing.add_string(b"<Module>")?;
        growing.put_row(Table::TypeDef, 1, &[0, global, 0, 0, 0, 0], 0)?;
        let image = Image::growing(growing);
        Ok(self.add_module(|id| Module::new(image, id, owner, None, name, false, self)))
    }
}

impl Module {
    /// The type that a member will belong to that has been mentioned and has no row yet.
    pub(crate) fn promised(&'static self, table: Table, rid: u32) -> Option<u32> {
        self.image.grows()?.promised(table, rid)
    }
    /// What the module grows by.
    ///
    /// # Errors
    /// It is the module of a file.
    pub fn growing(&'static self) -> R<&'static Growing> {
        self.image
            .grows()
            .ok_or_else(|| LoadError::bad_image(self, "the module does not grow"))
    }
    /// Says that `<Module>` has no members but those that it has.
    pub fn complete_global(&'static self) -> R<()> {
        let row = self.image.type_def(1)?;
        let cells = [row.flags, row.name, row.namespace, 0, 0, 0];
        Ok(self
            .growing()?
            .put_row(Table::TypeDef, 1, &cells, COMPLETE)?)
    }
    /// Changes the module's version identifier.
    pub fn set_mvid(&'static self, mvid: [u8; 16]) -> R<()> {
        let growing = self.growing()?;
        let row = self.image.module(1)?;
        let cells = [0, row.name, growing.add_guid(mvid)?, 0, 0];
        Ok(growing.put_row(Table::Module, 1, &cells, 0)?)
    }
    /// Makes the class of a type whose row is there, and checks that it may be completed: a class that was made before, when the type was mentioned, is of
    /// the kind that the row says now, and its layout is to be computed in the same way.
    ///
    /// # Errors
    /// TypeLoad: it is not.
    pub fn check_kind(&'static self, rid: u32) -> R<()> {
        /// LayoutMask and Interface of TypeAttributes (ECMA-335 II.23.1.15).
        const KIND: u32 = 0x18 | 0x20;
        let class = self.type_def(rid)?;
        let row = self.image.type_def(rid)?;
        let is_of_kind = class.nature == self.nature_of(row.extends, false)
            && (class.flags ^ row.flags) & KIND == 0
            && class.is_open
                == (self
                    .image
                    .generic_params_of(Token::new(Table::TypeDef, rid))
                    .len()
                    > 0);
        match is_of_kind {
            true => Ok(()),
            false => {
                let what = "its kind, its layout or its generic parameters were changed after the type was first used";
                Err(LoadError::type_load(class, what))
            }
        }
    }
    /// Adds a reference to an assembly.
    pub fn add_assembly_ref(&'static self, assembly: &'static Assembly) -> R<Token> {
        let growing = self.growing()?;
        let token = assembly.public_key_token();
        let v = assembly.version.map(u32::from);
        let cells = [
            v[0],
            v[1],
            v[2],
            v[3],
            0,
            match token {
                Some(token) => growing.add_blob(&token)?,
                None => 0,
            },
            growing.add_string(assembly.name.as_bytes())?,
            growing.add_string(assembly.culture.as_bytes())?,
            0,
        ];
        let rid = growing.reserve_row(Table::AssemblyRef)?;
        self.assembly_refs.at(rid).set(assembly);
        growing.put_row(Table::AssemblyRef, rid, &cells, 0)?;
        Ok(Token::new(Table::AssemblyRef, rid))
    }
    /// Adds a reference to a type definition of another module. `scope` is the row of its assembly, module or enclosing type.
    pub fn add_type_ref(&'static self, class: ClassRef, scope: Token) -> R<Token> {
        let growing = self.growing()?;
        let cells = [
            coded(Coded::ResolutionScope, scope)?,
            growing.add_string(class.name.as_bytes())?,
            growing.add_string(class.namespace.as_bytes())?,
        ];
        let rid = growing.reserve_row(Table::TypeRef)?;
        self.type_refs.at(rid).set(class);
        growing.put_row(Table::TypeRef, rid, &cells, 0)?;
        Ok(Token::new(Table::TypeRef, rid))
    }
    /// Adds a type specification: the signature of a type.
    pub fn add_type_spec(&'static self, signature: &[u8]) -> R<Token> {
        let growing = self.growing()?;
        let cells = [growing.add_blob(signature)?];
        let rid = growing.add_row(Table::TypeSpec, &cells, 0)?;
        Ok(Token::new(Table::TypeSpec, rid))
    }
    /// Adds a reference to a member of the type `parent`. `meant` is the member, of that very type, if it is known; without it the member
    /// is looked up by name and signature when it is used.
    pub fn add_member_ref(
        &'static self,
        parent: Token,
        name: &str,
        signature: &[u8],
        meant: Option<TokenTarget>,
    ) -> R<Token> {
        let growing = self.growing()?;
        let cells = [
            coded(Coded::MemberRefParent, parent)?,
            growing.add_string(name.as_bytes())?,
            growing.add_blob(signature)?,
        ];
        let rid = growing.reserve_row(Table::MemberRef)?;
        let cell = self.cache.members.at(rid);
        match meant {
            Some(TokenTarget::Method(method)) => {
                cell.put(Member::Method(method));
            }
            Some(TokenTarget::Field(field)) => {
                cell.put(Member::Field(field));
            }
            _ => {}
        }
        growing.put_row(Table::MemberRef, rid, &cells, 0)?;
        Ok(Token::new(Table::MemberRef, rid))
    }
}

impl Class {
    /// Says that the type's members have rows, if it is a definition or an instantiation.
    ///
    /// # Errors
    /// [`Need::Builder`]: it is a type of a module that grows, and has been named only.
    pub fn complete(&'static self) -> R<()> {
        let rid = self.rid();
        if rid == 0 || self.module.image.is_complete(rid) {
            return Ok(());
        }
        Err(LoadError::Need(Box::new(Need::Builder {
            class: self.def(),
            ask: Ask::Must,
        })))
    }
    /// Has the type been named only?
    pub fn is_named_only(&self) -> bool {
        matches!(self.kind, ClassKind::Def { rid, .. } if !self.module.image.is_complete(rid))
    }
    /// Whether the type has a Type object. An instantiation has none before its definition is created; what is made of it has.
    pub fn check_type_object(&'static self) -> R<()> {
        match self.kind {
            ClassKind::Inst { def, .. } if def.is_named_only() => {
                let name = self.full_name();
                Err(self.unusable(format!(
                    "TypeBuilder.CreateType() not called for generic class {name}"
                )))
            }
            _ => Ok(()),
        }
    }
    /// The error of a member of this type, which has been named only. `ask`: what may make it complete.
    pub(crate) fn not_created(&'static self, ask: Option<Ask>) -> LoadError {
        match ask {
            Some(ask) => LoadError::Need(Box::new(Need::Builder { class: self, ask })),
            None => LoadError::NotCreated,
        }
    }
    /// Says that a member of this type can be used: that it is made of no type that has been named only.
    ///
    /// # Errors
    /// * [`Need::Builder`]: a field is asked for, and the type itself is not complete; or the program has not been asked yet for another type
    ///   that this one is made of.
    /// * [`LoadError::NotCreated`]
    pub(crate) fn members_usable(&'static self, field: bool) -> R<()> {
        if self.is_named_only() {
            return Err(self.not_created(field.then_some(Ask::Create)));
        }
        let mut left: smallvec::SmallVec<[ClassRef; 8]> = smallvec::smallvec![self];
        while let Some(class) = left.pop() {
            if class.is_named_only() {
                if field {
                    class.offered()?;
                }
                return Err(LoadError::NotCreated);
            }
            if let ClassKind::Inst { def, .. } = class.kind {
                left.push(def);
            }
            left.extend(class.args().iter().copied());
            left.extend(class.element());
        }
        Ok(())
    }
    /// Says that the program was asked for the members of each definition that the type is made of and that has been named only.
    ///
    /// # Errors
    /// [`Need::Builder`]: it was not.
    pub(crate) fn offered(&'static self) -> R<()> {
        let mut left: smallvec::SmallVec<[ClassRef; 8]> = smallvec::smallvec![self];
        while let Some(class) = left.pop() {
            class.offered_itself()?;
            left.extend(class.args().iter().copied());
            left.extend(class.element());
        }
        Ok(())
    }
    /// [`Class::offered`] of a definition.
    pub(crate) fn offered_itself(&'static self) -> R<()> {
        let ClassKind::Def { rid, .. } = self.kind else {
            return Ok(());
        };
        let module = self.module;
        if module.image.grows().is_none()
            || module.image.is_complete(rid)
            || module.offered.at(rid).load(Ordering::Relaxed) != 0
        {
            return Ok(());
        }
        Err(LoadError::Need(Box::new(Need::Builder {
            class: self,
            ask: Ask::Offer,
        })))
    }
    /// The program has been asked for the type's members: IL that names the type goes on, whether it has them or not.
    pub fn set_offered(&'static self) {
        let rid = self.def().rid();
        self.module.offered.at(rid).store(1, Ordering::Relaxed);
    }
}
