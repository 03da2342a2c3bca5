//! The application domain: VTables, entries of methods, interned strings, Type objects and reflection caches.
//!
//! A thread has a current domain (`ThreadContext::domain`, an id), which [`Cx::domain`] looks up. What is made for a domain whoever
//! asks - a VTable's slots, the code of an entry - goes by the domain that the VTable or the entry names, never by the thread.
//!
//! [`create`](mod@create) makes a domain, [`crossing`] takes threads from one to another, [`copy`](mod@copy) and [`graph`] copy values for them, [`binding`] ties their loaders to the type system,
//! and [`unload`](mod@unload) ends one.
//!
//! # Invariants
//! * The root domain has id 0 and is there from the start. Everything that belongs to a domain is reached from it: no
//!   global table of VTables, literals, Type objects or entries by method exists elsewhere. Caches are strong.
//! * A number is not used again, so who knows a domain by its number never means another. An id may have several lives, one after the other ([`renew`]): what
//!   names it by id is part of the domain, or of code that runs in it only.
pub mod binding;
pub mod copy;
pub mod create;
pub mod crossing;
pub(crate) mod graph;
mod renew;
pub mod unload;

use crate::code::icall::Handle;
use crate::cx::{Cx, Result};
use crate::loader::Loader;
use crate::memory::roots::{self, Root};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering};
use vervet_abi::VTable;
use vervet_os::{Chunks, LeafLock, Published};
use vervet_types::{ClassRef, Known, ModuleRef};

/// See the module.
pub struct Domain {
    /// Its id, which VTables, entries and modules name; the root domain is 0. A domain that is made anew after an unload keeps it.
    pub id: u32,
    /// What managed code knows it by: 0 for the root domain, and another for each life of a domain.
    number: AtomicU32,
    /// A [`State`].
    state: AtomicU8,
    /// Do the finalizers of its objects run because it is being unloaded?
    finalizing: AtomicBool,
    /// Threads that have been started in it and have not begun.
    starting: AtomicU32,
    /// How often the pool is to run the domain's dispatch loop.
    pub(crate) requests: AtomicU32,
    /// What finds its assemblies.
    pub loader: Loader,
    /// The VTables of classes, by class id; null before one is published.
    pub(crate) vtables: Chunks<AtomicPtr<VTable>>,
    /// The ids of the entries of methods, plus one, by method id; 0 before one is made.
    pub(crate) entries: Chunks<AtomicUsize>,
    strings: LeafLock<FxHashMap<Box<[u16]>, Root>>,
    literals: LeafLock<FxHashMap<(u32, u32), Root>>,
    /// The literals of dynamic methods, by number.
    dynamic_literals: LeafLock<Vec<Root>>,
    /// Addresses of the roots of Type objects, by class id; 0 before one is made.
    types: Chunks<AtomicUsize>,
    cache: LeafLock<FxHashMap<(u32, usize, usize), Root>>,
    /// The AppDomain object.
    pub app_domain: LeafLock<Option<Root>>,
    /// The AppDomainSetup object.
    pub setup: LeafLock<Option<Root>>,
    /// The default remoting Context object.
    pub context: LeafLock<Option<Root>>,
    /// Values of AppDomain.SetData.
    pub data: LeafLock<FxHashMap<String, Root>>,
    /// File name of the main assembly, as given.
    pub friendly_name: LeafLock<String>,
}

/// How far the life of a domain has come. It only grows, but for an unload that a handler of DomainUnload stops.
///
/// ```text
///   New --complete--> Active --Unload--> Leaving --handlers have run--> Unloading --threads are out, finalizers have run--> Unloaded --> Gone
///                        ^                  |
///                        +--a handler threw-+
/// ```
///
/// | state | threads may enter | its finalizers run | its objects are kept |
/// |---|---|---|---|
/// | New, Active, Leaving | yes | when objects are unreachable | yes |
/// | Unloading | those that have frames in it | all, once | yes |
/// | Unloaded | no | no | yes |
/// | Gone | no | no | no: its roots hold null |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum State {
    /// It is being made.
    New = 0,
    /// Threads may enter it.
    Active = 1,
    /// Its handlers of DomainUnload run.
    Leaving = 2,
    /// Threads may not enter it, and those in it are aborted.
    Unloading = 3,
    /// Its finalizers have run, and nobody begins anything in it.
    Unloaded = 4,
    /// Nothing runs in it, and it holds nothing.
    Gone = 5,
}

static DOMAINS: Chunks<Published<Domain>> = Chunks::new();
static COUNT: AtomicU32 = AtomicU32::new(0);
static NUMBERS: AtomicU32 = AtomicU32::new(0);

/// The domain with that id, which need not be one of any.
pub fn find(id: u32) -> Option<&'static Domain> {
    DOMAINS.get(id).and_then(Published::get)
}
/// The domain that managed code knows by that number. None: it has been unloaded, or there was none.
pub fn by_number(number: i32) -> Option<&'static Domain> {
    let number = u32::try_from(number).ok()?;
    all().find(|d| d.number() == number && d.state() < State::Unloaded)
}
/// All domains that have been made, in order.
pub fn all() -> impl Iterator<Item = &'static Domain> {
    (0..COUNT.load(Ordering::Acquire)).filter_map(find)
}
/// Is there, or was there, a domain besides the root domain?
#[inline]
pub fn are_several() -> bool {
    COUNT.load(Ordering::Relaxed) > 1
}

/// The domain that a VTable, an entry or a thread context names by id.
#[inline]
pub fn by_id(id: u32) -> &'static Domain {
    find(id).expect("ids are given out by `Domain::make`")
}

impl Domain {
    /// A new, empty domain with the next id and the loader that `loader` makes for it; the first is the root domain.
    pub fn make(loader: impl FnOnce(u32) -> Loader) -> &'static Domain {
        let id = COUNT.fetch_add(1, Ordering::Relaxed);
        DOMAINS.at(id).put(Domain::new(id, loader(id)))
    }
    /// What managed code knows it by.
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Acquire)
    }
    /// How far its life has come.
    pub fn state(&self) -> State {
        match self.state.load(Ordering::Acquire) {
            0 => State::New,
            1 => State::Active,
            2 => State::Leaving,
            3 => State::Unloading,
            4 => State::Unloaded,
            _ => State::Gone,
        }
    }
    /// Do the finalizers of its objects run because it is being unloaded?
    pub fn is_finalizing(&self) -> bool {
        self.finalizing.load(Ordering::SeqCst)
    }
    pub(crate) fn set_finalizing(&self, on: bool) {
        self.finalizing.store(on, Ordering::SeqCst);
    }
    /// It is complete.
    pub(crate) fn set_active(&self) {
        self.state.store(State::Active as u8, Ordering::Release);
    }
    /// Goes from one state to another, unless it is not in the first.
    pub(crate) fn change_state(&self, from: State, to: State) -> bool {
        let change =
            (self.state).compare_exchange(from as u8, to as u8, Ordering::SeqCst, Ordering::SeqCst);
        change.is_ok()
    }
    /// Is it the root domain?
    pub fn is_root(&self) -> bool {
        self.id == 0
    }
    fn new(id: u32, loader: Loader) -> Domain {
        Domain {
            id,
            number: AtomicU32::new(NUMBERS.fetch_add(1, Ordering::Relaxed)),
            state: AtomicU8::new(State::New as u8),
            finalizing: AtomicBool::new(false),
            starting: AtomicU32::new(0),
            requests: AtomicU32::new(0),
            loader,
            vtables: Chunks::new(),
            entries: Chunks::new(),
            strings: LeafLock::default(),
            literals: LeafLock::default(),
            dynamic_literals: LeafLock::default(),
            types: Chunks::new(),
            cache: LeafLock::default(),
            app_domain: LeafLock::default(),
            setup: LeafLock::default(),
            context: LeafLock::default(),
            data: LeafLock::default(),
            friendly_name: LeafLock::default(),
        }
    }

    /// The class's VTable, if it has been made.
    #[inline]
    pub fn vtable_if_made(&self, class: ClassRef) -> Option<&'static VTable> {
        let p = self.vtables.get(class.id)?.load(Ordering::Acquire);
        // SAFETY: only complete VTables are stored, and they live for ever.
        unsafe { p.as_ref() }
    }

    /// Has the class been initialized in the domain?
    pub fn is_initialized(&self, class: ClassRef) -> bool {
        self.vtable_if_made(class).is_some_and(|vt| {
            vt.init_state.load(Ordering::Acquire) == vervet_abi::vtable::INIT_DONE
        })
    }

    /// The interned string with that text.
    pub fn intern<'cx>(&self, cx: &'cx Cx<'cx>, units: &[u16]) -> Result<ObjRef<'cx>> {
        Ok(self.intern_root(cx, units)?.get())
    }
    /// The interned string, if there is one.
    pub fn is_interned<'cx>(&self, units: &[u16]) -> Option<ObjRef<'cx>> {
        self.strings.lock().get(units).map(|r| r.get())
    }
    /// Interns an existing string object: it becomes the interned one if its text has none yet.
    pub fn intern_object<'cx>(&self, string: ObjRef<'cx>) -> ObjRef<'cx> {
        match self.is_interned(string.units()) {
            Some(first) => first,
            None => roots::keep(&self.strings, string.units().into(), string).get(),
        }
    }
    fn intern_root(&self, cx: &Cx<'_>, units: &[u16]) -> Result<Root> {
        if let Some(r) = self.strings.lock().get(units) {
            return Ok(*r);
        }
        let made = cx.alloc_utf16(units)?;
        Ok(roots::keep(&self.strings, units.into(), made))
    }
    /// The root slot of a string literal, filled.
    pub fn literal<'cx>(&self, cx: &'cx Cx<'cx>, module: ModuleRef, token: u32) -> Result<Root> {
        if let Some(r) = self.literals.lock().get(&(module.id, token)) {
            return Ok(*r);
        }
        let units: Vec<u16> = match module.image.user_string(token) {
            Ok(s) => s.units().collect(),
            Err(e) => return Err(cx.throw(Known::BadImageFormatException, &e.to_string())),
        };
        let root = self.intern_root(cx, &units)?;
        self.literals.lock().insert((module.id, token), root);
        Ok(root)
    }

    /// Keeps a string literal of a dynamic method, interned; its number.
    pub fn add_dynamic_literal(&self, cx: &Cx<'_>, units: &[u16]) -> Result<u32> {
        let root = self.intern_root(cx, units)?;
        let mut all = self.dynamic_literals.lock();
        all.push(root);
        Ok(all.len() as u32 - 1)
    }
    /// The root slot of a literal that [`Domain::add_dynamic_literal`] has numbered.
    pub fn dynamic_literal(&self, number: u32) -> Root {
        self.dynamic_literals.lock()[number as usize]
    }

    /// The root slot of a class's Type object, filled. Found without a lock: reflection asks for the Type objects of parameters, results and declaring classes
    /// all the time.
    pub fn type_root<'cx>(&self, cx: &'cx Cx<'cx>, class: ClassRef) -> Result<Root> {
        let cell = self.types.at(class.id);
        if let Some(root) = roots::kept_in(cell) {
            return Ok(root);
        }
        cx.load(class.check_type_object())?;
        let object = cx.alloc(cx.known(Known::RuntimeType))?;
        object.write(
            std::mem::offset_of!(vervet_abi::layouts::TypeObject, handle),
            class as *const _ as usize,
        );
        let root = roots::keep_in(cell, object);
        if let Some(vt) = self.vtable_if_made(class) {
            vt.type_root.store(root.address(), Ordering::Release);
        }
        Ok(root)
    }
    /// The one RuntimeType object of a class.
    pub fn type_object<'cx>(&self, cx: &'cx Cx<'cx>, class: ClassRef) -> Result<ObjRef<'cx>> {
        Ok(self.type_root(cx, class)?.get())
    }

    /// A cached reflection object.
    pub fn cached<'cx>(&self, key: (u32, usize, usize)) -> Option<ObjRef<'cx>> {
        self.cache.lock().get(&key).map(|r| r.get())
    }
    /// Caches an object unless another was first; returns the one that stands.
    pub fn cache<'cx>(&self, key: (u32, usize, usize), object: ObjRef<'cx>) -> ObjRef<'cx> {
        roots::keep(&self.cache, key, object).get()
    }
}

impl<'cx> Cx<'cx> {
    /// The thread's current domain.
    #[inline]
    pub fn domain(&self) -> &'static Domain {
        // SAFETY: a token holds the context of the calling thread, and only that thread writes the word.
        by_id(unsafe { (*self.context).domain })
    }
    /// The loader of the thread's current domain.
    #[inline]
    pub fn loader(&self) -> &'static Loader {
        &self.domain().loader
    }
    /// The interned string with that text.
    pub fn intern(&'cx self, units: &[u16]) -> Result<ObjRef<'cx>> {
        self.domain().intern(self, units)
    }
    /// The one RuntimeType object of a class.
    pub fn type_object(&'cx self, class: ClassRef) -> Result<ObjRef<'cx>> {
        self.domain().type_object(self, class)
    }
    /// A reflection object from the domain's cache, keyed by entity and reflected class; made by `make` if it is not there.
    pub fn cached(
        &'cx self,
        kind: u32,
        entity: usize,
        reflected: usize,
        make: impl FnOnce() -> Result<ObjRef<'cx>>,
    ) -> Result<ObjRef<'cx>> {
        let key = (kind, entity, reflected);
        if let Some(found) = self.domain().cached(key) {
            return Ok(found);
        }
        let made = make()?;
        Ok(self.domain().cache(key, made))
    }
}

impl<'cx> Cx<'cx> {
    /// The class behind a RuntimeType object (its `_impl`). Null throws.
    pub fn class_of(&'cx self, type_object: ObjRef<'cx>) -> Result<ClassRef> {
        let t = self.non_null(type_object)?;
        let word = t.read::<usize>(std::mem::offset_of!(
            vervet_abi::layouts::TypeObject,
            handle
        ));
        // SAFETY: `Cx::type_object` stores the address of the class when it makes the object, and nothing else writes the field.
        self.class_of_handle(unsafe { Handle::from_word(word) })
    }
    /// The string that is the name of a type, as `Type.Name` has it. The RuntimeType keeps it; generated code reads it there.
    pub fn type_name(&'cx self, type_object: ObjRef<'cx>) -> Result<ObjRef<'cx>> {
        let class = self.class_of(type_object)?;
        let layout = self.load(type_object.class().instance_layout())?;
        let kept = layout
            .hidden_reference
            .map(|at| at + vervet_abi::object::HEADER_SIZE);
        let Some(kept) = kept.map(|at| at as usize) else {
            return self.alloc_str(class.name);
        };
        if let Some(known) = type_object.read_ref(kept).non_null() {
            return Ok(known);
        }
        let name = self.alloc_str(class.name)?;
        type_object.write_ref(kept, name);
        Ok(name)
    }
    /// The class behind a RuntimeTypeHandle's value. Null throws.
    pub fn class_of_handle(&self, handle: Handle<vervet_types::Class>) -> Result<ClassRef> {
        handle
            .get()
            .ok_or_else(|| self.throw_default(Known::ArgumentException))
    }
}
