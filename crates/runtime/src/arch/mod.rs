//! Registers and hand-written assembly; the only place that knows the machine.
//!
//! A port adds a folder beside `x86_64` with the same names. What assembly calls in other modules is listed in `upcalls.rs`.
pub(crate) mod closures;
pub(crate) mod upcalls;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
