//! Native halves of System.Reflection.
//!
//! # How it works
//! Handles that managed code carries are addresses of the type system's own `&'static` values: type handles and
//! class pointers of a `Class`, method handles of a `Method`, field handles of a `Field`, module handles of a
//! `Module`, assembly handles of an `Assembly`, and so on. Reflection objects come from the domain's cache, keyed by
//! [`crate::support::objects::key`].
//!
//! # Invariants
//! One entity seen through one reflected class is one object. An object is complete before it is cached.
//! Nothing here keeps an `ObjRef` in a heap container: several references travel in a managed array.
//!
//! # Not here   Created domains, remoting.
pub mod assembly;
pub mod assembly_name;
pub mod custom_attribute_data;
pub mod emit;
pub mod event;
pub mod field;
pub mod method;
pub mod method_body;
pub mod module;
pub mod parameter;
pub mod property;
pub mod resources;
