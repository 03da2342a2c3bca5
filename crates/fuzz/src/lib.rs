//! Fuzzing of everything in Vervet that reads bytes from outside.
//!
//! A target ([`targets`]) consists of a function of bytes, which checks properties (its oracles) and panics when one does not
//! hold, and of a generator of inputs that knows the format. [`driver`] runs the cases of a target on a stable toolchain.
//! [`supervisor`] does so in child processes, which may end in any way. The crate in `libfuzzer` runs the same targets
//! under libFuzzer, for which a nightly toolchain is needed.
//!
//! Invariant: a seed, a number and the committed corpus determine a case; a run prints its seed.
#![forbid(unsafe_code)]

pub mod corpus;
pub mod driver;
pub mod mutate;
pub mod process;
pub mod random;
pub mod supervisor;
pub mod target;
pub mod targets;

#[path = "../../types/tests/common/mod.rs"]
mod world;
