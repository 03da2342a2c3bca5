//! Members of a class, and finding them by name.
//!
//! # Invariants
//! Members are enumerated through these functions only: rows of the metadata (in order of declaration), or what an
//! array has instead. Finding by name uses an index made once per definition, shared by its instantiations.
use crate::*;

/// Indices of members by name.
#[derive(Default)]
pub(crate) struct NameIndex {}

impl Class {
    /// The parent; none for Object, interfaces, pointers and the like.
    pub fn parent(&'static self) -> R<Option<ClassRef>> {
        todo!()
    }
    /// Ancestors, root first, itself last; an interface: just itself.
    pub fn supers(&'static self) -> R<&'static [ClassRef]> {
        todo!()
    }
    /// The interfaces its InterfaceImpl rows name (II.22.23); for vectors those of contract.
    pub fn declared_interfaces(&'static self) -> R<&'static [ClassRef]> {
        todo!()
    }
    /// All interfaces it implements, transitively and through its parents, without duplicates.
    pub fn interfaces(&'static self) -> R<&'static [ClassRef]> {
        todo!()
    }
    /// Its generic parameters (definitions; an instantiation answers its definition's).
    pub fn params(&'static self) -> R<&'static [ClassRef]> {
        todo!()
    }
    /// The underlying type of an enum.
    pub fn enum_underlying(&'static self) -> R<Option<ClassRef>> {
        todo!()
    }
    /// Own fields in order of declaration.
    pub fn fields(&'static self) -> R<&'static [FieldRef]> {
        todo!()
    }
    /// Own methods in order of declaration, those synthesized for arrays included.
    pub fn methods(&'static self) -> R<&'static [MethodRef]> {
        todo!()
    }
    /// Own properties.
    pub fn properties(&'static self) -> R<&'static [Property]> {
        todo!()
    }
    /// Own events.
    pub fn events(&'static self) -> R<&'static [Event]> {
        todo!()
    }
    /// Types nested directly in it (definitions).
    pub fn nested_types(&'static self) -> R<Vec<ClassRef>> {
        todo!()
    }
    /// The type it is nested in (a definition).
    pub fn declaring_type(&'static self) -> R<Option<ClassRef>> {
        todo!()
    }
    /// An own field.
    pub fn find_field(&'static self, name: &str) -> R<Option<FieldRef>> {
        let _ = name;
        todo!()
    }
    /// An own method; the first with that many parameters.
    pub fn find_method(&'static self, name: &str, params: Option<usize>) -> R<Option<MethodRef>> {
        let _ = (name, params);
        todo!()
    }
    /// An own method with exactly that open signature.
    pub fn find_method_sig(&'static self, name: &str, sig: &MethodSig) -> R<Option<MethodRef>> {
        let _ = (name, sig);
        todo!()
    }
    /// The class constructor.
    pub fn cctor(&'static self) -> R<Option<MethodRef>> {
        todo!()
    }
    /// The override of Object.Finalize, if there is one other than Object's.
    pub fn finalizer(&'static self) -> R<Option<MethodRef>> {
        todo!()
    }
    /// GenericParamAttributes of a generic parameter (II.23.1.7).
    pub fn param_flags(&'static self) -> R<u32> {
        todo!()
    }
    /// The constraints of a generic parameter.
    pub fn param_constraints(&'static self) -> R<Vec<ClassRef>> {
        todo!()
    }
}
