//! Where the parts meet: heap, domain, code, exceptions, threads, start-up.
//!
//! # Map
//! * [`cx`]: the token of a thread in state Runtime; [`object`]: what managed memory looks like to Rust
//! * [`runtime`]: the state of the process; [`domain`]: the state of the application domain; [`loader`]: assemblies and modules, and
//!   [`reflection_only`]: those that are only looked at
//! * [`memory`]: heap, collector binding, roots, handles, statics; [`classes`]: VTables, class constructors
//! * [`code`]: machine code, its compilation and linking, calls into and out of it; [`arch`]: hand-written assembly
//! * [`exceptions`]: making, walking, two passes, traps, traces
//! * [`interop`]: P/Invoke, marshalling, delegates
//! * [`threads`]: attached threads, interrupts, parking, monitors, the thread pool; [`safepoint`]: stopping every thread
//! * [`process`]: start-up and the end

pub mod arch;
pub mod classes;
pub mod code;
pub mod cx;
pub mod domain;
pub mod exceptions;
pub mod interop;
pub mod loader;
pub mod memory;
pub mod object;
pub mod process;
pub mod profiler;
pub mod reflection_only;
pub mod remoting;
pub mod runtime;
pub mod safepoint;
mod shadow_copy;
pub mod threads;

pub use code::icall::RefSlot;
pub use cx::{Cx, Throw, Value};
pub use object::ObjRef;
pub use runtime::{Runtime, rt};
