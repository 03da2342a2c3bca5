//! A domain's loader: from a file or bytes to an assembly.
//!
//! | room | idea |
//! |---|---|
//! | `binding` | from a name to an assembly |
//! | `bound` | what names were bound to last |
//! | `loaded`, `register` | the list of what is loaded; adding to it |
//! | `untold` | what the program has not been told of |
//! | `content` | what a file or bytes hold, before they are loaded |
//! | `given` | what a program gets that gives a file or bytes |
//! | `events` | what handlers of the program are told and asked |
//! | `host` | what a host that embeds the runtime is told and asked |
//! | `policy` | the redirects that a publisher's policy assembly carries |
//! | `objects` | the objects of assemblies |
//!
//! # Domains
//! Each application domain has a [`Loader`], with its own directories, redirects and list. A module belongs to the domain that loaded it, and its
//! references are bound by that domain's loader, whoever asks. The class libraries' modules are *neutral*: all domains share them, they belong to the
//! root domain, and only the lists of loaders tell which domain uses them.
//!
//! # Invariants
//! * One assembly object per file (by canonical path). The names of files are compared with regard to case.
//! * `LoadFrom` of another file with a name that is loaded gives the assembly that is loaded ([`Loader::open_from`]); `LoadFile` never does.
//! * Whoever gives a file or bytes gets what the redirects put in the place of the name in them (module `given`).
//! * Images are mapped for the life of the process, from when a module is made of them (module `content`).
//! * Whether a file is neutral is told by its place alone ([`Loader::is_neutral`]), so all domains agree on it.
//! * A bind that needs the program's resolve events answers `LoadError::Need`: events run managed code, so they are
//!   raised by [`Loader::supply`] in Runtime state with no lock held, and the bind is tried again.
mod binding;
mod bound;
mod content;
mod events;
mod given;
mod host;
mod loaded;
mod objects;
mod policy;
mod register;
mod untold;

pub use binding::{name_of_reference, take_need, without_loading};
pub(crate) use content::Manifest;
pub(crate) use events::complete;
pub use given::Given;
pub use host::{HostHooks, Stage, set_host};
pub(crate) use loaded::answers;
pub use objects::{
    ASSEMBLY_KIND, BUILDER_KIND, another_assembly_object, assembly_object, assembly_of, made_of,
};

use crate::cx::{Cx, Result};
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::reflection_only::ReflectionOnly;
use crate::shadow_copy::ShadowCopies;
use bound::Bound;
use content::{Content, not_found};
use loaded::{Loaded, identity};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use untold::Untold;
use vervet_binder::binder::Binder;
use vervet_binder::dllmap::DllMap;
use vervet_binder::mono_config::{Locations, MonoConfig};
use vervet_binder::name::AssemblyName;
use vervet_os::{LeafLock, Published};
use vervet_types::{Assembly, LoadError, ModuleRef, Universe};

/// The assembly that `managed/Vervet.Threading` becomes: it answers its name where no file does. Empty if there was no C# compiler when this crate
/// was built.
pub static THREADING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/Vervet.Threading.dll"));

/// See the module.
pub struct Loader {
    /// Id of its domain.
    domain: u32,
    /// What all loaders have in common.
    pub shared: &'static Shared,
    binder: LeafLock<Arc<Binder>>,
    state: LeafLock<State>,
    /// The assembly of Main.
    entry: LeafLock<Option<&'static Assembly>>,
    /// What a host was asked for before it was looked for.
    preload_asked: LeafLock<FxHashSet<Request>>,
    /// What has been loaded to be looked at.
    pub reflection_only: ReflectionOnly,
    /// The shadow copies that the domain's setup wanted when it was last looked at.
    shadow: LeafLock<Option<ShadowCopies>>,
}

/// What the loaders of all domains have in common.
pub struct Shared {
    universe: Published<UniverseRef>,
    /// Where mono's configuration lies.
    pub locations: Locations,
    /// The machine's and the user's configuration.
    pub config: MonoConfig,
    maps: LeafLock<FxHashMap<u32, &'static DllMap>>,
    /// Where the content of a module comes from, by its id. Assemblies from bytes are not here.
    origins: LeafLock<FxHashMap<u32, Origin>>,
    /// The files of which modules are shadow copies, by the modules' ids.
    sources: LeafLock<FxHashMap<u32, Source>>,
    /// The neutral assemblies, by canonical path.
    neutral: LeafLock<FxHashMap<PathBuf, &'static Assembly>>,
    /// The assembly of this binary that programs may use.
    own: Published<AssemblyCell>,
    /// What a host has added to the dllmaps; the last that fits wins.
    host_map: LeafLock<Vec<HostMapping>>,
    /// The dllmaps of a host's configurations.
    host_dllmap: LeafLock<DllMap>,
    /// Configurations that a host carries, by the assembly's file name.
    carried_dllmaps: LeafLock<Vec<(String, &'static DllMap)>>,
}
/// A native library, or a function of it, that a host has mapped to another.
#[derive(Clone, Debug)]
pub struct HostMapping {
    /// Id of the module that it is for; None: all.
    pub module: Option<u32>,
    /// The library's name in metadata.
    pub library: String,
    /// The function's; None: all.
    pub function: Option<String>,
    /// The library to open.
    pub to_library: Option<String>,
    /// The function to look up.
    pub to_function: Option<String>,
}
/// Why a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// A name has led to it, or the runtime itself needs it.
    Name,
    /// What was loaded by `Assembly.LoadFrom` refers to it, and it lies beside that.
    Neighbour,
    /// `Assembly.LoadFrom`: an assembly of that name that is loaded will do.
    From,
    /// `Assembly.LoadFile`.
    File,
}
/// What opening a file has found.
#[expect(clippy::large_enum_variant, reason = "there is one, on the stack")]
enum Found {
    /// An assembly that is there, of all domains or of an earlier life of this one.
    Assembly(&'static Assembly),
    /// What the file holds; of a shadow copy, the file that it is a copy of.
    Content(Content, Option<Source>),
}
/// The file of which a module is a shadow copy.
#[derive(Clone)]
struct Source {
    path: PathBuf,
    /// As it was before it was copied; None if another content might have the same stamp.
    stamp: Option<vervet_os::memory::FileStamp>,
}
/// Where the content of a module comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A file in that state.
    File {
        /// As it was when it was opened.
        stamp: vervet_os::memory::FileStamp,
        /// Another content would have another stamp ([`settles`]).
        is_settled: bool,
    },
    /// This binary.
    Binary,
}

/// A store to a mapped page changes the times of its file only if the page was clean. Dirty pages are written back within half a minute or so
/// (`vm.dirty_expire_centisecs` and `vm.dirty_writeback_centisecs`); then the next store changes the times. So until the last change is this
/// many nanoseconds old, the content may change under the same stamp.
const SETTLES_AFTER: i128 = 120_000_000_000;

/// Whether every other content of the file would have another stamp.
fn settles(file: &std::fs::File, stamp: &vervet_os::memory::FileStamp) -> bool {
    use vervet_codecache::trust::FileSystem;
    stamp.age() > SETTLES_AFTER
        && !stamp.is_clamped()
        && FileSystem::of(file).ok() == Some(FileSystem::Disk)
}

static LOADS: AtomicU64 = AtomicU64::new(0);

/// How many assemblies have been loaded in this process.
pub fn loads() -> u64 {
    LOADS.load(Ordering::Acquire)
}

/// The type system that the loader's modules belong to; set once at start-up.
struct UniverseRef(&'static Universe);
/// A published assembly.
pub struct AssemblyCell(pub &'static Assembly);

/// What a reference asks for: the id of the module that it is in, and the name.
type Request = (u32, AssemblyName);

/// What is loaded, and how names were bound. Under its lock.
#[derive(Default)]
struct State {
    loaded: Loaded,
    /// Loaded, and the program has not been told yet.
    untold: Untold<&'static Assembly>,
    /// Requests that a resolve event has been asked for and could not give.
    unresolved: FxHashSet<Request>,
    /// Where the references of an assembly may be found that was loaded by its file, by the id of its manifest's module.
    beside: FxHashMap<u32, Beside>,
    /// What names were bound to.
    bound: Bound<&'static Assembly>,
    /// What an earlier life of the domain had loaded.
    retired: Option<Retired>,
    /// What a host or a resolve event has answered.
    resolved: FxHashMap<Request, &'static Assembly>,
}

/// When what an assembly refers to is looked for beside it, which is last in any case.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Beside {
    /// After AssemblyResolve has given nothing: a name led to the assembly.
    #[default]
    AfterEvent,
    /// At once: it was loaded by `LoadFrom`, or lay beside one that was.
    AtOnce,
    /// Never: it was loaded by `LoadFile`.
    Never,
}

/// The program's assemblies of an earlier life of a domain.
struct Retired {
    assemblies: FxHashMap<PathBuf, &'static Assembly>,
    /// Where they were looked for.
    places: Arc<Binder>,
}

impl Loader {
    /// The root domain's loader, with the machine's configuration.
    #[expect(
        clippy::new_without_default,
        reason = "a default loader would be one of no domain"
    )]
    pub fn new() -> Loader {
        let locations = Locations::from_env();
        let (config, errors) = locations.read_global();
        for e in errors {
            tracing::warn!("{e}");
        }
        let shared = Box::leak(Box::new(Shared {
            universe: Published::new(),
            locations,
            config,
            maps: LeafLock::default(),
            origins: LeafLock::default(),
            sources: LeafLock::default(),
            neutral: LeafLock::default(),
            own: Published::new(),
            host_map: LeafLock::default(),
            host_dllmap: LeafLock::default(),
            carried_dllmaps: LeafLock::default(),
        }));
        Loader::with(0, shared, Binder::from_env())
    }
    /// The loader of another domain, which looks at first where the root domain's looks, but in no directory of a program. The core library is loaded.
    pub fn for_domain(&self, domain: u32) -> Loader {
        let root = self.binder();
        let binder = Binder {
            app_base: None,
            private_bin_path: None,
            configured_private_path: None,
            private_bin_path_probe: false,
            redirects: Vec::new(),
            ..Binder::clone(&root)
        };
        let loader = Loader::with(domain, self.shared, binder);
        let corlib = self.assemblies()[0];
        let path = corlib.manifest.path.as_deref().map(PathBuf::from);
        loader.register(corlib, path);
        // Nobody is told of what was there before the domain.
        loader.state.lock().untold.clear();
        loader
    }
    /// Begins another life of the domain: nothing is loaded but the core library. Assemblies that the program's files gave in the life before are used again if each of these
    /// files is the same still, and if they are looked for in the same places: their classes and code are there.
    pub(crate) fn renew(&self, root: &Loader) {
        let fresh = root.for_domain(self.domain);
        let mut state = std::mem::take(&mut *fresh.state.lock());
        let before = {
            let mut own = self.state.lock();
            state.bound.follows(&own.bound);
            std::mem::replace(&mut *own, state)
        };
        let places = std::mem::replace(&mut *self.binder.lock(), fresh.binder());
        *self.entry.lock() = None;
        self.preload_asked.lock().clear();
        self.reflection_only.clear();
        let from_memory = (before.loaded.named())
            .any(|a| a.manifest.owner == self.domain && a.manifest.path.is_none());
        let own = (before.loaded.into_files()).filter(|(_, a)| a.manifest.owner == self.domain);
        let mut retired: FxHashMap<PathBuf, &'static Assembly> = own.collect();
        retired.extend(before.retired.map(|r| r.assemblies).unwrap_or_default());
        // What they are bound to has to be what they would be bound to again.
        let are_same = before.resolved.is_empty()
            && before.unresolved.is_empty()
            && !from_memory
            && retired.values().all(|a| self.is_same_file(a.manifest));
        self.state.lock().retired = are_same.then_some(Retired {
            assemblies: retired,
            places,
        });
    }
    /// Is the file of a module as it was when it was opened, and would any other content show?
    fn is_same_file(&self, module: ModuleRef) -> bool {
        if let Some(source) = self.shared.sources.lock().get(&module.id) {
            let is_there = module
                .path
                .as_deref()
                .is_some_and(|p| Path::new(p).is_file());
            let now = vervet_os::memory::stamp_of(&source.path).ok();
            return is_there && source.stamp.is_some() && now == source.stamp;
        }
        let (Some(path), Some(Origin::File { stamp, is_settled })) =
            (module.path.as_deref(), self.origin(module))
        else {
            return false;
        };
        is_settled && vervet_os::memory::stamp_of(Path::new(path)).ok() == Some(stamp)
    }
    /// The assembly that an earlier life of the domain has loaded from that file, with those that it is bound to already.
    fn revive(&self, full: &Path) -> Option<&'static Assembly> {
        let mut state = self.state.lock();
        let retired = state.retired.as_ref()?;
        if retired.places != *self.binder.lock() {
            state.retired = None;
            return None;
        }
        retired.assemblies.get(full).copied()
    }
    fn with(domain: u32, shared: &'static Shared, binder: Binder) -> Loader {
        Loader {
            domain,
            shared,
            binder: LeafLock::new(Arc::new(binder)),
            state: LeafLock::default(),
            entry: LeafLock::default(),
            preload_asked: LeafLock::default(),
            reflection_only: ReflectionOnly::default(),
            shadow: LeafLock::default(),
        }
    }
    /// Connects the type system.
    pub fn set_universe(&self, universe: &'static Universe) {
        self.shared.universe.put(UniverseRef(universe));
    }
    fn universe(&self) -> &'static Universe {
        self.shared.universe.get().expect("connected at start-up").0
    }
    /// Does the file at a canonical path belong to all domains?
    fn is_neutral(&self, path: &Path) -> bool {
        let binder = self.binder();
        path.starts_with(binder.libdir.join("mono")) || binder.is_in_gac(path)
    }
    /// Does the file of a module lie where the class libraries do?
    pub fn is_in_library(&self, module: ModuleRef) -> bool {
        let path = module.path.as_ref();
        path.is_some_and(|p| self.is_neutral(Path::new(p)))
    }
    /// Ids of the modules that belong to all domains, but for that of Main: the class libraries.
    pub fn class_libraries(&self) -> Vec<u32> {
        let entry = self.entry().map(|a| a.manifest.id);
        let is_library = |m: &ModuleRef| {
            let is_neutral = self.is_in_library(m) || m.is_graft();
            is_neutral && Some(m.id) != entry && m.owner == 0
        };
        let all = self.assemblies().into_iter().map(|a| a.manifest);
        all.filter(is_library).map(|m| m.id).collect()
    }
    /// Changes where the application's assemblies are looked for.
    pub fn configure(&self, change: impl FnOnce(&mut Binder)) {
        change(Arc::make_mut(&mut *self.binder.lock()));
        self.state.lock().bound.forget();
    }
    /// The assembly of Main, once there is one.
    pub fn entry(&self) -> Option<&'static Assembly> {
        *self.entry.lock()
    }
    /// Says which assembly is that of Main, unless it has been said.
    pub fn set_entry(&self, assembly: &'static Assembly) {
        self.entry.lock().get_or_insert(assembly);
    }
    /// The binder as it stands.
    pub fn binder(&self) -> Arc<Binder> {
        self.binder.lock().clone()
    }
    /// Where the content of a module comes from, if that can be told for sure.
    pub fn origin(&self, module: ModuleRef) -> Option<Origin> {
        self.shared.origins.lock().get(&module.id).copied()
    }
    /// Whether every file that modules come from has the stamp that it had when it was opened.
    pub fn is_unchanged(&self) -> bool {
        let origins = self.shared.origins.lock().clone();
        let same = |path: &str, origin: Origin| match origin {
            Origin::Binary => true,
            Origin::File { stamp, .. } => {
                vervet_os::memory::stamp_of(Path::new(path)).ok() == Some(stamp)
            }
        };
        let assemblies = self.assemblies();
        let modules = assemblies.iter().map(|a| a.manifest);
        modules
            .filter_map(|m| Some((m.path.as_deref()?, *origins.get(&m.id)?)))
            .all(|(path, origin)| same(path, origin))
    }
    /// The directory an assembly was loaded from; of a shadow copy that of the file.
    pub fn directory(&self, module: ModuleRef) -> Option<PathBuf> {
        let path = self.source(module)?;
        path.parent().map(Path::to_path_buf)
    }
    /// The file that a module comes from: if it is a shadow copy, the file of which it is one.
    pub fn source(&self, module: ModuleRef) -> Option<PathBuf> {
        let sources = self.shared.sources.lock();
        let source = sources.get(&module.id).map(|s| s.path.clone());
        source.or_else(|| module.path.as_deref().map(PathBuf::from))
    }
    /// Looks at what the domain's setup says of private directories and shadow copies, which the program may change at any time. In Native state, and in a thread that only compiles, what was
    /// there last time counts.
    fn look_at_setup(&self) {
        let context = crate::threads::current_context();
        // SAFETY: the context belongs to this thread.
        let may_look =
            !context.is_null() && unsafe { (*context).state } == vervet_abi::State::Runtime as u8;
        let Some(domain) = crate::domain::find(self.domain).filter(|_| may_look) else {
            return;
        };
        let setup = *domain.setup.lock();
        let wanted = setup.and_then(|s| ShadowCopies::of_setup(s.get(), domain.number()));
        *self.shadow.lock() = wanted;
        let Some(private) = setup.map(|s| private_bin_path(s.get())) else {
            return;
        };
        let is_new = self.binder.lock().private_bin_path != private;
        if is_new {
            self.configure(|binder| binder.private_bin_path = private);
        }
    }
    /// The shadow copies that the domain wants, if the file, whose path is absolute, is to be one of them.
    fn shadow_of(&self, file: &Path) -> Option<ShadowCopies> {
        let copies = self.shadow.lock().clone()?;
        copies.applies(file).then_some(copies)
    }
    /// Opens a shadow copy of a file.
    fn read_copy(
        &self,
        copies: &ShadowCopies,
        file: &Path,
    ) -> std::result::Result<(Content, Source), LoadError> {
        // The stamp first: a file that changes while it is copied has another one afterwards, and is not taken for the same later.
        let made = (|| {
            let opened = std::fs::File::open(file)?;
            let stamp = vervet_os::memory::stamp_of(file)?;
            let source = Source {
                path: std::fs::canonicalize(file)?,
                stamp: settles(&opened, &stamp).then_some(stamp),
            };
            Ok((copies.copy(file)?, source))
        })();
        let (copy, source) = made.map_err(|e| not_found(file, &e))?;
        Ok((Content::of_file(&copy, &copy)?, source))
    }
    /// Is the assembly of an earlier life a copy where copies are wanted now, or no copy, if none is wanted? (A copy of an earlier life has the number of that life in its
    /// path.)
    fn is_as_wanted(&self, assembly: &Assembly, copies: Option<&ShadowCopies>) -> bool {
        let module = assembly.manifest;
        let is_copy = self.shared.sources.lock().contains_key(&module.id);
        match (copies, module.path.as_deref()) {
            (Some(copies), Some(path)) => is_copy && copies.has(Path::new(path)),
            _ => !is_copy,
        }
    }

    /// Loads the assembly in a file, in Native state.
    pub fn open(&self, path: &Path) -> std::result::Result<&'static Assembly, LoadError> {
        self.look_at_setup();
        self.open_named(path, Purpose::Name)
    }
    /// Opens a file to which a name has led.
    fn open_named(
        &self,
        path: &Path,
        purpose: Purpose,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        match in_native(|| self.open_file(path, purpose))? {
            Given::Opened(assembly) => Ok(assembly),
            Given::Redirected(name) => {
                unreachable!("{name}: what a name has led to is not redirected")
            }
        }
    }
    /// A file is about to be opened for managed code. AppDomain.AssemblyLoad is raised for the assembly in it also if that is loaded already, as in mono.
    pub fn opens_again(&self, path: &Path) {
        let full = in_native(|| canonical(path));
        let mut state = self.state.lock();
        if let Some(known) = state.loaded.at(&full) {
            state.untold.add(known);
        }
    }
    /// Has the file been loaded, whether or not it is still there?
    pub fn is_loaded_from(&self, path: &Path) -> bool {
        let full = in_native(|| canonical(path));
        self.state.lock().loaded.at(&full).is_some()
    }
    /// Two threads may read one file at the same time; [`Loader::register`] keeps the assembly of the first.
    fn open_file(&self, path: &Path, purpose: Purpose) -> std::result::Result<Given, LoadError> {
        let full = canonical(path);
        if let Some(a) = self.state.lock().loaded.at(&full) {
            return Ok(Given::Opened(a));
        }
        let is_neutral = self.is_neutral(&full);
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let copies = match is_neutral {
            true => None,
            false => self.shadow_of(&file),
        };
        let shared = match is_neutral {
            true => self.shared.neutral.lock().get(&full).copied(),
            false => {
                let earlier = self.revive(&full);
                earlier.filter(|a| self.is_as_wanted(a, copies.as_ref()))
            }
        };
        let found = match (shared, copies) {
            (Some(assembly), _) => Found::Assembly(assembly),
            (None, None) => Found::Content(Content::of_file(path, &full)?, None),
            (None, Some(copies)) => {
                let (content, source) = self.read_copy(&copies, &file)?;
                Found::Content(content, Some(source))
            }
        };
        let name = match &found {
            Found::Assembly(assembly) => identity(assembly),
            Found::Content(content, _) => content.manifest_to_run()?.identity(),
        };
        if matches!(purpose, Purpose::From | Purpose::File)
            && let Some(name) = self.redirect_of(&name)
        {
            return Ok(Given::Redirected(name));
        }
        if purpose == Purpose::From
            && let Some(first) = self.loaded_as(&name)
        {
            return Ok(Given::Opened(first));
        }
        let assembly = match found {
            Found::Assembly(assembly) => assembly,
            Found::Content(content, source) => {
                let owner = if is_neutral { 0 } else { self.domain };
                let assembly = self.make(owner, content)?;
                if let Some(source) = source {
                    let id = assembly.manifest.id;
                    self.shared.sources.lock().insert(id, source);
                }
                match is_neutral {
                    // Another thread may have been first.
                    true => *(self.shared.neutral.lock())
                        .entry(full.clone())
                        .or_insert(assembly),
                    false => assembly,
                }
            }
        };
        let beside = match purpose {
            Purpose::Name => Beside::AfterEvent,
            Purpose::From | Purpose::Neighbour => Beside::AtOnce,
            Purpose::File => Beside::Never,
        };
        // Before anybody finds it.
        let id = assembly.manifest.id;
        self.state.lock().beside.entry(id).or_insert(beside);
        let assembly = self.register(assembly, Some(full));
        // A shadow copy is the same assembly by its own name.
        if self
            .shared
            .sources
            .lock()
            .contains_key(&assembly.manifest.id)
            && let Some(copy) = assembly.manifest.path.as_deref()
        {
            let mut state = self.state.lock();
            state.loaded.add_path(PathBuf::from(copy), assembly);
        }
        self.register_bound(assembly);
        Ok(Given::Opened(assembly))
    }
    /// Makes an assembly of what holds one, which is added to no list.
    fn make(
        &self,
        owner: u32,
        mut content: Content,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let (path, file) = (content.path.take(), content.file.take());
        let data = content.keep();
        let module = self.universe().load_module_for(owner, data, path)?;
        if let Some((file, stamp)) = file {
            let is_settled = settles(&file, &stamp);
            let origin = Origin::File { stamp, is_settled };
            self.shared.origins.lock().insert(module.id, origin);
        }
        Ok(module.assembly().expect("it holds one"))
    }
    /// Loads another file of a multi-module assembly, from the manifest's directory.
    pub fn open_module(
        &self,
        manifest: ModuleRef,
        file_name: &str,
    ) -> std::result::Result<ModuleRef, LoadError> {
        let path = self.directory(manifest).unwrap_or_default().join(file_name);
        in_native(|| {
            let mut content = Content::of_file(&path, &path)?;
            content.image()?;
            let (path, data) = (content.path.take(), content.keep());
            self.universe().load_module_for(manifest.owner, data, path)
        })
    }
    /// Loads an assembly from memory. The bytes are kept for the life of the process. Each load gives another assembly; their name finds the first.
    pub fn open_bytes(&self, data: Vec<u8>) -> std::result::Result<&'static Assembly, LoadError> {
        let content = Content::of_bytes(data);
        content.manifest_to_run()?;
        Ok(self.register(self.make(self.domain, content)?, None))
    }
    /// Loads the assembly in a file to be looked at, in Native state.
    pub fn open_reflection_only(
        &self,
        path: &Path,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        in_native(|| {
            let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
            if let Some(a) = self.reflection_only.at(&full) {
                return Ok(a);
            }
            self.make_reflection_only(Content::of_file(path, &full)?, Some(full))
        })
    }
    /// The same from memory.
    pub fn open_bytes_reflection_only(
        &self,
        data: Vec<u8>,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        self.make_reflection_only(Content::of_bytes(data), None)
    }
    /// The assembly of a content to be looked at, unless there is one of its identity.
    fn make_reflection_only(
        &self,
        mut content: Content,
        at: Option<PathBuf>,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        if let Some(first) = self
            .reflection_only
            .same_as(&content.manifest()?, at.as_deref())
        {
            return Ok(first);
        }
        let (path, data) = (content.path.take(), content.keep());
        let module = self
            .universe()
            .load_reflection_only(self.domain, data, path)?;
        let assembly = module.assembly().expect("it holds one");
        let (kept, is_new) = self.reflection_only.add(assembly, at);
        if is_new {
            hooks::assembly_loaded(kept);
            self.state.lock().untold.add(kept);
        }
        Ok(kept)
    }
    /// Binds a name to an assembly that is looked at: the core library, what has been loaded so under the name, or else the first file that opens.
    /// Nothing is redirected, and no event is raised.
    pub fn bind_reflection_only(
        &self,
        name: &AssemblyName,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        if let Some(a) = self.named_reflection_only(name) {
            return Ok(Some(a));
        }
        let candidates = self.binder().candidates(name, None);
        let files = candidates.iter().filter(|c| c.path.is_file());
        let opened = files.map(|c| self.open_reflection_only(&c.path));
        Ok(opened.flatten().next())
    }
    /// The core library or what has been loaded to be looked at under a name.
    fn named_reflection_only(&self, name: &AssemblyName) -> Option<&'static Assembly> {
        let corlib = self.universe().corlib().assembly()?;
        if name.name.eq_ignore_ascii_case(corlib.name) {
            return Some(corlib);
        }
        self.reflection_only.named(name)
    }
    /// Loads an assembly that is part of this binary. It has no path.
    fn open_own(&self, data: &'static [u8]) -> std::result::Result<&'static Assembly, LoadError> {
        let own = self.shared.own.get_or_try(|| {
            let module = self.universe().load_module(data, None)?;
            let origins = &self.shared.origins;
            origins.lock().insert(module.id, Origin::Binary);
            let assembly = module.assembly();
            assembly
                .map(AssemblyCell)
                .ok_or_else(|| LoadError::bad_image(module, "the image holds no assembly"))
        })?;
        Ok(self.register(own.0, None))
    }

    /// Adds a mapping of a host's.
    pub fn add_host_mapping(&self, mapping: HostMapping) {
        self.shared.host_map.lock().push(mapping);
    }
    /// The dllmap of the assembly with that file name is the host's, not that of a file beside it.
    pub fn carry_dllmap(&self, file: &str, map: DllMap) {
        let map: &'static DllMap = Box::leak(Box::new(map));
        self.shared
            .carried_dllmaps
            .lock()
            .push((file.to_string(), map));
    }
    /// Adds the dllmaps of a host's configuration.
    pub fn add_host_dllmap(&self, map: DllMap) {
        self.shared.host_dllmap.lock().extend(map);
    }
    /// The library and the function that a host has mapped a function to.
    pub fn host_mapping(
        &self,
        module: ModuleRef,
        library: &str,
        function: &str,
    ) -> Option<(String, String)> {
        let all = self.shared.host_map.lock();
        let found = all.iter().rev().find(|m| {
            m.module.is_none_or(|id| id == module.id)
                && m.library == library
                && m.function.as_deref().is_none_or(|f| f == function)
        });
        let Some(found) = found else {
            let target = DllMap::resolve(
                &self.shared.host_dllmap.lock(),
                &DllMap::default(),
                library,
                function,
            );
            let same = target.library == library && target.function == function;
            return (!same).then_some((target.library, target.function));
        };
        Some((
            found
                .to_library
                .clone()
                .unwrap_or_else(|| library.to_string()),
            found
                .to_function
                .clone()
                .unwrap_or_else(|| function.to_string()),
        ))
    }

    /// Loads a file for managed code.
    pub fn load_file<'cx>(&self, cx: &'cx Cx<'cx>, path: &Path) -> Result<&'static Assembly> {
        let assembly = cx.load(self.open(path))?;
        cx.tell_loaded()?;
        Ok(assembly)
    }

    /// The dllmap that belongs to a module's assembly.
    pub fn dllmap(&self, module: ModuleRef) -> &'static DllMap {
        // No lock is held while files are read.
        let known = self.shared.maps.lock().get(&module.id).copied();
        let carried = || {
            let all = self.shared.carried_dllmaps.lock();
            let own = all.iter().find(|c| c.0 == module.name);
            own.map(|c| c.1)
        };
        if let Some(map) = known.or_else(carried) {
            return map;
        }
        let map = match (&module.path, module.assembly()) {
            (Some(p), Some(a)) => {
                let locations = &self.shared.locations;
                locations.read_assembly(Path::new(p), a.name).0.dllmap
            }
            _ => DllMap::default(),
        };
        let map: &'static DllMap = Box::leak(Box::new(map));
        self.shared.maps.lock().entry(module.id).or_insert(map)
    }
}

/// `AppDomainSetup.PrivateBinPath`.
pub(crate) fn private_bin_path(setup: ObjRef<'_>) -> Option<String> {
    let at = std::mem::offset_of!(vervet_abi::layouts::AppDomainSetupObject, private_bin_path);
    let text = setup.read_ref(at).non_null().map(ObjRef::text);
    text.filter(|t| !t.is_empty())
}
/// The path by which a file is known: the canonical one, also of a file that is gone, if its directory is there.
fn canonical(path: &Path) -> PathBuf {
    let of_directory = || {
        let path = std::path::absolute(path).ok()?;
        let directory = std::fs::canonicalize(path.parent()?).ok()?;
        Some(directory.join(path.file_name()?))
    };
    std::fs::canonicalize(path)
        .ok()
        .or_else(of_directory)
        .unwrap_or_else(|| path.to_path_buf())
}
/// Runs `work` in Native state: looking for files and reading them touches no object and may take long.
fn in_native<T>(work: impl FnOnce() -> T) -> T {
    crate::threads::native(work)
}
