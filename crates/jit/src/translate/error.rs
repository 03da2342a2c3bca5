//! Why a translation stops.
use crate::error::CompileError;
use vervet_types::{LoadError, MethodRef};

/// Why translation stops; the offset is added at the boundary.
pub enum TranslateError {
    /// A type or member could not be loaded.
    Load(LoadError),
    /// Bad IL.
    Invalid(String),
    /// Our bug, or something not implemented.
    Internal(String),
}

impl TranslateError {
    /// Bad IL.
    pub fn invalid(reason: impl Into<String>) -> TranslateError {
        TranslateError::Invalid(reason.into())
    }
    /// Our bug.
    pub fn internal(reason: impl Into<String>) -> TranslateError {
        TranslateError::Internal(reason.into())
    }
    /// What a stub's emission failed with.
    pub fn from_compile(e: CompileError) -> TranslateError {
        match e {
            CompileError::Load(e) => TranslateError::Load(e),
            CompileError::Invalid { reason, .. } => TranslateError::Invalid(reason),
            CompileError::Internal { reason, .. } => TranslateError::Internal(reason),
        }
    }
    /// With the method, and the IL offset reached.
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

/// Result of a piece of translation.
pub type Res<T = ()> = Result<T, TranslateError>;
