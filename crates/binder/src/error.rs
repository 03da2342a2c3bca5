//! Errors of the search for assemblies. Each message says what a user can do about it.

use std::path::PathBuf;

/// An assembly display name that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is no simple name, or it holds one of `/`, `\` and `:`.
    #[error("'{0}' is not an assembly name: the simple name is empty or holds a path separator")]
    SimpleName(String),
    /// A part is not `Key=value`, has an unknown key or an empty value.
    #[error("'{name}' is not an assembly name: cannot read '{part}'")]
    Part {
        /// The whole display name.
        name: String,
        /// The part that cannot be read.
        part: String,
    },
    /// A retargetable name must state version, culture and key.
    #[error(
        "'{0}' is not an assembly name: Retargetable needs Version, Culture and PublicKeyToken"
    )]
    Retargetable(String),
}

/// A configuration file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file exists and reading it failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The class libraries are not where they belong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "The class libraries are missing: there is no {}; on Debian, install the package mono-devel \
     (or, for programs that need nothing else, libmono-corlib4.5-dll).",
    corlib.display()
)]
pub struct MissingClassLibraries {
    /// Where mscorlib.dll should be.
    pub corlib: PathBuf,
}
