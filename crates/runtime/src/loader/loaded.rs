//! The list of what is loaded in a domain, and which entry of it answers a name.
//!
//! # Invariants
//! * A name is compared with everything in the list, in the order of loading, and the first that fits answers ([`answers`]). A name with a public key token
//!   is strong: it means its version and its token. Of any other name, neither version nor key counts. The culture counts if the name
//!   states one; case never does. Nothing else answers for want of something better.
//! * There is one entry per file (by canonical path). Files and bytes of one name may be several entries.
//! * No name finds what the program defines ([`Loader::add_defined`]).
use super::{LOADS, Loader};
use crate::profiler::hooks;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use vervet_binder::AssemblyName;
use vervet_binder::matching::{Ignore, names_equal};
use vervet_binder::token::PublicKeyToken;
use vervet_types::Assembly;

/// See the module.
#[derive(Default)]
pub(super) struct Loaded {
    /// In the order in which they were loaded, as `AppDomain.GetAssemblies` gives them.
    all: Vec<&'static Assembly>,
    /// By canonical path, so that two names of one file are one assembly.
    by_path: FxHashMap<PathBuf, &'static Assembly>,
    /// What a name may find, by simple name in lower case, in the order of loading.
    by_name: FxHashMap<String, Vec<&'static Assembly>>,
}

impl Loaded {
    /// What has been loaded from that file; the path is canonical.
    pub(super) fn at(&self, path: &Path) -> Option<&'static Assembly> {
        self.by_path.get(path).copied()
    }
    /// The first that answers a name.
    pub(super) fn answering(&self, name: &AssemblyName) -> Option<&'static Assembly> {
        let named = self.by_name.get(&name.name.to_ascii_lowercase())?;
        named.iter().find(|a| answers(a, name)).copied()
    }
    /// May a name find the assembly?
    fn has(&self, assembly: &Assembly) -> bool {
        let named = self.by_name.get(&assembly.name.to_ascii_lowercase());
        named.is_some_and(|all| all.iter().any(|a| std::ptr::eq(*a, assembly)))
    }
    /// What names may find.
    pub(super) fn named(&self) -> impl Iterator<Item = &'static Assembly> + '_ {
        self.by_name.values().flatten().copied()
    }
    /// What has been loaded from files.
    pub(super) fn into_files(self) -> impl Iterator<Item = (PathBuf, &'static Assembly)> {
        self.by_path.into_iter()
    }
    /// Another path of an assembly.
    pub(super) fn add_path(&mut self, path: PathBuf, assembly: &'static Assembly) {
        self.by_path.entry(path).or_insert(assembly);
    }
    /// Adds an assembly that names find.
    fn add(&mut self, assembly: &'static Assembly) {
        let name = assembly.name.to_ascii_lowercase();
        self.by_name.entry(name).or_default().push(assembly);
        self.all.push(assembly);
    }
}

/// What identifies an assembly; it states everything.
pub fn identity(assembly: &Assembly) -> AssemblyName {
    AssemblyName {
        version: Some(assembly.version),
        culture: Some(assembly.culture.to_string()),
        public_key_token: assembly.public_key_token().map(PublicKeyToken),
        ..AssemblyName::simple(assembly.name)
    }
}

/// Whether an assembly is the one that a name means (see the module).
pub(crate) fn answers(assembly: &Assembly, name: &AssemblyName) -> bool {
    let is_weak = name.public_key_token.is_none();
    let ignore = Ignore {
        version: is_weak,
        public_key: is_weak,
        case: true,
    };
    names_equal(name, &identity(assembly), ignore)
}

impl Loader {
    /// Everything loaded, in order.
    pub fn assemblies(&self) -> Vec<&'static Assembly> {
        self.state.lock().loaded.all.clone()
    }
    /// What is loaded that answers a name.
    pub(super) fn loaded_as(&self, name: &AssemblyName) -> Option<&'static Assembly> {
        self.state.lock().loaded.answering(name)
    }
    /// Is there an assembly of which the program has not been told?
    pub(crate) fn has_untold(&self) -> bool {
        !self.state.lock().untold.is_empty()
    }
    /// Adds an assembly that the program defines. No name finds it.
    pub fn add_defined(&self, assembly: &'static Assembly) {
        let mut s = self.state.lock();
        s.loaded.all.push(assembly);
        hooks::assembly_loaded(assembly);
        s.untold.push(assembly);
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
        s.bound.clear();
        hooks::assembly_loaded(assembly);
        s.untold.push(assembly);
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
