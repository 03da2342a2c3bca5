//! Adding to the list of what is loaded.
//!
//! # Invariants
//! * There is one entry per file (by canonical path): of two threads that read one file, the first that adds it wins.
//! * What has been added is noted for AppDomain.AssemblyLoad, and what names were bound to before is bound again: the new assembly may answer them.
use super::{LOADS, Loader};
use crate::profiler::hooks;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use vervet_binder::AssemblyName;
use vervet_types::Assembly;

impl Loader {
    /// Everything loaded, in order.
    pub fn assemblies(&self) -> Vec<&'static Assembly> {
        self.state.lock().loaded.all().to_vec()
    }
    /// What is loaded that answers a name.
    pub(super) fn loaded_as(&self, name: &AssemblyName) -> Option<&'static Assembly> {
        self.state.lock().loaded.answering(name)
    }
    /// Is there an assembly of which this thread has to tell the program?
    pub(crate) fn has_untold(&self) -> bool {
        self.state.lock().untold.has_own()
    }
    /// Adds an assembly that the program defines. No name finds it.
    pub fn add_defined(&self, assembly: &'static Assembly) {
        hooks::assembly_loaded(assembly);
        if assembly.is_reflection_only {
            self.reflection_only.add_defined(assembly);
        }
        let mut s = self.state.lock();
        if !assembly.is_reflection_only {
            s.loaded.add_defined(assembly);
        }
        s.untold.add(assembly);
    }
    /// Adds an assembly to what is loaded, unless one of that path is there already, or, without a path, unless it is there itself. Returns the one that is there.
    pub(super) fn register(
        &self,
        assembly: &'static Assembly,
        path: Option<PathBuf>,
    ) -> &'static Assembly {
        let mut s = self.state.lock();
        match path {
            Some(path) => {
                if let Some(first) = s.loaded.at(&path) {
                    return first;
                }
                s.loaded.add_path(path, assembly);
            }
            None if s.loaded.has(assembly) => return assembly,
            None => {}
        }
        s.loaded.add(assembly);
        // Another file may have answered the names that this one answers.
        s.bound.forget();
        hooks::assembly_loaded(assembly);
        s.untold.add(assembly);
        LOADS.fetch_add(1, Ordering::Release);
        assembly
    }
    /// What an assembly of an earlier life is bound to already is loaded with it.
    pub(super) fn register_bound(&self, assembly: &'static Assembly) {
        let mut open = vec![assembly];
        while let Some(next) = open.pop() {
            for (_, bound) in next.manifest.edges() {
                let path = self.source(bound.manifest);
                if bound.manifest.owner == self.domain
                    && let Some(path) = path
                    && self.state.lock().loaded.at(&path).is_none()
                {
                    open.push(self.register(bound, Some(path)));
                }
            }
        }
    }
}
