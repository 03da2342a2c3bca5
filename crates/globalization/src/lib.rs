//! What a program is told of cultures, regions and the normal forms of text.
//!
//! A culture says how dates, numbers and lists are written in a language, and in a territory if it is not neutral; a region says
//! what the territory and its currency are called. Both are facts measured on mono ([`facts`](../facts)), which the build script packs
//! into constants: one pool of texts in which each is there once, lists as offsets into it, and records of offsets. Nothing is
//! parsed, copied or allocated before it is asked for, and the tables have no addresses in them that a loader would have to adjust.
//!
//! The invariant culture is not here: managed code has it.
#![forbid(unsafe_code)]

mod culture;
pub mod normalization;
mod region;
mod tables;
mod text;

pub use culture::{Culture, Dates, TextInfo, cultures};
pub use region::Region;
pub use text::{Text, Texts, pool};
