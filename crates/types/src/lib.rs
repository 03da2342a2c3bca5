//! What a type is: classes, generics, layout, virtual methods, members. No instances, code or
//! threads.
//!
//! # How it works
//! Every type is one canonical `&'static Class`: definitions, instantiations, arrays, pointers,
//! byrefs, function pointers, generic parameters. Two types are equal if the addresses are. A class
//! is created with its identity only, and gains its other *levels* when they are first asked for:
//!
//! ```text
//! identity      name, kind, module, arguments           always
//! hierarchy     parent, interfaces                      needs identities
//! members       fields, methods, properties, events     needs identities
//! layout        offsets of fields, size                 needs the layouts of value-type fields and of the parent
//! vtable        slots, implementations                  needs parents, members, signatures
//! ```
//!
//! Each level is computed without a lock and published once ([`vervet_os::Published`]): of two
//! threads that compute the same level, one publishes its result and the other takes that. Intern
//! tables are behind leaf locks. A level that needs itself, or an instantiation that never ends,
//! becomes a [`LoadError`] when its depth exceeds [`MAX_DEPTH`].
//!
//! # Map
//! * what there is: [`universe`] (everything by id), [`module`] (images, assemblies, finding
//!   types), [`class`], [`field`], [`method`], [`property`], [`known`] (the core library's types
//!   that have a name here)
//! * making types: [`generics`] (interning, substitution), [`resolve`] (tokens and signatures to
//!   types and members)
//! * members that are added to types of the core library: [`grafts`]; methods without metadata: [`dynamic`]; modules that grow: [`growing`]
//! * levels: [`hierarchy`] (parents, interfaces), [`generic_params`], [`members`], [`find`]
//!   (members by name), [`layout`], [`vtable`]; `derived` (which types name a type as parent),
//!   [`rows`] (what reflection asks before it gives out a type)
//! * for code that is kept: [`edges`] (what references were bound to), [`stable`] (hashes that are the
//!   same in every process)
//! * questions: [`cast`], [`check`] (what may not be used), [`constraints`], [`names`]; [`error`]
//!   is why any of them fails
//!
//! # What to rely on
//! * A runtime implements [`AssemblyLoader`], creates one [`Universe`], loads the core library
//!   ([`Universe::load_module`]) and declares it ([`Universe::set_corlib`]). From then on known
//!   types can be used.
//! * Whatever may load a type returns [`R`]. [`LoadError::Need`] asks the caller to raise managed
//!   resolve events and to try again.
//! * Signatures are read once per definition, in terms of positions (`!0`, `!!0`); a context
//!   substitutes the arguments. The context of a generic definition is its own parameters, so open
//!   code is examined like closed code.
//! * Only [`Scope`] resolves tokens; that of a method is [`Method::scope`].
//! * The ids of classes, methods and fields are dense, so that a domain can keep a table by id.
//!
//! # Not here
//! VTables in memory, statics and code are in crate `runtime`. This crate says what they contain.
#![forbid(unsafe_code)]
pub mod cast;
pub mod check;
pub mod class;
pub mod constraints;
mod derived;
pub mod dynamic;
pub mod edges;
pub mod error;
pub mod field;
pub mod find;
mod friends;
pub mod generic_params;
pub mod generics;
pub mod grafts;
pub mod growing;
pub mod hierarchy;
pub mod known;
pub mod layout;
pub mod members;
pub mod method;
mod modifiers;
pub mod module;
mod name_table;
pub mod names;
pub mod native_function;
pub mod property;
pub mod resolve;
pub mod rows;
pub mod stable;
pub mod type_name;
pub mod universe;
pub mod vtable;

pub use class::{Class, ClassKind, Prim};
pub use dynamic::{DynBody, DynToken, LiteralRef};
pub use error::{Ask, LoadError, Need, R};
pub use field::{Field, StaticKind};
pub use known::Known;
pub use layout::{Layout, Scalar, ScalarKind};
pub use method::{DllImport, Method, MethodKind, MethodSig};
pub use module::{Assembly, AssemblyLoader, AssemblyRefInfo, Module};
pub use native_function::NativeFunction;
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
