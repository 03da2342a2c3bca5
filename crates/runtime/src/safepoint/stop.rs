//! The stopper: it stops every other thread, runs its work, and lets the threads go on.
//!
//! # How it works
//! The stopper takes the stop lock (waiting for it in Native), sets the stop word, makes a process fence and looks at
//! each attached thread: Native counts as stopped, Managed gets the signal, Runtime will come to a poll. It
//! looks again until every such thread is in Native state or held in the handler of the signal; then those in a host's code (Foreign) get the signal.
//!
//! A host's library may run handlers of its own with all signals blocked, and take a lock there. (A JVM does, in its handler of faults.) If the lock's owner is
//! held in our handler, neither goes on. So the stopper lets all threads go when it has waited for long with a host's held, and begins again after a while.
//!
//! # Invariants
//! * From setting the word to clearing it the stopper, and what it runs, takes no memory from the C library and no lock
//!   but a [`LeafLock`](vervet_os::LeafLock): a stopped thread may hold any lock of a library's.
//! * No thread is on its way to a poll, where it may need a lock of a library's, while one in a host's code is held: those are held last, and one that
//!   leaves the host's code meanwhile finds the stop word set. (A signal of an earlier stop may break this; the stopper lets go then.)
//! * A thread that has been seen stopped stays so, and the same way: see [`vervet_parking::stopping`], which has the handshake
//!   and its models. One reading decides what a thread does.
//! * The stopper's own callee-saved registers are on its stack, above `scan_sp`, for as long as the world is stopped.
use super::changed;
use super::green_contexts::{self, is_parked};
use super::histogram::{self, SlowestThread};
use super::progress;
use super::registry::{self, Thread};
use super::stop_word::{ARRIVED, SLEEPING, STOP};
use super::suspend;
use crate::arch::Registers;
use crate::process::fatal;
use crate::threads::managed_stack;
use std::sync::atomic::Ordering;
use std::time::Duration;
use vervet_abi::context::{NO_NATIVE_STACK, Record, RecordKind};
use vervet_abi::{State, ThreadContext};
use vervet_os::{SafeLock, clock::now, futex, process_fence};
use vervet_parking::stopping::{Observed, is_suspendable, is_suspended};

static STOP_LOCK: SafeLock<()> = SafeLock::new(());

/// The stopper looks at the threads this often before it sleeps, about a microsecond apart: most threads arrive within that time,
/// and a sleep costs more.
const LOOKS: u32 = 12;
/// The stopper sleeps for this time at first, unless an arrival wakes it, and then twice as long each time up to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_micros(20);
const LONGEST_SLEEP: Duration = Duration::from_millis(5);
/// Registers, native stack, another stack of a host, localloc stack, saved registers, and the segments of a managed stack: each is larger than the one before, so
/// those of the largest stack are not more.
const MOST_RANGES: usize = 25;
/// A stop that has taken this many nanoseconds reports the thread that it waits for.
const HANGING: u64 = 10_000_000_000;

/// When a thread has been held in a host's code for this many nanoseconds and not all have stopped, one may wait for a lock of the held one. So all go on
/// for [`BREATH`], and are stopped again.
const PATIENCE: u64 = 20_000_000;
/// Each time they are waited for twice as long, up to this.
const MOST_PATIENCE: u64 = 1_000_000_000;
const BREATH: Duration = Duration::from_millis(2);

/// The world, stopped. See [`stop`].
pub struct Stopped {
    stopper: *mut ThreadContext,
    /// How long it took, in nanoseconds.
    pub time_to_stop: u64,
}

/// A thread of the stopped world.
pub struct ThreadView<'a> {
    /// Its context, whose [`ROOT_WORDS`](vervet_abi::context::ROOT_WORDS) are references.
    pub context: *mut ThreadContext,
    /// [low, high) addresses, 8-aligned, of everything else that may hold references: its stacks, saved registers, localloc
    /// stack. To be scanned conservatively.
    pub ranges: &'a [(usize, usize)],
    /// Where a signal stopped it.
    pub at: Option<Registers>,
    /// The kernel's id of the OS thread that runs with the context; 0: the context is that of a parked green thread.
    pub tid: i32,
}

/// Stops every attached thread but the calling one, runs `work`, and lets them go on. `work` follows the rules of this module.
///
/// # Safety
/// `context` is that of the calling thread, which is in Runtime state, or null if the thread is not attached.
pub unsafe fn stop<T>(context: *mut ThreadContext, work: impl FnOnce(&Stopped) -> T) -> T {
    vervet_os::lock::assert_no_leaf_lock("stopping the world");
    debug_assert!(
        context.is_null()
            // SAFETY: a context that is not null is the calling thread's.
            || unsafe { registry::state(context) }.load(Ordering::Relaxed)
                == State::Runtime as u8,
        "the stopper is in Runtime state"
    );
    let _lock = STOP_LOCK.lock();
    progress::give_turn();
    // The collector finds the stopper's own callee-saved registers on its stack.
    with_registers_saved(context, || {
        let began = now();
        struct Restart;
        impl Drop for Restart {
            fn drop(&mut self) {
                progress::has_ended();
                STOP.end();
                futex::wake(STOP.futex(), i32::MAX);
            }
        }
        let mut patience = PATIENCE;
        let (_restart, slowest) = loop {
            STOP.begin();
            let restart = Restart;
            // From here on each thread either sees the word, or its state as it was before is seen by the loads below.
            process_fence::process_fence();
            match wait_for_all(context, began, patience) {
                Arrived::All(slowest) => break (restart, slowest),
                Arrived::NotAHosts => {
                    drop(restart);
                    breathe(patience);
                    patience = (patience * 2).min(MOST_PATIENCE);
                }
            }
        };
        let time_to_stop = now() - began;
        histogram::record(time_to_stop, slowest);
        work(&Stopped {
            stopper: context,
            time_to_stop,
        })
    })
}

/// Calls `work` if nobody stops the world or a thread; who wants to meanwhile waits. False: somebody does.
pub(crate) fn unless_stopping(work: impl FnOnce()) -> bool {
    let lock = STOP_LOCK.try_lock();
    if lock.is_some() {
        work();
    }
    lock.is_some()
}

/// Lets all threads go on for [`BREATH`], and those that were held for as long as it takes them to leave the handler, but not for longer than so many nanoseconds.
fn breathe(limit: u64) {
    let began = now();
    loop {
        std::thread::sleep(BREATH);
        let mut are_held = false;
        registry::visit(|thread| are_held |= thread.suspension.is_held());
        if !are_held || now() - began >= limit {
            return;
        }
    }
}

fn with_registers_saved<T>(context: *mut ThreadContext, work: impl FnOnce() -> T) -> T {
    if context.is_null() {
        return work();
    }
    crate::arch::closures::through_asm(work, |f, arg| {
        // SAFETY: the context is the calling thread's; `f` does not unwind.
        unsafe { crate::arch::call_with_registers_saved(f, arg, context) }
    })
}

/// What came of waiting for the threads.
enum Arrived {
    /// All have stopped; the one that was waited for last, if it took long.
    All(Option<SlowestThread>),
    /// Not while threads in a host's code are held.
    NotAHosts,
}

/// Returns when every thread but `me` has stopped, or not after it has held a host's for so many nanoseconds.
fn wait_for_all(me: *mut ThreadContext, began: u64, patience: u64) -> Arrived {
    let mut sleep = FIRST_SLEEP;
    let mut looks = 0;
    let mut hosts = Hosts::default();
    let mut late: Option<Waited> = None;
    // An earlier attempt has said so.
    let mut said = now() - began >= HANGING;
    loop {
        // Before the states are read: a thread that arrives after that changes the count, and the sleep below ends at once.
        let seen = ARRIVED.load(Ordering::SeqCst);
        // A signal may find a thread where it cannot be stopped (`critical`, a handler), so it is sent again.
        let ask = looks == 0 || looks >= LOOKS;
        let mut last: Option<Waited> = None;
        let (mut only_hosts, mut is_host_held) = (true, false);
        registry::visit(|thread| {
            let context = thread.context();
            if context == me {
                return;
            }
            // SAFETY: contexts are never freed.
            let word = unsafe { registry::state(context) };
            match thread.suspension.inspect(word) {
                Observed::Runs(state) => {
                    last = Some(Waited::new(context, state));
                    if state == State::Foreign as u8 {
                        hosts.ask(thread);
                        return;
                    }
                    only_hosts = false;
                    if ask && is_suspendable(state) {
                        thread.signal();
                    }
                }
                Observed::Suspended => {
                    is_host_held |= word.load(Ordering::Relaxed) == State::Foreign as u8;
                }
                Observed::Stopped => {}
            }
        });
        let Some(waited_for) = last else {
            let long = now() - began >= histogram::LONG;
            return Arrived::All(late.filter(|_| long).and_then(slowest));
        };
        if hosts.have_looked(only_hosts, is_host_held) {
            continue;
        }
        if hosts.have_kept_waiting(patience) {
            return Arrived::NotAHosts;
        }
        late = Some(waited_for);
        let so_far = now() - began;
        if so_far >= HANGING && !said {
            said = true;
            complain(waited_for);
        }
        looks += 1;
        if looks < LOOKS {
            for _ in 0..20 {
                std::hint::spin_loop();
            }
        } else {
            SLEEPING.store(true, Ordering::SeqCst);
            futex::wait(&ARRIVED, seen, Some(sleep));
            SLEEPING.store(false, Ordering::SeqCst);
            sleep = (sleep * 2).min(LONGEST_SLEEP);
        }
    }
}

/// How the threads that run a host's code are stopped: after all others, because each may be held with a lock of the C library that one of ours needs
/// on its way to the next poll.
#[derive(Default)]
struct Hosts {
    /// Only they are left: they are sent the signal.
    asked: bool,
    /// How often they were looked at since.
    looks: u32,
    /// Since when they are asked, or one is held (by a signal of an earlier stop).
    since: Option<u64>,
}

impl Hosts {
    /// Sends the signal to one of them, if it is their turn. One that has ended without telling goes from the list.
    fn ask(&self, thread: &Thread) {
        if !self.asked || (self.looks > 0 && self.looks < LOOKS) {
            return;
        }
        thread.signal();
        if self.looks >= LOOKS && thread.is_gone() {
            registry::lay_down(thread);
        }
    }
    /// All threads have been looked at. True: their turn begins.
    fn have_looked(&mut self, only_they_run: bool, is_held: bool) -> bool {
        if self.asked {
            self.looks += 1;
        }
        let begins = only_they_run && !self.asked;
        self.asked |= begins;
        if self.asked || is_held {
            self.since.get_or_insert_with(now);
        }
        begins
    }
    /// Has one of them not come, or kept another from coming, for so many nanoseconds?
    fn have_kept_waiting(&self, patience: u64) -> bool {
        self.since.is_some_and(|since| now() - since >= patience)
    }
}

/// A thread that was waited for, as it was seen.
#[derive(Clone, Copy)]
struct Waited {
    context: *mut ThreadContext,
    owner: u32,
    state: u8,
    critical: u8,
}
impl Waited {
    fn new(context: *mut ThreadContext, state: u8) -> Waited {
        // SAFETY: the context of a thread on the list; the owner writes `critical` at any time.
        let (owner, critical) = unsafe {
            (
                (&raw const (*context).owner_id).read(),
                (&raw const (*context).critical).read_volatile(),
            )
        };
        Waited {
            context,
            owner,
            state,
            critical,
        }
    }
}

/// Where the thread that kept the stopper waiting was. It is stopped by now.
fn slowest(waited: Waited) -> Option<SlowestThread> {
    let mut found = None;
    registry::visit(|thread| {
        if thread.context() != waited.context {
            return;
        }
        let mut c = SlowestThread {
            owner: waited.owner,
            state: waited.state,
            method: 0,
            pc: 0,
        };
        // SAFETY: the thread is stopped: its record list and its registers stay as they are.
        unsafe {
            if is_suspended(registry::state(waited.context)) {
                c.pc = suspend::program_registers(thread.interrupted.load(Ordering::Acquire)).pc;
            } else if let Some(record) = (*waited.context).record.as_ref() {
                c.pc = record.pc;
                if record.kind != RecordKind::Throw as usize {
                    c.method = record.method;
                }
            }
        }
        found = Some(c);
    });
    found
}

fn complain(waited: Waited) {
    let Waited {
        owner,
        state,
        critical,
        ..
    } = waited;
    fatal::write_stderr_without_memory(format_args!(
        "vervet: the world has not stopped for 10 s: thread {owner} is in state {state}, critical {critical}\n"
    ));
}

/// A thread is stopped on a stack that nobody knows the extent of.
fn give_up(owner: u32, sp: usize) -> ! {
    fatal::write_stderr_without_memory(format_args!(
        "vervet: internal error: thread {owner} runs managed code on a stack that is not its own, at {sp:#x}\n"
    ));
    // SAFETY: ends the process.
    unsafe { libc::_exit(fatal::INTERNAL_ERROR) }
}

impl Stopped {
    /// Visits every attached thread, the stopper included, and every green thread that is parked.
    pub fn for_each_thread(&self, mut visit: impl FnMut(ThreadView<'_>)) {
        self.for_each_running(&mut visit);
        self.for_each_parked(|context| {
            // SAFETY: the context is that of a green thread that is parked.
            unsafe { view_parked(context, &mut visit) }
        });
    }
    /// Visits every attached thread, the stopper included.
    pub fn for_each_running(&self, mut visit: impl FnMut(ThreadView<'_>)) {
        registry::visit(|thread| {
            let context = thread.context();
            // SAFETY: the thread is stopped, or is the calling one.
            unsafe { view(thread, context, context == self.stopper, &mut visit) }
        });
    }
    /// Visits the context of every green thread that is parked.
    pub fn for_each_parked(&self, mut visit: impl FnMut(*mut ThreadContext)) {
        green_contexts::visit(|context| {
            if is_parked(context) {
                visit(context);
            }
        });
    }
    /// Visits the contexts of the green threads that are parked and have run since this was last called, or of which the answer was true then. So
    /// it passes by those that stay parked, unless the answers are that they are to be visited again.
    pub fn for_each_changed(&self, visit: impl FnMut(*mut ThreadContext) -> bool) {
        self.for_each_in(changed::YOUNG, visit);
    }
    /// Visits the contexts of the green threads that are parked and have run since marking began, but for those that were scanned since. Each is
    /// visited again if the answer is true.
    pub fn for_each_unmarked(&self, mut visit: impl FnMut(*mut ThreadContext) -> bool) {
        self.for_each_in(changed::UNMARKED, |context| {
            // SAFETY: the context is that of a green thread.
            let words = unsafe { green_contexts::scannable(context) };
            !words.is_scanned(changed::marking()) && visit(context)
        });
    }
    fn for_each_in(&self, list: usize, mut visit: impl FnMut(*mut ThreadContext) -> bool) {
        // SAFETY: the world is stopped.
        unsafe {
            registry::visit(|thread| thread.own.changed.share());
            // One that runs is added again when it parks.
            changed::visit(list, |context| is_parked(context) && visit(context));
        }
    }
}

/// The address of the innermost record by which managed code was left.
///
/// # Safety
/// The list is that of a stopped thread, or of the calling one.
pub(crate) unsafe fn innermost_exit(mut record: *const Record) -> Option<usize> {
    // SAFETY: a linked record is complete, and stays so while its thread does not run.
    while let Some(found) = unsafe { record.as_ref() } {
        if !found.is_entry() {
            return Some(record as usize);
        }
        record = found.previous;
    }
    None
}

/// The parts of a thread's memory that may hold references.
struct Ranges {
    ranges: [(usize, usize); MOST_RANGES],
    count: usize,
}

impl Ranges {
    fn new() -> Ranges {
        Ranges {
            ranges: [(0, 0); MOST_RANGES],
            count: 0,
        }
    }
    fn add(&mut self, low: usize, high: usize) {
        if low < high {
            self.ranges[self.count] = (low & !7, high & !7);
            self.count += 1;
        }
    }
    /// The stacks of a thread that left managed code, if it was in it: everything native lies at `sp` or above.
    ///
    /// # Safety
    /// The thread is stopped or parked, or is the calling one.
    unsafe fn add_stacks(&mut self, context: *mut ThreadContext, sp: usize) {
        // SAFETY: the caller's promise: the words and the stacks stay as they are.
        unsafe {
            self.add(sp, (*context).stack_base);
            // Managed frames end at the record by which they were left.
            if (*context).managed_base != 0
                && let Some(exit) = innermost_exit((*context).record)
            {
                managed_stack::visit(context, exit, |low, high| self.add(low, high));
            }
        }
    }
    fn all(&self) -> &[(usize, usize)] {
        &self.ranges[..self.count]
    }
}

/// # Safety
/// The thread is stopped, or is the calling one; it runs with that context.
unsafe fn view(
    thread: &Thread,
    context: *mut ThreadContext,
    is_stopper: bool,
    visit: &mut impl FnMut(ThreadView<'_>),
) {
    // SAFETY: a stopped thread's words stay as they are, and its stack from `scan_sp` or `sp` up is live.
    unsafe {
        let mut ranges = Ranges::new();
        let mut at = None;
        if !is_stopper && is_suspended(registry::state(context)) {
            let uc = thread.interrupted.load(Ordering::Acquire);
            for (low, high) in suspend::registers(uc) {
                ranges.add(low, high);
            }
            let registers = suspend::program_registers(uc);
            at = Some(registers);
            let sp = registers.sp;
            let is_foreign =
                registry::state(context).load(Ordering::Relaxed) == State::Foreign as u8;
            let is_elsewhere = !registry::may_stop_at(context, sp);
            if is_elsewhere && !is_foreign {
                give_up((*context).owner_id, sp);
            }
            let sp = sp - super::elsewhere::RED_ZONE;
            if is_elsewhere {
                let (low, high, own_low) = thread.elsewhere.bounds();
                ranges.add(low, high);
                ranges.add_stacks(context, own_low);
            } else if is_foreign {
                ranges.add_stacks(context, sp);
            } else if (*context).managed_base == 0 {
                ranges.add(sp, (*context).stack_base);
            } else {
                // In managed code: native frames end at the record by which it was entered.
                managed_stack::visit(context, sp, |low, high| ranges.add(low, high));
                ranges.add((*context).native_sp, (*context).stack_base);
            }
        } else {
            let sp = (*context).scan_sp;
            if !registry::is_on_native_stack(context, sp) {
                give_up((*context).owner_id, sp);
            }
            ranges.add_stacks(context, sp);
        }
        ranges.add((*context).localloc_low, (*context).localloc_next);
        let saved = thread.saved.get();
        ranges.add(saved as usize, saved.add(1) as usize);
        visit(ThreadView {
            context,
            ranges: ranges.all(),
            at,
            tid: thread.tid.load(Ordering::Relaxed),
        });
    }
}

/// Calls `visit` with a green thread that is parked.
///
/// # Safety
/// The context is that of a green thread that is parked and stays so: the world is stopped, or the caller [scans](green_contexts::scan_from) it.
pub(crate) unsafe fn view_parked(
    context: *mut ThreadContext,
    mut visit: impl FnMut(ThreadView<'_>),
) {
    let mut ranges = Ranges::new();
    // SAFETY: nobody uses the context and the stacks. The switch pushed the registers at `scan_sp`; it is 0 if the thread has not begun.
    unsafe {
        if let Some((low, high)) = super::stash::stashed(context) {
            ranges.add(low, high);
            ranges.add((*context).localloc_low, (*context).localloc_next);
        } else if (*context).scan_sp != 0 {
            let sp = match (*context).scan_sp {
                // It has no native stack.
                NO_NATIVE_STACK => (*context).stack_base,
                sp => sp,
            };
            ranges.add_stacks(context, sp);
            ranges.add((*context).localloc_low, (*context).localloc_next);
        }
    }
    visit(ThreadView {
        context,
        ranges: ranges.all(),
        at: None,
        tid: 0,
    });
}

/// Stops one thread where it is, if it runs managed code, runs `work` on it, and lets it go on. None: it was not in
/// managed code, or could not be stopped there soon; try again later.
///
/// # Safety
/// `me` is the context of the calling thread, which is in Runtime state, or null if the thread is not attached. `work` does not change the
/// registers to anything but where the target may go on.
pub unsafe fn stop_thread<T>(
    me: *mut ThreadContext,
    target: *mut ThreadContext,
    work: impl FnOnce(&mut libc::ucontext_t) -> T,
) -> Option<T> {
    const ATTEMPTS: u32 = 6;
    let _lock = STOP_LOCK.lock();
    let mut work = Some(work);
    let mut result = None;
    with_registers_saved(me, || {
        let ask = || {
            let mut stopped = None;
            registry::visit(|thread| {
                if thread.context() != target {
                    // A carrier that was asked when it ran the target, and runs something else now.
                    return let_go(thread);
                }
                thread.suspension.request(true);
                // SAFETY: contexts are never freed.
                let state = unsafe { registry::state(target) };
                match thread.suspension.inspect(state) {
                    // (A thread that is held changes its context no more. It may have done so since the look above.)
                    Observed::Suspended if thread.context() == target => {
                        stopped = Some(thread.interrupted.load(Ordering::Acquire));
                    }
                    Observed::Suspended | Observed::Stopped => {}
                    Observed::Runs(_) => thread.signal(),
                }
            });
            stopped
        };
        let mut sleep = FIRST_SLEEP;
        for _ in 0..ATTEMPTS {
            let seen = ARRIVED.load(Ordering::SeqCst);
            if let Some(uc) = ask() {
                // SAFETY: the thread is held in the handler until it is let go; nobody else uses its record meanwhile.
                result = work.take().map(|w| w(unsafe { &mut *uc }));
                break;
            }
            SLEEPING.store(true, Ordering::SeqCst);
            futex::wait(&ARRIVED, seen, Some(sleep));
            SLEEPING.store(false, Ordering::SeqCst);
            sleep *= 2;
        }
        registry::visit(let_go);
    });
    result
}

/// The thread is no longer asked to stop alone.
fn let_go(thread: &Thread) {
    if thread.suspension.is_requested() {
        thread.suspension.request(false);
        futex::wake(thread.suspension.futex(), 1);
    }
}
