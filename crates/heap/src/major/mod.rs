//! The major collection: what is reachable is marked while the program runs; then the rest is forgotten.
//!
//! # Invariants
//! * Marking is incremental update over the cards. Both stops begin with a minor collection that promotes everything unpinned.
//!   Stop one looks at stacks, roots and what is still young; the marker follows references between old objects; stop two looks
//!   at stacks, roots, young objects and the cards that were dirty since stop one, and marks the rest. What is unmarked then is
//!   unreachable.
//! * Minor collections while marking runs fold the cards they clean into the mod-union table. What they promote is marked, and
//!   so is what it refers to. Large objects made meanwhile are born marked; what is stored into them lies on cards. Which of them are
//!   tables of pairs is noted at birth ([`crate::references::ephemerons`]).
//! * The marker and the sweeper work in steps ([`crate::threads::gate`]), beside the program and beside the copying of minor collections;
//!   they never see a block change hands.
//! * When marking begins no `mark` bit of an old block is set, because every block has been swept.
pub mod cycle;
pub mod ephemerons;
pub mod evacuate;
pub mod marker;
pub mod marking;
mod pacing;
pub mod pauses;
mod prefetch;
pub mod state;
pub mod sweep;
