//! Which classes the object of a virtual call may be of, as far as the process knows: what the compiler guesses from.
//!
//! # How it works
//! ```text
//! 1. classes that have a VTable and may have objects                       known: INSTANTIATED, read into INDEX when somebody asks
//! 2. if there is none: types of the caller's and of the base's module      their metadata names the base as parent or interface
//! ```
//! A method is often compiled before the first object of a class is made, so the second matters for what a program runs once.
//!
//! The first is of all domains: a class of another domain is refused by its module. A class whose VTable was made for its static members only may be among them, which
//! costs a test that never passes.
//!
//! # Invariants
//! * An answer is a guess. Who uses it tests the object.
//! * Nothing is loaded for an answer, and what could not be found for it does not count as a failed edge of the compile.
//! * All classes of an answer can be named where the code of the caller is kept: they are of the caller's modules, the base's, or the core library.
use crate::loader::without_loading;
use rustc_hash::FxHashMap;
use vervet_os::LeafLock;
use vervet_types::{ClassRef, Known, LoadError, MethodRef, ModuleRef, edges};

/// An answer of more classes is none.
const MOST: usize = 8;
/// How many types of metadata are looked at for one answer.
const LOOKS: usize = 48;

/// Every class of which a VTable was made and that may have objects, in that order.
static INSTANTIATED: LeafLock<Vec<ClassRef>> = LeafLock::new(Vec::new());

/// By id of a class or interface: the first classes of [`INSTANTIATED`] that derive from it.
#[derive(Default)]
struct Index {
    /// How many of [`INSTANTIATED`] are in it.
    read: usize,
    below: Option<FxHashMap<u32, Vec<ClassRef>>>,
}
static INDEX: LeafLock<Index> = LeafLock::new(Index {
    read: 0,
    below: None,
});

/// A VTable was made of the class.
pub(super) fn add(class: ClassRef) {
    let has_objects = !class.is_interface() && (!class.is_abstract() || class.is_array());
    if has_objects {
        INSTANTIATED.lock().push(class);
    }
}

/// See the module. `base` is the static type of the object, `asker` the method whose code is made.
pub fn receivers(base: ClassRef, asker: MethodRef) -> Vec<ClassRef> {
    if std::ptr::eq(base, base.universe().known(Known::Object)) || base.is_open {
        return Vec::new();
    }
    let mut modules = vec![asker.module()];
    let named = asker
        .method_args()
        .iter()
        .copied()
        .chain([asker.class, base]);
    named.for_each(|class| class.each_module(&mut |module| modules.push(module)));
    edges::unwatched(|| {
        without_loading(|| {
            let known = instantiated(base);
            let mut found = match known.len() {
                0 => declared(base, asker.module()).unwrap_or_default(),
                _ => known,
            };
            if found.len() > MOST {
                return Vec::new();
            }
            let is_named = |class: &ClassRef| {
                let mut all = true;
                class.each_module(&mut |m| all &= m.is_corlib() || modules.contains(&m));
                all
            };
            found.retain(is_named);
            found
        })
    })
}

/// The classes with VTables that derive from `base`; more than [`MOST`] if there are too many.
fn instantiated(base: ClassRef) -> Vec<ClassRef> {
    let read = INDEX.lock().read;
    let fresh: Vec<ClassRef> = INSTANTIATED.lock().iter().skip(read).copied().collect();
    // Parents and interfaces of a class with a VTable are known, so this computes nothing; but it is not done under the lock.
    let bases: Vec<_> = fresh.iter().map(|class| (*class, bases(class))).collect();
    let mut index = INDEX.lock();
    let already = index.read - read;
    index.read = index.read.max(read + fresh.len());
    let below = index.below.get_or_insert_default();
    for (class, bases) in bases.into_iter().skip(already) {
        for base in bases {
            let list = below.entry(base.id).or_default();
            // Each domain has a VTable of its own for a class.
            if list.len() <= MOST && !list.contains(&class) {
                list.push(class);
            }
        }
    }
    below.get(&base.id).cloned().unwrap_or_default()
}

/// The class, its ancestors but Object, and its interfaces.
fn bases(class: ClassRef) -> Vec<ClassRef> {
    let mut all = class
        .supers()
        .unwrap_or(&[])
        .get(1..)
        .unwrap_or(&[])
        .to_vec();
    all.extend_from_slice(class.interfaces().unwrap_or(&[]));
    all
}

/// What the metadata of the two modules says of `base`.
fn declared(base: ClassRef, asker: ModuleRef) -> Result<Vec<ClassRef>, LoadError> {
    let mut found = Vec::new();
    let mut looks = 0;
    let mut searched: Vec<ModuleRef> = vec![asker];
    if base.module != asker {
        searched.push(base.module);
    }
    searched.retain(|m| !m.is_corlib() && m.image.grows().is_none());
    for module in searched {
        let mut names = vec![(base.namespace, base.name)];
        if base.module == module && !base.is_interface() {
            consider(base, base, &mut found)?;
        }
        while let Some((namespace, name)) = names.pop() {
            for rid in module.naming(namespace, name) {
                looks += 1;
                if looks > LOOKS {
                    return Ok(Vec::new());
                }
                let class = module.type_def(*rid)?;
                names.push((class.namespace, class.name));
                // Not one of a name that means another type, or whose parents are not known yet.
                let _ = consider(class, base, &mut found);
            }
        }
    }
    Ok(found)
}

/// Adds a class if there may be objects of it and it derives from `base`.
fn consider(class: ClassRef, base: ClassRef, found: &mut Vec<ClassRef>) -> Result<(), LoadError> {
    let is_generic = class.is_open;
    if is_generic || class.is_interface() || class.is_abstract() || found.contains(&class) {
        return Ok(());
    }
    class.check()?;
    if class.universe().is_assignable(class, base)? {
        class.vtable()?;
        found.push(class);
    }
    Ok(())
}
