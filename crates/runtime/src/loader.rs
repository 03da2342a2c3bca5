//! Loading assemblies: from a name, a file or bytes to an assembly; and the list of what is loaded.
//!
//! # From a name to an assembly
//! ```text
//!   name --redirects, policy--> effective name
//!     1. `resolved`: a resolve event has answered this name before           -> that assembly
//!     2. `by_name`: loaded under this simple name, in the version asked for  -> that assembly
//!     3. the binder's candidates, without and then with the directory of the requesting module: the first file that opens
//!        (of references, that directory comes after 6 or not at all, unless `LoadFrom` has loaded the module: `Beside`)
//!     4. `by_name` in another version                                        -> that assembly
//!     5. the name of an assembly in this binary, Vervet.Threading            -> that assembly
//!     6. nothing: AssemblyResolve is raised
//! ```
//! | who asks | step 6 |
//! |---|---|
//! | managed code (`Assembly.Load`) | [`Loader::load_by_name`] raises the event itself |
//! | the type system, while a method is compiled | [`Bridge`] answers `Need`; the prestub calls [`Loader::supply`], which raises the event, and compiles again |
//! | the background compiler | steps 3 to 6 are not taken: it loads nothing, and gives the method up |
//!
//! # Domains
//! Each application domain has a [`Loader`], with its own directories, redirects and list. A module belongs to the domain that loaded it, and its
//! references are bound by that domain's loader, whoever asks. The class libraries' modules are *neutral*: all domains share them, they belong to the
//! root domain, and only the lists of loaders tell which domain uses them.
//!
//! # Invariants
//! * One assembly object per file (by canonical path), and one per simple name in the default context. Names are compared there without
//!   regard to case, those of files with it.
//! * `LoadFrom` of another file with a name that is loaded gives the assembly that is loaded ([`Loader::open_from`]); `LoadFile` never does.
//! * Whoever gives a file or bytes gets what the redirects put in the place of the name in them (module `given`).
//! * Images are mapped for the life of the process.
//! * Whether a file is neutral is told by its place alone ([`Loader::is_neutral`]), so all domains agree on it.
//! * A bind that needs the program's resolve events answers `LoadError::Need`: events run managed code, so they are
//!   raised by [`Loader::supply`] in Runtime state with no lock held, and the bind is tried again.
mod given;

pub use given::Given;

use crate::cx::{Cx, Result, Value};
use crate::object::ObjRef;
use crate::profiler::hooks;
use crate::reflection_only::ReflectionOnly;
use crate::shadow_copy::ShadowCopies;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use vervet_binder::binder::Binder;
use vervet_binder::dllmap::DllMap;
use vervet_binder::mono_config::{Locations, MonoConfig};
use vervet_binder::name::AssemblyName;
use vervet_binder::token::PublicKeyToken;
use vervet_os::{LeafLock, Published};
use vervet_types::error::{Ask, Need};
use vervet_types::module::AssemblyRefInfo;
use vervet_types::{Assembly, ClassRef, Known, LoadError, Module, ModuleRef, Universe};

/// The assembly that `managed/Vervet.Threading` becomes: it answers its name where no file does. Empty if there was no C# compiler when this crate
/// was built.
pub static THREADING: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/Vervet.Threading.dll"));

/// See the module.
pub struct Loader {
    /// Id of its domain.
    domain: u32,
    /// What all loaders have in common.
    pub shared: &'static Shared,
    binder: LeafLock<Binder>,
    state: LeafLock<State>,
    /// The assembly of Main.
    entry: LeafLock<Option<&'static Assembly>>,
    /// The simple names of which a host was asked before they were looked for.
    preload_asked: LeafLock<rustc_hash::FxHashSet<String>>,
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

thread_local! {
    /// Binds of this thread load nothing.
    static LOADS_NOTHING: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

thread_local! {
    /// What this thread's last bind needed that failed for it.
    static NEED: std::cell::Cell<Option<Box<Need>>> = const { std::cell::Cell::new(None) };
}
fn needed(requesting: ModuleRef, reference: &AssemblyRefInfo) -> LoadError {
    let need = Box::new(Need::Assembly {
        requesting,
        reference: *reference,
    });
    // A thread that ends keeps nothing.
    let _ = NEED.try_with(|last| last.set(Some(need.clone())));
    LoadError::Need(need)
}
/// What a bind of the calling thread has needed since the last call, for who asks the type system without looking at errors.
pub fn take_need() -> Option<Box<Need>> {
    NEED.try_with(std::cell::Cell::take).ok().flatten()
}

static LOADS: AtomicU64 = AtomicU64::new(0);

/// How many assemblies have been loaded in this process.
pub fn loads() -> u64 {
    LOADS.load(Ordering::Acquire)
}

/// Does something during which this thread's binds find what is loaded, and load nothing.
pub fn without_loading<T>(work: impl FnOnce() -> T) -> T {
    let before = LOADS_NOTHING.with(|l| l.replace(true));
    let result = work();
    LOADS_NOTHING.with(|l| l.set(before));
    result
}

/// The type system that the loader's modules belong to; set once at start-up.
struct UniverseRef(&'static Universe);
/// A published assembly.
pub struct AssemblyCell(pub &'static Assembly);

/// What is loaded. Under its lock.
#[derive(Default)]
struct State {
    /// In the order in which they were loaded, as `AppDomain.GetAssemblies` gives them.
    loaded: Vec<&'static Assembly>,
    /// By canonical path, so that two names of one file are one assembly.
    by_path: FxHashMap<PathBuf, &'static Assembly>,
    /// By simple name in lower case, the first that was loaded.
    by_name: FxHashMap<String, &'static Assembly>,
    /// Loaded, and the program has not been told yet.
    untold: Vec<&'static Assembly>,
    /// References that a resolve event has been asked for and could not give: the id of the module, the full name.
    unresolved: FxHashSet<(u32, String)>,
    /// Where the references of an assembly may be found that was loaded by its file, by the id of its manifest's module.
    beside: FxHashMap<u32, Beside>,
    /// What binds in the default context have found, by the display name and the id of the requesting module: reading policy files and probing cost system calls, and
    /// the serializer binds a name for each type that it reads.
    bound: FxHashMap<(String, Option<u32>), &'static Assembly>,
    /// What an earlier life of the domain had loaded.
    retired: Option<Retired>,
    /// What resolve events have answered, by simple name. An answer holds for the life of the process.
    resolved: FxHashMap<String, &'static Assembly>,
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
    places: Binder,
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
            private_bin_path_probe: false,
            redirects: Vec::new(),
            ..root
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
        let state = std::mem::take(&mut *fresh.state.lock());
        let before = std::mem::replace(&mut *self.state.lock(), state);
        let places = std::mem::replace(&mut *self.binder.lock(), fresh.binder());
        *self.entry.lock() = None;
        self.preload_asked.lock().clear();
        self.reflection_only.clear();
        let own = (before.by_path.into_iter()).filter(|(_, a)| a.manifest.owner == self.domain);
        let mut retired: FxHashMap<PathBuf, &'static Assembly> = own.collect();
        retired.extend(before.retired.map(|r| r.assemblies).unwrap_or_default());
        // What they are bound to has to be what they would be bound to again.
        let from_memory = (before.by_name.values())
            .any(|a| a.manifest.owner == self.domain && a.manifest.path.is_none());
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
            binder: LeafLock::new(binder),
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
        let binder = self.binder.lock();
        path.starts_with(binder.libdir.join("mono"))
            || binder.gac_roots().any(|root| path.starts_with(root))
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
        change(&mut self.binder.lock());
        self.state.lock().bound.clear();
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
    pub fn binder(&self) -> Binder {
        self.binder.lock().clone()
    }
    /// Everything loaded, in order.
    pub fn assemblies(&self) -> Vec<&'static Assembly> {
        self.state.lock().loaded.clone()
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
    /// Looks at what the domain's setup says of shadow copies, which the program may change at any time. In Native state, and in a thread that only compiles, what was
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
    }
    /// The shadow copies that the domain wants, if the file, whose path is absolute, is to be one of them.
    fn shadow_of(&self, file: &Path) -> Option<ShadowCopies> {
        let copies = self.shadow.lock().clone()?;
        copies.applies(file).then_some(copies)
    }
    /// Makes an assembly of a shadow copy of a file, which is added to no list.
    fn read_copy(
        &self,
        copies: &ShadowCopies,
        file: &Path,
    ) -> std::result::Result<&'static Assembly, LoadError> {
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
        let assembly = self.read_file(&copy, &copy, false)?;
        let id = assembly.manifest.id;
        self.shared.sources.lock().insert(id, source);
        Ok(assembly)
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
        let full = in_native(|| std::fs::canonicalize(path).ok());
        let mut state = self.state.lock();
        let known = full.and_then(|full| state.by_path.get(&full).copied());
        state.untold.extend(known);
    }
    /// Two threads may read one file at the same time; [`Loader::register`] keeps the assembly of the first.
    fn open_file(&self, path: &Path, purpose: Purpose) -> std::result::Result<Given, LoadError> {
        let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(a) = self.state.lock().by_path.get(&full) {
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
        let assembly = match shared {
            Some(assembly) => assembly,
            None => {
                let assembly = match copies {
                    None => self.read_file(path, &full, is_neutral)?,
                    Some(copies) => self.read_copy(&copies, &file)?,
                };
                match is_neutral {
                    // Another thread may have been first.
                    true => *(self.shared.neutral.lock())
                        .entry(full.clone())
                        .or_insert(assembly),
                    false => assembly,
                }
            }
        };
        if matches!(purpose, Purpose::From | Purpose::File)
            && !is_neutral
            && let Some(name) = self.redirect_of(assembly)
        {
            return Ok(Given::Redirected(name));
        }
        if purpose == Purpose::From
            && let Some(first) = self.loaded_as(assembly)
        {
            return Ok(Given::Opened(first));
        }
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
            state.by_path.entry(PathBuf::from(copy)).or_insert(assembly);
        }
        self.register_bound(assembly);
        Ok(Given::Opened(assembly))
    }
    /// What an assembly of an earlier life is bound to already is loaded with it.
    fn register_bound(&self, assembly: &'static Assembly) {
        let mut open = vec![assembly];
        while let Some(next) = open.pop() {
            for (_, bound) in next.manifest.edges() {
                let path = self.source(bound.manifest);
                if bound.manifest.owner == self.domain
                    && let Some(path) = path
                    && !self.state.lock().by_path.contains_key(&path)
                {
                    open.push(self.register(bound, Some(path)));
                }
            }
        }
    }
    /// Makes an assembly of a file, which is added to no list.
    fn read_file(
        &self,
        path: &Path,
        full: &Path,
        is_neutral: bool,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let (data, file, stamp) =
            vervet_os::memory::map_open_file(path).map_err(|e| not_found(path, &e))?;
        let owner = if is_neutral { 0 } else { self.domain };
        let module = self.universe().load_module_for(
            owner,
            data,
            Some(full.to_string_lossy().into_owned()),
        )?;
        if let Some(stamp) = stamp {
            let is_settled = settles(&file, &stamp);
            let origin = Origin::File { stamp, is_settled };
            self.shared.origins.lock().insert(module.id, origin);
        }
        module
            .assembly()
            .ok_or_else(|| LoadError::bad_image(module, "the file holds no assembly"))
    }
    /// What is loaded under the name of an assembly that is not.
    fn loaded_as(&self, assembly: &Assembly) -> Option<&'static Assembly> {
        let s = self.state.lock();
        let first = *s.by_name.get(&assembly.name.to_lowercase())?;
        let is_strong = !assembly.public_key.is_empty();
        let same = first.culture == assembly.culture
            && (!is_strong
                || first.version == assembly.version && first.public_key == assembly.public_key);
        same.then_some(first)
    }
    /// Loads another file of a multi-module assembly, from the manifest's directory.
    pub fn open_module(
        &self,
        manifest: ModuleRef,
        file_name: &str,
    ) -> std::result::Result<ModuleRef, LoadError> {
        let path = self.directory(manifest).unwrap_or_default().join(file_name);
        in_native(|| {
            let data = vervet_os::memory::map_file(&path).map_err(|e| not_found(&path, &e))?;
            let path = path.to_string_lossy().into_owned();
            self.universe()
                .load_module_for(manifest.owner, data, Some(path))
        })
    }
    /// Loads an assembly from memory. The bytes are kept for the life of the process. Each load gives another assembly; their name finds the first.
    pub fn open_bytes(&self, data: Vec<u8>) -> std::result::Result<&'static Assembly, LoadError> {
        Ok(self.register(self.read_bytes(data)?, None))
    }
    /// Makes an assembly of bytes, which is added to no list.
    fn read_bytes(&self, data: Vec<u8>) -> std::result::Result<&'static Assembly, LoadError> {
        let data = Box::leak(data.into_boxed_slice());
        let module = self.universe().load_module_for(self.domain, data, None)?;
        module
            .assembly()
            .ok_or_else(|| LoadError::bad_image(module, "the image holds no assembly"))
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
            let data = vervet_os::memory::map_file(path).map_err(|e| not_found(path, &e))?;
            let name = full.to_string_lossy().into_owned();
            let module = self
                .universe()
                .load_reflection_only(self.domain, data, Some(name))?;
            self.register_reflection_only(module, Some(full))
        })
    }
    /// The same from memory.
    pub fn open_bytes_reflection_only(
        &self,
        data: Vec<u8>,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let data = Box::leak(data.into_boxed_slice());
        let module = self
            .universe()
            .load_reflection_only(self.domain, data, None)?;
        self.register_reflection_only(module, None)
    }
    fn register_reflection_only(
        &self,
        module: ModuleRef,
        path: Option<PathBuf>,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let assembly = module
            .assembly()
            .ok_or_else(|| LoadError::bad_image(module, "the file holds no assembly"))?;
        let (kept, is_new) = self.reflection_only.add(assembly, path);
        if is_new {
            hooks::assembly_loaded(kept);
            self.state.lock().untold.push(kept);
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
        let file = candidates.into_iter().find(|c| c.path.is_file());
        file.map(|c| self.open_reflection_only(&c.path)).transpose()
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
    fn open_own(
        &self,
        name: &str,
        data: &'static [u8],
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let own = self.shared.own.get_or_try(|| {
            let module = self.universe().load_module(data, None)?;
            let origins = &self.shared.origins;
            origins.lock().insert(module.id, Origin::Binary);
            let assembly = module.assembly();
            assembly
                .map(AssemblyCell)
                .ok_or_else(|| LoadError::bad_image(module, "the image holds no assembly"))
        })?;
        let assembly = own.0;
        let mut s = self.state.lock();
        // Another thread may have been first.
        if let Some(first) = s.by_name.get(&name.to_lowercase()) {
            return Ok(first);
        }
        s.by_name.insert(name.to_lowercase(), assembly);
        s.loaded.push(assembly);
        hooks::assembly_loaded(assembly);
        s.untold.push(assembly);
        LOADS.fetch_add(1, Ordering::Release);
        Ok(assembly)
    }
    /// Adds an assembly that the program defines. No name finds it.
    pub fn add_defined(&self, assembly: &'static Assembly) {
        hooks::assembly_loaded(assembly);
        if assembly.is_reflection_only {
            self.reflection_only.add_defined(assembly);
        }
        let mut s = self.state.lock();
        if !assembly.is_reflection_only {
            s.loaded.push(assembly);
        }
        s.untold.push(assembly);
    }
    /// Adds an assembly to what is loaded, unless one of that path is there already. Returns the one that is there.
    fn register(&self, assembly: &'static Assembly, path: Option<PathBuf>) -> &'static Assembly {
        let mut s = self.state.lock();
        if let Some(p) = path {
            if let Some(first) = s.by_path.get(&p) {
                return first;
            }
            s.by_path.insert(p, assembly);
        }
        s.by_name
            .entry(assembly.name.to_lowercase())
            .or_insert(assembly);
        s.loaded.push(assembly);
        hooks::assembly_loaded(assembly);
        s.untold.push(assembly);
        LOADS.fetch_add(1, Ordering::Release);
        assembly
    }

    /// What is loaded under a name, and whether it is the version asked for: a strong name means its version, if there
    /// is a file of it.
    fn bound(
        &self,
        name: &AssemblyName,
        effective: &AssemblyName,
    ) -> Option<(&'static Assembly, bool)> {
        let s = self.state.lock();
        if let Some(a) = s.resolved.get(&name.name) {
            return Some((a, true));
        }
        let neutral = matches!(effective.culture_or_neutral(), "" | "neutral");
        let a = s
            .by_name
            .get(&effective.name.to_lowercase())
            .filter(|_| neutral)?;
        let same = effective.public_key_token.is_none()
            || effective.version.is_none_or(|v| v == a.version);
        Some((a, same))
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

    /// The assembly that a reference in a module of the loader's domain means. Called in any state, by threads that compile.
    ///
    /// # Errors
    /// `Need`: a host, or the program by a resolve event, may supply it.
    pub(crate) fn answer(
        &self,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> std::result::Result<&'static Assembly, LoadError> {
        let name = name_of_reference(reference);
        if requesting.is_reflection_only() {
            let given = self.reflection_only.given(requesting, &name);
            let known = given
                .flatten()
                .or_else(|| self.named_reflection_only(&name));
            return match (known, given) {
                (Some(a), _) => Ok(a),
                (None, None) => Err(needed(requesting, reference)),
                (None, Some(_)) => Err(LoadError::NotPreloaded {
                    name: name.to_string(),
                }),
            };
        }
        let asks_host = HOST.get().is_some_and(|host| (host.has_preload)())
            && !self.preload_asked.lock().contains(&name.name)
            && !self.is_loaded(&name);
        if asks_host {
            return Err(needed(requesting, reference));
        }
        let beside = self.beside(requesting);
        // What is loaded in another version is the last choice of a bind, and would be taken in place of a neighbour of the right one.
        let at_once =
            beside == Beside::AtOnce || beside == Beside::AfterEvent && self.is_loaded(&name);
        if let Some(a) = self.bind(&name, at_once.then_some(requesting))? {
            return Ok(a);
        }
        let key = (requesting.id, name.to_string());
        if !self.state.lock().unresolved.contains(&key) {
            return Err(needed(requesting, reference));
        }
        let last = match beside {
            Beside::AfterEvent => self.bind(&name, Some(requesting))?,
            Beside::AtOnce | Beside::Never => None,
        };
        last.ok_or(LoadError::FileNotFound { name: key.1 })
    }
    /// When what a module refers to is looked for beside it.
    fn beside(&self, requesting: ModuleRef) -> Beside {
        let manifest = requesting.assembly().map_or(requesting, |a| a.manifest);
        let state = self.state.lock();
        state.beside.get(&manifest.id).copied().unwrap_or_default()
    }
    /// Is there an assembly of which the program has not been told?
    pub(crate) fn has_untold(&self) -> bool {
        !self.state.lock().untold.is_empty()
    }

    /// Is an assembly of that simple name loaded from a file?
    pub fn is_loaded(&self, name: &AssemblyName) -> bool {
        self.state
            .lock()
            .by_name
            .contains_key(&name.name.to_lowercase())
    }

    /// Binds a name in the default context, without events, in Native state.
    pub fn bind(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        self.look_at_setup();
        in_native(|| self.bind_name(name, requesting))
    }
    fn bind_name(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        let key = (name.to_string(), requesting.map(|m| m.id));
        if let Some(known) = self.state.lock().bound.get(&key) {
            return Ok(Some(known));
        }
        let found = self.look_for(name, requesting)?;
        if let Some(assembly) = found {
            self.state.lock().bound.insert(key, assembly);
        }
        Ok(found)
    }
    fn look_for(
        &self,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> std::result::Result<Option<&'static Assembly>, LoadError> {
        let binder = self.binder();
        let effective = binder.effective_name(name, policy).into_owned();
        let other_version = match self.bound(name, &effective) {
            Some((a, true)) => return Ok(Some(a)),
            other => other.map(|o| o.0),
        };
        if crate::threads::current_context().is_null() || LOADS_NOTHING.get() {
            // A thread that compiles ahead loads nothing: what is loaded, and when, is the program's doing.
            return Ok(None);
        }
        let mut first_error = None;
        for with_dir in [false, true] {
            let dir = if with_dir {
                requesting.and_then(|m| self.directory(m))
            } else {
                None
            };
            if with_dir && dir.is_none() {
                break;
            }
            for c in binder.candidates(&effective, dir.as_deref()) {
                if !c.path.is_file() {
                    continue;
                }
                let is_neighbour =
                    with_dir && requesting.is_some_and(|m| self.beside(m) == Beside::AtOnce);
                let purpose = match is_neighbour {
                    true => Purpose::Neighbour,
                    false => Purpose::Name,
                };
                self.look_at_setup();
                match self.open_named(&c.path, purpose) {
                    Ok(a) => return Ok(Some(a)),
                    Err(e) => first_error = first_error.or(Some(e)),
                }
            }
        }
        if other_version.is_none()
            && first_error.is_none()
            && effective.name == "Vervet.Threading"
            && !THREADING.is_empty()
        {
            return self.open_own("Vervet.Threading", THREADING).map(Some);
        }
        match (other_version, first_error) {
            (None, Some(e)) => Err(e),
            (other_version, _) => Ok(other_version),
        }
    }

    /// Binds a name for managed code, raising AssemblyResolve if nothing is found. The event names no assembly that requests, as in mono: only
    /// references do.
    pub fn load_by_name<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &AssemblyName,
        requesting: Option<ModuleRef>,
    ) -> Result<&'static Assembly> {
        if let Some(a) = self.ask_host(cx, name) {
            cx.tell_loaded()?;
            return Ok(a);
        }
        if let Some(a) = cx.load(self.bind(name, requesting))? {
            cx.tell_loaded()?;
            return Ok(a);
        }
        if let Some(host) = HOST.get()
            && let Some(a) = (host.find)(cx, name, Stage::Postload)
        {
            cx.tell_loaded()?;
            return Ok(a);
        }
        match self.resolve_event(cx, &name.to_string(), None)? {
            Some(a) => Ok(a),
            None => Err(cx.throw2(
                Known::FileNotFoundException,
                &format!("Could not load file or assembly '{name}' or one of its dependencies."),
                &name.to_string(),
            )),
        }
    }
    /// What a host gives for a name before it is looked for: it is asked whether it has loaded the assembly, and then, unless one of that name is
    /// loaded, where to load it from.
    pub fn ask_host(&self, cx: &Cx<'_>, name: &AssemblyName) -> Option<&'static Assembly> {
        let host = HOST.get()?;
        let preload = || match self.is_loaded(name) {
            true => None,
            false => (host.find)(cx, name, Stage::Preload),
        };
        (host.find)(cx, name, Stage::Search).or_else(preload)
    }
    /// Loads a file for managed code.
    pub fn load_file<'cx>(&self, cx: &'cx Cx<'cx>, path: &Path) -> Result<&'static Assembly> {
        let assembly = cx.load(self.open(path))?;
        cx.tell_loaded()?;
        Ok(assembly)
    }

    /// Tells the host, and raises AppDomain.AssemblyLoad of the loader's domain, which is the current one.
    ///
    /// # Errors
    /// What a handler throws. The assemblies behind the one that it was called for are told of next time.
    pub(crate) fn tell<'cx>(&self, cx: &'cx Cx<'cx>) -> Result<()> {
        // Taken before the event is raised: a handler may load more, and then tells of that itself.
        let untold = std::mem::take(&mut self.state.lock().untold);
        for (i, assembly) in untold.iter().enumerate() {
            if let Some(host) = HOST.get()
                && self.origin(assembly.manifest) != Some(Origin::Binary)
            {
                (host.loaded)(cx, assembly);
            }
            if let Err(throw) = raise_load(cx, assembly) {
                let rest = untold[i + 1..].iter().copied();
                self.state.lock().untold.splice(0..0, rest);
                return Err(throw);
            }
        }
        Ok(())
    }

    /// Raises the event for a reference that was not found, in the loader's domain, which is the current one. A handler that throws has given nothing.
    pub(crate) fn supply<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        requesting: ModuleRef,
        reference: &AssemblyRefInfo,
    ) -> Result<()> {
        let name = name_of_reference(reference);
        if requesting.is_reflection_only() {
            return self.supply_reflection_only(cx, requesting, &name);
        }
        if let Some(host) = HOST.get() {
            let asked = !self.preload_asked.lock().insert(name.name.clone());
            let given = match asked {
                true => (host.find)(cx, &name, Stage::Postload),
                false => self.ask_host(cx, &name),
            };
            if let Some(a) = given {
                let mut state = self.state.lock();
                state.resolved.insert(name.name, a);
                state.bound.clear();
                return Ok(());
            }
            if !asked {
                // The ordinary way is tried now.
                return Ok(());
            }
        }
        let given = self.resolve_event(cx, &name.to_string(), Some(requesting));
        match kept_quiet(cx, given)? {
            Some(a) => {
                let mut state = self.state.lock();
                state.resolved.insert(name.name, a);
                state.bound.clear();
            }
            None => {
                let key = (requesting.id, name.to_string());
                self.state.lock().unresolved.insert(key);
            }
        }
        Ok(())
    }

    /// Raises the event for a reference of an assembly that is looked at; if it gives nothing, the next try fails for good.
    fn supply_reflection_only<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        requesting: ModuleRef,
        name: &AssemblyName,
    ) -> Result<()> {
        let given = self.raise_resolve(cx, &name.to_string(), Some(requesting), true);
        let given = kept_quiet(cx, given)?;
        self.reflection_only.give(requesting, name, given);
        Ok(())
    }
    /// Raises AppDomain.AssemblyResolve. None: no handler has given an assembly.
    ///
    /// # Errors
    /// What a handler has thrown; FileNotFoundException if what it gave is only to be looked at.
    pub fn resolve_event<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &str,
        requesting: Option<ModuleRef>,
    ) -> Result<Option<&'static Assembly>> {
        match self.raise_resolve(cx, name, requesting, false)? {
            Some(a) if a.is_reflection_only => Err(cx.throw(
                Known::FileNotFoundException,
                "AssemblyResolveEvent handlers cannot return Assemblies loaded for reflection only",
            )),
            given => Ok(given),
        }
    }
    /// Raises AppDomain.AssemblyResolve or ReflectionOnlyAssemblyResolve. None: no handler has given an assembly.
    fn raise_resolve<'cx>(
        &self,
        cx: &'cx Cx<'cx>,
        name: &str,
        requesting: Option<ModuleRef>,
        is_reflection_only: bool,
    ) -> Result<Option<&'static Assembly>> {
        let Some(root) = *cx.domain().app_domain.lock() else {
            return Ok(None);
        };
        let domain: ObjRef<'_> = root.get();
        let class = cx.known(Known::AppDomain);
        let Some(method) = cx.load(class.find_method("DoAssemblyResolve", Some(3)))? else {
            return Ok(None);
        };
        let requesting = match requesting.and_then(|m| m.assembly()) {
            Some(a) => assembly_object(cx, a)?,
            None => ObjRef::NULL,
        };
        let name = cx.alloc_str(name)?;
        match cx.invoke(
            method,
            Some(Value::Ref(domain)),
            &[
                Value::Ref(name),
                Value::Ref(requesting),
                Value::Int(is_reflection_only.into()),
            ],
        )? {
            Value::Ref(o) if !o.is_null() => Ok(Some(assembly_of(cx, o)?)),
            _ => Ok(None),
        }
    }

    /// The dllmap that belongs to a module's assembly.
    pub fn dllmap(&self, module: ModuleRef) -> &'static DllMap {
        if let Some(m) = self.shared.maps.lock().get(&module.id) {
            return m;
        }
        let carried = self.shared.carried_dllmaps.lock();
        let carried = carried.iter().find(|c| c.0 == module.name).map(|c| c.1);
        if let Some(map) = carried {
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

/// Raises AppDomain.AssemblyLoad of the current domain.
fn raise_load<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly) -> Result<()> {
    let Some(root) = *cx.domain().app_domain.lock() else {
        return Ok(());
    };
    let domain: ObjRef<'_> = root.get();
    let handlers = std::mem::offset_of!(vervet_abi::layouts::AppDomainObject, assembly_load);
    if domain.read_ref(handlers).is_null() {
        return Ok(());
    }
    let class = cx.known(Known::AppDomain);
    let Some(method) = cx.load(class.find_method("DoAssemblyLoad", Some(1)))? else {
        return Ok(());
    };
    let object = assembly_object(cx, assembly)?;
    cx.invoke(method, Some(Value::Ref(domain)), &[Value::Ref(object)])?;
    Ok(())
}

/// Has the program create a type that has been named: by a handler of AppDomain.TypeResolve, or by `CreateType`.
///
/// # Errors
/// TypeLoadException: none has, and it must be created.
pub(crate) fn complete<'cx>(cx: &'cx Cx<'cx>, class: ClassRef, ask: Ask) -> Result<()> {
    class.set_offered();
    let key = (
        BUILDER_KIND,
        class.module as *const Module as usize,
        class.rid() as usize,
    );
    let domain = cx.domain();
    let app_domain = *domain.app_domain.lock();
    if class.rid() == 1 && domain.cached(key).is_none() {
        return cx.load(class.module.complete_global());
    }
    if ask == Ask::Create
        && let Some(builder) = domain.cached(key)
    {
        let create = cx.load(builder.class().find_method("CreateType", Some(0)))?;
        if let Some(create) = create {
            cx.invoke(create, Some(Value::Ref(builder)), &[])?;
        }
    } else if let (Some(root), Some(builder)) = (app_domain, domain.cached(key))
        && let Some(method) = cx.load(
            cx.known(Known::AppDomain)
                .find_method("DoTypeBuilderResolve", Some(1)),
        )?
    {
        cx.invoke(method, Some(Value::Ref(root.get())), &[Value::Ref(builder)])?;
    }
    match class.complete() {
        Err(_) if ask != Ask::Offer => Err(cx.throw_load(LoadError::type_load(class, ""))),
        _ => Ok(()),
    }
}

/// Runs `work` in Native state: looking for files and reading them touches no object and may take long.
fn in_native<T>(work: impl FnOnce() -> T) -> T {
    crate::threads::native(work)
}

/// The RuntimeAssembly object of an assembly (`_mono_assembly` is its address).
pub fn assembly_object<'cx>(cx: &'cx Cx<'cx>, assembly: &'static Assembly) -> Result<ObjRef<'cx>> {
    let key = assembly as *const Assembly as usize;
    cx.cached(ASSEMBLY_KIND, key, 0, || {
        another_assembly_object(cx, assembly)
    })
}
/// Another object of an assembly, which nothing else is given. (Managed code keeps in an assembly's object that it came from bytes.)
pub fn another_assembly_object<'cx>(
    cx: &'cx Cx<'cx>,
    assembly: &'static Assembly,
) -> Result<ObjRef<'cx>> {
    let o = cx.alloc(cx.known(Known::RuntimeAssembly))?;
    o.write(
        std::mem::offset_of!(vervet_abi::layouts::RuntimeAssemblyObject, mono_assembly),
        assembly as *const Assembly as usize,
    );
    Ok(o)
}
/// The assembly behind a RuntimeAssembly object.
pub fn assembly_of<'cx>(cx: &'cx Cx<'cx>, object: ObjRef<'cx>) -> Result<&'static Assembly> {
    let o = cx.non_null(object)?;
    let p: usize = o.read(std::mem::offset_of!(
        vervet_abi::layouts::RuntimeAssemblyObject,
        mono_assembly
    ));
    if p == 0 {
        return Err(cx.throw(
            Known::NotSupportedException,
            "the assembly is not a loaded one",
        ));
    }
    // SAFETY: the word was stored by `assembly_object`.
    Ok(unsafe { &*(p as *const Assembly) })
}
/// Cache kind of assembly objects (see [`Cx::cached`]); other kinds are declared by the reflection icalls.
pub const ASSEMBLY_KIND: u32 = 1;
/// Cache kind of TypeBuilder objects, by module and TypeDef row.
pub const BUILDER_KIND: u32 = 10;

/// The redirects of a publisher policy.
fn policy(path: &Path) -> Vec<vervet_binder::redirect::Redirect> {
    vervet_binder::redirect::Redirect::read_policy(path).unwrap_or_default()
}
fn not_found(path: &Path, error: &std::io::Error) -> LoadError {
    tracing::debug!("{}: {error}", path.display());
    LoadError::FileNotFound {
        name: path.to_string_lossy().into_owned(),
    }
}

/// What a reference in metadata asks for.
pub fn name_of_reference(r: &AssemblyRefInfo) -> AssemblyName {
    let token = match r.public_key_or_token.len() {
        0 => None,
        8 => r.public_key_or_token.try_into().ok().map(PublicKeyToken),
        _ => Some(PublicKeyToken::of_key(r.public_key_or_token)),
    };
    AssemblyName {
        version: Some(r.version),
        culture: Some(r.culture.to_string()),
        public_key_token: token,
        token_is_null: token.is_none(),
        retargetable: r.flags & 0x100 != 0,
        ..AssemblyName::simple(r.name)
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
static HOST: vervet_os::Published<HostHooks> = vervet_os::Published::new();

/// The host's functions, from now on.
pub fn set_host(hooks: HostHooks) {
    HOST.put(hooks);
}

/// What handlers of a resolve event have given for a reference. An exception of theirs is dropped, as in mono: the reference is not found, which is what the code that has
/// it is told. An abort goes on.
fn kept_quiet<'cx>(
    cx: &'cx Cx<'cx>,
    given: Result<Option<&'static Assembly>>,
) -> Result<Option<&'static Assembly>> {
    given.or_else(|throw| {
        let thrown = cx.take_pending(throw);
        let ends = [Known::ThreadAbortException, Known::StackOverflowException];
        match ends
            .iter()
            .any(|e| std::ptr::eq(thrown.class(), cx.known(*e)))
        {
            true => Err(cx.throw_object(thrown)),
            false => Ok(None),
        }
    })
}
