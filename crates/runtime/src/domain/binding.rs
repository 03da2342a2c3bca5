//! What ties the loaders of domains to the type system and to the program's events.
//!
//! The type system asks by a module ([`Bridge`]): the loader of the module's domain answers, whichever domain the thread is in. What only the program can answer is asked for
//! by [`Cx::supply`], in that domain too.
//!
//! # Invariants
//! The answer to a reference depends on the module alone, so it may be kept with the module, and threads without a domain may ask.
use super::by_id;
use crate::cx::{Cx, Result};
use crate::loader::{Loader, complete};
use vervet_types::error::Need;
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{Assembly, AssemblyLoader, LoadError, ModuleRef};

impl<'cx> Cx<'cx> {
    /// Raises AppDomain.AssemblyLoad for what was loaded since, in the current domain and in the root domain. Called in Runtime with no lock held, where
    /// loading may have happened: after a compile, and by what loads for managed code.
    pub fn tell_loaded(&'cx self) -> Result<()> {
        let cx = self;
        let (own, root) = (cx.domain(), cx.rt().root);
        own.loader.tell(cx)?;
        if !own.is_root() && root.loader.has_untold() {
            cx.within(root, |cx| root.loader.tell(cx))?;
        }
        Ok(())
    }

    /// Raises the event a compile asked for; if it gives nothing, the next try fails for good.
    pub fn supply(&'cx self, need: &Need) -> Result<()> {
        let cx = self;
        match need {
            Need::Builder { class, ask } => complete(cx, class, *ask),
            Need::Assembly {
                requesting,
                reference,
            } => {
                let owner = by_id(requesting.owner);
                cx.within(owner, |cx| owner.loader.supply(cx, requesting, reference))
            }
            _ => Err(cx.throw_load(LoadError::Need(Box::new(need.clone())))),
        }
    }
}

/// The type system's way to the loaders: what a module refers to is bound by the loader of its domain.
pub struct Bridge;

impl Bridge {
    fn loader_of(module: ModuleRef) -> &'static Loader {
        &by_id(module.owner).loader
    }
}

impl AssemblyLoader for Bridge {
    fn load_assembly(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        Bridge::loader_of(requesting).answer(requesting, reference)
    }
    fn load_file(
        &self,
        manifest: ModuleRef,
        file_name: &str,
    ) -> std::result::Result<ModuleRef, LoadError> {
        let opened = Bridge::loader_of(manifest).open_module(manifest, file_name);
        opened.map_err(|error| match error {
            LoadError::FileNotFound { .. } => LoadError::NoModule {
                name: file_name.to_owned(),
            },
            other => other,
        })
    }
    fn is_in_library(&self, module: ModuleRef) -> bool {
        Bridge::loader_of(module).is_in_library(module)
    }
    fn loads(&self) -> u64 {
        crate::loader::loads()
    }
}
