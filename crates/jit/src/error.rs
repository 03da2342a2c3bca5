//! Why a compile fails.
use vervet_types::LoadError;

/// Why there is no blob.
#[derive(thiserror::Error, Debug)]
pub enum CompileError {
    /// A type or member could not be loaded (or a resolve event is needed: `LoadError::Need`).
    #[error("{0}")]
    Load(#[from] LoadError),
    /// Bad IL: InvalidProgramException naming method and offset.
    #[error("Invalid IL code in {method}: IL_{offset:04x}: {reason}")]
    Invalid {
        /// Full name of the method.
        method: String,
        /// IL offset.
        offset: u32,
        /// Why.
        reason: String,
    },
    /// Our bug.
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
