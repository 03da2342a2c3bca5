//! Why a compile fails.
//!
//! # Invariants
//! An error says whose fault it is: the program's types ([`CompileError::Load`]), its IL
//! ([`CompileError::Invalid`]), or this crate's ([`CompileError::Internal`]). The runtime throws a
//! different exception for each.
use vervet_types::LoadError;

/// Why there is no blob.
#[derive(thiserror::Error, Debug)]
pub enum CompileError {
    /// A type or member cannot be loaded, or a resolve event must be raised first
    /// (`LoadError::Need`).
    #[error("{0}")]
    Load(#[from] LoadError),
    /// The IL is not valid: InvalidProgramException.
    #[error("Invalid IL code in {method}: IL_{offset:04x}: {reason}")]
    Invalid {
        /// Full name of the method.
        method: String,
        /// IL offset.
        offset: u32,
        /// Why.
        reason: String,
    },
    /// A mistake in this crate: ExecutionEngineException.
    #[error("internal compiler error in {method}: IL_{offset:04x}: {reason}")]
    Internal {
        /// Full name of the method.
        method: String,
        /// IL offset reached.
        offset: u32,
        /// Verifier output or panic message.
        reason: String,
    },
}
