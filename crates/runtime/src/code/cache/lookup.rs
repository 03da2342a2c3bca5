//! From a method to the blob that was kept of it.
//!
//! ```text
//! home -> file -> entries with the method's hash, each:
//!     checksum                         in the file's view
//!     edges, contents of modules       modules::check; once for a set that holds
//!     identity                         read, and compared with the method itself
//!     classes assumed initialised      asked
//!     blob                             read
//! ```
//!
//! # Invariants
//! * The order is that of the list: nothing is read with a set that does not hold here.
//! * A set that holds once holds for ever, because edges and contents do not change. One that does not is tried again after an edge was bound.
use super::counts;
use super::modules::{self, Mismatch, Set};
use super::names::Finder;
use super::record::{home_of, stub_hash, stub_identity, verify};
use super::setting::{Cache, Mode, cache};
use crate::cx::Cx;
use crate::runtime::rt;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;
use vervet_codecache::file::{Entry, View};
use vervet_codecache::wire::{Damaged, In, Read};
use vervet_jit::Blob;
use vervet_os::LeafLock;
use vervet_types::{ClassRef, MethodRef, ModuleRef, edges};

/// What a look-up gives.
pub enum Found {
    /// The code.
    Blob(Box<Blob>),
    /// The method must be compiled. If an entry assumed too much, these are the classes that it took for initialised.
    Nothing(Option<Vec<ClassRef>>),
}

/// A file, and which of its sets hold here.
struct Open {
    view: View<'static>,
    sets: LeafLock<Vec<Known>>,
}

/// What is known of a set.
#[derive(Clone)]
enum Known {
    Nothing,
    Holds(Arc<Set>),
    /// When so many edges were bound, it did not hold.
    Failed(u64),
}

type Files = FxHashMap<u32, Option<&'static Open>>;
/// By the id of home; None: there is no file that can be used.
static FILES: LeafLock<Option<Files>> = LeafLock::new(None);

/// The file of a home.
fn file(cache: &Cache, home: ModuleRef) -> Option<&'static Open> {
    if let Some(known) = FILES.lock().get_or_insert_default().get(&home.id) {
        return *known;
    }
    let open = || -> Option<&'static Open> {
        let subject = modules::subject(home)?;
        let view = cache.shelf.as_ref()?.read(home.name, &subject).ok()?;
        let sets = LeafLock::new(vec![Known::Nothing; view.sets().len()]);
        Some(Box::leak(Box::new(Open { view, sets })))
    };
    let opened = crate::threads::native(open);
    let mut files = FILES.lock();
    *files
        .get_or_insert_default()
        .entry(home.id)
        .or_insert(opened)
}

/// Whether there is an entry of the method: then it is not worth compiling ahead. Asks for no file that is not open.
pub fn is_known(method: MethodRef) -> bool {
    let Some(home) = cache().and_then(|_| home_of(method)) else {
        return false;
    };
    let known = FILES.lock().get_or_insert_default().get(&home.id).copied();
    matches!(known, Some(Some(open)) if open.view.has(method.stable_hash()))
}

/// The kept code of a method. May load the assemblies that compiling it would load; called in Runtime state without locks.
pub fn find<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Found {
    let Some(cache) = cache().filter(|c| c.shelf.is_some()) else {
        return Found::Nothing(None);
    };
    if let Some(part) = &rt().options.verbose_jit
        && method.full_name().contains(part.as_str())
    {
        return Found::Nothing(None);
    }
    let start = Instant::now();
    let found = look(cx, cache, method);
    let elapsed = start.elapsed().as_nanos() as u64;
    counts::LOOKUP_NS.fetch_add(elapsed, Relaxed);
    found
}

/// The kept code of an invoke stub, by the key of its signature.
pub fn find_stub(key: &str) -> Option<Blob> {
    let cache = cache().filter(|c| c.shelf.is_some())?;
    let start = Instant::now();
    let home = rt().universe.corlib();
    let open = file(cache, home)?;
    let wanted = stub_identity(key);
    let found = open
        .view
        .find(stub_hash(key))
        .filter(|e| e.identity() == wanted)
        .find_map(|entry| {
            let set = holds(home, open, entry.set, &[]).ok()?;
            let mut content = Finder {
                modules: &set.modules,
                read: In::new(entry.content()),
            };
            let blob = content.blob().ok()?;
            content.read.is_at_end().then_some(blob)
        });
    let counter = if found.is_some() {
        &counts::HITS
    } else {
        &counts::MISSES
    };
    counts::count(counter);
    counts::LOOKUP_NS.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
    found
}

/// Why an entry is not used.
enum Rejected {
    Damaged,
    Modules,
    /// Another method has the same hash.
    Other,
    /// A class is not initialised yet; all that the entry assumes.
    Init(Vec<ClassRef>),
}
impl From<Damaged> for Rejected {
    fn from(_: Damaged) -> Rejected {
        Rejected::Damaged
    }
}

fn look<'cx>(cx: &'cx Cx<'cx>, cache: &Cache, method: MethodRef) -> Found {
    let Some((home, open)) = home_of(method).and_then(|h| Some((h, file(cache, h)?))) else {
        counts::count(&counts::MISSES);
        return Found::Nothing(None);
    };
    let mut reason = &counts::MISSES;
    let mut assumed = None;
    for entry in open.view.find(method.stable_hash()) {
        match use_entry(cx, cache, home, open, &entry, method) {
            Ok(blob) => {
                counts::count(&counts::HITS);
                return Found::Blob(Box::new(blob));
            }
            Err(Rejected::Other) => {}
            Err(Rejected::Damaged) => reason = &counts::REJECTED_DAMAGED,
            Err(Rejected::Modules) => reason = &counts::REJECTED_MODULES,
            Err(Rejected::Init(classes)) => {
                reason = &counts::REJECTED_INIT;
                assumed = Some(classes);
            }
        }
    }
    counts::count(reason);
    Found::Nothing(assumed)
}

/// The edges that the compile bound, and what is behind them.
fn read_bound<'a>(entry: &Entry<'a>) -> Read<(Vec<(u32, u32)>, In<'a>)> {
    let mut read = In::new(entry.content());
    let count = read.count()?;
    let mut bound = Vec::with_capacity(count);
    for _ in 0..count {
        bound.push((read.u32()?, read.u32()?));
    }
    Ok((bound, read))
}

fn use_entry<'cx>(
    cx: &'cx Cx<'cx>,
    cache: &Cache,
    home: ModuleRef,
    open: &Open,
    entry: &Entry<'static>,
    method: MethodRef,
) -> Result<Blob, Rejected> {
    let (bound, rest) = read_bound(entry)?;
    let set = holds(home, open, entry.set, &bound)?;
    let finder = |read| Finder {
        modules: &set.modules,
        read,
    };
    let mut identity = finder(In::new(entry.identity()));
    if identity.method()? != method || !identity.read.is_at_end() {
        return Err(Rejected::Other);
    }
    let mut content = finder(rest);
    let count = content.read.count()?;
    let assumed: Vec<ClassRef> = (0..count)
        .map(|_| content.class())
        .collect::<Read<Vec<_>>>()?;
    if !assumed.iter().all(|c| rt().is_initialized(c)) {
        return Err(Rejected::Init(assumed));
    }
    let bytes = content.read.rest();
    let blob = content.blob()?;
    if !content.read.is_at_end() {
        return Err(Rejected::Damaged);
    }
    if cache.mode == Mode::Verify {
        cx.native(|| {
            crate::threads::service_stack::on_service_stack(|| verify(method, &set, assumed, bytes))
        });
    }
    Ok(blob)
}

/// The set with a number, if it holds here. Binds the edges that the entry's compile bound.
fn holds(
    home: ModuleRef,
    open: &Open,
    number: u32,
    bound: &[(u32, u32)],
) -> Result<Arc<Set>, Rejected> {
    let number = number as usize;
    let generation = edges::generation();
    let known = open.sets.lock().get(number).cloned();
    match known {
        Some(Known::Holds(set)) => return Ok(set),
        Some(Known::Failed(at)) if at == generation && bound.is_empty() => {
            return Err(Rejected::Modules);
        }
        _ => {}
    }
    let bytes = *open.view.sets().get(number).ok_or(Rejected::Damaged)?;
    let (state, result) = match modules::check(home, bytes, bound) {
        Ok(modules) => {
            let set = Arc::new(Set {
                bytes: bytes.to_vec(),
                modules,
            });
            (Known::Holds(set.clone()), Ok(set))
        }
        Err(Mismatch::Damaged) => (Known::Failed(u64::MAX), Err(Rejected::Damaged)),
        // Checking may have bound edges itself: the generation is that of before.
        Err(Mismatch::Other | Mismatch::Unbound) => {
            (Known::Failed(generation), Err(Rejected::Modules))
        }
    };
    if let Some(known) = open.sets.lock().get_mut(number)
        && !matches!(known, Known::Holds(_))
    {
        *known = state;
    }
    result
}
