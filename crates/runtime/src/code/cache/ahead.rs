//! Entries that are made before any program runs, for [`crate::code::aot`].
//!
//! # Invariants
//! * An entry depends on the edges that are bound, and assumes of classes what is so in every process after start-up.
//! * What is written was made from contents that are still there; what is said of a stamp holds for good: what was stored to the file is on its disk, and its
//!   last change lies so long ago that the next one has another time.
use super::Found;
use super::lookup::look_exactly;
use super::modules::{self, stamp_bytes};
use super::record::{compile_as, entry};
use super::role::Role;
use super::setting::{Place, cache};
use crate::cx::Cx;
use crate::loader::{Origin, without_loading};
use crate::runtime::rt;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};
use vervet_codecache::memo;
use vervet_codecache::shelf::New;
use vervet_codecache::trust::FileSystem;
use vervet_jit::{Blob, CompileError};
use vervet_os::memory::FileStamp;
use vervet_types::{MethodRef, ModuleRef, edges};

/// How long another process may write.
const PATIENCE: Duration = Duration::from_secs(60);
/// Times of files are counted in steps that are shorter.
const STEP: i128 = 100_000_000;

/// What became of a method.
pub enum Made {
    /// It was kept before.
    Known(Box<Blob>),
    /// It was compiled.
    Kept(Box<Blob>),
    /// It wants an edge that is not bound: id of the module, row.
    Wants(u32, u32),
    /// It cannot be compiled, or not be kept.
    Failed,
}

/// See the module.
pub struct Ahead {
    place: &'static Place,
    entries: Vec<(ModuleRef, New)>,
    bytes: usize,
}

impl Ahead {
    /// `Err` is a sentence for the user.
    pub fn new() -> Result<Ahead, String> {
        let cache = cache().ok_or_else(|| super::setting::why_off().unwrap_or("").to_owned())?;
        Ok(Ahead {
            place: cache.own_or_why()?,
            entries: Vec::new(),
            bytes: 0,
        })
    }
    /// Bytes that are not written yet.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
    /// Compiles a method, unless there is an entry that holds here.
    pub fn make<'cx>(&mut self, cx: &'cx Cx<'cx>, method: MethodRef, is_kept: bool) -> Made {
        let only = match look_exactly(cx, method) {
            Found::Blob(blob) => return Made::Known(blob),
            Found::Nothing(only) => only,
        };
        let tier = rt().compiler.best_tier_for(method);
        let work = || without_loading(|| compile_as(method, tier, only, None));
        let made = cx.native(|| crate::threads::service_stack::on_service_stack(work));
        // What the compile missed, whether it failed for that or went on in another way.
        if let Some((module, row)) = edges::failed_edge() {
            return Made::Wants(module, row);
        }
        let compiled = match made {
            Ok(compiled) => compiled,
            Err(e) => {
                if let CompileError::Internal { .. } = e {
                    eprintln!("vervet: {e}");
                }
                return Made::Failed;
            }
        };
        if is_kept {
            let Some(entry) = entry(method, &compiled, Role::First, self.place.telling) else {
                return Made::Failed;
            };
            self.bytes += entry.new.payload.len() + entry.new.set.len();
            self.entries.push((entry.home, entry.new));
        }
        Made::Kept(Box::new(compiled.blob))
    }
    /// Writes what was made; returns the bytes of the files. `Err` is a sentence for the user.
    pub fn write(&mut self) -> Result<u64, String> {
        self.bytes = 0;
        let mut entries = std::mem::take(&mut self.entries);
        // Stubs by which the runtime calls managed code.
        entries.extend(super::save::take());
        if entries.is_empty() {
            return Ok(0);
        }
        if !(rt().root.loader.is_unchanged() && modules::are_contents_same()) {
            return Err("A file changed while it was compiled.".into());
        }
        let mut written = 0;
        for (home, new) in super::save::by_home(entries) {
            let subject = modules::subject(home, self.place.telling)
                .ok_or_else(|| format!("{}: its content cannot be told", home.name))?;
            let add = || self.place.shelf.add_ahead(home.name, &subject, &new);
            written += patiently(add).map_err(|e| self.failed(&e))? as u64;
        }
        Ok(written)
    }
    fn failed(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.place.directory.path.display())
    }
    /// Says for the next processes which content the loaded files have in the state that they are in. `Err` is a sentence for the user.
    pub fn remember_contents(&self) -> Result<(), String> {
        let loader = &rt().root.loader;
        let mut rows = Vec::new();
        for assembly in loader.assemblies() {
            let module = assembly.manifest;
            if let Some(Origin::File { stamp, .. }) = loader.origin(module)
                && let Some(path) = module.path.as_deref()
                && let Some(hash) = hash_for_good(Path::new(path), stamp, module)
            {
                rows.push((stamp_bytes(&stamp), hash));
            }
        }
        let directory = &self.place.directory;
        let add = || memo::remember(&directory.path, directory.make, directory.owner, &rows);
        patiently(add).map_err(|e| self.failed(&e))
    }
}

/// The hash of the content of a file, if no other content can ever have that stamp.
fn hash_for_good(path: &Path, stamp: FileStamp, module: ModuleRef) -> Option<memo::Hash> {
    let file = std::fs::File::open(path).ok()?;
    if FileSystem::of(&file).ok()? != FileSystem::Disk || stamp.is_clamped() {
        return None;
    }
    // Afterwards all its pages are clean, so that the next store to one changes the times.
    file.sync_all().ok()?;
    while (0..STEP).contains(&stamp.age()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let hash = vervet_codecache::checksum::digest(module.image.data());
    let is_same = stamp.age() >= STEP && vervet_os::memory::stamp_of(path).ok()? == stamp;
    is_same.then_some(hash)
}

/// Does something again while another process is writing.
fn patiently<T>(mut work: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    let start = Instant::now();
    loop {
        match work() {
            Err(e) if e.kind() == ErrorKind::WouldBlock && start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}
