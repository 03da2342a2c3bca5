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
//! What is not called soon becomes Dropped, from which a call makes Done, too: the oldest blobs are dropped when all that are kept take more
//! than [`KEPT`] bytes.
//!
//! # Methods that are called often
//! They are in a queue of their own, which comes first: each was called thousands of times (`code/hot.rs`).
//!
//! ```text
//!   asked for -> (worker compiles) -> Ready(blob), or Failed -> taken
//! ```
//!
//! # Invariants
//! * The worker holds no object, is not attached and loads no assembly: it uses the type system and the compiler only, which serve any
//!   thread.
//! * Only what linked code mentions is pushed, so the work is bounded by what the program reaches.
//! * The blobs that wait to be called take no more than [`KEPT`] bytes, and one blob.
//! * A thread sleeps only after it has recorded that under the lock, and what it sleeps for changes under the lock. So a thread that
//!   changes it wakes a sleeping one, and makes no system call if there is none.
//! * `VERVET_BACKGROUND_COMPILER=0` switches it off; so does a machine with one core. A forked process has none.
use crate::code::cache::{self, Compiled, compile, compile_as};
use crate::code::entries;
use crate::loader::without_loading;
use crate::runtime::rt;
use crate::threads::native_state::native;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::sync::Condvar;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use vervet_jit::{Blob, Symbol};
use vervet_os::lock::SafeGuard;
use vervet_os::{LeafLock, SafeLock};
use vervet_types::MethodRef;

/// See the module. A method that is not in the table was never pushed, and was not called yet.
enum State {
    /// On the stack.
    Waiting,
    /// The worker is at it, without the lock.
    Compiling,
    /// Compiled and not linked. The blob is kept until the first call, or until it is dropped.
    Ready(Box<Compiled>),
    /// Compiled and dropped: not called soon.
    Dropped,
    /// Taken, or given up.
    Done,
}

/// Bytes of blobs that are kept for calls to come. `mcs.exe` on a small file calls 1,600 of 3,300 methods that were compiled ahead; with 1 MiB
/// 194 of those that are dropped are called later, with 2 MiB 66, with 4 MiB 4 (`--stats`).
const KEPT: usize = 4 << 20;

#[derive(Default)]
struct Queue {
    /// What is to be compiled again, the first first.
    hot: VecDeque<Hot>,
    /// What became of it, until it is taken.
    again: FxHashMap<Hot, Again>,
    stack: Vec<MethodRef>,
    states: FxHashMap<u32, State>,
    /// Methods whose blobs were kept, the oldest first; some were taken since.
    kept: VecDeque<u32>,
    /// Bytes of the blobs that are kept.
    kept_bytes: usize,
    counts: Counts,
    /// Does the worker wait for [`WORK`]?
    is_idle: bool,
    /// Callers that wait for [`READY`].
    waiting: u32,
}

/// What the worker has done, for `--stats`.
#[derive(Clone, Copy, Default)]
struct Counts {
    compiled: u32,
    taken: u32,
    dropped: u32,
    missed: u32,
}

impl Queue {
    /// Keeps a blob for the first call, and drops the oldest ones if they are too many.
    fn keep(&mut self, method: u32, blob: Box<Compiled>) {
        self.counts.compiled += 1;
        self.kept_bytes += blob.blob.bytes();
        self.kept.push_back(method);
        self.states.insert(method, State::Ready(blob));
        while self.kept_bytes > KEPT && self.kept.len() > 1 {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            if self.finish(oldest).is_some() {
                self.counts.dropped += 1;
                self.states.insert(oldest, State::Dropped);
            }
        }
    }
    /// The method is the caller's, or nobody's: its blob, if one is kept.
    fn finish(&mut self, method: u32) -> Option<Box<Compiled>> {
        match self.states.insert(method, State::Done) {
            Some(State::Ready(blob)) => {
                self.kept_bytes -= blob.blob.bytes();
                Some(blob)
            }
            Some(State::Dropped) => {
                self.counts.missed += 1;
                None
            }
            _ => None,
        }
    }
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
            // One thread makes the worker; the others compile for themselves meanwhile.
            if let Err(mode) =
                MODE.compare_exchange(UNKNOWN, OFF, Ordering::Relaxed, Ordering::Relaxed)
            {
                return mode == ON;
            }
            let wanted = std::env::var_os("VERVET_BACKGROUND_COMPILER").is_none_or(|v| v != "0");
            let on = wanted
                && rt().options.aot.is_none()
                && vervet_os::thread::processors() > 1
                && native(|| {
                    std::thread::Builder::new()
                        .name("compiler".into())
                        .stack_size(8 << 20)
                        .spawn(work)
                        .is_ok()
                });
            MODE.store(if on { ON } else { OFF }, Ordering::Relaxed);
            on
        }
        mode => mode == ON,
    }
}

/// Compiled code waits to be written: the worker looks after it when nothing was compiled for a while. False: there is no worker.
pub fn watch_for_idleness() -> bool {
    if !is_on() {
        return false;
    }
    let is_idle = QUEUE.lock().as_ref().is_some_and(|q| q.is_idle);
    if is_idle {
        WORK.notify_one();
    }
    true
}

/// Held by the worker while it compiles or writes, and by a thread that forks: the worker takes locks of
/// the type system, of the cache and of the allocator, which the forked process would find taken for ever.
static JOB: SafeLock<()> = SafeLock::new(());

/// The worker begins a piece of work. It does not hold the queue.
fn begin_job() -> SafeGuard<'static, ()> {
    JOB.lock()
}

/// What a thread holds while it forks: the worker is not at work.
pub type Held = SafeGuard<'static, ()>;

/// Waits for what the worker is at, and keeps it from going on. (The queue may be taken: the forked process does not look into it.)
pub fn hold() -> Held {
    JOB.lock()
}

/// The process was forked: it has no worker, and must not wait for one.
pub fn has_forked() {
    MODE.store(OFF, Ordering::Relaxed);
}

/// Puts the methods that a blob about to be linked calls on the stack, the first on top.
pub fn enqueue_callees(blob: &Blob) {
    if !is_on() {
        return;
    }
    // The relocations are looked at before the lock is taken: the worker wants it, too.
    let callees: SmallVec<[MethodRef; 32]> = blob
        .relocs
        .iter()
        .rev()
        .filter_map(|r| match r.symbol {
            Symbol::MethodSlot(m) => Some(m),
            _ => None,
        })
        .filter(|m| {
            m.has_body()
                && !m.is_open()
                && !entries::is_compiled(rt().root, m)
                && !cache::is_known(m)
        })
        .collect();
    if callees.is_empty() {
        return;
    }
    let mut guard = QUEUE.lock();
    let queue = guard.get_or_insert_default();
    for m in callees {
        if let Entry::Vacant(state) = queue.states.entry(m.id) {
            state.insert(State::Waiting);
            queue.stack.push(m);
        }
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
        match queue.states.get(&method.id) {
            // Waiting is shorter than compiling: the worker has begun already. The calling thread is in Native state here, so a stop does not
            // wait for it.
            Some(State::Compiling) => {
                queue.waiting += 1;
                guard = guard.wait(&READY);
                guard.as_mut()?.waiting -= 1;
            }
            _ => {
                let blob = queue.finish(method.id)?;
                queue.counts.taken += 1;
                return Some(*blob);
            }
        }
    }
}

/// The method has code that was kept: what the worker has made of it, or would make, is not wanted.
pub fn forget(method: MethodRef) {
    if MODE.load(Ordering::Relaxed) == ON
        && let Some(queue) = QUEUE.lock().as_mut()
        && let Some(State::Waiting | State::Ready(_)) = queue.states.get(&method.id)
    {
        queue.finish(method.id);
    }
}

/// How it stands with compiling a method again.
pub enum Again {
    /// It will be done, or another thread has what was made.
    Later,
    /// It has been done.
    Ready(Box<Blob>),
    /// It cannot be done.
    Failed,
}

/// Code that is wanted in place of other code: of the method of that entry (its id), or of its loop whose head is at an IL offset.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Hot {
    /// The method.
    Method(u32),
    /// The loop.
    Loop(u32, u32),
}

impl Hot {
    /// Compiles it. None: a thread has needed the code at once, and made it.
    fn compile(self) -> Option<Again> {
        match self {
            Hot::Method(id) => {
                let entry = entries::by_id(id);
                let made = (!entry.is_replaced()).then(|| compile_again(entry));
                made.filter(|_| !entry.is_replaced())
            }
            Hot::Loop(id, head) => Some(compile_loop(entries::by_id(id), head)),
        }
    }
}

/// Compiles the entry's method for threads that come from the head of a loop. Touches no object: any thread may call it.
pub fn compile_loop(entry: &'static entries::Entry, head: u32) -> Again {
    let only = (!entry.domain.is_root()).then(Vec::new);
    match without_loading(|| cache::compile_loop(entry, head, only)) {
        Ok(blob) => Again::Ready(Box::new(blob)),
        Err(_) => Again::Failed,
    }
}

/// Compiles the entry's method again, and keeps the code for the next process. Touches no object: any thread may call it.
pub fn compile_again(entry: &'static entries::Entry) -> Again {
    let tier = rt().compiler.best_tier_for(entry.method);
    let is_root = entry.domain.is_root();
    // What is initialised in the root domain is not in another.
    let only = (!is_root).then(Vec::new);
    match without_loading(|| compile_as(entry.method, tier, only, Some(entry))) {
        Ok(compiled) => {
            if is_root {
                cache::keep_again(entry.method, &compiled);
            }
            Again::Ready(Box::new(compiled.blob))
        }
        Err(_) => Again::Failed,
    }
}

/// Asks for something to be compiled again; once for each. False: there is no worker.
pub fn ask_again(hot: Hot) -> bool {
    if !is_on() {
        return false;
    }
    let mut guard = QUEUE.lock();
    let queue = guard.get_or_insert_default();
    queue.hot.push_back(hot);
    let wake = queue.is_idle;
    drop(guard);
    if wake {
        WORK.notify_one();
    }
    true
}

/// What was made of what was asked for. A forked process has no worker, and what the worker had then is lost.
pub fn made_again(hot: Hot) -> Again {
    if MODE.load(Ordering::Relaxed) != ON {
        return Again::Later;
    }
    let made = QUEUE.lock().as_mut().and_then(|q| q.again.remove(&hot));
    made.unwrap_or(Again::Later)
}

/// When nothing was compiled for so long, the worker gives memory back to the system: what its compiles kept for the next, and what they freed.
const IDLE: Duration = Duration::from_millis(1500);

/// The worker. The lock is held but for compiling, giving memory back and sleeping.
fn work() {
    let mut guard = QUEUE.lock();
    let mut has_compiled = false;
    loop {
        if has_compiled && cache::has_much() {
            drop(guard);
            let job = begin_job();
            cache::when_idle();
            drop(job);
            guard = QUEUE.lock();
        }
        let queue = guard.get_or_insert_default();
        if let Some(hot) = queue.hot.pop_front() {
            has_compiled = true;
            drop(guard);
            let made = {
                let _job = begin_job();
                hot.compile()
            };
            guard = QUEUE.lock();
            let queue = guard.get_or_insert_default();
            if let Some(made) = made {
                queue.again.insert(hot, made);
            }
            continue;
        }
        let Some(method) = queue.stack.pop() else {
            queue.is_idle = true;
            if has_compiled || cache::has_new() {
                let (after, is_late) = guard.wait_for(&WORK, IDLE);
                guard = after;
                if is_late {
                    has_compiled = false;
                    drop(guard);
                    let job = begin_job();
                    vervet_jit::forget_worker();
                    vervet_os::allocator::give_back();
                    cache::when_idle();
                    drop(job);
                    guard = QUEUE.lock();
                }
            } else {
                guard = guard.wait(&WORK);
            }
            guard.get_or_insert_default().is_idle = false;
            continue;
        };
        has_compiled = true;
        match queue.states.get_mut(&method.id) {
            Some(state @ State::Waiting) => *state = State::Compiling,
            _ => continue,
        }
        drop(guard);
        let made = {
            let _job = begin_job();
            compile(method, None)
        };
        guard = QUEUE.lock();
        let queue = guard.get_or_insert_default();
        match made {
            Ok(blob) => queue.keep(method.id, Box::new(blob)),
            Err(_) => drop(queue.finish(method.id)),
        }
        // Rarely: the caller of the very method that was being compiled.
        if queue.waiting > 0 {
            READY.notify_all();
        }
    }
}

/// Lines for `--stats`.
pub fn report() -> String {
    let (counts, kept_bytes) = QUEUE
        .lock()
        .as_ref()
        .map(|queue| (queue.counts, queue.kept_bytes))
        .unwrap_or_default();
    let Counts {
        compiled,
        taken,
        dropped,
        missed,
    } = counts;
    format!(
        "background compiler   {compiled} methods, {taken} of them called, {dropped} dropped ({missed} of them called later), {} KiB waiting to be called\n",
        kept_bytes >> 10
    )
}
