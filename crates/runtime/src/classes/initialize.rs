//! Running class constructors (ECMA-335 II.10.5.3.3).
//!
//! # The state of a class (`VTable::init_state`)
//! | state | meaning | next state |
//! |---|---|---|
//! | `INIT_NONE` | the constructor has not run | RUNNING, by the first thread that accesses the class |
//! | `INIT_RUNNING` | a thread runs it; others wait, unless that would be a deadlock | DONE or FAILED; NONE if there was no memory to record a failure |
//! | `INIT_DONE` | it has run, or the class has none | final |
//! | `INIT_FAILED` | it threw: every access throws the recorded exception again | final |
//!
//! # Invariants
//! * A class constructor runs at most once to its end; an access by the thread that is running it goes through.
//! * Other threads wait until it has ended, unless that would be a deadlock. If the thread that runs it waits, directly or through
//!   others, for a constructor that the calling thread runs, then the calling thread sees the class uninitialized.
//! * The state of a class that is being initialized changes under the lock of `TABLE`, together with its entry there. So a waiting
//!   thread is in the list of the entry before the state can change, and no wake-up is lost.
//! * What the constructor threw is wrapped in one TypeInitializationException that every later access throws again, with a trace of its own.
//! * No lock is held while the constructor runs.
use crate::cx::{Cx, Result, Throw};
use crate::exceptions::make;
use crate::memory::roots::Root;
use crate::object::ObjRef;
use crate::threads::park;
use rustc_hash::FxHashMap;
use std::sync::atomic::Ordering;
use vervet_abi::VTable;
use vervet_abi::vtable::{INIT_DONE, INIT_FAILED, INIT_NONE, INIT_RUNNING};
use vervet_os::LeafLock;

#[derive(Default)]
struct Table {
    /// Classes whose constructor is running, by VTable address.
    running: FxHashMap<usize, Running>,
    /// Which of them a thread waits for, by the thread's id.
    waits_for: FxHashMap<u32, usize>,
    /// What the constructors that failed threw.
    failures: FxHashMap<usize, Root>,
}
struct Running {
    by: u32,
    waiters: Vec<u32>,
}
static TABLE: LeafLock<Option<Table>> = LeafLock::new(None);

fn key(vt: &'static VTable) -> usize {
    vt as *const VTable as usize
}

impl Table {
    /// Would waiting for the class mean that its thread waits for `me`?
    fn is_deadlock(&self, class: usize, me: u32) -> bool {
        let mut class = class;
        while let Some(running) = self.running.get(&class) {
            if running.by == me {
                return true;
            }
            match self.waits_for.get(&running.by) {
                Some(next) => class = *next,
                None => return false,
            }
        }
        false
    }
}

/// The constructor of the VTable's class has not run: its domain begins another life.
pub(crate) fn forget(vt: &'static VTable) {
    let mut table = TABLE.lock();
    if let Some(root) = table.as_mut().and_then(|t| t.failures.remove(&key(vt))) {
        root.free();
    }
}

/// For reports: the id of the thread that runs the class constructor of the VTable at that address, or 0. Takes no memory.
pub(crate) fn runs(vtable: usize) -> u32 {
    let table = TABLE.lock();
    let running = table.as_ref().and_then(|t| t.running.get(&vtable));
    running.map_or(0, |r| r.by)
}

enum Next {
    Run,
    Go,
    Wait,
    Fail(Option<Root>),
}

/// What the calling thread does about a class that is not known to be initialised.
fn next(vt: &'static VTable, me: u32) -> Next {
    let mut guard = TABLE.lock();
    let table = guard.get_or_insert_default();
    table.waits_for.remove(&me);
    match vt.init_state.load(Ordering::Acquire) {
        INIT_NONE => {
            let waiters = Vec::new();
            table.running.insert(key(vt), Running { by: me, waiters });
            vt.init_state.store(INIT_RUNNING, Ordering::Release);
            Next::Run
        }
        INIT_RUNNING => {
            if table.is_deadlock(key(vt), me) {
                return Next::Go;
            }
            if let Some(running) = table.running.get_mut(&key(vt)) {
                if !running.waiters.contains(&me) {
                    running.waiters.push(me);
                }
                table.waits_for.insert(me, key(vt));
            }
            Next::Wait
        }
        INIT_FAILED => Next::Fail(table.failures.get(&key(vt)).copied()),
        _ => Next::Go,
    }
}

/// The constructor that this thread ran has ended.
fn ended(vt: &'static VTable, state: u8, failure: Option<Root>) {
    let waiters = {
        let mut guard = TABLE.lock();
        let table = guard.get_or_insert_default();
        if let Some(root) = failure {
            table.failures.insert(key(vt), root);
        }
        vt.init_state.store(state, Ordering::Release);
        let running = table.running.remove(&key(vt));
        running.map_or_else(Vec::new, |r| r.waiters)
    };
    waiters.into_iter().for_each(park::unpark);
}

/// Runs the class constructor of the VTable's class if it has not run.
pub fn ensure<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable) -> Result<()> {
    let me = park::id(cx);
    loop {
        if vt.init_state.load(Ordering::Acquire) == INIT_DONE {
            return Ok(());
        }
        match next(vt, me) {
            Next::Run => return run(cx, vt),
            Next::Go => return Ok(()),
            Next::Wait => {
                park::reason::set(cx, park::Reason::Constructor(key(vt)), None);
                park::park(cx, || {}, None);
            }
            Next::Fail(root) => return Err(throw_again(cx, root)),
        }
    }
}

fn throw_again<'cx>(cx: &'cx Cx<'cx>, root: Option<Root>) -> Throw {
    let failure: ObjRef<'cx> = root.map_or(ObjRef::NULL, Root::get);
    if !failure.is_null() {
        crate::exceptions::trace::forget(failure);
    }
    cx.throw_object(failure)
}

fn run<'cx>(cx: &'cx Cx<'cx>, vt: &'static VTable) -> Result<()> {
    let class = crate::classes::vtables::class_of(vt);
    let constructor = match cx.load(class.cctor()) {
        Ok(c) => c,
        Err(throw) => {
            ended(vt, INIT_NONE, None);
            return Err(throw);
        }
    };
    let result = match constructor {
        // In the class's domain, which need not be the thread's: a method of one domain may touch an object of another.
        Some(cctor) => cx.within_id(vt.domain, |cx| cx.invoke(cctor, None, &[]).map(|_| ())),
        None => Ok(()),
    };
    let Err(throw) = result else {
        ended(vt, INIT_DONE, None);
        // An abort of this thread had to wait for the constructor: it is raised now.
        return crate::threads::abort::poll(cx);
    };
    let inner = cx.take_pending(throw);
    match make::type_initialization(cx, class, inner) {
        Ok(wrapped) => {
            ended(vt, INIT_FAILED, Some(Root::of(wrapped)));
            // A thread that aborted itself in its constructor goes on with the abort; other threads get the wrapped exception.
            let is_abort = inner.class().name == "ThreadAbortException";
            Err(cx.throw_object(if is_abort { inner } else { wrapped }))
        }
        // No memory for the exception: the next access tries again.
        Err(throw) => {
            ended(vt, INIT_NONE, None);
            Err(throw)
        }
    }
}

impl<'cx> Cx<'cx> {
    /// Runs the class constructor if it has not run.
    pub fn run_class_init(&'cx self, class: vervet_types::ClassRef) -> Result<()> {
        let vt = self.rt().vtable_or_throw(self, class)?;
        ensure(self, vt)
    }
}
