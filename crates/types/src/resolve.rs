//! The one resolver of tokens: from a token in a module and a generic context to classes, fields, methods.
//!
//! # Invariants
//! Resolving names things and never loads them further. What does not depend on the context is resolved once per
//! module. A member reference is compared with the *open* signatures of its class's members (positions), so that
//! overloads which an instantiation makes equal stay distinct (II.22.25).
use crate::*;
use vervet_metadata::{SigType, UserString};

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
#[derive(Clone, Copy, Debug)]
pub enum TokenTarget {
    /// A type.
    Type(ClassRef),
    /// A method.
    Method(MethodRef),
    /// A field.
    Field(FieldRef),
}

impl Scope {
    /// The type of a TypeDef, TypeRef or TypeSpec token.
    pub fn type_(&self, token: Token) -> R<ClassRef> {
        let _ = token;
        todo!()
    }
    /// The field of a Field or MemberRef token.
    pub fn field(&self, token: Token) -> R<FieldRef> {
        let _ = token;
        todo!()
    }
    /// The method of a MethodDef, MemberRef or MethodSpec token.
    pub fn method(&self, token: Token) -> R<MethodRef> {
        let _ = token;
        todo!()
    }
    /// The signature a vararg call site has.
    pub fn call_site_sig(&self, token: Token) -> R<Option<&'static MethodSig>> {
        let _ = token;
        todo!()
    }
    /// The signature of a StandAloneSig token (`calli`).
    pub fn stand_alone_sig(&self, token: Token) -> R<&'static MethodSig> {
        let _ = token;
        todo!()
    }
    /// The local variables of a body.
    pub fn locals(&self, token: Token) -> R<Vec<Local>> {
        let _ = token;
        todo!()
    }
    /// A string literal.
    pub fn user_string(&self, token: Token) -> R<UserString<'static>> {
        let _ = token;
        todo!()
    }
    /// The class a signature's type means.
    pub fn sig_type(&self, ty: &SigType) -> R<ClassRef> {
        let _ = ty;
        todo!()
    }
    /// What an `ldtoken` names.
    pub fn token(&self, token: Token) -> R<TokenTarget> {
        let _ = token;
        todo!()
    }
}
