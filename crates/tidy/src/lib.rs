//! Checks of the project's own text. No part of the product.
//!
//! * [`modules`]: which modules of a crate name which, and the cycles among them
//! * [`comments`]: how much of a crate is comment
//! * [`documents`]: what the documents name
pub mod comments;
pub mod documents;
pub mod modules;

use std::path::{Path, PathBuf};

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
