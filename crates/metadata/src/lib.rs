//! A total, zero-copy reader of ECMA-335 metadata (partition II, sections
//! 22–25) and of the symbol files that go with it.
//!
//! Invariants of the whole crate:
//!
//! * Total: whatever the bytes, every function returns; nothing panics, loops
//!   or allocates more than a small multiple of the input.
//! * Zero-copy and lazy: [`Image::parse`] reads headers only; names, blobs and
//!   code are slices of the input; rows are decoded when asked for.
//! * Nothing is resolved: tokens and heap indices are handed out as they are
//!   and checked where they are used. Meaning is the type system's business.
#![forbid(unsafe_code)]

mod bytes;

pub mod body;
pub mod constants;
pub mod custom_attribute;
pub mod error;
pub mod growing;
pub mod heaps;
pub mod il;
pub mod image;
mod keys;
pub mod lookup;
pub mod names;
pub mod pe;
mod permissions;
pub mod resources;
pub mod signature;
pub mod symbols;
pub mod tables;
pub mod text;
mod token;
pub mod version;
pub mod walk;
pub mod write;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use body::{EhClause, EhKind, MethodBody};
pub use constants::ConstantValue;
pub use custom_attribute::CustomAttrReader;
pub use error::Error;
pub use growing::Growing;
pub use heaps::UserString;
pub use il::{Instr, Instructions, Op, Operand};
pub use image::Image;
pub use lookup::Rids;
pub use pe::PeInfo;
pub use signature::*;
pub use symbols::{SourceLine, SymbolFile};
pub use tables::*;
pub use token::Token;
pub use walk::fuzz_image;
