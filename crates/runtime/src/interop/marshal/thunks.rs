//! The thunks by which native code calls delegates, and what happens to one when its delegate dies.
//!
//! ```text
//! native code --> thunk (code, never freed) --> Record --> weak handle --> delegate
//!                                                 stub of the delegate's class
//! ```
//!
//! A thunk whose delegate is gone serves another delegate of the same class. The dead are looked for when twice as many are in use as lived after
//! the last look, so a program that passes a new delegate with each call has as many thunks as it has delegates alive, within a factor
//! of two and one collection.
//!
//! # Invariants
//! * Thunks and records are never freed, and a record keeps its class: native code that calls too late reaches a delegate of the same type, or
//!   [`delegate_of`] ends the process. Thunks are used again in the order in which they were given back, so that the latter is likelier.
//! * The handle tracks resurrection: a delegate that a finalizer hands to native code has its thunk until it is really gone.
//! * A record is in [`Thunks::free`] or in use. Whoever takes it sets the target before it gives the thunk's address to anybody.
use super::handler_calls;
use crate::arch::reverse_thunk;
use crate::cx::{Cx, Result};
use crate::memory::handles::{self, HandleKind};
use crate::object::ObjRef;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use vervet_os::LeafLock;
use vervet_types::MethodRef;

/// What the reverse thunk of a delegate leads to; the asm reads the first word.
#[repr(C)]
pub struct Record {
    /// The reverse stub of its class.
    pub stub: usize,
    /// The handle of the delegate.
    handle: u32,
    /// Does it serve a delegate? Written under the lock.
    used: AtomicBool,
    /// The thunk, once it is made.
    pub thunk: AtomicUsize,
    /// Its class's `Invoke`.
    pub invoke: MethodRef,
    /// It returns nothing and takes numbers only, all in registers: see [`handler_calls`].
    pub is_plain: bool,
    /// It serves no delegate, but a function of COM interfaces; the object is found by the first argument.
    pub is_com: bool,
}

#[derive(Default)]
struct Thunks {
    /// All, by the address of the code.
    all: FxHashMap<usize, &'static Record>,
    /// Those without a delegate, by the id of the class's `Invoke`.
    free: FxHashMap<u32, VecDeque<&'static Record>>,
    used: usize,
    /// With so many in use the dead are looked for.
    limit: usize,
}
static THUNKS: LeafLock<Option<Thunks>> = LeafLock::new(None);

/// The fewest that are worth a look.
const LEAST: usize = 64;

impl Thunks {
    fn give_back(&mut self, record: &'static Record) {
        record.used.store(false, Ordering::Relaxed);
        self.used -= 1;
        self.free
            .entry(record.invoke.id)
            .or_default()
            .push_back(record);
    }
    /// Gives those back whose delegates are gone.
    fn sweep(&mut self) {
        let is_dead = |r: &&Record| {
            r.used.load(Ordering::Relaxed) && handles::target(r.handle).is_none_or(ObjRef::is_null)
        };
        let dead: Vec<_> = self.all.values().copied().filter(|r| is_dead(r)).collect();
        for record in dead {
            self.give_back(record);
        }
        self.limit = 2 * self.used;
    }
    fn reuse(&mut self, invoke: MethodRef) -> Option<&'static Record> {
        if self.used >= self.limit.max(LEAST) {
            self.sweep();
        }
        let record = self.free.get_mut(&invoke.id)?.pop_front()?;
        record.used.store(true, Ordering::Relaxed);
        self.used += 1;
        Some(record)
    }
}

/// A record for a delegate, with its thunk.
pub fn take<'cx>(
    cx: &'cx Cx<'cx>,
    invoke: MethodRef,
    stub: usize,
    delegate: ObjRef<'cx>,
) -> Result<&'static Record> {
    {
        let mut thunks = THUNKS.lock();
        if let Some(record) = thunks.get_or_insert_default().reuse(invoke) {
            // Under the lock: a look for the dead finds it with its delegate.
            handles::set_target(record.handle, delegate);
            return Ok(record);
        }
    }
    let is_plain = cx.load(handler_calls::is_plain(invoke))?;
    let handle = handles::alloc_or_throw(cx, delegate, HandleKind::WeakTrackResurrection)?;
    // If there is no room for the thunk these words are lost.
    let record: &'static Record = Box::leak(Box::new(Record {
        stub,
        handle,
        used: AtomicBool::new(true),
        thunk: AtomicUsize::new(0),
        invoke,
        is_plain,
        is_com: false,
    }));
    let code = reverse_thunk(record as *const Record as usize);
    let thunk = match crate::code::arena::place_stub(code, || name_of(invoke)) {
        Ok(thunk) => thunk,
        Err(e) => {
            handles::free(handle);
            return Err(cx.throw_load(e));
        }
    };
    record.thunk.store(thunk, Ordering::Release);
    // Known before anybody can be given it.
    let mut thunks = THUNKS.lock();
    let thunks = thunks.get_or_insert_default();
    thunks.all.insert(thunk, record);
    thunks.used += 1;
    Ok(record)
}

/// The address of a thunk for a function of COM interfaces, with that reverse stub; `method` gives it its name.
pub fn for_com<'cx>(cx: &'cx Cx<'cx>, method: MethodRef, stub: usize) -> Result<usize> {
    let record: &'static Record = Box::leak(Box::new(Record {
        stub,
        handle: 0,
        used: AtomicBool::new(true),
        thunk: AtomicUsize::new(0),
        invoke: method,
        is_plain: false,
        is_com: true,
    }));
    let code = reverse_thunk(record as *const Record as usize);
    let thunk = crate::code::arena::place_stub(code, || name_of(method));
    let thunk = thunk.map_err(|e| cx.throw_load(e))?;
    record.thunk.store(thunk, Ordering::Release);
    Ok(thunk)
}

/// The name of a delegate's thunk, for `perf`.
fn name_of(invoke: MethodRef) -> String {
    format!("(native-to-managed thunk) {}", invoke.full_name())
}

/// Takes a record back whose thunk nobody was given: another thread made one for the delegate first.
pub fn give_back(record: &'static Record) {
    let mut thunks = THUNKS.lock();
    handles::set_target(record.handle, ObjRef::NULL);
    thunks.get_or_insert_default().give_back(record);
}

/// The delegate of the thunk at that address; None if there is no thunk, or its delegate is gone.
pub fn delegate_at<'cx>(address: usize) -> Option<ObjRef<'cx>> {
    let record = *THUNKS.lock().get_or_insert_default().all.get(&address)?;
    handles::target(record.handle).and_then(ObjRef::non_null)
}

/// The address of what the thunk calls, a delegate or an object with COM interfaces; in Runtime state. Without it the process ends. `first` is the call's first
/// argument.
pub fn callee_of(record: &Record, first: u64) -> usize {
    match record.is_com {
        true => crate::interop::com::object_at(first as usize),
        false => delegate_of(record),
    }
}

fn delegate_of(record: &Record) -> usize {
    match handles::target(record.handle).and_then(ObjRef::non_null) {
        Some(delegate) => delegate.addr(),
        None => collected(record),
    }
}

fn collected(record: &Record) -> ! {
    crate::process::fatal::write_stderr_without_memory(format_args!(
        "vervet: native code called a delegate of type {} that was collected: a program keeps a reference as long as native code may call it\n",
        record.invoke.class.name
    ));
    crate::process::fatal::exit_process(1)
}
