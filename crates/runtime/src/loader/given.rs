//! What a program gets that gives a file or bytes to `Assembly.LoadFrom`, `LoadFile` or `Load(byte[])`.
//!
//! # Invariants
//! * The redirects of the application and of publishers apply to the name in the file or the bytes. If
//!   they put another name in its place, the program gets what that name finds, and nothing else has
//!   been loaded.
//! * What the other name finds is not asked again: it may be another version.
use super::content::Content;
use super::{Loader, Purpose, in_native, policy};
use crate::cx::{Cx, Result};
use std::path::Path;
use vervet_binder::AssemblyName;
use vervet_types::{Assembly, LoadError};

/// What a program gets that gives a file or bytes.
#[derive(Debug)]
pub enum Given {
    /// The assembly in it.
    Opened(&'static Assembly),
    /// What is found under this name, to which the name in it is redirected. Nothing has been loaded.
    Redirected(AssemblyName),
}

impl Loader {
    /// Opens a file, as `Assembly.LoadFile` does it.
    pub fn open_exactly(&self, path: &Path) -> std::result::Result<Given, LoadError> {
        self.look_at_setup();
        in_native(|| self.open_file(path, Purpose::File))
    }
    /// Opens a file, as `Assembly.LoadFrom` does it: if an assembly of that name is loaded, that one is the result. A version counts only if
    /// the name is strong.
    pub fn open_from(&self, path: &Path) -> std::result::Result<Given, LoadError> {
        self.look_at_setup();
        in_native(|| self.open_file(path, Purpose::From))
    }
    /// Loads an assembly from memory for managed code, which is given what the name in the image is
    /// redirected to.
    pub fn open_given_bytes(&self, data: Vec<u8>) -> std::result::Result<Given, LoadError> {
        let content = Content::of_bytes(data);
        let name = content.manifest_to_run()?.identity();
        if let Some(name) = in_native(|| self.redirect_of(&name)) {
            return Ok(Given::Redirected(name));
        }
        let assembly = self.make(self.domain, content)?;
        Ok(Given::Opened(self.register(assembly, None)))
    }
    /// The name to which that of an assembly is redirected.
    pub(super) fn redirect_of(&self, name: &AssemblyName) -> Option<AssemblyName> {
        self.binder().redirected(name, policy::redirects)
    }
    /// What managed code gets for what it gave; None: there is nothing of the name that it is redirected to. AssemblyLoad is raised for what there is,
    /// also if that is loaded already, as in mono.
    pub fn take_given<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        given: Given,
    ) -> Result<Option<&'static Assembly>> {
        let assembly = match given {
            Given::Opened(assembly) => assembly,
            Given::Redirected(name) => match self.load_by_name(cx, &name, None) {
                Ok(assembly) => {
                    self.state.lock().untold.add(assembly);
                    assembly
                }
                Err(throw) => {
                    cx.take_pending(throw);
                    return Ok(None);
                }
            },
        };
        cx.tell_loaded()?;
        Ok(Some(assembly))
    }
}
