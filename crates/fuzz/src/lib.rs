//! Fuzzing: everything of Vervet that reads bytes from outside, with oracles.
//!
//! A target ([`target`], all of them in [`targets`]) is a function of bytes that panics when an oracle is hurt, and a generator of inputs that knows the
//! format. [`driver`] runs cases on a stable toolchain, [`supervisor`] does so in processes that may end any way. The crate
//! in `libfuzzer` runs the same targets under libFuzzer where a nightly toolchain is.
//!
//! Invariant: a case is a function of a seed, a number and the committed corpus; a run prints its seed.
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
