//! Modules in the eyes of a cache: which content they have, and what they were bound to.
//!
//! # How it works
//! The code of a method is made from the metadata and IL of modules that are reached from its *home*, its own module, over edges
//! ([`vervet_types::edges`]). A [`Set`] is the list of all modules that can be reached over the edges that are bound, each with its content's identity:
//!
//! ```text
//! number  module             how it is known in another process
//! 0       mscorlib           part of the key of the cache
//! 1 ...   the grafts         part of this binary, so of the key
//! then    home               subject of the file
//! then    the others         (number of a module before, row of its AssemblyRef table) -> subject
//! ```
//! Every edge is recorded, those between known modules too. The list is longer than what a method needs. That costs a miss now and then, and never
//! a wrong hit.
//!
//! # Invariants
//! * A set is made after the code that depends on it. Whatever edge the compile used was bound before, so it is in the set.
//! * Nothing is found by a name or an MVID: several modules of one name may be loaded.
//! * A set is compared without an effect: no assembly is loaded for it, no event is raised. An edge that is not bound is bound if it leads to what
//!   is loaded already, as the background compiler does at any time.
//! * A module whose content cannot be told (bytes, one of several files) is in no set; what can reach it is not kept.
//!
//! # Contents
//! | the file | its subject has, by stamp | by hash |
//! |---|---|---|
//! | on a disk of this machine, last changed more than two minutes ago | device, inode, length and times: the kernel changes these with the content | a cryptographic hash, which a memo may know by the former |
//! | any other | a quick hash of what was mapped. Times say nothing yet (stores to mapped pages), or are made up (images, servers) | the cryptographic hash |
use crate::loader::{Origin, without_loading};
use crate::runtime::rt;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use vervet_codecache::checksum::{content_hash, digest};
use vervet_codecache::memo::{self, Memo, Stamp};
use vervet_codecache::wire::{Damaged, In, Out, Read};
use vervet_os::LeafLock;
use vervet_os::memory::FileStamp;
use vervet_types::{ModuleRef, edges};

/// How contents are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Telling {
    /// By what the file system says, where that is worth something: for code that is kept where it was made.
    ByStamp,
    /// By their bytes: for code that was compiled ahead, and for files that are packed and unpacked.
    ByHash,
}

/// See the module.
pub struct Set {
    /// As it is written.
    pub bytes: Vec<u8>,
    /// By number.
    pub modules: Vec<ModuleRef>,
}

impl Set {
    /// The number of a module.
    pub fn number_of(&self, module: ModuleRef) -> Option<u32> {
        let at = self.modules.iter().position(|m| *m == module)?;
        Some(at as u32)
    }
}

type Subjects = FxHashMap<(u32, Telling), Option<Arc<[u8]>>>;
/// By the id of the module.
static SUBJECTS: LeafLock<Option<Subjects>> = LeafLock::new(None);
/// Hashes that need not be computed.
static MEMOS: LeafLock<Vec<Memo>> = LeafLock::new(Vec::new());

/// Adds hashes that a directory knows.
pub(super) fn add_memo(memo: Memo) {
    MEMOS.lock().push(memo);
}

/// What tells the content of a module from every other. None: it cannot be told.
pub fn subject(module: ModuleRef, telling: Telling) -> Option<Arc<[u8]>> {
    let key = (module.id, telling);
    if let Some(known) = SUBJECTS.lock().get_or_insert_default().get(&key) {
        return known.clone();
    }
    // May read the whole file.
    let made: Option<Arc<[u8]>> =
        crate::threads::native(|| make_subject(module, telling)).map(Into::into);
    let mut subjects = SUBJECTS.lock();
    subjects
        .get_or_insert_default()
        .entry(key)
        .or_insert(made)
        .clone()
}

fn make_subject(module: ModuleRef, telling: Telling) -> Option<Vec<u8>> {
    if !module.is_whole_assembly() {
        return None;
    }
    let row = module.image.module(1).ok()?;
    let mut out = Out::default();
    out.string(&module.image.guid(row.mvid).ok()?);
    match (rt().root.loader.origin(module)?, telling) {
        (Origin::Binary, _) => out.byte(0),
        (
            Origin::File {
                stamp,
                is_settled: true,
            },
            Telling::ByStamp,
        ) => {
            out.byte(1);
            for n in [stamp.device, stamp.inode, stamp.size] {
                out.number(n);
            }
            out.bytes.extend_from_slice(&stamp.modified.to_le_bytes());
            out.bytes.extend_from_slice(&stamp.changed.to_le_bytes());
        }
        (Origin::File { .. }, Telling::ByStamp) => {
            out.byte(2);
            out.count(module.image.data().len());
            out.bytes
                .extend_from_slice(&content_hash(module.image.data()));
        }
        (Origin::File { stamp, is_settled }, Telling::ByHash) => {
            out.byte(3);
            let known = is_settled.then(|| known_hash(&stamp)).flatten();
            let hash = known.unwrap_or_else(|| digest(module.image.data()));
            out.bytes.extend_from_slice(&hash);
        }
    }
    Some(out.bytes)
}

fn known_hash(stamp: &FileStamp) -> Option<memo::Hash> {
    let stamp = stamp_bytes(stamp);
    MEMOS.lock().iter().find_map(|m| m.find(&stamp))
}

/// A stamp as memos have it: device and inode name the file.
pub(super) fn stamp_bytes(stamp: &FileStamp) -> Stamp {
    let mut bytes: Stamp = [0; memo::STAMP];
    bytes[..8].copy_from_slice(&stamp.device.to_le_bytes());
    bytes[8..16].copy_from_slice(&stamp.inode.to_le_bytes());
    bytes[16..24].copy_from_slice(&stamp.size.to_le_bytes());
    bytes[24..40].copy_from_slice(&stamp.modified.to_le_bytes());
    bytes[40..].copy_from_slice(&stamp.changed.to_le_bytes());
    bytes
}

/// Whether every module whose content is known by its hash still has that content.
pub fn are_contents_same() -> bool {
    let loader = &rt().root.loader;
    loader.assemblies().into_iter().all(|a| {
        let module = a.manifest;
        let is_hashed = matches!(
            loader.origin(module),
            Some(Origin::File {
                is_settled: false,
                ..
            })
        );
        let same = |telling| {
            let subjects = SUBJECTS.lock();
            let known = subjects
                .as_ref()
                .and_then(|s| s.get(&(module.id, telling)).cloned());
            drop(subjects);
            match known.flatten() {
                Some(known) => make_subject(module, telling).as_deref() == Some(&*known),
                None => true,
            }
        };
        !is_hashed || same(Telling::ByStamp) && same(Telling::ByHash)
    })
}

/// The modules with the first numbers. All but the last are known by the key.
fn first_modules(home: ModuleRef) -> Vec<ModuleRef> {
    let universe = rt().universe;
    let mut modules = vec![universe.corlib()];
    modules.extend_from_slice(universe.graft_modules());
    if !modules.contains(&home) {
        modules.push(home);
    }
    modules
}

/// Sets by the id of home, each with the generation in which it was made.
type Known = FxHashMap<(u32, Telling), (u64, Option<Arc<Set>>)>;
static KNOWN: LeafLock<Option<Known>> = LeafLock::new(None);

/// What code of `home` depends on, as edges are bound now. None: it cannot be told.
pub fn set_of(home: ModuleRef, telling: Telling) -> Option<Arc<Set>> {
    let key = (home.id, telling);
    // Read first: edges that are bound meanwhile may be in the set, and then it is made again for nothing.
    let generation = edges::generation();
    if let Some((at, set)) = KNOWN.lock().get_or_insert_default().get(&key)
        && *at == generation
    {
        return set.clone();
    }
    let set = make_set(home, telling, &[]).map(Arc::new);
    let mut known = KNOWN.lock();
    known
        .get_or_insert_default()
        .insert(key, (generation, set.clone()));
    set
}

/// What code of `home` depends on, as edges are bound now but for some. None: it cannot be told.
pub(super) fn make_set(home: ModuleRef, telling: Telling, without: &[edges::Edge]) -> Option<Set> {
    let mut modules = first_modules(home);
    subject(home, telling)?;
    let (mut out, mut count) = (Out::default(), 0);
    let mut next = 0;
    while let Some(from) = modules.get(next).copied() {
        for (rid, assembly) in from.edges() {
            if !without.contains(&(from.id, rid)) {
                out.count(next);
                write_edge(&mut out, rid, assembly.manifest, &mut modules, telling)?;
                count += 1;
            }
        }
        next += 1;
    }
    let mut bytes = Out::default();
    bytes.count(count);
    bytes.bytes.extend_from_slice(&out.bytes);
    Some(Set {
        bytes: bytes.bytes,
        modules,
    })
}

/// Writes an edge but for where it begins.
fn write_edge(
    out: &mut Out,
    rid: u32,
    to: ModuleRef,
    modules: &mut Vec<ModuleRef>,
    telling: Telling,
) -> Option<()> {
    out.u32(rid);
    match modules.iter().position(|m| *m == to) {
        Some(known) => out.count(known + 1),
        None => {
            out.count(0);
            out.string(&subject(to, telling)?);
            modules.push(to);
        }
    }
    Some(())
}

/// Edges that were bound one after the other when a set held. None: one of them does not begin in its modules, or leads to what cannot be told.
pub(super) fn edges_behind(set: &Set, telling: Telling, edges: &[edges::Edge]) -> Option<Vec<u8>> {
    let (mut modules, mut out) = (set.modules.clone(), Out::default());
    out.count(edges.len());
    for (module, rid) in edges {
        let from = modules.iter().position(|m| m.id == *module)?;
        let to = modules[from].bound_assembly(*rid)?;
        out.count(from);
        write_edge(&mut out, *rid, to.manifest, &mut modules, telling)?;
    }
    Some(out.bytes)
}

/// Binds those edges where the set holds, and loads what they lead to. Ends at the first that leads elsewhere than it did.
pub(super) fn bind_behind(set: &Set, bytes: &[u8], telling: Telling) -> Result<(), Mismatch> {
    let mut modules = set.modules.clone();
    for e in &read_edges(bytes).map_err(|Damaged| Mismatch::Damaged)? {
        let from = *modules.get(e.from).ok_or(Mismatch::Damaged)?;
        if is_row(from, e.rid) {
            from.referenced_assembly(e.rid)
                .map_err(|_| Mismatch::Unbound)?;
        }
        follow(from, e, &mut modules, telling)?;
    }
    Ok(())
}

fn is_row(from: ModuleRef, rid: u32) -> bool {
    let rows = from.image.row_count(vervet_metadata::Table::AssemblyRef);
    (1..=rows).contains(&rid)
}

/// Whether code of these modules may mean an assembly that is not bound yet.
pub(super) fn can_load_more(modules: &[ModuleRef]) -> bool {
    let all = |m: &ModuleRef| m.image.row_count(vervet_metadata::Table::AssemblyRef) as usize;
    modules.iter().any(|m| m.edges().count() < all(m))
}

/// An edge that a set records.
struct Edge<'a> {
    from: usize,
    rid: u32,
    to: To<'a>,
}
/// Where an edge leads.
#[derive(Clone, Copy)]
enum To<'a> {
    /// To a module with a number.
    Known(usize),
    /// To a module with that subject, which gets the next number.
    New(&'a [u8]),
}

fn read_edges(bytes: &[u8]) -> Read<Vec<Edge<'_>>> {
    let mut read = In::new(bytes);
    let count = read.count()?;
    let mut edges = Vec::with_capacity(count.min(1 << 10));
    for _ in 0..count {
        let (from, rid) = (read.u32()? as usize, read.u32()?);
        let to = match read.u32()? {
            0 => To::New(read.string()?),
            n => To::Known(n as usize - 1),
        };
        edges.push(Edge { from, rid, to });
    }
    match read.is_at_end() {
        true => Ok(edges),
        false => Err(Damaged),
    }
}

/// Why a recorded set does not hold here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mismatch {
    /// It cannot be read.
    Damaged,
    /// An edge leads elsewhere, or to another content.
    Other,
    /// An edge is not bound yet, and leads to no assembly that is loaded.
    Unbound,
}

/// The modules of a recorded set by number, if every edge of it leads here where it led then. Loads nothing.
pub fn check(home: ModuleRef, bytes: &[u8], telling: Telling) -> Result<Vec<ModuleRef>, Mismatch> {
    let edges = read_edges(bytes).map_err(|Damaged| Mismatch::Damaged)?;
    let mut modules = first_modules(home);
    for e in &edges {
        let from = *modules.get(e.from).ok_or(Mismatch::Damaged)?;
        follow(from, e, &mut modules, telling)?;
    }
    Ok(modules)
}

/// Follows one edge, and compares where it leads.
fn follow(
    from: ModuleRef,
    e: &Edge<'_>,
    modules: &mut Vec<ModuleRef>,
    telling: Telling,
) -> Result<(), Mismatch> {
    if !is_row(from, e.rid) {
        return Err(Mismatch::Damaged);
    }
    let to = match from.bound_assembly(e.rid) {
        Some(a) => a,
        // An edge to what is loaded already may be bound at any time, as the background compiler does.
        None => {
            without_loading(|| from.referenced_assembly(e.rid)).map_err(|_| Mismatch::Unbound)?
        }
    };
    let to = to.manifest;
    match e.to {
        To::Known(n) => match modules.get(n) {
            Some(m) if *m == to => Ok(()),
            Some(_) => Err(Mismatch::Other),
            None => Err(Mismatch::Damaged),
        },
        To::New(wanted) => match subject(to, telling) {
            Some(found) if *found == *wanted && !modules.contains(&to) => {
                modules.push(to);
                Ok(())
            }
            _ => Err(Mismatch::Other),
        },
    }
}
