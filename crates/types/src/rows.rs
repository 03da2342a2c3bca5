//! Whether what the rows of a class name can be loaded: asked before reflection gives out its type.
//!
//! # Invariants
//! * The rows of a definition name its parent, its interfaces and the constraints of its parameters. What its members are
//!   made of is not looked at: reflection gives out a type whose fields or methods are of missing types.
//! * As in mono, who asks first for a class gets the error itself, for the class and for those that were waiting for it as
//!   a parent or interface. Later each of these classes has a TypeLoadException with the text of the error; a class that
//!   names one of them only then is given out.
//! * What failed is remembered, not why ([`LoadError`]): what has been supplied meanwhile is no error any more.
use crate::*;
use std::sync::atomic::Ordering;

/// The most parents and interfaces above each other that are looked at. Chains without end are found before.
const DEEPEST: usize = 100;

/// Who gets the error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// Only who asks first.
    First,
    /// Everybody.
    Always,
}

/// What is known of the rows of a class.
mod known {
    /// Nothing yet.
    pub(super) const NOTHING: u8 = 0;
    /// Somebody has got the error.
    pub(super) const FAILED: u8 = 1;
    /// They can be loaded.
    pub(super) const LOADED: u8 = 2;
}

/// What went wrong, and its text for those who ask later.
struct Failed {
    error: LoadError,
    text: String,
}

impl From<LoadError> for Failed {
    fn from(error: LoadError) -> Failed {
        let text = error.to_string();
        Failed { error, text }
    }
}

impl Class {
    /// Whether what the rows of a definition name can be loaded; other types have no rows. See the module.
    pub fn check_rows(&'static self, asked: Asked) -> R<()> {
        let ClassKind::Def { .. } = self.kind else {
            return Ok(());
        };
        let is_answered = match asked {
            // What a program defines is complete later than it is named.
            Asked::First => self.failed_before() || self.module.image.grows().is_some(),
            Asked::Always => false,
        };
        match is_answered || self.module.is_corlib() {
            true => Ok(()),
            false => self.rows(0).map_err(|failed| failed.error),
        }
    }
    /// Has somebody got the error?
    fn failed_before(&self) -> bool {
        self.cells.rows.load(Ordering::Relaxed) == known::FAILED
    }
    /// Remembers what failed.
    fn rows(&'static self, depth: usize) -> Result<(), Failed> {
        let rows = &self.cells.rows;
        if rows.load(Ordering::Relaxed) == known::LOADED {
            return Ok(());
        }
        let Err(failed) = self.named_by_rows(depth) else {
            rows.store(known::LOADED, Ordering::Relaxed);
            return Ok(());
        };
        if matches!(failed.error, LoadError::Need(_))
            || rows.swap(known::FAILED, Ordering::Relaxed) == known::NOTHING
        {
            return Err(failed);
        }
        let error = LoadError::Unusable {
            class: self.full_name(),
            assembly: self.module.assembly_name(),
            text: failed.text.clone(),
        };
        Err(Failed { error, ..failed })
    }
    /// Loads what the rows name, and what the rows of these name.
    fn named_by_rows(&'static self, depth: usize) -> Result<(), Failed> {
        let parent = self.find_parent()?;
        if let Ok(false) = self.has_end(parent) {
            return Err(self.endless_parents().into());
        }
        let interfaces = self.declared_interfaces()?;
        for parameter in self.params()? {
            parameter.param_constraints().map_err(|error| {
                let text = format!("Could not load generic parameter constrains due to {error}");
                Failed { error, text }
            })?;
        }
        for named in parent.into_iter().chain(interfaces.iter().copied()) {
            let named = named.def();
            let is_asked = self.failed_before() || !named.failed_before();
            if depth < DEEPEST && is_asked && !named.module.is_corlib() {
                named.rows(depth + 1)?;
            }
        }
        Ok(())
    }
}
