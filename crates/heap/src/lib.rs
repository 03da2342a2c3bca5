//! The heap: a generational, moving collector. It knows objects through [`Model`] and the rest of the process through
//! [`World`], and nothing of the CLI.
//!
//! * Young objects are bump-allocated in threads' TLABs ([`nursery`]); a minor collection ([`minor`]) copies what lives
//!   ([`copying`], [`mod@cards`]), pins what a stack may refer to ([`conservative`]), and makes the nursery anew ([`rebuild`]).
//! * Old objects lie in blocks with side bitmaps ([`space`], [`old`]); they are marked while the program runs ([`marking`], [`major`]), swept
//!   lazily, and sparse blocks are emptied ([`evacuate`]). Large objects have blocks of their own ([`large`]).
//! * References from old to young objects are found by cards: `card[(address >> 9) & mask]` is marked with the low byte of the
//!   reference that was stored; 0xFF is clean.
//!
//! # Invariants
//! * One thread collects at a time: it has stopped the world. What the collector's own thread does meanwhile: [`gate`].
//! * While the world is stopped nothing here calls malloc or takes a lock that a stopped thread may hold.
//! * Young memory is handed out only while the next collection has the room it may need, whoever asks for it and when
//!   ([`room`]).
pub mod allocate;
mod capacity;
pub mod collect;
pub mod config;
pub mod descriptor;
mod heap;
mod heap_shot;
pub mod major;
pub mod memory;
pub mod minor;
pub mod model;
mod object;
pub mod references;
pub mod roots;
pub mod space;
pub mod stats;
mod sync;
pub mod threads;
#[cfg(test)]
#[path = "../tests/toy/mod.rs"]
mod toy;
pub mod verify;

pub use allocate::SMALL;
pub use config::{Config, Debug};
pub use descriptor::Descriptor;
pub use heap::{Heap, address_space};
pub use model::{Contents, Inspection, Model, Mutator, Range, Tlab, World};

#[cfg(test)]
extern crate self as vervet_heap;
