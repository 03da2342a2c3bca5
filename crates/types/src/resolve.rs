//! The resolver of tokens: from a token in a module and a generic context to classes, fields and
//! methods.
//!
//! # How it works
//! A [`Scope`] is a module and a [`GenericContext`]. A token is resolved in two steps:
//!
//! 1. What the row means in terms of positions (`!0`, `!!0`), which is the same for every context
//!    and kept in the module.
//! 2. The context's arguments in place of the positions.
//!
//! # Invariants
//! * Resolving names a type or member and never computes its further levels, so resolving a token
//!   in the middle of another level is safe.
//! * The tokens of a body without metadata ([`crate::dynamic`]) are resolved by its own list: each function here asks for that first.
//! * A member reference is compared with the *open* signatures of the members of its class.
//!   Overloads that an instantiation makes equal stay distinct that way (ECMA-335 II.22.25).
use crate::*;
use vervet_metadata::{
    AnySig, MemberSig, MethodSig as RawMethodSig, SigType, Table, UserString, parse_any_sig,
    parse_field_sig, parse_member_ref_sig, parse_method_sig, parse_method_spec, parse_type_spec,
};
use vervet_os::{Chunks, Published};

/// What `!n` and `!!n` mean.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct GenericContext {
    /// Arguments of the class.
    pub class_args: &'static [ClassRef],
    /// Arguments of the method.
    pub method_args: &'static [ClassRef],
}

/// See the module.
#[derive(Clone, Copy)]
pub struct Scope {
    /// The module the tokens are of.
    pub module: ModuleRef,
    /// What its type variables mean.
    pub context: GenericContext,
    /// The body whose tokens they are, if it has no metadata.
    pub dynamic: Option<&'static DynBody>,
}

/// A local variable.
#[derive(Clone, Copy, Debug)]
pub struct Local {
    /// Its type.
    pub ty: ClassRef,
    /// `pinned`.
    pub pinned: bool,
}

/// What `ldtoken` may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenTarget {
    /// A type.
    Type(ClassRef),
    /// A method.
    Method(MethodRef),
    /// A field.
    Field(FieldRef),
}

/// What a MemberRef means, in terms of positions: the member's class is open if the reference's is.
pub(crate) enum Member {
    Method(MethodRef),
    Field(FieldRef),
}

/// What tokens of a module mean, in terms of positions, by row.
#[derive(Default)]
pub(crate) struct TokenCache {
    type_specs: Chunks<Published<Class>>,
    pub(crate) members: Chunks<Published<Member>>,
    method_specs: Chunks<Published<Vec<ClassRef>>>,
    sigs: Chunks<Published<MethodSig>>,
    call_sites: Chunks<Published<MethodSig>>,
    locals: Chunks<Published<Vec<Local>>>,
}

/// Number of generic parameters and of parameters that a method signature declares.
pub(crate) fn sig_counts(blob: &[u8]) -> (u32, u32) {
    let compressed = |b: &[u8]| match *b {
        [a, ..] if a < 0x80 => (a as u32, 1),
        [a, b, ..] if a < 0xC0 => ((a as u32 & 0x3F) << 8 | b as u32, 2),
        [a, b, c, d, ..] => (u32::from_be_bytes([a & 0x1F, b, c, d]), 4),
        _ => (0, b.len()),
    };
    let Some((flags, mut rest)) = blob.split_first() else {
        return (0, 0);
    };
    let mut arity = 0;
    if flags & 0x10 != 0 {
        let (n, len) = compressed(rest);
        (arity, rest) = (n, &rest[len..]);
    }
    (arity, compressed(rest).0)
}

/// A method signature's types in terms of positions.
pub(crate) fn open_method_sig(module: ModuleRef, blob: &'static [u8]) -> R<MethodSig> {
    let raw = parse_method_sig(blob).map_err(|e| module.bad(e))?;
    open_sig(module, &raw, 0)
}
/// A field signature's type in terms of positions.
pub(crate) fn open_field_type(module: ModuleRef, blob: &'static [u8]) -> R<ClassRef> {
    open_type(
        module,
        &parse_field_sig(blob).map_err(|e| module.bad(e))?,
        0,
    )
}

/// A method signature in terms of positions.
fn open_sig(module: ModuleRef, raw: &RawMethodSig, depth: u32) -> R<MethodSig> {
    Ok(MethodSig {
        has_this: raw.has_this,
        explicit_this: raw.explicit_this,
        call_conv: raw.call_conv,
        generic_arity: raw.generic_arity,
        ret: open_type(module, &raw.ret, depth + 1)?,
        params: raw
            .params
            .iter()
            .map(|p| open_type(module, p, depth + 1))
            .collect::<R<_>>()?,
        sentinel: raw.sentinel,
    })
}

/// A signature's type in terms of positions (II.23.2.12). `depth` counts the levels within signatures and those that
/// refer to one another through TypeSpec rows alike.
fn open_type(module: ModuleRef, ty: &SigType, depth: u32) -> R<ClassRef> {
    let u = module.universe();
    if depth > MAX_NESTING {
        return Err(LoadError::bad_image(module, "a type is nested too deeply"));
    }
    let inner_of = |ty: &SigType| open_type(module, ty, depth + 1)?.nested();
    let known = |k| Ok(u.known(k));
    match ty {
        SigType::Void => known(Known::Void),
        SigType::Bool => known(Known::Boolean),
        SigType::Char => known(Known::Char),
        SigType::I1 => known(Known::SByte),
        SigType::U1 => known(Known::Byte),
        SigType::I2 => known(Known::Int16),
        SigType::U2 => known(Known::UInt16),
        SigType::I4 => known(Known::Int32),
        SigType::U4 => known(Known::UInt32),
        SigType::I8 => known(Known::Int64),
        SigType::U8 => known(Known::UInt64),
        SigType::R4 => known(Known::Single),
        SigType::R8 => known(Known::Double),
        SigType::String => known(Known::String),
        SigType::Object => known(Known::Object),
        SigType::IntPtr => known(Known::IntPtr),
        SigType::UIntPtr => known(Known::UIntPtr),
        SigType::TypedByRef => known(Known::TypedReference),
        SigType::Ptr(inner) => Ok(u.ptr(inner_of(inner)?)),
        SigType::ByRef(inner) => Ok(u.byref(inner_of(inner)?)),
        SigType::SzArray(inner) => Ok(u.sz_array(inner_of(inner)?)),
        SigType::Array(form) => {
            if !(1..=MAX_RANK).contains(&form.rank) {
                return Err(LoadError::bad_image(
                    module,
                    "an array of no or more than 32 dimensions",
                ));
            }
            Ok(u.array(inner_of(&form.elem)?, form.rank))
        }
        SigType::ValueType(token) | SigType::Class(token) => {
            open_type_token(module, *token, depth + 1)
        }
        SigType::Var(n) | SigType::MVar(n) if *n > 0xFFFF => {
            Err(LoadError::bad_image(module, "bad type variable"))
        }
        SigType::Var(n) => Ok(u.position(*n, false)),
        SigType::MVar(n) => Ok(u.position(*n, true)),
        SigType::GenericInst { def, args, .. } => {
            let def = open_type_token(module, *def, depth + 1)?;
            let args = args
                .iter()
                .map(|a| open_type(module, a, depth + 1))
                .collect::<R<smallvec::SmallVec<[_; 8]>>>()?;
            u.instantiate(def, &args)
        }
        SigType::FnPtr(sig) => Ok(u.fn_ptr(open_sig(module, sig, depth)?)),
        SigType::Modified { inner, .. } | SigType::Pinned(inner) => {
            open_type(module, inner, depth + 1)
        }
    }
}

/// The type of a token in terms of positions.
fn open_type_token(module: ModuleRef, token: Token, depth: u32) -> R<ClassRef> {
    match token.table() {
        _ if token.is_nil() => Err(LoadError::bad_image(
            module,
            format!("{token}: a nil type token"),
        )),
        Some(Table::TypeDef) => module.type_def(token.rid()),
        Some(Table::TypeRef) => module.type_ref(token.rid()),
        Some(Table::TypeSpec) => {
            if let Some(c) = module
                .cache
                .type_specs
                .get(token.rid())
                .and_then(Published::get)
            {
                return Ok(c);
            }
            if depth > MAX_NESTING {
                return Err(LoadError::bad_image(
                    module,
                    format!("{token}: type specifications refer to one another in a cycle"),
                ));
            }
            let row = module
                .image
                .type_spec(token.rid())
                .map_err(|e| module.bad(e))?;
            let class = module
                .blob(row.signature)
                .and_then(|blob| parse_type_spec(blob).map_err(|e| module.bad(e)))
                .and_then(|ty| open_type(module, &ty, depth))
                .map_err(|e| e.in_row(module, token))?;
            Ok(module.cache.type_specs.at(token.rid()).set(class))
        }
        _ => Err(LoadError::bad_image(
            module,
            format!("{token} is not a type"),
        )),
    }
}

/// The parents of a class, nearest first, each with what it is in terms of the class's own parameters' positions.
fn inherited(class: ClassRef) -> R<Vec<(ClassRef, ClassRef)>> {
    let u = class.universe();
    let count = class.params()?.len() as u32;
    let positions: Vec<ClassRef> = (0..count).map(|n| u.position(n, false)).collect();
    let mut open = if positions.is_empty() {
        class
    } else {
        u.instantiate(class.def(), &positions)?
    };
    let mut list = Vec::new();
    for parent in class.supers()?.iter().rev().skip(1) {
        let Some(next) = open.parent()? else { break };
        open = next;
        list.push((*parent, open));
    }
    Ok(list)
}

/// The method of a class or of the nearest parent that has it, by open signature. A parent's is compared as the
/// class sees it, its arguments in their places; else as it is declared. Constructors are not inherited: a parent's makes no objects of the class.
fn find_method(class: ClassRef, name: &str, sig: &MethodSig) -> R<Option<MethodRef>> {
    if matches!(name, ".ctor" | ".cctor") && !class.is_array() {
        return class.find_method_sig(name, sig);
    }
    if class.is_inst() && class.find_method_sig(name, sig)?.is_none() {
        let fixed = &sig.params[..sig.sentinel.unwrap_or(sig.params.len())];
        for (parent, open) in inherited(class)? {
            for i in parent.methods_named(name)? {
                let row = parent.def().methods()?[i as usize];
                if row.param_count as usize != fixed.len()
                    || row.generic_arity != sig.generic_arity
                    || row.has_this() != sig.has_this
                {
                    continue;
                }
                let seen = GenericContext {
                    class_args: open.args(),
                    method_args: &[],
                }
                .substitute_class_args(row.open_sig()?)?;
                if seen.ret == sig.ret && seen.params == fixed {
                    return parent.method_at(i).map(Some);
                }
            }
        }
    }
    let mut at = Some(class);
    let mut left = 10 * MAX_DEPTH;
    while let Some(c) = at {
        if let Some(m) = if c.is_array() {
            find_array_method(c, name, sig)?
        } else {
            c.find_method_sig(name, sig)?
        } {
            return Ok(Some(m));
        }
        at = c.parent()?;
        left -= 1;
        if left == 0 {
            return Err(LoadError::type_load(
                class,
                "the chain of its parents does not end",
            ));
        }
    }
    if class.is_interface() {
        for i in class.interfaces()? {
            if let Some(m) = i.find_method_sig(name, sig)? {
                return Ok(Some(m));
            }
        }
        return class
            .universe()
            .known(Known::Object)
            .find_method_sig(name, sig);
    }
    Ok(None)
}
/// An array's own methods are told apart by name and number of parameters.
fn find_array_method(class: ClassRef, name: &str, sig: &MethodSig) -> R<Option<MethodRef>> {
    class.find_method(name, Some(sig.params.len()))
}
/// The field of a class, or of the nearest parent that has it, by open type.
fn find_field(class: ClassRef, name: &str, ty: ClassRef) -> R<Option<FieldRef>> {
    let mut at = Some(class);
    let mut left = 10 * MAX_DEPTH;
    while let Some(c) = at {
        if let Some(f) = c.find_field(name)? {
            if f.open_ty()? == ty {
                return Ok(Some(f));
            }
            // A name may be declared more than once.
            for f in c.fields()?.iter().filter(|f| f.name == name) {
                if f.open_ty()? == ty {
                    return Ok(Some(f));
                }
            }
        }
        at = c.parent()?;
        left -= 1;
        if left == 0 {
            return Err(LoadError::type_load(
                class,
                "the chain of its parents does not end",
            ));
        }
    }
    Ok(None)
}

/// What a MemberRef row means, in terms of positions.
fn open_member(module: ModuleRef, rid: u32) -> R<&'static Member> {
    match module.cache.members.get(rid).and_then(Published::get) {
        Some(m) => Ok(m),
        None => find_member(module, rid)
            .map_err(|e| e.in_row(module, Token::new(Table::MemberRef, rid))),
    }
}
/// What a MemberRef row means. The answer is kept by `open_member`.
fn find_member(module: ModuleRef, rid: u32) -> R<&'static Member> {
    let row = module.image.member_ref(rid).map_err(|e| module.bad(e))?;
    let name = module.string(row.name)?;
    let raw = parse_member_ref_sig(module.blob(row.signature)?).map_err(|e| module.bad(e))?;
    let class = match row.class.table() {
        Some(Table::MethodDef) => {
            let member = Member::Method(module.method_def(row.class.rid())?);
            return Ok(module.cache.members.at(rid).put(member));
        }
        Some(Table::ModuleRef) => {
            let file = module
                .image
                .module_ref(row.class.rid())
                .map_err(|e| module.bad(e))?;
            module.file(module.string(file.name)?)?.type_def(1)?
        }
        _ => open_type_token(module, row.class, 0)?,
    };
    if module.image.grows().is_some() {
        class.members_usable(matches!(raw, MemberSig::Field(_)))?;
    }
    class.check_named()?;
    let member = match raw {
        MemberSig::Method(raw) => {
            let sig = open_sig(module, &raw, 0)?;
            class.check_lacks_for(name)?;
            let found = find_method(class, name, &sig)?;
            let found = found.ok_or_else(|| LoadError::missing_overload(class, name, &sig))?;
            Member::Method(modifiers::choose(
                found,
                module,
                module.blob(row.signature)?,
            )?)
        }
        MemberSig::Field(raw) => {
            let token = Token::new(Table::MemberRef, rid);
            let ty = open_type(module, &raw, 0).map_err(|e| e.in_field_sig(class, name, token))?;
            let found = match class.fields_lack()? {
                Some(_) => None,
                None => find_field(class, name, ty)?,
            };
            Member::Field(found.ok_or_else(|| LoadError::missing_typed_field(class, name, ty))?)
        }
    };
    Ok(module.cache.members.at(rid).put(member))
}

impl Scope {
    /// The error of a token of the wrong kind.
    fn bad_token(&self, token: Token, what: &str) -> LoadError {
        LoadError::bad_image(self.module, format!("{token} is not {what}"))
    }
    /// The type of a TypeDef, TypeRef or TypeSpec token.
    pub fn type_(&self, token: Token) -> R<ClassRef> {
        if let Some(body) = self.dynamic {
            return body.type_(token);
        }
        let class = open_type_token(self.module, token, 0)?;
        if self.module.image.grows().is_some() {
            class.offered()?;
        }
        self.context.substitute(class)
    }
    /// Whether a cast to the type that a token names is one that mono's code looks up: the code is shared between all instantiations over references, the
    /// type depends on the instantiation, and to be an instance of it takes more than to have it as an ancestor.
    pub fn is_cast_shared(&self, token: Token) -> R<bool> {
        let arguments = || {
            let (of_class, of_method) = (self.context.class_args, self.context.method_args);
            of_class.iter().chain(of_method)
        };
        if self.dynamic.is_some() || arguments().next().is_none() {
            return Ok(false);
        }
        for argument in arguments() {
            if argument.is_value_type()? {
                return Ok(false);
            }
        }
        let open = open_type_token(self.module, token, 0)?;
        let is_class = matches!(open.kind, ClassKind::Def { .. } | ClassKind::Inst { .. });
        Ok(open.is_open
            && (!is_class
                || open.is_interface()
                || open.is_sealed()
                || open.is_marshal_by_ref()?))
    }
    /// The class that a definition of this module is seen as from here: within its own generic class, instantiated.
    fn seen(&self, class: ClassRef) -> R<ClassRef> {
        let args = self.context.class_args;
        if class.is_generic_def() && class.params()?.len() == args.len() {
            return class.universe().instantiate(class, args);
        }
        Ok(class)
    }
    /// The field of a Field or MemberRef token.
    pub fn field(&self, token: Token) -> R<FieldRef> {
        if let Some(body) = self.dynamic {
            return body.field(token);
        }
        let none = || self.bad_token(token, "a field");
        let (field, class) = match token.table() {
            Some(Table::Field) => {
                let field = self.module.field_def(token.rid())?;
                (field, self.seen(field.class)?)
            }
            Some(Table::MemberRef) => match open_member(self.module, token.rid())? {
                Member::Field(f) => (*f, self.context.substitute(f.class)?),
                Member::Method(_) => return Err(none()),
            },
            _ => return Err(none()),
        };
        if class == field.class {
            return Ok(field);
        }
        class
            .fields()?
            .get(field.index as usize)
            .copied()
            .ok_or_else(none)
    }
    /// Whether the class of the field that a token names differs between the instantiations of the generic method or class whose IL this is.
    pub fn field_depends_on_context(&self, token: Token) -> R<bool> {
        if self.dynamic.is_some() {
            return Ok(false);
        }
        Ok(match token.table() {
            Some(Table::Field) => self.module.field_def(token.rid())?.class.is_generic_def(),
            Some(Table::MemberRef) => {
                matches!(open_member(self.module, token.rid())?, Member::Field(f) if f.class.is_open)
            }
            _ => false,
        })
    }
    /// The method of a MethodDef, MemberRef or MethodSpec token.
    pub fn method(&self, token: Token) -> R<MethodRef> {
        if let Some(body) = self.dynamic {
            return body.method(token);
        }
        let none = || self.bad_token(token, "a method");
        let (method, class) = match token.table() {
            Some(Table::MethodDef) => {
                let method = self.module.method_def(token.rid())?;
                (method, self.seen(method.class)?)
            }
            Some(Table::MemberRef) => match open_member(self.module, token.rid())? {
                Member::Method(m) => (*m, self.context.substitute(m.class)?),
                Member::Field(_) => return Err(none()),
            },
            Some(Table::MethodSpec) => {
                let row = self
                    .module
                    .image
                    .method_spec(token.rid())
                    .map_err(|e| self.module.bad(e))?;
                if row.method.is(Table::MethodSpec) {
                    return Err(none());
                }
                let method = self.method(row.method)?;
                method.open_sig().map_err(|e| e.in_instance_of(method))?;
                let args = self
                    .module
                    .cache
                    .method_specs
                    .at(token.rid())
                    .get_or_try(|| {
                        let raw = parse_method_spec(self.module.blob(row.instantiation)?)
                            .map_err(|e| self.module.bad(e))?;
                        raw.iter()
                            .map(|a| open_type(self.module, a, 0))
                            .collect::<R<Vec<_>>>()
                    })?;
                let args = args
                    .iter()
                    .map(|a| self.context.substitute(a))
                    .collect::<R<smallvec::SmallVec<[_; 4]>>>()?;
                for argument in &args {
                    argument.check_named()?;
                    if self.module.image.grows().is_some() {
                        argument.members_usable(false)?;
                    }
                }
                return self.module.universe().instantiate_method(method, &args);
            }
            _ => return Err(none()),
        };
        if class == method.class {
            Ok(method)
        } else {
            class.method_at(method.index)
        }
    }
    /// The signature a vararg call site has.
    pub fn call_site_sig(&self, token: Token) -> R<Option<&'static MethodSig>> {
        if !token.is(Table::MemberRef) || self.dynamic.is_some() {
            return Ok(None);
        }
        let module = self.module;
        let row = module
            .image
            .member_ref(token.rid())
            .map_err(|e| module.bad(e))?;
        let blob = module.blob(row.signature)?;
        if blob.first().is_none_or(|b| b & 0x0F != 5) {
            return Ok(None);
        }
        let open = module
            .cache
            .call_sites
            .at(token.rid())
            .get_or_try(|| open_method_sig(module, blob))
            .map_err(|e| e.in_row(module, token))?;
        self.closed_sig(open).map(Some)
    }
    /// A signature with this scope's arguments.
    fn closed_sig(&self, open: &'static MethodSig) -> R<&'static MethodSig> {
        if !open.is_open() {
            return Ok(open);
        }
        // A function pointer class interns its signature.
        match self
            .module
            .universe()
            .fn_ptr(self.context.substitute_sig(open)?)
            .kind
        {
            ClassKind::FnPtr(sig) => Ok(sig),
            _ => Ok(open),
        }
    }
    /// The signature of a StandAloneSig token (`calli`).
    pub fn stand_alone_sig(&self, token: Token) -> R<&'static MethodSig> {
        if let Some(body) = self.dynamic {
            return body.signature(token);
        }
        let module = self.module;
        if !token.is(Table::StandAloneSig) {
            return Err(self.bad_token(token, "a signature"));
        }
        let read = || {
            let row = module
                .image
                .stand_alone_sig(token.rid())
                .map_err(|e| module.bad(e))?;
            open_method_sig(module, module.blob(row.signature)?)
        };
        let open = module.cache.sigs.at(token.rid()).get_or_try(read);
        let open = open.map_err(|e| e.in_row(module, token))?;
        self.closed_sig(open)
    }
    /// The type that a signature's bytes say.
    pub fn type_in_signature(&self, raw: &SigType) -> R<ClassRef> {
        self.context.substitute(open_type(self.module, raw, 0)?)
    }
    /// The signature of a method that bytes say.
    pub fn method_signature(&self, raw: &RawMethodSig) -> R<&'static MethodSig> {
        let open: &'static MethodSig = Box::leak(Box::new(open_sig(self.module, raw, 0)?));
        self.closed_sig(open)
    }
    /// The local variables of a body; none for a nil token.
    pub fn locals(&self, token: Token) -> R<Vec<Local>> {
        if let Some(body) = self.dynamic {
            return Ok(body.locals.clone());
        }
        let module = self.module;
        if token.is_nil() {
            return Ok(Vec::new());
        }
        if !token.is(Table::StandAloneSig) {
            return Err(self.bad_token(token, "a signature"));
        }
        let read = || {
            let row = module
                .image
                .stand_alone_sig(token.rid())
                .map_err(|e| module.bad(e))?;
            let raw = match parse_any_sig(module.blob(row.signature)?).map_err(|e| module.bad(e))? {
                AnySig::Locals(raw) => raw,
                _ => return Err(self.bad_token(token, "a signature of local variables")),
            };
            let local = |ty: &SigType| {
                let (mut pinned, mut at) = (false, ty);
                while let SigType::Pinned(inner) | SigType::Modified { inner, .. } = at {
                    pinned |= matches!(at, SigType::Pinned(_));
                    at = inner;
                }
                Ok(Local {
                    ty: open_type(module, at, 0)?,
                    pinned,
                })
            };
            raw.iter().map(local).collect()
        };
        let open = module.cache.locals.at(token.rid()).get_or_try(read);
        let open = open.map_err(|e| e.in_row(module, token))?;
        open.iter()
            .map(|l| {
                Ok(Local {
                    ty: self.context.substitute(l.ty)?,
                    ..*l
                })
            })
            .collect()
    }
    /// Who keeps the string of an `ldstr`.
    pub fn literal(&self, token: Token) -> R<LiteralRef> {
        match self.dynamic {
            None => Ok(LiteralRef::Module(self.module, token.0)),
            Some(body) => body.literal(token),
        }
    }
    /// A string literal.
    pub fn user_string(&self, token: Token) -> R<UserString<'static>> {
        self.module
            .image
            .user_string(token.0)
            .map_err(|e| self.module.bad(e))
    }
    /// What an `ldtoken` names.
    pub fn token(&self, token: Token) -> R<TokenTarget> {
        if let Some(body) = self.dynamic {
            return body.target(token);
        }
        match token.table() {
            Some(Table::Field) => self.field(token).map(TokenTarget::Field),
            Some(Table::MethodDef | Table::MethodSpec) => {
                self.method(token).map(TokenTarget::Method)
            }
            Some(Table::MemberRef) => match open_member(self.module, token.rid())? {
                Member::Field(f) => {
                    let scope = self.within(f.class)?;
                    scope.field(token).map(TokenTarget::Field)
                }
                Member::Method(m) => {
                    let scope = self.within(m.class)?;
                    scope.method(token).map(TokenTarget::Method)
                }
            },
            _ => {
                let class = self.type_(token)?;
                // Of an instantiation, only instructions that need more than its identity ask otherwise.
                class.def().offered_itself()?;
                Ok(TokenTarget::Type(class))
            }
        }
    }
    /// Where nothing is generic, code may name a member of a class over the positions of the class's own parameters, as `ILGenerator` writes it:
    /// it means the member of the definition. The scope in which it does.
    fn within(&self, class: ClassRef) -> R<Scope> {
        let mut scope = *self;
        if let ClassKind::Inst { def, args } = class.kind
            && self.context.class_args.is_empty()
            && self.context.method_args.is_empty()
            && args.iter().all(|a| {
                matches!(
                    a.kind,
                    ClassKind::Position {
                        of_method: false,
                        ..
                    }
                )
            })
        {
            scope.context.class_args = def.params()?;
        }
        Ok(scope)
    }
}
