//! Assemblies that are loaded to be looked at: what `Assembly.ReflectionOnlyLoad` has loaded, and how their references are bound.
//!
//! Such an assembly is a copy of its own: its types are other types than those of the same file loaded to run, and reflection refuses to call
//! its methods. Nothing outside refers to it.
//!
//! ```text
//!   a reference of such an assembly
//!     1. the core library                       -> the one that runs
//!     2. [`ReflectionOnly::given`]              -> what a handler has given for the same name to the same module
//!     3. [`ReflectionOnly::named`]              -> what has been loaded to be looked at under that name
//!     4. AppDomain.ReflectionOnlyAssemblyResolve, asked once per module and name (by the loader)
//!     5. LoadError::NotPreloaded: no file is looked for
//! ```
//!
//! # Invariants
//! * There is one assembly per identity here: another file, or bytes, with that identity give the first.
//! * A name is compared as with what is loaded to run (`loader::answers`).
//! * What a handler gives answers the reference it was asked for, whatever its name. Only so is what a program has defined found.
use crate::loader::{Manifest, answers};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use vervet_binder::name::AssemblyName;
use vervet_os::LeafLock;
use vervet_types::{Assembly, ModuleRef};

/// See the module.
#[derive(Default)]
pub struct ReflectionOnly {
    state: LeafLock<State>,
}

/// Under its lock.
#[derive(Default)]
struct State {
    /// In the order in which they were loaded.
    loaded: Vec<&'static Assembly>,
    /// By canonical path.
    by_path: FxHashMap<PathBuf, &'static Assembly>,
    /// What handlers have answered for references: by the id of the module and the full name. None: nothing.
    answers: FxHashMap<(u32, String), Option<&'static Assembly>>,
}

impl ReflectionOnly {
    /// Nothing has been loaded.
    pub fn clear(&self) {
        *self.state.lock() = State::default();
    }
    /// Everything loaded, in order.
    pub fn assemblies(&self) -> Vec<&'static Assembly> {
        self.state.lock().loaded.clone()
    }
    /// What has been loaded from that file; the path is canonical.
    pub fn at(&self, path: &Path) -> Option<&'static Assembly> {
        self.state.lock().by_path.get(path).copied()
    }
    /// What has been loaded under a name.
    pub fn named(&self, name: &AssemblyName) -> Option<&'static Assembly> {
        let loaded = &self.state.lock().loaded;
        let mut of_files = loaded.iter().filter(|a| a.manifest.image.grows().is_none());
        of_files.find(|a| answers(a, name)).copied()
    }
    /// Adds an assembly that a program has begun to define.
    pub fn add_defined(&self, assembly: &'static Assembly) {
        self.state.lock().loaded.push(assembly);
    }
    /// What there is of an identity, which is from now on what has been loaded from that file too; the path is canonical.
    pub(crate) fn same_as(
        &self,
        manifest: &Manifest<'_>,
        path: Option<&Path>,
    ) -> Option<&'static Assembly> {
        let mut s = self.state.lock();
        let is_same = |a: &Assembly| {
            a.name == manifest.name
                && a.version == manifest.version
                && a.culture == manifest.culture
                && a.public_key == manifest.public_key
        };
        let first = s.loaded.iter().find(|a| is_same(a)).copied()?;
        if let Some(path) = path {
            s.by_path.insert(path.to_owned(), first);
        }
        Some(first)
    }
    /// Adds an assembly, unless there is one of its identity. The one that is there, and whether it is this one.
    pub fn add(
        &self,
        assembly: &'static Assembly,
        path: Option<PathBuf>,
    ) -> (&'static Assembly, bool) {
        let mut s = self.state.lock();
        let first = s.loaded.iter().find(|a| is_same(a, assembly)).copied();
        let kept = first.unwrap_or(assembly);
        if let Some(path) = path {
            s.by_path.insert(path, kept);
        }
        if first.is_none() {
            s.loaded.push(assembly);
        }
        (kept, first.is_none())
    }
    /// Notes what the handlers have given for a reference.
    pub fn give(&self, module: ModuleRef, name: &AssemblyName, given: Option<&'static Assembly>) {
        let key = (module.id, name.to_string());
        self.state.lock().answers.insert(key, given);
    }
    /// What the handlers have given for a reference; the outer None: they have not been asked.
    pub fn given(
        &self,
        module: ModuleRef,
        name: &AssemblyName,
    ) -> Option<Option<&'static Assembly>> {
        let key = (module.id, name.to_string());
        self.state.lock().answers.get(&key).copied()
    }
}

/// Have they the same name, version, culture and key?
fn is_same(a: &Assembly, b: &Assembly) -> bool {
    a.name == b.name
        && a.version == b.version
        && a.culture == b.culture
        && a.public_key == b.public_key
}
