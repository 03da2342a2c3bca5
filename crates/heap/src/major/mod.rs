//! Major collections: what is reachable in the old generation is marked while the program runs; then the rest is swept.
//!
//! ```text
//!   phase                where it runs                        threads    what is done
//!   -------------------  -----------------------------------  ---------  --------------------------------------------------------
//!   initial mark pause   world stopped, gate shut             one        minor collection; stacks, roots, young objects are scanned
//!   concurrent marking   beside the program, in gate steps    one        root memory and parked threads are scanned; objects on the
//!                                                                        marker's stack are scanned until it is empty
//!   precleaning          beside the program, in gate steps    one        cards written to meanwhile, and threads that were parked
//!                                                                        meanwhile, are scanned, twice
//!   final mark pause     world stopped, gate shut             all        minor collection; stacks, of parked threads those that have run
//!                                                                        since they were scanned; roots, young objects and the rest of
//!                                                                        the cards; ephemerons, weak handles, finalizers; evacuation
//!   sweeping             beside the program, in gate steps    one        dead objects are forgotten, empty blocks freed
//! ```
//! If the old generation is small, both pauses are one, and nothing runs between them.
//!
//! # Map
//! * [`state`]: the state of a cycle. [`cycle`]: the collector's thread, and the order of the phases. [`pauses`]: initial and final mark.
//! * [`marking`]: one worker that marks. [`marker`]: what it owns. [`parked`], [`statics`]: parked threads and root memory, beside
//!   the program. `prefetch`: objects on their way into the cache.
//! * [`ephemerons`], [`evacuate`], [`sweep`]: parts of the end of a cycle. `pacing`: when a cycle begins and how mutators help.
//!
//! # Invariants
//! * Marking is incremental update over the cards: an object, or a word of root memory, that is stored into after it was scanned lies on a marked card, which minor
//!   collections fold into the mod-union table and the final mark pause scans again. What is unmarked after that pause is unreachable.
//! * Both pauses begin with a minor collection that promotes everything except pinned objects. So few young objects are left to be scanned.
//! * What minor collections promote while marking runs is marked, and so is what it refers to. Large objects made meanwhile are born marked.
//! * The marker and the sweeper work in steps ([`crate::threads::gate`]) and never see a block change its kind within a step.
//! * When marking begins no `mark` bit of an old block is set, because every block has been swept.
pub mod cycle;
pub mod ephemerons;
pub mod evacuate;
pub mod marker;
pub mod marking;
mod pacing;
mod parked;
pub mod pauses;
mod peak;
mod prefetch;
pub mod state;
mod statics;
pub mod sweep;
