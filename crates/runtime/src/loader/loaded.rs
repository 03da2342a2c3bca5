//! The list of what is loaded in a domain, and which entry of it answers a name.
//!
//! # Invariants
//! * A name is compared with everything in the list, in the order of loading, and the first that fits answers ([`answers`]). A name with a public key token
//!   is strong: it means its version and its token. Of any other name, neither version nor key counts. The culture counts if the name
//!   states one; case never does. Nothing else answers for want of something better.
//! * A path has one entry. Files and bytes of one name may be several entries.
//! * No name finds what the program defines ([`Loaded::add_defined`]).
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
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
    pub(super) fn has(&self, assembly: &Assembly) -> bool {
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
    /// Everything, in order.
    pub(super) fn all(&self) -> &[&'static Assembly] {
        &self.all
    }
    /// Adds an assembly that no name finds.
    pub(super) fn add_defined(&mut self, assembly: &'static Assembly) {
        self.all.push(assembly);
    }
    /// Adds an assembly that names find.
    pub(super) fn add(&mut self, assembly: &'static Assembly) {
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
