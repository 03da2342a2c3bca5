//! The background compiler: methods that linked code calls are compiled on a second core before they are called.
//!
//! # How it works
//! When a method's code is linked, the methods that it calls are pushed on a stack. A worker thread pops the newest,
//! compiles it to a blob and keeps the blob; the prestub looks here first. The calling thread links.
//!
//! ```text
//!   program threads                    QUEUE (leaf lock)                        compiler thread
//!   -------------------------------    ---------------------------------------  -------------------------------
//!   link a blob: enqueue_callees  ---> stack: newest on top             ------> pop; Waiting -> Compiling
//!                                      states: method id -> State               compile, without the lock
//!   first call: prestub: take     <--- Ready(blob), or nothing          <------ Compiling -> Ready, or Done
//!     waits on READY if Compiling                                               waits on WORK if the stack is empty
//! ```
//! The stack is not a queue because what was linked last is most likely called next. An entry whose method the prestub has taken meanwhile stays
//! on the stack; the worker drops it, because its state is no longer Waiting.
//!
//! # The state of a method
//! ```text
//!   Waiting --(worker)--> Compiling --(worker)--> Ready --(prestub)--> Done
//!      |                                                                 ^
//!      +--(prestub: the caller compiles it itself)-----------------------+
//! ```
//! A method goes through it once. What the worker cannot compile becomes Done, and the caller, who compiles it again, reports the error.
//!
//! # Invariants
//! * The worker holds no object, is not attached and loads no assembly: it uses the type system and the compiler only, which serve any
//!   thread.
//! * Only what linked code mentions is pushed, so the work is bounded by what the program reaches.
//! * A thread sleeps only after it has recorded that under the lock, and what it sleeps for changes under the lock. So a thread that
//!   changes it wakes a sleeping one, and makes no system call if there is none.
//! * `VERVET_BACKGROUND_COMPILER=0` switches it off; so does a machine with one core.
use crate::code::cache::{self, Compiled, compile};
use crate::code::entries;
use rustc_hash::FxHashMap;
use std::sync::Condvar;
use std::sync::atomic::{AtomicU8, Ordering};
use vervet_jit::{Blob, Symbol};
use vervet_os::LeafLock;
use vervet_types::MethodRef;

/// See the module. A method that is not in the table was never pushed, and was not called yet.
enum State {
    /// On the stack.
    Waiting,
    /// The worker is at it, without the lock.
    Compiling,
    /// Compiled and not linked. The blob is kept until the first call, or for ever if there is none.
    Ready(Box<Compiled>),
    /// Taken, or given up.
    Done,
}

#[derive(Default)]
struct Queue {
    stack: Vec<MethodRef>,
    states: FxHashMap<u32, State>,
    /// Does the worker wait for [`WORK`]?
    is_idle: bool,
    /// Callers that wait for [`READY`].
    waiting: u32,
}

static QUEUE: LeafLock<Option<Queue>> = LeafLock::new(None);
/// The stack is not empty any more.
static WORK: Condvar = Condvar::new();
/// A method's state is no longer `Compiling`.
static READY: Condvar = Condvar::new();

const UNKNOWN: u8 = 0;
const ON: u8 = 1;
const OFF: u8 = 2;
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

fn is_on() -> bool {
    match MODE.load(Ordering::Relaxed) {
        UNKNOWN => {
            let wanted = std::env::var_os("VERVET_BACKGROUND_COMPILER").is_none_or(|v| v != "0");
            let on = wanted
                && vervet_os::thread::processors() > 1
                && std::thread::Builder::new()
                    .name("compiler".into())
                    .stack_size(8 << 20)
                    .spawn(work)
                    .is_ok();
            MODE.store(if on { ON } else { OFF }, Ordering::Relaxed);
            on
        }
        mode => mode == ON,
    }
}

/// Puts the methods that a blob about to be linked calls on the stack, the first on top.
pub fn enqueue_callees(blob: &Blob) {
    if !is_on() {
        return;
    }
    let callees: Vec<MethodRef> = blob
        .relocs
        .iter()
        .rev()
        .filter_map(|r| match r.symbol {
            Symbol::MethodSlot(m) => Some(m),
            _ => None,
        })
        .filter(|m| m.has_body() && !m.is_open() && !entries::is_compiled(m) && !cache::is_known(m))
        .collect();
    let mut guard = QUEUE.lock();
    let queue = guard.get_or_insert_default();
    for m in callees {
        if queue.states.contains_key(&m.id) {
            continue;
        }
        queue.states.insert(m.id, State::Waiting);
        queue.stack.push(m);
    }
    let wake = queue.is_idle && !queue.stack.is_empty();
    drop(guard);
    if wake {
        WORK.notify_one();
    }
}

/// The blob of a method, if it was compiled ahead; waits for one that is being compiled. Afterwards the method is the
/// caller's.
pub fn take(method: MethodRef) -> Option<Compiled> {
    if MODE.load(Ordering::Relaxed) != ON {
        return None;
    }
    let mut guard = QUEUE.lock();
    loop {
        let queue = guard.as_mut()?;
        let state = queue.states.entry(method.id).or_insert(State::Done);
        match state {
            // Waiting is shorter than compiling: the worker has begun already. The calling thread is in Native state here, so a stop does not
            // wait for it.
            State::Compiling => {
                queue.waiting += 1;
                guard = guard.wait(&READY);
                guard.as_mut()?.waiting -= 1;
            }
            State::Waiting | State::Done => {
                *state = State::Done;
                return None;
            }
            State::Ready(_) => match std::mem::replace(state, State::Done) {
                State::Ready(blob) => return Some(*blob),
                _ => return None,
            },
        }
    }
}

/// The worker. The lock is held but for compiling and sleeping.
fn work() {
    let mut guard = QUEUE.lock();
    loop {
        let queue = guard.get_or_insert_default();
        let Some(method) = queue.stack.pop() else {
            queue.is_idle = true;
            guard = guard.wait(&WORK);
            guard.get_or_insert_default().is_idle = false;
            continue;
        };
        match queue.states.get_mut(&method.id) {
            Some(state @ State::Waiting) => *state = State::Compiling,
            _ => continue,
        }
        drop(guard);
        let made = compile(method, None);
        guard = QUEUE.lock();
        let queue = guard.get_or_insert_default();
        queue.states.insert(
            method.id,
            made.map_or(State::Done, |blob| State::Ready(Box::new(blob))),
        );
        // Rarely: the caller of the very method that was being compiled.
        if queue.waiting > 0 {
            READY.notify_all();
        }
    }
}
