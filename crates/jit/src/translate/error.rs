//! Why a translation stops.
//!
//! # Invariants
//! Code below the driver does not know the method it compiles for, so its error has no name and no
//! offset. [`TranslateError::at`] adds both.
use crate::error::CompileError;
use vervet_types::{LoadError, MethodRef};

/// Why a translation stops.
#[derive(Debug)]
pub enum TranslateError {
    /// A type or member cannot be loaded.
    Load(LoadError),
    /// The IL is not valid.
    Invalid(String),
    /// A mistake in this crate, or something that is not implemented.
    Internal(String),
}

impl TranslateError {
    /// The IL is not valid, for this reason.
    pub fn invalid(reason: impl Into<String>) -> TranslateError {
        TranslateError::Invalid(reason.into())
    }
    /// A mistake in this crate.
    pub fn internal(reason: impl Into<String>) -> TranslateError {
        TranslateError::Internal(reason.into())
    }
    /// The error of a stub's sequence that was emitted into a method.
    pub fn from_compile(e: CompileError) -> TranslateError {
        match e {
            CompileError::Load(e) => TranslateError::Load(e),
            CompileError::Invalid { reason, .. } => TranslateError::Invalid(reason),
            CompileError::Internal { reason, .. } => TranslateError::Internal(reason),
        }
    }
    /// The error, with the method and the IL offset that the compile has reached.
    pub fn at(self, method: MethodRef) -> CompileError {
        let offset = crate::emit::current_offset();
        match self {
            TranslateError::Load(e) => CompileError::Load(e),
            TranslateError::Invalid(reason) => CompileError::Invalid {
                method: method.full_name(),
                offset,
                reason,
            },
            TranslateError::Internal(reason) => CompileError::Internal {
                method: method.full_name(),
                offset,
                reason,
            },
        }
    }
}

impl From<LoadError> for TranslateError {
    fn from(e: LoadError) -> TranslateError {
        TranslateError::Load(e)
    }
}

/// The result of a part of the translation.
pub type Res<T = ()> = Result<T, TranslateError>;
