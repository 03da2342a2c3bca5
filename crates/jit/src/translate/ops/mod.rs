//! Instructions that compute, load and store, and the table from opcodes to their translation.
pub mod arith;
mod array_data;
pub mod arrays;
pub mod conv;
pub mod fields;
mod nullables;
pub mod objects;
pub mod opcodes;
mod thread_statics;
pub mod typedref;
