//! Compiling ahead, for `vervet aot`: the methods of one assembly, in a process that runs no program.
//!
//! # How it works
//! An entry of the cache is used only where the edges that it depends on are bound already, or lead to what is loaded ([`crate::code::cache`]). So each
//! method is compiled in a process that has as little loaded as possible:
//!
//! ```text
//! command                              worker, a process for each job
//! job: assembly, no edges         -->  opens the assembly; compiles every method, loading nothing
//!                                 <--  outcome: counts, and for each edge that was missed the methods that want it
//! job: assembly, the edge, these  -->  opens the assembly, binds the edge; compiles these, loading nothing else
//!                                 <--  ...
//! ```
//! [`job`] is what the two say to each other, [`worker`] the process, [`profile`] a list of methods that are worth it.
//!
//! # Invariants
//! * A worker's state is that of any process after start-up plus the assembly and the edges of its job. No managed code of the assembly runs: so no class
//!   of it counts as initialised, and what is assumed holds in every process.
//! * What a method is compiled with is what a run would have: the same compiler, the same rules for what can be kept.
pub mod job;
pub mod profile;
pub mod worker;
