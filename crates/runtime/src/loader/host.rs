//! What a host that embeds the runtime is told and asked.
//!
//! # Invariants
//! A host is asked for a request before any file is looked for, and only if nothing that is loaded answers it.
use super::Loader;
use crate::cx::Cx;
use vervet_binder::name::AssemblyName;
use vervet_types::Assembly;

impl Loader {
    /// What a host gives for a name before it is looked for: it is asked whether it has loaded the assembly, and then, unless one of that name is
    /// loaded, where to load it from.
    pub fn ask_host(&self, cx: &Cx<'_>, name: &AssemblyName) -> Option<&'static Assembly> {
        let host = HOST.get()?;
        let preload = || match self.loaded_as(name).is_some() {
            true => None,
            false => (host.find)(cx, name, Stage::Preload),
        };
        (host.find)(cx, name, Stage::Search).or_else(preload)
    }
}

/// When a host is asked for an assembly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// At first: is it loaded?
    Search,
    /// Before it is looked for.
    Preload,
    /// When it was not found, before AppDomain.AssemblyResolve is raised. `Assembly.Load` leaves this out, as in mono.
    Postload,
}
/// What a host that embeds the runtime has to do with loading. All are called in Runtime state without a lock.
#[derive(Debug)]
pub struct HostHooks {
    /// An assembly was loaded.
    pub loaded: for<'cx> fn(&'cx Cx<'cx>, &'static Assembly),
    /// An assembly of that name is wanted.
    pub find: for<'cx> fn(&'cx Cx<'cx>, &AssemblyName, Stage) -> Option<&'static Assembly>,
    /// Does it want to be asked before an assembly is looked for, of either stage? Called in any state.
    pub has_preload: fn() -> bool,
}
pub(super) static HOST: vervet_os::Published<HostHooks> = vervet_os::Published::new();
/// The host's functions, from now on.
pub fn set_host(hooks: HostHooks) {
    HOST.put(hooks);
}
