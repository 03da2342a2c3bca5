//! Registers and hand-written assembly; the only place that knows the machine.
pub(crate) mod closures;
pub(crate) mod upcalls;
#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::*;
