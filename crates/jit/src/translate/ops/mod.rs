//! Instructions that compute, load and store, and the table from opcodes to their translation.
pub mod arith;
pub mod arrays;
pub mod conv;
pub mod fields;
pub mod objects;
pub mod opcodes;
pub mod typedref;
