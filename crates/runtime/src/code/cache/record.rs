//! From a compile to an entry.
//!
//! # How it works
//! A compile is watched: whether an edge could not be bound, whether assemblies were loaded, which classes it was told are initialised. When the blob is
//! about to be linked, it is written as bytes with the latter. (By then more edges may be bound than the compile used. The set has them all.)
//!
//! # Invariants
//! * The compiler gets one answer for a class, however often it asks and whatever other threads do meanwhile. All classes for which the answer was yes,
//!   and which have a constructor, are in the entry.
//! * What the compiler was told of receivers is in the entry, behind the code: a comparison tells it the same.
//! * Classes that were not initialised, and for that kept a body from being inlined, are in the entry, too.
//! * A compile during which an edge could not be bound is not kept: with the edge the code may be other code.
//! * A compile that loads an assembly is not kept, because a hit loads none: in another process the assembly would be loaded later, or never.
//! * An entry in place of one that assumed too much assumes a part of what that one did. So programs that initialise classes in
//!   different orders come to an entry that serves all of them.
use super::counts;
use super::modules::{self, Set, Telling};
use super::names::Namer;
use super::role::Role;
use super::setting::{Mode, cache};
use crate::classes::receivers::receivers;
use crate::code::{entries, profiles};
use crate::exceptions::symbols;
use crate::runtime::rt;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use vervet_codecache::shelf::New;
use vervet_codecache::wire::Out;
use vervet_codecache::wire::{Damaged, Read};
use vervet_jit::options::{Callee, SiteProfile};
use vervet_jit::{Blob, CompileEnv, CompileError, Tier};
use vervet_types::edges;
use vervet_types::{ClassRef, MethodRef, ModuleRef};

/// What a compile gives.
pub struct Compiled {
    /// The code.
    pub blob: Blob,
    /// What the code assumes; None: it cannot be kept.
    assumed: Option<Vec<ClassRef>>,
    /// Had they been initialised, the code might have more inlined, and might have loaded what that needs.
    missed: Vec<ClassRef>,
    /// The edges for which compiling loaded an assembly.
    loaded: Vec<edges::Edge>,
    guessed: Guessed,
    tier: Tier,
}

/// What the compiler was told of receivers, in the order of asking.
#[derive(Default)]
pub(super) struct Guessed {
    /// By base class: the classes that derive from it.
    pub(super) classes: Vec<(ClassRef, Vec<ClassRef>)>,
    /// By method and IL offset of a call: what its code before had noted.
    pub(super) noted: Vec<(MethodRef, u32, SiteProfile)>,
}

/// An entry that is not in a file yet.
pub(super) struct Entry {
    pub(super) home: ModuleRef,
    pub(super) new: New,
}

/// What the compiler is told about classes.
pub(super) struct Env {
    /// Of initialised classes, only these count as such. None: all do.
    only: Option<Vec<ClassRef>>,
    /// They do even if they are not initialised: a compile for comparison.
    is_replay: bool,
    /// The code is a method's first.
    is_first: bool,
    /// The entry whose first code has noted callees.
    noted_by: Option<&'static entries::Entry>,
    answers: RefCell<FxHashMap<u32, bool>>,
    assumed: RefCell<Vec<ClassRef>>,
    missed: RefCell<Vec<ClassRef>>,
    /// What has been said of receivers; in a comparison, what was said then.
    guessed: RefCell<Guessed>,
    /// Calls of which nothing was noted when they were asked for.
    unknown: RefCell<Vec<(MethodRef, u32)>>,
}

impl Env {
    fn new(only: Option<Vec<ClassRef>>, is_first: bool, replay: Option<Guessed>) -> Env {
        Env {
            only,
            is_replay: replay.is_some(),
            is_first,
            noted_by: None,
            guessed: RefCell::new(replay.unwrap_or_default()),
            unknown: RefCell::default(),
            answers: RefCell::default(),
            assumed: RefCell::default(),
            missed: RefCell::default(),
        }
    }
}

impl CompileEnv for Env {
    fn is_initialized(&self, class: ClassRef) -> bool {
        if let Some(answer) = self.answers.borrow().get(&class.id) {
            return *answer;
        }
        let counts = self.only.as_ref().is_none_or(|o| o.contains(&class));
        let answer = counts && (self.is_replay || rt().is_initialized(class));
        self.answers.borrow_mut().insert(class.id, answer);
        // A class without a constructor has nothing to run, whether it is initialised or not.
        if answer && !matches!(class.cctor(), Ok(None)) {
            self.assumed.borrow_mut().push(class);
        }
        answer
    }
    fn records_calls(&self, method: vervet_types::MethodRef) -> bool {
        crate::profiler::call_spec::is_recorded(method)
    }
    fn sequence_points(&self, method: MethodRef) -> Option<Vec<u32>> {
        symbols::points(method)
    }
    fn receivers(&self, base: ClassRef, asker: MethodRef) -> Vec<ClassRef> {
        let guessed = &mut self.guessed.borrow_mut().classes;
        if let Some((_, answer)) = guessed.iter().find(|(b, _)| *b == base) {
            return answer.clone();
        }
        if self.is_replay {
            return Vec::new();
        }
        let answer = receivers(base, asker);
        guessed.push((base, answer.clone()));
        answer
    }
    fn wants_profile(&self) -> bool {
        self.is_first
    }
    fn profile(&self, method: MethodRef, il_offset: u32) -> Option<SiteProfile> {
        let noted = &mut self.guessed.borrow_mut().noted;
        let known = noted
            .iter()
            .find(|(m, at, _)| (*m, *at) == (method, il_offset));
        if let Some((.., profile)) = known {
            return Some(*profile);
        }
        // Where the call is asked for twice, the answer is the same, whatever threads do meanwhile.
        let unknown = &mut self.unknown.borrow_mut();
        if unknown.contains(&(method, il_offset)) {
            return None;
        }
        // Classes of other domains may go away while code is made.
        let entry = self.noted_by.filter(|entry| entry.domain.is_root())?;
        let profile = profiles::of_call(entry.domain, entry, method, il_offset);
        match profile {
            Some(profile) => noted.push((method, il_offset, profile)),
            None => unknown.push((method, il_offset)),
        }
        profile
    }
    fn missed(&self, classes: &[ClassRef]) {
        let mut missed = self.missed.borrow_mut();
        for class in classes {
            if !missed.contains(class) {
                missed.push(class);
            }
        }
    }
}

/// Compiles a method. Touches no object: any thread may call it. With `only`, no other class counts as initialised.
pub fn compile(method: MethodRef, only: Option<Vec<ClassRef>>) -> Result<Compiled, CompileError> {
    let tier = rt().compiler.tier_for(method);
    let is_restricted = only.is_some();
    let compiled = compile_as(method, tier, only, None)?;
    // Code that assumes less must not have missed what a run without a cache would load now.
    let has_missed = compiled.missed.iter().any(|c| rt().is_initialized(c));
    match is_restricted && has_missed {
        true => compile_as(method, tier, None, None),
        false => Ok(compiled),
    }
}

/// As [`compile`], in a tier that the caller chooses. `again` is the entry for which the method is compiled again.
pub fn compile_as(
    method: MethodRef,
    tier: Tier,
    only: Option<Vec<ClassRef>>,
    again: Option<&'static entries::Entry>,
) -> Result<Compiled, CompileError> {
    let compiler = &rt().compiler;
    let mut env = Env::new(only, again.is_none(), None);
    env.noted_by = again;
    let Some(cache) = cache() else {
        let blob = compiler.compile(method, &env, tier)?;
        return Ok(Compiled {
            blob,
            assumed: None,
            missed: Vec::new(),
            loaded: Vec::new(),
            guessed: Guessed::default(),
            tier,
        });
    };
    let (blob, watched) = edges::watch(|| compiler.compile(method, &env, tier));
    let blob = blob?;
    let (assumed, missed) = (env.assumed.into_inner(), env.missed.into_inner());
    let guessed = env.guessed.into_inner();
    if cache.mode == Mode::Convert {
        let blob = convert(method, blob);
        return Ok(Compiled {
            blob,
            assumed: None,
            missed: Vec::new(),
            loaded: Vec::new(),
            guessed: Guessed::default(),
            tier,
        });
    }
    let can_be_kept = !watched.has_failed && blob.listing.is_none();
    Ok(Compiled {
        blob,
        assumed: can_be_kept.then_some(assumed),
        missed,
        loaded: watched.loaded,
        guessed,
        tier,
    })
}

/// Compiles the method of an entry for threads that come from the head of a loop. Such code is not kept.
pub fn compile_loop(
    entry: &'static entries::Entry,
    head: u32,
    only: Option<Vec<ClassRef>>,
) -> Result<Blob, CompileError> {
    let mut env = Env::new(only, false, None);
    env.noted_by = Some(entry);
    rt().compiler.compile_loop(entry.method, &env, head)
}

/// Keeps the code of a method that is about to be linked. What is compiled ahead and never called is not written.
pub fn keep(method: MethodRef, compiled: &Compiled) {
    // Who compiles ahead keeps what the job names; what the start of its own process needs is compiled in the tier of a run.
    let is_run = rt().options.aot.is_none();
    let Some(place) = cache().and_then(|c| c.own()).filter(|_| is_run) else {
        return;
    };
    let code = entry(method, compiled, Role::First, place.telling);
    let entries = code.and_then(|code| {
        let before = match compiled.loaded.as_slice() {
            [] => None,
            _ => Some(loads_entry(method, compiled, place.telling)?),
        };
        Some((before, code))
    });
    match entries {
        Some((before, code)) => {
            before.into_iter().for_each(super::save::add);
            super::save::add(code);
        }
        None => counts::count(&counts::NOT_KEPT),
    }
}

/// Keeps the code of a method that was compiled again.
pub fn keep_again(method: MethodRef, compiled: &Compiled) {
    keep_as(method, compiled, Role::Again);
}

/// Keeps what a domain other than the root domain has compiled, without assumptions. The next run would not load what this compile has loaded:
/// such code is not kept.
pub fn keep_bare(method: MethodRef, compiled: &Compiled) {
    if compiled.loaded.is_empty() {
        keep_as(method, compiled, Role::Bare);
    }
}

fn keep_as(method: MethodRef, compiled: &Compiled, role: Role) {
    let is_run = rt().options.aot.is_none();
    if let Some(place) = cache().and_then(|c| c.own()).filter(|_| is_run)
        && let Some(entry) = entry(method, compiled, role, place.telling)
    {
        super::save::add(entry);
    }
}

/// The module in whose file the method's code is: its own, or that of its type arguments if its own is known anyway. With several of them, that of Main.
/// None: there is none; so it is for what a program defines while it runs, which no file holds.
pub(super) fn home_of(method: MethodRef) -> Option<ModuleRef> {
    if method.is_nameless() || method.module().image.grows().is_some() {
        return None;
    }
    let mut homes = Homes::default();
    homes.add(method.module());
    homes.class(method.class);
    method.method_args().iter().for_each(|a| homes.class(a));
    match (homes.found, homes.has_several) {
        (_, true) => Some(rt().root.loader.entry()?.manifest),
        (Some(one), false) => Some(one),
        (None, false) => Some(rt().universe.corlib()),
    }
}

/// The modules of an identity that are not known by the key.
#[derive(Default)]
struct Homes {
    found: Option<ModuleRef>,
    has_several: bool,
}

impl Homes {
    fn add(&mut self, module: ModuleRef) {
        if module.is_corlib() || module.is_graft() {
            return;
        }
        self.has_several |= self.found.is_some_and(|f| f != module);
        self.found = Some(module);
    }
    fn class(&mut self, class: ClassRef) {
        class.each_module(&mut |module| self.add(module));
    }
}

/// The entry of a method that was compiled. None: it cannot be kept.
pub(super) fn entry(
    method: MethodRef,
    compiled: &Compiled,
    role: Role,
    telling: Telling,
) -> Option<Entry> {
    let Compiled {
        blob,
        assumed,
        missed,
        guessed,
        tier,
        ..
    } = compiled;
    let assumed = assumed.as_ref()?;
    let home = home_of(method)?;
    let set = modules::set_of(home, telling)?;
    let namer = || Namer {
        set: &set,
        out: Out::default(),
    };
    let mut identity = namer();
    identity.out.bytes.extend_from_slice(role.tag());
    identity.method(method)?;
    identity
        .out
        .bytes
        .extend_from_slice(&points_identity(method));
    let mut content = namer();
    content.out.byte(tier_number(*tier));
    content.out.count(assumed.len());
    assumed.iter().try_for_each(|c| content.class(c))?;
    content.out.count(missed.len());
    missed.iter().try_for_each(|c| content.class(c))?;
    content.blob(blob)?;
    // Behind the blob: only a comparison needs it.
    let is_known = |(_, classes): &&(_, Vec<ClassRef>)| !classes.is_empty();
    content
        .out
        .count(guessed.classes.iter().filter(is_known).count());
    for (base, classes) in guessed.classes.iter().filter(is_known) {
        content.class(base)?;
        content.out.count(classes.len());
        classes.iter().try_for_each(|c| content.class(c))?;
    }
    content.out.count(guessed.noted.len());
    for (method, il_offset, profile) in &guessed.noted {
        content.method(method)?;
        match profile.callee {
            None => content.out.byte(2),
            Some(Callee::Class(class)) => {
                content.out.byte(0);
                content.class(class)?;
            }
            Some(Callee::Method(callee)) => {
                content.out.byte(1);
                content.method(callee)?;
            }
        }
        [*il_offset, profile.calls, profile.changes]
            .iter()
            .for_each(|n| content.out.u32(*n));
    }
    let mut payload = identity.out.bytes;
    let identity = payload.len() as u32;
    payload.extend_from_slice(&content.out.bytes);
    let nanoseconds = blob.stats.translate_ns + blob.stats.codegen_ns;
    let new = New {
        hash: role.hash_of(method),
        set: set.bytes.clone(),
        cost: u32::try_from(nanoseconds / 1000).unwrap_or(u32::MAX),
        identity,
        payload,
    };
    Some(Entry { home, new })
}

/// The entry of what compiling a method loaded: see [`super::loads`]. None: it cannot be kept.
fn loads_entry(method: MethodRef, compiled: &Compiled, telling: Telling) -> Option<Entry> {
    if !compiled.guessed.classes.is_empty() {
        return None;
    }
    let home = home_of(method)?;
    let set = modules::make_set(home, telling, &compiled.loaded)?;
    let namer = || Namer {
        set: &set,
        out: Out::default(),
    };
    let mut payload = Role::Loads.tag().to_vec();
    let mut identity = namer();
    identity.method(method)?;
    payload.extend_from_slice(&identity.out.bytes);
    let identity = payload.len() as u32;
    let mut content = namer();
    let assumed = compiled.assumed.as_ref()?;
    content.out.count(assumed.len());
    assumed.iter().try_for_each(|c| content.class(c))?;
    content.out.count(compiled.missed.len());
    compiled.missed.iter().try_for_each(|c| content.class(c))?;
    let edges = modules::edges_behind(&set, telling, &compiled.loaded)?;
    payload.extend_from_slice(&content.out.bytes);
    payload.extend_from_slice(&edges);
    let new = New {
        hash: Role::Loads.hash_of(method),
        set: set.bytes.clone(),
        // Worth nothing without the code, whose cost counts.
        cost: 0,
        identity,
        payload,
    };
    Some(Entry { home, new })
}

/// Ends the identity of code that says in stack traces what symbols name ([`CompileEnv::sequence_points`]): which those are.
pub(super) fn points_identity(method: MethodRef) -> Vec<u8> {
    let Some(points) = symbols::points(method) else {
        return Vec::new();
    };
    let bytes: Vec<u8> = points.iter().flat_map(|p| p.to_le_bytes()).collect();
    vervet_codecache::checksum::checksum(&bytes)
        .to_le_bytes()
        .into()
}

fn tier_number(tier: Tier) -> u8 {
    match tier {
        Tier::Quick => 0,
        Tier::Optimised => 1,
        Tier::Compact => 2,
    }
}
/// Reads the tier of an entry.
pub(super) fn read_tier(number: u8) -> Read<Tier> {
    match number {
        0 => Ok(Tier::Quick),
        1 => Ok(Tier::Optimised),
        2 => Ok(Tier::Compact),
        _ => Err(Damaged),
    }
}

/// The identity of an invoke stub. A method's begins with the tag of a type, which is never this.
pub(super) fn stub_identity(key: &str) -> Vec<u8> {
    [&[0xFF], key.as_bytes()].concat()
}
/// Finds an invoke stub.
pub(super) fn stub_hash(key: &str) -> u64 {
    vervet_codecache::checksum::checksum(key.as_bytes())
}

/// Keeps an invoke stub, which is made from nothing but the key of its signature.
pub fn keep_stub(key: &str, blob: &Blob) {
    let Some(place) = cache().and_then(|c| c.own()) else {
        return;
    };
    let home = rt().universe.corlib();
    let Some(set) = modules::set_of(home, place.telling) else {
        return;
    };
    let mut namer = Namer {
        set: &set,
        out: Out::default(),
    };
    if namer.blob(blob).is_none() {
        return;
    }
    let mut payload = stub_identity(key);
    let identity = payload.len() as u32;
    payload.extend_from_slice(&namer.out.bytes);
    let nanoseconds = blob.stats.translate_ns + blob.stats.codegen_ns;
    let new = New {
        hash: stub_hash(key),
        set: set.bytes.clone(),
        cost: (nanoseconds / 1000) as u32,
        identity,
        payload,
    };
    super::save::add(Entry { home, new });
}

/// [`Mode::Convert`]: the blob after it was written as bytes and read.
fn convert(method: MethodRef, blob: Blob) -> Blob {
    let home = home_of(method);
    let Some(set) = home.and_then(|h| modules::set_of(h, Telling::ByStamp)) else {
        counts::count(&counts::NOT_KEPT);
        return blob;
    };
    let Some(bytes) = bytes_of(&set, method, &blob) else {
        counts::count(&counts::NOT_KEPT);
        return blob;
    };
    let wrong = |what: &str| -> ! {
        crate::process::fatal::internal_error(&format!(
            "code cache: {what}: {}",
            method.full_name()
        ))
    };
    let mut read = super::names::Finder {
        modules: &set.modules,
        read: vervet_codecache::wire::In::new(&bytes),
    };
    if read.method() != Ok(method) {
        wrong("the method is another one after reading");
    }
    let Ok(mut after) = read.blob() else {
        wrong("a blob cannot be read back")
    };
    if !read.read.is_at_end() || bytes_of(&set, method, &after).as_ref() != Some(&bytes) {
        wrong("a blob is another one after reading");
    }
    after.stats = blob.stats;
    after.listing = blob.listing;
    counts::count(&counts::HITS);
    after
}

/// Identity and blob as bytes.
fn bytes_of(set: &Set, method: MethodRef, blob: &Blob) -> Option<Vec<u8>> {
    let mut namer = Namer {
        set,
        out: Out::default(),
    };
    namer.method(method)?;
    namer.blob(blob)?;
    Some(namer.out.bytes)
}

/// [`Mode::Verify`]: compiles a method as the entry of a role was compiled, and compares. `set` holds; `tier`, `assumed` and `guessed` are the entry's, `expected` is its blob.
pub(super) fn verify(
    (method, role): (MethodRef, Role),
    tier: Tier,
    set: &Set,
    (assumed, guessed): (Vec<ClassRef>, Guessed),
    expected: &[u8],
) {
    let compiler = &rt().compiler;
    let env = Env::new(Some(assumed), role != Role::Again, Some(guessed));
    let (result, watched) = edges::watch(|| compiler.compile(method, &env, tier));
    if watched.has_failed {
        return;
    }
    let made = result.ok().and_then(|blob| {
        let mut namer = Namer {
            set,
            out: Out::default(),
        };
        namer.blob(&blob)?;
        Some(namer.out.bytes)
    });
    counts::count(&counts::VERIFIED);
    if made.as_deref() != Some(expected) {
        let first = made.map(|m| m.iter().zip(expected).position(|(a, b)| a != b));
        crate::process::fatal::internal_error(&format!(
            "code cache: what was kept of {} is not what the compiler makes (first difference: {first:?})",
            method.full_name()
        ));
    }
}
