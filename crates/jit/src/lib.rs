//! IL to machine code: one method at a time, to position-independent blobs.
//!
//! # How it works
//! [`Compiler::compile`] translates a method's IL to Cranelift IR (module `translate`), or generates the body
//! of a method that has none (module `stubs`: delegate invocation, array accessors, native marshalling),
//! compiles it and returns a [`Blob`]: bytes, relocations against [`Symbol`]s, exception tables, IL map.
//! The runtime links blobs; nothing here knows an address, the collector, or what a thread is.
//!
//! # Invariants
//! * The compiler never touches the heap, never runs managed code and takes no lock across a compile.
//! * Bad IL is [`CompileError::Invalid`]; a CLIF verifier error or a panic inside is our bug and is reported as
//!   [`CompileError::Internal`] (the compile boundary catches it).
pub mod blob;
pub mod compiler;
pub mod emit;
pub mod error;
pub mod options;
pub mod signature;
pub mod stubs;
pub mod translate;

pub use blob::{
    Blob, CallSite, Clause, ClauseKind, Handler, InlineSite, Reloc, RelocKind, Symbol,
    inlined_frames,
};
pub use compiler::Compiler;
pub use error::CompileError;
pub use options::{AllocProtection, CompileEnv, Options, Tier};
pub use signature::LoweredSignature;
