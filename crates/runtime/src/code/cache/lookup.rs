//! From a method to the blob that was kept of it.
//!
//! ```text
//! home -> segments of its file, the youngest first -> entries with the method's hash, each:
//!     bytes, checksum                  copied and compared by the segment's view, in Native state
//!     edges, contents of modules       modules::check; once for a set that holds
//!     identity                         read, and compared with the method itself
//!     classes assumed initialised      asked
//!     classes that were not, and that matter for what is loaded     asked
//!     blob                             read
//! ```
//!
//! # Invariants
//! * The order is that of the list: nothing is read with a set that does not hold here.
//! * A look-up has no effect that a program can see but one that a compile in its place would have: where the kept code needs assemblies that compiling the
//!   method loads, they are loaded ([`super::loads`]). It runs no code.
//! * Files are read in Native state: a slow disk holds up nobody but the caller.
//! * A set that holds once holds for ever, because edges and contents do not change. One that does not is tried again after an edge was bound.
use super::counts;
use super::modules::{self, Mismatch, Set, Telling};
use super::names::Finder;
use super::record::{
    Guessed, home_of, points_identity, read_tier, stub_hash, stub_identity, verify,
};
use super::role::Role;
use super::setting::{Cache, Mode, Place, cache};
use crate::cx::Cx;
use crate::domain::Domain;
use crate::runtime::rt;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use vervet_codecache::file::{Entry, Found as Kept};
use vervet_codecache::shelf::Segment;
use vervet_codecache::wire::{Damaged, In, Read};
use vervet_jit::Blob;
use vervet_jit::options::{Callee, SiteProfile};
use vervet_os::LeafLock;
use vervet_types::{ClassRef, MethodRef, ModuleRef, edges};

/// What a look-up gives.
pub enum Found {
    /// The code.
    Blob(Box<Blob>),
    /// The method must be compiled. If an entry assumed too much, these are the classes that it took for initialised.
    Nothing(Option<Vec<ClassRef>>),
}

/// A segment, and which of its sets hold here.
struct Open {
    view: Segment,
    telling: Telling,
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

type Files = FxHashMap<(u32, usize), &'static [Open]>;
/// By the id of home and the number of the place; empty: there is no file that can be used.
/// More places than there are.
const PLACES: usize = 4;
static FILES: LeafLock<Option<Files>> = LeafLock::new(None);

/// The segments of a home in one place after the other, the youngest of each first. A place is opened when the ones before it have been gone through.
fn segments(cache: &Cache, home: ModuleRef) -> impl Iterator<Item = &'static Open> {
    let places = (0..).map_while(move |n| cache.place(n).map(|place| (n, place)));
    places.flat_map(move |(n, place)| segments_in(n, place, home))
}

fn segments_in(number: usize, place: &Place, home: ModuleRef) -> &'static [Open] {
    let key = (home.id, number);
    if let Some(known) = FILES.lock().get_or_insert_default().get(&key) {
        return known;
    }
    let open = || -> Option<Vec<Open>> {
        if place.telling == Telling::ByHash && !place.may_know(home.name) {
            return None;
        }
        let subject = modules::subject(home, place.telling)?;
        let views = place.shelf.read(home.name, &subject).ok()?;
        let opened = views.into_iter().map(|view| Open {
            sets: LeafLock::new(vec![Known::Nothing; view.set_count()]),
            telling: place.telling,
            view,
        });
        Some(opened.collect())
    };
    let opened: &'static [Open] =
        Box::leak(crate::threads::native(open).unwrap_or_default().into());
    let mut files = FILES.lock();
    files.get_or_insert_default().entry(key).or_insert(opened)
}

/// The undamaged entries with a hash.
fn read(open: &Open, hash: u64) -> Vec<Kept> {
    crate::threads::native(|| open.view.find(hash).collect())
}

/// Whether there is an entry of the method: then it is not worth compiling ahead. Asks for no file that is not open.
pub fn is_known(method: MethodRef) -> bool {
    let Some(home) = cache().and_then(|_| home_of(method)) else {
        return false;
    };
    let hash = method.stable_hash();
    let known = |number| {
        let files = FILES.lock();
        files
            .as_ref()
            .and_then(|f| f.get(&(home.id, number)).copied())
    };
    let mut known = (0..PLACES).filter_map(known);
    let has = |open: &Open| crate::threads::native(|| open.view.has(hash));
    known.any(|k| k.iter().any(has))
}

/// The kept code of a method. Called in Runtime state without locks.
pub fn find<'cx>(cx: &'cx Cx<'cx>, domain: &'static Domain, method: MethodRef) -> Found {
    let Some(cache) = cache().filter(|c| c.mode != Mode::Convert) else {
        return Found::Nothing(None);
    };
    if let Some(part) = &rt().options.verbose_jit
        && method.full_name().contains(part.as_str())
    {
        return Found::Nothing(None);
    }
    let start = Instant::now();
    let found = look(cx, domain, (cache, true), method);
    let elapsed = start.elapsed().as_nanos() as u64;
    counts::LOOKUP_NS.fetch_add(elapsed, Relaxed);
    found
}

/// The kept code of a method of the root domain that was called often in the process that kept it. Loads nothing.
pub fn find_again<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Option<Blob> {
    let cache = cache().filter(|c| c.mode != Mode::Convert)?;
    let home = home_of(method)?;
    look_once(cx, rt().root, (cache, home), (method, Role::Again)).ok()
}

/// As [`find`], for who compiles ahead: whatever is printed of the method, and without counting time.
pub(super) fn look_exactly<'cx>(cx: &'cx Cx<'cx>, method: MethodRef) -> Found {
    cache().map_or(Found::Nothing(None), |cache| {
        look(cx, rt().root, (cache, false), method)
    })
}

/// The kept code of an invoke stub, by the key of its signature.
pub fn find_stub(key: &str) -> Option<Blob> {
    let cache = cache()?;
    let start = Instant::now();
    let home = rt().universe.corlib();
    let wanted = stub_identity(key);
    let use_one = |open: &Open, kept: &Kept| {
        let entry = kept.entry();
        let set = holds(home, open, entry.set).ok()?;
        let mut content = Finder {
            modules: &set.modules,
            read: In::new(entry.content()),
        };
        let blob = content.blob().ok()?;
        (entry.identity() == wanted && content.read.is_at_end()).then_some(blob)
    };
    let found = segments(cache, home).find_map(|open| {
        read(open, stub_hash(key))
            .iter()
            .find_map(|k| use_one(open, k))
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
    /// The modules that it was made from are not those of this process, or not all bound.
    Modules,
    /// Another method has the same hash.
    Other,
    /// A class is not initialised yet; all that the entry assumes.
    Init(Vec<ClassRef>),
    /// A compile might inline more by now, and load an assembly for that.
    Less,
}
impl From<Damaged> for Rejected {
    fn from(_: Damaged) -> Rejected {
        Rejected::Damaged
    }
}
impl From<Mismatch> for Rejected {
    fn from(mismatch: Mismatch) -> Rejected {
        match mismatch {
            Mismatch::Damaged => Rejected::Damaged,
            Mismatch::Other | Mismatch::Unbound => Rejected::Modules,
        }
    }
}

/// With `may_load`, what compiling the method loads is loaded if the code needs it.
fn look<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    (cache, may_load): (&Cache, bool),
    method: MethodRef,
) -> Found {
    let Some(home) = home_of(method) else {
        counts::count(&counts::MISSES);
        return Found::Nothing(None);
    };
    let found = look_once(cx, domain, (cache, home), (method, Role::First));
    let found = match found {
        // The code may be made for assemblies that a compile would load now.
        Err((reason, None))
            if may_load
                && std::ptr::eq(reason, &counts::REJECTED_MODULES)
                && segments(cache, home)
                    .any(|open| load_as_compile(domain, home, open, method)) =>
        {
            look_once(cx, domain, (cache, home), (method, Role::First))
        }
        // What the first code assumes is of the root domain.
        Err(nothing) if !domain.is_root() => {
            look_once(cx, domain, (cache, home), (method, Role::Bare)).map_err(|_| nothing)
        }
        found => found,
    };
    match found {
        Ok(blob) => {
            counts::count(&counts::HITS);
            Found::Blob(Box::new(blob))
        }
        Err((reason, assumed)) => {
            counts::count(reason);
            Found::Nothing(assumed)
        }
    }
}

/// Why there is nothing, and, if an entry assumes too much, what.
type Nothing = (&'static AtomicU64, Option<Vec<ClassRef>>);

fn look_once<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    (cache, home): (&Cache, ModuleRef),
    (method, role): (MethodRef, Role),
) -> Result<Blob, Nothing> {
    let mut reason = &counts::MISSES;
    let mut assumed = None;
    let hash = role.hash_of(method);
    for open in segments(cache, home) {
        for kept in read(open, hash) {
            let place = (cache, home, open);
            match use_entry(cx, domain, place, &kept.entry(), (method, role)) {
                Ok(blob) => return Ok(blob),
                Err(Rejected::Other) => {}
                Err(Rejected::Damaged) => reason = &counts::REJECTED_DAMAGED,
                Err(Rejected::Modules) => reason = &counts::REJECTED_MODULES,
                Err(Rejected::Less) => reason = &counts::REJECTED_LESS,
                Err(Rejected::Init(classes)) => {
                    reason = &counts::REJECTED_INIT;
                    assumed = Some(classes);
                }
            }
        }
    }
    Err((reason, assumed))
}

/// Reads the classes that an entry assumes to be initialised, and those that it takes for not initialised where that matters.
fn assumptions(
    domain: &Domain,
    set: &Set,
    content: &mut Finder<'_>,
) -> Result<Vec<ClassRef>, Rejected> {
    let mut classes = || -> Read<Vec<ClassRef>> {
        let count = content.read.count()?;
        (0..count).map(|_| content.class()).collect()
    };
    let (assumed, missed) = (classes()?, classes()?);
    // A domain other than the root domain may begin another life, in which no class is initialised yet.
    if !domain.is_root() && !assumed.is_empty() || !assumed.iter().all(|c| domain.is_initialized(c))
    {
        return Err(Rejected::Init(assumed));
    }
    // There a compile takes no class for initialised, so it would inline no more than the entry has.
    if domain.is_root()
        && missed.iter().any(|c| domain.is_initialized(c))
        && modules::can_load_more(&set.modules)
    {
        return Err(Rejected::Less);
    }
    Ok(assumed)
}

fn use_entry<'cx>(
    cx: &'cx Cx<'cx>,
    domain: &'static Domain,
    (cache, home, open): (&Cache, ModuleRef, &Open),
    entry: &Entry<'_>,
    (method, role): (MethodRef, Role),
) -> Result<Blob, Rejected> {
    let set = holds(home, open, entry.set)?;
    let finder = |read| Finder {
        modules: &set.modules,
        read,
    };
    let own = entry.identity().strip_prefix(role.tag()).ok_or(Damaged)?;
    let mut identity = finder(In::new(own));
    if identity.method()? != method || identity.read.rest() != points_identity(method) {
        return Err(Rejected::Other);
    }
    let mut content = finder(In::new(entry.content()));
    let tier = read_tier(content.read.byte()?)?;
    let assumed = assumptions(domain, &set, &mut content)?;
    let bytes = content.read.rest();
    let blob = content.blob()?;
    if cache.mode == Mode::Verify {
        let bytes = &bytes[..bytes.len() - content.read.rest().len()];
        let guessed = read_guessed(&mut content)?;
        cx.native(|| {
            crate::threads::service_stack::on_service_stack(|| {
                verify((method, role), tier, &set, (assumed, guessed), bytes);
            })
        });
    }
    Ok(blob)
}

/// Loads what compiling the method in its home loads, if that is known here. Says whether there was anything.
fn load_as_compile(domain: &Domain, home: ModuleRef, open: &Open, method: MethodRef) -> bool {
    let entries = read(open, Role::Loads.hash_of(method));
    entries.iter().any(
        |kept| match use_loads(domain, home, open, &kept.entry(), method) {
            Ok(()) => true,
            Err(Rejected::Damaged) => {
                counts::count(&counts::REJECTED_DAMAGED);
                false
            }
            Err(_) => false,
        },
    )
}

fn use_loads(
    domain: &Domain,
    home: ModuleRef,
    open: &Open,
    entry: &Entry<'_>,
    method: MethodRef,
) -> Result<(), Rejected> {
    let set = holds(home, open, entry.set)?;
    let finder = |read| Finder {
        modules: &set.modules,
        read,
    };
    let tag = Role::Loads.tag();
    let own = entry.identity().strip_prefix(tag).ok_or(Damaged)?;
    let mut identity = finder(In::new(own));
    if identity.method()? != method || !identity.read.is_at_end() {
        return Err(Rejected::Other);
    }
    let mut content = finder(In::new(entry.content()));
    assumptions(domain, &set, &mut content)?;
    modules::bind_behind(&set, content.read.rest(), open.telling)?;
    Ok(())
}

/// What the compiler was told of receivers: the end of an entry.
fn read_guessed(content: &mut Finder<'_>) -> Read<Guessed> {
    let mut guessed = Guessed::default();
    for _ in 0..content.read.count()? {
        let base = content.class()?;
        let count = content.read.count()?;
        let classes = (0..count).map(|_| content.class()).collect::<Read<_>>()?;
        guessed.classes.push((base, classes));
    }
    for _ in 0..content.read.count()? {
        let method = content.method()?;
        let callee = match content.read.byte()? {
            0 => Some(Callee::Class(content.class()?)),
            1 => Some(Callee::Method(content.method()?)),
            2 => None,
            _ => return Err(Damaged),
        };
        let [il_offset, calls, changes] = content.numbers()?;
        let profile = SiteProfile {
            callee,
            calls,
            changes,
        };
        guessed.noted.push((method, il_offset, profile));
    }
    Ok(guessed)
}

/// The set with a number, if it holds here.
fn holds(home: ModuleRef, open: &Open, number: u32) -> Result<Arc<Set>, Rejected> {
    let index = number as usize;
    let generation = edges::generation();
    let known = open.sets.lock().get(index).cloned();
    match known {
        Some(Known::Holds(set)) => return Ok(set),
        Some(Known::Failed(at)) if at == generation => return Err(Rejected::Modules),
        _ => {}
    }
    let bytes = open.view.set(number).ok_or(Rejected::Damaged)?;
    let (state, result) = match modules::check(home, bytes, open.telling) {
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
    if let Some(known) = open.sets.lock().get_mut(index)
        && !matches!(known, Known::Holds(_))
    {
        *known = state;
    }
    result
}
