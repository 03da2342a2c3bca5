//! The heap: a generational, mostly concurrent, mostly copying garbage collector. It knows objects through [`Model`] and the rest of the
//! process through [`World`], and nothing of the CLI.
//!
//! Young objects are bump-allocated in threads' TLABs. A minor collection stops the world, copies the young objects that are reachable, and
//! leaves those in place that a stack may refer to: stacks are scanned conservatively, so such objects are pinned. Old objects lie in blocks
//! with side bitmaps. A major collection marks them while the program runs, between two short pauses, then sweeps lazily and evacuates
//! sparse blocks.
//!
//! # Map
//! | where | what |
//! |---|---|
//! | [`heap`](Heap) | the struct [`Heap`]: the state of all that follows |
//! | [`mod@allocate`], `capacity` | what mutators call when their TLAB is used up; whether there is space at all |
//! | [`mod@collect`] | what every stop of the world has in common; collections on request |
//! | [`space`] | the address range: blocks, side bitmaps, card table, free blocks; old blocks and large objects |
//! | [`minor`] | the minor collection, phase by phase |
//! | [`major`] | the major collection: cycle, pauses, marking, evacuation, sweeping, pacing |
//! | [`roots`] | conservative scanning of stacks; root memory (static fields) |
//! | [`references`] | ephemerons and finalizers |
//! | [`threads`] | the gate between pauses and the marker, the worker pool, affinities |
//! | [`verify`] | the heap verifier |
//! | `snapshot` | the heap at the end of a collection, for who records it |
//! | [`model`], [`descriptor`], `object` | how objects look |
//! | [`memory`], [`stats`], [`config`] | memory that is not malloc's, counts and the log, options |
//!
//! # The life of an object
//! ```text
//!              allocate            minor: first survival      minor: second survival
//!   TLAB  ---------------> Nursery ---------------> Nursery, age 1 ---------------> Old
//!                             |                        |                             |
//!                             | a stack refers to it: pinned, stays where it is      | marked, swept, perhaps evacuated
//!                             v                        v                             v
//!                          Nursery block with gaps, or (many pins, pinned handle) the block becomes Old as it is
//!   larger than 8 KiB -------------------------------------------------------------> Large: old from birth, never moves
//! ```
//!
//! # Invariants
//! * One thread collects at a time: the one that has stopped the world. What the collector's own thread may do meanwhile: [`threads::gate`].
//! * While the world is stopped nothing here calls malloc or takes a lock that a stopped thread may hold.
//! * A reference from an old object to a young one lies on a marked card: `card[(address >> 9) & mask]` is marked with the low byte of the
//!   reference that was stored, and 0xFF is clean ([`space::card_marks`]).
//! * Young memory is handed out only while there is space for the collection that follows, whoever asks for it and when
//!   ([`space::reserve`](crate::space), `capacity`).
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
mod snapshot;
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
pub use model::{
    Contents, Inspection, Model, Mutator, ParkedSet, Phase, Range, Snapshot, SnapshotVisitor, Tlab,
    World,
};

#[cfg(test)]
extern crate self as vervet_heap;
