//! Why something was not done.
//!
//! # Invariants
//! An error holds text only: it outlives the domain that it comes from.
use std::ffi::CString;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library cannot be loaded, or lacks a function.
    #[error("libvervet: {0}")]
    Library(#[from] libloading::Error),
    /// The runtime does not start; what is wrong stands on standard error.
    #[error("the runtime does not start")]
    Start,
    /// There is one runtime in a process, and it has been started.
    #[error("the runtime has been started before")]
    Started,
    /// There is no such assembly, class, method or domain.
    #[error("{0} is not found")]
    NotFound(String),
    /// Managed code has thrown an exception.
    #[error("{class}: {message}")]
    Thrown {
        /// The exception's class.
        class: String,
        /// What it says of itself.
        message: String,
    },
    /// The arguments are not what the method takes, or the target is not of its class.
    #[error("{0}")]
    Mismatch(String),
    /// The domain has been unloaded.
    #[error("the domain has been unloaded")]
    Unloaded,
    /// The domain is in use: by a call that runs, or because it refuses to be unloaded.
    #[error("the domain is in use")]
    InUse,
}
/// What a function gives.
pub type Result<T> = std::result::Result<T, Error>;

/// The text for a function that takes a name.
///
/// # Errors
/// The text holds a zero.
pub(crate) fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Mismatch("a name holds a zero".into()))
}
