//! Methods without metadata: what a `System.Reflection.Emit.DynamicMethod` becomes.
//!
//! # How it works
//! ```text
//! 1. Universe::add_dynamic_method     the method, with its signature; other bodies may name it, and it may name itself
//! 2. Method::set_dynamic_body         its body; from then on it can be compiled
//! ```
//! The tokens in the IL of such a body are no metadata tokens: token `n` is the `n`th of [`DynBody::tokens`]. The method's [`Scope`] resolves
//! them, so the compiler does not know the difference.
//!
//! # Invariants
//! * A body is set once and does not change.
//! * The IL comes from the program as bytes. A token that is not in the list, or names another sort of thing, is an
//!   [`LoadError::InvalidProgram`], never a panic.
//! * Everything that the list names lives for ever, and is closed or an error when it is used.
use crate::method::{MethodCells, MethodKind, Rare};
use crate::*;
use vervet_metadata::{MethodBody, Token};
use vervet_os::Published;

/// What a token of a dynamic body names.
#[derive(Clone, Copy, Debug)]
pub enum DynToken {
    /// Nothing.
    None,
    /// A type.
    Type(ClassRef),
    /// A method.
    Method(MethodRef),
    /// A field.
    Field(FieldRef),
    /// The signature of a `calli`.
    Signature(&'static MethodSig),
    /// A string literal, by its number among those that the runtime keeps for dynamic methods.
    Literal(u32),
}

/// The body of a dynamic method.
#[derive(Debug)]
pub struct DynBody {
    /// IL and clauses. The token of a clause's class is one of `tokens`, as those in the IL are. `local_sig` is not nil, and nothing else.
    pub il: MethodBody<'static>,
    /// Its local variables.
    pub locals: Vec<Local>,
    /// What the tokens 1, 2 ... name.
    pub tokens: Vec<DynToken>,
    /// The method that it is the body of.
    pub method: MethodRef,
}

/// A string literal: who keeps it, and under which number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralRef {
    /// Of the `#US` heap of a module.
    Module(ModuleRef, u32),
    /// Of a dynamic method.
    Dynamic(u32),
}

/// What a token names among these; tokens count from 1.
fn named(tokens: &[DynToken], token: Token) -> DynToken {
    let index = (token.0 as usize).checked_sub(1);
    let found = index.and_then(|i| tokens.get(i));
    found.copied().unwrap_or(DynToken::None)
}

impl DynBody {
    fn at(&self, token: Token) -> DynToken {
        named(&self.tokens, token)
    }
    fn bad(&self, token: Token, what: &str) -> LoadError {
        LoadError::InvalidProgram {
            method: self.method.full_name(),
            offset: 0,
            reason: format!("the token {:#x} is not {what}", token.0),
        }
    }
    pub(crate) fn type_(&self, token: Token) -> R<ClassRef> {
        match self.at(token) {
            DynToken::Type(class) => Ok(class),
            _ => Err(self.bad(token, "a type")),
        }
    }
    pub(crate) fn method(&self, token: Token) -> R<MethodRef> {
        match self.at(token) {
            DynToken::Method(method) => Ok(method),
            _ => Err(self.bad(token, "a method")),
        }
    }
    pub(crate) fn field(&self, token: Token) -> R<FieldRef> {
        match self.at(token) {
            DynToken::Field(field) => Ok(field),
            _ => Err(self.bad(token, "a field")),
        }
    }
    pub(crate) fn signature(&self, token: Token) -> R<&'static MethodSig> {
        match self.at(token) {
            DynToken::Signature(sig) => Ok(sig),
            _ => Err(self.bad(token, "a signature")),
        }
    }
    pub(crate) fn literal(&self, token: Token) -> R<LiteralRef> {
        match self.at(token) {
            DynToken::Literal(number) => Ok(LiteralRef::Dynamic(number)),
            _ => Err(self.bad(token, "a string")),
        }
    }
    pub(crate) fn target(&self, token: Token) -> R<TokenTarget> {
        match self.at(token) {
            DynToken::Type(class) => Ok(TokenTarget::Type(class)),
            DynToken::Method(method) => Ok(TokenTarget::Method(method)),
            DynToken::Field(field) => Ok(TokenTarget::Field(field)),
            _ => Err(self.bad(token, "a type, method or field")),
        }
    }
}

impl Universe {
    /// A static method of `class` that has no metadata, and no body until [`Method::set_dynamic_body`]. It is none of the methods that the
    /// class lists. `flags` are MethodAttributes; `home` is the answer of [`Method::home`].
    pub fn add_dynamic_method(
        &'static self,
        (class, home): (ClassRef, ModuleRef),
        name: &'static str,
        flags: u32,
        ret: ClassRef,
        params: Vec<ClassRef>,
    ) -> MethodRef {
        let method = self.add_method(|id| Method {
            id,
            class,
            rid: 0,
            index: u32::MAX,
            name,
            flags: flags | method::method_flags::STATIC,
            impl_flags: 0,
            generic_arity: 0,
            param_count: params.len() as u32,
            kind: MethodKind::Dynamic,
            typical: None,
            rare: Some(Box::leak(Box::new(Rare::Dynamic(Published::new(), home)))),
            blob: &[],
            cells: MethodCells::default(),
        });
        let sig = method.cells.sig.put(MethodSig::plain(false, ret, params));
        method.cells.open_sig.set(sig);
        method
    }
}

impl Method {
    /// Is it a dynamic method?
    pub fn is_dynamic(&self) -> bool {
        self.kind == MethodKind::Dynamic
    }
    /// Gives a dynamic method its body, unless it has one; the one that stands.
    pub fn set_dynamic_body(&self, body: DynBody) -> &'static DynBody {
        let cell = self.dynamic_cell();
        cell.expect("a body for a method with metadata").put(body)
    }
    /// Where the body of a dynamic method is. None: it is none.
    pub(crate) fn dynamic_cell(&self) -> Option<&'static Published<DynBody>> {
        match self.rare {
            Some(Rare::Dynamic(cell, _)) => Some(cell),
            _ => None,
        }
    }
    /// The body of a dynamic method.
    pub(crate) fn dynamic_body(&self) -> R<&'static DynBody> {
        self.dynamic_cell()
            .and_then(Published::get)
            .ok_or_else(|| LoadError::InvalidProgram {
                method: self.full_name(),
                offset: 0,
                reason: "the dynamic method has no body yet".to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_outside_of_the_list_name_nothing() {
        let tokens = [DynToken::Literal(3), DynToken::None];
        let named = |n| named(&tokens, Token(n));
        assert!(matches!(named(1), DynToken::Literal(3)));
        for n in [0, 2, 3, 0x0600_0001, 0x7000_0001, u32::MAX] {
            assert!(matches!(named(n), DynToken::None), "{n:#x}");
        }
    }
}
