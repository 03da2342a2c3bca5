//! Properties and events: names for groups of accessor methods (ECMA-335 II.22.13, II.22.34).
//!
//! # Invariants
//! The accessors belong to the same class, or the same instantiation, as the property or event.
use crate::*;

/// A property of a class.
pub struct Property {
    /// The class.
    pub class: ClassRef,
    /// The module that declares it, in which its row is. That of its class, unless it is grafted ([`crate::grafts`]).
    pub module: ModuleRef,
    /// Row of the Property table of `module`.
    pub rid: u32,
    /// Name.
    pub name: &'static str,
    /// PropertyAttributes.
    pub flags: u32,
    /// Getter.
    pub getter: Option<MethodRef>,
    /// Setter.
    pub setter: Option<MethodRef>,
    /// Others.
    pub others: Vec<MethodRef>,
}
/// An event of a class.
pub struct Event {
    /// The class.
    pub class: ClassRef,
    /// Row of the Event table.
    pub rid: u32,
    /// Name.
    pub name: &'static str,
    /// EventAttributes.
    pub flags: u32,
    /// add.
    pub add: Option<MethodRef>,
    /// remove.
    pub remove: Option<MethodRef>,
    /// raise.
    pub raise: Option<MethodRef>,
    /// Others.
    pub others: Vec<MethodRef>,
}
