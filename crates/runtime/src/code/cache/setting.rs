//! Whether code is kept, where, and under which key.
//!
//! # Invariants
//! * Settled at the first look-up, once; nothing is opened before that.
//! * The key names all that code depends on apart from the modules of its set: this build, machine and options, the core library.
//! * The environment and the user's home count only if the process has no more rights than its user.
use crate::runtime::rt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use vervet_codecache::shelf::Shelf;
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

/// The cache of a process that has one.
pub struct Cache {
    /// Where files are; None in [`Mode::Convert`].
    pub shelf: Option<Shelf>,
    /// The mode; never [`Mode::Off`].
    pub mode: Mode,
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
    CACHE.get()?.as_ref().err().map(String::as_str)
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
    if std::env::var_os(crate::classes::grafts::INSTEAD).is_some() {
        return Err(format!("{} is set", crate::classes::grafts::INSTEAD));
    }
    if is_memory_limited() {
        return Err("the address space is limited (ulimit -v)".into());
    }
    if mode == Mode::Convert {
        return Ok(Cache { shelf: None, mode });
    }
    let key = key()?;
    let (path, make) = directory()?;
    let shelf = Shelf::open(&path, make, &key).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Cache {
        shelf: Some(shelf),
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
fn key() -> Result<Vec<u8>, String> {
    let rt = rt();
    let mut out = Out::default();
    let build_id = vervet_os::build_id::build_id();
    out.string(&build_id.ok_or("this build has no build id")?);
    out.number(rt.compiler.fingerprint());
    let corlib = super::modules::subject(rt.universe.corlib());
    out.string(&corlib.ok_or("the core library has several files")?);
    out.count(rt.universe.graft_modules().len());
    Ok(out.bytes)
}

/// The path of the user's cache directory, and how many of its last components may be made.
pub fn directory() -> Result<(PathBuf, usize), String> {
    if !vervet_codecache::trust::is_unprivileged() {
        return Err("the process has other rights than its user".into());
    }
    let absolute = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
            .filter(|p| p.is_absolute())
    };
    let (base, names) = if let Some(chosen) = std::env::var_os(DIRECTORY) {
        let chosen = PathBuf::from(chosen);
        match (chosen.parent(), chosen.file_name()) {
            (Some(parent), Some(name)) if chosen.is_absolute() => {
                (parent.to_path_buf(), PathBuf::from(name))
            }
            _ => return Err(format!("{DIRECTORY} is no absolute path")),
        }
    } else if let Some(cache) = absolute("XDG_CACHE_HOME") {
        match cache.is_dir() {
            true => (cache, PathBuf::from("vervet/code")),
            false => return Err(format!("{} is not there", cache.display())),
        }
    } else if let Some(home) = absolute("HOME") {
        // A link there counts as part of the way.
        let cache = home.join(".cache");
        match cache.is_dir() {
            true => (cache, PathBuf::from("vervet/code")),
            false => (home, PathBuf::from(".cache/vervet/code")),
        }
    } else {
        return Err("there is no home directory".into());
    };
    let make = names.components().count();
    Ok((base.join(names), make))
}
