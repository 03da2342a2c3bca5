//! What the internal calls of several namespaces share.
pub mod args;
pub mod arrays;
pub mod callers;
pub mod constants;
pub mod emit;
pub mod errno;
pub mod error_numbers;
pub mod fields;
pub mod handles;
pub mod invoke;
pub mod marshal_as;
pub mod objects;
pub mod performance;
pub mod text;
pub mod type_display;
pub mod type_lookup;
pub mod values;
