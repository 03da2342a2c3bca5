//! What a class needs at run time beyond its metadata.
//!
//! * [`vtables`]: the VTable of a class in the domain; [`initialize`]: running class constructors
//! * [`grafts`]: members that the runtime adds to types of the core library
//! * [`casts`]: type tests; [`layout_check`]: the layouts that Rust code relies on, compared with the class library
pub mod casts;
pub mod grafts;
pub mod initialize;
pub mod layout_check;
pub mod nullable;
pub mod receivers;
pub mod remembered;
pub mod vtables;
