//! IL to machine code: one method at a time, to position-independent blobs.
//!
//! # How it works
//! [`Compiler::compile`] translates a method's IL to Cranelift IR ([`translate`]), or generates the
//! body of a method that has none ([`stubs`]: delegates, array accessors, native calls). Cranelift
//! compiles the IR, and the result is a [`Blob`]: bytes, relocations against [`Symbol`]s, exception
//! tables, IL map. The runtime links blobs. Nothing here knows an address, the collector, or what a
//! thread is.
//!
//! ```text
//! compiler      the entry: tier, compile, errors
//!  |-- translate      methods with IL
//!  |-- stubs          methods without IL, and the boundary to native code
//!       |-- emit          emitter, code generator, barrier: from CLIF to a blob
//!       |-- optimise      passes over the CLIF of optimised code
//!       |-- signature     how values travel: the calling convention
//!       |-- blob          the result
//!       |-- tiers, options, error
//! ```
//!
//! # Invariants
//! * The compiler never touches the heap, never runs managed code, and takes no lock for the
//!   duration of a compile.
//! * IL that is not valid is [`CompileError::Invalid`]. A CLIF verifier error or a panic is a
//!   mistake in this crate and becomes [`CompileError::Internal`].
//! * Each module imports only from modules below it; there is no cycle of imports.
pub mod blob;
pub mod compiler;
pub mod emit;
pub mod error;
mod initialisers;
mod optimise;
pub mod options;
pub mod signature;
pub mod stubs;
mod tiers;
pub mod translate;

pub use blob::{Blob, CallSite, Clause, ClauseKind, Handler, InlineSite, Reloc, RelocKind, Symbol};
pub use compiler::Compiler;
pub use emit::codegen::forget_worker;
pub use error::CompileError;
pub use options::{AllocProtection, CompileEnv, Options, Recorded, Tier};
pub use signature::LoweredSignature;
pub use tiers::has_loop;
