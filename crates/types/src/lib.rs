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
//! # Map
//! * what there is: [`universe`] (everything by id), [`module`] (images, assemblies, finding types), [`class`],
//!   [`field`], [`method`], [`property`], [`known`] (the core library's types that have a name here)
//! * making types: [`generics`] (interning, substitution), [`resolve`] (tokens and signatures to types and members)
//! * levels: [`lookup`] (parents, interfaces, members by name), [`layout`], [`vtable`]
//! * questions: [`cast`], [`check`] (what may not be used), [`constraints`], [`names`]; [`error`] is what any of them may answer
//!
//! # What to rely on
//! * A runtime implements [`AssemblyLoader`], makes one [`Universe`], loads the core library
//!   ([`Universe::load_module`]) and declares it ([`Universe::set_corlib`]); then known types can be used.
//! * Whatever may load a type answers [`R`]. [`LoadError::Need`] asks for managed resolve events and another try.
//! * Signatures are read once per definition, in terms of positions (`!0`, `!!0`); a context puts the arguments in.
//!   A generic definition's own context is its own parameters, so that open code can be looked at like closed code.
//! * A token is resolved by [`Scope`] and by nothing else; a method's is [`Method::scope`].
//! * Ids of classes, methods and fields are dense: what a domain keeps per class is a table by id.
//!
//! //! # Not here
//! VTables in memory, statics, code (crate runtime): this crate says what they contain.
#![forbid(unsafe_code)]
pub mod cast;
pub mod check;
pub mod class;
pub mod constraints;
pub mod error;
pub mod field;
pub mod generics;
pub mod known;
pub mod layout;
pub mod lookup;
pub mod method;
mod modifiers;
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
pub use layout::{Layout, Scalar, ScalarKind};
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
/// Limit of recursive levels: types that need one another, references that are resolved through references.
pub const MAX_DEPTH: u32 = 100;
/// Limit of nesting within one type: arguments in arguments, elements of elements ([`Class::inst_depth`]). Every walk
/// of a type's structure may recurse, for a level takes less than 512 bytes of the 256 KiB that the runtime's own code
/// is sure to find on a stack.
pub const MAX_NESTING: u32 = 250;
/// Greatest rank of an array, as in mono and CoreCLR.
pub const MAX_RANK: u32 = 32;
/// Limit of the number of types that an instantiation is written with.
pub const MAX_WEIGHT: u32 = 10_000;
