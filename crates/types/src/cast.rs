//! Which types are instances of which (I.8.7, III.4.3, and what mono adds for arrays).
//!
//! # Invariants
//! Reflexive, transitive except for variance through value types; never loads more than parents and interfaces.
use crate::*;

impl Universe {
    /// Whether an instance of exactly `from` is an instance of `to`: the rule of `castclass` and `isinst`.
    pub fn is_assignable(&'static self, from: ClassRef, to: ClassRef) -> R<bool> {
        let _ = (from, to);
        todo!()
    }
    /// `to.IsAssignableFrom(from)` of reflection.
    pub fn is_assignable_from_reflection(&'static self, to: ClassRef, from: ClassRef) -> R<bool> {
        let _ = (from, to);
        todo!()
    }
    /// Whether an array of `from` may be taken for an array of `to`.
    pub fn array_element_compatible(&'static self, from: ClassRef, to: ClassRef) -> R<bool> {
        let _ = (from, to);
        todo!()
    }
}
