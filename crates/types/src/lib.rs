//! What a type *is*: classes, generics, layout, vtables, member lookup. No instances, code or threads.
//!
//! # How it works
//! Every type is one canonical `&'static Class`: definitions, closed and open instantiations, arrays,
//! pointers, byrefs, function pointers, generic parameters. Equality is pointer equality. A class is made in
//! its *named* level (identity only) and gains the others on demand: parents, members, layout, vtable. Each
//! level is computed without holding a lock and published once ([`vervet_os::Published`]); intern tables are
//! behind leaf locks. A level that would need itself again, or an instantiation that never ends, is a
//! [`LoadError`] when its depth passes [`MAX_DEPTH`].
//!
//! # Not here
//! VTables in memory, statics, code (crate runtime): this crate says what they contain.
#![forbid(unsafe_code)]
pub mod cast;
pub mod class;
pub mod error;
pub mod field;
pub mod generics;
pub mod known;
pub mod layout;
pub mod lookup;
pub mod method;
pub mod module;
pub mod names;
pub mod property;
pub mod resolve;
pub mod universe;
pub mod vtable;

pub use class::{Class, ClassKind, Prim};
pub use error::{LoadError, Need, R};
pub use field::{Field, StaticKind};
pub use known::Known;
pub use layout::{Layout, Leaf, LeafKind};
pub use method::{DllImport, Method, MethodKind, MethodSig};
pub use module::{Assembly, AssemblyLoader, AssemblyRefInfo, Module};
pub use property::{Event, Property};
pub use resolve::{GenericContext, Local, Scope, TokenTarget};
pub use universe::Universe;
pub use vervet_metadata::Token;
pub use vtable::VTableLayout;

/// A canonical class; equality is pointer equality.
pub type ClassRef = &'static Class;
/// A canonical method (definition, or instantiation over closed arguments).
pub type MethodRef = &'static Method;
/// A canonical field (of a definition or of one instantiation).
pub type FieldRef = &'static Field;
/// A loaded module (one metadata image).
pub type ModuleRef = &'static Module;
/// Limit of nesting of instantiations and of recursive levels.
pub const MAX_DEPTH: u32 = 100;
/// Limit of the number of types that an instantiation is written with.
pub const MAX_WEIGHT: u32 = 10_000;
