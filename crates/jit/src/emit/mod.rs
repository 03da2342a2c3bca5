//! From emitted CLIF to a [`Blob`](crate::Blob): the code generator below the translator and the stubs.
//!
//! # How it works
//! [`Codegen::function`] creates an [`Emitter`] and hands it to a closure, which emits one CLIF function. Cranelift
//! compiles the function ([`isa`] holds its configurations), and [`finish`] converts the machine code, relocations,
//! call sites, traps and source positions to a blob. [`barrier`] and [`sequences`] hold the sequences that both the
//! translator and the stubs emit.
//!
//! # Invariants
//! * The emitted code names everything outside its function through a [`Symbol`](crate::Symbol). A call to a library
//!   function that Cranelift inserted is an error, because nothing could link it.
//! * A function checks that the stack has room for its frame before it makes it ([`front`]).
pub mod barrier;
pub mod codegen;
pub mod emitter;
mod finish;
pub mod frameless;
pub mod front;
mod isa;
mod placement;
pub mod positions;
pub mod sequences;

pub use codegen::{Codegen, Request};
pub use emitter::{CATCH_ALL, Emitter, Results, null_trap, trap_code, trusted};
pub use finish::FrameMap;
pub use isa::hash_machine;
pub use positions::{MAY_BE_REMOTE, current_offset};
