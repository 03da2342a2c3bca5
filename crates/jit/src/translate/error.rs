//! Why a translation stops.
use crate::error::CompileError;
use vervet_types::{LoadError, MethodRef};

/// Why translation stops; the offset is added at the boundary.
pub enum Fail {
    /// A type or member could not be loaded.
    Load(LoadError),
    /// Bad IL.
    Invalid(String),
    /// Our bug, or something not implemented.
    Internal(String),
}

impl Fail {
    /// Bad IL.
    pub fn invalid(reason: impl Into<String>) -> Fail {
        Fail::Invalid(reason.into())
    }
    /// Our bug.
    pub fn internal(reason: impl Into<String>) -> Fail {
        Fail::Internal(reason.into())
    }
    /// What a stub's emission failed with.
    pub fn from_compile(e: CompileError) -> Fail {
        match e {
            CompileError::Load(e) => Fail::Load(e),
            CompileError::Invalid { reason, .. } => Fail::Invalid(reason),
            CompileError::Internal { reason, .. } => Fail::Internal(reason),
        }
    }
    /// With the method, and the IL offset reached.
    pub fn at(self, method: MethodRef) -> CompileError {
        let offset = crate::emit::current_offset();
        match self {
            Fail::Load(e) => CompileError::Load(e),
            Fail::Invalid(reason) => CompileError::Invalid {
                method: method.full_name(),
                offset,
                reason,
            },
            Fail::Internal(reason) => CompileError::Internal {
                method: method.full_name(),
                offset,
                reason,
            },
        }
    }
}

impl From<LoadError> for Fail {
    fn from(e: LoadError) -> Fail {
        Fail::Load(e)
    }
}

/// Result of a piece of translation.
pub type Res<T = ()> = Result<T, Fail>;
