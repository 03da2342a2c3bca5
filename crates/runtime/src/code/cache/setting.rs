//! Whether code is kept, where, and under which key.
//!
//! ```text
//! place             contents are told by    written by                      looked in
//! user's            stamp                   runs of programs                first
//! user's            hash                    `vervet aot`                    if it has been used so
//! system            hash                    `vervet aot --system`, root     by everybody, if it is there
//! ```
//!
//! # Invariants
//! * Settled at the first look-up, once; nothing is opened before that. Places of code that was compiled ahead: at the first that finds nothing.
//! * The key names all that code depends on apart from the modules of its set: this build, machine and options, the core library.
//! * The environment and the user's home count only if the process has no more rights than its user. The system's directory counts always: only
//!   root can have written it. A process with more rights than its user reads that one, and writes nowhere.
use super::modules::{self, Telling};
use crate::runtime::rt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_codecache::memo::Memo;
use vervet_codecache::shelf::Shelf;
use vervet_codecache::trust::{self, Owner};
use vervet_codecache::wire::Out;
use vervet_os::Published;

/// What `--cache` chooses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Nothing is read or written.
    #[default]
    Off,
    /// Code is read, and written. What the command does if nothing is said.
    Read,
    /// As [`Mode::Read`]; what is read is compiled too, and compared.
    Verify,
    /// Nothing is read or written, but every blob is turned into bytes and back before it is linked. For tests.
    Convert,
}

impl std::str::FromStr for Mode {
    type Err = String;
    fn from_str(text: &str) -> Result<Mode, String> {
        Ok(match text {
            "off" => Mode::Off,
            "read" => Mode::Read,
            "verify" => Mode::Verify,
            "convert" => Mode::Convert,
            _ => return Err(format!("--cache: '{text}' is none of read, verify, off")),
        })
    }
}

/// Names the cache directory in place of the user's. Its parent must be there.
pub const DIRECTORY: &str = "VERVET_CACHE_DIR";
/// Names the system's directory in place of [`SYSTEM`]. Its parent must be there, and the rules are the same.
pub const SYSTEM_DIRECTORY: &str = "VERVET_SYSTEM_CACHE_DIR";
/// The system's directory of compiled code.
pub const SYSTEM: &str = "/var/cache/vervet/code";

/// Where `vervet aot` writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The user's directory.
    User,
    /// The system's directory.
    System,
}

/// Files of code, and how they tell contents of assemblies apart.
pub struct Place {
    /// The files.
    pub shelf: Shelf,
    /// How subjects are made.
    pub telling: Telling,
    /// The directory.
    pub directory: Directory,
    /// Assemblies of which there are files, by name; filled when it is first asked.
    names: Published<Vec<String>>,
}

/// The cache of a process that has one.
pub struct Cache {
    /// Where code is written, and looked for first. `Err`: why there is none.
    own: Result<Place, String>,
    /// Where code is looked for that was compiled ahead.
    ahead: Published<Vec<Place>>,
    /// The mode; never [`Mode::Off`].
    pub mode: Mode,
}

impl Cache {
    /// Where what is new is written.
    pub fn own(&self) -> Option<&Place> {
        self.own.as_ref().ok()
    }
    /// As [`Cache::own`], or why there is none.
    pub fn own_or_why(&self) -> Result<&Place, String> {
        self.own.as_ref().map_err(Clone::clone)
    }
    /// The places where code is looked for, by number.
    pub fn place(&self, number: usize) -> Option<&Place> {
        let own = self.own();
        match number.checked_sub(usize::from(own.is_some())) {
            None => own,
            Some(n) => self.ahead().get(n),
        }
    }
    fn ahead(&self) -> &[Place] {
        self.ahead
            .get()
            .unwrap_or_else(|| self.ahead.put(self.open_ahead()))
    }
    fn open_ahead(&self) -> Vec<Place> {
        // Who compiles ahead does so as if nothing had been; and conversion has no files.
        if rt().options.aot.is_some() || self.mode == Mode::Convert {
            return Vec::new();
        }
        let open = |directory: Directory| {
            let Directory { path, owner, .. } = &directory;
            let memo = Memo::of(path, *owner);
            // Nobody has compiled ahead here.
            if memo.is_none() && *owner == Owner::User || !path.is_dir() {
                return None;
            }
            modules::add_memo(memo.unwrap_or_default());
            Place::open(directory, Telling::ByHash).ok()
        };
        let user = user_directory().ok().and_then(open);
        user.into_iter().chain(open(system_directory())).collect()
    }
}

impl Place {
    fn open(directory: Directory, telling: Telling) -> Result<Place, String> {
        let Directory { path, make, owner } = &directory;
        let key = key(telling)?;
        let shelf = Shelf::open(path, *make, *owner, &key)
            .map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Place {
            shelf,
            telling,
            directory,
            names: Published::new(),
        })
    }
    /// Whether there may be files about an assembly of that name. Who asks first saves telling the contents of all others.
    pub fn may_know(&self, name: &str) -> bool {
        let list = || self.names.put(self.shelf.names().unwrap_or_default());
        let names = self.names.get().unwrap_or_else(list);
        names.contains(&vervet_codecache::shelf::plain_name(name))
    }
}

static CACHE: Published<Result<Cache, String>> = Published::new();

static HAS_FORKED: AtomicBool = AtomicBool::new(false);

/// This is a forked process. It has no cache: threads that it does not have may have held locks of the cache's, and what waits to be written is the
/// first process's.
pub fn has_forked() {
    HAS_FORKED.store(true, Ordering::Relaxed);
}

/// The cache, if this process has one.
pub fn cache() -> Option<&'static Cache> {
    if HAS_FORKED.load(Ordering::Relaxed) {
        return None;
    }
    let settled = CACHE.get().unwrap_or_else(|| CACHE.put(settle()));
    settled.as_ref().ok()
}

/// Why there is no cache; None if there is one, or nothing was looked up yet.
pub fn why_off() -> Option<&'static str> {
    let why = match CACHE.get()? {
        Ok(cache) if cache.place(0).is_some() || cache.mode == Mode::Convert => return None,
        Ok(cache) => cache.own.as_ref().err(),
        Err(why) => Some(why),
    };
    why.map(String::as_str)
}

fn settle() -> Result<Cache, String> {
    let rt = rt();
    let mode = rt.options.cache;
    if mode == Mode::Off {
        return Err("not asked for".into());
    }
    // These look at each compile.
    if rt.options.verify {
        return Err("--verify-clif".into());
    }
    if rt.options.recorded() != vervet_jit::Recorded::default() {
        return Err("--profile records what code tells it of".into());
    }
    if std::env::var_os(crate::classes::grafts::INSTEAD).is_some() {
        return Err(format!("{} is set", crate::classes::grafts::INSTEAD));
    }
    if is_memory_limited() {
        return Err("the address space is limited (ulimit -v)".into());
    }
    let own = match (mode, rt.options.aot) {
        (Mode::Convert, _) => Err("no files are wanted".into()),
        (_, None) => user_directory().and_then(|d| Place::open(d, Telling::ByStamp)),
        (_, Some(Target::User)) => user_directory().and_then(|d| Place::open(d, Telling::ByHash)),
        (_, Some(Target::System)) => {
            may_write_for_all().and_then(|()| Place::open(system_directory(), Telling::ByHash))
        }
    };
    Ok(Cache {
        own,
        ahead: Published::new(),
        mode,
    })
}

/// Whether the process may use only so much address space. What is done for the next process must not take that away from this one.
pub(super) fn is_memory_limited() -> bool {
    // SAFETY: a complete record that getrlimit fills.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) == 0
            && limit.rlim_cur != libc::RLIM_INFINITY
    }
}

/// All that code depends on apart from the modules of its set.
fn key(telling: Telling) -> Result<Vec<u8>, String> {
    let rt = rt();
    let mut out = Out::default();
    let build_id = vervet_os::build_id::build_id();
    out.string(&build_id.ok_or("this build has no build id")?);
    out.number(rt.compiler.fingerprint());
    let corlib = modules::subject(rt.universe.corlib(), telling);
    out.string(&corlib.ok_or("the core library has several files")?);
    out.count(rt.universe.graft_modules().len());
    Ok(out.bytes)
}

/// A cache directory, before anybody has looked whether it is there.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Its path.
    pub path: PathBuf,
    /// How many of the last components may be made.
    pub make: usize,
    /// Who must own it.
    pub owner: Owner,
}

impl Directory {
    /// The components of `names` may be made.
    fn new(base: &Path, names: &str, owner: Owner) -> Directory {
        Directory {
            path: base.join(names),
            make: Path::new(names).components().count(),
            owner,
        }
    }
    /// The directory that a variable names.
    fn chosen(variable: &str, owner: Owner) -> Option<Result<Directory, String>> {
        let path = PathBuf::from(std::env::var_os(variable)?);
        Some(match path.parent() {
            Some(parent) if path.is_absolute() && parent.is_absolute() => Ok(Directory {
                make: 1,
                path,
                owner,
            }),
            _ => Err(format!("{variable} is no absolute path")),
        })
    }
}

/// Whether this process may change the system's directory: root's, with no other rights than root's own.
///
/// # Errors
/// It may not; the sentence says why.
pub fn may_write_for_all() -> Result<(), String> {
    // SAFETY: it cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Err("the system's directory must belong to root, so --system is for root.".into());
    }
    match trust::is_unprivileged() {
        true => Ok(()),
        false => {
            Err("the process has other rights than its user, so --system is not for it.".into())
        }
    }
}

/// The system's directory of compiled code.
pub fn system_directory() -> Directory {
    let chosen = trust::is_unprivileged()
        .then(|| Directory::chosen(SYSTEM_DIRECTORY, Owner::Root))
        .flatten();
    match chosen {
        Some(Ok(directory)) => directory,
        _ => Directory {
            path: PathBuf::from(SYSTEM),
            make: 2,
            owner: Owner::Root,
        },
    }
}

/// The user's cache directory.
///
/// # Errors
/// There is none; the sentence says why.
pub fn user_directory() -> Result<Directory, String> {
    if !trust::is_unprivileged() {
        return Err("the process has other rights than its user".into());
    }
    if let Some(chosen) = Directory::chosen(DIRECTORY, Owner::User) {
        return chosen;
    }
    let absolute = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    if let Some(cache) = absolute("XDG_CACHE_HOME") {
        return match cache.is_dir() {
            true => Ok(Directory::new(&cache, "vervet/code", Owner::User)),
            false => Err(format!("{} is not there", cache.display())),
        };
    }
    let Some(home) = absolute("HOME") else {
        return Err("there is no home directory".into());
    };
    // A link there counts as part of the way.
    let cache = home.join(".cache");
    Ok(match cache.is_dir() {
        true => Directory::new(&cache, "vervet/code", Owner::User),
        false => Directory::new(&home, ".cache/vervet/code", Owner::User),
    })
}
