//! Why something cannot be encoded.
//!
//! # Invariants
//! Encoding happens under a lock ([`crate::support::emit::encoder`]), where no managed code may run. So no exception is made there: the error says which,
//! and who has given the lock back makes it.
use vervet_runtime::cx::{Cx, Throw};
use vervet_types::{Known, LoadError};

/// See the module.
#[derive(Debug)]
pub enum EmitError {
    /// A type or member cannot be loaded.
    Load(LoadError),
    /// This exception, with this message.
    Throw(Known, String),
}

/// What encoding answers.
pub type E<T> = Result<T, EmitError>;

impl EmitError {
    /// A NotSupportedException.
    pub fn not_supported(message: &str) -> EmitError {
        EmitError::Throw(Known::NotSupportedException, message.to_owned())
    }
    /// Makes the exception.
    pub fn throw(self, cx: &Cx<'_>) -> Throw {
        match self {
            EmitError::Load(e) => cx.throw_load(e),
            EmitError::Throw(class, message) => cx.throw(class, &message),
        }
    }
}
impl From<LoadError> for EmitError {
    fn from(e: LoadError) -> EmitError {
        EmitError::Load(e)
    }
}
impl From<vervet_metadata::Error> for EmitError {
    fn from(e: vervet_metadata::Error) -> EmitError {
        EmitError::Load(e.into())
    }
}
